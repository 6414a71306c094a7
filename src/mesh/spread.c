/* spread.c - who holds what, as text. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "convert/text.h"
#include "mesh/problem.h"

static const char SPREAD[] = "spread";

typedef struct draft {
    axe_reader      r;
    const axe_mesh *m;
    int             n_dim, n_iter, n_partial, n_offset, n_turn;
    int64_t         extent[MESH_DIMS];
    axe_iter        iter[MESH_DIMS + MESH_AXES];
    int             end[MESH_DIMS];
    axe_iter        partial[MESH_AXES];
    axe_offset      offset[MESH_AXES];
    axe_turn        turn[MESH_AXES];
    bool            used[MESH_AXES];
    axe_axis        gpu;
} draft;

static axe_status
wrong(draft *d, axe_status code, size_t from, const char *what)
{
    return axe_fail(d->r.cx, axe_scan_span(&d->r, from, d->r.at), code,
                    "spread: %s", what);
}

/* An axis of the mesh that nothing has taken yet. */
static axe_status
read_axis(draft *d, const axe_mesh_axis **out)
{
    const char *name, *names[MESH_AXES];
    size_t      from;

    axe_scan_peek(&d->r);
    from = d->r.at;
    if (!(name = axe_scan_name(&d->r)))
        return axe_cv_expected(&d->r, SPREAD, "an axis of the mesh");
    for (int i = 0; i < d->m->n_axis; i++) {
        names[i] = d->m->axis[i].name;
        if (strcmp(names[i], name) != 0)
            continue;
        if (d->used[i])
            return wrong(d, AXE_ESHAPE, from, "an axis is taken twice");
        d->used[i] = true;
        *out = &d->m->axis[i];
        return AXE_OK;
    }
    wrong(d, AXE_ENAME, from, "the mesh has no such axis");
    name = axe_nearest(name, d->m->n_axis, names);
    if (name)
        axe_help(d->r.cx, "did you mean '%s'?", name);
    return AXE_ENAME;
}

/* "(" name { "," name } ")" into iters over devices */
static axe_status
read_axes(draft *d, int *n, axe_iter *out)
{
    const axe_mesh_axis *a;

    AXE_TRY(axe_cv_need(&d->r, SPREAD, '('));
    do {
        AXE_TRY(read_axis(d, &a));
        out[(*n)++] = (axe_iter){a->size, a->stride, d->gpu, AXE_UNIT_ONE};
    } while (axe_scan_take(&d->r, ','));
    return axe_cv_need(&d->r, SPREAD, ')');
}

/* term = [ int "*" ] name [ "+" int ] */
static axe_status
read_term(draft *d, axe_iter *out)
{
    const axe_mesh_axis *a;
    int64_t              mul = 1, add = 0;
    bool                 turned = axe_is_digit(axe_scan_peek(&d->r));

    if (turned) {
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "a factor", &mul));
        AXE_TRY(axe_cv_need(&d->r, SPREAD, '*'));
    }
    AXE_TRY(read_axis(d, &a));
    if (axe_scan_take(&d->r, '+')) {
        turned = true;
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "how far devices turn", &add));
    }
    if (mul < 0 || add < 0)
        return wrong(d, AXE_ESHAPE, d->r.at, "devices turn by numbers from 0");
    *out = (axe_iter){a->size, a->stride, d->gpu, AXE_UNIT_ONE};
    mul %= a->size;
    add %= a->size;
    if (turned && a->size > 1 && (mul != 1 || add != 0))
        d->turn[d->n_turn++] = (axe_turn){a->size, a->stride, mul, add};
    return AXE_OK;
}

/* "(" term { "," term } ")" */
static axe_status
read_terms(draft *d)
{
    AXE_TRY(axe_cv_need(&d->r, SPREAD, '('));
    do {
        AXE_TRY(read_term(d, &d->iter[d->n_iter]));
        d->n_iter++;
    } while (axe_scan_take(&d->r, ','));
    return axe_cv_need(&d->r, SPREAD, ')');
}

