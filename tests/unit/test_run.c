/* test_run.c - from arrays to results: binding with all its errors, threads,
 * launches against the reference in every type and order, and the reference
 * itself, which must notice one wrong bit. */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/run.h"
#include "run/count.h"
#include "run/number.h"
#include "run/pool.h"
#include "run/program.h"

static char cache[] = "/tmp/axe_run_XXXXXX";

/* ----------------------------------------------------------------- numbers */

static void
test_f16(void **state)
{
    uint16_t back;

    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t bits = (uint16_t)h;
        double   v = axe_number_get(AXE_TYPE_f16, &bits);
        if ((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0) {
            assert_true(isnan(v));
            continue;
        }
        axe_number_put(AXE_TYPE_f16, &back, v);
        assert_int_equal(back, bits);
    }
    assert_true(axe_number_get(AXE_TYPE_f16, &(uint16_t){0x3c00}) == 1.0);
    assert_true(axe_number_get(AXE_TYPE_f16, &(uint16_t){1}) == 0x1p-24);
    assert_true(axe_number_get(AXE_TYPE_f16, &(uint16_t){0xfbff}) == -65504);
}

/* Between two neighbours: below the middle down, above up, at it to even. */
static void
test_rounding(void **state)
{
    static const axe_type type[] = {AXE_TYPE_f16, AXE_TYPE_bf16};

    (void)state;
    for (int t = 0; t < AXE_LEN(type); t++)
        for (uint32_t h = 0; h < (t == 0 ? 0x7bffu : 0x7f7fu); h++) {
            uint16_t lo = (uint16_t)h, hi = (uint16_t)(h + 1), got;
            double   a = axe_number_get(type[t], &lo),
                   b = axe_number_get(type[t], &hi), mid = (a + b) / 2;
            axe_number_put(type[t], &got, mid);
            assert_int_equal(got, h % 2 == 0 ? lo : hi);
            axe_number_put(type[t], &got, nextafter(mid, 0));
            assert_int_equal(got, lo);
            axe_number_put(type[t], &got, -nextafter(mid, HUGE_VAL));
            assert_int_equal(got, hi | 0x8000);
        }
    uint16_t h;
    axe_number_put(AXE_TYPE_f16, &h, 65519.99);
    assert_int_equal(h, 0x7bff);
    axe_number_put(AXE_TYPE_f16, &h, 65520);
    assert_int_equal(h, 0x7c00);
    for (int t = 0; t < AXE_LEN(type); t++) {
        uint64_t bits = UINT64_C(0x7ff0000000000001);
        double   nan;
        memcpy(&nan, &bits, sizeof nan);
        axe_number_put(type[t], &h, nan);
        assert_true(isnan(axe_number_get(type[t], &h)));
    }
}

static void
test_integers(void **state)
{
    int8_t   b = -3;
    uint16_t u = 65535;
    int64_t  w = INT64_MIN;

    (void)state;
    assert_int_equal(axe_number_get_int(AXE_TYPE_i8, &b), -3);
    assert_int_equal(axe_number_get_int(AXE_TYPE_u16, &u), 65535);
    assert_true(axe_number_get_int(AXE_TYPE_i64, &w) == INT64_MIN);
    axe_number_put_int(AXE_TYPE_i8, &b, 0x1ff);
    assert_int_equal(b, -1);
}

/* ----------------------------------------------------------------- threads */

typedef struct tally {
    atomic_int n[16];
} tally;

static void
count_worker(void *user, int worker)
{
    atomic_fetch_add(&((tally *)user)->n[worker], 1);
}

static void
test_pool(void **state)
{
    static const int size[] = {1, 2, 3, 7};
    axe_ctx         *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(size); i++) {
        axe_pool *p;
        tally     t = {0};
        int       n = 0, rounds = size[i] <= 2 ? 20000 : 300;
        assert_int_equal(axe_pool_new(cx, size[i], &p), AXE_OK);
        assert_int_equal(axe_pool_size(p), size[i]);
        for (; n < rounds; n++)
            axe_pool_run(p, count_worker, &t);
        for (int k = 0; k < 20; k++, n++) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            axe_pool_run(p, count_worker, &t);
        }
        for (int k = 0; k < AXE_LEN(t.n); k++)
            assert_int_equal(t.n[k], k < size[i] ? n : 0);
        axe_pool_free(p);
    }
    axe_ctx_free(cx);
}

static void
test_pool_sizes(void **state)
{
    axe_ctx  *cx = axe_ctx_new();
    axe_pool *p = NULL;

    (void)state;
    assert_int_equal(axe_pool_new(cx, -1, &p), AXE_EARG);
    assert_int_equal(axe_pool_new(cx, INT64_MAX, &p), AXE_EARG);
    assert_int_equal(axe_pool_new(cx, 1025, &p), AXE_EARG);
    assert_string_equal(axe_last_error(cx),
                        "1025 threads: 1 to 1024 can work, 0 means one for "
                        "each processor");
    assert_null(p);
    assert_int_equal(axe_pool_new(cx, 0, &p), AXE_OK);
    assert_true(axe_pool_size(p) >= 1);
    axe_pool_free(p);
    axe_pool_free(NULL);
    axe_ctx_free(cx);
}

