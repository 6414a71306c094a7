/* problem.h - two spreads of one tensor, in digits that both are made of.
 *
 * Devices are cut into atoms: digits of a device's number, so fine that each
 * iter over devices is a product of atoms.  Each dimension is cut into blocks,
 * slow to fast, so fine that what a device holds is a product over blocks.  A
 * place is where an atom may be bound: digit u / weight % extent of a block's
 * index u.  Where source and destination have common digits, each block has one
 * place at most, which is all of it; halves and thirds are two places of one
 * block of six.
 *
 * A state says of each atom what it is: the tensor's copies (free), bound to a
 * place, or fixed, where only devices of one coordinate hold anything.  Addends
 * are bound, too: to the one place of a dimension of their own, whose index is
 * which addend it is.
 *
 * A bound atom may be turned: its coordinate c has index (mul * c + add) modulo
 * its extent of the place.  All else knows indices of places only, so what is
 * sent is exact for permutations of devices as for anything else. */
#ifndef AXE_MESH_PROBLEM_H
#define AXE_MESH_PROBLEM_H

#include "axe/mesh.h"

enum {
    MESH_AXES = 16,
    MESH_ATOMS = 32,
    MESH_DIMS = 32,
    MESH_PLACES = 64,
    MESH_BLOCKS = 128,
    MESH_DIGITS = 64, /* of one dimension of a spread */
    MESH_CUTS = 256
};
#define MESH_DEVICES ((int64_t)1 << 40)

typedef struct mesh_atom {
    int64_t extent, stride;
    int     axis; /* of the mesh */
    int     link;
    int64_t above; /* of its axis: product of the atoms that are slower */
} mesh_atom;

typedef struct mesh_place {
    int     block;
    int64_t extent, weight;
} mesh_place;

typedef struct mesh_block {
    int     dim, n_place, place[MESH_ATOMS];
    int64_t extent; /* of its index; of a dim's slowest, what is below n */
    int64_t step;   /* in the dimension's index */
    bool    plain;  /* one place at most, which is all of it */
} mesh_block;

typedef struct mesh_dim {
    int64_t n;
    int     block, n_block; /* the slowest */
    bool    addend;
} mesh_dim;

/* Which index a coordinate has; mul is 0 where that is the coordinate. */
typedef struct mesh_turn {
    int64_t mul, inverse, add;
} mesh_turn;

typedef enum mesh_is { MESH_FREE, MESH_BOUND, MESH_FIXED } mesh_is;

typedef struct mesh_state {
    uint8_t   is[MESH_ATOMS];
    int64_t   at[MESH_ATOMS];   /* the place, or the coordinate */
    mesh_turn turn[MESH_ATOMS]; /* of what is bound */
} mesh_state;

typedef struct mesh_problem {
    axe_ctx        *cx;
    const axe_mesh *mesh;
    int             n_atom, n_place, n_block, n_dim;
    mesh_atom       atom[MESH_ATOMS];
    mesh_place      place[MESH_PLACES];
    mesh_block      block[MESH_BLOCKS];
    mesh_dim        dim[MESH_DIMS]; /* the tensor's, then those of addends */
    mesh_state      src, dst;
    int             spare[MESH_ATOMS]; /* a place where sums over an atom may
                                          be spread for a while; -1: none */
    bool    lossy;                     /* a count left int64 */
    int64_t work;                      /* patterns that were looked at */
} mesh_problem;

/* Errors  those of axe_reshard, but for the search. */
AXE_CHECK axe_status mesh_pose(axe_ctx *cx, const axe_mesh *m,
                               const axe_spread *src, const axe_spread *dst,
                               mesh_problem **out);

/* The dimension of a place, which an atom's addends may have. */
static inline const mesh_dim *
mesh_dim_of(const mesh_problem *p, int place)
{
    return &p->dim[p->block[p->place[place].block].dim];
}

/* Is atom a bound to addends? */
static inline bool
mesh_is_addend(const mesh_problem *p, const mesh_state *s, int a)
{
    return s->is[a] == MESH_BOUND && mesh_dim_of(p, (int)s->at[a])->addend;
}

