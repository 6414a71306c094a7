/* test_sim_mutations.c - bugs put into kernels that are right, by editing their
 * lowered code: each must be found, and called what it is; the kernels as they
 * are must be clean in every order of events.
 */
#include "mutants.h"

typedef enum which { SM90, RING, CP, CHAIN, SPLIT, SHARE, N_WHICH } which;

/* clang-format off */
static const mutation rows[] = {
    {"a full stage is not waited for",       SM90, "mbarrier.wait", 1, DROP, 0, 0, K(RACE)},
    {"a full stage, by the wrong parity",    SM90, "mbarrier.wait", 1, FLIP, 1, 0, K(RACE) | K(LAPPED)},
    {"an empty stage is not waited for",     SM90, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"an empty stage, by the wrong parity",  SM90, "mbarrier.wait", 0, FLIP, 1, 0, K(DEADLOCK)},
    {"a wait for another stage",             SM90, "mbarrier.wait", 1, SET, 0, 0, K(RACE) | K(LAPPED)},
    {"one byte less is expected",            SM90, "mbarrier.expect", 0, ADD, 1, -1, K(BYTES)},
    {"one byte more is expected",            SM90, "mbarrier.expect", 0, ADD, 1, 1, K(BYTES)},
    {"only one copy is expected",            SM90, "mbarrier.expect", 0, SET, 1, 16384, K(BYTES)},
    {"nothing is expected at all",           SM90, "mbarrier.expect", 0, DROP, 0, 0, K(BYTES) | K(DEADLOCK)},
    {"a multicast without the peer",         SM90, "tma.load.multicast", 0, SET, 3, 1, K(BYTES)},
    {"a multicast beyond the cluster",       SM90, "tma.load.multicast", 0, SET, 3, 7, K(BOUNDS)},
    {"a multicast to the other's half",      SM90, "tma.load.multicast", 0, ADD, 0, 8192, K(RACE) | K(BOUNDS)},
    {"a copy that is not there",             SM90, "tma.load<", 0, DROP, 0, 0, K(BYTES)},
    {"a box that begins 16 bytes on",        SM90, "tma.load<", 0, ADD, 0, 8, K(ALIGN)},
    {"copies at the barrier of a stage on",  SM90, "tma.load<", 0, SET, 2, 1, K(BYTES) | K(UNINITED)},
    {"products are not drained in the loop", SM90, "wgmma.drain", 0, DROP, 0, 0, K(RACE)},
    {"two groups are left in flight",        SM90, "wgmma.drain", 0, SET, 0, 2, K(RACE)},
    {"products are not drained at the end",  SM90, "wgmma.drain", 1, DROP, 0, 0, K(FLIGHT)},
    {"products are not committed",           SM90, "wgmma.commit", 0, DROP, 0, 0, K(RACE) | K(FLIGHT)},
    {"no fence of registers",                SM90, "wgmma.fence", 0, DROP, 0, 0, K(FENCE)},
    {"a product of another stage",           SM90, "wgmma.f32", ALL, SET, 1, 0, K(RACE)},
    {"a descriptor 2 bytes on",              SM90, "wgmma.f32", ALL, ADD, 1, 1, K(LAYOUT)},
    {"a warp that does not multiply",        SM90, "wgmma.f32", ALL, ONLY, 0, 3, K(PARTIAL)},
    {"the first product adds to nothing",    SM90, "wgmma.f32", ALL, SET, 3, 1, K(UNINIT)},
    {"a stage is freed before it is read",   SM90, "mbarrier.arrive.cluster", 0, ANYBODY, 0, 0, K(ARRIVALS) | K(BOUNDS)},
    {"a stage is not freed",                 SM90, "mbarrier.arrive.cluster", 0, DROP, 0, 0, K(DEADLOCK)},
    {"only one's own stage is freed",        SM90, "mbarrier.arrive.cluster", ALL, SET, 1, 0, K(RACE)},
    {"the last stage is not freed",          SM90, "mbarrier.arrive.cluster", 1, DROP, 0, 0, K(DEADLOCK)},
    {"one arrival too many",                 SM90, "mbarrier.init", 4, SET, 1, 3, K(ARRIVALS) | K(RACE)},
    {"one arrival is missing",               SM90, "mbarrier.init", 4, SET, 1, 5, K(DEADLOCK)},
    {"an mbarrier that is not initialised",  SM90, "mbarrier.init", 2, DROP, 0, 0, K(UNINITED)},
    {"mbarriers that nobody is told of",     SM90, "mbarrier.inited", 0, DROP, 0, 0, K(UNINITED)},
    {"no meeting after mbarriers are made",  SM90, "meet.cluster", 0, DROP, 0, 0, K(UNINITED)},
    {"no meeting before the end",            SM90, "meet.cluster", 1, DROP, 0, 0, K(LEFT)},
    {"the proxy is not fenced",              SM90, "bulk.fence", 0, DROP, 0, 0, K(PROXY)},
    {"staging is stored before it is full",  SM90, "meet<", 1, DROP, 0, 0, K(RACE)},
    {"staging is refilled too early",        SM90, "meet<", 0, DROP, 0, 0, K(RACE)},
    {"a barrier that two crews share",       SM90, "meet<", 1, SET, 0, 5, K(NAMED)},
    {"a barrier for the wrong number",       SM90, "meet<", 1, SET, 1, 256, K(NAMED) | K(DEADLOCK) | K(RACE)},
    {"a barrier that is not there",          SM90, "meet<", 1, SET, 0, 16, K(NAMED)},
    {"staging is read while it is refilled", SM90, "bulk.read", 0, DROP, 0, 0, K(RACE)},
    {"two stores in flight for one staging", SM90, "bulk.read", 0, SET, 0, 2, K(RACE)},
    {"no drain before the end",              SM90, "bulk.read", 1, DROP, 0, 0, K(LEFT)},
    {"stores that are not committed",        SM90, "bulk.commit", 0, DROP, 0, 0, K(RACE) | K(LEFT)},
    {"rows one lane off",                    SM90, "stmatrix", 0, ADD, 0, 64, K(RACE) | K(UNINIT)},
    {"a row 2 bytes off",                    SM90, "stmatrix", 0, ADD, 0, 1, K(ALIGN)},
    {"registers beyond the last",            SM90, "stmatrix", 0, ADD, 1, 8, K(BOUNDS)},
    {"the wrong swizzle of a tile",          SM90, "tma.load<", 0, BUFFER, 0, 64, K(MAP)},
    {"the wrong swizzle of a map",           SM90, "tma.store", 0, MAP, 0, 64, K(MAP)},
    {"registers for a part of the crew",     SM90, "setmaxnreg.inc", 0, ONLY, 0, 1, K(PARTIAL)},

    {"a full stage is not waited for",       RING, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"a stage is refilled too early",        RING, "meet.cta", 1, DROP, 0, 0, K(RACE)},
    {"products are not drained in the loop", RING, "wgmma.drain", 0, DROP, 0, 0, K(RACE)},
    {"everybody expects",                    RING, "mbarrier.expect", 0, ANYBODY, 0, 0, K(ARRIVALS)},
    {"everybody copies",                     RING, "tma.load<", 0, ANYBODY, 0, 0, K(BYTES) | K(RACE)},
    {"the proxy is not fenced",              RING, "bulk.fence", 0, DROP, 0, 0, K(PROXY)},
    {"no meeting after mbarriers are made",  RING, "meet.cta", 0, DROP, 0, 0, K(UNINITED)},

    {"copies are not drained",               CP, "cp.drain", ALL, DROP, 0, 0, K(RACE)},
    {"one group too many in flight",         CP, "cp.drain", 0, SET, 0, 2, K(RACE)},
    {"copies are not committed",             CP, "cp.commit", ALL, DROP, 0, 0, K(RACE)},
    {"nobody waits for the others' copies",  CP, "meet.cta", ALL, DROP, 0, 0, K(RACE)},
    {"a fragment that is not loaded",        CP, "ldmatrix", ALL, DROP, 0, 0, K(UNINIT)},
    {"a row 2 bytes off",                    CP, "ldmatrix", 0, ADD, 1, 1, K(ALIGN)},
    {"one warp row off",                     CP, "ldmatrix", 0, ADD, 1, 24576, K(BOUNDS)},
    {"copies of a stage on",                 CP, "cp.async.b128", ALL, ADD, 0, 4096, K(RACE) | K(BOUNDS)},
    {"results beyond the edge",              CP, "st.global", ALL, ANYBODY, 0, 0, K(RACE) | K(BOUNDS)},
    {"copies from beyond the edge",          CP, "cp.async.b128", ALL, ANYBODY, 0, 0, K(BOUNDS)},

    {"scores are not waited for",            CHAIN, "wgmma.drain", 0, DROP, 0, 0, K(FLIGHT) | K(RACE)},
    {"nor in the loop",                      CHAIN, "wgmma.drain", 1, DROP, 0, 0, K(FLIGHT) | K(RACE)},
    {"the next product is let run, too",     CHAIN, "wgmma.drain", 1, SET, 0, 2, K(FLIGHT) | K(RACE)},
    {"weights are made while they are read", CHAIN, "wgmma.drain", 2, DROP, 0, 0, K(FLIGHT) | K(RACE)},
    {"a group is left in their place",       CHAIN, "wgmma.drain", 2, SET, 0, 1, K(FLIGHT) | K(RACE)},
    {"the last sums are not waited for",     CHAIN, "wgmma.drain", 3, DROP, 0, 0, K(FLIGHT) | K(RACE)},
    {"scores are not a group of their own",  CHAIN, "wgmma.commit", 1, DROP, 0, 0, K(FLIGHT) | K(RACE)},
    {"sums are not a group",                 CHAIN, "wgmma.commit", 2, DROP, 0, 0, K(FLIGHT) | K(RACE)},
    {"no fence before the scores",           CHAIN, "wgmma.fence", 1, DROP, 0, 0, K(FENCE)},
    {"no fence of the last weights",         CHAIN, "wgmma.fence", 3, DROP, 0, 0, K(FENCE)},
    {"a turn is not passed on",              CHAIN, "come", 1, DROP, 0, 0, K(DEADLOCK)},
    {"nobody has the first turn",            CHAIN, "come", 0, DROP, 0, 0, K(DEADLOCK)},
    {"the second has the first turn, too",   CHAIN, "come", 0, SET, 0, 5, K(DEADLOCK)},
    {"a turn is passed on to oneself",       CHAIN, "come", 1, SET, 0, 4, K(DEADLOCK)},
    {"both have a turn at once, only slow",  CHAIN, "meet<", 0, SET, 0, 4, 0},
    {"a turn at the barrier of a meeting",   CHAIN, "meet<", 0, SET, 0, 2, K(DEADLOCK) | K(NAMED)},
    {"turns of half as many threads",        CHAIN, "come", 1, SET, 1, 128, K(NAMED) | K(DEADLOCK)},
    {"nobody waits for a turn",              CHAIN, "meet<", 0, DROP, 0, 0, K(DEADLOCK)},
    {"the last turn is not taken, no harm",   CHAIN, "meet<", 3, DROP, 0, 0, 0},
    {"a stage of keys is not freed",         CHAIN, "mbarrier.arrive", 1, DROP, 0, 0, K(DEADLOCK)},
    {"a stage of values is not freed",       CHAIN, "mbarrier.arrive", 2, DROP, 0, 0, K(DEADLOCK)},

    {"parts of a sum are stored, not added", SPLIT, "tma.add", 0, PLAIN, 0, 0, K(RACE)},
    {"the proxy is not fenced",              SPLIT, "bulk.fence", 0, DROP, 0, 0, K(PROXY)},
    {"staging is added before it is full",   SPLIT, "meet.cta", 3, DROP, 0, 0, K(RACE)},
    {"staging is refilled too early",        SPLIT, "bulk.read", 0, DROP, 0, 0, K(RACE)},
    {"no drain before the end",              SPLIT, "bulk.read", 1, DROP, 0, 0, K(LEFT)},

    {"CTAs read before others have written", SHARE, "meet.cluster", 1, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"nor is the last one met",              SHARE, "meet.cluster", 2, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"a part goes to one CTA alone",         SHARE, "st.cluster", 0, CTA, 0, 0, K(UNINIT) | K(RACE)},
    {"a part goes beyond the cluster",       SHARE, "st.cluster", 0, CTA, 0, 4, K(BOUNDS)},
    {"rows of the next CTA",                 SHARE, "st.cluster", 0, ADD, 0, 1, K(RACE) | K(BOUNDS) | K(UNINIT)},
};
/* clang-format on */

