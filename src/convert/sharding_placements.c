/* sharding_placements.c - a placement for each axis of the mesh, left to right:
 *
 *     dtensor  ["S(0)", "R", "_S(0, 2)", "P(sum)"]: chunks of ceil(n / m) of
 *              what a device has so far
 *     oneflow  ["S0", "B", "P"]: the first n mod m ranks get one more */
#include <inttypes.h>
#include <string.h>

#include "convert/sharding_int.h"

enum { MOST_RUNS = 1 << 20 };

/* --------------------------------------------------------------- as text */

/* "(" [ name "=" ] int [ "," [ name "=" ] int ] ")" */
static axe_status
shard_arguments(axe_reader *r, axe_placement *p)
{
    size_t from;

    AXE_TRY(axe_cv_need(r, "dtensor", '('));
    if (axe_scan_word(r, "dim"))
        AXE_TRY(axe_cv_need(r, "dtensor", '='));
    AXE_TRY(axe_cv_int(r, "dtensor", "a dimension", &p->dim));
    if (p->kind == AXE_PLACE_STRIDED) {
        AXE_TRY(axe_cv_need(r, "dtensor", ','));
        if (axe_scan_word(r, "sf") || axe_scan_word(r, "split_factor"))
            AXE_TRY(axe_cv_need(r, "dtensor", '='));
        axe_scan_peek(r);
        from = r->at;
        AXE_TRY(axe_cv_int(r, "dtensor", "a number of parts", &p->parts));
        if (p->parts < 1 || p->parts > AXE_PLACE_PARTS)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESHAPE,
                            "dtensor: a dimension is cut in 1 to %d parts, not "
                            "in %" PRId64,
                            AXE_PLACE_PARTS, p->parts);
    }
    return axe_cv_need(r, "dtensor", ')');
}

axe_status
axe_placement_read(axe_reader *r, axe_placement *p)
{
    *p = (axe_placement){.parts = 1, .op = "sum"};
    if (axe_scan_word(r, "S") || axe_scan_word(r, "Shard")) {
        p->kind = AXE_PLACE_SHARD;
        return shard_arguments(r, p);
    }
    if (axe_scan_word(r, "_S") || axe_scan_word(r, "_StridedShard")) {
        p->kind = AXE_PLACE_STRIDED;
        return shard_arguments(r, p);
    }
    if (axe_scan_word(r, "P") || axe_scan_word(r, "Partial")) {
        p->kind = AXE_PLACE_PARTIAL;
        if (!axe_scan_take(r, '('))
            return AXE_OK;
        axe_scan_peek(r);
        if (!(p->op = axe_scan_name(r)))
            return axe_cv_expected(r, "dtensor", "an operator");
        return axe_cv_need(r, "dtensor", ')');
    }
    if (!axe_scan_word(r, "R") && !axe_scan_word(r, "Replicate"))
        return axe_cv_expected(r, "dtensor", "S(..), R, P(..) or _S(.., ..)");
    p->kind = AXE_PLACE_COPY;
    return axe_scan_take(r, '(') ? axe_cv_need(r, "dtensor", ')') : AXE_OK;
}

/* "S0", or a word and "(0)" or "(dim=0)" behind it */
static axe_status
split_dim(axe_reader *r, const char *name, axe_placement *p)
{
    p->kind = AXE_PLACE_SHARD;
    if (name[0] == 'S' && axe_is_digit(name[1]) && !name[2]) {
        p->dim = name[1] - '0';
        return AXE_OK;
    }
    AXE_TRY(axe_cv_need(r, "oneflow", '('));
    if (axe_scan_word(r, "dim") || axe_scan_word(r, "axis"))
        AXE_TRY(axe_cv_need(r, "oneflow", '='));
    AXE_TRY(axe_cv_int(r, "oneflow", "a dimension", &p->dim));
    return axe_cv_need(r, "oneflow", ')');
}

axe_status
axe_sbp_read(axe_reader *r, axe_placement *p)
{
    static const char what[] = "S(0), B or P";
    size_t            from;
    const char       *name;

    *p = (axe_placement){.parts = 1, .op = "sum"};
    if (axe_scan_word(r, "oneflow"))
        AXE_TRY(axe_cv_need(r, "oneflow", '.'));
    if (axe_scan_word(r, "sbp"))
        AXE_TRY(axe_cv_need(r, "oneflow", '.'));
    axe_scan_peek(r);
    from = r->at;
    if (!(name = axe_scan_name(r)))
        return axe_cv_expected(r, "oneflow", what);
    if (strcmp(name, "split") == 0 ||
        (name[0] == 'S' && (!name[1] || (axe_is_digit(name[1]) && !name[2]))))
        return split_dim(r, name, p);
    if (strcmp(name, "B") == 0 || strcmp(name, "broadcast") == 0) {
        p->kind = AXE_PLACE_COPY;
        return AXE_OK;
    }
    if (strcmp(name, "P") == 0 || strcmp(name, "partial_sum") == 0) {
        p->kind = AXE_PLACE_PARTIAL;
        return AXE_OK;
    }
    r->at = from;
    return axe_cv_expected(r, "oneflow", what);
}

