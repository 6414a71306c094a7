/* retile.c - tiles of even size, as many as workers need.
 *
 * `cta (i : M by T)` cuts M into tiles of T, the last one small: 520 rows by
 * 512 make one task of 512 and one of 8, and 500 rows one task for all workers.
 * Where a scope variable serves only to say where a tile begins, the tiles may
 * as well begin elsewhere: at multiples of a step of at most T that is chosen
 * at launch, so that tasks are even and their number suits the workers.
 *
 * That is allowed iff nobody can tell.  An index m is *tied* to i where it
 * occurs as i*T + m, and so is a dimension of a tile that a tied index walks.
 * All of these must hold:
 *
 *   i occurs only as i*T + m in subscripts, m running to T, and in no condition
 *   a tied dimension is only walked by whole indices, which are tied by it
 *   a tied index is free: never folded, never a value, and the destination has
 *   it, tied
 *   a statement that has a tied index has it wherever it reads a global tensor
 *   every statement that writes a global tensor has an index tied to i, and
 *   the tensor ends where i's tiles do
 *
 * Then rows are independent, and which tile computes a row does not matter. */
#include <string.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

enum { MAX_TIE = 64 };

/* An index variable of a statement, or (var NULL) a dimension of a tile. */
typedef struct tie {
    const axe_stmt   *stmt;
    const axe_var    *var;
    const axe_tensor *tensor;
    int               dim;
} tie;

typedef struct ties {
    axe_planner   *p;
    const axe_var *scope;
    int64_t        tile;
    bool           ok, grew;
    int            n;
    tie            tie[MAX_TIE];
} ties;

static bool
is_tied(const ties *t, tie want)
{
    for (int i = 0; i < t->n; i++)
        if (t->tie[i].stmt == want.stmt && t->tie[i].var == want.var &&
            t->tie[i].tensor == want.tensor && t->tie[i].dim == want.dim)
            return true;
    return false;
}

static void
add_tie(ties *t, tie new)
{
    if (is_tied(t, new))
        return;
    if (t->n == MAX_TIE)
        t->ok = false;
    else
        t->tie[t->n++] = new;
    t->grew = true;
}

/* The m of scope*T + m, or NULL. */
static const axe_var *
tile_index(const ties *t, const axe_node *sub)
{
    axe_affine a;

    if (!axe_affine_of(t->p->cx, sub, &a) || a.n != 2 || a.constant != 0)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (a.var[i] == t->scope && a.coef[i] == t->tile &&
            a.var[1 - i]->kind == AXE_VAR_INDEX && a.coef[1 - i] == 1)
            return a.var[1 - i];
    return NULL;
}

static void
tie_access(ties *t, const axe_stmt *s, const axe_node *load)
{
    for (int d = 0; d < load->n_arg; d++) {
        const axe_node *sub = load->arg[d];
        const axe_var  *m = tile_index(t, sub);
        tie             dim = {.tensor = load->u.tensor, .dim = d};
        if (m)
            add_tie(t, (tie){.stmt = s, .var = m});
        else if (axe_mentions(sub, t->scope))
            t->ok = false;
        if (load->u.tensor->space == AXE_SPACE_GLOBAL)
            continue;
        bool whole = sub->op == AXE_OP_var;
        if (is_tied(t, dim)) {
            t->ok = t->ok && whole && sub->u.var->kind == AXE_VAR_INDEX;
            if (whole)
                add_tie(t, (tie){.stmt = s, .var = sub->u.var});
        } else if (whole && is_tied(t, (tie){.stmt = s, .var = sub->u.var}))
            add_tie(t, dim);
    }
}

typedef void access_fn(ties *t, const axe_stmt *s, const axe_node *load);

static void
each_load(ties *t, const axe_stmt *s, const axe_node *n, access_fn *fn)
{
    if (n->op == AXE_OP_load) {
        fn(t, s, n);
        return;
    }
    for (int i = 0; i < n->n_arg; i++)
        each_load(t, s, n->arg[i], fn);
}

