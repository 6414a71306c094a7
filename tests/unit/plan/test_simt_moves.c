/* test_simt_moves.c - register tiles that change lanes, and runs of neighbours
 * that engines move, in the simulator.
 *
 * Random pairs of layouts, of digits of 2 and 3 in any order over lanes, warps
 * and registers, with replicas where lanes are left: what comes out must be
 * what went in, bit by bit.  Then statements that shift, broadcast, reduce, or
 * want what another warp has; and what is one run, and what is none. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/sim.h"
#include "lower/lower.h"
#include "run/program.h"

enum { TRIALS = 120, MOST = 1 << 13 };

static uint64_t state = 1181783497276652981u;

static int
below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

/* ------------------------------------------------------------------ running */

typedef struct run {
    axe_ctx       *cx;
    const char    *text;
    axe_sim_report said;
} run;

static void
fail_run(run *x, const char *what)
{
    axe_buf b = {.cx = x->cx};

    axe_diags_print(x->cx, &b, false);
    if (x->said.n_finding > 0)
        axe_sim_report_print(x->cx, &b, &x->said);
    fail_msg("%s: %s\n%s", what, x->text, b.text ? b.text : "");
}

/* The constant shape of a parameter, which has n elements. */
static axe_array
array_of(const axe_program *p, int i, int64_t *shape, int64_t n, void *data)
{
    const axe_tensor *t = p->kernel->param[i];
    int64_t           size = 1;

    for (int d = 0; d < t->rank; d++) {
        assert_true(axe_is_iconst(t->shape[d], &shape[d]));
        size *= shape[d];
    }
    assert_int_equal(size, n);
    return (axe_array){.name = t->name,
                       .type = axe_type_table[t->type].name,
                       .rank = t->rank,
                       .shape = shape,
                       .data = data};
}

/* Y as the simulator leaves it, from X. */
static void
simulate(run *x, const char *machine, int64_t n_x, void *data_x, int64_t n_y,
         void *data_y)
{
    int64_t            shape[2][AXE_RANK_MAX];
    axe_compile_spec   spec = {.machine = machine};
    axe_sim_options    how = {.policy = AXE_SIM_LAZY};
    const axe_program *p;
    axe_array          array[2];
    int32_t source = axe_source_add(x->cx, "k.axe", x->text, strlen(x->text));

    if (axe_compile(x->cx, source, &spec, AXE_STAGE_LOWER, &p) != AXE_OK)
        fail_run(x, "compile");
    array[0] = array_of(p, 0, shape[0], n_x, data_x);
    array[1] = array_of(p, 1, shape[1], n_y, data_y);
    if (axe_program_simulate(x->cx, p, 2, array, 0, NULL, &how, &x->said) !=
            AXE_OK ||
        x->said.n_finding > 0)
        fail_run(x, "run");
}

static bool
has_done(const run *x, const char *word)
{
    for (int i = 0; i < x->said.n_count; i++)
        if (x->said.count[i].n > 0 && strstr(x->said.count[i].name, word))
            return true;
    return false;
}

/* ------------------------------------------------------------------- layouts
 */

typedef struct layout {
    char shape[128], stride[256], copies[128];
    int  reg;
} layout;

/* Each digit goes to lanes, warps or registers; what lanes and warps are left
 * hold copies. */
static void
deal(layout *l, int n, const int *extent, int warps)
{
    int lane = 1, warp = 1, order[8];

    *l = (layout){.reg = 1};
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = below(i + 1), y = order[i];
        order[i] = order[k];
        order[k] = y;
    }
    char step[8][32];
    for (int i = 0; i < n; i++) {
        int d = order[i], e = extent[d];
        if (e == 2 && lane < 32 && below(4) > 0) {
            snprintf(step[d], sizeof step[d], "%d@lane", lane);
            lane *= e;
        } else if (e == 2 && warp < warps && below(2) > 0) {
            snprintf(step[d], sizeof step[d], "%d@warp", warp);
            warp *= e;
        } else {
            snprintf(step[d], sizeof step[d], "%d@reg", l->reg);
            l->reg *= e;
        }
    }
    for (int i = 0; i < n; i++) {
        char *s = l->shape + strlen(l->shape), *t = l->stride;
        t += strlen(t);
        snprintf(s, 16, "%s%d", i ? ", " : "", extent[i]);
        snprintf(t, 40, "%s%s", i ? ", " : "", step[i]);
    }
    if (lane < 32)
        snprintf(l->copies, 60, " + [%d : %d@lane]", 32 / lane, lane);
    if (warp < warps)
        snprintf(l->copies + strlen(l->copies), 60, " + [%d : %d@warp]",
                 warps / warp, warp);
}

