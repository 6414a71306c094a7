/* fuzz_convert.c - any text in any format is a layout or a diagnostic, and what
 * is written of it reads back as an equal layout.
 *
 * The first line names the format and may go on with a shape and a mesh, as
 * "tv 16,8" and "dtensor 8,8 2,2"; the rest is the text.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axe/convert.h"
#include "fuzz.h"

enum { MAX_LEN = 2048, MAX_POINTS = 4096 };

/* Has l at most MAX_POINTS points? */
static bool
few(const axe_layout *l)
{
    int64_t n = l->size;

    for (int k = 0; k < l->n_replica; k++)
        if (!axe_mul(n, l->replica[k].extent, &n))
            return false;
    return n <= MAX_POINTS;
}

static bool
equal(axe_ctx *cx, const axe_layout *a, const axe_layout *b)
{
    bool       same = false;
    axe_status s = axe_layout_equal(cx, a, b, &same);

    return s == AXE_ELIMIT || s == AXE_EUNSUPPORTED || (s == AXE_OK && same);
}

/* "16,8" up to a blank. */
static axe_shape
shape_of(axe_ctx *cx, const char *s)
{
    int64_t *e = axe_new_array(cx, int64_t, 64);
    char    *end;
    int      n = 0;

    do {
        e[n++] = strtoll(s, &end, 10);
        s = end + 1;
    } while (*end == ',' && n < 64);
    return (axe_shape){n, e};
}

static void
check(axe_ctx *cx, const char *format, const axe_convert_options *all,
      const char *text)
{
    axe_convert_options opt = axe_convert_taken(all, format);
    const axe_layout   *l = NULL, *back;
    const char         *out = NULL;

    if (axe_convert_read(cx, format, text, &opt, &l) != AXE_OK) {
        assert(axe_n_error(cx) > 0);
        return;
    }
    if (!few(l) || axe_convert_write(cx, format, l, &opt, &out) != AXE_OK)
        return;
    assert(axe_convert_read(cx, format, out, &opt, &back) == AXE_OK);
    assert(equal(cx, l, back));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx            *cx = axe_ctx_new();
    char               *text = axe_alloc(cx, len + 1), *line, *word;
    axe_convert_options opt = {.bits = 16};

    if (len > MAX_LEN) {
        axe_ctx_free(cx);
        return 0;
    }
    if (len > 0)
        memcpy(text, data, len);
    line = strchr(text, '\n');
    if (line) {
        *line++ = '\0';
        if ((word = strchr(text, ' '))) {
            *word++ = '\0';
            opt.shape = shape_of(cx, word);
            if ((word = strchr(word, ' ')))
                opt.mesh = word + 1;
        }
        axe_axes_open(cx, true);
        for (int keep = AXE_KEEP_INDEX; keep <= AXE_KEEP_COORDINATES; keep++) {
            opt.keep = (axe_keep)keep;
            check(cx, text, &opt, line);
        }
    }
    axe_ctx_free(cx);
    return 0;
}
