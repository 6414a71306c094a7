/* pool.h - a team of threads that starts and ends a piece of work in about a
 * hundred nanoseconds when it is warm.
 *
 * A team of n has n - 1 threads of its own; the caller is worker 0.  Each
 * worker keeps to one processor of the mask that the process inherited, and
 * waits on a word of its own: for about 100 us by reading it, then asleep.
 * A team works for one caller at a time. */
#ifndef AXE_RUN_POOL_H
#define AXE_RUN_POOL_H

#include "axe/base.h"

enum { AXE_MAX_WORKER = 1024 };

typedef struct axe_pool axe_pool;

/* As many threads as the mask has processors, and the number is allowed. */
int axe_pool_all(void);

/* n_worker  1..AXE_MAX_WORKER, or 0: as many as the mask has processors
 * Errors    EARG: another n_worker.  EDEVICE: the system gives no thread. */
AXE_CHECK axe_status axe_pool_new(axe_ctx *cx, int64_t n_worker,
                                  axe_pool **out);
void                 axe_pool_free(axe_pool *p);
int                  axe_pool_size(const axe_pool *p);

/* work(user, w) for every w in [0, axe_pool_size), side by side; returns when
 * all have returned. */
typedef void axe_work(void *user, int worker);
void         axe_pool_run(axe_pool *p, axe_work *work, void *user);

/* Inside work: what a compiled kernel takes for its `team`.  It begins with a
 * function (void *team, int64_t worker) that returns once every worker has
 * called it, and what they wrote before is then seen by all: about 50
 * nanoseconds for two. */
void *axe_pool_team(axe_pool *p);

#endif
