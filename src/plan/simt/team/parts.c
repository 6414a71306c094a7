/* parts.c - launches that go on with other scopes. */
#include "plan/simt/simt.h"

bool
axe_simt_goes_on(const axe_simt_plan *sp, const axe_simt_launch *l)
{
    return l->overlap && l != &sp->launch[l->overlap->first];
}

bool
axe_simt_is_followed(const axe_simt_plan *sp, const axe_simt_launch *l)
{
    return l->overlap &&
           l != &sp->launch[l->overlap->first + l->overlap->n - 1];
}

int
axe_simt_parts(const axe_simt_launch *first)
{
    return first->overlap ? first->overlap->n : 1;
}
