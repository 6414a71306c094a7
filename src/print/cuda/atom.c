/* atom.c - invocations of atoms, and a function for each that is used.
 *
 * A function's text is its row's asm_text with operands put in: `$0` becomes
 * the registers or the address of operand 0, and so on, see atoms.def.  Two
 * invocations with the same text share it; functions of one name differ in
 * their arguments, as C++ allows.  Numbers that must be constant, and whether
 * operands are major, are part of the name. */
#include <inttypes.h>
#include <string.h>

#include "print/cuda/cuda_int.h"

enum { MAX_WORD = 160, WIDTH = 79 };

static const char arg_name[] = "dabcefghij";

/* A function as it is being made. */
typedef struct maker {
    axe_speller   *p;
    const axe_lir *l;
    const char    *name;
    axe_buf        args;
    int            n_out, n_in, cap_in;
    const char   **out, **in;   /* "\"=r\"(d[0])" */
    int            at[MAX_ARG]; /* number of operand i in out or in */
    int            n_word[MAX_ARG];
    int            zero_at;   /* of what `$z` stands for */
    int            policy_at; /* of what `$k` does */
} maker;

/* ---------------------------------------------------------------- operands */

/* P, which rows that are no family have from the type. */
static int
param_of(const axe_lir *l)
{
    int p = l->param;

    for (int i = 0; i < l->n_arg && l->atom->step == 0; i++)
        if (l->arg[i].space == AXE_ARG_REG &&
            axe_atom_param(l->atom, l->arg[i].tensor->type, &p))
            break;
    return p;
}

/* Elements from the first to the last that operand i has in a thread. */
static axe_status
count_elements(maker *mk, int i, int64_t *out)
{
    axe_ctx          *cx = mk->p->cx;
    const axe_layout *l;
    const char       *roles;
    axe_axis          reg;
    int64_t           n = 1;

    *out = 1;
    if (mk->l->atom->kind == AXE_ATOM_SYNC)
        return AXE_OK;
    AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, axe_space_table[AXE_SPACE_REG].fast,
                          &reg));
    AXE_TRY(axe_atom_operand(cx, mk->l->atom, i, param_of(mk->l), &roles, &l));
    for (int k = 0; k < l->n_shard; k++)
        if (l->shard[k].axis == reg)
            n += (l->shard[k].extent - 1) * l->shard[k].stride;
    *out = n;
    return AXE_OK;
}

static char
constraint(axe_type t)
{
    if (t == AXE_TYPE_f64)
        return 'd';
    if (t == AXE_TYPE_f32)
        return 'f';
    return axe_type_table[t].bits == 64 ? 'l' : 'r';
}

/* Is operand i written? */
static bool
is_written(const axe_lir *l, int i)
{
    return i == 0 && l->atom->kind != AXE_ATOM_STORE;
}

static axe_status
add_registers(maker *mk, int i)
{
    axe_type    t = mk->l->arg[i].tensor->type;
    int         per = axe_per_word(t);
    bool        w = is_written(mk->l, i);
    const char *how = !w                                       ? ""
                      : mk->l->atom->kind == AXE_ATOM_CONTRACT ? "+"
                                                               : "=";
    int64_t     n;

    AXE_TRY(count_elements(mk, i, &n));
    n = (n + per - 1) / per;
    if (n > MAX_WORD)
        return axe_fail(mk->p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "CUDA C: %s has %" PRId64 " registers, more than %d",
                        mk->l->atom->name, n, MAX_WORD);
    axe_putf(&mk->args, "%s%s%s *%c", mk->args.len ? ", " : "",
             w ? "" : "const ", axe_spell_word_type(t), arg_name[i]);
    mk->n_word[i] = (int)n;
    mk->at[i] = w ? mk->n_out : mk->n_in;
    for (int k = 0; k < n; k++) {
        const char *s = axe_textf(mk->p->cx, "\"%s%c\"(%c[%d])", how,
                                  constraint(t), arg_name[i], k);
        if (w)
            mk->out[mk->n_out++] = s;
        else
            mk->in[mk->n_in++] = s;
    }
    return AXE_OK;
}

