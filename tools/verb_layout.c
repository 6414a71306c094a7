/* verb_layout.c - `axe layout`: evaluates layout expressions and prints each
 * result with its properties, as a table of its map, or as JSON. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axe.h"
#include "layout/json.h"

enum { MAP_ROWS = 4096 }; /* of one --map */

typedef struct options {
    bool            map;
    axe_layout_args args;
} options;

static const char help_head[] =
    "usage: axe layout [OPTION]... EXPR...\n"
    "\n"
    "Evaluates layout expressions and shows their properties.\n"
    "\n"
    "  axe layout '(2, 3) : (3, 1) >< (8, 8) : (8, 1)'\n"
    "  axe layout 'let t = (16, 24) : (24, 1); t[0:8, 8:24]'\n"
    "  axe layout --map '(8, 2, 4, 2) : (4@lane, 1@warp, 1@lane, 1@reg)'\n"
    "\n"
    "      --map          also the table from index to points\n"
    "      --json         the result as JSON, one line for each EXPR\n"
    "  -m, --machine M    know the axes of machine M\n"
    "      --strict-axes  refuse axes that no machine declares\n"
    "  -h, --help         this text\n"
    "\n"
    "operators: A >< B tile, A + B direct sum, L | (16, 24) group,\n"
    "  L[0:8, 8:24] slice, L(3) or L(1, 2) apply, A o B compose,\n"
    "  swizzle(128) o L, let NAME = EXPR; EXPR\n"
    "\n"
    "functions:\n";

static int
help(void)
{
    int                    n;
    const axe_expr_fn_row *fn = axe_expr_fns(&n);

    fputs(help_head, stdout);
    for (int i = 0; i < n; i++) {
        int w = printf("  %s(%s)", fn[i].name, fn[i].args);

        printf("%*s%s\n", w < 30 ? 30 - w : 1, "", fn[i].what);
    }
    return axe_tool_finish(AXE_EXIT_OK);
}

/* -------------------------------------------------------------- properties */

/* What a property is, or why it could not be found; drops the diagnostic. */
static void
row(axe_ctx *cx, axe_status st, axe_mark before, const char *name,
    const char *text)
{
    if (st == AXE_OK)
        printf("  %-12s %s\n", name, text);
    else
        printf("  %-12s - (%s)\n", name, axe_last_error(cx));
    axe_ctx_release(cx, before);
}

static void
print_injective(axe_ctx *cx, const axe_layout *l)
{
    axe_mark    m = axe_ctx_mark(cx);
    bool        yes = false;
    int64_t     w[2] = {0, 0};
    axe_status  st = axe_layout_injective(cx, l, &yes, w);
    const char *text = "yes";

    if (!yes)
        text = axe_textf(cx, "no: %" PRId64 " and %" PRId64 " share a point",
                         w[0], w[1]);
    row(cx, st, m, "injective", text);
}

static void
print_replicas(axe_ctx *cx, const axe_layout *l)
{
    axe_mark   m = axe_ctx_mark(cx);
    int64_t    n = 0;
    axe_status st = axe_layout_fiber_size(cx, l, &n);

    row(cx, st, m, "replicas",
        n == 1 ? "none"
               : axe_textf(cx, "%" PRId64 " points for each index", n));
}

static void
print_memory(axe_ctx *cx, const axe_layout *l)
{
    axe_mark   m = axe_ctx_mark(cx);
    bool       compact = false;
    axe_status st = axe_layout_compact(cx, l, &compact);

    row(cx, AXE_OK, m, "contiguous",
        axe_layout_contiguous(cx, l) ? "yes" : "no");
    if (st == AXE_OK)
        row(cx, st, m, "compact", compact ? "yes" : "no");
}

static bool
uses(const axe_layout *l, axe_axis a)
{
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].axis == a)
            return true;
    for (int i = 0; i < l->n_replica; i++)
        if (l->replica[i].axis == a)
            return true;
    for (int i = 0; i < l->n_offset; i++)
        if (l->offset[i].axis == a)
            return true;
    return false;
}

