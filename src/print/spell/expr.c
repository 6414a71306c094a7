/* expr.c - integer expressions and values of elements in a dialect of C.
 *
 * An index is an int where that holds it at any launch, and so is each part of
 * it; a product of sizes is not, nor is an address in global memory.  Division
 * by a power of two is a shift, which rounds to minus infinity as the language
 * does.  Values of narrow floating types are computed with as float, those of
 * narrow integers as int. A spelling has the precedence of C's operators, so
 * parentheses stand only where needed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/spell/spell.h"

/* ------------------------------------------------------------- expressions */

static axe_status put(axe_speller *p, axe_buf *b, const axe_node *n, int prec,
                      axe_spell_mode mode);

static axe_spell_kind
kind_of(const axe_node *n, axe_spell_mode mode)
{
    axe_type t =
        n->type == AXE_TYPE_bool && n->n_arg > 0 ? n->arg[0]->type : n->type;

    if (t == AXE_TYPE_f64)
        return K_DOUBLE;
    if (axe_type_is_float(t))
        return K_FLOAT;
    if (t == AXE_TYPE_bool)
        return K_BOOL;
    if (t == AXE_TYPE_INDEX && mode != AXE_SPELL_VALUE)
        return K_INDEX;
    return axe_type_table[t].cls == AXE_CLASS_UINT &&
                   axe_type_table[t].bits >= 32
               ? K_UINT
               : K_INT;
}

/* Division of indices: by shifts and masks, or of what is not negative. */
static axe_status
put_division(axe_speller *p, axe_buf *b, const axe_node *n, int prec,
             bool *done)
{
    const axe_node *x = n->arg[0], *y = n->arg[1];
    int             k = 0, own = n->op == AXE_OP_mod ? P_BITS : P_SHIFT;
    axe_quotient    how = axe_index_quotient(n, &k);
    bool            grows = axe_index_rounds_beyond(p->ix, n);
    bool            wide =
        axe_index_is_wide(p->ix, x) || axe_index_is_wide(p->ix, y) || grows;
    const char *name = n->op == AXE_OP_mod ? "rest" : "quot";

    *done = how != AXE_QUOTIENT_FLOOR;
    if (how == AXE_QUOTIENT_SHIFT) {
        axe_puts(b, own < prec ? "(" : "");
        if (n->op == AXE_OP_cdiv)
            axe_puts(b, grows ? "((i64)" : "(");
        AXE_TRY(put(p, b, x,
                    grows                  ? P_UNARY
                    : n->op == AXE_OP_cdiv ? P_ADD
                                           : P_MUL,
                    AXE_SPELL_INDEX));
        if (n->op == AXE_OP_mod)
            axe_putf(b, " & %" PRId64, y->u.i - 1);
        else if (n->op == AXE_OP_cdiv)
            axe_putf(b, " + %" PRId64 ") >> %d", y->u.i - 1, k);
        else
            axe_putf(b, " >> %d", k);
        axe_puts(b, own < prec ? ")" : "");
    } else if (*done) {
        axe_spell_need(p, name);
        axe_putf(b, "%s%s(%s", name, wide ? "64" : "", grows ? "(i64)" : "");
        AXE_TRY(put(p, b, x, grows ? P_UNARY : P_ADD, AXE_SPELL_INDEX));
        if (n->op == AXE_OP_cdiv) {
            axe_puts(b, " + ");
            AXE_TRY(put(p, b, y, P_ADD, AXE_SPELL_INDEX));
            axe_puts(b, " - 1");
        }
        axe_puts(b, ", ");
        AXE_TRY(put(p, b, y, 0, AXE_SPELL_INDEX));
        axe_putc(b, ')');
    }
    return AXE_OK;
}

/* A float divided by another: the fewer extremes that may be, the shorter. */
static axe_status
put_quotient(axe_speller *p, axe_buf *b, const axe_node *n)
{
    static const char *const names[] = {
        [AXE_DIVISOR_ANY] = "quotient",
        [AXE_DIVISOR_LARGE] = "quotient_up",
        [AXE_DIVISOR_MID] = "quotient_mid",
    };
    const char *name = names[axe_divisor_of(n->arg[1])];

    axe_spell_need(p, name);
    axe_putf(b, "%s(", name);
    AXE_TRY(put(p, b, n->arg[0], 0, AXE_SPELL_VALUE));
    axe_puts(b, ", ");
    AXE_TRY(put(p, b, n->arg[1], 0, AXE_SPELL_VALUE));
    axe_putc(b, ')');
    return AXE_OK;
}

