/* verify.c - is a kernel well formed?
 *
 * Run on all that the front end and the reader make, and between passes.  Says
 * everything that is wrong, not only the first.  What it establishes: types
 * follow ops.def, every name is in scope, a statement's dims are exactly the
 * indices it has, subscripts are affine and inside tiles, and no element is
 * written twice. */
#include <inttypes.h>

#include "ir/mesh.h"
#include "ir/reach.h"
#include "ir/verify_int.h"

/* ----------------------------------------------------------------- tensors */

static bool
check_extent_kind(axe_verifier *v, const axe_tensor *t, const axe_node *n)
{
    int64_t e;

    if (axe_is_iconst(n, &e) && n->type == AXE_TYPE_INDEX)
        return e >= 1 ||
               axe_verify_fail(v, axe_fail(v->cx, t->at, AXE_ESHAPE,
                                           "`%s` has an extent of %" PRId64,
                                           t->name, e));
    if (t->space == AXE_SPACE_GLOBAL && n->op == AXE_OP_var &&
        n->u.var->kind == AXE_VAR_SIZE && n->u.var != v->k->cores &&
        axe_list_has(&v->vars, n->u.var))
        return true;
    if (t->space == AXE_SPACE_GLOBAL && n == t->shape[0] &&
        (t->dir == AXE_DIR_LOCAL || axe_is_affine_size(v->cx, n)))
        return axe_verify_extent(v, n);
    return axe_verify_fail(v, axe_fail(v->cx, t->at, AXE_ESHAPE,
                                       "`%s` cannot be an extent of `%s`",
                                       axe_node_text(v->cx, n), t->name));
}

static bool
check_layout(axe_verifier *v, const axe_tensor *t)
{
    int64_t size = 1, e = 1;

    for (int k = 0; k < t->rank; k++)
        if (!axe_is_iconst(t->shape[k], &e) || !axe_mul(size, e, &size))
            return axe_verify_fail(v, axe_fail(v->cx, t->at, AXE_EOVERFLOW,
                                               "`%s` has too many elements",
                                               t->name));
    if (!t->layout || t->layout->size == size)
        return true;
    return axe_verify_fail(v, axe_fail(v->cx, t->at, AXE_ESHAPE,
                                       "the layout of `%s` has %" PRId64
                                       " elements, its shape %" PRId64,
                                       t->name, t->layout->size, size));
}

/* In a kernel over a mesh: does a tile or a scalar stand in a scope? */
static bool
check_between(axe_verifier *v, const axe_tensor *t)
{
    if (v->k->n_axis == 0 || v->inside || t->space == AXE_SPACE_GLOBAL)
        return true;
    axe_verify_fail(v,
                    axe_fail(v->cx, t->at, AXE_ESHAPE,
                             "`%s` is a %s of a scope, and stands in none here",
                             t->name, t->rank == 0 ? "scalar" : "tile"));
    axe_help(v->cx,
             "put it in a scope of `device {...}`; between devices tensors are "
             "`global`");
    axe_list_push(&v->tensors, t); /* known, so that this is said once */
    return false;
}

static void
check_tensor(axe_verifier *v, const axe_tensor *t)
{
    bool global = t->space == AXE_SPACE_GLOBAL;
    bool least = global && !axe_is_scalar(t);
    bool ok = t->rank >= least && t->rank <= AXE_RANK_MAX;

    if (!ok || (t->rank > 0 && global != (t->stride != NULL)) ||
        (!global && t->dir != AXE_DIR_LOCAL))
        ok = axe_verify_fail(
            v, axe_fail(v->cx, t->at, AXE_ESHAPE,
                        "`%s` is neither an argument nor a tile", t->name));
    for (int k = 0; ok && k < t->rank; k++)
        ok = check_extent_kind(v, t, t->shape[k]);
    if (ok) {
        axe_status st = axe_tmem_verify(v->cx, t, v->inside);
        ok = st == AXE_OK || axe_verify_fail(v, st);
    }
    if (ok && !global)
        check_layout(v, t);
    axe_list_push(&v->tensors, t);
    if (t->whole)
        axe_list_push(&v->tensors, t->whole);
}

/* -------------------------------------------------------------- statements */

static void check_body(axe_verifier *v, int n, axe_stmt *const *body);

typedef struct uses {
    const axe_var *var;
    bool           found;
} uses;

static void
look_for(void *user, const axe_node *n)
{
    uses *u = user;

    u->found = u->found || (n->op == AXE_OP_var && n->u.var == u->var);
}

