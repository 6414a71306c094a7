/* tproduct.c - what the tensor core does in tensor memory: CONTRACT whose sums
 * are there, and COPY into it from shared memory.
 *
 * An operand there is a tile: element (i, j) lies at row[i] + col[j], since a
 * layout adds what its dims say.  One thread issues them; what it issues to one
 * group is done in order. */
#include <string.h>

#include "sim/bits.h"
#include "sim/sim_int.h"

/* The CTA of the pair that has this part of an operand. */
static sim_cta *
part_of(sim *s, const sim_call *c, int part)
{
    sim_cta *cta = c->warp->cta;

    if (c->in->shape->ctas == 2 && (cta->rank | 1) < s->g->cluster)
        return &cta->cluster->cta[(cta->rank & ~1) + part];
    return cta;
}

/* Columns [from, *to) of a tile that lie evenly apart in one CTA; how far. */
static int64_t
run_of(const sim_tile *t, int from, int *to)
{
    int64_t step =
        from + 1 < t->cols ? t->col[from + 1].at - t->col[from].at : 1;
    int e = from + 1;

    while (e < t->cols && t->col[e].cta == t->col[from].cta &&
           t->col[e].at - t->col[e - 1].at == step)
        e++;
    *to = e;
    return e - from > 1 ? step : 1;
}

/* Elements of a tile to or from memory, run by run. */
typedef void by_run(axe_type t, uint8_t *mem, int64_t step, float *x, int n);

static void
each_run(sim *s, sim_call *c, int which, const sim_tile *t, bool write,
         float *x, int64_t ld, by_run *f)
{
    axe_type type = s->g->tmem[c->in->arg[which].tensor].tensor->type;
    int      size = axe_type_table[type].bits / 8, e;

    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j = e) {
            int64_t  step = run_of(t, j, &e);
            int      cta = t->row[i].cta + t->col[j].cta;
            int64_t  at = c->at[which][c->lane] + t->row[i].at + t->col[j].at;
            uint8_t *mem = axe_sim_tmem(s, c, which, part_of(s, c, cta), at,
                                        (e - j - 1) * step + 1, write);
            if (mem)
                f(type, mem, step * size, x + i * ld + j, e - j);
        }
}

static void
get_run(axe_type t, uint8_t *mem, int64_t step, float *x, int n)
{
    bool evenly = step == axe_type_table[t].bits / 8;

    if (evenly && t == AXE_TYPE_f32)
        memcpy(x, mem, (size_t)n * sizeof *x);
    else if (evenly)
        axe_sim_widen(t, t, mem, n, x);
    for (int i = 0; i < n && !evenly; i++, mem += step)
        axe_sim_widen(t, t, mem, 1, &x[i]);
}

static void
put_run(axe_type t, uint8_t *mem, int64_t step, float *x, int n)
{
    if (t == AXE_TYPE_f32)
        memcpy(mem, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n && t != AXE_TYPE_f32; i++, mem += step)
        axe_sim_put(t, mem, axe_sim_round(t, (double)x[i]));
}

/* Integers: x is what comes to what is there, and below 2^24. */
static void
set_run(axe_type t, uint8_t *mem, int64_t step, float *x, int n)
{
    for (int i = 0; i < n; i++, mem += step)
        axe_number_put_int(t, mem, (int64_t)x[i]);
}

static void
add_run(axe_type t, uint8_t *mem, int64_t step, float *x, int n)
{
    for (int i = 0; i < n; i++, mem += step)
        axe_number_put_int(t, mem, axe_number_get_int(t, mem) + (int64_t)x[i]);
}

/* --------------------------------------------------------------- products */

static void
gather(sim *s, sim_call *c, int which, const sim_side *side, int rows, int k,
       float *out, int64_t row, int64_t col)
{
    int part = rows / c->in->shape->ctas;

    if (side->tile) {
        each_run(s, c, which, side->tile, false, out, row, get_run);
        return;
    }
    for (int i = 0; i < c->in->shape->ctas; i++)
        axe_sim_gather(s, c, which, part_of(s, c, i), part, k,
                       out + i * part * row, row, col);
}

/* ------------------------------------------------------------------ scales */

/* The scale of row i, part j; all copies of it must be the same. */
static float
get_scale(sim *s, sim_call *c, int which, const sim_tile *t, int i, int j)
{
    int     arg = 4 + which;
    uint8_t bits = 0;

    for (int k = 0; k < t->n_copy; k++) {
        int64_t at =
            c->at[arg][c->lane] + t->row[i].at + t->col[j].at + t->copy[k].at;
        int      cta = t->row[i].cta + t->col[j].cta + t->copy[k].cta;
        uint8_t *mem =
            axe_sim_tmem(s, c, arg, part_of(s, c, cta), at, 1, false);
        if (mem && k > 0 && *mem != bits &&
            !axe_sim_known(s, AXE_SIM_LAYOUT, c->in, -1))
            axe_sim_find(s, AXE_SIM_LAYOUT, c->in, -1,
                         "the scale of row %d of operand %d differs between "
                         "groups of lanes",
                         i, 1 + which);
        bits = mem && k == 0 ? *mem : bits;
    }
    return (float)axe_number_get(c->in->shape->atom->scale_type, &bits);
}

