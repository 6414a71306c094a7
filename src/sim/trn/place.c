/* place.c - tiles and access patterns with their numbers: that they lie in
 * their memory, and in their tile. */
#include <inttypes.h>
#include <string.h>

#include "sim/trn/trn_int.h"

int64_t
trn_step(const trn_place *p, int64_t x)
{
    int64_t at = 0;

    for (int i = p->n_dim - 1; i > 0; i--) {
        at += x % p->count[i] * p->stride[i];
        x /= p->count[i];
    }
    return at + x * p->stride[0];
}

bool
trn_dense(const trn_place *p)
{
    int64_t step = 1;

    for (int i = p->n_dim - 1; i >= 0; i--) {
        if (p->count[i] > 1 && p->stride[i] != step)
            return false;
        step *= p->count[i];
    }
    return true;
}

int64_t
trn_by_words(const trn_place *p)
{
    bool whole = trn_dense(p) && p->first % TRN_WORD == 0;

    return whole && p->width < TRN_WORD ? TRN_WORD / p->width : 1;
}

const trn_place *
trn_arg(const trn_instr *in, const char *name)
{
    for (int i = 0; i < in->n; i++)
        if (strcmp(in->arg[i].name, name) == 0)
            return in->p[i].kind == AXE_TRACE_ABSENT ? NULL : &in->p[i];
    return NULL;
}

const trn_place *
trn_indices(const trn_instr *in)
{
    const axe_trace_value *v = axe_trace_indices(in->step);

    return v ? &in->p[v - in->step->value] : NULL;
}

static axe_status
declare_chip(trn_run *r, const axe_trace_step *s, const axe_trace_tensor *x,
             trn_tile *tile)
{
    const axe_trn_memory_row *m = &axe_trn_memories[x->memory];
    int64_t                   free = axe_type_table[x->type].bits / 8;

    AXE_TRY(axe_trace_value_of(r->cx, x->part, r->var, &tile->part));
    AXE_TRY(axe_trace_value_of(r->cx, x->byte, r->var, &tile->byte));
    for (int i = 1; i < x->rank; i++)
        if (!axe_mul(free, tile->shape[i], &free))
            return axe_fail(r->cx, s->at, AXE_EOVERFLOW, "%s is too large",
                            x->name);
    tile->n_part = tile->shape[0];
    tile->n_byte = free;
    if (tile->part < 0 || tile->n_part > m->partitions - tile->part)
        return axe_fail(r->cx, s->at, AXE_ESHAPE,
                        "%s has %" PRId64 " partitions from %" PRId64
                        "; there are %d",
                        x->name, tile->n_part, tile->part, m->partitions);
    if (tile->byte < 0 || tile->byte > m->bytes || free > m->bytes - tile->byte)
        return axe_fail(r->cx, s->at, AXE_ESHAPE,
                        "%s has %" PRId64 " bytes from %" PRId64
                        " of each partition; %s has %d",
                        x->name, free, tile->byte, m->word, m->bytes);
    if (tile->byte % (axe_type_table[x->type].bits / 8) != 0)
        return axe_fail(r->cx, s->at, AXE_ESHAPE,
                        "%s begins at byte %" PRId64
                        ", which is no whole number of its elements",
                        x->name, tile->byte);
    if (x->memory == AXE_TRN_PSUM)
        for (int64_t q = tile->part / AXE_TRN_QUADRANT;
             q <= (tile->part + tile->n_part - 1) / AXE_TRN_QUADRANT; q++)
            memset(r->sum + q * trn_words(x->memory) + tile->byte / TRN_WORD, 0,
                   (size_t)((free + TRN_WORD - 1) / TRN_WORD));
    return AXE_OK;
}

/* A number of its own for a declaration that is executed; there are fewer of
 * them than TRN_MAX_STEPS. */
static uint32_t
new_id(trn_run *r, int tensor)
{
    if (++r->n_id == r->cap_id) {
        int *more = axe_new_array(r->cx, int, 2 * (size_t)r->cap_id);
        memcpy(more, r->owner, r->cap_id * sizeof *more);
        r->owner = more;
        r->cap_id *= 2;
    }
    r->owner[r->n_id] = tensor;
    return r->n_id;
}

