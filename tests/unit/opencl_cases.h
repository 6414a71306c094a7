/* opencl_cases.h - grids made by hand, one for an invocation of a row of a
 * device of OpenCL: operands come from memory element by element, and go there,
 * so that what is there says what the row did. */
#ifndef OPENCL_CASES_H
#define OPENCL_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/number.h"
#include "ir/scope_axes.h"
#include "machine/machine.h"
#include "sim_grids.h"

enum { WARPS = 2, ROOM = 1 << 14, MOST_CASE = 400, MOST_REG = 64 };

/* Types of arrays in memory: two that are read and one that is read and
 * written, of each. */
static const axe_type types[] = {AXE_TYPE_i8,  AXE_TYPE_u8,   AXE_TYPE_i16,
                                 AXE_TYPE_f16, AXE_TYPE_bf16, AXE_TYPE_i32,
                                 AXE_TYPE_u32, AXE_TYPE_f32,  AXE_TYPE_i64,
                                 AXE_TYPE_u64, AXE_TYPE_f64};
enum { N_TYPE = AXE_LEN(types), N_PARAM = 3 * N_TYPE };

typedef struct test_case {
    maker           m;
    const axe_atom *atom;
    int             param;
    axe_type        type[3]; /* of d, a, b */
    int             n_reg[3];
} test_case;

static axe_ctx           *cx;
static const axe_machine *mc;
static int                n_case;
static test_case          cases[MOST_CASE];
static const axe_tensor  *params[N_PARAM];
static uint8_t            memory[N_PARAM][ROOM], want[ROOM];

static inline int
index_of(axe_type t)
{
    for (int i = 0; i < N_TYPE; i++)
        if (types[i] == t)
            return i;
    fail_msg("no arrays of %s", axe_type_table[t].name);
    return 0;
}

static inline int
size_of(axe_type t)
{
    return axe_type_table[t].bits / 8;
}

/* Of operand 0, 1 or 2. */
static inline const axe_tensor *
memory_of(const test_case *c, int which)
{
    return params[3 * index_of(c->type[which]) + which];
}

static inline uint8_t *
bytes_of(const test_case *c, int which)
{
    return memory[3 * index_of(c->type[which]) + which];
}

/* ---------------------------------------------------------------- numbers */

static inline double
load_number(axe_type t, const uint8_t *data, int64_t i)
{
    return axe_type_is_float(t)
               ? axe_number_load(t, data, i)
               : (double)axe_number_get_int(t, data + i * size_of(t));
}

static inline void
store_number(axe_type t, uint8_t *data, int64_t i, double v)
{
    if (axe_type_is_float(t))
        axe_number_store(t, data, i, v);
    else
        axe_number_put_int(t, data + i * size_of(t), (int64_t)v);
}

/* ---------------------------------------------------------------- layouts */

/* Where element i of an operand is: its lane (-1: the thread's own), and its
 * register or place in memory. */
typedef struct spot {
    int64_t lane, at;
} spot;

static inline const axe_layout *
layout_of(const test_case *c, int which)
{
    const axe_layout *l;
    const char       *roles;

    if (axe_atom_operand(cx, c->atom, which, c->param, &roles, &l) != AXE_OK)
        fail_msg("%s: %s", c->atom->name, axe_last_error(cx));
    return l;
}

static inline spot
spot_of(const axe_layout *l, int64_t i)
{
    axe_axis lane, reg;

    assert_int_equal(
        axe_scope_axis_find(cx, AXE_SCOPE_THREAD, AXE_SCOPE_WARP, &lane),
        AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "reg", &reg), AXE_OK);
    return (spot){axe_layout_at(l, i, lane),
                  axe_layout_at(l, i, reg) + axe_layout_at(l, i, AXE_AXIS_M)};
}

/* How many registers, or places, of one thread it has. */
static inline int
count_of(const test_case *c, int which)
{
    const axe_layout *l = layout_of(c, which);
    int64_t           most = 0;

    for (int64_t i = 0; i < l->size; i++)
        most = spot_of(l, i).at > most ? spot_of(l, i).at : most;
    return (int)most + 1;
}

