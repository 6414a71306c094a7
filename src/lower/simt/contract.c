/* contract.c - contractions of many threads as atoms.
 *
 * Repetitions of the atom are written out, the sum outermost.  Factors that go
 * through registers are loaded one group of steps ahead, into the other half of
 * their registers, so that loads and products overlap, if the plan says so; but
 * all before the first product where atoms are done later, as they still read
 * them. */

#include "plan/simt/contract/contract.h"
#include "lower/simt/node.h"
#include "plan/simt/sync/async_drain.h"
#include "plan/simt/tmem/tmem.h"

/* The counters at hand; NULL: 0. */
typedef struct counters {
    const axe_node *of[AXE_COUNT_INVOCATION + 1];
    int64_t         end[AXE_COUNT_INVOCATION + 1]; /* how far each goes */
} counters;

/* One factor while the statement is lowered. */
typedef struct factor {
    const axe_factor  *feed;
    const axe_operand *op;
    axe_type           type;
    const axe_tensor  *array; /* groups of steps; NULL: read from memory */
    const axe_tensor  *raw;   /* a group as it is in memory, if that is not as
                                 the atom takes it; or NULL */
    const axe_tensor *buffer; /* the tile */
    const axe_node   *at;     /* [elements] what no loop here moves */
    int64_t           half;   /* [elements] registers of a group of steps */
} factor;

typedef struct emitter {
    axe_simt_lowering       *sl;
    const axe_simt_contract *sc;
    const axe_thread_group  *threads;
    factor                   a, b;
    const axe_tensor        *acc;
    int64_t                  step;  /* of the sum, in a group */
    int64_t                  slots; /* groups that registers hold at once */
} emitter;

/* count / over % extent * stride */
static const axe_node *
step_node(emitter *e, const counters *c, const axe_step *s)
{
    const axe_node *n = c->of[s->of];

    if (!n)
        return number(e->sl, 0);
    if (s->over > 1)
        n = op2(e->sl, AXE_OP_div, n, number(e->sl, s->over));
    if (s->over * s->extent < c->end[s->of])
        n = op2(e->sl, AXE_OP_mod, n, number(e->sl, s->extent));
    return op2(e->sl, AXE_OP_mul, n, number(e->sl, s->stride));
}

static const axe_node *
sum_steps(emitter *e, const counters *c, int n, const axe_step *s,
          const axe_node *at)
{
    for (int i = 0; i < n; i++)
        at = axe_sum(&e->sl->lw, at, step_node(e, c, &s[i]));
    return at;
}

/* ----------------------------------------------------------------- factors */

/* Does it come into registers of its own? */
static bool
is_loaded(const axe_factor *f)
{
    return !f->direct && !f->held;
}

/* How far each counter goes while this factor is addressed. */
static counters
ends_for(const emitter *e, const factor *f)
{
    counters c = {.of = {NULL}};

    c.end[AXE_COUNT_WARP] = e->threads->n_thread / e->sl->sp->lanes;
    c.end[AXE_COUNT_LANE] = e->sl->sp->lanes;
    c.end[AXE_COUNT_M] = e->sc->m.n_rep;
    c.end[AXE_COUNT_N] = e->sc->n.n_rep;
    c.end[AXE_COUNT_K] = e->sc->k.n_rep;
    c.end[AXE_COUNT_INVOCATION] =
        f->feed->direct ? 1 : f->feed->load.n_invocation;
    return c;
}

static int
steps_of(const axe_factor *f, const axe_step **step)
{
    *step = f->direct ? f->desc.step : f->load.step;
    return f->direct ? f->desc.n_step : f->load.n_step;
}

