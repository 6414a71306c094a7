/* device.c - the CPU as a device: threads, compiler, cache, scratch. */
#define _XOPEN_SOURCE 700

#include <stdlib.h>
#include <string.h>

#include "run/device.h"

axe_status
axe_device_new(axe_ctx *cx, const axe_device_spec *spec, axe_device **out)
{
    AXE_NEED(cx, spec);
    AXE_NEED(cx, out);
    axe_pool   *pool;
    axe_device *d;

    AXE_TRY(axe_pool_new(cx, spec->n_thread, &pool));
    d = calloc(1, sizeof *d);
    if (d)
        d->cx = axe_ctx_new();
    if (!d || !d->cx) {
        axe_pool_free(pool);
        free(d);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a device");
    }
    d->tag = AXE_TAG_DEVICE;
    d->forks = axe_forks();
    d->pool = pool;
    d->want_cache = spec->cache ? axe_textf(d->cx, "%s", spec->cache) : NULL;
    d->want_cc = spec->cc ? axe_textf(d->cx, "%s", spec->cc) : NULL;
    *out = d;
    return AXE_OK;
}

void
axe_device_free(axe_device *d)
{
    bool here = d && d->forks == axe_forks();

    if (!d)
        return;
    if (d->cache_open && here)
        axe_cache_close(&d->cache);
    if (here)
        axe_pool_free(d->pool);
    axe_tag_drop(&d->tag);
    free(d->scratch);
    free(d->temp);
    axe_ctx_free(d->cx);
    free(d);
}

int
axe_device_n_thread(const axe_device *d)
{
    return d ? axe_pool_size(d->pool) : 0;
}

/* The compiler found is told to the caller's ctx if it fails, but kept in the
 * device's. */
static axe_status
need_tools(axe_ctx *cx, axe_device *d)
{
    if (!d->cc_found) {
        axe_cc probe;
        AXE_TRY(axe_cc_find(cx, d->want_cc, &probe));
        AXE_TRY(axe_cc_find(d->cx, d->want_cc, &d->cc));
        d->cc_found = true;
    }
    if (!d->cache_open)
        axe_cache_open(cx, d->cx, d->want_cache, &d->cache);
    d->cache_open = true;
    return AXE_OK;
}

bool
axe_device_has_cc(axe_ctx *cx, axe_device *d)
{
    axe_mark m = axe_ctx_mark(cx);
    bool     has = d->cc_found;

    if (!has) {
        axe_cc probe;
        has = axe_cc_find(cx, d->want_cc, &probe) == AXE_OK;
        axe_ctx_release(cx, m);
    }
    return has;
}

axe_status
axe_device_check(axe_ctx *cx, const char *fn, const axe_device *d)
{
    AXE_TRY(axe_tag_check(cx, fn, "d", d ? &d->tag : NULL, AXE_TAG_DEVICE));
    return axe_forks_check(cx, d->forks);
}

axe_status
axe_device_load_all(axe_ctx *cx, axe_device *d, int n, axe_cache_item *item)
{
    AXE_TRY(axe_forks_check(cx, d->forks));
    AXE_TRY(need_tools(cx, d));
    for (int i = 0; i < n; i++)
        item[i].load = true;
    return axe_cache_get_all(cx, &d->cache, &d->cc, n, item);
}

axe_status
axe_device_load(axe_ctx *cx, axe_device *d, const char *text, const char *extra,
                void **handle, const char **path, bool *cached)
{
    axe_cache_item item = {.text = text, .extra = extra};

    AXE_TRY(axe_device_load_all(cx, d, 1, &item));
    *handle = item.handle;
    *path = item.path;
    *cached = !item.fresh;
    return AXE_OK;
}
