/* dl.c - finding a library and its symbols. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "base/dl.h"

const char *
axe_dl_load(int n_file, const char *const *file, int n,
            const char *const *symbol, void **table)
{
    void *h = NULL;

    for (int i = 0; i < n_file && !h; i++)
        h = dlopen(file[i], RTLD_NOW | RTLD_LOCAL);
    if (!h)
        return file[0];
    for (int i = 0; i < n; i++)
        if (!(table[i] = dlsym(h, symbol[i])))
            return symbol[i];
    return NULL;
}

const char *
axe_dl_objects(int n_file, const char *const *file, int n,
               const char *const *symbol, void **table)
{
    const char *missing = axe_dl_load(n_file, file, n, symbol, table);

    for (int i = 0; i < n && !missing; i++) {
        void *own = dlsym(RTLD_DEFAULT, symbol[i]);

        table[i] = own ? own : table[i];
    }
    return missing;
}
