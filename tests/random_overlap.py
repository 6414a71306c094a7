#!/usr/bin/env python3
"""random_overlap.py - random groups of scopes that overlap.

    random_overlap.py AXE [COUNT [SEED [SECONDS]]]

A kernel is a group of two to four scopes, perhaps in a loop, each of which
writes a tensor from what scopes in front of it made: the same tile, one beside
it, mirrored, whole rows or columns, rows that an index tensor names; and
perhaps overwrites what one of them read.  Four judges:

  * `axe run --check`, on 1, 2 and 5 workers;
  * the same text ahead of time under ThreadSanitizer, on 2 to 5 threads which
    rest at random when they have taken an entity, against one thread, bit by bit;
  * `axe sim --check` of one in three, as one launch of CTAs that wait for one
    another, on 1, 2 and 16 SMs;
  * with bugs put into that text, which must be noticed: waits left out, too
    short, for the wrong counter or without order, counters that do not begin
    at zero.

The same seed gives the same kernels."""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

EXTENTS = [1, 2, 3, 4, 8, 16, 33]


class Group:
    """One kernel: its text, its sizes."""

    def __init__(self, seed):
        self.rng = r = random.Random("overlap %d" % seed)
        self.size = {"M": r.choice([0, 1, 7, 33, 64, 90]),
                     "N": r.choice([1, 5, 16, 40])}
        self.tiles = [(r.choice(EXTENTS), r.choice([0, 0] + EXTENTS))
                      for _ in range(r.randint(2, 4))]
        self.loop = r.random() < 0.25
        self.text = self.kernel()

    def read(self, name, row, col, whole):
        """An expression of elements of `name`, for one at row, col."""
        r = self.rng
        form = r.randrange(11)
        if form == 0:
            return "%s[%s + %d, %s]" % (name, row, r.randint(1, 9), col)
        if form == 1:
            return "%s[M - 1 - (%s), %s]" % (name, row, col)
        if form == 2:
            return "%s[row[%s], %s]" % (name, row, col)
        if form == 3:
            return "sum[k](%s[%s, k] * W[k])" % (name, row)
        if form == 4:
            return "sum[l](%s[l, %s] * V[l])" % (name, col)
        if form == 5:
            return "%s[(%s)/2, %s]" % (name, row, col)
        if form == 6:
            return "%s[2*(%s), %s]" % (name, row, col)
        if form == 7 and not whole:
            return "%s[%s, %s - 1]" % (name, row, col)
        if form == 8:
            return "sum[s](%s[pick[%s, s], %s])" % (name, row, col)
        if form == 9:
            return "%s[row[%s + %d], %s]" % (name, row, r.randint(-3, 4), col)
        return "%s[%s, %s]" % (name, row, col)

    def scope(self, at, out, sources, also):
        r = self.rng
        bm, bn = self.tiles[at]
        row = "i*%d + m" % bm
        col = "j*%d + n" % bn if bn else "n"
        head = "cta (i : M by %d%s)" % (bm, ", j : N by %d" % bn if bn else "")
        terms = [self.read(s, row, col, not bn) for s in sources]
        lines = ["%s[%s, %s] = %s + %d;" % (
            out, row, col, " + ".join(terms), at + 1)]
        if also:
            lines.append("%s[%s, %s] = X[%s, %s] * %d;" % (
                also, row, col, row, col, at + 2))
        return "        %s {\n            %s\n        }\n" % (
            head, "\n            ".join(lines))

    def kernel(self):
        r = self.rng
        n = len(self.tiles)
        names = ["S%d" % i for i in range(n - 1)] + ["Y"]
        body, read = "", []
        for i in range(n):
            sources = ["X"] if i == 0 else r.sample(
                names[:i], r.randint(1, min(2, i)))
            # An earlier tensor that is not read here is made anew.
            old = [s for s in read if s not in sources]
            also = r.choice(old) if old and r.random() < 0.4 else None
            body += self.scope(i, names[i], sources, also)
            read += [s for s in sources if s != "X"]
        temps = "".join("    global f32 %s[M, N];\n" % s for s in names[:-1])
        group = "    overlap {\n%s    }\n" % body
        if self.loop:
            group = "    for (t : 3) {\n%s    }\n" % group
        return ("kernel k(in f32 X[M, N], in f32 W[N], in f32 V[M], in i32 "
                "row[M], in i32 pick[M, 3], out f32 Y[M, N])\n{\n"
                "    index m, n, k, l, s;\n%s%s}\n" % (temps, group))


