/* kernel.h - what the verbs that take a kernel file share: `run`, `compile`,
 * `explain`. */
#ifndef AXE_TOOL_KERNEL_H
#define AXE_TOOL_KERNEL_H

#include "axe.h"
#include "axe/compile.h"

/* NAME=VALUE, as often as given on the command line. */
typedef struct axe_pairs {
    int         n;
    const char *name[128], *value[128];
} axe_pairs;

typedef struct axe_kernel_args {
    const char *file, *kernel, *machine;
    bool        werror;     /* warnings are errors */
    bool        has_device; /* --device was given: */
    int64_t     device;     /* number, as `axe devices` lists them */
    const struct axe_opencl_facts *opencl; /* that plans are for, or NULL */
    axe_pairs                      set, order;
} axe_kernel_args;

/* Split "NAME=VALUE"; false if it is none, or there are too many. */
bool axe_pairs_add(axe_ctx *cx, axe_pairs *p, const char *text);

/* Take the options that all three verbs have: -t --target, --set, --order.
 * Returns AXE_EXIT_OK, or AXE_EXIT_USAGE after a message. */
int axe_kernel_option(axe_ctx *cx, axe_kernel_args *a, const char *verb, int c,
                      const char *arg);

/* Take what is left of argv: FILE [KERNEL].  Returns likewise. */
int axe_kernel_names(axe_kernel_args *a, const char *verb, int n, char **arg);

/* After compiling: EARG, recorded, if warnings are errors and there are any. */
AXE_CHECK axe_status axe_kernel_strict(axe_ctx *cx, const axe_kernel_args *a);

/* For getopt_long, and for --help. */
enum {
    AXE_OPT_SET = 1000,
    AXE_OPT_ORDER,
    AXE_OPT_WERROR,
    AXE_OPT_DEVICE,
    AXE_OPT_FREE
};
#define AXE_KERNEL_OPTIONS                                                     \
    {"target", required_argument, NULL, 't'},                                  \
        {"set", required_argument, NULL, AXE_OPT_SET},                         \
        {"werror", no_argument, NULL, AXE_OPT_WERROR},                         \
        {"device", required_argument, NULL, AXE_OPT_DEVICE},                   \
    {                                                                          \
        "order", required_argument, NULL, AXE_OPT_ORDER                        \
    }
#define AXE_KERNEL_HELP                                                        \
    AXE_KERNEL_HELP_FOR("cpu (this one), cpu-avx512, cpu-avx2, ...")
#define AXE_KERNEL_HELP_FOR(machines)                                          \
    "      --set NAME=VALUE    a compile-time parameter: --set BM=64 "         \
    "--set T=bf16\n"                                                           \
    "      --order A=C|F|packed|strided  how parameter A lies in memory\n"     \
    "  -t, --target MACHINE    " machines "\n"                                 \
    "      --device N          of OpenCL: for device N of `axe devices`, "     \
    "with "                                                                    \
    "all\n"                                                                    \
    "                          that it has beyond what all have\n"             \
    "      --werror            warnings are errors\n"

/* Read the file as a source of cx. */
AXE_CHECK axe_status axe_kernel_source(axe_ctx *cx, const char *file,
                                       int32_t *source);
/* The OpenCL device, where the machine, given or the kernel's own, is one of
 * OpenCL's: the one that --device names; with `always` the first that will do,
 * where none is named.
 * Errors  as axe_opencl_choose; EARG: --device of another machine */
AXE_CHECK axe_status axe_kernel_device(axe_ctx *cx, axe_kernel_args *a,
                                       bool always);
/* The options as the library takes them; valid as long as `a`. */
axe_compile_spec axe_kernel_spec(const axe_kernel_args *a);

/* The last act of these verbs: prints all diagnostics, frees cx, returns the
 * exit code. */
int axe_kernel_end(axe_ctx *cx, int code);

/* "ir", "plan", "lower", "c" to a stage; false if it is none. */
bool axe_stage_named(const char *name, axe_stage *out);

/* Decimal, the whole text. */
bool axe_tool_int(const char *text, int64_t *out);

#endif
