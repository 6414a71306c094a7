"""Kernels and arrays that several files of tests use."""
import numpy as np

import axe

TWICE = """// Y = 2 X
kernel twice<type T = f32>(in T X[M, N], out T Y[M, N]) {
    index m, n;
    cta (i : 1) Y[m, n] = T(2) * X[m, n];
}"""
twice = axe.kernel(TWICE).twice
rng = np.random.default_rng(1)


def random(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)
