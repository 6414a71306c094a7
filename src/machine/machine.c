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

static const axe_machine machines[] = {
#define CPU(id, bits, vregs, l1, l2, w1, w2, stream, clock, words)             \
    {.name = (id),                                                             \
     .family = "cpu",                                                          \
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
    return true;
}

bool
axe_machine_has(const axe_machine *mc, const axe_atom *atom)
{
    char word[32];

    for (const char *f = mc->features; atom->needs && *f;) {
        f = next_word(f, word);
        if (strcmp(word, atom->needs) == 0)
            return true;
    }
    return !atom->needs || *atom->needs == '\0';
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

static const char *
list_names(axe_ctx *cx, int n, const char *const *name)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < n; i++)
        axe_putf(&b, "%s%s", i > 0 ? ", " : "", name[i]);
    return b.text;
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
            AXE_TRY(axe_axes_load(cx, axe_machine_axes(machines[i].family)));
            *out = &machines[i];
            return AXE_OK;
        }
    }
    const char *near = axe_nearest(name, AXE_LEN(names), names);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no machine '%s'", name);
    if (near)
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

/* Put numbers in for every V and G of the text. */
static const char *
substitute(axe_ctx *cx, const char *text, int lanes, int group)
{
    axe_buf b = {.cx = cx};

    for (; *text; text++)
        if (*text == 'V' || *text == 'G')
            axe_putf(&b, "%d", *text == 'V' ? lanes : group);
        else
            axe_putc(&b, *text);
    return b.text ? b.text : "";
}

axe_status
axe_atom_layout(axe_ctx *cx, const char *operand, int lanes, int group,
                const char **roles, const axe_layout **out)
{
    const char *close = strchr(operand, ']');
    size_t      n = close ? (size_t)(close - operand) - 1 : 0;
    const char *text = close ? close + 1 : "";

    *roles = axe_textf(cx, "%.*s", (int)n, operand + 1);
    return axe_layout_read(cx, substitute(cx, text, lanes, group), out);
}

int
axe_atom_group(axe_ctx *cx, const axe_atom *atom)
{
    const axe_layout *l;
    const char       *roles;
    axe_mark          m = axe_ctx_mark(cx);
    int64_t           group = 1;

    if (atom->kind == AXE_ATOM_CONTRACT &&
        axe_atom_layout(cx, atom->b, 2, 1, &roles, &l) == AXE_OK)
        for (int d = 0; d < l->n_dim && roles[0]; d++) {
            roles += strspn(roles, ", ");
            if (roles[0] == 'k' && l->dim_end[d] > 0)
                group = l->shard[l->dim_end[d] - 1].extent;
            roles += strcspn(roles, ",");
        }
    axe_ctx_release(cx, m);
    return (int)group;
}
