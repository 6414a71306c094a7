/* plan_int.h - between the files of this room. */
#ifndef AXE_PLAN_PLAN_INT_H
#define AXE_PLAN_PLAN_INT_H

#include "plan/plan.h"

/* A shared tile between two sides that are fast along different indices. */
typedef struct turned {
    int    tile;           /* tensor id */
    double direct, staged; /* [cycles] of the path to memory, either way */
} turned;

typedef struct planner {
    axe_ctx             *cx;
    const axe_kernel    *kernel;
    const axe_machine   *mc;
    axe_place           *place; /* by tensor id */
    const axe_schedule **schedule;
    axe_packing         *pack;  /* by tensor id */
    const axe_var      **meets; /* by statement: axe_kernel_meets */
    int                  n_retile;
    axe_retile          *retile;
    int                  n_ring, cap_ring;
    axe_ring            *ring;
    int                  n_sync, cap_sync;
    axe_sync            *sync;
    bool                *shared;  /* by tensor id */
    axe_simt_plan       *simt;    /* machines with threads; else NULL */
    const axe_kernel    *written; /* before perfect nests were raised */
    const axe_stmt      *trip_at; /* planning failed since this operand of it is
                                     to go through shared memory */
    const axe_node *trip;
    double          direct, staged; /* [cycles] why; or 0 */
    int             n_turned;
    const turned   *turned; /* statements that go by way of shared memory */
} planner;

/* What a statement looks like before a schedule is chosen. */
typedef struct request {
    const axe_stmt *stmt;
    const axe_node *value;
    int             n_operand;
    axe_operand    *operand;
    int             n_nest;
    axe_nest       *nest; /* digits not chosen yet */
    bool meets; /* a scatter whose elements the machine folds into by rows of
                   that fold: the value is only what comes to them */
    int share;  /* CTAs that do parts of it, see simt/map/cluster_share.c; 0, 1:
                   none */
    int        n_reject;
    axe_reject reject[16];
} request;

/* The value with `op=` spelled out: dst op reduce(value). */
const axe_node *axe_spell_fold(axe_ctx *cx, const axe_stmt *s);
/* access/access.c: resolve every access of the statement. */
AXE_CHECK axe_status axe_request_make(planner *p, const axe_stmt *s,
                                      request *out);

/* Is the variable's whole extent constant?  0 if not. */
int64_t axe_dim_extent(const axe_dim *d);
/* The dim of `v` in any nest of the request, or NULL. */
const axe_dim *axe_request_dim(const request *r, const axe_var *v);

/* access/digit.c: cut `v` (const extent) at the boundaries of all operands and
 * at `extra` more weights.  Digits slow to fast; false if boundaries clash. */
bool axe_plan_cut(planner *p, const request *r, const axe_dim *d, int n_extra,
                  const int64_t *extra, int *n_digit, axe_digit **digit);

/* The first n steps of `word` of v in an operand as one iter, of stride 0 if v
 * does not move it; false if they are not one. */
bool axe_fast_iter(const axe_operand *op, const axe_var *v, int64_t word,
                   int64_t n, axe_iter *out);

/* The layout (n : stride) of the first n steps of v in an operand, (n : 0) if
 * v does not move it; false if those steps are not one iter. */
bool axe_fast_layout(planner *p, const axe_operand *op, const axe_var *v,
                     int64_t n, const axe_layout **out);

void axe_rejected(planner *p, request *r, const char *what, const char *fmt,
                  ...) AXE_PRINTF(4, 5);

/* rewrite/reflect.c: the kernel with branches where subscripts have absolute
 * values. */
const axe_kernel *axe_reflect(axe_ctx *cx, const axe_kernel *k);
/* cpu/sum_loops.c: the kernel with loops around sums of products as indices. */
const axe_kernel *axe_sum_loops(axe_ctx *cx, const axe_machine *mc,
                                const axe_kernel *k);

/* rewrite/interleave.c: the kernel with its roles as one, for a machine on
 * which they do not run side by side; those for which that cannot be done stay.
 * at, why   or NULL: *at, *why of the first of these: what is in the way */
const axe_kernel *axe_interleave_roles(axe_ctx *cx, const axe_kernel *k,
                                       axe_span *at, const char **why);

/* cpu/few.c: the kernel, a product, with a branch for few rows. */
const axe_kernel *axe_few_rows(axe_ctx *cx, const axe_machine *mc,
                               const axe_kernel *k);

/* cpu/contract.c, and access/contract_roles.c.  wanted: is the statement a sum
 * of products with a row, a column and a sum?  may: and perhaps several sums?
 * infer: give open tiles of a contraction their layouts. plan: false (and
 * reasons in r) if no contract atom fits. */
bool axe_contract_wanted(const axe_stmt *s);
bool axe_contract_may(const axe_stmt *s);
bool axe_contract_infer(planner *p, const axe_stmt *s);
bool axe_contract_plan(planner *p, request *r, axe_schedule *out);

/* access/scopes.c: only scopes, loops and branches around scopes, and barriers
 * at the top of a kernel. */
