/* test_gpu_queues.c - words by which ranks' streams wait for one another, on
 * the driver of the tests that has streams (tests/ptx): what they end with
 * where a rank has failed. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "engine/memory.h"
#include "run/gpu/heap.h"
#include "run/gpu/memory.h"

typedef struct told {
    char        said[256]; /* what rank 0 ended with; "" if well */
    atomic_bool stopped;   /* rank 1's streams have come to their ends */
    int         left[2];   /* that each rank's driver still has */
} told;

static told *tells;

/* So long that it has seen nothing before. */
static void
await_stopped(void)
{
    enum { NAP_US = 1000, MOST = 10000 };

    for (int i = 0; i < MOST && !atomic_load(&tells->stopped); i++)
        usleep(NAP_US);
}

static int
n_left(void)
{
    void *driver = dlopen(PTX_CUDA, RTLD_NOW | RTLD_LOCAL), *at;
    int (*left)(void);

    assert_non_null(driver);
    at = dlsym(driver, "fake_left");
    memcpy(&left, &at, sizeof left);
    return left();
}

/* Rank 0 waits for rank 1, which waits for what rank 0 never says.  Where it
 * fails, its stream goes on, and says so to rank 0 all the same. */
static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    const bool     *fails = user;
    uint32_t        count = e->posted + 1;
    axe_gpu        *g;
    axe_gpu_memory *x;
    engine_memory  *m;
    axe_status      st;

    AXE_TRY(axe_gpu_of_rank(cx, e, NULL, &g));
    AXE_TRY(axe_gpu_memory_new(cx, e, g, 4096, false, &x));
    m = e->memory;
    assert_non_null(m->queues);
    if (e->rank == 1 && *fails)
        AXE_TRY(m->queues->hear(m, 0, count));
    if (e->rank == 1)
        AXE_TRY(m->queues->say(m, 0, count));
    if (e->rank == 1 && *fails) {
        (e->ops->fail)(e, "rank 1 is ill");
        m->queues->stop(m);
        atomic_store(&tells->stopped, true);
        st = axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "rank 1 is ill");
    } else {
        st = e->rank == 0 ? m->queues->hear(m, 1, count) : AXE_OK;
        if (*fails)
            await_stopped();
        if (st == AXE_OK)
            st = m->queues->finish(m);
        if (st != AXE_OK) {
            snprintf(tells->said, sizeof tells->said, "%s", axe_last_error(cx));
            m->queues->stop(m);
        }
    }
    if (st == AXE_OK)
        st = axe_engine_barrier(e);
    axe_gpu_memory_free(x);
    tells->left[e->rank] = n_left();
    axe_gpu_free(g);
    return st;
}

/* In a process of its own: one that has started the driver forks no ranks. */
static const char *
end_of(bool fails)
{
    int   status = 1;
    pid_t pid;

    memset(tells, 0, sizeof *tells);
    pid = fork();
    if (pid == 0) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = 2, .timeout_ms = 10000};

        _exit((axe_spmd(cx, &o, on_rank, &fails) != AXE_OK) == fails ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(tells->left[0], 0);
    assert_int_equal(tells->left[1], 0);
    return tells->said;
}

static void
test_failed(void **state)
{
    (void)state;
    for (int late = 0; late < 8; late++) {
        setenv("PTX_LATE", (char[]){(char)('0' + late), 0}, 1);
        assert_string_equal(end_of(false), "");
        if (late == 1) /* one queue: rank 1's waits for good */
            continue;
        assert_string_equal(end_of(true), "rank 1 is ill");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed),
    };

    setenv("AXE_CUDA", PTX_CUDA, 1);
    tells = mmap(NULL, sizeof *tells, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return tells == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
