/* value.c - element-wise statements: each operation one instruction over
 * (P, F), results on the way in f32.
 *
 * What does not change along F is a column, computed once for all of it.  A
 * reduction goes along F over its last index, and is a column. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/stmt.h"
#include "lower/systolic/sys.h"

typedef struct fn {
    axe_op           op;
    bool             two;
    axe_trn_function f;
    double           in, out;
} fn;

static const fn functions[] = {
#define BOTH(op, function) {AXE_OP_##op, true, AXE_TRN_FN_##function, 1, 1},
#define ONE(op, function, in, out)                                             \
    {AXE_OP_##op, false, AXE_TRN_FN_##function, in, out},
#include "lower/systolic/functions.def"
};

static const fn *
function_of(axe_op op)
{
    for (int i = 0; i < AXE_LEN(functions); i++)
        if (functions[i].op == op)
            return &functions[i];
    return NULL;
}

static void
unable(sys *s, const axe_node *n)
{
    sys_fail(s, n->at,
             "run the kernel on another machine, or compute it "
             "of add, multiply, exp, select and the like",
             "%s has no instruction for %s", s->plan->machine->name,
             axe_node_text(s->cx, n));
}

static sys_val
number(double x)
{
    return (sys_val){.kind = SYS_NUMBER, .number = x, .column = true};
}

static int64_t
width(const sys *s, bool column)
{
    return column || !s->F ? 1 : SYS_CHUNK;
}

/* Where the result goes: what is wanted, or a new tile. */
static sys_val
result(sys *s, const sys_val *want, bool column)
{
    if (want && column == want->column)
        return *want;
    return sys_temp(s, AXE_TYPE_f32, width(s, column));
}

static const char *
put(sys *s, const sys_val *v)
{
    return sys_put(s, v, sys_parts(s), sys_cols(s));
}

/* One number for each partition, as operands of two tiles want it: a number,
 * or a column of f32. */
static const char *
column(sys *s, sys_val v)
{
    if (v.kind == SYS_NUMBER)
        return axe_textf(s->cx, "%.17g", v.number);
    if (v.type != AXE_TYPE_f32) {
        sys_val wide = sys_temp(s, AXE_TYPE_f32, 1);
        sys_copy(s, &wide, &v, sys_parts(s), sys_c(1));
        v = wide;
    }
    return sys_put(s, &v, sys_parts(s), sys_c(1));
}

static sys_val
as_tile(sys *s, sys_val v, bool col)
{
    if (v.kind == SYS_TILE)
        return v;
    sys_val out = sys_temp(s, AXE_TYPE_f32, width(s, col));
    sys_copy(s, &out, &v, sys_parts(s), sys_cols(s));
    return out;
}

static void
busy(sys *s, axe_trn_engine e, double n)
{
    s->busy[e] += n * AXE_SYSTOLIC_N / axe_trn_engines[e].ghz;
}

/* f(a, b), element by element. */
static sys_val
both(sys *s, const char *f, sys_val a, sys_val b, const sys_val *want)
{
    bool    col = a.column && b.column;
    sys_val out = result(s, want, col);

    if (a.kind == SYS_NUMBER && b.kind == SYS_NUMBER)
        a = as_tile(s, a, true);
    if (a.psum && b.psum) { /* one of them may be there */
        sys_val c = sys_temp(s, AXE_TYPE_f32, width(s, a.column));
        sys_copy(s, &c, &a, sys_parts(s), sys_cols(s));
        a = c;
    }
    busy(s, AXE_TRN_vector, 1);
    if (b.kind == SYS_NUMBER || (b.column && !a.column))
        sys_line(s, "vector tensor_scalar %s, %s, op0=%s, operand0=%s",
                 put(s, &out), put(s, &a), f, column(s, b));
    else if (a.kind == SYS_NUMBER || (a.column && !b.column)) {
        const char *c = column(s, a);
        sys_line(s,
                 "vector tensor_scalar %s, %s, op0=%s, operand0=%s, "
                 "reverse0=1",
                 put(s, &out), put(s, &b), f, c);
    } else
        sys_line(s, "vector tensor_tensor %s, %s, %s, op=%s", put(s, &out),
                 put(s, &a), put(s, &b), f);
    return out;
}

