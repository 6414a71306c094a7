/* bench_layout.c - nanoseconds per layout operation, and heap growth.
 *
 *     bench_layout [--json]
 *
 * Each operation runs between a mark and its release, as a planner asks "would
 * this fit?": a number is the median of REPEATS runs of about RUN_NS of
 * processor time each, so that a busy machine disturbs it less. `heap` is the
 * growth of the context's memory over all runs but the first of each; it must
 * be 0.  Typical layouts are those of the paper and of tensor cores, with 2, 4
 * and 8 iters; the second table has n iters that no neighbour fuses with, of
 * extents that divide one another.
 *
 * The target is 150 ns for every operation of the first table; one that misses
 * it is marked.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/layout.h"
#include "clock.h"

enum { REPEATS = 11, RUN_NS = 2000000, TARGET_NS = 150, MAX_ITER = 64 };

/* The operands of one column. */
typedef struct subject {
    const char       *text;
    int               n_iter;
    const axe_layout *l;     /* as written, cut into two dims */
    const axe_layout *loose; /* the same map with iters split */
    const axe_layout *outer, *tiled;
    axe_shape         shape, outer_shape, tiled_shape;
    int64_t           begin[2], end[2];
    int64_t           sum; /* of results, so that none is left out */
} subject;

typedef axe_status op_fn(axe_ctx *cx, subject *s);

static axe_status
run_canon(axe_ctx *cx, subject *s)
{
    const axe_layout *out;

    return axe_layout_canon(cx, s->loose, &out);
}

static axe_status
run_group(axe_ctx *cx, subject *s)
{
    const axe_layout *out;

    return axe_layout_group(cx, s->loose, s->shape, &out);
}

static axe_status
run_tile(axe_ctx *cx, subject *s)
{
    const axe_layout *out;

    return axe_layout_tile(cx, s->outer, s->outer_shape, s->l, s->shape, &out);
}

static axe_status
run_tile_of(axe_ctx *cx, subject *s)
{
    const axe_layout *out;

    return axe_layout_tile_of(cx, s->tiled, s->tiled_shape, s->l, s->shape,
                              &out);
}

static axe_status
run_slice(axe_ctx *cx, subject *s)
{
    const axe_layout *out;

    return axe_layout_slice(cx, s->l, s->shape, s->begin, s->end, &out);
}

static axe_status
run_equal(axe_ctx *cx, subject *s)
{
    bool       same = false;
    axe_status st = axe_layout_equal(cx, s->l, s->loose, &same);

    s->sum += same;
    return st;
}

static axe_status
run_at(axe_ctx *cx, subject *s)
{
    (void)cx;
    s->sum += axe_layout_at(s->l, s->sum & (s->l->size - 1), AXE_AXIS_M);
    return AXE_OK;
}

static axe_status
run_apply(axe_ctx *cx, subject *s)
{
    axe_points p = {0};
    axe_status st = axe_layout_apply(cx, s->l, s->sum & (s->l->size - 1), &p);

    s->sum += p.n_point;
    return st;
}

static const struct {
    const char *name;
    op_fn      *fn;
} ops[] = {
    {"canonicalize", run_canon},
    {"equal", run_equal},
    {"group", run_group},
    {"tile", run_tile},
    {"tile-of", run_tile_of},
    {"slice", run_slice},
    {"at", run_at},
    {"apply", run_apply},
};

/* clang-format off */
static const struct {
    const char *text, *loose, *outer;
    int         n_iter;
} typical[] = {
    {"(8, 64) : (64, 1)",
     "(2, 4, 8, 8) : (256, 64, 8, 1)",
     "(4, 2) : (2, 1)", 2},
    {"((8, 2), (4, 2)) : ((4@lane, 1@warp), (1@lane, 1@reg)) + [2 : 4@warp] "
     "+ 5@warp",
     "(2, 4, 2, 2, 2, 2) : (16@lane, 4@lane, 1@warp, 2@lane, 1@lane, 1@reg) "
     "+ [2 : 4@warp] + 5@warp",
     "(2, 4) : (4@reg, 1@reg)", 4},
    {"((2, 2, 8, 2), (2, 4, 4, 2)) : ((4@warp, 16@reg, 4@lane, 2@reg), "
     "(1@warp, 4@reg, 1@lane, 1@reg)) + [2 : 2@warp]",
     "(2, 2, 2, 4, 2, 2, 2, 2, 2, 2, 2) : (4@warp, 16@reg, 16@lane, 4@lane, "
     "2@reg, 1@warp, 8@reg, 4@reg, 2@lane, 1@lane, 1@reg) + [2 : 2@warp]",
     "(2, 2) : (1@cta, 1@reg)", 8},
};
/* clang-format on */

static void
die(axe_ctx *cx, const char *what)
{
    fprintf(stderr, "bench_layout: %s: %s\n", what, axe_last_error(cx));
    exit(1);
}

static axe_shape
times(axe_ctx *cx, axe_shape a, axe_shape b)
{
    int64_t *e = axe_new_array(cx, int64_t, a.n);

    for (int k = 0; k < a.n; k++)
        e[k] = a.extent[k] * b.extent[k];
    return (axe_shape){a.n, e};
}

/* What the operations need besides the layout, its loose spelling and outer. */
static void
complete(axe_ctx *cx, subject *s)
{
    s->shape = axe_layout_shape(cx, s->l);
    s->outer_shape = axe_layout_shape(cx, s->outer);
    s->tiled_shape = times(cx, s->outer_shape, s->shape);
    if (axe_layout_tile(cx, s->outer, s->outer_shape, s->l, s->shape,
                        &s->tiled) != AXE_OK)
        die(cx, "tile");
    for (int k = 0; k < 2; k++) {
        s->begin[k] = s->shape.extent[k] / 2;
        s->end[k] = s->shape.extent[k];
    }
}

