/* build.c - a builder: its errors, its names, the header of its kernel.
 *
 * A call's place in diagnostics is a span without a line: the label is the
 * name of an empty source, so that every pass below reports it as it reports
 * places in texts.  Handles know their builder; what is wrong with one is found
 * where it is used.  What needs the whole kernel is left to the verifier, whose
 * messages carry the labels, too. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ir/build_int.h"
#include "ir/check.h"

/* ------------------------------------------------------------------- calls */

typedef struct build_label {
    const char *text; /* interned */
    int32_t     source;
} build_label;

static int32_t
label_source(axe_builder *b)
{
    build_label *l;
    const char  *name;

    for (int i = 0; i < b->labels.n; i++) {
        l = (build_label *)b->labels.item[i];
        if (l->text == b->label)
            return l->source;
    }
    l = axe_new(b->cx, build_label);
    name = axe_textf(b->cx, "builder call `%s`", b->label);
    *l = (build_label){b->label, axe_source_add(b->cx, name, "", 0)};
    axe_list_push(&b->labels, l);
    return l->source;
}

bool
axe_build_begin(axe_builder *b)
{
    if (!b || b->status != AXE_OK)
        return false;
    b->n_call++;
    b->at = b->label ? (axe_span){label_source(b), 0, 0, 0}
                     : (axe_span){b->unnamed, 0, b->n_call, 0};
    if (b->finished)
        return axe_build_fail(b, AXE_EARG, "kernel `%s` is finished",
                              b->kernel->name);
    return true;
}

bool
axe_build_fail(axe_builder *b, axe_status code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    b->status = axe_fail(b->cx, b->at, code, "%s", axe_vtextf(b->cx, fmt, ap));
    va_end(ap);
    return false;
}

bool
axe_build_unknown(axe_builder *b, const char *what, const char *word, int n,
                  const char *const *known)
{
    const char *near = word ? axe_nearest(word, n, known) : NULL;

    axe_build_fail(b, AXE_ENAME, "`%s` is no %s", word ? word : "(null)", what);
    if (near)
        axe_help(b->cx, "did you mean `%s`?", near);
    return false;
}

/* ------------------------------------------------------------------- names */

typedef struct build_name {
    const char *name;
    axe_span    at;
} build_name;

/* A name of the language, which the IR's text would not read as a new one. */
static bool
is_taken(const char *name)
{
    static const char *const word[] = {
        "sum",  "prod",   "inf",      "true",    "false", "auto",     "for",
        "if",   "else",   "kernel",   "size",    "index", "set",      "in",
        "out",  "inout",  "produce",  "consume", "over",  "fold",     "via",
        "slow", "target", "pipeline", "loop",    "break", "continue", "barrier",
        "from", "cores",  "atom",
    };
    axe_type type;

    for (int i = 0; i < AXE_LEN(word); i++)
        if (strcmp(word[i], name) == 0)
            return true;
    for (int i = 0; i < AXE_N_OP; i++)
        if (axe_op_table[i].n_arg > 0 &&
            strcmp(axe_op_sign((axe_op)i), name) == 0)
            return true;
    for (int i = 0; i < AXE_N_SPACE; i++)
        if (strcmp(axe_space_name((axe_space)i), name) == 0)
            return true;
    for (int i = 0; i < AXE_N_SCOPE; i++)
        if (strcmp(axe_scope_name((axe_scope_kind)i), name) == 0)
            return true;
    return axe_type_find(name, &type);
}

static bool
is_name(const char *s)
{
    bool ok = isalpha((unsigned char)*s) || *s == '_';

    for (; ok && *s; s++)
        ok = isalnum((unsigned char)*s) || *s == '_';
    return ok;
}

