/* check_mesh.c - is a kernel over a mesh well formed?
 *
 * At its top stand statements between devices, which name tensors as all
 * devices have them together, DEVICE statements, and loops and branches that go
 * the same way on all devices.  In a DEVICE statement tensors are as one device
 * has them. */
#include <inttypes.h>
#include <string.h>

#include "ir/list.h"
#include "ir/mesh.h"

enum { MOST_AXES = 16 };

typedef struct checker {
    axe_ctx          *cx;
    const axe_kernel *k;
    axe_status        status;
    bool              on_device;
    const axe_node   *dst; /* of the statement that is looked at, or NULL */
} checker;

static void
fail(checker *c, axe_status st)
{
    if (c->status == AXE_OK)
        c->status = st;
}

/* ---------------------------------------------------------------- tensors */

static void
use_axis(checker *c, const axe_tensor *t, bool *used, int axis)
{
    if (used[axis])
        fail(c, axe_fail(c->cx, t->at, AXE_ENAME,
                         "`%s` names axis `%s` of the mesh twice", t->name,
                         c->k->axis[axis].name));
    used[axis] = true;
}

static void
check_at(checker *c, const axe_tensor *t, const axe_held *h)
{
    int64_t size;

    for (int i = 0; i < h->n_at; i++) {
        const axe_axis_of *a = &c->k->axis[h->at[i]];

        if (h->coordinate[i] < 0 ||
            (axe_is_iconst(a->size, &size) && h->coordinate[i] >= size))
            fail(c,
                 axe_fail(c->cx, t->at, AXE_ESHAPE,
                          "`%s` is at %s = %" PRId64 ", and %s", t->name,
                          a->name, h->coordinate[i],
                          h->coordinate[i] < 0
                              ? "coordinates are from 0 on"
                              : axe_textf(c->cx,
                                          "axis `%s` has %" PRId64 " devices",
                                          a->name, size)));
    }
}

/* Addends are summed by engines, in the type that they have. */
static void
check_partial(checker *c, const axe_tensor *t)
{
    const axe_type_info *i = &axe_type_table[t->type];

    if (t->held->n_partial == 0 || (i->cls != AXE_CLASS_BOOL && i->bits >= 32))
        return;
    fail(c, axe_fail(c->cx, t->at, AXE_ETYPE,
                     "`%s` holds addends in %s, and devices add numbers of 32 "
                     "or 64 bits",
                     t->name, i->name));
    if (i->cls != AXE_CLASS_BOOL)
        axe_help(c->cx, "make it %s and cast what comes of the sum",
                 axe_type_table[i->accum].name);
}

static void
check_tensor(checker *c, const axe_tensor *t)
{
    bool used[MOST_AXES] = {false};

    for (int k = 0; k < t->rank; k++) {
        const axe_node *n = t->shape[k];

        for (int i = 0; axe_is_cut(n) && i < n->u.var->part->n_axis; i++)
            use_axis(c, t, used, n->u.var->part->axis[i]);
    }
    if (!t->held)
        return;
    for (int i = 0; i < t->held->n_partial; i++)
        use_axis(c, t, used, t->held->partial[i]);
    for (int i = 0; i < t->held->n_at; i++)
        use_axis(c, t, used, t->held->at[i]);
    check_at(c, t, t->held);
    check_partial(c, t);
}

/* ------------------------------------------------------------- expressions */

/* What a device alone knows. */
static void
check_host_var(checker *c, const axe_node *n)
{
    const axe_var *v = n->u.var;

    if (c->on_device || (!axe_is_cut(n) && v->of_axis == 0))
        return;
    fail(c, axe_fail(c->cx, n->at, AXE_ESHAPE,
                     "`%s` is another number on each device, and what stands "
                     "between devices is the same for all",
                     v->part ? v->part->text : v->name));
    axe_help(c->cx, "name it in `device {...}`");
}

static void
check_load(checker *c, const axe_node *n)
{
    const axe_tensor *t = n->u.tensor;

    if (t->space != AXE_SPACE_GLOBAL || t->rank == 0 || !c->on_device ||
        !t->held)
        return;
    if (t->held->n_at > 0) {
        fail(c, axe_fail(c->cx, n->at, AXE_EUNSUPPORTED,
                         "`%s` is%s only, and this is done by each device",
                         t->name, axe_held_text(c->cx, c->k, t->held)));
        axe_help(c->cx, "copy it to a tensor that all devices have, between "
                        "`device` scopes");
    } else if (t->held->n_partial > 0 && n != c->dst) {
        fail(c, axe_fail(c->cx, n->at, AXE_ETYPE,
                         "`%s` is%s: what a device has of it is an addend, "
                         "not a value to read",
                         t->name, axe_held_text(c->cx, c->k, t->held)));
        axe_help(c->cx, "sum it before, by a copy to a tensor without "
                        "`partial`, between `device` scopes");
    }
}

