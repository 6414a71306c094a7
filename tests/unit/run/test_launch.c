/* test_launch.c - launches against the reference in every type and order, and
 * the reference itself, which must notice one wrong bit. */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"
#include "ir/number.h"
#include "run/count.h"
#include "run/device.h"
#include "run_kernels.h"
#include "share.h"

static float buffer[128];
static char  cache[] = "/tmp/axe_run_XXXXXX";

/* ---------------------------------------------------------------- launching */

typedef struct matrix {
    axe_array array;
    int64_t   shape[2], stride[2];
} matrix;

enum { ORDER_C, ORDER_F, ORDER_GAPS, N_ORDER };

static uint64_t seed = 12345;

static double
random_real(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) * 0x1p-52 - 1;
}

/* Random numbers, with what lies in gaps set too. */
static void
make_matrix(matrix *m, const char *name, axe_type type, int64_t rows,
            int64_t cols, int order)
{
    size_t bytes = (size_t)axe_type_table[type].bits / 8;
    size_t n = (size_t)((rows + 3) * (cols + 5) * 2);

    m->shape[0] = rows;
    m->shape[1] = cols;
    m->stride[0] = order == ORDER_C   ? cols
                   : order == ORDER_F ? 1
                                      : 2 * cols + 3;
    m->stride[1] = order == ORDER_C ? 1 : order == ORDER_F ? rows : 2;
    m->array = (axe_array){name,      axe_type_table[type].name, 2, m->shape,
                           m->stride, calloc(n, bytes)};
    assert_non_null(m->array.data);
    for (size_t i = 0; i < n; i++)
        if (axe_type_is_float(type))
            axe_number_put(type, (char *)m->array.data + i * bytes,
                           random_real());
        else
            axe_number_put_int(type, (char *)m->array.data + i * bytes,
                               (int64_t)(random_real() * 100));
}

static void *
element(const matrix *m, axe_type type, int64_t row, int64_t col)
{
    return (char *)m->array.data + (row * m->stride[0] + col * m->stride[1]) *
                                       (axe_type_table[type].bits / 8);
}

static void
report(axe_ctx *cx, axe_status st)
{
    axe_buf said = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &said, false);
    fail_msg("%s", said.text ? said.text : "?");
}

/* C = A B^T by a kernel and by the reference; the largest share of a bound. */
static axe_difference
run_gemm(axe_device *d, axe_type type, const int64_t mnk[3], const int order[3])
{
    axe_ctx       *cx = axe_ctx_new();
    matrix         x[3];
    axe_array      array[3];
    axe_exec      *e;
    axe_reference *ref;
    axe_difference diff;

    make_matrix(&x[0], "A", type, mnk[0], mnk[2], order[0]);
    make_matrix(&x[1], "B", type, mnk[1], mnk[2], order[1]);
    make_matrix(&x[2], "C", type, mnk[0], mnk[1], order[2]);
    for (int i = 0; i < 3; i++)
        array[i] = x[i].array;
    const axe_program *p = compile(cx, gemm_text, 3, array, NULL, AXE_STAGE_C);
    report(cx, axe_exec_new(cx, d, p, &e));
    report(cx, axe_reference_new(cx, d, p, 3, array, 0, NULL, &ref));
    report(cx, axe_launch(cx, e, 3, array, 0, NULL));
    report(cx, axe_reference_compare(cx, ref, &array[2], &diff));
    axe_reference_free(ref);
    axe_exec_free(e);
    for (int i = 0; i < 3; i++)
        free(x[i].array.data);
    axe_ctx_free(cx);
    return diff;
}

static axe_device *
open_device(axe_ctx *cx, int n_thread)
{
    axe_device *d;

    report(cx, axe_device_new(
                   cx, &(axe_device_spec){.n_thread = n_thread, .cache = cache},
                   &d));
    return d;
}

