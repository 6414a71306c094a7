/* cli.c - terminals, messages, files: what all verbs of the command need.  The
 * only part of the project that prints on its own. */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "axe.h"
#include "axe/machine.h"
#include "run/file.h"

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
axe_tool_usage(const char *verb, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "axe%s%s: ", verb ? " " : "", verb ? verb : "");
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\n  help: 'axe %s%s--help' explains\n", verb ? verb : "",
            verb ? " " : "");
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
