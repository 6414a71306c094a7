/* device.h - the insides of the CPU device: for launching and for checking. */
#ifndef AXE_RUN_DEVICE_H
#define AXE_RUN_DEVICE_H

#include "axe/run.h"
#include "ir/ir.h"
#include "run/array/handle.h"
#include "run/cache/cache.h"
#include "run/pool.h"

struct axe_device {
    axe_tag     tag;
    unsigned    forks; /* before it: no thread survives one */
    axe_ctx    *cx;    /* where its texts live */
    axe_pool   *pool;
    axe_cache   cache;
    bool        cache_open, cc_found; /* both are looked for when first used */
    axe_cc      cc;
    const char *want_cache, *want_cc; /* or NULL */
    /* One block for each worker, `scratch_bytes` apart, grown as needed. */
    void   *scratch;
    int64_t scratch_bytes;
    /* One block for the global tensors that kernels make, grown as needed. */
    void   *temp;
    int64_t temp_bytes;
};

/* Is there a C compiler?  Says nothing. */
bool axe_device_has_cc(axe_ctx *cx, axe_device *d);
/* Compile C texts side by side and load them; handles of what was loaded before
 * a failure are closed. */
AXE_CHECK axe_status axe_device_load_all(axe_ctx *cx, axe_device *d, int n,
                                         axe_cache_item *item);
/* One.
 * extra   as axe_cc_compile
 * handle  for dlsym and dlclose; path, in cx, and cached: as axe_exec_path and
 *         so on */
AXE_CHECK axe_status axe_device_load(axe_ctx *cx, axe_device *d,
                                     const char *text, const char *extra,
                                     void **handle, const char **path,
                                     bool *cached);

/* The address of each of the kernel's own global tensors, on lines of 64 bytes
 * of the device's block.
 * size   as axe_bound has them
 * Errors  EOVERFLOW, EDEVICE: too large, no memory. */
AXE_CHECK axe_status axe_device_temps(axe_ctx *cx, axe_device *d,
                                      const axe_kernel *k, const int64_t *size,
                                      void **out);

#endif
