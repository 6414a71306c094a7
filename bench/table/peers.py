"""peers.py - the kernels as a user of NumPy or PyTorch would write them, for
bench/table/python.c, which sends a line and reads one:

    has numpy|torch              1 or 0
    make WITH KERNEL THREADS TYPE:SHAPE...   a job's number, or -1
    time JOB N                   seconds that N calls take
    free JOB

NumPy runs on one thread; its temporaries are made once, by `out=`, wherever it
lets one say so."""
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None


# ------------------------------------------------------------------- NumPy

def np_gelu(x, y):
    np.multiply(x, x, out=y)
    y *= 0.044715
    y += 1
    y *= x
    y *= 0.7978845608
    np.tanh(y, out=y)
    y += 1
    y *= x
    y *= 0.5


def np_silu_mul(a, b, y):
    np.negative(a, out=y)
    np.exp(y, out=y)
    y += 1
    np.divide(a, y, out=y)
    y *= b


def np_layernorm(x, w, b, y):
    np.subtract(x, x.mean(1, keepdims=True), out=y)
    s = np.einsum("mn,mn->m", y, y)[:, None] / x.shape[1]
    y *= 1 / np.sqrt(s + 1e-5)
    y *= w
    y += b


def np_rmsnorm(x, w, y):
    s = np.einsum("mn,mn->m", x, x)[:, None] / x.shape[1]
    np.multiply(x, 1 / np.sqrt(s + 1e-5), out=y)
    y *= w


def np_softmax(x, y):
    np.subtract(x, x.max(1, keepdims=True), out=y)
    np.exp(y, out=y)
    y /= y.sum(1, keepdims=True)


def np_quantise(x, q, s):
    top = np.abs(x).max(1, keepdims=True)
    np.divide(top[:, 0], 127, out=s)
    np.copyto(q, np.rint(x * (127 / top)), casting="unsafe")


def np_residual(r, s, b, x):
    x += r * s
    x += b


def np_squash(x, y):
    np.clip(x, -1, 1, out=y)
    y *= np.abs(y)


def np_rope(x, c, z, y):
    a, b = x[:, :, 0], x[:, :, 1]
    c, z = c[:, None], z[:, None]
    np.multiply(a, c, out=y[:, :, 0])
    y[:, :, 0] -= b * z
    np.multiply(b, c, out=y[:, :, 1])
    y[:, :, 1] += a * z


NUMPY = {
    "add": lambda x, y, z: np.add(x, y, out=z),
    "residual": np_residual,
    "squash": np_squash,
    "gelu": np_gelu,
    "silu_mul": np_silu_mul,
    "layernorm": np_layernorm,
    "rmsnorm": np_rmsnorm,
    "softmax": np_softmax,
    "rope": np_rope,
    "row_sum": lambda x, y: x.sum(1, out=y),
    "row_max": lambda x, y: x.max(1, out=y),
    "col_sum": lambda x, y: x.sum(0, out=y),
    "col_max": lambda x, y: x.max(0, out=y),
    "quantise": np_quantise,
    "dequantise": lambda q, s, x: np.multiply(q, s[:, None], out=x),
    "transpose": lambda x, y: np.copyto(y, x.T),
    "permute_acb": lambda x, y: np.copyto(y, x.transpose(0, 2, 1)),
    "permute_bac": lambda x, y: np.copyto(y, x.transpose(1, 0, 2)),
    "heads_first": lambda x, y: np.copyto(y, x.transpose(0, 2, 1, 3)),
    "keys_transposed": lambda x, y: np.copyto(y, x.transpose(0, 2, 3, 1)),
}


# ----------------------------------------------------------------- PyTorch

def torch_rmsnorm(x, w, y):
    s = torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5)
    torch.mul(x * s, w, out=y)


def torch_quantise(x, q, s):
    top = x.abs().amax(1, keepdim=True)
    torch.div(top[:, 0], 127, out=s)
    q.copy_(torch.round(x * (127 / top)))


def torch_rope(x, c, z, y):
    a, b = x[:, :, 0], x[:, :, 1]
    c, z = c[:, None], z[:, None]
    y[:, :, 0] = a * c - b * z
    y[:, :, 1] = b * c + a * z


def torch_attention(q, k, v, y):
    s = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    torch.matmul(torch.softmax(s, -1), v, out=y)


