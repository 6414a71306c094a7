/* build_attr.c - a builder's statements without blocks: attributes of an index
 * statement, jumps, barriers, and what all entities of a kernel share. */
#include <stdlib.h>
#include <string.h>

#include "ir/build_int.h"

/* ------------------------------------------------------------- attributes */

/* n numbers, with commas between them and brackets or not. */
static bool
read_values(const char *text, int n, int64_t *out)
{
    char *end = (char *)text;

    for (int i = 0; i < n; i++) {
        text = end + strspn(end, i ? " ,(" : " (");
        out[i] = strtoll(text, &end, 10);
        if (end == text)
            return false;
    }
    return end[strspn(end, " )")] == '\0';
}

static void
add_attr(axe_builder *b, axe_attr_key key, const char *value)
{
    const axe_attr_info *info = &axe_attr_table[key];
    axe_attr             a = {key, b->at, {0, 0}};
    axe_status           st;

    if (info->n_value == AXE_ATTR_NAME ? !value
                                       : (value != NULL) != (info->n_value > 0))
        axe_build_fail(b, AXE_EARG,
                       value ? "`%s` takes no value" : "`%s` needs a value",
                       info->name);
    else if (key == AXE_ATTR_via)
        b->last->via = axe_intern(b->cx, value, strlen(value));
    else if (key == AXE_ATTR_atom)
        b->last->atom = axe_intern(b->cx, value, strlen(value));
    else if (key == AXE_ATTR_slow)
        b->last->slow = true;
    else if (value && !read_values(value, info->n_value, a.value))
        axe_build_fail(b, AXE_EARG, "`%s` is given by %d number%s, not by `%s`",
                       info->name, info->n_value, info->n_value > 1 ? "s" : "",
                       value);
    else {
        st = axe_attr_add(b->cx, b->last, &a);
        if (st != AXE_OK)
            b->status = st;
    }
}

void
axe_build_attribute(axe_builder *b, const char *key, const char *value)
{
    const char  *known[AXE_N_ATTR];
    axe_attr_key k;

    if (!axe_build_begin(b))
        return;
    for (int i = 0; i < AXE_N_ATTR; i++)
        known[i] = axe_attr_table[i].name;
    if (!key || !axe_attr_find(key, &k))
        axe_build_unknown(b, "attribute of a statement", key, AXE_N_ATTR,
                          known);
    else if (!b->last)
        axe_build_fail(b, AXE_EARG,
                       "`%s` belongs to an index statement, and none was just "
                       "made",
                       key);
    else
        add_attr(b, k, value);
}

/* ------------------------------------------------------- jumps, barriers */

static void
push(axe_builder *b, axe_stmt_kind kind)
{
    axe_stmt *s = axe_build_begin(b) ? axe_build_stmt(b, kind) : NULL;

    if (s)
        axe_list_push(&b->block->body, s);
}

void
axe_build_break(axe_builder *b)
{
    push(b, AXE_STMT_BREAK);
}

void
axe_build_continue(axe_builder *b)
{
    push(b, AXE_STMT_CONTINUE);
}

void
axe_build_barrier(axe_builder *b)
{
    push(b, AXE_STMT_BARRIER);
}

/* ---------------------------------------------------------------- sharing */

const axe_ir_expr *
axe_build_cores(axe_builder *b)
{
    if (!axe_build_begin(b))
        return NULL;
    return axe_build_node(b, axe_var_node(b->cx, b->at, b->kernel->cores), 1);
}

/* Constants and sizes, but for the slowest dimension, which no stride needs. */
static bool
global_shape(axe_builder *b, axe_tensor *t, const axe_ir_expr *const *shape)
{
    const axe_node **out = axe_new_array(b->cx, const axe_node *, t->rank);
    int64_t          e;

    for (int k = 0; k < t->rank; k++) {
        if (!axe_build_has_expr(b, shape[k], "an extent"))
            return false;
        out[k] = shape[k]->node;
        if ((k > 0 && !axe_is_iconst(out[k], &e) && out[k]->op != AXE_OP_var) ||
            (axe_is_iconst(out[k], &e) && e < 1))
            return axe_build_fail(b, AXE_ESHAPE,
                                  "extent `%s` of `%s` is neither a size nor a "
                                  "positive integer",
                                  axe_node_text(b->cx, out[k]), t->name);
    }
    t->shape = out;
    return true;
}

axe_ir_tensor *
axe_build_global(axe_builder *b, const char *type, const char *name, int rank,
                 const axe_ir_expr *const *shape)
{
    axe_tensor    *t;
    axe_ir_tensor *h;
    axe_stride    *stride;
    axe_stmt      *s;
    axe_type       of;

    if (!axe_build_begin(b) || !axe_build_type(b, type, &of) ||
        !(name = axe_build_name(b, name)))
        return NULL;
    if (rank < 1 || rank > AXE_RANK_MAX || !shape) {
        axe_build_fail(b, AXE_ESHAPE,
                       "`%s` has %d dimensions; it must have 1 to %d", name,
                       shape ? rank : 0, AXE_RANK_MAX);
        return NULL;
    }
    t = axe_new(b->cx, axe_tensor);
    stride = axe_new_array(b->cx, axe_stride, rank);
    *t = (axe_tensor){.name = name,
                      .at = b->at,
                      .id = b->kernel->n_tensor++,
                      .space = AXE_SPACE_GLOBAL,
                      .type = of,
                      .rank = rank,
                      .stride = stride};
    s = global_shape(b, t, shape) ? axe_build_stmt(b, AXE_STMT_TENSOR) : NULL;
    if (!s)
        return NULL;
    b->status = axe_tensor_strides(b->cx, t, false, stride);
    s->tensor = t;
    axe_list_push(&b->block->body, s);
    h = axe_new(b->cx, axe_ir_tensor);
    h->owner = b;
    h->tensor = t;
    return h;
}