/* The free indices are exactly those of dst. */
static bool
check_free(axe_verifier *v, const axe_stmt *s)
{
    for (int i = 0; i < s->n_dim; i++) {
        uses u = {s->dim[i].var, false};
        axe_node_walk(s->dst, look_for, &u);
        if (u.found != (i < s->n_free))
            return axe_verify_fail(
                v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                            "index `%s` is %s the left side, but is "
                            "listed as %s",
                            u.var->name, u.found ? "on" : "not on",
                            u.found ? "folded" : "free"));
    }
    if (s->fold == AXE_FOLD_NONE && s->n_free != s->n_dim)
        return axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                                           "`=` cannot fold over `%s`",
                                           s->dim[s->n_free].var->name));
    return true;
}

static bool
check_target(axe_verifier *v, const axe_stmt *s)
{
    if (s->dst->op != AXE_OP_load)
        return axe_verify_fail(
            v, axe_fail(v->cx, s->at, AXE_ETYPE,
                        "only elements of tensors are assigned"));
    if (!axe_verify_expr(v, s->dst))
        return false;
    if (s->dst->u.tensor->dir == AXE_DIR_IN)
        return axe_verify_fail(
            v, axe_fail(v->cx, s->at, AXE_ETYPE,
                        "`%s` is an `in` argument and cannot be "
                        "written",
                        s->dst->u.tensor->name));
    if (s->fold != AXE_FOLD_NONE && s->dst->type == AXE_TYPE_bool)
        return axe_verify_needs(v, s->dst, "a number to fold into");
    return s->dst->type == s->value->type ||
           axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ETYPE,
                                       "`%s` is %s, but the value is %s",
                                       axe_node_text(v->cx, s->dst),
                                       axe_type_table[s->dst->type].name,
                                       axe_type_table[s->value->type].name));
}

static bool
is_source(const axe_node *n)
{
    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    return n->op == AXE_OP_load;
}

/* d = a, or d += a * b */
static bool
check_atom(axe_verifier *v, const axe_stmt *s)
{
    const axe_node *x = s->value;
    bool            ok = s->fold == AXE_FOLD_NONE && is_source(x);

    if (!s->atom)
        return true;
    while (x->op == AXE_OP_cast)
        x = x->arg[0];
    ok = ok || (s->fold == AXE_FOLD_SUM && x->op == AXE_OP_mul &&
                is_source(x->arg[0]) && is_source(x->arg[1]));
    return ok || axe_verify_fail(
                     v, axe_fail(v->cx, s->at, AXE_ETYPE,
                                 "atom `%s` is `d = a` or `d += a * b` of "
                                 "places of tensors, not `%s`",
                                 s->atom, axe_node_text(v->cx, s->value)));
}

static void
check_index(axe_verifier *v, const axe_stmt *s)
{
    int        mark = v->vars.n;
    bool       ok = true;
    axe_status st;

    for (int i = 0; i < s->n_dim && ok; i++)
        ok = axe_verify_index(v, s->dim[i].var, s->dim[i].extent);
    ok = ok && check_target(v, s) && axe_verify_expr(v, s->value) &&
         check_atom(v, s) && check_free(v, s);
    v->vars.n = mark;
    if (!ok)
        return;
    st = axe_stmt_check_inside(v->cx, s, v->holds);
    if (st == AXE_OK)
        st = axe_stmt_check_writes(v->cx, s);
    if (st != AXE_OK)
        axe_verify_fail(v, st);
}

static void
check_ranged(axe_verifier *v, const axe_stmt *s)
{
    axe_var_kind want = s->kind == AXE_STMT_FOR ? AXE_VAR_LOOP : AXE_VAR_SCOPE;
    int          mark = v->vars.n;

    if (s->n_var < 1 || (s->kind == AXE_STMT_FOR && s->n_var != 1))
        axe_verify_fail(v,
                        axe_fail(v->cx, s->at, AXE_ESHAPE,
                                 "a loop has one range, a scope at least one"));
    for (int i = 0; i < s->n_var; i++) {
        const axe_var *x = s->var[i];
        if (x->kind != want || !x->extent)
            axe_verify_fail(v,
                            axe_fail(v->cx, x->at, AXE_ENAME,
                                     "`%s` cannot be counted here", x->name));
        else
            axe_verify_extent(v, x->extent);
        axe_list_push(&v->vars, x);
    }
    check_body(v, s->n_body, s->body);
    v->vars.n = mark;
}

