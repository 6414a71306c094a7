#!/usr/bin/env python3
"""Feed shardings of other systems to `axe eval`.

    sharding.py AXE sharding.jsonl

Local shapes and owners are compared as they are; a layout is enumerated here on
every index that a vector names, and must place it where its owners have it, with
offsets in the uniform local shape; pieces must do so, too.
"""

import json
import sys
from collections import Counter

from vectors import Eval


def layout_points(axe, index):
    """[(device, offset)] of an index, by D's digits, R and O."""
    flat = 0
    for i, n in zip(index, axe["domain"]):
        flat = flat * n + i
    at = Counter({a: k for a, k in axe["O"].items()})
    for e, s, a in reversed(axe["D"]):
        at[a] += flat % e * s
        flat //= e
    devices = [at["gpuid"]]
    for e, s, _ in axe["R"]:
        devices = [d + k * s for d in devices for k in range(e)]
    return sorted((d, at["m"]) for d in devices)


def piece_points(pieces, index, uniform, column):
    """The same by boxes."""
    out = []
    for p in pieces:
        local = [i - b for i, b in zip(index, p["begin"])]
        if all(0 <= i < n for i, n in zip(local, p["shape"])):
            pitch, at = 1, p["offset"]
            dims = range(len(index)) if column else reversed(range(len(index)))
            for k in dims:
                at += local[k] * pitch
                pitch *= uniform[k]
            out.append((p["device"], at))
    return sorted(out)


def wrong(got, v):
    for key in ("local_shape", "uniform_local_shape", "partial"):
        if got.get(key) != v.get(key):
            return f"{key} {got.get(key)}, wanted {v.get(key)}"
    for owners, want in zip(got["owners"], v["device_of_index"]):
        if owners != want["owners"]:
            return f"owners of {want['index']}: {owners}, wanted {want['owners']}"
        if got["axe"]:
            points = layout_points(got["axe"], want["index"])
        elif "pieces" in got:
            points = piece_points(
                got["pieces"],
                want["index"],
                v["uniform_local_shape"],
                v["local_order"] == "col",
            )
        else:
            continue
        if points != [(d, u) for d, _, u in want["owners"]]:
            return f"{want['index']} is at {points}, wanted {want['owners']}"
    if v["axe"] and not got["axe"]:
        return "no layout: " + got["why"]
    return None if got["axe"] or got.get("why") else "no reason"


def main():
    ev = Eval(sys.argv[1])
    tally, failed = {}, 0
    for line in open(sys.argv[2], encoding="utf-8"):
        v = json.loads(line)
        ask = {k: v[k] for k in ("system", "shape", "mesh", "spec")}
        ask["indices"] = [d["index"] for d in v["device_of_index"]]
        ask["first_device"] = min(map(int, v["local_shape"]))
        reply = ev.ask("sharding", ask)
        why = reply["error"]["message"] if "error" in reply else wrong(reply["out"], v)
        form = "FAILED" if why else next(
            k for k in ("axe", "pieces", "table") if reply["out"].get(k)
        )
        tally.setdefault(v["system"], Counter())[form] += 1
        if why:
            failed += 1
            print(f"  FAILED {v['id']} {v['shape']} {v['mesh']} {v['spec']}: {why}")
    for system in sorted(tally):
        print(f"{system:12}" + ", ".join(f"{n} {k}" for k, n in tally[system].items()))
    ev.close()
    return failed > 0 or not tally


if __name__ == "__main__":
    sys.exit(main())
