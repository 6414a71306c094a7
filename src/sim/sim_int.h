/* sim_int.h - between the files of this room.
 *
 *     code.c      lowered code as a list of instructions with jumps
 *     expr.c      expressions in postfix order, evaluated for all lanes at once
 *     operand.c   operands of atoms: which tensor, and where they begin
 *     shape.c     what atoms move and multiply, as lists of places
 *     clock.c     agents and vector clocks
 *     shadow.c    who touched which bytes last
 *     place.c     operands as registers and bytes, with their checks
 *     move.c      LOAD, STORE, PERMUTE, COPY
 *     box.c       COPY through tensor maps
 *     contract.c  CONTRACT; mma.c its loops
 *     tmem.c      tensor memory: columns, access, moves of warps
 *     tproduct.c  CONTRACT and COPY into it
 *     barrier.c   SYNC: barriers and mbarriers
 *     counter.c   SYNC: counters in global memory
 *     group.c     SYNC: commit groups, fences
 *     engine.c    asynchronous atoms: queue, order, completion
 *     control.c   loops and branches of a warp
 *     warp.c      runs one warp until it must wait
 *     cluster.c   how a cluster begins, and what must be over when it ends
 *     turn.c      who runs next
 *     order.c     which orders of events there are
 *     deadlock.c  what it means that nobody can
 *     trace.c     what was done, for its times; replay.c: these
 *     finding.c   findings and their texts
 *     sim.c       grids, arrays, the report
 *
 * Everything of a run is in a context of its own, which ends with it; what a
 * launch needs beyond that is given back when it has ended. */
#ifndef AXE_SIM_INT_H
#define AXE_SIM_INT_H

#include "sim/sim_run.h"

/* expr.c */
AXE_CHECK axe_status axe_sim_expr_make(sim *s, sim_code *code,
                                       const axe_node *n, const sim_expr **out);
/* An index as its text has it, whose width is checked.
 * v    the variable that is to hold it, or NULL
 * by   what is added to that afterwards */
AXE_CHECK axe_status axe_sim_index_make(sim *s, sim_code *code,
                                        const axe_node *n, axe_index_use use,
                                        const axe_var *v, int64_t by,
                                        const sim_expr **out);
/* The value of 32 lanes; of uniform expressions only of the first. Valid until
 * the next call. */
const sim_val *axe_sim_eval(sim_warp *w, const sim_expr *e, axe_lane_set mask,
                            const sim_inst *in);
/* The same, with all lanes filled in. */
void axe_sim_eval_all(sim_warp *w, const sim_expr *e, axe_lane_set mask,
                      const sim_inst *in, int64_t *out);

/* code.c */
AXE_CHECK axe_status axe_sim_code_make(sim *s, sim_code **out);
int                  axe_sim_slot(sim *s, sim_code *c, const axe_var *v);

/* operand.c */
AXE_CHECK axe_status axe_sim_arg_make(sim *s, sim_code *code, const axe_arg *a,
                                      sim_arg *out);
/* The arrays that are let go where a drain ends. */
AXE_CHECK axe_status axe_sim_pins_make(sim *s, const axe_lir *l, sim_inst *in);
/* Operand i of a call is counted in pieces of several elements: it begins with
 * one, and that should be where lowering means it to be. */
void axe_sim_pieces(sim_warp *w, sim_call *c, int i);

/* index.c: of a term's operands, its value, and that of a whole expression */
void axe_sim_check_operands(sim_warp *w, const sim_term *t, const sim_val *v,
                            axe_lane_set mask, const sim_inst *in);
void axe_sim_check_value(sim_warp *w, const sim_term *t, const sim_val *v,
                         axe_lane_set mask, const sim_inst *in);
void axe_sim_check_bound(sim_warp *w, const sim_expr *e, const sim_val *v,
                         axe_lane_set mask, const sim_inst *in);

/* address.c */
AXE_CHECK axe_status axe_sim_address_make(sim *s, sim_code *code,
                                          const axe_byte_at *a, sim_arg *out);