/* The atom that a state binds to a place; -1: none. */
int mesh_atom_at(const mesh_problem *p, const mesh_state *s, int place);

/* Is atom a bound to the same place or coordinate, in the same way? */
static inline bool
mesh_is_same(const mesh_state *s, const mesh_state *t, int a)
{
    if (s->is[a] != t->is[a] || s->is[a] == MESH_FREE)
        return s->is[a] == t->is[a];
    return s->at[a] == t->at[a] && s->turn[a].mul == t->turn[a].mul &&
           s->turn[a].add == t->turn[a].add;
}

/* Which index of its place coordinate c of a bound atom has; which coordinate
 * has index u. */
static inline int64_t
mesh_index_at(const mesh_problem *p, const mesh_state *s, int a, int64_t c)
{
    const mesh_turn *t = &s->turn[a];

    return t->mul == 0 ? c : (t->mul * c + t->add) % p->atom[a].extent;
}

static inline int64_t
mesh_turned(const mesh_turn *t, int64_t extent, int64_t u)
{
    return t->mul == 0 ? u : t->inverse * (u + extent - t->add) % extent;
}

/* a * b for a, b >= 0; INT64_MAX, and p->lossy, if that leaves int64. */
int64_t mesh_mul(mesh_problem *p, int64_t a, int64_t b);
int64_t mesh_sum(mesh_problem *p, int64_t a, int64_t b);

/* ------------------------------------------------------------- counting */

/* Which index of each place is wanted; -1: any. */
typedef struct mesh_want {
    int64_t at[MESH_PLACES];
    bool    none; /* two of one place */
} mesh_want;

void mesh_want_any(const mesh_problem *p, mesh_want *w);
/* What device coordinates `at` hold in state s; only of atoms over links up to
 * `link`, the slowest being 0. */
void mesh_want_of(const mesh_problem *p, const mesh_state *s, const int64_t *at,
                  int link, mesh_want *w);
/* How many elements are wanted; addends that no atom of `held` is bound to are
 * not counted. */
int64_t mesh_count(mesh_problem *p, const mesh_state *held, const mesh_want *w);
/* How many indices of dimension d are wanted in a window. */
int64_t mesh_count_window(mesh_problem *p, const mesh_dim *d, axe_window window,
                          const mesh_want *w);
/* The same of what is within the windows of a device, one a dimension. */
int64_t mesh_count_within(mesh_problem *p, const mesh_want *w,
                          const axe_window *window);
/* How many indices of dimension d are wanted below n, which is at most its
 * extent. */
int64_t mesh_count_below(mesh_problem *p, const mesh_dim *d, int64_t n,
                         const mesh_want *w);
/* Of a block's indices below n, those that are wanted; the next run [*from,
 * *to) of them, from *from on (false: there is none); whether u is one. */
int64_t mesh_count_block(const mesh_problem *p, const mesh_block *b, int64_t n,
                         const mesh_want *w);
bool    mesh_next_run(const mesh_problem *p, const mesh_block *b, int64_t n,
                      const mesh_want *w, int64_t *from, int64_t *to);
bool    mesh_has(const mesh_problem *p, const mesh_block *b, int64_t u,
                 const mesh_want *w);

/* Coordinates of a device on all atoms. */
void mesh_coordinates(const mesh_problem *p, int64_t device, int64_t *at);

static inline int64_t
mesh_device(const mesh_problem *p, const int64_t *at)
{
    int64_t device = 0;

    for (int a = 0; a < p->n_atom; a++)
        device += at[a] * p->atom[a].stride;
    return device;
}

/* What a change of states takes, of the device that has most of it. */
typedef struct mesh_need {
    int64_t recv, send, total, messages;
    int64_t crossing[MESH_AXES]; /* of recv, over links 0 .. k */
    int64_t sources[MESH_AXES];  /* of messages, likewise */
    int64_t hold;                /* elements of the fullest device behind it */
} mesh_need;

/* ELIMIT: too many pieces. */
AXE_CHECK axe_status mesh_need_of(mesh_problem *p, const mesh_state *a,
                                  const mesh_state *b, mesh_need *out);
/* Sum over devices of what both states have there; a's addends are any. */
AXE_CHECK axe_status mesh_common(mesh_problem *p, const mesh_state *a,
                                 const mesh_state *b, int64_t *out);

