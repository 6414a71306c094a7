/* one_launch.c - which groups of scopes are one launch, see one_launch.h. */
#include "plan/simt/sync/one_launch.h"

#include "ir/stmt.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"
#include "plan/simt/sync/sync.h"

/* ------------------------------------------------------------------ the text
 */

/* Threads that scopes directly in the body take; 0: none says. */
static int64_t
threads_inside(const axe_simt *m, int n, axe_stmt *const *body)
{
    int64_t most = 0;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        int64_t         all = 1, e;
        if (s->kind == AXE_STMT_SCOPE) {
            for (int k = 0; k < s->n_var; k++)
                all *= axe_is_iconst(s->var[k]->extent, &e) ? e : 1;
            if (s->first && s->n_var == 1)
                all += s->first[0];
            all *= axe_simt_threads_of(m, s->scope);
        } else {
            int64_t in = threads_inside(m, s->n_body, s->body);
            all = threads_inside(m, s->n_other, s->other);
            all = in > all ? in : all;
        }
        most = all > most ? all : most;
    }
    return most;
}

static int64_t
threads_asked(const axe_simt *m, const axe_stmt *s)
{
    return s->keys.threads ? s->keys.threads
                           : threads_inside(m, s->n_body, s->body);
}

static int64_t
threads_of_group(const axe_simt *m, const axe_overlap_group *g)
{
    int64_t most = 0;

    for (int i = 0; i < g->n_scope; i++) {
        int64_t n = threads_asked(m, g->scope[i]);
        most = n > most ? n : most;
    }
    most = most ? most : m->threads;
    return (most + m->lanes - 1) / m->lanes * m->lanes;
}

static const axe_atom *
row_of(const axe_machine *mc, axe_sync_kind kind)
{
    return axe_simt_group_sync(mc, kind, "", AXE_ARG_GLOBAL);
}

/* What keeps the scopes from being one launch; NULL: nothing. */
static const char *
why_apart(const axe_machine *mc, const axe_overlap_group *g)
{
    int cluster = g->scope[0]->keys.cluster;

    if (!row_of(mc, AXE_SYNC_COUNT) || !row_of(mc, AXE_SYNC_PUT) ||
        !row_of(mc, AXE_SYNC_REACH) || !row_of(mc, AXE_SYNC_SAME))
        return "the machine has no row to count tiles by, or to wait for them";
    for (int i = 0; i < g->n_scope; i++) {
        const axe_stmt *s = g->scope[i];
        if ((s->keys.cluster > 1 || cluster > 1) && s->keys.cluster != cluster)
            return "their clusters have different sizes";
    }
    return NULL;
}

static bool
fits(const void *user, const axe_overlap_group *g)
{
    const axe_machine *mc = user;

    return !why_apart(mc, g);
}

/* CTAs of the group stay and have as many threads.  That they take tiles in
 * order is for the queue's plan to see (ring/tile_scheduler.c). */
static void
adapt(const void *user, const axe_overlap_group *g, axe_stmt *out)
{
    const axe_machine *mc = user;

    out->keys.persistent = 1;
    out->keys.threads = (int)threads_of_group(mc->simt, g);
}

const axe_kernel *
axe_simt_one_launch(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k)
{
    return axe_declare_counters(
        cx, k, &(axe_counters_for){.fits = fits, .adapt = adapt, .user = mc});
}

/* ------------------------------------------------------------------ the plan
 */

static axe_simt_launch *
launch_at(axe_planner *p, const axe_stmt *s, int *number)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        if (p->simt->launch[i].scope == s) {
            *number = i;
            return &p->simt->launch[i];
        }
    return NULL;
}

static void
note_group(axe_planner *p, int n, axe_stmt *const *scope)
{
    axe_simt_overlap  *o = axe_new(p->cx, axe_simt_overlap);
    axe_overlap_group *g = axe_new(p->cx, axe_overlap_group);
    int                number = 0;

    *g = axe_overlap_find(p->cx, n, scope);
    *o = (axe_simt_overlap){.n = n, .group = g, .counters = scope[0]->tensor};
    for (int i = 0; i < n; i++) {
        axe_simt_launch *l = launch_at(p, scope[i], &number);
        if (i == 0)
            o->first = number;
        if (o->counters)
            l->overlap = o;
        else
            l->apart = n < 2 ? "the group has one scope" : why_apart(p->mc, g);
        if (!o->counters && !l->apart)
            l->apart = "how many counters there are changes in a launch";
    }
}

static void
find_groups(axe_planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        int len = axe_overlap_length(n - i, body + i);
        if (len > 0)
            note_group(p, len, body + i);
        if (body[i]->kind == AXE_STMT_SCOPE)
            continue;
        find_groups(p, body[i]->n_body, body[i]->body);
        find_groups(p, body[i]->n_other, body[i]->other);
    }
}

void
axe_simt_find_overlaps(axe_planner *p)
{
    find_groups(p, p->kernel->n_body, p->kernel->body);
}
