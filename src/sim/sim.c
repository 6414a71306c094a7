/* sim.c - grids one after the other: arrays bound, memory made, clusters run.
 */
#include <string.h>

#include "axe/machine.h"
#include "sim/trace.h"

/* -------------------------------------------------------------- host values */

static axe_status
host_value(sim *s, const axe_node *n, int64_t *out)
{
    const axe_kernel *k = s->l->plan->kernel;
    int64_t           v[3];

    if (n->op == AXE_OP_iconst) {
        *out = n->u.i;
        return AXE_OK;
    }
    if (n->op == AXE_OP_var) {
        *out = n->u.var->is_fixed ? n->u.var->fixed : s->n_sm;
        for (int i = 0; i < k->n_size; i++)
            if (k->size[i] == n->u.var)
                *out = s->spec->size[i];
        for (int i = 0; i < s->n_iteration; i++)
            if (s->around[i] == n->u.var)
                *out = s->iteration[i];
        return AXE_OK;
    }
    if (n->n_arg < 1 || n->n_arg > 3)
        return axe_fail(s->cx, n->at, AXE_EUNSUPPORTED,
                        "the simulator: %s is not known before a launch",
                        axe_node_text(s->cx, n));
    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(host_value(s, n->arg[i], &v[i]));
    if (!axe_op_value(n->op, v, out))
        return axe_fail(s->cx, n->at, AXE_EOVERFLOW,
                        "the simulator: %s has no value",
                        axe_node_text(s->cx, n));
    return AXE_OK;
}

/* ------------------------------------------------------------ global tensors
 */

/* Dense: every place up to the last element is one. */
static axe_status
measure(sim *s, sim_global *g)
{
    int64_t n = 1, last = 0, step;

    for (int i = 0; i < g->tensor->rank; i++) {
        if (!axe_mul(n, g->shape[i], &n))
            return axe_fail(s->cx, g->tensor->at, AXE_EOVERFLOW,
                            "the simulator: %s has too many elements",
                            g->tensor->name);
        if (g->shape[i] > 0 &&
            (!axe_mul(g->shape[i] - 1, g->stride[i], &step) ||
             !axe_add(last, step, &last)))
            return axe_fail(s->cx, g->tensor->at, AXE_EOVERFLOW,
                            "the simulator: %s is too large", g->tensor->name);
    }
    g->span = n == 0 ? 0 : last + 1;
    g->dense = n == g->span;
    return AXE_OK;
}

static void
dense_strides(sim_global *g)
{
    int64_t step = 1;

    for (int i = g->tensor->rank - 1; i >= 0; i--) {
        g->stride[i] = step;
        step *= g->shape[i] > 0 ? g->shape[i] : 1;
    }
}

static axe_status
bind_param(sim *s, int number, sim_global *g)
{
    const axe_sim_array *a = &s->spec->param[number];

    g->tensor = s->l->plan->kernel->param[number];
    g->data = a->data;
    if (g->tensor->rank > 0)
        memcpy(g->shape, a->shape,
               (size_t)g->tensor->rank * sizeof g->shape[0]);
    dense_strides(g);
    if (a->stride)
        memcpy(g->stride, a->stride,
               (size_t)g->tensor->rank * sizeof g->stride[0]);
    AXE_TRY(measure(s, g));
    if (s->checks && g->tensor->dir == AXE_DIR_OUT)
        g->is_init = axe_new_array(s->own, uint8_t, g->span);
    return AXE_OK;
}

static axe_status
make_temp(sim *s, int number, sim_global *g)
{
    int64_t bytes;

    g->tensor = s->l->plan->kernel->temp[number];
    for (int i = 0; i < g->tensor->rank; i++) {
        AXE_TRY(host_value(s, g->tensor->shape[i], &g->shape[i]));
        if (g->shape[i] < 0)
            g->shape[i] = 0;
    }
    dense_strides(g);
    AXE_TRY(measure(s, g));
    if (!axe_mul(g->span, 8, &bytes) || bytes > INT64_C(1) << 36)
        return axe_fail(s->cx, g->tensor->at, AXE_ELIMIT,
                        "the simulator: %s has %lld elements", g->tensor->name,
                        (long long)g->span);
    g->data = axe_new_array(
        s->own, uint8_t,
        (size_t)g->span * (size_t)axe_type_table[g->tensor->type].bits / 8);
    g->is_init = axe_new_array(s->own, uint8_t, g->span);
    return AXE_OK;
}

