/* test_trn.c - traces on a simulated NeuronCore: each rule that a program can
 * break, the time of single instructions, four published times of products. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/trn/trn.h"

static axe_status
run(axe_ctx *cx, const char *text, const char *const *set, bool time_only,
    const char *profile, axe_trn_report *out)
{
    const axe_trace *t;
    axe_trn_options  opt = {.time_only = time_only};

    AXE_TRY(axe_trn_profile(cx, profile, &opt.params));
    AXE_TRY(axe_trace_read(cx, axe_source_add(cx, "t", text, strlen(text)),
                           text, &t));
    for (; set && *set; set++)
        AXE_TRY(axe_trace_set(cx, t, *set));
    void **data = axe_new_array(cx, void *, t->n_tensor);
    for (int i = 0; i < t->n_tensor; i++) {
        int64_t shape[AXE_TRACE_DIMS], n = 8;
        if (t->tensor[i].memory != AXE_TRN_HBM || time_only)
            continue;
        AXE_TRY(axe_trn_shape(cx, t, i, shape));
        for (int k = 0; k < t->tensor[i].rank; k++)
            n *= shape[k];
        data[i] = axe_alloc(cx, (size_t)n);
    }
    return axe_trn_run(cx, t, &opt, data, out);
}

/* What all of these programs begin with: none is wrong without its row. */
#define HEAD                                                                   \
    "trace t\n"                                                                \
    "hbm x : bf16[128, 512] in\n"                                              \
    "hbm y : f32[128, 512] out\n"                                              \
    "sbuf a : bf16[128, 128] at 0, 0\n"                                        \
    "sbuf b : bf16[128, 512] at 0, 256\n"                                      \
    "sbuf f : f32[128, 512] at 0, 2048\n"                                      \
    "sbuf g : f32[128, 512] at 0, 4096\n"                                      \
    "sbuf one : f32[128, 1] at 0, 6144\n"                                      \
    "psum p : f32[128, 512] at 0, 0\n"                                         \
    "psum q : f32[128, 512] at 0, 2048\n"                                      \
    "vector memset a, value=1\n"                                               \
    "vector memset b, value=2\n"                                               \
    "vector memset f, value=3\n"                                               \
    "vector memset one, value=1\n"

/* Indices of rows, and a transfer of the rows that they choose. */
#define INDICES(value)                                                         \
    "sbuf i : i32[128, 1] at 0, 8192\n"                                        \
    "vector memset i, value=" value "\n"
#define ROWS "dma dma_copy b, x[0 : 128 by 512, 512 by 1], vector_offset=i"

