/* conflicts.c - which scope's entities may write one element.
 *
 * Every scope is looked at once, whatever it holds: one walk for all of a
 * kernel's statements. */
#include "ir/check.h"
#include "ir/race.h"

/* The kernel has a statement that folds into memory which tasks share. */
static bool
folds(int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if ((s->kind == AXE_STMT_INDEX && s->fold != AXE_FOLD_NONE &&
             s->dst->u.tensor->space == AXE_SPACE_GLOBAL) ||
            folds(s->n_body, s->body) || folds(s->n_other, s->other))
            return true;
    }
    return false;
}

/* Of each statement in the scope, unless a scope around it has one, a variable
 * of the scope that its element does not tell. */
static void
note_untold(axe_ctx *cx, const axe_stmt *scope, const axe_list *outer,
            const axe_var **out)
{
    axe_race_finder f = {.cx = cx,
                         .scope = scope,
                         .outer = outer,
                         .own = {.cx = cx},
                         .found = {.cx = cx}};

    axe_race_find(&f, scope->n_body, scope->body);
    for (int i = 0; i < f.found.n; i++) {
        const axe_race_access *a = f.found.item[i];
        const axe_access_key  *k = a->write ? axe_race_open(&f, a) : NULL;
        if (k && !out[a->stmt->id])
            out[a->stmt->id] = k->var;
    }
}

static void
find_conflicts(axe_ctx *cx, int n, axe_stmt *const *body, axe_list *outer,
               const axe_var **out)
{
    int mark = outer->n;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        axe_mark        m = axe_ctx_mark(cx);
        if (s->kind == AXE_STMT_SCOPE)
            note_untold(cx, s, outer, out);
        axe_ctx_release(cx, m);
        for (int k = 0; k < s->n_var; k++)
            axe_list_push(outer, s->var[k]);
        find_conflicts(cx, s->n_body, s->body, outer, out);
        find_conflicts(cx, s->n_other, s->other, outer, out);
        outer->n = mark;
    }
}

const axe_var **
axe_kernel_conflicts(axe_ctx *cx, const axe_kernel *k)
{
    axe_list        outer = {.cx = cx};
    const axe_var **out =
        axe_new_array(cx, const axe_var *, k->n_index_stmt + 1);

    if (folds(k->n_body, k->body))
        find_conflicts(cx, k->n_body, k->body, &outer, out);
    return out;
}
