/* cute_cast.c - CuTe's layouts on elements of another width: n elements as one,
 * and one as n. */
#include <inttypes.h>
#include <stdlib.h>

#include "convert/cute.h"

static axe_status
check_factor(axe_ctx *cx, const char *what, int64_t n)
{
    if (n >= 1)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s: by %" PRId64 "; at least 1 is needed", what, n);
}

/* n elements of a leaf become one: its stride shrinks, or its shape, or both.
 */
static axe_status
upcast_leaf(axe_ctx *cx, const axe_cute *l, int64_t n, axe_cute *out)
{
    int64_t e = llabs(l->stride), per;

    *out = *l;
    if (e == 0)
        return AXE_OK;
    if (n % e != 0 && e % n != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "upcast: %s by %" PRId64
                        ": the stride and the factor must divide one another",
                        axe_cute_text(cx, l), n);
    per = e >= n ? 1 : n / e;
    out->shape = (l->shape - 1) / per + 1;
    out->stride = (e - 1) / n + 1;
    if (l->stride < 0)
        out->stride = -out->stride;
    return AXE_OK;
}

static axe_status
downcast_leaf(axe_ctx *cx, const axe_cute *l, int64_t n, axe_cute *out)
{
    bool run = l->stride == 1 || l->stride == -1;

    *out = *l;
    if (axe_mul(run ? l->shape : l->stride, n,
                run ? &out->shape : &out->stride))
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                    "downcast: %s by %" PRId64 " leaves int64",
                    axe_cute_text(cx, l), n);
}

typedef axe_status cast_leaf(axe_ctx *cx, const axe_cute *l, int64_t n,
                             axe_cute *out);

static axe_status
cast(axe_ctx *cx, const axe_cute *l, int64_t n, cast_leaf *fn, axe_cute *out)
{
    axe_cute *mode;

    if (axe_cute_is_leaf(l))
        return fn(cx, l, n, out);
    mode = axe_new_array(cx, axe_cute, l->n_mode + 1);
    for (int i = 0; i < l->n_mode; i++)
        AXE_TRY(cast(cx, &l->mode[i], n, fn, &mode[i]));
    *out = (axe_cute){.n_mode = l->n_mode, .mode = mode};
    return AXE_OK;
}

axe_status
axe_cute_upcast(axe_ctx *cx, const axe_cute *l, int64_t n, axe_cute *out)
{
    axe_cute c;

    AXE_TRY(check_factor(cx, "upcast", n));
    AXE_TRY(cast(cx, l, n, upcast_leaf, &c));
    *out = c;
    return axe_cute_check(cx, "upcast", &c);
}

axe_status
axe_cute_downcast(axe_ctx *cx, const axe_cute *l, int64_t n, axe_cute *out)
{
    axe_cute c;

    AXE_TRY(check_factor(cx, "downcast", n));
    AXE_TRY(cast(cx, l, n, downcast_leaf, &c));
    *out = c;
    return axe_cute_check(cx, "downcast", &c);
}
