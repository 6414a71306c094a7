/* load.c - finding libOpenCL, and its errors as diagnostics.
 *
 * The library is a loader: which vendors' runtimes it opens is said by files in
 * /etc/OpenCL/vendors, or in $OCL_ICD_VENDORS.  A runtime whose own libraries
 * are missing is left out without a word, which is why the error of no platform
 * names both. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "run/opencl/opencl_int.h"

static const char *const symbol[] = {
#define SYMBOL(name, type, args) "cl" #name,
#include "run/opencl/opencl.def"
};

static const char *const usual[] = {"libOpenCL.so.1", "libOpenCL.so"};

static const struct {
    int         number;
    const char *name, *help;
} errors[] = {
#define ERROR(number, name, help) {number, "CL_" #name, help},
#include "run/opencl/errors.def"
};

static axe_cl_calls   loaded;
static const char    *missing;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
load(void)
{
    static_assert(sizeof(axe_cl_calls) == AXE_LEN(symbol) * sizeof(void *),
                  "one pointer a row");
    void       *table[AXE_LEN(symbol)];
    const char *own = getenv("AXE_OPENCL");

    missing = axe_dl_load(own ? 1 : AXE_LEN(usual), own ? &own : usual,
                          AXE_LEN(symbol), symbol, table);
    if (!missing)
        memcpy(&loaded, table, sizeof loaded);
}

axe_status
axe_cl_load(axe_ctx *cx, const axe_cl_calls **out)
{
    pthread_once(&once, load);
    if (!missing) {
        *out = &loaded;
        return AXE_OK;
    }
    axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
             "OpenCL is reached through libOpenCL, but there is no %s",
             missing);
    axe_help(cx, "install a loader (Debian: ocl-icd-libopencl1) and a runtime "
                 "(for CPUs: pocl-opencl-icd), or name a library in "
                 "AXE_OPENCL");
    return AXE_EDEVICE;
}

static int
find_error(int result)
{
    for (int i = 0; i < AXE_LEN(errors); i++)
        if (errors[i].number == result)
            return i;
    return -1;
}

const char *
axe_cl_error_name(int result)
{
    int i = find_error(result);

    return i < 0 ? "unknown error" : errors[i].name;
}

axe_status
axe_cl_check(axe_ctx *cx, int result, const char *what)
{
    int i = find_error(result);

    if (result == 0)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "%s: %s (%d)", what,
             axe_cl_error_name(result), result);
    if (i >= 0 && *errors[i].help)
        axe_help(cx, "%s", errors[i].help);
    return AXE_EDEVICE;
}
