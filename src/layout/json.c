/* json.c - layouts, shapes and iters as JSON.
 *
 * A value that has not the form asked for is refused with its column and what
 * was found instead; numbers are exact int64 or refused. */
#include <inttypes.h>
#include <string.h>

#include "layout/json.h"
#include "layout/layout_int.h"

enum { MAX_FACTOR = 16 }; /* run-time sizes in one unit */

static axe_status
wrong(axe_ctx *cx, const axe_json *v, const char *what, const char *wanted)
{
    if (!v)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s is missing: expected %s",
                        what, wanted);
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "column %zu: %s must be %s, not %s", v->col, what, wanted,
                    axe_json_kind_text(v));
}

static bool
is(const axe_json *v, axe_json_kind kind)
{
    return v && v->kind == kind;
}

/* Every key of the object is one of names, or an error. */
static axe_status
check_keys(axe_ctx *cx, const axe_json *v, const char *what, int n,
           const char *const *names)
{
    for (const axe_json *c = v->child; c; c = c->next) {
        bool known = false;

        for (int i = 0; i < n && !known; i++)
            known = strcmp(c->key, names[i]) == 0;
        if (!known)
            return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                            "column %zu: %s has no key \"%s\"", c->col, what,
                            c->key);
    }
    return AXE_OK;
}

axe_status
axe_json_to_int(axe_ctx *cx, const axe_json *v, const char *what, int64_t *out)
{
    if (!is(v, AXE_JSON_INT))
        return wrong(cx, v, what, "a 64-bit integer");
    *out = v->integer;
    return AXE_OK;
}

static axe_status
to_small(axe_ctx *cx, const axe_json *v, const char *what, int *out)
{
    int64_t x;

    AXE_TRY(axe_json_to_int(cx, v, what, &x));
    if (x < INT32_MIN || x > INT32_MAX)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "column %zu: %s is %" PRId64 ", far too large", v->col,
                        what, x);
    *out = (int)x;
    return AXE_OK;
}

/* A name: a text without NULs. */
static axe_status
to_name(axe_ctx *cx, const axe_json *v, const char *what, const char **out)
{
    if (!is(v, AXE_JSON_TEXT) || strlen(v->text) != v->len)
        return wrong(cx, v, what, "a name");
    *out = v->text;
    return AXE_OK;
}

axe_status
axe_json_to_axis(axe_ctx *cx, const axe_json *v, const char *what,
                 axe_axis *out)
{
    const char *name;

    AXE_TRY(to_name(cx, v, what, &name));
    return axe_axis_find(cx, AXE_NOWHERE, name, out);
}

/* "K*M"; nothing is 1. */
static axe_status
to_unit(axe_ctx *cx, const axe_json *v, const char *what, axe_unit *out)
{
    const char *s = "";
    axe_unit    u = AXE_UNIT_ONE;

    if (v)
        AXE_TRY(to_name(cx, v, what, &s));
    while (*s) {
        size_t n = strcspn(s, "*");

        if (!axe_is_name(s, n) || (s[n] == '*' && !s[n + 1]))
            return axe_fail(cx, AXE_NOWHERE, AXE_ESYNTAX,
                            "column %zu: '%s' is not a product of sizes",
                            v->col, v->text);
        u = axe_unit_mul(cx, u,
                         axe_unit_symbol(cx, axe_textf(cx, "%.*s", (int)n, s)));
        if (axe_unit_n_factor(cx, u) > MAX_FACTOR)
            return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                            "column %zu: a product of more than %d sizes",
                            v->col, MAX_FACTOR);
        s += n + (s[n] == '*');
    }
    *out = u;
    return AXE_OK;
}

axe_status
axe_json_to_iter(axe_ctx *cx, const axe_json *v, const char *what,
                 axe_iter *out)
{
    axe_iter        it;
    const axe_json *c;

    if (!is(v, AXE_JSON_LIST) || v->n_child < 3 || v->n_child > 4)
        return wrong(cx, v, what, "[extent, stride, \"axis\"]");
    c = v->child;
    AXE_TRY(axe_json_to_int(cx, c, "an extent", &it.extent));
    c = c->next;
    AXE_TRY(axe_json_to_int(cx, c, "a stride", &it.stride));
    c = c->next;
    AXE_TRY(axe_json_to_axis(cx, c, "an axis", &it.axis));
    AXE_TRY(to_unit(cx, c->next, "a unit", &it.unit));
    *out = it;
    return AXE_OK;
}

