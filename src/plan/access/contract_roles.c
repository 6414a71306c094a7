/* contract_roles.c - which index of a sum of products is which.
 *
 * An index variable is a row (m: in c and a), a column (n: in c and b), a
 * sum (k: in a and b), or a batch (in all). */
#include <string.h>

#include "plan/access/access.h"
#include "plan/access/contract_roles.h"

const axe_node *
axe_contract_strip(const axe_node *n)
{
    while (n->op == AXE_OP_cast && axe_type_widens(n->arg[0]->type, n->type))
        n = n->arg[0];
    return n;
}

static bool
has(const axe_node *load, const axe_var *v)
{
    for (int i = 0; i < load->n_arg; i++)
        if (axe_mentions(load->arg[i], v))
            return true;
    return false;
}

/* The index counts rows, columns or sums, fastest of those so far. */
static bool
add_index(axe_roles *out, int which, const axe_dim *d)
{
    const axe_dim **last = which == AXE_ROWS      ? &out->m
                           : which == AXE_COLUMNS ? &out->n
                                                  : &out->k;

    if (*last && out->n_more[which] == AXE_MAX_MORE)
        return false;
    if (*last)
        out->more[which][out->n_more[which]++] = *last;
    *last = d;
    return true;
}

/* Sort the variables into roles with x as the left factor; false if this is no
 * contraction of rows, columns and sums. */
static bool
assign(const axe_stmt *s, const axe_node *x, const axe_node *y, axe_roles *out)
{
    for (int i = 0; i < s->n_dim; i++) {
        const axe_dim *d = &s->dim[i];
        bool           in_c = has(s->dst, d->var), in_x = has(x, d->var),
             in_y = has(y, d->var);
        int which = !in_c && in_x && in_y   ? AXE_SUMS
                    : in_c && in_x && !in_y ? AXE_ROWS
                    : in_c && in_y && !in_x ? AXE_COLUMNS
                                            : AXE_N_ROLE;
        if (in_c && in_x && in_y && out->n_batch < AXE_LEN(out->batch))
            out->batch[out->n_batch++] = d;
        else if (which == AXE_N_ROLE || !add_index(out, which, d))
            return false;
    }
    return out->m && out->n && out->k;
}

/* Left factor: the one whose free variable comes first in the destination. */
bool
axe_contract_assign(const axe_stmt *s, const axe_node **x, const axe_node **y,
                    axe_roles *out)
{
    const axe_node *t = *x;
    bool            is = assign(s, *x, *y, out);

    if (!is || out->m <= out->n)
        return is;
    *x = *y;
    *y = t;
    memset(out, 0, sizeof *out);
    return assign(s, *x, *y, out);
}

static bool
sort_out(const axe_stmt *s, const axe_node **x, const axe_node **y,
         axe_roles *out)
{
    const axe_node *v = s->value;

    if (s->atom || s->fold != AXE_FOLD_SUM || v->op != AXE_OP_mul)
        return false;
    *x = axe_contract_strip(v->arg[0]);
    *y = axe_contract_strip(v->arg[1]);
    return (*x)->op == AXE_OP_load && (*y)->op == AXE_OP_load &&
           axe_contract_assign(s, x, y, out);
}

bool
axe_contract_sort(const axe_stmt *s, const axe_node **x, const axe_node **y,
                  axe_roles *out)
{
    return sort_out(s, x, y, out) && out->n_more[AXE_SUMS] == 0;
}

bool
axe_contract_roles(const axe_stmt *s, const axe_node **x, const axe_node **y,
                   axe_roles *out)
{
    return sort_out(s, x, y, out) && out->n_more[AXE_ROWS] == 0 &&
           out->n_more[AXE_COLUMNS] == 0;
}

bool
axe_contract_wanted(const axe_stmt *s)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};

    return axe_contract_sort(s, &x, &y, &ro) && ro.n_more[AXE_ROWS] == 0 &&
           ro.n_more[AXE_COLUMNS] == 0;
}

int
axe_find_operand(const axe_request *r, const axe_node *load)
{
    for (int i = 0; i < r->n_operand; i++)
        if (r->operand[i].load == load)
            return i;
    return -1;
}
