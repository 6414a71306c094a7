/* test_pieces.c - plans of one step, piece by piece: which piece is next, what
 * is there when it is, and what is there in the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "engine/pieces.h"

enum { WIDE = 4 };

typedef struct job {
    const char *src, *dst; /* spreads of rows x WIDE */
    bool        giving, one_by_one;
    int         rows, grain; /* rows of all, and of a piece */
    const char *order[3];    /* first rows, in order, of each rank */
} job;

/* An element of this rank's, or of all ranks' sum. */
static float
value(const job *j, int64_t rank, int64_t at, int turn)
{
    return (float)(100 * (j->giving ? rank + 1 : 1) + at + turn);
}

static float
wanted(const job *j, int64_t size, int64_t at, int turn)
{
    float sum = 0;

    for (int64_t r = 0; r < (j->giving ? size : 1); r++)
        sum += value(j, r, at, turn);
    return sum;
}

/* Rows [4 * rank, ...) are a rank's: blocks of a third, rounded up. */
static int64_t
first_of(const job *j, int64_t rank)
{
    int64_t by = (j->rows + 2) / 3;

    return rank * by < j->rows ? rank * by : j->rows;
}

static axe_status
wrong(axe_engine *e, const char *what, int64_t at, float got, float want)
{
    return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                    "rank %d: %s, element %d is %g, not %g", (int)e->rank, what,
                    (int)at, (double)got, (double)want);
}

/* One turn; writes the first rows of pieces to `order`. */
static axe_status
turn(const job *j, axe_engine *e, engine_pieces *x, float *src, float *dst,
     int number, char *order)
{
    int64_t begin = WIDE * first_of(j, e->rank), from, to;
    int64_t end = WIDE * first_of(j, e->rank + 1);

    *order = '\0';
    for (int64_t i = begin; i < end && !j->giving; i++)
        src[i - begin] = value(j, e->rank, i, number);
    AXE_TRY(engine_pieces_begin(x));
    for (;;) {
        AXE_TRY(engine_pieces_next(x, &from, &to));
        if (from < 0)
            break;
        sprintf(order + strlen(order), "%s%d", *order ? " " : "",
                (int)(from / WIDE));
        for (int64_t i = from; i < to; i++)
            if (j->giving)
                src[i] = value(j, e->rank, i, number);
            else if (dst[i] != wanted(j, e->size, i, number))
                return wrong(e, "a piece", i, dst[i],
                             wanted(j, e->size, i, number));
        AXE_TRY(engine_pieces_done(x));
    }
    AXE_TRY(engine_pieces_end(x));
    for (int64_t i = begin; i < end && j->giving; i++)
        if (dst[i - begin] != wanted(j, e->size, i, number))
            return wrong(e, "the end", i, dst[i - begin],
                         wanted(j, e->size, i, number));
    return axe_engine_barrier(e);
}

static axe_status
pieces_of(const job *j, axe_engine *e, float **src, float **dst,
          engine_pieces **out)
{
    engine_pieces_spec  spec = {.type = AXE_NUMBER_F32,
                                .giving = j->giving,
                                .grain = j->grain * WIDE,
                                .one_by_one = j->one_by_one};
    int64_t             bytes = j->rows * WIDE * (int64_t)sizeof(float);
    axe_reshard_options opt = {.bits = 32};
    const axe_mesh     *m;
    axe_spread          a, b;

    AXE_TRY(axe_mesh_read(e->cx, "x=3", &m));
    AXE_TRY(axe_spread_read(e->cx, m, j->src, &a));
    AXE_TRY(axe_spread_read(e->cx, m, j->dst, &b));
    AXE_TRY(axe_reshard(e->cx, m, &a, &b, &opt, &spec.plan));
    AXE_TRY(axe_engine_alloc(e, bytes, &spec.src));
    AXE_TRY(axe_engine_alloc(e, bytes, &spec.dst));
    *src = spec.src;
    *dst = spec.dst;
    return engine_pieces_new(e, &spec, out);
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    const job     *j = user;
    engine_pieces *x;
    float         *src, *dst;
    char           order[256];

    (void)cx;
    AXE_TRY(pieces_of(j, e, &src, &dst, &x));
    for (int i = 0; i < 5; i++) {
        AXE_TRY(turn(j, e, x, src, dst, i, order));
        if (j->order[e->rank] && strcmp(order, j->order[e->rank]) != 0)
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                            "rank %d goes by '%s', not '%s'", (int)e->rank,
                            order, j->order[e->rank]);
    }
    return AXE_OK;
}

static void
run(const job *j)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.engine = "shm", .n_rank = 3, .timeout_ms = 10000};
    axe_status         st = axe_spmd(cx, &o, on_rank, (void *)(uintptr_t)j);

    if (st != AXE_OK)
        fail_msg("%s to %s: %s", j->src, j->dst, axe_last_error(cx));
    axe_ctx_free(cx);
}

static void
test_giving(void **state)
{
    static const job jobs[] = {
        /* what others need is first, from the next rank's on */
        {"12, 4 + partial(x)",
         "12@x, 4",
         true,
         false,
         12,
         2,
         {"4 6 8 10 0 2", "8 10 0 2 4 6", "0 2 4 6 8 10"}},
        /* pieces over borders are of the first that needs some of them */
        {"10, 4 + partial(x)",
         "10@x, 4",
         true,
         false,
         10,
         3,
         {"3 6 9 0", "6 9 0 3", "0 3 6 9"}},
        {"12, 4 + partial(x)", "12@x, 4", true, true, 12, 2, {NULL}},
        /* two phases, of parts */
        {"12, 4 + partial(x)", "12@x, 4", true, false, 12, 12, {"0", "0", "0"}},
        {"2, 4 + partial(x)",
         "2@x, 4",
         true,
         false,
         2,
         1,
         {"1 0", "0 1", "0 1"}},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(jobs); i++)
        run(&jobs[i]);
}

static void
test_taking(void **state)
{
    static const job jobs[] = {
        /* what is here is first */
        {"12@x, 4",
         "12, 4",
         false,
         false,
         12,
         2,
         {"0 2 8 10 4 6", "4 6 0 2 8 10", "8 10 4 6 0 2"}},
        {"10@x, 4",
         "10, 4",
         false,
         false,
         10,
         3,
         {"0 9 3 6", "0 3 6 9", "9 6 0 3"}},
        {"12@x, 4", "12, 4", false, true, 12, 2, {NULL}},
        {"2@x, 4", "2, 4", false, false, 2, 1, {"0 1", "1 0", "1 0"}},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(jobs); i++)
        run(&jobs[i]);
}

static void
test_too_many(void **state)
{
    static const job j = {
        "300, 4 + partial(x)", "300@x, 4", true, false, 300, 1, {NULL}};
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.engine = "shm", .n_rank = 3};

    (void)state;
    assert_int_equal(axe_spmd(cx, &o, on_rank, (void *)(uintptr_t)&j),
                     AXE_ELIMIT);
    assert_string_equal(axe_last_error(cx),
                        "reshard: rank 0 has 300 pieces; 256 go: make them "
                        "larger");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_giving),
        cmocka_unit_test(test_taking),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
