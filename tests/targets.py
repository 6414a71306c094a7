#!/usr/bin/env python3
"""Write, or check, the tables of GPU targets: docs/targets.md and what README.md
says of them between its marks.

A kernel is compiled for a machine if tests/gate/golden.txt has a line of it: the
gate fails on spills, on what ptxas complains of, and on a missing tensor
instruction.  It is simulated if tests/sim.list has one.  It is measured if a
results file of a GPU in bench/results has a row of it.  What the model expects
is asked of axe."""
import glob
import json
import math
import os
import re
import subprocess
import sys

AXE = os.environ["AXE"]
MARK = "<!-- targets: written by tests/targets.py -->\n"
TENSOR = ["HMMA", "HGMMA", "QGMMA", "IGMMA", "DMMA", "UTCMMA"]


def compiled():
    """(kernel, machine) to its lines in the golden: [(set, numbers)]."""
    found = {}
    for line in open("tests/gate/golden.txt"):
        m = re.match(r"(\w+)((?: \w+=\S+)*) (sm_\w+): (.*)", line)
        if m:
            numbers = dict(p.split("=") for p in m[4].split())
            found.setdefault((m[1], m[3]), []).append((m[2].strip(), numbers))
    return found


def simulated():
    found = set()
    for line in open("tests/sim.list"):
        if line.strip() and not line.startswith(("#", "..")):
            _, kernel, machines, *_ = line.split()
            for m in machines.split(","):
                found.add((kernel, {"90": "sm_90a", "100": "sm_100a"}.get(
                    m, "sm_" + m)))
    return found


def measured():
    """(kernel, machine) to the GPUs."""
    found = {}
    for path in sorted(glob.glob("bench/results/*.jsonl")):
        rows = [json.loads(x) for x in open(path)]
        gpu = [r["gpu"] for r in rows if "gpu" in r]
        for r in rows:
            if gpu and "axe_ms" in r:
                found.setdefault((r["kernel"], r["machine"]), set()).add(gpu[0])
    return found


def span(values):
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def row(key, lines, sim, meas):
    def of(name):
        return span([int(n.get(name, 0)) for _, n in lines])
    tensor = [f"{of(t)} {t}" for t in TENSOR
              if any(t in n for _, n in lines)]
    return (f"| `{key[0]}` | {key[1]} | {len(lines)} | {of('registers')} "
            f"| {of('shared')} | {', '.join(tensor) or 'none'} "
            f"| {'yes' if key in sim else 'no'} "
            f"| {', '.join(sorted(meas.get(key, []))) or 'no'} |\n")


def full_table(comp, sim, meas):
    text = """# Kernels on GPUs

Written by `tests/targets.py` from what the tests keep. *Variants* are the sets of parameters that nvcc compiles offline for the machine, with no spill and no
complaint of ptxas; registers of a thread, shared memory in bytes, and tensor-core instructions in the code are over these. *Simulated*: compared with the reference in
the simulator, in three orders, without a finding. *Measured*: on which GPU `bench/gpu` has timed it.
Which kernel is refused for which machine, and why, Trainium among them, is in [machines.md](machines.md).

| kernel | machine | variants | registers | shared | tensor cores | simulated | measured |
|---|---|---|---|---|---|---|---|
"""
    for key in sorted(comp):
        text += row(key, comp[key], sim, meas)
    for key in sorted(sim - set(comp)):
        text += f"| `{key[0]}` | {key[1]} | 0 | | | | yes | no |\n"
    return text


# ------------------------------------------------------------------ the summary

