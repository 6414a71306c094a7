/* sim.c - a program over devices in the simulator.
 *
 * Statements are done one after the other, each by all devices: a plan between
 * them ends in a meeting, and within a device nothing of another is touched.
 * So what can be out of order is within one statement, and there it is tried.
 * Two that overlap are one for this. */
#include "run/dist/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "machine/machine.h"
#include "run/device.h"
#include "run/dist/dist_sim_int.h"

typedef axe_dist_world world;

/* ------------------------------------------------------------------ arrays */

static void **
parts_of(const world *w, int tensor)
{
    return w->data + tensor * w->d->n_device;
}

static size_t
bytes_of(const world *w, const axe_frame *f, int64_t q, const axe_tensor *t)
{
    return (size_t)axe_type_bytes(t->type,
                                  axe_dist_part_at(w->d, f, q, t, NULL, NULL));
}

static axe_status
make_part(const world *w, const axe_frame *f, int64_t q, const axe_tensor *t,
          void **out)
{
    *out = calloc(bytes_of(w, f, q, t) + 64, 1);
    if (*out)
        return AXE_OK;
    return axe_fail(w->cx, t->at, AXE_EDEVICE,
                    "no memory for device %" PRId64 "'s part of %s", q,
                    t->name);
}

/* Each device's parts of whole arguments; of what holds addends the first
 * device has all. */
static axe_status
take_parts(const world *w, void *const *data)
{
    for (int i = 0; i < axe_dist_n_tensor(w->d); i++)
        for (int64_t q = 0; q < w->d->n_device; q++) {
            const axe_tensor *t = axe_dist_tensor(w->d, i);

            AXE_TRY(make_part(w, NULL, q, t, &parts_of(w, i)[q]));
            if (i >= w->d->k->n_param || !axe_dist_is_first(w->d, q, t))
                continue;
            axe_dist_cut(w->d, q, t, data[i], parts_of(w, i)[q]);
        }
    return AXE_OK;
}

/* ----------------------------------------------------------------- reports */

/* What one device's launches did and have wrong. */
static void
add_report(const world *w, const axe_sim_report *r, int64_t device)
{
    axe_sim_report *out = w->out;
    axe_sim_count  *count =
        axe_new_array(w->cx, axe_sim_count, out->n_count + r->n_count);
    int n = out->n_count;

    for (int i = 0; i < r->n_finding; i++)
        protocol_find(w->cx, out, r->finding[i].kind, r->finding[i].at,
                      axe_textf(w->cx, "device %" PRId64 ": %s", device,
                                r->finding[i].text));
    if (n > 0)
        memcpy(count, out->count, (size_t)n * sizeof *count);
    for (int i = 0; i < r->n_count; i++) {
        int k = 0;

        while (k < n && strcmp(count[k].name, r->count[i].name) != 0)
            k++;
        if (k == n)
            count[n++] = (axe_sim_count){.name = r->count[i].name};
        count[k].n += r->count[i].n;
    }
    out->count = count;
    out->n_count = n;
    out->n_block += r->n_block;
    out->n_inst += r->n_inst;
    out->conflicts += r->conflicts;
    out->global_read += r->global_read;
    out->global_written += r->global_written;
    out->shared_read += r->shared_read;
    out->shared_written += r->shared_written;
    out->products += r->products;
}

/* -------------------------------------------------------------- statements */

static int
sizes_of(const world *w, int64_t q, const axe_kernel *k, const axe_frame *f,
         axe_size *size)
{
    int n = 0;

    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            size[n++] = (axe_size){k->size[i]->name,
                                   axe_dist_size(w->d, f, q, k->size[i])};
    return n;
}

