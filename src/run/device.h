/* device.h - the insides of the CPU device: for launching and for checking. */
#ifndef AXE_RUN_DEVICE_H
#define AXE_RUN_DEVICE_H

#include "axe/run.h"
#include "run/cache.h"
#include "run/pool.h"

struct axe_device {
    axe_ctx    *cx; /* where its texts live */
    axe_pool   *pool;
    axe_cache   cache;
    bool        cache_open, cc_found; /* both are looked for when first used */
    axe_cc      cc;
    const char *want_cache, *want_cc; /* or NULL */
    /* One block for each worker, `scratch_bytes` apart, grown as needed. */
    void   *scratch;
    int64_t scratch_bytes;
};

/* Compile C text and load it.
 * extra   as axe_cc_compile
 * handle  for dlsym and dlclose; path, cached: as axe_exec_path and so on */
AXE_CHECK axe_status axe_device_load(axe_ctx *cx, axe_device *d,
                                     const char *text, const char *extra,
                                     void **handle, const char **path,
                                     bool *cached);

#endif
