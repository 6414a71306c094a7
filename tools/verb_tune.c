/* verb_tune.c - `axe tune`: finds the values of its parameters that a kernel
 * runs best with, and keeps them for `axe run`.
 *
 * Ctrl-C ends the search, not the command: what is known is shown and kept. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axe/tune.h"
#include "base/json.h"
#include "run.h"

static const char verb[] = "tune";

static const char help[] =
    "usage: axe tune [OPTION]... FILE [KERNEL] NAME=VALUE...\n"
    "\n"
    "Tries the values that the kernel's `tune` lines name, by the cost model "
    "and\n"
    "then by measuring, on arrays or sizes as for `axe run`.  The best are "
    "kept and\n"
    "used by `axe run` at about these sizes.  Ctrl-C ends the search and keeps "
    "what is\n"
    "known.\n"
    "\n"
    "  axe tune kernels/gemm.axe --random M=512 N=512 K=512\n"
    "  axe tune kernels/gemm_sm90.axe --prepare M=8192 N=4096 K=12288\n"
    "\n"
    "For a GPU only sizes are given.  Where there is none, the ranking by the "
    "model is\n"
    "shown; with --prepare its best are compiled into the cache, for the day "
    "there is one.\n"
    "\n"
    "      --random            make the arrays that are read and not given;\n"
    "                          X=normal(0,1), X=uniform(-1,1) and I=0..V make\n"
    "                          one so\n"
    "      --seed N            of --random (default 1)\n"
    "      --budget SECONDS    time for all of it (default 30)\n"
    "      --best N            on a GPU: how many of the ranking are tried "
    "(default 24)\n"
    "      --prepare           for a GPU: compile them beforehand, measure "
    "nothing\n"
    "      --threads N         0 (default): one for each processor\n"
    "      --records FILE      database (default: $AXE_TUNED, or tuned.db "
    "beside\n"
    "                          the compiled kernels); '' keeps nothing\n"
    "      --json              report as one line of JSON\n"
    "      --cache DIR         of compiled kernels\n" AXE_KERNEL_HELP
    "  -h, --help              this text\n";

enum { OPT_BUDGET = AXE_RUN_FREE, OPT_BEST, OPT_PREPARE };

static const struct option known[] = {
    AXE_KERNEL_OPTIONS,
    {"random", no_argument, NULL, AXE_RUN_RANDOM},
    {"seed", required_argument, NULL, AXE_RUN_SEED},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"best", required_argument, NULL, OPT_BEST},
    {"prepare", no_argument, NULL, OPT_PREPARE},
    {"threads", required_argument, NULL, AXE_RUN_THREADS},
    {"records", required_argument, NULL, AXE_RUN_RECORDS},
    {"json", no_argument, NULL, AXE_RUN_JSON},
    {"cache", required_argument, NULL, AXE_RUN_CACHE},
    {"help", no_argument, NULL, 'h'},
    {0}};

enum { MOST_SHOWN = 12 };

/* ----------------------------------------------------------------- options */

static int
take_budget(const char *arg, double *out)
{
    char  *end;
    double v = strtod(arg, &end);

    if (*end == 's')
        end++;
    if (end == arg || *end != '\0' || !(v > 0) || v > 1e6)
        return axe_tool_usage(verb, "--budget %s: seconds, as in 30 or 0.5s",
                              arg);
    *out = v;
    return AXE_EXIT_OK;
}

static int
take_option(axe_ctx *cx, axe_run_args *a, int c, const char *arg)
{
    if (c == OPT_BUDGET)
        return take_budget(arg, &a->budget);
    if (c == OPT_BEST)
        return axe_run_number(verb, "best", arg, 1, 4096, &a->n_best);
    if (c == OPT_PREPARE) {
        a->prepare = true;
        return AXE_EXIT_OK;
    }
    return axe_run_common(cx, verb, a, c, arg);
}

/* ---------------------------------------------------------------- progress */

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
}

static bool
stop(void *user)
{
    (void)user;
    return interrupted;
}

static void
show(void *user, const axe_tune_result *r, const char *doing)
{
    double best = 0;
    int    n = 0;

    (void)user;
    for (int i = 0; i < r->n_try; i++)
        if (r->each[i].time_s > 0) {
            n++;
            best = best == 0 || r->each[i].time_s < best ? r->each[i].time_s
                                                         : best;
        }
    fprintf(stderr, "\r\033[K%s: %d planned, %d measured", doing, r->n_try, n);
    if (best > 0)
        fprintf(stderr, ", best %.4g ms", best * 1e3);
    fflush(stderr);
}

