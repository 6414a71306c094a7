/* sync_alone.c - roles that do nothing but ask engines: they are one thread's.
 */
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/sync/sync_list.h"
#include "plan/simt/tmem/tmem.h"

/* A scalar by what one thread has? */
static bool
sets_scalar(const axe_schedule *sc)
{
    const axe_stmt *s = sc->stmt;

    for (int i = 0; i < sc->n_operand; i++)
        if (sc->operand[i].tensor->space == AXE_SPACE_SHARED)
            return false;
    return s->dst->n_arg == 0 && s->dst->u.tensor->space == AXE_SPACE_REG &&
           sc->n_nest == 1 && sc->kind == AXE_SCHED_MAP;
}

/* Is it one thread that asks an engine to do it, or nothing? */
static bool
is_asked(const axe_simt_schedule *s)
{
    if (s->contract)
        return s->contract->atom->space[0] == AXE_ARG_TMEM;
    if (s->tcopy)
        return true;
    return s->copy ? s->copy->box && s->copy->in : s->tmem && !s->tmem->able;
}

/* Is everything that the role does asked of engines, or scalars for that? */
static bool
only_asks(const axe_schedule *const *schedule, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        switch (s->kind) {
        case AXE_STMT_TENSOR:
        case AXE_STMT_BREAK:
        case AXE_STMT_CONTINUE:
            break;
        case AXE_STMT_FOR:
        case AXE_STMT_LOOP:
        case AXE_STMT_IF:
        case AXE_STMT_PRODUCE:
        case AXE_STMT_CONSUME:
            if (!only_asks(schedule, s->n_body, s->body) ||
                !only_asks(schedule, s->n_other, s->other))
                return false;
            break;
        case AXE_STMT_INDEX:
            if (!is_asked(schedule[s->id]->simt) &&
                !sets_scalar(schedule[s->id]))
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

bool
axe_sync_is_alone(const axe_simt_plan *sp, const axe_schedule *const *schedule,
                  const axe_stmt *role, int64_t *pair)
{
    *pair = axe_simt_pair_of(schedule, role->n_body, role->body);
    return axe_threads_at(sp, role)->n_entity == 1 &&
           only_asks(schedule, role->n_body, role->body);
}
