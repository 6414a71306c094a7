/* axis.c - the axes of a ctx and how they nest.
 *
 * An axis is a number, given in order of declaration; m is 0.  Names are found
 * by open addressing on their text, so that a ctx open to any name (axe eval)
 * stays fast.  Everything lives as long as the ctx. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

typedef struct alias {
    const char *name;
    axe_axis    axis;
} alias;

typedef struct axes {
    bool                  open;
    int                   n, cap;
    const char          **name; /* [cap] */
    axe_axis_kind        *kind; /* [cap] */
    int32_t              *slot; /* [2 * cap], axis + 1, 0 is free */
    int                   n_alias, cap_alias;
    alias                *alias;
    int                   n_nest, cap_nest;
    axe_nest             *nest;
    const axe_axis_table *used; /* whose nests hold; NULL: no machine's */
    int                   n_other;
    const axe_axis_table *other; /* [n_other] */
} axes;

static const char *const kind_name[] = {
    [AXE_KIND_MEMORY] = "memory",
    [AXE_KIND_THREAD] = "thread",
    [AXE_KIND_REG] = "register",
    [AXE_KIND_DEVICE] = "device",
};

/* Where `name` is, or would be, in the table. */
static int32_t *
probe(const axes *t, const char *name)
{
    uint64_t h = UINT64_C(14695981039346656037);
    size_t   mask = 2 * (size_t)t->cap - 1, i;

    for (const char *s = name; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
    for (i = (size_t)(h ^ h >> 32) & mask; t->slot[i]; i = (i + 1) & mask)
        if (strcmp(t->name[t->slot[i] - 1], name) == 0)
            break;
    return &t->slot[i];
}

/* A copy of an array of the permanent arena, with more room. */
static void *
regrow(axe_ctx *cx, const void *old, size_t used, size_t n_bytes)
{
    void *p = axe_alloc_forever(cx, n_bytes);

    if (used > 0)
        memcpy(p, old, used);
    return p;
}

static void
grow(axe_ctx *cx, axes *t)
{
    size_t n = (size_t)t->n, cap = t->cap ? 2 * (size_t)t->cap : 32;

    t->name = regrow(cx, t->name, n * sizeof *t->name, cap * sizeof *t->name);
    t->kind = regrow(cx, t->kind, n * sizeof *t->kind, cap * sizeof *t->kind);
    t->slot = axe_alloc_forever(cx, 2 * cap * sizeof *t->slot);
    t->cap = (int)cap;
    for (int k = 0; k < t->n; k++)
        *probe(t, t->name[k]) = k + 1;
}

static axe_axis
append(axe_ctx *cx, axes *t, const char *name, axe_axis_kind kind)
{
    if (t->n == t->cap)
        grow(cx, t);
    t->name[t->n] = axe_intern(cx, name, strlen(name));
    t->kind[t->n] = kind;
    *probe(t, name) = t->n + 1;
    return t->n++;
}

static axes *
axes_of(axe_ctx *cx)
{
    void **slot = axe_ctx_slot(cx, AXE_SLOT_AXES);

    if (!*slot) {
        *slot = axe_alloc_forever(cx, sizeof(axes));
        append(cx, *slot, "m", AXE_KIND_MEMORY);
    }
    return *slot;
}

bool
axe_is_name(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool letter = (s[i] >= 'a' && s[i] <= 'z') ||
                      (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_';
        if (!letter && (i == 0 || s[i] < '0' || s[i] > '9'))
            return false;
    }
    return len > 0;
}

axe_status
axe_axis_declare(axe_ctx *cx, const char *name, axe_axis_kind kind,
                 axe_axis *out)
{
    AXE_NEED(cx, name);
    AXE_NEED(cx, out);
    axes   *t = axes_of(cx);
    int32_t at;

    if (!axe_is_name(name, strlen(name)))
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                        "axis '%s': a name is letters, digits and '_', not "
                        "beginning with a digit",
                        name);
    at = *probe(t, name);
    if (at > 0 && t->kind[at - 1] != kind)
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                        "axis '%s' is declared as a %s axis, and already is a "
                        "%s axis",
                        name, kind_name[kind], kind_name[t->kind[at - 1]]);
    *out = at > 0 ? at - 1 : append(cx, t, name, kind);
    return AXE_OK;
}

