/* test_trn_timeline.c - when a NeuronCore's engines do what, and what they wait
 * for: small programs whose times are worked out by hand. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/trn/trn.h"

static axe_ctx *cx;

static const axe_timeline *
timeline_of(const char *text)
{
    const axe_trace *t;
    axe_trn_report   r;
    axe_trn_options  opt = {.time_only = true, .timeline = true};
    void            *data[8] = {0};

    if (axe_trn_profile(cx, "legacy", &opt.params) != AXE_OK ||
        axe_trace_read(cx, axe_source_add(cx, "t", text, strlen(text)), text,
                       &t) != AXE_OK ||
        axe_trn_run(cx, t, &opt, data, &r) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return r.timeline;
}

/* "arithmetic 0-400, waits memory .." */
static void
expect(const axe_timeline *t, axe_timeline_row_kind kind, const char *want)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "");
    for (int i = 0; i < t->n_row; i++)
        for (int64_t k = 0; t->row[i].kind == kind && k < t->row[i].n; k++) {
            axe_timeline_work w = (axe_timeline_work)t->row[i].span[k].what;
            axe_putf(&b, "%s%s%s %" PRId64 "-%" PRId64, k > 0 ? ", " : "",
                     axe_work_waits(w) ? "waits " : "", axe_work_name(w),
                     t->row[i].span[k].begin, t->row[i].span[k].end);
        }
    assert_string_equal(b.text, want);
}

/* A transfer of 229376 bytes begins after 1300 ns and takes 2205.5 at 104 GB/s;
 * 448 elements take 400 ns at 1.12 GHz and 320 at 1.4; 60 cycles behind that
 * they are there. */
static void
test_chain(void **state)
{
    const axe_timeline *t =
        timeline_of("trace t\n"
                    "hbm x : f32[128, 448] in\n"
                    "hbm y : f32[128, 448] out\n"
                    "sbuf f : f32[128, 448] at 0, 0\n"
                    "sbuf g : f32[128, 448] at 0, 2048\n"
                    "dma dma_copy f, x\n"
                    "vector tensor_scalar g, f, op0=multiply, operand0=2\n"
                    "scalar activation g, g, op=copy\n"
                    "dma dma_copy y, g\n");

    (void)state;
    expect(t, AXE_ROW_DMA_IN, "loads 0-3506");
    expect(t, AXE_ROW_VECTOR_ENGINE,
           "waits memory 0-3506, arithmetic 3506-3906");
    expect(t, AXE_ROW_SCALAR_ENGINE,
           "waits engines 0-3959, arithmetic 3959-4279");
    expect(t, AXE_ROW_DMA_OUT, "stores 4322-7828");
    expect(t, AXE_ROW_TENSOR_ENGINE, "");
    assert_int_equal(t->cycles, 7828);
}

/* Vector and scalar use PSUM by turns: what scalar needs is there 43 ns before
 * vector has left it. */
static void
test_turn(void **state)
{
    const axe_timeline *t = timeline_of("trace t\n"
                                        "sbuf f : f32[128, 448] at 0, 0\n"
                                        "psum p : f32[128, 448] at 0, 0\n"
                                        "psum q : f32[128, 448] at 0, 2048\n"
                                        "gpsimd memset f, value=1\n"
                                        "vector memset p, value=1\n"
                                        "scalar activation q, f, op=copy\n");

    (void)state;
    expect(t, AXE_ROW_GPSIMD_ENGINE, "arithmetic 0-320");
    expect(t, AXE_ROW_VECTOR_ENGINE, "arithmetic 0-400");
    expect(t, AXE_ROW_SCALAR_ENGINE,
           "waits engines 0-363, waits a unit's turn "
           "363-400, arithmetic 400-720");
}

/* Transfers that overlap are one; products and transposes are told apart. */
static void
test_kinds(void **state)
{
    const axe_timeline *t = timeline_of("trace t\n"
                                        "hbm x : bf16[128, 128] in\n"
                                        "sbuf a : bf16[128, 128] at 0, 0\n"
                                        "sbuf b : bf16[128, 128] at 0, 256\n"
                                        "psum p : f32[128, 128] at 0, 0\n"
                                        "psum q : bf16[128, 128] at 0, 2048\n"
                                        "dma dma_copy a, x\n"
                                        "dma dma_copy b, x\n"
                                        "tensor nc_matmul p, a, b\n"
                                        "tensor nc_transpose q, a\n");

    (void)state;
    expect(t, AXE_ROW_DMA_IN, "loads 0-1930");
    expect(t, AXE_ROW_TENSOR_ENGINE,
           "waits memory 0-1930, products 1930-1987, "
           "exchange 1987-2033");
}

/* Drawn, its times are called nanoseconds and its rows are no SM's. */
static void
test_drawn(void **state)
{
    const axe_timeline *t = timeline_of("trace t\n"
                                        "sbuf f : f32[128, 448] at 0, 0\n"
                                        "vector memset f, value=1\n");
    axe_buf             svg = {.cx = cx}, json = {.cx = cx};

    (void)state;
    axe_timeline_svg(cx, t, &svg);
    axe_timeline_trace(cx, t, &json);
    assert_non_null(strstr(svg.text, ">ns<"));
    assert_non_null(strstr(svg.text, ">vector<"));
    assert_null(strstr(svg.text, "cycles"));
    assert_null(strstr(svg.text, "SM "));
    assert_non_null(strstr(json.text, "\"core 0\""));
    assert_non_null(strstr(json.text, "\"ns\": 400"));
}

static int
begin(void **state)
{
    (void)state;
    cx = axe_ctx_new();
    return cx ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    axe_ctx_free(cx);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chain, begin, end),
        cmocka_unit_test_setup_teardown(test_turn, begin, end),
        cmocka_unit_test_setup_teardown(test_kinds, begin, end),
        cmocka_unit_test_setup_teardown(test_drawn, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
