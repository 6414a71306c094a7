"""What the kernels of kernels/ compute, in NumPy.

A function of float64 arrays gives, for each output, the value and the sum of
the magnitudes that were added for it; see kernels.py.
"""
import numpy as np


def magnitude(*values):
    return sum(abs(v) for v in values)


def matmul(a, b):
    return [(a @ b, abs(a) @ abs(b))]


def gelu(x):
    t = np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))
    return [(0.5 * x * (1 + t), abs(x))]


def rmsnorm(x, w):
    y = x * w / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5)
    return [(y, 2 * abs(y))]


def layernorm(x, w, b):
    d = x - x.mean(1, keepdims=True)
    s = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    size = abs(x) + abs(x).mean(1, keepdims=True)
    return [(d * s * w + b, 2 * size * s * abs(w) + abs(b))]


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    y = e / e.sum(1, keepdims=True)
    size = abs(x) + abs(x).max(1, keepdims=True, initial=0)
    return [(y, y * (2 + size))]


def jacobi(f, r, u):
    """The same of magnitudes, steps of which add up."""
    size = abs(u)
    for w in r:
        def step(a, b, keep, share):
            p = np.pad(a, 1)
            around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
            return keep * a + share * (around + b) / 4
        u, size = (step(u, f, 1 - w, w),
                   step(size, abs(f), 1 + abs(w), abs(w)))
    return [(u, size)]


def softmax_causal(x):
    below = np.tri(*x.shape, dtype=bool)
    y, size = softmax(np.where(below, x, -np.inf))[0]
    return [(y, np.where(below, size, 0))]


def attention(causal):
    def f(q, k, v):
        s = np.einsum("grsd,gtd->grst", q, k) / np.sqrt(q.shape[-1])
        if causal:
            s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2],
                                dtype=bool), s, -np.inf)
        top = s.max(-1, keepdims=True, initial=-np.inf)
        p = np.exp(s - np.where(np.isfinite(top), top, 0))
        p /= np.maximum(p.sum(-1, keepdims=True), 1e-30)
        size = 4 + abs(s).max(-1, keepdims=True, where=np.isfinite(s),
                              initial=0)
        return [(np.einsum("grst,gtd->grsd", p, v),
                 size * np.einsum("grst,gtd->grsd", p, abs(v)))]
    return f


def attention_varlen(causal):
    """Sequence by sequence; weights are rounded to the element type."""
    def f(q, k, v, queries, keys, block):
        out, size = np.zeros((2,) + q.shape)
        for i in range(len(queries) - 1):
            a = slice(int(queries[i]), int(queries[i + 1]))
            b = slice(int(keys[i]), int(keys[i + 1]))
            s = np.einsum("sgrd,tgd->grst", q[a], k[b]) / np.sqrt(q.shape[-1])
            if causal:
                s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2],
                                    dtype=bool), s, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True, initial=-1e9))
            p /= np.maximum(p.sum(-1, keepdims=True), 1e-30)
            out[a] = np.einsum("grst,tgd->sgrd", p, v[b])
            size[a] = 4096 * np.einsum("grst,tgd->sgrd", p, abs(v[b]))
        return [(out, size)]
    return f


# Lengths of sequences, by how many queries they have together.
LENGTHS = {271: ((70, 1, 200, 0), (300, 130, 5, 64)),
           143: ((140, 3), (10, 129)), 152: ((140, 3, 9), (260, 129, 0)),
           1: ((1,), (1,))}


def varlen(n):
    """Offsets, and blocks of 128 queries, those with many keys first."""
    queries, keys = LENGTHS[n["S"]]
    blocks = [(i, s) for i, m in enumerate(queries) for s in range(0, m, 128)]
    blocks.sort(key=lambda b: -keys[b[0]])
    return {"queries": np.cumsum((0,) + queries),
            "keys": np.cumsum((0,) + keys), "block": np.array(blocks)}


def rope(x, c, z):
    c, z = c[:, None], z[:, None]
    a, b = x[:, :, 0], x[:, :, 1]
    y = np.stack((a * c - b * z, b * c + a * z), 2)
    size = np.stack((abs(a * c) + abs(b * z), abs(b * c) + abs(a * z)), 2)
    return [(y, size)]