/* -------------------------------------------------------------- functions */

static const axe_node *
no_widening(const axe_node *n)
{
    while (n->op == AXE_OP_cast && n->type == AXE_TYPE_f32 &&
           axe_type_is_float(n->arg[0]->type))
        n = n->arg[0];
    return n;
}

static bool
is_column(const sys *s, const axe_node *n)
{
    return !s->F || !axe_mentions(n, s->F->v);
}

/* Is it one number, whatever the sizes are? */
static bool
is_number(const axe_node *n, double *out)
{
    double  arg[3];
    int64_t c;

    if (axe_is_iconst(n, &c)) {
        *out = (double)c;
        return true;
    }
    if (n->op == AXE_OP_fconst) {
        *out = n->u.f;
        return true;
    }
    if (n->n_arg < 1 || n->n_arg > 3 || n->op == AXE_OP_load)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_number(n->arg[i], &arg[i]))
            return false;
    if (n->op == AXE_OP_cast && axe_type_is_float(n->type)) {
        *out = arg[0];
        return true;
    }
    return axe_type_is_float(n->type) && axe_real_op(n->op, arg, out);
}

/* x is u times a number: u, and the number is a part of *scale. */
static const axe_node *
no_scale(const axe_node *x, double *scale)
{
    double c;

    for (int i = 0; x->op == AXE_OP_mul && i < 2; i++)
        if (is_number(x->arg[i], &c)) {
            *scale *= c;
            return no_widening(x->arg[1 - i]);
        }
    return x;
}

/* act(in * x): where x is u * scale +- column, the engine does that as well.
 * sum  what it adds up to along F, or NULL */
static sys_val
act(sys *s, const axe_node *n, const fn *f, const sys_val *want,
    const sys_val *sum)
{
    double          scale = f->in;
    const axe_node *x = no_scale(no_widening(n->arg[0]), &scale);
    const char     *bias = "", *by;
    sys_val         u;

    if ((x->op == AXE_OP_sub || x->op == AXE_OP_add) &&
        is_column(s, x->arg[1]) && !is_column(s, x->arg[0])) {
        sys_val c = sys_value(s, x->arg[1], NULL);
        double  sign = x->op == AXE_OP_sub ? -scale : scale;
        sys_val b = sys_temp(s, AXE_TYPE_f32, 1);
        if (c.kind == SYS_NUMBER) {
            c.number *= sign;
            sys_copy(s, &b, &c, sys_parts(s), sys_c(1));
        } else
            sys_line(s,
                     "vector tensor_scalar %s, %s, op0=multiply, "
                     "operand0=%.17g",
                     sys_put(s, &b, sys_parts(s), sys_c(1)),
                     sys_put(s, &c, sys_parts(s), sys_c(1)), sign);
        bias = axe_textf(s->cx, ", bias=%s",
                         sys_put(s, &b, sys_parts(s), sys_c(1)));
        x = no_scale(no_widening(x->arg[0]), &scale);
    }
    u = as_tile(s, sys_value(s, x, NULL), is_column(s, x));
    sys_val out = result(s, f->out == 1 ? want : NULL, u.column);
    by = scale == 1 ? "" : axe_textf(s->cx, ", scale=%.17g", scale);
    if (sum)
        sys_line(s,
                 "scalar activation_reduce %s, %s, %s, op=%s, "
                 "reduce_op=add%s%s",
                 put(s, &out), put(s, &u),
                 sys_put(s, sum, sys_parts(s), sys_c(1)),
                 axe_trn_functions[f->f].name, bias, by);
    else
        sys_line(s, "scalar activation %s, %s, op=%s%s%s", put(s, &out),
                 put(s, &u), axe_trn_functions[f->f].name, bias, by);
    busy(s, AXE_TRN_scalar, 1);
    return f->out == 1 ? out : both(s, "multiply", out, number(f->out), want);
}

