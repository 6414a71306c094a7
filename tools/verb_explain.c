/* verb_explain.c - `axe explain`: how each statement of a kernel will run. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "run/array/file.h"

static const char verb[] = "explain";

static const char help[] =
    "usage: axe explain [OPTION]... FILE [KERNEL] [SIZE=NUMBER]...\n"
    "\n"
    "Says how each statement of a kernel will run on the machine: atoms, "
    "loops,\n"
    "layouts, costs, and what was rejected and why.  With sizes, what a "
    "launch should\n"
    "take.\n"
    "\n"
    "      --json              as one line of JSON\n"
    "      --measure           run it on random arrays: the time it takes "
    "beside the estimate\n"
    "      --threads N         for --measure on a CPU (default 1)\n"
    "      --lock FILE         write the plan to FILE, to be kept with the "
    "kernel\n"
    "      --check FILE        fail, saying where, if the plan is not the one "
    "in FILE\n" AXE_KERNEL_HELP "  -h, --help              this text\n";

enum { OPT_JSON = AXE_OPT_FREE, OPT_LOCK, OPT_CHECK, OPT_MEASURE, OPT_THREADS };

static const struct option known[] = {
    AXE_KERNEL_OPTIONS,
    {"json", no_argument, NULL, OPT_JSON},
    {"measure", no_argument, NULL, OPT_MEASURE},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"lock", required_argument, NULL, OPT_LOCK},
    {"check", required_argument, NULL, OPT_CHECK},
    {"help", no_argument, NULL, 'h'},
    {0}};

typedef struct options {
    axe_kernel_args kernel;
    axe_pairs       given;
    const char     *lock, *check;
    int64_t         n_thread;
    bool            json, help, measure;
} options;

/* FILE [KERNEL] SIZE=NUMBER... */
static int
take_rest(axe_ctx *cx, options *o, int n, char **arg)
{
    char **name = axe_new_array(cx, char *, n + 1);
    int    n_name = 0;

    for (int i = 0; i < n; i++)
        if (!strchr(arg[i], '='))
            name[n_name++] = arg[i];
        else if (!axe_pairs_add(cx, &o->given, arg[i]))
            return axe_tool_usage(verb, "cannot read '%s'", arg[i]);
    return axe_kernel_names(&o->kernel, verb, n_name, name);
}

/* argv into o; AXE_EXIT_OK, or AXE_EXIT_USAGE after a message. */
static int
read_args(axe_ctx *cx, int argc, char **argv, options *o)
{
    int c, code = AXE_EXIT_OK;

    while ((c = getopt_long(argc, argv, "ht:", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_wrong(argv, known);
        if (c == OPT_JSON)
            o->json = true;
        else if (c == OPT_LOCK)
            o->lock = optarg;
        else if (c == OPT_CHECK)
            o->check = optarg;
        else if (c == OPT_MEASURE)
            o->measure = true;
        else if (c == OPT_THREADS)
            code =
                axe_run_number(verb, "threads", optarg, 1, 1023, &o->n_thread);
        else if (c == 'h')
            o->help = true;
        else
            code = axe_kernel_option(cx, &o->kernel, verb, c, optarg);
        if (code != AXE_EXIT_OK || o->help)
            return code;
    }
    if (o->measure && (o->lock || o->check))
        return axe_tool_usage(verb, "--measure gives times, which are no part "
                                    "of what --lock and --check keep");
    return take_rest(cx, o, argc - optind, argv + optind);
}

static axe_status
take_sizes(axe_ctx *cx, const options *o, axe_size *size)
{
    for (int i = 0; i < o->given.n; i++) {
        size[i].name = o->given.name[i];
        if (!axe_tool_int(o->given.value[i], &size[i].value))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "%s=%s: a size is a whole number", size[i].name,
                            o->given.value[i]);
    }
    return AXE_OK;
}

/* The line that starts at s. */
static const char *
line_at(axe_ctx *cx, const char *s)
{
    return axe_textf(cx, "%.*s", (int)strcspn(s, "\n"), s);
}

/* Is the plan the one in the lock file?  Says which line differs first. */
static axe_status
check(axe_ctx *cx, const char *path, const char *now)
{
    axe_bytes   file;
    const char *was;
    int         line = 1;

    AXE_TRY(axe_file_read(cx, path, &file));
    was = axe_textf(cx, "%.*s", (int)file.len, (const char *)file.data);
    free(file.data);
    if (strcmp(was, now) == 0)
        return AXE_OK;
    while (*was && *now && strcmp(line_at(cx, was), line_at(cx, now)) == 0) {
        was += strcspn(was, "\n") + (was[strcspn(was, "\n")] == '\n');
        now += strcspn(now, "\n") + (now[strcspn(now, "\n")] == '\n');
        line++;
    }
    axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
             "the plan is not the one in %s: they differ from line %d on", path,
             line);
    axe_note(cx, AXE_NOWHERE, "locked: %s", line_at(cx, was));
    axe_note(cx, AXE_NOWHERE, "now:    %s", line_at(cx, now));
    axe_help(cx, "if the change is wanted, write the lock anew with --lock %s",
             path);
    return AXE_ESHAPE;
}

