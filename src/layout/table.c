/* table.c - from a table of coordinates back to the iters that make it. */
#include "layout/radix.h"

/* Place of f(x) - f(0) if it is on one slot at most: that slot (0 if none) and
 * the value; false if several move. */
static bool
single(axe_table t, int64_t x, int *slot, int64_t *value)
{
    *slot = 0;
    *value = 0;
    for (int k = 0; k < t.n_slot; k++) {
        int64_t d = t.f[x * t.n_slot + k] - t.f[k];
        if (d == 0)
            continue;
        if (*value != 0)
            return false;
        *slot = k;
        *value = d;
    }
    return true;
}

/* Is f(x) = f(y) + c steps of `it`? */
static bool
on_line(axe_table t, int64_t x, int64_t y, int64_t c, axe_iter it)
{
    int64_t run;

    if (!axe_mul(c, it.stride, &run))
        return false;
    for (int k = 0; k < t.n_slot; k++)
        if (t.f[x * t.n_slot + k] - t.f[y * t.n_slot + k] !=
            (k == it.axis ? run : 0))
            return false;
    return true;
}

int
axe_table_iters(axe_table t, axe_iter out[62], int64_t *at)
{
    int      n = 0;
    axe_iter it = {.extent = 1};

    for (int64_t unit = 1; unit < t.n; unit *= it.extent) {
        int slot;
        *at = unit;
        if (!single(t, unit, &slot, &it.stride))
            return -1;
        it.axis = slot;
        for (it.extent = 2; it.extent < t.n / unit; it.extent++)
            if (!on_line(t, it.extent * unit, 0, it.extent, it))
                break;
        *at = it.extent * unit;
        if (t.n / unit % it.extent != 0)
            return -1;
        for (int64_t x = 0; x < t.n; x += unit) {
            int64_t c = x / unit % it.extent;
            *at = x;
            if (c != 0 && !on_line(t, x, x - c * unit, c, it))
                return -1;
        }
        out[n++] = it;
    }
    for (int k = 0; k < n / 2; k++) {
        axe_iter swap = out[k];
        out[k] = out[n - 1 - k];
        out[n - 1 - k] = swap;
    }
    return n;
}
