/* word.h - which register an operand begins with. */
#ifndef AXE_LOWER_PASS_WORD_H
#define AXE_LOWER_PASS_WORD_H

#include "lower/lower.h"

/* Elements of a word of registers; one that is longer has it alone. */
int axe_per_word(axe_type t);
/* The number of the word with the element at `at`. */
const axe_node *axe_word_at(axe_ctx *cx, axe_type t, const axe_node *at);
/* Which units the operands of one invocation begin with, and of all in a block.
 */
void axe_number_operands(axe_ctx *cx, axe_lir *l);
void axe_number_words(axe_ctx *cx, const axe_lblock *b);

#endif
