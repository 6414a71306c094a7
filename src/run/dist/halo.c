/* halo.c - operands of which a device needs what is around its own, and no
 * more.
 *
 * Where a subscript is not an index alone, as in X[m - 1] or X[m + j], a device
 * needs the interval of what its iterations come to: the dimension's window
 * (window.c).  Loads of one tensor whose windows differ in one dimension are
 * one operand, if that brings nothing that none of them needs: the rows above
 * and below, but not the corners that neither rows nor columns look at. */
#include <string.h>

#include "base/ctx.h"
#include "run/dist/dist_int.h"

#define NO_PLAN INT64_MAX

/* The reductions that a load stands in. */
typedef struct folds {
    const axe_node     *reduce;
    const struct folds *up;
} folds;

typedef struct finding {
    axe_chooser *c;
    axe_list     all; /* axe_halo * */
    axe_status   status;
} finding;

/* ------------------------------------------------------------- candidates */

static bool
is_chosen(const axe_chooser *c, const axe_var *v)
{
    for (int i = 0; i < c->n_index; i++)
        if (c->index[i] == v)
            return true;
    return false;
}

static void
add_var(axe_reached *r, const axe_var *v, const axe_node *first,
        const axe_node *count)
{
    r->var[r->n_var] = v;
    r->first[r->n_var] = first;
    r->count[r->n_var++] = count;
}

/* The variables that a load stands in, with what a device has of them. */
static axe_reached
variables_of(axe_chooser *c, const folds *in)
{
    axe_reached r = {0};
    int         n = c->n_index;

    for (const folds *a = in; a; a = a->up)
        n += a->reduce->u.reduce.n_over;
    r.var = axe_new_array(c->cx, const axe_var *, n + 1);
    r.first = axe_new_array(c->cx, const axe_node *, n + 1);
    r.count = axe_new_array(c->cx, const axe_node *, n + 1);
    for (const folds *a = in; a; a = a->up)
        for (int i = 0; i < a->reduce->u.reduce.n_over; i++)
            if (!is_chosen(c, a->reduce->u.reduce.over[i]))
                add_var(&r, a->reduce->u.reduce.over[i], NULL,
                        a->reduce->u.reduce.extent[i]);
    for (int i = 0; i < c->n_index; i++)
        add_var(&r, c->index[i], axe_cut_extent(c, i, true),
                axe_cut_extent(c, i, false));
    return r;
}

/* The window that the first load's subscript is. */
static const axe_dist_window *
window_over(const axe_chooser *c, const axe_halo *h, int dim)
{
    const axe_node  *whole = axe_extent_whole(h->of->shape[dim]);
    axe_dist_window *w = axe_new(c->cx, axe_dist_window);
    axe_reached     *r = axe_new(c->cx, axe_reached);

    *r = h->variables;
    r->sub = h->load[0]->arg[dim];
    r->around =
        axe_dist_is_around(c->d, r->sub, axe_dist_value(c->d, NULL, 0, whole));
    *w = (axe_dist_window){.whole = whole, .n = 1, .sub = r};
    return w;
}

/* Do devices hold addends, of which a part is no part of the sum? */
static bool
has_addends(const axe_tensor *t)
{
    return t->held && t->held->n_partial > 0;
}

/* What moves without windows: *total, 0 where nothing does, NO_PLAN where
 * devices cannot be turned so. */
static axe_status
total_of(axe_chooser *c, const axe_node *load, int64_t *total)
{
    const axe_reshard_plan *plan;
    axe_turning            *turning;
    const axe_tensor       *need = axe_needed(c, load, &turning);
    const axe_tensor       *of = axe_between_whole(load->u.tensor);

    axe_mark   m = axe_ctx_mark(c->cx);
    axe_status st =
        turning ? axe_turning_plan(c->cx, c->d, of, need, turning, &plan)
                : axe_dist_reshard(c->cx, c->d, of, need, NULL, &plan);

    if (turning && axe_dist_no_plan(st)) {
        axe_ctx_release(c->cx, m);
        *total = NO_PLAN;
        return AXE_OK;
    }
    AXE_TRY(st);
    *total = plan ? plan->total : 0;
    return AXE_OK;
}

