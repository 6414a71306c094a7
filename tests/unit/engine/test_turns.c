/* test_turns.c - a plan again and again, where a rank that others read from
 * waits for nobody else: it does not run over those that are slow. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "axe/engine.h"

enum { ELEMENTS = 24, TURNS = 60 };

/* Rank 0 has all; the last rank is late for every tenth turn. */
static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    static const struct timespec late = {0, 3000000};
    axe_reshard_options          opt = {.bits = 32};
    const axe_mesh              *m;
    axe_spread                   a, b;
    const axe_reshard_plan      *p;
    axe_reshard_exec            *x;

    (void)user;
    AXE_TRY(axe_mesh_read(cx, "x=3", &m));
    AXE_TRY(axe_spread_read(cx, m, "24 at x=0", &a));
    AXE_TRY(axe_spread_read(cx, m, "24", &b));
    AXE_TRY(axe_reshard(cx, m, &a, &b, &opt, &p));
    AXE_TRY(axe_reshard_prepare(e, p, AXE_NUMBER_I32, &x));
    for (int t = 0; t < TURNS; t++) {
        int32_t       *in = axe_reshard_input(x);
        const void    *out;
        const int32_t *got;

        for (int i = 0; i < ELEMENTS && axe_engine_rank(e) == 0; i++)
            in[i] = 100 * t + i;
        if (axe_engine_rank(e) == 2 && t % 10 == 0)
            nanosleep(&late, NULL);
        AXE_TRY(axe_reshard_go(x, &out));
        got = out;
        for (int i = 0; i < ELEMENTS; i++)
            if (got[i] != 100 * t + i)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                "rank %d, turn %d: element %d is %d",
                                (int)axe_engine_rank(e), t, i, got[i]);
    }
    return axe_reshard_finish(x);
}

static void
test_slow(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.engine = "shm", .n_rank = 3, .timeout_ms = 20000};

    (void)state;
    if (axe_spmd(cx, &o, on_rank, NULL) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
