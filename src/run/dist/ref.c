/* ref.c - what a program over devices means: all devices at once, by
 * definition.
 *
 * Each device has its parts of all tensors, as values with bounds.  What stands
 * in `device` is done by the reference of one device on each device's parts.  A
 * statement between devices is done once, on whole tensors: collected from who
 * holds what, addends summed, and given to who is to hold what.  Nothing of the
 * plans between devices is used. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "run/device.h"
#include "run/dist/dist.h"
#include "run/ref/ref_int.h"

/* A tensor, or a device's part of it: doubles, or int64 if it is of integers.
 */
typedef struct part {
    void   *value;
    double *bound;
} part;

typedef struct referee {
    axe_ctx    *cx;
    axe_device *device;
    axe_dist    d;
    part       *of; /* [n_tensor][n_device] */
} referee;

static part *
part_of(const referee *r, int tensor, int64_t device)
{
    return &r->of[tensor * r->d.n_device + device];
}

static bool
make_part(int64_t n, part *p)
{
    if (n < 0 || n > (int64_t)(SIZE_MAX / 32))
        return false;
    p->value = calloc((size_t)n + 1, 8);
    p->bound = calloc((size_t)n + 1, sizeof p->bound[0]);
    return p->value && p->bound;
}

static void
free_part(part *p)
{
    free(p->value);
    free(p->bound);
}

static axe_status
no_memory(axe_ctx *cx, const axe_tensor *t)
{
    return axe_fail(cx, t->at, AXE_EDEVICE,
                    "no memory for a reference of %s in double", t->name);
}

/* ------------------------------------------------- whole tensors and parts */

typedef struct copying {
    const axe_tensor *t;
    part              whole;
    const part       *mine;
    bool              zero; /* it holds addends, which are another device's */
    /* Collecting: elements that somebody was found to hold. */
    int8_t *seen;
    double *size; /* sum of addends' magnitudes */
    int64_t differs;
} copying;

static void
give(void *user, int64_t local, int64_t whole, int64_t n)
{
    copying *c = user;
    size_t   bytes = (size_t)n * 8;

    if (c->zero)
        return;
    memcpy((double *)c->mine->value + local, (double *)c->whole.value + whole,
           bytes);
    if (c->whole.bound)
        memcpy(c->mine->bound + local, c->whole.bound + whole, bytes);
}

static void
distribute(const referee *r, int tensor, part whole)
{
    for (int64_t q = 0; q < r->d.n_device; q++) {
        copying c = {.t = axe_dist_tensor(&r->d, tensor),
                     .whole = whole,
                     .mine = part_of(r, tensor, q)};
        int64_t n = axe_dist_part(&r->d, q, c.t, NULL, NULL);

        memset(c.mine->value, 0, (size_t)n * 8);
        memset(c.mine->bound, 0, (size_t)n * 8);
        c.zero = !axe_dist_is_first(&r->d, q, c.t);
        axe_dist_runs(&r->d, q, c.t, give, &c);
    }
}

static bool
is_far(double a, double b, double bound)
{
    return a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= bound) &&
           !isnan(bound);
}

static void
collect_one(copying *c, int64_t from, int64_t to, bool add)
{
    bool     real = axe_type_is_float(c->t->type);
    double  *value = c->whole.value, *mine = c->mine->value;
    int64_t *whole = c->whole.value, *own = c->mine->value;
    double   e = c->mine->bound[from];

    if (!c->seen[to]) {
        whole[to] = own[from]; /* the bits of a double, too */
        c->whole.bound[to] = e;
        c->size[to] = real ? fabs(mine[from]) : 0;
    } else if (add && real) {
        value[to] += mine[from];
        c->size[to] += fabs(mine[from]);
        c->whole.bound[to] += e;
    } else if (add) {
        whole[to] = axe_whole_wrap(
            c->t->type, (int64_t)((uint64_t)whole[to] + (uint64_t)own[from]));
        c->whole.bound[to] += e;
    } else if (real ? is_far(value[to], mine[from], e + c->whole.bound[to])
                    : whole[to] != own[from] && e + c->whole.bound[to] <= 0)
        c->differs = c->differs < 0 ? to : c->differs;
    c->seen[to] = 1;
}

static void
take(void *user, int64_t local, int64_t whole, int64_t n)
{
    copying *c = user;

    for (int64_t i = 0; i < n; i++)
        collect_one(c, local + i, whole + i, c->zero);
}

/* Devices that differ in other coordinates than those of addends hold copies.
 */
static bool
is_copy(const axe_dist *d, int64_t a, int64_t b, const axe_tensor *t)
{
    for (int i = 0; t->held && i < t->held->n_partial; i++)
        if (axe_dist_coordinate(d, a, t->held->partial[i]) !=
            axe_dist_coordinate(d, b, t->held->partial[i]))
            return false;
    return true;
}

