/* cc.c - finding and running the C compiler.
 *
 * The printed C is straight-line code without headers, for which gcc's -O1
 * with -fexpensive-optimizations (it forms the fused multiply-adds) gives the
 * code of -O2 in three quarters of the time.  -nostdlib: kernels call nothing
 * but what the process has anyway (memcpy, memset, expf), and linking is
 * shorter.  The compiler is spawned without a shell, reads nothing, and
 * everything it says comes through one pipe. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/cc.h"

extern char **environ;

enum { MAX_WORD = 32, MAX_SAID = 4096, MAX_LINE = 8 };

/* Where gcc's model of the processor has cheap moves between integer and vector
 * registers (Zen), it keeps addresses in the latter and a sum of the innermost
 * loop in memory, which halves its speed. */
#if defined(__x86_64__)
#define GCC_TUNE "-mtune=icelake-server"
#else
#define GCC_TUNE "-O1"
#endif

static const char *const gcc_flag[] = {"-O1",
                                       "-fexpensive-optimizations",
                                       "-march=native",
                                       GCC_TUNE,
                                       "-fno-math-errno",
                                       "-fPIC",
                                       "-shared",
                                       "-nostdlib",
                                       "-pipe",
                                       "-w"};

static const char *const clang_flag[] = {
    "-O1",   "-march=native", "-fno-math-errno", "-ffp-contract=fast",
    "-fPIC", "-shared",       "-nostdlib",       "-pipe",
    "-w"};

static const char *const default_cc[] = {"gcc", "clang", "cc"};

/* ----------------------------------------------------------------- finding */

static bool
executable(const char *path, struct stat *s)
{
    return stat(path, s) == 0 && S_ISREG(s->st_mode) && access(path, X_OK) == 0;
}

/* The file that the name stands for, NULL if there is none. */
static const char *
search(axe_ctx *cx, const char *name, struct stat *s)
{
    const char *p = getenv("PATH");

    if (strchr(name, '/'))
        return executable(name, s) ? name : NULL;
    while (p && *p) {
        size_t      n = strcspn(p, ":");
        const char *path =
            axe_textf(cx, "%.*s/%s", n < INT_MAX ? (int)n : 0, p, name);
        if (n > 0 && executable(path, s))
            return path;
        p += n + (p[n] == ':');
    }
    return NULL;
}

const char *
axe_command_find(axe_ctx *cx, const char *name)
{
    struct stat s;

    return search(cx, name, &s);
}

static int
split(axe_ctx *cx, const char *text, const char *word[MAX_WORD])
{
    int n = 0;

    while (n < MAX_WORD) {
        text += strspn(text, " \t");
        size_t len = strcspn(text, " \t");
        if (len == 0)
            break;
        word[n++] = axe_textf(cx, "%.*s", len < INT_MAX ? (int)len : 0, text);
        text += len;
    }
    return n;
}

/* Flags of the family that the executable's name tells: our own, then the
 * user's, which so have the last word. */
static void
set_flags(axe_ctx *cx, axe_cc *cc, const char *name, int n_more,
          const char *const *more)
{
    const char *base = strrchr(cc->path, '/');
    bool        clang =
        strstr(base ? base : cc->path, "clang") || strstr(name, "clang");
    int                n = clang ? AXE_LEN(clang_flag) : AXE_LEN(gcc_flag);
    const char *const *ours = clang ? clang_flag : gcc_flag;
    const char       **flag = axe_new_array(cx, const char *, n + n_more);

    for (int i = 0; i < n + n_more; i++)
        flag[i] = i < n ? ours[i] : more[i - n];
    cc->n_flag = n + n_more;
    cc->n_own = n;
    cc->flag = flag;
}

