/* temps.c - memory for the global tensors that a kernel makes for itself. */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <stdlib.h>

#include "run/device.h"

enum { LINE_BYTES = 64 };

/* The values of a kernel's sizes, and of `cores`. */
typedef struct values {
    const axe_kernel *k;
    const int64_t    *size;
    int64_t           cores;
} values;

static int64_t
value_of(const values *in, const axe_var *v)
{
    for (int i = 0; i < in->k->n_size; i++)
        if (in->k->size[i] == v)
            return in->size[i];
    return in->cores;
}

/* An extent: integers over sizes.  False if it leaves int64. */
static bool
evaluate(const values *in, const axe_node *n, int64_t *out)
{
    int64_t a[3] = {0};

    if (n->op == AXE_OP_iconst || n->op == AXE_OP_var) {
        *out = n->op == AXE_OP_var ? value_of(in, n->u.var) : n->u.i;
        return true;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (i >= AXE_LEN(a) || !evaluate(in, n->arg[i], &a[i]))
            return false;
    return axe_op_value(n->op, a, out);
}

/* Bytes of the tensor, rounded up to whole lines. */
static bool
bytes_of(const values *in, const axe_tensor *t, int64_t *out)
{
    int64_t n = axe_type_table[t->type].bits / 8, e;

    for (int d = 0; d < t->rank; d++) {
        if (!evaluate(in, t->shape[d], &e) || !axe_mul(n, e > 0 ? e : 0, &n))
            return false;
    }
    return axe_add(n, LINE_BYTES - 1, out) &&
           axe_mul(*out / LINE_BYTES, LINE_BYTES, out);
}

static axe_status
grow(axe_ctx *cx, axe_device *d, int64_t bytes)
{
    void *block = NULL;

    if (bytes <= d->temp_bytes)
        return AXE_OK;
    free(d->temp);
    d->temp = NULL;
    d->temp_bytes = 0;
    if ((uint64_t)bytes > SIZE_MAX / 2 ||
        posix_memalign(&block, LINE_BYTES, (size_t)bytes) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for %" PRId64
                        " bytes of the kernel's own tensors",
                        bytes);
    d->temp = block;
    d->temp_bytes = bytes;
    return AXE_OK;
}

axe_status
axe_device_temps(axe_ctx *cx, axe_device *d, const axe_kernel *k,
                 const int64_t *size, void **out)
{
    values   in = {k, size, axe_pool_size(d->pool)};
    int64_t *at = axe_new_array(cx, int64_t, k->n_temp + 1), all = 0, n;

    for (int i = 0; i < k->n_temp; i++) {
        at[i] = all;
        if (!bytes_of(&in, k->temp[i], &n) || !axe_add(all, n, &all))
            return axe_fail(cx, k->temp[i]->at, AXE_EOVERFLOW,
                            "%s has more elements than int64 counts",
                            k->temp[i]->name);
    }
    AXE_TRY(grow(cx, d, all));
    for (int i = 0; i < k->n_temp; i++)
        out[i] = (char *)d->temp + at[i];
    return AXE_OK;
}
