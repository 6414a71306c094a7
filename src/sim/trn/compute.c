/* compute.c - what instructions compute.
 *
 * Operands become f32, results are rounded once, to nearest, ties to even, as
 * they are written.  A product is summed in f32, in the order of partitions,
 * then added to what PSUM has: the hardware's order is not published. */
#include <math.h>
#include <string.h>

#include "sim/trn/trn_int.h"

static float
apply(axe_trn_function f, float x, float y)
{
    switch (f) {
#define FUNCTION(id, who, arguments, value)                                    \
    case AXE_TRN_FN_##id:                                                      \
        return value;
#include "machine/trainium/functions.def"
    case AXE_TRN_N_FUNCTION:
        break;
    }
    return NAN;
}

static float *
room(trn_run *r, const trn_place *p)
{
    return axe_new_array(r->cx, float, p->n_part * p->n);
}

/* The values of an argument; NULL in *out: it is not given, or a number. */
static axe_status
load(trn_run *r, const trn_instr *in, const char *name, float **out)
{
    *out = NULL;
    for (int i = 0; i < in->n; i++)
        if (strcmp(in->arg[i].name, name) == 0 &&
            in->p[i].kind == AXE_TRACE_TILE) {
            *out = room(r, &in->p[i]);
            return trn_load(r, in, i, *out);
        }
    return AXE_OK;
}

static bool
flag(const trn_instr *in, const char *name)
{
    const trn_place *p = trn_arg(in, name);

    return p && p->number != 0;
}

static axe_status
matmul(trn_run *r, const trn_instr *in)
{
    int64_t k_n = in->role['k'], m_n = in->role['m'], n_n = in->role['n'];
    float  *a, *b, *d;

    AXE_TRY(load(r, in, "stationary", &a));
    AXE_TRY(load(r, in, "moving", &b));
    d = room(r, &in->p[0]);
    for (int64_t k = 0; k < k_n; k++)
        for (int64_t m = 0; m < m_n; m++)
            for (int64_t n = 0; n < n_n; n++)
                d[m * n_n + n] += a[k * m_n + m] * b[k * n_n + n];
    if (!in->overwrite) {
        float *old = room(r, &in->p[0]);
        AXE_TRY(trn_load(r, in, 0, old));
        for (int64_t i = 0; i < m_n * n_n; i++)
            d[i] = old[i] + d[i];
    }
    trn_store(r, &in->p[0], d);
    return AXE_OK;
}

static axe_status
transpose(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[1];
    float           *a = room(r, p), *d = room(r, p);

    AXE_TRY(trn_load(r, in, 1, a));
    for (int64_t i = 0; i < p->n_part; i++)
        for (int64_t j = 0; j < p->n; j++)
            d[j * p->n_part + i] = a[i * p->n + j];
    trn_store(r, &in->p[0], d);
    return AXE_OK;
}

/* The value of a column's argument in a partition; `other` if there is none. */
static float
column(const trn_instr *in, const char *name, const float *tile, int64_t part,
       float other)
{
    const trn_place *p = trn_arg(in, name);

    return tile ? tile[part] : p ? (float)p->number : other;
}

static float
turn(axe_trn_function f, float x, float y, bool reverse)
{
    return reverse ? apply(f, y, x) : apply(f, x, y);
}

/* What is folded of each partition's n results goes to reduce_res. */
static void
fold(trn_run *r, const trn_instr *in, const float *d)
{
    const trn_place *res = trn_arg(in, "reduce_res");
    const trn_place *op = trn_arg(in, "reduce_op");
    int64_t          n = in->p[0].n;

    if (!res)
        return;
    float *s = room(r, res);
    for (int64_t p = 0; p < res->n_part; p++) {
        s[p] = d[p * n];
        for (int64_t i = 1; i < n; i++)
            s[p] = apply(op->function, s[p], d[p * n + i]);
    }
    trn_store(r, res, s);
}

