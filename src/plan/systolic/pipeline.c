/* pipeline.c - loops of which several turns are under way at a time (software
 * pipelining across engines).
 *
 * Engines take instructions in the order of the text.  Of
 *
 *     for j { s = products; p = maps of s; o = products of p; acc += o }
 *
 * each engine waits for the one before.  The body is cut into parts, of which
 * each turn of the new loop does one of as many turns, the last part first:
 *
 *     for j = 0 .. n + 3 { acc of j - 3; o of j - 2; p of j - 1; s of j }
 *
 * What a part needs was made a turn before, so that none waits for another.
 * Two parts change their order where there are others between them: the later
 * one then must not write what the earlier one touches, nor read what that
 * writes, but for tiles that each turn has for itself.  Those that parts share
 * have a place for each turn that is under way.
 *
 * Cuts are behind the first product, in front of the last, and behind it. */
#include "ir/stmt.h"
#include "plan/systolic/systolic.h"

typedef struct cutting {
    axe_planner    *p;
    const axe_stmt *loop;
    bool           *local; /* by tensor id: each turn has its own */
    int             n_cut, cut[AXE_SYSTOLIC_CUTS];
} cutting;

static bool
has_product(axe_planner *p, int n, axe_stmt *const *body)
{
    axe_systolic_product pr;

    for (int i = 0; i < n; i++)
        if ((body[i]->kind == AXE_STMT_INDEX &&
             axe_systolic_is_product(p->cx, body[i], p->systolic->tile, &pr)) ||
            has_product(p, body[i]->n_body, body[i]->body) ||
            has_product(p, body[i]->n_other, body[i]->other))
            return true;
    return false;
}

/* Is the ring filled or read outside of the loop? */
static bool
used_outside(const axe_stmt *loop, const axe_pipeline *ring, int n,
             axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s == loop)
            continue;
        if ((s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
            s->pipeline == ring)
            return true;
        if (used_outside(loop, ring, s->n_body, s->body) ||
            used_outside(loop, ring, s->n_other, s->other))
            return true;
    }
    return false;
}

static void
find_locals(cutting *c)
{
    const axe_kernel *k = c->p->kernel;

    for (int i = 0; i < c->loop->n_body; i++) {
        const axe_stmt *s = c->loop->body[i];
        if (s->kind == AXE_STMT_TENSOR)
            c->local[s->tensor->id] = true;
        if (s->kind == AXE_STMT_PRODUCE &&
            !used_outside(c->loop, s->pipeline, k->n_body, k->body))
            for (int t = 0; t < s->pipeline->n_tensor; t++)
                c->local[s->pipeline->tensor[t]->id] = true;
    }
}

typedef struct uses {
    bool reads, writes;
} uses;

/* Zeros that are not executed do not count. */
static uses
uses_of(const cutting *c, int from, int to, const axe_tensor *t)
{
    uses             u = {false, false};
    axe_stmt *const *body = c->loop->body;

    for (int i = from; i < to; i++) {
        if (body[i]->kind == AXE_STMT_INDEX &&
            c->p->systolic->tile[t->id].zero == body[i])
            continue;
        u.reads = u.reads || axe_stmt_reads(body[i], t);
        u.writes = u.writes || axe_stmt_writes(body[i], t);
    }
    return u;
}

/* The statements of part k are body[part_begin(k) .. part_begin(k + 1)). */
static int
part_begin(const cutting *c, int k)
{
    return k == 0 ? 0 : k > c->n_cut ? c->loop->n_body : c->cut[k - 1];
}

/* How many turns use the tile at a time, at least: from the first part that
 * does to the last.  0: a part has it for itself. */
static int
turns_of(const cutting *c, const axe_tensor *t)
{
    int first = -1, last = -1;

    for (int k = 0; k <= c->n_cut && c->local[t->id]; k++) {
        uses u = uses_of(c, part_begin(c, k), part_begin(c, k + 1), t);
        if (!u.reads && !u.writes)
            continue;
        first = first < 0 ? k : first;
        last = k;
    }
    return last - first;
}

/* May parts change their order, as far as t goes? */
static bool
is_free(const cutting *c, const axe_tensor *t)
{
    for (int a = 0; a <= c->n_cut && !c->local[t->id]; a++)
        for (int b = a + 2; b <= c->n_cut; b++) {
            uses x = uses_of(c, part_begin(c, a), part_begin(c, a + 1), t);
            uses y = uses_of(c, part_begin(c, b), part_begin(c, b + 1), t);
            if ((y.writes && (x.reads || x.writes)) || (x.writes && y.reads))
                return false;
        }
    return true;
}

/* Are all products of the sum in one part?  The first one begins it. */
static bool
is_one(const cutting *c, const axe_tensor *t)
{
    int parts = 0;

    for (int k = 0; k <= c->n_cut; k++) {
        bool any = false;
        for (int i = part_begin(c, k); i < part_begin(c, k + 1); i++)
            any = any || (axe_stmt_writes(c->loop->body[i], t) &&
                          has_product(c->p, 1, &c->loop->body[i]));
        parts += any;
    }
    return parts < 2;
}

/* Statements that are one instruction stay together. */
static bool
is_whole(const cutting *c)
{
    const axe_systolic_step *step = c->p->systolic->step;

    for (int k = 0; k < c->n_cut; k++)
        for (int i = part_begin(c, k); i < part_begin(c, k + 1); i++) {
            const axe_stmt *s = c->loop->body[i];
            int             end = part_begin(c, k + 1);
            if (s->kind != AXE_STMT_INDEX)
                continue;
            if ((step[s->id].absorbed && i + 1 == end) ||
                (step[s->id].sum &&
                 axe_stmt_within(c->loop->n_body - end, c->loop->body + end,
                                 step[s->id].summed)))
                return false;
        }
    return true;
}

