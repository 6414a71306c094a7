/* contract.c - sums of products, c[m, n] += a[m, k] * b[n, k].
 *
 * Candidates are the machine's rows of products, best first
 * (access/candidate.h). One matches if a register tile of MR rows and NV
 * vectors divides the extents, so that its accumulators, one row of b and one
 * element of a fit the registers and the ratio of multiply-adds to loads is
 * largest; and if moves bring the operands, as they lie, by tile-of.  The first
 * that matches is taken.  Open tiles get their layouts for it in tile_layout.c.
 */
#include <inttypes.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"

bool
axe_contract_may(const axe_stmt *s)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};

    return axe_contract_roles(s, &x, &y, &ro);
}

/* ------------------------------------------------------------- enumerate */

/* Can the tensor hold what an atom takes as elements of type t?  As it is, or,
 * a tile whose layout is still open, kept as t. */
static bool
holds(const axe_planner *p, const axe_tensor *x, axe_type t)
{
    bool     tile = x->space != AXE_SPACE_GLOBAL;
    bool     open = tile && !p->place[x->id].layout;
    axe_type kept = tile && !open ? p->place[x->id].type : x->type;

    return t == AXE_TYPE_any || kept == t || (open && axe_type_widens(kept, t));
}

/* Can the atom have a's signs as it wants them? */
static bool
signs_fit(const axe_planner *p, const axe_stmt *s, const axe_tensor *x,
          const axe_atom *a)
{
    const axe_place *pl = &p->place[x->id];

    if (x->space == AXE_SPACE_GLOBAL)
        return !a->flip;
    return pl->layout ? pl->flip == a->flip
                      : !a->flip || axe_moved_for(p, x, s);
}

/* The statement, with its rows that take the elements of a and b and add to
 * those of c; false: it is no product.  Of rows the cheaper multiply-add is the
 * better one. */
static bool
enumerate(axe_planner *p, axe_request *r, axe_product *q)
{
    const axe_tensor *x, *from;
    const axe_atom   *a;
    axe_type          t;
    axe_mark          m = axe_ctx_mark(p->cx);

    *q = (axe_product){.p = p, .s = r->stmt, .r = r, .load[0] = r->stmt->dst};
    if (!axe_contract_roles(q->s, &q->load[1], &q->load[2], &q->ro))
        return false;
    x = q->load[1]->u.tensor;
    from = axe_packed_source(p, q->s, q->load[2]->u.tensor);
    from = from ? from : q->load[2]->u.tensor;
    if (axe_compute_type(p->cx, p->mc, q->s->at, q->s->dst->type, &t) !=
        AXE_OK) {
        axe_ctx_release(p->cx, m);
        return true;
    }
    for (int i = 0; (a = axe_product_row(p->mc, &i)) != NULL;) {
        if (a->slow || (a->type[0] != AXE_TYPE_any && a->type[0] != t) ||
            !holds(p, x, a->type[1]) || !holds(p, from, a->type[2]) ||
            !signs_fit(p, q->s, x, a))
            continue;
        int group = axe_atom_group(p->cx, a);
        axe_candidate_add(
            p->cx, &q->list,
            &(axe_candidate){
                .atom = a,
                .type = t,
                .m = {.extent = axe_dim_extent(q->ro.m), .atom = 1, .n_rep = 1},
                .n = {.extent = axe_dim_extent(q->ro.n), .atom = 1, .n_rep = 1},
                .k = {.extent = axe_dim_extent(q->ro.k),
                      .atom = group,
                      .n_rep = 1},
                .score = a->cost / group});
    }
    return true;
}

/* ------------------------------------------------------------------ match */

/* The register tile that is worth most.  Of equals the one with most rows:
 * packing a transposes blocks of them. */
