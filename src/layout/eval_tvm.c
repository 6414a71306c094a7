/* eval_tvm.c - the operations of `axe eval` that follow TVM's layouts: thread
 * scopes, reordering of iters, and the layouts made for machines.
 *
 * Meanings follow TVM where TVM is right; where it departs from the definition
 * of the induced map, the definition holds (docs/layout.md). */
#include <inttypes.h>
#include <string.h>

#include "layout/eval_int.h"

/* ------------------------------------------------------------------ scopes */

typedef enum scope { THREAD, WARP, WARPGROUP, CTA, CLUSTER, GRID } scope;

static const char *const scope_name[] = {
    [THREAD] = "thread", [WARP] = "warp",       [WARPGROUP] = "warpgroup",
    [CTA] = "cta",       [CLUSTER] = "cluster", [GRID] = "grid",
};

/* A thread axis numbers the `low` entities inside a `high` one. */
static const struct edge {
    const char *axis;
    scope       low, high;
} edges[] = {
    {"laneid", THREAD, WARP},
    {"lane", THREAD, WARP},
    {"tid_in_wg", THREAD, WARPGROUP},
    {"tid", THREAD, WARPGROUP},
    {"tx", THREAD, CTA},
    {"thread", THREAD, CTA},
    {"wid_in_wg", WARP, WARPGROUP},
    {"wid", WARP, WARPGROUP},
    {"warpid", WARP, CTA},
    {"warp", WARP, CTA},
    {"wgid", WARPGROUP, CTA},
    {"warpgroup", WARPGROUP, CTA},
    {"cbx", CTA, CLUSTER},
    {"cby", CTA, CLUSTER},
    {"cbz", CTA, CLUSTER},
    {"cta", CTA, CLUSTER},
    {"bx", CTA, GRID},
    {"by", CTA, GRID},
    {"bz", CTA, GRID},
};

static const struct edge *
find_edge(const char *axis)
{
    for (int i = 0; i < AXE_LEN(edges); i++)
        if (strcmp(edges[i].axis, axis) == 0)
            return &edges[i];
    return NULL;
}

/* The scopes that l's thread axes span, when they form one chain: every axis
 * begins where the one below it ends.  *n is 0 if D has no thread axis. */
static axe_status
chain(axe_job *j, const axe_layout *l, int *n, scope *low, scope *high)
{
    const struct edge *at[GRID] = {0};
    const axe_axis    *axis;
    int                n_axis = axe_job_axes(j, l, &axis);
    bool               in_shard = false;
    int                first = -1, end = -1;

    for (int i = 0; i < l->n_shard; i++)
        in_shard =
            in_shard || find_edge(axe_axis_name(j->cx, l->shard[i].axis));
    for (int i = 0; in_shard && i < n_axis; i++) {
        const struct edge *e = find_edge(axe_axis_name(j->cx, axis[i]));

        if (!e)
            continue;
        if (at[e->low] && at[e->low]->high != e->high)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "axes %s and %s both start at scope %s but end at "
                            "%s and %s",
                            at[e->low]->axis, e->axis, scope_name[e->low],
                            scope_name[at[e->low]->high], scope_name[e->high]);
        at[e->low] = e;
    }
    for (int s = THREAD; s < GRID; s++) {
        if (!at[s])
            continue;
        if (first >= 0 && s != end)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "axis %s starts at scope %s, but the axes below it "
                            "end at %s",
                            at[s]->axis, scope_name[s], scope_name[end]);
        if (first < 0)
            first = s;
        end = (int)at[s]->high;
    }
    *n = first >= 0;
    *low = first >= 0 ? (scope)first : THREAD;
    *high = end >= 0 ? (scope)end : THREAD;
    return AXE_OK;
}

axe_status
axe_op_get_scope(axe_job *j)
{
    const axe_layout *l;
    int               n;
    scope             low, high;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(chain(j, l, &n, &low, &high));
    if (n == 0)
        axe_puts(j->out, "null");
    else
        axe_putf(j->out, "[\"%s\",\"%s\"]", scope_name[low], scope_name[high]);
    return AXE_OK;
}

axe_status
axe_op_verify(axe_job *j)
{
    const axe_layout *l;
    int               n;
    scope             low, high;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    return axe_job_reply_bool(j, chain(j, l, &n, &low, &high) == AXE_OK);
}

