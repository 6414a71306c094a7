#!/usr/bin/env python3
"""Compare the fragments of src/machine/nvidia/atoms.def with a file of vectors.

    fragments.py ATOMS.def FILE.jsonl

ATOMS.def comes through the C preprocessor, since some rows are made by macros.
A vector says which element of a tile each value of each thread is:
map_rowmajor[thread][value].  A row says where each element is, as a layout over
thread axes and reg.  Both are enumerated here, without the layout library.
Vectors of machines and types that no row has are named; every row in registers
that some vector could speak of, but none does, is, too.
"""

import json
import re
import sys
from itertools import product

# Vectors that no row is for, and why.
NONE = [
    (r"^SM70_", "sm_70: quads of threads"),
    (r"^SM120_", "sm_120"),
    (r"^tmem_.*2 M-tiles", "two rows side by side"),
    (r"S4S4|U1U1", "elements of 4 bits and of 1"),
]
TYPE = {"E4M3": "e4m3", "E5M2": "e5m2"}
AXES = {"lane": 1, "wid": 32, "tlane": 1}
REGS = ("reg", "tcol")


def strings(line):
    return re.findall(r'"((?:[^"\\]|\\.)*)"', line)


def read_rows(path):
    """name -> operand ("A" "B" "C", "reg") -> layout text"""
    rows = {}
    for row in re.split(r"\b(?=(?:MMA|PRODUCT|MOVE)\()", open(path).read()):
        m = re.match(r"(MMA|PRODUCT|MOVE)\(\s*([\w. ]+),", row)
        if not m:
            continue
        name = m[2].replace(" ", "")
        s = strings(re.sub(r'"\s*"', "", row))
        if m[1] != "MOVE":
            rows[name] = {"C": s[0], "A": s[1], "B": s[2]}
        else:
            reg = [t for t in s[:2] if "@reg" in t]
            rows[name] = {"reg": reg[0] if reg else ""}
    return rows


def number(text, p):
    """Products and quotients of numbers and P, from left to right."""
    value, op = None, "*"
    for word in re.findall(r"\d+|P|[*/]", text):
        if word in "*/":
            op = word
            continue
        x = p if word == "P" else int(word)
        if value is None:
            value = x
        elif op == "*":
            value *= x
        else:
            assert value % x == 0, text
            value //= x
    return value


def flat(text):
    return [t.strip() for t in text.replace("(", "").replace(")", "").split(",")]


def dims(text):
    """ "((2, 8), 4)" -> [2, 1]: iters of each dim"""
    inner = text.strip()[1:-1]
    out, depth, count = [], 0, 1
    for c in inner + ",":
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        elif c == ",":
            if depth == 0:
                out.append(count)
                count = 1
            else:
                count += 1
    return out


def points(text, p):
    """The tile's extents, and (thread, register) of each element, row-major;
    of tensor memory (lane, column) in the first CTA."""
    body = text[text.index("]") + 1 :]
    shape, strides = body.split(":")
    extents = [number(t, p) for t in flat(shape)]
    steps = []
    for t in flat(strides):
        size, _, axis = t.partition("@")
        steps.append((number(size, p), axis.strip()))
    groups, tile, k = dims(shape), [], 0
    for n in groups:
        e = 1
        for x in extents[k : k + n]:
            e *= x
        tile.append(e)
        k += n
    out = []
    for digits in product(*[range(e) for e in extents]):
        thread = reg = 0
        for d, (step, axis) in zip(digits, steps):
            if axis in REGS:
                reg += d * step
            elif axis != "cta":
                thread += d * step * AXES[axis]
        out.append((thread, reg))
    return tile, out


def lower(t):
    return TYPE.get(t, t.lower())


