/* simt_infer.c - layouts of register tiles that no contraction gave one.
 *
 * The first statement that writes such a tile is dealt to threads as if the
 * tile were not there; what each thread computes it keeps. */
#include "plan/simt_int.h"

static axe_status
infer_from(planner *p, const axe_stmt *s, const axe_tensor *t)
{
    request           r;
    axe_work          w;
    const axe_layout *l;

    AXE_TRY(axe_layout_row_major(p->cx, axe_shape_of_tile(p->cx, t), &l));
    p->place[t->id].layout = l;
    AXE_TRY(axe_request_make(p, s, &r));
    AXE_TRY(axe_simt_deal(p, &r, p->simt->who[s->id], &r.operand[0], &w));
    AXE_TRY(axe_simt_project(p, &r, &w, &l));
    axe_simt_settle(p, t, l,
                    axe_textf(p->cx, "auto: as statement %d makes it", s->id));
    return AXE_OK;
}

static const axe_tensor *
open_load(const planner *p, const axe_node *n)
{
    const axe_tensor *t = NULL;

    if (n->op == AXE_OP_load && axe_simt_is_open(p, n->u.tensor))
        return n->u.tensor;
    for (int i = 0; i < n->n_arg && !t; i++)
        t = open_load(p, n->arg[i]);
    return t;
}

axe_status
axe_simt_infer(planner *p, const axe_stmt *s)
{
    const axe_tensor *t = s->dst->u.tensor, *before = open_load(p, s->value);

    if (before && before != t)
        return axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                        "%s is read here before anything writes it",
                        before->name);
    return axe_simt_is_open(p, t) ? infer_from(p, s, t) : AXE_OK;
}
