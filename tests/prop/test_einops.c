/* test_einops.c - random permutations of the digits of memory: written as a
 * rearrangement, with the argument's shape and without, they read back. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "axe/convert.h"

enum { CASES = 2000, DIGITS = 6 };

static uint64_t state_;

static int
draw(int n)
{
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (int)((state_ >> 33) % (uint64_t)n);
}

/* Digits of a row-major argument, and the dimensions that they make. */
static int
draw_argument(axe_ctx *cx, axe_iter *it, axe_shape *shape)
{
    int64_t *e = axe_new_array(cx, int64_t, DIGITS);
    int      n = 1 + draw(DIGITS), dims = 0;

    for (int i = 0; i < n; i++)
        it[i] = (axe_iter){2 + draw(3), 0, AXE_AXIS_M, AXE_UNIT_ONE};
    for (int i = n - 1, s = 1; i >= 0; s *= (int)it[i--].extent)
        it[i].stride = s;
    for (int i = 0; i < n; i++) {
        if (i == 0 || draw(2))
            e[dims++] = 1;
        e[dims - 1] *= it[i].extent;
    }
    *shape = (axe_shape){dims, e};
    return n;
}

static const axe_layout *
draw_result(axe_ctx *cx, axe_iter *it, int n)
{
    const axe_layout *l = NULL;
    int               end[DIGITS], dims = 0;

    for (int i = n - 1; i > 0; i--) {
        int      j = draw(i + 1);
        axe_iter t = it[i];

        it[i] = it[j];
        it[j] = t;
    }
    for (int i = 1; i <= n; i++)
        if (i == n || draw(2))
            end[dims++] = i;
    assert_int_equal(axe_layout_make(cx,
                                     &(axe_layout){.n_shard = n,
                                                   .shard = it,
                                                   .n_dim = dims,
                                                   .dim_end = end},
                                     &l),
                     AXE_OK);
    return l;
}

static void
test_back(void **state)
{
    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        axe_ctx            *cx = axe_ctx_new();
        axe_convert_options opt = {.keep = AXE_KEEP_UNSAID};
        axe_iter            it[DIGITS];
        axe_shape           shape;
        const axe_layout   *l, *back;
        const char         *text = NULL;
        bool                same = false;
        int                 n;

        state_ = (uint64_t)seed;
        n = draw_argument(cx, it, &shape);
        l = draw_result(cx, it, n);
        for (int known = 0; known < 2; known++) {
            opt.shape = known ? shape : (axe_shape){0, NULL};
            if (axe_convert_write(cx, "einops", l, &opt, &text) != AXE_OK ||
                axe_convert_read(cx, "einops", text, &opt, &back) != AXE_OK ||
                axe_layout_equal(cx, l, back, &same) != AXE_OK || !same)
                fail_msg("seed %d: %s as %s: %s", seed, axe_layout_text(cx, l),
                         text ? text : "nothing", axe_last_error(cx));
        }
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
