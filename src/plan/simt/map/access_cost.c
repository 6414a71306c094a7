/* access_cost.c - what one access of a warp costs: banks, sectors and lines, by
 * the addresses that its lanes give. */
#include "move/banks.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/team/team.h"

enum { RUN_TIME = 1024 };

/* The address [elements] that a lane gives, all else 0. */
static int64_t
lane_address(axe_planner *p, const axe_work *w, const axe_operand *op, int lane)
{
    axe_move  *m = axe_new_array(p->cx, axe_move, axe_operand_n_iter(op) + 1);
    axe_affine base;
    int64_t    at = axe_affine_of(p->cx, op->base, &base) ? base.constant : 0;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        if (d->axis != p->simt->lane)
            continue;
        int64_t v = lane / d->stride % d->of.extent;
        int     n = axe_operand_moves(op, &d->of, m);
        for (int k = 0; k < n; k++)
            at += (m[k].extent ? v / m[k].over % m[k].extent : v / m[k].over) *
                  m[k].stride.coef *
                  (m[k].stride.unit == AXE_UNIT_ONE ? 1 : RUN_TIME);
    }
    return at;
}

axe_banks
axe_simt_banks(axe_planner *p, const axe_work *w, const axe_operand *op,
               int width)
{
    const axe_place *pl = &p->place[op->tensor->id];
    int64_t          bits = axe_type_table[pl->type].bits;
    int              lanes = p->simt->lanes;
    int64_t         *at = axe_new_array(p->cx, int64_t, lanes);
    axe_swizzle      s = axe_simt_swizzle(pl);

    for (int i = 0; i < lanes; i++) {
        at[i] = axe_simt_is_parted(p, op->tensor)
                    ? i * bits * width / 8
                    : lane_address(p, w, op, i) * bits / 8;
        if (s.bits > 0)
            at[i] = axe_swizzle_apply(s, at[i]);
    }
    return axe_banks_of(p->mc->simt, lanes, at, bits * width / 8);
}

int
axe_simt_sectors(axe_planner *p, const axe_work *w, const axe_operand *op,
                 int width)
{
    int64_t  size = axe_type_table[op->tensor->type].bits / 8;
    int64_t  of = p->mc->simt->sector_bytes, used = 0;
    int      lanes = p->simt->lanes, n = 0;
    int64_t *seen = axe_new_array(p->cx, int64_t, lanes * (1 + width));

    for (int i = 0; i < lanes; i++)
        for (int k = 0; k < width; k++) {
            int64_t sector = (lane_address(p, w, op, i) + k) * size / of;
            int     j = 0;
            while (j < n && seen[j] != sector)
                j++;
            if (j == n)
                seen[n++] = sector;
        }
    for (int i = 0; i < lanes; i++) {
        int64_t at = lane_address(p, w, op, i);
        bool    old = false;
        for (int k = 0; k < i; k++)
            old = old || lane_address(p, w, op, k) == at;
        used += old ? 0 : width * size;
    }
    return (int)(used / n);
}

double
axe_simt_invocations(const axe_request *r, const axe_operand *op,
                     const axe_planner *p, int width)
{
    double n = 1;

    for (int k = 0; k < r->n_nest; k++)
        for (int i = 0; i < r->nest[k].n_dim; i++) {
            int64_t e = axe_dim_extent(&r->nest[k].dim[i]);
            if (axe_operand_depends(op, r->nest[k].dim[i].var))
                n *= e ? (double)e : RUN_TIME;
        }
    return n / p->simt->lanes / width;
}

/* Lines, as wide as all banks, that one access of a warp goes to. */
static int
lines_of(axe_planner *p, const axe_work *w, const axe_operand *op, int width)
{
    const axe_simt *m = p->mc->simt;
    int64_t         size = axe_type_table[op->tensor->type].bits / 8;
    int64_t         line = (int64_t)m->banks * m->bank_bytes, at;
    int64_t        *seen = axe_new_array(p->cx, int64_t, p->simt->lanes);
    int             n = 0, k;

    for (int i = 0; i < p->simt->lanes; i++) {
        at = lane_address(p, w, op, i) * size / line;
        for (k = 0; k < n && seen[k] != at; k++)
            ;
        seen[k] = at;
        n += k == n;
    }
    at = (int64_t)p->simt->lanes * width * size / line;
    return n > at ? n : (int)at;
}

double
axe_simt_line_cycles(axe_planner *p, const axe_request *r, const axe_work *w,
                     const axe_operand *op, int width)
{
    return axe_simt_invocations(r, op, p, width) * lines_of(p, w, op, width);
}
