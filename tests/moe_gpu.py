#!/usr/bin/env python3
"""moe_gpu.py AXE - kernels/moe_route.axe, moe_sm90.axe and moe_sm100.axe in the simulator, against
NumPy.

Empty experts, all tokens to one, one token, none, skewed scores, equal ones, no number for a
score, sigmoids, weights that are not divided by their sum; more tiles than CTAs; tiles of few
tokens, whose weights are the rows of products, and of many; in several orders."""
import os
import subprocess
import sys
import tempfile

import numpy

from moe import as_bf16, equal, layer, no_number, route, to_one
from share import share

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels")
NAMES = ["pick", "w", "at", "row", "expert"]


def sim(axe, where, kernel, machine, arrays, out, words):
    command = [axe, "sim", os.path.join(KERNELS, kernel + ".axe"), kernel, "-t", machine, *words]
    for name, a in arrays.items():
        numpy.save(os.path.join(where, name), a)
    for name in [*arrays, *out]:
        command.append("%s=%s.npy" % (name, os.path.join(where, name)))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("moe_gpu: %s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return [numpy.load(os.path.join(where, name + ".npy")) for name in out]


def sets(values):
    return [word for item in values.items() for word in ("--set", "%s=%s" % item)]


def rounded(a):
    return (as_bf16(a).astype("u4") << 16).view("f4")


def check(axe, where, rng, layer_of, m, e, s, bm, change, routing, tiles, words):
    kernel, machine = layer_of
    h, i = 72, 56
    score = rng.standard_normal((m, e)).astype("f4")
    if change:
        change(score)
    want = route(score, s, bm, routing.get("SIGMOID", 0), routing.get("NORM", 1))
    got = sim(axe, where, "moe_route", machine, {"score": score}, NAMES,
              ["S=%d" % s, "P=%d" % len(want[3]), "Q=%d" % len(want[4])] +
              sets(dict(routing, BM=bm)) + words)
    for name, a, b in zip(NAMES, got, want):
        if not (numpy.allclose(a, b, atol=1e-6, equal_nan=True) if name == "w" else
                (a == b).all()):
            raise SystemExit("moe_route: %s is %s, not %s" % (name, a, b))
    x, v, w = (rounded(rng.standard_normal(shape).astype("f4") / 4)
               for shape in ((m, h), (e, 2, i, h), (e, h, i)))
    arrays = {"X": as_bf16(x), "V": as_bf16(v), "W": as_bf16(w), "row": want[3],
              "expert": want[4], "at": want[2], "w": want[1]}
    y, = sim(axe, where, kernel, machine, arrays, ["Y"],
             sets(dict(tiles, BM=bm, T="bf16")) + words)
    y = (y.view("u2").astype("u4") << 16).view("f4")
    ref = layer(x, want[3], v, w, want[2], want[1], want[4], bm)
    real = ~numpy.isnan(ref)
    bound = 0.02 * abs(ref[real]).max(initial=1e-30)
    if not abs(y - ref)[real].max(initial=0) <= bound or not numpy.isnan(y[~real]).all():
        raise SystemExit("%s: %d tokens, %d experts, tiles of %d: wrong by %g, bound %g" %
                         (kernel, m, e, bm, abs(y - ref)[real].max(), bound))


def skewed(score):
    score[:, 0] += 3
    score[:, 1] += 1


def main():
    axe = sys.argv[1]
    rng = numpy.random.default_rng(1)
    few = {"BI": 64, "BN": 128}
    rows = [
        (1, 5, 2, 8, None, {}, few, ["--policy", "2"]),
        (7, 6, 3, 16, equal, {}, few, ["--sms", "3"]),
        (9, 6, 2, 32, to_one, {}, few, []),
        (33, 4, 4, 16, None, {"NORM": 0}, few, ["--sms", "2", "--policy", "2"]),
        (20, 30, 2, 8, None, {"SIGMOID": 1}, few | {"BK": 128}, []),
        (5, 6, 2, 8, no_number, {}, few, []),
        (200, 5, 2, 64, skewed, {}, few, ["--sms", "2"]),
        (300, 3, 2, 128, None, {"SIGMOID": 1, "NORM": 0}, {}, ["--sms", "2", "--policy", "2"]),
        (90, 4, 3, 80, None, {}, {}, ["--sms", "3", "--policy", "2"]),
        (150, 3, 2, 144, skewed, {}, {}, ["--sms", "3"]),
        (0, 4, 2, 8, None, {}, few, []),
    ]
    blackwell = {8: 16, 80: 64, 144: 128}  # and 128 rows of weights, the least that its tensor cores take
    with tempfile.TemporaryDirectory() as where:
        for row in share(rows):
            check(axe, where, rng, ("moe_sm90", "sm_90a"), *row)
        for m, e, s, bm, change, routing, tiles, words in share(rows, 2):
            check(axe, where, rng, ("moe_sm100", "sm_100a"), m, e, s, blackwell.get(bm, bm),
                  change, routing, tiles | {"BI": 128, "STAGES": 3}, words)
    print("%d mixtures of experts are right" % len(share(rows) + share(rows, 2)))


if __name__ == "__main__":
    main()
