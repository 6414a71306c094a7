/* between.c - statements between devices: what is computed where.
 *
 * Each axis of the mesh may cut one index of the statement, over which devices
 * then share the iterations.  Operands are needed cut where a subscript is that
 * index, and whole elsewhere; the result is cut where the index is on its left,
 * and consists of addends where it is summed over.  All choices are priced, and
 * the cheapest is taken. */
#include <string.h>

#include "base/ctx.h"
#include "run/dist/dist_int.h"

/* Of choices, and of pairs of devices that halos are planned for to price them.
 */
enum { MOST_CHOICES = 1024, MOST_PAIRS = 1 << 16 };

/* What an iteration takes [us], where nothing is known of it. */
static const double iteration_us = 1e-3;

/* ---------------------------------------------------------------- choices */

const axe_tensor *
axe_between_whole(const axe_tensor *t)
{
    return t->local ? t->local : t;
}

/* The index that is all of a subscript. */
int
axe_lone_index(const axe_chooser *c, const axe_node *sub,
               const axe_node *extent)
{
    for (int i = 0; i < c->n_index; i++)
        if (sub->op == AXE_OP_var && sub->u.var == c->index[i] &&
            axe_node_same(c->extent[i], extent))
            return i;
    return -1;
}

static void
add_index(axe_chooser *c, const axe_var *v, const axe_node *extent)
{
    if (c->n_index == MOST_INDICES)
        return;
    c->index[c->n_index] = v;
    c->extent[c->n_index++] = extent;
}

/* Indices of the left side, each all of a dimension (ir/check_mesh.c). */
static void
take_left(axe_chooser *c)
{
    for (int i = 0; i < c->s->n_free; i++)
        add_index(c, c->s->dim[i].var, c->s->dim[i].extent);
    c->n_free = c->n_index;
}

/* Indices that all of the value is a sum over. */
static void
take_summed(axe_chooser *c)
{
    const axe_node *v = c->s->value;

    if (v->op != AXE_OP_reduce || v->u.reduce.fold != AXE_FOLD_SUM ||
        axe_type_table[v->type].bits < 32)
        return;
    for (int i = 0; i < v->u.reduce.n_over; i++)
        add_index(c, v->u.reduce.over[i], v->u.reduce.extent[i]);
}

/* ------------------------------------------------------ parts by a choice */

/* One that is there already, or NULL. */
static const axe_var *
find_part(const axe_chooser *c, const axe_shard *p)
{
    const axe_var *v = axe_shard_find(c->d->k->n_size, c->d->k->size, p);

    if (!p->window)
        return v ? v
                 : axe_shard_find(
                       c->made.n,
                       (const axe_var *const *)(const void *)c->made.item, p);
    for (int i = 0; i < c->made.n; i++) {
        const axe_var   *m = c->made.item[i];
        const axe_shard *q = m->part;

        if (q && q->window && q->first == p->first &&
            axe_dist_window_same(q->window, p->window))
            return m;
    }
    return NULL;
}

const axe_node *
axe_size_of_part(axe_chooser *c, axe_shard p, const char *name)
{
    const axe_var *v = find_part(c, &p);
    axe_shard     *mine = axe_new(c->cx, axe_shard);
    axe_var       *made;

    if (v)
        return axe_var_node(c->cx, AXE_NOWHERE, v);
    *mine = p;
    made = axe_new(c->cx, axe_var);
    made->kind = AXE_VAR_SIZE;
    made->name = axe_intern(c->cx, name, strlen(name));
    made->unit = axe_unit_symbol(c->cx, made->name);
    mine->text =
        p.first || p.window ? made->name : axe_shard_text(c->cx, c->d->k, mine);
    made->part = mine;
    made->id = -1; /* numbered where a kernel has it */
    axe_list_push(&c->made, made);
    return axe_var_node(c->cx, AXE_NOWHERE, made);
}

/* How many values of the index a device has, or from which on; its extent, or
 * NULL, where it is not cut. */
const axe_node *
axe_cut_extent(axe_chooser *c, int index, bool first)
{
    int      *axis = axe_new_array(c->cx, int, c->d->k->n_axis);
    axe_shard p = {.whole = c->extent[index], .axis = axis, .first = first};

    for (int a = 0; a < c->d->k->n_axis; a++)
        if (c->choice[a] == index)
            axis[p.n_axis++] = a;
    if (p.n_axis == 0)
        return first ? NULL : c->extent[index];
    return axe_size_of_part(c, p,
                            axe_textf(c->cx, "%s%s",
                                      axe_shard_name(c->cx, c->d->k, &p),
                                      first ? ".first" : ""));
}

