/* bind.c - arrays to parameters, extents to sizes, strides to orders.
 *
 * Everything that a kernel takes for granted about its arguments is made sure
 * of here, each failure with the values and where they come from.  Sizes are
 * bound in three rounds, so that messages name the best witness: given
 * values, extents of arrays, strides of arrays. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "ir/reach.h"
#include "run/array/array.h"
#include "run/array/weights.h"

/* Where a size's value comes from.  A launch that goes well prints none. */
typedef struct witness {
    enum { UNBOUND, FIXED, GIVEN, EXTENT, STRIDE, VALUE } how;
    const axe_tensor *tensor; /* and its dimension, of an extent or stride */
    int               dim;
} witness;

typedef struct binder {
    axe_ctx          *cx;
    const axe_kernel *k;
    const axe_array **of;   /* [n_param] the array of each, or NULL */
    witness          *from; /* [n_size] */
    axe_bound         to;
} binder;

static const char *
witness_text(axe_ctx *cx, witness w)
{
    if (w.how == FIXED)
        return "the program, which is made for it";
    if (w.how == GIVEN)
        return "the value given";
    if (w.how == VALUE)
        return w.tensor->name;
    return axe_textf(cx,
                     w.how == EXTENT ? "%s (dimension %d)" : "%s (stride %d)",
                     w.tensor->name, w.dim);
}

/* ------------------------------------------------------------------- names */

static axe_status
unknown(axe_ctx *cx, const char *what, const char *kernel, const char *name,
        int n, const char *const *known)
{
    const char *near = name ? axe_nearest(name, n, known) : NULL;
    axe_status  st =
        axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "kernel %s has no %s '%s'", kernel,
                 what, name ? name : "(null)");

    if (near)
        axe_help(cx, "did you mean '%s'?", near);
    return st;
}

/* A name that is no size: what it is, if it is something else. */
static axe_status
unknown_size(const binder *b, const axe_size *size, const char *const *known)
{
    const char *name = size->name;
    axe_status  st;

    for (int i = 0; name && i < b->k->n_binding; i++)
        if (strcmp(b->k->binding[i].name, name) == 0) {
            st = axe_fail(b->cx, b->k->at, AXE_ENAME,
                          "%s is a compile-time parameter, not a size", name);
            axe_help(b->cx, "write --set %s=%" PRId64, name, size->value);
            return st;
        }
    for (int i = 0; name && i < b->k->n_param; i++)
        if (strcmp(b->k->param[i]->name, name) == 0)
            return axe_fail(b->cx, b->k->param[i]->at, AXE_ENAME,
                            "%s is an argument, not a size", name);
    return unknown(b->cx, "size", b->k->name, name, b->k->n_size, known);
}

static axe_status
find_param(binder *b, const char *name, int *out)
{
    const char **known = axe_new_array(b->cx, const char *, b->k->n_param);

    for (int i = 0; i < b->k->n_param; i++) {
        known[i] = b->k->param[i]->name;
        if (name && strcmp(known[i], name) == 0) {
            *out = i;
            return AXE_OK;
        }
    }
    return unknown(b->cx, "parameter", b->k->name, name, b->k->n_param, known);
}

static int
find_size(const binder *b, const char *name)
{
    for (int i = 0; i < b->k->n_size; i++)
        if (name && strcmp(b->k->size[i]->name, name) == 0)
            return i;
    return -1;
}

/* ------------------------------------------------------------------ arrays */

static axe_status
take_arrays(binder *b, int n, const axe_array *array, bool complete)
{
    for (int i = 0; i < n; i++) {
        int p = 0;
        AXE_TRY(find_param(b, array[i].name, &p));
        const axe_tensor *t = b->k->param[p];
        if (b->of[p])
            return axe_fail(b->cx, t->at, AXE_ENAME, "%s is given twice",
                            t->name);
        AXE_TRY(axe_array_check(b->cx, t, &array[i], &b->to.stride[p]));
        AXE_TRY(complete ? axe_array_check_data(b->cx, t, &array[i]) : AXE_OK);
        b->of[p] = &array[i];
        b->to.data[p] = array[i].data;
        b->to.shape[p] = array[i].shape;
    }
    for (int p = 0; p < b->k->n_param && complete; p++)
        if (!b->of[p])
            return axe_fail(b->cx, b->k->param[p]->at, AXE_ENAME,
                            "%s is missing: no array is given for it",
                            b->k->param[p]->name);
    return AXE_OK;
}