/* A correct line before, and what replaces it, with the error. */
static const struct {
    const char *right, *wrong, *error;
} mutants[] = {
    {"vector tensor_copy g, f", "scalar tensor_copy g, f",
     "the engine scalar has no tensor_copy"},
    {"scalar activation g, f, op=exp", "vector activation g, f, op=exp",
     "the engine vector has no activation"},
    {"tensor nc_matmul p, a, b", "tensor nc_matmul g, a, b",
     "dst of nc_matmul may not be in sbuf"},
    {"tensor nc_matmul p, a, b\ntensor nc_matmul q, a, b",
     "tensor nc_matmul p, a, b\ntensor nc_matmul q, a, p",
     "moving of nc_matmul may not be in psum"},
    {"tensor nc_matmul p, f[0, 0 : 128, 128 by 1], f",
     "tensor nc_matmul p, a, f",
     "bf16 with f32: f32 and tf32 multiply only with themselves"},
    {"tensor nc_matmul p, a, b", "tensor nc_matmul p, b, b",
     "512 values of m; nc_matmul takes 128"},
    {"tensor nc_matmul p, a, b",
     "psum w : f32[128, 1024] at 0, 4096\nsbuf v : bf16[128, 1024] at 0, 8192\n"
     "vector memset v, value=0\ntensor nc_matmul w, a, v",
     "1024 values of n; nc_matmul takes 512"},
    {"tensor nc_matmul p, a, b",
     "psum w : f32[128, 512] at 0, 5120\ntensor nc_matmul w, a, b",
     "the result lies in banks 2 to 3; it takes one"},
    {"tensor nc_matmul p, a, b",
     "psum w : bf16[128, 512] at 0, 4096\ntensor nc_matmul w, a, b",
     "dst of nc_matmul may not be of type bf16"},
    {"tensor nc_matmul p, a, b",
     "tensor nc_matmul p, a, b[0, 0 : 64, 512 by 1]",
     "moving has 64 values of k, and others 128"},
    {"tensor nc_matmul p, a, b, accumulate=0",
     "tensor nc_matmul p, a, b, accumulate=1",
     "it adds to a sum that no product began"},
    {"vector memset q, value=0\ntensor nc_matmul p, a, b",
     "vector memset p, value=0\ntensor nc_matmul p, a, b, accumulate=1",
     "it adds to what is not a product's result, which is not defined"},
    {"tensor nc_matmul p[0, 0 : 128, 256 by 1], a, b[0, 0 : 128, 256 by 1]",
     "tensor nc_matmul p[0, 0 : 128, 256 by 1], a, b[0, 0 : 128, 256 by 1]\n"
     "tensor nc_matmul p, a, b",
     "a part of its result is an open sum, the rest is not"},
    {"vector tensor_copy g[32, 0 : 32, 4 by 1], f[0, 0 : 32, 4 by 1]",
     "vector tensor_copy g[16, 0 : 32, 4 by 1], f[0, 0 : 32, 4 by 1]",
     "32 partitions begin at 16, and may at multiples of 32"},
    {"vector tensor_copy g[64, 0 : 64, 4 by 1], f[0, 0 : 64, 4 by 1]",
     "vector tensor_copy g[32, 0 : 64, 4 by 1], f[0, 0 : 64, 4 by 1]",
     "64 partitions begin at 32, and may at multiples of 64"},
    {"vector tensor_copy g[0, 0 : 96, 4 by 1], f[0, 0 : 96, 4 by 1]",
     "vector tensor_copy g[32, 0 : 96, 4 by 1], f[0, 0 : 96, 4 by 1]",
     "96 partitions begin at 32, and may at multiples of 128"},
    {"vector tensor_copy g[0, 0 : 8, 4 by 1], f[0, 508 : 8, 4 by 1]",
     "vector tensor_copy g[0, 0 : 8, 4 by 1], f[0, 509 : 8, 4 by 1]",
     "the pattern leaves f, which has 512 elements in a partition"},
    {"vector tensor_copy g[0, 0 : 8, 2 by 1, 2 by 2, 2 by 4, 2 by 8], "
     "f[0, 0 : 8, 16 by 1]",
     "vector tensor_copy g[0, 0 : 8, 2 by 1, 2 by 2, 1 by 1, 2 by 4, 2 by 8], "
     "f[0, 0 : 8, 16 by 1]",
     "5 counts along a partition; an instruction has 4"},
    {"vector tensor_copy g[0, 0 : 8, 2 by 4], f[0, 0 : 8, 2 by 1]",
     "sbuf far : f32[8, 33000] at 0, 8192\n"
     "vector tensor_copy far[0, 0 : 8, 2 by 32768], f[0, 0 : 8, 2 by 1]",
     "2 by 32768 does not fit an instruction's 16 bits"},
    {"vector tensor_copy g, f", "vector tensor_copy g, f[0, 0 : 128, 4 by 1]",
     "src has 4 values of f, and others 512"},
    {"tensor nc_matmul p, a, b\nvector tensor_tensor g, p, f, op=add",
     "tensor nc_matmul p, a, b\ntensor nc_matmul q, a, b\n"
     "vector tensor_tensor g, p, q, op=add",
     "both operands of tensor_tensor are in psum; one may be"},
    {"vector tensor_tensor g, f, f, op=add",
     "vector tensor_tensor g, f, f, op=exp",
     "op of tensor_tensor may not be exp"},
    {"scalar activation g, f, op=exp", "scalar activation g, f, op=add",
     "op of activation may not be add"},
    {"scalar activation g, f, op=reciprocal",
     "scalar activation g, f, op=reciprocal, bias=one",
     "activation of reciprocal takes no bias"},
    {"scalar activation_reduce g, f, one, op=exp, reduce_op=add",
     "scalar activation_reduce g, f, one, op=exp, reduce_op=maximum",
     "activation_reduce does not fold by maximum"},
    {"vector tensor_scalar g, f, op0=add, operand0=one",
     "vector tensor_scalar g, f, op0=add, operand0=f",
     "operand0 has 512 elements in a partition, and takes one"},
    {"vector tensor_scalar g, f, op0=add, operand0=one",
     "sbuf half : bf16[128, 1] at 0, 6148\nvector memset half, value=1\n"
     "vector tensor_scalar g, f, op0=add, operand0=half",
     "operand0 of tensor_scalar may not be of type bf16"},
    {"vector tensor_reduce g[0, 0 : 128, 4 by 1], f[0, 0 : 128, 4 by 8, 8 by "
     "1], op=add",
     "vector tensor_reduce g[0, 0 : 128, 8 by 1], f[0, 0 : 128, 4 by 8, 8 by "
     "1], op=add",
     "it folds 4 elements, which are no last counts of the pattern"},
    {"vector tensor_reduce one, f, op=maximum",
     "vector tensor_reduce one, f, op=subtract",
     "tensor_reduce does not fold by subtract"},
    {"vector nc_transpose g[0, 0 : 32, 32 by 1], f[0, 0 : 32, 32 by 1]",
     "vector nc_transpose g[0, 0 : 64, 32 by 1], f[0, 0 : 32, 64 by 1]",
     "32 x 64; the vector engine transposes 32 x 32"},
    {"tensor nc_transpose p[0, 0 : 128, 128 by 1], f[0, 0 : 128, 128 by 1]",
     "tensor nc_transpose p[0, 0 : 128, 128 by 1], a",
     "nc_transpose from bf16 to f32: a transpose keeps the type"},
    {"vector memset q, value=0\nvector tensor_copy g, q\n"
     "tensor nc_matmul p, a, b\nvector tensor_copy g, p\n"
     "tensor nc_matmul p, a, b, accumulate=1",
     "vector memset p, value=0\nvector tensor_copy g, p\n"
     "tensor nc_matmul p, a, b, accumulate=1",
     "it adds to what is not a product's result, which is not defined"},
    {"for i = 2 {\ntensor nc_matmul p, a, b, accumulate=i\n}",
     "for i = 2 {\npsum w : f32[128, 512] at 0, 4096\n"
     "tensor nc_matmul w, a, b, accumulate=i\n}",
     "it adds to a sum that no product began"},
    {"gpsimd memset g, value=0", "gpsimd memset p, value=0",
     "the engine gpsimd does not write psum"},
    {"gpsimd affine_select g, f, pattern=[512 by 1], on_false_value=0, "
     "cmp_op=less, channel_multiplier=-1",
     "gpsimd affine_select g, f, pattern=[512 by 1], on_false_value=0, "
     "cmp_op=add, channel_multiplier=-1",
     "add compares nothing"},
    {"gpsimd iota g, pattern=[8 by 64, 64 by 1]",
     "gpsimd iota g, pattern=[8 by 64, 64 by 32768]",
     "64 by 32768 does not fit an instruction's 16 bits"},
    {"vector tensor_copy g[96, 0 : 32, 4 by 1], f[0, 0 : 32, 4 by 1]",
     "vector tensor_copy g[96, 0 : 64, 4 by 1], f[0, 0 : 64, 4 by 1]",
     "64 partitions from 96 of g, which has 128"},
    {"gpsimd iota g, pattern=[8 by 64, 64 by 1]",
     "gpsimd iota g, pattern=[8 by 64, 32 by 1]",
     "the pattern has 256 elements, and the result 512"},
    {"tensor nc_matmul p, a, b\nvector tensor_copy g, p\ndma dma_copy y, g",
     "tensor nc_matmul p, a, b\nvector tensor_copy g, p\ndma dma_copy y, p",
     "src of dma_copy may not be in psum"},
    {"dma dma_copy b, x", "dma dma_copy x, b",
     "x is read only, and here it is written"},
    {"dma dma_copy f, x", "dma dma_copy f, y",
     "y is written only, and here it is read"},
    {"dma dma_copy b, x[0 : 128 by 512, 512 by 1]",
     "dma dma_copy b, x[1 : 128 by 512, 512 by 1]",
     "the pattern leaves x, which has 65536 elements"},
    {"sbuf w : f32[128, 4] at 0, 180208", "sbuf w : f32[128, 4] at 0, 180212",
     "w has 16 bytes from 180212 of each partition; sbuf has 180224"},
    {"psum w : f32[128, 512] at 0, 14336", "psum w : f32[128, 512] at 0, 16384",
     "w has 2048 bytes from 16384 of each partition; psum has 16384"},
    {"sbuf w : f32[64, 4] at 64, 0", "sbuf w : f32[64, 4] at 96, 0",
     "w has 64 partitions from 96; there are 128"},
    {"sbuf w : f32[64, 4] at 0, 4", "sbuf w : f32[64, 4] at 0, 6",
     "w begins at byte 6, which is no whole number of its elements"},
    {"vector memset g, value=0\nvector tensor_copy f, g",
     "vector tensor_copy f, g",
     "byte 0 of partition 0 of g is read, and nobody wrote it"},
    {"sbuf w : f32[128, 2] at 0, 8192\nvector memset w, value=1\n"
     "vector tensor_copy g[0, 0 : 128, 2 by 1], f[0, 0 : 128, 2 by 1]",
     "sbuf w : f32[128, 2] at 0, 2048\nvector memset w, value=1\n"
     "vector tensor_copy g[0, 0 : 128, 2 by 1], f[0, 0 : 128, 2 by 1]",
     "byte 0 of partition 0 of f is read, and w has overwritten it"},
    {"for i = 2 {\nsbuf w : f32[128, 2] at 0, 8192\nvector memset w, "
     "value=1\nvector tensor_copy g[0, 0 : 128, 2 by 1], w\n}",
     "sbuf v : f32[128, 2] at 0, 8192\nvector memset v, value=1\n"
     "sbuf w : f32[128, 2] at 0, 8192\n"
     "vector tensor_copy g[0, 0 : 128, 2 by 1], w",
     "w is read, and since it was declared nobody wrote byte 0 of partition 0; "
     "there is what v left"},
    {INDICES("127") ROWS, INDICES("128") ROWS,
     "partition 0 has the index 128 of 128 rows of x"},
    {INDICES("128") ROWS ", skip=1", INDICES("-1") ROWS ", skip=1",
     "partition 0 has the index -1 of 128 rows of x"},
    {"dma dma_copy b, x", "dma dma_copy b, x, skip=1",
     "skip is of transfers with vector_offset"},
    {INDICES("3") ROWS,
     "sbuf i : f32[128, 1] at 0, 8192\nvector memset i, value=3\n" ROWS,
     "vector_offset of dma_copy may not be of type f32"},
    {INDICES("3") ROWS, "sbuf i : i32[128, 1] at 0, 8192\n" ROWS,
     "byte 0 of partition 0 of i is read, and nobody wrote it"},
    {INDICES("3") ROWS,
     "psum i : i32[128, 1] at 0, 8192\nvector memset i, value=3\n" ROWS,
     "vector_offset of dma_copy may not be in psum"},
    {INDICES("3") ROWS, INDICES("3") ROWS "[0, 0 : 64, 1 by 1]",
     "vector_offset has 64 values of p, and others 128"},
    {INDICES("3") ROWS,
     "sbuf i : i32[128, 2] at 0, 8192\nvector memset i, value=3\n" ROWS,
     "vector_offset has 2 elements in a partition, and takes one"},
    {INDICES("3") "dma dma_copy b[0, 0 : 128, 8 by 1], "
                  "x[504 : 128 by 512, 8 by 1], vector_offset=i",
     INDICES("3") "dma dma_copy b[0, 0 : 128, 8 by 1], "
                  "x[505 : 128 by 512, 8 by 1], vector_offset=i",
     "the pattern leaves its row of x, which has 512 elements"},
    {INDICES("3") "dma dma_copy b[0, 0 : 128, 8 by 1], "
                  "x[7 : 128 by 512, 8 by -1], vector_offset=i",
     INDICES("3") "dma dma_copy b[0, 0 : 128, 8 by 1], "
                  "x[6 : 128 by 512, 8 by -1], vector_offset=i",
     "the pattern leaves its row of x, which has 512 elements"},
    {INDICES("3") ROWS,
     INDICES("3") "dma dma_copy b, x[0 : 128 by 500, 512 by 1], "
                  "vector_offset=i",
     "the 65536 elements of x are no rows of 500"},
    {INDICES("3") ROWS, INDICES("3") "dma dma_copy y, x, vector_offset=i",
     "vector_offset chooses rows of device memory, which go to sbuf; here it "
     "is hbm, and hbm"},
    {INDICES("3") ROWS, INDICES("3") "dma dma_copy b, f, vector_offset=i",
     "vector_offset chooses rows of device memory, which go to sbuf; here it "
     "is sbuf, and sbuf"},
    {INDICES("3") "sbuf w : f32[128, 512] at 0, 10240\ndma dma_copy w, x, "
                  "vector_offset=i, skip=1\nvector tensor_copy g, w",
     INDICES("128") "sbuf w : f32[128, 512] at 0, 10240\ndma dma_copy w, x, "
                    "vector_offset=i, skip=1\nvector tensor_copy g, w",
     "byte 0 of partition 0 of w is read, and nobody wrote it"},
    {"for i = 4 {\nvector memset g[0, 128 * i : 128, 128 by 1], value=0\n}",
     "for i = 5 {\nvector memset g[0, 128 * i : 128, 128 by 1], value=0\n}",
     "the pattern leaves g, which has 512 elements in a partition"},
};

