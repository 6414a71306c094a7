/* test_build.c - kernels built by calls: the IR that the same text gives, runs
 * that are exact, and every wrong use a diagnostic with the call's label. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/ir.h"
#include "axe/run.h"

typedef const axe_ir_expr *expr;
typedef axe_ir_tensor     *tensor;

static char *
read_file(axe_ctx *cx, const char *name)
{
    FILE *f = fopen(axe_textf(cx, "%s/%s", AXE_SOURCE_DIR, name), "rb");
    char *text = axe_alloc(cx, 1 << 16);

    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static const char *
said(axe_ctx *cx)
{
    axe_buf out = {.cx = cx};

    axe_diags_print(cx, &out, false);
    return out.text ? out.text : "";
}

static const char *
emit(axe_ctx *cx, const axe_program *p)
{
    axe_buf out = {.cx = cx};

    assert_int_equal(axe_program_emit(cx, p, AXE_STAGE_IR, &out), AXE_OK);
    return out.text;
}

static const char *
ir_of_text(axe_ctx *cx, const char *text, const axe_compile_spec *spec)
{
    int32_t            source = axe_source_add(cx, "text", text, strlen(text));
    const axe_program *p;

    if (axe_compile(cx, source, spec, AXE_STAGE_IR, &p) != AXE_OK)
        fail_msg("%s", said(cx));
    return emit(cx, p);
}

static const char *
ir_of_calls(axe_ctx *cx, axe_builder *b)
{
    const axe_kernel  *k;
    const axe_program *p;

    if (axe_build_finish(b, &k) != AXE_OK ||
        axe_compile_kernel(cx, k, "cpu-base", AXE_STAGE_IR, &p) != AXE_OK)
        fail_msg("%s", said(cx));
    return emit(cx, p);
}

/* ------------------------------------------------------------------ small */

static expr
integer(axe_builder *b, int64_t v)
{
    return axe_build_int(b, NULL, v);
}

static expr
at1(axe_builder *b, tensor t, expr i)
{
    return axe_build_load(b, t, 1, &i);
}

static expr
at2(axe_builder *b, tensor t, expr i, expr j)
{
    return axe_build_load(b, t, 2, (expr[]){i, j});
}

static tensor
param2(axe_builder *b, const char *dir, const char *name, expr m, expr n)
{
    return axe_build_param(b, dir, "f32", name, 2, (expr[]){m, n}, NULL);
}

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

/* ------------------------------------------------------------------ errors */

/* What every row below begins with. */
typedef struct start {
    axe_ctx     *cx;
    axe_builder *b, *other;
    expr         N, m, foreign;
    tensor       x, y, alien;
    expr         xm, ym; /* X[m], Y[m] */
} start;

typedef void misuse(start *s);

static start
begin(axe_ctx *cx)
{
    start s = {.cx = cx};

    s.other = axe_build_kernel(cx, "other");
    s.foreign = axe_build_size(s.other, "Q");
    s.alien = axe_build_param(s.other, "in", "f32", "Z", 1, &s.foreign, NULL);
    s.b = axe_build_kernel(cx, "k");
    s.N = axe_build_size(s.b, "N");
    s.m = axe_build_index(s.b, "m");
    s.x = axe_build_param(s.b, "in", "f32", "X", 1, &s.N, NULL);
    s.y = axe_build_param(s.b, "out", "f32", "Y", 1, &s.N, NULL);
    s.xm = at1(s.b, s.x, s.m);
    s.ym = at1(s.b, s.y, s.m);
    axe_build_label(s.b, "wrong");
    return s;
}

#define CASE(name, body)                                                       \
    static void name(start *s)                                                 \
    {                                                                          \
        axe_builder *b = s->b;                                                 \
        (void)b;                                                               \
        body                                                                   \
    }

