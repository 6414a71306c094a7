/* build_calls.h - small words for tests that build kernels by calls. */
#ifndef AXE_TEST_BUILD_CALLS_H
#define AXE_TEST_BUILD_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/ir.h"
#include "axe/run.h"

typedef const axe_ir_expr *expr;
typedef axe_ir_tensor     *tensor;

static inline char *
read_file(axe_ctx *cx, const char *name)
{
    FILE *f = fopen(axe_textf(cx, "%s/%s", AXE_SOURCE_DIR, name), "rb");
    char *text = axe_alloc(cx, 1 << 16);

    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static inline const char *
said(axe_ctx *cx)
{
    axe_buf out = {.cx = cx};

    axe_diags_print(cx, &out, false);
    return out.text ? out.text : "";
}

static inline const char *
emit(axe_ctx *cx, const axe_program *p)
{
    axe_buf out = {.cx = cx};

    assert_int_equal(axe_program_emit(cx, p, AXE_STAGE_IR, &out), AXE_OK);
    return out.text;
}

static inline const char *
ir_of_text(axe_ctx *cx, const char *text, const axe_compile_spec *spec)
{
    int32_t            source = axe_source_add(cx, "text", text, strlen(text));
    const axe_program *p;

    if (axe_compile(cx, source, spec, AXE_STAGE_IR, &p) != AXE_OK)
        fail_msg("%s", said(cx));
    return emit(cx, p);
}

static inline const char *
ir_of_calls(axe_ctx *cx, axe_builder *b)
{
    const axe_kernel  *k;
    const axe_program *p;

    if (axe_build_finish(b, &k) != AXE_OK ||
        axe_compile_kernel(cx, k, "cpu-base", AXE_STAGE_IR, &p) != AXE_OK)
        fail_msg("%s", said(cx));
    return emit(cx, p);
}

/* ------------------------------------------------------------------ small */

static inline expr
integer(axe_builder *b, int64_t v)
{
    return axe_build_int(b, NULL, v);
}

static inline expr
at1(axe_builder *b, tensor t, expr i)
{
    return axe_build_load(b, t, 1, &i);
}

static inline expr
at2(axe_builder *b, tensor t, expr i, expr j)
{
    return axe_build_load(b, t, 2, (expr[]){i, j});
}

static inline tensor
param2(axe_builder *b, const char *dir, const char *name, expr m, expr n)
{
    return axe_build_param(b, dir, "f32", name, 2, (expr[]){m, n}, NULL);
}

#endif