static axe_status
run_device(world *w, const axe_program *p, const axe_frame *f)
{
    const axe_kernel *k = p->kernel;
    axe_array        *array = axe_new_array(w->cx, axe_array, k->n_param);
    axe_size         *size = axe_new_array(w->cx, axe_size, k->n_size);

    for (int64_t q = 0; q < w->d->n_device; q++) {
        axe_sim_report found = {0};

        for (int i = 0; i < k->n_param; i++) {
            int t = axe_dist_find(w->d, k->param[i]->name);

            array[i] =
                axe_dist_array(w->cx, w->d, f, q, axe_dist_tensor(w->d, t),
                               k->param[i]->name, parts_of(w, t)[q]);
        }
        AXE_TRY(axe_program_simulate(w->cx, p, k->n_param, array,
                                     sizes_of(w, q, k, f, size), size, w->with,
                                     &found));
        add_report(w, &found, q);
        if (w->t)
            axe_dist_sim_launched(w, q, &found);
    }
    return AXE_OK;
}

/* A statement that is being done: data[n_arg + 1][n_device], the result last.
 */
typedef struct doing {
    const axe_between *b;
    axe_exec          *e;
    void             **data;
    bool              *own; /* [n_arg + 1] made here */
} doing;

static void **
data_of(const world *w, const doing *s, int i)
{
    return s->data + i * w->d->n_device;
}

static axe_status
make_own(const world *w, const doing *s, int i, const axe_frame *f,
         const axe_tensor *local)
{
    s->own[i] = true;
    for (int64_t q = 0; q < w->d->n_device; q++)
        AXE_TRY(make_part(w, f, q, local, &data_of(w, s, i)[q]));
    return AXE_OK;
}

/* An operand as it is needed. */
static axe_status
bring(world *w, const doing *s, int i, const axe_frame *f)
{
    const axe_between_arg  *a = &s->b->arg[i];
    const axe_reshard_plan *plan = axe_dist_plan_at(w->d, f, a);
    void                  **have = parts_of(w, a->tensor);
    axe_reshard_bound       bound;
    int64_t                 n_number;

    if (!plan) {
        memcpy(data_of(w, s, i), have, (size_t)w->d->n_device * sizeof *have);
        return AXE_OK;
    }
    AXE_TRY(make_own(w, s, i, f, a->local));
    if (a->bound) {
        bound = axe_dist_bound_of(w->cx, w->d, a->bound, &n_number);
        bound.value = data_of(w, s, a->bound->arg)[0];
    }
    return axe_dist_sim_move(w, s->b->stmt->at,
                             axe_dist_tensor(w->d, a->tensor), plan,
                             a->bound ? &bound : NULL, have, data_of(w, s, i));
}

static axe_status
compute(const world *w, const doing *s, const axe_frame *f)
{
    const axe_between *b = s->b;
    const axe_kernel  *k = b->program->kernel;
    axe_array         *array = axe_new_array(w->cx, axe_array, k->n_param);
    axe_size          *size = axe_new_array(w->cx, axe_size, k->n_size);

    for (int64_t q = 0; q < w->d->n_device; q++) {
        for (int i = 0; i < k->n_param; i++)
            array[i] =
                axe_dist_array(w->cx, w->d, f, q,
                               i < b->n_arg ? b->arg[i].local : b->result.local,
                               k->param[i]->name, data_of(w, s, i)[q]);
        AXE_TRY(axe_launch(w->cx, s->e, k->n_param, array,
                           sizes_of(w, q, k, f, size), size));
    }
    return AXE_OK;
}

/* Is a value that becomes an addend another device's? */
static bool
is_zero(const world *w, int64_t q, const axe_tensor *from, const axe_tensor *to)
{
    for (int a = 0; a < w->d->k->n_axis; a++)
        if (axe_dist_makes_addend(from, to, a) &&
            axe_dist_coordinate(w->d, q, a) != 0)
            return true;
    return false;
}