static void
test_mutants(void **state)
{
    axe_trn_report report;

    (void)state;
    for (int i = 0; i < AXE_LEN(mutants); i++) {
        axe_ctx   *cx = axe_ctx_new();
        axe_status st = run(cx, axe_textf(cx, HEAD "%s\n", mutants[i].right),
                            NULL, false, "doc", &report);
        if (st != AXE_OK)
            fail_msg("%s: %s", mutants[i].right, axe_last_error(cx));
        st = run(cx, axe_textf(cx, HEAD "%s\n", mutants[i].wrong), NULL, false,
                 "doc", &report);
        if (st == AXE_OK)
            fail_msg("not found: %s", mutants[i].error);
        assert_string_equal(axe_last_error(cx), mutants[i].error);
        const axe_diag *d = axe_diags(cx);
        assert_true(d->at.line >= 15);
        axe_ctx_free(cx);
    }
}

/* Cycles by hand over the clock, plus the latency of 60, in ns; a transfer: the
 * start, then 8 partitions of each of 16 engines at 17 bytes a ns. */
static const struct {
    const char *text;
    double      ns;
} times[] = {
    {"tensor nc_matmul p, a, b", (512 + 128.0 / 4 + 60) / 2.8},
    {"tensor nc_matmul p, a, b\ntensor nc_matmul q, a, b",
     (2 * 512 + 128.0 / 4 + 60) / 2.8},
    {"tensor nc_matmul p, f[0, 0 : 128, 128 by 1], f",
     (4 * 512 + 128.0 / 4 + 60) / 2.8},
    {"scalar activation g, f, op=exp", (512 + 60) / 1.4},
    {"scalar activation_reduce g, f, one, op=exp, reduce_op=add",
     (512 + 64 + 60) / 1.4},
    {"vector tensor_reduce one, f, op=maximum", (512 + 60) / 1.12},
    {"vector tensor_copy g, f", (512 + 60) / 1.12},
    {"vector tensor_copy g, f\nvector tensor_copy f, g",
     (2 * 512 + 100 + 60) / 1.12},
    {"vector tensor_copy g[0, 0 : 128, 64 by 4], f[0, 0 : 128, 64 by 1]",
     (2 * 64 + 60) / 1.12},
    {"vector tensor_copy p[0, 0 : 128, 100 by 4], f[0, 0 : 128, 100 by 1]",
     (2 * 100 + 60) / 1.12},
    {"vector tensor_tensor g, f, f, op=add", (2 * 512 + 60) / 1.12},
    {"vector tensor_tensor b, b, b, op=add", (512 + 60) / 1.12},
    {"gpsimd iota g, pattern=[512 by 1]", (150 + 512 + 60) / 1.4},
    {"vector tensor_copy g, f\ngpsimd memset one, value=0",
     512 / 1.12 + (64 + 60) / 1.4},
    {"vector tensor_copy p, f\nscalar activation q, f, op=copy",
     512 / 1.12 + (512 + 60) / 1.4},
    {"scalar activation g, f, op=exp\nvector memset f, value=1",
     (512 + 60) / 1.4 + (512 + 60) / 1.12},
    {"tensor nc_matmul p, a, b\nvector tensor_copy b, f\n"
     "tensor nc_matmul q, a, b",
     2 * (512 + 128.0 / 4 + 60) / 2.8 + (512 + 60) / 1.12},
    {"dma dma_copy b, x", 1300 + 8 * (1024 + 64) / 17.0},
    {"dma dma_copy b[0, 0 : 128, 256 by 1], x[0 : 128 by 512, 256 by 1]",
     1300 + 8 * (512 + 64) / 17.0},
    {"dma dma_copy b, x\nvector tensor_copy g, b",
     1300 + 8 * (1024 + 64) / 17.0 + (512 + 60) / 1.12},
    {INDICES("3") ROWS,
     (64 + 60) / 1.12 + 1000 + 60 / 1.4 + 1300 + 8 * (1024 + 64) / 17.0},
    {INDICES("3") ROWS "\ndma dma_copy g, x, vector_offset=i",
     (64 + 60) / 1.12 + 2 * 1000 + 60 / 1.4 + 1300 + 8 * (1024 + 64) / 17.0},
    {INDICES("3") ROWS "\nvector memset i, value=4",
     (64 + 60) / 1.12 + 1000 + 60 / 1.4 + 1300 + 8 * (1024 + 64) / 17.0},
};

