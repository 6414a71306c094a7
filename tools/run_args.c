/* run_args.c - the command lines of the verbs that run a kernel: options, a
 * file, a kernel and what its parameters are, in any order. */
#include <getopt.h>
#include <string.h>

#include "run.h"

int
axe_run_number(const char *verb, const char *option, const char *arg,
               int64_t least, int64_t most, int64_t *out)
{
    int64_t v;

    if (!axe_tool_int(arg, &v) || v < least || v > most)
        return axe_tool_usage(verb, "--%s %s: a number from %lld to %lld",
                              option, arg, (long long)least, (long long)most);
    *out = v;
    return AXE_EXIT_OK;
}

static int
take_stage(const char *verb, axe_run_args *a, const char *arg)
{
    a->emit = true;
    if (axe_stage_named(arg, &a->stage))
        return AXE_EXIT_OK;
    return axe_tool_usage(verb, "--emit %s: ir, plan, lower or c", arg);
}

int
axe_run_common(axe_ctx *cx, const char *verb, axe_run_args *a, int c,
               const char *arg)
{
    switch (c) {
    case AXE_RUN_SEED:
        return axe_run_number(verb, "seed", arg, INT64_MIN, INT64_MAX,
                              &a->seed);
    case AXE_RUN_THREADS:
        return axe_run_number(verb, "threads", arg, INT64_MIN, INT64_MAX,
                              &a->n_thread);
    case AXE_RUN_EMIT:
        return take_stage(verb, a, arg);
    case AXE_RUN_CACHE:
        a->cache = arg;
        return AXE_EXIT_OK;
    case AXE_RUN_RECORDS:
        a->records = arg;
        return AXE_EXIT_OK;
    default:
        a->random = a->random || c == AXE_RUN_RANDOM;
        a->check = a->check || c == AXE_RUN_CHECK;
        a->json = a->json || c == AXE_RUN_JSON;
        a->help = a->help || c == 'h';
        return axe_kernel_option(cx, &a->kernel, verb, c, arg);
    }
}

int
axe_run_read(axe_ctx *cx, const char *verb, int argc, char **argv,
             const struct option *known, axe_run_option *take, axe_run_args *a)
{
    int   c, code, n = 0;
    char *name[3];

    while ((c = getopt_long(argc, argv, "ht:", known, NULL)) != -1) {
        code = c == '?' ? axe_tool_wrong(argv, known) : take(cx, a, c, optarg);
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
