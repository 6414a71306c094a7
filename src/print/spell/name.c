/* name.c - helpers, types and variables of a dialect of C. */
#include <inttypes.h>
#include <string.h>

#include "print/spell/spell.h"

void
axe_spell_need(axe_speller *p, const char *name)
{
    if (!p->fn)
        p->fn = axe_new_array(p->cx, bool, p->d->n_fn);
    for (int i = 0; i < p->d->n_fn; i++)
        if (strcmp(p->d->fn[i].name, name) == 0 && !p->fn[i]) {
            p->fn[i] = true;
            if (*p->d->fn[i].needs)
                axe_spell_need(p, p->d->fn[i].needs);
        }
}

static void
put_helper(const axe_dialect *d, axe_buf *out, const char *text)
{
    if (d->put_helper)
        d->put_helper(out, text);
    else
        axe_putf(out, "%s\n", text);
}

void
axe_spell_put_helpers(const axe_speller *p, axe_buf *out)
{
    for (int i = 0; p->fn && i < p->d->n_fn; i++)
        if (p->fn[i])
            put_helper(p->d, out, p->d->fn[i].text);
}

/* ------------------------------------------------------------------- types */

bool
axe_spell_is_narrow(axe_type t)
{
    return t == AXE_TYPE_f16 || t == AXE_TYPE_bf16 || t == AXE_TYPE_tf32 ||
           (axe_type_is_float(t) && axe_type_table[t].bits <= 8);
}

const char *
axe_spell_value_type(axe_type t)
{
    if (t == AXE_TYPE_f64)
        return "double";
    if (axe_type_is_float(t))
        return "float";
    if (t == AXE_TYPE_bool)
        return "bool";
    if (axe_type_table[t].bits < 32 || t == AXE_TYPE_i32)
        return "int";
    return axe_type_table[t].name;
}

const char *
axe_spell_element_type(axe_type t)
{
    int bits = axe_type_table[t].bits;

    if (t == AXE_TYPE_bool || (axe_spell_is_narrow(t) && bits == 8))
        return "u8";
    if (axe_spell_is_narrow(t))
        return bits == 32 ? "u32" : "u16";
    if (t == AXE_TYPE_f64 || t == AXE_TYPE_f32 || t == AXE_TYPE_i32)
        return axe_spell_value_type(t);
    return axe_type_table[t].name;
}

const char *
axe_spell_word_type(axe_type t)
{
    return axe_per_word(t) > 1 ? "u32" : axe_spell_element_type(t);
}

const char *
axe_spell_int(const axe_speller *p, const axe_var *v)
{
    return axe_index_var_is_wide(p->ix, v) ? "i64" : "int";
}

/* --------------------------------------------------------------- variables */

static axe_spelled_var *
find_name(const axe_speller *p, const axe_var *v)
{
    for (int i = p->n_name - 1; i >= 0; i--)
        if (p->name[i].var == v)
            return &p->name[i];
    return NULL;
}

const char *
axe_spell_name(const axe_speller *p, const axe_var *v)
{
    const axe_spelled_var *name = find_name(p, v);

    return name ? name->text : v->name;
}

/* A dot becomes two underscores: NVRTC takes no `$`. */
static const char *
spell(axe_ctx *cx, const char *prefix, const char *name)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b, "%s_", prefix);
    for (const char *c = name; *c; c++)
        axe_puts(&b, *c == '.' ? "__" : (char[]){*c, '\0'});
    return b.text;
}

const char *
axe_spell_size_name(axe_ctx *cx, const char *prefix, const axe_var *v)
{
    return spell(cx, prefix, v->name);
}

static axe_spelled_tensor *
place_of(const axe_speller *p, const void *key)
{
    size_t mask = (size_t)p->cap_tensor - 1;
    size_t at = (size_t)(uintptr_t)key / 16 * 0x9e3779b1u;

    while (p->tensor[at & mask].key && p->tensor[at & mask].key != key)
        at++;
    return &p->tensor[at & mask];
}

