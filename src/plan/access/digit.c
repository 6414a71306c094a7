/* digit.c - cutting index variables into digits that every operand agrees on.
 *
 * An operand's layout breaks a variable at certain weights (the products of
 * the extents of its faster iters).  The common refinement of all operands'
 * breaks, and of those the schedule asks for, gives digits along which every
 * address moves by one constant stride.  It exists iff the weights form a
 * divisibility chain (docs/layout.md, grouping). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"

enum { MAX_CUT = 64 };

static void
add_cut(int64_t *cut, int *n, int64_t w)
{
    int i = 0;

    while (i < *n && cut[i] < w)
        i++;
    if ((i < *n && cut[i] == w) || *n == MAX_CUT)
        return;
    for (int k = (*n)++; k > i; k--)
        cut[k] = cut[k - 1];
    cut[i] = w;
}

bool
axe_plan_cut(axe_planner *p, const axe_request *r, const axe_dim *d,
             int n_extra, const int64_t *extra, int *n_digit, axe_digit **digit)
{
    int64_t    cut[MAX_CUT], extent = axe_dim_extent(d);
    int        n = 0;
    axe_digit *out;

    add_cut(cut, &n, 1);
    if (extent == 0) {
        *digit = axe_new(p->cx, axe_digit);
        **digit = (axe_digit){d->var, 1, 0};
        *n_digit = 1;
        return true;
    }
    for (int i = 0; i < r->n_operand; i++)
        for (int t = 0; t < r->operand[i].n_term; t++) {
            const axe_term *term = &r->operand[i].term[t];
            int64_t         w = 1;
            for (int k = term->n_iter - 1; term->var == d->var && k > 0; k--)
                add_cut(cut, &n, w *= term->iter[k].extent);
        }
    for (int i = 0; i < n_extra; i++)
        if (extra[i] < extent)
            add_cut(cut, &n, extra[i]);
    add_cut(cut, &n, extent);
    for (int i = 1; i < n; i++)
        if (cut[i] % cut[i - 1] != 0)
            return false;
    out = axe_new_array(p->cx, axe_digit, n);
    *n_digit = n > 1 ? n - 1 : 1;
    out[0] = (axe_digit){d->var, 1, 1};
    for (int i = 1; i < n; i++)
        out[n - 1 - i] = (axe_digit){d->var, cut[i - 1], cut[i] / cut[i - 1]};
    *digit = out;
    return true;
}

/* n steps of `word` of the term's variable as one iter; false if they are not.
 */
static bool
term_steps(const axe_term *t, int64_t word, int64_t n, axe_iter *out)
{
    int             last = t->n_iter - 1;
    const axe_iter *it = &t->iter[last];

    if (it->extent == word && word > 1 && last > 0) {
        it--;
        word = 1;
    }
    if (it->extent % word != 0 || (it->extent != 0 && it->extent / word < n))
        return false;
    *out = (axe_iter){n, it->stride * word, AXE_AXIS_M, it->unit};
    return true;
}

bool
axe_fast_iter(const axe_operand *op, const axe_var *v, int64_t word, int64_t n,
              axe_iter *out)
{
    axe_iter sum = {n, 0, AXE_AXIS_M, AXE_UNIT_ONE}, it;

    for (int i = 0; i < op->n_term; i++) {
        const axe_term *t = &op->term[i];
        if (t->var != v || t->n_iter == 0)
            continue;
        if (!term_steps(t, word, n, &it) ||
            (sum.stride != 0 && sum.unit != it.unit))
            return false;
        sum.stride += it.stride;
        sum.unit = it.unit;
    }
    *out = sum;
    return true;
}

bool
axe_fast_layout(axe_planner *p, const axe_operand *op, const axe_var *v,
                int64_t n, const axe_layout **out)
{
    axe_iter it;

    return axe_fast_iter(op, v, 1, n, &it) &&
           axe_layout_of_iters(p->cx, 1, &it, out) == AXE_OK;
}

/* Are the elements as far apart as the atom takes them? */
static bool
picks(axe_planner *p, const axe_atom *a, int lanes, const axe_layout *mem)
{
    const axe_layout *want;
    const char       *roles;

    if (mem->n_shard != 1 || mem->shard[0].extent != lanes)
        return false;
    return strchr(a->a, 'S') ||
           (axe_atom_layout(p->cx, a->a, lanes, 1, &roles, &want) == AXE_OK &&
            mem->shard[0].stride == want->shard[0].stride &&
            mem->shard[0].unit == AXE_UNIT_ONE);
}

bool
axe_atom_joins(axe_planner *p, const axe_atom *a, int lanes, int group,
               const axe_layout *mem, const axe_layout *reg)
{
    bool load = a->kind != AXE_ATOM_STORE && a->kind != AXE_ATOM_STORE_PART;
    bool same = true;
    const axe_layout *want, *have, *outer;
    const char       *roles;
    int64_t           n = (int64_t)lanes * group;
    axe_shape         shape = {1, &n};
    axe_mark          m = axe_ctx_mark(p->cx);
    if (a->kind == AXE_ATOM_GATHER || a->kind == AXE_ATOM_GATHER_PART)
        return group == 1 && !reg && picks(p, a, lanes, mem);
    bool ok =
        axe_atom_layout(p->cx, load ? a->a : a->d, lanes, group, &roles,
                        &want) == AXE_OK &&
        axe_layout_tile_of(p->cx, mem, shape, want, shape, &outer) == AXE_OK;

    if (ok && reg)
        ok = axe_atom_layout(p->cx, load ? a->d : a->a, lanes, group, &roles,
                             &have) == AXE_OK &&
             axe_layout_equal(p->cx, have, reg, &same) == AXE_OK && same;
    axe_ctx_release(p->cx, m);
    return ok;
}

const axe_atom *
axe_find_move(axe_planner *p, axe_atom_kind kind, int lanes, int group,
              const axe_layout *mem, const axe_layout *reg)
{
    const axe_atom *best = NULL;

    for (int i = 0; i < p->mc->n_atom; i++) {
        const axe_atom *a = &p->mc->atom[i];
        if (a->kind == kind && !a->slow && (!best || a->cost < best->cost) &&
            axe_machine_has(p->mc, a) &&
            axe_atom_joins(p, a, lanes, group, mem, reg))
            best = a;
    }
    return best;
}

void
axe_rejected(axe_planner *p, axe_request *r, const char *what, const char *fmt,
             ...)
{
    va_list ap;
    char    text[256];

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (r->n_reject < AXE_LEN(r->reject))
        r->reject[r->n_reject++] =
            (axe_reject){what, axe_textf(p->cx, "%s", text)};
}

const axe_reject *
axe_rejects_kept(axe_ctx *cx, const axe_request *r)
{
    axe_reject *kept = axe_new_array(cx, axe_reject, r->n_reject + 1);

    memcpy(kept, r->reject, (size_t)r->n_reject * sizeof kept[0]);
    return kept;
}
