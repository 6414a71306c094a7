/* sync_overlap.c - what is waited for where a tile of a scope that overlaps
 * begins, and what is told where it ends; see one_launch.h. */
#include "ir/stmt.h"
#include "plan/access/relation_touch.h"
#include "plan/plan_int.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/sync/one_launch.h"
#include "plan/simt/sync/sync.h"

/* What the scopes of a group touch. */
typedef struct touching {
    const axe_planner     *p;
    const axe_simt_launch *l;
    int                    at; /* its number in the group */
    axe_list              *by; /* [n_scope] const axe_touch * */
} touching;

static touching
touching_of(axe_planner *p, const axe_simt_launch *l)
{
    const axe_overlap_group *g = l->overlap->group;
    axe_list                 written = {.cx = p->cx}, reads = {.cx = p->cx};
    touching                 t = {
                        .p = p, .l = l, .at = (int)(l - p->simt->launch) - l->overlap->first};

    t.by = axe_new_array(p->cx, axe_list, g->n_scope);
    for (int i = 0; i < g->n_scope; i++)
        axe_touch_written(&written, g->scope[i]->n_body, g->scope[i]->body);
    for (int i = 0; i < g->n_scope; i++)
        t.by[i] = axe_touches_of(p->cx, g->scope[i], &written, &reads);
    return t;
}

/* Is what x touches touched by a scope in front, or behind, so that the two may
 * not change places? */
static bool
meets(const touching *t, const axe_touch *x, bool front)
{
    int n = t->l->overlap->group->n_scope;

    for (int i = front ? 0 : t->at + 1; i < (front ? t->at : n); i++)
        for (int k = 0; k < t->by[i].n; k++) {
            const axe_touch *y = t->by[i].item[k];
            if (y->load->u.tensor == x->load->u.tensor &&
                (x->writes || y->writes))
                return true;
        }
    return false;
}

static bool
is_in(const axe_stmt *role, const axe_stmt *s)
{
    return !role || axe_stmt_within(role->n_body, role->body, s);
}

static const axe_simt_copy *
copy_of(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule *d =
        s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : NULL;

    return d && d->kind == AXE_SCHED_COPY ? d->simt->copy : NULL;
}

/* Does an engine read, or write, for the statement? */
static bool
is_by_engine(const axe_planner *p, const axe_stmt *s)
{
    const axe_simt_copy *c = copy_of(p, s);

    return c && (c->stage ? c->stage->fits : c->box);
}

static bool
is_alone(const axe_planner *p, const axe_stmt *role)
{
    int64_t pair;

    return role &&
           axe_sync_is_alone(p->simt, (const axe_schedule *const *)p->schedule,
                             role, &pair);
}

/* Does the role, or all, tell that a tile is done?  Those do that write what
 * scopes behind touch.  What is only read has been when those are done that
 * use it, so then all of them tell, but for roles that only ask engines. */
static bool
tells(const touching *t, const axe_stmt *role)
{
    bool read = false;

    for (int i = 0; i < t->by[t->at].n; i++) {
        const axe_touch *x = t->by[t->at].item[i];
        if (!meets(t, x, false))
            continue;
        if (x->writes && is_in(role, x->stmt))
            return true;
        read = read || !x->writes;
    }
    return read && !is_alone(t->p, role);
}

/* ------------------------------------------------------------------- waiting
 */

static axe_status
need_row(axe_planner *p, axe_sync_item *item, axe_sync_kind kind)
{
    item->row = axe_simt_group_sync(p->mc, kind, "", AXE_ARG_GLOBAL);
    return item->row ? AXE_OK
                     : axe_fail(p->cx, item->at->at, AXE_EUNSUPPORTED,
                                "%s has no row to count tiles by", p->mc->name);
}

/* Before engines see what threads wrote, where the machine tells the two apart.
 */
