#!/usr/bin/env python3
"""Functions of floating-point values: within the units that src/ir/ops.def says.

Those of f64 are compared with NumPy's long doubles (erf and erfc with Python's
doubles), those of f32 with its doubles, on ordinary numbers, on bits at random
and on special ones.  `functions_real.py all` goes through every 97th f32.  Then
--check compares all of them in every type with the reference, on the CPU and,
as texts for GPUs, in the simulator.
"""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

AXE = os.environ["AXE"]
LONG = np.longdouble
erf, erfc = (np.vectorize(f, otypes=[LONG]) for f in (math.erf, math.erfc))


def away(x):
    return np.copysign(np.trunc(abs(x)) + (abs(x) - np.trunc(abs(x)) >= 0.5), x)


# name: the function, between which numbers ordinary arguments lie
ONE = {"sin": (np.sin, -20, 20), "cos": (np.cos, -20, 20),
       "tan": (np.tan, -20, 20), "asin": (np.arcsin, -1, 1),
       "acos": (np.arccos, -1, 1), "atan": (np.arctan, -9, 9),
       "sinh": (np.sinh, -9, 9), "cosh": (np.cosh, -9, 9),
       "erf": (erf, -4, 4), "erfc": (erfc, -4, 9),
       "log1p": (np.log1p, -1, 9), "expm1": (np.expm1, -9, 9),
       "log2": (np.log2, 0, 9), "log10": (np.log10, 0, 9),
       "cbrt": (np.cbrt, -9, 9), "floor": (np.floor, -9, 9),
       "ceil": (np.ceil, -9, 9), "round": (away, -9, 9),
       "trunc": (np.trunc, -9, 9), "rint": (np.rint, -9, 9),
       "exp": (np.exp, -20, 20), "exp2": (np.exp2, -20, 20),
       "log": (np.log, 0, 9), "tanh": (np.tanh, -9, 9),
       "sqrt": (np.sqrt, 0, 9),
       "sign": (lambda x: np.where(x == 0, x, np.sign(x)), -9, 9)}
TWO = {"atan2": (np.arctan2, -9, 9), "pow": (np.power, 0, 9),
       "hypot": (np.hypot, -9, 9), "fmod": (np.fmod, -9, 9),
       "copysign": (np.copysign, -9, 9)}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
MORE = {"fma": "fma(X[i*256 + n], Y[i*256 + n], X[i*256 + n])",
        "clamp": "clamp(X[i*256 + n], Y[i*256 + n], 2)",
        "sigmoid": "sigmoid(X[i*256 + n])", "rsqrt": "rsqrt(abs(X[i*256 + n]))"}
# Where this processor has them, also vectors of 256 bits.
CPU = pathlib.Path("/proc/cpuinfo")
SHORTER = ["cpu-avx2"] if CPU.exists() and " avx512f " in CPU.read_text() else []
# Results below the smallest normal number may be 0.
MAY_BE_ZERO = ("exp", "exp2", "erfc")
SPECIAL = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 0.5, -0.5, 1.5, 2.5,
           -2.5, 3, -3, 2, 0.25, 1e-30, -1e-30, 1e30, -1e30, 1e-42, -1e-42,
           1e6, 88.5, -87, 0.99999994, 1.0000001, 16777216, 8388607.5]


def bounds():
    text = open("src/ir/ops.def").read()
    return {m[1]: float(m[2]) for m in re.finditer(
        r'^OP\(.*"(\w+)" *, *([\d.]+) *\)', text, re.M)}


def numbers(lo, hi, dtype, n, rng):
    word = "u4" if dtype == "f4" else "u8"
    bits = rng.integers(0, 1 << 62, n).astype(word) * np.array(5, word)
    x = np.where(np.arange(n) % 2, rng.uniform(lo, hi, n).astype(dtype),
                 bits.view(dtype))
    return x


def ulps(got, want, dtype):
    """How far off in units in the last place; of zeros also the sign."""
    info = np.finfo(dtype)
    near = want.astype(dtype)
    both = (np.isnan(got) & np.isnan(want)) | \
        ((got == near) & ((got != 0) | (np.signbit(got) == np.signbit(near))))
    least = math.frexp(float(info.tiny))[1]
    e = np.maximum(np.frexp(np.where(np.isfinite(want), want, 1))[1], least)
    unit = np.ldexp(want.dtype.type(1), e - info.nmant - 1)
    off = abs(got.astype(want.dtype) - want) / unit
    # a zero of the wrong sign, NaN and infinity for a number
    off = np.where(np.isfinite(off) & ~((got == 0) & (near == 0)), off, np.inf)
    return np.where(both, 0, off)


