#!/usr/bin/env python3
"""random_trn.py - random kernels on the simulated Trainium against the reference.

    random_trn.py AXE [COUNT [SEED [SECONDS]]]

The kernels of random_maker.py, in types that its engines compute in, without
what a kernel for it never has: elements at computed places, conditions of
values.  `axe sim --target trn1 --check` judges.  What is refused must be so for
one of REFUSED; a rule of the machine that a trace breaks is the compiler's
error, and fails.  A kernel that fails is made smaller and printed."""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from random_kernels import Runner, shrink, spell
from random_maker import Maker

NONE = {"f64", "i32", "i64", "i16", "i8", "u8"}

# What is said of kernels that are none for this machine: docs/trainium.md.
REFUSED = [
    "trn1 has no instruction for",
    "partitions of trn1 do not see one another's elements",
    "the index over partitions is not that of the tile",
    "none of the product's indices is over its partitions",
    "does not lie so that the tensor engine can turn it",
    "leaves the tensor, and is of two indices",
    "trn1 has no access patterns for",
    "has no elements, and a kernel for trn1 writes results all the same",
]


class Kinds(random.Random):
    """Without the types that engines do not compute in."""

    def choice(self, seq):
        left = [x for x in seq if not (isinstance(x, str) and x in NONE)]
        return super().choice(left or ["f32"])


class TrnMaker(Maker):
    def random(self, seed):
        return Kinds("trn %d" % seed)

    def makers(self):
        return [self.elementwise] * 4 + [self.fold] * 3 + \
            [self.contract] * 4 + [self.loop] * 2 + [self.carried]

    def some_size(self, b):
        return max(1, super().some_size(b) * self.rng.choice([1, 1, 1, 9]))

    def param(self, direction, kind, axes, shift_ok=False):
        n = len(self.seg.params)
        s = super().param(direction, kind, axes, shift_ok)
        if s.shift and re.search(r"/|%%|\[", s.shift[1]):
            s.shift = None
            del self.seg.params[n + 1:]
        return s

    def arithmetic(self, sub):
        return self.rng.choice(["5 - (%s)", "3*(%s)", "%s"]) % sub

    computed = arithmetic

    def guarded(self, kind, axes, sources):
        return self.load(kind, axes, sources)

    def picked(self, kind, axes, over):
        x = self.param("in", kind, self.subset(axes + [over], [over]))
        return "%s[%s](%s)" % (self.rng.choice(["max", "min", "sum"]), over.var,
                               x.load())

    def condition(self, axes, sources):
        r = self.rng
        c = r.choice(["%s >= %s", "%s < %s + 2", "%s > %s - 3"]) % (
            r.choice(axes).sub, r.choice(axes).sub)
        if r.random() < 0.3:
            c = r.choice(["!(%s) || %s", "%s && %s"]) % (
                c, self.condition(axes, sources))
        return c


class TrnRunner(Runner):
    def run(self, maker, segments, size, machine, threads):
        text, args, _ = spell(maker, segments, size)
        text = text.replace("f64", "f32")
        args = [a for a in args if not a.endswith(".npy")]
        with open(os.path.join(self.folder, "k.axe"), "w") as f:
            f.write(text)
        command = [self.axe, "sim", "k.axe", "--random", "--check", "-t",
                   machine] + args
        p = subprocess.run(command, cwd=self.folder, capture_output=True,
                           text=True, errors="replace", timeout=300)
        self.n_run += 1
        said = p.stdout + p.stderr
        if p.returncode == 0 and "check" in said:
            return None
        if any(x in said for x in REFUSED):
            self.n_refused += 1
            return None
        return "%s\nexit code %d\n%s\n%s" % (text, p.returncode,
                                             " ".join(command), said)


def main():
    axe = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    begin, failed, done = time.time(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("AXE_CACHE", os.path.join(folder, "cache"))
        runner = TrnRunner(axe, folder)
        for seed in range(first, first + count):
            if time.time() - begin > limit:
                break
            maker = TrnMaker(seed)
            done += 1
            if runner.run(maker, maker.segments, maker.size, "trn1", 1):
                failed += 1
                print("seed %d:\n%s" % (seed, shrink(
                    runner, maker, maker.segments, maker.size, "trn1", 1)),
                    flush=True)
    print("%d random kernels, %d runs, %d refused, %d failures" % (
        done, runner.n_run, runner.n_refused, failed))
    return failed > 0 or runner.n_refused * 2 > runner.n_run


if __name__ == "__main__":
    sys.exit(main())
