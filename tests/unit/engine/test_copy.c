/* test_copy.c - bytes copied from and to any alignment, shorter and longer than
 * what goes past the caches: these, all of them, and none beside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/memory.h"

enum { LONG = 1 << 20, ROOM = LONG + 1024, GUARD = 0xa5 };

static void
test_copy(void **state)
{
    static const size_t bytes[] = {
        0,        1,         63,        4096,      LONG - 1,   LONG,
        LONG + 1, LONG + 15, LONG + 64, LONG + 79, LONG + 127, LONG + 333};
    unsigned char *from = malloc(ROOM), *to = malloc(ROOM);

    (void)state;
    assert_non_null(from);
    assert_non_null(to);
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 131 + (i >> 8) + (i >> 16));
    for (size_t k = 0; k < sizeof bytes / sizeof bytes[0]; k++)
        for (size_t at = 0; at < 36; at++) {
            size_t n = bytes[k], f = at / 6 * 5 + 3, t = at % 6 * 7 + 64;
            int    bad = 0;

            memset(to, GUARD, ROOM);
            engine_copy(to + t, from + f, n);
            for (size_t i = 0; i < t; i++)
                bad += to[i] != GUARD;
            for (size_t i = t + n; i < ROOM; i++)
                bad += to[i] != GUARD;
            if (memcmp(to + t, from + f, n) != 0 || bad)
                fail_msg("%zu bytes from %zu to %zu, %d beside", n, f, t, bad);
        }
    free(from);
    free(to);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copy)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
