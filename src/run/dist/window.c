/* window.c - what devices look at of an operand's dimensions, and the plans
 * that bring it.
 *
 * A window is the interval of what subscripts come to over the iterations of a
 * device, clipped to the dimension or around it; so it is a number of each
 * device and, where subscripts go by loops around, of their values. */
#include <assert.h>

#include "base/ctx.h"
#include "run/dist/dist_int.h"

enum { MOST_PLANS = 256, MOST_VISITS = 1 << 16 };

/* ---------------------------------------------------------------- intervals
 */

typedef struct asking {
    const axe_dist    *d;
    const axe_frame   *f;
    int64_t            device;
    const axe_reached *r;
} asking;

static axe_interval_known known;

/* Values [first, first + count) of variable i; none if .hi < .lo. */
static axe_interval
values_of(const asking *a, int i)
{
    axe_interval n = axe_interval_where(a->r->count[i], known, a);
    int64_t      first = a->r->first[i]
                             ? axe_dist_value(a->d, a->f, a->device, a->r->first[i])
                             : 0;

    return (axe_interval){first, first + (n.has_hi ? n.hi : 0) - 1, true,
                          n.has_hi};
}

static bool
known(const void *user, const axe_node *n, axe_interval *out)
{
    const asking *a = user;
    int64_t       v;

    if (n->op != AXE_OP_var)
        return false;
    *out = (axe_interval){0};
    for (int i = 0; i < a->r->n_var; i++)
        if (a->r->var[i] == n->u.var) {
            *out = values_of(a, i);
            return true;
        }
    if (n->u.var->kind != AXE_VAR_SIZE && n->u.var->kind != AXE_VAR_LOOP)
        return true;
    v = axe_dist_size(a->d, a->f, a->device, n->u.var);
    *out = (axe_interval){v, v, true, true};
    return true;
}

static axe_dist_reach
clipped(axe_interval r, int64_t whole)
{
    axe_dist_reach w = {0, whole,
                        !r.has_lo || r.lo < 0 || !r.has_hi || r.hi >= whole};

    if (r.has_lo && r.lo > 0)
        w.from = r.lo < whole ? r.lo : whole;
    if (r.has_hi && r.hi < whole)
        w.to = r.hi < 0 ? 0 : r.hi + 1;
    return w.from < w.to ? w : (axe_dist_reach){0, 0, w.clipped};
}

axe_dist_reach
axe_dist_reach_at(const axe_dist *d, const axe_frame *f, int64_t device,
                  const axe_reached *of, int64_t whole)
{
    asking       a = {d, f, device, of};
    axe_interval r;

    for (int i = 0; i < of->n_var; i++) {
        r = values_of(&a, i);
        if (r.has_hi && r.hi < r.lo)
            return (axe_dist_reach){0};
    }
    if (!of->around)
        return clipped(axe_interval_where(of->sub, known, &a), whole);
    r = axe_interval_where(of->sub->arg[0], known, &a);
    if (!r.has_lo || !r.has_hi || r.lo < -AXE_INDEX_MOST / 4 ||
        r.hi > AXE_INDEX_MOST / 4)
        return (axe_dist_reach){0, whole + 1, false};
    return (axe_dist_reach){r.lo, r.hi + 1, false};
}

axe_window
axe_dist_window_at(const axe_dist *d, const axe_frame *f, int64_t device,
                   const axe_dist_window *w)
{
    int64_t    whole = axe_dist_value(d, NULL, device, w->whole);
    axe_window out = {0, 0};

    if (axe_dist_goes_around(w))
        return axe_dist_around_at(d, f, device, w, whole);
    for (int i = 0; i < w->n; i++) {
        axe_dist_reach one =
            axe_dist_reach_at(d, f, device, &w->sub[i], whole < 0 ? 0 : whole);

        if (one.from == one.to)
            continue;
        if (out.from == out.to)
            out = (axe_window){one.from, one.to};
        out.from = one.from < out.from ? one.from : out.from;
        out.to = one.to > out.to ? one.to : out.to;
    }
    return out;
}

