/* convert.c - the formats: which there are, and what is asked of each. */
#include "axe/convert.h"

#include <string.h>

#include "base/ctx.h"
#include "convert/formats.h"
#include "convert/text.h"

typedef struct way {
    axe_cv_reader *read;
    axe_cv_writer *write;
} way;

/* Whether there is a reader is told by its name: whether the address of a
 * function is NULL is no constant where addresses are instrumented. */
static const axe_format_row rows[] = {
#define FORMAT(name, reader, writer, options, what)                            \
    {#name, options, what, sizeof #reader != sizeof "NULL",                    \
     sizeof #writer != sizeof "NULL"},
#include "convert/formats.def"
};

static const way ways[] = {
#define FORMAT(name, reader, writer, options, what) {reader, writer},
#include "convert/formats.def"
};

const axe_format_row *
axe_formats(int *n)
{
    *n = AXE_LEN(rows);
    return rows;
}

static axe_status
find(axe_ctx *cx, const char *name, int *out)
{
    const char *names[AXE_LEN(rows)], *near;

    for (int i = 0; i < AXE_LEN(rows); i++) {
        names[i] = rows[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = i;
            return AXE_OK;
        }
    }
    near = axe_nearest(name, AXE_LEN(rows), names);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no format '%s'%s%s%s", name,
             near ? "; did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    return AXE_ENAME;
}

/* Is the option named in the row?  *needed: with a '!'. */
static bool
takes(const axe_format_row *row, const char *option, bool *needed)
{
    size_t n = strlen(option);

    for (const char *s = row->options; (s = strstr(s, option)); s += n)
        if ((s == row->options || s[-1] == ' ') &&
            (s[n] == '\0' || s[n] == ' ' || s[n] == '!')) {
            *needed = s[n] == '!';
            return true;
        }
    *needed = false;
    return false;
}

axe_convert_options
axe_convert_taken(const axe_convert_options *opt, const char *format)
{
    axe_convert_options o = {0};
    bool                needed;

    for (int i = 0; opt && format && i < AXE_LEN(rows); i++) {
        if (strcmp(rows[i].name, format) != 0)
            continue;
        o.keep = takes(&rows[i], "keep", &needed) ? opt->keep : o.keep;
        o.shape = takes(&rows[i], "shape", &needed) ? opt->shape : o.shape;
        o.mesh = takes(&rows[i], "mesh", &needed) ? opt->mesh : NULL;
        o.axes = takes(&rows[i], "axes", &needed) ? opt->axes : NULL;
        o.bits = takes(&rows[i], "bits", &needed) ? opt->bits : 0;
    }
    return o;
}

static axe_status
check_option(axe_ctx *cx, const axe_format_row *row, const char *option,
             bool given, bool reads)
{
    bool needed, known = takes(row, option, &needed);

    if (given && !known)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "format %s takes no %s; its options are: %s", row->name,
                        option, *row->options ? row->options : "none");
    if (needed && reads && !given)
        return axe_cv_need_option(cx, row->name, option);
    return AXE_OK;
}

static axe_status
check(axe_ctx *cx, const axe_format_row *row, const axe_convert_options *opt,
      bool reads)
{
    int64_t size = 1;

    AXE_TRY(check_option(cx, row, "keep", opt->keep != AXE_KEEP_UNSAID, reads));
    AXE_TRY(check_option(cx, row, "shape", opt->shape.n > 0, reads));
    AXE_TRY(check_option(cx, row, "mesh", opt->mesh != NULL, reads));
    AXE_TRY(check_option(cx, row, "axes", opt->axes != NULL, reads));
    AXE_TRY(check_option(cx, row, "bits", opt->bits != 0, reads));
    if (opt->shape.n < 0 || opt->shape.n > AXE_CV_RANK)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "a shape of %d dimensions; at most %d are taken",
                        opt->shape.n, AXE_CV_RANK);
    for (int i = 0; i < opt->shape.n; i++)
        if (opt->shape.extent[i] < 1 ||
            !axe_mul(size, opt->shape.extent[i], &size))
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "the extents of a shape are at least 1, and their "
                            "product fits int64");
    return AXE_OK;
}

axe_status
axe_convert_read(axe_ctx *cx, const char *name, const char *text,
                 const axe_convert_options *opt, const axe_layout **out)
{
    AXE_NEED(cx, name);
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    static const axe_convert_options none;
    int                              i;

    opt = opt ? opt : &none;
    AXE_TRY(find(cx, name, &i));
    AXE_TRY(check(cx, &rows[i], opt, true));
    if (!rows[i].reads)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "format %s is only written", name);
    return ways[i].read(cx, text, opt, out);
}

axe_status
axe_convert_write(axe_ctx *cx, const char *name, const axe_layout *l,
                  const axe_convert_options *opt, const char **text)
{
    AXE_NEED(cx, name);
    AXE_NEED(cx, l);
    AXE_NEED(cx, text);
    static const axe_convert_options none;
    int                              i;

    opt = opt ? opt : &none;
    AXE_TRY(find(cx, name, &i));
    AXE_TRY(check(cx, &rows[i], opt, false));
    if (!rows[i].writes)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "format %s is only read", name);
    return ways[i].write(cx, l, opt, text);
}

axe_status
axe_cv_read_axe(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                const axe_layout **out)
{
    (void)opt;
    return axe_layout_read(cx, text, out);
}

axe_status
axe_cv_write_axe(axe_ctx *cx, const axe_layout *l,
                 const axe_convert_options *opt, const char **text)
{
    (void)opt;
    *text = axe_layout_text(cx, l);
    return AXE_OK;
}
