/* fn.c - vector types and helper functions, as far as a unit uses them. */
#include <stdlib.h>
#include <string.h>

#include "print/c/c_int.h"

typedef struct fn_row {
    const char *on, *name, *types, *needs, *text, *one;
} fn_row;

static const fn_row fns[] = {
#define FN(name, types, needs, text, one)                                      \
    FN_ON("", name, types, needs, text, one)
#define FN_ON(on, name, types, needs, text, one)                               \
    {on, #name, #types, needs, text, one},
#include "print/c/fn.def"
};

/* Append unless it is there. */
static void
note(axe_ctx *cx, axe_cuse **list, int *n, int *cap, axe_cuse u)
{
    for (int i = 0; i < *n; i++)
        if ((*list)[i].fn == u.fn && (*list)[i].lanes == u.lanes &&
            strcmp(axe_c_element((*list)[i].type), axe_c_element(u.type)) == 0)
            return;
    if (*n == *cap) {
        *cap = *cap ? 2 * *cap : 16;
        axe_cuse *more = axe_new_array(cx, axe_cuse, *cap);
        if (*n > 0)
            memcpy(more, *list, (size_t)*n * sizeof *more);
        *list = more;
    }
    (*list)[(*n)++] = u;
}

const char *
axe_c_element(axe_type t)
{
    if (t == AXE_TYPE_f16 || t == AXE_TYPE_bf16)
        return "u16";
    if (axe_type_is_float(t) && axe_type_table[t].bits <= 8)
        return "u8";
    return t == AXE_TYPE_bool ? "u8" : axe_type_table[t].name;
}

axe_type
axe_c_mask(axe_type t)
{
    return axe_type_table[t].bits == 64 ? AXE_TYPE_i64 : AXE_TYPE_i32;
}

const char *
axe_c_type(axe_cprinter *p, axe_type t, int lanes)
{
    if (lanes == 1)
        return axe_c_element(t);
    note(p->cx, &p->shape, &p->n_shape, &p->cap_shape,
         (axe_cuse){-1, t, lanes});
    return axe_textf(p->cx, "%sx%d", axe_c_element(t), lanes);
}

static bool
type_fits(const char *types, axe_type t)
{
    bool fl = axe_type_table[t].cls == AXE_CLASS_FLOAT;

    if (strcmp(types, "A") == 0)
        return true;
    if (strcmp(types, "F") == 0 || strcmp(types, "I") == 0)
        return fl == (*types == 'F');
    if (*types >= '0' && *types <= '9')
        return atoi(types) == axe_type_table[t].bits;
    return strcmp(types, axe_type_table[t].name) == 0;
}

/* In f64, by halves? */
static bool
by_double(const fn_row *f)
{
    return strncmp(f->needs, "f64", 3) == 0;
}

/* Rows for one kind of machine are for its registers only, unless they have no
 * text for them. */
static bool
machine_fits(const axe_cprinter *p, const fn_row *f, axe_type t, int lanes)
{
    const axe_machine *mc = p->l->plan->machine;
    int                bits = lanes * axe_type_table[t].bits;

    return *f->on == '\0' ||
           (strstr(mc->name, f->on) &&
            (by_double(f) || (bits >= 128 && bits <= mc->vector_bits)));
}

/* By which function: "f64 name", or its own. */
static const char *
double_name(const fn_row *f)
{
    return f->needs[3] == ' ' ? f->needs + 4 : f->name;
}

static int
half_of(int lanes)
{
    return lanes > 2 ? lanes / 2 : lanes;
}

/* Names with blanks between. */
static void
call_needs(axe_cprinter *p, const char *needs, axe_type t, int lanes)
{
    while (*needs) {
        size_t len = strcspn(needs, " ");
        axe_c_call(p, needs, len, t, lanes);
        needs += len + (needs[len] == ' ');
    }
}

const char *
axe_c_call(axe_cprinter *p, const char *name, size_t len, axe_type t, int lanes)
{
    for (int i = 0; i < AXE_LEN(fns); i++) {
        if (strlen(fns[i].name) != len ||
            strncmp(fns[i].name, name, len) != 0 ||
            !type_fits(fns[i].types, t) || !machine_fits(p, &fns[i], t, lanes))
            continue;
        if (by_double(&fns[i])) {
            axe_c_call(p, double_name(&fns[i]), strlen(double_name(&fns[i])),
                       AXE_TYPE_f64, half_of(lanes));
            if (lanes > 1)
                axe_c_call(p, "widen", 5, AXE_TYPE_f64, half_of(lanes));
        } else if (lanes == 1 && *fns[i].one == '\0')
            axe_c_call(p, name, len, t, 4);
        else if (lanes > 1)
            call_needs(p, fns[i].needs, t, lanes);
        note(p->cx, &p->use, &p->n_use, &p->cap_use, (axe_cuse){i, t, lanes});
        axe_c_type(p, axe_c_mask(t), lanes);
        if (strstr(fns[i].text, "$U"))
            axe_c_type(
                p, axe_type_table[t].bits == 64 ? AXE_TYPE_u64 : AXE_TYPE_u32,
                lanes);
        return axe_textf(p->cx, "%s_%s", fns[i].name, axe_c_type(p, t, lanes));
    }
    return NULL;
}

void
axe_c_put_types(axe_cprinter *p, axe_buf *out)
{
    for (int i = 0; i < p->n_shape; i++) {
        const axe_cuse *s = &p->shape[i];
        const char     *e = axe_c_element(s->type);
        int             bytes = axe_type_table[s->type].bits / 8 * s->lanes;
        axe_putf(out,
                 "typedef %s %sx%d __attribute__((vector_size(%d)));\n"
                 "typedef %s %sx%du __attribute__((vector_size(%d), "
                 "aligned(1), may_alias));\n",
                 e, e, s->lanes, bytes, e, e, s->lanes, bytes);
    }
}

/* The numbers of the lanes, turned by so many. */
static void
put_turned(axe_buf *out, int lanes, int by)
{
    for (int i = 0; i < lanes; i++)
        axe_putf(out, "%s%d", i ? ", " : "", (i + by) % lanes);
}

static void
put_escape(axe_cprinter *p, axe_buf *out, char c, const axe_cuse *u, int turn)
{
    switch (c) {
    case 'V':
    case 'N':
        axe_puts(out, axe_c_type(p, u->type, u->lanes));
        break;
    case 'T':
        axe_puts(out, axe_c_element(u->type));
        break;
    case 'I':
        axe_puts(out, axe_c_type(p, axe_c_mask(u->type), u->lanes));
        break;
    case 'U':
        axe_puts(out,
                 axe_c_type(p,
                            axe_type_table[u->type].bits == 64 ? AXE_TYPE_u64
                                                               : AXE_TYPE_u32,
                            u->lanes));
        break;
    case 'x':
        axe_puts(out, u->type == AXE_TYPE_f64 ? "pd" : "ps");
        break;
    case 'S':
        axe_puts(out, axe_c_type(p, AXE_TYPE_f32, u->lanes));
        break;
    case 'J':
        axe_puts(out, axe_c_type(p, AXE_TYPE_i32, u->lanes));
        break;
    case 'H':
        axe_puts(out, axe_c_type(p, AXE_TYPE_u16, u->lanes));
        break;
    case 'B':
        axe_puts(out, axe_c_type(p, AXE_TYPE_u8, u->lanes));
        break;
    case 'E':
        axe_puts(out, axe_c_element(axe_c_mask(u->type)));
        break;
    case 'W':
        axe_putf(out, "%d", axe_type_table[u->type].bits);
        break;
    case 'l':
        put_turned(out, u->lanes, 0);
        break;
    case 'n':
        put_turned(out, u->lanes, turn);
        break;
    default:
        axe_putf(out, "%d", u->lanes);
    }
}

/* "$<" to "$>" for each lane, with $k its number; what follows. */
static const char *
put_each(axe_cprinter *p, axe_buf *out, const char *s, const axe_cuse *u)
{
    const char *end = strstr(s, "$>");

    for (int k = 0; k < u->lanes; k++)
        for (const char *c = s; c < end; c++)
            if (*c != '$')
                axe_putc(out, *c);
            else if (*++c == 'k')
                axe_putf(out, "%d", k);
            else
                put_escape(p, out, *c, u, 0);
    return end + 1;
}

/* The helper's text with its types put in. */
static void
put_fn(axe_cprinter *p, axe_buf *out, const char *s, const axe_cuse *u)
{
    const char *again = s;
    int         turn = u->lanes / 2;

    for (; *s; s++) {
        if (*s != '$') {
            axe_putc(out, *s);
            continue;
        }
        s++;
        if (*s == '<')
            s = put_each(p, out, s + 1, u);
        else if (*s == '[')
            again = s;
        else if (*s != ']')
            put_escape(p, out, *s, u, turn);
        else if ((turn /= 2) > 0)
            s = again;
    }
    axe_putc(out, '\n');
}

/* "f32 a, f32 b"; between: each name as `before` a `behind` instead. */
static void
put_args(axe_buf *out, int n, const char *before, const char *behind)
{
    for (int i = 0; i < n; i++)
        axe_putf(out, "%s%s%c%s", i ? ", " : "", before, 'a' + i, behind);
}

/* How many operands the text's function has. */
static int
count_args(const char *text)
{
    int n = 1;

    for (const char *s = strchr(text, '('); *s != ')'; s++)
        n += *s == ',';
    return n;
}

/* One lane by way of four. */
static void
put_wrapper(axe_cprinter *p, axe_buf *out, const fn_row *f, const axe_cuse *u)
{
    const char *t = axe_c_element(u->type);
    bool        to = strncmp(f->name, "to_", 3) == 0;
    bool        from = strstr(f->name, "_to") != NULL;
    const char *h = strstr(f->name, "f8") ? "u8" : "u16", *a = from ? h : t;
    int         n = count_args(f->text);

    axe_putf(out, "static inline %s %s_%s(", to ? h : t, f->name, t);
    put_args(out, n, axe_textf(p->cx, "%s ", a), "");
    axe_putf(out, ")\n{\n    return %s_%sx4(", f->name, t);
    put_args(out, n, axe_textf(p->cx, "(%sx4){", a), "}");
    axe_puts(out, ")[0];\n}\n");
}

/* f32 by f64: the lower half of the lanes, the upper, both together. */
static void
put_by_double(axe_cprinter *p, axe_buf *out, const fn_row *f, const axe_cuse *u)
{
    int         n = *f->text - '0', half = u->lanes / 2;
    const char *v = axe_c_type(p, u->type, u->lanes);

    axe_putf(out, "static inline %s %s_%s(", v, f->name, v);
    put_args(out, n, axe_textf(p->cx, "%s ", v), "");
    axe_puts(out, ")\n{\n");
    if (u->lanes == 1) {
        axe_putf(out, "    return (f32)%s_f64(", double_name(f));
        put_args(out, n, "", "");
        axe_puts(out, ");\n}\n");
        return;
    }
    axe_putf(out, "    typedef f32 part __attribute__((vector_size(%d)));\n",
             4 * half);
    for (int k = 0; k < 2; k++) {
        axe_putf(out, "    part p%d = __builtin_convertvector(%s_f64x%d(", k,
                 double_name(f), half);
        for (int i = 0; i < n; i++) {
            axe_putf(out, "%swiden_f64x%d(__builtin_shufflevector(",
                     i ? ", " : "", half);
            axe_putf(out, "%c, %c", 'a' + i, 'a' + i);
            for (int l = 0; l < half; l++)
                axe_putf(out, ", %d", k * half + l);
            axe_puts(out, "))");
        }
        axe_puts(out, "), part);\n");
    }
    axe_puts(out, "    return __builtin_shufflevector(p0, p1, ");
    put_turned(out, u->lanes, 0);
    axe_puts(out, ");\n}\n");
}

void
axe_c_put_helpers(axe_cprinter *p, axe_buf *out)
{
    for (int i = 0; i < p->n_use; i++) {
        const axe_cuse *u = &p->use[i];
        const fn_row   *f = &fns[u->fn];
        if (by_double(f))
            put_by_double(p, out, f, u);
        else if (u->lanes > 1 || strcmp(f->one, "text") == 0)
            put_fn(p, out, f->text, u);
        else if (*f->one)
            put_fn(p, out, f->one, u);
        else
            put_wrapper(p, out, f, u);
    }
}