/* ------------------------------------------------------------------ report */

static const char *
values_text(axe_ctx *cx, const axe_tune_result *r, int k)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < r->n_param; i++)
        axe_putf(&b, "%s%s=%s", i ? " " : "", r->param[i], r->each[k].value[i]);
    return b.text;
}

static void
print_head(const char *kernel, const axe_tune_result *r, bool gpu)
{
    printf("%s for %s%s on ", kernel, gpu ? "" : "about ", r->sizes);
    if (gpu)
        printf("%s", r->machine);
    else
        printf("%d thread%s", r->n_worker, r->n_worker == 1 ? "" : "s");
    printf(": %d combinations planned, %" PRId64 " refused, %d measured%s\n",
           r->n_try, r->n_refused, r->n_timed,
           r->stopped ? ", interrupted" : "");
}

/* Nothing was measured: the ranking. */
static void
print_ranking(axe_ctx *cx, const axe_tune_result *r)
{
    for (int i = 0; i < r->n_try; i++) {
        const axe_tune_try *t = &r->each[i];
        if (i >= MOST_SHOWN && i != r->standard)
            continue;
        if (t->estimate_s < 0)
            printf("  not launched at these sizes  ");
        else
            printf("  model %9.4g ms  %5.2f  ", t->estimate_s * 1e3,
                   t->estimate_s / r->each[0].estimate_s);
        if (t->estimate_s >= 0 && t->least_s > 0)
            printf("%5.1f %%  ", 100 * t->least_s / t->estimate_s);
        printf("%s%s\n", values_text(cx, r, i),
               i == r->standard ? "  (default)" : "");
    }
    if (r->prepared.n_ready > 0)
        printf("prepared: %d, %d of them compiled now\n", r->prepared.n_ready,
               r->prepared.n_fresh);
}

static void
print(axe_ctx *cx, const char *kernel, const axe_tune_result *r, bool gpu)
{
    print_head(kernel, r, gpu);
    if (r->n_timed == 0)
        print_ranking(cx, r);
    for (int i = 0; i < r->n_timed; i++)
        if (i < MOST_SHOWN || i == r->standard)
            printf("  %9.4g ms  model %9.4g ms  %5.2f  %s%s\n",
                   r->each[i].time_s * 1e3, r->each[i].estimate_s * 1e3,
                   r->each[i].time_s / r->each[0].time_s, values_text(cx, r, i),
                   i == r->standard ? "  (default)" : "");
    if (r->records)
        printf("kept in %s\n", r->records);
}

static void
put_try(axe_buf *b, const axe_tune_result *r, int k)
{
    const axe_tune_try *t = &r->each[k];

    axe_puts(b, k ? ", {\"set\": {" : "{\"set\": {");
    for (int i = 0; i < r->n_param; i++)
        axe_putf(b, "%s\"%s\": \"%s\"", i ? ", " : "", r->param[i],
                 t->value[i]);
    axe_putf(b,
             "}, \"estimate_s\": %.6g, \"least_s\": %.6g, \"time_s\": %.9g, "
             "\"n\": %d}",
             t->estimate_s, t->least_s, t->time_s, t->n_time);
}

static void
print_json(axe_ctx *cx, const char *kernel, const axe_tune_result *r)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b,
             "{\"kernel\": \"%s\", \"sizes\": \"%s\", \"threads\": %d, "
             "\"planned\": %d, \"refused\": %" PRId64 ", \"interrupted\": %s, "
             "\"machine\": \"%s\", \"prepared\": %d, \"default\": %d, "
             "\"measured\": [",
             kernel, r->sizes, r->n_worker, r->n_try, r->n_refused,
             r->stopped ? "true" : "false", r->machine, r->prepared.n_ready,
             r->n_timed == 0 || r->standard < r->n_timed ? r->standard : -1);
    for (int i = 0; i < r->n_timed; i++)
        put_try(&b, r, i);
    axe_puts(&b, "], \"ranked\": [");
    for (int i = 0; i < r->n_try && r->n_timed == 0; i++)
        put_try(&b, r, i);
    axe_puts(&b, "], \"records\": ");
    if (r->records)
        axe_json_put_text(&b, r->records, strlen(r->records));
    else
        axe_puts(&b, "null");
    axe_puts(&b, "}\n");
    fwrite(b.text, 1, b.len, stdout);
}

/* ------------------------------------------------------------------ tuning */