/* ----------------------------------------------------------------- kernels */

static const char gemm_text[] =
    "kernel gemm<type T = f32, BM = 16, BN = 48, BK = 32>\n"
    "    (in T A[M, K], in T B[N, K], out T C[M, N])\n"
    "{\n"
    "    index m, n, k;\n"
    "    cta (i : M by BM, j : N by BN) {\n"
    "        reg accum(T) acc[BM, BN] = 0;\n"
    "        for (kt : K by BK) {\n"
    "            shared T a[BM, BK];\n"
    "            shared T b[BN, BK];\n"
    "            a[m, k] = A[i*BM + m, kt*BK + k];\n"
    "            b[n, k] = B[j*BN + n, kt*BK + k];\n"
    "            acc[m, n] += a[m, k] * b[n, k];\n"
    "        }\n"
    "        C[i*BM + m, j*BN + n] = T(acc[m, n]);\n"
    "    }\n"
    "}\n";

static const char move_text[] =
    "kernel move<type T = f32>(in T X[M, N], out T Y[N, M])\n"
    "{\n"
    "    index m, n;\n"
    "    cta (i : M by 16, j : N by 16) {\n"
    "        shared T t[16, 16];\n"
    "        t[m, n] = X[i*16 + m, j*16 + n];\n"
    "        Y[j*16 + n, i*16 + m] = t[m, n];\n"
    "    }\n"
    "}\n";

static const axe_program *
compile(axe_ctx *cx, const char *text, int n, const axe_array *array,
        const char *type, axe_stage last)
{
    const axe_program *p = NULL;
    int32_t source = axe_source_add(cx, "test.axe", text, strlen(text));
    axe_compile_spec spec = {.n_set = type ? 1 : 0,
                             .set_name = (const char *[]){"T"},
                             .set_value = &type};
    axe_buf          said = {.cx = cx};

    if (axe_compile_for(cx, source, &spec, n, array, last, &p) != AXE_OK) {
        axe_diags_print(cx, &said, false);
        fail_msg("%s", said.text);
    }
    return p;
}

/* ----------------------------------------------------------------- binding */

static float buffer[4096];

#define MAT(name_, rows, cols, at)                                             \
    {                                                                          \
        .name = name_, .type = "f32", .rank = 2,                               \
        .shape = (const int64_t[]){rows, cols}, .data = (at)                   \
    }
#define STRIDED(name_, rows, cols, s0, s1, at)                                 \
    {                                                                          \
        .name = name_, .type = "f32", .rank = 2,                               \
        .shape = (const int64_t[]){rows, cols},                                \
        .stride = (const int64_t[]){s0, s1}, .data = (at)                      \
    }
#define BIG INT64_C(9223372036854775807)

