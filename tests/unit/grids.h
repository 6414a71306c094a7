/* grids.h - grids made by hand, for tests of what reads them. */
#ifndef GRIDS_H
#define GRIDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "lower/lower.h"

enum { GRID_MAX = 16 };

/* A grid as it is being made: of one kernel, for one machine. */
typedef struct maker {
    axe_ctx           *cx;
    const axe_machine *mc;
    axe_kernel         kernel;
    axe_plan           plan;
    axe_lowered        lowered;
    axe_grid           grid;
    axe_host           host; /* launch 0 */
    const axe_tensor  *param[GRID_MAX], *array[GRID_MAX];
    const axe_var     *size[GRID_MAX];
    axe_buffer         buffer[GRID_MAX];
    axe_map            map[GRID_MAX];
    axe_lblock        *at; /* where statements go */
    int                n_var, n_tensor;
} maker;

static inline const axe_node *
num(maker *m, int64_t v)
{
    return axe_iconst(m->cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

static inline const axe_node *
op(maker *m, axe_op o, const axe_node *a, const axe_node *b)
{
    (void)m;
    return axe_node2(m->cx, o, a, b);
}

static inline const axe_node *
add(maker *m, const axe_node *a, const axe_node *b)
{
    return op(m, AXE_OP_add, a, b);
}

static inline const axe_node *
mul(maker *m, const axe_node *a, int64_t b)
{
    return op(m, AXE_OP_mul, a, num(m, b));
}

static inline const axe_node *
quo(maker *m, const axe_node *a, int64_t b)
{
    return op(m, AXE_OP_div, a, num(m, b));
}

static inline const axe_node *
rem_of(maker *m, const axe_node *a, int64_t b)
{
    return op(m, AXE_OP_mod, a, num(m, b));
}

static inline axe_var *
new_var(maker *m, axe_var_kind kind, const char *name)
{
    axe_var *v = axe_new(m->cx, axe_var);

    v->kind = kind;
    v->name = name;
    v->id = m->n_var++;
    return v;
}

static inline const axe_node *
var(maker *m, const axe_var *v)
{
    return axe_var_node(m->cx, AXE_NOWHERE, v);
}

static inline const axe_node *
id(maker *m, axe_id which)
{
    if (!m->grid.id[which])
        m->grid.id[which] = new_var(m, AXE_VAR_SCOPE, axe_id_name(which));
    return var(m, m->grid.id[which]);
}

static inline const axe_tensor *
new_tensor(maker *m, axe_space space, axe_dir dir, axe_type type,
           const char *name, int64_t n)
{
    axe_tensor      *t = axe_new(m->cx, axe_tensor);
    const axe_node **shape = axe_new_array(m->cx, const axe_node *, 1);

    shape[0] = num(m, n);
    *t = (axe_tensor){.name = name,
                      .id = m->n_tensor++,
                      .space = space,
                      .type = type,
                      .dir = dir,
                      .rank = 1,
                      .shape = shape};
    return t;
}

static inline const axe_tensor *
new_param(maker *m, axe_dir dir, axe_type type, const char *name)
{
    const axe_tensor *t = new_tensor(m, AXE_SPACE_GLOBAL, dir, type, name, 1);

    m->param[m->kernel.n_param++] = t;
    return t;
}

static inline const axe_node *
new_size(maker *m, const char *name)
{
    const axe_var *v = new_var(m, AXE_VAR_SIZE, name);

    m->size[m->kernel.n_size++] = v;
    return var(m, v);
}

static inline const axe_tensor *
new_array(maker *m, axe_type type, const char *name, int64_t n)
{
    const axe_tensor *t =
        new_tensor(m, AXE_SPACE_REG, AXE_DIR_LOCAL, type, name, n);

    m->array[m->grid.n_array++] = t;
    return t;
}

static inline const axe_tensor *
new_buffer(maker *m, axe_type type, const char *name, int64_t n, int swizzle)
{
    const axe_tensor *t =
        new_tensor(m, AXE_SPACE_SHARED, AXE_DIR_LOCAL, type, name, n);
    int64_t bytes = n * axe_type_table[type].bits / 8;

    m->buffer[m->grid.n_buffer++] =
        (axe_buffer){t,
                     m->grid.shared_bytes,
                     bytes,
                     {swizzle, swizzle ? 4 : 0, swizzle ? 3 : 0, 8}};
    m->grid.shared_bytes += (bytes + 1023) / 1024 * 1024;
    return t;
}

static inline axe_lir *
emit(maker *m, axe_lir_kind kind)
{
    axe_lir    *l = axe_new(m->cx, axe_lir);
    axe_lblock *b = m->at;

    if (b->n == b->cap) {
        int       cap = b->cap ? 2 * b->cap : 8;
        axe_lir **item = axe_new_array(m->cx, axe_lir *, cap);
        if (b->n > 0)
            memcpy(item, b->item, (size_t)b->n * sizeof *item);
        b->item = item;
        b->cap = cap;
    }
    b->item[b->n++] = l;
    l->kind = kind;
    l->step = 1;
    return l;
}

/* A loop that is entered: its variable; leave by m->at = the old block. */
static inline const axe_node *
loop(maker *m, const char *name, const axe_node *end, bool unroll)
{
    axe_lir *l = emit(m, AXE_LIR_LOOP);

    l->var = new_var(m, AXE_VAR_LOOP, name);
    l->begin = num(m, 0);
    l->end = end;
    l->unroll = unroll;
    m->at = &l->body;
    return var(m, l->var);
}

static inline axe_arg
reg(const axe_tensor *t, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_REG, .tensor = t, .at = at};
}

static inline axe_arg
shared(const axe_tensor *t, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_SHARED, .tensor = t, .at = at};
}

