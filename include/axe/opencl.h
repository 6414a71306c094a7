/* opencl.h - running texts of OpenCL C on any vendor's device.
 *
 *     axe_opencl_new(cx, &(axe_opencl_spec){.number = 0}, &cl);
 *     axe_opencl_need(cx, cl, "f64 sg16");
 *     axe_opencl_build(cx, cl, text, "-cl-std=CL2.0", NULL, &program);
 *     axe_opencl_alloc(cx, cl, bytes, &buffer);
 *     axe_opencl_put(cx, buffer, 0, array, bytes);
 *     axe_opencl_launch(cx, program, &(axe_opencl_grid){.kernel = "k",
 *                       .groups = 40, .items = 64, .n_arg = 1, .arg = &(
 *                       axe_opencl_arg){.buffer = buffer}}, NULL);
 *     axe_opencl_get(cx, buffer, 0, array, bytes);
 *
 * libOpenCL is opened when it is first needed; nothing of OpenCL is needed to
 * build or to link.  $AXE_OPENCL names another library than libOpenCL.so.1.
 */
#ifndef AXE_OPENCL_H
#define AXE_OPENCL_H

#include "axe/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- devices */

enum { AXE_OPENCL_WIDTHS = 8 };

/* What a device says of itself. */
typedef struct axe_opencl_facts {
    int         number;    /* over all platforms, as they are listed */
    const char *name;      /* "AMD EPYC" */
    const char *kind;      /* "cpu", "gpu", "accelerator", "other" */
    const char *platform;  /* "Intel(R) OpenCL" */
    const char *version;   /* "OpenCL 3.1 (Build 0)" */
    const char *c_version; /* "OpenCL C 3.1" */
    const char *driver;    /* version of the driver */
    int         n_unit;    /* compute units */
    int64_t     memory_bytes, most_bytes; /* in all; of one buffer */
    int64_t     local_bytes;              /* of a group */
    bool        local_own;  /* local memory is no part of the device's memory */
    int64_t     most_items; /* of a group */
    int         n_width;    /* sizes of sub-groups, ascending; 0: not known */
    int         width[AXE_OPENCL_WIDTHS];
    const char *features; /* words of opencl/features.def, with blanks between
                             and around: " f16 f64 " */
} axe_opencl_facts;

/* All devices of all platforms.
 * out     [n], in cx
 * Errors  EDEVICE: no libOpenCL, no platform, or one that fails
 * Cost    the first call starts the vendors' runtimes: 0.1 s */
AXE_CHECK axe_status axe_opencl_list(axe_ctx *cx, int *n,
                                     const axe_opencl_facts **out);

/* One device: its context, a queue in which work is done in order, and the
 * cache of compiled programs.  Several threads may use it, its buffers and its
 * programs at the same time, each with a ctx of its own, so that of programs of
 * ours each has its own, too (axe_opencl_exec); what is freed no other call may
 * be using.  After fork a child makes its own: with the parent's everything is
 * EDEVICE, but it may be freed. */
typedef struct axe_opencl axe_opencl;

typedef struct axe_opencl_spec {
    int         number; /* of the device, as listed */
    const char *cache;  /* directory; NULL: as axe_device_spec */
} axe_opencl_spec;

/* Errors  EDEVICE: as axe_opencl_list; no such device; the driver fails */
AXE_CHECK axe_status axe_opencl_new(axe_ctx *cx, const axe_opencl_spec *spec,
                                    axe_opencl **out);
/* Buffers and programs of the device are freed before it. */
void axe_opencl_free(axe_opencl *cl);
/* Valid as long as the device; NULL of NULL. */
const axe_opencl_facts *axe_opencl_about(const axe_opencl *cl);

/* Has the device what is wanted?
 * features  words of opencl/features.def, and sgN for sub-groups of N lanes,
 *           with blanks between
 * Errors    EUNSUPPORTED: it lacks one, with which, and a device that has all.
 *           ENAME: no such word */
AXE_CHECK axe_status axe_opencl_need(axe_ctx *cx, const axe_opencl *cl,
                                     const char *features);
/* The device for programs of a machine.
 * machine  "opencl", "opencl-sg16"
 * number   of the device; below 0: the first that has what it takes
 * out      in cx; axe_compile_spec.device takes it
 * Errors   EDEVICE: none has, no such one.  EUNSUPPORTED: it lacks something.
 *          EARG, ENAME: no such machine of OpenCL */
AXE_CHECK axe_status axe_opencl_choose(axe_ctx *cx, const char *machine,
                                       int                      number,
                                       const axe_opencl_facts **out);

/* -------------------------------------------------------------- memory */

/* Memory of a device. */
typedef struct axe_opencl_buffer axe_opencl_buffer;

