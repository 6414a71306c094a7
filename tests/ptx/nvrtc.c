/* nvrtc.c - NVRTC that gives PTX instead of machine code.
 *
 * $PTX_CHANGE `old=>new` changes the CUDA text before it is compiled, once, for
 * tests that something is found. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *nvrtc; /* the true one */

#define RTC(name, args, pass)                                                  \
    int nvrtc##name args;                                                      \
    int nvrtc##name args                                                       \
    {                                                                          \
        int(*f) args;                                                          \
        return find("nvrtc" #name, &f) ? f pass : 1;                           \
    }

static bool
find(const char *name, void *out)
{
    static const char *const file[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                       "libnvrtc.so",
                                       "/usr/local/cuda/lib64/libnvrtc.so"};
    void                    *symbol;

    for (size_t i = 0; i < sizeof file / sizeof file[0] && !nvrtc; i++)
        nvrtc = dlopen(file[i], RTLD_NOW | RTLD_LOCAL);
    symbol = nvrtc ? dlsym(nvrtc, name) : NULL;
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

RTC(DestroyProgram, (void **prog), (prog))
RTC(GetProgramLogSize, (void *prog, size_t *n), (prog, n))
RTC(GetProgramLog, (void *prog, char *log), (prog, log))

const char *nvrtcGetErrorString(int result);
const char *
nvrtcGetErrorString(int result)
{
    const char *(*f)(int result);

    return find("nvrtcGetErrorString", &f) ? f(result) : "there is no NVRTC";
}

/* Another one than the true one, and for each change, so that no cache takes
 * them for the same. */
int nvrtcVersion(int *major, int *minor);
int
nvrtcVersion(int *major, int *minor)
{
    const char *change = getenv("PTX_CHANGE") ? getenv("PTX_CHANGE") : "";
    int (*f)(int *major, int *minor);

    if (!find("nvrtcVersion", &f) || f(major, minor) != 0)
        return 1;
    *minor += 1000;
    for (; *change; change++)
        *minor = (*minor * 31 + *change) % (1 << 24);
    return 0;
}

/* The text with the first `old` of $PTX_CHANGE made `new`; NULL: none. */
static char *
changed(const char *text)
{
    const char *change = getenv("PTX_CHANGE");
    const char *arrow = change ? strstr(change, "=>") : NULL, *at;
    char       *old, *out;

    if (!arrow)
        return strdup(text);
    old = strndup(change, (size_t)(arrow - change));
    at = strstr(text, old);
    out = at ? calloc(1, strlen(text) + strlen(arrow) + 1) : NULL;
    if (out) {
        memcpy(out, text, (size_t)(at - text));
        strcat(out, arrow + 2);
        strcat(out, at + strlen(old));
    }
    free(old);
    return out;
}

int nvrtcCreateProgram(void **prog, const char *text, const char *name, int n,
                       const char *const *header, const char *const *include);
int
nvrtcCreateProgram(void **prog, const char *text, const char *name, int n,
                   const char *const *header, const char *const *include)
{
    int (*f)(void **, const char *, const char *, int, const char *const *,
             const char *const *);
    char *t = changed(text);
    int   r;

    if (!t || !find("nvrtcCreateProgram", &f))
        return 1;
    r = f(prog, t, name, n, header, include);
    free(t);
    return r;
}

int nvrtcCompileProgram(void *prog, int n, const char *const *option);
int
nvrtcCompileProgram(void *prog, int n, const char *const *option)
{
    static const char arch[] = "--gpu-architecture=sm_";
    int (*f)(void *, int, const char *const *);
    const char *own[16];
    char        virtual_arch[64];

    if (n > 16 || !find("nvrtcCompileProgram", &f))
        return 1;
    for (int i = 0; i < n; i++) {
        own[i] = option[i];
        if (strncmp(option[i], arch, sizeof arch - 1) == 0) {
            snprintf(virtual_arch, sizeof virtual_arch,
                     "--gpu-architecture=compute_%s",
                     option[i] + sizeof arch - 1);
            own[i] = virtual_arch;
        }
    }
    return f(prog, n, own);
}

int nvrtcGetCUBINSize(void *prog, size_t *n);
int
nvrtcGetCUBINSize(void *prog, size_t *n)
{
    int (*f)(void *, size_t *);

    return find("nvrtcGetPTXSize", &f) ? f(prog, n) : 1;
}

int nvrtcGetCUBIN(void *prog, char *code);
int
nvrtcGetCUBIN(void *prog, char *code)
{
    int (*f)(void *, char *);

    return find("nvrtcGetPTX", &f) ? f(prog, code) : 1;
}
