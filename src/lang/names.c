/* names.c - what names mean: one stack of entries, searched from the inside.
 *
 * Nothing may be shadowed: in a kernel of thirty lines a name that means two
 * things is a mistake.  Names of types and functions are taken too. */
#include <stdlib.h>
#include <string.h>

#include "lang/resolve_int.h"

/* Is the operation written as a function of its name? */
static bool
is_function(int op)
{
    return axe_op_table[op].n_arg > 0 && op != AXE_OP_select &&
           op != AXE_OP_cast && op != AXE_OP_bitcast && op != AXE_OP_reduce &&
           axe_op_sign((axe_op)op) == axe_op_table[op].name;
}

static const char *const other_builtin[] = {
    "sum",  "prod",   "inf",    "true",    "false",
    "auto", "argmax", "argmin", AXE_CORES, AXE_BITCAST};

bool
axe_name_picks(const char *name)
{
    return strcmp(name, "argmax") == 0 || strcmp(name, "argmin") == 0;
}

bool
axe_resolve_fail(axe_resolver *r, axe_status st)
{
    if (r->status == AXE_OK)
        r->status = st;
    return false;
}

bool
axe_function_find(const char *name, axe_op *out)
{
    for (int op = 0; op < AXE_N_OP; op++)
        if (is_function(op) && strcmp(axe_op_table[op].name, name) == 0) {
            *out = (axe_op)op;
            return true;
        }
    return false;
}

bool
axe_name_is_builtin(const char *name)
{
    axe_type type;
    axe_op   op;

    for (int i = 0; i < AXE_LEN(other_builtin); i++)
        if (strcmp(other_builtin[i], name) == 0)
            return true;
    return axe_type_find(name, &type) || axe_function_find(name, &op) ||
           axe_macro_args(name) > 0;
}

/* A function that a text may have one of its own for: of floating-point values,
 * of which there are more from version to version. */
static bool
may_hide(axe_entry_kind kind, const char *name)
{
    axe_op op;

    return kind == AXE_ENTRY_FN &&
           (axe_macro_args(name) > 0 ||
            (axe_function_find(name, &op) &&
             axe_op_table[op].traits & (AXE_TRAIT_FLOATS | AXE_TRAIT_TESTS)));
}

const char *
axe_entry_text(const axe_entry *e)
{
    static const char *const text[] = {
        "a name declared in error",
        "a compile-time constant",
        "a type",
        "a number",
        "an index",
        "a tensor",
        "a pipeline",
        "a layout",
        "an `fn`, which is called as a statement",
        "an integer argument",
        "a name for tiles (`.i`, `.j` number them)",
        "an axis of the mesh",
    };

    return text[e->kind];
}

static bool
is_visible(const axe_resolver *r, int i)
{
    return i >= r->floor || i < r->n_file;
}

static axe_entry *
find_entry(const axe_resolver *r, const char *name)
{
    for (int i = r->names.n - 1; i >= 0; i--) {
        axe_entry *e = (axe_entry *)r->names.item[i];
        if (e->name == name && is_visible(r, i))
            return e;
    }
    return NULL;
}

axe_entry *
axe_names_find(const axe_resolver *r, const char *name)
{
    axe_entry *e = find_entry(r, name);

    return e && e->same ? e->same : e;
}

/* Can this entry be what was meant where a `what` is needed? */
static bool
suits(const axe_entry *e, const char *what)
{
    static const struct {
        const char    *what;
        axe_entry_kind kind;
    } only[] = {
        {"type", AXE_ENTRY_TYPE},         {"index", AXE_ENTRY_INDEX},
        {"tensor", AXE_ENTRY_TENSOR},     {"function", AXE_ENTRY_TYPE},
        {"pipeline", AXE_ENTRY_PIPELINE}, {"fn", AXE_ENTRY_FN},
    };

    for (int i = 0; i < AXE_LEN(only); i++)
        if (strcmp(only[i].what, what) == 0)
            return e->kind == only[i].kind;
    return e->kind != AXE_ENTRY_TYPE && e->kind != AXE_ENTRY_PIPELINE &&
           e->kind != AXE_ENTRY_FN && e->kind != AXE_ENTRY_TILES;
}

