/* reshard_run.c - `axe reshard --run`: the plan on processes, each element
 * compared with the definition, bytes with the plan's. */
#include "reshard_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
    const axe_reshard_plan *plan;
    axe_number              type;
    int64_t                 n, n_addend; /* elements of the tensor */
    axe_traffic             traffic;
    double                  us;
    const char             *engine;
} job;

typedef struct verdict {
    int64_t n_wrong, index;
    double  got, want;
} verdict;

/* Small whole numbers, so that sums are exact in any order. */
static double
value(const job *j, int64_t index, int64_t addend)
{
    uint64_t h = ((uint64_t)index * 31 + (uint64_t)addend * 7 + 1) *
                 11400714819323198485u;

    return (double)(h >> (j->type == AXE_NUMBER_I8 ? 62 : 56));
}

static void
store(const job *j, void *at, int64_t i, double v)
{
    switch (j->type) {
#define NUMBER(name, word, bytes, type)                                        \
    case AXE_NUMBER_##name:                                                    \
        ((type *)at)[i] = (type)v;                                             \
        break;
#include "axe/number.def"
    case AXE_N_NUMBER:
        break;
    }
}

static double
load(const job *j, const void *at, int64_t i)
{
    switch (j->type) {
#define NUMBER(name, word, bytes, type)                                        \
    case AXE_NUMBER_##name:                                                    \
        return (double)((const type *)at)[i];
#include "axe/number.def"
    case AXE_N_NUMBER:
        break;
    }
    return 0;
}

/* What this rank has of the source, in the order of the index. */
static void
fill(const job *j, int64_t rank, void *src)
{
    int64_t at = 0;

    for (int64_t i = 0; i < j->n; i++)
        for (int64_t a = 0; a < j->n_addend; a++)
            if (axe_reshard_has(j->plan, false, rank, i, a)) {
                store(j, src, at++, value(j, i, a));
                break;
            }
}

/* The sum of the addends that an element of this rank is of. */
static void
compare(const job *j, int64_t rank, const void *dst, verdict *v)
{
    int64_t at = 0;

    for (int64_t i = 0; i < j->n; i++) {
        double want = 0, got;
        bool   has = false;

        for (int64_t a = 0; a < j->n_addend; a++)
            if (axe_reshard_has(j->plan, true, rank, i, a)) {
                want += value(j, i, a);
                has = true;
            }
        if (!has)
            continue;
        got = load(j, dst, at++);
        if (j->type == AXE_NUMBER_I8)
            want = (double)(uint8_t)want;
        if (got != want && v->n_wrong++ == 0)
            *v = (verdict){1, i, got, want};
    }
    if (at != axe_reshard_held(j->plan, true, rank) && v->n_wrong++ == 0)
        *v = (verdict){1, j->n, (double)at, 0};
}

static axe_status
judge(axe_ctx *cx, axe_engine *e, const verdict *mine)
{
    verdict *all = axe_new_array(cx, verdict, axe_engine_size(e));

    AXE_TRY(axe_engine_gather(e, mine, sizeof *mine, all));
    for (int64_t r = 0; r < axe_engine_size(e); r++)
        if (all[r].n_wrong > 0)
            return axe_fail(
                cx, AXE_NOWHERE, AXE_EDEVICE,
                "reshard: rank %" PRId64 " has %" PRId64
                " wrong elements; that of index %" PRId64 " is %g, not %g",
                r, all[r].n_wrong, all[r].index, all[r].got, all[r].want);
    return AXE_OK;
}

/* Zeros; NULL: there is no memory for that many. */
static void *
elements(const job *j, int64_t n)
{
    return n < INT64_MAX
               ? calloc((size_t)n + 1, (size_t)axe_number_bytes(j->type))
               : NULL;
}

