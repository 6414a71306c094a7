/* resolve_fn.c - calls: a function's body in place of each call of it.
 *
 * Arguments are looked up where the call stands, the body where the function
 * stands: it sees its arguments, what it declares and what the file declares,
 * and nothing of its caller.  A tensor argument is another name for the
 * caller's tensor; what the argument's declaration leaves open, types after
 * `type` and names of extents not known otherwise, is that tensor's.
 *
 * Errors inside are followed by the calls that led there. */
#include <inttypes.h>

#include "lang/resolve_int.h"

/* A kernel has at most so many statements that come from functions: calls in *
 * functions that are called often multiply.  The innermost calls are told. */
enum { EXPAND_MAX = 2000, TOLD_MAX = 6 };

/* An argument as the caller gives it. */
typedef struct given {
    const axe_expr *e;
    axe_entry      *tensor;
    axe_typed       value;
} given;

/* A call as its expansion needs it. */
typedef struct expansion {
    axe_resolver      *r;
    const axe_syntax  *call;
    const axe_fn_decl *fn;
    given             *arg;
} expansion;

static bool
note_decl(expansion *x, axe_word w)
{
    axe_note(x->r->cx, w.at, "`%s` of `%s` is declared here", w.name,
             x->fn->word.name);
    return false;
}

/* An error in the function's own text since there were n. */
static bool
note_call(expansion *x, int n)
{
    if (axe_n_error(x->r->cx) > n)
        axe_note(x->r->cx, x->call->at, "in `%s`, called here",
                 x->fn->word.name);
    return false;
}

/* ------------------------------------------------------- at the call */

static bool
give_tensor(axe_resolver *r, given *g, axe_word w)
{
    if (g->e->kind != AXE_EXPR_NAME)
        return axe_resolve_fail(
            r, axe_fail(r->cx, g->e->at, AXE_ETYPE,
                        "`%s` is a tensor as a whole: name one", w.name));
    g->tensor = axe_names_need(r, g->e->word, "tensor");
    if (!g->tensor || g->tensor->kind == AXE_ENTRY_TENSOR)
        return g->tensor != NULL;
    return axe_resolve_fail(
        r, axe_fail(r->cx, g->e->at, AXE_ETYPE, "`%s` is %s, not a tensor",
                    g->tensor->name, axe_entry_text(g->tensor)));
}

static bool
give(expansion *x)
{
    axe_resolver *r = x->r;
    bool          ok = true;

    if (x->call->n_arg != x->fn->n_param) {
        axe_resolve_fail(r, axe_fail(r->cx, x->call->at, AXE_ESYNTAX,
                                     "`%s` takes %d argument%s, not %d",
                                     x->fn->word.name, x->fn->n_param,
                                     x->fn->n_param == 1 ? "" : "s",
                                     x->call->n_arg));
        axe_note(r->cx, x->fn->word.at, "declared here");
        return false;
    }
    x->arg = axe_new_array(r->cx, given, x->fn->n_param);
    for (int i = 0; i < x->fn->n_param; i++) {
        const axe_tensor_decl *d = x->fn->param[i];
        given                 *g = &x->arg[i];
        g->e = x->call->arg[i];
        if (d->n_dim > 0) {
            ok = give_tensor(r, g, d->word) && ok;
            continue;
        }
        r->scalars = true;
        g->value = axe_resolve_value(r, g->e, AXE_NO_TYPE);
        r->scalars = false;
        ok = g->value.node && ok;
    }
    return ok;
}

/* --------------------------------------------------- at the function's place
 */

/* The type an argument is declared with; an open one becomes the tensor's. */
static bool
declared_type(expansion *x, const axe_tensor_decl *d, axe_type actual,
              axe_type *out)
{
    axe_entry *e;

    for (int i = 0; i < x->fn->n_type; i++) {
        axe_word w = *x->fn->type[i];
        if (w.name != d->type.word.name || axe_names_find(x->r, w.name))
            continue;
        if (d->type.accum)
            break;
        e = axe_names_add(x->r, AXE_ENTRY_TYPE, w);
        e->type = actual;
    }
    return axe_resolve_type(x->r, d->type, out);
}

/* Is the argument's type one after `type` that nothing has told yet? */
static bool
is_open(const expansion *x, const axe_tensor_decl *d)
{
    for (int i = 0; i < x->fn->n_type; i++)
        if (x->fn->type[i]->name == d->type.word.name)
            return !axe_names_find(x->r, d->type.word.name);
    return false;
}

