/* plan.c - all that is between devices, planned at one set of sizes. */
#include "base/ctx.h"
#include "ir/list.h"
#include "machine/machine.h"
#include "run/dist/run.h"
#include "run/target.h"

enum {
    DEVICE_GRAIN = 256, /* [bytes] of buffers */
    FUSE_BUFFERS = 3    /* of one that overlaps */
};

const axe_dist_ops *
axe_dist_ops_of(const axe_program *p)
{
    return axe_target_of(p->machine)->dist;
}

static void
find_between(axe_list *out, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            axe_list_push(out, body[i]);
        if (body[i]->kind == AXE_STMT_DEVICE)
            continue;
        find_between(out, body[i]->n_body, body[i]->body);
        find_between(out, body[i]->n_other, body[i]->other);
    }
}

/* Devices that no engine has as ranks need no memory of ranks: theirs is a plan
 * to look at, and it may be of 2^40 of them. */
static bool
can_run(const axe_dist_plan *p)
{
    return p->d.n_device <= ENGINE_RANKS;
}

static void
need_heap(axe_dist_plan *p, const axe_reshard_plan *r)
{
    int64_t n = r && can_run(p) ? axe_reshard_heap(r) : 0;

    p->heap = n > p->heap ? n : p->heap;
}

static void
need_heap_of(axe_dist_plan *p, const axe_between_arg *a)
{
    need_heap(p, a->plan);
    for (int64_t i = 0; a->turning && i < a->turning->n_plan; i++)
        need_heap(p, a->turning->plan[i]);
    for (int i = 0; a->halo && i < a->halo->n_plan; i++)
        need_heap(p, a->halo->plan[i]);
}

/* How results come to where they are kept: to device 0. */
static axe_status
plan_homes(axe_ctx *cx, axe_dist_plan *p)
{
    const axe_reshard_plan **home =
        axe_new_array(cx, const axe_reshard_plan *, p->d.k->n_param);
    axe_held *h = axe_new(cx, axe_held);
    int      *at = axe_new_array(cx, int, p->d.k->n_axis);

    h->n_at = p->d.k->n_axis;
    h->at = at;
    h->coordinate = axe_new_array(cx, int64_t, h->n_at);
    for (int i = 0; i < h->n_at; i++)
        at[i] = i;
    for (int i = 0; i < p->d.k->n_param; i++) {
        const axe_tensor *t = p->d.k->param[i];
        axe_tensor       *there = axe_new(cx, axe_tensor);

        if (t->dir == AXE_DIR_IN)
            continue;
        *there = *t->whole;
        there->held = h;
        AXE_TRY(axe_dist_reshard(cx, &p->d, t, there, NULL, &home[i]));
        need_heap(p, home[i]);
    }
    p->home = home;
    return AXE_OK;
}

/* Where there are none, what is known of all of that name stays. */
static axe_status
take_measured(axe_ctx *cx, const axe_dist_options *opt, axe_dist *d)
{
    for (int i = 0; opt->measured && i < d->mesh->n_link; i++) {
        axe_link l;
        bool     found;

        AXE_TRY(axe_links_find(cx, opt->records, opt->measured,
                               d->mesh->link[i].name, &l, &found));
        if (found)
            d->mesh = axe_mesh_with(cx, d->mesh, &l);
    }
    return AXE_OK;
}

static void
grow(int64_t *heap, int64_t by)
{
    int64_t most = INT64_MAX / 2; /* which no memory has */

    if (!axe_add(*heap, by, heap) || *heap > most)
        *heap = most;
}

/* The orders of pieces of what overlaps, and where it begins and ends, on
 * devices of their own with what waits to be added. */
static axe_status
need_heap_of_fuses(axe_ctx *cx, axe_dist_plan *p, bool is_host)
{
    for (int i = 0; i < p->n_fuse && can_run(p); i++) {
        const axe_fuse *f = &p->fuse[i];
        int64_t        *heap = is_host ? &p->heap : &p->device_heap;
        int64_t         landing;

        grow(&p->heap, ENGINE_PIECES_HEAP);
        grow(heap, axe_reshard_heap(f->plan));
        if (is_host)
            continue;
        AXE_TRY(engine_pieces_landing(cx, f->plan, f->giving, &landing));
        grow(heap, landing);
        grow(heap, FUSE_BUFFERS * DEVICE_GRAIN);
    }
    return AXE_OK;
}

axe_status
axe_dist_plan_new(axe_ctx *cx, const axe_program *of, const int64_t *size,
                  const axe_dist_plan **out)
{
    return axe_dist_plan_with(cx, of, size, NULL, out);
}

axe_status
axe_dist_not_for(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc)
{
    return axe_fail(cx, k->at, AXE_EUNSUPPORTED,
                    "kernel %s is compiled for %s, and devices of a mesh are "
                    "CPUs and NVIDIA GPUs so far",
                    k->name, mc->name);
}

axe_status
axe_dist_plan_with(axe_ctx *cx, const axe_program *of, const int64_t *size,
                   const axe_dist_options *opt, const axe_dist_plan **out)
{
    static const axe_dist_options none;
    axe_dist_plan                *p = axe_new(cx, axe_dist_plan);
    axe_list                      all = {.cx = cx};

    const axe_dist_ops *ops = axe_dist_ops_of(of);

    if (!ops)
        return axe_dist_not_for(cx, of->kernel, of->machine);
    opt = opt ? opt : &none;
    p->one_by_one = opt->one_by_one;
    p->moved = opt->moved;
    AXE_TRY(axe_dist_open(cx, of, size, &p->d));
    AXE_TRY(take_measured(cx, opt, &p->d));
    find_between(&all, p->d.k->n_body, p->d.k->body);
    p->n_between = all.n;
    p->between = axe_new_array(cx, axe_between, all.n);
    for (int i = 0; i < all.n; i++) {
        axe_between *b = &p->between[i];

        AXE_TRY(axe_between_plan(cx, &p->d, all.item[i], i, b));
        need_heap_of(p, &b->result);
        for (int k = 0; k < b->n_arg; k++)
            need_heap_of(p, &b->arg[k]);
    }
    AXE_TRY(plan_homes(cx, p));
    if (!ops->is_host) {
        p->device_heap = p->heap + DEVICE_GRAIN;
        p->heap = 0;
    }
    axe_dist_find_fuses(cx, p);
    AXE_TRY(need_heap_of_fuses(cx, p, ops->is_host));
    *out = p;
    return AXE_OK;
}

const axe_between *
axe_dist_between(const axe_dist_plan *p, const axe_stmt *s)
{
    for (int i = 0; i < p->n_between; i++)
        if (p->between[i].stmt == s)
            return &p->between[i];
    return NULL;
}