const char *
axe_build_name(axe_builder *b, const char *name)
{
    build_name *n = axe_new(b->cx, build_name);

    if (!name || !is_name(name)) {
        axe_build_fail(b, AXE_ENAME,
                       "`%s` is not a name: a letter or `_`, then letters, "
                       "digits and `_`",
                       name ? name : "(null)");
        return NULL;
    }
    if (is_taken(name)) {
        axe_build_fail(b, AXE_ENAME, "`%s` is a name of the language", name);
        return NULL;
    }
    *n = (build_name){axe_intern(b->cx, name, strlen(name)), b->at};
    for (int i = 0; i < b->names.n; i++) {
        const build_name *old = b->names.item[i];
        if (old->name != n->name)
            continue;
        axe_build_fail(b, AXE_ENAME, "`%s` is declared already", name);
        axe_note(b->cx, old->at, "here");
        return NULL;
    }
    axe_list_push(&b->names, n);
    return n->name;
}

bool
axe_build_type(axe_builder *b, const char *name, axe_type *out)
{
    const char *known[AXE_N_TYPE];

    if (name && axe_type_find(name, out))
        return true;
    for (int i = 0; i < AXE_N_TYPE; i++)
        known[i] = axe_type_table[i].name;
    return axe_build_unknown(b, "type", name, AXE_N_TYPE, known);
}

/* ----------------------------------------------------------------- handles */

bool
axe_build_has_expr(axe_builder *b, const axe_ir_expr *e, const char *what)
{
    if (!e)
        return axe_build_fail(b, AXE_EARG, "%s is NULL", what);
    if (e->owner == b)
        return true;
    return axe_build_fail(b, AXE_EARG,
                          "%s belongs to the builder of `%s`, not of `%s`",
                          what, e->owner->kernel->name, b->kernel->name);
}

bool
axe_build_has_tensor(axe_builder *b, const axe_ir_tensor *t)
{
    if (!t)
        return axe_build_fail(b, AXE_EARG, "the tensor is NULL");
    if (t->owner == b)
        return true;
    return axe_build_fail(b, AXE_EARG,
                          "tensor `%s` belongs to the builder of `%s`, not of "
                          "`%s`",
                          t->tensor->name, t->owner->kernel->name,
                          b->kernel->name);
}

const axe_ir_expr *
axe_build_node(axe_builder *b, const axe_node *n, int64_t n_op)
{
    axe_ir_expr *e = axe_new(b->cx, axe_ir_expr);

    if (n_op > AXE_EXPR_MAX) {
        axe_build_fail(b, AXE_ELIMIT,
                       "this expression has more than %d operations",
                       AXE_EXPR_MAX);
        return NULL;
    }
    *e = (axe_ir_expr){b, n, n_op};
    return e;
}

axe_var *
axe_build_var(axe_builder *b, axe_var_kind kind, const char *name,
              const axe_node *extent)
{
    axe_var *v = axe_new(b->cx, axe_var);

    *v = (axe_var){.kind = kind,
                   .name = name,
                   .at = b->at,
                   .id = b->kernel->n_var++,
                   .extent = extent};
    return v;
}

/* ------------------------------------------------------------------ header */

axe_builder *
axe_build_kernel(axe_ctx *cx, const char *name)
{
    axe_builder *b;

    if (!cx)
        return NULL;
    b = axe_new(cx, axe_builder);
    *b = (axe_builder){.cx = cx,
                       .kernel = axe_new(cx, axe_kernel),
                       .unnamed = axe_source_add(cx, "builder call", "", 0),
                       .labels = {.cx = cx},
                       .names = {.cx = cx},
                       .sizes = {.cx = cx},
                       .params = {.cx = cx},
                       .bindings = {.cx = cx},
                       .tiled = {.cx = cx},
                       .block = axe_new(cx, open_block)};
    b->block->body.cx = cx;
    b->kernel->cx = cx;
    b->kernel->name = "?";
    b->kernel->cores = axe_build_var(
        b, AXE_VAR_SIZE, axe_intern(cx, AXE_CORES, strlen(AXE_CORES)), NULL);
    axe_build_begin(b);
    b->kernel->at = b->at;
    name = axe_build_name(b, name);
    if (name)
        b->kernel->name = name;
    b->names.n = 0;
    return b;
}

void
axe_build_label(axe_builder *b, const char *label)
{
    if (b)
        b->label = label ? axe_intern(b->cx, label, strlen(label)) : NULL;
}

