#!/usr/bin/env python3
"""Feed changes of sharding to `axe eval`.

    reshard.py AXE reshard.jsonl

Elements that the worst device and all devices get are compared with the vector's,
which are what they need; the matrix of who gives whom, with what each device needs,
and with the vector's own where sources have no copies.  A plan is never above the
best chain of collectives over one axis after another, and no device gives more than
the most that one gets, where both cuts have common digits.
"""

import json
import sys

from vectors import Eval


def has_digits(v):
    """Do all cuts of each dimension divide one another?"""
    for n, src, dst in zip(v["shape"], v["src"], v["dst"]):
        marks = set()
        for axes in (src, dst):
            step = n
            for a in axes:
                step //= v["mesh"][a]
                marks.add(step)
        marks = sorted(marks)
        if any(b % a for a, b in zip(marks, marks[1:])):
            return False
    return True


def wrong(got, v):
    if got["max_recv"] != v["min_max_recv"]:
        return f"max_recv {got['max_recv']}, wanted {v['min_max_recv']}"
    if got["total"] != v["min_total"]:
        return f"total {got['total']}, wanted {v['min_total']}"
    chain = v["best_axis_chain_max_recv"]
    if chain is not None and got["max_recv"] > chain:
        return f"max_recv {got['max_recv']}, above the chain's {chain}"
    if not got["steps"] and v["min_total"] > 0:
        return "no steps"
    if "pairs" not in got:
        return "no pairs"
    pairs = got["pairs"]
    recv = [sum(row[q] for row in pairs) for q in range(len(pairs))]
    if recv != v["need_per_device"]:
        return f"devices get {recv}, need {v['need_per_device']}"
    if v.get("pair_elems", pairs) != pairs:
        return f"pairs {pairs}, wanted {v['pair_elems']}"
    if has_digits(v) and [sum(row) for row in pairs] != recv:
        return f"devices give {[sum(row) for row in pairs]}, get {recv}"
    return None


def main():
    ev = Eval(sys.argv[1])
    n = failed = even = 0
    for line in open(sys.argv[2], encoding="utf-8"):
        v = json.loads(line)
        ask = {k: v[k] for k in ("shape", "mesh", "src", "dst")}
        reply = ev.ask("reshard", ask)
        why = reply["error"]["message"] if "error" in reply else wrong(reply["out"], v)
        n += 1
        even += has_digits(v)
        if why:
            failed += 1
            print(f"  FAILED {v['shape']} {v['mesh']} {v['src']} -> {v['dst']}: {why}")
    print(f"{n - failed} of {n} changes of sharding at the bound, "
          f"{even} of them with common digits")
    ev.close()
    return failed > 0 or n == 0


if __name__ == "__main__":
    sys.exit(main())
