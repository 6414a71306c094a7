/* check.c - what must hold of an instruction before it is executed.
 *
 * Each rule is a function, and an error at the instruction's or the argument's
 * place, with the values that break it. */
#include <inttypes.h>
#include <string.h>

#include "sim/trn/trn_int.h"

static bool
is_out(const trn_instr *in, int i)
{
    return in->arg[i].kind == AXE_TRN_OUT;
}

static axe_status
check_memory(trn_run *r, const trn_instr *in, int i)
{
    const axe_trn_engine_row *e = &axe_trn_engines[in->step->engine];
    const trn_place          *p = &in->p[i];
    unsigned                  bit = 1U << p->memory;
    axe_span                  at = in->step->value[i].at;
    const char               *op = axe_trn_ops[in->step->op].name;

    if ((in->arg[i].memories & bit) == 0)
        return axe_fail(r->cx, at, AXE_ESHAPE, "%s of %s may not be in %s",
                        in->arg[i].name, op, axe_trn_memories[p->memory].word);
    if (((is_out(in, i) ? e->writes : e->reads) & bit) == 0)
        return axe_fail(r->cx, at, AXE_ESHAPE, "the engine %s does not %s %s",
                        e->name, is_out(in, i) ? "write" : "read",
                        axe_trn_memories[p->memory].word);
    if (!axe_trn_type_in(in->arg[i].types, p->type))
        return axe_fail(r->cx, at, AXE_ETYPE, "%s of %s may not be of type %s",
                        in->arg[i].name, op, axe_type_table[p->type].name);
    if (p->memory == AXE_TRN_HBM &&
        p->tensor->access == (is_out(in, i) ? AXE_TRACE_IN : AXE_TRACE_OUT))
        return axe_fail(r->cx, at, AXE_ESHAPE, "%s is %s, and here it is %s",
                        p->tensor->name,
                        is_out(in, i) ? "read only" : "written only",
                        is_out(in, i) ? "written" : "read");
    return AXE_OK;
}

/* Where partitions may begin, and fields of 16 bits. */
static axe_status
check_pattern(trn_run *r, const trn_instr *in, int i)
{
    const trn_place *p = &in->p[i];
    axe_span         at = in->step->value[i].at;
    int              unit = p->n_part > AXE_TRN_HALF       ? TRN_PARTITIONS
                            : p->n_part > AXE_TRN_QUADRANT ? AXE_TRN_HALF
                                                           : AXE_TRN_QUADRANT;

    if (in->step->engine == AXE_TRN_dma)
        return AXE_OK;
    if (p->part % unit != 0)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "%" PRId64 " partitions begin at %" PRId64
                        ", and may at multiples of %d",
                        p->n_part, p->part, unit);
    return trn_fields(r, at, p);
}

static axe_status
bind(trn_run *r, trn_instr *in, int i, char role, int64_t extent)
{
    int64_t *has = &in->role[(unsigned char)role & 127];
    int64_t  most = axe_trn_most(in->step->op, role);

    if (extent > most)
        return axe_fail(r->cx, in->step->value[i].at, AXE_ESHAPE,
                        "%" PRId64 " values of %c; %s takes %" PRId64, extent,
                        role, axe_trn_ops[in->step->op].name, most);
    if (*has != 0 && *has != extent)
        return axe_fail(r->cx, in->step->value[i].at, AXE_ESHAPE,
                        "%s has %" PRId64 " values of %c, and others %" PRId64,
                        in->arg[i].name, extent, role, *has);
    *has = extent;
    return AXE_OK;
}

/* The extents of roles: the first lies on P, the rest share F, where one that
 * no other argument has gets what is left. */
