/* table.c - from a table of coordinates back to the iters that make it. */
#include "layout/radix.h"

/* A slot on which f(x) is not f(0), and by how much; 0 and 0 if there is none.
 * If there are several, no line goes through f(x), and checking says so. */
static axe_iter
step_to(axe_table t, int64_t x)
{
    axe_iter it = {.extent = 2};

    for (int k = 0; k < t.n_slot && it.stride == 0; k++) {
        it.axis = k;
        it.stride = t.f[x * t.n_slot + k] - t.f[k];
    }
    if (it.stride == 0)
        it.axis = 0;
    return it;
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
        it = step_to(t, unit);
        for (; it.extent < t.n / unit; it.extent++)
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