def kernel(t):
    args = [f"out {t} {n}_[N]" for n in (*ONE, *TWO, *MORE)] + \
        [f"out i32 {n}_[N]" for n in TESTS]
    x, y = "X[i*256 + n]", "Y[i*256 + n]"
    body = [f"{n}_[i*256 + n] = {n}({x});" for n in ONE] + \
        [f"{n}_[i*256 + n] = {n}({x}, {y});" for n in TWO] + \
        [f"{n}_[i*256 + n] = {e};" for n, e in MORE.items()] + \
        [f"{n}_[i*256 + n] = {n}({x}) ? 1 : 0;" for n in TESTS]
    return (f"kernel k(in {t} X[N], in {t} Y[N], {', '.join(args)})\n{{\n"
            "    index n;\n\n    cta (i : N by 256) {\n        "
            + "\n        ".join(body) + "\n    }\n}\n")


def conform(folder):
    failed = 0
    for t in ("f32", "f64", "f16", "bf16"):
        with open(f"{folder}/k.axe", "w") as f:
            f.write(kernel(t))
        for how in (["run", "N=40000"], ["sim", "-t", "sm_80", "N=700"],
                    ["sim", "-t", "sm_100a", "N=300"]):
            p = subprocess.run(
                [AXE, how[0], f"{folder}/k.axe", *how[1:], "--check",
                 "--random"], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            if p.returncode:
                print(t, *how, p.stdout)
                failed += 1
    return failed


def run(folder, t, machine, x, y):
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/y.npy", y)
    with open(f"{folder}/k.axe", "w") as f:
        f.write(kernel(t))
    p = subprocess.run(
        [AXE, "run", f"{folder}/k.axe", "-t", machine, f"X={folder}/x.npy",
         f"Y={folder}/y.npy", *(f"{n}_={folder}/{n}.npy"
                                for n in (*ONE, *TWO, *TESTS))],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        print(p.stdout)
        sys.exit(1)
    return {n: np.load(f"{folder}/{n}.npy") for n in (*ONE, *TWO, *TESTS)}


def check(folder, t, machine, x, y, bound, worst):
    got, failed = run(folder, t, machine, x, y), 0
    dtype = "f" + str(int(t[1:]) // 8)
    wide = LONG if t == "f64" else np.float64
    with np.errstate(all="ignore"):
        X, Y = x.astype(wide), y.astype(wide)
        for n, (f, *_) in (ONE | TWO).items():
            want = f(X) if n in ONE else f(X, Y)
            if n == "fmod" or n in TESTS:
                want = np.fmod(x, y)
            want = want.astype(wide)
            off = ulps(got[n], want, dtype)
            tiny = abs(want) < np.finfo(dtype).tiny
            if n in MAY_BE_ZERO:
                off[tiny & (got[n] >= 0)] = 0
            at = int(np.argmax(off))
            worst[n, t] = max(worst.get((n, t), 0), float(off[at]))
            slack = 1 if t == "f64" and n in ("erf", "erfc") else 0.01
            if off[at] > max(bound[n], 0.51 if bound[n] else 0) + slack * (bound[n] > 0):
                print(f"{n} of {t} on {machine}: {np.sum(off > bound[n])} off, "
                      f"({float(x[at]).hex()}, {float(y[at]).hex()}) gives "
                      f"{float(got[n][at]).hex()}, not "
                      f"{float(want[at]).hex()}: {float(off[at]):.3g} units")
                failed += 1
        for n, f in TESTS.items():
            if (got[n] != f(x)).any():
                print(f"{n} of {t} on {machine}")
                failed += 1
    return failed


def main():
    rng, failed, bound, worst = np.random.default_rng(2), 0, bounds(), {}
    every = sys.argv[1:] == ["all"]
    with tempfile.TemporaryDirectory() as folder:
        for t, dtype in (("f32", "f4"), ("f64", "f8")):
            n = 4000
            x = numbers(-9, 9, dtype, n, rng)
            y = numbers(-9, 9, dtype, n, rng)
            x[1::4] = rng.uniform(-1, 1, len(x[1::4]))
            k = len(SPECIAL)
            x[:k * k] = np.repeat(np.array(SPECIAL, dtype), k)
            y[:k * k] = np.tile(np.array(SPECIAL, dtype), k)
            for machine in ("cpu", "cpu-base", *SHORTER):
                failed += check(folder, t, machine, x, y, bound, worst)
        failed += conform(folder)
        for first in range(0, 1 << 32 if every else 0, 97 << 21):
            x = np.arange(first, min(first + (97 << 21), 1 << 32), 97)
            x = x.astype("u4").view("f4")
            failed += check(folder, "f32", "cpu", x, x[::-1].copy(), bound, worst)
    for n in (*ONE, *TWO) if every or "-v" in sys.argv else ():
        print(f"{n:9} {bound[n]:4g}  f32 {worst[n, 'f32']:.3f}  "
              f"f64 {worst[n, 'f64']:.3f}")
    print(f"{len(ONE) + len(TWO) + len(TESTS)} functions, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
