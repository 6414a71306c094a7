/* run.c - a program over devices, carried out by ranks that are the
 * devices. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "run/device.h"
#include "run/dist/run.h"

enum { WORDS = 256 };

/* ------------------------------------------------------------------ arrays */

/* One error, whose words are those of what computes. */
axe_status
axe_dist_room(axe_dist_runner *r, const axe_tensor *t, int64_t n, void **out)
{
    axe_mark m = axe_ctx_mark(r->cx);
    char     why[WORDS] = "its bytes leave int64";

    *out = NULL;
    if (n < INT64_MAX / 16) {
        size_t bytes = (size_t)axe_type_bytes(t->type, n);

        if (r->ops->room(r, bytes, out) == AXE_OK)
            return AXE_OK;
        snprintf(why, sizeof why, "%s", axe_last_error(r->cx));
        axe_ctx_release(r->cx, m);
    }
    return axe_fail(r->cx, t->at, AXE_EDEVICE,
                    "no memory for this device's part of %s: %s", t->name, why);
}

/* Numbers are the caller's in the host's memory: a device has its own. */
static bool
is_apart(const axe_dist_runner *r, const axe_tensor *t)
{
    return t->rank == 0 && !r->ops->is_host;
}

/* Memory of this runner's own for tensors from number `first` on, where there
 * is none. */
static axe_status
make_rooms(axe_dist_runner *r, int first)
{
    for (int i = 0; i < axe_dist_n_tensor(r->d); i++) {
        const axe_tensor *t = axe_dist_tensor(r->d, i);
        int64_t           n = axe_dist_part(r->d, r->rank, t, NULL, NULL);

        if (r->data[i] || (i < first && !is_apart(r, t)))
            continue;
        AXE_TRY(axe_dist_room(r, t, n, &r->data[i]));
        r->own[i] = true;
    }
    return AXE_OK;
}

/* The n elements that this rank has of a whole array of the host's. */
static axe_status
cut(axe_dist_runner *r, const axe_tensor *t, int64_t n, const void *whole,
    void *to)
{
    size_t     bytes = (size_t)axe_type_bytes(t->type, n);
    void      *local = to;
    axe_status st = AXE_OK;

    if (!r->ops->is_host && !(local = malloc(bytes + 8)))
        return axe_fail(r->cx, t->at, AXE_EDEVICE,
                        "no memory for this device's part of %s", t->name);
    axe_dist_cut(r->d, r->rank, t, whole, local);
    if (local != to) {
        st = r->ops->put(r, to, local, bytes);
        free(local);
    }
    return st;
}

/* This rank's parts of whole arguments; of what holds addends the first device
 * has all, and the others zeros. */
static axe_status
take_parts(axe_dist_runner *r, void *const *data)
{
    AXE_TRY(make_rooms(r, 0));
    for (int i = 0; i < r->d->k->n_param; i++) {
        const axe_tensor *t = axe_dist_tensor(r->d, i);
        int64_t           n = axe_dist_part(r->d, r->rank, t, NULL, NULL);

        if (n == 0)
            continue;
        AXE_TRY(axe_dist_is_first(r->d, r->rank, t)
                    ? cut(r, t, n, data[i], r->data[i])
                    : r->ops->zero(r, r->data[i],
                                   (size_t)axe_type_bytes(t->type, n)));
    }
    return AXE_OK;
}

/* -------------------------------------------------------------- statements */

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

axe_status
axe_dist_launch(axe_dist_runner *r, void *e, const axe_kernel *k,
                const axe_array *array, const axe_frame *f, const axe_var *rows,
                int64_t n_row)
{
    axe_size *size = axe_new_array(r->cx, axe_size, k->n_size);
    double    begin;
    int       n = 0;

    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            size[n++] =
                (axe_size){k->size[i]->name,
                           k->size[i] == rows
                               ? n_row
                               : axe_dist_size(r->d, f, r->rank, k->size[i])};
    begin = now();
    AXE_TRY(r->ops->launch(r, e, k, array, n, size));
    r->computing += now() - begin;
    return AXE_OK;
}

static axe_status
run_device(axe_dist_runner *r, int number, const axe_frame *f)
{
    const axe_kernel *k = r->d->program->part[number]->kernel;
    axe_array        *array = axe_new_array(r->cx, axe_array, k->n_param);

    for (int i = 0; i < k->n_param; i++) {
        int t = axe_dist_find(r->d, k->param[i]->name);

        array[i] =
            axe_dist_array(r->cx, r->d, f, r->rank, axe_dist_tensor(r->d, t),
                           k->param[i]->name, r->data[t]);
    }
    AXE_TRY(r->ops->numbers(r, k, array));
    return axe_dist_launch(r, r->part[number], k, array, f, NULL, 0);
}

