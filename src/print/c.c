/* c.c - C text of a lowered kernel.
 *
 * The entry's body is printed first, noting which vector types and helpers it
 * uses; then the unit is put together: types, helpers, entry.  Accumulators are
 * variables of their own and loops are plain, which is the style that gcc and
 * clang compile best; nothing is included, since headers cost more time than
 * the kernel. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/c.h"

enum { MAX_SHAPE = 64, MAX_USE = 128 };

/* A helper of c_fn.def for a type and lanes. */
typedef struct use {
    int      fn;
    axe_type type;
    int      lanes;
} use;

typedef struct shape {
    axe_type type;
    int      lanes;
    bool     half; /* u16 lanes, for f16 and bf16 in memory */
} shape;

typedef struct printer {
    axe_ctx           *cx;
    const axe_lowered *l;
    axe_buf           *out;
    bool              *declared; /* by register id */
    int                n_use, n_shape;
    use                use[MAX_USE];
    shape              shape[MAX_SHAPE];
} printer;

typedef struct fn_row {
    const char *name, *types, *needs, *text, *one;
} fn_row;

static const fn_row fns[] = {
#define FN(name, types, needs, text, one) {#name, #types, needs, text, one},
#include "print/c_fn.def"
};

static const struct {
    const char *many, *one;
} spelling[AXE_N_LOP] = {
#define SPELL(op, many, one) [AXE_LOP_##op] = {many, one},
#include "print/c_ops.def"
};

static bool
is_float(axe_type t)
{
    return axe_type_table[t].cls == AXE_CLASS_FLOAT;
}

/* The C element type as it lies in memory. */
static const char *
element(axe_type t)
{
    return t == AXE_TYPE_f16 || t == AXE_TYPE_bf16 || t == AXE_TYPE_u16 ? "u16"
           : t == AXE_TYPE_bool                                         ? "u8"
                                : axe_type_table[t].name;
}

static axe_type
mask_of(axe_type t)
{
    return axe_type_table[t].bits == 64 ? AXE_TYPE_i64 : AXE_TYPE_i32;
}

static const char *
shape_name(printer *p, axe_type t, int lanes)
{
    if (lanes == 1)
        return element(t);
    for (int i = 0; i < p->n_shape; i++)
        if (strcmp(element(p->shape[i].type), element(t)) == 0 &&
            p->shape[i].lanes == lanes)
            return axe_textf(p->cx, "%sx%d", element(t), lanes);
    if (p->n_shape < MAX_SHAPE)
        p->shape[p->n_shape++] = (shape){t, lanes, false};
    return axe_textf(p->cx, "%sx%d", element(t), lanes);
}

static bool
type_fits(const char *types, axe_type t)
{
    if (strcmp(types, "A") == 0)
        return true;
    if (strcmp(types, "F") == 0 || strcmp(types, "I") == 0)
        return is_float(t) == (*types == 'F');
    return strcmp(types, axe_type_table[t].name) == 0;
}

/* Note that `name` is called; returns the name it is called by. */
static const char *
call(printer *p, const char *name, size_t len, axe_type t, int lanes)
{
    for (int i = 0; i < AXE_LEN(fns); i++) {
        if (strlen(fns[i].name) != len ||
            strncmp(fns[i].name, name, len) != 0 || !type_fits(fns[i].types, t))
            continue;
        if (lanes == 1 && *fns[i].one == '\0')
            call(p, name, len, t, 4);
        else if (*fns[i].needs && lanes > 1)
            call(p, fns[i].needs, strlen(fns[i].needs), t, lanes);
        bool known = false;
        for (int k = 0; k < p->n_use; k++)
            known = known || (p->use[k].fn == i && p->use[k].type == t &&
                              p->use[k].lanes == lanes);
        if (!known && p->n_use < MAX_USE)
            p->use[p->n_use++] = (use){i, t, lanes};
        shape_name(p, t, lanes);
        shape_name(p, mask_of(t), lanes);
        return axe_textf(p->cx, "%s_%s", fns[i].name, shape_name(p, t, lanes));
    }
    return NULL;
}