static bool
bind_extent(expansion *x, const given *g, const axe_tensor_decl *d, int k)
{
    axe_resolver   *r = x->r;
    const axe_expr *e = d->dim[k];
    const axe_node *have = axe_resolve_seen(r, g->tensor->tensor)->shape[k];
    const axe_node *want;
    bool            size = have->op == AXE_OP_var;
    axe_entry      *named;
    int             n = axe_n_error(r->cx);
    if (e->kind == AXE_EXPR_NAME && !axe_names_find(r, e->word.name)) {
        named = axe_names_add(r,
                              size                        ? AXE_ENTRY_VAR
                              : have->op == AXE_OP_iconst ? AXE_ENTRY_CONST
                                                          : AXE_ENTRY_VALUE,
                              e->word);
        named->value = have;
        named->var = size ? have->u.var : NULL;
        return named->kind != AXE_ENTRY_BAD;
    }
    want = axe_resolve_index(r, e, false, "an extent");
    if (!want)
        return note_call(x, n);
    if (axe_node_same(want, have))
        return true;
    axe_resolve_fail(r, axe_fail(r->cx, g->e->at, AXE_ESHAPE,
                                 "dimension %d of `%s` has %s elements, but "
                                 "`%s` takes %s",
                                 k, g->tensor->name, axe_node_text(r->cx, have),
                                 x->fn->word.name, axe_node_text(r->cx, want)));
    return note_decl(x, d->word);
}

static bool
bind_tensor(expansion *x, const given *g, const axe_tensor_decl *d)
{
    axe_resolver     *r = x->r;
    const axe_tensor *t = g->tensor->tensor;
    axe_type          type;
    bool              ok = true;
    int               n = axe_n_error(r->cx);
    if (d->n_dim != t->rank) {
        axe_resolve_fail(r, axe_fail(r->cx, g->e->at, AXE_ESHAPE,
                                     "`%s` has %d dimension%s, but `%s` takes "
                                     "%d",
                                     g->tensor->name, t->rank,
                                     t->rank == 1 ? "" : "s", x->fn->word.name,
                                     d->n_dim));
        return note_decl(x, d->word);
    }
    if (!declared_type(x, d, t->type, &type))
        return note_call(x, n);
    if (type != t->type) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, g->e->at, AXE_ETYPE,
                                  "`%s` is %s, but `%s` takes %s",
                                  g->tensor->name, axe_type_table[t->type].name,
                                  x->fn->word.name, axe_type_table[type].name));
        return note_decl(x, d->word);
    }
    for (int k = 0; k < t->rank; k++)
        ok = bind_extent(x, g, d, k) && ok;
    axe_names_add(r, AXE_ENTRY_TENSOR, d->word)->same = g->tensor;
    return ok;
}

static bool
not_that(expansion *x, const given *g, const axe_tensor_decl *d,
         const char *what)
{
    axe_resolve_fail(x->r, axe_fail(x->r->cx, g->e->at, AXE_ETYPE,
                                    "`%s` is no %s, which `%s` takes",
                                    axe_node_text(x->r->cx, g->value.node),
                                    what, x->fn->word.name));
    return note_decl(x, d->word);
}

/* An integer known at run time, or a constant of any type. */
static bool
bind_value(expansion *x, const given *g, const axe_tensor_decl *d)
{
    axe_resolver   *r = x->r;
    const axe_node *v = g->value.node;
    axe_type        type;
    bool            literal = g->value.literal == AXE_LITERAL;
    int             n = axe_n_error(r->cx);
    if (!axe_resolve_type(r, d->type, &type))
        return note_call(x, n);
    if (type == AXE_TYPE_INDEX && v->type != AXE_TYPE_INDEX)
        return not_that(x, g, d, "integer (i64)");
    if (type != AXE_TYPE_INDEX && !literal)
        return not_that(x, g, d, "compile-time constant");
    if (literal && !axe_literal_adapt(r, v, type, g->e->at))
        return note_decl(x, d->word);
    if (axe_type_is_float(type))
        v = axe_literal_adapt(r, v, AXE_TYPE_f64, g->e->at);
    axe_names_add(r, literal ? AXE_ENTRY_CONST : AXE_ENTRY_VALUE, d->word)
        ->value = v;
    return true;
}

static bool
bind(expansion *x)
{
    bool ok = true;

    for (int i = 0; i < x->fn->n_param; i++) {
        const axe_tensor_decl *d = x->fn->param[i];
        ok = (d->n_dim > 0 ? bind_tensor(x, &x->arg[i], d)
                           : bind_value(x, &x->arg[i], d)) &&
             ok;
    }
    return ok;
}

