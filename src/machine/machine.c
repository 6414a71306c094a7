/* machine.c - all machines, and finding one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axe/machine.h"
#include "base/ctx.h"
#include "machine/machine.h"

static const axe_kind_row kinds[] = {
#define KIND(id, launches, text) {#id, launches, text},
#include "machine/kinds.def"
};

static const axe_language_row languages[] = {
#define LANGUAGE(id, here, where, runner, more)                                \
    {#id, here, where, runner, more},
#include "machine/languages.def"
};

static const axe_family *const families[] = {
#define FAMILY(id) &axe_##id##_machines,
#include "machine/families.def"
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
    return axe_language_of(mc)->here;
}

const axe_kind_row *
axe_kind_of(const axe_machine *mc)
{
    return &kinds[mc->kind];
}

const axe_language_row *
axe_language_of(const axe_machine *mc)
{
    return &languages[mc->language];
}

unsigned
axe_machine_traits(const axe_machine *mc)
{
    const axe_simt *m = mc->simt;

    return m ? (m->max_cluster == 1 ? AXE_CTAS_ALONE : 0U) |
                   (m->tmem_columns > 0 ? AXE_HAS_TMEM : 0U) |
                   (!m->on_core ? AXE_THREADS_KEEP : 0U)
             : 0;
}

axe_threads
axe_machine_threads(const axe_machine *mc)
{
    return mc->simt ? (axe_threads){mc->simt->threads, mc->simt->max_threads}
                    : (axe_threads){1, 1};
}

static bool
among(const char *word, size_t n, const char *list)
{
    for (const char *f = list; n > 0 && *f;) {
        size_t len = strcspn(f, " ");
        if (len == n && memcmp(f, word, n) == 0)
            return true;
        f += len + strspn(f + len, " ");
    }
    return n == 0;
}

bool
axe_word_among(const char *word, const char *list)
{
    return among(word, word ? strlen(word) : 0, list);
}

bool
axe_machine_has_feature(const axe_machine *mc, const char *word)
{
    return axe_word_among(word, mc->features);
}

bool
axe_machine_has(const axe_machine *mc, const axe_atom *atom)
{
    for (const char *s = atom->needs; s && *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (!among(s, n, mc->features))
            return false;
        s += n;
    }
    return true;
}

bool
axe_machine_is_target(const axe_machine *mc, const char *target)
{
    for (const char *s = target; s && *s; s += strspn(s, ", ")) {
        size_t n = strcspn(s, ",");
        if (among(s, n, mc->name) || among(s, n, mc->family))
            return true;
        s += n;
    }
    return !target;
}

const char *
axe_target_first(axe_ctx *cx, const char *target)
{
    return axe_textf(cx, "%.*s", (int)strcspn(target, ","), target);
}

int
axe_n_machine(void)
{
    int n = 0;

    for (int f = 0; f < AXE_LEN(families); f++)
        n += families[f]->n;
    return n;
}

const axe_machine *
axe_machine_at(int i)
{
    int f = 0;

    while (i >= families[f]->n)
        i -= families[f++]->n;
    return &families[f]->machine[i];
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

/* Is one of the family's machines called so?  Then the name is that machine's:
 * `opencl` has no sub-groups. */
static bool
is_machine_of(const axe_family *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->machine[i].name, name) == 0)
            return true;
    return false;
}

const char *const *
axe_machine_names(axe_ctx *cx, int *n)
{
    const char **name =
        axe_new_array(cx, const char *, axe_n_machine() + AXE_LEN(families));

    *n = 0;
    for (int f = 0; f < AXE_LEN(families); f++) {
        if (!is_machine_of(families[f], families[f]->name))
            name[(*n)++] = families[f]->name;
        for (int i = 0; i < families[f]->n; i++)
            name[(*n)++] = families[f]->machine[i].name;
    }
    return name;
}

/* The machines of that family, listed; NULL if it is none. */
static const char *
family_names(axe_ctx *cx, const char *name)
{
    const char **names = axe_new_array(cx, const char *, axe_n_machine());
    int          n = 0;

    for (int i = 0; i < axe_n_machine(); i++)
        if (strcmp(name, axe_machine_at(i)->family) == 0)
            names[n++] = axe_machine_at(i)->name;
    return n > 0 ? list_names(cx, n, names) : NULL;
}

/* The machine's axes; those of a family of machines with threads, too, where it
 * has none: a tile that is laid out for threads is open there. */
axe_status
axe_machine_enter(axe_ctx *cx, const axe_machine *mc)
{
    int                   n_table;
    const axe_axis_table *all = axe_machine_axes_all(&n_table);

    AXE_TRY(axe_machine_use(cx, mc));
    for (int i = 0; i < axe_n_machine() && !mc->simt; i++)
        if (axe_machine_at(i)->simt) {
            AXE_TRY(
                axe_axes_use(cx, axe_machine_axes(axe_machine_at(i)->family)));
            break;
        }
    axe_axes_others(cx, n_table, all);
    return AXE_OK;
}

axe_status
axe_machine_find(axe_ctx *cx, const char *name, const axe_machine **out)
{
    const char **names = axe_new_array(cx, const char *, axe_n_machine() + 1);
    int          n = 0;

    names[n++] = "cpu";
    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_machine *mc = axe_machine_at(i);
        bool host = strcmp(name, "cpu") == 0 && axe_machine_runs_here(mc);
        names[n++] = mc->name;
        if (host || strcmp(name, mc->name) == 0) {
            AXE_TRY(axe_machine_enter(cx, mc));
            *out = mc;
            return AXE_OK;
        }
    }
    const char *near = axe_nearest(name, n, names);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no machine '%s'", name);
    if (family_names(cx, name))
        axe_help(cx, "'%s' is a family; name one of it: %s", name,
                 family_names(cx, name));
    else if (near)
        axe_help(cx, "did you mean '%s'?", near);
    else
        axe_help(cx, "known: %s", list_names(cx, n, names));
    return AXE_ENAME;
}

axe_status
axe_machine_axes_use(axe_ctx *cx, const char *machine)
{
    AXE_NEED(cx, machine);
    const axe_machine *mc;

    return axe_machine_find(cx, machine, &mc);
}

axe_status
axe_compute_type(axe_ctx *cx, const axe_machine *mc, axe_span at, axe_type t,
                 axe_type *out)
{
    const char *lacks = NULL;
    axe_buf     b = {.cx = cx};

    for (int i = 0; i < mc->n_compute; i++) {
        const axe_compute_row *row = &mc->compute[i];
        bool                   has = axe_machine_has_feature(mc, row->needs);
        if (row->type == t && has) {
            *out = row->compute;
            return AXE_OK;
        }
        lacks = row->type == t ? row->needs : lacks;
        if (has)
            axe_putf(&b, "%s%s", b.len > 0 ? " " : "",
                     axe_type_table[row->type].name);
    }
    axe_fail(cx, at, AXE_EUNSUPPORTED,
             lacks ? "%s has no registers for elements of type %s, which need "
                     "its feature `%s`"
                   : "%s has no registers for elements of type %s",
             mc->name, axe_type_table[t].name, lacks);
    if (lacks && *axe_language_of(mc)->more)
        axe_help(cx, "%s", axe_language_of(mc)->more);
    axe_help(cx, "it has them for %s", b.text ? b.text : "nothing");
    return AXE_EUNSUPPORTED;
}

int
axe_machine_lanes(const axe_machine *mc, axe_type t)
{
    int bits = axe_type_table[t].bits;

    return mc->vector_bits / (bits < 32 ? 32 : bits);
}
