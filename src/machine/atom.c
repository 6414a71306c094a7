/* atom.c - what the texts in an atom's row mean. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "axe/machine.h"
#include "machine/machine.h"
#include "machine/memo.h"

axe_arg_space
axe_space_operand(axe_space s)
{
    static const axe_arg_space operand[AXE_N_SPACE] = {
#define SPACE(id, word, slow, fast, pitch, operand, owner, room)               \
    AXE_ARG_##operand,
#include "ir/spaces.def"
    };

    return operand[s];
}

/* What stands for the letters of a layout's text. */
typedef struct letters {
    int64_t p, g; /* V and P; G */
} letters;

/* A number or a letter at *text, which is moved on. */
static bool
read_factor(const char **text, const letters *v, int64_t *out)
{
    const char *t = *text;

    if (*t == 'V' || *t == 'P' || *t == 'G') {
        *out = *t == 'G' ? v->g : v->p;
        *text = t + 1;
        return true;
    }
    for (*out = 0; *t >= '0' && *t <= '9' && *out < INT32_MAX; t++)
        *out = 10 * *out + (*t - '0');
    if (t == *text)
        return false;
    *text = t;
    return true;
}

/* Products and quotients, from left to right.  false where there is none at
 * *text, and where one is not a whole number. */
static bool
read_term(const char **text, const letters *v, int64_t *out, bool *whole)
{
    int64_t x, y;

    if (!read_factor(text, v, &x))
        return false;
    while (**text == '*' || **text == '/') {
        bool times = *(*text)++ == '*';
        if (!read_factor(text, v, &y) || (!times && (y == 0 || x % y != 0)) ||
            (times && !axe_mul(x, y, &x))) {
            *whole = false;
            return true;
        }
        if (!times)
            x /= y;
    }
    *out = x;
    return true;
}

/* Is what follows c, in a name or behind '@', still of an axis' name? */
static bool
goes_on(bool name, char c)
{
    return c == '@' || (name && (c == '_' || (c >= 'a' && c <= 'z') ||
                                 (c >= 'A' && c <= 'Z')));
}

/* The text with numbers for its terms; false if one is not whole.  Names of
 * axes are copied. */
static bool
substitute(axe_buf *b, const char *text, const letters *v)
{
    bool    whole = true, name = false;
    int64_t x;

    while (*text) {
        if (!name && read_term(&text, v, &x, &whole)) {
            if (!whole)
                return false;
            axe_putf(b, "%" PRId64, x);
        } else {
            axe_putc(b, *text);
            name = goes_on(name, *text++);
        }
    }
    return true;
}

static bool
has_param(const char *text)
{
    const char *t = strchr(text, ']');
    bool        name = false;

    for (; t && *t; t++) {
        if (*t == 'P' && !name)
            return true;
        name = goes_on(name, *t);
    }
    return false;
}

static bool
is_whole(const char *text, int param)
{
    const char *t = strchr(text, ']');
    letters     v = {param, 1};
    bool        whole = true, name = false;
    int64_t     x;

    for (t = t ? t : ""; *t && whole;)
        if (name || !read_term(&t, &v, &x, &whole))
            name = goes_on(name, *t++);
    return whole;
}

bool
axe_atom_param(const axe_atom *atom, axe_type type, int *param)
{
    int bits = axe_type_table[type].bits, p;

    if (atom->step > 0)
        return false;
    if (!has_param(atom->d) && !has_param(atom->a) && atom->hi == 0) {
        if (atom->kind == AXE_ATOM_PERMUTE && 8 * atom->align != bits)
            return false;
        *param = 1;
        return true;
    }
    p = 8 * atom->align / bits;
    if (p < 1 || p * bits != 8 * atom->align ||
        (atom->hi > 0 && atom->hi != p) || !is_whole(atom->d, p) ||
        !is_whole(atom->a, p))
        return false;
    *param = p;
    return true;
}

double
axe_atom_cycles(const axe_atom *atom, int param)
{
    bool each = atom->kind == AXE_ATOM_CONTRACT && atom->step > 0;

    return atom->cost * (each ? param : 1);
}

bool
axe_atom_takes(const axe_atom *atom, int param)
{
    return atom->step > 0 && param >= atom->lo && param <= atom->hi &&
           (param - atom->lo) % atom->step == 0 && is_whole(atom->d, param) &&
           is_whole(atom->a, param) && is_whole(atom->b, param);
}

axe_status
axe_atom_layout(axe_ctx *cx, const char *operand, int lanes, int group,
                const char **roles, const axe_layout **out)
{
    const char *close = strchr(operand, ']');
    size_t      n = close ? (size_t)(close - operand) - 1 : 0;
    const char *text = close ? close + 1 : "";
    letters     v = {lanes, group};
    axe_buf     b = {.cx = cx};

    if (axe_memo_find(cx, operand, lanes, group, roles, out))
        return AXE_OK;
    if (!substitute(&b, text, &v))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "there is no %s with P = %d", text, lanes);
    *roles = axe_textf(cx, "%.*s", (int)n, operand + 1);
    AXE_TRY(axe_layout_read(cx, b.text ? b.text : "", out));
    axe_memo_keep(cx, operand, lanes, group, roles, out);
    return AXE_OK;
}

/* Bits of an element of the operand. */
static int
element_bits(const axe_atom *atom, int which, int param)
{
    axe_type t = which < 3 ? atom->type[which] : atom->scale_type;

    if (t < AXE_N_TYPE)
        return axe_type_table[t].bits;
    return atom->align > 0 && param > 0 ? 8 * atom->align / param : 32;
}

