/* target.h - what becomes of a lowered kernel, by its machine's language.
 *
 * Planning and lowering have rows of their own for a kind, plan/target.h and
 * lower/lower.c, since a room calls none above it. */
#ifndef AXE_RUN_TARGET_H
#define AXE_RUN_TARGET_H

#include "axe/compile.h"
#include "lower/lower.h"
#include "sim/sim.h"

/* Rows of dialects.def. */
typedef enum axe_dialect {
#define DIALECT(id, language, text) AXE_DIALECT_##id,
#include "machine/dialects.def"
    AXE_N_DIALECT
} axe_dialect;

typedef struct axe_target {
    /* The text for the machine's compiler.  wide: for sizes above
     * AXE_CUDA_MOST */
    axe_status (*print)(axe_ctx *cx, const axe_lowered *l, bool wide,
                        axe_buf *out);
    /* In a dialect of its language; NULL: there are none. */
    axe_status (*print_dialect)(axe_ctx *cx, const axe_lowered *l,
                                axe_dialect dialect, axe_buf *out);
    /* Of one side of axe_lowered_branch; NULL: a text has both. */
    axe_status (*print_side)(axe_ctx *cx, const axe_lowered *l, int side,
                             axe_buf *out);
    /* C text of programs for the machine, and its header; NULL: there is no
     * host's part in C. */
    axe_status (*print_aot)(axe_ctx *cx, int n, const axe_program *const *p,
                            const char *name, axe_buf *c, axe_buf *h);
    /* Runs it on arrays, step by step; NULL: nothing does. */
    axe_status (*simulate)(axe_ctx *cx, const axe_lowered *l,
                           const axe_sim_spec *spec, axe_sim_report *out);
    /* Are there texts, and a simulation, of what devices of a mesh compute? */
    bool on_mesh;
    /* As devices of a mesh; NULL: they are none. */
    const struct axe_dist_ops *dist;
} axe_target;

/* Rows of languages.def: target_ID.c. */
#define LANGUAGE(id, here, where, runner, more)                                \
    extern const axe_target axe_##id##_target;
#include "machine/languages.def"

const axe_target *axe_target_of(const axe_machine *mc);

#endif
