#!/usr/bin/env python3
"""random_kernels.py - random kernels on the CPU against the reference.

    random_kernels.py AXE [COUNT [SEED [SECONDS]]]

A kernel is a few independent segments in one cta scope: element-wise
statements with broadcasts, permutations, casts and masks, folds, tiles of
random declared layouts, contractions in every orientation, loops that carry
tiles from one turn to the next, threads and loops around elements and scalars.
Extents are odd, sizes are 0, 1 or no multiples of the tiles, arrays are
row-major, column-major or strided, plans are for wide, narrow and no vectors.
One kernel in three is about loops that are left, branches, and what tiles keep
meanwhile (random_flow.py).  `axe run --check` judges.

A kernel that fails is made smaller, segment by segment, and printed with the
command that shows it.  The same seed gives the same kernels; seed 1 begins with
some that were wrong once.
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy

from random_flow import FlowMaker
from random_maker import Maker
from share import with_cc

MACHINES = ["cpu", "cpu", "cpu-avx2", "cpu-base"]
NUMPY = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "i16": "i2",
         "u8": "u1", "i32": "i4", "i64": "i8"}

# Kernels that were wrong once: text between the arguments and the end of the
# cta scope, sizes.
CORNERS = [
    ("in f32 A[M, K], in i8 Q[K, N], in f32 S[N], in f32 R[M], out f32 C[M, N]",
     "cta (i : M by 64, j : N by 48) { reg f32 acc[64, 48] = 0; shared f32 "
     "a[64, 32]; shared i8 q[32, 48]; shared f32 s[48]; s[n] = S[j*48 + n]; "
     "for (t : K by 32) { a[m, k] = A[i*64 + m, t*32 + k]; q[k, n] = Q[t*32 + "
     "k, j*48 + n]; acc[m, n] += a[m, k] * (f32(q[k, n]) * s[n]) * R[i*64 + "
     "m]; } C[i*64 + m, j*48 + n] = acc[m, n]; }", "M=65 N=131 K=33"),
    ("in f32 A[M, 16], in f32 B[16, 32], in f32 D[32, 48], out f32 C[M, 48]",
     "cta (i : M by 64) { reg f32 acc[64, 48] = 0; shared f32 a[64, 16]; "
     "a[m, k] = A[i*64 + m, k]; acc[m, n] += a[m, k] * B[k, x] * D[x, n]; "
     "C[i*64 + m, n] = acc[m, n]; }", "M=131"),
    ("in f32 X[M, N], in bool P[M, N], out bool Q[M, N], out f64 Z[M, N], "
     "out bool T[N, M], out i8 C[M]", "cta (i : M by 8) { reg bool t[8, 32]; "
     "t[m, k] = P[i*8 + m, k + 1] && k < m; Q[i*8 + m, n] = X[i*8 + m, n] > "
     "0.25 && !P[i*8 + m, n] || n % 3 == 1 || t[m, n % 32]; Z[i*8 + m, n] = "
     "P[i*8 + m, n] ? f64(X[i*8 + m, n]) : X[i*8 + m, n] < 0 ? -1 : 2; "
     "T[n, i*8 + m] = P[i*8 + m, n]; C[i*8 + m] = i8(sum[n](P[i*8 + m, n] ? "
     "i32(n) : 0)); }", "M=65 N=131"),
    ("in i8 X[M, K], in i8 Z[K, N], out i8 Y[N, M]", "cta (i : M, j : N by 2) "
     "{ reg i32 c[1, 2] = 0; shared i8 a[2, 1]; shared i8 b[2, 2]; for (t : K "
     "by 2) { a[k, m] = X[i + m, t*2 + k]; b[k, n] = Z[t*2 + k, j*2 + n]; "
     "c[m, n] += i32(a[k, m]) * i32(b[k, n]) slow; } Y[j*2 + n, i + m] = "
     "i8(c[m, n]); }", "M=5 N=7 K=4"),
    ("in f32 X[M, M], out f32 Y[M], out f32 Z[M, M]", "cta (i : M by 8) { "
     "Y[i*8 + m] = X[i*8 + m, i*8 + m]; Z[i*8 + m, i*8 + m] = 1.0; }", "M=30"),
    ("in f32 X[M, N], out f32 Z[M, N]", "cta (i : M by 8, j : N by 8) { "
     "Z[i*8 + m, j*8 + m] = X[i*8 + m, j*8 + m] + 1.0; }", "M=13 N=21"),
    ("in f32 A[M, K], in f32 B[N, K], in f32 D[M, 48], out f32 C[M, N]",
     "cta (i : M by 48, j : N by 48) { reg f32 acc[48, 48] = 0; shared f32 "
     "a[48, 8]; shared f32 b[48, 8]; for (t : K by 8) { a[m, k] = A[i*48 + m, "
     "t*8 + k]; b[n, k] = B[j*48 + n, t*8 + k]; acc[m, n] += a[m, k] * "
     "b[n, k]; } C[i*48 + m, j*48 + n] = acc[m, n] + D[i*48 + m, m]; }",
     "M=60 N=30 K=9"),
    ("in f32 X[M, N], out f32 Y[M, N]", "cta (i : M by 16, j : N by 4) { "
     "shared f32 a[16, 4] : ((2, 8), 4) : ((1, 8), 2); a[m, n] = X[i*16 + m, "
     "j*4 + n]; Y[i*16 + m, j*4 + n] = a[m, n]; }", "M=21 N=6"),
    ("in f32 X[P, M, N], out f32 Y[P, N, M]", "cta (i : M by 20, j : N by 20) "
     "{ Y[k, j*20 + n, i*20 + m] = X[k + 1, i*20 + m, j*20 + n]; }",
     "P=2 M=27 N=33"),
    ("in i8 X[M, N], out f32 Y[M, N]", "cta (i : M) { Y[i, n] = "
     "f32(X[i, n] * X[i, n] * X[i, n]); }", "M=3 N=40"),
    ("in f64 X[M, N], out i8 Y[M, N]", "cta (i : M) { Y[i, n] = X[i, n] != "
     "X[i, 0] && f32(X[i, n]) < 0.5 ? 1 : 0; }", "M=3 N=40"),
    ("in f32 X[M, N], out f32 Y[N, M]", "cta (i : M by 32, j : N by 32) { "
     "Y[j*32 + n, i*32 + m] = f32(f16(X[i*32 + m, j*32 + n])); }", "M=40 N=50"),
    ("in f32 X[M], out f32 Y[M]", "cta (i : M by 64) { Y[i*64 + m] = "
     "X[i*64 + m + 1] + X[i*64 + m + 2] * X[i*64 + m + 5] - X[i*64 + m]; }",
     "M=80"),
    ("in i32 X[M], in i32 Z[M], out i32 Y[M]", "cta (i : M by 64) { "
     "Y[i*64 + m] = X[i*64 + m] / Z[i*64 + m]; }", "M=80"),
    ("in f32 X[M, N], out f32 Y[M, N], out f32 Z[M]", "cta (i : M by 4) { reg "
     "f32 a[4, 4] = 0; reg f32 s[4] = 0; for (u : 2) { for (t : N by 4) { "
     "Y[i*4 + m, t*4 + n] = a[m, n]; a[m, n] = X[i*4 + m, t*4 + n]; } for "
     "(t : N by 4) { s[m] += a[m, n]; } } Z[i*4 + m] = s[m]; }", "M=6 N=10"),
    ("in f32 A[M, 4], in f32 B[64, 16], in f32 S[8], out f32 C[M], out f32 "
     "D[M, 16]", "cta (i : M by 32) { reg f32 acc[32, 4] = 0; reg f32 d[32, "
     "16] = 0; shared f32 a[32, 8]; shared f32 b[8, 16]; shared f32 e[32] : "
     "((4, 2, 4)) : ((40, 10, 2)); for (t : 4) { acc[t*8 + m, n] = S[m] + A[i*32 "
     "+ m + t*8, n]; acc[24 - t*8 + m, n] += S[m]; e[t*8 + m] = S[m]; } for "
     "(t : 4) { a[m, k] = A[i*32 + m, 0] * f32(k); b[k, n] = B[t*8 + k, n]; "
     "d[m, n] += a[m, k] * b[k, n]; } C[i*32 + m] = sum[n](acc[m, n]) + e[m]; "
     "D[i*32 + m, n] = d[m, n]; }", "M=50"),
    ("in f32 X[M, N], in f32 F[3, 3], out f32 Y[M, N], out f32 Z[M, N]",
     "cta (i : M by 8, j : N by 16) { Y[i*8 + m, j*16 + n] = sum[k](X[i*8 + m "
     "+ k - 1, j*16 + n] * F[k, 0]) + X[0, 3]; Z[i*8 + m - 2, j*16 + n] = "
     "2.0; }", "M=19 N=33"),
    ("in f32 A[M], in f32 B[N], out f32 C[M]",
     "cta (i : M / N) { C[i] = A[i] * B[0]; }", "M=5 N=0"),
    ("in f32 X[M, 12], out f32 Y[M, 12], out f32 Z[M, 6]", "cta (i : M) { "
     "Y[i, n] = X[i, n + 1]; Z[i, m] = X[i, 2*m + 1]; }", "M=5"),
    ("in f32 X[M, 8], in f32 S[8], out f32 Y[M, 12], out f32 Z[M, 8]",
     "cta (i : M) { shared f32 a[12, 8] = 1; a[m + 2, n] = X[i, n] + S[m]; "
     "Y[i, k] = a[k, 3]; Z[i, n] = sum[m](a[m + 4, n] * S[m]); }", "M=5"),
    ("in f32 X[M, 32], out f32 Y[M, 32]", "cta (i : M by 4) { shared f32 "
     "a[4, 32] : (4, (4, 8)) : (100, (20, 1)); a[m, n] = X[i*4 + m, n]; "
     "Y[i*4 + m, n] = a[m, n]; }", "M=9"),
    ("out f16 Y[32, M], out bf16 Z[M, 32], out f16 W[M, 32]", "cta (i : M by "
     "16) { shared f64 a[16, 32] = 1.000488281251; shared f64 b[16, 32] = "
     "-1.003906250001; Y[n, i*16 + m] = f16(a[m, n]); Z[i*16 + m, n] = "
     "bf16(b[m, n]); W[i*16 + m, n] = f16(b[m, n] < 0 ? a[m, n] : 0); }",
     "M=30"),
    ("in f32 X[M], out f32 Y[M], out f32 Z[M]", "cta (i : M by 8) { shared f32 "
     "a[8]; a[m] = X[i*8 + m]; Z[i*8 + m + 3] = a[m]; Y[i*8 + m] = a[m]; }",
     "M=13"),
    ("in f32 A[16, 16], in f32 B[16, 16], out f32 C[16, 16]", "cta (i : 1) { "
     "reg f32 c[16, 16] = 0; c[m, n] += A[m, k - 1] * B[k, n] slow; "
     "C[m, n] = c[m, n]; }", ""),
    ("in f32 A[M, K], in f32 B[4, 16], out f32 C[M, 16]", "cta (i : M by 8) { "
     "reg f32 c[16, 16] = 0; shared f32 a[16, 4]; shared f32 b[4, 16]; "
     "b[k, n] = B[k, n]; for (u : 2) { a[u*8 + m, k] = A[i*8 + m, u*4 + k]; "
     "c[x, n] += a[x, k] * b[k, n]; } reg f32 d[8, 16]; for (u : 1) "
     "d[m, n] = c[u*8 + m, n]; C[i*8 + m, n] = d[m, n]; }", "M=8 K=4"),
    ("in f32 X[M, N], out f32 Y[32, 32]", "cta (i : 1) { shared f32 a[32, 32] "
     "= 1; a[n, m] = X[i*32 + m, i*32 + n]; Y[n, m] = a[n, m]; }", "M=19 N=20"),
    ("in i8 X[M, 12], out f32 Y[M]", "cta (i : M) { Y[i] = f32(prod[n]("
     "X[i, n] + 9)); }", "M=5"),
    ("in f32 X[M], out f32 Y[M]", "cta (i : 1) { for (t : (M - 5) % 3) { Y[t] "
     "= X[t]; } }", "M=4"),
    ("in f32 X[M, N], out i32 Y[N, M]", "cta (i : M by 32, j : N by 32) { "
     "Y[j*32 + n, i*32 + m] = i32(X[i*32 + m, j*32 + n]); }", "M=40 N=50"),
    ("in i32 X[M, N], out bf16 Y[N, M]", "cta (i : M by 32, j : N by 32) { "
     "shared i32 a[32, 32]; a[m, n] = X[i*32 + m, j*32 + n] + 16842753; "
     "Y[j*32 + n, i*32 + m] = bf16(a[m, n]); }", "M=40 N=50"),
    ("in f32 X[M, 12], out f32 Y[M, 12]", "cta (i : M by 4) { shared f32 "
     "a[4, 12] : (4, (3, 4)) : (80, (20, 1)); shared f32 b[4, 12] : (4, (2, 6)) "
     ": (80, (30, 1)); a[m, n] = X[i*4 + m, n]; b[m, n] = a[m, n]; Y[i*4 + m, "
     "n] = b[m, n]; }", "M=6"),
]


def maker_of(seed):
    """One in three is about control flow."""
    return FlowMaker(seed) if seed % 3 == 0 else Maker(seed)


def spell(maker, segments, size):
    """The kernel's text, its arguments on the command line, its arrays."""
    params = list(itertools.chain(*[s.params for s in segments]))
    text = "kernel k(%s)\n{\n" % ", ".join(
        ["%s %s %s[%s]" % (d, k, n, ", ".join(sh)) for d, k, n, sh in params] +
        ["in i64 " + n for s in segments for n in s.numbers])
    indices = sorted(set().union(*[s.indices for s in segments]))
    if indices:
        text += "    index %s;\n" % ", ".join(indices)
    text += "    cta (%s) {\n" % maker.scope
    for s in segments:
        text += "".join("        %s\n" % line for line in s.lines)
    text += "    }\n}\n"
    args, arrays = [], {}
    for s in segments:
        for name, order in s.order.items():
            d, kind, _, shape = next(p for p in s.params if p[2] == name)
            if order == "strided":
                args += ["--order", name + "=strided"]
            elif kind in NUMPY:
                args.append("%s=%s.npy" % (name, name))
                arrays[name] = (kind, [size.get(x) if x in size else int(x)
                                       for x in shape])
    args += ["%s=%d" % kv for s in segments for kv in s.numbers.items()]
    sizes = re.findall(r"\b[MNKP]\b", text)
    args += ["%s=%d" % (k, v) for k, v in size.items() if k in sizes]
    return text, args, arrays


