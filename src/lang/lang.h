/* lang.h - from text of the kernel language to IR.
 *
 * Parsing gives a module: kernels as syntax trees, names not yet resolved.
 * Instantiating one with values for its compile-time parameters, and layouts
 * for its arguments, gives the IR. */
#ifndef AXE_LANG_H
#define AXE_LANG_H

#include "ir/ir.h"

typedef struct axe_module axe_module;

/* All lexical and syntax errors of the source are recorded, the first one's
 * status is returned.  Cost: linear. */
AXE_CHECK axe_status axe_module_parse(axe_ctx *cx, int32_t source,
                                      const axe_module **out);
int                  axe_module_n_kernel(const axe_module *m);
const char          *axe_module_kernel_name(const axe_module *m, int i);

/* The source in its form: indentation, blanks; line breaks and comments stay.
 * Formatting what was formatted changes nothing.
 * Errors  are those of parsing;
 * out is then untouched. */
AXE_CHECK axe_status axe_module_format(axe_ctx *cx, int32_t source,
                                       axe_buf *out);

/* How a global tensor lies in memory, where the text leaves it open. */
typedef enum axe_order {
    AXE_ORDER_C,      /* row-major, strides are products of the sizes */
    AXE_ORDER_F,      /* column-major */
    AXE_ORDER_PACKED, /* as the planner wants a matrix, with its strides as if
                         STRIDED; see axe/run.h */
    AXE_ORDER_STRIDED /* every stride a runtime size, "A.stride0", ... */
} axe_order;

typedef struct axe_inst {
    const char *kernel;  /* NULL: the module's only kernel */
    const char *machine; /* picks `default NAME (...)` values, "cpu", */
    const char *model;   /* and these before them, "sm_90a"; or NULL */
    /* Names that `default` may give, of others it warns; none: of no name. */
    int                n_known;
    const char *const *known;
    /* Values for compile-time parameters: "BM" "64", "T" "bf16". */
    int                n_set;
    const char *const *set_name, *const *set_value;
    /* Orders of parameters by name; C where not given. */
    int                n_order;
    const char *const *order_name;
    const axe_order   *order;
} axe_inst;

/* Resolve and check one kernel.  All its errors are recorded; warnings only
 * where there are none.  A parameter's value is what is set here, else the
 * machine's default, else the kernel's.  Axes that declared layouts use must be
 * known in cx (axe_axes_load).  What comes out passes axe_kernel_verify. */
AXE_CHECK axe_status axe_module_instantiate(axe_ctx *cx, const axe_module *m,
                                            const axe_inst    *inst,
                                            const axe_kernel **out);

/* What a caller must know before it can instantiate: the parameters as
 * written, to match them with arrays. */
typedef struct axe_param_sig {
    const char        *name;
    axe_dir            dir;
    int                rank;
    const char *const *extent;        /* [rank] as written: "M", "128" */
    const char        *type;          /* as written: "f32", "T" */
    bool               type_is_param; /* a type parameter, to be bound */
} axe_param_sig;

typedef struct axe_kernel_sig {
    const char          *name;
    const char          *target; /* the machine it is for, or NULL: any */
    int                  n_param, n_const;
    const axe_param_sig *param;
    const char *const   *const_name;    /* compile-time parameters */
    const char *const   *const_default; /* as written */
    const int *n_domain; /* [n_const] values that `tune` gives; 0: any */
    const char *const *const *domain; /* as axe_inst takes them */
    int n_axis; /* of the mesh of its devices; 0: it is for one */
    const char *const *axis, *const *axis_size; /* as written */
} axe_kernel_sig;

AXE_CHECK axe_status axe_module_sig(axe_ctx *cx, const axe_module *m,
                                    const char *kernel, axe_kernel_sig *out);

#endif
