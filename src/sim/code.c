/* code.c - lowered code as a flat list of instructions with jumps, so that a
 * warp that waits is a number and needs no stack of its own.
 *
 * Which variables differ between the lanes of a warp is found first: what is
 * the same in all is kept and computed once.  A counter differs, too, where
 * only some lanes may come to set it. */
#include <string.h>

#include "ir/rewrite.h"
#include "sim/sim_int.h"

typedef struct coder {
    sim      *s;
    sim_code *c;
    int       cap, depth, n_slot, cap_slot;
} coder;

/* ----------------------------------------------------------------- slots */

/* Of variables that nothing has set: no address, count or phase. */
enum { UNSET = -1515870811 };

static int
add_slot(sim *s, sim_code *c, const axe_var *v)
{
    if (c->n_slot == c->cap_slot) {
        int             cap = c->cap_slot ? 2 * c->cap_slot : 64;
        bool           *lanes = axe_new_array(s->own, bool, cap);
        const axe_var **var = axe_new_array(s->own, const axe_var *, cap);
        int64_t        *init = axe_new_array(s->own, int64_t, cap);
        for (int i = 0; i < c->n_slot; i++) {
            lanes[i] = c->lanes[i];
            var[i] = c->var[i];
            init[i] = c->init[i];
        }
        c->lanes = lanes;
        c->var = var;
        c->init = init;
        c->cap_slot = cap;
    }
    c->var[c->n_slot] = v;
    return c->n_slot++;
}

/* A size's value; of the number of workers, that of SMs. */
static int64_t
size_value(const sim *s, const axe_var *v)
{
    const axe_kernel *k = s->l->plan->kernel;

    for (int i = 0; i < k->n_size; i++)
        if (k->size[i] == v)
            return s->spec->size[i];
    return v->is_fixed ? v->fixed : s->n_sm;
}

/* Which iteration a loop of the host is at; false: it is none. */
static bool
iteration_value(const sim *s, const axe_var *v, int64_t *out)
{
    for (int i = 0; i < s->n_iteration; i++)
        if (s->around[i] == v) {
            *out = s->iteration[i];
            return true;
        }
    return false;
}

int
axe_sim_slot(sim *s, sim_code *c, const axe_var *v)
{
    int slot;

    for (slot = 0; slot < c->n_slot; slot++)
        if (c->var[slot] && axe_var_same(c->var[slot], v))
            return slot;
    slot = add_slot(s, c, v);
    if (!iteration_value(s, v, &c->init[slot]))
        c->init[slot] = v->kind == AXE_VAR_SIZE ? size_value(s, v) : UNSET;
    return slot;
}

/* --------------------------------------------------- what differs by lane */

typedef struct look {
    sim      *s;
    sim_code *c;
    bool      found;
} look;

static void
look_at(void *user, const axe_node *n)
{
    look *k = user;

    if (n->op == AXE_OP_load)
        k->found = true;
    if (n->op == AXE_OP_var) {
        int slot = axe_sim_slot(k->s, k->c, n->u.var); /* may move `lanes` */
        k->found = k->found || k->c->lanes[slot];
    }
}

static bool
varies(coder *k, const axe_node *n)
{
    look l = {k->s, k->c, false};

    axe_node_walk(n, look_at, &l);
    return l.found;
}

/* Do some lanes leave the loop, or its iteration, before others? */
static bool
leaves_apart(coder *k, const axe_lblock *b, bool apart)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_BREAK || l->kind == AXE_LIR_CONTINUE) {
            if (apart)
                return true;
        } else if (l->kind == AXE_LIR_IF) {
            bool deep = apart || varies(k, l->value);
            if (leaves_apart(k, &l->body, deep) ||
                leaves_apart(k, &l->other, deep))
                return true;
        } else if (l->kind == AXE_LIR_BLOCK &&
                   leaves_apart(k, &l->body, apart)) {
            return true;
        }
    }
    return false;
}

