/* einops.c - the format einops: a rearrangement as the layout of its result in
 * the memory of its argument, which is row-major and of the shape given.
 *
 *     text = side "->" side { "," name "=" extent }
 *     side = { name | "1" | "(" { name | "1" } ")" }
 *
 * In each group of the left side one extent may be left out, if the shape is
 * given.  A name on one side alone would be a sum or a copy, and is refused.
 * Written without a shape, the argument is flat. */
#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"

static const char FORMAT[] = "einops";

enum { MAX_NAMES = 32 };

/* A side: its names in order, and the group of each. */
typedef struct side {
    int         n, n_group;
    const char *name[MAX_NAMES];
    int         group[MAX_NAMES];
} side;

static axe_status
read_item(axe_reader *r, side *s)
{
    const char *name;
    size_t      from;

    axe_scan_peek(r);
    from = r->at;
    if (axe_scan_take(r, '1'))
        return AXE_OK;
    if (!(name = axe_scan_name(r)))
        return axe_cv_expected(r, FORMAT, "a name, '1' or '('");
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->name[i], name) == 0)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ENAME,
                            "einops: '%s' stands twice on one side", name);
    if (s->n == MAX_NAMES)
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ELIMIT,
                        "einops: more than %d names", MAX_NAMES);
    s->group[s->n] = s->n_group;
    s->name[s->n++] = name;
    return AXE_OK;
}

/* Up to an arrow, a comma or the end. */
static axe_status
read_side(axe_reader *r, side *s)
{
    for (char c; (c = axe_scan_peek(r)) && c != '-' && c != ','; s->n_group++) {
        if (s->n_group == AXE_CV_RANK)
            return axe_cv_expected(r, FORMAT, "at most 64 dimensions");
        if (!axe_scan_take(r, '(')) {
            AXE_TRY(read_item(r, s));
            continue;
        }
        while (!axe_scan_take(r, ')'))
            AXE_TRY(read_item(r, s));
    }
    return AXE_OK;
}

static int
find(const side *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->name[i], name) == 0)
            return i;
    return -1;
}

/* "," name "=" extent: of names on the left. */
static axe_status
read_extents(axe_reader *r, const side *left, int64_t *extent)
{
    const char *name;
    size_t      from;
    int         i;

    while (axe_scan_take(r, ',')) {
        axe_scan_peek(r);
        from = r->at;
        if (!(name = axe_scan_name(r)))
            return axe_cv_expected(r, FORMAT, "a name with its extent");
        if ((i = find(left, name)) < 0)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ENAME,
                            "einops: no '%s' on the left", name);
        AXE_TRY(axe_cv_need(r, FORMAT, '='));
        AXE_TRY(axe_cv_int(r, FORMAT, "an extent", &extent[i]));
        if (extent[i] < 1)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESHAPE,
                            "einops: %s is %" PRId64 "; at least 1 is needed",
                            name, extent[i]);
    }
    return axe_cv_end(r, FORMAT);
}

/* Extents that are left out, from the argument's shape. */
static axe_status
infer(axe_ctx *cx, const side *left, axe_shape shape, int64_t *extent)
{
    for (int i = 0; shape.n == 0 && i < left->n; i++)
        if (extent[i] == 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "einops: say how large '%s' is, or the shape of "
                            "the argument",
                            left->name[i]);
    if (shape.n == 0)
        return AXE_OK;
    if (left->n_group != shape.n)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "einops: %d dimensions on the left, %d in the shape",
                        left->n_group, shape.n);
    for (int g = 0; g < shape.n; g++) {
        int64_t have = 1;
        int     open = -1;

        for (int i = 0; i < left->n; i++) {
            if (left->group[i] != g)
                continue;
            if (extent[i] == 0 && open >= 0)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                "einops: say how large '%s' or '%s' is",
                                left->name[open], left->name[i]);
            if (extent[i] == 0)
                open = i;
            else if (!axe_mul(have, extent[i], &have))
                have = INT64_MAX;
        }
        if (open >= 0 ? shape.extent[g] % have != 0 : shape.extent[g] != have)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "einops: dimension %d has %" PRId64
                            " elements, its names %" PRId64,
                            g, shape.extent[g], have);
        if (open >= 0)
            extent[open] = shape.extent[g] / have;
    }
    return AXE_OK;
}

