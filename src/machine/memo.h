/* memo.h - what has been read of atoms' operands, in a context. */
#ifndef AXE_MACHINE_MEMO_H
#define AXE_MACHINE_MEMO_H

#include "axe/layout.h"

/* The operand's text with V = P = lanes and G = group: false if it has not been
 * kept. */
bool axe_memo_find(const axe_ctx *cx, const char *text, int lanes, int group,
                   const char **roles, const axe_layout **out);
/* Keeps what was read; roles and out then are what no mark gives back. */
void axe_memo_keep(axe_ctx *cx, const char *text, int lanes, int group,
                   const char **roles, const axe_layout **out);

#endif
