/* meets.c - see meets.h. */
#include "plan/access/meets.h"
#include "ir/race.h"
#include "ir/stmt.h"
#include "machine/thread_rows.h"
#include "plan/access/access.h"

typedef struct finder {
    axe_ctx           *cx;
    const axe_machine *mc;
    const axe_kernel  *k;
    const axe_stmt    *scope;
    axe_list           loops; /* const axe_var *: around the scope */
    axe_list           path;
    axe_race_finder    race;
    axe_meet          *first; /* of the scope, last one first */
    axe_list          *out;
} finder;

bool
axe_is_known_at_launch(const axe_node *n)
{
    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce ||
        (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!axe_is_known_at_launch(n->arg[i]))
            return false;
    return true;
}

static bool
is_one(const axe_var *v)
{
    int64_t n;

    return axe_is_iconst(v->extent, &n) && n == 1;
}

static bool
is_told(const axe_node *dst, const axe_var *v)
{
    for (int d = 0; d < dst->n_arg; d++)
        if (axe_mentions(dst->arg[d], v))
            return true;
    return false;
}

/* ------------------------------------------------------------------- who */

/* Does the element not tell variable i of the scope? */
static bool
is_open(const finder *f, const axe_meet *m, int i)
{
    const axe_var *v = f->scope->var[i];

    if (is_one(v))
        return false;
    if (m->scatter)
        return !axe_scatter_tells(f->cx, m->stmt, v);
    for (int k = 0; k < f->race.found.n; k++) {
        const axe_race_access *a = f->race.found.item[k];
        if (a->stmt == m->stmt && a->write && a->load == m->stmt->dst)
            return a->key[i].how == AXE_KEY_OPEN;
    }
    return false;
}

static void
note(finder *f, const axe_stmt *s)
{
    axe_meet *m = axe_new(f->cx, axe_meet);

    *m = (axe_meet){.scope = f->scope,
                    .stmt = s,
                    .path = {.cx = f->cx},
                    .by = {.cx = f->cx},
                    .scatter = axe_is_scatter(f->cx, s)};
    if (s->dst->u.tensor->space != AXE_SPACE_GLOBAL ||
        (s->fold == AXE_FOLD_NONE && !m->scatter))
        return;
    for (int i = 0; i < f->scope->n_var; i++)
        if (is_open(f, m, i))
            axe_list_push(&m->by, f->scope->var[i]);
    if (m->by.n == 0)
        return;
    for (int i = 0; i < f->path.n; i++)
        axe_list_push(&m->path, f->path.item[i]);
    m->next = f->first;
    f->first = m;
    axe_list_push(f->out, m);
}

static void
look_inside(finder *f, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            note(f, body[i]);
        axe_list_push(&f->path, body[i]);
        look_inside(f, body[i]->n_body, body[i]->body);
        look_inside(f, body[i]->n_other, body[i]->other);
        f->path.n--;
    }
}

/* ------------------------------------------------------------------- how */

/* Statements of body[n] that write t. */
static int
count_writers(int n, axe_stmt *const *body, const axe_tensor *t)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        sum += s->kind == AXE_STMT_INDEX && s->dst->u.tensor == t;
        sum += count_writers(s->n_body, s->body, t) +
               count_writers(s->n_other, s->other, t);
    }
    return sum;
}

/* Around the statement: is it done once for each element, and always? */
static const char *
why_path(const axe_meet *m)
{
    for (int i = 0; i < m->path.n; i++) {
        const axe_stmt *s = m->path.item[i];
        if (s->kind == AXE_STMT_IF || s->kind == AXE_STMT_LOOP ||
            axe_leaves_iteration(s->n_body, s->body))
            return "a condition says whether it adds to it";
        for (int k = 0; k < s->n_var; k++)
            if (!is_one(s->var[k]) &&
                (!is_told(m->stmt->dst, s->var[k]) ||
                 !axe_is_known_at_launch(s->var[k]->extent)))
                return "a loop adds to it more than once";
    }
    return NULL;
}

