/* texts.h - rows of text: what was wanted, what came; and from a text to a
 * kernel, to its IR and back. */
#ifndef TEXTS_H
#define TEXTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"

/* Rows that are wrong so far. */
static int failed;

static inline void
check_text(const char *row, const char *want, const char *got)
{
    if (strcmp(want, got) == 0)
        return;
    print_error("%s\n  want: %s\n  got:  %s\n", row, want, got);
    failed++;
}

/* The text's kernel; NULL: it is refused. */
static inline const axe_kernel *
compile(axe_ctx *cx, const char *text, const axe_inst *inst)
{
    const axe_module *m;
    const axe_kernel *k;
    int32_t           source = axe_source_add(cx, "test", text, strlen(text));

    if (axe_module_parse(cx, source, &m) != AXE_OK ||
        axe_module_instantiate(cx, m, inst, &k) != AXE_OK)
        return NULL;
    return k;
}

/* A file of the source folder. */
static inline char *
read_whole(axe_ctx *cx, const char *path)
{
    enum { MAX = 1 << 18 };
    char *text = axe_alloc(cx, MAX);
    FILE *f = fopen(axe_textf(cx, "%s/%s", AXE_SOURCE_DIR, path), "rb");

    assert_non_null(f);
    assert_true(fread(text, 1, MAX - 1, f) > 0);
    fclose(f);
    return text;
}

/* The IR's text, after it was read back and found the same. */
static inline const char *
round_trip(axe_ctx *cx, const axe_kernel *k)
{
    axe_buf           once = {.cx = cx}, twice = {.cx = cx};
    const axe_kernel *again;

    axe_kernel_print(cx, &once, k);
    if (axe_kernel_read(cx, axe_source_add(cx, "ir", once.text, once.len),
                        &again) != AXE_OK)
        return axe_last_error(cx);
    axe_kernel_print(cx, &twice, again);
    check_text("print, read, print", once.text, twice.text);
    return once.text;
}

#endif
