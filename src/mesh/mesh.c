/* mesh.c - meshes as text: axes, their order, links. */
#include "axe/mesh.h"

#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "convert/text.h"
#include "mesh/problem.h"

enum { MOST_LINKS = 16 };

typedef struct unit {
    const char *name;
    int64_t     scale;
} unit;

/* The largest first, so that printing takes the shortest text. */
static const unit times[] = {{"ms", 1000000}, {"us", 1000}, {"ns", 1}};
static const unit rates[] = {{"TB/s", 1000000000000},
                             {"GB/s", 1000000000},
                             {"MB/s", 1000000},
                             {"kB/s", 1000},
                             {"B/s", 1}};

typedef struct draft {
    axe_reader    r;
    int           n_axis, n_link;
    axe_mesh_axis axis[MESH_AXES];
    axe_link      link[MOST_LINKS];
    int           order[MESH_AXES];
    bool          ordered;
} draft;

static axe_status
wrong(draft *d, axe_status code, size_t from, const char *what)
{
    return axe_fail(d->r.cx, axe_scan_span(&d->r, from, d->r.at), code,
                    "mesh: %s", what);
}

/* The link of that name, known or not yet; -1: there are too many. */
static int
link_at(draft *d, const char *name)
{
    static const axe_link known[] = {
#define LINK(name, latency, bandwidth, source)                                 \
    {#name, latency, bandwidth, false, false},
#include "mesh/links.def"
    };
    axe_link *l = &d->link[d->n_link];

    for (int i = 0; i < d->n_link; i++)
        if (strcmp(d->link[i].name, name) == 0)
            return i;
    if (d->n_link == MOST_LINKS)
        return -1;
    *l = (axe_link){name, -1, 0, false, false};
    for (int i = 0; i < AXE_LEN(known); i++)
        if (strcmp(known[i].name, name) == 0)
            *l = known[i];
    return d->n_link++;
}

static axe_status
read_link_name(draft *d, const char *name, size_t from, int *out)
{
    *out = link_at(d, name);
    return *out >= 0 ? AXE_OK
                     : wrong(d, AXE_ELIMIT, from, "more than 16 links");
}

/* axis = name "=" size [ "@" link ] */
static axe_status
read_axis(draft *d)
{
    axe_mesh_axis *a = &d->axis[d->n_axis];
    const char    *name = "near";
    size_t         from;

    axe_scan_peek(&d->r);
    from = d->r.at;
    if (!(a->name = axe_scan_name(&d->r)))
        return axe_cv_expected(&d->r, "mesh", "the name of an axis");
    for (int i = 0; i < d->n_axis; i++)
        if (strcmp(d->axis[i].name, a->name) == 0)
            return wrong(d, AXE_ENAME, from, "two axes of one name");
    if (strcmp(a->name, "m") == 0 || strcmp(a->name, "gpuid") == 0)
        return wrong(d, AXE_ENAME, from,
                     "m and gpuid are what all devices have");
    AXE_TRY(axe_cv_need(&d->r, "mesh", '='));
    AXE_TRY(axe_cv_int(&d->r, "mesh", "how many devices", &a->size));
    if (a->size < 1)
        return wrong(d, AXE_ESHAPE, from, "an axis has at least one device");
    if (axe_scan_take(&d->r, '@')) {
        axe_scan_peek(&d->r);
        if (!(name = axe_scan_name(&d->r)))
            return axe_cv_expected(&d->r, "mesh", "the name of a link");
    }
    AXE_TRY(read_link_name(d, name, from, &a->link));
    d->n_axis++;
    return AXE_OK;
}

/* number = digits [ "." digits ], in units of the last row of `u`. */
static axe_status
read_amount(draft *d, int n, const unit *u, const char *what, int64_t *out)
{
    int64_t whole, part = 0, base = 1;
    size_t  from;

    axe_scan_peek(&d->r);
    from = d->r.at;
    AXE_TRY(axe_cv_int(&d->r, "mesh", what, &whole));
    if (d->r.at < d->r.len && d->r.text[d->r.at] == '.')
        for (d->r.at++; d->r.at < d->r.len && axe_is_digit(d->r.text[d->r.at]);
             d->r.at++) {
            if (base > 100000000000)
                return wrong(d, AXE_ELIMIT, from, "too many decimals");
            part = part * 10 + (d->r.text[d->r.at] - '0');
            base *= 10;
        }
    axe_scan_peek(&d->r);
    for (int i = 0; i < n; i++) {
        size_t  len = strlen(u[i].name);
        int64_t rest;

        if (d->r.at + len > d->r.len ||
            strncmp(d->r.text + d->r.at, u[i].name, len) != 0)
            continue;
        d->r.at += len;
        if (whole < 0 || !axe_mul(whole, u[i].scale, out) ||
            !axe_mul(part, u[i].scale, &rest) || rest % base != 0 ||
            !axe_add(*out, rest / base, out))
            return wrong(d, AXE_ELIMIT, from,
                         "a number from 0 on, of whole ns or B/s");
        return AXE_OK;
    }
    return axe_cv_expected(&d->r, "mesh",
                           u == times ? "ns, us or ms"
                                      : "B/s, kB/s, MB/s, GB/s or TB/s");
}

static int
axis_of(const draft *d, const char *name)
{
    for (int i = 0; i < d->n_axis; i++)
        if (strcmp(d->axis[i].name, name) == 0)
            return i;
    return -1;
}

static axe_status
read_order(draft *d)
{
    bool seen[MESH_AXES] = {false};
    int  n = 0;

    do {
        const char *name;
        size_t      from;
        int         a;

        axe_scan_peek(&d->r);
        from = d->r.at;
        if (!(name = axe_scan_name(&d->r)))
            return axe_cv_expected(&d->r, "mesh", "the name of an axis");
        a = axis_of(d, name);
        if (a < 0 || seen[a])
            return wrong(d, AXE_ENAME, from,
                         a < 0 ? "no such axis" : "an axis twice in its order");
        seen[a] = true;
        d->order[n++] = a;
    } while (axe_scan_take(&d->r, ','));
    d->ordered = true;
    return n == d->n_axis ? AXE_OK
                          : wrong(d, AXE_ESHAPE, d->r.at,
                                  "the order names all axes, slow to fast");
}

/* order | link */
static axe_status
read_tail(draft *d)
{
    const char *name;
    size_t      from;
    int         i;

    axe_scan_peek(&d->r);
    from = d->r.at;
    if (!(name = axe_scan_name(&d->r)))
        return axe_cv_expected(&d->r, "mesh", "'order' or the name of a link");
    if (!axe_scan_take(&d->r, ':'))
        return strcmp(name, "order") == 0 && !d->ordered
                   ? read_order(d)
                   : axe_cv_expected(&d->r, "mesh", "':' behind a link");
    AXE_TRY(read_link_name(d, name, from, &i));
    if (d->link[i].known)
        return wrong(d, AXE_ENAME, from, "a link is described twice");
    d->link[i].known = true;
    AXE_TRY(read_amount(d, AXE_LEN(times), times, "a latency",
                        &d->link[i].latency));
    AXE_TRY(axe_cv_need(&d->r, "mesh", ','));
    AXE_TRY(read_amount(d, AXE_LEN(rates), rates, "a bandwidth",
                        &d->link[i].bandwidth));
    return d->link[i].bandwidth > 0
               ? AXE_OK
               : wrong(d, AXE_ESHAPE, from, "a bandwidth is above 0");
}

/* Strides by the order, links that are used by bandwidth. */
static axe_status
finish(draft *d, const axe_mesh **out)
{
    axe_mesh      *m = axe_new(d->r.cx, axe_mesh);
    axe_mesh_axis *axis = axe_new_array(d->r.cx, axe_mesh_axis, d->n_axis);
    axe_link      *link = axe_new_array(d->r.cx, axe_link, d->n_link + 1);
    bool           used[MOST_LINKS] = {false};

    *m = (axe_mesh){d->n_axis, 0, axis, link, 1};
    for (int k = d->n_axis - 1; k >= 0; k--) {
        axe_mesh_axis *a = &d->axis[d->ordered ? d->order[k] : k];

        a->stride = m->n_device;
        if (!axe_mul(m->n_device, a->size, &m->n_device) ||
            m->n_device > MESH_DEVICES)
            return wrong(d, AXE_ELIMIT, 0, "more than 2^40 devices");
        used[a->link] = true;
    }
    for (int i = 0; i < d->n_link; i++) {
        int at = m->n_link;

        if (!used[i])
            continue;
        if (d->link[i].latency < 0)
            return axe_fail(d->r.cx, AXE_NOWHERE, AXE_ENAME,
                            "mesh: link %s is not described: add '; %s: 2us, "
                            "50GB/s'",
                            d->link[i].name, d->link[i].name);
        for (; at > 0 && link[at - 1].bandwidth > d->link[i].bandwidth; at--)
            link[at] = link[at - 1];
        link[at] = d->link[i];
        m->n_link++;
    }
    for (int k = 0; k < d->n_axis; k++) {
        axis[k] = d->axis[k];
        for (int i = 0; i < m->n_link; i++)
            if (strcmp(link[i].name, d->link[d->axis[k].link].name) == 0)
                axis[k].link = i;
    }
    *out = m;
    return AXE_OK;
}

axe_status
axe_mesh_read(axe_ctx *cx, const char *text, const axe_mesh **out)
{
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    draft d = {.r = axe_cv_open(cx, "mesh", text)};

    do {
        if (d.n_axis == MESH_AXES)
            return wrong(&d, AXE_ELIMIT, d.r.at, "more than 16 axes");
        AXE_TRY(read_axis(&d));
    } while (axe_scan_take(&d.r, ','));
    while (axe_scan_take(&d.r, ';'))
        AXE_TRY(read_tail(&d));
    AXE_TRY(axe_cv_end(&d.r, "mesh"));
    return finish(&d, out);
}

const axe_mesh *
axe_mesh_with(axe_ctx *cx, const axe_mesh *m, const axe_link *l)
{
    axe_mesh      *out = axe_new(cx, axe_mesh);
    axe_mesh_axis *axis = axe_new_array(cx, axe_mesh_axis, m->n_axis);
    axe_link      *link = axe_new_array(cx, axe_link, m->n_link + 1);
    int            at[MOST_LINKS]; /* where number i is now */

    for (int i = 0; i < m->n_link; i++) {
        axe_link x = m->link[i];
        int      k = i;

        if (strcmp(x.name, l->name) == 0 && !x.known) {
            x = *l;
            x.name = m->link[i].name;
        }
        for (; k > 0 && link[k - 1].bandwidth > x.bandwidth; k--)
            link[k] = link[k - 1];
        for (int j = 0; j < i; j++)
            at[j] += at[j] >= k;
        link[k] = x;
        at[i] = k;
    }
    for (int k = 0; k < m->n_axis; k++) {
        axis[k] = m->axis[k];
        axis[k].link = at[axis[k].link];
    }
    *out = (axe_mesh){m->n_axis, m->n_link, axis, link, m->n_device};
    return out;
}

static void
put_amount(axe_buf *b, int64_t v, int n, const unit *u)
{
    int i = 0;

    while (i < n - 1 && (v == 0 || v % u[i].scale != 0))
        i++;
    axe_putf(b, "%" PRId64 "%s", v / u[i].scale, u[i].name);
}

void
mesh_put_link(axe_buf *b, const axe_link *l)
{
    axe_putf(b, "%s: ", l->name);
    put_amount(b, l->latency, AXE_LEN(times), times);
    axe_puts(b, ", ");
    put_amount(b, l->bandwidth, AXE_LEN(rates), rates);
}

const char *
axe_mesh_text(axe_ctx *cx, const axe_mesh *m)
{
    axe_buf b = {.cx = cx};
    int64_t last = 0;
    bool    written = true; /* slow to fast */

    for (int k = 0; k < m->n_axis; k++) {
        const axe_mesh_axis *a = &m->axis[k];
        const char          *link = m->link[a->link].name;
        bool                 near = strcmp(link, "near") == 0;

        axe_putf(&b, "%s%s=%" PRId64 "%s%s", k ? ", " : "", a->name, a->size,
                 near ? "" : " @ ", near ? "" : link);
        written = written && (k == 0 || a->stride * a->size == last);
        last = a->stride;
    }
    for (int k = 0, n = 0; !written && n < m->n_axis;) {
        /* by stride, and of size-1 axes those written first are slower */
        int best = -1;

        for (int i = 0; i < m->n_axis; i++)
            if (mesh_rank(m, i) == k)
                best = i;
        axe_putf(&b, "%s%s", n++ ? ", " : "; order ", m->axis[best].name);
        k++;
    }
    for (int i = 0; i < m->n_link; i++)
        if (m->link[i].known) {
            axe_puts(&b, "; ");
            mesh_put_link(&b, &m->link[i]);
        }
    return b.len ? b.text : "";
}

/* Slow to fast, how many axes are slower. */
int
mesh_rank(const axe_mesh *m, int axis)
{
    const axe_mesh_axis *a = &m->axis[axis];
    int                  n = 0;

    for (int i = 0; i < m->n_axis; i++) {
        const axe_mesh_axis *o = &m->axis[i];
        int64_t              top = o->stride * o->size;

        n +=
            i != axis &&
            (top > a->stride * a->size ||
             (top == a->stride * a->size &&
              (o->stride > a->stride || (o->stride == a->stride && i < axis))));
    }
    return n;
}
