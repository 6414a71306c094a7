/* test_engine.c - how ranks end when something goes wrong: each case in a
 * process of its own, with the text that all end with, in seconds, and nothing
 * left behind. */
#include "rank_tests.h"

static axe_status
rank_is_killed(axe_ctx *cx, axe_engine *e, void *user)
{
    (void)cx, (void)user;
    if (axe_engine_rank(e) == 2)
        raise(SIGKILL);
    return axe_engine_barrier(e);
}

static axe_status
rank_exits(axe_ctx *cx, axe_engine *e, void *user)
{
    (void)cx, (void)user;
    if (axe_engine_rank(e) == 1)
        _exit(3);
    return axe_engine_barrier(e);
}

static axe_status
rank_stops(axe_ctx *cx, axe_engine *e, void *user)
{
    (void)cx, (void)user;
    if (axe_engine_rank(e) == 3)
        raise(SIGSTOP);
    return axe_engine_barrier(e);
}

static axe_status
rank_computes_for_ever(axe_ctx *cx, axe_engine *e, void *user)
{
    volatile int on = 1;

    (void)cx, (void)user;
    while (axe_engine_rank(e) == 1 && on)
        ;
    return axe_engine_barrier(e);
}

static axe_status
rank_fails(axe_ctx *cx, axe_engine *e, void *user)
{
    (void)user;
    if (axe_engine_rank(e) == 3)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO, "no file on rank 3");
    return axe_engine_barrier(e);
}

static axe_status
texts_differ(axe_ctx *cx, axe_engine *e, void *user)
{
    (void)user;
    return axe_engine_agree(
        e, "the shape", axe_textf(cx, "%d", axe_engine_rank(e) == 2 ? 7 : 8));
}

static axe_status
sizes_differ(axe_ctx *cx, axe_engine *e, void *user)
{
    void *at;

    (void)cx, (void)user;
    return axe_engine_alloc(e, axe_engine_rank(e) == 1 ? 64 : 128, &at);
}

/* Rank 1 has a text more than the others. */
static axe_status
lists_differ(axe_ctx *cx, axe_engine *e, void *user)
{
    static const char *const text[] = {"M = 8", "K = 4", "N = 2"};

    (void)cx, (void)user;
    return engine_agree_in(e, "what they launch", 2 + (e->rank == 1), text);
}

/* Plans that are alike but for what a device has of the last window. */
static axe_status
windows_differ(axe_ctx *cx, axe_engine *e, void *user)
{
    float                   src[2] = {0}, to[8];
    axe_window              w[4];
    const axe_mesh         *m;
    const axe_reshard_plan *p;
    axe_spread              a, b;
    axe_reshard_options     o = {.bits = 32};

    (void)user;
    for (int q = 0; q < 4; q++)
        w[q] = (axe_window){0, q == 3 && axe_engine_rank(e) == 2 ? 7 : 8};
    AXE_TRY(axe_mesh_read(cx, "x=4", &m));
    AXE_TRY(axe_spread_read(cx, m, "8@x", &a));
    AXE_TRY(axe_spread_read(cx, m, "8", &b));
    AXE_TRY(axe_reshard_within(cx, m, &a, &b, w, &o, &p));
    return axe_reshard_run(e, p, AXE_NUMBER_F32, src, to, NULL);
}

static axe_status
programs_differ(axe_ctx *cx, axe_engine *e, void *user)
{
    (void)cx, (void)user;
    return axe_engine_rank(e) == 1 ? AXE_OK : axe_engine_barrier(e);
}

static axe_status
heap_is_full(axe_ctx *cx, axe_engine *e, void *user)
{
    void *at;

    (void)cx, (void)user;
    AXE_TRY(axe_engine_alloc(e, 1 << 19, &at));
    return axe_engine_alloc(e, (1 << 19) + 1, &at);
}

static axe_status
host_is_full(axe_ctx *cx, axe_engine *e, void *user)
{
    void *at;

    (void)cx, (void)user;
    return axe_engine_alloc(e, (int64_t)1 << 40, &at);
}