/* ------------------------------------------------------------------ choice */

/* v where the comparison of indices holds (no: does not), else `other`. */
static sys_val
keep_where(sys *s, const axe_node *c, bool no, sys_val v, double other,
           const sys_val *want)
{
    axe_affine a;

    bool strict = c->op == AXE_OP_lt;
    if ((!strict && c->op != AXE_OP_le) || axe_type_is_float(c->arg[0]->type) ||
        !axe_affine_of(
            s->cx, axe_node2(s->cx, AXE_OP_sub, c->arg[1], c->arg[0]), &a)) {
        unable(s, c);
        return v;
    }
    sys_ex by_p = sys_c(s->P ? axe_affine_coef(&a, s->P->v) : 0);
    sys_ex by_f = sys_c(s->F ? axe_affine_coef(&a, s->F->v) : 0);
    sys_ex off = sys_sub(s, sys_of(s, c->arg[1]), sys_of(s, c->arg[0]));
    bool   col = v.column && by_f.c == 0;
    if (v.psum || (v.column && !col)) { /* it is in SBUF, and as wide */
        sys_val w = sys_temp(s, AXE_TYPE_f32, width(s, false));
        sys_val one = {.kind = SYS_NUMBER, .number = 0};
        if (v.column) {
            sys_copy(s, &w, &one, sys_parts(s), sys_cols(s));
            w = both(s, "add", w, v, NULL);
        } else
            sys_copy(s, &w, &v, sys_parts(s), sys_cols(s));
        v = w;
    }
    sys_val out = result(s, want && !want->psum ? want : NULL, col);
    sys_line(s,
             "gpsimd affine_select %s, %s, pattern=[%s by %s], "
             "on_false_value=%.17g, cmp_op=%s, offset=%s, "
             "channel_multiplier=%s",
             put(s, &out), put(s, &v),
             sys_text(s, col ? sys_c(1) : sys_cols(s)), sys_text(s, by_f),
             other,
             no       ? strict ? "less_equal" : "less"
             : strict ? "greater"
                      : "greater_equal",
             sys_text(s, off), sys_text(s, by_p));
    return out;
}

/* cond ? x : y, where the condition (no: its negation) is of indices: one
 * comparison after the other. */
static sys_val
pick(sys *s, const axe_node *c, bool no, sys_val x, sys_val y,
     const sys_val *want)
{
    if (c->op == AXE_OP_not)
        return pick(s, c->arg[0], !no, x, y, want);
    if (c->op == AXE_OP_and || c->op == AXE_OP_or) {
        sys_val in = pick(s, c->arg[1], no, x, y, NULL);
        return (c->op == AXE_OP_and) != no
                   ? pick(s, c->arg[0], no, in, y, want)
                   : pick(s, c->arg[0], no, x, in, want);
    }
    if (y.kind == SYS_NUMBER)
        return keep_where(s, c, no, as_tile(s, x, false), y.number, want);
    if (x.kind == SYS_NUMBER)
        return keep_where(s, c, !no, y, x.number, want);
    x = keep_where(s, c, no, x, 0, NULL);
    y = keep_where(s, c, !no, y, 0, NULL);
    return both(s, "add", x, y, want);
}

static sys_val
choose(sys *s, const axe_node *n, const sys_val *want)
{
    if (axe_node_loads(n->arg[0])) {
        unable(s, n);
        return number(0);
    }
    return pick(s, n->arg[0], false, sys_value(s, n->arg[1], NULL),
                sys_value(s, n->arg[2], NULL), want);
}

/* --------------------------------------------------------------- reduction */

static const char *
fold_name(axe_fold f)
{
    static const char *const name[] = {"", "add", "multiply", "maximum",
                                       "minimum"};

    return name[f];
}