/* Is the address of operand i, in shared memory, that of its element? */
void axe_sim_check_address(sim *s, sim_warp *w, const sim_call *c, int i);

/* shape.c */
AXE_CHECK axe_status axe_sim_shape_of(sim *s, const axe_lir *l,
                                      const sim_shape **out);

/* clock.c */
int       axe_sim_agent_new(sim *s, sim_agent_kind kind, const sim_cta *cta,
                            int index, int group);
sim_clock axe_sim_clock_new(sim *s);
void      axe_sim_clock_join(const sim *s, sim_clock *to, sim_clock from);
/* Of clusters but that one, to knows what from does, and no more. */
void axe_sim_clock_take(const sim *s, sim_clock *to, sim_clock from, int but);
void axe_sim_clock_copy(const sim *s, sim_clock *to, sim_clock from);
/* Nothing is known, of whatever cluster; what will be is of that range. */
void axe_sim_clock_zero(const sim *s, sim_clock *c, int range);
/* to = the larger, agent by agent of the clusters that c knows of */
void axe_sim_clock_raise(const sim *s, const sim_clock *c, uint32_t *to,
                         const uint32_t *from);
/* The first range from k on that it knows of; n_range: none. */
int axe_sim_clock_range(const sim *s, const sim_clock *c, int k);
/* What w did so far comes before what it does next. */
void axe_sim_release(sim *s, sim_warp *w);
/* All its lanes have met. */
void axe_sim_met(sim *s, sim_warp *w);
/* Up to when what the warp did is told by these lanes: only what they did
 * themselves, or what lies before all met. */
uint32_t    axe_sim_told(const sim_warp *w, axe_lane_set lanes);
const char *axe_sim_agent_text(sim *s, int agent);

/* shadow.c */
void axe_sim_shadow_init(sim *s, sim_shadow *sh, int64_t bytes);
void axe_sim_shadow_reset(sim *s, sim_shadow *sh);
/* A look at bytes [at, at + n) by the call. tag: buffer + 1; 0: none. */
typedef struct sim_touch {
    const sim_call   *call;
    sim_shadow       *shadow;
    const axe_tensor *tensor;
    const axe_buffer *buffer;    /* of shared memory, or NULL */
    const axe_tmem   *tmem;      /* of tensor memory, or NULL */
    const sim_cta    *cta;       /* whose it is */
    int               tag, lane; /* lane: EVERY_LANE for all together */
    bool              write, atomic;
    bool              ends; /* a write that leaves nothing there */
} sim_touch;
void axe_sim_touch(sim *s, const sim_touch *t, int64_t at, int64_t n);
/* "element 7 of a in block 3" */
const char *axe_sim_byte_text(sim *s, const sim_touch *t, int64_t at);

/* place.c */
/* Bytes of an operand's elements; NULL, reported, where they are outside.
 * at      [elements] from the tensor's start
 * n       elements, neighbours in memory before the swizzle
 * Shared memory with a swizzle: the pieces are of 16 bytes. */
bool axe_sim_bytes(sim *s, const sim_call *c, const sim_arg *a, sim_cta *cta,
                   int64_t at, int64_t n, bool write, void *data);
/* Elements of a warp's registers. */
void axe_sim_reg_get(sim *s, const sim_call *c, const sim_arg *a, sim_warp *w,
                     int lane, int64_t at, void *to);
void axe_sim_reg_put(sim *s, const sim_call *c, const sim_arg *a, sim_warp *w,
                     int lane, int64_t at, const void *from);
/* May the threads in mask touch it?  Reports, and says whether it is there. */
bool axe_sim_reg_check(sim *s, sim_warp *w, const sim_inst *in, int array,
                       int64_t at, axe_lane_set mask, bool write);
/* A drain is over: of the arrays that it pins, and of no others, the code
 * behind it sees what operations have written that the warp knows to be done.
 */