def make_array(kind, shape):
    g = numpy.random.default_rng(len(shape))
    if kind[0] in "iu":
        a = g.integers(0 if kind[0] == "u" else -8, 8, shape)
    else:
        a = g.uniform(-1, 1, shape)
    return numpy.asfortranarray(a.astype(NUMPY[kind]))


class Runner:
    def __init__(self, axe, folder):
        self.axe, self.folder, self.n_run, self.n_refused = axe, folder, 0, 0
        self.env = None

    def run(self, maker, segments, size, machine, threads):
        """None if all is well, else what was said."""
        text, args, arrays = spell(maker, segments, size)
        with open(os.path.join(self.folder, "k.axe"), "w") as f:
            f.write(text)
        for name, (kind, shape) in arrays.items():
            numpy.save(os.path.join(self.folder, name), make_array(kind, shape))
        command = [self.axe, "run", "k.axe", "--random", "--check", "-t",
                   machine, "--threads", str(threads)] + args
        p = subprocess.run(command, cwd=self.folder, capture_output=True, env=self.env,
                           text=True, errors="replace", timeout=300)
        self.n_run += 1
        if p.returncode == 0:
            return None
        return "%s\nexit code %d\n%s\n%s%s" % (
            text, p.returncode, " ".join(command), p.stdout, p.stderr)


