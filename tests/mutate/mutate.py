"""mutate.py - see run.  A sample of all mutations, in equal shares of the rooms,
is compiled into one tree.  Each test is run once to see which mutations it
reaches.  Then each mutation meets the tests that reach it, those first that
most likely find it per second (by what they found in this file and this room
so far), until one fails or --each seconds are spent.  The rest of the tests
meet what is left in groups, halved where a test fails.

Time is the processor's, so a busy machine kills nothing: a test that takes
--times what it took, and 3 s, has failed.  A wait without an end counts when it
comes twice.

Results are written as they come, to build/mutate/results, and a run that is
begun again goes on."""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import schema

TREE = os.path.abspath(os.environ.get("AXE_MUTATE", "build/mutate"))
RESULTS = f"{TREE}/results"
CLI = "atoms|check|cute|divisions|explain|files|fmt|fragments|golden|hostile" \
      "|layout|machines|targets|texts|vectors"


def arguments():
    a = argparse.ArgumentParser(prog="tests/mutate/run",
                                description="Do the tests notice?")
    a.add_argument("--room", default="*", help="of src, a glob (*)")
    a.add_argument("--file", action="append", help="instead of whole rooms")
    a.add_argument("--sample", type=int, default=2000,
                   help="mutations to try; 0: all (2000)")
    a.add_argument("--least", type=int, default=40,
                   help="of each room, where it has as many (40)")
    a.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    a.add_argument("--tests", default=f"^(unit|prop)\\.|^cli\\.({CLI})$",
                   help="ctest names, a regular expression")
    a.add_argument("--skip", default="_slow$|tune$",
                   help="tests to leave out (_slow$|tune$)")
    a.add_argument("--longest", type=float, default=40,
                   help="tests that take longer are left out [s] (40)")
    a.add_argument("--each", type=float, default=5,
                   help="for a mutation alone, then in groups [s] (5)")
    a.add_argument("--group", type=int, default=16, help="its size (16)")
    a.add_argument("--times", type=float, default=5,
                   help="as long as it took is too long (5)")
    a.add_argument("--jobs", type=int, default=1, help="at once (1)")
    a.add_argument("--again", action="store_true",
                   help="what survived meets --tests, in groups alone")
    a.add_argument("--build", action="store_true", help="and no more")
    return a.parse_args()


def copy_tree():
    """The checkout as it is, in build/mutate/tree."""
    files = subprocess.check_output(["git", "ls-files"], text=True).split()
    for f in files:
        to = os.path.join(TREE, "tree", f)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.exists(f) and (
                not os.path.exists(to) or
                os.path.getmtime(to) < os.path.getmtime(f)):
            shutil.copy2(f, to)


def room_of(m):
    return m.file.split("/")[1]


def sample(found, n, least, seed):
    """Every beginning of it has the rooms in their shares."""
    rooms = {}
    for m in found:
        rooms.setdefault(room_of(m), []).append(m)
    out = []
    for name, r in sorted(rooms.items()):
        share = len(r) if not n else \
            min(len(r), max(least, round(n * len(r) / len(found))))
        picked = random.Random(f"{seed} {name}").sample(r, share)
        out += [((i + 0.5) / share, m) for i, m in enumerate(picked)]
    return [m for _, m in sorted(out, key=lambda x: (x[0], x[1].id))]


def write_schemata(files, chosen):
    for f in files:
        to = os.path.join(TREE, "tree", f.path)
        text = f.written([m for m in f.found if m.id in chosen])
        if not os.path.exists(to) or open(to).read() != text:
            open(to, "w").write(text)


