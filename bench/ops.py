"""ops.py [--json] [--quick] [KERNEL...] - memory-bound kernels beside NumPy.

A row is a kernel at a size that streams from memory and one that stays in the
caches, on f32.  GB/s counts each argument once, read or written: what the
operation needs, whatever an implementation moves.  axe and NumPy take turns;
a turn is one call to warm up and several timed ones, and the figures are the
medians of all.  NumPy runs on one thread, so the ratio is axe's on one; `copy`
is numpy.copyto, the bandwidth that a user sees.  AXE and SRC: the command and
the repository.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

TURNS, BUDGET = 3, 0.25  # turns, seconds for one of NumPy's


def gelu(x, y):
    np.multiply(x, x, out=y)
    y *= 0.044715
    y += 1
    y *= x
    y *= 0.7978845608
    np.tanh(y, out=y)
    y += 1
    y *= x
    y *= 0.5


def silu_mul(a, b, y):
    np.negative(a, out=y)
    np.exp(y, out=y)
    y += 1
    np.divide(a, y, out=y)
    y *= b


def layernorm(x, w, b, y):
    np.subtract(x, x.mean(1, keepdims=True), out=y)
    s = np.einsum("mn,mn->m", y, y)[:, None] / x.shape[1]
    y *= 1 / np.sqrt(s + 1e-5)
    y *= w
    y += b


def rmsnorm(x, w, y):
    s = np.einsum("mn,mn->m", x, x)[:, None] / x.shape[1]
    np.multiply(x, 1 / np.sqrt(s + 1e-5), out=y)
    y *= w


def softmax(x, y):
    np.subtract(x, x.max(1, keepdims=True), out=y)
    np.exp(y, out=y)
    y /= y.sum(1, keepdims=True)


def quantise(x, q, s):
    top = np.abs(x).max(1, keepdims=True)
    np.divide(top[:, 0], 127, out=s)
    np.copyto(q, np.rint(x * (127 / top)), casting="unsafe")


# file, kernel, the shapes of its arguments in order (i8 after a *), NumPy
OPS = [
    ("elementwise", "add", ("MN", "MN", "MN"),
     lambda x, y, z: np.add(x, y, out=z)),
    ("gelu", "gelu", ("MN", "MN"), gelu),
    ("silu_mul", "silu_mul", ("MN", "MN", "MN"), silu_mul),
    ("layernorm", "layernorm", ("MN", "N", "N", "MN"), layernorm),
    ("rmsnorm", "rmsnorm", ("MN", "N", "MN"), rmsnorm),
    ("softmax", "softmax", ("MN", "MN"), softmax),
    ("reduce", "row_sum", ("MN", "M"), lambda x, y: x.sum(1, out=y)),
    ("reduce", "row_max", ("MN", "M"), lambda x, y: x.max(1, out=y)),
    ("reduce", "col_sum", ("MN", "N"), lambda x, y: x.sum(0, out=y)),
    ("quantise", "quantise", ("MN", "*MN", "M"), quantise),
    ("transpose", "transpose", ("MN", "NM"), lambda x, y: np.copyto(y, x.T)),
]
SIZES = [(8192, 4096), (64, 1024)]


def arrays(shapes, m, n):
    r = np.random.default_rng(1)
    for s in shapes:
        dims = [m if d == "M" else n for d in s.strip("*")]
        x = r.standard_normal(dims, dtype="f4")
        yield x.astype("i1") if s[0] == "*" else x


def time_numpy(f, args, times):
    f(*args)
    begin = time.perf_counter()
    while time.perf_counter() - begin < BUDGET:
        start = time.perf_counter()
        f(*args)
        times.append(time.perf_counter() - start)


def time_axe(file, kernel, m, n, threads, times):
    p = subprocess.run(
        [os.environ["AXE"], "run", f"{os.environ['SRC']}/kernels/{file}.axe",
         kernel, "--random", f"M={m}", f"N={n}", "--threads", str(threads),
         f"--time={15 if m * n > 2**22 else 301}", "--json"],
        stdout=subprocess.PIPE, check=True, text=True)
    times.append(json.loads(p.stdout)["time"]["median_s"])


def measure(op, m, n, turns):
    file, kernel, shapes, f = op
    args = list(arrays(shapes, m, n))
    n_bytes = sum(a.nbytes for a in args)
    t = {"numpy": [], "axe": [], "axe2": []}
    for _ in range(turns):
        time_numpy(f, args, t["numpy"])
        time_axe(file, kernel, m, n, 1, t["axe"])
        time_axe(file, kernel, m, n, 2, t["axe2"])
    row = {k: n_bytes / statistics.median(v) * 1e-9 for k, v in t.items()}
    return dict(bench="ops_f32", kernel=kernel, m=m, n=n,
                ratio=row["axe"] / row["numpy"], **row)


def copy_rate(m, n):
    x, y, t = *arrays(("MN", "MN"), m, n), []
    time_numpy(lambda a, b: np.copyto(b, a), (x, y), t)
    return 2 * x.nbytes / statistics.median(t) * 1e-9


def show(row):
    print("{kernel:10} {m:5} x {n:4} {numpy:9.1f} {axe:9.1f} {ratio:7.2f} "
          "{axe2:9.1f}".format(**row), flush=True)


def main():
    flags = [a for a in sys.argv[1:] if a.startswith("-")]
    only = [a for a in sys.argv[1:] if not a.startswith("-")]
    as_json = "--json" in flags
    if not as_json:
        print("f32 [GB/s of arguments], axe on one and on two threads, NumPy",
              np.__version__)
        print(f"{'kernel':10} {'M x N':>12} {'numpy':>9} {'axe':>9} "
              f"{'ratio':>7} {'axe, 2':>9}")
    for m, n in SIZES:
        copy = {"bench": "ops_f32", "kernel": "copy", "m": m, "n": n,
                "numpy": copy_rate(m, n)}
        if as_json:
            print(json.dumps(copy), flush=True)
        else:
            print(f"{'copy':10} {m:5} x {n:4} {copy['numpy']:9.1f}")
        for op in OPS:
            if only and op[1] not in only:
                continue
            row = measure(op, m, n, 1 if "--quick" in flags else TURNS)
            print(json.dumps(row), flush=True) if as_json else show(row)


if __name__ == "__main__":
    main()
