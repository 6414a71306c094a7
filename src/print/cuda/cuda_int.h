/* cuda_int.h - between the files of the CUDA printer. */
#ifndef AXE_PRINT_CUDA_CUDA_INT_H
#define AXE_PRINT_CUDA_CUDA_INT_H

#include "print/cuda/cuda.h"
#include "print/spell/spell.h"

/* Operands of an atom. */
enum { MAX_ARG = 6 };

extern const axe_dialect axe_cuda_dialect;

/* atom.c ------------------------------------------------------------------- */

/* The asm text of an invocation none of whose operands is written to registers
 * as its function has it, and the number in it of each operand. */
AXE_CHECK axe_status axe_cuda_asm(axe_ctx *cx, const axe_lir *l, int *at,
                                  const char **text);
/* The name of the function of this invocation, which is noted. */
AXE_CHECK axe_status axe_cuda_function(axe_speller *p, const axe_lir *l,
                                       const char **name);
/* Is operand i part of that name, and so no argument? */
bool axe_cuda_in_name(const axe_lir *l, int i);

/* Texts with commas between them, in lines that begin behind `indent` blanks,
 * the first at the end of what is there. */
void axe_cuda_list(axe_buf *b, int n, const char *const *item, int indent);

/* call.c ------------------------------------------------------------------- */

/* One invocation as lines behind `indent` blanks. */
AXE_CHECK axe_status axe_cuda_atom(axe_speller *p, const axe_lir *l,
                                   int indent);

#endif
