/* opencl.c - devices of OpenCL as machines, one for each width of sub-groups.
 *
 * Atoms' layouts and nests of axes have the width in them, so each width has
 * tables of its own, of the same rows. */
#include "machine/opencl.h"
#include "machine/machine.h"
#include "machine/rates.h"

static const axe_axis_row axis_rows[] = {
#define LANES 0
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#include "machine/opencl/axes.def"
#undef LANES
};

static const axe_compute_row types[] = {
#define COMPUTE(type, compute) {AXE_TYPE_##type, AXE_TYPE_##compute},
#include "machine/opencl/types.def"
};

static const axe_rates rates = {
#define RATES(machine, busy, memory, l2, wait, launch, parts, fp32, threads,   \
              ctas, shared, own)                                               \
    machine, busy, memory, l2, wait, launch, parts, fp32, threads, ctas,       \
        shared, own
#include "machine/opencl/rates.def"
};

#define LANES 8
#define ALL "8"
#define HALF "4"
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
static const axe_nest_row nests_8[] = {
#include "machine/opencl/axes.def"
};
#include "machine/atom_rows.h"
static const axe_atom atoms_8[] = {
#include "machine/opencl/atoms.def"
};
#undef LANES
#undef ALL
#undef HALF

#define LANES 16
#define ALL "16"
#define HALF "8"
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
static const axe_nest_row nests_16[] = {
#include "machine/opencl/axes.def"
};
#include "machine/atom_rows.h"
static const axe_atom atoms_16[] = {
#include "machine/opencl/atoms.def"
};
#undef LANES
#undef ALL
#undef HALF

#define LANES 32
#define ALL "32"
#define HALF "16"
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
static const axe_nest_row nests_32[] = {
#include "machine/opencl/axes.def"
};
#include "machine/atom_rows.h"
static const axe_atom atoms_32[] = {
#include "machine/opencl/atoms.def"
};
#undef LANES
#undef ALL
#undef HALF

#define LANES 64
#define ALL "64"
#define HALF "32"
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
static const axe_nest_row nests_64[] = {
#include "machine/opencl/axes.def"
};
#include "machine/atom_rows.h"
static const axe_atom atoms_64[] = {
#include "machine/opencl/atoms.def"
};
#undef LANES
#undef ALL
#undef HALF

#define AXES(lanes)                                                            \
    {                                                                          \
        "opencl", AXE_LEN(axis_rows), AXE_LEN(nests_##lanes), axis_rows,       \
            nests_##lanes                                                      \
    }
static const axe_axis_table axes_8 = AXES(8), axes_16 = AXES(16),
                            axes_32 = AXES(32), axes_64 = AXES(64);

static const axe_machine machines[] = {
#define OPENCL(id, width, items, local, words)                                 \
    {.name = (id),                                                             \
     .family = "opencl",                                                       \
     .kind = AXE_KIND_simt,                                                    \
     .arch = (id),                                                             \
     .vector_bits = 128,                                                       \
     .n_vreg = 128,                                                            \
     .l2_bytes = 2 << 20,                                                      \
     .l2_ways = 16,                                                            \
     .ghz = 1.3,                                                               \
     .features = (words),                                                      \
     .n_atom = AXE_LEN(atoms_##width),                                         \
     .atom = atoms_##width,                                                    \
     .n_compute = AXE_LEN(types),                                              \
     .compute = types,                                                         \
     .axes = &axes_##width,                                                    \
     .simt = &(const axe_simt){.lanes = (width),                               \
                               .group = 1,                                     \
                               .max_threads = (items),                         \
                               .threads = (items),                             \
                               .max_cluster = 1,                               \
                               .banks = 16,                                    \
                               .bank_bytes = 4,                                \
                               .shared_bytes = (local),                        \
                               .registers = 65536,                             \
                               .max_registers = 128,                           \
                               .n_sm = 24,                                     \
                               .sector_bytes = 64,                             \
                               .max_vector = 16,                               \
                               .named_barriers = 1,                            \
                               .map_bits = 8,                                  \
                               .rates = &rates}},
#include "machine/opencl/machines.def"
};

int
axe_n_opencl(void)
{
    return AXE_LEN(machines);
}

const axe_machine *
axe_opencl_at(int i)
{
    return &machines[i];
}
