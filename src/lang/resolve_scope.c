/* resolve_scope.c - scopes: which entities they have, what is said of them, how
 * they nest; roles; and groups that overlap. */
#include <inttypes.h>
#include <string.h>

#include "lang/resolve_int.h"

/* How many of the scope a cta has by what its keys say; 0: they do not. */
static int64_t
count_by_keys(const axe_ctx *cx, const axe_stmt *cta, axe_scope_kind kind)
{
    int64_t each = 1, threads = cta->keys.threads;

    if (kind != AXE_SCOPE_THREAD &&
        !axe_scope_nests(cx, NULL, kind, AXE_SCOPE_THREAD, &each))
        return 0;
    return each > 0 && threads % each == 0 ? threads / each : 0;
}

/* How many of the scope are in the one around it, for `thread (t)`. */
static bool
count_all(axe_resolver *r, axe_scope_kind kind, axe_span at, axe_counted *c)
{
    int64_t n = 0;

    *c = (axe_counted){.step = 1};
    if (r->inside &&
        axe_scope_nests(r->cx, r->inst->machine, r->inside->scope, kind, &n) &&
        n == 0)
        n = count_by_keys(r->cx, r->inside, kind);
    if (n > 0) {
        c->extent = axe_iconst(r->cx, at, AXE_TYPE_INDEX, n);
        return true;
    }
    axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ESHAPE,
                                 "how many of `%s` there are is not known here",
                                 axe_scope_name(kind)));
    axe_help(r->cx, "give a range, as in `%s (t : 0..%d)`",
             axe_scope_name(kind), kind == AXE_SCOPE_THREAD ? 128 : 4);
    return false;
}

/* One range of a scope: all entities, a slice of them, or one. */
static const axe_var *
resolve_entities(axe_resolver *r, const axe_syntax *x, const axe_range *g,
                 int64_t *first)
{
    axe_counted c = {.step = 1};
    axe_word    word = g->word;
    axe_var    *one;
    bool        ok, hardware = x->scope > AXE_SCOPE_CTA;

    *first = 0;
    if (!g->count && !g->from)
        return axe_range_declare(
            r, word, count_all(r, x->scope, word.at, &c) ? &c : NULL,
            AXE_VAR_SCOPE);
    if (g->step && hardware)
        axe_resolve_fail(r, axe_fail(r->cx, g->step->at, AXE_ESYNTAX,
                                     "the entities of a scope have no step"));
    if (g->count) {
        const axe_var *v = axe_range_resolve(r, g, AXE_VAR_SCOPE, &c);
        if (v && c.from && hardware && !axe_is_iconst(c.from, first))
            axe_resolve_fail(r, axe_fail(r->cx, g->from->at, AXE_ETYPE,
                                         "which entities these are must be "
                                         "known at compile time"));
        return v;
    }
    ok = axe_resolve_int(r, g->from, "an entity's number", first);
    word.name = axe_intern(r->cx, axe_scope_name(x->scope),
                           strlen(axe_scope_name(x->scope)));
    word.at = g->from->at;
    one = axe_resolve_var(r, AXE_VAR_SCOPE, word,
                          axe_iconst(r->cx, word.at, AXE_TYPE_INDEX, 1));
    return ok ? one : NULL;
}

static void
check_nesting(axe_resolver *r, const axe_syntax *x, const axe_stmt *s)
{
    axe_scope_kind outer = r->inside ? r->inside->scope : x->scope;
    int64_t        n = 0, all = 1, e;

    if (!r->inside)
        return;
    if (!axe_scope_nests(r->cx, r->inst->machine, outer, x->scope, &n)) {
        axe_resolve_fail(
            r, axe_fail(r->cx, x->at, AXE_ESHAPE, "a `%s` holds no scope `%s`",
                        axe_scope_name(outer), axe_scope_name(x->scope)));
        axe_note(r->cx, r->inside->at, "it is in this scope");
        return;
    }
    for (int i = 0; i < s->n_var; i++) {
        if (!s->var[i])
            return;
        if (x->scope <= AXE_SCOPE_CTA)
            continue;
        if (!axe_is_iconst(s->var[i]->extent, &e)) {
            axe_resolve_fail(r, axe_fail(r->cx, s->var[i]->at, AXE_ESHAPE,
                                         "how many of `%s` run must be known "
                                         "at compile time",
                                         axe_scope_name(x->scope)));
            return;
        }
        if (!axe_add(e, s->first[i], &e) || !axe_mul(all, e, &all))
            all = INT64_MAX;
        if (s->first[i] < 0)
            axe_resolve_fail(r, axe_fail(r->cx, s->var[i]->at, AXE_ESHAPE,
                                         "entities are numbered from 0, not "
                                         "%" PRId64,
                                         s->first[i]));
    }
    if (n > 0 && all > n)
        axe_resolve_fail(r, axe_fail(r->cx, x->at, AXE_ESHAPE,
                                     "a `%s` has %" PRId64 " of `%s`, and "
                                     "this needs %" PRId64,
                                     axe_scope_name(outer), n,
                                     axe_scope_name(x->scope), all));
}

