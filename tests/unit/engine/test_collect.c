/* test_collect.c - what each rank has, of any length, to all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "axe/engine.h"

/* Of other lengths on each rank, some of them long and some empty. */
static axe_status
collect(axe_ctx *cx, axe_engine *e, void *user)
{
    int64_t n = axe_engine_size(e), me = axe_engine_rank(e), bytes[8];
    int64_t big = n == 5 ? 3000 : 1100000;
    char   *mine = malloc(3 << 20);
    void   *out[8];

    (void)user;
    if (n == 5) /* without memory of the heap's, by gathers */
        AXE_TRY(axe_engine_alloc(e, 1 << 20, &out[0]));
    for (int turn = 0; turn < 4; turn++) {
        for (int64_t r = 0; r < n; r++) {
            bytes[r] = turn == 0 ? 0 : turn == 1 ? 300 * r : (r % 3) * big;
            out[r] = turn == 3 && r == 1 ? NULL : malloc((size_t)bytes[r] + 1);
        }
        for (int64_t i = 0; i < bytes[me]; i++)
            mine[i] = (char)(i * 7 + me + turn);
        AXE_TRY(axe_engine_collect(e, mine, bytes, out));
        for (int64_t r = 0; r < n; r++) {
            for (int64_t i = 0; out[r] && i < bytes[r]; i++)
                if (((char *)out[r])[i] != (char)(i * 7 + r + turn))
                    return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "wrong bytes");
            free(out[r]);
        }
    }
    free(mine);
    return AXE_OK;
}

static void
test_collect(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n += 2) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = n, .heap = n == 3 ? 4096 : 0};

        if (axe_spmd(cx, &o, collect, NULL) != AXE_OK)
            fail_msg("%d ranks: %s", n, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_collect)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