static axe_status
bind_roles(trn_run *r, trn_instr *in, int i)
{
    const trn_place *p = &in->p[i];
    char             role[AXE_TRN_MAX_ROLE + 1];
    int64_t          left = p->n;
    int              n;

    axe_trn_roles(in->arg[i].layout, role);
    n = (int)strlen(role);
    AXE_TRY(bind(r, in, i, role[0], p->n_part));
    for (int k = 1; k < n - 1; k++) {
        int64_t has = in->role[(unsigned char)role[k] & 127];
        if (has == 0 || left % has != 0)
            return axe_fail(r->cx, in->step->value[i].at, AXE_ESHAPE,
                            "%" PRId64 " elements are no multiple of %" PRId64
                            " values of %c",
                            left, has, role[k]);
        left /= has;
    }
    if (n > 1)
        return bind(r, in, i, role[n - 1], left);
    if (left != 1)
        return axe_fail(r->cx, in->step->value[i].at, AXE_ESHAPE,
                        "%s has %" PRId64
                        " elements in a partition, and takes one",
                        in->arg[i].name, left);
    return AXE_OK;
}

/* What an instruction of the tensor engine writes lies in one bank. */
static axe_status
check_bank(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[0];
    int64_t bank = axe_trn_memories[AXE_TRN_PSUM].bank, low = 0, high = 0;

    if (in->step->engine != AXE_TRN_tensor)
        return AXE_OK;
    for (int i = 0; i < p->n_dim; i++)
        *(p->stride[i] < 0 ? &low : &high) +=
            (p->count[i] - 1) * p->stride[i] * p->width;
    int64_t first = (p->first + low) / bank;
    int64_t last = (p->first + high + p->width - 1) / bank;
    if (first != last)
        return axe_fail(r->cx, in->step->value[0].at, AXE_ESHAPE,
                        "the result lies in banks %" PRId64 " to %" PRId64
                        "; it takes one",
                        first, last);
    return AXE_OK;
}

static axe_status
check_function(trn_run *r, const trn_instr *in, int i)
{
    const axe_trn_function_row *f = &axe_trn_functions[in->p[i].function];
    const char                 *name = in->arg[i].name;
    axe_span                    at = in->step->value[i].at;
    bool act = in->step->engine == AXE_TRN_scalar && strcmp(name, "op") == 0;

    if (f->act != act)
        return axe_fail(r->cx, at, AXE_EUNSUPPORTED, "%s of %s may not be %s",
                        name, axe_trn_ops[in->step->op].name, f->name);
    const trn_place *bias = trn_arg(in, "bias");
    if (act && bias && in->p[i].function == AXE_TRN_FN_reciprocal)
        return axe_fail(r->cx, at, AXE_EUNSUPPORTED,
                        "%s of reciprocal takes no bias",
                        axe_trn_ops[in->step->op].name);
    bool fold = strcmp(name, "reduce_op") == 0 ||
                in->step->op == AXE_TRN_OP_tensor_reduce;
    bool sum = in->p[i].function == AXE_TRN_FN_add;
    bool other = in->p[i].function == AXE_TRN_FN_maximum ||
                 in->p[i].function == AXE_TRN_FN_minimum ||
                 in->p[i].function == AXE_TRN_FN_multiply;
    if (fold && !sum &&
        (!other || in->step->op == AXE_TRN_OP_activation_reduce))
        return axe_fail(r->cx, at, AXE_EUNSUPPORTED, "%s does not fold by %s",
                        axe_trn_ops[in->step->op].name, f->name);
    bool compare = in->p[i].function >= AXE_TRN_FN_equal &&
                   in->p[i].function <= AXE_TRN_FN_greater_equal;
    if (strcmp(name, "cmp_op") == 0 && !compare)
        return axe_fail(r->cx, at, AXE_EUNSUPPORTED, "%s compares nothing",
                        f->name);
    return AXE_OK;
}

static axe_status
check_matmul(trn_run *r, const trn_instr *in)
{
    axe_type a = in->p[1].type, b = in->p[2].type;
    bool wide = axe_type_table[a].bits == 32 || axe_type_table[b].bits == 32;

    if (wide && a != b)
        return axe_fail(r->cx, in->step->at, AXE_ETYPE,
                        "%s with %s: f32 and tf32 multiply only with "
                        "themselves",
                        axe_type_table[a].name, axe_type_table[b].name);
    return AXE_OK;
}

