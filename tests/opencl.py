#!/usr/bin/env python3
"""opencl.py DEVICES RESULTS - print the table of which kernels run where, and
write it into docs/opencl.md between its marks (UPDATE=1), or check it.

DEVICES is what `axe devices --json` says, RESULTS has lines of
cli.opencl_slow: `runs HOW DEVICE MACHINE KERNEL`, or `refused ...`.  The page
is of both runtimes that tools/setup installs: without them nothing is checked."""
import json
import os
import sys

PAGE = os.path.join(os.environ["SRC"], "docs/opencl.md")
MARK = "<!-- kernels: written by tests/opencl.py -->\n"
RUNTIMES = {"Intel(R) OpenCL": "Intel", "Portable Computing Language": "PoCL"}


def read(devices, results):
    """Columns and kernels in order, and what is said of each pair."""
    platform = {d["number"]: RUNTIMES.get(d["platform"], d["platform"])
                for d in json.load(open(devices))["opencl"]["devices"]}
    columns, kernels, said = set(), set(), {}
    for line in open(results):
        what, how, device, machine, kernel = line.split()
        if how != "sim":
            width = int("0" + machine.partition("-sg")[2])
            column = int(device), platform[int(device)], width
            columns.add(column)
            kernels.add(kernel)
            said[kernel, column] = "yes" if what == "runs" else "no"
    return sorted(columns), sorted(kernels), said


def table(columns, kernels, said):
    head = ["kernel"] + [f"{p}, {w} lanes" if w else f"{p}, none"
                         for _, p, w in columns]
    rows = [head, ["---"] * len(head)]
    rows += [[f"`{k}`"] + [said.get((k, c), "-") for c in columns]
             for k in kernels]
    return "".join("| " + " | ".join(r) + " |\n" for r in rows)


def differs(page, text):
    """In a head, in a kernel, or where something ran: only a part of all has."""
    cells = [[line.split(" | ") for line in t.splitlines()] for t in (page, text)]
    return (len(cells[0]) != len(cells[1]) or cells[0][0] != cells[1][0] or
            any(y not in ("-", "- |") and y != x
                for a, b in zip(*cells, strict=True) for x, y in zip(a, b, strict=True)))


def main():
    columns, kernels, said = read(*sys.argv[1:])
    text = table(columns, kernels, said)
    print(text + "%d of %d run" % (list(said.values()).count("yes"), len(said)))
    if {p for _, p, _ in columns} != set(RUNTIMES.values()):
        return 0
    page = open(PAGE).read().split(MARK)
    if len(page) != 3:
        print(f"{PAGE}: it has no two lines {MARK.strip()}")
        return 1
    if page[1].strip() == text.strip():
        return 0
    if not os.environ.get("UPDATE"):
        wrong = differs(page[1].strip(), text.strip())
        print("docs/opencl.md has another table: OPENCL_ALL=1 UPDATE=1 writes it\n" * wrong, end="")
        return int(wrong)
    page[1] = f"\n{text}\n"
    open(PAGE, "w").write(MARK.join(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
