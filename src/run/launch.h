/* launch.h - the insides of an exec, and one launch of it. */
#ifndef AXE_RUN_LAUNCH_H
#define AXE_RUN_LAUNCH_H

#include "run/array/handle.h"
#include "run/pack.h"
#include "run/program.h"

struct axe_exec {
    axe_tag            tag;
    axe_device        *device;
    const axe_program *program;
    void              *handle[2]; /* by side of a branch; else the second */
    axe_entry_fn      *entry[2];  /* NULL: not asked for so far */
    char              *path;
    bool               cached;
};

typedef struct axe_job {
    axe_exec *exec;
    int       side;
    axe_bound bound;
    void    **ptr; /* of the arguments, then of the kernel's own */
} axe_job;

/* Check and note all that a launch needs; in ctx memory. */
AXE_CHECK axe_status axe_job_prepare(axe_ctx *cx, axe_exec *e, int n_array,
                                     const axe_array *array, int n_size,
                                     const axe_size *size, axe_job *j);
/* The side of the program's branch that its sizes take, compiled now if it is
 * the first time. */
AXE_CHECK axe_status axe_job_side(axe_ctx *cx, axe_job *j);
/* Run it and wait. */
AXE_CHECK axe_status axe_job_start(axe_ctx *cx, axe_job *j);

#endif
