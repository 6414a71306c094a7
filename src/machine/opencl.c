/* opencl.c - devices of OpenCL as machines, one for each width of sub-groups.
 *
 * Atoms' layouts and nests of axes have the width in them, so each width has
 * tables of its own, of the same rows. */
#include <string.h>

#include "machine/machine.h"
#include "machine/rates.h"

enum { MOST_ITEMS = 1024 }; /* of a group that is planned for */

static const axe_axis_row axis_rows[] = {
#define LANES 0
#define AXIS(name, kind) {#name, AXE_KIND_##kind},
#define NEST(whole, outer, inner, factor)
#define ALIAS(name, axis)
#include "machine/opencl/axes.def"
#undef LANES
};

static const axe_alias_row alias_rows[] = {
#define LANES 0
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor)
#define ALIAS(name, axis) {#name, #axis},
#include "machine/opencl/axes.def"
#undef LANES
};

static const axe_compute_row types[] = {
#define COMPUTE(type, compute, needs)                                          \
    {AXE_TYPE_##type, AXE_TYPE_##compute, needs},
#include "machine/opencl/types.def"
};

static const axe_rates rates = {
#define RATES(machine, busy, memory, l2, wait, launch, parts, fp32, threads,   \
              ctas, shared, own)                                               \
    machine, busy, memory, l2, wait, launch, parts, fp32, threads, ctas,       \
        shared, own
#include "machine/opencl/rates.def"
};

#define LANES 1
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
#define ALIAS(name, axis)
static const axe_nest_row nests_1[] = {
#include "machine/opencl/axes.def"
};
#include "machine/atom_rows.h"
static const axe_atom atoms_1[] = {
#include "machine/opencl/atoms.def"
};
#undef LANES

#define LANES 8
#define ALL "8"
#define HALF "4"
#define AXIS(name, kind)
#define NEST(whole, outer, inner, factor) {#whole, #outer, #inner, factor},
#define ALIAS(name, axis)
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
#define ALIAS(name, axis)
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
#define ALIAS(name, axis)
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
#define ALIAS(name, axis)
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
            nests_##lanes, AXE_LEN(alias_rows), alias_rows                     \
    }
static const axe_axis_table axes_1 = AXES(1), axes_8 = AXES(8),
                            axes_16 = AXES(16), axes_32 = AXES(32),
                            axes_64 = AXES(64);

static const axe_machine machines[] = {
#define OPENCL(id, width, items, local, words)                                 \
    {.name = (id),                                                             \
     .family = "opencl",                                                       \
     .kind = AXE_KIND_simt,                                                    \
     .language = AXE_LANGUAGE_opencl,                                          \
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

/* What differs by the kind of device. */
typedef struct kind_row {
    const char *name;
    int         vector;
    bool        on_core;
    const char *without; /* features */
} kind_row;

/* NULL: nothing does. */
static const kind_row *
find_kind(const char *kind)
{
    static const kind_row kinds[] = {
#define OPENCL_KIND(name, vector, on_core, without)                            \
    {name, vector, on_core, without},
#include "machine/opencl/machines.def"
    };

    for (int i = 0; kind && i < AXE_LEN(kinds); i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

/* May atoms need it where a machine has sub-groups, or has none? */
static bool
may_need(const char *word, bool has_groups)
{
    static const struct {
        const char *word;
        bool        groups;
    } may[] = {
#define OPENCL_MAY(word, groups) {word, groups},
#include "machine/opencl/machines.def"
    };

    for (int i = 0; i < AXE_LEN(may); i++)
        if (strcmp(may[i].word, word) == 0)
            return has_groups || !may[i].groups;
    return false;
}

/* The row's words, then those of the device's that atoms may need. */
static const char *
features_with(axe_ctx *cx, const axe_machine *row, const axe_opencl_has *has)
{
    const kind_row *kind = find_kind(has->kind);
    int             lanes = row->simt->lanes;
    axe_buf         b = {.cx = cx};

    axe_puts(&b, row->features);
    for (const char *s = has->features; *s; s += strspn(s, " ")) {
        size_t      n = strcspn(s, " ");
        const char *word = axe_textf(cx, "%.*s", (int)n, s);
        if (may_need(word, lanes > 1) && !axe_machine_has_feature(row, word) &&
            (strcmp(word, "matrix") != 0 || lanes == has->least) &&
            (!kind || !axe_word_among(word, kind->without)))
            axe_putf(&b, "%s%s", b.len > 0 ? " " : "", word);
        s += n;
    }
    return b.text ? b.text : "";
}

const axe_machine *
axe_opencl_machine(axe_ctx *cx, const axe_machine *row,
                   const axe_opencl_has *has)
{
    axe_machine    *mc = axe_new(cx, axe_machine);
    axe_simt       *m = axe_new(cx, axe_simt);
    const kind_row *kind = find_kind(has->kind);
    int64_t items = has->most_items / row->simt->lanes * row->simt->lanes;

    *mc = *row;
    *m = *row->simt;
    mc->simt = m;
    if (kind) {
        m->max_vector = kind->vector;
        m->on_core = kind->on_core;
    }
    mc->features = features_with(cx, row, has);
    if (has->local_bytes > 0)
        m->shared_bytes = has->local_bytes;
    if (has->n_unit > 0 && has->n_unit <= INT32_MAX)
        m->n_sm = (int)has->n_unit;
    if (items > 0) {
        m->max_threads = items < MOST_ITEMS ? (int)items : MOST_ITEMS;
        m->threads = m->threads < m->max_threads ? m->threads : m->max_threads;
    }
    return mc;
}

const char *
axe_opencl_needs(axe_ctx *cx, const axe_machine *mc)
{
    return strstr(mc->features, "width")
               ? axe_textf(cx, "%s sg%d", mc->features, mc->simt->lanes)
               : mc->features;
}

const axe_family axe_opencl_machines = {"opencl", AXE_LEN(machines), machines};
