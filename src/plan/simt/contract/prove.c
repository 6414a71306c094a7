/* prove.c - the certificate of a contraction of many threads.
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

#include "machine/matrix.h"
#include "plan/simt/contract/product.h"
#include "plan/simt/tmem/tmem.h"

enum { CHUNK_BYTES = AXE_DESC_UNIT, NOWHERE = -1 };

typedef struct proof {
    axe_ctx                 *cx;
    const axe_planner       *p;
    const axe_product       *j;
    const axe_candidate     *by;
    const axe_simt_contract *sc;
    int64_t n_thread, group; /* of the thread group, of an invocation */
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

    axe_layout_list(l, 3, (axe_axis[]){sp->lane, sp->warp, sp->wid},
                    (int64_t[]){1, q->lanes, q->lanes}, s.thread);
    axe_layout_list(l, 3, (axe_axis[]){sp->reg, sp->tlane, sp->tcol},
                    (int64_t[]){1, q->columns, 1}, s.reg);
    axe_layout_list(l, 1, (axe_axis[]){AXE_AXIS_M}, (int64_t[]){1}, s.m);
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

/* What the steps of one counter add, for each of its values below n: a sum of
 * steps is the sum of these. */
static int64_t *
list_steps(const proof *q, int n_step, const axe_step *step, axe_counter of,
           int64_t n)
{
    int64_t *at = axe_new_array(q->cx, int64_t, n + 1);

    for (int i = 0; i < n_step; i++)
        for (int64_t x = 0; step[i].of == of && x < n; x++)
            at[x] += axe_step_at(&step[i], x);
    return at;
}

/* ------------------------------------------------------------------- loads */

/* Where in memory what is in each register came from: [thread][register of all
 * chunks].  NULL: one is filled twice or not at all. */
