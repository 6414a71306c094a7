/* distribute.c - who does which part of a statement; see distribute.h.
 *
 * Indices that no register operand has distributed are distributed to the
 * threads that are left: neighbours in memory to one thread as far as a vector
 * goes, then to lanes; other indices to warps first; what remains are
 * iterations, written out while registers last, of constant extents first.  Of
 * those known at launch only the slower ones are, as threads and vectors may be
 * all that the fastest has. */
#include "plan/simt/map/distribute.h"

#include "plan/access/access.h"
#include "plan/simt/map/map.h"
#include <inttypes.h>

enum { MAX_ITERATION = 16, MAX_FACTOR = 1024, AHEAD = 4 };

/* ------------------------------------------------------------------- start */

static axe_status
add_dim(axe_distribution *d, const axe_dim *dim, bool reduced)
{
    for (int i = 0; i < d->n_dim; i++) {
        const axe_dim *old = d->dim[i].dim;
        if (old->var != dim->var)
            continue;
        if (axe_node_same(old->extent, dim->extent))
            return AXE_OK;
        return axe_fail(d->p->cx, d->r->stmt->at, AXE_EUNSUPPORTED,
                        "index %s runs over %s and over %s here; use two",
                        dim->var->name, axe_node_text(d->p->cx, old->extent),
                        axe_node_text(d->p->cx, dim->extent));
    }
    if (d->n_dim == MAX_DIM)
        return axe_fail(d->p->cx, d->r->stmt->at, AXE_ELIMIT,
                        "a statement for threads has at most %d indices",
                        MAX_DIM);
    d->dim[d->n_dim++] = (axe_share){.dim = dim, .reduced = reduced, .done = 1};
    return AXE_OK;
}

static axe_status
begin(axe_distribution *d)
{
    d->n_part = axe_threads_axes(d->p->simt, d->threads, d->part);
    if (d->r->share > 1)
        d->part[d->n_part++] =
            (axe_iter){d->r->share, 1, d->p->simt->cta, AXE_UNIT_ONE};
    for (int k = 0; k < d->r->n_nest; k++)
        for (int i = 0; i < d->r->nest[k].n_dim; i++)
            AXE_TRY(add_dim(d, &d->r->nest[k].dim[i], k > 0));
    return AXE_OK;
}

/* ------------------------------------------------------------- distribution */

/* How far a step of v moves an operand in memory; 0: not, or not by one
 * stride. */
static axe_stride
step_of(const axe_operand *op, const axe_var *v)
{
    axe_iter it;

    if (!axe_fast_iter(op, v, 1, 1, &it))
        return (axe_stride){0, AXE_UNIT_ONE};
    return (axe_stride){it.stride, it.unit};
}

/* The operand whose memory order the threads follow: global before shared, more
 * indices before fewer, the destination before sources. */
static const axe_operand *
find_guide(const axe_distribution *d)
{
    const axe_operand *best = NULL;
    int                most = -1;

    for (int i = 0; i < d->r->n_operand; i++) {
        const axe_operand *op = &d->r->operand[i];
        int                n = op->tensor->space == AXE_SPACE_GLOBAL;
        if (op->tensor->space == AXE_SPACE_REG)
            continue;
        for (int k = 0; k < d->n_dim; k++)
            n += 2 * (step_of(op, d->dim[k].dim->var).coef != 0);
        if (n > most) {
            best = op;
            most = n;
        }
    }
    return best;
}

/* Is a the smaller step?  One that does not move is the largest. */
static bool
steps_less(axe_ctx *cx, axe_stride a, axe_stride b)
{
    int na = axe_unit_n_factor(cx, a.unit), nb = axe_unit_n_factor(cx, b.unit);

    if (a.coef == 0 || b.coef == 0)
        return a.coef != 0;
    if (na != nb)
        return na < nb;
    return (a.coef < 0 ? -a.coef : a.coef) < (b.coef < 0 ? -b.coef : b.coef);
}