static axe_status
bind(sim *s)
{
    const axe_kernel *k = s->l->plan->kernel;

    s->n_global = k->n_param + k->n_temp;
    s->global = axe_new_array(s->own, sim_global, s->n_global);
    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(bind_param(s, i, &s->global[i]));
    for (int i = 0; i < k->n_temp; i++)
        AXE_TRY(make_temp(s, i, &s->global[k->n_param + i]));
    return AXE_OK;
}

/* What a grid's clusters find out about a tensor; launches are in order, so it
 * is forgotten between them. */
static void
watch(sim *s, sim_global *g)
{
    size_t n = (size_t)g->span;

    if (!g->writes || !s->checks)
        return;
    g->writer = axe_new_array(s->own, uint32_t, n);
    g->reader = axe_new_array(s->own, uint32_t, n);
    g->w_site = axe_new_array(s->own, uint16_t, n);
    g->r_site = axe_new_array(s->own, uint16_t, n);
    g->w_atomic = axe_new_array(s->own, bool, n);
    axe_sim_shadow_init(s, &g->shadow,
                        g->span * axe_type_table[g->tensor->type].bits / 8);
}

/* --------------------------------------------------------------------- grids
 */

static axe_status
check_tmem(const sim *s)
{
    const axe_grid *g = s->g;
    int             most = s->mc->simt->tmem_columns;

    for (int i = 0; i < g->n_tmem; i++)
        if (g->tmem[i].first < 0 || g->tmem[i].columns < 1 ||
            g->tmem_columns > most || !g->tmem_base ||
            g->tmem[i].first > g->tmem_columns - g->tmem[i].columns)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "the simulator: tile %s of %s has columns %d to %d "
                            "of %d; %s has %d, and a grid that uses some needs "
                            "an array that says where they begin",
                            g->tmem[i].tensor->name, g->name, g->tmem[i].first,
                            g->tmem[i].first + g->tmem[i].columns - 1,
                            g->tmem_columns, s->mc->name, most);
    return AXE_OK;
}

static axe_status
check_grid(sim *s)
{
    const axe_grid *g = s->g;
    const axe_simt *t = s->mc->simt;

    if (g->n_thread < 1 || g->n_thread > t->max_threads ||
        g->n_thread % s->lanes != 0 || g->lanes != s->lanes || g->cluster < 1 ||
        g->cluster > t->max_cluster || g->shared_bytes < 0 ||
        g->shared_bytes > t->shared_bytes)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "the simulator: %s has %d threads, clusters of %d and "
                        "%lld bytes of shared memory; %s has at most %d (by "
                        "%d), %d and %lld",
                        g->name, g->n_thread, g->cluster,
                        (long long)g->shared_bytes, s->mc->name, t->max_threads,
                        s->lanes, t->max_cluster, (long long)t->shared_bytes);
    for (int i = 0; i < g->n_buffer; i++)
        if (g->buffer[i].offset < 0 || g->buffer[i].bytes < 0 ||
            g->buffer[i].offset > g->shared_bytes - g->buffer[i].bytes ||
            g->buffer[i].offset % GRANULE != 0)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "the simulator: buffer %s of %s is outside of its "
                            "shared memory, or begins at no multiple of %d",
                            g->buffer[i].tensor->name, g->name, GRANULE);
    return check_tmem(s);
}

static axe_status
read_maps(sim *s)
{
    const axe_grid *g = s->g;

    s->map_of = axe_new_array(s->own, int, g->n_map);
    s->map_size = axe_alloc(s->own, (size_t)g->n_map * sizeof s->map_size[0]);
    s->map_stride =
        axe_alloc(s->own, (size_t)g->n_map * sizeof s->map_stride[0]);
    for (int i = 0; i < g->n_map; i++) {
        s->map_of[i] = -1;
        for (int k = 0; k < s->n_global; k++)
            if (s->global[k].tensor == g->map[i].tensor)
                s->map_of[i] = k;
        if (s->map_of[i] < 0 || g->map[i].rank < 1 || g->map[i].rank > MAX_RANK)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "the simulator: tensor map %d of %s is of no "
                            "global tensor, or of rank %d",
                            i, g->name, g->map[i].rank);
        for (int d = 0; d < g->map[i].rank; d++) {
            AXE_TRY(host_value(s, g->map[i].size[d], &s->map_size[i][d]));
            AXE_TRY(host_value(s, g->map[i].stride[d], &s->map_stride[i][d]));
        }
    }
    return AXE_OK;
}

