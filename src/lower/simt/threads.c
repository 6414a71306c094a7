/* threads.c - which threads do it: those of a thread group, one of them, one
 * CTA of several. */
#include "lower/simt/node.h"

static void
let(axe_simt_lowering *sl, axe_lblock *b, const axe_var *v,
    const axe_node *value)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_LET);

    l->var = v;
    l->value = value;
}

void
axe_simt_split(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
               const axe_node *number)
{
    for (int i = s->n_var - 1; i >= 0; i--) {
        const axe_node *e = s->var[i]->extent;
        const axe_node *v = i == 0 ? number : op2(sl, AXE_OP_mod, number, e);
        if (s->first && s->first[i] != 0)
            v = axe_sum(&sl->lw, v, axe_int(&sl->lw, 0));
        let(sl, b, s->var[i], v);
        if (i > 0)
            number = op2(sl, AXE_OP_div, number, e);
    }
}

/* Is the thread one of the thread group's, given that it is one of those
 * around? */
static const axe_node *
is_in(axe_simt_lowering *sl, const axe_thread_group *c)
{
    int64_t          lanes = sl->sp->lanes, unit = 1;
    int64_t          end = c->first + (int64_t)c->n_entity * c->n_thread;
    const axe_node  *n = axe_simt_thread(sl, c->in), *in = NULL;
    axe_thread_group whole = *c->in;

    if (c->first % lanes == 0 && end % lanes == 0 && c->in->n_thread > lanes) {
        whole.n_thread = (int)lanes;
        whole.n_entity = c->in->n_thread / (int)lanes;
        whole.in = c->in;
        whole.first = 0;
        n = axe_simt_entity(sl, &whole);
        unit = lanes;
    }
    if (c->first > 0)
        in = op2(sl, AXE_OP_le, axe_int(&sl->lw, c->first / unit), n);
    if (end < c->in->n_thread)
        in = axe_simt_both(sl, in,
                           op2(sl, AXE_OP_lt, n, axe_int(&sl->lw, end / unit)));
    return in;
}

static axe_lblock *
open_if(axe_simt_lowering *sl, axe_lblock *b, const axe_node *when, bool elect)
{
    axe_lir *l;

    if (!when)
        return b;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = when;
    l->elect = elect;
    return &l->body;
}

axe_lblock *
axe_simt_open_first(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_thread_group *threads,
                    const axe_thread_group *around, const axe_node *when)
{
    int64_t         lanes = sl->sp->lanes;
    const axe_node *first;

    for (const axe_thread_group *c = threads; c != around; c = c->in) {
        const axe_node *in = is_in(sl, c);
        when = in ? axe_simt_both(sl, in, when) : when;
    }
    if (sl->alone || threads->n_thread == 1)
        return open_if(sl, b, when, false);
    if (threads->n_thread % lanes != 0 || !sl->lw.plan->machine->simt->elects) {
        first = op2(sl, AXE_OP_eq, axe_simt_thread(sl, threads),
                    axe_int(&sl->lw, 0));
        return open_if(sl, b, axe_simt_both(sl, first, when), false);
    }
    if (threads->n_thread > lanes) {
        first =
            op2(sl, AXE_OP_eq, axe_simt_coordinate(sl, threads, sl->sp->warp),
                axe_int(&sl->lw, 0));
        when = axe_simt_both(sl, first, when);
    }
    return open_if(
        sl, open_if(sl, b, when, false),
        op2(sl, AXE_OP_eq, axe_simt_id(sl, AXE_ID_LANE), axe_int(&sl->lw, 0)),
        true);
}

axe_lblock *
axe_simt_open_threads(axe_simt_lowering *sl, axe_lblock *b,
                      const axe_thread_group *c)
{
    const axe_node *in = is_in(sl, c);
    axe_lir        *l = axe_emit(&sl->lw, b, in ? AXE_LIR_IF : AXE_LIR_BLOCK);

    l->value = in;
    return &l->body;
}

axe_lblock *
axe_simt_open_scope(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_thread_group *c = axe_threads_at(sl->sp, s);

    b = axe_simt_open_threads(sl, b, c);
    axe_simt_split(sl, b, s, axe_simt_entity(sl, c));
    return b;
}

axe_lblock *
axe_simt_open_issuer(axe_simt_lowering *sl, axe_lblock *b,
                     const axe_thread_group *threads)
{
    return axe_simt_open_first(sl, b, threads, threads, NULL);
}

const axe_node *
axe_simt_first_of(axe_simt_lowering *sl, int pair)
{
    const axe_node *rank = axe_simt_id(sl, AXE_ID_RANK);

    if (pair >= sl->grid->cluster)
        return number(sl, 0);
    return op2(sl, AXE_OP_sub, rank,
               op2(sl, AXE_OP_mod, rank, number(sl, pair)));
}

const axe_node *
axe_simt_shifted(axe_simt_lowering *sl, int64_t mask, int step, int end,
                 const axe_node *by)
{
    const axe_node *all = number(sl, mask);

    for (int i = step; i < end; i += step) {
        const axe_node *arg[3] = {op2(sl, AXE_OP_eq, by, number(sl, i)),
                                  number(sl, mask << i), all};
        all = axe_node_new(sl->lw.cx, AXE_OP_select, AXE_TYPE_INDEX,
                           AXE_NOWHERE, 3, arg);
    }
    return all;
}

const axe_node *
axe_simt_asks(axe_simt_lowering *sl, int64_t pair)
{
    if (pair <= 1)
        return NULL;
    return op2(
        sl, AXE_OP_eq,
        op2(sl, AXE_OP_mod, axe_simt_id(sl, AXE_ID_RANK), number(sl, pair)),
        number(sl, 0));
}