static inline int64_t
dim_of(const axe_layout *l, int dim)
{
    return axe_layout_shape(cx, l).extent[dim];
}

static inline int
lanes(void)
{
    return mc->simt->lanes;
}

static inline bool
by_thread(const test_case *c)
{
    return c->atom->by == AXE_SCOPE_THREAD;
}

/* ------------------------------------------------------------------- code */

static inline node
item(maker *m)
{
    return add(m, mul(m, id(m, AXE_ID_WARP), lanes()), id(m, AXE_ID_LANE));
}

/* The row that moves one element of the type. */
static inline const char *
mover(const char *kind, axe_type t)
{
    return axe_textf(cx, "%s.b%d", kind, axe_type_table[t].bits);
}

static inline void
move(maker *m, const char *kind, axe_type t, axe_arg to, axe_arg from)
{
    (void)atom(m, mover(kind, t), 1, 2, (axe_arg[]){to, from});
}

/* All n registers of each item, from or to its n places of memory. */
static inline void
fill(maker *m, const axe_tensor *reg, const axe_tensor *from, int n)
{
    for (int e = 0; e < n; e++)
        move(m, "load.global", reg->type, at(reg, num(m, e)),
             at(from, add(m, mul(m, item(m), n), num(m, e))));
}

static inline void
leave(maker *m, const axe_tensor *to, const axe_tensor *reg, int n)
{
    for (int e = 0; e < n; e++)
        move(m, "store.global", reg->type,
             at(to, add(m, mul(m, item(m), n), num(m, e))), at(reg, num(m, e)));
}

static inline void
meet(maker *m)
{
    (void)atom(m, "barrier.cta", 0, 0, NULL);
}

/* Where an item's, or a warp's, part of memory begins. */
static inline node
own_part(test_case *c, int which)
{
    maker *m = &c->m;
    int    n = c->n_reg[which];

    return by_thread(c) ? mul(m, item(m), n) : mul(m, id(m, AXE_ID_WARP), n);
}

static inline const axe_tensor *
shared_of(test_case *c, int which)
{
    int64_t n = c->n_reg[which] * WARPS * (by_thread(c) ? lanes() : 1);

    return buffer(&c->m, "s", c->type[which], n, 0);
}

/* Elements of shared memory from or to those of global memory, by all. */
static inline void
copy_shared(test_case *c, const axe_tensor *s, const axe_tensor *g, bool in)
{
    maker            *m = &c->m;
    int64_t           n = s->shape[0]->u.i;
    const axe_tensor *r = array(m, in ? "i" : "o", s->type, 1);

    for (int64_t i = 0; i < n; i += (int64_t)WARPS * lanes()) {
        node where = add(m, item(m), num(m, i));
        begin_if(m, less(m, where, n));
        if (in) {
            move(m, "load.global", s->type, at(r, num(m, 0)), at(g, where));
            move(m, "store.local", s->type, at(s, where), at(r, num(m, 0)));
        } else {
            move(m, "load.local", s->type, at(r, num(m, 0)), at(s, where));
            move(m, "store.global", s->type, at(g, where), at(r, num(m, 0)));
        }
        end(m);
    }
}

static inline void
make_load(test_case *c)
{
    maker            *m = &c->m;
    const axe_tensor *r = array(m, "r", c->type[0], c->n_reg[0]);
    const axe_tensor *from = memory_of(c, 1);

    if (c->atom->space[1] == AXE_ARG_SHARED) {
        from = shared_of(c, 1);
        copy_shared(c, from, memory_of(c, 1), true);
        meet(m);
    }
    (void)atom(m, c->atom->name, c->param, 2,
               (axe_arg[]){at(r, num(m, 0)), at(from, own_part(c, 1))});
    leave(m, memory_of(c, 0), r, c->n_reg[0]);
}

