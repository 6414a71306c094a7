/* simt_prove.c - the certificate of a contraction of many threads.
 *
 * What loads and atoms do, by their rows' own layouts, thread by thread,
 * against what the statement says:
 *
 *   each element of c is in one register of one thread, or one place of tensor
 *   memory, and one atom of each step of the sum adds to it;
 *   what that atom finds for its row i and its step h of the sum is the element
 *   of a at the row of c and the step of the sum that it should be; so for b.
 *
 * Then every product is added once.  Nothing here composes layouts: registers
 * are filled by running the loads. */
#include <assert.h>
#include <string.h>

#include "plan/simt_option.h"

enum { BLOCK_ROWS = 8, CHUNK_BITS = 128, NOWHERE = -1 };

typedef struct proof {
    axe_ctx                 *cx;
    const planner           *p;
    const job               *j;
    const option            *o;
    const axe_simt_contract *sc;
    int64_t n_thread, group; /* of the crew, of an invocation */
    int64_t lanes;
    int64_t columns; /* of c in tensor memory; 0: it is in registers */
    int64_t slots;   /* places of c that a thread reaches */
} proof;

/* One side of an atom, element by element. */
typedef struct side {
    int64_t  n;
    int64_t *thread, *reg, *m;
} side;

/* The thread and the place in it of every element. */
static side
list_side(const proof *q, const axe_layout *l)
{
    const axe_simt_plan *sp = q->p->simt;
    side                 s = {.n = l->size,
                              .thread = axe_new_array(q->cx, int64_t, l->size),
                              .reg = axe_new_array(q->cx, int64_t, l->size),
                              .m = axe_new_array(q->cx, int64_t, l->size)};

    for (int64_t x = 0; x < l->size; x++) {
        s.thread[x] = axe_layout_at(l, x, sp->lane) +
                      q->lanes * (axe_layout_at(l, x, sp->warp) +
                                  axe_layout_at(l, x, sp->wid));
        s.reg[x] = axe_layout_at(l, x, sp->reg) +
                   axe_layout_at(l, x, sp->tlane) * q->columns +
                   axe_layout_at(l, x, sp->tcol);
        s.m[x] = axe_layout_at(l, x, AXE_AXIS_M);
    }
    return s;
}

static int64_t
sum_steps(int n, const axe_step *step, const int64_t *count)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++)
        at += axe_step_at(&step[i], count[step[i].of]);
    return at;
}

/* ------------------------------------------------------------------- loads */

/* Where in memory what is in each register came from: [thread][register of all
 * chunks].  NULL: one is filled twice or not at all. */
static int64_t *
run_loads(const proof *q, const axe_feed *f)
{
    const axe_reg_move *m = &f->load;
    const char         *names;
    const axe_layout   *d, *a;
    int64_t             n_chunk = q->sc->k.n_rep / f->chunk;
    int64_t             all = n_chunk * f->regs;
    int64_t            *from = axe_new_array(q->cx, int64_t, q->n_thread * all);
    int64_t             by = axe_atom_threads(m->atom), filled = 0;

    if (axe_atom_operand(q->cx, m->atom, 0, m->param, &names, &d) != AXE_OK ||
        axe_atom_operand(q->cx, m->atom, 1, m->param, &names, &a) != AXE_OK)
        return NULL;
    side to = list_side(q, d), at = list_side(q, a);
    for (int64_t i = 0; i < q->n_thread * all; i++)
        from[i] = NOWHERE;
    for (int64_t first = 0; first < q->n_thread; first += by)
        for (int64_t turn = 0; turn < n_chunk * m->n_turn; turn++)
            for (int64_t e = 0; e < to.n; e++) {
                int64_t asks = first + at.thread[e];
                int64_t count[AXE_COUNT_TURN + 1] = {0};
                count[AXE_COUNT_WARP] = asks / q->lanes;
                count[AXE_COUNT_LANE] = asks % q->lanes;
                count[AXE_COUNT_K] = turn / m->n_turn * f->chunk;
                count[AXE_COUNT_TURN] = turn % m->n_turn;
                int64_t *r = &from[(first + to.thread[e]) * all +
                                   turn / m->n_turn * f->regs +
                                   turn % m->n_turn * m->regs + to.reg[e]];
                if (*r != NOWHERE)
                    return NULL;
                *r = sum_steps(m->n_step, m->step, count) + at.m[e];
                filled++;
            }
    return filled == q->n_thread * all ? from : NULL;
}

/* ------------------------------------------------------------------- tiles */

