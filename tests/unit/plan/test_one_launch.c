/* test_one_launch.c - scopes of one launch share its shared memory, one behind
 * the other: only mbarriers, which each scope sets once, have bytes of their
 * own, which nothing of the other scopes touches.  And where CTAs wait for one
 * another, an SM has tensor memory for all that it holds. */
#include "machine/rates.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/simt.h"
#include "plan/simt/sync/sync_list.h"
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

/* ------------------------------------------------------------- tensor memory
 */

/* A product whose sums are so many columns, of one stage each; little shared
 * memory, few registers. */
static const char *
product(axe_ctx *cx, const char *cluster, int columns, const char *x,
        const char *w, const char *y)
{
    return axe_textf(
        cx,
        "%scta persistent (t : tiles(M by 128, N by %d)) {\n"
        "pipeline ring[2] { shared T a[128, 32]; shared T b[%d, 32]; }\n"
        "pipeline sums[1] { tmem f32 acc[128, %d]; }\n"
        "roles {\n"
        "warp (4) for (q : N by 32) produce ring {\n"
        "ring.a[m, j] = %s[t.i*128 + m, q*32 + j];\n"
        "ring.b[l, j] = %s[t.j*%d + l, q*32 + j]; }\n"
        "warp (5) produce sums { sums.acc[m, l] = 0;\n"
        "for (q : N by 32) consume ring\n"
        "sums.acc[m, l] += ring.a[m, j] * ring.b[l, j]; }\n"
        "warpgroup (0) consume sums for (p : %d) {\n"
        "reg f32 y[128, 32];\n"
        "y[m, l] = sums.acc[m, p*32 + l];\n"
        "%s[t.i*128 + m, t.j*%d + p*32 + l] = T(y[m, l]); } } }\n",
        cluster, columns, columns, columns, x, w, columns, columns / 32, y,
        columns);
}

/* Columns of all CTAs that the driver may put on one SM, as far as shared
 * memory keeps it from that. */
static int64_t
columns_held(const axe_machine *mc, const axe_simt_launch *l)
{
    const axe_rates *r = axe_machine_rates(mc);
    int64_t          n = r->shared / (l->shared_bytes + r->own);

    return (n < r->ctas ? n : r->ctas) * l->tmem_columns;
}

static void
check_columns(const char *cluster, bool overlap, int columns)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_plan *p = NULL;
    const char     *all = axe_textf(
            cx,
            "kernel k<type T = f16>(in T X[M, N], in T V[N, N], in T W[N, N],\n"
                "out T Y[M, N]) {\n"
                "index m, l, j; global T H[M, N];\n%s%s%s%s}\n",
        overlap ? "overlap {\n" : "",
            product(cx, cluster, columns, "X", "V", "H"),
            product(cx, cluster, columns, "H", "W", "Y"), overlap ? "}\n" : "");

    if (plan_for(cx, all, "sm_100a", &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    assert_int_equal(p->simt->n_launch, 2);
    for (int i = 0; i < 2; i++) {
        const axe_simt_launch *l = &p->simt->launch[i];
        int64_t                held = columns_held(p->machine, l);
        int                    most = p->machine->simt->tmem_columns;

        assert_int_equal(l->tmem_columns, columns);
        assert_int_equal(l->overlap != NULL, overlap);
        if (overlap || *cluster)
            assert_in_range(held, most / 2 + 1, most);
        else
            assert_true(held > most);
    }
    axe_ctx_free(cx);
}

static void
test_columns(void **state)
{
    (void)state;
    for (int columns = 128; columns <= 256; columns *= 2) {
        check_columns("", true, columns);
        check_columns("cluster (2) ", true, columns);
        check_columns("cluster (2) ", false, columns);
        check_columns("", false, columns);
    }
}

/* ------------------------------------------------------------------- fences */

#define RINGED(a, y)                                                           \
    "cta persistent (i : M by 64, j : L by 64) warpgroups 1 {\n"               \
    "pipeline ring[2] { shared bf16 x[64, 64]; shared bf16 w[64, 64]; }\n"     \
    "reg f32 acc[64, 64]; acc[m, n] = 0;\n"                                    \
    "for (q : L by 64) { produce ring {\n"                                     \
    "ring.x[m, k] = " a "[i*64 + m, q*64 + k];\n"                              \
    "ring.w[n, k] = W[j*64 + n, q*64 + k]; }\n"                                \
    "consume ring acc[m, n] += ring.x[m, k] * ring.w[n, k]; }\n" y " }\n"
#define TILE "[i*64 + m, j*64 + n]"
#define BY_THREADS(to) to TILE " = X" TILE " * bf16(2);\n"
#define ALONE(body) "cta (i : M by 64, j : L by 64) warpgroups 1 {\n" body "}\n"

static int
count_fences(const char *scopes, const char *why)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_plan *p;
    int             n = 0;
    const char     *kernel =
        axe_textf(cx,
                  "kernel k(in bf16 X[M, L], in bf16 W[L, L], out bf16 "
                  "Y[M, L]) {\nindex m, n, k; global bf16 H[M, L]; global bf16 "
                  "G[M, L];\noverlap {\n%s}\n}\n",
                  scopes);

    if (plan_for(cx, kernel, "sm_90a", &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    for (int i = 0; i < p->simt->n_sync; i++)
        n += strcmp(p->simt->sync[i].why, why) == 0;
    axe_ctx_free(cx);
    return n;
}

/* An engine that reads what is waited for wants a fence though threads read it
 * last; so does one behind what threads write, though copies are drained. */
static void
test_fences(void **state)
{
    static const char waits[] = "engines touch what other CTAs did";
    static const char tells[] = "engines of other CTAs may read it";
    static const char mixed[] = ALONE(BY_THREADS("H"))
        RINGED("H", "Y" TILE " = bf16(acc[m, n] + f32(H" TILE "));\n");
    static const char drained[] =
        RINGED("X", "H" TILE " = bf16(acc[m, n]);\n" BY_THREADS("G"))
            RINGED("G", "Y" TILE " = bf16(acc[m, n] + f32(H" TILE "));\n");
    static const char copies[] = RINGED("X", "H" TILE " = bf16(acc[m, n]);\n")
        RINGED("H", "Y" TILE " = bf16(acc[m, n]);\n");
    static const char threads[] =
        ALONE(BY_THREADS("H")) ALONE("Y" TILE " = H" TILE ";\n");

    (void)state;
    assert_int_equal(count_fences(mixed, waits), 1);
    assert_int_equal(count_fences(mixed, tells), 1);
    assert_int_equal(count_fences(drained, tells), 1);
    assert_int_equal(count_fences(drained, "copies have been written"), 1);
    assert_int_equal(count_fences(copies, waits), 1);
    assert_int_equal(count_fences(copies, tells), 0);
    assert_int_equal(count_fences(threads, waits), 0);
    assert_int_equal(count_fences(threads, tells), 0);
}

int
main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(test_fences),
                                     cmocka_unit_test(test_barriers),
                                     cmocka_unit_test(test_columns)};

    return cmocka_run_group_tests(all, NULL, NULL);
}
