/* gather.c - elements whose place is computed: X[rows[m], n].
 *
 * The tensor is taken as rows: of all dimensions up to the computed one, and up
 * to that of the index over partitions if it lies behind.  Each partition takes
 * elements of a row of its own (dma_copy with vector_offset); which one is
 * computed before, by columns of f32:
 *
 *     x = coef * index + rest                      the computed subscript
 *     u = (x * rows of one + those of the others - n) * (x >= 0)
 *     u = u * (x < extent)                         but of the first dimension
 *     row = min(u, 0) + n                          n: no row, which is skipped
 *
 * A copy to a tile that has the row's elements over partitions takes whole
 * rows, and turns them by blocks of 128.
 *
 * Nothing depends on what a negative index does.  Rows and rest are below 2^24,
 * of which the simulator checks what is not known here, so that all is exact
 * where x is inside; and what is beyond stays beyond when it is rounded.  With
 * a rest of 2^24 the index -2^24 - 1, which f32 has not, would be of row 0. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

typedef struct rows {
    const axe_node *load;
    int             dim;   /* whose subscript is coef * index + rest */
    const axe_node *index; /* an element of an array of integers */
    int64_t         coef;
    const axe_node *rest;
    int             last; /* the last dimension that rows are of */
} rows;

bool
sys_is_gather(const axe_node *load)
{
    for (int d = 0; d < load->n_arg; d++)
        if (axe_node_loads(load->arg[d]))
            return true;
    return false;
}

/* ------------------------------------------------------------ the subscript */

static const axe_node *
no_widening(const axe_node *n)
{
    while (n->op == AXE_OP_cast && (n->type == AXE_TYPE_INDEX ||
                                    axe_type_widens(n->arg[0]->type, n->type)))
        n = n->arg[0];
    return n;
}

static void
fail(sys *s, const axe_node *at, const char *help)
{
    sys_fail(s, at->at, help,
             "%s: %s takes rows by one element of an array of integers, times "
             "a constant from 1, plus what is 0 or more",
             axe_node_text(s->cx, at), s->plan->machine->name);
}

/* The terms of the subscript: one is an element, the rest is numbers. */
static void
split_terms(sys *s, rows *g)
{
    const axe_node *sub = g->load->arg[g->dim];
    axe_affine      a;

    if (!axe_subscript_of(s->cx, sub, &a))
        a.n = 0;
    g->rest = axe_index_const(s->cx, a.n > 0 ? a.constant : 0);
    for (int i = 0; i < a.n; i++) {
        const axe_var  *v = a.var[i];
        const axe_node *n = v->kind == AXE_VAR_PART
                                ? v->extent
                                : axe_var_node(s->cx, sub->at, v);
        if (axe_is_computed(v)) {
            if (g->index)
                fail(s, sub, "add the arrays up in one before");
            g->index = no_widening(n);
            g->coef = a.coef[i];
            continue;
        }
        n = axe_node2(s->cx, AXE_OP_mul, n, axe_index_const(s->cx, a.coef[i]));
        g->rest = axe_node2(s->cx, AXE_OP_add, g->rest, n);
    }
    if (!g->index || g->index->op != AXE_OP_load || g->coef < 1 ||
        g->index->u.tensor->space != AXE_SPACE_GLOBAL ||
        axe_type_is_float(g->index->type) || !axe_is_nonneg(g->rest))
        fail(s, sub, "compute the index before, in an array of its own");
}

/* Rows of the tensor for P as it is bound; false: F is in them, too. */
static bool
set_last(const sys *s, rows *g)
{
    g->last = g->dim;
    for (int d = 0; d < g->load->n_arg; d++)
        if (d > g->last && sys_names(g->load->arg[d], s->P))
            g->last = d;
    for (int d = 0; d <= g->last; d++)
        if (sys_names(g->load->arg[d], s->F))
            return false;
    return true;
}

/* Elements of dimensions a .. b. */
static sys_ex
extent(sys *s, const axe_tensor *t, int a, int b)
{
    sys_ex out = sys_c(1);

    for (int d = b; d >= a; d--)
        out = sys_mul(s, out, sys_of(s, t->shape[d]));
    return out;
}

