/* memory.c - buffers of plans in GPUs' memory: runs are copied by the
 * driver, boxes and sums by kernels, all in the default stream, or in that of
 * queues.c that moves.
 *
 * A box is a product of runs over dimensions.  Runs that are equally long and
 * equally far apart are a dimension more; dimensions that are one after the
 * other on both sides are one; three go to a kernel, the rest are launches. */
#include "run/gpu/memory_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

static const struct {
    const char *order, *text;
} moves[] = {
#define MOVE(id, order, text) {order, text},
#include "run/gpu/move.def"
};

enum { GRAIN = 256 /* [bytes] of buffers */, ALIGNED = 16, DEEP = 3 };

/* CTAs of a launch. */
#ifdef AXE_STRESS
enum { MOST_CTAS = 64 };
#else
enum { MOST_CTAS = INT32_MAX };
#endif
static axe_gpu_memory *
of(engine_memory *m)
{
    return (axe_gpu_memory *)m;
}

/* ------------------------------------------------------------------ buffers */

static axe_status
alloc(engine_memory *m, int64_t bytes, void **out)
{
    axe_gpu_memory *x = of(m);
    int64_t         room = (int64_t)x->heap->stride;
    int64_t         taken = (bytes + GRAIN - 1) / GRAIN * GRAIN;

    AXE_TRY(engine_all_ask(m->e, bytes));
    if (bytes < 0 || taken > room - x->used)
        return axe_fail(m->e->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "GPU: %" PRId64 " bytes of memory that ranks share, of "
                        "which %" PRId64 " of %" PRId64 " are left",
                        bytes, room - x->used, room);
    *out = (void *)(uintptr_t)(x->heap->base +
                               x->heap->stride * (size_t)m->e->rank +
                               (uint64_t)x->used);
    x->used += taken;
    return AXE_OK;
}

static int64_t
mark(const engine_memory *m)
{
    return ((const axe_gpu_memory *)m)->used;
}

static void
give_back(engine_memory *m, int64_t to)
{
    of(m)->used = to;
}

static void *
peer(const engine_memory *m, const void *p, int64_t rank)
{
    const axe_gpu_memory *x = (const axe_gpu_memory *)m;
    int64_t               by = rank - m->e->rank;

    return (void *)((uintptr_t)p + (uintptr_t)(by * (int64_t)x->heap->stride));
}

/* ------------------------------------------------------------- the driver's */

static axe_status
copy(engine_memory *m, void *to, const void *from, size_t bytes)
{
    axe_gpu *g = of(m)->gpu;
    int      r;

    if (bytes == 0 || of(m)->rehearses)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(m->e->cx, g));
    r = g->cuda->MemcpyDtoDAsync_v2((uint64_t)(uintptr_t)to,
                                    (uint64_t)(uintptr_t)from, bytes,
                                    of(m)->stream);
    axe_gpu_pop(g);
    return axe_cuda_check(m->e->cx, g->cuda, r, "copying between GPUs");
}

static axe_status
zero(engine_memory *m, void *to, size_t bytes)
{
    axe_gpu *g = of(m)->gpu;
    int      r;

    if (bytes == 0 || of(m)->rehearses)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(m->e->cx, g));
    r = g->cuda->MemsetD8Async((uint64_t)(uintptr_t)to, 0, bytes,
                               of(m)->stream);
    axe_gpu_pop(g);
    return axe_cuda_check(m->e->cx, g->cuda, r, "zeros on the GPU");
}

static axe_status
settle(engine_memory *m)
{
    return axe_gpu_wait(m->e->cx, of(m)->gpu, NULL);
}

/* ------------------------------------------------------------- our kernels */

static axe_status
compile(axe_gpu_memory *x, axe_number type, gpu_move move, axe_gpu_exec **out)
{
    const char        *text = moves[move].text;
    const char        *name[] = {"T"}, *value[] = {axe_number_text(type)};
    const char        *array[] = {"S", "D"};
    const char        *order[] = {moves[move].order, moves[move].order};
    axe_compile_spec   spec = {.machine = axe_gpu_machine(x->gpu),
                               .n_set = 1,
                               .set_name = name,
                               .set_value = value,
                               .n_order = moves[move].order ? 2 : 0,
                               .order_name = array,
                               .order = order,
                               .no_tuned = true};
    const axe_program *p;
    int32_t source = axe_source_add(x->own, "move.axe", text, strlen(text));

    AXE_TRY(axe_compile(x->own, source, &spec, AXE_STAGE_C, &p));
    return axe_gpu_exec_new(x->own, x->gpu, p, out);
}

/* Compiled when it is first asked for. */
static axe_status
exec_of(axe_gpu_memory *x, axe_number type, gpu_move move, axe_gpu_exec **out)
{
    axe_gpu_exec **e = &x->exec[type][move];
    axe_status     st = *e ? AXE_OK : compile(x, type, move, e);

    *out = *e;
    return st == AXE_OK ? st
                        : axe_fail(x->m.e->cx, AXE_NOWHERE, st, "%s",
                                   axe_last_error(x->own));
}

