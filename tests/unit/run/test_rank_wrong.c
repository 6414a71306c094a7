/* test_rank_wrong.c - what is wrong with a launch on ranks that have their
 * parts: on one of them it is the same error on all, which they can go on from;
 * what ends all. */
#define _GNU_SOURCE
#include "ranks.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct wrong {
    int         rank; /* that has it; -1: all */
    axe_status  code;
    const char *says; /* on rank 0 */
    int         param;
    axe_local   local; /* instead, where it has a name, but for memory */
    int         n_size;
    axe_size    size;
} wrong;

#define SHAPE(...)                                                             \
    (const int64_t[])                                                          \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define X(...)                                                                 \
    {                                                                          \
        "X", "f32", 2, SHAPE(__VA_ARGS__), NULL, NULL                          \
    }
#define Y(...)                                                                 \
    {                                                                          \
        "Y", "f32", 1, SHAPE(__VA_ARGS__), NULL, NULL                          \
    }
#define WHOLE(...)                                                             \
    {                                                                          \
        2, SHAPE(__VA_ARGS__)                                                  \
    }

/* 10 rows over 3 devices: 4, 4 and 2. */
static const wrong wrongs[] = {
    {1,
     AXE_ESHAPE,
     "X (dimension 0) is 5 on device 1, where 11@gpu, 4, as it is declared, "
     "has 4; devices have 4, 5, 2",
     0,
     {.array = X(5, 4)},
     0,
     {0}},
    {2,
     AXE_ESHAPE,
     "X (dimension 1) is 3 on device 2, where 10@gpu, 4, as it is declared, "
     "has 4; devices have 4, 4, 3",
     0,
     {.array = X(2, 3)},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "M is 10 from X (dimension 0) but 9 from Y (dimension 0)",
     1,
     {.array = Y(9)},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "X is given as 10, 4 and declared as 10@gpu, 4: device 0 has index 4 of "
     "dimension 0 by what is given alone",
     0,
     {.array = X(10, 4), .layout = "10, 4"},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "X is given as P(None, 'gpu') and declared as 10@gpu, 4: device 0 has "
     "index 4 of dimension 0 by what is given alone",
     0,
     {.array = X(4, 4),
      .layout = "P(None, 'gpu')",
      .format = "jax",
      .whole = WHOLE(10, 4)},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "Y is given as 10@gpu and declared as 10: device 0 has index 4 of "
     "dimension 0 by what is declared alone",
     1,
     {.array = Y(4), .layout = "10@gpu"},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "Y is given as [S(0)] and declared as 10: device 0 has index 4 of "
     "dimension 0 by what is declared alone",
     1,
     {.array = Y(10), .layout = "[S(0)]", .format = "dtensor"},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "S is given as [R] and declared as 4 + partial(gpu): devices hold addends "
     "of it by one of them alone",
     3,
     {.array = {"S", "f32", 1, SHAPE(4), NULL, NULL},
      .layout = "[R]",
      .format = "dtensor"},
     0,
     {0}},
    {-1, AXE_ESYNTAX, "expected", 1, {.array = Y(10), .layout = "10@"}, 0, {0}},
    {-1,
     AXE_ENAME,
     "there is no format 'alpha' of shardings",
     1,
     {.array = Y(10), .layout = "x", .format = "alpha"},
     0,
     {0}},
    {1,
     AXE_ETYPE,
     "rank 1 of 3: Y has elements of f32, not of f64",
     1,
     {.array = {"Y", "f64", 1, SHAPE(10), NULL, NULL}},
     0,
     {0}},
    {2,
     AXE_ESHAPE,
     "rank 2 of 3: Y has 1 dimension, the array given for it 2",
     1,
     {.array = {"Y", "f32", 2, SHAPE(10, 1), NULL, NULL}},
     0,
     {0}},
    {-1,
     AXE_ENAME,
     "kernel k has no parameter 'W'",
     1,
     {.array = {"W", "f32", 1, SHAPE(10), NULL, NULL}},
     0,
     {0}},
    {0, AXE_ENAME, "X is given twice", 1, {.array = X(4, 4)}, 0, {0}},
    {1,
     AXE_ESHAPE,
     "rank 1 of 3: X: what a device has of it is to be row-major",
     0,
     {.array = {"X", "f32", 2, SHAPE(4, 4), SHAPE(1, 4), NULL}},
     0,
     {0}},
    {1,
     AXE_EARG,
     "ranks differ in what they launch: rank 0 has no P, rank 1 has P = 3",
     -1,
     {.array = {0}},
     1,
     {"P", 3}},
    {1,
     AXE_EARG,
     "ranks differ in what they launch: rank 0 has Y as it is declared, rank 1 "
     "has Y as 10",
     1,
     {.array = Y(10), .layout = "10"},
     0,
     {0}},
    {-1,
     AXE_EARG,
     "the mesh has 2 devices, and there are 3",
     -1,
     {.array = {0}},
     1,
     {"P", 2}},
    {-1,
     AXE_ENAME,
     "kernel k has no size 'Q'",
     -1,
     {.array = {0}},
     1,
     {"Q", 2}},
};

