#!/usr/bin/env python3
"""Count integer divisions and remainders inside the loops of statements.

A statement of a lowered kernel is what follows a `; statement` note.  In its
loops that have no loops inside, there must be no `/`, `%` or `cdiv` at all; in
the others only such as depend on what the loop itself defines.  In the C text
innermost loops are looked at likewise.
"""
import glob
import os
import re
import subprocess
import sys

AXE = os.environ["AXE"]
CPUS = ["cpu-avx512", "cpu-avx2", "cpu-base"]


def run(*args):
    p = subprocess.run([AXE, "compile", *args], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    return p.stdout if p.returncode == 0 else None


def depth(line):
    return (len(line) - len(line.lstrip())) // 2


def in_lowered(text):
    """Lines with a division in a loop of a statement that should not be there."""
    loops, statement, found = [], None, []

    def close(d):
        while loops and loops[-1]["depth"] >= d:
            loop = loops.pop()
            for line in loop["divides"]:
                names = set(re.findall(r"[A-Za-z_][\w.]*", line))
                if not loop["nested"] or not names & loop["defined"]:
                    found.append(line)

    for line in text.splitlines() + ["end"]:
        d = depth(line)
        word = line.strip()
        close(d)
        if statement is not None and d < statement:
            statement = None
        if word.startswith("; statement"):
            statement = d
        if statement is None:
            continue
        if loops and re.search(r"[/%]|\bcdiv\b", word) and word[0] != ";":
            let = word.split(" = ", 1)[-1]
            loops[-1]["divides"].append(let)
        m = re.match(r"(let|for|take) ([\w.]+)", word)
        if m and loops:
            loops[-1]["defined"].add(m.group(2))
        if m and m.group(1) == "for":
            for loop in loops:
                loop["nested"] = True
            loops.append({"depth": d, "divides": [], "nested": False,
                          "defined": {m.group(2)}})
    return found


INTEGER = re.compile(r"\b[vls]_[\w$]+\)* [/%] |[/%] [(\d]|[/%] [vls]_|"
                     r"axe_(div|mod)\(")


def in_c(text):
    """Lines with a division of integers in a loop without loops."""
    body = text[text.index("axe_entry"):].splitlines()
    stack, found = [], []
    for i, line in enumerate(body):
        d = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= d and line.strip():
            start = stack.pop()
            if not start[2]:
                found += [x.strip() for x in body[start[1] + 1:i]
                          if INTEGER.search(re.sub(r"/\*.*?\*/", "", x))]
        if re.match(r"\s*for \(", line):
            for s in stack:
                s[2] = True
            stack.append([d, i, False])
    return found


def main():
    failed = n = 0
    for path in sorted(glob.glob("kernels/*.axe")):
        for k in re.findall(r"^kernel (\w+)", open(path).read(), re.M):
            for cpu in CPUS:
                for stage, look in [("lower", in_lowered), ("c", in_c)]:
                    text = run(path, k, "-t", cpu, "--emit", stage)
                    if text is None:
                        continue
                    n += 1
                    found = look(text)
                    if found:
                        failed += 1
                        print(f"{k} for {cpu}, {stage}: {len(found)}")
                        for line in found[:4]:
                            print(f"    {line[:150]}")
    print(f"{n} texts, {failed} with divisions in loops")
    return failed != 0 or n < 100


if __name__ == "__main__":
    sys.exit(main())
