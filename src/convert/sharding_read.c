/* sharding_read.c - the specifications of each system, into runs and digits.
 *
 *     dtensor      ["S(0)", "R", "_S(0, 2)", "P(sum)"], left to right; chunks
 * of ceil(n / m) of what a device has so far jax, shardy  [["x"], [], ["y",
 * "z"]]: mesh axes of each dimension, major first; shardy has sub-axes "x:(2)4"
 *     alpa         "S01RS1"
 *     gspmd        "{devices=[2,4]<=[8]}", V1 lists too
 *     oneflow      ["S0", "B", "P"]: the first N mod m ranks get one more
 *     blockcyclic  {"nb", "src", "order"}: ScaLAPACK's
 *     zigzag_cp    rank r has chunks r and 2c - 1 - r
 *     megatron     "column", "row", "replicated": of a weight (out, in) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sharding.h"
#include "convert/text.h"
#include "layout/radix.h"

static axe_status
wrong(axe_ctx *cx, const char *system, const char *what)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: %s", system, what);
}

/* ------------------------------------------------------------------- runs */

/* Elements [from, to) of r. */
static axe_runs
part(axe_ctx *cx, const axe_runs *r, int64_t from, int64_t to)
{
    axe_runs out = {0, axe_new_array(cx, axe_run, r->n + 1)};
    int64_t  at = 0;

    for (int i = 0; i < r->n; at += r->run[i++].size) {
        int64_t a = from > at ? from - at : 0;
        int64_t b = to < at + r->run[i].size ? to - at : r->run[i].size;

        if (a < b)
            out.run[out.n++] = (axe_run){r->run[i].begin + a, b - a};
    }
    return out;
}

static void
append(axe_ctx *cx, axe_runs *a, const axe_runs *b)
{
    axe_run *run = axe_new_array(cx, axe_run, a->n + b->n + 1);

    for (int i = 0; i < a->n + b->n; i++)
        run[i] = i < a->n ? a->run[i] : b->run[i - a->n];
    *a = (axe_runs){a->n + b->n, run};
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* torch.chunk: the i-th of m parts. */
static axe_runs
chunk(axe_ctx *cx, const axe_runs *r, int64_t i, int64_t m)
{
    int64_t n = axe_runs_size(r), c = n == 0 ? 0 : (n - 1) / m + 1;

    return part(cx, r, least(i * c, n), least((i + 1) * c, n));
}

/* ------------------------------------------------------------------ digits */

static void
no_layout(axe_shard_dim *d, const char *why)
{
    d->why = d->why ? d->why : why;
}

/* The leading m of what is local, behind `skip` of it, becomes devices `stride`
 * apart.  Where that does not divide, a dimension not sharded before is rounded
 * up. */
static void
give(axe_shard_dim *d, int64_t skip, int64_t m, int64_t stride)
{
    axe_shard_dim out = {.n = 0};
    bool          whole = d->n == 1 && d->digit[0].stride == 0 && skip == 1;

    if (d->why || d->n + 4 > AXE_SHARD_DIGITS) {
        no_layout(d, "too many parts");
        return;
    }
    if (whole && d->digit[0].extent % m != 0)
        d->digit[0].extent += m - d->digit[0].extent % m;
    for (int i = 0; i < d->n; i++) {
        axe_shard_digit g = d->digit[i];
        int64_t        *want[2] = {&skip, &m};

        for (int k = 0; k < 2 && g.stride == 0; k++) {
            int64_t take = *want[k];

            if (take == 1 || (k == 1 && skip != 1))
                continue;
            if (g.extent % take != 0 && take % g.extent != 0) {
                no_layout(d, "uneven parts of parts: a device's chunk is "
                             "rounded up by its own size, which no stride "
                             "follows");
                return;
            }
            take = least(take, g.extent);
            if (take > 1)
                out.digit[out.n++] =
                    (axe_shard_digit){take, k == 1 ? stride * (m / take) : 0};
            *want[k] /= take;
            g.extent /= take;
        }
        if (g.extent > 1 || g.stride != 0)
            out.digit[out.n++] = g;
    }
    if (m != 1 || skip != 1) {
        no_layout(d, "more devices than elements of a part");
        return;
    }
    *d = out;
}

/* -------------------------------------------------------------------- mesh */

static axe_status
read_mesh(axe_ctx *cx, const axe_json *v, axe_sharding *s)
{
    int64_t n = 1;

    if (!v || (v->kind != AXE_JSON_LIST && v->kind != AXE_JSON_OBJECT))
        return wrong(cx, "mesh",
                     "a list of extents, or names with extents, is "
                     "needed");
    for (const axe_json *c = v->child; c; c = c->next) {
        if (s->n_mesh == AXE_SHARD_RANK)
            return wrong(cx, "mesh", "more than 8 axes");
        if (c->kind != AXE_JSON_INT || c->integer < 1 ||
            c->integer > AXE_SHARD_DEVICES)
            return wrong(cx, "mesh", "extents are from 1 to 4096");
        s->name[s->n_mesh] = c->key;
        s->mesh[s->n_mesh++] = c->integer;
        n *= c->integer;
        if (n > AXE_SHARD_DEVICES)
            return wrong(cx, "mesh", "more than 4096 devices");
    }
    s->n_device = (int)n;
    for (int a = s->n_mesh - 1; a >= 0; a--)
        s->stride[a] =
            a == s->n_mesh - 1 ? 1 : s->stride[a + 1] * s->mesh[a + 1];
    return AXE_OK;
}

static int64_t
mesh_at(const axe_sharding *s, int device, int a)
{
    return device / s->stride[a] % s->mesh[a];
}

static axe_runs *
own(axe_sharding *s, int device, int k)
{
    return &s->own[device * s->rank + k];
}

/* Dimension k goes in m chunks over devices `stride` apart. */
static void
shard(axe_ctx *cx, axe_sharding *s, int k, int64_t m, int64_t stride)
{
    for (int p = 0; p < s->n_device; p++)
        *own(s, p, k) = chunk(cx, own(s, p, k), p / stride % m, m);
    give(&s->dim[k], 1, m, stride);
}

/* ------------------------------------------------------ DTensor, OneFlow */

static axe_status
check_dim(axe_ctx *cx, const axe_sharding *s, const char *system, int64_t k)
{
    if (k >= 0 && k < s->rank)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: there is no dimension %" PRId64 " of %d", system, k,
                    s->rank);
}

