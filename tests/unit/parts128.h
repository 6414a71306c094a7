/* parts128.h - a machine that no one builds: its shared memory is 128
 * partitions of 192 KiB, thread n of a CTA reaching partition n alone, as the
 * lanes of an accelerator's vector engine do; 2 waves of 64 lanes.  Waves
 * exchange registers by shuffles; a product reads all partitions.  It is a
 * value of this file: no line of the library knows of it. */
#ifndef PARTS128_H
#define PARTS128_H

#include "wave64.h"

static const axe_axis_row parts128_axis[] = {
    {"m", AXE_KIND_MEMORY},         {"P", AXE_KIND_MEMORY},
    {"F", AXE_KIND_MEMORY},         {"tlane", AXE_KIND_MEMORY},
    {"tcol", AXE_KIND_MEMORY},      {"reg", AXE_KIND_REG},
    {"cluster", AXE_KIND_THREAD},   {"cta", AXE_KIND_THREAD},
    {"warpgroup", AXE_KIND_THREAD}, {"warp", AXE_KIND_THREAD},
    {"wid", AXE_KIND_THREAD},       {"lane", AXE_KIND_THREAD},
    {"tid", AXE_KIND_THREAD},       {"thread", AXE_KIND_THREAD},
};

static const axe_nest_row parts128_nest[] = {
    {"thread", "warp", "lane", 64},
    {"thread", "warpgroup", "tid", 128},
    {"warp", "warpgroup", "wid", 2},
    {"tid", "wid", "lane", 64},
};

static const axe_axis_table parts128_axes = {
    "parts128",    AXE_LEN(parts128_axis), AXE_LEN(parts128_nest),
    parts128_axis, parts128_nest,          0,
    NULL};

static const axe_simt parts128_simt = {
    .lanes = 64,
    .group = 2,
    .max_threads = 128,
    .threads = 128,
    .max_cluster = 1,
    .banks = 32,
    .bank_bytes = 4,
    .shared_bytes = 192 * 1024,
    .partitions = 128,
    .registers = 65536,
    .max_registers = 256,
    .n_sm = 2,
    .sector_bytes = 64,
    .max_vector = 16,
    .named_barriers = 8,
    .map_bits = 8,
    .rates = &wave64_rates,
};

#define PARTS128_MOVE(bytes, cost_)                                            \
    {WAVE64_ROW("load.part" #bytes, LOAD, THREAD, cost_),                      \
     .d = "[v] (P) : (1@reg)",                                                 \
     .a = "[v] (P) : (1@F)",                                                   \
     .b = "",                                                                  \
     .type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},                       \
     .space = {AXE_ARG_REG, AXE_ARG_SHARED, AXE_ARG_NONE},                     \
     .align = (bytes)},                                                        \
    {                                                                          \
        WAVE64_ROW("store.part" #bytes, STORE, THREAD, cost_),                 \
            .d = "[v] (P) : (1@F)", .a = "[v] (P) : (1@reg)", .b = "",         \
            .type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},                \
            .space = {AXE_ARG_SHARED, AXE_ARG_REG, AXE_ARG_NONE},              \
            .align = (bytes)                                                   \
    }

/* Sums over partitions, for 64 of what lies along them in a and P in b: a row
 * of sums to a lane. */
#define PARTS128_PRODUCT(d_, a_)                                               \
    {                                                                          \
        WAVE64_ROW("product." #a_, CONTRACT, WARP, 1),                         \
            .d = "[m, n] (64, P) : (1@lane, 1@reg)",                           \
            .a = "[m, k] (64, 128) : (1@F, 1@P)",                              \
            .b = "[n, k] (P, 128) : (1@F, 1@P)",                               \
            .type = {AXE_TYPE_##d_, AXE_TYPE_##a_, AXE_TYPE_##a_},             \
            .space = {AXE_ARG_REG, AXE_ARG_SHARED, AXE_ARG_SHARED}, .lo = 8,   \
            .hi = 128, .step = 8, .fold = AXE_FOLD_SUM                         \
    }

static const axe_atom parts128_atom[] = {
    WAVE64_MOVES(GLOBAL),
    PARTS128_MOVE(1, 1),
    PARTS128_MOVE(2, 1),
    PARTS128_MOVE(4, 1),
    PARTS128_MOVE(8, 2),
    PARTS128_MOVE(16, 4),
    WAVE64_SHUFFLE(4),
    PARTS128_PRODUCT(f32, f32),
    PARTS128_PRODUCT(f32, f16),
    PARTS128_PRODUCT(i32, i32),
    WAVE64_SYNC("barrier.wave", WARP, 1, NONE, NONE),
    WAVE64_SYNC("barrier.cta", CTA, 20, NONE, NONE),
};

static const axe_machine parts128 = {
    .name = "parts128",
    .family = "parts128",
    .kind = AXE_KIND_simt,
    .language = AXE_LANGUAGE_cuda,
    .arch = "parts128",
    .vector_bits = 128,
    .n_vreg = 256,
    .l2_bytes = 8 << 20,
    .l2_ways = 16,
    .ghz = 1.4,
    .features = "",
    .n_atom = AXE_LEN(parts128_atom),
    .atom = parts128_atom,
    .n_compute = AXE_LEN(wave64_type),
    .compute = wave64_type,
    .simt = &parts128_simt,
    .axes = &parts128_axes,
};

#endif
