/* test_linear_parts.c - random linear layouts: what was multiplied divides
 * again, inverses invert, and dimensions that are cut, reordered, joined or
 * left out give the values that the definition, enumerated, says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "convert/linear.h"

enum { CASES = 2000 };

static uint64_t state_;

static int
draw(int n)
{
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (int)((state_ >> 33) % (uint64_t)n);
}

static const char *const ins[] = {"register", "lane", "warp"};
static const char *const outs[] = {"dim0", "dim1", "dim2"};

/* Up to three inputs and outputs, of few bits. */
static axe_linear
draw_linear(int n_in, int n_out)
{
    axe_linear l = {.n_in = n_in, .n_out = n_out};

    for (int d = 0; d < n_in; d++) {
        l.in[d] = ins[d];
        l.in_bits[d] = draw(3);
    }
    for (int k = 0; k < n_out; k++) {
        l.out[k] = outs[k];
        l.out_bits[k] = draw(3);
    }
    for (int i = 0; i < axe_linear_in_at(&l, n_in); i++)
        l.basis[i] =
            draw(4) ? (uint64_t)draw(1 << axe_linear_out_at(&l, n_out)) : 0;
    return l;
}

/* The value at a packed input. */
static uint64_t
at(const axe_linear *l, uint64_t x)
{
    uint64_t y = 0;

    for (int i = 0; i < axe_linear_in_at(l, l->n_in); i++)
        y ^= x >> i & 1 ? l->basis[i] : 0;
    return y;
}

static bool
equal(const axe_linear *a, const axe_linear *b)
{
    bool same = a->n_in == b->n_in && a->n_out == b->n_out;

    for (int d = 0; same && d < a->n_in; d++)
        same =
            strcmp(a->in[d], b->in[d]) == 0 && a->in_bits[d] == b->in_bits[d];
    for (int k = 0; same && k < a->n_out; k++)
        same = strcmp(a->out[k], b->out[k]) == 0 &&
               a->out_bits[k] == b->out_bits[k];
    for (int i = 0; same && i < axe_linear_in_at(a, a->n_in); i++)
        same = a->basis[i] == b->basis[i];
    return same;
}

static void
test_divide(void **state)
{
    int found = 0;

    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        axe_ctx   *cx = axe_ctx_new();
        axe_linear a, b, ab, c, back;

        state_ = (uint64_t)seed;
        a = draw_linear(2, 2);
        b = draw_linear(2, 2);
        assert_int_equal(axe_linear_mul(cx, &a, &b, &ab), AXE_OK);
        if (axe_linear_divide(cx, &ab, &a, true, &c) != AXE_OK ||
            !equal(&c, &b))
            fail_msg("seed %d: a * b is not divided by a from the left", seed);
        if (axe_linear_divide(cx, &ab, &b, false, &c) != AXE_OK ||
            !equal(&c, &a))
            fail_msg("seed %d: a * b is not divided by b from the right", seed);
        for (int left = 0; left < 2; left++) {
            if (axe_linear_divide(cx, &a, &b, left, &c) != AXE_OK)
                continue;
            found++;
            assert_int_equal(left ? axe_linear_mul(cx, &b, &c, &back)
                                  : axe_linear_mul(cx, &c, &b, &back),
                             AXE_OK);
            if (!equal(&back, &a))
                fail_msg("seed %d: a quotient that is none", seed);
        }
        axe_ctx_free(cx);
    }
    assert_true(found > CASES / 100);
}

static void
test_pseudoinvert(void **state)
{
    int found = 0;

    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        axe_ctx   *cx = axe_ctx_new();
        axe_linear a, b;
        uint64_t   n;

        state_ = (uint64_t)seed;
        a = draw_linear(3, 2);
        n = (uint64_t)1 << axe_linear_out_at(&a, a.n_out);
        if (axe_linear_pseudoinvert(cx, &a, &b) == AXE_OK) {
            found++;
            for (uint64_t y = 0; y < n; y++)
                if (at(&a, at(&b, y)) != y)
                    fail_msg("seed %d: not inverted at %d", seed, (int)y);
        } else if (axe_linear_surjective(&a)) {
            fail_msg("seed %d: %s", seed, axe_last_error(cx));
        }
        axe_ctx_free(cx);
    }
    assert_true(found > CASES / 20);
}

/* A packed number by its dimensions, whose order changes. */
static uint64_t
reordered(uint64_t v, int n, const int *bits, const int *from)
{
    uint64_t out = 0;
    int      to = 0;

    for (int k = 0; k < n; k++) {
        int low = 0;

        for (int i = 0; i < from[k]; i++)
            low += bits[i];
        out |= (v >> low & (((uint64_t)1 << bits[from[k]]) - 1)) << to;
        to += bits[from[k]];
    }
    return out;
}

