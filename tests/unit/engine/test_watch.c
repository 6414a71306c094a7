/* test_watch.c - what does not return ends with its process, in time and with
 * one text; what does leaves nothing of the watch. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/watch.h"

static const char late[] = "error: it is late\nhelp: come earlier\n";

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&t, NULL);
}

static int
n_thread(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char  line[128];
    int   n = 0;

    assert_non_null(f);
    while (n == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %d", &n) != 1)
            n = 0;
    fclose(f);
    return n;
}

static void
child(int64_t ms, long takes, const char *once)
{
    axe_ctx      *cx = axe_ctx_new();
    engine_watch *w;

    if (engine_watch_new(cx, ms, late, once, &w) != AXE_OK)
        _exit(9);
    rest(takes);
    engine_watch_free(w);
    rest(takes);
    axe_ctx_free(cx);
    _exit(7);
}

/* When the last end_of() was told something: the process lingers after that. */
static double heard;

/* In n processes, whose standard error is read: watch for `ms`, by one name or
 * two, what takes `takes`, then rest as long again.  All end alike. */
static int
end_of(int n, int n_name, int64_t ms, long takes, char *said, size_t room)
{
    int     at[2], status, first = -1;
    ssize_t got;
    size_t  len = 0;
    char    name[64];

    assert_int_equal(pipe(at), 0);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "test_watch.%d.%d", (int)getpid(),
                 i % n_name);
        if (fork() == 0) {
            dup2(at[1], STDERR_FILENO);
            close(at[0]);
            close(at[1]);
            child(ms, takes, name);
        }
    }
    close(at[1]);
    while ((got = read(at[0], said + len, room - 1 - len)) > 0) {
        len += (size_t)got;
        heard = now();
    }
    said[len] = '\0';
    close(at[0]);
    for (int i = 0; i < n; i++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_true(first < 0 || first == WEXITSTATUS(status));
        first = WEXITSTATUS(status);
    }
    return first;
}

static void
test_late(void **state)
{
    char   said[256];
    double begin = now();

    (void)state;
    assert_int_equal(end_of(1, 1, 300, 30000, said, sizeof said), 1);
    assert_string_equal(said, late);
    assert_true(heard - begin >= 0.3);
    assert_true(now() - begin < 10);
    begin = now();
    assert_int_equal(end_of(1, 1, 1999, 30000, said, sizeof said), 1);
    assert_true(heard - begin >= 1.999);
}

static void
test_one_speaks(void **state)
{
    char said[512], twice[512];

    (void)state;
    assert_int_equal(end_of(5, 1, 300, 30000, said, sizeof said), 1);
    assert_string_equal(said, late);
    assert_int_equal(end_of(4, 2, 300, 30000, said, sizeof said), 1);
    snprintf(twice, sizeof twice, "%s%s", late, late);
    assert_string_equal(said, twice);
}

/* What was printed is not lost with the process, and comes first. */
static void
test_flushed(void **state)
{
    char    said[256];
    int     at[2], status;
    size_t  len = 0;
    ssize_t got;

    (void)state;
    fflush(NULL);
    assert_int_equal(pipe(at), 0);
    if (fork() == 0) {
        dup2(at[1], STDOUT_FILENO);
        dup2(at[1], STDERR_FILENO);
        close(at[0]);
        close(at[1]);
        printf("what was before\n");
        child(100, 30000, "test_watch.flushed");
    }
    close(at[1]);
    while ((got = read(at[0], said + len, sizeof said - 1 - len)) > 0)
        len += (size_t)got;
    said[len] = '\0';
    close(at[0]);
    assert_true(wait(&status) > 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_string_equal(said, "what was before\nerror: it is late\nhelp: come "
                              "earlier\n");
}

static void
test_in_time(void **state)
{
    char said[256];

    (void)state;
    assert_int_equal(end_of(2, 1, 400, 300, said, sizeof said), 7);
    assert_string_equal(said, "");
}

#ifdef __linux__
/* Of the newest thread, the signals that it does not take, as bits. */
static uint64_t
blocked_by_newest(void)
{
    DIR           *d = opendir("/proc/self/task");
    struct dirent *one;
    long           newest = 0;
    char           line[128];
    uint64_t       mask = 0;
    FILE          *f;

    assert_non_null(d);
    while ((one = readdir(d)))
        if (atol(one->d_name) > newest)
            newest = atol(one->d_name);
    closedir(d);
    snprintf(line, sizeof line, "/proc/self/task/%ld/status", newest);
    f = fopen(line, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "SigBlk: %" SCNx64, &mask) == 1)
            break;
    fclose(f);
    return mask;
}

/* Signals are for the threads that there were. */
static void
test_takes_no_signals(void **state)
{
    static const int some[] = {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM};
    axe_ctx         *cx = axe_ctx_new();
    engine_watch    *w;
    uint64_t         mask;

    (void)state;
    assert_int_equal(engine_watch_new(cx, 1 << 20, late, "n", &w), AXE_OK);
    rest(100); /* a thread begins with all blocked */
    mask = blocked_by_newest();
    engine_watch_free(w);
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        assert_true(mask >> (some[i] - 1) & 1);
    axe_ctx_free(cx);
}
#endif

static void
test_nothing_is_left(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    int      before = n_thread();
    sigset_t was, is;

    (void)state;
    pthread_sigmask(SIG_SETMASK, NULL, &was);
    for (int i = 0; i < 50; i++) {
        engine_watch *w;

        assert_int_equal(engine_watch_new(cx, 1 << 20, late, "n", &w), AXE_OK);
        assert_int_equal(n_thread(), before + 1);
        engine_watch_free(w);
        assert_int_equal(n_thread(), before);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &is);
    for (int s = 1; s < 32; s++)
        assert_int_equal(sigismember(&is, s), sigismember(&was, s));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_one_speaks),
        cmocka_unit_test(test_flushed),
        cmocka_unit_test(test_in_time),
#ifdef __linux__
        cmocka_unit_test(test_takes_no_signals),
#endif
        cmocka_unit_test(test_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