static axe_status
launch(axe_gpu_memory *x, axe_number type, gpu_move move, int rank,
       const int64_t *shape, const int64_t *from_stride, const void *from,
       const int64_t *to_stride, void *to)
{
    const char *word = axe_number_text(type);
    axe_array   array[] = {
          {"S", word, rank, shape, from_stride, (void *)(uintptr_t)from},
          {"D", word, rank, shape, to_stride, to},
    };
    axe_gpu_exec *e;

    AXE_TRY(exec_of(x, type, move, &e));
    if (x->rehearses)
        return AXE_OK;
    return axe_gpu_launch(x->m.e->cx, e, 2, array, 0, NULL, x->stream);
}

static bool
is_aligned(const void *p)
{
    return (uintptr_t)p % ALIGNED == 0;
}

static axe_status
add_run(axe_gpu_memory *x, axe_number type, void *to, const void *from,
        int64_t n)
{
    int64_t shape[] = {1, 1, n}, stride[] = {n, n, 1};

    if (n == 0)
        return AXE_OK;
    if (is_aligned(to) && is_aligned(from))
        return launch(x, type, MOVE_ADD_RUN, 1, &n, NULL, from, NULL, to);
    return launch(x, type, MOVE_ADD_BOX, DEEP, shape, stride, from, stride, to);
}

static axe_status
sum(engine_memory *m, const engine_sum *s)
{
    size_t   bytes = (size_t)(s->n * axe_number_bytes(s->type));
    uint64_t at;

    if (axe_gpu_multimem_can(of(m)->heap, s, &at))
        return axe_gpu_multimem_sum(m->e->cx, &of(m)->all, of(m)->heap, s, at);
    AXE_TRY(copy(m, s->to, s->from[0], bytes));
    for (int i = 1; i < s->n_from; i++)
        AXE_TRY(add_run(of(m), s->type, s->to, s->from[i], s->n));
    return AXE_OK;
}

/* -------------------------------------------------------------------- boxes */

/* n elements, so far apart [elements]. */
typedef struct pitch {
    int64_t n, from, to;
} pitch;

typedef struct boxing {
    axe_gpu_memory   *x;
    const engine_box *b;
    int64_t           width; /* [bytes] */
    pitch             at[2 * PROGRAM_DIMS];
    int               n;
} boxing;

/* Without dimensions of one element; those that continue one another are one.
 * Outermost first. */
static int
merge(const boxing *w, pitch *out)
{
    int n = 0;

    for (int i = 0; i < w->n; i++) {
        pitch p = w->at[i];

        if (p.n == 1)
            continue;
        if (n > 0 && out[n - 1].from == p.n * p.from &&
            out[n - 1].to == p.n * p.to)
            p.n *= out[--n].n;
        out[n++] = p;
    }
    return n;
}

/* The innermost three by a kernel, from elements `from` and `to` on. */
static axe_status
launch_box(const boxing *w, int n, const pitch *p, int64_t from, int64_t to)
{
    const engine_box *b = w->b;
    const char       *src = (const char *)b->from + from * w->width;
    char             *dst = (char *)b->to + to * w->width;
    int64_t           shape[DEEP] = {1, 1, 1}, s[DEEP], d[DEEP];
    bool              is_run = n == 0 || (n == 1 && p->from == 1 && p->to == 1);

    if (is_run && b->adds)
        return add_run(w->x, b->type, dst, src, n ? p->n : 1);
    if (is_run)
        return copy(&w->x->m, dst, src, (size_t)((n ? p->n : 1) * w->width));
    for (int i = 0; i < DEEP; i++) {
        int k = i - (DEEP - n);

        shape[i] = k < 0 ? 1 : p[k].n;
        s[i] = k < 0 ? 1 : p[k].from;
        d[i] = k < 0 ? 1 : p[k].to;
    }
    return launch(w->x, b->type, b->adds ? MOVE_ADD_BOX : MOVE_COPY_BOX, DEEP,
                  shape, s, src, d, dst);
}

int64_t
axe_gpu_box_step(int n, const int64_t *shape, int64_t most, int *dim)
{
    int64_t tasks = 1;

    for (int i = n - 1; i >= 0; i--) {
        int64_t tile = i == n - 1 ? AXE_GPU_BOX_TILE : 1;
        int64_t here = (shape[i] + tile - 1) / tile;

        *dim = i;
        if (here > most / tasks)
            return most / tasks * tile;
        tasks *= here > 0 ? here : 1;
    }
    *dim = -1;
    return 0;
}

/* Of a box of more CTAs than a launch has, parts. */
static axe_status
launch_parts(const boxing *w, int n, const pitch *p, int64_t from, int64_t to)
{
    int64_t shape[DEEP] = {0}, step;
    pitch   part[DEEP];
    int     dim;

    for (int i = 0; i < n; i++) {
        shape[i] = p[i].n;
        part[i] = p[i];
    }
    step = axe_gpu_box_step(n, shape, MOST_CTAS, &dim);
    if (dim < 0)
        return launch_box(w, n, p, from, to);
    for (int64_t at = 0; at < p[dim].n; at += step) {
        part[dim].n = p[dim].n - at < step ? p[dim].n - at : step;
        AXE_TRY(launch_parts(w, n, part, from + at * p[dim].from,
                             to + at * p[dim].to));
    }
    return AXE_OK;
}

