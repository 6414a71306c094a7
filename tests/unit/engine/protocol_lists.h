/* protocol_lists.h - lists of steps, run in all orders and changed. */
#ifndef PROTOCOL_LISTS_H
#define PROTOCOL_LISTS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/protocol.h"

static const axe_reshard_plan *
plan_of(axe_ctx *cx, const char *mesh, const char *src, const char *dst)
{
    axe_reshard_options     opt = {.bits = 64};
    const axe_mesh         *m;
    axe_spread              a, b;
    const axe_reshard_plan *p = NULL;

    if (axe_mesh_read(cx, mesh, &m) != AXE_OK ||
        axe_spread_read(cx, m, src, &a) != AXE_OK ||
        axe_spread_read(cx, m, dst, &b) != AXE_OK ||
        axe_reshard(cx, m, &a, &b, &opt, &p) != AXE_OK)
        fail_msg("%s: %s to %s: %s", mesh, src, dst, axe_last_error(cx));
    return p;
}

/* All orders of one list; what is found of any. */
static inline void
simulate(axe_ctx *cx, const axe_reshard_plan *p, const protocol *rank,
         axe_sim_report *out)
{
    protocol_run r = {
        .plan = p, .rank = rank, .type = AXE_NUMBER_I64, .what = "a plan"};

    *out = (axe_sim_report){0};
    for (int64_t i = 0; protocol_next_order(p->mesh->n_device, i, 1, &r); i++)
        if (protocol_simulate(cx, &r, out) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
}

static inline bool
has(const axe_sim_report *r, axe_sim_kind kind)
{
    for (int i = 0; i < r->n_finding; i++)
        if (r->finding[i].kind == kind)
            return true;
    return false;
}

static inline void
print(const axe_sim_report *r)
{
    for (int i = 0; i < r->n_finding; i++)
        print_message("    %s: %s\n", axe_sim_kind_name(r->finding[i].kind),
                      r->finding[i].text);
}

/* The n-th step of a kind in a list; NULL. */
static inline protocol_step *
step_of(protocol *p, protocol_kind kind, int n)
{
    for (int i = 0; i < p->n_step; i++)
        if (p->step[i].kind == kind && n-- == 0)
            return &p->step[i];
    return NULL;
}

static inline void
drop(protocol *p, protocol_step *s)
{
    int64_t i = s - p->step;

    memmove(s, s + 1, (size_t)(p->n_step - i - 1) * sizeof *s);
    p->n_step--;
}

/* Once more, behind it. */
static inline void
twice(axe_ctx *cx, protocol *p, protocol_step *s)
{
    protocol_step *more = axe_new_array(cx, protocol_step, p->n_step + 1);
    int64_t        i = s - p->step;

    memcpy(more, p->step, (size_t)(i + 1) * sizeof *s);
    memcpy(more + i + 1, s, (size_t)(p->n_step - i) * sizeof *s);
    p->step = more;
    p->n_step++;
}

static inline void
swap(protocol_step *a, protocol_step *b)
{
    protocol_step t = *a;

    *a = *b;
    *b = t;
}

/* A pull of another rank's, the n-th. */
static inline protocol_step *
pull_of(protocol *p, int n)
{
    for (int i = 0; i < p->n_step; i++)
        if (p->step[i].kind == PROTOCOL_PULL && p->step[i].peer != p->rank &&
            n-- == 0)
            return &p->step[i];
    return NULL;
}

#endif
