/* test_verdict.c - when the benchmark on a GPU says that a target is met. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../bench/rows/rows.h"

enum { MOST = 4 };

/* clang-format off */
static const struct {
    int         how;
    double      least, ratio[MOST]; /* up to the first 0 */
    int         all;
    const char *want;
} cases[] = {
    {BY_MEAN, 1.0, {0},           2, "not measured"},
    {BY_EACH, 1.0, {0},           2, "not measured"},
    {BY_MEAN, 1.0, {0.5, 2},      2, "met"}, /* is 1 exactly */
    {BY_EACH, 1.0, {0.5, 2},      2, "missed"},
    {BY_EACH, 1.0, {2, 0.5},      2, "missed"},
    {BY_EACH, 0.5, {2, 0.5},      2, "met"},
    {BY_MEAN, 1.1, {0.5, 2},      2, "missed"},
    {BY_MEAN, 1.1, {0.5, 2},      3, "not all measured"},
    {BY_EACH, 1.1, {0.5, 2},      3, "missed"},
    {BY_EACH, 1.1, {1.5, 2},      3, "not all measured"},
    {BY_MEAN, 1.1, {1.5, 2},      3, "not all measured"},
    {BY_MEAN, 1.2, {0.5, 0.5, 8}, 3, "met"}, /* 1.26; 3 by the plain mean */
    {BY_MEAN, 1.3, {0.5, 0.5, 8}, 3, "missed"},
};
/* clang-format on */

static void
test_cases(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(cases); i++) {
        target  t = {.how = cases[i].how, .least = cases[i].least};
        reached x = {0};
        for (int k = 0; k < MOST && cases[i].ratio[k] > 0; k++)
            reached_add(&x, cases[i].ratio[k]);
        const char *got = target_verdict(&t, &x, cases[i].all);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("row %d: %s", i, got);
    }
}

static void
test_mean(void **state)
{
    reached x = {0};

    (void)state;
    assert_true(reached_mean(&x) == 0);
    reached_add(&x, 2);
    reached_add(&x, 8);
    reached_add(&x, 0.5);
    assert_true(fabs(reached_mean(&x) - 2) < 1e-12);
    assert_true(x.n == 3 && x.least == 0.5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_mean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
