/* sharding_gspmd.c - GSPMD: "{devices=[2,4]<=[8]}", a tile for each device, and
 * the devices in the order of the tiles: a list, or a transposed range. */
#include <inttypes.h>

#include "convert/sharding_int.h"
#include "layout/radix.h"

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
            return axe_shard_wrong(r->cx, "gspmd",
                                   "a shape of devices that is none");
    }
    if (axe_scan_word(r, "T")) {
        AXE_TRY(axe_cv_ints(r, "gspmd", '(', ')', perm, &n_perm));
        if (n_perm != rank)
            return axe_shard_wrong(r->cx, "gspmd", "T(..) has another rank");
    }
    for (int i = 0; i < rank; i++)
        if (perm[i] < 0 || perm[i] >= rank)
            return axe_shard_wrong(r->cx, "gspmd", "T(..) is no permutation");
    if (d != n)
        return axe_shard_wrong(r->cx, "gspmd",
                               "as many tiles as devices are needed");
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
        axe_shard_no_layout(&s->dim[0], why);
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

static const char FORMAT[] = "gspmd";

/* "last_tile_dims" "=" "{" kind { "," kind } "}": how many; all must be copies.
 */
static axe_status
last_dims(axe_reader *r, int *n)
{
    AXE_TRY(axe_cv_need(r, FORMAT, '='));
    AXE_TRY(axe_cv_need(r, FORMAT, '{'));
    while (!axe_scan_take(r, '}')) {
        size_t from;

        axe_scan_peek(r);
        from = r->at;
        if (axe_scan_word(r, "manual") || axe_scan_word(r, "unreduced"))
            return axe_fail(r->cx, axe_scan_span(r, from, r->at),
                            AXE_EUNSUPPORTED,
                            "gspmd: what a device has along a manual or "
                            "unreduced dimension is no copy of an element");
        if (!axe_scan_word(r, "replicated"))
            return axe_cv_expected(r, FORMAT, "replicated");
        ++*n;
        if (axe_scan_peek(r) != '}')
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    return AXE_OK;
}

/* "{" "maximal" "device" "=" int "}": one device has all. */
static axe_status
maximal(axe_reader *r, axe_sharding *s)
{
    if (!axe_scan_word(r, "device"))
        return axe_cv_expected(r, FORMAT, "device=..");
    AXE_TRY(axe_cv_need(r, FORMAT, '='));
    AXE_TRY(axe_cv_int(r, FORMAT, "a device", &s->base));
    AXE_TRY(axe_cv_need(r, FORMAT, '}'));
    if (s->base < 0 || s->base >= s->n_device)
        return axe_shard_wrong(r->cx, FORMAT,
                               "a device that is not in the mesh");
    for (int p = 0; p < s->n_device; p++)
        for (int k = 0; p != s->base && k < s->rank; k++)
            *axe_shard_runs(s, p, k) = (axe_runs){0};
    return axe_cv_end(r, FORMAT);
}

/* Extents of the tiles, one for each device. */
static axe_status
tiles(axe_reader *r, const axe_sharding *s, int64_t *tile, int *n_tile)
{
    int64_t n = 1;

    AXE_TRY(axe_cv_need(r, FORMAT, '='));
    AXE_TRY(axe_cv_ints(r, FORMAT, '[', ']', tile, n_tile));
    for (int i = 0; i < *n_tile; i++)
        if (tile[i] < 1 || !axe_mul(n, tile[i], &n) || n > s->n_device)
            return axe_shard_wrong(r->cx, FORMAT,
                                   "as many tiles as devices are needed");
    if (n != s->n_device)
        return axe_shard_wrong(r->cx, FORMAT,
                               "as many tiles as devices are needed");
    return AXE_OK;
}

/* Each device has the tile that is its own. */
static axe_status
give_tiles(axe_ctx *cx, axe_sharding *s, int n_tile, const int64_t *tile,
           const int64_t *dev)
{
    int64_t n = s->n_device;
    bool   *seen = axe_new_array(cx, bool, n + 1);

    for (int64_t t = 0; t < n; t++) {
        int64_t at = t;

        if (dev[t] < 0 || dev[t] >= n)
            return axe_shard_wrong(cx, FORMAT,
                                   "a device that is not in the mesh");
        if (seen[dev[t]])
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "gspmd: device %" PRId64 " has two tiles", dev[t]);
        seen[dev[t]] = true;
        for (int k = n_tile - 1; k >= 0; at /= tile[k--])
            if (k < s->rank) {
                axe_runs *own = axe_shard_runs(s, (int)dev[t], k);

                *own = axe_runs_chunk(cx, own, at % tile[k], tile[k]);
            }
    }
    return fit_devices(cx, s, n_tile, tile, n, dev);
}

/* "{" ( "replicated" | "maximal" .. | "devices" "=" tiles devices
 *       [ "last_tile_dim_replicate" | "last_tile_dims" .. ] ) "}" */
axe_status
axe_shard_read_gspmd(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    axe_reader r =
        axe_cv_open(cx, FORMAT, spec->kind == AXE_JSON_TEXT ? spec->text : "");
    int64_t tile[AXE_CV_RANK], *dev;
    int     n_tile, copied = 0;

    AXE_TRY(axe_cv_need(&r, FORMAT, '{'));
    if (axe_scan_word(&r, "replicated")) {
        s->copy[s->n_copy++] = (axe_iter){s->n_device, 1, AXE_AXIS_M, 0};
        AXE_TRY(axe_cv_need(&r, FORMAT, '}'));
        return axe_cv_end(&r, FORMAT);
    }
    if (axe_scan_word(&r, "maximal"))
        return maximal(&r, s);
    if (axe_scan_word(&r, "manual") || axe_scan_word(&r, "unknown") ||
        axe_scan_word(&r, "unreduced"))
        return axe_fail(cx, axe_scan_span(&r, 1, r.at), AXE_EUNSUPPORTED,
                        "gspmd: a sharding that does not say which device has "
                        "what");
    if (!axe_scan_word(&r, "devices"))
        return axe_cv_expected(&r, FORMAT, "devices, maximal or replicated");
    AXE_TRY(tiles(&r, s, tile, &n_tile));
    dev = axe_new_array(cx, int64_t, s->n_device + 1);
    AXE_TRY(devices(&r, s->n_device, dev));
    if (axe_scan_word(&r, "last_tile_dim_replicate"))
        copied = 1;
    else if (axe_scan_word(&r, "last_tile_dims"))
        AXE_TRY(last_dims(&r, &copied));
    AXE_TRY(axe_cv_need(&r, FORMAT, '}'));
    AXE_TRY(axe_cv_end(&r, FORMAT));
    if (n_tile != s->rank + copied)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "gspmd: tiles of %d dimensions of a tensor of %d",
                        n_tile - copied, s->rank);
    return give_tiles(cx, s, n_tile, tile, dev);
}
