"""Arrays on a GPU, as far as none is needed: gpu_calls.py in a process of its own."""
import os
import pathlib
import subprocess
import sys

import pytest

import axe

HERE = pathlib.Path(__file__).parent
DRIVER = pathlib.Path(axe._axe.__file__).parents[2] / "tests" / "libfake_cuda.so"


def test_calls(tmp_path):
    if not DRIVER.exists():
        pytest.skip("no driver of the tests beside the package")
    if b"__asan_init" in DRIVER.read_bytes() and not os.environ.get("LD_PRELOAD"):
        pytest.skip("the driver has sanitizers")
    env = {**os.environ, "AXE_CUDA": str(DRIVER), "AXE_CACHE": str(tmp_path),
           "PYTHONPATH": str(DRIVER.parents[1] / "python")}
    probe = subprocess.run(
        [sys.executable, "-c", "import axe; k = axe.kernel('kernel k(inout f32 X[M]) "
         "{ index m; cta (i : 1) X[m] = 1.0; }').k; axe._axe.Exec(k.compile("
         "device=axe.Device('cuda')), axe.Device('cuda'))"],
        env=env, text=True, capture_output=True)
    if "no libnvrtc" in probe.stderr:
        pytest.skip("no NVRTC")
    assert probe.returncode == 0, probe.stderr
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         str(HERE / "gpu_calls.py")], env=env, text=True, capture_output=True, cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr
