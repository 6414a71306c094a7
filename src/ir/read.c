/* read.c - reading kernels from the IR's text (text.c shows its form): names,
 * tensors, the kernel itself.
 *
 * Blanks and newlines separate, nothing more, but that a tile's layout goes to
 * the end of its line.  The first error ends it.  What was read is verified, so
 * that any bytes whatever give a sound kernel or a diagnostic. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/mesh.h"
#include "ir/read_int.h"
#include "layout/layout_int.h"

/* ------------------------------------------------------------- small tools */

axe_span
axe_read_at(axe_reader *r)
{
    for (; r->s < r->end && isspace((unsigned char)*r->s); r->s++)
        if (*r->s == '\n') {
            r->line++;
            r->line_start = r->s + 1;
        }
    return (axe_span){r->source, r->line, (int32_t)(r->s - r->line_start) + 1,
                      1};
}

axe_status
axe_read_expected(axe_reader *r, const char *what)
{
    return axe_fail(r->cx, axe_read_at(r), AXE_ESYNTAX, "expected %s", what);
}

bool
axe_read_take(axe_reader *r, const char *sign)
{
    size_t n = strlen(sign);

    axe_read_at(r);
    if ((size_t)(r->end - r->s) < n || memcmp(r->s, sign, n) != 0)
        return false;
    r->s += n;
    return true;
}

axe_status
axe_read_need(axe_reader *r, const char *sign)
{
    if (axe_read_take(r, sign))
        return AXE_OK;
    return axe_read_expected(r, axe_textf(r->cx, "`%s`", sign));
}

static bool
is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

bool
axe_read_word(axe_reader *r, const char *word)
{
    const char *from;

    axe_read_at(r);
    from = r->s;
    if (axe_read_take(r, word) && (r->s == r->end || !is_name_char(*r->s)))
        return true;
    r->s = from;
    return false;
}

axe_status
axe_read_name(axe_reader *r, const char **out)
{
    const char *from;

    axe_read_at(r);
    from = r->s;
    if (from == r->end || !(isalpha((unsigned char)*from) || *from == '_'))
        return axe_read_expected(r, "a name");
    while (r->s < r->end && is_name_char(*r->s))
        r->s++;
    *out = axe_intern(r->cx, from, (size_t)(r->s - from));
    return AXE_OK;
}

axe_status
axe_read_int(axe_reader *r, int64_t *out)
{
    axe_span    at = axe_read_at(r);
    const char *from = r->s;
    char       *text, *end;

    if (r->s < r->end && *r->s == '-')
        r->s++;
    while (r->s < r->end && isdigit((unsigned char)*r->s))
        r->s++;
    text = axe_textf(r->cx, "%.*s", (int)(r->s - from), from);
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE)
        return axe_fail(r->cx, at, AXE_ESYNTAX, "expected a 64-bit integer");
    return AXE_OK;
}

axe_status
axe_read_enter(axe_reader *r)
{
    if (++r->depth <= 4 * AXE_NEST_MAX)
        return AXE_OK;
    return axe_fail(r->cx, axe_read_at(r), AXE_ELIMIT, "nested too deep");
}

const axe_named *
axe_read_find(const axe_reader *r, const char *name)
{
    for (int i = r->names.n - 1; i >= 0; i--) {
        const axe_named *n = r->names.item[i];
        if (n->name == name)
            return n;
    }
    return NULL;
}

axe_status
axe_read_declare(axe_reader *r, axe_named what)
{
    axe_named *n = axe_new(r->cx, axe_named);

    if (axe_read_find(r, what.name))
        return axe_fail(r->cx, axe_read_at(r), AXE_ENAME,
                        "`%s` is declared already", what.name);
    *n = what;
    axe_list_push(&r->names, n);
    return AXE_OK;
}

axe_status
axe_read_var(axe_reader *r, axe_var_kind kind, const axe_node *extent,
             const char *name, axe_var **out)
{
    axe_var *v = axe_new(r->cx, axe_var);

    v->kind = kind;
    v->name = name;
    v->at = axe_read_at(r);
    v->extent = extent;
    v->id = r->kernel->n_var++;
    *out = v;
    return axe_read_declare(r, (axe_named){.name = name, .var = v});
}

/* ---------------------------------------------------------------- tensors */

/* stride = [ INT "*" ] NAME { "*" NAME } | INT */
static axe_status
read_stride(axe_reader *r, axe_stride *out)
{
    const char      *name;
    const axe_named *what;

    *out = (axe_stride){1, AXE_UNIT_ONE};
    axe_read_at(r);
    if (r->s < r->end && (isdigit((unsigned char)*r->s) || *r->s == '-')) {
        AXE_TRY(axe_read_int(r, &out->coef));
        if (!axe_read_take(r, "*"))
            return AXE_OK;
    }
    do {
        AXE_TRY(axe_read_name(r, &name));
        what = axe_read_find(r, name);
        if (!what || !what->var || what->var->kind != AXE_VAR_SIZE)
            return axe_fail(r->cx, axe_read_at(r), AXE_ENAME,
                            "there is no size `%s`", name);
        out->unit = axe_unit_mul(r->cx, out->unit, what->var->unit);
    } while (axe_read_take(r, "*"));
    return AXE_OK;
}

