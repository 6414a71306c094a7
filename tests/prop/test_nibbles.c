/* test_nibbles.c - elements of 4 bits, two in a byte: a move of them is that of
 * the bytes.
 *
 * Random layouts of bytes, of which each is given two halves: one digit more of
 * the index, at a random place of it, with a step of 1 in registers or memory.
 * The move of the halves must be planned as that of the bytes is, to the last
 * count; with the digit at another place in one of the two layouts, or one odd
 * step, it must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "axe/move.h"

enum { CASES = 400, DIGITS = 4 };

static uint64_t state_ = 4;

static int
draw(int n)
{
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (int)((state_ >> 33) % (uint64_t)n);
}

static axe_axis
axis(axe_ctx *cx, const char *name)
{
    axe_axis a;

    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, name, &a), AXE_OK);
    return a;
}

/* The digits of extents e[] in a random order of places: lanes as far as they
 * go, then registers; or (memory) all of them on m. */
static void
place_digits(axe_ctx *cx, const int64_t *e, bool memory, axe_iter *it)
{
    axe_axis lane = axis(cx, "lane"), reg = axis(cx, "reg");
    int64_t  lanes = 1, regs = 1;
    int      left[DIGITS], n = DIGITS;

    for (int k = 0; k < DIGITS; k++)
        left[k] = k;
    while (n > 0) {
        int  at = draw(n), k = left[at];
        bool in_lane = !memory && lanes * e[k] <= 32 && draw(3) > 0;

        left[at] = left[--n];
        it[k] = (axe_iter){e[k], in_lane ? lanes : regs,
                           memory    ? AXE_AXIS_M
                           : in_lane ? lane
                                     : reg,
                           AXE_UNIT_ONE};
        *(in_lane ? &lanes : &regs) *= e[k];
    }
}

/* The bytes, or their halves with the digit at place `at`; `odd` makes one step
 * of what counts elements odd. */
static const axe_layout *
make(axe_ctx *cx, const axe_iter *it, bool memory, int at, bool odd)
{
    axe_axis          store = memory ? AXE_AXIS_M : axis(cx, "reg");
    axe_iter          all[DIGITS + 1];
    axe_offset        off = {2, store, AXE_UNIT_ONE};
    const axe_layout *l;
    int               n = 0;

    for (int k = 0; k <= DIGITS; k++) {
        if (k == at)
            all[n++] = (axe_iter){2, 1, store, AXE_UNIT_ONE};
        if (k < DIGITS) {
            all[n] = it[k];
            if (at >= 0 && it[k].axis == store)
                all[n].stride *= 2;
            n++;
        }
    }
    off.value = at < 0 ? 1 : odd ? 3 : 2;
    assert_int_equal(axe_layout_make(cx,
                                     &(axe_layout){.n_shard = n,
                                                   .shard = all,
                                                   .n_offset = 1,
                                                   .offset = &off},
                                     &l),
                     AXE_OK);
    return l;
}

static void
same_access(const axe_move_access *a, const axe_move_access *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->cycles, b->cycles);
    assert_int_equal(a->conflicts, b->conflicts);
    assert_int_equal(a->widest, b->widest);
    assert_int_equal(a->sectors, b->sectors);
}

static void
same_program(const axe_move_program *a, const axe_move_program *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->bits, 4);
    assert_int_equal(b->bits, 8);
    assert_int_equal(a->n_element, b->n_element);
    assert_int_equal(a->n_proved, b->n_proved);
    assert_int_equal(a->n_shuffle, b->n_shuffle);
    assert_int_equal(a->n_select, b->n_select);
    assert_int_equal(a->n_permute, b->n_permute);
    assert_int_equal(a->shared_bytes, b->shared_bytes);
    same_access(&a->store, &b->store);
    same_access(&a->load, &b->load);
    assert_true(a->cost == b->cost);
}

static void
one_case(axe_ctx *cx)
{
    static const int64_t    extents[] = {2, 2, 3, 4, 4, 5};
    bool                    from = draw(4) == 0, to = !from && draw(4) == 0;
    int64_t                 e[DIGITS];
    axe_iter                src[DIGITS], dst[DIGITS];
    int                     at = draw(DIGITS + 1);
    const axe_move_program *bytes, *halves;
    axe_move_options        opt = {
               .bits = 8, .memory = draw(2) ? AXE_MOVE_IN_SHARED : AXE_MOVE_IN_GLOBAL};

    for (int k = 0; k < DIGITS; k++)
        e[k] = extents[draw(6)];
    place_digits(cx, e, from, src);
    place_digits(cx, e, to, dst);
    if (axe_move_plan(cx, make(cx, src, from, -1, false),
                      make(cx, dst, to, -1, false), &opt, &bytes) != AXE_OK)
        return;
    opt.bits = 4;
    assert_int_equal(axe_move_plan(cx, make(cx, src, from, at, false),
                                   make(cx, dst, to, at, false), &opt, &halves),
                     AXE_OK);
    same_program(halves, bytes);
    assert_int_equal(
        axe_move_plan(cx, make(cx, src, from, at, false),
                      make(cx, dst, to, (at + 1) % (DIGITS + 1), false), &opt,
                      &halves),
        AXE_EUNSUPPORTED);
    assert_int_equal(axe_move_plan(cx, make(cx, src, from, at, true),
                                   make(cx, dst, to, at, false), &opt, &halves),
                     AXE_EUNSUPPORTED);
}

static void
test_halves(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        axe_ctx *cx = axe_ctx_new();

        assert_int_equal(axe_machine_axes_use(cx, "sm_90a"), AXE_OK);
        one_case(cx);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
