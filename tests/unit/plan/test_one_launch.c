/* test_one_launch.c - scopes of one launch share its shared memory, one behind
 * the other: only mbarriers, which each scope sets once, have bytes of their
 * own, which nothing of the other scopes touches. */
#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/simt.h"
#include "planned.h"

/* Products of tiles of BM x BN, with so many stages; less the most of each
 * column, which warps find together by way of scratch memory. */
#define SCOPE(bm, bn, stages, x, w, y, k, n)                                   \
    "cta persistent (t : tiles(M by " #bm ", " n " by " #bn                    \
    ")) warpgroups 2 {\n"                                                      \
    "pipeline ring[" #stages "] { shared T a[" #bm ", 64]; shared T b[" #bn    \
    ", 64]; }\n"                                                               \
    "roles {\n"                                                                \
    "warpgroup (0) for (q : " k " by 64) produce ring {\n"                     \
    "ring.a[m, j] = " x "[t.i*" #bm " + m, q*64 + j];\n"                       \
    "ring.b[l, j] = " w "[t.j*" #bn " + l, q*64 + j]; }\n"                     \
    "warpgroup (1) { reg f32 acc[" #bm ", " #bn "] = 0; reg f32 top[" #bn      \
    "];\n"                                                                     \
    "for (q : " k " by 64) consume ring acc[m, l] += ring.a[m, j] * "          \
    "ring.b[l, j];\n"                                                          \
    "top[l] = max[m](acc[m, l]);\n" y "[t.i*" #bm " + m, t.j*" #bn             \
    " + l] = T(acc[m, l] - top[l]); } } }\n"

/* Later scopes need less, more, and less shared memory. */
static const char *const text =
    "kernel k<type T = bf16>(in T X[M, K], in T V[N, K], in T W[L, N],\n"
    "in T U[N, L], out T Y[M, N]) {\n"
    "index m, l, j; global T H[M, N]; global T G[M, L];\n"
    "overlap {\n" SCOPE(64, 64, 3, "X", "V", "H", "K", "N")
        SCOPE(128, 128, 5, "H", "W", "G", "N", "L")
            SCOPE(64, 32, 2, "G", "U", "Y", "L", "N") "}\n}\n";

typedef struct range {
    int64_t at, end;
} range;

static range
barriers_of(const axe_simt_ring *r)
{
    int64_t ways = (r->full > 0) + (r->empty > 0);

    return (range){r->barriers,
                   r->barriers + 8 * ways * r->n_stage * r->copies};
}

static void
apart(range a, range b, const char *what)
{
    if (a.at < b.end && b.at < a.end)
        fail_msg("barriers at %d to %d are in bytes of %s, %d to %d", (int)a.at,
                 (int)a.end, what, (int)b.at, (int)b.end);
}

/* Nothing of another scope may be where ring i has its barriers. */
static void
check_ring(const axe_plan *p, int i)
{
    const axe_simt_ring *r = &p->simt->ring[i];
    range                mine = barriers_of(r);
    int                  scratch = 0;

    assert_true(mine.end > mine.at);
    for (int k = 0; k < p->simt->n_ring; k++)
        if (k != i)
            apart(mine, barriers_of(&p->simt->ring[k]), "another ring");
    for (int k = 0; k < p->n_place; k++) {
        const axe_place *pl = &p->place[k];
        if (pl->tensor && pl->tensor->space == AXE_SPACE_SHARED)
            apart(mine, (range){pl->offset, pl->offset + pl->bytes},
                  pl->tensor->name);
    }
    for (int k = 0; k < p->simt->n_group; k++) {
        const axe_thread_group *c = p->simt->group[k];
        scratch += c->scratch_bytes > 0;
        if (c->scratch_bytes > 0)
            apart(mine, (range){c->scratch, c->scratch + c->scratch_bytes},
                  "scratch");
    }
    assert_true(scratch >= 3);
    for (int k = 0; k < p->n_schedule; k++) {
        const axe_schedule          *s = p->schedule[k];
        const struct axe_simt_stage *st =
            s && s->simt->copy ? s->simt->copy->stage : NULL;
        if (st && st->fits)
            apart(mine,
                  (range){st->offset,
                          st->offset + axe_type_bytes(st->global->type,
                                                      st->room * st->n_room)},
                  "staging");
    }
}

static void
test_barriers(void **state)
{
    static const char *const machine[] = {"sm_90a"};

    (void)state;
    for (int m = 0; m < AXE_LEN(machine); m++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p = NULL;
        int             n = 0;
        if (plan_for(cx, text, machine[m], &p) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        for (int i = 0; i < p->simt->n_launch; i++)
            n += p->simt->launch[i].overlap != NULL;
        assert_int_equal(n, 3);
        assert_int_equal(p->simt->n_ring, 3);
        for (int i = 0; i < p->simt->n_ring; i++)
            check_ring(p, i);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(test_barriers)};

    return cmocka_run_group_tests(all, NULL, NULL);
}
