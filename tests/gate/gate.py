#!/usr/bin/env python3
"""Compile every kernel of kernels/ for every GPU that has a plan for it, with
nvcc, and look at what came out.  No GPU is needed, and nothing runs on one.

    gate.py AXE SRC [KERNEL...]            compare with tests/gate/golden.txt
    UPDATE=1 gate.py AXE SRC [KERNEL...]   write it, or the lines of these
    GATE_ALL=1 gate.py AXE SRC             compile all of them

A text is compiled if the golden was made from another one or by another nvcc,
and one in eight whatever the golden says; kernels that are named always are.

Wrong, whatever the golden says: nvcc refuses the text; a message (C75..) of
ptxas, which says that wgmma was made to wait; spills, a stack, a call; a
tensor, copy or matrix instruction that the text has and the machine code has
not.  Compared with the golden: a kernel that has a plan no more; fences
(MEMBAR, CCTL) other than they were, as those of a whole GPU come without a
message; more than 16 registers or a third of code more than there were; more
lanes elected (ELECT: ptxas loops over lanes around what a tensor core is asked,
where it does not know that one thread asks); longer turns of loops with products
in tensor memory; fewer exponentials in front of a wait for products; more
selects beside products of warp groups, or loads from global memory behind one
of sums in a loop.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sass

MACHINES = ["sm_80", "sm_90a", "sm_100a"]
# Kernels that are compiled with other parameters, too.
ALSO = {
    "gemm": [["T=f16"], ["T=bf16"]],
    "gemm_nn": [["T=f16"]],
    "gemm_tn": [["T=f16"]],
    "gemm_tt": [["T=f16"]],
    "gemm_batched": [["T=f16"]],
    "linear": [["T=f16"]],
    "conv2d": [["T=f16"]],
    "attention": [["T=f16"]],
    "attention_mma": [["T=bf16"], ["CAUSAL=1"], ["D=64"], ["D=64", "CAUSAL=1"]],
    "attention_sm90": [["T=bf16"], ["CAUSAL=1"], ["D=64"]],
    "attention_sm100": [["T=bf16"], ["CAUSAL=1"], ["D=64"], ["D=64", "CAUSAL=1"]],
    "attention_varlen_sm90": [["D=64", "CAUSAL=1"]],
    "gemm_sm100": [["DYNAMIC=1"], ["DYNAMIC=1", "CLUSTER=1", "STAGES=4"], ["CLUSTER=4"]],
    "softmax": [["T=f16"]],
    "moe_sm90": [["BM=8", "BI=64", "BN=128"], ["BM=32", "BI=64", "BN=128"],
                 ["BM=64", "BI=64", "BN=128"], ["BM=80"], ["BM=144"]],
    "moe_f8_sm90": [["BM=16"], ["BM=64"]],
    "moe_sm100": [["BM=16", "BN=128"], ["BM=64"]],
    "moe_f8_sm100": [["BM=16"], ["BM=32"]],
    "gemm_nvfp4_sm100": [["S=f8e8m0", "BLOCK=32"]],
    "gemm_sm90": [["ALONG=1"], ["DIRECT=1"], ["PASS=1"], ["DIRECT=1", "PASS=1"],
                  ["FETCH=24"], ["PING=1", "STAGES=2"]],
}
# What a text that names this must have in its machine code.
MUST = {
    "wgmma.mma_async": {"HGMMA", "QGMMA", "IGMMA"},
    "mma.sync": {"HMMA", "IMMA", "DMMA"},
    "cp.async.bulk.tensor": {"UTMALDG", "UTMASTG", "UTMAREDG"},
    "cp.async.c": {"LDGSTS"},
    "ldmatrix": {"LDSM"},
    "stmatrix": {"STSM"},
    "setmaxnreg": {"USETMAXREG"},
    "tcgen05.mma": {"UTCMMA"},
    "tcgen05.commit": {"UTCBAR"},
    "tcgen05.ld": {"LDTM"},
    "tcgen05.st": {"STTM"},
    "tcgen05.cp": {"UTCCP"},
    "clusterlaunchcontrol.try_cancel": {"UGETNEXTWORKID"},
}
FENCES = ["MEMBAR", "CCTL"]
FLAGS = ["-cubin", "-Xptxas", "-v"]
SHARE = 8  # one text in so many is compiled even if it is known


def jobs(src, only):
    """(name, file, kernel, settings, machine)"""
    for path in sorted((src / "kernels").glob("*.axe")):
        for kernel in re.findall(r"^kernel (\w+)", path.read_text(), re.M):
            if only and kernel not in only:
                continue
            for settings in [[]] + ALSO.get(kernel, []):
                for machine in MACHINES:
                    name = " ".join([kernel] + settings + [machine])
                    yield name, path, kernel, settings, machine


def digest(machine, text, nvcc):
    """What the machine code depends on."""
    what = "\n".join([nvcc, machine, *FLAGS, text])
    return int(hashlib.sha256(what.encode()).hexdigest()[:12], 16)


def compile_one(axe, tmp, job, known, nvcc):
    """(name, None) where there is no plan; (name, error); (name, facts), those
    that are known if they are of this text"""
    name, path, kernel, settings, machine = job
    text = tmp / (name.replace(" ", ".").replace("=", "_") + ".cu")
    cubin = text.with_suffix(".cubin")
    command = [axe, "compile", path, kernel, "-t", machine, "--emit", "c", "-o", text]
    for s in settings:
        command += ["--set", s]
    r = subprocess.run(command, capture_output=True, text=True)
    if r.returncode == 1:
        return name, None, r.stderr.split("\n")[0]
    if r.returncode != 0:
        return name, "axe compile: exit status %d\n%s" % (r.returncode, r.stderr), ""
    of = digest(machine, text.read_text(), nvcc)
    if known.get(name, {}).get("of") == of and of % SHARE:
        return name, known[name], ""
    command = ["nvcc", f"-arch={machine}", *FLAGS, text, "-o", cubin]
    r = subprocess.run(command, capture_output=True, text=True)
    log = r.stdout + r.stderr
    if r.returncode != 0:
        return name, "nvcc: " + log, ""
    facts = facts_of(text.read_text(), log, cubin.read_bytes())
    return name, facts | {"of": of}, log


def facts_of(text, log, cubin):
    sizes = sass.kernels(cubin)
    facts = {
        "registers": max(map(int, re.findall(r"Used (\d+) registers", log))),
        "shared": max(map(int, re.findall(r", (\d+) bytes of shared memory", text))),
        "stack": sum(map(int, re.findall(r"(\d+) bytes stack frame", log))),
        "spill": sum(map(int, re.findall(r"(\d+) bytes spill", log))),
        "code": sum(n for n, _ in sizes.values()),
    }
    for _, count in sizes.values():
        for op, n in count.items():
            facts[op] = facts.get(op, 0) + n
    facts["text"] = text
    return facts


def hard(facts, log):
    """What is wrong whatever was before."""
    if "text" not in facts:
        return
    for line in log.split("\n"):
        if "(C75" in line:
            yield line
        if "warning" in line and "#177-D" not in line:
            yield line
    for key in ["stack", "spill"]:
        if facts[key]:
            yield f"{facts[key]} bytes of {key}"
    if facts.get("CALL"):
        yield f"{facts['CALL']} calls"
    for word, ops in MUST.items():
        if word in facts["text"] and not any(facts.get(op) for op in ops):
            yield f"the text has {word}, the code none of {' '.join(sorted(ops))}"


def worse(new, old):
    """What is worse than it was."""
    if new["registers"] > old["registers"] + 16:
        yield f"{new['registers']} registers, were {old['registers']}"
    if new["code"] * 3 > old["code"] * 4:
        yield f"{new['code']} bytes of code, were {old['code']}"
    if "turn" in old and new.get("ELECT", 0) > old.get("ELECT", 0):
        yield f"{new['ELECT']} ELECT, were {old.get('ELECT', 0)}"
    if "turn" in old and new.get("turn", 0) * 10 > old["turn"] * 11:
        yield f"{new['turn']} instructions a turn, were {old['turn']}"
    if new.get("late", 0) < old.get("late", 0):
        yield f"a wait is behind {new.get('late', 0)} MUFU, was behind {old['late']}"
    if new.get("selects", 0) > old.get("selects", 0):
        yield f"{new['selects']} FSEL, were {old.get('selects', 0)}"
    if new.get("exposed", 0) > old.get("exposed", 0):
        yield f"{new['exposed']} LDG behind an LDTM of a loop, were {old.get('exposed', 0)}"
    for key in FENCES:
        if new.get(key, 0) != old.get(key, 0):
            yield f"{new.get(key, 0)} {key}, were {old.get(key, 0)}"


def line_of(name, facts, drop=("text",)):
    rest = [f"{k}={v}" for k, v in facts.items() if k not in drop and v]
    return f"{name}: " + " ".join(rest)


def read_golden(path):
    out = {}
    for line in path.read_text().split("\n") if path.exists() else []:
        if ": " in line and not line.startswith("#"):
            name, rest = line.split(": ")
            out[name] = {k: int(v) for k, v in (w.split("=") for w in rest.split())}
    return out


def version():
    out = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    return re.search(r"V([\d.]+)", out)[1]


def main():
    axe, src, only = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    path = src / "tests" / "gate" / "golden.txt"
    golden, lines, bad, none, n_made = read_golden(path), [], 0, [], 0
    nvcc = version()
    known = {} if only or "GATE_ALL" in os.environ else golden
    with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda j: compile_one(axe, Path(tmp), j, known, nvcc),
                        jobs(src, only))
        for name, facts, log in done:
            wrong = []
            if facts is None:
                none.append(f"{name}: {log}")
                wrong = ["it has no plan any more: " + log] if name in golden else []
            elif isinstance(facts, str):
                wrong = [facts]
            else:
                wrong = list(hard(facts, log))
                n_made += "text" in facts
                lines.append(line_of(name, facts, ("text", "of") if wrong else ("text",)))
                if name in golden:
                    wrong += worse(facts, golden[name])
            if os.environ.get("UPDATE") and not isinstance(facts, str):
                wrong = list(hard(facts, log)) if facts else []
            for w in wrong:
                print(f"{name}: {w}")
            bad += len(wrong)
    if os.environ.get("UPDATE"):
        head = f"# Written by gate.py with nvcc {nvcc}; see there.\n"
        if only:
            kept = (line_of(n, f) for n, f in golden.items() if n.split()[0] not in only)
            lines += kept
        path.write_text(head + "\n".join(sorted(lines)) + "\n")
    for n in none:
        print("no plan: " + n)
    print(f"{len(lines)} kernels, {n_made} compiled by nvcc {nvcc}, the rest as before; "
          f"{len(none)} have no plan, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
