/* text.c - what the readers of foreign notations share. */
#include <inttypes.h>
#include <string.h>

#include "convert/text.h"

axe_reader
axe_cv_open(axe_ctx *cx, const char *format, const char *text)
{
    size_t len = strlen(text);

    return (axe_reader){.cx = cx,
                        .source = axe_source_add(cx, format, text, len),
                        .text = text,
                        .len = len};
}

/* What stands here, to be quoted: a name, a number or one character. */
static size_t
token(const axe_reader *r)
{
    size_t n = axe_scan_name_length(r);

    if (n == 0)
        while (r->at + n < r->len && axe_is_digit(r->text[r->at + n]))
            n++;
    return n > 0 ? n : 1;
}

axe_status
axe_cv_expected(axe_reader *r, const char *format, const char *what)
{
    char     c = axe_scan_peek(r);
    size_t   n;
    axe_span at;

    if (r->at >= r->len)
        return axe_fail(r->cx, axe_scan_span(r, r->at, r->at), AXE_ESYNTAX,
                        "%s: expected %s, but the text ends", format, what);
    n = token(r);
    at = axe_scan_span(r, r->at, r->at + n);
    if (c < ' ' || c > '~')
        return axe_fail(r->cx, at, AXE_ESYNTAX,
                        "%s: expected %s, but found byte 0x%02x", format, what,
                        (unsigned)(unsigned char)c);
    return axe_fail(r->cx, at, AXE_ESYNTAX, "%s: expected %s, but found '%.*s'",
                    format, what, n < 40 ? (int)n : 40, r->text + r->at);
}

axe_status
axe_cv_need(axe_reader *r, const char *format, char c)
{
    char what[] = {'\'', c, '\'', '\0'};

    return axe_scan_take(r, c) ? AXE_OK : axe_cv_expected(r, format, what);
}

axe_status
axe_cv_int(axe_reader *r, const char *format, const char *what, int64_t *out)
{
    bool    negative = axe_scan_take(r, '-');
    size_t  from;
    int64_t v = 0;

    if (!axe_is_digit(axe_scan_peek(r)))
        return axe_cv_expected(r, format, what);
    from = r->at;
    for (; r->at < r->len && axe_is_digit(r->text[r->at]); r->at++) {
        int64_t d = r->text[r->at] - '0';

        if (!axe_mul(v, 10, &v) || !axe_add(v, negative ? -d : d, &v))
            return axe_fail(r->cx, axe_scan_span(r, from, r->at + 1),
                            AXE_EOVERFLOW, "%s: a number leaves int64", format);
    }
    *out = v;
    return AXE_OK;
}

axe_status
axe_cv_end(axe_reader *r, const char *format)
{
    axe_scan_peek(r);
    return r->at >= r->len ? AXE_OK
                           : axe_cv_expected(r, format, "the end of the text");
}

axe_status
axe_cv_ints(axe_reader *r, const char *format, char open, char close,
            int64_t out[AXE_CV_RANK], int *n)
{
    *n = 0;
    AXE_TRY(axe_cv_need(r, format, open));
    while (!axe_scan_take(r, close)) {
        if (*n == AXE_CV_RANK)
            return axe_fail(r->cx, axe_scan_span(r, r->at, r->at + 1),
                            AXE_ELIMIT, "%s: more than %d numbers in a list",
                            format, AXE_CV_RANK);
        AXE_TRY(axe_cv_int(r, format, "a number", &out[*n]));
        ++*n;
        if (axe_scan_peek(r) != close)
            AXE_TRY(axe_cv_need(r, format, ','));
    }
    return AXE_OK;
}

axe_status
axe_cv_axis(axe_ctx *cx, const char *name, axe_axis_kind kind, axe_axis *out)
{
    for (axe_axis a = 0; a < axe_n_axis(cx); a++)
        if (strcmp(axe_axis_name(cx, a), name) == 0) {
            *out = a;
            return AXE_OK;
        }
    return axe_axis_declare(cx, name, kind, out);
}

axe_status
axe_cv_names(axe_ctx *cx, const char *format, const char *list, int *n,
             const char ***out)
{
    axe_reader   r = axe_cv_open(cx, format, list);
    const char **name = axe_new_array(cx, const char *, r.len + 1);

    *n = 0;
    if (axe_scan_peek(&r) != '\0')
        do {
            axe_scan_peek(&r);
            if (!(name[*n] = axe_scan_name(&r)))
                return axe_cv_expected(&r, format, "a name");
            ++*n;
        } while (axe_scan_take(&r, ','));
    AXE_TRY(axe_cv_end(&r, format));
    *out = name;
    return AXE_OK;
}

axe_json *
axe_cv_add(axe_ctx *cx, axe_json *parent, axe_json **last, axe_json v)
{
    axe_json *p = axe_new(cx, axe_json);

    *p = v;
    if (*last)
        (*last)->next = p;
    else
        parent->child = p;
    *last = p;
    parent->n_child++;
    return p;
}

void
axe_cv_put_ints(axe_buf *b, const char *open, int n, const int64_t *v,
                const char *close)
{
    axe_puts(b, open);
    for (int i = 0; i < n; i++)
        axe_putf(b, "%s%" PRId64, i ? ", " : "", v[i]);
    axe_puts(b, close);
}

axe_status
axe_cv_need_option(axe_ctx *cx, const char *format, const char *option)
{
    axe_fail(cx, AXE_NOWHERE, AXE_EARG, "format %s needs the option %s", format,
             option);
    axe_help(cx, strcmp(option, "mesh") == 0
                     ? "give the axes of the mesh, as x=4,y=2"
                     : "give the extents of the tensor, as 8,4");
    return AXE_EARG;
}
