/* race.c - accesses of a scope, and the variables that each of them tells: by
 * what is known of some others follow, until nothing does. */
#include "ir/race.h"

static bool
mentions_scope(const axe_race_finder *f, const axe_node *n)
{
    for (int i = 0; i < f->scope->n_var; i++)
        if (axe_mentions(n, f->scope->var[i]))
            return true;
    return false;
}

axe_access_key *
axe_race_key(axe_race_access *a, const axe_var *v)
{
    for (int i = 0; i < a->n_key; i++)
        if (axe_var_same(a->key[i].var, v))
            return &a->key[i];
    return NULL;
}

static const axe_node *
extent_of(const axe_race_access *a, const axe_var *v)
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
values_of(const axe_race_access *a, const axe_var *v, int64_t *lo, int64_t *hi)
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
axe_race_common(const axe_race_finder *f, const axe_var *v)
{
    return v->kind == AXE_VAR_SIZE || axe_list_has(f->outer, v) ||
           (v->kind == AXE_VAR_PART && !mentions_scope(f, v->extent));
}

static const axe_node *
extent_here(const void *user, const axe_var *v)
{
    return extent_of(user, v);
}

bool
axe_race_window(const axe_race_finder *f, axe_race_access *a,
                const axe_affine *sub, const axe_var *v, int64_t mod,
                int64_t *lo, int64_t *hi)
{
    axe_reach       in = {f->cx, extent_here, a, NULL};
    const axe_var **var = axe_new_array(f->cx, const axe_var *, sub->n + 1);
    int64_t        *coef = axe_new_array(f->cx, int64_t, sub->n + 1);
    axe_affine      rest = {0, var, coef, sub->constant};
    axe_interval    g;

    for (int i = 0; i < sub->n; i++) {
        const axe_var        *u = sub->var[i];
        const axe_access_key *k = axe_race_key(a, u);
        if (axe_var_same(u, v) || (k && k->how != AXE_KEY_OPEN) ||
            axe_race_common(f, u) || (mod > 0 && sub->coef[i] % mod == 0))
            continue;
        var[rest.n] = u;
        coef[rest.n++] = sub->coef[i];
    }
    g = axe_reach_of(&in, &rest);
    *lo = g.lo;
    *hi = g.hi;
    return g.has_lo && g.has_hi && g.lo <= g.hi;
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
axe_race_within(axe_race_access *a, const axe_var *v, int64_t c, int64_t lo,
                int64_t hi, int64_t mod)
{
    int64_t first, last, width;

    return mod == 0 || (values_of(a, v, &first, &last) &&
                        axe_mul(last - first, c < 0 ? -c : c, &last) &&
                        axe_add(hi, -lo, &width) &&
                        axe_add(last, width, &width) && width < mod);
}

/* Does the value of `sub`, which is known, tell k's variable? */
static bool
tells(const axe_race_finder *f, axe_race_access *a, const axe_affine *sub,
      axe_access_key *k)
{
    int64_t c = axe_affine_coef(sub, k->var), lo, hi, mod[2] = {0, 0};

    if (c == 0 || c == INT64_MIN)
        return false;
    mod[1] = above(sub, c < 0 ? -c : c);
    for (int i = 0; i < 2; i++)
        if (axe_race_window(f, a, sub, k->var, mod[i], &lo, &hi) &&
            axe_race_narrow(lo, hi, c) &&
            axe_race_within(a, k->var, c, lo, hi, mod[i])) {
            *k = (axe_access_key){
                .var = k->var, .coef = c, .lo = lo, .hi = hi, .mod = mod[i]};
            return true;
        }
    return false;
}

static bool
by_dim(const axe_race_finder *f, axe_race_access *a, axe_access_key *k)
{
    for (int d = 0; d < a->load->n_arg; d++)
        if (tells(f, a, &a->sub[d], k)) {
            k->how = AXE_KEY_BY_DIM;
            k->dim = d;
            return true;
        }
    return false;
}

/* n / c or n % c by a constant, as *op, or NULL. */
static const axe_node *
cut_of(const axe_var *v, axe_op *op, int64_t *c)
{
    const axe_node *n = v->kind == AXE_VAR_PART ? v->extent : NULL;

    if (!n || (n->op != AXE_OP_div && n->op != AXE_OP_mod) ||
        !axe_is_iconst(n->arg[1], c) || *c < 1)
        return NULL;
    *op = n->op;
    return n->arg[0];
}

/* Is the remainder of n by c known, too? */
static bool
known_rest(const axe_race_access *a, const axe_node *n, int64_t c)
{
    axe_op  op;
    int64_t by;

    for (int i = 0; i < a->n_key; i++) {
        const axe_node *x = cut_of(a->key[i].var, &op, &by);
        if (x && op == AXE_OP_mod && by == c && a->key[i].how != AXE_KEY_OPEN &&
            axe_node_same(x, n))
            return true;
    }
    return false;
}

static bool
by_parts(const axe_race_finder *f, axe_race_access *a, axe_access_key *k)
{
    axe_affine whole;
    axe_op     op;
    int64_t    c;

    for (int i = 0; i < a->n_key; i++) {
        const axe_node *n = cut_of(a->key[i].var, &op, &c);
        if (!n || op != AXE_OP_div || a->key[i].how == AXE_KEY_OPEN ||
            !known_rest(a, n, c) || !axe_affine_of(f->cx, n, &whole) ||
            !tells(f, a, &whole, k))
            continue;
        k->how = AXE_KEY_BY_PARTS;
        k->of = n;
        k->over = c;
        return true;
    }
    return false;
}

/* Does the expression hold nothing but constants, sizes and known variables? */
static bool
is_known(axe_race_access *a, const axe_node *n)
{
    const axe_access_key *k;

    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce)
        return false;
    if (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE) {
        k = axe_race_key(a, n->u.var);
        return k && k->how != AXE_KEY_OPEN;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!is_known(a, n->arg[i]))
            return false;
    return true;
}

