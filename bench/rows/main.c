/* main.c - `bench_prepare [-r ROW] [-l LIST] DIR [MACHINE...]`: compiles all
 * rows for GPUs into a directory, or one, without a GPU, so that where there is
 * one nothing is compiled; and what a list like tests/sim.list has. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "axe/gpu.h"
#include "rows.h"

enum { MOST = 1024 }; /* programs */

static void
progress(void *user, int n_done, int n)
{
    (void)user;
    fprintf(stderr, "\r%d of %d", n_done, n);
    fflush(stderr);
}

/* The programs that rows have on a machine; some have none there. */
static int
gather(axe_ctx *cx, const char *only, const char *machine,
       const axe_program **out)
{
    int n = 0;

    for (int i = 0; i < n_rows; i++) {
        axe_mark m = axe_ctx_mark(cx);
        if (only && strcmp(only, rows[i].name) != 0)
            continue;
        if (row_compile(cx, &rows[i], machine, &out[n]) == AXE_OK)
            n++;
        else
            axe_ctx_release(cx, m);
    }
    return n;
}

static int
prepare(const char *only, const char *list, const char *cache,
        const char *machine)
{
    axe_ctx             *cx = axe_ctx_new();
    const axe_program  **p = axe_new_array(cx, const axe_program *, MOST);
    axe_gpu_prepare_spec spec = {.cache = cache, .progress = progress};
    axe_gpu_prepared     done = {0};
    axe_buf              said = {.cx = cx};
    int                  n = gather(cx, only, machine, p), all = 0, own = n;
    axe_status           st = AXE_OK;

    if (list)
        st = list_compile(cx, list, machine, MOST, p, &n, &all);
    if (st == AXE_OK)
        st = axe_gpu_prepare(cx, &spec, n, p, &done);
    fprintf(stderr, "\r");
    printf("%s: %d of %d rows have a kernel", machine, own, n_rows);
    if (list)
        printf(", and %d of %d of the list", n - own, all);
    printf(", %d ready, %d compiled now\n", done.n_ready, done.n_fresh);
    axe_diags_print(cx, &said, false);
    if (st != AXE_OK)
        fputs(said.text, stderr);
    axe_ctx_free(cx);
    return st == AXE_OK && done.n_ready == n ? 0 : 1;
}

int
main(int argc, char **argv)
{
    static char *usual[] = {"sm_90a", "sm_80", NULL};
    const char  *only = NULL, *list = NULL;
    int          bad = 0, c;

    while ((c = getopt(argc, argv, "r:l:")) == 'r' || c == 'l')
        *(c == 'r' ? &only : &list) = optarg;
    if (c != -1 || optind == argc) {
        fprintf(stderr,
                "usage: bench_prepare [-r ROW] [-l LIST] DIR [MACHINE...]\n");
        return 2;
    }
    const char *cache = argv[optind];
    for (char **m = argv[optind + 1] ? &argv[optind + 1] : usual; *m; m++)
        bad |= prepare(only, list, cache, *m);
    return bad;
}
