/* ref.c - the reference: what a program should have computed.
 *
 * Arguments are copied into dense doubles (or int64), the C text of
 * print.c is compiled and run on them by one thread, and what a kernel
 * wrote is compared element by element with its value and bound.  Shared with
 * the path under test: the IR, the C compiler and the argument checks. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/number.h"
#include "run/device.h"
#include "run/dist/dist.h"
#include "run/program.h"
#include "run/ref/ref_int.h"

/* One parameter: values row-major, bounds where it is written. */
typedef struct copy {
    void    *value;
    double  *bound;
    int64_t  n;
    int64_t *shape;
} copy;

struct axe_reference {
    axe_tag           tag;
    const axe_kernel *k;
    copy             *param; /* [n_param] */
};

typedef int reference_fn(void *const *value, double *const *bound,
                         const int64_t *size);

void
axe_reference_free(axe_reference *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->k->n_param; i++) {
        free(r->param[i].value);
        free(r->param[i].bound);
        free(r->param[i].shape);
    }
    free(r->param);
    axe_tag_drop(&r->tag);
    free(r);
}

/* How far from the first the element with this row-major number is. */
static int64_t
place_of(const axe_tensor *t, const int64_t *shape, const int64_t *stride,
         int64_t number)
{
    int64_t at = 0;

    for (int i = t->rank - 1; i >= 0; i--) {
        at += number % shape[i] * stride[i];
        number /= shape[i];
    }
    return at;
}

static int64_t
load_int(axe_type t, const void *data, int64_t at)
{
    return axe_number_get_int(t, (const char *)data + axe_type_bytes(t, at));
}

static void
copy_values(const axe_tensor *t, const int64_t *stride, const void *data,
            copy *c)
{
    bool     real = axe_type_is_float(t->type);
    double  *d = c->value;
    int64_t *w = c->value;

    for (int64_t i = 0; i < c->n; i++) {
        int64_t at = place_of(t, c->shape, stride, i);
        if (real)
            d[i] = axe_number_load(t->type, data, at);
        else
            w[i] = load_int(t->type, data, at);
    }
}

/* False if there is no memory, or the count leaves int64. */
static bool
make_copy(const axe_tensor *t, const axe_bound *b, int p, copy *c)
{
    size_t rank = (size_t)t->rank;

    if (!axe_number_known(t->type))
        return true; /* said by axe_ref_print */
    c->n = 1;
    c->shape = malloc((rank + 1) * sizeof c->shape[0]);
    for (size_t i = 0; c->shape && i < rank; i++) {
        c->shape[i] = b->shape[p][i];
        if (!axe_mul(c->n, c->shape[i], &c->n))
            return false;
    }
    if (!c->shape || c->n > (int64_t)(SIZE_MAX / 32))
        return false;
    c->value = malloc((size_t)c->n * 8 + 1);
    if (t->dir != AXE_DIR_IN)
        c->bound = calloc((size_t)c->n + 1, sizeof c->bound[0]);
    if (!c->value || (t->dir != AXE_DIR_IN && !c->bound))
        return false;
    copy_values(t, b->stride[p], b->data[p], c);
    return true;
}

static axe_status
make_copies(axe_ctx *cx, const axe_bound *b, axe_reference *r)
{
    for (int i = 0; i < r->k->n_param; i++)
        if (!make_copy(r->k->param[i], b, i, &r->param[i]))
            return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                            "no memory for a reference of %s in double",
                            r->k->param[i]->name);
    return AXE_OK;
}

axe_status
axe_ref_call(axe_ctx *cx, axe_device *d, const axe_kernel *k,
             void *const *value, double *const *bound, const int64_t *size)
{
    axe_buf       text = {.cx = cx};
    const char   *path;
    void         *handle, *symbol;
    reference_fn *fn;
    bool          cached, ok;
    int64_t      *all = axe_new_array(cx, int64_t, k->n_size + 1);

    for (int i = 0; i < k->n_size; i++)
        all[i] = size[i];
    all[k->n_size] = axe_pool_size(d->pool);

    AXE_TRY(axe_ref_print(cx, k, &text));
    AXE_TRY(axe_device_load(cx, d, text.text, "-lm", &handle, &path, &cached));
    symbol = dlsym(handle, "axe_reference");
    memcpy(&fn, &symbol, sizeof fn);
    ok = symbol && fn(value, bound, all) == 0;
    dlclose(handle);
    return ok ? AXE_OK
              : axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                         "no memory for the tiles of the reference");
}

static axe_status
call(axe_ctx *cx, axe_device *d, const axe_program *p, const axe_reference *r,
     const int64_t *size)
{
    int      n = r->k->n_param;
    void   **value = axe_new_array(cx, void *, n);
    double **bound = axe_new_array(cx, double *, n);

    for (int i = 0; i < n; i++) {
        value[i] = r->param[i].value;
        bound[i] = r->param[i].bound;
    }
    return p->meshed ? axe_dist_refer(cx, d, p, value, bound, size)
                     : axe_ref_call(cx, d, r->k, value, bound, size);
}