/* ------------------------------------------------------- index expressions */

static const char *
clean(axe_ctx *cx, const char *prefix, const char *name)
{
    char *s = axe_textf(cx, "%s_%s", prefix, name);

    for (char *c = s; *c; c++)
        if (*c == '.')
            *c = '_';
    return s;
}

static const char *
var_name(printer *p, const axe_var *v)
{
    return clean(p->cx, v->kind == AXE_VAR_SIZE ? "n" : "v", v->name);
}

/* Is the index expression at least 0 for sure?  Variables are. */
static bool
nonneg(const axe_node *n)
{
    if (n->op == AXE_OP_iconst)
        return n->u.i >= 0;
    if (n->op == AXE_OP_var)
        return true;
    if (n->op == AXE_OP_max)
        return nonneg(n->arg[0]) || nonneg(n->arg[1]);
    if (n->op == AXE_OP_mod)
        return nonneg(n->arg[0]) && nonneg(n->arg[1]);
    if (n->op == AXE_OP_add || n->op == AXE_OP_mul || n->op == AXE_OP_div ||
        n->op == AXE_OP_cdiv || n->op == AXE_OP_min)
        return nonneg(n->arg[0]) && nonneg(n->arg[1]);
    return false;
}

static const struct {
    axe_op      op;
    const char *plain, *floor; /* %0 %1; floor: where operands may be < 0 */
} index_spelling[] = {
    {AXE_OP_add, "(%0 + %1)", NULL},
    {AXE_OP_sub, "(%0 - %1)", NULL},
    {AXE_OP_mul, "(%0 * %1)", NULL},
    {AXE_OP_div, "(%0 / %1)", "axe_div(%0, %1)"},
    {AXE_OP_mod, "(%0 % %1)", "(%0 - axe_div(%0, %1) * %1)"},
    {AXE_OP_cdiv, "((%0 + %1 - 1) / %1)", "-axe_div(-%0, %1)"},
    {AXE_OP_min, "axe_min(%0, %1)", NULL},
    {AXE_OP_max, "axe_max(%0, %1)", NULL},
    {AXE_OP_le, "(%0 <= %1)", NULL},
    {AXE_OP_lt, "(%0 < %1)", NULL},
    {AXE_OP_eq, "(%0 == %1)", NULL},
    {AXE_OP_ne, "(%0 != %1)", NULL},
    {AXE_OP_and, "(%0 && %1)", NULL},
    {AXE_OP_or, "(%0 || %1)", NULL},
    {AXE_OP_neg, "(-%0)", NULL},
};

static axe_status
put_index(printer *p, axe_buf *b, const axe_node *n)
{
    if (n->op == AXE_OP_iconst) {
        axe_putf(b, "%" PRId64, n->u.i);
        return AXE_OK;
    }
    if (n->op == AXE_OP_var) {
        axe_puts(b, var_name(p, n->u.var));
        return AXE_OK;
    }
    for (int i = 0; i < AXE_LEN(index_spelling); i++) {
        if (index_spelling[i].op != n->op)
            continue;
        const char *s = index_spelling[i].plain;
        if (index_spelling[i].floor &&
            !(nonneg(n->arg[0]) && nonneg(n->arg[1])))
            s = index_spelling[i].floor;
        for (; *s; s++)
            if (*s == '%' && (s[1] == '0' || s[1] == '1'))
                AXE_TRY(put_index(p, b, n->arg[*++s - '0']));
            else
                axe_putc(b, *s);
        return AXE_OK;
    }
    return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                    "C has no spelling for index operation '%s'",
                    axe_op_table[n->op].name);
}

/* ------------------------------------------------------------- operations */

