/* fuzz_convert.h - any text in a format is a layout or a diagnostic, and what
 * is written of that layout, in its own format or in any other, reads back as
 * an equal one. */
#ifndef FUZZ_CONVERT_H
#define FUZZ_CONVERT_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axe/convert.h"
#include "fuzz.h"

enum { FUZZ_MAX_LEN = 2048, FUZZ_MAX_POINTS = 4096 };

/* Has l at most FUZZ_MAX_POINTS points? */
static inline bool
fuzz_few(const axe_layout *l)
{
    int64_t n = l->size;

    for (int k = 0; k < l->n_replica; k++)
        if (!axe_mul(n, l->replica[k].extent, &n))
            return false;
    return n <= FUZZ_MAX_POINTS;
}

static inline bool
fuzz_equal(axe_ctx *cx, const axe_layout *a, const axe_layout *b)
{
    bool       same = false;
    axe_status s = axe_layout_equal(cx, a, b, &same);

    return s == AXE_ELIMIT || s == AXE_EUNSUPPORTED || (s == AXE_OK && same);
}

/* "16,8" up to a blank. */
static inline axe_shape
fuzz_shape(axe_ctx *cx, const char *s)
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

/* l in a format, and back; `all` has its shape. */
static inline void
fuzz_back(axe_ctx *cx, const char *format, const axe_layout *l,
          const axe_convert_options *all)
{
    axe_convert_options opt = axe_convert_taken(all, format);
    const axe_layout   *back = NULL;
    const char         *out = NULL;

    if (axe_convert_write(cx, format, l, &opt, &out) != AXE_OK)
        return;
    if (opt.shape.n == 0)
        opt.shape = axe_convert_taken(all, format).shape;
    assert(axe_convert_read(cx, format, out, &opt, &back) == AXE_OK);
    assert(fuzz_equal(cx, l, back));
}

/* The text is in `format`; of a layout of devices all other systems' texts are
 * tried, too. */
static inline void
fuzz_text(axe_ctx *cx, const char *format, const axe_convert_options *all,
          const char *text)
{
    axe_convert_options   opt = axe_convert_taken(all, format);
    const axe_layout     *l = NULL;
    int                   n;
    const axe_format_row *row = axe_formats(&n);

    if (axe_convert_read(cx, format, text, &opt, &l) != AXE_OK) {
        assert(axe_n_error(cx) > 0);
        return;
    }
    if (!fuzz_few(l))
        return;
    fuzz_back(cx, format, l, all);
    for (int i = 0; i < n && all->mesh; i++)
        if (row[i].writes && strstr(row[i].options, "mesh"))
            fuzz_back(cx, row[i].name, l, all);
}

/* Data is a line "[shape [mesh]]" and the text; format NULL: the line begins
 * with it. */
static inline int
fuzz_format(const char *format, const uint8_t *data, size_t len)
{
    axe_ctx            *cx = axe_ctx_new();
    char               *text = axe_alloc(cx, len + 1), *body, *word = text;
    axe_convert_options opt = {.bits = 16};

    if (len > 0 && len <= FUZZ_MAX_LEN)
        memcpy(text, data, len);
    body = strchr(text, '\n');
    if (body) {
        *body++ = '\0';
        if (!format) {
            format = word;
            word = strchr(word, ' ');
            if (word)
                *word++ = '\0';
        }
        if (word && *word) {
            opt.shape = fuzz_shape(cx, word);
            if ((word = strchr(word, ' ')))
                opt.mesh = word + 1;
        }
        axe_axes_open(cx, true);
        for (int keep = AXE_KEEP_INDEX; keep <= AXE_KEEP_COORDINATES; keep++) {
            opt.keep = (axe_keep)keep;
            fuzz_text(cx, format, &opt, body);
        }
    }
    axe_ctx_free(cx);
    return 0;
}

#endif