static axe_status
alone(axe_ctx *cx, const side *a, const side *b, const char *where,
      const char *what)
{
    for (int i = 0; i < a->n; i++)
        if (find(b, a->name[i]) < 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "einops: '%s' stands on the %s alone: %s, which is "
                            "no rearrangement",
                            a->name[i], where, what);
    return AXE_OK;
}

axe_status
axe_cv_read_einops(axe_ctx *cx, const char *text,
                   const axe_convert_options *opt, const axe_layout **out)
{
    axe_reader r = axe_cv_open(cx, FORMAT, text);
    side       left = {0}, right = {0};
    int64_t    extent[MAX_NAMES] = {0}, step[MAX_NAMES], done = 1;
    axe_iter   it[MAX_NAMES];
    int        end[AXE_CV_RANK];

    AXE_TRY(read_side(&r, &left));
    AXE_TRY(axe_cv_need(&r, FORMAT, '-'));
    AXE_TRY(axe_cv_need(&r, FORMAT, '>'));
    AXE_TRY(read_side(&r, &right));
    AXE_TRY(read_extents(&r, &left, extent));
    AXE_TRY(infer(cx, &left, opt->shape, extent));
    AXE_TRY(alone(cx, &left, &right, "left", "a reduction"));
    AXE_TRY(alone(cx, &right, &left, "right", "a repetition"));
    for (int i = left.n - 1; i >= 0; done *= extent[i--])
        step[i] = done;
    for (int i = 0; i < right.n; i++) {
        int k = find(&left, right.name[i]);

        it[i] = (axe_iter){extent[k], step[k], AXE_AXIS_M, AXE_UNIT_ONE};
    }
    for (int g = 0, i = 0; g < right.n_group; end[g++] = i)
        while (i < right.n && right.group[i] == g)
            i++;
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = right.n,
                                         .shard = it,
                                         .n_dim = right.n_group,
                                         .dim_end = end},
                           out);
}

/* ----------------------------------------------------------------- writing */

/* A digit of the result: its name is the place among those of the argument. */
typedef struct digit {
    int64_t extent, stride;
    int     group, name;
} digit;

static axe_status
no_memory(axe_ctx *cx, const axe_layout *l, const char *what)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "einops: %s %s; a rearrangement has each element of its "
                    "argument once",
                    axe_layout_text(cx, l), what);
}

/* The digits of l, all of one memory. */
static axe_status
digits_of(axe_ctx *cx, const axe_layout *l, int *n, digit *d)
{
    *n = 0;
    for (int k = 0, i = 0; k < l->n_dim; k++)
        for (; i < l->dim_end[k]; i++) {
            const axe_iter *it = &l->shard[i];

            if (it->axis != AXE_AXIS_M || it->unit != AXE_UNIT_ONE)
                return no_memory(cx, l, "is not over memory in elements alone");
            if (*n == MAX_NAMES)
                return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                                "einops: more than %d names", MAX_NAMES);
            d[(*n)++] = (digit){it->extent, it->stride, k, 0};
        }
    for (int i = 0; i < l->n_offset; i++)
        if (l->offset[i].value != 0)
            return no_memory(cx, l, "does not begin at 0");
    if (l->n_replica > 0 || l->swizzle.bits > 0)
        return no_memory(cx, l, "has copies or a swizzle");
    return AXE_OK;
}

/* Cut digit i, whose last `fast` steps stay together. */
static axe_status
cut(axe_ctx *cx, int *n, digit *d, int i, int64_t fast)
{
    if (*n == MAX_NAMES)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "einops: more than %d names", MAX_NAMES);
    for (int j = (*n)++; j > i; j--)
        d[j] = d[j - 1];
    d[i].extent /= fast;
    d[i].stride *= fast;
    d[i + 1].extent = fast;
    return AXE_OK;
}

