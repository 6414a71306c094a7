"""Types: the stub has what the module has, and two checkers find nothing wrong,
in the package and in a program that uses it."""
import ast
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import axe

NEEDS = {"torch", "jax"}  # modules that are of no use without
PACKAGE = pathlib.Path(axe.__file__).parent

RIGHT = """
import axe
from typing import Dict, List, Optional, Tuple

tile: axe.Layout = (axe.Layout("(2, 3) : (3, 1)") * axe.Layout.row_major(8, 8))[0:4, 3]
shape: Tuple[int, ...] = (~tile).shape
points: List[Dict[str, int]] = tile(0)
text: str = axe.convert(tile, to="cute", keep="coordinates")
where: Optional[int] = axe.why(tile, tile).at
kernel: axe.Kernel = axe.ops.gemm.with_(BM=96)
median: float = kernel.time(M=8, N=8, K=8, runs=3).median
best: Dict[str, str] = kernel.tune(M=8, N=8, K=8, progress=lambda *so_far: None).best
found: List[object] = kernel.simulate(M=8, N=8, K=8, target="sm_90a").report["findings"]
wrong: int = sum(d.n_wrong for d in kernel.check(M=8, N=8, K=8).outputs)
facts: Dict[str, object] = axe.move(tile, tile).facts
with axe.Device(threads=1) as device:
    threads: int = device.threads
module: axe.Module = axe.load("a.axe")
class Four:
    def __index__(self) -> int:
        return 4
four = Four()  # as NumPy's integers are
same: axe.Layout = axe.Layout.row_major(four, 2).group(four, 2).tile_to(four, four)
same = axe.Layout.strided((four, 2), (2, four)).permute(four, 0) | four
same = tile.slice(four, (four, 4)).complement(four).pack(four).swizzle(four)
text = same.draw(width=four, bits=four) + axe.convert("a", shape=(four,), mesh={"x": four})
points = same.apply(four) + same(four, 1) + axe.evaluate("x", {"n": four})
median = kernel.time(M=four, runs=four).median + axe.Device(threads=four).threads
same = axe.Layout(axe.move(same, same, bits=four).text)
ranks: List[int] = axe.spmd(four, timeout=2)(lambda world, n: world.rank + n, 3)
part: axe.Local = axe.Local([1.0], "4@gpu", shape=(four,))
def on_rank(world: axe.World, x: str) -> Tuple[int, str]:
    world.barrier()
    return world.size, x + world.engine
pairs: List[Tuple[int, str]] = axe.spmd()(on_rank, "a")
ok: bool = kernel.simulate(M=four, seed=four, sms=four, max_steps=four).ok
"""
# Each line is an error.
WRONG = """
import axe


axe.Layout.row_major("8")
a: int = axe.Layout("(2) : (1)").draw()
axe.move("a", "b", bits="32")
axe.ops.gemm.time(runs=2.5)
b: str = axe.why("a", "b").at
axe.convert("a", shape="8, 8")
c: axe.Kernel = axe.kernel("")
axe.Device(threads="two")
axe.spmd(2)(3)
axe.spmd("2")
"""


def test_the_stub_has_what_the_module_has():
    tree = ast.parse((PACKAGE / "_axe.pyi").read_text())
    stub = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            stub[node.name] = {n.name for n in node.body
                               if isinstance(n, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            stub[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            stub[node.target.id] = None
    module = axe._axe
    assert set(stub) == {n for n in dir(module) if not n.startswith("__")}
    for name, members in stub.items():
        if members is not None:
            own = {n for n in vars(getattr(module, name)) if n[:2] != "__"}
            assert own == {n for n in members if n[:2] != "__"}, name


def _check(command, folder, text):
    """Lines that a checker complains of in a program; None: it has failed."""
    (folder / "program.py").write_text(text)
    # Symbolic links of the build tree lead out of it: PYTHONPATH's package is meant.
    done = subprocess.run(
        [sys.executable, "-m", *command, "program.py"], cwd=folder, text=True,
        capture_output=True, env={**os.environ, "MYPYPATH": str(PACKAGE.parent),
                                  "PYTHONPATH": str(PACKAGE.parent)}, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line.split("program.py:")[1].split(":")[0])
            for line in done.stdout.splitlines()
            if "program.py:" in line and "error" in line}, done.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers(checker, tmp_path):
    pytest.importorskip(checker)
    command = ([checker, "--strict", "--cache-dir", str(tmp_path)]
               if checker == "mypy" else [checker])
    lines, said = _check(command, tmp_path, RIGHT)
    assert lines == set(), said
    lines, said = _check(command, tmp_path, WRONG)
    wanted = {i for i, line in enumerate(WRONG.splitlines(), 1)
              if line and "import" not in line}
    assert lines == wanted, said
    if checker == "mypy":
        files = [str(f) for f in PACKAGE.glob("*.py*")
                 if f.stem not in NEEDS or importlib.util.find_spec(f.stem)]
        done = subprocess.run(
            [sys.executable, "-m", *command, *files], cwd=tmp_path, text=True,
            capture_output=True, env={**os.environ, "MYPYPATH": ""}, timeout=300)
        assert done.returncode == 0, done.stdout