axe_status
axe_reference_new(axe_ctx *cx, axe_device *d, const axe_program *p, int n_array,
                  const axe_array *array, int n_size, const axe_size *size,
                  axe_reference **out)
{
    AXE_TRY(axe_device_check(cx, __func__, d));
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, out);
    axe_bound      b;
    axe_reference *r;
    axe_status     st;

    for (int i = 0; i < p->kernel->n_param; i++)
        if (p->kernel->param[i]->packed)
            return axe_fail(cx, p->kernel->param[i]->at, AXE_EUNSUPPORTED,
                            "the reference does not read %s packed; check "
                            "with the matrix as it was",
                            p->kernel->param[i]->name);
    AXE_TRY(axe_bind(cx, p->kernel, n_array, array, n_size, size, true, &b));
    AXE_TRY(axe_bound_check_reach(cx, p, &b));
    AXE_TRY(
        axe_ref_check_memory(cx, p->kernel, b.size, axe_pool_size(d->pool)));
    r = calloc(1, sizeof *r);
    if (r)
        r->param = calloc((size_t)p->kernel->n_param + 1, sizeof r->param[0]);
    if (!r || !r->param) {
        free(r);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for a reference");
    }
    r->tag = AXE_TAG_REFERENCE;
    r->k = p->kernel;
    st = make_copies(cx, &b, r);
    if (st == AXE_OK)
        st = call(cx, d, p, r, b.size);
    if (st == AXE_OK)
        *out = r;
    else
        axe_reference_free(r);
    return st;
}

/* --------------------------------------------------------------- comparing */

typedef struct element {
    double got, want, bound;
} element;

/* How far off: 0 if equal (both NaN is equal), infinite if only one is
 * finite. */
static double
distance(element x)
{
    if (x.got == x.want || (isnan(x.got) && isnan(x.want)))
        return 0;
    return isfinite(x.got) && isfinite(x.want) ? fabs(x.got - x.want)
                                               : HUGE_VAL;
}

static void
judge(axe_difference *d, int64_t i, element x)
{
    double off = distance(x), rel = x.want != 0 ? off / fabs(x.want) : 0;
    bool   unbound = !isfinite(x.bound);
    bool   wrong = !unbound && off > x.bound;
    double share = off == 0 || unbound ? 0 : off / x.bound;

    if (wrong && x.bound <= 0)
        share = HUGE_VAL;
    d->n++;
    d->n_wrong += wrong;
    d->n_unbound += unbound;
    d->max_abs = off > d->max_abs ? off : d->max_abs;
    d->max_rel = rel > d->max_rel ? rel : d->max_rel;
    if (d->worst < 0 || share > d->max_share) {
        d->max_share = share;
        d->worst = i;
        d->got = x.got;
        d->want = x.want;
        d->bound = x.bound;
    }
}

static element
element_of(const copy *c, axe_type t, const void *data, int64_t at, int64_t i)
{
    int64_t w;

    if (axe_type_is_float(t))
        return (element){axe_number_load(t, data, at),
                         ((const double *)c->value)[i], c->bound[i]};
    w = load_int(t, data, at);
    if (w == ((const int64_t *)c->value)[i])
        return (element){(double)w, (double)w, c->bound[i]};
    return (element){(double)w, (double)((const int64_t *)c->value)[i],
                     c->bound[i] > 0 ? c->bound[i] : -1};
}

/* Strides of the array, or of a row-major one. */
static const int64_t *
strides_of(axe_ctx *cx, const axe_array *a)
{
    int64_t *s = axe_new_array(cx, int64_t, a->rank), step = 1;

    for (int i = a->rank - 1; i >= 0 && !a->stride; i--) {
        s[i] = step;
        step *= a->shape[i];
    }
    return a->stride ? a->stride : s;
}

axe_status
axe_reference_compare(axe_ctx *cx, const axe_reference *r,
                      const axe_array *array, axe_difference *out)
{
    AXE_NEED_TAG(cx, r, REFERENCE);
    AXE_NEED(cx, array);
    AXE_NEED(cx, out);
    axe_difference    d = {.worst = -1};
    const axe_tensor *t = NULL;
    const copy       *c = NULL;

    for (int i = 0; i < r->k->n_param && array->name; i++)
        if (strcmp(r->k->param[i]->name, array->name) == 0) {
            t = r->k->param[i];
            c = &r->param[i];
        }
    if (!t || t->dir == AXE_DIR_IN)
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                        "kernel %s writes no parameter '%s'", r->k->name,
                        array->name ? array->name : "(null)");
    if (array->rank != t->rank ||
        (t->rank > 0 &&
         memcmp(array->shape, c->shape, (size_t)t->rank * 8) != 0))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s has another shape than the reference", t->name);
    const int64_t *stride = strides_of(cx, array);
    for (int64_t i = 0; i < c->n; i++)
        judge(&d, i,
              element_of(c, t->type, array->data,
                         place_of(t, c->shape, stride, i), i));
    *out = d;
    return AXE_OK;
}
