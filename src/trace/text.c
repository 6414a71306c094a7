/* text.c - a trace as text, and the values of its expressions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

const axe_trace_value *
axe_trace_indices(const axe_trace_step *s)
{
    return s->op == AXE_TRN_OP_dma_copy && s->value[2].kind != AXE_TRACE_ABSENT
               ? &s->value[2] /* vector_offset */
               : NULL;
}

static int
level(const axe_trace_expr *e)
{
    return e->op == '+' || e->op == '-' ? 1 : strchr("#$<>", e->op) ? 3 : 2;
}

/* A trace, and values of its variables; NULL: they are named. */
typedef struct view {
    const axe_trace *t;
    const int64_t   *var;
    axe_ctx         *cx;
} view;

static void
put_expr(axe_buf *b, const view *t, const axe_trace_expr *e, int least)
{
    bool    parens = level(e) < least;
    int64_t n;

    if (t->var && axe_trace_value_of(t->cx, e, t->var, &n) == AXE_OK) {
        axe_putf(b, "%" PRId64, n);
        return;
    }

    if (parens)
        axe_putc(b, '(');
    if (e->op == '#')
        axe_putf(b, "%" PRId64, e->value);
    else if (e->op == '$')
        axe_puts(b, t->t->var[e->value]);
    else if (e->op == '<' || e->op == '>') {
        axe_puts(b, e->op == '<' ? "min(" : "max(");
        put_expr(b, t, e->a, 1);
        axe_puts(b, ", ");
        put_expr(b, t, e->b, 1);
        axe_putc(b, ')');
    } else {
        put_expr(b, t, e->a, level(e));
        axe_putf(b, " %c ", e->op);
        put_expr(b, t, e->b, level(e) + 1);
    }
    if (parens)
        axe_putc(b, ')');
}

static void
put_dims(axe_buf *b, const view *t, const axe_trace_access *a, int first)
{
    for (int i = first; i < a->n_dim; i++) {
        axe_puts(b, i > first ? ", " : "");
        put_expr(b, t, a->dim[i].count, 1);
        if (a->dim[i].stride) {
            axe_puts(b, " by ");
            put_expr(b, t, a->dim[i].stride, 1);
        }
    }
}

static void
put_access(axe_buf *b, const view *t, const axe_trace_access *a)
{
    axe_puts(b, t->t->tensor[a->tensor].name);
    if (a->n_dim == 0)
        return;
    axe_putc(b, '[');
    if (a->part) {
        put_expr(b, t, a->part, 1);
        axe_puts(b, ", ");
    }
    put_expr(b, t, a->offset, 1);
    axe_puts(b, " : ");
    put_dims(b, t, a, 0);
    axe_putc(b, ']');
}

static void
put_value(axe_buf *b, const view *t, const axe_trace_value *v)
{
    switch (v->kind) {
    case AXE_TRACE_ABSENT:
        break;
    case AXE_TRACE_TILE:
        put_access(b, t, &v->access);
        break;
    case AXE_TRACE_NUMBER:
        axe_putf(b, "%.17g", v->number);
        break;
    case AXE_TRACE_COUNT:
        put_expr(b, t, v->count, 1);
        break;
    case AXE_TRACE_FUNCTION:
        axe_puts(b, axe_trn_functions[v->function].name);
        break;
    case AXE_TRACE_INDEX:
        axe_putc(b, '[');
        put_dims(b, t, &v->access, 0);
        axe_putc(b, ']');
        break;
    }
}

