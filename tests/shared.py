#!/usr/bin/env python3
"""Triton's layouts of shared memory against their definitions.

    shared.py AXE

The definitions are those of Triton's documentation, element by element; the
answers of `axe eval` are enumerated.
"""

import itertools
import sys

from vectors import Eval, points


def offsets(layout, shape):
    """By coordinates, row-major."""
    n = 1
    for e in shape:
        n *= e
    return [dict(*points(layout, x)).get("m", 0) for x in range(n)]


def nvmma(row, col, rows, _, v):
    width = 8 * v["swizzlingByteWidth"] // v["elementBitWidth"]
    vec = 128 // v["elementBitWidth"]
    phases = v["swizzlingByteWidth"] // 16
    per = 8 // phases
    near = (col % width) ^ (vec * (row // per % phases))
    return near + width * (row + rows * (col // width))


def swizzled(row, col, _, cols, v):
    phase = row // v["perPhase"] % v["maxPhase"]
    return row * cols + (col ^ (v["vec"] * phase))


def padded(row, col, _, cols, v):
    x = row * cols + col
    return x + sum(x // i * p for i, p in v["intervalPaddingPairs"])


def cases():
    for bytes_, bits, t in itertools.product((32, 64, 128), (8, 16, 32), (False, True)):
        v = {"swizzlingByteWidth": bytes_, "elementBitWidth": bits, "transposed": t}
        shape = [16, 256] if not t else [256, 16]
        yield nvmma, {"kind": "nvmma_shared", **v}, shape, t
    for vec, per, most, t in itertools.product((1, 4, 8), (1, 2, 4), (1, 2, 8), (0, 1)):
        v = {"vec": vec, "perPhase": per, "maxPhase": most, "order": [1 - t, t]}
        yield swizzled, {"kind": "swizzled_shared", **v}, [32, 64] if not t else [64, 32], t
    for pairs, t in itertools.product(([[64, 4]], [[16, 2], [128, 8]], [[4, 1]]), (0, 1)):
        v = {"intervalPaddingPairs": pairs, "order": [1 - t, t]}
        yield padded, {"kind": "padded_shared", **v}, [16, 32], t


def main():
    ev, failed, n = Eval(sys.argv[1]), 0, 0
    for rule, v, shape, turned in cases():
        got = ev.ask("shared_layout", {"shape": shape, "layout": v}).get("out")
        rows, cols = reversed(shape) if turned else shape
        want = [
            rule(c if turned else r, r if turned else c, rows, cols, v)
            for r in range(shape[0])
            for c in range(shape[1])
        ]
        n += 1
        if got is None or offsets(got, shape) != want:
            failed += 1
            print(f"FAILED {v} {shape}: {got}")
    print(f"{n - failed} of {n} layouts of shared memory are as defined")
    ev.close()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
