/* turn.c - subscripts between devices that turn them along an axis.
 *
 * Where C[P @ gpu, M] is read at C[(p + s) % P, m], and devices share p, each
 * needs what one other has: C as P@(gpu+s), M.  So it is wherever a subscript,
 * modulo its dimension, goes by whole blocks of devices.  What is added may be
 * another number each time that a loop comes by: then there is a plan for each.
 */
#include "base/ctx.h"
#include "run/dist/dist_int.h"

/* ---------------------------------------------------------------- subscripts
 */

typedef struct uses {
    const axe_var *index; /* the one that is looked for */
    bool           it, others, loops;
} uses;

static void
note_use(void *user, const axe_node *n)
{
    uses *u = user;

    u->others = u->others || n->op == AXE_OP_load || n->op == AXE_OP_reduce;
    if (n->op != AXE_OP_var)
        return;
    u->it = u->it || n->u.var == u->index;
    u->loops = u->loops || n->u.var->kind == AXE_VAR_LOOP;
    u->others =
        u->others || (n->u.var != u->index && n->u.var->kind != AXE_VAR_LOOP &&
                      n->u.var->kind != AXE_VAR_SIZE);
}

static uses
uses_of(const axe_node *n, const axe_var *index)
{
    uses u = {.index = index};

    axe_node_walk(n, note_use, &u);
    return u;
}

/* Is n c * index + s, c of sizes alone, s of these and of loops around? */
static bool
is_linear(const axe_node *n, const axe_var *index)
{
    uses u = uses_of(n, index);

    if (u.others)
        return false;
    if (!u.it || n->op == AXE_OP_var)
        return true;
    if (n->op == AXE_OP_add || n->op == AXE_OP_sub)
        return is_linear(n->arg[0], index) && is_linear(n->arg[1], index);
    if (n->op == AXE_OP_neg)
        return is_linear(n->arg[0], index);
    for (int i = 0; n->op == AXE_OP_mul && i < 2; i++) {
        uses c = uses_of(n->arg[i], index);

        if (!c.it && !c.loops && is_linear(n->arg[1 - i], index))
            return true;
    }
    return false;
}

static int64_t
value_at(const axe_dist *d, const axe_frame *f, const axe_dist_turn *t,
         int64_t index)
{
    axe_frame at = {t->index, index, f};

    return axe_dist_value(d, &at, 0, t->by);
}

static int64_t
modulo(int64_t a, int64_t n)
{
    return (a % n + n) % n;
}

/* The index that a linear subscript goes by, and whether it is modulo `whole`.
 */
static bool
find_index(const axe_chooser *c, const axe_node *sub, int64_t whole,
           axe_dist_turn *t, int *index, bool *wraps)
{
    int64_t n = 0;

    *wraps = sub->op == AXE_OP_mod;
    if (*wraps) {
        uses u = uses_of(sub->arg[1], NULL);

        n = u.others || u.loops ? 0
                                : axe_dist_value(c->d, NULL, 0, sub->arg[1]);
    }
    t->by = *wraps ? sub->arg[0] : sub;
    for (int i = 0; i < c->n_index; i++)
        if (uses_of(t->by, c->index[i]).it) {
            *index = i;
            t->index = c->index[i];
            return (!*wraps || n == whole) && is_linear(t->by, t->index) &&
                   axe_dist_value(c->d, NULL, 0, c->extent[i]) == whole;
        }
    return false;
}

bool
axe_turn_find(const axe_chooser *c, const axe_node *sub, const axe_node *extent,
              int axis, int *index, axe_dist_turn *out)
{
    int64_t n = c->d->mesh->axis[axis].size, add;
    int64_t whole = axe_dist_value(c->d, NULL, 0, axe_extent_whole(extent));
    bool    wraps;

    *out = (axe_dist_turn){.axis = axis, .block = whole / n};
    if (out->block < 1 || whole % n != 0 ||
        !find_index(c, sub, whole, out, index, &wraps))
        return false;
    add = value_at(c->d, NULL, out, 0);
    out->mul = n > 1 ? modulo(value_at(c->d, NULL, out, 1) - add, n) : 1;
    out->loops = uses_of(out->by, out->index).loops;
    if (!wraps)
        return out->block == 1 && !out->loops && add == whole - 1 &&
               value_at(c->d, NULL, out, 1) == add - 1;
    if (axe_gcd(out->mul, n) != 1)
        return false;
    return out->block == 1 || (!out->loops && add % out->block == 0 &&
                               value_at(c->d, NULL, out, 1) == add + 1);
}