static axe_status
activation(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[0];
    float           *x, *bias, *scale, *d = room(r, p);

    AXE_TRY(load(r, in, "data", &x));
    AXE_TRY(load(r, in, "bias", &bias));
    AXE_TRY(load(r, in, "scale", &scale));
    for (int64_t i = 0; i < p->n_part * p->n; i++) {
        float y = x[i] * column(in, "scale", scale, i / p->n, 1.0F);
        y += column(in, "bias", bias, i / p->n, 0.0F);
        d[i] = apply(trn_arg(in, "op")->function, y, 0.0F);
    }
    trn_store(r, p, d);
    fold(r, in, d);
    return AXE_OK;
}

/* tensor_scalar, with a fold, with a tile as the second operand. */
static axe_status
scalar(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[0], *op1 = trn_arg(in, "op1");
    bool             tile = in->step->op == AXE_TRN_OP_scalar_tensor_tensor;
    float           *x, *a, *b, *d = room(r, p);

    AXE_TRY(load(r, in, "data", &x));
    AXE_TRY(load(r, in, "operand0", &a));
    AXE_TRY(load(r, in, "operand1", &b));
    for (int64_t i = 0; i < p->n_part * p->n; i++) {
        float y = turn(trn_arg(in, "op0")->function, x[i],
                       column(in, "operand0", a, i / p->n, 0.0F),
                       flag(in, "reverse0"));
        if (op1)
            y = turn(op1->function, y,
                     tile ? b[i] : column(in, "operand1", b, i / p->n, 0.0F),
                     flag(in, "reverse1"));
        d[i] = y;
    }
    trn_store(r, p, d);
    fold(r, in, d);
    return AXE_OK;
}

static axe_status
reduce(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[0];
    int64_t          n = in->role['r'];
    float           *x, *d = room(r, p);

    AXE_TRY(load(r, in, "data", &x));
    for (int64_t i = 0; i < p->n_part * p->n; i++) {
        d[i] = x[i * n];
        for (int64_t k = 1; k < n; k++)
            d[i] = apply(trn_arg(in, "op")->function, d[i], x[i * n + k]);
        if (flag(in, "negate"))
            d[i] = -d[i];
    }
    trn_store(r, p, d);
    return AXE_OK;
}

/* Is a number of iota below 2^24, where f32 has all integers? */
static axe_status
counted(trn_run *r, const trn_instr *in, double v)
{
    if (in->p[0].type != AXE_TYPE_f32 ||
        (v > -AXE_TRN_EXACT && v < AXE_TRN_EXACT))
        return AXE_OK;
    axe_fail(r->cx, in->step->at, AXE_ELIMIT,
             "iota comes to %.0f, and f32 counts integers below %d", v,
             AXE_TRN_EXACT);
    axe_help(r->cx, "take arrays of fewer rows, or smaller numbers");
    return AXE_ELIMIT;
}

/* iota and affine_select: a number of partition and element. */
static axe_status
affine(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[0], *index = trn_arg(in, "pattern"), *arg;
    bool             select = in->step->op == AXE_TRN_OP_affine_select;
    float           *x, *d = room(r, p);

    int64_t count = 1;
    for (int i = 0; i < index->n_dim; i++)
        count *= index->count[i] > 0 ? index->count[i] : 0;
    if (count != p->n)
        return axe_fail(r->cx, in->step->at, AXE_ESHAPE,
                        "the pattern has %lld elements, and the result %lld",
                        (long long)count, (long long)p->n);
    double offset = (arg = trn_arg(in, "offset")) ? arg->number : 0;
    double by = (arg = trn_arg(in, "channel_multiplier")) ? arg->number : 0;
    AXE_TRY(load(r, in, "on_true_tile", &x));
    for (int64_t i = 0; i < p->n_part * p->n; i++) {
        double v = offset + by * (double)(i / p->n) +
                   (double)trn_step(index, i % p->n);
        if (!select)
            AXE_TRY(counted(r, in, v));
        d[i] = !select ? (float)v
               : apply(trn_arg(in, "cmp_op")->function, (float)v, 0.0F) != 0.0F
                   ? x[i]
                   : (float)trn_arg(in, "on_false_value")->number;
    }
    trn_store(r, p, d);
    return AXE_OK;
}