/* ---------------------------------------------------------------- measuring */

static axe_run_args
run_args(const options *o)
{
    return (axe_run_args){.kernel = o->kernel,
                          .given = o->given,
                          .n_thread = o->n_thread,
                          .seed = 1,
                          .random = true,
                          .time = true,
                          .no_tuned = true};
}

/* What the program takes on random arrays; all sizes are then in r. */
static axe_status
measure(axe_ctx *cx, const options *o, const axe_run_args *a, axe_run *r)
{
    axe_compile_spec spec = axe_kernel_spec(&o->kernel);
    int32_t          source;

    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_run_open(cx, a, source, r));
    AXE_TRY(axe_compile(cx, source, &spec, AXE_STAGE_C, &r->program));
    AXE_TRY(axe_run_fill(cx, a, r));
    return axe_run_there(cx, a, r);
}

static void
put_measured(const options *o, const axe_run *r, const axe_estimate *e,
             axe_buf *text)
{
    double s = r->time[r->n_time / 2];

    if (!o->json) {
        axe_putf(text, "measured    %.4g us, median of %d on %s", s * 1e6,
                 r->n_time, r->on);
        if (e->seconds >= 0)
            axe_putf(text, "; the estimate is %.4g us, %.2f of it",
                     e->seconds * 1e6, e->seconds / s);
        axe_puts(text, "\n\n");
        return;
    }
    axe_putf(text,
             "{\"measured\":{\"seconds\":%.6g,\"estimate\":%.6g,\"n\":%d,"
             "\"on\":\"%s\"},\"plan\":",
             s, e->seconds, r->n_time, r->on);
}

static axe_status
explain_measured(axe_ctx *cx, const options *o, axe_run *r, axe_buf *text)
{
    axe_run_args a = run_args(o);
    axe_estimate e;

    AXE_TRY(measure(cx, o, &a, r));
    AXE_TRY(axe_program_estimate(cx, r->program, (int)o->n_thread, r->n_size,
                                 r->size, &e));
    put_measured(o, r, &e, text);
    AXE_TRY(
        axe_program_explain(cx, r->program, o->json, r->n_size, r->size, text));
    if (o->json) {
        text->len -= text->text[text->len - 1] == '\n';
        axe_puts(text, "}");
    }
    return AXE_OK;
}

static axe_status
explain_planned(axe_ctx *cx, const options *o, axe_buf *text)
{
    axe_compile_spec   spec = axe_kernel_spec(&o->kernel);
    axe_size          *size = axe_new_array(cx, axe_size, o->given.n + 1);
    const axe_program *p;
    int32_t            source;

    AXE_TRY(take_sizes(cx, o, size));
    AXE_TRY(axe_kernel_source(cx, o->kernel.file, &source));
    AXE_TRY(axe_compile(cx, source, &spec, AXE_STAGE_PLAN, &p));
    AXE_TRY(axe_kernel_strict(cx, &o->kernel));
    return axe_program_explain(cx, p, o->json, o->given.n, size, text);
}

static axe_status
explain(axe_ctx *cx, const options *o, axe_run *r)
{
    axe_buf text = {.cx = cx};

    AXE_TRY(o->measure ? explain_measured(cx, o, r, &text)
                       : explain_planned(cx, o, &text));
    if (text.len > 0 && text.text[text.len - 1] != '\n')
        axe_putc(&text, '\n');
    if (o->check)
        return check(cx, o->check, text.text);
    return axe_tool_write(cx, o->lock ? o->lock : "-", text.text, text.len);
}

int
axe_verb_explain(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {.n_thread = 1};
    axe_run  r = {0};
    int      code = read_args(cx, argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK &&
             (axe_kernel_device(cx, &o.kernel, o.measure) != AXE_OK ||
              explain(cx, &o, &r) != AXE_OK))
        code = AXE_EXIT_FAIL;
    axe_run_close(&r);
    return axe_kernel_end(cx, code);
}
