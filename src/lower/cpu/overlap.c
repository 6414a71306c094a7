/* overlap.c - a group of scopes that overlap, as one list that workers share.
 *
 *     tasks c < n: done[c] = 0
 *     barrier
 *     list t < entities of A + entities of B by done[0]
 *         if t < entities of A
 *             let i = t
 *             A's body
 *             done done[8 + i]
 *         else
 *             let j = t - entities of A
 *             await done[8 + j] of 1
 *             B's body
 */
#include "ir/rewrite.h"
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"

static axe_mem
word_at(const axe_core_overlap *o, const axe_node *at)
{
    return (axe_mem){.tensor = o->counters, .type = AXE_TYPE_i64, .at = at};
}

/* All words begin at 0, and all workers know it. */
static void
begin_counters(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_TASKS);
    axe_reg *src = axe_new(lw->cx, axe_reg);

    *src = axe_reg_new(lw, AXE_TYPE_i64, 1);
    l->var = axe_loop_var(lw, "word");
    l->begin = axe_int(lw, 0);
    l->end = o->group.n_counter;
    axe_lir *c = axe_emit(lw, &l->body, AXE_LIR_OP);
    c->op = AXE_LOP_iconst;
    c->dst = *src;
    c = axe_emit(lw, &l->body, AXE_LIR_OP);
    c->op = AXE_LOP_store;
    c->n_src = 1;
    c->src = src;
    c->mem = word_at(o, axe_ivar(lw, l->var));
    axe_emit(lw, b, AXE_LIR_OP)->op = AXE_LOP_barrier;
}

static const axe_node *const *
extents(axe_lowering *lw, const axe_stmt *s)
{
    const axe_node **n = axe_new_array(lw->cx, const axe_node *, s->n_var + 1);

    for (int k = 0; k < s->n_var; k++)
        n[k] = s->var[k]->extent;
    return n;
}

/* What is made of a relation's expressions: values and indices that lowering
 * has variables for. */
