/* test_sim_mutations_tc.c - test_sim_mutations.c for kernels whose sums are in
 * tensor memory. */
#include "mutants.h"

typedef enum which { SM100, PAIR, FP8, TAKES, PAIR_TAKES, QUAD, N_WHICH } which;

/* clang-format off */
static const mutation rows[] = {
    {"columns are not allocated",            SM100, "tc.alloc", 0, DROP, 0, 0, K(UNINIT) | K(TMEM)},
    {"half of the columns",                  SM100, "tc.alloc", 0, SET, 1, 64, K(TMEM)},
    {"columns are not freed",                SM100, "tc.free", 0, DROP, 0, 0, K(TMEM)},
    {"half of them are freed",               SM100, "tc.free", 0, SET, 1, 64, K(TMEM)},
    {"they are freed early",                 SM100, "meet.cta", 1, DROP, 0, 0, K(RACE) | K(LEFT)},
    {"their address is read early",          SM100, "meet.cta", 0, DROP, 0, 0, K(RACE)},
    {"an accumulator is not waited for",     SM100, "mbarrier.wait", 1, DROP, 0, 0, K(RACE)},
    {"an accumulator, by the wrong parity",  SM100, "mbarrier.wait", 1, FLIP, 1, 0, K(DEADLOCK)},
    {"the other accumulator is waited for",  SM100, "mbarrier.wait", 1, SET, 0, 0, K(RACE) | K(DEADLOCK) | K(LAPPED)},
    {"that of the factors is AFTER enough",  SM100, "tc.after", 1, DROP, 0, 0, 0},
    {"and the other way about",              SM100, "tc.after", 2, DROP, 0, 0, 0},
    {"factors are not waited for",           SM100, "mbarrier.wait", 2, DROP, 0, 0, K(RACE)},
    {"stages are not waited for",            SM100, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"sums are not waited for",              SM100, "mbarrier.wait", 3, DROP, 0, 0, K(RACE)},
    {"sums, by the wrong parity",            SM100, "mbarrier.wait", 3, FLIP, 1, 0, K(RACE) | K(LAPPED)},
    {"no AFTER when sums are there",         SM100, "tc.after", 3, DROP, 0, 0, K(TFENCE)},
    {"no BEFORE when they are read",         SM100, "tc.before", 1, DROP, 0, 0, K(RACE)},
    {"loads are not drained",                SM100, "tc.ld.drain", 0, DROP, 0, 0, K(FLIGHT)},
    {"an accumulator is not given back",     SM100, "mbarrier.arrive", 0, DROP, 0, 0, K(DEADLOCK)},
    {"by one warp of four",                  SM100, "mbarrier.init", 10, SET, 1, 1, K(LAPPED) | K(RACE)},
    {"accumulators are swapped in products", SM100, "tc.f32", ALL, SWAP, 0, 64, K(RACE) | K(UNINIT)},
    {"accumulators are swapped in loads",    SM100, "tc.ld.32x32b", 0, SWAP, 1, 64, K(RACE) | K(UNINIT)},
    {"products are for the wrong columns",   SM100, "tc.f32", ALL, ADD, 0, 32, K(RACE) | K(UNINIT) | K(BOUNDS)},
    {"a load of another warp's lanes",       SM100, "tc.ld.32x32b", 0, ADD, 1, 32 << 16, K(REACH)},
    {"a warp that does not load",            SM100, "tc.ld.32x32b", 0, ONLY, 0, 3, K(PARTIAL)},
    {"the first product adds to nothing",    SM100, "tc.f32", 0, SET, 3, 1, K(UNINIT)},
    {"sums are not committed",               SM100, "tc.commit", 1, DROP, 0, 0, K(DEADLOCK)},
    {"sums are committed to a ring's stage", SM100, "tc.commit", 1, BARRIER, 0, 0, K(DEADLOCK) | K(ARRIVALS) | K(RACE)},
    {"stages are not committed",             SM100, "tc.commit", 0, DROP, 0, 0, K(DEADLOCK)},
    {"stages are committed to the first",    SM100, "tc.commit", 0, SET, 0, 0, K(DEADLOCK) | K(ARRIVALS)},
    {"a factor from another stage",          SM100, "tc.f32", ALL, SET, 1, 0, K(RACE)},
    {"a factor without its swizzle",         SM100, "tc.f32", 0, BUFFER, 1, 64, K(LAYOUT) | K(MAP) | K(BOUNDS)},
    {"bytes of one CTA are expected",        PAIR, "mbarrier.expect", 0, SET, 1, 20480, K(BYTES)},
    {"both CTAs expect them",                PAIR, "mbarrier.expect", 0, ANYBODY, 0, 0, K(BYTES) | K(LEFT) | K(ARRIVALS) | K(DEADLOCK)},
    {"bytes are told to the second CTA",     PAIR, "tma.load.pair", 0, CTA, 2, 1, K(BYTES) | K(DEADLOCK)},
    {"each CTA takes a copy for its own",    PAIR, "tma.load.pair", 1, CTA, 2, 1, K(BYTES) | K(DEADLOCK)},
    {"the CTAs do not meet first",           PAIR, "meet.cluster", 0, DROP, 0, 0, K(RACE) | K(UNINITED)},
    {"the CTAs do not meet at the end",      PAIR, "meet.cluster", 1, DROP, 0, 0, K(RACE) | K(LEFT)},
    {"stages are free for the first alone",  PAIR, "tc.pair.commit", 0, SET, 1, 1, K(DEADLOCK) | K(BYTES)},
    {"stages are free for the second alone", PAIR, "tc.pair.commit", 0, SET, 1, 2, K(DEADLOCK) | K(BYTES)},
    {"sums are there for the first alone",   PAIR, "tc.pair.commit", 1, SET, 1, 1, K(DEADLOCK)},
    {"sums are there for a third CTA, too",  PAIR, "tc.pair.commit", 1, SET, 1, 7, K(BOUNDS)},
    {"accumulators go back to the second",   PAIR, "mbarrier.arrive.cluster", 0, SET, 1, 1, K(DEADLOCK)},
    {"accumulators are one CTA's to give",   PAIR, "mbarrier.init", 10, SET, 1, 4, K(LAPPED) | K(RACE)},
    {"an accumulator is not waited for",     PAIR, "mbarrier.wait", 1, DROP, 0, 0, K(RACE)},
    {"no BEFORE when sums are read",         PAIR, "tc.before", 1, DROP, 0, 0, K(RACE)},
    {"no AFTER when sums are there",         PAIR, "tc.after", 3, DROP, 0, 0, K(TFENCE)},
    {"no AFTER before columns are freed",    PAIR, "tc.after", 4, DROP, 0, 0, K(TFENCE)},
    {"accumulators are swapped in products", PAIR, "tc.f32", ALL, SWAP, 0, 64, K(RACE) | K(UNINIT)},
    {"factors of another stage",             PAIR, "tc.f32", ALL, SET, 2, 0, K(RACE)},
    {"sums a row on",                        PAIR, "tc.f32", ALL, ADD, 0, 65536, K(BOUNDS)},
    {"columns are left",                     PAIR, "tc.pair.free", 0, DROP, 0, 0, K(TMEM)},
    {"a block's sums are not waited for",    FP8, "mbarrier.wait", 3, DROP, 0, 0, K(RACE)},
    {"they are, without AFTER",              FP8, "tc.after", 3, DROP, 0, 0, K(TFENCE)},
    {"a block's sums are another's",         FP8, "tc.ld.32x32b", ALL, SET, 1, 0, K(RACE) | K(UNINIT)},
    {"they are scaled before they are read", FP8, "tc.ld.drain", ALL, DROP, 0, 0, K(FLIGHT)},
    {"they are given back unread",           FP8, "tc.before", 1, DROP, 0, 0, K(RACE)},
    {"one warp group gives them back",       FP8, "mbarrier.init", 14, SET, 1, 4, K(RACE) | K(LAPPED) | K(ARRIVALS)},
    {"a block is added to the one before",   FP8, "tc.f32", 0, SET, 3, 1, K(UNINIT)},
    {"every block is in one accumulator",    FP8, "tc.f32", ALL, SET, 0, 0, K(RACE) | K(UNINIT)},
    {"a block's sums are not committed",     FP8, "tc.commit", 1, DROP, 0, 0, K(DEADLOCK)},
    {"accumulators are not waited for",      FP8, "mbarrier.wait", 1, DROP, 0, 0, K(RACE)},
    {"nobody waits for the next tile",       TAKES, "mbarrier.wait", 2, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"its room is not waited for",           TAKES, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"its room, by the wrong parity",        TAKES, "mbarrier.wait", 0, FLIP, 1, 0, K(DEADLOCK) | K(RACE)},
    {"all answers come into one room",       TAKES, "clc.take", 0, SET, 0, 0, K(RACE) | K(UNINIT)},
    {"between two rooms",                    TAKES, "clc.take", 0, ADD, 0, 1, K(ALIGN)},
    {"beyond the last room",                 TAKES, "clc.take", 0, ADD, 0, 12, K(BOUNDS)},
    {"told at the wrong barrier",            TAKES, "clc.take", 0, SET, 1, 0, K(BYTES) | K(DEADLOCK)},
    {"nobody asks",                          TAKES, "clc.take", 0, DROP, 0, 0, K(BYTES) | K(DEADLOCK)},
    {"its bytes are not expected",           TAKES, "mbarrier.expect", 0, DROP, 0, 0, K(BYTES) | K(DEADLOCK)},
    {"other bytes are expected",             TAKES, "mbarrier.expect", 0, SET, 1, 32, K(BYTES) | K(DEADLOCK)},
    {"an answer is not read",                TAKES, "clc.taken", 0, DROP, 0, 0, K(UNINIT)},
    {"the answer before is read",            TAKES, "clc.taken", 1, SET, 1, 0, K(RACE) | K(UNINIT) | K(DEADLOCK)},
    {"that it was read is not said",         TAKES, "mbarrier.arrive", 0, DROP, 0, 0, K(DEADLOCK)},
    {"it is said by too few",                TAKES, "mbarrier.init", 19, SET, 1, 5, K(RACE) | K(LAPPED) | K(ARRIVALS)},
    {"it is told to one CTA of two",         PAIR_TAKES, "clc.take.multicast", 0, OWN, 0, 0, K(BYTES) | K(DEADLOCK)},
    {"the second one does not expect it",    PAIR_TAKES, "mbarrier.expect", 0, NOBODY, 0, 0, K(BYTES) | K(DEADLOCK)},
    {"it is given back to the second CTA",   PAIR_TAKES, "mbarrier.arrive.cluster", 0, SET, 1, 1, K(DEADLOCK) | K(BYTES)},
    {"it is given back by one CTA",          PAIR_TAKES, "mbarrier.init", 19, SET, 1, 6, K(RACE) | K(LAPPED) | K(ARRIVALS)},
    {"they do not meet at the end",          PAIR_TAKES, "meet.cluster", 1, DROP, 0, 0, K(RACE) | K(LEFT)},
    {"halves go to the wrong two CTAs",      QUAD, "tma.load.pair.multicast", 0, SET, 3, 10, K(BYTES) | K(DEADLOCK) | K(RACE)},
    {"halves go to all four",                QUAD, "tma.load.pair.multicast", 0, SET, 3, 15, K(BYTES) | K(RACE) | K(DEADLOCK)},
    {"halves go to one of two CTAs",         QUAD, "tma.load.pair.multicast", 0, SET, 3, 1, K(BYTES) | K(DEADLOCK)},
    {"halves are told to each second CTA",   QUAD, "tma.load.pair.multicast", 0, CTA, 2, 1, K(BYTES) | K(DEADLOCK)},
    {"a quarter lies where the other does",  QUAD, "tma.load.pair.multicast", 0, ADD, 0, 1024, K(RACE) | K(UNINIT) | K(BOUNDS)},
    {"a copy is told to the first pair",     QUAD, "tma.load.pair<", 0, CTA, 2, 0, K(BYTES) | K(DEADLOCK)},
    {"stages are free for one pair",         QUAD, "tc.pair.commit", 0, SET, 1, 3, K(DEADLOCK) | K(BYTES) | K(ARRIVALS)},
    {"stages are free when one pair says",   QUAD, "mbarrier.init", 6, SET, 1, 1, K(RACE) | K(LAPPED) | K(ARRIVALS) | K(BYTES)},
    {"sums are there for the first pair",    QUAD, "tc.pair.commit", 1, SET, 1, 3, K(DEADLOCK) | K(ARRIVALS) | K(RACE)},
    {"accumulators go back to CTA 0",        QUAD, "mbarrier.arrive.cluster", 0, SET, 1, 0, K(DEADLOCK) | K(ARRIVALS)},
};
/* clang-format on */

