/* linear_text.h - Triton's named layouts as its IR and Gluon print them. */
#ifndef AXE_CONVERT_LINEAR_TEXT_H
#define AXE_CONVERT_LINEAR_TEXT_H

#include "convert/text.h"

/* The layout that the whole text says, or the last of several that have names,
 * as the object {"kind": .., fields}.  Errors  ESYNTAX, ENAME, EARG, ELIMIT. */
AXE_CHECK axe_status axe_linear_text_read(axe_reader *r, axe_json *out);

/* Is it one of shared memory? */
bool axe_linear_text_shared(const axe_json *v);

#endif
