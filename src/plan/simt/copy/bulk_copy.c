/* bulk_copy.c - copies of one run of neighbours.
 *
 * Where all that a statement moves lies side by side in global memory and in
 * the tile, in the same order, and nothing of it can be outside, one address
 * and a number of bytes say it all: no tensor map is needed, and no box is too
 * long. */
#include <inttypes.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/copy/copy_int.h"

enum { MAX_DIGIT = 24, UNIT_BYTES = 16 };

typedef struct run {
    int     from; /* operand */
    int     n;
    int64_t extent[MAX_DIGIT], stride[MAX_DIGIT];
} run;

static const axe_atom *
find_row(const axe_machine *mc, axe_fold fold, axe_type t, bool in)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *a = &mc->atom[i];
        if (a->kind == AXE_ATOM_COPY && a->by == AXE_SCOPE_THREAD &&
            a->step > 0 && *a->d && a->fold == fold &&
            (a->type[0] == AXE_TYPE_any || a->type[0] == t) &&
            a->space[0] == (in ? AXE_ARG_SHARED : AXE_ARG_GLOBAL) &&
            a->space[1] == (in ? AXE_ARG_GLOBAL : AXE_ARG_SHARED) &&
            a->space[2] == (in ? AXE_ARG_SHARED : AXE_ARG_NONE) &&
            axe_machine_has(mc, a))
            return a;
    }
    return NULL;
}

/* What a step of the digit moves the operand by; false: not by one number. */
static bool
step_of(axe_planner *p, const axe_operand *op, const axe_digit *d, int64_t *out)
{
    axe_move *m = axe_new_array(p->cx, axe_move, axe_operand_n_iter(op) + 1);
    int       n = axe_operand_moves(op, d, m);

    if (n != 1 || m[0].over != 1 ||
        (m[0].extent > 0 && m[0].extent < d->extent) ||
        m[0].stride.unit != AXE_UNIT_ONE)
        return false;
    *out = m[0].stride.coef;
    return true;
}

/* The digits of one index, which both sides walk alike. */
static bool
add_digits(axe_planner *p, const axe_request *r, const axe_dim *dim, run *x)
{
    axe_digit *d;
    int        n;

    if (axe_dim_extent(dim) == 0 || !axe_plan_cut(p, r, dim, 0, NULL, &n, &d) ||
        x->n + n > MAX_DIGIT)
        return false;
    for (int i = 0; i < n; i++) {
        int64_t to, from;
        if (d[i].extent == 1)
            continue;
        if (!step_of(p, &r->operand[0], &d[i], &to) ||
            !step_of(p, &r->operand[x->from], &d[i], &from) || to != from)
            return false;
        x->extent[x->n] = d[i].extent;
        x->stride[x->n++] = to;
    }
    return true;
}

/* Do the digits count 0, 1, 2 ... without a gap?  How many; 0: no. */
static int64_t
length_of(const run *x)
{
    int64_t at = 1;

    for (int k = 0; k < x->n; k++) {
        int i = 0;
        while (i < x->n && x->stride[i] != at)
            i++;
        if (i == x->n || !axe_mul(at, x->extent[i], &at))
            return 0;
    }
    return at;
}

static bool
is_inside(axe_planner *p, const axe_operand *op, int64_t unit)
{
    int64_t v;

    return op->n_guard == 0 && op->n_check == 0 &&
           axe_is_iconst(axe_simt_multiple(p->cx, op->base, unit), &v) && v;
}

bool
axe_simt_run_plan(axe_planner *p, const axe_request *r, int from, bool in,
                  struct axe_simt_copy *out)
{
    const axe_tensor *tile = r->operand[in ? 0 : from].tensor;
    axe_type          t = p->place[tile->id].type;
    const axe_atom   *row = find_row(p->mc, r->stmt->fold, t, in);
    int64_t           size = axe_type_table[t].bits / 8, n;
    run               x = {.from = from};

    if (!row || size == 0 || p->place[tile->id].layout->swizzle.bits > 0)
        return false;
    for (int i = 0; i < r->nest[0].n_dim; i++)
        if (!add_digits(p, r, &r->nest[0].dim[i], &x))
            return false;
    n = length_of(&x);
    if (n == 0 || n > INT32_MAX / size || n * size % UNIT_BYTES != 0 ||
        !axe_atom_takes(row, (int)n) ||
        !is_inside(p, &r->operand[0], UNIT_BYTES / size) ||
        !is_inside(p, &r->operand[from], UNIT_BYTES / size))
        return false;
    *out = (struct axe_simt_copy){
        .atom = row,
        .param = (int)n,
        .box = true,
        .run = true,
        .in = in,
        .bytes = n * size,
        .from = from,
        .global = r->operand[in ? from : 0].tensor,
        .n_certified = n,
    };
    return true;
}
