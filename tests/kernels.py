#!/usr/bin/env python3
"""Every kernel of kernels/ against NumPy, on odd sizes and in all its types.

A row names a kernel, the shapes of its arguments and what it should compute:
a function of float64 arrays that gives, for each output, the value and the sum
of the magnitudes that were added for it.  With eps and acc the spacings of the
element and the accumulating type at 1, a result may be off by

    eps |value| + 16 acc magnitude + the type's smallest number

and integers must be equal modulo their width.  Sizes include 0, 1, less than a
vector, and no multiple of any tile.  Kernels for one GPU alone run on its
simulator, or, with PTX in the environment, those alone, as PTX (cli.ptx_slow).
One run in eight is compared with the reference, too.  The C compiler optimises
each kernel as users' are in the type that has all sizes and in another type or
CPU by turns, and not in the others, and so compiles none of them twice.  With PACK
in the environment all of pack/pack.def runs instead, without a C compiler.
Usage: kernels.py [KERNEL...], with AXE and SRC in the environment, in a folder
of its own.
"""
import collections
import concurrent.futures
import itertools
import os
import re
import subprocess
import sys
import threading

import numpy as np

from references import (act_f8, activated, attention, attention_varlen,
                        by_blocks, bias_gelu, bias_relu, conv2d, dropout, exact, f8_blocks,
                        f8_rows, first_largest, gathered, gelu, grouped,
                        grouped_by, grouped_swiglu_f8, jacobi, largest, layernorm,
                        magnitude, matmul, mxfp8, nvfp4, offsets, quantise, random_words, residual,
                        rmsnorm, rope, scaled, scattered, softmax,
                        softmax_causal, spread, squash, summed, swiglu,
                        swiglu_f8, topk, varlen)
from share import with_cc

EPS = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7,
       "i32": 0, "i8": 0, "u8": 0, "u32": 0, "f8e4m3": 2.0**-4, "f8e8m0": 0, "f4e2m1": 0}
LEAST = {"f64": 1e-300, "f32": 1e-37, "f16": 2.0**-24, "bf16": 1e-37,
         "i32": 0, "i8": 0, "u8": 0, "u32": 0, "f8e4m3": 2.0**-10, "f8e8m0": 0,
         "f4e2m1": 0}
ACC = {"f64": 2.0**-52}
STORED = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i32": "i4",
          "i8": "i1", "u8": "u1", "f8e4m3": "u1", "f8e8m0": "u1"}
REAL = ("f32", "f64", "f16", "bf16")
ALL = REAL + ("i32", "i8", "u8")

Row = collections.namedtuple("Row", "file kernel ins outs f types sizes")

# ------------------------------------------------------------------- the table

MN = [(1, 1), (3, 5), (8, 16), (13, 130), (37, 77), (64, 33), (1, 300), (0, 7)]
MNK = [(1, 1, 1), (5, 3, 7), (16, 48, 8), (33, 65, 100), (197, 391, 259),
       (0, 4, 5), (4, 5, 0)]
ABC = [(1, 1, 1), (3, 5, 7), (2, 65, 70), (9, 16, 33), (0, 3, 4)]
HEADS = [(1, 1, 1, 1), (2, 3, 33, 70), (1, 2, 130, 259), (1, 1, 500, 600),
         (1, 2, 0, 5), (1, 2, 33, 20), (1, 1, 3, 0)]
VARLEN = [(271, 499, 5, 4, 1, 1), (143, 139, 3, 3, 2, 2),
          (152, 389, 4, 4, 1, 3), (1, 1, 2, 1, 1, 1)]
BSHD = [(1, 1, 1, 1), (2, 17, 3, 8), (1, 70, 2, 65), (2, 3, 4, 19)]


def varlen_row(kernel, sets, types):
    d = "H" if "D=64" in sets else "D"
    return Row(kernel, kernel + sets, {
        "Q": "SGR" + d, "K": "LG" + d, "V": "LG" + d, "queries": "B",
        "keys": "B", "block": "W2"}, {"O": "SGR" + d},
        attention_varlen("CAUSAL=1" in sets), types, ("SLBWGR", VARLEN))


def pointwise(file, kernel, ins, f, types=REAL):
    return Row(file, kernel, ins, {"Y": "MN"}, f, types, ("MN", MN))


