#!/usr/bin/env python3
"""The library's kernels as nvcc's PTX, run on the host and compared with NumPy.

    run.py AXE SRC              each kernel, in one type
    run.py AXE SRC KERNEL...    these, in all types

Kernels for sm_80 that have a plan are printed, compiled to PTX, and executed by
ptx.py on small odd sizes; the rows, references and bounds are those of
tests/kernels.py.  So the printed text is checked behind the compiler's front
end: indices, addresses, packing, conversions, fragments.  Nothing of it has run
on a GPU.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import ptx

AXE, SRC = sys.argv[1], sys.argv[2]
sys.path.insert(0, str(Path(SRC) / "tests"))
os.environ.setdefault("AXE", AXE)
os.environ.setdefault("SRC", SRC)
import kernels  # noqa: E402

MACHINE = "sm_80"
HERE = [  # kernels of this folder
    kernels.Row("../tests/gate/lanes", "lanes", {"X": "ME", "Z": "MT"}, {"Y": "ME", "W": "MT"},
        lambda x, z: [(x, 0 * x), (2 * z, 0 * z)], ("f32", "f16", "bf16"), ("M", [(5,), (70,)])),
]
kernels.CONSTANT.update(E=8, T=12)
BASE = 4096  # of the first array
OWN = 1 << 20  # bytes for each tensor that is the kernel's own
# Those that are run with indices of 64 bits, too.
WIDE = {"gemm", "softmax", "permute_acb", "scatter_add_rows", "row_argmax", "scan"}


def sizes_of(row):
    """An odd size that is quick, and one of multiples of 8, where rows are
    aligned."""
    most = 250000 if len(row.sizes[0]) == 3 else 15000
    good = [s for s in row.sizes[1] if 0 < np.prod(s) < most]
    odd = max(good or row.sizes[1][:1], key=np.prod)
    return [odd, tuple(n if n < 4 else (n + 7) // 8 * 8 for n in odd)]


def build(row, t, tmp, more):
    kernel, *sets = row.kernel.split()
    stem = tmp / f"{kernel}.{t}"
    command = [AXE, "compile", f"{SRC}/kernels/{row.file}.axe", kernel, "-t", MACHINE]
    command += [f"--set={s}" for s in [f"T={t}"] + sets] + more
    cu, code = stem.with_suffix(".cu"), stem.with_suffix(".ptx")
    nvcc = ["nvcc", f"-arch={MACHINE}", "-ptx", cu, "-o", code]
    for step in (command + ["--emit", "lower", "-o", stem],
                 command + ["--emit", "c", "-o", cu], nvcc):
        r = subprocess.run(step, capture_output=True, text=True)
        if r.returncode:
            said = (r.stderr or r.stdout).split("\n")[0]
            return None, ("nvcc: " if step is nvcc else "no plan: ") + said
    return (stem.read_text(), cu.read_text(), code.read_text()), ""


def grids(lower):
    """(name, threads, expression of the number of CTAs, shared bytes)"""
    for m in re.finditer(
        r"^grid (\w+): (\d+) threads, clusters of 1, (?:persistent, for )?(.*) CTAs, "
        r"(\d+) bytes",
        lower,
        re.M,
    ):
        yield m[1], int(m[2]), m[3], int(m[4])


def number(expression, sizes):
    env = dict(sizes, cdiv=lambda a, b: -(-a // b), min=min, max=max)
    return int(eval(expression.replace("/", "//"), {}, env))


def execute(built, arrays, sizes):
    """arrays: name -> bytes of an array, changed in place"""
    lower, cu, text = built
    code = ptx.read(text)
    at, place = BASE, {}
    for name, a in arrays.items():
        place[name] = at
        at += (a.nbytes + 255) // 256 * 256 + 256
    own = at + 256
    memory = ptx.Memory(own + 4 * OWN)
    memory.there[own:] = True
    for name, a in arrays.items():
        flat = np.ascontiguousarray(a).view(np.uint8).reshape(-1)
        memory.data[place[name] : place[name] + a.nbytes] = flat
        memory.there[place[name] : place[name] + a.nbytes] = True
    for name, n_thread, blocks, shared in grids(lower):
        head = re.search(rf"^{name}\((.*?)\)\n{{", cu, re.M | re.S)[1]
        args = []
        for word in head.split(","):
            word = word.split()[-1].lstrip("*")
            if word[0] == "t" and word[2:] not in place:  # the kernel's own
                place[word[2:]] = own
                own += OWN
            args.append(place[word[2:]] if word[0] == "t" else sizes[word[2:]])
        ptx.launch(code[name], n_thread, number(blocks, sizes), shared, args, memory)
    for name, a in arrays.items():
        raw = memory.data[place[name] : place[name] + a.nbytes]
        arrays[name] = raw.view(a.dtype).reshape(a.shape).copy()


def check(row, t, tmp):
    """What is wrong, "no plan: ...", or None."""
    for more in [[], ["--wide"]] if row.kernel in WIDE else [[]]:
        built, why = build(row, t, tmp, more)
        if not built:
            return f"{why} ({row.kernel} {t})"
        for size in sizes_of(row):
            wrong = check_size(row, t, built, size)
            if wrong:
                return " ".join([row.kernel, t, *more, f"{size}: {wrong}"])
    return None


def check_size(row, t, built, size):
    n = dict(kernels.CONSTANT, **dict(zip(row.sizes[0], size)))
    arrays, values = make_arrays(row, t, n)
    try:
        execute(built, arrays, dict(zip(row.sizes[0], size)))
    except (ptx.Wrong, AttributeError, KeyError) as e:
        return f"{type(e).__name__}: {e}"
    with np.errstate(all="ignore"):
        wants = row.f(*values)
    for (name, _), (want, mag) in zip(row.outs.items(), wants):
        e = kernels.element(row, name, t)
        got = kernels.decode(arrays[name], e)
        bad = (
            kernels.quantised(got, want)
            if (row.kernel, name) == ("quantise", "Q")
            else kernels.wrong(got, want, mag, e, t)
        )
        if bad:
            return f"{bad} of {got.size} elements of {name} are wrong"
    return None


def stored(row, name, t):
    """The NumPy type of an array's elements, or of their bits."""
    e = kernels.element(row, name, t)
    return kernels.STORED.get(e) or e[0] + str(int(e[1:]) // 8)


def make_arrays(row, t, n):
    """Those that are read, as bytes and as numbers; results are all 77."""
    rng = np.random.default_rng(1)
    arrays, values = {}, []
    for name, dims in row.ins.items():
        e, shape = kernels.element(row, name, t), [n[d] for d in dims]
        if e == "f8e4m3":
            arrays[name] = rng.integers(0, 0x7F, shape, np.uint8)
            values.append(kernels.decode(arrays[name], e))
            continue
        made = kernels.MADE.get((row.kernel.split()[0], name))
        if made:
            x = made(rng, n)
        elif name == "rows":
            x = rng.integers(-1, n["V"] + 1, shape).astype(float)
        elif e[0] in "iu":
            x = rng.integers(0 if e[0] == "u" else -9, 9, shape).astype(float)
        else:
            x = rng.standard_normal(shape)
        arrays[name] = kernels.encode(x, e)
        values.append(kernels.decode(arrays[name], e))
    for name, dims in row.outs.items():
        if name not in arrays:
            arrays[name] = np.full([n[d] for d in dims], 77, stored(row, name, t))
    return arrays, values


def jobs(only):
    """Every row in one type, in turn; of the kernels named, in all."""
    turn, done = itertools.count(), set()
    for row in kernels.ROWS + HERE:
        types = [t for t in row.types if t != "f64" and (row.kernel, t) not in done]
        if only and row.kernel.split()[0] not in only:
            continue
        for t in types if only else types and [types[next(turn) % len(types)]]:
            done.add((row.kernel, t))
            yield row, t


def one(job):
    row, t = job
    with tempfile.TemporaryDirectory() as tmp:
        return check(next(r for r in kernels.ROWS + HERE if r.kernel == row), t, Path(tmp))


def main():
    todo = [(row.kernel, t) for row, t in jobs(sys.argv[3:])]
    none, bad = [], []
    with ProcessPoolExecutor(2) as pool:
        for s in pool.map(one, todo):
            if s:
                print(s, flush=True)
                (none if s.startswith("no plan") else bad).append(s)
    print(f"{len(todo)} kernels: {len(none)} have no plan, {len(bad)} are wrong")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