static void
print_axes(axe_ctx *cx, const axe_layout *l)
{
    static const char *const kind[] = {
        [AXE_KIND_MEMORY] = "memory",
        [AXE_KIND_THREAD] = "thread",
        [AXE_KIND_REG] = "register",
        [AXE_KIND_DEVICE] = "device",
    };

    printf("  %-12s %-9s %12s %12s\n", "axis", "kind", "span", "cosize");
    for (axe_axis a = 0; a < axe_n_axis(cx); a++) {
        axe_mark m = axe_ctx_mark(cx);
        int64_t  v;
        char     span[24] = "-", cosize[24] = "-";

        if (!uses(l, a))
            continue;
        if (axe_layout_span(cx, l, a, &v) == AXE_OK)
            snprintf(span, sizeof span, "%" PRId64, v);
        if (axe_layout_cosize(cx, l, a, &v) == AXE_OK)
            snprintf(cosize, sizeof cosize, "%" PRId64, v);
        printf("  %-12s %-9s %12s %12s\n", axe_axis_name(cx, a),
               kind[axe_axis_kind_of(cx, a)], span, cosize);
        axe_ctx_release(cx, m);
    }
}

static void
print_properties(axe_ctx *cx, const axe_layout *l)
{
    axe_mark          m = axe_ctx_mark(cx);
    const axe_layout *c = l;
    axe_status        st = axe_layout_canon(cx, axe_layout_flat(cx, l), &c);
    axe_value         shape = {.kind = AXE_VALUE_SHAPE,
                               .shape = axe_layout_shape(cx, l)};

    row(cx, st, m, "normal form", axe_layout_text(cx, c));
    row(cx, AXE_OK, m, "size", axe_textf(cx, "%" PRId64, l->size));
    row(cx, AXE_OK, m, "dims", axe_value_text(cx, &shape));
    print_replicas(cx, l);
    print_injective(cx, l);
    print_memory(cx, l);
    print_axes(cx, l);
}

/* ------------------------------------------------------------ map and JSON */

static axe_status
print_map(axe_ctx *cx, const axe_layout *l)
{
    int64_t n = l->size < MAP_ROWS ? l->size : MAP_ROWS;

    printf("  %8s  points\n", "index");
    for (int64_t x = 0; x < n; x++) {
        axe_mark  m = axe_ctx_mark(cx);
        axe_value v = {.kind = AXE_VALUE_POINTS};

        AXE_TRY(axe_layout_apply(cx, l, x, &v.points));
        printf("  %8" PRId64 "  %s\n", x, axe_value_text(cx, &v));
        axe_ctx_release(cx, m);
    }
    if (n < l->size)
        printf("  %8s  (%" PRId64 " more)\n", "...", l->size - n);
    return AXE_OK;
}

static void
print_json(axe_ctx *cx, const axe_value *v)
{
    axe_buf b = {.cx = cx};

    if (v->kind == AXE_VALUE_LAYOUT)
        axe_json_put_layout(&b, v->layout);
    else if (v->kind == AXE_VALUE_INT || v->kind == AXE_VALUE_BOOL)
        axe_puts(&b, axe_value_text(cx, v));
    else
        axe_json_put_name(&b, axe_value_text(cx, v));
    puts(b.text);
}

static axe_status
show(axe_ctx *cx, const char *text, const options *opt)
{
    axe_value v;

    AXE_TRY(axe_expr_eval(cx, "EXPR", text, NULL, &v));
    if (opt->args.json) {
        print_json(cx, &v);
        return AXE_OK;
    }
    puts(axe_value_text(cx, &v));
    if (v.kind != AXE_VALUE_LAYOUT)
        return AXE_OK;
    print_properties(cx, v.layout);
    return opt->map ? print_map(cx, v.layout) : AXE_OK;
}

static int
run(int n, char **texts, const options *opt)
{
    axe_ctx *cx = axe_ctx_new();
    int      code = AXE_EXIT_OK;

    if (!cx)
        return axe_tool_finish(AXE_EXIT_FAIL);
    if (axe_tool_axes(cx, opt->args.machine, opt->args.strict) != AXE_OK)
        code = axe_tool_report(cx);
    for (int i = 0; code == AXE_EXIT_OK && i < n; i++) {
        if (i > 0 && !opt->args.json)
            putchar('\n');
        if (show(cx, texts[i], opt) != AXE_OK)
            code = axe_tool_report(cx);
    }
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}

int
axe_verb_layout(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"map", no_argument, NULL, 'M'},
        AXE_LAYOUT_OPTIONS,
    };
    options opt = {0};
    int     c;

    while ((c = getopt_long(argc, argv, AXE_LAYOUT_LETTERS, long_options,
                            NULL)) != -1) {
        if (c == 'h')
            return help();
        if (c == 'M')
            opt.map = true;
        else if (!axe_tool_layout_arg(c, &opt.args))
            return axe_tool_wrong(argv, long_options);
    }
    if (optind == argc)
        return axe_tool_usage("layout", "an expression is missing");
    return run(argc - optind, argv + optind, &opt);
}