AXE_CHECK axe_status axe_check_top(planner *p);
/* access/pipeline_depth.c: how many stages pipelines keep, and the stage of t
 * that statement s works on; NULL if there is one.
 * Errors  ESHAPE: a produce or
 * consume without a stage; EUNSUPPORTED: not known
 */
AXE_CHECK axe_status axe_plan_rings(planner *p);
/* The same for the pipeline that body[0] declares, for the rest of its block.
 */
AXE_CHECK axe_status axe_plan_ring(planner *p, int n, axe_stmt *const *body);
void                 axe_add_ring(planner *p, axe_ring r);
const axe_var       *axe_stage_of(const planner *p, const axe_stmt *s,
                                  const axe_tensor *t);
/* cpu/worker_barrier.c: where all workers must meet; with p->retile known. */
void axe_plan_sync(planner *p);
/* access/scatter.c: no two tasks fold into an element that a subscript
 * computes.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_scatter(planner *p, const axe_stmt *s);
/* Does the statement fold into elements that subscripts compute, and may
 * threads meet there, since the machine has rows that fold into memory? */
bool axe_scatter_meets(const planner *p, const axe_stmt *s);

/* access/pins.c: does the schedule keep what the text asks of it?
 * wanted  a contract atom should have been found
 * Errors  EUNSUPPORTED, ENAME with what was rejected and why */
AXE_CHECK axe_status axe_check_pins(planner *p, const request *r,
                                    const axe_schedule *s, bool wanted);

/* access/packed.c: the packed argument that the tile which s reads is only a
 * copy of, or NULL. */
const axe_tensor *axe_packed_source(const planner *p, const axe_stmt *s,
                                    const axe_tensor *tile);
/* The access `load` of such a tile as one of its source.  Guards say where the
 * source ends; what is visited up to the next whole vector and group are zeros.
 * Errors  EUNSUPPORTED: it does not begin at whole vectors and groups */
AXE_CHECK axe_status axe_packed_operand(planner *p, const request *r,
                                        axe_operand *op);
/* All packed arguments have found their contraction.
 * Errors  EUNSUPPORTED */
AXE_CHECK axe_status axe_check_packed(planner *p);

/* access/source.c: is the tile filled by one unconverted move, for s alone? */
bool axe_moved_for(const planner *p, const axe_tensor *t, const axe_stmt *s);

/* access/access.c: the index of a subscript that is one index and the rest, or
 * NULL.
 */
const axe_var *axe_alone_in(planner *p, const axe_node *at);
/* The sum; of a scope variable whose tiles may begin elsewhere, the beginning.
 */
const axe_node *axe_affine_node(planner *p, const axe_affine *a);
/* access/window.c: may the subscript leave a dimension of `full` elements of a
 * tile, but for a condition around it? */
bool axe_tile_guarded(planner *p, const request *r, const axe_node *at,
                      int64_t full);
/* The same file: adds to op what the subscript `at` of a tile, inner of indices
 * plus outer, moves it by along a dimension of n > 1 iters.
 * Errors  EUNSUPPORTED: two parts of it move one digit of the dimension */
AXE_CHECK axe_status axe_window_move(planner *p, const request *r,
                                     const axe_node   *at,
                                     const axe_affine *inner,
                                     const axe_affine *outer, int n,
                                     const axe_iter *it, axe_operand *op);
/* Dimension d of a global operand, whose one index is called `as` here: adds to
 * its base and guards; `outer` gets what is no index. */
AXE_CHECK axe_status axe_global_dim(planner *p, const request *r,
                                    const axe_node *at, int d,
                                    const axe_var *as, axe_operand *op,
                                    axe_affine *outer);

/* cpu/atom.c: the schedule of a statement that names its atom: one invocation.
 * Errors  ENAME: no such atom; EUNSUPPORTED: the machine lacks it;
 *         ESHAPE, ETYPE: it does not take the operands, and which would */
AXE_CHECK axe_status axe_atom_plan(planner *p, request *r, axe_schedule *out);

/* cpu/map.c */
/* Lanes for the widest compute type of the statement. */
AXE_CHECK axe_status axe_map_lanes(planner *p, request *r, int *lanes);
AXE_CHECK axe_status axe_map_plan(planner *p, request *r, axe_schedule *out);
/* cpu/map_order.c: the digits of all dims of a nest of schedule s, outermost
 * first by the destination's strides if by_stride, those of `last2` and then
 * `last` (or NULL) at the end.  A variable that layouts cut in ways that do not
 * refine one another is one digit. */
void axe_map_order(planner *p, const request *r, axe_nest *nest,
                   const axe_schedule *s, bool by_stride, const axe_var *last2,
                   const axe_var *last);

/* cpu/jam.c: how many elements of the result are folded side by side; its loops
 * may change places. */
void axe_plan_jam(const planner *p, const request *r, axe_nest *nest);

/* cpu/tail_vector.c: may the rows of the request's nests, of the statement's
 * own along `last`, end in a vector of which only the first lanes count?  Then
 * they do so; the operands' atoms go into list, which has room, if a row may
 * have such an end. */