static void
add_input(maker *mk, const char *type, char name, char how)
{
    axe_putf(&mk->args, "%s%s%c", mk->args.len ? ", " : "", type, name);
    mk->in[mk->n_in++] = axe_textf(mk->p->cx, "\"%c\"(%c)", how, name);
}

/* Does the text hold `$n2` or the like? */
static bool
asks(const axe_lir *l, char how, int i)
{
    const char *s = l->atom->asm_text;

    while ((s = strchr(s, '$')))
        if (*++s == how && s[1] == '0' + i)
            return true;
    return false;
}

static bool
takes_zero(const axe_atom *a)
{
    return strstr(a->asm_text, "$z") != NULL;
}

static axe_status
add_operand(maker *mk, int i, char *next)
{
    const axe_arg *a = &mk->l->arg[i];
    bool w = is_written(mk->l, i) || mk->l->atom->kind == AXE_ATOM_STORE;

    mk->at[i] = mk->n_in;
    if (axe_cuda_in_name(mk->l, i))
        return AXE_OK;
    switch (a->space) {
    case AXE_ARG_REG:
        return add_registers(mk, i);
    case AXE_ARG_GLOBAL:
        add_input(mk, w && i == 0 ? "void *" : "const void *", arg_name[i],
                  'l');
        break;
    case AXE_ARG_SHARED:
    case AXE_ARG_DSMEM:
        if (i < 3 && axe_atom_by_descriptor(mk->l->atom, i))
            add_input(mk, "u64 ", arg_name[i], 'l');
        else
            add_input(mk, "u32 ", arg_name[i], 'r');
        if (axe_atom_names(mk->l->atom, i, 'c'))
            add_input(mk, "int ", (*next)++, 'r');
        break;
    case AXE_ARG_TMEM:
        add_input(mk, "u32 ", arg_name[i], 'r');
        if (axe_atom_names(mk->l->atom, i, 'b'))
            add_input(mk, "int ", (*next)++, 'r');
        break;
    case AXE_ARG_MAP:
        add_input(mk, "const tensor_map *", arg_name[i], 'l');
        for (int k = 0; k < a->n_at; k++)
            add_input(mk, "int ", (*next)++, 'r');
        break;
    case AXE_ARG_INT:
        if (asks(mk->l, 'h', i))
            add_input(mk, "u16 ", arg_name[i], 'h');
        else if (asks(mk->l, 'q', i))
            add_input(mk, "i64 ", arg_name[i], 'l');
        else
            add_input(mk, "int ", arg_name[i], 'r');
        break;
    case AXE_ARG_NONE:
        break;
    }
    return AXE_OK;
}

/* ---------------------------------------------------------------- the text */

/* "{%0, %1}", with braces unless the row has them. */
static void
put_words(const maker *mk, axe_buf *b, int i, bool braced)
{
    int  first = mk->at[i] + (is_written(mk->l, i) ? 0 : mk->n_out);
    bool own = mk->n_word[i] > 1 && !braced;

    axe_puts(b, own ? "{" : "");
    for (int k = 0; k < mk->n_word[i]; k++)
        axe_putf(b, "%s%%%d", k ? ", " : "", first + k);
    axe_puts(b, own ? "}" : "");
}

/* The type of registers moved together: ".v4.b32". */
static void
put_vector(const maker *mk, axe_buf *b)
{
    int      i = mk->l->arg[0].space == AXE_ARG_REG ? 0 : 1;
    axe_type t = mk->l->arg[i].tensor->type;
    int      bits = axe_type_table[t].bits < 64 ? 32 : 64;

    if (mk->n_word[i] > 1)
        axe_putf(b, ".v%d.b%d", mk->n_word[i], bits);
    else
        axe_putf(b, ".b%d",
                 8 * mk->l->atom->align < bits ? 8 * mk->l->atom->align : bits);
}

static int64_t
bytes_moved(const axe_lir *l)
{
    return (int64_t)l->param * axe_type_table[l->arg[0].tensor->type].bits / 8;
}