def expect(kernel, sets, sizes):
    """Seconds, and the least that is possible, by the model."""
    args = [AXE, "explain", "--json", f"kernels/{kernel}.axe"]
    for s in sets:
        args += ["--set", s]
    out = subprocess.run(args + sizes, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    if out.returncode != 0:
        sys.exit(out.stderr)
    e = json.loads(out.stdout)["estimates"]
    return sum(x["seconds"] for x in e), sum(x["least"] for x in e)


def table_rows(macro):
    """Arguments of the rows of rows.def."""
    yield from macro_rows("rows", macro)


def macro_rows(table, macro):
    text = open(f"bench/rows/{table}.def").read()
    for m in re.finditer(rf"^{macro}\((.*)\)", text, re.M):
        yield [x[2] or x[1] for x in
               re.finditer(r'"([^"]*)"|([^\s,"]+)', m[1])]


def share(pairs):
    """Geomean of least / expected in percent."""
    logs = [math.log(least / s) for s, least in pairs]
    return f"{100 * math.exp(sum(logs) / len(logs)):.0f} %"


def models():
    gemm = [expect("gemm_sm90", ["T=bf16"],
                   ["M=8192", f"N={n}", f"K={k}"])
            for _, n, k in table_rows("GEMM")]
    fp8 = [expect("gemm_fp8_sm90", [],
                  [f"M={m}", f"N={n}", f"K={k}", f"P={(int(n) + 127) // 128}",
                   f"Q={(int(k) + 127) // 128}"])
           for _, m, n, k in table_rows("FP8")]
    few = [expect("gemm_fp8_small_sm90", words.split(),
                  [f"M={m}", f"N={n}", f"Q={q}", f"P={(int(n) + 127) // 128}"])
           for _, m, n, q, words in table_rows("FEW")]
    heads = [expect("attention_sm90", ["T=bf16", f"CAUSAL={c}"],
                    [f"G={g}", f"R={r}", f"S={s}", f"L={s}"])
             for _, c, g, r, s in table_rows("HEADS")]
    move = [expect(file, [], ["-t", "sm_90a"] +
                   ([] if kernel == "NULL" else [kernel]) + sizes.split())
            for file, kernel, sizes, *_ in table_rows("MOVE")]
    pairs = {"GEMM": gemm, "FP8": fp8, "FEW": few, "HEADS": heads, "MOVE": move}
    return [(what, f">= {least} of {name}", pairs[rows])
            for rows, what, least, _, name, _ in macro_rows("targets", "TARGET")]


def summary(comp, sim, meas):
    machines = sorted({m for _, m in set(comp) | sim}, key=lambda m: (len(m), m))
    text = "\n| machine | kernels compiled offline, no spills | variants " \
           "| simulated, no findings | measured on a GPU |\n|---|---|---|---|---|\n"
    for m in machines:
        keys = [k for k in comp if k[1] == m]
        text += f"| {m} | {len(keys)} | {sum(len(comp[k]) for k in keys)} " \
                f"| {len([k for k in sim if k[1] == m])} " \
                f"| {len([k for k in meas if k[1] == m])} |\n"
    text += "\n| on an H200 | target | measured | the model expects, of what is " \
            "possible |\n|---|---|---|---|\n"
    for name, target, pairs in models():
        text += f"| {name} | {target} | {'see bench/results' if meas else 'no'} " \
                f"| {share(pairs)} |\n"
    return text + "\n"


def put(path, text, write):
    old = open(path).read() if os.path.exists(path) else ""
    if old == text:
        return True
    if write:
        open(path, "w").write(text)
        return True
    for a, b in zip(old.splitlines() + [""] * 999, text.splitlines()):
        if a != b:
            print(f"{path}:\n  has   {a}\n  wants {b}")
            break
    print(f"{path} is not what the tests keep: UPDATE=1 tests/cli/targets.sh")
    return False


def main():
    write = os.environ.get("UPDATE") == "1"
    comp, sim, meas = compiled(), simulated(), measured()
    ok = put("docs/targets.md", full_table(comp, sim, meas), write)
    old = open("README.md").read()
    parts = old.split(MARK)
    if len(parts) != 3:
        sys.exit("README.md: no two marks of the table of targets")
    new = MARK.join([parts[0], summary(comp, sim, meas), parts[2]])
    sys.exit(0 if put("README.md", new, write) and ok else 1)


main()