/* A product of 64 bits: its left factor decides. */
static axe_status
put_wide_product(axe_speller *p, axe_buf *b, const axe_node *n, int prec)
{
    axe_puts(b, P_MUL < prec ? "((i64)" : "(i64)");
    for (int i = 0; i < 2; i++) {
        axe_spell_mode mode = axe_index_is_wide(p->ix, n->arg[i])
                                  ? AXE_SPELL_ADDRESS
                                  : AXE_SPELL_INDEX;
        AXE_TRY(put(p, b, n->arg[i], P_UNARY, mode));
        axe_puts(b, i == 0 ? " * " : P_MUL < prec ? ")" : "");
    }
    return AXE_OK;
}

/* Elements narrower than an int wrap around as their type does. */
static const char *
wraps_to(const axe_node *n, axe_spell_kind k)
{
    return k == K_INT && axe_type_table[n->type].bits < 32 &&
                   n->type != AXE_TYPE_bool && n->op != AXE_OP_select
               ? axe_type_table[n->type].name
               : NULL;
}

static const char *
type_text(axe_speller *p, const axe_node *n, axe_spell_kind k)
{
    if (k == K_INDEX)
        return axe_index_is_wide(p->ix, n) || axe_index_grows(p->ix, n) ? "i64"
                                                                        : "int";
    return axe_spell_value_type(n->type);
}

static axe_status
put_row(axe_speller *p, axe_buf *b, const axe_node *n, const axe_spell_op *r,
        int prec, axe_spell_mode mode)
{
    axe_spell_kind k = kind_of(n, mode);
    const char    *type = type_text(p, n, k), *wrap = wraps_to(n, k);
    int            own = wrap ? P_UNARY : r->prec;
    bool           grows = k == K_INDEX && axe_index_grows(p->ix, n);

    if (*r->needs)
        axe_spell_need(p, r->needs);
    axe_puts(b, own < prec ? "(" : "");
    if (wrap)
        axe_putf(b, "(%s)(", wrap);
    for (const char *s = r->text; *s; s++)
        if (*s == '%') {
            int i = *++s - '0', needs = i ? r->right : r->left;
            axe_puts(b, grows && i == 0 ? "(i64)" : "");
            AXE_TRY(
                put(p, b, n->arg[i], grows && i == 0 ? P_UNARY : needs, mode));
        } else if (*s == '$' && s[1] == 'B') {
            axe_putf(b, "%d", axe_type_table[n->type].bits);
            s++;
        } else if (*s == '$')
            axe_puts(b, *++s == 'T'                         ? type
                        : axe_type_table[n->type].bits > 32 ? "u64"
                                                            : "u32");
        else
            axe_putc(b, *s);
    axe_puts(b, wrap ? ")" : "");
    axe_puts(b, own < prec ? ")" : "");
    return AXE_OK;
}

static void
put_float(const axe_dialect *d, axe_buf *b, double f, axe_type t)
{
    bool                        narrow = t != AXE_TYPE_f64;
    const axe_spell_float_type *of = narrow ? &d->f32 : &d->f64;
    const char *s = axe_textf(b->cx, narrow ? "%.9g" : "%.17g", f);

    if (isnan(f))
        axe_puts(b, of->nan);
    else if (isinf(f))
        axe_putf(b, "%s%s", f < 0 ? "-" : "", of->inf);
    else
        axe_putf(b, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0",
                 narrow ? "f" : "");
}

static void
put_constant(const axe_dialect *d, axe_buf *b, const axe_node *n, int prec,
             axe_spell_mode mode)
{
    bool    minus = n->op == AXE_OP_fconst ? signbit(n->u.f)
                                           : n->u.i < 0 && n->type != AXE_TYPE_u64;
    int64_t i = n->op == AXE_OP_iconst ? n->u.i : 0;

    axe_puts(b, minus && prec > P_ADD ? "(" : "");
    if (n->op == AXE_OP_fconst)
        put_float(d, b, n->u.f, n->type);
    else if (axe_type_is_float(n->type))
        put_float(d, b, (double)i, n->type);
    else if (n->type != AXE_TYPE_u64 && (i == INT64_MIN || i == INT32_MIN))
        axe_putf(b, "(%" PRId64 "%s - 1)", i + 1,
                 i == INT64_MIN ? d->i64_end : "");
    else if (n->type == AXE_TYPE_u64)
        axe_putf(b, "%" PRIu64 "%s", (uint64_t)i, d->u64_end);
    else
        axe_putf(b, "%" PRId64 "%s", i,
                 n->type == AXE_TYPE_u32 ? "u"
                 : (n->type == AXE_TYPE_INDEX && mode == AXE_SPELL_VALUE) ||
                         i > INT32_MAX || i < INT32_MIN
                     ? d->i64_end
                     : "");
    axe_puts(b, minus && prec > P_ADD ? ")" : "");
}

/* ------------------------------------------------------ elements of arrays */

axe_status
axe_spell_term(axe_speller *p, axe_buf *b, const axe_node *n)
{
    return put(p, b, n, P_ADD, AXE_SPELL_INDEX);
}

