/* sharding_blocks.c - blocks dealt to devices in turns:
 *
 *     blockcyclic  {"nb", "src", "order"}: ScaLAPACK's
 *     zigzag_cp    rank r has chunks r and 2c - 1 - r */
#include <inttypes.h>
#include <string.h>

#include "convert/sharding_int.h"

enum { MOST_BLOCKS = 65536 };

/* A list of `n` integers under a key. */
static axe_status
read_ints(axe_ctx *cx, const axe_json *spec, const char *key, int n,
          bool needed, int64_t *out)
{
    const axe_json *v = axe_json_get(spec, key);
    int             i = 0;

    for (int k = 0; !needed && k < n; k++)
        out[k] = 0;
    if (!v && !needed)
        return AXE_OK;
    if (!v || v->kind != AXE_JSON_LIST || v->n_child != n)
        return axe_shard_wrong(cx, "blockcyclic",
                               "nb and src are lists, a number for "
                               "each dimension");
    for (const axe_json *c = v->child; c; c = c->next) {
        if (c->kind != AXE_JSON_INT || c->integer < 0)
            return axe_shard_wrong(cx, "blockcyclic",
                                   "a number from 0 on is needed");
        out[i++] = c->integer;
    }
    return AXE_OK;
}

axe_status
axe_shard_read_blockcyclic(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    const axe_json *order = axe_json_get(spec, "order");
    int64_t         nb[AXE_SHARD_RANK], src[AXE_SHARD_RANK], step = 1;
    bool            column =
        order && order->kind == AXE_JSON_TEXT && strcmp(order->text, "C") == 0;

    if (s->n_mesh != s->rank)
        return axe_shard_wrong(cx, "blockcyclic",
                               "a mesh of the tensor's rank is needed");
    AXE_TRY(read_ints(cx, spec, "nb", s->rank, true, nb));
    AXE_TRY(read_ints(cx, spec, "src", s->rank, false, src));
    s->column = true;
    for (int a = 0; column && a < s->n_mesh; step *= s->mesh[a++])
        s->stride[a] = step;
    for (int k = 0; k < s->rank; k++) {
        int64_t m = s->mesh[k], rounds;

        if (nb[k] < 1 || nb[k] > (int64_t)1 << 40 || src[k] >= m)
            return axe_shard_wrong(cx, "blockcyclic",
                                   "blocks of at least 1, from a "
                                   "process of the mesh");
        if (s->shape[k] / nb[k] > MOST_BLOCKS)
            return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                            "blockcyclic: dimension %d of %" PRId64
                            " in blocks of %" PRId64
                            ": at most %d blocks are taken",
                            k, s->shape[k], nb[k], MOST_BLOCKS);
        rounds = (s->shape[k] - 1) / (nb[k] * m) + 1;
        s->uniform[k] = rounds * nb[k];
        for (int p = 0; p < s->n_device; p++) {
            int64_t  i = (axe_shard_at(s, p, k) - src[k] + m) % m;
            axe_runs all = *axe_shard_runs(s, p, k), mine = {0}, one;

            for (int64_t b = i; b * nb[k] < s->shape[k]; b += m) {
                one = axe_runs_part(cx, &all, b * nb[k], (b + 1) * nb[k]);
                axe_runs_append(cx, &mine, &one);
            }
            *axe_shard_runs(s, p, k) = mine;
        }
        s->used[k] = true;
        s->dim[k].n = 3;
        s->dim[k].digit[0] = (axe_shard_digit){rounds, 0};
        s->dim[k].digit[1] = (axe_shard_digit){m, s->stride[k]};
        s->dim[k].digit[2] = (axe_shard_digit){nb[k], 0};
        if (src[k] != 0)
            axe_shard_no_layout(&s->dim[k],
                                "the blocks begin at another process and "
                                "wrap around the mesh");
    }
    return AXE_OK;
}

axe_status
axe_shard_read_zigzag(axe_ctx *cx, const axe_json *spec, axe_sharding *s)
{
    int64_t c = s->n_device, k = 0;

    if (spec && spec->kind == AXE_JSON_INT)
        k = spec->integer + (spec->integer < 0 ? s->rank : 0);
    AXE_TRY(axe_shard_check_dim(cx, s, "zigzag", k));
    if (s->shape[k] % (2 * c) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "zigzag: dimension %" PRId64 ", %" PRId64
                        ", does not go into 2 chunks for each of %" PRId64
                        " ranks",
                        k, s->shape[k], c);
    for (int p = 0; p < s->n_device; p++) {
        axe_runs *own = axe_shard_runs(s, p, (int)k), all = *own, a, b;

        a = axe_runs_chunk(cx, &all, p, 2 * c);
        b = axe_runs_chunk(cx, &all, 2 * c - 1 - p, 2 * c);
        axe_runs_append(cx, &a, &b);
        *own = a;
    }
    for (int a = 0; a < s->n_mesh; a++)
        s->used[a] = true;
    if (c > 1)
        axe_shard_no_layout(&s->dim[k],
                            "a rank's second chunk runs against the ranks");
    return AXE_OK;
}