/* f parts, each in m; a device joins its own of them. */
static void
strided(axe_ctx *cx, axe_sharding *s, int k, int64_t f, int a)
{
    int64_t n = s->shape[k];

    for (int p = 0; p < s->n_device; p++) {
        axe_runs all = *own(s, p, k), joined = {0}, one;

        for (int64_t i = 0; i < f; i++) {
            one = chunk(cx, &all, i, f);
            one = chunk(cx, &one, mesh_at(s, p, a), s->mesh[a]);
            append(cx, &joined, &one);
        }
        *own(s, p, k) = joined;
    }
    if (n % (f * s->mesh[a]) != 0)
        no_layout(&s->dim[k], "an uneven strided shard");
    give(&s->dim[k], f, s->mesh[a], s->stride[a]);
}

static axe_status
placement(axe_ctx *cx, axe_sharding *s, const char *text, int a)
{
    axe_reader r = axe_cv_open(cx, "dtensor", text);
    int64_t    v[AXE_CV_RANK];
    int        n;
    bool joined = axe_scan_word(&r, "_S") || axe_scan_word(&r, "_StridedShard");

    if (joined || axe_scan_word(&r, "S") || axe_scan_word(&r, "Shard")) {
        AXE_TRY(axe_cv_ints(&r, "dtensor", '(', ')', v, &n));
        if (n != 1 + joined || (joined && (v[1] < 1 || v[1] > 4096)))
            return wrong(cx, "dtensor", "S(dim) or _S(dim, parts)");
        v[0] += v[0] < 0 ? s->rank : 0;
        AXE_TRY(check_dim(cx, s, "dtensor", v[0]));
        s->used[a] = true;
        if (joined)
            strided(cx, s, (int)v[0], v[1], a);
        else
            shard(cx, s, (int)v[0], s->mesh[a], s->stride[a]);
    } else if (axe_scan_word(&r, "P") || axe_scan_word(&r, "Partial")) {
        const char *op = "sum";

        if (axe_scan_take(&r, '(')) {
            axe_scan_peek(&r);
            if (!(op = axe_scan_name(&r)))
                return axe_cv_expected(&r, "dtensor", "an operator");
            AXE_TRY(axe_cv_need(&r, "dtensor", ')'));
        }
        axe_putf(&s->partial, "%s{\"mesh_dim\":%d,\"op\":\"%s\"}",
                 s->partial.len ? "," : "", a, op);
    } else if (axe_scan_word(&r, "R") || axe_scan_word(&r, "Replicate")) {
        if (axe_scan_take(&r, '('))
            AXE_TRY(axe_cv_need(&r, "dtensor", ')'));
    } else {
        return axe_cv_expected(&r, "dtensor", "S(..), R, P(..) or _S(.., ..)");
    }
    return axe_cv_end(&r, "dtensor");
}

