/* width.c - between which values the integers of a grid lie.
 *
 * A variable is what its declaration says: the numbers of a loop, the value of
 * a LET, whatever a COUNT is advanced to and set to.  One that the plan gave an
 * extent is below that, too, which says more than how it is computed of the
 * block's number.  How many tiles there are is a product, and as a launch has
 * less than 2^31 CTAs, so are its parts.  The table is made by going over the
 * code until nothing changes; what is set to ever more has no bound. */
#include <string.h>

#include "lower/pass/width.h"

enum { ROUNDS = 6, MAX_FACTOR = 12 };

typedef struct range {
    const axe_var *var;
    axe_interval   in;
} range;

struct axe_grid_widths {
    axe_ctx           *cx;
    const axe_lowered *l;
    const axe_grid    *g;
    bool               wide, changed, late;
    int                n, cap, n_factor;
    range             *range;
    int                n_id;
    int            *by_id; /* 1 + which range has a variable of that number */
    const axe_node *asked; /* by its operands alone */
    const axe_node *factor[MAX_FACTOR]; /* of how many CTAs there are */
};

static axe_interval
between(int64_t lo, int64_t hi)
{
    return (axe_interval){lo, hi, true, true};
}

bool
axe_interval_is_long(axe_interval r)
{
    return !r.has_lo || !r.has_hi || r.lo < INT32_MIN || r.hi > INT32_MAX;
}

static range *
find(const axe_grid_widths *w, const axe_var *v)
{
    int at = v->id >= 0 && v->id < w->n_id ? w->by_id[v->id] : 0;

    if (at == 0 && v->id >= 0)
        return NULL;
    if (at > 0 && w->range[at - 1].var == v)
        return &w->range[at - 1];
    for (int i = 0; i < w->n; i++)
        if (w->range[i].var == v)
            return &w->range[i];
    return NULL;
}

/* -------------------------------------------------------- what is known */

static int64_t
most_blocks(const axe_grid_widths *w)
{
    return w->g->persistent ? INT32_MAX - AXE_STAY_MOST : INT32_MAX;
}

static axe_interval within_extent(const axe_grid_widths *w, const axe_var *v,
                                  axe_interval r);

static bool
known_var(const axe_grid_widths *w, const axe_var *v, axe_interval *out)
{
    const axe_grid   *g = w->g;
    const axe_kernel *k = w->l->plan->kernel;
    const range      *r = find(w, v);
    int64_t           n_block = g->persistent ? AXE_STAY_MOST : INT32_MAX;

    for (int i = 0; i < k->n_size && !w->wide; i++)
        if (k->size[i] == v) {
            *out = between(0, AXE_SIZE_MOST);
            return true;
        }
    for (int i = 0; i < g->n_host_loop; i++)
        if (g->host_loop[i] == v) {
            *out = within_extent(w, v, between(0, AXE_HOST_ITERATIONS - 1));
            return true;
        }
    if (v == k->cores)
        *out = between(1, AXE_STAY_MOST);
    else if (r)
        *out = r->in;
    else if (v == g->id[AXE_ID_BLOCK])
        *out = between(0, n_block - 1);
    else if (v == g->id[AXE_ID_N_BLOCK])
        *out = between(1, n_block);
    else if (v == g->id[AXE_ID_RANK])
        *out = between(0, g->cluster - 1);
    else if (v == g->id[AXE_ID_WARP])
        *out = between(0, (g->n_thread + g->lanes - 1) / g->lanes - 1);
    else if (v == g->id[AXE_ID_LANE])
        *out = between(0, g->lanes - 1);
    else
        return false;
    return true;
}

/* All that elements of an integer type may be. */
static bool
known_type(axe_type t, axe_interval *out)
{
    int bits = axe_type_table[t].bits;

    if (axe_type_table[t].cls == AXE_CLASS_FLOAT || bits > 32)
        return false;
    *out = axe_type_table[t].cls == AXE_CLASS_INT
               ? between(-(INT64_C(1) << (bits - 1)),
                         (INT64_C(1) << (bits - 1)) - 1)
               : between(0, (INT64_C(1) << bits) - 1);
    return true;
}

