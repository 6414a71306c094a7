#!/usr/bin/env python3
"""examples/minilm/minilm.axe with small random weights, packed and not, against NumPy in double.

Sentences are of one token, of several blocks of queries and keys, and none at all.
Usage: minilm.py, with AXE and SRC in the environment, in a folder of its own.
"""
import math
import os
import subprocess
import sys

import numpy as np

L, H, D, F, V, P = 2, 2, 32, 80, 50, 70
LENGTHS = [5, 1, 40, 2, 66, 33]
R = np.random.default_rng(1)
MATRICES = {"QKV": (L * 3 * D, D), "O": (L * D, D), "Up": (L * F, D), "Down": (L * D, F)}
VECTORS = {"qkv": (L, 3 * D), "o": (L, D), "up": (L, F), "down": (L, D), "G": (2 * L + 1, D), "B": (2 * L + 1, D)}


def normalise(x, g, b):
    x = x - x.mean(1, keepdims=True)
    return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-12) * g + b


def encode(w, tokens):
    """One sentence."""
    x = normalise(w["word"][tokens] + w["place"][:len(tokens)], w["G"][0], w["B"][0])
    for l in range(L):
        def times(y, name):
            return y @ w[name].reshape(L, -1, w[name].shape[1])[l].T + w[name.lower()][l]
        q, k, v = times(x, "QKV").reshape(len(x), 3, H, -1).transpose(1, 2, 0, 3)
        s = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(D / H))
        s /= s.sum(2, keepdims=True)
        y = times((s @ v).transpose(1, 0, 2).reshape(len(x), D), "O")
        x = normalise(x + y, w["G"][2 * l + 1], w["B"][2 * l + 1])
        y = times(x, "Up")
        y = y * (1 + np.vectorize(math.erf)(y / math.sqrt(2))) / 2
        x = normalise(x + times(y, "Down"), w["G"][2 * l + 2], w["B"][2 * l + 2])
    return x.mean(0) / np.linalg.norm(x.mean(0))


def rounded(x):
    """To bf16: its bits, and its value."""
    u = x.view("u4")
    u = (u + 0x7fff + (u >> 16 & 1) >> 16).astype("u2")
    return u, (u.astype("u4") << 16).view("f4")


def axe(*args):
    p = subprocess.run([os.environ["AXE"], *args], capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"axe {' '.join(args)}\n{p.stdout}{p.stderr}")


def main():
    text = os.environ["SRC"] + "/examples/minilm/minilm.axe"
    w = {n: 0.5 * R.standard_normal(s, dtype="f4") for n, s in
         (MATRICES | VECTORS | {"word": (V, D), "place": (P, D)}).items()}
    first = np.cumsum([0] + LENGTHS, dtype="i4")
    ints = {"token": R.integers(0, V, first[-1], dtype="i4"), "first": first,
            "at": np.concatenate([np.arange(n, dtype="i4") for n in LENGTHS])}
    for how in (["f32"], ["f32", "packed"], ["bf16", "packed"], ["f32", "packed", "-t", "cpu-avx2"]):
        have = dict(w)
        for n in [*MATRICES, "word", "place"] if how[0] == "bf16" else []:
            bits, have[n] = rounded(w[n])
            np.save(n + ".npy", bits)
        for n, a in (ints | (w if how[0] == "f32" else {v: w[v] for v in VECTORS})).items():
            np.save(n + ".npy", a)
        near = f"NEAR={int(how[0] == 'bf16')}"
        sets = [f"--set={s}" for s in (f"T={how[0]}", f"L={L}", f"H={H}", f"D={D}", f"F={F}", near)] + how[2:]
        files = {n: n + ".npy" for n in [*ints, *w]}
        for n in MATRICES if "packed" in how else ():
            files[n] = n + ".axt"
            axe("pack", text, f"{n}={n}.npy", *sets, "-o", files[n])
        axe("run", text, *sets, "--threads", "2", *(f"{n}={f}" for n, f in files.items()), "Y=y.npy")
        y = np.load("y.npy").astype("f8")
        want = np.stack([encode(have, ints["token"][a:b]) for a, b in zip(first, first[1:])])
        off = abs(y - want).max()
        if not off < (2e-6 if how[0] == "f32" else 2e-2):
            sys.exit(f"{' '.join(how)}: off by {off}")


if __name__ == "__main__":
    main()