/* part = the fold of the values along F. */
static void
fold_tile(sys *s, const axe_node *n, const sys_val *part)
{
    const axe_node *body = no_widening(n->arg[0]);
    const fn       *f = function_of(body->op);

    if (f && !f->two && f->out == 1 && n->u.reduce.fold == AXE_FOLD_SUM &&
        !is_column(s, body)) {
        act(s, body, f, NULL, part);
        return;
    }
    sys_val x = as_tile(s, sys_value(s, n->arg[0], NULL), false);
    if (x.column) { /* the same for all: as often */
        sys_val w = sys_temp(s, AXE_TYPE_f32, SYS_CHUNK);
        sys_val zero = number(0);
        sys_copy(s, &w, &zero, sys_parts(s), sys_cols(s));
        x = both(s, "add", w, x, NULL);
    }
    sys_line(s, "vector tensor_reduce %s, %s, op=%s",
             sys_put(s, part, sys_parts(s), sys_c(1)), put(s, &x),
             fold_name(n->u.reduce.fold));
    busy(s, AXE_TRN_vector, 1);
}

static sys_val
fold_once(sys *s, const axe_node *n, const axe_var *v, const sys_bind *F)
{
    int     n_bind = s->n_bind;
    sys_val out = sys_temp(s, AXE_TYPE_f32, 1);

    s->F = sys_bind_to(s, v, sys_c(0), sys_extent(s, s->s, v));
    fold_tile(s, n, &out);
    s->n_bind = n_bind;
    s->F = F;
    return out;
}

static sys_val
fold(sys *s, const axe_node *n)
{
    const sys_bind *F = s->F;
    int     n_bind = s->n_bind, last = n->u.reduce.n_over - 1, n_open = 0;
    bool    opened[SYS_MAX_BIND], chunked;
    sys_val acc = sys_temp(s, AXE_TYPE_f32, 1);
    const axe_node *unit = axe_fold_unit(s->cx, n->u.reduce.fold, AXE_TYPE_f32);
    double          u = unit->op == AXE_OP_fconst ? unit->u.f : 0;
    sys_val         first = number(isinf(u) ? copysign((double)FLT_MAX, u) : u);
    const axe_var  *v = n->u.reduce.over[last];

    if (F && axe_mentions(n, F->v))
        unable(s, n);
    s->F = NULL;
    /* One chunk is all: nothing to add it to. */
    if (n->u.reduce.n_over == 1 && sys_extent(s, s->s, v).most <= SYS_CHUNK)
        return fold_once(s, n, v, F);
    sys_copy(s, &acc, &first, sys_parts(s), sys_c(1));
    for (int i = 0; i < n->u.reduce.n_over; i++)
        if (i != last) {
            axe_dim d = {n->u.reduce.over[i], n->u.reduce.extent[i]};
            n_open += sys_open(s, 1, &d, &opened[n_open]);
        }
    sys_ex e = sys_extent(s, s->s, v);
    sys_ex c = sys_for(s, v->name, sys_up(s, e, SYS_CHUNK), &chunked);
    sys_ex base = sys_mul(s, sys_c(SYS_CHUNK), c);
    s->F = sys_bind_to(s, v, base, sys_rest(s, e, base, SYS_CHUNK, chunked));
    sys_val part = sys_temp(s, AXE_TYPE_f32, 1);
    fold_tile(s, n, &part);
    const char *to = sys_put(s, &acc, sys_parts(s), sys_c(1));
    sys_line(s, "vector tensor_tensor %s, %s, %s, op=%s", to, to,
             sys_put(s, &part, sys_parts(s), sys_c(1)),
             fold_name(n->u.reduce.fold));
    busy(s, AXE_TRN_vector, 1);
    sys_end(s, chunked);
    sys_close(s, n_open, opened, n_bind);
    s->F = F;
    return acc;
}

/* ------------------------------------------------------------------ values */