static const struct bind_row {
    axe_array   array[4];
    axe_size    size[2];
    axe_status  status;
    const char *text;
} bind_row[] = {
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{0}},
     AXE_OK,
     ""},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer),
      MAT("C", 4, 5, buffer + 128)},
     {{"M", 4}},
     AXE_OK,
     ""},
    {{MAT("A", 0, 8, NULL), MAT("B", 5, 8, buffer), MAT("C", 0, 5, NULL)},
     {{0}},
     AXE_OK,
     ""},
    {{MAT("A", 1, 8, buffer), STRIDED("B", 1, 8, 77, 1, buffer + 64),
      MAT("C", 1, 1, buffer + 128)},
     {{0}},
     AXE_OK,
     ""},
    {{STRIDED("A", 0, 8, 3, 3, NULL), MAT("B", 5, 8, buffer),
      MAT("C", 0, 5, NULL)},
     {{0}},
     AXE_OK,
     ""},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 7, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{0}},
     AXE_ESHAPE,
     "K is 8 from A (dimension 1) but 7 from B (dimension 1)"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 6, buffer + 128)},
     {{0}},
     AXE_ESHAPE,
     "N is 5 from B (dimension 0) but 6 from C (dimension 1)"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{"K", 9}},
     AXE_ESHAPE,
     "K is 9 from the value given but 8 from A (dimension 1)"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64)},
     {{0}},
     AXE_ENAME,
     "C is missing: no array is given for it"},
    {{MAT("A", 4, 8, buffer), MAT("a", 5, 8, buffer + 64)},
     {{0}},
     AXE_ENAME,
     "kernel gemm has no parameter 'a'"},
    {{MAT("A", 4, 8, buffer), MAT("A", 5, 8, buffer + 64)},
     {{0}},
     AXE_ENAME,
     "A is given twice"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{"Q", 9}},
     AXE_ENAME,
     "kernel gemm has no size 'Q'"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{"M", 4}, {"M", 4}},
     AXE_ENAME,
     "size M is given twice"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{"M", INT64_MIN}},
     AXE_EARG,
     "size M is given as -9223372036854775808; sizes are not negative"},
    {{{.name = "A",
       .type = "f64",
       .rank = 2,
       .shape = (const int64_t[]){4, 8},
       .data = buffer}},
     {{0}},
     AXE_ETYPE,
     "A has elements of f32, not of f64"},
    {{{.name = "A", .type = "nonsense", .rank = 2}},
     {{0}},
     AXE_ETYPE,
     "A has elements of f32, not of nonsense"},
    {{{.name = "A",
       .type = "f32",
       .rank = 3,
       .shape = (const int64_t[]){4, 8, 1},
       .data = buffer}},
     {{0}},
     AXE_ESHAPE,
     "A has 2 dimensions, the array given for it 3"},
    {{{.name = "A", .type = "f32", .rank = INT32_MIN, .data = buffer}},
     {{0}},
     AXE_ESHAPE,
     "A has 2 dimensions, the array given for it -2147483648"},
    {{{.name = "A", .type = "f32", .rank = 2, .data = buffer}},
     {{0}},
     AXE_EARG,
     "A: the array has no shape"},
    {{MAT("A", 4, -8, buffer)},
     {{0}},
     AXE_ESHAPE,
     "A (dimension 1) is -8; extents are not negative"},
    {{MAT("A", 4, 8, NULL)}, {{0}}, AXE_EARG, "A: its data is NULL"},
    {{MAT("A", 4, 8, (char *)buffer + 2)},
     {{0}},
     AXE_EARG,
     "A: its data is not aligned to the 4 bytes of f32"},
    {{STRIDED("A", 4, 8, 9, 1, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 128)},
     {{0}},
     AXE_ESHAPE,
     "A (dimension 0) has stride 9, the program is compiled for 8"},
    {{STRIDED("A", 4, 8, -8, 1, buffer)},
     {{0}},
     AXE_ESHAPE,
     "A (dimension 0) has stride -8; strides are not negative"},
    {{MAT("A", BIG, BIG, buffer)},
     {{0}},
     AXE_EOVERFLOW,
     "A: its size does not fit int64"},
    {{MAT("A", BIG / 8 + 1, 1, buffer), MAT("B", 5, 1, buffer + 64),
      MAT("C", BIG / 8 + 1, 5, buffer + 128)},
     {{0}},
     AXE_EOVERFLOW,
     "C: the address of its last element does not fit int64"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 31)},
     {{0}},
     AXE_EARG,
     "C is written, but its memory overlaps that of A"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 103)},
     {{0}},
     AXE_EARG,
     "C is written, but its memory overlaps that of B"},
    {{MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer + 64),
      MAT("C", 4, 5, buffer + 104)},
     {{0}},
     AXE_OK,
     ""},
};

static void
test_bind(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(bind_row); i++) {
        const struct bind_row *r = &bind_row[i];
        axe_ctx               *cx = axe_ctx_new();
        const axe_program     *p =
            compile(cx, gemm_text, 0, NULL, NULL, AXE_STAGE_IR);
        axe_bound b;
        int       n = 0, n_size = 0;
        while (n < 4 && r->array[n].name)
            n++;
        while (n_size < 2 && r->size[n_size].name)
            n_size++;
        axe_status st =
            axe_bind(cx, p->kernel, n, r->array, n_size, r->size, true, &b);
        assert_string_equal(axe_last_error(cx), r->text);
        assert_int_equal(st, r->status);
        axe_ctx_free(cx);
    }
}

