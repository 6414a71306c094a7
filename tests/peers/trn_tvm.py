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
        times = []
        for profile in ("legacy", "doc"):
            said = subprocess.run([axe, "trace", path, "--time", "--profile", profile],
                                  capture_output=True, text=True, check=True).stdout
            value, unit = re.search(r": ([\d.]+) (us|ms)", said).groups()
            times.append(float(value) * (1000 if unit == "ms" else 1))
        return {name: np.load(f"{tmp}/{name}.npy") for name in outputs}, times


def row(name, program):
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
