/* sharding_text.c - layouts over devices as the systems write them.
 *
 * What of the mesh a text does not name holds copies; so a writer names what is
 * cut, and the rest follows. */
#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/sharding_write.h"

/* ------------------------------------------------- a placement for each axis
 */

/* Axis `a` placed after all before it: `at` a dimension (-1: nowhere), and in
 * how many parts what is local then is cut before a device takes its share. */
typedef struct placing {
    int     dim;
    int64_t above;
} placing;

/* Is what is still local of d, behind its n-th part, axis a of m devices, major
 * part first? */
static bool
next_are(const axe_parts *d, int n, int a, int64_t m)
{
    int64_t major = 1;

    for (; n < d->n && major < m; n++) {
        const axe_part *p = &d->part[n];

        if (p->device && p->axis < a)
            continue;
        if (!p->device || p->axis != a || p->major != major)
            return false;
        major *= p->extent;
    }
    return major == m;
}

static axe_status
placing_of(const axe_writing *w, int a, placing *out)
{
    *out = (placing){-1, 1};
    for (int k = 0; k < w->rank; k++) {
        const axe_parts *d = &w->dim[k];
        int64_t          above = 1;

        for (int j = 0; j < d->n; j++) {
            const axe_part *p = &d->part[j];

            if (p->device && p->axis < a)
                continue;
            if (!p->device || p->axis != a) {
                above *= p->extent;
                continue;
            }
            if (next_are(d, j, a, w->mesh.mesh[a])) {
                *out = (placing){k, above};
                return AXE_OK;
            }
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: of the %" PRId64
                            " devices of axis %d of the mesh, dimension %d "
                            "takes %" PRId64 " alone; Shardy's parts of axes "
                            "say that",
                            w->system, w->mesh.mesh[a], a, k, p->extent);
        }
    }
    return AXE_OK;
}

static axe_status
put_placements(axe_writing *w, const char *ends, const char *copies,
               int64_t most, const char **text)
{
    axe_buf b = {.cx = w->cx};
    placing p;

    axe_putc(&b, ends[0]);
    for (int a = 0; a < w->mesh.n_mesh; a++) {
        AXE_TRY(placing_of(w, a, &p));
        axe_puts(&b, a ? ", " : "");
        if (p.above > most)
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: axis %d of the mesh takes its share of each "
                            "of %" PRId64 " parts of dimension %d; %s",
                            w->system, a, p.above, p.dim,
                            most == 1 ? "_S (dtensor) says that"
                                      : "at most 4096 are taken");
        if (p.dim < 0)
            axe_puts(&b, copies);
        else if (p.above == 1)
            axe_putf(&b, "S(%d)", p.dim);
        else
            axe_putf(&b, "_S(%d, %" PRId64 ")", p.dim, p.above);
    }
    axe_putc(&b, ends[1]);
    *text = b.text;
    return AXE_OK;
}

axe_status
axe_cv_write_dtensor(axe_ctx *cx, const axe_layout *l,
                     const axe_convert_options *opt, const char **text)
{
    axe_writing w;

    AXE_TRY(axe_writing_begin(cx, "dtensor", l, opt, false, &w));
    AXE_TRY(axe_writing_by_axes(&w, false));
    return put_placements(&w, "[]", "R", AXE_PLACE_PARTS, text);
}

axe_status
axe_cv_write_oneflow(axe_ctx *cx, const axe_layout *l,
                     const axe_convert_options *opt, const char **text)
{
    axe_writing w;

    AXE_TRY(axe_writing_begin(cx, "oneflow", l, opt, false, &w));
    AXE_TRY(axe_writing_by_axes(&w, false));
    return put_placements(&w, "()", "B", 1, text);
}

/* ------------------------------------------- axes of the mesh, by dimension */

