/* dl.h - libraries that are opened when they are first needed. */
#ifndef AXE_BASE_DL_H
#define AXE_BASE_DL_H

/* Open the first of the files that is there and look its symbols up.
 * table   [n] addresses, of functions
 * Returns NULL, or what there is not: the first file's name or a symbol's.
 * A library that is opened stays open. */
const char *axe_dl_load(int n_file, const char *const *file, int n,
                        const char *const *symbol, void **table);

/* Likewise of objects: a program that is linked with the library may have them
 * itself, and then the library uses these. */
const char *axe_dl_objects(int n_file, const char *const *file, int n,
                           const char *const *symbol, void **table);

#endif
