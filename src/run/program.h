/* program.h - the insides of a program, and arrays bound to it. */
#ifndef AXE_RUN_PROGRAM_H
#define AXE_RUN_PROGRAM_H

#include "axe/run.h"
#include "ir/ir.h"
#include "lang/lang.h"
#include "run/cache/sha256.h"

typedef struct axe_machine axe_machine;
typedef struct axe_plan    axe_plan;
typedef struct axe_lowered axe_lowered;

struct axe_program {
    const axe_kernel  *kernel;
    const axe_machine *machine;
    const axe_plan    *plan;    /* NULL where compilation stopped earlier */
    const axe_lowered *lowered; /* likewise */
    const char        *c_text;  /* likewise */
    /* CPUs, and the kernel is a branch: the text of either side, compiled when
     * sizes first ask for it; else NULL. */
    const char   *side_text[2];
    unsigned char side_digest[2][AXE_SHA256_BYTES];
    bool          wide;  /* c_text takes sizes above AXE_CUDA_MOST */
    const void   *spirv; /* of c_text, or NULL */
    size_t        spirv_bytes;
    unsigned char c_digest[AXE_SHA256_BYTES]; /* of c_text */
    int64_t       scratch_bytes;              /* for each worker */
    int64_t       reach; /* indices are in order where no size is above */
    const char   *tuned; /* where values came from, or NULL */
    /* Of a kernel over a mesh: that one, where `kernel` has but its arguments
     * as all devices have them together; and what each device does, one for
     * each DEVICE statement.  Else NULL. */
    const axe_kernel         *meshed;
    int                       n_part;
    const axe_program *const *part;
};

/* axe_compile of a source that was parsed: for many kernels of one. */
AXE_CHECK axe_status axe_compile_module(axe_ctx *cx, const axe_module *module,
                                        const axe_compile_spec *spec,
                                        axe_stage               last,
                                        const axe_program     **out);

/* What a kernel is called with, in the order of its parameters and sizes. */
typedef struct axe_bound {
    void          **data;    /* [n_param], NULL: none given */
    const int64_t **stride;  /* [n_param] [rank] [elements] */
    const int64_t **shape;   /* [n_param] [rank]; NULL: not known */
    int64_t        *size;    /* [n_size] */
    int64_t        *bytes;   /* [n_param] from the first to the last element */
    bool           *unknown; /* [n_size] does it follow from nothing given? */
} axe_bound;

/* Does index arithmetic fit int64 with these sizes?
 * Errors  EOVERFLOW */
AXE_CHECK axe_status axe_bound_check_reach(axe_ctx *cx, const axe_program *p,
                                           const axe_bound *b);

/* Memory that is written must overlap no other's.
 * bytes, data  [n_param]
 * Errors  EARG */
AXE_CHECK axe_status axe_bound_check_overlap(axe_ctx *cx, const axe_kernel *k,
                                             const int64_t *bytes,
                                             void *const   *data);

/* EARG unless there is a stage of that number. */
AXE_CHECK axe_status axe_stage_check(axe_ctx *cx, const char *fn,
                                     axe_stage stage);

/* EUNSUPPORTED unless the program is of one device. */
AXE_CHECK axe_status axe_program_is_one(axe_ctx *cx, const axe_program *p);

/* EARG unless the kernel was made in cx: numbers of units and axes mean nothing
 * in another. */
AXE_CHECK axe_status axe_kernel_own(axe_ctx *cx, const axe_kernel *k);

/* Check arrays and sizes against a kernel, which may be of another ctx, as
 * axe_launch says.
 * complete  every parameter needs an array; else missing ones are allowed */
AXE_CHECK axe_status axe_bind(axe_ctx *cx, const axe_kernel *k, int n_array,
                              const axe_array *array, int n_size,
                              const axe_size *size, bool complete,
                              axe_bound *out);

/* Why t has no shape, by what is bound: an error. */
axe_status axe_shapes_missing(axe_ctx *cx, const axe_kernel *k,
                              const axe_bound *b, const axe_tensor *t);

#endif