axe_status
axe_build_status(const axe_builder *b)
{
    return b ? b->status : AXE_EARG;
}

void
axe_build_target(axe_builder *b, const char *machine)
{
    if (!axe_build_begin(b))
        return;
    if (!machine || !is_name(machine))
        axe_build_fail(b, AXE_ENAME, "`%s` is not a machine's name",
                       machine ? machine : "(null)");
    else
        b->kernel->target = axe_intern(b->cx, machine, strlen(machine));
}

static void
bind(axe_builder *b, axe_binding value)
{
    axe_binding *p = axe_new(b->cx, axe_binding);

    *p = value;
    p->name = axe_build_name(b, value.name);
    if (p->name)
        axe_list_push(&b->bindings, p);
}

void
axe_build_set(axe_builder *b, const char *name, int64_t value)
{
    if (axe_build_begin(b))
        bind(b, (axe_binding){.name = name, .value = value});
}

void
axe_build_set_type(axe_builder *b, const char *name, const char *type)
{
    axe_type t;

    if (axe_build_begin(b) && axe_build_type(b, type, &t))
        bind(b, (axe_binding){.name = name, .is_type = true, .value = t});
}

static axe_var *
new_size(axe_builder *b, const char *name)
{
    axe_var *v = axe_build_var(b, AXE_VAR_SIZE, name, NULL);

    v->unit = axe_unit_symbol(b->cx, name);
    axe_list_push(&b->sizes, v);
    return v;
}

const axe_ir_expr *
axe_build_size(axe_builder *b, const char *name)
{
    if (!axe_build_begin(b) || !(name = axe_build_name(b, name)))
        return NULL;
    return axe_build_node(b, axe_var_node(b->cx, b->at, new_size(b, name)), 1);
}

const axe_ir_expr *
axe_build_index(axe_builder *b, const char *name)
{
    axe_var *v;

    if (!axe_build_begin(b) || !(name = axe_build_name(b, name)))
        return NULL;
    v = axe_build_var(b, AXE_VAR_INDEX, name, NULL);
    return axe_build_node(b, axe_var_node(b->cx, b->at, v), 1);
}

/* --------------------------------------------------------------- arguments */

static bool
param_dir(axe_builder *b, const char *name, axe_dir *out)
{
    const char *known[] = {axe_dir_name(AXE_DIR_IN), axe_dir_name(AXE_DIR_OUT),
                           axe_dir_name(AXE_DIR_INOUT)};

    for (int i = 0; name && i < AXE_LEN(known); i++)
        if (strcmp(known[i], name) == 0) {
            *out = (axe_dir)(AXE_DIR_IN + i);
            return true;
        }
    return axe_build_unknown(b, "direction of an argument", name,
                             AXE_LEN(known), known);
}

static bool
param_order(axe_builder *b, const char *order, build_order *out)
{
    static const char *const known[] = {
        [ORDER_C] = "C", [ORDER_F] = "F", [ORDER_STRIDED] = "strided"};

    *out = ORDER_C;
    for (int i = 0; order && i < AXE_LEN(known); i++)
        if (strcmp(known[i], order) == 0) {
            *out = (build_order)i;
            return true;
        }
    return !order ||
           axe_build_unknown(b, "order", order, AXE_LEN(known), known);
}

static bool
param_shape(axe_builder *b, const char *name, int rank,
            const axe_ir_expr *const *shape, const axe_node **out)
{
    if (rank < 1 || rank > AXE_RANK_MAX || !shape)
        return axe_build_fail(b, AXE_ESHAPE,
                              "`%s` has %d dimensions; it must have 1 to %d",
                              name, shape ? rank : 0, AXE_RANK_MAX);
    for (int k = 0; k < rank; k++) {
        const axe_node *n;
        if (!axe_build_has_expr(b, shape[k], "an extent"))
            return false;
        n = shape[k]->node;
        if ((n->op != AXE_OP_iconst || n->type != AXE_TYPE_INDEX ||
             n->u.i < 1) &&
            (n->op != AXE_OP_var || n->u.var->kind != AXE_VAR_SIZE))
            return axe_build_fail(b, AXE_ESHAPE,
                                  "extent `%s` of `%s` is neither a size nor a "
                                  "positive integer",
                                  axe_node_text(b->cx, n), name);
        out[k] = n;
    }
    return true;
}

