/* shm_start.c - ranks that are forked: their beginning and their end; and how
 * much memory the host has. */
#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/shm.h"

enum { NAP_US = 200 };

/* Children that are gone have pid 0. */
static const char *
end_text(axe_engine *e, int status)
{
    if (WIFSIGNALED(status))
        return axe_textf(e->cx, "was killed by signal %d (%s)",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return axe_textf(e->cx, "has exited with status %d", WEXITSTATUS(status));
}

const char *
shm_child_end(axe_engine *e, int64_t rank)
{
    shm_state *s = e->state;
    int        status;
    pid_t      pid;

    if (rank == e->rank)
        return NULL;
    if (s->child[rank] == 0)
        return "has ended";
    do
        pid = waitpid(s->child[rank], &status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return NULL;
    s->child[rank] = 0;
    return pid > 0 ? end_text(e, status) : "has ended";
}

static bool
all_gone(axe_engine *e)
{
    shm_state *s = e->state;
    bool       gone = true;

    for (int64_t r = 1; r < e->size; r++)
        if (s->child[r] > 0)
            gone = shm_child_end(e, r) != NULL && gone;
    return gone;
}

void
shm_reap(axe_engine *e, int64_t ms)
{
    shm_state      *s = e->state;
    struct timespec nap = {0, NAP_US * 1000L};
    int64_t         until = engine_now_ms() + ms;

    while (!all_gone(e) && engine_now_ms() < until)
        nanosleep(&nap, NULL);
    for (int64_t r = 1; r < e->size; r++)
        if (s->child[r] > 0) {
            kill(s->child[r], SIGKILL);
            while (waitpid(s->child[r], NULL, 0) < 0 && errno == EINTR)
                ;
            s->child[r] = 0;
        }
}

static void
tell(const axe_engine *e, axe_forking when)
{
    if (e->forking)
        e->forking(e->user, when);
}

static axe_status
fork_all(axe_engine *e)
{
    shm_state *s = e->state;
    pid_t      parent = getpid();
    pid_t     *child = axe_new_array(e->cx, pid_t, e->size);

    s->child = child;
    fflush(NULL);
    for (int64_t r = 1; r < e->size; r++) {
        pid_t pid = fork();

        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(1);
            e->rank = r;
            s->child = NULL;
            tell(e, AXE_IS_CHILD);
            return AXE_OK;
        }
        if (pid < 0) {
            axe_status st = shm_trouble(
                e->cx, axe_textf(e->cx, "starting rank %" PRId64 " of %" PRId64,
                                 r, e->size));
            shm_reap(e, 0);
            return st;
        }
        child[r] = pid;
    }
    return AXE_OK;
}

axe_status
shm_fork(axe_engine *e)
{
    axe_status st;

    tell(e, AXE_FORKING);
    st = fork_all(e);
    if (e->rank == 0)
        tell(e, AXE_FORKED);
    return st;
}

/* ------------------------------------------------------------------- memory */

/* The number behind `key` in a file of the system, times `unit`; -1: there is
 * none. */
static int64_t
read_file(const char *path, const char *key, int64_t unit)
{
    FILE   *f = fopen(path, "re");
    char    line[128];
    int64_t v = -1;
    size_t  n = strlen(key);

    while (f && v < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0) {
            char     *end;
            long long x = strtoll(line + n, &end, 10);

            v = end > line + n ? x * unit : -1;
        }
    if (f)
        fclose(f);
    return v;
}

axe_status
shm_check_memory(axe_ctx *cx, int64_t bytes)
{
    int64_t there = read_file("/proc/meminfo", "MemAvailable:", 1024);
    int64_t most = read_file("/sys/fs/cgroup/memory.max", "", 1);
    int64_t used = read_file("/sys/fs/cgroup/memory.current", "", 1);

    if (most >= 0 && used >= 0 && (there < 0 || most - used < there))
        there = most - used;
    if (there >= 0 && bytes > there)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "engine shm: all ranks together want %" PRId64
                        " MiB of shared memory, and the host has %" PRId64
                        " left",
                        bytes >> 20, there >> 20);
    return AXE_OK;
}
#else
typedef int axe_engine_is_of_linux;
#endif
