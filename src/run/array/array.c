/* array.c - does an array suit the parameter that it is given for?
 *
 * Its type, rank, extents and strides, of itself; bind.c asks what they say of
 * sizes. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "run/array/array.h"
#include "run/array/weights.h"

static axe_status
check_type(axe_ctx *cx, const axe_tensor *t, const axe_array *a)
{
    const char *wanted = axe_type_table[t->type].name;
    axe_status  st;

    if (!axe_number_known(t->type))
        return axe_fail(cx, t->at, AXE_EUNSUPPORTED,
                        "%s: there are no arrays of %s", t->name, wanted);
    if (t->packed)
        wanted = axe_textf(cx, "%s" AXE_PACKED_AS, wanted);
    if (a->type && (t->packed ? strncmp(a->type, wanted, strlen(wanted)) == 0
                              : strcmp(a->type, wanted) == 0))
        return AXE_OK;
    st = axe_fail(cx, t->at, AXE_ETYPE, "%s has elements of %s, not of %s",
                  t->name, wanted, a->type ? a->type : "(null)");
    axe_note(cx, AXE_NOWHERE, "%s is %s by the kernel, %s is the array's",
             wanted, t->name, a->type ? a->type : "(null)");
    return st;
}

static axe_status
check_shape(axe_ctx *cx, const axe_tensor *t, const axe_array *a)
{
    if (a->rank != t->rank)
        return axe_fail(cx, t->at, AXE_ESHAPE,
                        "%s has %d dimension%s, the array given for it %d",
                        t->name, t->rank, t->rank == 1 ? "" : "s", a->rank);
    if (a->rank > 0 && !a->shape)
        return axe_fail(cx, t->at, AXE_EARG, "%s: the array has no shape",
                        t->name);
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] < 0)
            return axe_fail(cx, t->at, AXE_ESHAPE,
                            "%s (dimension %d) is %" PRId64
                            "; extents are not negative",
                            t->name, i, a->shape[i]);
    return AXE_OK;
}

bool
axe_array_is_empty(const axe_array *a)
{
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] == 0)
            return true;
    return false;
}

/* The array's strides, made if it leaves them open. */
static axe_status
take_strides(axe_ctx *cx, const axe_tensor *t, const axe_array *a,
             const int64_t **out)
{
    int64_t *s = axe_new_array(cx, int64_t, a->rank), step = 1;

    for (int i = a->rank - 1; i >= 0; i--) {
        s[i] = a->stride ? a->stride[i] : step;
        if (s[i] < 0)
            return axe_fail(cx, t->at, AXE_ESHAPE,
                            "%s (dimension %d) has stride %" PRId64
                            "; strides are not negative",
                            t->name, i, s[i]);
        if (!a->stride && !axe_mul(step, a->shape[i] ? a->shape[i] : 1, &step))
            return axe_fail(cx, t->at, AXE_EOVERFLOW,
                            "%s: its size does not fit int64", t->name);
    }
    *out = s;
    return AXE_OK;
}

axe_status
axe_array_check_data(axe_ctx *cx, const axe_tensor *t, const axe_array *a)
{
    unsigned bytes = (unsigned)(axe_type_table[t->type].bits + 7) / 8;

    if (!a->data && !axe_array_is_empty(a))
        return axe_fail(cx, t->at, AXE_EARG, "%s: its data is NULL", t->name);
    if ((uintptr_t)a->data % bytes != 0)
        return axe_fail(cx, t->at, AXE_EARG,
                        "%s: its data is not aligned to the %u bytes of %s",
                        t->name, bytes, axe_type_table[t->type].name);
    return AXE_OK;
}

/* Elements of 4 bits are two in a byte: neighbours come in pairs, and every
 * other step is of whole bytes. */
static axe_status
check_pairs(axe_ctx *cx, const axe_tensor *t, const axe_array *a,
            const int64_t *stride)
{
    const char *type = axe_type_table[t->type].name;
    int         per = axe_type_per_byte(t->type);

    for (int i = 0; i < a->rank && per > 1; i++) {
        axe_status st;
        bool       near = stride[i] == 1;
        if (a->shape[i] <= 1 && !near)
            continue;
        if ((near ? a->shape[i] : stride[i]) % per == 0)
            continue;
        st = axe_fail(cx, t->at, AXE_ESHAPE,
                      near ? "%s (dimension %d) is %" PRId64
                             "; %s lies %d to a byte along it"
                           : "%s (dimension %d) has stride %" PRId64
                             "; %s lies %d to a byte along another",
                      t->name, i, near ? a->shape[i] : stride[i], type, per);
        axe_help(cx, "pad rows with zeros to a multiple of %d", per);
        return st;
    }
    return AXE_OK;
}

axe_status
axe_array_check(axe_ctx *cx, const axe_tensor *t, const axe_array *a,
                const int64_t **stride)
{
    AXE_TRY(check_type(cx, t, a));
    AXE_TRY(check_shape(cx, t, a));
    AXE_TRY(take_strides(cx, t, a, stride));
    return check_pairs(cx, t, a, *stride);
}
