/* dist.h - programs over the devices of a mesh, at one set of sizes.
 *
 *     dist.c          sizes, coordinates, who holds what
 *     between.c  statements between devices: what is computed where,
 *     local.c    and on each
 *     turn.c     and where they turn devices along an axis
 *     bound.c    or look at what is below a number,
 *     halo.c     or at what is around a device's own;
 *     window.c   what that is, and its plans,
 *     around.c   or at what goes around the end of a dimension
 *     plan.c     all of them
 *     fuse.c     which of them overlap with what is computed
 *     explain.c  what is done, as text
 *     same.c     what is to be the same on all ranks
 *     run.c      carried out by ranks,
 *     cpu.c      on cores
 *     gpu.c      or GPUs,
 *     pieces.c   piece by piece where something overlaps
 *     ref.c      what it means
 *     whole.c         from one process; rank.c on ranks that have parts */
#ifndef AXE_RUN_DIST_DIST_H
#define AXE_RUN_DIST_DIST_H

#include "axe/engine.h"
#include "ir/by_rows.h"
#include "ir/list.h"
#include "ir/mesh.h"
#include "run/program.h"

/* Parts of devices are blocks of row-major arrays.
 * Errors  EUNSUPPORTED: another order is asked for, or an array has it */
AXE_CHECK axe_status axe_dist_check_orders(axe_ctx *cx, const axe_kernel *k,
                                           const axe_compile_spec *spec);

/* A kernel of no statement, whose arguments are the whole ones of k, and whose
 * sizes those that are the same on all devices. */
AXE_CHECK axe_status axe_dist_outside(axe_ctx *cx, const axe_kernel *k,
                                      const axe_kernel **out);

/* Loops around where we are. */
typedef struct axe_frame {
    const axe_var          *var;
    int64_t                 value;
    const struct axe_frame *up;
} axe_frame;

/* A subscript, and the variables around it. */
typedef struct axe_reached {
    const axe_node  *sub;
    int              n_var;
    const axe_var  **var;
    const axe_node **first, **count; /* of a device's values; first NULL: 0 */
    bool             around; /* sub is modulo the dimension, and goes around it
                                as what it is a remainder of does */
} axe_reached;

/* What the iterations of a device look at of one dimension of an operand: from
 * the least to the largest value of some subscripts, as far as it is there; or
 * the least interval around the dimension's end that has all of them. */
typedef struct axe_dist_window {
    const axe_node    *whole; /* the dimension's extent */
    int                n;
    const axe_reached *sub; /* [n] */
    /* What a size that is `first` counts: NULL: where the window begins; else
     * what this subscript, and `rounds` times the dimension, is more than where
     * its element is in the window. */
    const axe_reached *of;
    int64_t            rounds;
} axe_dist_window;

typedef struct axe_dist {
    const axe_program *program;
    const axe_kernel  *k;    /* program->meshed */
    const int64_t     *size; /* of program->kernel */
    const axe_mesh    *mesh; /* its axes are k's, in order */
    int64_t            n_device;
} axe_dist;

/* size   [program->kernel->n_size]
 * links  of the mesh, "far: 2us, 25GB/s", and "node @ far"; NULL: near ones
 * Errors ESHAPE: an axis of no device */
AXE_CHECK axe_status axe_dist_open(axe_ctx *cx, const axe_program *p,
                                   const int64_t *size, axe_dist *out);

/* Is it one that ranks can run?
 * Errors  EUNSUPPORTED: over no mesh.  EARG: of another ctx, not compiled so
 *         far */
AXE_CHECK axe_status axe_dist_check(axe_ctx *cx, const axe_program *p);

/* The one axis of the mesh whose size is not known takes what n devices leave
 * for it.
 * b       of program->kernel, from what is given
 * n       0: as many as the sizes say, 1 along the open axis
 * *found  there is one: *out
 * Errors  EARG: several axes are open; the mesh has another number of devices.
 *         ESHAPE: an axis has none
 */
AXE_CHECK axe_status axe_dist_open_axis(axe_ctx *cx, const axe_program *p,
                                        const axe_bound *b, int64_t n,
                                        axe_size *out, bool *found);
/* Of a device along an axis. */
int64_t axe_dist_coordinate(const axe_dist *d, int64_t device, int axis);
/* How much of a whole extent a device has along axes, and from where on. */
void axe_dist_block(const axe_dist *d, int64_t device, int64_t whole,
                    int n_axis, const int *axis, int64_t *first,
                    int64_t *count);