typedef struct waiting {
    axe_lowering           *lw;
    const axe_core_overlap *o;
    const axe_relation     *r;
    axe_lblock             *b; /* where it waits */
    int                     n;
    const axe_var         **of;
    const axe_node        **by;
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
    else if (lo->op == AXE_OP_var && lo->u.var->extent &&
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

static const axe_var *
load_word(axe_lowering *lw, axe_lblock *b, const axe_relation_read *x,
          const axe_node *at)
{
    const axe_tensor *t = x->load->u.tensor;
    axe_reg          *src = axe_new(lw->cx, axe_reg);
    axe_lir          *l = axe_emit(lw, b, AXE_LIR_OP);

    l->op = AXE_LOP_load;
    l->dst = *src = axe_reg_new(lw, t->type, 1);
    l->mem = (axe_mem){.tensor = t, .type = t->type, .at = at};
    l = axe_emit(lw, b, AXE_LIR_TAKE);
    l->var = axe_loop_var(lw, x->value->name);
    l->n_src = 1;
    l->src = src;
    return l->var;
}

/* All values are known: waits for the box. */
static void
await_box(waiting *w)
{
    const axe_relation *r = w->r;
    const axe_node    **at =
        axe_new_array(w->lw->cx, const axe_node *, r->from->n_var + 1);
    axe_lir *l;

    for (int k = 0; k < r->from->n_var; k++)
        if (r->counters->by[k] > 0)
            at[k] = open_range(w, k);
    l = axe_emit(w->lw, w->b, AXE_LIR_OP);
    l->op = AXE_LOP_await;
    l->mem = word_at(w->o, axe_counters_at(w->lw->cx, r->counters, at));
    l->value = axe_counters_full(w->lw->cx, r->counters, at);
}

/* From read i on.  Outside of its tensor an element is 0, which is a row like
 * any other. */
static void
await_read(waiting *w, int i)
{
    axe_lblock     *b = w->b;
    const axe_node *at, *in;
    axe_lir        *l;
    int             n = w->n;

    if (i == w->r->n_read) {
        await_box(w);
        return;
    }
    in = find_read(w, &w->r->read[i], &at);
    l = axe_emit(w->lw, b, AXE_LIR_IF);
    l->value = in;
    w->b = &l->body;
    note(w, w->r->read[i].value,
         axe_ivar(w->lw, load_word(w->lw, w->b, &w->r->read[i], at)));
    await_read(w, i + 1);
    w->n = n;
    w->b = &l->other;
    note(w, w->r->read[i].value, axe_int(w->lw, 0));
    await_read(w, i + 1);
    w->n = n;
    w->b = b;
}

/* The entity at hand waits for what the relation says. */
static void
await(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o,
      const axe_relation *r)
{
    int     most = r->n_each + r->n_read;
    waiting w = {.lw = lw, .o = o, .r = r, .b = b};

    w.of = axe_new_array(lw->cx, const axe_var *, most + 1);
    w.by = axe_new_array(lw->cx, const axe_node *, most + 1);
    for (int i = 0; i < r->n_each; i++) {
        const axe_node *end = with_values(&w, r->each[i].extent);
        const axe_lir  *l =
            open_loop(&w, r->each[i].var->name, axe_int(lw, 0), end);
        note(&w, r->each[i].var, axe_ivar(lw, l->var));
    }
    await_read(&w, 0);
}

/* The entity at hand is done: one more in each of its counters. */
static void
tell(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o,
     const axe_stmt *scope)
{
    const axe_node **at =
        axe_new_array(lw->cx, const axe_node *, scope->n_var + 1);
    bool fenced = false;

    for (int i = 0; i < o->group.counters.n; i++) {
        const axe_counters *c = o->group.counters.item[i];
        axe_lir            *l;
        if (c->of != scope)
            continue;
        if (lw->streams && !fenced)
            axe_emit(lw, b, AXE_LIR_OP)->op = AXE_LOP_fence;
        fenced = true;
        for (int k = 0; k < scope->n_var; k++)
            at[k] = c->by[k] == 0 ? NULL
                                  : axe_node2(lw->cx, AXE_OP_div,
                                              axe_ivar(lw, scope->var[k]),
                                              axe_int(lw, c->by[k]));
        l = axe_emit(lw, b, AXE_LIR_OP);
        l->op = AXE_LOP_done;
        l->mem = word_at(o, axe_counters_at(lw->cx, c, at));
    }
}

/* Entity number `task` of scope i. */
static axe_status
lower_task(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o, int i,
           const axe_node *task, lower_entity_fn *entity)
{
    const axe_stmt        *s = o->group.scope[i];
    const axe_node *const *count = extents(lw, s);

    axe_split_task(lw, b, s, count, task);
    for (int k = 0; k < o->group.relation.n; k++) {
        const axe_relation *r = o->group.relation.item[k];
        if (r->to == s)
            await(lw, b, o, r);
    }
    AXE_TRY(entity(lw, b, s));
    tell(lw, b, o, s);
    return AXE_OK;
}

axe_status
axe_lower_overlap(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o,
                  lower_entity_fn *entity)
{
    const axe_overlap_group *g = &o->group;
    const axe_node          *before = axe_int(lw, 0), *task;
    axe_lir                 *list, *l;
    axe_lblock              *at;

    begin_counters(lw, b, o);
    list = axe_emit(lw, b, AXE_LIR_LIST);
    list->var = axe_loop_var(lw, "task");
    list->mem = word_at(o, axe_int(lw, 0));
    task = axe_ivar(lw, list->var);
    at = &list->body;
    for (int i = 0; i < g->n_scope; i++) {
        const axe_stmt *s = g->scope[i];
        const axe_node *end = axe_node2(lw->cx, AXE_OP_add, before,
                                        axe_all_tasks(lw, s, extents(lw, s)));
        const axe_node *own = axe_node2(lw->cx, AXE_OP_sub, task, before);
        if (i + 1 == g->n_scope) {
            AXE_TRY(lower_task(lw, at, o, i, own, entity));
        } else {
            l = axe_emit(lw, at, AXE_LIR_IF);
            l->value = axe_node2(lw->cx, AXE_OP_lt, task, end);
            AXE_TRY(lower_task(lw, &l->body, o, i, own, entity));
            at = &l->other;
        }
        before = end;
    }
    list->end = before;
    return AXE_OK;
}