static axe_status
to_iters(axe_ctx *cx, const axe_json *v, const char *what, int *n,
         const axe_iter **out)
{
    axe_iter *it;
    int       k = 0;

    if (!is(v, AXE_JSON_LIST))
        return wrong(cx, v, what, "a list of iters");
    it = axe_new_array(cx, axe_iter, v->n_child);
    for (const axe_json *c = v->child; c; c = c->next)
        AXE_TRY(axe_json_to_iter(cx, c, "an iter", &it[k++]));
    *n = k;
    *out = it;
    return AXE_OK;
}

/* One term of an offset: k, or [k, "unit"]. */
static axe_status
to_offset(axe_ctx *cx, const axe_json *v, axe_axis axis, axe_offset *out)
{
    axe_offset o = {.axis = axis, .unit = AXE_UNIT_ONE};

    if (is(v, AXE_JSON_LIST) && v->n_child == 2) {
        AXE_TRY(to_unit(cx, v->child->next, "a unit", &o.unit));
        v = v->child;
    }
    AXE_TRY(axe_json_to_int(cx, v, "an offset", &o.value));
    *out = o;
    return AXE_OK;
}

static int
n_term(const axe_json *offsets)
{
    int n = 0;

    for (const axe_json *c = offsets->child; c; c = c->next)
        n += is(c, AXE_JSON_LIST) ? c->n_child : 1;
    return n;
}

static axe_status
to_offsets(axe_ctx *cx, const axe_json *v, int *n, const axe_offset **out)
{
    axe_offset *o;
    int         k = 0;

    if (!is(v, AXE_JSON_OBJECT))
        return wrong(cx, v, "O", "an object of offsets");
    o = axe_new_array(cx, axe_offset, n_term(v));
    for (const axe_json *c = v->child; c; c = c->next) {
        axe_axis axis;

        if (strlen(c->key) != c->key_len)
            return wrong(cx, v, "a key of O", "a name");
        AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, c->key, &axis));
        if (!is(c, AXE_JSON_LIST))
            AXE_TRY(to_offset(cx, c, axis, &o[k++]));
        else
            for (const axe_json *t = c->child; t; t = t->next)
                AXE_TRY(to_offset(cx, t, axis, &o[k++]));
    }
    *n = k;
    *out = o;
    return AXE_OK;
}

axe_status
axe_json_to_swizzle(axe_ctx *cx, const axe_json *v, const char *what,
                    axe_swizzle *out)
{
    static const char *const keys[] = {"per_element", "swizzle_len", "atom_len",
                                       "inner", "unit_bits"};
    axe_swizzle              s = {0};
    const axe_json          *inner = axe_json_get(v, "inner");

    if (!is(v, AXE_JSON_OBJECT))
        return wrong(cx, v, what, "an object with the fields of a swizzle");
    AXE_TRY(check_keys(cx, v, what, AXE_LEN(keys), keys));
    AXE_TRY(to_small(cx, axe_json_get(v, keys[0]), keys[0], &s.base));
    AXE_TRY(to_small(cx, axe_json_get(v, keys[1]), keys[1], &s.bits));
    AXE_TRY(to_small(cx, axe_json_get(v, keys[2]), keys[2], &s.shift));
    if (axe_json_get(v, keys[4]))
        AXE_TRY(to_small(cx, axe_json_get(v, keys[4]), keys[4], &s.unit_bits));
    if (s.shift < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "atom_len is %d: it cannot be negative", s.shift);
    if (inner && inner->kind != AXE_JSON_BOOL)
        return wrong(cx, inner, "inner", "true or false");
    if (inner && !inner->truth)
        s.shift = -s.shift;
    AXE_TRY(axe_swizzle_check(cx, s));
    *out = s;
    return AXE_OK;
}

