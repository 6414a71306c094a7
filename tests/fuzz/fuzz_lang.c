/* fuzz_lang.c - any bytes as a file of the language, and as the IR's text.
 * * What is accepted must print, read back and print the same, and be formatted
 * for good at once. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lang/lang.h"

static void
check_round(axe_ctx *cx, const axe_kernel *k)
{
    axe_buf           once = {.cx = cx}, twice = {.cx = cx};
    const axe_kernel *again;

    axe_kernel_print(cx, &once, k);
    if (axe_kernel_read(cx, axe_source_add(cx, "ir", once.text, once.len),
                        &again) != AXE_OK)
        abort();
    axe_kernel_print(cx, &twice, again);
    if (strcmp(once.text, twice.text) != 0)
        abort();
}

static void
check_form(axe_ctx *cx, int32_t source)
{
    axe_buf once = {.cx = cx}, twice = {.cx = cx};

    if (axe_module_format(cx, source, &once) != AXE_OK ||
        axe_module_format(cx, axe_source_add(cx, "form", once.text, once.len),
                          &twice) != AXE_OK ||
        once.len != twice.len ||
        (once.len > 0 && memcmp(once.text, twice.text, once.len) != 0))
        abort();
}

static void
run_kernel(axe_ctx *cx, const axe_module *m, const char *name)
{
    static const char *const machine[] = {NULL, "cpu"};
    axe_kernel_sig           sig;
    const axe_kernel        *k;

    if (axe_module_sig(cx, m, name, &sig) != AXE_OK)
        abort();
    for (int i = 0; i < AXE_LEN(machine); i++) {
        axe_inst inst = {.kernel = name, .machine = machine[i]};
        if (axe_module_instantiate(cx, m, &inst, &k) == AXE_OK)
            check_round(cx, k);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx *cx = axe_ctx_new();
    int32_t  source = axe_source_add(cx, "fuzz", (const char *)data, len);
    const axe_module *m;
    const axe_kernel *k;
    axe_buf           out = {.cx = cx};
    if (axe_module_parse(cx, source, &m) == AXE_OK) {
        for (int i = 0; i < axe_module_n_kernel(m) && i < 4; i++)
            run_kernel(cx, m, axe_module_kernel_name(m, i));
        check_form(cx, source);
    }
    if (axe_kernel_read(cx, source, &k) == AXE_OK)
        check_round(cx, k);
    axe_diags_print(cx, &out, false);
    axe_ctx_free(cx);
    return 0;
}