axe_status
axe_axis_nest(axe_ctx *cx, axe_axis whole, axe_axis outer, axe_axis inner,
              int64_t factor)
{
    axes *t = axes_of(cx);

    assert(axe_axis_known(cx, whole) && axe_axis_known(cx, outer) &&
           axe_axis_known(cx, inner));
    if (factor < 1 || whole == outer || whole == inner || outer == inner)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "nest: %s = %" PRId64 " %s + %s needs three axes and a "
                        "factor of at least 1",
                        t->name[whole], factor, t->name[outer], t->name[inner]);
    for (int k = 0; k < t->n_nest; k++) {
        const axe_nest *f = &t->nest[k];
        if (f->whole != whole || f->outer != outer || f->inner != inner)
            continue;
        if (f->factor == factor)
            return AXE_OK;
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                        "nest: %s = %" PRId64 " %s + %s, and already = %" PRId64
                        " %s + %s",
                        t->name[whole], factor, t->name[outer], t->name[inner],
                        f->factor, t->name[outer], t->name[inner]);
    }
    if (t->n_nest == t->cap_nest) {
        size_t n = (size_t)t->n_nest, cap = n ? 2 * n : 8;
        t->nest =
            regrow(cx, t->nest, n * sizeof *t->nest, cap * sizeof *t->nest);
        t->cap_nest = (int)cap;
    }
    t->nest[t->n_nest++] = (axe_nest){whole, outer, inner, factor};
    return AXE_OK;
}

/* The axis of that other name; -1: none has it. */
static axe_axis
find_alias(const axes *t, const char *name)
{
    for (int k = 0; k < t->n_alias; k++)
        if (strcmp(t->alias[k].name, name) == 0)
            return t->alias[k].axis;
    return -1;
}

/* The last table that says what a name means is right. */
static void
add_alias(axe_ctx *cx, axes *t, const char *name, axe_axis axis)
{
    for (int k = 0; k < t->n_alias; k++)
        if (strcmp(t->alias[k].name, name) == 0) {
            t->alias[k].axis = axis;
            return;
        }
    if (t->n_alias == t->cap_alias) {
        size_t n = (size_t)t->n_alias, cap = n ? 2 * n : 16;
        t->alias =
            regrow(cx, t->alias, n * sizeof *t->alias, cap * sizeof *t->alias);
        t->cap_alias = (int)cap;
    }
    t->alias[t->n_alias++] = (alias){axe_intern(cx, name, strlen(name)), axis};
}

axe_status
axe_axes_load(axe_ctx *cx, const axe_axis_table *table)
{
    AXE_NEED(cx, table);
    axe_axis whole, outer, inner, a;

    for (int k = 0; k < table->n_axis; k++)
        AXE_TRY(
            axe_axis_declare(cx, table->axis[k].name, table->axis[k].kind, &a));
    for (int k = 0; k < table->n_nest; k++) {
        const axe_nest_row *f = &table->nest[k];
        AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, f->whole, &whole));
        AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, f->outer, &outer));
        AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, f->inner, &inner));
        AXE_TRY(axe_axis_nest(cx, whole, outer, inner, f->factor));
    }
    for (int k = 0; k < table->n_alias; k++) {
        AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, table->alias[k].axis, &a));
        add_alias(cx, axes_of(cx), table->alias[k].name, a);
    }
    return AXE_OK;
}

/* The nests of the table in use, which then is in use no longer. */
static void
forget_used(axes *t)
{
    const axe_axis_table *used = t->used;
    int                   n = 0;

    t->used = NULL;
    for (int i = 0; used && i < t->n_nest; i++) {
        const axe_nest *f = &t->nest[i];
        bool            drop = false;
        for (int k = 0; k < used->n_nest && !drop; k++)
            drop = strcmp(t->name[f->whole], used->nest[k].whole) == 0 &&
                   strcmp(t->name[f->outer], used->nest[k].outer) == 0 &&
                   strcmp(t->name[f->inner], used->nest[k].inner) == 0;
        if (!drop)
            t->nest[n++] = *f;
    }
    t->n_nest = used ? n : t->n_nest;
}

