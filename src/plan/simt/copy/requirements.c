/* requirements.c - what copies without registers ask of a machine and of
 * strides.
 */
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/copy/copy_int.h"

/* All of c; false: never. */
bool
axe_simt_require(axe_ctx *cx, const axe_node **all, const axe_node *c)
{
    int64_t v;

    if (axe_is_iconst(c, &v))
        return v != 0;
    *all = *all ? axe_simt_and(cx, *all, c) : c;
    return true;
}

const axe_node *
axe_simt_stride_node(const axe_planner *p, axe_stride s)
{
    axe_ctx        *cx = p->cx;
    const axe_node *n = axe_index_const(cx, s.coef);

    for (int i = 0; i < axe_unit_n_factor(cx, s.unit); i++)
        for (int k = 0; k < p->kernel->n_size; k++)
            if (strcmp(p->kernel->size[k]->name,
                       axe_unit_factor(cx, s.unit, i)) == 0)
                n = axe_node2(
                    cx, AXE_OP_mul, n,
                    axe_var_node(cx, AXE_NOWHERE, p->kernel->size[k]));
    return n;
}

const axe_atom *
axe_simt_box_row(const axe_machine *mc, axe_fold fold, axe_type t,
                 axe_arg_space d, axe_arg_space from, axe_arg_space barrier)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *a = &mc->atom[i];
        if (a->kind == AXE_ATOM_COPY && a->fold == fold &&
            (a->type[0] == AXE_TYPE_any || a->type[0] == t) &&
            a->space[0] == d && a->space[1] == from && a->space[2] == barrier &&
            axe_machine_has(mc, a))
            return a;
    }
    return NULL;
}

bool
axe_simt_require_strides(axe_planner *p, const axe_tensor *t, unsigned ask,
                         const axe_node **all)
{
    int64_t n = 16 * 8 / axe_type_table[t->type].bits;

    for (int d = 0; d < t->rank; d++)
        if (ask >> d & 1 &&
            !axe_simt_require(
                p->cx, all,
                axe_simt_multiple(p->cx, axe_simt_stride_node(p, t->stride[d]),
                                  n)))
            return false;
    return true;
}
