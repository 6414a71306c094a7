/* test_sim_address.c - the byte addresses that texts have are the elements': as
 * lower/pass/address.c makes them, and errors in them are found. */
#include "sim_check.h"

/* Each thread of two warps stores 16 bytes, twice, to rows of 128 bytes whose
 * pieces of 16 are exchanged: piece lane % 8 of row lane / 8 + 4 u of the
 * warp's eight; then 4 bytes, of a piece behind the lane's and of the one
 * after.  Then lanes read what two of their bits add up to, behind 8 bytes, so
 * that it may be 16; and the second piece of a row. */
static void
make_grid(void)
{
    const axe_tensor *px, *py, *tile, *flat;
    const axe_tensor *reg = one_cta("sm_80", 64, 1, 1, &px, &py);
    node              u, warp = id(&m, AXE_ID_WARP), four = mul(&m, lane(), 4);

    tile = buffer(&m, "tile", AXE_TYPE_f32, 1024, 128);
    flat = buffer(&m, "flat", AXE_TYPE_f32, 1024, 0);
    for (int i = 0; i < 4; i++)
        calc(&m, reg, n(i), f32_of(lane()));
    u = var(&m, begin_for(&m, "u", n(0), n(2)));
    m.grid.body.item[m.grid.body.n - 1]->unroll = true;
    u = add(&m, mul(&m, u, 128), mul(&m, warp, 256));
    u = add(&m, mul(&m, quot(&m, lane(), 8), 32), u);
    u = add(&m, mul(&m, rem(&m, lane(), 8), 4), u);
    move("st.shared.b128", at(tile, u), at(reg, n(0)));
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    warp = mul(&m, warp, 512);
    move("st.shared.b32", at(tile, add(&m, add(&m, four, n(4)), warp)),
         at(reg, n(0)));
    move("st.shared.b32", at(tile, add(&m, add(&m, four, n(2)), warp)),
         at(reg, n(0)));
    atom(&m, "barrier.cta", 0, 0, NULL);
    four = add(&m, mul(&m, rem(&m, lane(), 8), 4), quot(&m, lane(), 8));
    four = add(&m, four, n(32 * 5));
    move("st.shared.b32",
         at(tile, add(&m, four, mul(&m, id(&m, AXE_ID_WARP), 256))),
         at(reg, n(0)));
    move("st.shared.b32",
         at(flat, add(&m, lane(), mul(&m, id(&m, AXE_ID_WARP), 32))),
         at(reg, n(0)));
    atom(&m, "barrier.cta", 0, 0, NULL);
    warp = add(&m, mul(&m, id(&m, AXE_ID_WARP), 256),
               mul(&m, quot(&m, lane(), 8), 32));
    four = add(&m, rem(&m, lane(), 2), rem(&m, quot(&m, lane(), 2), 2));
    move("ld.shared.b32", at(reg, n(0)),
         at(tile, add(&m, add(&m, four, n(2)), warp)));
    move("ld.shared.b32", at(reg, n(0)), at(tile, add(&m, warp, n(4))));
}

/* The nth that moves. */
static axe_byte_at *
address(int nth)
{
    const axe_lblock *b = &m.grid.body;
    axe_byte_at      *copy = axe_new(cx, axe_byte_at);
    axe_arg          *arg = NULL;

    for (int i = 0; i < b->n && !arg; i++) {
        axe_lir *l =
            b->item[i]->body.n > 0 ? b->item[i]->body.item[0] : b->item[i];
        if (l->kind == AXE_LIR_ATOM && l->n_arg == 2 && nth-- == 0)
            arg = &l->arg[l->arg[0].space == AXE_ARG_REG];
    }
    assert_non_null(arg);
    *copy = *arg->byte;
    arg->byte = copy;
    return copy;
}

static const char *
text_of(const axe_byte_at *a)
{
    static const char *const how[] = {"moved ", "", "done "};
    axe_buf                  b = {.cx = cx};

    for (int i = 0; i < a->n; i++)
        axe_putf(&b, "%s%s[%s]", i > 0 ? " ^ " : "", how[a->part[i].how],
                 axe_node_text(cx, a->part[i].at));
    if (a->behind)
        axe_putf(&b, "%s%s", a->n > 0 ? " + " : "",
                 axe_node_text(cx, a->behind));
    return b.text;
}

