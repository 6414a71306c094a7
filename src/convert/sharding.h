/* sharding.h - who owns which elements of a tensor over a mesh of devices.
 *
 * A sharding is read into runs: for each device and each dimension, which runs
 * of indices the device has, in the order of its local buffer.  That is exact
 * for every system; whether one layout says the same is asked afterwards. */
#ifndef AXE_CONVERT_SHARDING_H
#define AXE_CONVERT_SHARDING_H

#include "axe/convert.h"
#include "base/json.h"

enum { AXE_SHARD_DEVICES = 4096, AXE_SHARD_RANK = 8, AXE_SHARD_DIGITS = 16 };

typedef struct axe_run {
    int64_t begin, size;
} axe_run;

typedef struct axe_runs {
    int      n;
    axe_run *run;
    int      room; /* of run, before it grows */
} axe_runs;

/* A part of a dimension's index, slow to fast: devices `stride` apart, or
 * (stride 0) the local buffer. */
typedef struct axe_shard_digit {
    int64_t extent, stride;
} axe_shard_digit;

typedef struct axe_shard_dim {
    int             n;
    axe_shard_digit digit[AXE_SHARD_DIGITS];
    const char     *why; /* there are no digits; NULL: there are */
} axe_shard_dim;

typedef struct axe_sharding {
    const char   *system;
    int           rank, n_device, n_mesh;
    int64_t       shape[AXE_SHARD_RANK];
    int64_t       mesh[AXE_SHARD_RANK], stride[AXE_SHARD_RANK];
    const char   *name[AXE_SHARD_RANK]; /* of mesh axes; NULL: none */
    bool          used[AXE_SHARD_RANK];
    bool          summed[AXE_SHARD_RANK]; /* holders have summands */
    bool          column;                 /* local buffers are column-major */
    axe_runs     *own;                    /* [device][dim] */
    int64_t       uniform[AXE_SHARD_RANK];
    axe_shard_dim dim[AXE_SHARD_RANK];
    int64_t       base;  /* device of the first element, of the mesh's */
    int64_t       first; /* number of the mesh's first device */
    int           n_copy;
    axe_iter      copy[AXE_SHARD_DIGITS]; /* replicas over devices */
    axe_buf       partial;                /* JSON of what is a sum */
} axe_sharding;

/* `spec` in the form of its system; mesh: a list, or names with extents.
 * Errors  ENAME: no such system.  EARG: a spec or mesh that has not its form.
 *         ESHAPE, ELIMIT. */
AXE_CHECK axe_status axe_sharding_read(axe_ctx *cx, const char *system,
                                       axe_shape shape, const axe_json *mesh,
                                       const axe_json *spec, axe_sharding *out);

/* A text of a format, such as convert.h reads: of its options those for the
 * mesh and the shape are needed.  ENAME: it is none of shardings. */
AXE_CHECK axe_status axe_sharding_of_text(axe_ctx *cx, const char *format,
                                          const char                *text,
                                          const axe_convert_options *opt,
                                          axe_sharding              *out);

static inline const axe_runs *
axe_shard_own(const axe_sharding *s, int device, int dim)
{
    return &s->own[device * s->rank + dim];
}
int64_t axe_runs_size(const axe_runs *r);

/* The layout over gpuid and m, on the domain rounded up to the digits (*domain,
 * room for rank); *why, and *out NULL, where none is it. */
AXE_CHECK axe_status axe_sharding_layout(axe_ctx *cx, const axe_sharding *s,
                                         int64_t           *domain,
                                         const axe_layout **out,
                                         const char       **why);

#endif