static axe_status
move(axe_dist_runner *r, const axe_tensor *t, const axe_reshard_plan *plan,
     const void *from, void *to)
{
    axe_number type;

    AXE_TRY(axe_dist_number(r->cx, t, &type));
    r->planned += plan->total * plan->bits / 8;
    return axe_reshard_run(r->e, plan, type, from, to, NULL);
}

axe_status
axe_dist_bring(axe_dist_runner *r, const axe_between *b, int i,
               const axe_frame *f, void **data, bool *own)
{
    const axe_between_arg  *a = &b->arg[i];
    const axe_tensor       *t = axe_dist_tensor(r->d, a->tensor);
    const axe_reshard_plan *plan = axe_dist_plan_at(r->d, f, a);
    int64_t                 n;

    own[i] = plan != NULL;
    data[i] = r->data[a->tensor];
    if (!plan)
        return AXE_OK;
    n = axe_dist_part_at(r->d, f, r->rank, a->local, NULL, NULL);
    AXE_TRY(axe_dist_room(r, t, n, &data[i]));
    return a->bound ? axe_dist_bring_below(r, a, data[a->bound->arg], data[i])
                    : move(r, t, plan, r->data[a->tensor], data[i]);
}

/* Does the statement read, where it is, what it writes there? */
static bool
reads_result(const axe_between *b)
{
    for (int i = 0; i < b->n_arg; i++)
        if (b->arg[i].tensor == b->result.tensor && !b->arg[i].plan)
            return true;
    return false;
}

axe_array *
axe_dist_arrays(const axe_dist_runner *r, const axe_between *b,
                const axe_frame *f, void **data)
{
    const axe_kernel *k = b->program->kernel;
    axe_array        *array = axe_new_array(r->cx, axe_array, k->n_param);

    for (int i = 0; i < k->n_param; i++)
        array[i] =
            axe_dist_array(r->cx, r->d, f, r->rank,
                           i < b->n_arg ? b->arg[i].local : b->result.local,
                           k->param[i]->name, data[i]);
    return array;
}

/* Is a value that becomes an addend another device's? */
static bool
is_zero(const axe_dist_runner *r, const axe_tensor *from, const axe_tensor *to)
{
    for (int a = 0; a < r->d->k->n_axis; a++)
        if (axe_dist_makes_addend(from, to, a) &&
            axe_dist_coordinate(r->d, r->rank, a) != 0)
            return true;
    return false;
}

axe_status
axe_dist_deliver(axe_dist_runner *r, const axe_between *b, const axe_frame *f,
                 const void *from)
{
    const axe_reshard_plan *plan = axe_dist_plan_at(r->d, f, &b->result);

    int               t = b->result.tensor;
    const axe_tensor *dst = axe_dist_tensor(r->d, t);
    size_t            bytes = (size_t)axe_type_bytes(
                   dst->type, axe_dist_part(r->d, r->rank, dst, NULL, NULL));

    if (plan)
        AXE_TRY(move(r, dst, plan, from, r->data[t]));
    else if (from != r->data[t])
        AXE_TRY(r->ops->copy(r, r->data[t], from, bytes));
    return is_zero(r, b->result.local, dst) ? r->ops->zero(r, r->data[t], bytes)
                                            : AXE_OK;
}

axe_status
axe_dist_result(axe_dist_runner *r, const axe_between *b, void **data,
                bool *own)
{
    *own = b->result.plan || reads_result(b);
    *data = r->data[b->result.tensor];
    if (!*own)
        return AXE_OK;
    *data = NULL;
    return axe_dist_room(
        r, b->result.local,
        axe_dist_part(r->d, r->rank, b->result.local, NULL, NULL), data);
}

static axe_status
compute(axe_dist_runner *r, const axe_between *b, void *e, const axe_frame *f,
        void **data)
{
    axe_array *array = axe_dist_arrays(r, b, f, data);

    AXE_TRY(r->ops->numbers(r, b->program->kernel, array));
    return axe_dist_launch(r, e, b->program->kernel, array, f, NULL, 0);
}

static axe_status
run_between(axe_dist_runner *r, const axe_between *b, void *e,
            const axe_frame *f)
{
    int        n = b->n_arg;
    void     **data = axe_new_array(r->cx, void *, n + 1);
    bool      *own = axe_new_array(r->cx, bool, n + 1);
    axe_status st = AXE_OK;

    if (!b->program)
        return axe_dist_deliver(r, b, f, r->data[b->arg[0].tensor]);
    for (int i = 0; i < n && st == AXE_OK; i++)
        st = axe_dist_bring(r, b, i, f, data, own);
    if (st == AXE_OK)
        st = axe_dist_result(r, b, &data[n], &own[n]);
    if (st == AXE_OK)
        st = compute(r, b, e, f, data);
    if (st == AXE_OK)
        st = axe_dist_deliver(r, b, f, data[n]);
    for (int i = 0; i <= n; i++)
        if (own[i])
            r->ops->free(r, data[i]);
    return st;
}

