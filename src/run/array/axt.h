/* axt.h - packed matrices in files, one or several of one shape.
 *
 * Text lines, then the elements at the next multiple of 64 bytes:
 *
 *     axt 1
 *     type bf16 packed as ((256, 16), (5504, 2)) : ((176128, 2), (32, 1))
 *     shape 4096 11008
 *     stride 11008 16
 *     bytes 90177536
 *     end
 *
 * Matrices of more dimensions have as many numbers behind shape and stride. */
#ifndef AXE_RUN_ARRAY_AXT_H
#define AXE_RUN_ARRAY_AXT_H

#include "axe/run.h"
#include "run/array/npy.h"

/* Does the path end as such files do? */
bool axe_axt_is(const char *path);

/* type    of the array, with its layout
 * Errors  EIO.  ESYNTAX: not such a file, or shorter or longer than it says */
AXE_CHECK axe_status axe_axt_read(axe_ctx *cx, const char *path, axe_npy *out,
                                  const char **type);
AXE_CHECK axe_status axe_axt_write(axe_ctx *cx, const char *path, int rank,
                                   const int64_t *shape, const axe_packed *p,
                                   const void *data);

#endif
