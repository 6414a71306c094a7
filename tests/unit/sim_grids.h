/* sim_grids.h - grids made by hand, for tests of the simulator.
 *
 * A maker has one grid; code goes to the innermost block that is open.  Every
 * atom and computation is of a statement of its own, whose line counts. */
#ifndef SIM_GRIDS_H
#define SIM_GRIDS_H

#include <string.h>

#include "lower/lower.h"

enum { GRID_DEPTH = 16, GRID_MAX = 64 };

typedef struct maker {
    axe_ctx           *cx;
    const axe_machine *machine;
    axe_grid           grid;
    const axe_tensor  *array[GRID_MAX], *param[GRID_MAX];
    axe_buffer         buffer[GRID_MAX];
    axe_map            map[GRID_MAX];
    axe_tmem           tmem[GRID_DEPTH];
    axe_lblock        *open[GRID_DEPTH];
    int                n_open, n_param, n_var, line;
    int32_t            source;
    axe_kernel         kernel;
    axe_plan           plan;
    axe_lowered        lowered;
} maker;

typedef const axe_node *node;

/* ---------------------------------------------------------------- numbers */

static inline node
num(const maker *m, int64_t v)
{
    return axe_iconst(m->cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

static inline node
var(const maker *m, const axe_var *v)
{
    return axe_var_node(m->cx, AXE_NOWHERE, v);
}

static inline node
id(const maker *m, axe_id which)
{
    return var(m, m->grid.id[which]);
}

static inline node
op2(const maker *m, axe_op op, node a, node b)
{
    return axe_node2(m->cx, op, a, b);
}

static inline node
add(const maker *m, node a, node b)
{
    return op2(m, AXE_OP_add, a, b);
}

static inline node
mul(const maker *m, node a, int64_t b)
{
    return op2(m, AXE_OP_mul, a, num(m, b));
}

static inline node
quot(const maker *m, node a, int64_t b)
{
    return op2(m, AXE_OP_div, a, num(m, b));
}

static inline node
rem(const maker *m, node a, int64_t b)
{
    return op2(m, AXE_OP_mod, a, num(m, b));
}

static inline node
is(const maker *m, node a, int64_t b)
{
    return op2(m, AXE_OP_eq, a, num(m, b));
}

static inline node
less(const maker *m, node a, int64_t b)
{
    return op2(m, AXE_OP_lt, a, num(m, b));
}

/* Thread of the CTA. */
static inline node
thread(const maker *m)
{
    return add(m, mul(m, id(m, AXE_ID_WARP), 32), id(m, AXE_ID_LANE));
}

static inline const axe_var *
new_var(maker *m, axe_var_kind kind, const char *name)
{
    axe_var *v = axe_new(m->cx, axe_var);

    v->kind = kind;
    v->name = axe_intern(m->cx, name, strlen(name));
    v->id = m->n_var++;
    return v;
}

/* ------------------------------------------------------------- beginnings */

static inline void
make(maker *m, axe_ctx *cx, const char *machine, int n_thread, int cluster,
     int64_t blocks)
{
    static const char lines[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    axe_status        st;

    memset(m, 0, sizeof *m);
    m->cx = cx;
    st = axe_machine_find(cx, machine, &m->machine);
    if (st != AXE_OK)
        return;
    m->source = axe_source_add(cx, "grid", lines, sizeof lines - 1);
    m->grid.name = "test";
    m->grid.n_thread = n_thread;
    m->grid.cluster = cluster;
    m->grid.blocks = num(m, blocks);
    for (int i = 0; i < AXE_N_ID; i++)
        m->grid.id[i] = new_var(m, AXE_VAR_SCOPE, axe_id_name((axe_id)i));
    m->open[m->n_open++] = &m->grid.body;
}

static inline const axe_tensor *
new_tensor(maker *m, const char *name, axe_space space, axe_type type,
           axe_dir dir, int rank, const int64_t *shape)
{
    axe_tensor *t = axe_new(m->cx, axe_tensor);
    node       *dim = axe_new_array(m->cx, node, rank);
    axe_stride *stride = axe_new_array(m->cx, axe_stride, rank);
    int64_t     step = 1;

    for (int i = rank - 1; i >= 0; i--) {
        dim[i] = num(m, shape[i]);
        stride[i] = (axe_stride){step, AXE_UNIT_ONE};
        step *= shape[i];
    }
    *t = (axe_tensor){.name = name,
                      .space = space,
                      .type = type,
                      .dir = dir,
                      .rank = rank,
                      .shape = dim,
                      .stride = stride};
    return t;
}

static inline const axe_tensor *
param(maker *m, const char *name, axe_type type, axe_dir dir, int64_t rows,
      int64_t cols)
{
    int64_t shape[2] = {rows, cols};

    return m->param[m->n_param++] =
               new_tensor(m, name, AXE_SPACE_GLOBAL, type, dir, 2, shape);
}

static inline const axe_tensor *
array(maker *m, const char *name, axe_type type, int64_t n)
{
    return m->array[m->grid.n_array++] =
               new_tensor(m, name, AXE_SPACE_REG, type, AXE_DIR_LOCAL, 1, &n);
}

/* swizzle: 0, 32, 64, 128 bytes */
static inline const axe_tensor *
buffer(maker *m, const char *name, axe_type type, int64_t n, int swizzle)
{
    axe_buffer *b = &m->buffer[m->grid.n_buffer++];
    axe_status  st = AXE_OK;

    *b = (axe_buffer){.tensor = new_tensor(m, name, AXE_SPACE_SHARED, type,
                                           AXE_DIR_LOCAL, 1, &n),
                      .offset = (m->grid.shared_bytes + 1023) / 1024 * 1024,
                      .bytes = n * axe_type_table[type].bits / 8};
    if (swizzle > 0)
        st = axe_swizzle_of_bytes(m->cx, swizzle, &b->swizzle);
    m->grid.shared_bytes = b->offset + b->bytes;
    return st == AXE_OK ? b->tensor : NULL;
}

/* A tile of so many columns of tensor memory behind those that there are. */
static inline const axe_tensor *
tmem(maker *m, const char *name, axe_type type, int columns)
{
    axe_tmem *t = &m->tmem[m->grid.n_tmem++];
    int64_t   n = (int64_t)128 * columns * 32 / axe_type_table[type].bits;

    t->tensor =
        new_tensor(m, name, AXE_SPACE_SHARED, type, AXE_DIR_LOCAL, 1, &n);
    t->first = m->grid.tmem_columns;
    t->columns = columns;
    m->grid.tmem_columns += columns;
    return t->tensor;
}

/* Boxes of a matrix that lies row by row. */
static inline int
new_map(maker *m, const axe_tensor *t, int rows, int cols, int swizzle)
{
    axe_map *p = &m->map[m->grid.n_map];

    *p = (axe_map){.tensor = t, .rank = 2, .swizzle = swizzle};
    p->size[0] = t->shape[1];
    p->size[1] = t->shape[0];
    p->stride[0] = num(m, 1);
    p->stride[1] = t->shape[1];
    p->box[0] = cols;
    p->box[1] = rows;
    return m->grid.n_map++;
}

/* -------------------------------------------------------------------- code */

static inline axe_lir *
emit(maker *m, axe_lir_kind kind)
{
    axe_lblock *b = m->open[m->n_open - 1];
    axe_lir    *l = axe_new(m->cx, axe_lir);
    axe_stmt   *s = axe_new(m->cx, axe_stmt);

    if (b->n == b->cap) {
        int       cap = b->cap ? 2 * b->cap : 8;
        axe_lir **item = axe_new_array(m->cx, axe_lir *, cap);
        if (b->n > 0)
            memcpy(item, b->item, (size_t)b->n * sizeof item[0]);
        b->item = item;
        b->cap = cap;
    }
    s->at = (axe_span){m->source, ++m->line, 1, 1};
    l->kind = kind;
    l->from = s;
    b->item[b->n++] = l;
    return l;
}

static inline void
begin_if(maker *m, node cond)
{
    axe_lir *l = emit(m, AXE_LIR_IF);

    l->value = cond;
    m->open[m->n_open++] = &l->body;
}

static inline const axe_var *
begin_for(maker *m, const char *name, node begin, node end)
{
    axe_lir *l = emit(m, AXE_LIR_LOOP);

    l->var = new_var(m, AXE_VAR_LOOP, name);
    l->begin = begin;
    l->end = end;
    l->step = 1;
    m->open[m->n_open++] = &l->body;
    return l->var;
}

static inline void
end(maker *m)
{
    m->n_open--;
}

static inline axe_arg
at(const axe_tensor *t, node n)
{
    static const axe_arg_space space[AXE_N_SPACE] = {
        [AXE_SPACE_GLOBAL] = AXE_ARG_GLOBAL,
        [AXE_SPACE_SHARED] = AXE_ARG_SHARED,
        [AXE_SPACE_REG] = AXE_ARG_REG};

    return (axe_arg){.space = space[t->space], .tensor = t, .at = n};
}

static inline axe_arg
in_tmem(const axe_tensor *t, node n)
{
    return (axe_arg){.space = AXE_ARG_TMEM, .tensor = t, .at = n};
}

static inline axe_arg
integer(node n)
{
    return (axe_arg){.space = AXE_ARG_INT, .at = n};
}

static inline axe_arg
box(maker *m, int number, node col, node row)
{
    node *coord = axe_new_array(m->cx, node, 2);

    coord[0] = col;
    coord[1] = row;
    return (axe_arg){
        .space = AXE_ARG_MAP, .map = number, .n_at = 2, .coord = coord};
}

/* A matrix of rows of 128 bytes in a buffer with that swizzle. */
static inline axe_arg
matrix(const axe_tensor *t, node n)
{
    axe_arg a = at(t, n);

    a.lead = 1;
    a.stride = 1024;
    return a;
}

static inline const axe_atom *
atom_named(const maker *m, const char *name)
{
    for (int i = 0; i < m->machine->n_atom; i++)
        if (strcmp(m->machine->atom[i].name, name) == 0)
            return &m->machine->atom[i];
    return NULL;
}

static inline axe_lir *
atom(maker *m, const char *name, int param, int n, const axe_arg *arg)
{
    axe_lir *l = emit(m, AXE_LIR_ATOM);
    axe_arg *copy = axe_new_array(m->cx, axe_arg, n);

    if (n > 0)
        memcpy(copy, arg, (size_t)n * sizeof copy[0]);
    l->atom = atom_named(m, name);
    l->param = param;
    l->n_arg = n;
    l->arg = copy;
    return l;
}

static inline axe_lir *
calc(maker *m, const axe_tensor *t, node n, node value)
{
    axe_lir *l = emit(m, AXE_LIR_CALC);
    axe_arg *arg = axe_new(m->cx, axe_arg);

    *arg = at(t, n);
    l->n_arg = 1;
    l->arg = arg;
    l->value = value;
    return l;
}

static inline node
element(const maker *m, const axe_tensor *t, node n)
{
    return axe_load(m->cx, AXE_NOWHERE, t, &n);
}

static inline const axe_lowered *
made(maker *m)
{
    m->grid.array = m->array;
    m->grid.buffer = m->buffer;
    m->grid.map = m->map;
    m->grid.tmem = m->tmem;
    m->kernel.name = "test";
    m->kernel.n_param = m->n_param;
    m->kernel.param = m->param;
    m->plan.kernel = &m->kernel;
    m->plan.machine = m->machine;
    m->lowered.plan = &m->plan;
    m->lowered.n_grid = 1;
    m->lowered.grid = &m->grid;
    return &m->lowered;
}

/* ------------------------------------------------------------------ kernels */

/* Y = X, rows by cols of f32, 16 bytes a thread, 128 threads. */
static inline const axe_lowered *
make_copy(maker *m, axe_ctx *cx, int64_t n)
{
    const axe_tensor *x, *y, *r;
    node              from;

    make(m, cx, "sm_80", 128, 1, n / 512);
    x = param(m, "X", AXE_TYPE_f32, AXE_DIR_IN, 1, n);
    y = param(m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 1, n);
    r = array(m, "r", AXE_TYPE_f32, 4);
    from = add(m, mul(m, id(m, AXE_ID_BLOCK), 512), mul(m, thread(m), 4));
    atom(m, "ld.global.b128", 0, 2, (axe_arg[]){at(r, num(m, 0)), at(x, from)});
    atom(m, "st.global.b128", 0, 2, (axe_arg[]){at(y, from), at(r, num(m, 0))});
    return made(m);
}

/* Y = X transposed, 32 by 32 of f32, 4 warps, by a tile with rows of `pitch`.
 */
static inline const axe_lowered *
make_transpose(maker *m, axe_ctx *cx, int pitch)
{
    const axe_tensor *x, *y, *r, *t;
    const axe_var    *i;
    node              row;

    make(m, cx, "sm_80", 128, 1, 1);
    x = param(m, "X", AXE_TYPE_f32, AXE_DIR_IN, 32, 32);
    y = param(m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 32, 32);
    r = array(m, "r", AXE_TYPE_f32, 1);
    t = buffer(m, "t", AXE_TYPE_f32, 32 * pitch, 0);
    for (int turn = 0; turn < 2; turn++) {
        i = begin_for(m, "i", num(m, 0), num(m, 8));
        row = add(m, mul(m, var(m, i), 4), id(m, AXE_ID_WARP));
        node global = add(m, mul(m, row, 32), id(m, AXE_ID_LANE));
        node across = add(m, mul(m, id(m, AXE_ID_LANE), pitch), row);
        node along = add(m, mul(m, row, pitch), id(m, AXE_ID_LANE));
        if (turn == 0) {
            atom(m, "ld.global.b32", 0, 2,
                 (axe_arg[]){at(r, num(m, 0)), at(x, global)});
            atom(m, "st.shared.b32", 0, 2,
                 (axe_arg[]){at(t, along), at(r, num(m, 0))});
        } else {
            atom(m, "ld.shared.b32", 0, 2,
                 (axe_arg[]){at(r, num(m, 0)), at(t, across)});
            atom(m, "st.global.b32", 0, 2,
                 (axe_arg[]){at(y, global), at(r, num(m, 0))});
        }
        end(m);
        if (turn == 0)
            atom(m, "meet.cta", 0, 0, NULL);
    }
    return made(m);
}

/* Y[i] = sum of X's rows, 128 columns, by cp.async into two stages. */
static inline const axe_lowered *
make_double_buffer(maker *m, axe_ctx *cx, int64_t rows)
{
    const axe_tensor *x, *y, *r, *sum, *t;
    const axe_var    *i;
    node              mine;

    make(m, cx, "sm_80", 128, 1, 1);
    x = param(m, "X", AXE_TYPE_f32, AXE_DIR_IN, rows, 128);
    y = param(m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 1, 128);
    r = array(m, "r", AXE_TYPE_f32, 1);
    sum = array(m, "sum", AXE_TYPE_f32, 1);
    t = buffer(m, "t", AXE_TYPE_f32, 2 * 128, 0);
    mine = mul(m, thread(m), 4);
    calc(m, sum, num(m, 0), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 0));
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    atom(m, "cp.async.b128", 0, 2, (axe_arg[]){at(t, mine), at(x, mine)});
    end(m);
    atom(m, "cp.commit", 0, 0, NULL);
    i = begin_for(m, "i", num(m, 0), num(m, rows));
    node next = add(m, var(m, i), num(m, 1));
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    begin_if(m, less(m, next, rows));
    atom(m, "cp.async.b128", 0, 2,
         (axe_arg[]){at(t, add(m, mul(m, rem(m, next, 2), 128), mine)),
                     at(x, add(m, mul(m, next, 128), mine))});
    end(m);
    end(m);
    atom(m, "cp.commit", 0, 0, NULL);
    atom(m, "cp.drain", 0, 1, (axe_arg[]){integer(num(m, 1))});
    atom(m, "meet.cta", 0, 0, NULL);
    atom(m, "ld.shared.b32", 0, 2,
         (axe_arg[]){
             at(r, num(m, 0)),
             at(t, add(m, mul(m, rem(m, var(m, i), 2), 128), thread(m)))});
    calc(m, sum, num(m, 0),
         add(m, element(m, sum, num(m, 0)), element(m, r, num(m, 0))));
    atom(m, "meet.cta", 0, 0, NULL);
    end(m);
    atom(m, "st.global.b32", 0, 2,
         (axe_arg[]){at(y, thread(m)), at(sum, num(m, 0))});
    return made(m);
}

/* C = A B^T in f16, as a Hopper GEMM is: a warp that copies, two warpgroups
 * that multiply tiles of 128 x bn, a ring of stages, clusters of 1 or 2 CTAs
 * along M that share B, a staged end.  M, N, K: multiples of the tile. */
typedef struct gemm_spec {
    int64_t m, n, k;
    int     bn, stages, cluster;
} gemm_spec;

static inline void
gemm_inits(maker *m, const gemm_spec *g, const axe_tensor *full,
           const axe_tensor *empty)
{
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    begin_if(m, is(m, id(m, AXE_ID_LANE), 0));
    for (int s = 0; s < g->stages; s++) {
        atom(m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(full, num(m, s)), integer(num(m, 1))});
        atom(
            m, "mbarrier.init", 0, 2,
            (axe_arg[]){at(empty, num(m, s)), integer(num(m, 2 * g->cluster))});
    }
    atom(m, "mbarrier.inited", 0, 0, NULL);
    end(m);
    end(m);
    atom(m, g->cluster > 1 ? "meet.cluster" : "meet.cta", 0, 0, NULL);
}

static inline void
gemm_produce(maker *m, const gemm_spec *g, const axe_tensor *a,
             const axe_tensor *b, const axe_tensor *full,
             const axe_tensor *empty, node row, node col)
{
    int            share = g->bn / g->cluster;
    const axe_var *kt;
    node           s, phase, rank = id(m, AXE_ID_RANK);

    atom(m, "setmaxnreg.dec", 0, 1, (axe_arg[]){integer(num(m, 40))});
    begin_if(m, is(m, rem(m, id(m, AXE_ID_WARP), 4), 0));
    begin_if(m, is(m, id(m, AXE_ID_LANE), 0));
    kt = begin_for(m, "kt", num(m, 0), num(m, g->k / 64));
    s = rem(m, var(m, kt), g->stages);
    phase = rem(m, quot(m, var(m, kt), g->stages), 2);
    atom(m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(empty, s),
                     integer(op2(m, AXE_OP_sub, num(m, 1), phase))});
    atom(m, "mbarrier.expect", 0, 2,
         (axe_arg[]){at(full, s), integer(num(m, (128 + g->bn) * 128))});
    atom(m, "tma.load", 2, 3,
         (axe_arg[]){at(a, mul(m, s, 128 * 64)),
                     box(m, 0, mul(m, var(m, kt), 64), row), at(full, s)});
    node at_b = add(m, mul(m, s, g->bn * 64), mul(m, rank, share * 64));
    node row_b = add(m, col, mul(m, rank, share));
    if (g->cluster > 1)
        atom(m, "tma.load.multicast", 2, 4,
             (axe_arg[]){at(b, at_b), box(m, 1, mul(m, var(m, kt), 64), row_b),
                         at(full, s), integer(num(m, 3))});
    else
        atom(m, "tma.load", 2, 3,
             (axe_arg[]){at(b, at_b), box(m, 1, mul(m, var(m, kt), 64), row_b),
                         at(full, s)});
    end(m);
    end(m);
    end(m);
}

