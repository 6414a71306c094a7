/* verb_convert.c - `axe convert`: layouts in other notations. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "axe/convert.h"
#include "axe/machine.h"

enum { MAX_RANK = 64 };

typedef struct options {
    const char         *from, *to, *machine;
    axe_convert_options convert;
    int64_t             extent[MAX_RANK];
} options;

static const char help_head[] =
    "usage: axe convert [OPTION]... TEXT...\n"
    "\n"
    "Writes layouts in another notation: the same map, or an error that says\n"
    "where there is none.\n"
    "\n"
    "  axe convert --from cute --keep coordinates '((2,4),8):((1,16),2)'\n"
    "  axe convert --to numpy --bits 32 '(3, 4) : (4, 1)'\n"
    "\n"
    "  -f, --from FORMAT   of TEXT; axe if missing\n"
    "  -t, --to FORMAT     of the result; axe if missing\n"
    "      --keep WHAT     index or coordinates: what stays, of several modes\n"
    "      --shape 16,8    the tensor's or the tile's\n"
    "      --mesh 2,4      the devices, x=2,y=4 if they have names\n"
    "      --axes A,B      names of Axe's axes\n"
    "      --bits N        of an element\n"
    "  -m, --machine M     know the axes of machine M\n"
    "  -h, --help          this text\n"
    "\n"
    "formats, and the options of each:\n";

static int
help(void)
{
    int                   n;
    const axe_format_row *row = axe_formats(&n);

    fputs(help_head, stdout);
    for (int i = 0; i < n; i++)
        printf("  %-9s %-16s %s%s\n", row[i].name, row[i].options, row[i].what,
               !row[i].writes  ? " (only read)"
               : !row[i].reads ? " (only written)"
                               : "");
    return axe_tool_finish(AXE_EXIT_OK);
}

/* "16,8"; false: not that. */
static bool
read_shape(const char *text, options *opt)
{
    char *end;
    int   n = 0;

    do {
        long long v = strtoll(text, &end, 10);

        if (end == text || n == MAX_RANK || (*end && *end != ','))
            return false;
        opt->extent[n++] = v;
        text = end + 1;
    } while (*end);
    opt->convert.shape = (axe_shape){n, opt->extent};
    return true;
}

static axe_status
show(axe_ctx *cx, const char *text, const options *opt)
{
    axe_convert_options from = axe_convert_taken(&opt->convert, opt->from);
    axe_convert_options to = axe_convert_taken(&opt->convert, opt->to);
    const axe_layout   *l;
    const char         *out;

    AXE_TRY(axe_convert_read(cx, opt->from, text, &from, &l));
    AXE_TRY(axe_convert_write(cx, opt->to, l, &to, &out));
    puts(out);
    return AXE_OK;
}

static int
run(int n, char **texts, const options *opt)
{
    axe_ctx *cx = axe_ctx_new();
    int      code = AXE_EXIT_OK;

    if (!cx)
        return axe_tool_finish(AXE_EXIT_FAIL);
    if (axe_tool_axes(cx, opt->machine, false) != AXE_OK)
        code = axe_tool_report(cx);
    for (int i = 0; code == AXE_EXIT_OK && i < n; i++)
        if (show(cx, texts[i], opt) != AXE_OK)
            code = axe_tool_report(cx);
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}

/* An option that neither format takes is a mistake. */
static const char *
idle(const options *opt)
{
    axe_convert_options        a = axe_convert_taken(&opt->convert, opt->from);
    axe_convert_options        b = axe_convert_taken(&opt->convert, opt->to);
    const axe_convert_options *o = &opt->convert;

    return o->keep && !a.keep && !b.keep            ? "keep"
           : o->shape.n && !a.shape.n && !b.shape.n ? "shape"
           : o->mesh && !a.mesh && !b.mesh          ? "mesh"
           : o->axes && !a.axes && !b.axes          ? "axes"
           : o->bits && !a.bits && !b.bits          ? "bits"
                                                    : NULL;
}

static int
check(int n, char **texts, const options *opt)
{
    const char *name = idle(opt);

    if (n == 0)
        return axe_tool_usage("convert", "a layout is missing");
    if (name)
        return axe_tool_usage("convert", "neither format %s nor %s takes --%s",
                              opt->from, opt->to, name);
    return run(n, texts, opt);
}

/* One option; what is wrong with it, or NULL. */
static const char *
take(int c, options *opt)
{
    char *end;
    long  bits;

    switch (c) {
    case 'f':
        opt->from = optarg;
        break;
    case 't':
        opt->to = optarg;
        break;
    case 'm':
        opt->machine = optarg;
        break;
    case 'M':
        opt->convert.mesh = optarg;
        break;
    case 'a':
        opt->convert.axes = optarg;
        break;
    case 'k':
        if (strcmp(optarg, "index") == 0)
            opt->convert.keep = AXE_KEEP_INDEX;
        else if (strcmp(optarg, "coordinates") == 0)
            opt->convert.keep = AXE_KEEP_COORDINATES;
        else
            return "--keep is index or coordinates";
        break;
    case 's':
        return read_shape(optarg, opt) ? NULL : "--shape is a list as 16,8";
    default:
        bits = strtol(optarg, &end, 10);
        if (end == optarg || *end || bits < 1 || bits > 1024)
            return "--bits is a number from 1 to 1024";
        opt->convert.bits = (int)bits;
    }
    return NULL;
}

int
axe_verb_convert(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},
        {"keep", required_argument, NULL, 'k'},
        {"shape", required_argument, NULL, 's'},
        {"mesh", required_argument, NULL, 'M'},
        {"axes", required_argument, NULL, 'a'},
        {"bits", required_argument, NULL, 'b'},
        {"machine", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    options     opt = {.from = "axe", .to = "axe"};
    const char *wrong;
    int         c;

    while ((c = getopt_long(argc, argv, "f:t:m:h", long_options, NULL)) != -1) {
        if (c == 'h')
            return help();
        if (c == '?')
            return axe_tool_wrong(argv, long_options);
        if ((wrong = take(c, &opt)))
            return axe_tool_usage("convert", "%s", wrong);
    }
    return check(argc - optind, argv + optind, &opt);
}
