#!/usr/bin/env python3
"""Random layouts through `axe eval`, judged by the definition in Python.

    random_eval.py AXE [CASES [SEED]]

Each case asks operations about random small layouts (up to three axes, negative
and zero strides, replicas, offsets) and enumerates what they must be.  A refusal
is checked too where a short search decides it.  Prints the seed with a failure.
"""

import random
import sys
from collections import Counter

from vectors import Eval, points, same_map, size

AXES = ("m", "laneid", "P")


def layout(rng, n_max=4, extents=(1, 2, 3, 4, 6), replicas=True, axes=AXES):
    axes = axes[: rng.randint(1, len(axes))]
    strides = (1, 2, 3, 4, 6, 8, 12, -1, -2, 0, 24)

    def iters(n, extents=extents):
        return [
            [rng.choice(extents), rng.choice(strides), rng.choice(axes)]
            for _ in range(n)
        ]

    out = {"D": iters(rng.randint(1, n_max)), "R": [], "O": {}}
    if replicas and rng.random() < 0.4:
        out["R"] = iters(rng.randint(1, 3), (1, 2, 3))
    if replicas and rng.random() < 0.3:
        out["O"] = {rng.choice(axes): rng.randint(-9, 9)}
    return out


def row_major(rng, n):
    """A dense layout in a random order, often cut and fused."""
    extents = [rng.choice((1, 2, 3, 4)) for _ in range(n)]
    order = list(range(n))
    if rng.random() < 0.5:
        rng.shuffle(order)
    strides, step = [0] * n, 1
    for k in reversed(order):
        strides[k] = step
        step *= extents[k]
    return {"D": [[e, s, "m"] for e, s in zip(extents, strides)], "R": [], "O": {}}


def factors(rng, n, k):
    """n as a product of k extents."""
    out = []
    for _ in range(k - 1):
        d = rng.choice([d for d in range(1, n + 1) if n % d == 0])
        out.append(d)
        n //= d
    out.append(n)
    rng.shuffle(out)
    return out


def flat(coord, shape):
    x = 0
    for c, e in zip(coord, shape):
        x = x * e + c
    return x


def coords(shape):
    if not shape:
        yield ()
        return
    for c in range(shape[0]):
        for rest in coords(shape[1:]):
            yield (c, *rest)


def add(p, q, scale=None):
    """Point p times scale (by axis) plus point q."""
    out = Counter()
    for a, v in p:
        out[a] += v * (scale or {}).get(a, 1)
    for a, v in q:
        out[a] += v
    return frozenset((a, v) for a, v in out.items() if v)


def spans(lay):
    out = {}
    for e, s, a in lay["D"] + lay["R"]:
        out[a] = out.get(a, 1) + abs(s) * (e - 1)
    return out


def interleave(f, outer, so, inner, si):
    """The table of x||y -> f(outer(x), inner(y)), dims interleaved in pairs."""
    table = []
    pairs = [e for both in zip(so, si) for e in both]
    for c in coords(pairs):
        p = points(outer, flat(c[0::2], so))
        q = points(inner, flat(c[1::2], si))
        table.append({f(a, b) for a in p for b in q})
    return table


def is_table(lay, table):
    return size(lay) == len(table) and all(
        points(lay, x) == t for x, t in enumerate(table)
    )


