/* resolve.c - one kernel with values for its compile-time parameters, as IR.
 *
 * Order of binding: what the caller sets, else the machine's default, else the
 * kernel's.  A default may use the parameters before it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/check.h"
#include "ir/mesh.h"
#include "lang/resolve_int.h"

/* ---------------------------------------------- compile-time parameters */

static const char *
caller_value(const axe_inst *inst, const char *name)
{
    for (int i = 0; i < inst->n_set; i++)
        if (strcmp(inst->set_name[i], name) == 0)
            return inst->set_value[i];
    return NULL;
}

static const axe_default_decl *
default_named(const axe_resolver *r, const char *machine)
{
    for (int i = 0; machine && i < r->decl->n_default; i++)
        if (strcmp(r->decl->defaults[i]->machine.name, machine) == 0)
            return r->decl->defaults[i];
    return NULL;
}

static const axe_default_decl *
machine_default(const axe_resolver *r)
{
    const axe_default_decl *own = default_named(r, r->inst->model);

    return own ? own : default_named(r, r->inst->machine);
}

static const axe_expr *
default_value(const axe_resolver *r, const axe_const_decl *c)
{
    const axe_default_decl *d = machine_default(r);

    for (int i = 0; d && i < d->n; i++)
        if (d->set[i]->word.name == c->word.name)
            return d->set[i]->value;
    return c->value;
}

static bool
read_int(axe_resolver *r, const axe_const_decl *c, const char *text,
         int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0')
        return true;
    axe_resolve_fail(
        r, axe_fail(r->cx, c->word.at, AXE_EARG,
                    "`%s` was set to `%s`, which is not a 64-bit integer",
                    c->word.name, text));
    axe_help(r->cx, "give a number in decimal: `--set %s=64`", c->word.name);
    return false;
}

static bool
no_value(axe_resolver *r, const axe_const_decl *c)
{
    axe_resolve_fail(r, axe_fail(r->cx, c->word.at, AXE_EARG,
                                 "`%s` has no value and no default",
                                 c->word.name));
    axe_help(r->cx, "set it: `--set %s=...`", c->word.name);
    return false;
}

static bool
bind_type(axe_resolver *r, const axe_const_decl *c, axe_type *out)
{
    const char *text = caller_value(r->inst, c->word.name);

    if (text && !axe_type_find(text, out))
        return axe_resolve_fail(r, axe_fail(r->cx, c->word.at, AXE_EARG,
                                            "`%s` was set to `%s`, which is "
                                            "not a type",
                                            c->word.name, text));
    if (text)
        return true;
    return c->text ? axe_resolve_type(r, c->type, out) : no_value(r, c);
}

static bool
bind_int(axe_resolver *r, const axe_const_decl *c, int64_t *out)
{
    const char     *text = caller_value(r->inst, c->word.name);
    const axe_expr *e = default_value(r, c);

    if (text)
        return read_int(r, c, text, out);
    return e ? axe_resolve_int(r, e, "a parameter's value", out)
             : no_value(r, c);
}

static bool
read_real(axe_resolver *r, const axe_const_decl *c, const char *text,
          double *out)
{
    char *end;

    *out = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*out))
        return true;
    axe_resolve_fail(
        r, axe_fail(r->cx, c->word.at, AXE_EARG,
                    "`%s` was set to `%s`, which is not a finite number",
                    c->word.name, text));
    axe_help(r->cx, "give a number: `--set %s=1e-5`", c->word.name);
    return false;
}

/* A literal's value as a floating number. */
static bool
literal_real(axe_resolver *r, const axe_expr *e, double *out)
{
    axe_typed v = axe_resolve_value(r, e, AXE_NO_TYPE);

    if (!v.node)
        return false;
    if (v.node->op == AXE_OP_fconst)
        *out = v.node->u.f;
    else if (v.node->op == AXE_OP_iconst && v.node->type == AXE_TYPE_INDEX)
        *out = (double)v.node->u.i;
    else
        return axe_resolve_fail(
            r, axe_fail(r->cx, e->at, AXE_ETYPE,
                        "a parameter's value must be a compile-time number, "
                        "and `%s` is not one",
                        axe_node_text(r->cx, v.node)));
    return isfinite(*out) ||
           axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                        "a parameter's value is finite"));
}

/* Does a floating number decide the type of the value? */
static bool
holds_real(const axe_resolver *r, const axe_expr *e)
{
    const axe_entry *x;
    bool             any = e->kind == AXE_EXPR_FLOAT;

    if (e->kind == AXE_EXPR_NAME) {
        x = axe_names_find(r, e->word.name);
        return x && x->kind == AXE_ENTRY_CONST && x->value &&
               x->value->op == AXE_OP_fconst;
    }
    if (e->kind != AXE_EXPR_OP ||
        (axe_op_table[e->op].traits & (AXE_TRAIT_CMP | AXE_TRAIT_BOOLS)))
        return any;
    for (int i = e->op == AXE_OP_select; i < e->n_arg; i++)
        any = any || holds_real(r, e->arg[i]);
    return any;
}