static const char *
make_text(run *x, const char *type, int size, int warps, const layout *a,
          const layout *b)
{
    return axe_textf(
        x->cx,
        "kernel k(in %s X[%d], out %s Y[%d]) { index m;"
        "cta (i : 1) threads %d { reg %s x[%d] : ((%s)) : ((%s))%s;"
        "reg %s y[%d] : ((%s)) : ((%s))%s;"
        "x[m] = X[m]; y[m] = x[m]; Y[m] = y[m]; } }",
        type, size, type, size, 32 * warps, type, size, a->shape, a->stride,
        a->copies, type, size, b->shape, b->stride, b->copies);
}

/* Says whether lanes exchanged registers. */
static bool
try_pair(void)
{
    static const struct {
        const char *name;
        int         bytes;
    } types[] = {{"f32", 4}, {"i64", 8}, {"f16", 2}, {"i8", 1}};
    static uint8_t in[MOST], out[MOST];
    run            x = {.cx = axe_ctx_new()};
    layout         a, b;
    int            n = 2 + below(6), extent[8], size = 1, k = below(4);
    int            warps = 1 << below(3);

    for (int i = 0; i < n; i++) {
        extent[i] = below(6) == 0 ? 3 : 2;
        size *= extent[i];
    }
    deal(&a, n, extent, warps);
    deal(&b, n, extent, warps);
    for (int i = 0; i < size * types[k].bytes; i++)
        in[i] = (uint8_t)(1 + below(100));
    x.text = make_text(&x, types[k].name, size, warps, &a, &b);
    memset(out, 0, sizeof out);
    simulate(&x, "sm_80", size, in, size, out);
    if (memcmp(in, out, (size_t)(size * types[k].bytes)) != 0)
        fail_run(&x, "wrong");
    bool by_lanes = has_done(&x, "shfl");
    if (by_lanes && has_done(&x, "shared"))
        fail_run(&x, "both ways");
    axe_ctx_free(x.cx);
    return by_lanes;
}

static void
test_pairs(void **unused)
{
    int n = 0;

    (void)unused;
    print_message("from state %" PRIu64 "\n", state);
    for (int i = 0; i < TRIALS; i++)
        n += try_pair();
    print_message("%d of %d by lanes\n", n, TRIALS);
    assert_in_range(n, TRIALS / 3, TRIALS);
}

/* --------------------------------------------------------------- statements */

