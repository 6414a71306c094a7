/* resolve_global.c - what all entities of a kernel share: global tensors of its
 * own, and the number of workers. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "lang/resolve_int.h"

void
axe_resolve_cores(axe_resolver *r)
{
    axe_word w = {axe_intern(r->cx, AXE_CORES, strlen(AXE_CORES)), AXE_NOWHERE};
    axe_entry *e = axe_new(r->cx, axe_entry);

    e->kind = AXE_ENTRY_VAR;
    e->name = w.name;
    e->at = w.at;
    e->var = axe_resolve_var(r, AXE_VAR_SIZE, w, NULL);
    axe_list_push(&r->names, e);
    axe_list_push(&r->fixed, w.name);
    r->kernel->cores = e->var;
}

/* Strides are products of extents, so that all but the first are sizes or
 * constants; the first may be any count, as of partial sums. */
static const axe_node *
resolve_extent(axe_resolver *r, const axe_tensor_decl *d, int k)
{
    const axe_node *n = axe_resolve_most(
        r, d->dim[k], axe_resolve_index(r, d->dim[k], false, "an extent"));
    bool size = n && n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_SIZE &&
                n->u.var != r->kernel->cores;
    int64_t v;

    if (n && axe_is_iconst(n, &v) && v < 1)
        axe_resolve_fail(r, axe_fail(r->cx, d->dim[k]->at, AXE_ESHAPE,
                                     "extent `%s` is %" PRId64
                                     "; it must be at least 1",
                                     d->dim_text[k], v));
    else if (n && k > 0 && !size && !axe_is_iconst(n, &v)) {
        axe_resolve_fail(r, axe_fail(r->cx, d->dim[k]->at, AXE_ESHAPE,
                                     "extent `%s` is neither a size nor a "
                                     "constant",
                                     d->dim_text[k]));
        axe_help(r->cx, "only the first dimension may be a count of another "
                        "kind: put it there");
    } else
        return n;
    return NULL;
}

static bool
check_decl(axe_resolver *r, const axe_tensor_decl *d)
{
    axe_status st = AXE_OK;

    if (r->depth > 1 || r->call) {
        st = axe_fail(r->cx, d->word.at, AXE_ENAME,
                      "`%s` is global, but declared inside a block",
                      d->word.name);
        axe_help(r->cx, "declare it at the top of the kernel, before its "
                        "scopes");
    } else if (d->n_dim > AXE_RANK_MAX)
        st = axe_fail(r->cx, d->word.at, AXE_ELIMIT,
                      "`%s` has %d dimensions; at most %d are supported",
                      d->word.name, d->n_dim, AXE_RANK_MAX);
    else if (d->layout_text) {
        st = axe_fail(r->cx, d->layout_at, AXE_EUNSUPPORTED,
                      "`%s` is global and row-major; it takes no layout",
                      d->word.name);
    } else if (d->init) {
        st = axe_fail(r->cx, d->init->at, AXE_ESHAPE,
                      "`%s` is global and has no initial value: no entity "
                      "would write it",
                      d->word.name);
        axe_help(r->cx, "write it in a scope of its own");
    }
    return st == AXE_OK || axe_resolve_fail(r, st);
}

void
axe_resolve_global(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    const axe_tensor_decl *d = x->tensor[0];
    axe_tensor            *t = axe_new(r->cx, axe_tensor);
    const axe_node **shape = axe_new_array(r->cx, const axe_node *, d->n_dim);
    axe_stride      *stride = axe_new_array(r->cx, axe_stride, d->n_dim);
    axe_stmt        *s = axe_new(r->cx, axe_stmt);
    axe_status       st;
    bool ok = check_decl(r, d) && axe_resolve_type(r, d->type, &t->type);

    for (int k = 0; k < d->n_dim && ok; k++) {
        shape[k] = resolve_extent(r, d, k);
        ok = shape[k] != NULL;
    }
    axe_entry *e =
        axe_names_add(r, ok ? AXE_ENTRY_TENSOR : AXE_ENTRY_BAD, d->word);
    if (e->kind == AXE_ENTRY_BAD)
        return;
    *t = (axe_tensor){
        .name = axe_names_fresh(r, d->word.name, AXE_NAMED_TILE),
        .at = d->word.at,
        .id = r->kernel->n_tensor++,
        .space = AXE_SPACE_GLOBAL,
        .type = t->type,
        .rank = d->n_dim,
        .shape = shape,
        .stride = stride,
    };
    e->tensor = t;
    s->kind = AXE_STMT_TENSOR;
    s->at = d->word.at;
    s->tensor = t;
    st = axe_tensor_strides(r->cx, t, false, stride);
    if (st == AXE_OK && axe_resolve_held(r, d, t))
        axe_list_push(out, s);
    else if (st != AXE_OK)
        axe_resolve_fail(r, st);
}
