/* dist_run.c - a program over devices, carried out by ranks that are the
 * devices. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "run/device.h"
#include "run/dist.h"

typedef struct runner {
    axe_ctx             *cx;
    axe_engine          *e;
    const axe_dist_plan *p;
    const axe_dist      *d;
    axe_device          *device;
    int64_t              rank;
    void               **data; /* [n_tensor] this rank's parts */
    axe_exec           **part; /* [n_part] */
    axe_exec           **between;
} runner;

/* ------------------------------------------------------------------ arrays */

static axe_status
room(axe_ctx *cx, const axe_tensor *t, int64_t n, void **out)
{
    *out = n < INT64_MAX / 16
               ? calloc((size_t)axe_type_bytes(t->type, n) + 64, 1)
               : NULL;
    if (*out)
        return AXE_OK;
    return axe_fail(cx, t->at, AXE_EDEVICE,
                    "no memory for this device's part of %s", t->name);
}

static axe_array
array_of(const runner *r, const axe_tensor *t, const char *name, void *data)
{
    int64_t *shape = axe_new_array(r->cx, int64_t, t->rank);

    axe_dist_part(r->d, r->rank, t, NULL, shape);
    return (axe_array){.name = name,
                       .type = axe_type_table[t->type].name,
                       .rank = t->rank,
                       .shape = shape,
                       .data = data};
}

typedef struct slicing {
    axe_type    type;
    char       *local;
    const char *whole;
} slicing;

static void
slice(void *user, int64_t local, int64_t whole, int64_t n)
{
    slicing *s = user;

    memcpy(s->local + axe_type_bytes(s->type, local),
           s->whole + axe_type_bytes(s->type, whole),
           (size_t)axe_type_bytes(s->type, n));
}

/* This rank's parts of whole arguments; of what holds addends the first device
 * has all, and the others zeros. */
static axe_status
take_parts(runner *r, void *const *data)
{
    for (int i = 0; i < axe_dist_n_tensor(r->d); i++) {
        const axe_tensor *t = axe_dist_tensor(r->d, i);
        int64_t           n = axe_dist_part(r->d, r->rank, t, NULL, NULL);

        if (!r->data[i])
            AXE_TRY(room(r->cx, t, n, &r->data[i]));
        if (i >= r->d->k->n_param || n == 0)
            continue;
        if (!axe_dist_is_first(r->d, r->rank, t)) {
            memset(r->data[i], 0, (size_t)axe_type_bytes(t->type, n));
            continue;
        }
        slicing s = {t->type, r->data[i], data[i]};
        axe_dist_runs(r->d, r->rank, t, slice, &s);
    }
    return AXE_OK;
}

/* -------------------------------------------------------------- statements */

static axe_status
launch(runner *r, axe_exec *e, const axe_kernel *k, const axe_array *array,
       const axe_frame *f)
{
    axe_size *size = axe_new_array(r->cx, axe_size, k->n_size);
    int       n = 0;

    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            size[n++] = (axe_size){k->size[i]->name,
                                   axe_dist_size(r->d, f, r->rank, k->size[i])};
    return axe_launch(r->cx, e, k->n_param, array, n, size);
}

static axe_status
run_device(runner *r, int number, const axe_frame *f)
{
    const axe_kernel *k = r->d->program->part[number]->kernel;
    axe_array        *array = axe_new_array(r->cx, axe_array, k->n_param);

    for (int i = 0; i < k->n_param; i++) {
        int t = axe_dist_find(r->d, k->param[i]->name);

        array[i] = array_of(r, axe_dist_tensor(r->d, t), k->param[i]->name,
                            r->data[t]);
    }
    return launch(r, r->part[number], k, array, f);
}

static axe_status
move(runner *r, const axe_tensor *t, const axe_reshard_plan *plan,
     const void *from, void *to)
{
    axe_number type;

    AXE_TRY(axe_dist_number(r->cx, t, &type));
    return axe_reshard_run(r->e, plan, type, from, to, NULL);
}

