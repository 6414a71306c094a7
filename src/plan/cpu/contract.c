/* contract.c - sums of products, c[m, n] += a[m, k] * b[n, k].
 *
 * Which index is which says access/contract_roles.c.  The contract atom gives
 * the column's lanes; a register tile of MR rows and NV vectors is chosen so
 * that its accumulators, one row of b and one element of a fit the registers
 * and the ratio of multiply-adds to loads is largest.  Open tiles get their
 * layouts for it in tile_layout.c; closed layouts are matched by tile-of
 * against the atom's operands. */
#include <inttypes.h>

#include "plan/access/access.h"
#include "plan/access/contract_roles.h"
#include "plan/cpu/cpu.h"

/* The register tile with the most multiply-adds per load, within the registers:
 * MR elements of a come from L1, NV vectors of b stream from L2, which costs
 * about twice as much.  Of equals the one with most rows: packing a transposes
 * blocks of MR. */
static bool
choose_tile(const axe_machine *mc, const axe_attr *pin, int64_t em, int64_t en,
            way *w)
{
    double best = 0;

    for (int i = 1; i <= mc->n_vreg; i++)
        for (int j = 1; j <= mc->n_vreg; j++) {
            double  score = (double)(i * j) / (i + 2 * j);
            int64_t unit = (int64_t)(w->narrow ? 1 : j) * w->lanes;
            if (em % i != 0 || en % unit != 0 || (int64_t)j * w->lanes > en ||
                i * j + j + 1 > mc->n_vreg || score < best ||
                (pin && (pin->value[0] != i || pin->value[1] != j)))
                continue;
            best = score;
            w->mr = i;
            w->nv = j;
        }
    return best > 0;
}

/* Does every operand move by one stride from vector to vector?  Then a tile may
 * begin at any, and have fewer. */
static bool
vectors_alike(planner *p, const request *r, const axe_roles *ro, int lanes)
{
    axe_digit *d;
    int        n;
    int64_t    cut[1] = {lanes}, en = axe_dim_extent(ro->n);
    axe_mark   m = axe_ctx_mark(p->cx);
    bool alike = en % lanes == 0 && axe_plan_cut(p, r, ro->n, 1, cut, &n, &d) &&
                 (en == lanes || (n > 1 && d[0].weight == lanes));

    axe_ctx_release(p->cx, m);
    return alike;
}

/* Register tile and lanes for the statement; reasons into r. */
static bool
tile_for(planner *p, request *r, const axe_roles *ro, way *w)
{
    int64_t         em = axe_dim_extent(ro->m), en = axe_dim_extent(ro->n);
    const axe_attr *pin = axe_attr_of(r->stmt, AXE_ATTR_tile);

    w->lanes = axe_machine_lanes(p->mc, w->compute);
    if (em == 0 || en == 0) {
        axe_rejected(p, r, "contract",
                     "the extent of %s or %s is not a constant",
                     ro->m->var->name, ro->n->var->name);
        return false;
    }
    if (axe_dim_extent(ro->k) % w->group != 0 ||
        (w->group > 1 && axe_dim_extent(ro->k) == 0)) {
        axe_rejected(p, r, w->atom->name,
                     "the extent of %s is not a multiple of %d",
                     ro->k->var->name, w->group);
        return false;
    }
    int bits = w->group > 1 ? AXE_LEAST_VECTOR : 0;
    for (; w->lanes >= 2 && w->lanes * axe_type_table[w->compute].bits >= bits;
         w->lanes /= 2) {
        w->narrow = vectors_alike(p, r, ro, w->lanes);
        if (choose_tile(p->mc, pin, em, en, w))
            return true;
    }
    if (pin) {
        axe_rejected(p, r, "contract",
                     "tile = (%" PRId64 ", %" PRId64
                     "): rows must divide %" PRId64 " of %s, whole vectors "
                     "%" PRId64 " of %s, and rows*vectors + vectors + 1 be at "
                     "most the %d registers",
                     pin->value[0], pin->value[1], em, ro->m->var->name, en,
                     ro->n->var->name, p->mc->n_vreg);
        return false;
    }
    axe_rejected(p, r, "contract",
                 "the extent %" PRId64 " of %s is not a multiple of 2 lanes",
                 en, ro->n->var->name);
    return false;
}

