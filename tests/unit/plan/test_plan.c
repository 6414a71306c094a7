/* test_plan.c - what planners choose, refuse and say; the atom tables. */
#include <stdio.h>

#include "lower/lower.h"
#include "plan/cpu/schedule.h"
#include "planned.h"
#include "print/c/c.h"

static const axe_machine *
avx512(axe_ctx *cx)
{
    const axe_machine *mc;

    assert_int_equal(axe_machine_find(cx, "cpu-avx512", &mc), AXE_OK);
    return mc;
}

#define SCATTER                                                                \
    "kernel k(in f32 X[M, 64], in i64 rows[M], inout f32 Y[R, N]) { "          \
    "index m, n, r; "
#define IN "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n, k; "

/* clang-format off */
static const struct {
    const char *text, *error;
} bad[] = {
    {IN "warp (i : 4) { Y[i, n] = X[i, n]; } }",
     "the scope 'warp' is in no cta; put a cta scope around it"},
    {IN "cluster (i : M) { Y[i, n] = X[i, n]; } }",
     "cpu-avx512 has no scope 'cluster' yet; use cta"},
    {IN "Y[m, n] = X[m, n]; }",
     "a statement outside any scope: nobody runs it; put it in a cta scope"},
    {IN "for (i : M) { cta (j : 4) { Y[i, j] = X[i, j]; } Y[i, n] = X[i, n]; } }",
     "a statement outside any scope: nobody runs it; put it in a cta scope"},
    {IN "if (M > 4) { barrier; } }",
     "kernel k has no scope: nobody would run anything"},
    {IN "cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n] tile = (4, 2); }",
     "map takes no key `tile`; contract does"},
    {IN "cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n] via contrct; }",
     "cpu-avx512 has no schedule 'contrct'; there are map, transpose and contract"},
    {IN "cta (i : M by 8, j : N by 16) { reg f32 y[16, 8]; y[n, m] = X[i*8 + m, j*16 + n] unroll = 2; Y[i*8 + m, j*16 + n] = y[n, m]; } }",
     "transpose takes no key `unroll`; map does"},
    {IN "cta (i : M by 8, j : N by 16) { reg f32 y[8, 16]; y[m, n] = X[i*8 + m, j*16 + n] stream; Y[i*8 + m, j*16 + n] = y[m, n]; } }",
     "`stream` needs whole vectors of y's own type into a global tensor"},
    {IN "cta (i : M, j : N by 64) { reg f32 x[64] : (64) : (1@vlane); x[n] = X[i, j*64 + n]; Y[i, j*64 + n] = x[n]; } }",
     "cpu-avx512 keeps tiles in memory: axis vlane of x's layout has no meaning there"},
    {IN "cta (i : M, j : N by 64) { reg f32 x[64] : (2, 32) : (1@lane, 1@lane); x[n] = X[i, j*64 + n]; Y[i, j*64 + n] = x[n]; } }",
     "the layout of x puts x[1] and x[32] in one place"},
    {IN "cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n] evict_first; }",
     "`evict_first` says how to ask for what is ahead, and nothing is asked for here: add `prefetch = n`"},
    {IN "cta (i : M by 8, j : N by 16) { reg f32 c[8, 16] = 0; shared f32 a[8, 4]; shared f32 b[16, 4]; "
        "for (t : N by 4) a[m, k] = X[i*8 + m, t*4 + k]; for (t : N by 4) b[n, k] = X[j*16 + n, t*4 + k]; c[m, n] += a[m, k] * b[n, k] tile = (3, 1);"
        " Y[i*8 + m, j*16 + n] = c[m, n]; } }",
     "map takes no key `tile`; contract does"},
    {IN "cta (i : M) { pipeline p[2] { shared f32 a[4]; } consume p Y[i, n] = 0.0; "
        "produce p p.a[k] = 0.0; } }",
     "no stage of p is full here"},
    {IN "cta (i : M) { pipeline p[2] { shared f32 a[4]; } "
        "for (t : 3) produce p p.a[k] = 0.0; Y[i, n] = X[i, n]; } }",
     "all 2 stages of p are full here: it is produced 3 times more than consumed"},
    {IN "cta (i : M) { pipeline p[3] { shared f32 a[4]; } for (t : 2) produce p p.a[k] = 0.0; "
        "for (t : M) { consume p Y[i, 0] = p.a[0]; consume p Y[i, 0] = p.a[0]; produce p p.a[k] = 1.0;"
        " if (t > 2) produce p p.a[k] = 0.0; } } }",
     "how many stages of p are full is not known here: the two branches change it differently"},
    {IN "cta (i : M) { pipeline p[3] { shared f32 a[4]; } for (t : 2) produce p p.a[k] = 0.0; "
        "for (t : M) consume p Y[i, 0] = p.a[0]; } }",
     "how many stages of p are full is not known here: the number of iterations is not a constant, and each changes it"},
    {IN "cta (i : M) { pipeline p[4] { shared f32 a[4]; } "
        "for (t : 4) for (u : 3) { produce p p.a[k] = 0.0; produce p p.a[k] = 1.0; consume p Y[i, 0] = p.a[0]; } } }",
     "all 4 stages of p are full here: it is produced 5 times more than consumed"},
    {IN "cta (i : M) { pipeline p[4] { shared f32 a[4]; } for (t : 3) produce p p.a[k] = 0.0; "
        "for (t : 5) consume p Y[i, 0] = p.a[0]; } }",
     "no stage of p is full here"},
    {IN "cta (i : M) { pipeline p[4] { shared f32 a[4]; } for (t : 5) { if (t > 2) break; "
        "produce p p.a[k] = 0.0; Y[i, 1] = X[i, 1]; consume p Y[i, 0] = p.a[0]; } } }",
     "how many stages of p are full is not known here: `break` or `continue` leaves an iteration early"},
    {IN "cta (i : M) { Y[i, n] = X[i, n] via contract; } }",
     "the schedule 'contract' does not apply here"},
    {"kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) { index m, n, k; "
     "cta (i : M by 8, j : N by 9) { reg f32 c[8, 9] = 0; shared f32 a[8, 4]; shared f32 b[9, 4]; "
     "for (t : K by 4) { a[m, k] = A[i*8 + m, t*4 + k]; b[n, k] = B[j*9 + n, t*4 + k]; "
     "c[m, n] += a[m, k] * b[n, k]; } C[i*8 + m, j*9 + n] = c[m, n]; } }",
     "this sum of products would run far below the machine's best: no contract atom fits"},
    {"kernel k(in f4e2m1 X[M], out f32 Y[M]) { index m; cta (i : M by 8) { Y[i*8 + m] = f32(X[i*8 + m]); } }",
     "cpu-avx512 has no registers for elements of type f4e2m1"},
    {"kernel k(in i4 X[M], out i32 Y[M]) { index m; cta (i : M by 8) { Y[i*8 + m] = i32(X[i*8 + m]); } }",
     "cpu-avx512 has no registers for elements of type i4"},
    {IN "cta (i : M) { shared f32 t[8000000, 8000000]; t[m, n] = 0.0; Y[i, n] = X[i, n] + t[0, 0]; } }",
     "tile t needs 64000000000000 elements of 4 bytes, more than the 2^40 bytes of scratch memory that a worker may "
     "have; use smaller tiles"},
    {"kernel k(in f32 S[32], inout f32 Y[12]) { index m, n; cta (i : 1) { shared f32 t[32] : ((2, 16)) : ((100, 1)); "
     "t[n] = S[n]; for (u : 2) { Y[m] += t[u*8 + m]; } } }",
     "the subscript u*8 + m moves within blocks of 16 that the layout of t keeps together; "
     "move it by multiples of 16, or declare a layout where the dimension is one iter"},
    {"kernel k(in f32 S[16], out f32 Y[2, 2]) { index e, f; cta (i : 1) { shared f32 t[16] : ((2, 2, 4)) : ((64, 16, 1)); "
     "t[e] = S[e]; for (u : 2) { Y[u, f] = t[u*4 + f*4]; } } }",
     "the subscript u*4 + f*4 moves within blocks of 8 that the layout of t keeps together; "
     "move it by multiples of 8, or declare a layout where the dimension is one iter"},
    {"kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 8) { "
     "Y[i*8 + m] = X[i*8 + m + 1] + X[i*8 + m + 2] + X[i*8 + m + 3] + X[i*8 + m + 4] + X[i*8 + m + 5]; } }",
     "operands leave their tensors at more than 4 values of m; copy some into tiles first"},
    {"kernel k(in f32 X[M, N], in i64 rows[M], inout f32 Y[R, N]) { index m, n; cta (i : M by 8) "
     "Y[rows[i*8 + m], n] += X[i*8 + m, n]; }",
     "`Y[rows[i*8 + m], n]` may be one element for several tasks of `i`, which have no order"},
    {SCATTER "cta (i : N by 63) Y[rows[m], i*63 + n] += X[m, n]; }",
     "`Y[rows[m], i*63 + n]` may be one element for several tasks of `i`, which have no order"},
    {SCATTER "cta (i : N by 10) { reg f32 x[8, 8] = 1; Y[rows[m], i*10 + n - r] += x[n, r]; } }",
     "`Y[rows[m], i*10 + n - r]` may be one element for several tasks of `i`, which have no order"},
    {SCATTER "cta (i : 4, j : 4) Y[rows[m], i*64 + j*64 + n] += X[m, n]; }",
     "`Y[rows[m], i*64 + j*64 + n]` may be one element for several tasks of `i`, which have no order"},
};
/* clang-format on */

