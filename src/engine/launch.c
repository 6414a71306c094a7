/* launch.c - what the environment says of this process: who launched it, as
 * which rank of how many. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "engine/engine.h"

typedef struct launcher {
    const char *name, *engine, *rank, *size, *local_rank, *local_size, *job,
        *need;
} launcher;

static const launcher launchers[] = {
#define LAUNCHER(name, engine, rank, size, local_rank, local_size, job, need)  \
    {#name, engine, rank, size, local_rank, local_size, job, need},
#include "engine/launch.def"
};

static const char *
variable(const char *name)
{
    const char *v = *name ? getenv(name) : NULL;

    return v && *v ? v : NULL;
}

/* A number from 0 on; `instead` if the variable is not set. */
static axe_status
read_number(axe_ctx *cx, const char *name, int64_t instead, int64_t *out)
{
    const char *v = variable(name);
    char       *end;
    long        n;

    *out = instead;
    if (!v)
        return AXE_OK;
    n = strtol(v, &end, 10);
    if (*end || n < 0 || n > ENGINE_RANKS)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "launch: %s is '%s', not a number from 0 to %d", name,
                        axe_text_plain(cx, v), ENGINE_RANKS);
    *out = n;
    return AXE_OK;
}

axe_status
engine_check_launcher(axe_ctx *cx, const axe_launcher *l)
{
    if (!l->launcher || !l->job || !l->engine)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "launch: a launcher has a name, a job and an engine");
    if (l->size >= 1 && l->size <= ENGINE_RANKS && l->rank >= 0 &&
        l->rank < l->size && l->local_rank >= 0 &&
        l->local_rank < l->local_size)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "launch: by %s this is rank %" PRId64 " of %" PRId64
                    ", and %" PRId64 " of %" PRId64 " on its host",
                    axe_text_plain(cx, l->launcher), l->rank, l->size,
                    l->local_rank, l->local_size);
}

axe_status
axe_launcher_find(axe_ctx *cx, axe_launcher *out)
{
    AXE_NEED(cx, out);
    axe_launcher    l = {.size = 1, .local_size = 1, .engine = "shm"};
    const launcher *x = NULL;
    const char     *job;

    for (int i = 0; i < AXE_LEN(launchers) && !x; i++)
        if (variable(launchers[i].rank) && variable(launchers[i].size) &&
            (!*launchers[i].need || variable(launchers[i].need)))
            x = &launchers[i];
    if (x) {
        AXE_TRY(read_number(cx, x->rank, 0, &l.rank));
        AXE_TRY(read_number(cx, x->size, 1, &l.size));
        AXE_TRY(read_number(cx, x->local_rank, l.rank, &l.local_rank));
        AXE_TRY(read_number(cx, x->local_size, l.size, &l.local_size));
        l.launcher = x->name;
        job = variable(x->job);
        l.job = job ? axe_textf(cx, "%s.%s", x->name, job)
                    : axe_textf(cx, "%s.%ld", x->name, (long)getppid());
        l.engine = x->engine;
        AXE_TRY(engine_check_launcher(cx, &l));
    }
    *out = l;
    return AXE_OK;
}
