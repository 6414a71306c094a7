/* place.c - which line of a text a driver's compiler complains of, and
 * what of a kernel that comes from.
 *
 * Compilers write FILE:LINE:COLUMN: error: ..., with names of their own for the
 * file.  A text of ours names the statement above its lines in a comment, so
 * that it tells where it comes from by itself, whatever file the kernel is in.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "run/opencl/opencl_int.h"

#define STATEMENT "/* statement "

/* The line of an error, which :LINE:COLUMN: stands before; 0: none. */
static long
line_of_error(const char *log)
{
    for (const char *s = log; (s = strstr(s, "error")); s++) {
        const char *at = s;
        for (int colons = 0; at > log && at[-1] != '\n'; at--)
            if (at[-1] == ':' && ++colons == 3)
                break;
        if (isdigit((unsigned char)*at) && at > log && at[-1] == ':')
            return strtol(at, NULL, 10);
    }
    return 0;
}

/* One line, without the blanks around it. */
static const char *
trim(axe_ctx *cx, const char *s, size_t n)
{
    enum { MOST = 300 };

    while (n > 0 && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        n--;
    return axe_text_plain(cx,
                          axe_textf(cx, "%.*s", (int)(n < MOST ? n : MOST), s));
}

/* "statement 0, line 8: C[m, n] +=" of a line that is its comment. */
static const char *
statement_of(axe_ctx *cx, const char *line)
{
    const char *text = line + strlen("/* "), *end = strstr(line, " */");

    return trim(cx, text, end ? (size_t)(end - text) : strlen(text));
}

void
axe_cl_note_place(axe_ctx *cx, const char *text, const char *log)
{
    long        line = line_of_error(log), at = 1;
    const char *from = NULL;

    for (const char *s = text; line > 0 && *s; at++) {
        size_t      n = strcspn(s, "\n");
        const char *word = trim(cx, s, n);
        if (strncmp(word, STATEMENT, strlen(STATEMENT)) == 0)
            from = word;
        else if (strncmp(word, "kernel ", strlen("kernel ")) == 0)
            from = NULL;
        if (at == line) {
            axe_note(cx, AXE_NOWHERE, "line %ld of the text: %s", line, word);
            if (from)
                axe_note(cx, AXE_NOWHERE, "it is of %s of the kernel",
                         statement_of(cx, from));
            return;
        }
        s += n + (s[n] == '\n');
    }
}
