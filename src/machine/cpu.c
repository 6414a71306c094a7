/* cpu.c - CPUs as machines: rows of the tables in cpu/. */
#include "machine/machine.h"

static const axe_atom cpu_atoms[] = {
#define ATOM(id, sort, td, ta, tb, dl, al, bl, slots, poor, signs, word, says) \
    {.name = #id,                                                              \
     .kind = AXE_ATOM_##sort,                                                  \
     .d = (dl),                                                                \
     .a = (al),                                                                \
     .b = (bl),                                                                \
     .type = {AXE_TYPE_##td, AXE_TYPE_##ta, AXE_TYPE_##tb},                    \
     .cost = (slots),                                                          \
     .slow = (poor),                                                           \
     .flip = (signs),                                                          \
     .needs = (word),                                                          \
     .text = (says)},
#include "machine/cpu/atoms.def"
};

static const axe_compute_row cpu_types[] = {
#define COMPUTE(type, compute, needs)                                          \
    {AXE_TYPE_##type, AXE_TYPE_##compute, needs},
#include "machine/cpu/types.def"
};

static const axe_machine machines[] = {
#define CPU(id, bits, vregs, l1, l2, w1, w2, stream, clock, words)             \
    {.name = (id),                                                             \
     .family = "cpu",                                                          \
     .kind = AXE_KIND_core,                                                    \
     .language = AXE_LANGUAGE_c,                                               \
     .vector_bits = (bits),                                                    \
     .n_vreg = (vregs),                                                        \
     .l1_bytes = (l1),                                                         \
     .l2_bytes = (l2),                                                         \
     .l1_ways = (w1),                                                          \
     .l2_ways = (w2),                                                          \
     .stream_bytes = (stream),                                                 \
     .ghz = (clock),                                                           \
     .features = (words),                                                      \
     .n_atom = AXE_LEN(cpu_atoms),                                             \
     .atom = cpu_atoms,                                                        \
     .n_compute = AXE_LEN(cpu_types),                                          \
     .compute = cpu_types},
#include "machine/cpu/cpus.def"
};

const axe_family axe_cpu_machines = {"cpu", AXE_LEN(machines), machines};