static int64_t *
run_loads(const proof *q, const axe_factor *f)
{
    const axe_reg_move *m = &f->load;
    const char         *names;
    const axe_layout   *d, *a;
    int64_t             n_chunk = q->sc->k.n_rep / f->chunk;
    int64_t             all = n_chunk * f->regs;
    int64_t            *from = axe_new_array(q->cx, int64_t, q->n_thread * all);
    int64_t             by = axe_atom_threads(q->p->mc, m->atom), filled = 0;

    if (axe_atom_operand(q->cx, m->atom, 0, m->param, &names, &d) != AXE_OK ||
        axe_atom_operand(q->cx, m->atom, 1, m->param, &names, &a) != AXE_OK)
        return NULL;
    side           to = list_side(q, d), at = list_side(q, a);
    int64_t       *asked = axe_new_array(q->cx, int64_t, q->n_thread);
    const int64_t *warp = list_steps(q, m->n_step, m->step, AXE_COUNT_WARP,
                                     q->n_thread / q->lanes + 1);
    const int64_t *lane =
        list_steps(q, m->n_step, m->step, AXE_COUNT_LANE, q->lanes);
    const int64_t *sum =
        list_steps(q, m->n_step, m->step, AXE_COUNT_K, q->sc->k.n_rep);
    const int64_t *own = list_steps(q, m->n_step, m->step, AXE_COUNT_INVOCATION,
                                    m->n_invocation);
    for (int64_t i = 0; i < q->n_thread * all; i++)
        from[i] = NOWHERE;
    for (int64_t i = 0; i < q->n_thread; i++)
        asked[i] = warp[i / q->lanes] + lane[i % q->lanes];
    for (int64_t first = 0; first < q->n_thread; first += by)
        for (int64_t iteration = 0; iteration < n_chunk * m->n_invocation;
             iteration++) {
            int64_t chunk = iteration / m->n_invocation,
                    t = iteration % m->n_invocation;
            int64_t add = sum[chunk * f->chunk] + own[t];
            int64_t reg = first * all + chunk * f->regs + t * m->regs;
            for (int64_t e = 0; e < to.n; e++) {
                int64_t *r = &from[reg + to.thread[e] * all + to.reg[e]];
                if (*r != NOWHERE)
                    return NULL;
                *r = add + asked[first + at.thread[e]] + at.m[e];
                filled++;
            }
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
run_held(const proof *q, const axe_factor *f)
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

static bool
is_loaded(const axe_factor *f)
{
    return !f->direct && !f->held;
}

/* [elements] element (row, sum) of an operand in a memory of two axes. */
static int64_t
in_lanes(const proof *q, const axe_layout *l, axe_space s, axe_type t,
         int64_t x)
{
    const axe_simt_plan *sp = q->p->simt;
    int64_t              lane = sp->space[s]->pitch / axe_type_table[t].bits;

    return axe_layout_at(l, x, sp->slow[s]) * lane +
           axe_layout_at(l, x, sp->fast[s]);
}

/* [elements] element (row, sum) of an operand that is read by a descriptor. */
static int64_t
described(const axe_matrix *m, const axe_factor *f, axe_type t, int64_t row,
          int64_t sum)
{
    int64_t bits = axe_type_table[t].bits;
    int64_t along = (f->desc.major ? row : sum) * bits;

    return (axe_matrix_at(m, f->desc.major, f->desc.major ? sum : row,
                          along / 8) *
                8 +
            along % 8) /
           bits;
}

/* [elements] where each (row, sum) lies. */
static int64_t *
list_memory(const proof *q, const axe_layout *memory)
{
    int64_t *at = axe_new_array(q->cx, int64_t, memory->size);

    axe_layout_list(memory, 1, (axe_axis[]){AXE_AXIS_M}, (int64_t[]){1}, at);
    return at;
}

/* A factor, and where an atom looks for it: a sum of what its threads, its
 * repetition and the step of the sum add.  Of one that the atom reads itself
 * elements of memory, else of registers of all threads. */
typedef struct look {
    const axe_factor *f;
    axe_type          type;
    int64_t           all;               /* registers of a thread */
    int64_t           n_row, part, rows; /* of the atom; of it that one CTA of a
                                            pair has; of the tile there */
    side              in;                /* the atom's */
    const axe_layout *lanes; /* the same where memory has two axes; else NULL */
    const int64_t    *memory, *from, *warp, *rep, *sum;
    axe_matrix        matrix; /* of one in shared memory */
} look;

static bool
open_look(const proof *q, const axe_factor *f, int s, look *out)
{
    const axe_spread *row = s == 1 ? &q->sc->m : &q->sc->n;
    int               n_step = f->direct ? f->desc.n_step : f->n_reg;
    const axe_step   *step = f->direct ? f->desc.step : f->reg;
    int64_t           pair = s == 2 ? q->sc->pair : 1;

    *out = (look){.f = f,
                  .type = q->j->type[s],
                  .n_row = row->atom,
                  .part = row->atom / pair,
                  .rows = row->extent / pair};
    out->all = f->held ? f->regs : q->sc->k.n_rep / f->chunk * f->regs;
    out->in = list_side(q, q->by->side[s]);
    out->lanes = f->direct && q->p->simt->slow[f->tensor->space] >= 0
                     ? q->by->side[s]
                     : NULL;
    out->memory = f->held ? NULL : list_memory(q, f->memory);
    out->from = f->direct ? NULL : f->held ? run_held(q, f) : run_loads(q, f);
    out->warp =
        list_steps(q, n_step, step, AXE_COUNT_WARP, q->n_thread / q->lanes + 1);
    out->rep = list_steps(q, n_step, step, s == 1 ? AXE_COUNT_M : AXE_COUNT_N,
                          row->n_rep);
    out->sum = list_steps(q, n_step, step, AXE_COUNT_K, q->sc->k.n_rep);
    if (!f->direct)
        return out->from != NULL;
    return out->lanes ||
           (!axe_matrix_read(f->desc.bits,
                             q->sc->atom->space[0] == AXE_ARG_TMEM,
                             &out->matrix) &&
            out->matrix.span ==
                CHUNK_BYTES << q->p->place[f->tensor->id].layout->swizzle.bits);
}

/* Is what an atom finds, in each of its rows, step k of the sum? */
static bool
atom_holds(const proof *q, const look *x, int64_t at, int64_t k,
           const int64_t *row_of)
{
    int64_t ak = q->sc->k.atom;

    for (int64_t row = 0, e = 0; row < x->n_row; row++) {
        int64_t own = row % x->part;
        int64_t want = row_of[row] % x->rows * q->sc->k.extent + k * ak;
        if (row_of[row] / x->rows != row / x->part)
            return false;
        for (int64_t h = 0; h < ak; h++, e++) {
            int64_t got =
                x->lanes ? at + in_lanes(q, x->lanes, x->f->tensor->space,
                                         x->type, e)
                : x->f->direct
                    ? at + described(&x->matrix, x->f, x->type, own, h)
                    : x->from[at + x->in.thread[e] * x->all + x->in.reg[e]];
            if (got != (x->memory ? x->memory[want + h] : want + h))
                return false;
        }
    }
    return true;
}

/* Does every atom find in its rows of this factor what it should?  row_of: by
 * first thread, repetition and row of the atom. */
static bool
factor_holds(const proof *q, const axe_factor *f, int s, const int64_t *row_of)
{
    const axe_spread *row = s == 1 ? &q->sc->m : &q->sc->n;
    look              x;

    if (!open_look(q, f, s, &x))
        return false;
    for (int64_t g = 0; g < q->n_thread / q->group; g++)
        for (int64_t rep = 0; rep < row->n_rep; rep++) {
            const int64_t *rows = row_of + (g * row->n_rep + rep) * row->atom;
            int64_t        own = x.warp[g * q->group / q->lanes] + x.rep[rep];
            if (!f->direct)
                own += g * q->group * x.all;
            for (int64_t k = 0; k < q->sc->k.n_rep; k++) {
                int64_t at = own + x.sum[k];
                if (is_loaded(f))
                    at += k / f->chunk * f->regs;
                if (!atom_holds(q, &x, at, k, rows))
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
    side                     s = list_side(q, q->by->side[0]);
    int64_t                  left = q->j->extent[0] * q->j->extent[1];
    int64_t                  n_group = q->n_thread / q->group, n = sc->n.extent;

    for (int64_t x = 0; x < n_group * sc->m.n_rep * sc->n.n_rep; x++) {
        int64_t rn = x % sc->n.n_rep, rm = x / sc->n.n_rep % sc->m.n_rep;
        int64_t g = x / sc->n.n_rep / sc->m.n_rep;
        int64_t count[AXE_COUNT_INVOCATION + 1] = {0};
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
axe_simt_contract_holds(axe_planner *p, const axe_product *j,
                        const axe_candidate *by, const axe_layout *c,
                        const axe_simt_contract *sc)
{
    axe_mark m = axe_ctx_mark(p->cx);
    proof    q = {.cx = p->cx,
                  .p = p,
                  .j = j,
                  .by = by,
                  .sc = sc,
                  .n_thread = j->threads->n_thread,
                  .group = axe_atom_threads(p->mc, sc->atom),
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
