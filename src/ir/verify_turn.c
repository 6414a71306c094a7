/* verify_turn.c - blocks that the entities of a scope do in turn.
 *
 * Each entity waits for the one before it, round by round, so all must come to
 * such blocks equally often: what decides how often is the same for all, which
 * are conditions and counts over sizes, scopes around, elements of `in`
 * arguments, and scalars that are made of such; but not over the scope's own
 * variables. */
#include "ir/list.h"
#include "ir/stmt.h"
#include "ir/verify_int.h"

static bool
holds_turn(const axe_stmt *s)
{
    if (s->kind == AXE_STMT_TURN)
        return true;
    for (int i = 0; i < s->n_body && s->kind != AXE_STMT_SCOPE; i++)
        if (holds_turn(s->body[i]))
            return true;
    for (int i = 0; i < s->n_other; i++)
        if (holds_turn(s->other[i]))
            return true;
    return false;
}

/* ------------------------------------------------- the same for all entities
 */

/* Scalars are thought to be even until something else is found; then so is the
 * answer. */
typedef struct asking {
    const axe_stmt *scope;
    axe_list        scalars;
} asking;

static bool even_scalar(asking *q, const axe_tensor *t);

static bool
is_even(asking *q, const axe_node *n)
{
    const axe_tensor *t = n->op == AXE_OP_load ? n->u.tensor : NULL;

    for (int i = 0; i < q->scope->n_var; i++)
        if (n->op == AXE_OP_var && n->u.var == q->scope->var[i])
            return false;
    if (n->op == AXE_OP_reduce)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_even(q, n->arg[i]))
            return false;
    if (!t || (t->space == AXE_SPACE_GLOBAL && t->dir == AXE_DIR_IN))
        return true;
    return t->rank == 0 && even_scalar(q, t);
}

/* A branch that some entities leave the loop by, and others may not; or NULL.
 */
static const axe_stmt *
uneven_exit(asking *q, int n, axe_stmt *const *body, bool even)
{
    const axe_stmt *found = NULL;

    for (int i = 0; i < n && !found; i++) {
        const axe_stmt *s = body[i];
        bool            in;
        if ((s->kind == AXE_STMT_BREAK || s->kind == AXE_STMT_CONTINUE) &&
            !even)
            return s;
        if (s->kind != AXE_STMT_IF)
            continue;
        in = even && is_even(q, s->cond);
        found = uneven_exit(q, s->n_body, s->body, in);
        if (!found)
            found = uneven_exit(q, s->n_other, s->other, in);
    }
    return found;
}

/* Is what s holds done equally often, as far as s says? */
static bool
is_even_around(asking *q, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
    case AXE_STMT_ROLES:
        return false;
    case AXE_STMT_IF:
        return is_even(q, s->cond);
    case AXE_STMT_FOR:
        return is_even(q, s->var[0]->extent) &&
               !uneven_exit(q, s->n_body, s->body, true);
    case AXE_STMT_LOOP:
        return !uneven_exit(q, s->n_body, s->body, true);
    default:
        return true;
    }
}

/* Does all that is written to t depend on what is even alone? */
static bool
written_evenly(asking *q, int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (!axe_stmt_writes(s, t))
            continue;
        if (s->kind == AXE_STMT_INDEX ? !is_even(q, s->value)
                                      : !is_even_around(q, s))
            return false;
        if (!written_evenly(q, s->n_body, s->body, t) ||
            !written_evenly(q, s->n_other, s->other, t))
            return false;
    }
    return true;
}

static bool
even_scalar(asking *q, const axe_tensor *t)
{
    for (int i = 0; i < q->scalars.n; i++)
        if (q->scalars.item[i] == t)
            return true;
    int before = q->scalars.n;
    axe_list_push(&q->scalars, t);
    if (written_evenly(q, q->scope->n_body, q->scope->body, t))
        return true;
    q->scalars.n = before;
    return false;
}

/* ----------------------------------------------------------------- the check
 */

static axe_status
fail_uneven(axe_ctx *cx, const axe_stmt *scope, axe_span at)
{
    axe_fail(cx, at, AXE_ESHAPE,
             "each %s around decides here how often it comes to a `turn`, and "
             "others would wait for it",
             axe_scope_name(scope->scope));
    axe_help(cx, "let a count or condition around `turn` be the same for all "
                 "of them");
    return AXE_ESHAPE;
}

static axe_status check_body(axe_ctx *cx, const axe_stmt *scope, int n,
                             axe_stmt *const *body, bool inside);

static axe_status
check_one(axe_ctx *cx, const axe_stmt *scope, const axe_stmt *s, bool inside)
{
    asking          q = {scope, {.cx = cx}};
    bool            loop = s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP;
    const axe_stmt *exit =
        loop ? uneven_exit(&q, s->n_body, s->body, true) : NULL;

    if (s->kind == AXE_STMT_TURN && inside)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "a `turn` within a `turn` would wait for itself");
    if (exit || !is_even_around(&q, s))
        return fail_uneven(cx, scope, exit ? exit->at : s->at);
    inside = inside || s->kind == AXE_STMT_TURN;
    AXE_TRY(check_body(cx, scope, s->n_body, s->body, inside));
    return check_body(cx, scope, s->n_other, s->other, inside);
}

static axe_status
check_body(axe_ctx *cx, const axe_stmt *scope, int n, axe_stmt *const *body,
           bool inside)
{
    for (int i = 0; i < n; i++)
        if (body[i]->kind != AXE_STMT_SCOPE && holds_turn(body[i]))
            AXE_TRY(check_one(cx, scope, body[i], inside));
    return AXE_OK;
}

bool
axe_scope_has_turns(const axe_stmt *s)
{
    for (int i = 0; i < s->n_body; i++)
        if (s->body[i]->kind != AXE_STMT_SCOPE && holds_turn(s->body[i]))
            return true;
    return false;
}

axe_status
axe_turns_verify(axe_ctx *cx, const axe_stmt *s)
{
    return check_body(cx, s, s->n_body, s->body, false);
}

axe_status
axe_turn_verify(axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer)
{
    if (outer && outer->scope > AXE_SCOPE_CTA)
        return AXE_OK;
    axe_fail(cx, s->at, AXE_ESHAPE,
             "`turn` stands in a scope of a cta, whose entities take turns");
    axe_help(cx, "put it in `warpgroup (w : ...)` or `warp (w : ...)`");
    return AXE_ESHAPE;
}
