/* test_sim_mutations_ts.c - test_sim_mutations.c for a kernel that writes a
 * factor to tensor memory, and scales sums there, and for one whose products
 * several warps ask for. */
#include "mutants.h"

typedef enum which { CHAIN, ASKED, N_WHICH } which;

/* clang-format off */
static const mutation rows[] = {
    {"scores are overwritten unread",        CHAIN, "mbarrier.wait", 7, DROP, 0, 0, K(RACE) | K(LAPPED)},
    {"scores are not waited for",            CHAIN, "mbarrier.wait", 9, DROP, 0, 0, K(RACE)},
    {"they are, without AFTER",              CHAIN, "tc.after", 4, DROP, 0, 0, K(TFENCE)},
    {"they are weighed before they are read", CHAIN, "tc.ld.drain", 0, DROP, 0, 0, K(FLIGHT)},
    {"they are given back without BEFORE",   CHAIN, "tc.before", 1, DROP, 0, 0, K(RACE)},
    {"one warp group gives them back",       CHAIN, "mbarrier.init", 11, SET, 1, 4, K(RACE) | K(LAPPED) | K(ARRIVALS)},
    {"weights are written under a product",  CHAIN, "mbarrier.wait", 11, DROP, 0, 0, K(RACE) | K(LAPPED)},
    {"they are there before they are",       CHAIN, "tc.st.drain", 0, DROP, 0, 0, K(RACE) | K(FLIGHT)},
    {"they are there without BEFORE",        CHAIN, "tc.before", 2, DROP, 0, 0, K(RACE)},
    {"those of one warp group are enough",   CHAIN, "mbarrier.init", 12, SET, 1, 128, K(RACE) | K(LAPPED) | K(ARRIVALS)},
    {"they are written to other columns",    CHAIN, "tc.st.32x32b.x16", 0, ADD, 0, 32, K(RACE) | K(UNINIT) | K(BOUNDS)},
    {"they are written to other lanes",      CHAIN, "tc.st.32x32b.x16", 0, ADD, 0, 32 << 17, K(REACH)},
    {"weights are not waited for",           CHAIN, "mbarrier.wait", 16, DROP, 0, 0, K(RACE)},
    {"the AFTER behind is theirs, too",      CHAIN, "tc.after", 7, DROP, 0, 0, 0},
    {"weights of other columns",             CHAIN, "tc.f32.f16.m128.ts", ALL, ADD, 1, 16, K(RACE) | K(UNINIT) | K(BOUNDS)},
    {"weights are not given back",           CHAIN, "tc.commit", 5, DROP, 0, 0, K(DEADLOCK)},
    {"scales are not waited for",            CHAIN, "mbarrier.wait", 14, DROP, 0, 0, K(RACE)},
    {"sums are scaled under a product",      CHAIN, "mbarrier.wait", 15, DROP, 0, 0, K(RACE)},
    {"they are behind it, without AFTER",    CHAIN, "tc.after", 6, DROP, 0, 0, K(TFENCE)},
    {"they are scaled before they are read", CHAIN, "tc.ld.drain", 1, DROP, 0, 0, K(FLIGHT)},
    {"a product while they are scaled",      CHAIN, "bar.sync<", 0, DROP, 0, 0, K(RACE)},
    {"a product before they are written",    CHAIN, "tc.st.drain", 2, DROP, 0, 0, K(RACE) | K(FLIGHT)},
    {"a product behind them without BEFORE", CHAIN, "tc.before", 3, DROP, 0, 0, K(RACE)},
    {"sums to other columns",                CHAIN, "tc.f32.f16.m128.ts", ALL, ADD, 0, 32, K(RACE) | K(UNINIT) | K(BOUNDS)},
    {"sums are stored under a product",      CHAIN, "mbarrier.wait", 18, DROP, 0, 0, K(RACE)},
    {"weights may be read when it ends",     CHAIN, "mbarrier.wait", 13, DROP, 0, 0, K(LEFT)},
    {"keys may be, too",                     CHAIN, "mbarrier.wait", 3, DROP, 0, 0, K(LEFT)},
    {"one warp's are not told",              ASKED, "tc.commit", 0, DROP, 0, 0, K(DEADLOCK)},
    {"nor the other's",                      ASKED, "tc.commit", 1, DROP, 0, 0, K(DEADLOCK)},
    {"one arrival is enough",                ASKED, "mbarrier.init", 0, SET, 1, 1, K(RACE) | K(LAPPED) | K(ARRIVALS)},
    {"products are not waited for",          ASKED, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"three warps give registers",           CHAIN, "setmaxnreg.dec", 0, ONLY, 0, 3, K(PARTIAL)},
};
/* clang-format on */

static const subject subjects[N_WHICH] = {
    [CHAIN] = {.file = "attention_sm100.axe",
               .machine = "sm_100a",
               .array = {{"Q", {1, 1, 256, 64}},
                         {"K", {1, 200, 64}},
                         {"V", {1, 200, 64}},
                         {"O", {1, 1, 256, 64}}},
               .more = {{"D", "64"}, {"STAGES", "2"}}},
    [ASKED] = {.file = "../tests/scopes/tmem_asked.axe",
               .machine = "sm_100a",
               .array = {{"A", {128, 64}},
                         {"B", {256, 64}},
                         {"C", {4, 128, 256}}},
               .typed = true},
};

int
main(void)
{
    return run_mutants(N_WHICH, subjects, AXE_LEN(rows), rows);
}
