/* run.h - the parts of `axe run`: its options, its arrays, its report. */
#ifndef AXE_TOOL_RUN_H
#define AXE_TOOL_RUN_H

#include "axe/run.h"
#include "axe/sim.h"
#include "kernel.h"
#include "run/array/npy.h"

struct option; /* of getopt.h */

typedef struct axe_run_args {
    axe_kernel_args kernel;
    axe_pairs       given; /* NAME=FILE and NAME=SIZE */
    const char     *cache, *save_random, *records;
    int64_t         n_thread, seed, n_time; /* n_time 0: as many as fit */
    axe_stage       stage;
    double          budget;   /* of `axe tune` [s] */
    int64_t         n_best;   /* of its ranking; 0: as many as is usual */
    bool            prepare;  /* compile them, measure nothing */
    axe_sim_options sim;      /* of `axe sim`: the first order of events */
    const char     *timeline; /* `axe sim`: the file for its picture, or NULL */
    int64_t         n_order;  /* random ones, behind others; -1: that alone */
    bool            random, check, time, json, emit, help, no_tuned, wide;
    /* Of a kernel over a mesh. */
    int64_t     n_device; /* 0: as its axes' sizes say */
    int64_t     timeout_ms;
    const char *engine;
    bool        no_overlap;
} axe_run_args;

/* Options that several of these verbs have; a verb's `known` names those that
 * it takes, and its own begin at AXE_RUN_FREE. */
enum {
    AXE_RUN_RANDOM = AXE_OPT_FREE,
    AXE_RUN_SEED,
    AXE_RUN_CHECK,
    AXE_RUN_EMIT,
    AXE_RUN_JSON,
    AXE_RUN_CACHE,
    AXE_RUN_RECORDS,
    AXE_RUN_THREADS,
    AXE_RUN_FREE
};

/* Take one of them, or one of every verb with a kernel (kernel.h). */
int axe_run_common(axe_ctx *cx, const char *verb, axe_run_args *a, int c,
                   const char *arg);
/* The argument of --option as a number in [least, most]. */
int axe_run_number(const char *verb, const char *option, const char *arg,
                   int64_t least, int64_t most, int64_t *out);

/* An option of the verb, as getopt_long gives it; an exit code, after a message
 * where that is not AXE_EXIT_OK. */
typedef int axe_run_option(axe_ctx *cx, axe_run_args *a, int c,
                           const char *arg);
/* The whole command line: options as `known`, FILE [KERNEL] and NAME=VALUE in
 * any order.  Stops at --help.  Returns likewise. */
int axe_run_read(axe_ctx *cx, const char *verb, int argc, char **argv,
                 const struct option *known, axe_run_option *take,
                 axe_run_args *a);

/* One parameter of the kernel. */
typedef struct axe_run_param {
    const char *name;
    axe_access  access;
    const char *path;   /* NULL: none given */
    const char *number; /* of an argument that is one, or NULL */
    const char *random; /* "normal(0,1)", how its numbers are made, or NULL */
    bool        have;   /* npy holds an array */
    const char *type;   /* of a packed one, or NULL */
    axe_npy     npy;
} axe_run_param;

typedef struct axe_run {
    int                n_param, n_size;
    axe_run_param     *param;
    axe_size          *size; /* given on the command line, then all */
    const axe_program *program;
    axe_difference    *check; /* [n_param]; NULL: not checked */
    int                n_thread, n_time;
    double            *time; /* [n_time] seconds, ascending */
    const char        *on;   /* "cpu, 2 threads" */
    double exposed; /* [s] of the middle run, over a mesh: not in kernels; < 0:
                       not known */
    int64_t        n_device; /* of a mesh, by what engine; 0: it is over none */
    const char    *engine;
    const int64_t *moved; /* [2] bytes between devices, and planned; or NULL */
    axe_launch_work work;
    bool            cached;
    bool            silent; /* another process reports */
} axe_run;

