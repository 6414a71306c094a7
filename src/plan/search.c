/* search.c - plans of one kernel, until nothing is to be staged.
 *
 * Which threads hold what is known only when every tile has a layout and every
 * statement a schedule; that an operand must go by way of shared memory, or had
 * better, is found there (access/staging.c).  The tile changes what comes
 * before: layouts, room, who meets.  So planning is a search: an attempt makes
 * a plan, or names one operand; the kernel is written with a tile between
 * (rewrite/stage_operand.c), and planned anew.  What was staged stays staged,
 * and each attempt sees the list.
 *
 * The move that fills a tile, or takes it back, is a statement as others are.
 * If that one asks in its turn, a tile for it would be filled by one just like
 * it: there is no plan. */
#include <string.h>

#include "ir/check.h"
#include "plan/access/access.h"
#include "plan/passes.h"
#include "plan/search.h"
#include "plan/target.h"

/* Tiles, after which no plan is looked for any more. */
#ifdef AXE_STRESS
enum { MAX_STAGED = 8 };
#else
enum { MAX_STAGED = 64 };
#endif

static axe_status
check_target(axe_planner *p)
{
    const char *target = p->kernel->target;
    const char *one = target && strchr(target, ',') ? "one of " : "";
    axe_status  st;

    if (axe_machine_is_target(p->mc, target))
        return AXE_OK;
    st = axe_fail(p->cx, p->kernel->at, AXE_EUNSUPPORTED,
                  "kernel %s is for %s%s, not for %s", p->kernel->name, one,
                  target, p->mc->name);
    axe_help(p->cx, "name %s%s as the target, or take `target %s` away", one,
             target, target);
    return st;
}

static axe_status
attempt(axe_planner *p, const axe_pass *until)
{
    const axe_kernel *k = p->kernel;

    p->place = axe_new_array(p->cx, axe_place, k->n_tensor + 1);
    p->schedule = axe_new_array(p->cx, axe_schedule *, k->n_index_stmt + 1);
    p->pack = axe_new_array(p->cx, axe_packing, k->n_tensor + 1);
    p->asked = axe_new_array(p->cx, axe_asked *, k->n_index_stmt + 1);
    p->conflicts = axe_kernel_conflicts(p->cx, k);
    AXE_TRY(check_target(p));
    AXE_TRY(axe_check_top(p));
    return axe_run_plan_passes(p, until);
}

static axe_status
too_many(axe_ctx *cx, const axe_staged *ask)
{
    axe_fail(cx, ask->load->at, AXE_ELIMIT,
             "%s is one of more than %d operands that would go by way of "
             "shared memory: %s",
             axe_node_text(cx, ask->load), MAX_STAGED, ask->why);
    axe_help(cx, "divide the kernel, or declare `shared` tiles that several "
                 "statements use");
    return AXE_ELIMIT;
}

/* Of the list, the one for which statement s was made; NULL: the text has s. */
static const axe_staged *
made_for(const axe_planner *p, const axe_stmt *s)
{
    for (int i = p->n_staged - 1; i >= 0; i--)
        if (s->id >= p->staged[i].first)
            return &p->staged[i];
    return NULL;
}

static axe_status
in_vain(axe_ctx *cx, const axe_staged *s)
{
    axe_fail(cx, s->load->at, AXE_EUNSUPPORTED,
             "%s lies in other threads' registers than this statement works in",
             axe_node_text(cx, s->load));
    axe_help(cx, "declare %s `shared`, or leave its layout open",
             s->load->u.tensor->name);
    return AXE_EUNSUPPORTED;
}

/* The kernel with the tile that the attempt asked for, which is noted. */
static axe_status
stage(axe_ctx *cx, const axe_kernel *k, const axe_planner *p, axe_staged *list,
      const axe_kernel **out)
{
    axe_staged *new = &list[p->n_staged];
    const axe_staged *by = made_for(p, p->to_stage.stmt);

    *new = p->to_stage;
    new->first = k->n_index_stmt;
    if (by)
        return in_vain(cx, by);
    if (p->n_staged == MAX_STAGED)
        return too_many(cx, new);
    AXE_TRY(axe_run_again(cx, k, new, out));
    new->tile = (*out)->n_tensor - 1;
    return AXE_OK;
}

static const axe_staged *
kept(axe_ctx *cx, int n, const axe_staged *list)
{
    axe_staged *out = axe_new_array(cx, axe_staged, n + 1);

    for (int i = 0; i < n; i++)
        out[i] = list[i];
    return out;
}

axe_status
axe_plan_search(axe_ctx *cx, const axe_machine *mc, const axe_kernel *written,
                const axe_kernel *k, const axe_pass *until, axe_planner *last)
{
    axe_staged list[MAX_STAGED + 1];

    for (int n = 0;; n++) {
        axe_mark   m = axe_ctx_mark(cx);
        axe_status st;
        *last = (axe_planner){.cx = cx,
                              .mc = mc,
                              .target = axe_plan_target_of(mc),
                              .kernel = k,
                              .written = written,
                              .n_staged = n,
                              .staged = list};
        st = attempt(last, until);
        if (!last->to_stage.load) {
            last->staged = kept(cx, n, list);
            return st;
        }
        axe_ctx_release(cx, m);
        AXE_TRY(stage(cx, k, last, list, &k));
    }
}
