/* fuzz_eval.c - any bytes are requests to `axe eval`, one a line: each has a
 * reply of one line of JSON, and the same request has the same reply again. */
#include <assert.h>
#include <string.h>

#include "axe/eval.h"
#include "axe/machine.h"
#include "base/json.h"
#include "fuzz.h"

static void
check_line(axe_eval *ev, axe_ctx *cx, const char *line, size_t len)
{
    const axe_json *v = NULL;
    const char     *reply = axe_eval_line(ev, line, len);
    char           *copy = axe_textf(cx, "%s", reply);

    assert(!strchr(copy, '\n'));
    assert(axe_json_read(cx, copy, strlen(copy), &v) == AXE_OK);
    assert(axe_json_get(v, "id"));
    assert(!axe_json_get(v, "out") != !axe_json_get(v, "error"));
    assert(strcmp(copy, axe_eval_line(ev, line, len)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_eval_options opt = {axe_machine_axes, NULL, false, axe_machine_ops()};
    axe_eval        *ev = axe_eval_new(&opt);
    axe_ctx         *cx = axe_ctx_new();
    const char      *s = (const char *)data;

    while (len > 0) {
        const char *end = memchr(s, '\n', len);
        size_t      n = end ? (size_t)(end - s) : len;

        check_line(ev, cx, s, n);
        n += end != NULL;
        s += n;
        len -= n;
    }
    axe_ctx_free(cx);
    axe_eval_free(ev);
    return 0;
}