static bool
choose_tile(const axe_machine *mc, const axe_attr *pin, axe_candidate *c)
{
    double best = 0;

    for (int i = 1; i <= mc->n_vreg; i++)
        for (int j = 1; j <= mc->n_vreg; j++) {
            double  score = axe_tile_worth(mc, i, j);
            int64_t unit = (c->narrow ? 1 : j) * c->n.atom;
            if (c->m.extent % i != 0 || c->n.extent % unit != 0 ||
                j * c->n.atom > c->n.extent || score == 0 || score < best ||
                (j % c->panel != 0 && c->panel % j != 0) ||
                (pin && (pin->value[0] != i || pin->value[1] != j)))
                continue;
            best = score;
            c->m.n_rep = i;
            c->n.n_rep = j;
        }
    return best > 0;
}

/* Does every operand move by one stride from vector to vector?  Then a tile may
 * begin at any, and have fewer. */
static bool
vectors_alike(const axe_product *q, const axe_candidate *c)
{
    axe_digit *d;
    int        n;
    axe_mark   m = axe_ctx_mark(q->p->cx);
    bool       alike =
        c->n.extent % c->n.atom == 0 &&
        axe_plan_cut(q->p, q->r, q->ro.n, 1, &c->n.atom, &n, &d) &&
        (c->n.extent == c->n.atom || (n > 1 && d[0].weight == c->n.atom));

    axe_ctx_release(q->p->cx, m);
    return alike;
}

/* Register tile and lanes. */
static bool
match_extents(const axe_product *q, axe_candidate *c)
{
    const axe_attr *pin = axe_attr_of(q->s, AXE_ATTR_tile);
    const char     *n = q->ro.n->var->name;
    int64_t         bits = c->k.atom > 1 ? AXE_LEAST_VECTOR : 0;

    c->n.atom = axe_machine_lanes(q->p->mc, c->type);
    if (c->m.extent == 0 || c->n.extent == 0) {
        axe_rejected(q->p, q->r, "contract",
                     "the extent of %s or %s is not a constant",
                     q->ro.m->var->name, n);
        return false;
    }
    if (c->k.extent % c->k.atom != 0 || (c->k.atom > 1 && c->k.extent == 0)) {
        axe_rejected(q->p, q->r, c->atom->name,
                     "the extent of %s is not a multiple of %" PRId64,
                     q->ro.k->var->name, c->k.atom);
        return false;
    }
    for (; c->n.atom >= 2 && c->n.atom * axe_type_table[c->type].bits >= bits;
         c->n.atom /= 2) {
        c->panel = axe_panel_of(q, c);
        c->narrow = c->panel == 1 && vectors_alike(q, c);
        if (choose_tile(q->p->mc, pin, c))
            return true;
    }
    if (pin)
        axe_rejected(q->p, q->r, "contract",
                     "tile = (%" PRId64 ", %" PRId64
                     "): rows must divide %" PRId64 " of %s, whole vectors "
                     "%" PRId64 " of %s, and rows*vectors + vectors + 1 be at "
                     "most the %d registers",
                     pin->value[0], pin->value[1], c->m.extent,
                     q->ro.m->var->name, c->n.extent, n, q->p->mc->n_vreg);
    else
        axe_rejected(q->p, q->r, "contract",
                     "the extent %" PRId64
                     " of %s is not a multiple of 2 lanes",
                     c->n.extent, n);
    return false;
}

/* Can moves bring the memory operands c, a and b into the registers that this
 * atom takes?  Notes the moves. */
static bool
feeds(axe_planner *p, const axe_candidate *c, const axe_layout *const mem[3],
      const axe_atom **move)
{
    const char *side[3] = {c->atom->d, c->atom->a, c->atom->b};
    int         lanes = (int)c->n.atom, group = (int)c->k.atom;

    for (int i = 0; i < 3; i++) {
        const axe_layout *reg;
        const char       *names;
        if (axe_atom_layout(p->cx, side[i], lanes, group, &names, &reg) !=
            AXE_OK)
            return false;
        move[i] = axe_find_move(p, AXE_ATOM_LOAD, lanes, i == 0 ? 1 : group,
                                mem[i], reg);
        if (!move[i])
            return false;
    }
    return axe_find_move(p, AXE_ATOM_STORE, lanes, 1, mem[0], NULL) != NULL;
}