static bool
set_varies(coder *k, const axe_var *v, bool now)
{
    int  slot = axe_sim_slot(k->s, k->c, v);
    bool was = k->c->lanes[slot];

    k->c->lanes[slot] = was || now;
    return now && !was;
}

/* Mark variables; apart: only some lanes may be here.  True if one was new. */
static bool
mark(coder *k, const axe_lblock *b, bool apart)
{
    bool grew = false, deep;

    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        switch (l->kind) {
        case AXE_LIR_LET:
            grew |= set_varies(k, l->var, varies(k, l->value));
            break;
        case AXE_LIR_SET:
            grew |= set_varies(k, l->var, apart || varies(k, l->value));
            break;
        case AXE_LIR_ADVANCE:
            grew |= set_varies(k, l->var, apart);
            break;
        case AXE_LIR_LOOP:
            deep = varies(k, l->begin) || varies(k, l->end);
            grew |= set_varies(k, l->var, deep);
            deep = deep || apart || leaves_apart(k, &l->body, false);
            grew |= mark(k, &l->body, deep);
            break;
        case AXE_LIR_FOREVER:
            deep = apart || leaves_apart(k, &l->body, false);
            grew |= mark(k, &l->body, deep);
            break;
        case AXE_LIR_IF:
            deep = apart || varies(k, l->value);
            grew |= mark(k, &l->body, deep);
            grew |= mark(k, &l->other, deep);
            break;
        default:
            grew |= mark(k, &l->body, apart);
        }
    }
    return grew;
}

/* ---------------------------------------------------------- instructions */

/* By number: the list moves while it grows. */
static int
add(coder *k, sim_op op, const axe_lir *from)
{
    sim_code *c = k->c;

    if (c->n_inst == k->cap) {
        int       cap = k->cap ? 2 * k->cap : 64;
        sim_inst *inst = axe_new_array(k->s->own, sim_inst, cap);
        if (c->n_inst > 0)
            memcpy(inst, c->inst, (size_t)c->n_inst * sizeof inst[0]);
        c->inst = inst;
        k->cap = cap;
    }
    c->inst[c->n_inst] = (sim_inst){.op = op, .from = from};
    return c->n_inst++;
}

static axe_status
expr_into(coder *k, int at, const axe_node *n, int which)
{
    const axe_lir  *l = k->c->inst[at].from;
    bool            sets = which == 0 && l->kind != AXE_LIR_IF;
    axe_index_use   use = AXE_USE_INDEX;
    const sim_expr *e;

    if (l->kind == AXE_LIR_LET)
        n = axe_index_let(k->c->index, l, &use);
    AXE_TRY(axe_sim_index_make(
        k->s, k->c, n, use, sets || which == 1 ? l->var : NULL,
        which == 1 ? l->step : l->kind == AXE_LIR_COUNT, &e));
    if (which == 0)
        k->c->inst[at].a = e;
    else if (which == 1)
        k->c->inst[at].b = e;
    else
        k->c->inst[at].pred = e;
    return AXE_OK;
}

/* The report's counter for atoms of this name. */
static int64_t *
counter(sim *s, const char *name)
{
    axe_sim_report *r = s->report;

    for (int i = 0; i < r->n_count; i++)
        if (strcmp(r->count[i].name, name) == 0)
            return &r->count[i].n;
    r->count[r->n_count] = (axe_sim_count){.name = name};
    return &r->count[r->n_count++].n;
}

/* What an atom's operands say of the tensors: mbarriers, and what is written.
 */
