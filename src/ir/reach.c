/* reach.c - index arithmetic stays within int64.
 *
 * What reading and writing outside an argument means, zero and nothing, holds
 * as long as subscripts are the numbers they are written as.  So every sum and
 * product in a subscript, an extent or a condition, and each number of entities
 * of a scope, is bounded by intervals: without sizes when a kernel is verified,
 * with them before it is launched.  The limit is half of int64, so that
 * differences with extents fit, too. */
#include <inttypes.h>

#include "ir/reach.h"

enum { MOST_WORKERS = 1 << 20 };

typedef struct reach {
    axe_ctx          *cx;
    const axe_kernel *k;
    axe_interval     *of;     /* [n_var] */
    const axe_node   *beyond; /* the first that is */
} reach;

static void
look(void *user, const axe_node *n)
{
    reach *r = user;

    axe_interval_in(n, r->of, &r->beyond);
}

/* 0 to below the extent. */
static void
set_range(void *user, const axe_var *v, const axe_node *extent)
{
    reach       *r = user;
    axe_interval e;

    r->of[v->id] = (axe_interval){0, 0, true, false};
    if (!extent)
        return;
    e = axe_interval_in(extent, r->of, &r->beyond);
    r->of[v->id].has_hi = e.has_hi;
    r->of[v->id].hi = e.hi > 0 ? e.hi - 1 : 0;
}

static void
see_ranges(const axe_index_eye *eye, int n, const axe_var *const *v,
           const axe_node *const *extent)
{
    for (int i = 0; i < n; i++)
        eye->range(eye->user, v[i], extent[i]);
}

static void
see_loads(const axe_index_eye *eye, const axe_node *n)
{
    if (n->op == AXE_OP_reduce)
        see_ranges(eye, n->u.reduce.n_over, n->u.reduce.over,
                   n->u.reduce.extent);
    for (int i = 0; i < n->n_arg; i++) {
        if (n->op == AXE_OP_load)
            eye->index(eye->user, n->arg[i]);
        see_loads(eye, n->arg[i]);
    }
}

/* How many entities the scope has: no subscript need tell all its variables. */
static void
see_count(axe_ctx *cx, const axe_index_eye *eye, const axe_stmt *s)
{
    const axe_node *n = s->n_var > 0 ? s->var[0]->extent : NULL, *arg[2];

    for (int i = 1; i < s->n_var; i++) {
        arg[0] = n;
        arg[1] = s->var[i]->extent;
        n = axe_node_new(cx, AXE_OP_mul, AXE_TYPE_INDEX, s->at, 2, arg);
    }
    if (s->n_var > 1)
        eye->index(eye->user, n);
}

static void
see_body(axe_ctx *cx, const axe_index_eye *eye, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        for (int j = 0; j < s->n_var; j++)
            eye->range(eye->user, s->var[j], s->var[j]->extent);
        for (int j = 0; j < s->n_dim; j++)
            eye->range(eye->user, s->dim[j].var, s->dim[j].extent);
        for (int j = 0; s->tensor && j < s->tensor->rank; j++)
            eye->index(eye->user, s->tensor->shape[j]);
        if (s->kind == AXE_STMT_SCOPE && s->scope == AXE_SCOPE_CTA)
            see_count(cx, eye, s);
        if (s->kind == AXE_STMT_IF) {
            for (int j = 0; j < s->cond->n_arg; j++)
                eye->index(eye->user, s->cond->arg[j]);
            see_loads(eye, s->cond);
        }
        if (s->kind == AXE_STMT_INDEX) {
            see_loads(eye, s->dst);
            see_loads(eye, s->value);
        }
        see_body(cx, eye, s->n_body, s->body);
        see_body(cx, eye, s->n_other, s->other);
    }
}

void
axe_kernel_see_indices(axe_ctx *cx, const axe_kernel *k,
                       const axe_index_eye *eye)
{
    see_body(cx, eye, k->n_body, k->body);
}

static const axe_node *
find_beyond(axe_ctx *cx, const axe_kernel *k, const int64_t *size, bool upto)
{
    axe_interval any = {0, 0, true, false};
    reach r = {cx, k, axe_new_array(cx, axe_interval, k->n_var + 1), NULL};

    for (int i = 0; i < k->n_var; i++)
        r.of[i] = any;
    if (k->cores)
        r.of[k->cores->id] = (axe_interval){1, MOST_WORKERS, true, true};
    for (int i = 0; i < k->n_size; i++) {
        axe_interval *s = &r.of[k->size[i]->id];
        if (k->size[i]->is_fixed)
            *s = (axe_interval){k->size[i]->fixed, k->size[i]->fixed, true,
                                true};
        else if (size)
            *s = (axe_interval){upto ? 0 : size[i], size[i], true, true};
    }
    axe_kernel_see_indices(cx, k, &(axe_index_eye){&r, set_range, look});
    return r.beyond;
}

axe_status
axe_kernel_check_reach(axe_ctx *cx, const axe_kernel *k, const int64_t *size,
                       bool upto)
{
    const axe_node *n = find_beyond(cx, k, size, upto);
    axe_buf         with = {.cx = cx};
    axe_status      st;

    if (!n)
        return AXE_OK;
    st = axe_fail(cx, n->at, AXE_EOVERFLOW,
                  "`%s` may be beyond 2^62, and no index is",
                  axe_node_text(cx, n));
    for (int i = 0; i < k->n_size && size; i++)
        axe_putf(&with, "%s%s = %" PRId64, i ? ", " : "", k->size[i]->name,
                 size[i]);
    if (with.len > 0)
        axe_note(cx, AXE_NOWHERE, "with %s", with.text);
    return st;
}

int64_t
axe_kernel_reach(axe_ctx *cx, const axe_kernel *k)
{
    static const int power[] = {48, 40, 31, 28, 24, 20, 16, 12, 8};
    int64_t         *size = axe_new_array(cx, int64_t, k->n_size + 1);

    for (int p = 0; p < AXE_LEN(power); p++) {
        for (int i = 0; i < k->n_size; i++)
            size[i] = INT64_C(1) << power[p];
        if (!find_beyond(cx, k, size, true))
            return INT64_C(1) << power[p];
    }
    return 0;
}
