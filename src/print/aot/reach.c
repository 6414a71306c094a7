/* reach.c - index arithmetic of kernels ahead of time stays within int64.
 *
 * What a launch by axe_launch is checked for by intervals (ir/reach.c), a
 * program that is linked with the text checks itself: of every subscript,
 * extent and condition a bound of its size as a sum of products of sizes, in
 * double precision, where nothing overflows.  Sizes that the intervals allow
 * whatever the others are, which is all but a few, cost one comparison each. */
#include <inttypes.h>
#include <string.h>

#include "ir/list.h"
#include "ir/reach.h"
#include "print/aot/aot_int.h"

typedef struct reach {
    axe_cprinter *p;
    const char  **most; /* by variable: a bound; NULL: not known */
    axe_list      told; /* const char *: bounds to look at */
} reach;

static void look(reach *r, const axe_node *n);

/* A text that |n| does not exceed; NULL: it is not known. */
static const char *
bound(reach *r, const axe_node *n)
{
    axe_ctx    *cx = r->p->cx;
    const char *a = n->n_arg > 0 ? bound(r, n->arg[0]) : NULL;
    const char *b = n->n_arg > 1 ? bound(r, n->arg[1]) : NULL;

    switch (n->op) {
    case AXE_OP_iconst:
        return axe_textf(cx, "%.17g.",
                         n->u.i < 0 ? -(double)n->u.i : (double)n->u.i);
    case AXE_OP_var:
        return r->most[n->u.var->id];
    case AXE_OP_add:
    case AXE_OP_sub:
    case AXE_OP_min:
    case AXE_OP_max:
        return a && b ? axe_textf(cx, "(%s + %s)", a, b) : NULL;
    case AXE_OP_mul:
        return a && b ? axe_textf(cx, "%s * %s", a, b) : NULL;
    case AXE_OP_div:
    case AXE_OP_cdiv:
    case AXE_OP_neg:
    case AXE_OP_abs:
        return a;
    case AXE_OP_mod:
        look(r, n->arg[0]);
        return b;
    default:
        return NULL;
    }
}

/* Bounds of n, or of its parts where it has none itself. */
static void
look(reach *r, const axe_node *n)
{
    const char *text = bound(r, n);

    for (int i = 0; !text && i < n->n_arg; i++)
        look(r, n->arg[i]);
    if (!text || !strstr(text, "(double)"))
        return;
    for (int i = 0; i < r->told.n; i++)
        if (strcmp(r->told.item[i], text) == 0)
            return;
    axe_list_push(&r->told, text);
}

static void
see_range(void *user, const axe_var *v, const axe_node *extent)
{
    reach *r = user;

    r->most[v->id] = extent ? bound(r, extent) : NULL;
    if (extent)
        look(r, extent);
}

static void
see(void *user, const axe_node *n)
{
    look(user, n);
}

/* Constants alone were looked at when the kernel was verified. */
static void
know_sizes(reach *r, const axe_kernel *k)
{
    for (int i = 0; i < k->n_size; i++)
        r->most[k->size[i]->id] =
            axe_textf(r->p->cx, "(double)%s", axe_c_var(r->p, k->size[i]));
    if (k->cores)
        r->most[k->cores->id] = "1048576.";
}

void
axe_aot_check_reach(axe_cprinter *p, axe_buf *b)
{
    const axe_kernel *k = p->l->plan->kernel;
    int64_t           any = axe_kernel_reach(p->cx, k);
    reach             r = {.p = p,
                           .most = axe_new_array(p->cx, const char *, k->n_var + 1),
                           .told = {.cx = p->cx}};

    know_sizes(&r, k);
    axe_kernel_see_indices(p->cx, k, &(axe_index_eye){&r, see_range, see});
    if (r.told.n == 0 || k->n_size == 0)
        return;
    axe_puts(b, "    if (!status && (");
    for (int i = 0; i < k->n_size; i++)
        axe_putf(b, "%s%s > %" PRId64, i ? " || " : "",
                 axe_c_var(p, k->size[i]), any);
    axe_puts(b, ") && (");
    for (int i = 0; i < r.told.n; i++)
        axe_putf(b, "%s%s > 0x1p62", i ? " ||\n        " : "",
                 (const char *)r.told.item[i]);
    axe_puts(b, "))\n        status = AXE_AOT_EOVERFLOW;\n");
}
