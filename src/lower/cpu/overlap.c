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
#include "lower/code/build.h"
#include "lower/code/relation.h"
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

typedef struct waiting {
    axe_lowering           *lw;
    const axe_core_overlap *o;
} waiting;

static void
await(void *user, axe_lblock *b, const axe_node *number, const axe_node *full)
{
    const waiting *w = user;
    axe_lir       *l = axe_emit(w->lw, b, AXE_LIR_OP);

    l->op = AXE_LOP_await;
    l->mem = word_at(w->o, number);
    l->value = full;
}

static const axe_var *
load_word(void *user, axe_lblock *b, const axe_tensor *t, const axe_node *at,
          const char *name)
{
    const waiting *w = user;
    axe_reg       *src = axe_new(w->lw->cx, axe_reg);
    axe_lir       *l = axe_emit(w->lw, b, AXE_LIR_OP);

    l->op = AXE_LOP_load;
    l->dst = *src = axe_reg_new(w->lw, t->type, 1);
    l->mem = (axe_mem){.tensor = t, .type = t->type, .at = at};
    l = axe_emit(w->lw, b, AXE_LIR_TAKE);
    l->var = axe_loaded_var(w->lw, name);
    l->n_src = 1;
    l->src = src;
    return l->var;
}

/* The entity at hand is done: one more in each of its counters. */
static void
tell(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o,
     const axe_stmt *scope)
{
    bool fenced = false;

    for (int i = 0; i < o->group.counters.n; i++) {
        const axe_counters *c = o->group.counters.item[i];
        axe_lir            *l;
        if (c->of != scope)
            continue;
        if (lw->streams && !fenced)
            axe_emit(lw, b, AXE_LIR_OP)->op = AXE_LOP_fence;
        fenced = true;
        l = axe_emit(lw, b, AXE_LIR_OP);
        l->op = AXE_LOP_done;
        l->mem = word_at(o, axe_lower_counter(lw, c));
    }
}

/* Entity number `task` of scope i. */
static axe_status
lower_task(axe_lowering *lw, axe_lblock *b, const axe_core_overlap *o, int i,
           const axe_node *task, lower_entity_fn *entity)
{
    const axe_stmt        *s = o->group.scope[i];
    const axe_node *const *count = extents(lw, s);
    waiting                w = {lw, o};
    axe_relation_sink      sink = {
             .user = &w, .await = await, .load = load_word, .side = 1};

    axe_split_task(lw, b, s, count, task);
    for (int k = 0; k < o->group.relation.n; k++) {
        const axe_relation *r = o->group.relation.item[k];
        if (r->to == s)
            axe_lower_relation(lw, b, r, &sink);
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
