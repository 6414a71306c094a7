/* child.c - a part of the benchmark in a process of its own.  It inherits what
 * the parent has read, but no driver: the parent never opens one.  What it adds
 * up comes back through a pipe; one that takes too long is killed. */
#define _POSIX_C_SOURCE 200809L

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"

static void
be_child(bench *b, child_fn *fn, const row *r, FILE *json, summary *sum, int to)
{
    int code = fn(b, r, json, sum);

    fflush(stdout);
    fflush(json);
    if (write(to, sum, sizeof *sum) != (ssize_t)sizeof *sum)
        code = 1;
    _exit(code);
}

/* Until so much came, the other side closed, or time is over; what came. */
static size_t
read_until(int from, void *to, size_t bytes, double end)
{
    struct pollfd p = {from, POLLIN, 0};
    size_t        n = 0;

    while (n < bytes) {
        double  left = end - bench_now();
        ssize_t got;
        if (left <= 0 || poll(&p, 1, (int)(left * 1e3) + 1) <= 0)
            break;
        got = read(from, (char *)to + n, bytes - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    return n;
}

/* How a process ended; NULL: well. */
static const char *
ended(axe_ctx *cx, int status, bool late, double seconds)
{
    if (late)
        return axe_textf(cx, "hung: killed after %.0f s", seconds);
    if (WIFSIGNALED(status))
        return axe_textf(cx, "crashed: %s", strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return axe_textf(cx, "failed with status %d", WEXITSTATUS(status));
    return NULL;
}

const char *
in_child(bench *b, child_fn *fn, const row *r, FILE *json, double seconds,
         summary *sum)
{
    summary found = *sum;
    double  begin = bench_now();
    int     end[2], status = 0;
    pid_t   child;

    fflush(NULL);
    if (pipe(end) != 0)
        return "no pipe";
    child = fork();
    if (child == 0) {
        close(end[0]);
        be_child(b, fn, r, json, sum, end[1]);
    }
    close(end[1]);
    if (child < 0) {
        close(end[0]);
        return "no process";
    }
    size_t n = read_until(end[0], &found, sizeof found, begin + seconds);
    bool   late = n < sizeof found && bench_now() >= begin + seconds;
    close(end[0]);
    if (late)
        kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child)
        return "lost its process";
    if (n == sizeof found)
        *sum = found;
    return ended(b->cx, status, late, seconds);
}
