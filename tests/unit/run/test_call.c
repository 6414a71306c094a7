/* test_call.c - launches that are checked once, on arrays that come later. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/run.h"

static const char text[] =
    "kernel k<type T = f32>(in T X[M], in i32 n, out T Y[M]) { index m; "
    "global T S[M]; cta (i : 1) S[m] = 0; "
    "for (t : n) cta (i : 1) S[m] = S[m] + X[m]; cta (i : 1) Y[m] = S[m]; }";

typedef struct bench {
    axe_ctx    *cx;
    axe_device *device;
    axe_exec   *exec;
    axe_call   *call;
    float       x[8], y[8];
    int32_t     n;
} bench;

static int
set_up(void **state)
{
    static const int64_t m = 4;
    bench               *b = calloc(1, sizeof *b);
    axe_ctx             *cx = axe_ctx_new();
    const axe_program   *p;
    axe_array            a[] = {
                   {.name = "X", .type = "f32", .rank = 1, .shape = &m, .data = b->x},
                   {.name = "n", .type = "i32", .data = &b->n},
                   {.name = "Y", .type = "f32", .rank = 1, .shape = &m, .data = b->y}};

    *state = b;
    b->cx = cx;
    b->n = 2;
    for (int i = 0; i < 8; i++)
        b->x[i] = (float)i;
    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = 2}, &b->device),
        AXE_OK);
    assert_int_equal(
        axe_compile(cx, axe_source_add(cx, "k.axe", text, strlen(text)),
                    &(axe_compile_spec){0}, AXE_STAGE_C, &p),
        AXE_OK);
    assert_int_equal(axe_exec_new(cx, b->device, p, &b->exec), AXE_OK);
    assert_int_equal(axe_call_new(cx, b->exec, 3, a, 0, NULL, &b->call),
                     AXE_OK);
    return 0;
}

static int
tear_down(void **state)
{
    bench *b = *state;

    axe_call_free(b->call);
    axe_exec_free(b->exec);
    axe_device_free(b->device);
    axe_ctx_free(b->cx);
    free(b);
    return 0;
}

static void
check(const float *y, float times, float first)
{
    for (int i = 0; i < 4; i++)
        assert_true(y[i] == times * (first + (float)i));
}

static void
test_elsewhere(void **state)
{
    bench *b = *state;

    assert_int_equal(axe_call_run(b->cx, b->call), AXE_OK);
    check(b->y, 2, 0);
    assert_int_equal(
        axe_call_run_at(b->cx, b->call, (void *[]){b->x + 4, &b->n, b->y + 4}),
        AXE_OK);
    check(b->y + 4, 2, 4);
    check(b->y, 2, 0);
    memset(b->y, 0, sizeof b->y);
    assert_int_equal(axe_call_run(b->cx, b->call), AXE_OK);
    check(b->y + 4, 2, 4);
    assert_true(b->y[1] == 0);
}

/* What is refused leaves the call as it was. */
static void
test_refused(void **state)
{
    bench                   *b = *state;
    int32_t                  other = 3;
    axe_status               st;
    void                    *null_x[] = {NULL, &b->n, b->y};
    void                    *same[] = {b->x, &b->n, b->x + 3};
    void                    *odd[] = {(char *)b->x + 1, &b->n, b->y};
    void                    *another[] = {b->x, &other, b->y};
    static const char *const said[] = {
        "X: its data is NULL",
        "Y is written, but its memory overlaps that of X",
        "X: its data is not aligned to the 4 bytes of f32",
        "n is 3, the call was made for 2"};
    void **data[] = {null_x, same, odd, another};

    for (int i = 0; i < 4; i++) {
        st = axe_call_run_at(b->cx, b->call, data[i]);
        assert_int_equal(st, i == 3 ? AXE_ESHAPE : AXE_EARG);
        assert_string_equal(axe_last_error(b->cx), said[i]);
    }
    assert_int_equal(axe_call_run_at(b->cx, b->call, NULL), AXE_EARG);
    memset(b->y, 0, sizeof b->y);
    assert_int_equal(axe_call_run(b->cx, b->call), AXE_OK);
    check(b->y + 4, 2, 4);
}

static void
test_signature(void **state)
{
    bench        *b = *state;
    axe_signature s;
    int32_t       source = axe_source_add(b->cx, "k.axe", text, strlen(text));

    assert_int_equal(axe_source_signature(b->cx, source, NULL, &s), AXE_OK);
    assert_string_equal(s.kernel, "k");
    assert_null(s.machine);
    assert_int_equal(s.n_param, 3);
    assert_string_equal(s.param[0].type, "T");
    assert_string_equal(s.param[0].extent[0], "M");
    assert_int_equal(s.param[0].access, AXE_READS);
    assert_int_equal(s.param[1].rank, 0);
    assert_int_equal(s.param[2].access, AXE_WRITES);
    assert_int_equal(s.n_constant, 1);
    assert_string_equal(s.constant[0], "T");
    assert_string_equal(s.standard[0], "f32");
    assert_int_equal(axe_source_signature(b->cx, source, "none", &s),
                     AXE_ENAME);
    assert_int_equal(axe_source_signature(b->cx, source, NULL, NULL), AXE_EARG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elsewhere),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_signature)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
