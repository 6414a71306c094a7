#!/usr/bin/env python3
"""Carry changes of sharding out on processes.

    reshard_run.py AXE reshard.jsonl [LAUNCHER...]

Each vector's plan runs by `axe reshard --run`, one process a device, by turns with
bytes alone and with messages counted: every element is compared with the definition,
bytes that went with the plan's, and the plan's, where bytes alone count, with the
vector's.  A launcher starts the processes instead; {} in it is their number.
"""

import json
import subprocess
import sys


def spread(v, key):
    dims = []
    for n, axes in zip(v["shape"], v[key]):
        dims.append(f"{n}@({', '.join(axes)})" if axes else str(n))
    return ", ".join(dims)


def wrong(axe, launcher, v, free):
    mesh = ", ".join(f"{k}={n}" for k, n in v["mesh"].items())
    ranks = 1
    for n in v["mesh"].values():
        ranks *= n
    run = [word.replace("{}", str(ranks)) for word in launcher]
    run += [axe, "reshard", "--run", "--json", "--mesh", mesh]
    run += ["--no-latency"] if free else []
    r = subprocess.run(
        run + [spread(v, "src"), spread(v, "dst")],
        capture_output=True, text=True, timeout=120,
    )
    if r.returncode:
        return f"exit {r.returncode}: {r.stderr}"
    got = json.loads(r.stdout)
    if free and got["total"] != v["min_total"]:
        return f"{got['total']} elements went, {v['min_total']} are needed"
    if got["total"] < v["min_total"]:
        return f"{got['total']} elements went, {v['min_total']} are needed"
    return None


def main():
    n = failed = 0
    for line in open(sys.argv[2], encoding="utf-8"):
        v = json.loads(line)
        why = wrong(sys.argv[1], sys.argv[3:], v, n % 2 == 0)
        n += 1
        if why:
            failed += 1
            print(f"  FAILED {v['shape']} {v['mesh']} {v['src']} -> {v['dst']}: {why}")
    print(f"{n - failed} of {n} changes of sharding carried out")
    return failed > 0 or n == 0


if __name__ == "__main__":
    sys.exit(main())
