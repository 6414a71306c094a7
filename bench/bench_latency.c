/* bench_latency.c - how long the way from a kernel's text to its launch is.
 *
 *     text to C       parse, resolve, plan, lower, print: processor time
 *     C compiler      C text to a loaded kernel, with nothing in the cache
 *     cached load     C text to a loaded kernel that the cache has
 *     launch          a call that finds nothing to do, with all its checks
 */
#define _XOPEN_SOURCE 700

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/run.h"
#include "clock.h"
#include "run/array/file.h"

enum { TURNS = 21, LAUNCHES = 1000 };

static const struct {
    const char *file, *kernel;
} rows[] = {
    {"gemm", "gemm"},           {"softmax", "softmax"},
    {"layernorm", "layernorm"}, {"transpose", "transpose"},
    {"elementwise", "add"},
};

static void
must(axe_ctx *cx, axe_status st)
{
    axe_buf b = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &b, false);
    fputs(b.text, stderr);
    exit(1);
}

static const axe_program *
compile(axe_ctx *cx, const char *file, const char *kernel)
{
    axe_compile_spec   spec = {.kernel = kernel};
    const axe_program *p;
    axe_bytes          b;

    must(cx,
         axe_file_read(
             cx, axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, file), &b));
    int32_t source = axe_source_add(cx, file, (const char *)b.data, b.len);
    free(b.data);
    must(cx, axe_compile(cx, source, &spec, AXE_STAGE_C, &p));
    return p;
}

static double
text_to_c(const char *file, const char *kernel)
{
    double t[TURNS];

    for (int i = 0; i < TURNS; i++) {
        axe_ctx *cx = axe_ctx_new();
        t[i] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        compile(cx, file, kernel);
        t[i] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - t[i];
        axe_ctx_free(cx);
    }
    return median_of(t, TURNS);
}

/* Seconds from the program to a loaded kernel; processor time of this process
 * only, where `cached`. */
static double
load(const char *file, const char *kernel, const char *cache, bool cached)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p = compile(cx, file, kernel);
    double             t[TURNS] = {0};
    int                n = cached ? TURNS : 1;
    axe_exec          *e;

    for (int i = 0; i < n; i++) {
        axe_device *d;
        must(cx,
             axe_device_new(
                 cx, &(axe_device_spec){.n_thread = 1, .cache = cache}, &d));
        const axe_program *warm = compile(cx, "elementwise", "squash");
        must(cx, axe_exec_new(cx, d, warm, &e));
        axe_exec_free(e);
        clockid_t clock = cached ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
        t[i] = clock_seconds(clock);
        must(cx, axe_exec_new(cx, d, p, &e));
        t[i] = clock_seconds(clock) - t[i];
        if (axe_exec_cached(e) != cached) {
            fprintf(stderr, "%s: not from where it should be\n", kernel);
            exit(1);
        }
        axe_exec_free(e);
        axe_device_free(d);
    }
    axe_ctx_free(cx);
    return cached ? median_of(t, TURNS) : t[0];
}

static double
launch(const char *cache)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p = compile(cx, "gemm", "gemm");
    float              one[1] = {0};
    int64_t            none[] = {0, 0};
    axe_array          a[] = {{"A", "f32", 2, none, NULL, one},
                              {"B", "f32", 2, none, NULL, one},
                              {"C", "f32", 2, none, NULL, one}};
    axe_device        *d;
    axe_exec          *e;
    double             t[TURNS];

    must(cx, axe_device_new(
                 cx, &(axe_device_spec){.n_thread = 1, .cache = cache}, &d));
    must(cx, axe_exec_new(cx, d, p, &e));
    for (int i = 0; i < TURNS; i++) {
        t[i] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int k = 0; k < LAUNCHES; k++)
            must(cx, axe_launch(cx, e, 3, a, 0, NULL));
        t[i] = (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - t[i]) / LAUNCHES;
    }
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(cx);
    return median_of(t, TURNS);
}

/* The kernel that load() wakes a device with is in the cache. */
static void
warm_up(const char *cache)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *d;
    axe_exec   *e;

    must(cx, axe_device_new(
                 cx, &(axe_device_spec){.n_thread = 1, .cache = cache}, &d));
    must(cx, axe_exec_new(cx, d, compile(cx, "elementwise", "squash"), &e));
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(cx);
}

int
main(void)
{
    char cache[] = "/tmp/axe_latency_XXXXXX", command[64];

    if (!mkdtemp(cache))
        return 1;
    printf("%-12s %14s %14s %14s\n", "kernel", "text to C", "C compiler",
           "cached load");
    warm_up(cache);
    for (int i = 0; i < AXE_LEN(rows); i++) {
        double c = load(rows[i].file, rows[i].kernel, cache, false);
        printf("%-12s %11.2f ms %11.1f ms %11.1f us\n", rows[i].kernel,
               text_to_c(rows[i].file, rows[i].kernel) * 1e3, c * 1e3,
               load(rows[i].file, rows[i].kernel, cache, true) * 1e6);
    }
    printf("launch       %11.2f us\n", launch(cache) * 1e6);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command) != 0;
}