/* Is the parameter a floating one?  By its declared value, or, where it has
 * none, by what the caller gives. */
static bool
is_real(const axe_resolver *r, const axe_const_decl *c)
{
    const char *text = caller_value(r->inst, c->word.name);

    if (c->is_type)
        return false;
    return c->value ? holds_real(r, c->value) : text && strpbrk(text, ".eE");
}

static void
bind_real(axe_resolver *r, const axe_const_decl *c, axe_binding *b)
{
    const char *text = caller_value(r->inst, c->word.name);
    double      v = 0;
    bool        ok = text ? read_real(r, c, text, &v)
                          : literal_real(r, default_value(r, c), &v);
    axe_entry  *e;

    *b = (axe_binding){.name = c->word.name, .is_real = true, .real = v};
    ok = axe_tune_bind(r, c, b) && ok;
    e = axe_names_add(r, ok ? AXE_ENTRY_CONST : AXE_ENTRY_BAD, c->word);
    e->value = axe_fconst(r->cx, c->word.at, AXE_TYPE_f64, v);
}

static void
bind_const(axe_resolver *r, const axe_const_decl *c, axe_binding *b)
{
    axe_type   type = AXE_TYPE_f32;
    int64_t    v = 0;
    bool       ok;
    axe_entry *e;

    if (is_real(r, c)) {
        bind_real(r, c, b);
        return;
    }
    ok = c->is_type ? bind_type(r, c, &type) : bind_int(r, c, &v);
    *b = (axe_binding){.name = c->word.name,
                       .is_type = c->is_type,
                       .value = c->is_type ? (int64_t)type : v};
    ok = ok && axe_tune_bind(r, c, b);
    e = axe_names_add(r,
                      !ok          ? AXE_ENTRY_BAD
                      : c->is_type ? AXE_ENTRY_TYPE
                                   : AXE_ENTRY_CONST,
                      c->word);
    e->type = type;
    e->value = axe_iconst(r->cx, c->word.at, AXE_TYPE_INDEX, v);
}

static void
bind_consts(axe_resolver *r)
{
    int          n = r->decl->n_const;
    axe_binding *b = axe_new_array(r->cx, axe_binding, n);

    axe_resolve_check_set(r);
    for (int i = 0; i < n; i++)
        bind_const(r, r->decl->consts[i], &b[i]);
    r->kernel->n_binding = n;
    r->kernel->binding = b;
}

/* -------------------------------------------------------------- arguments */

/* A size that the caller set is the same in every launch. */
static void
fix_size(axe_resolver *r, axe_var *v, const char *text)
{
    char *end;

    if (!text)
        return;
    errno = 0;
    v->fixed = strtoll(text, &end, 10);
    v->is_fixed = errno == 0 && end != text && *end == '\0' && v->fixed >= 0;
    if (!v->is_fixed)
        axe_resolve_fail(r, axe_fail(r->cx, v->at, AXE_EARG,
                                     "size `%s` was set to `%s`, which is not "
                                     "an integer from 0 on",
                                     v->name, text));
}

const axe_var *
axe_resolve_size(axe_resolver *r, axe_word w)
{
    axe_var *v = axe_resolve_var(r, AXE_VAR_SIZE, w, NULL);

    v->unit = axe_unit_symbol(r->cx, w.name);
    fix_size(r, v, caller_value(r->inst, w.name));
    axe_list_push(&r->sizes, v);
    return v;
}

/* Sizes that an extent like `2*M + 1` names, declared; false: there are none,
 * or names of other things. */
static bool
declare_sizes(axe_resolver *r, const axe_expr *e)
{
    axe_entry *x;
    bool       any = false;

    if (e->kind == AXE_EXPR_NAME) {
        x = axe_names_find(r, e->word.name);
        if (!x) {
            x = axe_names_add(r, AXE_ENTRY_VAR, e->word);
            if (x->kind != AXE_ENTRY_BAD)
                x->var = axe_resolve_size(r, e->word);
        }
        return x->kind == AXE_ENTRY_VAR;
    }
    for (int i = 0; e->kind == AXE_EXPR_OP && i < e->n_arg; i++)
        any = declare_sizes(r, e->arg[i]) || any;
    return any;
}

/* A first dimension that is affine in sizes; of others, strides would not be
 * products of sizes, and an axis of the mesh (dim -1) is as long as one says.
 */