static void
note_use(coder *k, const sim_inst *in)
{
    const axe_atom *atom = in->shape->atom;
    bool sync = atom->sync == AXE_SYNC_INIT || atom->sync == AXE_SYNC_EXPECT ||
                atom->sync == AXE_SYNC_ARRIVE || atom->sync == AXE_SYNC_WAIT ||
                atom->sync == AXE_SYNC_COMMIT;
    int  bar = atom->kind == AXE_ATOM_COPY ? 2 : 1;
    bool ends = atom->kind == AXE_ATOM_COPY || atom->sync == AXE_SYNC_TAKE;

    k->c->takes = k->c->takes || atom->sync == AXE_SYNC_TAKE;
    k->c->awaits = k->c->awaits || axe_sim_is_awaited(atom);
    k->c->fences =
        k->c->fences ||
        (atom->sync == AXE_SYNC_FENCE &&
         (atom->space[0] == AXE_ARG_GLOBAL || atom->space[0] == AXE_ARG_NONE));
    if (axe_sim_is_counter(atom))
        k->s->global[in->arg[0].tensor].counts =
            k->s->global[in->arg[0].tensor].writes = true;
    for (int i = 0; i < in->n_arg; i++) {
        const sim_arg *a = &in->arg[i];
        bool shared = a->space == AXE_ARG_SHARED || a->space == AXE_ARG_DSMEM;
        if (shared && (sync || (ends && i == bar)))
            k->c->bar0[a->tensor] = 0;
        if (i > 0 ||
            (atom->kind != AXE_ATOM_STORE && atom->kind != AXE_ATOM_COPY))
            continue;
        if (a->space == AXE_ARG_GLOBAL)
            k->s->global[a->tensor].writes = true;
        if (a->space == AXE_ARG_MAP)
            k->s->global[k->s->map_of[a->map]].writes = true;
    }
}

static axe_status
make_atom(coder *k, const axe_lir *l)
{
    int      at = add(k, SIM_ATOM, l);
    sim_arg *arg = axe_new_array(k->s->own, sim_arg, l->n_arg);

    if (l->n_arg > MAX_ARG)
        return axe_fail(k->s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s with %d operands; %d are the most",
                        l->atom->name, l->n_arg, MAX_ARG);
    for (int i = 0; i < l->n_arg; i++)
        AXE_TRY(axe_sim_arg_make(k->s, k->c, &l->arg[i], &arg[i]));
    for (int i = 0; i < l->n_arg; i++) {
        bool boxed = l->arg[0].space == AXE_ARG_MAP ||
                     (l->n_arg > 1 && l->arg[1].space == AXE_ARG_MAP);
        arg[i].swizzled = !boxed;
        if (i > 2 || !axe_atom_by_descriptor(l->atom, i))
            continue;
        arg[i].swizzled = false;
        arg[i].unknown = axe_matrix_read(
            l->arg[i].desc, l->atom->space[0] == AXE_ARG_TMEM, &arg[i].matrix);
    }
    k->c->inst[at].n_arg = l->n_arg;
    k->c->inst[at].arg = arg;
    AXE_TRY(axe_sim_pins_make(k->s, l, &k->c->inst[at]));
    k->c->inst[at].count = counter(k->s, l->atom->name);
    if (l->pred)
        AXE_TRY(expr_into(k, at, l->pred, 2));
    AXE_TRY(axe_sim_shape_of(k->s, l, &k->c->inst[at].shape));
    AXE_TRY(axe_sim_counter_check(k->s, &k->c->inst[at]));
    note_use(k, &k->c->inst[at]);
    return AXE_OK;
}

/* An expression for iteration `by` of those that a loop does at once, where its
 * variable is that of the first. */
typedef struct later {
    axe_ctx       *cx;
    const axe_lir *loop;
    int            by;
} later;

static const axe_node *
of_word(const later *x, const axe_node *at)
{
    const axe_node *n = axe_index_const(x->cx, x->loop->step);

    at = axe_node2(x->cx, AXE_OP_mul, axe_node2(x->cx, AXE_OP_div, at, n), n);
    return axe_node2(x->cx, AXE_OP_add, at, axe_index_const(x->cx, x->by));
}

static const axe_node *
of_iteration(void *user, const axe_node *n)
{
    const later *x = user;

    if (n->op != AXE_OP_var || n->u.var != x->loop->var)
        return NULL;
    return axe_node2(x->cx, AXE_OP_add, n, axe_index_const(x->cx, x->by));
}

