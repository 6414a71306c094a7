/* fuzz_expr.c - any text is a layout expression or a diagnostic; a layout that
 * comes out prints, and reads back as the same map. */
#include <assert.h>
#include <string.h>

#include "axe/layout.h"
#include "fuzz.h"

static void
check_layout(axe_ctx *cx, const axe_layout *l)
{
    const axe_layout *again;
    bool              same = false;

    assert(axe_layout_read(cx, axe_layout_text(cx, l), &again) == AXE_OK);
    if (axe_layout_equal(cx, l, again, &same) == AXE_OK)
        assert(same);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx  *cx = axe_ctx_new();
    char     *text = axe_alloc(cx, len + 1);
    axe_value v;
    axe_buf   b = {.cx = cx};

    if (len > 0)
        memcpy(text, data, len);
    axe_axes_open(cx, true);
    if (axe_expr_eval(cx, "fuzz", text, NULL, &v) != AXE_OK) {
        assert(axe_n_error(cx) > 0);
        axe_diags_print(cx, &b, false);
    } else if (v.kind == AXE_VALUE_LAYOUT) {
        check_layout(cx, v.layout);
    } else {
        assert(*axe_value_text(cx, &v));
    }
    axe_ctx_free(cx);
    return 0;
}