static void
order_dims(axe_distribution *d)
{
    const axe_operand *g = find_guide(d);

    for (int i = 0; i < d->n_dim; i++) {
        int        k = i;
        axe_stride s = {0, AXE_UNIT_ONE};
        if (g)
            s = step_of(g, d->dim[i].dim->var);
        for (; k > 0; k--) {
            const axe_var *v = d->dim[d->order[k - 1]].dim->var;
            bool less = g ? steps_less(d->p->cx, s, step_of(g, v)) : true;
            if (!less)
                break;
            d->order[k] = d->order[k - 1];
        }
        d->order[k] = i;
    }
}

/* Points of the statement and its reductions; INT64_MAX if known at launch. */
static int64_t
domain(const axe_distribution *d)
{
    int64_t n = 1, e;

    for (int i = 0; i < d->n_dim; i++) {
        e = axe_dim_extent(d->dim[i].dim);
        if (e == 0 || !axe_mul(n, e, &n))
            return INT64_MAX;
    }
    return n;
}

static int64_t
distributed(const axe_distribution *d)
{
    int64_t n = 1;

    for (int i = 0; i < d->n_dim; i++)
        n *= d->dim[i].done;
    return n;
}

/* Of each end of a digit in the term and w, is one a multiple of the other? */
static bool
ends_with(const axe_term *term, int64_t w)
{
    int64_t b = 1;

    for (int k = term->n_iter - 1; k > 0; k--) {
        b *= term->iter[k].extent;
        if (w > b ? w % b != 0 : b % w != 0)
            return false;
    }
    return true;
}

/* May a digit of the index end at weight w, where the layouts of operands end
 * theirs? */
static bool
may_end(const axe_distribution *d, const axe_dim *dim, int64_t w)
{
    int64_t e = axe_dim_extent(dim);

    for (int i = 0; i < d->r->n_operand && w < e; i++)
        for (int t = 0; t < d->r->operand[i].n_term; t++) {
            const axe_term *term = &d->r->operand[i].term[t];
            if (term->var == dim->var && !ends_with(term, w))
                return false;
        }
    return true;
}

/* Elements that one thread moves at once along v: what the widest type among
 * the operands that v walks element by element fills a vector with, or fewer
 * where all threads are to have some. */
static int64_t
vector_of(const axe_distribution *d, const axe_share *s)
{
    const axe_simt *m = d->p->mc->simt;
    int64_t         e = axe_dim_extent(s->dim), n = 0;

    for (int i = 0; i < d->r->n_operand; i++) {
        const axe_operand *op = &d->r->operand[i];
        axe_stride         step = step_of(op, s->dim->var);
        int64_t            size = axe_type_table[op->tensor->type].bits / 8;
        if (op->tensor->space == AXE_SPACE_REG || step.coef != 1 ||
            step.unit != AXE_UNIT_ONE)
            continue;
        size = size > m->max_vector ? 1 : m->max_vector / (size ? size : 1);
        n = n == 0 || size < n ? size : n;
    }
    while (n > 1 && (e % n != 0 || !may_end(d, s->dim, s->done * n) ||
                     n * distributed(d) * d->threads->n_thread > domain(d)))
        n /= 2;
    return n ? n : 1;
}

/* Of n threads, a divisor, those that share what is left of s. */
static int64_t
fit(const axe_distribution *d, const axe_share *s, int64_t n)
{
    int64_t even = 1, over = n, e = axe_dim_extent(s->dim);
    int64_t need = (e + s->done - 1) / s->done;

    for (int64_t f = 1; f <= n; f++) {
        if (n % f != 0)
            continue;
        if (need % f == 0 && may_end(d, s->dim, s->done * f))
            even = f;
        if (f >= need && f < over)
            over = f;
    }
    if (s->exact || !may_end(d, s->dim, s->done * over) ||
        2 * even >= (need < n ? need : n))
        return even;
    return over;
}

/* Of n lanes, those for an index known at launch only: where another such index
 * could use some, as many as move a whole line; it may be no longer. */
static int64_t
fit_unknown(const axe_distribution *d, const axe_share *s, int64_t n)
{
    const axe_simt *m = d->p->mc->simt;
    int64_t         line = m->banks * m->bank_bytes / m->max_vector;

    for (int i = 0; i < d->n_dim; i++)
        if (&d->dim[i] != s && !d->dim[i].reduced && !d->dim[i].fixed &&
            !d->dim[i].ordered && axe_dim_extent(d->dim[i].dim) == 0 &&
            d->dim[i].done == 1 && line < n && n % line == 0)
            return line;
    return n;
}