static void
test_refusals(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(bad); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_plan    *p;
        axe_status         st = plan_on(cx, bad[i].text, avx512(cx), &p);
        const axe_lowered *l;
        if (st == AXE_OK)
            st = axe_lower(cx, p, &l);
        if (st == AXE_OK || strcmp(axe_last_error(cx), bad[i].error) != 0)
            fail_msg("row %d: want '%s', got '%s'", i, bad[i].error,
                     axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

static const char gemm[] =
    "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {"
    " index m, n, k; cta (i : M by 16, j : N by 48) {"
    " reg f32 c[16, 48] = 0; shared f32 a[16, 8]; shared f32 b[48, 8];"
    " for (t : K by 8) { a[m, k] = A[i*16 + m, t*8 + k];"
    " b[n, k] = B[j*48 + n, t*8 + k]; c[m, n] += a[m, k] * b[n, k]; }"
    " C[i*16 + m, j*48 + n] = c[m, n]; } }";

/* Every machine's atoms read, and have a layout for each operand they name. */
static void
test_atom_tables(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_machine *mc;
        assert_int_equal(axe_machine_find(cx, axe_machine_at(i)->name, &mc),
                         AXE_OK);
        for (int k = 0; k < mc->n_atom; k++) {
            const char *side[] = {mc->atom[k].d, mc->atom[k].a, mc->atom[k].b};
            int         most = mc->atom[k].hi > 0 ? mc->atom[k].hi : 16;
            for (int j = 0; j < 3; j++) {
                const axe_layout *l;
                const char       *sides;
                if (*side[j] == '\0')
                    continue;
                if (axe_atom_layout(cx, side[j], most < 16 ? most : 16, 2,
                                    &sides, &l) != AXE_OK)
                    fail_msg("%s: %s: %s", mc->atom[k].name, side[j],
                             axe_last_error(cx));
            }
        }
    }
    axe_ctx_free(cx);
}

/* A made-up instruction is one more row: cheaper, so it is chosen, and named in
 * the plan; without the row the old one is back. */
static void
test_new_atom(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_machine     mc = *avx512(cx);
    axe_atom        atom[32];
    const axe_plan *p;
    axe_buf         out = {.cx = cx};

    (void)state;
    memcpy(atom, mc.atom, (size_t)mc.n_atom * sizeof atom[0]);
    atom[mc.n_atom] = (axe_atom){
        .name = "vload.magic",
        .kind = AXE_ATOM_LOAD,
        .d = "[v] (V) : (1@vlane)",
        .a = "[v] (V) : (1)",
        .b = "",
        .cost = 0.1,
        .text = "made up",
    };
    mc.atom = atom;
    mc.n_atom++;
    assert_int_equal(plan_on(cx, gemm, &mc, &p), AXE_OK);
    axe_plan_print(cx, &out, p, NULL);
    assert_non_null(strstr(out.text, "vload.magic"));
    mc.n_atom--;
    out = (axe_buf){.cx = cx};
    assert_int_equal(plan_on(cx, gemm, &mc, &p), AXE_OK);
    axe_plan_print(cx, &out, p, NULL);
    assert_null(strstr(out.text, "vload.magic"));
    axe_ctx_free(cx);
}

/* Without any atom that adds products there is no contraction. */
static void
test_no_atom(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_machine     mc = *avx512(cx);
    axe_atom        atom[32];
    const axe_plan *p;
    int             n = 0;

    (void)state;
    for (int i = 0; i < mc.n_atom; i++)
        if (mc.atom[i].kind != AXE_ATOM_CONTRACT)
            atom[n++] = mc.atom[i];
    mc.atom = atom;
    mc.n_atom = n;
    assert_int_equal(plan_on(cx, gemm, &mc, &p), AXE_EUNSUPPORTED);
    axe_ctx_free(cx);
}

static void
test_register_tiles(void **state)
{
    static const struct {
        const char *machine;
        int         mr, nv, lanes;
    } rows[] = {
        {"cpu-avx512", 8, 3, 16},
        {"cpu-avx2", 4, 3, 8},
        {"cpu-neon", 8, 3, 4},
        {"cpu-base", 4, 3, 4},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx            *cx = axe_ctx_new();
        const axe_machine  *mc;
        const axe_plan     *p;
        const axe_schedule *s;
        assert_int_equal(axe_machine_find(cx, rows[i].machine, &mc), AXE_OK);
        assert_int_equal(plan_on(cx, gemm, mc, &p), AXE_OK);
        s = contraction(p);
        assert_int_equal(s->core->tile.mr, rows[i].mr);
        assert_int_equal(s->core->tile.nv, rows[i].nv);
        assert_int_equal(s->nest[0].lanes, rows[i].lanes);
        axe_ctx_free(cx);
    }
}

/* Open tiles get the layouts that make the inner loop read in order. */
static void
test_inferred_layouts(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_plan *p;

    (void)state;
    assert_int_equal(plan_on(cx, gemm, avx512(cx), &p), AXE_OK);
    for (int i = 0; i < p->n_place; i++) {
        const char *name = p->place[i].tensor ? p->place[i].tensor->name : "";
        const char *want = strcmp(name, "a") == 0 ? "(16, 8) : (24, 1)"
                           : strcmp(name, "b") == 0
                               ? "((3, 16), 8) : ((128, 1), 16)"
                           : strcmp(name, "c") == 0 ? "(16, 48) : (64, 1)"
                                                    : NULL;
        if (want)
            assert_string_equal(axe_layout_text(cx, p->place[i].layout), want);
    }
    axe_ctx_free(cx);
}

/* What a kernel does with the rows of a tile decides whether tiles may begin
 * elsewhere: i's in the first column, j's in the second. */
#define GEMM(more)                                                             \
    "kernel k(in f32 A[M, K], in f32 B[N, K], in f32 D[M, N], "                \
    "out f32 C[M, N], out f32 S[M, N]) { index m, n, k; "                      \
    "cta (i : M by 16, j : N by 48) { reg f32 c[16, 48] = 0; "                 \
    "reg f32 r[16]; reg f32 q[48]; shared f32 a[16, 8]; shared f32 b[48, 8]; " \
    "for (t : K by 8) { a[m, k] = A[i*16 + m, t*8 + k]; "                      \
    "b[n, k] = B[j*48 + n, t*8 + k]; c[m, n] += a[m, k] * b[n, k]; } " more    \
    " C[i*16 + m, j*48 + n] = c[m, n]; } }"

static void
test_retiles(void **state)
{
    static const struct {
        const char *text;
        bool        i, j;
    } rows[] = {
        {GEMM(""), true, true},
        {GEMM("c[m, n] += D[i*16 + m, j*48 + n];"), true, true},
        /* a statistic over a tile's rows, or columns, is the tile's own */
        {GEMM("q[n] = sum[m](c[m, n]); c[m, n] = c[m, n] - q[n];"), false,
         true},
        {GEMM("r[m] = max[n](c[m, n]); c[m, n] = c[m, n] / r[m];"), true,
         false},
        /* one row is not like the others */
        {GEMM("q[n] = c[0, n]; c[m, n] = c[m, n] - q[n];"), false, true},
        /* the row's place within the tile is seen */
        {GEMM("c[m, n] = m < 4 ? c[m, n] : 0.0;"), false, true},
        {GEMM("c[m, n] = i*16 + m < 4 ? c[m, n] : 0.0;"), false, true},
        {GEMM("c[m, n] = i < 2 ? c[m, n] : 0.0;"), false, true},
        {GEMM("c[m, n] += D[m + 1, j*48 + n];"), false, true},
        {GEMM("c[m, n] += D[i, j*48 + n];"), false, true},
        {GEMM("c[m, n] += D[i*16 + m, m + 1];"), false, true},
        {GEMM("c[m, n] += D[i*16 + m + 1, j*48 + n];"), false, true},
        {GEMM("if (i < 2) { c[m, n] = c[m, n] + 1.0; }"), false, true},
        {GEMM("if (M < 2) { c[m, n] += D[i, j*48 + n]; }"), false, true},
        /* one task writes */
        {GEMM("if (i == 0) { S[m + 2, j*48 + n] = c[m, n]; }"), false, true},
        {GEMM("if (j == 0) { S[i*16 + m, n + 1] = c[m, n]; }"), true, false},
    };

    (void)state;
    for (int k = 0; k < AXE_LEN(rows); k++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        bool            i = false, j = false;
        if (plan_on(cx, rows[k].text, avx512(cx), &p) != AXE_OK)
            fail_msg("row %d: %s", k, axe_last_error(cx));
        for (int n = 0; n < p->n_retile; n++) {
            i = i || strcmp(p->retile[n].scope->name, "i") == 0;
            j = j || strcmp(p->retile[n].scope->name, "j") == 0;
        }
        if (i != rows[k].i || j != rows[k].j)
            fail_msg("row %d: i %d, j %d", k, i, j);
        axe_ctx_free(cx);
    }
}

#define TILE IN "cta (i : M, j : N by 64) { reg f32 x[64] : "
#define TILED "; x[n] = X[i, j*64 + n]; Y[i, j*64 + n] = x[n]; } }"
#define OPEN "(64) : (1)  declared for threads, so open here; auto: row-major"

/* A place that is known when the kernel runs is a number of 64 bits, but in no
 * lane. */
#define PLACED(T)                                                              \
    "kernel k(in " T " X[M, 64], in i32 at[M], out " T                         \
    " Y[M, 64]) { index m; cta (i : M) { i64 begin = i64(at[i]);"

/* The reason that is told is the one that holds. */
static void
test_reasons(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"kernel k(in f32 X[M, N], out i8 Y[N, M]) { index m, n; "
         "cta (i : M by 8) Y[n, i*8 + m] = i8(X[i*8 + m, n]); }",
         "transpose: no store does this conversion"},
        {"kernel k(in f32 X[M, N], in i32 I[M], out f32 Y[N, M]) { "
         "index m, n; cta (i : M by 8) Y[n, i*8 + m] = X[I[i*8 + m], n]; }",
         "transpose: a subscript reads a tensor"},
        {"kernel k(in f32 X[M, N], out f32 Y[N, M]) { index m, n; "
         "cta (i : M by 8) Y[n, i*8 + m] = X[i*8 + m - 1, n]; }",
         "transpose: elements may lie outside elsewhere than behind an end"},
        {"kernel k(in f32 X[M, M], out f32 Y[M]) { index m; "
         "cta (i : M by 8) Y[i*8 + m] = X[i*8 + m, i*8 + m]; }",
         "transpose: it needs two indices"},
        {IN "cta (i : M) Y[i, n] = X[i, n] * f32(n > 5 ? n : 2*n); }",
         "16 lanes: indices are values here, of 64 bits in a lane"},
        {PLACED("f32") " Y[i, m] = X[begin, m]; } }",
         "32 lanes: 16 of 32 bits fill a vector"},
        {PLACED("bf16") " Y[i, m] = X[begin, m]; } }",
         "64 lanes: 32 of 16 bits fill a vector"},
        {PLACED("f64") " Y[i, m] = f64(begin); } }",
         "16 lanes: 8 of 64 bits fill a vector"},
        {TILE "(2, 32) : (1@warp, 1@lane)" TILED, OPEN},
        {TILE "(64) : (1@reg) + [32 : 1@lane]" TILED, OPEN},
        {TILE "swizzle(128) o (2, 32) : (32, 1)" TILED, OPEN},
        {TILE "(64) : (2)" TILED, "(64) : (2)  declared\n"},
    };

    (void)state;
    for (int k = 0; k < AXE_LEN(rows); k++) {
        axe_ctx        *cx = axe_ctx_new();
        axe_buf         out = {.cx = cx};
        const axe_plan *p;
        assert_int_equal(plan_on(cx, rows[k].text, avx512(cx), &p), AXE_OK);
        axe_plan_print(cx, &out, p, NULL);
        if (!strstr(out.text, rows[k].why))
            fail_msg("row %d: no '%s' in\n%s", k, rows[k].why, out.text);
        axe_ctx_free(cx);
    }
}

