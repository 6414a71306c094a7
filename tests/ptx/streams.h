/* streams.h - what goes into streams of the GPU that executes PTX. */
#ifndef PTX_STREAMS_H
#define PTX_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx.h"

enum { MOST_ARG = 64 };

typedef enum stream_kind {
    S_LAUNCH,
    S_BYTES, /* to copy, or to fill */
    S_FREE,
    S_WRITE, /* a word */
    S_WAIT,  /* for a word */
    S_RECORD,
    S_JOIN /* wait for what an event had recorded */
} stream_kind;

typedef struct stream_work {
    stream_kind         kind;
    void               *stream;
    struct stream_work *next;
    uint64_t            number; /* in the order in which it was asked for */
    uint64_t            after;  /* that is to be done first; 0: none */
    const ptx_kernel   *kernel;
    int                 blocks, threads, shared;
    bool                early, together;
    void               *arg[MOST_ARG];
    void               *to, *from;
    int                 byte;
    size_t              bytes;
    uint32_t            value;
} stream_work;

/* driver.c: do it; may it be done?  A driver's result. */
int  stream_do(const stream_work *w);
bool stream_may(const stream_work *w);

/* Now, or later: then with copies of the arguments. */
int stream_put(const stream_work *w);
/* All that is in it is done when this returns; of all streams. */
int stream_drain(void *stream);
int stream_drain_all(void);
/* The driver's answer: 600 while there is something; some of it is done. */
int stream_query(void *stream);

#endif