TORCH = {
    "gemm": lambda a, b, c: torch.mm(a, b.t(), out=c),
    "gemm_nn": lambda a, b, c: torch.mm(a, b, out=c),
    "gemm_tn": lambda a, b, c: torch.mm(a.t(), b, out=c),
    "gemm_tt": lambda a, b, c: torch.mm(a.t(), b.t(), out=c),
    "gemm_batched":
        lambda a, b, c: torch.bmm(a, b.transpose(1, 2), out=c),
    "gemm_bias_relu":
        lambda a, b, x, c: torch.relu(torch.addmm(x, a, b.t())),
    "conv2d": lambda x, f, y: torch.nn.functional.conv2d(
        x, f, padding=f.shape[2] // 2),
    "row_argmax": lambda x, y: torch.argmax(x, 1),
    "scan": lambda x, y: torch.cumsum(x, 1, out=y),
    "gemv": lambda a, x, y: torch.mv(a, x, out=y),
    "gemv_t": lambda a, x, y: torch.mv(a.t(), x, out=y),
    "add": lambda x, y, z: torch.add(x, y, out=z),
    "residual": lambda r, s, b, x: x.addcmul_(r, s).add_(b),
    "squash": lambda x, y: torch.mul(
        torch.clamp(x, -1, 1, out=y), y.abs(), out=y),
    "gelu":
        lambda x, y: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu_mul": lambda a, b, y: torch.mul(
        torch.nn.functional.silu(a), b, out=y),
    "layernorm": lambda x, w, b, y: torch.nn.functional.layer_norm(
        x, (x.shape[1],), w, b, 1e-5),
    "rmsnorm": torch_rmsnorm,
    "softmax": lambda x, y: torch.softmax(x, 1),
    "rope": torch_rope,
    "attention": torch_attention,
    "row_sum": lambda x, y: torch.sum(x, 1, out=y),
    "row_max": lambda x, y: torch.amax(x, 1, out=y),
    "col_sum": lambda x, y: torch.sum(x, 0, out=y),
    "col_max": lambda x, y: torch.amax(x, 0, out=y),
    "quantise": torch_quantise,
    "dequantise": lambda q, s, x: torch.mul(q, s[:, None], out=x),
    "transpose": lambda x, y: y.copy_(x.t()),
    "permute_acb": lambda x, y: y.copy_(x.transpose(1, 2)),
    "permute_bac": lambda x, y: y.copy_(x.transpose(0, 1)),
    "heads_first": lambda x, y: y.copy_(x.transpose(1, 2)),
    "keys_transposed": lambda x, y: y.copy_(x.permute(0, 2, 3, 1)),
}


# ------------------------------------------------------------------- serving

NUMPY_TYPE = {"f32": "f4", "f64": "f8", "i8": "i1", "i32": "i4"}


def array(text, random):
    name, shape = text.split(":")
    shape = [int(n) for n in shape.split("x")] if shape else []
    x = random.standard_normal(shape, dtype="f4")
    if name == "bf16":
        return torch.from_numpy(x).to(torch.bfloat16) if torch else None
    return x.astype(NUMPY_TYPE[name])


def make(jobs, library, kernel, threads, *texts):
    table = {"numpy": NUMPY, "torch": TORCH if torch else {}}[library]
    random = np.random.default_rng(1)
    if kernel not in table:
        return -1
    args = [array(t, random) for t in texts]
    if library == "numpy" and any(not isinstance(a, np.ndarray) for a in args):
        return -1
    if library == "torch":
        torch.set_num_threads(int(threads))
        args = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a
                for a in args]
    clock = time.thread_time if int(threads) == 1 else time.perf_counter
    table[kernel](*args)
    jobs[len(jobs)] = (table[kernel], args, clock)
    return len(jobs) - 1


def run(job, n):
    f, args, clock = job
    start = clock()
    for _ in range(n):
        f(*args)
    return clock() - start


def answer(jobs, verb, *args):
    if verb == "has":
        return 1 if args[0] == "numpy" or torch else 0
    if verb == "make":
        return make(jobs, *args)
    if verb == "time":
        return run(jobs[int(args[0])], int(args[1]))
    jobs[int(args[0])] = None
    return 0


def main():
    jobs = {}
    if torch:
        torch.set_grad_enabled(False)
    for line in sys.stdin:
        try:
            print(answer(jobs, *line.split()), flush=True)
        except Exception as e:
            print(f"peers.py: {line.strip()}: {e}", file=sys.stderr)
            print(-1, flush=True)


if __name__ == "__main__":
    main()
