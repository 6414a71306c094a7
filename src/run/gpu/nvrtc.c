/* nvrtc.c - the calls, and their errors as diagnostics. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "run/gpu/nvrtc.h"

typedef struct nvrtc {
#define SYMBOL(name, type, args) type(*name) args;
#include "run/gpu/nvrtc.def"
} nvrtc;

static const char *const symbol[] = {
#define SYMBOL(name, type, args) "nvrtc" #name,
#include "run/gpu/nvrtc.def"
};

static const char *const usual[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                    "libnvrtc.so",
                                    "/usr/local/cuda/lib64/libnvrtc.so"};

/* Device code needs no line of the host's, and a message names the kernel. */
static const char *const option[] = {"--std=c++17", "-default-device"};

static nvrtc          loaded;
static const char    *missing;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
load(void)
{
    static_assert(sizeof(nvrtc) == AXE_LEN(symbol) * sizeof(void *),
                  "one pointer a row");
    void       *table[AXE_LEN(symbol)];
    const char *own = getenv("AXE_NVRTC");

    missing = axe_dl_load(own ? 1 : AXE_LEN(usual), own ? &own : usual,
                          AXE_LEN(symbol), symbol, table);
    if (!missing)
        memcpy(&loaded, table, sizeof loaded);
}

static axe_status
need(axe_ctx *cx)
{
    pthread_once(&once, load);
    if (!missing)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
             "CUDA C is compiled by NVRTC, but there is no %s", missing);
    axe_help(cx, "install the CUDA toolkit's NVRTC (the package "
                 "nvidia-cuda-nvrtc, or 'pip install nvidia-cuda-nvrtc'), or "
                 "name its library in AXE_NVRTC");
    return AXE_ETOOL;
}

axe_status
axe_nvrtc_id(axe_ctx *cx, const char **out)
{
    int     major = 0, minor = 0;
    axe_buf b = {.cx = cx};

    AXE_TRY(need(cx));
    loaded.Version(&major, &minor);
    axe_putf(&b, "nvrtc %d.%d", major, minor);
    for (int i = 0; i < AXE_LEN(option); i++)
        axe_putf(&b, " %s", option[i]);
    *out = b.text;
    return AXE_OK;
}

static const char *
log_of(axe_ctx *cx, void *prog)
{
    size_t n = 0;
    char  *text;

    if (loaded.GetProgramLogSize(prog, &n) != 0 || n <= 1)
        return "";
    text = axe_alloc(cx, n + 1);
    text[n] = '\0';
    return loaded.GetProgramLog(prog, text) == 0 ? text : "";
}

/* The log's first lines as notes. */
static void
note_lines(axe_ctx *cx, const char *log)
{
    for (int i = 0; i < 8 && *log; i++) {
        size_t n = strcspn(log, "\n");
        if (n > 0)
            axe_note(cx, AXE_NOWHERE, "%.*s", (int)(n < 400 ? n : 400), log);
        log += n + (log[n] == '\n');
    }
}

static axe_status
take_cubin(axe_ctx *cx, void *prog, axe_bytes *out)
{
    axe_bytes b = {0};
    int       r = loaded.GetCUBINSize(prog, &b.len);

    if (r == 0 && b.len > 0)
        b.data = malloc(b.len + 1);
    if (b.data)
        r = loaded.GetCUBIN(prog, (char *)b.data);
    if (b.data && r == 0) {
        b.data[b.len] = 0;
        *out = b;
        return AXE_OK;
    }
    free(b.data);
    return axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "NVRTC gives no code: %s",
                    r ? loaded.GetErrorString(r) : "out of memory");
}

axe_status
axe_nvrtc_compile(axe_ctx *cx, const char *text, const char *arch,
                  const char **log, axe_bytes *out)
{
    const char *opt[AXE_LEN(option) + 1];
    void       *prog = NULL;
    axe_status  st;
    int         r;

    AXE_TRY(need(cx));
    memcpy(opt, option, sizeof option);
    opt[AXE_LEN(option)] = axe_textf(cx, "--gpu-architecture=%s", arch);
    r = loaded.CreateProgram(&prog, text, "axe.cu", 0, NULL, NULL);
    if (r == 0)
        r = loaded.CompileProgram(prog, AXE_LEN(opt), opt);
    const char *said = prog ? log_of(cx, prog) : "";
    if (r == 0)
        st = take_cubin(cx, prog, out);
    else {
        st = axe_fail(cx, AXE_NOWHERE, AXE_ETOOL, "NVRTC for %s: %s", arch,
                      loaded.GetErrorString(r));
        note_lines(cx, said);
    }
    if (st == AXE_OK && log)
        *log = said;
    if (prog)
        loaded.DestroyProgram(&prog);
    return st;
}
