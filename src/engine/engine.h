/* engine.h - the table of functions that every engine is.
 *
 * What waits fails on all ranks or on none: an engine that sees that a rank is
 * gone, or was waited for too long, keeps one text (fail) and ends all waits
 * with it. */
#ifndef AXE_ENGINE_ENGINE_H
#define AXE_ENGINE_ENGINE_H

#include "axe/engine.h"

enum { ENGINE_BLOB = 256 /* [bytes] of a gather */, ENGINE_RANKS = 1024 };

typedef struct engine_message {
    int64_t peer, bytes;
    void   *at;
    /* Of one that is started: */
    int      tag;     /* it meets the one of the other side that has it, too */
    uint64_t request; /* the engine's */
    bool     done;
} engine_message;

typedef struct engine_ops {
    const char *name;
    /* Sets rank, size; heap and stride, where peers' memory has an address,
     * else own memory alone.  Nothing is left open on failure. */
    axe_status (*open)(axe_engine *e, const axe_launcher *l,
                       const axe_engine_options *opt);
    /* Make own memory from `used` on be there. */
    axe_status (*reserve)(axe_engine *e, int64_t bytes);
    axe_status (*barrier)(axe_engine *e);
    axe_status (*gather)(axe_engine *e, const void *mine, int64_t n, void *all);
    /* Where peers' memory has an address: say that all that this rank wrote and
     * read so far is done, for the count-th time; wait until a peer has. */
    void (*post)(axe_engine *e, uint32_t count);
    axe_status (*await)(axe_engine *e, int64_t peer, uint32_t count);
    /* Where it has none: all of these, messages between two ranks in order. */
    axe_status (*exchange)(axe_engine *e, int n_send,
                           const engine_message *send, int n_recv,
                           const engine_message *recv);
    /* The same, one by one, while something else goes on: start it, and look
     * whether it has come or gone, by which all that were started go on. */
    axe_status (*start)(axe_engine *e, bool send, engine_message *m);
    axe_status (*test)(axe_engine *e, engine_message *m);
    /* Where peers' memory has an address: has a rank failed, or is one gone?
     * Then all ranks end with its text, here as in a wait. */
    axe_status (*look)(axe_engine *e);
    /* End all ranks with the text; the first one stays. */
    void (*fail)(axe_engine *e, const char *text);
    /* st: how this rank ends.  Returns how all end. */
    axe_status (*close)(axe_engine *e, axe_status st);
} engine_ops;

#define ENGINE(name, table, what) extern const engine_ops table;
#include "engine/engines.def"

struct axe_engine {
    const engine_ops *ops;
    axe_ctx          *cx;
    int64_t           rank, size, timeout_ms;
    char             *heap; /* of rank 0, or this rank's alone */
    int64_t           stride, room, used;
    bool              addressed; /* peers' memory has an address */
    bool              common;    /* all ranks fail with the same text */
    uint32_t          posted;
    int64_t           moved;  /* [bytes] that plans have brought to this rank */
    const char       *doing;  /* for a text on who waits: "the barrier" */
    bool             *speaks; /* these as in axe_engine_options */
    void (*forking)(void *user, axe_forking when);
    const char *(*stop)(void *user);
    void                 *user;
    struct engine_memory *memory; /* of plans' buffers (memory.h); NULL: this */
    void *execs; /* run/dist/rank.c: the last that has taken memory */
    void *state;
};

/* This rank's symmetric memory. */
static inline char *
engine_own(const axe_engine *e)
{
    return e->addressed ? e->heap + e->rank * e->stride : e->heap;
}

/* Is what a launcher says of this process possible?  EARG */
axe_status engine_check_launcher(axe_ctx *cx, const axe_launcher *l);

/* Why this rank is to wait no longer; NULL: it waits on. */
static inline const char *
engine_stop(const axe_engine *e)
{
    return e->stop ? e->stop(e->user) : NULL;
}

int64_t engine_now_ms(void);
/* Do all ranks have these texts, in this order?  EARG: the first that is
 * another one on some rank, as axe_engine_agree tells it. */
AXE_CHECK axe_status engine_agree_in(axe_engine *e, const char *what, int n,
                                     const char *const *text);
/* The ranks' first meeting: `same` of their options, and their memory. */
AXE_CHECK axe_status engine_check_same(axe_engine *e, int n,
                                       const char *const *same);
/* Do all ranks allocate so much?  EARG: the same text on all of them. */
AXE_CHECK axe_status engine_all_ask(axe_engine *e, int64_t bytes);

#endif
