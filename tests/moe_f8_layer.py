"""The layer of experts in e4m3 by its definition, and how far from it a kernel may be.

Sums are in f64, but what comes up is quantised as the kernels do it. The bound of each element of
Y follows from formats and lengths, u = 2^-24:

* A product of two numbers of e4m3 has 8 significant bits, so f32 holds it. A sum of n products by
  f32 in any order is off by at most (n - 1) u times the sum of their sizes; scales of blocks, their
  products and what adds up blocks are 8 roundings more.
* silu is no steeper than 1.1, and 16 u of its value are granted to its exponential and quotient.
* Quantising: sums between y - dy and y + dy, divided by any maximum that these allow, give codes
  between two; where all agree, as nearly everywhere, an element is off as its scale is, and where
  they do not, which is near the middle of two codes, by their distance too.
* What goes down is off by that times its weight, and by the roundings of a sum of I products; D is
  rounded to its type, 2^-8 for bf16, and so is Y."""
import numpy

U = 2.0 ** -24
E4M3 = numpy.array([(-1) ** (c >> 7) * (2.0 ** ((c >> 3 & 15) - 7) * (1 + (c & 7) / 8)
                                         if c >> 3 & 15 else 2.0 ** -6 * (c & 7) / 8)
                    for c in range(256)])
E4M3[[127, 255]] = numpy.nan
NAN = 127


def quantised(x):
    """Codes of the nearest numbers, ties to even codes, 448 for what is larger."""
    mid = (E4M3[:126] + E4M3[1:127]) / 2
    a = numpy.abs(x)
    code = numpy.searchsorted(mid, a, side="left")
    tie = (code < 126) & (a == mid[numpy.minimum(code, 125)]) & (code % 2 == 1)
    code = (code + tie + 128 * (numpy.signbit(x) & (code > 0))).astype("u1")
    return numpy.where(numpy.isnan(x), NAN, code).astype("u1")


def blocks(n):
    return -(-n // 128)


def by_block(scale, axis, n):
    return numpy.repeat(scale, 128, axis).take(range(n), axis)


def inputs(rng, m, e, h, i):
    """{name: array} of tokens and weights: any code, scales that differ from block to block."""
    arrays = {}
    for name, shape, scales in (("X", (m, h), (blocks(h), m)),
                                ("V", (e, 2, i, h), (e, 2, blocks(i), blocks(h))),
                                ("W", (e, h, i), (e, blocks(h), blocks(i)))):
        arrays[name] = quantised(rng.uniform(-448, 448, shape))
        small = rng.integers(0, 16, shape).astype("u1")  # subnormals among them
        arrays[name] = numpy.where(rng.random(shape) < 0.1, small, arrays[name])
        arrays["S" + name] = (rng.uniform(0.5, 2, scales) / 448).astype("f4")
    return arrays


def poison(arrays, expert, sick=()):
    """No number in what must not be read or not count: all of the experts that no tile is of, and
    tokens that are no numbers themselves, by their codes or by their scales."""
    idle = [e for e in range(len(arrays["V"])) if e not in set(expert.tolist())]
    for name in "VW":
        arrays[name][idle] = NAN
        arrays["S" + name][idle] = numpy.inf
    for t in sick:
        if t % 2:
            arrays["X"][t, 3] = NAN
        else:
            arrays["SX"][0, t] = numpy.nan
    return idle


def quantised_between(y, dy):
    """Of rows of at most 128: what they are as the kernel quantises, and how far it may be off."""
    top = numpy.maximum(abs(y).max(1, keepdims=True), 1e-12)
    d_top = dy.max(1, keepdims=True) + 4 * U * top
    a = E4M3[quantised(y * 448 / top)] * top / 448
    size, low, high = abs(y), numpy.maximum(top - d_top, 1e-12 * (1 - 4 * U)), top + d_top
    most = E4M3[quantised((size + dy) * 448 * (1 + 4 * U) / low)] * high / 448
    least = E4M3[quantised(numpy.maximum(size - dy, 0) * 448 * (1 - 4 * U) / high)] * low / 448
    off = numpy.maximum(most - abs(a), abs(a) - least)
    return a, off + numpy.where(size < dy, abs(a) + most, 0)  # and the sign may be another


def down(t, rows, e, arrays):
    """What a tile of expert e comes to, and its bound."""
    x = E4M3[arrays["X"]] * by_block(arrays["SX"].astype("f8"), 0, arrays["X"].shape[1]).T
    m, h = x.shape
    i = arrays["V"].shape[2]
    x = numpy.concatenate([x, numpy.zeros((1, h))])[numpy.minimum(rows, m)]
    v = [E4M3[arrays["V"][e, s]] *
         by_block(by_block(arrays["SV"][e, s].astype("f8"), 0, i), 1, h) for s in (0, 1)]
    gate, up = (x @ b.T for b in v)
    d_gate, d_up = ((h + blocks(h) + 8) * U * (abs(x) @ abs(b).T) for b in v)
    silu = gate / (1 + numpy.exp(numpy.minimum(-gate, 80)))
    y = silu * up
    dy = 1.1 * d_gate * (abs(up) + d_up) + abs(silu) * d_up + 16 * U * abs(y)
    parts = [quantised_between(y[:, q:q + 128], dy[:, q:q + 128]) for q in range(0, i, 128)]
    a, da = (numpy.concatenate(p, 1) for p in zip(*parts))
    w = E4M3[arrays["W"][e]] * by_block(by_block(arrays["SW"][e].astype("f8"), 0, h), 1, i)
    rounding = (i + blocks(i) + 8) * U
    return a @ w.T, da @ abs(w).T + rounding * ((abs(a) + da) @ abs(w).T)


def layer(arrays, row, expert, at, weight, bm, unit_d):
    """Y before it is rounded, and its bound; unit_d: of D's type, 2^-8 for bf16."""
    n, h = arrays["X"].shape
    d, dd = numpy.zeros((len(row) + 1, h)), numpy.zeros((len(row) + 1, h))
    with numpy.errstate(invalid="ignore"):
        for t, e in enumerate(expert):
            if e < len(arrays["V"]):
                at_t = slice(t * bm, min((t + 1) * bm, len(row)))
                d[at_t], dd[at_t] = down(t, row[at_t], e, arrays)
        dd += unit_d * (abs(d) + dd)
        at = numpy.minimum(at, len(row))
        w = weight.astype("f8")[:, :, None]
        y = (w * d[at]).sum(1)
        dy = (abs(w) * dd[at]).sum(1) + at.shape[1] * U * (abs(w) * (abs(d[at]) + dd[at])).sum(1)
    return y, dy


def compare(what, y, arrays, row, expert, at, weight, bm, unit_d, unit_y):
    """Ends with what is wrong of y, if anything."""
    ref, bound = layer(arrays, row, expert, at, weight, bm, unit_d)
    real = numpy.isfinite(ref)
    bound = bound + unit_y * (abs(ref) + bound) + 1e-37
    off = abs(y - ref)[real] / bound[real]
    if not off.max(initial=0) <= 1:
        raise SystemExit("%s: wrong by %.3g of its bound, by %.3g at most" % (
            what, off.max(), abs(y - ref)[real].max()))
    if numpy.isfinite(y[~real]).any():
        raise SystemExit("%s: a number for a token that is none" % what)
    if real.any() and not (bound[real].max() < 0.15 * abs(ref[real]).max()):
        raise SystemExit("%s: the bound %g says nothing of %g" % (
            what, bound[real].max(), abs(ref[real]).max()))