/* What devices have, to where it is to be. */
static axe_status
deliver(world *w, const axe_between *b, const axe_frame *f, void *const *from)
{
    const axe_reshard_plan *plan = axe_dist_plan_at(w->d, f, &b->result);

    int               t = b->result.tensor;
    const axe_tensor *dst = axe_dist_tensor(w->d, t);

    if (plan)
        AXE_TRY(axe_dist_sim_move(w, b->stmt->at, dst, plan, NULL, from,
                                  parts_of(w, t)));
    for (int64_t q = 0; q < w->d->n_device; q++) {
        void  *to = parts_of(w, t)[q];
        size_t bytes = bytes_of(w, f, q, dst);

        if (!plan && from[q] != to)
            memcpy(to, from[q], bytes);
        if (is_zero(w, q, b->result.local, dst))
            memset(to, 0, bytes);
    }
    return AXE_OK;
}

static axe_status
compute_between(world *w, const doing *s, const axe_frame *f)
{
    int n = s->b->n_arg;

    for (int i = 0; i < n; i++)
        AXE_TRY(bring(w, s, i, f));
    AXE_TRY(make_own(w, s, n, f, s->b->result.local));
    AXE_TRY(compute(w, s, f));
    return deliver(w, s->b, f, data_of(w, s, n));
}

static axe_status
run_between(world *w, const axe_stmt *stmt, const axe_frame *f)
{
    const axe_between *b = axe_dist_between(w->p, stmt);
    int                n = b->n_arg + 1;
    doing              s = {.b = b,
                            .e = w->between[b - w->p->between],
                            .data = axe_new_array(w->cx, void *, n * w->d->n_device),
                            .own = axe_new_array(w->cx, bool, n)};
    axe_status         st;

    if (!b->program)
        return deliver(w, b, f, parts_of(w, b->arg[0].tensor));
    st = compute_between(w, &s, f);
    for (int i = 0; i < n; i++)
        for (int64_t q = 0; s.own[i] && q < w->d->n_device; q++)
            free(data_of(w, &s, i)[q]);
    return st;
}

/* ------------------------------------------------------------------- whole */

static axe_status
run_device_stmt(world *w, const axe_stmt *s, const axe_frame *f)
{
    const axe_stmt *const *device;
    int                    n = axe_device_stmts(w->cx, w->d->k, &device);

    for (int k = 0; k < n; k++)
        if (device[k] == s)
            return run_device(w, w->d->program->part[k], f);
    return AXE_OK;
}

static axe_status run_body(world *w, int n, axe_stmt *const *body,
                           const axe_frame *f);

static axe_status
run_stmt(world *w, const axe_stmt *s, const axe_frame *f)
{
    axe_frame one = {.up = f};
    int64_t   n;

    switch (s->kind) {
    case AXE_STMT_DEVICE:
        return run_device_stmt(w, s, f);
    case AXE_STMT_INDEX:
        return run_between(w, s, f);
    case AXE_STMT_IF:
        return axe_dist_value(w->d, f, 0, s->cond)
                   ? run_body(w, s->n_body, s->body, f)
                   : run_body(w, s->n_other, s->other, f);
    case AXE_STMT_FOR:
        one.var = s->var[0];
        n = axe_dist_value(w->d, f, 0, one.var->extent);
        for (; one.value < n; one.value++)
            AXE_TRY(run_body(w, s->n_body, s->body, &one));
        return AXE_OK;
    default:
        return AXE_OK;
    }
}

/* What overlaps: its data move by the lists of pieces, before what uses them or
 * behind what makes them; when, is found behind both. */
static axe_status
run_fused(world *w, const axe_fuse *fuse, const axe_frame *f)
{
    w->fuse = fuse;
    AXE_TRY(run_stmt(w, fuse->first, f));
    if (fuse->second)
        AXE_TRY(run_stmt(w, fuse->second, f));
    AXE_TRY(axe_dist_sim_time_pieces(w));
    w->fuse = NULL;
    return AXE_OK;
}

static axe_status
run_body(world *w, int n, axe_stmt *const *body, const axe_frame *f)
{
    for (int i = 0; i < n; i++) {
        const axe_fuse *fuse = axe_dist_fuse(w->p, body[i]);

        AXE_TRY(fuse ? run_fused(w, fuse, f) : run_stmt(w, body[i], f));
        i += fuse && fuse->second;
    }
    return AXE_OK;
}

