/* read.c - a trace from its text.
 *
 *     text    := "trace" NAME { "size" NAME "=" NUMBER } steps
 *     steps   := { declare | loop | let | do }
 *     declare := "hbm" NAME ":" TYPE shape ("in" | "out" | "kept")
 *              | ("sbuf" | "psum") NAME ":" TYPE shape "at" expr "," expr
 *     shape   := "[" expr { "," expr } "]"
 *     loop    := "for" NAME "=" expr "{" steps "}"
 *     let     := "let" NAME "=" expr
 *     do      := ENGINE OP value { "," value } { "," NAME "=" value }
 *     value   := NAME [ "[" [ expr "," ] expr ":" dim { "," dim } "]" ]
 *              | NUMBER | FUNCTION | "[" dim { "," dim } "]"
 *     dim     := expr [ "by" expr ]
 *     expr    := numbers, names, + - * / %, "min(" expr "," expr ")", "max(..)"
 *
 * A name holds to the end of its block.  `#` begins a comment. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/lex.h"

enum { MAX_DEPTH = 32, MAX_EXPR = 64 };

static axe_trace_expr *
node(axe_trace_reader *r, char op, const axe_trace_expr *a,
     const axe_trace_expr *b, axe_span at)
{
    axe_trace_expr *e = axe_new(r->cx, axe_trace_expr);

    *e = (axe_trace_expr){.op = op, .a = a, .b = b, .at = at};
    return e;
}

static axe_status expr(axe_trace_reader *r, int least,
                       const axe_trace_expr **out);

/* min(a, b), max(a, b): where a parenthesis follows. */
static axe_status
least_or_most(axe_trace_reader *r, char op, axe_span at,
              const axe_trace_expr **out)
{
    const axe_trace_expr *a, *b;

    if (++r->depth > MAX_EXPR)
        return axe_fail(r->cx, at, AXE_ELIMIT, "more than %d parentheses deep",
                        MAX_EXPR);
    AXE_TRY(expr(r, 1, &a));
    AXE_TRY(axe_lex_need(r, ','));
    AXE_TRY(expr(r, 1, &b));
    r->depth--;
    *out = node(r, op, a, b, at);
    return axe_lex_need(r, ')');
}

/* Is it the word with a parenthesis behind it?  Then both are taken. */
static bool
take_call(axe_trace_reader *r, const char *w)
{
    size_t n = strlen(w);

    if (!axe_lex_is_word(r, w) || r->s[n + strspn(r->s + n, " ")] != '(')
        return false;
    r->s += n;
    return axe_lex_take(r, '(');
}

static axe_status
operand(axe_trace_reader *r, const axe_trace_expr **out)
{
    const axe_trace_name *n = axe_lex_named(r);
    axe_span              at = axe_lex_here(r, axe_lex_word(r));
    axe_trace_expr       *e;

    if (take_call(r, "min"))
        return least_or_most(r, '<', at, out);
    if (take_call(r, "max"))
        return least_or_most(r, '>', at, out);
    if (axe_lex_take(r, '(')) {
        if (++r->depth > MAX_EXPR)
            return axe_fail(r->cx, at, AXE_ELIMIT,
                            "more than %d parentheses deep", MAX_EXPR);
        AXE_TRY(expr(r, 1, out));
        r->depth--;
        return axe_lex_need(r, ')');
    }
    if (axe_lex_take(r, '-')) {
        if (++r->depth > MAX_EXPR)
            return axe_fail(r->cx, at, AXE_ELIMIT,
                            "more than %d parentheses deep", MAX_EXPR);
        AXE_TRY(operand(r, out));
        r->depth--;
        *out = node(r, '-', node(r, '#', NULL, NULL, at), *out, at);
        return AXE_OK;
    }
    if (n && !n->is_var)
        return axe_fail(r->cx, at, AXE_ETYPE,
                        "%s is a tensor; here stands a number", n->text);
    e = node(r, n ? '$' : '#', NULL, NULL, at);
    *out = e;
    if (n) {
        e->value = n->number;
        r->s += n->len;
        return AXE_OK;
    }
    if (axe_lex_word(r) > 0)
        return axe_fail(r->cx, at, AXE_ENAME,
                        "no size or variable has this "
                        "name here");
    return axe_lex_number(r, &e->value);
}

