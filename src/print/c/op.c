/* op.c - register operations as C statements. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/c/c_int.h"

static const struct {
    const char *many, *one;
} spelling[AXE_N_LOP] = {
#define SPELL(op, many, one) [AXE_LOP_##op] = {many, one},
#include "print/c/ops.def"
};

/* Is the tensor an array of what is accessed there, and not of parts of it? */
static bool
same_element(const axe_cprinter *p, const axe_mem *m)
{
    const axe_place *pl = &p->l->plan->place[m->tensor->id];
    axe_type         t = pl->tensor ? pl->type : m->tensor->type;

    return axe_type_table[t].bits >= axe_type_table[m->type].bits;
}

static const char *
memory(axe_cprinter *p, const axe_mem *m, int lanes, axe_status *st)
{
    axe_buf b = {.cx = p->cx};

    if (lanes == 1 && same_element(p, m))
        axe_putf(&b, "%s[", axe_c_name(p->cx, "t", m->tensor->name));
    else if (lanes == 1)
        axe_putf(&b, "*(%s_word *)(%s + ", axe_c_element(m->type),
                 axe_c_name(p->cx, "t", m->tensor->name));
    else
        axe_putf(&b, "*(%su *)(%s + ", axe_c_type(p, m->type, lanes),
                 axe_c_name(p->cx, "t", m->tensor->name));
    *st = axe_c_index(p, &b, m->at);
    axe_putc(&b, lanes == 1 && same_element(p, m) ? ']' : ')');
    return b.text;
}

/* Vectors, by a helper where there is one.  gcc widens 8 bits to 32 in one step
 * lane by lane, but not in two. */
static const char *
widen_integers(axe_cprinter *p, const char *mem, axe_type from, axe_type t,
               int lanes)
{
    const char *name = axe_textf(p->cx, "%s_to", axe_c_element(from));
    const char *f = axe_c_call(p, name, strlen(name), t, lanes);
    axe_type    half = from == AXE_TYPE_i8 ? AXE_TYPE_i16 : AXE_TYPE_u16;

    if (f)
        return axe_textf(p->cx, "%s(%s)", f, mem);
    if (axe_type_table[from].bits == 8)
        mem = axe_textf(p->cx, "__builtin_convertvector(%s, %s)", mem,
                        axe_c_type(p, half, lanes));
    return axe_textf(p->cx, "__builtin_convertvector(%s, %s)", mem,
                     axe_c_type(p, t, lanes));
}

/* Floating types that helpers convert, by their names: f16_to, to_f16. */
static bool
by_helper(axe_type t)
{
    return t == AXE_TYPE_f16 || t == AXE_TYPE_bf16 ||
           (axe_type_is_float(t) && axe_type_table[t].bits == 8);
}

/* A memory element as a register of type t.  A bool is 1 in memory, and all
 * ones in a register. */
static const char *
widen(axe_cprinter *p, const char *mem, axe_type from, axe_type t, int lanes)
{
    if (by_helper(from)) {
        const char *f = axe_textf(p->cx, "%s_to", axe_type_table[from].name);
        axe_c_type(p, from, lanes == 1 ? 4 : lanes);
        return axe_textf(p->cx, "%s(%s)", axe_c_call(p, f, strlen(f), t, lanes),
                         mem);
    }
    if (strcmp(axe_c_element(from), axe_c_element(t)) == 0)
        return mem;
    const char *sign = from == AXE_TYPE_bool ? "-" : "";
    if (lanes == 1)
        return axe_textf(p->cx, "%s(%s)%s", sign, axe_c_element(t), mem);
    return axe_textf(p->cx, "%s%s", sign,
                     widen_integers(p, mem, from, t, lanes));
}

static const char *
narrow(axe_cprinter *p, const char *reg, axe_type from, axe_type to, int lanes)
{
    if (by_helper(to)) {
        const char *f = axe_textf(p->cx, "to_%s", axe_type_table[to].name);
        axe_c_type(p, to, lanes == 1 ? 4 : lanes);
        return axe_textf(p->cx, "%s(%s)",
                         axe_c_call(p, f, strlen(f), from, lanes), reg);
    }
    if (strcmp(axe_c_element(from), axe_c_element(to)) == 0)
        return reg;
    if (to == AXE_TYPE_bool)
        reg = axe_textf(p->cx, "(%s & 1)", reg);
    if (lanes == 1)
        return axe_textf(p->cx, "(%s)%s", axe_c_element(to), reg);
    return axe_textf(p->cx, "__builtin_convertvector(%s, %s)", reg,
                     axe_c_type(p, to, lanes));
}