/* The whole axis that numbers exactly what l's thread axes number together. */
static axe_status
fuse(axe_job *j, const axe_layout *l, const axe_layout **out)
{
    axe_mark before = axe_ctx_mark(j->cx);
    int      n;
    scope    low, high;
    axe_axis whole;

    *out = l;
    if (chain(j, l, &n, &low, &high) != AXE_OK) {
        axe_ctx_release(j->cx, before);
        return AXE_OK;
    }
    for (int i = 0; n > 0 && i < AXE_LEN(edges); i++)
        if (edges[i].low == low && edges[i].high == high) {
            before = axe_ctx_mark(j->cx);
            if (axe_axis_find(j->cx, AXE_NOWHERE, edges[i].axis, &whole) ==
                AXE_OK)
                return axe_layout_fuse_axis(j->cx, l, whole, out);
            axe_ctx_release(j->cx, before);
        }
    return AXE_OK;
}

axe_status
axe_job_reply(axe_job *j, const axe_layout *l)
{
    const axe_layout *c = axe_layout_flat(j->cx, l);

    if (j->fuse)
        AXE_TRY(fuse(j, c, &c));
    AXE_TRY(axe_layout_canon(j->cx, c, &c));
    return axe_job_reply_raw(j, c);
}

/* ------------------------------------------------------ reordering of iters */

/* l with its D cut at end[0..n). */
static axe_status
cut_at(axe_job *j, const axe_layout *l, int n, const int *end,
       const axe_layout **out)
{
    axe_layout spec = *l;

    spec.n_dim = n;
    spec.dim_end = end;
    return axe_layout_make(j->cx, &spec, out);
}

static axe_status
permute(axe_job *j, const axe_layout *l, int n_dim, const int *end)
{
    const axe_layout *cut, *out;
    const int        *perm;
    int               n;

    AXE_TRY(axe_json_to_ints(j->cx, axe_json_get(j->in, "perm"), "perm", &n,
                             &perm));
    AXE_TRY(cut_at(j, l, n_dim, end, &cut));
    AXE_TRY(axe_layout_permute(j->cx, cut, n, perm, &out));
    return axe_job_reply_raw(j, out);
}

axe_status
axe_op_permute_dims(axe_job *j)
{
    const axe_layout *l;
    int              *end;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    end = axe_new_array(j->cx, int, l->n_shard);
    for (int i = 0; i < l->n_shard; i++)
        end[i] = i + 1;
    return permute(j, l, l->n_shard, end);
}

axe_status
axe_op_permute_groups(axe_job *j)
{
    const axe_layout *l;
    const int        *sep;
    int               n;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(
        axe_json_to_ints(j->cx, axe_json_get(j->in, "seps"), "seps", &n, &sep));
    if (n < 1 || sep[0] != 0 || sep[n - 1] != l->n_shard)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "seps must begin with 0 and end with %d, the number of "
                        "iters",
                        l->n_shard);
    return permute(j, l, n - 1, sep + 1);
}

/* ------------------------------------------------------- made for machines */

static axe_status
reply_iters(axe_job *j, int n, const axe_iter *it)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_of_iters(j->cx, n, it, &l));
    return axe_job_reply_raw(j, l);
}

static axe_status
axis_named(axe_job *j, const char *name, axe_axis *out)
{
    return axe_axis_find(j->cx, AXE_NOWHERE, name, out);
}

axe_status
axe_op_wg_local(axe_job *j)
{
    int64_t  rows = 128, cols;
    axe_axis thread;

    AXE_TRY(axe_job_int(j, "cols", &cols));
    if (axe_json_get(j->in, "rows"))
        AXE_TRY(axe_job_int(j, "rows", &rows));
    AXE_TRY(axis_named(j, "tid_in_wg", &thread));
    if (rows > 128)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "wg_local_layout: %" PRId64 " rows, but a warpgroup "
                        "has 128 threads",
                        rows);
    return reply_iters(j, 2,
                       (axe_iter[]){{rows, 1, thread, AXE_UNIT_ONE},
                                    {cols, 1, AXE_AXIS_M, AXE_UNIT_ONE}});
}

