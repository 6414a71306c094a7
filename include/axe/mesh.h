/* mesh.h - tensors spread over devices, and plans that spread them otherwise.
 *
 * A mesh names the axes along which devices stand, "node=2 @ far, gpu=8", and
 * the links between them.  A spread says which devices hold which elements: an
 * Axe layout over gpuid and m, with the tensor's true extents where they are
 * rounded up, and axes over which devices hold addends of the elements.  A plan
 * brings a tensor from one spread to another in steps, each a collective or a
 * direct exchange.
 *
 * What a device needs, gets and gives is counted from the layouts' digits, not
 * device by device: the cost depends on how many iters there are.  Only where
 * two cuts of one dimension have no common digits (halves and thirds) it
 * depends on the pieces of that dimension.
 *
 * docs/devices.md shows all of it; docs/design/devices.md says why. */
#ifndef AXE_MESH_H
#define AXE_MESH_H

#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- meshes */

/* What it takes to send `n` bytes to one device: latency + n / bandwidth. */
typedef struct axe_link {
    const char *name;
    int64_t     latency;   /* [ns] of a message */
    int64_t     bandwidth; /* [bytes/s] of a device, each way */
    bool        known;     /* it was said, and is not the table's guess */
    bool        measured;  /* nor that, but found by axe_engine_measure */
} axe_link;

typedef struct axe_mesh_axis {
    const char *name;
    int64_t     size;
    int64_t     stride; /* of the number of a device, from one to the next */
    int         link;   /* of axe_mesh.link */
} axe_mesh_axis;

typedef struct axe_mesh {
    int                  n_axis, n_link;
    const axe_mesh_axis *axis; /* as they were written */
    const axe_link      *link; /* by bandwidth, the slowest first */
    int64_t              n_device;
} axe_mesh;

/* mesh = axis { "," axis } { ";" ( order | link ) }
 * axis = name "=" size [ "@" link ]      link near, if none is named
 * order = "order" name { "," name }      slow to fast; else as written
 * link = name ":" number ( "ns" | "us" | "ms" ) ","
 *        number ( "B/s" | "kB/s" | "MB/s" | "GB/s" | "TB/s" )
 *
 * Links near and far are known (src/mesh/links.def).
 * Errors  ESYNTAX, ENAME with the place; ESHAPE: a size below 1.  ELIMIT: over
 *         16 axes or 2^40 devices. */
AXE_CHECK axe_status axe_mesh_read(axe_ctx *cx, const char *text,
                                   const axe_mesh **out);
/* The same mesh with these figures for its link of that name, unless the mesh
 * says figures itself, or has no such link. */
const axe_mesh *axe_mesh_with(axe_ctx *cx, const axe_mesh *m,
                              const axe_link *link);
/* Reading it back gives the same mesh. */
const char *axe_mesh_text(axe_ctx *cx, const axe_mesh *m);

/* ------------------------------------------------------------------ spreads */

/* Devices `stride` apart, `extent` of them: the one that is number c among them
 * has what layout says of number (mul * c + add) % extent. */
typedef struct axe_turn {
    int64_t extent, stride, mul, add;
} axe_turn;

typedef struct axe_spread {
    axe_shape         shape;  /* of the tensor */
    const axe_layout *layout; /* a dim for each, of at least that extent; gpuid
                                 is the device, all other axes are its own */
    int             n_partial;
    const axe_iter *partial; /* (e : s@gpuid): devices s apart hold addends */
    int             n_turn;
    const axe_turn *turn; /* of iters that dims have */
} axe_spread;

/* spread = dim { "," dim } [ "at" name "=" int { "," name "=" int } ]
 *          [ "+" "partial" "(" name { "," name } ")" ]
 *        | layout [ "of" "(" int { "," int } ")" ]
 *          [ "+" "turn" "[" turn { "," turn } "]" ]
 *          [ "+" "partial" "[" int ":" int { "," int ":" int } "]" ]
 * dim = extent [ "@" ( name | "(" term { "," term } ")" ) ]     major first
 * term = [ int "*" ] name [ "+" int ]     modulo the axis's size
 * turn = int ":" int "*" int "+" int      extent, stride, mul, add
 *
 * "10@x, 24" cuts 10 rows over axis x in blocks of equal extent, the last ones
 * shorter or empty; axes that are not named hold copies, or nothing but where
 * "at" says.  Of "4@(x+1)" device c along x has block c + 1, and the last
 * device block 0.  In a layout, the axes of the mesh may stand for gpuid.
 * Errors  ESYNTAX, ENAME, ESHAPE with the place; those of axe_layout_read. */
