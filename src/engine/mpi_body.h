/* mpi_body.h - ranks that an MPI launched: messages, of a library that is
 * opened at run time.  Included once for each binary interface, which differ in
 * what a handle is, by a file that says
 *
 *   handle             the type of communicators, datatypes and requests
 *   MPI_NAME           "openmpi"
 *   mpi_files[]        of the library
 *   mpi_ignore         what MPI_STATUSES_IGNORE is
 *   find_constants()   MPI_COMM_WORLD and MPI_BYTE
 *
 * But for MPI_Init no call blocks: what is waited for is polled, with yields,
 * so that more ranks than cores go on (MPICH's own waits never yield), and a
 * clock ends it.  Only two-sided messages and one collective are used;
 * one-sided ones are broken or slow in both (facts in docs/design/engines.md).
 *
 * After a failure the library is not finalized: the launcher then ends all.
 * MPI_Init waits for all ranks, and cannot be ended but with the process. */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/dl.h"
#include "engine/watch.h"

enum { MOST_BYTES = 1 << 30, SPEAK_MS = 300, POLLS = 256 };

/* As for shared memory: what ranks meet for. */
typedef enum meeting { MEET_BARRIER, MEET_GATHER, MEET_END } meeting;

static const char *const meeting_text[] = {
    "a barrier", "a gather or allocation", "the end of its program"};

typedef struct mpi_calls {
#define MPI(name, parameters) int(*name) parameters;
#include "engine/mpi.def"
} mpi_calls;

static const char *const mpi_symbols[] = {
#define MPI(name, parameters) "MPI_" #name,
#include "engine/mpi.def"
};

enum { N_CALL = AXE_LEN(mpi_symbols) };

/* One library a process, as MPI starts once. */
static mpi_calls mpi;
static handle    mpi_world, mpi_byte;
static bool      mpi_failed;

typedef struct mpi_blob {
    int32_t tag;
    char    bytes[ENGINE_BLOB];
} mpi_blob;

static axe_status
trouble(axe_engine *e, const char *call, int code)
{
    return axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE,
                    "engine " MPI_NAME ": MPI_%s failed with code %d", call,
                    code);
}

static void
at_exit(void)
{
    int done = 1;

    if (!mpi_failed && mpi.Finalized(&done) == 0 && !done)
        mpi.Finalize();
}

static axe_status
load(axe_engine *e)
{
    void       *table[N_CALL];
    const char *missing;

    if (mpi.Init)
        return AXE_OK;
    missing =
        axe_dl_load(AXE_LEN(mpi_files), mpi_files, N_CALL, mpi_symbols, table);
    if (!missing)
        missing = find_constants(&mpi_world, &mpi_byte);
    if (missing)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_ETOOL,
                        "engine " MPI_NAME ": %s is not found; " MPI_PACKAGE
                        " is its package, and --engine shm needs none on one "
                        "host",
                        missing);
    memcpy(&mpi, table, sizeof mpi);
    return AXE_OK;
}

/* All that wait end, one of each host says why, and the launcher ends those
 * that are elsewhere. */
static const char *
late_text(axe_engine *e, const axe_launcher *l)
{
    return axe_textf(
        e->cx,
        "error: engine " MPI_NAME ": rank %" PRId64 " of %" PRId64
        ", which %s has launched, waited %.3g s in MPI_Init, and not all of "
        "the others came to it\n"
        "help: every rank is to come to the same command with the same "
        "--engine: look at what stands before it in those that do not; "
        "--timeout S waits longer, and --engine shm, on one host, says which "
        "ranks are missing\n",
        l->rank, l->size, l->launcher, (double)e->timeout_ms / 1e3);
}

static axe_status
init(axe_engine *e, const axe_launcher *l)
{
    engine_watch *w;
    int           code;

    AXE_TRY(
        engine_watch_new(e->cx, e->timeout_ms, late_text(e, l), l->job, &w));
    code = mpi.Init(NULL, NULL);
    engine_watch_free(w);
    if (code != 0)
        return trouble(e, "Init", code);
    atexit(at_exit);
    return AXE_OK;
}

