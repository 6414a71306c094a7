/* goldens.h - CUDA C compared byte by byte with a file in tests/golden.
 *
 * After an intended change: UPDATE=1 build/.../test_cuda, and read the
 * difference. */
#ifndef GOLDENS_H
#define GOLDENS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/pass/finish.h"
#include "lower/pass/pass.h"
#include "print/cuda/cuda.h"

static inline char *
read_text(axe_ctx *cx, const char *path)
{
    FILE  *f = fopen(path, "rb");
    char  *s;
    size_t n;

    if (!f)
        return NULL;
    s = axe_alloc(cx, 1 << 20);
    n = fread(s, 1, (1 << 20) - 1, f);
    s[n] = '\0';
    fclose(f);
    return s;
}

static inline void
compare_as(axe_ctx *cx, const axe_lowered *l, bool wide, const char *name)
{
    const char *path =
        axe_textf(cx, AXE_SOURCE_DIR "/tests/golden/%s.cu", name);
    axe_buf b = {.cx = cx};
    char   *want;

    for (int i = 0; i < l->n_grid; i++) {
        axe_join_iterations(cx, &l->grid[i].body);
        axe_finish_grid(cx, l->plan->machine, &l->grid[i]);
    }
    if (axe_print_cuda(cx, l, wide, &b) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    if (getenv("UPDATE")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(b.text, 1, b.len, f);
        fclose(f);
    }
    want = read_text(cx, path);
    if (!want || strcmp(want, b.text) != 0)
        fail_msg("%s differs:\n%s", path, b.text);
}

static inline void
compare(axe_ctx *cx, const axe_lowered *l, const char *name)
{
    compare_as(cx, l, false, name);
}

#endif
