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
    u = sys_as_tile(s, sys_value(s, x, NULL), is_column(s, x));
    sys_val out = sys_result(s, f->out == 1 ? want : NULL, u.column);
    by = scale == 1 ? "" : axe_textf(s->cx, ", scale=%.17g", scale);
    if (sum)
        sys_line(s,
                 "scalar activation_reduce %s, %s, %s, op=%s, "
                 "reduce_op=add%s%s",
                 sys_all(s, &out), sys_all(s, &u),
                 sys_put(s, sum, sys_parts(s), sys_c(1)),
                 axe_trn_functions[f->f].name, bias, by);
    else
        sys_line(s, "scalar activation %s, %s, op=%s%s%s", sys_all(s, &out),
                 sys_all(s, &u), axe_trn_functions[f->f].name, bias, by);
    sys_busy(s, AXE_TRN_scalar, 1);
    return f->out == 1 ? out
                       : sys_both(s, "multiply", out, sys_number(f->out), want);
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
    sys_val x = sys_as_tile(s, sys_value(s, n->arg[0], NULL), false);
    if (x.column) { /* the same for all: as often */
        sys_val w = sys_temp(s, AXE_TYPE_f32, SYS_CHUNK);
        sys_val zero = sys_number(0);
        sys_copy(s, &w, &zero, sys_parts(s), sys_cols(s));
        x = sys_both(s, "add", w, x, NULL);
    }
    sys_line(s, "vector tensor_reduce %s, %s, op=%s",
             sys_put(s, part, sys_parts(s), sys_c(1)), sys_all(s, &x),
             fold_name(n->u.reduce.fold));
    sys_busy(s, AXE_TRN_vector, 1);
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
    sys_val first = sys_number(isinf(u) ? copysign((double)FLT_MAX, u) : u);
    const axe_var *v = n->u.reduce.over[last];

    if (F && axe_mentions(n, F->v))
        sys_unable(s, n);
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
    sys_busy(s, AXE_TRN_vector, 1);
    sys_end(s, chunked);
    sys_close(s, n_open, opened, n_bind);
    s->F = F;
    return acc;
}

/* ------------------------------------------------------------------ values */

/* The sums along F that statement `id` leaves for another one, for the block of
 * P. */
static sys_val
sums_of(sys *s, int id)
{
    return (sys_val){.kind = SYS_TILE,
                     .name = s->sum[id],
                     .off = s->P->block,
                     .step = sys_c(1),
                     .type = AXE_TYPE_f32,
                     .column = true};
}

/* Was the fold made with the values of a statement before? */
static bool
is_made(const sys *s, const axe_node *n, int *id)
{
    for (int i = 0; i < s->k->n_index_stmt; i++) {
        const axe_systolic_step *x = &s->plan->systolic->step[i];
        if (s->sum[i] && x->summed == s->s && axe_node_same(x->sum, n) &&
            s->P && s->P->v == x->part) {
            *id = i;
            return true;
        }
    }
    return false;
}

bool
sys_adds_up(const axe_node *n)
{
    const fn *f = function_of(n->op);

    return f && !f->two && f->out == 1;
}

/* A number of sizes, loops and indices, as f32. */
static sys_val
from_index(sys *s, const axe_node *n)
{
    axe_affine a;

    if (!axe_affine_of(s->cx, n, &a)) {
        sys_unable(s, n);
        return sys_number(0);
    }
    int64_t by_p = s->P ? axe_affine_coef(&a, s->P->v) : 0;
    int64_t by_f = s->F ? axe_affine_coef(&a, s->F->v) : 0;
    sys_val out = sys_temp(s, AXE_TYPE_f32, sys_width(s, by_f == 0));
    sys_line(s,
             "gpsimd iota %s, pattern=[%s by %lld], offset=%s, "
             "channel_multiplier=%lld",
             sys_all(s, &out), sys_text(s, by_f == 0 ? sys_c(1) : sys_cols(s)),
             (long long)by_f, sys_text(s, sys_of(s, n)), (long long)by_p);
    return out;
}

/* No instruction divides: what is divided by a number is multiplied by another,
 * else by a reciprocal, a value of its own that several may use. */
static sys_val
quotient(sys *s, const axe_node *n, const sys_val *want)
{
    const axe_node *x = n->arg[0], *y = n->arg[1];
    double          by, c;

    if (is_number(y, &by))
        return sys_both(s, "multiply", sys_value(s, x, NULL),
                        sys_number(1 / by), want);
    if (is_number(x, &c) && c == 1)
        return sys_inverse(s, sys_value(s, y, NULL), want);
    const axe_node *one = axe_fconst(s->cx, n->at, n->type, 1);
    const axe_node *r = axe_node2(s->cx, AXE_OP_div, one, y);
    sys_val         a = sys_value(s, x, NULL);
    return sys_both(s, "multiply", a, sys_value(s, r, NULL), want);
}