/* dim = extent [ "@" ( name | "(" term { "," term } ")" ) ] */
static axe_status
read_dim(draft *d)
{
    const axe_mesh_axis *a;
    size_t               from;
    int64_t              n, parts = 1;
    int                  first = d->n_iter;

    axe_scan_peek(&d->r);
    from = d->r.at;
    AXE_TRY(axe_cv_int(&d->r, SPREAD, "an extent", &n));
    if (n < 1)
        return wrong(d, AXE_ESHAPE, from, "extents are at least 1");
    if (axe_scan_take(&d->r, '@')) {
        if (axe_scan_peek(&d->r) == '(') {
            AXE_TRY(read_terms(d));
        } else {
            AXE_TRY(read_axis(d, &a));
            d->iter[d->n_iter++] =
                (axe_iter){a->size, a->stride, d->gpu, AXE_UNIT_ONE};
        }
    }
    for (int i = first; i < d->n_iter; i++)
        parts *= d->iter[i].extent;
    d->iter[d->n_iter++] =
        (axe_iter){(n - 1) / parts + 1, 1, AXE_AXIS_M, AXE_UNIT_ONE};
    d->end[d->n_dim] = d->n_iter;
    d->extent[d->n_dim++] = n;
    return AXE_OK;
}

/* "at" name "=" int { "," name "=" int } */
static axe_status
read_fixed(draft *d)
{
    do {
        const axe_mesh_axis *a;
        size_t               from;
        int64_t              at;

        axe_scan_peek(&d->r);
        from = d->r.at;
        AXE_TRY(read_axis(d, &a));
        AXE_TRY(axe_cv_need(&d->r, SPREAD, '='));
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "where on the axis", &at));
        if (at < 0 || at >= a->size)
            return wrong(d, AXE_ESHAPE, from, "the axis has no such device");
        d->offset[d->n_offset++] =
            (axe_offset){at * a->stride, d->gpu, AXE_UNIT_ONE};
    } while (axe_scan_take(&d->r, ','));
    return AXE_OK;
}

/* [ "at" .. ] [ "+" "partial" .. ] */
static axe_status
read_behind(draft *d)
{
    if (axe_scan_word(&d->r, "at"))
        AXE_TRY(read_fixed(d));
    if (axe_scan_take(&d->r, '+')) {
        if (!axe_scan_word(&d->r, "partial"))
            return axe_cv_expected(&d->r, SPREAD, "'partial'");
        AXE_TRY(read_axes(d, &d->n_partial, d->partial));
    }
    return axe_cv_end(&d->r, SPREAD);
}

/* Local buffers are row-major in the block's own extents. */
static axe_status
finish(draft *d, axe_spread *out)
{
    axe_ctx  *cx = d->r.cx;
    axe_iter  copy[MESH_AXES], *partial;
    axe_turn *turn = axe_new_array(cx, axe_turn, d->n_turn + 1);
    int64_t   pitch = 1, *extent;
    axe_shape shape;
    int       n_copy = 0;

    for (int k = d->n_dim - 1; k >= 0; k--) {
        axe_iter *it = &d->iter[d->end[k] - 1];

        it->stride = pitch;
        if (!axe_mul(pitch, it->extent, &pitch))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "spread: a device's part leaves int64");
    }
    for (int i = 0; i < d->m->n_axis; i++)
        if (!d->used[i])
            copy[n_copy++] = (axe_iter){
                d->m->axis[i].size, d->m->axis[i].stride, d->gpu, AXE_UNIT_ONE};
    extent = axe_new_array(cx, int64_t, d->n_dim);
    partial = axe_new_array(cx, axe_iter, d->n_partial + 1);
    memcpy(extent, d->extent, (size_t)d->n_dim * sizeof *extent);
    memcpy(partial, d->partial, (size_t)d->n_partial * sizeof *partial);
    shape = (axe_shape){d->n_dim, extent};
    AXE_TRY(axe_layout_make(cx,
                            &(axe_layout){.n_shard = d->n_iter,
                                          .shard = d->iter,
                                          .n_dim = d->n_dim,
                                          .dim_end = d->end,
                                          .n_replica = n_copy,
                                          .replica = copy,
                                          .n_offset = d->n_offset,
                                          .offset = d->offset},
                            &out->layout));
    out->shape = shape;
    out->n_partial = d->n_partial;
    out->partial = partial;
    memcpy(turn, d->turn, (size_t)d->n_turn * sizeof *turn);
    out->n_turn = d->n_turn;
    out->turn = turn;
    return AXE_OK;
}