/* Warp and lane are the same in all of the statement. */
static void
begin_factor(emitter *e, axe_lblock *b, factor *f, const axe_factor *feed,
             const char *name)
{
    const axe_schedule *s = e->sl->s;
    const axe_step     *step;
    axe_iter            own[2];
    int                 n = axe_threads_axes(e->sl->sp, e->threads, own);

    f->feed = feed;
    f->op = &s->operand[feed->operand];
    f->type = e->sl->lw.plan->place[f->op->tensor->id].type;
    if (feed->held) {
        f->array = axe_simt_tensor(e->sl, f->op->tensor);
        return;
    }
    f->buffer = axe_simt_tensor(e->sl, f->op->tensor);
    counters c = ends_for(e, f);
    c.of[AXE_COUNT_LANE] =
        axe_simt_coordinate(e->sl, e->threads, e->sl->sp->lane);
    if (n == 2)
        c.of[AXE_COUNT_WARP] =
            axe_simt_coordinate(e->sl, e->threads, own[0].axis);
    n = steps_of(feed, &step);
    f->at = axe_simt_let(e->sl, b, axe_textf(e->sl->lw.cx, "%s_at", name),
                         sum_steps(e, &c, n, step, f->op->base));
    if (feed->direct)
        return;
    f->half = feed->regs * (e->step / feed->chunk);
    axe_type takes = e->sc->atom->type[feed == &e->sc->a ? 1 : 2];
    f->array = axe_simt_array(e->sl, axe_textf(e->sl->lw.cx, "%s_frag", name),
                              takes, f->half * e->slots);
    if (takes != f->type)
        f->raw = axe_simt_array(e->sl, axe_textf(e->sl->lw.cx, "%s_raw", name),
                                f->type, f->half);
}

/* Where in the registers a group of steps is. */
static const axe_node *
slot_of(emitter *e, const factor *f, const axe_node *group)
{
    if (e->slots == 1 || f->feed->held)
        return number(e->sl, 0);
    if (e->slots < e->sc->k.n_rep / e->step)
        group = op2(e->sl, AXE_OP_mod, group, number(e->sl, e->slots));
    return op2(e->sl, AXE_OP_mul, group, number(e->sl, f->half));
}

/* A group as the atom takes it. */
static void
convert_group(emitter *e, axe_lblock *b, const factor *f, const axe_node *group)
{
    const axe_node *r = axe_simt_unrolled(e->sl, &b, "r", f->half);

    axe_simt_calc(e->sl, b, f->array,
                  axe_sum(&e->sl->lw, slot_of(e, f, group), r),
                  axe_cast(e->sl->lw.cx, AXE_NOWHERE, f->array->type,
                           axe_simt_element(e->sl, f->raw, r)),
                  NULL);
}

/* The loads of a group of steps. */
static void
load_group(emitter *e, axe_lblock *b, const factor *f, const axe_node *group)
{
    counters        c = ends_for(e, f);
    axe_lblock     *all = b;
    int64_t         n_chunk;
    const axe_node *chunk, *reg;

    if (!is_loaded(f->feed))
        return;
    n_chunk = e->step / f->feed->chunk;
    chunk = axe_simt_unrolled(e->sl, &b, "c", n_chunk);
    c.of[AXE_COUNT_INVOCATION] =
        axe_simt_unrolled(e->sl, &b, "l", f->feed->load.n_invocation);
    c.of[AXE_COUNT_K] = axe_sum(
        &e->sl->lw, op2(e->sl, AXE_OP_mul, group, number(e->sl, e->step)),
        op2(e->sl, AXE_OP_mul, chunk, number(e->sl, f->feed->chunk)));
    reg = axe_sum(&e->sl->lw, f->raw ? number(e->sl, 0) : slot_of(e, f, group),
                  op2(e->sl, AXE_OP_mul, chunk, number(e->sl, f->feed->regs)));
    reg = axe_sum(&e->sl->lw, reg,
                  op2(e->sl, AXE_OP_mul, c.of[AXE_COUNT_INVOCATION],
                      number(e->sl, f->feed->load.regs)));
    axe_arg arg[2] = {
        axe_simt_reg(f->raw ? f->raw : f->array, reg),
        axe_simt_shared(f->buffer, sum_steps(e, &c, f->feed->load.n_step,
                                             f->feed->load.step, f->at))};
    axe_simt_atom(e->sl, b, f->feed->load.atom, f->feed->load.param, 2, arg,
                  NULL);
    if (f->raw)
        convert_group(e, all, f, group);
}

