/* window.c - plans by which each device has no more of a tensor than it looks
 * at: a block of its own with a border, which is a window of each dimension.
 *
 * A window may go around the end of its dimension.  Windows are of devices, not
 * of digits, so they are counted device by device, and what goes pair by pair.
 * Who is asked is as in any other change of states (mesh_want_given): what a
 * device has itself it does not ask for, and what it asks for it gets once.  So
 * it gets just what it lacks. */
#include <assert.h>
#include <inttypes.h>

#include "base/ctx.h"
#include "mesh/problem.h"

/* The link over which two devices are: the slowest of what tells them apart. */
static int
link_between(const mesh_problem *p, const int64_t *from, const int64_t *to)
{
    int link = p->mesh->n_link - 1;

    for (int a = 0; a < p->n_atom; a++)
        if (from[a] != to[a] && p->atom[a].link < link)
            link = p->atom[a].link;
    return link;
}

static void
most(int64_t *a, int64_t b)
{
    *a = b > *a ? b : *a;
}

/* What device `to` gets, from all; *given is what each has given so far. */
static void
count_device(mesh_problem *p, const axe_window *window, int64_t to,
             int64_t *given, mesh_need *need)
{
    int64_t   from_at[MESH_ATOMS], at[MESH_ATOMS];
    int64_t   crossing[MESH_AXES] = {0}, sources[MESH_AXES] = {0};
    int       last = p->mesh->n_link - 1;
    mesh_want w;

    mesh_coordinates(p, to, at);
    for (int64_t from = 0; from < p->mesh->n_device; from++) {
        int64_t n;

        mesh_coordinates(p, from, from_at);
        n = mesh_sends(p, &p->src, &p->dst, window, from_at, at);
        given[from] = mesh_sum(p, given[from], n);
        for (int k = link_between(p, from_at, at); n > 0 && k <= last; k++) {
            crossing[k] = mesh_sum(p, crossing[k], n);
            sources[k]++;
        }
    }
    for (int k = 0; k <= last; k++) {
        most(&need->crossing[k], crossing[k]);
        most(&need->sources[k], sources[k]);
    }
    mesh_want_any(p, &w);
    mesh_want_of(p, &p->dst, at, p->mesh->n_link, &w);
    most(&need->hold, mesh_count_within(p, &w, window));
    most(&need->recv, crossing[last]);
    need->total = mesh_sum(p, need->total, crossing[last]);
}

/* What device `to` lacks, whoever has it. */
static int64_t
lacks(mesh_problem *p, const axe_window *window, int64_t to)
{
    int64_t   at[MESH_ATOMS], all;
    mesh_want w;

    mesh_coordinates(p, to, at);
    mesh_want_any(p, &w);
    mesh_want_of(p, &p->dst, at, p->mesh->n_link, &w);
    all = mesh_count_within(p, &w, window);
    mesh_want_of(p, &p->src, at, p->mesh->n_link, &w);
    return all - mesh_count_within(p, &w, window);
}

/* Is what a device has next to its window, or in it, in each dimension; or is
 * one of them empty? */
static bool
is_beside(mesh_problem *p, const axe_window *window, int64_t device)
{
    int64_t   at[MESH_ATOMS];
    mesh_want w;
    bool      empty = false, beside = true;

    mesh_coordinates(p, device, at);
    mesh_want_any(p, &w);
    mesh_want_of(p, &p->src, at, p->mesh->n_link, &w);
    for (int d = 0; d < p->n_dim; d++) {
        const mesh_dim *m = &p->dim[d];
        int64_t         from = window[d].from, to = window[d].to;

        empty = empty || w.none || from == to ||
                mesh_count_below(p, m, m->n, &w) == 0;
        from -= from > 0;
        to += to != m->n && to < from + m->n;
        beside =
            beside && mesh_count_window(p, m, (axe_window){from, to}, &w) > 0;
    }
    return empty || beside;
}

static void
count_all(mesh_problem *p, axe_reshard_plan *r, mesh_step *s)
{
    int64_t *given = axe_new_array(p->cx, int64_t, r->mesh->n_device);

    s->kind = AXE_COLLECTIVE_HALO;
    s->state = p->dst;
    for (int64_t q = 0; q < r->mesh->n_device; q++) {
        const axe_window *w = mesh_windows(r, q);
        int64_t           n = lacks(p, w, q);

        most(&r->bound_recv, n);
        r->bound_total = mesh_sum(p, r->bound_total, n);
        count_device(p, w, q, given, &s->need);
        if (!is_beside(p, w, q))
            s->kind = AXE_COLLECTIVE_EXCHANGE;
    }
    for (int64_t q = 0; q < r->mesh->n_device; q++)
        most(&s->need.send, given[q]);
    s->need.messages = s->need.sources[r->mesh->n_link - 1];
}