/* `v + c == value`: v by the other side, or NULL. */
static const axe_node *
by_sides(const axe_race_finder *f, axe_race_access *a, const axe_node *side,
         const axe_node *value, const axe_var *v)
{
    axe_affine x;

    if (side->type != AXE_TYPE_INDEX || !is_known(a, value) ||
        !axe_affine_of(f->cx, side, &x) || x.n != 1 || x.coef[0] != 1 ||
        !axe_var_same(x.var[0], v))
        return NULL;
    return axe_node2(f->cx, AXE_OP_sub, value,
                     axe_index_const(f->cx, x.constant));
}

/* Such an equation, alone or among conditions that all hold; no: none does. */
static bool
by_cond(const axe_race_finder *f, axe_race_access *a, const axe_node *cond,
        bool no, axe_access_key *k)
{
    const axe_node *value;

    if (cond->op == AXE_OP_not)
        return by_cond(f, a, cond->arg[0], !no, k);
    if (cond->op == (no ? AXE_OP_or : AXE_OP_and))
        return by_cond(f, a, cond->arg[0], no, k) ||
               by_cond(f, a, cond->arg[1], no, k);
    if (cond->op != (no ? AXE_OP_ne : AXE_OP_eq))
        return false;
    for (int i = 0; i < 2; i++) {
        value = by_sides(f, a, cond->arg[i], cond->arg[1 - i], k->var);
        if (!value)
            continue;
        *k = (axe_access_key){
            .var = k->var, .how = AXE_KEY_FIXED, .value = value};
        return true;
    }
    return false;
}

/* Do the conditions leave the variable one value of its range? */
static bool
by_range(const axe_race_finder *f, axe_race_access *a, axe_access_key *k)
{
    const axe_reach  in = {f->cx, extent_here, a, f->at};
    const int64_t    one = 1;
    const axe_affine of = {1, &k->var, &one, 0};
    axe_interval     g;

    if (!f->at || k->var->kind == AXE_VAR_PART)
        return false;
    g = axe_reach_of(&in, &of);
    if (!g.has_lo || !g.has_hi || g.lo != g.hi)
        return false;
    *k = (axe_access_key){.var = k->var,
                          .how = AXE_KEY_FIXED,
                          .value = axe_index_const(f->cx, g.lo)};
    return true;
}

static bool
by_conds(const axe_race_finder *f, axe_race_access *a, axe_access_key *k)
{
    for (const axe_holds *w = f->at; w; w = w->up)
        if (by_cond(f, a, w->cond, w->no, k))
            return true;
    return by_range(f, a, k);
}

static bool
find_key(axe_race_finder *f, axe_race_access *a, axe_access_key *k,
         bool conds_first)
{
    int64_t lo, hi;

    if (values_of(a, k->var, &lo, &hi) && lo == hi) {
        k->how = AXE_KEY_ONE;
        return true;
    }
    return (conds_first && by_conds(f, a, k)) || by_dim(f, a, k) ||
           by_parts(f, a, k) || by_conds(f, a, k);
}

