/* weights.c - matrices laid out as a program takes them (plan/access/packed.c),
 * one, or one for each value of dimensions around them.
 *
 * A packed matrix carries its layout as text; a launch compares it with what
 * the program was compiled for, so that weights packed for another machine or
 * another type are an error and never garbage. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "plan/plan.h"
#include "run/array/weights.h"

/* The packed parameter of that name, or NULL. */
static const axe_tensor *
packed_param(const axe_program *p, const char *name)
{
    for (int i = 0; p->plan && name && i < p->kernel->n_param; i++)
        if (p->kernel->param[i]->packed &&
            strcmp(p->kernel->param[i]->name, name) == 0)
            return p->kernel->param[i];
    return NULL;
}

static axe_status
find_packed(axe_ctx *cx, const axe_program *p, const char *name,
            const axe_tensor **out)
{
    const axe_tensor *t = packed_param(p, name);

    if (t) {
        *out = t;
        return AXE_OK;
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                    "kernel %s has no parameter '%s' that is packed",
                    p->kernel->name, name ? name : "(null)");
}

/* a * b rounded up to a multiple of c; false if that leaves int64. */
static bool
rounded(int64_t a, int64_t c, int64_t *out)
{
    return axe_add(a, c - 1, out) && (*out = *out / c * c, true);
}

/* The last two dimensions, of columns and of the sum. */
static int
sum_dim(const axe_tensor *t, const axe_packing *pk)
{
    return 2 * t->rank - 3 - pk->column;
}

/* "a, b, c, d" of dimensions, the last two as given. */
static const char *
listed(axe_ctx *cx, const axe_tensor *t, const int64_t *outer, int column,
       const char *n, const char *k)
{
    axe_buf b = {.cx = cx};

    for (int d = 0; d < t->rank; d++) {
        axe_puts(&b, d == 0 ? "" : ", ");
        if (d + 2 < t->rank)
            axe_putf(&b, "%" PRId64, outer[d]);
        else
            axe_puts(&b, d == column ? n : k);
    }
    return b.text;
}

/* The strides, and how many elements there are; false if that leaves int64. */
static bool
measure(const axe_tensor *t, const axe_packing *pk, const int64_t *shape,
        int64_t *stride, int64_t *all)
{
    int     kd = sum_dim(t, pk);
    int64_t n, k;

    for (int d = 0; d < t->rank; d++)
        if (shape[d] < 0)
            return false;
    if (!rounded(shape[pk->column], pk->lanes, &n) ||
        !rounded(shape[kd], pk->group, &k) || !axe_mul(n, k, all))
        return false;
    stride[pk->column] = k;
    stride[kd] = pk->lanes;
    for (int d = t->rank - 3; d >= 0; d--) {
        stride[d] = *all;
        if (!axe_mul(*all, shape[d], all))
            return false;
    }
    return true;
}

static const char *
shape_text(axe_ctx *cx, int n, const int64_t *shape)
{
    axe_buf b = {.cx = cx};

    for (int d = 0; d < n; d++)
        axe_putf(&b, "%s%" PRId64, d == 0 ? "" : " x ", shape[d]);
    return b.text;
}

axe_status
axe_packed_of(axe_ctx *cx, const axe_program *p, const char *name,
              const int64_t *shape, axe_packed *out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, name);
    AXE_NEED(cx, shape);
    AXE_NEED(cx, out);
    const axe_tensor *t;
    int64_t           all;

    AXE_TRY(find_packed(cx, p, name, &t));
    const axe_packing *pk = &p->plan->pack[t->id];
    int64_t            v = pk->lanes, g = pk->group;
    if (!measure(t, pk, shape, out->stride, &all) ||
        !axe_mul(all, axe_type_table[t->type].bits / 8, &all))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "%s: a matrix of %s has no size in bytes", name,
                        shape_text(cx, t->rank, shape));
    out->bytes = (size_t)all;
    int64_t k = out->stride[pk->column], n = (shape[pk->column] + v - 1) / v;
    out->type = axe_textf(
        cx, "%s" AXE_PACKED_AS "(%s) : (%s)", axe_type_table[t->type].name,
        listed(cx, t, shape, pk->column,
               axe_textf(cx, "(%" PRId64 ", %" PRId64 ")", n, v),
               axe_textf(cx, "(%" PRId64 ", %" PRId64 ")", k / g, g)),
        listed(cx, t, out->stride, pk->column,
               axe_textf(cx, "(%" PRId64 ", %" PRId64 ")", v * k, g),
               axe_textf(cx, "(%" PRId64 ", 1)", v * g)));
    return AXE_OK;
}