static axe_status
to_swizzled(axe_ctx *cx, const axe_json *v, const char *what,
            const axe_layout **out)
{
    static const char *const keys[] = {"swizzle", "tile"};
    const axe_json          *tile = axe_json_get(v, "tile");
    const axe_layout        *l;
    axe_swizzle              s;

    AXE_TRY(check_keys(cx, v, what, AXE_LEN(keys), keys));
    AXE_TRY(axe_json_to_swizzle(cx, axe_json_get(v, "swizzle"), "swizzle", &s));
    if (axe_json_get(tile, "swizzle"))
        return wrong(cx, tile, "tile", "a layout without a swizzle");
    AXE_TRY(axe_json_to_layout(cx, tile, "tile", &l));
    return axe_layout_swizzled(cx, l, s, out);
}

static axe_status
to_plain(axe_ctx *cx, const axe_json *v, const char *what,
         const axe_layout **out)
{
    static const char *const keys[] = {"D", "R", "O"};
    const axe_json          *r = axe_json_get(v, "R");
    const axe_json          *o = axe_json_get(v, "O");
    axe_layout               spec = {0};

    AXE_TRY(check_keys(cx, v, what, AXE_LEN(keys), keys));
    AXE_TRY(
        to_iters(cx, axe_json_get(v, "D"), "D", &spec.n_shard, &spec.shard));
    if (r)
        AXE_TRY(to_iters(cx, r, "R", &spec.n_replica, &spec.replica));
    if (o)
        AXE_TRY(to_offsets(cx, o, &spec.n_offset, &spec.offset));
    return axe_layout_make(cx, &spec, out);
}

axe_status
axe_json_to_layout(axe_ctx *cx, const axe_json *v, const char *what,
                   const axe_layout **out)
{
    const char *text;

    if (is(v, AXE_JSON_TEXT)) {
        AXE_TRY(to_name(cx, v, what, &text));
        return axe_layout_read(cx, text, out);
    }
    if (!is(v, AXE_JSON_OBJECT))
        return wrong(cx, v, what, "a layout");
    if (axe_json_get(v, "swizzle"))
        return to_swizzled(cx, v, what, out);
    return to_plain(cx, v, what, out);
}

axe_status
axe_json_to_shape(axe_ctx *cx, const axe_json *v, const char *what,
                  axe_shape *out)
{
    int64_t *extent;
    int      n = 0;

    if (!is(v, AXE_JSON_LIST))
        return wrong(cx, v, what, "a list of integers");
    extent = axe_new_array(cx, int64_t, v->n_child);
    for (const axe_json *c = v->child; c; c = c->next)
        AXE_TRY(axe_json_to_int(cx, c, what, &extent[n++]));
    *out = (axe_shape){n, extent};
    return AXE_OK;
}

axe_status
axe_json_to_ints(axe_ctx *cx, const axe_json *v, const char *what, int *n,
                 const int **out)
{
    int *p;
    int  k = 0;

    if (!is(v, AXE_JSON_LIST))
        return wrong(cx, v, what, "a list of integers");
    p = axe_new_array(cx, int, v->n_child);
    for (const axe_json *c = v->child; c; c = c->next)
        AXE_TRY(to_small(cx, c, what, &p[k++]));
    *n = k;
    *out = p;
    return AXE_OK;
}

axe_status
axe_json_to_region(axe_ctx *cx, const axe_json *v, const char *what, int *n,
                   const int64_t **begin, const int64_t **end)
{
    int64_t *b, *e;
    int      k = 0;

    if (!is(v, AXE_JSON_LIST))
        return wrong(cx, v, what, "[[begin, end]...]");
    b = axe_new_array(cx, int64_t, v->n_child);
    e = axe_new_array(cx, int64_t, v->n_child);
    for (const axe_json *c = v->child; c; c = c->next, k++) {
        if (!is(c, AXE_JSON_LIST) || c->n_child != 2)
            return wrong(cx, c, what, "a list of [begin, end]");
        AXE_TRY(axe_json_to_int(cx, c->child, "a begin", &b[k]));
        AXE_TRY(axe_json_to_int(cx, c->child->next, "an end", &e[k]));
    }
    *n = k;
    *begin = b;
    *end = e;
    return AXE_OK;
}