/* The row that partition k has an index of, -1: none, and that is allowed.
 * What a negative index does no document says. */
static axe_status
row_of(trn_run *r, const trn_instr *in, int64_t k, double index, int64_t *out)
{
    const trn_place *src = &in->p[1];
    int64_t          n = src->tile->n_byte / src->width / src->part_stride;

    *out = index < (double)n ? (int64_t)index : -1;
    if (index >= 0 && (*out >= 0 || flag(in, "skip")))
        return AXE_OK;
    return axe_fail(r->cx, in->step->value[2].at, AXE_ESHAPE,
                    "partition %lld has the index %.0f of %lld rows of %s",
                    (long long)k, index, (long long)n, src->tensor->name);
}

/* dma_copy by indices: a row for each partition. */
static axe_status
gather(trn_run *r, const trn_instr *in)
{
    trn_instr one = *in; /* partition by partition */
    float    *index, *row = room(r, &in->p[0]);

    AXE_TRY(load(r, in, "vector_offset", &index));
    one.p[0].n_part = one.p[1].n_part = 1;
    for (int64_t k = 0; k < in->p[0].n_part; k++) {
        int64_t at;
        AXE_TRY(row_of(r, in, k, (double)index[k], &at));
        if (at < 0)
            continue;
        one.p[1].first = in->p[1].first + at * in->p[1].part_stride;
        one.p[0].part = in->p[0].part + k;
        AXE_TRY(trn_load(r, &one, 1, row));
        trn_store(r, &one.p[0], row);
    }
    return AXE_OK;
}

/* One or two tiles, element by element. */
static axe_status
each(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[0], *op = trn_arg(in, "op");
    bool             one = in->step->op == AXE_TRN_OP_reciprocal;
    float           *x = room(r, p), *y, *d = room(r, p);

    if (in->step->op == AXE_TRN_OP_memset)
        for (int64_t i = 0; i < p->n_part * p->n; i++)
            x[i] = (float)in->p[1].number;
    else
        AXE_TRY(trn_load(r, in, 1, x));
    AXE_TRY(load(r, in, "data2", &y));
    for (int64_t i = 0; i < p->n_part * p->n; i++)
        d[i] = y ? apply(op->function, x[i], y[i]) : one ? 1.0F / x[i] : x[i];
    trn_store(r, p, d);
    return AXE_OK;
}

static axe_status
compute(trn_run *r, const trn_instr *in)
{
    switch (in->step->op) {
    case AXE_TRN_OP_nc_matmul:
        return matmul(r, in);
    case AXE_TRN_OP_nc_transpose:
    case AXE_TRN_OP_dma_transpose:
        return transpose(r, in);
    case AXE_TRN_OP_activation:
    case AXE_TRN_OP_activation_reduce:
        return activation(r, in);
    case AXE_TRN_OP_tensor_scalar:
    case AXE_TRN_OP_tensor_scalar_reduce:
    case AXE_TRN_OP_scalar_tensor_tensor:
        return scalar(r, in);
    case AXE_TRN_OP_tensor_reduce:
        return reduce(r, in);
    case AXE_TRN_OP_iota:
    case AXE_TRN_OP_affine_select:
        return affine(r, in);
    case AXE_TRN_OP_dma_copy:
        return trn_indices(in) ? gather(r, in) : each(r, in);
    case AXE_TRN_OP_tensor_tensor:
    case AXE_TRN_OP_tensor_copy:
    case AXE_TRN_OP_reciprocal:
    case AXE_TRN_OP_memset:
    case AXE_TRN_N_OP:
        break;
    }
    return each(r, in);
}

axe_status
trn_compute(trn_run *r, trn_instr *in)
{
    axe_mark mark = axe_ctx_mark(r->cx);

    AXE_TRY(compute(r, in));
    axe_ctx_release(r->cx, mark);
    return AXE_OK;
}
