/* verb_mesh.c - `axe mesh`: what links between devices take, measured and kept.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe.h"
#include "axe/engine.h"

static const char help[] =
    "usage: axe mesh [OPTION]...\n"
    "\n"
    "The links between devices whose latency and bandwidth are known here, as\n"
    "`axe reshard --measured` takes them.\n"
    "\n"
    "      --measure      measure them between processes, and keep that with "
    "what\n"
    "                     tuning has found; under mpirun on several hosts "
    "also\n"
    "                     the link between hosts\n"
    "      --engine E     by shm (one host), openmpi or mpich; else by what "
    "has\n"
    "                     launched this\n"
    "      --records F    the file of records (default: AXE_TUNED, else in "
    "the\n"
    "                     directory of compiled kernels)\n"
    "  -h, --help         this text\n";

enum { N_LINK = 2, HEAP = 16 << 20 };

static const char *const names[N_LINK] = {"near", "far"};

typedef struct job {
    axe_link    link[N_LINK];
    bool        found[N_LINK];
    const char *engine;
} job;

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job *j = user;

    (void)cx;
    j->engine = axe_engine_name(e);
    for (int i = 0; i < N_LINK; i++)
        AXE_TRY(axe_engine_measure(e, i == 0, &j->link[i], &j->found[i]));
    return AXE_OK;
}

static void
show(const axe_link *l, const char *engine)
{
    printf("%s: %" PRId64 "ns, %" PRId64 "MB/s by %s\n", l->name, l->latency,
           l->bandwidth / 1000000, engine);
}

/* Rank 0 has what all have, and keeps it. */
static axe_status
measure(axe_ctx *cx, const char *engine, const char *records, bool *speaks)
{
    axe_launcher       l;
    job                j = {0};
    axe_engine_options o = {.engine = engine, .heap = HEAP, .speaks = speaks};

    AXE_TRY(axe_launcher_find(cx, &l));
    o.n_rank = l.launcher ? 0 : 2;
    AXE_TRY(axe_spmd(cx, &o, on_rank, &j));
    for (int i = 0; i < N_LINK && *speaks; i++)
        if (j.found[i]) {
            AXE_TRY(axe_links_keep(cx, records, j.engine, &j.link[i]));
            show(&j.link[i], j.engine);
        }
    return AXE_OK;
}

static axe_status
list(axe_ctx *cx, const char *engine, const char *records)
{
    static const char *const engines[] = {"shm", "openmpi", "mpich"};
    int                      n = 0;

    for (int k = 0; k < AXE_LEN(engines); k++)
        for (int i = 0; i < N_LINK; i++) {
            axe_link l;
            bool     found;

            if (engine && strcmp(engine, engines[k]) != 0)
                continue;
            AXE_TRY(
                axe_links_find(cx, records, engines[k], names[i], &l, &found));
            if (found)
                show(&l, engines[k]);
            n += found;
        }
    if (n == 0)
        puts("no link is measured here: axe mesh --measure");
    return AXE_OK;
}

int
axe_verb_mesh(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"measure", no_argument, NULL, 'm'},
        {"engine", required_argument, NULL, 'e'},
        {"records", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *engine = NULL, *records = NULL;
    bool        wanted = false, speaks = true;
    int         c, code = AXE_EXIT_OK;
    axe_ctx    *cx;

    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1)
        switch (c) {
        case 'm':
            wanted = true;
            break;
        case 'e':
            engine = optarg;
            break;
        case 'r':
            records = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return axe_tool_finish(AXE_EXIT_OK);
        default:
            return axe_tool_wrong(argv, long_options);
        }
    if (optind < argc)
        return axe_tool_usage("mesh", "it takes no argument '%s'",
                              argv[optind]);
    cx = axe_ctx_new();
    if (!cx)
        return axe_tool_finish(AXE_EXIT_FAIL);
    if ((wanted ? measure(cx, engine, records, &speaks)
                : list(cx, engine, records)) != AXE_OK)
        code = speaks ? axe_tool_report(cx) : AXE_EXIT_FAIL;
    axe_ctx_free(cx);
    return axe_tool_finish(code);
}