static void
add_turn(axe_ctx *cx, int rank, int dim, axe_dist_turn turn, axe_turning **t)
{
    if (!*t) {
        *t = axe_new(cx, axe_turning);
        (*t)->turn = axe_new_array(cx, axe_dist_turn, rank);
    }
    turn.dim = dim;
    (*t)->turn[(*t)->n++] = turn;
}

/* Does an axis cut the index by the choice? */
static bool
is_cut_index(const axe_chooser *c, int index)
{
    for (int a = 0; a < c->d->k->n_axis; a++)
        if (c->choice[a] == index)
            return true;
    return false;
}

/* An axis cuts one dimension of a tensor: of X[n, n] the first, and of the
 * other one devices look at a window. */
int
axe_load_index(const axe_chooser *c, const axe_node *load, int dim,
               axe_dist_turn *turn)
{
    const axe_node *const *shape = load->u.tensor->shape;
    axe_dist_turn          first;
    int                    i;

    turn->index = NULL;
    if (load == c->numbers)
        return -1;
    i = axe_cut_index(c, load->arg[dim], shape[dim], turn);
    for (int k = 0; k < dim && i >= 0 && is_cut_index(c, i); k++)
        if (axe_cut_index(c, load->arg[k], shape[k], &first) == i) {
            turn->index = NULL;
            return -1;
        }
    return i;
}

axe_tensor *
axe_needed(axe_chooser *c, const axe_node *load, axe_turning **turning)
{
    const axe_tensor *whole = load->u.tensor;
    axe_tensor       *t = axe_new(c->cx, axe_tensor);
    const axe_halo   *h = axe_halo_of(c, load);
    const axe_node  **shape =
        axe_new_array(c->cx, const axe_node *, whole->rank);

    *t = *whole;
    t->held = NULL;
    t->whole = t->local = NULL;
    *turning = NULL;
    for (int k = 0; k < whole->rank; k++) {
        axe_dist_turn turn;
        int           i = axe_load_index(c, load, k, &turn);

        if (turn.index && !(h && h->window[k]))
            add_turn(c->cx, whole->rank, k, turn, turning);
        shape[k] = h && h->window[k]
                       ? axe_halo_extent(c, h, h->window[k], false)
                   : i >= 0 ? axe_cut_extent(c, i, false)
                            : whole->shape[k];
    }
    t->shape = shape;
    return t;
}

/* The result, which consists of addends where sums are cut. */
static axe_tensor *
made_result(axe_chooser *c)
{
    axe_turning *none;
    axe_tensor  *t = axe_needed(c, c->s->dst, &none);
    axe_held    *h = axe_new(c->cx, axe_held);
    int         *axis = axe_new_array(c->cx, int, c->d->k->n_axis);

    for (int a = 0; a < c->d->k->n_axis; a++)
        if (c->choice[a] >= c->n_free && c->choice[a] < c->n_index)
            axis[h->n_partial++] = a;
    h->partial = axis;
    t->held = h->n_partial > 0 ? h : NULL;
    return t;
}

/* --------------------------------------------------------------- axe_operands
 */

/* The operand that is this tensor, needed so. */
const axe_between_arg *
axe_operand_needed(const axe_operands *o, int tensor, const axe_tensor *need,
                   const axe_turning *turning)
{
    for (int i = 0; i < o->arg.n; i++) {
        const axe_between_arg *a = o->arg.item[i];
        bool same = a->tensor == tensor && axe_turns_same(a->turning, turning);

        for (int k = 0; k < need->rank && same; k++)
            same = axe_node_same(a->local->shape[k], need->shape[k]);
        if (same)
            return a;
    }
    return NULL;
}

static void
visit_operand(void *user, const axe_node *n)
{
    axe_operands    *o = user;
    axe_chooser     *c = o->c;
    axe_between_arg *a;
    axe_tensor      *need;
    axe_turning     *turning;
    int              tensor;

    if (n->op != AXE_OP_load || o->status != AXE_OK)
        return;
    tensor = axe_dist_find(c->d, n->u.tensor->name);
    need = axe_needed(c, n, &turning);
    if (axe_operand_needed(o, tensor, need, turning))
        return;
    a = axe_new(c->cx, axe_between_arg);
    a->tensor = tensor;
    a->local = need;
    a->turning = turning;
    a->numbers = n == c->numbers ? n : NULL;
    a->halo = axe_halo_of(c, n);
    if (a->halo)
        o->status = axe_halo_plan(c->cx, c->d, NULL, need, a->halo, &a->plan);
    else if (turning)
        o->status =
            axe_turning_plan(c->cx, c->d, axe_between_whole(n->u.tensor), need,
                             turning, &a->plan);
    else if (n->u.tensor->rank > 0)
        o->status = axe_dist_reshard(
            c->cx, c->d, axe_between_whole(n->u.tensor), need, NULL, &a->plan);
    if (o->status == AXE_OK)
        axe_bound_find(o, n, a);
    o->time += a->plan && !a->bound && n != c->numbers ? a->plan->time : 0;
    axe_list_push(&o->arg, a);
}