static void
push_fence(axe_planner *p, axe_sync_item item, const char *why)
{
    item.row = axe_simt_group_sync(p->mc, AXE_SYNC_FENCE,
                                   axe_simt_by_bytes(p->mc), AXE_ARG_GLOBAL);
    item.what = AXE_SYNC_ROW;
    item.why = why;
    if (item.row)
        axe_sync_push(p, item);
}

static void
push_together(axe_planner *p, axe_sync_item item, const char *why)
{
    item.what = AXE_SYNC_TOGETHER;
    item.why = why;
    axe_sync_push(p, item);
}

axe_status
axe_sync_begin_tile(axe_planner *p, const axe_simt_launch *l,
                    const axe_stmt *role)
{
    axe_sync_item item = {.at = role ? role : l->scope,
                          .place = AXE_SYNC_BEGUN,
                          .what = AXE_SYNC_REACHED,
                          .threads =
                              role ? axe_threads_at(p->simt, role) : l->threads,
                          .why = "tiles that it needs are done"};
    bool          waits = false, engine = false, shared = false;
    bool          alone = is_alone(p, role);
    touching      t;

    if (!l->overlap)
        return AXE_OK;
    t = touching_of(p, l);
    if (role && tells(&t, role))
        AXE_TRY(axe_sync_know_gate(p, l, role));
    for (int i = 0; i < t.by[t.at].n; i++) {
        const axe_touch *x = t.by[t.at].item[i];
        if (!is_in(role, x->stmt) || !meets(&t, x, true))
            continue;
        waits = true;
        engine = engine || is_by_engine(p, x->stmt);
    }
    if (!waits)
        return AXE_OK;
    AXE_TRY(need_row(p, &item, AXE_SYNC_REACH));
    for (int i = 0; i < l->overlap->group->relation.n; i++) {
        item.relation = l->overlap->group->relation.item[i];
        if (item.relation->to != l->scope)
            continue;
        item.many = axe_sync_count_tellers(p, l, item.relation->from);
        item.shared = !alone && item.threads->n_thread > 1 &&
                      axe_relation_has_shares(item.relation);
        shared = shared || item.shared;
        axe_sync_push(p, item);
    }
    if (!alone)
        push_together(p, item,
                      shared ? "each thread knows of some tiles"
                             : "one thread knows that tiles are done");
    if (engine)
        push_fence(p, item, "engines touch what other CTAs did");
    return AXE_OK;
}

/* -------------------------------------------------------------------- telling
 */

int64_t
axe_sync_count_tellers(axe_planner *p, const axe_simt_launch *one,
                       const axe_stmt *scope)
{
    int                    i = one->overlap->first;
    const axe_simt_launch *l;
    touching               t;
    int64_t                n = 0;

    while (p->simt->launch[i].scope != scope)
        i++;
    l = &p->simt->launch[i];
    if (!axe_scope_is_of_roles(scope))
        return 1;
    t = touching_of(p, l);
    for (i = 0; i < scope->n_body; i++)
        for (int k = 0; scope->body[i]->kind == AXE_STMT_ROLES &&
                        k < scope->body[i]->n_body;
             k++) {
            const axe_stmt *role = scope->body[i]->body[k];
            if (tells(&t, role))
                n += axe_threads_at(p->simt, role)->n_entity;
        }
    return n;
}

/* Does an engine of a scope behind touch what is written here? */
static bool
engine_behind(const touching *t)
{
    for (int i = t->at + 1; i < t->l->overlap->group->n_scope; i++)
        for (int k = 0; k < t->by[i].n; k++) {
            const axe_touch *y = t->by[i].item[k];
            for (int n = 0; n < t->by[t->at].n; n++) {
                const axe_touch *x = t->by[t->at].item[n];
                if (x->writes && x->load->u.tensor == y->load->u.tensor &&
                    is_by_engine(t->p, y->stmt))
                    return true;
            }
        }
    return false;
}

