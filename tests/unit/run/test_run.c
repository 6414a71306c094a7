/* test_run.c - threads, and arrays bound to a kernel with every error of it. */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ir/number.h"
#include "run/pool.h"
#include "run/program.h"
#include "run_kernels.h"

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

enum { N_TURN = 400 };

/* Each worker adds to what all others wrote before the last barrier. */
typedef struct relay {
    axe_pool *pool;
    int       n;
    long      at[2][16];
    bool      wrong;
} relay;

typedef void barrier_fn(void *team, int64_t worker);

static void
relay_worker(void *user, int worker)
{
    relay *r = user;
    void  *team = axe_pool_team(r->pool);

    for (int t = 0; t < N_TURN; t++) {
        long sum = 0;
        for (int i = 0; i < r->n; i++)
            sum += r->at[t & 1][i];
        if (sum != (long)t * r->n)
            r->wrong = true;
        r->at[~t & 1][worker] = t + 1;
        (*(barrier_fn **)team)(team, worker);
    }
}

static void
test_pool_barrier(void **state)
{
    static const int size[] = {1, 2, 3, 5, 7};
    axe_ctx         *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(size); i++) {
        relay r = {.n = size[i]};
        assert_int_equal(axe_pool_new(cx, size[i], &r.pool), AXE_OK);
        for (int k = 0; k < 3; k++) {
            memset(r.at, 0, sizeof r.at);
            axe_pool_run(r.pool, relay_worker, &r);
            assert_false(r.wrong);
            assert_int_equal(r.at[N_TURN & 1][r.n - 1], N_TURN);
        }
        axe_pool_free(r.pool);
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

/* ----------------------------------------------------------------- binding */

static float buffer[4096];

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

/* Elements of 4 bits, two to a byte. */
static const struct {
    int64_t     shape[2], stride[2];
    axe_status  status;
    const char *text;
} pair_row[] = {
    {{3, 6}, {6, 1}, AXE_OK, ""},
    {{6, 3}, {1, 6}, AXE_OK, ""},
    {{3, 6}, {8, 1}, AXE_OK, ""},
    {{0, 7},
     {7, 1},
     AXE_ESHAPE,
     "X (dimension 1) is 7; f4e2m1 lies 2 to a byte along it"},
    {{3, 5},
     {6, 1},
     AXE_ESHAPE,
     "X (dimension 1) is 5; f4e2m1 lies 2 to a byte along it"},
    {{3, 1},
     {6, 1},
     AXE_ESHAPE,
     "X (dimension 1) is 1; f4e2m1 lies 2 to a byte along it"},
    {{3, 6},
     {7, 1},
     AXE_ESHAPE,
     "X (dimension 0) has stride 7; f4e2m1 lies 2 to a byte along another"},
    {{1, 6}, {7, 1}, AXE_OK, ""},
};

static void
test_pairs(void **state)
{
    static const char text[] =
        "kernel k(in f4e2m1 X[M, N], out f32 Y[M, N]) { index m, n; "
        "cta (i : M by 8) Y[i*8 + m, n] = f32(X[i*8 + m, n]); }";

    (void)state;
    for (int i = 0; i < AXE_LEN(pair_row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p = NULL;
        axe_compile_spec   spec = {.n_order = 1,
                                   .order_name = (const char *[]){"X"},
                                   .order = (const char *[]){"strided"}};
        assert_int_equal(
            axe_compile(cx, axe_source_add(cx, "t.axe", text, strlen(text)),
                        &spec, AXE_STAGE_IR, &p),
            AXE_OK);
        axe_array  a = {.name = "X",
                        .type = "f4e2m1",
                        .rank = 2,
                        .shape = pair_row[i].shape,
                        .stride = pair_row[i].stride,
                        .data = (char *)buffer + 1};
        axe_bound  b;
        axe_status st = axe_bind(cx, p->kernel, 1, &a, 0, NULL, false, &b);
        assert_string_equal(axe_last_error(cx), pair_row[i].text);
        assert_int_equal(st, pair_row[i].status);
        axe_ctx_free(cx);
    }
}

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

/* Turns of loops around scopes are not needed for shapes. */
static void
test_shapes_without_values(void **state)
{
    static const char turns[] =
        "kernel k(in f32 X[N], in i32 steps, inout f32 Y[N]) {\n"
        "    index n;\n"
        "    for (t : steps) cta (i : N by 8) Y[i*8 + n] += X[i*8 + n];\n"
        "}\n";
    static float       x[16];
    axe_ctx           *cx = axe_ctx_new();
    int64_t            n[1] = {16};
    axe_array          array[] = {{"X", "f32", 1, n, NULL, x},
                                  {"steps", "i32", 0, NULL, NULL, NULL}};
    axe_shape          shape[3];
    const axe_program *p = compile(cx, turns, 2, array, NULL, AXE_STAGE_IR);

    (void)state;
    for (int given = 1; given < 3; given++) {
        assert_int_equal(
            axe_program_shapes(cx, p, given, array, 0, NULL, shape), AXE_OK);
        assert_int_equal(shape[2].n, 1);
        assert_int_equal(shape[2].extent[0], 16);
    }
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
                        "A: order 'X' is none of C, F, packed and strided");
    axe_ctx_free(cx);
}

/* A packed matrix of 32 x 200 takes 48 x 200 numbers, a panel: what is written
 * may begin behind. */
static void
test_bind_packed(void **state)
{
    static float mem[12000];
    axe_ctx     *cx = axe_ctx_new();
    int32_t source = axe_source_add(cx, "k.axe", gemm_text, strlen(gemm_text));
    axe_compile_spec   spec = {.machine = "cpu-avx512",
                               .n_order = 1,
                               .order_name = (const char *[]){"B"},
                               .order = (const char *[]){"packed"}};
    const axe_program *p;
    axe_packed         packed;
    axe_bound          bound;

    (void)state;
    assert_int_equal(axe_compile(cx, source, &spec, AXE_STAGE_PLAN, &p),
                     AXE_OK);
    assert_int_equal(
        axe_packed_of(cx, p, "B", (const int64_t[]){32, 200}, &packed), AXE_OK);
    assert_int_equal(packed.bytes, 48 * 200 * sizeof *mem);
    for (int behind = 0; behind < 2; behind++) {
        float    *c = mem + 2048 + 48 * 200 - 1 + behind;
        axe_array array[] = {
            {"A", "f32", 2, (const int64_t[]){7, 200}, NULL, mem},
            {"B", packed.type, 2, (const int64_t[]){32, 200}, packed.stride,
             mem + 2048},
            {"C", "f32", 2, (const int64_t[]){7, 32}, NULL, c},
        };
        assert_int_equal(
            axe_bind(cx, p->kernel, 3, array, 0, NULL, true, &bound),
            behind ? AXE_OK : AXE_EARG);
    }
    assert_string_equal(axe_last_error(cx),
                        "C is written, but its memory overlaps that of B");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_barrier),
        cmocka_unit_test(test_pool_sizes),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_bind_strided),
        cmocka_unit_test(test_bind_packed),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shapes_without_values),
        cmocka_unit_test(test_fitting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
