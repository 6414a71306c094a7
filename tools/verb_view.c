/* verb_view.c - `axe view`: draws a layout as text or as an SVG file. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "axe/view.h"
#include "ir/ir.h"

static const char help_text[] =
    "usage: axe view [OPTION]... EXPR\n"
    "\n"
    "Draws who owns what: the logical grid, each cell with its coordinates on\n"
    "every axis, all replicas listed.  EXPR is as in 'axe layout'; a layout "
    "of\n"
    "two dims is drawn as they are, so 'L | (8, 16)' chooses rows and "
    "columns.\n"
    "\n"
    "  -o, --output FILE  draw an SVG, with a grid for each pair of axes too:\n"
    "                     holes are hatched, clashes framed ('-': to stdout)\n"
    "  -w, --width N      letters in a line (0: no limit; else the "
    "terminal's)\n"
    "      --type T       of the elements, where the layout has a swizzle of\n"
    "                     bytes, as `axe explain` prints it (default u8)\n"
    "  -m, --machine M    know the axes of machine M\n"
    "      --strict-axes  refuse axes that no machine declares\n"
    "  -h, --help         this text\n";

enum { NO_LIMIT = 1 << 20 };

typedef struct options {
    const char *output, *machine;
    int         width, bits; /* of an element */
    bool        strict;
} options;

static axe_status
draw(axe_ctx *cx, const char *text, const options *opt)
{
    axe_value v;
    axe_buf   b = {.cx = cx};

    AXE_TRY(axe_tool_axes(cx, opt->machine, opt->strict));
    AXE_TRY(axe_expr_eval(cx, "EXPR", text, NULL, &v));
    if (v.kind != AXE_VALUE_LAYOUT)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                        "only a layout can be drawn, and this is %s",
                        axe_value_text(cx, &v));
    AXE_TRY(opt->output
                ? axe_layout_svg(cx, v.layout, opt->bits, &b)
                : axe_layout_draw(cx, v.layout, opt->bits, opt->width, &b));
    return axe_tool_write(cx, opt->output ? opt->output : "-", b.text, b.len);
}

/* A number of columns; 0 is no limit; -1 if it is not a number. */
static int
width_of(const char *s)
{
    char *end;
    long  v = strtol(s, &end, 10);

    if (!*s || *end || v < 0 || v >= NO_LIMIT)
        return -1;
    return v == 0 ? NO_LIMIT : (int)v;
}

/* [bits] of an element; 0: there is no such type. */
static int
bits_of(const char *name)
{
    axe_type t;

    return axe_type_find(name, &t) ? axe_type_table[t].bits : 0;
}

int
axe_verb_view(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"output", required_argument, NULL, 'o'},
        {"width", required_argument, NULL, 'w'},
        {"machine", required_argument, NULL, 'm'},
        {"type", required_argument, NULL, 't'},
        {"strict-axes", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    options  opt = {.width = axe_tool_width(), .bits = 8};
    axe_ctx *cx;
    int      c, code = AXE_EXIT_OK;

    while ((c = getopt_long(argc, argv, "o:w:m:h", long_options, NULL)) != -1)
        switch (c) {
        case 'o':
            opt.output = optarg;
            break;
        case 'w':
            opt.width = width_of(optarg);
            if (opt.width < 0)
                return axe_tool_usage("view", "'%s' is no width", optarg);
            break;
        case 't':
            opt.bits = bits_of(optarg);
            if (opt.bits == 0)
                return axe_tool_usage("view", "--type %s: no such type",
                                      optarg);
            break;
        case 'm':
            opt.machine = optarg;
            break;
        case 's':
            opt.strict = true;
            break;
        case 'h':
            fputs(help_text, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        default:
            return axe_tool_wrong(argv, long_options);
        }
    if (argc - optind != 1)
        return axe_tool_usage("view", "one expression is expected, not %d",
                              argc - optind);
    cx = axe_ctx_new();
    if (!cx || draw(cx, argv[optind], &opt) != AXE_OK)
        code = cx ? axe_tool_report(cx) : AXE_EXIT_FAIL;
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}