/* run_scalar.c: is a value a number, not a file's name? */
bool axe_run_is_number(const char *value);
/* p->number as the parameter's element.  Errors  EARG: it is none of the type
 */
AXE_CHECK axe_status axe_run_put_number(axe_ctx *cx, axe_run_param *p,
                                        const char *type);

/* run_random.c: does a value say how random numbers are distributed? */
bool axe_run_is_random(const char *value);
/* Numbers for p's array, as p->random says or as usual.  Errors  EARG: it says
 * nothing that is known, or what the type has not; EUNSUPPORTED */
AXE_CHECK axe_status axe_run_put_random(axe_ctx *cx, const axe_run *r,
                                        axe_run_param *p, uint64_t *state);

/* Match what was given with the kernel's parameters and read the arrays that
 * it reads. */
AXE_CHECK axe_status axe_run_open(axe_ctx *cx, const axe_run_args *a,
                                  int32_t source, axe_run *r);
/* Make the arrays that are missing: random ones to read, zeros to write. */
AXE_CHECK axe_status axe_run_fill(axe_ctx *cx, const axe_run_args *a,
                                  axe_run *r);
/* The spec with what is known of the launch, for values that were tuned. */
axe_compile_spec axe_run_spec(axe_ctx *cx, const axe_run_args *a,
                              const axe_run *r);
/* All that there are, as the library takes them; returns how many. */
int axe_run_arrays(const axe_run *r, axe_array *array);
/* Write those that were written and have a path. */
AXE_CHECK axe_status axe_run_save(axe_ctx *cx, const axe_run *r);
void                 axe_run_close(axe_run *r);

/* What runs the program on the host's arrays, once or for a->n_time times with
 * times in r. */
typedef struct axe_runner {
    void *user;
    axe_status (*run)(axe_ctx *cx, void *user, int n, const axe_array *array,
                      const axe_run *r);
    axe_status (*time)(axe_ctx *cx, void *user, const axe_run_args *a, int n,
                       const axe_array *array, axe_run *r);
    /* After a run whose results are right: is another wanted?  NULL: no */
    bool (*again)(void *user);
} axe_runner;

/* Run once or as often as is wanted, compare each time, save, then time.
 * device  compiles the reference; NULL: one is made if there is a check */
AXE_CHECK axe_status axe_run_by(axe_ctx *cx, const axe_run_args *a,
                                axe_device *device, const axe_runner *by,
                                axe_run *r);
/* On this host, with a->n_thread threads. */
AXE_CHECK axe_status axe_run_on_cpu(axe_ctx *cx, const axe_run_args *a,
                                    axe_run *r);
/* run_gpu.c */
AXE_CHECK axe_status axe_run_on_gpu(axe_ctx *cx, const axe_run_args *a,
                                    axe_run *r);
/* run_opencl.c */
AXE_CHECK axe_status axe_run_on_opencl(axe_ctx *cx, const axe_run_args *a,
                                       axe_run *r);
/* run_dist.c: before arrays are made, how many devices there are; and all of
 * it, on them. */
AXE_CHECK axe_status axe_run_count_devices(axe_ctx *cx, const axe_run_args *a,
                                           axe_run *r);
AXE_CHECK axe_status axe_run_on_devices(axe_ctx *cx, const axe_run_args *a,
                                        axe_run *r);
/* On what the program is for. */
AXE_CHECK axe_status axe_run_there(axe_ctx *cx, const axe_run_args *a,
                                   axe_run *r);

/* Results on standard output. */
void axe_run_print(axe_ctx *cx, const axe_run *r);
void axe_run_print_json(axe_ctx *cx, const axe_run *r);
/* Kernel, machine, sizes and parameters, then these members of the same object:
 * `"a": 1}`, with its end. */
void axe_run_print_json_with(axe_ctx *cx, const axe_run *r,
                             const char *members);

/* Does every check hold? */
bool axe_run_passed(const axe_run *r);

#endif
