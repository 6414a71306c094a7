/* verb_devices.c - `axe devices`: what kernels can run on here: this CPU, GPUs
 * by CUDA, devices of any vendor by OpenCL.  What cannot be reached is said
 * with the reason; that is no failure of the verb. */
#define _XOPEN_SOURCE 700

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "axe.h"
#include "axe/gpu.h"
#include "axe/opencl.h"
#include "base/json.h"
#include "machine/machine.h"

static const char verb[] = "devices";

static const char help[] =
    "usage: axe devices [OPTION]...\n"
    "\n"
    "Lists this machine's CPU, its GPUs as CUDA knows them, and the devices\n"
    "of OpenCL's platforms, with what each of them has.\n"
    "\n"
    "      --json              as one line of JSON\n"
    "  -h, --help              this text\n"
    "\n"
    "AXE_CUDA and AXE_OPENCL name other libraries than libcuda.so.1 and\n"
    "libOpenCL.so.1.\n";

enum { OPT_JSON = 1000 };

static const struct option known[] = {{"json", no_argument, NULL, OPT_JSON},
                                      {"help", no_argument, NULL, 'h'},
                                      {0}};

/* All that there is; where a list cannot be had, why, and what would do. */
typedef struct found {
    const axe_machine      *cpu;
    int                     n_thread, n_gpu, n_cl;
    const axe_gpu_facts    *gpu;
    const axe_opencl_facts *cl;
    const char             *no_gpu, *no_cl, *gpu_help, *cl_help;
} found;

/* What a failed call said, taken out of the diagnostics of cx. */
static const char *
take_error(axe_ctx *cx, const char **way_out)
{
    const char *why = axe_last_error(cx);

    *way_out = NULL;
    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        if (d->severity == AXE_HELP)
            *way_out = d->text;
    return why;
}

/* Each list with a ctx of its own, so that nothing is printed as an error. */
static axe_status
look(axe_ctx *cx, axe_ctx *for_gpu, axe_ctx *for_cl, found *f)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    AXE_TRY(axe_machine_find(cx, "cpu", &f->cpu));
    f->n_thread = n > 0 ? (int)n : 1;
    if (axe_gpu_list(for_gpu, &f->n_gpu, &f->gpu) != AXE_OK)
        f->no_gpu = take_error(for_gpu, &f->gpu_help);
    if (axe_opencl_list(for_cl, &f->n_cl, &f->cl) != AXE_OK)
        f->no_cl = take_error(for_cl, &f->cl_help);
    return AXE_OK;
}

/* ------------------------------------------------------------- for people */

static const char *
bytes_text(axe_ctx *cx, int64_t n)
{
    return n >= INT64_C(1) << 30
               ? axe_textf(cx, "%.1f GiB", (double)n / 1073741824)
               : axe_textf(cx, "%.0f KiB", (double)n / 1024);
}

static void
put_none(const char *what, const char *why, const char *way_out)
{
    printf("%-10snone: %s\n", what, why);
    if (way_out)
        printf("%-10s  help: %s\n", "", way_out);
}

static void
put_opencl(axe_ctx *cx, const axe_opencl_facts *f)
{
    printf("opencl %-3d%s (%s), %s, driver %s\n", f->number, f->name, f->kind,
           f->platform, f->driver);
    printf("%-10s%s, %s\n", "", f->version, f->c_version);
    printf("%-10s%d unit%s, %s, %s at once; groups of %" PRId64
           " items, %s of %slocal memory\n",
           "", f->n_unit, f->n_unit == 1 ? "" : "s",
           bytes_text(cx, f->memory_bytes), bytes_text(cx, f->most_bytes),
           f->most_items, bytes_text(cx, f->local_bytes),
           f->local_own ? "" : "emulated ");
    if (f->n_width > 0) {
        printf("%-10ssub-groups of", "");
        for (int i = 0; i < f->n_width; i++)
            printf(" %d", f->width[i]);
        printf("\n");
    }
    if (f->features[1])
        printf("%-10shas%.*s\n", "", (int)strlen(f->features) - 1, f->features);
}

static void
put_people(axe_ctx *cx, const found *f)
{
    printf("%-10s%s, %d thread%s\n", "cpu", f->cpu->name, f->n_thread,
           f->n_thread == 1 ? "" : "s");
    if (f->cpu->features[0])
        printf("%-10shas %s\n", "", f->cpu->features);
    for (int i = 0; i < f->n_gpu; i++)
        printf("cuda %-5d%s, compute capability %d.%d, %d SMs: %s\n",
               f->gpu[i].number, axe_text_plain(cx, f->gpu[i].name),
               f->gpu[i].major, f->gpu[i].minor, f->gpu[i].n_sm,
               f->gpu[i].machine ? f->gpu[i].machine
                                 : "no machine in the table runs on it");
    if (f->n_gpu == 0)
        put_none("cuda", f->no_gpu ? f->no_gpu : "the driver knows no GPU",
                 f->gpu_help);
    for (int i = 0; i < f->n_cl; i++)
        put_opencl(cx, &f->cl[i]);
    if (f->n_cl == 0)
        put_none("opencl", f->no_cl ? f->no_cl : "no platform has a device",
                 f->cl_help);
}

