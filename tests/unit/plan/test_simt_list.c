/* test_simt_list.c - the list of what synchronises: every wait for a stage or
 * an answer has an arrival that can come, and every item a row and a reason. */
#include <stdio.h>

#include "lower/lower.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/simt.h"
#include "plan/simt/sync/sync_list.h"
#include "planned.h"

static const char *
read_file(axe_ctx *cx, const char *name)
{
    const char *path = axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, name);
    FILE       *f = fopen(path, "rb");
    char       *text = axe_alloc(cx, 1 << 16);

    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

/* The plan of a kernel of kernels/, with a value set; NULL: with none. */
static const axe_plan *
plan_of(axe_ctx *cx, const char *name, const char *machine, const char *key,
        const char *value)
{
    const char        *text = read_file(cx, name);
    int32_t            src = axe_source_add(cx, name, text, strlen(text));
    const axe_machine *mc;
    const axe_module  *m;
    const axe_kernel  *k;
    const axe_plan    *p;

    assert_int_equal(axe_machine_find(cx, machine, &mc), AXE_OK);
    axe_inst inst = {.machine = mc->family,
                     .model = machine,
                     .n_set = key != NULL,
                     .set_name = &key,
                     .set_value = &value};
    assert_int_equal(axe_module_parse(cx, src, &m), AXE_OK);
    assert_int_equal(axe_module_instantiate(cx, m, &inst, &k), AXE_OK);
    assert_int_equal(axe_plan_kernel(cx, k, mc, &p), AXE_OK);
    return p;
}

static const axe_simt_plan *
list_of(axe_ctx *cx, const char *name, const char *machine, const char *key,
        const char *value)
{
    return plan_of(cx, name, machine, key, value)->simt;
}

/* ----------------------------------------------------------------- counting */

/* A kind of item: at a barrier of a ring, or, NULL, of the queue. */
typedef struct asked {
    const axe_simt_ring *ring;
    axe_sync_what        what;
    axe_sync_kind        kind;
    axe_sync_bar         bar;
} asked;

static bool
is_asked(const axe_sync_item *i, asked a)
{
    return i->what == a.what && i->ring == a.ring && i->row->sync == a.kind &&
           i->bar == a.bar;
}

/* Where the first such item behind `from` is, or -1; so many there are. */
static int
find(const axe_simt_plan *sp, int from, asked a)
{
    for (int i = from; i < sp->n_sync; i++)
        if (is_asked(&sp->sync[i], a))
            return i;
    return -1;
}

static int
count(const axe_simt_plan *sp, asked a)
{
    int n = 0;

    for (int i = find(sp, 0, a); i >= 0; i = find(sp, i + 1, a))
        n++;
    return n;
}

/* Of threads, or of an engine. */
static int
count_arrivals(const axe_simt_plan *sp, const axe_simt_ring *r,
               axe_sync_bar bar)
{
    return count(sp, (asked){r, AXE_SYNC_STAGE, AXE_SYNC_ARRIVE, bar}) +
           count(sp, (asked){r, AXE_SYNC_STAGE, AXE_SYNC_COMMIT, bar}) +
           count(sp, (asked){r, AXE_SYNC_STAGE, AXE_SYNC_EXPECT, bar});
}

static bool
needs_row(axe_sync_what what)
{
    switch (what) {
    case AXE_SYNC_ROW:
    case AXE_SYNC_STAGE:
    case AXE_SYNC_ANSWER:
    case AXE_SYNC_ARRIVED:
    case AXE_SYNC_TURN:
    case AXE_SYNC_COLUMNS:
    case AXE_SYNC_FREED:
        return true;
    default:
        return false;
    }
}

/* Who waits for a barrier is waited for there: in the list there are both, or
 * neither, and where the plan counts arrivals both. */
static void
check_all(const axe_simt_plan *sp)
{
    for (int i = 0; i < sp->n_sync; i++) {
        assert_non_null(sp->sync[i].why);
        assert_non_null(sp->sync[i].at);
        assert_true(sp->sync[i].row || !needs_row(sp->sync[i].what));
    }
    for (int i = 0; i < sp->n_ring; i++)
        for (axe_sync_bar b = AXE_BAR_FULL; b <= AXE_BAR_EMPTY; b++) {
            const axe_simt_ring *r = &sp->ring[i];
            int                  made = b == AXE_BAR_FULL ? r->full : r->empty;
            asked                wait = {r, AXE_SYNC_STAGE, AXE_SYNC_WAIT, b};
            assert_int_equal(count(sp, wait) > 0, made > 0);
            assert_int_equal(count_arrivals(sp, r, b) > 0, made > 0);
        }
}

/* -------------------------------------------------------------------- tests */

