/* resident.c - how many CTAs an SM holds, as far as a plan tells: a compiler
 * has the last word on registers. */
#include <math.h>

#include "machine/rates.h"
#include "plan/simt/team/team.h"

/* Registers of a thread beside what statements hold; what it has at least. */
enum { BESIDE = 24, LEAST_REGISTERS = 32 };

/* What tiles of the thread group and of those around it have of a thread's. */
static double
tiles_of(const axe_simt_plan *sp, int n, const axe_place *place,
         const axe_thread_group *threads)
{
    double all = 0;

    for (; threads; threads = threads->in)
        for (int i = 0; i < n; i++)
            if (place[i].tensor && place[i].tensor->space == AXE_SPACE_REG &&
                sp->owner[i] == threads)
                all += (double)place[i].bytes / 4;
    return all;
}

/* What the statement moves goes into tiles, or comes from them: it is counted
 * with them where there is more of it. */
double
axe_simt_held(const axe_simt_plan *sp, int n_place, const axe_place *place,
              const axe_schedule *s)
{
    return fmax(s->simt->n_register,
                tiles_of(sp, n_place, place, s->simt->threads));
}

double
axe_simt_resident(const axe_machine *mc, const axe_thread_group *cta,
                  double held, bool asks, int64_t shared)
{
    const axe_rates *r = axe_machine_rates(mc);
    double           n = r->ctas;

    held = asks ? (double)mc->simt->registers / cta->n_thread
                : ceil(fmax(held + BESIDE, LEAST_REGISTERS) / 8) * 8;
    held = fmin(held, mc->simt->max_registers);
    n = fmin(n, floor((double)r->threads / cta->n_thread));
    n = fmin(n, floor((double)mc->simt->registers / held / cta->n_thread));
    n = fmin(n, floor((double)r->shared / (double)(shared + r->own)));
    return fmax(n, 1);
}