/* True, with *out set, if `command` starts with the name of a compiler. */
static bool
try_cc(axe_ctx *cx, const char *command, axe_cc *out)
{
    const char *word[MAX_WORD], *path;
    char        real[PATH_MAX];
    struct stat s;
    int         n = split(cx, command, word);

    path = n > 0 ? search(cx, word[0], &s) : NULL;
    if (!path || !realpath(path, real))
        return false;
    out->path = axe_textf(cx, "%s", path);
    out->id = axe_textf(cx, "%s %lld %lld.%09ld", real, (long long)s.st_size,
                        (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    set_flags(cx, out, real, n - 1, word + 1);
    return true;
}

static axe_status
missing(axe_ctx *cx, const char *what)
{
    axe_status st = axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "%s", what);

    axe_note(cx, AXE_NOWHERE,
             "without one there are the library's own kernels "
             "(gemm, gemv, softmax, layernorm, rmsnorm, ...) "
             "as in kernels/, with their defaults");
    axe_help(cx, "install one ('apt-get install gcc'), or name one in AXE_CC");
    return st;
}

axe_status
axe_cc_find(axe_ctx *cx, const char *wanted, axe_cc *out)
{
    static const char *const variable[] = {"AXE_CC", "CC"};
    const char              *from = "the caller asks";

    for (int i = 0; i < AXE_LEN(variable) && !wanted; i++) {
        wanted = getenv(variable[i]);
        wanted = wanted && *wanted ? wanted : NULL;
        from = variable[i];
    }
    if (wanted && !try_cc(cx, wanted, out))
        return missing(cx, axe_textf(cx,
                                     "no C compiler '%s' (%s for it) can be "
                                     "executed",
                                     wanted, from));
    for (int i = 0; i < AXE_LEN(default_cc) && !wanted; i++)
        if (try_cc(cx, default_cc[i], out))
            return AXE_OK;
    return wanted ? AXE_OK
                  : missing(cx, "kernels for the CPU are compiled by the "
                                "system's C compiler, but none of gcc, clang "
                                "and cc is on PATH");
}

/* ----------------------------------------------------------------- running */

/* Start it; its input is empty and its output goes to `fd`. */
static int
spawn(char *const *argv, int fd, pid_t *pid)
{
    posix_spawn_file_actions_t act;
    int                        e = posix_spawn_file_actions_init(&act);

    if (e != 0)
        return e;
    e = posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
    if (e == 0)
        e = posix_spawn_file_actions_adddup2(&act, fd, 1);
    if (e == 0)
        e = posix_spawn_file_actions_adddup2(&act, fd, 2);
    if (e == 0)
        e = posix_spawn(pid, argv[0], &act, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&act);
    return e;
}

/* All that comes, of which the beginning is kept. */
static void
listen_to(int fd, char said[MAX_SAID])
{
    char    rest[MAX_SAID];
    size_t  len = 0;
    ssize_t n = 1;

    while (n > 0 || (n < 0 && errno == EINTR)) {
        n = read(fd, rest, sizeof rest);
        for (ssize_t i = 0; i < n && len < MAX_SAID - 1; i++)
            said[len++] = rest[i];
    }
    said[len] = '\0';
}

static void
note_said(axe_ctx *cx, const char *said)
{
    for (int i = 0; i < MAX_LINE && *said; i++) {
        size_t n = strcspn(said, "\n");
        axe_note(cx, AXE_NOWHERE, "%.*s", (int)n, said);
        said += n + (said[n] == '\n');
    }
}

static axe_status
judge(axe_ctx *cx, const char *path, int status, const char *said)
{
    axe_status st;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return AXE_OK;
    st = axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "%s failed with %s %d", path,
                  WIFSIGNALED(status) ? "signal" : "exit code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    note_said(cx, said);
    return st;
}

/* Start a command.  The strings are not changed: posix_spawn's type is older
 * than const. */
static axe_status
start(axe_ctx *cx, const char *const *argv, axe_cc_job *job)
{
    int   pipe_fd[2], e;
    pid_t pid = 0;

    if (pipe(pipe_fd) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "%s: no pipe: %s", argv[0],
                        strerror(errno));
    fcntl(pipe_fd[0], F_SETFD, FD_CLOEXEC);
    fcntl(pipe_fd[1], F_SETFD, FD_CLOEXEC);
    e = spawn((char *const *)argv, pipe_fd[1], &pid);
    close(pipe_fd[1]);
    if (e != 0) {
        close(pipe_fd[0]);
        return axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "%s cannot be run: %s",
                        argv[0], strerror(e));
    }
    *job = (axe_cc_job){.path = argv[0], .pid = (int)pid, .fd = pipe_fd[0]};
    return AXE_OK;
}