void axe_sim_pin(sim_warp *w, const sim_inst *drain);
/* One element as it is, unchecked; false if it is outside. */
bool axe_sim_peek(sim *s, const sim_arg *a, const sim_cta *cta, int64_t at,
                  void *to);
/* to = fold(to, with), elements of type t */
void     axe_sim_fold(axe_fold fold, axe_type t, void *to, const void *with);
sim_cta *axe_sim_cta_of(sim *s, const sim_call *c, int arg, int lane);
/* Byte in the CTA's memory of a byte of a buffer. */
int64_t axe_sim_swizzled(const axe_buffer *b, int64_t byte);

/* [bytes] of a CTA's shared memory, of all its partitions. */
int64_t axe_sim_shared_bytes(const sim *s);
/* Where in that byte `byte` of a buffer is. */
int64_t axe_sim_shared_at(const sim *s, const axe_buffer *b, int64_t byte);
/* The byte of the buffer that is there. */
int64_t axe_sim_shared_byte(const sim *s, const axe_buffer *b, int64_t at);

/* move.c, box.c, contract.c: what an atom does, once its time has come. */
void axe_sim_move(sim *s, sim_call *c);
void axe_sim_copy_box(sim *s, sim_async *o);
void axe_sim_contract(sim *s, sim_call *c);
bool axe_sim_is_fresh(const sim_call *c);
/* Do all registers of its operands exist? */
bool axe_sim_contract_inside(sim *s, const sim_call *c);
/* An operand in shared memory by its descriptor, as numbers of the atom's type.
 * n, k      rows of the operand, of the sum
 * out       element (r, j) at r * row + j * col, one of which is 1 */
void axe_sim_gather(sim *s, sim_call *c, int which, sim_cta *cta, int n, int k,
                    float *out, int64_t row, int64_t col);
/* Its bytes, row by row. */
void axe_sim_fetch(sim *s, sim_call *c, int which, sim_cta *cta, int rows,
                   int row_bytes, uint8_t *out);
/* May warp w, number `rank` of those that issue it, use its registers? */
void axe_sim_contract_check(sim *s, const sim_call *c, sim_warp *w, int rank);
/* The bytes that a box through a map has. */
int64_t axe_sim_box_bytes(const sim *s, const sim_call *c);
void    axe_sim_box_check(sim *s, const sim_call *c);
/* Elements that contract.c keeps elsewhere go back to their registers. */
void axe_sim_unhold(sim *s, struct sim_held *h);

/* budget.c */
void axe_sim_budget(sim *s, sim_warp *w, const sim_call *c);

/* tmem.c */
void axe_sim_tmem_make(sim *s, sim_cta *cta);
void axe_sim_tmem_begin(sim *s, sim_cta *cta);
void axe_sim_tmem_end(sim *s, const sim_cta *cta);
/* ALLOC, FREE, BEFORE, AFTER */
void axe_sim_tmem_sync(sim *s, sim_warp *w, sim_call *c);
/* Where the call's threads believe that it begins: c->base. */
void axe_sim_tmem_base(sim *s, sim_warp *w, sim_call *c);
/* The first of n neighbours in one lane of operand arg's tile, in a CTA; NULL,
 * reported, if there is none. */
uint8_t *axe_sim_tmem(sim *s, const sim_call *c, int arg, sim_cta *cta,
                      int64_t at, int64_t n, bool write);
/* LOAD and STORE of one warp: when issued, when done. */
void axe_sim_tmem_issue(sim *s, sim_warp *w, sim_call *c);
void axe_sim_tmem_move(sim *s, sim_call *c);

/* tproduct.c: CONTRACT and COPY, likewise. */
void axe_sim_tmem_ask(sim *s, sim_warp *w, sim_call *c);
void axe_sim_tmem_contract(sim *s, sim_call *c);
void axe_sim_tmem_copy(sim *s, sim_call *c);

/* mma.c: d[m][ld] += a[m][k] b[k][ld], ld a multiple of 32, in order of k. */
void axe_sim_mma(int m, int k, int64_t ld, const float *a, const float *b,
                 float *d);

