/* register_split.c - maps that move more than a thread has registers for.
 *
 * A map loads all that its iterations read, then computes, then stores: as much
 * as can be is in flight at once.  Where that, beside the tiles that live on in
 * registers, is more than half of a thread's, iterations are cut into parts
 * that run one after the other; the other half is for addresses, which are as
 * many. Parts are written out, so that registers stay constant; a part's stores
 * keep the next one's loads behind them. */
#include "ir/check.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"

/* [registers] that are in flight at once whatever lives on, but no more than a
 * quarter of a thread's: with less, memory is waited for. */
enum { LEAST = 32 };

/* -------------------------------------------------------------- what is alive
 */

/* Where a statement is: the at-th of a body, in what is around. */
typedef struct frame {
    const struct frame *around;
    int                 n, at;
    axe_stmt *const    *body;
} frame;

/* Where the body that declares a tile touches it, by the tile's id: the first
 * and the last of its statements that do, or are around what does. */
typedef struct life {
    int in; /* the body's number; 0: it is declared further down, or nowhere */
    int first, last;
} life;

typedef struct lives {
    axe_planner *p;
    life        *of; /* [tensors] */
    int          n_body;
    int          in, at; /* the body at hand, and where in it */
} lives;

static void
note(lives *x, const axe_tensor *t)
{
    life *l = &x->of[t->id];

    if (l->in != x->in)
        return;
    l->first = l->first < x->at ? l->first : x->at;
    l->last = x->at;
}

static void
note_load(void *user, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        note(user, n->u.tensor);
}

static void
note_node(lives *x, const axe_node *n)
{
    if (n)
        axe_node_walk(n, note_load, x);
}

static void
note_stmt(lives *x, const axe_stmt *s)
{
    note_node(x, s->cond);
    for (int i = 0; i < s->n_var; i++)
        note_node(x, s->var[i]->extent);
    if (s->kind == AXE_STMT_INDEX) {
        note_node(x, s->dst);
        note_node(x, s->value);
    }
    for (int i = 0; i < s->n_body; i++)
        note_stmt(x, s->body[i]);
    for (int i = 0; i < s->n_other; i++)
        note_stmt(x, s->other[i]);
}

/* The lives of the tiles that the body declares. */
static void
note_body(lives *x, int n, axe_stmt *const *body)
{
    bool any = false;

    x->in = ++x->n_body;
    for (int i = 0; i < n; i++)
        if (body[i]->kind == AXE_STMT_TENSOR) {
            x->of[body[i]->tensor->id] = (life){x->in, n, -1};
            any = true;
        }
    for (x->at = 0; x->at < n && any; x->at++)
        note_stmt(x, body[x->at]);
}

static bool
is_around(const axe_thread_group *a, const axe_thread_group *c)
{
    while (c && c != a)
        c = c->in;
    return c != NULL;
}

/* Registers of the tiles declared in the body that a thread of the group has
 * before and after: what a loop touches lives through it. */
static int64_t
alive_in(const lives *x, const frame *f, const axe_thread_group *c)
{
    const axe_simt_plan *sp = x->p->simt;
    int64_t              n = 0;

    for (int i = 0; i < f->at; i++) {
        const axe_tensor *t =
            f->body[i]->kind == AXE_STMT_TENSOR ? f->body[i]->tensor : NULL;
        if (t && t->space == AXE_SPACE_REG && x->of[t->id].first <= f->at &&
            x->of[t->id].last >= f->at && is_around(sp->owner[t->id], c))
            n += (x->p->place[t->id].bytes + 3) / 4;
    }
    return n;
}

/* ------------------------------------------------------------------- cutting
 */

/* Registers of what an operand moves in one part. */
static int64_t
moved(const axe_planner *p, const axe_work *w, const axe_operand *op)
{
    int64_t n = axe_type_table[op->tensor->type].bits;

    if (op->tensor->space == AXE_SPACE_REG)
        return 0;
    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].axis == p->simt->reg && !w->digit[i].apart &&
            axe_operand_depends(op, w->digit[i].of.var))
            n *= w->digit[i].of.extent;
    return (n + AXE_WORD_BITS - 1) / AXE_WORD_BITS;
}