static const axe_node *
affine_extent(axe_resolver *r, const axe_expr *e, const char *text, int dim)
{
    const axe_node *n = axe_resolve_index(r, e, false, "a dimension");

    if (!n)
        return NULL;
    if (dim == 0 && axe_is_affine_size(r->cx, n))
        return n;
    axe_resolve_fail(r,
                     axe_fail(r->cx, e->at, AXE_ESHAPE,
                              dim < 0   ? "`%s` devices along an axis: it is "
                                          "a size or a constant"
                              : dim > 0 ? "extent `%s` is made of sizes, which "
                                          "only a first dimension may be"
                                        : "extent `%s` is not a sum of "
                                          "multiples of sizes, none below 0",
                              text));
    axe_help(r->cx, "name it, as in `%s`, and give its value",
             dim < 0 ? "mesh gpu[P]" : "X[K]");
    return NULL;
}

/* A dimension of an argument: a size, declared by its first use, a sum of
 * multiples of sizes, or a compile-time integer. */
const axe_node *
axe_resolve_global_extent(axe_resolver *r, const axe_expr *e, const char *text,
                          int dim)
{
    axe_entry *x;
    int64_t    v;

    if (e->kind == AXE_EXPR_PART)
        return axe_resolve_part(
            r, e, axe_resolve_global_extent(r, e->arg[0], text, dim));
    if (e->kind == AXE_EXPR_NAME) {
        x = axe_names_find(r, e->word.name);
        if (!x) {
            x = axe_names_add(r, AXE_ENTRY_VAR, e->word);
            if (x->kind == AXE_ENTRY_BAD)
                return NULL;
            x->var = axe_resolve_size(r, e->word);
        }
        if (x->kind == AXE_ENTRY_VAR)
            return axe_var_node(r->cx, e->at, x->var);
    } else if (declare_sizes(r, e)) {
        return affine_extent(r, e, text, dim);
    }
    if (!axe_resolve_int(r, e, "a dimension that is not a name", &v))
        return NULL;
    if (v >= 1)
        return axe_iconst(r->cx, e->at, AXE_TYPE_INDEX, v);
    axe_resolve_fail(r,
                     axe_fail(r->cx, e->at, AXE_ESHAPE,
                              "extent `%s` is %" PRId64 "; it must be at least "
                              "1",
                              text, v));
    return NULL;
}

static axe_order
order_of(const axe_resolver *r, const char *name)
{
    for (int i = 0; i < r->inst->n_order; i++)
        if (strcmp(r->inst->order_name[i], name) == 0)
            return r->inst->order[i];
    return AXE_ORDER_C;
}

static void
dense_strides(axe_resolver *r, const axe_tensor *t, bool column_major,
              axe_stride *s)
{
    axe_status st = axe_tensor_strides(r->cx, t, column_major, s);

    if (column_major && t->rank > 1 && axe_is_affine_size(r->cx, t->shape[0]) &&
        t->shape[0]->op != AXE_OP_var) {
        st = axe_fail(r->cx, t->at, AXE_EUNSUPPORTED,
                      "`%s` has a first dimension that is a sum, and columns "
                      "that follow one another",
                      t->name);
        axe_help(r->cx, "compile with order \"strided\" for it");
    }
    if (st != AXE_OK)
        axe_resolve_fail(r, st);
}

/* Every stride a size of its own, after the real ones: A.stride0. */
static void
open_strides(axe_resolver *r, axe_tensor *t, axe_stride *s)
{
    for (int k = 0; k < t->rank; k++) {
        const char *name = axe_textf(r->cx, "%s.stride%d", t->name, k);
        axe_word    w = {axe_intern(r->cx, name, strlen(name)), t->at};
        s[k] = (axe_stride){1, axe_resolve_size(r, w)->unit};
    }
}

static axe_tensor *
declare_param(axe_resolver *r, const axe_tensor_decl *d)
{
    axe_tensor      *t = axe_new(r->cx, axe_tensor);
    const axe_node **shape = axe_new_array(r->cx, const axe_node *, d->n_dim);
    bool             ok = axe_resolve_type(r, d->type, &t->type);
    axe_entry       *e;

    for (int k = 0; k < d->n_dim; k++) {
        shape[k] = axe_resolve_global_extent(r, d->dim[k], d->dim_text[k], k);
        ok = ok && shape[k];
    }
    if (d->n_dim > AXE_RANK_MAX)
        ok =
            axe_resolve_fail(r, axe_fail(r->cx, d->word.at, AXE_ELIMIT,
                                         "`%s` has %d dimensions; at most %d "
                                         "are supported",
                                         d->word.name, d->n_dim, AXE_RANK_MAX));
    e = axe_names_add(r, ok ? AXE_ENTRY_TENSOR : AXE_ENTRY_BAD, d->word);
    e->tensor = t;
    axe_list_push(&r->fixed, d->word.name);
    t->name = d->word.name;
    t->at = d->word.at;
    t->id = r->kernel->n_tensor++;
    t->space = AXE_SPACE_GLOBAL;
    t->dir = d->dir;
    t->rank = d->n_dim;
    t->shape = shape;
    return e->kind == AXE_ENTRY_BAD ? NULL : t;
}

