/* order.c - which instructions one must wait for: those of before that wrote
 * what it touches, or read what it writes.
 *
 * Kept for words of 4 bytes in each quadrant of partitions, at whose begin the
 * partitions of an instruction begin.  Tensors of device memory are only read,
 * or only written, but for those that are kept, which are ordered as a whole.
 */
#include <string.h>

#include "sim/trn/trn_int.h"

static void
need(trn_run *r, uint32_t record)
{
    trn_record *me = &r->record[r->n_record];

    if (record == 0)
        return;
    for (uint32_t i = 0; i < me->n_need && i < 64; i++)
        if (r->need[r->n_need - 1 - i] == record - 1)
            return;
    if (r->n_need == r->cap_need) {
        uint32_t  cap = r->cap_need ? 2 * r->cap_need : 4096;
        uint32_t *more = axe_new_array(r->cx, uint32_t, cap);
        if (r->n_need > 0)
            memcpy(more, r->need, r->n_need * sizeof *more);
        r->need = more;
        r->cap_need = cap;
    }
    r->need[r->n_need++] = record - 1;
    me->n_need++;
}

static void
touch_cell(trn_run *r, trn_cell *c, axe_trn_engine engine, bool write)
{
    uint32_t me = r->n_record + 1;

    if (c->write != me)
        need(r, c->write);
    if (!write) {
        c->read[engine] = me;
        return;
    }
    for (int e = 0; e < AXE_TRN_N_ENGINE; e++) {
        if (c->read[e] != me)
            need(r, c->read[e]);
        c->read[e] = 0;
    }
    c->write = me;
}

static void
touch(trn_run *r, const trn_instr *in, int i, axe_trn_engine engine)
{
    const trn_place *p = &in->p[i];
    bool             write = in->arg[i].kind == AXE_TRN_OUT;
    int64_t          words = trn_words(p->memory);
    int64_t          by = trn_by_words(p);

    for (int64_t q = p->part / AXE_TRN_QUADRANT;
         q <= (p->part + p->n_part - 1) / AXE_TRN_QUADRANT; q++) {
        trn_cell *cell = &r->cell[p->memory][q * words];
        for (int64_t k = 0, last = -1; k < p->n; k += by) {
            int64_t word = (p->first + trn_step(p, k) * p->width) / TRN_WORD;
            if (word != last)
                touch_cell(r, &cell[word], engine, write);
            last = word;
        }
    }
}

/* The two tiles of tensor_tensor, or of scalar_tensor_tensor. */
static const trn_place *
second(const trn_instr *in)
{
    const trn_place *p = trn_arg(in, "data2");

    return p ? p
           : in->step->op == AXE_TRN_OP_scalar_tensor_tensor
               ? trn_arg(in, "operand1")
               : NULL;
}

static bool
holds(const trn_instr *in, axe_trn_when when)
{
    const trn_place *p = in->p, *b = second(in), *op = trn_arg(in, "op");
    bool             sum = op && (op->function == AXE_TRN_FN_add ||
                      op->function == AXE_TRN_FN_subtract ||
                      op->function == AXE_TRN_FN_multiply);

    switch (when) {
    case AXE_TRN_ALWAYS:
        return true;
    case AXE_TRN_WIDE:
        return p[1].type == AXE_TYPE_f32;
    case AXE_TRN_PSUM_SBUF:
        return b && p[1].memory != b->memory;
    case AXE_TRN_FAST_BF16:
        for (int i = 0; i < 3; i++)
            if (p[i].type != AXE_TYPE_bf16 || p[i].memory != AXE_TRN_SBUF ||
                !trn_dense(&p[i]))
                return false;
        return sum;
    case AXE_TRN_FOLD_BF16:
        return p[0].type == AXE_TYPE_bf16 && p[1].type == AXE_TYPE_bf16 && op &&
               (op->function == AXE_TRN_FN_add ||
                op->function == AXE_TRN_FN_maximum);
    case AXE_TRN_ZERO_TWO:
        return p[1].number == 0 && p[0].width == 2;
    }
    return false;
}

/* Does a tile go in steps that halve its memory's bandwidth? */
static bool
is_far(const trn_instr *in)
{
    for (int i = 0; i < in->n; i++) {
        const trn_place *p = &in->p[i];
        if (p->kind == AXE_TRACE_TILE && p->memory != AXE_TRN_HBM && p->n > 1 &&
            p->count[p->n_dim - 1] > 1 &&
            (p->stride[p->n_dim - 1] * p->width >= AXE_TRN_FAR_STRIDE ||
             p->stride[p->n_dim - 1] * p->width <= -AXE_TRN_FAR_STRIDE))
            return true;
    }
    return false;
}