static axe_status
check_list(axe_ctx *cx, const char *system, const axe_json *v, int n,
           axe_json_kind kind)
{
    bool good = v->kind == AXE_JSON_LIST && v->n_child == n;

    for (const axe_json *c = good ? v->child : NULL; c && good; c = c->next)
        good = c->kind == kind &&
               (kind != AXE_JSON_TEXT || strlen(c->text) == c->len);
    return good ? AXE_OK
                : axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                           "%s: the spec must be a list of %d %s", system, n,
                           kind == AXE_JSON_TEXT ? "texts" : "lists");
}

static axe_status
read_dtensor(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    int a = 0;

    AXE_TRY(check_list(cx, "dtensor", spec, s->n_mesh, AXE_JSON_TEXT));
    for (const axe_json *c = spec->child; c; c = c->next)
        AXE_TRY(placement(cx, s, c->text, a++));
    return AXE_OK;
}

static axe_status
read_oneflow(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    int a = 0;

    AXE_TRY(check_list(cx, "oneflow", spec, s->n_mesh, AXE_JSON_TEXT));
    for (const axe_json *c = spec->child; c; c = c->next, a++) {
        int64_t k = strtoll(c->text + 1, NULL, 10), m = s->mesh[a];

        if (strcmp(c->text, "B") == 0)
            continue;
        if (strcmp(c->text, "P") == 0) {
            axe_putf(&s->partial, "%s{\"mesh_dim\":%d,\"op\":\"sum\"}",
                     s->partial.len ? "," : "", a);
            continue;
        }
        if (c->text[0] != 'S' || !axe_is_digit(c->text[1]))
            return wrong(cx, "oneflow", "S0, S1, .., B or P");
        AXE_TRY(check_dim(cx, s, "oneflow", k));
        s->used[a] = true;
        if (s->shape[k] % m != 0)
            no_layout(&s->dim[k],
                      "balanced parts: the first have one element more");
        for (int p = 0; p < s->n_device; p++) {
            int64_t n = axe_runs_size(own(s, p, (int)k));
            int64_t i = mesh_at(s, p, a), q = n / m, r = n % m;
            int64_t from = i * q + least(i, r);

            *own(s, p, (int)k) =
                part(cx, own(s, p, (int)k), from, from + q + (i < r));
        }
        give(&s->dim[k], 1, m, s->stride[a]);
    }
    return AXE_OK;
}

/* --------------------------------------------------- JAX, Shardy, Alpa */

/* The devices of dimension k: the product of `n` (extent, stride), major first,
 * is one chunking. */
static void
shard_by(axe_ctx *cx, axe_sharding *s, int k, int n, const axe_shard_digit *by)
{
    int64_t m = 1, c = s->shape[k];

    for (int i = 0; i < n; i++)
        m *= by[i].extent;
    c = (c - 1) / m + 1;
    for (int p = 0; p < s->n_device; p++) {
        int64_t at = 0;

        for (int i = 0; i < n; i++)
            at = at * by[i].extent + p / by[i].stride % by[i].extent;
        *own(s, p, k) = chunk(cx, own(s, p, k), at, m);
    }
    if (n >= AXE_SHARD_DIGITS) {
        no_layout(&s->dim[k], "too many parts");
        return;
    }
    for (int i = 0; i < n; i++)
        s->dim[k].digit[i] = by[i];
    s->dim[k].digit[n] = (axe_shard_digit){c, 0};
    s->dim[k].n = n + 1;
}

/* What of the mesh is taken, to tell what is replicated. */
typedef struct taken {
    int             n;
    axe_shard_digit digit[AXE_SHARD_DIGITS];
} taken;