/* ------------------------------------------------------------------- ways */

/* Can the tensor hold what an atom takes as elements of type t?  As it is, or,
 * a tile whose layout is still open, kept as t. */
static bool
holds(const planner *p, const axe_tensor *x, axe_type t)
{
    bool     tile = x->space != AXE_SPACE_GLOBAL;
    bool     open = tile && !p->place[x->id].layout;
    axe_type kept = tile && !open ? p->place[x->id].type : x->type;

    return t == AXE_TYPE_any || kept == t || (open && axe_type_widens(kept, t));
}

/* Can the atom have a's signs as it wants them? */
static bool
signs_fit(const planner *p, const axe_stmt *s, const axe_tensor *x,
          const axe_atom *a)
{
    const axe_place *pl = &p->place[x->id];

    if (x->space == AXE_SPACE_GLOBAL)
        return !a->flip;
    return pl->layout ? pl->flip == a->flip
                      : !a->flip || axe_moved_for(p, x, s);
}

/* Is `a` a better deal than `b`?  The cheaper multiply-add, then the first. */
static bool
cheaper(const way *a, const way *b)
{
    return a->atom->cost * b->group < b->atom->cost * a->group;
}

/* All contract atoms that take the elements of x and y and add to those of c,
 * best first; how many. */
static int
find_ways(planner *p, const axe_stmt *s, const axe_node *x, const axe_node *y,
          way *list)
{
    const axe_tensor *from = axe_packed_source(p, s, y->u.tensor);
    axe_type          compute;
    axe_mark          m = axe_ctx_mark(p->cx);
    int               n = 0;

    from = from ? from : y->u.tensor;
    if (axe_compute_type(p->cx, p->mc, s->at, s->dst->type, &compute) !=
        AXE_OK) {
        axe_ctx_release(p->cx, m);
        return 0;
    }
    for (int i = 0; i < p->mc->n_atom; i++) {
        const axe_atom *a = &p->mc->atom[i];
        way             w = {.atom = a, .compute = compute};
        if (a->kind != AXE_ATOM_CONTRACT || a->slow ||
            !axe_machine_has(p->mc, a) || n == MAX_WAY ||
            (a->type[0] != AXE_TYPE_any && a->type[0] != compute) ||
            !holds(p, x->u.tensor, a->type[1]) || !holds(p, from, a->type[2]) ||
            !signs_fit(p, s, x->u.tensor, a))
            continue;
        w.group = axe_atom_group(p->cx, a);
        int at = n++;
        for (; at > 0 && cheaper(&w, &list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = w;
    }
    return n;
}

bool
axe_contract_may(const axe_stmt *s)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};

    return axe_contract_roles(s, &x, &y, &ro);
}

/* Can moves bring the memory operands c, a and b into the registers that this
 * atom takes?  Notes the moves. */