static void
find_keys(axe_race_finder *f, axe_race_access *a, bool conds_first)
{
    bool more = true;

    while (more) {
        more = false;
        for (int i = 0; i < a->n_key; i++)
            if (a->key[i].how == AXE_KEY_OPEN)
                more = find_key(f, a, &a->key[i], conds_first) || more;
    }
}

/* The parts of variables of the scope in an expression, and in what they cut.
 */
static void
list_parts(const axe_race_finder *f, const axe_affine *sub, axe_list *parts)
{
    for (int i = 0; i < sub->n; i++) {
        const axe_var  *v = sub->var[i];
        const axe_node *of;
        axe_affine      inner;
        axe_op          op;
        int64_t         c;
        bool            known = false;
        if (v->kind != AXE_VAR_PART || !mentions_scope(f, v->extent))
            continue;
        for (int k = 0; k < parts->n; k++)
            known = known || axe_var_same(parts->item[k], v);
        if (known)
            continue;
        axe_list_push(parts, v);
        of = cut_of(v, &op, &c);
        if (of && axe_affine_of(f->cx, of, &inner))
            list_parts(f, &inner, parts);
    }
}

/* Variables of the scope, and parts of them that the subscripts have. */
static void
list_keys(axe_race_finder *f, axe_race_access *a)
{
    axe_list parts = {.cx = f->cx};

    for (int d = 0; d < a->load->n_arg; d++)
        list_parts(f, &a->sub[d], &parts);
    a->n_key = f->scope->n_var + parts.n;
    a->key = axe_new_array(f->cx, axe_access_key, a->n_key + 1);
    a->by_place = axe_new_array(f->cx, axe_access_key, a->n_key + 1);
    for (int i = 0; i < a->n_key; i++)
        a->key[i].var = a->by_place[i].var =
            i < f->scope->n_var ? f->scope->var[i]
                                : parts.item[i - f->scope->n_var];
}

void
axe_race_swap(axe_race_access *a)
{
    axe_access_key *first = a->key;

    a->key = a->by_place;
    a->by_place = first;
}

static void
add_access(axe_race_finder *f, const axe_stmt *s, const axe_node *load,
           bool write)
{
    axe_race_access *a = axe_new(f->cx, axe_race_access);
    axe_affine      *sub = axe_new_array(f->cx, axe_affine, load->n_arg + 1);

    *a = (axe_race_access){.stmt = s, .load = load, .write = write, .sub = sub};
    for (int d = 0; d < load->n_arg; d++)
        if (!axe_affine_of(f->cx, load->arg[d], &sub[d])) {
            sub[d] = (axe_affine){0};
            a->scatter = true;
        }
    list_keys(f, a);
    find_keys(f, a, true);
    axe_race_swap(a);
    find_keys(f, a, false);
    axe_race_swap(a);
    axe_list_push(&f->found, a);
}

/* Do the entities of the scope share it? */
static bool
is_shared(const axe_race_finder *f, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ||
           (f->outer->n > 0 && !axe_list_has(&f->own, t));
}

typedef struct reads {
    axe_race_finder *f;
    const axe_stmt  *s;
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
axe_race_find(axe_race_finder *f, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt  *s = body[i];
        const axe_holds *up = f->at;
        axe_holds        in = {s->cond, false, up};
        reads            r = {f, s};
        if (s->kind == AXE_STMT_TENSOR)
            axe_list_push(&f->own, s->tensor);
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            axe_list_push(&f->own, s->pipeline->tensor[k]);
        if (s->kind == AXE_STMT_INDEX) {
            if (is_shared(f, s->dst->u.tensor))
                add_access(f, s, s->dst, true);
            for (int d = 0; d < s->dst->n_arg; d++)
                axe_node_walk(s->dst->arg[d], note_read, &r);
            axe_node_walk(s->value, note_read, &r);
        }
        if (s->kind == AXE_STMT_IF)
            f->at = &in;
        axe_race_find(f, s->n_body, s->body);
        in.no = true;
        axe_race_find(f, s->n_other, s->other);
        f->at = up;
    }
}

const axe_access_key *
axe_race_open(const axe_race_finder *f, const axe_race_access *a)
{
    for (int i = 0; i < f->scope->n_var; i++)
        if (a->key[i].how == AXE_KEY_OPEN)
            return &a->key[i];
    return NULL;
}