/* Is the extent one that a dimension behind the first may have? */
static bool
is_plain_extent(const finder *f, const axe_node *n)
{
    int64_t e;

    return axe_is_iconst(n, &e) ||
           (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_SIZE &&
            n->u.var != f->k->cores);
}

static const char *
why_shape(const finder *f, const axe_meet *m)
{
    const axe_tensor *t = m->stmt->dst->u.tensor;

    for (int d = 0; d < t->rank; d++)
        if (!is_plain_extent(f, t->shape[d]))
            return "its extents are no sizes";
    for (int i = 0; i < m->by.n; i++) {
        const axe_var *v = m->by.item[i];
        if (is_told(m->stmt->dst, v))
            return "parts of entities overlap";
        if (i > 0 ? !is_plain_extent(f, v->extent)
                  : !axe_is_known_at_launch(v->extent))
            return "how many entities there are is no size";
    }
    return t->rank + m->by.n > AXE_RANK_MAX ? "it has too many dimensions"
                                            : NULL;
}

/* Why entities cannot keep parts, or NULL. */
static const char *
why_turns(const finder *f, const axe_meet *m)
{
    const axe_stmt *s = m->stmt;
    const char     *why;

    if (m->scatter)
        return "which elements an entity has is known when it runs";
    if (s->atom ||
        count_writers(f->scope->n_body, f->scope->body, s->dst->u.tensor) > 1)
        return "several statements of the scope add to it";
    for (int d = 0; d < s->dst->n_arg; d++)
        if (axe_node_loads(s->dst->arg[d]))
            return "which elements an entity has is known when it runs";
    why = why_path(m);
    return why ? why : why_shape(f, m);
}

static bool
is_exact(const finder *f, const axe_stmt *s)
{
    axe_type t = s->dst->u.tensor->type;
    int      param;

    return s->fold != AXE_FOLD_NONE && !axe_type_is_float(t) &&
           axe_simt_find_fold(f->mc, s->fold, t, 1, &param);
}

/* If one takes turns, all of the scope do. */
static void
choose(finder *f)
{
    axe_meet_how how = AXE_MEET_PARTS;

    for (axe_meet *m = f->first; m; m = m->next) {
        m->how = is_exact(f, m->stmt) ? AXE_MEET_EXACT : AXE_MEET_OPEN;
        if (m->how == AXE_MEET_EXACT || !f->scope->keys.deterministic)
            continue;
        m->how = AXE_MEET_PARTS;
        m->why = why_turns(f, m);
        how = m->why ? AXE_MEET_TURNS : how;
    }
    for (axe_meet *m = f->first; m; m = m->next) {
        m->how = m->how == AXE_MEET_PARTS ? how : m->how;
    }
}

static void
look_at_scope(finder *f, const axe_stmt *s)
{
    f->scope = s;
    f->race = (axe_race_finder){.cx = f->cx,
                                .scope = s,
                                .outer = &f->loops,
                                .own = {.cx = f->cx},
                                .found = {.cx = f->cx}};
    f->first = NULL;
    axe_race_find(&f->race, s->n_body, s->body);
    look_inside(f, s->n_body, s->body);
    choose(f);
}

static void
look_at_top(finder *f, int n, axe_stmt *const *body)
{
    int mark = f->loops.n;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_SCOPE) {
            look_at_scope(f, s);
            continue;
        }
        for (int k = 0; k < s->n_var; k++)
            axe_list_push(&f->loops, s->var[k]);
        look_at_top(f, s->n_body, s->body);
        look_at_top(f, s->n_other, s->other);
        f->loops.n = mark;
    }
}

void
axe_meets_find(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
               axe_list *out)
{
    finder f = {.cx = cx,
                .mc = mc,
                .k = k,
                .loops = {.cx = cx},
                .path = {.cx = cx},
                .out = out};

    look_at_top(&f, k->n_body, k->body);
}
