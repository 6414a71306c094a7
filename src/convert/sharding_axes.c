/* sharding_axes.c - axes of the mesh for each dimension:
 *
 *     jax, shardy  [["x"], [], ["y", "z"]], major first; parts of axes "x:(2)4"
 *     alpa         "S01RS1"
 *     megatron     "column", "row", "replicated": of a weight (out, in) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sharding_int.h"

/* The devices of dimension k: the product of `n` (extent, stride), major first,
 * is one chunking. */
static void
shard_by(axe_ctx *cx, axe_sharding *s, int k, int n, const axe_shard_digit *by)
{
    int64_t m = 1, c = s->shape[k];

    for (int i = 0; i < n; i++)
        m *= by[i].extent;
    c = (c - 1) / m + 1;
    for (int p = 0; p < s->n_device; p++) {
        int64_t at = 0;

        for (int i = 0; i < n; i++)
            at = at * by[i].extent + p / by[i].stride % by[i].extent;
        *axe_shard_runs(s, p, k) =
            axe_runs_chunk(cx, axe_shard_runs(s, p, k), at, m);
    }
    if (n >= AXE_SHARD_DIGITS) {
        axe_shard_no_layout(&s->dim[k], "too many parts");
        return;
    }
    for (int i = 0; i < n; i++)
        s->dim[k].digit[i] = by[i];
    s->dim[k].digit[n] = (axe_shard_digit){c, 0};
    s->dim[k].n = n + 1;
}

/* What of the mesh is taken, to tell what is replicated. */
typedef struct taken {
    int             n;
    axe_shard_digit digit[AXE_SHARD_DIGITS];
} taken;

/* "x" or "x:(p)k" */
static axe_status
read_axis(axe_ctx *cx, const axe_sharding *s, const char *text,
          axe_shard_digit *out)
{
    size_t  n = strcspn(text, ":");
    int     a = 0, at = 0;
    int64_t p = 1, k;

    while (a < s->n_mesh &&
           (!s->name[a] || strncmp(s->name[a], text, n) != 0 || s->name[a][n]))
        a++;
    if (a == s->n_mesh)
        return axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "mesh: no axis '%.*s'",
                        n < 40 ? (int)n : 40, text);
    k = s->mesh[a];
    if (text[n] &&
        (sscanf(text + n, ":(%" SCNd64 ")%" SCNd64 "%n", &p, &k, &at) != 2 ||
         text[n + (size_t)at] || p < 1 || k < 1 || p > s->mesh[a] ||
         k > s->mesh[a] || s->mesh[a] % (p * k) != 0))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "mesh: '%s' is no part of an axis of %" PRId64, text,
                        s->mesh[a]);
    *out = (axe_shard_digit){k, s->stride[a] * (s->mesh[a] / (p * k))};
    return AXE_OK;
}

/* An axis of size 1 has the stride of the one before it, and comes first. */
static int
by_stride(const void *a, const void *b)
{
    const axe_shard_digit *x = a, *y = b;

    if (x->stride != y->stride)
        return x->stride < y->stride ? -1 : 1;
    return (x->extent > y->extent) - (x->extent < y->extent);
}

/* Devices that no dimension tells apart hold copies. */
static axe_status
copies(axe_ctx *cx, axe_sharding *s, taken *t)
{
    int64_t done = 1;

    qsort(t->digit, (size_t)t->n, sizeof *t->digit, by_stride);
    for (int i = 0; i <= t->n; i++) {
        int64_t next = i < t->n ? t->digit[i].stride : s->n_device;

        if (next % done != 0 || next < done)
            return axe_shard_wrong(cx, "mesh",
                                   "an axis, or a part of one, is used twice");
        if (next > done)
            s->copy[s->n_copy++] =
                (axe_iter){next / done, done, AXE_AXIS_M, AXE_UNIT_ONE};
        done = i < t->n ? next * t->digit[i].extent : done;
    }
    return AXE_OK;
}

axe_status
axe_shard_read_jax(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    taken t = {0};
    int   k = 0;

    AXE_TRY(axe_shard_check_list(cx, s->system, spec, AXE_JSON_LIST));
    if (spec->n_child != s->rank)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: axes for %d of the %d dimensions of the tensor",
                        s->system, spec->n_child, s->rank);
    for (const axe_json *c = spec->child; c; c = c->next, k++) {
        axe_shard_digit by[AXE_SHARD_DIGITS];
        int             n = 0;

        for (const axe_json *x = c->child; x; x = x->next) {
            if (x->kind != AXE_JSON_TEXT || n + 1 == AXE_SHARD_DIGITS ||
                t.n + 1 == AXE_SHARD_DIGITS)
                return axe_shard_wrong(cx, s->system,
                                       "each dimension has a list of axes");
            AXE_TRY(read_axis(cx, s, x->text, &by[n]));
            t.digit[t.n++] = by[n++];
        }
        shard_by(cx, s, k, n, by);
    }
    return copies(cx, s, &t);
}

axe_status
axe_shard_read_alpa(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    const char *x = spec->kind == AXE_JSON_TEXT ? spec->text : "";
    taken       t = {0};

    for (int k = 0; k < s->rank; k++) {
        axe_shard_digit by[AXE_SHARD_RANK];
        int             n = 0;

        if (*x != 'S' && *x != 'R')
            return axe_shard_wrong(cx, "alpa",
                                   "S with mesh axes, or R, for each "
                                   "dimension");
        for (bool sharded = *x++ == 'S'; sharded && axe_is_digit(*x); x++) {
            int a = *x - '0';

            if (a >= s->n_mesh || n == AXE_SHARD_RANK ||
                t.n + 1 == AXE_SHARD_DIGITS)
                return axe_shard_wrong(cx, "alpa",
                                       "there is no such mesh axis");
            by[n] = (axe_shard_digit){s->mesh[a], s->stride[a]};
            t.digit[t.n++] = by[n++];
        }
        shard_by(cx, s, k, n, by);
    }
    return *x ? axe_shard_wrong(cx, "alpa", "more letters than dimensions")
              : copies(cx, s, &t);
}

axe_status
axe_shard_read_megatron(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    const char *what = spec->kind == AXE_JSON_TEXT ? spec->text : "";
    bool        column = strcmp(what, "column") == 0;

    if (strcmp(what, "replicated") == 0)
        return AXE_OK;
    if ((!column && strcmp(what, "row") != 0) || s->n_mesh != 1)
        return axe_shard_wrong(cx, "megatron",
                               "column, row or replicated, on a mesh of "
                               "one axis");
    s->used[0] = true;
    axe_shard_cut(cx, s, column ? 0 : s->rank - 1, s->mesh[0], 1);
    return AXE_OK;
}