ROWS = [
    Row("gemm", "gemm", {"A": "MK", "B": "NK"}, {"C": "MN"},
        lambda a, b: matmul(a, b.T), ALL, ("MNK", MNK)),
    Row("gemm_nn", "gemm_nn", {"A": "MK", "B": "KN"}, {"C": "MN"}, matmul,
        ALL, ("MNK", MNK)),
    Row("gemm_t", "gemm_tn", {"A": "KM", "B": "KN"}, {"C": "MN"},
        lambda a, b: matmul(a.T, b), ALL, ("MNK", MNK)),
    Row("gemm_t", "gemm_tt", {"A": "KM", "B": "NK"}, {"C": "MN"},
        lambda a, b: matmul(a.T, b.T), ALL, ("MNK", MNK)),
    Row("gemm_batched", "gemm_batched", {"A": "PMK", "B": "PNK"},
        {"C": "PMN"}, lambda a, b: matmul(a, b.transpose(0, 2, 1)), ALL,
        ("PMNK", [(3,) + s for s in MNK])),
    Row("gemm_bias_relu", "gemm_bias_relu",
        {"A": "MK", "B": "NK", "bias": "N"}, {"C": "MN"}, bias_relu, REAL,
        ("MNK", MNK)),
    Row("linear", "linear", {"X": "MK", "W": "NK"}, {"Y": "MN"},
        lambda x, w: matmul(x, w.T), ALL, ("MNK", MNK)),
    Row("gemm_i8", "gemm_i8", {"A": "MK", "B": "NK"}, {"C": "MN"},
        lambda a, b: matmul(a, b.T), ("i8", "u8"), ("MNK", MNK)),
    Row("gemm_dequantise", "gemm_dequantise",
        {"A": "MK", "Q": "NK", "S": "N"}, {"C": "MN"},
        lambda a, q, s: [((a @ q.T) * s, (abs(a) @ abs(q.T)) * abs(s))],
        ("f32", "f16", "bf16"), ("MNK", MNK)),
    Row("gemm_epilogue", "gemm_bias_gelu",
        {"A": "MK", "B": "NK", "bias": "N"}, {"C": "MN"}, bias_gelu, REAL,
        ("MNK", MNK)),
    Row("gemm_epilogue", "gemm_residual",
        {"A": "MK", "B": "NK", "R": "MN"}, {"C": "MN"},
        lambda a, b, r: [(a @ b.T + r, abs(a) @ abs(b.T) + abs(r))], ALL,
        ("MNK", MNK)),
    Row("gemv", "gemv", {"A": "MK", "x": "K"}, {"y": "M"}, matmul, REAL,
        ("MK", MN)),
    Row("gemv", "gemv_t", {"A": "KN", "x": "K"}, {"y": "N"},
        lambda a, x: matmul(a.T, x), REAL, ("KN", MN)),
    Row("conv2d", "conv2d", {"X": "BCHW", "F": "OC33"}, {"Y": "BOHW"}, conv2d,
        ALL[:-1], ("BCOHW", [(1, 1, 1, 1, 1), (2, 3, 5, 7, 9),
                             (1, 65, 3, 9, 33), (1, 5, 67, 8, 40),
                             (1, 2, 3, 0, 4), (1, 0, 2, 3, 4)])),
    Row("gather_rows", "gather_rows", {"X": "VN", "rows": "M"}, {"Y": "MN"},
        exact(gathered), ALL, ("VMN", [(100, 5, 3), (128, 70, 33), (3, 9, 16),
                                       (0, 3, 4), (4, 0, 3)])),
    Row("gemm_grouped", "gemm_grouped",
        {"X": "MK", "row": "P", "W": "ENK", "expert": "Q"}, {"Y": "PN"},
        grouped, ("f32", "bf16"),
        ("MKPENQ", [(100, 33, 130, 90, 70, 3), (64, 64, 64, 8, 64, 1)])),
    Row("quantise_f8", "quantise_f8_rows", {"X": "MK"},
        {"A": "MK", "S": "QM"}, f8_rows, ("f32", "bf16"),
        ("MKQ", [(100, 300, 3), (33, 128, 1), (1, 1, 1)])),
    Row("quantise_f8", "quantise_f8_blocks", {"X": "NK"},
        {"B": "NK", "S": "PQ"}, f8_blocks, ("f32", "bf16"),
        ("NKPQ", [(200, 300, 2, 3), (128, 128, 1, 1)])),
    Row("quantise_mx", "quantise_mxfp8", {"X": "MK"},
        {"A": "MK", "S": "PQt44"}, mxfp8, ("f32", "bf16"),
        ("MKPQ", [(100, 300, 1, 3), (129, 128, 2, 1), (1, 1, 1, 1)])),
    Row("quantise_nvfp4", "quantise_nvfp4", {"X": "MK"},
        {"A": "MB", "S": "PQt44"}, nvfp4, ("f32", "bf16"),
        ("MKBPQ", [(100, 300, 150, 1, 5), (129, 64, 32, 2, 1), (1, 2, 1, 1, 1)])),
    Row("gemm_swiglu_f8", "gemm_swiglu_f8",
        {"A": "MK", "G": "NK", "U": "NK"}, {"C": "MN", "S": "QM"}, swiglu_f8,
        ("f32",), ("MNKQ", [(100, 300, 90, 3)])),
    Row("gemm_swiglu", "gemm_swiglu", {"A": "MK", "G": "NK", "U": "NK"},
        {"C": "MN"}, swiglu, ("f32", "f16"), ("MNK", MNK[:4])),
    Row("gather_rows", "scatter_add_rows",
        {"X": "MN", "rows": "M", "Y": "VN"}, {"Y": "VN"}, scattered,
        ("f32", "f64", "i32"),
        ("VMN", [(100, 5, 3), (20, 70, 133), (3, 9, 16), (0, 3, 4)])),
    Row("attention", "attention",
        {"Q": "GRSD", "K": "GLD", "V": "GLD"}, {"O": "GRSD"},
        attention(False), REAL, ("GRSL", HEADS)),
    Row("attention", "attention CAUSAL=1",
        {"Q": "GRSD", "K": "GLD", "V": "GLD"}, {"O": "GRSD"},
        attention(True), ("f32", "bf16"), ("GRSL", HEADS)),
    Row("attention", "attention D=64",
        {"Q": "GRSH", "K": "GLH", "V": "GLH"}, {"O": "GRSH"},
        attention(False), ("f32", "f16"), ("GRSL", HEADS[:3])),
    *(varlen_row("attention_varlen", sets, ("f16", "bf16", "f32"))
      for sets in ("", " D=64 CAUSAL=1")),
    pointwise("softmax", "softmax", {"X": "MN"}, softmax),
    pointwise("softmax_cluster", "softmax_cluster", {"X": "MN"}, softmax),
    pointwise("softmax_causal", "softmax_causal", {"X": "MN"}, softmax_causal),
    pointwise("softmax_columns", "softmax_columns", {"X": "MN"},
              lambda x: [tuple(a.T for a in y) for y in softmax(x.T)]),
    Row("gemm_splitk", "gemm_splitk", {"A": "MK", "B": "NK"}, {"C": "MN"},
        lambda a, b: matmul(a, b.T), ALL,
        ("MNK", MNK + [(20, 30, 3000)])),
    pointwise("rmsnorm", "rmsnorm", {"X": "MN", "W": "N"}, rmsnorm),
    pointwise("layernorm", "layernorm", {"X": "MN", "W": "N", "B": "N"},
              layernorm),
    pointwise("gelu", "gelu", {"X": "MN"}, gelu),
    pointwise("silu_mul", "silu_mul", {"A": "MN", "B": "MN"},
              lambda a, b: [(a / (1 + np.exp(-a)) * b, (2 + abs(a)) * abs(
                  a / (1 + np.exp(-a)) * b))]),
    pointwise("elementwise", "squash", {"X": "MN"}, squash, ALL[:-1]),
    Row("elementwise", "add", {"X": "MN", "Y": "MN"}, {"Z": "MN"},
        lambda x, y: [(x + y, 0 * x)], ALL, ("MN", MN)),
    Row("elementwise", "add", {"X": "MN", "Y": "MN"}, {"Z": "MN"},
        lambda x, y: [(x + y, 0 * x)], ("f32", "f64"),
        ("MN", [(1040, 4112), (1031, 4101)])),  # past the caches
    Row("elementwise", "residual", {"R": "MN", "S": "N", "B": "N", "X": "MN"},
        {"X": "MN"}, residual, REAL, ("MN", MN)),
    Row("reduce", "row_sum", {"X": "MN"}, {"y": "M"}, summed(1), ALL,
        ("MN", MN)),
    Row("reduce", "col_sum", {"X": "MN"}, {"y": "N"}, summed(0), ALL,
        ("MN", MN)),
    Row("reduce", "row_max", {"X": "MN"}, {"y": "M"}, largest(1), ALL,
        ("MN", MN)),
    Row("reduce", "col_max", {"X": "MN"}, {"y": "N"}, largest(0), ALL,
        ("MN", MN[:-1])),
    Row("reduce", "row_argmax", {"X": "MN"}, {"y": "M"}, exact(first_largest),
        ALL, ("MN", MN[:-1])),
    Row("topk", "topk", {"X": "MN"}, {"Y": "M8", "J": "M8"}, topk, REAL,
        ("MN", [(8, 700), *MN])),
    Row("scan", "scan", {"X": "MN"}, {"Y": "MN"},
        lambda x: [(x.cumsum(1), abs(x).cumsum(1))], ("f32", "f64", "i32"),
        ("MN", MN)),
    Row("jacobi", "jacobi", {"F": "MN", "R": "S", "U": "MN"}, {"U": "MN"},
        jacobi, ("f32", "f64"),
        ("MNS", [(1, 1, 1), (3, 5, 4), (37, 77, 5), (40, 300, 7), (3, 4, 0),
                 (0, 4, 3)])),
    Row("dropout", "random_words", {"C": "4M", "key": "2"}, {"W": "4M"},
        random_words, "-", ("M", [(1,), (64,), (131,), (0,)])),
    Row("dropout", "dropout", {"X": "MN", "seed": "2", "p": "1"}, {"Y": "MN"},
        dropout, ("f32", "f16", "bf16"), ("MN", MN + [(5, 600)])),
    Row("quantise", "quantise", {"X": "MN"}, {"Q": "MN", "S": "M"}, quantise,
        REAL, ("MN", MN)),
    Row("dequantise", "dequantise", {"Q": "MN", "S": "M"}, {"X": "MN"},
        lambda q, s: [(q * s[:, None], abs(q * s[:, None]))],
        ("f32", "f16", "bf16"), ("MN", MN)),
    Row("transpose", "transpose", {"X": "MN"}, {"Y": "NM"},
        exact(lambda x: x.T), ALL, ("MN", MN + [(2064, 2064), (2065, 2063)])),
    Row("transpose", "transpose LARGE=0", {"X": "MN"}, {"Y": "NM"},
        exact(lambda x: x.T), ALL, ("MN", MN)),
    Row("permute", "permute_acb", {"X": "ABC"}, {"Y": "ACB"},
        exact(lambda x: x.transpose(0, 2, 1)), ALL, ("ABC", ABC)),
    Row("permute", "permute_bac", {"X": "ABC"}, {"Y": "BAC"},
        exact(lambda x: x.transpose(1, 0, 2)), ALL, ("ABC", ABC)),
    Row("permute", "heads_first", {"X": "BSHD"}, {"Y": "BHSD"},
        exact(lambda x: x.transpose(0, 2, 1, 3)), ALL, ("BSHD", BSHD)),
    Row("permute", "keys_transposed", {"X": "BSHD"}, {"Y": "BHDS"},
        exact(lambda x: x.transpose(0, 2, 3, 1)), ALL, ("BSHD", BSHD)),
    Row("rope", "rope", {"X": "SH2D", "C": "SD", "Z": "SD"}, {"Y": "SH2D"},
        rope, REAL, ("SHD", [(1, 1, 1), (3, 2, 5), (17, 3, 32), (10, 2, 67)])),
]