axe_status
axe_job_dtype(axe_job *j, const char *op, int *out)
{
    static const struct row {
        const char *name;
        int         log2;
    } rows[] = {
        {"int8", 0},        {"uint8", 0},   {"float8_e4m3fn", 0},
        {"float8_e5m2", 0}, {"float16", 1}, {"bfloat16", 1},
        {"int32", 2},       {"float32", 2}, {"float64", 3},
    };
    const axe_json *v = axe_json_get(j->in, "dtype");

    for (int i = 0; v->kind == AXE_JSON_TEXT && i < AXE_LEN(rows); i++)
        if (strcmp(v->text, rows[i].name) == 0) {
            *out = rows[i].log2;
            return AXE_OK;
        }
    return axe_fail(j->cx, AXE_NOWHERE, AXE_ETYPE,
                    "%s: no such element type: %s", op,
                    v->kind == AXE_JSON_TEXT ? v->text : axe_json_kind_text(v));
}

/* Rows of w elements (32, 64 or 128 bytes), all rows of the last two dims, then
 * the next w columns; outer dims row-major. */
axe_status
axe_op_mma_shared(axe_job *j)
{
    axe_shape         shape;
    int64_t           mode, rows, cols, w, plane, step;
    int               log2 = 0, n;
    axe_iter         *it;
    const axe_layout *l, *out;

    AXE_TRY(axe_job_dtype(j, "mma_shared_layout", &log2));
    AXE_TRY(axe_job_int(j, "swizzle_mode", &mode));
    AXE_TRY(axe_job_shape(j, "shape", &shape));
    if (mode < 1 || mode > 3)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "mma_shared_layout: swizzle mode %" PRId64
                        "; 1, 2, 3 are 32, 64, 128 bytes",
                        mode);
    if (shape.n < 2)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "mma_shared_layout: a shape of %d dims; it needs 2",
                        shape.n);
    n = shape.n;
    rows = shape.extent[n - 2];
    cols = shape.extent[n - 1];
    w = (int64_t)16 << mode >> log2;
    if (rows < 1 || cols < 1 || rows % 8 != 0 || cols % w != 0 ||
        !axe_mul(rows, cols, &plane))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "mma_shared_layout: (%" PRId64 ", %" PRId64
                        ") is not made of atoms of (8, %" PRId64 ")",
                        rows, cols, w);
    it = axe_new_array(j->cx, axe_iter, n + 1);
    step = plane;
    for (int k = n - 3; k >= 0; k--) {
        it[k] = (axe_iter){shape.extent[k], step, AXE_AXIS_M, AXE_UNIT_ONE};
        if (!axe_mul(step, shape.extent[k], &step))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "mma_shared_layout: the size leaves int64");
    }
    it[n - 2] = (axe_iter){rows, w, AXE_AXIS_M, AXE_UNIT_ONE};
    it[n - 1] = (axe_iter){cols / w, rows * w, AXE_AXIS_M, AXE_UNIT_ONE};
    it[n] = (axe_iter){w, 1, AXE_AXIS_M, AXE_UNIT_ONE};
    AXE_TRY(axe_layout_of_iters(j->cx, n + 1, it, &l));
    AXE_TRY(axe_layout_swizzled(
        j->cx, l, (axe_swizzle){(int)mode, 4 - log2, 3, 0}, &out));
    return axe_job_reply_raw(j, out);
}

/* One period of what such a tile is made of: a swizzle on contiguous elements.
 */
axe_status
axe_op_mma_atom(axe_job *j)
{
    int64_t           mode;
    int               log2 = 0;
    axe_iter          it = {0, 1, AXE_AXIS_M, AXE_UNIT_ONE};
    const axe_layout *l;

    AXE_TRY(axe_job_dtype(j, "mma_atom_layout", &log2));
    AXE_TRY(axe_job_int(j, "swizzle_mode", &mode));
    if (mode < 0 || mode > 3)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "mma_atom_layout: swizzle mode %" PRId64
                        "; 0 is none, 1, 2, 3 are 32, 64, 128 bytes",
                        mode);
    it.extent = INT64_C(1) << (4 - log2 + mode + 3);
    AXE_TRY(axe_layout_of_iters(j->cx, 1, &it, &l));
    AXE_TRY(axe_layout_swizzled(
        j->cx, l, (axe_swizzle){(int)mode, 4 - log2, mode ? 3 : 0, 0}, &l));
    return axe_job_reply_raw(j, l);
}

enum { PARTITIONS = 128, BANK_ELEMENTS = 512 };

