#!/usr/bin/env python3
"""Feed Triton's linear layouts to `axe eval`.

    triton.py AXE triton_linear.jsonl

Results are compared as they are.  A layout's bases are also converted to a
layout of ours, which must equal the vector's, with its axis names, and back.
"""

import json
import sys
from collections import Counter

from vectors import Eval


def conversions(ev, case):
    """What is wrong with bases to ours and back, or None."""
    shape, bases = case["in"]["shape"], case["out"]["bases"]
    got = ev.ask("linear_to_axe", {"bases": bases, "shape": shape})
    if "error" in got:
        return got["error"]["message"]
    got = {k: got["out"][k] for k in ("D", "R", "O")}
    named = json.loads(json.dumps(case["axe"]).replace("register", "reg"))
    want = {k: named[k] for k in ("D", "R", "O")}
    if not ev.ask("equal", {"a": got, "b": want})["out"]:
        return f"is {got}"
    back = ev.ask("axe_to_linear", {"layout": got, "shape": shape})
    return None if back.get("out", {}).get("bases") == bases else f"back: {back}"


def main():
    ev = Eval(sys.argv[1])
    tally, failed = Counter(), 0
    for line in open(sys.argv[2], encoding="utf-8"):
        case = json.loads(line)
        reply = ev.ask(case["op"], case["in"])
        why = None if reply.get("out") == case["out"] else str(reply)[:300]
        if not why and "axe" in case:
            why = conversions(ev, case)
        tally[case["op"]] += not why
        if why:
            failed += 1
            print(f"  FAILED {line[:400].rstrip()}\n    {why}")
    for op in sorted(tally):
        print(f"{op:24}{tally[op]} passed")
    ev.close()
    return failed > 0 or not tally


if __name__ == "__main__":
    sys.exit(main())
