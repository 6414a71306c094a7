/* tmem.c - tensor memory: who has which columns, what is in them, and how warps
 * move it.
 *
 * A CTA has 128 lanes of 512 words.  What threads know of one another reaches
 * tensor memory only by way of BEFORE and AFTER, so a warp has two clocks: vc,
 * and tvc, which AFTER makes as new as vc; what a warp's own moves have done is
 * in tvc, and in vc after BEFORE.  Bytes of the shadow are lane by lane. */
#include <string.h>

#include "sim/sim_int.h"

static int
n_column(const sim *s)
{
    return s->mc->simt->tmem_columns;
}

static int
n_lane(const sim *s)
{
    return s->mc->simt->tmem_lanes;
}

void
axe_sim_tmem_make(sim *s, sim_cta *cta)
{
    int64_t bytes = (int64_t)n_lane(s) * n_column(s) * WORD;

    if (s->g->n_tmem == 0)
        return;
    cta->tmem = axe_new_array(s->own, uint8_t, bytes);
    axe_sim_shadow_init(s, &cta->tmem_shadow, bytes);
}

void
axe_sim_tmem_begin(sim *s, sim_cta *cta)
{
    cta->n_columns = 0;
    if (!cta->tmem)
        return;
    memset(cta->tmem, POISON, (size_t)n_lane(s) * (size_t)n_column(s) * WORD);
    axe_sim_shadow_reset(s, &cta->tmem_shadow);
}

/* ------------------------------------------------------------- allocation */

static bool
is_free(const sim_cta *cta, int first, int n)
{
    for (int i = 0; i < cta->n_columns; i++) {
        const sim_columns *k = &cta->columns[i];
        if (k->live && first < k->first + k->n && k->first < first + n)
            return false;
    }
    return true;
}

static bool
check_number(sim *s, const sim_call *c, int64_t n)
{
    int least = s->mc->simt->tmem_least;

    if (n >= least && n <= n_column(s) && (n & (n - 1)) == 0)
        return true;
    axe_sim_find(s, AXE_SIM_TMEM, c->in, -1,
                 "%s means %lld columns; %d, %d .. %d there can be",
                 axe_sim_agent_text(s, c->agent), (long long)n, least,
                 2 * least, n_column(s));
    return false;
}

static void
allocate(sim *s, sim_warp *w, sim_call *c)
{
    sim_cta *cta = w->cta;
    int64_t  n = c->at[1][0];
    int      first = 0;
    uint32_t word;

    if (!check_number(s, c, n))
        return;
    if (c->in->shape->ctas == 2 && (cta->rank ^ 1) < s->g->cluster)
        axe_sim_check_begun(s, c, &cta->cluster->cta[cta->rank ^ 1]);
    while (first + n <= n_column(s) && !is_free(cta, first, (int)n))
        first += s->mc->simt->tmem_least;
    if (cta->n_columns == MAX_COLUMNS) {
        axe_sim_find(s, AXE_SIM_TMEM, c->in, -1,
                     "%s asks for columns, and the block has done so %d times: "
                     "more than the simulator keeps",
                     axe_sim_agent_text(s, c->agent), MAX_COLUMNS);
        return;
    }
    if (first + n > n_column(s)) {
        axe_sim_find(s, AXE_SIM_TMEM, c->in, -1,
                     "%s asks for %lld columns, which the block has not left: "
                     "it would wait for ever",
                     axe_sim_agent_text(s, c->agent), (long long)n);
        return;
    }
    cta->columns[cta->n_columns++] =
        (sim_columns){.first = first,
                      .n = (int)n,
                      .agent = w->agent,
                      .epoch = w->clock.vc[w->agent],
                      .site = axe_sim_site(s, c->in),
                      .live = true};
    word = (uint32_t)first;
    c->lane = EVERY_LANE;
    (void)axe_sim_bytes(s, c, &c->in->arg[0], cta, c->at[0][0], 1, true, &word);
    axe_sim_release(s, w);
}

/* The columns that begin there; NULL if none do. */
static sim_columns *
columns_at(sim_cta *cta, int64_t first)
{
    for (int i = cta->n_columns - 1; i >= 0; i--)
        if (cta->columns[i].first == first)
            return &cta->columns[i];
    return NULL;
}

/* All of them is over for whoever uses them. */
static void
touch_all(sim *s, const sim_call *c, sim_cta *cta, const sim_columns *k)
{
    const axe_tmem *tile = &s->g->tmem[c->in->arg[0].tensor];
    sim_touch       t = {.call = c,
                         .shadow = &cta->tmem_shadow,
                         .tensor = tile->tensor,
                         .tmem = tile,
                         .cta = cta,
                         .lane = EVERY_LANE,
                         .write = true,
                         .ends = true};

    for (int lane = 0; lane < n_lane(s); lane++)
        axe_sim_touch(s, &t, ((int64_t)lane * n_column(s) + k->first) * WORD,
                      (int64_t)k->n * WORD);
}

