/* build.c - making grids: who a thread is, arrays, buffers, atoms. */
#include <string.h>

#include "ir/rewrite.h"
#include "lower/simt/node.h"

const axe_node *
axe_simt_id(axe_simt_lowering *sl, axe_id id)
{
    return axe_ivar(&sl->lw, sl->grid->id[id]);
}

static const axe_node *
over(axe_simt_lowering *sl, const axe_node *n, int64_t by)
{
    return by == 1 ? n : op2(sl, AXE_OP_div, n, axe_int(&sl->lw, by));
}

static const axe_node *
rest(axe_simt_lowering *sl, const axe_node *n, int64_t by)
{
    return by == 1 ? axe_int(&sl->lw, 0)
                   : op2(sl, AXE_OP_mod, n, axe_int(&sl->lw, by));
}

/* The warp's number in an entity of the thread group, which has whole warps. */
static const axe_node *
warp_in(axe_simt_lowering *sl, const axe_thread_group *c)
{
    const axe_node *w = axe_simt_id(sl, AXE_ID_WARP);
    int64_t         n = c->n_thread / sl->sp->lanes;
    int64_t         first = c->first / sl->sp->lanes;

    if (!c->in)
        return w;
    w = warp_in(sl, c->in);
    if (first > 0 && (first % n != 0 || c->n_entity == 1))
        w = op2(sl, AXE_OP_sub, w, axe_int(&sl->lw, first));
    return c->n_entity == 1 ? w : rest(sl, w, n);
}

const axe_node *
axe_simt_coordinate(axe_simt_lowering *sl, const axe_thread_group *c,
                    axe_axis axis)
{
    return axis == sl->sp->lane  ? axe_simt_id(sl, AXE_ID_LANE)
           : axis == sl->sp->cta ? axe_simt_id(sl, AXE_ID_RANK)
                                 : warp_in(sl, c);
}

const axe_node *
axe_simt_thread(axe_simt_lowering *sl, const axe_thread_group *c)
{
    int64_t         lanes = sl->sp->lanes;
    const axe_node *lane = axe_simt_id(sl, AXE_ID_LANE);

    if (c->n_thread == 1)
        return axe_int(&sl->lw, 0);
    if (c->n_thread <= lanes)
        return lane;
    return axe_sum(&sl->lw,
                   op2(sl, AXE_OP_mul, warp_in(sl, c), axe_int(&sl->lw, lanes)),
                   lane);
}

const axe_node *
axe_simt_entity(axe_simt_lowering *sl, const axe_thread_group *c)
{
    int64_t         lanes = sl->sp->lanes;
    const axe_node *n;

    if (!c->in || c->n_entity == 1)
        return axe_int(&sl->lw, 0);
    if (c->n_thread % lanes == 0) {
        n = warp_in(sl, c->in);
        if (c->first > 0)
            n = op2(sl, AXE_OP_sub, n, axe_int(&sl->lw, c->first / lanes));
        return over(sl, n, c->n_thread / lanes);
    }
    n = axe_simt_thread(sl, c->in);
    if (c->first > 0)
        n = op2(sl, AXE_OP_sub, n, axe_int(&sl->lw, c->first));
    return over(sl, n, c->n_thread);
}

const axe_node *
axe_simt_number_of(axe_simt_lowering *sl, const axe_thread_group *c)
{
    const axe_node *n = axe_simt_entity(sl, c), *in;

    if (!c->in || axe_threads_copies(c->in) == 1)
        return n;
    in = axe_simt_number_of(sl, c->in);
    return axe_sum(&sl->lw, n,
                   op2(sl, AXE_OP_mul, in, axe_int(&sl->lw, c->n_entity)));
}

const axe_node *
axe_simt_digit(axe_simt_lowering *sl, const axe_thread_group *c, axe_iter it)
{
    axe_iter        own[2];
    int             n = axe_threads_axes(sl->sp, c, own);
    const axe_node *v = axe_simt_coordinate(sl, c, it.axis);

    v = over(sl, v, it.stride);
    if (it.axis == sl->sp->cta && it.stride * it.extent >= sl->grid->cluster)
        return v;
    for (int i = 0; i < n; i++)
        if (own[i].axis == it.axis && it.stride * it.extent >= own[i].extent)
            return v;
    return rest(sl, v, it.extent);
}

