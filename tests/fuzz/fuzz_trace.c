/* fuzz_trace.c - traces of engines: whatever is read prints, and what is
 * printed reads as the same. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "trace/trace.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx         *cx = axe_ctx_new();
    const axe_trace *t;

    if (!cx)
        return 0;
    char *text = axe_textf(cx, "%.*s", (int)len, (const char *)data);
    if (len < 1 << 16 &&
        axe_trace_read(cx, axe_source_add(cx, "t", text, strlen(text)), text,
                       &t) == AXE_OK) {
        const char      *once = axe_trace_text(cx, t);
        const axe_trace *again;
        int32_t          source = axe_source_add(cx, "u", once, strlen(once));
        if (axe_trace_read(cx, source, once, &again) != AXE_OK ||
            strcmp(axe_trace_text(cx, again), once) != 0)
            abort();
    }
    axe_ctx_free(cx);
    return 0;
}
