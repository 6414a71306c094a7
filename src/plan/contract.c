/* contract.c - sums of products, c[m, n] += a[m, k] * b[n, k].
 *
 * An index variable is a row (m: in c and a), a column (n: in c and b), a
 * sum (k: in a and b), or a batch (in all).  The contract atom gives the
 * column's lanes; a register tile of MR rows and NV vectors is chosen so that
 * its accumulators, one row of b and one element of a fit the registers and the
 * ratio of multiply-adds to loads is largest.  Open tiles get their layouts for
 * it in infer.c; closed layouts are matched by tile-of against the atom's
 * operands. */
#include <inttypes.h>
#include <string.h>

#include "plan/contract.h"

static const axe_node *
strip(const axe_node *n)
{
    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    return n;
}

static bool
has(const axe_node *load, const axe_var *v)
{
    for (int i = 0; i < load->n_arg; i++)
        if (axe_mentions(load->arg[i], v))
            return true;
    return false;
}

static int
find_operand(const request *r, const axe_node *load)
{
    for (int i = 0; i < r->n_operand; i++)
        if (r->operand[i].load == load)
            return i;
    return -1;
}

/* Sort the variables into roles with x as the left factor; false if this is no
 * contraction of one row, one column and one sum. */
static bool
assign(const axe_stmt *s, const axe_node *x, const axe_node *y, roles *out)
{
    for (int i = 0; i < s->n_dim; i++) {
        const axe_dim *d = &s->dim[i];
        bool           in_c = has(s->dst, d->var), in_x = has(x, d->var),
             in_y = has(y, d->var);
        const axe_dim **slot = NULL;
        if (in_c && in_x && in_y && out->n_batch < AXE_LEN(out->batch))
            slot = &out->batch[out->n_batch++];
        else if (in_c && in_x && !in_y)
            slot = &out->m;
        else if (in_c && !in_x && in_y)
            slot = &out->n;
        else if (!in_c && in_x && in_y)
            slot = &out->k;
        if (!slot || *slot)
            return false;
        *slot = d;
    }
    return out->m && out->n && out->k;
}

/* Left factor: the one whose free variable comes first in the destination. */
static bool
recognise(const axe_stmt *s, const axe_node **x, const axe_node **y, roles *out)
{
    const axe_node *v = strip(s->value);

    if (s->fold != AXE_FOLD_SUM || v->op != AXE_OP_mul)
        return false;
    *x = strip(v->arg[0]);
    *y = strip(v->arg[1]);
    if ((*x)->op != AXE_OP_load || (*y)->op != AXE_OP_load)
        return false;
    if (!assign(s, *x, *y, out))
        return false;
    if (out->m > out->n) {
        const axe_node *t = *x;
        *x = *y;
        *y = t;
        memset(out, 0, sizeof *out);
        return assign(s, *x, *y, out);
    }
    return true;
}

/* The register tile with the most multiply-adds per load, within the registers:
 * MR elements of a come from L1, NV vectors of b stream from L2, which costs
 * about twice as much.  Of equals the one with most rows: packing a transposes
 * blocks of MR. */
static bool
choose_tile(const axe_machine *mc, int64_t em, int64_t en, int lanes, int *mr,
            int *nv)
{
    double best = 0;

    for (int i = 1; i <= mc->n_vreg; i++)
        for (int j = 1; j <= mc->n_vreg; j++) {
            double score = (double)(i * j) / (i + 2 * j);
            if (em % i != 0 || en % ((int64_t)j * lanes) != 0 ||
                i * j + j + 1 > mc->n_vreg || score < best)
                continue;
            best = score;
            *mr = i;
            *nv = j;
        }
    return best > 0;
}

/* Register tile and lanes for the statement; reasons into r. */
static bool
tile_for(planner *p, request *r, const roles *ro, int *lanes, int *mr, int *nv)
{
    axe_type compute;
    int64_t  em = axe_dim_extent(ro->m), en = axe_dim_extent(ro->n);

    if (axe_compute_type(p->cx, p->mc, r->stmt->at, r->stmt->dst->type,
                         &compute) != AXE_OK)
        return false;
    *lanes = axe_machine_lanes(p->mc, compute);
    if (em == 0 || en == 0) {
        axe_rejected(p, r, "contract",
                     "the extent of %s or %s is not a constant",
                     ro->m->var->name, ro->n->var->name);
        return false;
    }
    for (; *lanes >= 2; *lanes /= 2)
        if (choose_tile(p->mc, em, en, *lanes, mr, nv))
            return true;
    axe_rejected(p, r, "contract",
                 "the extent %" PRId64 " of %s is not a multiple of 2 lanes",
                 en, ro->n->var->name);
    return false;
}

