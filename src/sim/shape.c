/* shape.c - atoms as lists of places, made from the layouts of their rows.
 *
 * Element e of an operand is where its layout says; two operands' elements
 * belong together where the indices of equal names are equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/scope_axes.h"
#include "sim/sim_int.h"

enum { MAX_ROLE = 8 };

typedef struct operand {
    int               n; /* roles */
    char              role[MAX_ROLE];
    int64_t           extent[MAX_ROLE];
    const axe_layout *layout;
} operand;

static axe_status
read_operand(sim *s, const sim_shape *sh, int which, operand *o)
{
    int         p = sh->param > 0 ? sh->param : 1;
    const char *roles;
    axe_shape   dims;

    AXE_TRY(axe_atom_operand(s->cx, sh->atom, which, p, &roles, &o->layout));
    dims = axe_layout_shape(s->cx, o->layout);
    o->n = 0;
    for (; *roles; roles++)
        if (*roles != ' ' && *roles != ',' && o->n < MAX_ROLE)
            o->role[o->n++] = *roles;
    if (o->n != dims.n && !(o->n == 0 && o->layout->size == 1))
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: operand %d of %s has not one dimension "
                        "for each role",
                        which, sh->atom->name);
    for (int i = 0; i < o->n; i++)
        o->extent[i] = dims.extent[i];
    return AXE_OK;
}

static int64_t
flat(const operand *o, const operand *all, const int64_t *at)
{
    int64_t x = 0;

    for (int i = 0; i < o->n; i++) {
        int64_t v = 0;
        for (int k = 0; k < all->n; k++)
            if (all->role[k] == o->role[i])
                v = at[k];
        x = x * o->extent[i] + v;
    }
    return x;
}

/* Roles of o that `all` has not are appended. */
static axe_status
unite(sim *s, const sim_shape *sh, operand *all, const operand *o)
{
    for (int i = 0; i < o->n; i++) {
        int k = 0;
        while (k < all->n && all->role[k] != o->role[i])
            k++;
        if (k == MAX_ROLE || (k < all->n && all->extent[k] != o->extent[i]))
            return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "the simulator: operands of %s differ in how far "
                            "%c runs",
                            sh->atom->name, o->role[i]);
        all->role[k] = o->role[i];
        all->extent[k] = o->extent[i];
        all->n += k == all->n;
    }
    return AXE_OK;
}