static int
cut(const axe_node *n, const axe_node **out, int count)
{
    if (n->op == AXE_OP_mul)
        return cut(n->arg[1], out, cut(n->arg[0], out, count));
    if (count < MAX_FACTOR)
        out[count] = n;
    return count + 1;
}

/* Is the product part of how many CTAs there are?  None is 0 then. */
static bool
counts_blocks(const axe_grid_widths *w, const axe_node *n)
{
    const axe_node *part[MAX_FACTOR];
    bool            used[MAX_FACTOR] = {0}, found = true;
    int             count = cut(n, part, 0);

    for (int i = 0; i < count && found; i++) {
        found = false;
        for (int k = 0; k < w->n_factor && !found; k++)
            if (count <= w->n_factor && !used[k] &&
                axe_node_same(w->factor[k], part[i]))
                found = used[k] = true;
    }
    return found;
}

/* Such a product, by its operands and by that. */
static void
known_count(const axe_grid_widths *w, const axe_node *n, axe_interval *out)
{
    axe_grid_widths in = *w;
    int64_t         most = most_blocks(w);

    in.asked = n;
    *out = axe_width_range(&in, n);
    if (!out->has_hi || out->hi > most)
        out->hi = most;
    if (!out->has_lo || out->lo < 1)
        out->lo = 1;
    out->has_lo = out->has_hi = true;
}

static bool
known(const void *user, const axe_node *n, axe_interval *out)
{
    const axe_grid_widths *w = user;

    if (n->op == AXE_OP_var)
        return known_var(w, n->u.var, out);
    if (n->op == AXE_OP_load)
        return known_type(n->type, out);
    if (n->op == AXE_OP_cast && !axe_type_is_float(n->arg[0]->type) &&
        n->type == AXE_TYPE_INDEX && n->arg[0]->type != AXE_TYPE_INDEX)
        return known_type(n->arg[0]->type, out);
    if ((n->op != AXE_OP_mul && n->op != AXE_OP_cdiv && n->op != AXE_OP_add) ||
        n == w->asked || !counts_blocks(w, n))
        return false;
    known_count(w, n, out);
    return true;
}

axe_interval
axe_width_range(const axe_grid_widths *w, const axe_node *n)
{
    return axe_interval_where(n, known, w);
}

/* ------------------------------------------------------------- the table */

/* Not beyond what the plan says the variable is. */
static axe_interval
within_extent(const axe_grid_widths *w, const axe_var *v, axe_interval r)
{
    axe_interval e;

    if (!v->extent || v->kind == AXE_VAR_PART)
        return r;
    e = axe_width_range(w, v->extent);
    if (e.has_hi && e.hi > 0 && (!r.has_hi || r.hi > e.hi - 1)) {
        r.hi = e.hi - 1;
        r.has_hi = true;
    }
    if (!r.has_lo || r.lo < v->least) {
        r.lo = v->least;
        r.has_lo = true;
    }
    return r;
}

/* The variable has the last of the ranges. */
static void
number(axe_grid_widths *w, const axe_var *v)
{
    int  n = v->id < 64 ? 64 : 2 * v->id;
    int *more;

    if (v->id >= w->n_id) {
        more = axe_new_array(w->cx, int, n);
        if (w->n_id > 0)
            memcpy(more, w->by_id, (size_t)w->n_id * sizeof *more);
        w->by_id = more;
        w->n_id = n;
    }
    if (v->id >= 0 && w->by_id[v->id] == 0)
        w->by_id[v->id] = w->n;
}

static void
note(axe_grid_widths *w, const axe_var *v, axe_interval in, bool again)
{
    range *r = find(w, v);

    in = within_extent(w, v, in);
    if (!r) {
        if (w->n == w->cap) {
            int    cap = w->cap ? 2 * w->cap : 32;
            range *more = axe_new_array(w->cx, range, cap);
            if (w->n > 0)
                memcpy(more, w->range, (size_t)w->n * sizeof *more);
            w->range = more;
            w->cap = cap;
        }
        w->range[w->n++] = (range){v, in};
        number(w, v);
        w->changed = true;
        return;
    }
    if (r->in.has_lo && (!in.has_lo || in.lo < r->in.lo)) {
        r->in.lo = in.lo;
        r->in.has_lo = in.has_lo && !(again && w->late);
        w->changed = true;
    }
    if (r->in.has_hi && (!in.has_hi || in.hi > r->in.hi)) {
        r->in.hi = in.hi;
        r->in.has_hi = in.has_hi && !(again && w->late);
        w->changed = true;
    }
    r->in = within_extent(w, v, r->in);
}

