#!/usr/bin/env python3
"""moe_f8_gpu.py AXE - kernels/moe_f8_sm90.axe in the simulator, against NumPy.

What comes up is quantised by NumPy as the kernel does it, from sums in f64: where these are near
the middle of two numbers of e4m3 the kernel may take the other one, which is a sixteenth off."""
import sys
import tempfile

import numpy

from moe import equal, route, to_one
from moe_gpu import sets, sim

E4M3 = numpy.array([(-1) ** (c >> 7) * (2.0 ** ((c >> 3 & 15) - 7) * (1 + (c & 7) / 8)
                                         if c >> 3 & 15 else 2.0 ** -6 * (c & 7) / 8)
                    for c in range(256)])


def quantised(x):
    """Codes of the nearest numbers, ties to even codes; |x| <= 448."""
    mid = (E4M3[:126] + E4M3[1:127]) / 2
    a = numpy.abs(x)
    code = numpy.searchsorted(mid, a, side="left")
    tie = (code < 126) & (a == mid[numpy.minimum(code, 125)]) & (code % 2 == 1)
    return (code + tie + 128 * (numpy.signbit(x) & (code > 0))).astype("u1")


def blocks(n):
    return -(-n // 128)


def by_block(scale, axis, n):
    return numpy.repeat(scale, 128, axis).take(range(n), axis)


def layer(x, sx, row, expert, v, sv, w, sw, at, weight, bm):
    """In f64, but for what comes up in e4m3."""
    m, h = x.shape
    i = v.shape[2]
    real = E4M3[x] * by_block(sx, 0, h).T
    d = numpy.zeros((len(row), h))
    for tile, e in enumerate(expert):
        rows = row[tile * bm:(tile + 1) * bm]
        if e >= len(v):
            continue
        got = numpy.where((rows < m)[:, None], real[numpy.minimum(rows, max(m - 1, 0))]
                          if m else 0, 0)
        both = [got @ (E4M3[v[e, s]] * by_block(by_block(sv[e, s], 0, i), 1, h)).T
                for s in (0, 1)]
        y = both[0] / (1 + numpy.exp(numpy.minimum(-both[0], 80))) * both[1]
        top = numpy.stack([abs(y[:, q * 128:(q + 1) * 128]).max(1) for q in range(blocks(i))], 1)
        top = by_block(numpy.maximum(top, 1e-12) / 448, 1, i)
        a = E4M3[quantised(y / top)] * top
        d[tile * bm:tile * bm + len(rows)] = (
            a @ (E4M3[w[e]] * by_block(by_block(sw[e], 0, h), 1, i)).T)
    return sum(weight[:, s, None] * d[at[:, s]] for s in range(at.shape[1]))


def check(axe, where, rng, m, e, s, bm, change, words):
    h, i = 272, 144
    score = rng.standard_normal((m, e)).astype("f4")
    if change:
        change(score)
    _, weight, at, row, expert = route(score, s, bm, 0, 1)
    arrays = {}
    for name, shape, scales in (("X", (m, h), (blocks(h), m)),
                                ("V", (e, 2, i, h), (e, 2, blocks(i), blocks(h))),
                                ("W", (e, h, i), (e, blocks(h), blocks(i)))):
        arrays[name] = quantised(rng.uniform(-448, 448, shape))
        arrays["S" + name] = (rng.uniform(0.5, 2, scales) / 448).astype("f4")
    arrays |= {"row": row, "expert": expert, "at": at, "w": weight}
    y, = sim(axe, where, "moe_f8_sm90", "sm_90a", arrays, ["Y"], sets({"BM": bm}) + words)
    y = (y.view("u2").astype("u4") << 16).view("f4")
    ref = layer(arrays["X"], arrays["SX"], row, expert, arrays["V"], arrays["SV"], arrays["W"],
                arrays["SW"], at, weight, bm)
    bound = 0.02 * abs(ref).max(initial=1e-30)
    if not abs(y - ref).max(initial=0) <= bound:
        raise SystemExit("moe_f8_sm90: %d tokens, %d experts, tiles of %d: wrong by %g, bound %g" %
                         (m, e, bm, abs(y - ref).max(), bound))


def main():
    axe = sys.argv[1]
    rng = numpy.random.default_rng(3)
    rows = [(1, 5, 2, 8, None, ["--policy", "2"]), (20, 6, 2, 16, equal, ["--sms", "3"]),
            (9, 6, 2, 32, to_one, []), (70, 3, 2, 64, None, ["--sms", "2", "--policy", "2"]),
            (150, 3, 2, 128, None, ["--sms", "2"]), (0, 4, 2, 8, None, [])]
    with tempfile.TemporaryDirectory() as where:
        for row in rows:
            check(axe, where, rng, *row)
    print("%d mixtures of experts in e4m3 are right" % len(rows))


if __name__ == "__main__":
    main()