/* A window of each dimension whose subscript is no index alone; false: it is
 * one of no indices. */
static bool
find_windows(axe_chooser *c, axe_halo *h)
{
    const axe_node *load = h->load[0];
    bool            good = true;

    for (int k = 0; k < load->n_arg; k++) {
        axe_dist_turn turn;

        h->index[k] = axe_load_index(c, load, k, &turn);
        if (h->index[k] >= 0 && !turn.index)
            continue;
        h->index[k] = -1;
        h->window[k] = window_over(c, h, k);
        good = good && axe_dist_is_index(load->arg[k]);
    }
    return good;
}

/* Is a dimension needed whole; and does any turn devices? */
static bool
has_whole(const axe_chooser *c, const axe_node *load, bool *turned)
{
    bool whole = false;

    *turned = false;
    for (int k = 0; k < load->n_arg; k++) {
        axe_dist_turn turn;

        whole = axe_load_index(c, load, k, &turn) < 0 || whole;
        *turned = *turned || turn.index;
    }
    return whole;
}

/* The load as a halo of its own; *out NULL: it is needed as it is without. */
static axe_status
candidate(axe_chooser *c, const axe_node *load, const folds *in, axe_halo **out)
{
    axe_halo        *h = axe_new(c->cx, axe_halo);
    const axe_node **list = axe_new_array(c->cx, const axe_node *, 1);
    bool             turned, whole = has_whole(c, load, &turned);

    *out = NULL;
    if ((!whole && !turned) || load == c->numbers || load->n_arg == 0 ||
        has_addends(axe_between_whole(load->u.tensor)))
        return AXE_OK;
    list[0] = load;
    *h = (axe_halo){.of = load->u.tensor,
                    .n_load = 1,
                    .load = list,
                    .variables = variables_of(c, in)};
    if (!find_windows(c, h) || !axe_halo_find_loops(c->cx, c->d, c->s, h))
        return AXE_OK;
    AXE_TRY(total_of(c, load, &h->total));
    if (!whole && h->total != NO_PLAN) /* devices are turned, and no more */
        return AXE_OK;
    *out = h->total > 0 ? h : NULL;
    return AXE_OK;
}

static void
find(finding *f, const axe_node *n, const folds *in)
{
    folds     here = {n, in};
    axe_halo *h;

    if (n->op == AXE_OP_load && f->status == AXE_OK) {
        f->status = candidate(f->c, n, in, &h);
        if (f->status == AXE_OK && h)
            axe_list_push(&f->all, h);
    }
    for (int i = 0; i < n->n_arg && n->op != AXE_OP_load; i++)
        find(f, n->arg[i], n->op == AXE_OP_reduce ? &here : in);
}

/* ---------------------------------------------------------------- merging */

static bool
same_dim(const axe_halo *a, const axe_halo *b, int k)
{
    if (!a->window[k] || !b->window[k])
        return !a->window[k] && !b->window[k] && a->index[k] == b->index[k];
    return axe_dist_window_same(a->window[k], b->window[k]);
}

/* Both windows' subscripts. */
static const axe_dist_window *
joined(axe_ctx *cx, const axe_dist_window *a, const axe_dist_window *b)
{
    axe_dist_window *w = axe_new(cx, axe_dist_window);
    axe_reached     *sub = axe_new_array(cx, axe_reached, a->n + b->n);

    memcpy(sub, a->sub, (size_t)a->n * sizeof *sub);
    memcpy(sub + a->n, b->sub, (size_t)b->n * sizeof *sub);
    *w = (axe_dist_window){.whole = a->whole, .n = a->n + b->n, .sub = sub};
    return w;
}