static axe_status
carry_out(axe_ctx *cx, axe_engine *e, job *j, void *src, void *dst)
{
    int64_t         rank = axe_engine_rank(e);
    int64_t         n_dst = axe_reshard_held(j->plan, true, rank);
    verdict         v = {0};
    struct timespec from, to;

    fill(j, rank, src);
    memset(dst, 0xA5, (size_t)(n_dst * axe_number_bytes(j->type)));
    AXE_TRY(axe_engine_barrier(e));
    timespec_get(&from, TIME_UTC);
    AXE_TRY(axe_reshard_run(e, j->plan, j->type, src, dst, &j->traffic));
    timespec_get(&to, TIME_UTC);
    j->us = (double)(to.tv_sec - from.tv_sec) * 1e6 +
            (double)(to.tv_nsec - from.tv_nsec) / 1e3;
    j->engine = axe_engine_name(e);
    compare(j, rank, dst, &v);
    return judge(cx, e, &v);
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job       *j = user;
    int64_t    rank = axe_engine_rank(e);
    int64_t    n_src = axe_reshard_held(j->plan, false, rank);
    int64_t    n_dst = axe_reshard_held(j->plan, true, rank);
    void      *src = elements(j, n_src), *dst = elements(j, n_dst);
    axe_status st;

    if (src && dst)
        st = carry_out(cx, e, j, src, dst);
    else {
        st = axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                      "reshard: no memory for the %" PRId64 " elements of rank "
                      "%" PRId64 " before and the %" PRId64 " behind",
                      n_src, rank, n_dst);
        axe_help(cx, "without --run the plan alone is shown; a smaller tensor "
                     "over the same mesh has one like it");
    }
    free(src);
    free(dst);
    return st;
}

static void
report(const job *j)
{
    int64_t width = axe_number_bytes(j->type);

    printf("  run     %" PRId64 " ranks by %s, %s: every element is right\n",
           j->plan->mesh->n_device, j->engine, axe_number_text(j->type));
    printf("  moved   %" PRId64 " elements to the rank that got most, %" PRId64
           " to all: %s\n",
           j->traffic.max_recv / width, j->traffic.total / width,
           j->traffic.total == j->plan->total * width ? "as the plan says"
                                                      : "not what the plan "
                                                        "says");
    printf("  took    %.3g us, with the start of the plan\n", j->us);
}

static axe_status
find_type(axe_ctx *cx, const char *name, int bits, axe_number *out)
{
    const char *names[AXE_N_NUMBER];

    for (int t = 0; t < AXE_N_NUMBER; t++) {
        names[t] = axe_number_text((axe_number)t);
        if (name ? strcmp(name, names[t]) == 0
                 : axe_number_bytes((axe_number)t) * 8 == bits)
            *out = (axe_number)t;
        else
            continue;
        if (axe_number_bytes(*out) * 8 == bits)
            return AXE_OK;
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "reshard: no elements of %d bits%s%s are run; there are "
                    "i8, i16, i32, i64, f32 and f64",
                    bits, name ? " called " : "", name ? name : "");
}

int
axe_tool_reshard_bits(const char *type)
{
    for (int t = 0; type && t < AXE_N_NUMBER; t++)
        if (strcmp(type, axe_number_text((axe_number)t)) == 0)
            return (int)axe_number_bytes((axe_number)t) * 8;
    return 32;
}

axe_status
axe_tool_reshard_run(axe_ctx *cx, const axe_reshard_plan *p,
                     const reshard_run *opt)
{
    bool               speaks = true;
    axe_engine_options o = {.engine = opt->engine,
                            .timeout_ms = opt->timeout_ms,
                            .n_rank = p->mesh->n_device,
                            .heap = axe_reshard_heap(p),
                            .speaks = &speaks};
    job                j = {.plan = p, .n = 1};
    axe_status         st;

    for (int k = 0; k < p->src.shape.n; k++)
        j.n *= p->src.shape.extent[k];
    j.n_addend = axe_reshard_addends(p);
    *opt->quiet = false;
    AXE_TRY(find_type(cx, opt->type, p->bits, &j.type));
    st = axe_spmd(cx, &o, on_rank, &j);
    if (st == AXE_OK && speaks) {
        fputs(opt->json ? axe_reshard_json(cx, p) : axe_reshard_text(cx, p),
              stdout);
        if (opt->json)
            putchar('\n');
        else
            report(&j);
    }
    if (st == AXE_OK && j.traffic.total != p->total * axe_number_bytes(j.type))
        st = axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                      "reshard: %" PRId64 " bytes went to all ranks, and the "
                      "plan has %" PRId64,
                      j.traffic.total, p->total * axe_number_bytes(j.type));
    *opt->quiet = !speaks;
    return st;
}