/* `$0`, `$1.x` and the like; s is behind the digit. */
static const char *
put_operand(const maker *mk, axe_buf *b, int i, const char *s, bool braced)
{
    const axe_arg *a = &mk->l->arg[i];
    int            in = mk->n_out + mk->at[i];
    bool           dot = s[0] == '.';

    if (dot && s[1] >= '0' && s[1] <= '9') {
        axe_putf(b, "%%%d",
                 mk->at[i] + (is_written(mk->l, i) ? 0 : mk->n_out) + s[1] -
                     '0');
        return s + 2;
    }
    if (dot && s[1] == 't') {
        axe_putf(b, "%d", a->major);
        return s + 2;
    }
    if (dot && s[1] == 'w') {
        axe_putf(b, "%%%d", in);
        return s + 2;
    }
    if (dot && s[1] == 'b') {
        axe_putf(b, "%%%d", in + 1);
        return s + 2;
    }
    if (dot && s[1] == 'c') {
        axe_putf(b, "%%%d", in + 1);
        return s + 2;
    }
    if (dot && s[1] == 'x') {
        for (int k = 0; k < a->n_at; k++)
            axe_putf(b, "%s%%%d", k ? ", " : "{", in + 1 + k);
        axe_putc(b, '}');
        return s + 2;
    }
    if (a->space == AXE_ARG_REG)
        put_words(mk, b, i, braced);
    else
        axe_putf(b, "%%%d", in);
    return s;
}

static axe_status
put_text(const maker *mk, axe_buf *b)
{
    const axe_lir *l = mk->l;
    bool           hint = l->hint != AXE_HINT_NONE;

    for (const char *s = l->atom->asm_text; *s;) {
        if (*s != '$') {
            axe_putc(b, *s++);
            continue;
        }
        bool braced = s > l->atom->asm_text && s[-1] == '{';
        char c = *++s;
        if (c == 'P')
            axe_putf(b, "%d", l->param);
        else if (c == 'B')
            axe_putf(b, "%" PRId64, bytes_moved(l));
        else if (c == 'v')
            put_vector(mk, b);
        else if (c == 'l' && hint)
            axe_puts(b, ".L2::cache_hint");
        else if (c == 'k' && hint)
            axe_putf(b, ", %%%d", mk->n_out + mk->policy_at);
        else if (c == 'z' && l->pred)
            axe_putf(b, "%%%d", mk->n_out + mk->zero_at);
        else if (c == 'z')
            axe_putf(b, "%d", l->atom->align);
        s++;
        if (c == 'n')
            axe_putf(b, "%" PRId64, l->arg[*s++ - '0'].at->u.i);
        else if (c == 'h' || c == 'q')
            s = put_operand(mk, b, *s - '0', s + 1, braced);
        else if (c >= '0' && c <= '9')
            s = put_operand(mk, b, c - '0', s, braced);
    }
    return AXE_OK;
}

void
axe_cuda_list(axe_buf *b, int n, const char *const *item, int indent)
{
    int column = indent;

    for (int i = 0; i < n; i++) {
        int len = (int)strlen(item[i]) + 1;
        if (i > 0 && column + 1 + len > WIDTH) {
            axe_putf(b, ",\n%*s", indent, "");
            column = indent;
        } else if (i > 0)
            axe_puts(b, ", ");
        axe_puts(b, item[i]);
        column += len + (i > 0);
    }
}

/* The asm's text as strings that fit in lines. */
static void
put_strings(axe_buf *b, const char *text, int indent)
{
    axe_putc(b, '"');
    while (*text) {
        int n = (int)strlen(text), room = WIDTH - indent - 2;
        if (n > room) {
            for (n = room; n > 0 && text[n - 1] != ' '; n--)
                ;
            if (n == 0)
                n = (int)strcspn(text, " ") + (strchr(text, ' ') != NULL);
        }
        axe_putf(b, "%.*s", n, text);
        text += n;
        if (*text)
            axe_putf(b, "\"\n%*s\"", indent, "");
    }
    axe_putc(b, '"');
}

/* ------------------------------------------------------------ the function */

