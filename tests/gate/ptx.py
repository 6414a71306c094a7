"""Runs PTX, as far as printed kernels use it, on arrays of NumPy.

A CTA's threads are the elements of vectors: a register is an array of its bits,
one element for each thread.  Threads have program counters of their own; those
at the lowest one run next, so that they meet again behind branches, and none is
ahead of a barrier.  Asynchronous copies are done at once: this checks what is
computed and where from, not order, which is the simulator's to check.

Every access is checked against the arrays that are there.
"""

import re

import numpy as np

WARP = 32
INT = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}


class Wrong(Exception):
    pass


# ------------------------------------------------------------------- reading


def statements(text):
    """Statements of a function's body; `{` and `}` of scopes by themselves."""
    i = 0
    while i < len(text):
        c = text[i]
        if c.isspace():
            i += 1
        elif c in "{}":
            yield c
            i += 1
        else:
            m = re.compile(r"[$\w]+:").match(text, i)
            if m:
                yield m[0]
                i = m.end()
            else:
                end = text.index(";", i)
                yield text[i:end].strip()
                i = end + 1


def operands(text):
    """Cut at commas that are in no braces or brackets."""
    out, depth, word = [], 0, ""
    for c in text:
        depth += c in "{[" and 1 or 0
        depth -= c in "}]" and 1 or 0
        if c == "," and depth == 0:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


class Kernel:
    """name, params: (name, bits); code: (guard, not, opcode words, operands)"""

    def __init__(self, name, params, body):
        self.name, self.params = name, params
        self.code, self.labels, self.bits = [], {}, {}
        scopes, unique = [{}], 0
        for s in statements(body):
            if s == "{":
                scopes.append({})
                continue
            if s == "}":
                scopes.pop()
                continue
            if s.startswith(".reg"):
                unique += 1
                self.declare(s, scopes[-1] if len(scopes) > 1 else None, unique)
                continue
            if s.startswith("."):
                continue
            if s.endswith(":"):
                self.labels[s[:-1]] = len(self.code)
                continue
            for scope in scopes[1:]:
                for old, new in scope.items():
                    s = re.sub(rf"(?<![%\w.]){old}(?![\w])", new, s)
            self.code.append(self.instruction(s))

    def declare(self, s, scope, unique):
        kind, names = s.split(None, 2)[1:]
        bits = 1 if kind == ".pred" else int(kind[2:])
        for name in names.split(","):
            name = name.strip()
            m = re.match(r"(.*)<(\d+)>", name)
            if m:
                for i in range(int(m[2])):
                    self.bits[m[1] + str(i)] = bits
            else:
                new = f"{name}_{unique}"
                if scope is not None:
                    scope[name] = new
                self.bits[new if scope is not None else name] = bits

    @staticmethod
    def instruction(s):
        guard = None
        if s[0] == "@":
            guard, s = s.split(None, 1)
        word, _, rest = s.partition(" ")
        if "\t" in word:
            word, _, more = word.partition("\t")
            rest = more + " " + rest
        negated = guard is not None and guard[1] == "!"
        name = guard and guard[2 if negated else 1 :]
        return name, negated, word.split("."), operands(rest)


def read(text):
    """name -> Kernel"""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    out = {}
    for m in re.finditer(r"\.entry (\w+)\((.*?)\)(.*?)\{", text, re.S):
        depth, i = 1, m.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            i += 1
        params = [
            (w.split()[-1], int(w.split()[-2][2:])) for w in m[2].split(",") if w.strip()
        ]
        out[m[1]] = Kernel(m[1], params, text[m.end() : i - 1])
    return out


# -------------------------------------------------------------------- memory