static bool
next_point(const operand *all, int64_t *at)
{
    for (int i = all->n - 1; i >= 0; i--) {
        if (++at[i] < all->extent[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* ---------------------------------------------------------------- places */

/* A step on an axis that counts warps, or threads, of something. */
static bool
add_coord(const sim *s, axe_axis axis, int64_t v, sim_place *p)
{
    const axe_scope_axis *row = axe_scope_axis_of(s->cx, axis);

    if (axis == AXE_AXIS_M || axe_axis_kind_of(s->cx, axis) == AXE_KIND_REG) {
        p->at += (int32_t)v;
        return true;
    }
    if (!row ||
        (row->counts != AXE_SCOPE_WARP && row->counts != AXE_SCOPE_THREAD))
        return false;
    if (row->counts == AXE_SCOPE_WARP)
        p->warp = (int)v;
    else if (row->within == AXE_SCOPE_WARP)
        p->lane = (int)v;
    else {
        p->warp = (int)(v / s->lanes);
        p->lane = (int)(v % s->lanes);
    }
    return true;
}

/* Places of element x, one for each replica, into out (room for most). */
static axe_status
places(sim *s, const sim_shape *sh, const operand *o, int64_t x, int most,
       sim_place *out, int *n)
{
    axe_points pts;

    AXE_TRY(axe_layout_apply(s->cx, o->layout, x, &pts));
    *n = pts.n_point < most ? pts.n_point : most;
    for (int i = 0; i < *n; i++) {
        out[i] = (sim_place){.warp = -1, .lane = -1};
        for (int k = 0; k < pts.n_axis; k++)
            if (!add_coord(s, pts.axis[k], pts.coord[i * pts.n_axis + k],
                           &out[i]))
                return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                                "the simulator: %s has operands over axis %s",
                                sh->atom->name,
                                axe_axis_name(s->cx, pts.axis[k]));
        if (out[i].lane >= 0 && out[i].warp < 0)
            out[i].warp = 0;
        if (out[i].warp >= 0 && out[i].lane < 0)
            out[i].lane = 0;
    }
    return AXE_OK;
}

/* ----------------------------------------------------------------- moves */

typedef struct pair {
    sim_place to, from, memory;
} pair;

static int
by_memory(const void *a, const void *b)
{
    const sim_place *x = &((const pair *)a)->memory;
    const sim_place *y = &((const pair *)b)->memory;

    if (x->warp != y->warp)
        return x->warp - y->warp;
    if (x->lane != y->lane || x->at != y->at)
        return x->lane != y->lane ? x->lane - y->lane : x->at - y->at;
    return ((const pair *)a)->from.lane - ((const pair *)b)->from.lane;
}

static bool
follows(const sim_place *a, const sim_place *b)
{
    return b->warp == a->warp && b->lane == a->lane && b->at == a->at + 1;
}

static void
cut_runs(sim *s, const sim_shape *sh, const pair *p, sim_moves *m)
{
    bool copy = sh->atom->kind == AXE_ATOM_COPY;

    m->run = axe_new_array(s->own, int, m->n + 1);
    for (int i = 0; i < m->n; i++) {
        bool goes_on = i > 0 && follows(&p[i - 1].memory, &p[i].memory) &&
                       (!copy || follows(&p[i - 1].from, &p[i].from));
        if (!goes_on)
            m->run[m->n_run++] = i;
    }
    m->run[m->n_run] = m->n;
}

static axe_status
make_moves(sim *s, sim_shape *sh)
{
    enum { MOST = MAX_LANES };
    operand    d, a, all = {0};
    int64_t    at[MAX_ROLE] = {0}, n = 1;
    sim_place  to[MOST], from;
    sim_moves *m = axe_new(s->own, sim_moves);
    pair      *p;
    int        n_to, n_from;

    AXE_TRY(read_operand(s, sh, 0, &d));
    AXE_TRY(read_operand(s, sh, 1, &a));
    AXE_TRY(unite(s, sh, &all, &d));
    AXE_TRY(unite(s, sh, &all, &a));
    for (int i = 0; i < all.n; i++)
        n *= all.extent[i];
    p = axe_new_array(s->own, pair, n * MOST);
    do {
        axe_mark mark = axe_ctx_mark(s->cx);
        AXE_TRY(places(s, sh, &d, flat(&d, &all, at), MOST, to, &n_to));
        AXE_TRY(places(s, sh, &a, flat(&a, &all, at), 1, &from, &n_from));
        for (int i = 0; i < n_to; i++)
            p[m->n++] = (pair){to[i], from,
                               sh->atom->kind == AXE_ATOM_LOAD ? from : to[i]};
        axe_ctx_release(s->cx, mark);
    } while (next_point(&all, at));
    qsort(p, (size_t)m->n, sizeof p[0], by_memory);
    cut_runs(s, sh, p, m);
    m->to = axe_new_array(s->own, sim_place, m->n);
    m->from = axe_new_array(s->own, sim_place, m->n);
    for (int i = 0; i < m->n; i++) {
        m->to[i] = p[i].to;
        m->from[i] = p[i].from;
    }
    sh->moves = m;
    m->prefix = d.n == a.n;
    if (sh->atom->kind == AXE_ATOM_PERMUTE && sh->atom->fold == AXE_FOLD_NONE &&
        m->n > s->lanes * 2)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s permutes %d elements",
                        sh->atom->name, m->n);
    return AXE_OK;
}

/* ---------------------------------------------------------- tensor memory */

static axe_status
read_part(sim *s, const sim_shape *sh, const axe_points *pts, int point,
          sim_part *out)
{
    for (int k = 0; k < pts->n_axis; k++) {
        const axe_scope_axis *row = axe_scope_axis_of(s->cx, pts->axis[k]);
        int64_t               v = pts->coord[point * pts->n_axis + k];
        if (pts->axis[k] == AXE_AXIS_M)
            out->at = (int32_t)v;
        else if (row && row->counts == AXE_SCOPE_CTA)
            out->cta = (int)v;
        else
            return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "the simulator: %s has an operand in tensor memory "
                            "over axis %s",
                            sh->atom->name, axe_axis_name(s->cx, pts->axis[k]));
    }
    return AXE_OK;
}

/* What rows or columns i add, and in which CTA of a pair. */
static axe_status
make_parts(sim *s, const sim_shape *sh, const operand *o, int64_t step, int n,
           sim_part *out)
{
    for (int i = 0; i < n; i++) {
        axe_mark   mark = axe_ctx_mark(s->cx);
        axe_points pts;
        AXE_TRY(axe_layout_apply(s->cx, o->layout, i * step, &pts));
        AXE_TRY(read_part(s, sh, &pts, 0, &out[i]));
        axe_ctx_release(s->cx, mark);
    }
    return AXE_OK;
}

/* An operand of two dims in tensor memory.  Replicas of one axis come in order.
 */
static axe_status
make_tile(sim *s, const sim_shape *sh, const operand *o, sim_tile **out)
{
    sim_tile  *t = axe_new(s->own, sim_tile);
    axe_points pts;

    if (o->n != 2)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s has no matrix in tensor memory",
                        sh->atom->name);
    t->rows = (int)o->extent[0];
    t->cols = (int)o->extent[1];
    t->row = axe_new_array(s->own, sim_part, t->rows);
    t->col = axe_new_array(s->own, sim_part, t->cols);
    AXE_TRY(make_parts(s, sh, o, t->cols, t->rows, t->row));
    AXE_TRY(make_parts(s, sh, o, 1, t->cols, t->col));
    AXE_TRY(axe_layout_apply(s->cx, o->layout, 0, &pts));
    t->n_copy = (int)pts.n_point;
    t->copy = axe_new_array(s->own, sim_part, t->n_copy);
    for (int i = 0; i < t->n_copy; i++)
        AXE_TRY(read_part(s, sh, &pts, i, &t->copy[i]));
    *out = t;
    return AXE_OK;
}