/* Addends of the devices q alone, to `out`. */
static axe_status
collect_addend(const referee *r, int tensor, int64_t q, part out, double *size)
{
    const axe_tensor *t = axe_dist_tensor(&r->d, tensor);
    int64_t           n = axe_dist_count(&r->d, t);
    copying           c = {.t = t, .whole = out, .size = size, .differs = -1};

    c.seen = calloc((size_t)n + 1, 1);
    if (!c.seen)
        return no_memory(r->cx, t);
    memset(out.value, 0, (size_t)n * 8);
    memset(out.bound, 0, (size_t)n * 8);
    memset(size, 0, (size_t)n * sizeof *size);
    for (int64_t p = 0; p < r->d.n_device; p++) {
        if (!is_copy(&r->d, p, q, t))
            continue;
        c.mine = part_of(r, tensor, p);
        axe_dist_runs(&r->d, p, t, take, &c);
        if (c.differs < 0)
            continue;
        free(c.seen);
        axe_status st = axe_fail(
            r->cx, t->at, AXE_ESHAPE,
            "devices hold copies of `%s`, and device %" PRId64
            " has another value of element %" PRId64 " than one before it",
            t->name, p, c.differs);
        axe_help(r->cx,
                 "write the same on all devices, or declare `%s` cut "
                 "or `partial`",
                 t->name);
        return st;
    }
    free(c.seen);
    return AXE_OK;
}

/* What rounding each of the sums may do: as the reference has it for sums. */
static double
rounding(axe_type t, int64_t n, double size)
{
    axe_float_format f;
    double           m = (double)n, most = 4 * sqrt(m);

    if (n < 2 || !axe_float_format_of(t, &f))
        return 0;
    return (m < most ? m : most) * ldexp(1, 1 - f.p) * size;
}

/* out += one, elementwise. */
static void
add_addend(const axe_tensor *t, int64_t n, part out, part one, double *size)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t *a = (int64_t *)out.value + i, b = ((int64_t *)one.value)[i];

        if (axe_type_is_float(t->type)) {
            ((double *)out.value)[i] += ((double *)one.value)[i];
            size[i] += fabs(((double *)one.value)[i]);
        } else
            *a = axe_whole_wrap(t->type, (int64_t)((uint64_t)*a + (uint64_t)b));
        out.bound[i] += one.bound[i];
    }
}

/* The sum of all addends, in out: [count], zeros. */
static axe_status
sum_addends(const referee *r, int tensor, part out, part one, double *size)
{
    const axe_tensor *t = axe_dist_tensor(&r->d, tensor);
    int64_t           n = axe_dist_count(&r->d, t), n_addend = 0;
    axe_float_format  f;

    memset(size, 0, (size_t)n * sizeof *size);
    for (int64_t q = 0; q < r->d.n_device; q++) {
        bool first = true;

        for (int64_t p = 0; p < q && first; p++)
            first = !is_copy(&r->d, p, q, t);
        if (!first)
            continue;
        AXE_TRY(collect_addend(r, tensor, q, one, size + n));
        add_addend(t, n, out, one, size);
        n_addend++;
    }
    for (int64_t i = 0; i < n && n_addend > 1; i++)
        out.bound[i] += rounding(t->type, n_addend, size[i]);
    if (n_addend > 1 && axe_float_format_of(t->type, &f) && f.p < DBL_MANT_DIG)
        for (int64_t i = 0; i < n; i++)
            ((double *)out.value)[i] =
                axe_float_round(&f, ((double *)out.value)[i]);
    return AXE_OK;
}

/* The whole tensor from its parts, in new memory. */
static axe_status
collect(const referee *r, int tensor, part *out)
{
    const axe_tensor *t = axe_dist_tensor(&r->d, tensor);
    int64_t           n = axe_dist_count(&r->d, t);
    part              one = {NULL, NULL};
    double           *size = calloc(2 * (size_t)n + 1, sizeof *size);
    axe_status        st;

    *out = one;
    st = size && make_part(n, out) && make_part(n, &one)
             ? sum_addends(r, tensor, *out, one, size)
             : no_memory(r->cx, t);
    free_part(&one);
    free(size);
    return st;
}

/* -------------------------------------------------------------- statements */

static axe_status
call(const referee *r, const axe_kernel *k, const part *of, int64_t device,
     const axe_frame *f)
{
    axe_ctx *cx = r->cx;
    void   **value = axe_new_array(cx, void *, k->n_param);
    double **bound = axe_new_array(cx, double *, k->n_param);
    int64_t *size = axe_new_array(cx, int64_t, k->n_size);

    for (int i = 0; i < k->n_param; i++) {
        const part *p = &of[axe_dist_find(&r->d, k->param[i]->name)];

        value[i] = p->value;
        bound[i] = k->param[i]->dir == AXE_DIR_IN ? NULL : p->bound;
    }
    for (int i = 0; i < k->n_size; i++)
        size[i] = axe_dist_size(&r->d, f, device, k->size[i]);
    return axe_ref_call(cx, r->device, k, value, bound, size);
}

