#!/usr/bin/env python3
"""moe_f8_gpu.py AXE - kernels/moe_f8_sm90.axe and moe_f8_sm100.axe in the simulator, against NumPy.

Empty experts, all tokens to one, one token, none, skewed scores, equal ones, no number for a score,
for a token, for its scale, in the weights of experts without tokens; tiles of few tokens and of
many; in several orders. Bounds: moe_f8_layer.py; the simulator adds products in f32."""
import sys
import tempfile

import numpy

from moe import equal, no_number, route, to_one
from moe_f8_layer import compare, inputs, poison
from moe_gpu import sets, sim, skewed
from share import share

BF16 = 2.0 ** -8


def check(axe, where, rng, kernel, machine, m, e, s, bm, change, sick, words):
    h, i = 272, 144
    score = rng.standard_normal((m, e)).astype("f4")
    if change:
        change(score)
    _, weight, at, row, expert = route(score, s, bm, 0, 1)
    arrays = inputs(rng, m, e, h, i)
    poison(arrays, expert, sick)
    given = arrays | {"row": row, "expert": expert, "at": at, "w": weight}
    y, = sim(axe, where, kernel, machine, given, ["Y"], sets({"BM": bm}) + words)
    y = (y.view("u2").astype("u4") << 16).view("f4")
    compare("%s: %d tokens, %d experts, tiles of %d" % (kernel, m, e, bm), y, arrays, row, expert,
            at, weight, bm, BF16, BF16)


def main():
    axe = sys.argv[1]
    rng = numpy.random.default_rng(3)
    rows = [(1, 5, 2, 8, None, (), ["--policy", "2"]),
            (20, 6, 2, 16, equal, (), ["--sms", "3"]),
            (9, 6, 2, 32, to_one, (4, 7), []),
            (70, 3, 2, 64, None, (), ["--sms", "2", "--policy", "2"]),
            (40, 7, 2, 16, skewed, (0,), ["--sms", "2", "--policy", "2"]),
            (5, 6, 2, 8, no_number, (3,), []),
            (150, 3, 2, 128, skewed, (), ["--sms", "2"]),
            (0, 4, 2, 8, None, (), [])]
    with tempfile.TemporaryDirectory() as where:
        for row in share(rows):
            check(axe, where, rng, "moe_f8_sm90", "sm_90a", *row)
        for m, e, s, bm, *rest in share(rows, 3):
            check(axe, where, rng, "moe_f8_sm100", "sm_100a", m, e, s, min(max(bm, 16), 64), *rest)
    print("%d mixtures of experts in e4m3 are right" % len(share(rows) + share(rows, 3)))


if __name__ == "__main__":
    main()
