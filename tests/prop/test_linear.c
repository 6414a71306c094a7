/* test_linear.c - random conversions between layouts of powers of two: no more
 * shuffles and no more transactions than the published method of linear layouts
 * takes, by its description (bench/linear.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../bench/linear_random.h"

enum { PAIRS = 500 };

static void
test_never_more(void **state)
{
    int fewer = 0;

    (void)state;
    for (int i = 0; i < PAIRS; i++) {
        axe_ctx          *cx = axe_ctx_new();
        linear_pair       p;
        linear_comparison c;

        linear_random(cx, i, &p);
        if (!linear_compare(cx, &p, &c))
            fail_msg("pair %d: %s", i, axe_last_error(cx));
        if (c.our_shuffles > c.shuffles || c.our_transactions > c.transactions)
            fail_msg("%s to %s, %d bits: %d shuffles, not %d; %d "
                     "transactions, not %d",
                     axe_layout_text(cx, p.src), axe_layout_text(cx, p.dst),
                     p.bits, (int)c.our_shuffles, (int)c.shuffles,
                     (int)c.our_transactions, (int)c.transactions);
        fewer +=
            c.our_shuffles < c.shuffles || c.our_transactions < c.transactions;
        axe_ctx_free(cx);
    }
    assert_true(fewer > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