/* ------------------------------------------------------- arrays and buffers */

static const axe_tensor *
new_tensor(axe_simt_lowering *sl, const char *name, axe_space space, axe_type t,
           int64_t n)
{
    axe_tensor      *out = axe_new(sl->lw.cx, axe_tensor);
    const axe_node **shape = axe_new_array(sl->lw.cx, const axe_node *, 1);

    shape[0] = axe_int(&sl->lw, n);
    *out = (axe_tensor){
        .name = name,
        .id = sl->lw.plan->kernel->n_tensor + sl->n_name++,
        .space = space,
        .type = t,
        .rank = 1,
        .shape = shape,
    };
    return out;
}

static void *
grow(axe_ctx *cx, void *old, int n, int *cap, size_t size)
{
    char *out = old;

    if (n < *cap)
        return old;
    *cap = *cap ? 2 * *cap : 8;
    out = axe_new_array(cx, char, (size_t)*cap *size);
    if (n > 0)
        memcpy(out, old, (size_t)n * size);
    return out;
}

static const char *
fresh_name(axe_simt_lowering *sl, const char *name)
{
    axe_buf b = {.cx = sl->lw.cx};

    for (const char *c = name; *c; c++)
        axe_putc(&b, *c == '.' ? '_' : *c);
    return axe_use_name(sl->lw.cx, &sl->names, b.text);
}

const axe_tensor *
axe_simt_array(axe_simt_lowering *sl, const char *name, axe_type t, int64_t n)
{
    axe_grid *g = sl->grid;

    g->array =
        grow(sl->lw.cx, g->array, g->n_array, &sl->cap_array, sizeof *g->array);
    g->array[g->n_array] =
        new_tensor(sl, fresh_name(sl, name), AXE_SPACE_REG, t, n);
    return g->array[g->n_array++];
}

const axe_tensor *
axe_simt_buffer(axe_simt_lowering *sl, const char *name, axe_type t, int64_t n,
                int64_t offset, axe_swizzle swizzle)
{
    axe_grid *g = sl->grid;
    int64_t   bits = axe_type_table[t].bits;

    g->buffer = grow(sl->lw.cx, g->buffer, g->n_buffer, &sl->cap_buffer,
                     sizeof *g->buffer);
    g->buffer[g->n_buffer] = (axe_buffer){
        .tensor = new_tensor(sl, fresh_name(sl, name), AXE_SPACE_SHARED, t, n),
        .offset = offset,
        .bytes = (n * bits + 7) / 8,
        .swizzle = swizzle,
    };
    return g->buffer[g->n_buffer++].tensor;
}

/* The columns of a tile in tensor memory. */
static const axe_tensor *
new_columns(axe_simt_lowering *sl, const axe_tensor *t)
{
    axe_grid        *g = sl->grid;
    const axe_place *pl = &sl->lw.plan->place[t->id];
    int64_t          words = pl->bytes / 4;

    g->tmem =
        grow(sl->lw.cx, g->tmem, g->n_tmem, &sl->cap_tmem, sizeof *g->tmem);
    g->tmem[g->n_tmem] = (axe_tmem){
        .tensor =
            new_tensor(sl, fresh_name(sl, t->name), AXE_SPACE_TMEM, pl->type,
                       words * AXE_WORD_BITS / axe_type_table[pl->type].bits),
        .first = (int)(pl->offset / 4),
        .columns = (int)words,
    };
    return g->tmem[g->n_tmem++].tensor;
}