axe_status
axe_spell_offset(axe_speller *p, axe_buf *b, const axe_node *n)
{
    return put(p, b, n, P_ADD, AXE_SPELL_ADDRESS);
}

/* The bits of an element of an array, or the element itself if it is a word. */
static axe_status
put_element(axe_speller *p, axe_buf *b, const axe_tensor *t, const axe_node *at)
{
    int         bits = axe_type_table[t->type].bits;
    const char *get = bits == 16 ? "get16" : "get8";

    if (bits < 32) {
        axe_spell_need(p, get);
        axe_putf(b, "%s(%s, ", get, axe_spell_tensor(p, t));
    } else
        axe_putf(b, "%s[", axe_spell_tensor(p, t));
    AXE_TRY(put(p, b, at, 0, AXE_SPELL_INDEX));
    axe_putc(b, bits < 32 ? ')' : ']');
    return AXE_OK;
}

static axe_status
put_load(axe_speller *p, axe_buf *b, const axe_node *n)
{
    const axe_tensor *t = n->u.tensor;
    const axe_node   *zero = axe_iconst(p->cx, n->at, AXE_TYPE_INDEX, 0);
    const char       *from = NULL;

    if (t->space != AXE_SPACE_REG || n->n_arg > 1 ||
        axe_type_table[t->type].bits < 8)
        return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                        "%s computes with elements of registers; %s is none",
                        p->d->name, t->name);
    if (axe_spell_is_narrow(t->type)) {
        from = axe_textf(p->cx, "from_%s", axe_type_table[t->type].name);
        axe_spell_need(p, from);
        axe_putf(b, "%s(", from);
    } else if (axe_type_table[t->type].bits < 32)
        axe_putf(b, t->type == AXE_TYPE_bool ? "(bool)" : "(%s)",
                 axe_type_table[t->type].name);
    AXE_TRY(put_element(p, b, t, n->n_arg ? n->arg[0] : zero));
    axe_puts(b, from ? ")" : "");
    return AXE_OK;
}

/* ------------------------------------------------------------- conversions */

/* A float to be rounded once more: of a value of a type that is wider, rounded
 * to odd, so that this is as if the value had been. */
static axe_status
put_as_float(axe_speller *p, axe_buf *b, const axe_node *n)
{
    axe_type t = n->type;
    bool     odd =
        axe_type_table[t].bits >= 32 && t != AXE_TYPE_f32 && t != AXE_TYPE_tf32;

    if (odd) {
        axe_spell_need(p, "f32_odd");
        axe_puts(b, "f32_odd(");
    }
    if (!axe_type_is_float(t))
        axe_puts(b, odd ? "(double)" : "(float)");
    AXE_TRY(put(p, b, n, axe_type_is_float(t) ? 0 : P_UNARY, AXE_SPELL_VALUE));
    axe_puts(b, odd ? ")" : "");
    return AXE_OK;
}

/* A value as a narrow floating type's bits. */
static axe_status
put_rounded(axe_speller *p, axe_buf *b, const axe_node *n, axe_type t)
{
    const char *to = axe_textf(p->cx, "to_%s", axe_type_table[t].name);

    axe_spell_need(p, to);
    axe_putf(b, "%s(", to);
    AXE_TRY(put_as_float(p, b, n));
    axe_putc(b, ')');
    return AXE_OK;
}

static axe_status
put_cast(axe_speller *p, axe_buf *b, const axe_node *n)
{
    const axe_node *x = n->arg[0];
    axe_type        to = n->type, from = x->type;
    const char     *name = axe_type_table[to].name;

    if (to == from)
        return put(p, b, x, P_UNARY, AXE_SPELL_VALUE);
    if (axe_spell_is_narrow(to)) {
        const char *back = axe_textf(p->cx, "from_%s", name);
        axe_spell_need(p, back);
        axe_putf(b, "%s(", back);
        AXE_TRY(put_rounded(p, b, x, to));
        axe_putc(b, ')');
        return AXE_OK;
    }
    if (axe_type_is_float(from) && !axe_type_is_float(to)) {
        const char *near = axe_textf(
            p->cx, "nearest_%s%s", name,
            p->d->rounds_by_type && from == AXE_TYPE_f64 ? "_f64" : "");
        axe_spell_need(p, near);
        axe_putf(b, "%s(", near);
        AXE_TRY(put(p, b, x, 0, AXE_SPELL_VALUE));
        axe_putc(b, ')');
        return AXE_OK;
    }
    if (strcmp(axe_spell_value_type(to), axe_spell_value_type(from)) != 0 ||
        axe_type_table[to].bits < axe_type_table[from].bits)
        axe_putf(b, "(%s)",
                 axe_type_table[to].bits < 32 ? name
                                              : axe_spell_value_type(to));
    return put(p, b, x, P_UNARY, AXE_SPELL_VALUE);
}

