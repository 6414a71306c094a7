/* tune.h - which values of its compile-time parameters suit a kernel best.
 *
 * A kernel says with `tune BM in {64, 128}` what may be tried.  Every
 * combination is planned and ranked by the cost model; the best few are
 * compiled and measured in turns, those that fall behind drop out, and further
 * ones follow as long as that helps and the budget lasts.  What is found is
 * kept in a database, from where axe_compile_for takes it for launches of
 * nearly the same sizes.
 *
 * Kernels for a GPU are ranked where there is none, and the best of the ranking
 * can be compiled beforehand: then where there is one, all of the time goes to
 * measuring.
 */
#ifndef AXE_TUNE_H
#define AXE_TUNE_H

#include "axe/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One combination. */
typedef struct axe_tune_try {
    const char *const *value;      /* [n_param] */
    double             estimate_s; /* by the model; -1: it cannot tell */
    double             least_s;   /* nobody could do it sooner; GPUs, else -1 */
    int                n_changed; /* values that are not the defaults' */
    double             time_s;    /* of a launch: lower quartile of the
                                     samples, as load only adds; 0: none */
    int n_time;                   /* samples */
} axe_tune_try;

typedef struct axe_tune_result {
    int                n_param;
    const char *const *param;     /* names of what was varied */
    const char        *sizes;     /* the class that the record is for */
    int                n_worker;  /* threads */
    int                n_try;     /* planned; those measured come first, */
    axe_tune_try      *each;      /* fastest first, then by estimate */
    int                n_timed;   /* of them measured */
    int                standard;  /* number of the defaults in each; -1: none */
    int64_t            n_refused; /* combinations without a plan */
    bool               stopped;   /* by the caller, before it was done */
    const char        *machine;   /* "sm_90a" */
    axe_gpu_prepared   prepared;  /* of the first n_best, if asked for */
    const char        *records;   /* where the best was kept, or NULL */
} axe_tune_result;

typedef struct axe_tune_spec {
    axe_compile_spec compile;  /* parameters set here are not varied */
    double           budget_s; /* 0: 30 seconds */
    const char      *records;  /* database; NULL: $AXE_TUNED, else tuned.db in
                                  the cache; "": keep nothing */
    const char *cache;         /* as the device's, for the default above */
    /* For kernels on a GPU: */
    axe_gpu *gpu; /* where they are measured; NULL: ranked alone, and
                     nothing is kept */
    bool prepare; /* compile the first n_best into the cache */
    int  n_best;  /* that are compiled, or measured; 0: 24 */
    /* Called now and then.  stop: return true to end with what is known. */
    bool (*stop)(void *user);
    void (*progress)(void *user, const axe_tune_result *so_far,
                     const char *doing);
    void *user;
} axe_tune_spec;

/* Arrays and sizes are those of axe_launch; arrays that are written are written
 * over and over.  On a GPU sizes are enough: its arrays are made there.
 * d       NULL: for kernels on a GPU alone
 * Errors  as axe_compile_for, axe_exec_new and axe_launch for the defaults;
 *         EARG: the kernel has nothing to tune.  What goes wrong with a
 *         combination only rules that out; a database that cannot be written
 *         is a warning. */
AXE_CHECK axe_status axe_tune(axe_ctx *cx, axe_device *d, int32_t source,
                              const axe_tune_spec *spec, int n_array,
                              const axe_array *array, int n_size,
                              const axe_size *size, axe_tune_result *out);

#ifdef __cplusplus
}
#endif
#endif