static axe_status
read_strides(axe_reader *r, axe_tensor *t)
{
    axe_stride *s = axe_new_array(r->cx, axe_stride, t->rank);

    AXE_TRY(axe_read_need(r, ":"));
    AXE_TRY(axe_read_need(r, "("));
    for (int k = 0; k < t->rank; k++) {
        if (k > 0)
            AXE_TRY(axe_read_need(r, ","));
        AXE_TRY(read_stride(r, &s[k]));
    }
    t->stride = s;
    return axe_read_need(r, ")");
}

/* A layout, or "auto" and its replicas, to the end of the line. */
static axe_status
read_layout(axe_reader *r, axe_tensor *t)
{
    bool              open = axe_read_word(r, "auto");
    const char       *stop = memchr(r->s, '\n', (size_t)(r->end - r->s));
    size_t            len = (size_t)((stop ? stop : r->end) - r->text), end;
    const axe_layout *copies;
    axe_axis          cta;

    if (open) {
        AXE_TRY(axe_cluster_axis(r->cx, &cta));
        AXE_TRY(axe_replicas_read_at(r->cx, r->source, r->text, len,
                                     (size_t)(r->s - r->text), NULL, &copies,
                                     &end));
        t->n_replica = copies->n_replica;
        t->replica = copies->replica;
        r->s = r->text + end;
        return AXE_OK;
    }
    AXE_TRY(axe_layout_read_at(r->cx, r->source, r->text, len,
                               (size_t)(r->s - r->text), NULL, &t->layout,
                               &end));
    r->s = r->text + end;
    return AXE_OK;
}

static axe_status
read_shape(axe_reader *r, axe_tensor *t)
{
    axe_list shape = {.cx = r->cx};

    if (!axe_read_take(r, "["))
        return AXE_OK;
    do {
        const axe_node *n;
        AXE_TRY(axe_read_expr(r, &n));
        axe_list_push(&shape, n);
    } while (axe_read_take(r, ","));
    if (shape.n > AXE_RANK_MAX)
        return axe_fail(r->cx, t->at, AXE_ELIMIT,
                        "`%s` has %d dimensions; at most %d are supported",
                        t->name, shape.n, AXE_RANK_MAX);
    t->rank = shape.n;
    t->shape = (const axe_node *const *)shape.item;
    return axe_read_need(r, "]");
}

static axe_status
read_type(axe_reader *r, axe_type *out)
{
    axe_span    at = axe_read_at(r);
    const char *name;

    AXE_TRY(axe_read_name(r, &name));
    if (axe_type_find(name, out))
        return AXE_OK;
    return axe_fail(r->cx, at, AXE_ETYPE, "`%s` is not a type", name);
}

/* tensor = type NAME shape [ ":" ( strides [ "packed" ] | layout ) ] */
axe_status
axe_read_tensor(axe_reader *r, axe_space space, axe_dir dir,
                const axe_pipeline *ring, const axe_tensor **out)
{
    axe_tensor *t = axe_new(r->cx, axe_tensor);

    t->space = space;
    t->dir = dir;
    t->pipeline = ring;
    AXE_TRY(read_type(r, &t->type));
    t->at = axe_read_at(r);
    AXE_TRY(axe_read_name(r, &t->name));
    AXE_TRY(read_shape(r, t));
    if (space == AXE_SPACE_GLOBAL) {
        AXE_TRY(read_strides(r, t));
        t->packed = axe_read_word(r, "packed");
        if (r->kernel->n_axis > 0)
            AXE_TRY(axe_read_held(r, t));
    } else if (axe_read_take(r, ":"))
        AXE_TRY(read_layout(r, t));
    t->id = r->kernel->n_tensor++;
    if (space == AXE_SPACE_GLOBAL && r->kernel->n_axis > 0 && t->rank > 0)
        AXE_TRY(axe_tensor_join(r->cx, t));
    *out = t;
    return axe_read_declare(r, (axe_named){.name = t->name, .tensor = t});
}

/* ----------------------------------------------------------------- kernels */

/* An integer or a floating number. */
static axe_status
read_bound(axe_reader *r, axe_binding *b)
{
    const char *from = r->s, *s = from;
    char       *text, *end;

    while (s < r->end && (isalnum((unsigned char)*s) || strchr("+-.", *s)))
        s++;
    text = axe_textf(r->cx, "%.*s", (int)(s - from), from);
    if (!strpbrk(text, ".e"))
        return axe_read_int(r, &b->value);
    b->is_real = true;
    b->real = strtod(text, &end);
    if (*end != '\0' || !isfinite(b->real))
        return axe_fail(r->cx, axe_read_at(r), AXE_ESYNTAX,
                        "`%s` is not a number", text);
    r->s = s;
    return AXE_OK;
}