/* ------------------------------------------------------------------ the row */

/* offset + p * by in partition p: a number, or a column. */
static sys_val
column(sys *s, sys_ex offset, sys_ex by)
{
    if (!offset.t && sys_is(by, 0))
        return sys_number((double)offset.c);
    sys_val out = sys_temp(s, AXE_TYPE_f32, 1);
    sys_line(s,
             "gpsimd iota %s, pattern=[1 by 0], offset=%s, "
             "channel_multiplier=%s",
             sys_all(s, &out), sys_text(s, offset), sys_text(s, by));
    return out;
}

/* x * by + more, in f32; NULL: x itself. */
static sys_val
scaled(sys *s, const sys_val *x, sys_val by, sys_val more)
{
    bool    one = by.kind == SYS_NUMBER && by.number == 1;
    bool    nil = more.kind == SYS_NUMBER && more.number == 0;
    sys_val out;

    if (one && nil)
        return *x;
    out = sys_temp(s, AXE_TYPE_f32, 1);
    sys_line(s, "vector tensor_scalar %s, %s, op0=%s, operand0=%s%s%s",
             sys_all(s, &out), sys_all(s, x), one ? "add" : "multiply",
             sys_column(s, one ? more : by),
             one || nil ? "" : ", op1=add, operand1=",
             one || nil ? "" : sys_column(s, more));
    return out;
}

/* The element: a column, by indices of its own or not. */
static sys_val
fetch_index(sys *s, const axe_node *load)
{
    sys_val out = sys_temp(s, load->type, 1);

    if (sys_is_gather(load))
        sys_gather(s, load, &out);
    else
        sys_fetch_memory(s, load, &out);
    return out;
}

/* The subscript that is computed. */
static sys_val
subscript(sys *s, const rows *g)
{
    sys_val    index = fetch_index(s, g->index);
    axe_affine a;
    int64_t    by = 0;

    if (s->P && axe_affine_of(s->cx, g->rest, &a))
        by = axe_affine_coef(&a, s->P->v);
    sys_ex rest = sys_of(s, g->rest);
    if (!rest.t && rest.c >= AXE_TRN_EXACT)
        sys_fail(s, g->load->arg[g->dim]->at,
                 "add it to the indices before, in their array",
                 "%s: what is added is %d or more, and %s computes the sum in "
                 "f32",
                 axe_node_text(s->cx, g->load->arg[g->dim]), AXE_TRN_EXACT,
                 s->plan->machine->name);
    return scaled(s, &index, sys_number((double)g->coef),
                  column(s, rest, sys_c(by)));
}

/* u = u where x is inside of the dimension: of the first one that is where u is
 * below 0. */
static void
keep_inside(sys *s, const rows *g, const sys_val *x, const sys_val *u)
{
    const axe_tensor *t = g->load->u.tensor;
    const char       *to = sys_all(s, u);

    sys_line(s,
             "vector scalar_tensor_tensor %s, %s, %s, op0=greater_equal, "
             "operand0=0, op1=multiply",
             to, sys_all(s, x), to);
    if (g->dim == 0)
        return;
    sys_val end = column(s, sys_of(s, t->shape[g->dim]), sys_c(0));
    sys_line(s,
             "vector scalar_tensor_tensor %s, %s, %s, op0=less, operand0=%s, "
             "op1=multiply",
             to, sys_all(s, x), to, sys_column(s, end));
}