class Memory:
    """Bytes, and which of them there are."""

    def __init__(self, n):
        self.data = np.zeros(n, np.uint8)
        self.there = np.zeros(n, bool)

    def check(self, at, n, what):
        if len(at) == 0:
            return
        if (at % n).any():
            raise Wrong(f"{what}: address {at[at % n != 0][0]} is no multiple of {n}")
        last = at + np.int64(n - 1)
        if at.min() < 0 or last.max() >= len(self.data):
            raise Wrong(f"{what}: address {at[(at < 0) | (last >= len(self.data))][0]}")
        if not (self.there[at] & self.there[last]).all():
            bad = at[~(self.there[at] & self.there[last])][0]
            raise Wrong(f"{what}: nothing is at address {bad}")

    def load(self, at, bits, count, what):
        """[count] arrays of `bits`"""
        n = bits // 8
        self.check(at, n * count, what)
        words = self.data.view(INT[bits])
        return [words[at // n + k] for k in range(count)]

    def store(self, at, bits, values, what):
        n = bits // 8
        self.check(at, n * len(values), what)
        words = self.data.view(INT[bits])
        for k, v in enumerate(values):
            words[at // n + k] = v


# ----------------------------------------------------------------- execution


def widen(x, kind):
    """Bits as numbers of a PTX type, ".s32" without the dot."""
    bits = int(re.sub(r"\D", "", kind))
    table = {"s": SIGNED, "f": FLOAT}.get(kind[0], INT)
    x = np.asarray(x)
    if x.dtype.itemsize * 8 > bits:
        x = x.astype(INT[bits])
    return x.view(table[bits])


def bf16(x):
    """Bits of bf16 as float32."""
    return (np.asarray(x, np.uint16).astype(np.uint32) << 16).view(np.float32)


def to_bf16(x):
    b = np.asarray(x, np.float32).view(np.uint32)
    r = (b + 0x7FFF + (b >> 16 & 1)) >> 16
    return np.where(np.isnan(x), 0x7FFF, r).astype(np.uint16)


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.fmin,
    "max": np.fmax,
}
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


class CTA:
    def __init__(self, kernel, n_thread, block, n_block, args, memory, shared):
        self.k, self.n = kernel, n_thread
        self.reg, self.args, self.memory = {}, args, memory
        self.shared = Memory((shared + 15) // 16 * 16)
        self.shared.there[:] = True
        t = np.arange(n_thread, dtype=np.uint32)
        self.special = {
            "%tid.x": t,
            "%ctaid.x": np.full(n_thread, block, np.uint32),
            "%nctaid.x": np.full(n_thread, n_block, np.uint32),
        }
        self.pc = np.zeros(n_thread, np.int64)
        self.met = np.zeros(n_thread, bool)

    # ------------------------------------------------------------ operands

    def get(self, s, bits=None):
        """An operand's bits, one for each thread."""
        if s in self.reg:
            return self.reg[s]
        if s in self.special:
            return self.special[s]
        if s in self.k.bits:
            kind = bool if self.k.bits[s] == 1 else INT[self.k.bits[s]]
            self.reg[s] = np.zeros(self.n, kind)
            return self.reg[s]
        if s == "shared":
            return np.zeros(self.n, np.uint64)
        if s.startswith("0f"):
            return np.full(self.n, int(s[2:], 16), np.uint32)
        if s.startswith("0d"):
            return np.full(self.n, int(s[2:], 16), np.uint64)
        value = int(s.rstrip("U"), 0)
        bits = max(bits or 64, 8)
        return np.full(self.n, value & (1 << bits) - 1, INT[bits])

    def put(self, s, value, run):
        if s == "_":
            return
        bits = self.k.bits[s]
        kind = bool if bits == 1 else INT[bits]
        value = np.asarray(value)
        if value.dtype != kind:
            if bits > 1 and value.dtype.itemsize * 8 == bits:
                value = value.view(kind)
            else:
                value = value.astype(kind)
        self.reg[s] = value.copy() if run.all() else np.where(run, value, self.get(s))

    def address(self, s):
        """[reg+4] as an int64 for each thread"""
        base, _, off = s[1:-1].strip().partition("+")
        at = self.get(base.strip()).astype(np.int64)
        return at + int(off) if off else at

    # --------------------------------------------------------------- running

    def run(self):
        code, end = self.k.code, len(self.k.code)
        while True:
            ready = ~self.met & (self.pc < end)
            if not ready.any():
                if not self.met.any():
                    return
                self.met[:] = False
                continue
            pc = self.pc[ready].min()
            run = ready & (self.pc == pc)
            self.step(code[pc], int(pc), run)

    def step(self, instruction, pc, run):
        guard, negated, op, args = instruction
        if guard is not None:
            g = self.get(guard) ^ negated
            taken = run & g
        else:
            taken = run
        self.pc[run] = pc + 1
        if op[0] in ("bra",):
            self.pc[taken] = self.k.labels[args[0]]
        elif op[0] in ("ret", "exit"):
            self.pc[taken] = len(self.k.code)
        elif op[0] in ("bar", "barrier") and op[1] == "sync":
            self.met[taken] = True
        elif op[0] == "bar" and op[1] == "warp":
            pass
        elif taken.any():
            getattr(self, "op_" + op[0])(op, args, taken)

    # ------------------------------------------------------------- arithmetic

    def numbers(self, args, kind):
        bits = int(kind[1:])
        return [widen(self.get(a, bits), kind) for a in args]

    def binary(self, op, args, run):
        if op[-1] == "pred":
            x = [self.get(a) for a in args[1:]]
        else:
            x = self.numbers(args[1:], op[-1])
        with np.errstate(all="ignore"):
            self.put(args[0], BINARY[op[0]](x[0], x[1]), run)

    op_add = op_sub = op_and = op_or = op_xor = op_min = op_max = binary

    def op_mul(self, op, args, run):
        kind = op[-1]
        x, y = self.numbers(args[1:], kind)
        with np.errstate(all="ignore"):
            if op[1] == "wide":
                big = (SIGNED if kind[0] == "s" else INT)[2 * int(kind[1:])]
                r = x.astype(big) * y.astype(big)
            elif op[1] == "hi":
                r = (x.astype(np.int64) * y.astype(np.int64)) >> 32
                r = r.astype(np.uint64).astype(np.uint32)
            else:
                r = x * y
        self.put(args[0], r, run)

    def op_mad(self, op, args, run):
        x, y, z = self.numbers(args[1:], op[-1])
        with np.errstate(all="ignore"):
            if op[1] == "wide":
                raise Wrong("mad.wide")
            self.put(args[0], x * y + z, run)

    def op_fma(self, op, args, run):
        x, y, z = (v.astype(np.float64) for v in self.numbers(args[1:], op[-1]))
        with np.errstate(all="ignore"):
            r = x * y + z
            if op[1] == "rm":
                f = r.astype(np.float32)
                down = np.nextafter(f, np.float32(-np.inf))
                r = np.where(f.astype(np.float64) > r, down, f)
            self.put(args[0], r.astype(FLOAT[int(op[-1][1:])]), run)

    def op_div(self, op, args, run):
        x, y = self.numbers(args[1:], op[-1])
        with np.errstate(all="ignore"):
            if op[-1][0] == "f":
                r = x / y
            else:
                safe = np.where(y == 0, 1, y).astype(y.dtype)
                q = np.abs(x) // np.abs(safe) if op[-1][0] == "s" else x // safe
                r = np.where((x < 0) ^ (y < 0), -q, q) if op[-1][0] == "s" else q
                r = r.astype(x.dtype)
        self.put(args[0], r, run)

    def op_rem(self, op, args, run):
        x, y = self.numbers(args[1:], op[-1])
        safe = np.where(y == 0, 1, y).astype(y.dtype)
        r = np.fmod(x, safe)
        self.put(args[0], r.astype(x.dtype), run)

    def unary(self, f):
        def do(op, args, run):
            (x,) = self.numbers(args[1:], op[-1])
            with np.errstate(all="ignore"):
                self.put(args[0], f(x).astype(x.dtype), run)

        return do

    def op_neg(self, op, args, run):
        self.unary(np.negative)(op, args, run)

    def op_abs(self, op, args, run):
        self.unary(np.abs)(op, args, run)

    def op_rcp(self, op, args, run):
        self.unary(lambda x: 1 / x)(op, args, run)

    def op_sqrt(self, op, args, run):
        self.unary(np.sqrt)(op, args, run)

    def op_rsqrt(self, op, args, run):
        self.unary(lambda x: 1 / np.sqrt(x))(op, args, run)

    def op_ex2(self, op, args, run):
        self.unary(np.exp2)(op, args, run)

    def op_lg2(self, op, args, run):
        self.unary(np.log2)(op, args, run)

    def op_tanh(self, op, args, run):
        self.unary(np.tanh)(op, args, run)

    def op_not(self, op, args, run):
        x = self.get(args[1], None if op[-1] == "pred" else int(op[-1][1:]))
        self.put(args[0], ~x, run)

    def op_shl(self, op, args, run):
        bits = int(op[-1][1:])
        x = widen(self.get(args[1], bits), f"b{bits}")
        n = self.get(args[2], 32).astype(INT[bits])
        self.put(args[0], np.where(n < bits, x << np.minimum(n, bits - 1), 0), run)

    def op_shr(self, op, args, run):
        bits = int(op[-1][1:])
        x = widen(self.get(args[1], bits), op[-1])
        n = np.minimum(self.get(args[2], 32).astype(np.int64), bits - 1)
        over = self.get(args[2], 32) >= bits
        r = x >> n.astype(x.dtype)
        if op[-1][0] != "s":
            r = np.where(over, 0, r).astype(x.dtype)
        self.put(args[0], r, run)

    def op_bfi(self, op, args, run):
        a, b = (self.get(s, 32) for s in args[1:3])
        pos, n = (int(s) for s in args[3:5])
        mask = np.uint32(((1 << n) - 1) << pos & 0xFFFFFFFF)
        self.put(args[0], (b & ~mask) | (a << np.uint32(pos) & mask), run)

    def op_bfe(self, op, args, run):
        pos, n = (int(s) for s in args[2:4])
        x = widen(self.get(args[1], 32), op[-1])
        self.put(args[0], x << type(x[0])(32 - n - pos) >> type(x[0])(32 - n), run)

    def op_prmt(self, op, args, run):
        a, b, s = (self.get(x, 32).astype(np.uint64) for x in args[1:4])
        both, r = a | b << np.uint64(32), np.zeros(self.n, np.uint64)
        for i in range(4):
            pick = s >> np.uint64(4 * i) & np.uint64(15)
            byte = both >> (pick & np.uint64(7)) * np.uint64(8) & np.uint64(255)
            sign = np.where(byte > 127, 255, 0).astype(np.uint64)
            byte = np.where(pick > 7, sign, byte)
            r |= byte << np.uint64(8 * i)
        self.put(args[0], r.astype(np.uint32), run)

    # ------------------------------------------------- moves and comparisons

    def op_mov(self, op, args, run):
        bits = 32 if op[-1] == "pred" else int(op[-1][1:])
        d, s = args
        if s[0] == "{":
            parts = [self.get(a.strip()) for a in s[1:-1].split(",")]
            n = bits // len(parts)
            x = sum(p.astype(INT[bits]) << INT[bits](n * i) for i, p in enumerate(parts))
            self.put(d, x, run)
        elif d[0] == "{":
            names = [a.strip() for a in d[1:-1].split(",")]
            n, x = bits // len(names), self.get(s)
            for i, name in enumerate(names):
                self.put(name, (x >> x.dtype.type(n * i)).astype(INT[n]), run)
        else:
            self.put(d, self.get(s, bits), run)

    def op_cvta(self, op, args, run):
        self.put(args[0], self.get(args[1]), run)

    def op_selp(self, op, args, run):
        bits = int(op[-1][1:])
        x, y, p = self.get(args[1], bits), self.get(args[2], bits), self.get(args[3])
        self.put(args[0], np.where(p, x, y), run)

    def op_setp(self, op, args, run):
        kind = op[-1]
        if len(op) > 3 and op[2] in ("and", "or", "xor"):
            raise Wrong(".".join(op))
        x, y = self.numbers(args[1:3], kind)
        name = op[1]
        if name in ("lo", "ls", "hi", "hs"):
            name = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[name]
        none = np.isnan(x) | np.isnan(y) if kind[0] == "f" else np.zeros(self.n, bool)
        if name in ("nan", "num"):
            r = none if name == "nan" else ~none
        elif kind[0] == "f" and name[-1] == "u" and name[:-1] in COMPARE:
            r = COMPARE[name[:-1]](x, y) | none
        else:
            r = COMPARE[name](x, y) & ~none
        self.put(args[0], r, run)

    def op_cvt(self, op, args, run):
        to, by = op[-2:]
        mode = op[1:-2]
        if "f16x2" in to or "bf16x2" in to:
            hi, lo = self.numbers(args[1:], by)
            with np.errstate(all="ignore"):
                half = to_bf16 if to[0] == "b" else lambda x: x.astype(np.float16).view("u2")
                lo, hi = half(lo).astype(np.uint32), half(hi).astype(np.uint32)
            self.put(args[0], lo | hi << np.uint32(16), run)
            return
        x = bf16(self.get(args[1])) if by == "bf16" else self.numbers(args[1:], by)[0]
        with np.errstate(all="ignore"):
            self.put(args[0], self.convert(x, to, by, mode), run)

    @staticmethod
    def convert(x, to, by, mode):
        bits = int(re.sub(r"\D", "", to))
        if to == "bf16":
            return to_bf16(x)
        if to[0] == "f":
            if "sat" in mode:
                x = np.clip(np.nan_to_num(x, nan=0.0), 0, 1)
            if "rz" in mode and by == "f64":
                f = x.astype(np.float32)
                toward = np.nextafter(f, np.float32(0))
                return np.where(np.abs(f.astype(np.float64)) > np.abs(x), toward, f)
            return x.astype(FLOAT[bits])
        if by[0] != "f" and by != "bf16":
            return x.astype((SIGNED if by[0] == "s" else INT)[64]).astype(INT[bits])
        info = np.iinfo((SIGNED if to[0] == "s" else INT)[bits])
        x = np.where(np.isnan(x), 0, x.astype(np.float64))
        x = np.rint(x) if "rni" in mode else np.trunc(x)
        low = x <= info.min
        high = x >= info.max
        r = np.where(low | high, 0, x).astype(np.int64).astype(info.dtype)
        return np.where(low, info.min, np.where(high, info.max, r)).astype(info.dtype)

    # ----------------------------------------------------------------- memory

    def space(self, op):
        return self.shared if "shared" in op or "shared::cta" in op else self.memory

    @staticmethod
    def list_of(s):
        return [w.strip() for w in s[1:-1].split(",")] if s[0] == "{" else [s]

    def op_ld(self, op, args, run):
        bits = int(op[-1][1:])
        if op[1] == "param":
            name = args[1][1:-1].split("+")[0].strip()
            self.put(args[0], np.full(self.n, self.args[name], INT[bits]), run)
            return
        names, at = self.list_of(args[0]), self.address(args[1])
        got = self.space(op).load(at[run], bits, len(names), ".".join(op))
        for name, value in zip(names, got):
            full = np.zeros(self.n, INT[bits])
            full[run] = value
            if op[-1][0] == "s" and bits < self.k.bits[name]:
                full = full.view(SIGNED[bits]).astype(SIGNED[self.k.bits[name]])
            self.put(name, full, run)

    def op_st(self, op, args, run):
        bits = int(op[-1][1:])
        names, at = self.list_of(args[1]), self.address(args[0])
        values = [self.get(n, bits)[run].astype(INT[bits]) for n in names]
        self.space(op).store(at[run], bits, values, ".".join(op))

    def op_red(self, op, args, run):
        kind = op[-1]
        at, x = self.address(args[0]), self.numbers(args[1:], kind)[0]
        bits = int(kind[1:])
        space, f = self.space(op), {"add": np.add, "min": np.fmin, "max": np.fmax}
        which = next(w for w in op if w in f)
        space.check(at[run], bits // 8, ".".join(op))
        with np.errstate(all="ignore"):
            f[which].at(space.data.view(x.dtype), at[run] // (bits // 8), x[run])

    def op_cp(self, op, args, run):
        if op[1] != "async" or op[2] not in ("ca", "cg"):
            return
        to, by = self.address(args[0]), self.address(args[1])
        n = int(args[2])
        size = self.get(args[3], 32) if len(args) > 3 else np.full(self.n, n)
        if not np.isin(size[run], (0, n)).all():
            raise Wrong("cp.async of a part")
        zero = run & (size == 0)
        full = run & (size != 0)
        bits = 32
        got = self.memory.load(by[full], bits, n // 4, "cp.async")
        self.memory.check(by[full], n, "cp.async")
        self.shared.store(to[full], bits, got, "cp.async")
        nothing = [np.zeros(zero.sum(), np.uint32)] * (n // 4)
        self.shared.store(to[zero], bits, nothing, "cp.async")

    # ------------------------------------------------------- warps together

    def warps(self, run, op):
        """Numbers of the warps that run; all of their threads must."""
        by_warp = run.reshape(-1, WARP)
        if (by_warp.any(1) != by_warp.all(1)).any():
            raise Wrong(f"{'.'.join(op)} by a part of a warp")
        return np.flatnonzero(by_warp.all(1))

    def op_shfl(self, op, args, run):
        self.warps(run, op)
        d = args[0].split("|")[0]
        x = self.get(args[1]).reshape(-1, WARP)
        n = self.get(args[2], 32).reshape(-1, WARP).astype(np.int64)
        lane = np.arange(WARP)[None, :]
        source = {"bfly": lane ^ n, "idx": n % WARP + 0 * lane}
        if op[2] not in source:
            raise Wrong(".".join(op))
        r = np.take_along_axis(x, source[op[2]], 1).reshape(-1)
        self.put(d, r, run)

    def matrices(self, op):
        return next(int(w[1:]) for w in op if re.match(r"x\d$", w))

    def op_ldmatrix(self, op, args, run):
        """Matrix j's row i is at the address of lane 8 j + i."""
        self.warps(run, op)
        n, at = self.matrices(op), self.address(args[1]).reshape(-1, WARP)
        for j, name in enumerate(self.list_of(args[0])):
            assert j < n
            rows = at[:, 8 * j : 8 * j + 8]
            live = run.reshape(-1, WARP)[:, :1] & np.ones(8, bool)
            got = np.zeros((len(at), 8, 8), np.uint16)
            data = self.shared.load(rows[live], 16, 8, "ldmatrix")
            self.shared.check(rows[live], 16, "ldmatrix")
            got[live] = np.stack(data, 1)
            if "trans" in op:
                got = got.transpose(0, 2, 1)
            pairs = got.reshape(len(at), WARP, 2).astype(np.uint32)
            word = pairs[:, :, 0] | pairs[:, :, 1] << np.uint32(16)
            self.put(name, word.reshape(-1), run)

    def op_mma(self, op, args, run):
        self.warps(run, op)
        shape = next(w for w in op if re.match(r"m\d+n\d+k\d+$", w))
        m, n, k = map(int, re.findall(r"\d+", shape))
        td, ta, tb, _ = op[-4:]
        a = self.fragment(args[1], ta, (m, k), False)
        b = self.fragment(args[2], tb, (k, n), True)
        c = self.accumulator(args[3], td, (m, n))
        r = a @ b + c
        self.spread(args[0], td, r, run)

    def unpack(self, s, kind):
        """[warp, lane, value] as float64 or int64"""
        words = [self.get(name).reshape(-1, WARP) for name in self.list_of(s)]
        if kind in ("f32", "s32", "f64"):
            x = np.stack([widen(w, kind) for w in words], 2)
            return x.astype(np.int64 if kind == "s32" else np.float64)
        bits = 8 if kind in ("s8", "u8", "e4m3", "e5m2") else 32 if kind == "tf32" else 16
        x = np.stack(words, 2).view(INT[bits])
        if kind == "f16":
            return x.view(np.float16).astype(np.float64)
        if kind == "bf16":
            return bf16(x).astype(np.float64)
        if kind == "tf32":
            return x.view(np.float32).astype(np.float64)
        if kind in ("s8", "u8"):
            return (x.view(np.int8) if kind == "s8" else x).astype(np.int64)
        raise Wrong(kind)

    def places(self, kind, shape, is_b):
        """(m or n, k) of [lane, value], as the PTX ISA gives it: with g = lane/4
        and t = lane%4, words of a go down 8 rows, then right; of b right."""
        per = {"f16": 2, "bf16": 2, "tf32": 1, "f64": 1}.get(kind, 4)
        k = shape[0] if is_b else shape[1]
        rows = 1 if is_b else shape[0] // 8
        count = (shape[0] * shape[1]) // WARP
        lane, value = np.arange(WARP)[:, None], np.arange(count)[None, :]
        word = value // per
        row = lane // 4 + word % rows * 8
        column = (lane % 4) * per + value % per + word // rows * 4 * per
        assert column.max() < k
        return row, column

    def fragment(self, s, kind, shape, is_b):
        x = self.unpack(s, kind)
        row, column = self.places(kind, shape, is_b)
        out = np.zeros((len(x),) + shape, x.dtype)
        if is_b:
            out[:, column, row] = x
        else:
            out[:, row, column] = x
        return out

    @staticmethod
    def sums(shape):
        """(m, n) of [lane, value]: pairs of columns, then 8 rows down."""
        lane = np.arange(WARP)[:, None]
        value = np.arange(shape[0] * shape[1] // WARP)[None, :]
        return lane // 4 + value // 2 * 8, lane % 4 * 2 + value % 2

    def accumulator(self, s, kind, shape):
        x = self.unpack(s, kind)
        out = np.zeros((len(x),) + shape, x.dtype)
        row, column = self.sums(shape)
        out[:, row, column] = x
        return out

    def spread(self, s, kind, r, run):
        row, column = self.sums(r.shape[1:])
        x = r[:, row, column]
        names = self.list_of(s)
        if kind == "f16":
            x = x.astype(np.float16).view(np.uint16).reshape(len(r), WARP, -1)
            x = np.ascontiguousarray(x).view(np.uint32)
        elif kind == "s32":
            x = x.astype(np.int32)
        else:
            x = x.astype(FLOAT[int(kind[1:])])
        for i, name in enumerate(names):
            self.put(name, np.ascontiguousarray(x[:, :, i]).reshape(-1), run)


def launch(kernel, n_thread, n_block, shared, args, memory):
    """args: values in order of the parameters"""
    values = {name: v for (name, _), v in zip(kernel.params, args)}
    assert len(args) == len(kernel.params), (len(args), kernel.params)
    for block in range(n_block):
        CTA(kernel, n_thread, block, n_block, values, memory, shared).run()