/* Is the row for a pair of CTAs? */
static bool
is_pair(const axe_atom *a)
{
    char axis[32];

    snprintf(axis, sizeof axis, "@%s",
             axe_scope_axis_name(AXE_SCOPE_CTA, AXE_SCOPE_CLUSTER));
    return strstr(a->d, axis) != NULL;
}

/* Does the row do with columns what products for a pair need? */
static bool
is_for_pair(const sim *s, const axe_atom *a)
{
    for (int i = 0; i < s->mc->n_atom; i++) {
        const axe_atom *b = &s->mc->atom[i];
        if (b->kind == AXE_ATOM_CONTRACT && strcmp(a->group, b->group) == 0 &&
            is_pair(b))
            return true;
    }
    return false;
}

/* A COPY whose source a descriptor tells of: where it goes. */
static axe_status
make_copy(sim *s, sim_shape *sh)
{
    operand d;

    AXE_TRY(read_operand(s, sh, 0, &d));
    sh->ctas = is_pair(sh->atom) ? 2 : 1;
    return make_tile(s, sh, &d, &sh->tile);
}

/* -------------------------------------------------------------- products */

static bool
has_role(const operand *o, char r)
{
    return memchr(o->role, r, (size_t)o->n) != NULL;
}

/* Extents of roles that are in x and y and not in z, in order of x. */
static void
shared_roles(const operand *x, const operand *y, const operand *z, operand *out)
{
    out->n = 0;
    for (int i = 0; i < x->n; i++)
        if (has_role(y, x->role[i]) && !has_role(z, x->role[i])) {
            out->role[out->n] = x->role[i];
            out->extent[out->n++] = x->extent[i];
        }
}

static int
n_points(const operand *o)
{
    int64_t n = 1;

    for (int i = 0; i < o->n; i++)
        n *= o->extent[i];
    return (int)n;
}

static void
sum_up(sim *s, const sim_side *side, int n, int warp, sim_regs *out)
{
    int32_t hi = -1;

    for (int i = 0; i < n * side->n_copy; i++)
        hi = side->place[i].at > hi ? side->place[i].at : hi;
    axe_lane_set *lanes = axe_new_array(s->own, axe_lane_set, hi + 1);
    bool         *used = axe_new_array(s->own, bool, hi + 1);
    for (int i = 0; i < n * side->n_copy; i++) {
        const sim_place *q = &side->place[i];
        if ((q->warp > 0 ? q->warp : 0) != warp || q->at < 0)
            continue;
        used[q->at] = true;
        if (q->lane >= 0)
            lanes[q->at] |= AXE_ONE_LANE(q->lane);
    }
    out->at = axe_new_array(s->own, int32_t, hi + 1);
    out->lanes = lanes;
    for (int32_t r = 0; r <= hi; r++)
        if (used[r]) {
            out->lanes[out->n] = lanes[r];
            out->at[out->n++] = r;
        }
    out->lo = out->n > 0 ? out->at[0] : 0;
    out->hi = out->n > 0 ? out->at[out->n - 1] : -1;
}

