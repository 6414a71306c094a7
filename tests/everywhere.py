#!/usr/bin/env python3
"""Write, or check, docs/machines.md: which kernel of the library is planned and
printed for which machine, and why the others are not.

Each kernel is compiled with its defaults for each machine as far as its text.
Where only `target` in its text says no, it is asked again without.  A refusal
whose reason is none of REASONS is a failure, as is a row that has changed.  With
AXE_SHARE=N the rows of every Nth file are compared, and nothing else."""
import os
import re
import subprocess
import sys
import tempfile

from share import share

AXE = os.environ["AXE"]
PAGE = "docs/machines.md"

# A part of the message, the word in the table, what it means and the way out.
REASONS = [
    ("for which no order was found", "roles",
     "one core runs `roles` one after the other, and how often `while` runs in each of them is not known. "
     "Write loops with counts, or one loop that produces and consumes, as `kernels/gemm.axe` does."),
    ("has no registers for elements of", "types",
     "the machine has no registers for elements of a type: of 4 bits; on a Trainium also integers, but as indices of rows."),
    ("has no barriers that roles wait at", "mbarriers",
     "roles hand over stages by barriers in shared memory that count arrivals, which sm_80 has not."),
    ("has no tensor memory for", "tensor memory",
     "sums are declared `tmem`; declare them `reg`."),
    ("of shared memory; one of", "shared memory",
     "the tiles and stages of the defaults do not fit the machine: smaller tiles or fewer stages."),
    ("is folded into by several tasks of", "folds",
     "tasks fold into one element, which takes an atom that CPUs and most OpenCL devices have not; write "
     "`cta deterministic`, which gives them an order."),
    ("may be one element for several tasks of", "folds", None),
    ("this cta takes", "threads",
     "scopes of warps and warp groups name more threads than a CTA of the machine has: fewer warps, or `threads`."),
    ("this needs threads up to", "threads", None),
    ("of the named barriers", "named barriers",
     "parts of a CTA wait for one another by barriers with numbers, of which OpenCL has one, of the whole work-group."),
    ("far below the machine's best", "no atom",
     "no tensor-core atom takes the tile's extents or types; with `slow` it runs by multiply-adds."),
    ("registers for a thread", "registers",
     "a thread's share of the sums is more than its registers hold: smaller tiles."),
    ("writes no elements whose places are computed", "scatter",
     "of two writes of one element the last stays, and a Trainium's transfers by indices keep no order."),
    ("has no instruction for", "instructions",
     "no engine of the machine computes it; here it is a choice by values."),
    ("runs loops whose counts are known", "counts",
     "a Trainium's program is made with the kernel's loops unrolled, so that a loop cannot depend on data."),
    ("has no rows that take hints to its caches", "hints",
     "what is moved is to stay in the caches (`evict_last`), which GPUs' copies can be asked for."),
    ("fills one stage of a pipeline at a time", "stages",
     "stages of a pipeline are filled ahead; a Trainium's transfers run ahead by themselves: write `produce`, then `consume`."),
    ("runs roles one after the other", "roles", None),
    ("do not see one another's elements", "partitions",
     "a tile is cut so that one statement needs elements of two partitions; cut it by multiples of 128, or not by hand."),
    ("the index over partitions is not that of the tile", "partitions", None),
    ("is over its partitions", "partitions", None),
]


