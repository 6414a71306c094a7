/* fetch.c - how elements come to P and F, wherever they are. */
#include "lower/systolic/sys.h"

/* The tile has F's index over partitions. */
static void
fetch_turned(sys *s, const axe_node *load, const sys_val *dst)
{
    const axe_systolic_tile *x = &s->plan->systolic->tile[load->u.tensor->id];
    bool                     opened;
    sys_ex                   fb =
        sys_for(s, "f", sys_up(s, s->F->count, AXE_SYSTOLIC_P), &opened);
    sys_ex f = sys_mul(s, sys_c(AXE_SYSTOLIC_P), fb);
    sys_ex n = sys_rest(s, s->F->count, f, AXE_SYSTOLIC_P, opened);
    /* As if F were P. */
    const sys_bind *P = s->P, *F = s->F;
    sys_bind        rows = *F;
    sys_val         src;

    rows.base = sys_add(s, F->base, f);
    rows.block = sys_add(s, sys_div(s, F->base, sys_c(AXE_SYSTOLIC_P)), fb);
    rows.count = n;
    s->P = &rows;
    s->F = P;
    sys_fit fit = sys_access(s, load, &src);
    s->P = P;
    s->F = F;
    if (fit != SYS_FITS || x->psum) {
        sys_fail(s, load->at, "copy it to a tile of its own before",
                 "%s does not lie so that the tensor engine can turn it",
                 axe_node_text(s->cx, load));
        return;
    }
    sys_transpose(s, &src, dst, f, n, sys_parts(s));
    sys_end(s, opened);
}

void
sys_fetch_into(sys *s, const axe_node *load, const sys_val *dst)
{
    sys_val src;

    if (load->u.tensor->space == AXE_SPACE_GLOBAL) {
        if (sys_is_gather(load))
            sys_gather(s, load, dst);
        else
            sys_fetch_memory(s, load, dst);
        return;
    }
    switch (sys_access(s, load, &src)) {
    case SYS_FITS:
        sys_copy(s, dst, &src, sys_parts(s), sys_cols(s));
        return;
    case SYS_TURNED:
        fetch_turned(s, load, dst);
        return;
    case SYS_APART:
        break;
    }
    sys_fail(s, load->at,
             "give the tile the index that the result has over partitions as "
             "its last dimension but one, or read it from device memory",
             "%s: partitions of %s do not see one another's elements, and the "
             "statement's are others",
             axe_node_text(s->cx, load), s->plan->machine->name);
}

sys_val
sys_fetch(sys *s, const axe_node *load)
{
    sys_val out;

    if (load->u.tensor->space != AXE_SPACE_GLOBAL &&
        sys_access(s, load, &out) == SYS_FITS)
        return out;
    out = sys_temp(s, load->u.tensor->type, s->F ? SYS_CHUNK : 1);
    sys_fetch_into(s, load, &out);
    return out;
}