/* The bits of x as they would lie in memory, read as another type. */
static axe_status
put_bits(axe_speller *p, axe_buf *b, const axe_node *n)
{
    axe_type    from = n->arg[0]->type, to = n->type;
    const char *open = axe_spell_value_type(to);

    if (to == AXE_TYPE_f32 || to == AXE_TYPE_f64)
        open = to == AXE_TYPE_f32 ? p->d->f32.number : p->d->f64.number;
    else if (axe_spell_is_narrow(to)) {
        open = axe_textf(p->cx, "from_%s", axe_type_table[to].name);
        axe_spell_need(p, open);
        open = axe_textf(p->cx, "%s((%s)", open, axe_spell_element_type(to));
    } else
        open = axe_textf(p->cx, "((%s)", axe_spell_element_type(to));
    axe_puts(b, open);
    if (from == AXE_TYPE_f32 || from == AXE_TYPE_f64)
        axe_puts(b, from == AXE_TYPE_f32 ? p->d->f32.bits : p->d->f64.bits);
    else
        axe_putc(b, '(');
    AXE_TRY(axe_spell_bits(p, b, n->arg[0], from));
    axe_puts(b, "))");
    return AXE_OK;
}

/* The operand of a cast to t that is to be stored as one, or n itself. */
static const axe_node *
uncast(const axe_node *n, axe_type t)
{
    return n->op == AXE_OP_cast && n->type == t ? n->arg[0] : n;
}

axe_status
axe_spell_float(axe_speller *p, axe_buf *b, const axe_node *n, axe_type t)
{
    return put_as_float(p, b, uncast(n, t));
}

axe_status
axe_spell_bits(axe_speller *p, axe_buf *b, const axe_node *n, axe_type t)
{
    if (n->op == AXE_OP_load && n->u.tensor->type == t && n->n_arg == 1)
        return put_element(p, b, n->u.tensor, n->arg[0]);
    if (axe_spell_is_narrow(t))
        return put_rounded(p, b, uncast(n, t), t);
    if (axe_type_table[t].bits < 32) {
        axe_putf(b, axe_type_table[t].bits == 16 ? "(u16)" : "(u8)");
        return put(p, b, n, P_UNARY, AXE_SPELL_VALUE);
    }
    return put(p, b, n, 0, AXE_SPELL_VALUE);
}

/* Of indices and constants alone? */
static bool
is_pure(const axe_node *n)
{
    if (n->type != AXE_TYPE_INDEX || n->op == AXE_OP_load ||
        n->op == AXE_OP_cast || n->op == AXE_OP_select ||
        n->op == AXE_OP_bitcast)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_pure(n->arg[i]))
            return false;
    return true;
}

static axe_status
put(axe_speller *p, axe_buf *b, const axe_node *n, int prec,
    axe_spell_mode mode)
{
    bool done = false;

    if (mode == AXE_SPELL_VALUE && is_pure(n))
        mode = AXE_SPELL_ADDRESS;

    if (n->op == AXE_OP_iconst || n->op == AXE_OP_fconst) {
        put_constant(p->d, b, n, prec, mode);
        return AXE_OK;
    }
    if (n->op == AXE_OP_var)
        return axe_spell_var(p, b, n);
    if (n->op == AXE_OP_load)
        return put_load(p, b, n);
    if (n->op == AXE_OP_cast)
        return put_cast(p, b, n);
    if (n->op == AXE_OP_bitcast)
        return put_bits(p, b, n);
    if (mode != AXE_SPELL_VALUE && kind_of(n, mode) == K_INDEX) {
        if (n->op == AXE_OP_div || n->op == AXE_OP_mod || n->op == AXE_OP_cdiv)
            AXE_TRY(put_division(p, b, n, prec, &done));
        if (done)
            return AXE_OK;
        if (axe_index_is_wide_product(
                p->ix, n,
                mode == AXE_SPELL_ADDRESS ? AXE_USE_ADDRESS : AXE_USE_INDEX))
            return put_wide_product(p, b, n, prec);
    }
    if (n->op == AXE_OP_div && kind_of(n, mode) == K_FLOAT)
        return put_quotient(p, b, n);
    for (int i = 0; i < p->d->n_op; i++)
        if (p->d->op[i].op == n->op &&
            p->d->op[i].kinds & 1u << kind_of(n, mode))
            return put_row(p, b, n, &p->d->op[i], prec, mode);
    return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                    "%s has no spelling for '%s'", p->d->name,
                    axe_op_table[n->op].name);
}

axe_status
axe_spell_expr(axe_speller *p, axe_buf *b, const axe_node *n,
               axe_spell_mode mode)
{
    return put(p, b, n, 0, mode);
}