/* Has each device in the one window what it has in either, and no more? */
static bool
adds_nothing(const axe_dist *d, const axe_dist_window *a,
             const axe_dist_window *b)
{
    if (axe_dist_goes_around(a) || axe_dist_goes_around(b))
        return axe_dist_around_joins(d, a, b);
    for (int64_t q = 0; q < d->n_device; q++) {
        axe_window x = axe_dist_window_at(d, NULL, q, a);
        axe_window y = axe_dist_window_at(d, NULL, q, b);

        if (x.from < x.to && y.from < y.to && (x.from > y.to || y.from > x.to))
            return false;
    }
    return true;
}

/* b becomes a part of a, if their windows differ in one dimension at most. */
static bool
merge(const axe_chooser *c, axe_halo *a, const axe_halo *b)
{
    const axe_dist_window *x, *y, *both = NULL;
    const axe_node       **load;
    int                    dim = -1;

    if (a->of != b->of || a->n_loop > 0 || b->n_loop > 0)
        return false;
    for (int k = 0; k < a->of->rank; k++) {
        if (same_dim(a, b, k))
            continue;
        if (dim >= 0)
            return false;
        dim = k;
    }
    if (dim >= 0) {
        x = a->window[dim] ? a->window[dim] : window_over(c, a, dim);
        y = b->window[dim] ? b->window[dim] : window_over(c, b, dim);
        if (!adds_nothing(c->d, x, y))
            return false;
        both = joined(c->cx, x, y);
        a->window[dim] = both;
    }
    load = axe_new_array(c->cx, const axe_node *, a->n_load + b->n_load);
    memcpy(load, a->load, (size_t)a->n_load * sizeof(void *));
    memcpy(load + a->n_load, b->load, (size_t)b->n_load * sizeof(void *));
    a->load = load;
    a->n_load += b->n_load;
    a->total = a->total > b->total ? a->total : b->total;
    return true;
}

static void
merge_all(const axe_chooser *c, axe_list *l)
{
    for (int i = 0; i < l->n; i++)
        for (int k = i + 1; k < l->n; k++) {
            if (!merge(c, (axe_halo *)l->item[i], l->item[k]))
                continue;
            l->n--;
            memmove(l->item + k, l->item + k + 1,
                    (size_t)(l->n - k) * sizeof l->item[0]);
            i = -1; /* it may be one with others now */
            break;
        }
}

/* -------------------------------------------------------------------- whole
 */

const axe_halo *
axe_halo_of(const axe_chooser *c, const axe_node *load)
{
    for (int i = 0; i < c->halo.n; i++) {
        const axe_halo *h = c->halo.item[i];

        for (int k = 0; k < h->n_load; k++)
            if (h->load[k] == load)
                return h;
    }
    return NULL;
}

const axe_node *
axe_halo_extent(axe_chooser *c, const axe_halo *h, const axe_dist_window *w,
                bool first)
{
    axe_shard p = {.whole = w->whole, .first = first, .window = w};

    return axe_size_of_part(c, p,
                            axe_textf(c->cx, "%s.near%d%s", h->of->name,
                                      c->made.n, first ? ".first" : ""));
}

/* Halos that bring less than blocks do. */
static axe_status
keep(axe_chooser *c, const axe_list *all)
{
    for (int i = 0; i < all->n; i++) {
        const axe_halo         *h = all->item[i];
        const axe_reshard_plan *plan;
        axe_turning            *none;
        int                     n = c->halo.n;

        axe_list_push(&c->halo, h);
        AXE_TRY(axe_halo_plan(c->cx, c->d, NULL,
                              axe_needed(c, h->load[0], &none), h, &plan));
        if (plan->total >= h->total)
            c->halo.n = n;
    }
    return AXE_OK;
}

axe_status
axe_halo_open(axe_chooser *c)
{
    finding f = {.c = c, .all = {.cx = c->cx}};

    c->halo = (axe_list){.cx = c->cx};
    if (c->no_halo || c->d->n_device > AXE_WINDOWED_MOST)
        return AXE_OK;
    find(&f, c->s->value, NULL);
    AXE_TRY(f.status);
    merge_all(c, &f.all);
    return keep(c, &f.all);
}
