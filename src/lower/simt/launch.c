/* launch.c - a kernel as launches: one grid for each top scope.
 *
 * Statements become code of each thread, in order; a scope in a cta is a
 * condition on who the thread is. */

#include "base/names.h"
#include "lower/pass/finish.h"
#include "lower/pass/pass.h"
#include "lower/pass/width.h"
#include "lower/simt/node.h"

/* ------------------------------------------------------------------ grids */

static void
name_ids(axe_simt_lowering *sl, axe_grid *g)
{
    for (int i = 0; i < AXE_N_ID; i++) {
        axe_var *v = axe_new(sl->lw.cx, axe_var);
        *v = (axe_var){.kind = AXE_VAR_SCOPE,
                       .name = axe_id_name((axe_id)i),
                       .id = sl->lw.plan->kernel->n_var + sl->lw.n_var++};
        g->id[i] = v;
    }
}

/* Is a top scope not one CTA for each of its tasks? */
static bool
is_persistent(const axe_stmt *s)
{
    return s->keys.persistent || s->keys.cluster > 1 || s->keys.group > 1 ||
           s->keys.hilbert;
}

/* One CTA for each entity, the last variable fastest. */
static axe_status
lower_tasks(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    if (is_persistent(s))
        return axe_simt_lower_persistent(sl, b, s);
    axe_simt_split(sl, b, s, axe_simt_id(sl, AXE_ID_BLOCK));
    return axe_simt_lower_body(sl, b, s->n_body, s->body);
}

static const axe_node *
count_tasks(axe_simt_lowering *sl, const axe_stmt *s)
{
    const axe_node *n = axe_int(&sl->lw, 1);

    for (int i = 0; i < s->n_var; i++)
        n = op2(sl, AXE_OP_mul, n, s->var[i]->extent);
    return n;
}

static void
begin_grid(axe_simt_lowering *sl, int number, axe_grid *g)
{
    const axe_simt_launch *l = &sl->sp->launch[number];
    const char            *name = sl->lw.plan->kernel->name;

    *g = (axe_grid){
        .n_host_loop = g->n_host_loop,
        .host_loop = g->host_loop,
        .name = axe_device_name(
            sl->lw.cx, sl->sp->n_launch == 1
                           ? name
                           : axe_textf(sl->lw.cx, "%s_%d", name, number)),
        .n_thread = l->threads->n_thread,
        .lanes = sl->sp->lanes,
        .group = sl->lw.plan->machine->simt->group,
        .cluster = l->scope->keys.cluster ? l->scope->keys.cluster : 1,
        .persistent = l->scope->keys.persistent && !l->queue,
        .together = l->overlap != NULL,
        .waits = l->waits,
    };
    sl->grid = g;
    sl->cap_array = sl->cap_buffer = sl->cap_map = sl->cap_tmem = 0;
    sl->names = (axe_used_names){0};
    sl->tile = axe_new_array(sl->lw.cx, const axe_tensor *,
                             sl->lw.plan->kernel->n_tensor + 1);
    name_ids(sl, g);
}

/* One scope, from where it opens to where it closes. */
static axe_status
lower_scope(axe_simt_lowering *sl, const axe_simt_launch *l)
{
    axe_grid *g = sl->grid;

    sl->launch = l;
    sl->opening = NULL;
    sl->first_buffer = g->n_buffer;
    if (l->shared_bytes > g->shared_bytes)
        g->shared_bytes = l->shared_bytes;
    if (!g->blocks)
        g->blocks = count_tasks(sl, l->scope);
    AXE_TRY(axe_simt_sync_at(sl, &g->body, l->scope, AXE_SYNC_OPEN));
    AXE_TRY(lower_tasks(sl, &g->body, l->scope));
    return axe_simt_sync_at(sl, &g->body, l->scope, AXE_SYNC_CLOSE);
}

/* All scopes of the launch; its first thread asks for all maps where it makes
 * the first one's barriers. */
static axe_status
lower_launch(axe_simt_lowering *sl, int number, axe_grid *g)
{
    int         n = axe_simt_parts(&sl->sp->launch[number]);
    axe_lblock *opening = NULL;

    begin_grid(sl, number, g);
    for (int i = 0; i < n; i++) {
        AXE_TRY(lower_scope(sl, &sl->sp->launch[number + i]));
        opening = opening ? opening : sl->opening;
    }
    sl->opening = opening;
    AXE_TRY(axe_simt_prefetch_maps(sl));
    axe_simt_note_begins(sl);
    axe_hoist(&sl->lw, &g->body);
    axe_name_bases(&sl->lw, &g->body);
    axe_tidy(&sl->lw, &g->body);
    axe_join_iterations(sl->lw.cx, &g->body);
    axe_finish_grid(sl->lw.cx, sl->lw.plan->machine, g);
    return AXE_OK;
}

axe_status
axe_simt_lower(axe_ctx *cx, const axe_plan *p, axe_lowered *out)
{
    axe_simt_lowering *sl = axe_new(cx, axe_simt_lowering);

    sl->lw.cx = cx;
    sl->lw.plan = p;
    sl->sp = p->simt;
    sl->lw.n_var = p->simt->n_var;
    sl->spelled = axe_new_array(cx, bool, p->simt->n_sync + 1);
    out->grid = axe_new_array(cx, axe_grid, p->simt->n_launch);
    axe_simt_lower_host(cx, p, out);
    for (int i = 0; i < p->simt->n_launch;
         i += axe_simt_parts(&p->simt->launch[i]))
        AXE_TRY(lower_launch(sl, i, &out->grid[out->n_grid++]));
    AXE_TRY(axe_simt_all_spelled(sl));
    out->plan = p;
    out->has_cores = axe_lowered_has_cores(out);
    return AXE_OK;
}