/* All types, and sizes around the tile of 16 x 48 x 32, zero included. */
static void
test_gemm(void **state)
{
    static const axe_type type[] = {AXE_TYPE_f32, AXE_TYPE_f64, AXE_TYPE_f16,
                                    AXE_TYPE_bf16};
    static const int64_t  mnk[][3] = {{16, 48, 32}, {1, 1, 1},    {17, 49, 33},
                                      {15, 47, 31}, {3, 100, 65}, {64, 5, 7},
                                      {0, 5, 3},    {5, 0, 3},    {5, 3, 0},
                                      {0, 0, 0},    {33, 97, 129}};
    axe_ctx              *cx = axe_ctx_new();
    axe_device           *d = open_device(cx, 2);

    (void)state;
    for (int t = 0; t < AXE_LEN(type); t++)
        for (int i = 0; i < AXE_LEN(mnk); i += share()) {
            axe_difference diff =
                run_gemm(d, type[t], mnk[i], (const int[]){0, 0, 0});
            assert_int_equal(diff.n, mnk[i][0] * mnk[i][1]);
            assert_int_equal(diff.n_wrong + diff.n_unbound, 0);
            assert_true(diff.max_share < 1);
        }
    axe_device_free(d);
    axe_ctx_free(cx);
}

static int
count_compiled(const char *dir)
{
    char  command[200], said[20] = "";
    FILE *f;

    snprintf(command, sizeof command, "find %s -name '*.so' | wc -l", dir);
    f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(said, sizeof said, f));
    pclose(f);
    return atoi(said);
}

static void
launch_side(axe_ctx *cx, axe_exec *e, int64_t m, float want)
{
    float     x[8] = {3, 3, 3, 3, 3, 3, 3, 3}, y[8] = {0};
    axe_array array[] = {
        {.name = "X", .type = "f32", .rank = 1, .shape = &m, .data = x},
        {.name = "Y", .type = "f32", .rank = 1, .shape = &m, .data = y}};
    axe_call *c;

    for (int way = 0; way < 3; way++) {
        memset(y, 0, sizeof y);
        if (way == 0)
            report(cx, axe_launch(cx, e, 2, array, 0, NULL));
        else {
            report(cx, axe_call_new(cx, e, 2, array, 0, NULL, &c));
            report(cx, way == 1 ? axe_call_run(cx, c)
                                : axe_call_run_at(cx, c, (void *[]){x, y}));
            axe_call_free(c);
        }
        for (int64_t i = 0; i < m; i++)
            assert_true(y[i] == want);
    }
}

/* A kernel that is a branch: its sides are compiled as sizes ask for them, and
 * once. */
