#!/usr/bin/env python3
"""corners.py - integers at the ends of their types, on all machines.

    corners.py AXE FOLDER [MACHINE...]

Every operation on all pairs of a type's ends, numbers near them, near 0 and
near halves, against Python's integers.  FOLDER has corners.axe.  Machines:
cpu, cpu-base ...: this processor; sm_80 ...: simulated; ptx_80 ...: the printed
text, by the driver that the environment names (tests/cli/ptx_slow.sh)."""
import os
import subprocess
import sys
import tempfile

import numpy

TYPES = "i8 u8 i16 u16 i32 u32 i64 u64".split()


def corners(bits, signed):
    half = 1 << (bits - 1)
    near = [0, half, half // 2, 1 << bits // 2]
    found = {(x + d) & (2 * half - 1) for x in near for d in range(-3, 4)}
    found |= {5, 7, bits - 1, bits, bits + 1, (-7) & (2 * half - 1)}
    return sorted(x - 2 * half if signed and x >= half else x for x in found)


def wrapped(x, bits, signed):
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def wanted(a, b, bits, signed):
    """language.md's, by integers that have no end."""
    def cut(x):
        return wrapped(x, bits, signed)

    return {
        "add": a + b, "sub": a - b, "mul": a * b,
        "div": a // b if b else 0, "rem": a % b if b else a,
        "low": min(a, b), "high": max(a, b), "neg": -a, "mag": abs(a),
        "both": a & b, "one": a ^ b,
        "left": a << b if 0 <= b < bits else 0,
        "right": a >> b if 0 <= b < bits else -(a < 0),
        "top": a * b >> bits, "less": a < b, "same": a == b,
        "mean": cut(a + b) // 3, "half": cut(a * b) >> 1,
        "wraps": cut(a + 1) < a}


def check(axe, kernel, kind, how):
    """How many results are wrong."""
    signed, bits = kind[0] == "i", int(kind[1:])
    dtype = numpy.dtype(("" if signed else "u") + f"int{bits}")
    of = corners(bits, signed)
    pairs = [(a, b) for a in of for b in of]
    with tempfile.TemporaryDirectory() as d:
        for name, k in ("A", 0), ("B", 1):
            numpy.save(f"{d}/{name}.npy",
                       numpy.array([p[k] for p in pairs], dtype))
        names = list(wanted(0, 0, bits, signed))
        p = subprocess.run(
            [axe, *how, kernel, "--set", f"T={kind}", "--check",
             f"A={d}/A.npy", f"B={d}/B.npy"] +
            [f"{n}={d}/{n}.npy" for n in names],
            capture_output=True, text=True)
        if p.returncode:
            print(kind, *how, p.stdout[-300:], p.stderr[-600:])
            return 1
        got = {n: numpy.load(f"{d}/{n}.npy").tolist() for n in names}
    wrong = 0
    for i, (a, b) in enumerate(pairs):
        for n, v in wanted(a, b, bits, signed).items():
            v = v if isinstance(v, bool) else wrapped(v, bits, signed)
            if got[n][i] != v:
                wrong += 1
                if wrong < 5:
                    print(f"{kind} {' '.join(how)}: {n} of {a} and {b} is "
                          f"{got[n][i]}, not {v}")
    return wrong


def main():
    axe, folder, machines = sys.argv[1], sys.argv[2], sys.argv[3:]
    kernel = os.path.join(folder, "corners.axe")
    wrong = 0
    for m in machines or ["cpu", "sm_80"]:
        how = ["sim", "-t", m]
        if m.startswith("cpu"):
            how = ["run", "-t", m]
        elif m.startswith("ptx"):
            how = ["run", "--no-tuned", "-t", "sm" + m[3:]]
        wrong += sum(check(axe, kernel, t, how) for t in TYPES)
    sys.exit(wrong > 0)


main()