AXE_CHECK axe_status axe_spread_read(axe_ctx *cx, const axe_mesh *m,
                                     const char *text, axe_spread *out);
/* The same from a text of another system, for a tensor of that shape: a format
 * of shardings of axe/convert.h, as "jax", "P('x', None)", or "dtensor",
 * "[S(0), P(sum)]", whose placements are those of the axes as they are written.
 * Errors  those of axe_convert_read, but that addends and uneven extents are
 *         taken.  EUNSUPPORTED: no layout says it, as of nested uneven chunks;
 *         the mesh has an order of its own, and the format no names. */
AXE_CHECK axe_status axe_spread_convert(axe_ctx *cx, const axe_mesh *m,
                                        const char *format, axe_shape shape,
                                        const char *text, axe_spread *out);
/* The layout, with what stands behind it; reading it gives the same spread. */
const char *axe_spread_text(axe_ctx *cx, const axe_spread *s);

/* How two spreads differ, of the first device of which they do; all of one
 * dimension: a device has an index of it by one of them alone. */
typedef struct axe_spread_difference {
    bool    equal;   /* each device holds the same elements; else: */
    bool    addends; /* devices hold addends by one of them alone; else: */
    bool    first;   /* it is a by which the device has it */
    int     dim;
    int64_t device, index;
} axe_spread_difference;

/* Errors  ESHAPE: their extents differ; others as axe_reshard.
 * Cost    for each device what counting takes */
AXE_CHECK axe_status axe_spread_differ(axe_ctx *cx, const axe_mesh *m,
                                       const axe_spread *a, const axe_spread *b,
                                       axe_spread_difference *out);

/* -------------------------------------------------------------------- plans */

typedef enum axe_collective {
#define COLLECTIVE(name, word, text) AXE_COLLECTIVE_##name,
#include "axe/collective.def"
    AXE_N_COLLECTIVE
} axe_collective;

/* "all-gather".  Never NULL. */
const char *axe_collective_text(axe_collective c);

typedef struct axe_reshard_options {
    int  bits; /* of an element; 0: 8 */
    bool free; /* messages cost nothing but their elements */
    int64_t
        memory; /* [elements] that a device may hold between steps; 0: any */
} axe_reshard_options;

enum { AXE_WINDOWED_MOST = 1024 /* devices that have windows */ };

/* Indices [from, to) of a dimension of n; those that are not below n are the
 * ones that are less by n, so that a window may go around its end. */
typedef struct axe_window {
    int64_t from, to;
} axe_window;

/* Counts are exact; of an all-reduce or a broadcast they are those of its best
 * algorithm for long messages. */
typedef struct axe_reshard_step {
    axe_collective kind;
    const char    *axes;   /* "x, y": along which devices change */
    const char    *before; /* "24@x, 24" */
    const char    *after;
    int64_t        max_recv; /* [elements] got by the device that gets most */
    int64_t        max_send; /* given by the one that gives most */
    int64_t        total;    /* got by all */
    int64_t        messages; /* at most, to the device that gets most */
    const int64_t *crossing; /* [n_link] of max_recv, what comes over link 0,
                                over links 0 and 1, ... */
    double  time;            /* [us] */
    int64_t memory;          /* elements a device holds behind it */
} axe_reshard_step;

typedef struct axe_reshard_plan {
    const axe_mesh         *mesh;
    axe_spread              src, dst;
    int                     bits;
    int                     n_step;
    const axe_reshard_step *step;
    int64_t                 max_recv, max_send, total; /* of all steps */
    int64_t bound_recv;  /* [elements] no plan can get the worst device less */
    int64_t bound_total; /* nor all devices */
    double  time;        /* [us] */
    double  direct_time; /* of one exchange, which has the least bytes */
    const char *why;     /* the plan has more bytes than the bound; else NULL */
    int         n_state; /* looked at */
    const axe_window *window; /* [n_device * dims] what a device has of dst is
                                 within; NULL: it has all of it */
    const struct axe_reshard_code *code;
} axe_reshard_plan;