static void
test_sides(void **state)
{
    static const char text[] = "kernel k(in f32 X[M], out f32 Y[M]) { index m; "
                               "if (M <= 4) cta (i : 1) Y[m] = X[m] + 1; "
                               "else cta (i : 1) Y[m] = X[m] * 2; }";
    char              dir[] = "/tmp/axe_run_XXXXXX", command[60];
    axe_ctx          *cx = axe_ctx_new();
    axe_device       *d;
    axe_exec         *e;
    const axe_program *p;
    int32_t            source = axe_source_add(cx, "k.axe", text, strlen(text));

    (void)state;
    assert_non_null(mkdtemp(dir));
    report(cx, axe_device_new(
                   cx, &(axe_device_spec){.n_thread = 2, .cache = dir}, &d));
    report(cx,
           axe_compile(cx, source, &(axe_compile_spec){0}, AXE_STAGE_C, &p));
    report(cx, axe_exec_new(cx, d, p, &e));
    assert_int_equal(count_compiled(dir), 1);
    launch_side(cx, e, 8, 6);
    assert_int_equal(count_compiled(dir), 1);
    launch_side(cx, e, 3, 4);
    assert_int_equal(count_compiled(dir), 2);
    launch_side(cx, e, 8, 6);
    launch_side(cx, e, 4, 4);
    launch_side(cx, e, 5, 6);
    assert_int_equal(count_compiled(dir), 2);
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(cx);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* A launch from a ctx whose first units are others than the program's; what
 * reads the plan is refused there. */
static void
test_other_ctx(void **state)
{
    static const char text[] =
        "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n; "
        "cta (i : M by 2) Y[i*2 + m, n] = X[i*2 + m, n] + 1; }";
    axe_ctx           *cx = axe_ctx_new(), *other = axe_ctx_new();
    axe_device        *d = open_device(cx, 2);
    axe_exec          *e;
    const axe_program *p;
    float              x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    const int64_t      shape[] = {2, 3};
    axe_array          array[] = {{"X", "f32", 2, shape, NULL, x},
                                  {"Y", "f32", 2, shape, NULL, y}};
    axe_estimate       about;
    axe_buf            out = {.cx = other};

    (void)state;
    report(cx, axe_compile(cx, axe_source_add(cx, "k.axe", text, strlen(text)),
                           &(axe_compile_spec){0}, AXE_STAGE_C, &p));
    report(cx, axe_exec_new(cx, d, p, &e));
    for (int i = 0; i < 2; i++) { /* without units, then with others */
        report(other, axe_launch(other, e, 2, array, 0, NULL));
        assert_true(y[0] == 2 && y[5] == 7);
        y[0] = y[5] = 0;
        for (int k = 0; k < 8; k++)
            axe_unit_symbol(other, &"hgfedcba"[k]);
    }
    assert_int_equal(axe_program_estimate(other, p, 1, 0, NULL, &about),
                     AXE_EARG);
    assert_string_equal(axe_last_error(other),
                        "kernel k was compiled in another ctx");
    assert_int_equal(axe_program_explain(other, p, false, 0, NULL, &out),
                     AXE_EARG);
    assert_int_equal(axe_program_emit(other, p, AXE_STAGE_IR, &out), AXE_EARG);
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(other);
    axe_ctx_free(cx);
}

/* Row-major, column-major and gaps: every pair of orders of every two of the
 * three arrays occurs. */
static void
test_orders(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *d = open_device(cx, 3);

    (void)state;
    for (int i = 0; i < N_ORDER * N_ORDER; i++) {
        const int      order[] = {i % 3, i / 3, (i + i / 3) % 3};
        axe_difference diff =
            run_gemm(d, AXE_TYPE_f32, (const int64_t[]){35, 50, 70}, order);
        assert_int_equal(diff.n, 35 * 50);
        assert_int_equal(diff.n_wrong, 0);
    }
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* The threads share the work without changing the result. */
static void
test_threads(void **state)
{
    static const int64_t mnk[] = {70, 100, 40};
    axe_ctx             *cx = axe_ctx_new();
    float                first[70 * 100];

    (void)state;
    for (int n = 1; n <= 9; n++) {
        axe_device *d = open_device(cx, n);
        axe_exec   *e;
        matrix      x[3];
        axe_array   array[3];
        seed = 77;
        make_matrix(&x[0], "A", AXE_TYPE_f32, mnk[0], mnk[2], ORDER_C);
        make_matrix(&x[1], "B", AXE_TYPE_f32, mnk[1], mnk[2], ORDER_C);
        make_matrix(&x[2], "C", AXE_TYPE_f32, mnk[0], mnk[1], ORDER_C);
        for (int i = 0; i < 3; i++)
            array[i] = x[i].array;
        report(cx,
               axe_exec_new(cx, d,
                            compile(cx, gemm_text, 3, array, NULL, AXE_STAGE_C),
                            &e));
        report(cx, axe_launch(cx, e, 3, array, 0, NULL));
        if (n == 1)
            memcpy(first, array[2].data, sizeof first);
        assert_memory_equal(array[2].data, first, sizeof first);
        axe_exec_free(e);
        axe_device_free(d);
        for (int i = 0; i < 3; i++)
            free(x[i].array.data);
    }
    axe_ctx_free(cx);
}

/* A launch that fails leaves nothing in the ctx but its error, one that
 * succeeds nothing at all: a server may launch for ever. */
static void
test_memory(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *d = open_device(cx, 1);
    axe_array   array[] = {MAT("X", 3, 4, buffer), MAT("Y", 4, 3, buffer + 64)};
    axe_exec   *e;
    size_t      bytes;

    (void)state;
    report(cx, axe_exec_new(cx, d,
                            compile(cx, move_text, 2, array, NULL, AXE_STAGE_C),
                            &e));
    report(cx, axe_launch(cx, e, 2, array, 0, NULL));
    bytes = axe_ctx_bytes(cx);
    for (int i = 0; i < 2000; i++)
        report(cx, axe_launch(cx, e, 2, array, 0, NULL));
    assert_int_equal(axe_ctx_bytes(cx), bytes);
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* A GPU's program is none for this device, which does not try to compile it. */
static void
test_other_machine(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_device        *d = open_device(cx, 1);
    axe_compile_spec   spec = {.machine = "sm_90a"};
    const axe_program *p;
    axe_exec          *e = NULL;

    (void)state;
    report(cx, axe_compile(
                   cx, axe_source_add(cx, "t", move_text, strlen(move_text)),
                   &spec, AXE_STAGE_C, &p));
    assert_int_equal(axe_exec_new(cx, d, p, &e), AXE_EUNSUPPORTED);
    assert_null(e);
    assert_non_null(strstr(axe_last_error(cx),
                           "was compiled for sm_90a, which is not a CPU"));
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* ---------------------------------------------------------- the reference */

static axe_difference
compare(axe_ctx *cx, const axe_reference *ref, const matrix *m)
{
    axe_difference diff;

    report(cx, axe_reference_compare(cx, ref, &m->array, &diff));
    return diff;
}

/* A device that lives long keeps nothing of what came and went. */
static void
test_cycles(void **state)
{
    static const char text[] = "kernel k(in f32 X[M], out f32 Y[M]) { index m; "
                               "cta (i : M by 8) Y[i*8 + m] = X[i*8 + m]; }";
    axe_ctx          *own = axe_ctx_new();
    axe_device       *d = open_device(own, 1);
    float             x[5] = {1}, y[5];
    size_t            before = 0;

    (void)state;
    for (int i = 0; i < 400; i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        axe_exec          *e;
        axe_array          a[] = {{.name = "X",
                                   .type = "f32",
                                   .rank = 1,
                                   .shape = (int64_t[]){5},
                                   .data = x},
                                  {.name = "Y",
                                   .type = "f32",
                                   .rank = 1,
                                   .shape = (int64_t[]){5},
                                   .data = y}};
        assert_int_equal(
            axe_compile(cx, axe_source_add(cx, "k.axe", text, strlen(text)),
                        &(axe_compile_spec){0}, AXE_STAGE_C, &p),
            AXE_OK);
        assert_int_equal(axe_exec_new(cx, d, p, &e), AXE_OK);
        assert_int_equal(axe_launch(cx, e, 2, a, 0, NULL), AXE_OK);
        axe_exec_free(e);
        axe_ctx_free(cx);
        before = i == 2 ? axe_ctx_bytes(d->cx) : before;
    }
    assert_int_equal(axe_ctx_bytes(d->cx), before);
    axe_device_free(d);
    axe_ctx_free(own);
}

/* A transpose has bounds of zero: any changed bit is wrong, in every type. */
static void
test_notices(void **state)
{
    static const axe_type type[] = {AXE_TYPE_f64, AXE_TYPE_f32, AXE_TYPE_f16,
                                    AXE_TYPE_bf16, AXE_TYPE_i32};
    axe_ctx              *cx = axe_ctx_new();
    axe_device           *d = open_device(cx, 2);

    (void)state;
    for (int t = 0; t < AXE_LEN(type); t++) {
        matrix         x, y;
        axe_reference *ref;
        axe_exec      *e;
        make_matrix(&x, "X", type[t], 19, 23, ORDER_C);
        make_matrix(&y, "Y", type[t], 23, 19, ORDER_C);
        axe_array          array[] = {x.array, y.array};
        const axe_program *p =
            compile(cx, move_text, 2, array, NULL, AXE_STAGE_C);
        report(cx, axe_exec_new(cx, d, p, &e));
        report(cx, axe_reference_new(cx, d, p, 2, array, 0, NULL, &ref));
        assert_int_equal(compare(cx, ref, &y).n_wrong > 400, 1);
        report(cx, axe_launch(cx, e, 2, array, 0, NULL));
        assert_int_equal(compare(cx, ref, &y).n_wrong, 0);
        *(unsigned char *)element(&y, type[t], 11, 7) ^= 1;
        axe_difference diff = compare(cx, ref, &y);
        assert_int_equal(diff.n_wrong, 1);
        assert_int_equal(diff.worst, 11 * 19 + 7);
        axe_reference_free(ref);
        axe_exec_free(e);
        free(x.array.data);
        free(y.array.data);
    }
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* One missing term of a sum of 100 is far outside the bound, and so is NaN. */
static void
test_bound(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    axe_device    *d = open_device(cx, 1);
    matrix         a, b, c;
    axe_reference *ref;
    axe_difference diff;

    (void)state;
    make_matrix(&a, "A", AXE_TYPE_f32, 2, 100, ORDER_C);
    make_matrix(&b, "B", AXE_TYPE_f32, 2, 100, ORDER_C);
    make_matrix(&c, "C", AXE_TYPE_f32, 2, 2, ORDER_C);
    axe_array          array[] = {a.array, b.array, c.array};
    const axe_program *p = compile(cx, gemm_text, 3, array, NULL, AXE_STAGE_C);
    report(cx, axe_reference_new(cx, d, p, 3, array, 0, NULL, &ref));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double sum = 0;
            for (int k = 0; k < 100; k++)
                sum += (double)*(float *)element(&a, AXE_TYPE_f32, i, k) *
                       (double)*(float *)element(&b, AXE_TYPE_f32, j, k);
            *(float *)element(&c, AXE_TYPE_f32, i, j) = (float)sum;
        }
    diff = compare(cx, ref, &c);
    assert_int_equal(diff.n_wrong, 0);
    assert_true(diff.max_abs < 1e-5);
    double sum = 0;
    for (int k = 0; k < 100; k++)
        sum += fabs(
            (double)*(float *)element(&a, AXE_TYPE_f32, diff.worst / 2, k) *
            (double)*(float *)element(&b, AXE_TYPE_f32, diff.worst % 2, k));
    assert_true(diff.bound > 0x1p-23 * sum);
    assert_true(diff.bound < 50 * 0x1p-23 * sum);
    *(float *)element(&c, AXE_TYPE_f32, 1, 0) -=
        *(float *)element(&a, AXE_TYPE_f32, 1, 50) *
        *(float *)element(&b, AXE_TYPE_f32, 0, 50);
    diff = compare(cx, ref, &c);
    assert_int_equal(diff.n_wrong, 1);
    assert_int_equal(diff.worst, 2);
    *(float *)element(&c, AXE_TYPE_f32, 0, 0) = NAN;
    assert_int_equal(compare(cx, ref, &c).n_wrong, 2);
    c.array.name = "A";
    assert_int_equal(axe_reference_compare(cx, ref, &c.array, &diff),
                     AXE_ENAME);
    axe_reference_free(ref);
    free(a.array.data);
    free(b.array.data);
    free(c.array.data);
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* A statement that reads what it writes reads the old values. */
static void
test_updates(void **state)
{
    static const char text[] = "kernel twice(in f32 X[M], out f32 Y[M])\n"
                               "{\n"
                               "    index m;\n"
                               "    cta (i : M by 16) {\n"
                               "        reg f32 t[16];\n"
                               "        t[m] = X[i*16 + m];\n"
                               "        t[m] = t[m] + t[m];\n"
                               "        Y[i*16 + m] = t[m];\n"
                               "    }\n"
                               "}\n";
    axe_ctx          *cx = axe_ctx_new();
    axe_device       *d = open_device(cx, 1);
    float             x[21], y[21];
    const int64_t     shape[] = {21};
    axe_array         array[] = {{"X", "f32", 1, shape, NULL, x},
                                 {"Y", "f32", 1, shape, NULL, y}};
    axe_reference    *ref;
    axe_difference    diff;

    (void)state;
    for (int i = 0; i < 21; i++) {
        x[i] = (float)i;
        y[i] = 2 * x[i];
    }
    const axe_program *p = compile(cx, text, 2, array, NULL, AXE_STAGE_IR);
    report(cx, axe_reference_new(cx, d, p, 2, array, 0, NULL, &ref));
    report(cx, axe_reference_compare(cx, ref, &array[1], &diff));
    assert_int_equal(diff.n, 21);
    assert_int_equal(diff.n_wrong, 0);
    axe_reference_free(ref);
    axe_device_free(d);
    axe_ctx_free(cx);
}

static void
test_flops(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p = compile(cx, gemm_text, 0, NULL, NULL, AXE_STAGE_IR);

    (void)state;
    assert_string_equal(axe_program_size(p, 0), "M");
    assert_string_equal(axe_program_size(p, 1), "K");
    assert_string_equal(axe_program_size(p, 2), "N");
    assert_true(fabs(axe_count_flops(p->kernel, (const int64_t[]){7, 11, 13}) -
                     2.0 * 7 * 11 * 13) < 1e-9);
    p = compile(cx, move_text, 0, NULL, NULL, AXE_STAGE_IR);
    assert_true(axe_count_flops(p->kernel, (const int64_t[]){7, 11}) == 0);
    axe_ctx_free(cx);
}

static int
clean(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),          cmocka_unit_test(test_sides),
        cmocka_unit_test(test_orders),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_notices),       cmocka_unit_test(test_bound),
        cmocka_unit_test(test_updates),       cmocka_unit_test(test_flops),
        cmocka_unit_test(test_other_machine), cmocka_unit_test(test_other_ctx),
    };

    if (!mkdtemp(cache))
        return 1;
    return cmocka_run_group_tests(tests, NULL, clean);
}
