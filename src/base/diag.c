/* diag.c - statuses, sources, and the list of diagnostics.
 *
 * Recording never prints.  axe_diags_print turns the list into text with the
 * source line and a caret under the span; tabs are kept in the caret line so
 * that it lines up whatever the terminal's tab width. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx_int.h"
#include "base/text.h"

static const char *const status_name[] = {
#define STATUS(name, text) #name,
#include "axe/status.def"
};

static const char *const status_text[] = {
#define STATUS(name, text) text,
#include "axe/status.def"
};

const char *
axe_status_name(axe_status s)
{
    return (unsigned)s < AXE_N_STATUS ? status_name[s] : "?";
}

const char *
axe_status_text(axe_status s)
{
    return (unsigned)s < AXE_N_STATUS ? status_text[s] : "unknown status";
}

static char *
keep(axe_ctx *cx, const char *text, size_t len)
{
    char *p = axe_alloc_forever(cx, len + 1);

    if (len > 0)
        memcpy(p, text, len);
    return p;
}

int32_t
axe_source_add(axe_ctx *cx, const char *name, const char *text, size_t len)
{
    if (cx->n_source == cx->cap_source) {
        int32_t     cap = cx->cap_source ? 2 * cx->cap_source : 8;
        axe_source *s = axe_alloc_forever(cx, (size_t)cap * sizeof *s);
        if (cx->n_source > 0)
            memcpy(s, cx->source, (size_t)cx->n_source * sizeof *s);
        cx->source = s;
        cx->cap_source = cap;
    }
    cx->source[cx->n_source++] = (axe_source){
        .name = keep(cx, name, strlen(name)),
        .text = keep(cx, text, len),
        .len = len,
    };
    return cx->n_source;
}

const char *
axe_source_name(const axe_ctx *cx, int32_t source)
{
    bool known = source > 0 && source <= cx->n_source;

    return known ? cx->source[source - 1].name : "";
}

const char *
axe_source_text(const axe_ctx *cx, int32_t source, size_t *len)
{
    bool known = source > 0 && source <= cx->n_source;

    *len = known ? cx->source[source - 1].len : 0;
    return known ? cx->source[source - 1].text : "";
}

static void
record(axe_ctx *cx, axe_severity severity, axe_status code, axe_span at,
       const char *text)
{
    axe_diag *d = axe_new(cx, axe_diag);

    *d = (axe_diag){severity, code, at, text, NULL};
    if (cx->last_diag)
        cx->last_diag->next = d;
    else
        cx->first_diag = d;
    cx->last_diag = d;
    cx->n_error += severity == AXE_ERROR;
}

#define RECORD(severity, code, at)                                             \
    do {                                                                       \
        va_list ap;                                                            \
        va_start(ap, fmt);                                                     \
        record(cx, (severity), (code), (at), axe_vtextf(cx, fmt, ap));         \
        va_end(ap);                                                            \
    } while (0)

axe_status
axe_fail(axe_ctx *cx, axe_span at, axe_status code, const char *fmt, ...)
{
    RECORD(AXE_ERROR, code, at);
    return code;
}

axe_status
axe_need_fail(axe_ctx *cx, const char *fn, const char *what, int64_t n)
{
    if (!cx)
        return AXE_EARG;
    if (n == 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: %s is NULL", fn, what);
    if (n > 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: %s is NULL, and %" PRId64 " of it are announced",
                        fn, what, n);
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s: the count for %s is %" PRId64, fn, what, n);
}

void
axe_warn(axe_ctx *cx, axe_span at, const char *fmt, ...)
{
    RECORD(AXE_WARNING, AXE_OK, at);
}

void
axe_note(axe_ctx *cx, axe_span at, const char *fmt, ...)
{
    RECORD(AXE_NOTE, AXE_OK, at);
}

void
axe_help(axe_ctx *cx, const char *fmt, ...)
{
    RECORD(AXE_HELP, AXE_OK, AXE_NOWHERE);
}

const axe_diag *
axe_diags(const axe_ctx *cx)
{
    return cx->first_diag;
}

int
axe_n_error(const axe_ctx *cx)
{
    return cx->n_error;
}

const char *
axe_last_error(const axe_ctx *cx)
{
    const char *text = "";

    for (const axe_diag *d = cx->first_diag; d; d = d->next)
        if (d->severity == AXE_ERROR)
            text = d->text;
    return text;
}

static const struct {
    const char *label, *indent, *color;
} severity_style[] = {
    [AXE_ERROR] = {"error", "", "\033[1;31m"},
    [AXE_WARNING] = {"warning", "", "\033[1;35m"},
    [AXE_NOTE] = {"note", "  ", "\033[1;36m"},
    [AXE_HELP] = {"help", "  ", "\033[1;32m"},
};

/* Line number `line` of a source, without its newline; NULL if it has none. */
static const char *
find_line(const axe_ctx *cx, axe_span at, size_t *len)
{
    size_t      rest;
    const char *s = axe_source_text(cx, at.source, &rest), *end = s + rest;

    for (int32_t k = 1; k < at.line && s; k++) {
        s = memchr(s, '\n', (size_t)(end - s));
        s = s ? s + 1 : NULL;
    }
    if (!s || at.line < 1 || rest == 0)
        return NULL;
    const char *stop = memchr(s, '\n', (size_t)(end - s));
    *len = (size_t)((stop ? stop : end) - s);
    return s;
}

