/* verb_why.c - `axe why`: why two layouts differ, or an operation is refused,
 * with the smallest index that shows it. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axe.h"
#include "layout/differ.h"
#include "layout/json.h"

enum { NO = AXE_EXIT_FAIL }; /* different, or refused */

static const char help_text[] =
    "usage: axe why [OPTION]... A B\n"
    "       axe why [OPTION]... FUNCTION ARGUMENT...\n"
    "       axe why [OPTION]... EXPR\n"
    "\n"
    "Are two layouts equal, and if not, what is the smallest index that shows "
    "it?\n"
    "Why is a function of layouts refused?  The exit status is 0 for equal and "
    "for\n"
    "a function that has a value, 1 otherwise.\n"
    "\n"
    "  axe why '(2, 3) : (3, 1)' '(3, 2) : (2, 1)'\n"
    "  axe why tile-of '(16) : (1) | (4, 4)' '(2, 2) : (4, 1)'\n"
    "  axe why '((2, 2) : (2@a, 1@b) | (4))[1:3]'\n"
    "\n"
    "      --json         the answer as one JSON object\n"
    "  -m, --machine M    know the axes of machine M\n"
    "      --strict-axes  refuse axes that no machine declares\n"
    "  -h, --help         this text; functions: see 'axe layout --help'\n";

typedef axe_layout_args options;

/* ------------------------------------------------------------------- answers
 */

/* An answer in words and as JSON, made side by side. */
typedef struct answer {
    axe_ctx *cx;
    axe_buf  text, json;
    int      code;
} answer;

static void
begin(answer *a, axe_ctx *cx, int code, const char *verdict)
{
    *a = (answer){cx, {.cx = cx}, {.cx = cx}, code};
    axe_putf(&a->json, "{\"verdict\":\"%s\"", verdict);
}

static void
put_field(answer *a, const char *key, const char *text)
{
    axe_putf(&a->json, ",\"%s\":", key);
    axe_json_put_name(&a->json, text);
}

static int
finish(answer *a, const options *opt)
{
    if (opt->json)
        printf("%s}\n", a->json.text);
    else
        fputs(a->text.text, stdout);
    return a->code;
}

/* --------------------------------------------------------------- two layouts
 */

static void
put_difference(answer *a, const axe_layout_difference *d)
{
    if (d->index < 0)
        return;
    axe_putf(&a->json, ",\"index\":%" PRId64 ",\"least\":%s", d->index,
             d->least ? "true" : "false");
    put_field(a, "a", axe_layout_points_text(a->cx, &d->a));
    put_field(a, "b", axe_layout_points_text(a->cx, &d->b));
}

/* The layout on elements of so many bits: a swizzle of bytes, or of other
 * units, is one of elements then. */
static axe_status
on_elements(axe_ctx *cx, const axe_layout *l, int bits, const axe_layout **out)
{
    axe_layout own = *l;

    if (l->swizzle.unit_bits > 0)
        AXE_TRY(axe_swizzle_recast(cx, l->swizzle, bits, &own.swizzle));
    return axe_layout_make(cx, &own, out);
}

/* Swizzles that count in units of their own: which elements make the two equal,
 * which do not. */
static axe_status
compare_by_width(axe_ctx *cx, const axe_layout *x, const axe_layout *y,
                 answer *out)
{
    axe_buf equal = {.cx = cx}, other = {.cx = cx};

    for (int bits = 4; bits <= 128; bits *= 2) {
        const axe_layout *a, *b;
        axe_mark          m = axe_ctx_mark(cx);
        bool              same;
        axe_buf          *list;

        if (on_elements(cx, x, bits, &a) != AXE_OK ||
            on_elements(cx, y, bits, &b) != AXE_OK ||
            axe_layout_equal(cx, a, b, &same) != AXE_OK) {
            axe_ctx_release(cx, m);
            continue;
        }
        list = same ? &equal : &other;
        axe_putf(list, "%s%d", list->len ? ", " : "", bits);
    }
    if (equal.len == 0 && other.len == 0)
        return AXE_EUNSUPPORTED;
    begin(out, cx, other.len == 0 ? AXE_EXIT_OK : NO,
          other.len == 0   ? "equal"
          : equal.len == 0 ? "different"
                           : "depends");
    axe_putf(&out->text, "%s: a swizzle counts in units of its own\n",
             other.len == 0   ? "equal on elements of all widths"
             : equal.len == 0 ? "different in elements of all widths"
                              : "different in elements of some widths");
    if (equal.len > 0)
        axe_putf(&out->text, "  equal on elements of %s bits\n", equal.text);
    if (other.len > 0)
        axe_putf(&out->text, "  different on elements of %s bits\n",
                 other.text);
    axe_putf(&out->json, ",\"equal_bits\":[%s],\"different_bits\":[%s]",
             equal.len ? equal.text : "", other.len ? other.text : "");
    return AXE_OK;
}

