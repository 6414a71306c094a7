"""Programs of TVM's Trainium back end, executed and timed: trn_tvm.py AXE SOURCE.

Needs apache-tvm (0.27; it prints NKI 0.1 and runs nothing).  What it prints is
executed by the stand-in in tests/nki, compared with NumPy, and its record is run
and timed by `axe trace` in both profiles.  All times are simulated.

TVM 0.27 declares a tile with the shape that the program gives it and not with
that of its layout, so a tile of more than 128 rows has no legal declaration.
Such texts are refused as printed; `mended` says that the declarations of the
tiles that are named here were corrected, and nothing else."""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import tvm
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import F, P, S, TileLayout

axe, source = sys.argv[1:3]
sys.path.insert(0, os.path.join(source, "tests", "nki"))

from nki._machine import Refused  # noqa: E402

import neuronxcc.nki as nki  # noqa: E402

TARGET = tvm.target.Target("aws/trn1/trn1.2xlarge")


def rows(parts, free):
    return TileLayout(S[(parts, free):(1 @ P, 1 @ F)])


def gemm(m, n, k):
    """All of the factors in SBUF, one statement for the product."""
    kt, mt = k // 128, m // 128
    fa = TileLayout(S[(kt, 128, m):(m @ F, 1 @ P, 1 @ F)])
    fb = TileLayout(S[(kt, 128, n):(n @ F, 1 @ P, 1 @ F)])
    fc = TileLayout(S[(mt, 128, n):(n @ F, 1 @ P, 1 @ F)])

    @T.prim_func
    def kernel(A: T.Buffer((k, m), "float16"), B: T.Buffer((k, n), "float16"),
               C: T.Buffer((m, n), "float32")):
        T.func_attr({"num_inputs": 2})
        T.device_entry()
        a = T.alloc_buffer((k, m), "float16", scope="trn.sbuf", layout=fa)
        b = T.alloc_buffer((k, n), "float16", scope="trn.sbuf", layout=fb)
        c = T.alloc_buffer((m, n), "float32", scope="trn.sbuf", layout=fc)
        Tx.copy(a[:, :], A[:, :])
        Tx.copy(b[:, :], B[:, :])
        Tx.gemm(c, a, b, c, transpose_A=True)
        Tx.copy(C[:, :], c[:, :])

    mended = {f"[{k}, {m}]": f"[128, {kt * m}]", f"[{k}, {n}]": f"[128, {kt * n}]",
              f"[{m}, {n}]": f"[128, {mt * n}]"}
    return kernel, {"A": (k, m, "float16"), "B": (k, n, "float16")}, {"C": (m, n)}, mended, (
        lambda A, B: {"C": A.astype(float).T @ B})


def chain(n):
    f = rows(128, n)

    @T.prim_func
    def kernel(A: T.Buffer((128, n), "float32"), Y: T.Buffer((128, n), "float32")):
        T.func_attr({"num_inputs": 1})
        T.device_entry()
        a = T.alloc_buffer((128, n), "float32", scope="trn.sbuf", layout=f)
        b = T.alloc_buffer((128, n), "float32", scope="trn.sbuf", layout=f)
        Tx.copy(a[:, :], A[:, :])
        Tx.add(b, a, T.float32(1.5))
        Tx.mul(b, b, a)
        Tx.sub(b, T.float32(0.25), b)
        Tx.copy(Y[:, :], b[:, :])

    return kernel, {"A": (128, n, "float32")}, {"Y": (128, n)}, {}, (
        lambda A: {"Y": 0.25 - (A.astype(float) + 1.5) * A})


def exponent(n):
    f = rows(128, n)

    @T.prim_func
    def kernel(A: T.Buffer((128, n), "float32"), Y: T.Buffer((128, n), "float32")):
        T.func_attr({"num_inputs": 1})
        T.device_entry()
        a = T.alloc_buffer((128, n), "float32", scope="trn.sbuf", layout=f)
        Tx.copy(a[:, :], A[:, :])
        Tx.exp(a, a)
        Tx.copy(Y[:, :], a[:, :])

    return kernel, {"A": (128, n, "float32")}, {"Y": (128, n)}, {}, (
        lambda A: {"Y": np.exp(A.astype(float))})


def total(n):
    f, g = rows(128, n), rows(128, 1)

    @T.prim_func
    def kernel(A: T.Buffer((128, n), "float32"), Y: T.Buffer((128, 1), "float32")):
        T.func_attr({"num_inputs": 1})
        T.device_entry()
        a = T.alloc_buffer((128, n), "float32", scope="trn.sbuf", layout=f)
        y = T.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout=g)
        Tx.copy(a[:, :], A[:, :])
        Tx.sum(y, a, axes=-1, max_inst_size=n)
        Tx.copy(Y[:, :], y[:, :])

    return kernel, {"A": (128, n, "float32")}, {"Y": (128, 1)}, {}, (
        lambda A: {"Y": A.astype(float).sum(1, keepdims=True)})