/* "x" or "x:(p)k" */
static axe_status
read_axis(axe_ctx *cx, const axe_sharding *s, const char *text,
          axe_shard_digit *out)
{
    size_t  n = strcspn(text, ":");
    int     a = 0, at = 0;
    int64_t p = 1, k;

    while (a < s->n_mesh &&
           (!s->name[a] || strncmp(s->name[a], text, n) != 0 || s->name[a][n]))
        a++;
    if (a == s->n_mesh)
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "mesh: no axis '%.*s'",
                        n < 40 ? (int)n : 40, text);
    k = s->mesh[a];
    if (text[n] &&
        (sscanf(text + n, ":(%" SCNd64 ")%" SCNd64 "%n", &p, &k, &at) != 2 ||
         text[n + (size_t)at] || p < 1 || k < 1 || p > s->mesh[a] ||
         k > s->mesh[a] || s->mesh[a] % (p * k) != 0))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "mesh: '%s' is no part of an axis of %" PRId64, text,
                        s->mesh[a]);
    *out = (axe_shard_digit){k, s->stride[a] * (s->mesh[a] / (p * k))};
    return AXE_OK;
}

static int
by_stride(const void *a, const void *b)
{
    const axe_shard_digit *x = a, *y = b;

    return (x->stride > y->stride) - (x->stride < y->stride);
}

/* Devices that no dimension tells apart hold copies. */
static axe_status
copies(axe_ctx *cx, axe_sharding *s, taken *t)
{
    int64_t done = 1;

    qsort(t->digit, (size_t)t->n, sizeof *t->digit, by_stride);
    for (int i = 0; i <= t->n; i++) {
        int64_t next = i < t->n ? t->digit[i].stride : s->n_device;

        if (next % done != 0 || next < done)
            return wrong(cx, "mesh",
                         "an axis, or a part of one, is used twice");
        if (next > done)
            s->copy[s->n_copy++] =
                (axe_iter){next / done, done, AXE_AXIS_M, AXE_UNIT_ONE};
        done = i < t->n ? next * t->digit[i].extent : done;
    }
    return AXE_OK;
}

static axe_status
read_jax(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    taken t = {0};
    int   k = 0;

    AXE_TRY(check_list(cx, "jax", spec, s->rank, AXE_JSON_LIST));
    for (const axe_json *c = spec->child; c; c = c->next, k++) {
        axe_shard_digit by[AXE_SHARD_DIGITS];
        int             n = 0;

        for (const axe_json *x = c->child; x; x = x->next) {
            if (x->kind != AXE_JSON_TEXT || n + 1 == AXE_SHARD_DIGITS ||
                t.n + 1 == AXE_SHARD_DIGITS)
                return wrong(cx, "jax", "each dimension has a list of axes");
            AXE_TRY(read_axis(cx, s, x->text, &by[n]));
            t.digit[t.n++] = by[n++];
        }
        shard_by(cx, s, k, n, by);
    }
    return copies(cx, s, &t);
}

static axe_status
read_alpa(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    const char *x = spec->kind == AXE_JSON_TEXT ? spec->text : "";
    taken       t = {0};

    for (int k = 0; k < s->rank; k++) {
        axe_shard_digit by[AXE_SHARD_RANK];
        int             n = 0;

        if (*x != 'S' && *x != 'R')
            return wrong(cx, "alpa",
                         "S with mesh axes, or R, for each "
                         "dimension");
        for (bool sharded = *x++ == 'S'; sharded && axe_is_digit(*x); x++) {
            int a = *x - '0';

            if (a >= s->n_mesh || n == AXE_SHARD_RANK ||
                t.n + 1 == AXE_SHARD_DIGITS)
                return wrong(cx, "alpa", "there is no such mesh axis");
            by[n] = (axe_shard_digit){s->mesh[a], s->stride[a]};
            t.digit[t.n++] = by[n++];
        }
        shard_by(cx, s, k, n, by);
    }
    return *x ? wrong(cx, "alpa", "more letters than dimensions")
              : copies(cx, s, &t);
}

/* ------------------------------------------------------------------- GSPMD */