def machines():
    out = subprocess.run([AXE, "help", "targets"], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    rows = [x.split() for x in out.splitlines()]
    rows = [x for x in rows if len(x) > 2 and x[1] in ("cpu", "nvidia", "opencl", "trainium")]
    return [x[0] for x in rows if x[0] != "cpu"], {x[0]: x[1] for x in rows}


def compiled(path, kernel, machine):
    """The first error, or None."""
    out = subprocess.run([AXE, "compile", path, kernel, "-t", machine,
                          "-o", os.devnull, "--emit", "c"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if out.returncode == 0:
        return None
    found = re.search(r"error: (.*)", out.stderr)
    return found[1] if found else out.stderr or f"status {out.returncode}"


def word_of(message):
    for part, word, _ in REASONS:
        if part in message:
            return word
    return None


def cell(path, bare, kernel, machine, unknown):
    message = compiled(path, kernel, machine)
    if message is None:
        return "yes"
    told = bool(re.search(r"is for [\w, -]+, not for", message))
    if told:
        message = compiled(bare, kernel, machine)
    if message is None:
        return "`target`"
    word = word_of(message)
    if not word:
        unknown.append(f"{kernel} on {machine}: {message}")
    return word or "?"


def column(cells):
    """One cell of several machines: what most say, and who differs."""
    most = max(cells.values(), key=list(cells.values()).count)
    other = [f"{m}: {c}" for m, c in cells.items() if c != most]
    return ", ".join([most] + other)


def rows():
    names, family = machines()
    cpus = [m for m in names if family[m] == "cpu"]
    gpus = [m for m in names if family[m] == "nvidia"]
    opencl = [m for m in names if family[m] == "opencl"]
    trn = [m for m in names if family[m] == "trainium"]
    unknown, table = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for file in share(sorted(f for f in os.listdir("kernels") if f.endswith(".axe"))):
            path, bare = f"kernels/{file}", f"{tmp}/{file}"
            text = open(path).read()
            open(bare, "w").write(re.sub(r"(?m)^ *target [\w, -]+$", "", text))
            for kernel in re.findall(r"(?m)^kernel (\w+)", text):
                of = {m: cell(path, bare, kernel, m, unknown) for m in names}
                table.append([kernel, column({m: of[m] for m in cpus})] +
                             [of[m] for m in gpus] +
                             [column({m: of[m] for m in opencl})] +
                             [of[m] for m in trn])
    return gpus + ["OpenCL"] + trn, table, unknown


def line(row):
    return f"| `{row[0]}` | {' | '.join(row[1:])} |\n"


def page(others, table):
    text = """# Which kernel runs where

Written by `tests/everywhere.py`, which compiles each kernel of the library for each machine with its defaults, as far as the text that a compiler takes.
*yes*: as it stands. *`target`*: its text says that it is for others, and without that clause it is planned for this one, too. Another word is the reason why it is
not, even without the clause; what it means stands below. CPUs and OpenCL are all that `axe help targets` lists: of OpenCL, sub-groups of 8 to 64 items and none. Which of these are compared with what they should compute:
all that run on a CPU (`tests/kernels.py`); on GPUs see [targets.md](targets.md), on OpenCL [run.md](run.md).

"""
    text += f"| kernel | CPUs | {' | '.join(others)} |\n|---|---|{'---|' * len(others)}\n"
    text += "".join(map(line, table))
    used = {w for r in table for c in r[1:] for w in re.split(r", \S+: |, ", c)}
    text += "\n| reason | what it means, and the way out |\n|---|---|\n"
    for _, word, long in REASONS:
        if long and word in used:
            text += f"| {word} | {long} |\n"
    return text + """
Layouts never are a reason: where a tile of a kernel is laid out over `lane`, `warp`, `reg` and the like, is replicated, or swizzled, a machine without threads takes it as open,
and `axe explain` says so. The kernels of `tests/machines` are compared with the reference on a CPU and on the three simulated GPUs.
"""


def main():
    others, table, unknown = rows()
    for u in unknown:
        print(f"no reason that the page knows: {u}")
    old = open(PAGE).read() if os.path.exists(PAGE) else ""
    if os.environ.get("AXE_SHARE"):
        wrong = [r for r in map(line, table) if r not in old]
        print("".join(wrong), end="")
        sys.exit(1 if unknown or wrong or not table else 0)
    text = page(others, table)
    if os.environ.get("UPDATE") == "1":
        open(PAGE, "w").write(text)
    elif old != text:
        for a, b in zip(old.splitlines() + [""] * 999, text.splitlines()):
            if a != b:
                print(f"{PAGE}:\n  has   {a}\n  wants {b}")
                break
        print(f"{PAGE} is not what axe says: UPDATE=1 tests/cli/everywhere.sh")
        sys.exit(1)
    sys.exit(1 if unknown else 0)


main()