# Of kernels for one machine: boxes need rows of whole 16 bytes.
SM90 = [(1, 8, 8), (130, 72, 8), (300, 264, 200)]
# Factors of 8 bits, with scales; all element types are the kernel's own.
F8 = {"A": "MK", "B": "NK", "SA": "QM", "SB": "PQ"}
F8_SIZES = [(4, 8, 16, 1, 1), (300, 272, 400, 4, 3)]
ON = {"sm_80": [
    varlen_row("attention_varlen", " D=64 CAUSAL=1", ("f16",)),
], "sm_90a": [
    *(varlen_row("attention_varlen_sm90", sets, ("f16", "bf16"))
      for sets in ("", " D=64 CAUSAL=1")),
    varlen_row("attention_varlen", "", ("f16",)),
    Row("gemm_sm90", "gemm_sm90", {"A": "MK", "B": "NK"}, {"C": "MN"},
        lambda a, b: matmul(a, b.T), ("f16", "bf16"), ("MNK", SM90)),
    *(Row("gemm_epilogue_sm90", f"gemm_act_sm90 ACT={i}",
          {"A": "MK", "B": "NK", "bias": "N"}, {"C": "MN"}, activated(f),
          ("bf16",), ("MNK", SM90[i:] + SM90[:1])) for i, f in enumerate(
              [lambda x: x, lambda x: np.maximum(x, 0)])),
    *(Row("gemm_epilogue_sm90", f"gemm_act_sm90 ACT={i + 2}",
          {"A": "MK", "B": "NK", "bias": "N"}, {"C": "MN"}, activated(f),
          ("f16",), ("MNK", SM90[i:])) for i, f in enumerate(
              [lambda x: x / (1 + np.exp(-x)), lambda x: gelu(x)[0][0]])),
    Row("gemm_epilogue_sm90", "gemm_residual_sm90",
        {"A": "MK", "B": "NK", "bias": "N", "R": "MN"}, {"C": "MN"},
        lambda a, b, bias, r: [(a @ b.T + bias + r, magnitude(
            abs(a) @ abs(b.T), bias, r))], ("f16", "bf16"), ("MNK", SM90)),
    Row("gemm_rmsnorm_sm90", "gemm_rmsnorm_sm90", {"A": "MK", "B": "NK"},
        {"C": "MN"}, lambda a, b: matmul(a / np.sqrt(np.mean(
            np.square(a), axis=1, keepdims=True) + 1e-5), b.T),
        ("f16", "bf16"), ("MNK", SM90)),
    Row("gemm_swiglu_sm90", "gemm_swiglu_sm90", {"A": "MK", "W": "N2K"},
        {"C": "MN"}, lambda a, w: swiglu(a, w[:, 0], w[:, 1]),
        ("f16", "bf16"), ("MNK", SM90 + [(70, 131, 16)])),
    Row("gemm_swiglu_f8_sm90", "gemm_swiglu_f8_sm90",
        {"A": "MK", "W": "N2K"}, {"C": "MN", "S": "QM"},
        lambda a, w: swiglu_f8(a, w[:, 0], w[:, 1]), ("bf16", "f16"),
        ("MNKQ", [(100, 304, 88, 3), (70, 131, 16, 2)])),
    Row("gemm_fp8_sm90", "gemm_fp8_sm90", F8, {"C": "MN"},
        scaled(lambda y, size: [(y, size)]), ("-",), ("MNKQP", F8_SIZES)),
    Row("gemm_fp8_sm90", "gemm_fp8_sm90 BM=128 BN=64 STAGES=5", F8, {"C": "MN"},
        scaled(lambda y, size: [(y, size)]), ("-",), ("MNKQP", F8_SIZES[:1])),
    *(Row("gemm_fp8_small_sm90", "gemm_fp8_small_sm90" + sets,
          F8 | {"A": "MQD", "B": "NQD"}, {"C": "MN"},
          scaled(lambda y, size: [(y, size)]), ("-",),
          ("MNQP", [(52, 264, 5, 3), (4, 8, 1, 1)]))
      for sets in ("", " BM=16 SPLIT=4 STAGES=3 CLUSTER=4",
                   " BN=16 SPLIT=1", " BM=8 BN=128 CLUSTER=1")),
    *(Row("gemm_fp8_epilogue_sm90", f"gemm_fp8_act_sm90 ACT={i}",
          F8 | {"bias": "N"}, {"C": "MN"},
          scaled(lambda y, size, bias, f=f: [(
              f(y + bias), (size + abs(bias)) * (2 + abs(y + bias)))]),
          ("-",), ("MNKQP", F8_SIZES[i % 2:])) for i, f in enumerate(
              [lambda x: x, lambda x: np.maximum(x, 0),
               lambda x: x / (1 + np.exp(-x)), lambda x: gelu(x)[0][0]])),
    Row("gemm_fp8_epilogue_sm90", "gemm_fp8_act_f8_sm90",
        F8 | {"bias": "N"}, {"C": "MN", "S": "PM"},
        scaled(act_f8(lambda x: gelu(x)[0][0])), ("-",),
        ("MNKQP", F8_SIZES[1:])),
    Row("gemm_fp8_swiglu_sm90", "gemm_fp8_swiglu_sm90",
        {"A": "MK", "W": "N2K", "SA": "QM", "SW": "P2Q"},
        {"C": "MN", "S": "PM"},
        lambda a, w, sa, sw: swiglu_f8(spread(a, sa.T), *(
            spread(w[:, i], sw[:, i]) for i in range(2))), ("-",),
        ("MNKQP", F8_SIZES[1:])),
    Row("gemm_fp8_grouped_sm90", "gemm_fp8_grouped_swiglu_sm90",
        {"X": "MK", "off": "F", "W": "EN2K", "SX": "QM", "SW": "EP2Q"},
        {"C": "MN", "S": "PM"}, grouped_swiglu_f8, ("-",),
        ("MKFENQP", [(4, 16, 2, 1, 16, 1, 1), (392, 272, 9, 8, 272, 3, 3)])),
    Row("gemm_grouped_sm90", "gemm_grouped_sm90",
        {"X": "MK", "off": "F", "W": "ENK"}, {"Y": "MN"}, grouped_by,
        ("f16", "bf16"), ("MKFEN", [(300, 72, 5, 4, 264), (1, 8, 2, 1, 8),
                                    (390, 136, 9, 8, 131)])),
    Row("gemm_grouped_sm90", "gemm_gathered_sm90",
        {"X": "VK", "row": "M", "off": "F", "W": "ENK"}, {"Y": "MN"},
        lambda x, row, off, w: grouped_by(gathered(x, row), off, w),
        ("f16", "bf16"), ("VMKFEN", [(100, 300, 72, 5, 4, 264),
                                     (128, 390, 328, 9, 8, 131)])),
], "sm_100a": [
    Row("gemm_nvfp4_sm100", "gemm_nvfp4_sm100 S=f8e4m3",
        {"A": "MK", "B": "NK", "SA": "PRt44", "SB": "QRt44"}, {"C": "MN"},
        by_blocks(16), ("bf16",), ("MNKPQR", [(140, 72, 288, 2, 1, 5)])),
    Row("gemm_nvfp4_sm100", "gemm_nvfp4_sm100 S=f8e8m0 BLOCK=32",
        {"A": "MK", "B": "NK", "SA": "PRt44", "SB": "QRt44"}, {"C": "MN"},
        by_blocks(32), ("f32",), ("MNKPQR", [(70, 132, 160, 1, 2, 2)])),
    Row("quantise_nvfp4", "quantise_nvfp4", {"X": "MK"},
        {"A": "MB", "S": "PQt44"}, nvfp4, ("f16",),
        ("MKBPQ", [(70, 62, 31, 1, 1)])),
    Row("gemm_sm100", "gemm_sm100", {"A": "MK", "B": "NK"}, {"C": "MN"},
        lambda a, b: matmul(a, b.T), ("f16", "bf16"), ("MNK", SM90)),
]}
# Arrays that are not any numbers.
def hard_to_order(r, m, n):
    """Ties, no numbers and infinities; rows that begin with many of these, and
    rows with little else."""
    x = np.rint(2 * r.standard_normal([m, n]))
    what = r.random([m, n])
    x[what < 0.2] = np.nan
    x[(0.2 <= what) & (what < 0.3)] = -np.inf
    x[1::4, :40] = np.nan
    x[2::4, :100] = -np.inf
    x[3::4] = np.where(what[3::4] < 0.99, -np.inf, x[3::4])
    x[3::4, :300] = np.nan
    return x


