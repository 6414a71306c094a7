/* test_build.c - kernels built by calls: the IR that the same text gives, and
 * runs that are exact. */
#include "build_calls.h"

/* ------------------------------------------------------------------- gemm */

static const axe_kernel *
build_gemm(axe_ctx *cx, int64_t bm, int64_t bn, int64_t bk)
{
    axe_builder      *b = axe_build_kernel(cx, "gemm");
    expr              M, K, N, m, n, k, ij[2], kt;
    tensor            A, B, C, acc, x, y;
    axe_ir_pipeline  *ring;
    const axe_kernel *out = NULL;

    axe_build_set_type(b, "T", "f32");
    axe_build_set(b, "BM", bm);
    axe_build_set(b, "BN", bn);
    axe_build_set(b, "BK", bk);
    axe_build_set(b, "STAGES", 1);
    M = axe_build_size(b, "M");
    K = axe_build_size(b, "K");
    N = axe_build_size(b, "N");
    A = param2(b, "in", "A", M, K);
    B = param2(b, "in", "B", N, K);
    C = param2(b, "out", "C", M, N);
    m = axe_build_index(b, "m");
    n = axe_build_index(b, "n");
    k = axe_build_index(b, "k");
    axe_build_scope(b, "cta", 2, (axe_ir_range[]){{"i", M, bm}, {"j", N, bn}},
                    ij);
    acc = axe_build_tile(b, "reg", "f32", "acc", 2, (int64_t[]){bm, bn}, NULL);
    axe_build_fill(b, acc, axe_build_float(b, "f32", 0));
    ring = axe_build_pipeline(b, "ring", 1);
    x = axe_build_tile(b, "shared", "f32", "a", 2, (int64_t[]){bm, bk}, NULL);
    y = axe_build_tile(b, "shared", "f32", "b", 2, (int64_t[]){bn, bk}, NULL);
    axe_build_end(b);
    kt = axe_build_for(b, (axe_ir_range){"kt", K, bk});
    axe_build_produce(b, ring);
    axe_build_assign(b, at2(b, x, m, k), "=",
                     at2(b, A, axe_build_tiled(b, ij[0], bm, m),
                         axe_build_tiled(b, kt, bk, k)));
    axe_build_assign(b, at2(b, y, n, k), "=",
                     at2(b, B, axe_build_tiled(b, ij[1], bn, n),
                         axe_build_tiled(b, kt, bk, k)));
    axe_build_end(b);
    axe_build_consume(b, ring);
    axe_build_label(b, "acc_update");
    axe_build_assign(
        b, at2(b, acc, m, n),
        "+=", axe_build_binary(b, "*", at2(b, x, m, k), at2(b, y, n, k)));
    axe_build_label(b, NULL);
    axe_build_end(b);
    axe_build_end(b);
    axe_build_assign(b,
                     at2(b, C, axe_build_tiled(b, ij[0], bm, m),
                         axe_build_tiled(b, ij[1], bn, n)),
                     "=", axe_build_cast(b, "f32", at2(b, acc, m, n)));
    axe_build_end(b);
    if (axe_build_finish(b, &out) != AXE_OK)
        fail_msg("%s", said(cx));
    return out;
}

static void
test_gemm_text(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_compile_spec   spec = {.kernel = "gemm", .machine = "cpu-base"};
    const axe_program *p;

    (void)state;
    assert_int_equal(axe_compile_kernel(cx, build_gemm(cx, 3840, 192, 512),
                                        "cpu-base", AXE_STAGE_IR, &p),
                     AXE_OK);
    assert_string_equal(
        emit(cx, p), ir_of_text(cx, read_file(cx, "kernels/gemm.axe"), &spec));
    assert_string_equal(said(cx), "");
    axe_ctx_free(cx);
}

enum { ROWS = 37, COLUMNS = 53, DEPTH = 41 };

static void
test_gemm_run(void **state)
{
    static float       a[ROWS][DEPTH], b[COLUMNS][DEPTH], c[ROWS][COLUMNS];
    axe_ctx           *cx = axe_ctx_new();
    axe_device        *device;
    axe_exec          *exec;
    const axe_program *p;
    const axe_array    array[] = {
           {"A", "f32", 2, (int64_t[]){ROWS, DEPTH}, NULL, a},
           {"B", "f32", 2, (int64_t[]){COLUMNS, DEPTH}, NULL, b},
           {"C", "f32", 2, (int64_t[]){ROWS, COLUMNS}, NULL, c},
    };

    (void)state;
    for (int k = 0; k < DEPTH; k++) {
        for (int i = 0; i < ROWS; i++)
            a[i][k] = (float)(i - 2 * k);
        for (int j = 0; j < COLUMNS; j++)
            b[j][k] = (float)(j + k);
    }
    if (axe_device_new(cx, &(axe_device_spec){.n_thread = 2}, &device) !=
            AXE_OK ||
        axe_compile_kernel(cx, build_gemm(cx, 16, 48, 32), NULL, AXE_STAGE_C,
                           &p) != AXE_OK ||
        axe_exec_new(cx, device, p, &exec) != AXE_OK ||
        axe_launch(cx, exec, 3, array, 0, NULL) != AXE_OK)
        fail_msg("%s", said(cx));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int want = 0;
            for (int k = 0; k < DEPTH; k++)
                want += (i - 2 * k) * (j + k);
            assert_true(c[i][j] == (float)want);
        }
    axe_exec_free(exec);
    axe_device_free(device);
    axe_ctx_free(cx);
}