/* The launch as it should be, or with the row's change, on this rank. */
static axe_status
launch_two(axe_ctx *cx, axe_engine *e, axe_rank_exec *x, const wrong *w,
           float *z)
{
    static float   data[5][ROWS * COLUMNS];
    static int64_t seven = 7;
    int64_t        first, rank = axe_engine_rank(e);
    int64_t        m = block(ROWS, 3, rank, &first);
    axe_local      local[] = {{.array = X(m, COLUMNS)},
                              {.array = Y(ROWS)},
                              {.array = {"n", "i64", 0, NULL, NULL, &seven}},
                              {.array = {"S", "f32", 1, SHAPE(COLUMNS), NULL, NULL}},
                              {.array = {"Z", "f32", 1, SHAPE(m), NULL, z}}};
    bool           mine = w && (w->rank < 0 || w->rank == rank);

    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[0][i] = data[1][i] = data[3][i] = 1;
    if (mine && w->param >= 0)
        local[w->param] = w->local;
    for (int i = 0; i < 4; i++)
        if (i != 2)
            local[i].array.data = data[i];
    if (!z) /* where X is */
        local[4].array.data = data[0];
    return axe_rank_launch(cx, x, 5, local, mine ? w->n_size : 0,
                           mine ? &w->size : NULL);
}

/* Each row fails on all ranks, and all go on. */
static axe_status
refuse(axe_ctx *cx, axe_engine *e, void *user)
{
    axe_device    *device;
    axe_rank_exec *x;
    float          z[ROWS] = {0};

    AXE_TRY(opened(cx, e, user, &device, &x));
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const wrong *w = &wrongs[i];
        axe_status   st = launch_two(cx, e, x, w, z);

        if (st != w->code || (axe_engine_rank(e) == 0 && w->rank != 0 &&
                              !strstr(axe_last_error(cx), w->says)))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "row %d: %s: \"%s\", not \"%s\"", (int)i,
                            axe_status_name(st), axe_last_error(cx), w->says);
        AXE_TRY(launch_two(cx, e, x, NULL, z));
        if (z[0] != 3 * COLUMNS + 1 + 7)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "row %d: %g", (int)i,
                            z[0]);
    }
    AXE_TRY(axe_rank_exec_free(x));
    axe_device_free(device);
    return AXE_OK;
}

static void
test_refused(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 3, .heap = 1 << 20};

    (void)state;
    if (axe_spmd(cx, &o, refuse, (void *)compile(cx, two, strlen(two), NULL)) !=
        AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

/* ------------------------------------------------- numbers that are unlike */

static const char many[] =
    "mesh gpu[P];\n"
    "kernel k(in f32 X[M @ gpu], in f32 a, in f64 b, in f16 c, in bf16 d,\n"
    "         in f8e8m0 e, in i32 f, in u64 g, in u8 h, out f32 Z[M @ gpu])\n"
    "{ index m; Z[m] = X[m] + a; }\n";

/* Elements of each number on ranks 0 and 1. */
typedef struct numbers {
    float    a;
    double   b;
    uint16_t c, d;
    uint8_t  e;
    int32_t  f;
    uint64_t g;
    uint8_t  h;
} numbers;

static const char *const unlike[] = {
    "rank 0 has a = 0.1, rank 1 has a = inf",
    "rank 0 has b = 0.1, rank 1 has b = 3.3333333333333335e+299",
    "rank 0 has c = 0.1, rank 1 has c = -0",
    "rank 0 has d = 0.1, rank 1 has d = nan of bits 0x7fc1",
    "rank 0 has e = 0.0078, rank 1 has e = nan of bits 0xff",
    "rank 0 has f = -5, rank 1 has f = 5",
    "rank 0 has g = 18446744073709551615, rank 1 has g = 1",
    "rank 0 has h = 200, rank 1 has h = 7"};

/* One that is unlike after the other: each is told, and all go on. */
static axe_status
launch_many(axe_ctx *cx, axe_engine *e, void *user)
{
    static const numbers on[] = {
        {0.1F, 0.1, 0x2e66, 0x3dcd, 120, -5, UINT64_MAX, 200},
        {INFINITY, 1e300 / 3, 0x8000, 0x7fc1, 255, 5, 1, 7}};
    numbers n = on[0], m = on[axe_engine_rank(e)];
    float   x[] = {1}, z[1];
    int64_t rows = axe_engine_rank(e) == 0;
    /* clang-format off */
    axe_local local[] = {{.array = {"X", "f32", 1, SHAPE(rows), NULL, x}},
                         {.array = {"a", "f32", 0, NULL, NULL, &n.a}},
                         {.array = {"b", "f64", 0, NULL, NULL, &n.b}},
                         {.array = {"c", "f16", 0, NULL, NULL, &n.c}},
                         {.array = {"d", "bf16", 0, NULL, NULL, &n.d}},
                         {.array = {"e", "f8e8m0", 0, NULL, NULL, &n.e}},
                         {.array = {"f", "i32", 0, NULL, NULL, &n.f}},
                         {.array = {"g", "u64", 0, NULL, NULL, &n.g}},
                         {.array = {"h", "u8", 0, NULL, NULL, &n.h}},
                         {.array = {"Z", "f32", 1, SHAPE(rows), NULL, z}}};
    void *const other[] = {&m.a, &m.b, &m.c, &m.d, &m.e, &m.f, &m.g, &m.h};
    /* clang-format on */
    axe_device    *device;
    axe_rank_exec *exec;

    AXE_TRY(opened(cx, e, user, &device, &exec));
    for (size_t i = 0; i < sizeof unlike / sizeof unlike[0]; i++) {
        void      *was = local[1 + i].array.data;
        axe_status st;

        local[1 + i].array.data = other[i];
        st = axe_rank_launch(cx, exec, 10, local, 0, NULL);
        local[1 + i].array.data = was;
        if (st != AXE_EARG || !strstr(axe_last_error(cx), unlike[i]))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: \"%s\", not \"%s\"",
                            axe_status_name(st), axe_last_error(cx), unlike[i]);
        AXE_TRY(axe_rank_launch(cx, exec, 10, local, 0, NULL));
    }
    AXE_TRY(axe_rank_exec_free(exec));
    axe_device_free(device);
    return AXE_OK;
}

