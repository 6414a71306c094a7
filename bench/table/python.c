/* python.c - NumPy and PyTorch, in a process of Python that peers.py runs in.
 *
 * The process waits at its standard input while others have their turn.  It
 * makes arrays of its own and times itself by the clock that this program
 * uses; a line goes there and a line comes back.  The libraries below NumPy and
 * PyTorch take their number of threads from the environment, once: there is a
 * process for each number. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "table.h"

typedef struct python {
    bool  asked, here;
    FILE *to, *from;
} python;

enum { MOST_THREADS = 2 };

/* Sends a line and returns the number that comes back; -1 where none does. */
static double
ask(const python *py, const char *line)
{
    char answer[128];

    fprintf(py->to, "%s\n", line);
    fflush(py->to);
    return fgets(answer, sizeof answer, py->from) ? strtod(answer, NULL) : -1;
}

static void
become_python(int n_thread)
{
    const char *exe = getenv("PYTHON");
    char        n[16];

    snprintf(n, sizeof n, "%d", n_thread);
    setenv("OPENBLAS_NUM_THREADS", n, 1);
    setenv("OMP_NUM_THREADS", n, 1);
    execl(exe ? exe : AXE_SOURCE_DIR "/tools/python", "python",
          AXE_SOURCE_DIR "/bench/table/peers.py", (char *)NULL);
    _exit(127);
}

static bool
start(python *py, int n_thread)
{
    int down[2], up[2];

    if (pipe(down) != 0 || pipe(up) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(down[0], STDIN_FILENO);
        dup2(up[1], STDOUT_FILENO);
        close(down[1]);
        close(up[0]);
        become_python(n_thread);
    }
    close(down[0]);
    close(up[1]);
    fcntl(down[1], F_SETFD, FD_CLOEXEC);
    fcntl(up[0], F_SETFD, FD_CLOEXEC);
    py->to = fdopen(down[1], "w");
    py->from = fdopen(up[0], "r");
    return child > 0 && py->to && py->from;
}

/* The interpreter, $PYTHON or the one that tools/python finds; NULL if there
 * is none with NumPy. */
static const python *
python_for(int n_thread)
{
    static python all[MOST_THREADS];
    python       *py = &all[n_thread - 1];

    if (!py->asked)
        py->here = start(py, n_thread) && ask(py, "has numpy") > 0;
    py->asked = true;
    return py->here ? py : NULL;
}

static bool
open_numpy(axe_ctx *cx)
{
    (void)cx;
    return python_for(1);
}

static bool
open_torch(axe_ctx *cx)
{
    (void)cx;
    return python_for(1) && ask(python_for(1), "has torch") > 0;
}

typedef struct job {
    const python *py;
    double        number;
} job;

/* "make numpy add 1 f32:64x1024 ..." is answered by the number of a job, or by
 * -1. */
static void *
prepare_python(const problem *p, const char *with)
{
    const python *py = python_for(p->n_thread);
    char          line[1024];
    double        number;
    int n = snprintf(line, sizeof line, "make %s %s %d", with, p->row->kernel,
                     p->n_thread);

    for (int i = 0; i < p->n_array; i++) {
        n += snprintf(line + n, sizeof line - (size_t)n,
                      " %s:", p->array[i].type);
        for (int d = 0; d < p->array[i].rank; d++)
            n += snprintf(line + n, sizeof line - (size_t)n, "%s%" PRId64,
                          d ? "x" : "", p->array[i].shape[d]);
    }
    number = py ? ask(py, line) : -1;
    job *j = number >= 0 ? malloc(sizeof *j) : NULL;
    if (j)
        *j = (job){py, number};
    return j;
}

static void *
prepare_numpy(const problem *p)
{
    return prepare_python(p, "numpy");
}

static void *
prepare_torch(const problem *p)
{
    return prepare_python(p, "torch");
}

static double
timed(void *user, int n)
{
    job *j = user;
    char line[64];

    snprintf(line, sizeof line, "time %.0f %d", j->number, n);
    return ask(j->py, line);
}

static void
done(void *user)
{
    job *j = user;
    char line[64];

    snprintf(line, sizeof line, "free %.0f", j->number);
    (void)ask(j->py, line);
    free(j);
}

const peer numpy_peer = {.name = "numpy",
                         .open = open_numpy,
                         .prepare = prepare_numpy,
                         .timed = timed,
                         .done = done};

const peer torch_peer = {.name = "torch",
                         .open = open_torch,
                         .prepare = prepare_torch,
                         .timed = timed,
                         .done = done};