static void
put_do(axe_buf *b, const view *t, const axe_trace_step *s)
{
    int                    n, put = 0;
    const axe_trn_arg_row *arg = axe_trn_args(s->op, &n);

    axe_putf(b, "%s %s ", axe_trn_engines[s->engine].name,
             axe_trn_ops[s->op].name);
    for (int i = 0; i < n; i++) {
        bool plain = arg[i].kind == AXE_TRN_OUT || arg[i].kind == AXE_TRN_IN;
        if (plain) {
            axe_puts(b, put++ ? ", " : "");
            put_value(b, t, &s->value[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        bool plain = arg[i].kind == AXE_TRN_OUT || arg[i].kind == AXE_TRN_IN;
        if (!plain && s->value[i].kind != AXE_TRACE_ABSENT) {
            axe_putf(b, ", %s=", arg[i].name);
            put_value(b, t, &s->value[i]);
        }
    }
}

static void
put_tensor(axe_buf *b, const view *t, const axe_trace_tensor *x)
{
    static const char *const access[] = {"in", "out", "kept"};

    axe_putf(b, "%s %s : %s[", axe_trn_memories[x->memory].word, x->name,
             axe_type_table[x->type].name);
    for (int i = 0; i < x->rank; i++) {
        axe_puts(b, i > 0 ? ", " : "");
        put_expr(b, t, x->shape[i], 1);
    }
    if (x->memory == AXE_TRN_HBM) {
        axe_putf(b, "] %s", access[x->access]);
        return;
    }
    axe_puts(b, "] at ");
    put_expr(b, t, x->part, 1);
    axe_puts(b, ", ");
    put_expr(b, t, x->byte, 1);
}

static void
put_steps(axe_buf *b, const view *t, const axe_trace_step *s, int depth)
{
    for (; s; s = s->next) {
        axe_putf(b, "%*s", 4 * depth, "");
        if (s->kind == AXE_TRACE_DECLARE)
            put_tensor(b, t, &t->t->tensor[s->tensor]);
        else if (s->kind == AXE_TRACE_DO)
            put_do(b, t, s);
        else if (s->kind == AXE_TRACE_LET) {
            axe_putf(b, "let %s = ", t->t->var[s->var]);
            put_expr(b, t, s->count, 1);
        } else {
            axe_putf(b, "for %s = ", t->t->var[s->var]);
            put_expr(b, t, s->count, 1);
            axe_puts(b, " {\n");
            put_steps(b, t, s->body, depth + 1);
            axe_putf(b, "%*s}", 4 * depth, "");
        }
        axe_putc(b, '\n');
    }
}

const char *
axe_trace_text(axe_ctx *cx, const axe_trace *t)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b, "trace %s\n", t->name);
    for (int i = 0; i < t->n_size; i++)
        axe_putf(&b, "size %s = %" PRId64 "\n", t->var[i], t->size[i]);
    put_steps(&b, &(view){.t = t}, t->body, 0);
    return b.text;
}

/* ---------------------------------------------------------------- unrolled */

typedef struct unroll {
    view     v;
    axe_buf *out;
    int64_t *var;
    int64_t  left;
} unroll;

static axe_status
put_turns(unroll *u, const axe_trace_step *s)
{
    for (; s; s = s->next) {
        int64_t n;
        if (u->left-- <= 0)
            return axe_fail(u->v.cx, s->at, AXE_ELIMIT, "more than %d lines",
                            AXE_TRACE_MAX_LINES);
        if (s->kind == AXE_TRACE_DECLARE)
            put_tensor(u->out, &u->v, &u->v.t->tensor[s->tensor]);
        else if (s->kind == AXE_TRACE_DO)
            put_do(u->out, &u->v, s);
        else {
            AXE_TRY(axe_trace_value_of(u->v.cx, s->count, u->var, &n));
            u->var[s->var] = n;
            for (int64_t i = 0; s->kind == AXE_TRACE_LOOP && i < n; i++) {
                u->var[s->var] = i;
                AXE_TRY(put_turns(u, s->body));
            }
            continue;
        }
        axe_putc(u->out, '\n');
    }
    return AXE_OK;
}

axe_status
axe_trace_unroll(axe_ctx *cx, const axe_trace *t, axe_buf *out)
{
    int64_t *var = axe_new_array(cx, int64_t, t->n_var + 1);
    unroll   u = {{t, var, cx}, out, var, AXE_TRACE_MAX_LINES};

    for (int i = 0; i < t->n_size; i++)
        var[i] = t->size[i];
    axe_putf(out, "trace %s\n", t->name);
    return put_turns(&u, t->body);
}

axe_status
axe_trace_set(axe_ctx *cx, const axe_trace *t, const char *text)
{
    size_t n = strcspn(text, "=");
    char  *end;

    for (int i = 0; i < t->n_size; i++) {
        if (strlen(t->var[i]) != n || memcmp(t->var[i], text, n) != 0)
            continue;
        long long x = text[n] ? strtoll(text + n + 1, &end, 10) : 0;
        if (!text[n] || end == text + n + 1 || *end || x < 1 || x > INT32_MAX)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESYNTAX,
                            "'%s' is no value of the size %s: a number from 1 "
                            "to 2147483647",
                            text, t->var[i]);
        t->size[i] = x;
        return AXE_OK;
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                    "the trace %s has no size '%.*s'", t->name, (int)n, text);
}

axe_status
axe_trace_value_of(axe_ctx *cx, const axe_trace_expr *e, const int64_t *var,
                   int64_t *out)
{
    int64_t a, b;
    bool    fits = true;

    if (e->op == '#' || e->op == '$') {
        *out = e->op == '#' ? e->value : var[e->value];
        return AXE_OK;
    }
    AXE_TRY(axe_trace_value_of(cx, e->a, var, &a));
    AXE_TRY(axe_trace_value_of(cx, e->b, var, &b));
    if ((e->op == '/' || e->op == '%') && (b <= 0 || a < 0))
        return axe_fail(cx, e->at, AXE_ESHAPE,
                        "%" PRId64 " %c %" PRId64
                        ": it takes a number from 0, by one from 1",
                        a, e->op, b);
    if (e->op == '+')
        fits = axe_add(a, b, out);
    else if (e->op == '-')
        fits = b != INT64_MIN && axe_add(a, -b, out);
    else if (e->op == '*')
        fits = axe_mul(a, b, out);
    else if (e->op == '<' || e->op == '>')
        *out = (e->op == '<') == (a < b) ? a : b;
    else
        *out = e->op == '/' ? a / b : a % b;
    if (!fits)
        return axe_fail(cx, e->at, AXE_EOVERFLOW,
                        "%" PRId64 " %c %" PRId64 " does not fit 64 bits", a,
                        e->op, b);
    return AXE_OK;
}
