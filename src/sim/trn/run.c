/* run.c - the steps of a trace, one after the other. */
#include <inttypes.h>
#include <string.h>

#include "sim/trn/trn_int.h"

static axe_status
too_many(trn_run *r, const axe_trace_step *s)
{
    axe_fail(r->cx, s->at, AXE_ELIMIT,
             "more than %" PRId64 " instructions and rounds", r->max_steps);
    axe_help(r->cx, "simulate smaller arrays, or larger tiles, which take "
                    "fewer instructions");
    return AXE_ELIMIT;
}

static axe_status
run_do(trn_run *r, const axe_trace_step *s)
{
    trn_instr in = {.step = s};

    if (r->n_step++ >= r->max_steps)
        return too_many(r, s);
    in.arg = axe_trn_args(s->op, &in.n);
    AXE_TRY(trn_places(r, &in));
    AXE_TRY(trn_check(r, &in));
    AXE_TRY(trn_sums(r, &in));
    if (!r->opt->time_only)
        AXE_TRY(trn_compute(r, &in));
    return trn_record_add(r, &in);
}

static axe_status
run_steps(trn_run *r, const axe_trace_step *s)
{
    for (; s; s = s->next) {
        int64_t n;
        if (s->kind == AXE_TRACE_DECLARE) {
            if (r->n_step++ >= r->max_steps)
                return too_many(r, s);
            AXE_TRY(trn_declare(r, s));
        } else if (s->kind == AXE_TRACE_DO)
            AXE_TRY(run_do(r, s));
        else if (s->kind == AXE_TRACE_LET) {
            if (r->n_step++ >= r->max_steps)
                return too_many(r, s);
            AXE_TRY(axe_trace_value_of(r->cx, s->count, r->var, &n));
            r->var[s->var] = n;
        } else {
            AXE_TRY(axe_trace_value_of(r->cx, s->count, r->var, &n));
            if (n > TRN_MAX_STEPS)
                return too_many(r, s);
            for (int64_t i = 0; i < n; i++) {
                if (r->n_step++ >= r->max_steps)
                    return too_many(r, s);
                r->var[s->var] = i;
                AXE_TRY(run_steps(r, s->body));
            }
        }
    }
    return AXE_OK;
}

axe_status
axe_trn_shape(axe_ctx *cx, const axe_trace *t, int tensor,
              int64_t shape[AXE_TRACE_DIMS])
{
    const axe_trace_tensor *x = &t->tensor[tensor];

    for (int i = 0; i < x->rank; i++) {
        AXE_TRY(axe_trace_value_of(cx, x->shape[i], t->size, &shape[i]));
        if (shape[i] < 1)
            return axe_fail(cx, x->shape[i]->at, AXE_ESHAPE,
                            "%s has %" PRId64 " elements in a dimension",
                            x->name, shape[i]);
    }
    return AXE_OK;
}

axe_status
axe_trn_run(axe_ctx *cx, const axe_trace *t, const axe_trn_options *opt,
            void **data, axe_trn_report *out)
{
    trn_run *r = axe_new(cx, trn_run);
    int64_t  words = trn_words(AXE_TRN_PSUM);

    *r = (trn_run){.cx = cx, .t = t, .opt = opt, .max_steps = opt->max_steps};
    if (r->max_steps <= 0 || r->max_steps > TRN_MAX_STEPS)
        r->max_steps = TRN_MAX_STEPS;
    r->tile = axe_new_array(cx, trn_tile, t->n_tensor);
    r->kept = axe_new_array(cx, trn_cell, t->n_tensor);
    r->cap_id = 1024;
    r->owner = axe_new_array(cx, int, r->cap_id);
    memcpy(r->var, t->size, (size_t)t->n_size * sizeof *t->size);
    for (int m = AXE_TRN_SBUF; m <= AXE_TRN_PSUM; m++) {
        int64_t n = TRN_QUADRANTS * trn_words((axe_trn_memory)m);
        r->cell[m] = axe_new_array(cx, trn_cell, n);
        r->chunk[m] = axe_new_array(cx, trn_chunk *, TRN_PARTITIONS * 128);
    }
    r->sum = axe_new_array(cx, uint8_t, TRN_QUADRANTS * words);
    for (int i = 0; i < t->n_tensor; i++)
        r->tile[i].data = t->tensor[i].memory == AXE_TRN_HBM ? data[i] : NULL;
    AXE_TRY(run_steps(r, t->body));
    for (int i = 0; i < t->n_tensor; i++)
        data[i] = r->tile[i].data;
    *out = (axe_trn_report){.hbm_bytes = r->hbm_bytes};
    trn_clock(r, out);
    return AXE_OK;
}

void
axe_trn_put_report(axe_buf *out, const axe_trn_report *r)
{
    axe_putf(out, "%.2f us; device memory %.3f MB, %.1f GB/s\n", r->ns / 1e3,
             (double)r->hbm_bytes / 1e6,
             r->ns > 0 ? (double)r->hbm_bytes / r->ns : 0.0);
    for (int e = 0; e < AXE_TRN_N_ENGINE; e++)
        axe_putf(out,
                 "%-8s %8" PRId64 " instructions, busy %10.2f us, %5.1f %%\n",
                 axe_trn_engines[e].name, r->n[e], r->busy[e] / 1e3,
                 r->ns > 0 ? 100 * r->busy[e] / r->ns : 0.0);
}
