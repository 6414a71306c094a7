/* python.c - PyTorch and Triton, in a process of Python that peers.py runs in:
 *
 *     have                      versions of what is there, or "-"
 *     make WHAT NAME=SIZE...    names of contenders, "-" for none
 *     time I N                  milliseconds of one of N calls, and whether the
 *                               host was slower than the GPU: "0.5 0"
 *     drop                      "-"
 *     sync WORD                 WORD
 *
 * A line goes there and a line comes back.  Where there is no PyTorch, that is
 * said once. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"

enum { LINE = 512 };

/* The answer without its end, or NULL. */
static char *
ask(bench *b, const char *line, char answer[LINE])
{
    if (!b->py.to)
        return NULL;
    fprintf(b->py.to, "%s\n", line);
    if (fflush(b->py.to) != 0 || !fgets(answer, LINE, b->py.from))
        return NULL;
    answer[strcspn(answer, "\n")] = '\0';
    return answer;
}

static void
become_python(void)
{
    const char *exe = getenv("PYTHON");

    execlp(exe ? exe : "python3", "python3",
           AXE_SOURCE_DIR "/bench/cuda/peers.py", (char *)NULL);
    _exit(127);
}

static bool
spawn(python *py)
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
        become_python();
    }
    py->child = child;
    close(down[0]);
    close(up[1]);
    fcntl(down[1], F_SETFD, FD_CLOEXEC);
    fcntl(up[0], F_SETFD, FD_CLOEXEC);
    py->to = fdopen(down[1], "w");
    py->from = fdopen(up[0], "r");
    return child > 0 && py->to && py->from;
}

void
python_open(bench *b)
{
    char  line[LINE];
    char *have;

    signal(SIGPIPE, SIG_IGN);
    if (!spawn(&b->py))
        b->py = (python){0};
    have = ask(b, "have", line);
    if (have && strcmp(have, "-") != 0) {
        printf("beside: %s\n", have);
        return;
    }
    printf("no PyTorch and no Triton: not beside them\n");
    python_close(b);
}

void
python_close(bench *b)
{
    if (b->py.to)
        fclose(b->py.to);
    if (b->py.from)
        fclose(b->py.from);
    if (b->py.child > 0) {
        kill(b->py.child, SIGKILL);
        waitpid(b->py.child, NULL, 0);
    }
    b->py = (python){0};
}

/* Reads up to the answer to "sync WORD", for at most so many milliseconds at a
 * time. */
static bool
synced(bench *b, const char *word, int ms)
{
    struct pollfd p = {fileno(b->py.from), POLLIN, 0};
    char          seen[LINE] = "", c;
    size_t        n = 0;

    while (poll(&p, 1, ms) > 0 && read(p.fd, &c, 1) == 1) {
        if (c != '\n') {
            seen[n] = c;
            n = n + 2 < sizeof seen ? n + 1 : n;
            seen[n] = '\0';
            continue;
        }
        if (strcmp(seen, word) == 0)
            return true;
        n = 0;
        seen[0] = '\0';
    }
    return false;
}

void
python_again(bench *b)
{
    enum { PATIENCE_MS = 20000 };
    char word[32], line[LINE];

    if (!b->py.to)
        return;
    snprintf(word, sizeof word, "after-%d", bench_random(&b->seed, 1 << 30));
    if (fprintf(b->py.to, "drop\nsync %s\n", word) > 0 &&
        fflush(b->py.to) == 0 && synced(b, word, PATIENCE_MS))
        return;
    python_close(b);
    if (!spawn(&b->py) || !ask(b, "have", line))
        python_close(b);
}

void
python_make(bench *b, test_case *c)
{
    axe_buf line = {.cx = c->cx};
    char    answer[LINE];

    c->n_python = 0;
    if (!*c->row->peer)
        return;
    axe_putf(&line, "make %s", c->row->peer);
    for (int i = 0; i < c->n_size; i++)
        axe_putf(&line, " %s=%" PRId64, c->size[i].name, c->size[i].value);
    if (!ask(b, line.text, answer) || strcmp(answer, "-") == 0)
        return;
    for (char *s = strtok(answer, " "); s && c->n_python < MAX_PYTHON;
         s = strtok(NULL, " "))
        c->python[c->n_python++] = axe_textf(c->cx, "%s", s);
}

double
python_time(bench *b, int i, int n, bool *host)
{
    char line[LINE], answer[LINE], *rest;

    snprintf(line, sizeof line, "time %d %d", i, n);
    if (!ask(b, line, answer))
        return -1;
    double ms = strtod(answer, &rest);
    *host = strtol(rest, NULL, 10) != 0;
    return ms;
}

void
python_drop(bench *b)
{
    char answer[LINE];

    (void)ask(b, "drop", answer);
}
