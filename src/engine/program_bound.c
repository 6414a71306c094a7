/* program_bound.c - boxes of which only what is below a bound goes.
 *
 * For each index of the dimensions that the bound depends on there is a box of
 * its own, whose runs of the bounded dimension end there.  Both ranks cut a box
 * in the same way, in the order of its index. */
#include <inttypes.h>

#include "base/ctx.h"
#include "engine/program.h"

enum { MOST_BOXES = 1 << 20 };

typedef struct cutter {
    axe_ctx                 *cx;
    const axe_reshard_bound *bound;
    int                      n, room;
    program_box             *out;
} cutter;

static int64_t
value(const axe_reshard_bound *b, int64_t at)
{
    return b->wide ? ((const int64_t *)b->value)[at]
                   : ((const int32_t *)b->value)[at];
}

static void
push(cutter *c, const program_open *o)
{
    if (c->n == c->room) {
        int          room = c->room ? 2 * c->room : 8;
        program_box *more = axe_new_array(c->cx, program_box, room);

        for (int i = 0; i < c->n; i++)
            more[i] = c->out[i];
        c->out = more;
        c->room = room;
    }
    c->out[c->n++] = program_close(o);
}

static int64_t
elements(const program_box *b)
{
    int64_t n = 1;

    for (int d = 0; d < b->n_dim; d++) {
        int64_t all = 0;

        for (int i = 0; i < b->n_run[d]; i++)
            all += b->run[d][i].n;
        n *= all;
    }
    return n;
}

/* Runs of its own, since they become other ones when dimensions do. */
static program_open
copy_of(axe_ctx *cx, const program_open *o)
{
    program_open out = *o;

    for (int d = 0; d < o->box.n_dim; d++) {
        out.box.run[d] = axe_new_array(cx, program_run, o->box.n_run[d] + 1);
        for (int i = 0; i < o->box.n_run[d]; i++)
            out.box.run[d][i] = o->box.run[d][i];
    }
    return out;
}

/* Of the bounded dimension what is below `most`. */
static void
cut_below(cutter *c, const program_open *o, int64_t most)
{
    program_open out = copy_of(c->cx, o);
    int          d = c->bound->dim, n = 0;

    for (int i = 0; i < o->box.n_run[d]; i++) {
        program_run r = o->box.run[d][i];

        r.n = r.n < most - r.at ? r.n : most - r.at;
        if (r.n > 0)
            out.box.run[d][n++] = r;
    }
    out.box.n_run[d] = n;
    out.box.n = n > 0 ? elements(&out.box) : 0;
    if (out.box.n > 0)
        push(c, &out);
}

/* Indices of the bound's dimension k and those behind it, `at` in its values.
 */
static axe_status
walk(cutter *c, const program_open *o, int k, int64_t at)
{
    const axe_reshard_bound *b = c->bound;
    int                      d = k < b->n ? b->of[k] : 0;

    if (c->n >= MOST_BOXES)
        return axe_fail(c->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: what is below a bound is over %d boxes",
                        MOST_BOXES);
    if (k == b->n) {
        cut_below(c, o, value(b, at));
        return AXE_OK;
    }
    for (int i = 0; i < o->box.n_run[d]; i++) {
        program_run r = o->box.run[d][i];

        for (int64_t u = 0; u < r.n; u++) {
            program_run  one = {r.src + u, r.dst + u, 1, r.at + u};
            program_open out = *o;

            out.box.n_run[d] = 1;
            out.box.run[d] = &one;
            AXE_TRY(walk(c, &out, k + 1, at + one.at * b->pitch[k]));
        }
    }
    return AXE_OK;
}

axe_status
program_below(axe_ctx *cx, const axe_reshard_bound *bound,
              const program_open *open, int *n, program_box **out)
{
    cutter c = {.cx = cx, .bound = bound};

    if (open->box.n > 0)
        AXE_TRY(walk(&c, open, 0, 0));
    *n = c.n;
    *out = c.out;
    return AXE_OK;
}

/* Bounds are of what one device asks of another. */
axe_status
program_check_bound(axe_ctx *cx, const axe_reshard_plan *p,
                    const axe_reshard_bound *bound)
{
    int  n_dim = p->src.shape.n;
    bool good = bound->dim >= 0 && bound->dim < n_dim;

    for (int i = 0; i < bound->n; i++)
        good = good && bound->of[i] >= 0 && bound->of[i] < n_dim &&
               bound->of[i] != bound->dim;
    if (!good)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "reshard: a bound is of dimensions of the tensor, of "
                        "which there are %d",
                        n_dim);
    for (int i = 0; i < p->n_step && good; i++)
        good = p->n_step == 1 && p->step[i].kind != AXE_COLLECTIVE_ALL_REDUCE &&
               p->step[i].kind != AXE_COLLECTIVE_REDUCE_SCATTER &&
               p->step[i].kind != AXE_COLLECTIVE_BROADCAST &&
               axe_reshard_addends(p) == 1;
    return good ? AXE_OK
                : axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                           "reshard: what is below a bound goes in one step "
                           "without sums, and this is %s",
                           axe_collective_text(p->step[0].kind));
}

bool
program_is_below(const axe_reshard_plan *p, const axe_reshard_bound *bound,
                 int64_t element)
{
    int64_t index[PROGRAM_DIMS], at = 0;

    for (int d = p->src.shape.n - 1; d >= 0; d--) {
        index[d] = element % p->src.shape.extent[d];
        element /= p->src.shape.extent[d];
    }
    for (int i = 0; i < bound->n; i++)
        at += index[bound->of[i]] * bound->pitch[i];
    return index[bound->dim] < value(bound, at);
}

axe_status
axe_reshard_below(axe_ctx *cx, const axe_reshard_plan *p,
                  const axe_reshard_bound *bound, int64_t *out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, bound);
    AXE_NEED(cx, out);
    axe_mark m = axe_ctx_mark(cx);
    int64_t  n = 0;

    for (int64_t r = 0; r < p->mesh->n_device; r++) {
        const program *g;

        AXE_TRY(program_of(cx, p, r, bound, &g));
        for (int f = 0; f < g->n_phase; f++)
            for (int i = 0; i < g->phase[f].n_pull; i++)
                if (g->phase[f].pull[i].peer != r)
                    n += g->phase[f].pull[i].box.n;
    }
    axe_ctx_release(cx, m);
    *out = n;
    return AXE_OK;
}
