"""What must hold of every timeline of `axe sim`: python timeline.py TRACE REPORT
FACTOR [EXPLAIN], the files of --timeline x.json and of --json, and of `axe
explain --json`, whose time is within that factor of the timeline's."""
import collections
import json
import sys

trace, report = (json.load(open(f)) for f in sys.argv[1:3])
total = report["timeline"]
events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
spans = [e for e in events if e["cat"] != "launch"]
bad = []


def check(holds, *what):
    if not holds:
        bad.append(" ".join(map(str, what)))


def begin(e):
    return e["args"]["begin"]


def end(e):
    return begin(e) + e["args"]["cycles"]


rows = collections.defaultdict(list)
for e in spans:
    rows[e["pid"], e["tid"]].append(e)
for row in rows.values():
    for a, b in zip(row, row[1:]):
        check(end(a) <= begin(b), "one row does two things at a time:", a, b)
for e in spans:
    check(e["args"]["cycles"] > 0, "nothing of it:", e)
    inside = [l for l in total["launches"] if l["begin"] <= begin(e) and end(e) <= l["end"]]
    check(len(inside) == 1, "in no launch:", e)
busiest = max(sum(e["args"]["cycles"] for e in row if e["cat"] == "busy") for row in rows.values())
check(busiest <= total["cycles"], "a row is busy longer than all takes")
for a, b in zip(total["launches"], total["launches"][1:]):
    check(a["end"] <= b["begin"], "launches overlap")
check(total["cycles"] == total["launches"][-1]["end"], "the last launch is not the end")
check(abs(total["microseconds"] - total["cycles"] / total["ghz"] / 1e3) < 1e-3, "microseconds")

# [bytes/cycle] of an SM from L2, [GB/s] of memory: src/machine/nvidia/rates.def
rates = {"sm_80": (47.4, 1835), "sm_90a": (46.6, 4300), "sm_100a": (46.6, 7200)}
l2, memory = rates[report["machine"]]
n_sm = len({e["pid"] for e in spans})
for launch in total["launches"]:
    took = launch["end"] - launch["begin"]
    check(launch["l2_bytes"] <= (took + 1) * l2 * n_sm, "more bytes than L2 gives")
    check(launch["memory_bytes"] <= (took + 1) * memory / total["ghz"], "more than memory gives")
    for role in launch["roles"]:
        all_of = sum(role["busy"].values()) + sum(role["waiting"].values())
        engine = role["role"] in ("copies", "tensor cores")
        check(engine or all_of <= role["cycles"], "more than a CTA runs:", role)
        check(role["ctas"] == launch["blocks"], "blocks:", role)

if len(sys.argv) > 4:
    explained = json.loads(open(sys.argv[4]).readline())
    us = 1e6 * sum(e["seconds"] * e.get("times", 1) for e in explained["estimates"])
    ratio = total["microseconds"] / us
    check(1 / float(sys.argv[3]) <= ratio <= float(sys.argv[3]),
          f"{total['microseconds']} us, where axe explain says {us:.2f}")

print("\n".join(bad[:10]))
sys.exit(len(bad) > 0)