def quantise(x):
    """Q may be one off where x / s is within rounding of a half."""
    top = abs(x).max(1, initial=0)
    s = top / 127
    q = np.rint(x * np.where(top > 0, 127 / np.where(top > 0, top, 1), 0)
                [:, None])
    return [(q, 0 * q), (s, s)]


def f8_rows(x):
    """What is stored, before it is rounded, and its scales."""
    m, k = x.shape
    blocks = np.zeros((m, -(-k // 128) * 128))
    blocks[:, :k] = abs(x)
    s = blocks.reshape(m, -1, 128).max(2).clip(1e-12) / 448
    return [(x / s.repeat(128, 1)[:, :k], 0 * x), (s.T, s.T)]


def to_f4(x):
    """The nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6, of two the one whose code is even."""
    x = np.clip(x, -6, 6)
    unit = 2.0**np.maximum(np.floor(np.log2(np.maximum(abs(x), 2.0**-9))) - 1, -1)
    return np.rint(x / unit) * unit


def to_f8(x):
    """The nearest e4m3 of positive numbers."""
    unit = 2.0**np.maximum(np.floor(np.log2(np.maximum(x, 2.0**-20))) - 3, -9)
    return np.minimum(np.rint(x / unit) * unit, 448)


def nvfp4(x):
    """Exactly what is stored: a scale of e4m3 for each 16, in blocks of 128 x 4."""
    m, k = x.shape
    p, q = -(-m // 128), -(-k // 64)
    blocks = np.zeros((p * 128, q * 64), "f4")
    blocks[:m, :k] = abs(x)
    top = blocks.reshape(p * 128, q * 4, 16).max(2)
    s = to_f8(np.maximum(top / np.float32(6), np.float32(2.0**-9)))
    a = to_f4(x.astype("f4") / s.astype("f4").repeat(16, 1)[:m, :k])
    s = s.reshape(p, 4, 32, q, 4).transpose(0, 3, 2, 1, 4)
    return [(a, 0 * x), (s, 0 * s)]


def by_blocks(block):
    """The product of factors with scales as block-scaled products read them."""
    def scaled_by(x, s):
        p, r = s.shape[:2]
        s = s.transpose(0, 3, 2, 1, 4).reshape(p * 128, r * 4).repeat(block, 1)
        return x * s[:x.shape[0], :x.shape[1]]

    def product(a, b, sa, sb):
        return matmul(scaled_by(a, sa), scaled_by(b, sb).T)

    return product


def mxfp8(x):
    """The same with a power of two for each 32, in blocks of 128 x 4."""
    m, k = x.shape
    p, q = -(-m // 128), -(-k // 128)
    blocks = np.zeros((p * 128, q * 128))
    blocks[:m, :k] = abs(x)
    top = blocks.reshape(p * 128, q * 4, 32).max(2)
    s = 2.0**np.ceil(np.log2(np.maximum(top / 448, 2.0**-127)))
    a = x / s.repeat(32, 1)[:m, :k]
    s = s.reshape(p, 4, 32, q, 4).transpose(0, 3, 2, 1, 4)
    return [(a, 0 * x), (s, 0 * s)]


def f8_blocks(x):
    n, k = x.shape
    blocks = np.zeros((-(-n // 128) * 128, -(-k // 128) * 128))
    blocks[:n, :k] = abs(x)
    s = blocks.reshape(len(blocks) // 128, 128, -1, 128).max((1, 3))
    s = s.clip(1e-12) / 448
    return [(x / s.repeat(128, 0).repeat(128, 1)[:n, :k], 0 * x), (s, s)]


def activated(f):
    """f(A B^T + bias)."""
    def g(a, b, bias):
        c = a @ b.T + bias
        size = abs(a) @ abs(b.T) + abs(bias)
        return [(f(c), size * (2 + abs(c)))]
    return g


def swiglu_f8(a, g, u):
    (y, size), = swiglu(a, g, u)
    (c, _), (s, _) = f8_rows(y)
    big = size.max()
    return [(c, 448 * size / abs(y).max(1, keepdims=True)), (s, s + big)]


def spread(x, s):
    """x times the scales of its blocks of 128 along each of its dimensions that
    s has fewer of."""
    for d in range(x.ndim):
        if s.shape[d] != x.shape[d]:
            s = s.repeat(128, d).take(range(x.shape[d]), d)
    return x * s


def scaled(f):
    """f of the product whose factors have scales for blocks, and how large what
    is added up for it is."""
    def g(a, b, sa, sb, *more):
        a, b = (x.reshape(len(x), -1) for x in (a, b))
        a, b = spread(a, sa.T), spread(b, sb)
        return f(a @ b.T, abs(a) @ abs(b.T), *more)
    return g


def act_f8(f):
    def g(y, size, bias):
        y, size = f(y + bias), (size + abs(bias)) * (2 + abs(y + bias))
        (c, _), (s, _) = f8_rows(y)
        top = abs(y).max(1, keepdims=True).clip(1e-12)
        return [(c, 448 * size / top), (s, s + size.max())]
    return g


def residual(r, s, b, x):
    return [(x + s * r + b, magnitude(x, s * r, b))]


def philox(c, key):
    """Philox4x32-10 of counters c[4, ...]; integers in float64 and out."""
    c = [x.astype("u8") for x in c]
    k = [np.uint64(x) for x in key]
    low, word = np.uint64(0xffffffff), np.uint64(32)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [q >> word ^ c[1] ^ k[0], q & low, p >> word ^ c[3] ^ k[1], p & low]
        k = [k[0] + np.uint64(0x9E3779B9) & low, k[1] + np.uint64(0xBB67AE85) & low]
    return np.array(c).astype("f8")


def random_words(c, key):
    w = philox(c, key)
    return [(w, 0 * w)]


def dropout(x, key, p):
    r, n = np.indices(x.shape)
    zero = np.zeros(x.shape)
    w = philox([n // 256 * 64 + n % 64, r, zero, zero], key)
    w = np.choose(n % 256 // 64, w)
    y = np.where(np.floor(w / 256) / 2**24 >= p[0], x / (1 - p[0]), 0)
    return [(y, abs(y))]


def squash(x):
    c = np.clip(x, -1, 1)
    return [(c * abs(c), abs(c))]


def bias_relu(a, b, bias):
    c = a @ b.T + bias
    return [(np.maximum(c, 0), abs(a) @ abs(b.T) + abs(bias))]


def bias_gelu(a, b, bias):
    c = a @ b.T + bias
    return [(gelu(c)[0][0], abs(a) @ abs(b.T) + abs(bias))]


def conv2d(x, f):
    """The sum over the shifts of products over c."""
    def shifted(x, f):
        h, w = x.shape[2:]
        x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        return sum(np.einsum("oc,bchw->bohw", f[:, :, p, q],
                             x[:, :, p:p + h, q:q + w])
                   for p in range(3) for q in range(3))
    return [(shifted(x, f), shifted(abs(x), abs(f)))]


def gathered(x, rows):
    padded = np.vstack((x, np.zeros((1, x.shape[1]))))
    rows = rows.astype(int)
    inside = (0 <= rows) & (rows < len(x))
    return padded[np.where(inside, rows, len(x))]


def grouped(x, row, w, expert):
    """Rows of x by experts, 64 of one in a row."""
    x = gathered(x, row)
    w = np.concatenate((w, np.zeros((1,) + w.shape[1:])))
    e = expert.astype(int)
    e = np.where((0 <= e) & (e < len(w) - 1), e, len(w) - 1)
    y, size = np.zeros((2, len(x), w.shape[1]))
    for i in range(0, len(x), 64):
        y[i:i + 64], size[i:i + 64] = matmul(x[i:i + 64], w[e[i // 64]].T)[0]
    return [(y, size)]


def grouped_by(x, off, w):
    """Rows of x from off[e] on by w[e]."""
    off = off.astype(int)
    y, size = np.zeros((2, len(x), w.shape[1]))
    for e, (a, b) in enumerate(zip(off, off[1:])):
        y[a:b], size[a:b] = matmul(x[a:b], w[e].T)[0]
    return [(y, size)]


def grouped_swiglu_f8(x, off, w, sx, sw):
    """swiglu_f8 of rows of x from off[e] on and w[e], all with scales."""
    off, x = off.astype(int), spread(x, sx.T)
    c, size_c = np.zeros((2, len(x), w.shape[1]))
    s, size_s = np.zeros((2, sw.shape[1], len(x)))
    for e, (a, b) in enumerate(zip(off, off[1:])):
        if a < b:
            both = [spread(w[e, :, i], sw[e, :, i]) for i in range(2)]
            (c[a:b], size_c[a:b]), (s[:, a:b], size_s[:, a:b]) = \
                swiglu_f8(x[a:b], *both)
    return [(c, size_c), (s, size_s)]


def offsets(r, n):
    """Of all M rows; some of the F - 1 groups have none."""
    off = np.sort(r.integers(0, n["M"] + 1, n["F"]))
    off[[0, -1]] = 0, n["M"]
    return off * 1.0


def swiglu(a, g, u):
    gate, up = a @ g.T, a @ u.T
    size = abs(a) @ (abs(g) + abs(u)).T
    return [(gate / (1 + np.exp(-gate)) * up, size * (1 + abs(gate)) *
             (1 + abs(up)))]


def scattered(x, rows, y):
    """Sums of magnitudes, too."""
    inside = (0 <= rows) & (rows < len(y))
    at = rows[inside].astype(int)
    out = [y.copy(), abs(y)]
    np.add.at(out[0], at, x[inside])
    np.add.at(out[1], at, abs(x[inside]))
    return [tuple(out)]


def first_largest(x):
    least = 2.0**63 - 1
    return x.argmax(1) if x.shape[1] else np.full(len(x), least)


def topk(x):
    """Of equals the first; -inf and N behind the last element."""
    m, n = x.shape
    x = np.hstack((x, np.full((m, 8), -np.inf)))
    at = np.minimum(np.argsort(-x, 1, kind="stable")[:, :8], n)
    y = np.take_along_axis(x, at, 1)
    return [(y, 0 * abs(np.where(np.isinf(y), 0, y))), (at, 0 * at)]


def exact(f):
    def g(*x):
        y = f(*x)
        return [(y, 0 * y)]
    return g


def summed(axis):
    return lambda x: [(x.sum(axis), abs(x).sum(axis))]


def largest(axis):
    def f(x):
        return x.max(axis, initial=-np.inf)
    return exact(f)


def sequence_attention(causal):
    """Heads between the sequence and the elements: [S, H, D]."""
    def f(q, k, v):
        s = np.einsum("shd,thd->hst", *(x.astype("f8") for x in (q, k)))
        s /= np.sqrt(q.shape[2])
        if causal:
            s = np.where(np.tri(len(q), dtype=bool), s, -np.inf)
        e = np.exp(s - s.max(2, keepdims=True))
        return np.einsum("hst,thd->shd", e / e.sum(2, keepdims=True), v)
    return f


def transformer(causal):
    def norm(x, w):
        return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * w

    def f(*arrays):
        x, gain, wq, wk, wv, wo, g, u, w = (a.astype("f8") for a in arrays)
        n = norm(x, gain[0])
        q, k, v = (np.einsum("th,adh->tad", n, m) for m in (wq, wk, wv))
        o = sequence_attention(causal)(q, k, v)
        x = x + np.einsum("tad,had->th", o, wo)
        n = norm(x, gain[1])
        a = n @ g.T
        return x + (a / (1 + np.exp(-a)) * (n @ u.T)) @ w.T
    return f


def dispatched(x, pick, experts, devices, slots):
    """Tokens of each device to those that have their experts, token by token:
    rows, their experts, the slot of each choice, tokens of each expert, and of
    each pair of devices."""
    own, mine = -(-experts // devices), -(-len(x) // devices)
    row = np.zeros((devices, devices, slots, x.shape[1]), x.dtype)
    expert = np.full((devices, devices, slots), -1)
    slot, count = np.zeros_like(pick), np.zeros((devices, experts), int)
    used = np.zeros((devices, devices), int)
    for t, s in np.ndindex(*pick.shape):
        q, d = t // mine, pick[t, s] // own
        slot[t, s] = c = used[q, d]
        if c < slots:
            row[d, q, c], expert[d, q, c] = x[t], pick[t, s]
        used[q, d] += 1
        count[q, pick[t, s]] += 1
    return row, expert, slot, count, used