static const char *
function_names(axe_ctx *cx)
{
    axe_buf b = {.cx = cx};

    for (int op = 0; op < AXE_N_OP; op++)
        if (is_function(op))
            axe_putf(&b, "%s%s", b.len ? " " : "", axe_op_table[op].name);
    for (int i = 0; axe_macro_name(i); i++)
        axe_putf(&b, " %s", axe_macro_name(i));
    return b.text;
}

/* A name of one letter is near to all others, so that it says nothing. */
static void
suggest(axe_resolver *r, const char *name, const char *what)
{
    bool         function = strcmp(what, "function") == 0;
    int          k = 0, extra = AXE_N_OP + AXE_N_TYPE + 8;
    const char **known = axe_new_array(r->cx, const char *, r->names.n + extra);
    const char  *near;

    for (int i = 0; i < r->names.n; i++) {
        const axe_entry *e = r->names.item[i];
        if (is_visible(r, i) && suits(e, what))
            known[k++] = e->name;
    }
    for (int op = 0; function && op < AXE_N_OP; op++)
        if (is_function(op))
            known[k++] = axe_op_table[op].name;
    for (int i = 0; function && axe_macro_name(i); i++)
        known[k++] = axe_macro_name(i);
    if (function || strcmp(what, "type") == 0)
        for (int i = 0; i < AXE_N_TYPE; i++)
            known[k++] = axe_type_table[i].name;
    near = name[1] ? axe_nearest(name, k, known) : NULL;
    if (near)
        axe_help(r->cx, "did you mean `%s`?", near);
    else if (function && name[1])
        axe_help(r->cx, "functions are %s", function_names(r->cx));
    else if (strcmp(what, "index") == 0)
        axe_help(r->cx, "declare it: `index %s;`", name);
    else if (strcmp(what, "name") == 0 && r->subscript > 0)
        axe_help(r->cx, "if it is an index, declare it: `index %s;`", name);
}

/* `ring.a`, where `ring` itself was reported. */
static bool
member_of_bad(const axe_resolver *r, const char *name)
{
    const char      *dot = strchr(name, '.');
    const axe_entry *e;

    if (!dot)
        return false;
    e = axe_names_find(r, axe_intern(r->cx, name, (size_t)(dot - name)));
    return e && e->kind == AXE_ENTRY_BAD;
}

static void
note_gone(axe_resolver *r, const char *name, const char *what)
{
    for (int i = 0; i < r->gone.n; i++) {
        const axe_entry *e = r->gone.item[i];
        if (e->name == name) {
            axe_note(r->cx, e->at,
                     "there was %s of this name, whose block has ended",
                     axe_entry_text(e));
            return;
        }
    }
    suggest(r, name, what);
}

axe_entry *
axe_names_need(axe_resolver *r, axe_word w, const char *what)
{
    axe_entry *e = axe_names_find(r, w.name);

    if (e)
        return e->kind == AXE_ENTRY_BAD ? NULL : e;
    if (member_of_bad(r, w.name))
        return NULL;
    axe_resolve_fail(r, AXE_ENAME);
    for (int i = 0; i < r->unknown.n; i++)
        if (r->unknown.item[i] == w.name)
            return NULL;
    axe_list_push(&r->unknown, w.name);
    axe_resolve_fail(
        r, axe_fail(r->cx, w.at, AXE_ENAME, "unknown %s `%s`", what, w.name));
    note_gone(r, w.name, what);
    return NULL;
}

axe_entry *
axe_names_add(axe_resolver *r, axe_entry_kind kind, axe_word w)
{
    axe_entry *old = find_entry(r, w.name), *e = axe_new(r->cx, axe_entry);

    e->kind = kind;
    e->name = w.name;
    e->at = w.at;
    e->stage = AXE_STMT_PIPELINE;
    e->crowd = r->crowd;
    if (axe_name_is_builtin(w.name) && !may_hide(kind, w.name)) {
        e->kind = AXE_ENTRY_BAD;
        axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ENAME,
                                     "`%s` is a name of the language", w.name));
    } else if (old) {
        e->kind = AXE_ENTRY_BAD;
        axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ENAME,
                                     "`%s` is declared already", w.name));
        axe_note(r->cx, old->at, "as %s, here", axe_entry_text(old));
    }
    axe_list_push(&r->names, e);
    return e;
}

