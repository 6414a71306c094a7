"""A product whose summed dimension is shared out, on processes that are devices:
each has its columns of A and B, and gets its rows of C."""
import numpy as np

import axe

gemm = axe.load("kernels/dist/gemm_reduce_scatter.axe").gemm_reduce_scatter
r = np.random.default_rng(1)
a, b = (r.integers(-4, 5, (n, 90)).astype("f4") for n in (100, 72))


def block(n, world):
    """What the kernel's text calls `n @ gpu`."""
    each = -(-n // world.size)
    return slice(each * world.rank, each * (world.rank + 1))


def on_rank(world):
    mine = block(90, world)
    return gemm(a[:, mine], b[:, mine])


rows = axe.spmd(3)(on_rank)
print("rows of each:", [len(c) for c in rows])
print("right:", bool((np.concatenate(rows) == a @ b.T).all()))
print("as from one process:", bool((gemm(a, b, P=3) == a @ b.T).all()))


def with_layouts(world):
    mine = axe.Local(a, "100, 90")  # all of it, and the kernel says 90 @ gpu
    return gemm(mine, axe.Local(b[:, block(90, world)], "72, 90@gpu"))


try:
    axe.spmd(3)(with_layouts)
except axe.ShapeError as e:
    print(e.errors[0])
