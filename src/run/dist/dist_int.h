/* dist_int.h - a choice of what devices share of a statement between them:
 * between.c makes it, local.c what each of them computes then. */
#ifndef AXE_RUN_DIST_DIST_INT_H
#define AXE_RUN_DIST_DIST_INT_H

#include "ir/list.h"
#include "run/dist/dist.h"

enum { MOST_INDICES = 16, AXE_AROUND_MOST = 32 /* subscripts of a window */ };

typedef struct axe_chooser {
    axe_ctx        *cx;
    const axe_dist *d;
    const axe_stmt *s;
    int             n_index; /* that axes may cut: free ones, then summed */
    const axe_var  *index[MOST_INDICES];
    const axe_node *extent[MOST_INDICES];
    int             n_free;
    int             choice[MOST_INDICES]; /* of an axis: an index, or n_index */
    const axe_node *numbers; /* a load that bounds what is brought, or NULL */
    axe_list        made;    /* axe_var: sizes of parts that k has not */
    axe_list        halo;    /* axe_halo: by the choice */
    bool            no_halo; /* operands are priced whole */
} axe_chooser;

/* The index that is all of a subscript, or -1. */
int axe_lone_index(const axe_chooser *c, const axe_node *sub,
                   const axe_node *extent);
/* The index that goes through a dimension as devices do that share it by the
 * choice: alone, or *turn, whose ->index is NULL else; -1. */
int axe_cut_index(const axe_chooser *c, const axe_node *sub,
                  const axe_node *extent, axe_dist_turn *turn);
/* Does a subscript turn devices along the axis, of which each has a block of
 * the dimension, which *index goes through? */
bool axe_turn_find(const axe_chooser *c, const axe_node *sub,
                   const axe_node *extent, int axis, int *index,
                   axe_dist_turn *out);
bool axe_turns_same(const axe_turning *a, const axe_turning *b);
/* Is there no plan, as of tensors turned by less than what they are cut in? */
static inline bool
axe_dist_no_plan(axe_status status)
{
    return status == AXE_EUNSUPPORTED || status == AXE_ELIMIT;
}
/* Plans to what is needed turned; *out is one that moves something. */
AXE_CHECK axe_status axe_turning_plan(axe_ctx *cx, const axe_dist *d,
                                      const axe_tensor *from,
                                      const axe_tensor *to, axe_turning *t,
                                      const axe_reshard_plan **out);
/* How many values of the index a device has, or from which on; its extent, or
 * NULL, where it is not cut. */
const axe_node *axe_cut_extent(axe_chooser *c, int index, bool first);
/* The same of a load's subscript; -1: the dimension is needed whole. */
int axe_load_index(const axe_chooser *c, const axe_node *load, int dim,
                   axe_dist_turn *turn);
/* A tensor as a load of it is needed; *turning NULL: not turned. */
axe_tensor *axe_needed(axe_chooser *c, const axe_node *load,
                       axe_turning **turning);
/* As all devices have it, declared. */
const axe_tensor *axe_between_whole(const axe_tensor *t);

typedef struct axe_operands {
    axe_chooser *c;
    axe_list     arg; /* axe_between_arg * */
    axe_status   status;
    double       time;
} axe_operands;

/* By the choice, what bounds what is brought: c->numbers (bound.c). */
AXE_CHECK axe_status axe_bound_open(axe_chooser *c);
/* Give an operand of that load its bound, if it is what the numbers bound; they
 * are an operand already. */
void axe_bound_find(const axe_operands *o, const axe_node *load,
                    axe_between_arg *a);
/* By the choice, loads that are needed as windows: c->halo (halo.c). */
AXE_CHECK axe_status axe_halo_open(axe_chooser *c);
/* The one that a load is in, or NULL. */
const axe_halo *axe_halo_of(const axe_chooser *c, const axe_node *load);
/* How many indices a device has of a halo's window, or from which on. */
const axe_node *axe_halo_extent(axe_chooser *c, const axe_halo *h,
                                const axe_dist_window *w, bool first);
/* A size that each device has of its own, a new one unless it is there. */
const axe_node *axe_size_of_part(axe_chooser *c, axe_shard p, const char *name);

/* Do both say the same? */
bool axe_dist_window_same(const axe_dist_window *a, const axe_dist_window *b);

/* Values [from, to) of a subscript: as far as they are in the dimension, if
 * that is not all, `clipped`; or, where it goes around, of what it is a
 * remainder of, more than `whole` where they are not known. */
typedef struct axe_dist_reach {
    int64_t from, to;
    bool    clipped;
} axe_dist_reach;
axe_dist_reach axe_dist_reach_at(const axe_dist *d, const axe_frame *f,
                                 int64_t device, const axe_reached *r,
                                 int64_t whole);

/* Is it something modulo the dimension (around.c)? */
bool axe_dist_is_around(const axe_dist *d, const axe_node *sub, int64_t whole);
bool axe_dist_goes_around(const axe_dist_window *w);
/* A window that does, of a device. */
axe_window axe_dist_around_at(const axe_dist *d, const axe_frame *f,
                              int64_t device, const axe_dist_window *w,
                              int64_t whole);
/* Has each device in one window, which goes around, what it has in either, and
 * no more? */
bool axe_dist_around_joins(const axe_dist *d, const axe_dist_window *a,
                           const axe_dist_window *b);
/* The same window with ->of a load's subscript, and ->rounds so that a size of
 * that is at least 0; NULL: on some device the subscript goes around within
 * what that has. */
const axe_dist_window *axe_halo_place(axe_chooser *c, const axe_halo *h,
                                      const axe_node *load, int dim);
/* Loops around where plan number p is for. */
const axe_frame *axe_halo_frame(axe_ctx *cx, const axe_halo *h, int p);
/* Does a subscript consist of indices, sizes and loops around alone, so that
 * its values are an interval? */
bool axe_dist_is_index(const axe_node *sub);
/* The loops around that windows go by, and how many values these take at the
 * statement; false: too many to plan for each. */
bool axe_halo_find_loops(axe_ctx *cx, const axe_dist *d, const axe_stmt *s,
                         axe_halo *h);
/* The plan from a tensor to what is needed of it where loops around are there.
 */
AXE_CHECK axe_status axe_halo_plan(axe_ctx *cx, const axe_dist *d,
                                   const axe_frame *f, const axe_tensor *need,
                                   const axe_halo          *h,
                                   const axe_reshard_plan **out);
/* One for each value of the loops; *out the one that moves most. */
AXE_CHECK axe_status axe_halo_plan_loops(axe_ctx *cx, const axe_dist *d,
                                         const axe_tensor *need, axe_halo *h,
                                         const axe_reshard_plan **out);
/* The one that is for the loops as they are. */
const axe_reshard_plan *axe_halo_plan_at(const axe_dist *d, const axe_frame *f,
                                         const axe_halo *h);

/* The operand that is this tensor, needed so; NULL. */
const axe_between_arg *axe_operand_needed(const axe_operands *o, int tensor,
                                          const axe_tensor  *need,
                                          const axe_turning *turning);
/* What each device computes, compiled. */
AXE_CHECK axe_status axe_between_compile(axe_chooser *c, const axe_operands *o,
                                         axe_between_arg *result, int number,
                                         const axe_program **out);

#endif
