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

/* Elements from one value of v to the next, where step[d] are between those of
 * dimension d; which must be affine. */
static sys_ex
step_of(sys *s, const axe_node *load, const sys_bind *b, const sys_ex *step)
{
    sys_ex     out = sys_c(0);
    axe_affine a;

    for (int d = 0; b && d < load->n_arg; d++) {
        if (!axe_mentions(load->arg[d], b->v))
            continue;
        if (!axe_affine_of(s->cx, load->arg[d], &a)) {
            sys_fail(s, load->at, "run the kernel on another machine",
                     "%s: %s has no access patterns for subscripts that are "
                     "not sums of multiples of indices",
                     axe_node_text(s->cx, load), s->plan->machine->name);
            continue;
        }
        out = sys_add(s, out,
                      sys_mul(s, sys_c(axe_affine_coef(&a, b->v)), step[d]));
    }
    return out;
}

static sys_ex
offset_of(sys *s, const axe_node *load, const sys_ex *step)
{
    sys_ex out = sys_c(0);

    for (int d = 0; d < load->n_arg; d++)
        out = sys_add(s, out, sys_mul(s, sys_of(s, load->arg[d]), step[d]));
    return out;
}

/* ---------------------------------------------------------------- on chip */

static bool
is_just(const axe_node *n, const sys_bind *b)
{
    return b && n->op == AXE_OP_var && n->u.var == b->v;
}

static bool
names(const axe_node *n, const sys_bind *b)
{
    return b && axe_mentions(n, b->v);
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
        if (d != x->part && names(load->arg[d], s->P))
            return is_just(part, s->F) ? SYS_TURNED : SYS_APART;
    if (part && names(part, s->F))
        return is_just(part, s->F) && !s->P ? SYS_TURNED : SYS_APART;
    if (part && !is_just(part, s->P))
        return SYS_APART;
    if (!part && s->P)
        return SYS_APART;
    if (part)
        step[x->part] = sys_c(0);
    out->off = sys_add(s, s->place[t->id], offset_of(s, load, step));
    if (part)
        out->off = sys_add(s, out->off,
                           sys_mul(s, s->P->block, sys_c(x->stride[x->part])));
    out->step = step_of(s, load, s->F, step);
    out->column = !s->F || (!out->step.t && out->step.c == 0);
    return SYS_FITS;
}

/* --------------------------------------------------------- device memory */

typedef struct area {
    sys_ex off, ps, fs, parts, cols;
    sys_ex p0, f0; /* of P and F, so many are before the tensor's begin */
    int    n_if;
    bool   opened[AXE_SYSTOLIC_RANK];
} area;

static sys_ex
from_0(sys *s, sys_ex e)
{
    return sys_max(s, sys_c(0), e);
}

/* May dimension d of the access leave the tensor? */
static bool
may_leave(sys *s, const axe_node *load, int d)
{
    return !sys_inside(s, load, d) || !axe_is_nonneg(load->arg[d]);
}

/* By how much dimension d's subscript grows from one value of P or F to the
 * next. */
static int64_t
growth(sys *s, const axe_node *load, int d)
{
    const sys_bind *b = names(load->arg[d], s->P)   ? s->P
                        : names(load->arg[d], s->F) ? s->F
                                                    : NULL;
    axe_affine      at;
    int64_t         coef = 1;

    if (b && axe_affine_of(s->cx, load->arg[d], &at))
        coef = axe_affine_coef(&at, b->v);
    return coef == 0 ? 1 : coef;
}

/* Which of n values of P or F are inside of dimension d, whose subscript grows
 * by `coef` from one to the next: behind *before so many.  Those that are not,
 * at the begin if the subscript grows, are before 0. */
static sys_ex
inside_of(sys *s, const axe_node *load, int d, sys_ex n, sys_ex *before)
{
    const int64_t coef = growth(s, load, d);
    sys_ex        sub = sys_of(s, load->arg[d]), one = sys_c(1);
    sys_ex        left = sys_sub(s, sys_of(s, load->u.tensor->shape[d]), sub);
    bool          low = !axe_is_nonneg(load->arg[d]);
    bool          high = !sys_inside(s, load, d) || low;
    int64_t       by = coef < 0 ? -coef : coef;

    *before = sys_c(0);
    if (coef < 0) {
        *before = sys_up(s, from_0(s, sys_sub(s, one, left)), by);
        n = low ? sys_min(s, n, sys_up(s, from_0(s, sys_add(s, sub, one)), by))
                : n;
    } else {
        if (low)
            *before = sys_up(s, from_0(s, sys_sub(s, sys_c(0), sub)), by);
        if (high && by > 1)
            n = sys_min(s, n, sys_up(s, from_0(s, left), by));
        else if (high)
            n = sys_min(s, n, left);
    }
    return sys_sub(s, n, *before);
}

/* Dimensions that leave the tensor end P, F, or are not done at all. */
static void
clip(sys *s, const axe_node *load, int d, area *a)
{
    bool   p = names(load->arg[d], s->P), f = names(load->arg[d], s->F);
    sys_ex before, one = sys_c(1);

    if (!may_leave(s, load, d))
        return;
    if (p && f)
        sys_fail(s, load->at, "pad the tensor, or divide the statement",
                 "%s leaves the tensor, and is of two indices",
                 axe_node_text(s->cx, load->arg[d]));
    sys_ex n = inside_of(s, load, d, p ? a->parts : f ? a->cols : one, &before);
    sys_if(s, sys_min(s, one, from_0(s, n)), &a->opened[a->n_if++]);
    if (p) {
        a->parts = sys_named(s, "n", n);
        a->p0 = before;
    } else if (f) {
        a->cols = sys_named(s, "n", n);
        a->f0 = before;
    }
}