static axe_status
compare(axe_ctx *cx, const axe_layout *x, const axe_layout *y, answer *out)
{
    axe_layout_difference d;
    axe_status            st = axe_layout_differ(cx, x, y, &d);

    if (st == AXE_EUNSUPPORTED &&
        (x->swizzle.unit_bits > 0 || y->swizzle.unit_bits > 0))
        return compare_by_width(cx, x, y, out);
    AXE_TRY(st);
    begin(out, cx, d.part == AXE_DIFFER_NONE ? AXE_EXIT_OK : NO,
          d.part == AXE_DIFFER_NONE ? "equal" : "different");
    axe_puts(&out->text, axe_layout_difference_text(cx, x, y, &d));
    if (d.part != AXE_DIFFER_NONE) {
        put_field(out, "part", axe_differ_part_text(d.part));
        put_difference(out, &d);
    }
    put_field(out, "form_a", axe_layout_form_text(cx, x));
    put_field(out, "form_b", axe_layout_form_text(cx, y));
    return AXE_OK;
}

/* ------------------------------------------------------------------ functions
 */

/* The row of that name, in which '-' may stand for '_'; NULL: none. */
static const char *
function_named(axe_ctx *cx, const char *name)
{
    int                    n;
    const axe_expr_fn_row *fn = axe_expr_fns(&n);
    char                  *s = axe_textf(cx, "%s", name);

    for (char *c = s; *c; c++)
        *c = *c == '-' ? '_' : *c;
    for (int i = 0; i < n; i++)
        if (strcmp(fn[i].name, s) == 0)
            return fn[i].name;
    return NULL;
}

static const char *
call_text(axe_ctx *cx, const char *name, int n, char **arg)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, name);
    for (int i = 0; i < n; i++)
        axe_putf(&b, "%s%s", i ? ", " : "(", arg[i]);
    axe_putc(&b, ')');
    return b.text;
}

/* The diagnostic and what follows it. */
static void
put_refusal(answer *a, axe_status st)
{
    const axe_diag *d = axe_diags(a->cx), *error = NULL;
    int             n = 0;

    for (; d; d = d->next)
        error = d->severity == AXE_ERROR ? d : error;
    axe_putf(&a->text, "refused: %s\n",
             error ? error->text : axe_status_text(st));
    put_field(a, "code", axe_status_name(st));
    put_field(a, "reason", error ? error->text : axe_status_text(st));
    for (d = error ? error->next : NULL; d; d = d->next) {
        if (strcmp(d->text, "in this expression") != 0)
            axe_putf(&a->text, "  %s: %s\n",
                     d->severity == AXE_HELP ? "help" : "note", d->text);
        axe_puts(&a->json, n++ ? "," : ",\"notes\":[");
        axe_json_put_name(&a->json, d->text);
    }
    axe_puts(&a->json, n > 0 ? "]" : "");
}

/* The index at which tiles of `inner` are not what `tiled` has. */
static void
put_break(answer *a, const axe_layout *tiled, const axe_layout *inner)
{
    axe_shape      s = axe_layout_shape(a->cx, tiled);
    axe_shape      t = axe_layout_shape(a->cx, inner);
    axe_tile_break b;
    bool           found;
    axe_mark       m = axe_ctx_mark(a->cx);

    if (axe_layout_tile_break(a->cx, tiled, s, inner, t, &found, &b) !=
        AXE_OK) {
        axe_ctx_release(a->cx, m);
        return;
    }
    if (!found)
        return;
    if (b.inside < 0)
        axe_putf(&a->text,
                 "  a tile begins at %s, %" PRId64 " from the first one on %s, "
                 "no multiple of the span %" PRId64 "\n",
                 axe_layout_index_text(a->cx, s, b.index), b.got,
                 axe_axis_name(a->cx, b.axis), b.want);
    else
        axe_putf(&a->text,
                 "  %s is %" PRId64 " from the first of its tile, %s, on %s; "
                 "in the inner layout it is %" PRId64 "\n",
                 axe_layout_index_text(a->cx, s, b.index), b.got,
                 axe_layout_index_text(a->cx, s, b.first),
                 axe_axis_name(a->cx, b.axis), b.want);
    axe_putf(&a->json,
             ",\"index\":%" PRId64 ",\"first\":%" PRId64 ",\"got\":%" PRId64
             ",\"want\":%" PRId64,
             b.index, b.first, b.got, b.want);
    put_field(a, "axis", axe_axis_name(a->cx, b.axis));
}