/* The factor as the atom's operand at the counters. */
static axe_arg
factor_arg(emitter *e, const factor *f, const counters *c,
           const axe_node *group, const axe_node *step)
{
    const axe_factor *d = f->feed;
    const axe_node   *at;

    if (d->direct) {
        at = sum_steps(e, c, d->desc.n_step, d->desc.step, f->at);
        if (d->tensor->space == AXE_SPACE_TMEM)
            return axe_simt_sums(f->buffer, at);
        axe_arg arg = axe_simt_shared(f->buffer, at);
        arg.desc = d->desc.bits;
        arg.major = d->desc.major;
        return arg;
    }
    if (d->held)
        return axe_simt_reg(
            f->array, sum_steps(e, c, d->n_reg, d->reg, number(e->sl, 0)));
    at = op2(e->sl, AXE_OP_div, step, number(e->sl, d->chunk));
    at = axe_sum(&e->sl->lw, slot_of(e, f, group),
                 op2(e->sl, AXE_OP_mul, at, number(e->sl, d->regs)));
    return axe_simt_reg(f->array, sum_steps(e, c, d->n_reg, d->reg, at));
}

/* ---------------------------------------------------------------- products */

/* 0 in the very first step if c is to be overwritten then, else 1. */
static const axe_node *
counts_old(emitter *e, const axe_node *step)
{
    if (e->sc->begins)
        return op2(e->sl, AXE_OP_min, step, number(e->sl, 1));
    if (!e->sc->fresh)
        return number(e->sl, 1);
    return op2(e->sl, AXE_OP_min,
               axe_sum(&e->sl->lw, axe_ivar(&e->sl->lw, e->sc->fresh), step),
               number(e->sl, 1));
}

/* Where the atom adds to. */
static axe_arg
sums_arg(emitter *e, const counters *c)
{
    const axe_simt_contract *sc = e->sc;

    if (sc->atom->space[0] == AXE_ARG_REG)
        return axe_simt_reg(
            e->acc, sum_steps(e, c, sc->n_acc, sc->acc, number(e->sl, 0)));
    return axe_simt_sums(
        e->acc, sum_steps(e, c, sc->n_acc, sc->acc, e->sl->s->operand[0].base));
}

/* The scales of a factor as the atom's operand. */
static axe_arg
scale_arg(emitter *e, const axe_scale *s, const counters *c)
{
    return axe_simt_sums(axe_simt_tensor(e->sl, s->tensor),
                         sum_steps(e, c, s->n_step, s->step, number(e->sl, 0)));
}

/* All products of a group of steps. */
static void
multiply_group(emitter *e, axe_lblock *b, const axe_node *group)
{
    const axe_simt_contract *sc = e->sc;
    const axe_node          *step = axe_simt_unrolled(e->sl, &b, "k", e->step);
    counters                 c = ends_for(e, &e->a);
    axe_arg                  arg[6];
    int                      n = sc->atom->fresh ? 4 : 3;

    c.of[AXE_COUNT_K] =
        axe_sum(&e->sl->lw,
                op2(e->sl, AXE_OP_mul, group, number(e->sl, e->step)), step);
    c.of[AXE_COUNT_M] = axe_simt_unrolled(e->sl, &b, "m", sc->m.n_rep);
    c.of[AXE_COUNT_N] = axe_simt_unrolled(e->sl, &b, "n", sc->n.n_rep);
    arg[0] = sums_arg(e, &c);
    arg[1] = factor_arg(e, &e->a, &c, group, step);
    arg[2] = factor_arg(e, &e->b, &c, group, step);
    arg[3] = axe_simt_number(counts_old(e, c.of[AXE_COUNT_K]));
    for (int i = 0; i < 2 && sc->scale[i].tensor; i++)
        arg[n++] = scale_arg(e, &sc->scale[i], &c);
    axe_simt_atom(e->sl, b, sc->atom, sc->param, n, arg, NULL);
}

static void
load_both(emitter *e, axe_lblock *b, const axe_node *group)
{
    load_group(e, b, &e->a, group);
    load_group(e, b, &e->b, group);
}