/* ------------------------------------------------------------------- sizes */

/* Sizes that the program is made for are not asked of anybody. */
static void
take_fixed(binder *b)
{
    for (int i = 0; i < b->k->n_size; i++)
        if (b->k->size[i]->is_fixed) {
            b->to.size[i] = b->k->size[i]->fixed;
            b->from[i].how = FIXED;
        }
}

static axe_status
agree(binder *b, axe_span at, int s, int64_t value, witness from)
{
    assert(s >= 0); /* the kernel was verified */
    if (b->from[s].how == UNBOUND) {
        b->from[s] = from;
        b->to.size[s] = value;
    }
    if (b->to.size[s] == value)
        return AXE_OK;
    return axe_fail(b->cx, at, AXE_ESHAPE,
                    "%s is %" PRId64 " from %s but %" PRId64 " from %s",
                    b->k->size[s]->name, b->to.size[s],
                    witness_text(b->cx, b->from[s]), value,
                    witness_text(b->cx, from));
}

static axe_status
take_sizes(binder *b, int n, const axe_size *size)
{
    const char **known = axe_new_array(b->cx, const char *, b->k->n_size);

    for (int i = 0; i < b->k->n_size; i++)
        known[i] = b->k->size[i]->name;
    for (int i = 0; i < n; i++) {
        int s = find_size(b, size[i].name);
        if (s < 0 && size[i].name)
            s = find_size(b, axe_textf(b->cx, "%s" AXE_OF_VALUE, size[i].name));
        if (s < 0)
            return unknown_size(b, &size[i], known);
        if (b->from[s].how != UNBOUND && !b->k->size[s]->is_fixed)
            return axe_fail(b->cx, b->k->size[s]->at, AXE_ENAME,
                            "size %s is given twice", known[s]);
        if (size[i].value < 0)
            return axe_fail(b->cx, b->k->size[s]->at, AXE_EARG,
                            "size %s is given as %" PRId64
                            "; sizes are not negative",
                            known[s], size[i].value);
        AXE_TRY(agree(b, b->k->size[s]->at, s, size[i].value,
                      (witness){.how = GIVEN}));
    }
    return AXE_OK;
}

/* How many iterations loops around scopes have, of arguments that are one
 * number. */
static axe_status
take_values(binder *b)
{
    for (int s = 0; s < b->k->n_size; s++) {
        const axe_tensor *t = axe_size_source(b->k, b->k->size[s]);
        int64_t           v = 0;
        int               p = 0;
        while (t && b->k->param[p] != t)
            p++;
        if (!t || !b->of[p] || !b->of[p]->data)
            continue;
        v = axe_number_get_int(t->type, b->of[p]->data);
        if (v < 0)
            return axe_fail(b->cx, t->at, AXE_EARG,
                            "%s is %s; loops and branches around scopes take "
                            "0 to 2^63 - 1",
                            t->name,
                            axe_type_table[t->type].cls == AXE_CLASS_INT
                                ? axe_textf(b->cx, "%" PRId64, v)
                                : "2^63 or more");
        AXE_TRY(agree(b, t->at, s, v, (witness){.how = VALUE, .tensor = t}));
    }
    return AXE_OK;
}

/* What the kernel declares an extent to be, against what the array has. */
static axe_status
bind_extent(binder *b, const axe_tensor *t, int dim, int64_t extent)
{
    const axe_node *n = t->shape[dim];
    int64_t         fixed;

    if (n->op == AXE_OP_var)
        return agree(b, t->at, find_size(b, n->u.var->name), extent,
                     (witness){EXTENT, t, dim});
    if (!axe_is_iconst(n, &fixed))
        return AXE_OK; /* bind_affine */
    if (fixed == extent)
        return AXE_OK;
    return axe_fail(b->cx, t->at, AXE_ESHAPE,
                    "%s (dimension %d) is %" PRId64
                    ", the kernel is made for %" PRId64,
                    t->name, dim, extent, fixed);
}

