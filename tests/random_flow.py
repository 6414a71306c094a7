"""random_flow.py - control flow at random: loops that are left or whose turns
end early, branches, loops of no turn, with tiles filled and summed before,
between and behind.  The same seed gives the same kernel."""
import random

from random_maker import Axis, Maker, Segment, Source

EXTENTS = [1, 2, 4, 7, 8, 16, 16, 16, 32, 48, 64]


class FlowMaker(Maker):
    def __init__(self, seed):
        self.rng = r = random.Random("flow %d" % seed)
        self.n_name = 0
        self.bm, self.bn = r.choice(EXTENTS), r.choice(EXTENTS)
        self.bk = r.choice([1, 3, 8, 16, 16, 32, 32, 64])
        self.size = {"M": self.some_size(self.bm), "N": self.some_size(self.bn),
                     "K": r.choice([0, 1, self.bk, 2 * self.bk, 3 * self.bk,
                                    4 * self.bk + 1, 5 * self.bk - 1]), "P": 6}
        self.m = Axis("m", "M", "i*%d + m" % self.bm, self.bm)
        self.n = Axis("n", "N", "j*%d + n" % self.bn, self.bn)
        self.scope = "i : M by %d, j : N by %d" % (self.bm, self.bn)
        self.kind = r.choice(["f32", "f32", "f16", "f16", "bf16", "i8", "f64"])
        self.sums = {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(
            self.kind, self.kind)
        self.seg = Segment()
        self.segments = [self.seg]
        self.whole = r.random() < 0.7     # k is a tile of K
        self.used = set()
        self.flow()

    # ---------------------------------------------------------------- sources

    def number(self):
        name = self.name("stop")
        self.seg.numbers[name] = self.rng.randint(-1, 4)
        return name

    def flags(self):
        if "F" not in self.used:
            self.used.add("F")
            self.seg.params.append(("in", "i32", "F", ["P"]))
        return "F"

    def input(self, kind, axes):
        """A global of these axes, perhaps one there is."""
        r = self.rng
        order = axes[:]
        r.shuffle(order)
        for s in self.inputs:
            if s.kind == kind and r.random() < 0.3 and \
                    sorted(a.var for a in s.axes) == \
                    sorted(a.var for a in order):
                return s
        s = Source(self.name("X"), kind, order, True)
        self.seg.params.append(("in", kind, s.name, [a.size for a in order]))
        self.inputs.append(s)
        return s

    def part(self, loops):
        """k as a tile of K in some loop around."""
        var = self.rng.choice(loops)[0] if loops else "(i + 1)"
        return Axis("k", "K", "%s*%d + k" % (var, self.bk), self.bk)

    def at(self, source, loops):
        """The load, with K's tile where the loops are now."""
        part = self.part(loops).sub
        return "%s[%s]" % (source.name, ", ".join(
            part if a.var == "k" else a.sub for a in source.axes))

    # ------------------------------------------------------------- conditions

    def condition(self, loops, scalars):
        r = self.rng
        var = r.choice(loops)[0] if loops else r.choice("ij")
        forms = ["%s == %d" % (var, r.randint(0, 3)),
                 "%s >= %d" % (var, r.randint(0, 3)),
                 "%s %% 2 == %d" % (var, r.randint(0, 1)),
                 "%s == %s" % (var, self.number()) if r.random() < 0.7
                 else "%s > i + j" % var,
                 "%s[%s] > %d" % (self.flags(), var, r.randint(-4, 4)),
                 "%s[%s] > %d" % (self.flags(), var, r.randint(-4, 4)),
                 "%s*%d + 1 >= K" % (var, self.bk),
                 "M > %d" % r.randint(0, 40), "i == %d" % r.randint(0, 1)]
        if scalars:
            forms += ["%s > %d" % (r.choice(scalars), r.randint(0, 3))] * 3
        c = r.choice(forms)
        if r.random() < 0.15:
            c = "%s %s %s" % (c, r.choice(["&&", "||"]), r.choice(forms))
        return c

    # ------------------------------------------------------------- statements

    def filled(self, kind, axes, loops):
        """A tile made and filled here: its name in loads, the text."""
        r = self.rng
        src = self.input(kind, axes)
        mine = axes[:]
        r.shuffle(mine)
        t = Source(self.name("t"), kind, mine, False)
        text = "%s %s %s[%s]; " % (r.choice(["shared", "shared", "reg"]), kind,
                                   t.name, ", ".join(str(a.extent)
                                                     for a in mine))
        value = self.at(src, loops)
        if r.random() < 0.15 and kind[0] in "fb":
            value = "%s * 0.5" % value
        return t, text + "%s = %s;" % (t.load(), value)

    def product(self, acc, loops):
        """acc += a * b, with the tiles made here."""
        r = self.rng
        k = self.part(loops)
        a, fill_a = self.filled(self.kind, [self.m, k], loops)
        b, fill_b = self.filled(self.kind, [self.n, k], loops)
        lines = [fill_a, fill_b]
        r.shuffle(lines)
        if r.random() < 0.25:
            lines.insert(r.randint(0, 2), self.leave(loops, []))
        if r.random() < 0.2:
            lines.insert(r.randint(0, 2), "%s = %d;" % (acc.load(),
                                                        r.randint(0, 1)))
        return " ".join(lines + ["%s += %s * %s slow;" % (
            acc.load(), a.load(), b.load())])

    def ring(self, acc, loops):
        """The same by way of a pipeline, in a loop of its own."""
        r = self.rng
        ring, var = self.name("ring"), self.name("q")
        inner = loops + [(var, None)]
        k = self.part(inner)
        a, fill_a = self.filled(self.kind, [self.m, k], [(var, None)])
        b, fill_b = self.filled(self.kind, [self.n, k], [(var, None)])
        decl = []
        text = []
        for t, fill in ((a, fill_a), (b, fill_b)):
            d, f = fill.split("; ", 1)
            decl.append(d.replace("reg ", "shared ") + ";")
            text.append(f.replace(t.name + "[", ring + "." + t.name + "[", 1))
            t.name = ring + "." + t.name
        before, behind = "", ""
        if r.random() < 0.5:
            before = self.leave(inner, [])
        if r.random() < 0.5:
            behind = self.leave(inner, [])
        if r.random() < 0.3:
            behind += " %s = %s * 2;" % (acc.load(), acc.load())
        count = self.extent(loops)
        return ("pipeline %s[%d] { %s } for (%s : %s) { %s produce %s { %s } "
                "consume %s %s += %s * %s slow; %s }") % (
            ring, r.randint(1, 3), " ".join(decl), var, count, before, ring,
            " ".join(text), ring, acc.load(), a.load(), b.load(), behind)

    def folded(self, acc, loops):
        r = self.rng
        k = self.part(loops)
        src = self.input(self.sums, r.choice([[self.m, k], [self.m, self.n, k],
                                              [self.n, k]]))
        if r.random() < 0.5:
            t, fill = self.filled(self.sums, src.axes, loops)
            x = t.load()
        else:
            x = self.at(src, loops)
            part = Source(self.name("t"), self.sums, [k], False)
            fill = "reg %s %s[%d] = 1;" % (self.sums, part.name, self.bk)
            x = "%s * %s" % (x, part.load())
        op = r.choice(["+=", "+=", "max=", "min="])
        if r.random() < 0.3:
            return "%s %s = %s + %s[k](%s) slow;" % (
                fill, acc.load(), acc.load(), r.choice(["sum", "max"]), x)
        return "%s %s %s %s slow;" % (fill, acc.load(), op, x)

    def scan(self, acc, loops):
        """Sums from place to place, left somewhere."""
        r = self.rng
        var = self.name("s")
        row = Source(self.name("t"), self.sums, [self.m], False)
        t, fill = self.filled(self.sums, [self.m, self.n], loops)
        x = "%s[%s]" % (t.name, ", ".join(
            var if a is self.n else "m" for a in t.axes))
        d = "%s[%s]" % (acc.name, ", ".join(
            var if a is self.n else "m" for a in acc.axes))
        leave = [self.leave([(var, None)], []) if r.random() < 0.6 else ""
                 for _ in range(3)]
        return ("%s reg %s %s[%d] = 0; for (%s : %d) { %s %s[m] += %s; %s "
                "%s = %s[m]; %s }") % (
            fill, self.sums, row.name, self.bm, var, self.bn, leave[0],
            row.name, x, leave[1], d, row.name, leave[2])

    def show(self, acc, loops):
        """The sums so far, to memory."""
        axes = acc.axes[:]
        self.rng.shuffle(axes)
        y = Source(self.name("Z"), self.sums, axes, True)
        self.seg.params.append(("inout", self.sums, y.name,
                                [a.size for a in axes]))
        return "%s %s %s;" % (y.load(), self.rng.choice(["=", "=", "+="]),
                              acc.load())

    def leave(self, loops, scalars):
        if not loops:
            return ""
        return "if (%s) %s;" % (self.condition(loops, scalars), self.rng.choice(
            ["break", "continue"]))

    def extent(self, loops):
        r = self.rng
        forms = ["K by %d" % self.bk] * 5 + \
            ["%d" % r.randint(1, 4), "2", "1..4", "0..5 step 2",
             "cdiv(K, %d)" % self.bk, "min(3, cdiv(K, %d))" % self.bk,
             "%s[i]..%s[i] + 3" % (self.flags(), "F"),
             "%s[1]..%s[2]" % (self.flags(), "F")]
        if loops:
            forms += ["%s + 1" % loops[-1][0], loops[-1][0],
                      "%s..3" % loops[-1][0]] * 2
        return r.choice(forms)

    def loop(self, loops, scalars, depth):
        r = self.rng
        if r.random() < 0.25:
            w = self.name("w")
            body = self.block(loops + [(w, None)], scalars + [w], depth)
            head = r.choice(["while (%s < %d)" % (w, r.randint(0, 4)),
                             "while (true)", "while (true)"])
            if "true" in head:
                return ("i64 %s = -1; %s { %s += 1; if (%s >= %d) break; %s }"
                        % (w, head, w, w, r.randint(1, 4), body))
            return "i64 %s = -1; %s { %s += 1; %s }" % (w, head, w, body)
        var = self.name("t")
        body = self.block(loops + [(var, None)], scalars, depth)
        return "for (%s : %s) { %s }" % (var, self.extent(loops), body)

    def simple(self, loops, scalars):
        r = self.rng
        acc = r.choice(self.accs)
        form = r.choice(["product"] * 4 + ["fold", "fold", "scan", "ring",
                        "zero", "double", "add", "show", "count", "row"])
        if form in ("product", "ring", "scan", "fold"):
            if form == "fold":
                return self.folded(acc, loops)
            return {"product": self.product, "ring": self.ring,
                    "scan": self.scan}[form](acc, loops)
        if form == "zero":
            return "%s = %d;" % (acc.load(), r.randint(0, 1))
        if form == "double":
            return "%s = %s * 2;" % (acc.load(), acc.load())
        if form == "add":
            x = self.input(self.sums, [self.m, self.n])
            return "%s %s %s;" % (acc.load(), r.choice(["+=", "=", "max="]),
                                  x.load())
        if form == "show":
            return self.show(acc, loops)
        if form == "row":
            return "%s += %s[m];" % (acc.load(), self.row) if r.random() < 0.6 \
                else "%s[m] += sum[n](%s);" % (self.row, acc.load())
        if self.counters:
            return "%s += 1;" % r.choice(self.counters)
        return ""

    def block(self, loops, scalars, depth):
        r = self.rng
        lines = []
        for _ in range(r.randint(1, 3)):
            x = r.random()
            if x < 0.3 and loops:
                lines.append(self.leave(loops, scalars + self.counters))
            elif x < 0.45:
                then = self.block(loops, scalars, depth - 1) if depth > 0 \
                    else self.simple(loops, scalars)
                text = "if (%s) { %s }" % (self.condition(
                    loops, scalars + self.counters), then)
                if r.random() < 0.5:
                    text += " else { %s }" % self.simple(loops, scalars)
                lines.append(text)
            elif x < 0.7 and depth > 0:
                lines.append(self.loop(loops, scalars, depth - 1))
            lines.append(self.simple(loops, scalars))
        return " ".join(lines)

    def flow(self):
        r = self.rng
        self.inputs, self.accs, self.counters = [], [], []
        lines = self.seg.lines
        for _ in range(r.randint(1, 2)):
            mine = [self.m, self.n]
            r.shuffle(mine)
            acc = Source(self.name("c"), self.sums, mine, False)
            lines.append("%s %s %s[%s] = %d;" % (
                r.choice(["reg", "reg", "shared"]), self.sums, acc.name,
                ", ".join(str(a.extent) for a in mine), r.choice([0, 0, 0, 1])))
            self.accs.append(acc)
        self.row = self.name("r")
        lines.append("reg %s %s[%d] = 0;" % (self.sums, self.row, self.bm))
        if r.random() < 0.5:
            self.counters = [self.name("h")]
            lines.append("i64 %s = 0;" % self.counters[0])
        for _ in range(r.randint(1, 2)):
            lines.append(self.loop([], [], r.randint(0, 2)))
            if r.random() < 0.3:
                lines.append(self.simple([], []))
        for acc in self.accs:
            axes = [self.m, self.n]
            r.shuffle(axes)
            kind = r.choice([self.kind, self.sums])
            y = Source(self.name("Y"), kind, axes, True)
            self.seg.params.append(("out", kind, y.name,
                                    [a.size for a in axes]))
            lines.append("%s = %s;" % (y.load(), self.cast(
                kind, self.sums, "%s + %s[m]" % (acc.load(), self.row))))
        text = " ".join(lines)
        for v in "mnk":
            if "[%s" % v in text or " %s]" % v in text or " + %s" % v in text:
                self.seg.indices.add(v)
        sizes = {x for p in self.seg.params for x in p[3]}
        if "K" not in sizes and "K" in text:
            self.seg.params.append(("in", "i8", "W", ["K"]))
