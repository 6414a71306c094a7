/* map.c - element-wise statements and folds: which index goes over partitions,
 * which along them, and where results go. */
#include <inttypes.h>

#include "ir/stmt.h"
#include "lower/systolic/sys.h"

/* The statement's value with all that it folds into made explicit. */
static const axe_node *
whole_value(sys *s, const axe_stmt *st)
{
    static const axe_op op[] = {AXE_OP_add, AXE_OP_add, AXE_OP_mul, AXE_OP_max,
                                AXE_OP_min};
    const axe_node     *v = st->value;

    if (st->n_dim > st->n_free)
        v = axe_reduce(s->cx, st->at, st->fold, st->n_dim - st->n_free,
                       &st->dim[st->n_free], v);
    return st->fold == AXE_FOLD_NONE
               ? v
               : axe_node2(s->cx, op[st->fold], st->dst, v);
}

typedef struct picked {
    sys           *s;
    const axe_var *part; /* of a tile that is read */
} picked;

static void
look_tile(void *user, const axe_node *n)
{
    picked                  *p = user;
    const axe_systolic_tile *x;

    if (n->op != AXE_OP_load || n->u.tensor->space == AXE_SPACE_GLOBAL)
        return;
    x = &p->s->plan->systolic->tile[n->u.tensor->id];
    if (x->part >= 0 && !p->part)
        p->part = axe_just_index(n->arg[x->part]);
}

typedef struct folded {
    const axe_var *v;
    bool           yes;
} folded;

static void
look_folded(void *user, const axe_node *n)
{
    folded *f = user;

    f->yes = f->yes || (n->op == AXE_OP_reduce && axe_mentions(n, f->v));
}

/* Does a fold in the value depend on the index? */
static bool
is_folded(const axe_node *value, const axe_var *v)
{
    folded f = {v, false};

    axe_node_walk(value, look_folded, &f);
    return f.yes;
}

/* Which index goes over partitions, and which along them. */
static void
choose_axes(sys *s, const axe_stmt *st, const axe_node *value,
            const axe_var **part, const axe_var **along)
{
    const axe_tensor        *t = st->dst->u.tensor;
    const axe_systolic_tile *x = &s->plan->systolic->tile[t->id];
    picked                   p = {s, NULL};

    *part = *along = NULL;
    if (t->space != AXE_SPACE_GLOBAL)
        *part = x->part >= 0 ? axe_just_index(st->dst->arg[x->part]) : NULL;
    else {
        axe_node_walk(value, look_tile, &p);
        if (p.part && axe_stmt_is_free(st, p.part))
            *part = p.part;
    }
    for (int i = st->n_free - 1; i >= 0 && !*along; i--)
        if (st->dim[i].var != *part)
            *along = st->dim[i].var;
    if (!*part && t->space == AXE_SPACE_GLOBAL)
        for (int i = st->n_free - 1; i >= 0 && !*part; i--)
            if (st->dim[i].var != *along)
                *part = st->dim[i].var;
    /* What is folded for each value of an index goes along F itself. */
    if (*along && is_folded(value, *along)) {
        if (!*part && t->space == AXE_SPACE_GLOBAL)
            *part = *along;
        *along = NULL;
    }
}

static void
one_pass(sys *s, const axe_stmt *st, const axe_node *value)
{
    const axe_tensor *t = st->dst->u.tensor;
    int64_t           mark = s->temp;
    sys_val           to, v;

    if (t->space != AXE_SPACE_GLOBAL) {
        if (sys_access(s, st->dst, &to) != SYS_FITS) {
            sys_fail(s, st->dst->at, "give the tile other dimensions",
                     "%s: the index over partitions is not that of the tile",
                     axe_node_text(s->cx, st->dst));
            return;
        }
    } else
        to = sys_temps(s, t->type, s->F ? SYS_CHUNK : 1, SYS_STORED);
    v = sys_value(s, value, &to);
    bool there = v.kind == SYS_TILE && v.name == to.name;
    bool direct = t->space == AXE_SPACE_GLOBAL && v.kind == SYS_TILE &&
                  v.type == t->type && !v.psum && v.column == to.column;
    if (v.kind == SYS_TILE && v.column && !to.column && !there)
        sys_spread(s, &to, &v);
    else if (!there && !direct)
        sys_copy(s, &to, &v, sys_parts(s), sys_cols(s));
    if (t->space == AXE_SPACE_GLOBAL)
        sys_store(s, st->dst, direct ? &v : &to);
    s->temp = mark;
}

