/* race.c - accesses of a scope, and the variables that each of them tells: by
 * what is known of some others follow, until nothing does. */
#include "ir/race.h"

static bool
mentions_scope(const finder *f, const axe_node *n)
{
    for (int i = 0; i < f->scope->n_var; i++)
        if (axe_mentions(n, f->scope->var[i]))
            return true;
    return false;
}

key *
axe_race_key(access *a, const axe_var *v)
{
    for (int i = 0; i < a->n_key; i++)
        if (axe_var_same(a->key[i].var, v))
            return &a->key[i];
    return NULL;
}

static const axe_node *
extent_of(const access *a, const axe_var *v)
{
    const axe_stmt *s = a->stmt;

    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            return s->dim[i].extent;
    return v->extent;
}

/* The values a variable takes; of an index in a fold inside the value, and of
 * what has no constant extent, nothing is known. */
static bool
values_of(const access *a, const axe_var *v, int64_t *lo, int64_t *hi)
{
    const axe_node *extent = extent_of(a, v);
    axe_interval    r;

    if (!extent)
        return false;
    r = axe_interval_of(extent);
    if (v->kind == AXE_VAR_PART) {
        *lo = r.lo;
        *hi = r.hi;
        return r.has_lo && r.has_hi;
    }
    *lo = 0;
    *hi = r.hi > 0 ? r.hi - 1 : 0;
    return r.has_hi;
}

bool
axe_race_common(const finder *f, const axe_var *v)
{
    return v->kind == AXE_VAR_SIZE || axe_list_has(f->outer, v) ||
           (v->kind == AXE_VAR_PART && !mentions_scope(f, v->extent));
}

bool
axe_race_window(const finder *f, access *a, const axe_affine *sub,
                const axe_var *v, int64_t mod, int64_t *lo, int64_t *hi)
{
    *lo = *hi = sub->constant;
    for (int i = 0; i < sub->n; i++) {
        const axe_var *u = sub->var[i];
        const key     *k = axe_race_key(a, u);
        int64_t        c = sub->coef[i], first, last;
        if (axe_var_same(u, v) || (k && k->how != OPEN) ||
            axe_race_common(f, u) || (mod > 0 && c % mod == 0))
            continue;
        if (!values_of(a, u, &first, &last) || !axe_mul(c, first, &first) ||
            !axe_mul(c, last, &last) ||
            !axe_add(*lo, first < last ? first : last, lo) ||
            !axe_add(*hi, first < last ? last : first, hi))
            return false;
    }
    return true;
}

bool
axe_race_narrow(int64_t lo, int64_t hi, int64_t c)
{
    int64_t width;

    return lo > INT64_MIN && c > INT64_MIN && axe_add(hi, -lo, &width) &&
           width < (c < 0 ? -c : c);
}

/* The greatest number that divides all coefficients greater than c; 0 if there
 * are none. */
static int64_t
above(const axe_affine *sub, int64_t c)
{
    int64_t g = 0;

    for (int i = 0; i < sub->n; i++)
        if (sub->coef[i] > c || sub->coef[i] < -c)
            g = axe_gcd(g, sub->coef[i]);
    return g;
}

bool
axe_race_within(access *a, const axe_var *v, int64_t c, int64_t lo, int64_t hi,
                int64_t mod)
{
    int64_t first, last, width;

    return mod == 0 || (values_of(a, v, &first, &last) &&
                        axe_mul(last - first, c < 0 ? -c : c, &last) &&
                        axe_add(hi, -lo, &width) &&
                        axe_add(last, width, &width) && width < mod);
}

static bool
by_dim(const finder *f, access *a, key *k)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        const axe_affine *sub = &a->sub[d];
        int64_t           c = axe_affine_coef(sub, k->var), lo, hi;
        int64_t           mod[2] = {0, 0};
        if (c == 0 || c == INT64_MIN)
            continue;
        mod[1] = above(sub, c < 0 ? -c : c);
        for (int i = 0; i < 2; i++)
            if (axe_race_window(f, a, sub, k->var, mod[i], &lo, &hi) &&
                axe_race_narrow(lo, hi, c) &&
                axe_race_within(a, k->var, c, lo, hi, mod[i])) {
                *k = (key){k->var, BY_DIM, d, c, lo, hi, mod[i], NULL};
                return true;
            }
    }
    return false;
}

/* Is there a known part `v op c`?  c is that of the first one, if 0. */
static bool
known_part(const access *a, axe_op op, const axe_var *v, int64_t *c)
{
    int64_t by;

    for (int i = 0; i < a->n_key; i++) {
        const axe_node *n = a->key[i].var->extent;
        if (a->key[i].var->kind == AXE_VAR_PART && a->key[i].how != OPEN &&
            n->op == op && n->arg[0]->op == AXE_OP_var &&
            n->arg[0]->u.var == v && axe_is_iconst(n->arg[1], &by) &&
            (*c == 0 || *c == by)) {
            *c = by;
            return true;
        }
    }
    return false;
}

