/* routing.c - which experts tokens have, as kernels/moe_route.axe sorts them:
 * in tiles of one expert each, expert by expert, tokens in their order. */
#include <string.h>

#include "gpu.h"

typedef struct routing {
    int64_t  m, s, e, p, bm;
    int32_t *pick; /* [m][s] */
    int32_t *row, *expert, *at;
} routing;

/* Each token's experts, none of them twice. */
static void
pick(routing *r, uint64_t seed)
{
    for (int64_t t = 0; t < r->m; t++)
        for (int64_t s = 0; s < r->s; s++) {
            int32_t *own = r->pick + t * r->s, x;
            int64_t  k;
            do {
                x = bench_random(&seed, (int)r->e);
                for (k = 0; k < s && own[k] != x; k++)
                    continue;
            } while (k < s);
            own[s] = x;
        }
}

/* Rows of expert x begin with a tile; the last tile's rest has no token. */
static void
sort(routing *r)
{
    int64_t at = 0;

    for (int64_t i = 0; i < r->p; i++)
        r->row[i] = (int32_t)r->m;
    for (int64_t i = 0; i < r->p / r->bm; i++)
        r->expert[i] = (int32_t)r->e;
    for (int64_t x = 0; x < r->e; x++) {
        for (int64_t i = 0; i < r->m * r->s; i++)
            if (r->pick[i] == x) {
                r->expert[at / r->bm] = (int32_t)x;
                r->row[at] = (int32_t)(i / r->s);
                r->at[i] = (int32_t)at++;
            }
        at = (at + r->bm - 1) / r->bm * r->bm;
    }
}

static axe_status
put(bench *b, const test_case *c, int set, const char *name, const void *from,
    int64_t n)
{
    for (int i = 0; i < c->n_array; i++)
        if (strcmp(c->array[set][i].name, name) == 0)
            return axe_gpu_put(c->cx, b->gpu, c->array[set][i].data, from,
                               (size_t)n * 4);
    return axe_fail(c->cx, AXE_NOWHERE, AXE_ENAME, "no array %s", name);
}

axe_status
case_route(bench *b, const test_case *c, int set)
{
    routing    r = {.m = case_size(c, "M"),
                    .s = case_size(c, "S"),
                    .e = case_size(c, "E"),
                    .p = case_size(c, "P"),
                    .bm = row_param(c->row, "BM")};
    axe_status st;

    r.pick = axe_new_array(c->cx, int32_t, r.m * r.s + 1);
    r.at = axe_new_array(c->cx, int32_t, r.m * r.s + 1);
    r.row = axe_new_array(c->cx, int32_t, r.p + 1);
    r.expert = axe_new_array(c->cx, int32_t, r.p / r.bm + 1);
    pick(&r, UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(set + 1));
    sort(&r);
    st = put(b, c, set, "row", r.row, r.p);
    if (st == AXE_OK)
        st = put(b, c, set, "expert", r.expert, r.p / r.bm);
    if (st == AXE_OK)
        st = put(b, c, set, "at", r.at, r.m * r.s);
    return st;
}
