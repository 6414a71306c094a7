/* relation.c - see relation.h. */
#include "lower/code/relation.h"

#include "ir/rewrite.h"
#include "lower/code/build.h"

/* What is made of a relation's expressions: values and indices that lowering
 * has variables for. */
typedef struct waiting {
    axe_lowering            *lw;
    const axe_relation      *r;
    const axe_relation_sink *sink;
    axe_lblock              *b; /* where it waits */
    int                      n;
    const axe_var          **of;
    const axe_node         **by;
} waiting;

static const axe_node *
with_values(const waiting *w, const axe_node *n)
{
    for (int i = 0; i < w->n; i++)
        n = axe_node_with(w->lw->cx, n, w->of[i], w->by[i]);
    return n;
}

/* From here on `of` is `by`. */
static void
note(waiting *w, const axe_var *of, const axe_node *by)
{
    w->of[w->n] = of;
    w->by[w->n++] = by;
}

static axe_lir *
open_loop(waiting *w, const char *name, const axe_node *begin,
          const axe_node *end)
{
    axe_lir *l = axe_emit(w->lw, w->b, AXE_LIR_LOOP);

    l->var = axe_loop_var(w->lw, name);
    l->begin = begin;
    l->end = end;
    w->b = &l->body;
    return l;
}

/* Coordinate k of the counters runs over those that the relation names, as far
 * as there are such. */
static const axe_node *
open_range(waiting *w, int k)
{
    const axe_relation *r = w->r;
    axe_ctx            *cx = w->lw->cx;
    const axe_node     *lo = with_values(w, r->lo[k]), *hi = lo;
    const axe_node     *n = axe_counters_extent(cx, r->counters, k), *zero;

    if (r->lo[k] != r->hi[k])
        hi = with_values(w, r->hi[k]);
    else if (!w->sink->past && lo->op == AXE_OP_var && lo->u.var->extent &&
             axe_node_same(lo->u.var->extent, n))
        return lo;
    zero = axe_int(w->lw, 0);
    hi = axe_node2(cx, AXE_OP_add, hi, axe_int(w->lw, 1));
    return axe_ivar(w->lw, open_loop(w, r->from->var[k]->name,
                                     axe_node2(cx, AXE_OP_max, lo, zero),
                                     axe_node2(cx, AXE_OP_min, hi, n))
                               ->var);
}

/* Is the element of the index tensor there, and its address. */
static const axe_node *
find_read(const waiting *w, const axe_relation_read *x, const axe_node **at)
{
    axe_lowering     *lw = w->lw;
    const axe_tensor *t = x->load->u.tensor;
    const axe_node   *in = NULL;

    *at = axe_int(lw, 0);
    for (int d = 0; d < t->rank; d++) {
        const axe_node *s = with_values(w, x->load->arg[d]);
        *at = axe_sum(lw, *at, axe_scaled(lw, s, t->stride[d]));
        s = axe_node2(lw->cx, AXE_OP_and,
                      axe_node2(lw->cx, AXE_OP_le, axe_int(lw, 0), s),
                      axe_node2(lw->cx, AXE_OP_lt, s, t->shape[d]));
        in = in ? axe_node2(lw->cx, AXE_OP_and, in, s) : s;
    }
    return in;
}

/* All values are known: waits for the box. */
static void
await_box(waiting *w)
{
    const axe_relation *r = w->r;
    const axe_node    **at =
        axe_new_array(w->lw->cx, const axe_node *, r->from->n_var + 1);

    for (int k = 0; k < r->from->n_var; k++)
        if (r->counters->by[k] > 0)
            at[k] = open_range(w, k);
    w->sink->await(w->sink->user, w->b,
                   axe_counters_at(w->lw->cx, r->counters, at),
                   axe_counters_full(w->lw->cx, r->counters, at));
}

/* From read i on.  Outside of its tensor an element is 0, which is a row like
 * any other. */