static axe_status
make_warp(sim *s, sim_cta *cta, sim_warp *w, int id)
{
    const axe_grid *g = s->g;

    w->cta = cta;
    w->id = id;
    w->frame = axe_new_array(s->own, sim_frame, s->code->max_frame + 1);
    w->slot = axe_alloc(s->own, (size_t)s->code->n_slot * sizeof w->slot[0]);
    w->array = axe_new_array(s->own, sim_array, g->n_array);
    w->clock = axe_sim_clock_new(s);
    for (int i = 0; i < g->n_array; i++) {
        sim_array *x = &w->array[i];
        AXE_TRY(host_value(s, g->array[i]->shape[0], &x->n));
        x->type = g->array[i]->type;
        x->size = axe_type_table[x->type].bits / 8;
        if (x->size < 1 || x->n < 0 || x->n > 1 << 16)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "the simulator: registers %s[%lld] of %s",
                            g->array[i]->name, (long long)x->n,
                            axe_type_table[x->type].name);
        x->bits = axe_alloc(s->own, (size_t)(x->n * x->size * s->lanes));
        x->init = axe_new_array(s->own, axe_lane_set, x->n);
        x->writes = axe_new_array(s->own, uint32_t, x->n);
        x->reads = axe_new_array(s->own, uint32_t, x->n);
        x->factor = axe_new_array(s->own, uint32_t, x->n);
        x->fence = axe_new_array(s->own, uint32_t, x->n);
    }
    return AXE_OK;
}

static axe_status
make_cta(sim *s, sim_cluster *r, sim_cta *cta, int rank)
{
    cta->s = s;
    cta->cluster = r;
    cta->rank = rank;
    cta->memory = axe_new_array(s->own, uint8_t, axe_sim_shared_bytes(s));
    axe_sim_shadow_init(s, &cta->shadow, axe_sim_shared_bytes(s));
    axe_sim_tmem_make(s, cta);
    cta->warp = axe_new_array(s->own, sim_warp, s->n_warp);
    cta->bar = axe_new_array(s->own, sim_mbar, s->code->n_bar);
    cta->warpgroup = axe_new_array(s->own, sim_async *, s->n_warpgroup);
    cta->tensor = axe_new_array(s->own, int, s->n_warpgroup);
    cta->remote = axe_new_array(s->own, uint32_t, s->per_range);
    cta->remote_site = axe_new_array(s->own, uint16_t, s->per_range);
    for (int i = 0; i < s->code->n_bar; i++) {
        cta->bar[i].cur = axe_sim_clock_new(s);
        cta->bar[i].over = axe_sim_clock_new(s);
    }
    for (int i = 0; i < s->n_warp; i++)
        AXE_TRY(make_warp(s, cta, &cta->warp[i], i));
    return AXE_OK;
}

static int64_t
n_registers(const sim *s, const sim_side *side)
{
    int64_t n = 0;

    for (int w = 0; w < s->group_warps; w++)
        n += (side->regs[w].hi + 1) * s->lanes;
    return n;
}

static int64_t
larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Room for one product's operands and sums. */
static void
make_scratch(sim *s)
{
    int64_t most = 0, side = 0;

    for (const sim_shape *sh = s->shape; sh; sh = sh->next) {
        int64_t m, n, k;
        if (sh->tile)
            side = larger(side, (int64_t)sh->tile->rows * sh->tile->cols * 2);
        if (!sh->product)
            continue;
        m = sh->product->m + 4;
        n = sh->product->n + 32;
        k = sh->product->k;
        most = larger(most, m * k + n * k + m * n);
        side = larger(side, (m + n) * k);
        side = larger(side, n_registers(s, &sh->product->a));
        side = larger(side, n_registers(s, &sh->product->b));
        side = larger(side, n_registers(s, &sh->product->c));
    }
    s->mma = axe_new_array(s->own, float, most);
    s->wide = axe_new_array(s->own, float, side);
    s->raw = axe_new_array(s->own, uint8_t, side * 4);
}

