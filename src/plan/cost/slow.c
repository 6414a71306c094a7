/* slow.c - statements that take far longer than the machine needs, and why.
 *
 * The model of costs is asked twice: how long does the statement take as it is
 * planned, and how long if it filled its vectors with neighbours (CPUs), or
 * used all that its threads move and compute (GPUs)?  What takes TIMES as long,
 * and for that PART of the kernel, is told, with what in the plan is the reason
 * and what to write.  Sizes that are not known count as usual ones.  Where a
 * value is looked up by another, or elements are scattered, nothing can be done
 * and nothing is said. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/cost/cost.h"
#include "plan/cost/frame.h"
#include "plan/cost/simt.h"
#include "plan/plan_int.h"

enum { CPU_SIZE = 1024, GPU_SIZE = 4096, MANY = 100 };
static const double TIMES = 3, PART = 0.1, GPU_PART = 0.25;

typedef enum reason {
#define SLOW(id, why, way) SLOW_##id,
#include "plan/cost/slow.def"
    N_SLOW
} reason;

static const struct {
    const char *why, *way;
} reasons[N_SLOW] = {
#define SLOW(id, why, way) {why, way},
#include "plan/cost/slow.def"
};

static void
warn(axe_ctx *cx, const axe_schedule *s, const char *lead, reason r,
     const char *what)
{
    axe_buf b = {.cx = cx};

    for (const char *t = reasons[r].why; *t; t++)
        if (t[0] == '%' && t[1] == 's')
            axe_puts(&b, what), t++;
        else
            axe_putc(&b, *t);
    axe_warn(cx, s->stmt->at, "%s: %s", lead, b.text);
    axe_help(cx, "%s; or write `slow` behind the statement to accept it",
             reasons[r].way);
}

/* -------------------------------------------------------------------- CPUs */

static int
lanes_of(const axe_schedule *s)
{
    int lanes = 1;

    for (int k = 0; k < s->n_nest; k++)
        lanes = s->nest[k].lanes > lanes ? s->nest[k].lanes : lanes;
    return lanes;
}

/* An access whose place follows from elements of another tensor. */
static bool
looks_up(const axe_schedule *s)
{
    for (int i = 0; i < s->n_operand; i++)
        for (int d = 0; d < s->nest[0].n_dim; d++)
            if (axe_mentions(s->operand[i].base, s->nest[0].dim[d].var))
                return true;
    return false;
}

/* Has no index of the statement so many values? */
static bool
too_short(const axe_schedule *s, int lanes)
{
    for (int k = 0; k < s->n_nest; k++)
        for (int d = 0; d < s->nest[k].n_dim; d++) {
            int64_t e = axe_dim_extent(&s->nest[k].dim[d]);
            if (e == 0 || e >= lanes)
                return false;
        }
    return true;
}

static const axe_operand *
apart(const axe_schedule *s)
{
    for (int i = 1; i < s->n_operand; i++)
        if (s->operand[i].apart)
            return &s->operand[i];
    return NULL;
}

/* Why the planner did not do what begins, or ends, with these words. */
static const char *
why_not(const axe_schedule *s, const char *words)
{
    for (int i = 0; i < s->n_reject; i++)
        if (strstr(s->reject[i].what, words))
            return s->reject[i].why;
    return NULL;
}

/* Might lanes make it faster? */
static bool
suspect(const axe_plan *p, const axe_schedule *s)
{
    return s && !s->stmt->slow && !s->stmt->atom && s->kind == AXE_SCHED_MAP &&
           !looks_up(s) && !too_short(s, 2) &&
           (apart(s) || lanes_of(s) < axe_map_most_lanes(p, s));
}

static void
tell_cpu(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, double times)
{
    int                lanes = lanes_of(s), most = axe_map_most_lanes(p, s);
    const axe_operand *op = apart(s);
    const char        *why = why_not(s, "lanes of ");
    const char        *turn = why_not(s, "transpose");
    const char        *lead =
        axe_textf(cx, "this takes about %.0f times as long as it could", times);

    if (op)
        warn(cx, s, lead, SLOW_apart,
             axe_textf(cx, "`%s` is read", axe_node_text(cx, op->load)));
    else if (lanes > 1 || too_short(s, most))
        warn(cx, s, lead, SLOW_few_lanes,
             lanes > 1
                 ? axe_textf(cx, "only %d of %d lanes are filled", lanes, most)
                 : axe_textf(cx,
                             "it runs element by element: no index has %d "
                             "values",
                             most));
    else if (why && turn)
        warn(cx, s, lead, SLOW_no_turn,
             axe_textf(cx, "%s, and blocks are not transposed: %s", why, turn));
    else if (why)
        warn(cx, s, lead, SLOW_no_lanes, why);
}

static void
check_cpu(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at)
{
    axe_cost *c = axe_new_array(cx, axe_cost, p->n_schedule + 1);
    double    all = 0;

    axe_cost_each(cx, p, at, c);
    for (int i = 0; i < p->n_schedule; i++)
        all += fmax(c[i].cycles, 0);
    for (int i = 0; i < p->n_schedule; i++) {
        double bound = fmax(c[i].wait, c[i].best);
        if (suspect(p, p->schedule[i]) && c[i].cycles > TIMES * bound &&
            c[i].cycles - bound > PART * all)
            tell_cpu(cx, p, p->schedule[i], c[i].cycles / bound);
    }
}

/* -------------------------------------------------------------------- GPUs */