static void
test_made(void **state)
{
    static const char *const want[] = {
        ("moved [lane%8*16 + lane/8*128] ^ moved [u*512] + "
         "warp*1024"),
        "moved [lane*16 + 16] + warp*2048",
        "moved [lane*16] + 8 + warp*2048",
        "[lane%8*16 + lane/8*4] ^ done [720] + warp*1024",
        "lane*4 + warp*128",
        "moved [lane%2*4 + lane/2%2*4 + lane/8*128 + 8] + warp*1024",
        "moved [lane/8*128] ^ [16] + warp*1024",
    };

    (void)state;
    make_grid();
    run_clean();
    for (int i = 0; i < AXE_LEN(want); i++)
        assert_string_equal(text_of(address(i)), want[i]);
}

/* ---------------------------------------------------------------- mistakes */

typedef void mistake(axe_byte_at *a);

/* What is no multiple of a period is added behind. */
static void
add_behind(axe_byte_at *a)
{
    a->behind = add(&m, a->part[1].at, a->behind);
    a->n = 1;
}

/* Apart, though both have bits of the lane's piece. */
static void
take_apart(axe_byte_at *a)
{
    const axe_node *sum = a->part[0].at;

    a->n = 2;
    a->part[0].at = sum->arg[0];
    a->part[1].at = sum->arg[1];
    a->part[1].how = AXE_SWIZZLE_KEEPS;
}

static void
leave_alone(axe_byte_at *a)
{
    a->part[0].how = AXE_SWIZZLE_KEEPS;
}

static void
move_again(axe_byte_at *a)
{
    a->part[1].how = AXE_SWIZZLE_MOVES;
}

static void
forget(axe_byte_at *a)
{
    a->behind = NULL;
}

/* No part, as a descriptor's. */
static void
make_plain(axe_byte_at *a)
{
    a->behind = add(&m, a->part[0].at, a->behind);
    a->n = 0;
}

static void
count_elements(axe_byte_at *a)
{
    a->behind = lane();
}

static const struct {
    int         nth;
    mistake    *make;
    const char *said;
} rows[] = {
    {0, add_behind, "means element"}, /* bit 9 is read */
    {1, take_apart, "of tile"},
    {0, leave_alone, "lane 8 of warp 0"},
    {3, move_again, "its address is"},
    {2, forget, "of tile, at byte 2056, and its address is 0"},
    {1, make_plain, "of tile"},
    {4, count_elements,
     "means element 1 of flat, at byte 4, and its address is 1"},
};

static axe_status
run_made(void)
{
    static const int64_t shape[] = {1, AXE_LEN(x)};
    axe_sim_array        param[2] = {{x, shape, NULL}, {y, shape, NULL}};
    axe_sim_spec         spec = {.param = param, .with = with};

    r = (axe_sim_report){0};
    return axe_simulate(cx, &m.lowered, &spec, &r);
}

static bool
is_found(const char *words)
{
    for (int i = 0; i < r.n_finding; i++)
        if (r.finding[i].kind == AXE_SIM_ADDRESS &&
            strstr(r.finding[i].text, words))
            return true;
    return false;
}

static void
test_mistakes(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        make_grid();
        made(&m);
        rows[i].make(address(rows[i].nth));
        assert_int_equal(run_made(), AXE_OK);
        if (!is_found(rows[i].said))
            fail_msg("row %d: %s", i, said());
    }
}

/* Code that no pass has given addresses to is refused. */
static void
test_none(void **state)
{
    (void)state;
    make_grid();
    made(&m);
    *address(4) = (axe_byte_at){0};
    assert_int_equal(run_made(), AXE_EUNSUPPORTED);
    assert_non_null(
        strstr(axe_last_error(cx), "an operand in flat has no address"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(made),
        TEST(mistakes),
        TEST(none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