static void
test_transpose(void **state)
{
    static const int turns[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 0, 2}, {2, 1, 0}};

    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        axe_ctx    *cx = axe_ctx_new();
        const int  *from;
        const char *name[3];
        axe_linear  a, b, c;

        state_ = (uint64_t)seed;
        a = draw_linear(3, 3);
        from = turns[draw(4)];
        for (int k = 0; k < 3; k++)
            name[k] = outs[from[k]];
        assert_int_equal(
            axe_linear_transpose_outs(cx, &a, (axe_linear_names){3, name}, &b),
            AXE_OK);
        for (int k = 0; k < 3; k++)
            name[k] = ins[from[k]];
        assert_int_equal(
            axe_linear_transpose_ins(cx, &b, (axe_linear_names){3, name}, &c),
            AXE_OK);
        for (uint64_t x = 0; x >> axe_linear_in_at(&a, 3) == 0; x++)
            if (at(&c, reordered(x, 3, a.in_bits, from)) !=
                reordered(at(&a, x), 3, a.out_bits, from))
                fail_msg("seed %d: another value at %d", seed, (int)x);
        axe_ctx_free(cx);
    }
}

static void
test_reshape(void **state)
{
    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        axe_ctx         *cx = axe_ctx_new();
        axe_linear       a, b;
        axe_linear_names x = {2, ins}, y = {2, outs};
        int              in[2], out[2];

        state_ = (uint64_t)seed;
        a = draw_linear(3, 3);
        in[0] = draw(axe_linear_in_at(&a, 3) + 1);
        in[1] = axe_linear_in_at(&a, 3) - in[0];
        out[0] = draw(axe_linear_out_at(&a, 3) + 1);
        out[1] = axe_linear_out_at(&a, 3) - out[0];
        assert_int_equal(axe_linear_reshape_ins(cx, &a, x, in, &b), AXE_OK);
        assert_int_equal(axe_linear_reshape_outs(cx, &b, y, out, &b), AXE_OK);
        assert_true(b.n_in == 2 && b.n_out == 2 && b.in_bits[1] == in[1] &&
                    b.out_bits[0] == out[0]);
        for (uint64_t v = 0; v >> (in[0] + in[1]) == 0; v++)
            assert_true(at(&a, v) == at(&b, v));
        out[0]++;
        assert_int_equal(axe_linear_reshape_outs(cx, &a, y, out, &b),
                         AXE_ESHAPE);
        axe_ctx_free(cx);
    }
}

static void
test_parts(void **state)
{
    (void)state;
    for (int seed = 0; seed < CASES; seed++) {
        axe_ctx   *cx = axe_ctx_new();
        axe_linear a, part[2], b, zero;
        int        low, cut;

        state_ = (uint64_t)seed;
        a = draw_linear(2, 2);
        low = a.out_bits[0];
        cut = a.in_bits[0];
        for (int k = 0; k < 2; k++)
            assert_int_equal(
                axe_linear_sublayout(cx, &a, (axe_linear_names){2, ins},
                                     (axe_linear_names){1, &outs[k]}, &part[k]),
                AXE_OK);
        for (uint64_t x = 0; x >> axe_linear_in_at(&a, 2) == 0; x++)
            assert_true(at(&a, x) ==
                        (at(&part[0], x) | at(&part[1], x) << low));
        assert_int_equal(axe_linear_concat_outs(cx, &part[0], &part[1], &b),
                         AXE_OK);
        assert_true(equal(&a, &b));
        for (int d = 0; d < 2; d++)
            assert_int_equal(
                axe_linear_sublayout(cx, &a, (axe_linear_names){1, &ins[d]},
                                     (axe_linear_names){2, outs}, &part[d]),
                AXE_OK);
        assert_true(at(&part[1], 1) == at(&a, (uint64_t)1 << cut) ||
                    a.in_bits[1] == 0);
        assert_int_equal(axe_linear_concat_ins(cx, &part[0], &part[1], &b),
                         AXE_OK);
        assert_true(equal(&a, &b));
        assert_int_equal(axe_linear_drop_zeros(cx, &a, "lane", &zero), AXE_OK);
        for (int i = 0; i < zero.in_bits[1]; i++)
            assert_true(zero.basis[axe_linear_in_at(&zero, 1) + i] != 0);
        assert_true(axe_linear_surjective(&zero) == axe_linear_surjective(&a) &&
                    zero.in_bits[0] == cut);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divide),    cmocka_unit_test(test_pseudoinvert),
        cmocka_unit_test(test_transpose), cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
