/* wave64.h - a machine that no one builds: waves of 64 lanes, 3 of them in a
 * group, plain loads and stores, shuffles, shared memory, barriers, products of
 * one thread each and, of integers, of a wave.  It is a value of this file: no
 * line of the library knows of it. */
#ifndef WAVE64_H
#define WAVE64_H

#include "machine/machine.h"
#include "machine/rates.h"

static const axe_axis_row wave64_axis[] = {
    {"m", AXE_KIND_MEMORY},         {"tlane", AXE_KIND_MEMORY},
    {"tcol", AXE_KIND_MEMORY},      {"reg", AXE_KIND_REG},
    {"cluster", AXE_KIND_THREAD},   {"cta", AXE_KIND_THREAD},
    {"warpgroup", AXE_KIND_THREAD}, {"warp", AXE_KIND_THREAD},
    {"wid", AXE_KIND_THREAD},       {"lane", AXE_KIND_THREAD},
    {"tid", AXE_KIND_THREAD},       {"thread", AXE_KIND_THREAD},
};

static const axe_nest_row wave64_nest[] = {
    {"thread", "warp", "lane", 64},
    {"thread", "warpgroup", "tid", 192},
    {"warp", "warpgroup", "wid", 3},
    {"tid", "wid", "lane", 64},
};

static const axe_axis_table wave64_axes = {
    "wave64",    AXE_LEN(wave64_axis), AXE_LEN(wave64_nest),
    wave64_axis, wave64_nest,          0,
    NULL};

/* As rates.h names them: what a middling GPU does. */
static const axe_rates wave64_rates = {
    .machine = "wave64",
    .busy_ghz = 1.5,
    .memory_gb = 1600,
    .l2 = 64,
    .wait = 800,
    .launch_us = 5,
    .parts = 4,
    .fp32 = 64,
    .threads = 2048,
    .ctas = 32,
    .shared = 64 * 1024,
    .own = 0,
};

static const axe_simt wave64_simt = {
    .lanes = 64,
    .group = 3,
    .max_threads = 1024,
    .threads = 256,
    .max_cluster = 1,
    .banks = 32,
    .bank_bytes = 4,
    .shared_bytes = 64 * 1024,
    .registers = 131072,
    .max_registers = 256,
    .n_sm = 64,
    .sector_bytes = 64,
    .max_vector = 16,
    .named_barriers = 8,
    .map_bits = 8,
    .rates = &wave64_rates,
};

#define WAVE64_ROW(name_, kind_, by_, cost_)                                   \
    .name = name_, .kind = AXE_ATOM_##kind_, .by = AXE_SCOPE_##by_,            \
    .cost = (cost_), .needs = "", .group = "", .asm_text = "x $0, $1;",        \
    .text = name_