static axe_status
no_output(axe_ctx *cx, const char *cc)
{
    axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
             "%s ended as if all were well, but has written nothing: it is no "
             "C compiler",
             cc);
    axe_help(cx, "name one in AXE_CC; without it gcc, clang or cc is taken");
    return AXE_ETOOL;
}

axe_status
axe_cc_wait(axe_ctx *cx, axe_cc_job *job)
{
    char said[MAX_SAID];
    int  e, status = 0;

    listen_to(job->fd, said);
    close(job->fd);
    while ((e = waitpid(job->pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (e < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "%s: lost: %s", job->path,
                        strerror(errno));
    AXE_TRY(judge(cx, job->path, status, said));
    return job->out && access(job->out, R_OK) != 0 ? no_output(cx, job->path)
                                                   : AXE_OK;
}

axe_status
axe_command_run(axe_ctx *cx, const char *const *argv)
{
    axe_cc_job job;

    AXE_TRY(start(cx, argv, &job));
    return axe_cc_wait(cx, &job);
}

axe_status
axe_cc_start(axe_ctx *cx, const axe_cc *cc, const char *source,
             const char *extra, const char *out, axe_cc_job *job)
{
    const char **argv = axe_new_array(cx, const char *, cc->n_flag + 6);
    int          n = 0;

    argv[n++] = cc->path;
    for (int i = 0; i < cc->n_flag; i++)
        argv[n++] = cc->flag[i];
    argv[n++] = "-o";
    argv[n++] = out;
    argv[n++] = source;
    if (extra)
        argv[n++] = extra;
    AXE_TRY(start(cx, argv, job));
    job->out = out;
    return AXE_OK;
}

axe_status
axe_cc_compile(axe_ctx *cx, const axe_cc *cc, const char *source,
               const char *extra, const char *out)
{
    axe_cc_job job;

    AXE_TRY(axe_cc_start(cx, cc, source, extra, out, &job));
    return axe_cc_wait(cx, &job);
}

axe_status
axe_cc_object(axe_ctx *cx, const axe_cc *cc, const char *source,
              const char *out)
{
    static const char *const flag[] = {"-O2",   "-fwrapv", "-ffp-contract=fast",
                                       "-fPIC", "-w",      "-fno-math-errno",
                                       "-c"};
    int          n = 1 + AXE_LEN(flag), n_user = cc->n_flag - cc->n_own;
    const char **argv = axe_new_array(cx, const char *, n + n_user + 4);

    argv[0] = cc->path;
    for (int i = 0; i < AXE_LEN(flag); i++)
        argv[1 + i] = flag[i];
    for (int i = 0; i < n_user; i++)
        argv[n++] = cc->flag[cc->n_own + i];
    argv[n++] = "-o";
    argv[n++] = out;
    argv[n++] = source;
    return axe_command_run(cx, argv);
}

axe_status
axe_cc_archive(axe_ctx *cx, const char *object, const char *out)
{
    const char *ar = axe_command_find(cx, "ar");
    axe_status  st;

    if (ar)
        return axe_command_run(cx,
                               (const char *[]){ar, "rcsD", out, object, NULL});
    st = axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
                  "%s: archives are made by ar, which is not on PATH", out);
    axe_help(cx, "install it ('apt-get install binutils')");
    return st;
}
