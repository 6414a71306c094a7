/* access.c - where elements are, and how they come to P and F. */
#include <inttypes.h>

#include "ir/stmt.h"
#include "lower/systolic/sys.h"

sys_bind *
sys_bind_to(sys *s, const axe_var *v, sys_ex base, sys_ex count)
{
    sys_bind *b;

    if (s->n_bind == SYS_MAX_BIND) {
        sys_fail(s, s->s->at, "divide the statement",
                 "the statement has more than %d indices", SYS_MAX_BIND);
        s->n_bind--;
    }
    b = &s->bind[s->n_bind++];
    *b = (sys_bind){v, base, count, sys_c(0)};
    return b;
}

sys_ex
sys_parts(const sys *s)
{
    return s->P ? s->P->count : sys_c(1);
}

sys_ex
sys_cols(const sys *s)
{
    return s->F ? s->F->count : sys_c(1);
}

sys_ex
sys_rest(sys *s, sys_ex e, sys_ex base, int64_t most, bool opened)
{
    if (!opened)
        return e;
    if (!e.t && e.c % most == 0)
        return sys_c(most);
    return sys_named(s, "n", sys_min(s, sys_c(most), sys_sub(s, e, base)));
}

/* ---------------------------------------------------------------- on chip */

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
    out->column = !s->F || (!out->step.t && out->step.c == 0);
    return SYS_FITS;
}

/* --------------------------------------------------------- device memory */

static bool
is_one(sys_ex e)
{
    return !e.t && e.c == 1;
}

static bool
is_nil(sys_ex e)
{
    return !e.t && e.c == 0;
}

static const char *
memory(sys *s, const axe_tensor *t, sys_ex off, sys_ex n, sys_ex by, sys_ex m,
       sys_ex step)
{
    return axe_textf(s->cx, "%s[%s : %s by %s, %s by %s]", s->name[t->id],
                     sys_text(s, off), sys_text(s, n), sys_text(s, by),
                     sys_text(s, m), sys_text(s, step));
}

/* ----------------------------------------------------------------- turned */

/* dst[p, f ..] = src[.., p], n_f of them. */
void
sys_transpose(sys *s, const sys_val *src, const sys_val *dst, sys_ex f,
              sys_ex n_f, sys_ex n_p)
{
    sys_val bank = sys_bank(s, src->type, 1), to = *dst;

    sys_line(s, "tensor nc_transpose %s, %s", sys_put(s, &bank, n_p, n_f),
             sys_put(s, src, n_f, n_p));
    to.off = sys_add(s, to.off, sys_mul(s, f, to.step));
    sys_copy(s, &to, &bank, n_p, n_f);
}

static void
fetch_turned_memory(sys *s, const axe_node *load, const sys_area *a,
                    const sys_val *dst)
{
    const axe_tensor *t = load->u.tensor;
    bool              opened;
    sys_ex  fb = sys_for(s, "f", sys_up(s, a->cols, AXE_SYSTOLIC_P), &opened);
    sys_ex  f = sys_mul(s, sys_c(AXE_SYSTOLIC_P), fb);
    sys_ex  n = sys_rest(s, a->cols, f, AXE_SYSTOLIC_P, opened);
    int64_t mark = s->temp;
    sys_val rows = sys_temp(s, t->type, AXE_SYSTOLIC_P);

    sys_line(s, "dma dma_copy %s, %s", sys_put(s, &rows, n, a->parts),
             memory(s, t, sys_add(s, a->off, sys_mul(s, f, a->fs)), n, a->fs,
                    a->parts, a->ps));
    sys_transpose(s, &rows, dst, f, n, a->parts);
    s->temp = mark;
    sys_end(s, opened);
}

static void
fetch_memory(sys *s, const axe_node *load, const sys_val *dst)
{
    const axe_tensor *t = load->u.tensor;
    sys_area          a;

    if (sys_is_gather(load)) {
        sys_gather(s, load, dst);
        return;
    }
    sys_fill_outside(s, load, dst);
    sys_area_open(s, load, 0, &a);
    if (s->st != AXE_OK)
        return;
    if (s->F && s->P && !is_one(a.fs) && is_one(a.ps) && !is_nil(a.fs) &&
        is_nil(a.p0) && is_nil(a.f0))
        fetch_turned_memory(s, load, &a, dst);
    else
        sys_line(
            s, "dma dma_copy %s, %s", sys_area_part(s, dst, &a),
            memory(s, t, a.off, a.parts, a.ps, a.cols, s->F ? a.fs : sys_c(1)));
    sys_area_close(s, &a);
}

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
        fetch_memory(s, load, dst);
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

void
sys_store(sys *s, const axe_node *dst, const sys_val *v)
{
    sys_area a;

    sys_area_open(s, dst, 0, &a);
    if (s->st != AXE_OK)
        return;
    sys_line(s, "dma dma_copy %s, %s",
             memory(s, dst->u.tensor, a.off, a.parts, s->P ? a.ps : sys_c(1),
                    a.cols, s->F ? a.fs : sys_c(1)),
             sys_area_part(s, v, &a));
    sys_area_close(s, &a);
}

/* ------------------------------------------------------------------ loops */

int
sys_open(sys *s, int n, const axe_dim *dim, bool *opened)
{
    for (int i = 0; i < n; i++) {
        sys_ex e = sys_extent(s, s->s, dim[i].var);
        sys_ex v = sys_for(s, dim[i].var->name, e, &opened[i]);
        sys_bind_to(s, dim[i].var, v, sys_c(1));
    }
    return n;
}

void
sys_close(sys *s, int n_opened, const bool *opened, int n_bind)
{
    for (int i = n_opened - 1; i >= 0; i--)
        sys_end(s, opened[i]);
    s->n_bind = n_bind;
}
