/* facts.h - between the files that answer what machines are asked. */
#ifndef AXE_RUN_TUNE_FACTS_H
#define AXE_RUN_TUNE_FACTS_H

#include "layout/eval_int.h"
#include "plan/ask.h"

#define OP(name, handler, keys, what) axe_status handler(axe_job *j);
#include "run/tune/facts.def"

/* The machine that "arch" names. */
AXE_CHECK axe_status axe_fact_machine(axe_job *j, const axe_machine **out);
/* The text at a key; "" if the key may be missing and is. */
AXE_CHECK axe_status axe_fact_text(axe_job *j, const char *key,
                                   const char **out);
/* The n integers at a key; if it is missing, as they were. */
AXE_CHECK axe_status axe_fact_ints(axe_job *j, const char *key, int n,
                                   int64_t *out);
/* Is the text at a key "MN" and not "K"? */
AXE_CHECK axe_status axe_fact_major(axe_job *j, const char *key, bool *out);
/* The element type that PTX calls so.
 * Errors  EUNSUPPORTED: none */
AXE_CHECK axe_status axe_fact_type(axe_job *j, const char *key, axe_type *out);

/* Which product in tensor memory is asked for: "" and 0 are any. */
typedef struct axe_fact_product {
    const char *kind;
    axe_type    type[3]; /* of d, a, b; AXE_TYPE_any */
    axe_type    scale;
    int64_t     vec, m, n, k, group;
} axe_fact_product;

/* Errors  EUNSUPPORTED: no row of the machine is that */
AXE_CHECK axe_status axe_fact_find(axe_job *j, const axe_machine *mc,
                                   const axe_fact_product *q,
                                   const axe_atom        **out);

#endif
