/* plan.c - a plan from its parts, with what no plan can do better. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "mesh/problem.h"

const char *
axe_collective_text(axe_collective c)
{
    static const char *const word[] = {
#define COLLECTIVE(name, word, text) word,
#include "axe/collective.def"
    };

    return (int)c >= 0 && c < AXE_N_COLLECTIVE ? word[c] : "unknown";
}

/* src whose addends that dst does not keep are any of them; *parts, the number
 * of addends of a sum: 1, if there are none. */
static mesh_state
any_addend(const mesh_problem *p, int64_t *parts)
{
    mesh_state s = p->src;

    *parts = 1;
    for (int a = 0; a < p->n_atom; a++)
        if (mesh_is_addend(p, &s, a) && !mesh_is_addend(p, &p->dst, a)) {
            *parts *= p->atom[a].extent;
            s.is[a] = MESH_FREE;
        }
    return s;
}

/* A sum of `parts` addends takes parts - 1 messages until one device has it,
 * one more where none that wants it has an addend, and each further device that
 * wants it one behind that.  Over all elements; a device gets its share. */
static axe_status
bound_of_sums(mesh_problem *p, int64_t parts, const mesh_state *any,
              mesh_need *out)
{
    int64_t   common, both = 1, wanted = 1, n = 1;
    mesh_want w;

    AXE_TRY(mesh_common(p, any, &p->dst, &common));
    mesh_want_any(p, &w);
    n = mesh_count(p, any, &w);
    for (int a = 0; a < p->n_atom; a++) {
        if (p->dst.is[a] != MESH_FREE)
            continue;
        wanted = mesh_mul(p, wanted, p->atom[a].extent);
        if (any->is[a] == MESH_FREE)
            both *= p->atom[a].extent;
    }
    out->total = mesh_mul(p, n, mesh_sum(p, parts - 1, wanted)) - common / both;
    out->recv = out->total == 0 ? 0 : (out->total - 1) / p->mesh->n_device + 1;
    return AXE_OK;
}

static axe_status
bounds(mesh_problem *p, mesh_need *out)
{
    int64_t    parts;
    mesh_state any = any_addend(p, &parts);

    return parts == 1 ? mesh_need_of(p, &p->src, &p->dst, out)
                      : bound_of_sums(p, parts, &any, out);
}

void
mesh_fill_step(mesh_problem *p, const mesh_state *before, const mesh_step *s,
               axe_reshard_step *out)
{
    int64_t *crossing = axe_new_array(p->cx, int64_t, p->mesh->n_link + 1);

    memcpy(crossing, s->need.crossing,
           (size_t)p->mesh->n_link * sizeof *crossing);
    *out = (axe_reshard_step){.kind = s->kind,
                              .axes = mesh_change_text(p, before, &s->state),
                              .before = mesh_state_text(p, before),
                              .after = mesh_state_text(p, &s->state),
                              .max_recv = s->need.recv,
                              .max_send = s->need.send,
                              .total = s->need.total,
                              .messages = s->need.messages,
                              .crossing = crossing,
                              .time = s->time,
                              .memory = s->need.hold};
}

/* Why there is more to get than needs be. */
static const char *
reason(axe_ctx *cx, const axe_reshard_plan *r, const mesh_step *direct)
{
    if (r->max_recv <= r->bound_recv)
        return NULL;
    if (r->time >= r->direct_time || r->max_recv <= direct->need.recv)
        return "the bound is the mean over devices, of which some get more of "
               "the sums";
    return axe_textf(cx,
                     "one exchange brings at most %" PRId64
                     " elements to a device, in up to %" PRId64
                     " messages, and takes %.3g us",
                     direct->need.recv, direct->need.messages, direct->time);
}

/* The steps, and their sums. */
static void
fill(mesh_problem *p, const mesh_step *step, axe_reshard_plan *r)
{
    axe_reshard_step *s = axe_new_array(p->cx, axe_reshard_step, r->n_step + 1);
    mesh_state       *state = axe_new_array(p->cx, mesh_state, r->n_step + 1);
    struct axe_reshard_code *code = axe_new(p->cx, struct axe_reshard_code);

    state[0] = p->src;
    for (int i = 0; i < r->n_step; i++) {
        mesh_fill_step(p, &state[i], &step[i], &s[i]);
        state[i + 1] = step[i].state;
        r->max_recv = mesh_sum(p, r->max_recv, s[i].max_recv);
        r->max_send = mesh_sum(p, r->max_send, s[i].max_send);
        r->total = mesh_sum(p, r->total, s[i].total);
        r->time += s[i].time;
    }
    *code = (struct axe_reshard_code){p, state};
    r->step = s;
    r->code = code;
}

axe_status
mesh_cost_of(axe_ctx *cx, const axe_reshard_options *opt, mesh_cost *out)
{
    static const axe_reshard_options none;

    opt = opt ? opt : &none;
    *out = (mesh_cost){opt->bits ? opt->bits : 8, opt->free, opt->memory};
    return out->bits < 1 || out->memory < 0
               ? axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                          "reshard: elements have at least 1 bit, and memory "
                          "holds at least 0 elements")
               : AXE_OK;
}

