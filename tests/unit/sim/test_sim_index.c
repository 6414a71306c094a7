/* test_sim_index.c - indices whose printed texts do not hold them: values that
 * leave the 32 bits which were chosen for them, and negative ones that are
 * divided as if there were none. */
#include "sim_check.h"

/* A loop over 16 numbers whose variable is said to be below `extent`. */
static node
begin_below(int64_t extent)
{
    axe_var *v = axe_new(cx, axe_var);
    axe_lir *l;

    begin_for(&m, "v", n(0), n(16));
    l = m.grid.body.item[m.grid.body.n - 1];
    *v = *l->var;
    v->extent = n(extent);
    l->var = v;
    return var(&m, v);
}

static node
let(const char *name, node value)
{
    axe_lir *l = emit(&m, AXE_LIR_LET);

    l->var = new_var(&m, AXE_VAR_LOOP, name);
    l->value = value;
    return var(&m, l->var);
}

/* What a row computes of the loop's variable. */
typedef void compute(node v);

static void
multiply(node v)
{
    let("x", mul(&m, v, INT64_C(1) << 28));
}

static void
go_beyond(node v)
{
    node e = add(&m, mul(&m, v, INT64_C(1) << 26), n(INT32_MAX - (1 << 28)));

    begin_if(&m, less(&m, e, 7));
    end(&m);
}

/* Of 64 bits, but for the variable. */
static void
assign(node v)
{
    let("x", quot(&m, mul(&m, v, INT64_C(1) << 33), 32));
}

/* The 6th time a step of the loop leaves 32 bits, though its end does not. */
static void
count(node v)
{
    node e = add(&m, mul(&m, v, INT64_C(1) << 26), n(INT32_MAX - (5 << 26)));

    begin_for(&m, "w", e, e);
    end(&m);
}

/* Only what is added to round up leaves them. */
static void
round_up(node v)
{
    node five = op2(&m, AXE_OP_min, v, n(5));
    node e = add(&m, mul(&m, five, INT64_C(1) << 26), n(INT32_MAX - (5 << 26)));

    let("q", op2(&m, AXE_OP_cdiv, let("e", e), n(64)));
}

/* From the 6th on it is negative. */
static void
divide(node v)
{
    let("q", quot(&m, let("d", op2(&m, AXE_OP_sub, n(5), v)), 6));
}

static void
take_rest(node v)
{
    let("q", rem(&m, let("d", op2(&m, AXE_OP_sub, n(5), v)), 6));
}

static void
divide_by(node v)
{
    node d = let("d", op2(&m, AXE_OP_sub, n(5), v));

    let("q", op2(&m, AXE_OP_div, n(9), d));
}

/* Rounded down as the language has it: a difference may be negative. */
static void
divide_difference(node v)
{
    let("q", quot(&m, op2(&m, AXE_OP_sub, n(5), v), 6));
}

/* A shift rounds down whatever it shifts. */
static void
shift(node v)
{
    let("q", quot(&m, let("d", op2(&m, AXE_OP_sub, n(5), v)), 8));
}

static const struct {
    compute    *of;
    int64_t     extent;
    const char *said; /* NULL: nothing */
} rows[] = {
    {multiply, 4, "is 2147483648, and its text has 32 bits"},
    {multiply, 16, NULL},
    {go_beyond, 5, "a result of add is 2214592511"},
    {go_beyond, 16, NULL},
    {assign, 4, "the value of a variable is 2147483648"},
    {assign, 16, NULL},
    {count, 5, "the value of a variable is 2147483647"},
    {count, 16, NULL},
    {round_up, 5, "what is rounded up is 2147483710"},
    {round_up, 16, NULL},
    {divide, 16, "what is divided is -1"},
    {take_rest, 16, "what is divided is -1"},
    {divide_by, 16, "what divides is -1"},
    {divide_difference, 16, NULL},
    {shift, 16, NULL},
};

static void
make_row(int i)
{
    const axe_tensor *px, *py;

    one_cta("sm_80", 32, 1, 1, &px, &py);
    rows[i].of(begin_below(rows[i].extent));
    end(&m);
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        make_row(i);
        if (rows[i].said)
            run_wrong(AXE_SIM_INDEX, rows[i].said);
        else
            run_clean();
    }
}

/* Nothing is looked at where nothing is to be. */
static void
test_unchecked(void **state)
{
    (void)state;
    with.no_check = true;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        make_row(i);
        run_clean();
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows),
        TEST(unchecked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