/* Rows that indices choose come from device memory to SBUF. */
static axe_status
check_copy(trn_run *r, const trn_instr *in)
{
    const trn_place *p = in->p;

    if (!trn_indices(in) && trn_arg(in, "skip"))
        return axe_fail(r->cx, in->step->at, AXE_ESHAPE,
                        "skip is of transfers with vector_offset");
    if (trn_indices(in) &&
        (p[1].memory != AXE_TRN_HBM || p[0].memory != AXE_TRN_SBUF))
        return axe_fail(r->cx, in->step->at, AXE_ESHAPE,
                        "vector_offset chooses rows of device memory, which go "
                        "to sbuf; here it is %s, and %s",
                        axe_trn_memories[p[1].memory].word,
                        axe_trn_memories[p[0].memory].word);
    return AXE_OK;
}

/* Rules of single instructions. */
static axe_status
check_own(trn_run *r, const trn_instr *in)
{
    axe_trn_op       op = in->step->op;
    const trn_place *p = in->p;

    if (op == AXE_TRN_OP_nc_matmul)
        return check_matmul(r, in);
    if (op == AXE_TRN_OP_dma_copy)
        return check_copy(r, in);
    if ((op == AXE_TRN_OP_nc_transpose || op == AXE_TRN_OP_dma_transpose) &&
        p[0].type != p[1].type)
        return axe_fail(r->cx, in->step->at, AXE_ETYPE,
                        "%s from %s to %s: a transpose keeps the type",
                        axe_trn_ops[op].name, axe_type_table[p[1].type].name,
                        axe_type_table[p[0].type].name);
    if (op == AXE_TRN_OP_nc_transpose && in->step->engine == AXE_TRN_vector &&
        (p[1].n_part > AXE_TRN_VECTOR_SQUARE || p[1].n > AXE_TRN_VECTOR_SQUARE))
        return axe_fail(
            r->cx, in->step->at, AXE_ESHAPE,
            "%" PRId64 " x %" PRId64 "; the vector engine transposes %d x %d",
            p[1].n_part, p[1].n, AXE_TRN_VECTOR_SQUARE, AXE_TRN_VECTOR_SQUARE);
    int second = op == AXE_TRN_OP_tensor_tensor          ? 2
                 : op == AXE_TRN_OP_scalar_tensor_tensor ? 5
                                                         : 0;
    if (second && p[1].memory == AXE_TRN_PSUM &&
        p[second].memory == AXE_TRN_PSUM)
        return axe_fail(r->cx, in->step->at, AXE_ESHAPE,
                        "both operands of %s are in psum; one may be",
                        axe_trn_ops[op].name);
    return AXE_OK;
}

/* tensor_reduce folds whole counts of its pattern, the last ones. */
static axe_status
check_fold(trn_run *r, const trn_instr *in)
{
    const trn_place *p = &in->p[1];
    int64_t          n = 1, fold = in->role['r'];

    if (in->step->op != AXE_TRN_OP_tensor_reduce)
        return AXE_OK;
    for (int i = p->n_dim - 1; i >= 0 && n < fold; i--)
        n *= p->count[i];
    if (n != fold)
        return axe_fail(r->cx, in->step->value[1].at, AXE_ESHAPE,
                        "it folds %" PRId64
                        " elements, which are no last counts of the pattern",
                        fold);
    return AXE_OK;
}

axe_status
trn_check(trn_run *r, trn_instr *in)
{
    if ((axe_trn_ops[in->step->op].engines >> in->step->engine & 1) == 0)
        return axe_fail(r->cx, in->step->at, AXE_EUNSUPPORTED,
                        "the engine %s has no %s",
                        axe_trn_engines[in->step->engine].name,
                        axe_trn_ops[in->step->op].name);
    for (int i = 0; i < in->n; i++) {
        if (in->p[i].kind == AXE_TRACE_FUNCTION)
            AXE_TRY(check_function(r, in, i));
        if (in->p[i].kind != AXE_TRACE_TILE)
            continue;
        AXE_TRY(check_memory(r, in, i));
        AXE_TRY(check_pattern(r, in, i));
        AXE_TRY(bind_roles(r, in, i));
    }
    AXE_TRY(check_fold(r, in));
    AXE_TRY(check_bank(r, in));
    return check_own(r, in);
}
