#!/usr/bin/env python3
"""moe.py AXE - examples/moe.axe, routing and products, against NumPy.

Empty experts, all tokens to one, one token, equal scores, no number for a score,
sigmoids, weights that are not divided by their sum; tiles of few rows and of
many; f32 and bf16."""
import os
import subprocess
import sys
import tempfile

import numpy

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "examples", "moe.axe")


def route(score, s, bm, sigmoid, norm):
    """pick, w, at, row, expert by their definition."""
    m, e = score.shape
    tiles = -(-(m * s + min(e, m * s) * (bm - 1)) // bm)
    pick = numpy.full((m, s), e, "i4")
    w = numpy.zeros((m, s), "f4")
    at = numpy.full((m, s), tiles * bm, "i4")
    row = numpy.full(tiles * bm, m, "i4")
    expert = numpy.full(tiles, e, "i4")
    for t in range(m):
        real = [n for n in range(e) if score[t, n] >= -numpy.inf]
        best = sorted(real, key=lambda n: (-score[t, n], n))[:s]
        pick[t, :len(best)] = best
        x = score[t].astype("f8")
        p = 1 / (1 + numpy.exp(-x)) if sigmoid else \
            numpy.exp(x - x[real].max()) / numpy.exp(x - x[real].max()).sum()
        w[t, :len(best)] = p[best]
        if norm and w[t].sum() > 0:
            w[t] /= w[t].sum()
    at_row = 0
    for n in range(e):
        items = [(t, k) for t in range(m) for k in range(s)
                 if pick[t, k] == n]
        for i, (t, k) in enumerate(items):
            at[t, k] = at_row + i
            row[at_row + i] = t
        used = -(-len(items) // bm)
        expert[at_row // bm:at_row // bm + used] = n
        at_row += used * bm
    return pick, w, at, row, expert


def layer(x, row, v, w, at, weight, expert, bm):
    x, v, w = (a.astype("f8") for a in (x, v, w))
    y = numpy.zeros(x.shape)
    for t in range(at.shape[0]):
        for k in range(at.shape[1]):
            if at[t, k] >= len(row):
                continue
            e = expert[at[t, k] // bm]
            gate, up = v[e, 0] @ x[t], v[e, 1] @ x[t]
            y[t] += weight[t, k] * (w[e] @ (gate / (1 + numpy.exp(-gate)) *
                                            up))
    return y


def run(axe, where, kernel, arrays, out, sizes, sets, workers):
    args = [axe, "run", SOURCE, kernel, "--threads", str(workers), *sizes]
    for name, value in sets.items():
        args += ["--set", "%s=%s" % (name, value)]
    for name, a in arrays.items():
        numpy.save(os.path.join(where, name), a)
        args.append("%s=%s.npy" % (name, os.path.join(where, name)))
    for name in out:
        args.append("%s=%s.npy" % (name, os.path.join(where, name)))
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("moe: %s\n%s" % (" ".join(args), done.stderr))
    return [numpy.load(os.path.join(where, name + ".npy")) for name in out]


def as_bf16(a):
    """Rounded to bf16, as its bits."""
    bits = a.astype("f4").view("u4")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


def check(axe, where, rng, m, e, s, bm, kind, change, sets, workers):
    h, i = 70, 50
    score = rng.standard_normal((m, e)).astype("f4")
    if change:
        change(score)
    want = route(score, s, bm, sets.get("SIGMOID", 0), sets.get("NORM", 1))
    names = ["pick", "w", "at", "row", "expert"]
    got = run(axe, where, "moe_route", {"score": score},
              names, ["S=%d" % s, "P=%d" % len(want[3]),
                      "Q=%d" % len(want[4])], dict(sets, BM=bm), workers)
    for name, a, b in zip(names, got, want):
        if not (numpy.allclose(a, b, atol=1e-6, equal_nan=True) if name == "w" else
                (a == b).all()):
            raise SystemExit("moe_route: %s is %s, not %s" % (name, a, b))
    x, v, w = (rng.standard_normal(shape).astype("f4") / 4 for shape in
               ((m, h), (e, 2, i, h), (e, h, i)))
    if kind == "bf16":
        x, v, w = ((as_bf16(a).astype("u4") << 16).view("f4")
                   for a in (x, v, w))
    arrays = {"X": x, "V": v, "W": w}
    if kind == "bf16":
        arrays = {n: as_bf16(a) for n, a in arrays.items()}
    arrays.update(row=want[3], expert=want[4], at=want[2], w=want[1])
    y, = run(axe, where, "moe", arrays,
             ["Y"], [], {"BM": bm, "T": kind, "BK": 32, "BN": 16}, workers)
    if kind == "bf16":
        y = (y.view("u2").astype("u4") << 16).view("f4")
    ref = layer(x, want[3], v, w, want[2], want[1], want[4], bm)
    real = ~numpy.isnan(ref)
    bound = (0.02 if kind == "bf16" else 1e-5) * (abs(ref[real]).max() + 1e-30)
    if not abs(y - ref)[real].max() <= bound or \
            not numpy.isnan(y[~real]).all():
        raise SystemExit("moe: %d tokens, %d experts, tiles of %d, %s: wrong "
                         "by %g, bound %g" % (m, e, bm, kind,
                                              abs(y - ref)[real].max(),
                                              bound))


def to_one(score):
    score[:, 2] = 9


def equal(score):
    score[:] = 0.5


def no_number(score):
    score[0, 1] = numpy.nan
    score[1, :] = -numpy.inf
    score[1, 3] = 1


def main():
    axe = sys.argv[1]
    rng = numpy.random.default_rng(1)
    rows = [
        (1, 5, 2, 1, "f32", None, {}, 1), (1, 8, 3, 4, "bf16", None, {}, 2),
        (9, 6, 2, 4, "f32", to_one, {}, 2), (7, 6, 3, 16, "f32", equal, {}, 2),
        (33, 4, 4, 16, "bf16", None, {"NORM": 0}, 5),
        (20, 30, 2, 8, "f32", None, {"SIGMOID": 1}, 2),
        (5, 6, 2, 2, "f32", no_number, {}, 2),
        (64, 3, 1, 32, "f32", None, {"SIGMOID": 1, "NORM": 0}, 2),
    ]
    with tempfile.TemporaryDirectory() as where:
        for row in rows:
            check(axe, where, rng, *row)
    print("%d mixtures of experts are right" % len(rows))


if __name__ == "__main__":
    main()
