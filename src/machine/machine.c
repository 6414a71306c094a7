/* machine.c - the tables of all machines, and finding a row. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axe/machine.h"
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
#define COMPUTE(type, compute) {AXE_TYPE_##type, AXE_TYPE_##compute},
#include "machine/cpu/types.def"
};

#include "machine/atom_rows.h"
static const axe_atom nvidia_atoms[] = {
#include "machine/nvidia/atoms.def"
};

static const axe_compute_row nvidia_types[] = {
#define COMPUTE(type, compute) {AXE_TYPE_##type, AXE_TYPE_##compute},
#include "machine/nvidia/types.def"
};

static const axe_kind_row kinds[] = {
#define KIND(id, gpu, launches, where, text) {#id, gpu, launches, where, text},
#include "machine/kinds.def"
};

static const axe_machine machines[] = {
#define CPU(id, bits, vregs, l1, l2, w1, w2, stream, clock, words)             \
    {.name = (id),                                                             \
     .family = "cpu",                                                          \
     .kind = AXE_KIND_core,                                                    \
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
#define NVIDIA(id, usual, shared, regs, most, clusters, columns, least, form,  \
               elect, sms, l2, clock, words)                                   \
    {.name = (id),                                                             \
     .family = "nvidia",                                                       \
     .kind = AXE_KIND_simt,                                                    \
     .arch = (id),                                                             \
     .vector_bits = 128,                                                       \
     .n_vreg = (most),                                                         \
     .l2_bytes = (l2),                                                         \
     .l2_ways = 16,                                                            \
     .ghz = (clock),                                                           \
     .features = (words),                                                      \
     .n_atom = AXE_LEN(nvidia_atoms),                                          \
     .atom = nvidia_atoms,                                                     \
     .n_compute = AXE_LEN(nvidia_types),                                       \
     .compute = nvidia_types,                                                  \
     .simt = &(const axe_simt){.lanes = 32,                                    \
                               .group = 4,                                     \
                               .max_threads = 1024,                            \
                               .threads = (usual),                             \
                               .max_cluster = (clusters),                      \
                               .banks = 32,                                    \
                               .bank_bytes = 4,                                \
                               .shared_bytes = (shared),                       \
                               .registers = (regs),                            \
                               .max_registers = (most),                        \
                               .n_sm = (sms),                                  \
                               .sector_bytes = 32,                             \
                               .max_vector = 16,                               \
                               .named_barriers = 16,                           \
                               .map_bits = (least),                            \
                               .desc = AXE_DESC_##form,                        \
                               .elects = (elect),                              \
                               .tmem_columns = (columns),                      \
                               .tmem_lanes = 128,                              \
                               .tmem_least = 32}},
#include "machine/nvidia/machines.def"
};

#if defined(__x86_64__) && defined(__GNUC__)
static bool
host_has(const char *feature)
{
#define X86(name, a, b, c)                                                     \
    if (strcmp(feature, name) == 0)                                            \
        return __builtin_cpu_supports(a) && __builtin_cpu_supports(b) &&       \
               __builtin_cpu_supports(c);
#define ARM(name)
#include "machine/cpu/features.def"
    return false;
}
#elif defined(__aarch64__)
static bool
host_has(const char *feature)
{
#define X86(name, a, b, c)
#define ARM(name)                                                              \
    if (strcmp(feature, name) == 0)                                            \
        return true;
#include "machine/cpu/features.def"
    return false;
}
#else
static bool
host_has(const char *feature)
{
    (void)feature;
    return false;
}
#endif

/* The first word of a list into `word`; what follows it. */
static const char *
next_word(const char *list, char word[32])
{
    size_t n = strcspn(list, " ");

    snprintf(word, 32, "%.*s", (int)n, list);
    return list + n + strspn(list + n, " ");
}

bool
axe_machine_runs_here(const axe_machine *mc)
{
    char word[32];

    for (const char *f = mc->features; *f;) {
        f = next_word(f, word);
        if (!host_has(word))
            return false;
    }
    return !axe_kind_of(mc)->gpu;
}

const axe_kind_row *
axe_kind_of(const axe_machine *mc)
{
    return &kinds[mc->kind];
}

unsigned
axe_machine_traits(const axe_machine *mc)
{
    const axe_simt *m = mc->simt;

    return m ? (m->max_cluster == 1 ? AXE_CTAS_ALONE : 0U) |
                   (m->tmem_columns > 0 ? AXE_HAS_TMEM : 0U)
             : 0;
}

axe_threads
axe_machine_threads(const axe_machine *mc)
{
    return mc->simt ? (axe_threads){mc->simt->threads, mc->simt->max_threads}
                    : (axe_threads){1, 1};
}