/* --------------------------------------------------------- names of the IR */

static bool
among(const axe_list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (l->item[i] == name)
            return true;
    return false;
}

/* Is a loop or scope of this name around us? */
static bool
open_loop(const axe_resolver *r, const char *name)
{
    for (int i = 0; i < r->names.n; i++) {
        const axe_entry *e = r->names.item[i];
        if (e->kind == AXE_ENTRY_VAR && e->var && e->var->name == name)
            return true;
    }
    return false;
}

typedef struct suffix {
    const char *want;
    int         n;
} suffix;

/* 1, 2, ... for each name, so that finding a free one takes no search. */
static int
next_suffix(axe_resolver *r, const char *want)
{
    suffix *s;

    for (int i = 0; i < r->suffix.n; i++) {
        s = (suffix *)r->suffix.item[i];
        if (s->want == want)
            return ++s->n;
    }
    s = axe_new(r->cx, suffix);
    *s = (suffix){want, 1};
    axe_list_push(&r->suffix, s);
    return 1;
}

const char *
axe_names_fresh(axe_resolver *r, const char *want, axe_named_kind kind)
{
    const char *name = want, *text;

    while (among(&r->fixed, name) ||
           (kind == AXE_NAMED_INDEX ? among(&r->loops, name)
                                    : open_loop(r, name))) {
        text = axe_textf(r->cx, "%s.%d", want, next_suffix(r, want));
        name = axe_intern(r->cx, text, strlen(text));
    }
    axe_list_push(kind == AXE_NAMED_LOOP ? &r->loops : &r->fixed, name);
    return name;
}

/* ---------------------------------------------------------------- warnings */

static void
warn_unused(axe_resolver *r, const axe_entry *e)
{
    if (e->kind == AXE_ENTRY_INDEX && !e->used)
        axe_warn(r->cx, e->at, "index `%s` is never used", e->name);
    if (e->kind != AXE_ENTRY_TENSOR || e->same)
        return;
    if (e->tensor->dir == AXE_DIR_OUT && !e->touched)
        axe_warn(r->cx, e->at, "`%s` is `out` but never written", e->name);
    else if (e->tensor->dir != AXE_DIR_OUT && !e->used && !e->touched)
        axe_warn(r->cx, e->at, "`%s` is never used", e->name);
    else if (e->tensor->dir == AXE_DIR_LOCAL && !e->used)
        axe_warn(r->cx, e->at, "`%s` is written but never read", e->name);
}

void
axe_names_leave(axe_resolver *r, int mark)
{
    for (int i = mark; i < r->names.n; i++)
        axe_list_push(&r->gone, r->names.item[i]);
    r->names.n = mark;
}

static int
by_place(const void *a, const void *b)
{
    const axe_entry *x = *(const axe_entry *const *)a;
    const axe_entry *y = *(const axe_entry *const *)b;

    return x->at.line != y->at.line
               ? (x->at.line > y->at.line) - (x->at.line < y->at.line)
               : (x->at.col > y->at.col) - (x->at.col < y->at.col);
}

void
axe_names_warn(axe_resolver *r)
{
    if (r->gone.n > 0)
        qsort(r->gone.item, (size_t)r->gone.n, sizeof r->gone.item[0],
              by_place);
    for (int i = 0, end; i < r->gone.n; i = end) {
        axe_entry *e = (axe_entry *)r->gone.item[i];
        for (end = i + 1; end < r->gone.n &&
                          by_place(&r->gone.item[i], &r->gone.item[end]) == 0;
             end++) {
            const axe_entry *again = r->gone.item[end];
            e->used = e->used || again->used;
            e->touched = e->touched || again->touched;
        }
        warn_unused(r, e);
    }
}
