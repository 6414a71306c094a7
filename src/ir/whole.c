/* whole.c - operations on integers, as they are when a kernel runs.
 *
 * One place for the simulator, for folding of constants and for values of
 * sizes.  Integers of up to 64 bits are kept as int64, u64 as its bits; results
 * wrap around to their type. */
#include "ir/ir.h"

int64_t
axe_whole_wrap(axe_type t, int64_t v)
{
    int      bits = axe_type_table[t].bits;
    uint64_t u = (uint64_t)v, sign;

    if (bits == 64 || axe_type_table[t].cls == AXE_CLASS_BOOL)
        return v;
    u &= (UINT64_C(1) << bits) - 1;
    sign = UINT64_C(1) << (bits - 1);
    return (int64_t)(axe_type_table[t].cls == AXE_CLASS_INT ? (u ^ sign) - sign
                                                            : u);
}

/* Rounded to minus infinity; 0 where b is. */
static int64_t
quotient(axe_type t, int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    if (t == AXE_TYPE_u64)
        return (int64_t)((uint64_t)a / (uint64_t)b);
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool
less(axe_type t, int64_t a, int64_t b)
{
    return t == AXE_TYPE_u64 ? (uint64_t)a < (uint64_t)b : a < b;
}

static int64_t
shifted(axe_op op, axe_type t, int64_t a, int64_t b)
{
    int  bits = axe_type_table[t].bits;
    bool in = 0 <= b && b < bits;

    if (op == AXE_OP_shl)
        return in ? (int64_t)((uint64_t)a << b) : 0;
    if (t == AXE_TYPE_u64)
        return in ? (int64_t)((uint64_t)a >> b) : 0;
    return in ? a >> b : a < 0 ? -1 : 0;
}

/* The high 64 bits of a product of 64-bit numbers. */
static uint64_t
high(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t mid = a1 * b0 + (a0 * b0 >> 32), more = a0 * b1 + (uint32_t)mid;

    return a1 * b1 + (mid >> 32) + (more >> 32);
}

static int64_t
product_high(axe_type t, int64_t a, int64_t b)
{
    int      bits = axe_type_table[t].bits;
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b, h;

    if (bits < 64)
        return axe_type_table[t].cls == AXE_CLASS_INT
                   ? a * b >> bits
                   : (int64_t)(ua * ub >> bits);
    h = high(ua, ub);
    if (t != AXE_TYPE_u64)
        h -= (a < 0 ? ub : 0) + (b < 0 ? ua : 0);
    return (int64_t)h;
}

static int64_t
count(axe_op op, axe_type t, int64_t a)
{
    int bits = axe_type_table[t].bits, n = 0, zeros = bits;

    for (int i = 0; i < bits; i++)
        if ((uint64_t)a >> i & 1) {
            n++;
            zeros = bits - 1 - i;
        }
    return op == AXE_OP_popcount ? n : zeros;
}

static bool
compare(axe_op op, axe_type t, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case AXE_OP_eq:
        return *out = a == b, true;
    case AXE_OP_ne:
        return *out = a != b, true;
    case AXE_OP_lt:
        return *out = less(t, a, b), true;
    case AXE_OP_le:
        return *out = !less(t, b, a), true;
    case AXE_OP_and:
        return *out = a && b, true;
    case AXE_OP_or:
        return *out = a || b, true;
    case AXE_OP_not:
        return *out = !a, true;
    default:
        return false;
    }
}

static bool
bits_op(axe_op op, axe_type t, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case AXE_OP_band:
        return *out = a & b, true;
    case AXE_OP_bor:
        return *out = a | b, true;
    case AXE_OP_bxor:
        return *out = a ^ b, true;
    case AXE_OP_bnot:
        return *out = ~a, true;
    case AXE_OP_shl:
    case AXE_OP_shr:
        return *out = shifted(op, t, a, b), true;
    case AXE_OP_mulhi:
        return *out = product_high(t, a, b), true;
    case AXE_OP_popcount:
    case AXE_OP_clz:
        return *out = count(op, t, a), true;
    default:
        return false;
    }
}

static bool
arith(axe_op op, axe_type t, int64_t a, int64_t b, int64_t *out)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    switch (op) {
    case AXE_OP_add:
        return *out = (int64_t)(ua + ub), true;
    case AXE_OP_sub:
        return *out = (int64_t)(ua - ub), true;
    case AXE_OP_mul:
        return *out = (int64_t)(ua * ub), true;
    case AXE_OP_div:
        return *out = quotient(t, a, b), true;
    case AXE_OP_mod:
        return *out = (int64_t)(ua - ub * (uint64_t)quotient(t, a, b)), true;
    case AXE_OP_cdiv:
        a = quotient(t, (int64_t)(0 - ua), b);
        return *out = (int64_t)(0 - (uint64_t)a), true;
    case AXE_OP_min:
        return *out = less(t, b, a) ? b : a, true;
    case AXE_OP_max:
        return *out = less(t, a, b) ? b : a, true;
    case AXE_OP_neg:
        return *out = (int64_t)(0 - ua), true;
    case AXE_OP_sign:
        return *out = a == 0 ? 0 : less(t, a, 0) ? -1 : 1, true;
    case AXE_OP_abs:
        return *out = less(t, a, 0) ? (int64_t)(0 - ua) : a, true;
    default:
        return false;
    }
}

bool
axe_whole_op(axe_op op, axe_type t, const int64_t *arg, int64_t *out)
{
    int64_t a = arg[0], b = axe_op_table[op].n_arg > 1 ? arg[1] : 0;

    if (compare(op, t, a, b, out))
        return true;
    if (!bits_op(op, t, a, b, out) && !arith(op, t, a, b, out))
        return false;
    *out = axe_whole_wrap(t, *out);
    return true;
}