static axe_status
read_bindings(axe_reader *r)
{
    axe_list     list = {.cx = r->cx};
    axe_binding *all;
    axe_type     type;

    do {
        axe_binding *b = axe_new(r->cx, axe_binding);
        AXE_TRY(axe_read_name(r, &b->name));
        AXE_TRY(axe_read_need(r, "="));
        axe_read_at(r);
        b->is_type = r->s < r->end && isalpha((unsigned char)*r->s);
        if (b->is_type)
            AXE_TRY(read_type(r, &type));
        else
            AXE_TRY(read_bound(r, b));
        if (b->is_type)
            b->value = (int64_t)type;
        axe_list_push(&list, b);
    } while (axe_read_take(r, ","));
    all = axe_new_array(r->cx, axe_binding, list.n);
    for (int i = 0; i < list.n; i++)
        all[i] = *(const axe_binding *)list.item[i];
    r->kernel->n_binding = list.n;
    r->kernel->binding = all;
    return AXE_OK;
}

static axe_status
read_vars(axe_reader *r, axe_var_kind kind)
{
    const char *name;
    axe_var    *v;

    do {
        AXE_TRY(axe_read_name(r, &name));
        AXE_TRY(axe_read_var(r, kind, NULL, name, &v));
        if (kind == AXE_VAR_SIZE) {
            v->unit = axe_unit_symbol(r->cx, name);
            v->is_fixed = axe_read_take(r, "=");
            if (v->is_fixed)
                AXE_TRY(axe_read_int(r, &v->fixed));
            if (v->fixed < 0)
                return axe_read_expected(r, "a size from 0 on");
            axe_list_push(&r->sizes, v);
        }
    } while (axe_read_take(r, ","));
    return AXE_OK;
}

static axe_status
read_params(axe_reader *r)
{
    axe_list          param = {.cx = r->cx};
    const axe_tensor *t;
    int               d;

    for (;;) {
        for (d = AXE_DIR_IN; d <= AXE_DIR_INOUT; d++)
            if (axe_read_word(r, axe_dir_name((axe_dir)d)))
                break;
        if (d > AXE_DIR_INOUT)
            break;
        AXE_TRY(axe_read_tensor(r, AXE_SPACE_GLOBAL, (axe_dir)d, NULL, &t));
        axe_list_push(&param, t);
    }
    r->kernel->n_param = param.n;
    r->kernel->param = (const axe_tensor *const *)param.item;
    return AXE_OK;
}

/* NAME { "-" NAME } { "," .. }, as the text of a kernel has it. */
static axe_status
read_target(axe_reader *r, const char **out)
{
    axe_buf     b = {.cx = r->cx};
    const char *name, *between = "";

    do {
        AXE_TRY(axe_read_name(r, &name));
        axe_putf(&b, "%s%s", between, name);
        between = axe_read_take(r, "-")   ? "-"
                  : axe_read_take(r, ",") ? ", "
                                          : "";
    } while (*between);
    *out = axe_intern(r->cx, b.text, b.len);
    return AXE_OK;
}

static axe_status
read_kernel(axe_reader *r)
{
    axe_kernel *k = r->kernel;
    axe_list    body = {.cx = r->cx};
    axe_var    *cores;

    k->at = axe_read_at(r);
    if (!axe_read_word(r, "kernel"))
        return axe_read_expected(r, "`kernel`");
    AXE_TRY(axe_read_name(r, &k->name));
    if (axe_read_word(r, "target"))
        AXE_TRY(read_target(r, &k->target));
    if (axe_read_word(r, "set"))
        AXE_TRY(read_bindings(r));
    AXE_TRY(axe_read_var(r, AXE_VAR_SIZE, NULL,
                         axe_intern(r->cx, AXE_CORES, strlen(AXE_CORES)),
                         &cores));
    k->cores = cores;
    if (axe_read_word(r, "size"))
        AXE_TRY(read_vars(r, AXE_VAR_SIZE));
    if (axe_read_word(r, "mesh"))
        AXE_TRY(axe_read_mesh(r));
    if (axe_read_word(r, "part"))
        AXE_TRY(axe_read_parts(r));
    if (axe_read_word(r, "index"))
        AXE_TRY(read_vars(r, AXE_VAR_INDEX));
    AXE_TRY(read_params(r));
    AXE_TRY(axe_read_block(r, &body));
    k->n_body = body.n;
    k->body = (axe_stmt *const *)(const void *)body.item;
    axe_kernel_find_temps(r->cx, k);
    k->n_size = r->sizes.n;
    k->size = (const axe_var *const *)r->sizes.item;
    axe_read_at(r);
    return r->s == r->end ? AXE_OK : axe_read_expected(r, "the end");
}

axe_status
axe_kernel_read(axe_ctx *cx, int32_t source, const axe_kernel **out)
{
    size_t      len;
    const char *text = axe_source_text(cx, source, &len);
    axe_reader  r = {
         .cx = cx,
         .source = source,
         .line = 1,
         .text = text,
         .s = text,
         .end = text + len,
         .line_start = text,
         .names = {.cx = cx},
         .sizes = {.cx = cx},
         .kernel = axe_new(cx, axe_kernel),
    };

    r.kernel->cx = cx;
    AXE_TRY(read_kernel(&r));
    AXE_TRY(axe_kernel_verify(cx, r.kernel));
    *out = r.kernel;
    return AXE_OK;
}