def build():
    """Returns "" or what the compiler said."""
    if not os.path.exists(f"{TREE}/build/CMakeCache.txt"):
        subprocess.check_call(
            ["cmake", "-S", f"{TREE}/tree", "-B", f"{TREE}/build",
             "-DCMAKE_BUILD_TYPE=Release", "-DAXE_BENCH=OFF",
             "-DAXE_PACK=OFF", "-DAXE_TESTS=ON",
             f"-DCMAKE_C_FLAGS=-w -include {TREE}/tree/src/base/mutant.h",
             "-DCMAKE_C_FLAGS_RELEASE=-O1"], stdout=subprocess.DEVNULL)
    out = subprocess.run(["cmake", "--build", f"{TREE}/build", "-j",
                          str(os.cpu_count()), "--", "-k"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True)
    return out.stdout if out.returncode else ""


def forget_old(files, chosen):
    """What tests reach, and what does not compile, holds for these texts and
    this choice.  Returns what does not compile, where that is known."""
    h = hashlib.sha256(repr(sorted(chosen)).encode())
    for f in files:
        h.update(f.text)
    stamp = f"{TREE}/stamp"
    if os.path.exists(stamp) and open(stamp).read() == h.hexdigest():
        return set(json.load(open(f"{TREE}/dropped")))
    for seen in glob.glob(f"{TREE}/cache/*.seen"):
        os.remove(seen)
    json.dump([], open(f"{TREE}/dropped", "w"))
    open(stamp, "w").write(h.hexdigest())
    return set()


def build_all(files, found, chosen):
    """Mutations that do not compile are dropped: returns which."""
    dropped = forget_old(files, chosen)
    for name in "mutant.c", "mutant.h":
        to = f"{TREE}/tree/src/base/{name}"
        text = open(f"tests/mutate/{name}").read()
        if not os.path.exists(to) or open(to).read() != text:
            open(to, "w").write(text)
    for _ in range(12):
        write_schemata(files, chosen - dropped)
        said = build()
        if not said:
            json.dump(sorted(dropped), open(f"{TREE}/dropped", "w"))
            return dropped
        places = set(re.findall(r"(src/\S+\.c):(\d+):\d+: error", said))
        bad = {m.id for m in found if m.id in chosen for p, line in places
               if m.file == p and m.line <= int(line) <=
               m.line + m.old.count("\n")}
        if not bad - dropped:
            sys.exit("mutate: the tree does not build:\n" + said[-3000:])
        dropped |= bad
    sys.exit("mutate: the tree does not build")


class Test:
    def __init__(self, name, command, env):
        self.name, self.command, self.env = name, command, env
        self.took, self.seen = 0.0, set()
        self.cache = f"{TREE}/cache/{name}"

    def run(self, more, seconds):
        """"passed", "failed", "time", "waited", and the processor's seconds.
        What a mutation leaves in the cache is thrown away."""
        with tempfile.TemporaryDirectory() as d:
            cache = self.cache
            if "AXE_MUTANT" in more and os.listdir(cache):
                cache = d + "/cache"
                subprocess.check_call(["cp", "-al", self.cache, cache])
            env = {**os.environ, **self.env, **more, "AXE_CACHE": cache,
                   "CMOCKA_TEST_ABORT": "1", "TMPDIR": d}
            env.setdefault("AXE_VECTORS", os.path.abspath("../shared/vectors"))
            child = subprocess.Popen(
                ["prlimit", "--core=0", f"--as={12 << 30}",
                 f"--cpu={int(seconds + 1)}:{int(seconds + 3)}", "--"] + self.command,
                env=env, cwd=f"{TREE}/build/tests", stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True)
            late = []
            timer = threading.Timer(10 * seconds + 60, lambda: (
                late.append(1), os.killpg(child.pid, signal.SIGKILL)))
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = code = os.waitstatus_to_exitcode(status)
            how = "waited" if late else "passed" if code in (0, 77) else \
                "time" if code in (-24, -9, 152, 137) else "failed"
            return how, usage.ru_utime + usage.ru_stime

    def finds(self, mutations, times):
        more = {"AXE_MUTANT": ",".join(str(m.id) for m in mutations)}
        how, spent = self.run(more, times * self.took + 3)
        if how == "waited":
            how, spent = self.run(more, 2 * (times * self.took + 3))
        return how != "passed", spent


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
        out.append(Test(t["name"], t["command"], env))
    return out


def look(t, longest):
    """What it reaches and how long it takes; False: of no use.  The first run
    fills its cache."""
    kept = t.cache + ".seen"
    if os.path.exists(kept):
        t.took, seen = json.load(open(kept))
        t.seen = set(seen)
        return t.took <= longest
    os.makedirs(t.cache, exist_ok=True)
    for _ in range(2):
        with tempfile.TemporaryDirectory() as d:
            how, t.took = t.run({"AXE_MUTANT_SEEN": d}, 3 * longest + 5)
            t.seen = {int(x) for f in glob.glob(d + "/*")
                      for x in open(f).read().split()}
        if how != "passed":
            print(f"{t.name}: {how} as it is, left out", flush=True)
            t.took = 1e9
            break
    json.dump([t.took, sorted(t.seen)], open(kept, "w"))
    return t.took <= longest


class Judge:
    def __init__(self, all_tests, a):
        self.tests, self.a = all_tests, a
        self.lock = threading.Lock()
        self.tries, self.kills = {}, {}
        self.waiting, self.asked = [], {}

    def note(self, t, m, found):
        for key in (t.name, m.file), (t.name, room_of(m)), t.name:
            self.tries[key] = self.tries.get(key, 0) + 1
            self.kills[key] = self.kills.get(key, 0) + found

    def hope(self, t, m):
        """That t finds m, from what it found so far."""
        p = 0.1
        for key in t.name, (t.name, room_of(m)), (t.name, m.file):
            p = (self.kills.get(key, 0) + 3 * p) / (self.tries.get(key, 0) + 3)
        return p

    def say(self, m, state, by=""):
        with self.lock:
            with open(RESULTS, "a") as f:
                f.write(json.dumps({"key": key(m), "id": m.id, "state": state,
                                    "by": by, "what": str(m)}) + "\n")
            if state == "survived" or state == "not reached":
                print(m.id, m, "" if state == "survived" else f"({state})",
                      flush=True)

    def alone(self, m):
        """Killed by one of the tests that are worth it?"""
        todo = [t for t in self.tests if m.id in t.seen]
        if not todo:
            return self.say(m, "not reached")
        asked, spent = set(), 0.0
        while todo:
            with self.lock:
                t = min(todo, key=lambda t: (t.took + .02) / self.hope(t, m))
            if spent > 0 and spent + t.took > self.a.each:
                todo.remove(t)
                continue
            todo.remove(t)
            found, cost = t.finds([m], self.a.times)
            spent += cost
            asked.add(t.name)
            with self.lock:
                self.note(t, m, found)
            if found:
                return self.say(m, "killed", t.name)
        with self.lock:
            self.waiting.append(m)
            self.asked[m.id] = asked

    def halve(self, t, group):
        """Those of group that t finds."""
        if not group or not t.finds(group, self.a.times)[0]:
            return []
        if len(group) == 1:
            return group
        half = len(group) // 2
        return self.halve(t, group[:half]) + self.halve(t, group[half:])

    def together(self, group):
        left = list(group)
        for t in self.tests:
            now = [m for m in left
                   if m.id in t.seen and t.name not in self.asked[m.id]]
            for m in self.halve(t, now):
                left.remove(m)
                self.say(m, "killed", t.name)
            with self.lock:
                for m in now:
                    self.note(t, m, m not in left)
        for m in left if not self.a.again else []:
            self.say(m, "survived")

    def one(self, m):
        self.alone(m)
        with self.lock:
            group = []
            if len(self.waiting) >= self.a.group:
                group, self.waiting = self.waiting, []
        self.together(group)


def key(m):
    return f"{m.file}:{m.begin}:{m.end}:{m.new}"


def results():
    out = {}
    if os.path.exists(RESULTS):
        for line in open(RESULTS):
            r = json.loads(line)
            out[r["key"]] = r
    return out


def summary(pool):
    done = results()
    print(f"{'room':10}{'tried':>8}{'killed':>8}{'survive':>9}")
    for room in sorted({room_of(m) for m in pool}) + [""]:
        states = [done[key(m)]["state"] for m in pool
                  if key(m) in done and room in ("", room_of(m))]
        n = states.count("killed")
        print(f"{room or 'all':10}{len(states):8}{n:8}{len(states) - n:9}")


def main():
    a = arguments()
    files = a.file or sorted(glob.glob(f"src/{a.room}/**/*.c", recursive=True))
    copy_tree()
    flags = ["-std=c11", "-Iinclude", "-Isrc"]
    parsed = [schema.File(f, flags) for f in files]
    found = [m for f in parsed for m in f.found]
    for i, m in enumerate(found):
        m.id = i
    pool = sample(found, a.sample, a.least, a.seed)
    print(f"{len(found)} mutations of {len(files)} files, {len(pool)} to try",
          flush=True)
    if len(found) > 1 << 16:
        sys.exit("mutate: more than AXE_MOST_MUTANTS")
    dropped = build_all(parsed, found, {m.id for m in pool})
    pool = [m for m in pool if m.id not in dropped]
    print(f"{len(dropped)} do not compile", flush=True)
    if a.build:
        return
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as jobs:
        asked = tests(a.tests, a.skip)
        good = jobs.map(lambda t: look(t, a.longest), asked)
        by_time = sorted((t for t, g in zip(asked, good) if g),
                         key=lambda t: t.took)
    print(f"{len(by_time)} tests, {sum(t.took for t in by_time):.0f} s",
          flush=True)
    judge = Judge(by_time, a)
    done = results()
    todo = [m for m in pool if key(m) not in done]
    if a.again:
        judge.waiting = [m for m in pool if key(m) in done and
                         done[key(m)]["state"] != "killed"]
        judge.asked, todo = {m.id: set() for m in judge.waiting}, []
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as jobs:
        list(jobs.map(judge.one, todo))
    judge.together(judge.waiting)
    summary(pool)


main()
