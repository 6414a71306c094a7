/* unit.c - monomials in run-time sizes, interned.
 *
 * A unit is a product of names, kept sorted by their text, repeats included
 * (K*K).  Equal products are one number, so that the algebra compares units as
 * it compares axes. */
#include <assert.h>
#include <string.h>

#include "base/ctx.h"
#include "layout/layout_int.h"

typedef struct unit {
    int                n;
    const char *const *name; /* [n] interned, sorted by text */
    const char        *text;
} unit;

typedef struct units {
    int      n, cap;
    unit    *unit; /* [cap] */
    int32_t *slot; /* [2 * cap], unit + 1, 0 is free */
} units;

static bool
same_names(const unit *u, int n, const char *const *name)
{
    return u->n == n &&
           (n == 0 || memcmp(u->name, name, (size_t)n * sizeof *name) == 0);
}

static int32_t *
probe(const units *t, int n, const char *const *name)
{
    uint64_t h = UINT64_C(14695981039346656037);
    size_t   mask = 2 * (size_t)t->cap - 1, i;

    for (int k = 0; k < n; k++)
        h = (h ^ (uint64_t)(uintptr_t)name[k]) * UINT64_C(1099511628211);
    for (i = (size_t)(h ^ h >> 32) & mask; t->slot[i]; i = (i + 1) & mask)
        if (same_names(&t->unit[t->slot[i] - 1], n, name))
            break;
    return &t->slot[i];
}

static void
grow(axe_ctx *cx, units *t)
{
    size_t cap = t->cap ? 2 * (size_t)t->cap : 16;
    unit  *old = t->unit;

    t->unit = axe_alloc_forever(cx, cap * sizeof *t->unit);
    t->slot = axe_alloc_forever(cx, 2 * cap * sizeof *t->slot);
    t->cap = (int)cap;
    if (t->n > 0)
        memcpy(t->unit, old, (size_t)t->n * sizeof *old);
    for (int k = 0; k < t->n; k++)
        *probe(t, t->unit[k].n, t->unit[k].name) = k + 1;
}

static const char *
join(axe_ctx *cx, int n, const char *const *name)
{
    axe_buf b = {.cx = cx};

    if (n == 0)
        return "1";
    for (int k = 0; k < n; k++)
        axe_putf(&b, "%s%s", k ? "*" : "", name[k]);
    return axe_intern(cx, b.text, b.len);
}

/* The unit with these sorted names. */
static axe_unit
intern(axe_ctx *cx, units *t, int n, const char *const *name)
{
    int32_t      at;
    const char **copy;

    if (t->n == t->cap)
        grow(cx, t);
    at = *probe(t, n, name);
    if (at > 0)
        return at - 1;
    copy = axe_alloc_forever(cx, (size_t)n * sizeof *copy);
    for (int k = 0; k < n; k++)
        copy[k] = name[k];
    t->unit[t->n] = (unit){n, copy, join(cx, n, name)};
    *probe(t, n, name) = t->n + 1;
    return t->n++;
}

static units *
units_of(axe_ctx *cx)
{
    void **slot = axe_ctx_slot(cx, AXE_SLOT_UNITS);

    if (!*slot) {
        *slot = axe_alloc_forever(cx, sizeof(units));
        intern(cx, *slot, 0, NULL);
    }
    return *slot;
}

axe_unit
axe_unit_symbol(axe_ctx *cx, const char *name)
{
    const char *one = axe_intern(cx, name, strlen(name));

    return intern(cx, units_of(cx), 1, &one);
}

axe_unit
axe_unit_mul(axe_ctx *cx, axe_unit a, axe_unit b)
{
    units       *t = units_of(cx);
    const unit  *ua = &t->unit[a], *ub = &t->unit[b];
    const char **name;
    int          n = 0, i = 0, k = 0;

    assert(axe_unit_known(cx, a) && axe_unit_known(cx, b));
    if (a == AXE_UNIT_ONE || b == AXE_UNIT_ONE)
        return a == AXE_UNIT_ONE ? b : a;
    name = axe_new_array(cx, const char *, ua->n + ub->n);
    while (i < ua->n || k < ub->n)
        if (k == ub->n || (i < ua->n && strcmp(ua->name[i], ub->name[k]) <= 0))
            name[n++] = ua->name[i++];
        else
            name[n++] = ub->name[k++];
    return intern(cx, t, n, name);
}

bool
axe_unit_div(axe_ctx *cx, axe_unit a, axe_unit b, axe_unit *out)
{
    units       *t = units_of(cx);
    const unit  *ua = &t->unit[a], *ub = &t->unit[b];
    const char **name;
    int          n = 0, k = 0;

    assert(axe_unit_known(cx, a) && axe_unit_known(cx, b));
    name = axe_new_array(cx, const char *, ua->n);
    for (int i = 0; i < ua->n; i++)
        if (k < ub->n && ua->name[i] == ub->name[k])
            k++;
        else
            name[n++] = ua->name[i];
    if (k < ub->n)
        return false;
    *out = intern(cx, t, n, name);
    return true;
}

static const unit *
known_unit(const axe_ctx *cx, axe_unit u)
{
    static const unit one = {0, NULL, "1"};
    const units      *t = axe_ctx_slot_get(cx, AXE_SLOT_UNITS);

    assert(axe_unit_known(cx, u));
    return t ? &t->unit[u] : &one;
}

bool
axe_unit_known(const axe_ctx *cx, axe_unit u)
{
    const units *t = axe_ctx_slot_get(cx, AXE_SLOT_UNITS);

    return u >= 0 && u < (t ? t->n : 1);
}

const char *
axe_unit_text(axe_ctx *cx, axe_unit u)
{
    return known_unit(cx, u)->text;
}

int
axe_unit_n_factor(const axe_ctx *cx, axe_unit u)
{
    return known_unit(cx, u)->n;
}

const char *
axe_unit_factor(const axe_ctx *cx, axe_unit u, int i)
{
    const unit *t = known_unit(cx, u);

    assert(0 <= i && i < t->n);
    return t->name[i];
}