static const subject subjects[N_WHICH] = {
    [SM100] = {.file = "gemm_sm100.axe",
               .machine = "sm_100a",
               .array = {{"A", {384, 384}},
                         {"B", {256, 384}},
                         {"C", {384, 256}}},
               .bn = "64",
               .more = {{"CLUSTER", "1"}, {"STAGES", "4"}}},
    [PAIR] = {.file = "gemm_sm100.axe",
              .machine = "sm_100a",
              .array = {{"A", {768, 384}},
                        {"B", {256, 384}},
                        {"C", {768, 256}}},
              .bn = "64",
              .more = {{"STAGES", "4"}}},
    [TAKES] = {.file = "gemm_sm100.axe",
               .machine = "sm_100a",
               .array = {{"A", {512, 192}},
                         {"B", {512, 192}},
                         {"C", {512, 512}}},
               .bn = "64",
               .more = {{"CLUSTER", "1"}, {"DYNAMIC", "1"}}},
    [PAIR_TAKES] = {.file = "gemm_sm100.axe",
                    .machine = "sm_100a",
                    .array = {{"A", {1024, 192}},
                              {"B", {512, 192}},
                              {"C", {1024, 512}}},
                    .bn = "64",
                    .more = {{"DYNAMIC", "1"}}},
    [QUAD] = {.file = "gemm_sm100.axe",
              .machine = "sm_100a",
              .array = {{"A", {1024, 512}},
                        {"B", {128, 512}},
                        {"C", {1024, 128}}},
              .bn = "64",
              .more = {{"CLUSTER", "4"}}},
    [FP8] = {.file = "gemm_fp8_sm100.axe",
             .machine = "sm_100a",
             .array = {{"A", {256, 768}},
                       {"B", {128, 768}},
                       {"SA", {6, 256}},
                       {"SB", {1, 6}},
                       {"C", {256, 128}}},
             .typed = true},
};

static void
test_clean(void **state)
{
    (void)state;
    check_clean(N_WHICH, subjects);
}

static void
test_mutations(void **state)
{
    (void)state;
    check_mutations(subjects, AXE_LEN(rows), rows);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