/* ------------------------------------------------------------------- JSON */

static void
put_text(axe_buf *b, const char *key, const char *text)
{
    axe_putf(b, ", \"%s\": ", key);
    if (text)
        axe_json_put_text(b, text, strlen(text));
    else
        axe_puts(b, "null");
}

static void
put_number(axe_buf *b, const char *key, int64_t n)
{
    axe_putf(b, ", \"%s\": %" PRId64, key, n);
}

/* A list of words as texts. */
static void
put_words(axe_buf *b, const char *key, const char *list)
{
    const char *between = "";

    axe_putf(b, ", \"%s\": [", key);
    for (const char *s = list + strspn(list, " "); *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        axe_puts(b, between);
        axe_json_put_text(b, s, n);
        between = ", ";
        s += n;
    }
    axe_puts(b, "]");
}

static void
put_opencl_json(axe_buf *b, const axe_opencl_facts *f)
{
    axe_putf(b, "{\"number\": %d", f->number);
    put_text(b, "name", f->name);
    put_text(b, "kind", f->kind);
    put_text(b, "platform", f->platform);
    put_text(b, "version", f->version);
    put_text(b, "c_version", f->c_version);
    put_text(b, "driver", f->driver);
    put_number(b, "units", f->n_unit);
    put_number(b, "memory_bytes", f->memory_bytes);
    put_number(b, "most_bytes", f->most_bytes);
    put_number(b, "local_bytes", f->local_bytes);
    axe_putf(b, ", \"local_own\": %s", f->local_own ? "true" : "false");
    put_number(b, "most_items", f->most_items);
    axe_puts(b, ", \"widths\": [");
    for (int i = 0; i < f->n_width; i++)
        axe_putf(b, "%s%d", i > 0 ? ", " : "", f->width[i]);
    axe_puts(b, "]");
    put_words(b, "features", f->features);
    axe_puts(b, "}");
}

static void
put_json(axe_ctx *cx, const found *f)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b, "{\"cpu\": {\"threads\": %d", f->n_thread);
    put_text(&b, "machine", f->cpu->name);
    put_words(&b, "features", f->cpu->features);
    axe_puts(&b, "}, \"cuda\": {\"devices\": [");
    for (int i = 0; i < f->n_gpu; i++) {
        axe_putf(&b, "%s{\"number\": %d", i > 0 ? ", " : "", f->gpu[i].number);
        put_text(&b, "name", f->gpu[i].name);
        put_text(&b, "machine", f->gpu[i].machine);
        put_number(&b, "major", f->gpu[i].major);
        put_number(&b, "minor", f->gpu[i].minor);
        put_number(&b, "sms", f->gpu[i].n_sm);
        axe_puts(&b, "}");
    }
    axe_puts(&b, "]");
    put_text(&b, "missing", f->no_gpu);
    axe_puts(&b, "}, \"opencl\": {\"devices\": [");
    for (int i = 0; i < f->n_cl; i++) {
        axe_puts(&b, i > 0 ? ", " : "");
        put_opencl_json(&b, &f->cl[i]);
    }
    axe_puts(&b, "]");
    put_text(&b, "missing", f->no_cl);
    printf("%s}}\n", b.text);
}

/* ------------------------------------------------------------------- verb */

static int
work(bool json)
{
    axe_ctx *cx = axe_ctx_new(), *gpu = axe_ctx_new(), *cl = axe_ctx_new();
    found    f = {0};
    int      code = AXE_EXIT_OK;

    if (!cx || !gpu || !cl)
        code = AXE_EXIT_FAIL;
    else if (look(cx, gpu, cl, &f) != AXE_OK)
        code = axe_tool_report(cx);
    else if (json)
        put_json(cx, &f);
    else
        put_people(cx, &f);
    axe_ctx_free(cx);
    axe_ctx_free(gpu);
    axe_ctx_free(cl);
    return code == AXE_EXIT_OK ? axe_tool_finish(code) : code;
}

int
axe_verb_devices(int argc, char **argv)
{
    bool json = false;
    int  c;

    while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_wrong(argv, known);
        if (c == 'h') {
            fputs(help, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        }
        json = json || c == OPT_JSON;
    }
    if (optind < argc)
        return axe_tool_usage(verb, "unexpected '%s'", argv[optind]);
    return work(json);
}