/* Is the text over one of the space's two axes? */
static bool
is_over(const char *text, const axe_space_row *s)
{
    char slow[32], fast[32];

    if (!s->slow)
        return false;
    snprintf(slow, sizeof slow, "@%s", s->slow);
    snprintf(fast, sizeof fast, "@%s", s->fast);
    return strstr(text, slow) || strstr(text, fast);
}

/* How the operand's memory is addressed, if by two axes, one of which the text
 * is over; else NULL. */
static const axe_space_row *
two_axes(const axe_atom *atom, int which, const char *text)
{
    axe_arg_space in = which < 3 ? atom->space[which] : AXE_ARG_TMEM;

    for (int i = 0; i < AXE_N_SPACE; i++) {
        if (axe_space_operand((axe_space)i) != in)
            continue;
        if (is_over(text, &axe_space_table[i]))
            return &axe_space_table[i];
        if (is_over(text, &axe_space_parts[i]))
            return &axe_space_parts[i];
    }
    return NULL;
}

/* The two axes of a space as m, in elements of so many bits. */
static axe_status
flatten(axe_ctx *cx, const axe_layout *l, const axe_space_row *s, int bits,
        const axe_layout **out)
{
    axe_layout  flat = *l;
    int         n = l->n_shard + l->n_replica;
    axe_iter   *it = axe_new_array(cx, axe_iter, n);
    axe_offset *off = axe_new_array(cx, axe_offset, l->n_offset);
    axe_axis    slow, fast;

    AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, s->slow, &slow));
    AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, s->fast, &fast));
    for (int i = 0; i < n; i++) {
        it[i] = i < l->n_shard ? l->shard[i] : l->replica[i - l->n_shard];
        if (it[i].axis == slow)
            it[i].stride *= s->pitch / bits;
        if (it[i].axis == slow || it[i].axis == fast)
            it[i].axis = AXE_AXIS_M;
    }
    for (int i = 0; i < l->n_offset; i++) {
        off[i] = l->offset[i];
        if (off[i].axis == slow)
            off[i].value *= s->pitch / bits;
        if (off[i].axis == slow || off[i].axis == fast)
            off[i].axis = AXE_AXIS_M;
    }
    flat.shard = it;
    flat.replica = it + l->n_shard;
    flat.offset = off;
    return axe_layout_make(cx, &flat, out);
}

axe_status
axe_atom_operand(axe_ctx *cx, const axe_atom *atom, int which, int param,
                 const char **roles, const axe_layout **out)
{
    const char          *text = which == 0   ? atom->d
                                : which == 1 ? atom->a
                                : which == 2 ? atom->b
                                             : atom->scale[which - 4];
    const axe_space_row *s = two_axes(atom, which, text);
    const axe_layout    *l;

    AXE_TRY(axe_atom_layout(cx, text, param, 1, roles, &l));
    if (s)
        return flatten(cx, l, s, element_bits(atom, which, param), out);
    *out = l;
    return AXE_OK;
}

bool
axe_atom_by_descriptor(const axe_atom *atom, int which)
{
    return atom->space[which] == AXE_ARG_SHARED &&
           (atom->kind == AXE_ATOM_CONTRACT ||
            (atom->kind == AXE_ATOM_COPY && atom->space[0] == AXE_ARG_TMEM));
}

/* The extent of the role in an operand of the atom; 0: it has no such role. */
static int64_t
role_extent(axe_ctx *cx, const axe_atom *atom, int which, char role)
{
    const axe_layout *l;
    const char       *roles;
    int64_t           n = 1;

    if (axe_atom_operand(cx, atom, which, atom->lo, &roles, &l) != AXE_OK)
        return 0;
    for (int d = 0; d < l->n_dim; d++) {
        roles += strspn(roles, ", ");
        if (*roles == role) {
            for (int i = d > 0 ? l->dim_end[d - 1] : 0; i < l->dim_end[d]; i++)
                n *= l->shard[i].extent;
            return n;
        }
        roles += strcspn(roles, ",");
    }
    return 0;
}

int64_t
axe_atom_block(axe_ctx *cx, const axe_atom *atom)
{
    axe_mark m = axe_ctx_mark(cx);
    int64_t  k, s;

    if (!atom->scale[0])
        return 0;
    k = role_extent(cx, atom, 1, 'k');
    s = role_extent(cx, atom, 4, 's');
    axe_ctx_release(cx, m);
    return s > 0 ? k / s : 0;
}

int
axe_atom_group(axe_ctx *cx, const axe_atom *atom)
{
    const axe_layout *l;
    const char       *roles;
    axe_mark          m = axe_ctx_mark(cx);
    int64_t           group = 1;

    if (atom->kind == AXE_ATOM_CONTRACT &&
        axe_atom_layout(cx, atom->b, 2, 1, &roles, &l) == AXE_OK)
        for (int d = 0; d < l->n_dim && roles[0]; d++) {
            roles += strspn(roles, ", ");
            if (roles[0] == 'k' && l->dim_end[d] > 0)
                group = l->shard[l->dim_end[d] - 1].extent;
            roles += strcspn(roles, ",");
        }
    axe_ctx_release(cx, m);
    return (int)group;
}

const char *
axe_hint_name(axe_hint h)
{
    static const char *const name[AXE_N_HINT] = {"", "evict_first",
                                                 "evict_last"};

    return name[h];
}

bool
axe_atom_zeros(const axe_atom *a)
{
    return a->kind == AXE_ATOM_LOAD ||
           (a->asm_text && strstr(a->asm_text, "$z"));
}

bool
axe_atom_names(const axe_atom *a, int i, char part)
{
    char s[] = {'$', (char)('0' + i), '.', part, '\0'};

    return a->asm_text && strstr(a->asm_text, s);
}

bool
axe_atom_takes_hint(const axe_atom *a)
{
    return a->asm_text && strstr(a->asm_text, "$l");
}
