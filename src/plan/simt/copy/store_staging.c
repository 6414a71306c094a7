/* store_staging.c - see store_staging.h.
 *
 * It applies where a statement writes a rectangle of a global tensor and reads
 * only registers of its own thread group, all laid out alike: then an element
 * of the result is computed where its operands are, and a part of the fast
 * index is a part of every thread's registers. */
#include "plan/simt/copy/store_staging.h"

#include <string.h>

#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/copy/copy_int.h"

enum { MAX_PART = 64 };

typedef struct attempt {
    axe_planner            *p;
    const axe_request      *r;
    const axe_thread_group *threads;
    const axe_layout       *frag; /* of what is read, dims as the statement's */
    axe_shape               shape;
    int                     fast; /* the dim that parts cut */
    axe_type                type; /* of the destination */
    struct axe_simt_stage   out;
} attempt;

/* ------------------------------------------------------------ what it reads */

typedef struct reading {
    attempt *a;
    bool     fits;
} reading;

/* A whole register tile, its dims walked by the statement's indices in order?
 */
static bool
walks_alike(const attempt *a, const axe_node *load)
{
    const axe_stmt   *s = a->r->stmt;
    const axe_tensor *t = load->u.tensor;
    int64_t           e;

    if (t->space != AXE_SPACE_REG || load->n_arg != s->n_free)
        return false;
    for (int d = 0; d < load->n_arg; d++)
        if (load->arg[d]->op != AXE_OP_var ||
            load->arg[d]->u.var != s->dim[d].var ||
            !axe_is_iconst(t->shape[d], &e) || e != axe_dim_extent(&s->dim[d]))
            return false;
    return a->p->simt->owner[t->id] == a->threads;
}

static void
read_one(void *user, const axe_node *n)
{
    reading          *to = user;
    attempt          *a = to->a;
    const axe_layout *l;
    bool              same = true;

    if (n->op == AXE_OP_reduce ||
        (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX &&
         n->type != AXE_TYPE_INDEX))
        to->fits = false;
    if (n->op != AXE_OP_load || !to->fits)
        return;
    l = a->p->place[n->u.tensor->id].layout;
    to->fits = l && l->n_replica == 0 && walks_alike(a, n);
    if (to->fits && a->frag)
        to->fits =
            axe_layout_equal(a->p->cx, a->frag, l, &same) == AXE_OK && same;
    if (to->fits)
        a->frag = l;
}

/* Does the value mention an index but in subscripts? */
static bool
computes_indices(const axe_node *n)
{
    if (n->op == AXE_OP_load)
        return false;
    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX)
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (computes_indices(n->arg[i]))
            return true;
    return false;
}

static bool
reads_registers(attempt *a)
{
    reading to = {a, true};

    axe_node_walk(a->r->stmt->value, read_one, &to);
    return to.fits && a->frag && !computes_indices(a->r->stmt->value);
}

/* -------------------------------------------------------------------- parts */

/* The layout of part i of the registers. */
static bool
part_layout(const attempt *a, int64_t part, int i, const axe_layout **out)
{
    axe_ctx *cx = a->p->cx;
    int64_t *begin = axe_new_array(cx, int64_t, a->shape.n);
    int64_t *end = axe_new_array(cx, int64_t, a->shape.n);

    memcpy(end, a->shape.extent, (size_t)a->shape.n * sizeof *end);
    begin[a->fast] = part * i;
    end[a->fast] = part * (i + 1);
    return axe_layout_slice(cx, a->frag, a->shape, begin, end, out) == AXE_OK;
}

static int64_t
offset_on(const axe_layout *l, axe_axis a)
{
    for (int i = 0; i < l->n_offset; i++)
        if (l->offset[i].axis == a)
            return l->offset[i].value;
    return 0;
}

/* Is part i the same registers of the same threads, a step later each? */
static bool
follows(attempt *a, const axe_layout *first, const axe_layout *l, int i)
{
    axe_layout        x = *first, y = *l;
    bool              same = false;
    const axe_layout *px, *py;
    int64_t           at = offset_on(l, a->p->simt->reg);

    if (i == 1)
        a->out.step = at;
    x.n_offset = y.n_offset = 0;
    return l->n_offset == 1 && at == a->out.step * i &&
           axe_layout_make(a->p->cx, &x, &px) == AXE_OK &&
           axe_layout_make(a->p->cx, &y, &py) == AXE_OK &&
           axe_layout_equal(a->p->cx, px, py, &same) == AXE_OK && same;
}

/* The part's registers close together, in the order of the layout; how they lie
 * in what is read goes to out.digit. */