static axe_tune_spec
spec_of(const axe_run_args *a)
{
    axe_tune_spec spec = {.compile = axe_kernel_spec(&a->kernel),
                          .budget_s = a->budget,
                          .records = a->records,
                          .cache = a->cache,
                          .prepare = a->prepare,
                          .n_best = (int)a->n_best,
                          .stop = stop};

    if (isatty(STDERR_FILENO))
        spec.progress = show;
    return spec;
}

static axe_status
search(axe_ctx *cx, const axe_run_args *a, int32_t source, axe_run *r,
       axe_tune_result *out)
{
    axe_device_spec device = {.n_thread = a->n_thread, .cache = a->cache};
    axe_array      *array = axe_new_array(cx, axe_array, r->n_param);
    axe_tune_spec   spec = spec_of(a);
    axe_device     *d;
    axe_status      st;

    if (a->prepare)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "--prepare compiles for a GPU: give --target");
    AXE_TRY(axe_run_fill(cx, a, r));
    AXE_TRY(axe_device_new(cx, &device, &d));
    st = axe_tune(cx, d, source, &spec, axe_run_arrays(r, array), array,
                  r->n_size, r->size, out);
    if (spec.progress)
        fputs("\r\033[K", stderr);
    axe_device_free(d);
    return st;
}

/* The GPU, if there is one and it is asked for; what is in the way is told. */
static axe_gpu *
find_gpu(axe_ctx *cx, const axe_run_args *a)
{
    axe_gpu_spec spec = {.cache = a->cache};
    axe_mark     m = axe_ctx_mark(cx);
    axe_gpu     *gpu = NULL;

    if (a->prepare)
        return NULL;
    if (axe_gpu_new(cx, &spec, &gpu) == AXE_OK)
        return gpu;
    fprintf(stderr, "axe tune: no GPU: ranked by the model only (%s)\n",
            axe_last_error(cx));
    axe_ctx_release(cx, m);
    return NULL;
}

static axe_status
search_gpu(axe_ctx *cx, const axe_run_args *a, int32_t source, axe_run *r,
           axe_tune_result *out)
{
    axe_array    *array = axe_new_array(cx, axe_array, r->n_param);
    axe_tune_spec spec = spec_of(a);
    axe_status    st;

    spec.gpu = find_gpu(cx, a);
    st = axe_tune(cx, NULL, source, &spec, axe_run_arrays(r, array), array,
                  r->n_size, r->size, out);
    if (spec.progress)
        fputs("\r\033[K", stderr);
    axe_gpu_free(spec.gpu);
    return st;
}

static axe_status
refuse_opencl(axe_ctx *cx, const char *machine)
{
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "`axe tune` measures on this CPU and on NVIDIA's GPUs, not on "
             "devices of OpenCL");
    axe_help(cx,
             "time values one by one: `axe run --target %s --set NAME=VALUE "
             "--time`",
             machine);
    return AXE_EUNSUPPORTED;
}

static axe_status
tune(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_compile_spec spec;
    axe_tune_result  result;
    axe_array       *array;
    int32_t          source;
    bool             gpu;

    AXE_TRY(axe_kernel_source(cx, a->kernel.file, &source));
    AXE_TRY(axe_run_open(cx, a, source, r));
    spec = axe_run_spec(cx, a, r);
    spec.no_tuned = true;
    array = axe_new_array(cx, axe_array, r->n_param);
    AXE_TRY(axe_compile_for(cx, source, &spec, axe_run_arrays(r, array), array,
                            AXE_STAGE_PLAN, &r->program));
    gpu = axe_program_on_gpu(r->program);
    if (axe_program_on_opencl(r->program))
        return refuse_opencl(cx, axe_program_machine(r->program));
    AXE_TRY(gpu ? search_gpu(cx, a, source, r, &result)
                : search(cx, a, source, r, &result));
    if (a->json)
        print_json(cx, axe_program_kernel(r->program), &result);
    else
        print(cx, axe_program_kernel(r->program), &result, gpu);
    return AXE_OK;
}

int
axe_verb_tune(int argc, char **argv)
{
    axe_ctx     *cx = axe_ctx_new();
    axe_run_args a = {.seed = 1};
    axe_run      r = {0};
    int code = axe_run_read(cx, verb, argc, argv, known, take_option, &a);
    struct sigaction act = {.sa_handler = on_interrupt};

    sigaction(SIGINT, &act, NULL);
    if (code == AXE_EXIT_OK && a.help)
        fputs(help, stdout);
    else if (code == AXE_EXIT_OK &&
             (axe_kernel_device(cx, &a.kernel, false) != AXE_OK ||
              tune(cx, &a, &r) != AXE_OK))
        code = AXE_EXIT_FAIL;
    axe_run_close(&r);
    return axe_kernel_end(cx, code);
}
