#!/usr/bin/env python3
"""Kernels compiled for cpu-neon, cross-compiled, run by qemu-aarch64.

Rows and judgement are those of kernels.py: each kernel on one odd size in its
first type, gemm in all of its types.  Usage: neon.py [KERNEL...], with AXE and
SRC in the environment, in a folder of its own.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

import numpy as np

import kernels

CC = "aarch64-linux-gnu-gcc"
FLAGS = ["-O1", "-fexpensive-optimizations", "-fno-math-errno",
         "-ffp-contract=fast", "-static", "-w"]
# One kernel for each schedule and kind of operation.
ONE_TYPE = ("gemm_nn", "gemm_i8", "gemv", "softmax", "softmax_causal",
            "layernorm", "gelu", "row_sum", "col_max", "quantise",
            "dequantise", "transpose", "permute_bac", "rope")
ALL_TYPES = ("gemm", "add")


def compiled(row, t):
    """The program, the names of sizes and arrays in its order, scratch."""
    def emit(stage):
        return subprocess.run(
            [os.environ["AXE"], "compile", "-t", "cpu-neon", "--emit", stage,
             f"{os.environ['SRC']}/kernels/{row.file}.axe", row.kernel,
             "--set", f"T={t}"], check=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True).stdout
    text = emit("c")
    program = f"{row.kernel}.{t}"
    with open(program + ".c", "w") as f:
        f.write(text)
    subprocess.run([CC, *FLAGS, program + ".c",
                    f"{os.environ['SRC']}/tests/neon/launch.c", "-o", program],
                   check=True)
    sizes = re.findall(r"s_(\w+) = size\[", text)
    arrays = re.findall(r"t_(\w+) = ptr\[", text)
    scratch = re.search(r"scratch (\d+) bytes", emit("lower")).group(1)
    return program, sizes, arrays, scratch


def run(row, t, size):
    n = dict(zip(row.sizes[0], size))
    n["2"] = 2
    program, sizes, arrays, scratch = compiled(row, t)
    rng = np.random.default_rng(1)
    files, values = {}, []
    for name, dims in {**row.ins, **row.outs}.items():
        e = kernels.element(row, name, t)
        x = rng.standard_normal([n[d] for d in dims])
        x = kernels.encode(np.rint(10 * x) % 2.0**7 if e[0] in "iu" else x, e)
        if name in row.ins:
            values.append(kernels.decode(x, e))
        files[name] = f"{program}.{name}"
        x.tofile(files[name])
    said = subprocess.run(
        ["qemu-aarch64", "./" + program, scratch, str(len(sizes)),
         *[str(n[s]) for s in sizes], *[files[a] for a in arrays]])
    if said.returncode != 0:
        return f"{program}: exit {said.returncode}"
    with np.errstate(all="ignore"):
        wants = row.f(*values)
    for (name, dims), (want, mag) in zip(row.outs.items(), wants):
        e = kernels.element(row, name, t)
        got = kernels.encode(np.zeros(1), e)
        got = np.fromfile(files[name], got.dtype).reshape([n[d] for d in dims])
        got = kernels.decode(got, e)
        bad = kernels.quantised(got, want) \
            if (row.kernel, name) == ("quantise", "Q") \
            else kernels.wrong(got, want, mag, e, t)
        if bad:
            return f"{program}: {bad} of {got.size} elements of {name} are wrong"
    return None


def main():
    jobs, done = [], set()
    for row in kernels.ROWS:
        types = row.types if row.kernel in ALL_TYPES else row.types[:1]
        wanted = sys.argv[1:] or ONE_TYPE + ALL_TYPES
        if row.kernel not in wanted or row.kernel in done:
            continue
        done.add(row.kernel)
        whole = [s for s in row.sizes[1] if 0 not in s and np.prod(s) < 1 << 18]
        jobs += [(row, t, whole[-1]) for t in types]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [s for s in pool.map(lambda j: run(*j), jobs) if s]
    print("\n".join(said + [f"{len(jobs)} runs, {len(said)} failed"]))
    return bool(said) or not jobs


if __name__ == "__main__":
    sys.exit(main())