static const char *
function_name(axe_speller *p, const axe_lir *l)
{
    axe_buf b = {.cx = p->cx};
    bool    major = false;

    for (const char *s = l->atom->name; *s; s++)
        axe_putc(&b, *s == '.' ? '_' : *s);
    if (strstr(l->atom->asm_text, "$B"))
        axe_putf(&b, "_%" PRId64, bytes_moved(l));
    else if (l->atom->step > 0)
        axe_putf(&b, "_%d", l->param);
    for (int i = 0; i < l->n_arg; i++) {
        if (asks(l, 'n', i))
            axe_putf(&b, "_%" PRId64, l->arg[i].at->u.i);
        major = major || l->arg[i].major;
    }
    if (l->hint != AXE_HINT_NONE)
        axe_putf(&b, "_%s", axe_hint_name(l->hint));
    if (major)
        axe_putf(&b, "_%c%c", l->arg[1].major ? 'm' : 'k',
                 l->arg[2].major ? 'n' : 'k');
    return b.text;
}

/* Does it do something that its registers do not show? */
static const char *
effect(const axe_atom *a, bool *memory)
{
    *memory = a->space[0] == AXE_ARG_TMEM ||
              (a->kind != AXE_ATOM_CONTRACT && a->kind != AXE_ATOM_PERMUTE);
    return a->kind == AXE_ATOM_CONTRACT && *a->group == '\0' ? "" : " volatile";
}

static void
put_section(axe_buf *b, int n, const char *const *item, int indent)
{
    axe_putf(b, "\n%*s:%s", indent, "", n > 0 ? " " : "");
    axe_cuda_list(b, n, item, indent + 2);
}

static axe_status
put_asm(maker *mk, axe_buf *b, int indent)
{
    bool        memory;
    const char *how = effect(mk->l->atom, &memory);
    axe_buf     text = {.cx = mk->p->cx};
    int         in = indent + 4 + (int)strlen(how);

    axe_putf(b, "%*sasm%s(", indent, "", how);
    AXE_TRY(put_text(mk, &text));
    put_strings(b, text.text, in);
    if (mk->n_out + mk->n_in == 0) {
        axe_puts(b, memory ? " ::: \"memory\");\n" : "::);\n");
        return AXE_OK;
    }
    put_section(b, mk->n_out, mk->out, in);
    if (mk->n_in > 0 || memory)
        put_section(b, mk->n_in, mk->in, in);
    if (memory)
        put_section(b, 1, (const char *[]){"\"memory\""}, in);
    axe_puts(b, ");\n");
    return AXE_OK;
}

/* What would be loaded is zero where p is false. */
static void
put_zeros(const maker *mk, axe_buf *b)
{
    for (int k = 0; k < mk->n_word[0]; k++)
        axe_putf(b, "%sd[%d] = 0;%s", k % 8 ? " " : "    ", k,
                 k % 8 == 7 || k == mk->n_word[0] - 1 ? "\n" : "");
    axe_puts(b, "    if (p)\n");
}

static void
note(axe_speller *p, const char *text)
{
    for (int i = 0; i < p->n_atom; i++)
        if (strcmp(p->atom[i], text) == 0)
            return;
    if (p->n_atom == p->cap_atom) {
        p->cap_atom = p->cap_atom ? 2 * p->cap_atom : 16;
        const char **more = axe_new_array(p->cx, const char *, p->cap_atom);
        if (p->n_atom > 0)
            memcpy(more, p->atom, (size_t)p->n_atom * sizeof *more);
        p->atom = more;
    }
    p->atom[p->n_atom++] = text;
}

/* A hint is a policy in a register, made by a function of its own, which nvcc
 * moves out of loops. */
static void
add_policy(maker *mk, axe_buf *b)
{
    const char *name = axe_hint_name(mk->l->hint);

    note(mk->p, axe_textf(mk->p->cx,
                          "__device__ __forceinline__ u64\npolicy_%s()\n{\n"
                          "    u64 d;\n    asm(\"createpolicy.fractional.L2::"
                          "%s.b64 %%0, 1.0;\" : \"=l\"(d));\n    return "
                          "d;\n}\n",
                          name, name));
    mk->policy_at = mk->n_in;
    mk->in[mk->n_in++] = "\"l\"(policy)";
    axe_putf(b, "    const u64 policy = policy_%s();\n", name);
}