const char *
axe_dist_window_text(axe_ctx *cx, const axe_dist_window *w)
{
    axe_buf out = {.cx = cx};

    for (int i = 0; i < w->n; i++)
        axe_putf(&out, "%s%s", i ? ", " : "", axe_node_text(cx, w->sub[i].sub));
    return out.text;
}

/* ------------------------------------------------------------------- equal
 */

static bool
same_node(const axe_node *a, const axe_node *b)
{
    return a == b || (a && b && axe_node_same(a, b));
}

static bool
same_reached(const axe_reached *a, const axe_reached *b)
{
    bool same = a->n_var == b->n_var && a->around == b->around &&
                axe_node_same(a->sub, b->sub);

    for (int i = 0; i < a->n_var && same; i++)
        same = a->var[i] == b->var[i] && same_node(a->first[i], b->first[i]) &&
               same_node(a->count[i], b->count[i]);
    return same;
}

bool
axe_dist_window_same(const axe_dist_window *a, const axe_dist_window *b)
{
    bool same = a->n == b->n && axe_node_same(a->whole, b->whole) &&
                !a->of == !b->of && a->rounds == b->rounds &&
                (!a->of || same_reached(a->of, b->of));

    for (int i = 0; i < a->n && same; i++)
        same = same_reached(&a->sub[i], &b->sub[i]);
    return same;
}

static void
note_other(void *user, const axe_node *n)
{
    bool *other = user;

    *other = *other || n->type != AXE_TYPE_INDEX || n->op == AXE_OP_load ||
             n->op == AXE_OP_reduce || n->op == AXE_OP_cast;
}

bool
axe_dist_is_index(const axe_node *sub)
{
    bool other = false;

    axe_node_walk(sub, note_other, &other);
    return !other;
}

/* ------------------------------------------------------------------- loops
 */

static void
note_loop(void *user, const axe_node *n)
{
    axe_list *l = user;

    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_LOOP &&
        !axe_list_has(l, n->u.var))
        axe_list_push(l, n->u.var);
}

static void
note_loops(const axe_dist_window *w, axe_list *l)
{
    for (int i = 0; i < w->n; i++) {
        axe_node_walk(w->sub[i].sub, note_loop, l);
        for (int v = 0; v < w->sub[i].n_var; v++)
            axe_node_walk(w->sub[i].count[v], note_loop, l);
    }
}

typedef struct visiting {
    axe_ctx        *cx;
    const axe_dist *d;
    const axe_stmt *s;
    axe_halo       *h;
    int             n_visit;
    bool            fails;
    int64_t        *at; /* [MOST_PLANS * n_loop] */
} visiting;

static void
visit(visiting *v, const axe_frame *f)
{
    axe_halo *h = v->h;
    int64_t  *now = v->at + h->n_plan * h->n_loop;

    v->fails = v->fails || ++v->n_visit > MOST_VISITS;
    for (int i = 0; i < h->n_loop; i++)
        now[i] = axe_dist_size(v->d, f, 0, h->loop[i]);
    for (int p = 0; p < h->n_plan; p++) {
        bool same = true;

        for (int i = 0; i < h->n_loop; i++)
            same = same && v->at[p * h->n_loop + i] == now[i];
        if (same)
            return;
    }
    if (h->n_plan == MOST_PLANS)
        v->fails = true;
    else
        h->n_plan++;
}

static bool
has(const visiting *v, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        if (body[i] == v->s || has(v, body[i]->n_body, body[i]->body) ||
            has(v, body[i]->n_other, body[i]->other))
            return true;
    return false;
}

/* As run.c goes; where the statement is not, nothing is done. */
static void
visit_body(visiting *v, int n, axe_stmt *const *body, const axe_frame *f)
{
    for (int i = 0; i < n && !v->fails; i++) {
        const axe_stmt *s = body[i];
        axe_frame       one = {.up = f};
        int64_t         many;

        if (s == v->s)
            visit(v, f);
        if (!has(v, 1, &body[i]) || s == v->s)
            continue;
        if (s->kind == AXE_STMT_IF) {
            bool yes = axe_dist_value(v->d, f, 0, s->cond) != 0;

            visit_body(v, yes ? s->n_body : s->n_other,
                       yes ? s->body : s->other, f);
        }
        if (s->kind != AXE_STMT_FOR)
            continue;
        one.var = s->var[0];
        many = axe_dist_value(v->d, f, 0, one.var->extent);
        for (; one.value < many && !v->fails; one.value++)
            visit_body(v, s->n_body, s->body, &one);
    }
}

