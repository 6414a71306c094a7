/* resolve_data.c - loops whose ends are read: `for (p : off[b]..off[b + 1])`.
 *
 * Three scalars, set before the loop: where it ends, the next value, and the
 * value of this iteration, which the name stands for.
 *
 *     next = from; end = to;
 *     loop {
 *         if (!(next < end)) break;
 *         p = next;
 *         next = next < end - step ? next + step : end;
 *         body
 *     }
 *
 * They are i32 where the data is and the step is 1, so that what is vectorised
 * along with them is not of 64 bits.  next never passes end, which may be the
 * last integer there is. */
#include <string.h>

#include "lang/resolve_int.h"

typedef struct data_loop {
    axe_resolver     *r;
    const axe_range  *g;
    axe_type          type;
    int64_t           step;
    const axe_node   *from, *to;
    const axe_tensor *next, *end, *now;
} data_loop;

static bool
reads(const axe_resolver *r, const axe_expr *e)
{
    const axe_entry *x;

    if (e->kind == AXE_EXPR_LOAD)
        return true;
    if (e->kind == AXE_EXPR_NAME) {
        x = axe_names_find(r, e->word.name);
        while (x && x->same)
            x = x->same;
        if (x && x->kind == AXE_ENTRY_VALUE)
            return x->value && axe_node_loads(x->value);
        return x && x->kind == AXE_ENTRY_TENSOR && x->tensor &&
               x->tensor->rank == 0;
    }
    for (int i = 0; i < e->n_arg; i++)
        if (reads(r, e->arg[i]))
            return true;
    return false;
}

static bool
is_given(const axe_entry *x)
{
    axe_type_class c;

    if (!x || x->kind != AXE_ENTRY_TENSOR || !x->tensor ||
        !axe_is_scalar(x->tensor))
        return false;
    c = axe_type_table[x->tensor->type].cls;
    return c == AXE_CLASS_INT || c == AXE_CLASS_UINT;
}

bool
axe_host_knows(const axe_resolver *r, const axe_expr *e)
{
    if (r->inside)
        return false;
    if (e->kind == AXE_EXPR_NAME && reads(r, e))
        return is_given(axe_names_find(r, e->word.name));
    if (e->kind == AXE_EXPR_LOAD)
        return false;
    for (int i = 0; i < e->n_arg; i++)
        if (!axe_host_knows(r, e->arg[i]))
            return false;
    return true;
}

const axe_var *
axe_value_size(axe_resolver *r, const axe_tensor *t)
{
    const char *name = axe_textf(r->cx, "%s" AXE_OF_VALUE, t->name);
    axe_word    w = {axe_intern(r->cx, name, strlen(name)), t->at};

    for (int i = 0; i < r->sizes.n; i++)
        if (((const axe_var *)r->sizes.item[i])->name == w.name)
            return r->sizes.item[i];
    return axe_resolve_size(r, w);
}

bool
axe_range_reads(const axe_resolver *r, const axe_range *g)
{
    return (g->count && reads(r, g->count)) || (g->from && reads(r, g->from));
}

/* An end of the range; an index has no value in it. */
static const axe_node *
resolve_end(axe_resolver *r, const axe_expr *e)
{
    static const axe_expr place = {.kind = AXE_EXPR_INT};
    const axe_expr       *dst = r->dst, *value = r->value;
    const axe_node       *n;

    r->dst = &place;
    r->value = e;
    n = axe_resolve_index(r, e, true, "an end of a range");
    r->dst = dst;
    r->value = value;
    return n && axe_resolve_no_index(r, n, "an end of a range") ? n : NULL;
}

/* Does i32 hold it: an element no wider, or a constant? */
static bool
is_narrow(const axe_node *n)
{
    int64_t v;

    if (axe_is_iconst(n, &v))
        return axe_type_fits(AXE_TYPE_i32, v);
    return n->op == AXE_OP_cast &&
           axe_type_widens(n->arg[0]->type, AXE_TYPE_i32);
}

static bool
resolve_ends(data_loop *d)
{
    axe_resolver *r = d->r;

    d->step = 1;
    if (d->g->by)
        return axe_resolve_fail(
            r, axe_fail(r->cx, d->g->by->at, AXE_EUNSUPPORTED,
                        "tiles of a range whose end is read are not "
                        "supported"));
    d->from = d->g->from ? resolve_end(r, d->g->from)
                         : axe_iconst(r->cx, d->g->word.at, AXE_TYPE_INDEX, 0);
    d->to = resolve_end(r, d->g->count);
    if (!d->from || !d->to)
        return false;
    if (d->g->step && !axe_resolve_int(r, d->g->step, "a step", &d->step))
        return false;
    if (d->step < 1)
        return axe_resolve_fail(r, axe_fail(r->cx, d->g->step->at, AXE_ESHAPE,
                                            "a step is at least 1, not %lld",
                                            (long long)d->step));
    d->type = d->step == 1 && is_narrow(d->from) && is_narrow(d->to)
                  ? AXE_TYPE_i32
                  : AXE_TYPE_INDEX;
    return true;
}

