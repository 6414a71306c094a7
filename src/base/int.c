/* int.c - integer arithmetic beyond one operation. */
#include "axe/base.h"

static uint64_t
magnitude(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

int64_t
axe_gcd(int64_t a, int64_t b)
{
    uint64_t x = magnitude(a), y = magnitude(b);

    while (y != 0) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}