static const char *
memory(printer *p, const axe_mem *m, int lanes, axe_status *st)
{
    axe_buf b = {.cx = p->cx};

    if (lanes == 1)
        axe_putf(&b, "%s[", clean(p->cx, "t", m->tensor->name));
    else
        axe_putf(&b, "*(%su *)(%s + ", shape_name(p, m->type, lanes),
                 clean(p->cx, "t", m->tensor->name));
    *st = put_index(p, &b, m->at);
    axe_putc(&b, lanes == 1 ? ']' : ')');
    return b.text;
}

/* A memory element as a register of type t. */
static const char *
widen(printer *p, const char *mem, axe_type from, axe_type t, int lanes)
{
    if (from == AXE_TYPE_f16 || from == AXE_TYPE_bf16) {
        const char *f = from == AXE_TYPE_f16 ? "f16_to" : "bf16_to";
        shape_name(p, from, lanes == 1 ? 4 : lanes);
        return axe_textf(p->cx, "%s(%s)", call(p, f, strlen(f), t, lanes), mem);
    }
    if (strcmp(element(from), element(t)) == 0)
        return mem;
    if (lanes == 1)
        return axe_textf(p->cx, "(%s)%s", element(t), mem);
    return axe_textf(p->cx, "__builtin_convertvector(%s, %s)", mem,
                     shape_name(p, t, lanes));
}

static const char *
narrow(printer *p, const char *reg, axe_type from, axe_type to, int lanes)
{
    if (to == AXE_TYPE_f16 || to == AXE_TYPE_bf16) {
        const char *f = to == AXE_TYPE_f16 ? "to_f16" : "to_bf16";
        shape_name(p, to, lanes == 1 ? 4 : lanes);
        return axe_textf(p->cx, "%s(%s)", call(p, f, strlen(f), from, lanes),
                         reg);
    }
    if (strcmp(element(from), element(to)) == 0)
        return reg;
    if (lanes == 1)
        return axe_textf(p->cx, "(%s)%s", element(to), reg);
    return axe_textf(p->cx, "__builtin_convertvector(%s, %s)", reg,
                     shape_name(p, to, lanes));
}

static void
put_float(axe_buf *b, double f, axe_type t)
{
    const char *suffix = t == AXE_TYPE_f32 ? "f" : "";

    if (isnan(f))
        axe_putf(b, "__builtin_nan%s(\"\")", suffix);
    else if (isinf(f))
        axe_putf(b, "(%s__builtin_inf%s())", f < 0 ? "-" : "", suffix);
    else
        axe_putf(b, "(%a%s)", f, suffix);
}

static axe_status
put_spelled(printer *p, const axe_lir *l, const char *s)
{
    axe_buf *b = p->out;
    axe_reg  d = l->dst, a = l->n_src ? l->src[0] : d;
    int      lanes = a.lanes > d.lanes ? a.lanes : d.lanes;

    for (; *s; s++) {
        if (*s == '!') {
            size_t      len = strcspn(s + 1, "(");
            const char *f = call(p, s + 1, len, a.type, lanes);
            if (!f)
                return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                                "C has no '%.*s' for %s", (int)len, s + 1,
                                axe_type_table[a.type].name);
            axe_puts(b, f);
            s += len;
        } else if (*s != '$')
            axe_putc(b, *s);
        else
            switch (*++s) {
            case 'd':
                axe_putf(b, "r%d", d.id);
                break;
            case 'V':
                axe_puts(b, shape_name(p, d.type, d.lanes));
                break;
            case 'T':
                axe_puts(b, element(d.type));
                break;
            case 'I':
                axe_puts(b, shape_name(p, mask_of(d.type), d.lanes));
                break;
            case 'f':
                put_float(b, l->f, d.type);
                break;
            case 'i':
                axe_putf(b, "%" PRId64, l->i);
                break;
            case 'n':
                AXE_TRY(put_index(p, b, l->value));
                break;
            default:
                axe_putf(b, "r%d", l->src[*s - 'a'].id);
            }
    }
    return AXE_OK;
}