/* -------------------------------------------------- constructs against text */

/* Masks, folds inside, both branches, any order of arguments, attributes. */
static void
test_rows(void **state)
{
    static const char text[] =
        "kernel rows(in f32 X[M, N], inout f32 Y[M, 4], in i32 Z[M])\n"
        "{ index m, n, c;\n"
        "  cta (i : M by 8) {\n"
        "    reg f32 top[8]; reg f32 t[8, 4] : (8, 4) : (1, 8) = 1;\n"
        "    top[m] = max[n](i*8 + m >= n ? X[i*8 + m, n] : -f32(Z[i*8 + m]));"
        "    if (i % 2 == 0 && !(i > 3)) t[m, c] *= exp(top[m]) slow;\n"
        "    else { t[m, c] max= top[m]; t[m, c] += min(top[m], 2.5); }\n"
        "    Y[i*8 + m, c] = t[m, c] via map;\n"
        "  } }\n";
    axe_ctx          *cx = axe_ctx_new();
    axe_compile_spec  spec = {.machine = "cpu-base",
                              .n_order = 2,
                              .order_name = (const char *[]){"X", "Y"},
                              .order = (const char *[]){"F", "strided"}};
    const char       *want = ir_of_text(cx, text, &spec);
    axe_builder      *b = axe_build_kernel(cx, "rows");
    expr              M = axe_build_size(b, "M"), N = axe_build_size(b, "N");
    expr              m = axe_build_index(b, "m"), n = axe_build_index(b, "n");
    expr              c = axe_build_index(b, "c"), i, row, x, mask;
    tensor            X, Y, Z, top, t;
    const axe_layout *layout;

    (void)state;
    X = axe_build_param(b, "in", "f32", "X", 2, (expr[]){M, N}, "F");
    Y = axe_build_param(b, "inout", "f32", "Y", 2, (expr[]){M, integer(b, 4)},
                        "strided");
    Z = axe_build_param(b, "in", "i32", "Z", 1, &M, "C");
    axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", M, 8}, &i);
    row = axe_build_tiled(b, i, 8, m);
    top = axe_build_tile(b, "reg", "f32", "top", 1, (int64_t[]){8}, NULL);
    assert_int_equal(axe_layout_read(cx, "(8, 4) : (1, 8)", &layout), AXE_OK);
    t = axe_build_tile(b, "reg", "f32", "t", 2, (int64_t[]){8, 4}, layout);
    axe_build_fill(b, t, axe_build_float(b, "f32", 1));
    x = axe_build_cast(b, "f32", at1(b, Z, row));
    x = axe_build_select(b, axe_build_binary(b, ">=", row, n),
                         at2(b, X, row, n), axe_build_unary(b, "-", x));
    axe_build_assign(b, at1(b, top, m), "=",
                     axe_build_reduce(b, "max", 1, &n, x));
    mask = axe_build_binary(b, "==", axe_build_binary(b, "%", i, integer(b, 2)),
                            integer(b, 0));
    x = axe_build_binary(b, ">", i, integer(b, 3));
    axe_build_if(b,
                 axe_build_binary(b, "&&", mask, axe_build_unary(b, "!", x)));
    axe_build_assign(b, at2(b, t, m, c),
                     "*=", axe_build_unary(b, "exp", at1(b, top, m)));
    axe_build_attribute(b, "slow", NULL);
    axe_build_else(b);
    axe_build_assign(b, at2(b, t, m, c), "max=", at1(b, top, m));
    axe_build_assign(b, at2(b, t, m, c), "+=",
                     axe_build_binary(b, "min", at1(b, top, m),
                                      axe_build_float(b, "f32", 2.5)));
    axe_build_end(b);
    axe_build_assign(b, at2(b, Y, row, c), "=", at2(b, t, m, c));
    axe_build_attribute(b, "via", "map");
    axe_build_end(b);
    assert_string_equal(ir_of_calls(cx, b), want);
    axe_ctx_free(cx);
}

