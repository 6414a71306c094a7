"""The first dialect of NKI by the stand-in in tests/nki/neuronxcc, and again as the
trace that it wrote down: tests/trn_nki01.py AXE SOURCE.

What TVM prints in this dialect is tested beside TVM itself (tests/peers/trn_tvm.py)."""

import os
import subprocess
import sys
import tempfile

import numpy as np

axe, source = sys.argv[1:3]
sys.path.insert(0, os.path.join(source, "tests", "nki"))

from nki._machine import Refused  # noqa: E402

import neuronxcc.nki as nki  # noqa: E402
import neuronxcc.nki.compiler as ncc  # noqa: E402
import neuronxcc.nki.isa as nisa  # noqa: E402
import neuronxcc.nki.language as nl  # noqa: E402
import neuronxcc.nki.typing as nt  # noqa: E402

rng = np.random.default_rng(719)
failed = 0


@nki.baremetal(experimental_flags="enable-mutable-parameter")
def product(A, B, C: nt.mutable_tensor):
    """Ten sums in eight banks: the last two go where the first were read."""
    flat = C.reshape([64 * 5 * 2 * 48])
    acc = nl.ndarray(shape=[8, nl.par_dim(64), 48], dtype=np.float32,
                     buffer=ncc.psum.mod_alloc(base_bank=0, base_addr=0, num_bank_tiles=(8,)))
    a = nl.ndarray(shape=[96, 3, 640], dtype=np.float16, buffer=ncc.sbuf.mod_alloc(base_addr=0))
    b = nl.ndarray(shape=[96, 3, 48], dtype=np.float16, buffer=ncc.sbuf.mod_alloc(base_addr=4096))
    c = nl.ndarray(shape=[64, 48], dtype=np.float32, buffer=nl.sbuf)
    k, m, n, t = nl.arange(96), nl.arange(640), nl.arange(48), nl.arange(64)
    for i in nl.sequential_range(3, body_no_reorder=True):
        a[k[:, None], i, m[None, :]] = nl.load(A[i * 96 + k[:, None], m[None, :]])
        b[k[:, None], i, n[None, :]] = nl.load(B[i * 96 + k[:, None], n[None, :]])
    for j in nl.affine_range(10):
        if j % 2:
            acc[j % 8, t[:, None], n[None, :]] = nisa.nc_matmul(
                a[k[:, None], 0, j * 64 + t[None, :]], b[k[:, None], 0, n[None, :]])
        for i in nl.affine_range(3 - j % 2):
            acc[j % 8, t[:, None], n[None, :]] += nisa.nc_matmul(
                a[k[:, None], i + j % 2, j * 64 + t[None, :]],
                b[k[:, None], i + j % 2, n[None, :]])
        c[t[:, None], n[None, :]] = nisa.tensor_copy(acc[j % 8, t[:, None], n[None, :]])
        nl.store(flat[(j * 64 + t[:, None]) * 48 + n[None, :]], c[t[:, None], n[None, :]])


@nki.baremetal
def pieces(X, Y: nt.mutable_tensor):
    """Masks that leave a rectangle; operands that are columns, and reversed."""
    p, f, wide = nl.arange(128), nl.arange(64), nl.arange(32)
    total = nl.ndarray(shape=[128, 1], dtype=np.float32)
    for i in nl.sequential_range(2):
        for j in nl.sequential_range(2):
            t = nl.ndarray(shape=[128, 64], dtype=np.float32)
            inside = (i * 128 + p[:, None] < 200) & (j * 64 + f[None, :] < 90)
            last, most = (128, 72)[i], (64, 26)[j]
            q, g = nl.arange(last), nl.arange(most)
            t[p[:, None], f[None, :]] = 0.0
            t[q[:, None], g[None, :]] = nl.load(X[i * 128 + q[:, None], j * 64 + g[None, :]])
            t[p[:, None], f[None, :]] = nisa.tensor_scalar(
                t[p[:, None], f[None, :]], nl.subtract, 2.0, reverse0=True, mask=inside)
            total[p[:, None], 0] = nisa.tensor_reduce(nl.add, t[p[:, None], wide[None, :]], axis=-1)
            t[p[:, None], f[None, :]] = nisa.tensor_scalar(
                t[p[:, None], f[None, :]], nl.multiply, total[p[:, None], 0], mask=inside)
            nl.store(Y[i * 128 + q[:, None], j * 64 + g[None, :]], t[q[:, None], g[None, :]])