/* The value of a size, which is one of k's or, by its name, of a loop around.
 */
int64_t axe_dist_size(const axe_dist *d, const axe_frame *f, int64_t device,
                      const axe_var *v);
/* That of an integer expression or a condition over such. */
int64_t axe_dist_value(const axe_dist *d, const axe_frame *f, int64_t device,
                       const axe_node *n);

/* What a device has of a tensor: `first` of the whole one's index, and shape.
 * first, shape  [rank]; either may be NULL
 * returns       how many elements; 0 also where it is at another device */
int64_t axe_dist_part(const axe_dist *d, int64_t device, const axe_tensor *t,
                      int64_t *first, int64_t *shape);
/* The same where loops around are there. */
int64_t axe_dist_part_at(const axe_dist *d, const axe_frame *f, int64_t device,
                         const axe_tensor *t, int64_t *first, int64_t *shape);
/* All elements of a whole tensor. */
int64_t axe_dist_count(const axe_dist *d, const axe_tensor *t);
/* Is it the first of those that hold addends? */
bool axe_dist_is_first(const axe_dist *d, int64_t device, const axe_tensor *t);
/* Runs of neighbours that a device has: n elements from `local` on of its part,
 * and from `whole` on of the tensor. */
typedef void axe_dist_run_fn(void *user, int64_t local, int64_t whole,
                             int64_t n);
void axe_dist_runs(const axe_dist *d, int64_t device, const axe_tensor *t,
                   axe_dist_run_fn *fn, void *user);

/* A device's part of the whole tensor goes to `local`. */
void axe_dist_cut(const axe_dist *d, int64_t device, const axe_tensor *t,
                  const void *whole, void *local);
/* The part that a device has, at `data`, as an argument of that name. */
axe_array axe_dist_array(axe_ctx *cx, const axe_dist *d, const axe_frame *f,
                         int64_t device, const axe_tensor *t, const char *name,
                         void *data);

/* The tensors of k: arguments, then its own. */
int               axe_dist_n_tensor(const axe_dist *d);
const axe_tensor *axe_dist_tensor(const axe_dist *d, int i);
int               axe_dist_find(const axe_dist *d, const char *name);

/* By definition, on all devices at once, from whole arguments to whole results.
 * value, bound  [n_param] as axe_ref_call has them
 * size          [p->kernel->n_size] */
AXE_CHECK axe_status axe_dist_refer(axe_ctx *cx, axe_device *device,
                                    const axe_program *p, void *const *value,
                                    double *const *bound, const int64_t *size);

/* -------------------------------------------------- between.c */

/* A statement between devices, as it is done. */
typedef struct axe_turning    axe_turning;
typedef struct axe_dist_bound axe_dist_bound;
typedef struct axe_halo       axe_halo;

typedef struct axe_between_arg {
    int                     tensor; /* of k */
    const axe_tensor       *local;  /* as the statement needs it, or makes it */
    const axe_reshard_plan *plan;   /* to or from there; NULL: it is so */
    const axe_turning      *turning; /* NULL: devices are not turned */
    const axe_dist_bound   *bound;   /* NULL: all of it is brought */
    const axe_halo         *halo; /* NULL: it is needed in blocks, or whole */
    const axe_node         *numbers; /* it is these, which bound another one */
} axe_between_arg;

/* Of dimension `dim` what is below numbers[index of dimensions `of`] is looked
 * at. */
struct axe_dist_bound {
    int             dim, n, of[AXE_RANK_MAX];
    const axe_node *numbers; /* the load of them */
    int             arg;     /* which operand they are, an earlier one, whole */
};

typedef struct axe_between {
    const axe_stmt    *stmt;
    const axe_program *program; /* on each device; NULL: a copy, by the result's
                                   plan alone */
    int                    n_arg;
    const axe_between_arg *arg;
    axe_between_arg        result; /* ->plan from what program makes to what the
                                      tensor is; NULL: it is written there */
    double time;                   /* [us] of the plans */
} axe_between;

/* Something that devices compute, and a change of spreads that goes on
 * meanwhile: what is computed goes off, or what is needed comes. */
typedef struct axe_fuse {
    const axe_stmt         *first, *second; /* second NULL: first is both */
    const axe_between      *between;        /* the change, or both */
    const axe_reshard_plan *plan;           /* of one step */
    bool                    giving;
    int               device;   /* number of the DEVICE statement; -1: none */
    const axe_kernel *kernel;   /* what is computed */
    axe_by_rows       rows;     /* how it is cut */
    int               arg;      /* of between, taken; -1: none */
    int               src, dst; /* tensors of k where the plan begins and ends;
                                   -1: `local` does */
    const axe_tensor *local;
    const axe_tensor *cut; /* what pieces are of, one of kernel's */
} axe_fuse;