/* Strides of the dims on one letter's axis, row-major; a single P dim beyond
 * 128 partitions gives its outer part to F as the slowest factor. */
axe_status
axe_op_trainium(axe_job *j)
{
    const axe_json *v = axe_json_get(j->in, "annotation");
    axe_shape       shape;
    axe_iter       *it;
    axe_axis        axis[2];
    int64_t         step[2] = {1, 1}, outer = 1;
    int             n, n_part = 0;

    AXE_TRY(axe_job_shape(j, "shape", &shape));
    n = shape.n;
    if (v->kind != AXE_JSON_TEXT || v->len != (size_t)n ||
        strspn(v->text, "PF") != v->len)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "trainium: the annotation needs one letter, P or F, "
                        "for each of the %d dims",
                        n);
    AXE_TRY(axis_named(j, "P", &axis[0]));
    AXE_TRY(axis_named(j, "F", &axis[1]));
    it = axe_new_array(j->cx, axe_iter, n + 1);
    for (int k = 0; k < n; k++)
        n_part += v->text[k] == 'P';
    for (int k = n - 1; k >= 0; k--) {
        int     f = v->text[k] == 'F';
        int64_t e = shape.extent[k];

        if (!f && n_part == 1 && e > PARTITIONS && e % PARTITIONS == 0) {
            outer = e / PARTITIONS;
            e = PARTITIONS;
        }
        it[k + 1] = (axe_iter){e, step[f], axis[f], AXE_UNIT_ONE};
        if (!axe_mul(step[f], e, &step[f]))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "trainium: the size leaves int64");
    }
    if (step[0] > PARTITIONS)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "trainium: %" PRId64 " partitions; there are %d",
                        step[0], PARTITIONS);
    for (int k = 0; outer > 1 && k < n; k++) {
        it[k] = it[k + 1];
        if (v->text[k] == 'P') {
            it[k] = (axe_iter){outer, step[1], axis[1], AXE_UNIT_ONE};
            return reply_iters(j, n + 1, it);
        }
    }
    return reply_iters(j, n, it + 1);
}

/* Cut an iter of F into whole banks and what stays inside one. */
static axe_status
cut_bank(axe_job *j, axe_iter it, axe_axis bank, int *n, axe_iter *dst,
         int64_t *inside)
{
    int64_t per = it.stride > 0 ? BANK_ELEMENTS / it.stride : 0;
    int64_t low = it.extent;

    if (it.stride % BANK_ELEMENTS == 0) {
        it.axis = it.stride ? bank : it.axis;
        it.stride /= BANK_ELEMENTS;
        dst[(*n)++] = it;
        return AXE_OK;
    }
    if (per > 0 && BANK_ELEMENTS % it.stride == 0 && it.extent > per &&
        it.extent % per == 0) {
        dst[(*n)++] = (axe_iter){it.extent / per, 1, bank, AXE_UNIT_ONE};
        low = per;
    }
    dst[(*n)++] = (axe_iter){low, it.stride, it.axis, it.unit};
    if (it.stride > 0 && axe_mul(low - 1, it.stride, &low) &&
        axe_add(*inside, low, inside) && *inside < BANK_ELEMENTS)
        return AXE_OK;
    return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "to_psum: iter (%" PRId64 " : %" PRId64
                    "@F) does not stay inside banks of %d",
                    it.extent, it.stride, BANK_ELEMENTS);
}

/* F = 512 * Bank + F: exact, or an error; TVM does not look for carries. */
axe_status
axe_op_to_psum(axe_job *j)
{
    const axe_layout *l;
    axe_iter         *it;
    axe_axis          f, bank;
    int               n = 0;
    int64_t           inside = 0;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axis_named(j, "F", &f));
    AXE_TRY(axis_named(j, "Bank", &bank));
    if (l->n_replica > 0 || l->n_offset > 0 || l->swizzle.bits > 0)
        return axe_fail(
            j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
            "to_psum: a layout with replicas, offsets or a swizzle");
    it = axe_new_array(j->cx, axe_iter, 2 * (size_t)l->n_shard);
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].axis == f && l->shard[i].extent > 1)
            AXE_TRY(cut_bank(j, l->shard[i], bank, &n, it, &inside));
        else
            it[n++] = l->shard[i];
    return reply_iters(j, n, it);
}