static axe_status
expr(axe_trace_reader *r, int least, const axe_trace_expr **out)
{
    const axe_trace_expr *b;
    int                   terms = 0;

    AXE_TRY(operand(r, out));
    for (;;) {
        axe_lex_skip(r);
        char op = *r->s;
        int  level = op == '+' || op == '-'    ? 1
                     : op && strchr("*/%", op) ? 2
                                               : 0;
        if (level < least)
            return AXE_OK;
        axe_span at = axe_lex_here(r, 1);
        if (++terms > MAX_EXPR)
            return axe_fail(r->cx, at, AXE_ELIMIT, "more than %d terms",
                            MAX_EXPR);
        r->s++;
        AXE_TRY(expr(r, level + 1, &b));
        *out = node(r, op, *out, b, at);
    }
}

/* Counts and strides up to `]`, which is taken. */
static axe_status
dims(axe_trace_reader *r, axe_trace_access *a, bool strides)
{
    do {
        if (a->n_dim == AXE_TRACE_DIMS)
            return axe_fail(r->cx, axe_lex_here(r, 1), AXE_ELIMIT,
                            "more than %d counts", AXE_TRACE_DIMS);
        axe_trace_dim *d = &a->dim[a->n_dim++];
        AXE_TRY(expr(r, 1, &d->count));
        if (!strides) {
            strides = true;
            continue;
        }
        if (!axe_lex_take_word(r, "by"))
            return axe_lex_expected(r, "'by' and a stride");
        AXE_TRY(expr(r, 1, &d->stride));
    } while (axe_lex_take(r, ','));
    return axe_lex_need(r, ']');
}

static axe_status
access(axe_trace_reader *r, const axe_trace_name *n, axe_trace_access *a)
{
    bool chip = r->tensor[n->number].memory != AXE_TRN_HBM;

    a->tensor = n->number;
    r->s += n->len;
    if (!axe_lex_take(r, '['))
        return AXE_OK;
    AXE_TRY(expr(r, 1, &a->offset));
    if (chip) {
        a->part = a->offset;
        AXE_TRY(axe_lex_need(r, ','));
        AXE_TRY(expr(r, 1, &a->offset));
    }
    AXE_TRY(axe_lex_need(r, ':'));
    return dims(r, a, !chip);
}

static axe_status
function(axe_trace_reader *r, axe_trn_function *out)
{
    axe_span    at = axe_lex_here(r, axe_lex_word(r));
    const char *text;

    AXE_TRY(axe_lex_need_name(r, "the name of a function", &text));
    int f = axe_trn_find_function(text);
    if (f < 0) {
        const char *near =
            axe_nearest(text, AXE_TRN_N_FUNCTION, axe_trn_function_names());
        axe_fail(r->cx, at, AXE_ENAME, "there is no function '%s'", text);
        if (near)
            axe_help(r->cx, "did you mean '%s'?", near);
        return AXE_ENAME;
    }
    *out = (axe_trn_function)f;
    return AXE_OK;
}

static axe_status
real(axe_trace_reader *r, double *out)
{
    char   buf[64];
    char  *end;
    size_t n;

    axe_lex_skip(r);
    n = strcspn(r->s, ", \t\r\n}#");
    if (n == 0 || n >= sizeof buf)
        return axe_lex_expected(r, "a number");
    memcpy(buf, r->s, n);
    buf[n] = '\0';
    *out = strtod(buf, &end);
    if (end == buf || *end || isnan(*out))
        return axe_lex_expected(r, "a number");
    r->s += n;
    return AXE_OK;
}

static axe_status
tile(axe_trace_reader *r, axe_trace_value *v)
{
    const axe_trace_name *n = axe_lex_named(r);

    if (!n || n->is_var) {
        size_t len = axe_lex_word(r);
        return len == 0 ? axe_lex_expected(r, "the name of a tensor or tile")
                        : axe_fail(r->cx, axe_lex_here(r, len), AXE_ENAME,
                                   "no tensor or tile has this name here");
    }
    v->kind = AXE_TRACE_TILE;
    return access(r, n, &v->access);
}