static double
cycles(const trn_instr *in)
{
    int                     n;
    const axe_trn_cost_row *row = axe_trn_costs(&n);

    for (int i = 0; i < n; i++)
        if (row[i].op == in->step->op && row[i].engine == in->step->engine &&
            holds(in, row[i].when))
            return axe_trn_cycles(&row[i], in->role) * (is_far(in) ? 2 : 1);
    return 0;
}

/* The rows of a copy: runs of neighbours in device memory. */
static void
dma(trn_run *r, const trn_instr *in, trn_record *me)
{
    const trn_place *a = &in->p[0], *b = &in->p[1];
    const trn_place *chip = a->memory == AXE_TRN_HBM ? b : a;
    const trn_place *hbm = a->memory == AXE_TRN_HBM ? a : b;
    int64_t          run = 1;

    me->bytes = hbm->n_part * hbm->n * hbm->width;
    for (int i = hbm->n_dim - 1; i >= 0 && hbm->stride[i] == run; i--)
        run *= hbm->count[i];
    me->stores = a->memory == AXE_TRN_HBM;
    me->rows = hbm->n_part * hbm->n / run;
    me->first_part = chip->memory == AXE_TRN_HBM ? 0 : chip->part;
    me->n_part = chip->memory == AXE_TRN_HBM ? TRN_PARTITIONS : chip->n_part;
    for (int i = 0; i < 2; i++)
        if (in->p[i].memory == AXE_TRN_HBM)
            r->hbm_bytes += in->p[i].n_part * in->p[i].n * in->p[i].width;
}

static void
more(trn_run *r)
{
    if (r->n_record < r->cap_record)
        return;
    uint32_t    cap = r->cap_record ? 2 * r->cap_record : 1024;
    trn_record *all = axe_new_array(r->cx, trn_record, cap);
    if (r->n_record > 0)
        memcpy(all, r->record, r->n_record * sizeof *all);
    r->record = all;
    r->cap_record = cap;
}

/* What a row of a timeline says of it. */
static axe_timeline_work
work_of(const trn_record *me, axe_trn_op op)
{
    if (me->engine == AXE_TRN_dma)
        return me->stores ? AXE_WORK_STORE : AXE_WORK_LOAD;
    if (op == AXE_TRN_OP_nc_transpose || op == AXE_TRN_OP_tensor_copy)
        return AXE_WORK_EXCHANGE;
    return me->engine == AXE_TRN_tensor ? AXE_WORK_PRODUCT : AXE_WORK_MATH;
}

/* gpsimd reads the indices of a transfer and writes its descriptors, a record
 * of its own.  By which ports is not published: it shares none here. */
static void
describe(trn_run *r, const trn_instr *in)
{
    trn_record *me = &r->record[r->n_record];

    *me = (trn_record){.engine = AXE_TRN_gpsimd,
                       .ns = r->opt->params.swdge,
                       .need = r->n_need,
                       .work = AXE_WORK_LOAD};
    for (int i = 0; i < in->n; i++)
        if (&in->p[i] == trn_indices(in))
            touch(r, in, i, AXE_TRN_gpsimd);
    r->n_record++;
}

axe_status
trn_record_add(trn_run *r, const trn_instr *in)
{
    axe_trn_engine   e = in->step->engine;
    double           ghz = axe_trn_engines[e].ghz;
    const trn_place *indices = trn_indices(in);

    more(r);
    if (indices) {
        describe(r, in);
        more(r);
    }
    trn_record *me = &r->record[r->n_record];
    *me = (trn_record){.engine = e, .need = r->n_need};
    if (indices)
        need(r, r->n_record);
    for (int i = in->n - 1; i >= 0; i--)
        if (in->p[i].kind == AXE_TRACE_TILE && &in->p[i] != indices) {
            me->ports |= 1U << in->p[i].memory;
            if (in->p[i].memory != AXE_TRN_HBM)
                touch(r, in, i, e);
            else if (in->p[i].tensor->access == AXE_TRACE_KEPT)
                touch_cell(r, &r->kept[in->p[i].tensor - r->t->tensor], e,
                           in->arg[i].kind == AXE_TRN_OUT);
        }
    if (e == AXE_TRN_dma)
        dma(r, in, me);
    else
        me->ns = cycles(in) / ghz;
    if (in->step->op == AXE_TRN_OP_nc_matmul)
        me->weights = (double)in->role['m'] / r->opt->params.weights_per / ghz;
    me->work = work_of(me, in->step->op);
    r->n_record++;
    return AXE_OK;
}
