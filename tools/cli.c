/* cli.c - terminals, messages, files: what all verbs of the command need.  The
 * only part of the project that prints on its own. */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axe.h"
#include "axe/machine.h"
#include "run/array/file.h"

bool
axe_tool_color(int fd)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

int
axe_tool_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return 1 << 20;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

int
axe_tool_report(axe_ctx *cx)
{
    axe_mark m = axe_ctx_mark(cx);
    axe_buf  b = {.cx = cx};

    fflush(stdout);
    axe_diags_print(cx, &b, axe_tool_color(STDERR_FILENO));
    if (b.len > 0)
        fwrite(b.text, 1, b.len, stderr);
    axe_ctx_release(cx, m);
    return AXE_EXIT_FAIL;
}

int
axe_tool_do(axe_tool_work *work, void *user)
{
    axe_ctx *cx = axe_ctx_new();
    bool     speaks = true;
    int      code = AXE_EXIT_OK;

    if (!cx)
        return axe_tool_finish(AXE_EXIT_FAIL);
    if (work(cx, user, &speaks) != AXE_OK)
        code = speaks ? axe_tool_report(cx) : AXE_EXIT_FAIL;
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}

long long
axe_tool_number(const char *text, long long most)
{
    char     *end;
    long long n = strtoll(text, &end, 10);

    return *text && !*end && n > 0 && n <= most ? n : 0;
}

int
axe_tool_usage(const char *verb, const char *fmt, ...)
{
    axe_ctx *cx = axe_ctx_new();
    char     text[1024];
    va_list  ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "axe%s%s: %s", verb ? " " : "", verb ? verb : "",
            cx ? axe_text_plain(cx, text) : "wrong command line");
    axe_ctx_free(cx);
    fprintf(stderr, "\n  help: 'axe %s%s--help' explains\n", verb ? verb : "",
            verb ? " " : "");
    return AXE_EXIT_USAGE;
}

/* Is it no option, but a text that begins as one does? */
static bool
is_text(const char *said)
{
    return said[0] == '-' && said[strcspn(said, " ():[]{},")] != '\0' &&
           !strchr(said, '=');
}

/* --name or --name=value, as known ones are written. */
int
axe_tool_wrong(char *const *argv, const struct option *known)
{
    enum { MAX_KNOWN = 64, MAX_NAME = 64 };
    const char *name[MAX_KNOWN], *near = NULL, *verb = argv[0] + 4;
    const char *said = optind > 0 ? argv[optind - 1] : "";
    char        word[MAX_NAME] = "";
    size_t      len = strncmp(said, "--", 2) == 0 ? strcspn(said, "=") : 0;
    int         n = 0;

    for (; known[n].name && n < MAX_KNOWN; n++)
        name[n] = known[n].name;
    if (len > 2 && len < MAX_NAME) {
        memcpy(word, said + 2, len - 2);
        near = axe_nearest(word, n, name);
    }
    if (is_text(said) || (argv[optind] && is_text(argv[optind]))) {
        fprintf(stderr,
                "  help: a text that begins with '-' goes behind '--', as in "
                "axe %s -- '-..'\n",
                verb);
        return AXE_EXIT_USAGE;
    }
    if (!near || strcmp(near, word) == 0)
        return axe_tool_usage(verb, "wrong option");
    fprintf(stderr, "  help: did you mean '--%s'?\n", near);
    return AXE_EXIT_USAGE;
}

axe_status
axe_tool_write(axe_ctx *cx, const char *path, const char *bytes, size_t n)
{
    if (strcmp(path, "-") != 0)
        return axe_file_write(cx, path, 0666, bytes, n);
    if (fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                    "standard output: cannot write: %s", strerror(errno));
}

/* What is left of a path without `.`, its folder asked of the system. */
static bool
folder_of(const char *path, struct stat *folder, const char **name)
{
    const char *slash = strrchr(path, '/');
    char        text[4096];

    *name = slash ? slash + 1 : path;
    if (slash && (size_t)snprintf(text, sizeof text, "%.*s",
                                  (int)(slash - path) + 1, path) >= sizeof text)
        return false;
    return stat(slash ? text : ".", folder) == 0;
}

bool
axe_tool_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const char *p, *q;

    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
               x.st_ino == y.st_ino;
    return folder_of(a, &x, &p) && folder_of(b, &y, &q) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino && strcmp(p, q) == 0;
}

axe_status
axe_tool_check_output(axe_ctx *cx, const char *out, const char *in)
{
    if (!out || strcmp(out, "-") == 0 || !axe_tool_same_file(out, in))
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s is what is read; the output would replace it", out);
}

int
axe_tool_finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "axe: cannot write to standard output: %s\n",
            strerror(errno));
    return AXE_EXIT_FAIL;
}

axe_status
axe_tool_axes(axe_ctx *cx, const char *machine, bool strict)
{
    if (machine) {
        const axe_axis_table *t = axe_machine_axes(machine);

        if (!t)
            return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                            "there is no machine '%s'", machine);
        AXE_TRY(axe_axes_load(cx, t));
    }
    axe_axes_open(cx, !strict);
    return AXE_OK;
}

axe_status
axe_tool_layout(axe_ctx *cx, const char *name, const char *text,
                const axe_layout **out)
{
    axe_value v;

    AXE_TRY(axe_expr_eval(cx, name, text, NULL, &v));
    if (v.kind != AXE_VALUE_LAYOUT)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE, "%s is no layout but %s",
                        name, axe_value_text(cx, &v));
    *out = v.layout;
    return AXE_OK;
}

bool
axe_tool_layout_arg(int c, axe_layout_args *out)
{
    out->json = out->json || c == 'j';
    out->strict = out->strict || c == 's';
    if (c == 'm')
        out->machine = optarg;
    return c == 'j' || c == 's' || c == 'm';
}