def corner(runner, row, machine):
    args, body, sizes = row
    path = os.path.join(runner.folder, "c.axe")
    used = [v for v in "mnkx" if v == "x" or re.search(r"\b%s\b" % v, body)]
    with open(path, "w") as f:
        f.write("kernel k(%s) { index %s; %s }" % (args, ", ".join(used), body))
    p = subprocess.run([runner.axe, "run", path, "--random", "--check", "-t",
                        machine, "--threads", "2"] + sizes.split(),
                       capture_output=True, text=True, errors="replace",
                       timeout=120)
    if p.returncode:
        print("%s on %s %s:\n%s%s" % (body, machine, sizes, p.stdout, p.stderr))
    return p.returncode != 0


def shrink(runner, maker, segments, size, machine, threads):
    """The smallest failing variation found."""
    said = runner.run(maker, segments, size, machine, threads)
    for s in list(segments):
        rest = [x for x in segments if x is not s]
        again = rest and runner.run(maker, rest, size, machine, threads)
        if again:
            segments, said = rest, again
    for k in size:
        for v in (0, 1, 2, 3, 8, size[k] // 2, size[k] - 1):
            if v >= 0 and v < size[k]:
                again = runner.run(maker, segments, dict(size, **{k: v}),
                                   machine, threads)
                if again:
                    size, said = dict(size, **{k: v}), again
                    break
    return said


def main():
    axe = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    begin, failed, done = time.time(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("AXE_CACHE", os.path.join(folder, "cache"))
        runner = Runner(axe, folder)
        if first == 1:
            failed = sum(corner(runner, row, "cpu") for row in CORNERS)
        for seed in range(first, first + count):
            if time.time() - begin > limit:
                break
            maker = maker_of(seed)
            runner.env = with_cc(dict(os.environ), seed)
            machine = maker.rng.choice(MACHINES)
            threads = maker.rng.randint(1, 3)
            done += 1
            if runner.run(maker, maker.segments, maker.size, machine, threads):
                failed += 1
                print("seed %d:\n%s" % (seed, shrink(
                    runner, maker, maker.segments, maker.size, machine,
                    threads)), flush=True)
    print("%d random kernels, %d runs, %d failures" % (done, runner.n_run,
                                                       failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
