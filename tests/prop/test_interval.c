/* test_interval.c - intervals of integer expressions against their definition.
 *
 * Every operation on all pairs of intervals within -6..6, with and without each
 * side: what the operation says must hold each value that operands from the two
 * can make; and of two bounded operands, with a divisor of at least 1, nothing
 * beyond the least and the greatest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/ir.h"

enum { NEAR = 6, FAR = 14 };

typedef struct operand {
    const axe_node *node;
    axe_interval    in;
} operand;

typedef struct operation {
    axe_op op;
    int    n_arg;
    bool   exact;
} operation;

static int64_t
floor_of(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t
value_of(axe_op op, int64_t a, int64_t b)
{
    switch (op) {
    case AXE_OP_add:
        return a + b;
    case AXE_OP_sub:
        return a - b;
    case AXE_OP_mul:
        return a * b;
    case AXE_OP_div:
        return floor_of(a, b);
    case AXE_OP_cdiv:
        return b == 0 ? 0 : -floor_of(-a, b);
    case AXE_OP_mod:
        return a - floor_of(a, b) * b;
    case AXE_OP_band:
        return a & b;
    case AXE_OP_min:
        return a < b ? a : b;
    case AXE_OP_max:
        return a > b ? a : b;
    case AXE_OP_neg:
        return -a;
    default:
        return a < 0 ? -a : a;
    }
}

static bool
known(const void *user, const axe_node *n, axe_interval *out)
{
    const operand *o = user;

    for (int i = 0; i < 2; i++)
        if (n == o[i].node) {
            *out = o[i].in;
            return true;
        }
    return false;
}

static bool
holds(axe_interval r, int64_t v)
{
    return (!r.has_lo || v >= r.lo) && (!r.has_hi || v <= r.hi);
}

/* A side that is not known has the values up to FAR. */
static int64_t
first_of(axe_interval r)
{
    return r.has_lo ? r.lo : -FAR;
}

static int64_t
last_of(axe_interval r)
{
    return r.has_hi ? r.hi : FAR;
}

static void
fail_with(const operation *f, const operand *o, axe_interval r, int64_t v)
{
    print_error("op %d of %d..%d (known %d %d) and %d..%d (known %d %d): "
                "%d..%d (known %d %d) and %d\n",
                (int)f->op, (int)o[0].in.lo, (int)o[0].in.hi, o[0].in.has_lo,
                o[0].in.has_hi, (int)o[1].in.lo, (int)o[1].in.hi,
                o[1].in.has_lo, o[1].in.has_hi, (int)r.lo, (int)r.hi, r.has_lo,
                r.has_hi, (int)v);
    fail();
}

static void
check_one(const operation *f, const axe_node *n, operand *o)
{
    axe_interval r = axe_interval_where(n, known, o);
    int64_t      least = INT64_MAX, most = INT64_MIN;
    bool         exact = f->exact;

    for (int i = 0; i < f->n_arg; i++)
        exact = exact && o[i].in.has_lo && o[i].in.has_hi;
    if (f->op == AXE_OP_div || f->op == AXE_OP_cdiv)
        exact = exact && o[1].in.lo >= 1;
    for (int64_t a = first_of(o[0].in); a <= last_of(o[0].in); a++)
        for (int64_t b = first_of(o[1].in); b <= last_of(o[1].in); b++) {
            int64_t v = value_of(f->op, a, b);
            if (!holds(r, v))
                fail_with(f, o, r, v);
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
    if (exact && (!r.has_lo || !r.has_hi || r.lo != least || r.hi != most))
        fail_with(f, o, r, least);
}

/* The k-th of all intervals within lo..NEAR; false behind the last. */
static bool
next_interval(axe_interval *r)
{
    if (++r->hi > NEAR)
        r->hi = ++r->lo;
    if (r->lo <= NEAR)
        return true;
    r->lo = r->hi = -NEAR;
    if (r->has_lo && r->has_hi)
        return r->has_hi = false, true;
    if (r->has_lo)
        return r->has_lo = false, r->has_hi = true, true;
    return r->has_hi && (r->has_hi = false, true);
}

static void
test_all(void **state)
{
    static const operation all[] = {
        {AXE_OP_add, 2, true},   {AXE_OP_sub, 2, true},  {AXE_OP_mul, 2, true},
        {AXE_OP_div, 2, true},   {AXE_OP_cdiv, 2, true}, {AXE_OP_mod, 2, false},
        {AXE_OP_band, 2, false}, {AXE_OP_min, 2, true},  {AXE_OP_max, 2, true},
        {AXE_OP_neg, 1, true},   {AXE_OP_abs, 1, false}};
    static const axe_var var[2] = {{.id = 0}, {.id = 1}};
    const axe_node       first = {
              .op = AXE_OP_var, .type = AXE_TYPE_INDEX, .u.var = &var[0]};
    const axe_node second = {
        .op = AXE_OP_var, .type = AXE_TYPE_INDEX, .u.var = &var[1]};
    axe_ctx     *cx = axe_ctx_new();
    axe_interval begin = {-NEAR, -NEAR, true, true};
    long         n = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(all); i++) {
        operand o[2];
        o[0].node = &first;
        o[1].node = &second;
        const axe_node *f =
            all[i].n_arg == 1 ? axe_node1(cx, all[i].op, o[0].node)
                              : axe_node2(cx, all[i].op, o[0].node, o[1].node);
        o[0].in = begin;
        do {
            o[1].in =
                all[i].n_arg == 1 ? (axe_interval){0, 0, true, true} : begin;
            do {
                check_one(&all[i], f, o);
                n++;
            } while (all[i].n_arg > 1 && next_interval(&o[1].in));
        } while (next_interval(&o[0].in));
    }
    assert_true(n > 1000 * 1000);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