static axe_status
make(maker *mk, const char **out)
{
    const axe_lir *l = mk->l;
    axe_ctx       *cx = mk->p->cx;
    axe_buf        b = {.cx = cx};
    char           next = 'x';
    bool           load = l->atom->kind == AXE_ATOM_LOAD && l->pred;

    mk->args.cx = cx;
    mk->out = axe_new_array(cx, const char *, MAX_WORD);
    mk->in = axe_new_array(cx, const char *, 3 * MAX_WORD);
    for (int i = 0; i < l->n_arg; i++) {
        if (l->arg[i].space == AXE_ARG_MAP)
            next = 'u';
        AXE_TRY(add_operand(mk, i, &next));
    }
    if (l->pred && (load || takes_zero(l->atom)))
        axe_putf(&mk->args, ", bool p");
    if (l->pred && takes_zero(l->atom)) {
        mk->zero_at = mk->n_in;
        mk->in[mk->n_in++] = axe_textf(cx, "\"r\"(p ? %d : 0)", l->atom->align);
    }
    axe_putf(&b, "__device__ __forceinline__ void\n%s(%s)\n{\n", mk->name,
             mk->args.len ? mk->args.text : "");
    if (l->hint != AXE_HINT_NONE)
        add_policy(mk, &b);
    if (load)
        put_zeros(mk, &b);
    AXE_TRY(put_asm(mk, &b, load ? 8 : 4));
    axe_puts(&b, "}\n");
    *out = b.text;
    return AXE_OK;
}

axe_status
axe_cuda_asm(axe_ctx *cx, const axe_lir *l, int *at, const char **text)
{
    axe_speller p = {.cx = cx};
    maker       mk = {.p = &p, .l = l, .args = {.cx = cx}};
    axe_buf     b = {.cx = cx};
    char        next = 'x';

    mk.out = axe_new_array(cx, const char *, MAX_WORD);
    mk.in = axe_new_array(cx, const char *, 3 * MAX_WORD);
    for (int i = 0; i < l->n_arg; i++)
        AXE_TRY(add_operand(&mk, i, &next));
    for (int i = 0; i < l->n_arg; i++)
        at[i] = mk.n_out + mk.at[i];
    AXE_TRY(put_text(&mk, &b));
    *text = b.text;
    return AXE_OK;
}

bool
axe_cuda_in_name(const axe_lir *l, int i)
{
    return asks(l, 'n', i);
}

/* May an operand be there, where the row says `want`?  A CTA's shared memory is
 * its cluster's, too. */
static bool
may_be(axe_arg_space want, axe_arg_space got)
{
    return want == AXE_ARG_NONE || want == got ||
           (want == AXE_ARG_DSMEM && got == AXE_ARG_SHARED);
}

/* Does it load an argument that is one number?  That lies where the kernel's
 * arguments are, not in global memory. */
static bool
of_argument(const axe_lir *l)
{
    return l->atom->kind == AXE_ATOM_LOAD && l->n_arg == 2 &&
           l->arg[1].tensor && axe_is_scalar(l->arg[1].tensor);
}

axe_status
axe_cuda_function(axe_speller *p, const axe_lir *l, const char **name)
{
    maker       mk = {.p = p, .l = l};
    const char *text;
    int64_t     v;

    if (of_argument(l)) {
        *name = "take_argument";
        axe_spell_need(p, *name);
        return AXE_OK;
    }
    if (l->n_arg > MAX_ARG || !l->atom->asm_text || !*l->atom->asm_text)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "CUDA C has no spelling for the atom %s on %d operands",
                        l->atom->name, l->n_arg);
    for (int i = 0; i < l->n_arg && i < AXE_LEN(l->atom->space); i++)
        if (!may_be(l->atom->space[i], l->arg[i].space))
            return axe_fail(p->cx, l->from ? l->from->at : AXE_NOWHERE,
                            AXE_EUNSUPPORTED,
                            "operand %d of the atom %s is not where its row "
                            "says",
                            i, l->atom->name);
    for (int i = 0; i < l->n_arg; i++)
        if (asks(l, 'n', i) && !axe_is_iconst(l->arg[i].at, &v))
            return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "operand %d of %s must be constant", i,
                            l->atom->name);
    mk.name = function_name(p, l);
    AXE_TRY(make(&mk, &text));
    note(p, text);
    *name = mk.name;
    return AXE_OK;
}
