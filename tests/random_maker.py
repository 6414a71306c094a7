"""random_maker.py - kernels at random, as segments of text: see
random_kernels.py.  The same seed gives the same kernel."""
import random
import re

FLOATS = ["f32", "f32", "f32", "f64", "f16", "bf16"]
INTS = ["i32", "i8", "i16", "u8", "i64"]
COMPUTE = {"f32": "f32", "f64": "f64", "f16": "f32", "bf16": "f32",
           "i8": "i32", "i16": "i32", "u8": "i32", "i32": "i32", "i64": "i64"}
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 24, 32, 33]


class Axis:
    """One index: how a global tensor and a tile are subscripted with it."""

    def __init__(self, var, size, sub, extent):
        self.var = var        # index variable, or None: a scope variable
        self.size = size      # of a global dimension
        self.sub = sub        # subscript of a global dimension
        self.extent = extent  # of a tile's dimension; None: runtime


class Source:
    """Something that can be loaded: a parameter or a tile."""

    def __init__(self, name, kind, axes, is_global, shift=None):
        self.name, self.kind, self.axes = name, kind, axes
        self.is_global, self.shift = is_global, shift

    def load(self):
        subs = []
        for i, a in enumerate(self.axes):
            sub = a.sub if self.is_global else a.var
            if self.shift and self.shift[0] == i:
                sub = self.shift[1] % sub
            subs.append(sub)
        return "%s[%s]" % (self.name, ", ".join(subs))


class Segment:
    def __init__(self):
        self.params, self.lines, self.order, self.indices = [], [], {}, set()
        self.numbers = {}     # arguments that are one number, and theirs


def divisors(n):
    return [d for d in range(2, n) if n % d == 0]