/* Results to device 0, and from there to the caller. */
static axe_status
send_home(world *w, void *const *data)
{
    const axe_kernel *k = w->d->k;
    void            **to = axe_new_array(w->cx, void *, w->d->n_device);

    for (int i = 0; i < k->n_param; i++) {
        if (k->param[i]->dir == AXE_DIR_IN)
            continue;
        to[0] = data[i];
        if (w->p->home[i])
            AXE_TRY(axe_dist_sim_move(w, k->param[i]->at, k->param[i],
                                      w->p->home[i], NULL, parts_of(w, i), to));
        else
            memcpy(data[i], parts_of(w, i)[0],
                   bytes_of(w, NULL, 0, k->param[i]));
    }
    return AXE_OK;
}

static axe_status
perform(world *w, void *const *data)
{
    for (int i = 0; i < w->p->n_between; i++)
        if (w->p->between[i].program)
            AXE_TRY(axe_exec_new(w->cx, w->device, w->p->between[i].program,
                                 &w->between[i]));
    AXE_TRY(take_parts(w, data));
    AXE_TRY(run_body(w, w->d->k->n_body, w->d->k->body, NULL));
    if (w->t)
        axe_dist_sim_close_timeline(w);
    return send_home(w, data);
}

axe_status
axe_dist_plan_sim(axe_ctx *cx, const axe_program *p, const int64_t *size,
                  const axe_dist_plan **out)
{
    axe_program *host = axe_new(cx, axe_program);

    *host = *p;
    AXE_TRY(axe_machine_find(cx, "cpu", &host->machine));
    return axe_dist_plan_new(cx, host, size, out);
}

static axe_status
check_room(axe_ctx *cx, axe_span at, const axe_tensor *t,
           const axe_reshard_plan *plan)
{
    return plan ? protocol_check_room(cx, at,
                                      axe_textf(cx, "moving %s", t->name),
                                      program_room(plan))
                : AXE_OK;
}

/* Plans that the simulator would refuse are, before anything is computed. */
static axe_status
check_rooms(axe_ctx *cx, const axe_dist_plan *p)
{
    const axe_kernel *k = p->d.k;

    for (int i = 0; i < p->n_between; i++) {
        const axe_between *b = &p->between[i];

        for (int a = 0; a <= b->n_arg; a++) {
            const axe_between_arg *x = a < b->n_arg ? &b->arg[a] : &b->result;

            AXE_TRY(check_room(cx, b->stmt->at,
                               axe_dist_tensor(&p->d, x->tensor), x->plan));
        }
    }
    for (int i = 0; i < k->n_param; i++)
        if (k->param[i]->dir != AXE_DIR_IN)
            AXE_TRY(check_room(cx, k->param[i]->at, k->param[i], p->home[i]));
    return AXE_OK;
}

axe_status
axe_dist_simulate(axe_ctx *cx, const axe_dist_plan *p,
                  const axe_device_spec *spec, void *const *data,
                  const axe_sim_options *with, axe_sim_report *out)
{
    int64_t    n = axe_dist_n_tensor(&p->d) * p->d.n_device;
    world      w = {.cx = cx,
                    .p = p,
                    .d = &p->d,
                    .with = with,
                    .between = axe_new_array(cx, axe_exec *, p->n_between + 1),
                    .data = axe_new_array(cx, void *, n + 1),
                    .out = out};
    axe_status st = check_rooms(cx, p);

    if (st == AXE_OK)
        st = axe_device_new(cx, spec, &w.device);
    *out = (axe_sim_report){.n_device = p->d.n_device};
    if (st == AXE_OK && with->timeline)
        axe_dist_sim_open_timeline(&w);
    if (st == AXE_OK)
        st = perform(&w, data);
    for (int i = 0; i < p->n_between; i++)
        axe_exec_free(w.between[i]);
    axe_device_free(w.device);
    for (int64_t i = 0; i < n; i++)
        free(w.data[i]);
    return st;
}