static bool
feeds(planner *p, const way *w, const axe_layout *const mem[3],
      const axe_atom **move)
{
    const char *side[3] = {w->atom->d, w->atom->a, w->atom->b};

    for (int i = 0; i < 3; i++) {
        const axe_layout *reg;
        const char       *names;
        if (axe_atom_layout(p->cx, side[i], w->lanes, w->group, &names, &reg) !=
            AXE_OK)
            return false;
        move[i] = axe_find_move(p, AXE_ATOM_LOAD, w->lanes,
                                i == 0 ? 1 : w->group, mem[i], reg);
        if (!move[i])
            return false;
    }
    return axe_find_move(p, AXE_ATOM_STORE, w->lanes, 1, mem[0], NULL) != NULL;
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

/* What one atom sees of an operand: lanes of columns, a group of the sum in
 * each. */
static bool
seen(planner *p, const axe_operand *op, const axe_roles *ro, const way *w,
     bool is_sum, const axe_layout **out)
{
    axe_iter it[2];
    int      n = is_sum || w->group == 1 ? 1 : 2;

    return whole_runs(op, ro->n->var, w->lanes) &&
           axe_fast_iter(op, ro->n->var, 1, w->lanes, &it[0]) &&
           (n == 1 || (whole_runs(op, ro->k->var, w->group) &&
                       axe_fast_iter(op, ro->k->var, 1, w->group, &it[1]))) &&
           axe_layout_of_iters(p->cx, n, it, out) == AXE_OK;
}

/* A tile lies one way for all its statements, which may be another one's. */
static const char *
way_out(const planner *p, const request *r, const axe_roles *ro,
        const axe_layout *const mem[3])
{
    bool sums =
        mem[0]->n_shard > 0 && mem[0]->shard[mem[0]->n_shard - 1].stride != 1;
    const axe_tensor *t = r->operand[sums ? 0 : ro->b].tensor;

    return t->space == AXE_SPACE_GLOBAL
               ? axe_textf(p->cx, ": copy %s into a tile", t->name)
               : axe_textf(p->cx,
                           ": %s lies as another statement wants it, make a "
                           "second tile of its values for this one",
                           t->name);
}

/* The atom with its moves behind it into list; how many, 0 if the memory
 * operands cannot feed it. */
static int
match_atom(planner *p, request *r, const axe_roles *ro, const way *w,
           const axe_atom **list)
{
    const axe_layout *mem[3];
    int               at[3] = {0, ro->a, ro->b};

    list[0] = w->atom;
    for (int i = 0; i < 3; i++)
        if (!seen(p, &r->operand[at[i]], ro, w, i == 0, &mem[i])) {
            axe_rejected(p, r, w->group == 1 ? "contract" : w->atom->name,
                         "%s does not come in runs of %d in %s",
                         ro->n->var->name, w->lanes * w->group,
                         r->operand[at[i]].tensor->name);
            return 0;
        }
    if (feeds(p, w, mem, list + 1))
        return list[1] == list[3] ? 3 : 4;
    axe_rejected(p, r, w->group == 1 ? "contract" : w->atom->name,
                 "%s moves %s by %s and %s by %s; no atom takes these%s",
                 ro->n->var->name, r->operand[0].tensor->name,
                 axe_layout_text(p->cx, mem[0]), r->operand[ro->b].tensor->name,
                 axe_layout_text(p->cx, mem[2]), way_out(p, r, ro, mem));
    return 0;
}

static bool
unguarded(planner *p, request *r, const axe_roles *ro)
{
    int at[3] = {0, ro->a, ro->b};

    for (int i = 0; i < 3; i++)
        if (!r->operand[at[i]].tensor->packed &&
            r->operand[at[i]].n_guard + r->operand[at[i]].n_check > 0) {
            axe_rejected(p, r, "contract",
                         "%s may reach outside its tensor; stage it through a "
                         "shared tile",
                         axe_node_text(p->cx, r->operand[at[i]].load));
            return false;
        }
    return true;
}

/* Columns outside, rows within? */
static bool
by_column(const request *r, const axe_roles *ro, const way *w)
{
    return w->atom->flip || r->operand[ro->b].tensor->packed;
}

/* The digits of these indices behind those so far. */
static bool
add_digits(planner *p, const request *r, int n_dim, const axe_dim *const *dim,
           axe_digit *all, int *n)
{
    axe_digit *d;
    int        k;

    for (int i = 0; i < n_dim; i++) {
        if (!axe_plan_cut(p, r, dim[i], 0, NULL, &k, &d))
            return false;
        for (int j = 0; j < k; j++)
            all[(*n)++] = d[j];
    }
    return true;
}

/* Loops: batch, m blocks, n blocks, sums, then the register tile: rows of a
 * stay in the first-level cache while those of b pass by.  What flipped signs
 * add to a block of columns is found once for all its rows, so it comes first
 * there; and so does it where it comes from far away, for the last time.
 */
static bool
nest_for(planner *p, request *r, const axe_roles *ro, const way *w,
         axe_schedule *out)
{
    axe_digit *all = axe_new_array(p->cx, axe_digit, 64 * r->stmt->n_dim);
    axe_nest  *nest = axe_new_array(p->cx, axe_nest, 1);
    axe_digit *d;
    int        n = 0, k;
    int64_t    nr = (int64_t)(w->narrow ? 1 : w->nv) * w->lanes;
    int64_t    cut[3] = {w->mr, nr, w->group};

    if (!add_digits(p, r, ro->n_batch, ro->batch, all, &n))
        return false;
    const axe_dim   *dim[3] = {ro->m, ro->n, ro->k};
    static const int plain[3] = {0, 1, 2}, columns_first[3] = {1, 0, 2};
    for (int i = 0; i < 3; i++) {
        int v = by_column(r, ro, w) ? columns_first[i] : plain[i];
        if (i == 2 && !add_digits(p, r, ro->n_more[AXE_SUMS],
                                  ro->more[AXE_SUMS], all, &n))
            return false;
        if (!axe_plan_cut(p, r, dim[v], 1, &cut[v], &k, &d))
            return false;
        for (int j = 0; j < k; j++)
            if (d[j].weight >= cut[v])
                all[n++] = d[j];
        if (v == 1 && w->narrow && axe_dim_extent(dim[v]) == nr)
            all[n++] = (axe_digit){dim[v]->var, nr, 1};
    }
    *nest = (axe_nest){.n_dim = r->stmt->n_dim,
                       .dim = r->stmt->dim,
                       .n_digit = n,
                       .digit = all,
                       .lanes = w->lanes};
    out->n_nest = 1;
    out->nest = nest;
    return true;
}

/* A limit from which on the operand is zero along v, or NULL. */
static const axe_node *
zero_from(planner *p, const request *r, const axe_operand *op, const axe_var *v)
{
    for (int i = 0; op->tensor->packed && i < op->n_guard; i++)
        if (op->guard[i].var == v)
            return op->guard[i].limit;
    return axe_zero_limit(p, r->stmt, op, v);
}

/* Blocks of m, n and k in which a factor is zero need no visit. */
static void
find_skips(planner *p, const request *r, const axe_roles *ro, axe_schedule *out)
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
            zero_from(p, r, &r->operand[ask[i].operand], ask[i].v);
        if (!l || (out->n_bound > 0 && bound[out->n_bound - 1].var == ask[i].v))
            continue;
        bound[out->n_bound++] = (axe_guard){ask[i].v, l};
    }
    out->bound = bound;
}