static void
release_columns(sim *s, sim_warp *w, sim_call *c)
{
    int64_t first =
        c->base[0] + s->g->tmem[c->in->arg[0].tensor].first + c->at[0][0];
    sim_columns *k = columns_at(w->cta, first);
    const char  *why = NULL;

    if (!check_number(s, c, c->at[1][0]))
        return;
    if (!k || k->n != c->at[1][0])
        why = "which are not what was allocated";
    else if (!k->live)
        why = "which are free";
    else if (k->agent != w->agent)
        why = "which another warp has allocated";
    if (why)
        axe_sim_find(s, AXE_SIM_TMEM, c->in, k ? k->site : -1,
                     "%s frees columns %lld to %lld, %s",
                     axe_sim_agent_text(s, c->agent), (long long)first,
                     (long long)(first + c->at[1][0] - 1), why);
    if (!k)
        return;
    if (s->checks && k->live)
        touch_all(s, c, w->cta, k);
    k->live = false;
    axe_sim_release(s, w);
}

void
axe_sim_tmem_sync(sim *s, sim_warp *w, sim_call *c)
{
    switch (c->in->shape->atom->sync) {
    case AXE_SYNC_ALLOC:
        allocate(s, w, c);
        return;
    case AXE_SYNC_FREE:
        release_columns(s, w, c);
        return;
    case AXE_SYNC_BEFORE:
        axe_sim_clock_raise(s, &w->clock, w->clock.vc, w->clock.tvc);
        return;
    default:
        axe_sim_clock_raise(s, &w->clock, w->clock.tvc, w->clock.vc);
        w->clock.tvc[w->agent] = w->clock.vc[w->agent];
    }
}

void
axe_sim_tmem_end(sim *s, const sim_cta *cta)
{
    for (int i = 0; i < cta->n_columns; i++)
        if (cta->columns[i].live)
            axe_sim_find(s, AXE_SIM_TMEM, NULL, cta->columns[i].site,
                         "block %lld ends with columns %d to %d allocated",
                         (long long)cta->block, cta->columns[i].first,
                         cta->columns[i].first + cta->columns[i].n - 1);
}

/* ----------------------------------------------------------------- access */

/* Are columns [word, word + n) allocated, and does the call know that? */
static bool
check_columns(sim *s, const sim_call *c, const sim_cta *cta, int64_t word,
              int64_t n)
{
    const sim_columns *k = NULL;
    axe_sim_kind       kind = AXE_SIM_TMEM;
    const char        *why = NULL;

    for (int i = 0; i < cta->n_columns; i++)
        if (word >= cta->columns[i].first &&
            word + n <= cta->columns[i].first + cta->columns[i].n)
            k = &cta->columns[i];
    if (!k)
        why = "which are not allocated";
    else if (!k->live)
        why = "which are freed";
    else if (k->epoch > c->clock.vc[k->agent])
        why = "which are allocated, but nothing orders that before";
    else if (k->epoch > c->clock.tvc[k->agent] && k->agent != c->warp->agent) {
        why = "which are allocated, but it has not said AFTER since it met "
              "who did that";
        kind = AXE_SIM_TFENCE;
    }
    if (why && !axe_sim_known(s, kind, c->in, k ? k->site : -1))
        axe_sim_find(s, kind, c->in, k ? k->site : -1,
                     "%s means columns %lld to %lld of block %lld, %s",
                     axe_sim_agent_text(s, c->agent), (long long)word,
                     (long long)(word + n - 1), (long long)cta->block, why);
    return word >= 0 && word + n <= n_column(s);
}

uint8_t *
axe_sim_tmem(sim *s, const sim_call *c, int arg, sim_cta *cta, int64_t at,
             int64_t n, bool write)
{
    int             number = c->in->arg[arg].tensor;
    const axe_tmem *tile = &s->g->tmem[number];
    int             bits = axe_type_table[tile->tensor->type].bits;
    int64_t         pitch = AXE_TMEM_LANE / bits, per = 8 * WORD / bits;
    int64_t         lane = at / pitch, col = at % pitch;
    int64_t         first = col / per, words = (col + n - 1) / per - first + 1;
    int64_t         word = c->base[c->lane] + tile->first + first;
    sim_touch       t = {.call = c,
                         .shadow = &cta->tmem_shadow,
                         .tensor = tile->tensor,
                         .tmem = tile,
                         .cta = cta,
                         .tag = number + 1,
                         .lane = EVERY_LANE,
                         .write = write};

    if (at < 0 || lane >= n_lane(s) || first + words > tile->columns) {
        if (!axe_sim_known(s, AXE_SIM_BOUNDS, c->in, -1))
            axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                         "%s means lane %lld, columns %lld to %lld of %s, "
                         "which has %d",
                         axe_sim_agent_text(s, c->agent), (long long)lane,
                         (long long)first, (long long)(first + words - 1),
                         tile->tensor->name, tile->columns);
        return NULL;
    }
    if (s->checks && !check_columns(s, c, cta, word, words))
        return NULL;
    if (word < 0 || word + words > n_column(s))
        return NULL;
    if (s->checks)
        axe_sim_touch(s, &t, (lane * n_column(s) + word) * WORD, words * WORD);
    return cta->tmem + (lane * n_column(s) + word) * WORD +
           col % per * bits / 8;
}

