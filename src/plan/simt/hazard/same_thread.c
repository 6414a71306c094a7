/* same_thread.c - does each thread find in a shared tile only what it touched
 * itself?
 *
 * Two statements of one thread group, each a map whose work says which thread
 * counts which digits: every element that one touches is noted with its thread,
 * and every element that the other touches must be noted with the same.  By
 * enumeration; what is not known, or too large to walk, is not own. */
#include <string.h>

#include "plan/plan_int.h"
#include "plan/simt/hazard/hazard.h"

enum { MAX_DIGIT = 24, MAX_WALK = 1 << 16 };

/* The accesses of one statement to the tile. */
typedef struct walk {
    axe_planner        *p;
    const axe_schedule *s;
    const axe_operand  *op;
    int64_t             base;
    int64_t             digit[MAX_DIGIT];
} walk;

static bool
is_map(const axe_schedule *s)
{
    return s && s->kind == AXE_SCHED_MAP && s->simt->access &&
           s->simt->share <= 1 && s->simt->work.n_copy == 0 &&
           s->simt->work.n_digit <= MAX_DIGIT;
}

/* Points that the statement's digits walk; 0: not known, or too many. */
static int64_t
n_point(const axe_schedule *s)
{
    int64_t n = 1;

    for (int i = 0; i < s->simt->work.n_digit; i++) {
        int64_t e = s->simt->work.digit[i].of.extent;
        if (e == 0 || !axe_mul(n, e, &n) || n > MAX_WALK)
            return 0;
    }
    return n;
}

static int64_t
thread_of(const walk *w)
{
    const axe_work *work = &w->s->simt->work;
    int64_t         warp = 0, lane = 0;

    for (int i = 0; i < work->n_digit; i++) {
        const axe_work_digit *d = &work->digit[i];
        if (axe_axis_kind_of(w->p->cx, d->axis) != AXE_KIND_THREAD)
            continue;
        *(d->axis == w->p->simt->lane ? &lane : &warp) +=
            w->digit[i] * d->stride;
    }
    return warp * w->p->simt->lanes + lane;
}

static int64_t
element_of(const walk *w)
{
    const axe_work *work = &w->s->simt->work;
    axe_move        part[64];
    int64_t         at = w->base;

    for (int i = 0; i < work->n_digit; i++) {
        int n = axe_operand_moves(w->op, &work->digit[i].of, part);
        for (int k = 0; k < n; k++) {
            int64_t v = w->digit[i] / part[k].over;
            if (part[k].extent > 0)
                v %= part[k].extent;
            at += v * part[k].stride.coef;
        }
    }
    return at;
}

static void
set_digits(walk *w, int64_t point)
{
    const axe_work *work = &w->s->simt->work;

    for (int i = work->n_digit - 1; i >= 0; i--) {
        w->digit[i] = point % work->digit[i].of.extent;
        point /= work->digit[i].of.extent;
    }
}

/* All of the operand's elements with their threads: noted in `owner`, from -1;
 * or, if `check`, compared with it.  False where two threads share one. */
static bool
walk_all(walk *w, int64_t size, int64_t *owner, bool check)
{
    int64_t n = n_point(w->s);

    if (n == 0 || !axe_is_iconst(w->op->base, &w->base) || w->op->n_check > 0 ||
        axe_operand_n_iter(w->op) > 64)
        return false;
    for (int64_t i = 0; i < n; i++) {
        int64_t at, who;
        set_digits(w, i);
        at = element_of(w);
        who = thread_of(w);
        if (at < 0 || at >= size ||
            (owner[at] != who && (check || owner[at] >= 0)))
            return false;
        owner[at] = who;
    }
    return true;
}

/* All operands of the statement that are of the tile. */
static bool
walk_tile(axe_planner *p, const axe_schedule *s, const axe_tensor *tile,
          int64_t size, int64_t *owner, bool check)
{
    for (int i = 0; i < s->n_operand; i++) {
        walk w = {.p = p, .s = s, .op = &s->operand[i]};
        if (s->operand[i].tensor == tile && !walk_all(&w, size, owner, check))
            return false;
    }
    return true;
}

bool
axe_simt_is_own(axe_planner *p, const axe_stmt *a, const axe_stmt *b,
                const axe_tensor *tile)
{
    const axe_schedule *x = p->schedule[a->id], *y = p->schedule[b->id];
    int                 bytes = axe_type_table[tile->type].bits / 8;
    int64_t             size, *owner;
    axe_mark            m = axe_ctx_mark(p->cx);
    bool                own;

    if (p->simt->who[a->id] != p->simt->who[b->id])
        return false;
    if (p->simt->who[a->id]->n_thread == 1)
        return true;
    if (!is_map(x) || !is_map(y) || bytes == 0)
        return false;
    size = p->place[tile->id].bytes / bytes;
    owner = axe_new_array(p->cx, int64_t, size + 1);
    memset(owner, 0xff, (size_t)size * sizeof *owner);
    own = walk_tile(p, x, tile, size, owner, false) &&
          walk_tile(p, y, tile, size, owner, true);
    axe_ctx_release(p->cx, m);
    return own;
}
