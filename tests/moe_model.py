#!/usr/bin/env python3
"""moe_model.py AXE SOURCE - what the model expects of kernels/moe_sm90.axe on an H200, as a table.

Compares it with docs/overlap.md, or writes it there with UPDATE=1. Sizes are Qwen3-30B-A3B's;
routing is uniform: an expert has a binomial number of a layer's tokens, and P is the mean number
of tiles. Floors are those of the weights that are hit, once at 4.3 TB/s, or of the products, rows
filled up to 64, at 790 TFLOP/s, whichever is longer."""
import json
import math
import os
import subprocess
import sys

H, I, E, S = 2048, 768, 128, 8
BEGIN, END = "<!-- written by tests/moe_model.py -->\n", "<!-- end -->\n"

# By tokens: tiles of so many rows, and the rest. Multiples of 64 have tokens as the rows of products,
# all others weights.
FEW = {"BM": 8, "BI": 64, "BN": 128, "BT": 2}
REGIMES = [(1, FEW), (8, FEW), (32, FEW | {"BT": 4}), (128, FEW | {"BM": 16, "BT": 4}),
           (512, FEW | {"BM": 32, "BT": 4}), (1024, {"BM": 80}), (2048, {"BM": 144}),
           (4096, {"BM": 144})]
FILL = 64


def rows_of_expert(tokens):
    """Probabilities of 0, 1, .. rows."""
    p = S / E
    for n in range(tokens + 1):
        yield math.exp(math.lgamma(tokens + 1) - math.lgamma(n + 1) - math.lgamma(tokens - n + 1) +
                       n * math.log(p) + (tokens - n) * math.log1p(-p))


def mean_tiles(tokens, rows):
    return E * sum(p * -(-n // rows) for n, p in enumerate(rows_of_expert(tokens)))


def floor(tokens):
    """[us]"""
    hit = E * (1 - (1 - S / E) ** tokens)
    weights = hit * 3 * H * I * 2 / 4.3e12
    filled = mean_tiles(tokens, FILL) * FILL if tokens > 512 else tokens * S
    return 1e6 * max(weights, 6 * filled * H * I / 790e12)


def expected(axe, kernel, tokens, sets):
    """[us] as it is, and with a launch for each scope."""
    tiles = round(mean_tiles(tokens, sets["BM"]))
    command = [axe, "explain", kernel, "--json", "-t", "sm_90a",
               *[w for k, v in sets.items() for w in ("--set", "%s=%d" % (k, v))],
               *["%s=%d" % x for x in (("M", tokens), ("H", H), ("I", I), ("E", E), ("S", S),
                                       ("P", tiles * sets["BM"]), ("Q", tiles))]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("moe_model: %s\n%s" % (" ".join(command), done.stderr))
    launches = json.loads(done.stdout)["estimates"]
    return [1e6 * sum(x[name] for x in launches) for name in ("seconds", "apart")]


def table(axe, kernel):
    out = ["| tokens | floor, us | model, us | of the floor | a launch for each scope | chosen |\n",
           "|---|---|---|---|---|---|\n"]
    for tokens, sets in REGIMES:
        least, (one, apart) = floor(tokens), expected(axe, kernel, tokens, sets)
        chosen = ", ".join("%s=%d" % x for x in sets.items())
        out.append("| %d | %.0f | %.0f | %.2f | %.0f | %s |\n" %
                   (tokens, least, one, one / least, apart, chosen))
        if one > apart:
            raise SystemExit("moe_model: one launch is slower for %d tokens" % tokens)
    return "".join(out)


def main():
    axe, source = sys.argv[1:3]
    path = os.path.join(source, "docs", "overlap.md")
    with open(path) as f:
        text = f.read()
    new = table(axe, os.path.join(source, "kernels", "moe_sm90.axe"))
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    if os.environ.get("UPDATE"):
        with open(path, "w") as f:
            f.write(head + BEGIN + new + END + tail)
    elif old != new:
        raise SystemExit("moe_model: docs/overlap.md has another table (UPDATE=1 writes it):\n" +
                         new)


if __name__ == "__main__":
    main()
