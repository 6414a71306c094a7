/* rank.c - a program over a mesh on one of an engine's ranks, launched on what
 * the rank has.
 *
 * A plan is of one set of sizes.  It stays, with what is loaded and allocated
 * for it, until a launch has others.  Arrays are the caller's and used where
 * they are, but for those that other ranks read or write while kernels run:
 * these are in symmetric memory, and copied in and out. */
#include "run/dist/rank.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

bool
axe_program_on_mesh(const axe_program *p)
{
    return p && p->meshed;
}

/* ------------------------------------------------------------------ contexts
 */

/* An engine tells what went wrong to the ctx that opened it; during a call it
 * is the program's, which the caller looks at. */
static axe_ctx *
listen(axe_rank_exec *x)
{
    axe_ctx *was = x->e->cx;

    x->e->cx = x->cx;
    return was;
}

axe_status
axe_rank_end(const axe_rank_exec *x, axe_status st)
{
    if (st != AXE_OK)
        x->e->ops->fail(x->e, axe_last_error(x->cx));
    return st;
}

/* ------------------------------------------------------------ making, freeing
 */

axe_status
axe_rank_exec_new(axe_ctx *cx, axe_engine *e, axe_device *device,
                  const axe_program *p, axe_rank_exec **out)
{
    AXE_NEED(cx, e);
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    AXE_TRY(axe_device_check(cx, __func__, device));
    axe_rank_exec *x;
    const char    *digest;

    AXE_TRY(axe_dist_check(cx, p));
    AXE_TRY(axe_dist_digest(cx, p, &digest));
    x = calloc(1, sizeof *x);
    if (!x)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for an exec of a rank");
    x->tag = AXE_TAG_RANK_EXEC;
    x->cx = cx;
    x->e = e;
    x->device = device;
    x->p = p;
    x->digest = digest;
    *out = x;
    return AXE_OK;
}

static axe_status
drop(axe_rank_exec *x, axe_status st)
{
    if (x->runner)
        st = axe_dist_runner_free(x->runner, st);
    x->runner = NULL;
    x->plan = NULL;
    x->seen = NULL;
    return st;
}

static bool
is_in_heap(const axe_rank_exec *x)
{
    const axe_rank_exec *at = x->e->execs;

    while (at && at != x)
        at = at->below;
    return at != NULL;
}

/* All that hangs on sizes.  Symmetric memory is given back in the order that it
 * was taken, the last first: others that took some later plan again. */
static axe_status
forget(axe_rank_exec *x, axe_status st)
{
    while (is_in_heap(x)) {
        axe_rank_exec *last = x->e->execs;

        x->e->execs = last->below;
        st = drop(last, st);
    }
    return drop(x, st);
}

static void
note_heap(axe_rank_exec *x)
{
    if (x->runner->begin == x->runner->end)
        return;
    x->below = x->e->execs;
    x->e->execs = x;
}

axe_status
axe_rank_exec_free(axe_rank_exec *x)
{
    axe_ctx   *was;
    axe_status st;

    if (!x || x->tag != AXE_TAG_RANK_EXEC)
        return x ? AXE_EARG : AXE_OK;
    was = listen(x);
    st = forget(x, AXE_OK);
    x->e->cx = was;
    axe_tag_drop(&x->tag);
    free(x);
    return st;
}

/* ---------------------------------------------------------------- launching */

static bool
is_planned(const axe_rank_exec *x, const axe_rank_bound *b)
{
    return x->runner &&
           (x->p->kernel->n_size == 0 ||
            memcmp(x->size, b->size,
                   (size_t)x->p->kernel->n_size * sizeof *b->size) == 0);
}

/* Rank 0 compiles, and the others find it in the cache. */
static axe_status
warm(const axe_rank_exec *x)
{
    if (x->e->rank == 0)
        AXE_TRY(axe_dist_warm(x->cx, x->device, x->plan));
    return axe_engine_barrier(x->e);
}

/* Reading a layout keeps its text for ever: not at each launch. */
static void
note_layouts(axe_rank_exec *x, const axe_rank_bound *b)
{
    int n = x->p->meshed->n_param;

    x->seen = axe_new_array(x->cx, axe_rank_seen, n);
    for (int i = 0; i < n; i++) {
        const axe_local *l = b->of[i];

        if (l->layout)
            x->seen[i].layout = axe_textf(x->cx, "%s", l->layout);
        if (l->layout && l->format)
            x->seen[i].format = axe_textf(x->cx, "%s", l->format);
        x->seen[i].whole = b->whole[i];
    }
}

static axe_status
plan(axe_rank_exec *x, const axe_rank_bound *b)
{
    axe_dist_options o = {.measured = axe_engine_name(x->e)};

    AXE_TRY(forget(x, AXE_OK));
    AXE_TRY(axe_dist_plan_with(x->cx, x->p, b->size, &o, &x->plan));
    x->size = b->size;
    AXE_TRY(warm(x));
    AXE_TRY(axe_dist_runner_new(x->cx, x->e, x->plan, x->device, &x->runner));
    note_heap(x);
    note_layouts(x, b);
    return AXE_OK;
}

static size_t
bytes_of(const axe_rank_exec *x, int param)
{
    const axe_tensor *t = x->p->meshed->param[param];

    return (size_t)axe_type_bytes(
        t->type, axe_dist_part(&x->plan->d, x->e->rank, t, NULL, NULL));
}