void
axe_sim_tmem_base(sim *s, sim_warp *w, sim_call *c)
{
    const sim_array *x = &w->array[s->code->base];

    if (s->checks)
        (void)axe_sim_reg_check(s, w, c->in, s->code->base, 0, c->mask, false);
    for (int l = 0; l < s->lanes; l++)
        memcpy(&c->base[l], x->bits + l * x->size, sizeof c->base[l]);
}

/* ------------------------------------------------- registers to and from it */

static const sim_place *
reg_places(const sim_call *c)
{
    const sim_moves *m = c->in->shape->moves;

    return c->in->shape->atom->kind == AXE_ATOM_LOAD ? m->to : m->from;
}

static const sim_place *
mem_places(const sim_call *c)
{
    const sim_moves *m = c->in->shape->moves;

    return c->in->shape->atom->kind == AXE_ATOM_LOAD ? m->from : m->to;
}

/* The warp's registers belong to operation op until it is done. */
static bool
take_registers(sim *s, sim_warp *w, const sim_call *c, uint32_t op)
{
    bool             load = c->in->shape->atom->kind == AXE_ATOM_LOAD;
    int              reg = load ? 0 : 1, array = c->in->arg[reg].tensor;
    const sim_place *p = reg_places(c);
    sim_array       *x = &w->array[array];

    for (int i = 0; i < c->in->shape->moves->n; i++) {
        int64_t at = c->at[reg][0] + p[i].at;
        if (p[i].warp != w->id % s->group_warps)
            continue;
        if (!axe_sim_reg_check(s, w, c->in, array, at, AXE_ONE_LANE(p[i].lane),
                               load))
            return false;
        if (load)
            x->init[at] |= AXE_ONE_LANE(p[i].lane);
    }
    for (int i = 0; i < c->in->shape->moves->n; i++)
        if (p[i].warp == w->id % s->group_warps)
            (load ? x->writes : x->reads)[c->at[reg][0] + p[i].at] = op;
    return true;
}

void
axe_sim_tmem_issue(sim *s, sim_warp *w, sim_call *c)
{
    sim_group *g = axe_sim_group_of(s, w, c->in->shape->group);
    bool       load = c->in->shape->atom->kind == AXE_ATOM_LOAD;
    sim_async *o;

    g->private = true;
    if (!take_registers(s, w, c, g->n_op + 1))
        return;
    *(load ? &w->writer : &w->reader) = g->agent - 1;
    o = axe_sim_async_new(s, c);
    o->in_order = !load;
    axe_sim_to_group(s, g, o);
    axe_sim_release(s, w);
}

/* Neighbours [from, to) of one lane. */
static void
move_run(sim *s, sim_call *c, int from, int to)
{
    bool             load = c->in->shape->atom->kind == AXE_ATOM_LOAD;
    const sim_place *r = reg_places(c), *m = mem_places(c);
    sim_warp        *w = c->warp;
    sim_array       *x = &w->array[c->in->arg[load ? 0 : 1].tensor];
    int64_t          at = c->at[load ? 1 : 0][0] + m[from].at;
    int64_t  lane = at / (AXE_TMEM_LANE / (8 * c->in->shape->elem_bytes));
    uint8_t *mem;

    if (lane / s->lanes != w->id % s->group_warps) {
        if (!axe_sim_known(s, AXE_SIM_REACH, c->in, -1))
            axe_sim_find(s, AXE_SIM_REACH, c->in, -1,
                         "%s means lane %lld; it reaches %d to %d",
                         axe_sim_agent_text(s, w->agent), (long long)lane,
                         w->id % s->group_warps * s->lanes,
                         w->id % s->group_warps * s->lanes + s->lanes - 1);
        return;
    }
    mem = axe_sim_tmem(s, c, load ? 1 : 0, w->cta, at, to - from, !load);
    for (int i = from; i < to && mem; i++, mem += x->size) {
        uint8_t *reg =
            x->bits +
            ((c->at[load ? 0 : 1][0] + r[i].at) * s->lanes + r[i].lane) *
                x->size;
        memcpy(load ? reg : mem, load ? mem : reg, (size_t)x->size);
    }
}

void
axe_sim_tmem_move(sim *s, sim_call *c)
{
    const sim_moves *m = c->in->shape->moves;

    c->lane = 0;
    for (int k = 0; k < m->n_run; k++)
        if (reg_places(c)[m->run[k]].warp == c->warp->id % s->group_warps)
            move_run(s, c, m->run[k], m->run[k + 1]);
}