static bool
by_parts(access *a, key *k)
{
    int64_t c = 0;

    if (!known_part(a, AXE_OP_div, k->var, &c) ||
        !known_part(a, AXE_OP_mod, k->var, &c))
        return false;
    *k = (key){.var = k->var, .how = BY_PARTS, .coef = c};
    return true;
}

/* Does the expression hold nothing but constants, sizes and known variables? */
static bool
is_known(access *a, const axe_node *n)
{
    const key *k;

    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce)
        return false;
    if (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE) {
        k = axe_race_key(a, n->u.var);
        return k && k->how != OPEN;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!is_known(a, n->arg[i]))
            return false;
    return true;
}

/* `v == value`, alone or among conditions that all hold. */
static bool
by_cond(access *a, const axe_node *cond, key *k)
{
    if (cond->op == AXE_OP_and)
        return by_cond(a, cond->arg[0], k) || by_cond(a, cond->arg[1], k);
    if (cond->op != AXE_OP_eq)
        return false;
    for (int i = 0; i < 2; i++)
        if (cond->arg[i]->op == AXE_OP_var && cond->arg[i]->u.var == k->var &&
            is_known(a, cond->arg[1 - i])) {
            *k = (key){.var = k->var, .how = FIXED, .value = cond->arg[1 - i]};
            return true;
        }
    return false;
}

static bool
find_key(finder *f, access *a, key *k)
{
    int64_t lo, hi;

    if (values_of(a, k->var, &lo, &hi) && lo == hi) {
        k->how = ONE;
        return true;
    }
    for (const around *w = f->at; w; w = w->up)
        if (w->cond && by_cond(a, w->cond, k))
            return true;
    return by_dim(f, a, k) || by_parts(a, k);
}

static void
find_keys(finder *f, access *a)
{
    bool more = true;

    while (more) {
        more = false;
        for (int i = 0; i < a->n_key; i++)
            if (a->key[i].how == OPEN)
                more = find_key(f, a, &a->key[i]) || more;
    }
}

/* Variables of the scope, and parts of them that the subscripts have. */
static void
list_keys(finder *f, access *a)
{
    int n = f->scope->n_var;

    for (int d = 0; d < a->load->n_arg; d++)
        n += a->sub[d].n;
    a->key = axe_new_array(f->cx, key, n + 1);
    for (int i = 0; i < f->scope->n_var; i++)
        a->key[a->n_key++].var = f->scope->var[i];
    for (int d = 0; d < a->load->n_arg; d++)
        for (int i = 0; i < a->sub[d].n; i++) {
            const axe_var *v = a->sub[d].var[i];
            if (v->kind == AXE_VAR_PART && mentions_scope(f, v->extent) &&
                !axe_race_key(a, v))
                a->key[a->n_key++].var = v;
        }
}

static void
add_access(finder *f, const axe_stmt *s, const axe_node *load, bool write)
{
    access     *a = axe_new(f->cx, access);
    axe_affine *sub = axe_new_array(f->cx, axe_affine, load->n_arg + 1);

    *a = (access){.stmt = s, .load = load, .write = write, .sub = sub};
    for (int d = 0; d < load->n_arg; d++)
        if (!axe_affine_of(f->cx, load->arg[d], &sub[d])) {
            sub[d] = (axe_affine){0};
            a->scatter = true;
        }
    list_keys(f, a);
    find_keys(f, a);
    axe_list_push(&f->found, a);
}

/* Do the entities of the scope share it? */
static bool
is_shared(const finder *f, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ||
           (f->outer->n > 0 && !axe_list_has(&f->own, t));
}

typedef struct reads {
    finder         *f;
    const axe_stmt *s;
} reads;

static void
note_read(void *user, const axe_node *n)
{
    reads *r = user;

    if (n->op == AXE_OP_load && is_shared(r->f, n->u.tensor) &&
        n->u.tensor->dir != AXE_DIR_IN)
        add_access(r->f, r->s, n, false);
}

void
axe_race_find(finder *f, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        const around   *up = f->at;
        around          in = {s->cond, up};
        reads           r = {f, s};
        if (s->kind == AXE_STMT_TENSOR)
            axe_list_push(&f->own, s->tensor);
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            axe_list_push(&f->own, s->pipeline->tensor[k]);
        if (s->kind == AXE_STMT_INDEX) {
            if (is_shared(f, s->dst->u.tensor))
                add_access(f, s, s->dst, true);
            axe_node_walk(s->value, note_read, &r);
        }
        if (s->kind == AXE_STMT_IF)
            f->at = &in;
        axe_race_find(f, s->n_body, s->body);
        f->at = up;
        axe_race_find(f, s->n_other, s->other);
    }
}

const key *
axe_race_open(const finder *f, const access *a)
{
    for (int i = 0; i < f->scope->n_var; i++)
        if (a->key[i].how == OPEN)
            return &a->key[i];
    return NULL;
}