MADE = {(kernel, "off"): offsets
        for kernel in ("gemm_grouped_sm90", "gemm_gathered_sm90",
                       "gemm_fp8_grouped_swiglu_sm90")} | {
    (kernel, name): lambda r, n, name=name: varlen(n)[name]
    for kernel in ("attention_varlen", "attention_varlen_sm90")
    for name in ("queries", "keys", "block")} | {
    ("dropout", "p"): lambda r, n: r.random(1)} | {
    ("topk", "X"): lambda r, n: hard_to_order(r, n["M"], n["N"])} | {
    ("gemm_nvfp4_sm100", name): lambda r, n, rows=rows: abs(
        r.standard_normal((n[rows], n["R"], 32, 4, 4)))
    for name, rows in (("SA", "P"), ("SB", "Q"))}

# The element type where it is not the kernel's T.
FP8_TYPES = {"A": "f8e4m3", "B": "f8e4m3", "W": "f8e4m3", "SA": "f32",
             "SB": "f32", "SW": "f32", "X": "f8e4m3", "SX": "f32",
             "off": "i32", "bias": "bf16", "S": "f32"}
FP8_OUT = {"gemm_fp8_sm90": "bf16", "gemm_fp8_small_sm90": "bf16",
           "gemm_fp8_act_sm90": "bf16", "gemm_fp8_act_f8_sm90": "f8e4m3",
           "gemm_fp8_swiglu_sm90": "f8e4m3",
           "gemm_fp8_grouped_swiglu_sm90": "f8e4m3"}