axe_status
trn_declare(trn_run *r, const axe_trace_step *s)
{
    const axe_trace_tensor *x = &r->t->tensor[s->tensor];
    trn_tile               *tile = &r->tile[s->tensor];
    int64_t                 bytes = axe_type_table[x->type].bits / 8;

    tile->rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        AXE_TRY(
            axe_trace_value_of(r->cx, x->shape[i], r->var, &tile->shape[i]));
        if (tile->shape[i] < 1 || !axe_mul(bytes, tile->shape[i], &bytes))
            return axe_fail(r->cx, s->at, AXE_ESHAPE,
                            "%s has %" PRId64 " elements in dimension %d",
                            x->name, tile->shape[i], i);
    }
    tile->id = new_id(r, s->tensor);
    if (x->memory != AXE_TRN_HBM)
        return declare_chip(r, s, x, tile);
    tile->n_byte = bytes;
    if (r->opt->time_only || tile->data)
        return AXE_OK;
    if (x->access == AXE_TRACE_IN)
        return axe_fail(r->cx, s->at, AXE_EARG, "no data for %s", x->name);
    if (bytes > TRN_MAX_BYTES)
        return axe_fail(r->cx, s->at, AXE_ELIMIT,
                        "%s has %" PRId64 " bytes, and may have %d to be "
                        "computed",
                        x->name, bytes, TRN_MAX_BYTES);
    tile->data = axe_alloc(r->cx, (size_t)bytes);
    return AXE_OK;
}

/* A pattern over the whole tile, dense. */
static void
whole(const axe_trace_tensor *x, const trn_tile *t, trn_place *p)
{
    int64_t step = 1;

    p->n_part = t->shape[0];
    p->n_dim = x->rank > 1 ? x->rank - 1 : 1;
    p->count[0] = p->stride[0] = 1;
    for (int i = p->n_dim - 1; i >= 0 && x->rank > 1; i--) {
        p->count[i] = t->shape[i + 1];
        p->stride[i] = step;
        step *= p->count[i];
    }
    p->part_stride = step;
}

static axe_status
pattern(trn_run *r, const axe_trace_access *a, trn_place *p)
{
    AXE_TRY(axe_trace_value_of(r->cx, a->dim[0].count, r->var, &p->n_part));
    if (a->dim[0].stride)
        AXE_TRY(axe_trace_value_of(r->cx, a->dim[0].stride, r->var,
                                   &p->part_stride));
    for (int i = 1; i < a->n_dim; i++) {
        AXE_TRY(axe_trace_value_of(r->cx, a->dim[i].count, r->var,
                                   &p->count[p->n_dim]));
        AXE_TRY(axe_trace_value_of(r->cx, a->dim[i].stride, r->var,
                                   &p->stride[p->n_dim++]));
    }
    if (p->n_dim == 0)
        p->count[p->n_dim] = p->stride[p->n_dim] = 1, p->n_dim = 1;
    return AXE_OK;
}

/* The least and greatest element that the pattern reaches from 0. */
static bool
reach(const trn_place *p, int64_t *low, int64_t *high)
{
    int64_t by;

    *low = *high = 0;
    for (int i = 0; i < p->n_dim; i++)
        if (p->count[i] < 1 || !axe_mul(p->count[i] - 1, p->stride[i], &by) ||
            !axe_add(by < 0 ? *low : *high, by, by < 0 ? low : high))
            return false;
    if (p->memory == AXE_TRN_HBM && !p->by_index &&
        (!axe_mul(p->n_part - 1, p->part_stride, &by) ||
         !axe_add(by < 0 ? *low : *high, by, by < 0 ? low : high)))
        return false;
    return axe_mul(*low, p->width, low) && axe_mul(*high, p->width, high);
}

/* A tensor as rows of which indices choose, the pattern in one of them. */
static axe_status
check_rows(trn_run *r, axe_span at, int64_t offset, const trn_place *p)
{
    int64_t n = p->tile->n_byte / p->width, row = p->part_stride, low, high;

    if (row < 1 || n % row != 0)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "the %" PRId64
                        " elements of %s are no rows of %" PRId64,
                        n, p->tensor->name, row);
    if (n / row >= AXE_TRN_EXACT)
        return axe_fail(r->cx, at, AXE_ELIMIT,
                        "%s has %" PRId64
                        " rows, and engines compute indices below %d",
                        p->tensor->name, n / row, AXE_TRN_EXACT);
    if (!reach(p, &low, &high) || offset < 0 || offset >= row ||
        low / p->width < -offset || high / p->width >= row - offset)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "the pattern leaves its row of %s, which has %" PRId64
                        " elements",
                        p->tensor->name, row);
    return AXE_OK;
}