static axe_status
by_name(axe_ctx *cx, const char *system, const axe_layout *l,
        const axe_convert_options *opt, bool whole, axe_writing *w)
{
    AXE_TRY(axe_writing_begin(cx, system, l, opt, false, w));
    for (int a = 0; a < w->mesh.n_mesh; a++)
        if (!w->mesh.name[a])
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "%s: axes of the mesh need names, as in x=2,y=4",
                            system);
    AXE_TRY(axe_writing_by_axes(w, whole));
    return axe_writing_in_chunks(w);
}

static int
n_device_part(const axe_parts *d)
{
    int n = 0;

    while (n < d->n && d->part[n].device)
        n++;
    return n;
}

axe_status
axe_cv_write_jax(axe_ctx *cx, const axe_layout *l,
                 const axe_convert_options *opt, const char **text)
{
    axe_buf     b = {.cx = cx};
    axe_writing w;

    AXE_TRY(by_name(cx, "jax", l, opt, true, &w));
    axe_puts(&b, "P(");
    for (int k = 0; k < w.rank; k++) {
        int n = n_device_part(&w.dim[k]);

        axe_puts(&b, k ? ", " : "");
        if (n == 0)
            axe_puts(&b, "None");
        axe_puts(&b, n > 1 ? "(" : "");
        for (int j = 0; j < n; j++)
            axe_putf(&b, "%s'%s'", j ? ", " : "",
                     w.mesh.name[w.dim[k].part[j].axis]);
        axe_puts(&b, n > 1 ? ")" : "");
    }
    axe_putc(&b, ')');
    *text = b.text;
    return AXE_OK;
}

axe_status
axe_cv_write_shardy(axe_ctx *cx, const axe_layout *l,
                    const axe_convert_options *opt, const char **text)
{
    axe_buf     b = {.cx = cx};
    axe_writing w;

    AXE_TRY(by_name(cx, "shardy", l, opt, false, &w));
    axe_puts(&b, "#sdy.sharding<@mesh, [");
    for (int k = 0; k < w.rank; k++) {
        int n = n_device_part(&w.dim[k]);

        axe_puts(&b, k ? ", {" : "{");
        for (int j = 0; j < n; j++) {
            const axe_part *p = &w.dim[k].part[j];

            axe_putf(&b, "%s\"%s\"", j ? ", " : "", w.mesh.name[p->axis]);
            if (p->extent != w.mesh.mesh[p->axis])
                axe_putf(&b, ":(%" PRId64 ")%" PRId64, p->major, p->extent);
        }
        axe_putc(&b, '}');
    }
    axe_puts(&b, "]>");
    *text = b.text;
    return AXE_OK;
}

axe_status
axe_cv_write_alpa(axe_ctx *cx, const axe_layout *l,
                  const axe_convert_options *opt, const char **text)
{
    axe_buf     b = {.cx = cx};
    axe_writing w;

    AXE_TRY(axe_writing_begin(cx, "alpa", l, opt, false, &w));
    AXE_TRY(axe_writing_by_axes(&w, true));
    AXE_TRY(axe_writing_in_chunks(&w));
    for (int k = 0; k < w.rank; k++) {
        int n = n_device_part(&w.dim[k]);

        axe_putc(&b, n ? 'S' : 'R');
        for (int j = 0; j < n; j++)
            axe_putf(&b, "%d", w.dim[k].part[j].axis);
    }
    *text = b.text;
    return AXE_OK;
}

axe_status
axe_cv_write_megatron(axe_ctx *cx, const axe_layout *l,
                      const axe_convert_options *opt, const char **text)
{
    axe_writing w;
    int         cut = -1;

    AXE_TRY(axe_writing_begin(cx, "megatron", l, opt, false, &w));
    if (w.mesh.n_mesh != 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "megatron: a mesh of one axis is needed");
    AXE_TRY(axe_writing_by_axes(&w, true));
    AXE_TRY(axe_writing_in_chunks(&w));
    for (int k = 0; k < w.rank; k++)
        cut = n_device_part(&w.dim[k]) > 0 ? k : cut;
    if (cut > 0 && cut < w.rank - 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "megatron: dimension %d of %d is cut, and column or "
                        "row are the first or the last",
                        cut, w.rank);
    *text = cut < 0 ? "replicated" : cut == 0 ? "column" : "row";
    return AXE_OK;
}