static double
work(axe_chooser *c)
{
    double n = iteration_us;

    for (int i = 0; i < c->n_index; i++)
        n *= (double)axe_dist_value(c->d, NULL, 0, axe_cut_extent(c, i, false));
    return n;
}

/* What hangs on the choice alone. */
static axe_status
open_choice(axe_chooser *c)
{
    c->halo = (axe_list){.cx = c->cx};
    AXE_TRY(axe_bound_open(c));
    return axe_halo_open(c);
}

/* What the statement takes by this choice. */
static axe_status
price(axe_chooser *c, axe_operands *o, axe_between_arg *result, double *cost)
{
    const axe_tensor *dst = axe_between_whole(c->s->dst->u.tensor);

    *o = (axe_operands){.c = c, .arg = {.cx = c->cx}};
    AXE_TRY(open_choice(c));
    axe_node_walk(c->s->value, visit_operand, o);
    AXE_TRY(o->status);
    *result = (axe_between_arg){.tensor = axe_dist_find(c->d, dst->name),
                                .local = made_result(c)};
    AXE_TRY(
        axe_dist_reshard(c->cx, c->d, result->local, dst, NULL, &result->plan));
    o->time += result->plan ? result->plan->time : 0;
    *cost = o->time + work(c);
    return AXE_OK;
}

/* Devices have parts of sizes and constants; a count of another kind, as
 * `2*M + 1`, is whole on each. */
static bool
may_cut(const axe_chooser *c)
{
    const axe_node *e;
    int64_t         n;

    for (int a = 0; a < c->d->k->n_axis; a++) {
        e = c->choice[a] < c->n_index ? c->extent[c->choice[a]] : NULL;
        if (e && e->op != AXE_OP_var && !axe_is_iconst(e, &n))
            return false;
    }
    return true;
}

/* Price a choice; *may false where there is none, for want of a plan to what it
 * needs.  The first, by which nothing is cut, has to be there. */
static axe_status
try_choice(axe_chooser *c, bool is_first, axe_operands *o,
           axe_between_arg *result, double *cost, bool *may)
{
    axe_mark   m = axe_ctx_mark(c->cx);
    axe_list   made = c->made;
    axe_status status;

    *may = may_cut(c);
    if (!*may)
        return AXE_OK;
    status = price(c, o, result, cost);
    if (is_first || !axe_dist_no_plan(status))
        return status;
    axe_ctx_release(c->cx, m);
    c->made = made;
    *may = false;
    return AXE_OK;
}

/* The next choice, as a number counts; false behind the last. */
static bool
next_choice(axe_chooser *c)
{
    for (int a = c->d->k->n_axis - 1; a >= 0; a--) {
        if (c->choice[a] > 0) {
            c->choice[a]--;
            return true;
        }
        c->choice[a] = c->n_index;
    }
    return false;
}

/* ------------------------------------------------------------------- plans */

/* Does a copy take the source turned along the axis that the result's dimension
 * is cut along? */
static bool
turns(const axe_chooser *c, int dim, axe_dist_turn *turn)
{
    const axe_node *v = c->s->value, *dst = c->s->dst;
    const axe_node *e = axe_between_whole(dst->u.tensor)->shape[dim];
    int             index;

    return axe_is_cut(e) && e->u.var->part->n_axis == 1 &&
           axe_turn_find(c, v->arg[dim], v->u.tensor->shape[dim],
                         e->u.var->part->axis[0], &index, turn) &&
           dst->arg[dim]->u.var == turn->index;
}

/* dst[m, n] = src[m, n], all of both; or turned. */
static bool
is_copy(const axe_chooser *c, axe_turning **turning)
{
    const axe_node *v = c->s->value, *dst = c->s->dst;
    axe_dist_turn   turn;

    *turning = NULL;
    if (v->op != AXE_OP_load || v->n_arg != dst->n_arg || v->n_arg == 0)
        return false;
    for (int k = 0; k < v->n_arg; k++)
        if (turns(c, k, &turn))
            add_turn(c->cx, v->n_arg, k, turn, turning);
        else if (axe_lone_index(c, v->arg[k], v->u.tensor->shape[k]) < 0 ||
                 !axe_node_same(v->arg[k], dst->arg[k]))
            return false;
    return true;
}

