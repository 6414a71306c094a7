/* text_int.h - what the printer and the reader of the IR share. */
#ifndef AXE_IR_TEXT_INT_H
#define AXE_IR_TEXT_INT_H

#include "ir/ir.h"

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

#endif
