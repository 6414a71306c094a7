/* test_sim_mutations_rings.c - bugs put between two pipelines of one pair of
 * roles, between pieces and boxes that fill one stage, between two roles that
 * read one pipeline, and into one role's: each must be found. */
#include "mutants.h"

typedef enum which { TWO, PIECES, READERS, AHEAD, N_WHICH } which;

/* clang-format off */
static const mutation rows[] = {
    {"a part is not waited for",             TWO, "mbarrier.wait", 3, DROP, 0, 0, K(RACE)},
    {"a part, by the wrong parity",          TWO, "mbarrier.wait", 3, FLIP, 1, 0, K(RACE) | K(LAPPED) | K(DEADLOCK)},
    {"a part's room is not waited for",      TWO, "mbarrier.wait", 1, DROP, 0, 0, K(RACE)},
    {"a part's room is not freed",           TWO, "mbarrier.arrive<", 0, DROP, 0, 0, K(DEADLOCK)},
    {"every lane frees it",                  TWO, "mbarrier.arrive<", 0, ANYBODY, 0, 0, K(ARRIVALS) | K(RACE)},
    {"lanes do not meet before it is freed", TWO, "barrier.warp", 0, DROP, 0, 0, K(RACE)},
    {"a part is told at the other ring",     TWO, "tma.load<", 1, BARRIER, 2, 0, K(BYTES)},
    {"bytes of the other ring's stage",      TWO, "mbarrier.expect", 1, SET, 1, 49152, K(BYTES)},
    {"one warp less frees a room",           TWO, "mbarrier.init", 8, SET, 1, 7, K(ARRIVALS) | K(RACE)},
    {"a part is refilled behind no fence",   TWO, "tx.fence.shared", 0, DROP, 0, 0, K(PROXY)},
    {"behind the fence of three warps",      TWO, "tx.fence.shared", 0, ONLY, 0, 3, K(PROXY)},
    {"a part's room in the other ring",      TWO, "mbarrier.arrive<", 0, BARRIER, 0, 0, K(ARRIVALS) | K(DEADLOCK)},
    {"the number of a stage is not begun",   TWO, "count old_fill", 0, DROP, 0, 0, K(BOUNDS)},
    {"a parity of a ring is not begun",      TWO, "count old_read_phase", 0, DROP, 0, 0, K(BOUNDS) | K(RACE) | K(LAPPED) | K(DEADLOCK)},

    {"pieces are not told",                  PIECES, "mbarrier.arrive.cp", 0, DROP, 0, 0, K(DEADLOCK)},
    {"pieces are told of one stage only",    PIECES, "mbarrier.arrive.cp", 0, SET, 0, 0, K(ARRIVALS) | K(DEADLOCK)},
    {"pieces are not counted",               PIECES, "mbarrier.init", 0, SET, 1, 1, K(ARRIVALS) | K(RACE)},
    {"an arrival too many is waited for",    PIECES, "mbarrier.init", 0, SET, 1, 130, K(DEADLOCK)},
    {"pieces are not fenced by who reads",   PIECES, "wgmma.fence.shared", 0, DROP, 0, 0, K(PROXY)},
    {"a stage's room is not waited for",     PIECES, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"a full stage is not waited for",       PIECES, "mbarrier.wait", 1, DROP, 0, 0, K(RACE)},
    {"everybody expects the boxes",          PIECES, "mbarrier.expect", 0, ANYBODY, 0, 0, K(ARRIVALS)},
    {"everybody hands over boxes",           PIECES, "tma.load<", 0, ANYBODY, 0, 0, K(BYTES) | K(RACE)},
    {"boxes alone make a stage full",        PIECES, "cp.async.b128", 0, ADD, 0, 8192, K(RACE) | K(BOUNDS)},
    {"pieces that nobody asks for",          PIECES, "cp.async.b128", 0, ANYBODY, 0, 0, K(BOUNDS)},

    {"the arrivals of one reader only",      READERS, "mbarrier.init", 4, SET, 1, 4, K(ARRIVALS) | K(RACE)},
    {"one warp's do not count",              READERS, "mbarrier.init", 4, SET, 1, 7, K(ARRIVALS) | K(RACE)},
    {"who sums does not free a stage",       READERS, "mbarrier.arrive.cluster", 0, DROP, 0, 0, K(DEADLOCK)},
    {"who multiplies does not free a stage", READERS, "mbarrier.arrive.cluster", 1, DROP, 0, 0, K(DEADLOCK)},
    {"who sums does not wait for a stage",   READERS, "mbarrier.wait", 1, DROP, 0, 0, K(RACE) | K(UNINIT)},
    {"what is summed is refilled unfenced",  READERS, "tx.fence.shared", 0, DROP, 0, 0, K(PROXY)},
    {"who multiplies waits for the wrong phase", READERS, "mbarrier.wait", 3, FLIP, 1, 0, K(RACE) | K(LAPPED) | K(DEADLOCK)},

    {"a stage is refilled behind no fence",  AHEAD, "tx.fence.shared", 0, DROP, 0, 0, K(PROXY)},
    {"threads do not meet before",           AHEAD, "barrier.cta", 1, DROP, 0, 0, K(RACE)},
};
/* clang-format on */

static const subject subjects[N_WHICH] = {
    [TWO] = {.file = "gemm_epilogue_sm90.axe",
             .machine = "sm_90a",
             .array = {{"A", {256, 320}},
                       {"B", {512, 320}},
                       {"bias", {512}},
                       {"R", {256, 512}},
                       {"C", {256, 512}}},
             .kernel = "gemm_residual_sm90"},
    [PIECES] = {.file = "gemm_grouped_sm90.axe",
                .machine = "sm_90a",
                .array = {{"X", {200, 360}},
                          {"row", {256}},
                          {"off", {3}},
                          {"W", {2, 256, 360}},
                          {"Y", {256, 256}}},
                .kernel = "gemm_gathered_sm90",
                .step = {[1] = 1, [2] = 128}},
    [READERS] = {.file = "gemm_rmsnorm_sm90.axe",
                 .machine = "sm_90a",
                 .array = {{"A", {256, 456}},
                           {"B", {192, 456}},
                           {"C", {256, 192}}}},
    [AHEAD] = {.file = "gemm.axe",
               .machine = "sm_90a",
               .array = {{"A", {64, 200}}, {"B", {96, 200}}, {"C", {64, 96}}},
               .typed = true,
               .bn = "96",
               .more = {{"T", "f32"}, {"BM", "64"}}},
};

int
main(void)
{
    return run_mutants(N_WHICH, subjects, AXE_LEN(rows), rows);
}