/* Plan the statement for one atom. */
static bool
plan_way(planner *p, request *r, axe_roles *ro, way *w, axe_schedule *out)
{
    axe_core_schedule *own = axe_core_edit(p, out);
    const axe_atom   **list = axe_new_array(p->cx, const axe_atom *, 5);

    if (!tile_for(p, r, ro, w))
        return false;
    out->n_atom = match_atom(p, r, ro, w, list);
    if (out->n_atom == 0 || !nest_for(p, r, ro, w, out))
        return false;
    out->kind = AXE_SCHED_CONTRACT;
    own->tile = (axe_tile_shape){.m = ro->m->var,
                                 .n = ro->n->var,
                                 .k = ro->k->var,
                                 .n_more = ro->n_more[AXE_SUMS],
                                 .mr = w->mr,
                                 .nv = w->nv,
                                 .a = ro->a,
                                 .b = ro->b,
                                 .group = w->group,
                                 .narrow = w->narrow,
                                 .by_column = by_column(r, ro, w)};
    out->atom = list;
    double steps = (double)axe_dim_extent(ro->m) / w->mr *
                   (double)axe_dim_extent(ro->n) / (w->nv * w->lanes);
    double k = (double)axe_dim_extent(ro->k) / w->group;
    for (int i = 0; i < ro->n_more[AXE_SUMS]; i++) {
        own->tile.more[i] = ro->more[AXE_SUMS][i]->var;
        k *= (double)axe_dim_extent(ro->more[AXE_SUMS][i]);
    }
    out->cycles =
        steps * (k * w->mr * w->nv * w->atom->cost + 2.0 * w->mr * w->nv);
    return true;
}

/* What guards said of packed operands, bounds do now. */
static void
forget_packed(request *r)
{
    for (int i = 0; i < r->n_operand; i++)
        if (r->operand[i].tensor->packed)
            r->operand[i].n_guard = 0;
}