static axe_status
inside(trn_run *r, axe_span at, int64_t part, int64_t offset, trn_place *p)
{
    const trn_tile *t = p->tile;
    int64_t         low, high, from;
    bool            chip = p->memory != AXE_TRN_HBM;

    if (p->by_index && !chip)
        AXE_TRY(check_rows(r, at, offset, p));

    if (p->n_part < 1 || (chip && (part < 0 || part > t->n_part ||
                                   p->n_part > t->n_part - part)))
        return axe_fail(
            r->cx, at, AXE_ESHAPE,
            "%" PRId64 " partitions from %" PRId64 " of %s, which has %" PRId64,
            p->n_part, part, p->tensor->name, chip ? t->n_part : p->n_part);
    if (!reach(p, &low, &high) || !axe_mul(offset, p->width, &from) ||
        !axe_add(low, from, &low) || !axe_add(high, from, &high) || low < 0 ||
        high >= t->n_byte)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "the pattern leaves %s, which has %" PRId64
                        " elements%s",
                        p->tensor->name, t->n_byte / p->width,
                        chip ? " in a partition" : "");
    p->part = t->part + part;
    p->first = chip ? t->byte + from : offset;
    p->n = 1;
    for (int i = 0; i < p->n_dim; i++)
        if (!axe_mul(p->n, p->count[i], &p->n) ||
            p->n > TRN_MAX_ELEMENTS / p->n_part)
            return axe_fail(r->cx, at, AXE_ELIMIT,
                            "an operand of more than %d elements",
                            TRN_MAX_ELEMENTS);
    return AXE_OK;
}

static axe_status
place(trn_run *r, const axe_trace_value *v, trn_place *p)
{
    const axe_trace_access *a = &v->access;
    int64_t                 part = 0, offset = 0;

    p->tensor = &r->t->tensor[a->tensor];
    p->tile = &r->tile[a->tensor];
    p->memory = p->tensor->memory;
    p->type = p->tensor->type;
    p->width = axe_type_table[p->type].bits / 8;
    if (a->n_dim == 0)
        whole(p->tensor, p->tile, p);
    else {
        AXE_TRY(pattern(r, a, p));
        AXE_TRY(axe_trace_value_of(r->cx, a->offset, r->var, &offset));
        if (a->part)
            AXE_TRY(axe_trace_value_of(r->cx, a->part, r->var, &part));
    }
    return inside(r, v->at, part, offset, p);
}

axe_status
trn_fields(trn_run *r, axe_span at, const trn_place *p)
{
    if (p->n_dim > AXE_TRN_FREE_DIMS)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "%d counts along a partition; an instruction has %d",
                        p->n_dim, AXE_TRN_FREE_DIMS);
    for (int k = 0; k < p->n_dim; k++)
        if (p->count[k] < 1 || p->count[k] > AXE_TRN_COUNT ||
            p->stride[k] < -AXE_TRN_STRIDE || p->stride[k] > AXE_TRN_STRIDE)
            return axe_fail(r->cx, at, AXE_ESHAPE,
                            "%" PRId64 " by %" PRId64
                            " does not fit an instruction's 16 bits",
                            p->count[k], p->stride[k]);
    return AXE_OK;
}

axe_status
trn_places(trn_run *r, trn_instr *in)
{
    for (int i = 0; i < in->n; i++) {
        const axe_trace_value *v = &in->step->value[i];
        trn_place             *p = &in->p[i];
        int64_t                count;
        p->kind = v->kind;
        p->number = v->number;
        p->function = v->function;
        p->by_index = i == 1 && axe_trace_indices(in->step) != NULL;
        if (v->kind == AXE_TRACE_TILE)
            AXE_TRY(place(r, v, p));
        else if (v->kind == AXE_TRACE_COUNT) {
            AXE_TRY(axe_trace_value_of(r->cx, v->count, r->var, &count));
            p->number = (double)count;
        }
        for (int k = 0; v->kind == AXE_TRACE_INDEX && k < v->access.n_dim;
             k++) {
            const axe_trace_dim *d = &v->access.dim[k];
            AXE_TRY(axe_trace_value_of(r->cx, d->count, r->var,
                                       &p->count[p->n_dim]));
            AXE_TRY(axe_trace_value_of(r->cx, d->stride, r->var,
                                       &p->stride[p->n_dim++]));
        }
        if (v->kind == AXE_TRACE_INDEX)
            AXE_TRY(trn_fields(r, v->at, p));
    }
    return AXE_OK;
}