/* A number of sizes, loops and indices, as f32. */
static sys_val
from_index(sys *s, const axe_node *n)
{
    axe_affine a;

    if (!axe_affine_of(s->cx, n, &a)) {
        unable(s, n);
        return number(0);
    }
    int64_t by_p = s->P ? axe_affine_coef(&a, s->P->v) : 0;
    int64_t by_f = s->F ? axe_affine_coef(&a, s->F->v) : 0;
    sys_val out = sys_temp(s, AXE_TYPE_f32, width(s, by_f == 0));
    sys_line(s,
             "gpsimd iota %s, pattern=[%s by %lld], offset=%s, "
             "channel_multiplier=%lld",
             put(s, &out), sys_text(s, by_f == 0 ? sys_c(1) : sys_cols(s)),
             (long long)by_f, sys_text(s, sys_of(s, n)), (long long)by_p);
    return out;
}

static sys_val
fresh(sys *s, const axe_node *n, const sys_val *want)
{
    const fn *f = function_of(n->op);
    double    c;

    if (is_number(n, &c))
        return number(c);
    if (n->op == AXE_OP_cast && axe_type_is_float(n->type) &&
        n->arg[0]->type == AXE_TYPE_INDEX)
        return from_index(s, n->arg[0]);
    if (!axe_type_is_float(n->type) && n->op != AXE_OP_load &&
        n->op != AXE_OP_cast) {
        unable(s, n);
        return number(0);
    }
    if (n->op == AXE_OP_load) {
        const axe_tensor *t = n->u.tensor;
        sys_val           at;
        if (!want || want->type != t->type || want->psum || !s->F ||
            (t->space != AXE_SPACE_GLOBAL && sys_access(s, n, &at) == SYS_FITS))
            return sys_fetch(s, n);
        sys_fetch_into(s, n, want);
        return *want;
    }
    if (n->op == AXE_OP_reduce)
        return fold(s, n);
    if (n->op == AXE_OP_select)
        return choose(s, n, want);
    if (n->op == AXE_OP_fma)
        return both(s, "add",
                    both(s, "multiply", sys_value(s, n->arg[0], NULL),
                         sys_value(s, n->arg[1], NULL), NULL),
                    sys_value(s, n->arg[2], NULL), want);
    if (n->op == AXE_OP_cast &&
        (axe_type_is_float(n->arg[0]->type) || axe_type_is_float(n->type))) {
        sys_val x = sys_value(s, n->arg[0],
                              want && want->type == n->type ? want : NULL);
        if (x.kind == SYS_NUMBER || x.type == n->type ||
            axe_type_widens(x.type, n->type))
            return x;
        sys_val out = want && want->type == n->type && x.column == want->column
                          ? *want
                          : sys_temp(s, n->type, width(s, x.column));
        sys_copy(s, &out, &x, sys_parts(s), sys_cols(s));
        return out;
    }
    if (f && f->two)
        return both(s, axe_trn_functions[f->f].name,
                    sys_value(s, n->arg[0], NULL),
                    sys_value(s, n->arg[1], NULL), want);
    if (f)
        return act(s, n, f, want, NULL);
    unable(s, n);
    return number(0);
}

static const sys_known *
known(const sys *s, const axe_node *n)
{
    for (int i = s->n_known - 1; i >= 0; i--)
        if (axe_node_same(s->known[i].node, n))
            return &s->known[i];
    return NULL;
}

sys_val
sys_value(sys *s, const axe_node *n, const sys_val *want)
{
    const sys_bind  *F = s->F;
    const sys_known *k = known(s, n);
    bool             col = is_column(s, n);
    int              depth = s->depth;
    sys_val          out;

    if (s->st != AXE_OK)
        return number(0);
    if (k)
        return k->val;
    if (col)
        s->F = NULL;
    out = fresh(s, n, col && F ? NULL : want);
    s->F = F;
    if (col)
        out.column = true;
    if (s->n_known < SYS_MAX_KNOWN && out.kind == SYS_TILE && !want)
        s->known[s->n_known++] = (sys_known){n, col, depth, out};
    return out;
}

/* A column as all of F. */
void
sys_spread(sys *s, const sys_val *to, const sys_val *v)
{
    sys_val zero = number(0);

    sys_copy(s, to, &zero, sys_parts(s), sys_cols(s));
    both(s, "add", *to, *v, to);
}
