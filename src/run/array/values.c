/* values.c - integer expressions over sizes. */
#include "run/array/values.h"

enum { LINE_BYTES = 64 };

static int64_t
value_of(const axe_values *in, const axe_var *v)
{
    for (const axe_iteration *t = in->iteration; t; t = t->around)
        if (t->var == v)
            return t->value;
    for (int i = 0; i < in->kernel->n_size; i++)
        if (in->kernel->size[i] == v)
            return in->size[i];
    return in->cores;
}

bool
axe_value_of(const axe_values *in, const axe_node *n, int64_t *out)
{
    int64_t a[3] = {0};

    if (n->op == AXE_OP_iconst || n->op == AXE_OP_var) {
        *out = n->op == AXE_OP_var ? value_of(in, n->u.var) : n->u.i;
        return true;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (i >= AXE_LEN(a) || !axe_value_of(in, n->arg[i], &a[i]))
            return false;
    return axe_op_value(n->op, a, out);
}

bool
axe_temp_bytes(const axe_values *in, const axe_tensor *t, int64_t *out)
{
    int64_t n = 1, e;

    for (int d = 0; d < t->rank; d++) {
        if (!axe_value_of(in, t->shape[d], &e) ||
            !axe_mul(n, e > 0 ? e : 0, &n))
            return false;
    }
    return axe_mul(n, axe_type_table[t->type].bits, &n) &&
           axe_add(n / 8, LINE_BYTES - 1, out) &&
           axe_mul(*out / LINE_BYTES, LINE_BYTES, out);
}
