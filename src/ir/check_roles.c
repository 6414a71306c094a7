/* check_roles.c - what roles may not do to one another.
 *
 * Roles run side by side, and only pipelines order them: what one writes no
 * other may touch, unless it is apart in some dimension whatever the roles'
 * own numbers.  How often a pipeline is filled and read is counted as a sum of
 * products of loops' extents; where both are known and differ, a role would
 * wait for ever, or leave stages to the next tile.
 */
#include <inttypes.h>

#include "ir/check.h"
#include "ir/list.h"
#include "ir/stmt.h"

typedef struct checker {
    axe_ctx          *cx;
    const axe_kernel *k;
    const axe_stmt   *inner; /* innermost scope */
    bool              again; /* a cta comes here more than once */
    axe_status        status;
} checker;

static void
fail(checker *c, axe_status st)
{
    if (c->status == AXE_OK)
        c->status = st;
}

/* ----------------------------------------------------------- one element */

/* An access of a role, with its statement. */
typedef struct access {
    const axe_stmt *stmt;
    const axe_node *load;
    bool            write;
} access;

typedef struct finder {
    axe_ctx        *cx;
    const axe_stmt *stmt;
    axe_list        found; /* access */
} finder;

static void
add(finder *f, const axe_node *load, bool write)
{
    access *a = axe_new(f->cx, access);

    *a = (access){f->stmt, load, write};
    axe_list_push(&f->found, a);
}

static void
note_load(void *user, const axe_node *n)
{
    finder *f = user;

    if (n->op == AXE_OP_load && !n->u.tensor->pipeline &&
        n->u.tensor->dir != AXE_DIR_IN)
        add(f, n, false);
}

static void
find_accesses(finder *f, const axe_stmt *s)
{
    f->stmt = s;
    if (s->kind == AXE_STMT_INDEX) {
        if (!s->dst->u.tensor->pipeline)
            add(f, s->dst, true);
        for (int i = 0; i < s->dst->n_arg; i++)
            axe_node_walk(s->dst->arg[i], note_load, f);
        axe_node_walk(s->value, note_load, f);
    }
    if (s->cond)
        axe_node_walk(s->cond, note_load, f);
    for (int i = 0; i < s->n_body; i++)
        find_accesses(f, s->body[i]);
    for (int i = 0; i < s->n_other; i++)
        find_accesses(f, s->other[i]);
}

/* v's values from lo to hi, as far as they are constants. */
static bool
values_of(const axe_stmt *s, const axe_var *v, int64_t *hi)
{
    const axe_node *extent = v->extent;
    axe_interval    r;

    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            extent = s->dim[i].extent;
    if (!extent || v->kind == AXE_VAR_PART)
        return false;
    r = axe_interval_of(extent);
    *hi = r.hi - 1;
    return r.has_hi && r.hi > 0;
}

/* The values of a subscript beside the terms that `other` has, too. */
static bool
window(const axe_stmt *s, const axe_affine *sub, const axe_affine *other,
       int64_t *lo, int64_t *hi)
{
    *lo = *hi = sub->constant;
    for (int i = 0; i < sub->n; i++) {
        int64_t c = sub->coef[i], last, end;
        if (sub->var[i]->kind != AXE_VAR_INDEX &&
            axe_affine_coef(other, sub->var[i]) == c)
            continue;
        if (!values_of(s, sub->var[i], &last) || !axe_mul(c, last, &end) ||
            !axe_add(*lo, end < 0 ? end : 0, lo) ||
            !axe_add(*hi, end > 0 ? end : 0, hi))
            return false;
    }
    return true;
}

static bool
apart(axe_ctx *cx, const access *a, const access *b)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        axe_affine x, y;
        int64_t    lo, hi, first, last;
        if (axe_affine_of(cx, a->load->arg[d], &x) &&
            axe_affine_of(cx, b->load->arg[d], &y) &&
            window(a->stmt, &x, &y, &lo, &hi) &&
            window(b->stmt, &y, &x, &first, &last) && (hi < first || last < lo))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------- between roles */