static void
test_times(void **state)
{
    axe_trn_report report;
    const char    *head = HEAD;
    size_t         n = (size_t)(strstr(head, "vector memset") - head);

    (void)state;
    for (int i = 0; i < AXE_LEN(times); i++) {
        axe_ctx *cx = axe_ctx_new();
        char    *text = axe_textf(cx, "%.*s%s\n", (int)n, head, times[i].text);
        if (run(cx, text, NULL, true, "doc", &report) != AXE_OK)
            fail_msg("%s: %s", times[i].text, axe_last_error(cx));
        if (fabs(report.ns - times[i].ns) > 1e-6 * times[i].ns)
            fail_msg("%s: %f ns, not %f", times[i].text, report.ns,
                     times[i].ns);
        axe_ctx_free(cx);
    }
}

/* From one engine to another it takes a semaphore, within one none. */
static void
test_semaphore(void **state)
{
    axe_ctx         *cx = axe_ctx_new();
    const axe_trace *t;
    axe_trn_options  opt = {.time_only = true};
    axe_trn_report   none, some;
    const char      *text = HEAD "scalar activation g, f, op=exp\n"
                                 "scalar activation g, g, op=exp\n"
                                 "gpsimd tensor_copy f, g\n";
    void            *data[16] = {NULL};

    (void)state;
    assert_int_equal(axe_trn_profile(cx, "doc", &opt.params), AXE_OK);
    assert_int_equal(axe_trace_read(cx, 0, text, &t), AXE_OK);
    assert_int_equal(axe_trn_run(cx, t, &opt, data, &none), AXE_OK);
    opt.params.semaphore = 70;
    assert_int_equal(axe_trn_run(cx, t, &opt, data, &some), AXE_OK);
    assert_true(fabs(some.ns - none.ns - 2 * 70) < 1e-6);
    axe_ctx_free(cx);
}