static inline axe_arg
global(const axe_tensor *t, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_GLOBAL, .tensor = t, .at = at};
}

static inline axe_arg
number(const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_INT, .at = at};
}

static inline const axe_atom *
atom_of(maker *m, const char *name)
{
    for (int i = 0; i < m->mc->n_atom; i++)
        if (strcmp(m->mc->atom[i].name, name) == 0)
            return &m->mc->atom[i];
    fail_msg("%s has no atom %s", m->mc->name, name);
    return NULL;
}

static inline axe_lir *
invoke(maker *m, const char *name, int param, int n, const axe_arg *arg,
       const axe_node *pred)
{
    axe_lir *l = emit(m, AXE_LIR_ATOM);
    axe_arg *copy = axe_new_array(m->cx, axe_arg, n + 1);

    if (n > 0)
        memcpy(copy, arg, (size_t)n * sizeof *copy);
    l->atom = atom_of(m, name);
    l->param = param;
    l->n_arg = n;
    l->arg = copy;
    l->pred = pred;
    return l;
}
#define ATOM(m, name, param, ...)                                              \
    invoke((m), (name), (param),                                               \
           (int)(sizeof((axe_arg[]){__VA_ARGS__}) / sizeof(axe_arg)),          \
           (axe_arg[]){__VA_ARGS__}, NULL)
#define ATOM_IF(m, pred, name, param, ...)                                     \
    invoke((m), (name), (param),                                               \
           (int)(sizeof((axe_arg[]){__VA_ARGS__}) / sizeof(axe_arg)),          \
           (axe_arg[]){__VA_ARGS__}, (pred))

static inline void
calc(maker *m, const axe_tensor *t, const axe_node *at, const axe_node *value)
{
    axe_lir *l = emit(m, AXE_LIR_CALC);
    axe_arg *a = axe_new(m->cx, axe_arg);

    *a = reg(t, at);
    l->n_arg = 1;
    l->arg = a;
    l->value = value;
}

static inline const axe_node *
element(maker *m, const axe_tensor *t, const axe_node *at)
{
    return axe_load(m->cx, AXE_NOWHERE, t, &at);
}

static inline maker *
grid_new(axe_ctx *cx, const char *machine, const char *name, int n_thread)
{
    maker *m = axe_new(cx, maker);

    m->cx = cx;
    assert_int_equal(axe_machine_find(cx, machine, &m->mc), AXE_OK);
    m->kernel.name = m->grid.name = name;
    m->grid.n_thread = n_thread;
    m->grid.lanes = 32;
    m->grid.group = 4;
    m->grid.cluster = 1;
    m->at = &m->grid.body;
    return m;
}

static inline const axe_lowered *
grid_done(maker *m)
{
    m->kernel.param = m->param;
    m->kernel.size = m->size;
    m->kernel.n_var = m->n_var;
    m->plan.kernel = &m->kernel;
    m->plan.machine = m->mc;
    m->grid.array = m->array;
    m->grid.buffer = m->buffer;
    m->grid.map = m->map;
    m->lowered.plan = &m->plan;
    m->lowered.n_grid = m->lowered.n_host = 1;
    m->lowered.grid = &m->grid;
    m->lowered.host = &m->host;
    return &m->lowered;
}

#endif
