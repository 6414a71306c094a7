/* timeline.c - what engines do when, and what they wait for meanwhile.
 *
 * A gap in front of an instruction is for what it needed last: a transfer, or
 * another engine; else for its turn at a memory that two engines share.  Of
 * transfers a row says whether any is under way. */
#include <math.h>
#include <stdlib.h>

#include "sim/trn/trn_int.h"
#include "view/timeline.h"

enum { IN = AXE_TRN_dma, OUT, N_ROWS };

static const axe_timeline_row_kind kind[N_ROWS] = {
    [AXE_TRN_tensor] = AXE_ROW_TENSOR_ENGINE,
    [AXE_TRN_vector] = AXE_ROW_VECTOR_ENGINE,
    [AXE_TRN_scalar] = AXE_ROW_SCALAR_ENGINE,
    [AXE_TRN_gpsimd] = AXE_ROW_GPSIMD_ENGINE,
    [IN] = AXE_ROW_DMA_IN,
    [OUT] = AXE_ROW_DMA_OUT,
};

static int64_t
nearest(double ns)
{
    return (int64_t)(ns + 0.5);
}

static void
put(trn_run *r, axe_timeline *out, int row, double begin, double end,
    axe_timeline_work what)
{
    axe_timeline_span s = {nearest(begin), nearest(end), what};

    view_row_add(r->cx, &out->row[row], s);
    if (s.end > s.begin)
        out->role[row].cycles[what] += s.end - s.begin;
}

/* What kept record i from beginning since its engine was free: what it needs,
 * and then its turn. */
static void
put_wait(trn_run *r, axe_timeline *out, const trn_times *t, uint32_t i,
         double since)
{
    const trn_record *rec = &r->record[i];
    int               row = (int)rec->engine;
    double            last = since;
    axe_timeline_work why = AXE_WORK_ENGINES;

    for (uint32_t n = 0; n < rec->n_need; n++) {
        uint32_t k = r->need[rec->need + n];
        if (t[k].end <= last)
            continue;
        last = fmin(t[k].end, t[i].begin);
        why = r->record[k].engine == AXE_TRN_dma ? AXE_WORK_MEMORY
                                                 : AXE_WORK_ENGINES;
    }
    put(r, out, row, since, last, why);
    put(r, out, row, last, t[i].begin, AXE_WORK_TURN);
}

static void
put_engines(trn_run *r, axe_timeline *out, const trn_times *t)
{
    double free[AXE_TRN_dma] = {0};

    for (uint32_t i = 0; i < r->n_record; i++) {
        const trn_record *rec = &r->record[i];
        if (rec->engine == AXE_TRN_dma)
            continue;
        put_wait(r, out, t, i, free[rec->engine]);
        put(r, out, (int)rec->engine, t[i].begin, t[i].free, rec->work);
        free[rec->engine] = t[i].free;
    }
}

static int
by_begin(const void *a, const void *b)
{
    double x = ((const trn_times *)a)->begin, y = ((const trn_times *)b)->begin;

    return x < y ? -1 : x > y;
}

/* The time in which any of the transfers is under way. */
static void
put_transfers(trn_run *r, axe_timeline *out, const trn_times *t, bool stores)
{
    trn_times *all = axe_new_array(r->cx, trn_times, r->n_record + 1);
    uint32_t   n = 0;
    double     done = 0;

    for (uint32_t i = 0; i < r->n_record; i++)
        if (r->record[i].engine == AXE_TRN_dma && r->record[i].stores == stores)
            all[n++] = t[i];
    qsort(all, n, sizeof *all, by_begin);
    for (uint32_t i = 0; i < n; i++) {
        put(r, out, stores ? OUT : IN, fmax(all[i].begin, done), all[i].end,
            stores ? AXE_WORK_STORE : AXE_WORK_LOAD);
        done = fmax(done, all[i].end);
    }
}

axe_timeline *
trn_timeline(trn_run *r, const trn_times *t, double ns)
{
    axe_timeline *out = axe_new(r->cx, axe_timeline);

    *out = (axe_timeline){.kernel = r->t->name,
                          .machine = "Trainium 1, one core",
                          .part = "core",
                          .unit = "ns",
                          .ghz = 1,
                          .n_sm = 1,
                          .cycles = nearest(ns),
                          .n_launch = 1,
                          .n_row = N_ROWS,
                          .n_role = N_ROWS};
    out->launch = axe_new(r->cx, axe_timeline_launch);
    out->launch[0] = (axe_timeline_launch){
        r->t->name, 0, out->cycles, 1, r->hbm_bytes, r->hbm_bytes};
    out->row = axe_new_array(r->cx, axe_timeline_row, N_ROWS);
    out->role = axe_new_array(r->cx, axe_timeline_role, N_ROWS);
    for (int i = 0; i < N_ROWS; i++) {
        out->row[i].kind = kind[i];
        out->role[i] =
            (axe_timeline_role){.kind = kind[i], .n = 1, .total = out->cycles};
    }
    put_engines(r, out, t);
    put_transfers(r, out, t, false);
    put_transfers(r, out, t, true);
    return out;
}