/* Two indices that share a point, of a layout that is not injective. */
static axe_status
put_collision(answer *a, const axe_layout *l)
{
    int64_t    w[2] = {0, 0};
    bool       yes;
    axe_points p;

    AXE_TRY(axe_layout_injective(a->cx, l, &yes, w));
    if (yes)
        return AXE_OK;
    AXE_TRY(axe_layout_apply(a->cx, l, w[0], &p));
    axe_putf(&a->text,
             "  indices %" PRId64 " and %" PRId64 " share a point: %s\n", w[0],
             w[1], axe_layout_points_text(a->cx, &p));
    axe_putf(&a->json, ",\"indices\":[%" PRId64 ",%" PRId64 "]", w[0], w[1]);
    return AXE_OK;
}

/* What shows the refusal, or a no, of some functions. */
static void
put_witness(answer *a, const char *fn, int n, char **arg)
{
    axe_mark          m = axe_ctx_mark(a->cx);
    const axe_layout *x, *y;

    if (!fn || n < 1 || axe_tool_layout(a->cx, "A", arg[0], &x) != AXE_OK)
        return;
    if (strcmp(fn, "tile_of") == 0 && n == 2 &&
        axe_tool_layout(a->cx, "B", arg[1], &y) == AXE_OK)
        put_break(a, x, y);
    else if (strcmp(fn, "injective") == 0 && put_collision(a, x) != AXE_OK)
        axe_ctx_release(a->cx, m);
}

static void
evaluate(axe_ctx *cx, const char *fn, int n, char **arg, answer *out)
{
    axe_value   v;
    const char *text = fn ? call_text(cx, fn, n, arg) : arg[0];
    axe_status  st = axe_expr_eval(cx, "EXPR", text, NULL, &v);
    bool        no = st == AXE_OK && v.kind == AXE_VALUE_BOOL && !v.truth;

    begin(out, cx, st == AXE_OK && !no ? AXE_EXIT_OK : NO,
          st != AXE_OK ? "refused"
          : no         ? "no"
                       : "possible");
    if (st != AXE_OK) {
        put_refusal(out, st);
    } else {
        if (v.kind == AXE_VALUE_BOOL)
            axe_puts(&out->text, no ? "no\n" : "yes\n");
        else
            axe_putf(&out->text, "possible: %s\n", axe_value_text(cx, &v));
        put_field(out, "value", axe_value_text(cx, &v));
    }
    if (out->code != AXE_EXIT_OK)
        put_witness(out, fn, n, arg);
}

/* ------------------------------------------------------------------- the verb
 */

static int
run(int n, char **arg, const options *opt)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *fn;
    answer      a;
    int         code;

    if (!cx)
        return axe_tool_finish(AXE_EXIT_FAIL);
    if (axe_tool_axes(cx, opt->machine, opt->strict) != AXE_OK) {
        code = axe_tool_report(cx);
        axe_ctx_free(cx);
        return axe_tool_finish(code);
    }
    fn = n > 1 ? function_named(cx, arg[0]) : NULL;
    if (n > 2 && !fn) {
        code = axe_tool_usage("why", "there is no function '%s' of layouts",
                              arg[0]);
        axe_ctx_free(cx);
        return code;
    }
    if (fn || n == 1) {
        evaluate(cx, fn, fn ? n - 1 : 1, fn ? arg + 1 : arg, &a);
        code = finish(&a, opt);
    } else {
        const axe_layout *x, *y;
        if (axe_tool_layout(cx, "A", arg[0], &x) != AXE_OK ||
            axe_tool_layout(cx, "B", arg[1], &y) != AXE_OK ||
            compare(cx, x, y, &a) != AXE_OK)
            code = axe_tool_report(cx);
        else
            code = finish(&a, opt);
    }
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}

int
axe_verb_why(int argc, char **argv)
{
    static const struct option long_options[] = {
        AXE_LAYOUT_OPTIONS,
    };
    options opt = {0};
    int     c;

    while ((c = getopt_long(argc, argv, AXE_LAYOUT_LETTERS, long_options,
                            NULL)) != -1) {
        if (c == 'h') {
            fputs(help_text, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        }
        if (!axe_tool_layout_arg(c, &opt))
            return axe_tool_wrong(argv, long_options);
    }
    if (optind == argc)
        return axe_tool_usage("why",
                              "two layouts, or an expression, are missing");
    return run(argc - optind, argv + optind, &opt);
}
