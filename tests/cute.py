#!/usr/bin/env python3
"""Feed CuTe's results to `axe eval`.

    cute.py AXE cute.jsonl

A CuTe layout has its fastest mode first and is flat here, so as a map from an
index it is ours with the modes turned round.  Operations are asked for by our
names; what CuTe makes of several of them is made of several here.  Operations
on nested shapes as such have no counterpart and are counted as such.
"""

import json
import sys
from collections import Counter

from vectors import Eval, points, small
from vectors import size as n_index

# Errors that say that no layout is the answer.
NONE = {"ESHAPE", "EUNSUPPORTED", "EOVERFLOW"}

# id -> why the definition and not the vector decides
SIGNS = "a cosize is 1 + the largest coordinate; CuTe adds strides without signs"
OVERRULED = {"cute-1486": SIGNS, "cute-1488": SIGNS}


def flat(v):
    return [x for e in v for x in flat(e)] if isinstance(v, list) else [v]


def ours(layout):
    modes = list(zip(flat(layout["shape"]), flat(layout["stride"])))
    return {"D": [[e, s, "m"] for e, s in reversed(modes) if e != 1], "R": [], "O": {}}


def product(v):
    n = 1
    for e in flat(v):
        n *= e
    return n


def size(layout):
    return product(layout["shape"])


def beside(fast, slow):
    """A layout with the modes of both."""
    return {"D": slow["D"] + fast["D"], "R": [], "O": {}}


class Asker:
    def __init__(self, axe):
        self.ev = Eval(axe)

    def ask(self, op, **args):
        """The answer, or None where there is none."""
        reply = self.ev.ask(op, args)
        error = reply.get("error")
        if error and error["code"] not in NONE:
            sys.exit(f"{op} {json.dumps(args)[:500]}: {json.dumps(error)}")
        return None if error else reply["out"]



def map_of(layout):
    return [dict(*points(layout, x)).get("m", 0) for x in range(n_index(layout))]


def composed(a, q, out, case):
    got = a.ask("compose", a=ours(q["a"]), b=ours(q["b"]))
    want = case.get("map") or out.get("map")
    if got is None:
        return None
    if want is not None and map_of(got) != want:
        return False
    return "shape" not in out or a.ev.same(got, ours(out))


def composed_if_can(a, q, out, case):
    """CuTe finds no layout where a map has none with b's modes."""
    got = composed(a, q, out, case)
    return out["coalesced"] is None if got is None else got


def coalesced(a, q, out, case):
    """What is only known at run time, CuTe leaves as it is."""
    got = a.ask("canonicalize", layout=ours(q["a"]))
    if case.get("static") is False:
        return a.ev.same(got, ours(out))
    return got["D"] == ours(out)["D"]


def divided(a, q, out, case):
    rest = a.ask("complement", layout=ours(q["b"]), total=size(q["a"]))
    if rest is None:
        return None
    got = a.ask("compose", a=ours(q["a"]), b=beside(ours(q["b"]), rest))
    return None if got is None else a.ev.same(got, ours(out))


def complemented(a, q, out, case):
    got = a.ask("complement", layout=ours(q["a"]), total=product(q["cotarget"]))
    return None if got is None else a.ev.same(got, ours(out))


def inverted(a, q, out, case):
    """Both undo the layout; where it hits nothing they may differ."""
    layout = ours(q["a"])
    got = a.ask("left_inverse", layout=layout)
    if got is None:
        return None
    if not small(got):
        return a.ev.same(a.ask("compose", a=got, b=layout), {"D": [[size(q["a"]), 1, "m"]]})
    back = map_of(got)
    return [back[x] for x in map_of(layout)] == list(range(size(q["a"])))


def swizzle_of(s):
    return {
        "per_element": s["m"],
        "swizzle_len": s["b"],
        "atom_len": abs(s["s"]),
        "inner": s["s"] >= 0,
    }


RULES = {
    "coalesce": coalesced,
    "composition": composed,
    "composition_exact": composed_if_can,
    "complement": complemented,
    "logical_divide": divided,
    "left_inverse": inverted,
    "cosize": lambda a, q, out, case: a.ask("cosize", layout=ours(q["a"]), axis="m")
    == out["value"],
    "swizzle": lambda a, q, out, case: a.ask(
        "swizzle_apply", swizzle=swizzle_of(q), x=list(range(len(out["map"])))
    )
    == out["map"],
    "cute_to_axe_same_linear_index": lambda a, q, out, case: a.ev.same(
        ours(q["a"]), {k: out[k] for k in ("D", "R", "O")}
    ),
}


def main():
    a = Asker(sys.argv[1])
    table, failed = {}, []
    for line in open(sys.argv[2], encoding="utf-8"):
        case = json.loads(line)
        count = table.setdefault(case["op"], Counter())
        rule = "@" not in line and RULES.get(case["op"])
        if not rule:
            count["no counterpart"] += 1
            continue
        ok = rule(a, case["in"], case["out"], case)
        verdict = "refused" if ok is None else "passed" if ok else "FAILED"
        if case["id"] in OVERRULED:
            verdict = "FAILED" if ok else "overruled"
        count[verdict] += 1
        if verdict != "passed":
            failed.append(f"  {verdict} {line[:300].rstrip()}")
    for op in sorted(table):
        print(f"{op:32}" + ", ".join(f"{n} {v}" for v, n in sorted(table[op].items())))
    print("\n".join(failed))
    a.ev.close()
    return any(c["FAILED"] for c in table.values())


if __name__ == "__main__":
    sys.exit(main())
