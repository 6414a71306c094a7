/* iters.c - lists of iters: the normal forms, and cutting by a shape.
 *
 * D  D0 drops units, D1 fuses neighbours; stride-0 iters all count as axis m
 *    first, without which the form is not unique: (2) : (0@a) is (2) : (0@b).
 * R  C0 drops what adds nothing, C1 turns negative strides, C2 absorbs a stride
 *    q s into an iter (e : s) where q <= e: exactly then is the union one
 *    progression, of e + q (e' - 1) steps. */
#include <assert.h>
#include <string.h>

#include "layout/layout_int.h"

void
axe_iters_copy(axe_iter *dst, int n, const axe_iter *src)
{
    if (n > 0)
        memcpy(dst, src, (size_t)n * sizeof *dst);
}

bool
axe_iters_same(int n, const axe_iter *a, const axe_iter *b)
{
    for (int k = 0; k < n; k++)
        if (a[k].extent != b[k].extent || a[k].stride != b[k].stride ||
            !axe_same_place(a[k], b[k]))
            return false;
    return true;
}

bool
axe_iters_are_canon(int n, const axe_iter *src)
{
    for (int k = 0; k < n; k++) {
        const axe_iter *it = &src[k];
        if (it->extent == 1 || (it->stride == 0 && (it->axis != AXE_AXIS_M ||
                                                    it->unit != AXE_UNIT_ONE)))
            return false;
        if (k > 0 && axe_iter_continues(it[-1], *it))
            return false;
    }
    return true;
}

int
axe_iters_canon(axe_iter *dst, int n, const axe_iter *src)
{
    int left = 0;

    for (int k = 0; k < n; k++)
        left = axe_iters_push(dst, 0, left, src[k]);
    return left;
}

int
axe_replicas_turn(axe_iter *dst, int n, const axe_iter *src, axe_offset *off,
                  int *n_off)
{
    int left = 0;

    *n_off = 0;
    for (int k = 0; k < n; k++) {
        axe_iter it = src[k];
        if (it.extent == 1 || it.stride == 0)
            continue;
        if (it.stride < 0) {
            off[(*n_off)++] =
                (axe_offset){(it.extent - 1) * it.stride, it.axis, it.unit};
            it.stride = -it.stride;
        }
        dst[left++] = it;
    }
    return left;
}

/* By axis, unit, stride, extent: a total order, so that sorting is the same
 * whatever the order before. */
static bool
before(axe_iter a, axe_iter b)
{
    if (a.axis != b.axis)
        return a.axis < b.axis;
    if (a.unit != b.unit)
        return a.unit < b.unit;
    return a.stride != b.stride ? a.stride < b.stride : a.extent < b.extent;
}

static void
sift(axe_iter *r, int n, int k)
{
    for (int child; (child = 2 * k + 1) < n; k = child) {
        axe_iter t = r[k];
        if (child + 1 < n && before(r[child], r[child + 1]))
            child++;
        if (!before(t, r[child]))
            return;
        r[k] = r[child];
        r[child] = t;
    }
}

static void
sort_many(axe_iter *r, int n)
{
    for (int k = n / 2 - 1; k >= 0; k--)
        sift(r, n, k);
    for (int k = n - 1; k > 0; k--) {
        axe_iter t = r[0];
        r[0] = r[k];
        r[k] = t;
        sift(r, k, 0);
    }
}

static void
sort_iters(axe_iter *r, int n)
{
    if (n > AXE_FEW) {
        sort_many(r, n);
        return;
    }
    for (int k = 1; k < n; k++) {
        axe_iter t = r[k];
        int      i = k;
        for (; i > 0 && before(t, r[i - 1]); i--)
            r[i] = r[i - 1];
        r[i] = t;
    }
}

/* Put `it` into the first of r[from..n) that takes it.  `from` moves past
 * those that end before `it` begins: strides come in ascending order, so they
 * take nothing any more. */
static bool
absorb(axe_iter *r, int *from, int n, axe_iter it)
{
    while (*from < n && (!axe_same_place(r[*from], it) ||
                         it.stride / r[*from].stride > r[*from].extent))
        ++*from;
    for (int k = *from; k < n; k++) {
        int64_t q = it.stride / r[k].stride;
        if (it.stride % r[k].stride == 0 && q <= r[k].extent) {
            r[k].extent += q * (it.extent - 1);
            return true;
        }
    }
    return false;
}

int
axe_replicas_absorb(axe_iter *r, int n)
{
    int left = 0, from = 0;

    if (n > 1)
        sort_iters(r, n);
    for (int k = 0; k < n; k++)
        if (!absorb(r, &from, left, r[k]))
            r[left++] = r[k];
    return left;
}

/* The first iter that does not divide, nor is divided by, what its dim still
 * needs, for a cut that does not exist. */
static void
find_obstacle(int n, const axe_iter *src, axe_shape shape, int *at,
              int64_t *need)
{
    int64_t tail = 1; /* of iter j, not yet used */
    int     j = -1;

    for (int k = 0; k < shape.n; k++)
        for (*need = shape.extent[k]; *need > 1;) {
            while (tail == 1) {
                assert(j + 1 < n);
                tail = src[++j].extent;
            }
            *at = j;
            if (*need % tail != 0 && tail % *need != 0)
                return;
            if (*need < tail) {
                tail /= *need;
                *need = 1;
            } else {
                *need /= tail;
                tail = 1;
            }
        }
}

/* A block is complete when the product of its extents is its dim: then each of
 * them divided what was left.  So only a split costs divisions. */
int
axe_iters_cut(axe_iter *dst, int *dim_end, int n, const axe_iter *src,
              axe_shape shape, int *at, int64_t *need)
{
    int64_t tail = 1; /* of iter j, not yet used */
    int     j = -1, len = 0;

    for (int k = 0; k < shape.n; dim_end[k++] = len)
        for (int64_t done = 1, want = shape.extent[k]; done < want;) {
            int64_t head;
            while (tail == 1) {
                assert(j + 1 < n);
                tail = src[++j].extent;
            }
            head = done * tail <= want ? tail : want / done;
            if (head != tail && (head * done != want || tail % head != 0)) {
                find_obstacle(n, src, shape, at, need);
                return -1;
            }
            done *= head;
            tail = head == tail ? 1 : tail / head;
            dst[len] = src[j];
            dst[len].extent = head;
            dst[len++].stride *= tail;
        }
    return len;
}