static axe_status
plans_differ(axe_ctx *cx, axe_engine *e, void *user)
{
    const char             *dst = axe_engine_rank(e) == 3 ? "8, 4@x" : "8, 4";
    const axe_mesh         *m;
    axe_spread              a, b;
    axe_reshard_options     o = {.bits = 32};
    const axe_reshard_plan *p;
    int32_t                 src[32] = {0}, to[32];

    (void)user;
    AXE_TRY(axe_mesh_read(cx, "x=4", &m));
    AXE_TRY(axe_spread_read(cx, m, "8@x, 4", &a));
    AXE_TRY(axe_spread_read(cx, m, dst, &b));
    AXE_TRY(axe_reshard(cx, m, &a, &b, &o, &p));
    return axe_reshard_run(e, p, AXE_NUMBER_I32, src, to, NULL);
}

static axe_status
mesh_is_another(axe_ctx *cx, axe_engine *e, void *user)
{
    const axe_mesh         *m;
    axe_spread              a;
    axe_reshard_options     o = {.bits = *(int *)user};
    const axe_reshard_plan *p;
    int32_t                 src[8] = {0}, to[8];

    AXE_TRY(axe_mesh_read(cx, "x=2", &m));
    AXE_TRY(axe_spread_read(cx, m, "8@x", &a));
    AXE_TRY(axe_reshard(cx, m, &a, &a, &o, &p));
    return axe_reshard_run(e, p, AXE_NUMBER_F32, src, to, NULL);
}

static int bits32 = 32, bits16 = 16;

/* clang-format off */
static const struct {
    const char  *name;
    axe_rank_fn *fn;
    void        *user;
    int64_t      heap, timeout_ms;
    axe_status   code;
    const char  *want; /* in the text */
} faults[] = {
    {"killed",    rank_is_killed,         NULL,    0, 0,   AXE_EDEVICE, "rank 2 of 4 was killed by signal 9 (Killed), while rank 0 waits for it in a barrier"},
    {"exits",     rank_exits,             NULL,    0, 0,   AXE_EDEVICE, "rank 1 of 4 has exited with status 3, while rank 0 waits for it in"},
    {"stops",     rank_stops,             NULL,    0, 300, AXE_EDEVICE, "of 4 waited 0.3 s for rank 3 in"},
    {"computes",  rank_computes_for_ever, NULL,    0, 300, AXE_EDEVICE, "of 4 waited 0.3 s for rank 1 in"},
    {"fails",     rank_fails,             NULL,    0, 0,   AXE_EDEVICE, "no file on rank 3"},
    {"texts",     texts_differ,           NULL,    0, 0,   AXE_EARG,    "ranks differ in the shape: rank 0 has 8, rank 2 has 7"},
    {"sizes",     sizes_differ,           NULL,    0, 0,   AXE_EARG,    "rank 1 allocates 64 bytes of symmetric memory, rank 0 128"},
    {"lists",     lists_differ,           NULL,    0, 0,   AXE_EARG,    "ranks differ in what they launch: rank 0 has nothing more, rank 1 has N = 2"},
    {"windows",   windows_differ,         NULL,    0, 0,   AXE_EARG,    "ranks differ in the plan: rank 0 has 'x=4' from '"},
    {"programs",  programs_differ,        NULL,    0, 0,   AXE_EARG,    "ranks do different things: rank"},
    {"plans",     plans_differ,           NULL,    0, 0,   AXE_EARG,    "ranks differ in the plan: rank 0 has 'x=4' from '"},
    {"heap",      heap_is_full,           NULL,    0, 0,   AXE_ELIMIT,  "524289 bytes of symmetric memory, of which 524288 of 1048576 are left"},
    {"host",      host_is_full,           NULL,    (int64_t)1 << 40, 0, AXE_EIO, "all ranks together want 4194304 MiB of shared memory, and the host has"},
    {"addresses", all_to_all,             NULL,    (int64_t)1 << 60, 0, AXE_EIO, "mapping 4611686018427"},
    {"mesh",      mesh_is_another,        &bits32, 0, 0,   AXE_EARG,    "a mesh of 2 devices, and 4 ranks"},
    {"bits",      mesh_is_another,        &bits16, 0, 0,   AXE_EARG,    "elements of the plan have 16 bits, f32 has 32"},
};
/* clang-format on */

