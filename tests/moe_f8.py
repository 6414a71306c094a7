#!/usr/bin/env python3
"""moe_f8.py AXE - examples/moe_f8.axe against NumPy, with routing as moe.py has it.

All finite codes of e4m3, sizes that no block divides, tiles of few rows and of
many, experts without tokens, skewed scores, no token at all; no number for a
score, a token, its scale, in the weights of experts without tokens. It means
what the kernels for GPUs do, and has their bounds: moe_f8_layer.py."""
import os
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import moe  # noqa: E402
from moe_f8_layer import compare, inputs, poison  # noqa: E402
from share import share  # noqa: E402

SOURCE = moe.SOURCE.replace("moe.axe", "moe_f8.axe")


def run(axe, where, arrays, sets, workers):
    args = [axe, "run", SOURCE, "moe_f8", "--threads", str(workers),
            "Y=%s/Y.npy" % where]
    args += ["--set=%s=%s" % x for x in sets.items()]
    for name, a in arrays.items():
        numpy.save(os.path.join(where, name), a)
        args.append("%s=%s/%s.npy" % (name, where, name))
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("moe_f8: %s\n%s" % (" ".join(args), done.stderr))
    return numpy.load(os.path.join(where, "Y.npy"))


def check(axe, where, rng, m, e, s, h, i, kind, change, sick, sets, workers):
    bm = sets["BM"]
    score = rng.standard_normal((m, e)).astype("f4")
    if change:
        change(score)
    pick, w, at, row, expert = moe.route(score, s, bm, 0, 1)
    arrays = inputs(rng, m, e, h, i)
    poison(arrays, expert, sick)
    given = arrays | {"row": row, "expert": expert, "at": at, "w": w}
    y = run(axe, where, given, dict(sets, T=kind), workers)
    if kind == "bf16":
        y = (y.view("u2").astype("u4") << 16).view("f4")
    compare("moe_f8: %d tokens, %d experts, %s, %s" % (m, e, kind, sets), y, arrays, row, expert,
            at, w, bm, 0, 2.0 ** -8 if kind == "bf16" else 0)


def skewed(score):
    score[:, 0] += 3
    score[:, 1] += 1


def main():
    axe = sys.argv[1]
    rng = numpy.random.default_rng(3)
    rows = [
        (1, 5, 2, 200, 150, "f32", None, (), {"BM": 1}, 1),
        (1, 5, 2, 200, 150, "bf16", None, (), {"BM": 1, "BD": 128}, 2),
        (3, 6, 3, 128, 256, "f32", moe.equal, (1,), {"BM": 2, "BK": 128, "BL": 128}, 2),
        (9, 6, 2, 301, 77, "f32", moe.to_one, (4, 7), {"BM": 4, "BK": 256, "BT": 2}, 5),
        (7, 30, 2, 2200, 140, "bf16", None, (), {"BM": 2}, 2),
        (8, 5, 3, 200, 150, "f32", skewed, (), {"BM": 3}, 2),
        (40, 5, 2, 301, 150, "f32", skewed, (0, 5), {"BM": 8}, 2),
        (21, 5, 2, 150, 301, "f32", moe.to_one, (), {"BM": 7, "BD": 32}, 2),
        (5, 6, 2, 200, 150, "f32", moe.no_number, (3,), {"BM": 2}, 2),
        (0, 4, 2, 130, 60, "f32", None, (), {"BM": 1}, 2),
        (0, 4, 2, 130, 60, "bf16", None, (), {"BM": 16}, 2),
        (40, 5, 3, 200, 150, "f32", moe.to_few, (2, 9), {"BM": 16}, 2),
        (40, 5, 3, 200, 150, "bf16", skewed, (), {"BM": 32, "BD": 128}, 1),
        (33, 20, 2, 77, 301, "bf16", moe.to_one, (), {"BM": 16, "BD": 32}, 5),
    ]
    with tempfile.TemporaryDirectory() as where:
        for row in share(rows):
            check(axe, where, rng, *row)
    print("%d mixtures of experts in e4m3 are right" % len(share(rows)))


if __name__ == "__main__":
    main()