static void
check_orders(axe_resolver *r)
{
    for (int i = 0; i < r->inst->n_order; i++) {
        const char *name = r->inst->order_name[i];
        bool        found = false;
        for (int k = 0; k < r->decl->n_param && !found; k++)
            found = strcmp(r->decl->param[k]->word.name, name) == 0;
        if (!found)
            axe_resolve_fail(r, axe_fail(r->cx, r->decl->word.at, AXE_ENAME,
                                         "kernel `%s` has no argument `%s`",
                                         r->decl->word.name, name));
    }
}

static void
resolve_params(axe_resolver *r)
{
    axe_list param = {.cx = r->cx};

    check_orders(r);
    for (int i = 0; i < r->decl->n_param; i++) {
        axe_tensor *t = declare_param(r, r->decl->param[i]);
        if (t)
            axe_list_push(&param, t);
    }
    for (int i = 0; i < param.n; i++) {
        axe_tensor *t = (axe_tensor *)param.item[i];
        axe_stride *s = axe_new_array(r->cx, axe_stride, t->rank);
        axe_order   order = order_of(r, t->name);
        t->packed = order == AXE_ORDER_PACKED;
        if (order == AXE_ORDER_STRIDED || t->packed)
            open_strides(r, t, s);
        else
            dense_strides(r, t, order == AXE_ORDER_F, s);
        t->stride = s;
        axe_resolve_held(r, r->decl->param[i], t);
    }
    r->kernel->n_param = param.n;
    r->kernel->param = (const axe_tensor *const *)(const void *)param.item;
}

/* ---------------------------------------------------------------- kernels */

static void
resolve_kernel(axe_resolver *r)
{
    axe_list body = {.cx = r->cx}, none = {.cx = r->cx};

    r->kernel->name = r->decl->word.name;
    r->kernel->at = r->decl->word.at;
    r->kernel->target = r->decl->target;
    axe_resolve_cores(r);
    axe_resolve_fns(r);
    for (int i = 0; i < r->module->n_shared; i++)
        axe_resolve_one(r, r->module->shared[i], &none);
    r->n_file = r->names.n;
    bind_consts(r);
    axe_resolve_mesh(r);
    resolve_params(r);
    axe_resolve_body(r, r->decl->n_body, r->decl->body, &body);
    axe_names_leave(r, 0);
    r->kernel->n_body = body.n;
    r->kernel->body = (axe_stmt *const *)(const void *)body.item;
    axe_kernel_find_temps(r->cx, r->kernel);
    r->kernel->n_size = r->sizes.n;
    r->kernel->size = (const axe_var *const *)(const void *)r->sizes.item;
}

/* Of a kernel over a mesh, what each device does. */
static axe_status
check_kernel(axe_ctx *cx, const axe_kernel *k)
{
    const axe_stmt *const *device;
    const axe_kernel      *one;
    int n = k->n_axis > 0 ? axe_device_stmts(cx, k, &device) : 0;

    if (k->n_axis == 0)
        return axe_kernel_check(cx, k);
    for (int i = 0; i < n; i++) {
        AXE_TRY(axe_device_kernel(cx, k, device[i], i, false, &one));
        AXE_TRY(axe_kernel_check(cx, one));
    }
    return AXE_OK;
}

axe_status
axe_module_instantiate(axe_ctx *cx, const axe_module *m, const axe_inst *inst,
                       const axe_kernel **out)
{
    axe_resolver r = {
        .cx = cx,
        .source = m->source,
        .module = m,
        .inst = inst,
        .names = {.cx = cx},
        .gone = {.cx = cx},
        .unknown = {.cx = cx},
        .index = {.cx = cx},
        .sizes = {.cx = cx},
        .tiled = {.cx = cx},
        .fixed = {.cx = cx},
        .loops = {.cx = cx},
        .suffix = {.cx = cx},
    };

    AXE_TRY(axe_kernel_find(cx, m, inst->kernel, &r.decl));
    r.kernel = axe_new(cx, axe_kernel);
    r.kernel->cx = cx;
    resolve_kernel(&r);
    AXE_TRY(r.status);
    axe_names_warn(&r);
    AXE_TRY(axe_kernel_verify(cx, r.kernel));
    AXE_TRY(check_kernel(cx, r.kernel));
    *out = r.kernel;
    return AXE_OK;
}