/* Its known part and the one open size, -1: none; false: two, or too much. */
static bool
sum_known(const binder *b, const axe_affine *a, int64_t *sum, int64_t *coef,
          int *open)
{
    int64_t v;

    *sum = a->constant;
    *open = -1;
    for (int i = 0; i < a->n; i++) {
        int s = find_size(b, a->var[i]->name);
        if (s >= 0 && b->from[s].how != UNBOUND) {
            if (!axe_mul(a->coef[i], b->to.size[s], &v) ||
                !axe_add(*sum, v, sum))
                return false;
        } else if (*open >= 0) {
            return false;
        } else {
            *open = s;
            *coef = a->coef[i];
        }
    }
    return true;
}

/* An extent that is a sum of multiples of sizes: gives the one that is open, or
 * is compared.  *more: a size was bound. */
static axe_status
bind_affine(binder *b, const axe_tensor *t, int64_t extent, bool *more)
{
    axe_affine a;
    int64_t    sum, coef = 1;
    int        open;

    if (t->rank == 0 || t->shape[0]->op == AXE_OP_var ||
        !axe_affine_of(b->cx, t->shape[0], &a) || a.n == 0)
        return AXE_OK;
    if (!sum_known(b, &a, &sum, &coef, &open))
        return open >= 0 ? AXE_OK
                         : axe_fail(b->cx, t->at, AXE_EOVERFLOW,
                                    "%s (dimension 0), which is %s, does not "
                                    "fit int64 with these sizes",
                                    t->name, axe_node_text(b->cx, t->shape[0]));
    if (open >= 0 && extent >= sum && (extent - sum) % coef == 0) {
        *more = true;
        return agree(b, t->at, open, (extent - sum) / coef,
                     (witness){EXTENT, t, 0});
    }
    if (open < 0 && extent == sum)
        return AXE_OK;
    return axe_fail(b->cx, t->at, AXE_ESHAPE,
                    "%s (dimension 0) is %" PRId64 ", but %s is %s", t->name,
                    extent, axe_node_text(b->cx, t->shape[0]),
                    open >= 0 ? "not, for any size"
                              : axe_textf(b->cx, "%" PRId64, sum));
}

static axe_status
bind_extents(binder *b)
{
    bool more = true;

    for (int p = 0; p < b->k->n_param; p++)
        for (int i = 0; b->of[p] && i < b->k->param[p]->rank; i++)
            AXE_TRY(bind_extent(b, b->k->param[p], i, b->of[p]->shape[i]));
    while (more) {
        more = false;
        for (int p = 0; p < b->k->n_param; p++)
            if (b->of[p] && b->of[p]->rank > 0)
                AXE_TRY(
                    bind_affine(b, b->k->param[p], b->of[p]->shape[0], &more));
    }
    return AXE_OK;
}

/* ----------------------------------------------------------------- strides */

/* The declared stride in elements; false if a factor is unbound or the
 * product leaves int64. */
static bool
declared(const binder *b, axe_stride s, int64_t *out)
{
    *out = s.coef;
    for (int i = 0; i < axe_unit_n_factor(b->k->cx, s.unit); i++) {
        int k = find_size(b, axe_unit_factor(b->k->cx, s.unit, i));
        if (k < 0 || b->from[k].how == UNBOUND ||
            !axe_mul(*out, b->to.size[k], out))
            return false;
    }
    return true;
}

/* A stride that is itself a runtime size takes the array's value. */
static void
bind_stride(binder *b, const axe_tensor *t, int dim, int64_t stride)
{
    axe_stride s = t->stride[dim];
    int        k;

    if (s.coef != 1 || axe_unit_n_factor(b->k->cx, s.unit) != 1)
        return;
    k = find_size(b, axe_unit_factor(b->k->cx, s.unit, 0));
    if (k >= 0 && b->from[k].how == UNBOUND) {
        b->to.size[k] = stride;
        b->from[k] = (witness){STRIDE, t, dim};
    }
}

static axe_status
check_stride(binder *b, int p, int dim)
{
    const axe_tensor *t = b->k->param[p];
    int64_t           have = b->to.stride[p][dim], want;
    axe_status        st;

    if (!declared(b, t->stride[dim], &want))
        return axe_fail(b->cx, t->at, AXE_EOVERFLOW,
                        "%s (dimension %d): its stride does not fit int64",
                        t->name, dim);
    if (want == have || axe_array_is_empty(b->of[p]) ||
        b->of[p]->shape[dim] == 1)
        return AXE_OK;
    st = axe_fail(b->cx, t->at, AXE_ESHAPE,
                  "%s (dimension %d) has stride %" PRId64
                  ", the program is compiled for %" PRId64,
                  t->name, dim, have, want);
    axe_help(b->cx, "compile with order \"strided\" for %s", t->name);
    return st;
}