typedef struct axe_dist_plan {
    axe_dist                       d;
    int                            n_between;
    axe_between                   *between;
    const axe_reshard_plan *const *home; /* [n_param] of what is written, to
                                            device 0; NULL: it has it */
    int64_t         heap; /* [bytes] of symmetric memory that its plans take */
    int64_t         device_heap; /* likewise of devices' own */
    int             n_fuse;
    const axe_fuse *fuse;
    bool            one_by_one; /* nothing overlaps: to compare */
    int64_t        *moved;      /* as axe_dist_options has it */
} axe_dist_plan;

AXE_CHECK axe_status axe_between_plan(axe_ctx *cx, const axe_dist *d,
                                      const axe_stmt *s, int number,
                                      axe_between *out);

/* -------------------------------------------------------- spread.c */

/* "8@gpu, 24 + partial(node)", as axe_spread_read reads it; unless NULL,
 * turned. */
const char *axe_dist_spread(axe_ctx *cx, const axe_dist *d, const axe_tensor *t,
                            const axe_turning *turning);
/* The same for a whole tensor of these extents, whatever sizes say. */
const char *axe_dist_spread_of(axe_ctx *cx, const axe_dist *d,
                               const axe_tensor *t, const int64_t *whole);
/* Does `to` hold addends along the axis, and `from` none? */
bool axe_dist_makes_addend(const axe_tensor *from, const axe_tensor *to,
                           int axis);
/* From one tensor's layout over devices to another's, turned unless NULL; *out
 * NULL: they are the same, or nothing is there.  Where it makes addends, all
 * devices along the axis have the value then: all but the first are to forget
 * it. */
AXE_CHECK axe_status axe_dist_reshard(axe_ctx *cx, const axe_dist *d,
                                      const axe_tensor        *from,
                                      const axe_tensor        *to,
                                      const axe_turning       *turning,
                                      const axe_reshard_plan **out);
/* Elements as engines know them.  EUNSUPPORTED */
AXE_CHECK axe_status axe_dist_number(axe_ctx *cx, const axe_tensor *t,
                                     axe_number *out);

/* -------------------------------------------------------- turn.c */

/* A dimension of which the device of coordinate c along an axis needs block
 * (mul * c + add) modulo the axis's devices. */
typedef struct axe_dist_turn {
    int             dim, axis;
    int64_t         mul, add;
    int64_t         block; /* [elements] */
    const axe_node *by;    /* the subscript, but for its modulo */
    const axe_var  *index; /* what goes through the dimension */
    bool            loops; /* add is another one as loops around go on */
} axe_dist_turn;

struct axe_turning {
    int                      n;
    axe_dist_turn           *turn;
    int64_t                  n_plan;
    const axe_reshard_plan **plan; /* by add; NULL: there is one alone */
};

/* The plan of an operand or a result where loops around are there; NULL: it is
 * so. */
const axe_reshard_plan *axe_dist_plan_at(const axe_dist *d, const axe_frame *f,
                                         const axe_between_arg *a);

/* ----------------------------------------------------- window.c */

/* Loads of a tensor that are one operand: of each dimension a device needs the
 * block of an index that is all of the subscript, or what is in a window. */
struct axe_halo {
    const axe_tensor      *of;
    int                    n_load;
    const axe_node *const *load;
    axe_reached variables; /* those that the first load stands in: no ->sub */
    int         index[AXE_RANK_MAX];
    const axe_dist_window *window[AXE_RANK_MAX]; /* NULL: by the index */
    int64_t total; /* elements that go without windows, at most */
    /* Loops around that windows go by, and a plan for each of their values. */
    int                      n_loop, n_plan;
    const axe_var          **loop;
    const int64_t           *at;   /* [n_plan * n_loop] */
    const axe_reshard_plan **plan; /* [n_plan] */
};

/* Of a device. */
axe_window axe_dist_window_at(const axe_dist *d, const axe_frame *f,
                              int64_t device, const axe_dist_window *w);
/* "m - 1, m + 1" */
const char *axe_dist_window_text(axe_ctx *cx, const axe_dist_window *w);

/* ----------------------------------------------------- around.c */

/* What a size says that is `first` of a window with ->of, on a device. */
int64_t axe_dist_around_first(const axe_dist *d, const axe_frame *f,
                              int64_t device, const axe_dist_window *w);