/* Is the dimension's subscript of scopes and constants, and inside? */
static bool
is_sure(const axe_node *load, int d)
{
    const axe_node *sub = load->arg[d], *size = load->u.tensor->shape[d];
    int64_t         c, m;

    if (axe_is_iconst(sub, &c))
        return c >= 0 && axe_is_iconst(size, &m) && c < m;
    return sub->op == AXE_OP_var && sub->u.var->extent &&
           sub->u.var->kind != AXE_VAR_INDEX &&
           axe_node_same(sub->u.var->extent, size);
}

static void
open_area(sys *s, const axe_node *load, area *a)
{
    const axe_tensor *t = load->u.tensor;
    sys_ex            step[AXE_SYSTOLIC_RANK], row = sys_c(1);

    *a = (area){.parts = sys_parts(s),
                .cols = sys_cols(s),
                .p0 = sys_c(0),
                .f0 = sys_c(0)};
    if (t->rank > AXE_SYSTOLIC_RANK) {
        sys_fail(s, load->at, "use fewer", "%s has more than %d dimensions",
                 t->name, AXE_SYSTOLIC_RANK);
        return;
    }
    for (int d = t->rank - 1; d >= 0; d--) {
        step[d] = row;
        row = sys_mul(s, row, sys_of(s, t->shape[d]));
    }
    a->off = offset_of(s, load, step);
    a->ps = step_of(s, load, s->P, step);
    a->fs = step_of(s, load, s->F, step);
    for (int d = 0; d < t->rank; d++)
        if (!is_sure(load, d))
            clip(s, load, d, a);
    a->off =
        sys_add(s, a->off,
                sys_add(s, sys_mul(s, a->p0, a->ps), sys_mul(s, a->f0, a->fs)));
}

static void
close_area(sys *s, area *a)
{
    while (a->n_if > 0)
        sys_end(s, a->opened[--a->n_if]);
}

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

/* The tile's elements that are in the area. */
static const char *
part_of(sys *s, const sys_val *v, const area *a)
{
    sys_val x = *v;

    if (!x.column)
        x.off = sys_add(s, x.off, sys_mul(s, a->f0, x.step));
    if (is_nil(a->p0))
        return sys_put(s, &x, a->parts, a->cols);
    return axe_textf(s->cx, "%s[%s, %s : %s, %s by %s]", x.name,
                     sys_text(s, a->p0), sys_text(s, x.off),
                     sys_text(s, a->parts),
                     sys_text(s, x.column ? sys_c(1) : a->cols),
                     sys_text(s, x.column ? sys_c(1) : x.step));
}

/* ----------------------------------------------------------------- turned */

/* dst[p, f ..] = src[.., p], n_f of them. */
static void
turn(sys *s, const sys_val *src, const sys_val *dst, sys_ex f, sys_ex n_f,
     sys_ex n_p)
{
    sys_val bank = sys_bank(s, src->type, 1), to = *dst;

    sys_line(s, "tensor nc_transpose %s, %s", sys_put(s, &bank, n_p, n_f),
             sys_put(s, src, n_f, n_p));
    to.off = sys_add(s, to.off, sys_mul(s, f, to.step));
    sys_copy(s, &to, &bank, n_p, n_f);
}

static void
fetch_turned_memory(sys *s, const axe_node *load, const area *a,
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
    turn(s, &rows, dst, f, n, a->parts);
    s->temp = mark;
    sys_end(s, opened);
}

/* Zeros where the access may leave the tensor: nowhere, if all is inside. */
static void
fill_outside(sys *s, const axe_node *load, const sys_val *dst)
{
    sys_val zero = {.kind = SYS_NUMBER};
    sys_ex  out = sys_c(0), one = sys_c(1), before;
    bool    opened, leaves = false;

    for (int d = 0; d < load->u.tensor->rank; d++) {
        if (is_sure(load, d) || !may_leave(s, load, d))
            continue;
        sys_ex all = names(load->arg[d], s->P)   ? sys_parts(s)
                     : names(load->arg[d], s->F) ? sys_cols(s)
                                                 : one;
        leaves = true;
        out = sys_add(s, out,
                      sys_sub(s, all, inside_of(s, load, d, all, &before)));
    }
    if (!leaves)
        return;
    sys_if(s, sys_min(s, one, out), &opened);
    sys_copy(s, dst, &zero, sys_parts(s), sys_cols(s));
    sys_end(s, opened);
}

static void
fetch_memory(sys *s, const axe_node *load, const sys_val *dst)
{
    const axe_tensor *t = load->u.tensor;
    area              a;

    fill_outside(s, load, dst);
    open_area(s, load, &a);
    if (s->st != AXE_OK)
        return;
    if (s->F && s->P && !is_one(a.fs) && is_one(a.ps) && !is_nil(a.fs) &&
        is_nil(a.p0) && is_nil(a.f0))
        fetch_turned_memory(s, load, &a, dst);
    else
        sys_line(
            s, "dma dma_copy %s, %s", part_of(s, dst, &a),
            memory(s, t, a.off, a.parts, a.ps, a.cols, s->F ? a.fs : sys_c(1)));
    close_area(s, &a);
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
    turn(s, &src, dst, f, n, sys_parts(s));
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
    area a;

    open_area(s, dst, &a);
    if (s->st != AXE_OK)
        return;
    sys_line(s, "dma dma_copy %s, %s",
             memory(s, dst->u.tensor, a.off, a.parts, s->P ? a.ps : sys_c(1),
                    a.cols, s->F ? a.fs : sys_c(1)),
             part_of(s, v, &a));
    close_area(s, &a);
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
