/* area.c - what of an access is inside of its tensor in device memory.
 *
 * Subscripts that leave the tensor end P or F, or the access is not done at
 * all; what is read there is zero. */
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

sys_ex
sys_step_of(sys *s, const axe_node *load, const sys_bind *b, const sys_ex *step)
{
    sys_ex     out = sys_c(0);
    axe_affine a;

    for (int d = 0; b && d < load->n_arg; d++) {
        if (sys_is(step[d], 0) || !axe_mentions(load->arg[d], b->v))
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

sys_ex
sys_offset_of(sys *s, const axe_node *load, const sys_ex *step)
{
    sys_ex out = sys_c(0);

    for (int d = 0; d < load->n_arg; d++)
        if (!sys_is(step[d], 0))
            out = sys_add(s, out, sys_mul(s, sys_of(s, load->arg[d]), step[d]));
    return out;
}

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
    const sys_bind *b = sys_names(load->arg[d], s->P)   ? s->P
                        : sys_names(load->arg[d], s->F) ? s->F
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
clip(sys *s, const axe_node *load, int d, sys_area *a)
{
    bool   p = sys_names(load->arg[d], s->P), f = sys_names(load->arg[d], s->F);
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

void
sys_area_open(sys *s, const axe_node *load, int from, sys_area *a)
{
    const axe_tensor *t = load->u.tensor;
    sys_ex            step[AXE_SYSTOLIC_RANK], row = sys_c(1);

    *a = (sys_area){.parts = sys_parts(s),
                    .cols = sys_cols(s),
                    .p0 = sys_c(0),
                    .f0 = sys_c(0)};
    if (t->rank > AXE_SYSTOLIC_RANK) {
        sys_fail(s, load->at, "use fewer", "%s has more than %d dimensions",
                 t->name, AXE_SYSTOLIC_RANK);
        return;
    }
    for (int d = t->rank - 1; d >= 0; d--) {
        step[d] = d < from ? sys_c(0) : row;
        row = sys_mul(s, row, sys_of(s, t->shape[d]));
    }
    a->off = sys_offset_of(s, load, step);
    a->ps = sys_step_of(s, load, s->P, step);
    a->fs = sys_step_of(s, load, s->F, step);
    for (int d = 0; d < t->rank; d++)
        if (!is_sure(load, d) && !axe_node_loads(load->arg[d]))
            clip(s, load, d, a);
    a->off =
        sys_add(s, a->off,
                sys_add(s, sys_mul(s, a->p0, a->ps), sys_mul(s, a->f0, a->fs)));
}

void
sys_area_close(sys *s, sys_area *a)
{
    while (a->n_if > 0)
        sys_end(s, a->opened[--a->n_if]);
}

const char *
sys_area_part(sys *s, const sys_val *v, const sys_area *a)
{
    sys_val x = *v;

    if (!x.column)
        x.off = sys_add(s, x.off, sys_mul(s, a->f0, x.step));
    if (sys_is(a->p0, 0))
        return sys_put(s, &x, a->parts, a->cols);
    return axe_textf(s->cx, "%s[%s, %s : %s, %s by %s]", x.name,
                     sys_text(s, a->p0), sys_text(s, x.off),
                     sys_text(s, a->parts),
                     sys_text(s, x.column ? sys_c(1) : a->cols),
                     sys_text(s, x.column ? sys_c(1) : x.step));
}

void
sys_fill_outside(sys *s, const axe_node *load, const sys_val *dst)
{
    sys_val zero = {.kind = SYS_NUMBER};
    sys_ex  out = sys_c(0), one = sys_c(1), before;
    bool    opened, leaves = false;

    for (int d = 0; d < load->u.tensor->rank; d++) {
        if (is_sure(load, d) || !may_leave(s, load, d))
            continue;
        sys_ex all = sys_names(load->arg[d], s->P)   ? sys_parts(s)
                     : sys_names(load->arg[d], s->F) ? sys_cols(s)
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
