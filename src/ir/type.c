/* type.c - the tables of the IR: types, operations, and names of the rest.
 *
 * What widens without a cast follows from the formats alone: a type goes into
 * another of its class iff every value of it is a value of the other. */
#include <math.h>
#include <string.h>

#include "ir/ir.h"

const axe_type_info axe_type_table[AXE_N_TYPE] = {
#define TYPE(name, bits, class, accum, npy)                                    \
    {#name, bits, AXE_CLASS_##class, AXE_TYPE_##accum, npy},
#include "ir/types.def"
};

enum {
    LEAF = AXE_TRAIT_LEAF,
    INT = AXE_TRAIT_INT,
    ARITH = AXE_TRAIT_ARITH,
    CMP = AXE_TRAIT_CMP,
    FLOATS = AXE_TRAIT_FLOATS,
    BOOLS = AXE_TRAIT_BOOLS,
    COMM = AXE_TRAIT_COMM,
    INTS = AXE_TRAIT_INTS,
    TESTS = AXE_TRAIT_TESTS
};

const axe_op_info axe_op_table[AXE_N_OP] = {
#define OP(name, args, traits, text, ulp) {text, args, traits, ulp},
#include "ir/ops.def"
};

/* Bits of exponent and of mantissa without the hidden one; 0, 0: no float. */
static const struct {
    int exponent, mantissa;
} float_format[AXE_N_TYPE] = {
    [AXE_TYPE_f64] = {11, 52},  [AXE_TYPE_f32] = {8, 23},
    [AXE_TYPE_tf32] = {8, 10},  [AXE_TYPE_f16] = {5, 10},
    [AXE_TYPE_bf16] = {8, 7},   [AXE_TYPE_f8e4m3] = {4, 3},
    [AXE_TYPE_f8e5m2] = {5, 2}, [AXE_TYPE_f8e8m0] = {8, 0},
    [AXE_TYPE_f4e2m1] = {2, 1},
};

bool
axe_type_find(const char *name, axe_type *out)
{
    for (int t = 0; t < AXE_N_TYPE; t++)
        if (strcmp(axe_type_table[t].name, name) == 0) {
            *out = (axe_type)t;
            return true;
        }
    return false;
}

bool
axe_type_is_float(axe_type t)
{
    return axe_type_table[t].cls == AXE_CLASS_FLOAT;
}

static bool
is_int(axe_type t)
{
    return axe_type_table[t].cls == AXE_CLASS_INT ||
           axe_type_table[t].cls == AXE_CLASS_UINT;
}

/* e8m0 has 2^-127, which only a longer mantissa can hold as a subnormal. */
static bool
float_widens(axe_type from, axe_type to)
{
    if (from == AXE_TYPE_f8e8m0)
        return to == AXE_TYPE_f32 || to == AXE_TYPE_f64;
    return float_format[from].exponent <= float_format[to].exponent &&
           float_format[from].mantissa <= float_format[to].mantissa;
}

bool
axe_type_widens(axe_type from, axe_type to)
{
    const axe_type_info *a = &axe_type_table[from], *b = &axe_type_table[to];

    if (from == to)
        return true;
    if (axe_type_is_float(from) && axe_type_is_float(to))
        return float_widens(from, to);
    if (!is_int(from) || !is_int(to))
        return false;
    if (a->cls == b->cls)
        return a->bits < b->bits;
    return a->cls == AXE_CLASS_UINT && a->bits < b->bits;
}

bool
axe_type_fits(axe_type t, int64_t v)
{
    const axe_type_info *info = &axe_type_table[t];

    if (info->cls == AXE_CLASS_FLOAT || info->bits == 64)
        return true;
    if (info->cls == AXE_CLASS_BOOL)
        return v == 0 || v == 1;
    if (info->cls == AXE_CLASS_UINT)
        return 0 <= v && v < INT64_C(1) << info->bits;
    return -(INT64_C(1) << (info->bits - 1)) <= v &&
           v < INT64_C(1) << (info->bits - 1);
}

const axe_space_row axe_space_table[AXE_N_SPACE] = {
#define SPACE(id, word, slow, fast, pitch, operand, owner, room)               \
    {#word, slow, fast, pitch, AXE_SCOPE_##owner},
#include "ir/spaces.def"
};

const axe_space_row axe_space_parts[AXE_N_SPACE] = {
#define PARTS(id, slow, fast, pitch)                                           \
    [AXE_SPACE_##id] = {#id, slow, fast, pitch, AXE_SCOPE_CTA},
#include "ir/spaces.def"
};

const char *
axe_space_name(axe_space s)
{
    return (unsigned)s < AXE_N_SPACE ? axe_space_table[s].name : "?";
}

const char *
axe_scope_name(axe_scope_kind s)
{
    static const char *const name[] = {
#define SCOPE(name, text) text,
#include "ir/scopes.def"
    };

    return (unsigned)s < AXE_N_SCOPE ? name[s] : "?";
}

const char *
axe_dir_name(axe_dir d)
{
    static const char *const name[] = {"", "in", "out", "inout"};

    return (unsigned)d < AXE_LEN(name) ? name[d] : "?";
}

const char *
axe_fold_text(axe_fold fold)
{
    static const char *const text[] = {"", "+", "*", "max", "min"};

    return (unsigned)fold < AXE_LEN(text) ? text[fold] : "?";
}

const char *
axe_fold_name(axe_fold fold)
{
    static const char *const name[] = {"", "sum", "prod", "max", "min"};

    return (unsigned)fold < AXE_LEN(name) ? name[fold] : "?";
}

int
axe_type_per_byte(axe_type t)
{
    return axe_type_table[t].bits < 8 ? 8 / axe_type_table[t].bits : 1;
}

int64_t
axe_type_bytes(axe_type t, int64_t n)
{
    int bits = axe_type_table[t].bits;

    return bits < 8 ? n / axe_type_per_byte(t) : n * (bits / 8);
}

double
axe_type_max(axe_type t)
{
    int e = float_format[t].exponent, m = float_format[t].mantissa;

    switch (t) {
    case AXE_TYPE_f8e4m3:
        return 448;
    case AXE_TYPE_f4e2m1:
        return 6;
    default:
        return (2 - ldexp(1, -m)) * ldexp(1, (1 << (e - 1)) - 1);
    }
}
