/* test_dist_sim.c - a program over simulated devices: what it computes, what it
 * moves, and that a finding says of which device it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/dist/sim.h"

static const char text[] =
    "mesh gpu[P];\n"
    "kernel twice(in f32 X[N @ gpu], out f32 Y[N])\n"
    "{\n"
    "    index n;\n"
    "    global f32 T[N @ gpu];\n"
    "    device { cta (i : N @ gpu by 32) { T[32*i + n] = 2*X[32*i + n]; } }\n"
    "    Y[n] = T[n];\n"
    "}\n";

enum { P = 3, N = 100 }; /* 34, 34 and 32 each */

static void
simulate(axe_ctx *cx, const axe_sim_options *with, float *x, float *y,
         axe_sim_report *out)
{
    axe_compile_spec     spec = {.machine = "sm_90a"};
    axe_device_spec      host = {.n_thread = 1};
    const axe_program   *p;
    const axe_dist_plan *plan;
    int64_t              size[] = {P, N};
    void                *data[] = {x, y};

    if (axe_compile(cx, axe_source_add(cx, "k.axe", text, strlen(text)), &spec,
                    AXE_STAGE_LOWER, &p) != AXE_OK ||
        axe_dist_plan_sim(cx, p, size, &plan) != AXE_OK ||
        axe_dist_simulate(cx, plan, &host, data, with, out) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
}

static void
test_result(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    float          x[N], y[N] = {0};
    axe_sim_report found;

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    simulate(cx, &(axe_sim_options){0}, x, y, &found);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 2 * x[i]);
    assert_int_equal(found.n_finding, 0);
    assert_int_equal(found.n_device, P);
    /* each gets what the two others have; all have the result then */
    assert_int_equal(found.moved, (P - 1) * N * 4);
    assert_true(found.n_order > 1);
    axe_ctx_free(cx);
}

/* A launch that is cut off is found on each device. */
static void
test_which_device(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    float          x[N] = {0}, y[N];
    axe_sim_report found;

    (void)state;
    simulate(cx, &(axe_sim_options){.max_step = 2}, x, y, &found);
    assert_int_equal(found.n_finding, P);
    for (int i = 0; i < P; i++) {
        char begin[] = "device 0: ";

        begin[7] = (char)('0' + i);
        assert_int_equal(found.finding[i].kind, AXE_SIM_DEADLOCK);
        assert_memory_equal(found.finding[i].text, begin, sizeof begin - 1);
    }
    axe_ctx_free(cx);
}

/* On each device's link two messages come, of what the two others have, once
 * one of these has computed it. */
static void
test_timeline(void **state)
{
    static const int have[P] = {34, 34, 32};
    axe_ctx         *cx = axe_ctx_new();
    float            x[N] = {0}, y[N];
    axe_sim_report   found;
    const axe_mesh  *m;
    double           latency, rate;
    int64_t          first = 0;

    (void)state;
    simulate(cx, &(axe_sim_options){.timeline = true}, x, y, &found);
    assert_non_null(found.timeline);
    assert_int_equal(found.timeline->n_row, 2 * P);
    assert_int_equal(axe_mesh_read(cx, "gpu=3", &m), AXE_OK);
    latency = (double)m->link[0].latency;
    rate = (double)m->link[0].bandwidth / 1e9;
    for (int q = 0; q < P; q++) {
        int64_t end = found.timeline->row[2 * q].span[0].end;

        first = q == 0 || end < first ? end : first;
    }
    for (int q = 0; q < P; q++) {
        const axe_timeline_row *a = &found.timeline->row[2 * q], *b = a + 1;
        double                  want = 2 * latency + (N - have[q]) * 4 / rate;
        int64_t                 got = 0;

        assert_int_equal(a->kind, AXE_ROW_DEVICE);
        assert_int_equal(b->kind, AXE_ROW_LINK);
        assert_true(a->n == 1 && a->span[0].end > 0 && b->n > 0);
        for (int64_t i = 0; i < b->n; i++)
            if (b->span[i].what == AXE_WORK_LOAD) {
                assert_true(b->span[i].begin >= first);
                got += b->span[i].end - b->span[i].begin;
            }
        assert_true((double)got > want - 2 && (double)got < want + 2);
        assert_true(b->span[b->n - 1].end <= found.timeline->cycles);
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_result),
                                       cmocka_unit_test(test_timeline),
                                       cmocka_unit_test(test_which_device)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