static axe_status
open_mpi(axe_engine *e, const axe_launcher *l, const axe_engine_options *opt)
{
    int up = 0, n = 0, code;

    if (!l->launcher || strcmp(l->engine, MPI_NAME) != 0)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                        "engine " MPI_NAME ": its own launcher starts the "
                        "ranks, as in " MPI_RUN);
    AXE_TRY(load(e));
    code = mpi.Initialized(&up);
    if (code != 0)
        return trouble(e, "Initialized", code);
    if (!up)
        AXE_TRY(init(e, l));
    mpi.Comm_size(mpi_world, &n);
    e->size = n;
    mpi.Comm_rank(mpi_world, &n);
    e->rank = n;
    if (e->speaks) /* whatever the launcher's variables say, which may be old */
        *e->speaks = n == 0;
    if (e->size != opt->n_rank)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                        "engine " MPI_NAME ": MPI has %" PRId64
                        " ranks, and its launcher said %" PRId64,
                        e->size, opt->n_rank);
    e->heap = calloc(1, (size_t)opt->heap);
    if (!e->heap)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EIO,
                        "engine " MPI_NAME ": no memory for %" PRId64
                        " bytes of heap",
                        opt->heap);
    return AXE_OK;
}

static axe_status
reserve(axe_engine *e, int64_t bytes)
{
    (void)e, (void)bytes;
    return AXE_OK;
}

/* Until all are done. */
static axe_status
wait_all(axe_engine *e, int n, handle *request)
{
    int64_t     until = engine_now_ms() + e->timeout_ms;
    int         done = 0, code = 0;
    const char *why;

    for (int i = 1; !done; i++) {
        code = mpi.Testall(n, request, &done, mpi_ignore);
        if (code != 0)
            return trouble(e, "Testall", code);
        if (!done && i % POLLS == 0)
            sched_yield();
        why = !done && i % (POLLS * 16) == 0 ? engine_stop(e) : NULL;
        if (why)
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE, "%s", why);
        if (!done && i % (POLLS * 16) == 0 && engine_now_ms() > until)
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE,
                            "rank %" PRId64 " of %" PRId64
                            " waited %.3g s for other ranks in %s",
                            e->rank, e->size, (double)e->timeout_ms / 1e3,
                            e->doing);
    }
    return AXE_OK;
}

static axe_status
meet(axe_engine *e, meeting what, const void *mine, int64_t n, void *all)
{
    axe_mark  mark = axe_ctx_mark(e->cx);
    mpi_blob  own = {.tag = (int32_t)what};
    mpi_blob *got = axe_new_array(e->cx, mpi_blob, e->size);
    handle    request;
    int       code;

    memcpy(own.bytes, n ? mine : "", (size_t)n);
    code = mpi.Iallgather(&own, (int)sizeof own, mpi_byte, got, (int)sizeof own,
                          mpi_byte, mpi_world, &request);
    if (code != 0)
        return trouble(e, "Iallgather", code);
    AXE_TRY(wait_all(e, 1, &request));
    for (int64_t r = 0; r < e->size; r++) {
        if (got[r].tag != (int32_t)what) {
            e->common = true;
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                            "ranks do different things: rank %" PRId64
                            " is at %s, rank %" PRId64 " at %s",
                            e->rank, meeting_text[what], r,
                            got[r].tag >= 0 && got[r].tag <= MEET_END
                                ? meeting_text[got[r].tag]
                                : "another");
        }
        memcpy((char *)all + r * n, got[r].bytes, (size_t)n);
    }
    axe_ctx_release(e->cx, mark);
    return AXE_OK;
}

static axe_status
barrier(axe_engine *e)
{
    char none[1];

    return meet(e, MEET_BARRIER, NULL, 0, none);
}

