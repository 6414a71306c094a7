/* host.c - what the host of a GPU does: scopes at the top of a kernel are
 * launches, one after the other; loops and branches around them are its own.
 *
 *     for (t : T) {
 *         cta (...) ...        launch 0, with t as an argument
 *         cta (...) ...        launch 1
 *     }
 *
 * Scopes that overlap are one launch.  Launches of a stream run in order, so
 * that each finds what those before it wrote, in this iteration and the ones
 * before. */
#include <string.h>

#include "lower/simt/simt_int.h"

typedef struct host_walk {
    axe_ctx        *cx;
    const axe_plan *plan;
    axe_lowered    *out;
    int             n_host_loop;
    const axe_var  *host_loop[AXE_NEST_MAX + 1];
} host_walk;

/* The grid that the scope is, or goes on with. */
static int
grid_of(const host_walk *w, const axe_stmt *s, bool *goes_on)
{
    const axe_simt_plan *sp = w->plan->simt;
    int                  grid = -1;

    for (int i = 0;; i++) {
        *goes_on = axe_simt_goes_on(sp, &sp->launch[i]);
        grid += !*goes_on;
        if (sp->launch[i].scope == s)
            return grid;
    }
}

static void
note_host_loops(host_walk *w, axe_grid *g)
{
    g->n_host_loop = w->n_host_loop;
    g->host_loop = axe_new_array(w->cx, const axe_var *, w->n_host_loop + 1);
    memcpy(g->host_loop, w->host_loop,
           (size_t)w->n_host_loop * sizeof w->host_loop[0]);
}

/* Declarations and barriers are none of its business. */
static axe_host *
host_body(host_walk *w, int n, axe_stmt *const *body, int *n_out)
{
    axe_host *out = axe_new_array(w->cx, axe_host, n + 1);

    *n_out = 0;
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        axe_host       *h = &out[*n_out];
        bool            loop = s->kind == AXE_STMT_FOR, goes_on;
        if (s->kind == AXE_STMT_SCOPE) {
            h->kind = AXE_HOST_GRID;
            h->grid = grid_of(w, s, &goes_on);
            if (goes_on)
                continue;
            note_host_loops(w, &w->out->grid[h->grid]);
        } else if (loop || s->kind == AXE_STMT_IF) {
            h->kind = loop ? AXE_HOST_LOOP : AXE_HOST_IF;
            h->cond = s->cond;
            if (loop)
                w->host_loop[w->n_host_loop++] = h->var = s->var[0];
            h->body = host_body(w, s->n_body, s->body, &h->n_body);
            h->other = host_body(w, s->n_other, s->other, &h->n_other);
            w->n_host_loop -= loop;
        } else {
            continue;
        }
        ++*n_out;
    }
    return out;
}

void
axe_simt_lower_host(axe_ctx *cx, const axe_plan *p, axe_lowered *out)
{
    host_walk w = {.cx = cx, .plan = p, .out = out};

    out->host = host_body(&w, p->kernel->n_body, p->kernel->body, &out->n_host);
}