static inline void
gemm_release(maker *m, const gemm_spec *g, const axe_tensor *empty, node s)
{
    node me =
        add(m, mul(m, rem(m, id(m, AXE_ID_WARP), 4), 32), id(m, AXE_ID_LANE));
    axe_lir *l;

    l = atom(m, g->cluster > 1 ? "mbarrier.arrive.cluster" : "mbarrier.arrive",
             0, g->cluster > 1 ? 2 : 1, (axe_arg[]){at(empty, s), integer(me)});
    l->pred = less(m, me, g->cluster);
}

static inline void
gemm_multiply(maker *m, const gemm_spec *g, const axe_tensor *a,
              const axe_tensor *b, const axe_tensor *acc,
              const axe_tensor *full, const axe_tensor *empty, node wg)
{
    const axe_var *kt;
    node           s, phase;

    atom(m, "setmaxnreg.inc", 0, 1, (axe_arg[]){integer(num(m, 232))});
    kt = begin_for(m, "kt", num(m, 0), num(m, g->k / 64));
    s = rem(m, var(m, kt), g->stages);
    phase = rem(m, quot(m, var(m, kt), g->stages), 2);
    atom(m, "mbarrier.wait", 0, 2, (axe_arg[]){at(full, s), integer(phase)});
    atom(m, "wgmma.fence", 0, 1, (axe_arg[]){at(acc, num(m, 0))});
    for (int kk = 0; kk < 4; kk++)
        atom(m, "wgmma.f32.f16.ss", g->bn, 4,
             (axe_arg[]){
                 at(acc, num(m, 0)),
                 matrix(a,
                        add(m, add(m, mul(m, s, 128 * 64), mul(m, wg, 64 * 64)),
                            num(m, kk * 16))),
                 matrix(b, add(m, mul(m, s, g->bn * 64), num(m, kk * 16))),
                 integer(kk > 0 ? num(m, 1)
                                : op2(m, AXE_OP_min, num(m, 1), var(m, kt)))});
    atom(m, "wgmma.commit", 0, 0, NULL);
    atom(m, "wgmma.drain", 0, 1, (axe_arg[]){integer(num(m, 1))});
    begin_if(m, less(m, num(m, 0), 1));
    begin_if(m, op2(m, AXE_OP_lt, num(m, 0), var(m, kt)));
    gemm_release(m, g, empty,
                 rem(m, add(m, var(m, kt), num(m, g->stages - 1)), g->stages));
    end(m);
    end(m);
    end(m);
    atom(m, "wgmma.drain", 0, 1, (axe_arg[]){integer(num(m, 0))});
}

