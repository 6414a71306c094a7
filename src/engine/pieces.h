/* pieces.h - a plan of one step, piece by piece, while its elements are made,
 * or while what it brings is used.
 *
 * A buffer is cut into pieces of `grain` elements, the source's where a rank
 * gives as it goes on, the result's where it takes so.  The rank asks which
 * piece is next, and does something with it:
 *
 *     giving   makes the elements of the piece, and says so
 *     taking   uses the elements of the piece, which have come
 *
 * Giving, those come first that others need, from the next rank's on, and what
 * only this rank needs is last.  Taking, those come first that this rank has,
 * then as they come.  Sums have their addends in the order of ranks whatever
 * the order of pieces, so nothing depends on it but time. */
#ifndef AXE_ENGINE_PIECES_H
#define AXE_ENGINE_PIECES_H

#include "engine/perform.h"

typedef struct engine_pieces engine_pieces;

typedef struct engine_pieces_spec {
    const axe_reshard_plan *plan; /* of one step */
    axe_number              type;
    bool                    giving;
    int64_t grain;      /* [elements] of this rank's; rows of its buffer */
    void   *src, *dst;  /* of symmetric memory: where plan begins and ends */
    bool    one_by_one; /* nothing moves while pieces are done: to compare */
} engine_pieces_spec;

/* Symmetric memory [bytes] that it takes beside src and dst. */
enum { ENGINE_PIECES = 256, ENGINE_PIECES_HEAP = 4 * ENGINE_PIECES + 64 };

/* Where the memory of plans has queues, and is not the host's: what it takes
 * there [bytes of type], beside src and dst, on the rank that needs most. */
AXE_CHECK axe_status engine_pieces_landing(axe_ctx                *cx,
                                           const axe_reshard_plan *plan,
                                           bool giving, int64_t *out);
/* All ranks; once for all times.
 * Errors  as axe_reshard_prepare; ELIMIT: more than ENGINE_PIECES of them */
AXE_CHECK axe_status engine_pieces_new(axe_engine               *e,
                                       const engine_pieces_spec *spec,
                                       engine_pieces           **out);
/* Begin.  No rank reads this one's src or writes its dst from the last time. */
AXE_CHECK axe_status engine_pieces_begin(engine_pieces *x);
/* Elements [from, to) are to be done; from < 0: there are none left. */
AXE_CHECK axe_status engine_pieces_next(engine_pieces *x, int64_t *from,
                                        int64_t *to);
/* They are: where this rank gives, they can go. */
AXE_CHECK axe_status engine_pieces_done(engine_pieces *x);
/* The rest of the plan; dst is there, and of src what others read may be
 * written behind the next barrier. */
AXE_CHECK axe_status engine_pieces_end(engine_pieces *x);
/* Instead, where this rank has failed behind `begin`: then all do, by what was
 * said last. */
void engine_pieces_stop(engine_pieces *x);

#endif