/* Places of an operand as a matrix whose rows and columns are these roles. */
static axe_status
make_side(sim *s, sim_shape *sh, const operand *o, const operand *row,
          const operand *col, bool all_copies, sim_side *out)
{
    enum { MOST = MAX_LANES };
    operand   all = *row;
    int64_t   at[MAX_ROLE] = {0};
    int       n = n_points(row) * n_points(col), got, i = 0;
    sim_place p[MOST];

    AXE_TRY(unite(s, sh, &all, col));
    do {
        axe_mark mark = axe_ctx_mark(s->cx);
        AXE_TRY(places(s, sh, o, flat(o, &all, at), all_copies ? MOST : 1, p,
                       &got));
        axe_ctx_release(s->cx, mark);
        if (!out->place) {
            out->n_copy = got;
            out->place = axe_new_array(s->own, sim_place, n * got);
        }
        for (int k = 0; k < out->n_copy; k++)
            out->place[i++] = p[k];
    } while (next_point(&all, at));
    for (int w = 0; w < s->group_warps; w++)
        sum_up(s, out, n, w, &out->regs[w]);
    return AXE_OK;
}

/* Does the memory have two axes, and no descriptors? */
static bool
by_axes(const sim *s, axe_arg_space in)
{
    return in == AXE_ARG_TMEM ||
           (in == AXE_ARG_SHARED && s->mc->simt->partitions > 0);
}

static axe_status
make_product(sim *s, sim_shape *sh)
{
    const axe_atom *atom = sh->atom;
    sim_product    *p = axe_new(s->own, sim_product);
    operand         c, a, b, m, n, k, o;

    AXE_TRY(read_operand(s, sh, 0, &c));
    AXE_TRY(read_operand(s, sh, 1, &a));
    AXE_TRY(read_operand(s, sh, 2, &b));
    shared_roles(&c, &a, &b, &m);
    shared_roles(&c, &b, &a, &n);
    shared_roles(&a, &b, &c, &k);
    if (m.n + n.n != c.n || m.n + k.n != a.n || n.n + k.n != b.n)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s is no product of matrices",
                        atom->name);
    p->m = n_points(&m);
    p->n = n_points(&n);
    p->k = n_points(&k);
    p->a.memory = atom->space[1] != AXE_ARG_REG;
    p->b.memory = atom->space[2] != AXE_ARG_REG;
    sh->ctas = is_pair(atom) ? 2 : 1;
    p->c.memory = atom->space[0] != AXE_ARG_REG;
    if (p->c.memory)
        AXE_TRY(make_tile(s, sh, &c, &p->c.tile));
    else
        AXE_TRY(make_side(s, sh, &c, &m, &n, true, &p->c));
    if (by_axes(s, atom->space[1]))
        AXE_TRY(make_tile(s, sh, &a, &p->a.tile));
    if (by_axes(s, atom->space[2]))
        AXE_TRY(make_tile(s, sh, &b, &p->b.tile));
    for (int i = 0; i < 2 && atom->scale[i]; i++) {
        AXE_TRY(read_operand(s, sh, 4 + i, &o));
        AXE_TRY(make_tile(s, sh, &o, &p->scale[i]));
    }
    if (!p->a.memory)
        AXE_TRY(make_side(s, sh, &a, &m, &k, false, &p->a));
    if (!p->b.memory)
        AXE_TRY(make_side(s, sh, &b, &k, &n, false, &p->b));
    sh->product = p;
    return AXE_OK;
}

/* ---------------------------------------------------------------- shapes */

/* The tensor whose elements an atom moves: what is in memory, else any. */
static const axe_tensor *
moved(const axe_lir *l)
{
    const axe_tensor *t = NULL;

    for (int i = 0; i < l->n_arg && i < 2; i++)
        if (l->arg[i].tensor && (!t || l->arg[i].space != AXE_ARG_REG))
            t = l->arg[i].tensor;
    return t;
}