CASE(null_value, axe_build_assign(b, s->ym, "=", NULL);)
CASE(null_place, axe_build_assign(b, NULL, "=", s->xm);)
CASE(null_op, axe_build_assign(b, s->ym, NULL, s->xm);)
CASE(null_tensor, axe_build_load(b, NULL, 1, &s->m);)
CASE(null_subscript, axe_build_load(b, s->x, 1, NULL);)
CASE(null_name, axe_build_size(b, NULL);)
CASE(null_type, axe_build_cast(b, NULL, s->xm);)
CASE(null_fold, axe_build_reduce(b, NULL, 1, &s->m, s->xm);)
CASE(null_ring, axe_build_produce(b, NULL);)
CASE(null_extent, axe_build_tile(b, "reg", "f32", "t", 1, NULL, NULL);)
CASE(null_attribute, axe_build_attribute(b, NULL, NULL);)
CASE(foreign_expr, axe_build_binary(b, "+", s->N, s->foreign);)
CASE(foreign_tensor, at1(b, s->alien, s->m);)
CASE(assign_value, axe_build_assign(b, s->ym, "=", s->N);)
CASE(assign_size, axe_build_assign(b, s->N, "=", s->xm);)
CASE(assign_op, axe_build_assign(b, s->ym, "maxx=", s->xm);)
CASE(op_unknown, axe_build_unary(b, "expp", s->xm);)
CASE(op_binary, axe_build_binary(b, "<<", s->m, s->m);)
CASE(op_types,
     axe_build_assign(b, s->ym, "=", axe_build_binary(b, "+", s->xm, s->m));)
CASE(name_twice, axe_build_size(b, "X");)
CASE(name_type, axe_build_index(b, "f32");)
CASE(name_dot, axe_build_index(b, "a.b");)
CASE(type_near, axe_build_float(b, "f33", 1);)
CASE(type_int, axe_build_float(b, "i32", 1);)
CASE(value_range, axe_build_int(b, "i8", 128);)
CASE(rank_wrong, axe_build_load(b, s->x, 2, (expr[]){s->m, s->m});)
CASE(break_alone, axe_build_break(b);)
CASE(rank_limit,
     axe_build_tile(b, "reg", "f32", "t", 17, (int64_t[]){1, 1, 1}, NULL);)
CASE(extent_zero,
     axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){0}, NULL);)
CASE(extent_huge,
     axe_build_tile(b, "reg", "f32", "t", 2, (int64_t[]){INT64_MAX, 2}, NULL);)
CASE(space_near,
     axe_build_tile(b, "shard", "f32", "t", 1, (int64_t[]){4}, NULL);)
CASE(param_extent, axe_build_param(b, "in", "f32", "W", 1, &s->m, NULL);)
CASE(param_dir, axe_build_param(b, "inn", "f32", "W", 1, &s->N, NULL);)
CASE(param_order, axe_build_param(b, "in", "f32", "W", 1, &s->N, "R");)
CASE(scope_near, axe_build_scope(b, "ctta", 1, &(axe_ir_range){"i", s->N, 4},
                                 (expr[1]){0});)
CASE(scope_ranges, axe_build_scope(b, "cta", 0, NULL, NULL);)
CASE(range_by, axe_build_for(b, (axe_ir_range){"i", s->N, -4});)
CASE(range_zero, axe_build_for(b, (axe_ir_range){"i", integer(b, 0), 0});)
CASE(range_count, axe_build_for(b, (axe_ir_range){"i", NULL, 4});)
CASE(end_none, axe_build_end(b);)
CASE(else_none, axe_build_else(b);)
CASE(else_twice, axe_build_if(b, axe_build_binary(b, "<", s->N, s->N));
     axe_build_else(b); axe_build_else(b);)
CASE(if_value, axe_build_if(b, s->N); axe_build_end(b);)
CASE(select_value, axe_build_select(b, s->N, s->xm, s->xm);)
CASE(open_left, axe_build_for(b, (axe_ir_range){"i", s->N, 4});)
CASE(ring_stages, axe_build_pipeline(b, "ring", 0);)
CASE(ring_empty, axe_build_pipeline(b, "ring", 1); axe_build_end(b);)
CASE(ring_body, axe_build_pipeline(b, "ring", 1);
     axe_build_assign(b, s->ym, "=", s->xm);)
CASE(stage_twice, axe_ir_pipeline *p = axe_build_pipeline(b, "ring", 1);
     axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_end(b); axe_build_produce(b, p); axe_build_consume(b, p);)
CASE(attribute_near, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "slo", NULL);)
CASE(attribute_alone, axe_build_attribute(b, "slow", NULL);)
CASE(attribute_value, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "slow", "1");)
CASE(attribute_number, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "prefetch", "x");)
CASE(attribute_range, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "tile", "0, 2");)
CASE(attribute_missing, axe_build_assign(b, s->ym, "=", s->xm);
     axe_build_attribute(b, "via", NULL);)
CASE(global_rank, axe_build_global(b, "f32", "G", 0, NULL);)
CASE(global_extent, axe_build_global(b, "f32", "G", 2, (expr[]){s->N, s->m});)
CASE(global_zero, expr zero = integer(b, 0);
     axe_build_global(b, "f32", "G", 1, &zero);)
