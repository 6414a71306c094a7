"""A layer of experts on the CPU, bf16, of Qwen3-30B-A3B's sizes: examples/moe.axe with packed
weights, and with weights as they lie (rows), beside PyTorch (a loop over experts, and grouped
products) and oneDNN (a product for each expert, weights packed before), and beside what the
machine could do.

    python bench/moe.py [--threads N] [--tokens 1,8,32] [--rounds N] [--experts E]

All take turns, also with the limits; of each the least time counts, since others on the
machine only add to it: processor's time on one thread, wall time on more.  Routing is done
before for all, and `moe_route` is timed by itself.  The floor is the larger of the weights of
the experts that have tokens, read once, and the products at the peak.
"""
import argparse
import ctypes
import os
import platform
import subprocess
import tempfile
import threading
import time

import numpy
import torch
from torch.nn import functional as F

import axe

H, I, S, BM = 2048, 768, 8, 8
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "moe.axe")
# Vectors that are read and not used; multiply-adds of pairs in 24 registers.
LIMITS = """
#include <immintrin.h>
long read_all(const char *p, long n) {
    __m512i a[8] = {0};
    for (long i = 0; i + 512 <= n; i += 512)
        for (int k = 0; k < 8; k++)
            a[k] = _mm512_xor_si512(a[k], _mm512_loadu_si512(p + i + 64*k));
    for (int k = 1; k < 8; k++) a[0] = _mm512_xor_si512(a[0], a[k]);
    return _mm512_reduce_add_epi64(a[0]);
}
void multiply(long n) {
    __asm__ volatile("vpxorq %zmm31, %zmm31, %zmm31");
    for (long i = 0; i < n; i++) __asm__ volatile(DP);
}
"""


