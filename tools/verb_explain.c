/* verb_explain.c - `axe explain`: how each statement of a kernel will run. */
#include <getopt.h>
#include <stdio.h>

#include "kernel.h"

static const char verb[] = "explain";

static const char help[] =
    "usage: axe explain [OPTION]... FILE [KERNEL]\n"
    "\n"
    "Says how each statement of a kernel will run on the machine: atoms, "
    "loops,\n"
    "layouts, costs, and what was rejected and why.\n"
    "\n"
    "      --json              as one line of JSON\n" AXE_KERNEL_HELP
    "  -h, --help              this text\n";

enum { OPT_JSON = AXE_OPT_FREE };

static const struct option known[] = {AXE_KERNEL_OPTIONS,
                                      {"json", no_argument, NULL, OPT_JSON},
                                      {"help", no_argument, NULL, 'h'},
                                      {0}};

typedef struct options {
    axe_kernel_args kernel;
    bool            json, help;
} options;

/* argv into o; AXE_EXIT_OK, or AXE_EXIT_USAGE after a message. */
static int
read_args(axe_ctx *cx, int argc, char **argv, options *o)
{
    int c, code = AXE_EXIT_OK;

    while ((c = getopt_long(argc, argv, "ht:", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_usage(verb, "wrong option");
        if (c == OPT_JSON)
            o->json = true;
        else if (c == 'h')
            o->help = true;
        else
            code = axe_kernel_option(cx, &o->kernel, verb, c, optarg);
        if (code != AXE_EXIT_OK || o->help)
            return code;
    }
    return axe_kernel_names(&o->kernel, verb, argc - optind, argv + optind);
}

static axe_status
explain(axe_ctx *cx, const options *o)
{
    axe_compile_spec   spec = axe_kernel_spec(&o->kernel);
    axe_buf            text = {.cx = cx};
    const axe_program *p;
    int32_t            source;

    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_compile(cx, source, &spec, AXE_STAGE_PLAN, &p));
    if (o->json)
        AXE_TRY(axe_program_plan_json(cx, p, &text));
    else
        AXE_TRY(axe_program_emit(cx, p, AXE_STAGE_PLAN, &text));
    if (text.len > 0 && text.text[text.len - 1] != '\n')
        axe_putc(&text, '\n');
    return axe_tool_write(cx, "-", text.text, text.len);
}

int
axe_verb_explain(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {0};
    int      code = read_args(cx, argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK && explain(cx, &o) != AXE_OK)
        code = AXE_EXIT_FAIL;
    return axe_kernel_end(cx, code);
}