/* bf16 [4096, 8192] x [8192, 8192] on one core, SDK 2.26.1 (tut), in ms. */
static const struct {
    const char *plan, *blocks;
    double      ms, hbm_gb;
} published[] = {
    {"gemm_tiled", NULL, 51.80, 5.436},
    {"gemm_hoisted", NULL, 42.96, 4.429},
    {"gemm_block_free", NULL, 22.07, 2.282},
    {"gemm_optimised", "BK=1024", 6.97, 0.738},
};

static char *
read_trace(axe_ctx *cx, const char *plan)
{
    FILE *f = fopen(
        axe_textf(cx, "%s/examples/trainium/%s.trace", AXE_SOURCE_DIR, plan),
        "rb");
    char  *text = axe_alloc(cx, 1 << 16);
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    assert_true(n > 0);
    return text;
}

/* What would take for ever, or too much memory, is refused. */
static const struct {
    const char *text, *error;
} limits[] = {
    {"for i = 2000000 {\nfor j = 2000000 {\n}\n}",
     "more than 4194304 instructions and rounds"},
    {"for i = 9000000000 {\n}", "more than 4194304 instructions and rounds"},
    {"hbm z : f32[70000, 70000] out",
     "z has 19600000000 bytes, and may have 268435456 to be computed"},
    {"hbm z : u8[16777216] kept\n" INDICES(
         "3") "dma dma_copy b[0, 0 : 128, 1 by 1], z[0 : 128 by 1, 1 by 1], "
              "vector_offset=i",
     "z has 16777216 rows, and engines compute indices below 16777216"},
    {"gpsimd iota f, pattern=[512 by 0], offset=16777215\n"
     "gpsimd iota f, pattern=[512 by 0], offset=-16777089, "
     "channel_multiplier=-1",
     "iota comes to -16777216, and f32 counts integers below 16777216"},
    {"dma dma_copy y[0 : 128 by 512, 9000000 by 0], x[0 : 128 by 512, 9000000 "
     "by 0]",
     "an operand of more than 33554432 elements"},
    {"dma dma_copy y[0 : 128 by 512, 4294967296 by 0, 4294967296 by 0], x",
     "an operand of more than 33554432 elements"},
};

