/* pieces_int.h - a plan that goes by pieces: pieces.c cuts it, pieces_run.c
 * carries it out. */
#ifndef AXE_ENGINE_PIECES_INT_H
#define AXE_ENGINE_PIECES_INT_H

#include "engine/pieces.h"

/* What one move has in one piece. */
typedef struct part {
    int             move, piece;
    program_box     box;
    bool            direct; /* the message is in the buffer */
    engine_message  message;
    bool            started;
    int             n_chunk; /* what is sent of it at a time, in order */
    engine_message *chunk;
} part;

typedef struct parts {
    int   n, room;
    part *at;
} parts;

struct engine_pieces {
    performing p;
    bool       giving, one_by_one;
    int        n, n_most;       /* pieces of this rank; of that with most */
    int64_t    elements, grain; /* of its buffer; of a piece */
    int        order[ENGINE_PIECES], at; /* the one that is being done */
    bool       taken[ENGINE_PIECES];
    int32_t   *place;  /* in symmetric memory: of each piece in the order */
    int64_t   *grains; /* [size] of all ranks */
    uint32_t  *enough; /* [n_pull] */
    uint32_t   begin;  /* progress before the first piece */
    parts      in, out;
};

static inline const program_phase *
phase_of(const engine_pieces *x)
{
    return &x->p.g->phase[x->giving ? 0 : x->p.g->n_phase - 1];
}

#endif