/* Group after group, the next one's loads before the products of this. */
static void
overlap_groups(emitter *e, axe_lblock *b)
{
    int64_t         n = e->sc->k.n_rep / e->step;
    axe_lblock     *in = b;
    const axe_node *g;

    load_both(e, b, number(e->sl, 0));
    g = axe_simt_unrolled(e->sl, &in, "g", n - 1);
    load_both(e, in, axe_sum(&e->sl->lw, g, number(e->sl, 1)));
    multiply_group(e, in, g);
    multiply_group(e, b, number(e->sl, n - 1));
}

/* Group after group, for who looks ahead itself: a loop, where nothing is asked
 * for by its register. */
static void
take_groups(emitter *e, axe_lblock *b)
{
    int64_t         n = e->sc->k.n_rep / e->step;
    axe_lblock     *in = b;
    const axe_node *g = axe_simt_unrolled(e->sl, &in, "g", n);

    if (in != b && !e->a.feed->held && !e->b.feed->held)
        b->item[b->n - 1]->unroll = false;
    load_both(e, in, g);
    multiply_group(e, in, g);
}

/* Atoms that are done later: what is around them. */
static void
begin_group(emitter *e, axe_lblock *b)
{
    const axe_atom *a = e->sc->atom;
    const axe_atom *fence =
        axe_simt_find_sync(e->sl->lw.plan->machine, AXE_SYNC_FENCE, a->by,
                           a->group, AXE_ARG_REG, AXE_ARG_NONE);

    if (*a->group && fence)
        axe_simt_atom(e->sl, b, fence, 0, 0, NULL, NULL);
}

static axe_status
end_group(emitter *e, axe_lblock *b)
{
    const axe_atom *a = e->sc->atom;
    axe_arg         n = axe_simt_number(number(e->sl, e->sc->in_flight));

    if (!*a->group || axe_atom_commits(e->sl->lw.plan->machine, a))
        return AXE_OK;
    AXE_TRY(axe_simt_sync(e->sl, b, AXE_SYNC_COMMIT, a->by, a->group, 0, NULL));
    if (axe_simt_drain_of(e->sl->sp, e->sl->s->stmt))
        return AXE_OK;
    return axe_simt_sync(e->sl, b, AXE_SYNC_DRAIN, a->by, a->group, 1, &n);
}

/* All loads, then atoms that are done later. */
static axe_status
all_groups(emitter *e, axe_lblock *b)
{
    int64_t         n = e->sc->k.n_rep / e->step;
    axe_lblock     *in = b;
    const axe_node *g;

    if (is_loaded(e->a.feed) || is_loaded(e->b.feed)) {
        g = axe_simt_unrolled(e->sl, &in, "g", n);
        load_both(e, in, g);
    }
    begin_group(e, b);
    in = b;
    g = axe_simt_unrolled(e->sl, &in, "g", n);
    multiply_group(e, in, g);
    return end_group(e, b);
}

axe_status
axe_simt_lower_contract(axe_simt_lowering *sl, axe_lblock *b,
                        const axe_schedule *s)
{
    const axe_simt_contract *sc = s->simt->contract;
    emitter e = {.sl = sl, .sc = sc, .threads = s->simt->threads, .step = 1};
    bool    overlap =
        !*sc->atom->group && (is_loaded(&sc->a) || is_loaded(&sc->b));

    e.step = sc->a.chunk > sc->b.chunk ? sc->a.chunk : sc->b.chunk;
    e.slots = sc->k.n_rep / e.step;
    if (overlap && e.slots > 1)
        e.slots = sc->ahead ? 2 : 1;
    e.acc = axe_simt_tensor(sl, s->operand[0].tensor);
    if (sc->atom->space[0] == AXE_ARG_TMEM)
        b = axe_simt_open_issuer(sl, b, e.threads);
    begin_factor(&e, b, &e.a, &sc->a, "a");
    begin_factor(&e, b, &e.b, &sc->b, "b");
    if (!overlap || (sc->ahead && e.slots == 1))
        return all_groups(&e, b);
    if (sc->ahead)
        overlap_groups(&e, b);
    else
        take_groups(&e, b);
    return AXE_OK;
}
