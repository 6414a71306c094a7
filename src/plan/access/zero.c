/* zero.c - which parts of a tile are known to hold zeros.
 *
 * A plain move from a global tensor fills what lies outside with zeros.  If it
 * is the only statement that writes the tile, and its subscripts are whole
 * indices, then the tile's elements with index >= limit are zero, and a
 * contraction need not visit them: they would add zeros (a product of such a
 * zero with an infinity beyond the edge counts as zero).  What a statement
 * writes is a fact for readers that it always runs before. */
#include <string.h>

#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"

typedef struct finder {
    const axe_tensor *tensor;
    int               n_writer;
    const axe_stmt   *writer;
} finder;

static void
find_writers(int n, axe_stmt *const *body, finder *f)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX &&
            body[i]->dst->u.tensor == f->tensor) {
            f->n_writer++;
            f->writer = body[i];
        }
        find_writers(body[i]->n_body, body[i]->body, f);
        find_writers(body[i]->n_other, body[i]->other, f);
    }
}

/* Is `v` bound by a scope or loop around statement `s`? */
static bool
encloses(int n, axe_stmt *const *body, const axe_var *v, const axe_stmt *s,
         bool inside)
{
    for (int i = 0; i < n; i++) {
        bool here = inside;
        for (int k = 0; k < body[i]->n_var; k++)
            here = here || body[i]->var[k] == v;
        if (body[i] == s)
            return here;
        if (encloses(body[i]->n_body, body[i]->body, v, s, here) ||
            encloses(body[i]->n_other, body[i]->other, v, s, here))
            return true;
    }
    return false;
}

typedef struct scope_check {
    const axe_planner *p;
    const axe_stmt    *s;
    bool               ok;
} scope_check;

static void
check_var(void *user, const axe_node *n)
{
    scope_check *c = user;

    if (n->op != AXE_OP_var || n->u.var->kind == AXE_VAR_SIZE)
        return;
    const axe_retile *r = axe_retile_of(c->p->n_retile, c->p->retile, n->u.var);
    const axe_var    *v = r ? r->scope : n->u.var;
    c->ok = c->ok &&
            encloses(c->p->kernel->n_body, c->p->kernel->body, v, c->s, false);
}

bool
axe_known_at(const axe_planner *p, const axe_stmt *s, const axe_node *n)
{
    scope_check c = {p, s, true};

    axe_node_walk(n, check_var, &c);
    return c.ok;
}

/* Is every loop and branch around w also around s? */
static bool
covers(int n, axe_stmt *const *body, const axe_stmt *w, const axe_stmt *s)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *b = body[i];
        bool may_skip = b->kind == AXE_STMT_FOR || b->kind == AXE_STMT_IF ||
                        b->kind == AXE_STMT_LOOP;
        if (axe_stmt_within(b->n_body, b->body, w))
            return (!may_skip || axe_stmt_within(b->n_body, b->body, s)) &&
                   covers(b->n_body, b->body, w, s);
        if (axe_stmt_within(b->n_other, b->other, w))
            return (!may_skip || axe_stmt_within(b->n_other, b->other, s)) &&
                   covers(b->n_other, b->other, w, s);
    }
    return true;
}

bool
axe_runs_before(const axe_planner *p, const axe_stmt *w, const axe_stmt *s)
{
    return w->id < s->id && covers(p->kernel->n_body, p->kernel->body, w, s);
}

bool
axe_walks_whole(const axe_node *load)
{
    for (int d = 0; d < load->n_arg; d++)
        if (load->arg[d]->op != AXE_OP_iconst &&
            !(load->arg[d]->op == AXE_OP_var &&
              load->arg[d]->u.var->kind == AXE_VAR_INDEX))
            return false;
    return true;
}

/* The guard under which dimension d of the tile was filled, or NULL. */
static const axe_node *
limit_of(const axe_schedule *w, int d)
{
    const axe_node *sub = w->operand[0].load->arg[d];
    const axe_node *v = w->value;

    while (v->op == AXE_OP_cast)
        v = v->arg[0];
    if (w->stmt->fold != AXE_FOLD_NONE || v->op != AXE_OP_load ||
        sub->op != AXE_OP_var || w->n_operand != 2 ||
        !axe_walks_whole(w->operand[0].load))
        return NULL;
    for (int g = 0; g < w->operand[1].n_guard; g++)
        if (w->operand[1].guard[g].var == sub->u.var)
            return w->operand[1].guard[g].limit;
    return NULL;
}

const axe_stmt *
axe_only_writer(const axe_planner *p, const axe_tensor *t)
{
    finder f = {.tensor = t};

    find_writers(p->kernel->n_body, p->kernel->body, &f);
    return f.n_writer == 1 ? f.writer : NULL;
}

const axe_stmt *
axe_some_writer(const axe_planner *p, const axe_tensor *t)
{
    finder f = {.tensor = t};

    find_writers(p->kernel->n_body, p->kernel->body, &f);
    return f.writer;
}

const axe_node *
axe_zero_limit(axe_planner *p, const axe_stmt *s, const axe_operand *op,
               const axe_var *v)
{
    const axe_stmt *w = axe_only_writer(p, op->tensor);

    if (op->tensor->space == AXE_SPACE_GLOBAL ||
        axe_stage_of(p, s, op->tensor) || !w || !p->schedule[w->id] ||
        !axe_runs_before(p, w, s))
        return NULL;
    for (int d = 0; d < op->tensor->rank; d++) {
        const axe_node *sub = op->load->arg[d];
        if (sub->op != AXE_OP_var || sub->u.var != v)
            continue;
        const axe_node *l = limit_of(p->schedule[w->id], d);
        if (!l)
            return NULL;
        return axe_known_at(p, s, l) ? l : NULL;
    }
    return NULL;
}
