/* test_sim_turns.c - the orders that CTAs which wait for one another run in. */
#include "sim_counters.h"

static void
test_orders(void **state)
{
    static const char *const text[] = {
        "0 0 0", "1 0 0", "0 1 0", "0 1 -1", "1 2 0", "1 2 -1",
        "0 1 1", "0 1 3", "0 1 6", "2 0 0",  "2 0 0", "2 0 0",
    };
    const axe_sim_options first = {.seed = 40, .n_sm = 3};
    axe_sim_options       o;
    int                   i = 0;

    (void)state;
    for (; axe_sim_order(&first, 3, 2 * TILES, i, &o); i++) {
        assert_in_range(i, 0, AXE_LEN(text) - 1);
        assert_string_equal(
            axe_textf(cx, "%d %d %d", (int)o.policy, (int)o.turns, (int)o.who),
            text[i]);
        assert_int_equal(o.n_sm, 3);
        if (o.policy == AXE_SIM_RANDOM)
            assert_int_equal(o.seed, 40 + 2 + i - 9);
    }
    assert_int_equal(i, AXE_LEN(text));
    for (i = 0; axe_sim_order(&first, 3, 1, i, &o); i++) {
        assert_int_equal(o.turns, AXE_SIM_EVEN);
        assert_int_equal(o.seed, 40 + i);
    }
    assert_int_equal(i, 5);
    for (i = 0; axe_sim_order(&first, 9, 4, i, &o); i++)
        ;
    assert_int_equal(i, 2 + 4 + 2 + 9);
}

/* Who writes last is who was kept back, or not ahead. */
static void
test_turns(void **state)
{
    enum { BLOCKS = 5 };
    things g = {0};

    (void)state;
    for (int turns = AXE_SIM_EVEN; turns <= AXE_SIM_AHEAD; turns++)
        for (int who = -1; who < 2 * BLOCKS; who++) {
            int number = (who + BLOCKS) % BLOCKS, last = BLOCKS - 1;
            make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
            m.grid.blocks = n(BLOCKS);
            reach(&g, n(0), n(0));
            calc(&m, g.r, n(0), f32_of(id(&m, AXE_ID_BLOCK)));
            move("st.global.b32", at(g.y, lane()), at(g.r, n(0)));
            with = (axe_sim_options){
                .turns = (axe_sim_turns)turns, .who = who, .no_check = true};
            run_clean();
            if (turns == AXE_SIM_BEHIND)
                last = number;
            else if (turns == AXE_SIM_AHEAD && number == last)
                last--;
            assert_int_equal((int)y[0], last);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(orders),
        TEST(turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