def find(name, operand):
    """The row's name, which operand of it, and P; None: there is none."""
    t = r"(F16|BF16|TF32|F32|F64|S32|S8|E4M3|E5M2)"
    m = re.match(rf"SM\d+_(\d+)x(\d+)x(\d+)_{t}{t}{t}{t}_TN$", name)
    if m:
        d, a, b = (lower(m[i]) for i in (4, 5, 6))
        types = d if d == a == b == "f64" else f"{d}.{a}" + ("" if a == b else "." + b)
        return f"mma.m{m[1]}n{m[2]}k{m[3]}.{types}", operand, 0
    m = re.match(rf"SM90_64x(\d+)x\d+_{t}{t}{t}_RS(_TN)?$", name)
    if m:
        d, a, b = (lower(m[i]) for i in (2, 3, 4))
        types = f"{d}.{a}" + ("" if a == b else "." + b)
        return f"wgmma.{types}.rs", operand, int(m[1])
    m = re.match(r"SM90::GMMA::CLayout_64xN<(\d+)>$", name)
    if m:
        return "wgmma.f32.f16.ss", "C", int(m[1])
    m = re.match(r"SM100_U8x(\d+)_STSM_T$", name)
    if m:
        return f"stmatrix.x{int(m[1]) // 4}.trans.b8", "reg", 16
    m = re.match(r"SM\d+_U(\d+)x(\d)_(LD|ST)SM_(N|T)$", name)
    if m:
        n = int(m[2]) * int(m[1]) // 32
        op = "ldmatrix" if m[3] == "LD" else "stmatrix"
        return f"{op}.x{n}" + (".trans" if m[4] == "T" else ""), "reg", 8
    m = re.match(r"SM100_TMEM_LOAD_(\d+)dp(\d+)b(\d+)x(_16b)?$", name)
    if m:
        pack = ".pack" if m[4] else ""
        return f"tc.ld.{m[1]}x{m[2]}b.x{m[3]}{pack}", "reg", 1
    m = re.match(r"tmem_frg_1sm<f32> M=(\d+) N=(\d+)", name)
    if m:
        return f"tc.f32.f16.m{m[1]}.ss", "C", int(m[2])
    m = re.match(r"tmem_frg_2sm<f32> M=(\d+)\(64/CTA\) N=(\d+)", name)
    if m:
        return f"tc.f32.f16.pair{m[1]}.ss", "C", int(m[2])
    return None


def first_warp(tile, at, shape):
    """Of four warps' 16 or 32 rows the first's; of two CTAs' rows."""
    if tile[0] in (4 * shape[0], 2 * shape[0]) and tile[1:] == shape[1:]:
        n = shape[0]
        for x in shape[1:]:
            n *= x
        return shape, at[:n]
    return tile, at


def check_lanes(v, text, p):
    """Of an accumulator in tensor memory."""
    tile, at = first_warp(*points(text, p), v["tile"])
    if tile != v["tile"]:
        return f"the row's tile is {tile}, the vector's {v['tile']}"
    cols = tile[1]
    lanes = [at[m * cols][0] for m in range(tile[0])]
    row0 = (v["tmem_lane_of_row0"], v["tmem_col_of_row0"])
    if lanes != v["tmem_lane_of_row"] or list(zip(*row0)) != at[:cols]:
        return "rows are in other lanes, or columns elsewhere"
    return None


def check(v, text, p):
    """What is wrong, or None."""
    if "map_rowmajor" not in v:
        return check_lanes(v, text, p)
    shape = v["axe"]["shape"]
    tile, at = first_warp(*points(text, p), shape)
    if tile != shape:
        return f"the row's tile is {tile}, the vector's {shape}"
    for thread, values in enumerate(v["map_rowmajor"]):
        for reg, element in enumerate(values):
            if at[element] != (thread, reg):
                return (
                    f"element {element} is in register {reg} of thread {thread}, "
                    f"but the row has it in register {at[element][1]} of "
                    f"thread {at[element][0]}"
                )
    return None


def main():
    rows = read_rows(sys.argv[1])
    good, bad, without = 0, 0, {}
    seen = set()
    for line in open(sys.argv[2]):
        v = json.loads(line)
        why = next((w for r, w in NONE if re.search(r, v["name"])), None)
        if why:
            without.setdefault(why, []).append(v["name"])
            continue
        found = find(v["name"], v["operand"])
        text = found and rows.get(found[0], {}).get(found[1])
        if not text:
            print(f"no row for {v['name']} {v['operand']}: {found}")
            bad += 1
            continue
        wrong = check(v, text, found[2])
        if wrong:
            print(f"{v['name']} {v['operand']}, {found[0]}: {wrong}")
            bad += 1
        else:
            good += 1
            seen.add(found[0])
    for why, names in sorted(without.items()):
        print(f"no row, {why}: {len(names)} vectors")
    print(f"{good} fragments of {len(seen)} rows are as the vectors say, {bad} not")
    return bad > 0 or good == 0


if __name__ == "__main__":
    sys.exit(main())
