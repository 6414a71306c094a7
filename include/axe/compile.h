/* compile.h - from the text of a kernel to a program for one machine.
 *
 *     source = axe_source_add(cx, "gemm.axe", text, len);
 *     axe_compile(cx, source, &(axe_compile_spec){0}, AXE_STAGE_C, &program);
 *
 * A program is immutable and lives in its ctx.  Every stage of it is text that
 * can be looked at; running it is axe/run.h.
 */
#ifndef AXE_COMPILE_H
#define AXE_COMPILE_H

#include "axe/base.h"
#include "axe/ir.h"
#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct axe_program axe_program;

/* The pipeline, in order. */
typedef enum axe_stage {
    AXE_STAGE_IR,    /* names, types and sizes resolved */
    AXE_STAGE_PLAN,  /* how each statement will run, and why so */
    AXE_STAGE_LOWER, /* loops, atoms, memory */
    AXE_STAGE_C,     /* C text */
    AXE_N_STAGE
} axe_stage;

/* What one kernel of a source is specialised for.  Zeroed, it means the only
 * kernel of the source, its defaults, row-major tensors, this host's CPU. */
typedef struct axe_compile_spec {
    const char *kernel;
    const char *machine; /* "cpu", "cpu-avx2", ...; NULL: the first that the
                            kernel's text is for, or "cpu" */
    /* Values of compile-time parameters: "BM" = "64", "T" = "bf16". */
    int                n_set;
    const char *const *set_name, *const *set_value;
    /* Orders in memory of parameters: "C" (row-major, also where not given),
     * "F" (column-major), "strided" (every stride given at launch). */
    int                n_order;
    const char *const *order_name, *const *order;
    /* GPUs: indices of 64 bits, for sizes of about 2^31 and more.  What runs by
     * axe/gpu.h needs no asking: it is compiled so where a launch does. */
    bool wide;
    /* Machines of OpenCL: AXE_STAGE_C makes SPIR-V of the text, too, by clang
     * and its translator. */
    bool spirv;
    /* Machines of OpenCL: the device that it will run on (axe_opencl_choose),
     * for what it has beyond what all have: local memory, f64, ...; NULL: any.
     */
    const struct axe_opencl_facts *device;
    /* For axe_compile_for alone.  Values that nothing here sets and the kernel
     * lets one tune are taken from what axe_tune has found for about these
     * sizes: those that the arrays have, and these hints. */
    int                n_hint;
    const char *const *hint_name;
    const int64_t     *hint;
    int                n_worker; /* threads of the launch; 0: one for each
                                    processor */
    const char *records;         /* database; NULL: as for axe_tune */
    bool        no_tuned;        /* use none of them */
} axe_compile_spec;

/* Compile as far as `last`.
 * source  from axe_source_add
 * Errors  ESYNTAX, ENAME, ETYPE, ESHAPE: in the text, all recorded with their
 *         places.  EARG: a bad order or machine.  EUNSUPPORTED: the machine
 *         has no lowering for a statement. */
AXE_CHECK axe_status axe_compile(axe_ctx *cx, int32_t source,
                                 const axe_compile_spec *spec, axe_stage last,
                                 const axe_program **out);

/* The same for a kernel that was built by calls (axe/ir.h).
 * machine  as in axe_compile_spec
 * Errors   EARG: a bad machine.  EUNSUPPORTED as above */
AXE_CHECK axe_status axe_compile_kernel(axe_ctx *cx, const axe_kernel *kernel,
                                        const char *machine, axe_stage last,
                                        const axe_program **out);

/* The text of a stage.  EARG if the program was not compiled so far.  Here and
 * below, and for estimates, cx is the one that compiled the program, else EARG.
 */
AXE_CHECK axe_status axe_program_emit(axe_ctx *cx, const axe_program *p,
                                      axe_stage stage, axe_buf *out);

/* The kernel as a pass of planning leaves it, as IR text; after one over its
 * plan, that as far as it is made: --emit NAME of the command.  Computed anew;
 * the program may be of any stage.
 * pass    "interleave"; see axe_pass_named
 * Errors  EARG: planning for the program's machine has no such pass, and which
 *         it has; those of the passes so far */
AXE_CHECK axe_status axe_program_emit_pass(axe_ctx *cx, const axe_program *p,
                                           const char *pass, axe_buf *out);
/* Name and meaning of pass i of all machines, in order; either may be NULL.
 * False beyond the last. */
