/* protocol_int.h - ranks whose lists are simulated: protocol_sim.c, with
 * protocol_time.c for when what happens, protocol_traffic.c for what went. */
#ifndef AXE_ENGINE_PROTOCOL_INT_H
#define AXE_ENGINE_PROTOCOL_INT_H

#include "engine/protocol.h"

typedef struct protocol_cell {
    uint32_t  wrote; /* epoch of the owner; 0: never */
    uint64_t  tag;
    uint32_t *read; /* [n_rank] epoch of each; 0: never */
} protocol_cell;

typedef struct protocol_rank {
    const protocol *p;
    int             at; /* the next step */
    uint32_t        posted;
    uint32_t       *clock; /* [n_rank] */
    uint32_t       *said;  /* [n_post + 1][n_rank] clock behind each post */
    protocol_cell  *cell[2];
    char           *data[2];
    double          link, work; /* [ns] until when each is busy */
    double         *said_at;    /* [n_post + 1] [ns] when each was posted */
    bool            met, gone;
    int64_t        *got;  /* [n_step of the plan][n_rank] elements */
    uint64_t       *seen; /* [n_step] kinds that were found */
} protocol_rank;

typedef struct protocol_world {
    axe_ctx            *cx;
    const protocol_run *r;
    axe_sim_report     *out;
    protocol_rank      *rank;
    int64_t             n, turn, meeting;
    int64_t             room, n_element;
    uint64_t            random;
    size_t              width;
} protocol_world;

/* The sum of tags of what a device holds of an index; false: nothing. */
bool protocol_tag_of(const protocol_world *w, bool behind, int64_t device,
                     int64_t index, int64_t n_addend, uint64_t *tag);
/* Does anybody look at it behind the plan? */
bool protocol_is_needed(const protocol_world *w, int64_t index);

/* What went between two devices is what the plan says, where it says it. */
void protocol_check_traffic(protocol_world *w);
void protocol_add_traffic(const protocol_world *w);

void protocol_time_begin(const protocol_world *w, protocol_rank *me);
/* What the next step of a rank takes, or waits for. */
void protocol_time_step(const protocol_world *w, protocol_rank *me);
/* All ranks wait for the last one. */
void protocol_time_meet(const protocol_world *w);

#endif