/* Give the threads of one axis to the share, as many as it can use. */
static void
take_threads(axe_distribution *d, axe_share *s, axe_axis axis)
{
    int64_t e = axe_dim_extent(s->dim);

    for (int i = 0; i < d->n_part && !s->fixed && !s->ordered; i++) {
        axe_iter *p = &d->part[i];
        int64_t   f = p->extent;
        if (p->axis != axis || f == 1)
            continue;
        if (e > 0)
            f = fit(d, s, f);
        else if (axis == d->p->simt->lane)
            f = fit_unknown(d, s, f);
        axe_distribution_digit(d, s->dim->var, s->done, f, axis, p->stride);
        s->done *= f;
        p->extent /= f;
        p->stride *= f;
    }
}

/* CTAs that share the statement count a part of its slowest index that they
 * divide. */
static void
take_ctas(axe_distribution *d)
{
    for (int i = d->n_dim - 1; i >= 0 && d->r->share > 1; i--) {
        axe_share *s = &d->dim[d->order[i]];
        int64_t    e = axe_dim_extent(s->dim);
        if (s->reduced || e == 0 || e / s->done % d->r->share != 0)
            continue;
        take_threads(d, s, d->p->simt->cta);
        return;
    }
}

static void
take_warps(axe_distribution *d, bool reduced, bool constant)
{
    axe_axis axis = d->threads->in ? d->p->simt->wid : d->p->simt->warp;

    for (int i = d->n_dim - 1; i >= 0; i--) {
        axe_share *s = &d->dim[d->order[i]];
        if (s->reduced == reduced && (axe_dim_extent(s->dim) > 0) == constant)
            take_threads(d, s, axis);
    }
}

static int64_t
iterations_left(const axe_share *s)
{
    int64_t e = axe_dim_extent(s->dim);

    return e == 0 ? AHEAD : (e + s->done - 1) / s->done;
}

/* What is left of a share: iterations written out, then a loop. */
static void
take_iterations(axe_distribution *d, axe_share *s, int64_t *budget)
{
    int64_t e = axe_dim_extent(s->dim), n = iterations_left(s), out = n;

    if (s->fixed)
        return;
    if (s->ordered)
        out = 1;
    for (int64_t f = 2; !s->exact && out > 1 &&
                        (out > *budget || !may_end(d, s->dim, s->done * out));)
        if (out % f == 0)
            out /= f;
        else if (++f > MAX_FACTOR)
            out = 1;
    axe_distribution_digit(d, s->dim->var, s->done, out, d->p->simt->reg, 0);
    *budget = *budget / out ? *budget / out : 1;
    s->done *= out;
    if (e == 0 || n > out)
        axe_distribution_digit(d, s->dim->var, s->done, e == 0 ? 0 : n / out,
                               AXE_AXIS_M, 0);
}

/* Does some operand in memory have neighbours along s, and go far along the
 * fastest index?  Then it is turned: blocks of both are moved. */
static bool
is_transposed(const axe_distribution *d, const axe_share *s)
{
    const axe_var *fast = d->dim[d->order[0]].dim->var;

    for (int i = 0; i < d->r->n_operand && d->r->n_nest == 1; i++) {
        const axe_operand *op = &d->r->operand[i];
        axe_stride         a = step_of(op, s->dim->var), b = step_of(op, fast);
        if (op->tensor->space != AXE_SPACE_REG && a.coef == 1 &&
            a.unit == AXE_UNIT_ONE && b.coef != 0)
            return true;
    }
    return false;
}