/* Which row each partition takes: a column of i32. */
static sys_val
row_of(sys *s, const rows *g)
{
    const axe_tensor *t = g->load->u.tensor;
    const sys_ex      zero = sys_c(0), n = extent(s, t, 0, g->last);
    sys_ex            step[AXE_SYSTOLIC_RANK];
    sys_val           x = subscript(s, g), out;

    for (int d = 0; d < t->rank; d++)
        step[d] =
            d > g->last || d == g->dim ? zero : extent(s, t, d + 1, g->last);
    sys_ex  off = sys_sub(s, sys_offset_of(s, g->load, step), n);
    sys_ex  by = sys_step_of(s, g->load, s->P, step);
    sys_val one = column(s, extent(s, t, g->dim + 1, g->last), zero);
    sys_val u = scaled(s, &x, one, column(s, off, by));
    keep_inside(s, g, &x, &u);
    sys_val none = column(s, n, zero);
    out = sys_temp(s, AXE_TYPE_i32, 1);
    sys_line(s,
             "vector tensor_scalar %s, %s, op0=minimum, operand0=0, op1=add, "
             "operand1=%s",
             sys_all(s, &out), sys_all(s, &u), sys_column(s, none));
    return out;
}

/* ------------------------------------------------------------- the transfer */

static void
take_rows(sys *s, const rows *g, const sys_val *dst)
{
    const axe_tensor *t = g->load->u.tensor;
    const sys_bind   *F = s->F;
    sys_val           none = sys_number(0), row;
    sys_area          a;

    sys_copy(s, dst, &none, sys_parts(s), sys_cols(s));
    s->F = NULL;
    row = row_of(s, g);
    s->F = F;
    sys_area_open(s, g->load, g->last + 1, &a);
    if (s->st != AXE_OK)
        return;
    sys_line(s,
             "dma dma_copy %s, %s[%s : %s by %s, %s by %s], "
             "vector_offset=%s[%s, %s : %s, 1 by 1], skip=1",
             sys_area_part(s, dst, &a), s->name[t->id], sys_text(s, a.off),
             sys_text(s, a.parts),
             sys_text(s, extent(s, t, g->last + 1, t->rank - 1)),
             sys_text(s, a.cols), sys_text(s, F ? a.fs : sys_c(1)), row.name,
             sys_text(s, a.p0), sys_text(s, row.off), sys_text(s, a.parts));
    sys_area_close(s, &a);
}

/* Rows with F over partitions, 128 at a time, which the tensor engine turns. */
static void
take_turned(sys *s, rows *g, const sys_val *dst)
{
    const sys_bind *P = s->P, *F = s->F;
    const int       n_bind = s->n_bind;
    bool            opened;
    sys_ex  fb = sys_for(s, "f", sys_up(s, F->count, AXE_SYSTOLIC_P), &opened);
    sys_ex  f = sys_mul(s, sys_c(AXE_SYSTOLIC_P), fb);
    sys_ex  n = sys_rest(s, F->count, f, AXE_SYSTOLIC_P, opened);
    int64_t mark = s->temp;
    sys_val tile = sys_temp(s, g->load->u.tensor->type, AXE_SYSTOLIC_P);

    s->P = sys_bind_to(s, F->v, sys_add(s, F->base, f), n);
    s->F = P;
    if (set_last(s, g))
        take_rows(s, g, &tile);
    else
        sys_fail(s, g->load->at,
                 "loop over one of the indices, or copy the elements to a "
                 "tile by another statement",
                 "%s: the elements of a partition are no part of a row",
                 axe_node_text(s->cx, g->load));
    s->n_bind = n_bind;
    s->P = P;
    s->F = F;
    sys_transpose(s, &tile, dst, f, n, sys_parts(s));
    s->temp = mark;
    sys_end(s, opened);
}

/* The dimension that is computed, and its terms; false: it was refused. */
static bool
find_rows(sys *s, const axe_node *load, rows *g)
{
    *g = (rows){.load = load, .dim = -1};
    for (int d = 0; d < load->n_arg; d++) {
        if (!axe_node_loads(load->arg[d]))
            continue;
        if (g->dim >= 0)
            sys_fail(s, load->at, "copy by one of them to an array before",
                     "%s: rows are taken by one subscript, and two are "
                     "computed",
                     axe_node_text(s->cx, load));
        g->dim = d;
    }
    if (load->u.tensor->rank > AXE_SYSTOLIC_RANK)
        sys_fail(s, load->at, "use fewer", "%s has more than %d dimensions",
                 load->u.tensor->name, AXE_SYSTOLIC_RANK);
    if (s->st == AXE_OK)
        split_terms(s, g);
    return s->st == AXE_OK;
}