static inline void
make_store(test_case *c)
{
    maker            *m = &c->m;
    const axe_tensor *r = array(m, "r", c->type[1], c->n_reg[1]);
    const axe_tensor *to = memory_of(c, 0);
    bool              shared = c->atom->space[0] == AXE_ARG_SHARED;

    if (shared)
        to = shared_of(c, 0);
    fill(m, r, memory_of(c, 1), c->n_reg[1]);
    (void)atom(m, c->atom->name, c->param, 2,
               (axe_arg[]){at(to, own_part(c, 0)), at(r, num(m, 0))});
    if (!shared)
        return;
    meet(m);
    copy_shared(c, to, memory_of(c, 0), false);
}

enum { PLACES = 3 }; /* that items fold into */

static inline void
make_fold(test_case *c)
{
    maker            *m = &c->m;
    const axe_tensor *r = array(m, "r", c->type[1], 1), *s = NULL;
    const axe_tensor *to = memory_of(c, 0);

    if (c->atom->space[0] == AXE_ARG_SHARED) {
        s = to = buffer(m, "s", c->type[0], PLACES, 0);
        copy_shared(c, s, memory_of(c, 0), true);
        meet(m);
    }
    fill(m, r, memory_of(c, 1), 1);
    (void)atom(m, c->atom->name, c->param, 2,
               (axe_arg[]){at(to, rem(m, item(m), PLACES)), at(r, num(m, 0))});
    if (!s)
        return;
    meet(m);
    copy_shared(c, s, memory_of(c, 0), false);
}

/* Which lane an item names: all differ, in no line. */
static inline int
named_lane(int lane)
{
    return (5 * lane + 3) % lanes();
}

static inline void
make_permute(test_case *c)
{
    maker            *m = &c->m;
    const axe_tensor *to = array(m, "d", c->type[0], c->n_reg[0]);
    const axe_tensor *from = array(m, "a", c->type[1], c->n_reg[1]);
    bool              names = c->atom->space[2] == AXE_ARG_INT;

    fill(m, from, memory_of(c, 1), c->n_reg[1]);
    (void)atom(
        m, c->atom->name, c->param, names ? 3 : 2,
        (axe_arg[]){
            at(to, num(m, 0)), at(from, num(m, 0)),
            integer(rem(m, add(m, mul(m, id(m, AXE_ID_LANE), 5), num(m, 3)),
                        lanes()))});
    leave(m, memory_of(c, 0), to, c->n_reg[0]);
}

static inline void
make_contract(test_case *c)
{
    static const char *const name[3] = {"d", "a", "b"};
    maker                   *m = &c->m;
    const axe_tensor        *r[3];
    axe_arg                  arg[3];

    for (int i = 0; i < 3; i++) {
        r[i] = array(m, name[i], c->type[i], c->n_reg[i]);
        fill(m, r[i], memory_of(c, i), c->n_reg[i]);
        arg[i] = at(r[i], num(m, 0));
    }
    (void)atom(m, c->atom->name, c->param, 3, arg);
    leave(m, memory_of(c, 0), r[0], c->n_reg[0]);
}

/* Behind the barrier each item reads what its neighbour left. */
static inline void
make_barrier(test_case *c)
{
    maker            *m = &c->m;
    const axe_tensor *r = array(m, "r", c->type[0], 1);
    const axe_tensor *s =
        buffer(m, "s", c->type[0], (int64_t)WARPS * lanes(), 0);
    int64_t within =
        c->atom->by == AXE_SCOPE_WARP ? lanes() : (int64_t)WARPS * lanes();
    node next = add(m, mul(m, quot(m, item(m), within), within),
                    rem(m, add(m, rem(m, item(m), within), num(m, 1)), within));

    fill(m, r, memory_of(c, 1), 1);
    move(m, "store.local", c->type[0], at(s, item(m)), at(r, num(m, 0)));
    (void)atom(m, c->atom->name, 0, 0, NULL);
    move(m, "load.local", c->type[0], at(r, num(m, 0)), at(s, next));
    leave(m, memory_of(c, 0), r, 1);
}

#endif