/* Scratch of the kernel's own, cores, loops that are left, scalars, attributes,
 * barriers. */
static void
test_rest(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_builder       *b = axe_build_kernel(cx, "rest");
    expr               M = axe_build_size(b, "M"), N = axe_build_size(b, "N");
    expr               m = axe_build_index(b, "m"), n = axe_build_index(b, "n");
    expr               tiles, i, j, t, k;
    tensor             X, Y, T, s;
    const axe_kernel  *out;
    const axe_program *p;

    (void)state;
    X = param2(b, "in", "X", M, N);
    Y = param2(b, "out", "Y", M, N);
    tiles = axe_build_binary(b, "cdiv", M, integer(b, 8));
    T = axe_build_global(b, "f32", "T", 2, (expr[]){tiles, N});
    axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", M, 8}, &i);
    axe_build_assign(
        b, at2(b, T, i, n), "=",
        axe_build_reduce(b, "sum", 1, &m,
                         at2(b, X, axe_build_tiled(b, i, 8, m), n)));
    axe_build_end(b);
    axe_build_barrier(b);
    axe_build_scope(b, "cta", 1, &(axe_ir_range){"j", M, 8}, &j);
    s = axe_build_tile(b, "reg", "f32", "s", 0, NULL, NULL);
    axe_build_fill(b, s, axe_build_float(b, "f32", 0));
    t = axe_build_for(b, (axe_ir_range){"t", N, 0});
    axe_build_if(b, axe_build_binary(b, ">", t, axe_build_cores(b)));
    axe_build_break(b);
    axe_build_end(b);
    axe_build_assign(b, axe_build_load(b, s, 0, NULL), "+=", at2(b, T, j, t));
    axe_build_end(b);
    k = axe_build_index(b, "k");
    axe_build_assign(b, at2(b, Y, axe_build_tiled(b, j, 8, m), k), "=",
                     axe_build_load(b, s, 0, NULL));
    axe_build_attribute(b, "prefetch", "4");
    axe_build_attribute(b, "no_stream", NULL);
    axe_build_end(b);
    if (axe_build_finish(b, &out) != AXE_OK ||
        axe_compile_kernel(cx, out, "cpu-base", AXE_STAGE_C, &p) != AXE_OK)
        fail_msg("%s", said(cx));
    assert_non_null(strstr(emit(cx, p), "global f32 T[cdiv(M, 8), N]"));
    assert_non_null(strstr(emit(cx, p), "prefetch = 4 no_stream"));
    assert_non_null(strstr(emit(cx, p), "            break\n"));
    assert_non_null(strstr(emit(cx, p), "    barrier\n"));
    assert_non_null(strstr(emit(cx, p), "s += T[j, t]"));
    axe_ctx_free(cx);
}

/* A statement that names its atom; the name is checked with the plan. */
static axe_status
build_atom(axe_ctx *cx, const char *atom, const axe_program **out)
{
    axe_builder *b = axe_build_kernel(cx, "copy");
    expr         M = axe_build_size(b, "M"), n = axe_build_index(b, "n"), i;
    tensor       X = axe_build_param(b, "in", "f32", "X", 1, &M, NULL);
    tensor       Y = axe_build_param(b, "out", "f32", "Y", 1, &M, NULL), t;
    const axe_kernel *k;

    axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", M, 4}, &i);
    t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
    i = axe_build_tiled(b, i, 4, n);
    axe_build_assign(b, axe_build_load(b, t, 1, &n), "=",
                     axe_build_load(b, X, 1, &i));
    axe_build_attribute(b, "atom", atom);
    axe_build_assign(b, axe_build_load(b, Y, 1, &i), "=",
                     axe_build_load(b, t, 1, &n));
    axe_build_end(b);
    if (axe_build_finish(b, &k) != AXE_OK)
        return AXE_EARG;
    return axe_compile_kernel(cx, k, "cpu-base", AXE_STAGE_C, out);
}

static void
test_atom(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p;

    (void)state;
    if (build_atom(cx, "vload", &p) != AXE_OK)
        fail_msg("%s", said(cx));
    assert_non_null(strstr(emit(cx, p), "over n:4 atom vload"));
    assert_int_equal(build_atom(cx, "vbcast", &p), AXE_ESHAPE);
    assert_int_equal(build_atom(cx, "", &p), AXE_ENAME);
    assert_int_equal(build_atom(cx, NULL, &p), AXE_EARG);
    axe_ctx_free(cx);
}