static void
test_limits(void **state)
{
    axe_trn_report report;

    (void)state;
    for (int i = 0; i < AXE_LEN(limits); i++) {
        axe_ctx         *cx = axe_ctx_new();
        const axe_trace *t;
        axe_trn_options  opt = {0};
        const char      *text = axe_textf(cx, HEAD "%s\n", limits[i].text);
        assert_int_equal(axe_trn_profile(cx, "doc", &opt.params), AXE_OK);
        assert_int_equal(axe_trace_read(cx, 0, text, &t), AXE_OK);
        void **data = axe_new_array(cx, void *, t->n_tensor);
        data[0] = axe_alloc(cx, 128 * 512 * 2);
        assert_int_equal(axe_trn_run(cx, t, &opt, data, &report), AXE_ELIMIT);
        assert_string_equal(axe_last_error(cx), limits[i].error);
        axe_ctx_free(cx);
    }
}

static void
test_published(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(published); i++) {
        axe_ctx       *cx = axe_ctx_new();
        axe_trn_report legacy, doc;
        const char    *set[] = {
               "K=8192",  "M=4096",  "N=8192", published[i].blocks,
               "BM=2048", "BN=1024", NULL};
        const char *text = read_trace(cx, published[i].plan);
        if (run(cx, text, set, true, "legacy", &legacy) != AXE_OK ||
            run(cx, text, set, true, "doc", &doc) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        double off = legacy.ns / 1e6 / published[i].ms - 1;
        printf("%-15s %6.2f ms published, %6.2f legacy (%+.1f %%), %6.2f doc\n",
               published[i].plan, published[i].ms, legacy.ns / 1e6, 100 * off,
               doc.ns / 1e6);
        assert_true(fabs(off) < 0.10);
        assert_true(fabs((double)legacy.hbm_bytes / 1e9 - published[i].hbm_gb) <
                    0.001);
        assert_int_equal(legacy.n[AXE_TRN_tensor], 32768);
        assert_true(doc.ns < legacy.ns &&
                    doc.ns > 32768 * 512 / 2.8 /* the products alone */);
        axe_ctx_free(cx);
    }
}

