"""peers.py - the rows as a user of PyTorch or Triton would run them, for
bench/cuda/python.c, which sends a line and reads one (see there).  Times are
CUDA events'.  Without PyTorch or a GPU it says so and is content."""
import sys

try:
    import torch
    import torch.nn.functional as F
    if not torch.cuda.is_available():
        torch = None
except ImportError:
    torch = None
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

# ------------------------------------------------- a product of our own, Triton

if torch and triton:
    TILES = [
        triton.Config({"BM": bm, "BN": bn, "BK": 64, "GROUP": 8},
                      num_stages=stages, num_warps=8)
        for bm, bn, stages in [(128, 256, 3), (128, 256, 4), (256, 128, 3),
                               (128, 128, 4)]
    ]

    @triton.autotune(configs=TILES, key=["M", "N", "K"])
    @triton.jit
    def matmul_kernel(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
                      BK: tl.constexpr, GROUP: tl.constexpr):
        """C[M, N] = A[M, K] B[N, K]^T, a tile a program, in bands of GROUP."""
        rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
        band = tl.program_id(0) // (GROUP * columns)
        high = tl.minimum(rows - band * GROUP, GROUP)
        inside = tl.program_id(0) % (GROUP * columns)
        i = band * GROUP + inside % high
        j = inside // high
        m = (i * BM + tl.arange(0, BM)) % M
        n = (j * BN + tl.arange(0, BN)) % N
        k = tl.arange(0, BK)
        a = A + m[:, None].to(tl.int64) * K + k[None, :]
        b = B + n[None, :].to(tl.int64) * K + k[:, None]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BK)):
            left = K - step * BK
            acc = tl.dot(tl.load(a, mask=k[None, :] < left, other=0.0),
                         tl.load(b, mask=k[:, None] < left, other=0.0), acc)
            a += BK
            b += BK
        m = i * BM + tl.arange(0, BM)
        n = j * BN + tl.arange(0, BN)
        tl.store(C + m[:, None].to(tl.int64) * N + n[None, :],
                 acc.to(tl.bfloat16), mask=(m[:, None] < M) & (n[None, :] < N))

    def triton_matmul(a, b, c):
        M, K = a.shape
        N = b.shape[0]
        matmul_kernel[lambda t: (triton.cdiv(M, t["BM"]) *
                                 triton.cdiv(N, t["BN"]),)](a, b, c, M, N, K)


# ------------------------------------------------------------------------ rows

def randn(*shape):
    return torch.randn(shape, dtype=torch.bfloat16, device="cuda")


def matmul(M, N, K):
    a, b = randn(M, K), randn(N, K)
    c = torch.empty(M, N, dtype=a.dtype, device="cuda")
    run = {"torch": lambda: torch.matmul(a, b.t(), out=c)}
    if triton:
        run["triton"] = lambda: triton_matmul(a, b, c)
    return run


def scaled_mm(M, N, P, Q, K=0):
    """Tensor-wise scales: the ceiling of the library, not the same sums."""
    del P
    K = K or 128 * Q
    a, b = (randn(x, K).to(torch.float8_e4m3fn) for x in (M, N))
    one = torch.ones((), device="cuda")
    return {"torch_tensorwise": lambda: torch._scaled_mm(
        a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)}


def sdpa(G, R, S, L, causal=False):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q = randn(1, G * R, S, 128)
    k, v = randn(1, G, L, 128), randn(1, G, L, 128)
    if R > 1:
        k, v = (x.repeat_interleave(R, 1) for x in (k, v))

    def by(backend):
        def run():
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return run
    return {"cudnn": by(SDPBackend.CUDNN_ATTENTION),
            "flash": by(SDPBackend.FLASH_ATTENTION)}


def sdpa_causal(**sizes):
    return sdpa(causal=True, **sizes)


def rowwise(f):
    def make(M, N):
        x = randn(M, N)
        return {"torch": lambda: f(x)}
    return make


def layernorm(M, N):
    x, w, b = randn(M, N), randn(N), randn(N)
    return {"torch": lambda: F.layer_norm(x, (N,), w, b)}


def rmsnorm(M, N):
    x, w = randn(M, N), randn(N)
    return {"torch": lambda: F.rms_norm(x, (N,), w)}


def add(M, N):
    x, y = randn(M, N), randn(M, N)
    out = torch.empty_like(x)
    return {"torch": lambda: torch.add(x, y, out=out)}


ROWS = {
    "matmul": matmul, "scaled_mm": scaled_mm, "sdpa": sdpa,
    "sdpa_causal": sdpa_causal, "layernorm": layernorm, "rmsnorm": rmsnorm,
    "add": add, "softmax": rowwise(lambda x: torch.softmax(x, 1)),
    "transpose": rowwise(lambda x: x.t().contiguous()),
    "row_sum": rowwise(lambda x: x.sum(1)),
}


def works(run):
    """Once, which also compiles and tunes."""
    try:
        run()
        torch.cuda.synchronize()
        return True
    except Exception as e:  # a peer that fails takes no part
        print(f"peers.py: {e}", file=sys.stderr)
        return False


def make(what, pairs):
    sizes = {k: int(v) for k, v in (p.split("=") for p in pairs)}
    try:
        run = ROWS[what](**sizes)
    except Exception as e:
        print(f"peers.py: {what}: {e}", file=sys.stderr)
        return {}
    return {name: f for name, f in run.items() if works(f)}


def milliseconds(run, n):
    """Of one of n calls."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(n):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / n


def versions():
    if not torch:
        return "-"
    return f"PyTorch {torch.__version__}" + \
        (f", Triton {triton.__version__}" if triton else ", no Triton")


def main():
    run = {}
    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "have":
            answer = versions()
        elif verb == "make" and torch:
            run = make(rest[0], rest[1:])
            answer = " ".join(run) or "-"
        elif verb == "time" and run:
            i, n = (int(x) for x in rest)
            answer = f"{milliseconds(list(run.values())[i], n):.6f}"
        else:
            run = {}
            if torch:
                torch.cuda.empty_cache()
            answer = "-"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