const axe_tensor *
axe_simt_tensor(axe_simt_lowering *sl, const axe_tensor *t)
{
    const axe_place *pl = &sl->lw.plan->place[t->id];
    int64_t          n = pl->bytes * 8 / axe_type_table[pl->type].bits;

    if (t->space == AXE_SPACE_GLOBAL)
        return t;
    if (sl->tile[t->id])
        return sl->tile[t->id];
    if (t->space == AXE_SPACE_TMEM)
        return sl->tile[t->id] = new_columns(sl, t);
    sl->tile[t->id] = t->space == AXE_SPACE_REG
                          ? axe_simt_array(sl, t->name, pl->type, n)
                          : axe_simt_buffer(sl, t->name, pl->type, n,
                                            pl->offset, axe_simt_swizzle(pl));
    return sl->tile[t->id];
}

const axe_tensor *
axe_simt_scratch(axe_simt_lowering *sl, const axe_thread_group *c, axe_type t)
{
    axe_grid *g = sl->grid;

    for (int i = sl->first_buffer; i < g->n_buffer; i++)
        if (g->buffer[i].offset == c->scratch && g->buffer[i].tensor->type == t)
            return g->buffer[i].tensor;
    return axe_simt_buffer(sl, "scratch", t,
                           c->scratch_bytes * 8 / axe_type_table[t].bits,
                           c->scratch, (axe_swizzle){0});
}

/* ------------------------------------------------------------------ items */

axe_arg
axe_simt_reg(const axe_tensor *array, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_REG, .tensor = array, .at = at};
}

axe_arg
axe_simt_shared(const axe_tensor *buffer, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_SHARED, .tensor = buffer, .at = at};
}

axe_arg
axe_simt_global(const axe_tensor *t, const axe_node *at)
{
    return (axe_arg){.space = AXE_ARG_GLOBAL, .tensor = t, .at = at};
}

axe_arg
axe_simt_number(const axe_node *n)
{
    return (axe_arg){.space = AXE_ARG_INT, .at = n};
}

axe_lir *
axe_simt_atom(axe_simt_lowering *sl, axe_lblock *b, const axe_atom *a,
              int param, int n_arg, const axe_arg *arg, const axe_node *pred)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_ATOM);
    axe_arg *copy = axe_new_array(sl->lw.cx, axe_arg, n_arg + 1);

    if (n_arg > 0)
        memcpy(copy, arg, (size_t)n_arg * sizeof *arg);
    l->atom = a;
    l->param = param;
    l->n_arg = n_arg;
    l->arg = copy;
    l->pred = pred;
    l->from = sl->s ? sl->s->stmt : NULL;
    if (sl->s && axe_atom_takes_hint(a))
        l->hint = sl->s->simt->hint;
    return l;
}

void
axe_simt_calc(axe_simt_lowering *sl, axe_lblock *b, const axe_tensor *array,
              const axe_node *at, const axe_node *value, const axe_node *pred)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_CALC);
    axe_arg *arg = axe_new(sl->lw.cx, axe_arg);

    *arg = axe_simt_reg(array, at);
    l->n_arg = 1;
    l->arg = arg;
    l->value = value;
    l->pred = pred;
    l->from = sl->s ? sl->s->stmt : NULL;
}

const axe_node *
axe_simt_element(axe_simt_lowering *sl, const axe_tensor *array,
                 const axe_node *at)
{
    return axe_load(sl->lw.cx, AXE_NOWHERE, array, &at);
}

const axe_node *
axe_simt_unrolled(axe_simt_lowering *sl, axe_lblock **b, const char *name,
                  int64_t n)
{
    axe_lir *l;

    if (n == 1)
        return axe_int(&sl->lw, 0);
    l = axe_emit(&sl->lw, *b, AXE_LIR_LOOP);
    l->var = axe_loop_var(&sl->lw, name);
    l->begin = axe_int(&sl->lw, 0);
    l->end = axe_int(&sl->lw, n);
    l->unroll = true;
    *b = &l->body;
    return axe_ivar(&sl->lw, l->var);
}

const axe_node *
axe_simt_let(axe_simt_lowering *sl, axe_lblock *b, const char *name,
             const axe_node *value)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_LET);

    l->var = axe_loop_var(&sl->lw, name);
    l->value = value;
    return axe_ivar(&sl->lw, l->var);
}