/* Attention of 4096 x 4096 by 128: three products of 46.8 us each (weights that
 * are not hidden make it more), and what vector and scalar do in PSUM, which
 * they use by turns: scores (32 x 8 x 512 cycles of 1.12 GHz), P (32 x 32 x 128
 * of 1.4 GHz). */
static void
test_attention(void **state)
{
    static const char *const set[] = {"S=4096", "KV=2048", NULL};
    static const char *const profile[] = {"legacy", "doc"};
    double                   products = 3 * 32 * 8 * 512 / 2.8;
    double                   psum = 32 * 8 * 512 / 1.12 + 32 * 32 * 128 / 1.4;

    (void)state;
    for (int i = 0; i < AXE_LEN(profile); i++) {
        axe_ctx       *cx = axe_ctx_new();
        axe_trn_report r;
        const char    *text = read_trace(cx, "attention_flash");
        if (run(cx, text, set, true, profile[i], &r) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        printf("attention_flash %.1f us, %s\n", r.ns / 1e3, profile[i]);
        assert_true(r.busy[AXE_TRN_tensor] >= products &&
                    r.busy[AXE_TRN_tensor] < 1.1 * products);
        assert_true(r.ns > psum && psum > 210e3);
        assert_int_equal(r.n[AXE_TRN_tensor], 32 * 8 + 2 * 32 * 32);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutants),   cmocka_unit_test(test_times),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_semaphore),
        cmocka_unit_test(test_published), cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