def limits(folder, clock, n_thread):
    """Functions that each take seconds: to read n bytes, to do n times 24 instructions."""
    dp = "".join("vdpbf16ps %%zmm31, %%zmm31, %%zmm%d\\n" % i for i in range(24))
    path = os.path.join(folder, "limits")
    with open(path + ".c", "w") as f:
        f.write(LIMITS.replace("DP", '"%s"' % dp))
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", path + ".so",
                    path + ".c"], check=True)
    lib = ctypes.CDLL(path + ".so")
    lib.read_all.argtypes = [ctypes.c_void_p, ctypes.c_long]
    lib.multiply.argtypes = [ctypes.c_long]

    def together(work):
        start = clock()
        if n_thread == 1:
            work(0)
            return clock() - start
        threads = [threading.Thread(target=work, args=(i,)) for i in range(n_thread)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return clock() - start

    def read(address, n):
        share = n // n_thread
        return together(lambda i: lib.read_all(address + i * share, share))

    return read, lambda n: together(lambda i: lib.multiply(n))


class Layer:
    """Weights as they are, as axe packs them, and as oneDNN does."""

    def __init__(self, n_expert):
        some = torch.randn(1 << 22).mul_(1 / 32).to(torch.bfloat16)
        self.v = some.repeat(n_expert * 2 * I * H // len(some)).view(n_expert, 2, I, H)
        self.w = some.repeat(n_expert * I * H // len(some)).view(n_expert, H, I)
        self.axe = axe.load(SOURCE)
        moe = self.axe.moe.with_(T="bf16")
        self.packed = moe.pack("V", self.v), moe.pack("W", self.w)
        pack = torch.ops.mkldnn._reorder_linear_weight
        self.dnnl = [(pack(v.view(2 * I, H), BM), pack(w, BM))
                     for v, w in zip(self.v, self.w)]


def by_expert(pick, weight):
    """(expert, tokens, their weights) of those that have any."""
    out = []
    for e in pick.unique().tolist():
        token, slot = torch.where(pick == e)
        out.append((e, token, weight[token, slot, None].to(torch.bfloat16)))
    return out


def add_up(x, groups, products):
    y = torch.zeros_like(x)
    for e, token, weight in groups:
        y.index_add_(0, token, products(e, x[token]) * weight)
    return y


def silu_mul(h):
    return F.silu(h[:, :I]) * h[:, I:]


def by_axe(layer, x, score, bm, v, w, **values):
    """What makes Y, what routes, and picks and weights."""
    m, n_expert = score.shape
    p = -(-(m * S + min(n_expert, m * S) * (bm - 1)) // bm) * bm
    i32 = dict(dtype=torch.int32)
    pick, at = torch.empty(m, S, **i32), torch.empty(m, S, **i32)
    row, expert = torch.empty(p, **i32), torch.empty(p // bm, **i32)
    weight, y = torch.empty(m, S), torch.empty_like(x)
    router = layer.axe.moe_route.with_(BM=bm)
    moe = layer.axe.moe.with_(T="bf16", BM=bm, BK=H, BL=I, **{"BN": 384, **values})

    def route():
        router(score, out=(pick, weight, at, row, expert))

    def run():
        moe(x, row, expert, v, w, at, weight, out=y)
        return y

    route()
    return run, route, pick, weight


def contenders(layer, m):
    """{name: what makes Y}, and how many experts have tokens."""
    n_expert = len(layer.v)
    x, score = torch.randn(m, H).to(torch.bfloat16), torch.randn(m, n_expert)
    run, route, pick, weight = by_axe(layer, x, score, BM, *layer.packed)
    rows = by_axe(layer, x, score, 1 if m <= 8 else 4 if m <= 128 else 8, layer.v, layer.w,
                  FOLD=1, BN=96, BD=96)[0]
    groups = by_expert(pick, weight)
    order = torch.cat([token for _, token, _ in groups])
    weights = torch.cat([w for _, _, w in groups])
    ends = torch.tensor([(pick == e).sum() for e in range(n_expert)]).cumsum(0).to(torch.int32)
    v, w = layer.v.view(n_expert, 2 * I, H).transpose(1, 2), layer.w.transpose(1, 2)

    def loop():
        return add_up(x, groups, lambda e, a: F.linear(silu_mul(
            F.linear(a, layer.v[e].view(2 * I, H))), layer.w[e]))

    def grouped():
        h = silu_mul(F.grouped_mm(x[order], v, offs=ends))
        return torch.zeros_like(x).index_add_(
            0, order, F.grouped_mm(h, w, offs=ends) * weights)

    def dnnl():
        linear = torch.ops.mkldnn._linear_pointwise
        return add_up(x, groups, lambda e, a: linear(silu_mul(
            linear(a, layer.dnnl[e][0], None, "none", [], "")),
            layer.dnnl[e][1], None, "none", [], ""))

    return {"axe": run, "rows": rows, "loop": loop, "grouped": grouped, "dnnl": dnnl,
            "route": route}, len(groups)


def least(jobs, rounds, clock):
    """Seconds of each at best, in turns; a job that gives a float has measured itself."""
    best = {name: float("inf") for name in jobs}
    names = list(jobs)
    for i in range(rounds + 1):
        for name in names[i % len(names):] + names[:i % len(names)]:
            start = clock()
            said = jobs[name]()
            seconds = said if isinstance(said, float) else clock() - start
            if i > 0:
                best[name] = min(best[name], seconds)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", default="1,8,32,128,512,2048")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--experts", type=int, default=128)
    options = parser.parse_args()
    torch.manual_seed(1)
    n_thread = options.threads
    clock = time.process_time if n_thread == 1 else time.perf_counter
    torch.set_num_threads(n_thread)
    axe.set_device(axe.Device(threads=n_thread))
    torch.set_grad_enabled(False)
    layer = Layer(options.experts)
    print("PyTorch %s, Python %s, %d threads, load %.1f; ms, GB/s, GFLOP/s" % (
        torch.__version__, platform.python_version(), n_thread, os.getloadavg()[0]))
    print("%6s%9s%9s%9s%9s%9s%9s%9s%9s%9s%11s%11s" % (
        "tokens", "axe", "rows", "loop", "grouped", "oneDNN", "route", "read", "peak",
        "floor", "best/axe", "axe/floor"))
    with tempfile.TemporaryDirectory() as folder:
        read, multiply = limits(folder, clock, n_thread)
        n_read, n_multiply = min(layer.v.nbytes, 1 << 29), 1 << 23
        large = numpy.ones(n_read, "u1")  # of huge pages, as packed weights are
        for m in map(int, options.tokens.split(",")):
            jobs, hit = contenders(layer, m)
            want = jobs["loop"]().float()
            for name in ("axe", "rows", "grouped", "dnnl"):
                off = (jobs[name]().float() - want).abs().max() / want.abs().max()
                if not off < 0.05:
                    raise SystemExit("%s is off by %g for %d tokens" % (name, off, m))
            jobs["read"] = lambda: read(large.ctypes.data, n_read)
            jobs["peak"] = lambda: multiply(n_multiply)
            best = least(jobs, options.rounds, clock)
            rate = n_read / best["read"]
            peak = 24 * 64 * n_multiply * n_thread / best["peak"]
            floor = max(hit * 3 * H * I * 2 / rate, m * S * 3 * 2 * H * I / peak)
            peer = min(best[n] for n in ("loop", "grouped", "dnnl"))
            print("%6d" % m + "".join("%9.2f" % (1e3 * best[n]) for n in
                                      ("axe", "rows", "loop", "grouped", "dnnl", "route"))
                  + "%9.1f%9.0f%9.2f%11.2f%11.2f" % (
                      rate / 1e9, peak / 1e9, 1e3 * floor, peer / best["axe"],
                      best["axe"] / floor), flush=True)


if __name__ == "__main__":
    main()