/* Scalars and loops without a count, as the language's `while` makes them. */
static void
test_loops(void **state)
{
    axe_ctx         *cx = axe_ctx_new();
    axe_compile_spec spec = {.machine = "cpu-base"};
    axe_builder     *b = axe_build_kernel(cx, "k");
    expr             n = axe_build_size(b, "M"), i, c, at;
    axe_ir_tensor   *y = axe_build_param(b, "out", "f32", "Y", 1, &n, NULL);
    axe_ir_tensor   *s, *go;

    (void)state;
    axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", n, 0}, &i);
    s = axe_build_tile(b, "reg", "f32", "s", 0, NULL, NULL);
    axe_build_fill(b, s, axe_build_float(b, "f32", 0));
    axe_build_loop(b);
    go = axe_build_tile(b, "reg", "bool", "cond", 0, NULL, NULL);
    at = axe_build_load(b, s, 0, NULL);
    c = axe_build_load(b, go, 0, NULL);
    axe_build_assign(
        b, c, "=", axe_build_binary(b, "<", at, axe_build_float(b, "f32", 4)));
    axe_build_if(b, axe_build_unary(b, "!", c));
    axe_build_break(b);
    axe_build_end(b);
    axe_build_assign(b, at, "+=", axe_build_float(b, "f32", 1));
    axe_build_if(b, axe_build_binary(b, "<", i, axe_build_int(b, NULL, 2)));
    axe_build_continue(b);
    axe_build_end(b);
    axe_build_assign(b, at, "*=", axe_build_float(b, "f32", 2));
    axe_build_end(b);
    axe_build_assign(b, axe_build_load(b, y, 1, &i), "=", at);
    axe_build_end(b);
    assert_string_equal(
        ir_of_calls(cx, b),
        ir_of_text(cx,
                   "kernel k(out f32 Y[M]) { cta (i : M) { f32 s = 0;"
                   " while (s < 4) { s += 1; if (i < 2) continue; s *= 2; }"
                   " Y[i] = s; } }",
                   &spec));
    axe_ctx_free(cx);
}

/* Two roles, a pipeline between them, a cluster. */
static void
test_roles(void **state)
{
    axe_ctx         *cx = axe_ctx_new();
    axe_compile_spec spec = {.machine = "cpu-base"};
    axe_builder     *b = axe_build_kernel(cx, "k");
    expr             n = axe_build_size(b, "M"), m, i, w, at;
    axe_ir_pipeline *p;
    tensor           x, y, v;

    (void)state;
    x = axe_build_param(b, "in", "f32", "X", 1, &n, NULL);
    y = axe_build_param(b, "out", "f32", "Y", 1, &n, NULL);
    m = axe_build_index(b, "m");
    axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", n, 8}, &i);
    axe_build_key(b, "cluster", 2);
    axe_build_key(b, "persistent", 1);
    axe_build_key(b, "threads", 64);
    p = axe_build_pipeline(b, "p", 3);
    v = axe_build_tile(b, "shared", "f32", "v", 1, (int64_t[]){8}, NULL);
    axe_build_copies(b, v, 2);
    axe_build_end(b);
    axe_build_roles(b);
    axe_build_scope(b, "warp", 1,
                    &(axe_ir_range){"f", axe_build_int(b, NULL, 1), 0}, &w);
    axe_build_key(b, "registers", 40);
    axe_build_produce(b, p);
    axe_build_assign(
        b, axe_build_load(b, v, 1, &m), "=",
        axe_build_load(
            b, x, 1,
            (expr[]){axe_build_binary(b, "+", m, axe_build_int(b, NULL, 1))}));
    axe_build_end(b);
    axe_build_end(b);
    axe_build_scope(b, "warp", 1,
                    &(axe_ir_range){"w", axe_build_int(b, NULL, 1), 0}, &w);
    axe_build_from(b, 1, (int64_t[]){1});
    axe_build_turn(b);
    axe_build_consume(b, p);
    at = axe_build_tiled(b, i, 8, m);
    axe_build_assign(b, axe_build_load(b, y, 1, &at), "=",
                     axe_build_load(b, v, 1, &m));
    for (int open = 0; open < 5; open++)
        axe_build_end(b);
    assert_string_equal(
        ir_of_calls(cx, b),
        ir_of_text(cx,
                   "kernel k(in f32 X[M], out f32 Y[M]) { index m; cluster (2)"
                   " cta persistent (i : M by 8) warps 2 { pipeline p[3] {"
                   " shared f32 v[8] : auto + [2 : 1@cta]; } roles {"
                   " warp (f : 1) registers 40 produce p p.v[m] = X[m + 1];"
                   " warp (w : 1..2) turn consume p Y[i*8 + m] = p.v[m]; } } }",
                   &spec));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_text), cmocka_unit_test(test_gemm_run),
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_rest),
        cmocka_unit_test(test_atom),      cmocka_unit_test(test_loops),
        cmocka_unit_test(test_roles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