bool axe_pass_named(int i, const char **name, const char **text);

/* The text that a program for a machine has, in another dialect of its
 * language:
 * --emit NAME of the command.  The program is compiled to AXE_STAGE_LOWER.
 * dialect  "nki01"; see axe_dialect_named
 * Errors   EARG: no such dialect, or the machine's language is another.
 *          EUNSUPPORTED: the dialect has no words for something */
AXE_CHECK axe_status axe_program_emit_dialect(axe_ctx *cx, const axe_program *p,
                                              const char *dialect,
                                              axe_buf    *out);
/* Name and meaning of dialect i; either may be NULL.  False beyond the last. */
bool axe_dialect_named(int i, const char **name, const char **text);

/* The plan as one line of JSON. */
AXE_CHECK axe_status axe_program_plan_json(axe_ctx *cx, const axe_program *p,
                                           axe_buf *out);

/* Programs ahead of time, as a C file and its header: what the functions are
 * called and return is said there.  All must be for one machine, have names of
 * their own, and be compiled as far as AXE_STAGE_LOWER; those for a GPU as far
 * as AXE_STAGE_C, and NVRTC is needed.
 * name   of the header, "k.h"
 * Errors EARG: two machines, or not compiled so far; ENAME; EUNSUPPORTED; ETOOL
 */
AXE_CHECK axe_status axe_programs_aot(axe_ctx *cx, int n,
                                      const axe_program *const *p,
                                      const char *name, axe_buf *c, axe_buf *h);

/* Names of the kernels of a source, in order; NULL where there is none. */
AXE_CHECK axe_status axe_source_kernels(axe_ctx *cx, int32_t source, int *n,
                                        const char *const **name);

/* Where values of parameters came from, if not from the caller or the text:
 * "BM=64, tuned on 2026-01-31 for M=512, 2 threads"; NULL: from nowhere else.
 */
const char *axe_program_tuned(const axe_program *p);

/* What a program is called with. */
typedef enum axe_access {
    AXE_READS = 1,
    AXE_WRITES = 2,
    AXE_UPDATES = 3
} axe_access;

typedef struct axe_param {
    const char *name;
    const char *type; /* "f32" */
    axe_access  access;
    int         rank;
} axe_param;

/* What a kernel declares, before its types and sizes are known. */
typedef struct axe_declared {
    const char        *name;
    const char        *type; /* as written: "f32", "T", "accum(T)" */
    axe_access         access;
    int                rank;
    const char *const *extent; /* [rank] as written: "M", "128" */
} axe_declared;

typedef struct axe_signature {
    const char *kernel;
    const char *machine; /* that it is for, or several, with ", "
                            between; NULL: any */
    int                 n_param;
    const axe_declared *param;
    int                 n_constant; /* compile-time parameters */
    const char *const  *constant;
    const char *const  *standard; /* their defaults as written */
    int                 n_axis;   /* of the mesh of its devices; 0: of one */
    const char *const *axis, *const *axis_size; /* as written */
} axe_signature;

/* kernel  NULL: the only one of the source
 * Errors  ESYNTAX; ENAME: no such kernel; EARG: the source has several */
AXE_CHECK axe_status axe_source_signature(axe_ctx *cx, int32_t source,
                                          const char    *kernel,
                                          axe_signature *out);

const char *axe_program_kernel(const axe_program *p);
/* The machine it was planned for, "cpu-avx2"; NULL if not so far.  Over a mesh:
 * that of each device. */
const char *axe_program_machine(const axe_program *p);
/* Does axe/gpu.h run it? */
bool axe_program_on_gpu(const axe_program *p);
/* Does axe/opencl.h? */
bool axe_program_on_opencl(const axe_program *p);
/* Is its text Python for a Trainium (NKI)?  Nothing here runs that; the
 * simulator runs the program (axe/sim.h). */
bool axe_program_on_trainium(const axe_program *p);
/* Its SPIR-V, in the cx that it was compiled in; NULL: it was not asked for. */
const void *axe_program_spirv(const axe_program *p, size_t *bytes);
int         axe_program_n_param(const axe_program *p);
axe_param   axe_program_param(const axe_program *p, int i);
/* Runtime sizes: "M", "K", and "A.stride0" of strided parameters. */
int         axe_program_n_size(const axe_program *p);
const char *axe_program_size(const axe_program *p, int i);

#ifdef __cplusplus
}
#endif
#endif
