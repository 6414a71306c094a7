/* check_set.c - names that the caller, defaults and tune domains give values
 * to, and machines that defaults are for. */
#include <string.h>

#include "lang/resolve_int.h"

static const axe_const_decl *
find_const(const axe_resolver *r, const char *name)
{
    for (int i = 0; i < r->decl->n_const; i++)
        if (strcmp(r->decl->consts[i]->word.name, name) == 0)
            return r->decl->consts[i];
    return NULL;
}

static void
unknown_const(axe_resolver *r, axe_span at, const char *name)
{
    int          n = r->decl->n_const;
    const char **known = axe_new_array(r->cx, const char *, n);
    const char  *near;

    for (int i = 0; i < n; i++)
        known[i] = r->decl->consts[i]->word.name;
    axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ENAME,
                                 "kernel `%s` has no compile-time parameter "
                                 "`%s`",
                                 r->decl->word.name, name));
    near = axe_nearest(name, n, known);
    if (near)
        axe_help(r->cx, "did you mean `%s`?", near);
}

static void
check_once(axe_resolver *r, int i)
{
    axe_word m = r->decl->defaults[i]->machine;

    for (int k = 0; k < i; k++)
        if (r->decl->defaults[k]->machine.name == m.name)
            axe_resolve_fail(r, axe_fail(r->cx, m.at, AXE_ENAME,
                                         "defaults for `%s` are given twice",
                                         m.name));
}

/* Values for a machine that there is not are never taken. */
static void
check_known(axe_resolver *r, axe_word m)
{
    int         n = r->inst->n_known;
    const char *near;

    for (int i = 0; i < n; i++)
        if (strcmp(r->inst->known[i], m.name) == 0)
            return;
    if (n == 0)
        return;
    axe_warn(r->cx, m.at,
             "no machine is called `%s`, so that these values are never taken",
             m.name);
    near = axe_nearest(m.name, n, r->inst->known);
    if (near)
        axe_help(r->cx, "did you mean `%s`?", near);
    else
        axe_help(r->cx, "`axe help targets` lists the machines");
}

static bool
names_in(const axe_expr *e, const char *name)
{
    bool any = e->kind == AXE_EXPR_NAME && strcmp(e->word.name, name) == 0;

    for (int i = 0; i < e->n_arg && !any; i++)
        any = names_in(e->arg[i], name);
    return any;
}

/* Is it a name that dimensions of arguments have? */
static bool
is_size(const axe_kernel_decl *d, const char *name)
{
    for (int i = 0; i < d->n_param; i++)
        for (int k = 0; k < d->param[i]->n_dim; k++)
            if (names_in(d->param[i]->dim[k], name))
                return true;
    return false;
}

/* Every name that is set, by the caller or by a default, must be there. */
void
axe_resolve_check_set(axe_resolver *r)
{
    for (int i = 0; i < r->inst->n_set; i++)
        if (!find_const(r, r->inst->set_name[i]) &&
            !is_size(r->decl, r->inst->set_name[i]))
            unknown_const(r, r->decl->word.at, r->inst->set_name[i]);
    for (int i = 0; i < r->decl->n_tune; i++) {
        const axe_tune_decl  *t = r->decl->tune[i];
        const axe_const_decl *c = find_const(r, t->word.name);
        if (c)
            axe_tune_check(r, t, c);
        else
            unknown_const(r, t->word.at, t->word.name);
    }
    for (int i = 0; i < r->decl->n_default; i++) {
        const axe_default_decl *d = r->decl->defaults[i];
        check_once(r, i);
        check_known(r, d->machine);
        for (int k = 0; k < d->n; k++) {
            axe_word              w = d->set[k]->word;
            const axe_const_decl *c = find_const(r, w.name);
            if (!c)
                unknown_const(r, w.at, w.name);
            else if (c->is_type)
                axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ETYPE,
                                             "`%s` is a type; a machine's "
                                             "defaults are integers",
                                             w.name));
        }
    }
}
