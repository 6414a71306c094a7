/* build.c - making lowered code: registers, operations, numbers. */
#include <assert.h>
#include <string.h>

#include "lower/code/build.h"
#include "lower/lower_int.h"

const axe_lop_info axe_lop_table[AXE_N_LOP] = {
#define R 'R'
#define M 'M'
#define U 'U'
#define LOP(name, dst, src, text) {#name, dst, src},
#include "lower/code/lops.def"
#undef R
#undef M
#undef U
};

void
axe_block_push(axe_ctx *cx, axe_lblock *b, axe_lir *l)
{
    if (b->n == b->cap) {
        int       cap = b->cap ? 2 * b->cap : 8;
        axe_lir **item = axe_new_array(cx, axe_lir *, cap);
        if (b->n > 0)
            memcpy(item, b->item, (size_t)b->n * sizeof *item);
        b->item = item;
        b->cap = cap;
    }
    b->item[b->n++] = l;
}

axe_lir *
axe_emit(axe_lowering *lw, axe_lblock *b, axe_lir_kind kind)
{
    axe_lir *l = axe_new(lw->cx, axe_lir);

    axe_block_push(lw->cx, b, l);
    l->kind = kind;
    l->step = 1;
    return l;
}

axe_reg
axe_reg_new(axe_lowering *lw, axe_type type, int lanes)
{
    return (axe_reg){lw->n_reg++, type, lanes};
}

axe_reg
axe_emit_op(axe_lowering *lw, axe_lblock *b, axe_lop op, axe_type type,
            int lanes, int n_src, const axe_reg *src)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    axe_reg *copy = axe_new_array(lw->cx, axe_reg, n_src + 1);

    if (n_src > 0)
        memcpy(copy, src, (size_t)n_src * sizeof *src);
    l->op = op;
    l->n_src = n_src;
    l->src = copy;
    l->dst = axe_reg_new(lw, type, lanes);
    return l->dst;
}

/* How far apart the operand's elements are along the lanes, if its plan says
 * that they are; else NULL. */
static const axe_node *
apart(axe_lowering *lw, const axe_operand *op)
{
    axe_digit       d = {lw->vector, 1, lw->lanes};
    const axe_node *step;
    int64_t         k;

    if (!op->apart)
        return NULL;
    step = axe_moved(lw, axe_int(lw, 0), op, &d, axe_int(lw, 1));
    return axe_is_iconst(step, &k) && k == 1 ? NULL : step;
}

axe_reg
axe_emit_load(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
              axe_mem mem, axe_type type, int lanes)
{
    bool            part = lw->part && lanes > 1;
    const axe_node *step = lanes > 1 ? apart(lw, op) : NULL;
    axe_lop  lop = step ? AXE_LOP_gather : part ? AXE_LOP_loadm : AXE_LOP_load;
    axe_reg  r = axe_emit_op(lw, b, lop, type, lanes, 0, NULL);
    axe_lir *l = b->item[b->n - 1];

    assert(!part || op->part[0]);
    l->mem = mem;
    l->begin = step;
    l->value = part ? lw->part : NULL;
    l->atom = part ? op->part[0] : step ? op->apart : NULL;
    return r;
}

/* All lanes or some, where the store is in part and may be whole. */
static void
store_either(axe_lowering *lw, axe_lblock *b, const axe_operand *op, axe_reg r,
             axe_mem mem)
{
    const axe_node *part = lw->part;
    axe_lir        *l = axe_emit(lw, b, AXE_LIR_IF);

    l->value = axe_node2(lw->cx, AXE_OP_le, axe_int(lw, r.lanes), part);
    lw->part = NULL;
    axe_emit_store(lw, &l->body, op, r, mem);
    lw->part = part;
    lw->whole = false;
    axe_emit_store(lw, &l->other, op, r, mem);
    lw->whole = true;
}