bool
axe_contract_wanted(const axe_stmt *s)
{
    const axe_node *x, *y;
    roles           ro = {0};

    return recognise(s, &x, &y, &ro);
}

bool
axe_contract_infer(planner *p, request *r)
{
    const axe_node *x, *y;
    roles           ro = {0};
    int             lanes, mr, nv;
    axe_type        compute;

    if (!recognise(r->stmt, &x, &y, &ro) ||
        !tile_for(p, r, &ro, &lanes, &mr, &nv) ||
        axe_compute_type(p->cx, p->mc, r->stmt->at, r->stmt->dst->type,
                         &compute) != AXE_OK)
        return false;
    axe_contract_layouts(p, r->stmt, &ro, x, y,
                         (axe_tile_shape){.mr = mr, .nv = nv}, lanes, compute);
    return true;
}

/* Can moves bring the memory operands c, a and b into the registers that this
 * atom takes?  Notes the moves. */
static bool
feeds(planner *p, const axe_atom *atom, int lanes,
      const axe_layout *const mem[3], const axe_atom **move)
{
    const char *side[3] = {atom->d, atom->a, atom->b};

    for (int i = 0; i < 3; i++) {
        const axe_layout *reg;
        const char       *names;
        if (axe_atom_layout(p->cx, side[i], lanes, &names, &reg) != AXE_OK)
            return false;
        move[i] = axe_find_move(p, AXE_ATOM_LOAD, lanes, mem[i], reg);
        if (!move[i])
            return false;
    }
    return axe_find_move(p, AXE_ATOM_STORE, lanes, mem[0], NULL) != NULL;
}

/* Is every vector of v, not only the first, in one run? */
static bool
whole_runs(const axe_operand *op, const axe_var *v, int lanes)
{
    for (int i = 0; i < op->n_term; i++) {
        const axe_term *t = &op->term[i];
        if (t->var == v && t->n_iter > 0 &&
            t->iter[t->n_iter - 1].extent % lanes != 0)
            return false;
    }
    return true;
}

/* The cheapest contract atom that the memory operands can feed, in list[0],
 * with its moves behind it; the number of atoms, 0 if there is none. */
static int
match_atom(planner *p, request *r, const roles *ro, int lanes,
           const axe_atom **list)
{
    const axe_layout *mem[3];
    int               at[3] = {0, ro->a, ro->b};

    list[0] = NULL;
    for (int i = 0; i < 3; i++)
        if (!whole_runs(&r->operand[at[i]], ro->n->var, lanes) ||
            !axe_fast_layout(p, &r->operand[at[i]], ro->n->var, lanes,
                             &mem[i])) {
            axe_rejected(
                p, r, "contract", "%s does not come in runs of %d in %s",
                ro->n->var->name, lanes, r->operand[at[i]].tensor->name);
            return 0;
        }
    for (int i = 0; i < p->mc->n_atom; i++) {
        const axe_atom *a = &p->mc->atom[i], *move[3];
        axe_mark        m = axe_ctx_mark(p->cx);
        bool            fits = a->kind == AXE_ATOM_CONTRACT && !a->slow &&
                    (!list[0] || a->cost < list[0]->cost) &&
                    feeds(p, a, lanes, mem, move);
        axe_ctx_release(p->cx, m);
        if (!fits)
            continue;
        list[0] = a;
        memcpy(list + 1, move, sizeof move);
    }
    if (!list[0])
        axe_rejected(p, r, "contract",
                     "%s moves %s by %s and %s by %s; no atom takes these",
                     ro->n->var->name, r->operand[0].tensor->name,
                     axe_layout_text(p->cx, mem[0]),
                     r->operand[ro->b].tensor->name,
                     axe_layout_text(p->cx, mem[2]));
    return list[0] ? (list[1] == list[3] ? 3 : 4) : 0;
}