# The same statements as kernels of Axe; of a product all factors are in SBUF, as TVM has them.
OURS = {
    "gemm": ("""kernel gemm<BM = 1024, BN = 1024, BK = 1024>
    (in f16 A[K, M], in f16 B[K, N], out f32 C[M, N])
{
    index m, n, k;
    cta (i : M by BM, j : N by BN) {
        reg f32 c[BM, BN] = 0;
        pipeline ring[2] { shared f16 a[BK, BM]; shared f16 b[BK, BN]; }
        for (t : K by BK) {
            produce ring {
                ring.a[k, m] = A[t*BK + k, i*BM + m];
                ring.b[k, n] = B[t*BK + k, j*BN + n];
            }
            consume ring c[m, n] += ring.a[k, m] * ring.b[k, n];
        }
        C[i*BM + m, j*BN + n] = c[m, n];
    }
}
""", "MNK"),
    "chain": ("""kernel chain(in f32 A[M, N], out f32 Y[M, N])
{
    index m, n;
    cta (i : M by 128, j : N by 512)
        Y[i*128 + m, j*512 + n] = 0.25 - (A[i*128 + m, j*512 + n] + 1.5) * A[i*128 + m, j*512 + n];
}
""", "MN"),
    "exp": ("""kernel exponent(in f32 A[M, N], out f32 Y[M, N])
{
    index m, n;
    cta (i : M by 128, j : N by 512) Y[i*128 + m, j*512 + n] = exp(A[i*128 + m, j*512 + n]);
}
""", "MN"),
    "sum": ("""kernel total(in f32 A[M, N], out f32 Y[M])
{
    index m, n;
    cta (i : M by 128) Y[i*128 + m] = sum[n](A[i*128 + m, n]);
}
""", "MN"),
}


def microseconds(trace, *sets):
    """By profile."""
    out = []
    for profile in ("legacy", "doc"):
        said = subprocess.run([axe, "trace", trace, "--time", "--profile", profile, *sets],
                              capture_output=True, text=True, check=True).stdout
        value, unit = re.search(r": ([\d.]+) (us|ms)", said).groups()
        out.append(float(value) * (1000 if unit == "ms" else 1))
    return out


def ours(name):
    """Microseconds of Axe's kernel of that statement and those sizes, by profile."""
    what, *sizes = name.split()
    text, axes = OURS[what]
    with tempfile.TemporaryDirectory() as tmp:
        with open(f"{tmp}/k.axe", "w") as f:
            f.write(text)
        lowered = subprocess.run([axe, "compile", f"{tmp}/k.axe", "-t", "trn1", "--emit", "lower"],
                                 capture_output=True, text=True, check=True).stdout
        with open(f"{tmp}/t.trace", "w") as f:
            f.write(lowered.split("\n", 1)[1])
        return microseconds(f"{tmp}/t.trace",
                            *[w for a, n in zip(axes, sizes, strict=True)
                              for w in ("--set", f"{a}={n}")])


def printed(kernel):
    with TARGET:
        mod = tvm.compile(tvm.IRModule({"main": kernel}), tir_pipeline="trn")
    return mod.mod.imports[0].inspect_source()


def execute(text, inputs, outputs):
    """By the stand-in: results, and the record."""
    space = {}
    exec(compile(text, "printed", "exec"), space)
    function = space[re.search(r"^def (\w+)", text, re.M).group(1)]
    with nki.recording() as record:
        values = function(*inputs.values(), *[(shape, "f32") for shape in outputs.values()])
        return values, record.text(), list(record.inputs)


def simulate(trace, names, inputs, outputs):
    """By axe: results, and microseconds by profile."""
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "t.trace")
        with open(path, "w") as f:
            f.write(trace)
        args = []
        for name, value in zip(names, inputs.values(), strict=False):
            np.save(f"{tmp}/{name}.npy", value)
            args.append(f"{name}={tmp}/{name}.npy")
        args += [f"{name}_ptr={tmp}/{name}.npy" for name in outputs]
        done = subprocess.run([axe, "trace", path, *args], capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused("axe trace: " + done.stderr.strip().splitlines()[0])
        times = microseconds(path)
        return {name: np.load(f"{tmp}/{name}.npy") for name in outputs}, times


def row(name, program):
    print("{:24} axe         legacy {:8.1f} us, doc {:8.1f} us".format(name, *ours(name)))
    kernel, given, outputs, mends, want = program
    rng = np.random.default_rng(1718)
    inputs = {x: rng.uniform(-1, 1, shape[:2]).astype(shape[2]) for x, shape in given.items()}
    text, how = printed(kernel), "as printed"
    try:
        values, trace, names = execute(text, inputs, outputs)
    except Refused as e:
        print(f"{name:24} as printed  refused: {e}")
        if not mends:
            return
        for old, new in mends.items():
            text = text.replace(f"shape={old}", f"shape={new}")
        how = "mended"
        try:
            values, trace, names = execute(text, inputs, outputs)
        except Refused as again:
            print(f"{name:24} {how:11} refused: {again}")
            return
    try:
        theirs, (legacy, doc) = simulate(trace, names, inputs, outputs)
    except Refused as e:
        print(f"{name:24} {how:11} refused: {e}")
        return
    off = max(float(np.abs(theirs[x] - y).max()) for x, y in want(**inputs).items())
    same = all((values[f"{x}_ptr"] == theirs[x]).all() for x in outputs)
    print(f"{name:24} {how:11} off {off:.1e}, shim {'equal' if same else 'DIFFERS'}; "
          f"legacy {legacy:8.1f} us, doc {doc:8.1f} us")


for size in ((256, 1024, 512), (512, 512, 512), (1024, 1024, 1024)):
    row("gemm {} {} {}".format(*size), gemm(*size))
for n in (512, 2048):
    row(f"chain 128 {n}", chain(n))
    row(f"exp 128 {n}", exponent(n))
    row(f"sum 128 {n}", total(n))
