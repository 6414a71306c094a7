/* registers.c - what the thread groups of a CTA share: registers, barriers.
 *
 * Threads begin with equal shares of the registers; a role may ask for more
 * where others give theirs back.  Only whole warp groups can, be they one role
 * or their warps' roles, which then ask for the same.  Barriers of groups
 * larger than a warp are numbered, each for one entity. */
#include <inttypes.h>

#include "plan/plan_int.h"
#include "plan/simt/team/team.h"

static int64_t
share_of(const axe_machine *mc, const axe_thread_group *cta)
{
    int64_t n = mc->simt->registers / cta->n_thread / 8 * 8;

    return n < mc->simt->max_registers ? n : mc->simt->max_registers;
}

/* The row that gives a thread more, or fewer, registers. */
const axe_atom *
axe_simt_find_budget(const axe_machine *mc, bool more)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *a = &mc->atom[i];
        if (a->kind == AXE_ATOM_SYNC && a->sync == AXE_SYNC_BUDGET &&
            a->fold == (more ? AXE_FOLD_MAX : AXE_FOLD_MIN) &&
            axe_machine_has(mc, a))
            return a;
    }
    return NULL;
}

const axe_atom *
axe_simt_budget(const axe_machine *mc, const axe_thread_group *c)
{
    int64_t share = share_of(mc, axe_threads_cta(c));

    if (c->registers == 0 || c->registers == share)
        return NULL;
    return axe_simt_find_budget(mc, c->registers > share);
}

int64_t
axe_simt_registers(const axe_machine *mc, const axe_thread_group *c)
{
    int64_t share = share_of(mc, axe_threads_cta(c));

    while (c->in && c->registers == 0)
        c = c->in;
    return c->registers > 0 ? c->registers : share;
}

/* Threads of a warp group. */
static int
group_threads(const axe_machine *mc)
{
    return mc->simt->group * mc->simt->lanes;
}

/* Whose entities have thread t of the cta, and ask for registers; or NULL. */
static const axe_thread_group *
group_at(const axe_simt_plan *sp, const axe_thread_group *cta, int t)
{
    for (int i = 0; i < sp->n_group; i++) {
        const axe_thread_group *c = sp->group[i];
        if (c->in == cta && c->registers > 0 && c->first <= t &&
            t < c->first + c->n_thread * c->n_entity)
            return c;
    }
    return NULL;
}

/* The first named barrier that no thread group of the cta has. */
static int
free_barrier(const axe_simt_plan *sp, const axe_thread_group *cta)
{
    int end = 1;

    for (int i = 0; i < sp->n_group; i++) {
        const axe_thread_group *c = sp->group[i];
        int                     turns;
        if (!c->in || axe_threads_cta(c) != cta)
            continue;
        turns = c->turn + c->n_entity * (int)axe_threads_copies(c->in);
        if (c->barrier >= 0 && c->barrier + c->n_entity > end)
            end = c->barrier + c->n_entity;
        if (c->turn >= 0 && turns > end)
            end = turns;
    }
    return end;
}

const axe_atom *
axe_simt_shared_budget(const axe_machine *mc, const axe_simt_plan *sp,
                       const axe_thread_group *cta, int first,
                       axe_thread_group *out)
{
    int                     n = group_threads(mc);
    const axe_thread_group *c =
        first % n == 0 ? group_at(sp, cta, first) : NULL;

    if (!c || c->scope == AXE_SCOPE_WARPGROUP)
        return NULL;
    *out = (axe_thread_group){.scope = AXE_SCOPE_WARPGROUP,
                              .n_thread = n,
                              .n_entity = 1,
                              .first = first,
                              .barrier = free_barrier(sp, cta) + first / n,
                              .turn = -1,
                              .registers = c->registers,
                              .at = c->at,
                              .in = cta};
    return axe_simt_budget(mc, out);
}

/* Do all warps that share warp groups with the thread group's ask for the
 * same? */
