/* pieces_int.h - a plan that goes by pieces: pieces.c cuts it, pieces_run.c
 * carries it out. */
#ifndef AXE_ENGINE_PIECES_INT_H
#define AXE_ENGINE_PIECES_INT_H

#include "engine/pieces.h"

/* How a rank's buffer is cut, and in which order its pieces are. */
typedef struct pieces_cut {
    axe_ctx       *cx;
    const program *g;
    bool           giving;
    int64_t        elements, grain; /* of its buffer; of a piece */
    int            n, order[ENGINE_PIECES];
} pieces_cut;

/* What goes by pieces. */
static inline const program_phase *
pieces_phase(const pieces_cut *c)
{
    return &c->g->phase[c->giving ? 0 : c->g->n_phase - 1];
}

/* The program's buffer in pieces of `grain`, and their order. */
void pieces_cut_open(axe_ctx *cx, const program *g, bool giving, int64_t grain,
                     pieces_cut *out);
/* What a box has in a piece of that grain. */
program_box pieces_box(const pieces_cut *c, const program_box *b, int piece,
                       int64_t grain);
/* Of what a pull needs of a peer's pieces, how many the peer has done when the
 * last of them is; place: of each piece in the peer's order. */
uint32_t pieces_enough(const pieces_cut *c, const program_box *b, int n_most,
                       int64_t grain, const int32_t *place);

/* What one move has in one piece. */
typedef struct part {
    int            move, piece;
    program_box    box;
    bool           direct; /* the message is in the buffer */
    engine_message message;
    bool           started;
    /* With queues: how many pieces its peer has done when this one is, and how
     * many ranks further this one is, by turns. */
    uint32_t        count;
    int64_t         far;
    int             n_chunk; /* what is sent of it at a time, in order */
    engine_message *chunk;
} part;

typedef struct parts {
    int   n, room;
    part *at;
} parts;

struct engine_pieces {
    performing              p;
    const axe_reshard_plan *plan;
    pieces_cut              c;
    bool                    one_by_one;
    int       n_most, at; /* pieces of the rank with most; which is done */
    bool      taken[ENGINE_PIECES];
    int32_t  *place;  /* in symmetric memory: of each piece in the order */
    int64_t  *grains; /* [size] of all ranks */
    uint32_t *enough; /* [n_pull] */
    uint32_t  begin;  /* progress before the first piece */
    parts     in, out;
    /* With queues: */
    uint32_t       *heard;  /* [size] what the queue that moves waited for */
    perform_landed *landed; /* [n_pull] of what is given */
};

static inline const program_phase *
phase_of(const engine_pieces *x)
{
    return pieces_phase(&x->c);
}

/* pieces_land.c: where what peers give is put as it comes, and in which order.
 * All ranks; parts that come are known. */
AXE_CHECK axe_status pieces_land(engine_pieces *x);

/* pieces_run.c: where its memory has queues, what it will ask for is asked for
 * once, so that no program is loaded while they wait for other ranks. */
AXE_CHECK axe_status pieces_rehearse(engine_pieces *x);

#endif
