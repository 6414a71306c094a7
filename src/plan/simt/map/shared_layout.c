/* shared_layout.c - layouts of shared tiles that no contraction reads.
 *
 * What costs is banks (access_cost.c): how many cycles the accesses of all
 * statements that touch the tile take, by the addresses that the lanes of a
 * warp would give. Row-major comes first, then chunks of a vector's width
 * exchanged within rows by some of the bits above (swizzles), then rows with
 * padding; the cheapest is taken, of equals the first. */
#include <inttypes.h>

#include "ir/stmt.h"
#include "machine/thread_rows.h"
#include "move/banks.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/team/team.h"

enum { MAX_CANDIDATE = 32, RUN_TIME = 1024 };

/* --------------------------------------------------------------------- cost */

static axe_status
cost_stmt(axe_planner *p, const axe_stmt *s, const axe_tensor *t, double *cost)
{
    axe_request r;
    axe_work    w;

    AXE_TRY(axe_request_make(p, s, &r));
    AXE_TRY(axe_simt_distribute(p, &r, p->simt->who[s->id], &w));
    for (int i = 0; i < r.n_operand; i++) {
        axe_simt_access a;
        if (r.operand[i].tensor != t)
            continue;
        AXE_TRY(axe_simt_plan_access(p, &r, &w, &r.operand[i], i == 0, &a));
        axe_banks b = axe_simt_banks(p, &w, &r.operand[i], a.width);
        *cost += (double)b.cycles *
                 axe_simt_invocations(&r, &r.operand[i], p, a.width);
    }
    return AXE_OK;
}

static axe_status
cost_body(axe_planner *p, int n, axe_stmt *const *body, const axe_tensor *t,
          double *cost)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX &&
            (axe_stmt_reads(s, t) || axe_stmt_writes(s, t)))
            AXE_TRY(cost_stmt(p, s, t, cost));
        AXE_TRY(cost_body(p, s->n_body, s->body, t, cost));
        AXE_TRY(cost_body(p, s->n_other, s->other, t, cost));
    }
    return AXE_OK;
}

/* --------------------------------------------------------------- candidates */

typedef struct candidate {
    const axe_layout *layout;
    const char       *why;
} candidate;

static void
add(candidate *list, int *n, const axe_layout *l, const char *why)
{
    if (*n < MAX_CANDIDATE)
        list[(*n)++] = (candidate){l, why};
}

/* Chunks of a vector, 2^bits of a row, exchanged by the bits `shift` above. */
static void
add_swizzles(axe_planner *p, const axe_layout *plain, int64_t bytes,
             candidate *list, int *n)
{
    int base = 0;

    while (1 << (base + 1) <= p->mc->simt->max_vector)
        base++;
    for (int bits = 3; bits > 0; bits--)
        for (int shift = bits; INT64_C(1) << (base + shift + bits) <= bytes;
             shift++) {
            axe_swizzle       s = {bits, base, shift, 8};
            const axe_layout *l;
            if (axe_layout_swizzled(p->cx, plain, s, &l) == AXE_OK)
                add(list, n, l,
                    axe_textf(p->cx,
                              "auto: row-major, chunks of %d bytes "
                              "exchanged so that banks do not clash",
                              1 << base));
        }
}

/* Rows `more` elements longer. */
static bool
padded(axe_planner *p, const axe_tensor *t, int64_t more,
       const axe_layout **out)
{
    axe_shape s = axe_shape_of_tile(p->cx, t);
    int64_t  *stride = axe_new_array(p->cx, int64_t, s.n + 1);
    int64_t   at = 1;

    for (int d = s.n - 1; d >= 0; d--) {
        stride[d] = at;
        if (!axe_mul(at, s.extent[d], &at))
            return false;
        at += d == s.n - 1 ? more : 0;
    }
    return axe_layout_strided(p->cx, s, stride, out) == AXE_OK;
}

static void
add_padded(axe_planner *p, const axe_tensor *t, candidate *list, int *n)
{
    int64_t           bits = axe_type_table[t->type].bits;
    int64_t           vector = axe_simt_vector(p->mc, t->type);
    int64_t           word = p->mc->simt->bank_bytes * 8 / bits;
    const axe_layout *l;

    for (int64_t more = vector; more > 0; more /= 2)
        if (more >= word && padded(p, t, more, &l))
            add(list, n, l,
                axe_textf(p->cx, "auto: row-major, rows padded by %" PRId64,
                          more));
}

/* ------------------------------------------------------------------- choice */

static axe_status
choose(axe_planner *p, const axe_tensor *t)
{
    candidate  list[MAX_CANDIDATE];
    int        n = 0, best = 0;
    double     least = 0;
    axe_place *pl = &p->place[t->id];
    int64_t    size = axe_type_table[t->type].bits / 8, bytes;

    add(list, &n, pl->layout, pl->why);
    if (t->rank < 2 || size == 0 || !axe_mul(pl->layout->size, size, &bytes))
        return AXE_OK;
    add_swizzles(p, pl->layout, bytes, list, &n);
    add_padded(p, t, list, &n);
    for (int i = 0; i < n; i++) {
        double cost = 0;
        pl->layout = list[i].layout;
        AXE_TRY(cost_body(p, p->kernel->n_body, p->kernel->body, t, &cost));
        if (i == 0 || cost < 0.999 * least) {
            least = cost;
            best = i;
        }
    }
    axe_simt_settle(p, t, list[best].layout, list[best].why);
    return AXE_OK;
}

axe_status
axe_simt_choose_tiles(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        const axe_tensor *t = p->place[i].tensor;
        if (t && p->simt->open[i] && t->space == AXE_SPACE_SHARED)
            AXE_TRY(choose(p, t));
    }
    return AXE_OK;
}