bool
axe_machine_has(const axe_machine *mc, const axe_atom *atom)
{
    size_t n = atom->needs ? strlen(atom->needs) : 0;

    for (const char *f = mc->features; n > 0 && *f;) {
        size_t len = strcspn(f, " ");
        if (len == n && memcmp(f, atom->needs, n) == 0)
            return true;
        f += len + strspn(f + len, " ");
    }
    return n == 0;
}

int
axe_n_machine(void)
{
    return AXE_LEN(machines);
}

const axe_machine *
axe_machine_at(int i)
{
    return &machines[i];
}

const axe_axis_table *
axe_machine_own_axes(const axe_machine *mc)
{
    return mc->axes ? mc->axes : axe_machine_axes(mc->family);
}

static const char *
list_names(axe_ctx *cx, int n, const char *const *name)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < n; i++)
        axe_putf(&b, "%s%s", i > 0 ? ", " : "", name[i]);
    return b.text;
}

const char *const *
axe_machine_names(axe_ctx *cx, int *n)
{
    const char **name = axe_new_array(cx, const char *, 2 * AXE_LEN(machines));

    *n = 0;
    for (int i = 0; i < AXE_LEN(machines); i++) {
        if (i == 0 || strcmp(machines[i - 1].family, machines[i].family) != 0)
            name[(*n)++] = machines[i].family;
        name[(*n)++] = machines[i].name;
    }
    return name;
}

/* The machines of that family, listed; NULL if it is none. */
static const char *
family_names(axe_ctx *cx, const char *name)
{
    const char *names[AXE_LEN(machines)];
    int         n = 0;

    for (int i = 0; i < AXE_LEN(machines); i++)
        if (strcmp(name, machines[i].family) == 0)
            names[n++] = machines[i].name;
    return n > 0 ? list_names(cx, n, names) : NULL;
}

/* The machine's axes; those of machines with threads, too, where it has none:
 * a tile that is laid out for threads is open there. */
static axe_status
load_axes(axe_ctx *cx, const axe_machine *mc)
{
    int                   n_table;
    const axe_axis_table *all = axe_machine_axes_all(&n_table);

    AXE_TRY(axe_machine_use(cx, mc));
    for (int i = 0; i < AXE_LEN(machines) && !mc->simt; i++)
        if (machines[i].simt)
            AXE_TRY(axe_axes_load(cx, axe_machine_axes(machines[i].family)));
    axe_axes_others(cx, n_table, all);
    return AXE_OK;
}

axe_status
axe_machine_find(axe_ctx *cx, const char *name, const axe_machine **out)
{
    const char *names[AXE_LEN(machines) + 1] = {"cpu"};

    for (int i = 0; i < AXE_LEN(machines); i++) {
        bool host =
            strcmp(name, "cpu") == 0 && axe_machine_runs_here(&machines[i]);
        names[i + 1] = machines[i].name;
        if (host || strcmp(name, machines[i].name) == 0) {
            AXE_TRY(load_axes(cx, &machines[i]));
            *out = &machines[i];
            return AXE_OK;
        }
    }
    const char *near = axe_nearest(name, AXE_LEN(names), names);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no machine '%s'", name);
    if (family_names(cx, name))
        axe_help(cx, "'%s' is a family; name one of it: %s", name,
                 family_names(cx, name));
    else if (near)
        axe_help(cx, "did you mean '%s'?", near);
    else
        axe_help(cx, "known: %s", list_names(cx, AXE_LEN(names), names));
    return AXE_ENAME;
}

axe_status
axe_compute_type(axe_ctx *cx, const axe_machine *mc, axe_span at, axe_type t,
                 axe_type *out)
{
    for (int i = 0; i < mc->n_compute; i++)
        if (mc->compute[i].type == t) {
            *out = mc->compute[i].compute;
            return AXE_OK;
        }
    axe_fail(cx, at, AXE_EUNSUPPORTED,
             "%s has no registers for elements of type %s", mc->name,
             axe_type_table[t].name);
    axe_buf b = {.cx = cx};
    for (int i = 0; i < mc->n_compute; i++)
        axe_putf(&b, "%s%s", i ? " " : "",
                 axe_type_table[mc->compute[i].type].name);
    axe_help(cx, "it has them for %s", b.text ? b.text : "nothing");
    return AXE_EUNSUPPORTED;
}

int
axe_machine_lanes(const axe_machine *mc, axe_type t)
{
    int bits = axe_type_table[t].bits;

    return mc->vector_bits / (bits < 32 ? 32 : bits);
}
