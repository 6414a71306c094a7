#!/usr/bin/env python3
"""Compare `axe explain` with `axe explain --json` for all kernels and CPUs."""
import glob
import json
import os
import re
import subprocess
import sys

AXE = os.environ["AXE"]
FACT = re.findall(r"FACT\( *(\w+), *(ONE|LIST)",
                  open("src/plan/report/facts.def").read())
ONE = [key for key, shape in FACT if shape == "ONE"]
LIST = [key for key, shape in FACT if shape == "LIST"]
NEEDED = ["schedule", "atoms", "vector", "loops", "address", "sync", "bytes",
          "cycles", "proved", "rejected"]


def run(*args):
    p = subprocess.run([AXE, "explain", *args], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    return p.stdout if p.returncode == 0 else None


def rows(block):
    """The rows of one statement's text: key to list of texts."""
    out, key = {}, None
    for line in block:
        key = line[4:14].strip() or key
        out.setdefault(key, []).append(line[14:])
    return out


def statements(text):
    blocks = re.split(r"\n\n", text)
    found = {}
    for b in blocks:
        m = re.match(r"s(\d+)  ", b)
        if m:
            found[int(m.group(1))] = rows(b.splitlines()[1:])
    return found


def check(name, text, data):
    told = statements(text)
    if sorted(told) != [s["id"] for s in data["statements"]]:
        return "the statements differ"
    for s in data["statements"]:
        have = told[s["id"]]
        want = {k: [s[k]] for k in ONE if k in s}
        want.update({k: s[k] for k in LIST if s.get(k)})
        if have != want:
            return f"s{s['id']}: text {have}\n  JSON {want}"
        for k in NEEDED:
            if k not in want:
                return f"s{s['id']}: no row {k}"
        n = s["numbers"]
        if n["equal"] != n["tiles"]:
            return f"s{s['id']}: {n['equal']} of {n['tiles']} maps are proved"
        for what in ["contract", "transpose", "stream"]:
            if what not in s["schedule"] and what not in s and \
                    not any(r.startswith(what) for r in s["rejected"]):
                return f"s{s['id']}: no word on why not {what}"
    for t in data["tiles"]:
        row = [t["tensor"], t["type"], str(t["bytes"]), str(t["offset"])]
        line = [x for x in text.splitlines() if x.split()[:4] == row]
        if len(line) != 1 or t["layout"] not in line[0] or \
                not line[0].endswith(t["why"]):
            return f"tile {t['tensor']} is told otherwise in text"
        if not t["why"].startswith(("auto: ", "declared", "a scalar: ")):
            return f"tile {t['tensor']}: {t['why']}"
    return None


def main():
    failed = n = 0
    for path in sorted(glob.glob("kernels/*.axe")):
        kernels = re.findall(r"^kernel (\w+)", open(path).read(), re.M)
        for k in kernels:
            for cpu in ["cpu-avx512", "cpu-avx2", "cpu-base"]:
                text = run(path, k, "-t", cpu)
                data = run(path, k, "-t", cpu, "--json")
                if text is None:
                    continue
                wrong = check(k, text, json.loads(data))
                n += 1
                if wrong:
                    failed += 1
                    print(f"{k} for {cpu}: {wrong}")
            # cycles of one core say nothing of a GPU
            data = run(path, k, "-t", "sm_90a", "--json")
            for st in json.loads(data)["statements"] if data else []:
                if st["numbers"]["cycles"] != -1:
                    failed += 1
                    print(f"{k} for sm_90a: s{st['id']} has cycles")
    print(f"{n} plans, {failed} wrong")
    return failed != 0 or n < 60


if __name__ == "__main__":
    sys.exit(main())