/* Does more than one entity run the body? */
static bool
is_crowd(const axe_stmt *s)
{
    int64_t e;

    for (int i = 0; i < s->n_var; i++)
        if (s->var[i] && (!axe_is_iconst(s->var[i]->extent, &e) || e > 1))
            return true;
    return false;
}

/* The value of a key, in its own unit; false after an error. */
static bool
key_value(axe_resolver *r, const axe_key_syntax *k, int64_t *out)
{
    int64_t each = 1;

    *out = 1;
    if (!k->value)
        return true;
    if (!axe_resolve_int(r, k->value, axe_scope_key_table[k->key].text, out))
        return false;
    if (k->unit == AXE_SCOPE_THREAD ||
        !axe_scope_nests(r->cx, NULL, k->unit, AXE_SCOPE_THREAD, &each))
        return true;
    return axe_mul(*out, each, out) ||
           axe_resolve_fail(r, axe_fail(r->cx, k->at, AXE_EOVERFLOW,
                                        "so many threads have no number"));
}

static void
resolve_keys(axe_resolver *r, const axe_syntax *x, axe_stmt *s)
{
    for (int i = 0; i < x->n_key; i++) {
        const axe_key_syntax *k = x->key[i];
        int64_t               v;
        axe_status            st;
        if (axe_scope_key_get(&s->keys, k->key) != 0)
            axe_resolve_fail(r, axe_fail(r->cx, k->at, AXE_ENAME,
                                         "`%s` is given twice",
                                         axe_scope_key_table[k->key].name));
        if (!key_value(r, k, &v))
            continue;
        st = axe_scope_key_set(r->cx, k->value ? k->value->at : k->at, s->scope,
                               k->key, v, &s->keys);
        if (st != AXE_OK)
            axe_resolve_fail(r, st);
    }
}

static void
join_group(axe_resolver *r, axe_stmt *s, int group)
{
    axe_status st = AXE_OK;

    if (group > 0)
        st = axe_scope_key_set(r->cx, s->at, s->scope, AXE_SCOPE_KEY_overlap,
                               group, &s->keys);
    if (st != AXE_OK)
        axe_resolve_fail(r, st);
}

/* Groups and clusters go along the first variable: the one that `along` names
 * becomes that. */
static void
put_first(axe_resolver *r, const axe_syntax *x, const axe_var **var,
          int64_t *first)
{
    int64_t n;

    if (!x->along || !axe_resolve_int(r, x->along, "the number of a range", &n))
        return;
    if (n < 0 || n >= x->n_range) {
        axe_resolve_fail(r, axe_fail(r->cx, x->along->at, AXE_ESHAPE,
                                     "`along` is from 0 to %d, a range, not "
                                     "%" PRId64,
                                     x->n_range - 1, n));
        return;
    }
    const axe_var *v = var[n];
    int64_t        f = first[n];
    memmove(var + 1, var, (size_t)n * sizeof *var);
    memmove(first + 1, first, (size_t)n * sizeof *first);
    var[0] = v;
    first[0] = f;
}

/* What a scope at the top wrote of the kernel's own tensors counts as written
 * behind it, in whichever branch: which elements its entities write is not
 * looked at anyway. */