static void
clash(checker *c, const access *w, const access *b)
{
    axe_ctx    *cx = c->cx;
    const char *what = axe_node_text(cx, b->load);

    fail(c, axe_fail(cx, b->load->at, AXE_ESHAPE,
                     b->write ? "`%s` is written here and in another role"
                              : "`%s` is read here, but another role writes it",
                     what));
    axe_note(cx, w->load->at, "there, and nothing says which comes first");
    axe_help(cx, b->write ? "write it in one role, or each its own part"
                          : "hand it over in a pipeline, `produce` there and "
                            "`consume` here, or write it before `roles`");
}

/* The first access of b that meets a write of a, for each tensor. */
static void
check_pair(checker *c, const finder *a, const finder *b, bool both)
{
    for (int i = 0; i < a->found.n; i++) {
        const access *w = a->found.item[i];
        for (int j = 0; w->write && j < b->found.n; j++) {
            const access *x = b->found.item[j];
            if (x->load->u.tensor == w->load->u.tensor && (both || !x->write) &&
                !apart(c->cx, w, x)) {
                clash(c, w, x);
                return;
            }
        }
    }
}

static bool
declares(const axe_stmt *s, const axe_tensor *t)
{
    if (s->kind == AXE_STMT_TENSOR && s->tensor == t)
        return true;
    for (int i = 0; i < s->n_body; i++)
        if (declares(s->body[i], t))
            return true;
    for (int i = 0; i < s->n_other; i++)
        if (declares(s->other[i], t))
            return true;
    return false;
}

/* A tile in registers is spread over the threads of its scope, and those of a
 * role are not all of them. */
static void
check_registers(checker *c, const axe_stmt *role, const finder *f)
{
    for (int i = 0; i < f->found.n; i++) {
        const access     *a = f->found.item[i];
        const axe_tensor *t = a->load->u.tensor;
        if (t->space != AXE_SPACE_REG || t->rank == 0 || declares(role, t))
            continue;
        fail(c, axe_fail(c->cx, a->load->at, AXE_ESHAPE,
                         "`%s` lies in registers of threads that have other "
                         "roles",
                         t->name));
        axe_note(c->cx, t->at, "declared outside of `roles` here");
        axe_help(c->cx, "declare it in the role, or make it `shared`");
        return;
    }
}

static void
check_accesses(checker *c, const axe_stmt *s)
{
    finder *f = axe_new_array(c->cx, finder, s->n_body);

    for (int i = 0; i < s->n_body; i++) {
        f[i] = (finder){.cx = c->cx, .found = {.cx = c->cx}};
        find_accesses(&f[i], s->body[i]);
        check_registers(c, s->body[i], &f[i]);
        for (int j = 0; j < i; j++) {
            check_pair(c, &f[j], &f[i], true);
            check_pair(c, &f[i], &f[j], false);
        }
    }
}

static void
check_gap(checker *c, const axe_stmt *s)
{
    int64_t first, n;

    if (c->inner && axe_roles_gap(c->cx, s, c->inner, &first, &n))
        axe_warn(c->cx, s->at,
                 "some threads have no role, and wait: thread %" PRId64
                 " of %" PRId64 " is the first",
                 first, n);
}

/* --------------------------------------------------------------- counting */

/* coef times a product of extents; LIMIT of them at most. */
enum { LIMIT = 8 };

typedef struct term {
    int64_t         coef;
    int             n;
    const axe_node *extent[LIMIT];
} term;

typedef struct count {
    axe_ctx *cx;
    bool     known;
    axe_list term;
} count;

static bool
same_factors(const term *a, const term *b)
{
    bool used[LIMIT] = {false};

    for (int i = 0; i < a->n; i++) {
        int k = 0;
        while (k < b->n &&
               (used[k] || !axe_node_same(a->extent[i], b->extent[k])))
            k++;
        if (k == b->n)
            return false;
        used[k] = true;
    }
    return a->n == b->n;
}