/* Engines that write for the role are done, and one of its threads knows. */
static axe_status
push_written(axe_planner *p, const touching *t, const axe_stmt *role,
             axe_sync_item item)
{
    const char *group = NULL;
    bool        threads = false;

    for (int i = 0; i < t->by[t->at].n; i++) {
        const axe_touch     *x = t->by[t->at].item[i];
        const axe_simt_copy *c = copy_of(p, x->stmt);
        if (!x->writes || !is_in(role, x->stmt))
            continue;
        if (c && c->stage)
            group = c->stage->group;
        else if (c && c->box)
            group = c->atom->group;
        else
            threads = true;
        threads = threads || (c && (c->when || (c->stage && !c->stage->fits)));
    }
    item.what = AXE_SYNC_ROW;
    item.why = "copies have been written";
    if (group) {
        item.row =
            axe_simt_group_sync(p->mc, AXE_SYNC_DRAIN, group, AXE_ARG_NONE);
        if (!item.row)
            return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                            "%s has no row by which copies of group %s are "
                            "ordered",
                            p->mc->name, group);
        axe_sync_push(p, item);
    }
    if (threads && engine_behind(t))
        push_fence(p, item, "engines of other CTAs may read it");
    return AXE_OK;
}

axe_status
axe_sync_end_tile(axe_planner *p, const axe_simt_launch *l,
                  const axe_stmt *role)
{
    axe_sync_item item = {.at = role ? role : l->scope,
                          .place = AXE_SYNC_ENDED,
                          .threads = role ? axe_threads_at(p->simt, role)
                                          : l->threads};
    touching      t;
    bool          any = false;

    for (int i = 0; l->overlap && i < l->overlap->group->counters.n; i++) {
        const axe_counters *c = l->overlap->group->counters.item[i];
        any = any || c->of == l->scope;
    }
    if (!any)
        return AXE_OK;
    t = touching_of(p, l);
    if (axe_scope_is_of_roles(l->scope) && !tells(&t, role))
        return AXE_OK;
    AXE_TRY(push_written(p, &t, role, item));
    if (!is_alone(p, role))
        push_together(p, item, "all have written what they will");
    if (!role)
        AXE_TRY(axe_sync_know_gate(p, l, NULL));
    item.what = AXE_SYNC_COUNTED;
    item.why = "the tile is done";
    AXE_TRY(need_row(p, &item, AXE_SYNC_COUNT));
    for (int i = 0; i < l->overlap->group->counters.n; i++) {
        item.counters = l->overlap->group->counters.item[i];
        if (item.counters->of == l->scope)
            axe_sync_push(p, item);
    }
    return AXE_OK;
}

/* -------------------------------------------------------------------- between
 */

axe_status
axe_sync_go_on(axe_planner *p, const axe_simt_launch *l, bool meets)
{
    axe_sync_item item = {.at = l->scope,
                          .place = AXE_SYNC_OPEN,
                          .threads = l->threads,
                          .why = "the scope before it has used the memory"};
    const char   *group = axe_simt_by_bytes(p->mc);

    if (!axe_simt_goes_on(p->simt, l))
        return AXE_OK;
    item.row =
        axe_simt_group_sync(p->mc, AXE_SYNC_FENCE, group, AXE_ARG_SHARED);
    if (item.row && l->shared_bytes > 0 && l[-1].shared_bytes > 0)
        axe_sync_push(p, item);
    if (l->scope->keys.cluster > 1) {
        AXE_TRY(axe_sync_push_row(p, item, AXE_SYNC_BARRIER, AXE_SCOPE_CLUSTER,
                                  ""));
    } else if (!meets) {
        item.what = AXE_SYNC_TOGETHER;
        axe_sync_push(p, item);
    }
    item.what = AXE_SYNC_ROW;
    return l->tmem_columns > 0 ? axe_sync_push_sums(p, item, AXE_SYNC_AFTER)
                               : AXE_OK;
}
