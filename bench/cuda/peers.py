"""peers.py - the rows as a user of PyTorch or Triton would run them, for
bench/cuda/python.c, which sends a line and reads one (see there).  Times are
CUDA events'.  Without PyTorch or a GPU it says so and is content."""
import contextlib
import importlib
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
#
# A row is a function from sizes to contenders: a name, a function that makes
# inputs, and one that runs on them.  Inputs come in as many sets as it takes to
# be several times as large as L2, and calls take them by turns.

DEVICE = "cuda"


def randn(*shape):
    return torch.randn(shape, dtype=torch.bfloat16, device=DEVICE)


def matmul(M, N, K):
    def inputs():
        return randn(M, K), randn(N, K), torch.empty(
            M, N, dtype=torch.bfloat16, device="cuda")

    run = {"torch": (inputs, lambda a, b, c: torch.matmul(a, b.t(), out=c))}
    if triton:
        run["triton"] = inputs, triton_matmul
    return run


def scaled_mm(M, N, P, Q, K=0):
    """Tensor-wise scales: the ceiling of the library, not the same sums.
    DeepGEMM, where it is installed, has the same scales as we."""
    K = K or 128 * Q
    one = torch.ones((), device="cuda")

    def e4m3(*shape):
        return randn(*shape).to(torch.float8_e4m3fn)

    def tensorwise(a, b):
        return torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one,
                                out_dtype=torch.bfloat16)

    run = {"torch_tensorwise": (lambda: (e4m3(M, K), e4m3(N, K)), tensorwise)}
    deep = load("deep_gemm")
    if deep:
        f = getattr(deep, "fp8_gemm_nt", None) or deep.gemm_fp8_fp8_bf16_nt

        def inputs():
            sa = torch.rand(Q, M, device="cuda").t()  # contiguous along M
            sb = torch.rand(P, Q, device="cuda")
            return ((e4m3(M, K), sa), (e4m3(N, K), sb),
                    torch.empty(M, N, dtype=torch.bfloat16, device="cuda"))
        run["deepgemm"] = inputs, f
    return run


def sdpa(G, R, S, L, causal=False):
    """Heads share keys as PyTorch's own enable_gqa has it; the back end is
    chosen once, before anything is timed.  FlashAttention-3 has rows of heads
    side by side."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def inputs():
        return randn(1, G * R, S, 128), randn(1, G, L, 128), \
            randn(1, G, L, 128)

    def run(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal,
                                              enable_gqa=R > 1)

    rows = {"cudnn": (inputs, run,
                      lambda: sdpa_kernel(SDPBackend.CUDNN_ATTENTION)),
            "flash": (inputs, run,
                      lambda: sdpa_kernel(SDPBackend.FLASH_ATTENTION))}
    fa3 = load("flash_attn_interface")
    if fa3:
        rows["fa3"] = (lambda: (randn(1, S, G * R, 128), randn(1, L, G, 128),
                                randn(1, L, G, 128)),
                       lambda q, k, v: fa3.flash_attn_func(q, k, v,
                                                           causal=causal))
    return rows


def sdpa_causal(**sizes):
    return sdpa(causal=True, **sizes)


# One tile of rows of one expert by as many columns: tokens are gathered by `row`.
if torch and triton:
    @triton.jit
    def experts_kernel(A, B, C, row, expert, N, K, n_row, E, STEP: tl.constexpr,
                       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        """C[p, n] = A[row[p] // STEP] B[expert[p // BM], n]^T; row[p] >= n_row: zeros."""
        i, j = tl.program_id(1), tl.program_id(0)
        e = tl.load(expert + i)
        if e >= E:
            return
        r = tl.load(row + i * BM + tl.arange(0, BM))
        n = j * BN + tl.arange(0, BN)
        k = tl.arange(0, BK)
        a = A + (r // STEP)[:, None].to(tl.int64) * K + k[None, :]
        b = B + e.to(tl.int64) * N * K + n[None, :].to(tl.int64) * K + k[:, None]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BK)):
            left = K - step * BK
            acc = tl.dot(tl.load(a, mask=(r < n_row)[:, None] & (k[None, :] < left), other=0.0),
                         tl.load(b, mask=(n < N)[None, :] & (k[:, None] < left), other=0.0), acc)
            a += BK
            b += BK
        p = i * BM + tl.arange(0, BM)
        tl.store(C + p[:, None].to(tl.int64) * N + n[None, :], acc.to(tl.bfloat16),
                 mask=(n < N)[None, :])

    @triton.jit
    def gated_kernel(Y, A, I, BN: tl.constexpr):
        """A[p, i] = silu(Y[p, i]) Y[p, I + i]"""
        p, n = tl.program_id(0).to(tl.int64), tl.program_id(1) * BN + tl.arange(0, BN)
        gate = tl.load(Y + p * 2 * I + n, mask=n < I, other=0.0).to(tl.float32)
        up = tl.load(Y + p * 2 * I + I + n, mask=n < I, other=0.0).to(tl.float32)
        tl.store(A + p * I + n, (gate / (1 + tl.exp(-gate)) * up).to(tl.bfloat16), mask=n < I)

    @triton.jit
    def sum_kernel(D, at, w, Y, H, S: tl.constexpr, BN: tl.constexpr):
        """Y[m, h] = sum over s of w[m, s] D[at[m, s], h]"""
        m, n = tl.program_id(0), tl.program_id(1) * BN + tl.arange(0, BN)
        acc = tl.zeros((BN,), dtype=tl.float32)
        for s in tl.static_range(S):
            d = D + tl.load(at + m * S + s).to(tl.int64) * H + n
            acc += tl.load(w + m * S + s) * tl.load(d, mask=n < H, other=0.0).to(tl.float32)
        tl.store(Y + m.to(tl.int64) * H + n, acc.to(tl.bfloat16), mask=n < H)