static void
add_term(count *to, term t)
{
    term *own = axe_new(to->cx, term);

    for (int i = 0; i < to->term.n; i++) {
        term *have = (term *)to->term.item[i];
        if (!same_factors(have, &t))
            continue;
        if (!axe_add(have->coef, t.coef, &have->coef))
            to->known = false;
        return;
    }
    *own = t;
    axe_list_push(&to->term, own);
}

/* One iteration of a loop more around what is counted. */
static bool
multiply(term *around, const axe_node *extent)
{
    int64_t n;

    if (axe_is_iconst(extent, &n))
        return axe_mul(around->coef, n, &around->coef);
    if (around->n == LIMIT)
        return false;
    around->extent[around->n++] = extent;
    return true;
}

/* How many statements fill or read p. */
static int
n_stage(const axe_pipeline *p, int n, axe_stmt *const *body)
{
    int found = 0;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        found += s->pipeline == p && s->kind != AXE_STMT_PIPELINE;
        found += n_stage(p, s->n_body, s->body);
        found += n_stage(p, s->n_other, s->other);
    }
    return found;
}

/* How often each entity fills or reads p in s, `around` times sign. */
static void
count_stages(count *to, const axe_stmt *s, const axe_pipeline *p,
             axe_stmt_kind kind, term around)
{
    if (s->kind == kind && s->pipeline == p) {
        add_term(to, around);
        return;
    }
    if (!axe_stage_find(s, p, kind))
        return;
    if (s->kind == AXE_STMT_IF || s->kind == AXE_STMT_LOOP ||
        (s->kind == AXE_STMT_FOR && !multiply(&around, s->var[0]->extent))) {
        to->known = false;
        return;
    }
    for (int i = 0; i < s->n_body; i++)
        count_stages(to, s->body[i], p, kind, around);
}

/* Does every stage of that kind stand in a branch? */
static bool
is_conditional(const axe_stmt *s, const axe_pipeline *p, axe_stmt_kind kind)
{
    if (s->kind == AXE_STMT_IF || !axe_stage_find(s, p, kind))
        return true;
    if (s->kind == kind && s->pipeline == p)
        return false;
    for (int i = 0; i < s->n_body; i++)
        if (!is_conditional(s->body[i], p, kind))
            return false;
    return true;
}

/* May an iteration of a loop end in front of the first stage of that kind? */
static bool
is_skipped(const axe_stmt *s, const axe_pipeline *p, axe_stmt_kind kind)
{
    for (int i = 0; i < s->n_body; i++) {
        if (axe_stage_find(s->body[i], p, kind))
            return is_skipped(s->body[i], p, kind);
        if (axe_leaves_iteration(1, s->body + i))
            return true;
    }
    return false;
}

/* The number that is left over; false where it is none, or not known. */
static bool
difference(checker *c, const axe_stmt *fill, const axe_stmt *use,
           const axe_pipeline *p, int64_t *out)
{
    count n = {.cx = c->cx, .known = true, .term = {.cx = c->cx}};

    count_stages(&n, fill, p, AXE_STMT_PRODUCE, (term){.coef = 1});
    count_stages(&n, use, p, AXE_STMT_CONSUME, (term){.coef = -1});
    *out = 0;
    for (int i = 0; i < n.term.n; i++) {
        const term *t = n.term.item[i];
        if (t->coef != 0 && t->n > 0)
            n.known = false;
        if (t->n == 0)
            *out = t->coef;
    }
    return n.known;
}

/* Of two loops of as many iterations, the one that reads is left before it
 * does. */
static void
fail_skipped(checker *c, const axe_stmt *fill, const axe_stmt *at)
{
    fail(c, axe_fail(
                c->cx, at->at, AXE_ESHAPE,
                "an iteration may end before `%s` is read here, and not before "
                "it is filled",
                at->pipeline->name));
    axe_note(c->cx, axe_stage_find(fill, at->pipeline, AXE_STMT_PRODUCE)->at,
             "it is filled here");
    axe_help(c->cx, "leave both loops under the same condition");
}