static axe_status
check_sharing(axe_planner *p, const axe_thread_group *c)
{
    int n = group_threads(p->mc), lanes = p->mc->simt->lanes;
    int end = (c->first + c->n_thread * c->n_entity + n - 1) / n * n;

    for (int t = c->first / n * n; t < end; t += lanes) {
        const axe_thread_group *other = group_at(p->simt, c->in, t);
        if (other && other->registers == c->registers)
            continue;
        axe_fail(p->cx, c->at->at, AXE_EUNSUPPORTED,
                 "registers %d: %s gives registers to whole warp groups, and "
                 "warp %d, of the same, does not ask for %d",
                 c->registers, p->mc->name, t / lanes, c->registers);
        axe_help(p->cx, "give each of the %d warps a role with `registers %d`",
                 n / lanes, c->registers);
        return AXE_EUNSUPPORTED;
    }
    return AXE_OK;
}

/* Who may ask for registers: warp groups and warps directly in a cta. */
static axe_status
check_request(axe_planner *p, const axe_thread_group *c)
{
    if (!axe_simt_find_budget(p->mc, true))
        return AXE_OK;
    if (c->in && !c->in->in && c->scope == AXE_SCOPE_WARP)
        return check_sharing(p, c);
    if (c->in && !c->in->in && c->scope == AXE_SCOPE_WARPGROUP &&
        c->n_thread % group_threads(p->mc) == 0)
        return AXE_OK;
    axe_fail(p->cx, c->at->at, AXE_EUNSUPPORTED,
             "registers %d: %s gives registers to warp groups of a cta, not "
             "to each %s",
             c->registers, p->mc->name, axe_scope_name(c->scope));
    axe_help(p->cx, "write the role as `warpgroup (...) registers %d`",
             c->registers);
    return AXE_EUNSUPPORTED;
}

/* Registers that all thread groups directly in the cta hold at once; threads of
 * none keep their share. */
static axe_status
check_registers(axe_planner *p, const axe_thread_group *cta)
{
    int64_t share = share_of(p->mc, cta), sum = share * cta->n_thread;
    bool    any = false;

    for (int i = 0; i < p->simt->n_group; i++) {
        const axe_thread_group *c = p->simt->group[i];
        if (c->registers == 0 || axe_threads_cta(c) != cta)
            continue;
        AXE_TRY(check_request(p, c));
        any = any || axe_simt_budget(p->mc, c);
        sum += (c->registers - share) * c->n_thread * c->n_entity;
    }
    if (!any || sum <= p->mc->simt->registers)
        return AXE_OK;
    axe_fail(p->cx, cta->at->at, AXE_ELIMIT,
             "the roles ask for %" PRId64 " registers; %s has %" PRId64, sum,
             p->mc->name, p->mc->simt->registers);
    axe_help(p->cx,
             "an even share is %" PRId64
             " a thread; where one role takes more, another must give",
             share);
    return AXE_ELIMIT;
}

/* Named barriers are of whole warps. */
static axe_status
check_turns(axe_planner *p, const axe_thread_group *c)
{
    int64_t end = c->turn + c->n_entity * axe_threads_copies(c->in);

    if (c->n_thread % p->mc->simt->lanes != 0)
        return axe_fail(p->cx, c->at->at, AXE_EUNSUPPORTED,
                        "each %s has %d threads; on %s turns are of whole "
                        "warps or warp groups",
                        axe_scope_name(c->scope), c->n_thread, p->mc->name);
    if (end <= p->mc->simt->named_barriers)
        return AXE_OK;
    return axe_fail(p->cx, c->at->at, AXE_ELIMIT,
                    "turns and barriers up to this scope take %" PRId64
                    " of the named barriers; a CTA of %s has %d",
                    end, p->mc->name, p->mc->simt->named_barriers);
}

axe_status
axe_simt_check_groups(axe_planner *p)
{
    const axe_simt_plan *sp = p->simt;

    for (int i = 0; i < sp->n_launch; i++)
        AXE_TRY(check_registers(p, sp->launch[i].threads));
    for (int i = 0; i < sp->n_group; i++) {
        const axe_thread_group *c = sp->group[i];
        if (c->turn >= 0)
            AXE_TRY(check_turns(p, c));
        if (c->barrier >= 0 &&
            c->barrier + c->n_entity > p->mc->simt->named_barriers)
            return axe_fail(
                p->cx, c->at->at, AXE_ELIMIT,
                "the scopes up to this one take %d named barriers; a "
                "CTA of %s has %d",
                c->barrier + c->n_entity, p->mc->name,
                p->mc->simt->named_barriers);
    }
    return AXE_OK;
}