static void
each_access(ties *t, int n, axe_stmt *const *body, access_fn *fn)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX) {
            fn(t, body[i], body[i]->dst);
            each_load(t, body[i], body[i]->value, fn);
        }
        each_access(t, body[i]->n_body, body[i]->body, fn);
        each_access(t, body[i]->n_other, body[i]->other, fn);
    }
}

/* Does the access have the tied index m, and only as its kind of tensor must?
 */
static bool
has_tied(const ties *t, const axe_node *load, const axe_var *m)
{
    bool any = false;

    for (int d = 0; d < load->n_arg; d++) {
        const axe_node *sub = load->arg[d];
        bool            here = load->u.tensor->space == AXE_SPACE_GLOBAL
                                   ? tile_index(t, sub) == m
                                   : sub->op == AXE_OP_var && sub->u.var == m;
        if (!here && axe_mentions(sub, m))
            return false;
        any = any || here;
    }
    return any;
}

static bool
mentions_in(const axe_node *load, const axe_var *m)
{
    for (int d = 0; d < load->n_arg; d++)
        if (axe_mentions(load->arg[d], m))
            return true;
    return false;
}

/* Is the variable used outside subscripts, or folded? */
static bool
used_as_value(const axe_node *n, const axe_var *v)
{
    if (n->op == AXE_OP_load)
        return false;
    if (n->op == AXE_OP_var)
        return n->u.var == v;
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == v)
            return true;
    for (int i = 0; i < n->n_arg; i++)
        if (used_as_value(n->arg[i], v))
            return true;
    return false;
}

static void
check_tied_load(ties *t, const axe_stmt *s, const axe_node *load)
{
    for (int i = 0; i < t->n; i++) {
        const axe_var *m = t->tie[i].var;
        if (t->tie[i].stmt == s && m && mentions_in(load, m) &&
            !has_tied(t, load, m))
            t->ok = false;
    }
}

/* Does what is written by tiles end where the tiles do?  Rows behind would be
 * written, too, by the last tile as the kernel has it. */
static bool
ends_with_tiles(const ties *t, const axe_node *dst)
{
    for (int d = 0; d < dst->n_arg; d++) {
        const axe_node *size = dst->u.tensor->shape[d];
        if (dst->u.tensor->space == AXE_SPACE_GLOBAL &&
            tile_index(t, dst->arg[d]) &&
            !axe_node_same(t->scope->extent->arg[0], size))
            return false;
    }
    return true;
}

static void
check_stmt(ties *t, const axe_stmt *s)
{
    bool tied = false;

    for (int i = 0; i < t->n; i++) {
        const axe_var *m = t->tie[i].var;
        bool           is_free = false;
        if (t->tie[i].stmt != s || !m)
            continue;
        tied = true;
        for (int k = 0; k < s->n_free; k++)
            is_free = is_free || (s->dim[k].var == m &&
                                  axe_dim_extent(&s->dim[k]) == t->tile);
        if (!is_free || used_as_value(s->value, m) || !has_tied(t, s->dst, m))
            t->ok = false;
    }
    if (used_as_value(s->value, t->scope) ||
        (s->dst->u.tensor->space == AXE_SPACE_GLOBAL && !tied) ||
        !ends_with_tiles(t, s->dst))
        t->ok = false;
    check_tied_load(t, s, s->dst);
    each_load(t, s, s->value, check_tied_load);
}

static void
check_body(ties *t, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < body[i]->n_var; k++)
            if (body[i]->var[k]->extent &&
                axe_mentions(body[i]->var[k]->extent, t->scope))
                t->ok = false;
        if (body[i]->cond && axe_mentions(body[i]->cond, t->scope))
            t->ok = false;
        if (body[i]->kind == AXE_STMT_INDEX)
            check_stmt(t, body[i]);
        check_body(t, body[i]->n_body, body[i]->body);
        check_body(t, body[i]->n_other, body[i]->other);
    }
}

