/* tune_int.h - between the files of the tuner. */
#ifndef AXE_RUN_TUNE_TUNE_INT_H
#define AXE_RUN_TUNE_TUNE_INT_H

#include "axe/tune.h"
#include "machine/levels.h"
#include "run/tune/tuned.h"

typedef struct axe_tuner {
    axe_ctx             *cx;
    axe_device          *device;
    int32_t              source;
    const axe_tune_spec *spec;
    axe_compile_spec     fit;
    axe_kernel_sig       sig;
    const int           *varied; /* [n_param] numbers of constants */
    int                  n_array, n_size;
    const axe_array     *array;
    const axe_size      *size;
    double               begin, budget;
    axe_tune_result     *result;
    bool                *tried;    /* [n_try] measured, or cannot be */
    const char *const   *standard; /* [n_param] values without tuning */
    int                  n_seen;   /* combinations planned, or refused: */
    int64_t             *seen;     /* their numbers, */
    int64_t             *number;   /* and those of result->each */
    axe_levels           levels;
    const axe_program   *program; /* the kernel with its defaults */
    bool                 on_gpu;
    axe_array           *device_array; /* in the GPU's memory; NULL: not yet */
} axe_tuner;

/* [seconds] on the wall. */
double axe_tuner_now(void);
/* Has the caller asked to stop?  Asks. */
bool axe_tuner_stopped(axe_tuner *t);
/* Is this share of the budget spent? */
bool axe_tuner_over(const axe_tuner *t, double share);
void axe_tuner_report(const axe_tuner *t, const char *doing);
/* The fitted spec with these values set. */
axe_compile_spec axe_tuner_spec(axe_tuner *t, const char *const *value);

/* How many of the ranking are compiled or measured on a GPU. */
int axe_tuner_best(const axe_tuner *t);

/* gpu.c.  Programs [n] into the cache, side by side. */
AXE_CHECK axe_status axe_tuner_prepare(axe_tuner *t, int n,
                                       const axe_program *const *p,
                                       axe_gpu_prepared         *out);
/* The first of the ranking, and the defaults. */
AXE_CHECK axe_status axe_tuner_prepare_best(axe_tuner *t);
/* The kernel's arrays in the GPU's memory, filled; made once, until freed. */
AXE_CHECK axe_status axe_tuner_gpu_arrays(axe_tuner *t);
void                 axe_tuner_gpu_free(axe_tuner *t);

/* measure.c: measure the best of the ranking, in groups. */
AXE_CHECK axe_status axe_tuner_measure(axe_tuner *t);

#endif