/* Registers to f16, by stmatrix to a staging tile, and out by boxes of 64 x 64;
 * staging holds two of them for each warpgroup. */
static inline void
gemm_end(maker *m, const gemm_spec *g, const axe_tensor *acc,
         const axe_tensor *half, const axe_tensor *stage, node wg, node row,
         node col)
{
    node lane = id(m, AXE_ID_LANE), wid = rem(m, id(m, AXE_ID_WARP), 4);
    node me = add(m, mul(m, wid, 32), lane);

    for (int part = 0; part < g->bn / 64; part++) {
        node base = add(m, mul(m, wg, 2 * 64 * 64), num(m, part % 2 * 64 * 64));
        node r = add(m, mul(m, wid, 16), rem(m, lane, 16));
        axe_lir *l;
        if (part >= 2) {
            l = atom(m, "bulk.read", 0, 1, (axe_arg[]){integer(num(m, 1))});
            l->pred = is(m, me, 0);
            atom(m, "meet", 0, 2,
                 (axe_arg[]){integer(add(m, wg, num(m, 1))),
                             integer(num(m, 128))});
        }
        for (int i = 0; i < 32; i++)
            calc(m, half, num(m, i),
                 axe_cast(m->cx, AXE_NOWHERE, AXE_TYPE_f16,
                          element(m, acc, num(m, part * 32 + i))));
        for (int i = 0; i < 4; i++)
            atom(m, "stmatrix.x4", 0, 2,
                 (axe_arg[]){at(stage, add(m, add(m, base, mul(m, r, 64)),
                                           add(m, num(m, i * 16),
                                               mul(m, quot(m, lane, 16), 8)))),
                             at(half, num(m, i * 8))});
        atom(m, "bulk.fence", 0, 1, (axe_arg[]){at(stage, num(m, 0))});
        atom(m, "meet", 0, 2,
             (axe_arg[]){integer(add(m, wg, num(m, 1))), integer(num(m, 128))});
        l = atom(m, "tma.store", 2, 2,
                 (axe_arg[]){box(m, 2, add(m, col, num(m, part * 64)),
                                 add(m, row, mul(m, wg, 64))),
                             at(stage, base)});
        l->pred = is(m, me, 0);
        l = atom(m, "bulk.commit", 0, 0, NULL);
        l->pred = is(m, me, 0);
    }
    axe_lir *l = atom(m, "bulk.drain", 0, 1, (axe_arg[]){integer(num(m, 0))});
    l->pred = is(m, me, 0);
}