static void
check_count(checker *c, const axe_stmt *fill, const axe_stmt *use,
            const axe_stmt *at)
{
    const axe_pipeline *p = at->pipeline;
    int64_t             left;

    if (is_conditional(fill, p, AXE_STMT_PRODUCE) &&
        !is_conditional(use, p, AXE_STMT_CONSUME)) {
        fail(c, axe_fail(c->cx, at->at, AXE_ESHAPE,
                         "`%s` is read here whether it is filled or not",
                         p->name));
        axe_note(c->cx, axe_stage_find(fill, p, AXE_STMT_PRODUCE)->at,
                 "it is filled here");
        axe_help(c->cx, "fill it in any case, or read it under the same "
                        "condition");
        return;
    }
    if (!difference(c, fill, use, p, &left))
        return;
    if (is_skipped(fill, p, AXE_STMT_PRODUCE))
        return;
    if (is_skipped(use, p, AXE_STMT_CONSUME)) {
        if (left == 0)
            fail_skipped(c, fill, at);
        return;
    }
    if (left == 0 || (left > 0 && left <= p->n_stage && !c->again))
        return;
    fail(c, axe_fail(c->cx, at->at, AXE_ESHAPE,
                     "`%s` is filled %s %s than it is read here", p->name,
                     left == 1 || left == -1
                         ? "once"
                         : axe_textf(c->cx, "%" PRId64 " times",
                                     left < 0 ? -left : left),
                     left < 0 ? "less" : "more"));
    axe_note(c->cx, axe_stage_find(fill, p, AXE_STMT_PRODUCE)->at,
             "it is filled here");
    axe_help(c->cx, left < 0   ? "this role would wait for ever"
                    : c->again ? "what is left would be read the next time"
                               : "the role that fills it would wait for ever");
}

static bool
is_elsewhere(checker *c, const axe_stmt *s, const axe_pipeline *p)
{
    if (n_stage(p, c->k->n_body, c->k->body) == n_stage(p, s->n_body, s->body))
        return false;
    fail(c, axe_fail(c->cx, s->at, AXE_EUNSUPPORTED,
                     "`%s` leads from role to role, but it is used outside of "
                     "these roles, too",
                     p->name));
    axe_help(c->cx, "use a pipeline of its own there");
    return true;
}

/* Count each pipeline that is filled in role `fill` and read in another. */
static void
check_counts(checker *c, const axe_stmt *s, const axe_stmt *fill,
             const axe_stmt *at)
{
    const axe_pipeline *p = at->pipeline;
    const axe_stmt     *use;

    for (int i = 0; i < s->n_body && at->kind == AXE_STMT_PRODUCE &&
                    axe_stage_find(fill, p, AXE_STMT_PRODUCE) == at;
         i++) {
        use = axe_stage_find(s->body[i], p, AXE_STMT_CONSUME);
        if (!use || s->body[i] == fill)
            continue;
        if (is_elsewhere(c, s, p))
            break;
        check_count(c, fill, s->body[i], use);
    }
    for (int i = 0; i < at->n_body; i++)
        check_counts(c, s, fill, at->body[i]);
    for (int i = 0; i < at->n_other; i++)
        check_counts(c, s, fill, at->other[i]);
}

static void
check_roles(checker *c, const axe_stmt *s)
{
    check_gap(c, s);
    check_accesses(c, s);
    for (int i = 0; i < s->n_body; i++)
        check_counts(c, s, s->body[i], s->body[i]);
}

/* -------------------------------------------------------------------- all */

static void
check_body(checker *c, int n, axe_stmt *const *body)
{
    checker around = *c;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_SCOPE) {
            c->inner = s;
            c->again =
                s->keys.persistent || (c->again && s->scope > AXE_SCOPE_CTA);
        }
        if (s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP)
            c->again = c->inner != NULL;
        if (s->kind == AXE_STMT_ROLES)
            check_roles(c, s);
        check_body(c, s->n_body, s->body);
        check_body(c, s->n_other, s->other);
        c->inner = around.inner;
        c->again = around.again;
    }
}

axe_status
axe_check_roles(axe_ctx *cx, const axe_kernel *k)
{
    checker c = {.cx = cx, .k = k};

    check_body(&c, k->n_body, k->body);
    return c.status;
}
