/* factor.c - the factors of a contraction: where they lie, how they are fed.
 *
 * A statement is asked once where a factor is, for each layout that its tile
 * may get; and the machine once by which loads the threads get what they should
 * hold of it.  Candidates differ in what they should hold, and few of them in
 * that. */
#include "layout/alike.h"
#include "plan/access/access.h"
#include "plan/simt/contract/product.h"
#include "plan/simt/team/cta_pair.h"
#include "plan/simt/team/team.h"

/* ------------------------------------------------------------- where it lies
 */

/* What an integer expression is surely a multiple of; 0: of everything. */
static int64_t
factor_of(const axe_node *n)
{
    int64_t v;

    if (axe_is_iconst(n, &v))
        return v < 0 ? -v : v;
    switch (n->op) {
    case AXE_OP_add:
    case AXE_OP_sub:
        return axe_gcd(factor_of(n->arg[0]), factor_of(n->arg[1]));
    case AXE_OP_mul:
        return axe_mul(factor_of(n->arg[0]), factor_of(n->arg[1]), &v) ? v : 1;
    default:
        return 1;
    }
}

/* As the request says that was made under the layout. */
static axe_spot *
make_spot(const axe_product *j, int side, const axe_layout *l,
          const axe_request *r)
{
    const axe_node *load = j->load[side];
    axe_spot       *s = axe_new(j->p->cx, axe_spot);
    int             op = axe_find_operand(r, load);

    *s = (axe_spot){.next = *j->spot[side],
                    .layout = l,
                    .swizzle =
                        axe_simt_swizzle(&j->p->place[load->u.tensor->id])};
    s->mem = op < 0 ? NULL : axe_product_memory(j, &r->operand[op], side);
    if (s->mem)
        s->align = axe_gcd(
            s->swizzle.bits > 0 ? 1024 : 128,
            axe_type_bytes(j->type[side], factor_of(r->operand[op].base)));
    return *j->spot[side] = s;
}

/* Where the factor is, as its tile is laid out now. */
static axe_spot *
find_spot(const axe_product *j, int side)
{
    const axe_layout *l = j->p->place[j->load[side]->u.tensor->id].layout;
    axe_mark          m = axe_ctx_mark(j->p->cx);
    axe_request       r;

    for (axe_spot *s = *j->spot[side]; s; s = s->next)
        if (axe_layout_alike(s->layout, l))
            return s;
    if (j->r)
        return make_spot(j, side, l, j->r);
    if (axe_request_make(j->p, j->s, &r) == AXE_OK)
        return make_spot(j, side, l, &r);
    axe_ctx_release(j->p->cx, m);
    return NULL;
}

/* ----------------------------------------------------------------- feeding */

/* A layout of (row, k) as the factor's dimensions, and back: the same. */
static const axe_layout *
by_rows(const axe_product *j, int side, const axe_layout *l)
{
    static const int other[2] = {1, 0};
    const axe_var   *row = j->dim[side - 1][0]->var;

    if (!l || axe_mentions(j->load[side]->arg[0], row))
        return l;
    return axe_layout_permute(j->p->cx, l, 2, other, &l) == AXE_OK ? l : NULL;
}

static bool
is_held(const axe_product *j, int side)
{
    return j->load[side]->u.tensor->space == AXE_SPACE_REG;
}

/* What this CTA has of the factor. */
static void
see_part(const axe_candidate *by, axe_factor_query *q)
{
    axe_spread *own = axe_new(q->p->cx, axe_spread);

    *own = *q->row;
    own->extent /= by->pair;
    own->atom /= by->pair;
    q->row = own;
    q->mem = axe_memory_of_one(q->p, q->mem);
}

static bool
ask_for(const axe_product *j, const axe_candidate *by, int side,
        axe_factor_query *q, const char **why)
{
    axe_spot *at;

    *q = (axe_factor_query){
        .p = j->p,
        .threads = j->threads,
        .atom = by->atom,
        .side = side,
        .inner = by->side[side],
        .row = side == 1 ? &by->m : &by->n,
        .k = &by->k,
        .other = side == 1 ? &by->n : &by->m,
        .type = j->type[side],
    };
    if (is_held(j, side)) {
        q->held =
            by_rows(j, side, j->p->place[j->load[side]->u.tensor->id].layout);
        *why = "its layout has no rows";
        return q->held != NULL;
    }
    at = find_spot(j, side);
    q->mem = at ? at->mem : NULL;
    if (q->mem && side == 2 && by->pair > 1)
        see_part(by, q);
    if (!q->mem) {
        *why =
            axe_textf(j->p->cx, "%s does not move by its row and the sum alone",
                      axe_node_text(j->p->cx, j->load[side]));
        return false;
    }
    q->swizzle = at->swizzle;
    q->align = at->align;
    q->known = &at->load;
    return true;
}

bool
axe_factor_feed(const axe_product *j, const axe_candidate *by, int side,
                axe_factor *out, double *cycles, const char **why)
{
    axe_factor_query q;

    if (!ask_for(j, by, side, &q, why) || !axe_factor_fit(&q, out, why))
        return false;
    out->tensor = j->load[side]->u.tensor;
    out->memory = q.mem;
    *cycles = axe_factor_cycles(&q, out);
    return true;
}