const axe_node *
axe_simt_both(axe_simt_lowering *sl, const axe_node *a, const axe_node *b)
{
    if (!a || !b)
        return a ? a : b;
    return op2(sl, AXE_OP_and, a, b);
}

axe_status
axe_simt_sync(axe_simt_lowering *sl, axe_lblock *b, axe_sync_kind kind,
              axe_scope_kind by, const char *group, int n_arg,
              const axe_arg *arg)
{
    const axe_machine *mc = sl->lw.plan->machine;
    const axe_atom    *a = axe_simt_find_sync(
           mc, kind, by, group, n_arg > 0 ? arg[0].space : AXE_ARG_NONE,
        n_arg > 1 ? arg[1].space : AXE_ARG_NONE);

    if (!a)
        return axe_fail(sl->lw.cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s has no row that a %s waits by here", mc->name,
                        axe_scope_name(by));
    axe_simt_atom(sl, b, a, 0, n_arg, arg, NULL);
    return AXE_OK;
}

/* The whole CTA and warps have atoms of their own; others share numbered
 * barriers, entity by entity. */
axe_status
axe_simt_barrier(axe_simt_lowering *sl, axe_lblock *b,
                 const axe_thread_group *c)
{
    const axe_node *id;

    if (c->n_thread == 1)
        return AXE_OK;
    if (!c->in)
        return axe_simt_sync(sl, b, AXE_SYNC_BARRIER, AXE_SCOPE_CTA, "", 0,
                             NULL);
    if (c->barrier < 0)
        return axe_simt_sync(sl, b, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, "", 0,
                             NULL);
    id = axe_sum(&sl->lw, axe_simt_entity(sl, c), axe_int(&sl->lw, c->barrier));
    axe_arg arg[2] = {axe_simt_number(id),
                      axe_simt_number(axe_int(&sl->lw, c->n_thread))};
    return axe_simt_sync(sl, b, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, "", 2, arg);
}

static const axe_node *
change_scalar(void *user, const axe_node *n)
{
    axe_simt_lowering *sl = user;

    if (n->op != AXE_OP_load)
        return NULL;
    return axe_simt_element(sl, axe_simt_tensor(sl, n->u.tensor),
                            axe_int(&sl->lw, 0));
}

const axe_node *
axe_simt_scalars(axe_simt_lowering *sl, const axe_node *n)
{
    return axe_node_map(sl->lw.cx, n, change_scalar, sl);
}

axe_status
axe_simt_sync_if(axe_simt_lowering *sl, axe_lblock *b, axe_sync_kind kind,
                 const char *group, int n_arg, const axe_arg *arg,
                 const axe_node *pred)
{
    AXE_TRY(axe_simt_sync(sl, b, kind, AXE_SCOPE_THREAD, group, n_arg, arg));
    b->item[b->n - 1]->pred = pred;
    return AXE_OK;
}

axe_status
axe_simt_order_group(axe_simt_lowering *sl, axe_lblock *b, axe_sync_kind kind,
                     const char *group, axe_arg_space space, int64_t n,
                     const axe_node *pred)
{
    const axe_machine *mc = sl->lw.plan->machine;
    const axe_atom    *a = axe_simt_group_sync(mc, kind, group, space);
    axe_arg            most = axe_simt_number(axe_int(&sl->lw, n));

    if (!a)
        return axe_fail(sl->lw.cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s has no row by which copies of group %s are ordered",
                        mc->name, group);
    axe_simt_atom(sl, b, a, 0, a->space[0] == AXE_ARG_INT, &most, pred);
    return AXE_OK;
}

void
axe_simt_need(axe_simt_lowering *sl, axe_need need)
{
    axe_grid *g = sl->grid;
    axe_need *more = axe_new_array(sl->lw.cx, axe_need, g->n_need + 1);

    for (int i = 0; i < g->n_need; i++) {
        if (axe_node_same(g->need[i].when, need.when))
            return;
        more[i] = g->need[i];
    }
    more[g->n_need++] = need;
    g->need = more;
}