static void
distribute_rest(axe_distribution *d)
{
    int64_t budget = MAX_ITERATION;

    order_dims(d);
    for (int i = 0; i < d->n_dim; i++) {
        axe_share *s = &d->dim[d->order[i]];
        int64_t    v = 1;
        if (!s->fixed && !s->ordered && (i == 0 || is_transposed(d, s)))
            v = vector_of(d, s);
        if (v > budget)
            v = 1;
        axe_distribution_digit(d, s->dim->var, s->done, v, d->p->simt->reg, 0);
        s->done *= v;
        budget /= v;
    }
    take_ctas(d);
    for (int i = 0; i < d->n_dim; i++)
        take_threads(d, &d->dim[d->order[i]], d->p->simt->lane);
    take_warps(d, false, true);
    take_warps(d, false, false);
    take_warps(d, true, true);
    take_warps(d, true, false);
    for (int i = 0; i < d->n_dim; i++)
        if (axe_dim_extent(d->dim[d->order[i]].dim) > 0)
            take_iterations(d, &d->dim[d->order[i]], &budget);
    for (int i = d->n_dim - 1; i >= 0; i--)
        if (axe_dim_extent(d->dim[d->order[i]].dim) == 0)
            take_iterations(d, &d->dim[d->order[i]], &budget);
}

/* Where a subscript computes elements to write, one may be written more than
 * once, in the order of the indices: one thread counts those that no dimension
 * has alone. */
static void
mark_ordered(axe_distribution *d)
{
    const axe_node *dst = d->r->stmt->dst;

    if (d->r->atomic || !axe_is_scatter(d->p->cx, d->r->stmt))
        return;
    for (int i = 0; i < d->n_dim; i++) {
        axe_share *s = &d->dim[i];
        s->ordered = !s->reduced && !s->fixed;
        for (int k = 0; k < dst->n_arg; k++)
            if (axe_alone_in(d->p, dst->arg[k]) == s->dim->var)
                s->ordered = false;
    }
}

/* Do all digits end where the layouts of operands let them? */
static axe_status
check_digits(const axe_distribution *d)
{
    for (int i = 0; i < d->n_digit; i++) {
        const axe_digit *of = &d->digit[i].of;
        const axe_dim   *dim = axe_request_dim(d->r, of->var);
        axe_status       st;
        if (!dim || may_end(d, dim, of->weight))
            continue;
        st = axe_fail(d->p->cx, d->r->stmt->at, AXE_EUNSUPPORTED,
                      "threads have blocks of %" PRId64
                      " of %s, and the layouts of its operands end digits "
                      "elsewhere",
                      of->weight, of->var->name);
        axe_help(d->p->cx, "leave the layout open, or declare one whose "
                           "extents divide one another");
        return st;
    }
    return AXE_OK;
}

/* Digits of an index slow to fast; what nobody counts are copies. */
static void
finish(axe_distribution *d, axe_work *out)
{
    axe_work_digit *digit = axe_new_array(d->p->cx, axe_work_digit, d->n_digit);
    axe_iter       *copy = axe_new_array(d->p->cx, axe_iter, d->n_part);

    *out = (axe_work){.digit = digit, .copy = copy};
    for (int i = 0; i < d->n_digit; i++) {
        int k = out->n_digit++;
        for (; k > 0 && digit[k - 1].of.weight < d->digit[i].of.weight; k--)
            digit[k] = digit[k - 1];
        digit[k] = d->digit[i];
    }
    for (int i = 0; i < d->n_part; i++)
        if (d->part[i].extent > 1)
            copy[out->n_copy++] = d->part[i];
}

axe_status
axe_simt_distribute(axe_planner *p, const axe_request *r,
                    const axe_thread_group *threads, axe_work *out)
{
    axe_distribution *d = axe_new(p->cx, axe_distribution);

    d->p = p;
    d->r = r;
    d->threads = threads;
    AXE_TRY(begin(d));
    axe_distribute_parts(d);
    axe_distribute_like(d);
    for (int i = 0; i < d->n_dim; i++)
        for (int k = 0; k < r->n_operand; k++)
            d->dim[i].exact =
                d->dim[i].exact ||
                (r->operand[k].tensor->space == AXE_SPACE_REG &&
                 axe_operand_depends(&r->operand[k], d->dim[i].dim->var));
    for (int i = 0; i < d->n_dim; i++)
        d->dim[i].exact =
            d->dim[i].exact || d->dim[i].dim->var == r->stmt->prefix;
    mark_ordered(d);
    distribute_rest(d);
    if (d->n_digit == MAX_DIGIT)
        return axe_fail(p->cx, r->stmt->at, AXE_ELIMIT,
                        "the layouts cut this statement's indices into over %d "
                        "digits",
                        MAX_DIGIT);
    AXE_TRY(check_digits(d));
    finish(d, out);
    return AXE_OK;
}