/* Element (n, k) of a packed matrix. */
static int64_t
place(const axe_packing *pk, int64_t kp, int64_t n, int64_t k)
{
    return n / pk->lanes * pk->lanes * kp +
           k / pk->group * pk->lanes * pk->group + n % pk->lanes * pk->group +
           k % pk->group;
}

/* One matrix, of the last two dimensions. */
static void
pack_matrix(const axe_tensor *t, const axe_packing *pk, const int64_t *shape,
            const int64_t *step, int64_t kp, const char *from, char *to)
{
    int    c = pk->column, kd = sum_dim(t, pk);
    size_t size = (size_t)axe_type_table[t->type].bits / 8;

    for (int64_t n = 0; n < shape[c]; n++)
        for (int64_t k = 0; k < shape[kd]; k++)
            memcpy(to + place(pk, kp, n, k) * (int64_t)size,
                   from + (n * step[c] + k * step[kd]) * (int64_t)size, size);
}

/* Matrices of the dimensions from d on. */
static void
pack_all(const axe_tensor *t, const axe_packing *pk, int d,
         const int64_t *shape, const int64_t *step, const int64_t *stride,
         const char *from, char *to)
{
    int64_t size = axe_type_table[t->type].bits / 8;

    if (d + 2 == t->rank) {
        pack_matrix(t, pk, shape, step, stride[pk->column], from, to);
        return;
    }
    for (int64_t i = 0; i < shape[d]; i++)
        pack_all(t, pk, d + 1, shape, step, stride, from + i * step[d] * size,
                 to + i * stride[d] * size);
}

axe_status
axe_matrix_pack(axe_ctx *cx, const axe_program *p, const axe_array *from,
                void *to)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, from);
    AXE_NEED(cx, to);
    const axe_tensor *t;
    axe_packed        packed;
    int64_t           step[AXE_RANK_MAX], next = 1;

    AXE_TRY(find_packed(cx, p, from->name, &t));
    if (!from->type || strcmp(from->type, axe_type_table[t->type].name) != 0 ||
        from->rank != t->rank)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                        "%s is packed from an array of %s, of %d dimensions, "
                        "that is not packed yet",
                        t->name, axe_type_table[t->type].name, t->rank);
    AXE_TRY(axe_packed_of(cx, p, from->name, from->shape, &packed));
    for (int d = t->rank - 1; d >= 0; next *= from->shape[d--])
        step[d] = from->stride ? from->stride[d] : next;
    memset(to, 0, packed.bytes);
    pack_all(t, &p->plan->pack[t->id], 0, from->shape, step, packed.stride,
             from->data, to);
    return AXE_OK;
}

axe_status
axe_check_packing(axe_ctx *cx, const axe_program *p, int n,
                  const axe_array *array)
{
    for (int i = 0; i < n; i++) {
        const axe_tensor *t = packed_param(p, array[i].name);
        axe_packed        want;
        if (!t)
            continue;
        AXE_TRY(axe_packed_of(cx, p, t->name, array[i].shape, &want));
        if (strcmp(want.type, array[i].type) == 0)
            continue;
        axe_fail(cx, t->at, AXE_ESHAPE, "%s is %s, the program takes %s",
                 t->name, array[i].type, want.type);
        axe_help(cx, "pack it for this program with axe pack");
        return AXE_ESHAPE;
    }
    return AXE_OK;
}