static bool
pack_registers(attempt *a, const axe_layout *first, const axe_layout **out)
{
    axe_iter  *it = axe_new_array(a->p->cx, axe_iter, first->n_shard + 1);
    axe_layout spec = *first;
    int64_t    n = 1;

    a->out.n_digit = 0;
    for (int i = 0; i < first->n_shard; i++) {
        it[i] = first->shard[i];
        if (it[i].axis != a->p->simt->reg || it[i].extent == 1)
            continue;
        if (a->out.n_digit == AXE_STAGE_DIGITS)
            return false;
        a->out.digit[a->out.n_digit++] = it[i];
    }
    for (int i = first->n_shard - 1; i >= 0; i--)
        if (it[i].axis == a->p->simt->reg) {
            it[i].stride = n;
            n *= it[i].extent;
        }
    spec.shard = it;
    a->out.regs = n;
    return axe_layout_make(a->p->cx, &spec, out) == AXE_OK;
}

/* Row-major, as a part lies in its room. */
static bool
room_layout(attempt *a, int64_t part, const axe_layout **out)
{
    int64_t  *e = axe_new_array(a->p->cx, int64_t, a->shape.n);
    int64_t  *s = axe_new_array(a->p->cx, int64_t, a->shape.n), n = part;
    axe_shape shape = {a->shape.n, e};

    for (int d = 0; d < a->shape.n; d++)
        e[d] = d == a->fast ? part : a->shape.extent[d];
    s[a->fast] = 1;
    for (int d = a->shape.n - 1; d >= 0; d--)
        if (d != a->fast) {
            s[d] = n;
            n *= e[d];
        }
    a->out.room = n;
    return axe_layout_strided(a->p->cx, shape, s, out) == AXE_OK;
}

/* The box of a part: the room against the tensor. */
static bool
part_box(attempt *a, const axe_layout *room)
{
    axe_ctx          *cx = a->p->cx;
    const axe_stmt   *s = a->r->stmt;
    axe_box_walk     *w = axe_new_array(cx, axe_box_walk, a->shape.n);
    const axe_tensor *t = s->dst->u.tensor;
    int               least = a->p->mc->simt->map_bits;
    axe_box_copy      c = {t, a->shape.n, w, a->out.swizzle, 1, least};
    const char       *why;
    int               from = 0;

    for (int i = 0; i < a->shape.n; i++) {
        w[i] = (axe_box_walk){-1, room->dim_end[i] - from, room->shard + from};
        from = room->dim_end[i];
        for (int d = 0; d < s->dst->n_arg; d++)
            if (axe_alone_in(a->p, s->dst->arg[d]) == s->dim[i].var)
                w[i].dim = d;
        if (w[i].dim < 0)
            return false;
    }
    a->out.part_dim = w[a->fast].dim;
    return axe_box_find(cx, &c, &a->out.map, &why) != AXE_NO &&
           a->out.map.n_loop == 0 &&
           axe_box_certify(cx, &c, &a->out.map) == a->out.room &&
           axe_simt_require_strides(a->p, t, a->out.map.ask, &a->out.when);
}

/* Parts of so many elements. */
static bool
cut(attempt *a, int64_t bytes)
{
    axe_ctx          *cx = a->p->cx;
    int64_t           part = bytes * 8 / axe_type_table[a->type].bits;
    const axe_layout *first, *l, *room;
    axe_frag_query    ask;

    if (part < 1 || a->shape.extent[a->fast] % part != 0 ||
        a->shape.extent[a->fast] / part > MAX_PART ||
        axe_swizzle_of_bytes(cx, (int)bytes, &a->out.swizzle) != AXE_OK ||
        !part_layout(a, part, 0, &first) || first->n_offset > 0)
        return false;
    a->out.part = part;
    a->out.n_part = (int)(a->shape.extent[a->fast] / part);
    a->out.n_room = a->out.n_part > 1 ? 2 : 1;
    for (int i = 1; i < a->out.n_part; i++)
        if (!part_layout(a, part, i, &l) || !follows(a, first, l, i))
            return false;
    if (!pack_registers(a, first, &first) || !room_layout(a, part, &room) ||
        !part_box(a, room))
        return false;
    ask = (axe_frag_query){cx,
                           a->p->mc,
                           AXE_ATOM_STORE,
                           AXE_ARG_SHARED,
                           a->type,
                           a->threads->n_thread,
                           first,
                           room,
                           a->out.swizzle,
                           1024};
    return axe_frag_find(&ask, &a->out.store);
}

