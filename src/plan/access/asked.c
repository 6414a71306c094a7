/* asked.c - a statement's accesses, resolved once for the layouts they have.
 *
 * While layouts are being found statements are asked again and again, and of
 * most nothing has changed.  The planner keeps the last answer of each.  It
 * holds as long as the places of the tiles touched are those of then; all else
 * that it rests on, the kernel, pipelines, thread groups, stays while a planner
 * lives. */
#include <string.h>

#include "layout/alike.h"
#include "plan/access/access.h"

/* An answer, and the places [n_operand] under which it was given. */
struct axe_asked {
    axe_request      r;
    const axe_place *at;
};

/* The part of a place that accesses depend on. */
static bool
is_as(const axe_place *a, const axe_place *b)
{
    return a->tensor == b->tensor && a->type == b->type &&
           a->stage == b->stage && a->each == b->each && a->view == b->view &&
           (a->layout == b->layout ||
            (a->layout && b->layout && axe_layout_alike(a->layout, b->layout)));
}

static bool
holds(const axe_planner *p, const axe_asked *k)
{
    for (int i = 0; i < k->r.n_operand; i++)
        if (!is_as(&k->at[i], &p->place[k->r.operand[i].load->u.tensor->id]))
            return false;
    return true;
}

static axe_asked *
keep(const axe_planner *p, const axe_request *r)
{
    axe_asked *k = axe_new(p->cx, axe_asked);
    axe_place *at = axe_new_array(p->cx, axe_place, r->n_operand);

    for (int i = 0; i < r->n_operand; i++)
        at[i] = p->place[r->operand[i].load->u.tensor->id];
    *k = (axe_asked){*r, at};
    return k;
}

/* What a planner changes of a request is its own. */
static void
copy(axe_ctx *cx, const axe_request *from, axe_request *out)
{
    *out = *from;
    out->operand = axe_new_array(cx, axe_operand, from->n_operand);
    memcpy(out->operand, from->operand,
           (size_t)from->n_operand * sizeof *from->operand);
    out->nest = axe_new_array(cx, axe_nest, from->n_nest);
    memcpy(out->nest, from->nest, (size_t)from->n_nest * sizeof *from->nest);
}

axe_status
axe_request_of(axe_planner *p, const axe_stmt *s, axe_request *out)
{
    axe_asked **last = &p->asked[s->id];
    axe_request r;

    if (!*last || !holds(p, *last)) {
        AXE_TRY(axe_request_make(p, s, &r));
        *last = keep(p, &r);
    }
    copy(p->cx, &(*last)->r, out);
    return AXE_OK;
}