MAIN = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "k.h"

static _Thread_local unsigned state;
void axe_delay(void)
{
    if (!state)
        state = (unsigned)(size_t)&state | 1;
    state = state * 1103515245 + 12345;
    if (state >> 30 == 0)
        usleep(state >> 16 & 255);
}

int main(void)
{
    enum { M = %(M)d, N = %(N)d };
    float *X = calloc(M * N + 1, 4), *W = calloc(N + 1, 4);
    float *V = calloc(M + 1, 4), *Y = calloc(M * N + 1, 4);
    float *Z = calloc(M * N + 1, 4);
    int32_t *row = calloc(M + 1, 4), *pick = calloc(3 * M + 1, 4);
    for (int i = 0; i < M * N; i++) X[i] = (float)(i %% 17) - 5;
    for (int i = 0; i < N; i++) W[i] = (float)(i %% 3) - 1;
    for (int i = 0; i < M; i++) V[i] = (float)(i %% 5) - 2;
    for (int i = 0; i < M; i++) row[i] = (i * 7 + 3) %% M;
    for (int i = 0; i < 3 * M; i++) pick[i] = (i * 11) %% (M + 2) - 1;
    if (k(X, W, V, row, pick, Z, M, N)) return 3;
    for (int turn = 0; turn < %(turns)d; turn++) {
        memset(Y, 255, M * N * 4);
        if (k_threads(2 + turn %% 4, X, W, V, row, pick, Y, M, N)) return 3;
        if (memcmp(Y, Z, M * N * 4)) { puts("other result"); return 1; }
    }
    return 0;
}
"""

# Bugs in the text: a name, a pattern, what stands in its place.
BUGS = [
    ("no wait", r"if \(__atomic_load_n[^;]*goto later_\d+;", ";"),
    ("one too few", r"(__ATOMIC_ACQUIRE\) <) ([^;]*)(\) goto)",
     r"\1 (\2) - 1\3"),
    ("wait without order", "__ATOMIC_ACQUIRE", "__ATOMIC_RELAXED"),
    ("done without order", "__ATOMIC_RELEASE", "__ATOMIC_RELAXED"),
    ("done twice", r"(__atomic_fetch_add\(&t_overlap\w*\$done\[8[^;]*;)",
     r"\1 \1"),
    ("another counter", r"(__atomic_load_n\(&t_overlap\w*\$done\[)",
     r"\1 1 + "),
    ("entity left out", r"l->held\[l->n\+\+\] = i;",
     r"l->held[l->n++] = i > 0 && i + 1 < end && i == 3 ? i + 1 : i;"),
    ("list in no order", r"(__ATOMIC_RELAXED\);\n)( *if \(i < end\))",
     r"\1        if (i < end) i = i ^ 1 < end ? i ^ 1 : i;\n\2"),
]
class Judge:
    def __init__(self, axe, where):
        self.axe = axe
        self.where = where
        open(os.path.join(where, "none"), "w").close()

    def call(self, *args, limit=60):
        try:
            done = subprocess.run(args, cwd=self.where, timeout=limit,
                                  capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return 124, "no end"
        return done.returncode, done.stdout + done.stderr

    def write(self, name, text):
        with open(os.path.join(self.where, name), "w") as f:
            f.write(text)

    def random(self, g):
        """Random arrays, and index tensors with rows that are not there."""
        return ["--random", *("%s=%d" % s for s in g.size.items()),
                "row=-3..%d" % max(g.size["M"], 1),
                "pick=0..%d" % (g.size["M"] + 2), "--check"]

    def simulate(self, g, seed):
        """`axe sim --check`, on a machine by turns; what is wrong, or None."""
        self.write("k.axe", g.text)
        machine = ("sm_80", "sm_90a", "sm_100a")[seed % 3]
        for sms in ("1", "2", "16"):
            code, said = self.call(
                self.axe, "sim", "k.axe", "-t", machine, *self.random(g),
                "--sms", sms, "--policy", "1", limit=200)
            if code != 0:
                return "%s, %s SMs: %s" % (machine, sms, said)
        return None

    def check(self, g):
        """`axe run --check`; what is wrong, or None."""
        self.write("k.axe", g.text)
        for workers in ("1", "2", "5"):
            code, said = self.call(self.axe, "run", "k.axe", *self.random(g),
                                   "--threads", workers)
            if code != 0:
                return "%s workers: %s" % (workers, said)
        return None

    def build(self, text, flags):
        self.write("k.c", text)
        return self.call("gcc", "-g", "-O1", *flags, "main.c", "k.c", "-o",
                         "main", "-lm", "-lpthread")

    def aot(self, g, turns):
        self.write("k.axe", g.text)
        self.write("main.c", MAIN % dict(g.size, turns=turns))
        code, said = self.call(self.axe, "compile", "k.axe", "-t", "cpu-base",
                               "-o", "k.c", "k.h")
        if code != 0:
            raise SystemExit(said)
        text = open(os.path.join(self.where, "k.c")).read()
        return re.sub(r"(static inline i64 axe_next.*?)(    return l->held)",
                      r"void axe_delay(void);\n\1    axe_delay();\n\2", text,
                      flags=re.S)

    def race(self, text, sanitizer=True, limit=120):
        """What is wrong with it, or None; with a bug it may have no end."""
        flags = ["-fsanitize=thread"] if sanitizer else []
        code, said = self.build(text, flags)
        if code != 0:
            raise SystemExit(said)
        code, said = self.call("./main", limit=limit)
        return None if code == 0 else said[:2000] or "exit %d" % code


def has_sanitizer(judge):
    judge.write("t.c", "int main(void) { return 0; }\n")
    return judge.call("gcc", "-fsanitize=thread", "t.c", "-o", "t")[0] == 0 \
        and judge.call("./t")[0] == 0


class Fixed(Group):
    """Waits of all kinds, many of them: for bugs to show."""

    def kernel(self):
        self.size = {"M": 16, "N": 8}
        return """kernel k(in f32 X[M, N], in f32 W[N], in f32 V[M], in i32 row[M],
         in i32 pick[M, 3], out f32 Y[M, N])
{
    index m, n, k, s;
    global f32 S[M, N];
    global f32 R[M, N];

    overlap {
        cta (i : M by 2, j : N by 4)
            S[i*2 + m, j*4 + n] = X[i*2 + m, j*4 + n] * 3;
        cta (i : M by 4, j : N by 8)
            R[i*4 + m, j*8 + n] = sum[k](S[i*4 + m, k] * W[k]) + S[M - 1 - i*4 - m, j*8 + n];
        cta (i : M by 2)
            Y[i*2 + m, n] = sum[s](R[pick[i*2 + m, s], n]) + V[i*2 + m];
    }
}
"""


def seed_bugs(judge):
    """The bugs that nobody notices."""
    text = judge.aot(Fixed(0), 200)
    wrong = judge.race(text)
    if wrong:
        raise SystemExit("without a bug: " + wrong)
    missed = []
    for name, pattern, by in BUGS:
        bad = re.sub(pattern, by, text)
        if bad == text:
            raise SystemExit("%s: no such text" % name)
        if not judge.race(bad, limit=10):
            missed.append(name)
    return missed


def main():
    axe = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    begin = time.time()
    raced = simulated = done = 0
    missed = []
    with tempfile.TemporaryDirectory() as where:
        judge = Judge(axe, where)
        sanitizer = has_sanitizer(judge)
        if sanitizer:
            missed = seed_bugs(judge)
        for i in range(count):
            if time.time() - begin > limit:
                break
            g = Group(seed + i)
            wrong = judge.check(g)
            if not wrong and i % 4 == 0:
                wrong = judge.race(judge.aot(g, 12), sanitizer)
                raced += 1
            if not wrong and i % 3 == 0:
                wrong = judge.simulate(g, seed + i)
                simulated += 1
            if wrong:
                print("seed %d, sizes %s\n%s%s" % (seed + i, g.size, g.text,
                                                   wrong))
                return 1
            done += 1
    print("%d groups, %d of them raced%s, %d simulated; of %d bugs missed: %s" % (
        done, raced, "" if sanitizer else " (no ThreadSanitizer)",
        simulated, len(BUGS) if sanitizer else 0, ", ".join(missed) or "none"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