static int
group_of(sim *s, const char *name)
{
    if (!name || *name == '\0')
        return -1;
    for (int i = 0; i < s->n_group; i++)
        if (strcmp(s->group[i], name) == 0)
            return i;
    if (s->n_group == MAX_GROUP)
        return -1;
    s->group[s->n_group] = name;
    return s->n_group++;
}

/* Does the machine have fences between what threads do to registers, or to
 * memory, and atoms of the group?  Then these reach it by a way of their own.
 */
static bool
has_fence(const sim *s, const axe_atom *atom, bool registers)
{
    for (int i = 0; i < s->mc->n_atom; i++) {
        const axe_atom *f = &s->mc->atom[i];
        if (f->kind == AXE_ATOM_SYNC && f->sync == AXE_SYNC_FENCE && f->group &&
            (f->space[0] == AXE_ARG_REG) == registers && atom->group &&
            *atom->group != '\0' && strcmp(f->group, atom->group) == 0)
            return true;
    }
    return false;
}

/* Does it work on tensor memory? */
static bool
in_tmem(const axe_atom *a)
{
    return a->space[0] == AXE_ARG_TMEM || a->space[1] == AXE_ARG_TMEM;
}

static axe_status
make_shape(sim *s, sim_shape *sh)
{
    const axe_atom *a = sh->atom;

    sh->group = group_of(s, a->group);
    sh->async = a->kind != AXE_ATOM_SYNC && sh->group >= 0;
    sh->proxy =
        (sh->async || a->sync == AXE_SYNC_TAKE) && has_fence(s, a, false);
    sh->fenced = sh->async && has_fence(s, a, true);
    if (sh->async && a->kind != AXE_ATOM_COPY && !in_tmem(a) &&
        (a->kind != AXE_ATOM_CONTRACT || a->by != AXE_SCOPE_WARPGROUP))
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s is asynchronous, but neither a copy "
                        "nor a warpgroup's product, nor in tensor memory",
                        a->name);
    if (a->kind != AXE_ATOM_SYNC && !sh->async && a->by != AXE_SCOPE_THREAD &&
        a->by != AXE_SCOPE_WARP)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s is issued by more than a warp, and "
                        "not asynchronous",
                        a->name);
    if (a->kind == AXE_ATOM_CONTRACT)
        return make_product(s, sh);
    if (a->sync == AXE_SYNC_ALLOC || a->sync == AXE_SYNC_FREE)
        sh->ctas = is_for_pair(s, a) ? 2 : 1;
    if (a->kind == AXE_ATOM_SYNC || *a->d == '\0')
        return AXE_OK;
    if (a->kind == AXE_ATOM_MAP)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: atom %s is neither a move nor a "
                        "product",
                        a->name);
    if (axe_atom_by_descriptor(a, 1))
        return make_copy(s, sh);
    return make_moves(s, sh);
}

/* Does it move or read elements by themselves, and not the bytes of many? */
static bool
takes_elements(const axe_lir *l)
{
    for (int i = 0; i < l->n_arg; i++)
        if (l->arg[i].space == AXE_ARG_MAP)
            return false;
    return l->atom->kind != AXE_ATOM_CONTRACT;
}

axe_status
axe_sim_shape_of(sim *s, const axe_lir *l, const sim_shape **out)
{
    const axe_tensor *t = moved(l);
    int               param = l->param, bytes = 0;
    sim_shape        *sh;

    if (t)
        bytes = axe_type_table[t->type].bits / 8;
    if (t && bytes == 0 && takes_elements(l))
        return axe_fail(s->cx, t->at, AXE_EUNSUPPORTED,
                        "the simulator: %s has elements of less than a byte",
                        t->name);
    if (l->atom->step == 0 && l->atom->kind != AXE_ATOM_SYNC && t)
        (void)axe_atom_param(l->atom, t->type, &param);
    for (sh = s->shape; sh; sh = sh->next)
        if (sh->atom == l->atom && sh->param == param &&
            sh->elem_bytes == bytes) {
            *out = sh;
            return AXE_OK;
        }
    sh = axe_new(s->own, sim_shape);
    *sh = (sim_shape){
        .atom = l->atom, .param = param, .elem_bytes = bytes, .next = s->shape};
    AXE_TRY(make_shape(s, sh));
    s->shape = sh;
    *out = sh;
    return AXE_OK;
}