/* a[i][j] <-> a[j][i] by log2(lanes) rounds of two-register shuffles. */
static void
put_transpose(printer *p, const axe_lir *l, int depth)
{
    int         n = l->n_src;
    const char *v = shape_name(p, l->dst.type, n);

    for (int h = 1; h < n; h *= 2)
        for (int i = 0; i < n; i++) {
            if (i & h)
                continue;
            int x = l->src[i].id, y = l->src[i + h].id;
            axe_putf(p->out, "%*s{ %s t = __builtin_shufflevector(r%d, r%d",
                     4 * depth, "", v, x, y);
            for (int k = 0; k < n; k++)
                axe_putf(p->out, ", %d", k & h ? n + (k ^ h) : k);
            axe_putf(p->out, "); r%d = __builtin_shufflevector(r%d, r%d", y, x,
                     y);
            for (int k = 0; k < n; k++)
                axe_putf(p->out, ", %d", k & h ? n + k : k ^ h);
            axe_putf(p->out, "); r%d = t; }\n", x);
        }
}

static axe_status
put_op(printer *p, const axe_lir *l, int depth)
{
    axe_status  st = AXE_OK;
    axe_buf    *b = p->out;
    axe_reg     d = l->dst;
    const char *s;

    if (l->op == AXE_LOP_trans) {
        put_transpose(p, l, depth);
        return AXE_OK;
    }
    axe_putf(b, "%*s", 4 * depth, "");
    if (l->op == AXE_LOP_store) {
        axe_reg     a = l->src[0];
        const char *mem = memory(p, &l->mem, a.lanes, &st);
        axe_putf(b, "%s = %s;\n", mem,
                 narrow(p, axe_textf(p->cx, "r%d", a.id), a.type, l->mem.type,
                        a.lanes));
        return st;
    }
    if (l->op == AXE_LOP_prefetch) {
        axe_putf(b, "__builtin_prefetch(&%s);\n", memory(p, &l->mem, 1, &st));
        return st;
    }
    if (!p->declared[d.id])
        axe_putf(b, "%s ", shape_name(p, d.type, d.lanes));
    p->declared[d.id] = true;
    axe_putf(b, "r%d = ", d.id);
    if (l->op == AXE_LOP_load) {
        s = memory(p, &l->mem, d.lanes, &st);
        axe_puts(b, widen(p, s, l->mem.type, d.type, d.lanes));
    } else if (l->op == AXE_LOP_round) {
        const char *r = axe_textf(p->cx, "r%d", l->src[0].id);
        axe_puts(b, widen(p, narrow(p, r, d.type, l->as, d.lanes), l->as,
                          d.type, d.lanes));
    } else {
        s = d.lanes > 1 ? spelling[l->op].many : spelling[l->op].one;
        if (!s)
            return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "C has no spelling for '%s' on %d lanes",
                            axe_lop_table[l->op].name, d.lanes);
        st = put_spelled(p, l, s);
    }
    axe_puts(b, ";\n");
    return st;
}

/* ------------------------------------------------------------- statements */

static axe_status put_block(printer *p, const axe_lblock *blk, int depth);