/* The index that the destination is fast in, and what the engine is. */
static bool
find_fast(attempt *a)
{
    const axe_stmt   *s = a->r->stmt;
    const axe_tensor *t = s->dst->u.tensor;
    int64_t          *e = axe_new_array(a->p->cx, int64_t, s->n_free + 1);

    a->shape = (axe_shape){s->n_free, e};
    a->fast = -1;
    for (int i = 0; i < s->n_free; i++) {
        e[i] = axe_dim_extent(&s->dim[i]);
        if (e[i] < 1)
            return false;
        for (int d = 0; d < t->rank; d++)
            if (axe_alone_in(a->p, s->dst->arg[d]) == s->dim[i].var &&
                t->stride[d].coef == 1 && t->stride[d].unit == AXE_UNIT_ONE)
                a->fast = i;
    }
    return a->fast >= 0;
}

/* Statements that touch it; 2 are as many as there are. */
static int
n_touching(int n, axe_stmt *const *body, const axe_tensor *t)
{
    int k = 0;

    for (int i = 0; i < n && k < 2; i++)
        k += (body[i]->kind == AXE_STMT_INDEX &&
              (axe_stmt_reads(body[i], t) || axe_stmt_writes(body[i], t))) +
             n_touching(body[i]->n_body, body[i]->body, t) +
             n_touching(body[i]->n_other, body[i]->other, t);
    return k;
}

/* What an engine folds into memory is not ordered with what threads do there:
 * all that the launch does with the tensor must be to fold into it so, or to
 * run this statement. */
static bool
may_fold(const attempt *a)
{
    const axe_stmt *s = a->r->stmt, *top = axe_threads_cta(a->threads)->at;

    return s->fold == AXE_FOLD_NONE || a->r->atomic ||
           n_touching(top->n_body, top->body, s->dst->u.tensor) == 1;
}

/* Does it write a rectangle of a global tensor, each element once?  What is
 * outside no box has, so nothing is to be asked for but of subscripts that are
 * no sum of one index and one coordinate, and of CTAs that fill up a cluster.
 */
static bool
writes_rectangle(const attempt *a)
{
    const axe_stmt *s = a->r->stmt;

    for (int d = 0; d < s->dst->n_arg; d++) {
        const axe_var *v = axe_alone_in(a->p, s->dst->arg[d]);
        if (!axe_simt_may_begin(a->p->cx, s->dst->arg[d], v != NULL, &v))
            return false;
    }
    return may_fold(a) && !a->p->simt->threads_only[s->dst->u.tensor->id] &&
           s->n_dim == s->n_free && s->n_free > 0 &&
           s->dst->u.tensor->space == AXE_SPACE_GLOBAL &&
           !a->r->operand[0].fills &&
           a->threads->n_thread >= a->p->mc->simt->lanes;
}

/* NULL if it applies, else why not. */
static const char *
attempt_stage(attempt *a)
{
    const axe_stmt   *s = a->r->stmt;
    const axe_tensor *t = s->dst->u.tensor;

    a->type = t->type;
    a->out.global = t;
    if (!find_fast(a))
        return axe_textf(a->p->cx,
                         "no index of constant extent walks the fast dimension "
                         "of %s",
                         t->name);
    if (!reads_registers(a))
        return "what it reads is not registers of its threads alone, all laid "
               "out alike";
    a->out.group = a->out.move->group;
    a->out.origin =
        axe_new_array(a->p->cx, const axe_node *, s->dst->n_arg + 1);
    for (int d = 0; d < s->dst->n_arg; d++)
        a->out.origin[d] = axe_simt_origin(a->p->cx, s->dst->arg[d]);
    for (int64_t bytes = 128; bytes >= 32; bytes /= 2)
        if (cut(a, bytes))
            return NULL;
    return axe_textf(a->p->cx,
                     "no part of 128, 64 or 32 bytes along %s is a part of "
                     "every thread's registers, and a box",
                     s->dim[a->fast].var->name);
}

bool
axe_simt_stage_plan(axe_planner *p, axe_request *r,
                    const axe_thread_group *threads, struct axe_simt_stage *out)
{
    attempt     a = {.p = p, .r = r, .threads = threads};
    axe_mark    m = axe_ctx_mark(p->cx);
    const char *why;

    a.out.move =
        axe_simt_box_row(p->mc, r->stmt->fold, r->stmt->dst->u.tensor->type,
                         AXE_ARG_MAP, AXE_ARG_SHARED, AXE_ARG_NONE);
    if (!a.out.move || !writes_rectangle(&a))
        return false;
    why = attempt_stage(&a);
    if (!why) {
        *out = a.out;
        return true;
    }
    why = axe_intern(p->cx, why, strlen(why));
    axe_ctx_release(p->cx, m);
    axe_rejected(p, r, a.out.move->name, "%s", why);
    return false;
}