/* The devices in tile order: a list, or iota of a shape, transposed. */
static axe_status
devices(axe_reader *r, int64_t n, int64_t *dev)
{
    int64_t shape[AXE_CV_RANK], perm[AXE_CV_RANK], step[AXE_CV_RANK], d = 1;
    int     rank, n_perm;

    if (!axe_scan_take(r, '<')) {
        for (int64_t i = 0; i < n; i++) {
            if (i > 0)
                AXE_TRY(axe_cv_need(r, "gspmd", ','));
            AXE_TRY(axe_cv_int(r, "gspmd", "a device", &dev[i]));
        }
        return AXE_OK;
    }
    AXE_TRY(axe_cv_need(r, "gspmd", '='));
    AXE_TRY(axe_cv_ints(r, "gspmd", '[', ']', shape, &rank));
    for (int i = 0; i < rank; i++) {
        perm[i] = i;
        if (shape[i] < 1 || !axe_mul(d, shape[i], &d))
            return wrong(r->cx, "gspmd", "a shape of devices that is none");
    }
    if (axe_scan_word(r, "T")) {
        AXE_TRY(axe_cv_ints(r, "gspmd", '(', ')', perm, &n_perm));
        if (n_perm != rank)
            return wrong(r->cx, "gspmd", "T(..) has another rank");
    }
    for (int i = 0; i < rank; i++)
        if (perm[i] < 0 || perm[i] >= rank)
            return wrong(r->cx, "gspmd", "T(..) is no permutation");
    if (d != n)
        return wrong(r->cx, "gspmd", "as many tiles as devices are needed");
    step[rank > 0 ? rank - 1 : 0] = 1;
    for (int i = rank - 2; i >= 0; i--)
        step[i] = step[i + 1] * shape[i + 1];
    for (int64_t t = 0; t < n; t++) {
        int64_t at = t;

        dev[t] = 0;
        for (int i = rank - 1; i >= 0; i--) {
            dev[t] += at % shape[perm[i]] * step[perm[i]];
            at /= shape[perm[i]];
        }
    }
    return AXE_OK;
}

/* dev, by tiles, as iters cut by the tile's dimensions, or why there are none.
 */
static axe_status
fit_devices(axe_ctx *cx, axe_sharding *s, int n_tile, const int64_t *tile,
            int64_t n, const int64_t *dev)
{
    static const char why[] = "the devices' numbers do not step evenly along "
                              "the tiles";
    axe_iter          it[62];
    const axe_layout *l;
    int64_t           at;
    int               m = axe_table_iters((axe_table){n, 1, dev}, it, &at);
    axe_mark          mark = axe_ctx_mark(cx);

    for (int i = 0; i < m; i++) {
        it[i].axis = AXE_AXIS_M;
        it[i].unit = AXE_UNIT_ONE;
    }
    s->base = dev[0];
    if (m < 0 || axe_layout_of_iters(cx, m, it, &l) != AXE_OK ||
        axe_layout_group(cx, l, (axe_shape){n_tile, tile}, &l) != AXE_OK) {
        axe_ctx_release(cx, mark);
        no_layout(&s->dim[0], why);
        return AXE_OK;
    }
    for (int k = 0, i = 0; k < n_tile; k++) {
        axe_shard_dim *d = k < s->rank ? &s->dim[k] : NULL;
        int            first = i;

        for (; i < l->dim_end[k]; i++)
            if (d)
                d->digit[i - first] =
                    (axe_shard_digit){l->shard[i].extent, l->shard[i].stride};
            else if (s->n_copy < AXE_SHARD_DIGITS)
                s->copy[s->n_copy++] = l->shard[i];
        if (d) {
            d->digit[i - first] =
                (axe_shard_digit){(s->shape[k] - 1) / tile[k] + 1, 0};
            d->n = i - first + 1;
        }
    }
    return AXE_OK;
}