CASE(loop_open, axe_build_loop(b);)
CASE(race_cta, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_assign(b, s->ym, "=", s->xm); axe_build_end(b);)
CASE(from_alone, axe_build_from(b, 1, (int64_t[]){1});)
CASE(key_alone, axe_build_key(b, "threads", 32);)
CASE(key_near, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_key(b, "thread", 32);)
CASE(key_twice, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_key(b, "threads", 32); axe_build_key(b, "threads", 32);)
CASE(key_value, expr i;
     axe_build_scope(b, "cta", 1, &(axe_ir_range){"i", s->N, 4}, &i);
     axe_build_key(b, "registers", 20);)
CASE(roles_alone, axe_build_roles(b); axe_build_end(b);)
CASE(copies_reg,
     tensor t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_copies(b, t, 2);)
CASE(copies_param, axe_build_copies(b, s->y, 2);)
CASE(fill_param, axe_build_fill(b, s->y, axe_build_float(b, "f32", 0));)
CASE(fold_index, axe_build_reduce(b, "sum", 1, &s->N, s->xm);)
CASE(fold_none, axe_build_reduce(b, "sum", 0, NULL, s->xm);)
CASE(extent_unknown, axe_build_assign(b, at1(b, s->y, integer(b, 0)),
                                      "+=", axe_build_cast(b, "f32", s->m));)
CASE(right_only, axe_build_assign(b, at1(b, s->y, integer(b, 0)), "=", s->xm);)
CASE(write_twice, expr i = axe_build_index(b, "i");
     axe_build_assign(b, at1(b, s->y, axe_build_binary(b, "+", s->m, i)), "=",
                      axe_build_binary(b, "*", s->xm, at1(b, s->x, i)));)
CASE(tile_outside,
     tensor t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_assign(b, at1(b, t, integer(b, 4)), "=",
                      axe_build_float(b, "f32", 0));)
CASE(gone, expr i = axe_build_for(b, (axe_ir_range){"i", s->N, 4});
     axe_build_end(b);
     axe_build_assign(b, at1(b, s->y, axe_build_tiled(b, i, 4, s->m)), "=",
                      at1(b, s->x, axe_build_tiled(b, i, 4, s->m)));)
CASE(gone_tile, axe_build_for(b, (axe_ir_range){"i", s->N, 4});
     tensor t = axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, NULL);
     axe_build_end(b); axe_build_fill(b, t, axe_build_float(b, "f32", 0));)
CASE(layout_size, const axe_layout *l;
     axe_status st = axe_layout_read(s->cx, "(8) : (1)", &l);
     assert_int_equal(st, AXE_OK);
     axe_build_tile(b, "reg", "f32", "t", 1, (int64_t[]){4}, l);)
CASE(
    deep, char name[16]; for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "loop%d", i);
        axe_build_for(b, (axe_ir_range){name, s->N, 0});
    })
CASE(bomb, expr e = s->xm;
     for (int i = 0; i < 70; i++) e = axe_build_binary(b, "+", e, e);)
CASE(after_finish, const axe_kernel *k; axe_build_assign(b, s->ym, "=", s->xm);
     assert_int_equal(axe_build_finish(b, &k), AXE_OK);
     axe_build_label(b, "late"); axe_build_assign(b, s->ym, "=", s->xm);)
CASE(unlabelled, axe_build_label(b, NULL); axe_build_end(b);)

#define AT "at builder call `wrong`: error: "