/* How far row-major, column-major or any strides reach; false: beyond int64. */
static bool
strides_reach(const axe_array *a, const int64_t *stride, int64_t *out)
{
    int64_t last = 0, step;

    for (int i = 0; i < a->rank; i++)
        if (!axe_mul(a->shape[i] - 1, stride[i], &step) ||
            !axe_add(last, step, &last))
            return false;
    return axe_add(last, 1, out);
}

/* The same of packed matrices: of one n rounded up to V columns times Kp, with
 * V and Kp as strides (plan/access/packed.c); of its two dimensions n's gives
 * more. */
static bool
packed_reach(const axe_array *a, const int64_t *stride, int64_t *out)
{
    int     last = a->rank - 1;
    int64_t n, step;

    *out = 0;
    for (int i = last - 1; i <= last; i++) {
        int64_t v = stride[2 * last - 1 - i];
        if (v < 1 || !axe_add(a->shape[i], v - 1, &n) ||
            !axe_mul(n / v * v, stride[i], &n))
            return false;
        *out = n > *out ? n : *out;
    }
    for (int i = 0; i + 1 < last; i++)
        if (!axe_mul(a->shape[i] - 1, stride[i], &step) ||
            !axe_add(*out, step, out))
            return false;
    return true;
}

/* The last element's place must be an int64, in bytes too. */
static axe_status
check_reach(binder *b, int p, int64_t *bytes)
{
    const axe_tensor *t = b->k->param[p];
    int64_t           last;

    *bytes = 0;
    if (axe_array_is_empty(b->of[p]))
        return AXE_OK;
    if (!(t->packed ? packed_reach : strides_reach)(b->of[p], b->to.stride[p],
                                                    &last) ||
        !axe_mul(last, (axe_type_table[t->type].bits + 7) / 8, bytes))
        return axe_fail(b->cx, t->at, AXE_EOVERFLOW,
                        "%s: the address of its last element does not fit "
                        "int64",
                        t->name);
    *bytes = axe_type_bytes(t->type, last);
    return AXE_OK;
}

static axe_status
bind_strides(binder *b)
{
    for (int p = 0; p < b->k->n_param; p++)
        for (int i = 0; b->of[p] && i < b->k->param[p]->rank; i++)
            bind_stride(b, b->k->param[p], i, b->to.stride[p][i]);
    for (int p = 0; p < b->k->n_param; p++) {
        for (int i = 0; b->of[p] && i < b->k->param[p]->rank; i++)
            AXE_TRY(check_stride(b, p, i));
        if (b->of[p])
            AXE_TRY(check_reach(b, p, &b->to.bytes[p]));
    }
    return AXE_OK;
}

/* ----------------------------------------------------------------- overlap */

/* The dimension, of those with more than one step, whose stride is the
 * smallest above `floor` (a stride and a dimension); -1 if there is none. */
static int
next_dim(const binder *b, int p, int last)
{
    const int64_t *s = b->to.stride[p], *e = b->of[p]->shape;
    int            best = -1;

    for (int i = 0; i < b->of[p]->rank; i++) {
        bool after =
            last < 0 || s[i] > s[last] || (s[i] == s[last] && i > last);
        if (e[i] > 1 && after && (best < 0 || s[i] < s[best]))
            best = i;
    }
    return best;
}

/* Two indices of a written array must not be one place: each stride must
 * exceed what the smaller ones can reach. */
static axe_status
check_self(binder *b, int p)
{
    const axe_tensor *t = b->k->param[p];
    int64_t           reach = 0;

    for (int i = next_dim(b, p, -1); i >= 0; i = next_dim(b, p, i)) {
        int64_t s = b->to.stride[p][i];
        if (s <= reach)
            return axe_fail(b->cx, t->at, AXE_EARG,
                            "%s is written, but its elements overlap: stride "
                            "%" PRId64 " of dimension %d",
                            t->name, s, i);
        reach += (b->of[p]->shape[i] - 1) * s;
    }
    return AXE_OK;
}