static axe_status
gather(axe_engine *e, const void *mine, int64_t n, void *all)
{
    return meet(e, MEET_GATHER, mine, n, all);
}

static int
n_part(int n, const engine_message *m)
{
    int parts = 0;

    for (int i = 0; i < n; i++)
        parts += (int)((m[i].bytes + MOST_BYTES - 1) / MOST_BYTES);
    return parts;
}

static axe_status
start_all(axe_engine *e, int n, const engine_message *m, bool send, handle *out)
{
    for (int i = 0; i < n; i++)
        for (int64_t at = 0; at < m[i].bytes; at += MOST_BYTES) {
            int64_t left = m[i].bytes - at;
            int     bytes = left < MOST_BYTES ? (int)left : MOST_BYTES;
            char   *from = (char *)m[i].at + at;
            int     peer = (int)m[i].peer;
            int     code = send ? mpi.Isend(from, bytes, mpi_byte, peer, 0,
                                            mpi_world, out++)
                                : mpi.Irecv(from, bytes, mpi_byte, peer, 0,
                                            mpi_world, out++);

            if (code != 0)
                return trouble(e, send ? "Isend" : "Irecv", code);
        }
    return AXE_OK;
}

static axe_status
exchange(axe_engine *e, int n_send, const engine_message *send, int n_recv,
         const engine_message *recv)
{
    int     n_in = n_part(n_recv, recv), n_out = n_part(n_send, send);
    handle *request = axe_new_array(e->cx, handle, n_in + n_out + 1);

    AXE_TRY(start_all(e, n_recv, recv, false, request));
    AXE_TRY(start_all(e, n_send, send, true, request + n_in));
    return wait_all(e, n_in + n_out, request);
}

/* Messages of one tag between two ranks are in order, as all of MPI's. */
static axe_status
start(axe_engine *e, bool send, engine_message *m)
{
    handle request;
    int    peer = (int)m->peer, bytes = (int)m->bytes, code;

    if (m->bytes > MOST_BYTES)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "engine " MPI_NAME ": a piece of %" PRId64
                        " bytes; %d go in one message",
                        m->bytes, MOST_BYTES);
    code = send ? mpi.Isend(m->at, bytes, mpi_byte, peer, m->tag, mpi_world,
                            &request)
                : mpi.Irecv(m->at, bytes, mpi_byte, peer, m->tag, mpi_world,
                            &request);
    if (code != 0)
        return trouble(e, send ? "Isend" : "Irecv", code);
    m->done = false;
    memcpy(&m->request, &request, sizeof request);
    return AXE_OK;
}

static axe_status
test(axe_engine *e, engine_message *m)
{
    handle request;
    int    done = 0, code;

    if (m->done)
        return AXE_OK;
    memcpy(&request, &m->request, sizeof request);
    code = mpi.Testall(1, &request, &done, mpi_ignore);
    memcpy(&m->request, &request, sizeof request);
    m->done = done != 0;
    return code == 0 ? AXE_OK : trouble(e, "Testall", code);
}

static void
fail(axe_engine *e, const char *text)
{
    (void)e, (void)text;
    mpi_failed = true;
}

/* What all ranks see, rank 0 says; else the one that sees it. */
static axe_status
close_mpi(axe_engine *e, axe_status st)
{
    char            none[1];
    struct timespec t = {0, SPEAK_MS * 1000000L};

    if (st == AXE_OK)
        st = meet(e, MEET_END, NULL, 0, none);
    mpi_failed = st != AXE_OK;
    if (e->speaks)
        *e->speaks = e->rank == 0 || (st != AXE_OK && !e->common);
    if (mpi_failed && e->common && e->rank > 0)
        nanosleep(&t, NULL);
    free(e->heap);
    return st;
}

const engine_ops MPI_TABLE = {
    MPI_NAME, open_mpi, reserve, barrier, gather, NULL,      NULL,
    exchange, start,    test,    NULL,    fail,   close_mpi,
};
