/* meets.c - which scope's entities may meet at one element. */
#include "ir/check.h"
#include "ir/race.h"

/* A variable of the scope that the statement's element does not tell. */
static const axe_var *
untold(axe_ctx *cx, const axe_stmt *scope, axe_list *outer, const axe_stmt *s)
{
    finder f = {.cx = cx,
                .scope = scope,
                .outer = outer,
                .own = {.cx = cx},
                .found = {.cx = cx}};

    axe_race_find(&f, scope->n_body, scope->body);
    for (int i = 0; i < f.found.n; i++) {
        const access *a = f.found.item[i];
        const key *k = a->stmt == s && a->write ? axe_race_open(&f, a) : NULL;
        if (k)
            return k->var;
    }
    return NULL;
}

static bool
find_meeting(axe_ctx *cx, int n, axe_stmt *const *body, axe_list *outer,
             const axe_stmt *s, const axe_var **out)
{
    int  mark = outer->n;
    bool in = false;

    for (int i = 0; i < n && !in; i++) {
        const axe_stmt *at = body[i];
        const axe_var  *v = NULL;
        for (int k = 0; k < at->n_var; k++)
            axe_list_push(outer, at->var[k]);
        in = at == s || find_meeting(cx, at->n_body, at->body, outer, s, out) ||
             find_meeting(cx, at->n_other, at->other, outer, s, out);
        outer->n = mark;
        if (in && at->kind == AXE_STMT_SCOPE)
            v = untold(cx, at, outer, s);
        *out = v ? v : *out;
    }
    return in;
}

const axe_var *
axe_stmt_meets(axe_ctx *cx, const axe_kernel *k, const axe_stmt *s)
{
    axe_list       outer = {.cx = cx};
    const axe_var *v = NULL;

    (void)find_meeting(cx, k->n_body, k->body, &outer, s, &v);
    return v;
}