/* ------------------------------------------------------------- statements */

static const axe_tensor *
declare(data_loop *d, const char *what, axe_list *out)
{
    axe_resolver *r = d->r;
    axe_tensor   *t = axe_new(r->cx, axe_tensor);
    axe_stmt     *s = axe_new(r->cx, axe_stmt);
    const char   *name = axe_textf(r->cx, "%s%s", d->g->word.name, what);

    name = axe_intern(r->cx, name, strlen(name));
    *t = (axe_tensor){.name = axe_names_fresh(r, name, AXE_NAMED_TILE),
                      .at = d->g->word.at,
                      .id = r->kernel->n_tensor++,
                      .space = AXE_SPACE_REG,
                      .type = d->type};
    *s = (axe_stmt){.kind = AXE_STMT_TENSOR, .at = t->at, .tensor = t};
    axe_list_push(out, s);
    return t;
}

static const axe_node *
value_of(const data_loop *d, const axe_tensor *t)
{
    return axe_load(d->r->cx, d->g->word.at, t, NULL);
}

static void
set(data_loop *d, const axe_tensor *t, axe_fold fold, const axe_node *v,
    axe_list *out)
{
    axe_stmt *s = axe_new(d->r->cx, axe_stmt);

    if (v->type != d->type)
        v = v->op == AXE_OP_cast && v->arg[0]->type == d->type
                ? v->arg[0]
                : axe_cast(d->r->cx, v->at, d->type, v);
    *s = (axe_stmt){.kind = AXE_STMT_INDEX,
                    .at = v->at,
                    .dst = value_of(d, t),
                    .fold = fold,
                    .value = v};
    s = axe_resolve_finish(d->r, s);
    if (s)
        axe_list_push(out, s);
}

/* Where end - step leaves int64, next + step does not, and is behind the end.
 */
static void
set_next(data_loop *d, axe_list *out)
{
    axe_ctx        *cx = d->r->cx;
    const axe_node *next = value_of(d, d->next), *end = value_of(d, d->end);
    const axe_node *step =
        axe_iconst(cx, d->g->word.at, AXE_TYPE_INDEX, d->step);
    const axe_node *last = axe_node2(cx, AXE_OP_sub, end, step), *arg[3];

    if (d->step == 1) {
        set(d, d->next, AXE_FOLD_SUM, step, out);
        return;
    }
    arg[0] = axe_node2(cx, AXE_OP_lt, next, last);
    arg[1] = axe_node2(cx, AXE_OP_add, next, step);
    arg[2] = end;
    set(d, d->next, AXE_FOLD_NONE,
        axe_node_new(cx, AXE_OP_select, AXE_TYPE_INDEX, next->at, 3, arg), out);
}

bool
axe_data_begin(axe_resolver *r, const axe_range *g, axe_list *out,
               axe_list *body)
{
    data_loop       d = {.r = r, .g = g};
    axe_ctx        *cx = r->cx;
    axe_stmt       *test = axe_new(cx, axe_stmt), *leave;
    axe_list        one = {.cx = cx};
    const axe_node *more;
    bool            ok = resolve_ends(&d);
    axe_entry      *e;

    e = axe_names_add(r, ok ? AXE_ENTRY_VALUE : AXE_ENTRY_BAD, g->word);
    if (!ok)
        return false;
    d.next = declare(&d, ".next", out);
    d.end = declare(&d, ".end", out);
    d.now = declare(&d, "", out);
    set(&d, d.next, AXE_FOLD_NONE, d.from, out);
    set(&d, d.end, AXE_FOLD_NONE, d.to, out);
    set(&d, d.now, AXE_FOLD_NONE, value_of(&d, d.next), out);
    more = axe_node2(cx, AXE_OP_lt, value_of(&d, d.next), value_of(&d, d.end));
    more = axe_resolve_hold(r, more, body);
    if (!more)
        return false;
    leave = axe_new(cx, axe_stmt);
    *leave = (axe_stmt){.kind = AXE_STMT_BREAK, .at = g->word.at};
    axe_list_push(&one, leave);
    *test = (axe_stmt){.kind = AXE_STMT_IF,
                       .at = g->word.at,
                       .cond = axe_node1(cx, AXE_OP_not, more),
                       .n_body = 1,
                       .body = (axe_stmt *const *)(const void *)one.item};
    axe_list_push(body, test);
    set(&d, d.now, AXE_FOLD_NONE, value_of(&d, d.next), body);
    set_next(&d, body);
    e->value = value_of(&d, d.now);
    if (d.type != AXE_TYPE_INDEX)
        e->value = axe_cast(cx, g->word.at, AXE_TYPE_INDEX, e->value);
    return true;
}