/* ------------------------------------------------------------------ kernels */

static const subject subjects[N_WHICH] = {
    [SM90] = {.file = "gemm_sm90.axe",
              .machine = "sm_90a",
              .array = {{"A", {512, 384}},
                        {"B", {256, 384}},
                        {"C", {512, 256}}}},
    [RING] = {.file = "gemm.axe",
              .machine = "sm_90a",
              .array = {{"A", {128, 224}},
                        {"B", {128, 224}},
                        {"C", {128, 128}}}},
    [CP] = {.file = "gemm.axe",
            .machine = "sm_80",
            .array = {{"A", {200, 160}}, {"B", {136, 160}}, {"C", {200, 136}}}},
    [CHAIN] = {.file = "attention_sm90.axe",
               .machine = "sm_90a",
               .array = {{"Q", {1, 1, 128, 128}},
                         {"K", {1, 500, 128}},
                         {"V", {1, 500, 128}},
                         {"O", {1, 1, 128, 128}}}},
    [SHARE] = {.file = "softmax_cluster.axe",
               .machine = "sm_90a",
               .array = {{"X", {9, 5000}}, {"Y", {9, 5000}}}},
    [SPLIT] = {.file = "gemm_splitk_sm90.axe",
               .machine = "sm_90a",
               .array = {{"A", {128, 512}},
                         {"B", {128, 512}},
                         {"C", {128, 128}}}},
};

/* -------------------------------------------------------------------- tests */

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