static void
written_by_some(const axe_resolver *r, bool begin)
{
    for (int i = r->n_file; i < r->names.n; i++) {
        axe_entry *e = (axe_entry *)r->names.item[i];

        if (e->kind != AXE_ENTRY_TENSOR ||
            e->tensor->space != AXE_SPACE_GLOBAL ||
            e->tensor->dir != AXE_DIR_LOCAL)
            continue;
        e->written = e->written || (!begin && e->reached);
        e->reached = false;
    }
}

void
axe_resolve_scope(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    int             mark = r->names.n, crowd = r->crowd;
    axe_stmt       *s = axe_new(r->cx, axe_stmt);
    const axe_stmt *around = r->inside;
    axe_list        body = {.cx = r->cx};
    const axe_var **var = axe_new_array(r->cx, const axe_var *, x->n_range);
    int64_t        *first = axe_new_array(r->cx, int64_t, x->n_range);
    bool            slice = false;
    int             group = r->group;

    r->group = 0;
    s->kind = AXE_STMT_SCOPE;
    s->at = x->at;
    if (x->word.name)
        axe_names_add(r, AXE_ENTRY_TILES, x->word);
    for (int i = 0; i < x->n_range; i++) {
        var[i] = resolve_entities(r, x, x->range[i], &first[i]);
        slice = slice || first[i] != 0;
    }
    put_first(r, x, var, first);
    s->scope = x->scope;
    s->n_var = x->n_range;
    s->var = var;
    s->first = first;
    check_nesting(r, x, s);
    s->first = slice ? first : NULL;
    resolve_keys(r, x, s);
    join_group(r, s, group);
    r->crowd += around != NULL && is_crowd(s);
    r->inside = s;
    if (around == NULL)
        written_by_some(r, true);
    axe_resolve_inner(r, x->n_body, x->body, &body);
    if (around == NULL)
        written_by_some(r, false);
    r->inside = around;
    r->crowd = crowd;
    axe_names_leave(r, mark);
    s->n_body = body.n;
    s->body = (axe_stmt *const *)(const void *)body.item;
    axe_list_push(out, s);
}

/* Each role begins with what was written before all of them. */
static void
resolve_roles(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    axe_stmt *s = axe_new(r->cx, axe_stmt);
    axe_list  body = {.cx = r->cx};

    for (int i = 0; i < x->n_body; i++)
        if (x->body[i]->kind != AXE_SYNTAX_SCOPE)
            axe_resolve_fail(r, axe_fail(r->cx, x->body[i]->at, AXE_ESYNTAX,
                                         "`roles` holds scopes, one for each "
                                         "role"));
    axe_resolve_inner(r, x->n_body, x->body, &body);
    *s = (axe_stmt){.kind = AXE_STMT_ROLES,
                    .at = x->at,
                    .n_body = body.n,
                    .body = (axe_stmt *const *)(const void *)body.item};
    axe_list_push(out, s);
}

/* Scopes in a row, of which each says that it is one of a group. */
static void
resolve_overlap(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    if (x->n_body == 0) {
        axe_resolve_fail(
            r, axe_fail(r->cx, x->at, AXE_ESYNTAX, "`overlap` holds no scope"));
        axe_help(r->cx,
                 "write scopes of kind `cta` in it, of which a later one "
                 "reads what an earlier one writes");
    }
    for (int i = 0; i < x->n_body; i++)
        if (x->body[i]->kind != AXE_SYNTAX_SCOPE ||
            x->body[i]->scope != AXE_SCOPE_CTA) {
            axe_resolve_fail(r, axe_fail(r->cx, x->body[i]->at, AXE_ESYNTAX,
                                         "`overlap` holds scopes of kind "
                                         "`cta`, which may begin before those "
                                         "in front of them end, and nothing "
                                         "else"));
            axe_help(r->cx, "write it in one of the scopes, or in front of "
                            "`overlap`");
            /* What it writes is not said to be missing, too. */
            if (x->body[i]->kind != AXE_SYNTAX_SCOPE && x->body[i]->n_body > 0)
                axe_resolve_one(r, x->body[i], out);
        } else {
            r->group = i == 0 ? 1 : 2;
            axe_resolve_one(r, x->body[i], out);
        }
}

void
axe_resolve_group(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    if (x->kind == AXE_SYNTAX_ROLES)
        resolve_roles(r, x, out);
    else
        resolve_overlap(r, x, out);
}