static axe_status
read_short(draft *d, axe_spread *out)
{
    do {
        if (d->n_dim == MESH_DIMS / 2)
            return wrong(d, AXE_ELIMIT, d->r.at, "more than 16 dimensions");
        AXE_TRY(read_dim(d));
    } while (axe_scan_take(&d->r, ','));
    AXE_TRY(read_behind(d));
    return finish(d, out);
}

/* "of" "(" int { "," int } ")" */
static axe_status
read_extents(draft *d, const axe_layout *l, axe_shape *out)
{
    int64_t   v[AXE_CV_RANK], *extent;
    int       n;
    axe_shape domain = axe_layout_shape(d->r.cx, l);

    AXE_TRY(axe_cv_ints(&d->r, SPREAD, '(', ')', v, &n));
    if (n != domain.n)
        return axe_fail(d->r.cx, AXE_NOWHERE, AXE_ESHAPE,
                        "spread: %d extents for a layout of %d dimensions", n,
                        domain.n);
    extent = axe_new_array(d->r.cx, int64_t, n + 1);
    for (int k = 0; k < n; k++) {
        if (v[k] < 1 || v[k] > domain.extent[k])
            return axe_fail(d->r.cx, AXE_NOWHERE, AXE_ESHAPE,
                            "spread: dimension %d has extent %" PRId64
                            "; the layout has room for 1 to %" PRId64,
                            k, v[k], domain.extent[k]);
        extent[k] = v[k];
    }
    *out = (axe_shape){n, extent};
    return AXE_OK;
}

/* "[" int ":" int { "," int ":" int } "]" */
static axe_status
read_partial(draft *d, axe_spread *out)
{
    axe_iter *it = axe_new_array(d->r.cx, axe_iter, MESH_AXES);

    AXE_TRY(axe_cv_need(&d->r, SPREAD, '['));
    do {
        axe_iter *x = &it[out->n_partial];

        if (out->n_partial == MESH_AXES)
            return wrong(d, AXE_ELIMIT, d->r.at,
                         "more than 16 kinds of "
                         "addends");
        *x = (axe_iter){1, 1, d->gpu, AXE_UNIT_ONE};
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "how many addends", &x->extent));
        AXE_TRY(axe_cv_need(&d->r, SPREAD, ':'));
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "how far apart", &x->stride));
        if (x->extent < 1 || x->stride < 1)
            return wrong(d, AXE_ESHAPE, d->r.at,
                         "addends are at least 1, on devices 1 apart");
        out->n_partial++;
    } while (axe_scan_take(&d->r, ','));
    out->partial = it;
    return axe_cv_need(&d->r, SPREAD, ']');
}

/* "[" int ":" int "*" int "+" int { "," .. } "]" */
static axe_status
read_turn(draft *d, axe_spread *out)
{
    axe_turn *all = axe_new_array(d->r.cx, axe_turn, MESH_AXES);

    AXE_TRY(axe_cv_need(&d->r, SPREAD, '['));
    do {
        axe_turn *t = &all[out->n_turn];

        if (out->n_turn == MESH_AXES)
            return wrong(d, AXE_ELIMIT, d->r.at, "more than 16 turns");
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "how many devices", &t->extent));
        AXE_TRY(axe_cv_need(&d->r, SPREAD, ':'));
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "how far apart", &t->stride));
        AXE_TRY(axe_cv_need(&d->r, SPREAD, '*'));
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "a factor", &t->mul));
        AXE_TRY(axe_cv_need(&d->r, SPREAD, '+'));
        AXE_TRY(axe_cv_int(&d->r, SPREAD, "how far they turn", &t->add));
        if (t->extent < 1 || t->stride < 1 || t->mul < 0 || t->add < 0)
            return wrong(d, AXE_ESHAPE, d->r.at,
                         "devices turn by numbers from 0");
        out->n_turn++;
    } while (axe_scan_take(&d->r, ','));
    out->turn = all;
    return axe_cv_need(&d->r, SPREAD, ']');
}

