/* c_int.h - between the files of this room. */
#ifndef AXE_PRINT_C_C_INT_H
#define AXE_PRINT_C_C_INT_H

#include "print/c/c.h"

/* A helper of fn.def, or a vector type, made for a type and lanes. */
typedef struct axe_cuse {
    int      fn; /* -1: the type itself */
    axe_type type;
    int      lanes;
} axe_cuse;

typedef struct axe_cprinter {
    axe_ctx           *cx;
    const axe_lowered *l;
    const axe_lir     *branch; /* of which one side is printed, or NULL */
    int                side;
    axe_buf           *out;
    bool              *declared;     /* by register id */
    int                n_list, list; /* LISTs so far; the one around */
    int                n_use, cap_use, n_shape, cap_shape;
    axe_cuse          *use, *shape;
} axe_cprinter;

/* fn.c: types and helpers.  Asking for one notes that the unit needs it. */

/* The C element type as it lies in memory: f16 and bf16 are u16. */
const char *axe_c_element(axe_type t);
/* The integer type of masks for t. */
axe_type axe_c_mask(axe_type t);
/* "f32", "f32x16" */
const char *axe_c_type(axe_cprinter *p, axe_type t, int lanes);
/* What the helper is called by; NULL if there is none for the type. */
const char *axe_c_call(axe_cprinter *p, const char *name, size_t len,
                       axe_type t, int lanes);
void        axe_c_put_types(axe_cprinter *p, axe_buf *out);
void        axe_c_put_helpers(axe_cprinter *p, axe_buf *out);

/* index.c: integer expressions with as few parentheses as C needs. */
/* Different names stay different: sizes are s_, the kernel's variables v_,
 * those of lowering l_, tensors t_, and the dots of `ring.a` become `$`, which
 * gcc, clang and others take and the language does not. */
const char *axe_c_name(axe_ctx *cx, const char *prefix, const char *name);
const char *axe_c_var(axe_cprinter *p, const axe_var *v);
AXE_CHECK axe_status axe_c_index(axe_cprinter *p, axe_buf *b,
                                 const axe_node *n);

/* op.c: one register operation as a statement. */
AXE_CHECK axe_status axe_c_op(axe_cprinter *p, const axe_lir *l, int depth);

#endif
