/* simt_part.c - maps that move more than a thread has registers for.
 *
 * A map loads all that its turns read, then computes, then stores: as much as
 * can be is in flight at once.  Where that, beside the tiles that live on in
 * registers, is more than half of a thread's, turns are cut into parts that run
 * one after the other; the other half is for addresses, which are as many.
 * Parts are written out, so that registers stay constant; a part's stores keep
 * the next one's loads behind them. */
#include "ir/check.h"
#include "plan/simt_int.h"

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

static bool
touches(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++)
        if (axe_stmt_reads(body[i], t) || axe_stmt_writes(body[i], t))
            return true;
    return false;
}

static bool
is_around(const axe_crew *a, const axe_crew *c)
{
    while (c && c != a)
        c = c->in;
    return c != NULL;
}

/* Registers of the tiles declared in the body that a thread of the crew has
 * before and after: what a loop touches lives through it. */
static int64_t
alive_in(const planner *p, const frame *f, const axe_crew *c)
{
    int64_t n = 0;

    for (int i = 0; i < f->at; i++) {
        const axe_tensor *t =
            f->body[i]->kind == AXE_STMT_TENSOR ? f->body[i]->tensor : NULL;
        if (t && t->space == AXE_SPACE_REG &&
            is_around(p->simt->home[t->id], c) &&
            touches(f->at + 1, f->body, t) &&
            touches(f->n - f->at, f->body + f->at, t))
            n += (p->place[t->id].bytes + 3) / 4;
    }
    return n;
}

/* ------------------------------------------------------------------- cutting
 */

/* Registers of what an operand moves in one part. */
static int64_t
moved(const planner *p, const axe_work *w, const axe_operand *op)
{
    int64_t n = axe_type_table[op->tensor->type].bits;

    if (op->tensor->space == AXE_SPACE_REG)
        return 0;
    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].axis == p->simt->reg && !w->digit[i].apart &&
            axe_operand_depends(op, w->digit[i].of.var))
            n *= w->digit[i].of.extent;
    return (n + 31) / 32;
}

static int64_t
all_moved(const planner *p, const axe_schedule *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->n_operand; i++)
        if (axe_simt_first_load(s, i) == i)
            n += moved(p, &s->simt->work, &s->operand[i]);
    return n;
}

/* Turns of the digit that stay together: the widest vector along it. */
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
cut(planner *p, axe_work *w, int at, int64_t n)
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
cut_digit(planner *p, const axe_schedule *s, axe_work *w, int at, int64_t most)
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
part_map(planner *p, const axe_schedule *s, int64_t alive)
{
    axe_simt_schedule *simt = (axe_simt_schedule *)s->simt;
    int64_t            all = axe_simt_registers(p->mc, simt->crew);
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
part_body(planner *p, int n, axe_stmt *const *body, const frame *around)
{
    frame f = {around, n, 0, body};

    for (; f.at < n; f.at++) {
        const axe_stmt *s = body[f.at];
        int64_t         alive = 0;
        for (const frame *g = &f; g && s->kind == AXE_STMT_INDEX; g = g->around)
            alive += alive_in(p, g, p->simt->who[s->id]);
        if (s->kind == AXE_STMT_INDEX && p->schedule[s->id])
            part_map(p, p->schedule[s->id], alive);
        part_body(p, s->n_body, s->body, &f);
        part_body(p, s->n_other, s->other, &f);
    }
}

void
axe_simt_part_maps(planner *p)
{
    part_body(p, p->kernel->n_body, p->kernel->body, NULL);
}