static axe_status
check(axe_ctx *cx, const mesh_problem *p, const axe_spread *src,
      const axe_spread *dst, const axe_window *window)
{
    bool same = src->shape.n == dst->shape.n && p->n_dim == dst->shape.n;

    for (int d = 0; d < p->n_dim && same; d++)
        same = p->dim[d].n == src->shape.extent[d] &&
               p->dim[d].n == dst->shape.extent[d];
    if (!same)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "reshard: windows are of SRC's dimensions, where it "
                        "has no addends, and DST has the same");
    if (p->mesh->n_device > AXE_WINDOWED_MOST)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: %" PRId64 " devices, and %d have windows at "
                        "most",
                        p->mesh->n_device, AXE_WINDOWED_MOST);
    for (int64_t i = 0; i < p->mesh->n_device * p->n_dim; i++) {
        const axe_window *w = &window[i];
        int               d = (int)(i % p->n_dim);

        if (w->from < 0 || w->from > p->dim[d].n || w->from > w->to ||
            w->to - w->from > p->dim[d].n)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "reshard: device %" PRId64 " has the window "
                            "[%" PRId64 ", %" PRId64 ") of dimension %d, which "
                            "has %" PRId64 " indices",
                            i / p->n_dim, w->from, w->to, d, p->dim[d].n);
    }
    return AXE_OK;
}

/* What a device has it has not asked for, so the bound is reached. */
static void
check_bound(const mesh_problem *p, const axe_reshard_plan *r)
{
    assert(p->lossy ||
           (r->total == r->bound_total && r->max_recv == r->bound_recv));
}

/* The one step, and what is there before and behind it. */
static void
fill(mesh_problem *p, const mesh_step *s, axe_reshard_plan *r)
{
    struct axe_reshard_code *code = axe_new(p->cx, struct axe_reshard_code);
    mesh_state              *state = axe_new_array(p->cx, mesh_state, 2);
    axe_reshard_step        *step = axe_new(p->cx, axe_reshard_step);

    state[0] = p->src;
    state[1] = p->dst;
    mesh_fill_step(p, &p->src, s, step);
    step->after = axe_textf(p->cx, "%s, within windows", step->after);
    *code = (struct axe_reshard_code){p, state};
    r->code = code;
    r->n_step = 1;
    r->step = step;
    r->max_recv = s->need.recv;
    r->max_send = s->need.send;
    r->total = s->need.total;
    r->time = r->direct_time = s->time;
    r->n_state = 2;
    check_bound(p, r);
}

axe_status
axe_reshard_within(axe_ctx *cx, const axe_mesh *m, const axe_spread *src,
                   const axe_spread *dst, const axe_window *window,
                   const axe_reshard_options *opt, const axe_reshard_plan **out)
{
    AXE_NEED(cx, m);
    AXE_NEED(cx, src);
    AXE_NEED(cx, dst);
    AXE_NEED(cx, window);
    AXE_NEED(cx, out);
    mesh_problem     *p;
    mesh_cost         c;
    mesh_step        *s = axe_new(cx, mesh_step);
    axe_reshard_plan *r = axe_new(cx, axe_reshard_plan);
    axe_window       *own;

    AXE_TRY(mesh_cost_of(cx, opt, &c));
    AXE_TRY(mesh_pose(cx, m, src, dst, &p));
    AXE_TRY(check(cx, p, src, dst, window));
    own = axe_new_array(cx, axe_window, m->n_device * p->n_dim + 1);
    for (int64_t i = 0; i < m->n_device * p->n_dim; i++)
        own[i] = window[i];
    *r = (axe_reshard_plan){
        .mesh = m, .src = *src, .dst = *dst, .bits = c.bits, .window = own};
    count_all(p, r, s);
    s->time = mesh_time_of(p, &c, &s->need);
    fill(p, s, r);
    if (p->lossy)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "reshard: all devices together get more elements than "
                        "int64 counts");
    *out = r;
    return AXE_OK;
}