/* Cut the digits where the argument's dimensions meet. */
static axe_status
fit_shape(axe_ctx *cx, axe_shape shape, int *n, digit *d)
{
    int64_t step = 1;

    for (int g = shape.n - 1; g > 0; g--) {
        step *= shape.extent[g];
        for (int i = 0; i < *n; i++) {
            int64_t fast = step / d[i].stride;

            if (d[i].stride >= step || d[i].stride * d[i].extent <= step)
                continue;
            if (step % d[i].stride != 0 || d[i].extent % fast != 0)
                return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                                "einops: %" PRId64 " elements, %" PRId64
                                " apart, are no parts of dimension %d of the "
                                "argument",
                                d[i].extent, d[i].stride, g);
            AXE_TRY(cut(cx, n, d, i++, fast));
        }
    }
    return AXE_OK;
}

/* Number the digits as the argument has them; each of its elements once. */
static axe_status
number_digits(axe_ctx *cx, const axe_layout *l, int n, digit *d)
{
    int64_t next = 1;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            d[i].name += d[j].stride > d[i].stride;
    for (int name = n - 1; name >= 0; name--) {
        int i = 0;

        while (i < n && d[i].name != name)
            i++;
        if (i == n || d[i].stride != next)
            return no_memory(cx, l, "leaves some out or has some twice");
        next *= d[i].extent;
    }
    return AXE_OK;
}

static const char *
name_of(axe_ctx *cx, int i)
{
    return i < 26 ? axe_textf(cx, "%c", 'a' + i)
                  : axe_textf(cx, "%c%d", 'a' + i % 26, i / 26);
}

/* The names of one group. */
static void
put_group(axe_buf *b, int n, const int *name)
{
    axe_puts(b, b->len > 0 ? " " : "");
    if (n != 1)
        axe_puts(b, n ? "(" : "1");
    for (int i = 0; i < n; i++)
        axe_putf(b, "%s%s", i ? " " : "", name_of(b->cx, name[i]));
    axe_puts(b, n > 1 ? ")" : "");
}

/* The argument's side, and the extents that its shape, if it is `known`, does
 * not tell. */
static void
put_argument(axe_ctx *cx, axe_shape shape, bool known, int n, const digit *d,
             axe_buf *left, axe_buf *extents)
{
    int64_t extent[MAX_NAMES];
    int     at = 0;

    for (int i = 0; i < n; i++)
        extent[d[i].name] = d[i].extent;
    for (int g = 0; g < shape.n; g++) {
        int     name[MAX_NAMES], m = 0;
        int64_t have = 1;

        while (at < n && have < shape.extent[g]) {
            if (m > 0 || !known)
                axe_putf(extents, ", %s=%" PRId64, name_of(cx, at), extent[at]);
            have *= extent[at];
            name[m++] = at++;
        }
        put_group(left, m, name);
    }
}

axe_status
axe_cv_write_einops(axe_ctx *cx, const axe_layout *l,
                    const axe_convert_options *opt, const char **text)
{
    axe_buf           left = {.cx = cx}, right = {.cx = cx}, more = {.cx = cx};
    axe_shape         shape = opt->shape;
    digit             d[MAX_NAMES];
    const axe_layout *c;
    int64_t           size = 1;
    int               n;

    AXE_TRY(axe_layout_canon(cx, l, &c));
    if (shape.n == 0)
        shape = (axe_shape){1, &c->size};
    for (int g = 0; g < shape.n; g++)
        if (!axe_mul(size, shape.extent[g], &size))
            size = -1;
    if (size != c->size)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "einops: the layout has %" PRId64
                        " elements, the argument's shape another number",
                        c->size);
    AXE_TRY(digits_of(cx, c, &n, d));
    for (int i = 0; i < n; i++)
        if (d[i].stride < 1)
            return no_memory(cx, l, "steps back or stays");
    AXE_TRY(fit_shape(cx, shape, &n, d));
    AXE_TRY(number_digits(cx, l, n, d));
    put_argument(cx, shape, opt->shape.n > 0, n, d, &left, &more);
    for (int k = 0, i = 0; k < c->n_dim; k++) {
        int name[MAX_NAMES], m = 0;

        for (; i < n && d[i].group == k; i++)
            name[m++] = d[i].name;
        put_group(&right, m, name);
    }
    *text = axe_textf(cx, "%s -> %s%s", left.text ? left.text : "",
                      right.text ? right.text : "", more.text ? more.text : "");
    return AXE_OK;
}