static int64_t
thread_step(const proof *q, axe_iter it)
{
    return it.axis == q->p->simt->lane ? it.stride : it.stride * q->lanes;
}

/* What is in each register of a tile that the threads hold, as row * sums +
 * sum; NULL: more than one element. */
static int64_t *
run_held(const proof *q, const axe_feed *f)
{
    const axe_layout *l = f->frag;
    int64_t          *of = axe_new_array(q->cx, int64_t, q->n_thread * f->regs);
    side              s = list_side(q, l);
    int64_t           copies = 1;

    for (int i = 0; i < l->n_replica; i++)
        copies *= l->replica[i].extent;
    for (int64_t i = 0; i < q->n_thread * f->regs; i++)
        of[i] = NOWHERE;
    for (int64_t x = 0; x < copies * s.n; x++) {
        int64_t e = x % s.n, c = x / s.n, thread = s.thread[e];
        for (int i = 0; i < l->n_replica; i++) {
            thread += c % l->replica[i].extent * thread_step(q, l->replica[i]);
            c /= l->replica[i].extent;
        }
        int64_t *r = &of[thread * f->regs + s.reg[e]];
        if (thread >= q->n_thread || s.reg[e] >= f->regs || *r != NOWHERE)
            return NULL;
        *r = e;
    }
    return of;
}

/* ----------------------------------------------------------------- factors */

/* [elements] element (row, sum) of an operand that is read by a descriptor. */
static int64_t
described(const proof *q, const axe_feed *f, axe_type t, int64_t row,
          int64_t sum)
{
    int64_t bits = axe_type_table[t].bits;
    int64_t shift = q->p->place[f->tensor->id].layout->swizzle.bits;
    int64_t wide = (CHUNK_BITS << shift) / bits;
    int64_t along = f->desc.major ? row : sum;
    int64_t across = f->desc.major ? sum : row;

    return along / wide * (f->desc.lead * 8 / bits) + along % wide +
           across / BLOCK_ROWS * (f->desc.stride * 8 / bits) +
           across % BLOCK_ROWS * wide;
}

/* [elements] where each (row, sum) lies. */
static int64_t *
list_memory(const proof *q, const axe_layout *memory)
{
    int64_t *at = axe_new_array(q->cx, int64_t, memory->size);

    for (int64_t x = 0; x < memory->size; x++)
        at[x] = axe_layout_at(memory, x, AXE_AXIS_M);
    return at;
}

/* Does every atom find in its rows of this factor what it should?  row_of: by
 * first thread, repetition and row of the atom. */
