"""What a call from Python costs beyond the kernel, and what `import axe` costs.

All rows are measured in turns, so that load falls on all alike; a row is the median
of its turns, with the quartiles.  The kernel doubles 16 numbers on one thread.  "C"
is the same launch by axe_call_run, a look at the clock each time included.
"""
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import axe

TURNS, CALLS, IMPORTS = 31, 2000, 15
TEXT = """kernel twice(in f32 X[M], out f32 Y[M]) {
    index m;
    cta (i : 1) Y[m] = 2 * X[m];
}"""


def rows():
    """(name, whom it is compared with, what makes one turn [ns per call])."""
    k, device = axe.kernel(TEXT).twice, axe.Device(threads=1)
    x, y = np.ones(16, "f4"), np.empty(16, "f4")
    program = k.compile((("X", x), ("Y", y)))
    exec = axe._axe.Exec(program, device)
    axe.set_device(device)

    def c_call():
        runs = exec.time((("X", x), ("Y", y)), (), 1000, 0.0)
        return 1e9 * sum(runs) / len(runs)

    yield "C: axe_call_run", "C", c_call
    yield "axe: k(x, out=y)", "C", turn(lambda: k(x, out=y))
    yield "axe: k(x)", "C", turn(lambda: k(x))
    yield "axe: k(X=x, out=y)", "C", turn(lambda: k(X=x, out=y))
    yield "NumPy: np.multiply(x, 2, out=y)", "NumPy", turn(
        lambda: np.multiply(x, 2, out=y))
    yield "NumPy: np.multiply(x, 2)", "NumPy", turn(lambda: np.multiply(x, 2))
    yield "Python: lambda: None", "Python", turn(lambda: None)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    t, u = torch.ones(16), torch.empty(16)
    yield "PyTorch: torch.mul(t, 2, out=u)", "PyTorch", turn(
        lambda: torch.mul(t, 2, out=u))
    yield "PyTorch: torch.mul(t, 2)", "PyTorch", turn(lambda: torch.mul(t, 2))
    yield "axe: k(t, out=u), of PyTorch", "C", turn(lambda: k(t, out=u))


def turn(call):
    def one():
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        return (time.perf_counter_ns() - begin) / CALLS
    call()
    return one


def quartiles(samples):
    return statistics.quantiles(samples, n=4)


def calls():
    table = list(rows())
    found = {name: [] for name, _, _ in table}
    for _ in range(TURNS):
        for name, _, one in table:
            found[name].append(one())
    by = {name: quartiles(s) for name, s in found.items()}
    c, add = by["C: axe_call_run"][1], by["NumPy: np.multiply(x, 2, out=y)"][1]
    print(f"{'one call':33}{'ns':>7}{'quartiles':>15}{'/ NumPy':>9}{'- C ns':>8}")
    for name, of, _ in table:
        low, mid, high = by[name]
        more = f"{mid - c:8.0f}" if of == "C" and mid != c else ""
        print(f"{name:33}{mid:7.0f}{low:8.0f}{high:7.0f}{mid / add:9.2f}{more}")
    return by["axe: k(x, out=y)"][1] - c


def imports(env):
    """Milliseconds of processor time that the interpreter takes with each import, in
    turns; its modules are compiled, as an installed package's are."""
    lines = {"pass": "pass", "import axe": "import axe", "import numpy": "import numpy",
             "import axe, numpy": "import axe, numpy"}
    found = {name: [] for name in lines}
    for i in range(IMPORTS + 1):
        for name, line in lines.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", line], check=True, env=env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if i > 0:
                found[name].append(1e3 * (after.ru_utime - before.ru_utime
                                          + after.ru_stime - before.ru_stime))
    base = statistics.median(found["pass"])
    print(f"{'import':33}{'ms':>7}{'quartiles':>15}{'- pass':>9}")
    for name, samples in found.items():
        low, mid, high = quartiles(samples)
        more = f"{mid - base:9.1f}" if name != "pass" else ""
        print(f"{name:33}{mid:7.1f}{low:8.1f}{high:7.1f}{more}")
    return statistics.median(found["import axe"]) - base


def inside(env):
    """What -X importtime says of the modules of `import axe`, the largest first."""
    said = subprocess.run([sys.executable, "-X", "importtime", "-c", "import axe"],
                          check=True, capture_output=True, text=True, env=env).stderr
    own = []
    for line in said.splitlines()[1:]:
        self_us, _, name = line.removeprefix("import time:").split("|")
        own.append((int(self_us), name.strip()))
    start = next(i for i, (_, n) in enumerate(own) if n == "site") + 1
    print("of it:", ", ".join(f"{n} {us / 1e3:.1f}" for us, n in sorted(
        own[start:], reverse=True)[:6]))


def goal(what, value, limit, unit):
    print(f"goal: {what} below {limit} {unit}: {value:.3g} {unit}, "
          f"{'met' if value < limit else 'MISSED'}")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, NumPy {np.__version__}")
    goal("a call costs beyond C's", calls() / 1e3, 2, "us")
    with tempfile.TemporaryDirectory() as folder:
        env = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = folder
        goal("`import axe`", imports(env), 30, "ms")
        inside(env)