bool
axe_contract_plan(planner *p, request *r, axe_schedule *out)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};
    way             list[MAX_WAY];

    if (!axe_contract_roles(r->stmt, &x, &y, &ro))
        return false;
    ro.a = axe_find_operand(r, x);
    ro.b = axe_find_operand(r, y);
    if (ro.a < 0 || ro.b < 0 || !unguarded(p, r, &ro))
        return false;
    find_skips(p, r, &ro, out);
    int n = find_ways(p, r->stmt, x, y, list);
    for (int i = 0; i < n; i++)
        if (plan_way(p, r, &ro, &list[i], out)) {
            forget_packed(r);
            return true;
        }
    if (n == 0)
        axe_rejected(p, r, "contract", "%s has no atom that adds products",
                     p->mc->name);
    return false;
}

/* The tile that y reads as a view of the packed argument. */
static bool
see_packed(planner *p, const axe_roles *ro, const axe_node *y,
           const axe_tensor *packed, const way *w)
{
    const axe_stmt *fill = axe_only_writer(p, y->u.tensor);
    int             column = -1;

    if (packed->rank != 2 || y->n_arg != 2 || ro->n_batch > 0)
        return false;
    for (int d = 0; d < 2; d++) {
        const axe_var *v = axe_alone_in(p, fill->value->arg[d]);
        for (int i = 0; i < 2; i++)
            if (fill->dst->arg[i]->u.var == v &&
                axe_mentions(y->arg[i], ro->n->var))
                column = d;
    }
    if (column < 0)
        return false;
    p->pack[packed->id] = (axe_packing){w->lanes, w->group, column};
    p->place[y->u.tensor->id].view = packed;
    p->place[y->u.tensor->id].why =
        axe_textf(p->cx, "no memory: %s is packed", packed->name);
    return true;
}

/* Would the statement run this way, with its open tiles laid out for it?  The
 * layouts stay if it would, or if it is the last way there is. */
static bool
try_way(planner *p, const axe_stmt *s, const axe_node *x, const axe_node *y,
        axe_roles *ro, way *w, bool last)
{
    const axe_tensor *t[3] = {s->dst->u.tensor, x->u.tensor, y->u.tensor};
    const axe_tensor *packed = axe_packed_source(p, s, y->u.tensor);
    axe_place         old[3];
    request           r = {.stmt = s};
    axe_mark          m = axe_ctx_mark(p->cx);
    axe_schedule      out = axe_core_begin(p, s);
    bool              ok = tile_for(p, &r, ro, w), laid = true;

    for (int i = 0; i < 3; i++)
        old[i] = p->place[t[i]->id];
    if (ok && packed)
        ok = see_packed(p, ro, y, packed, w);
    if (ok)
        axe_contract_layouts(p, s, ro, x, y, w);
    if (last)
        return ok;
    for (int i = 0; i < 3; i++)
        laid = laid && (t[i]->space == AXE_SPACE_GLOBAL ||
                        p->place[t[i]->id].layout || p->place[t[i]->id].view);
    ok = ok && laid && axe_request_make(p, s, &r) == AXE_OK;
    ro->a = ok ? axe_find_operand(&r, x) : -1;
    ro->b = ok ? axe_find_operand(&r, y) : -1;
    ok = ro->a >= 0 && ro->b >= 0 && plan_way(p, &r, ro, w, &out);
    if (ok)
        return true;
    for (int i = 0; i < 3; i++)
        p->place[t[i]->id] = old[i];
    if (packed)
        p->pack[packed->id] = (axe_packing){0};
    axe_ctx_release(p->cx, m);
    return false;
}

bool
axe_contract_infer(planner *p, const axe_stmt *s)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};
    way             list[MAX_WAY];
    int             n;

    if (!axe_contract_roles(s, &x, &y, &ro))
        return false;
    n = find_ways(p, s, x, y, list);
    for (int i = 0; i < n; i++)
        if (try_way(p, s, x, y, &ro, &list[i], i + 1 == n))
            return true;
    return false;
}