static inline const axe_lowered *
make_gemm(maker *m, axe_ctx *cx, const gemm_spec *g)
{
    const axe_tensor *ta, *tb, *tc, *a, *b, *full, *empty, *stage, *acc, *half;
    int64_t           tiles_m = g->m / 128;
    node              block, row, col, group, wg;

    make(m, cx, "sm_90a", 384, g->cluster, tiles_m * (g->n / g->bn));
    ta = param(m, "A", AXE_TYPE_f16, AXE_DIR_IN, g->m, g->k);
    tb = param(m, "B", AXE_TYPE_f16, AXE_DIR_IN, g->n, g->k);
    tc = param(m, "C", AXE_TYPE_f16, AXE_DIR_OUT, g->m, g->n);
    a = buffer(m, "a", AXE_TYPE_f16, (int64_t)g->stages * 128 * 64, 128);
    b = buffer(m, "b", AXE_TYPE_f16, (int64_t)g->stages * g->bn * 64, 128);
    stage = buffer(m, "stage", AXE_TYPE_f16, 4 * 64 * 64, 128);
    full = buffer(m, "full", AXE_TYPE_i64, g->stages, 0);
    empty = buffer(m, "empty", AXE_TYPE_i64, g->stages, 0);
    acc = array(m, "acc", AXE_TYPE_f32, g->bn / 2);
    half = array(m, "half", AXE_TYPE_f16, 32);
    (void)new_map(m, ta, 128, 64, 128);
    (void)new_map(m, tb, g->bn / g->cluster, 64, 128);
    (void)new_map(m, tc, 64, 64, 128);
    gemm_inits(m, g, full, empty);
    block = id(m, AXE_ID_BLOCK);
    row = mul(m, rem(m, block, tiles_m), 128);
    col = mul(m, quot(m, block, tiles_m), g->bn);
    group = quot(m, id(m, AXE_ID_WARP), 4);
    wg = op2(m, AXE_OP_sub, group, num(m, 1));
    begin_if(m, is(m, group, 0));
    gemm_produce(m, g, a, b, full, empty, row, col);
    end(m);
    begin_if(m, op2(m, AXE_OP_lt, num(m, 0), group));
    gemm_multiply(m, g, a, b, acc, full, empty, wg);
    gemm_end(m, g, acc, half, stage, wg, row, col);
    end(m);
    if (g->cluster > 1)
        atom(m, "meet.cluster", 0, 0, NULL);
    return made(m);
}

#endif
