/* bind.c - what the indices of the statement at hand are bound to: one over
 * partitions, one along them, the others to loops. */
#include "lower/systolic/sys.h"

sys_bind *
sys_bind_to(sys *s, const axe_var *v, sys_ex base, sys_ex count)
{
    sys_bind *b;

    if (s->n_bind == SYS_MAX_BIND) {
        sys_fail(s, s->s->at, "divide the statement",
                 "the statement has more than %d indices", SYS_MAX_BIND);
        s->n_bind--;
    }
    b = &s->bind[s->n_bind++];
    *b = (sys_bind){v, base, count, sys_c(0)};
    return b;
}

sys_ex
sys_parts(const sys *s)
{
    return s->P ? s->P->count : sys_c(1);
}

sys_ex
sys_cols(const sys *s)
{
    return s->F ? s->F->count : sys_c(1);
}

sys_ex
sys_rest(sys *s, sys_ex e, sys_ex base, int64_t most, bool opened)
{
    if (!opened)
        return e;
    if (!e.t && e.c % most == 0)
        return sys_c(most);
    return sys_named(s, "n", sys_min(s, sys_c(most), sys_sub(s, e, base)));
}

int
sys_open(sys *s, int n, const axe_dim *dim, bool *opened)
{
    for (int i = 0; i < n; i++) {
        sys_ex e = sys_extent(s, s->s, dim[i].var);
        sys_ex v = sys_for(s, dim[i].var->name, e, &opened[i]);
        sys_bind_to(s, dim[i].var, v, sys_c(1));
    }
    return n;
}

void
sys_close(sys *s, int n_opened, const bool *opened, int n_bind)
{
    for (int i = n_opened - 1; i >= 0; i--)
        sys_end(s, opened[i]);
    s->n_bind = n_bind;
}

sys_bind *
sys_bind_blocks(sys *s, const axe_var *v, int64_t by, bool *opened)
{
    sys_ex    e = sys_extent(s, s->s, v);
    sys_ex    b = sys_for(s, v->name, sys_up(s, e, by), opened);
    sys_ex    base = sys_mul(s, sys_c(by), b);
    sys_bind *x = sys_bind_to(s, v, base, sys_rest(s, e, base, by, *opened));

    x->block = b;
    return x;
}
