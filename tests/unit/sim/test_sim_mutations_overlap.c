/* test_sim_mutations_overlap.c - bugs put into launches whose CTAs wait for one
 * another's tiles: each must be found, and called what it is; as they are they
 * must be clean in every order of events. */
#include "mutants.h"

typedef enum which {
    SM90,
    SM100,
    PAIR,
    BOTH,
    GATHER,
    FIRST,
    WARPS,
    OVER,
    PICKS,
    N_WHICH
} which;

/* clang-format off */
static const mutation rows[] = {
    {"tiles are not waited for",             SM90, "counter.reach", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"one tile less is waited for",          SM90, "counter.reach", 0, SET, 1, 4, K(RACE) | K(UNINIT)},
    {"each tile is thought to count once",   SM90, "counter.reach", 0, SET, 1, 3, K(RACE) | K(UNINIT)},
    {"one tile more is waited for",          SM90, "counter.reach", 0, ADD, 1, 1, K(DEADLOCK)},
    {"those of the first rows are",          SM90, "counter.reach", 0, SET, 0, 8, K(RACE) | K(UNINIT)},
    {"those of the next rows are",           SM90, "counter.reach", 0, ADD, 0, 1, K(RACE) | K(BOUNDS) | K(UNINIT)},
    {"tiles are not counted",                SM90, "counter.count", 0, DROP, 0, 0, K(DEADLOCK)},
    {"they are counted for the next rows",   SM90, "counter.count", 0, ADD, 0, 1, K(BOUNDS) | K(DEADLOCK)},
    {"all are counted for the first rows",   SM90, "counter.count", 0, SET, 0, 8, K(DEADLOCK)},
    {"the first warp group alone counts",    SM90, "counter.count", 0, ONLY, 0, 0, K(DEADLOCK)},
    {"counted before copies are written",    SM90, "bulk.drain", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"when all but the last are",            SM90, "bulk.drain", 0, SET, 0, 1, K(RACE) | K(UNINIT)},
    {"copies that are no group",             SM90, "bulk.commit", 0, DROP, 0, 0, K(RACE) | K(LEFT)},
    {"its stages' memory is still read",     SM90, "bulk.read", 1, DROP, 0, 0, 0},
    {"the next scope takes the memory",      SM90, "barrier.cta", 1, DROP, 0, 0, K(RACE) | K(UNINITED)},
    {"registers are given back by a part",   SM90, "setmaxnreg.dec", 1, ONLY, 0, 1, K(PARTIAL)},
    {"its warps have not met since they gave", SM90, "bar.sync<", 0, DROP, 0, 0, K(PARTIAL)},
    {"boxes of what others' boxes wrote",    SM90, "tx.fence<", 0, DROP, 0, 0, K(PROXY)},

    {"tiles are not waited for",             SM100, "counter.reach", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"counted before copies are written",    SM100, "bulk.drain", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"who counts has written all itself",    SM100, "bar.sync<", 2, DROP, 0, 0, 0},
    {"its barriers are not seen",            SM100, "barrier.cta", 2, DROP, 0, 0, K(UNINITED)},

    {"one cluster alone need not wait",      PAIR, "counter.reach", 0, DROP, 0, 0, 0},
    {"tiles that are none are counted",      PAIR, "counter.count", 0, ADD, 0, 3, K(BOUNDS)},
    {"CTAs of a pair meet twice in between", PAIR, "barrier.cluster", 2, DROP, 0, 0, 0},

    {"who asks for boxes does not wait",     BOTH, "counter.reach", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"who reads by itself does not wait",    BOTH, "counter.reach", 3, DROP, 0, 0, 0},
    {"for neither of its tiles",             BOTH, "counter.reach", 2, DROP, 0, 0, 0},
    {"one thread of it waits alone",         BOTH, "bar.sync<", 0, DROP, 0, 0, 0},
    {"counted before all threads stored",    BOTH, "barrier.cta", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"every thread counts, as it stores",    BOTH, "counter.count", 0, ANYBODY, 0, 0, 0},
    {"boxes of what threads wrote",          BOTH, "tx.fence<", ALL, DROP, 0, 0, K(PROXY)},

    {"the row that is read is not waited for", GATHER, "counter.reach", 1, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"nor the tiles of the same rows",       FIRST, "counter.reach", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"threads read what one waited for",     GATHER, "barrier.cta", 2, DROP, 0, 0, K(RACE)},

    {"warps with roles have not met since",  WARPS, "bar.sync<", 4, DROP, 0, 0, K(PARTIAL)},
    {"some of them alone have",              WARPS, "bar.sync<", 4, SET, 1, 64, K(NAMED) | K(PARTIAL) | K(DEADLOCK)},
    {"boxes over what threads did",          OVER, "tx.fence<", ALL, DROP, 0, 0, K(PROXY)},
    {"the fence where they wait will do",    OVER, "tx.fence<", 0, DROP, 0, 0, 0},

    {"rows picked in a loop are not waited for", PICKS, "counter.reach", 0, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"the last shares are not",              PICKS, "counter.reach", 0, ONLY, 0, 1, K(RACE) | K(UNINIT)},
    {"those of the first tile are",          PICKS, "counter.reach", 0, SET, 0, 8, K(RACE) | K(UNINIT)},
    {"the rows behind them are",             PICKS, "counter.reach", 0, ADD, 0, 3, K(DEADLOCK) | K(BOUNDS)},
    {"a thread knows of its share alone",    PICKS, "barrier.cta", 2, DROP, 0, 0, K(RACE)},
};
/* clang-format on */

