/* mesh.h - what kernels over the devices of a mesh have beside others. */
#ifndef AXE_IR_MESH_H
#define AXE_IR_MESH_H

#include "ir/ir.h"

/* The part of an extent that a device has: blocks of equal extent, rounded up,
 * over axes of the kernel's mesh, major first; the last ones are shorter or
 * empty. */
struct axe_shard {
    const axe_node *whole; /* a SIZE or a constant */
    int             n_axis;
    const int      *axis;  /* of axe_kernel.axis */
    bool            first; /* not how many, but from which on */
    bool            most;  /* as much as the first device has, on all of them */
    const struct axe_dist_window *window; /* no block, but what a device looks
                                             at (run/dist); else NULL */
    const char *text; /* "K@(node, gpu)"; most: "cdiv(K, P)" */
};

/* Which devices of a mesh hold a tensor, beside what its parts say. */
struct axe_held {
    int            n_partial;
    const int     *partial; /* axes along which devices hold addends */
    int            n_at;
    const int     *at;         /* axes of which one coordinate alone has it */
    const int64_t *coordinate; /* [n_at] */
};

/* An axis of the mesh of devices that a kernel is for, as declared, slow to
 * fast. */
struct axe_axis_of {
    const char     *name;
    axe_span        at;
    const axe_node *size;  /* a SIZE or a constant, at least 1 */
    const axe_var  *place; /* the coordinate of a device, a SIZE: gpu.at */
};

/* "K.gpu", "n10.node.gpu", "K.gpu.most": what the part is called in the IR. */
const char *axe_shard_name(axe_ctx *cx, const axe_kernel *k,
                           const axe_shard *p);
/* "K@(node, gpu)", "cdiv(K, P)" */
const char *axe_shard_text(axe_ctx *cx, const axe_kernel *k,
                           const axe_shard *p);
/* Is n cdiv(K, P), P an axis's devices: the most that one has of K? */
bool axe_shard_most(axe_ctx *cx, const axe_kernel *k, const axe_node *n,
                    axe_shard *out);
/* The size among n that is that part, or NULL. */
const axe_var *axe_shard_find(int n, const axe_var *const *size,
                              const axe_shard *p);
/* Is n what one device has of it, another number on each? */
bool axe_is_cut(const axe_node *n);
/* The extent that n is a part of, or n itself. */
const axe_node *axe_extent_whole(const axe_node *n);
/* " at node = 0 + partial(gpu)", or "". */
const char *axe_held_text(axe_ctx *cx, const axe_kernel *k, const axe_held *h);
/* Give t, as a device has it, its ->whole.  EOVERFLOW as axe_tensor_strides */
AXE_CHECK axe_status axe_tensor_join(axe_ctx *cx, axe_tensor *t);
/* The mesh, what devices hold, what stands between devices and on them
 * (check_mesh.c); axe_kernel_verify calls it. */
AXE_CHECK axe_status axe_mesh_verify(axe_ctx *cx, const axe_kernel *k);

/* k, where `op=` between devices are two statements each (mesh_fold.c): into a
 * tensor of its own, and from there.
 * Errors  of axe_tensor_join, axe_kernel_verify */
AXE_CHECK axe_status axe_mesh_unfold(axe_ctx *cx, const axe_kernel *k,
                                     const axe_kernel **out);
/* k, where sums between devices that are a part of a value, and over what
 * devices share, are statements of their own before it (mesh_hoist.c).
 * Errors  as above */
AXE_CHECK axe_status axe_mesh_hoist(axe_ctx *cx, const axe_kernel *k,
                                    const axe_kernel **out);
/* What one device does in a DEVICE statement of k: a kernel for one device,
 * whose arguments are the tensors as a device has them, and whose sizes are
 * those of k that occur, parts, coordinates and variables of loops around
 * among them.
 * n       number of the statement, for the kernel's name
 * bounds  arguments of which k makes the values are not `in`, so that the
 *         reference takes bounds for them
 * Errors  of axe_kernel_verify */
AXE_CHECK axe_status axe_device_kernel(axe_ctx *cx, const axe_kernel *k,
                                       const axe_stmt *device, int n,
                                       bool bounds, const axe_kernel **out);
/* The DEVICE statements of k, in the order of the text; their number. */
int axe_device_stmts(axe_ctx *cx, const axe_kernel *k,
                     const axe_stmt *const **out);

#endif