static subject
typical_subject(axe_ctx *cx, int k)
{
    subject s = {.text = typical[k].text, .n_iter = typical[k].n_iter};

    if (axe_layout_read(cx, typical[k].text, &s.l) != AXE_OK ||
        axe_layout_read(cx, typical[k].loose, &s.loose) != AXE_OK ||
        axe_layout_read(cx, typical[k].outer, &s.outer) != AXE_OK)
        die(cx, typical[k].text);
    complete(cx, &s);
    return s;
}

/* n iters over three axes in two dims; extent 2, and 1 beyond an int64. */
static subject
long_subject(axe_ctx *cx, int n)
{
    static const char *const names[] = {"m", "lane", "reg"};

    subject    s = {.text = "", .n_iter = n};
    axe_iter   it[MAX_ITER], one[] = {{1, 1, 0, 0}, {1, 1, 0, 0}};
    int        end[] = {(n + 1) / 2, n}, two[] = {1, 2};
    axe_layout spec = {.n_shard = n, .shard = it, .n_dim = 2, .dim_end = end};
    axe_layout outer = {.n_shard = 2, .shard = one, .n_dim = 2, .dim_end = two};

    for (int k = 0; k < n; k++) {
        it[k] = (axe_iter){k < 62 ? 2 : 1, 1 + k % 7, 0, 0};
        if (axe_axis_find(cx, AXE_NOWHERE, names[k % 3], &it[k].axis) != AXE_OK)
            die(cx, "axis");
    }
    if (axe_layout_make(cx, &spec, &s.l) != AXE_OK ||
        axe_layout_make(cx, &spec, &s.loose) != AXE_OK ||
        axe_layout_make(cx, &outer, &s.outer) != AXE_OK)
        die(cx, "long layout");
    complete(cx, &s);
    return s;
}

/* ---------------------------------------------------------------- measuring */

/* [ns] of processor time for n of them. */
static double
time_calls(axe_ctx *cx, op_fn *fn, subject *s, int64_t n)
{
    double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);

    for (int64_t i = 0; i < n; i++) {
        axe_mark m = axe_ctx_mark(cx);
        if (fn(cx, s) != AXE_OK)
            die(cx, s->text);
        axe_ctx_release(cx, m);
    }
    return 1e9 * (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
}

/* Median cost of one call; *heap grows by what the context's memory grew. */
static double
measure(axe_ctx *cx, op_fn *fn, subject *s, size_t *heap)
{
    double  ns[REPEATS];
    int64_t n = 16;
    size_t  bytes;

    while (time_calls(cx, fn, s, n) < RUN_NS / 4)
        n *= 2;
    bytes = axe_ctx_bytes(cx);
    for (int r = 0; r < REPEATS; r++)
        ns[r] = time_calls(cx, fn, s, 4 * n) / (double)(4 * n);
    *heap += axe_ctx_bytes(cx) - bytes;
    return median_of(ns, REPEATS);
}

/* One row per operation, one column per subject. */
static int
print_table(axe_ctx *cx, const char *title, int n, subject *s, bool json,
            double target)
{
    size_t heap = 0;
    int    missed = 0;

    if (!json) {
        printf("%-14s", title);
        for (int k = 0; k < n; k++)
            printf("%7d ", s[k].n_iter);
        printf(" iters\n");
    }
    for (int op = 0; op < AXE_LEN(ops); op++) {
        if (!json)
            printf("%-14s", ops[op].name);
        for (int k = 0; k < n; k++) {
            double ns = measure(cx, ops[op].fn, &s[k], &heap);
            bool   slow = target > 0 && ns > target;
            missed += slow;
            if (json)
                printf("{\"bench\": \"layout\", \"table\": \"%s\", \"op\": "
                       "\"%s\", \"iters\": %d, \"ns\": %.1f}\n",
                       title, ops[op].name, s[k].n_iter, ns);
            else
                printf("%7.1f%c", ns, slow ? '!' : ' ');
            fflush(stdout);
        }
        if (!json)
            printf(" ns\n");
    }
    if (json)
        printf("{\"bench\": \"layout\", \"table\": \"%s\", \"heap\": %zu}\n",
               title, heap);
    else
        printf("heap: %zu\n", heap);
    return missed;
}

int
main(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    bool     json = argc == 2 && strcmp(argv[1], "--json") == 0;
    subject  some[AXE_LEN(typical)], more[7];
    int      missed;

    if (!cx || (argc > 1 && !json)) {
        fprintf(stderr, "usage: bench_layout [--json]\n");
        return 2;
    }
    axe_axes_open(cx, true);
    for (int k = 0; k < AXE_LEN(typical); k++)
        some[k] = typical_subject(cx, k);
    for (int k = 0; k < AXE_LEN(more); k++)
        more[k] = long_subject(cx, 1 << k);
    missed = print_table(cx, "typical", AXE_LEN(some), some, json, TARGET_NS);
    if (!json)
        printf("%d of %d over the target of %d ns\n\n", missed,
               AXE_LEN(ops) * AXE_LEN(some), TARGET_NS);
    print_table(cx, "scaling", AXE_LEN(more), more, json, 0);
    axe_ctx_free(cx);
    return 0;
}