/* Its element of the words that n is or chooses among. */
static const axe_node *
of_words(const later *x, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        return axe_load(x->cx, n->at, n->u.tensor,
                        (const axe_node *[]){of_word(x, n->arg[0])});
    return axe_node_new(x->cx, n->op, n->type, n->at, 3,
                        (const axe_node *[]){n->arg[0], of_words(x, n->arg[1]),
                                             of_words(x, n->arg[2])});
}

/* One element, or the neighbours that iterations of `loop` write at once: they
 * are of one word, whichever of its elements the first is. */
static axe_status
make_calc(coder *k, const axe_lir *l, const axe_lir *loop)
{
    int              at = add(k, SIM_CALC, l), n = loop ? (int)loop->step : 1;
    sim_arg         *arg = axe_new_array(k->s->own, sim_arg, n);
    const sim_expr **word = axe_new_array(k->s->own, const sim_expr *, n);

    if (l->n_arg != 1 || l->arg[0].space != AXE_ARG_REG || n > SIM_MAX_JOIN)
        return axe_fail(k->s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: what is computed goes to registers");
    for (int i = 0; i < n; i++) {
        later           x = {k->s->own, loop, i};
        axe_arg         to = l->arg[0];
        const axe_node *value = l->value;
        if (loop) {
            to.at = of_word(&x, to.at);
            value = loop->join == AXE_JOIN_MOVE
                        ? of_words(&x, value)
                        : axe_node_map(x.cx, value, of_iteration, &x);
        }
        AXE_TRY(axe_sim_arg_make(k->s, k->c, &to, &arg[i]));
        AXE_TRY(axe_sim_expr_make(k->s, k->c, value, &word[i]));
    }
    k->c->inst[at].n_arg = n;
    k->c->inst[at].arg = arg;
    k->c->inst[at].word = word;
    return l->pred ? expr_into(k, at, l->pred, 2) : AXE_OK;
}

static axe_status make_block(coder *k, const axe_lblock *b);

static axe_status
make_loop(coder *k, const axe_lir *l)
{
    axe_index_mark here = axe_index_here(k->c->index);
    bool           forever = l->kind == AXE_LIR_FOREVER;
    int            at = add(k, forever ? SIM_FOREVER : SIM_LOOP, l), end;

    if (!forever) {
        if (l->step < 1)
            return axe_fail(k->s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "the simulator: a loop by %lld",
                            (long long)l->step);
        axe_index_declare(k->c->index, l);
        AXE_TRY(expr_into(k, at, l->begin, 0));
        AXE_TRY(expr_into(k, at, l->end, 1));
        k->c->inst[at].slot = axe_sim_slot(k->s, k->c, l->var);
        k->c->inst[at].bound = add_slot(k->s, k->c, NULL);
        k->c->lanes[k->c->inst[at].bound] = k->c->lanes[k->c->inst[at].slot];
    }
    if (!forever && l->join != AXE_JOIN_NONE)
        for (int i = 0; i < l->body.n; i++)
            AXE_TRY(make_calc(k, l->body.item[i], l));
    else
        AXE_TRY(make_block(k, &l->body));
    end = add(k, forever ? SIM_AGAIN : SIM_NEXT, l);
    k->c->inst[end].slot = k->c->inst[at].slot;
    k->c->inst[end].bound = k->c->inst[at].bound;
    k->c->inst[end].step = l->step;
    k->c->inst[end].jump = at + 1;
    k->c->inst[at].jump = end + 1;
    axe_index_leave(k->c->index, here);
    return AXE_OK;
}

static axe_status
make_if(coder *k, const axe_lir *l)
{
    int at = add(k, SIM_IF, l), other = -1, end;

    AXE_TRY(expr_into(k, at, l->value, 0));
    AXE_TRY(make_block(k, &l->body));
    if (l->other.n > 0) {
        other = add(k, SIM_ELSE, l);
        AXE_TRY(make_block(k, &l->other));
    }
    end = add(k, SIM_END, l);
    k->c->inst[at].jump = other < 0 ? end : other;
    if (other >= 0)
        k->c->inst[other].jump = end;
    return AXE_OK;
}

static axe_status
make_let(coder *k, const axe_lir *l)
{
    int at = add(k, l->kind == AXE_LIR_ADVANCE ? SIM_ADVANCE : SIM_LET, l);

    axe_index_declare(k->c->index, l);
    k->c->inst[at].slot = axe_sim_slot(k->s, k->c, l->var);
    k->c->inst[at].step = l->step;
    if (l->kind == AXE_LIR_LET || l->kind == AXE_LIR_SET)
        return expr_into(k, at, l->value, 0);
    return l->kind == AXE_LIR_COUNT
               ? expr_into(k, at, axe_index_const(k->s->own, 0), 0)
               : AXE_OK;
}

static axe_status
make_one(coder *k, const axe_lir *l)
{
    switch (l->kind) {
    case AXE_LIR_LOOP:
    case AXE_LIR_FOREVER:
        return make_loop(k, l);
    case AXE_LIR_BLOCK:
        return make_block(k, &l->body);
    case AXE_LIR_IF:
        return make_if(k, l);
    case AXE_LIR_BREAK:
        add(k, SIM_BREAK, l);
        return AXE_OK;
    case AXE_LIR_CONTINUE:
        add(k, SIM_CONTINUE, l);
        return AXE_OK;
    case AXE_LIR_LET:
    case AXE_LIR_SET:
    case AXE_LIR_COUNT:
    case AXE_LIR_ADVANCE:
        return make_let(k, l);
    case AXE_LIR_ATOM:
        return make_atom(k, l);
    case AXE_LIR_CALC:
        return make_calc(k, l, NULL);
    case AXE_LIR_NOTE:
        return AXE_OK;
    default:
        return axe_fail(
            k->s->cx, l->from ? l->from->at : AXE_NOWHERE, AXE_EUNSUPPORTED,
            "the simulator: grid %s has code for a CPU's core", k->s->g->name);
    }
}

static axe_status
make_block(coder *k, const axe_lblock *b)
{
    axe_index_mark here = axe_index_here(k->c->index);

    if (++k->depth > k->c->max_frame)
        k->c->max_frame = k->depth;
    for (int i = 0; i < b->n; i++)
        AXE_TRY(make_one(k, b->item[i]));
    k->depth--;
    axe_index_leave(k->c->index, here);
    return AXE_OK;
}

/* Number the mbarriers of buffers that have some. */
static void
number_bars(sim *s, sim_code *c)
{
    for (int i = 0; i < s->g->n_buffer; i++)
        if (c->bar0[i] == 0) {
            c->bar0[i] = c->n_bar;
            c->n_bar += (int)(s->g->buffer[i].bytes / 8);
        }
}

/* Is the text for wide sizes the one that is launched? */
static bool
is_wide(const sim *s)
{
    bool wide = false;

    for (int i = 0; i < s->l->plan->kernel->n_size; i++)
        wide = wide || s->spec->size[i] > AXE_SIZE_MOST;
    return wide;
}

axe_status
axe_sim_code_make(sim *s, sim_code **out)
{
    sim_code *c = axe_new(s->own, sim_code);
    coder     k = {.s = s, .c = c};

    c->index = axe_indices_make(s->own, s->l, s->g, is_wide(s));
    c->bar0 = axe_new_array(s->own, int, s->g->n_buffer);
    for (int i = 0; i < s->g->n_buffer; i++)
        c->bar0[i] = -1;
    for (int i = 0; i < AXE_N_ID; i++)
        c->id[i] = s->g->id[i] ? axe_sim_slot(s, c, s->g->id[i]) : -1;
    c->base = -1;
    for (int i = 0; i < s->g->n_array; i++)
        if (s->g->array[i] == s->g->tmem_base)
            c->base = i;
    if (c->id[AXE_ID_LANE] >= 0)
        c->lanes[c->id[AXE_ID_LANE]] = true;
    while (mark(&k, &s->g->body, false))
        ;
    AXE_TRY(make_block(&k, &s->g->body));
    add(&k, SIM_HALT, NULL);
    number_bars(s, c);
    *out = c;
    return AXE_OK;
}
