/* einops.c - the format einops: a rearrangement as the layout of its result in
 * the memory of its argument, which is row-major and of the shape given.
 *
 *     text = side "->" side { "," name "=" extent }
 *     side = { name | "1" | "(" { name | "1" } ")" }
 *
 * In each group of the left side one extent may be left out.  A name on one
 * side alone would be a sum or a copy, and is refused. */
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
