/* shm.h - what ranks of one host share: a file without a name, mapped by all.
 *
 *   head | rank 0 | rank 1 | .. | heap of rank 0 | heap of rank 1 | ..
 *
 * Each rank locks the byte of its number in the file; the kernel takes the lock
 * away when the process ends, however it does, so peers see who is gone. */
#ifndef AXE_ENGINE_SHM_H
#define AXE_ENGINE_SHM_H

#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"

enum { SHM_LINE = 128, SHM_PAGE = 4096, SHM_TEXT = 1024 };

/* Grows only; compared with wrap. */
typedef struct shm_word {
    _Alignas(SHM_LINE) _Atomic uint32_t value;
    _Atomic uint32_t n_waiter;
    _Atomic uint32_t tag[2]; /* what its odd and even values are of */
} shm_word;

typedef enum shm_life { SHM_COMING, SHM_HERE, SHM_LEFT } shm_life;

typedef struct shm_rank {
    shm_word    progress, meeting;
    _Atomic int life;
    char        blob[2][ENGINE_BLOB]; /* of odd and even gathers */
} shm_rank;

typedef struct shm_head {
    _Atomic uint32_t failed; /* 0, 1 while the text is written, then 2 */
    int32_t          code;
    char             text[SHM_TEXT];
    _Alignas(SHM_LINE) shm_rank rank[];
} shm_head;

typedef struct shm_state {
    shm_head *head;
    size_t    bytes, begin; /* of the mapping; of the heaps in it */
    int       fd, spin, yield, n_gone;
    bool      launched, first_to_fail;
    uint32_t  met;
    pid_t    *child; /* [size] of rank 0 that forked them, else NULL */
} shm_state;

/* Where the heaps are, and all bytes.  ELIMIT */
AXE_CHECK axe_status shm_place(axe_engine *e, int64_t room);

/* EIO with the system's words. */
AXE_CHECK axe_status shm_trouble(axe_ctx *cx, const char *what);

/* A rank of a launched job: rank 0 gives the others its file, or tells them why
 * there is none, which is `st`; they get it, and take its places for theirs.
 * Errors  st; EARG: ranks differ in their number.  EDEVICE: somebody did not
 * come in time. */
AXE_CHECK axe_status shm_give(axe_engine *e, const axe_launcher *l,
                              axe_status st);
AXE_CHECK axe_status shm_get(axe_engine *e, const axe_launcher *l, int *fd);

/* Start ranks 1 .. size - 1; returns in all of them. */
AXE_CHECK axe_status shm_fork(axe_engine *e);
/* How a child ended: "was killed by signal 9"; NULL: it has not. */
const char *shm_child_end(axe_engine *e, int64_t rank);
/* End all children that are there after `ms`. */
void shm_reap(axe_engine *e, int64_t ms);

/* Is there so much memory?  EIO with the numbers. */
AXE_CHECK axe_status shm_check_memory(axe_ctx *cx, int64_t bytes);

/* This rank is there, for all to see. */
AXE_CHECK axe_status shm_lock(axe_engine *e);

#endif