static axe_status run_body(axe_dist_runner *r, int n, axe_stmt *const *body,
                           const axe_frame *f);

static axe_status
run_loop(axe_dist_runner *r, const axe_stmt *s, const axe_frame *f)
{
    axe_frame one = {.var = s->var[0], .up = f};
    int64_t   n = axe_dist_value(r->d, f, r->rank, one.var->extent);

    for (; one.value < n; one.value++)
        AXE_TRY(run_body(r, s->n_body, s->body, &one));
    return AXE_OK;
}

static int
device_number(const axe_dist_runner *r, const axe_stmt *s)
{
    const axe_stmt *const *all;
    int                    n = axe_device_stmts(r->cx, r->d->k, &all);

    for (int i = 0; i < n; i++)
        if (all[i] == s)
            return i;
    return 0;
}

/* Is it in symmetric memory that others may be reading? */
static axe_status
settle_written(axe_dist_runner *r, const axe_stmt *s)
{
    const axe_kernel *k;
    bool              any = false;

    if (s->kind == AXE_STMT_INDEX)
        any = r->home[axe_dist_between(r->p, s)->result.tensor];
    if (s->kind == AXE_STMT_DEVICE) {
        k = r->d->program->part[device_number(r, s)]->kernel;
        for (int i = 0; i < k->n_param; i++)
            any = any || (k->param[i]->dir != AXE_DIR_IN &&
                          r->home[axe_dist_find(r->d, k->param[i]->name)]);
    }
    return any ? axe_dist_settle(r) : AXE_OK;
}

static axe_status
run_stmt(axe_dist_runner *r, const axe_stmt *s, const axe_frame *f)
{
    const axe_between *b;

    AXE_TRY(settle_written(r, s));
    switch (s->kind) {
    case AXE_STMT_DEVICE:
        return run_device(r, device_number(r, s), f);
    case AXE_STMT_INDEX:
        b = axe_dist_between(r->p, s);
        return run_between(r, b, r->between[b - r->p->between], f);
    case AXE_STMT_FOR:
        return run_loop(r, s, f);
    case AXE_STMT_IF:
        return axe_dist_value(r->d, f, r->rank, s->cond)
                   ? run_body(r, s->n_body, s->body, f)
                   : run_body(r, s->n_other, s->other, f);
    default:
        return AXE_OK;
    }
}

static axe_status
run_body(axe_dist_runner *r, int n, axe_stmt *const *body, const axe_frame *f)
{
    for (int i = 0; i < n; i++) {
        const axe_fuse *fuse = r->whole ? NULL : axe_dist_fuse(r->p, body[i]);

        AXE_TRY(fuse ? axe_dist_run_pieces(r, fuse, f)
                     : run_stmt(r, body[i], f));
        i += fuse && fuse->second;
    }
    return AXE_OK;
}

/* ------------------------------------------------------------------- ranks */

static axe_status
load(axe_dist_runner *r)
{
    const axe_program *p = r->d->program;

    AXE_TRY(r->ops->open(r));
    for (int i = 0; i < p->n_part; i++)
        AXE_TRY(r->ops->load(r, p->part[i], &r->part[i]));
    for (int i = 0; i < r->p->n_between; i++)
        if (r->p->between[i].program)
            AXE_TRY(r->ops->load(r, r->p->between[i].program, &r->between[i]));
    if (!r->whole)
        AXE_TRY(axe_dist_pieces_open(r));
    r->end = r->e->used;
    return make_rooms(r, r->d->k->n_param);
}

axe_status
axe_dist_runner_new(axe_ctx *cx, axe_engine *e, const axe_dist_plan *p,
                    axe_device *device, axe_dist_runner **out)
{
    int              n = axe_dist_n_tensor(&p->d);
    axe_dist_runner *r = axe_new(cx, axe_dist_runner);

    *r = (axe_dist_runner){.ops = axe_dist_ops_of(p->d.program),
                           .cx = cx,
                           .e = e,
                           .p = p,
                           .d = &p->d,
                           .device = device,
                           .rank = axe_engine_rank(e),
                           .data = axe_new_array(cx, void *, n),
                           .home = axe_new_array(cx, bool, n),
                           .own = axe_new_array(cx, bool, n),
                           .begin = e->used,
                           .part =
                               axe_new_array(cx, void *, p->d.program->n_part),
                           .between = axe_new_array(cx, void *, p->n_between)};
    *out = r;
    return load(r);
}