static axe_spelled_tensor *
enter(axe_speller *p, const void *key)
{
    axe_speller         more = *p;
    axe_spelled_tensor *place;

    if (2 * (p->n_tensor + 1) > p->cap_tensor) {
        more.cap_tensor = p->cap_tensor ? 2 * p->cap_tensor : 64;
        more.tensor = axe_new_array(p->cx, axe_spelled_tensor, more.cap_tensor);
        for (int i = 0; i < p->cap_tensor; i++)
            if (p->tensor[i].key)
                *place_of(&more, p->tensor[i].key) = p->tensor[i];
        *p = more;
    }
    place = place_of(p, key);
    p->n_tensor += !place->key;
    place->key = key;
    return place;
}

/* Spells it; the n-th of its space with the name of several has the number n.
 */
static void
enter_tensor(axe_speller *p, const axe_tensor *t)
{
    static const char *const prefix[AXE_N_SPACE] = {
        [AXE_SPACE_GLOBAL] = "t",
        [AXE_SPACE_SHARED] = "b",
        [AXE_SPACE_REG] = "r",
    };
    const char *s = spell(p->cx, prefix[t->space], t->name);
    const char *name = axe_intern(p->cx, s, strlen(s));
    int         n = 0;

    if (t->space == AXE_SPACE_REG || t->space == AXE_SPACE_SHARED)
        n = ++enter(p, name)->n;
    enter(p, t)->text = n > 1 ? axe_textf(p->cx, "%s__%d", s, n) : s;
}

const char *
axe_spell_tensor(axe_speller *p, const axe_tensor *t)
{
    bool first = p->n_tensor == 0;

    for (int i = 0; first && i < p->g->n_array; i++)
        enter_tensor(p, p->g->array[i]);
    for (int i = 0; first && i < p->g->n_buffer; i++)
        enter_tensor(p, p->g->buffer[i].tensor);
    if (!enter(p, t)->text)
        enter_tensor(p, t);
    return enter(p, t)->text;
}

/* Fowler, Noll and Vo's FNV-1a. */
static uint32_t
hash_of(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static bool
is_taken(const axe_speller *p, const char *text)
{
    uint32_t hash = hash_of(text);

    for (int i = 0; i < p->n_name; i++)
        if (p->name[i].hash == hash && strcmp(p->name[i].text, text) == 0)
            return true;
    return false;
}

const char *
axe_spell_declare(axe_speller *p, const axe_var *v)
{
    const char *base =
        spell(p->cx, v->kind == AXE_VAR_SIZE ? "s" : "v", v->name);
    const char *text = base;

    for (int i = 2; is_taken(p, text); i++)
        text = axe_textf(p->cx, "%s__%d", base, i);
    if (p->n_name == p->cap_name) {
        p->cap_name = p->cap_name ? 2 * p->cap_name : 32;
        axe_spelled_var *more =
            axe_new_array(p->cx, axe_spelled_var, p->cap_name);
        if (p->n_name > 0)
            memcpy(more, p->name, (size_t)p->n_name * sizeof *more);
        p->name = more;
    }
    p->name[p->n_name++] =
        (axe_spelled_var){.var = v, .text = text, .hash = hash_of(text)};
    return text;
}

axe_status
axe_spell_var(axe_speller *p, axe_buf *b, const axe_node *n)
{
    const axe_var   *v = n->u.var;
    axe_spelled_var *name = find_name(p, v);

    for (int i = 0; i < AXE_N_ID; i++)
        if (p->g->id[i] == v) {
            p->id[i] = true;
            axe_puts(b, axe_id_name((axe_id)i));
            return AXE_OK;
        }
    if (!name)
        return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                        "%s: '%s' is not known here", p->d->name, v->name);
    name->used = true;
    axe_putf(b, v == p->later ? "(%s + 1)" : "%s", name->text);
    return AXE_OK;
}

/* --------------------------------------------------------------- registers */

axe_status
axe_spell_arrays(axe_speller *p, axe_buf *b)
{
    for (int i = 0; i < p->g->n_array; i++) {
        const axe_tensor *t = p->g->array[i];
        int64_t           n = 1, per = axe_per_word(t->type);
        if (t->rank > 0 && !axe_is_iconst(t->shape[0], &n))
            return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                            "%s: %s has no constant size", p->d->name, t->name);
        axe_putf(b, "    %s %s[%" PRId64 "];\n", axe_spell_word_type(t->type),
                 axe_spell_tensor(p, t), (n + per - 1) / per);
    }
    return AXE_OK;
}