/* clang-format off */
static const struct {
    misuse     *fn;
    const char *want;
} misuse_rows[] = {
    {null_value, AT "the value is NULL\n"},
    {null_place, AT "the destination is NULL\n"},
    {null_op, AT "`(null)` is no assignment\n"},
    {null_tensor, AT "the tensor is NULL\n"},
    {null_subscript, AT "`X` has 1 dimensions, but 0 subscripts are given\n"},
    {null_name, AT "`(null)` is not a name: a letter or `_`, then letters, digits and `_`\n"},
    {null_type, AT "`(null)` is no type\n"},
    {null_fold, AT "`(null)` is no fold\n"},
    {null_ring, AT "the pipeline is NULL\n"},
    {null_extent, AT "`t` has no extents\n"},
    {null_attribute, AT "`(null)` is no attribute of a statement\n"},
    {foreign_expr, AT "an operand belongs to the builder of `other`, not of `k`\n"},
    {foreign_tensor, AT "tensor `Z` belongs to the builder of `other`, not of `k`\n"},
    {assign_value, AT "`Y[m]` is f32, but the value is i64\n"},
    {assign_size, AT "only elements of tensors are assigned, not `N`\n"},
    {assign_op, AT "`maxx=` is no assignment\n  help: did you mean `max=`?\n"},
    {op_unknown, AT "`expp` is no operation of one value\n  help: did you mean `exp`?\n"},
    {op_binary, AT "`<<` is no operation of two values\n  help: did you mean `<`?\n"},
    {op_types, AT "`X[m] + m` (f32) needs operands of its own type\n"},
    {name_twice, AT "`X` is declared already\n  at builder call 4: note: here\n"},
    {name_type, AT "`f32` is a name of the language\n"},
    {name_dot, AT "`a.b` is not a name: a letter or `_`, then letters, digits and `_`\n"},
    {type_near, AT "`f33` is no type\n  help: did you mean `f32`?\n"},
    {type_int, AT "i32 is not a floating type\n"},
    {value_range, AT "128 is not a value of i8\n"},
    {rank_wrong, AT "`X` has 1 dimensions, but 2 subscripts are given\n"},
    {rank_limit, AT "`t` has 17 dimensions; it must have 0 to 16\n"},
    {extent_zero, AT "extent 0 of `t` is 0; it must be at least 1\n"},
    {extent_huge, AT "`t` has too many elements for 64-bit addresses\n"},
    {space_near, AT "`shard` is no space of a tile\n  help: did you mean `shared`?\n"},
    {param_extent, AT "extent `m` of `W` is neither a size nor a positive integer\n"},
    {param_dir, AT "`inn` is no direction of an argument\n  help: did you mean `in`?\n"},
    {param_order, AT "`R` is no order\n"},
    {scope_near, AT "`ctta` is no scope\n  help: did you mean `cta`?\n"},
    {scope_ranges, AT "a scope has 1 to 16 ranges, not 0\n"},
    {range_by, AT "range `i` counts N by -4; both must be at least 1\n"},
    {range_zero, AT "range `i` counts 0 by 0; both must be at least 1\n"},
    {range_count, AT "a range's count is NULL\n"},
    {end_none, AT "there is no block to close\n"},
    {else_none, AT "the innermost open block is no branch of an `if` that could have an `else`\n"},
    {else_twice, AT "the innermost open block is no branch of an `if` that could have an `else`\n"},
    {if_value, "at builder call 2: error: `N` (i64) needs to be a condition\n"},
    {select_value, AT "`N` (i64) is not a condition\n"},
    {open_left, AT "a block is still open\n  at builder call `wrong`: note: begun here\n  help: close it by axe_build_end\n"},
    {ring_stages, AT "a pipeline has 1 to 1024 stages, not 0\n"},
    {ring_empty, AT "pipeline `ring` has no stages or no tensors\n"},
    {ring_body, AT "a pipeline's block holds tiles, nothing else\n  help: close pipeline `ring` by axe_build_end\n"},
    {stage_twice, AT "this is inside `produce ring` already\n"},
    {attribute_near, AT "`slo` is no attribute of a statement\n  help: did you mean `slow`?\n"},
    {attribute_alone, AT "`slow` belongs to an index statement, and none was just made\n"},
    {attribute_value, AT "`slow` takes no value\n"},
    {attribute_number, AT "`prefetch` is given by 1 number, not by `x`\n"},
    {attribute_range, AT "`tile` is from 1 to 64, not 0\n"},
    {attribute_missing, AT "`via` needs a value\n"},
    {global_rank, AT "`G` has 0 dimensions; it must have 1 to 16\n"},
    {global_extent, AT "`m` cannot be an extent of `G`\n"},
    {global_zero, AT "extent `0` of `G` is neither a size nor a positive integer\n"},
    {break_alone, AT "there is no loop to leave here\n"},
    {loop_open, AT "a block is still open\n"},
    {race_cta, "at builder call 7: error: `Y[m]` is written by more than one cta: it does not tell `i`\n"},
    {from_alone, AT "first entities belong to a scope just opened"},
    {key_alone, AT "`threads` belongs to a scope just opened\n"},
    {key_near, AT "`thread` is no key of a scope\n  help: did you mean `threads`?\n"},
    {key_twice, AT "`threads` is given twice\n"},
    {key_value, AT "`registers` is from 24 to 256 in steps of 8, not 20\n"},
    {roles_alone, AT "`roles` stands in a cta, whose threads they divide\n"},
    {copies_reg, AT "`t` has no 2 copies: it must be shared, with its layout open, and that not said before\n"},
    {copies_param, AT "`Y` has no 2 copies"},
    {fill_param, AT "`Y` is an argument, not a tile\n"},
    {fold_index, AT "`N` is not an index\n"},
    {fold_none, AT "a fold has 1 to 16 indices, not 0\n"},
    {extent_unknown, "at builder call 3: error: how far `m` runs is not known\n"},
    {right_only, "at builder call 3: error: index `m` is on the right of `=` only\n"},
    {write_twice, AT "`Y[m + i]` is one element for m = 0, i = 1 and m = 1, i = 0, and would be written twice\n"},
    {tile_outside, AT "`4` is outside dimension 0 of `t`, which has 4 elements\n"},
    {gone, AT "`i` is not in scope\n"},
    {gone_tile, AT "tensor `t` is not in scope\n"},
    {layout_size, AT "this layout does not fit `t`: "},
    {deep, AT "blocks nest at most 100 deep\n"},
    {bomb, AT "this expression has more than 2000 operations\n"},
    {after_finish, "at builder call `late`: error: kernel `k` is finished\n"},
    {unlabelled, "at builder call 8: error: there is no block to close\n"},
};
/* clang-format on */

