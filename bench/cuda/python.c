/* python.c - PyTorch and Triton, in a process of Python that peers.py runs in:
 *
 *     have                      versions of what is there, or "-"
 *     make WHAT NAME=SIZE...    names of contenders, "-" for none
 *     time I N                  milliseconds of one of N calls
 *     drop                      "-"
 *
 * A line goes there and a line comes back.  Where there is no PyTorch, that is
 * said once. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
    b->py = (python){0};
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
python_time(bench *b, int i, int n)
{
    char line[LINE], answer[LINE];

    snprintf(line, sizeof line, "time %d %d", i, n);
    return ask(b, line, answer) ? strtod(answer, NULL) : -1;
}

void
python_drop(bench *b)
{
    char answer[LINE];

    (void)ask(b, "drop", answer);
}
