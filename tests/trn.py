"""Traces on the simulated NeuronCore against NumPy: tests/trn.py AXE SOURCE.

The published plans of products at small sizes, and each instruction at shapes of
its own.  NumPy knows no bf16: its bits are uint16 here."""

import os
import subprocess
import sys
import tempfile

import numpy as np

axe, source = sys.argv[1:3]
rng = np.random.default_rng(20261127)
failed = 0


def to_bf16(x):
    u = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + (u >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(u):
    return (np.asarray(u).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def run(path, arrays, results, *options):
    """The results of a trace, by name; what it said."""
    with tempfile.TemporaryDirectory() as tmp:
        args = []
        for name, value in arrays.items():
            np.save(os.path.join(tmp, name + ".npy"), value)
        for name in list(arrays) + results:
            args.append(f"{name}={tmp}/{name}.npy")
        done = subprocess.run([axe, "trace", path, *args, *options], text=True,
                              capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"{path}: exit {done.returncode}\n{done.stderr}")
        return {r: np.load(os.path.join(tmp, r + ".npy")) for r in results}


def near(what, got, want, bound):
    global failed
    off = np.max(np.abs(np.asarray(got, np.float64) - want))
    if not off <= bound:
        failed += 1
        print(f"FAILED {what}: off by {off}, and may be by {bound}")


# Products: one rounding to bf16, but for `optimised`, which rounds its sums after
# each block of K and reads them again.
for plan, (k, m, n), options, rounds in [
    ("tiled", (256, 256, 1024), [], 1),
    ("tiled", (384, 128, 1536), [], 1),
    ("hoisted", (384, 256, 1024), [], 1),
    ("block_free", (384, 512, 2048), [], 1),
    ("optimised", (512, 512, 1024), [], 2),
    ("optimised", (768, 512, 1024), ["BK=256", "BM=512", "BN=1024"], 3),
]:
    a = to_bf16(rng.uniform(-1, 1, (k, m)))
    b = to_bf16(rng.uniform(-1, 1, (k, n)))
    sets = [f"K={k}", f"M={m}", f"N={n}"] + options
    got = run(f"{source}/examples/trainium/gemm_{plan}.trace", {"lhsT": a, "rhs": b}, ["out"],
              *(f"--set={s}" for s in sets))["out"]
    want = from_bf16(a).astype(np.float64).T @ from_bf16(b)
    near(f"{plan} {k} {m} {n}", from_bf16(got), want,
         rounds * np.max(np.abs(want)) * 2.0 ** -8)

# Attention: the probabilities are rounded to bf16, and so is the result.
for s, kv in [(1024, 512), (1536, 1536)]:
    q, k, v = (to_bf16(rng.normal(0, 1, (s, 128))) for _ in range(3))
    got = run(f"{source}/examples/trainium/attention_flash.trace",
              {"qT": np.ascontiguousarray(q.T), "kT": np.ascontiguousarray(k.T), "v": v}, ["out"],
              f"--set=S={s}", f"--set=KV={kv}")["out"]
    scores = from_bf16(q).astype(np.float64) @ from_bf16(k).T / np.sqrt(128)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    want = weights @ from_bf16(v) / weights.sum(1, keepdims=True)
    near(f"attention {s} {kv}", from_bf16(got), want, 0.01)

# Instructions.  x [96, 40] and w [96, 40] are f32, c [96, 1] is positive.
P, F = 96, 40
x = rng.uniform(-2, 2, (P, F)).astype(np.float32)
w = rng.uniform(-2, 2, (P, F)).astype(np.float32)
c = rng.uniform(0.5, 2, (P, 1)).astype(np.float32)
iy, ix = np.mgrid[0:P, 0:F]
sig = 1 / (1 + np.exp(-x.astype(np.float64)))
cases = [
    ("scalar activation r, x, op=exp, bias=c, scale=0.5", np.exp(x * 0.5 + c), 1e-5),
    ("scalar activation r, x, op=square, bias=c, scale=c", (x * c + c) ** 2, 1e-5),
    ("scalar activation r, x, op=sigmoid", sig, 1e-6),
    ("scalar activation r, x, op=silu", x * sig, 1e-6),
    ("scalar activation r, x, op=relu", np.maximum(x, 0), 0),
    ("scalar activation r, x, op=tanh", np.tanh(x.astype(float)), 1e-6),
    ("scalar activation_reduce r, x, s, op=exp, reduce_op=add",
     np.exp(x.astype(float)).sum(1, keepdims=True), 1e-4),
    ("vector tensor_tensor r, x, w, op=subtract", x - w, 0),
    ("gpsimd tensor_tensor r, x, w, op=maximum", np.maximum(x, w), 0),
    ("vector tensor_tensor r, x, w, op=less", (x < w).astype(float), 0),
    ("vector tensor_scalar r, x, op0=subtract, operand0=1", x - 1, 0),
    ("vector tensor_scalar r, x, op0=subtract, operand0=c, reverse0=1", c - x, 0),
    ("vector tensor_scalar r, x, op0=multiply, operand0=c, op1=add, operand1=2.5",
     x * c + np.float32(2.5), 1e-6),
    ("vector tensor_scalar r, x, op0=multiply, operand0=2, op1=subtract, operand1=c, "
     "reverse1=1",
     c - x * 2, 1e-6),
    ("vector tensor_scalar_reduce r, x, s, op0=multiply, operand0=c, reduce_op=maximum",
     (x * c).max(1, keepdims=True), 1e-6),
    ("vector scalar_tensor_tensor r, x, w, op0=multiply, operand0=c, op1=add",
     x * c + w, 1e-6),
    ("vector scalar_tensor_tensor r, x, w, op0=add, operand0=1, op1=subtract, reverse1=1",
     w - (x + 1), 1e-6),
    ("vector tensor_reduce s, x, op=maximum", x.max(1, keepdims=True), 0),
    ("vector tensor_reduce s, x, op=minimum, negate=1", -x.min(1, keepdims=True), 0),
    ("vector tensor_reduce r[0, 0 : 96, 8 by 1], x[0, 0 : 96, 8 by 5, 5 by 1], op=add",
     x.reshape(P, 8, 5).sum(2), 1e-5),
    ("vector tensor_reduce r[0, 0 : 96, 5 by 1], x[0, 0 : 96, 5 by 1, 8 by 5], op=add",
     x.reshape(P, 8, 5).sum(1), 1e-5),
    ("vector tensor_copy r[0, 39 : 96, 40 by -1], x", x[:, ::-1], 0),
    ("vector reciprocal r, x", 1 / x, 0),
    ("scalar activation r, x, op=reciprocal", 1 / x, 0),
    ("vector memset r, value=-0.75", np.full((P, F), -0.75), 0),
    ("gpsimd iota r, pattern=[40 by 1], channel_multiplier=40", iy * 40 + ix, 0),
    ("gpsimd iota r, pattern=[5 by 100, 8 by -1], offset=7",
     7 + np.arange(5).repeat(8) * 100 - np.tile(np.arange(8), 5) + 0 * iy, 0),
    ("gpsimd affine_select r, x, pattern=[40 by 1], channel_multiplier=-1, "
     "on_false_value=-1000, cmp_op=greater", np.where(ix > iy, x, -1000), 0),
    ("vector tensor_copy h, x\n    vector tensor_copy r, h", from_bf16(to_bf16(x)), 0),
    ("vector tensor_scalar i, x, op0=multiply, operand0=100\n    vector tensor_copy r, i",
     np.clip(np.rint(x * np.float32(100)), -128, 127), 0),
    ("vector tensor_scalar u, x, op0=add, operand0=0.5\n    vector tensor_copy r, u",
     np.clip(np.rint(x + np.float32(0.5)), 0, None), 0),
    ("tensor nc_transpose t, x\n    vector tensor_copy z, t\n"
     "    vector tensor_copy r[0, 0 : 40, 40 by 1], z[0, 0 : 40, 40 by 1]", x[:40].T, 0),
    ("vector nc_transpose r[0, 0 : 20, 32 by 1], x[32, 7 : 32, 20 by 1]",
     x[32:64, 7:27].T, 0),
    ("tensor nc_matmul q, x, w, accumulate=0\n    tensor nc_matmul q, x, w, accumulate=1\n"
     "    scalar activation r[0, 0 : 40, 40 by 1], q, op=copy", 2 * x.T.astype(float) @ w, 1e-3),
    ("vector tensor_copy h, x\n    dma dma_transpose d, h\n"
     "    vector tensor_copy r[0, 0 : 40, 40 by 1], d[0, 3 : 40, 40 by 1]",
     from_bf16(to_bf16(x)).T[:, 3:43], 0),
    ("gpsimd iota n, pattern=[1 by 0], offset=95, channel_multiplier=-1\n"
     "    dma dma_copy r, xx, vector_offset=n", x[::-1], 0),
    ("gpsimd iota n, pattern=[1 by 0], channel_multiplier=2\n"
     "    dma dma_copy r, xx, vector_offset=n, skip=1",
     np.where(iy < P // 2, x[np.minimum(2 * iy, P - 1), ix], 0), 0),
    ("gpsimd iota n, pattern=[1 by 0], offset=120\n"
     "    dma dma_copy r[0, 4 : 96, 10 by 3], xx[3 : 96 by 20, 10 by 1], vector_offset=n",
     np.where((ix >= 4) & ((ix - 4) % 3 == 0) & (ix < 34),
              x.reshape(-1, 20)[120, np.clip(3 + (ix - 4) // 3, 0, 19)], 0), 0),
]

HEAD = """trace t
hbm xx : f32[96, 40] in
hbm ww : f32[96, 40] in
hbm cc : f32[96, 1] in
hbm rr : f32[96, 40] out
hbm ss : f32[96, 1] out
sbuf x : f32[96, 40] at 0, 0
sbuf w : f32[96, 40] at 0, 160
sbuf c : f32[96, 1] at 0, 320
sbuf r : f32[96, 40] at 0, 324
sbuf s : f32[96, 1] at 0, 484
sbuf h : bf16[96, 40] at 0, 488
sbuf i : i8[96, 40] at 0, 568
sbuf u : u16[96, 40] at 0, 608
sbuf z : f32[40, 96] at 0, 688
sbuf d : bf16[40, 96] at 0, 1088
sbuf n : i32[96, 1] at 0, 1280
psum t : f32[40, 96] at 0, 0
psum q : f32[40, 40] at 0, 2048
dma dma_copy x, xx
dma dma_copy w, ww
dma dma_copy c, cc
vector memset r, value=0
vector memset s, value=0
for once = 1 {
    %s
}
dma dma_copy rr, r
dma dma_copy ss, s
"""

for text, want, bound in cases:
    with tempfile.NamedTemporaryFile("w", suffix=".trace") as f:
        f.write(HEAD % text)
        f.flush()
        got = run(f.name, {"xx": x, "ww": w, "cc": c}, ["rr", "ss"])
    want = np.asarray(want, np.float64)
    result = got["ss"] if want.shape == (P, 1) else got["rr"][: want.shape[0], : want.shape[1]]
    near(text, result, want, bound * max(1.0, float(np.max(np.abs(want)))))

print(f"{len(cases)} instructions, 6 products, 2 of attention, {failed} failed")
sys.exit(failed > 0)