/* ------------------------------------------------------------------- calls */

void
axe_resolve_note_calls(axe_resolver *r)
{
    int n = 0;

    if (!r->call || axe_n_error(r->cx) <= r->n_noted)
        return;
    for (const axe_call *c = r->call; c; c = c->up) {
        if (++n > TOLD_MAX)
            continue;
        axe_note(r->cx, c->at, "in `%s`, called here", c->fn->word.name);
    }
    if (n > TOLD_MAX)
        axe_note(r->cx, AXE_NOWHERE, "and in %d calls around it", n - TOLD_MAX);
    r->n_noted = axe_n_error(r->cx);
}

bool
axe_resolve_may_expand(axe_resolver *r)
{
    if (!r->call || r->n_expanded > EXPAND_MAX)
        return !r->call;
    if (++r->n_expanded <= EXPAND_MAX)
        return true;
    return axe_resolve_fail(r, axe_fail(r->cx, r->call->at, AXE_ELIMIT,
                                        "functions expand to more than %d "
                                        "statements",
                                        EXPAND_MAX));
}

/* a -> b -> a */
static bool
check_cycle(axe_resolver *r, const axe_syntax *s, const axe_fn_decl *fn)
{
    const char     *text = fn->word.name;
    const axe_call *c = r->call;
    int             n = r->depth;

    for (; c; c = c->up) {
        n += c->fn->value != NULL;
        text = axe_textf(r->cx, "%s -> %s", c->fn->word.name, text);
        if (c->fn == fn)
            break;
    }
    if (c)
        return axe_resolve_fail(r, axe_fail(r->cx, s->at, AXE_EUNSUPPORTED,
                                            "`%s` calls itself: %s",
                                            fn->word.name, text));
    if (n <= AXE_NEST_MAX)
        return true;
    return axe_resolve_fail(r, axe_fail(r->cx, s->at, AXE_ELIMIT,
                                        "calls and blocks are nested deeper "
                                        "than %d",
                                        AXE_NEST_MAX));
}

static const axe_fn_decl *
find_fn(axe_resolver *r, axe_word w)
{
    axe_entry *e = axe_names_find(r, w.name);

    if (axe_name_is_builtin(w.name) && !(e && e->kind == AXE_ENTRY_FN)) {
        axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ETYPE,
                                     "`%s` gives a value, and nothing takes it",
                                     w.name));
        return NULL;
    }
    e = axe_names_need(r, w, "fn");
    if (!e || e->kind == AXE_ENTRY_FN)
        return e ? e->fn : NULL;
    axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ETYPE,
                                 "`%s` is %s, and cannot be called", e->name,
                                 axe_entry_text(e)));
    return NULL;
}

void
axe_resolve_call(axe_resolver *r, const axe_syntax *s, axe_list *out)
{
    expansion x = {.r = r, .call = s, .fn = find_fn(r, s->word)};
    axe_call  here = {x.fn, s->at, r->call};
    int       floor = r->floor, mark = r->names.n;

    if (x.fn && x.fn->value) {
        axe_resolve_fail(r, axe_fail(r->cx, s->at, AXE_ETYPE,
                                     "`%s` gives a value, and nothing takes it",
                                     s->word.name));
        return;
    }
    if (!x.fn || !check_cycle(r, s, x.fn) || !give(&x))
        return;
    r->floor = mark;
    if (bind(&x)) {
        r->call = &here;
        r->n_noted = axe_n_error(r->cx);
        axe_resolve_inner(r, x.fn->n_body, x.fn->body, out);
        r->call = here.up;
    }
    axe_names_leave(r, mark);
    r->floor = floor;
}

/* --------------------------------------------------------- with a result */

/* A number: widened to the argument's type; of an open type, which is its own.
 */
static bool
bind_operand(expansion *x, const given *g, const axe_tensor_decl *d)
{
    axe_resolver   *r = x->r;
    const axe_node *v = g->value.node;
    axe_type        type;
    int             n = axe_n_error(r->cx);

    if (g->value.literal && v->type == AXE_TYPE_f64 && is_open(x, d)) {
        axe_resolve_fail(r, axe_fail(r->cx, g->e->at, AXE_ETYPE,
                                     "`%s` has no type of its own, and `%s` "
                                     "takes any",
                                     axe_node_text(r->cx, v), d->word.name));
        axe_help(r->cx, "cast it, as in `f32(%s)`", axe_node_text(r->cx, v));
        return note_decl(x, d->word);
    }
    if (!declared_type(x, d, v->type, &type))
        return note_call(x, n);
    v = axe_resolve_to(
        r, g->value, type, g->e->at,
        axe_textf(r->cx, "`%s` of `%s` is", d->word.name, x->fn->word.name));
    if (!v)
        return note_decl(x, d->word);
    axe_names_add(r, AXE_ENTRY_VALUE, d->word)->value = v;
    return true;
}

