/* fake_gpu.h - a GPU whose driver writes down what it is asked
 * (tests/fake/cuda.c), and a program with one grid for it, made by hand. */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "lower/lower.h"
#include "plan/plan.h"
#include "run/gpu/gpu_int.h"
#include "run/gpu/nvrtc.h"
#include "run/program.h"

static char cache[] = "/tmp/axe_gpu_XXXXXX";

static const char *(*fake_log)(void);
static long long (*fake_value)(int i);
static int (*fake_depth)(void);
static void (*fake_clear)(void);

static inline bool
has_nvrtc(axe_ctx *cx)
{
    const char *id;
    axe_mark    m = axe_ctx_mark(cx);
    bool        has = axe_nvrtc_id(cx, &id) == AXE_OK;

    axe_ctx_release(cx, m);
    return has;
}

/* Whoever needs NVRTC is skipped without. */
static inline void
need_nvrtc(axe_ctx *cx)
{
    if (has_nvrtc(cx))
        return;
    axe_ctx_free(cx);
    skip();
}

static inline axe_gpu *
new_gpu(axe_ctx *cx)
{
    axe_gpu *g = NULL;

    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.cache = cache}, &g),
                     AXE_OK);
    return g;
}

/* ----------------------------------------------------------------- programs */

static const char text[] =
    "kernel k(in f32 X[M, N], out f32 Y[M, N]) {\n"
    "    index m, n;\n"
    "    cta (i : M by 4) Y[i*4 + m, n] = X[i*4 + m, n];\n"
    "}\n";

static const char code[] =
    "struct alignas(64) TMap { unsigned char b[128]; };\n"
    "extern \"C\" __global__ void __launch_bounds__(128, 1)\n"
    "k(const __grid_constant__ TMap m0, const float *X, float *Y,\n"
    "  long long M, long long N) { Y[0] = X[0] + m0.b[0] + M + N; }\n";

static const axe_simt    simt = {.lanes = 32, .n_sm = 132};
static const axe_machine machine = {.name = "sm_90a",
                                    .family = "nvidia",
                                    .kind = AXE_KIND_simt,
                                    .language = AXE_LANGUAGE_cuda,
                                    .arch = "sm_90a",
                                    .simt = &simt};

static inline const axe_node *
number(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

/* A program with one grid by hand: ceil(M/4) CTAs, a map of X. */
static inline axe_program *
make_program_of(axe_ctx *cx, const char *kernel, const char *printed)
{
    const axe_module *module;
    const axe_kernel *k;
    axe_inst          inst = {.kernel = "k", .machine = "nvidia"};
    int32_t      source = axe_source_add(cx, "k.axe", kernel, strlen(kernel));
    axe_program *p = axe_new(cx, axe_program);
    axe_plan    *plan = axe_new(cx, axe_plan);
    axe_lowered *l = axe_new(cx, axe_lowered);
    axe_map     *map = axe_new(cx, axe_map);

    assert_int_equal(axe_module_parse(cx, source, &module), AXE_OK);
    assert_int_equal(axe_module_instantiate(cx, module, &inst, &k), AXE_OK);
    const axe_node *m = axe_var_node(cx, AXE_NOWHERE, k->size[0]);
    const axe_node *n = axe_var_node(cx, AXE_NOWHERE, k->size[1]);
    *map = (axe_map){.tensor = k->param[0],
                     .rank = 2,
                     .size = {n, m},
                     .stride = {number(cx, 1), n},
                     .box = {32, 4},
                     .swizzle = 128};
    *plan = (axe_plan){.kernel = k, .machine = &machine};
    l->plan = plan;
    l->n_grid = l->n_host = 1;
    l->grid = axe_new(cx, axe_grid);
    l->host = axe_new(cx, axe_host);
    *l->grid =
        (axe_grid){.name = "k",
                   .n_thread = 128,
                   .lanes = 32,
                   .cluster = 1,
                   .blocks = axe_node2(cx, AXE_OP_cdiv, m, number(cx, 4)),
                   .shared_bytes = 1024,
                   .n_map = 1,
                   .map = map};
    *p = (axe_program){
        .kernel = k, .plan = plan, .lowered = l, .c_text = printed};
    return p;
}

static inline axe_program *
make_program(axe_ctx *cx)
{
    return make_program_of(cx, text, code);
}

static inline axe_array
make_array(const char *name, float *data, int64_t *shape)
{
    return (axe_array){name, "f32", 2, shape, NULL, data};
}

static inline void
check_said(axe_ctx *cx, const char *part)
{
    axe_buf b = {.cx = cx};

    axe_diags_print(cx, &b, false);
    if (!b.text || !strstr(b.text, part))
        fail_msg("no \"%s\" in:\n%s", part, b.text ? b.text : "");
}

static inline int
count_of(const char *said, const char *word)
{
    int n = 0;

    for (const char *s = said; (s = strstr(s, word)); s++)
        n++;
    return n;
}

/* ------------------------------------------------------------------- groups */

static inline int
setup(void **state)
{
    void *h = dlopen(FAKE_CUDA, RTLD_NOW);

    (void)state;
    if (!h || !mkdtemp(cache))
        return -1;
    *(void **)&fake_log = dlsym(h, "fake_log");
    *(void **)&fake_value = dlsym(h, "fake_value");
    *(void **)&fake_depth = dlsym(h, "fake_depth");
    *(void **)&fake_clear = dlsym(h, "fake_clear");
    return setenv("AXE_CUDA", FAKE_CUDA, 1);
}

static inline int
teardown(void **state)
{
    char line[64];

    (void)state;
    snprintf(line, sizeof line, "rm -rf %s", cache);
    return system(line);
}

#endif
