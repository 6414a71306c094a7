/* verb_compile.c - `axe compile`: a kernel as text of any stage, or as a shared
 * object; nothing runs. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/run.h"
#include "kernel.h"
#include "run/file.h"

static const char verb[] = "compile";

typedef struct options {
    axe_kernel_args kernel;
    const char     *out, *cache;
    axe_stage       stage;
    bool            object, help;
} options;

static const char help[] =
    "usage: axe compile [OPTION]... FILE [KERNEL]\n"
    "\n"
    "Compiles a kernel and shows a stage of it.  KERNEL may be left out where\n"
    "FILE has one.\n"
    "\n"
    "      --emit STAGE        ir, plan, lower, c (default) or so\n"
    "  -o, --output OUT        where to; '-' is standard output "
    "(default)\n" AXE_KERNEL_HELP
    "      --cache DIR         of compiled kernels\n"
    "  -h, --help              this text\n";

enum { OPT_EMIT = AXE_OPT_FREE, OPT_CACHE };

static const struct option known[] = {
    AXE_KERNEL_OPTIONS,
    {"emit", required_argument, NULL, OPT_EMIT},
    {"output", required_argument, NULL, 'o'},
    {"cache", required_argument, NULL, OPT_CACHE},
    {"help", no_argument, NULL, 'h'},
    {0}};

static int
take_option(axe_ctx *cx, options *o, int c, const char *arg)
{
    if (c == '?')
        return axe_tool_usage(verb, "wrong option");
    if (c == 'h')
        o->help = true;
    else if (c == 'o')
        o->out = arg;
    else if (c == OPT_CACHE)
        o->cache = arg;
    else if (c == OPT_EMIT && strcmp(arg, "so") == 0)
        o->object = true;
    else if (c == OPT_EMIT && !axe_stage_named(arg, &o->stage))
        return axe_tool_usage(verb, "--emit %s: ir, plan, lower, c or so", arg);
    return axe_kernel_option(cx, &o->kernel, verb, c, arg);
}

/* argv into o; AXE_EXIT_OK, or AXE_EXIT_USAGE after a message. */
static int
read_args(axe_ctx *cx, int argc, char **argv, options *o)
{
    int c, code = AXE_EXIT_OK;

    while ((c = getopt_long(argc, argv, "ho:t:", known, NULL)) != -1) {
        code = take_option(cx, o, c, optarg);
        if (code != AXE_EXIT_OK || o->help)
            return code;
    }
    return axe_kernel_names(&o->kernel, verb, argc - optind, argv + optind);
}

/* Compile to a shared object and copy it out of the cache. */
static axe_status
put_object(axe_ctx *cx, const options *o, const axe_program *p)
{
    axe_device_spec spec = {.n_thread = 1, .cache = o->cache};
    axe_device     *device;
    axe_exec       *exec = NULL;
    axe_bytes       bytes = {0};
    axe_status      st;

    AXE_TRY(axe_device_new(cx, &spec, &device));
    st = axe_exec_new(cx, device, p, &exec);
    if (st == AXE_OK)
        st = axe_file_read(cx, axe_exec_path(exec), &bytes);
    if (st == AXE_OK)
        st = axe_tool_write(cx, o->out, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    axe_exec_free(exec);
    axe_device_free(device);
    return st;
}

static axe_status
put_stage(axe_ctx *cx, const options *o)
{
    axe_compile_spec   spec = axe_kernel_spec(&o->kernel);
    axe_buf            text = {.cx = cx};
    const axe_program *p;
    int32_t            source;

    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_compile(cx, source, &spec, o->stage, &p));
    AXE_TRY(axe_kernel_strict(cx, &o->kernel));
    if (o->object)
        return put_object(cx, o, p);
    AXE_TRY(axe_program_emit(cx, p, o->stage, &text));
    return axe_tool_write(cx, o->out, text.text, text.len);
}

int
axe_verb_compile(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {.out = "-", .stage = AXE_STAGE_C};
    int      code = read_args(cx, argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK && put_stage(cx, &o) != AXE_OK)
        code = AXE_EXIT_FAIL;
    return axe_kernel_end(cx, code);
}
