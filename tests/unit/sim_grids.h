/* sim_grids.h - grids made by hand, for tests of the simulator.
 *
 * A maker has one grid; code goes to the innermost block that is open.  Every
 * atom and computation is of a statement of its own, whose line counts. */
#ifndef SIM_GRIDS_H
#define SIM_GRIDS_H

#include <string.h>

#include "lower/pass/finish.h"

enum { GRID_DEPTH = 16, GRID_MAX = 64 };

typedef struct maker {
    axe_ctx           *cx;
    const axe_machine *machine;
    axe_grid           grid;
    axe_host           host; /* launch 0 */
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
    m->grid.lanes = 32;
    m->grid.group = 4;
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

    a.desc = 0x4000004000000000;
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
    m->lowered.n_grid = m->lowered.n_host = 1;
    m->lowered.grid = &m->grid;
    m->lowered.host = &m->host;
    axe_finish_grid(m->cx, m->machine, &m->grid);
    return &m->lowered;
}

#endif
