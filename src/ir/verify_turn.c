/* verify_turn.c - blocks that the entities of a scope do in turn.
 *
 * Each entity waits for the one before it, round by round, so all must come to
 * such blocks equally often: what decides how often is the same for all, which
 * are conditions and counts that do not speak of the scope's own variables, nor
 * of elements. */
#include "ir/ir.h"

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

static void
visit(void *user, const axe_node *n)
{
    bool *reads = user;

    *reads = *reads || n->op == AXE_OP_load;
}

/* The same for all entities of the scope? */
static bool
is_even(const axe_stmt *scope, const axe_node *n)
{
    bool reads = false;

    for (int i = 0; i < scope->n_var; i++)
        if (axe_mentions(n, scope->var[i]))
            return false;
    axe_node_walk(n, visit, &reads);
    return !reads;
}

/* A branch that some entities leave the loop by, and others may not; or NULL.
 */
static const axe_stmt *
uneven_exit(const axe_stmt *scope, int n, axe_stmt *const *body, bool even)
{
    const axe_stmt *found = NULL;

    for (int i = 0; i < n && !found; i++) {
        const axe_stmt *s = body[i];
        bool leaves = s->kind == AXE_STMT_BREAK || s->kind == AXE_STMT_CONTINUE;
        if (leaves && !even)
            return s;
        if (s->kind != AXE_STMT_IF)
            continue;
        even = even && is_even(scope, s->cond);
        found = uneven_exit(scope, s->n_body, s->body, even);
        if (!found)
            found = uneven_exit(scope, s->n_other, s->other, even);
    }
    return found;
}

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
    bool            loop = s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP;
    const axe_stmt *exit;

    if (s->kind == AXE_STMT_TURN && inside)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "a `turn` within a `turn` would wait for itself");
    if ((s->kind == AXE_STMT_IF && !is_even(scope, s->cond)) ||
        (s->kind == AXE_STMT_FOR && !is_even(scope, s->var[0]->extent)))
        return fail_uneven(cx, scope, s->at);
    exit = loop ? uneven_exit(scope, s->n_body, s->body, true) : NULL;
    if (exit)
        return fail_uneven(cx, scope, exit->at);
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