/* Of the place of a PRODUCE or CONSUME of the ring, the n-th item but for
 * counters, as its row is called or what it does. */
static const char *
item_at(const axe_simt_plan *sp, axe_sync_place place, int n)
{
    for (int i = 0; i < sp->n_sync; i++) {
        const axe_sync_item *it = &sp->sync[i];
        if (it->place != place || it->what == AXE_SYNC_STEP ||
            it->what == AXE_SYNC_KEEP || n-- > 0)
            continue;
        return it->what == AXE_SYNC_FILLS      ? "fills"
               : it->what == AXE_SYNC_TOGETHER ? "barrier"
                                               : it->row->name;
    }
    return "";
}

/* A role fills by boxes, another one reads and gives back the stage before,
 * since products of this one are in flight; behind the loop the last one. */
static void
test_roles(void **state)
{
    axe_ctx             *cx = axe_ctx_new();
    const axe_simt_plan *sp = list_of(cx, "gemm_sm90", "sm_90a", NULL, NULL);
    const axe_simt_ring *r = &sp->ring[0];
    asked back = {r, AXE_SYNC_STAGE, AXE_SYNC_ARRIVE, AXE_BAR_EMPTY};
    asked wait = {r, AXE_SYNC_STAGE, AXE_SYNC_WAIT, AXE_BAR_FULL};
    int   first, last;

    check_all(sp);
    assert_int_equal(r->way, AXE_RING_ROLES);
    assert_string_equal(item_at(sp, AXE_SYNC_ROOM, 0), "mbarrier.wait");
    assert_string_equal(item_at(sp, AXE_SYNC_FILL, 0), "mbarrier.expect");
    assert_string_equal(item_at(sp, AXE_SYNC_USE, 0), "mbarrier.wait");
    assert_int_equal(count(sp, back), 2);
    first = find(sp, 0, back);
    last = find(sp, first + 1, back);
    assert_true(find(sp, 0, wait) < first);
    assert_true(sp->sync[first].deferred && sp->sync[last].deferred);
    assert_int_equal(sp->sync[first].place, AXE_SYNC_USED);
    assert_int_equal(sp->sync[last].place, AXE_SYNC_BEHIND);
    assert_int_equal(sp->sync[last - 1].row->sync, AXE_SYNC_DRAIN);
    axe_ctx_free(cx);
    (void)state;
}

/* Groups of pieces: there is one in every iteration; all but those ahead are
 * done, and all threads there, before the next one is filled. */
static void
test_groups(void **state)
{
    axe_ctx             *cx = axe_ctx_new();
    const axe_simt_plan *sp = list_of(cx, "gemm", "sm_80", NULL, NULL);
    int                  n = 0;

    check_all(sp);
    assert_int_equal(sp->ring[0].way, AXE_RING_AHEAD);
    assert_string_equal(item_at(sp, AXE_SYNC_PACE, 0), "cp.commit");
    assert_string_equal(item_at(sp, AXE_SYNC_PACE, 1), "");
    assert_string_equal(item_at(sp, AXE_SYNC_USE, 0), "cp.drain");
    assert_string_equal(item_at(sp, AXE_SYNC_USE, 1), "barrier");
    assert_string_equal(item_at(sp, AXE_SYNC_USE, 2), "fills");
    assert_string_equal(item_at(sp, AXE_SYNC_USED, 0), "");
    for (int i = 0; i < sp->n_sync; i++)
        if (sp->sync[i].place == AXE_SYNC_USE &&
            sp->sync[i].what == AXE_SYNC_ROW) {
            assert_int_equal(sp->sync[i].n, sp->ring[0].n_stage - 2);
            n++;
        }
    assert_int_equal(n, 1);
    axe_ctx_free(cx);
    (void)state;
}

/* One role asks, each one waits for the answer, reads it, and gives its room
 * back, once. */