static void
note_loop(axe_grid_widths *w, const axe_lir *l)
{
    axe_interval b = axe_width_range(w, l->begin);
    axe_interval e = axe_width_range(w, l->end);

    e.hi = !e.has_hi || e.hi == INT64_MIN ? e.hi : e.hi - 1;
    if (e.has_hi && b.has_lo && e.hi < b.lo)
        e.hi = b.lo;
    b.hi = e.hi;
    b.has_hi = e.has_hi;
    note(w, l->var, b, false);
}

static void
walk(axe_grid_widths *w, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_LOOP)
            note_loop(w, l);
        else if (l->kind == AXE_LIR_LET || l->kind == AXE_LIR_SET)
            note(w, l->var,
                 l->value->type == AXE_TYPE_bool ? between(0, 1)
                                                 : axe_width_range(w, l->value),
                 l->kind == AXE_LIR_SET);
        else if (l->kind == AXE_LIR_COUNT)
            note(w, l->var, between(0, 0), false);
        else if (l->kind == AXE_LIR_ADVANCE)
            note(w, l->var, between(0, l->step - 1), false);
        walk(w, &l->body);
        walk(w, &l->other);
    }
}

const axe_grid_widths *
axe_widths_make(axe_ctx *cx, const axe_lowered *l, const axe_grid *g, bool wide)
{
    axe_grid_widths *w = axe_new(cx, axe_grid_widths);

    *w = (axe_grid_widths){
        .cx = cx, .l = l, .g = g, .wide = wide, .changed = true};
    if (g->blocks)
        w->n_factor = cut(g->blocks, w->factor, 0);
    if (w->n_factor > MAX_FACTOR)
        w->n_factor = 0;
    for (int i = 0; w->changed; i++) {
        w->changed = false;
        w->late = i >= ROUNDS;
        walk(w, &g->body);
    }
    return w;
}

/* ----------------------------------------------------------------- cores */

static bool
names(const axe_node *n, const axe_var *v)
{
    return n && axe_mentions(n, v);
}

static bool
arg_names(const axe_arg *a, const axe_var *v)
{
    bool any = names(a->at, v) || names(a->cta, v);

    for (int i = 0; i < a->n_at && a->coord; i++)
        any = any || names(a->coord[i], v);
    return any;
}

static bool
block_names(const axe_lblock *b, const axe_var *v)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        bool           any = names(l->begin, v) || names(l->end, v) ||
                   names(l->value, v) || names(l->pred, v);
        for (int k = 0; k < l->n_arg && l->arg; k++)
            any = any || arg_names(&l->arg[k], v);
        if (any || block_names(&l->body, v) || block_names(&l->other, v))
            return true;
    }
    return false;
}

static bool
host_names(int n, const axe_host *h, const axe_var *v)
{
    for (int i = 0; i < n; i++)
        if ((h[i].var && names(h[i].var->extent, v)) || names(h[i].cond, v) ||
            host_names(h[i].n_body, h[i].body, v) ||
            host_names(h[i].n_other, h[i].other, v))
            return true;
    return false;
}

bool
axe_lowered_has_cores(const axe_lowered *l)
{
    const axe_kernel *k = l->plan->kernel;

    if (k->cores && host_names(l->n_host, l->host, k->cores))
        return true;
    for (int i = 0; i < k->n_temp && k->cores; i++)
        for (int d = 0; d < k->temp[i]->rank; d++)
            if (names(k->temp[i]->shape[d], k->cores))
                return true;
    for (int i = 0; i < l->n_grid && k->cores; i++)
        if (names(l->grid[i].blocks, k->cores) ||
            block_names(&l->grid[i].body, k->cores))
            return true;
    return false;
}