static axe_status
put_tasks(printer *p, const axe_lir *l, int depth)
{
    axe_buf    *b = p->out;
    const char *v = var_name(p, l->var);

    axe_putf(b, "%*sconst i64 n_task = ", 4 * depth, "");
    AXE_TRY(put_index(p, b, l->end));
    axe_putf(b, ", share = n_task / n_worker, more = n_task %% n_worker;\n");
    axe_putf(b,
             "%*sconst i64 first = worker * share + axe_min(worker, more);\n",
             4 * depth, "");
    axe_putf(b,
             "%*sfor (i64 %s = first; %s < first + share + (worker < more); "
             "%s++) {\n",
             4 * depth, "", v, v, v);
    AXE_TRY(put_block(p, &l->body, depth + 1));
    axe_putf(b, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static axe_status
put_loop(printer *p, const axe_lir *l, int depth)
{
    axe_buf    *b = p->out;
    const char *v = var_name(p, l->var);

    axe_putf(b, "%*sfor (i64 %s = ", 4 * depth, "", v);
    AXE_TRY(put_index(p, b, l->begin));
    axe_putf(b, "; %s < ", v);
    AXE_TRY(put_index(p, b, l->end));
    if (l->step == 1)
        axe_putf(b, "; %s++) {\n", v);
    else
        axe_putf(b, "; %s += %" PRId64 ") {\n", v, l->step);
    AXE_TRY(put_block(p, &l->body, depth + 1));
    axe_putf(b, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static axe_status
put_if(printer *p, const axe_lir *l, int depth)
{
    axe_putf(p->out, "%*sif (", 4 * depth, "");
    AXE_TRY(put_index(p, p->out, l->value));
    axe_puts(p->out, ") {\n");
    AXE_TRY(put_block(p, &l->body, depth + 1));
    axe_putf(p->out, "%*s} else {\n", 4 * depth, "");
    AXE_TRY(put_block(p, &l->other, depth + 1));
    axe_putf(p->out, "%*s}\n", 4 * depth, "");
    return AXE_OK;
}

static axe_status
put_block(printer *p, const axe_lblock *blk, int depth)
{
    for (int i = 0; i < blk->n; i++) {
        const axe_lir *l = blk->item[i];
        switch (l->kind) {
        case AXE_LIR_TASKS:
            AXE_TRY(put_tasks(p, l, depth));
            break;
        case AXE_LIR_LOOP:
            AXE_TRY(put_loop(p, l, depth));
            break;
        case AXE_LIR_IF:
            AXE_TRY(put_if(p, l, depth));
            break;
        case AXE_LIR_LET:
            axe_putf(p->out, "%*sconst i64 %s = ", 4 * depth, "",
                     var_name(p, l->var));
            AXE_TRY(put_index(p, p->out, l->value));
            axe_puts(p->out, ";\n");
            break;
        case AXE_LIR_OP:
            AXE_TRY(put_op(p, l, depth));
            break;
        case AXE_LIR_NOTE:
            axe_putf(p->out, "%*s/* %s */\n", 4 * depth, "", l->text);
        }
    }
    return AXE_OK;
}

static void
put_params(printer *p)
{
    const axe_kernel *k = p->l->plan->kernel;

    for (int i = 0; i < k->n_size; i++)
        axe_putf(p->out, "    const i64 %s = size[%d];\n",
                 var_name(p, k->size[i]), i);
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        axe_putf(p->out, "    %s%s *restrict %s = ptr[%d];\n",
                 t->dir == AXE_DIR_IN ? "const " : "", element(t->type),
                 clean(p->cx, "t", t->name), i);
    }
    for (int i = 0; i < p->l->plan->n_place; i++) {
        const axe_place *pl = &p->l->plan->place[i];
        if (pl->tensor)
            axe_putf(p->out,
                     "    %s *restrict %s = (void *)((char *)scratch + %" PRId64
                     "); /* %s : %s */\n",
                     element(pl->type), clean(p->cx, "t", pl->tensor->name),
                     pl->offset, axe_type_table[pl->type].name,
                     axe_layout_text(p->cx, pl->layout));
    }
}

/* ---------------------------------------------------------- putting together
 */

static const char head[] =
    "typedef float f32;\ntypedef double f64;\ntypedef long long i64;\n"
    "typedef int i32;\ntypedef short i16;\ntypedef signed char i8;\n"
    "typedef unsigned u32;\ntypedef unsigned short u16;\n"
    "typedef unsigned char u8;\n"
    "float exp2f(float);\nfloat logf(float);\nfloat tanhf(float);\n"
    "double exp2(double);\ndouble log(double);\ndouble tanh(double);\n"
    "static inline i64 axe_min(i64 a, i64 b) { return a < b ? a : b; }\n"
    "static inline i64 axe_max(i64 a, i64 b) { return a > b ? a : b; }\n"
    "static inline i64 axe_div(i64 a, i64 b)\n"
    "{\n    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n";

/* Bytes of an element in memory, for typedefs: f16 and bf16 are u16. */
static void
put_types(printer *p, axe_buf *out)
{
    for (int i = 0; i < p->n_shape; i++) {
        const shape *s = &p->shape[i];
        const char  *e = element(s->type);
        int          bytes = axe_type_table[s->type].bits / 8 * s->lanes;
        axe_putf(out,
                 "typedef %s %sx%d __attribute__((vector_size(%d)));\n"
                 "typedef %s %sx%du __attribute__((vector_size(%d), "
                 "aligned(%d), may_alias));\n",
                 e, e, s->lanes, bytes, e, e, s->lanes, bytes,
                 axe_type_table[s->type].bits / 8);
    }
}

/* The helper's text with its types put in. */
static void
put_fn(printer *p, axe_buf *out, const char *s, const use *u)
{
    for (; *s; s++) {
        if (*s != '$') {
            axe_putc(out, *s);
            continue;
        }
        switch (*++s) {
        case 'V':
        case 'N':
            axe_puts(out, shape_name(p, u->type, u->lanes));
            break;
        case 'T':
            axe_puts(out, element(u->type));
            break;
        case 'I':
            axe_puts(out, shape_name(p, mask_of(u->type), u->lanes));
            break;
        case 'H':
            axe_puts(out, shape_name(p, AXE_TYPE_u16, u->lanes));
            break;
        default:
            axe_putf(out, "%d", u->lanes);
        }
    }
    axe_putc(out, '\n');
}

/* One lane by way of four. */
static void
put_wrapper(axe_buf *out, const fn_row *f, const use *u)
{
    const char *t = element(u->type);
    bool        to = strncmp(f->name, "to_", 3) == 0;
    bool        from = strstr(f->name, "16_to") != NULL;

    axe_putf(out, "static inline %s %s_%s(%s a)\n{\n", to ? "u16" : t, f->name,
             t, from ? "u16" : t);
    axe_putf(out, "    return %s_%sx4((%sx4){a})[0];\n}\n", f->name, t,
             from ? "u16" : t);
}

static void
put_fns(printer *p, axe_buf *out)
{
    for (int i = 0; i < p->n_use; i++) {
        const use    *u = &p->use[i];
        const fn_row *f = &fns[u->fn];
        if (u->lanes > 1 || strcmp(f->one, "text") == 0)
            put_fn(p, out, f->text, u);
        else if (*f->one)
            put_fn(p, out, f->one, u);
        else
            put_wrapper(out, f, u);
    }
}

axe_status
axe_print_c(axe_ctx *cx, const axe_lowered *l, axe_buf *out)
{
    axe_buf  body = {.cx = cx}, fn = {.cx = cx};
    printer *p = axe_new(cx, printer);

    *p = (printer){.cx = cx, .l = l, .out = &body};
    p->declared = axe_new_array(cx, bool, l->n_reg + 1);
    put_params(p);
    AXE_TRY(put_block(p, &l->body, 1));
    put_fns(p, &fn);
    axe_putf(out, "/* %s for %s, made by axe %s */\n", l->plan->kernel->name,
             l->plan->machine->name, AXE_VERSION);
    axe_puts(out, head);
    put_types(p, out);
    if (fn.text)
        axe_puts(out, fn.text);
    axe_puts(out,
             "\nvoid axe_entry(void *const *ptr, const i64 *size, i64 worker, "
             "i64 n_worker, void *scratch)\n{\n");
    axe_puts(out, body.text ? body.text : "");
    axe_puts(out, "}\n");
    return AXE_OK;
}