axe_status
axe_dist_runner_go(axe_dist_runner *r)
{
    r->e->memory = r->memory;
    AXE_TRY(run_body(r, r->d->k->n_body, r->d->k->body, NULL));
    return r->ops->wait(r);
}

axe_status
axe_dist_runner_free(axe_dist_runner *r, axe_status st)
{
    if (st == AXE_OK)
        st = axe_engine_barrier(r->e); /* nobody reads what is there any more */
    if (st == AXE_OK && r->begin < r->end)
        r->e->used = r->begin;
    for (int i = 0; i < r->d->program->n_part; i++)
        r->ops->unload(r->part[i]);
    for (int i = 0; i < r->p->n_between; i++)
        r->ops->unload(r->between[i]);
    for (int i = 0; i < axe_dist_n_tensor(r->d); i++)
        if (r->own[i])
            r->ops->free(r, r->data[i]);
    r->failed = st != AXE_OK;
    r->ops->close(r);
    return st;
}

/* A result to rank 0, which has it from here on. */
static axe_status
send_one(axe_dist_runner *r, int i, void *to)
{
    const axe_tensor *t = r->d->k->param[i];
    int64_t           n = r->rank == 0 ? axe_dist_count(r->d, t) : 0;
    size_t            bytes = (size_t)axe_type_bytes(t->type, n);
    void             *from = r->data[i], *all = to;
    axe_status        st;

    if (!r->p->home[i])
        return r->ops->get(r, to, from, bytes);
    if (!r->ops->is_host)
        AXE_TRY(axe_dist_room(r, t, n, &all));
    st = move(r, t, r->p->home[i], from, all);
    if (all == to)
        return st;
    if (st == AXE_OK)
        st = r->ops->get(r, to, all, bytes);
    r->ops->free(r, all);
    return st;
}

static axe_status
send_home(axe_dist_runner *r, void *const *data)
{
    for (int i = 0; i < r->d->k->n_param; i++)
        if (r->d->k->param[i]->dir != AXE_DIR_IN)
            AXE_TRY(send_one(r, i, data[i]));
    return AXE_OK;
}

static axe_status
repeat(axe_dist_runner *r, int n_time, axe_dist_time *times)
{
    axe_mark m = axe_ctx_mark(r->cx);

    for (int i = 0; i < n_time; i++) {
        double begin, computing;

        AXE_TRY(axe_engine_barrier(r->e));
        computing = r->computing;
        begin = now();
        AXE_TRY(axe_dist_runner_go(r));
        AXE_TRY(axe_engine_barrier(r->e));
        times[i].seconds = now() - begin;
        computing = r->computing - computing;
        times[i].exposed = r->ops->is_host ? times[i].seconds - computing : -1;
        axe_ctx_release(r->cx, m);
    }
    return AXE_OK;
}

/* What one run has brought to all ranks, by all ranks' counts. */
static axe_status
tell_moved(axe_dist_runner *r, int64_t before)
{
    int64_t  mine = r->e->moved - before;
    int64_t *all = axe_new_array(r->cx, int64_t, r->d->n_device);

    if (!r->p->moved)
        return AXE_OK;
    AXE_TRY(axe_engine_gather(r->e, &mine, sizeof mine, all));
    r->p->moved[0] = 0;
    r->p->moved[1] = r->planned;
    for (int64_t i = 0; i < r->d->n_device; i++)
        r->p->moved[0] += all[i];
    return AXE_OK;
}

static axe_status
perform(axe_dist_runner *r, void *const *data, int n_time, axe_dist_time *times)
{
    int64_t before = r->e->moved;

    AXE_TRY(take_parts(r, data));
    AXE_TRY(axe_dist_runner_go(r));
    AXE_TRY(tell_moved(r, before));
    AXE_TRY(send_home(r, data));
    return times ? repeat(r, n_time, times) : AXE_OK;
}

axe_status
axe_dist_digest(axe_ctx *cx, const axe_program *p, const char **out)
{
    axe_buf text = {.cx = cx};

    AXE_TRY(axe_program_emit(cx, p, AXE_STAGE_IR, &text));
    *out = axe_textf(cx, "%016" PRIx64, axe_text_hash(text.text, text.len));
    return AXE_OK;
}

axe_status
axe_dist_on_rank(axe_ctx *cx, axe_engine *e, const axe_dist_plan *p,
                 const axe_device_spec *spec, void *const *data, int n_time,
                 axe_dist_time *times)
{
    axe_dist_runner *r = NULL;
    axe_device      *device = NULL;
    axe_status       st = axe_device_new(cx, spec, &device);

    if (st == AXE_OK)
        st = axe_dist_runner_new(cx, e, p, device, &r);
    if (st == AXE_OK)
        st = perform(r, data, n_time, times);
    if (r)
        st = axe_dist_runner_free(r, st);
    axe_device_free(device);
    return st;
}