void
axe_emit_store(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
               axe_reg r, axe_mem mem)
{
    bool part = lw->part && r.lanes > 1;

    if (part && lw->whole) {
        store_either(lw, b, op, r, mem);
        return;
    }
    axe_lir *l = axe_emit(lw, b, AXE_LIR_OP);
    axe_reg *src = axe_new(lw->cx, axe_reg);

    *src = r;
    l->op = part                        ? AXE_LOP_storem
            : lw->stream && r.lanes > 1 ? AXE_LOP_stream
                                        : AXE_LOP_store;
    l->value = part ? lw->part : lw->stream;
    l->n_src = 1;
    l->src = src;
    l->mem = mem;
    if (part) {
        assert(op->part[1]);
        l->atom = op->part[1];
    }
}

axe_reg
axe_emit_part(axe_lowering *lw, axe_lblock *b, axe_reg r, axe_reg e)
{
    axe_type t =
        axe_type_table[r.type].bits == 64 ? AXE_TYPE_i64 : AXE_TYPE_i32;
    axe_reg at = axe_emit_op(lw, b, AXE_LOP_lanes, t, r.lanes, 0, NULL), n;

    b->item[b->n - 1]->i = 1;
    n = axe_emit_op(lw, b, AXE_LOP_index, t, 1, 0, NULL);
    b->item[b->n - 1]->value = lw->part;
    n = axe_emit_op(lw, b, AXE_LOP_splat, t, r.lanes, 1, &n);
    at = axe_emit_op(lw, b, AXE_LOP_lt, t, r.lanes, 2, (axe_reg[]){at, n});
    return axe_emit_op(lw, b, AXE_LOP_select, r.type, r.lanes, 3,
                       (axe_reg[]){at, r, e});
}

axe_var *
axe_loop_var(axe_lowering *lw, const char *name)
{
    axe_var *v = axe_new(lw->cx, axe_var);

    v->kind = AXE_VAR_LOOP;
    v->id = lw->plan->kernel->n_var + lw->n_var++;
    v->name = axe_textf(lw->cx, "%s_%d", name, lw->n_var);
    return v;
}

axe_var *
axe_loaded_var(axe_lowering *lw, const char *name)
{
    axe_var *v = axe_loop_var(lw, name);

    v->least = INT64_MIN;
    return v;
}

const axe_node *
axe_int(axe_lowering *lw, int64_t v)
{
    return axe_index_const(lw->cx, v);
}

const axe_node *
axe_ivar(axe_lowering *lw, const axe_var *v)
{
    return axe_var_node(lw->cx, AXE_NOWHERE, v);
}

const axe_node *
axe_sum(axe_lowering *lw, const axe_node *a, const axe_node *b)
{
    return axe_node2(lw->cx, AXE_OP_add, a, b);
}

static const axe_node *
size_named(axe_lowering *lw, const char *name)
{
    const axe_kernel *k = lw->plan->kernel;

    for (int i = 0; i < k->n_size; i++)
        if (strcmp(k->size[i]->name, name) == 0)
            return axe_ivar(lw, k->size[i]);
    return axe_int(lw, 1);
}

const axe_node *
axe_scaled(axe_lowering *lw, const axe_node *a, axe_stride s)
{
    a = axe_node2(lw->cx, AXE_OP_mul, a, axe_int(lw, s.coef));
    for (int i = 0; i < axe_unit_n_factor(lw->cx, s.unit); i++)
        a = axe_node2(lw->cx, AXE_OP_mul, a,
                      size_named(lw, axe_unit_factor(lw->cx, s.unit, i)));
    return a;
}

const axe_node *
axe_digit_node(axe_lowering *lw, const axe_open_digit *b)
{
    return axe_sum(lw, axe_ivar(lw, b->loop), axe_int(lw, b->step));
}

