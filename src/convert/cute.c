/* cute.c - CuTe's layouts as trees: making, checking, evaluating. */
#include <inttypes.h>
#include <string.h>

#include "convert/cute.h"

bool
axe_cute_same_basis(axe_cute_basis a, axe_cute_basis b)
{
    for (int i = 0; i < a.n; i++)
        if (i >= b.n || a.at[i] != b.at[i])
            return false;
    return a.n == b.n;
}

const axe_cute *
axe_cute_put(axe_ctx *cx, axe_cute l)
{
    axe_cute *p = axe_new(cx, axe_cute);

    *p = l;
    return p;
}

axe_cute
axe_cute_tuple(axe_ctx *cx, int n, const axe_cute *mode)
{
    axe_cute *m = axe_new_array(cx, axe_cute, n > 0 ? n : 1);

    for (int i = 0; i < n; i++)
        m[i] = mode[i];
    return (axe_cute){.n_mode = n, .mode = m};
}

int
axe_cute_rank(const axe_cute *l)
{
    return axe_cute_is_leaf(l) ? 1 : l->n_mode;
}

const axe_cute *
axe_cute_mode(const axe_cute *l, int i)
{
    return axe_cute_is_leaf(l) ? l : &l->mode[i];
}

static int
count(const axe_cute *l)
{
    int n = 0;

    if (axe_cute_is_leaf(l))
        return 1;
    for (int i = 0; i < l->n_mode; i++)
        n += count(&l->mode[i]);
    return n;
}

static void
gather(const axe_cute *l, axe_cute *out, int *n)
{
    if (axe_cute_is_leaf(l))
        out[(*n)++] = *l;
    for (int i = 0; i < l->n_mode; i++)
        gather(&l->mode[i], out, n);
}

int
axe_cute_leaves(axe_ctx *cx, const axe_cute *l, axe_cute **out)
{
    int n = 0;

    *out = axe_new_array(cx, axe_cute, count(l) + 1);
    gather(l, *out, &n);
    return n;
}

int64_t
axe_cute_size(const axe_cute *l)
{
    int64_t n = 1;

    if (axe_cute_is_leaf(l))
        return l->shape;
    for (int i = 0; i < l->n_mode; i++)
        n *= axe_cute_size(&l->mode[i]);
    return n;
}

axe_status
axe_cute_check(axe_ctx *cx, const char *what, const axe_cute *l)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf);
    int64_t   size = 1, reach = 0, run;

    if (n > AXE_CUTE_LEAVES)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s: %d modes; at most %d are taken", what, n,
                        AXE_CUTE_LEAVES);
    for (int i = 0; i < n; i++) {
        int64_t d = leaf[i].stride;

        if (leaf[i].shape < 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: mode %d has shape %" PRId64
                            "; at least 1 is needed",
                            what, i, leaf[i].shape);
        if (!axe_mul(size, leaf[i].shape, &size))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: the size leaves int64 at mode %d", what, i);
        if (d == INT64_MIN || !axe_mul(leaf[i].shape, d < 0 ? -d : d, &run) ||
            !axe_add(reach, run, &reach))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: mode %d, %" PRId64 ":%" PRId64
                            ", reaches beyond int64",
                            what, i, leaf[i].shape, d);
    }
    return AXE_OK;
}

/* i mod n in [0, n), and i / n to go with it. */
static int64_t
digit(int64_t *i, int64_t n)
{
    int64_t r = *i % n;

    if (r < 0)
        r += n;
    *i = (*i - r) / n;
    return r;
}

axe_status
axe_cute_at(axe_ctx *cx, const axe_cute *l, int64_t i, int64_t *out)
{
    axe_mark  m = axe_ctx_mark(cx);
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, l, &leaf);
    int64_t   sum = 0, step, at = i;
    bool      fits = true;

    for (int k = 0; k < n && fits; k++) {
        int64_t c = k < n - 1 ? digit(&at, leaf[k].shape) : at;

        fits = axe_mul(c, leaf[k].stride, &step) && axe_add(sum, step, &sum);
    }
    axe_ctx_release(cx, m);
    if (!fits)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "index %" PRId64 " of the layout leaves int64", i);
    *out = sum;
    return AXE_OK;
}

static bool
compact(axe_ctx *cx, const axe_cute *a, int64_t *step, axe_cute *out)
{
    axe_cute *mode;

    if (axe_cute_is_leaf(a)) {
        *out = axe_cute_leaf(a->shape, *step);
        return axe_mul(*step, a->shape, step);
    }
    mode = axe_new_array(cx, axe_cute, a->n_mode + 1);
    for (int i = 0; i < a->n_mode; i++)
        if (!compact(cx, &a->mode[i], step, &mode[i]))
            return false;
    *out = (axe_cute){.n_mode = a->n_mode, .mode = mode};
    return true;
}

axe_status
axe_cute_compact(axe_ctx *cx, const axe_cute *a, int64_t unit, axe_cute *out)
{
    axe_cute l;

    if (!compact(cx, a, &unit, &l))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "the compact strides of a shape leave int64");
    *out = l;
    return AXE_OK;
}
