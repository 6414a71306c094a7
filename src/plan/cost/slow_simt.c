/* slow_simt.c - statements whose threads take far longer than they need: slow.c
 * for many threads. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/cost/simt.h"
#include "plan/cost/slow.h"

enum { SIZE = 4096 };
static const double TIMES = 3, PART = 0.25;

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
      axe_slow_reason *r)
{
    const axe_simt_access *a = operand < 0 ? NULL : &s->simt->access[operand];
    int                    sector = p->machine->simt->sector_bytes;
    double                 copies = 1;

    *r = AXE_SLOW_copies;
    for (int i = 0; !a && i < s->simt->work.n_copy; i++)
        copies *= (double)s->simt->work.copy[i].extent;
    if (!a || !a->atom)
        return copies;
    *r = a->conflict > 1 ? AXE_SLOW_banks : AXE_SLOW_sectors;
    if (a->conflict > 1)
        return p->machine->simt->on_core ? 1 : a->conflict;
    return a->sector > 0 && is_lonely(s, operand, sector) &&
                   (operand == 0 || !walks(cx, p, s, operand))
               ? (double)sector / a->sector
               : 1;
}

static void
tell_gpu(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, double times,
         axe_slow_reason r, int operand)
{
    const char *lead = axe_textf(
        cx, "on %s this keeps the GPU busy %.1f times as long as it should",
        p->machine->name, times);
    const char *name =
        operand < 0 ? NULL : axe_node_text(cx, s->operand[operand].load);
    double copies = 1;

    for (int i = 0; i < s->simt->work.n_copy; i++)
        copies *= (double)s->simt->work.copy[i].extent;
    if (r == AXE_SLOW_sectors)
        name = axe_textf(cx, "of each %d bytes that come, `%s` uses %d",
                         p->machine->simt->sector_bytes, name,
                         s->simt->access[operand].sector);
    else if (r == AXE_SLOW_banks)
        name = axe_textf(cx, "threads wait %d turns for the banks of `%s`",
                         s->simt->access[operand].conflict, name);
    else
        name = axe_textf(cx, "%.0f threads each do the same", copies);
    axe_slow_warn(cx, s, lead, r, name);
}

/* The first of what a statement wastes that is worth a warning. */
static void
check_gpu(axe_ctx *cx, const axe_plan *p, int launch, const int64_t *size,
          const axe_schedule *s)
{
    static const axe_cost_ideal none = {NULL, 0};
    double                      all, less, is, best;
    axe_slow_reason             r;

    for (int i = -1; i < (s->simt->access ? s->n_operand : 0); i++) {
        if (waste(cx, p, s, i, &r) <= TIMES)
            continue;
        is = busiest(cx, p, launch, size, none, &all);
        best = busiest(cx, p, launch, size, (axe_cost_ideal){s, i}, &less);
        if (is - best > PART * all && best > 0) {
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
        if (s && s->kind == AXE_SCHED_MAP && s->simt && s->simt->threads &&
            !s->stmt->slow && !s->stmt->atom && !axe_slow_looks_up(s) &&
            axe_threads_cta(s->simt->threads) ==
                p->simt->launch[launch].threads)
            check_gpu(cx, p, launch, size, s);
    }
}

void
axe_simt_check_slow(axe_ctx *cx, const axe_plan *p)
{
    int64_t *size = axe_new_array(cx, int64_t, p->kernel->n_size + 1);

    for (int i = 0; i < p->kernel->n_size; i++)
        size[i] = SIZE;
    for (int i = 0; i < p->simt->n_launch && p->n_schedule <= AXE_SLOW_MANY;
         i++)
        check_launch(cx, p, i, size);
}
