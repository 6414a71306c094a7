/* access.c - where elements of a tile are, with P and F as they are bound. */
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

static bool
is_just(const axe_node *n, const sys_bind *b)
{
    return b && n->op == AXE_OP_var && n->u.var == b->v;
}

sys_fit
sys_access(sys *s, const axe_node *load, sys_val *out)
{
    const axe_tensor        *t = load->u.tensor;
    const axe_systolic_tile *x = &s->plan->systolic->tile[t->id];
    sys_ex                   step[AXE_SYSTOLIC_RANK];
    const axe_node          *part = x->part >= 0 ? load->arg[x->part] : NULL;

    *out = (sys_val){.kind = SYS_TILE,
                     .name = s->name[t->id],
                     .type = t->type,
                     .psum = x->psum};
    for (int d = 0; d < t->rank; d++)
        step[d] = sys_c(x->stride[d]);
    for (int d = 0; d < t->rank; d++)
        if (d != x->part && sys_names(load->arg[d], s->P))
            return is_just(part, s->F) ? SYS_TURNED : SYS_APART;
    if (part && sys_names(part, s->F))
        return is_just(part, s->F) && !s->P ? SYS_TURNED : SYS_APART;
    if (part && !is_just(part, s->P))
        return SYS_APART;
    if (!part && s->P)
        return SYS_APART;
    if (part)
        step[x->part] = sys_c(0);
    out->off = sys_add(s, s->place[t->id], sys_offset_of(s, load, step));
    if (part)
        out->off = sys_add(s, out->off,
                           sys_mul(s, s->P->block, sys_c(x->stride[x->part])));
    out->step = sys_step_of(s, load, s->F, step);
    out->column = !s->F || sys_is(out->step, 0);
    return SYS_FITS;
}