/* The quickest plan from src to dst, both of one tensor; of equally quick ones
 * that of fewest steps.  opt may be NULL.
 * Errors  ESHAPE: the sizes differ; a device holds an element twice; devices
 *         of a layout are none of the mesh.  EUNSUPPORTED: devices of a layout
 *         are no digits of the mesh's, run backwards, or are shifted; they are
 *         turned and must be cut; addends are asked for.  ELIMIT, EOVERFLOW. */
AXE_CHECK axe_status axe_reshard(axe_ctx *cx, const axe_mesh *m,
                                 const axe_spread *src, const axe_spread *dst,
                                 const axe_reshard_options *opt,
                                 const axe_reshard_plan   **out);

/* The plan by which each device has, of what dst says, no more than what is
 * within its window of each dimension, by one step in which it gets what it
 * lacks from one that has it: a halo, where that is next to what it has.  Its
 * buffer has what is within densely, in each dimension from `from` on.
 * window  [n_device * dims], the dimensions of a device together; copied.  Of
 *         a dimension of n, 0 <= from <= n and from <= to <= from + n
 * opt     may be NULL; ->memory is not looked at
 * Errors  those of axe_reshard; EARG: a window is none of its dimension.
 *         EUNSUPPORTED: src holds addends, or dst has other dimensions.
 *         ELIMIT: over 1024 devices, which are looked at in pairs */
AXE_CHECK axe_status axe_reshard_within(axe_ctx *cx, const axe_mesh *m,
                                        const axe_spread          *src,
                                        const axe_spread          *dst,
                                        const axe_window          *window,
                                        const axe_reshard_options *opt,
                                        const axe_reshard_plan   **out);

/* Elements that device `from` gives device `to` in a step; -1 where that is an
 * algorithm of many rounds (all-reduce, broadcast).  O(iters). */
int64_t axe_reshard_sends(const axe_reshard_plan *p, int step, int64_t from,
                          int64_t to);
/* The device from which `to` has the element at `index` (row-major) behind a
 * step, `to` itself if it had it; -1: it does not have it.  addend: which of
 * them, as the digits of a device's number in which SRC's addends differ, slow
 * to fast; 0 if there are none.  O(iters). */
int64_t axe_reshard_source(const axe_reshard_plan *p, int step, int64_t index,
                           int64_t addend, int64_t to);

/* The elements that `from` gives `to` in a step, as layouts: where each of them
 * is in the tensor, row-major, on axis m.  Composed with the layout of a buffer
 * they are its addresses.  One layout, where both spreads have common digits
 * and even extents, more at the end of an uneven one; *n is 0 where nothing is
 * given.
 * Errors  EARG: no such step or device.  EUNSUPPORTED: an algorithm of many
 *         rounds; a plan within windows.  ELIMIT: over 4096 pieces. */
AXE_CHECK axe_status axe_reshard_pieces(axe_ctx *cx, const axe_reshard_plan *p,
                                        int step, int64_t from, int64_t to,
                                        int *n, const axe_layout *const **out);

/* What it is and costs, a line a step. */
const char *axe_reshard_text(axe_ctx *cx, const axe_reshard_plan *p);
/* The same as one JSON object. */
const char *axe_reshard_json(axe_ctx *cx, const axe_reshard_plan *p);

/* Which devices hold which parts of the tensor (of more than two dimensions,
 * the last two), before and behind each step, and who gives whom how much.
 * Errors  ELIMIT: more than 32 devices, or parts of a dimension. */
AXE_CHECK axe_status axe_reshard_draw(axe_ctx *cx, const axe_reshard_plan *p,
                                      axe_buf *out);
/* The same as an SVG.  The same plan gives the same bytes. */
AXE_CHECK axe_status axe_reshard_svg(axe_ctx *cx, const axe_reshard_plan *p,
                                     axe_buf *out);

#ifdef __cplusplus
}
#endif
#endif