/* ------------------------------------------------------- plan.c */

/* Always EUNSUPPORTED: a mesh has no devices of this machine. */
AXE_CHECK axe_status axe_dist_not_for(axe_ctx *cx, const axe_kernel *k,
                                      const axe_machine *mc);

typedef struct axe_dist_options {
    bool        one_by_one; /* nothing overlaps: to compare */
    const char *measured; /* links are as `axe mesh --measure` has kept them for
                             this engine, where it has; NULL: as guessed */
    const char *records;  /* where that is; NULL: where records are */
    int64_t *moved; /* [2] unless NULL: bytes that one run brings to devices, as
                       counted where they are copied, and as plans say */
} axe_dist_options;

/* All that is between devices.
 * opt  NULL: none of it */
AXE_CHECK axe_status axe_dist_plan_with(axe_ctx *cx, const axe_program *p,
                                        const int64_t          *size,
                                        const axe_dist_options *opt,
                                        const axe_dist_plan   **out);
AXE_CHECK axe_status axe_dist_plan_new(axe_ctx *cx, const axe_program *p,
                                       const int64_t        *size,
                                       const axe_dist_plan **out);
/* The plan of a statement of it. */
const axe_between *axe_dist_between(const axe_dist_plan *p, const axe_stmt *s);

/* ------------------------------------------------------- fuse.c */

/* What overlaps: p->fuse, and what it takes of the heap. */
void axe_dist_find_fuses(axe_ctx *cx, axe_dist_plan *p);
/* The one that the statement begins, or NULL. */
const axe_fuse *axe_dist_fuse(const axe_dist_plan *p, const axe_stmt *s);

/* ---------------------------------------------------- explain.c */

/* Sizes that are not given count as 1024, axes of the mesh as 4 devices. */
AXE_CHECK axe_status axe_dist_explain(axe_ctx *cx, const axe_program *p,
                                      int n_size, const axe_size *size,
                                      axe_buf *out);

/* ------------------------------------------------------ bound.c */

/* What goes of an operand that is bounded, but for the numbers themselves, of
 * which there are n_number. */
axe_reshard_bound axe_dist_bound_of(axe_ctx *cx, const axe_dist *d,
                                    const axe_dist_bound *b, int64_t *n_number);

/* -------------------------------------------------------- same.c */

/* "0.5": a number of the type, in as few digits as say which one it is. */
const char *axe_dist_number_text(axe_ctx *cx, axe_type t, const void *data);
/* The program's constants, machine and text, for ranks to compare. */
void axe_dist_put_program(axe_ctx *cx, axe_list *out, const axe_program *p,
                          const char *digest);
/* Texts that a launch on whole arrays has in common on all ranks: `same` of
 * axe_engine_options.
 * data    [n_param]
 * n_time  how many runs are timed */
AXE_CHECK axe_status axe_dist_same(axe_ctx *cx, const axe_dist_plan *p,
                                   void *const *data, int n_time, int *n,
                                   const char *const **out);

/* -------------------------------------------------------- run.c */

/* A number of the program's IR, in hexadecimal. */
AXE_CHECK axe_status axe_dist_digest(axe_ctx *cx, const axe_program *p,
                                     const char **out);
/* Of one run on this rank, from all ranks' meeting to the next [s]; `exposed`
 * is what of it was not spent in kernels: moving, waiting, and the way there.
 * < 0: kernels are not waited for one by one, so nobody knows. */
typedef struct axe_dist_time {
    double seconds, exposed;
} axe_dist_time;

/* On a rank of an engine, whose ranks are the devices and have compared what
 * they launch: whole arrays, row-major, of which each rank takes its parts;
 * results come to rank 0.
 * data    [n_param]
 * times   unless NULL: [n_time], of runs behind the first */
AXE_CHECK axe_status axe_dist_on_rank(axe_ctx *cx, axe_engine *e,
                                      const axe_dist_plan   *p,
                                      const axe_device_spec *spec,
                                      void *const *data, int n_time,
                                      axe_dist_time *times);

/* ----------------------------------------------------------- whole.c */

/* Compile all that ranks load, so that they find it in the cache. */
AXE_CHECK axe_status axe_dist_warm(axe_ctx *cx, axe_device *device,
                                   const axe_dist_plan *plan);
/* Threads of each rank: all cores, shared out. */
int64_t axe_dist_threads(axe_ctx *cx, int64_t n_device);

#endif
