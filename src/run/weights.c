/* weights.c - matrices laid out as a program takes them (plan/access/packed.c).
 *
 * A packed matrix carries its layout as text; a launch compares it with what
 * the program was compiled for, so that weights packed for another machine or
 * another type are an error and never garbage. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "plan/plan.h"
#include "run/weights.h"

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

axe_status
axe_packed_of(axe_ctx *cx, const axe_program *p, const char *name,
              const int64_t *shape, axe_packed *out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, name);
    AXE_NEED(cx, shape);
    AXE_NEED(cx, out);
    const axe_tensor *t;
    int64_t           n, k, all;
    const char       *part[2];

    AXE_TRY(find_packed(cx, p, name, &t));
    const axe_packing *pk = &p->plan->pack[t->id];
    int                c = pk->column;
    if (shape[0] < 0 || shape[1] < 0 || !rounded(shape[c], pk->lanes, &n) ||
        !rounded(shape[1 - c], pk->group, &k) || !axe_mul(n, k, &all) ||
        !axe_mul(all, axe_type_table[t->type].bits / 8, &all))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "%s: a matrix of %" PRId64 " x %" PRId64
                        " has no size in bytes",
                        name, shape[0], shape[1]);
    out->bytes = (size_t)all;
    out->stride[c] = k;
    out->stride[1 - c] = pk->lanes;
    part[c] =
        axe_textf(cx, "(%" PRId64 ", %" PRId64 ")", n / pk->lanes, pk->lanes);
    part[1 - c] =
        axe_textf(cx, "(%" PRId64 ", %" PRId64 ")", k / pk->group, pk->group);
    const char *extents = axe_textf(cx, "(%s, %s)", part[0], part[1]);
    part[c] =
        axe_textf(cx, "(%" PRId64 ", %" PRId64 ")", pk->lanes * k, pk->group);
    part[1 - c] = axe_textf(cx, "(%" PRId64 ", 1)", pk->lanes * pk->group);
    out->type =
        axe_textf(cx, "%s" AXE_PACKED_AS "%s : (%s, %s)",
                  axe_type_table[t->type].name, extents, part[0], part[1]);
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

axe_status
axe_matrix_pack(axe_ctx *cx, const axe_program *p, const axe_array *from,
                void *to)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, from);
    AXE_NEED(cx, to);
    const axe_tensor *t;
    axe_packed        packed;

    AXE_TRY(find_packed(cx, p, from->name, &t));
    if (!from->type || strcmp(from->type, axe_type_table[t->type].name) != 0 ||
        from->rank != 2)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                        "%s is packed from a matrix of %s that is not packed "
                        "yet",
                        t->name, axe_type_table[t->type].name);
    AXE_TRY(axe_packed_of(cx, p, from->name, from->shape, &packed));
    const axe_packing *pk = &p->plan->pack[t->id];
    int                c = pk->column;
    size_t             size = (size_t)axe_type_table[t->type].bits / 8;
    int64_t step[2] = {from->stride ? from->stride[0] : from->shape[1],
                       from->stride ? from->stride[1] : 1};
    memset(to, 0, packed.bytes);
    for (int64_t n = 0; n < from->shape[c]; n++)
        for (int64_t k = 0; k < from->shape[1 - c]; k++)
            memcpy((char *)to +
                       (size_t)place(pk, packed.stride[c], n, k) * size,
                   (const char *)from->data +
                       (size_t)(n * step[c] + k * step[1 - c]) * size,
                   size);
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