def run(kernel, arrays, out, shape):
    """By the stand-in, and its record by `axe trace`."""
    with nki.recording() as record, tempfile.TemporaryDirectory() as tmp:
        mine = kernel(*arrays.values(), (shape, "f32"))[out]
        with open(f"{tmp}/t.trace", "w") as f:
            f.write(record.text())
        for name, value in arrays.items():
            np.save(f"{tmp}/{name}.npy", value)
        done = subprocess.run(
            [axe, "trace", f"{tmp}/t.trace", f"{out}={tmp}/out.npy",
             *[f"{name}={tmp}/{name}.npy" for name in arrays]], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{kernel}: {done.stderr}")
        return mine, np.load(f"{tmp}/out.npy")


def check(name, kernel, arrays, out, want, bound):
    global failed
    mine, theirs = run(kernel, arrays, out, want.shape)
    off = float(np.abs(mine - want).max())
    if not off <= bound or not (mine == theirs).all():
        failed += 1
        print(f"FAILED {name}: off by {off}, may be by {bound}; "
              f"equal to the trace: {(mine == theirs).all()}")


a = rng.uniform(-1, 1, (288, 640)).astype(np.float16)
b = rng.uniform(-1, 1, (288, 48)).astype(np.float16)
check("product", product, {"A": a, "B": b}, "C", a.astype(float).T @ b, 1e-4)

x = rng.uniform(-1, 1, (200, 90)).astype(np.float32)
want = np.zeros((200, 90))
for lo, hi in ((0, 64), (64, 90)):
    y = 2.0 - x[:, lo:hi].astype(float)
    want[:, lo:hi] = y * y[:, :32].sum(1, keepdims=True)
check("pieces", pieces, {"X": x}, "Y", want, 1e-4)


P, N = nl.arange(128)[:, None], nl.arange(128)[None, :]


def alloc(shape, place):
    return nl.ndarray(shape=shape, dtype=np.float32, buffer=place)


def banks(n, parts, m):
    return alloc([n, nl.par_dim(parts), m], ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(n,)))


def assign(tile, index, value):
    tile[index] = value


def add(tile, index, value):
    tile[index] += value


def two_halves(t, p):
    """One product over a sum that goes on and over one that was read."""
    h = nl.arange(64)[None, :]
    t[P, h] = nisa.tensor_copy(p[0, P, h])
    add(p, (0, P, N), nisa.nc_matmul(t[P, N], t[P, N]))


