#!/usr/bin/env bash
# latency_slow.sh - how long text to CUDA C takes: [ms] of processor time, the
# least of several runs, but for the start of the process.  Meant to be under
# 10; three times that fails, so that a busy or slow machine does not.
set -eu
if ! grep -qs "CMAKE_BUILD_TYPE:STRING=Rel" "$(dirname "$AXE")/CMakeCache.txt"; then
    echo "not an optimised build"
    exit 77
fi
cd "$SRC"
exec "${PYTHON:-python3}" - "$AXE" <<'PY'
import os, resource, subprocess, sys, tempfile

LIMIT, RUNS = 30.0, 9


def least(command):
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1e3 * min(times)


axe, bad = sys.argv[1], 0
start = least([axe, "--help"])
with tempfile.TemporaryDirectory() as tmp:
    for name in ["gemm", "gemm_sm90", "attention_sm90"]:
        text = os.path.join(tmp, name + ".cu")
        command = [axe, "compile", "-t", "sm_90a", f"kernels/{name}.axe"]
        ms = least(command + ["--emit", "c", "-o", text]) - start
        print(f"{name}: {ms:.1f} ms to CUDA C")
        bad += ms > LIMIT
sys.exit(bad > 0)
PY
