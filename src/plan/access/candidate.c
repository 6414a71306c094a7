/* candidate.c - what the planners of products share, see candidate.h. */
#include "plan/access/candidate.h"

const axe_atom *
axe_product_row(const axe_machine *mc, int *at)
{
    while (*at < mc->n_atom) {
        const axe_atom *a = &mc->atom[(*at)++];
        if (a->kind == AXE_ATOM_CONTRACT && axe_machine_has(mc, a))
            return a;
    }
    return NULL;
}

void
axe_candidate_add(axe_ctx *cx, axe_candidates *list, const axe_candidate *c)
{
    int at = list->n;

    if (at == AXE_MAX_CANDIDATE && c->score >= list->of[at - 1]->score)
        return;
    if (at == AXE_MAX_CANDIDATE)
        at--;
    else
        list->n++;
    for (; at > 0 && c->score < list->of[at - 1]->score; at--)
        list->of[at] = list->of[at - 1];
    list->of[at] = axe_new(cx, axe_candidate);
    *list->of[at] = *c;
}
