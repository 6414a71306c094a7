"""mutate.py - see run.  Build once, see which test reaches which mutation, then
run the tests that reach one with it on until one fails."""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import schema

TREE = "build/mutate"


def arguments():
    a = argparse.ArgumentParser(prog="tests/mutate/run",
                                description="Do the tests notice?")
    a.add_argument("--room", default="layout", help="of src, e.g. plan")
    a.add_argument("--file", action="append", help="instead of the whole room")
    a.add_argument("--sample", type=int, default=100,
                   help="mutations to try; 0: all (100)")
    a.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    a.add_argument("--tests", default="^(unit|prop)",
                   help="ctest names, a regular expression (^(unit|prop))")
    a.add_argument("--skip", default="_slow$", help="tests to leave out")
    a.add_argument("--longest", type=float, default=15,
                   help="tests that take longer are left out [s] (15)")
    a.add_argument("--jobs", type=int, default=1, help="at once (1)")
    a.add_argument("--out", help="a file for the survivors")
    return a.parse_args()


def copy_tree():
    """The checkout as it is, in build/mutate/tree."""
    files = subprocess.check_output(["git", "ls-files"], text=True).split()
    for f in files:
        to = os.path.join(TREE, "tree", f)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if not os.path.exists(to) or os.path.getmtime(to) < \
                os.path.getmtime(f) or os.path.getsize(to) != \
                os.path.getsize(f):
            shutil.copy2(f, to)


def mutations(files):
    flags = ["-std=c11", "-Iinclude", "-Isrc"]
    all_files = [schema.File(f, flags) for f in files]
    found = [m for f in all_files for m in f.found]
    for i, m in enumerate(found):
        m.id = i
    return all_files, found


def write_schemata(files, dropped):
    for f in files:
        to = os.path.join(TREE, "tree", f.path)
        text = f.written([m for m in f.found if m.id not in dropped])
        if not os.path.exists(to) or open(to).read() != text:
            open(to, "w").write(text)


def build():
    """Returns "" or what the compiler said."""
    tree = os.path.join(TREE, "tree")
    mutant = os.path.abspath("tests/mutate")
    if not os.path.exists(f"{TREE}/build/CMakeCache.txt"):
        subprocess.check_call(
            ["cmake", "-S", tree, "-B", f"{TREE}/build",
             "-DCMAKE_BUILD_TYPE=Release", "-DAXE_BENCH=OFF",
             "-DAXE_TESTS=ON",
             f"-DCMAKE_C_FLAGS=-w -g -include {mutant}/mutant.h",
             "-DCMAKE_C_FLAGS_RELEASE=-O1"], stdout=subprocess.DEVNULL)
    out = subprocess.run(["cmake", "--build", f"{TREE}/build", "-j",
                          str(os.cpu_count()), "--", "-k"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True)
    return out.stdout if out.returncode else ""


def build_all(files, found):
    """Mutations that do not compile are dropped."""
    dropped = set()
    shutil.copy("tests/mutate/mutant.c", f"{TREE}/tree/src/base/mutant.c")
    for _ in range(12):
        write_schemata(files, dropped)
        said = build()
        if not said:
            return dropped
        places = set(re.findall(r"(src/\S+\.c):(\d+):\d+: error", said))
        bad = {m.id for m in found if (m.file, str(m.line)) in places}
        bad |= {m.id for m in found for p, line in places
                if m.file == p and m.line <= int(line) <=
                m.line + m.old.count("\n")}
        if not bad - dropped:
            sys.exit("mutate: the tree does not build:\n" + said[-3000:])
        dropped |= bad
    sys.exit("mutate: the tree does not build")


def tests(pattern, skip):
    said = subprocess.check_output(
        ["ctest", "--test-dir", f"{TREE}/build", "--show-only=json-v1", "-R",
         pattern], text=True)
    out = []
    for t in json.loads(said)["tests"]:
        if "command" not in t or re.search(skip, t["name"]):
            continue
        env = {}
        for p in t.get("properties", []):
            if p["name"] == "ENVIRONMENT":
                env = dict(x.split("=", 1) for x in p["value"])
        out.append((t["name"], t["command"], env))
    return out


def run(test, more, limit):
    """True: passed."""
    _, command, env = test
    try:
        return subprocess.run(
            command, env={**os.environ, **env, **more}, timeout=limit,
            cwd=f"{TREE}/build/tests", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL).returncode in (0, 77)
    except subprocess.TimeoutExpired:
        return False


def reached(all_tests):
    """For each test what it reaches, and how long it takes [s]."""
    out = []
    for t in all_tests:
        with tempfile.TemporaryDirectory() as d:
            begin = time.monotonic()
            if not run(t, {"AXE_MUTANT_SEEN": d}, 900):
                print(f"mutate: {t[0]} fails as it is: left out", flush=True)
                continue
            took = time.monotonic() - begin
            seen = {int(x) for f in glob.glob(d + "/*")
                    for x in open(f).read().split()}
            out.append((took, t, seen))
    return sorted(out, key=lambda x: x[0])


def killed(m, by_time):
    for took, t, seen in by_time:
        if m.id in seen and not run(t, {"AXE_MUTANT": str(m.id)},
                                    10 * took + 5):
            return t[0]
    return None


def main():
    a = arguments()
    files = a.file or sorted(glob.glob(f"src/{a.room}/**/*.c", recursive=True))
    copy_tree()
    parsed, found = mutations(files)
    dropped = build_all(parsed, found)
    by_time = [t for t in reached(tests(a.tests, a.skip))
               if t[0] <= a.longest]
    pool = [m for m in found if m.id not in dropped]
    if a.sample and a.sample < len(pool):
        pool = sorted(random.Random(a.seed).sample(pool, a.sample),
                      key=lambda m: m.id)
    print(f"{len(found)} mutations of {len(files)} files, {len(dropped)} do "
          f"not compile, {len(pool)} tried by {len(by_time)} tests", flush=True)
    survivors = []
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as jobs:
        for m, by in zip(pool, jobs.map(lambda m: killed(m, by_time), pool)):
            if not by:
                some = any(m.id in seen for _, _, seen in by_time)
                survivors.append(str(m) + ("" if some else "  (not reached)"))
                print(survivors[-1], flush=True)
    print(f"{a.room}: {len(survivors)} of {len(pool)} survive, "
          f"{100 * len(survivors) / max(1, len(pool)):.1f} %")
    if a.out:
        open(a.out, "w").write("\n".join(survivors) + "\n")


main()