/* Is every vector of v, not only the first, in one run? */
static bool
whole_runs(const axe_operand *op, const axe_var *v, int64_t lanes)
{
    for (int i = 0; i < op->n_term; i++) {
        const axe_term *t = &op->term[i];
        if (t->var == v && t->n_iter > 0 &&
            t->iter[t->n_iter - 1].extent % lanes != 0)
            return false;
    }
    return true;
}

/* What one atom sees of operand i: lanes of columns, a group of the sum in
 * each. */
static bool
seen(const axe_product *q, const axe_candidate *c, int i,
     const axe_layout **out)
{
    const axe_operand *op = axe_product_operand(q, i);
    const axe_var     *v[2] = {q->ro.n->var, q->ro.k->var};
    int64_t            by[2] = {c->n.atom, c->k.atom};
    axe_iter           it[2];
    int                n = i == 0 || c->k.atom == 1 ? 1 : 2;

    for (int d = 0; d < n; d++)
        if (!whole_runs(op, v[d], by[d]) ||
            !axe_fast_iter(op, v[d], 1, by[d], &it[d]))
            return false;
    return axe_layout_of_iters(q->p->cx, n, it, out) == AXE_OK;
}

/* A tile lies one way for all its statements, which may be another one's. */
static const char *
way_out(const axe_product *q, const axe_layout *const mem[3])
{
    bool sums =
        mem[0]->n_shard > 0 && mem[0]->shard[mem[0]->n_shard - 1].stride != 1;
    const axe_tensor *t = axe_product_operand(q, sums ? 0 : 2)->tensor;

    return t->space == AXE_SPACE_GLOBAL
               ? axe_textf(q->p->cx, ": copy %s into a tile", t->name)
               : axe_textf(q->p->cx,
                           ": %s lies as another statement wants it, make a "
                           "second tile of its values for this one",
                           t->name);
}

/* The atom with its moves behind it into list; how many, 0 if the memory
 * operands cannot feed it. */
static int
match_operands(const axe_product *q, const axe_candidate *c,
               const axe_atom **list)
{
    const axe_layout *mem[3];
    const char       *what = c->k.atom == 1 ? "contract" : c->atom->name;
    const char       *n = q->ro.n->var->name;

    list[0] = c->atom;
    for (int i = 0; i < 3; i++)
        if (!seen(q, c, i, &mem[i])) {
            axe_rejected(q->p, q->r, what,
                         "%s does not come in runs of %" PRId64 " in %s", n,
                         c->n.atom * c->k.atom,
                         axe_product_operand(q, i)->tensor->name);
            return 0;
        }
    if (feeds(q->p, c, mem, list + 1))
        return list[1] == list[3] ? 3 : 4;
    axe_rejected(q->p, q->r, what,
                 "%s moves %s by %s and %s by %s; no atom takes these%s", n,
                 axe_product_operand(q, 0)->tensor->name,
                 axe_layout_text(q->p->cx, mem[0]),
                 axe_product_operand(q, 2)->tensor->name,
                 axe_layout_text(q->p->cx, mem[2]), way_out(q, mem));
    return 0;
}

static bool
unguarded(const axe_product *q)
{
    for (int i = 0; i < 3; i++) {
        const axe_operand *op = axe_product_operand(q, i);
        if (op->tensor->packed || op->n_guard + op->n_check == 0)
            continue;
        axe_rejected(q->p, q->r, "contract",
                     "%s may reach outside its tensor; stage it through a "
                     "shared tile",
                     axe_node_text(q->p->cx, op->load));
        return false;
    }
    return true;
}

/* The statement as this candidate does it, if it matches.  That its addresses
 * are right is proved with those of all statements (axe_certify). */
static bool
plan_candidate(const axe_product *q, axe_candidate *c, axe_schedule *out)
{
    axe_core_schedule *own = axe_core_edit(q->p, out);
    const axe_atom   **list = axe_new_array(q->p->cx, const axe_atom *, 5);

    if (!match_extents(q, c))
        return false;
    out->n_atom = match_operands(q, c, list);
    if (out->n_atom == 0 || !axe_contract_nest(q, c, out) ||
        !axe_contract_ends(q, out))
        return false;
    out->kind = AXE_SCHED_CONTRACT;
    out->atom = list;
    double mr = (double)c->m.n_rep, nv = (double)c->n.n_rep;
    double steps = (double)c->m.extent / mr * (double)c->n.extent /
                   (nv * (double)c->n.atom);
    double k = axe_contract_tile(q, c, &own->tile);
    out->cycles = steps * (k * mr * nv * c->atom->cost + 2.0 * mr * nv);
    return true;
}

