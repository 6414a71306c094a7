/* task.c - the entities of a scope as tasks: how many of them there are, and
 * which one a task is. */
#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/tile.h"

static const axe_retile *
retile_of(const axe_lowering *lw, const axe_var *v)
{
    return axe_retile_of(lw->plan->n_retile, lw->plan->retile, v);
}

static const axe_node *
choose(axe_lowering *lw, const axe_node *c, const axe_node *a,
       const axe_node *b)
{
    return axe_node_new(lw->cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
                        (const axe_node *[]){c, a, b});
}

/* The count raised to a multiple of the workers unless `keep`. */
static const axe_node *
raised(axe_lowering *lw, axe_lblock *b, const axe_node *keep,
       const axe_node *count)
{
    const axe_node *w = axe_worker_count(lw);
    const axe_node *more = axe_node2(
        lw->cx, AXE_OP_mul, axe_node2(lw->cx, AXE_OP_cdiv, count, w), w);

    return axe_emit_let(lw, b, axe_loop_var(lw, "tiles"),
                        choose(lw, keep, count, more));
}

/* The counts of tiles as written; where tiles may be smaller, one such count is
 * raised until tasks can be distributed evenly, if they are few: the first, or
 * one of which more tiles cost nothing, if it has enough register tiles. */
static void
count_tiles(axe_lowering *lw, axe_lblock *b, const axe_stmt *s,
            const axe_node **count)
{
    const axe_node *all = axe_int(lw, 1), *w = axe_worker_count(lw), *enough;
    int             first = s->n_var, cheap = s->n_var;

    for (int i = 0; i < s->n_var; i++) {
        const axe_retile *r = retile_of(lw, s->var[i]);
        count[i] = s->var[i]->extent;
        if (!r)
            continue;
        first = first < i ? first : i;
        cheap = r->cheap ? i : cheap;
        count[i] = axe_emit_let(
            lw, b, axe_loop_var(lw, "tiles"),
            axe_node2(lw->cx, AXE_OP_max, count[i], axe_int(lw, 1)));
    }
    for (int i = 0; i < s->n_var; i++)
        all = axe_node2(lw->cx, AXE_OP_mul, all, count[i]);
    if (first == s->n_var)
        return;
    enough = axe_node2(
        lw->cx, AXE_OP_or,
        axe_node2(lw->cx, AXE_OP_eq, axe_node2(lw->cx, AXE_OP_mod, all, w),
                  axe_int(lw, 0)),
        axe_node2(lw->cx, AXE_OP_le,
                  axe_node2(lw->cx, AXE_OP_mul, axe_int(lw, 8), w), all));
    if (cheap < s->n_var && cheap != first) {
        const axe_retile *r = retile_of(lw, s->var[cheap]);
        const axe_node   *wide = axe_node2(
              lw->cx, AXE_OP_le, w,
              axe_node2(lw->cx, AXE_OP_cdiv, r->size, axe_int(lw, r->round)));
        const axe_node *narrow = axe_node1(lw->cx, AXE_OP_not, wide);
        count[cheap] = raised(
            lw, b, axe_node2(lw->cx, AXE_OP_or, enough, narrow), count[cheap]);
        enough = axe_node2(lw->cx, AXE_OP_or, enough, wide);
    }
    count[first] = raised(lw, b, enough, count[first]);
}

/* Even steps: whole register tiles, at most the tile. */
static void
even_steps(axe_lowering *lw, axe_lblock *b, const axe_stmt *s,
           const axe_node **count)
{
    for (int i = 0; i < s->n_var; i++) {
        const axe_retile *r = retile_of(lw, s->var[i]);
        if (!r)
            continue;
        const axe_node *n = axe_node2(lw->cx, AXE_OP_cdiv, r->size, count[i]);
        const axe_node *round = axe_int(lw, r->round);
        n = axe_node2(lw->cx, AXE_OP_mul,
                      axe_node2(lw->cx, AXE_OP_cdiv, n, round), round);
        n = axe_node2(lw->cx, AXE_OP_max, n, round);
        n = axe_emit_let(
            lw, b, r->step,
            axe_node2(lw->cx, AXE_OP_min, n, axe_int(lw, r->tile)));
        count[i] = axe_emit_let(lw, b, axe_loop_var(lw, "tiles"),
                                axe_node2(lw->cx, AXE_OP_cdiv, r->size, n));
    }
}

/* i, j, ... from the task's number, the last fastest. */
void
axe_split_task(axe_lowering *lw, axe_lblock *b, const axe_stmt *s,
               const axe_node *const *count, const axe_node *task)
{
    for (int i = s->n_var - 1; i >= 0; i--) {
        const axe_retile *r = retile_of(lw, s->var[i]);
        const axe_node   *v = axe_emit_let(
              lw, b, s->var[i],
            i == 0 ? task : axe_node2(lw->cx, AXE_OP_mod, task, count[i]));
        if (r)
            axe_emit_let(
                lw, b, r->origin,
                axe_node2(lw->cx, AXE_OP_mul, v, axe_ivar(lw, r->step)));
        if (i > 0)
            task = axe_emit_let(lw, b, axe_loop_var(lw, "task"),
                                axe_node2(lw->cx, AXE_OP_div, task, count[i]));
    }
}

const axe_node *const *
axe_count_tasks(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    const axe_node **count =
        axe_new_array(lw->cx, const axe_node *, s->n_var + 1);

    count_tiles(lw, b, s, count);
    even_steps(lw, b, s, count);
    return count;
}

const axe_node *
axe_all_tasks(axe_lowering *lw, const axe_stmt *s, const axe_node *const *count)
{
    const axe_node *n = axe_int(lw, 1);

    for (int i = 0; i < s->n_var; i++)
        n = axe_node2(lw->cx, AXE_OP_mul, n, count[i]);
    return n;
}