static const subject subjects[N_WHICH] = {
    [SM90] = {.file = "../examples/overlap_sm90.axe",
              .machine = "sm_90a",
              .array = {{"X", {300, 128}},
                        {"V", {264, 128}},
                        {"W", {200, 264}},
                        {"Y", {300, 200}}}},
    [SM100] = {.file = "../tests/sim/overlap_sm100.axe",
               .machine = "sm_100a",
               .more = {{"CLUSTER", "1"}},
               .array = {{"X", {300, 128}},
                         {"V", {264, 128}},
                         {"W", {200, 264}},
                         {"Y", {300, 200}}}},
    [PAIR] = {.file = "../tests/sim/overlap_sm100.axe",
              .machine = "sm_100a",
              .array = {{"X", {300, 128}},
                        {"V", {264, 128}},
                        {"W", {200, 264}},
                        {"Y", {300, 200}}}},
    [BOTH] = {.file = "../tests/sim/overlap_both.axe",
              .machine = "sm_90a",
              .array = {{"X", {200, 136}},
                        {"W", {136, 136}},
                        {"Y", {200, 136}}}},
    [GATHER] = {.file = "../tests/sim/overlap_rows.axe",
                .machine = "sm_80",
                .array = {{"X", {200, 48}}, {"row", {80}}, {"Y", {80, 48}}},
                .step = {0, 2},
                .typed = true},
    [PICKS] = {.file = "../tests/sim/overlap_picks.axe",
               .machine = "sm_80",
               .array = {{"X", {256, 48}},
                         {"at", {1, 16}},
                         {"w", {1, 16}},
                         {"Y", {1, 48}}},
               .step = {0, 16},
               .typed = true},
    [FIRST] = {.file = "../tests/sim/overlap_rows.axe",
               .machine = "sm_80",
               .array = {{"X", {200, 48}}, {"row", {80}}, {"Y", {80, 48}}},
               .typed = true},
    [WARPS] = {.file = "../tests/sim/overlap_warps.axe",
               .machine = "sm_90a",
               .array = {{"X", {200, 72}},
                         {"V", {136, 72}},
                         {"W", {72, 136}},
                         {"Y", {200, 72}}}},
    [OVER] = {.file = "../tests/sim/overlap_over.axe",
              .machine = "sm_90a",
              .array = {{"X", {200, 136}},
                        {"W", {136, 136}},
                        {"H", {200, 136}},
                        {"Y", {200, 136}}}},
};

int
main(void)
{
    return run_mutants(N_WHICH, subjects, AXE_LEN(rows), rows);
}
