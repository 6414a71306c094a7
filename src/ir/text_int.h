/* text_int.h - what the printer and the reader of the IR share. */
#ifndef AXE_IR_TEXT_INT_H
#define AXE_IR_TEXT_INT_H

#include "ir/ir.h"
#include "ir/list.h"

/* How tightly an operation binds, loosest first. */
enum {
    PREC_SELECT = 1,
    PREC_OR,
    PREC_AND,
    PREC_BOR,
    PREC_BXOR,
    PREC_BAND,
    PREC_CMP,
    PREC_SHIFT,
    PREC_ADD,
    PREC_MUL,
    PREC_UNARY,
    PREC_PRIMARY
};

/* One row per operation written with a sign rather than as a function. */
typedef struct axe_sign {
    axe_op      op;
    const char *text;
    int         prec;
} axe_sign;

enum { AXE_N_SIGN = 19 };
extern const axe_sign axe_sign_table[AXE_N_SIGN];

/* What variables and tensors of a kernel are called in its text, where two have
 * one name: with a number behind it (text_names.c). */
typedef struct axe_names {
    axe_ctx        *cx;
    int             n_index;
    const axe_var **index;   /* in order of first use */
    const char    **var;     /* by number, of these */
    const char    **tensor;  /* by number, of those that are declared so far */
    axe_list        visible; /* of these, those not behind their block: names */
} axe_names;

axe_names axe_names_of(axe_ctx *cx, const axe_kernel *k);
/* From here on t is visible, by a name of its own. */
void axe_names_declare(axe_names *u, const axe_tensor *t);

#endif