static axe_status
launch_all(const boxing *w, int n, const pitch *p, int64_t from, int64_t to)
{
    if (n <= DEEP)
        return launch_parts(w, n, p, from, to);
    for (int64_t i = 0; i < p->n; i++)
        AXE_TRY(
            launch_all(w, n - 1, p + 1, from + i * p->from, to + i * p->to));
    return AXE_OK;
}

/* Are all runs equally long, and equally far apart?  Strides of arrays are not
 * negative, and what goes around goes back in the source. */
static bool
are_even(const program_run *r, int n)
{
    for (int i = 1; i < n; i++)
        if (r[i].n != r[0].n || r[1].src < r[0].src ||
            r[i].src - r[i - 1].src != r[1].src - r[0].src ||
            r[i].dst - r[i - 1].dst != r[1].dst - r[0].dst)
            return false;
    return true;
}

static axe_status
walk(boxing *w, int d, int64_t from, int64_t to)
{
    const program_box *box = w->b->box;
    pitch              merged[2 * PROGRAM_DIMS];
    int                n = w->n;
    const program_run *r;
    int64_t            sp, dp;
    bool               even;

    if (d == box->n_dim)
        return launch_all(w, merge(w, merged), merged, from, to);
    r = box->run[d];
    sp = d + 1 < box->n_dim ? box->src_pitch[d] : 1;
    dp = d + 1 < box->n_dim ? box->dst_pitch[d] : 1;
    even = box->n_run[d] > 1 && are_even(r, box->n_run[d]);
    if (even)
        w->at[w->n++] = (pitch){box->n_run[d], (r[1].src - r[0].src) * sp,
                                (r[1].dst - r[0].dst) * dp};
    for (int i = 0; i < (even ? 1 : box->n_run[d]); i++) {
        w->at[w->n++] = (pitch){r[i].n, sp, dp};
        AXE_TRY(walk(w, d + 1, from + r[i].src * sp, to + r[i].dst * dp));
        w->n--;
    }
    w->n = n;
    return AXE_OK;
}

static axe_status
box(engine_memory *m, const engine_box *b)
{
    boxing w = {.x = of(m), .b = b, .width = axe_number_bytes(b->type)};

    if (b->box->n == 0)
        return AXE_OK;
    if (b->box->n_dim == 0)
        w.at[w.n++] = (pitch){b->box->n, 1, 1};
    return walk(&w, 0, 0, 0);
}

/* ----------------------------------------------------------------- a library
 */

static bool
has(const engine_memory *m, const engine_collective *c)
{
    const axe_gpu_memory *x = (const axe_gpu_memory *)m;

    return x->library && axe_nccl_has(c);
}

static axe_status
collective(engine_memory *m, const engine_collective *c)
{
    return axe_nccl_go(of(m)->library, c);
}

static const engine_memory_ops ops = {
    alloc, mark, give_back, peer, copy, zero, box, sum, settle, NULL, NULL,
};

static const engine_memory_ops ops_with_library = {
    alloc, mark, give_back, peer, copy, zero, box, sum, settle, has, collective,
};

void
axe_gpu_memory_use(axe_gpu_memory *x, axe_nccl *library)
{
    x->library = library;
    x->m.ops = &ops_with_library;
    x->m.queues = NULL;
}

/* ---------------------------------------------------------- making, freeing */

axe_status
axe_gpu_memory_new(axe_ctx *cx, axe_engine *e, axe_gpu *g, int64_t bytes,
                   bool multicast, axe_gpu_memory **out)
{
    axe_gpu_memory *x = calloc(1, sizeof *x);
    axe_status      st;

    if (x)
        x->own = axe_ctx_new();
    if (!x || !x->own) {
        free(x);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for what ranks share");
    }
    x->m = (engine_memory){.ops = &ops, .e = e};
    x->gpu = g;
    st = axe_gpu_heap_new(cx, e, g, bytes + axe_gpu_words_bytes(e), multicast,
                          &x->heap);
    if (st == AXE_OK && !x->heap->multicast)
        st = axe_gpu_queues_open(cx, x);
    if (st != AXE_OK) {
        axe_gpu_memory_free(x);
        return st;
    }
    e->memory = &x->m;
    *out = x;
    return AXE_OK;
}

void
axe_gpu_memory_free(axe_gpu_memory *x)
{
    if (!x)
        return;
    if (x->m.e->memory == &x->m)
        x->m.e->memory = NULL;
    for (int t = 0; t < AXE_N_NUMBER; t++)
        for (int i = 0; i < N_MOVE; i++)
            axe_gpu_exec_free(x->exec[t][i]);
    axe_gpu_queues_close(x);
    axe_gpu_multimem_free(&x->all, x->heap);
    axe_gpu_heap_free(x->heap);
    axe_ctx_free(x->own);
    free(x);
}