/* Operands as they are needed; *own: made here. */
static axe_status
bring(runner *r, const axe_between_arg *a, void **data, bool *own)
{
    const axe_tensor *t = axe_dist_tensor(r->d, a->tensor);

    *own = a->plan != NULL;
    *data = r->data[a->tensor];
    if (!a->plan)
        return AXE_OK;
    AXE_TRY(room(r->cx, t, axe_dist_part(r->d, r->rank, a->local, NULL, NULL),
                 data));
    return move(r, t, a->plan, r->data[a->tensor], *data);
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

static axe_status
compute(runner *r, const axe_between *b, axe_exec *e, void **data,
        const axe_frame *f)
{
    const axe_kernel *k = b->program->kernel;
    axe_array        *array = axe_new_array(r->cx, axe_array, k->n_param);

    for (int i = 0; i < k->n_param; i++)
        array[i] = array_of(r, i < b->n_arg ? b->arg[i].local : b->result.local,
                            k->param[i]->name, data[i]);
    return launch(r, e, k, array, f);
}

/* Is a value that becomes an addend another device's? */
static bool
is_zero(const runner *r, const axe_tensor *from, const axe_tensor *to)
{
    for (int a = 0; a < r->d->k->n_axis; a++)
        if (axe_dist_makes_addend(from, to, a) &&
            axe_dist_coordinate(r->d, r->rank, a) != 0)
            return true;
    return false;
}

/* What devices have computed, to where it is to be. */
static axe_status
deliver(runner *r, const axe_between *b, const void *from)
{
    int               t = b->result.tensor;
    const axe_tensor *dst = axe_dist_tensor(r->d, t);
    size_t            bytes = (size_t)axe_type_bytes(
                   dst->type, axe_dist_part(r->d, r->rank, dst, NULL, NULL));

    if (b->result.plan)
        AXE_TRY(move(r, dst, b->result.plan, from, r->data[t]));
    else if (from != r->data[t])
        memcpy(r->data[t], from, bytes);
    if (is_zero(r, b->result.local, dst))
        memset(r->data[t], 0, bytes);
    return AXE_OK;
}

static axe_status
run_between(runner *r, const axe_between *b, axe_exec *e, const axe_frame *f)
{
    int        n = b->n_arg, t = b->result.tensor;
    void     **data = axe_new_array(r->cx, void *, n + 1);
    bool      *own = axe_new_array(r->cx, bool, n + 1);
    axe_status st = AXE_OK;

    if (!b->program)
        return deliver(r, b, r->data[b->arg[0].tensor]);
    for (int i = 0; i < n && st == AXE_OK; i++)
        st = bring(r, &b->arg[i], &data[i], &own[i]);
    own[n] = b->result.plan || reads_result(b);
    data[n] = own[n] ? NULL : r->data[t];
    if (st == AXE_OK && own[n])
        st = room(r->cx, b->result.local,
                  axe_dist_part(r->d, r->rank, b->result.local, NULL, NULL),
                  &data[n]);
    if (st == AXE_OK)
        st = compute(r, b, e, data, f);
    if (st == AXE_OK)
        st = deliver(r, b, data[n]);
    for (int i = 0; i <= n; i++)
        if (own[i])
            free(data[i]);
    return st;
}

static axe_status run_body(runner *r, int n, axe_stmt *const *body,
                           const axe_frame *f);

static axe_status
run_loop(runner *r, const axe_stmt *s, const axe_frame *f)
{
    axe_frame one = {.var = s->var[0], .up = f};
    int64_t   n = axe_dist_value(r->d, f, r->rank, one.var->extent);

    for (; one.value < n; one.value++)
        AXE_TRY(run_body(r, s->n_body, s->body, &one));
    return AXE_OK;
}

static int
device_number(const runner *r, const axe_stmt *s)
{
    const axe_stmt *const *all;
    int                    n = axe_device_stmts(r->cx, r->d->k, &all);

    for (int i = 0; i < n; i++)
        if (all[i] == s)
            return i;
    return 0;
}

static axe_status
run_stmt(runner *r, const axe_stmt *s, const axe_frame *f)
{
    const axe_between *b;

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
run_body(runner *r, int n, axe_stmt *const *body, const axe_frame *f)
{
    for (int i = 0; i < n; i++)
        AXE_TRY(run_stmt(r, body[i], f));
    return AXE_OK;
}

/* ------------------------------------------------------------------- ranks */

static axe_status
load(runner *r)
{
    const axe_program *p = r->d->program;

    for (int i = 0; i < p->n_part; i++)
        AXE_TRY(axe_exec_new(r->cx, r->device, p->part[i], &r->part[i]));
    for (int i = 0; i < r->p->n_between; i++)
        if (r->p->between[i].program)
            AXE_TRY(axe_exec_new(r->cx, r->device, r->p->between[i].program,
                                 &r->between[i]));
    return AXE_OK;
}

/* Results to rank 0. */
static axe_status
send_home(runner *r, void *const *data)
{
    for (int i = 0; i < r->d->k->n_param; i++) {
        const axe_tensor *t = r->d->k->param[i];
        size_t bytes = (size_t)axe_type_bytes(t->type, axe_dist_count(r->d, t));

        if (t->dir == AXE_DIR_IN)
            continue;
        if (r->p->home[i])
            AXE_TRY(move(r, t, r->p->home[i], r->data[i], data[i]));
        else if (r->rank == 0)
            memcpy(data[i], r->data[i], bytes);
    }
    return AXE_OK;
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static axe_status
repeat(runner *r, int n_time, double *times)
{
    const axe_kernel *k = r->d->k;
    axe_mark          m = axe_ctx_mark(r->cx);

    for (int i = 0; i < n_time; i++) {
        double begin;

        AXE_TRY(axe_engine_barrier(r->e));
        begin = now();
        AXE_TRY(run_body(r, k->n_body, k->body, NULL));
        AXE_TRY(axe_engine_barrier(r->e));
        times[i] = now() - begin;
        axe_ctx_release(r->cx, m);
    }
    return AXE_OK;
}

static axe_status
perform(runner *r, void *const *data, int n_time, double *times)
{
    const axe_kernel *k = r->d->k;

    AXE_TRY(load(r));
    AXE_TRY(take_parts(r, data));
    AXE_TRY(run_body(r, k->n_body, k->body, NULL));
    AXE_TRY(send_home(r, data));
    return times ? repeat(r, n_time, times) : AXE_OK;
}

axe_status
axe_dist_on_rank(axe_ctx *cx, axe_engine *e, const axe_dist_plan *p,
                 const axe_device_spec *spec, void *const *data, int n_time,
                 double *times)
{
    int        n = axe_dist_n_tensor(&p->d);
    runner     r = {.cx = cx,
                    .e = e,
                    .p = p,
                    .d = &p->d,
                    .rank = axe_engine_rank(e),
                    .data = axe_new_array(cx, void *, n),
                    .part = axe_new_array(cx, axe_exec *, p->d.program->n_part),
                    .between = axe_new_array(cx, axe_exec *, p->n_between)};
    axe_status st = axe_device_new(cx, spec, &r.device);

    if (st == AXE_OK)
        st = perform(&r, data, n_time, times);
    for (int i = 0; i < p->d.program->n_part; i++)
        axe_exec_free(r.part[i]);
    for (int i = 0; i < p->n_between; i++)
        axe_exec_free(r.between[i]);
    axe_device_free(r.device);
    for (int i = 0; i < n; i++)
        free(r.data[i]);
    return st;
}