/* The same kernel gives the same bytes at every stage. */
static void
test_deterministic(void **state)
{
    char *first[3] = {NULL};

    (void)state;
    for (int round = 0; round < 2; round++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_plan    *p;
        const axe_lowered *l;
        axe_buf            out[3] = {{.cx = cx}, {.cx = cx}, {.cx = cx}};
        assert_int_equal(plan_on(cx, gemm, avx512(cx), &p), AXE_OK);
        assert_int_equal(axe_lower(cx, p, &l), AXE_OK);
        axe_plan_print(cx, &out[0], p, NULL);
        axe_lowered_print(cx, &out[1], l);
        assert_int_equal(axe_print_c(cx, l, &out[2]), AXE_OK);
        for (int i = 0; i < 3; i++) {
            if (round == 0) {
                first[i] = test_malloc(out[i].len + 1);
                memcpy(first[i], out[i].text, out[i].len + 1);
            } else {
                assert_string_equal(first[i], out[i].text);
                test_free(first[i]);
            }
        }
        axe_ctx_free(cx);
    }
}

static void
test_unknown_machine(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "cpu-avx51", &mc), AXE_ENAME);
    assert_string_equal(axe_last_error(cx), "there is no machine 'cpu-avx51'");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_atom_tables),
        cmocka_unit_test(test_new_atom),
        cmocka_unit_test(test_no_atom),
        cmocka_unit_test(test_register_tiles),
        cmocka_unit_test(test_inferred_layouts),
        cmocka_unit_test(test_retiles),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_unknown_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
