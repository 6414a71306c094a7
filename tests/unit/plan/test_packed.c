/* test_packed.c - weights packed as several matrices: which subscripts choose
 * among them, how they lie, and that sums are those of the definition, with no
 * matrix beyond the ends. */
#include <stdio.h>
#include <stdlib.h>

#include "axe/run.h"
#include "plan/cpu/schedule.h"
#include "planned.h"
#include "run/program.h"

enum { M = 19, N = 37, K = 45, E = 3, TILES = 5, BM = 4 };

/* The weights of a tile of rows are W[%s, n, k]; `more` stands in front, and
 * `range` are the tasks'. */
static const char text[] =
    "kernel k(in f32 X[M, K], in i32 which[Q], in f32 W[E, 2, N, K],\n"
    "         out f32 Y[M, N]) {\n"
    " index m, n, k; cta (%s) {\n"
    " reg f32 c[4, 32] = 0; shared f32 a[4, 16]; shared f32 b[32, 16];\n"
    " i32 e = which[i]; %s\n"
    " for (t : K by 16) { a[m, k] = X[i*4 + m, t*16 + k];\n"
    " b[n, k] = W[%s, j*32 + n, t*16 + k]; c[m, n] += a[m, k] * b[n, k]; }\n"
    " Y[i*4 + m, j*32 + n] = c[m, n]; } }\n";

static const char rows_first[] = "i : M by 4, j : N by 32",
                  columns_first[] = "j : N by 32, i : M by 4";

static axe_status
compile_for(axe_ctx *cx, const char *machine, const char *range,
            const char *more, const char *at, axe_stage last,
            const axe_program **p)
{
    static char      out[1024];
    int              n = snprintf(out, sizeof out, text, range, more, at);
    int32_t          source = axe_source_add(cx, "k.axe", out, (size_t)n);
    axe_compile_spec spec = {.machine = machine,
                             .n_order = 1,
                             .order_name = (const char *[]){"W"},
                             .order = (const char *[]){"packed"}};

    return axe_compile(cx, source, &spec, last, p);
}

static axe_status
compile(axe_ctx *cx, const char *machine, const char *more, const char *at,
        axe_stage last, const axe_program **p)
{
    return compile_for(cx, machine, columns_first, more, at, last, p);
}

