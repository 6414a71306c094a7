/* name.c - helpers, types and variables of printed CUDA C. */
#include <inttypes.h>
#include <string.h>

#include "print/cuda/cuda_int.h"

static const struct {
    const char *name, *needs, *text;
} fns[] = {
#define FN(name, needs, text) {#name, needs, text},
#include "print/cuda/fn.def"
};

void
axe_cuda_need(cuda_printer *p, const char *name)
{
    if (!p->fn)
        p->fn = axe_new_array(p->cx, bool, AXE_LEN(fns));
    for (int i = 0; i < AXE_LEN(fns); i++)
        if (strcmp(fns[i].name, name) == 0 && !p->fn[i]) {
            p->fn[i] = true;
            if (*fns[i].needs)
                axe_cuda_need(p, fns[i].needs);
        }
}

_Static_assert(AXE_DESC_START_AT == 0, "descriptors begin with an address");

/* `$start` is where byte address a is in a descriptor. */
static void
put_helper(axe_buf *out, const char *text)
{
    const char *start = strstr(text, "$start");
    unsigned    most = (AXE_DESC_UNIT << AXE_DESC_START_BITS) - 1;
    int         shift = 0;

    while (1 << shift < AXE_DESC_UNIT)
        shift++;
    if (start)
        axe_putf(out, "%.*s(a & 0x%x) >> %d%s\n", (int)(start - text), text,
                 most, shift, start + strlen("$start"));
    else
        axe_putf(out, "%s\n", text);
}

void
axe_cuda_put_helpers(const cuda_printer *p, axe_buf *out)
{
    for (int i = 0; p->fn && i < AXE_LEN(fns); i++)
        if (p->fn[i])
            put_helper(out, fns[i].text);
}

/* ------------------------------------------------------------------- types */

bool
axe_cuda_is_narrow(axe_type t)
{
    return t == AXE_TYPE_f16 || t == AXE_TYPE_bf16 || t == AXE_TYPE_tf32 ||
           (axe_type_is_float(t) && axe_type_table[t].bits <= 8);
}

const char *
axe_cuda_value_type(axe_type t)
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
axe_cuda_element_type(axe_type t)
{
    int bits = axe_type_table[t].bits;

    if (t == AXE_TYPE_bool || (axe_cuda_is_narrow(t) && bits == 8))
        return "u8";
    if (axe_cuda_is_narrow(t))
        return bits == 32 ? "u32" : "u16";
    if (t == AXE_TYPE_f64 || t == AXE_TYPE_f32 || t == AXE_TYPE_i32)
        return axe_cuda_value_type(t);
    return axe_type_table[t].name;
}

const char *
axe_cuda_word_type(axe_type t)
{
    return axe_per_word(t) > 1 ? "u32" : axe_cuda_element_type(t);
}

/* --------------------------------------------------------------- variables */

static cuda_name *
find_name(const cuda_printer *p, const axe_var *v)
{
    for (int i = p->n_name - 1; i >= 0; i--)
        if (p->name[i].var == v)
            return &p->name[i];
    return NULL;
}

const char *
axe_cuda_name(const cuda_printer *p, const axe_var *v)
{
    const cuda_name *name = find_name(p, v);

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
axe_cuda_spell(axe_ctx *cx, const char *prefix, const axe_var *v)
{
    return spell(cx, prefix, v->name);
}

static cuda_tensor *
place_of(const cuda_printer *p, const void *key)
{
    size_t mask = (size_t)p->cap_tensor - 1;
    size_t at = (size_t)(uintptr_t)key / 16 * 0x9e3779b1u;

    while (p->tensor[at & mask].key && p->tensor[at & mask].key != key)
        at++;
    return &p->tensor[at & mask];
}

static cuda_tensor *
enter(cuda_printer *p, const void *key)
{
    cuda_printer more = *p;
    cuda_tensor *place;

    if (2 * (p->n_tensor + 1) > p->cap_tensor) {
        more.cap_tensor = p->cap_tensor ? 2 * p->cap_tensor : 64;
        more.tensor = axe_new_array(p->cx, cuda_tensor, more.cap_tensor);
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
enter_tensor(cuda_printer *p, const axe_tensor *t)
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
axe_cuda_tensor(cuda_printer *p, const axe_tensor *t)
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
is_taken(const cuda_printer *p, const char *text)
{
    uint32_t hash = hash_of(text);

    for (int i = 0; i < p->n_name; i++)
        if (p->name[i].hash == hash && strcmp(p->name[i].text, text) == 0)
            return true;
    return false;
}

const char *
axe_cuda_declare(cuda_printer *p, const axe_var *v)
{
    const char *base =
        spell(p->cx, v->kind == AXE_VAR_SIZE ? "s" : "v", v->name);
    const char *text = base;

    for (int i = 2; is_taken(p, text); i++)
        text = axe_textf(p->cx, "%s__%d", base, i);
    if (p->n_name == p->cap_name) {
        p->cap_name = p->cap_name ? 2 * p->cap_name : 32;
        cuda_name *more = axe_new_array(p->cx, cuda_name, p->cap_name);
        if (p->n_name > 0)
            memcpy(more, p->name, (size_t)p->n_name * sizeof *more);
        p->name = more;
    }
    p->name[p->n_name++] =
        (cuda_name){.var = v, .text = text, .hash = hash_of(text)};
    return text;
}

axe_status
axe_cuda_var(cuda_printer *p, axe_buf *b, const axe_node *n)
{
    const axe_var *v = n->u.var;
    cuda_name     *name = find_name(p, v);

    for (int i = 0; i < AXE_N_ID; i++)
        if (p->g->id[i] == v) {
            p->id[i] = true;
            axe_puts(b, axe_id_name((axe_id)i));
            return AXE_OK;
        }
    if (!name)
        return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                        "CUDA C: '%s' is not known here", v->name);
    name->used = true;
    axe_putf(b, v == p->later ? "(%s + 1)" : "%s", name->text);
    return AXE_OK;
}
