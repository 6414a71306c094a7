#!/usr/bin/env python3
"""moe.py AXE - examples/moe.axe, routing and products, against NumPy.

Empty experts, all tokens to one, one token, none, most to few, equal scores, no
number for a score, sigmoids, weights that are not divided by their sum; tiles of
few rows and of many; f32 and bf16; weights that are packed, and that are not."""
import os
import subprocess
import sys
import tempfile

import numpy

from share import share

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


def run(axe, where, kernel, arrays, out, sizes, sets, workers, packed=()):
    args = [axe, "run", SOURCE, kernel, "--threads", str(workers), *sizes]
    for name, value in sets.items():
        args += ["--set", "%s=%s" % (name, value)]
    for name, a in arrays.items():
        numpy.save(os.path.join(where, name), a)
        args.append("%s=%s.%s" % (name, os.path.join(where, name),
                                  "axt" if name in packed else "npy"))
    pack(axe, where, packed, sets)
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


def pack(axe, where, names, sets):
    """The weights as files that the kernel reads as they lie."""
    args = ["--set=%s=%s" % x for x in sets.items()]
    for name in names:
        path = os.path.join(where, name)
        subprocess.run([axe, "pack", SOURCE, "moe", *args, "-o", path + ".axt",
                        "%s=%s.npy" % (name, path)], check=True)


def check(axe, where, rng, m, e, s, bm, kind, how, change, sets, workers):
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
    moe = {"BM": bm, "T": kind, "BK": 32, "BN": 16, "BD": 48, "BL": 16,
           "FOLD": int(how == "fold")}
    packed = ["V", "W"] if how == "packed" else []
    y, = run(axe, where, "moe", arrays, ["Y"], [], moe, workers, packed)
    if kind == "bf16":
        y = (y.view("u2").astype("u4") << 16).view("f4")
    ref = layer(x, want[3], v, w, want[2], want[1], want[4], bm)
    real = ~numpy.isnan(ref)
    top = abs(ref[real]).max(initial=0)
    bound = (0.02 if kind == "bf16" else 1e-5) * (top + 1e-30)
    wrong = abs(y - ref)[real].max(initial=0)
    if not wrong <= bound or not numpy.isnan(y[~real]).all():
        raise SystemExit("moe: %d tokens, %d experts, tiles of %d, %s, %s: "
                         "wrong by %g, bound %g" % (m, e, bm, kind, how, wrong,
                                                    bound))


def to_one(score):
    score[:, 2] = 9


def to_few(score):
    score += 4 / (1 + numpy.arange(score.shape[1]))


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
        (1, 5, 2, 1, "f32", "fold", None, {}, 1),
        (1, 5, 2, 1, "f32", "packed", None, {}, 2),
        (1, 8, 3, 4, "bf16", "fold", None, {}, 2),
        (1, 8, 3, 8, "bf16", "packed", None, {}, 5),
        (0, 8, 3, 8, "bf16", "packed", None, {}, 2),
        (0, 4, 2, 4, "f32", "", None, {}, 2),
        (9, 6, 2, 4, "f32", "fold", to_one, {}, 2),
        (9, 6, 2, 8, "bf16", "packed", to_one, {}, 2),
        (7, 6, 3, 16, "f32", "", equal, {}, 2),
        (7, 6, 3, 8, "f32", "packed", equal, {}, 2),
        (33, 4, 4, 16, "bf16", "", None, {"NORM": 0}, 5),
        (33, 4, 4, 16, "bf16", "packed", None, {"NORM": 0}, 5),
        (20, 30, 2, 8, "f32", "fold", None, {"SIGMOID": 1}, 2),
        (5, 6, 2, 2, "f32", "fold", no_number, {}, 2),
        (5, 6, 2, 8, "f32", "packed", no_number, {}, 2),
        (64, 3, 1, 32, "f32", "", None, {"SIGMOID": 1, "NORM": 0}, 2),
        (60, 40, 4, 8, "bf16", "packed", to_few, {}, 2),
        (60, 40, 4, 8, "f32", "packed", to_few, {}, 2),
        (90, 24, 3, 32, "bf16", "packed", to_few, {}, 3),
        (90, 24, 3, 24, "f32", "", to_few, {}, 2),
    ]
    with tempfile.TemporaryDirectory() as where:
        for row in share(rows):
            check(axe, where, rng, *row)
    print("%d mixtures of experts are right" % len(share(rows)))


if __name__ == "__main__":
    main()