/* ------------------------------------------------------------------- GSPMD */

/* The devices' digits in the order of the tiles, what is side by side as one;
 * how many. */
static int
tile_digits(const axe_writing *w, axe_part *out)
{
    int n = 0;

    for (int k = 0; k <= w->rank; k++) {
        const axe_parts *d = k < w->rank ? &w->dim[k] : &w->copy;

        for (int j = 0; j < d->n; j++) {
            const axe_part *p = &d->part[k < w->rank ? j : d->n - 1 - j];

            if (!p->device)
                continue;
            if (n > 0 && out[n - 1].stride == p->extent * p->stride) {
                out[n - 1].extent *= p->extent;
                out[n - 1].stride = p->stride;
            } else {
                out[n++] = *p;
            }
        }
    }
    return n;
}

/* "<=[8]", "<=[2,4]T(1,0)": the digits by their steps, and where each goes. */
static void
put_iota(axe_buf *b, const axe_part *digit, int n)
{
    int *by = axe_new_array(b->cx, int, n + 1);

    for (int i = 0; i < n; i++) {
        by[i] = 0;
        for (int j = 0; j < n; j++)
            by[i] += digit[j].stride > digit[i].stride;
    }
    axe_puts(b, "<=[");
    for (int at = 0; at < n; at++)
        for (int i = 0; i < n; i++)
            if (by[i] == at)
                axe_putf(b, "%s%" PRId64, at ? "," : "", digit[i].extent);
    axe_putc(b, ']');
    for (int i = 0; n > 1 && i < n; i++)
        axe_putf(b, "%s%d%s", i ? "," : "T(", by[i], i == n - 1 ? ")" : "");
}

/* "3,1,2,0" */
static void
put_devices(axe_buf *b, const axe_writing *w, const axe_part *digit, int n)
{
    for (int64_t t = 0; t < w->n_device; t++) {
        int64_t at = w->first, rest = t;

        for (int i = n - 1; i >= 0; rest /= digit[i--].extent)
            at += rest % digit[i].extent * digit[i].stride;
        axe_putf(b, "%s%" PRId64, t ? "," : "", at);
    }
}

static int64_t
devices_of(const axe_parts *d)
{
    int64_t n = 1;

    for (int j = 0; j < d->n; j++)
        n *= d->part[j].device ? d->part[j].extent : 1;
    return n;
}

/* Does one device of several have all? */
static bool
one_device(const axe_writing *w)
{
    int64_t n = devices_of(&w->copy);

    for (int k = 0; k < w->rank; k++)
        n *= devices_of(&w->dim[k]);
    return n == 1 && w->n_device > 1 && w->first >= 0 && w->first < w->n_device;
}

axe_status
axe_cv_write_gspmd(axe_ctx *cx, const axe_layout *l,
                   const axe_convert_options *opt, const char **text)
{
    axe_buf     b = {.cx = cx};
    axe_writing w;
    axe_part   *digit;
    int64_t     copies, least = 0;
    bool        list = false;
    int         n;

    AXE_TRY(axe_writing_begin(cx, "gspmd", l, opt, false, &w));
    if (one_device(&w)) {
        *text = axe_textf(cx, "{maximal device=%" PRId64 "}", w.first);
        return AXE_OK;
    }
    AXE_TRY(axe_writing_over_mesh(&w));
    AXE_TRY(axe_writing_in_chunks(&w));
    digit = axe_new_array(cx, axe_part, w.n_part + 1);
    n = tile_digits(&w, digit);
    for (int i = 0; i < n; i++)
        if (digit[i].stride < 0) {
            least += (digit[i].extent - 1) * digit[i].stride;
            list = true;
        }
    if (w.first + least != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "gspmd: the devices begin at %" PRId64
                        "; the mesh begins at 0",
                        w.first + least);
    copies = devices_of(&w.copy);
    *text = "{replicated}";
    if (copies == w.n_device)
        return AXE_OK;
    axe_puts(&b, "{devices=[");
    for (int k = 0; k < w.rank; k++)
        axe_putf(&b, "%s%" PRId64, k ? "," : "", devices_of(&w.dim[k]));
    if (copies > 1)
        axe_putf(&b, ",%" PRId64, copies);
    axe_putc(&b, ']');
    if (list)
        put_devices(&b, &w, digit, n);
    else
        put_iota(&b, digit, n);
    axe_puts(&b, copies > 1 ? " last_tile_dim_replicate}" : "}");
    *text = b.text;
    return AXE_OK;
}