static void
test_queue(void **state)
{
    axe_ctx             *cx = axe_ctx_new();
    const axe_simt_plan *sp =
        list_of(cx, "gemm_sm100", "sm_100a", "DYNAMIC", "1");
    asked expect = {NULL, AXE_SYNC_ANSWER, AXE_SYNC_EXPECT, AXE_BAR_FULL};
    asked room = {NULL, AXE_SYNC_ANSWER, AXE_SYNC_WAIT, AXE_BAR_EMPTY};
    asked take = {NULL, AXE_SYNC_ANSWER, AXE_SYNC_TAKE, AXE_BAR_FULL};
    asked wait = {NULL, AXE_SYNC_ANSWER, AXE_SYNC_WAIT, AXE_BAR_FULL};
    asked read = {NULL, AXE_SYNC_ANSWER, AXE_SYNC_TAKEN, AXE_BAR_FULL};
    asked back = {NULL, AXE_SYNC_ANSWER, AXE_SYNC_ARRIVE, AXE_BAR_EMPTY};

    check_all(sp);
    assert_int_equal(count(sp, expect), 1);
    assert_int_equal(count(sp, take), 1);
    assert_true(find(sp, 0, expect) < find(sp, 0, room));
    assert_true(find(sp, 0, room) < find(sp, 0, take));
    assert_int_equal(sp->sync[find(sp, 0, take)].by & AXE_BY_LEADER,
                     AXE_BY_LEADER);
    assert_int_equal(count(sp, wait), 3);
    for (int i = find(sp, 0, wait); i >= 0; i = find(sp, i + 1, wait)) {
        const axe_stmt *role = sp->sync[i].at;
        int             got = find(sp, i, read), end = find(sp, i, back);
        assert_ptr_equal(sp->sync[got].at, role);
        assert_ptr_equal(sp->sync[end].at, role);
        assert_true(got < end);
    }
    assert_int_equal(count(sp, read), 3);
    assert_int_equal(count(sp, back), 3);
    axe_ctx_free(cx);
    (void)state;
}

/* No item is passed over in silence: one at a place that its statement does not
 * have is an error. */
static void
test_nowhere(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_plan    *p = plan_of(cx, "gemm", "sm_80", NULL, NULL);
    const axe_lowered *l;
    axe_simt_plan      simt = *p->simt;
    axe_plan           moved = *p;
    axe_sync_item     *item = axe_new_array(cx, axe_sync_item, simt.n_sync);

    assert_int_equal(axe_lower(cx, p, &l), AXE_OK);
    memcpy(item, simt.sync, (size_t)simt.n_sync * sizeof *item);
    simt.sync = item;
    moved.simt = &simt;
    for (int i = 0; i < simt.n_sync; i++)
        if (item[i].place == AXE_SYNC_USE)
            item[i].place = AXE_SYNC_FILLED;
    assert_int_equal(axe_lower(cx, &moved, &l), AXE_EUNSUPPORTED);
    axe_ctx_free(cx);
    (void)state;
}

/* The plan with these items behind its own. */
static axe_plan *
plan_with(axe_ctx *cx, const axe_plan *p, int n, const axe_sync_item *more)
{
    axe_plan      *out = axe_new(cx, axe_plan);
    axe_simt_plan *simt = axe_new(cx, axe_simt_plan);

    *out = *p;
    *simt = *p->simt;
    simt->sync = axe_new_array(cx, axe_sync_item, simt->n_sync + n);
    memcpy(simt->sync, p->simt->sync,
           (size_t)simt->n_sync * sizeof *simt->sync);
    memcpy(simt->sync + simt->n_sync, more, (size_t)n * sizeof *more);
    simt->n_sync += n;
    out->simt = simt;
    return out;
}

/* What fills a ring that runs ahead is lowered in front of its loop, and in it:
 * what has to wait there would wait twice. */
static void
test_twice(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_plan    *p = plan_of(cx, "gemm", "sm_80", NULL, NULL);
    axe_sync_item      item = {.at = p->schedule[1]->stmt,
                               .place = AXE_SYNC_AHEAD,
                               .what = AXE_SYNC_FILLS,
                               .why = "of the test"};
    const axe_lowered *l;

    assert_int_equal(axe_lower(cx, plan_with(cx, p, 1, &item), &l),
                     AXE_EUNSUPPORTED);
    assert_non_null(strstr(axe_last_error(cx), "comes twice: of the test"));
    axe_ctx_free(cx);
    (void)state;
}