/* So many chunks of 512 values; there may be none. */
static void
chunks(sys *s, const axe_stmt *st, const axe_node *value, const axe_var *v,
       sys_ex n)
{
    bool opened;

    if (n.most < 1)
        return;
    if (n.t && n.most == 1)
        n.most = INT64_MAX;
    sys_ex r = sys_for(s, v->name, n, &opened);
    s->F = sys_bind_to(s, v, sys_mul(s, sys_c(SYS_CHUNK), r), sys_c(SYS_CHUNK));
    one_pass(s, st, value);
    s->n_bind--;
    s->n_known = 0;
    sys_end(s, opened);
}

/* A statement over one index of device memory: 512 values at a time, on one
 * partition, then what is left. */
static void
vector(sys *s, const axe_stmt *st, const axe_node *value, const axe_var *v)
{
    sys_ex e = sys_extent(s, st, v), full = sys_div(s, e, sys_c(SYS_CHUNK));
    sys_ex left = sys_mod(s, e, sys_c(SYS_CHUNK));
    bool   opened;

    chunks(s, st, value, v, full);
    if (sys_is(left, 0))
        return;
    if (full.most < 1) {
        full = sys_c(0);
        left = e;
    }
    sys_if(s, sys_min(s, sys_c(1), left), &opened);
    s->F = sys_bind_to(s, v, sys_mul(s, sys_c(SYS_CHUNK), full), left);
    one_pass(s, st, value);
    s->n_bind--;
    s->n_known = 0;
    sys_end(s, opened);
}

/* A later statement wants the sums of the values: a tile for them. */
static void
begin_sums(sys *s, const axe_stmt *st)
{
    const axe_systolic_step *x = &s->plan->systolic->step[st->id];
    const axe_node          *v = st->value;

    while (v->op == AXE_OP_cast)
        v = v->arg[0];
    if (!x->sum || !sys_adds_up(v))
        return;
    s->summing = v;
    s->sum[st->id] = sys_new_name(s, "sum");
    sys_line(
        s, "sbuf %s : f32[128, %" PRId64 "] at 0, %s", s->sum[st->id],
        x->blocks,
        sys_text(s, sys_add(s, sys_c(x->offset),
                            sys_mul(s, sys_c(4 * x->blocks), sys_turn(s, 2)))));
}

void
sys_map(sys *s, const axe_stmt *st)
{
    const axe_node *value = whole_value(s, st);
    const axe_var  *part, *along;
    int             n_open = 0;
    bool            opened[SYS_MAX_BIND], p_open = false, f_open = false;

    sys_begin(s, st);
    begin_sums(s, st);
    choose_axes(s, st, value, &part, &along);
    for (int i = 0; i < st->n_free; i++)
        if (st->dim[i].var != part && st->dim[i].var != along)
            n_open += sys_open(s, 1, &st->dim[i], &opened[n_open]);
    if (sys_gather_copy(s, st, part, along)) {
        sys_close(s, n_open, opened, 0);
        return;
    }
    if (!part && along && st->dst->u.tensor->space == AXE_SPACE_GLOBAL) {
        vector(s, st, value, along);
        sys_close(s, n_open, opened, 0);
        return;
    }
    if (part) {
        sys_ex e = sys_extent(s, st, part);
        sys_ex b =
            sys_for(s, part->name, sys_up(s, e, AXE_SYSTOLIC_P), &p_open);
        sys_ex    base = sys_mul(s, sys_c(AXE_SYSTOLIC_P), b);
        sys_bind *x = sys_bind_to(s, part, base,
                                  sys_rest(s, e, base, AXE_SYSTOLIC_P, p_open));
        x->block = b;
        s->P = x;
    }
    if (along) {
        sys_ex e = sys_extent(s, st, along);
        sys_ex b = sys_for(s, along->name, sys_up(s, e, SYS_CHUNK), &f_open);
        sys_ex base = sys_mul(s, sys_c(SYS_CHUNK), b);
        s->F = sys_bind_to(s, along, base,
                           sys_rest(s, e, base, SYS_CHUNK, f_open));
    }
    one_pass(s, st, value);
    s->n_known = 0;
    s->summing = NULL;
    sys_end(s, f_open);
    sys_end(s, p_open);
    sys_close(s, n_open, opened, 0);
}