static axe_status
refer_device(const referee *r, const axe_stmt *s, const axe_frame *f)
{
    int               n = axe_dist_n_tensor(&r->d);
    part             *of = axe_new_array(r->cx, part, n);
    const axe_kernel *k;

    AXE_TRY(axe_device_kernel(r->cx, r->d.k, s, 0, true, &k));
    for (int64_t q = 0; q < r->d.n_device; q++) {
        for (int i = 0; i < n; i++)
            of[i] = *part_of(r, i, q);
        AXE_TRY(call(r, k, of, q, f));
    }
    return AXE_OK;
}

/* Once, on whole tensors. */
static axe_status
refer_between(const referee *r, const axe_stmt *s, const axe_frame *f)
{
    axe_stmt         *body[1];
    axe_stmt          as = {.kind = AXE_STMT_DEVICE, .at = s->at, .n_body = 1};
    int               dst = axe_dist_find(&r->d, s->dst->u.tensor->name);
    part             *of = axe_new_array(r->cx, part, axe_dist_n_tensor(&r->d));
    axe_status        st = AXE_OK;
    const axe_kernel *k;

    body[0] = axe_new(r->cx, axe_stmt);
    *body[0] = *s;
    as.body = body;
    AXE_TRY(axe_device_kernel(r->cx, r->d.k, &as, 0, true, &k));
    for (int i = 0; i < k->n_param && st == AXE_OK; i++) {
        int t = axe_dist_find(&r->d, k->param[i]->name);
        st = collect(r, t, &of[t]);
    }
    if (st == AXE_OK)
        st = call(r, k, of, 0, f);
    if (st == AXE_OK)
        distribute(r, dst, of[dst]);
    for (int i = 0; i < axe_dist_n_tensor(&r->d); i++)
        free_part(&of[i]);
    return st;
}

static axe_status
refer_body(const referee *r, int n, axe_stmt *const *body, const axe_frame *f)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        axe_frame       one = {.up = f};

        if (s->kind == AXE_STMT_DEVICE)
            AXE_TRY(refer_device(r, s, f));
        else if (s->kind == AXE_STMT_INDEX)
            AXE_TRY(refer_between(r, s, f));
        else if (s->kind == AXE_STMT_IF && axe_dist_value(&r->d, f, 0, s->cond))
            AXE_TRY(refer_body(r, s->n_body, s->body, f));
        else if (s->kind == AXE_STMT_IF)
            AXE_TRY(refer_body(r, s->n_other, s->other, f));
        if (s->kind != AXE_STMT_FOR)
            continue;
        one.var = s->var[0];
        for (int64_t m = axe_dist_value(&r->d, f, 0, one.var->extent);
             one.value < m; one.value++)
            AXE_TRY(refer_body(r, s->n_body, s->body, &one));
    }
    return AXE_OK;
}

/* ------------------------------------------------------------------- whole */

static axe_status
make_parts(referee *r)
{
    for (int i = 0; i < axe_dist_n_tensor(&r->d); i++) {
        const axe_tensor *t = axe_dist_tensor(&r->d, i);

        for (int64_t q = 0; q < r->d.n_device; q++) {
            part   *p = part_of(r, i, q);
            int64_t n = axe_dist_part(&r->d, q, t, NULL, NULL);

            if (!make_part(n, p))
                return no_memory(r->cx, t);
            for (int64_t e = 0;
                 e < n && i >= r->d.k->n_param && axe_type_is_float(t->type);
                 e++)
                ((double *)p->value)[e] = NAN;
        }
    }
    return AXE_OK;
}

static axe_status
give_back(const referee *r, int param, void *value, double *bound)
{
    int64_t    n = axe_dist_count(&r->d, r->d.k->param[param]);
    part       whole;
    axe_status st = collect(r, param, &whole);

    if (st == AXE_OK) {
        memcpy(value, whole.value, (size_t)n * 8);
        memcpy(bound, whole.bound, (size_t)n * 8);
    }
    free_part(&whole);
    return st;
}

static axe_status
refer(referee *r, void *const *value, double *const *bound)
{
    const axe_kernel *k = r->d.k;

    AXE_TRY(make_parts(r));
    for (int i = 0; i < k->n_param; i++)
        distribute(r, i, (part){value[i], bound[i]});
    AXE_TRY(refer_body(r, k->n_body, k->body, NULL));
    for (int i = 0; i < k->n_param; i++)
        if (k->param[i]->dir != AXE_DIR_IN)
            AXE_TRY(give_back(r, i, value[i], bound[i]));
    return AXE_OK;
}

axe_status
axe_dist_refer(axe_ctx *cx, axe_device *device, const axe_program *p,
               void *const *value, double *const *bound, const int64_t *size)
{
    referee    r = {.cx = cx, .device = device};
    int64_t    n;
    axe_status st;

    AXE_TRY(axe_dist_open(cx, p, size, &r.d));
    n = axe_dist_n_tensor(&r.d) * r.d.n_device;
    r.of = calloc((size_t)n + 1, sizeof r.of[0]);
    if (!r.of)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for a reference");
    st = refer(&r, value, bound);
    for (int64_t i = 0; i < n; i++)
        free_part(&r.of[i]);
    free(r.of);
    return st;
}