# By tokens: rows, columns, depth, stages, warps of a tile.  Rows to depth are what
# vLLM's tuned table for these sizes on an H200 begins with; the rest is ours.
EXPERT_TILES = [(8, (16, 64, 64, 4, 4)), (128, (16, 128, 128, 4, 4)),
                (512, (64, 128, 64, 4, 4)), (1 << 30, (128, 256, 64, 4, 8))]


def route(M, E, S, BM):
    """S of E experts for each token; rows by expert in tiles of BM; where they are."""
    pick = torch.rand(M, E, device=DEVICE).topk(S, 1).indices
    order = pick.flatten().argsort(stable=True)
    count = torch.bincount(pick.flatten(), minlength=E)
    begin = (count + BM - 1) // BM * BM
    begin = torch.cumsum(begin, 0) - begin
    first = torch.cumsum(count, 0) - count
    of = pick.flatten()[order]
    at = begin[of] + torch.arange(M * S, device=DEVICE) - first[of]
    tiles = (M * S + min(E, M * S) * (BM - 1)) // BM
    row = torch.full((tiles * BM,), M * S, dtype=torch.int32, device=DEVICE)
    row[at] = order.to(torch.int32)
    expert = torch.full((tiles,), E, dtype=torch.int32, device=DEVICE)
    expert[at // BM] = of.to(torch.int32)
    back = torch.empty_like(at)
    back[order] = at
    return pick, order, count, row, expert, back.view(M, S)


def experts(M, H, I, E, S, P, Q):
    """Gate and up, down, and the sum by weights.  Weights are shared by the sets, which
    have other experts for their tokens."""
    V, W = randn(E, 2 * I, H), randn(E, H, I)

    def sets(BM):
        def inputs():
            return randn(M, H), torch.rand(M, S, device=DEVICE).softmax(1), \
                route(M, E, S, BM), V, W
        return inputs

    def gated(y):
        return F.silu(y[:, :I]) * y[:, I:]

    def grouped(x, w, routing, V, W):
        _, order, count, *_ = routing
        ends = torch.cumsum(count, 0).to(torch.int32)
        y = torch._grouped_mm(x[order // S], V.transpose(1, 2), offs=ends)
        y = torch._grouped_mm(gated(y), W.transpose(1, 2), offs=ends)
        out = torch.zeros(M, H, dtype=torch.float32, device=DEVICE)
        out.index_add_(0, order // S, y.float() * w.flatten()[order][:, None])
        return out.to(torch.bfloat16)

    def by_expert(x, w, routing, V, W):
        """Products of cuBLAS of sizes that the host knows."""
        _, order, _, _, _, _, *counts = routing
        out = torch.zeros(M, H, dtype=torch.float32, device=DEVICE)
        at = 0
        for e, n in enumerate(counts[0] if counts else []):
            rows = order[at:at + n]
            if n:
                y = gated(x[rows // S] @ V[e].t()) @ W[e].t()
                out.index_add_(0, rows // S, y.float() * w.flatten()[rows][:, None])
            at += n
        return out.to(torch.bfloat16)

    def recorded(inputs, f):
        """As a graph for each set, so that no contender waits for the host."""
        def make():
            args = inputs()
            f(*args)  # libraries are ready, and code compiled, before that
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                f(*args)
            return args, graph
        make.sets = ROUTED_SETS
        return make, lambda args, graph: graph.replay()

    def counted():
        x, w, routing, V, W = sets(1)()
        return x, w, (*routing, routing[2].tolist()), V, W

    rows = {"grouped_mm": recorded(sets(1), grouped), "cublas": recorded(counted, by_expert)}
    if triton:
        BM, BN, BK, stages, warps = next(t for m, t in EXPERT_TILES if M <= m)

        def sorted_inputs():
            *rest, V, W = sets(BM)()
            return *rest, torch.arange(len(rest[2][3]), dtype=torch.int32, device=DEVICE), V, W

        def fused(x, w, routing, own, V, W):
            """Four launches: the products, what is between them, and the sum."""
            _, _, _, row, expert, at = routing
            n = len(expert)
            y = torch.empty(n * BM, 2 * I, dtype=torch.bfloat16, device=DEVICE)
            experts_kernel[(triton.cdiv(2 * I, BN), n)](
                x, V, y, row, expert, 2 * I, H, M * S, E, S, BM, BN, BK,
                num_stages=stages, num_warps=warps)
            a = torch.empty(n * BM, I, dtype=torch.bfloat16, device=DEVICE)
            gated_kernel[(n * BM, triton.cdiv(I, 256))](y, a, I, 256)
            d = torch.empty(n * BM, H, dtype=torch.bfloat16, device=DEVICE)
            experts_kernel[(triton.cdiv(H, BN), n)](
                a, W, d, own, expert, H, I, n * BM, E, 1, BM, BN, BK,
                num_stages=stages, num_warps=warps)
            out = torch.empty(M, H, dtype=torch.bfloat16, device=DEVICE)
            sum_kernel[(M, triton.cdiv(H, 512))](d, at, w, out, H, S, 512)
            return out
        rows["triton"] = recorded(sorted_inputs, fused)
    return rows


def rowwise(f):
    def make(M, N):
        return {"torch": (lambda: (randn(M, N),), f)}
    return make


def layernorm(M, N):
    return {"torch": (lambda: (randn(M, N), randn(N), randn(N)),
                      lambda x, w, b: F.layer_norm(x, (N,), w, b))}


def rmsnorm(M, N):
    return {"torch": (lambda: (randn(M, N), randn(N)),
                      lambda x, w: F.rms_norm(x, (N,), w))}


def add(M, N):
    return {"torch": (lambda: (randn(M, N), randn(M, N), randn(M, N)),
                      lambda x, y, out: torch.add(x, y, out=out))}


ROWS = {
    "matmul": matmul, "scaled_mm": scaled_mm, "sdpa": sdpa,
    "sdpa_causal": sdpa_causal, "layernorm": layernorm, "rmsnorm": rmsnorm,
    "experts": experts, "add": add, "softmax": rowwise(lambda x: torch.softmax(x, 1)),
    "transpose": rowwise(lambda x: x.t().contiguous()),
    "row_sum": rowwise(lambda x: x.sum(1)),
}

# ------------------------------------------------------------------ contenders

FLUSH_BYTES, FIRST_FILL, MOST_FILL, MOST_SETS = 1 << 28, 2, 256, 16
ROUTED_SETS = 4  # of few tokens, which read few of the weights


def load(name):
    """A package that may be installed or not."""
    try:
        return importlib.import_module(name)
    except Exception as e:
        if not isinstance(e, ModuleNotFoundError):
            print(f"peers.py: {name}: {e}", file=sys.stderr)
        return None


def bytes_of(x):
    if isinstance(x, (tuple, list)):
        return sum(bytes_of(y) for y in x)
    return x.numel() * x.element_size()


class Contender:
    def __init__(self, inputs, run, context=contextlib.nullcontext):
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        first = inputs()
        n = getattr(inputs, "sets", min(MOST_SETS, 1 + 4 * l2 // max(1, bytes_of(first))))
        self.sets = [first] + [inputs() for _ in range(n - 1)]
        self.run, self.context, self.at = run, context, 0
        with self.context():  # once, which also compiles and tunes
            self.run(*first)
        torch.cuda.synchronize()

    def calls(self, n):
        for _ in range(n):
            self.run(*self.sets[self.at])
            self.at = (self.at + 1) % len(self.sets)

    def time(self, n, fill):
        """Milliseconds of one of n calls, and whether the GPU waited for the
        host: memory is filled first, so that L2 is cold and calls queue up."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with self.context():
            for _ in range(fill):
                flush.zero_()
            begin.record()
            self.calls(n)
            waited = begin.query()
            end.record()
        end.synchronize()
        return begin.elapsed_time(end) / n, waited


flush = None


def make(what, pairs):
    global flush
    sizes = {k: int(v) for k, v in (p.split("=") for p in pairs)}
    if flush is None:
        flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    run = {}
    try:
        rows = ROWS[what](**sizes)
    except Exception as e:
        print(f"peers.py: {what}: {e}", file=sys.stderr)
        return {}
    for name, row in rows.items():
        try:
            run[name] = Contender(*row)
        except Exception as e:  # a peer that fails takes no part
            print(f"peers.py: {what} by {name}: {e}", file=sys.stderr)
    return run


def milliseconds(contender, n):
    fill = FIRST_FILL
    while True:
        ms, waited = contender.time(n, fill)
        fill *= 4
        if not waited or fill > MOST_FILL:
            return f"{ms:.6f} {int(waited)}"


def versions():
    if not torch:
        return "-"
    return f"PyTorch {torch.__version__}" + \
        (f", Triton {triton.__version__}" if triton else ", no Triton") + \
        "".join(f", {name}" for name in ("flash_attn_interface", "deep_gemm")
                if load(name))


def main():
    run = {}
    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "have":
            answer = versions()
        elif verb == "sync":
            answer = rest[0]
        elif verb == "make" and torch:
            run = make(rest[0], rest[1:])
            answer = " ".join(run) or "-"
        elif verb == "time" and run:
            i, n = (int(x) for x in rest)
            try:
                answer = milliseconds(list(run.values())[i], n)
            except Exception as e:
                print(f"peers.py: {e}", file=sys.stderr)
                answer = "-1 0"
        else:
            run = {}
            if torch:
                torch.cuda.empty_cache()
            answer = "-"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
