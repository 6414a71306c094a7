/* ranks.h - a kernel over a mesh, and what ranks do before they launch it. */
#ifndef RANKS_H
#define RANKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/dist.h"

static const char two[] =
    "mesh gpu[P];\n"
    "kernel k(in f32 X[M @ gpu, K], in f32 Y[M], in i64 n,\n"
    "         in f32 S[K] : partial(gpu), out f32 Z[M @ gpu])\n"
    "{ index m, k; Z[m] = sum[k](X[m, k] * S[k]) + Y[m] + f32(n); }\n";

enum { ROWS = 10, COLUMNS = 4 };

#define SHAPE(...)                                                             \
    (const int64_t[])                                                          \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static inline const axe_program *
compile(axe_ctx *cx, const char *source, size_t n, const char *kernel)
{
    axe_compile_spec   spec = {.kernel = kernel};
    const axe_program *p;

    if (axe_compile(cx, axe_source_add(cx, "k.axe", source, n), &spec,
                    AXE_STAGE_C, &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return p;
}

static inline int64_t
block(int64_t n, int64_t parts, int64_t i, int64_t *first)
{
    int64_t each = (n + parts - 1) / parts;

    *first = i * each < n ? i * each : n;
    return n - *first < each ? n - *first : each;
}

static inline axe_status
opened(axe_ctx *cx, axe_engine *e, const axe_program *p, axe_device **device,
       axe_rank_exec **x)
{
    AXE_TRY(axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, device));
    return axe_rank_exec_new(cx, e, *device, p, x);
}

#endif
