/* ops.c - the operation `reshard`: least elements between two shardings that
 * are named by mesh axes, where messages cost nothing but their elements. */
#include "mesh/ops.h"

#include <inttypes.h>
#include <string.h>

#include "axe/mesh.h"
#include "convert/ops.h"

enum { MOST_PAIRS = 256 };

static const axe_eval_op rows[] = {
#define OP(name, handler, keys, what) {#name, handler, keys, what, NULL},
#include "mesh/ops.def"
};

const axe_eval_ops axe_mesh_table = {AXE_LEN(rows), rows, &axe_convert_table};

static axe_status
wrong(axe_job *j, const char *key, const char *what)
{
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG, "%s must be %s", key, what);
}

/* {"x": 2, "y": 3}, or the text of axe/mesh.h */
static axe_status
read_mesh(axe_job *j, const axe_mesh **out)
{
    const axe_json *v = axe_json_get(j->in, "mesh");
    axe_buf         b = {.cx = j->cx};

    if (v->kind == AXE_JSON_TEXT && strlen(v->text) == v->len)
        return axe_mesh_read(j->cx, v->text, out);
    if (v->kind != AXE_JSON_OBJECT)
        return wrong(j, "mesh", "a text, or names with sizes");
    for (const axe_json *c = v->child; c; c = c->next) {
        if (c->kind != AXE_JSON_INT)
            return wrong(j, "mesh", "names with sizes");
        axe_putf(&b, "%s%s=%" PRId64, b.len ? ", " : "", c->key, c->integer);
    }
    return axe_mesh_read(j->cx, b.len ? b.text : "", out);
}

/* [["x"], [], ["y", "z"]], or the text of axe/mesh.h */
static axe_status
read_spread(axe_job *j, const axe_mesh *m, axe_shape shape, const char *key,
            axe_spread *out)
{
    const axe_json *v = axe_json_get(j->in, key);
    axe_buf         b = {.cx = j->cx};
    int             k = 0;

    if (v->kind == AXE_JSON_TEXT && strlen(v->text) == v->len)
        return axe_spread_read(j->cx, m, v->text, out);
    if (v->kind != AXE_JSON_LIST || v->n_child != shape.n)
        return wrong(j, key, "a text, or a list of axes for each dimension");
    for (const axe_json *c = v->child; c; c = c->next, k++) {
        axe_putf(&b, "%s%" PRId64, k ? ", " : "", shape.extent[k]);
        if (c->kind != AXE_JSON_LIST)
            return wrong(j, key, "a list of axes for each dimension");
        for (const axe_json *x = c->child; x; x = x->next) {
            if (x->kind != AXE_JSON_TEXT)
                return wrong(j, key, "names of axes for each dimension");
            axe_putf(&b, "%s%s", x == c->child ? "@(" : ", ", x->text);
        }
        axe_puts(&b, c->child ? ")" : "");
    }
    return axe_spread_read(j->cx, m, b.len ? b.text : "", out);
}

/* Elements from device to device, of all steps; none if a step's rounds are an
 * algorithm's. */
static void
put_pairs(axe_job *j, const axe_reshard_plan *r)
{
    int64_t n = r->mesh->n_device;

    for (int i = 0; i < r->n_step; i++)
        if (axe_reshard_sends(r, i, 0, 0) < 0)
            return;
    axe_puts(j->out, ",\"pairs\":[");
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = 0; q < n; q++) {
            int64_t sum = 0;

            for (int i = 0; i < r->n_step; i++)
                sum += axe_reshard_sends(r, i, p, q);
            axe_putf(j->out, "%s%" PRId64 "%s",
                     q > 0   ? ","
                     : p > 0 ? ",["
                             : "[",
                     sum, q + 1 == n ? "]" : "");
        }
    axe_putc(j->out, ']');
}

axe_status
axe_mop_reshard(axe_job *j)
{
    axe_reshard_options     opt = {.free = true};
    const axe_json         *pairs = axe_json_get(j->in, "pairs");
    const axe_mesh         *m;
    axe_spread              src, dst;
    axe_shape               shape;
    const axe_reshard_plan *r;

    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(read_mesh(j, &m));
    AXE_TRY(read_spread(j, m, shape, "src", &src));
    AXE_TRY(read_spread(j, m, shape, "dst", &dst));
    AXE_TRY(axe_reshard(j->cx, m, &src, &dst, &opt, &r));
    axe_putf(j->out,
             "{\"max_recv\":%" PRId64 ",\"total\":%" PRId64 ",\"steps\":[",
             r->max_recv, r->total);
    for (int i = 0; i < r->n_step; i++) {
        axe_puts(j->out, i ? "," : "");
        axe_json_put_name(j->out,
                          axe_textf(j->cx, "%s over %s: %s",
                                    axe_collective_text(r->step[i].kind),
                                    r->step[i].axes, r->step[i].after));
    }
    axe_putc(j->out, ']');
    if ((!pairs || pairs->kind != AXE_JSON_BOOL || pairs->truth) &&
        m->n_device <= MOST_PAIRS)
        put_pairs(j, r);
    axe_putc(j->out, '}');
    return AXE_OK;
}