/* Is it what fault i should say?  How the first two's ranks ended rank 0 knows,
 * which may have no turn in time: then another says that it has. */
static bool
says(const char *text, int i)
{
    return strstr(text, faults[i].want) ||
           (i < 2 && strstr(text, "has ended, while rank"));
}

static void
test_faults(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(faults); i++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = 4,
                                .heap = faults[i].heap,
                                .timeout_ms = faults[i].timeout_ms};
        double             t = now();
        axe_status         st = axe_spmd(cx, &o, faults[i].fn, faults[i].user);

        t = now() - t;
        if (st != faults[i].code || !says(axe_last_error(cx), i) || t > 5 ||
            axe_n_error(cx) > 1 || waitpid(-1, NULL, WNOHANG) != -1) {
            print_message("%s: %s after %.2f s, %d errors: %s\n",
                          faults[i].name, axe_status_name(st), t,
                          axe_n_error(cx), axe_last_error(cx));
            n_wrong++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(n_wrong, 0);
    assert_int_equal(left_behind(), 0);
}

/* A heap that is too small has a way out, in numbers. */
static void
test_help(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 4, .heap = 1};
    const axe_diag    *d;

    (void)state;
    assert_int_equal(axe_spmd(cx, &o, heap_is_full, NULL), AXE_ELIMIT);
    d = axe_diags(cx);
    assert_string_equal(d->text, "engine: 524288 bytes of symmetric memory, of "
                                 "which 64 of 64 are left");
    assert_non_null(d->next);
    assert_int_equal(d->next->severity, AXE_HELP);
    assert_string_equal(d->next->text,
                        "ranks need a heap of 524288 bytes so far: "
                        "axe.spmd(heap=...) in Python, `heap` of "
                        "axe_engine_options in C");
    axe_ctx_free(cx);
}

/* ------------------------------------------------------- rank 0 is taken away
 */

static axe_status
tell_and_sleep(axe_ctx *cx, axe_engine *e, void *user)
{
    _Atomic int *pid = user;

    (void)cx;
    atomic_store(&pid[axe_engine_rank(e)], getpid());
    AXE_TRY(axe_engine_barrier(e));
    if (axe_engine_rank(e) == 0)
        raise(SIGKILL);
    return axe_engine_barrier(e);
}

static void
test_first_is_killed(void **state)
{
    _Atomic int *pid = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int          status, alive = 1;
    pid_t        child = fork();

    (void)state;
    if (child == 0) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = 4};

        _exit(axe_spmd(cx, &o, tell_and_sleep, (void *)pid) != AXE_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    for (int i = 0; i < 200 && alive; i++) {
        alive = 0;
        for (int r = 1; r < 4; r++) {
            char  path[32], line[256] = "";
            FILE *f;

            assert_int_not_equal(atomic_load(&pid[r]), 0);
            snprintf(path, sizeof path, "/proc/%d/stat", atomic_load(&pid[r]));
            f = fopen(path, "r");
            alive += f && fgets(line, sizeof line, f) && !strstr(line, ") Z ");
            if (f)
                fclose(f);
        }
        usleep(10000);
    }
    assert_int_equal(alive, 0);
    assert_int_equal(left_behind(), 0);
    munmap((void *)pid, 4096);
}