static void
check_pipeline(axe_verifier *v, const axe_pipeline *p)
{
    if (p->n_stage < 1 || p->n_tensor < 1)
        axe_verify_fail(v, axe_fail(v->cx, p->at, AXE_ESHAPE,
                                    "pipeline `%s` has no stages or no tensors",
                                    p->name));
    for (int i = 0; i < p->n_tensor; i++)
        check_tensor(v, p->tensor[i]);
    axe_list_push(&v->pipelines, p);
}

static void
check_stage(axe_verifier *v, const axe_stmt *s)
{
    bool in_loop = v->in_loop;

    if (!axe_list_has(&v->pipelines, s->pipeline))
        axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ENAME,
                                    "pipeline `%s` is not in scope",
                                    s->pipeline->name));
    v->in_loop = false;
    check_body(v, s->n_body, s->body);
    v->in_loop = in_loop;
}

/* Known to all entities alike: integers in scope, compared, and what rank-0
 * tiles of bool hold. */
static bool
check_uniform(axe_verifier *v, const axe_node *n)
{
    bool held = n->op == AXE_OP_load && n->n_arg == 0;
    bool leaf = n->op == AXE_OP_reduce || n->op == AXE_OP_cast ||
                (n->op == AXE_OP_load && !held);

    if (leaf || (held && n->type != AXE_TYPE_bool) ||
        (n->type != AXE_TYPE_bool && n->type != AXE_TYPE_INDEX))
        return axe_verify_fail(
            v, axe_fail(v->cx, n->at, AXE_ETYPE,
                        "`%s` cannot be part of a condition of `if`",
                        axe_node_text(v->cx, n)));
    for (int i = 0; i < n->n_arg; i++)
        if (!check_uniform(v, n->arg[i]))
            return false;
    return true;
}

static void
check_if(axe_verifier *v, const axe_stmt *s)
{
    axe_holds h = {s->cond, false, v->holds};

    if (check_uniform(v, s->cond) && axe_verify_expr(v, s->cond) &&
        s->cond->type != AXE_TYPE_bool)
        axe_verify_needs(v, s->cond, "to be a condition");
    v->holds = &h;
    check_body(v, s->n_body, s->body);
    h.no = true;
    check_body(v, s->n_other, s->other);
    v->holds = h.up;
}

/* What all entities share is declared where all of them are. */
static void
check_temp(axe_verifier *v, const axe_tensor *t)
{
    if (t->space != AXE_SPACE_GLOBAL || v->depth == 1)
        return;
    axe_verify_fail(v, axe_fail(v->cx, t->at, AXE_ENAME,
                                "`%s` is global, but declared inside a block",
                                t->name));
    axe_help(v->cx, "declare it at the top of the kernel, before its scopes");
}

/* All entities that a barrier waits for must come to it: in a scope of a cta
 * those are the threads of one entity of it. */
static void
check_barrier(axe_verifier *v, const axe_stmt *s)
{
    if (!v->inside || v->inside->scope == AXE_SCOPE_CTA ||
        v->inside->scope == AXE_SCOPE_WARPGROUP ||
        v->inside->scope == AXE_SCOPE_WARP)
        return;
    axe_verify_fail(
        v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                    "a barrier inside `%s` would wait for entities that do "
                    "not come here",
                    axe_scope_name(v->inside->scope)));
    axe_help(v->cx, "end the scope, write the barrier, and begin another");
}

static void
check_scope(axe_verifier *v, const axe_stmt *s)
{
    const axe_stmt *outer = v->inside;
    bool            in_loop = v->in_loop, role = v->in_roles;
    axe_status      st = axe_scope_verify(v->cx, s, outer, role);

    if (st == AXE_OK)
        st = axe_turns_verify(v->cx, s);
    if (st != AXE_OK)
        axe_verify_fail(v, st);
    v->in_roles = false;
    v->inside = s;
    v->in_loop = false;
    check_ranged(v, s);
    v->inside = outer;
    v->in_loop = in_loop;
    v->in_roles = role;
}

static void
check_roles(axe_verifier *v, const axe_stmt *s)
{
    axe_status st = axe_roles_verify(v->cx, s, v->inside);

    if (st != AXE_OK)
        axe_verify_fail(v, st);
    v->in_roles = true;
    check_body(v, s->n_body, s->body);
    v->in_roles = false;
}