/* n elements of type t in f32, as the tensor core of type `as` reads them. */
void axe_sim_widen(axe_type t, axe_type as, const uint8_t *bits, int n,
                   float *out);

/* barrier.c: barriers and mbarriers; group.c: groups and fences. */
void axe_sim_barrier(sim *s, sim_warp *w, sim_call *c);
void axe_sim_group(sim *s, sim_warp *w, sim_call *c);
/* The mbarrier that operand `arg` of thread `lane` means in a CTA; NULL,
 * reported, if there is none, it is not set or that is not seen.
 * far  by copies or by another CTA */
sim_mbar *axe_sim_mbar_of(sim *s, const sim_call *c, int arg, int lane,
                          sim_cta *cta, bool far);
void axe_sim_mbar_arrive(sim *s, const sim_call *c, sim_cta *cta, sim_mbar *b,
                         int64_t n, sim_clock with);
/* The bytes of a copy have come. */
void        axe_sim_mbar_bytes(sim *s, const sim_async *o);
const char *axe_sim_mbar_text(sim *s, const sim_cta *cta, int bar);
/* The warp's group of that name, with agents. */
sim_group *axe_sim_group_of(sim *s, sim_warp *w, int group);
/* Warps of the CTA that wait for groups: go on if these are done. */
void axe_sim_group_wake(sim *s, sim_cta *cta);
/* At its end: is something of the warp's still under way? */
void axe_sim_group_end(sim *s, sim_warp *w, const sim_inst *in);

/* counter.c: COUNT, PUT, REACH and SAME; does a warp wait there, and need
 * nobody have written the word? */
bool axe_sim_is_counter(const axe_atom *atom);
bool axe_sim_is_awaited(const axe_atom *atom);
bool axe_sim_is_blind(const axe_atom *atom);
void axe_sim_counter(sim *s, sim_warp *w, sim_call *c);
/* Errors  ESHAPE: no words of 64 bits in global memory */
AXE_CHECK axe_status axe_sim_counter_check(sim *s, const sim_inst *in);
void                 axe_sim_counters_begin(sim *s, sim_global *g);
int64_t              axe_sim_counter_value(const sim_global *g, int64_t at);
/* A lane whose count the warp still waits for, or -1. */
int axe_sim_counter_lane(const sim *s, const sim_warp *w);
/* Elements of a tensor that has counters were written. */
void axe_sim_counters_written(sim *s, const sim_call *c, sim_global *g,
                              int64_t at, int64_t n);

/* take.c: TAKE and TAKEN; what a TAKE brings, once its time has come. */
void axe_sim_take(sim *s, sim_warp *w, sim_call *c);
void axe_sim_bring_taken(sim *s, sim_async *o);
/* As many clusters begin as fit; another one does, since one has ended. */
void axe_sim_launch_begin(sim *s);
void axe_sim_launch_next(sim *s);
/* The next cluster that is to begin, which does; -1: none is, or none yet. */
int64_t axe_sim_launch_take(sim *s);

/* engine.c */
sim_async *axe_sim_async_new(sim *s, const sim_call *c);
/* One that ends with so many bytes at the mbarrier of operand `arg`; NULL,
 * reported, if there is none.  And: it is under way. */
sim_async *axe_sim_to_mbar(sim *s, const sim_call *c, int arg, int lane,
                           sim_cta *to, sim_cta *bar_of, int64_t bytes);
void       axe_sim_enqueue(sim *s, sim_async *o);
/* One more operation of the group: what it and its readers know, and when. */
void axe_sim_to_group(sim *s, sim_group *g, sim_async *o);
void axe_sim_issue(sim *s, sim_warp *w, sim_call *c);
/* Do one of the cluster's that may be next; false if there is none. */
bool axe_sim_engine_step(sim *s, sim_cluster *r);
/* Are all operations of the agent up to that one done? */
bool axe_sim_engine_idle(const sim *s, int agent, uint32_t upto);