/* Can it be fed so, and in how many cycles? */
static bool
try_feed(const axe_product *j, const axe_candidate *by, int side,
         double *cycles)
{
    axe_factor  f;
    const char *why;

    return axe_factor_feed(j, by, side, &f, cycles, &why);
}

/* -------------------------------------------------------------- open tiles */

/* The dimension of an operand's tile that the variable walks, or -1. */
static int
walked_by(const axe_node *load, const axe_var *v)
{
    for (int d = 0; v && d < load->n_arg; d++)
        if (axe_mentions(load->arg[d], v))
            return d;
    return -1;
}

/* The best layout of an open shared tile that is filled along `fast`. */
static bool
lay_along(const axe_product *j, const axe_candidate *by, int side, int fast,
          double *best)
{
    const axe_tensor *t = j->load[side]->u.tensor, *part = t;
    const axe_layout *list[AXE_MAX_SHARED], *kept = NULL;
    int64_t           parts = side == 2 ? by->pair : 1;
    int n, row = walked_by(j->load[side], j->dim[side - 1][0]->var);

    if (parts > 1)
        part = axe_tensor_part(j->p, t, row, parts);
    n = part ? axe_shared_layouts(j->p, part, fast, list) : 0;
    for (int i = 0; i < n; i++) {
        if (parts > 1)
            list[i] = axe_layout_in_parts(j->p, list[i], row, parts);
        if (!list[i])
            continue;
        double cycles;
        j->p->place[t->id].layout = list[i];
        if (try_feed(j, by, side, &cycles) && (!kept || cycles < *best)) {
            kept = list[i];
            *best = cycles;
        }
    }
    j->p->place[t->id].layout = kept;
    return kept != NULL;
}

/* An open tile in registers, as the candidate's atom wants it. */
static bool
lay_held(const axe_product *j, const axe_candidate *by, int side,
         double *cycles)
{
    const axe_tensor *t = j->load[side]->u.tensor;
    axe_factor_query  q;
    const char       *why;

    if (by->atom->space[side] != AXE_ARG_REG || !ask_for(j, by, side, &q, &why))
        return false;
    j->p->place[t->id].layout = by_rows(j, side, axe_factor_layout(&q));
    return j->p->place[t->id].layout && !axe_made_apart(j->p, t) &&
           try_feed(j, by, side, cycles);
}

/* An open tile in tensor memory, where the candidate's atom reads it. */
static bool
lay_lanes(const axe_product *j, const axe_candidate *by, int side,
          double *cycles)
{
    const axe_node   *load = j->load[side];
    const axe_tensor *t = load->u.tensor;
    int               row = walked_by(load, j->dim[side - 1][0]->var);
    axe_factor_query  q;
    const char       *why;
    int64_t           e[2];

    if (t->rank != 2 || j->n_dim[side - 1] != 1 || row < 0 ||
        !axe_is_iconst(t->shape[row], &e[0]) ||
        !axe_is_iconst(t->shape[1 - row], &e[1]) ||
        !ask_for(j, by, side, &q, &why))
        return false;
    j->p->place[t->id].layout =
        by_rows(j, side, axe_tmem_wanted(&q, e[0], e[1]));
    return j->p->place[t->id].layout && try_feed(j, by, side, cycles);
}

/* The dimension along which the tile is filled, if an index of the product
 * walks it, or -1. */
static int
filled_along(const axe_product *j, int side)
{
    const axe_var *v = axe_fast_source(j->p, j->load[side]);
    bool           own = v == j->ro.k->var;

    for (int i = 0; i < j->n_dim[side - 1]; i++)
        own = own || v == j->dim[side - 1][i]->var;
    return own ? walked_by(j->load[side], v) : -1;
}

/* The best layout of an open shared tile: along the index that fills it, if
 * there is one; but where a core gathers what lanes have not side by side,
 * along whichever is read in fewer cycles. */
static bool
lay_shared(const axe_product *j, const axe_candidate *by, int side,
           double *cycles)
{
    const axe_node    *load = j->load[side];
    const axe_layout **l = &j->p->place[load->u.tensor->id].layout, *filled;
    int                k = walked_by(load, j->ro.k->var);
    int                f = filled_along(j, side), other;
    double             least;

    f = f < 0 ? k : f;
    if (!lay_along(j, by, side, f, cycles))
        return f != k && lay_along(j, by, side, k, cycles);
    other = f != k ? k : walked_by(load, j->dim[side - 1][0]->var);
    if (!j->p->mc->simt->on_core || other < 0 || other == f)
        return true;
    least = *cycles;
    filled = *l;
    if (lay_along(j, by, side, other, cycles) && *cycles < least)
        return true;
    *cycles = least;
    *l = filled;
    return true;
}

bool
axe_factor_lay(const axe_product *j, const axe_candidate *by, int side,
               bool open, double *cycles)
{
    const axe_node *load = j->load[side];

    if (!open)
        return try_feed(j, by, side, cycles);
    if (is_held(j, side))
        return lay_held(j, by, side, cycles);
    if (load->u.tensor->space == AXE_SPACE_TMEM)
        return lay_lanes(j, by, side, cycles);
    return lay_shared(j, by, side, cycles);
}