/* Notes which operands its factors are. */
static bool
find_factors(axe_product *q)
{
    q->ro.a = axe_find_operand(q->r, q->load[1]);
    q->ro.b = axe_find_operand(q->r, q->load[2]);
    return q->ro.a >= 0 && q->ro.b >= 0;
}

/* What guards said of packed operands, bounds do now. */
static void
forget_packed(axe_request *r)
{
    for (int i = 0; i < r->n_operand; i++)
        if (r->operand[i].tensor->packed)
            r->operand[i].n_guard = 0;
}

/* Rows of the left factor that are padding: where signs are flipped they are
 * not zeros. */
static void
find_there(const axe_product *q, axe_schedule *out)
{
    axe_tile_shape *t = &axe_core_edit(q->p, out)->tile;
    const axe_node *n = axe_row_there(q->p, q->s, q->load[1], t->m);

    if (n && !out->atom[0]->flip && t->mr % 2 == 0 &&
        axe_request_also(q->p, n, q->r) == AXE_OK)
        t->there = n;
}

bool
axe_contract_plan(axe_planner *p, axe_request *r, axe_schedule *out)
{
    axe_product q;

    if (!enumerate(p, r, &q) || !find_factors(&q) || !unguarded(&q))
        return false;
    axe_contract_skips(&q, out);
    for (int i = 0; i < q.list.n; i++)
        if (plan_candidate(&q, q.list.of[i], out)) {
            forget_packed(r);
            find_there(&q, out);
            return true;
        }
    if (q.list.n == 0)
        axe_rejected(p, r, "contract", "%s has no atom that adds products",
                     p->mc->name);
    return false;
}

/* ------------------------------------------------------------- open tiles */

/* Would the statement run by this candidate, with its open tiles laid out for
 * it?  The layouts stay if it would, or if it is the last. */
static bool
try_candidate(axe_product *q, axe_candidate *c, bool last)
{
    axe_planner      *p = q->p;
    const axe_tensor *t[3],
        *packed = axe_packed_source(p, q->s, q->load[2]->u.tensor);
    axe_place    old[3];
    axe_packing  lay = packed ? p->pack[packed->id] : (axe_packing){0};
    axe_mark     m = axe_ctx_mark(p->cx);
    axe_schedule out = axe_core_begin(p, q->s);
    bool         ok = match_extents(q, c), laid = true;

    for (int i = 0; i < 3; i++) {
        t[i] = q->load[i]->u.tensor;
        old[i] = p->place[t[i]->id];
    }
    if (ok && packed)
        ok = axe_see_packed(q, packed, c);
    if (ok)
        axe_contract_layouts(q, c);
    if (last)
        return ok;
    for (int i = 0; i < 3; i++)
        laid = laid && (t[i]->space == AXE_SPACE_GLOBAL ||
                        p->place[t[i]->id].layout || p->place[t[i]->id].view);
    if (ok && laid && axe_request_make(p, q->s, q->r) == AXE_OK &&
        find_factors(q) && plan_candidate(q, c, &out))
        return true;
    for (int i = 0; i < 3; i++)
        p->place[t[i]->id] = old[i];
    if (packed)
        p->pack[packed->id] = lay;
    *q->r = (axe_request){.stmt = q->s};
    axe_ctx_release(p->cx, m);
    return false;
}

bool
axe_contract_infer(axe_planner *p, const axe_stmt *s)
{
    axe_request r = {.stmt = s};
    axe_product q;

    if (!enumerate(p, &r, &q))
        return false;
    for (int i = 0; i < q.list.n; i++)
        if (try_candidate(&q, q.list.of[i], i + 1 == q.list.n))
            return true;
    return false;
}