void
axe_json_put_name(axe_buf *b, const char *name)
{
    axe_json_put_text(b, name, strlen(name));
}

void
axe_json_put_iter(axe_buf *b, axe_iter it)
{
    axe_putf(b, "[%" PRId64 ",%" PRId64 ",", it.extent, it.stride);
    axe_json_put_name(b, axe_axis_name(b->cx, it.axis));
    if (it.unit != AXE_UNIT_ONE) {
        axe_putc(b, ',');
        axe_json_put_name(b, axe_unit_text(b->cx, it.unit));
    }
    axe_putc(b, ']');
}

void
axe_json_put_iters(axe_buf *b, int n, const axe_iter *it)
{
    axe_putc(b, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            axe_putc(b, ',');
        axe_json_put_iter(b, it[i]);
    }
    axe_putc(b, ']');
}

static void
put_replicas(axe_buf *b, const axe_layout *l)
{
    axe_iter *r = axe_new_array(b->cx, axe_iter, l->n_replica);

    axe_replicas_in_order(b->cx, l->n_replica, l->replica, r);
    axe_json_put_iters(b, l->n_replica, r);
}

/* The offsets from o[0] on that are on its axis; returns how many. */
static int
put_offset(axe_buf *b, int n, const axe_offset *o)
{
    int k = 0;

    axe_json_put_name(b, axe_axis_name(b->cx, o->axis));
    while (k < n && o[k].axis == o->axis)
        k++;
    if (k == 1 && o->unit == AXE_UNIT_ONE) {
        axe_putf(b, ":%" PRId64, o->value);
        return 1;
    }
    for (int i = 0; i < k; i++) {
        axe_putf(b, "%s[%" PRId64 ",", i ? "," : ":[", o[i].value);
        axe_json_put_name(b, o[i].unit == AXE_UNIT_ONE
                                 ? ""
                                 : axe_unit_text(b->cx, o[i].unit));
        axe_putc(b, ']');
    }
    axe_putc(b, ']');
    return k;
}

void
axe_json_put_offsets(axe_buf *b, const axe_layout *l)
{
    const axe_offset *o = axe_offsets_in_order(b->cx, l);

    axe_putc(b, '{');
    for (int i = 0; i < l->n_offset;) {
        if (i > 0)
            axe_putc(b, ',');
        i += put_offset(b, l->n_offset - i, o + i);
    }
    axe_putc(b, '}');
}

void
axe_json_put_swizzle(axe_buf *b, axe_swizzle s)
{
    axe_putf(b,
             "{\"per_element\":%d,\"swizzle_len\":%d,\"atom_len\":%d,"
             "\"inner\":%s",
             s.base, s.bits, s.shift < 0 ? -s.shift : s.shift,
             s.shift < 0 ? "false" : "true");
    if (s.unit_bits != 0)
        axe_putf(b, ",\"unit_bits\":%d", s.unit_bits);
    axe_putc(b, '}');
}

void
axe_json_put_layout(axe_buf *b, const axe_layout *l)
{
    bool swizzled = l->swizzle.bits > 0;

    if (swizzled) {
        axe_puts(b, "{\"swizzle\":");
        axe_json_put_swizzle(b, l->swizzle);
        axe_puts(b, ",\"tile\":");
    }
    axe_puts(b, "{\"D\":");
    axe_json_put_iters(b, l->n_shard, l->shard);
    axe_puts(b, ",\"R\":");
    put_replicas(b, l);
    axe_puts(b, ",\"O\":");
    axe_json_put_offsets(b, l);
    axe_puts(b, swizzled ? "}}" : "}");
}

void
axe_json_put_ints(axe_buf *b, int n, const int *v)
{
    axe_putc(b, '[');
    for (int i = 0; i < n; i++)
        axe_putf(b, "%s%d", i ? "," : "", v[i]);
    axe_putc(b, ']');
}