static void
test_misuse(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(misuse_rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        start             s = begin(cx);
        const char       *want = misuse_rows[i].want, *got;
        const axe_kernel *k = NULL;
        misuse_rows[i].fn(&s);
        if (axe_build_finish(s.b, &k) == AXE_OK || k)
            failed++;
        got = said(cx);
        if (strncmp(got, want, strlen(want)) != 0) {
            print_error("row %d\n  want: %s\n  got:  %s\n", i, want, got);
            failed++;
        }
        assert_int_equal(axe_build_status(s.b), axe_build_finish(s.b, &k));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* One error only, however many calls follow. */
static void
test_sticky(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    start    s = begin(cx);

    (void)state;
    axe_build_end(s.b);
    axe_build_end(s.b);
    assert_null(axe_build_index(s.b, "q"));
    assert_null(axe_build_size(s.b, "X"));
    axe_build_assign(s.b, NULL, NULL, NULL);
    assert_int_equal(axe_n_error(cx), 1);
    assert_int_equal(axe_build_status(s.b), AXE_EARG);
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
    axe_build_consume(b, p);
    at = axe_build_tiled(b, i, 8, m);
    axe_build_assign(b, axe_build_load(b, y, 1, &at), "=",
                     axe_build_load(b, v, 1, &m));
    for (int open = 0; open < 4; open++)
        axe_build_end(b);
    assert_string_equal(
        ir_of_calls(cx, b),
        ir_of_text(cx,
                   "kernel k(in f32 X[M], out f32 Y[M]) { index m; cluster (2)"
                   " cta persistent (i : M by 8) warps 2 { pipeline p[3] {"
                   " shared f32 v[8] : auto + [2 : 1@cta]; } roles {"
                   " warp (f : 1) registers 40 produce p p.v[m] = X[m + 1];"
                   " warp (w : 1..2) consume p Y[i*8 + m] = p.v[m]; } } }",
                   &spec));
    axe_ctx_free(cx);
}

/* No builder at all is an error without a place. */
static void
test_no_builder(void **state)
{
    const axe_kernel *k = NULL;

    (void)state;
    assert_null(axe_build_kernel(NULL, "k"));
    axe_build_label(NULL, "x");
    assert_null(axe_build_size(NULL, "N"));
    axe_build_end(NULL);
    assert_int_equal(axe_build_finish(NULL, &k), AXE_EARG);
    assert_null(k);
}

/* The planner's refusals carry the label, too. */
static void
test_plan_label(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    start              s = begin(cx);
    const axe_kernel  *k;
    const axe_program *p;

    (void)state;
    axe_build_label(s.b, "store_y");
    axe_build_assign(s.b, s.ym, "=", s.xm);
    axe_build_attribute(s.b, "via", "contract");
    assert_int_equal(axe_build_finish(s.b, &k), AXE_OK);
    assert_int_not_equal(
        axe_compile_kernel(cx, k, "cpu-base", AXE_STAGE_PLAN, &p), AXE_OK);
    assert_non_null(strstr(said(cx), "at builder call `store_y`: error: "));
    assert_int_equal(axe_compile_kernel(cx, NULL, NULL, AXE_STAGE_PLAN, &p),
                     AXE_EARG);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_text),  cmocka_unit_test(test_gemm_run),
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_rest),       cmocka_unit_test(test_atom),
        cmocka_unit_test(test_loops),      cmocka_unit_test(test_roles),
        cmocka_unit_test(test_sticky),     cmocka_unit_test(test_no_builder),
        cmocka_unit_test(test_plan_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
