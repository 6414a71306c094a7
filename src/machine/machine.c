/* machine.c - the tables of all machines, and finding a row. */
#include <inttypes.h>
#include <string.h>

#include "axe/machine.h"
#include "machine/machine.h"

static const axe_atom cpu_atoms[] = {
#define ATOM(name, kind, d, a, b, cost, slow, text)                            \
    {#name, AXE_ATOM_##kind, d, a, b, cost, slow, text},
#include "machine/cpu/atoms.def"
};

static const axe_compute_row cpu_types[] = {
#define COMPUTE(type, compute) {AXE_TYPE_##type, AXE_TYPE_##compute},
#include "machine/cpu/types.def"
};

static const axe_machine machines[] = {
#define CPU(name, bits, n_vreg, l1, l2, stream, ghz, feature)                  \
    {name,                                                                     \
     "cpu",                                                                    \
     bits,                                                                     \
     n_vreg,                                                                   \
     l1,                                                                       \
     l2,                                                                       \
     stream,                                                                   \
     ghz,                                                                      \
     AXE_LEN(cpu_atoms),                                                       \
     cpu_atoms,                                                                \
     AXE_LEN(cpu_types),                                                       \
     cpu_types},
#include "machine/cpu/cpus.def"
};

static const char *const machine_feature[] = {
#define CPU(name, bits, n_vreg, l1, l2, stream, ghz, feature) feature,
#include "machine/cpu/cpus.def"
};

#if defined(__x86_64__) && defined(__GNUC__)
static bool
host_has(const char *feature)
{
    if (strcmp(feature, "avx512f") == 0)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl");
    if (strcmp(feature, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return *feature == '\0';
}
#elif defined(__aarch64__)
static bool
host_has(const char *feature)
{
    return *feature == '\0' || strcmp(feature, "neon") == 0;
}
#else
static bool
host_has(const char *feature)
{
    return *feature == '\0';
}
#endif

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

axe_status
axe_machine_find(axe_ctx *cx, const char *name, const axe_machine **out)
{
    const char *names[AXE_LEN(machines) + 1] = {"cpu"};

    for (int i = 0; i < AXE_LEN(machines); i++) {
        bool host = strcmp(name, "cpu") == 0 && host_has(machine_feature[i]);
        names[i + 1] = machines[i].name;
        if (host || strcmp(name, machines[i].name) == 0) {
            AXE_TRY(axe_axes_load(cx, axe_machine_axes(machines[i].family)));
            *out = &machines[i];
            return AXE_OK;
        }
    }
    const char *near = axe_nearest(name, AXE_LEN(names), names);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no machine '%s'", name);
    axe_help(cx, "%s%s%s", near ? "did you mean '" : "known: cpu, cpu-avx512, ",
             near ? near : "cpu-avx2, cpu-neon, cpu-base", near ? "'?" : "");
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
    axe_help(cx, "it has them for %s%s", b.text ? b.text : "nothing",
             t == AXE_TYPE_bool ? "; keep truths as 0 and 1 of i8" : "");
    return AXE_EUNSUPPORTED;
}

int
axe_machine_lanes(const axe_machine *mc, axe_type t)
{
    int bits = axe_type_table[t].bits;

    return mc->vector_bits / (bits < 32 ? 32 : bits);
}

/* Put `lanes` in for every V of the text. */
static const char *
substitute(axe_ctx *cx, const char *text, int lanes)
{
    axe_buf b = {.cx = cx};

    for (; *text; text++)
        if (*text == 'V')
            axe_putf(&b, "%d", lanes);
        else
            axe_putc(&b, *text);
    return b.text ? b.text : "";
}

axe_status
axe_atom_layout(axe_ctx *cx, const char *operand, int lanes, const char **roles,
                const axe_layout **out)
{
    const char *close = strchr(operand, ']');
    size_t      n = close ? (size_t)(close - operand) - 1 : 0;

    *roles = axe_textf(cx, "%.*s", (int)n, operand + 1);
    return axe_layout_read(cx, substitute(cx, close ? close + 1 : "", lanes),
                           out);
}