static axe_status
count_blocks(sim *s)
{
    int64_t n, fit = s->n_sm / s->g->cluster * s->g->cluster;

    AXE_TRY(host_value(s, s->g->blocks, &n));
    if (fit < s->g->cluster)
        fit = s->g->cluster;
    if (n % s->g->cluster != 0)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "the simulator: %lld CTAs in clusters of %d",
                        (long long)n, s->g->cluster);
    s->n_block = s->g->persistent && n > fit ? fit : n;
    return AXE_OK;
}

/* What the launch takes for granted of the sizes. */
static axe_status
check_needs(sim *s)
{
    int64_t holds;

    for (int i = 0; i < s->g->n_need; i++) {
        AXE_TRY(host_value(s, s->g->need[i].when, &holds));
        if (!holds)
            return axe_grid_need_fail(s->cx, s->g, &s->g->need[i]);
    }
    return AXE_OK;
}

/* How many clusters run at the same time, and who acts in them. */
static axe_status
count_agents(sim *s)
{
    int64_t clusters = s->n_block / s->g->cluster;
    int64_t fit = s->n_sm > s->g->cluster ? s->n_sm / s->g->cluster : 1;
    int64_t all;

    s->together = s->code->awaits;
    s->n_resident =
        (int)(s->together && clusters > 1 ? (clusters < fit ? clusters : fit)
                                          : 1);
    s->per_range =
        s->g->cluster * (s->n_warp + s->n_warpgroup + s->code->n_bar +
                         2 * s->n_warp * s->n_group);
    if (!axe_mul(s->together && clusters > 1 ? clusters : 1, s->per_range,
                 &all) ||
        all > UINT16_MAX)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "the simulator: %lld CTAs of %s wait for one another, "
                        "each with up to %d actors; of these there can be %d: "
                        "take a smaller size, or fewer SMs",
                        (long long)s->n_block, s->g->name,
                        s->per_range / s->g->cluster, UINT16_MAX);
    s->max_agent = (int)all;
    s->n_range = s->max_agent / s->per_range;
    if (s->together && s->report->n_together < s->n_resident)
        s->report->n_together = s->n_resident;
    return AXE_OK;
}

static axe_status
make_cluster(sim *s, sim_cluster *r)
{
    r->tail = &r->queue;
    r->all =
        (sim_named){.cur = axe_sim_clock_new(s), .over = axe_sim_clock_new(s)};
    r->cta = axe_new_array(s->own, sim_cta, s->g->cluster);
    for (int i = 0; i < s->g->cluster; i++)
        AXE_TRY(make_cta(s, r, &r->cta[i], i));
    return AXE_OK;
}

/* Room for those that run, and for what they share. */
static axe_status
make_room(sim *s)
{
    s->n_warp = s->g->n_thread / s->lanes;
    s->n_warpgroup = (s->n_warp + s->group_warps - 1) / s->group_warps;
    AXE_TRY(count_agents(s));
    s->n_agent = axe_new_array(s->own, int, s->n_range);
    s->agent = axe_new_array(s->own, sim_agent, s->max_agent);
    s->no_clock = axe_new_array(s->own, uint32_t, s->max_agent);
    s->stack = axe_new_array(s->own, sim_val, s->code->max_depth + 1);
    s->stack_lanes = axe_new_array(s->own, bool, s->code->max_depth + 1);
    s->spare = NULL;
    s->more = NULL;
    s->cap_more = s->n_more = s->spare_more = 0;
    make_scratch(s);
    s->resident = axe_new_array(s->own, sim_cluster, s->n_resident);
    for (int i = 0; i < s->n_resident; i++)
        AXE_TRY(make_cluster(s, &s->resident[i]));
    return AXE_OK;
}

/* What the launch has allocated is given back, and nothing means it. */
static void
end_grid(sim *s, axe_mark before)
{
    for (int i = 0; i < s->n_global; i++) {
        s->global[i].counter = NULL;
        s->global[i].shadow = (sim_shadow){0};
    }
    s->spare_page = NULL;
    axe_ctx_release(s->own, before);
}