REFUSED = [
    (lambda t, p: alloc([512, 8], nl.sbuf), "512 partitions; there are 128"),
    (lambda t, p: alloc([128, 8], nl.psum), "[banks, par_dim(partitions), elements]"),
    (lambda t, p: banks(1, 128, 513), "513 elements are more than a bank has"),
    (lambda t, p: banks(9, 128, 512), "leaves psum"),
    (lambda t, p: alloc([8, 8], nl.hbm), "come as parameters"),
    (lambda t, p: t[P, N + 1], "1 to 128 leaves"),
    (lambda t, p: t[P], "has 2 dimensions"),
    (lambda t, p: t[P, N * N % 7], "no pattern of counts and strides"),
    (lambda t, p: t[P, (N + P) % 128], "differ from partition to partition"),
    (lambda t, p: t[P // 2, N], "differ from partition to partition"),
    (lambda t, p: t[P // 2 * 0, N], "is not its partition"),
    (lambda t, p: t[t[P, 0], N], "a tile of indices chooses rows of two dimensions in device memory"),
    (lambda t, p: assign(t, (P, N), t), "is no instruction's result"),
    (lambda t, p: add(t, (P, N), nisa.tensor_copy(t[P, N])), "+= is for products"),
    (lambda t, p: add(t, (P, N), nisa.nc_matmul(t[P, N], t[P, N])), "may be in psum"),
    (two_halves, "has a sum that goes on"),
    (lambda t, p: assign(t, (P, N), nisa.activation(nl.exp, t[P, N], bias=t[P, N])),
     "is 128 wide"),
    (lambda t, p: assign(t, (P, N), nisa.tensor_copy(t[P, N], mask=(P + N) < 9)),
     "no rectangle at the origin"),
    (lambda t, p: nisa.nc_matmul(t[P, N], t[P, N], mask=P < 9), "a masked product"),
    (lambda t, p: nisa.tensor_reduce(nl.add, t[P, N], axis=0), "axis 0"),
    (lambda t, p: t[0:128, N], "slices beside indices of nl.arange"),
    (lambda t, p: t[0:128, 0:129], "0:129 leaves"),
    (lambda t, p: t[0:128, 0:128:2], "or has steps"),
    (lambda t, p: alloc([nl.par_dim(128), 513], nl.psum), "513 elements are more than a bank"),
    (lambda t, p: nl.zeros((nl.par_dim(8), 8), dtype=nl.float32), "zeros are for sums in psum"),
    (lambda t, p: assign(t, (P, N), nisa.memset((128, 64), 0.0, nl.float32)), "(128, 64) of"),
    (lambda t, p: assign(t, (P, N), nisa.memset((128, 128), 0.0, nl.float16)), "of nl.f16 for"),
    (lambda t, p: assign(t, (P, N), nisa.iota(P * N, dtype=nl.float32)), "not affine"),
    (lambda t, p: assign(t, (P, N), nisa.affine_select(t, t[P, N], 0.0)), "a comparison of"),
    (lambda t, p: (1 if N[0, 0:1] > 0 else 2), "a condition of nl.arange"),
    (lambda t, p: nisa.dma_copy(dst=p[0, P, N], src=t[P, N]), "and may be in hbm or sbuf"),
    (lambda t, p: assign(t, (P, N), nisa.tensor_copy(p[0, P, N], engine=nisa.gpsimd_engine)),
     "gpsimd has no access to psum"),
    (lambda t, p: nl.divide, "nl.divide is outside of the subset"),
    (lambda t, p: nl.mgrid, "nl.mgrid is outside of the subset"),
    (lambda t, p: nisa.bn_stats, "nisa.bn_stats is outside of the subset"),
    (lambda t, p: nl.ndarray(shape=[8, 8], dtype=np.float64), "no element type"),
    (lambda t, p: ncc.psum.mod_alloc(base_bank=0, base_addr=64), "begins where its bank does"),
    (lambda t, p: ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)), "take turns"),
    (lambda t, p: nki.benchmark(), "needs a Trainium"),
]

for number, (function, error) in enumerate(REFUSED):
    with nki.recording():
        t = alloc([128, 128], nl.sbuf)
        p = banks(1, 128, 128)
        t[P, N] = 1.0
        p[0, P, N] += nisa.nc_matmul(t[P, N], t[P, N])
        try:
            function(t, p)
            said = "nothing"
        except Refused as e:
            said = str(e)
        if error not in said:
            failed += 1
            print(f"FAILED refusal {number}: said {said}, not {error}")

def ranged(x):
    for i in range(2):
        nl.store(x, i)


try:
    nki.jit(ranged)
    failed += 1
    print("FAILED range: said nothing")
except Refused as e:
    failed += "say nl.static_range" not in str(e)

print(f"2 kernels of the first dialect, {len(REFUSED) + 1} refusals, {failed} failed")
sys.exit(failed > 0)
