/* simt_wave.c - what L2 must ask memory for.
 *
 * The tiles' variables, slow to fast as they are distributed, are loops; the
 * fastest, as far as they go, make the wave that runs at a time.  From the wave
 * outwards: what a loop touches again in its next iteration is in L2 if that
 * holds all that one iteration touches. */
#include <math.h>

#include "plan/cost/simt.h"

typedef struct loop {
    int    var; /* the loop of the kernel that it is a part of */
    double iterations;
} loop;

typedef struct waves {
    axe_cost_env        *e;
    int                  n_work;
    const axe_cost_work *work;
    int                  n, wave; /* loops [wave, n) run at a time */
    loop                 at[2 * AXE_COST_LOOPS];
    int                  n_part;
    axe_cost_touch      *part; /* of each tensor, all that is touched of it */
} waves;

static void
push(waves *d, int var, double iterations)
{
    d->at[d->n++] = (loop){var, fmax(iterations, 1)};
}

/* As lower/code/order.h distributes them.  A curve keeps about as many rows as
 * columns. */
static void
order_loops(waves *d, const axe_stmt *scope, double wave)
{
    axe_cost_env *e = d->e;
    double        group = scope->keys.group, cluster = scope->keys.cluster;

    if (scope->keys.hilbert)
        group = ceil(sqrt(wave));
    if (scope->n_var >= 2 && group > 1) {
        group = fmin(group * scope->keys.cluster, e->loop[0].trips);
        push(d, 0, e->loop[0].trips / fmax(group, 1));
        for (int l = 1; l < scope->n_var; l++)
            push(d, l, e->loop[l].trips);
        push(d, 0, group);
        return;
    }
    cluster = scope->n_var > 0 ? fmin(fmax(cluster, 1), e->loop[0].trips) : 1;
    for (int l = 0; l < scope->n_var && l < e->n_loop; l++)
        push(d, l, e->loop[l].trips / (l == 0 ? cluster : 1));
    if (cluster > 1) /* its CTAs are distributed together */
        push(d, 0, cluster);
}

/* Cut the loop that the wave ends in. */
static void
cut(waves *d, double wave)
{
    int l = d->n;

    while (l > 0 && d->at[l - 1].iterations <= wave)
        wave /= d->at[--l].iterations;
    d->wave = l;
    if (l == 0 || wave < 1.5)
        return;
    for (int i = d->n++; i >= l; i--)
        d->at[i] = d->at[i - 1];
    d->at[l - 1].iterations = fmax(1, d->at[l].iterations / wave);
    d->at[l].iterations = wave;
}

/* What all statements touch of a tensor in one tile is taken to be what the
 * one that touches most does. */
static void
add_part(waves *d, const axe_cost_touch *t)
{
    for (int i = 0; i < d->n_part; i++) {
        axe_cost_touch *p = &d->part[i];
        if (p->tensor != t->tensor || p->write != t->write)
            continue;
        for (int l = 0; l < AXE_COST_LOOPS; l++)
            p->moves[l] = fmax(p->tile >= t->tile ? p->moves[l] : 0,
                               t->tile >= p->tile ? t->moves[l] : 0);
        p->tile = fmax(p->tile, t->tile);
        p->own = fmax(p->own, t->own);
        p->picked = p->picked || t->picked;
        p->hint = p->hint == t->hint ? p->hint : AXE_HINT_NONE;
        return;
    }
    d->part[d->n_part++] = *t;
}

static double
whole(const waves *d, const axe_tensor *t)
{
    double n = axe_type_table[t->type].bits / 8.0;

    for (int i = 0; i < t->rank; i++)
        n *= axe_cost_value(d->e, t->shape[i]);
    return n;
}

/* [bytes] of a tensor that the loops from l inwards touch. */
static double
region(const waves *d, const axe_cost_touch *t, int l)
{
    double n = t->tile, of[AXE_COST_LOOPS];

    for (int v = 0; v < AXE_COST_LOOPS; v++)
        of[v] = 1;
    for (int i = l; i < d->n; i++)
        of[d->at[i].var] *= d->at[i].iterations;
    for (int v = 0; v < AXE_COST_LOOPS; v++)
        n *= fmax(1, t->moves[v] * of[v]);
    return fmin(n, whole(d, t->tensor));
}

/* [bytes] that compete with t for L2, from l inwards: not what leaves first,
 * and with what stays longest only its like. */
static double
all_regions(const waves *d, const axe_cost_touch *t, int l)
{
    double sum = 0;

    for (int i = 0; i < d->n_part; i++) {
        axe_hint hint = d->part[i].hint;
        if (&d->part[i] == t ||
            (hint != AXE_HINT_FIRST &&
             (t->hint != AXE_HINT_LAST || hint == AXE_HINT_LAST)))
            sum += region(d, &d->part[i], l);
    }
    return sum;
}

/* Is what t touches again gone when loop l comes back to it?  Of a tensor that
 * is picked from, the launch before had another part. */
static bool
is_gone(const waves *d, const axe_cost_touch *t, int l, double l2)
{
    return t->hint == AXE_HINT_FIRST || all_regions(d, t, l) > l2 ||
           (l == 0 && t->picked && whole(d, t->tensor) > l2);
}

/* Of one tensor: in all waves, what is not there any more. */
static double
fetched(const waves *d, const axe_cost_touch *t, double l2)
{
    double outer[2 * AXE_COST_LOOPS + 1] = {1}, sum = 0;

    for (int l = 0; l < d->wave; l++)
        outer[l + 1] = outer[l] * d->at[l].iterations;
    for (int l = d->wave; l > 0; l--) {
        double again =
            outer[l - 1] *
            (d->at[l - 1].iterations * region(d, t, l) - region(d, t, l - 1));
        if (again > 0 && is_gone(d, t, l, l2))
            sum += again;
    }
    return sum + (is_gone(d, t, 0, l2) ? region(d, t, 0) : 0);
}

/* What statements of a tile ask for again after others: all of it where the
 * wave's regions do not fit. */
static double
again_in_tile(const waves *d, double tiles)
{
    double sum = 0, once = 0;

    for (int i = 0; i < d->n_work; i++)
        for (int k = 0; k < d->work[i].n_touch; k++)
            sum += d->work[i].share * d->work[i].touch[k].own;
    for (int i = 0; i < d->n_part; i++)
        once += d->part[i].own;
    return sum > once ? (sum - once) * tiles : 0;
}

double
axe_cost_wave_bytes(axe_cost_env *e, const axe_stmt *scope, int n_work,
                    const axe_cost_work *work, double wave)
{
    static const axe_cost_touch anything;
    waves                       d = {.e = e, .n_work = n_work, .work = work};
    double l2 = (double)e->plan->machine->l2_bytes, sum = 0, tiles = 1;
    int    n = 0;

    for (int i = 0; i < n_work; i++)
        n += work[i].n_touch;
    d.part = axe_new_array(e->cx, axe_cost_touch, n + 1);
    for (int i = 0; i < n_work; i++)
        for (int k = 0; k < work[i].n_touch; k++)
            add_part(&d, &work[i].touch[k]);
    for (int l = 0; l < scope->n_var; l++)
        tiles *= e->loop[l].trips;
    order_loops(&d, scope, wave);
    cut(&d, wave);
    for (int i = 0; i < d.n_part; i++)
        sum += fetched(&d, &d.part[i], l2);
    return sum + (all_regions(&d, &anything, d.wave) > l2
                      ? again_in_tile(&d, tiles)
                      : 0);
}