static axe_status
run_grid(sim *s)
{
    axe_mark before = axe_ctx_mark(s->own);

    AXE_TRY(check_grid(s));
    AXE_TRY(check_needs(s));
    AXE_TRY(count_blocks(s));
    AXE_TRY(read_maps(s));
    for (int i = 0; i < s->n_global; i++)
        s->global[i].writes = s->global[i].counts = false;
    s->shape = NULL;
    s->held = NULL;
    AXE_TRY(axe_sim_code_make(s, &s->code));
    AXE_TRY(make_room(s));
    for (int i = 0; i < s->n_global; i++) {
        watch(s, &s->global[i]);
        axe_sim_counters_begin(s, &s->global[i]);
    }
    s->cluster = 0;
    s->n_step = 0;
    s->n_await = 0;
    if (s->trace)
        axe_sim_trace_launch(s);
    axe_sim_clusters(s);
    if (s->trace)
        AXE_TRY(axe_sim_replay(s));
    end_grid(s, before);
    return AXE_OK;
}

static axe_status run_host(sim *s, int n, const axe_host *h);

static axe_status
run_loop(sim *s, const axe_host *h)
{
    int     at = s->n_iteration;
    int64_t end;

    AXE_TRY(host_value(s, h->var->extent, &end));
    if (end > AXE_HOST_ITERATIONS || at == AXE_NEST_MAX)
        return axe_fail(
            s->cx, h->var->at, AXE_EOVERFLOW,
            "the simulator: %lld iterations of a loop around launches",
            (long long)end);
    s->n_iteration++;
    s->around[at] = h->var;
    for (s->iteration[at] = 0; s->iteration[at] < end && !s->stop;
         s->iteration[at]++)
        AXE_TRY(run_host(s, h->n_body, h->body));
    s->n_iteration--;
    return AXE_OK;
}

static axe_status
run_host(sim *s, int n, const axe_host *h)
{
    int64_t holds;

    for (int i = 0; i < n && !s->stop; i++, h++) {
        if (h->kind == AXE_HOST_GRID) {
            s->g = &s->l->grid[h->grid];
            AXE_TRY(run_grid(s));
            s->behind = s->behind || s->n_block > 0;
        } else if (h->kind == AXE_HOST_LOOP) {
            AXE_TRY(run_loop(s, h));
        } else {
            AXE_TRY(host_value(s, h->cond, &holds));
            AXE_TRY(holds ? run_host(s, h->n_body, h->body)
                          : run_host(s, h->n_other, h->other));
        }
    }
    return AXE_OK;
}

static int
n_atoms(const axe_lblock *b)
{
    int n = 0;

    for (int i = 0; i < b->n; i++)
        n += 1 + n_atoms(&b->item[i]->body) + n_atoms(&b->item[i]->other);
    return n;
}

static axe_status
run(sim *s)
{
    int n = 0;

    if (!s->mc->simt || s->l->n_grid == 0 || s->mc->simt->lanes > MAX_LANES ||
        s->mc->simt->group > MAX_WARPGROUP)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator runs grids of machines with warps of "
                        "at most %d threads, and %d of them in a warpgroup; %s "
                        "is for %s",
                        MAX_LANES, MAX_WARPGROUP, s->l->plan->kernel->name,
                        s->mc->name);
    s->lanes = s->mc->simt->lanes;
    s->group_warps = s->mc->simt->group;
    s->all_lanes = AXE_ALL_LANES(s->lanes);
    for (int i = 0; i < s->l->n_grid; i++)
        n += n_atoms(&s->l->grid[i].body);
    s->report->count = axe_new_array(s->cx, axe_sim_count, n);
    s->report->finding = axe_new_array(s->cx, axe_sim_finding, AXE_SIM_MAX);
    AXE_TRY(axe_axes_use(s->cx, axe_machine_own_axes(s->mc)));
    AXE_TRY(bind(s));
    AXE_TRY(axe_sim_trace_make(s));
    return run_host(s, s->l->n_host, s->l->host);
}

axe_status
axe_simulate(axe_ctx *cx, const axe_lowered *l, const axe_sim_spec *spec,
             axe_sim_report *out)
{
    sim           *s;
    axe_sim_report report = {0};
    axe_ctx       *own = axe_ctx_new();
    axe_status     st;

    if (!own)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "the simulator: no memory");
    s = axe_new(own, sim);
    *s = (sim){.cx = cx,
               .own = own,
               .l = l,
               .mc = l->plan->machine,
               .spec = spec,
               .report = &report,
               .checks = !spec->with.no_check,
               .random = spec->with.seed};
    s->n_sm = spec->with.n_sm > 0 ? spec->with.n_sm
              : s->mc->simt       ? s->mc->simt->n_sm
                                  : 1;
    st = run(s);
    axe_ctx_free(own);
    if (st == AXE_OK)
        *out = report;
    return st;
}