axe_ir_tensor *
axe_build_param(axe_builder *b, const char *dir, const char *type,
                const char *name, int rank, const axe_ir_expr *const *shape,
                const char *order)
{
    const axe_node *extent[AXE_RANK_MAX];
    axe_tensor     *t;
    axe_ir_tensor  *h;
    build_order     lies;
    axe_type        of;
    axe_dir         d;

    if (!axe_build_begin(b) || !param_dir(b, dir, &d) ||
        !axe_build_type(b, type, &of) || !(name = axe_build_name(b, name)) ||
        !param_order(b, order, &lies) ||
        !param_shape(b, name, rank, shape, extent))
        return NULL;
    t = axe_new(b->cx, axe_tensor);
    *t = (axe_tensor){.name = name,
                      .at = b->at,
                      .id = b->kernel->n_tensor++,
                      .space = AXE_SPACE_GLOBAL,
                      .type = of,
                      .dir = d,
                      .rank = rank};
    t->shape = memcpy(axe_new_array(b->cx, const axe_node *, rank), extent,
                      (size_t)rank * sizeof extent[0]);
    h = axe_new(b->cx, axe_ir_tensor);
    h->owner = b;
    h->tensor = t;
    h->order = lies;
    axe_list_push(&b->params, h);
    return h;
}

/* ------------------------------------------------------------------ finish */

/* Strides of sizes that come after all real ones. */
static axe_status
lay_out(axe_builder *b, const axe_ir_tensor *h)
{
    axe_tensor *t = h->tensor;
    axe_stride *s = axe_new_array(b->cx, axe_stride, t->rank);

    t->stride = s;
    b->at = t->at;
    if (h->order != ORDER_STRIDED)
        return axe_tensor_strides(b->cx, t, h->order == ORDER_F, s);
    for (int k = 0; k < t->rank; k++) {
        const char *name = axe_textf(b->cx, "%s.stride%d", t->name, k);
        name = axe_intern(b->cx, name, strlen(name));
        s[k] = (axe_stride){1, new_size(b, name)->unit};
    }
    return AXE_OK;
}

static axe_status
complete(axe_builder *b)
{
    axe_kernel        *k = b->kernel;
    axe_binding       *set = axe_new_array(b->cx, axe_binding, b->bindings.n);
    const axe_tensor **param =
        axe_new_array(b->cx, const axe_tensor *, b->params.n);

    for (int i = 0; i < b->params.n; i++) {
        const axe_ir_tensor *h = b->params.item[i];
        AXE_TRY(lay_out(b, h));
        param[i] = h->tensor;
    }
    for (int i = 0; i < b->bindings.n; i++)
        set[i] = *(const axe_binding *)b->bindings.item[i];
    k->n_binding = b->bindings.n;
    k->binding = set;
    k->n_param = b->params.n;
    k->param = param;
    k->n_size = b->sizes.n;
    k->size = (const axe_var *const *)(const void *)b->sizes.item;
    k->n_body = b->block->body.n;
    k->body = (axe_stmt *const *)(const void *)b->block->body.item;
    axe_kernel_find_temps(b->cx, k);
    AXE_TRY(axe_kernel_verify(b->cx, k));
    AXE_TRY(axe_kernel_check(b->cx, k));
    axe_check_unused(b->cx, k);
    return AXE_OK;
}

axe_status
axe_build_finish(axe_builder *b, const axe_kernel **out)
{
    if (!axe_build_begin(b))
        return axe_build_status(b);
    if (b->block->up) {
        axe_build_fail(b, AXE_EARG, "a block is still open");
        axe_note(b->cx, b->block->stmt->at, "begun here");
        axe_help(b->cx, "close it by axe_build_end");
        return b->status;
    }
    b->status = complete(b);
    b->finished = true;
    AXE_TRY(b->status);
    *out = b->kernel;
    return AXE_OK;
}