/* ----------------------------------------------------------------- zig-zag */

/* A layout on one device alone, whose dimension k goes into two chunks. */
axe_status
axe_cv_write_zigzag(axe_ctx *cx, const axe_layout *l,
                    const axe_convert_options *opt, const char **text)
{
    axe_writing w;
    axe_shape   shape;

    AXE_TRY(axe_writing_begin(cx, "zigzag", l, opt, false, &w));
    if (w.n_device > 1) {
        axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "zigzag: of %d ranks none of its shardings is a layout: a "
                 "rank's second chunk runs against the ranks",
                 w.n_device);
        axe_help(cx, "what this layout is, dtensor, jax or gspmd may say");
        return AXE_EUNSUPPORTED;
    }
    AXE_TRY(axe_writing_over_mesh(&w));
    AXE_TRY(axe_writing_forward(&w));
    shape = opt->shape.n > 0 ? opt->shape : axe_layout_shape(cx, l);
    for (int k = 0; k < shape.n; k++)
        if (shape.extent[k] % 2 == 0) {
            *text = axe_textf(cx, "zigzag(dim=%d)", k);
            return AXE_OK;
        }
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "zigzag: no dimension of %s goes into two chunks",
                    axe_layout_text(cx, l));
}

/* ------------------------------------------------------------ block-cyclic */

/* Dimension k as rounds of blocks over axis k of the mesh: the block. */
static axe_status
block_of(const axe_writing *w, int k, int64_t *block)
{
    const axe_parts *d = &w->dim[k];
    int64_t          m = w->mesh.mesh[k];
    int              at = -1;

    *block = 1;
    for (int j = 0; j < d->n; j++) {
        if (d->part[j].device && (at >= 0 || d->part[j].axis != k))
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "blockcyclic: dimension %d is over axis %d of the "
                            "mesh, and goes over another",
                            k, k);
        at = d->part[j].device ? j : at;
    }
    if (m > 1 && at < 0)
        return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "blockcyclic: dimension %d is not over the %" PRId64
                        " processes of axis %d: no copies are kept",
                        k, m, k);
    for (int j = at + 1; j < d->n; j++)
        *block *= d->part[j].extent;
    return AXE_OK;
}

axe_status
axe_cv_write_blockcyclic(axe_ctx *cx, const axe_layout *l,
                         const axe_convert_options *opt, const char **text)
{
    axe_buf     b = {.cx = cx};
    int64_t     block[AXE_SHARD_RANK], step = 1;
    axe_writing w;
    axe_status  st = AXE_OK;
    axe_mark    mark = axe_ctx_mark(cx);

    for (int column = 0; column < 2; column++) {
        axe_ctx_release(cx, mark);
        AXE_TRY(axe_writing_begin(cx, "blockcyclic", l, opt, true, &w));
        if (w.mesh.n_mesh != w.rank)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "blockcyclic: a mesh of the tensor's rank, %d, is "
                            "needed",
                            w.rank);
        for (int a = 0; column && a < w.rank; step *= w.mesh.mesh[a++])
            w.mesh.stride[a] = step;
        st = axe_writing_by_axes(&w, true);
        for (int k = 0; st == AXE_OK && k < w.rank; k++)
            st = block_of(&w, k, &block[k]);
        if (st != AXE_OK)
            continue;
        axe_cv_put_ints(&b, "nb=(", w.rank, block, ")");
        axe_puts(&b, column ? ", order=C" : "");
        *text = b.text;
        return AXE_OK;
    }
    return st;
}