/* Where `word` stands with `open` behind it, as it does in no layout; NULL: it
 * does not. */
static const char *
find_word(const char *text, const char *word, char open)
{
    size_t n = strlen(word);

    for (const char *s = text; (s = strstr(s, word)); s++)
        if (s[n + strspn(s + n, " \t\r\n")] == open)
            return s;
    return NULL;
}

/* Where the layout ends: before "of", "+ turn" or "+ partial". */
static size_t
layout_length(const char *text)
{
    const char *of = find_word(text, " of", '(');
    const char *turn = find_word(text, "turn", '[');
    const char *plus = turn ? turn : find_word(text, "partial", '[');
    size_t      n = strlen(text);

    if (of)
        return (size_t)(of - text);
    if (!plus)
        return n;
    for (n = (size_t)(plus - text); n > 0 && text[n] != '+'; n--)
        ;
    return n;
}

static axe_status
read_layout(draft *d, const char *text, axe_spread *out)
{
    size_t n = layout_length(text);
    char  *head = axe_textf(d->r.cx, "%.*s", (int)n, text);

    AXE_TRY(axe_layout_read(d->r.cx, head, &out->layout));
    out->shape = axe_layout_shape(d->r.cx, out->layout);
    d->r.at = n;
    if (axe_scan_word(&d->r, "of"))
        AXE_TRY(read_extents(d, out->layout, &out->shape));
    while (axe_scan_take(&d->r, '+'))
        if (out->n_turn == 0 && axe_scan_word(&d->r, "turn"))
            AXE_TRY(read_turn(d, out));
        else if (out->n_partial == 0 && axe_scan_word(&d->r, "partial"))
            AXE_TRY(read_partial(d, out));
        else
            return axe_cv_expected(&d->r, SPREAD, "'partial' or 'turn'");
    return axe_cv_end(&d->r, SPREAD);
}

axe_status
axe_spread_read(axe_ctx *cx, const axe_mesh *m, const char *text,
                axe_spread *out)
{
    AXE_NEED(cx, m);
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    draft      d = {.r = axe_cv_open(cx, SPREAD, text), .m = m};
    axe_spread s = {.n_partial = 0};
    axe_axis   axis;

    AXE_TRY(axe_cv_axis(cx, "gpuid", AXE_KIND_DEVICE, &d.gpu));
    for (int i = 0; i < m->n_axis; i++)
        AXE_TRY(axe_cv_axis(cx, m->axis[i].name, AXE_KIND_DEVICE, &axis));
    AXE_TRY(strchr(text, ':') ? read_layout(&d, text, &s) : read_short(&d, &s));
    *out = s;
    return AXE_OK;
}

const char *
axe_spread_text(axe_ctx *cx, const axe_spread *s)
{
    axe_buf   b = {.cx = cx};
    axe_shape domain = axe_layout_shape(cx, s->layout);
    bool      whole = domain.n == s->shape.n;

    axe_puts(&b, axe_layout_text(cx, s->layout));
    for (int k = 0; k < s->shape.n && whole; k++)
        whole = domain.extent[k] == s->shape.extent[k];
    if (!whole)
        axe_cv_put_ints(&b, " of (", s->shape.n, s->shape.extent, ")");
    for (int i = 0; i < s->n_turn; i++)
        axe_putf(&b, "%s%" PRId64 ":%" PRId64 "*%" PRId64 "+%" PRId64,
                 i ? ", " : " + turn [", s->turn[i].extent, s->turn[i].stride,
                 s->turn[i].mul, s->turn[i].add);
    if (s->n_turn > 0)
        axe_putc(&b, ']');
    for (int i = 0; i < s->n_partial; i++)
        axe_putf(&b, "%s%" PRId64 ":%" PRId64, i ? ", " : " + partial [",
                 s->partial[i].extent, s->partial[i].stride);
    if (s->n_partial > 0)
        axe_putc(&b, ']');
    return b.text;
}
