/* test_layout.c - axes, units, making, reading and printing layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"
#include "layout/layout_int.h"

static axe_ctx *
open_ctx(void)
{
    axe_ctx *cx = axe_ctx_new();

    assert_non_null(cx);
    axe_axes_open(cx, true);
    return cx;
}

/* clang-format off */
static const struct {
    const char *in, *want; /* want NULL: prints as it was */
} text_rows[] = {
    {"(8) : (1)", NULL},
    {"() : ()", NULL},
    {"(()) : (())", "() : ()"},
    {"(()) : ()", "() : ()"},
    {"(1) : (0)", NULL},
    {"((2, 3)) : ((3, 1))", NULL},
    {"(2, 3) : (3, 1)", NULL},
    {"((), 3) : ((), 1)", NULL},
    {"((), ()) : ((), ())", NULL},
    {"((2, 8), (3, 8)) : ((192, 8), (64, 1))", NULL},
    {"((2), (3, 8), ()) : (1, (64, 1), ())",
     "(2, (3, 8), ()) : (1, (64, 1), ())"},
    {"(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)+[2:4@warp]+5@warp",
     "(8, 2, 4, 2) : (4@lane, 1@warp, 1@lane, 1@reg) + [2 : 4@warp] + 5@warp"},
    {"(2) : (1) + [(2, 3) : (1@warp, -4@warp)]", NULL},
    {"(2) : (1) + [2 : 1@warp] + [3 : -4@warp]",
     "(2) : (1) + [(2, 3) : (1@warp, -4@warp)]"},
    {"(2) : (1) + [(2) : (1@warp)]", "(2) : (1) + [2 : 1@warp]"},
    {"(2) : (1) + [() : ()]", "(2) : (1)"},
    {"(2) : (1) + 3@P + 4@P - 2@P", "(2) : (1) + 5@P"},
    {"(2) : (1) - 3@P", NULL},
    {"(2) : (1) + -3@P", "(2) : (1) - 3@P"},
    {"(2) : (1) - -3@P", "(2) : (1) + 3@P"},
    {"(2) : (1) + 3@P - 3@P", "(2) : (1)"},
    {"(2) : (1) + 3 - 3@Q + 2@P + [2 : 1@P]",
     "(2) : (1) + [2 : 1@P] + 3 - 3@Q + 2@P"},
    {"(4, 4) : (128*K, K)", NULL},
    {"(4, 4) : (-2*K*M@P, -K@P) - 3*K@P", NULL},
    {"(4, 4) : (M*2*K, 1*K) + 0*K", "(4, 4) : (2*K*M, K)"},
    {"(1) : (-9223372036854775808)", NULL},
    {"(2*3, 4) : (2*3, 4*0)", "(6, 4) : (6, 0)"},
    {"(2) : (1) // a pair\n + 1 // moved", "(2) : (1) + 1"},
    {" ( 2 )\t:\r\n(1 @ P)", "(2) : (1@P)"},
    {"swizzle(128) o (64, 64) : (64, 1)", NULL},
    {"swizzle(32) o (64) : (1)", NULL},
    {"swizzle<3, 4, 3> 8b o (64) : (1)", "swizzle(128) o (64) : (1)"},
    {"swizzle<3, 3, 3> o (64) : (1)", NULL},
    {"swizzle<2, 4, -3> 16b o (64) : (1) + 8", NULL},
    {"swizzle<0, 4, -3> 16b o (64) : (1) + 8", "(64) : (1) + 8"},
};
/* clang-format on */

static bool
identical(const axe_layout *a, const axe_layout *b)
{
    if (a->n_shard != b->n_shard || a->n_replica != b->n_replica ||
        a->n_offset != b->n_offset || a->n_dim != b->n_dim ||
        a->size != b->size || !axe_swizzle_same(a->swizzle, b->swizzle))
        return false;
    for (int k = 0; k < a->n_dim; k++)
        if (a->dim_end[k] != b->dim_end[k])
            return false;
    for (int k = 0; k < a->n_offset; k++)
        if (a->offset[k].axis != b->offset[k].axis ||
            a->offset[k].unit != b->offset[k].unit ||
            a->offset[k].value != b->offset[k].value)
            return false;
    return axe_iters_same(a->n_shard, a->shard, b->shard) &&
           axe_iters_same(a->n_replica, a->replica, b->replica);
}

static void
test_text(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(text_rows); i++) {
        const char       *in = text_rows[i].in, *want = text_rows[i].want;
        const axe_layout *l, *again;
        axe_ctx          *cx = open_ctx();
        if (axe_layout_read(cx, in, &l) != AXE_OK)
            fail_msg("%s: %s", in, axe_last_error(cx));
        assert_string_equal(axe_layout_text(cx, l), want ? want : in);
        assert_int_equal(axe_layout_read(cx, axe_layout_text(cx, l), &again),
                         AXE_OK);
        if (!identical(l, again))
            fail_msg("%s: read, printed, read differs", in);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