static bool
factor_holds(const proof *q, const axe_feed *f, int s, const int64_t *row_of)
{
    const axe_spread *row = s == 1 ? &q->sc->m : &q->sc->n;
    axe_counter       own = s == 1 ? AXE_COUNT_M : AXE_COUNT_N;
    axe_type          t = q->j->type[s];
    int64_t           ak = q->sc->k.atom, pair = s == 2 ? q->sc->pair : 1;
    int64_t  all = f->held ? f->regs : q->sc->k.n_rep / f->chunk * f->regs;
    int64_t *memory = f->held ? NULL : list_memory(q, f->memory);
    int64_t *from = f->direct ? NULL
                    : f->held ? run_held(q, f)
                              : run_loads(q, f);
    side     in = list_side(q, q->o->side[s]);
    int64_t  n_group = q->n_thread / q->group;

    if (!f->direct && !from)
        return false;
    for (int64_t x = 0; x < n_group * row->n_rep * q->sc->k.n_rep; x++) {
        int64_t k = x % q->sc->k.n_rep, rep = x / q->sc->k.n_rep % row->n_rep;
        int64_t g = x / q->sc->k.n_rep / row->n_rep;
        int64_t count[AXE_COUNT_TURN + 1] = {0};
        count[AXE_COUNT_WARP] = g * q->group / q->lanes;
        count[own] = rep;
        count[AXE_COUNT_K] = k;
        for (int64_t e = 0; e < in.n; e++) {
            int64_t want = row_of[(g * row->n_rep + rep) * row->atom + e / ak];
            int64_t at = e / ak % (row->atom / pair);
            if (want / (row->extent / pair) != e / ak / (row->atom / pair))
                return false;
            want %= row->extent / pair;
            want = want * q->sc->k.extent + k * ak + e % ak;
            want = memory ? memory[want] : want;
            int64_t got =
                f->direct
                    ? sum_steps(f->desc.n_step, f->desc.step, count) +
                          described(q, f, t, at, e % ak)
                    : from[(g * q->group + in.thread[e]) * all +
                           (f->held ? 0 : k / f->chunk * f->regs) +
                           sum_steps(f->n_reg, f->reg, count) + in.reg[e]];
            if (got != want)
                return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------ accumulators */

/* The element of c in each register of each thread; NULL: not one each. */
static int64_t *
find_elements(const proof *q, const axe_layout *c)
{
    int64_t *of = axe_new_array(q->cx, int64_t, q->n_thread * q->slots);
    side     s = list_side(q, c);

    for (int64_t i = 0; i < q->n_thread * q->slots; i++)
        of[i] = NOWHERE;
    for (int64_t x = 0; x < s.n; x++) {
        if (s.thread[x] >= q->n_thread || s.reg[x] >= q->slots ||
            of[s.thread[x] * q->slots + s.reg[x]] != NOWHERE)
            return NULL;
        of[s.thread[x] * q->slots + s.reg[x]] = x;
    }
    return q->columns > 0 || s.n == q->n_thread * q->slots ? of : NULL;
}

/* Notes the row; false if another is noted already. */
static bool
note(int64_t *at, int64_t v)
{
    if (*at == NOWHERE)
        *at = v;
    return *at == v;
}

/* Every register of c belongs to one repetition, whose rows and columns are
 * those noted. */
static bool
rows_hold(const proof *q, int64_t *of, int64_t *row_of, int64_t *column_of)
{
    const axe_simt_contract *sc = q->sc;
    side                     s = list_side(q, q->o->side[0]);
    int64_t                  left = q->j->extent[0] * q->j->extent[1];
    int64_t                  n_group = q->n_thread / q->group, n = sc->n.extent;

    for (int64_t x = 0; x < n_group * sc->m.n_rep * sc->n.n_rep; x++) {
        int64_t rn = x % sc->n.n_rep, rm = x / sc->n.n_rep % sc->m.n_rep;
        int64_t g = x / sc->n.n_rep / sc->m.n_rep;
        int64_t count[AXE_COUNT_TURN + 1] = {0};
        count[AXE_COUNT_M] = rm;
        count[AXE_COUNT_N] = rn;
        int64_t at = sum_steps(sc->n_acc, sc->acc, count);
        for (int64_t e = 0; e < s.n; e++) {
            int64_t *r =
                &of[(g * q->group + s.thread[e]) * q->slots + at + s.reg[e]];
            int64_t i = (g * sc->m.n_rep + rm) * sc->m.atom + e / sc->n.atom;
            int64_t k = (g * sc->n.n_rep + rn) * sc->n.atom + e % sc->n.atom;
            if (*r == NOWHERE || !note(&row_of[i], *r / n) ||
                !note(&column_of[k], *r % n))
                return false;
            *r = NOWHERE;
            left--;
        }
    }
    return left == 0;
}

static int64_t *
unknown(axe_ctx *cx, int64_t n)
{
    int64_t *v = axe_new_array(cx, int64_t, n + 1);

    for (int64_t i = 0; i < n; i++)
        v[i] = NOWHERE;
    return v;
}

bool
axe_simt_contract_holds(planner *p, const job *j, const option *o,
                        const axe_layout *c, const axe_simt_contract *sc)
{
    axe_mark m = axe_ctx_mark(p->cx);
    proof    q = {.cx = p->cx,
                  .p = p,
                  .j = j,
                  .o = o,
                  .sc = sc,
                  .n_thread = j->crew->n_thread,
                  .group = axe_atom_threads(sc->atom),
                  .lanes = p->mc->simt->lanes};
    int64_t  lanes = 1;

    q.slots = sc->acc_regs;
    if (sc->atom->space[0] == AXE_ARG_TMEM) {
        q.n_thread = q.group;
        if (axe_layout_cosize(p->cx, c, p->simt->tcol, &q.columns) != AXE_OK ||
            axe_layout_cosize(p->cx, c, p->simt->tlane, &lanes) != AXE_OK)
            return false;
        q.slots = lanes * q.columns;
    }
    int64_t  n_group = q.n_thread / q.group;
    int64_t *rows = unknown(p->cx, n_group * sc->m.n_rep * sc->m.atom);
    int64_t *columns = unknown(p->cx, n_group * sc->n.n_rep * sc->n.atom);
    int64_t *of = find_elements(&q, c);
    bool     holds = of && rows_hold(&q, of, rows, columns) &&
                 factor_holds(&q, &sc->a, 1, rows) &&
                 factor_holds(&q, &sc->b, 2, columns);

    axe_ctx_release(p->cx, m);
    return holds;
}