bool
axe_halo_find_loops(axe_ctx *cx, const axe_dist *d, const axe_stmt *s,
                    axe_halo *h)
{
    axe_list loop = {.cx = cx};
    visiting v = {.cx = cx, .d = d, .s = s, .h = h};

    for (int k = 0; k < h->of->rank; k++)
        if (h->window[k])
            note_loops(h->window[k], &loop);
    h->n_loop = loop.n;
    h->loop = (const axe_var **)(const void **)loop.item;
    h->n_plan = 0;
    if (loop.n == 0)
        return true;
    v.at = axe_new_array(cx, int64_t, (MOST_PLANS + 1) * loop.n);
    visit_body(&v, d->k->n_body, d->k->body, NULL);
    h->at = v.at;
    return !v.fails;
}

/* ------------------------------------------------------------------- plans
 */

axe_status
axe_halo_plan(axe_ctx *cx, const axe_dist *d, const axe_frame *f,
              const axe_tensor *need, const axe_halo *h,
              const axe_reshard_plan **out)
{
    const axe_tensor   *from = axe_between_whole(h->of);
    axe_reshard_options opt = {.bits = axe_type_table[from->type].bits};
    int                 rank = from->rank;
    axe_window         *w = axe_new_array(cx, axe_window, d->n_device * rank);
    axe_spread          a, b;

    for (int64_t q = 0; q < d->n_device; q++)
        for (int k = 0; k < rank; k++)
            w[q * rank + k] =
                h->window[k]
                    ? axe_dist_window_at(d, f, q, h->window[k])
                    : (axe_window){
                          0, axe_dist_value(d, NULL, 0,
                                            axe_extent_whole(from->shape[k]))};
    AXE_TRY(
        axe_spread_read(cx, d->mesh, axe_dist_spread(cx, d, from, NULL), &a));
    AXE_TRY(
        axe_spread_read(cx, d->mesh, axe_dist_spread(cx, d, need, NULL), &b));
    return axe_reshard_within(cx, d->mesh, &a, &b, w, &opt, out);
}

const axe_frame *
axe_halo_frame(axe_ctx *cx, const axe_halo *h, int p)
{
    axe_frame *f = axe_new_array(cx, axe_frame, h->n_loop + 1);

    for (int i = 0; i < h->n_loop; i++)
        f[i] = (axe_frame){h->loop[i], h->at[p * h->n_loop + i],
                           i > 0 ? &f[i - 1] : NULL};
    return h->n_loop > 0 ? &f[h->n_loop - 1] : NULL;
}

axe_status
axe_halo_plan_loops(axe_ctx *cx, const axe_dist *d, const axe_tensor *need,
                    axe_halo *h, const axe_reshard_plan **out)
{
    h->plan = axe_new_array(cx, const axe_reshard_plan *, h->n_plan + 1);
    for (int p = 0; p < h->n_plan; p++) {
        AXE_TRY(axe_halo_plan(cx, d, axe_halo_frame(cx, h, p), need, h,
                              &h->plan[p]));
        if (p == 0 || h->plan[p]->total > (*out)->total)
            *out = h->plan[p];
    }
    return AXE_OK;
}

const axe_reshard_plan *
axe_halo_plan_at(const axe_dist *d, const axe_frame *f, const axe_halo *h)
{
    for (int p = 0; p < h->n_plan; p++) {
        bool same = true;

        for (int i = 0; i < h->n_loop; i++)
            same = same && h->at[p * h->n_loop + i] ==
                               axe_dist_size(d, f, 0, h->loop[i]);
        if (same)
            return h->plan[p];
    }
    assert(false); /* loops have a value that no plan is for */
    return NULL;
}