static void
check_turn(axe_verifier *v, const axe_stmt *s)
{
    bool       in_loop = v->in_loop;
    axe_status st = axe_turn_verify(v->cx, s, v->inside);

    if (st != AXE_OK)
        axe_verify_fail(v, st);
    v->in_loop = false;
    check_body(v, s->n_body, s->body);
    v->in_loop = in_loop;
}

static void
check_device(axe_verifier *v, const axe_stmt *s)
{
    bool in_loop = v->in_loop;

    if (v->k->n_axis == 0)
        axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                                    "there is no mesh whose devices could do "
                                    "this"));
    if (v->inside)
        axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                                    "`device` stands in a `%s`",
                                    axe_scope_name(v->inside->scope)));
    v->in_loop = false;
    check_body(v, s->n_body, s->body);
    v->in_loop = in_loop;
}

static void
check_loop(axe_verifier *v, const axe_stmt *s)
{
    bool in_loop = v->in_loop;

    v->in_loop = true;
    if (s->kind == AXE_STMT_FOR)
        check_ranged(v, s);
    else
        check_body(v, s->n_body, s->body);
    v->in_loop = in_loop;
}

/* A scope of a group that overlaps stands among those that the launch begins
 * with, behind another one of the group unless it is the first. */
static void
check_group(axe_verifier *v, const axe_stmt *s, const axe_stmt *before)
{
    if (s->kind != AXE_STMT_SCOPE || s->keys.overlap == 0)
        return;
    if (v->inside) {
        axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                                    "scopes overlap that are in no other "
                                    "scope, and this is in a `%s`",
                                    axe_scope_name(v->inside->scope)));
        axe_help(v->cx, "put the group at the top of the kernel");
    } else if (s->keys.overlap == 2 && (!before || before->keys.overlap == 0)) {
        axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ESHAPE,
                                    "there is no scope in front of this one "
                                    "that it could overlap"));
        axe_help(v->cx, "`overlap 1` begins a group");
    }
}

static void
check_stmt(axe_verifier *v, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
        check_scope(v, s);
        break;
    case AXE_STMT_FOR:
    case AXE_STMT_LOOP:
        check_loop(v, s);
        break;
    case AXE_STMT_BREAK:
    case AXE_STMT_CONTINUE:
        if (!v->in_loop)
            axe_verify_fail(v, axe_fail(v->cx, s->at, AXE_ESYNTAX,
                                        "there is no loop to leave here"));
        break;
    case AXE_STMT_TENSOR:
        if (check_between(v, s->tensor))
            check_tensor(v, s->tensor);
        check_temp(v, s->tensor);
        break;
    case AXE_STMT_BARRIER:
        check_barrier(v, s);
        break;
    case AXE_STMT_ROLES:
        check_roles(v, s);
        break;
    case AXE_STMT_TURN:
        check_turn(v, s);
        break;
    case AXE_STMT_DEVICE:
        check_device(v, s);
        break;
    case AXE_STMT_PIPELINE:
        check_pipeline(v, s->pipeline);
        break;
    case AXE_STMT_PRODUCE:
    case AXE_STMT_CONSUME:
        check_stage(v, s);
        break;
    case AXE_STMT_IF:
        check_if(v, s);
        break;
    case AXE_STMT_INDEX:
        check_index(v, s);
        break;
    case AXE_N_STMT:
        break;
    }
}

static void
check_body(axe_verifier *v, int n, axe_stmt *const *body)
{
    int tensors = v->tensors.n, pipelines = v->pipelines.n;

    v->depth++;
    for (int i = 0; i < n; i++) {
        check_group(v, body[i], i > 0 ? body[i - 1] : NULL);
        check_stmt(v, body[i]);
    }
    v->depth--;
    v->tensors.n = tensors;
    v->pipelines.n = pipelines;
}

axe_status
axe_kernel_verify(axe_ctx *cx, const axe_kernel *k)
{
    axe_verifier v = {
        .cx = cx,
        .k = k,
        .vars = {.cx = cx},
        .tensors = {.cx = cx},
        .pipelines = {.cx = cx},
    };

    if (k->cores)
        axe_list_push(&v.vars, k->cores);
    for (int i = 0; i < k->n_size; i++)
        axe_list_push(&v.vars, k->size[i]);
    for (int i = 0; i < k->n_param; i++)
        check_tensor(&v, k->param[i]);
    check_body(&v, k->n_body, k->body);
    if (v.status == AXE_OK && k->n_axis > 0)
        v.status = axe_mesh_verify(cx, k);
    return v.status == AXE_OK ? axe_kernel_check_reach(cx, k, NULL, false)
                              : v.status;
}
