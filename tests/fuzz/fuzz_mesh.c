/* fuzz_mesh.c - any text is a mesh, two spreads and a plan, or a diagnostic.
 * "mesh | spread | spread"; what is read prints to a text that reads back as
 * the same, and a plan's counts hold together. */
#include <assert.h>
#include <string.h>

#include "axe/mesh.h"
#include "fuzz.h"

enum { MAX_LEN = 512 };

static const axe_mesh *
read_mesh(axe_ctx *cx, const char *text)
{
    const axe_mesh *m, *back;
    const char     *printed;

    if (axe_mesh_read(cx, text, &m) != AXE_OK) {
        assert(axe_n_error(cx) > 0);
        return NULL;
    }
    printed = axe_mesh_text(cx, m);
    assert(axe_mesh_read(cx, printed, &back) == AXE_OK);
    assert(strcmp(axe_mesh_text(cx, back), printed) == 0);
    assert(back->n_device == m->n_device);
    for (int i = 0; i < m->n_axis; i++)
        assert(back->axis[i].size == m->axis[i].size &&
               (m->axis[i].size == 1 ||
                back->axis[i].stride == m->axis[i].stride));
    return m;
}

static bool
read_spread(axe_ctx *cx, const axe_mesh *m, const char *text, axe_spread *out)
{
    const char *printed;
    axe_spread  back;

    if (axe_spread_read(cx, m, text, out) != AXE_OK) {
        assert(axe_n_error(cx) > 0);
        return false;
    }
    printed = axe_spread_text(cx, out);
    assert(axe_spread_read(cx, m, printed, &back) == AXE_OK);
    assert(strcmp(axe_spread_text(cx, &back), printed) == 0);
    return true;
}

static void
check_plan(axe_ctx *cx, const axe_mesh *m, const axe_spread *a,
           const axe_spread *b)
{
    const axe_reshard_plan *r;
    int64_t                 recv = 0;

    if (axe_reshard(cx, m, a, b, NULL, &r) != AXE_OK) {
        assert(axe_n_error(cx) > 0);
        return;
    }
    for (int i = 0; i < r->n_step; i++) {
        const axe_reshard_step *s = &r->step[i];

        recv += s->max_recv;
        assert(s->max_recv >= 0 && s->max_send >= 0 && s->memory >= 0);
        assert(s->total >= s->max_recv);
        assert((s->max_recv > 0) == (s->messages > 0));
        assert(s->crossing[m->n_link - 1] == s->max_recv);
        (void)axe_reshard_sends(r, i, 0, m->n_device - 1);
        (void)axe_reshard_source(r, i, 0, 0, m->n_device - 1);
    }
    assert(recv == r->max_recv && r->max_recv >= r->bound_recv);
    assert(r->total >= r->bound_total);
    assert(r->time <= r->direct_time * 1.000001);
    assert(*axe_reshard_text(cx, r) && *axe_reshard_json(cx, r));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx        *cx;
    char           *text, *src, *dst = NULL;
    const axe_mesh *m;
    axe_spread      a, b;

    if (len > MAX_LEN)
        return 0;
    cx = axe_ctx_new();
    text = axe_alloc(cx, len + 1);
    if (len > 0)
        memcpy(text, data, len);
    src = strchr(text, '|');
    if (src) {
        *src++ = '\0';
        dst = strchr(src, '|');
    }
    if (dst)
        *dst++ = '\0';
    m = read_mesh(cx, text);
    if (m && src && read_spread(cx, m, src, &a) && dst &&
        read_spread(cx, m, dst, &b))
        check_plan(cx, m, &a, &b);
    axe_ctx_free(cx);
    return 0;
}
