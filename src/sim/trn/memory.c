/* memory.c - what is in SBUF, PSUM and device memory.
 *
 * On chip each byte knows which declaration of a tile wrote it.  So what nobody
 * wrote is found, and what another tile, or this tile in its last round, left
 * at the same place: addresses that rotate faster than their readers. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "sim/trn/trn_int.h"

enum { CHUNK = 2048 };

struct trn_chunk {
    uint8_t  data[CHUNK];
    uint32_t owner[CHUNK];
};

static trn_chunk *
chunk(trn_run *r, axe_trn_memory m, int64_t part, int64_t byte)
{
    trn_chunk **c = &r->chunk[m][part * 128 + byte / CHUNK];

    if (!*c) {
        *c = axe_alloc_forever(r->cx, sizeof **c);
        memset((*c)->data, 0xff, CHUNK);
    }
    return *c;
}

static float
get(axe_type t, const void *at)
{
    return axe_type_table[t].cls == AXE_CLASS_FLOAT
               ? (float)axe_number_get(t, at)
               : (float)axe_number_get_int(t, at);
}

/* To integers: nearest, ties to even; what is beyond becomes the last one. */
static void
put(axe_type t, void *at, float x)
{
    int bits = axe_type_table[t].bits;

    if (axe_type_table[t].cls == AXE_CLASS_FLOAT) {
        axe_number_put(t, at, (double)x);
        return;
    }
    bool   sign = axe_type_table[t].cls == AXE_CLASS_INT;
    double most = ldexp(1, sign ? bits - 1 : bits) - 1;
    double least = sign ? -most - 1 : 0, y = rint((double)x);
    axe_number_put_int(t, at,
                       isnan(y) ? 0 : (int64_t)fmax(least, fmin(most, y)));
}

static axe_status
not_there(trn_run *r, const trn_instr *in, int arg, uint32_t owner,
          int64_t part, int64_t byte)
{
    const trn_place *p = &in->p[arg];
    axe_span         at = in->step->value[arg].at;
    int              by = r->owner[owner];

    if (owner == 0)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "byte %" PRId64 " of partition %" PRId64
                        " of %s is read, and nobody wrote it",
                        byte - p->tile->byte, part - p->tile->part,
                        p->tensor->name);
    if (owner < p->tile->id)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "%s is read, and since it was declared nobody wrote "
                        "byte %" PRId64 " of partition %" PRId64
                        "; there is what %s left",
                        p->tensor->name, byte - p->tile->byte,
                        part - p->tile->part, r->t->tensor[by].name);
    return axe_fail(r->cx, at, AXE_ESHAPE,
                    "byte %" PRId64 " of partition %" PRId64
                    " of %s is read, and %s has overwritten it",
                    byte - p->tile->byte, part - p->tile->part, p->tensor->name,
                    r->t->tensor[by].name);
}

axe_status
trn_load(trn_run *r, const trn_instr *in, int arg, float *out)
{
    const trn_place *p = &in->p[arg];

    for (int64_t k = 0; k < p->n_part; k++)
        for (int64_t i = 0; i < p->n; i++) {
            int64_t at =
                p->first +
                trn_step(p, i) * (p->memory == AXE_TRN_HBM ? 1 : p->width);
            if (p->memory == AXE_TRN_HBM) {
                at = (at + k * p->part_stride) * p->width;
                *out++ = get(p->type, p->tile->data + at);
                continue;
            }
            trn_chunk *c = chunk(r, p->memory, p->part + k, at);
            for (int64_t b = at % CHUNK; b < at % CHUNK + p->width; b++)
                if (c->owner[b] != p->tile->id)
                    return not_there(r, in, arg, c->owner[b], p->part + k, at);
            *out++ = get(p->type, c->data + at % CHUNK);
        }
    return AXE_OK;
}

void
trn_store(trn_run *r, const trn_place *p, const float *value)
{
    for (int64_t k = 0; k < p->n_part; k++)
        for (int64_t i = 0; i < p->n; i++) {
            int64_t step = trn_step(p, i);
            if (p->memory == AXE_TRN_HBM) {
                int64_t at = p->first + step + k * p->part_stride;
                put(p->type, p->tile->data + at * p->width, *value++);
                continue;
            }
            int64_t    at = p->first + step * p->width;
            trn_chunk *c = chunk(r, p->memory, p->part + k, at);
            for (int64_t b = at % CHUNK; b < at % CHUNK + p->width; b++)
                c->owner[b] = p->tile->id;
            put(p->type, c->data + at % CHUNK, *value++);
        }
}