axe_status
axe_reshard(axe_ctx *cx, const axe_mesh *m, const axe_spread *src,
            const axe_spread *dst, const axe_reshard_options *opt,
            const axe_reshard_plan **out)
{
    AXE_NEED(cx, m);
    AXE_NEED(cx, src);
    AXE_NEED(cx, dst);
    AXE_NEED(cx, out);
    mesh_problem     *p;
    mesh_cost         c;
    mesh_step        *step, direct;
    mesh_need         bound;
    axe_reshard_plan *r;

    AXE_TRY(mesh_cost_of(cx, opt, &c));
    AXE_TRY(mesh_pose(cx, m, src, dst, &p));
    step = axe_new_array(cx, mesh_step, MESH_STEPS);
    r = axe_new(cx, axe_reshard_plan);
    *r =
        (axe_reshard_plan){.mesh = m, .src = *src, .dst = *dst, .bits = c.bits};
    AXE_TRY(mesh_search(p, &c, &r->n_step, step, &r->n_state));
    AXE_TRY(mesh_step_of(p, &c, &p->src, &p->dst, &direct));
    AXE_TRY(bounds(p, &bound));
    fill(p, step, r);
    if (p->lossy)
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "reshard: all devices together get more elements than "
                        "int64 counts");
    r->bound_recv = bound.recv;
    r->bound_total = bound.total;
    r->direct_time = direct.time;
    r->why = reason(cx, r, &direct);
    *out = r;
    return AXE_OK;
}

/* Are rounds of this step more than each device's asking one that has it? */
static bool
in_rounds(axe_collective c)
{
    return c == AXE_COLLECTIVE_ALL_REDUCE || c == AXE_COLLECTIVE_BROADCAST;
}

static bool
is_device(const axe_reshard_plan *r, int64_t device)
{
    return device >= 0 && device < r->mesh->n_device;
}

int64_t
axe_reshard_sends(const axe_reshard_plan *r, int step, int64_t from, int64_t to)
{
    int64_t a[MESH_ATOMS], b[MESH_ATOMS];

    if (!r || step < 0 || step >= r->n_step || !is_device(r, from) ||
        !is_device(r, to) || in_rounds(r->step[step].kind))
        return -1;
    mesh_coordinates(r->code->p, from, a);
    mesh_coordinates(r->code->p, to, b);
    return mesh_sends(r->code->p, &r->code->state[step],
                      &r->code->state[step + 1], mesh_windows(r, to), a, b);
}

/* What index u of the tensor, and the addend, has at a place. */
static int64_t
at_place(const mesh_problem *p, int place, int64_t index, int64_t addend)
{
    const mesh_place *l = &p->place[place];
    const mesh_block *b = &p->block[l->block];
    int64_t           u = p->dim[b->dim].addend ? addend : index;

    for (int d = p->n_dim - 1; d > b->dim; d--)
        if (p->dim[d].addend == p->dim[b->dim].addend)
            u /= p->dim[d].n;
    u %= p->dim[b->dim].n;
    return u / b->step / l->weight % l->extent;
}

bool
mesh_is_within(const mesh_problem *p, const axe_window *window, int64_t index)
{
    bool in = true;

    for (int d = p->n_dim - 1; window && d >= 0; d--) {
        int64_t u = index % p->dim[d].n;

        u += u < window[d].from ? p->dim[d].n : 0;
        in = in && u < window[d].to;
        index /= p->dim[d].n;
    }
    return in;
}

int64_t
mesh_in_order(const mesh_problem *p, const axe_window *window, int64_t i)
{
    int64_t index = 0, pitch = 1;

    for (int d = p->n_dim - 1; window && d >= 0; d--) {
        int64_t n = p->dim[d].n;

        index += (i % n + window[d].from) % n * pitch;
        i /= n;
        pitch *= n;
    }
    return window ? index : i;
}

bool
mesh_holds(const mesh_problem *p, const mesh_state *s, const int64_t *at,
           int64_t index, int64_t addend)
{
    for (int a = 0; a < p->n_atom; a++)
        if ((s->is[a] == MESH_FIXED && s->at[a] != at[a]) ||
            (s->is[a] == MESH_BOUND &&
             at_place(p, (int)s->at[a], index, addend) !=
                 mesh_index_at(p, s, a, at[a])))
            return false;
    return true;
}

int64_t
axe_reshard_source(const axe_reshard_plan *r, int step, int64_t index,
                   int64_t addend, int64_t to)
{
    const mesh_problem *p;
    const mesh_state   *a, *b;
    int64_t             at[MESH_ATOMS], from = 0;
    int                 partner[MESH_ATOMS];

    if (!r || step < 0 || step >= r->n_step || !is_device(r, to) || index < 0 ||
        addend < 0)
        return -1;
    p = r->code->p;
    a = &r->code->state[step];
    b = a + 1;
    mesh_coordinates(p, to, at);
    if (!mesh_holds(p, b, at, index, addend) ||
        !mesh_is_within(p, mesh_windows(r, to), index))
        return -1;
    mesh_partners(p, a, b, partner);
    for (int i = 0; i < p->n_atom; i++)
        from += p->atom[i].stride *
                (a->is[i] == MESH_FREE ? mesh_partner_at(p, partner, i, at)
                 : a->is[i] == MESH_FIXED
                     ? a->at[i]
                     : mesh_turned(&a->turn[i], p->atom[i].extent,
                                   at_place(p, (int)a->at[i], index, addend)));
    return from;
}
