/* ops_sharding.c - the operation `sharding`: who owns each index, and the
 * layout that says so, or pieces, or a table with the reason. */
#include <inttypes.h>

#include "convert/ops.h"
#include "convert/sharding.h"

enum { MAX_PIECES = 256 };

/* Where index g of a dimension is among a device's runs; -1: elsewhere. */
static int64_t
local_of(const axe_runs *r, int64_t g)
{
    int64_t at = 0;

    for (int i = 0; i < r->n; at += r->run[i++].size)
        if (g >= r->run[i].begin && g < r->run[i].begin + r->run[i].size)
            return at + g - r->run[i].begin;
    return -1;
}

/* The place of an index in the buffer of device p, whose extents are its own or
 * the uniform ones; -1: it is not there. */
static int64_t
place_of(const axe_sharding *s, int p, const int64_t *index, bool uniform)
{
    int64_t sum = 0, pitch = 1;

    for (int i = 0; i < s->rank; i++) {
        int             k = s->column ? i : s->rank - 1 - i;
        const axe_runs *r = axe_shard_own(s, p, k);
        int64_t         at = local_of(r, index[k]);

        if (at < 0)
            return -1;
        sum += at * pitch;
        pitch *= uniform ? s->uniform[k] : axe_runs_size(r);
    }
    return sum;
}

static axe_status
put_owners(axe_job *j, const axe_sharding *s)
{
    const axe_json *v = axe_json_get(j->in, "indices");
    int             n = 0;

    if (!v || v->kind != AXE_JSON_LIST)
        return AXE_OK;
    axe_puts(j->out, ",\"owners\":[");
    for (const axe_json *c = v->child; c; c = c->next) {
        axe_shape index;
        bool      first = true;

        AXE_TRY(axe_json_to_shape(j->cx, c, "an index", &index));
        if (index.n != s->rank)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "an index of %d numbers in a tensor of %d", index.n,
                            s->rank);
        axe_puts(j->out, n++ ? ",[" : "[");
        for (int p = 0; p < s->n_device; p++) {
            int64_t at = place_of(s, p, index.extent, false);

            if (at < 0)
                continue;
            axe_putf(j->out, "%s[%d,%" PRId64 ",%" PRId64 "]", first ? "" : ",",
                     p + (int)s->first, at, place_of(s, p, index.extent, true));
            first = false;
        }
        axe_putc(j->out, ']');
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}

static void
put_list(axe_buf *b, const char *key, int n, const int64_t *v)
{
    axe_putf(b, "\"%s\":[", key);
    for (int k = 0; k < n; k++)
        axe_putf(b, "%s%" PRId64, k ? "," : "", v[k]);
    axe_putc(b, ']');
}

/* Boxes of indices that a device has in one stretch of each dimension. */
static void
put_boxes(axe_buf *b, const axe_sharding *s, int p, int *n)
{
    int at[AXE_SHARD_RANK] = {0}, k = 0;

    for (int i = 0; i < s->rank; i++)
        if (axe_shard_own(s, p, i)->n == 0)
            return;
    while (k < s->rank) {
        int64_t begin[AXE_SHARD_RANK], size[AXE_SHARD_RANK];

        for (int i = 0; i < s->rank; i++) {
            begin[i] = axe_shard_own(s, p, i)->run[at[i]].begin;
            size[i] = axe_shard_own(s, p, i)->run[at[i]].size;
        }
        axe_putf(b, "%s{\"device\":%d,", (*n)++ ? "," : "", p + (int)s->first);
        put_list(b, "begin", s->rank, begin);
        axe_putc(b, ',');
        put_list(b, "shape", s->rank, size);
        axe_putf(b, ",\"offset\":%" PRId64 "}", place_of(s, p, begin, true));
        for (k = 0; k < s->rank && ++at[k] == axe_shard_own(s, p, k)->n; k++)
            at[k] = 0;
    }
}

static int64_t
count_boxes(const axe_sharding *s)
{
    int64_t sum = 0;

    for (int p = 0; p < s->n_device; p++) {
        int64_t n = 1;

        for (int k = 0; k < s->rank && n <= MAX_PIECES; k++)
            n *= axe_shard_own(s, p, k)->n;
        sum += n;
    }
    return sum;
}

/* Each device's runs of each dimension, [begin, size]. */
static void
put_table(axe_buf *b, const axe_sharding *s)
{
    axe_puts(b, ",\"axe\":null,\"table\":[");
    for (int i = 0; i < s->n_device * s->rank; i++) {
        axe_puts(b, i == 0 ? "[[" : i % s->rank ? ",[" : "],[[");
        for (int k = 0; k < s->own[i].n; k++)
            axe_putf(b, "%s[%" PRId64 ",%" PRId64 "]", k ? "," : "",
                     s->own[i].run[k].begin, s->own[i].run[k].size);
        axe_putc(b, ']');
    }
    axe_puts(b, "]]");
}

static axe_status
put_layout(axe_job *j, const axe_sharding *s)
{
    const axe_layout *l;
    const char       *why;
    int64_t           domain[AXE_SHARD_RANK];
    bool              padded = false;
    int               n = 0;

    AXE_TRY(axe_sharding_layout(j->cx, s, domain, &l, &why));
    if (l) {
        for (int k = 0; k < s->rank; k++)
            padded = padded || domain[k] != s->shape[k];
        axe_puts(j->out, ",\"axe\":{");
        axe_put_dims(j->out, l, (axe_shape){s->rank, domain});
        axe_putc(j->out, ',');
        put_list(j->out, "domain", s->rank, domain);
        axe_putf(j->out, ",\"padded\":%s}", padded ? "true" : "false");
        return AXE_OK;
    }
    if (count_boxes(s) <= MAX_PIECES) {
        axe_puts(j->out, ",\"axe\":null,\"pieces\":[");
        for (int p = 0; p < s->n_device; p++)
            put_boxes(j->out, s, p, &n);
        axe_putc(j->out, ']');
    } else {
        put_table(j->out, s);
    }
    axe_puts(j->out, ",\"why\":");
    axe_json_put_name(j->out, why);
    return AXE_OK;
}

axe_status
axe_cop_sharding(axe_job *j)
{
    const char  *system;
    axe_shape    shape;
    axe_sharding s;

    AXE_TRY(axe_job_text(j, "system", &system));
    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_sharding_read(j->cx, system ? system : "", shape,
                              axe_json_get(j->in, "mesh"),
                              axe_json_get(j->in, "spec"), &s));
    if (axe_json_get(j->in, "first_device"))
        AXE_TRY(axe_job_int(j, "first_device", &s.first));
    if (s.first < 0 || s.first > 1 << 30)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "first_device is %" PRId64 "; from 0 to 2^30", s.first);
    axe_puts(j->out, "{\"local_shape\":{");
    for (int p = 0; p < s.n_device; p++) {
        axe_putf(j->out, "%s\"%d\":[", p ? "," : "", p + (int)s.first);
        for (int k = 0; k < s.rank; k++)
            axe_putf(j->out, "%s%" PRId64, k ? "," : "",
                     axe_runs_size(axe_shard_own(&s, p, k)));
        axe_putc(j->out, ']');
    }
    axe_puts(j->out, "},");
    put_list(j->out, "uniform_local_shape", s.rank, s.uniform);
    AXE_TRY(put_owners(j, &s));
    if (s.partial.len > 0)
        axe_putf(j->out, ",\"partial\":[%s]", s.partial.text);
    AXE_TRY(put_layout(j, &s));
    axe_putc(j->out, '}');
    return AXE_OK;
}