const axe_node *
axe_moved(axe_lowering *lw, const axe_node *at, const axe_operand *op,
          const axe_digit *d, const axe_node *value)
{
    axe_move *m = axe_new_array(lw->cx, axe_move, axe_operand_n_iter(op));
    int       n = axe_operand_moves(op, d, m);

    for (int i = 0; i < n; i++) {
        const axe_node *v = value;
        if (m[i].over > 1)
            v = axe_node2(lw->cx, AXE_OP_div, v, axe_int(lw, m[i].over));
        if (m[i].extent > 0)
            v = axe_node2(lw->cx, AXE_OP_mod, v, axe_int(lw, m[i].extent));
        at = axe_sum(lw, at, axe_scaled(lw, v, m[i].stride));
    }
    return at;
}

const axe_node *
axe_index_so_far(axe_lowering *lw, const axe_var *v)
{
    const axe_node *sum = axe_int(lw, 0);

    for (const axe_open_digit *b = lw->bound; b; b = b->next)
        if (b->of.var == v)
            sum = axe_sum(lw, sum,
                          axe_scaled(lw, axe_digit_node(lw, b),
                                     (axe_stride){b->of.weight, AXE_UNIT_ONE}));
    return sum;
}

const axe_node *
axe_extent_of(const axe_schedule *s, const axe_var *v)
{
    for (int k = 0; k < s->n_nest; k++)
        for (int i = 0; i < s->nest[k].n_dim; i++)
            if (s->nest[k].dim[i].var == v)
                return s->nest[k].dim[i].extent;
    return NULL;
}

axe_mem
axe_mem_of(axe_lowering *lw, const axe_operand *op, const axe_node *at)
{
    const axe_place *pl = &lw->plan->place[op->tensor->id];
    bool             tile = op->tensor->space != AXE_SPACE_GLOBAL;
    axe_type         t = tile ? pl->type : op->tensor->type;

    return (axe_mem){op->tensor, lw->s->raw ? axe_word_of(t, 1) : t, at};
}

axe_type
axe_word_of(axe_type t, int n)
{
    switch (axe_type_table[t].bits * n) {
    case 8:
        return AXE_TYPE_u8;
    case 16:
        return AXE_TYPE_u16;
    case 32:
        return AXE_TYPE_i32;
    default:
        return AXE_TYPE_i64;
    }
}

axe_reg
axe_signs(axe_lowering *lw, axe_lblock *b, axe_type t, axe_type word, int lanes)
{
    int      bits = axe_type_table[t].bits, all = axe_type_table[word].bits;
    uint64_t w = 0;
    axe_reg  r = axe_emit_op(lw, b, AXE_LOP_iconst, word, lanes, 0, NULL);

    for (int at = bits - 1; at < all; at += bits)
        w |= UINT64_C(1) << at;
    if (all < 64 && axe_type_table[word].cls == AXE_CLASS_INT)
        w |= ~UINT64_C(0) << all;
    b->item[b->n - 1]->i = (int64_t)w;
    return r;
}

axe_reg
axe_as_kept(axe_lowering *lw, axe_lblock *b, const axe_operand *op, axe_reg r)
{
    const axe_place *pl = &lw->plan->place[op->tensor->id];

    if (op->tensor->space == AXE_SPACE_GLOBAL || !pl->flip)
        return r;
    axe_reg s = axe_signs(lw, b, pl->type, r.type, r.lanes);
    return axe_emit_op(lw, b, AXE_LOP_xor, r.type, r.lanes, 2,
                       (axe_reg[]){r, s});
}

axe_type
axe_held_as(axe_lowering *lw, axe_type t)
{
    return lw->s->raw ? t : axe_compute_of(lw, t);
}

axe_type
axe_compute_of(axe_lowering *lw, axe_type t)
{
    axe_type out = t;
    axe_mark m = axe_ctx_mark(lw->cx);

    if (t == AXE_TYPE_bool)
        return AXE_TYPE_i32;
    if (axe_compute_type(lw->cx, lw->plan->machine, AXE_NOWHERE, t, &out) !=
        AXE_OK)
        axe_ctx_release(lw->cx, m);
    return out;
}

const axe_node *
axe_emit_let(axe_lowering *lw, axe_lblock *b, const axe_var *v,
             const axe_node *value)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_LET);

    l->var = v;
    l->value = value;
    return axe_ivar(lw, v);
}
