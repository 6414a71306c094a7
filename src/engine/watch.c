/* watch.c - a limit on what cannot be asked to end: where it takes longer, the
 * process ends, with one text.
 *
 * A thread of its own looks at the clock, since a signal's handler would run
 * inside of what is watched; it takes no signals, and is gone when the watch
 * is. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "engine/watch.h"

enum { LINGER_MS = 1000 };

struct engine_watch {
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  stop;
    bool            stopped;
    struct timespec until;
    const char     *text;
    uint64_t        once; /* the name's hash */
};

#ifdef __linux__
/* Is this the one of its name?  An address that is no file is there as long as
 * the process is. */
static bool
is_first(const engine_watch *w)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int                at = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "axe.late.%u.%016" PRIx64,
             (unsigned)getuid(), w->once);
    return at < 0 ||
           bind(at, (struct sockaddr *)&a,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                            strlen(a.sun_path + 1))) == 0 ||
           errno != EADDRINUSE;
}
#else
static bool
is_first(const engine_watch *w)
{
    (void)w;
    return true;
}
#endif

/* What the process was about to do is not waited for, as by exit(). */
static void
end_process(const engine_watch *w)
{
    size_t          n = is_first(w) ? strlen(w->text) : 0, at = 0;
    ssize_t         done = 1;
    struct timespec linger = {LINGER_MS / 1000, LINGER_MS % 1000 * 1000000L};

    while (at < n && done > 0) {
        done = write(STDERR_FILENO, w->text + at, n - at);
        at += done > 0 ? (size_t)done : 0;
    }
    if (n > 0)
        nanosleep(&linger, NULL);
    _exit(1);
}

static void *
watch(void *user)
{
    engine_watch *w = user;
    int           late = 0;

    pthread_mutex_lock(&w->lock);
    while (!w->stopped && !late)
        late = pthread_cond_timedwait(&w->stop, &w->lock, &w->until);
    if (!w->stopped)
        end_process(w);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool
start(engine_watch *w)
{
    sigset_t           all, was;
    pthread_condattr_t by;
    bool               started;

    pthread_condattr_init(&by);
    pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->stop, &by);
    pthread_condattr_destroy(&by);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    started = pthread_create(&w->thread, NULL, watch, w) == 0;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return started;
}

axe_status
engine_watch_new(axe_ctx *cx, int64_t ms, const char *text, const char *once,
                 engine_watch **out)
{
    engine_watch *w = axe_new(cx, engine_watch);

    w->text = text;
    w->once = axe_text_hash(once, strlen(once));
    clock_gettime(CLOCK_MONOTONIC, &w->until);
    w->until.tv_sec += (time_t)(ms / 1000);
    w->until.tv_nsec += (long)(ms % 1000) * 1000000L;
    if (w->until.tv_nsec >= 1000000000L) {
        w->until.tv_nsec -= 1000000000L;
        w->until.tv_sec++;
    }
    fflush(NULL);
    if (!start(w)) {
        axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                 "engine: no thread to look at the time limit");
        axe_help(cx, "a user may have so many threads: `ulimit -u` says it");
        return AXE_EIO;
    }
    *out = w;
    return AXE_OK;
}

void
engine_watch_free(engine_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->stopped = true;
    pthread_cond_signal(&w->stop);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->stop);
    pthread_mutex_destroy(&w->lock);
}