static axe_status
check_overlap(const axe_rank_exec *x, const axe_rank_bound *b)
{
    int      n = x->p->meshed->n_param;
    int64_t *bytes = axe_new_array(x->cx, int64_t, n);
    void   **data = axe_new_array(x->cx, void *, n);

    for (int i = 0; i < n; i++) {
        bytes[i] = (int64_t)bytes_of(x, i);
        data[i] = b->of[i]->array.data;
    }
    return axe_bound_check_overlap(x->cx, x->p->meshed, bytes, data);
}

/* The caller's array is elsewhere: it is a number of a device, which the caller
 * has in the host's memory, or this rank's is in memory that others read. */
static bool
is_copied(const axe_dist_runner *r, int param)
{
    return r->home[param] || r->own[param];
}

static axe_status
take_in(const axe_rank_exec *x, const axe_rank_bound *b)
{
    axe_dist_runner *r = x->runner;

    AXE_TRY(axe_dist_settle(r));
    for (int i = 0; i < x->p->meshed->n_param; i++) {
        const axe_array *a = &b->of[i]->array;

        if (!is_copied(r, i))
            r->data[i] = a->data;
        else if (x->p->meshed->param[i]->dir != AXE_DIR_OUT && a->data)
            AXE_TRY((r->own[i] ? r->ops->put : r->ops->copy)(
                r, r->data[i], a->data, bytes_of(x, i)));
    }
    return AXE_OK;
}

static axe_status
give_out(const axe_rank_exec *x, const axe_rank_bound *b)
{
    axe_dist_runner *r = x->runner;

    for (int i = 0; i < x->p->meshed->n_param; i++)
        if (is_copied(r, i) && b->of[i]->array.data &&
            x->p->meshed->param[i]->dir != AXE_DIR_IN)
            AXE_TRY((r->own[i] ? r->ops->get : r->ops->copy)(
                r, b->of[i]->array.data, r->data[i], bytes_of(x, i)));
    return r->ops->wait(r);
}

static axe_status
go(axe_rank_exec *x, const axe_rank_bound *b)
{
    AXE_TRY(check_overlap(x, b));
    AXE_TRY(take_in(x, b));
    AXE_TRY(axe_dist_runner_go(x->runner));
    return give_out(x, b);
}

/* Behind here an error of one rank is no longer one of all. */
static axe_status
launch(axe_rank_exec *x, const axe_rank_bound *b, axe_mark m)
{
    bool       known = is_planned(x, b);
    axe_status st = known ? AXE_OK : plan(x, b);

    if (st == AXE_OK && !known)
        m = axe_ctx_mark(x->cx);
    if (st == AXE_OK)
        st = go(x, b);
    if (st == AXE_OK)
        axe_ctx_release(x->cx, m);
    else
        forget(x, axe_rank_end(x, st));
    return st;
}

axe_status
axe_rank_launch(axe_ctx *cx, axe_rank_exec *x, int n_local,
                const axe_local *local, int n_size, const axe_size *size)
{
    AXE_NEED_TAG(cx, x, RANK_EXEC);
    AXE_NEED_ALL(cx, n_local, local);
    AXE_NEED_ALL(cx, n_size, size);
    axe_mark       m = axe_ctx_mark(x->cx);
    axe_ctx       *was;
    axe_rank_bound b;
    axe_status     st;

    AXE_TRY(axe_kernel_own(cx, x->p->meshed));
    was = listen(x);
    st = axe_rank_bind(x, n_local, local, n_size, size, true, &b);
    if (st == AXE_OK)
        st = launch(x, &b, m);
    x->e->cx = was;
    return st;
}

/* ------------------------------------------------------------------- looking
 */

axe_status
axe_rank_shapes(axe_ctx *cx, axe_rank_exec *x, int n_local,
                const axe_local *local, int n_size, const axe_size *size,
                axe_shape *shape)
{
    AXE_NEED_TAG(cx, x, RANK_EXEC);
    AXE_NEED_ALL(cx, n_local, local);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, shape);
    const axe_kernel *k = x->p->meshed;
    axe_ctx          *was;
    axe_rank_bound    b;
    axe_status        st;

    AXE_TRY(axe_kernel_own(cx, k));
    was = listen(x);
    st = axe_rank_bind(x, n_local, local, n_size, size, false, &b);
    x->e->cx = was;
    AXE_TRY(st);
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        int64_t          *part = axe_new_array(cx, int64_t, t->rank);

        if (!b.shape[i])
            return axe_shapes_missing(cx, x->p->kernel,
                                      &(axe_bound){.unknown = b.unknown}, t);
        if (axe_dist_part(&b.d, x->e->rank, t, NULL, part) == 0 &&
            t->rank > 0 && t->held && t->held->n_at > 0)
            part[0] = 0;
        shape[i] = (axe_shape){t->rank, part};
    }
    return AXE_OK;
}

const char *
axe_rank_layout(axe_ctx *cx, const axe_rank_exec *x, int param)
{
    if (!cx || !x || !x->plan || param < 0 || param >= x->p->meshed->n_param)
        return NULL;
    return axe_dist_spread(cx, &x->plan->d, x->p->meshed->param[param], NULL);
}