class Judge:
    def __init__(self, ev, rng):
        self.ev, self.rng = ev, rng
        self.done, self.refused, self.failed = Counter(), Counter(), []

    def ask(self, op, **args):
        reply = self.ev.ask(op, args)
        self.last = (op, args, reply)
        self.done[op] += 1
        if "error" in reply:
            self.refused[op] += 1
            self.expect(reply["error"]["code"] in ("ESHAPE", "EOVERFLOW"))
        return reply.get("out")

    def expect(self, ok):
        if not ok:
            self.failed.append(self.last)

    def one_layout(self):
        lay = layout(self.rng)
        n = size(lay)
        images = [points(lay, x) for x in range(n)]
        out = self.ask("canonicalize", layout=lay)
        self.expect(out and same_map(out, lay))
        again = self.ask("canonicalize", layout=out)
        self.expect(again == out)
        self.expect(self.ask("fiber_size", layout=lay) == len(images[0]))
        seen, clash = {}, False
        for x, image in enumerate(images):
            clash = clash or any(seen.setdefault(p, x) != x for p in image)
        out = self.ask("injective", layout=lay)
        self.expect(out["injective"] is not clash)
        if clash:
            x, y = out["witness"]
            self.expect(x < y and images[x] & images[y])
        every = set().union(*images)
        for axis in AXES:
            at = [dict(p).get(axis, 0) for p in every]
            out = self.ask("axis_span", layout=lay, axis=axis)
            self.expect(out == max(at) - min(at) + 1)
            if min(at) >= 0:
                out = self.ask("cosize", layout=lay, axis=axis)
                self.expect(out == max(at) + 1)
        other = layout(self.rng)
        self.expect(
            self.ask("equal", a=lay, b=other) is same_map(lay, other)
        )

    def group(self):
        lay = layout(self.rng)
        shape = factors(self.rng, size(lay), self.rng.randint(1, 3))
        out = self.ask("group", layout=lay, shape=shape)
        if out:
            self.expect(same_map(out["layout"], lay))
            for block, e in zip(out["blocks"], shape):
                self.expect(size({"D": block}) == e)

    def pair(self):
        rank = self.rng.randint(1, 2)
        outer, inner = layout(self.rng, 3), layout(self.rng, 3)
        so = factors(self.rng, size(outer), rank)
        si = factors(self.rng, size(inner), rank)
        given = {"outer_shape": so, "inner_shape": si}
        tiled = self.ask("tile", outer=outer, inner=inner, **given)
        w = spans(inner)
        if tiled:
            table = interleave(lambda p, q: add(p, q, w), outer, so, inner, si)
            self.expect(is_table(tiled, table))
            st = [a * b for a, b in zip(so, si)]
            args = {"tiled": tiled, "tiled_shape": st}
            out = self.ask("tile_of", inner=inner, inner_shape=si, **args)
            self.expect(out and same_map(out, outer))
            out = self.ask("is_tile_outer", outer=outer, outer_shape=so, **args)
            if out:
                w = spans(out)
                again = interleave(lambda p, q: add(p, q, w), outer, so, out, si)
                self.expect(is_table(tiled, again))
            else:
                self.expect(False)
        out = self.ask(
            "direct_sum", left=outer, left_shape=so, right=inner, right_shape=si
        )
        if out:
            self.expect(is_table(out, interleave(add, outer, so, inner, si)))

    def slice(self):
        lay = layout(self.rng, 3)
        shape = factors(self.rng, size(lay), self.rng.randint(1, 2))
        region = []
        for e in shape:
            b = self.rng.randint(0, e - 1)
            region.append([b, self.rng.randint(b + 1, e)])
        out = self.ask("slice", layout=lay, shape=shape, region=region)
        if out:
            sizes = [e - b for b, e in region]
            table = [
                points(lay, flat([b + c for (b, _), c in zip(region, cs)], shape))
                for cs in coords(sizes)
            ]
            self.expect(is_table(out, table))

    def inverse(self):
        lay = row_major(self.rng, self.rng.randint(1, 4))
        out = self.ask("inverse", layout=lay)
        self.expect(out is not None)
        for x in range(size(lay)):
            y = dict(*points(lay, x)).get("m", 0)
            self.expect(dict(*points(out, y)).get("m", 0) == x)

    def compose(self):
        a = layout(self.rng, 3)
        b = layout(self.rng, 2, replicas=False, axes=("m",))
        at = [dict(*points(b, x)).get("m", 0) for x in range(size(b))]
        out = self.ask("compose", a=a, b=b)
        if out:
            self.expect(
                all(0 <= y < size(a) for y in at)
                and is_table(out, [points(a, y) for y in at])
            )

    def complement(self):
        lay = layout(self.rng, 2, replicas=False, axes=("m",))
        total = self.rng.choice((8, 12, 24, 48))
        out = self.ask("complement", layout=lay, total=total)
        if out:
            sums = Counter(
                dict(*points(lay, x)).get("m", 0) + dict(*points(out, y)).get("m", 0)
                for x in range(size(lay))
                for y in range(size(out))
            )
            self.expect(set(sums.values()) == {1} and len(sums) >= total)
            self.expect(all(k in sums for k in range(total)))

    def packs(self):
        lay = layout(self.rng, 3)
        out = self.ask("unpack", layout=lay, num=2)
        if out:
            self.expect(size(out) == 2 * size(lay))
            back = self.ask("pack", layout=out, num=2)
            self.expect(back and same_map(back, lay))


def main():
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    ev = Eval(sys.argv[1])
    judge = Judge(ev, random.Random(seed))
    kinds = (
        judge.one_layout, judge.group, judge.pair, judge.slice, judge.inverse,
        judge.compose, judge.complement, judge.packs,
    )
    for _ in range(n):
        for kind in kinds:
            kind()
    for op in sorted(judge.done):
        print(f"{op:20}{judge.done[op]:>8} asked{judge.refused[op]:>8} refused")
    for op, args, reply in judge.failed[:10]:
        print(f"FAILED (seed {seed}) {op} {args}\n    {reply}")
    print(f"{len(judge.failed)} failed")
    return 1 if judge.failed or ev.close() else 0


if __name__ == "__main__":
    sys.exit(main())
