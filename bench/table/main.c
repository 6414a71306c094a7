/* main.c - bench_table [OPTION]... [KERNEL...]: the benchmark table, or its
 * rows of these kernels.  Libraries that are not here have no column.
 *
 *   --quick        some rows, and less time for each: under a minute
 *   --json         lines of JSON instead of a table
 *   --record FILE  write them to FILE, too
 *   --threads N    one or two; else one, then two
 *   --set A=1      a compile-time parameter, or several: "A=1 B=2" */
#define _GNU_SOURCE

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

const row rows[] = {
#define ROW(quick, file, kernel, set, sizes) {file, kernel, set, sizes, quick},
#include "rows.def"
};
const int n_rows = AXE_LEN(rows);

/* Seconds for a row. */
#define BUDGET 1.5
#define QUICK_BUDGET 0.25

typedef struct options {
    report report;
    bool   quick;
    int    threads; /* 0: one and two */
    char  *set;     /* more than the row's, or NULL */
    int    n_word;
    char **word;
} options;

static const peer *const all[] = {
    &axe_peer,   &openblas_peer, &blis_peer, &dnnl_peer,   &numpy_peer,
    &torch_peer, &peak_peer,     &copy_peer, &stream_peer, &read_peer,
};

static bool
is_wanted(const options *o, const row *r)
{
    bool wanted = o->n_word == 0;

    for (int i = 0; i < o->n_word; i++)
        wanted = wanted || strcmp(o->word[i], r->kernel) == 0;
    return wanted && (r->quick || !o->quick);
}

static axe_status
run_row(const options *o, const row *r, int n_thread, int n,
        const peer *const *here)
{
    axe_ctx   *cx = axe_ctx_new();
    axe_buf    said = {.cx = cx};
    row        mine = *r;
    problem    p;
    contest    c;
    axe_status st;

    if (o->set)
        mine.set = axe_textf(cx, "%s %s", r->set, o->set);
    st = problem_new(cx, &mine, n_thread, &p);

    if (st == AXE_OK)
        st = problem_launch(&p);
    if (st == AXE_OK) {
        contest_run(&p, n, here, o->quick ? QUICK_BUDGET : BUDGET, &c);
        report_row(&o->report, &p, n, here, &c);
    }
    problem_free(&p);
    axe_diags_print(cx, &said, false);
    if (said.len > 0)
        fputs(said.text, stderr);
    axe_ctx_free(cx);
    return st;
}

/* Which peers are here.  OpenMP's threads are to keep to one processor each,
 * without which they take turns on one after every pause; but its library then
 * binds this thread, too, whose mask axe's own threads would inherit. */
static int
open_all(axe_ctx *cx, const peer **here)
{
    cpu_set_t mask;
    bool      known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    int       n = 0;

    setenv("OMP_PROC_BIND", "true", 1);
    setenv("OMP_PLACES", "cores", 1);
    for (int i = 0; i < AXE_LEN(all); i++)
        if (all[i]->open(cx))
            here[n++] = all[i];
    if (known)
        sched_setaffinity(0, sizeof mask, &mask);
    return n;
}

static int
run_all(const options *o)
{
    axe_ctx    *cx = axe_ctx_new();
    const peer *here[MAX_PEER];
    int         n = open_all(cx, here), code = 0;

    report_head(&o->report, n, here);
    for (int t = 1; t <= 2; t++)
        for (int i = 0; i < n_rows && (o->threads == 0 || o->threads == t); i++)
            if (is_wanted(o, &rows[i]) &&
                run_row(o, &rows[i], t, n, here) != AXE_OK)
                code = 1;
    axe_ctx_free(cx);
    return code;
}

/* The index of the first word that is no option; -1: a wrong one. */
static int
read_options(options *o, int argc, char **argv)
{
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--quick") == 0)
            o->quick = true;
        else if (strcmp(argv[i], "--json") == 0)
            o->report.json = true;
        else if (strcmp(argv[i], "--threads") == 0 && more)
            o->threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--set") == 0 && more)
            o->set = argv[++i];
        else if (strcmp(argv[i], "--record") == 0 && more)
            o->report.record = fopen(argv[++i], "w");
        else
            return -1;
    }
    return i;
}

int
main(int argc, char **argv)
{
    options o = {0};
    int     i = read_options(&o, argc, argv), code;

    if (i < 0) {
        fprintf(stderr,
                "usage: %s [--quick] [--json] [--record FILE] [--threads 1|2] "
                "[--set \"A=1 B=2\"] [KERNEL...]\n",
                argv[0]);
        return 2;
    }
    o.n_word = argc - i;
    o.word = argv + i;
    code = run_all(&o);
    if (o.report.record)
        fclose(o.report.record);
    return code;
}
