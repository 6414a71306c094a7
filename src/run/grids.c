/* grids.c - the host's part of a call: loops and branches around launches. */
#include <inttypes.h>

#include "base/ctx.h"
#include "lower/pass/width.h"
#include "run/grids.h"

bool
axe_grids_holds(const axe_grids *g, const axe_node *when)
{
    int64_t v = 0;

    return !when || (axe_value_of(&g->values, when, &v) && v != 0);
}

static axe_status
check_needs(axe_ctx *cx, const axe_grids *g, const axe_grid *grid)
{
    for (int i = 0; i < grid->n_need; i++)
        if (!axe_grids_holds(g, grid->need[i].when))
            return axe_grid_need_fail(cx, grid, &grid->need[i]);
    return AXE_OK;
}

static axe_status
count_blocks(axe_ctx *cx, const axe_grids *g, int number, int64_t *out)
{
    const axe_grid *grid = &g->program->lowered->grid[number];
    int64_t         n;
    int64_t most = grid->persistent ? INT32_MAX - AXE_STAY_MOST : INT32_MAX;

    if (!axe_value_of(&g->values, grid->blocks, &n) || n > most)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "kernel %s needs more than 2^31 - 1 CTAs at these "
                        "sizes; use larger tiles",
                        grid->name);
    if (grid->persistent && n > g->resident(g, number))
        n = g->resident(g, number);
    *out = n;
    return AXE_OK;
}

static axe_status
start_grid(axe_ctx *cx, axe_grids *g, int number)
{
    int64_t blocks;

    AXE_TRY(count_blocks(cx, g, number, &blocks));
    if (blocks <= 0)
        return AXE_OK;
    AXE_TRY(check_needs(cx, g, &g->program->lowered->grid[number]));
    return g->start(cx, g, number, blocks);
}

static axe_status start_all(axe_ctx *cx, axe_grids *g, int n,
                            const axe_host *h);

static axe_status
start_loop(axe_ctx *cx, axe_grids *g, const axe_host *h)
{
    axe_iteration one = {.var = h->var, .around = g->values.iteration};
    axe_status    st = AXE_OK;
    int64_t       n;

    if (!axe_value_of(&g->values, h->var->extent, &n) ||
        n > AXE_HOST_ITERATIONS)
        return axe_fail(
            cx, h->var->at, AXE_EOVERFLOW,
            "a loop around launches has at most 2^31 - 1 iterations");
    g->values.iteration = &one;
    for (; one.value < n && st == AXE_OK; one.value++)
        st = start_all(cx, g, h->n_body, h->body);
    g->values.iteration = one.around;
    return st;
}

/* What a launch is made of is the driver's when it has begun. */
static axe_status
start_all(axe_ctx *cx, axe_grids *g, int n, const axe_host *h)
{
    for (int i = 0; i < n; i++, h++) {
        axe_mark m = axe_ctx_mark(cx);
        if (h->kind == AXE_HOST_GRID)
            AXE_TRY(start_grid(cx, g, h->grid));
        else if (h->kind == AXE_HOST_LOOP)
            AXE_TRY(start_loop(cx, g, h));
        else if (axe_grids_holds(g, h->cond))
            AXE_TRY(start_all(cx, g, h->n_body, h->body));
        else
            AXE_TRY(start_all(cx, g, h->n_other, h->other));
        axe_ctx_release(cx, m);
    }
    return AXE_OK;
}

axe_status
axe_grids_start(axe_ctx *cx, axe_grids *g)
{
    const axe_lowered *l = g->program->lowered;

    return start_all(cx, g, l->n_host, l->host);
}

axe_status
axe_grids_temps(axe_ctx *cx, const axe_grids *g, int64_t *at, int64_t *all)
{
    const axe_kernel *k = g->program->plan->kernel;
    int64_t           n;

    *all = 0;
    for (int i = 0; i < k->n_temp; i++) {
        at[i] = *all;
        if (!axe_temp_bytes(&g->values, k->temp[i], &n) ||
            !axe_add(*all, n, all))
            return axe_fail(cx, k->temp[i]->at, AXE_EOVERFLOW,
                            "%s has more elements than int64 counts",
                            k->temp[i]->name);
    }
    return AXE_OK;
}

size_t
axe_grids_span(const axe_grids *g, int i)
{
    const axe_tensor *t = g->program->kernel->param[i];
    int64_t           n = 1;

    for (int d = 0; d < t->rank; d++) {
        if (g->bound.shape[i][d] == 0)
            return 0;
        n += (g->bound.shape[i][d] - 1) * g->bound.stride[i][d];
    }
    return (size_t)axe_type_bytes(t->type, n);
}

bool
axe_grids_wide(const axe_grids *g)
{
    for (int i = 0; i < g->program->kernel->n_size; i++)
        if (g->bound.size[i] > AXE_SIZE_MOST)
            return true;
    return false;
}

void
axe_grids_iterations(const axe_grids *g, const axe_grid *grid, void **out)
{
    int n = grid->n_host_loop;

    for (const axe_iteration *t = g->values.iteration; t; t = t->around)
        out[--n] = (void *)&t->value;
}

axe_status
axe_grids_bind(axe_ctx *cx, const axe_program *p, int n_array,
               const axe_array *array, int n_size, const axe_size *size,
               int64_t cores, axe_grids *out)
{
    *out = (axe_grids){.program = p};
    AXE_TRY(axe_bind(cx, p->kernel, n_array, array, n_size, size, true,
                     &out->bound));
    AXE_TRY(axe_bound_check_reach(cx, p, &out->bound));
    out->values = (axe_values){p->plan->kernel, out->bound.size, cores, NULL};
    return AXE_OK;
}