/* How often a text has another one in it. */
static int
times_in(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* Items are spelled in their order: one on a condition ends the branch of those
 * before it, and those behind it get a branch of their own. */
static void
test_branches(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_plan    *p = plan_of(cx, "transpose", "sm_80", NULL, NULL);
    const axe_stmt    *at = p->schedule[0]->stmt;
    axe_sync_item      item[3] = {{.at = at, .by = AXE_BY_WARP}};
    axe_buf            text[2] = {{.cx = cx}, {.cx = cx}};
    const axe_lowered *l;

    item[0].place = AXE_SYNC_AHEAD;
    item[0].row =
        axe_simt_find_sync(p->machine, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, "",
                           AXE_ARG_NONE, AXE_ARG_NONE);
    assert_non_null(item[0].row);
    item[2] = item[1] = item[0];
    item[1].when = axe_index_const(cx, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(axe_lower(cx, plan_with(cx, p, 1 + 2 * i, item), &l),
                         AXE_OK);
        axe_lowered_print(cx, &text[i], l);
    }
    assert_int_equal(times_in(text[1].text, item[0].row->name),
                     2 + times_in(text[0].text, item[0].row->name));
    assert_int_equal(times_in(text[1].text, "if warp"),
                     1 + times_in(text[0].text, "if warp"));
    axe_ctx_free(cx);
    (void)state;
}

/* A drain names all registers that products have read or made, in as many rows
 * as that takes: whoever changes them stays behind it. */
static void
test_named(void **state)
{
    static const char text[] =
        "kernel k(in f16 A[M, K], in f16 B[N, K], out f32 C[M, N]) {\n"
        "index m, n, k;\n"
        "cta (i : M by 64, j : N by 64) warpgroups 2 {\n"
        "pipeline ring[2] { shared f16 b[64, 64]; }\n"
        "roles {\n"
        "warpgroup (0) for (t : K by 64) produce ring\n"
        "ring.b[n, k] = B[j*64 + n, t*64 + k];\n"
        "warpgroup (1) {\n"
        "reg f32 c[64, 64] = 0; reg f32 d[64, 64] = 0;\n"
        "reg f16 a[64, 64]; reg f16 h[64, 64];\n"
        "for (t : K by 64) {\n"
        "a[m, k] = f16(f32(A[i*64 + m, t*64 + k]) * 0.25);\n"
        "h[m, k] = f16(f32(A[i*64 + m, t*64 + k]) * 0.75);\n"
        "consume ring {\n"
        "c[m, n] += a[m, k] * ring.b[n, k];\n"
        "d[m, n] += h[m, k] * ring.b[n, k]; } }\n"
        "C[i*64 + m, j*64 + n] = c[m, n] + d[m, n]; } } } }\n";
    axe_ctx           *cx = axe_ctx_new();
    axe_buf            out = {.cx = cx};
    const axe_plan    *p;
    const axe_lowered *l;

    assert_int_equal(plan_for(cx, text, "sm_90a", &p), AXE_OK);
    assert_int_equal(axe_lower(cx, p, &l), AXE_OK);
    axe_lowered_print(cx, &out, l);
    assert_int_equal(times_in(out.text, "wgmma.drain 0 pins"), 2);
    assert_non_null(strstr(out.text, "wgmma.drain 0 pins c, a, d behind\n"));
    assert_non_null(strstr(out.text, "wgmma.drain 0 pins h behind\n"));
    axe_ctx_free(cx);
    (void)state;
}

/* Barriers have bytes of their own, one for each warp group that waits. */
static void
test_apart(void **state)
{
    static const char text[] =
        "kernel k(in f16 A[M, K], in f16 B[64, K], out f16 C[M, 64]) {\n"
        "index m, n, k;\n"
        "cta (i : M by 128) warpgroups 4 {\n"
        "tmem f32 c[128, 64]; shared f16 b[64, 64]; shared f16 a[128, 64];\n"
        "c[m, n] = 0;\n"
        "warpgroup (g : 0..4) {\n"
        "reg f32 acc[128, 64];\n"
        "if (g == 3) {\n"
        "for (t : K by 64) {\n"
        "a[m, k] = f16(f32(A[i*128 + m, t*64 + k]) * 2);\n"
        "b[n, k] = f16(f32(B[n, t*64 + k]) * 0.5);\n"
        "c[m, n] += a[m, k] * b[n, k]; }\n"
        "acc[m, n] = c[m, n]; C[i*128 + m, n] = f16(acc[m, n]); } } } }\n";
    axe_ctx           *cx = axe_ctx_new();
    const axe_plan    *p;
    const axe_lowered *l;
    const axe_grid    *g;
    int                n = 0;

    assert_int_equal(plan_for(cx, text, "sm_100a", &p), AXE_OK);
    assert_int_equal(axe_lower(cx, p, &l), AXE_OK);
    g = &l->grid[0];
    for (int i = 0; i < g->n_buffer; i++) {
        const axe_buffer *a = &g->buffer[i];
        if (a->tensor->type != AXE_TYPE_i64)
            continue;
        n++;
        assert_int_equal(a->bytes, 4 * 8);
        for (int k = 0; k < g->n_buffer; k++) {
            const axe_buffer *b = &g->buffer[k];
            assert_true(k == i || b->offset >= a->offset + a->bytes ||
                        a->offset >= b->offset + b->bytes);
        }
    }
    assert_int_equal(n, 2);
    axe_ctx_free(cx);
    (void)state;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_queue), cmocka_unit_test(test_nowhere),
        cmocka_unit_test(test_twice), cmocka_unit_test(test_branches),
        cmocka_unit_test(test_named), cmocka_unit_test(test_apart),
    };

    return cmocka_run_group_tests_name("simt_list", tests, NULL, NULL);
}