void axe_plan_parts(planner *p, request *r, const axe_var *last,
                    axe_schedule *out, const axe_atom **list);
/* The atom that loads the first of `lanes` steps of v, or NULL. */
const axe_atom *axe_find_part(planner *p, const axe_operand *op,
                              const axe_var *v, int lanes);
/* Note an atom once. */
void axe_use_atom(axe_schedule *s, const axe_atom *a, const axe_atom **list);
/* The type in which elements of a tensor lie in memory. */
axe_type axe_kept_as(const planner *p, const axe_tensor *t);

/* access/zero.c: the statement that writes tile t, if it is the only one. */
const axe_stmt *axe_only_writer(const planner *p, const axe_tensor *t);

/* A statement that writes tile t. */
const axe_stmt *axe_some_writer(const planner *p, const axe_tensor *t);

/* A limit such that the operand is zero where v >= limit, for the whole
 * time that statement s sees it; NULL if none is known. */
const axe_node *axe_zero_limit(planner *p, const axe_stmt *s,
                               const axe_operand *op, const axe_var *v);

/* Are all variables of the expression bound around statement s? */
bool axe_known_at(const planner *p, const axe_stmt *s, const axe_node *n);

/* Does s, another statement than w, run only after w, in the same turn of every
 * loop around w, and never without it? */
bool axe_runs_before(const planner *p, const axe_stmt *w, const axe_stmt *s);

/* Is it the whole tile that the access walks, the same in every turn of a loop?
 */
bool axe_walks_whole(const axe_node *load);

/* cpu/dead.c: bound the statements that fill tiles by what is read of them. */
void axe_cut_dead(planner *p);
/* The limit in dimension d that all who read the tile share, or NULL. */
const axe_node *axe_common_limit(planner *p, const axe_tensor *t, int d);

/* cpu/register_tiles.c: divide a contraction's tile. */
void axe_split_tile(planner *p, axe_schedule *s);
/* A name for a value that is known where the split is. */
/* Is s in the body, at any depth? */
bool            axe_is_in(int n, axe_stmt *const *body, const axe_stmt *s);
const axe_node *axe_split_let(planner *p, axe_schedule *s, const char *name,
                              const axe_node *value);

/* cpu/fuse_epilogue.c: what surrounds contractions into them. */
void axe_merge_ends(planner *p);

/* cpu/zero_copy.c: factors that are read where they come from. */
void axe_find_views(planner *p);

/* cpu/cache_sets.c: a bool: of `rows` pieces of `bytes` each, `stride` bytes
 * apart, does no set of a cache get more lines than `ways`?  `period`: its
 * bytes / ways. */
const axe_node *axe_fits_sets(axe_ctx *cx, const axe_node *rows,
                              const axe_node *bytes, const axe_node *stride,
                              int64_t period, int64_t ways);

/* cpu/retile.c: which scope variables' tiles may begin elsewhere; then, with
 * all schedules made, in which multiples. */
void axe_find_retiles(planner *p);
void axe_round_retiles(planner *p);
/* cost/slow.c: warn of statements that take far longer than the machine needs,
 * but for those that say `slow`. */
void axe_check_slow(axe_ctx *cx, const axe_plan *p);
/* check.c: warn of tiles that exceed the machine's caches. */
void axe_check_caches(axe_ctx *cx, const axe_plan *p);
/* The same: warn of contractions on rows far slower than others of their types,
 * but for those that say `slow`. */
void axe_check_rates(axe_ctx *cx, const axe_plan *p);

/* access/certify.c: compare each operand's digits with its layout; a difference
 * is our own bug. */
void axe_certify(planner *p, axe_schedule *s);
/* The same for a view: its address, for some values of all variables, is that
 * of the tensor's strides at the subscripts of the statement that fills the
 * tile; how many were compared.  src: by the indices of `load`. */
int64_t axe_certify_view(planner *p, const axe_operand *src,
                         const axe_node *load, const axe_schedule *fill);
/* access/prove.c: the same for one access of a tile, by algebra; UNKNOWN where
 * that does not reach (a base that moves with a size, digits that carry). */
typedef enum axe_proof {
    AXE_PROOF_UNKNOWN,
    AXE_PROOF_EQUAL,
    AXE_PROOF_WRONG
} axe_proof;
axe_proof axe_prove_operand(planner *p, const axe_schedule *s,
                            const axe_operand *op);

/* Does the move join this memory, of `lanes` times `group` elements, with reg,
 * or if that is NULL with any registers? */
bool axe_atom_joins(planner *p, const axe_atom *a, int lanes, int group,
                    const axe_layout *mem, const axe_layout *reg);

/* The cheapest atom that moves a memory operand (lanes : stride), each lane
 * `group` neighbours, by tile-of against its memory side, and, if reg is not
 * NULL, gives or takes registers laid out as `reg`. */
const axe_atom *axe_find_move(planner *p, axe_atom_kind kind, int lanes,
                              int group, const axe_layout *mem,
                              const axe_layout *reg);

#endif