static axe_status
read_gspmd(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    axe_reader r =
        axe_cv_open(cx, "gspmd", spec->kind == AXE_JSON_TEXT ? spec->text : "");
    int64_t tile[AXE_CV_RANK], *dev, n = 1;
    int     n_tile;
    bool    copied;

    AXE_TRY(axe_cv_need(&r, "gspmd", '{'));
    if (axe_scan_word(&r, "replicated")) {
        s->copy[s->n_copy++] = (axe_iter){s->n_device, 1, AXE_AXIS_M, 0};
        AXE_TRY(axe_cv_need(&r, "gspmd", '}'));
        return axe_cv_end(&r, "gspmd");
    }
    if (!axe_scan_word(&r, "devices"))
        return axe_cv_expected(&r, "gspmd", "'devices' or 'replicated'");
    AXE_TRY(axe_cv_need(&r, "gspmd", '='));
    AXE_TRY(axe_cv_ints(&r, "gspmd", '[', ']', tile, &n_tile));
    for (int i = 0; i < n_tile; i++)
        if (tile[i] < 1 || !axe_mul(n, tile[i], &n) || n > s->n_device)
            return wrong(cx, "gspmd", "as many tiles as devices are needed");
    if (n != s->n_device)
        return wrong(cx, "gspmd", "as many tiles as devices are needed");
    dev = axe_new_array(cx, int64_t, n + 1);
    AXE_TRY(devices(&r, n, dev));
    copied = axe_scan_word(&r, "last_tile_dim_replicate");
    AXE_TRY(axe_cv_need(&r, "gspmd", '}'));
    AXE_TRY(axe_cv_end(&r, "gspmd"));
    if (n_tile != s->rank + copied)
        return wrong(cx, "gspmd", "a tile of another rank than the tensor's");
    for (int64_t t = 0; t < n; t++) {
        int64_t at = t;

        if (dev[t] < 0 || dev[t] >= n)
            return wrong(cx, "gspmd", "a device that is not in the mesh");
        for (int k = n_tile - 1; k >= 0; at /= tile[k--])
            if (k < s->rank)
                *own(s, (int)dev[t], k) =
                    chunk(cx, own(s, (int)dev[t], k), at % tile[k], tile[k]);
    }
    return fit_devices(cx, s, n_tile, tile, n, dev);
}

/* ---------------------------------- block-cyclic, zig-zag, Megatron */

/* A list of `n` integers under a key. */
static axe_status
read_ints(axe_ctx *cx, const axe_json *spec, const char *key, int n,
          int64_t *out)
{
    const axe_json *v = axe_json_get(spec, key);
    int             i = 0;

    if (!v || v->kind != AXE_JSON_LIST || v->n_child != n)
        return wrong(cx, "blockcyclic",
                     "nb and src are lists, a number for "
                     "each dimension");
    for (const axe_json *c = v->child; c; c = c->next) {
        if (c->kind != AXE_JSON_INT || c->integer < 0)
            return wrong(cx, "blockcyclic", "a number from 0 on is needed");
        out[i++] = c->integer;
    }
    return AXE_OK;
}

static axe_status
read_blockcyclic(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    const axe_json *order = axe_json_get(spec, "order");
    int64_t         nb[AXE_SHARD_RANK], src[AXE_SHARD_RANK], step = 1;
    bool            column =
        order && order->kind == AXE_JSON_TEXT && strcmp(order->text, "C") == 0;

    if (s->n_mesh != s->rank)
        return wrong(cx, "blockcyclic",
                     "a mesh of the tensor's rank is needed");
    AXE_TRY(read_ints(cx, spec, "nb", s->rank, nb));
    AXE_TRY(read_ints(cx, spec, "src", s->rank, src));
    s->column = true;
    for (int a = 0; column && a < s->n_mesh; step *= s->mesh[a++])
        s->stride[a] = step;
    for (int k = 0; k < s->rank; k++) {
        int64_t m = s->mesh[k], rounds;

        if (nb[k] < 1 || src[k] >= m || s->shape[k] / nb[k] > 65536)
            return wrong(cx, "blockcyclic",
                         "blocks of at least 1, from a "
                         "process of the mesh");
        rounds = (s->shape[k] - 1) / (nb[k] * m) + 1;
        s->uniform[k] = rounds * nb[k];
        for (int p = 0; p < s->n_device; p++) {
            int64_t  i = (mesh_at(s, p, k) - src[k] + m) % m;
            axe_runs all = *own(s, p, k), mine = {0}, one;

            for (int64_t b = i; b * nb[k] < s->shape[k]; b += m) {
                one = part(cx, &all, b * nb[k], (b + 1) * nb[k]);
                append(cx, &mine, &one);
            }
            *own(s, p, k) = mine;
        }
        s->used[k] = true;
        s->dim[k].n = 3;
        s->dim[k].digit[0] = (axe_shard_digit){rounds, 0};
        s->dim[k].digit[1] = (axe_shard_digit){m, s->stride[k]};
        s->dim[k].digit[2] = (axe_shard_digit){nb[k], 0};
        if (src[k] != 0)
            no_layout(&s->dim[k], "the blocks begin at another process and "
                                  "wrap around the mesh");
    }
    return AXE_OK;
}