static void
test_numbers(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 2, .heap = 1 << 20};

    (void)state;
    if (axe_spmd(cx, &o, launch_many,
                 (void *)compile(cx, many, strlen(many), NULL)) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

/* ----------------------------------------------------------- what ends all */

typedef struct ending {
    const char *what, *says;
} ending;

typedef struct end_job {
    const axe_program *p, *other;
    const char        *what;
} end_job;

/* What rank 1 does instead. */
static axe_status
end_here(axe_ctx *cx, axe_engine *e, const end_job *j, axe_rank_exec *x)
{
    struct timespec nap = {30, 0}; /* it is killed before */
    float           z[ROWS];

    if (strcmp(j->what, "exit") == 0)
        _exit(7);
    if (strcmp(j->what, "raise") == 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "my own trouble");
    if (strcmp(j->what, "return") == 0)
        return AXE_OK;
    if (strcmp(j->what, "sleep") == 0)
        nanosleep(&nap, NULL);
    if (strcmp(j->what, "overlap") == 0)
        return launch_two(cx, e, x, NULL, NULL);
    return launch_two(cx, e, x, NULL, z);
}

static axe_status
end(axe_ctx *cx, axe_engine *e, void *user)
{
    const end_job *j = user;
    axe_device    *device;
    axe_rank_exec *x;
    float          z[ROWS];
    bool           mine = axe_engine_rank(e) == 1;
    axe_status     st, end;

    AXE_TRY(opened(cx, e,
                   mine && strcmp(j->what, "kernel") == 0 ? j->other : j->p,
                   &device, &x));
    if (mine)
        return end_here(cx, e, j, x);
    st = launch_two(cx, e, x, NULL, z);
    if (st == AXE_OK)
        st = launch_two(cx, e, x, NULL, z);
    end = axe_rank_exec_free(x);
    axe_device_free(device);
    return st == AXE_OK ? end : st;
}

static int
left_behind(void)
{
    DIR           *d = opendir("/dev/shm");
    struct dirent *x;
    int            n = 0;

    while (d && (x = readdir(d)))
        n += strstr(x->d_name, "axe") != NULL;
    if (d)
        closedir(d);
    return n;
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
test_ends(void **state)
{
    static const ending rows[] = {
        {"exit", "rank 1 of 3 has e"} /* exited, or ended: who saw it first */,
        {"raise", "my own trouble"},
        {"return", "ranks do different things"},
        {"sleep", "waited 0.7 s for rank 1"},
        {"kernel", "ranks differ in what they launch"},
        {"once", "ranks do different things"},
        {"overlap", "Z is written, but its memory overlaps that of X"},
    };
    static char changed[sizeof two];

    (void)state;
    memcpy(changed, two, sizeof two);
    memcpy(strstr(changed, "+ f32"), "- f32", 5); /* of the same signature */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        axe_ctx           *cx = axe_ctx_new();
        end_job            j = {compile(cx, two, strlen(two), NULL),
                                compile(cx, changed, strlen(changed), NULL), rows[i].what};
        axe_engine_options o = {
            .n_rank = 3, .heap = 1 << 20, .timeout_ms = 700};
        double     begin = now();
        axe_status st = axe_spmd(cx, &o, end, &j);

        assert_int_not_equal(st, AXE_OK);
        if (!strstr(axe_last_error(cx), rows[i].says))
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].what, axe_last_error(cx),
                     rows[i].says);
        assert_true(now() - begin < 15);
        assert_int_equal(left_behind(), 0);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