/* trace.c: where s->trace is not NULL, what is done is noted. */
AXE_CHECK axe_status axe_sim_trace_make(sim *s);
void                 axe_sim_trace_launch(sim *s);
void                 axe_sim_trace_cta(sim *s, sim_cta *cta);
/* An instruction; an atom's before and behind what it does. */
void axe_sim_trace_inst(sim *s, sim_warp *w, const sim_inst *in);
void axe_sim_trace_before(sim *s, sim_warp *w, const sim_call *c);
void axe_sim_trace_after(sim *s, sim_warp *w, const sim_call *c);
/* Bytes [byte, byte + n) of global tensor number `tensor`. */
void axe_sim_trace_global(sim *s, int tensor, int64_t byte, int64_t n,
                          bool write);
/* An engine's operation: one of several warps asks; all have; it begins; it is
 * done. */
void axe_sim_trace_come(sim *s, sim_warp *w, sim_group *g, sim_async *o);
void axe_sim_trace_ask(sim *s, sim_async *o);
void axe_sim_trace_begin(sim *s, sim_async *o);
void axe_sim_trace_done(sim *s, const sim_async *o);
/* A commit of the group, and a wait for one. */
void axe_sim_trace_commit(sim_group *g);
void axe_sim_trace_drain(sim *s, sim_warp *w, int gate);
/* At a barrier of threads; at an mbarrier. */
void axe_sim_trace_barrier(sim *s, sim_warp *w, sim_named *b, bool stays);
void axe_sim_trace_arrive(sim *s, sim_warp *w, sim_mbar *b);
void axe_sim_trace_await(sim *s, sim_warp *w, sim_mbar *b, int parity);
/* It counts in a counter, behind those of gate `before`: the gate of all that
 * have; and it waits for them. */
int  axe_sim_trace_count(sim *s, sim_warp *w, int before);
void axe_sim_trace_reach(sim *s, sim_warp *w, int gate);

/* control.c: done with the instruction, if it is one of those. */
bool axe_sim_control(sim_warp *w, const sim_inst *in);
/* A variable becomes what e is; on to the next instruction. */
void axe_sim_assign(sim_warp *w, int slot, const sim_expr *e,
                    const sim_inst *in);
void axe_sim_advance(sim_warp *w, const sim_inst *in);

/* warp.c: until it must wait, is done, or has taken so many steps. */
void axe_sim_warp_run(sim *s, sim_warp *w, int64_t most);

/* cluster.c */
void axe_sim_check_begun(sim *s, const sim_call *c, const sim_cta *cta);
/* A warp of another CTA uses it, which may not end before. */
void axe_sim_used_by(const sim *s, const sim_call *c, sim_cta *cta);
/* The cluster of that number begins, in place of one that has ended; its last
 * warp has. */
void axe_sim_cluster_begin(sim *s, sim_cluster *r, int64_t number);
void axe_sim_cluster_end(sim *s, sim_cluster *r);

/* turn.c: all clusters of the launch, from the first to the last. */
void     axe_sim_clusters(sim *s);
uint64_t axe_sim_random(sim *s);

/* deadlock.c: nobody can go on. */
void axe_sim_deadlock(sim *s);

/* finding.c */
/* in: where it was found; site: instruction of the other actor, or -1. */
void axe_sim_find(sim *s, axe_sim_kind kind, const sim_inst *in, int site,
                  const char *fmt, ...) AXE_PRINTF(5, 6);
/* Has this been said already?  Then its text need not be made. */
bool axe_sim_known(sim *s, axe_sim_kind kind, const sim_inst *in, int site);
int  axe_sim_site(const sim *s, const sim_inst *in);

static inline bool
axe_sim_has(axe_lane_set mask, int lane)
{
    return mask >> lane & 1;
}

/* The first lane of a set that has one; how many it has. */
static inline int
axe_sim_first(axe_lane_set mask)
{
    return __builtin_ctzll(mask);
}

static inline int
axe_sim_how_many(axe_lane_set mask)
{
    return __builtin_popcountll(mask);
}

#endif