/* An element of memory as one of another type of its size. */
static const char *
reread(axe_cprinter *p, const char *mem, axe_type from, axe_type to, int lanes)
{
    const char *a = axe_c_element(from), *b = axe_c_element(to);

    if (strcmp(a, b) == 0)
        return mem;
    if (lanes > 1)
        return axe_textf(p->cx, "(%s)(%s)", axe_c_type(p, to, lanes), mem);
    if ((*a == 'f') == (*b == 'f'))
        return axe_textf(p->cx, "(%s)(%s)", b, mem);
    return axe_textf(p->cx, "((union { %s a; %s b; }){%s}).b", a, b, mem);
}

static const char *
bits_of(axe_cprinter *p, const axe_lir *l)
{
    axe_reg     d = l->dst;
    axe_type    to = (axe_type)l->i;
    const char *x = axe_textf(p->cx, "r%d", l->src[0].id);

    x = narrow(p, x, l->src[0].type, l->as, d.lanes);
    return widen(p, reread(p, x, l->as, to, d.lanes), to, d.type, d.lanes);
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
put_spelled(axe_cprinter *p, const axe_lir *l, const char *s)
{
    axe_buf *b = p->out;
    axe_reg  d = l->dst, a = l->n_src ? l->src[0] : d;
    int      lanes = a.lanes > d.lanes ? a.lanes : d.lanes;

    for (; *s; s++) {
        if (*s == '!' && s[1] >= 'a') {
            size_t      len = strcspn(s + 1, "(");
            const char *f = axe_c_call(p, s + 1, len, a.type, lanes);
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
                axe_puts(b, axe_c_type(p, d.type, d.lanes));
                break;
            case 'T':
                axe_puts(b, axe_c_element(d.type));
                break;
            case 'I':
                axe_puts(b, axe_c_type(p, axe_c_mask(d.type), d.lanes));
                break;
            case 'f':
                put_float(b, l->f, d.type);
                break;
            case 'i':
                axe_putf(b, "%" PRId64, l->i);
                break;
            case 'l':
                for (int k = 0; k < d.lanes; k++)
                    axe_putf(b, "%s%" PRId64, k ? ", " : "", k * l->i);
                break;
            case 'n':
                AXE_TRY(axe_c_index(p, b, l->value));
                break;
            default:
                axe_putf(b, "r%d", l->src[*s - 'a'].id);
            }
    }
    return AXE_OK;
}

/* a[i][j] <-> a[j][i] by log2(lanes) rounds of two-register shuffles. */
static void
put_transpose(axe_cprinter *p, const axe_lir *l, int depth)
{
    int         n = l->n_src;
    const char *v = axe_c_type(p, l->dst.type, n);

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

/* The helper that is the operation's atom on elements of type t. */
static axe_status
atom_call(axe_cprinter *p, const axe_lir *l, axe_type t, int lanes,
          const char **out)
{
    const char *name = l->atom->name;
    const char *f = axe_c_call(p, name, strlen(name), t, lanes);

    if (!f)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "C has no spelling for '%s' on %d lanes", name, lanes);
    *out = f;
    return AXE_OK;
}

/* What the operation's atom loads, as what lies there. */
static axe_status
load_by(axe_cprinter *p, const axe_lir *l, const char **out)
{
    axe_status      st;
    axe_buf         b = {.cx = p->cx};
    const char     *mem = memory(p, &l->mem, 1, &st), *f;
    const axe_node *arg[] = {l->begin, l->value};

    AXE_TRY(st);
    AXE_TRY(atom_call(p, l, l->mem.type, l->dst.lanes, &f));
    axe_putf(&b, "%s(&%s", f, mem);
    for (int i = 0; i < 2; i++) {
        if (!arg[i])
            continue;
        axe_puts(&b, ", ");
        AXE_TRY(axe_c_index(p, &b, arg[i]));
    }
    axe_putc(&b, ')');
    *out = b.text;
    return AXE_OK;
}

/* Stores to memory. */
static axe_status
put_store(axe_cprinter *p, const axe_lir *l)
{
    axe_status  st = AXE_OK;
    axe_buf    *b = p->out;
    axe_reg     a = l->src[0];
    int         lanes = l->op == AXE_LOP_store ? a.lanes : 1;
    const char *mem = memory(p, &l->mem, lanes, &st), *s = NULL, *value;

    AXE_TRY(st);
    if (l->op == AXE_LOP_stream) {
        axe_putf(b, "%s((void *)&%s, r%d, ",
                 axe_c_call(p, "stream", 6, a.type, a.lanes), mem, a.id);
        AXE_TRY(axe_c_index(p, b, l->value));
        axe_puts(b, ");\n");
        return AXE_OK;
    }
    if (l->op == AXE_LOP_storem)
        AXE_TRY(atom_call(p, l, l->mem.type, a.lanes, &s));
    value =
        narrow(p, axe_textf(p->cx, "r%d", a.id), a.type, l->mem.type, a.lanes);
    if (l->op == AXE_LOP_store) {
        axe_putf(b, "%s = %s;\n", mem, value);
        return AXE_OK;
    }
    axe_putf(b, "%s(&%s, %s, ", s, mem, value);
    AXE_TRY(axe_c_index(p, b, l->value));
    axe_puts(b, ");\n");
    return AXE_OK;
}

/* Operations that write no register. */
static axe_status
put_effect(axe_cprinter *p, const axe_lir *l)
{
    axe_status st = AXE_OK;
    axe_buf   *b = p->out;

    if (l->op == AXE_LOP_store || l->op == AXE_LOP_storem ||
        l->op == AXE_LOP_stream)
        return put_store(p, l);
    if (l->op == AXE_LOP_fence) {
        axe_putf(b, "%s();\n", axe_c_call(p, "fence", 5, AXE_TYPE_f32, 4));
        return AXE_OK;
    }
    if (l->op == AXE_LOP_barrier) {
        axe_puts(b, "if (workers > 1) "
                    "(*(void (**)(void *, i64))team)(team, worker);\n");
        return AXE_OK;
    }
    if (l->op == AXE_LOP_await) {
        axe_putf(b, "if (__atomic_load_n(&%s, __ATOMIC_ACQUIRE) < ",
                 memory(p, &l->mem, 1, &st));
        AXE_TRY(axe_c_index(p, b, l->value));
        axe_putf(b, ") goto later_%d;\n", p->list);
        return st;
    }
    if (l->op == AXE_LOP_done) {
        axe_putf(b, "__atomic_fetch_add(&%s, 1, __ATOMIC_RELEASE);\n",
                 memory(p, &l->mem, 1, &st));
        return st;
    }
    axe_putf(b, "__builtin_prefetch(&%s%s);\n", memory(p, &l->mem, 1, &st),
             l->i == 0   ? ""
             : l->i == 1 ? ", 0, 0"
                         : ", 0, 2");
    return st;
}

axe_status
axe_c_op(axe_cprinter *p, const axe_lir *l, int depth)
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
    if (axe_lop_table[l->op].dst == 'M')
        return put_effect(p, l);
    if (!p->declared[d.id])
        axe_putf(b, "%s ", axe_c_type(p, d.type, d.lanes));
    p->declared[d.id] = true;
    axe_putf(b, "r%d = ", d.id);
    if (l->op == AXE_LOP_dot) {
        AXE_TRY(atom_call(p, l, d.type, d.lanes, &s));
        axe_putf(b, "%s(r%d, r%d, r%d)", s, d.id, l->src[0].id, l->src[1].id);
    } else if (l->op == AXE_LOP_loadm || l->op == AXE_LOP_gather) {
        AXE_TRY(load_by(p, l, &s));
        axe_puts(b, widen(p, s, l->mem.type, d.type, d.lanes));
    } else if (l->op == AXE_LOP_load) {
        s = memory(p, &l->mem, d.lanes, &st);
        axe_puts(b, widen(p, s, l->mem.type, d.type, d.lanes));
    } else if (l->op == AXE_LOP_bits) {
        axe_puts(b, bits_of(p, l));
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