/* A limit on files, and on processes or addresses, is a text. */
static void
test_limits(void **state)
{
    static const struct {
        int         what;
        rlim_t      limit;
        const char *want;
    } row[] = {
        {RLIMIT_FSIZE, 4096, "this process may have files of 4096 (ulimit -f)"},
        {RLIMIT_NOFILE, 3, "bytes of shared memory: Too many open files"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        int   status;
        pid_t child = fork();

        if (child == 0) {
            axe_ctx           *cx = axe_ctx_new();
            axe_engine_options o = {.n_rank = 2};
            struct rlimit      l = {row[i].limit, row[i].limit};
            axe_status         st;

            setrlimit((__rlimit_resource_t)row[i].what, &l);
            st = axe_spmd(cx, &o, all_to_all, NULL);
            if (st != AXE_EIO || !strstr(axe_last_error(cx), row[i].want)) {
                fprintf(stderr, "%s\n", axe_last_error(cx));
                _exit(1);
            }
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* ------------------------------------------------------------------- joined
 */

typedef struct joined {
    axe_rank_fn *fn;
    int          n_come;  /* of 4 */
    int          n_local; /* 0: all */
    int64_t      heap;    /* of rank `other` */
    int          status;
    const char  *want; /* of the one that speaks; NULL: all goes well */
    int          other;
} joined;

/* Four processes that somebody else started; exactly one of them speaks. */
static void
check_joined(const joined *j, int number)
{
    _Atomic int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t        child[4];

    for (int r = 0; r < j->n_come; r++) {
        child[r] = fork();
        if (child[r] == 0) {
            axe_ctx           *cx = axe_ctx_new();
            bool               speaks;
            axe_engine_options o = {.timeout_ms = j->n_come < 4 ? 700 : 20000,
                                    .speaks = &speaks};
            axe_status         st;

            set_variables(axe_textf(
                cx,
                "AXE_RANK=%d AXE_SIZE=4 AXE_LOCAL_RANK=%d AXE_LOCAL_SIZE=%d "
                "AXE_RENDEZVOUS=test.%d.%d",
                r, j->n_local ? r % j->n_local : r, j->n_local ? j->n_local : 4,
                (int)getppid(), number));
            o.heap = r == j->other ? j->heap : 0;
            st = axe_spmd(cx, &o, j->fn, NULL);
            if (speaks)
                atomic_fetch_add(&shared[0], 1);
            if (speaks && (j->want ? !strstr(axe_last_error(cx), j->want)
                                   : st != AXE_OK)) {
                fprintf(stderr, "case %d rank %d: %s\n", number, r,
                        axe_last_error(cx));
                atomic_fetch_add(&shared[1], 1);
            }
            _exit(st != AXE_OK);
        }
    }
    for (int r = 0; r < j->n_come; r++) {
        int status;

        assert_int_equal(waitpid(child[r], &status, 0), child[r]);
        if (!WIFSIGNALED(status))
            assert_int_equal(WEXITSTATUS(status), j->status);
    }
    assert_int_equal(atomic_load(&shared[1]), 0);
    assert_true(atomic_load(&shared[0]) >= 1);
    assert_int_equal(atomic_load(&shared[0]), 1);
    munmap((void *)shared, 4096);
}

static void
test_joined(void **state)
{
    static const joined row[] = {
        {all_to_all, 4, 0, 0, 0, NULL, 0},
        {rank_is_killed, 4, 0, 0, 1, "rank 2 of 4 has ended, while rank", 0},
        {rank_fails, 4, 0, 0, 1, "no file on rank 3", 0},
        {programs_differ, 4, 0, 0, 1, "ranks do different things: rank", 0},
        {all_to_all, 3, 0, 0, 1, "of 4 ranks these did not come in 0.7 s: 3",
         0},
        {all_to_all, 4, 2, 0, 1, "has 2 of 4 ranks here", 0},
        {all_to_all, 4, 0, 4096, 1, "ranks differ: rank 0 is of 4 with 1048576",
         3},
        {all_to_all, 4, 0, 4096, 1,
         "bytes of symmetric memory, rank 1 with 4096", 1},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++)
        check_joined(&row[i], i);
    assert_int_equal(left_behind(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),          cmocka_unit_test(test_help),
        cmocka_unit_test(test_first_is_killed), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_joined),
    };

    set_variables("");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