FIXED = {(kernel, name): t for kernel, out in FP8_OUT.items()
         for name, t in (FP8_TYPES | {"C": out}).items()} | {
         ("quantise_f8_rows", "A"): "f8e4m3", ("quantise_f8_rows", "S"): "f32",
         ("quantise_f8_blocks", "B"): "f8e4m3",
         ("quantise_f8_blocks", "S"): "f32",
         ("quantise_mxfp8", "A"): "f8e4m3",
         ("quantise_mxfp8", "S"): "f8e8m0",
         ("quantise_nvfp4", "A"): "f4e2m1",
         ("gemm_nvfp4_sm100", "A"): "f4e2m1",
         ("gemm_nvfp4_sm100", "B"): "f4e2m1",
         ("quantise_nvfp4", "S"): "f8e4m3",
         ("gemm_swiglu_f8", "C"): "f8e4m3", ("gemm_swiglu_f8", "S"): "f32",
         ("gemm_swiglu_f8_sm90", "C"): "f8e4m3",
         ("gemm_swiglu_f8_sm90", "S"): "f32",
         ("gemm_grouped_sm90", "off"): "i32",
         ("gemm_gathered_sm90", "off"): "i32",
         ("gemm_gathered_sm90", "row"): "i32",
         ("gemm_i8", "A"): "u8", ("gemm_i8", "C"): "i32",
         ("random_words", "C"): "u32", ("random_words", "key"): "u32",
         ("random_words", "W"): "u32", ("dropout", "seed"): "u32",
         ("dropout", "p"): "f32", ("quantise", "Q"): "i8", ("quantise", "S"): "f32",
         ("gemm_dequantise", "Q"): "i8", ("gemm_dequantise", "S"): "f32",
         ("dequantise", "Q"): "i8", ("dequantise", "S"): "f32",
         ("topk", "J"): "i64", ("row_argmax", "y"): "i64",
         ("gather_rows", "rows"): "i32",
         ("gemm_grouped", "row"): "i32", ("gemm_grouped", "expert"): "i32", ("scatter_add_rows", "rows"): "i32"}