static axe_status
read_zigzag(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    int64_t c = s->n_device;

    (void)spec;
    for (int p = 0; p < s->n_device; p++) {
        axe_runs all = *own(s, p, 0), a, b;

        if (s->shape[0] % (2 * c) != 0)
            return wrong(cx, "zigzag_cp", "2 chunks a rank must divide");
        a = chunk(cx, &all, p, 2 * c);
        b = chunk(cx, &all, 2 * c - 1 - p, 2 * c);
        append(cx, &a, &b);
        *own(s, p, 0) = a;
    }
    for (int a = 0; a < s->n_mesh; a++)
        s->used[a] = true;
    no_layout(&s->dim[0], "a rank's second chunk runs against the ranks");
    return AXE_OK;
}

static axe_status
read_megatron(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    const char *what = spec->kind == AXE_JSON_TEXT ? spec->text : "";
    int         k = strcmp(what, "column") == 0 ? 0 : s->rank - 1;

    if (strcmp(what, "replicated") == 0)
        return AXE_OK;
    if ((k == s->rank - 1 && strcmp(what, "row") != 0) || s->n_mesh != 1)
        return wrong(cx, "megatron",
                     "column, row or replicated, on a mesh of "
                     "one axis");
    s->used[0] = true;
    shard(cx, s, k, s->mesh[0], 1);
    return AXE_OK;
}

/* ------------------------------------------------------------------- entry */

typedef axe_status reader(axe_ctx *cx, const axe_json *spec, axe_sharding *s);

/* axes: what is not used of the mesh is replicated, axis by axis. */
static const struct system {
    const char *name;
    reader     *read;
    bool        axes;
} systems[] = {
    {"dtensor", read_dtensor, true},
    {"oneflow", read_oneflow, true},
    {"jax", read_jax, false},
    {"shardy", read_jax, false},
    {"alpa", read_alpa, false},
    {"gspmd", read_gspmd, false},
    {"blockcyclic", read_blockcyclic, true},
    {"zigzag_cp", read_zigzag, true},
    {"megatron", read_megatron, true},
};

static void
begin(axe_ctx *cx, axe_shape shape, axe_sharding *s)
{
    s->rank = shape.n;
    s->own = axe_new_array(cx, axe_runs, s->n_device * s->rank + 1);
    for (int i = 0; i < s->n_device * s->rank; i++) {
        axe_run *all = axe_new(cx, axe_run);

        *all = (axe_run){0, shape.extent[i % s->rank]};
        s->own[i] = (axe_runs){1, all};
    }
    for (int k = 0; k < s->rank; k++) {
        s->shape[k] = shape.extent[k];
        s->dim[k].n = 1;
        s->dim[k].digit[0] = (axe_shard_digit){shape.extent[k], 0};
    }
}

static void
finish(axe_sharding *s, bool axes)
{
    for (int k = 0; k < s->rank; k++)
        for (int p = 0; p < s->n_device; p++) {
            int64_t n = axe_runs_size(own(s, p, k));

            if (n > s->uniform[k])
                s->uniform[k] = n;
        }
    for (int a = 0; axes && a < s->n_mesh; a++)
        if (!s->used[a] && s->mesh[a] > 1)
            s->copy[s->n_copy++] =
                (axe_iter){s->mesh[a], s->stride[a], AXE_AXIS_M, AXE_UNIT_ONE};
}

axe_status
axe_sharding_read(axe_ctx *cx, const char *system, axe_shape shape,
                  const axe_json *mesh, const axe_json *spec, axe_sharding *out)
{
    const char *names[AXE_LEN(systems)];

    *out = (axe_sharding){.partial = {.cx = cx}};
    if (shape.n < 1 || shape.n > AXE_SHARD_RANK)
        return wrong(cx, "sharding", "a tensor of 1 to 8 dimensions is needed");
    for (int k = 0; k < shape.n; k++)
        if (shape.extent[k] < 1 || shape.extent[k] > (int64_t)1 << 40)
            return wrong(cx, "sharding", "extents are from 1 to 2^40");
    AXE_TRY(read_mesh(cx, mesh, out));
    begin(cx, shape, out);
    for (int i = 0; i < AXE_LEN(systems); i++) {
        names[i] = systems[i].name;
        if (strcmp(system, names[i]) != 0)
            continue;
        AXE_TRY(systems[i].read(cx, spec, out));
        finish(out, systems[i].axes);
        return AXE_OK;
    }
    const char *near = axe_nearest(system, AXE_LEN(systems), names);
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no system '%s'%s%s%s",
                    system, near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}