static axe_status
value(axe_trace_reader *r, const axe_trn_arg_row *arg, axe_trace_value *v)
{
    axe_trace_access *a = &v->access;

    v->at = axe_lex_here(r, axe_lex_word(r));
    switch (arg->kind) {
    case AXE_TRN_COLUMN:
    case AXE_TRN_OPT_COLUMN:
        if (axe_lex_word(r) > 0 && !axe_lex_is_word(r, "inf"))
            return tile(r, v);
        v->kind = AXE_TRACE_NUMBER;
        return real(r, &v->number);
    case AXE_TRN_NUMBER:
        v->kind = AXE_TRACE_NUMBER;
        return real(r, &v->number);
    case AXE_TRN_FUNCTION:
    case AXE_TRN_OPT_FUNCTION:
        v->kind = AXE_TRACE_FUNCTION;
        return function(r, &v->function);
    case AXE_TRN_INDEX:
        v->kind = AXE_TRACE_INDEX;
        AXE_TRY(axe_lex_need(r, '['));
        return dims(r, a, true);
    case AXE_TRN_OPT_FLAG:
    case AXE_TRN_OPT_COUNT:
        v->kind = AXE_TRACE_COUNT;
        return expr(r, 1, &v->count);
    case AXE_TRN_OUT:
    case AXE_TRN_IN:
    case AXE_TRN_OPT_TALL:
        break;
    }
    return tile(r, v);
}

static bool
is_plain(const axe_trn_arg_row *a)
{
    return a->kind == AXE_TRN_OUT || a->kind == AXE_TRN_IN;
}

static bool
may_lack(const axe_trn_arg_row *a)
{
    return a->kind == AXE_TRN_OPT_COLUMN || a->kind == AXE_TRN_OPT_TALL ||
           a->kind == AXE_TRN_OPT_FUNCTION || a->kind == AXE_TRN_OPT_FLAG ||
           a->kind == AXE_TRN_OPT_COUNT;
}

static axe_status
keyed(axe_trace_reader *r, axe_trace_step *s, const axe_trn_arg_row *arg)
{
    axe_span    at = axe_lex_here(r, axe_lex_word(r));
    const char *text;

    AXE_TRY(axe_lex_need_name(r, "NAME=VALUE", &text));
    for (int i = 0; i < s->n_value; i++) {
        if (is_plain(&arg[i]) || strcmp(arg[i].name, text) != 0)
            continue;
        if (s->value[i].kind != AXE_TRACE_ABSENT)
            return axe_fail(r->cx, at, AXE_ENAME, "%s is given twice", text);
        AXE_TRY(axe_lex_need(r, '='));
        return value(r, &arg[i], &s->value[i]);
    }
    return axe_fail(r->cx, at, AXE_ENAME, "%s takes no '%s'",
                    axe_trn_ops[s->op].name, text);
}

static axe_status
instruction(axe_trace_reader *r, axe_trace_step *s)
{
    axe_span               at;
    const char            *text;
    const axe_trn_arg_row *arg;
    int                    n_plain = 0;

    at = axe_lex_here(r, axe_lex_word(r));
    AXE_TRY(axe_lex_need_name(r, "an instruction", &text));
    int op = axe_trn_find_op(text);
    if (op < 0) {
        const char *near = axe_nearest(text, AXE_TRN_N_OP, axe_trn_op_names());
        axe_fail(r->cx, at, AXE_ENAME, "Trainium 1 has no instruction '%s'",
                 text);
        if (near)
            axe_help(r->cx, "did you mean '%s'?", near);
        return AXE_ENAME;
    }
    s->op = (axe_trn_op)op;
    arg = axe_trn_args(s->op, &s->n_value);
    s->value = axe_new_array(r->cx, axe_trace_value, s->n_value);
    for (int i = 0; i < s->n_value; i++)
        if (is_plain(&arg[i])) {
            if (n_plain++ > 0)
                AXE_TRY(axe_lex_need(r, ','));
            AXE_TRY(value(r, &arg[i], &s->value[i]));
        }
    while (axe_lex_take(r, ','))
        AXE_TRY(keyed(r, s, arg));
    for (int i = 0; i < s->n_value; i++)
        if (s->value[i].kind == AXE_TRACE_ABSENT && !may_lack(&arg[i]))
            return axe_fail(r->cx, at, AXE_ESYNTAX, "%s lacks %s=", text,
                            arg[i].name);
    return AXE_OK;
}