enum { LINE_MAX_SHOWN = 240 };

static void
put_caret(const axe_ctx *cx, axe_buf *out, axe_span at)
{
    size_t      len, col = at.col > 0 ? (size_t)at.col - 1 : 0;
    const char *s = find_line(cx, at, &len);

    if (!s || col > LINE_MAX_SHOWN)
        return;
    len = len < LINE_MAX_SHOWN ? len : LINE_MAX_SHOWN;
    axe_putf(out, "%5d | ", at.line);
    axe_put_plain(out, s, len, false);
    axe_puts(out, "\n      | ");
    for (size_t i = 0; i < col && i < len; i++)
        axe_putc(out, s[i] == '\t' ? '\t' : ' ');
    axe_putc(out, '^');
    for (size_t i = col + 1; i < len && i < col + (size_t)at.len; i++)
        axe_putc(out, '~');
    axe_putc(out, '\n');
}

/* `gemm.axe:17:26: `, or for a place without a line `at NAME COLUMN: `. */
static void
put_place(axe_ctx *cx, axe_buf *out, axe_span at)
{
    const char *name = axe_text_plain(cx, axe_source_name(cx, at.source));

    if (at.line > 0)
        axe_putf(out, "%s%s%d:%d: ", name, at.source > 0 ? ":" : "", at.line,
                 at.col);
    else if (at.source > 0 && at.col > 0)
        axe_putf(out, "at %s %d: ", name, at.col);
    else if (at.source > 0)
        axe_putf(out, "at %s: ", name);
}

/* Is it in the body of an `fn`?  The calls that led there are noted then. */
static bool
in_call(const axe_diag *d)
{
    while (d->next && d->next->severity == AXE_HELP)
        d = d->next;
    return d->next && d->next->severity == AXE_NOTE &&
           strncmp(d->next->text, "in `", 4) == 0;
}

/* An error of an `fn` is found again at every call, with the names that are
 * given there. */
static bool
was_printed(const axe_ctx *cx, const axe_diag *d)
{
    if (d->at.line < 1)
        return false;
    for (const axe_diag *e = cx->first_diag; e != d; e = e->next)
        if (e->at.line == d->at.line && e->at.col == d->at.col &&
            e->at.source == d->at.source && e->severity == d->severity &&
            e->code == d->code && (in_call(d) || strcmp(e->text, d->text) == 0))
            return true;
    return false;
}

/* What belongs to a diagnostic stands behind it, and goes where it goes. */
static void
print(axe_ctx *cx, axe_buf *out, bool color, bool warnings)
{
    bool left = false;

    for (const axe_diag *d = cx->first_diag; d; d = d->next) {
        if (d->severity == AXE_ERROR || d->severity == AXE_WARNING)
            left =
                was_printed(cx, d) || (d->severity == AXE_WARNING && !warnings);
        if (left)
            continue;
        axe_puts(out, severity_style[d->severity].indent);
        put_place(cx, out, d->at);
        axe_putf(out, "%s%s:%s ",
                 color ? severity_style[d->severity].color : "",
                 severity_style[d->severity].label, color ? "\033[0m" : "");
        axe_put_plain(out, d->text, strlen(d->text), true);
        axe_putc(out, '\n');
        put_caret(cx, out, d->at);
    }
}

void
axe_diags_print(axe_ctx *cx, axe_buf *out, bool color)
{
    print(cx, out, color, true);
}

void
axe_errors_print(axe_ctx *cx, axe_buf *out)
{
    print(cx, out, false, false);
}