static void
test_choice(void **state)
{
    static const struct {
        const char *more, *at, *says; /* "": it is packed */
    } row[] = {
        {"", "e, 0", ""},
        {"", "0, 1", ""},
        {"", "i, e", ""},
        {"", "i + 1, 1", ""},
        {"", "e - 1, 1", ""},
        {"", "n/16, 0",
         "W is packed as matrices, of which n/16 takes more than one"},
        {"", "k/8, 0",
         "W is packed as matrices, of which k/8 takes more than one"},
        {"", "which[i], 0",
         "W is packed as matrices, of which i64(which[i]) takes more than one"},
        {"e += 1;", "e, 0",
         "W is packed as matrices, of which i64(e) takes more than one"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        axe_status st = compile(cx, "cpu-avx512", row[i].more, row[i].at,
                                AXE_STAGE_LOWER, &p);
        if ((st == AXE_OK) != (row[i].says[0] == '\0'))
            fail_msg("row %d: %s", i, axe_last_error(cx));
        if (st != AXE_OK)
            assert_string_equal(axe_last_error(cx), row[i].says);
        axe_ctx_free(cx);
    }
}

/* Tiles of two widths are filled from W. */
#define SCOPE(Y)                                                               \
    " cta (j : N by %d, i : M by 8) {\n"                                       \
    " reg f32 c[8, %d] = 0; shared f32 a[8, 16]; shared f32 b[%d, 16];\n"      \
    " for (t : K by 16) { a[m, k] = X[i*8 + m, t*16 + k];\n"                   \
    " b[n, k] = W[j*%d + n + %d, t*16 + k]; c[m, n] += a[m, k] * b[n, k]; }\n" \
    " " Y "[i*8 + m, j*%d + n] = c[m, n]; }\n"
static const char two[] =
    "kernel k(in f32 X[M, K], in f32 W[N, K], out f32 Y[M, N],\n"
    " out f32 Z[M, N]) { index m, n, k;\n" SCOPE("Y") SCOPE("Z") "}\n";

static axe_status
compile_two(axe_ctx *cx, const char *machine, int w, int v, int from,
            axe_stage last, const axe_program **p)
{
    static char out[2048];
    int         n =
        snprintf(out, sizeof out, two, w, w, w, w, from, w, v, v, v, v, 0, v);
    int32_t          source = axe_source_add(cx, "k.axe", out, (size_t)n);
    axe_compile_spec spec = {.machine = machine,
                             .n_order = 1,
                             .order_name = (const char *[]){"W"},
                             .order = (const char *[]){"packed"}};

    return axe_compile(cx, source, &spec, last, p);
}

/* As many columns lie together as the best register tile has, whichever this
 * one's are, but where some tile of columns is not so many a few times, or
 * begins within them. */
static void
test_panels(void **state)
{
    static const struct {
        const char *machine;
        int         w, v, from;
        const char *type;
    } row[] = {
        {"cpu-avx512", 96, 96, 0, "(3, 48), (45, 1)) : ((2160, 1), (48, 1))"},
        {"cpu-avx512", 96, 48, 0, "(3, 48), (45, 1)) : ((2160, 1), (48, 1))"},
        {"cpu-avx512", 96, 64, 0, "(7, 16), (45, 1)) : ((720, 1), (16, 1))"},
        {"cpu-avx512", 64, 96, 0, "(7, 16), (45, 1)) : ((720, 1), (16, 1))"},
        {"cpu-avx512", 96, 96, 48, "(3, 48), (45, 1)) : ((2160, 1), (48, 1))"},
        {"cpu-avx512", 96, 96, 16, "(7, 16), (45, 1)) : ((720, 1), (16, 1))"},
        {"cpu-avx2", 96, 48, 0, "(5, 24), (45, 1)) : ((1080, 1), (24, 1))"},
        {"cpu-avx2", 96, 64, 0, "(13, 8), (45, 1)) : ((360, 1), (8, 1))"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        axe_packed         w;
        if (compile_two(cx, row[i].machine, row[i].w, row[i].v, row[i].from,
                        AXE_STAGE_LOWER, &p) != AXE_OK ||
            axe_packed_of(cx, p, "W", (const int64_t[]){100, 45}, &w) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        assert_string_equal(w.type,
                            axe_textf(cx, "f32 packed as (%s", row[i].type));
        axe_ctx_free(cx);
    }
}

/* Where tasks that follow may read other matrices, a part of what they read is
 * asked for: its place is known before, and not that of other columns. */
static void
test_next(void **state)
{
    static const struct {
        const char *range, *more, *at, *next;
    } row[] = {
        {columns_first, "", "e, 0",
         "(i64(which[min(i + 3, cdiv(M, 4) - 1)]) >= 0 && "
         "i64(which[min(i + 3, cdiv(M, 4) - 1)]) < E && "
         "E*3 <= cdiv(M, 4)*2 ? (i64(which[min(i + 3, cdiv(M, 4) - 1)]) - "
         "i64(e))*W.stride0 : 0) + i%3*W.stride2*16"},
        {rows_first, "", "e, 0", NULL},
        {columns_first, "", "0, e", NULL},
        {columns_first, "", "i, 0", NULL},
        {columns_first, "", "e, i", NULL},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        const axe_node    *next = NULL;
        if (compile_for(cx, "cpu-avx512", row[i].range, row[i].more, row[i].at,
                        AXE_STAGE_LOWER, &p) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        const axe_schedule *s = contraction(p->plan);
        for (int k = 0; k < s->n_operand; k++)
            next = next ? next : s->operand[k].next;
        if (!next != !row[i].next)
            fail_msg("row %d: %s", i, next ? axe_node_text(cx, next) : "none");
        if (next)
            assert_string_equal(axe_node_text(cx, next), row[i].next);
        axe_ctx_free(cx);
    }
}

static void
test_lies(void **state)
{
    axe_ctx             *cx = axe_ctx_new();
    const axe_program   *p;
    axe_packed           w;
    static const int64_t shape[] = {3, 2, 37, 45};

    (void)state;
    assert_int_equal(compile(cx, "cpu-avx512", "", "e, 0", AXE_STAGE_PLAN, &p),
                     AXE_OK);
    assert_int_equal(axe_packed_of(cx, p, "W", shape, &w), AXE_OK);
    assert_string_equal(w.type, "f32 packed as (3, 2, (3, 16), (45, 1)) : "
                                "(4320, 2160, (720, 1), (16, 1))");
    assert_int_equal(w.bytes, 3 * 2 * 48 * 45 * 4);
    assert_int_equal(w.stride[0], 4320);
    assert_int_equal(w.stride[3], 16);
    assert_int_equal(axe_packed_of(cx, p, "W",
                                   (const int64_t[]){INT64_MAX / 2, 2, 37, 45},
                                   &w),
                     AXE_EOVERFLOW);
    assert_string_equal(axe_last_error(cx),
                        "W: a matrix of 4611686018427387903 x 2 x 37 x 45 has "
                        "no size in bytes");
    axe_ctx_free(cx);
}

static float   x[M * K], w[E * 2 * N * K], y[M * N];
static int32_t which[TILES];

static float
sum(int m, int n, int64_t e, int half)
{
    float s = 0;

    for (int k = 0; k < K && e >= 0 && e < E; k++)
        s += x[m * K + k] * w[((e * 2 + half) * N + n) * K + k];
    return s;
}

/* Small whole numbers, whose sums are exact in any order. */
static void
fill(float *to, int n, unsigned seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (float)(int)(seed >> 24 & 15) - 7;
    }
}

static void
launch(axe_ctx *cx, axe_device *dev, const axe_program *p)
{
    int64_t    shape[4][4] = {{M, K}, {TILES}, {E, 2, N, K}, {M, N}};
    axe_packed as;
    axe_exec  *exec;
    axe_array  array[] = {
         {"X", "f32", 2, shape[0], NULL, x},
         {"which", "i32", 1, shape[1], NULL, which},
         {"W", "f32", 4, shape[2], NULL, w},
         {"Y", "f32", 2, shape[3], NULL, y},
    };

    assert_int_equal(axe_packed_of(cx, p, "W", shape[2], &as), AXE_OK);
    void *memory = malloc(as.bytes);
    assert_int_equal(axe_matrix_pack(cx, p, &array[2], memory), AXE_OK);
    array[2].type = as.type;
    array[2].stride = as.stride;
    array[2].data = memory;
    memset(y, 0xff, sizeof y);
    if (axe_exec_new(cx, dev, p, &exec) != AXE_OK ||
        axe_launch(cx, exec, 4, array, 0, NULL) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_exec_free(exec);
    free(memory);
}

static void
test_sums(void **state)
{
    static const char *const at[] = {"e, 0", "e, 1", "e + 1, 1", "1, e"};
    static const int         lo[][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 0}};
    axe_device              *dev;
    axe_ctx                 *cx = axe_ctx_new();

    (void)state;
    fill(x, M * K, 1);
    fill(w, E * 2 * N * K, 2);
    memcpy(which, (int32_t[]){1, -1, 0, 3, INT32_MAX}, sizeof which);
    if (axe_device_new(cx, &(axe_device_spec){.n_thread = 2}, &dev) != AXE_OK)
        skip();
    for (int i = 0; i < AXE_LEN(at); i++) {
        const axe_program *p;
        if (compile(cx, NULL, "", at[i], AXE_STAGE_C, &p) != AXE_OK)
            fail_msg("%s: %s", at[i], axe_last_error(cx));
        launch(cx, dev, p);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                int64_t e = which[m / BM];
                float   want = i < 3 ? sum(m, n, e + lo[i][0], lo[i][1])
                               : e < 0 || e > 1 ? 0
                                                : sum(m, n, 1, (int)e);
                if (y[m * N + n] != want)
                    fail_msg("%s: [%d, %d] is %g, not %g", at[i], m, n,
                             y[m * N + n], want);
            }
    }
    axe_device_free(dev);
    axe_ctx_free(cx);
}

enum { WIDE = 100 };

/* The same, also in a last panel that is not full, and beside others. */
static void
check_two(axe_device *dev, int v1, int v2)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p;
    axe_packed         as;
    axe_exec          *exec;
    static float       y2[M * WIDE], z[M * WIDE];
    int64_t            shape[3][2] = {{M, K}, {WIDE, K}, {M, WIDE}};
    axe_array          array[] = {
                 {"X", "f32", 2, shape[0], NULL, x},
                 {"W", "f32", 2, shape[1], NULL, w},
                 {"Y", "f32", 2, shape[2], NULL, y2},
                 {"Z", "f32", 2, shape[2], NULL, z},
    };

    if (compile_two(cx, NULL, v1, v2, 0, AXE_STAGE_C, &p) != AXE_OK ||
        axe_packed_of(cx, p, "W", shape[1], &as) != AXE_OK)
        fail_msg("%d, %d: %s", v1, v2, axe_last_error(cx));
    void *memory = malloc(as.bytes);
    assert_int_equal(axe_matrix_pack(cx, p, &array[1], memory), AXE_OK);
    array[1].type = as.type;
    array[1].stride = as.stride;
    array[1].data = memory;
    memset(y2, 0xff, sizeof y2);
    memset(z, 0xff, sizeof z);
    if (axe_exec_new(cx, dev, p, &exec) != AXE_OK ||
        axe_launch(cx, exec, 4, array, 0, NULL) != AXE_OK)
        fail_msg("%d, %d: %s", v1, v2, axe_last_error(cx));
    for (int m = 0; m < M; m++)
        for (int n = 0; n < WIDE; n++) {
            float want = sum(m, n, 0, 0);
            if (y2[m * WIDE + n] != want || z[m * WIDE + n] != want)
                fail_msg("%d, %d: [%d, %d] is %g and %g, not %g", v1, v2, m, n,
                         y2[m * WIDE + n], z[m * WIDE + n], want);
        }
    axe_exec_free(exec);
    free(memory);
    axe_ctx_free(cx);
}

static void
test_run_panels(void **state)
{
    static const int row[][2] = {{96, 48}, {48, 64}, {32, 96}};
    axe_device      *dev;
    axe_ctx         *cx = axe_ctx_new();

    (void)state;
    fill(x, M * K, 1);
    fill(w, E * 2 * N * K, 2);
    if (axe_device_new(cx, &(axe_device_spec){.n_thread = 2}, &dev) != AXE_OK)
        skip();
    for (int i = 0; i < AXE_LEN(row); i++)
        check_two(dev, row[i][0], row[i][1]);
    axe_device_free(dev);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice), cmocka_unit_test(test_panels),
        cmocka_unit_test(test_next),   cmocka_unit_test(test_lies),
        cmocka_unit_test(test_sums),   cmocka_unit_test(test_run_panels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