/* The one axis that cuts an index by the choice; -1: none, or several do. */
static int
axis_of(const axe_chooser *c, int index)
{
    int axis = -1, n = 0;

    for (int a = 0; a < c->d->k->n_axis; a++)
        if (c->choice[a] == index) {
            axis = a;
            n++;
        }
    return n == 1 ? axis : -1;
}

int
axe_cut_index(const axe_chooser *c, const axe_node *sub, const axe_node *extent,
              axe_dist_turn *turn)
{
    int i = axe_lone_index(c, sub, extent);

    turn->index = NULL;
    if (i >= 0)
        return i;
    for (int a = 0; a < c->d->k->n_axis; a++)
        if (axe_turn_find(c, sub, extent, a, &i, turn) && axis_of(c, i) == a)
            return i;
    turn->index = NULL;
    return -1;
}

bool
axe_turns_same(const axe_turning *a, const axe_turning *b)
{
    bool same = (a ? a->n : 0) == (b ? b->n : 0);

    for (int i = 0; same && a && i < a->n; i++)
        same = a->turn[i].dim == b->turn[i].dim &&
               a->turn[i].axis == b->turn[i].axis &&
               a->turn[i].index == b->turn[i].index &&
               axe_node_same(a->turn[i].by, b->turn[i].by);
    return same;
}

/* ------------------------------------------------------------------- plans */

/* By how many blocks devices are turned along an axis. */
static int64_t
add_of(const axe_dist *d, const axe_frame *f, const axe_dist_turn *t)
{
    return modulo(value_at(d, f, t, 0) / t->block, d->mesh->axis[t->axis].size);
}

/* The plan of what is added now, by the axes, the last counting first. */
static int64_t
number_of(const axe_dist *d, const axe_frame *f, const axe_turning *t)
{
    int64_t n = 0;

    for (int i = 0; i < t->n; i++)
        n = n * d->mesh->axis[t->turn[i].axis].size + add_of(d, f, &t->turn[i]);
    return n;
}

static void
set_adds(const axe_dist *d, axe_turning *t, int64_t number)
{
    for (int i = t->n - 1; i >= 0; i--) {
        int64_t e = d->mesh->axis[t->turn[i].axis].size;

        t->turn[i].add = number % e;
        number /= e;
    }
}

static bool
has_loops(const axe_turning *t)
{
    bool loops = false;

    for (int i = 0; i < t->n; i++)
        loops = loops || t->turn[i].loops;
    return loops;
}

axe_status
axe_turning_plan(axe_ctx *cx, const axe_dist *d, const axe_tensor *from,
                 const axe_tensor *to, axe_turning *t,
                 const axe_reshard_plan **out)
{
    int64_t n = 1;

    set_adds(d, t, number_of(d, NULL, t));
    if (!has_loops(t))
        return axe_dist_reshard(cx, d, from, to, t, out);
    for (int i = 0; i < t->n; i++)
        n *= d->mesh->axis[t->turn[i].axis].size;
    t->n_plan = n;
    t->plan = axe_new_array(cx, const axe_reshard_plan *, n);
    for (int64_t i = n - 1; i >= 0; i--) {
        set_adds(d, t, i);
        AXE_TRY(axe_dist_reshard(cx, d, from, to, t, &t->plan[i]));
    }
    set_adds(d, t, n > 1);
    *out = t->plan[n > 1];
    return AXE_OK;
}

const axe_reshard_plan *
axe_dist_plan_at(const axe_dist *d, const axe_frame *f,
                 const axe_between_arg *a)
{
    const axe_turning *t = a->turning;

    if (a->halo && a->halo->n_loop > 0)
        return axe_halo_plan_at(d, f, a->halo);
    return t && t->plan ? t->plan[number_of(d, f, t)] : a->plan;
}
