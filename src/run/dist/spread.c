/* spread.c - who holds what of a tensor, as text, and plans from one spread to
 * another. */
#include <string.h>

#include "base/ctx.h"
#include "run/dist/dist_int.h"

/* "@gpu", "@(node, gpu)", "@(3*gpu+1)" */
static void
put_axes(axe_buf *out, const axe_dist *d, const axe_shard *p,
         const axe_dist_turn *t)
{
    bool list = p->n_axis > 1 || t;

    axe_puts(out, list ? "@(" : "@");
    if (t && t->mul != 1)
        axe_putf(out, "%lld*", (long long)t->mul);
    for (int i = 0; i < p->n_axis; i++)
        axe_putf(out, "%s%s", i ? ", " : "", d->k->axis[p->axis[i]].name);
    if (t && t->add != 0)
        axe_putf(out, "+%lld", (long long)t->add);
    axe_puts(out, list ? ")" : "");
}

static const char *
spread_text(axe_ctx *cx, const axe_dist *d, const axe_tensor *t,
            const int64_t *whole, const axe_turning *turning)
{
    axe_buf out = {.cx = cx};

    for (int k = 0; k < t->rank; k++) {
        const axe_dist_turn *turn = NULL;

        for (int i = 0; turning && i < turning->n; i++)
            if (turning->turn[i].dim == k &&
                (turning->turn[i].mul != 1 || turning->turn[i].add != 0))
                turn = &turning->turn[i];
        axe_putf(&out, "%s%lld", k ? ", " : "", (long long)whole[k]);
        if (axe_is_cut(t->shape[k]) && !t->shape[k]->u.var->part->window)
            put_axes(&out, d, t->shape[k]->u.var->part, turn);
    }
    axe_puts(&out, "");
    for (int i = 0; t->held && i < t->held->n_at; i++)
        axe_putf(&out, "%s%s=%lld", i ? ", " : " at ",
                 d->k->axis[t->held->at[i]].name,
                 (long long)t->held->coordinate[i]);
    for (int i = 0; t->held && i < t->held->n_partial; i++)
        axe_putf(&out, "%s%s", i ? ", " : " + partial(",
                 d->k->axis[t->held->partial[i]].name);
    axe_puts(&out, t->held && t->held->n_partial > 0 ? ")" : "");
    return out.text;
}

const char *
axe_dist_spread(axe_ctx *cx, const axe_dist *d, const axe_tensor *t,
                const axe_turning *turning)
{
    int64_t whole[AXE_RANK_MAX];

    for (int k = 0; k < t->rank; k++)
        whole[k] = axe_dist_value(d, NULL, 0, axe_extent_whole(t->shape[k]));
    return spread_text(cx, d, t, whole, turning);
}

const char *
axe_dist_spread_of(axe_ctx *cx, const axe_dist *d, const axe_tensor *t,
                   const int64_t *whole)
{
    return spread_text(cx, d, t, whole, NULL);
}

axe_status
axe_dist_number(axe_ctx *cx, const axe_tensor *t, axe_number *out)
{
    const axe_type_info *i = &axe_type_table[t->type];

    for (int n = 0; n < AXE_N_NUMBER; n++) {
        bool real = n == AXE_NUMBER_F32 || n == AXE_NUMBER_F64;

        if (axe_number_bytes((axe_number)n) * 8 != i->bits ||
            (real && i->cls != AXE_CLASS_FLOAT) ||
            (!real && i->cls == AXE_CLASS_FLOAT && i->bits >= 32))
            continue;
        *out = (axe_number)n;
        return AXE_OK;
    }
    return axe_fail(cx, t->at, AXE_EUNSUPPORTED,
                    "elements of `%s`, %s, are not sent between devices",
                    t->name, i->name);
}

bool
axe_dist_makes_addend(const axe_tensor *from, const axe_tensor *to, int axis)
{
    bool to_has = false;

    for (int i = 0; to->held && i < to->held->n_partial; i++)
        to_has = to_has || to->held->partial[i] == axis;
    for (int i = 0; from->held && i < from->held->n_partial; i++)
        to_has = to_has && from->held->partial[i] != axis;
    return to_has;
}

/* `to` without addends that `from` has not: copies, of which the first device's
 * stays. */
static const axe_tensor *
without_new_addends(axe_ctx *cx, const axe_tensor *from, const axe_tensor *to)
{
    axe_tensor *t = axe_new(cx, axe_tensor);
    axe_held   *h = axe_new(cx, axe_held);
    int        *axis;

    if (!to->held || to->held->n_partial == 0)
        return to;
    *t = *to;
    *h = *to->held;
    axis = axe_new_array(cx, int, h->n_partial);
    h->n_partial = 0;
    for (int i = 0; i < to->held->n_partial; i++)
        if (!axe_dist_makes_addend(from, to, to->held->partial[i]))
            axis[h->n_partial++] = to->held->partial[i];
    h->partial = axis;
    t->held = h->n_partial + h->n_at > 0 ? h : NULL;
    return t;
}

axe_status
axe_dist_reshard(axe_ctx *cx, const axe_dist *d, const axe_tensor *from,
                 const axe_tensor *to, const axe_turning *turning,
                 const axe_reshard_plan **out)
{
    axe_reshard_options opt = {.bits = axe_type_table[from->type].bits};
    const char         *src = axe_dist_spread(cx, d, from, NULL);
    const char         *dst =
        axe_dist_spread(cx, d, without_new_addends(cx, from, to), turning);
    axe_spread a, b;

    *out = NULL;
    if (strcmp(src, dst) == 0 || axe_dist_count(d, from) == 0)
        return AXE_OK;
    AXE_TRY(axe_spread_read(cx, d->mesh, src, &a));
    AXE_TRY(axe_spread_read(cx, d->mesh, dst, &b));
    return axe_reshard(cx, d->mesh, &a, &b, &opt, out);
}