/* How busy the busiest part of the machine is, and all its time. */
static double
busiest(axe_ctx *cx, const axe_plan *p, int launch, const int64_t *size,
        axe_cost_ideal ideal, double *seconds)
{
    axe_simt_cost c;
    double        most = 0;

    axe_simt_cost_launch(cx, p, launch, size, ideal, &c);
    for (int b = 0; b < AXE_BUSY_CHAIN && c.seconds > 0; b++)
        most = fmax(most, c.busy[b]);
    *seconds = c.seconds;
    return most;
}

/* Are the elements that a CTA touches in a row fewer than a sector has, so that
 * no other access of it finds the rest of the sector near?  Stores always ask
 * for their own. */
static bool
is_lonely(const axe_schedule *s, int operand, int sector)
{
    const axe_node *load = s->operand[operand].load;
    const axe_node *last = load->n_arg > 0 ? load->arg[load->n_arg - 1] : NULL;
    double          n = axe_type_table[load->u.tensor->type].bits / 8.0;

    if (!last)
        return false;
    for (int k = 0; k < s->n_nest; k++)
        for (int d = 0; d < s->nest[k].n_dim; d++) {
            int64_t e = axe_dim_extent(&s->nest[k].dim[d]);
            if (axe_mentions(last, s->nest[k].dim[d].var))
                n *= e == 0 ? sector : (double)e;
        }
    return operand == 0 || n * TIMES < sector;
}

/* Does a loop around go along the last dimension? */
static bool
walks(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, int operand)
{
    const axe_node *load = s->operand[operand].load;
    axe_cost_at     at = {.n_worker = 1};
    axe_cost_env    e = {.cx = cx, .plan = p, .at = &at};

    axe_cost_around(&e, s->stmt);
    for (int l = 0; l < e.n_loop && load->n_arg > 0; l++)
        if (e.loop[l].stmt->kind == AXE_STMT_FOR &&
            axe_mentions(load->arg[load->n_arg - 1], e.loop[l].var))
            return true;
    return false;
}

/* What an access wastes at most, and why; of all threads if operand is -1. */
static double
waste(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, int operand,
      reason *r)
{
    const axe_simt_access *a = operand < 0 ? NULL : &s->simt->access[operand];
    int                    sector = p->machine->simt->sector_bytes;
    double                 copies = 1;

    *r = SLOW_copies;
    for (int i = 0; !a && i < s->simt->work.n_copy; i++)
        copies *= (double)s->simt->work.copy[i].extent;
    if (!a || !a->atom)
        return copies;
    *r = a->conflict > 1 ? SLOW_banks : SLOW_sectors;
    if (a->conflict > 1)
        return a->conflict;
    return a->sector > 0 && is_lonely(s, operand, sector) &&
                   (operand == 0 || !walks(cx, p, s, operand))
               ? (double)sector / a->sector
               : 1;
}

static void
tell_gpu(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, double times,
         reason r, int operand)
{
    const char *lead = axe_textf(
        cx, "this keeps the GPU busy %.1f times as long as it should", times);
    const char *name =
        operand < 0 ? NULL : axe_node_text(cx, s->operand[operand].load);
    double copies = 1;

    for (int i = 0; i < s->simt->work.n_copy; i++)
        copies *= (double)s->simt->work.copy[i].extent;
    if (r == SLOW_sectors)
        name = axe_textf(cx, "of each %d bytes that come, `%s` uses %d",
                         p->machine->simt->sector_bytes, name,
                         s->simt->access[operand].sector);
    else if (r == SLOW_banks)
        name = axe_textf(cx, "threads wait %d turns for the banks of `%s`",
                         s->simt->access[operand].conflict, name);
    else
        name = axe_textf(cx, "%.0f threads each do the same", copies);
    warn(cx, s, lead, r, name);
}

/* The first of what a statement wastes that is worth a warning. */
static void
check_gpu(axe_ctx *cx, const axe_plan *p, int launch, const int64_t *size,
          const axe_schedule *s)
{
    static const axe_cost_ideal none = {NULL, 0};
    double                      all, less, is, best;
    reason                      r;

    for (int i = -1; i < (s->simt->access ? s->n_operand : 0); i++) {
        if (waste(cx, p, s, i, &r) <= TIMES)
            continue;
        is = busiest(cx, p, launch, size, none, &all);
        best = busiest(cx, p, launch, size, (axe_cost_ideal){s, i}, &less);
        if (is - best > GPU_PART * all && best > 0) {
            tell_gpu(cx, p, s, is / best, r, i);
            return;
        }
    }
}

static void
check_launch(axe_ctx *cx, const axe_plan *p, int launch, const int64_t *size)
{
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && s->kind == AXE_SCHED_MAP && s->simt && s->simt->crew &&
            !s->stmt->slow && !s->stmt->atom && !looks_up(s) &&
            axe_crew_cta(s->simt->crew) == p->simt->launch[launch].crew)
            check_gpu(cx, p, launch, size, s);
    }
}

void
axe_check_slow(axe_ctx *cx, const axe_plan *p)
{
    int64_t *size = axe_new_array(cx, int64_t, p->kernel->n_size + 1);
    bool     any = false;

    for (int i = 0; i < p->kernel->n_size; i++)
        size[i] = p->simt ? GPU_SIZE : CPU_SIZE;
    for (int i = 0; i < p->n_schedule && !p->simt; i++)
        any = any || suspect(p, p->schedule[i]);
    if (any && p->n_schedule <= MANY)
        check_cpu(cx, p,
                  &(axe_cost_at){size, 1, axe_machine_levels(p->machine)});
    for (int i = 0; p->simt && i < p->simt->n_launch && p->n_schedule <= MANY;
         i++)
        check_launch(cx, p, i, size);
}
