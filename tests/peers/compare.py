#!/usr/bin/env python3
"""Compare `axe eval` with pycute and Triton on random layouts.

    compare.py AXE N

For each operation: on how many they agree, where one of them refuses, and where
they differ; then who is right, by the definition, enumerated here.  Fails if axe
is wrong, or Triton says anything else.
"""

import json
import random
import subprocess
import sys
from collections import Counter


class Eval:
    def __init__(self, axe):
        self.p = subprocess.Popen(
            [axe, "eval"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, op, args):
        self.p.stdin.write(json.dumps({"op": op, "in": args}) + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline()).get("out")


def report(title, tally, samples):
    print(title)
    for key, n in sorted(tally.items()):
        print(f"  {key:64}{n:7}")
    for key, sample in sorted(samples.items()):
        print(f"    {key}: {sample}"[:400])
    return any(k.split(": ")[1].startswith("axe is wrong") for k in tally)


# ------------------------------------------------------------------ pycute


def flat(v):
    return [x for e in v for x in flat(e)] if isinstance(v, (list, tuple)) else [v]


def at(layout, i):
    shape, stride = flat(layout["shape"]), flat(layout["stride"])
    y = 0
    for k, (e, d) in enumerate(zip(shape, stride)):
        y += (i % e if k < len(shape) - 1 else i) * d
        i //= e
    return y


def size(layout):
    n = 1
    for e in flat(layout["shape"]):
        n *= e
    return n


def table(layout):
    return [at(layout, i) for i in range(size(layout))]


def random_layout(rng):
    n = rng.randint(1, 3)
    shape = [rng.choice([1, 2, 2, 3, 4, 4, 5, 6, 8]) for _ in range(n)]
    if rng.random() < 0.5:  # compact, in some order
        stride, step = [0] * n, 1
        for k in rng.sample(range(n), n):
            stride[k] = step
            step *= shape[k] * rng.choice([1, 1, 1, 2])
    else:
        stride = [rng.choice([0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24]) for _ in range(n)]
    return {"shape": shape, "stride": stride}


def good_compose(a, b, c):
    return size(c) == size(b) and table(c) == [at(a, at(b, i)) for i in range(size(b))]


def good_right(a, _, c):
    return all(at(a, at(c, i)) == i for i in range(size(c)))


def good_left(a, _, c):
    return all(at(a, at(c, y)) == y for y in table(a))


def good_complement(a, total, c):
    if min(flat(c["shape"])) < 1:
        return False
    own, rest = set(table(a)), table(c)
    return own & set(rest) <= {0} and all(x < y for x, y in zip(rest, rest[1:]))


def good_coalesce(a, _, c):
    return table(a) == table(c)


def against_pycute(ev, n):
    try:
        import pycute
    except ImportError:
        print("pycute is not there")
        return False
    tup = lambda v: tuple(map(tup, v)) if isinstance(v, list) else v
    theirs = lambda l: pycute.Layout(tup(l["shape"]), tup(l["stride"]))
    ours = lambda l: json.loads(json.dumps({"shape": l.shape, "stride": l.stride}))
    cases = {
        "coalesce": (good_coalesce, lambda a, b: pycute.coalesce(theirs(a))),
        "composition": (good_compose, lambda a, b: pycute.composition(theirs(a), theirs(b))),
        "complement": (good_complement, lambda a, b: pycute.complement(theirs(a), 96)),
        "right_inverse": (good_right, lambda a, b: pycute.right_inverse(theirs(a))),
        "left_inverse": (good_left, lambda a, b: pycute.left_inverse(theirs(a))),
    }
    rng, tally, samples = random.Random(20250728), Counter(), {}
    for _ in range(n):
        a, b = random_layout(rng), random_layout(rng)
        for op, (good, peer) in cases.items():
            args = {"a": a}
            if op == "composition":
                args["b"] = b
            if op == "complement":
                args["cotarget"] = 96
            mine = ev.ask(op, args)
            try:
                other = ours(peer(a, b))
            except Exception:
                other = None
            x = None if mine is None else good(a, b, mine)
            y = None if other is None else good(a, b, other)
            if x is False:
                key = "axe is wrong"
            elif x and y and size(mine) == size(other) and table(mine) == table(other):
                key = "agree"
            elif x is None and y is None:
                key = "both refuse"
            elif x and y:
                key = "differ, and both are right"
            elif x:
                key = "pycute refuses" if y is None else "pycute is wrong, axe right"
            else:
                key = "axe refuses; pycute is " + ("right" if y else "wrong")
            beyond = op == "composition" and max(table(b)) >= size(a)
            key = f"{op}: {key}" + (", beyond the domain of a" if beyond and x != y else "")
            tally[key] += 1
            if "agree" not in key and "both refuse" not in key:
                samples.setdefault(key, json.dumps([args, mine, other]))
    return report(f"pycute, {n} random pairs", tally, samples)


# ------------------------------------------------------------------ Triton


def random_bases(rng, inputs, outs):
    """Surjective on outs bits, with copies, each basis a random combination."""
    bits = sum(outs)
    rows = [1 << i for i in range(bits)]
    for _ in range(2 * bits):
        if bits > 1:
            i, k = rng.sample(range(bits), 2)
            rows[i] ^= rows[k]
    rows += [rng.choice([0, rng.getrandbits(bits) if bits else 0]) for _ in range(rng.randint(0, 3))]
    rng.shuffle(rows)
    split = lambda v: [v >> sum(outs[:k]) & (1 << outs[k]) - 1 for k in range(len(outs))]
    named = {name: [] for name in inputs}
    for r in rows:
        named[rng.choice(inputs)].append(split(r))
    return named


def against_triton(ev, n):
    try:
        from triton._C.libtriton.linear_layout import LinearLayout
    except ImportError:
        print("Triton is not there")
        return False
    rng, tally, samples = random.Random(20250728), Counter(), {}
    make = lambda b, outs: LinearLayout.from_bases(
        list(b.items()), [f"dim{k}" for k in range(len(outs))], [1 << o for o in outs], False
    )
    sized = lambda b, outs: {"bases": b, "outs": {f"dim{k}": 1 << o for k, o in enumerate(outs)}}
    inverted = lambda l: l.pseudoinvert() if l.is_surjective else None
    as_dict = lambda l: {k: [list(v) for v in b] for k, b in l.bases}
    for _ in range(n):
        outs = [rng.randint(0, 3) for _ in range(rng.randint(1, 3))]
        outs[0] += not sum(outs)  # no basis would tell how many outputs there are
        a = random_bases(rng, ["register", "lane"], outs)
        b = random_bases(rng, ["x", "y"], outs)
        c = random_bases(rng, ["register", "lane"], outs)
        la, lb, lc = make(a, outs), make(b, outs), make(c, outs)
        for op, args, peer in (
            ("invertAndCompose", {"this": a, "outer": b}, lambda: la.invert_and_compose(lb)),
            ("multiply", {"a": a, "b": c}, lambda: la * lc),
            ("pseudoinvert", {"a": sized(a, outs)}, lambda: inverted(la)),
        ):
            mine = (ev.ask(op, args) or {}).get("bases")
            try:
                other = as_dict(peer())
            except Exception:
                other = None
            key = f"{op}: " + ("agree" if mine == other else "differ")
            tally[key] += 1
            if mine != other:
                samples.setdefault(key, json.dumps([args, mine, other]))
    report(f"Triton, {n} random pairs", tally, samples)
    return any("differ" in k for k in tally)


# ------------------------------------------------------------------- Gluon


def powers(rng, rank, total):
    """`rank` powers of two with the product 2^total."""
    v = [0] * rank
    for _ in range(total):
        v[rng.randrange(rank)] += 1
    return [1 << x for x in v]


def random_ctas(rng, rank):
    """Bases of up to four CTAs: shares of dimensions, or copies."""
    split, bases = [1] * rank, []
    for _ in range(rng.choice([0, 0, 1, 2])):
        dim = rng.randrange(-1, rank)
        bases.append([split[k] if k == dim else 0 for k in range(rank)])
        if dim >= 0:
            split[dim] *= 2
    return bases


def random_mma(rng, gl):
    version = rng.choice([2, 3])
    warps = powers(rng, 2, 2) if version == 2 else rng.choice([[4, 1], [4, 2], [8, 1]])
    tile = [16, 8] if version == 2 else [16, rng.choice([8, 16, 64]), 16]
    return gl.NVMMADistributedLayout(
        version=[version, 0], warps_per_cta=warps, instr_shape=tile, cga_layout=random_ctas(rng, 2)
    )


def random_mfma(rng, amd):
    bits = rng.choice([32, 32, 64])
    tile = rng.choice([[16, 16], [16, 16] if bits == 64 else [32, 32], [64, 4], [4, 64]])
    return amd.AMDMFMALayout(
        rng.choice([3, 4]), tile + [16], tile[0] == 64 or rng.random() < 0.5, powers(rng, 2, 2),
        element_bitwidth=32 if 64 in tile else bits,
        tiles_per_warp=powers(rng, 2, rng.choice([0, 0, 1, 2])) if 64 not in tile else [1, 1],
        cga_layout=random_ctas(rng, 2),
    )


def random_wmma(rng, amd):
    """Registers and warps of a CTA take tiles in any order of the tiles' bits."""
    split, bases = [1, 1], [[], []]
    for _ in range(rng.randint(0, 4)):
        dim = rng.randrange(2)
        bases[rng.randrange(2)].append([split[k] if k == dim else 0 for k in range(2)])
        split[dim] *= 2
    version = rng.choice([1, 2, 3])
    tile = [16, 16, rng.choice([32, 64, 128]) if version == 3 else 16]
    return amd.AMDWMMALayout(
        version, rng.random() < 0.5, bases[1], bases[0], tile, cga_layout=random_ctas(rng, 2),
    )


def random_operand(rng, gl, blocked, mma, mfma, wmma):
    parent = rng.choice([blocked, mma, mfma, wmma])
    which = rng.randrange(2)
    if parent is mma and mma.version[0] == 3:
        which = 0
    width = 0 if parent is blocked else rng.choice([1, 2, 4] if parent is mma else [4, 8, 16])
    return gl.DotOperandLayout(which, parent, width)


def random_shared(rng, gl, shape, order):
    kind, ctas = rng.randrange(4), random_ctas(rng, 2)
    share = [max([e] + [2 * b[k] for b in ctas if b[k]]) for k, e in enumerate([1, 1])]
    if kind == 0:
        return gl.SwizzledSharedLayout(
            1 << rng.randint(0, 2), 1 << rng.randint(0, 2), 1 << rng.randint(0, 2), order, ctas
        )
    if kind == 1:
        return gl.PaddedSharedLayout.with_identity_for([[16 << rng.randint(0, 3), 1 << rng.randint(0, 3)]], shape, order, ctas)
    bits, swizzle = rng.choice([8, 16, 32]), rng.choice([0, 32, 64, 128])
    turned, fp4 = rng.random() < 0.5, kind == 3 and rng.random() < 0.5
    if fp4:
        bits, swizzle = 8, 128
    if rng.random() < 0.3:
        shape[rng.randrange(2)] = 512
    fast = 0 if turned else 1
    for k in range(2):
        least = max(8, swizzle * 8 // bits // (2 if fp4 else 1)) if k == fast else 8
        shape[k] = max(shape[k], least * share[k])
    return gl.NVMMASharedLayout(swizzle, bits, 2, turned, fp4, ctas)


def random_tmem(rng, bw, shape):
    ctas = random_ctas(rng, 2)
    share = [max([1] + [2 * b[k] for b in ctas if b[k]]) for k in range(2)]
    if rng.random() < 0.3:
        shape[:] = [32 << rng.randint(0, 3), 2 << rng.randint(0, 3)]
        shape[:] = [e * s for e, s in zip(shape, share)]
        return bw.TensorMemoryScalesLayout(ctas)
    rows = rng.choice([64, 128])
    shape[:] = [max(rows, shape[0]) * share[0], max(16, shape[1]) * share[1]]
    pair = any(b == [1, 0] for b in ctas[:1]) and rng.random() < 0.5
    return bw.TensorMemoryLayout(
        [rows, 16 << rng.randint(0, 3)], rng.choice([1, 1, 2]), ctas, pair,
        not pair and rng.random() < 0.2,
    )


def random_gluon(rng, gl, amd, bw):
    """A layout by name and a shape: distributed, of shared or tensor memory."""
    kind = rng.randrange(9)
    shape = [1 << rng.randint(4, 7) for _ in range(2)]
    order = rng.choice([[0, 1], [1, 0]])
    blocked = gl.BlockedLayout(
        powers(rng, 2, rng.randint(0, 4)), powers(rng, 2, 5), powers(rng, 2, rng.randint(0, 3)), order,
        random_ctas(rng, 2),
    )
    mma, mfma, wmma = random_mma(rng, gl), random_mfma(rng, amd), random_wmma(rng, amd)
    if kind < 3:
        return [blocked, mma, mfma][kind], shape
    if kind == 3:
        dim = rng.randrange(2)
        return gl.SliceLayout(dim, rng.choice([blocked, mma, mfma])), [shape[1 - dim]]
    if kind == 4:
        return wmma, [max(e, 64) for e in shape]
    if kind == 5:
        return random_operand(rng, gl, blocked, mma, mfma, wmma), [max(e, 64) for e in shape]
    if kind == 6:
        return random_tmem(rng, bw, shape), shape
    return random_shared(rng, gl, shape, order), shape


def ask_text(ev, text, to, shape):
    return ev.ask("convert", {"text": text, "from": "triton", "to": to, "shape": shape})


def places_of(inputs, shape, nothing=()):
    """Where Triton has each element, row by row: all places in all inputs, each a
    dict.  `inputs` has a list of bases for each name; of those named in `nothing`
    a basis of 0 is no copy, but a place of nothing."""
    places = [[] for _ in range(shape[0] * shape[1])]
    at = [(0, {})]
    for name, bases in inputs.items():
        for bit, (i, j) in enumerate(bases):
            if i == j == 0 and (name, bit) in nothing:
                continue
            b = i * shape[1] + j
            at += [(x ^ b, {**p, name: p.get(name, 0) | 1 << bit}) for x, p in at]
    for x, p in at:
        places[x].append({name: p.get(name, 0) for name, bases in inputs.items()})
    return places


def padded_places(layout, shape):
    """The same for padded memory: what is in one CTA goes further by its padding."""
    split = [1, 1]
    block = []
    for b in layout.cga_layout:
        k = next((k for k in range(2) if b[k]), None)
        total = [max([1] + [2 * c[d] for c in layout.cga_layout if c[d]]) for d in range(2)]
        block.append([shape[d] // total[d] * b[d] for d in range(2)] if k is not None else [0, 0])
    places = places_of({"m": layout.offset_bases, "block": block}, shape)
    for each in places:
        for p in each:
            p["m"] += sum(p["m"] // every * pad for every, pad in layout.interval_padding_pairs)
    return places


def mine_at(ev, layout, shape, names):
    """The same as axe says, by axis."""
    coords = [[i, j] for i in range(shape[0]) for j in range(shape[1])]
    args = {"layout": layout, "shape": shape, "coords": coords, "set_valued": True}
    got = layout and ev.ask("apply", args)
    return got and [[{n: p.get(n, 0) for n in names} for p in e] for e in got]


def same_places(a, b):
    key = lambda p: sorted(p.items())
    return bool(a) and [sorted(map(key, e)) for e in a] == [sorted(map(key, e)) for e in b]


def against_gluon(ev, n):
    try:
        import triton.experimental.gluon.language as gl
        from triton.experimental.gluon.language import amd
        from triton.experimental.gluon.language.nvidia import blackwell as bw
        from triton._C.libtriton import gluon_ir, ir
    except ImportError:
        print("Gluon is not there")
        return False
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    rng, tally, samples = random.Random(20250729), Counter(), {}
    for _ in range(n):
        layout, shape = random_gluon(rng, gl, amd, bw)
        name = type(layout).__name__
        memory = "Shared" in name or "Tensor" in name
        try:
            attribute = layout._to_ir(builder)
            if "Shared" in name:
                whole = builder.get_shared_mem_desc_ty(builder.get_int16_ty(), shape, attribute, shape)
            elif memory:
                whole = builder.get_tensor_mem_desc_ty(builder.get_int8_ty(), shape, attribute, shape)
            else:
                whole = builder.get_distributed_ty(builder.get_int32_ty(), shape, attribute)
        except Exception as error:  # Triton's own verifier
            tally[f"{name}: Triton refuses"] += 1
            samples.setdefault(f"{name}: Triton refuses", str(error))
            continue
        text = str(whole)
        end = ", #ttg.shared_memory" if "Shared" in name else ", #ttng.tensor_memory" if memory else ">"
        text = text[text.index("#tt") : text.rindex(end)]
        bases = None if name == "PaddedSharedLayout" else builder.to_linear_layout(attribute, shape)
        if name == "PaddedSharedLayout":
            want = padded_places(layout, shape)
        elif "Shared" in name:
            nothing = [("m", 3)] if getattr(layout, "fp4_padded", False) else []
            want = places_of({"m": bases.offset_bases, "block": bases.block_bases}, shape, nothing)
        elif memory:
            # Copies are for the lanes of each warp, of block scales
            copies = [("tlane", 5), ("tlane", 6)] if "Scales" in name else []
            inputs = {"tlane": bases.rows, "tcol": bases.cols, "block": tmem_ctas(layout, shape)}
            nothing = [(n, k) for n in ("tlane", "tcol") for k in range(40) if (n, k) not in copies]
            want = places_of(inputs, shape, nothing)
        else:
            want = ask_text(ev, repr(bases), "triton", shape)
        for form, mine in (("Python", repr(layout)), ("IR", text)):
            # Axe has a swizzle beside the iters, which no list of bases of ours is
            got = ask_text(ev, mine, "axe" if memory else "triton", shape)
            if memory:
                same = same_places(mine_at(ev, got, shape, want[0][0].keys()), want)
            else:
                same = got == want and got is not None
            key = f"{name} as {form}: " + ("agree" if same else "differ")
            tally[key] += 1
            if not same:
                samples.setdefault(key, json.dumps([mine, shape, repr(bases), got]))
    report(f"Gluon, {n} random layouts", tally, samples)
    return any("differ" in k for k in tally)


def tmem_ctas(layout, shape):
    """The CTAs' bases in elements, which Triton does not show."""
    total = [max([1] + [2 * c[d] for c in layout.cga_layout if c[d]]) for d in range(2)]
    return [[shape[d] // total[d] * b[d] for d in range(2)] for b in layout.cga_layout]


def main():
    ev, n = Eval(sys.argv[1]), int(sys.argv[2])
    failed = [against_pycute(ev, n), against_triton(ev, n), against_gluon(ev, n // 10)]
    return any(failed)


if __name__ == "__main__":
    sys.exit(main())