/* A written array whose elements share places. */
static void
test_bind_strided(void **state)
{
    static const struct {
        int64_t     s0, s1;
        const char *text;
    } row[] = {
        {5, 1, ""},
        {9, 2, ""},
        {1, 4, ""},
        {4, 1,
         "C is written, but its elements overlap: stride 4 of dimension 0"},
        {0, 1,
         "C is written, but its elements overlap: stride 0 of dimension 0"},
        {3, 3,
         "C is written, but its elements overlap: stride 3 of dimension 1"},
        {1, 3,
         "C is written, but its elements overlap: stride 3 of dimension 1"},
        {BIG / 4, 1, "C: the address of its last element does not fit int64"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx  *cx = axe_ctx_new();
        int64_t   stride[] = {row[i].s0, row[i].s1};
        axe_array array[] = {MAT("A", 4, 8, buffer), MAT("B", 5, 8, buffer),
                             MAT("C", 4, 5, buffer + 128)};
        int32_t   source =
            axe_source_add(cx, "test.axe", gemm_text, sizeof gemm_text - 1);
        const axe_program *p;
        axe_bound          b;
        array[2].stride = stride;
        assert_int_equal(axe_compile(cx, source,
                                     &(axe_compile_spec){
                                         .n_order = 1,
                                         .order_name = (const char *[]){"C"},
                                         .order = (const char *[]){"strided"},
                                     },
                                     AXE_STAGE_IR, &p),
                         AXE_OK);
        axe_status st = axe_bind(cx, p->kernel, 3, array, 0, NULL, true, &b);
        assert_string_equal(axe_last_error(cx), row[i].text);
        assert_int_equal(st == AXE_OK, *row[i].text == '\0');
        axe_ctx_free(cx);
    }
}

static void
test_shapes(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_array          array[] = {MAT("A", 4, 8, NULL), MAT("B", 5, 8, NULL)};
    axe_shape          shape[3];
    const axe_program *p = compile(cx, gemm_text, 2, array, NULL, AXE_STAGE_IR);

    (void)state;
    assert_int_equal(axe_program_shapes(cx, p, 2, array, 0, NULL, shape),
                     AXE_OK);
    assert_int_equal(shape[2].n, 2);
    assert_int_equal(shape[2].extent[0], 4);
    assert_int_equal(shape[2].extent[1], 5);
    assert_int_equal(
        axe_program_shapes(cx, p, 1, array, 1, &(axe_size){"N", 11}, shape),
        AXE_OK);
    assert_int_equal(shape[1].extent[0], 11);
    assert_int_equal(shape[1].extent[1], 8);
    assert_int_equal(axe_program_shapes(cx, p, 1, array, 0, NULL, shape),
                     AXE_EARG);
    assert_string_equal(axe_last_error(cx),
                        "the shape of B does not follow from the arrays and "
                        "sizes given");
    axe_ctx_free(cx);
}

static void
test_fitting(void **state)
{
    axe_ctx  *cx = axe_ctx_new();
    axe_array array[] = {MAT("A", 4, 8, NULL), MAT("B", 5, 8, NULL)};
    int32_t   source =
        axe_source_add(cx, "test.axe", gemm_text, sizeof gemm_text - 1);
    axe_compile_spec   spec = {0};
    const axe_program *p = NULL;

    (void)state;
    array[0].type = array[1].type = "bf16";
    p = compile(cx, gemm_text, 2, array, NULL, AXE_STAGE_IR);
    assert_string_equal(axe_program_param(p, 2).type, "bf16");
    assert_int_equal(axe_program_param(p, 2).access, AXE_WRITES);
    assert_int_equal(axe_program_n_size(p), 3);
    p = NULL;
    array[1].type = "f16";
    assert_int_equal(
        axe_compile_for(cx, source, &spec, 2, array, AXE_STAGE_IR, &p),
        AXE_ETYPE);
    assert_string_equal(axe_last_error(cx),
                        "type T is bf16 from A but f16 from B");
    array[1].name = "Bb";
    assert_int_equal(
        axe_compile_for(cx, source, &spec, 2, array, AXE_STAGE_IR, &p),
        AXE_ENAME);
    assert_null(p);
    spec = (axe_compile_spec){.n_order = 1,
                              .order_name = (const char *[]){"A"},
                              .order = (const char *[]){"X"}};
    assert_int_equal(axe_compile(cx, source, &spec, AXE_STAGE_IR, &p),
                     AXE_EARG);
    assert_string_equal(axe_last_error(cx),
                        "A: order 'X' is none of C, F and strided");
    axe_ctx_free(cx);
}

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
        for (int i = 0; i < AXE_LEN(mnk); i++) {
            axe_difference diff =
                run_gemm(d, type[t], mnk[i], (const int[]){0, 0, 0});
            assert_int_equal(diff.n, mnk[i][0] * mnk[i][1]);
            assert_int_equal(diff.n_wrong + diff.n_unbound, 0);
            assert_true(diff.max_share < 1);
        }
    axe_device_free(d);
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

/* ---------------------------------------------------------- the reference */

static axe_difference
compare(axe_ctx *cx, const axe_reference *ref, const matrix *m)
{
    axe_difference diff;

    report(cx, axe_reference_compare(cx, ref, &m->array, &diff));
    return diff;
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
        cmocka_unit_test(test_f16),          cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_integers),     cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_sizes),   cmocka_unit_test(test_bind),
        cmocka_unit_test(test_bind_strided), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_fitting),      cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_orders),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_notices),
        cmocka_unit_test(test_bound),        cmocka_unit_test(test_flops),
        cmocka_unit_test(test_updates),
    };

    if (!mkdtemp(cache))
        return 1;
    return cmocka_run_group_tests(tests, NULL, clean);
}
