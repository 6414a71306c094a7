/* jobs.c - what is asynchronous: when it is done, and who waits for it.
 *
 * A job is done when it is issued, when something waits for it, or when nothing
 * else moves; with it those that its stream does before it.  Lanes wait for
 * groups of their jobs of a stream. */
#include <stdlib.h>

#include "ptx.h"

ptx_job *
ptx_job_new(ptx_warp *w, const ptx_insn *i, uint32_t lanes, ptx_stream s, int n)
{
    ptx_job *j = calloc(1, sizeof *j + (size_t)n * sizeof j->lane[0]);

    if (!j)
        abort();
    j->warp = w;
    j->insn = i;
    j->lanes = lanes;
    j->stream = s;
    j->group = -1;
    free(w->cta->cluster->made);
    w->cta->cluster->made = j;
    return j;
}

ptx_result
ptx_run_job(ptx_job *j)
{
    ptx_cluster *c = j->warp->cta->cluster;
    ptx_result   r = j->run(j);

    if (j->prev)
        j->prev->next = j->next;
    else
        c->first = j->next;
    if (j->next)
        j->next->prev = j->prev;
    else
        c->last = j->prev;
    c->n_job--;
    c->moved = true;
    free(j);
    return r;
}

/* Jobs that are done one after the other. */
static bool
in_order(const ptx_job *a, const ptx_job *b)
{
    if (a->stream != b->stream || a->stream == J_BOX || a->stream == J_BULK)
        return false;
    return a->stream == J_TC || a->warp == b->warp;
}

/* A product of a warp group begins when all of its warps have asked for it. */
bool
ptx_asked(const ptx_job *j)
{
    const ptx_warp *w = j->warp - j->warp->id % 4;

    for (int k = 0; k < 4 && j->stream == J_WGMMA; k++)
        if (w[k].n_wgmma <= j->number)
            return false;
    return true;
}

static bool
may_run(const ptx_job *j)
{
    if (!ptx_asked(j))
        return false;
    for (const ptx_job *p = j->prev; p; p = p->prev)
        if (in_order(p, j))
            return false;
    return true;
}

static bool
same_product(const ptx_job *a, const ptx_job *b)
{
    return a->stream == J_WGMMA && b->stream == J_WGMMA &&
           a->warp->cta == b->warp->cta && a->warp->id / 4 == b->warp->id / 4 &&
           a->number <= b->number;
}

/* The job, and everything that must be done before it; of a product that all
 * have asked for now the other warps' parts, too. */
static ptx_result
run_to(const ptx_job *last)
{
    const ptx_job own = *last;
    bool          before = true;
    ptx_job      *next;

    for (ptx_job *j = last->warp->cta->cluster->first; j; j = next) {
        bool is = before && (j == last || in_order(j, &own));
        next = j->next;
        before = before && j != last;
        if ((is || same_product(j, &own)) && ptx_run_job(j) != PTX_DONE)
            return PTX_WRONG;
    }
    return PTX_DONE;
}

ptx_result
ptx_issue(ptx_job *j)
{
    ptx_cluster *c = j->warp->cta->cluster;
    int          order = c->gpu->order;

    c->made = NULL;
    j->prev = c->last;
    if (c->last)
        c->last->next = j;
    else
        c->first = j;
    c->last = j;
    c->n_job++;
    if (ptx_asked(j) &&
        (order == 0 || (order > 1 && ptx_random(c->gpu) % 3 == 0)))
        return run_to(j);
    return PTX_DONE;
}

ptx_result
ptx_issue_each(ptx_warp *w, const ptx_insn *i, uint32_t lanes, ptx_stream s,
               ptx_result (*run)(ptx_job *j), ptx_fill *fill)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int        l = ptx_first(left);
        ptx_job   *j = ptx_job_new(w, i, 1u << l, s, 0);
        ptx_result r = fill(j, l);
        j->run = run;
        if (r == PTX_DONE)
            r = ptx_issue(j);
        if (r != PTX_DONE)
            return r;
    }
    return PTX_DONE;
}

/* Late is boxes first: so what still reads a stage sees that it is filled. */
ptx_result
ptx_any_job(ptx_cluster *c)
{
    ptx_job *found = NULL;
    unsigned n = 0;

    for (ptx_job *j = c->first; j; j = j->next) {
        bool sooner = c->gpu->order > 1 ? ptx_random(c->gpu) % (n + 1) == 0
                                        : !found || (found->stream != J_BOX &&
                                                     j->stream == J_BOX);
        if (!may_run(j))
            continue;
        n++;
        found = sooner ? j : found;
    }
    return found ? run_to(found) : PTX_DONE;
}

/* A group is what these lanes have issued since their last. */
ptx_result
ptx_commit(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_stream s = i->op->stream;

    for (ptx_job *j = w->cta->cluster->first; j; j = j->next) {
        if (j->warp != w || j->stream != s || j->group >= 0 ||
            !(j->lanes & lanes))
            continue;
        if (j->lanes & ~lanes)
            return ptx_wrong(w, i,
                             "some lanes of a warp commit what more of "
                             "them issued");
        j->group = w->group[s][ptx_first(j->lanes)];
    }
    for (uint32_t left = lanes; left; left &= left - 1)
        w->group[s][ptx_first(left)]++;
    return PTX_DONE;
}

/* The first job of these lanes that is not of their last n groups. */
static ptx_job *
unfinished(const ptx_warp *w, uint32_t lanes, ptx_stream s, int n)
{
    ptx_job *j = w->cta->cluster->first;

    while (j &&
           (j->warp != w || j->stream != s || !(j->lanes & lanes) ||
            j->group < 0 || w->group[s][ptx_first(j->lanes)] - j->group <= n))
        j = j->next;
    return j;
}

ptx_result
ptx_finish(ptx_warp *w, uint32_t lanes, ptx_stream s, int n)
{
    ptx_job *j;

    while ((j = unfinished(w, lanes, s, n))) {
        if (!ptx_asked(j))
            return PTX_BLOCKED;
        if (run_to(j) != PTX_DONE)
            return PTX_WRONG;
    }
    return PTX_DONE;
}

ptx_result
ptx_wait_groups(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return ptx_finish(w, lanes, i->op->stream,
                      (int)ptx_get(w, i->arg[0].op, ptx_first(lanes)));
}
