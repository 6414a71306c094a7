"""NKI's text, executed by the shim in tests/nki and run again as the trace that
it wrote down: tests/trn_nki.py AXE SOURCE.

Each kernel runs three times: by the shim, by `axe trace` on the shim's record,
and by NumPy's own words; the first two agree bit for bit but for functions of the
scalar engine.  Then kernels that are outside of the subset, each with its error."""

import os
import subprocess
import sys
import tempfile

import numpy as np

axe, source = sys.argv[1:3]
sys.path.insert(0, os.path.join(source, "tests", "nki"))

import nki  # noqa: E402
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402
from nki._machine import Refused, rounded  # noqa: E402

rng = np.random.default_rng(718)
failed = 0


def uniform(*shape, dtype=None):
    x = rng.uniform(-1, 1, shape).astype(np.float32)
    return (rounded(x, "bf16").view(np.uint32) >> 16).astype(np.uint16) if dtype == "bf16" else x


def floats(x):
    return (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == np.uint16 else x


@nki.jit
def product(lhs_t, rhs):
    k, m = lhs_t.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), nl.float32, buffer=nl.shared_hbm)
    for i in range(m // 64):
        for j in range(n // 160):
            acc = nl.ndarray((64, 160), nl.float32, buffer=nl.psum)
            for l in range(k // 96):
                a = nl.ndarray((96, 64), nl.bfloat16)
                b = nl.ndarray((96, 160), nl.bfloat16)
                nisa.dma_copy(a, lhs_t[l * 96:(l + 1) * 96, i * 64:(i + 1) * 64])
                nisa.dma_copy(b, rhs[l * 96:(l + 1) * 96, j * 160:(j + 1) * 160])
                nisa.nc_matmul(acc, a, b, accumulate=l > 0)
            c = nl.ndarray((64, 160), nl.float32)
            nisa.tensor_copy(c, acc, engine=nisa.engine.vector)
            nisa.dma_copy(out[i * 64:(i + 1) * 64, j * 160:(j + 1) * 160], c)
    return out


@nki.jit
def softmax(x):
    rows, n = x.shape
    out = nl.ndarray((rows, n), nl.float32, buffer=nl.shared_hbm)
    for i in range(0, rows, 128):
        last = min(i + 128, rows)
        t = nl.ndarray((last - i, n), nl.float32)
        most = nl.ndarray((last - i, 1), nl.float32)
        total = nl.ndarray((last - i, 1), nl.float32)
        nisa.dma_copy(t, x[i:last, :])
        nisa.tensor_reduce(most, nl.maximum, t, axis=1, negate=True)
        nisa.activation_reduce(t, nl.exp, t, nl.add, total, bias=most)
        nisa.reciprocal(total, total)
        nisa.tensor_scalar(t, t, nl.multiply, total)
        nisa.dma_copy(out[i:last, :], t)
    return out


@nki.jit
def rmsnorm(x, w):
    rows, n = x.shape
    out = nl.ndarray((rows, n), nl.float32, buffer=nl.shared_hbm)
    weight = nl.ndarray((rows, n), nl.float32)
    nisa.dma_copy(weight, w.ap([[0, rows], [1, n]]))
    eps = nl.ndarray((rows, 1), nl.float32)
    nisa.memset(eps, 1e-5, engine=nisa.engine.vector)
    t = nl.ndarray((rows, n), nl.float32)
    s = nl.ndarray((rows, n), nl.float32)
    total = nl.ndarray((rows, 1), nl.float32)
    nisa.dma_copy(t, x)
    nisa.activation_reduce(s, nl.square, t, nl.add, total)
    nisa.activation(total, nl.rsqrt, total, bias=eps, scale=1.0 / n)
    nisa.scalar_tensor_tensor(t, t, nl.multiply, total, nl.multiply, weight)
    nisa.dma_copy(out, t)
    return out


@nki.jit
def triangle(x):
    n = x.shape[0]
    out = nl.ndarray((n, n), nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((n, n), nl.float32)
    nisa.dma_copy(t, x)
    turned = nl.ndarray((n, n), nl.float32, buffer=nl.psum)
    nisa.nc_transpose(turned, t, engine=nisa.engine.tensor)
    u = nl.ndarray((n, n), nl.float32)
    nisa.tensor_copy(u, turned, engine=nisa.engine.vector)
    number = nl.ndarray((n, n), nl.float32)
    nisa.iota(number, [[1, n]], channel_multiplier=n)
    nisa.tensor_tensor(u, u, number, nl.add, engine=nisa.engine.vector)
    nisa.affine_select(t, [[-1, n]], 1, u, -7.5, nl.greater_equal)
    nisa.dma_copy(out, t)
    return out


@nki.jit
def folds(x):
    rows, n = x.shape
    out = nl.ndarray((rows, 6), nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((rows, n), nl.bfloat16)
    wide = nl.ndarray((rows, n), nl.float32)
    r = nl.ndarray((rows, 6), nl.float32)
    nisa.dma_copy(wide, x)
    nisa.tensor_copy(t, wide, engine=nisa.engine.gpsimd)
    nisa.tensor_scalar(t, t, nl.subtract, 1.0, reverse0=True, op1=nl.multiply, operand1=3.0)
    nisa.tensor_reduce(r, nl.add, t.ap([[n, rows], [1, 6], [6, n // 6]]), axis=2)
    nisa.dma_copy(out, r)
    return out


def run(kernel, *arrays):
    """By the shim, and its record by `axe trace`."""
    with nki.recording() as record, tempfile.TemporaryDirectory() as tmp:
        mine = kernel(*arrays)
        path = os.path.join(tmp, "t.trace")
        with open(path, "w") as f:
            f.write(record.text())
        args = []
        for name, value in zip(record.inputs, arrays, strict=True):
            np.save(os.path.join(tmp, f"{name}.npy"), value)
            args.append(f"{name}={tmp}/{name}.npy")
        out, = record.outputs
        args.append(f"{out}={tmp}/{out}.npy")
        done = subprocess.run([axe, "trace", path, *args], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{kernel}: {done.stderr}")
        return mine, np.load(f"{tmp}/{out}.npy")


def check(name, got, want, bound):
    global failed
    off = float(np.max(np.abs(got.astype(np.float64) - want)))
    if not off <= bound:
        failed += 1
        print(f"FAILED {name}: off by {off}, and may be by {bound}")


a, b = uniform(288, 128, dtype="bf16"), uniform(288, 320, dtype="bf16")
x, w, square, more = uniform(200, 70), uniform(1, 90), uniform(96, 96), uniform(50, 42)
y = uniform(77, 90)
soft = np.exp(x.astype(float))
kernels = [
    ("product", product, (a, b), floats(a).astype(float).T @ floats(b), 1e-4, 0),
    ("softmax", softmax, (x,), soft / soft.sum(1, keepdims=True), 1e-6, 1e-6),
    ("rmsnorm", rmsnorm, (y, w),
     y / np.sqrt((y.astype(float) ** 2).mean(1, keepdims=True) + 1e-5) * w, 1e-5, 1e-6),
    ("triangle", triangle, (square,),
     np.where(np.tri(96) > 0, square.T + np.arange(96 * 96).reshape(96, 96), -7.5), 1e-3, 0),
    ("folds", folds, (more,),
     (3 * (1 - more.astype(float))).reshape(50, 7, 6).sum(1), 0.2, 0),
]
for name, kernel, arrays, want, bound, between in kernels:
    mine, theirs = run(kernel, *arrays)
    check(f"{name}, shim", mine, want, bound)
    check(f"{name}, trace", theirs, want, bound)
    check(f"{name}, both", mine, theirs.astype(float), between)


# What is refused.  Each function is called with a tile in SBUF, one in PSUM that a
# product wrote, and a tensor of device memory.
def fresh(dtype=nl.float32):
    return nl.ndarray((128, 128), dtype, buffer=nl.psum)


def k_dma(t, p, x): nisa.dma_copy(p, x)
def k_keyword(t, p, x): nisa.memset(t, 0.0, engine=nisa.engine.vector, mask=None)
def k_name(t, p, x): nl.load(x)
def k_isa(t, p, x): nisa.select_reduce(t, t)
def k_dtype(t, p, x): nl.ndarray((1, 1), nl.float64)
def k_step(t, p, x): nisa.memset(t[:, 0:8:2], 0.0, engine=nisa.engine.vector)
def k_bounds(t, p, x): nisa.memset(t[:, 0:129], 0.0, engine=nisa.engine.vector)
def k_parts(t, p, x): nl.ndarray((129, 1), nl.float32)
def k_engine(t, p, x): nisa.tensor_copy(t, t, engine=nisa.engine.scalar)
def k_two(t, p, x): nisa.tensor_tensor(t, p, p, nl.add, engine=nisa.engine.vector)
def k_sum(t, p, x): nisa.nc_matmul(fresh(), t, t, accumulate=True)
def k_group(t, p, x): nisa.nc_matmul(p, t, t)
def k_result(t, p, x): nisa.nc_matmul(t, t, t, accumulate=False)
def k_moving(t, p, x): nisa.nc_matmul(p, t, p, accumulate=False)
def k_fold(t, p, x): nisa.tensor_reduce(t, nl.add, t, axis=0)
def k_bias(t, p, x): nisa.activation(t, nl.exp, t, bias=1.0)
def k_function(t, p, x): nisa.activation(t, nl.add, t)
def k_operator(t, p, x): nisa.tensor_tensor(t, t, t, nl.exp, engine=nisa.engine.vector)
def k_reduce(t, p, x): nisa.activation_reduce(t, nl.exp, t, nl.maximum, t[:, 0:1])
def k_column(t, p, x): nisa.tensor_scalar(t, t, nl.add, t)
def k_gpsimd(t, p, x): nisa.iota(p, [[1, 128]])
def k_unwritten(t, p, x): nisa.activation(t, nl.exp, nl.ndarray((128, 128), nl.float32))
def k_room(t, p, x): nl.ndarray((128, 50000), nl.float32)
def k_pattern(t, p, x): nisa.memset(t.ap([[128, 128], [2, 128]]), 0.0, engine=nisa.engine.vector)
def k_stride(t, p, x): nisa.memset(t.ap([[256, 64], [1, 128]]), 0.0, engine=nisa.engine.vector)
def k_index(t, p, x): nisa.memset(t[0, 0, 0], 0.0, engine=nisa.engine.vector)
def k_transpose(t, p, x): nisa.nc_transpose(fresh(nl.bfloat16), t, engine=nisa.engine.tensor)
def k_vector(t, p, x): nisa.nc_transpose(t, t, engine=nisa.engine.vector)
def k_choice(t, p, x): nisa.tensor_copy(t, t)
def k_square(t, p, x): nisa.nc_transpose(fresh(), t)
def k_reach(t, p, x): nisa.tensor_copy(t, p, engine=nisa.engine.gpsimd)
def k_divide(t, p, x): nisa.tensor_scalar(t, t, nl.divide, 2.0)
def k_power(t, p, x): nisa.tensor_scalar(t, t, nl.power, 2.0)
def k_inverse(t, p, x): nisa.activation(t, nl.reciprocal, t, bias=t[:, 0:1])
def k_reverse(t, p, x): nisa.tensor_scalar_reduce(t, t, nl.subtract, 1.0, nl.add, t, reverse0=True)
def k_old(t, p, x): nisa.tensor_copy(t, t, engine=nisa.vector_engine)
def rows(x, value, dtype=nl.int32, parts=128, step=128, by=1, offset=64, buffer=nl.sbuf, **more):
    i = nl.ndarray((parts, 1), dtype, buffer=buffer)
    nisa.memset(i, value, engine=nisa.engine.vector)
    return x.ap(pattern=[[step, 128], [by, 64]], offset=offset, vector_offset=i, **more)


def k_rows(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 128))
def k_negative(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, -1), oob_mode=nisa.oob_mode.skip)
def k_indices(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3.0, nl.float32))
def k_few(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3, parts=64))
def k_row(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3, offset=65))
def k_begin(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3, by=-1, offset=62))
def k_psum(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3, buffer=nl.psum))
def k_far(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3, step=64))
def k_dim(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x, 3, indirect_dim=1))
def k_shape(t, p, x): nisa.dma_copy(t[:, 0:64], rows(x.reshape((100, 128)), 3))
def k_skip(t, p, x): nisa.dma_copy(t, x, oob_mode=nisa.oob_mode.skip)
def k_chip(t, p, x): nisa.dma_copy(x[:, 0:64], rows(x, 3))
def k_stays(t, p, x):
    w = nl.ndarray((128, 64), nl.float32)
    nisa.dma_copy(w, rows(x, 128), oob_mode=nisa.oob_mode.skip)
    nisa.tensor_copy(t[:, 0:64], w, engine=nisa.engine.vector)
def k_float(t, p, x):
    nisa.memset(nl.ndarray((128, 4), nl.int8), 0.0, engine=nisa.engine.vector)


REFUSED = [
    (k_choice, "say engine="),
    (k_square, "say engine="),
    (k_reach, "gpsimd has no access to psum"),
    (k_divide, "nl.divide is outside of the subset"),
    (k_power, "nl.power is outside of the subset"),
    (k_inverse, "reciprocal takes no bias"),
    (k_reverse, "nisa.tensor_scalar_reduce is outside of the subset"),
    (k_old, "nisa.vector_engine is outside of the subset"),
    (k_float, "whose elements are integers"),
    (k_dma, "is in psum, and may be in hbm or sbuf"),
    (k_keyword, "unexpected keyword argument 'mask'"),
    (k_name, "nl.load is outside of the subset"),
    (k_isa, "nisa.select_reduce is outside of the subset"),
    (k_dtype, "nl.float64 is outside of the subset"),
    (k_step, "steps in slices"),
    (k_bounds, "0:129 leaves"),
    (k_parts, "129 partitions; there are 128"),
    (k_engine, "the engine scalar does not run this"),
    (k_two, "both operands are in psum"),
    (k_sum, "a sum that no product began"),
    (k_group, "say accumulate="),
    (k_result, "is in sbuf, and may be in psum"),
    (k_moving, "is in psum, and may be in sbuf"),
    (k_fold, "axis 0 is not the last ones"),
    (k_bias, "bias is a column"),
    (k_function, "no function of the scalar engine"),
    (k_operator, "no operator of the vector engine"),
    (k_reduce, "activation_reduce adds"),
    (k_column, "is no column"),
    (k_gpsimd, "is in psum, and may be in sbuf"),
    (k_unwritten, "read where nobody wrote"),
    (k_room, "bytes of sbuf are free"),
    (k_pattern, "the pattern leaves"),
    (k_stride, "partitions of"),
    (k_index, "has 2 dimensions"),
    (k_transpose, "a transpose keeps the type"),
    (k_vector, "vector transposes 32 x 32"),
    (k_rows, "an index is of no row of x"),
    (k_negative, "a negative index"),
    (k_indices, "indices are int32 or uint32 in sbuf"),
    (k_few, "has not one index for each of 128 partitions"),
    (k_row, "the pattern leaves its row of x, 128 long"),
    (k_begin, "the pattern leaves its row of x, 128 long"),
    (k_psum, "indices are int32 or uint32 in sbuf"),
    (k_far, "of dimension 0, 128 apart"),
    (k_dim, "of dimension 0, 128 apart"),
    (k_shape, "x has no shape (100, 128)"),
    (k_skip, "oob_mode is of transfers with indices"),
    (k_chip, "is in hbm, and may be in sbuf"),
    (k_stays, "read where nobody wrote"),
]

for function, error in REFUSED:
    with nki.recording() as record:
        t = nl.ndarray((128, 128), nl.float32)
        p = nl.ndarray((128, 128), nl.float32, buffer=nl.psum)
        nisa.memset(t, 1.0, engine=nisa.engine.vector)
        nisa.nc_matmul(p, t, t, accumulate=False)
        said = "nothing"
        try:
            function(t, p, record.input("x", uniform(128, 128)))
        except (Refused, TypeError) as e:
            said = str(e)
        if error not in said:
            failed += 1
            print(f"FAILED {function.__name__}: said {said}, not {error}")


def starred(x): return nisa.memset(*x)
def doubled(x): return nisa.memset(**x)
def same(x): return x is None
def listed(x): return [i for i in x]
def whiled(x):
    while x:
        pass


for function, error in [(starred, "starred"), (doubled, "starred"), (same, "`is`"),
                        (listed, "comprehensions"), (whiled, "while")]:
    try:
        nki.jit(function)
        said = "nothing"
    except Refused as e:
        said = str(e)
    if error not in said:
        failed += 1
        print(f"FAILED {function.__name__}: said {said}")

print(f"{len(kernels)} kernels, {len(REFUSED) + 5} refusals, {failed} failed")
sys.exit(failed > 0)
