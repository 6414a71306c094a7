/* by_lane.c - what differs from lane to lane, as expressions of the lane.
 *
 * A set of lanes is a digit of the lane's number, if one tells it from the
 * others that count, or else ranges of lanes.  An integer is a sum of digits
 * where it is linear in the bits of the lane, or else the lane plus one of a
 * few differences. */
#include "lower/simt/by_lane.h"

#include <assert.h>
#include <string.h>

#include "lower/simt/node.h"

/* lane / stride % extent */
static const axe_node *
digit(axe_simt_lowering *sl, int stride, int extent)
{
    const axe_node *n = axe_simt_id(sl, AXE_ID_LANE);

    if (stride > 1)
        n = op2(sl, AXE_OP_div, n, number(sl, stride));
    if (stride * extent < sl->sp->lanes)
        n = op2(sl, AXE_OP_mod, n, number(sl, extent));
    return n;
}

/* --------------------------------------------------------------------- sets */

/* Lanes whose digit is v. */
static axe_lane_set
lanes_with(int lanes, int stride, int extent, int v)
{
    axe_lane_set set = 0;

    for (int l = 0; l < lanes; l++)
        if (l / stride % extent == v)
            set |= AXE_ONE_LANE(l);
    return set;
}

/* The digit that tells the set, or all but it; NULL: none does. */
static const axe_node *
test_digit(axe_simt_lowering *sl, axe_lane_set set, axe_lane_set care)
{
    int lanes = sl->sp->lanes;

    for (int e = 2; e <= lanes; e++)
        for (int s = 1; s < lanes; s++)
            for (int v = 0; v < e && s * v < lanes; v++) {
                axe_lane_set all = lanes_with(lanes, s, e, v) & care;
                if (all == (set & care))
                    return op2(sl, AXE_OP_eq, digit(sl, s, e), number(sl, v));
                if (all == (~set & care))
                    return op2(sl, AXE_OP_ne, digit(sl, s, e), number(sl, v));
            }
    return NULL;
}

/* begin <= lane < end */
static const axe_node *
test_range(axe_simt_lowering *sl, int begin, int end)
{
    const axe_node *lane = axe_simt_id(sl, AXE_ID_LANE), *in = NULL;

    if (begin > 0)
        in = op2(sl, AXE_OP_le, number(sl, begin), lane);
    if (end < sl->sp->lanes)
        in = axe_simt_both(sl, in, op2(sl, AXE_OP_lt, lane, number(sl, end)));
    return in;
}

const axe_node *
axe_by_lane_set(axe_simt_lowering *sl, axe_lane_set set, axe_lane_set care)
{
    int             lanes = sl->sp->lanes;
    const axe_node *any = NULL;

    if ((care & ~set) == 0)
        return NULL;
    any = test_digit(sl, set, care);
    if (any)
        return any;
    for (int l = 0; l < lanes; l++) {
        int begin = l;
        while (l < lanes && (set >> l & 1))
            l++;
        if (l == begin)
            continue;
        const axe_node *in = test_range(sl, begin, l);
        any = any ? op2(sl, AXE_OP_or, any, in) : in;
    }
    assert(any);
    return any;
}

/* ------------------------------------------------------------------ choices */

/* The choice that is told from the others that are left by one digit, or the
 * first. */
static int
simplest(axe_simt_lowering *sl, int n, const axe_lane_choice *c,
         axe_lane_set left)
{
    axe_mark m = axe_ctx_mark(sl->lw.cx);
    int      best = 0;

    for (int i = n - 1; i >= 0; i--)
        if (test_digit(sl, c[i].lanes, left))
            best = i;
    axe_ctx_release(sl->lw.cx, m);
    return best;
}

const axe_node *
axe_by_lane_choose(axe_simt_lowering *sl, int n, const axe_lane_choice *choice)
{
    axe_ctx         *cx = sl->lw.cx;
    axe_lane_choice *c = axe_new_array(cx, axe_lane_choice, n);
    axe_lane_set     left = 0;
    axe_lane_choice  first;
    const axe_node  *in, *rest;
    int              k;

    if (n == 1)
        return choice[0].value;
    memcpy(c, choice, (size_t)n * sizeof *c);
    for (int i = 0; i < n; i++)
        left |= c[i].lanes;
    k = simplest(sl, n, c, left);
    first = c[k];
    memmove(c + k, c + k + 1, (size_t)(n - 1 - k) * sizeof *c);
    in = axe_by_lane_set(sl, first.lanes, left);
    rest = axe_by_lane_choose(sl, n - 1, c);
    return axe_node_new(cx, AXE_OP_select, first.value->type, AXE_NOWHERE, 3,
                        (const axe_node *[]){in, first.value, rest});
}

/* ------------------------------------------------------------------ numbers */

/* value[l] = value[0] + the sum of step[b] over the bits b of l? */
static bool
is_linear(int lanes, const int16_t *value, axe_lane_set care, int *step)
{
    if (care != AXE_ALL_LANES(lanes))
        return false;
    for (int b = 0; 1 << b < lanes; b++)
        step[b] = value[1 << b] - value[0];
    for (int l = 0; l < lanes; l++) {
        int sum = value[0];
        for (int b = 0; 1 << b < lanes; b++)
            sum += l >> b & 1 ? step[b] : 0;
        if (sum != value[l])
            return false;
    }
    return true;
}

/* The sum of runs of bits whose steps double. */
static const axe_node *
linear(axe_simt_lowering *sl, int begin, const int *step)
{
    const axe_node *sum = number(sl, begin);

    for (int b = 0; 1 << b < sl->sp->lanes;) {
        int n = 1;
        while (1 << (b + n) < sl->sp->lanes &&
               step[b + n] == step[b] * (1 << n))
            n++;
        if (step[b] != 0)
            sum = axe_sum(&sl->lw, sum,
                          axe_scaled(&sl->lw, digit(sl, 1 << b, 1 << n),
                                     (axe_stride){step[b], AXE_UNIT_ONE}));
        b += n;
    }
    return sum;
}

const axe_node *
axe_by_lane_number(axe_simt_lowering *sl, const int16_t *value,
                   axe_lane_set care)
{
    axe_lane_choice c[2 * AXE_MAX_LANES];
    int             step[AXE_MAX_LANES], n = 0, of[2 * AXE_MAX_LANES] = {0};

    if (is_linear(sl->sp->lanes, value, care, step))
        return linear(sl, value[0], step);
    for (int l = 0; l < sl->sp->lanes; l++) {
        int d = value[l] - l, k = 0;
        if (!(care >> l & 1))
            continue;
        while (k < n && of[k] != d)
            k++;
        if (k == n) {
            of[n] = d;
            c[n++] = (axe_lane_choice){
                axe_sum(&sl->lw, axe_simt_id(sl, AXE_ID_LANE), number(sl, d)),
                0};
        }
        c[k].lanes |= AXE_ONE_LANE(l);
    }
    return n == 0 ? axe_simt_id(sl, AXE_ID_LANE) : axe_by_lane_choose(sl, n, c);
}
