/* sharding_int.h - what the readers of specifications share. */
#ifndef AXE_CONVERT_SHARDING_INT_H
#define AXE_CONVERT_SHARDING_INT_H

#include "convert/sharding.h"
#include "convert/text.h"

axe_status axe_shard_wrong(axe_ctx *cx, const char *system, const char *what);

/* Elements [from, to) of r; the i-th of m parts, as torch.chunk cuts them; b
 * behind a. */
axe_runs axe_runs_part(axe_ctx *cx, const axe_runs *r, int64_t from,
                       int64_t to);
axe_runs axe_runs_chunk(axe_ctx *cx, const axe_runs *r, int64_t i, int64_t m);
void     axe_runs_append(axe_ctx *cx, axe_runs *a, const axe_runs *b);

static inline int64_t
axe_shard_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The dimension is no layout; the first reason stays. */
void axe_shard_no_layout(axe_shard_dim *d, const char *why);

/* The leading m of what is local, behind `skip` of it, becomes devices `stride`
 * apart.  Where that does not divide, a dimension not sharded before is rounded
 * up. */
void axe_shard_give(axe_shard_dim *d, int64_t skip, int64_t m, int64_t stride);

/* Where a device is on axis a of the mesh; what it has of dimension k. */
int64_t   axe_shard_at(const axe_sharding *s, int device, int a);
axe_runs *axe_shard_runs(axe_sharding *s, int device, int k);

/* Dimension k goes in m chunks over devices `stride` apart. */
void axe_shard_cut(axe_ctx *cx, axe_sharding *s, int k, int64_t m,
                   int64_t stride);

/* EARG: v is no list of texts or of lists. */
AXE_CHECK axe_status axe_shard_check_list(axe_ctx *cx, const char *system,
                                          const axe_json *v,
                                          axe_json_kind   kind);

/* A placement of DTensor; of OneFlow, S, B or P. */
typedef struct axe_placement {
    enum {
        AXE_PLACE_COPY,
        AXE_PLACE_SHARD,
        AXE_PLACE_STRIDED,
        AXE_PLACE_PARTIAL
    } kind;
    int64_t     dim, parts;
    const char *op;
} axe_placement;

enum { AXE_PLACE_PARTS = 4096 };

AXE_CHECK axe_status axe_placement_read(axe_reader *r, axe_placement *out);
AXE_CHECK axe_status axe_sbp_read(axe_reader *r, axe_placement *out);

/* Is there a dimension k of the tensor? */
AXE_CHECK axe_status axe_shard_check_dim(axe_ctx *cx, const axe_sharding *s,
                                         const char *system, int64_t k);

/* The axes of a mesh, from text to JSON, and from JSON. */
AXE_CHECK axe_status axe_cv_mesh(axe_ctx *cx, const char *text, axe_json *out);
AXE_CHECK axe_status axe_sharding_mesh(axe_ctx *cx, const axe_json *v,
                                       axe_sharding *out);

/* One specification, in its system's form. */
typedef axe_status axe_shard_reader(axe_ctx *cx, const axe_json *spec,
                                    axe_sharding *s);

axe_shard_reader axe_shard_read_dtensor, axe_shard_read_oneflow;
axe_shard_reader axe_shard_read_jax, axe_shard_read_alpa, axe_shard_read_gspmd;
axe_shard_reader axe_shard_read_blockcyclic, axe_shard_read_zigzag;
axe_shard_reader axe_shard_read_megatron;

#endif