static axe_status
tensor_type(axe_trace_reader *r, axe_type *out)
{
    axe_span    at = axe_lex_here(r, axe_lex_word(r));
    const char *text;

    AXE_TRY(axe_lex_need_name(r, "an element type", &text));
    for (int i = 0; i < AXE_N_TYPE; i++)
        if (strcmp(axe_type_table[i].name, text) == 0 &&
            axe_trn_type_in(AXE_TRN_TYPES_ANY, (axe_type)i)) {
            *out = (axe_type)i;
            return AXE_OK;
        }
    return axe_fail(r->cx, at, AXE_ETYPE,
                    "Trainium 1 has no elements of type '%s'", text);
}

static axe_status
hbm_access(axe_trace_reader *r, axe_trace_tensor *x)
{
    if (axe_lex_take_word(r, "in"))
        x->access = AXE_TRACE_IN;
    else if (axe_lex_take_word(r, "out"))
        x->access = AXE_TRACE_OUT;
    else if (axe_lex_take_word(r, "kept"))
        x->access = AXE_TRACE_KEPT;
    else
        return axe_lex_expected(r, "in, out or kept");
    return AXE_OK;
}

static axe_status
tensor(axe_trace_reader *r, int depth, axe_trace_step *s)
{
    axe_trace_tensor x = {.memory = AXE_TRN_HBM};
    axe_span         at = s->at;

    for (int m = 0; m < AXE_TRN_N_MEMORY; m++)
        if (axe_lex_take_word(r, axe_trn_memories[m].word)) {
            x.memory = (axe_trn_memory)m;
            break;
        }
    if (x.memory == AXE_TRN_HBM && depth > 0)
        return axe_fail(r->cx, at, AXE_ESYNTAX,
                        "a tensor of device memory is declared outside of "
                        "loops");
    AXE_TRY(axe_lex_need_name(r, "a name", &x.name));
    AXE_TRY(axe_lex_need(r, ':'));
    AXE_TRY(tensor_type(r, &x.type));
    AXE_TRY(axe_lex_need(r, '['));
    do {
        if (x.rank == AXE_TRACE_DIMS)
            return axe_fail(r->cx, at, AXE_ELIMIT, "more than %d dimensions",
                            AXE_TRACE_DIMS);
        AXE_TRY(expr(r, 1, &x.shape[x.rank++]));
    } while (axe_lex_take(r, ','));
    AXE_TRY(axe_lex_need(r, ']'));
    if (x.memory == AXE_TRN_HBM)
        AXE_TRY(hbm_access(r, &x));
    else {
        if (!axe_lex_take_word(r, "at"))
            return axe_lex_expected(r, "'at', a partition and a byte");
        AXE_TRY(expr(r, 1, &x.part));
        AXE_TRY(axe_lex_need(r, ','));
        AXE_TRY(expr(r, 1, &x.byte));
    }
    if (r->out->n_tensor == AXE_TRACE_MAX_TENSORS ||
        r->n_scope == AXE_LEN(r->scope))
        return axe_fail(r->cx, at, AXE_ELIMIT, "more than %d tensors",
                        AXE_TRACE_MAX_TENSORS);
    s->tensor = r->out->n_tensor++;
    r->tensor[s->tensor] = x;
    axe_lex_declare(r, x.name, false, s->tensor);
    return AXE_OK;
}

static axe_status steps(axe_trace_reader *r, int depth,
                        const axe_trace_step **out);