static void
visit(void *user, const axe_node *n)
{
    checker *c = user;

    if (n->op == AXE_OP_var)
        check_host_var(c, n);
    if (n->op == AXE_OP_load)
        check_load(c, n);
}

/* -------------------------------------------------------------- statements */

static void check_body(checker *c, int n, axe_stmt *const *body);

static void
check_device(checker *c, const axe_stmt *s)
{
    if (c->on_device)
        fail(c, axe_fail(c->cx, s->at, AXE_ESHAPE,
                         "`device` stands in another `device`"));
    c->on_device = true;
    check_body(c, s->n_body, s->body);
    c->on_device = false;
}

/* Each dimension of the left side has an index of its own, all of it. */
static void
check_left(checker *c, const axe_stmt *s)
{
    const axe_tensor *t = s->dst->u.tensor;
    const axe_node   *sub;
    bool              ok;

    for (int k = 0; k < t->rank; k++) {
        sub = s->dst->arg[k];
        ok = sub->op == AXE_OP_var && sub->u.var->kind == AXE_VAR_INDEX;
        for (int j = 0; j < k && ok; j++)
            ok = !axe_node_same(s->dst->arg[j], sub);
        for (int i = 0; i < s->n_free && ok; i++)
            ok = s->dim[i].var != sub->u.var ||
                 axe_node_same(s->dim[i].extent, t->shape[k]);
        if (ok)
            continue;
        fail(c, axe_fail(c->cx, sub->at, AXE_EUNSUPPORTED,
                         "a statement between devices writes all of a tensor, "
                         "and dimension %d of `%s` is written at `%s`",
                         k, t->name, axe_node_text(c->cx, sub)));
        axe_help(c->cx,
                 "give each dimension of `%s` an index of its own, or "
                 "write it in `device`",
                 t->name);
        return;
    }
}

static void
check_between(checker *c, const axe_stmt *s)
{
    if (s->dst->op == AXE_OP_load)
        check_left(c, s);
    if (s->atom || s->via)
        fail(c, axe_fail(c->cx, s->at, AXE_EUNSUPPORTED,
                         "a schedule is of one device, and this statement is "
                         "between devices"));
}

/* What the outermost statements of a kernel over a mesh are; false: s is none
 * of them. */
static bool
check_host(checker *c, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_DEVICE:
    case AXE_STMT_TENSOR:
    case AXE_STMT_FOR:
    case AXE_STMT_IF:
        return true;
    case AXE_STMT_INDEX:
        check_between(c, s);
        return true;
    default:
        fail(c,
             axe_fail(c->cx, s->at, AXE_ESHAPE,
                      "%s is done by one device, and stands between devices "
                      "here",
                      s->kind == AXE_STMT_SCOPE
                          ? axe_textf(c->cx, "`%s`", axe_scope_name(s->scope))
                          : "this"));
        axe_help(c->cx, "put it in `device {...}`, which each device does on "
                        "what it has");
        return false;
    }
}

static void
check_stmt(checker *c, const axe_stmt *s)
{
    if (!c->on_device && !check_host(c, s))
        return;
    if (s->kind == AXE_STMT_TENSOR) {
        if (s->tensor->space == AXE_SPACE_GLOBAL)
            check_tensor(c, s->tensor);
        return;
    }
    for (int i = 0; i < s->n_var; i++)
        axe_node_walk(s->var[i]->extent, visit, c);
    if (s->cond)
        axe_node_walk(s->cond, visit, c);
    c->dst = s->dst;
    if (s->dst)
        axe_node_walk(s->dst, visit, c);
    if (s->value)
        axe_node_walk(s->value, visit, c);
    c->dst = NULL;
    if (s->kind == AXE_STMT_DEVICE)
        check_device(c, s);
    else
        check_body(c, s->n_body, s->body);
    check_body(c, s->n_other, s->other);
}

static void
check_body(checker *c, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        check_stmt(c, body[i]);
}

axe_status
axe_mesh_verify(axe_ctx *cx, const axe_kernel *k)
{
    checker c = {.cx = cx, .k = k};

    if (k->n_axis > MOST_AXES)
        return axe_fail(cx, k->axis[MOST_AXES].at, AXE_ELIMIT,
                        "the mesh has %d axes; at most %d are supported",
                        k->n_axis, MOST_AXES);
    for (int i = 0; i < k->n_param; i++)
        check_tensor(&c, k->param[i]);
    check_body(&c, k->n_body, k->body);
    return c.status;
}