/* bytes   0 is fine
 * Errors  EDEVICE: more than the device gives at once, or than there is; a
 *         driver may also say so at the first use */
AXE_CHECK axe_status axe_opencl_alloc(axe_ctx *cx, axe_opencl *cl, size_t bytes,
                                      axe_opencl_buffer **out);
void                 axe_opencl_release(axe_opencl_buffer *b);
/* Copy to or from `bytes` at byte `at` of the buffer, and wait for it.
 * Errors  EARG: not all of it is in the buffer.  EDEVICE: also what was started
 *         before has failed */
AXE_CHECK axe_status axe_opencl_put(axe_ctx *cx, axe_opencl_buffer *b,
                                    size_t at, const void *from, size_t bytes);
AXE_CHECK axe_status axe_opencl_get(axe_ctx *cx, axe_opencl_buffer *b,
                                    size_t at, void *to, size_t bytes);

/* ------------------------------------------------------------- running */

/* A text that was built for a device. */
typedef struct axe_opencl_program axe_opencl_program;

/* text    OpenCL C
 * options of the driver's compiler; NULL: none
 * log     what it said, "" if nothing, or if it was not asked; may be NULL
 * Errors  ETOOL: it refuses the text; the first lines of its output are notes.
 *         EDEVICE
 * Cost    what the driver takes for it, 0.05 to 1 s; a millisecond if the cache
 *         has it for this text, these options, this device and its driver's
 *         version */
AXE_CHECK axe_status axe_opencl_build(axe_ctx *cx, axe_opencl *cl,
                                      const char *text, const char *options,
                                      const char         **log,
                                      axe_opencl_program **out);
void                 axe_opencl_program_free(axe_opencl_program *p);
bool                 axe_opencl_program_cached(const axe_opencl_program *p);

/* An argument: a buffer; or `bytes` of local memory where there is neither
 * buffer nor value; or a value of `bytes`. */
typedef struct axe_opencl_arg {
    const axe_opencl_buffer *buffer;
    const void              *value;
    size_t                   bytes;
} axe_opencl_arg;

typedef struct axe_opencl_grid {
    const char           *kernel; /* its name in the text */
    int64_t               groups; /* 0: nothing is done */
    int64_t               items;  /* of a group */
    int                   n_arg;
    const axe_opencl_arg *arg;
} axe_opencl_grid;

/* Start a kernel on a line of groups.  Kernels run in the order of these calls;
 * of two threads' one or the other comes first.
 * seconds NULL: returns before it is done; else it is waited for, and this is
 *         how long the device took
 * Errors  ENAME: no such kernel.  EARG: other arguments than it has.
 *         EUNSUPPORTED: more items or local memory in a group than the device
 *         or this kernel can have, more groups than can be counted.  EDEVICE
 * Cost    some microseconds; the first time of a kernel more */
AXE_CHECK axe_status axe_opencl_launch(axe_ctx *cx, axe_opencl_program *p,
                                       const axe_opencl_grid *grid,
                                       double                *seconds);
/* Errors  EDEVICE: what was started has failed */
AXE_CHECK axe_status axe_opencl_wait(axe_ctx *cx, axe_opencl *cl);

/* ------------------------------------------------------------ programs */

/* A program of ours, built for a device.  It uses the program and the device:
 * free it before them. */
typedef struct axe_opencl_exec axe_opencl_exec;

/* The program must have been compiled as far as AXE_STAGE_C.
 * Errors  EUNSUPPORTED: it is for another machine; the device lacks what its
 *         machine has.  ETOOL: the driver's compiler refuses it.  EDEVICE
 * Cost    as axe_opencl_build */
AXE_CHECK axe_status axe_opencl_exec_new(axe_ctx *cx, axe_opencl *cl,
                                         const axe_program *p,
                                         axe_opencl_exec  **out);
void                 axe_opencl_exec_free(axe_opencl_exec *e);
bool                 axe_opencl_exec_cached(const axe_opencl_exec *e);

/* On arrays in the host's memory: copied to the device and back, and waited
 * for.
 * seconds  what the device took, without the copies; may be NULL
 * Errors   as axe_launch; EUNSUPPORTED, EDEVICE as axe_opencl_launch */
AXE_CHECK axe_status axe_opencl_run(axe_ctx *cx, axe_opencl_exec *e,
                                    int n_array, const axe_array *array,
                                    int n_size, const axe_size *size,
                                    double *seconds);
/* Run n times, after two that are not counted, on copies of the arrays.
 * seconds  [n] that the device took, in the order of the runs */
AXE_CHECK axe_status axe_opencl_time(axe_ctx *cx, axe_opencl_exec *e,
                                     int n_array, const axe_array *array,
                                     int n_size, const axe_size *size, int n,
                                     double *seconds);

#ifdef __cplusplus
}
#endif
#endif