static void
await_read(waiting *w, int i)
{
    axe_lblock       *b = w->b;
    const axe_node   *at, *in;
    const axe_tensor *t;
    axe_lir          *l;
    int               n = w->n;

    if (i == w->r->n_read) {
        await_box(w);
        return;
    }
    in = find_read(w, &w->r->read[i], &at);
    t = w->r->read[i].load->u.tensor;
    l = axe_emit(w->lw, b, AXE_LIR_IF);
    l->value = in;
    w->b = &l->body;
    note(w, w->r->read[i].value,
         axe_ivar(w->lw, w->sink->load(w->sink->user, w->b, t, at,
                                       w->r->read[i].value->name)));
    await_read(w, i + 1);
    w->n = n;
    w->b = &l->other;
    note(w, w->r->read[i].value, axe_int(w->lw, 0));
    await_read(w, i + 1);
    w->n = n;
    w->b = b;
}

/* Number n of what runs, the last fastest. */
static void
split(waiting *w, const axe_node *n)
{
    for (int i = w->r->n_each - 1; i >= 0; i--) {
        const axe_node *e = with_values(w, w->r->each[i].extent);
        axe_lir        *l = axe_emit(w->lw, w->b, AXE_LIR_LET);
        l->var = axe_loop_var(w->lw, w->r->each[i].var->name);
        l->value = i == 0 ? n : axe_node2(w->lw->cx, AXE_OP_mod, n, e);
        note(w, w->r->each[i].var, axe_ivar(w->lw, l->var));
        if (i > 0)
            n = axe_node2(w->lw->cx, AXE_OP_div, n, e);
    }
}

/* Thread t of `side` has those of number t, t + side, ... */
static void
open_shares(waiting *w)
{
    axe_ctx        *cx = w->lw->cx;
    const axe_node *all = axe_int(w->lw, 1), *own = w->sink->thread, *n;
    const axe_node *side = axe_int(w->lw, w->sink->side);
    axe_lir        *l;
    int64_t         few;

    for (int i = 0; i < w->r->n_each; i++)
        all = axe_node2(cx, AXE_OP_mul, all,
                        with_values(w, w->r->each[i].extent));
    if (!axe_is_iconst(all, &few) || few > w->sink->side) {
        n = axe_node2(cx, AXE_OP_cdiv, all, side);
        l = open_loop(w, "share", axe_int(w->lw, 0), n);
        n = axe_node2(cx, AXE_OP_mul, axe_ivar(w->lw, l->var), side);
        own = axe_node2(cx, AXE_OP_add, n, own);
    }
    l = axe_emit(w->lw, w->b, AXE_LIR_IF);
    l->value = axe_node2(cx, AXE_OP_lt, own, all);
    w->b = &l->body;
    split(w, own);
}

/* One after the other. */
static void
open_each(waiting *w)
{
    for (int i = 0; i < w->r->n_each; i++) {
        const axe_dim *d = &w->r->each[i];
        const axe_lir *l = open_loop(w, d->var->name, axe_int(w->lw, 0),
                                     with_values(w, d->extent));
        note(w, d->var, axe_ivar(w->lw, l->var));
    }
}

void
axe_lower_relation(axe_lowering *lw, axe_lblock *b, const axe_relation *r,
                   const axe_relation_sink *sink)
{
    int     most = r->n_each + r->n_read;
    waiting w = {.lw = lw, .r = r, .sink = sink, .b = b};

    w.of = axe_new_array(lw->cx, const axe_var *, most + 1);
    w.by = axe_new_array(lw->cx, const axe_node *, most + 1);
    if (sink->side > 1)
        open_shares(&w);
    else
        open_each(&w);
    await_read(&w, 0);
}

const axe_node *
axe_lower_counter(axe_lowering *lw, const axe_counters *c)
{
    const axe_node **at =
        axe_new_array(lw->cx, const axe_node *, c->of->n_var + 1);

    for (int k = 0; k < c->of->n_var; k++)
        at[k] = c->by[k] == 0
                    ? NULL
                    : axe_node2(lw->cx, AXE_OP_div, axe_ivar(lw, c->of->var[k]),
                                axe_int(lw, c->by[k]));
    return axe_counters_at(lw->cx, c, at);
}