static bool
unguarded(planner *p, request *r, const roles *ro)
{
    int at[3] = {0, ro->a, ro->b};

    for (int i = 0; i < 3; i++)
        if (r->operand[at[i]].n_guard + r->operand[at[i]].n_check > 0) {
            axe_rejected(p, r, "contract",
                         "%s may reach outside its tensor; stage it through a "
                         "shared tile",
                         axe_node_text(p->cx, r->operand[at[i]].load));
            return false;
        }
    return true;
}

/* Loops: batch, n blocks, m blocks, k, then the register tile. */
static bool
nest_for(planner *p, request *r, const roles *ro, int mr, int64_t nr,
         axe_schedule *out)
{
    axe_digit *all = axe_new_array(p->cx, axe_digit, 64 * r->stmt->n_dim);
    axe_nest  *nest = axe_new_array(p->cx, axe_nest, 1);
    axe_digit *d;
    int        n = 0, k;
    int64_t    cut_m[1] = {mr}, cut_n[1] = {nr};

    for (int i = 0; i < ro->n_batch; i++) {
        if (!axe_plan_cut(p, r, ro->batch[i], 0, NULL, &k, &d))
            return false;
        for (int j = 0; j < k; j++)
            all[n++] = d[j];
    }
    const axe_dim *dim[3] = {ro->m, ro->n, ro->k};
    const int64_t *cut[3] = {cut_m, cut_n, NULL};
    for (int v = 0; v < 3; v++) {
        if (!axe_plan_cut(p, r, dim[v], cut[v] ? 1 : 0, cut[v], &k, &d))
            return false;
        for (int j = 0; j < k; j++)
            if (!cut[v] || d[j].weight >= *cut[v])
                all[n++] = d[j];
    }
    *nest = (axe_nest){.n_dim = r->stmt->n_dim,
                       .dim = r->stmt->dim,
                       .n_digit = n,
                       .digit = all,
                       .lanes = 1};
    out->n_nest = 1;
    out->nest = nest;
    return true;
}

/* Blocks of m, n and k in which a factor is zero need no visit. */
static void
find_skips(planner *p, const request *r, const roles *ro, axe_schedule *out)
{
    axe_guard *bound = axe_new_array(p->cx, axe_guard, 4);
    struct {
        const axe_var *v;
        int            operand;
    } ask[] = {{ro->m->var, ro->a},
               {ro->n->var, ro->b},
               {ro->k->var, ro->a},
               {ro->k->var, ro->b}};

    for (int i = 0; i < AXE_LEN(ask); i++) {
        const axe_node *l =
            axe_zero_limit(p, r->stmt, &r->operand[ask[i].operand], ask[i].v);
        if (!l || (out->n_bound > 0 && bound[out->n_bound - 1].var == ask[i].v))
            continue;
        bound[out->n_bound++] = (axe_guard){ask[i].v, l};
    }
    out->bound = bound;
}

bool
axe_contract_plan(planner *p, request *r, axe_schedule *out)
{
    const axe_node  *x, *y;
    roles            ro = {0};
    int              lanes, mr, nv;
    const axe_atom **list = axe_new_array(p->cx, const axe_atom *, 5);

    if (!recognise(r->stmt, &x, &y, &ro) ||
        !tile_for(p, r, &ro, &lanes, &mr, &nv))
        return false;
    ro.a = find_operand(r, x);
    ro.b = find_operand(r, y);
    if (ro.a < 0 || ro.b < 0 || !unguarded(p, r, &ro))
        return false;
    find_skips(p, r, &ro, out);
    out->n_atom = match_atom(p, r, &ro, lanes, list);
    if (out->n_atom == 0 || !nest_for(p, r, &ro, mr, (int64_t)nv * lanes, out))
        return false;
    ((axe_nest *)out->nest)->lanes = lanes;
    out->kind = AXE_SCHED_CONTRACT;
    out->tile =
        (axe_tile_shape){ro.m->var, ro.n->var, ro.k->var, mr, nv, ro.a, ro.b};
    out->atom = list;
    double steps = (double)axe_dim_extent(ro.m) / mr *
                   (double)axe_dim_extent(ro.n) / (nv * lanes);
    double k = (double)axe_dim_extent(ro.k);
    out->cycles = steps * (k * mr * nv * list[0]->cost + 2.0 * mr * nv);
    return true;
}
