/* plan_int.h - between the files of this room. */
#ifndef AXE_PLAN_PLAN_INT_H
#define AXE_PLAN_PLAN_INT_H

#include "plan/plan.h"

typedef struct axe_asked axe_asked; /* access/asked.c */

typedef struct axe_planner {
    axe_ctx           *cx;
    const axe_kernel  *kernel;
    const axe_machine *mc;
    const axe_plan_target
                   *target;    /* what planning does by the machine's kind */
    axe_place      *place;     /* by tensor id */
    axe_schedule  **schedule;  /* by statement; const once they are a plan's */
    axe_packing    *pack;      /* by tensor id */
    const axe_var **conflicts; /* by statement: axe_kernel_conflicts */
    int             n_retile;
    axe_retile     *retile;
    int             n_ring, cap_ring;
    axe_ring       *ring;
    axe_core_plan  *core;        /* one core runs a CTA; else NULL */
    axe_simt_plan  *simt;        /* threads do; else NULL */
    axe_systolic_plan *systolic; /* engines of a core do; else NULL */
    const axe_kernel  *written;  /* before perfect nests were raised */
    axe_asked **asked; /* by index statement's id: as it was resolved last */
    int         n_request; /* how often statements were */
    int         n_staged;
    const axe_staged *staged; /* what earlier attempts asked for (search.c) */
    axe_staged to_stage; /* this one asks for it, and makes no plan; load NULL:
                            for nothing */
} axe_planner;

/* What a statement looks like before a schedule is chosen. */
typedef struct axe_request {
    const axe_stmt *stmt;
    const axe_node *value;
    int             n_operand;
    axe_operand    *operand;
    int             n_nest;
    axe_nest       *nest; /* digits not chosen yet */
    bool atomic; /* a scatter whose elements the machine folds into by rows of
                    that fold: the value is only what comes to them */
    int        share; /* CTAs that do parts of it; 0, 1: none */
    int        n_reject;
    axe_reject reject[16];
} axe_request;

#endif