/* A copy is a plan from one layout to another, and nothing is computed. */
static axe_status
plan_copy(const axe_chooser *c, axe_turning *turning, axe_between *out)
{
    const axe_tensor *src = axe_between_whole(c->s->value->u.tensor);
    const axe_tensor *dst = axe_between_whole(c->s->dst->u.tensor);
    axe_between_arg  *a = axe_new(c->cx, axe_between_arg);

    a->tensor = axe_dist_find(c->d, src->name);
    a->local = src;
    out->n_arg = 1;
    out->arg = a;
    out->result.tensor = axe_dist_find(c->d, dst->name);
    out->result.local = src;
    out->result.turning = turning;
    AXE_TRY(turning ? axe_turning_plan(c->cx, c->d, src, dst, turning,
                                       &out->result.plan)
                    : axe_dist_reshard(c->cx, c->d, src, dst, NULL,
                                       &out->result.plan));
    out->time = out->result.plan ? out->result.plan->time : 0;
    return AXE_OK;
}

/* *planned false: the copy turns devices, and there is no plan for that. */
static axe_status
try_copy(const axe_chooser *c, axe_turning *turning, axe_between *out,
         bool *planned)
{
    axe_mark   m = axe_ctx_mark(c->cx);
    axe_number type;
    axe_status status;

    AXE_TRY(
        axe_dist_number(c->cx, axe_between_whole(c->s->dst->u.tensor), &type));
    status = plan_copy(c, turning, out);
    *planned = !turning || !axe_dist_no_plan(status);
    if (*planned)
        return status;
    axe_ctx_release(c->cx, m);
    *out = (axe_between){.stmt = c->s};
    return AXE_OK;
}

/* Would it take long to plan halos for each choice, pair by pair of devices? */
static bool
has_many_pairs(const axe_chooser *c)
{
    int64_t n = c->d->n_device, pairs = n * n, choices = 1;

    for (int a = 0; a < c->d->k->n_axis && choices < MOST_CHOICES; a++)
        choices *= c->n_index + 1;
    return n > AXE_WINDOWED_MOST ||
           pairs >
               MOST_PAIRS / (choices < MOST_CHOICES ? choices : MOST_CHOICES);
}

/* Price the choice that is made once more, with its halos. */
static axe_status
add_halos(axe_chooser *c, axe_operands *o, axe_between_arg *result)
{
    double cost;
    bool   may;

    c->no_halo = false;
    AXE_TRY(try_choice(c, false, o, result, &cost, &may));
    c->no_halo = !may;
    return may ? AXE_OK : price(c, o, result, &cost);
}

/* The cheapest choice, in c; what it needs and makes. */
static axe_status
choose(axe_chooser *c, axe_operands *o, axe_between_arg *result)
{
    int             choice[MOST_INDICES];
    double          cost, least = -1;
    axe_operands    one;
    axe_between_arg made;

    c->no_halo = has_many_pairs(c);
    for (int a = 0; a < c->d->k->n_axis; a++)
        c->choice[a] = c->n_index;
    for (int n = 0; n < MOST_CHOICES; n++) {
        bool may;

        AXE_TRY(try_choice(c, n == 0, &one, &made, &cost, &may));
        if (may && (least < 0 || cost < least)) {
            least = cost;
            *result = made;
            *o = one;
            memcpy(choice, c->choice, sizeof choice);
        }
        if (!next_choice(c))
            break;
    }
    memcpy(c->choice, choice, sizeof choice);
    return c->no_halo ? add_halos(c, o, result) : open_choice(c);
}

/* An operand as it stays: where its windows go by loops, with a plan for each
 * of their values. */
static axe_status
settle(axe_ctx *cx, const axe_dist *d, axe_between_arg *a)
{
    axe_halo *h;

    if (!a->halo || a->halo->n_loop == 0)
        return AXE_OK;
    h = axe_new(cx, axe_halo);
    *h = *a->halo;
    a->halo = h;
    return axe_halo_plan_loops(cx, d, a->local, h, &a->plan);
}

axe_status
axe_between_plan(axe_ctx *cx, const axe_dist *d, const axe_stmt *s, int number,
                 axe_between *out)
{
    axe_chooser      c = {.cx = cx, .d = d, .s = s, .made = {.cx = cx}};
    axe_operands     o = {0};
    axe_between_arg *arg;
    axe_turning     *turning;
    bool             planned;

    *out = (axe_between){.stmt = s};
    take_left(&c);
    if (is_copy(&c, &turning)) {
        AXE_TRY(try_copy(&c, turning, out, &planned));
        if (planned)
            return AXE_OK;
    }
    take_summed(&c);
    AXE_TRY(choose(&c, &o, &out->result));
    arg = axe_new_array(cx, axe_between_arg, o.arg.n);
    for (int i = 0; i < o.arg.n; i++) {
        arg[i] = *(const axe_between_arg *)o.arg.item[i];
        AXE_TRY(settle(cx, d, &arg[i]));
    }
    out->n_arg = o.arg.n;
    out->arg = arg;
    out->time = o.time;
    return axe_between_compile(&c, &o, &out->result, number, &out->program);
}
