"""Kernels for Trainium 1 beside the published plans, all in one simulator: nothing is measured.

    python bench/trainium.py [AXE]

A line for each: lines of its text without comments and blank ones, instructions, and for the
profiles of docs/trace.md the time, how many times as fast as the plan it is compared with, and
how busy each engine is.  bf16; products of 4096 x 8192 by 8192 x 8192, one head of attention of
4096 queries and keys of 128.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
PRODUCT = {"M": 4096, "N": 8192, "K": 8192}

# what, trace or kernel, sizes, line that it is compared with
ROWS = [
    ("product, tiled", "gemm_tiled.trace", PRODUCT, None),
    ("product, hoisted", "gemm_hoisted.trace", PRODUCT, None),
    ("product, block_free", "gemm_block_free.trace", PRODUCT, None),
    ("product, optimised", "gemm_optimised.trace",
     {**PRODUCT, "BM": 2048, "BN": 1024, "BK": 1024}, None),
    ("gemm_trn1", "gemm_trn1.axe", PRODUCT, "product, optimised"),
    ("attention, flash", "attention_flash.trace", {"S": 4096, "KV": 2048}, None),
    ("attention_trn1", "attention_trn1.axe", {"H": 1, "S": 4096, "L": 4096}, "attention, flash"),
]
PROFILES = ("legacy", "doc")


def run(*command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        text = [line.strip() for line in file]
    return sum(1 for line in text if line and not line.startswith(("//", "#")))


def timed(axe, trace, sizes, profile):
    """Microseconds, and of each engine its instructions and the part of the time it is busy."""
    sets = [word for name, n in sizes.items() for word in ("--set", f"{name}={n}")]
    text = run(axe, "trace", trace, "--time", "--profile", profile, *sets)
    us = float(re.search(r"^profile \w+: ([0-9.]+) us", text, re.M).group(1))
    engines = re.findall(r"^(\w+) +(\d+) instructions, busy +[0-9.]+ us, +([0-9.]+) %", text,
                         re.M)
    return us, {name: (int(n), float(part)) for name, n, part in engines}


def main():
    axe = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "axe")
    was = {}
    heads = f"{'':20} {'lines':>5} {'instr.':>7} {'profile':7} {'us':>8} {'ratio':>6}"
    print(heads, "busy [%]: tensor vector scalar gpsimd dma")
    with tempfile.TemporaryDirectory() as tmp:
        for what, file, sizes, base in ROWS:
            if file.endswith(".axe"):
                source = os.path.join(ROOT, "kernels", file)
                trace = os.path.join(tmp, what)
                with open(trace, "w", encoding="utf-8") as out:
                    out.write(run(axe, "compile", source, "-t", "trn1", "--set", "T=bf16",
                                  "--emit", "lower").split("\n", 1)[1])
            else:
                trace = source = os.path.join(ROOT, "examples", "trainium", file)
            for profile in PROFILES:
                us, engines = timed(axe, trace, sizes, profile)
                was[what, profile] = us
                ratio = f"{was[base, profile] / us:.2f}" if base else ""
                n = sum(n for n, _ in engines.values())
                busy = " ".join(f"{part:6.1f}" for _, part in engines.values())
                print(f"{what:20} {lines_of(source):5} {n:7} {profile:7} {us:8.0f} {ratio:>6}",
                      f"         {busy}", flush=True)


main()
