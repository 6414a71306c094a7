/* tuned.h - between compiling and tuning: what a record is about, and its use.
 */
#ifndef AXE_RUN_TUNE_TUNED_H
#define AXE_RUN_TUNE_TUNED_H

#include "lang/lang.h"
#include "run/tune/records.h"

/* The key of a kernel with these arrays.
 * spec  fitted to the arrays: what it sets is part of the variant */
axe_record_key axe_tuned_key(axe_ctx *cx, int32_t source,
                             const axe_kernel_sig   *sig,
                             const axe_compile_spec *spec, int n_array,
                             const axe_array *array, int n_worker);

/* Values of parameters from the nearest record, for those that spec leaves
 * open; appended to name and value, which have room for all constants of the
 * kernel.  Returns how many there are now.
 * why   set to a line for people, or NULL where nothing was found
 * A database that cannot be read is a warning. */
int axe_tuned_find(axe_ctx *cx, int32_t source, const axe_kernel_sig *sig,
                   const axe_compile_spec *spec, int n_array,
                   const axe_array *array, const char **name,
                   const char **value, const char **why);

/* Is the constant's value set by the spec? */
bool axe_spec_sets(const axe_compile_spec *spec, const char *name);

/* compile.c: the spec with what the arrays say of types and orders. */
AXE_CHECK axe_status axe_spec_fit(axe_ctx *cx, const axe_module *m,
                                  const axe_compile_spec *spec, int n_array,
                                  const axe_array *array, axe_kernel_sig *sig,
                                  axe_compile_spec *out);

#endif
