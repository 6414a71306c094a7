#!/usr/bin/env python3
"""deterministic.py AXE - scopes whose entities meet, with the word and without.

With it: the same bits on 1, 2, 3 and 5 workers and in four orders of the
simulator, on every machine; where entities take turns, those of a loop in the
order of their numbers.  Without it: some order of the simulator differs.  One
order is compared with the reference, as bits are the same in the others.  With
AXE_SHARE=N every Nth of a test's machines, by turns."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import numpy

AXE = sys.argv[1]

SPLITK = """
kernel k<type T = f32, BM = 32, BN = 32, BK = 32, S = 6>(in T A[M, K], in T B[N, K], inout f32 Y[M, N])
{
    index m, n, k;
    cta deterministic (s : S, i : M by BM, j : N by BN) {
        reg f32 acc[BM, BN] = 0;
        shared T a[BM, BK];
        shared T b[BN, BK];
        for (t : K by S * BK) {
            a[m, k] = A[i*BM + m, (t*S + s)*BK + k];
            b[n, k] = B[j*BN + n, (t*S + s)*BK + k];
            acc[m, n] += a[m, k] * b[n, k];
        }
        Y[i*BM + m, j*BN + n] += acc[m, n];
    }
}"""

SCATTER = """
kernel k<BM = 32>(in f32 X[M, N], in i32 rows[M], inout f32 Y[V, N])
{
    index m, n;
    cta deterministic (i : M by BM, j : N by 64) Y[rows[i*BM + m], j*64 + n] += X[i*BM + m, j*64 + n];
}"""

# All entities meet, and none is left to tell them apart.
ROWS = """
kernel k(in f32 X[M, N], inout f32 Y[N])
{
    index m, n;
    cta deterministic (i : M by 16) Y[n] += X[i*16 + m, n];
}"""

# Two ranges meet, one in a scope of warps tells.
WARPS = """
kernel k(in f32 X[M, N], inout f32 Y[N])
{
    index m, n;
    cta deterministic (i : M by 32, j : N by 64, h : 2) warps 2 warp (w : 0..2) {
        reg f32 x[16, 32];
        x[m, n] = X[i*32 + h*16 + m, j*64 + w*32 + n];
        Y[j*64 + w*32 + n] += x[m, n];
    }
}"""

# A condition adds or not; a loop adds often.
TURNS = """
kernel k(in f32 X[M, N], inout f32 Y[N])
{
    index n;
    cta deterministic (i : M by 4, j : N by 64)
        for (t : 4) if (i*4 + t < M) Y[j*64 + n] += X[i*4 + t, j*64 + n];
}"""

LAST = """
kernel k(in f32 X[M, N], in i32 rows[M], inout f32 Y[V, N])
{
    index m, n;
    cta deterministic (i : M by 8) Y[rows[i*8 + m], n] = X[i*8 + m, n];
}"""

PRODUCT = """
kernel k(in f32 X[M, N], inout f32 Y[N])
{
    index n, m;
    cta deterministic (i : M by 16, j : N by 64) Y[j*64 + n] *= prod[m](1 + 0.01 * X[i*16 + m, j*64 + n] * (m < 16 ? 1 : 0));
}"""

LARGEST = """
kernel k(in f32 X[M, N], inout f32 Y[N])
{
    index n, m;
    cta deterministic (i : M by 16, j : N by 64) Y[j*64 + n] max= X[i*16 + m, j*64 + n];
}"""

OVERLAP = """
kernel k(in f32 X[M, N], inout f32 Y[N])
{
    index m, n;
    global f32 Z[M, N];
    overlap {
        cta (i : M by 8) Z[i*8 + m, n] = X[i*8 + m, n] * X[i*8 + m, n];
        cta deterministic (i : M by 16, j : N by 64) Y[j*64 + n] += Z[i*16 + m, j*64 + n];
    }
}"""

STEPS = """
kernel k(in f32 X[M, N], in i64 steps, inout f32 Y[N])
{
    index m, n;
    for (t : steps) {
        cta deterministic (i : M by 16, j : N by 64) Y[j*64 + n] += X[i*16 + m, j*64 + n];
        cta (j : N by 64) Y[j*64 + n] *= 0.75;
    }
}"""

TWICE = """
kernel k(in f32 X[M, N], inout f32 Y[N], inout f32 Z[M])
{
    index m, n;
    cta deterministic (i : M by 16, j : N by 64) {
        Y[j*64 + n] += X[i*16 + m, j*64 + n];
        Z[i*16 + m] += X[i*16 + m, j*64 + n];
    }
}"""

ROLES = """
kernel k<BM = 128, BN = 64, BK = 64, S = 3>(in f16 A[M, K], in f16 B[N, K], inout f32 Y[M, N])
    target sm_90a
{
    index m, n, k;
    cta deterministic persistent (s : S, i : M by BM, j : N by BN) warpgroups 3 {
        pipeline ring[3] { shared f16 a[BM, BK]; shared f16 b[BN, BK]; }
        roles {
            warpgroup (0) registers 40 {
                for (t : K by S * BK) produce ring {
                    ring.a[m, k] = A[i*BM + m, (t*S + s)*BK + k];
                    ring.b[n, k] = B[j*BN + n, (t*S + s)*BK + k];
                }
            }
            warpgroup (w : 1..3) registers 232 {
                reg f32 acc[BM / 2, BN] = 0;
                for (t : K by S * BK) consume ring
                    acc[m, n] += ring.a[(w - 1)*(BM / 2) + m, k] * ring.b[n, k];
                Y[i*BM + (w - 1)*(BM / 2) + m, j*BN + n] += acc[m, n];
            }
        }
    }
}"""

COUNT = """
kernel k(in f32 X[M], inout f32 Y[N], in i32 to[M], inout i32 H[N])
{
    index m;
    cta deterministic (i : M by 32) H[to[i*32 + m]] += X[i*32 + m] > 0 ? 1 : 0;
}"""

rng = numpy.random.default_rng(11)


def real(*shape, type="f4"):
    return rng.standard_normal(shape).astype(type)


def rows(n, v):
    return rng.integers(0, v, n).astype("i4")


CPU, GPU = "run", "sim"
MACHINES = [(CPU, "cpu"), (CPU, "cpu-avx2"), (CPU, "cpu-base"),
            (GPU, "sm_80"), (GPU, "sm_90a"), (GPU, "opencl-sg16")]


class Test:
    def __init__(self, text, arrays, out="Y", numbers=(), machines=None,
                 differs=(), exact=None, parts=1):
        self.text, self.arrays, self.out = text, arrays, out
        self.numbers, self.machines = list(numbers), machines or MACHINES
        self.differs, self.exact, self.parts = differs, exact, parts


def in_turn(a):
    y = a["Y"].copy()
    numpy.add.at(y, a["rows"], a["X"])
    return y


def one_by_one(a):
    y = a["Y"].copy()
    for x in a["X"]:
        y += x
    return y


def last(a):
    y = a["Y"].copy()
    for r, x in zip(a["rows"], a["X"]):
        y[r] = x
    return y


TESTS = {
    "splitk": Test(SPLITK, dict(A=real(70, 411), B=real(45, 411), Y=real(70, 45))),
    "splitk.f16": Test(SPLITK.replace("T = f32", "T = f16"),
                       dict(A=real(70, 411, type="f2"), B=real(45, 411, type="f2"), Y=real(70, 45))),
    "scatter": Test(SCATTER, dict(X=real(150, 70), rows=rows(150, 9), Y=real(9, 70)),
                    differs=["sm_80", "sm_90a"], exact=in_turn, parts=0),
    "rows": Test(ROWS, dict(X=real(333, 601), Y=real(601))),
    "warps": Test(WARPS, dict(X=real(333, 130), Y=real(130))),
    "turns": Test(TURNS, dict(X=real(77, 150), Y=real(150)), exact=one_by_one, parts=0),
    "last": Test(LAST, dict(X=real(48, 33), rows=rows(48, 7), Y=real(7, 33)), exact=last, parts=0),
    "product": Test(PRODUCT, dict(X=real(100, 70), Y=real(70))),
    "largest": Test(LARGEST, dict(X=real(100, 70), Y=real(70)),
                    exact=lambda a: numpy.maximum(a["Y"], a["X"].max(0))),
    "overlap": Test(OVERLAP, dict(X=real(100, 70), Y=real(70))),
    "steps": Test(STEPS, dict(X=real(100, 70), Y=real(70)), numbers=["steps=3"]),
    "twice": Test(TWICE, dict(X=real(100, 70), Y=real(70), Z=real(100)), parts=2),
    "roles": Test(ROLES, dict(A=real(200, 408, type="f2"), B=real(72, 408, type="f2"), Y=real(200, 72)),
                  machines=[(GPU, "sm_90a")]),
    "count": Test(COUNT, dict(X=real(100), to=rows(100, 6), H=numpy.zeros(6, "i4"), Y=real(6)),
                  out="H", machines=[m for m in MACHINES if m[1] != "opencl-sg16"],
                  exact=lambda a: numpy.bincount(a["to"][a["X"] > 0], minlength=6).astype("i4"), parts=0),
}


def bits(folder, verb, machine, test, file, *options):
    with tempfile.TemporaryDirectory(dir=folder) as own:
        for name, a in test.arrays.items():
            numpy.save(f"{own}/{name}.npy", a)
        return bits_in(own, verb, machine, test, file, *options)


def bits_in(folder, verb, machine, test, file, *options):
    done = subprocess.run(
        [AXE, verb, file, "-t", machine, *options, *test.numbers] +
        [f"{n}={folder}/{n}.npy" for n in test.arrays], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"deterministic: {file} {machine} {options}: {done.stdout[-2000:]}{done.stderr}")
    return numpy.load(f"{folder}/{test.out}.npy").tobytes()


def orders(verb):
    if verb == CPU:
        all = [["--threads", str(n), "--no-tuned"] for n in (1, 2, 3, 5)]
    else:
        all = [["--policy", p, "--seed", s] for p, s in
               (("lazy", "1"), ("eager", "1"), ("random", "2"), ("random", "3"))]
    return [all[0] + ["--check"], *all[1:]]


def write(folder, name, text):
    file = f"{folder}/{name}.axe"
    with open(file, "w") as f:
        f.write(text)
    return file


def emitted(file, machine):
    return subprocess.run([AXE, "compile", file, "-t", machine, "--emit", "ordered"],
                          capture_output=True, text=True, check=True).stdout


def try_one(folder, name, test, verb, machine):
    """What is wrong, or None."""
    file = write(folder, f"{name}.{machine}", test.text)
    ir = emitted(file, machine)
    n_part = ir.count("    global ")
    if n_part - test.text.count("global ") != test.parts:
        return f"{name} {machine}: {ir}"
    got = {bits(folder, verb, machine, test, file, *o) for o in orders(verb)}
    if len(got) != 1:
        return f"{name} on {machine} has {len(got)} results"
    if test.exact and got.pop() != test.exact(test.arrays).tobytes():
        return f"{name} on {machine}: not the order of the text"
    if machine not in test.differs:
        return None
    loose = write(folder, f"{name}.{machine}.loose", test.text.replace(" deterministic", ""))
    got = {bits(folder, verb, machine, test, loose, *o) for o in orders(verb)}
    return None if len(got) > 1 else \
        f"{name} on {machine}: without the word there is one result, too"


def main():
    share = int(os.environ.get("AXE_SHARE", "1"))
    todo = [(name, TESTS[name], *machine) for k, name in enumerate(sys.argv[2:] or TESTS)
            for machine in TESTS[name].machines[k % share % len(TESTS[name].machines)::share]]
    with tempfile.TemporaryDirectory() as tmp, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(lambda t: try_one(tmp, *t), todo) if w]
    if wrong or not todo:
        sys.exit("\n".join(f"deterministic: {w}" for w in wrong or ["nothing was run"]))


main()