/* Those with a type of their own first: open types are theirs. */
static bool
bind_operands(expansion *x)
{
    bool ok = true;

    for (int literal = 0; literal < 2; literal++)
        for (int i = 0; i < x->fn->n_param; i++) {
            const axe_tensor_decl *d = x->fn->param[i];
            if ((x->arg[i].value.literal != AXE_TYPED) != literal)
                continue;
            ok = (d->n_dim > 0 ? bind_tensor(x, &x->arg[i], d)
                               : bind_operand(x, &x->arg[i], d)) &&
                 ok;
        }
    return ok;
}

static int
n_node(const axe_node *n, int most)
{
    int k = 1;

    for (int i = 0; i < n->n_arg && k <= most; i++)
        k += n_node(n->arg[i], most - k);
    return k;
}

/* v in the type, which is the value of `what`. */
static const axe_node *
result_in(expansion *x, const axe_expr *e, axe_type_expr type, const char *what)
{
    axe_resolver   *r = x->r;
    axe_typed       v = axe_resolve_value(r, e, AXE_NO_TYPE);
    axe_type        to;
    const axe_node *n;

    if (!v.node || !axe_resolve_type(r, type, &to))
        return NULL;
    n = axe_resolve_to(r, v, to, e->at, axe_textf(r->cx, "`%s` is", what));
    if (!n || n_node(n, AXE_EXPR_MAX) <= AXE_EXPR_MAX)
        return n;
    axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ELIMIT,
                                 "`%s` is an expression of more than %d "
                                 "operations",
                                 what, AXE_EXPR_MAX));
    return NULL;
}

static const axe_node *
result_of(expansion *x)
{
    axe_resolver *r = x->r;
    axe_list      none = {.cx = r->cx};

    for (int i = 0; i < x->fn->n_body; i++) {
        const axe_syntax      *s = x->fn->body[i];
        const axe_tensor_decl *t;
        const axe_node        *v;
        if (s->kind == AXE_SYNTAX_CONST) {
            axe_resolve_one(r, s, &none);
            continue;
        }
        t = s->tensor[0];
        v = result_in(x, t->init, t->type, t->word.name);
        if (!v)
            return NULL;
        axe_names_add(r, AXE_ENTRY_VALUE, t->word)->value = v;
    }
    return result_in(x, x->fn->value, x->fn->result, x->fn->word.name);
}

axe_typed
axe_resolve_result(axe_resolver *r, const axe_expr *e, int want)
{
    axe_syntax s = {
        .at = e->at, .word = e->word, .n_arg = e->n_arg, .arg = e->arg};
    expansion       x = {.r = r, .call = &s, .fn = find_fn(r, e->word)};
    axe_call        here = {x.fn, e->at, r->call};
    int             floor = r->floor, mark = r->names.n;
    const axe_node *n = NULL;

    if (!x.fn)
        return AXE_FAILED;
    if (!x.fn->value)
        return axe_resolve_failed(r,
                                  axe_fail(r->cx, e->at, AXE_ETYPE,
                                           "`%s` has no result: it is called "
                                           "as a statement",
                                           e->word.name));
    if (!check_cycle(r, &s, x.fn) || !give(&x))
        return AXE_FAILED;
    r->floor = mark;
    if (bind_operands(&x)) {
        r->call = &here;
        r->n_noted = axe_n_error(r->cx);
        if (axe_resolve_may_expand(r))
            n = result_of(&x);
        axe_resolve_note_calls(r);
        r->call = here.up;
    }
    axe_names_leave(r, mark);
    r->floor = floor;
    if (n && want != AXE_NO_TYPE && axe_type_widens(n->type, (axe_type)want))
        n = axe_cast(r->cx, e->at, (axe_type)want, n);
    return (axe_typed){n, AXE_TYPED};
}

void
axe_resolve_fns(axe_resolver *r)
{
    for (int i = 0; i < r->module->n_fn; i++)
        axe_names_add(r, AXE_ENTRY_FN, r->module->fn[i]->word)->fn =
            r->module->fn[i];
}