/* For a change from a to b: whose coordinate atom `free`, which has copies in
 * a, has in the device that is asked: that of atom partner[free] of the device
 * that asks.  So every device gives as much as it gets. */
void mesh_partners(const mesh_problem *p, const mesh_state *a,
                   const mesh_state *b, int *partner);
/* That coordinate; of more than there are copies, modulo their number. */
int64_t mesh_partner_at(const mesh_problem *p, const int *partner, int free,
                        const int64_t *at);
/* What `to` has behind the change because `from`, which may be itself, had it;
 * coordinates both; false: nothing. */
bool mesh_want_given(const mesh_problem *p, const mesh_state *a,
                     const mesh_state *b, const int64_t *from,
                     const int64_t *to, mesh_want *w);
/* The same of another device. */
bool mesh_want_sent(const mesh_problem *p, const mesh_state *a,
                    const mesh_state *b, const int64_t *from, const int64_t *to,
                    mesh_want *w);
/* How many elements that are; window: NULL, or those that are within. */
int64_t mesh_sends(mesh_problem *p, const mesh_state *a, const mesh_state *b,
                   const axe_window *window, const int64_t *from,
                   const int64_t *to);

/* ---------------------------------------------------------------- plans */

typedef struct mesh_step {
    mesh_state     state; /* behind it */
    axe_collective kind;
    mesh_need      need;
    double         time;
} mesh_step;

typedef struct mesh_cost {
    int     bits;
    bool    free;
    int64_t memory;
} mesh_cost;

/* What the change is, takes, and costs. */
AXE_CHECK axe_status mesh_step_of(mesh_problem *p, const mesh_cost *c,
                                  const mesh_state *a, const mesh_state *b,
                                  mesh_step *out);
/* [us] */
double         mesh_time_of(const mesh_problem *p, const mesh_cost *c,
                            const mesh_need *n);
axe_collective mesh_kind_of(const mesh_problem *p, const mesh_state *a,
                            const mesh_state *b);

enum { MESH_STEPS = 32 };

/* The quickest way from src to dst. */
AXE_CHECK axe_status mesh_search(mesh_problem *p, const mesh_cost *c,
                                 int *n_step, mesh_step step[MESH_STEPS],
                                 int *n_state);

/* ----------------------------------------------------------------- text */

int  mesh_rank(const axe_mesh *m, int axis);
void mesh_put_link(axe_buf *b, const axe_link *l);
/* "24@x, 24 + partial(y)" */
const char *mesh_state_text(const mesh_problem *p, const mesh_state *s);
/* The axes, or parts "x:(2)4" of them, along which two states differ. */
const char *mesh_change_text(const mesh_problem *p, const mesh_state *a,
                             const mesh_state *b);

/* A step behind which the state is s->state, with its texts. */
void mesh_fill_step(mesh_problem *p, const mesh_state *before,
                    const mesh_step *s, axe_reshard_step *out);
/* Options as costs.  EARG */
AXE_CHECK axe_status mesh_cost_of(axe_ctx *cx, const axe_reshard_options *opt,
                                  mesh_cost *out);
/* Of a plan within windows, those of a device; else NULL. */
static inline const axe_window *
mesh_windows(const axe_reshard_plan *r, int64_t device)
{
    return r->window ? r->window + device * r->dst.shape.n : NULL;
}
/* Is the element of index (row-major) within windows, or are there none? */
bool mesh_is_within(const mesh_problem *p, const axe_window *window,
                    int64_t index);

/* The index (row-major) that is number i of all of them where each dimension is
 * gone through from where its window begins, around its end: buffers have them
 * in this order.  window: NULL, or those of a device */
int64_t mesh_in_order(const mesh_problem *p, const axe_window *window,
                      int64_t i);

/* Does a device hold an element, of index (row-major) and addend? */
bool mesh_holds(const mesh_problem *p, const mesh_state *s, const int64_t *at,
                int64_t index, int64_t addend);

/* A plan with the problem it solves. */
struct axe_reshard_code {
    mesh_problem     *p;
    const mesh_state *state; /* [n_step + 1] */
};

#endif