axe_status
axe_axes_use(axe_ctx *cx, const axe_axis_table *table)
{
    AXE_NEED(cx, table);
    axes *t = axes_of(cx);

    if (t->used != table)
        forget_used(t);
    AXE_TRY(axe_axes_load(cx, table));
    t->used = table;
    return AXE_OK;
}

void
axe_axes_others(axe_ctx *cx, int n, const axe_axis_table *t)
{
    axes *own = axes_of(cx);

    own->n_other = n;
    own->other = t;
}

/* The machines that have such an axis, listed; NULL if none does. */
static const char *
other_machines(axe_ctx *cx, const axes *t, const char *name)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < t->n_other; i++)
        for (int k = 0; k < t->other[i].n_axis; k++)
            if (strcmp(t->other[i].axis[k].name, name) == 0)
                axe_putf(&b, "%s%s", b.len > 0 ? ", " : "",
                         t->other[i].machine);
    return b.len > 0 ? b.text : NULL;
}

axe_status
axe_axis_find(axe_ctx *cx, axe_span at, const char *name, axe_axis *out)
{
    AXE_NEED(cx, name);
    AXE_NEED(cx, out);
    axes       *t = axes_of(cx);
    int32_t     k = *probe(t, name);
    const char *near;

    if (k > 0 || find_alias(t, name) >= 0) {
        *out = k > 0 ? k - 1 : find_alias(t, name);
        return AXE_OK;
    }
    if (t->open)
        return axe_axis_declare(cx, name, AXE_KIND_MEMORY, out);
    const char *others = other_machines(cx, t, name);
    if (others) {
        axe_fail(cx, at, AXE_ENAME,
                 "there is no axis '%s' here: it is one of %s", name, others);
        axe_help(cx, "name a machine of these as the target, or lay it out "
                     "over the axes of this one");
        return AXE_ENAME;
    }
    axe_fail(cx, at, AXE_ENAME, "there is no axis '%s'", name);
    near = axe_nearest(name, t->n, t->name);
    if (near)
        axe_help(cx, "did you mean '%s'?", near);
    else
        axe_help(cx, "load the axes of a machine, or declare it");
    return AXE_ENAME;
}

void
axe_axes_open(axe_ctx *cx, bool open)
{
    axes_of(cx)->open = open;
}

/* The table if anything was declared.  A ctx without one knows m. */
static const axes *
known_axes(const axe_ctx *cx)
{
    return axe_ctx_slot_get(cx, AXE_SLOT_AXES);
}

int
axe_n_axis(const axe_ctx *cx)
{
    const axes *t = known_axes(cx);

    return t ? t->n : 1;
}

bool
axe_axis_known(const axe_ctx *cx, axe_axis a)
{
    return a >= 0 && a < axe_n_axis(cx);
}

const char *
axe_axis_name(const axe_ctx *cx, axe_axis a)
{
    const axes *t = known_axes(cx);

    assert(axe_axis_known(cx, a));
    return t ? t->name[a] : "m";
}

axe_axis_kind
axe_axis_kind_of(const axe_ctx *cx, axe_axis a)
{
    const axes *t = known_axes(cx);

    assert(axe_axis_known(cx, a));
    return t ? t->kind[a] : AXE_KIND_MEMORY;
}

int64_t
axe_axis_factor(const axe_ctx *cx, const char *whole, const char *outer,
                const char *inner)
{
    const axes *t = known_axes(cx);

    for (int k = 0; t && k < t->n_nest; k++) {
        const axe_nest *f = &t->nest[k];
        if (strcmp(t->name[f->whole], whole) == 0 &&
            strcmp(t->name[f->outer], outer) == 0 &&
            strcmp(t->name[f->inner], inner) == 0)
            return f->factor;
    }
    return 0;
}

const axe_nest *
axe_nests(const axe_ctx *cx, int *n)
{
    const axes *t = known_axes(cx);

    *n = t ? t->n_nest : 0;
    return *n > 0 ? t->nest : NULL;
}
