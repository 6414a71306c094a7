/* target_nki.c - traces as NKI, and what they compute by the simulator of
 * Trainium's engines. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "print/nki/nki.h"
#include "run/program.h"
#include "run/target.h"
#include "sim/trn/trn.h"

static axe_status
print(axe_ctx *cx, const axe_lowered *l, bool wide, axe_buf *out)
{
    (void)wide;
    return axe_print_nki(cx, l, false, out);
}

static axe_status
print_dialect(axe_ctx *cx, const axe_lowered *l, axe_dialect dialect,
              axe_buf *out)
{
    return axe_print_nki(cx, l, dialect == AXE_DIALECT_nki01, out);
}

static int64_t
count_of(const axe_sim_array *a, int rank)
{
    int64_t n = 1;

    for (int d = 0; d < rank; d++)
        n *= a->shape[d];
    return n;
}

/* Elements between an array and its copy without gaps. */
static void
copy(const axe_sim_array *a, const axe_tensor *t, char *dense, bool back)
{
    int64_t width = axe_type_table[t->type].bits / 8;
    int64_t at[AXE_TRACE_DIMS] = {0}, n = count_of(a, t->rank);

    for (int64_t i = 0; i < n; i++) {
        int64_t off = 0, rest = i;
        for (int d = t->rank - 1; d >= 0; d--) {
            at[d] = rest % a->shape[d];
            rest /= a->shape[d];
        }
        for (int d = 0; d < t->rank; d++)
            off += at[d] * a->stride[d];
        char *there = (char *)a->data + off * width;
        if (back)
            memcpy(there, dense + i * width, (size_t)width);
        else
            memcpy(dense + i * width, there, (size_t)width);
    }
}

/* Values of sizes are the launch's. */
static void
set_sizes(const axe_kernel *k, const axe_trace *t, const int64_t *size)
{
    for (int i = 0; i < k->n_size && i < t->n_size; i++)
        t->size[i] = size[i];
}

static void
set_engines(axe_ctx *cx, const axe_trn_report *legacy,
            const axe_trn_report *doc, axe_sim_report *out)
{
    out->n_engine = AXE_TRN_N_ENGINE;
    out->engine = axe_new_array(cx, axe_sim_engine, AXE_TRN_N_ENGINE);
    for (int e = 0; e < AXE_TRN_N_ENGINE; e++)
        out->engine[e] = (axe_sim_engine){axe_trn_engines[e].name,
                                          legacy->n[e],
                                          {legacy->busy[e], doc->busy[e]}};
    out->ns[0] = legacy->ns;
    out->ns[1] = doc->ns;
}

/* How long it takes, by what was fitted and by what is documented. */
static axe_status
time_both(axe_ctx *cx, const axe_trace *t, const axe_trn_report *legacy,
          axe_sim_report *out)
{
    axe_trn_options opt = {.time_only = true, .max_steps = INT64_C(1) << 40};
    void          **data = axe_new_array(cx, void *, t->n_tensor + 1);
    axe_buf         text = {.cx = cx};
    axe_trn_report  doc;

    AXE_TRY(axe_trn_profile(cx, "doc", &opt.params));
    AXE_TRY(axe_trn_run(cx, t, &opt, data, &doc));
    axe_puts(&text, "profile legacy: ");
    axe_trn_put_report(&text, legacy);
    axe_puts(&text, "profile doc: ");
    axe_trn_put_report(&text, &doc);
    out->engines = text.text;
    set_engines(cx, legacy, &doc, out);
    return AXE_OK;
}

/* Traces have no tensors without elements: none is written, or it is an error.
 */
static axe_status
check_some(axe_ctx *cx, const axe_kernel *k, const axe_sim_spec *spec,
           bool *none)
{
    const axe_tensor *empty = NULL;

    *none = true;
    for (int i = 0; i < k->n_param; i++) {
        bool has = count_of(&spec->param[i], k->param[i]->rank) > 0;
        empty = has ? empty : k->param[i];
        *none = *none && !(has && k->param[i]->dir != AXE_DIR_IN);
    }
    if (*none || !empty)
        return AXE_OK;
    axe_fail(cx, empty->at, AXE_EUNSUPPORTED,
             "%s has no elements, and a kernel for trn1 writes results all "
             "the same",
             empty->name);
    axe_help(cx, "give it elements; without any, the reference or a CPU "
                 "says what the results are");
    return AXE_EUNSUPPORTED;
}

/* Engines wait for what they read, so no order of events is another result. */
static axe_status
check_options(axe_ctx *cx, const axe_kernel *k, const axe_sim_options *o)
{
    const char *what =
        o->n_sm > 0 ? "a number of blocks" : "an order of events";

    if (o->policy == AXE_SIM_LAZY && o->turns == AXE_SIM_EVEN && o->n_sm == 0)
        return AXE_OK;
    axe_fail(cx, k->at, AXE_EUNSUPPORTED,
             "%s is asked for, and engines of a core have none to choose",
             what);
    axe_help(cx, "leave it out for this machine; it is of machines whose "
                 "threads run in blocks");
    return AXE_EUNSUPPORTED;
}

static axe_status
simulate(axe_ctx *cx, const axe_lowered *l, const axe_sim_spec *spec,
         axe_sim_report *out)
{
    const axe_trace  *t = l->trace;
    const axe_kernel *k = l->plan->kernel;
    void            **data = axe_new_array(cx, void *, t->n_tensor + 1);
    axe_trn_options   opt = {.timeline = spec->with.timeline,
                             .max_steps = INT64_C(1) << 40};
    axe_trn_report    r;
    bool              none;

    *out = (axe_sim_report){0};
    AXE_TRY(check_options(cx, k, &spec->with));
    AXE_TRY(axe_trn_profile(cx, "legacy", &opt.params));
    set_sizes(k, t, spec->size);
    AXE_TRY(check_some(cx, k, spec, &none));
    if (none)
        return AXE_OK;
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *p = k->param[i];
        int64_t           n = count_of(&spec->param[i], p->rank);
        data[i] = axe_alloc(cx, (size_t)(n * axe_type_table[p->type].bits / 8));
        copy(&spec->param[i], p, data[i], false);
    }
    AXE_TRY(axe_trn_run(cx, t, &opt, data, &r));
    for (int i = 0; i < k->n_param; i++)
        if (k->param[i]->dir != AXE_DIR_IN)
            copy(&spec->param[i], k->param[i], data[i], true);
    for (int e = 0; e < AXE_TRN_N_ENGINE; e++)
        out->n_inst += r.n[e];
    out->timeline = r.timeline;
    return time_both(cx, t, &r, out);
}

const axe_target axe_nki_target = {
    .print = print,
    .print_dialect = print_dialect,
    .simulate = simulate,
};
