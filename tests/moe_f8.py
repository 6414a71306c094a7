#!/usr/bin/env python3
"""moe_f8.py AXE - examples/moe_f8.axe against NumPy, with routing as moe.py has it.

All finite codes of e4m3, sizes that no block divides, tiles of few rows and of
many, experts without tokens, no token at all."""
import os
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import moe  # noqa: E402

SOURCE = moe.SOURCE.replace("moe.axe", "moe_f8.axe")


def e4m3():
    """What each code is."""
    code = numpy.arange(256)
    e, m = code >> 3 & 15, code & 7
    x = numpy.where(e == 0, m / 8 * 2.0 ** -6, (1 + m / 8) * 2.0 ** (e - 7.0))
    return numpy.where(code & 128, -x, x)


def weights(rng, *shape):
    """Codes, scales of blocks, and the weights they are."""
    code = rng.integers(0, 256, shape).astype("u1")
    code[code & 0x7f == 0x7f] = 3
    blocks = shape[:-2] + tuple(-(-n // 128) for n in shape[-2:])
    scale = (rng.random(blocks) * 0.01 + 0.001).astype("f4")
    wide = scale.astype("f8").repeat(128, -1).repeat(128, -2)
    return code, scale, e4m3()[code] * wide[..., :shape[-2], :shape[-1]]


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


def check(axe, where, rng, m, e, s, h, i, kind, change, sets, workers):
    bm = sets["BM"]
    score = rng.standard_normal((m, e)).astype("f4")
    if change:
        change(score)
    pick, w, at, row, expert = moe.route(score, s, bm, 0, 1)
    x = rng.standard_normal((m, h)).astype("f4")
    if kind == "bf16":
        x = (moe.as_bf16(x).astype("u4") << 16).view("f4")
    v, sv, real_v = weights(rng, e, 2, i, h)
    d, sw, real_w = weights(rng, e, h, i)
    arrays = {"X": moe.as_bf16(x) if kind == "bf16" else x, "row": row,
              "expert": expert, "V": v, "SV": sv, "W": d, "SW": sw, "at": at,
              "w": w}
    y = run(axe, where, arrays, dict(sets, T=kind), workers)
    if kind == "bf16":
        y = (y.view("u2").astype("u4") << 16).view("f4")
    want = moe.layer(x, row, real_v, real_w, at, w, expert, bm)
    wrong = abs(y - want).max(initial=0)
    bound = (0.02 if kind == "bf16" else 2e-5) * (abs(want).max(initial=0) + 1e-30)
    if not wrong <= bound:
        raise SystemExit("moe_f8: %d tokens, %d experts, %s, %s: wrong by %g, bound %g" %
                         (m, e, kind, sets, wrong, bound))


def main():
    axe = sys.argv[1]
    rng = numpy.random.default_rng(3)
    rows = [
        (1, 5, 2, 200, 150, "f32", None, {"BM": 1}, 1),
        (1, 5, 2, 200, 150, "bf16", None, {"BM": 1, "BN": 32, "BD": 128}, 2),
        (3, 6, 3, 128, 256, "f32", moe.equal, {"BM": 2, "BK": 128, "BL": 128}, 2),
        (9, 6, 2, 301, 77, "f32", moe.to_one, {"BM": 4, "BK": 256, "BT": 2}, 5),
        (7, 30, 2, 2200, 140, "bf16", None, {"BM": 2}, 2),
        (0, 4, 2, 130, 60, "f32", None, {"BM": 1}, 2),
        (0, 4, 2, 130, 60, "bf16", None, {"BM": 16}, 2),
        (40, 5, 3, 200, 150, "f32", moe.to_few, {"BM": 16}, 2),
        (40, 5, 3, 200, 150, "bf16", moe.to_few, {"BM": 32, "BN": 128}, 1),
        (33, 20, 2, 77, 301, "bf16", moe.to_one, {"BM": 16, "BD": 32}, 5),
    ]
    with tempfile.TemporaryDirectory() as where:
        for row in rows:
            check(axe, where, rng, *row)
    print("%d mixtures of experts in e4m3 are right" % len(rows))


if __name__ == "__main__":
    main()
