#!/usr/bin/env python3
"""Operations on integers and their bits in every type, against Python's own.

Each type is one kernel of all operations; its arrays have the ends of the type,
zeros, and shifts beyond it.  The simulator runs the same text for a GPU.
"""
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

AXE = os.environ["AXE"]
N = 600
TYPES = ["u64", "i64", "u32", "i32", "u16", "i16", "u8", "i8"]
WIDE = ["cpu", "cpu-base"]


def bits_of(t):
    return int(t[1:])


def floor_div(x, y, w):
    return x // y if y else 0


def shl(x, y, w):
    return x << y if 0 <= y < w else 0


def shr(x, y, w):
    return x >> y if 0 <= y < w else -(x < 0)


# name, the expression of x and y, what it is of integers with w bits
OPS = [
    ("and", "x & y", lambda x, y, w: x & y),
    ("or", "x | y", lambda x, y, w: x | y),
    ("xor", "x ^ y", lambda x, y, w: x ^ y),
    ("not", "~x", lambda x, y, w: ~x),
    ("shl", "x << y", shl),
    ("shr", "x >> y", shr),
    ("shr3", "x >> 3", lambda x, y, w: x >> 3),
    ("mulhi", "mulhi(x, y)", lambda x, y, w: x * y >> w),
    ("popcount", "popcount(x)",
     lambda x, y, w: bin(x & (1 << w) - 1).count("1")),
    ("clz", "clz(x)", lambda x, y, w: w - (x & (1 << w) - 1).bit_length()),
    ("div", "x / y", floor_div),
    ("mod", "x % y", lambda x, y, w: x % y if y else x),
    ("mix", "x & 0x5a ^ y << 2 | 3 + y",
     lambda x, y, w: x & 0x5a ^ shl(y, 2, w) | 3 + y),
    ("min", "min(x, y)", lambda x, y, w: min(x, y)),
    ("max", "max(x, y)", lambda x, y, w: max(x, y)),
    ("less", "x < y ? x : 1", lambda x, y, w: x if x < y else 1),
]


def kernel(ops):
    args = "".join(f", out T {n}_[N]" for n, _, _ in ops)
    body = "".join(f"        {n}_[i*256 + n] = "
                   + text.replace("x", "@").replace("ma@", "max")
                   .replace("0@", "0x").replace("@", "X[i*256 + n]")
                   .replace("y", "Y[i*256 + n]") + ";\n"
                   for n, text, _ in ops)
    return (f"kernel k<type T>(in T X[N], in T Y[N]{args})\n{{\n    index n;\n\n"
            f"    cta (i : N by 256) {{\n{body}    }}\n}}\n")


def wrapped(v, t):
    w = bits_of(t)
    v &= (1 << w) - 1
    return v - (1 << w) if t[0] == "i" and v >> w - 1 else v


def numbers(t, rng, counts):
    lo, hi = wrapped(1 << bits_of(t) - 1, t), 0
    if t[0] == "u":
        lo, hi = 0, (1 << bits_of(t)) - 1
    else:
        hi = -lo - 1
    a = [int(rng.integers(0, 1 << 62)) * 4 + rng.integers(0, 4) for _ in range(N)]
    a = [wrapped(int(v) >> int(rng.integers(0, 60)), t) for v in a]
    if counts:
        a[::2] = [int(v) for v in rng.integers(0, 70, (N + 1) // 2)]
    ends = [lo, hi, 0, 1, lo + 1, hi - 1, -1 if lo < 0 else hi // 2 + 1]
    for i in range(49):
        a[i] = ends[i // 7 if counts else i % 7]
    return [wrapped(v, t) for v in a]


def run(command):
    p = subprocess.run([AXE, *command], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        print(" ".join(command), p.stdout, sep="\n")
    return p.returncode == 0


def check(t, machine, folder, path, x, y):
    out = {n: f"{folder}/{n}.npy" for n, _, _ in OPS}
    args = [f"X={folder}/x.npy", f"Y={folder}/y.npy", "--set", f"T={t}"]
    if machine.startswith("sm_"):
        return not run(["sim", path, "-t", machine, *args, "--check"])
    if not run(["run", path, "-t", machine, *args, "--check"]
               + [f"{n}_={f}" for n, f in out.items()]):
        return 1
    failed = 0
    for n, text, f in OPS:
        got = np.load(out[n]).tolist()
        want = [wrapped(f(a, b, bits_of(t)), t) for a, b in zip(x, y)]
        bad = [i for i in range(N) if got[i] != want[i]]
        if bad:
            i = bad[0]
            print(f"{text} of {t} on {machine}: {len(bad)} wrong, x = {x[i]}, "
                  f"y = {y[i]} gives {got[i]}, not {want[i]}")
            failed += 1
    return failed


# Of Random123's kat_vectors: counter, key, words.
PHILOX = [("00000000 00000000 00000000 00000000", "00000000 00000000",
           "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
          ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
           "408f276d 41c83b0e a20bc7c6 6d5451fd"),
          ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
           "d16cfe09 94fdcceb 5001e420 24126ea1")]


def check_philox(folder):
    failed = 0
    for row, machine in itertools.product(PHILOX, WIDE):
        c, key, want = (np.array([int(x, 16) for x in r.split()], "u4")
                        for r in row)
        np.save(f"{folder}/c.npy", c.reshape(4, 1))
        np.save(f"{folder}/key.npy", key)
        ok = run(["run", "kernels/dropout.axe", "random_words", "-t", machine,
                  f"C={folder}/c.npy", f"key={folder}/key.npy",
                  f"W={folder}/w.npy"])
        got = np.load(f"{folder}/w.npy") if ok else c
        if (got.ravel() != want).any():
            print(f"philox of {row[0]}: {' '.join(f'{int(x):08x}' for x in got)}")
            failed += 1
    return failed


def main():
    rng = np.random.default_rng(1)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        failed += check_philox(folder)
        path = f"{folder}/k.axe"
        with open(path, "w") as f:
            f.write(kernel(OPS))
        for t in TYPES:
            x, y = numbers(t, rng, False), numbers(t, rng, True)
            dtype = t.replace("u", "uint").replace("i", "int", t[0] == "i")
            np.save(f"{folder}/x.npy", np.array(x, dtype))
            np.save(f"{folder}/y.npy", np.array(y, dtype))
            for machine in WIDE + ["sm_80"]:
                failed += check(t, machine, folder, path, x, y)
    print(f"{len(TYPES)} types, {len(OPS)} operations, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