#define WAVE64_MOVE(memory, bytes, cost_)                                      \
    {WAVE64_ROW("load." #memory #bytes, LOAD, THREAD, cost_),                  \
     .d = "[v] (P) : (1@reg)",                                                 \
     .a = "[v] (P) : (1)",                                                     \
     .b = "",                                                                  \
     .type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},                       \
     .space = {AXE_ARG_REG, AXE_ARG_##memory, AXE_ARG_NONE},                   \
     .align = (bytes)},                                                        \
    {                                                                          \
        WAVE64_ROW("store." #memory #bytes, STORE, THREAD, cost_),             \
            .d = "[v] (P) : (1)", .a = "[v] (P) : (1@reg)", .b = "",           \
            .type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},                \
            .space = {AXE_ARG_##memory, AXE_ARG_REG, AXE_ARG_NONE},            \
            .align = (bytes)                                                   \
    }
#define WAVE64_MOVES(memory)                                                   \
    WAVE64_MOVE(memory, 1, 1), WAVE64_MOVE(memory, 2, 1),                      \
        WAVE64_MOVE(memory, 4, 1), WAVE64_MOVE(memory, 8, 2),                  \
        WAVE64_MOVE(memory, 16, 4)
#define WAVE64_SHUFFLE(bytes)                                                  \
    {WAVE64_ROW("swap" #bytes, PERMUTE, WARP, bytes / 4),                      \
     .d = "[h, x, l] (32/P, 2, P) : (2*P@lane, P@lane, 1@lane)",               \
     .a = "[h, x, l] (32/P, 2, P) : (2*P@lane, -P@lane, 1@lane) + P@lane",     \
     .b = "",                                                                  \
     .type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},                       \
     .space = {AXE_ARG_REG, AXE_ARG_REG, AXE_ARG_NONE},                        \
     .lo = 1,                                                                  \
     .hi = 32,                                                                 \
     .step = 1,                                                                \
     .align = (bytes)},                                                        \
    {                                                                          \
        WAVE64_ROW("pick" #bytes, PERMUTE, WARP, bytes / 4),                   \
            .d = "[l] (64) : (1@lane)", .a = "[l] (64) : (1@lane)", .b = "",   \
            .type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},                \
            .space = {AXE_ARG_REG, AXE_ARG_REG, AXE_ARG_INT}, .align = (bytes) \
    }
#define WAVE64_FMA(type_)                                                      \
    {                                                                          \
        WAVE64_ROW("fma." #type_, CONTRACT, THREAD, 0.5),                      \
            .d = "[] (1) : (1@reg)", .a = "[] (1) : (1@reg)",                  \
            .b = "[] (1) : (1@reg)",                                           \
            .type = {AXE_TYPE_##type_, AXE_TYPE_##type_, AXE_TYPE_##type_},    \
            .space = {AXE_ARG_REG, AXE_ARG_REG, AXE_ARG_REG},                  \
            .fold = AXE_FOLD_SUM                                               \
    }
#define WAVE64_SYNC(name_, by_, cost_, first, second)                          \
    {                                                                          \
        WAVE64_ROW(name_, SYNC, by_, cost_),                                   \
            .d = "", .a = "", .b = "", .sync = AXE_SYNC_BARRIER, .space = {    \
                AXE_ARG_##first,                                               \
                AXE_ARG_##second,                                              \
                AXE_ARG_NONE                                                   \
            }                                                                  \
    }

static const axe_atom wave64_atom[] = {
    WAVE64_MOVES(GLOBAL),
    WAVE64_MOVES(SHARED),
    WAVE64_SHUFFLE(4),
    WAVE64_SHUFFLE(8),
    /* Lane 8 i + j has c[i, 2 j] and c[i, 2 j + 1]; 8 lanes share an element of
     * a, 8 two of b. */
    {WAVE64_ROW("outer.i32", CONTRACT, WARP, 0.1),
     .d = "[m, n] (8, (8, 2)) : (8@lane, (1@lane, 1@reg))",
     .a = "[m, k] (8, 1) : (8@lane, 1@reg) + [8 : 1@lane]",
     .b = "[n, k] ((8, 2), 1) : ((1@lane, 1@reg), 2@reg) + [8 : 8@lane]",
     .type = {AXE_TYPE_i32, AXE_TYPE_i32, AXE_TYPE_i32},
     .space = {AXE_ARG_REG, AXE_ARG_REG, AXE_ARG_REG}, .fold = AXE_FOLD_SUM},
    /* Lane 32 i + j has c[i, j]: half a wave shares an element of a. */
    {WAVE64_ROW("outer.i64", CONTRACT, WARP, 0.1),
     .d = "[m, n] (2, 32) : (32@lane, 1@lane)",
     .a = "[m, k] (2, 1) : (32@lane, 1@reg) + [32 : 1@lane]",
     .b = "[n, k] (32, 1) : (1@lane, 1@reg) + [2 : 32@lane]",
     .type = {AXE_TYPE_i64, AXE_TYPE_i64, AXE_TYPE_i64},
     .space = {AXE_ARG_REG, AXE_ARG_REG, AXE_ARG_REG}, .fold = AXE_FOLD_SUM},
    WAVE64_FMA(f32),
    WAVE64_FMA(i32),
    WAVE64_SYNC("barrier.wave", WARP, 1, NONE, NONE),
    WAVE64_SYNC("barrier.some", WARP, 20, INT, INT),
    WAVE64_SYNC("barrier.cta", CTA, 20, NONE, NONE),
};

static const axe_compute_row wave64_type[] = {
    {AXE_TYPE_f32, AXE_TYPE_f32, ""},   {AXE_TYPE_f16, AXE_TYPE_f32, ""},
    {AXE_TYPE_i32, AXE_TYPE_i32, ""},   {AXE_TYPE_i64, AXE_TYPE_i64, ""},
    {AXE_TYPE_bool, AXE_TYPE_bool, ""},
};

static const axe_machine wave64 = {
    .name = "wave64",
    .family = "wave64",
    .kind = AXE_KIND_simt,
    .language = AXE_LANGUAGE_cuda,
    .arch = "wave64",
    .vector_bits = 128,
    .n_vreg = 256,
    .l2_bytes = 8 << 20,
    .l2_ways = 16,
    .ghz = 1.5,
    .features = "",
    .n_atom = AXE_LEN(wave64_atom),
    .atom = wave64_atom,
    .n_compute = AXE_LEN(wave64_type),
    .compute = wave64_type,
    .simt = &wave64_simt,
    .axes = &wave64_axes,
};

#endif