static int64_t
all_moved(const axe_planner *p, const axe_schedule *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->n_operand; i++)
        if (axe_simt_first_load(s, i) == i)
            n += moved(p, &s->simt->work, &s->operand[i]);
    return n;
}

/* Iterations of the digit that stay together: the widest vector along it. */
static int64_t
together(const axe_schedule *s, const axe_work_digit *d)
{
    int64_t n = 1;

    for (int i = 0; i < s->n_operand && d->of.weight == 1; i++) {
        const axe_simt_access *a = &s->simt->access[i];
        if (a->along == d->of.var && a->width > n)
            n = a->width;
    }
    return n;
}

/* The work with digit `at` in n parts. */
static void
cut(axe_planner *p, axe_work *w, int at, int64_t n)
{
    axe_work_digit *d = axe_new_array(p->cx, axe_work_digit, w->n_digit + 1);
    int             k = 0;

    for (int i = 0; i < w->n_digit; i++) {
        d[k] = w->digit[i];
        if (i == at) {
            int64_t in = d[k].of.extent / n;
            d[k].of.weight *= in;
            d[k].of.extent = n;
            d[k].stride *= in;
            d[k].apart = true;
            if (in > 1) {
                d[++k] = w->digit[i];
                d[k].of.extent = in;
            }
        }
        k++;
    }
    w->digit = d;
    w->n_digit = k;
}

/* Parts of one digit, the fewest that bring what moves down to `most`. */
static void
cut_digit(axe_planner *p, const axe_schedule *s, axe_work *w, int at,
          int64_t most)
{
    int64_t        e = w->digit[at].of.extent;
    int64_t        keep = together(s, &w->digit[at]);
    const axe_work whole = *w;

    for (int64_t n = 2; n <= e && all_moved(p, s) > most; n++)
        if (e % n == 0 && e / n % keep == 0) {
            *w = whole;
            cut(p, w, at, n);
        }
}

/* What is brought from other lanes is brought at once. */
static bool
is_shuffled(const axe_schedule *s)
{
    for (int i = 0; i < s->n_operand; i++)
        if (s->simt->access[i].shuffle)
            return true;
    return false;
}

static void
part_map(axe_planner *p, const axe_schedule *s, int64_t alive)
{
    axe_simt_schedule *simt = p->simt->of[s->stmt->id];
    int64_t            all = axe_simt_registers(p->mc, simt->threads);
    int64_t            least = all / 4 < LEAST ? all / 4 : LEAST;
    int64_t            most =
        (all + 1) / 2 - alive > least ? (all + 1) / 2 - alive : least;

    if (!simt->access || s->n_nest > 1 || s->stmt->prefix || is_shuffled(s))
        return;
    for (int i = 0; i < simt->work.n_digit; i++)
        if (simt->work.digit[i].axis == p->simt->reg &&
            !simt->work.digit[i].apart)
            cut_digit(p, s, &simt->work, i, most);
    simt->n_register = (int)all_moved(p, s);
}

static void
part_body(lives *x, int n, axe_stmt *const *body, const frame *around)
{
    axe_planner *p = x->p;
    frame        f = {around, n, 0, body};

    note_body(x, n, body);
    for (; f.at < n; f.at++) {
        const axe_stmt *s = body[f.at];
        int64_t         alive = 0;
        for (const frame *g = &f; g && s->kind == AXE_STMT_INDEX; g = g->around)
            alive += alive_in(x, g, p->simt->who[s->id]);
        if (s->kind == AXE_STMT_INDEX && p->schedule[s->id])
            part_map(p, p->schedule[s->id], alive);
        part_body(x, s->n_body, s->body, &f);
        part_body(x, s->n_other, s->other, &f);
    }
}

void
axe_simt_part_maps(axe_planner *p)
{
    lives x = {.p = p,
               .of = axe_new_array(p->cx, life, p->kernel->n_tensor + 1)};

    part_body(&x, p->kernel->n_body, p->kernel->body, NULL);
}
