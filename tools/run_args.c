/* run_args.c - the command lines of the verbs that run a kernel: options, a
 * file, a kernel and what its parameters are, in any order. */
#include <getopt.h>
#include <string.h>

#include "run.h"

int
axe_run_read(axe_ctx *cx, const char *verb, int argc, char **argv,
             const struct option *known, axe_run_option *take, axe_run_args *a)
{
    int   c, code, n = 0;
    char *name[3];

    while ((c = getopt_long(argc, argv, "ht:", known, NULL)) != -1) {
        code = take(cx, a, c, optarg);
        if (code != AXE_EXIT_OK || a->help)
            return code;
    }
    for (int i = optind; i < argc; i++) {
        if (n < 3 && !strchr(argv[i], '='))
            name[n++] = argv[i];
        else if (!axe_pairs_add(cx, &a->given, argv[i]))
            return axe_tool_usage(verb, "'%s': NAME=VALUE is needed", argv[i]);
    }
    return axe_kernel_names(&a->kernel, verb, n, name);
}