static const sys_known *
known(const sys *s, const axe_node *n)
{
    for (int i = s->n_known - 1; i >= 0; i--)
        if (axe_node_same(s->known[i].node, n))
            return &s->known[i];
    return NULL;
}

static bool
is_two(const axe_node *n)
{
    const fn *f = function_of(n->op);

    return f && f->two;
}

/* Is it the same if both are exchanged? */
static bool
commutes(axe_op op)
{
    return op != AXE_OP_sub;
}

static const char *
name_of(axe_op op)
{
    return axe_trn_functions[function_of(op)->f].name;
}

/* (u f c) g y, where c is a number or a column, in one instruction.  The
 * operand of n that is (u f c), and that of it which is c; false: there is
 * none. */
static bool
find_chain(const sys *s, const axe_node *n, int *of_n, int *of_x)
{
    double c;

    for (int i = 0; i < 2; i++) {
        const axe_node *x = no_widening(n->arg[i]), *y = n->arg[1 - i];
        if (!is_two(x) || known(s, x) || is_number(y, &c) ||
            is_column(s, y) != is_column(s, n))
            continue;
        for (int k = 1; k >= 0; k--)
            if ((is_number(x->arg[k], &c) || is_column(s, x->arg[k])) &&
                !is_number(x->arg[1 - k], &c) &&
                is_column(s, x->arg[1 - k]) == is_column(s, n)) {
                *of_n = i;
                *of_x = k;
                return true;
            }
    }
    return false;
}

static sys_val
chain(sys *s, const axe_node *n, int of_n, int of_x, const sys_val *want)
{
    const axe_node *x = no_widening(n->arg[of_n]);
    sys_val u = sys_as_tile(s, sys_value(s, x->arg[1 - of_x], NULL), false);
    sys_val c = sys_value(s, x->arg[of_x], NULL);
    sys_val y = sys_as_tile(s, sys_value(s, n->arg[1 - of_n], NULL), false);

    if (u.psum && y.psum) { /* one of them may be there */
        sys_val t = sys_temp(s, AXE_TYPE_f32, sys_width(s, y.column));
        sys_copy(s, &t, &y, sys_parts(s), sys_cols(s));
        y = t;
    }
    const char *by = sys_column(s, c);
    sys_val     out = sys_result(s, want, u.column);
    sys_line(s,
             "vector scalar_tensor_tensor %s, %s, %s, op0=%s, operand0=%s, "
             "op1=%s%s%s",
             sys_all(s, &out), sys_all(s, &u), sys_all(s, &y), name_of(x->op),
             by, name_of(n->op),
             of_x == 0 && !commutes(x->op) ? ", reverse0=1" : "",
             of_n == 1 && !commutes(n->op) ? ", reverse1=1" : "");
    sys_busy(s, AXE_TRN_vector, 1);
    return out;
}

static sys_val
fresh(sys *s, const axe_node *n, const sys_val *want)
{
    const fn *f = function_of(n->op);
    double    c;
    int       id, of_n, of_x;

    if (is_number(n, &c))
        return sys_number(c);
    if (n->op == AXE_OP_cast && axe_type_is_float(n->type) &&
        n->arg[0]->type == AXE_TYPE_INDEX)
        return from_index(s, n->arg[0]);
    if (!axe_type_is_float(n->type) && n->op != AXE_OP_load &&
        n->op != AXE_OP_cast) {
        sys_unable(s, n);
        return sys_number(0);
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
    if (n->op == AXE_OP_reduce && is_made(s, n, &id))
        return sums_of(s, id);
    if (n->op == AXE_OP_reduce)
        return fold(s, n);
    if (n->op == AXE_OP_select)
        return sys_choose(s, n, sys_value(s, n->arg[1], NULL),
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
                          : sys_temp(s, n->type, sys_width(s, x.column));
        sys_copy(s, &out, &x, sys_parts(s), sys_cols(s));
        return out;
    }
    if (n->op == AXE_OP_div)
        return quotient(s, n, want);
    if (f && f->two && find_chain(s, n, &of_n, &of_x))
        return chain(s, n, of_n, of_x, want);
    if (f && f->two)
        return sys_both(s, axe_trn_functions[f->f].name,
                        sys_value(s, n->arg[0], NULL),
                        sys_value(s, n->arg[1], NULL), want);
    if (f && n == s->summing) {
        sys_val sum = sums_of(s, s->s->id);
        return act(s, n, f, want, &sum);
    }
    if (f)
        return act(s, n, f, want, NULL);
    sys_unable(s, n);
    return sys_number(0);
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
        return sys_number(0);
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
    sys_val zero = sys_number(0);

    sys_copy(s, to, &zero, sys_parts(s), sys_cols(s));
    sys_both(s, "add", *to, *v, to);
}