/* A factor's elements times their scales: (i, k) at i * row + k * col. */
static void
multiply_scales(sim *s, sim_call *c, int which, int k, float *x, int64_t row,
                int64_t col)
{
    const sim_tile *t = c->in->shape->product->scale[which];
    int             block = t ? k / t->cols : 0;

    for (int i = 0; t && i < t->rows; i++)
        for (int j = 0; j < t->cols; j++) {
            float by = get_scale(s, c, which, t, i, j);
            for (int e = j * block; e < (j + 1) * block; e++)
                x[i * row + e * col] *= by;
        }
}

static void
check_pair(sim *s, const sim_call *c)
{
    const sim_cta *cta = c->warp->cta;

    if (c->in->shape->ctas == 1 ||
        (cta->rank % 2 == 0 && cta->rank + 1 < s->g->cluster))
        return;
    axe_sim_find(s, AXE_SIM_PARTIAL, c->in, -1,
                 "%s is in CTA %d of %d; of two that do this together a "
                 "thread of the first asks",
                 axe_sim_agent_text(s, c->warp->agent), cta->rank,
                 s->g->cluster);
}

void
axe_sim_tmem_contract(sim *s, sim_call *c)
{
    const sim_product *p = c->in->shape->product;
    axe_type           t = s->g->tmem[c->in->arg[0].tensor].tensor->type;
    int64_t            ld = (p->n + 31) / 32 * 32, rows = (p->m + 3) / 4 * 4;
    float             *a = s->mma, *b = a + rows * p->k, *d = b + ld * p->k;
    bool               fresh = axe_sim_is_fresh(c);
    bool               is_float = axe_type_is_float(t);

    check_pair(s, c);
    memset(a, 0, (size_t)(rows * p->k + ld * p->k + rows * ld) * sizeof a[0]);
    gather(s, c, 1, &p->a, p->m, p->k, a, p->k, 1);
    gather(s, c, 2, &p->b, p->n, p->k, b, 1, ld);
    multiply_scales(s, c, 0, p->k, a, p->k, 1);
    multiply_scales(s, c, 1, p->k, b, 1, ld);
    if (!fresh)
        each_run(s, c, 0, p->c.tile, false, d, ld, get_run);
    if (!fresh && !is_float)
        memset(d, 0, (size_t)(rows * ld) * sizeof d[0]);
    axe_sim_mma((int)rows, p->k, ld, a, b, d);
    each_run(s, c, 0, p->c.tile, true, d, ld,
             is_float ? put_run
             : fresh  ? set_run
                      : add_run);
    s->report->products += (int64_t)p->m * p->n * p->k;
}

/* ------------------------------------------------------------------ copies */

void
axe_sim_tmem_copy(sim *s, sim_call *c)
{
    const sim_tile *t = c->in->shape->tile;
    int             size = c->in->shape->elem_bytes;
    int             row = t->cols * size, part = t->rows / c->in->shape->ctas;

    check_pair(s, c);
    for (int i = 0; i < t->rows; i += part)
        axe_sim_fetch(s, c, 1, part_of(s, c, i / part), part, row,
                      s->raw + (int64_t)i * row);
    for (int k = 0; k < t->n_copy; k++)
        for (int i = 0; i < t->rows; i++) {
            int64_t  at = c->at[0][c->lane] + t->row[i].at + t->copy[k].at;
            uint8_t *mem = axe_sim_tmem(s, c, 0, part_of(s, c, t->row[i].cta),
                                        at, t->cols, true);
            if (mem)
                memcpy(mem, s->raw + (int64_t)i * row, (size_t)row);
        }
}

/* ------------------------------------------------------------------- issue */

void
axe_sim_tmem_ask(sim *s, sim_warp *w, sim_call *c)
{
    sim_group *g = axe_sim_group_of(s, w, c->in->shape->group);

    for (int l = 0; l < s->lanes; l++) {
        sim_async *o;
        if (!axe_sim_has(c->pred, l))
            continue;
        o = axe_sim_async_new(s, c);
        o->in_order = true;
        o->call.lane = l;
        o->call.mask = o->call.pred = AXE_ONE_LANE(l);
        g->reads = true;
        axe_sim_to_group(s, g, o);
    }
    axe_sim_release(s, w);
}