/* ------------------------------------------------------------- as runs */

/* f parts, each in m; a device joins its own of them. */
static void
strided(axe_ctx *cx, axe_sharding *s, int k, int64_t f, int a)
{
    int64_t n = s->shape[k];

    for (int p = 0; p < s->n_device; p++) {
        axe_runs all = *axe_shard_runs(s, p, k), joined = {0}, one;

        for (int64_t i = 0; i < f; i++) {
            one = axe_runs_chunk(cx, &all, i, f);
            one = axe_runs_chunk(cx, &one, axe_shard_at(s, p, a), s->mesh[a]);
            axe_runs_append(cx, &joined, &one);
        }
        *axe_shard_runs(s, p, k) = joined;
    }
    if (n % (f * s->mesh[a]) != 0)
        axe_shard_no_layout(&s->dim[k], "an uneven strided shard");
    axe_shard_give(&s->dim[k], f, s->mesh[a], s->stride[a]);
}

/* A chunk of what a device has so far, of dimension k. */
static void
balanced(axe_ctx *cx, axe_sharding *s, int k, int a)
{
    int64_t m = s->mesh[a];

    if (s->shape[k] % m != 0)
        axe_shard_no_layout(&s->dim[k],
                            "balanced parts: the first have one element more");
    for (int p = 0; p < s->n_device; p++) {
        axe_runs *own = axe_shard_runs(s, p, k);
        int64_t   n = axe_runs_size(own), i = axe_shard_at(s, p, a);
        int64_t   q = n / m, r = n % m, from = i * q + axe_shard_least(i, r);

        *own = axe_runs_part(cx, own, from, from + q + (i < r));
    }
    axe_shard_give(&s->dim[k], 1, m, s->stride[a]);
}

typedef axe_status place_reader(axe_reader *r, axe_placement *out);

/* Axis a of the mesh by its placement. */
static axe_status
place(axe_ctx *cx, axe_sharding *s, const char *system, place_reader *read,
      const char *text, int a)
{
    axe_reader    r = axe_cv_open(cx, system, text);
    axe_placement p;

    AXE_TRY(read(&r, &p));
    AXE_TRY(axe_cv_end(&r, system));
    s->summed[a] = p.kind == AXE_PLACE_PARTIAL;
    if (p.kind == AXE_PLACE_PARTIAL)
        axe_putf(&s->partial, "%s{\"mesh_dim\":%d,\"op\":\"%s\"}",
                 s->partial.len ? "," : "", a, p.op);
    if (p.kind == AXE_PLACE_PARTIAL || p.kind == AXE_PLACE_COPY)
        return AXE_OK;
    p.dim += p.dim < 0 ? s->rank : 0;
    AXE_TRY(axe_shard_check_dim(cx, s, system, p.dim));
    if (p.parts * s->n_device > MOST_RUNS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s: %" PRId64 " parts on each of %d devices; together "
                        "at most %d are taken",
                        system, p.parts, s->n_device, MOST_RUNS);
    s->used[a] = true;
    if (read == axe_sbp_read)
        balanced(cx, s, (int)p.dim, a);
    else if (p.kind == AXE_PLACE_STRIDED)
        strided(cx, s, (int)p.dim, p.parts, a);
    else
        axe_shard_cut(cx, s, (int)p.dim, s->mesh[a], s->stride[a]);
    return AXE_OK;
}

static axe_status
place_all(axe_ctx *cx, const axe_json *spec, axe_sharding *s,
          const char *system, place_reader *read)
{
    int a = 0;

    AXE_TRY(axe_shard_check_list(cx, system, spec, AXE_JSON_TEXT));
    if (spec->n_child != s->n_mesh)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: %d placement%s on a mesh of %d %s; one for each "
                        "axis is needed",
                        system, spec->n_child, spec->n_child == 1 ? "" : "s",
                        s->n_mesh, s->n_mesh == 1 ? "axis" : "axes");
    for (const axe_json *c = spec->child; c; c = c->next)
        AXE_TRY(place(cx, s, system, read, c->text, a++));
    return AXE_OK;
}

axe_status
axe_shard_read_dtensor(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    return place_all(cx, spec, s, "dtensor", axe_placement_read);
}

axe_status
axe_shard_read_oneflow(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    return place_all(cx, spec, s, "oneflow", axe_sbp_read);
}