/* X[i] = i; Y is compared with these. */
static const struct {
    const char *name, *text;
    int         n_x, n_y;
    float       y[16]; /* its first elements */
    const char *does, *never;
} rows[] = {
    {"shifted",
     "kernel k(in f32 X[128], out f32 Y[64]) { index m; cta (i : 1) threads 32 "
     "{ reg f32 x[128] : ((32, 4)) : ((1@lane, 1@reg)); "
     "reg f32 y[64] : ((32, 2)) : ((1@lane, 1@reg));"
     "x[m] = X[m]; y[m] = x[m + 4]; Y[m] = y[m]; } }",
     128,
     64,
     {4, 5, 6, 7, 8, 9, 10, 11},
     "shfl.idx.b32",
     "shared"},
    {"broadcast",
     "kernel k(in f32 X[32], out f32 Y[128]) { index m, n; cta (i : 1) threads "
     "32 { reg f32 x[32] : ((32)) : ((1@lane));"
     "reg f32 y[32, 4] : (32, 4) : (1@reg, 1@lane) + [8 : 4@lane];"
     "x[m] = X[m]; y[m, n] = x[m] + f32(n); Y[m*4 + n] = y[m, n]; } }",
     32,
     128,
     {0, 1, 2, 3, 1, 2, 3, 4, 2},
     "shfl.idx.b32",
     "shared"},
    {"folded",
     "kernel k(in f32 X[64], out f32 Y[8]) { index m, n; cta (i : 1) threads 32"
     "{ reg f32 x[8, 8] : (8, (2, 4)) : (1@lane, (1@reg, 8@lane));"
     "reg f32 y[8] : ((8)) : ((1@lane)) + [4 : 8@lane];"
     "x[m, n] = X[m*8 + n]; y[m] = 2 * sum[n](x[n, m]); Y[m] = y[m]; } }",
     64,
     8,
     {448, 464, 480, 496, 512, 528, 544, 560},
     "",
     ""},
    {"reversed",
     "kernel k(in f32 X[32], out f32 Y[32]) { index m; cta (i : 1) threads 32 "
     "{ reg f32 x[32] : ((32)) : ((1@lane)); reg f32 y[32] : ((32)) : "
     "((1@lane)); x[m] = X[m]; y[m] = x[31 - m]; Y[m] = y[m]; } }",
     32,
     32,
     {31, 30, 29, 28, 27, 26, 25},
     "shfl.idx.b32",
     "shared"},
    {"of other warps",
     "kernel k(in f32 X[64], out f32 Y[64]) { index m; cta (i : 1) threads 64 "
     "{ reg f32 x[64] : ((2, 32)) : ((1@warp, 1@lane)); reg f32 y[64] : "
     "((32, 2)) : ((1@lane, 1@warp)); x[m] = X[m]; y[m] = x[m]; Y[m] = y[m]; "
     "} }",
     64,
     64,
     {0, 1, 2, 3, 4, 5},
     "shared",
     "shfl"},
    {"each warp its own",
     "kernel k(in f32 X[64], out f32 Y[64]) { index m; cta (i : 1) warp (w : "
     "0..2) { reg f32 x[32] : ((32)) : ((1@lane)); reg f32 y[32] : ((2, 16)) : "
     "((16@lane, 1@lane)); x[m] = X[w*32 + m]; y[m] = x[31 - m]; "
     "Y[w*32 + m] = y[m]; } }",
     64,
     64,
     {31, 30, 29, 28, 27},
     "shfl",
     "shared"},
    {"a run comes in",
     "kernel k(in f32 X[4096], out f32 Y[4096]) { index n; cta (i : 4) {"
     "pipeline ring[2] { shared f32 x[1024]; }"
     "produce ring ring.x[n] = X[i*1024 + n];"
     "consume ring Y[i*1024 + n] = ring.x[n] + 1; } }",
     4096,
     4096,
     {1, 2, 3, 4, 5, 6},
     "cp.bulk.load",
     "tma"},
    {"whose digits follow each other",
     "kernel k(in f32 X[4096], out f32 Y[4096]) { index n; cta (i : 4) {"
     "pipeline ring[2] { shared f32 x[1024] : ((8, 128)) : ((128, 1)); }"
     "produce ring ring.x[n] = X[i*1024 + n];"
     "consume ring Y[i*1024 + n] = ring.x[n] + 1; } }",
     4096,
     4096,
     {1, 2, 3, 4, 5, 6},
     "cp.bulk.load",
     "tma"},
    {"runs that begin anywhere are none",
     "kernel k(in f32 X[4096], out f32 Y[2048]) { index n; cta (i : 2) {"
     "pipeline ring[2] { shared f32 x[1024]; }"
     "produce ring ring.x[n] = X[i*1024 + n + 1];"
     "consume ring Y[i*1024 + n] = ring.x[n] + 1; } }",
     4096,
     2048,
     {2, 3, 4, 5, 6, 7},
     "",
     "cp.bulk"},
    {"nor are those that reach beyond",
     "kernel k(in f32 X[4000], out f32 Y[4096]) { index n; cta (i : 4) {"
     "pipeline ring[2] { shared f32 x[1024]; }"
     "produce ring ring.x[n] = X[i*1024 + n];"
     "consume ring Y[i*1024 + n] = ring.x[n] + 1; } }",
     4000,
     4096,
     {1, 2, 3, 4, 5, 6},
     "",
     "cp.bulk"},
    {"nor those with gaps",
     "kernel k(in f32 X[4096], out f32 Y[4096]) { index n; cta (i : 4) {"
     "pipeline ring[2] { shared f32 x[1024] : ((8, 128)) : ((136, 1)); }"
     "produce ring ring.x[n] = X[i*1024 + n];"
     "consume ring Y[i*1024 + n] = ring.x[n] + 1; } }",
     4096,
     4096,
     {1, 2, 3, 4, 5, 6},
     "",
     "cp.bulk"},
    {"nor those in another order",
     "kernel k(in f32 X[4096], out f32 Y[4096]) { index n; cta (i : 4) {"
     "pipeline ring[2] { shared f32 x[1024] : ((8, 128)) : ((1, 8)); }"
     "produce ring ring.x[n] = X[i*1024 + n];"
     "consume ring Y[i*1024 + n] = ring.x[n] + 1; } }",
     4096,
     4096,
     {1, 2, 3, 4, 5, 6},
     "",
     "cp.bulk"},
    {"nor those with gaps on both sides",
     "kernel k(in f32 X[4096], out f32 Y[2048]) { index n; cta (i : 4) {"
     "pipeline ring[2] { shared f32 x[512] : ((512)) : ((2)); }"
     "produce ring ring.x[n] = X[i*1024 + 2*n];"
     "consume ring Y[i*512 + n] = ring.x[n] + 1; } }",
     4096,
     2048,
     {1, 3, 5, 7, 9, 11},
     "",
     "cp.bulk"},
    {"a run goes out",
     "kernel k(in f32 X[4096], out f32 Y[4096]) { index n; cta (i : 4) {"
     "shared f32 x[1024]; x[n] = X[i*1024 + n] + 1; Y[i*1024 + n] = x[n]; } }",
     4096,
     4096,
     {1, 2, 3, 4, 5, 6},
     "cp.bulk.store",
     "tma"},
    {"gaps on both sides are no run",
     "kernel k(in f32 X[4, 2, 2, 256], out f32 Y[4, 2, 2, 256]) {"
     "index m, n; cta (i : 4) { shared f32 x[2, 256] : (2, 256) : (512, 1);"
     "x[m, n] = X[i, m, 0, n] + 1; Y[i, m, 0, n] = x[m, n]; } }",
     4096,
     4096,
     {1, 2, 3, 4, 5, 6},
     "",
     "cp.bulk"},
    {"runs are added",
     "kernel k(in f32 X[4096], out f32 Y[1024]) { index n;"
     "cta (i : 1) Y[n] = 1;"
     "cta (i : 4) { shared f32 x[1024]; x[n] = X[i*1024 + n] - 1;"
     "Y[n] += x[n]; } }",
     4096,
     1024,
     {6141, 6145, 6149},
     "cp.bulk.add.f32",
     "tma"},
};

static void
test_statements(void **unused)
{
    enum { N_FIRST = 16 };
    static float in[MOST], out[MOST];

    (void)unused;
    for (int i = 0; i < MOST; i++)
        in[i] = (float)i;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run         x = {.cx = axe_ctx_new(), .text = rows[i].text};
        const char *on =
            strstr(rows[i].text, "threads") || strstr(rows[i].text, "warp")
                ? "sm_80"
                : "sm_90a";
        memset(out, 0, sizeof out);
        simulate(&x, on, rows[i].n_x, in, rows[i].n_y, out);
        for (int k = 0; k < N_FIRST && (k == 0 || rows[i].y[k] != 0); k++)
            if (out[k] != rows[i].y[k])
                fail_msg("%s: Y[%d] is %g", rows[i].name, k, out[k]);
        if (*rows[i].does && !has_done(&x, rows[i].does))
            fail_run(&x, rows[i].name);
        if (*rows[i].never && has_done(&x, rows[i].never))
            fail_run(&x, rows[i].name);
        axe_ctx_free(x.cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_statements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