static axe_status
loop(axe_trace_reader *r, int depth, axe_trace_step *s)
{
    int outer = r->n_scope;

    if (depth == MAX_DEPTH)
        return axe_fail(r->cx, s->at, AXE_ELIMIT, "more than %d loops deep",
                        MAX_DEPTH);
    AXE_TRY(axe_lex_new_var(r, &s->var));
    r->n_scope = outer;
    AXE_TRY(axe_lex_need(r, '='));
    AXE_TRY(expr(r, 1, &s->count));
    AXE_TRY(axe_lex_need(r, '{'));
    axe_lex_declare(r, r->out->var[s->var], true, s->var);
    AXE_TRY(steps(r, depth + 1, &s->body));
    r->n_scope = outer;
    return axe_lex_need(r, '}');
}

/* Its value does not name it. */
static axe_status
let(axe_trace_reader *r, axe_trace_step *s)
{
    int outer = r->n_scope;

    AXE_TRY(axe_lex_new_var(r, &s->var));
    r->n_scope = outer;
    AXE_TRY(axe_lex_need(r, '='));
    AXE_TRY(expr(r, 1, &s->count));
    if (r->n_scope == AXE_LEN(r->scope))
        return axe_fail(r->cx, s->at, AXE_ELIMIT, "more than %d names",
                        AXE_LEN(r->scope));
    axe_lex_declare(r, r->out->var[s->var], true, s->var);
    return AXE_OK;
}

static axe_status
step(axe_trace_reader *r, int depth, axe_trace_step *s)
{
    size_t n = axe_lex_word(r);

    s->at = axe_lex_here(r, n);
    s->kind = AXE_TRACE_DECLARE;
    for (int m = 0; m < AXE_TRN_N_MEMORY; m++)
        if (axe_lex_is_word(r, axe_trn_memories[m].word))
            return tensor(r, depth, s);
    if (axe_lex_take_word(r, "for")) {
        s->kind = AXE_TRACE_LOOP;
        return loop(r, depth, s);
    }
    if (axe_lex_take_word(r, "let")) {
        s->kind = AXE_TRACE_LET;
        return let(r, s);
    }
    s->kind = AXE_TRACE_DO;
    for (int e = 0; e < AXE_TRN_N_ENGINE; e++)
        if (axe_lex_take_word(r, axe_trn_engines[e].name)) {
            s->engine = (axe_trn_engine)e;
            return instruction(r, s);
        }
    return axe_lex_expected(r, "a declaration, a loop, or an engine's name");
}

static axe_status
steps(axe_trace_reader *r, int depth, const axe_trace_step **out)
{
    axe_trace_step *last = NULL;

    *out = NULL;
    for (axe_lex_skip(r); *r->s && *r->s != '}'; axe_lex_skip(r)) {
        axe_trace_step *s = axe_new(r->cx, axe_trace_step);
        AXE_TRY(step(r, depth, s));
        if (last)
            last->next = s;
        else
            *out = s;
        last = s;
    }
    return AXE_OK;
}

axe_status
axe_trace_read(axe_ctx *cx, int32_t source, const char *text,
               const axe_trace **out)
{
    axe_trace_reader *r = axe_new(cx, axe_trace_reader);
    axe_trace        *t = axe_new(cx, axe_trace);

    *r = (axe_trace_reader){.cx = cx,
                            .source = source,
                            .text = text,
                            .s = text,
                            .line = text,
                            .n_line = 1,
                            .out = t};
    t->var = axe_new_array(cx, const char *, AXE_TRACE_MAX_VARS);
    t->size = axe_new_array(cx, int64_t, AXE_TRACE_MAX_VARS);
    t->tensor = r->tensor;
    if (!axe_lex_take_word(r, "trace"))
        return axe_lex_expected(r, "'trace' and its name");
    AXE_TRY(axe_lex_need_name(r, "the trace's name", &t->name));
    while (axe_lex_take_word(r, "size")) {
        int i;
        AXE_TRY(axe_lex_new_var(r, &i));
        AXE_TRY(axe_lex_need(r, '='));
        AXE_TRY(axe_lex_number(r, &t->size[i]));
    }
    t->n_size = t->n_var;
    AXE_TRY(steps(r, 0, &t->body));
    if (*r->s)
        return axe_lex_expected(r, "a step");
    *out = t;
    return AXE_OK;
}
