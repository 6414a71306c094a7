/* resolve_tune.c - the domains of compile-time parameters.
 *
 * `tune BM in {64, 128}` says which values BM may have: a tuner tries them, and
 * any other, wherever it comes from, is an error. */
#include "lang/resolve_int.h"

static const axe_tune_decl *
find_tune(const axe_kernel_decl *k, const char *name)
{
    for (int i = 0; i < k->n_tune; i++)
        if (k->tune[i]->word.name == name)
            return k->tune[i];
    return NULL;
}

static bool
is_value(const axe_tune_decl *t, int i, bool is_type, int64_t v)
{
    const axe_expr *e = t->value[i];
    axe_type        type;

    if (!is_type)
        return e->kind == AXE_EXPR_INT && e->i == v;
    return e->kind == AXE_EXPR_NAME && axe_type_find(e->word.name, &type) &&
           (int64_t)type == v;
}

static void
check_value(axe_resolver *r, const axe_tune_decl *t, int i, bool is_type)
{
    const axe_expr *e = t->value[i];
    axe_type        type = AXE_TYPE_f32;
    bool            named = e->kind == AXE_EXPR_NAME;

    if (named != is_type || (named && !axe_type_find(e->word.name, &type))) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, e->at, AXE_ETYPE,
                                  "`%s` is no %s, as `%s` is", t->text[i],
                                  is_type ? "type" : "integer", t->word.name));
        return;
    }
    for (int k = 0; k < i; k++)
        if (is_value(t, k, is_type, is_type ? (int64_t)type : e->i)) {
            axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ENAME,
                                         "`%s` is in this domain already",
                                         t->text[i]));
            return;
        }
}

void
axe_tune_check(axe_resolver *r, const axe_tune_decl *t, const axe_const_decl *c)
{
    const axe_tune_decl *first = find_tune(r->decl, t->word.name);

    if (first != t) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, t->word.at, AXE_ENAME,
                                  "`%s` has a domain already", t->word.name));
        axe_note(r->cx, first->word.at, "here");
        return;
    }
    for (int i = 0; i < t->n; i++)
        check_value(r, t, i, c->is_type);
}

static const char *
domain_text(axe_ctx *cx, int n, const char *const *domain)
{
    axe_buf out = {.cx = cx};

    axe_putc(&out, '{');
    for (int i = 0; i < n; i++)
        axe_putf(&out, "%s%s", i ? ", " : "", domain[i]);
    axe_putc(&out, '}');
    return out.text;
}

bool
axe_tune_bind(axe_resolver *r, const axe_const_decl *c, axe_binding *b)
{
    const axe_tune_decl *t = find_tune(r->decl, c->word.name);

    if (!t)
        return true;
    if (b->is_real)
        return axe_resolve_fail(
            r, axe_fail(r->cx, t->word.at, AXE_EUNSUPPORTED,
                        "`%s` is a floating number; domains are of integers "
                        "and types",
                        t->word.name));
    b->n_domain = t->n;
    b->domain = t->text;
    for (int i = 0; i < t->n; i++)
        if (is_value(t, i, c->is_type, b->value))
            return true;
    axe_resolve_fail(
        r, axe_fail(r->cx, c->word.at, AXE_EARG,
                    "`%s` is %s, which is not in its domain %s", c->word.name,
                    c->is_type ? axe_type_table[b->value].name
                               : axe_textf(r->cx, "%lld", (long long)b->value),
                    domain_text(r->cx, t->n, t->text)));
    axe_note(r->cx, t->word.at, "declared here");
    return false;
}