void
sys_gather(sys *s, const axe_node *load, const sys_val *dst)
{
    rows g;

    if (!find_rows(s, load, &g))
        return;
    if (set_last(s, &g))
        take_rows(s, &g, dst);
    else
        take_turned(s, &g, dst);
}

/* ---------------------------------------------------------- whole rows */

/* Must the rows be turned, and is there room for them? */
static bool
is_turned(sys *s, rows *g, const axe_var *part, const axe_var *along,
          sys_ex n_part)
{
    const int64_t  left = axe_trn_memories[AXE_TRN_SBUF].bytes - s->temp;
    const sys_bind p = {.v = part}, f = {.v = along};
    bool           out;

    s->P = &p;
    s->F = &f;
    out = !set_last(s, g);
    s->P = &f;
    s->F = &p;
    out = out && set_last(s, g);
    s->P = s->F = NULL;
    return out && n_part.most < INT64_MAX / 8 &&
           4 * axe_type_bytes(g->load->u.tensor->type, n_part.most) < left;
}

bool
sys_gather_copy(sys *s, const axe_stmt *st, const axe_var *part,
                const axe_var *along)
{
    const axe_node *load = axe_systolic_load(st->value);
    bool      whole = load && (load == st->value || load == st->value->arg[0]);
    const int n_bind = s->n_bind;
    bool      a_open, p_open;
    rows      g;

    if (!whole || st->fold != AXE_FOLD_NONE || !part || !along ||
        st->dst->u.tensor->space == AXE_SPACE_GLOBAL ||
        load->u.tensor->space != AXE_SPACE_GLOBAL || !sys_is_gather(load) ||
        !find_rows(s, load, &g))
        return false;
    sys_ex n_part = sys_extent(s, st, part);
    if (!is_turned(s, &g, part, along, n_part))
        return false;
    const sys_bind *a = sys_bind_blocks(s, along, AXE_SYSTOLIC_P, &a_open);
    const axe_type  type = load->u.tensor->type;
    sys_val         tile = sys_temp(s, type, n_part.most), to;
    tile.column = false;
    s->P = a;
    s->F = sys_bind_to(s, part, sys_c(0), n_part);
    take_rows(s, &g, &tile);
    s->P = sys_bind_blocks(s, part, AXE_SYSTOLIC_P, &p_open);
    s->F = a;
    tile.off = s->P->base;
    if (sys_access(s, st->dst, &to) != SYS_FITS)
        sys_fail(s, st->dst->at, "give the tile other dimensions",
                 "%s: the index over partitions is not that of the tile",
                 axe_node_text(s->cx, st->dst));
    sys_transpose(s, &tile, &to, sys_c(0), a->count, sys_parts(s));
    sys_end(s, p_open);
    sys_end(s, a_open);
    s->n_bind = n_bind;
    s->P = s->F = NULL;
    return true;
}

/* -------------------------------------------------------------- the indices */

/* Is the tensor read, but in a subscript? */
static bool
is_value(const axe_node *n, const axe_tensor *t)
{
    if (!n)
        return false;
    if (n->op == AXE_OP_load)
        return n->u.tensor == t;
    for (int i = 0; i < n->n_arg; i++)
        if (is_value(n->arg[i], t))
            return true;
    return false;
}

static bool
is_used(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *st = body[i];
        if ((st->kind == AXE_STMT_INDEX &&
             (is_value(st->value, t) || is_value(st->dst, t))) ||
            is_value(st->cond, t) || is_used(st->n_body, st->body, t) ||
            is_used(st->n_other, st->other, t))
            return true;
    }
    return false;
}

bool
sys_is_index(const sys *s, const axe_tensor *t)
{
    return axe_trn_type_in(AXE_TRN_TYPES_INDEX, t->type) &&
           !is_used(s->k->n_body, s->k->body, t);
}