# No CPU takes them, see docs/machines.md.
NOT_ON_CPU = {"attention_varlen_sm90", "gemm_nvfp4_sm100", "quantise_nvfp4"}
# Extents that are no sizes of the kernel, unless a row says that they are.
CONSTANT = {"1": 1, "2": 2, "3": 3, "4": 4, "8": 8, "D": 128, "H": 64, "t": 32}
WIDE = {"f64": "f64", "u8": "u32"}


def element(row, name, t):
    if row.kernel == "gemm_i8 S=i8" and name == "A":
        return "i8"
    if name in ("queries", "keys", "block"):
        return "i32"
    if (row.kernel.split()[0], name) in FIXED:
        return FIXED[row.kernel.split()[0], name]
    if row.file == "gemm_nvfp4_sm100" and name in ("SA", "SB"):
        return "f8e8m0" if "S=f8e8m0" in row.kernel else "f8e4m3"
    if row.kernel in ("row_sum", "col_sum") and name == "y":
        return "f64" if t == "f64" else "f32" if t in REAL else \
            "u32" if t == "u8" else "i32"
    return t


# ------------------------------------------------------------------- numbers

F4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
F4_MIDDLES = (F4[1:] + F4[:-1]) / 2


def encode(x, t):
    """float64 to the bytes of an array of type t; of 4 bits thrice as large, powers
    of two by their exponents."""
    if t == "f4e2m1":
        codes = (np.searchsorted(F4_MIDDLES, abs(3 * x)) + 8 * (x < 0)).astype("u1")
        return codes[..., ::2] | codes[..., 1::2] << 4
    if t == "f8e8m0":
        return np.rint(127 + 2 * x).astype("u1")
    if t == "f8e4m3":
        codes = decode(np.arange(127, dtype="u1"), t)
        near = np.searchsorted((codes[1:] + codes[:-1]) / 2, abs(x))
        return (near + 128 * (x < 0)).astype("u1")
    if t != "bf16":
        return x.astype(STORED.get(t, t[0] + str(int(t[1:]) // 8)))
    b = x.astype("f4").view("u4")
    return (b + 0x7fff + (b >> 16 & 1) >> 16).astype("u2")


def decode(a, t):
    if t == "bf16":
        return (a.view("u2").astype("u4") << 16).view("f4").astype("f8")
    if t == "f8e4m3":
        b = a.view("u1").astype(int)
        e, m = b >> 3 & 15, b & 7
        v = np.where(e > 0, (8 + m) * 2.0**(e - 10), m * 2.0**-9)
        return np.where(b >> 7, -v, v)
    if t == "f4e2m1":
        codes = np.stack((a & 15, a >> 4), -1).reshape(*a.shape[:-1], -1)
        return F4[codes & 7] * (1 - codes // 8 * 2.0)
    if t == "f8e8m0":
        return 2.0**(a.view("u1").astype(int) - 127)
    return a.astype("f8")


def wrong(got, want, size, t, acc_t):
    """The number of elements of `got` that are too far off."""
    if t[0] in "iu":
        bits = int(t[1:])
        if np.isinf(want).any():
            least = 0 if t[0] == "u" else -2**(bits - 1)
            want = np.where(np.isinf(want), least, want)
        return np.count_nonzero((got - want) % 2.0**bits)
    bound = EPS[t] * abs(want) + 16 * ACC.get(acc_t, 2.0**-23) * size + LEAST[t]
    with np.errstate(invalid="ignore"):
        return np.count_nonzero(~((abs(got - want) <= bound) | (got == want)))


def quantised(got, want):
    """At a tie the rounding of the scale decides: one off, and rarely."""
    off = abs(got - want)
    n_off = np.count_nonzero(off)
    return n_off if n_off > 1 + off.size // 100 else np.count_nonzero(off > 1)


# ------------------------------------------------------------------- running

def run(row, t, size, machine, seed, optimised):
    """What is wrong, or None."""
    n = CONSTANT | dict(zip(row.sizes[0], size))
    kernel, *sets = row.kernel.split()
    what = f"{row.kernel} {t} {machine} " + \
        " ".join(f"{k}={v}" for k, v in zip(row.sizes[0], size))
    r = np.random.default_rng(seed)
    stem = f"{kernel}.{seed}"
    args, values = [], []
    for name, dims in row.ins.items():
        e = element(row, name, t)
        x = r.standard_normal([n[d] for d in dims])
        x = np.rint(10 * x) % 2.0**7 if e[0] in "iu" else x
        x = encode(MADE[kernel, name](r, n) if (kernel, name) in MADE else x,
                   e)
        values.append(decode(x, e))
        np.save(f"{stem}.{name}.npy", x)
        args.append(f"{name}={stem}.{name}.npy")
    for name in row.outs:
        if name not in row.ins:
            args.append(f"{name}={stem}.{name}.npy")
    shown = set("".join(row.ins.values())) | set(CONSTANT)
    args += [f"{d}={n[d]}" for d in row.sizes[0] if d not in shown]
    how, env = ["run", "--threads", str(1 + seed % 2)], with_cc(dict(os.environ), not optimised)
    if machine in ON and "PTX" in env:
        env |= {"PTX_CC": machine[3:].rstrip("a"), "PTX_ORDER": str(seed % 7)}
    elif "PACK" in env:
        env["PATH"] = ""
    elif machine in ON:
        how = ["sim", "--sms", "2", "--policy", ["lazy", "eager"][seed % 2]]
    p = subprocess.run(
        [env["AXE"], *how, "-t", machine,
         text_for(row.file, machine), kernel, *args,
         *(f"--set={s}" for s in [f"T={t}"] * (t != "-") + sets),
         *["--check"] * (seed % 8 == 0 and "PACK" not in env)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    if p.returncode != 0:
        return f"{what}: exit {p.returncode}\n{p.stdout}"
    with np.errstate(all="ignore"):
        wants = row.f(*values)
    for (name, dims), (want, mag) in zip(row.outs.items(), wants):
        e = element(row, name, t)
        a = np.load(f"{stem}.{name}.npy")
        if list(a.shape) != [n[d] for d in dims]:
            return f"{what}: {name} has the shape {a.shape}"
        got = decode(a, e)
        bad = quantised(got, want) if (row.kernel, name) == ("quantise", "Q") \
            else wrong(got, want, mag, e, t)
        if bad:
            return f"{what}: {bad} of {got.size} elements of {name} are wrong"
    return None


def packed_jobs():
    """Each row of pack.def on two machines; of a packed argument cli.pack has
    a test of its own."""
    seed = itertools.count(1)
    text = open(os.environ["SRC"] + "/pack/pack.def").read()
    for file, kernel, sets, packed in re.findall(
            r'^PACK\( *(\w+), *(\w+), *"(.*?)", *"(.*?)" *\)', text, re.M):
        if packed:
            continue
        t = re.search(r"\bT=(\w+)", sets)
        row = next(r for r in ROWS if r.file == file and
                   r.kernel.split()[0] == kernel)
        others = [s for s in sets.split() if s[:2] != "T=" and
                  s not in ("S=u8", "D=128")]
        if "D=64" in others:
            row = row._replace(ins={k: v.replace("D", "H")
                                    for k, v in row.ins.items()},
                               outs={k: v.replace("D", "H")
                                     for k, v in row.outs.items()})
        if kernel == "attention":
            row = row._replace(f=attention("CAUSAL=1" in others))
        if kernel == "attention_varlen":
            row = row._replace(f=attention_varlen("CAUSAL=1" in others))
        row = row._replace(kernel=" ".join([kernel, *others]))
        for machine in ("cpu", "cpu-avx2"):
            i = next(seed)
            yield (row, t[1] if t else "-",
                   row.sizes[1][i % len(row.sizes[1])], machine, i)


def jobs(only):
    """All sizes in the first type; one, in turn, in others and elsewhere."""
    if "PACK" in os.environ:
        yield from packed_jobs()
        return
    seed = itertools.count(1)
    for row, machine in [(row, m) for m in ON for row in ON[m]]:
        if only and row.kernel.split()[0] not in only:
            continue
        size = itertools.cycle(row.sizes[1])
        for s in row.sizes[1]:
            yield row, row.types[0], s, machine, next(seed)
        for t in row.types[1:]:
            yield row, t, next(size), machine, next(seed)
    for row in ROWS if "PTX" not in os.environ else []:
        if only and row.kernel.split()[0] not in only:
            continue
        size = itertools.cycle(s for s in row.sizes[1] if 0 not in s)
        for s in row.sizes[1]:
            yield row, row.types[0], s, "cpu", next(seed)
        for t in row.types[1:]:
            yield row, t, next(size), "cpu", next(seed)
        for machine in ("cpu-avx2", "cpu-base"):
            yield row, row.types[0], next(size), machine, next(seed)
    for row in ON["sm_90a"] + ON["sm_100a"] if "PTX" not in os.environ else []:
        kernel = row.kernel.split()[0]
        if kernel in NOT_ON_CPU or (only and kernel not in only):
            continue
        yield row, row.types[0], row.sizes[1][0], "cpu", next(seed)


def with_optimised(todo):
    """Jobs, each with whether its kernel is compiled as users' are: in the type and
    on the CPU that it has all sizes in, and in another by turns."""
    of = {}  # a kernel's types and CPUs, in the order that they come in
    for row, t, _, machine, _ in todo:
        if machine not in ON:
            of.setdefault(row.kernel, {})[t, machine] = None
    some = {(k, *list(of[k])[j]) for i, k in enumerate(of)
            for j in (0, 1 + i % max(1, len(of[k]) - 1)) if j < len(of[k])}
    return [(*job, (job[0].kernel, job[1], job[3]) in some) for job in todo]


def text_for(file, machine):
    """The path of the kernel's text: on CPUs without `target`, a copy."""
    path = f"{os.environ['SRC']}/kernels/{file}.axe"
    if machine in ON or for_cpus(path):
        return path
    copy = f"{file}.cpu.axe"
    text = re.sub(r"(?m)^ *target [\w, -]+$", "", open(path).read())
    if not os.path.exists(copy):
        with open(f"{copy}.{threading.get_ident()}", "w") as f:
            f.write(text)
        os.replace(f.name, copy)
    return copy


def for_cpus(path):
    """No kernel of the file is for another machine."""
    return not re.search(r"^ *target (?!cpu)", open(path).read(), re.M)


def missing():
    """Files of kernels/ for CPUs without a row."""
    have = {row.file + ".axe" for row in ROWS}
    folder = os.environ["SRC"] + "/kernels/"
    return sorted(f for f in os.listdir(folder) if f.endswith(".axe") and
                  f not in have and for_cpus(folder + f))


def main():
    share = int(os.environ.get("AXE_SHARE", "1"))
    todo = with_optimised(list(jobs(sys.argv[1:])))[::share]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [s for s in pool.map(lambda j: run(*j), todo) if s]
    said += [f"{f}: no test here" for f in missing()]
    print("\n".join(said + [f"{len(todo)} runs, {len(said)} failed"]))
    # as PTX a kernel may have rows in tests/sim.list alone
    return bool(said) or not (todo or (sys.argv[1:] and "PTX" in os.environ))


if __name__ == "__main__":
    sys.exit(main())
