/* cuda.c - finding the driver, and its errors as diagnostics. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "run/gpu/cuda.h"

static const char *const symbol[] = {
#define SYMBOL(name, type, args) "cu" #name,
#include "run/gpu/cuda.def"
};

static const char *const optional[] = {
#define OPTIONAL(name, type, args) "cu" #name,
#include "run/gpu/cuda.def"
};

static const char *const usual[] = {"libcuda.so.1", "libcuda.so"};

static axe_cuda       loaded;
static const char    *missing;
static int            started; /* what Init gave */
static atomic_bool    is_started;
static pthread_once_t once = PTHREAD_ONCE_INIT,
                      once_started = PTHREAD_ONCE_INIT;

static void
load(void)
{
    static_assert(sizeof(axe_cuda) ==
                      (AXE_LEN(symbol) + AXE_LEN(optional)) * sizeof(void *),
                  "one pointer a row");
    void              *table[AXE_LEN(symbol) + AXE_LEN(optional)];
    const char        *own = getenv("AXE_CUDA");
    const char *const *file = own ? &own : usual;
    int                n_file = own ? 1 : AXE_LEN(usual);

    missing = axe_dl_load(n_file, file, AXE_LEN(symbol), symbol, table);
    if (missing)
        return;
    for (int i = 0; i < AXE_LEN(optional); i++)
        if (axe_dl_load(n_file, file, 1, &optional[i],
                        &table[AXE_LEN(symbol) + i]))
            table[AXE_LEN(symbol) + i] = NULL;
    memcpy(&loaded, table, sizeof loaded);
}

static void
start(void)
{
    started = loaded.Init(0);
    atomic_store(&is_started, true);
}

bool
axe_cuda_started(void)
{
    return atomic_load(&is_started);
}

axe_status
axe_cuda_find(axe_ctx *cx)
{
    pthread_once(&once, load);
    if (!missing)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
             "an NVIDIA GPU needs its driver, but there is no %s", missing);
    axe_help(cx, "install the driver; without a GPU use `axe sim`, or "
                 "`axe compile` for the code alone");
    return AXE_EDEVICE;
}

axe_status
axe_cuda_load(axe_ctx *cx, const axe_cuda **out)
{
    AXE_TRY(axe_cuda_find(cx));
    pthread_once(&once_started, start);
    AXE_TRY(axe_cuda_check(cx, &loaded, started, "starting the driver"));
    *out = &loaded;
    return AXE_OK;
}

/* What an error of these often comes from. */
static const struct {
    int         result;
    const char *help;
} helps[] = {
    {2, "free device memory, or use smaller arrays"},
    {3, "this process was forked behind the driver's start, and cannot use it: "
        "start ranks before anything is done on a GPU, or let torchrun, srun "
        "or mpirun start them"},
    {100, "no GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {209, "the code is for another architecture: compile with --target of the "
          "GPU at hand"},
    {217, "GPUs that do not reach one another: `nvidia-smi topo -p2p rw` says "
          "which do"},
    {700, "an address outside: run `axe sim` on the same sizes, it says where"},
    {701, "too many registers or too much shared memory for a launch: use "
          "smaller tiles or fewer stages"},
    {719, "a trap or a fault in the kernel: `axe sim` on the same sizes says "
          "where"},
    {803, "the driver is older than the toolkit: update it"},
};

axe_status
axe_cuda_check(axe_ctx *cx, const axe_cuda *cu, int result, const char *what)
{
    const char *name = NULL, *text = NULL;

    if (result == 0)
        return AXE_OK;
    cu->GetErrorName(result, &name);
    cu->GetErrorString(result, &text);
    axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "%s: %s (%d), %s", what,
             name ? name : "unknown error", result, text ? text : "no text");
    for (int i = 0; i < AXE_LEN(helps); i++)
        if (helps[i].result == result)
            axe_help(cx, "%s", helps[i].help);
    return AXE_EDEVICE;
}