axe_status
axe_bound_check_overlap(axe_ctx *cx, const axe_kernel *k, const int64_t *bytes,
                        void *const *data)
{
    for (int p = 0; p < k->n_param; p++) {
        const axe_tensor *t = k->param[p];
        uintptr_t         lo = (uintptr_t)data[p];
        if (t->dir == AXE_DIR_IN || bytes[p] == 0)
            continue;
        for (int q = 0; q < k->n_param; q++) {
            uintptr_t other = (uintptr_t)data[q];
            if (q != p && bytes[q] > 0 && lo < other + (uint64_t)bytes[q] &&
                other < lo + (uint64_t)bytes[p])
                return axe_fail(cx, t->at, AXE_EARG,
                                "%s is written, but its memory overlaps that "
                                "of %s",
                                t->name, k->param[q]->name);
        }
    }
    return AXE_OK;
}

static axe_status
check_overlap(binder *b)
{
    for (int p = 0; p < b->k->n_param; p++)
        if (b->k->param[p]->dir != AXE_DIR_IN && b->to.bytes[p] > 0)
            AXE_TRY(check_self(b, p));
    return axe_bound_check_overlap(b->cx, b->k, b->to.bytes, b->to.data);
}

/* --------------------------------------------------------------- the whole */

static axe_status
check_bound(binder *b)
{
    for (int i = 0; i < b->k->n_size; i++)
        if (b->from[i].how == UNBOUND) {
            axe_status st =
                axe_fail(b->cx, b->k->size[i]->at, AXE_EARG,
                         "size %s follows from no array", b->k->size[i]->name);
            axe_help(b->cx, "give its value");
            return st;
        }
    return AXE_OK;
}

/* Shapes of arrays that are missing, where all their sizes are known. */
static void
infer_shapes(binder *b)
{
    for (int p = 0; p < b->k->n_param; p++) {
        const axe_tensor *t = b->k->param[p];
        int64_t          *shape = axe_new_array(b->cx, int64_t, t->rank);
        bool              known = true;
        for (int i = 0; i < t->rank; i++) {
            axe_affine a;
            int64_t    coef;
            int        open;
            known = known && axe_affine_of(b->cx, t->shape[i], &a) &&
                    sum_known(b, &a, &shape[i], &coef, &open) && open < 0;
        }
        if (!b->to.shape[p] && known)
            b->to.shape[p] = shape;
    }
}

axe_status
axe_bind(axe_ctx *cx, const axe_kernel *k, int n_array, const axe_array *array,
         int n_size, const axe_size *size, bool complete, axe_bound *out)
{
    binder b = {
        .cx = cx,
        .k = k,
        .of = axe_new_array(cx, const axe_array *, k->n_param),
        .from = axe_new_array(cx, witness, k->n_size),
        .to.data = axe_new_array(cx, void *, k->n_param),
        .to.stride = axe_new_array(cx, const int64_t *, k->n_param),
        .to.shape = axe_new_array(cx, const int64_t *, k->n_param),
        .to.bytes = axe_new_array(cx, int64_t, k->n_param),
        .to.size = axe_new_array(cx, int64_t, k->n_size),
        .to.unknown = axe_new_array(cx, bool, k->n_size),
    };

    take_fixed(&b);
    AXE_TRY(take_arrays(&b, n_array, array, complete));
    AXE_TRY(take_sizes(&b, n_size, size));
    AXE_TRY(take_values(&b));
    AXE_TRY(bind_extents(&b));
    if (complete) {
        AXE_TRY(bind_strides(&b));
        AXE_TRY(check_bound(&b));
        AXE_TRY(check_overlap(&b));
    }
    infer_shapes(&b);
    for (int i = 0; i < k->n_size; i++)
        b.to.unknown[i] = b.from[i].how == UNBOUND;
    *out = b.to;
    return AXE_OK;
}

axe_status
axe_bound_check_reach(axe_ctx *cx, const axe_program *p, const axe_bound *b)
{
    for (int i = 0; i < p->kernel->n_size; i++)
        if (b->size[i] > p->reach)
            return axe_kernel_check_reach(cx, p->kernel, b->size, false);
    return AXE_OK;
}