/* Is there room, if tiles that parts share have `spare` places more than they
 * must? */
static bool
fits(const cutting *c, int spare)
{
    const axe_systolic_plan *sp = c->p->systolic;
    int                      banks = sp->banks;
    int64_t                  bytes = 0;

    for (int i = 0; i < c->p->kernel->n_tensor; i++) {
        const axe_systolic_tile *x = &sp->tile[i];
        if (!x->tensor)
            continue;
        int turns = turns_of(c, x->tensor);
        int more = turns > 0 && turns + spare > x->stages
                       ? turns + spare - x->stages
                       : 0;
        if (x->psum)
            banks += more * axe_systolic_banks_of(x);
        else
            bytes += x->bytes * (x->stages + more);
    }
    return banks <= AXE_SYSTOLIC_BANKS - AXE_SYSTOLIC_SPARE &&
           bytes <= axe_trn_memories[AXE_TRN_SBUF].bytes / 4 * 3;
}

static bool
may_cut(const cutting *c)
{
    const axe_kernel *k = c->p->kernel;

    if (!is_whole(c))
        return false;
    for (int i = 0; i < k->n_param; i++)
        if (!is_free(c, k->param[i]))
            return false;
    for (int i = 0; i < k->n_temp; i++)
        if (!is_free(c, k->temp[i]))
            return false;
    for (int i = 0; i < k->n_tensor; i++) {
        const axe_systolic_tile *x = &c->p->systolic->tile[i];
        if (x->tensor &&
            (!is_free(c, x->tensor) || (x->psum && !is_one(c, x->tensor))))
            return false;
    }
    return true;
}

static void
cut(cutting *c, int spare)
{
    axe_systolic_plan *sp = c->p->systolic;
    axe_systolic_pipe *pipe = axe_new(c->p->cx, axe_systolic_pipe);

    *pipe = (axe_systolic_pipe){
        .loop = c->loop, .n_cut = c->n_cut, .next = sp->pipe};
    for (int i = 0; i < c->n_cut; i++)
        pipe->cut[i] = c->cut[i];
    sp->pipe = pipe;
    for (int i = 0; i < c->p->kernel->n_tensor; i++) {
        axe_systolic_tile *x = &sp->tile[i];
        int                turns = x->tensor ? turns_of(c, x->tensor) : 0;
        if (turns == 0)
            continue;
        int places = turns + spare > x->stages ? turns + spare : x->stages;
        if (x->psum)
            sp->banks += (places - x->stages) * axe_systolic_banks_of(x);
        x->stages = places;
        x->piped = c->loop;
        c->p->place[i].why =
            axe_textf(c->p->cx, "%s; for %d turns of %s", c->p->place[i].why,
                      turns + 1, c->loop->var[0]->name);
    }
}

/* Is body[i] or what is in it a product, of sums in t if that is not NULL? */
static bool
is_product(const cutting *c, int i, const axe_tensor *t)
{
    axe_stmt *const *at = &c->loop->body[i];

    return has_product(c->p, 1, at) && (!t || axe_stmt_writes(*at, t));
}

/* The tile in which body[i], a product, sums; NULL: it is in a loop. */
static const axe_tensor *
sums_in(const cutting *c, int i)
{
    const axe_stmt *s = c->loop->body[i];

    return s->kind == AXE_STMT_INDEX ? s->dst->u.tensor : NULL;
}

/* Products of one sum are in one part. */
static void
choose_cuts(cutting *c)
{
    const int n = c->loop->n_body;
    int       first = 0, last = n - 1, behind;

    while (first < n && !is_product(c, first, NULL))
        first++;
    while (last > first && !is_product(c, last, NULL))
        last--;
    if (first >= last)
        return;
    behind = last + 1;
    const axe_tensor *a = sums_in(c, first), *b = sums_in(c, last);
    for (int i = last; i > first && b; i--)
        last = is_product(c, i, b) ? i : last;
    for (int i = first; i < last && a; i++)
        first = is_product(c, i, a) ? i : first;
    while (last > first + 1 &&
           c->loop->body[last - 1]->kind == AXE_STMT_INDEX &&
           c->p->systolic->step[c->loop->body[last - 1]->id].absorbed)
        last--;
    c->cut[c->n_cut++] = first + 1;
    if (last > first + 1)
        c->cut[c->n_cut++] = last;
    if (behind < n)
        c->cut[c->n_cut++] = behind;
}

static void
cut_loop(cutting *c)
{
    for (choose_cuts(c); c->n_cut > 1; c->n_cut--)
        for (int spare = 1; spare >= 0; spare--)
            if (may_cut(c) && fits(c, spare)) {
                cut(c, spare);
                return;
            }
}

static void
look(axe_planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        cutting         c = {.p = p, .loop = s};
        if (s->kind == AXE_STMT_FOR && s->n_var == 1) {
            c.local = axe_new_array(p->cx, bool, p->kernel->n_tensor + 1);
            find_locals(&c);
            cut_loop(&c);
        }
        look(p, s->n_body, s->body);
        look(p, s->n_other, s->other);
    }
}

void
axe_systolic_pipeline(axe_planner *p)
{
    look(p, p->kernel->n_body, p->kernel->body);
}

const axe_systolic_pipe *
axe_systolic_pipe_of(const axe_systolic_plan *sp, const axe_stmt *loop)
{
    const axe_systolic_pipe *x = sp->pipe;

    while (x && x->loop != loop)
        x = x->next;
    return x;
}