/* Only where a contraction walks a tied index is a tile large enough to care.
 */
static int64_t
contracted(ties *t, int n, axe_stmt *const *body)
{
    int64_t found = 0;

    for (int i = 0; i < n && found == 0; i++) {
        if (body[i]->kind == AXE_STMT_INDEX && axe_contract_may(body[i]))
            for (int k = 0; k < t->n; k++)
                found += t->tie[k].stmt == body[i];
        found += contracted(t, body[i]->n_body, body[i]->body);
        found += contracted(t, body[i]->n_other, body[i]->other);
    }
    return found;
}

static bool
allowed(axe_planner *p, const axe_stmt *s, const axe_var *v, int64_t tile)
{
    ties *t = axe_new(p->cx, ties);

    *t = (ties){.p = p, .scope = v, .tile = tile, .ok = true};
    do {
        t->grew = false;
        each_access(t, s->n_body, s->body, tie_access);
    } while (t->grew && t->ok);
    check_body(t, s->n_body, s->body);
    return t->ok && contracted(t, s->n_body, s->body) > 0;
}

static const axe_var *
made_var(axe_planner *p, const axe_var *of, const char *what)
{
    axe_var *v = axe_new(p->cx, axe_var);

    *v = (axe_var){
        .kind = AXE_VAR_LOOP,
        .name = axe_textf(p->cx, "%s.%s", of->name, what),
        .at = of->at,
        .id = p->kernel->n_var,
    };
    return v;
}

/* The scope variables of s. */
static void
retile_scope(axe_planner *p, const axe_stmt *s)
{
    /* Others count its tiles as they are written; or where a tile begins, and
     * so what is summed how, must not depend on the number of workers. */
    if (s->keys.overlap > 0 || s->keys.deterministic)
        return;
    for (int i = 0; i < s->n_var; i++) {
        const axe_node *e = s->var[i]->extent;
        int64_t         tile;
        if (e->op != AXE_OP_cdiv || !axe_is_iconst(e->arg[1], &tile) ||
            !allowed(p, s, s->var[i], tile))
            continue;
        p->retile[p->n_retile++] = (axe_retile){
            .scope = s->var[i],
            .origin = made_var(p, s->var[i], "at"),
            .step = made_var(p, s->var[i], "step"),
            .size = e->arg[0],
            .tile = tile,
            .round = 1,
        };
    }
}

/* fn(scope) for every scope at the top, also in loops and branches there. */
static int
each_top(axe_planner *p, int n, axe_stmt *const *body,
         void (*fn)(axe_planner *p, const axe_stmt *s))
{
    int n_var = 0;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_SCOPE) {
            if (fn)
                fn(p, s);
            n_var += s->n_var;
            continue;
        }
        n_var += each_top(p, s->n_body, s->body, fn);
        n_var += each_top(p, s->n_other, s->other, fn);
    }
    return n_var;
}

void
axe_find_retiles(axe_planner *p)
{
    const axe_kernel *k = p->kernel;

    p->retile = axe_new_array(p->cx, axe_retile,
                              each_top(p, k->n_body, k->body, NULL) + 1);
    each_top(p, k->n_body, k->body, retile_scope);
}

/* Steps are whole register tiles: of those contractions whose bounds, by way of
 * their operands' guards, speak of this scope variable. */
void
axe_round_retiles(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        for (int b = 0; s && s->kind == AXE_SCHED_CONTRACT && b < s->n_bound;
             b++)
            for (int k = 0; k < p->n_retile; k++) {
                axe_retile *r = &p->retile[k];
                int64_t     n =
                    s->bound[b].var == s->core->tile.m ? s->core->tile.mr
                        : s->bound[b].var == s->core->tile.n
                            ? (int64_t)(s->core->tile.narrow ? 1
                                                             : s->core->tile.nv) *
                              s->nest[0].lanes
                            : 1;
                if (axe_mentions(s->bound[b].limit, r->origin) && n > r->round)
                    r->round = n;
            }
    }
}
