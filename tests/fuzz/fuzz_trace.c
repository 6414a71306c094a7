/* fuzz_trace.c - traces of engines: whatever is read prints, and what is
 * printed reads as the same, and runs, for the time it takes, or is refused. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sim/trn/trn.h"

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
        axe_trn_options opt = {.time_only = true, .max_steps = 20};
        axe_trn_report  report;
        void          **none = axe_new_array(cx, void *, t->n_tensor);
        if (axe_trn_profile(cx, "doc", &opt.params) != AXE_OK ||
            (axe_trn_run(cx, t, &opt, none, &report) != AXE_OK &&
             axe_n_error(cx) == 0))
            abort();
    }
    axe_ctx_free(cx);
    return 0;
}