def random_layout(rng, extents):
    """A declared layout: dimensions cut, permuted and padded."""
    pieces = []
    for d, e in enumerate(extents):
        cut = [e]
        while rng.random() < 0.35 and divisors(cut[0]):
            f = rng.choice(divisors(cut[0]))
            cut[0:1] = [cut[0] // f, f]
        pieces += [[d, i, f] for i, f in enumerate(cut)]
    order = pieces[:]
    if rng.random() < 0.3:
        order.sort(key=lambda p: (-p[0], -p[1]))
    else:
        rng.shuffle(order)
    stride, at, offset = {}, 1, 0
    for p in order:
        stride[p[0], p[1]] = at
        if rng.random() < 0.1 and p[2] > 1:
            stride[p[0], p[1]] = -at
            offset += at * (p[2] - 1)
        at = at * p[2] + (rng.randint(1, 3) if rng.random() < 0.2 else 0)
    shape, steps = [], []
    for d in range(len(extents)):
        mine = [p for p in pieces if p[0] == d]
        e = [str(p[2]) for p in mine]
        s = [str(stride[p[0], p[1]]) for p in mine]
        shape.append(e[0] if len(e) == 1 else "(%s)" % ", ".join(e))
        steps.append(s[0] if len(s) == 1 else "(%s)" % ", ".join(s))
    text = "(%s) : (%s)" % (", ".join(shape), ", ".join(steps))
    return text + (" + %d" % offset if offset else "")


class Maker:
    def __init__(self, seed):
        self.rng = rng = self.random(seed)
        self.n_name = 0
        self.bm, self.bn = rng.choice(EXTENTS), rng.choice(EXTENTS + [48, 64])
        self.bk = rng.choice(EXTENTS)
        self.kind = rng.choice(["m", "m", "mn", "mn", "pmn"])
        self.size = {"M": self.some_size(self.bm), "N": self.some_size(self.bn),
                     "K": self.some_size(self.bk), "P": rng.randint(1, 2)}
        self.c = rng.choice([1, 2, 3, 4, 6, 8, 9, 16, 20])
        self.m = Axis("m", "M", "i*%d + m" % self.bm, self.bm)
        self.n = Axis("n", "N", "n", None)
        self.cax = Axis("c", str(self.c), "c", self.c)
        self.scope, self.p = "i : M by %d" % self.bm, None
        self.needed = [self.m]
        if self.kind != "m":
            self.n = Axis("n", "N", "j*%d + n" % self.bn, self.bn)
            self.scope += ", j : N by %d" % self.bn
            self.needed.append(self.n)
        if self.kind == "pmn":
            self.p = Axis(None, "P", "p", None)
            self.scope = "p : P, " + self.scope
            self.needed.append(self.p)
        self.whole_k = Axis("k", "K", "k", None)
        self.part_k = Axis("k", "K", "t*%d + k" % self.bk, self.bk)
        self.segments = []
        for _ in range(rng.randint(2, 4)):
            self.seg = Segment()
            rng.choice(self.makers())()
            self.segments.append(self.seg)

    # ------------------------------------------------------------ small parts

    def random(self, seed):
        return random.Random(seed)

    def makers(self):
        return [self.elementwise] * 4 + [self.fold] * 3 + \
            [self.contract] * 4 + [self.loop] * 2 + \
            [self.carried, self.scatter, self.threads, self.threads,
             self.gathered]

    def some_size(self, b):
        r = self.rng
        return max(0, r.choice([0, 1, 2, b - 1, b, b + 1, 2 * b + 1, 19, 37,
                                40, r.randint(1, 70), r.randint(1, 70)]))

    def name(self, stem):
        self.n_name += 1
        return "%s%d" % (stem, self.n_name)

    def use(self, axes):
        for a in axes:
            if a.var:
                self.seg.indices.add(a.var)

    def param(self, direction, kind, axes, shift_ok=False):
        r = self.rng
        stem = {"in": "X", "out": "Y", "inout": "Z"}[direction]
        s = Source(self.name(stem), kind, axes, True)
        shape = [a.size for a in axes]
        self.seg.params.append((direction, kind, s.name, shape))
        if direction == "out" and r.random() < 0.1 or \
                direction != "out" and r.random() < 0.3:
            self.seg.order[s.name] = \
                r.choice(["strided", "F"]) if direction != "out" else "strided"
        movable = [i for i, a in enumerate(axes) if a.var]
        if shift_ok and movable and \
                r.random() < (0.5 if shift_ok == "any" else 0.15):
            i = r.choice(movable)
            other = r.choice([axes[j].sub for j in movable])
            how = ["%s + 1", "%s + 3", "%s + 5", "%s - 1", "%s - 4"]
            if shift_ok == "any":
                how += ["2*(%s)", "7 - (%s)", "%s + (" + other + ")"]
                if r.random() < 0.3:
                    how = ["(%s) / 2", "(%s) %% 5 - 1"]
                elif r.random() < 0.4:
                    how = [self.table(axes[i]) + "[%s] %% 9 - 1"]
            s.shift = (i, r.choice(how))
        self.use(axes)
        return s

    def table(self, axis):
        """An integer tensor along the axis."""
        name = self.name("R")
        self.seg.params.append(
            ("in", self.rng.choice(["i32", "i64", "u8"]), name, [axis.size]))
        return name

    def tile(self, kind, axes, init=None):
        s = Source(self.name("t"), kind, axes, False)
        r = self.rng
        extents = [a.extent for a in axes]
        text = "%s %s %s[%s]" % (r.choice(["reg", "shared"]), kind, s.name,
                                 ", ".join(map(str, extents)))
        if r.random() < 0.5:
            text += " : " + random_layout(r, extents)
        if init is not None:
            text += " = " + init
        self.seg.lines.append(text + ";")
        self.use(axes)
        return s

    def some_kind(self):
        return self.rng.choice(FLOATS + INTS)

    def subset(self, axes, must=()):
        out = [a for a in axes if a in must or self.rng.random() < 0.7]
        self.rng.shuffle(out)
        return out or [axes[0]]

    # ------------------------------------------------------------ expressions

    def load(self, kind, axes, sources):
        """A load as `kind`, exact; axes it may mention."""
        r = self.rng
        fit = [s for s in sources if all(a in axes for a in s.axes)]
        if fit and r.random() < 0.7:
            s = r.choice(fit)
        else:
            k = kind if r.random() < 0.6 else self.some_kind()
            s = self.param("in", k, self.subset(axes), True)
            sources.append(s)
        text = s.load()
        if s.kind == kind:
            return text
        whole = kind[0] in "iu"
        if whole and s.kind[0] not in "iu":
            return "%s(%s * 16.0)" % (kind, text)
        return "%s(%s)" % (kind, text)

    def arithmetic(self, sub):
        """What is computed of an index, and may be below zero."""
        r = self.rng
        for _ in range(r.randint(0, 2)):
            sub = r.choice(["abs(%s - 3)", "-(%s)", "(%s) / 3", "(%s) %% 7",
                            "cdiv(%s, 4)", "min(%s, 5)", "max(%s, 2)",
                            "5 - (%s)", "3*(%s)", "(%s) * -2 + 1"]) % sub
        return sub

    def computed(self, sub):
        """That, and more than a step along the index for sure."""
        return self.arithmetic(self.rng.choice(
            ["(%s) / 2", "(%s) * 3 %% 7", "abs(%s - 4)", "min(%s, 9)"]) % sub)

    def guarded(self, kind, axes, sources):
        """A gather under a condition on the place, or two by one table."""
        r = self.rng
        a = r.choice([a for a in axes if a.var])
        x = self.param("in", kind, [a])
        at = "%s[%s]" % (self.table(a), a.sub)
        x = "%s[%%s]" % x.name
        if r.random() < 0.5:
            return "(%s >= 0 ? %s : %s)" % (at, x % at, r.choice("12"))
        return "(%s + %s)" % (x % at, x % r.choice(
            ["2*" + at, "abs(%s)" % at, "cdiv(%s, 3)" % at, "-" + at]))

    def condition(self, axes, sources):
        r = self.rng
        moving = [a for a in axes if a.var]
        if moving and r.random() < 0.4:
            a = r.choice(moving)
            b = r.choice(moving)
            return r.choice(["%s >= %s", "%s %% 3 == %s %% 2", "%s < %s + 2",
                             "%s != %s"]) % (a.sub, b.sub)
        globals_only = [s for s in sources if s.is_global]
        a = self.load("f32", axes, globals_only)
        c = "%s %s %s" % (a, r.choice(["<", ">", "<=", ">="]),
                          r.choice(["0.0", "0.25"]))
        if r.random() < 0.2:
            c = "!(%s) || %s" % (c, self.condition(axes, sources))
        return c

    def expr(self, kind, axes, sources, depth, folds=()):
        r = self.rng
        if depth == 0:
            if r.random() < 0.15:
                return r.choice(["2", "3"] if kind[0] in "iu"
                                else ["0.5", "1.25", "2"])
            return self.load(kind, axes, sources)
        if folds and r.random() < 0.35:
            return self.reduction(kind, axes, sources, depth, folds)

        def sub():
            return self.expr(kind, axes, sources, depth - 1, folds)

        real = kind[0] in "fb"
        form = r.choice(["+", "-", "*", "min", "max", "abs", "?", "-x", "cast",
                         "index", "guard", "load", "/", "f", "f"])
        if form in "+-*" and len(form) == 1:
            return "(%s %s %s)" % (sub(), form, sub())
        if form in ("min", "max"):
            return "%s(%s, %s)" % (form, sub(), sub())
        if form == "abs":
            return "abs(%s)" % self.load(kind, axes, sources)
        if form == "?":
            return "(%s ? %s : %s)" % (self.condition(axes, sources), sub(),
                                       sub())
        if form == "-x" and kind[0] != "u":
            return "-(%s)" % self.load(kind, axes, sources)
        if form == "cast" and real:
            via = r.choice(["f64", "f32", kind])
            return "%s(%s)" % (kind, self.expr(via, axes, sources, depth - 1))
        if form == "index" and [a for a in axes if a.var]:
            a = r.choice([a for a in axes if a.var])
            return "%s(%s)" % (kind, self.arithmetic(a.sub))
        if form == "guard" and [a for a in axes if a.var]:
            return self.guarded(kind, axes, sources)
        if form == "/" and not real:
            return "(%s / %s)" % (sub(), r.choice(
                ["3", "7", self.load(kind, axes, sources)]))
        if form == "/":
            x = self.load(kind, axes, sources)
            return "(%s / (abs(%s) + 1.5))" % (sub(), x)
        if form == "f" and real:
            x = self.load(kind, axes, sources)
            return r.choice(["exp(%s)", "exp2(%s)", "tanh(%s)",
                             "sqrt(abs(%s) + 0.5)", "rsqrt(abs(%s) + 0.5)",
                             "log(abs(%s) + 0.5)"]) % x
        return self.load(kind, axes, sources)

    def picked(self, kind, axes, over):
        """An argmax of elements as they are: ties must not be near ones."""
        r = self.rng
        s = self.param("in", self.some_kind(), self.subset(axes + [over],
                                                           [over]))
        return "%s(min(%s[%s](%s), 99))" % (
            kind, r.choice(["argmax", "argmin"]), over.var, s.load())

    def reduction(self, kind, axes, sources, depth, folds):
        r = self.rng
        if r.random() < 0.4:
            return self.picked(kind, list(axes), r.choice(list(folds)))
        over = r.sample(list(folds), r.randint(1, len(folds)))
        op = r.choice(["sum", "sum", "max", "min", "prod"])
        if op == "prod" and kind[0] in "fb":
            op = "sum"
        fresh = [s for s in sources if any(a in over for a in s.axes)]
        src = [s for s in fresh if all(a in over or a in axes for a in s.axes)]
        inner = [self.param("in", kind if r.random() < 0.7 else "f32",
                            self.subset(over + list(axes), over))
                 if not src or r.random() < 0.4 else r.choice(src)]
        sources += [s for s in inner if s not in sources]
        text = inner[0].load()
        covered = inner[0].axes
        for a in over:
            if a not in covered:
                s = self.param("in", "f32", [a])
                sources.append(s)
                text2 = s.load()
                if inner[0].kind != "f32":
                    text2 = self.cast(inner[0].kind, "f32", text2)
                text = "(%s + %s)" % (text, text2)
        text = self.cast(kind, inner[0].kind, text)
        if r.random() < 0.5:
            text = "%s %s %s" % (text, r.choice("+*"), self.expr(
                kind, list(axes) + over, sources, depth - 1))
        counted = [a for a in over if a.var]
        if counted and r.random() < 0.3:
            a = r.choice(counted)
            x = self.param("in", kind, [a])
            text = "(%s) %s %s[%s]" % (text, r.choice("+*"), x.name,
                                       self.computed(a.sub))
        if r.random() < 0.3 and any(a.var for a in list(axes) + over):
            text = "%s ? %s : %s" % (
                self.condition(list(axes) + over, []), text,
                {"sum": "0", "prod": "1"}.get(op, text))
        return "%s[%s](%s)" % (op, ", ".join(a.var for a in over), text)

    def cast(self, to, kind, text):
        if to == kind:
            return text
        if to[0] in "iu" and kind[0] in "fb":
            return "%s(%s * 16.0)" % (to, text)
        return "%s(%s)" % (to, text)

    def value(self, dst, axes, sources, folds=()):
        """An expression of dst's type, computed in some type."""
        r = self.rng
        if r.random() < 0.25:
            return self.load(dst, axes, sources)
        kind = dst
        if r.random() < 0.5:
            kind = COMPUTE[dst] if dst[0] in "iu" or r.random() < 0.8 else "f64"
        text = self.expr(kind, axes, sources, r.randint(1, 3), folds)
        if kind == dst:
            return text
        return "%s(%s)" % (dst, text)

    # --------------------------------------------------------------- segments

    def out_axes(self, more=()):
        axes = self.needed + [a for a in more if self.rng.random() < 0.6]
        self.rng.shuffle(axes)
        return axes

    def stage(self, source, axes):
        """Perhaps copy a source into a tile of other order and use that."""
        r = self.rng
        if source.shift or not source.is_global or r.random() < 0.4 or \
                any(a.var and a.extent is None for a in source.axes):
            return source
        mine = [a for a in source.axes if a.var]
        if not mine or len(set(mine)) < len(mine):
            return source
        r.shuffle(mine)
        t = self.tile(source.kind if r.random() < 0.6 else self.some_kind(),
                      mine)
        self.seg.lines.append("%s = %s;" % (t.load(), self.cast(
            t.kind, source.kind, source.load())))
        return t

    def elementwise(self):
        r = self.rng
        more = [self.cax] + ([self.n] if self.n not in self.needed else [])
        sources, axes = [], self.out_axes(more)
        direction = "out" if r.random() < 0.8 else "inout"
        for _ in range(r.randint(0, 2)):
            s = self.param("in", self.some_kind(), self.subset(axes), "any")
            sources.append(self.stage(s, axes))
        dst = self.param(direction, self.some_kind(), axes)
        self.seg.order.pop(dst.name if r.random() < 0.5 else None, None)
        if all(a.extent or not a.var for a in axes) and r.random() < 0.6:
            mine = [a for a in axes if a.var]
            r.shuffle(mine)
            t = self.tile(r.choice([dst.kind, self.some_kind()]), mine)
            self.seg.lines.append("%s = %s;" % (
                t.load(), self.value(t.kind, axes, sources)))
            sources = [t]
        op = r.choice(["=", "=", "+=", "max=", "min=", "*="]) \
            if direction == "inout" else "="
        self.seg.lines.append("%s %s %s slow;" % (
            dst.load(), op, self.value(dst.kind, axes, sources)))

    def scatter(self):
        """Rows of a table, some named twice, in order."""
        r = self.rng
        c = r.choice([self.cax, self.whole_k])
        sources, axes = [], self.out_axes()
        dst = self.param("inout", self.some_kind(), axes)
        self.seg.params[-1][3].insert(0, "5")
        self.seg.order.pop(dst.name, None)
        self.use([c])
        self.seg.lines.append("%s %s %s slow;" % (
            dst.load().replace("[", "[%s[%s] %% 6, " % (
                self.table(c), c.sub), 1),
            r.choice(["=", "=", "+=", "max="]),
            self.value(dst.kind, axes + [c], sources)))

    def fold(self):
        r = self.rng
        axes = self.out_axes([self.cax])
        folds = [a for a in [self.cax, self.n, self.whole_k] if a not in axes]
        r.shuffle(folds)
        folds = folds[:r.randint(1, 2)] or [self.whole_k]
        sources = []
        for _ in range(r.randint(1, 2)):
            s = self.param("in", self.some_kind(),
                           self.subset(axes + folds, folds))
            sources.append(self.stage(s, axes))
        direction = r.choice(["out", "inout"])
        dst = self.param(direction, self.some_kind(), axes)
        if direction == "out":
            self.seg.lines.append("%s = %s;" % (dst.load(), self.value(
                dst.kind, axes, sources, folds)))
            return
        op = r.choice(["+=", "+=", "max=", "min="])
        src = r.choice([s for s in sources])
        value = self.cast(dst.kind, src.kind, src.load())
        if r.random() < 0.5:
            value += " %s %s" % (r.choice("+*"), self.expr(
                dst.kind, axes + src.axes, [], 1))
        self.seg.lines.append("%s %s %s slow;" % (dst.load(), op, value))

    def gathered(self):
        """A fold over what is read where an index computes."""
        r = self.rng
        axes = self.out_axes([self.cax])
        over = r.choice([a for a in [self.n, self.whole_k] if a not in axes])
        kind = r.choice(["f32", "f32", self.some_kind()])
        x = self.param("in", kind, [over])
        sub = self.computed(over.sub)
        if r.random() < 0.3:
            sub += " + %s" % r.choice(axes).sub
        sources = [self.param("in", kind, self.subset(axes + [over], [over]))]
        dst = self.param("out", kind, axes)
        self.seg.lines.append("%s = %s[%s](%s * %s[%s]);" % (
            dst.load(), r.choice(["sum", "sum", "max", "min"]), over.var,
            sources[0].load(), x.name, sub))

    def factor(self, kind, axes, pipe):
        """A tile of these axes, filled from a global in the loop."""
        r = self.rng
        glob = axes + ([self.p] if self.p and r.random() < 0.7 else [])
        r.shuffle(glob)
        src = self.param("in", kind if r.random() < 0.85 else "f32", glob)
        mine = axes[:]
        r.shuffle(mine)
        t = Source(self.name("t"), kind, mine, False)
        extents = [a.extent for a in mine]
        text = "shared %s %s[%s]" % (kind, t.name, ", ".join(map(str, extents)))
        if r.random() < 0.4:
            text += " : " + random_layout(r, extents)
        value = self.cast(kind, src.kind, src.load())
        if r.random() < 0.15 and kind[0] in "fb":
            value = "%s * 0.5" % value
        if pipe:
            t.name = pipe + "." + t.name
        return t, text + ";", "%s = %s;" % (t.load(), value)

    def contract(self):
        r = self.rng
        if self.kind == "m":
            col, cols = self.cax, [self.m, self.cax]
        else:
            col, cols = self.n, [self.m, self.n]
        kind = r.choice(["f32", "f32", "f32", "f64", "f16", "bf16", "i8",
                         "i32"])
        acc_kind = {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(kind, kind)
        out = cols + ([self.p] if self.p else [])
        r.shuffle(out)
        mine = cols[:]
        r.shuffle(mine)
        acc = self.tile(acc_kind, mine, "0" if r.random() < 0.9 else "1")
        pipe = self.name("ring") if r.random() < 0.5 else None
        a, decl_a, fill_a = self.factor(kind, [self.m, self.part_k], pipe)
        b, decl_b, fill_b = self.factor(kind, [col, self.part_k], pipe)
        la, lb = a.load(), b.load()
        if r.random() < 0.2:
            la, lb = "%s(%s)" % (acc_kind, la), "%s(%s)" % (acc_kind, lb)
        if r.random() < 0.3:
            la, lb = lb, la
        update = "%s += %s * %s slow;" % (acc.load(), la, lb)
        lines = self.seg.lines
        if pipe:
            lines.append("pipeline %s[%d] { %s %s }" % (
                pipe, r.randint(1, 3), decl_a, decl_b))
            lines.append("for (t : K by %d) { produce %s { %s %s } consume %s "
                         "%s }" % (self.bk, pipe, fill_a, fill_b, pipe, update))
        else:
            lines += [decl_a, decl_b]
            lines.append("for (t : K by %d) { %s %s %s }" % (
                self.bk, fill_a, fill_b, update))
        dst = self.param("out", r.choice([kind, acc_kind]), out)
        sources = []
        text = acc.load()
        if r.random() < 0.4:
            text = "%s + %s" % (text, self.expr(acc_kind, cols, sources, 1))
        lines.append("%s = %s;" % (dst.load(),
                                   self.cast(dst.kind, acc_kind, text)))

    def loop(self):
        """Tiles that a loop fills and folds."""
        r = self.rng
        kept = [a for a in [self.m, self.n, self.cax]
                if a.extent and (a in self.needed or r.random() < 0.4)]
        kind = r.choice(["f32", "f64", "i32", "f16"])
        acc = self.tile(kind, kept, "0" if r.random() < 0.7 else "1")
        axes = self.subset(kept + [self.part_k], [self.part_k])
        src = self.param("in", r.choice([kind, self.some_kind()]), axes, True)
        body = []
        held, self.seg.lines = self.seg.lines, body
        used = self.stage(src, axes)
        op = r.choice(["+=", "+=", "max=", "min=", "="])
        value = self.cast(kind, used.kind, used.load())
        if op == "=":
            value = "%s + %s[k](%s)" % (acc.load(), r.choice(
                ["sum", "max", "min"]), value)
        body.append("%s %s %s slow;" % (acc.load(), op, value))
        self.seg.lines = held
        decl = [x for x in body if x.startswith(("reg", "shared"))]
        if r.random() < 0.5:
            body = [x for x in body if x not in decl]
            self.seg.lines += decl
        self.seg.lines.append("for (t : K by %d) { %s }" % (
            self.bk, " ".join(body)))
        dst = self.param("out", kind, self.needed + [
            a for a in kept if a not in self.needed])
        self.seg.lines.append("%s = %s;" % (dst.load(), acc.load()))

    def carried(self):
        """A tile that is used before it is filled again."""
        r = self.rng
        acc = self.tile("f32", [self.m], "0")
        t = self.tile("f32", r.choice([[self.m, self.part_k],
                                       [self.part_k, self.m]]),
                      r.choice(["0", "1"]))
        x = self.param("in", "f32", r.choice([[self.m, self.part_k],
                                              [self.part_k, self.m]]))
        use = "%s += %s;" % (acc.load(), t.load())
        fill = "%s = %s;" % (t.load(), x.load())
        y = self.param("out", "f32", [self.m, self.part_k] +
                       [a for a in self.needed if a is not self.m])
        show = "%s = %s;" % (y.load(), t.load())
        body = [use, fill] + ([show] if r.random() < 0.5 else [])
        if r.random() < 0.5:
            r.shuffle(body)
        text = "for (t : K by %d) { %s }" % (self.bk, " ".join(body))
        if r.random() < 0.4:
            text = "for (u : 2) { %s }" % text
        if r.random() < 0.4:
            text += " for (t : K by %d) { %s }" % (self.bk, use)
        self.seg.lines.append(text)
        out = self.param("out", "f32", self.needed)
        self.seg.lines.append("%s = %s;" % (out.load(), acc.load()))


    def nest(self):
        """Headers of a nest over the needed tiles, and what m and n are."""
        r = self.rng
        m, n, k = self.name("a"), self.name("b"), self.name("c")
        bn = self.bn if self.n in self.needed else 1
        scope = r.choice(["for (%s : %d)", "thread (%s : 0..%d)"])
        style = r.choice(["plain", "plain", "flat", "split", "swap"])
        if style == "flat":
            head = scope % (m, self.bm * bn)
            return head, "(%s/%d)" % (m, bn), "%s%%%d" % (m, bn)
        heads = [scope % (m, self.bm), "for (%s : %d)" % (n, bn)]
        if style == "split" and divisors(self.bm):
            f = r.choice(divisors(self.bm))
            heads[0] = "%s for (%s : %d..%d)" % (
                scope % (m, self.bm // f), k, f, 2 * f)
            m = "(%s*%d + %s - %d)" % (m, f, k, f)
        if style == "swap" and not heads[0].startswith("thread"):
            heads.reverse()
        return " ".join(heads), m, n

    def threads(self):
        """Loops and threads around elements and scalars, in integers."""
        r = self.rng
        head, m, n = self.nest()
        axes = self.subset(self.needed, self.needed)
        body = r.choice(["copy", "copy", "count", "walk"])
        kind = "i32" if body != "copy" else r.choice(["f32", "i32", "f64"])
        src = self.param("in", kind, axes + ([self.cax] if body == "walk"
                                             else []))
        dst = self.param("inout" if r.random() < 0.3 else "out", kind,
                         self.subset(self.needed, self.needed))

        def at(text, c="0"):
            for var, now in (("m", m), ("n", n), ("c", c)):
                text = re.sub(r"\b%s\b" % var, now, text)
            return text

        x, y, v = at(src.load(), "q"), at(dst.load()), self.name("v")
        if body == "copy":
            text = "%s %s %s%s;" % (y, r.choice(["=", "=", "+=", "max="])
                                    if "Z" in y else "=", x, r.choice(
                ["", " * 3", " + %s(%s)" % (kind, m), " * %s(%s) + 1" % (
                    kind, n)]))
        elif body == "count":
            text = ("i32 %(v)s = 0; i32 x%(v)s = abs(%(x)s) + 2; while (%(c)s) "
                    "{ %(v)s += %(d)d; if (%(v)s * %(v)s > x%(v)s) break; %(e)s"
                    " } %(y)s = %(v)s;") % {
                "v": v, "x": x, "y": y, "d": r.randint(1, 3),
                "c": r.choice(["true", v + " < 9", v + " < x" + v]),
                "e": r.choice(["", "if (%s > 4) continue;" % v,
                               "if (%s > 4 && %s != 7) { x%s = 0; } else "
                               "x%s += -1;" % (v, v, v, v)])}
        else:
            text = ("i64 %(v)s = %(s)d; for (q : %(f)d..%(c)d%(step)s) { "
                    "if (%(x)s %(op)s 2) %(g)s; %(v)s %(fold)s i64(%(x)s); } "
                    "%(y)s = i32(%(v)s);") % {
                "v": v, "x": x, "y": y, "s": r.randint(-3, 3),
                "f": r.randint(0, self.c - 1), "c": self.c,
                "step": r.choice(["", " step 2", " step 3"]),
                "op": r.choice(["<", ">", "=="]),
                "g": r.choice(["break", "continue"]),
                "fold": r.choice(["+=", "max=", "min="])}
        self.seg.lines.append("%s { %s }" % (head, text))
        self.seg.indices -= {"m", "n", "c"}
