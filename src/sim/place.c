/* place.c - operands as bytes and registers: is it there, may it be touched,
 * and has it a value? */
#include <string.h>

#include "sim/bits.h"
#include "sim/sim_int.h"

int64_t
axe_sim_swizzled(const axe_buffer *b, int64_t byte)
{
    return b->swizzle.bits > 0 ? axe_swizzle_apply(b->swizzle, byte) : byte;
}

static void
report_bounds(sim *s, const sim_call *c, const char *name, int64_t at,
              int64_t n, int64_t have)
{
    if (!axe_sim_known(s, AXE_SIM_BOUNDS, c->in, -1))
        axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                     "%s means elements %lld to %lld of %s, which has %lld",
                     axe_sim_agent_text(s, c->agent), (long long)at,
                     (long long)(at + n - 1), name, (long long)have);
}

/* ------------------------------------------------------------- partitions */

/* [bytes] of addresses from one partition to the next; 0: there are none. */
static int64_t
pitch_of(const sim *s)
{
    return s->mc->simt->partitions > 0
               ? axe_machine_space(s->mc, AXE_SPACE_SHARED)->pitch / 8
               : 0;
}

int64_t
axe_sim_shared_bytes(const sim *s)
{
    int n = s->mc->simt->partitions;

    return s->g->shared_bytes * (n > 0 ? n : 1);
}

int64_t
axe_sim_shared_at(const sim *s, const axe_buffer *b, int64_t byte)
{
    int64_t pitch = pitch_of(s);

    if (pitch > 0)
        return byte / pitch * s->g->shared_bytes + b->offset + byte % pitch;
    return b->offset + axe_sim_swizzled(b, byte);
}

int64_t
axe_sim_shared_byte(const sim *s, const axe_buffer *b, int64_t at)
{
    int64_t pitch = pitch_of(s), all = s->g->shared_bytes;

    if (pitch > 0)
        return at / all * pitch + at % all - b->offset;
    return axe_sim_swizzled(b, at - b->offset);
}

/* Bytes of one partition, that of the thread if it is one alone that moves
 * them. */
static bool
check_partition(sim *s, const sim_call *c, const axe_buffer *b, int64_t byte,
                int64_t bytes)
{
    int64_t pitch = pitch_of(s), n = byte / pitch, in = byte % pitch;
    int     me = c->warp->id * s->lanes + c->lane;
    bool    one = c->in->shape->atom->by == AXE_SCOPE_THREAD;

    if (byte >= 0 && n < s->mc->simt->partitions && in + bytes <= b->bytes &&
        (!one || n == me))
        return true;
    if (!axe_sim_known(s, AXE_SIM_BOUNDS, c->in, -1))
        axe_sim_find(
            s, AXE_SIM_BOUNDS, c->in, -1,
            "%s means bytes %lld to %lld of %s in partition %lld, %s",
            axe_sim_agent_text(s, c->agent), (long long)in,
            (long long)(in + bytes - 1), b->tensor->name, (long long)n,
            n >= s->mc->simt->partitions ? "which there is not"
            : one && n != me
                ? axe_textf(s->cx, "and thread %d does not reach it", me)
                : "which has not so many");
    return false;
}

/* Of `have` elements in each partition, the end of those of element at's. */
static int64_t
last_of(const sim *s, const axe_buffer *b, int64_t at, int64_t have)
{
    int64_t each = pitch_of(s) * 8 / axe_type_table[b->tensor->type].bits;

    return at >= 0 && at / each < s->mc->simt->partitions
               ? at - at % each + have
               : 0;
}

/* Is it there, and may it be touched by who does? */
static bool
check_shared(sim *s, const sim_call *c, const axe_buffer *b, int64_t at,
             int64_t n)
{
    axe_type type = b->tensor->type;
    int64_t  byte = axe_type_bytes(type, at);
    int64_t  bytes = axe_type_bytes(type, n);

    if (pitch_of(s) > 0)
        return check_partition(s, c, b, byte, bytes);
    if (at >= 0 && byte <= b->bytes && byte + bytes <= b->bytes)
        return true;
    report_bounds(s, c, b->tensor->name, at, n,
                  b->bytes * 8 / axe_type_table[type].bits);
    return false;
}

sim_cta *
axe_sim_cta_of(sim *s, const sim_call *c, int arg, int lane)
{
    const sim_arg *a = &c->in->arg[arg];
    int            rank = c->cta[arg][lane];

    if (!a->cta || a->space != AXE_ARG_DSMEM)
        return c->warp->cta;
    if (rank >= 0 && rank < s->g->cluster)
        return &c->warp->cta->cluster->cta[rank];
    axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                 "%s means CTA %d of a cluster of %d",
                 axe_sim_agent_text(s, c->warp->agent), rank, s->g->cluster);
    return NULL;
}

static void
check_align(sim *s, const sim_call *c, const char *name, int64_t byte,
            int64_t bytes)
{
    int align = c->in->shape->atom->align;

    if (!s->checks || !c->in->shape->moves || align < 2 || bytes % align != 0 ||
        byte % align == 0 || axe_sim_known(s, AXE_SIM_ALIGN, c->in, -1))
        return;
    axe_sim_find(s, AXE_SIM_ALIGN, c->in, -1,
                 "%s moves %lld bytes at byte %lld of %s, which is no multiple "
                 "of %d",
                 axe_sim_agent_text(s, c->agent), (long long)bytes,
                 (long long)byte, name, align);
}

/* Is it a copy of neighbours to or from memory without a swizzle?  Where it
 * begins is all that it is told. */
static bool
is_run(const sim_inst *in)
{
    return in->shape->atom->kind == AXE_ATOM_COPY && in->shape->moves &&
           (in->arg[0].space == AXE_ARG_GLOBAL ||
            in->arg[1].space == AXE_ARG_GLOBAL);
}

/* A lane's access is one piece of what the swizzle moves: the machine has no
 * other address for the rest of it.  So is each row of 16 bytes of a group's,
 * and a run of neighbours. */
static void
check_pieces(sim *s, const sim_call *c, const axe_buffer *b, int64_t byte,
             int64_t bytes)
{
    int64_t kept = axe_swizzle_kept(b->swizzle);
    int64_t row = bytes < GRANULE || is_run(c->in) ? bytes : GRANULE;

    if (!s->checks || byte % kept + row <= kept ||
        axe_sim_known(s, AXE_SIM_ALIGN, c->in, -1))
        return;
    axe_sim_find(s, AXE_SIM_ALIGN, c->in, -1,
                 "%s moves %lld bytes at byte %lld of %s, whose swizzle keeps "
                 "%lld together",
                 axe_sim_agent_text(s, c->agent), (long long)row,
                 (long long)byte, b->tensor->name, (long long)kept);
}

/* -------------------------------------------------------- global memory */

/* Is there an element so far from the first?  Larger strides are peeled off
 * first, which is right where dimensions do not interleave. */
static bool
exists(const sim_global *g, int64_t at)
{
    int  rank = g->tensor->rank;
    bool used[AXE_RANK_MAX] = {false};

    for (int i = 0; i < rank; i++) {
        int best = -1;
        for (int d = 0; d < rank; d++)
            if (!used[d] && (best < 0 || g->stride[d] > g->stride[best]))
                best = d;
        used[best] = true;
        if (g->stride[best] <= 0)
            continue;
        int64_t q = at / g->stride[best];
        at -= (q < g->shape[best] ? q : g->shape[best] - 1) * g->stride[best];
    }
    return at == 0;
}

/* Blocks of other clusters are not ordered with this one's at all. */
static void
check_clusters(sim *s, const sim_touch *t, sim_global *g, int64_t at)
{
    uint32_t me = s->cluster;
    int      site = axe_sim_site(s, t->call->in);
    uint32_t w = g->writer[at], r = g->reader[at];
    bool     clash = w != 0 && w != me, by_read = false;

    if (t->atomic && g->w_atomic[at])
        clash = false;
    if (t->write && r != 0 && r != me) {
        by_read = !clash;
        clash = true;
    }
    if (clash && !axe_sim_known(s, AXE_SIM_RACE, t->call->in,
                                by_read ? g->r_site[at] : g->w_site[at]))
        axe_sim_find(s, AXE_SIM_RACE, t->call->in,
                     by_read ? g->r_site[at] : g->w_site[at],
                     "%s %s element %lld of %s, which %s has %s",
                     axe_sim_agent_text(s, t->call->agent),
                     t->write ? "writes" : "reads", (long long)at,
                     g->tensor->name,
                     (by_read ? r : w) == SIM_MANY ? "more than one other block"
                                                   : "another block",
                     by_read ? "read" : "written");
    if (t->write) {
        g->writer[at] = w == 0 || w == me ? me : SIM_MANY;
        g->w_site[at] = (uint16_t)site;
        g->w_atomic[at] = t->atomic;
    } else {
        g->reader[at] = r == 0 || r == me ? me : SIM_MANY;
        g->r_site[at] = (uint16_t)site;
    }
}

static void
check_set(sim *s, const sim_touch *t, const sim_global *g, int64_t at)
{
    if (g->is_init[at] || axe_sim_known(s, AXE_SIM_UNINIT, t->call->in, -1))
        return;
    axe_sim_find(s, AXE_SIM_UNINIT, t->call->in, -1,
                 "%s reads element %lld of %s, which nobody has written",
                 axe_sim_agent_text(s, t->call->agent), (long long)at,
                 g->tensor->name);
}

/* Does it clash with none of its like? */
static bool
is_atomic(const axe_atom *atom, bool write)
{
    return axe_sim_is_counter(atom) || (write && atom->fold != AXE_FOLD_NONE);
}

static void
check_global(sim *s, const sim_call *c, sim_global *g, int64_t at, int64_t n,
             bool write)
{
    axe_type  type = g->tensor->type;
    sim_touch t = {.call = c,
                   .shadow = &g->shadow,
                   .tensor = g->tensor,
                   .lane = c->lane,
                   .write = write,
                   .atomic = is_atomic(c->in->shape->atom, write)};

    for (int64_t i = at; i < at + n && g->is_init; i++) {
        if ((!write || t.atomic) && !axe_sim_is_blind(c->in->shape->atom))
            check_set(s, &t, g, i);
        g->is_init[i] = g->is_init[i] || write;
    }
    if (!g->writes)
        return;
    for (int64_t i = at; i < at + n && !s->together; i++)
        check_clusters(s, &t, g, i);
    axe_sim_touch(s, &t, axe_type_bytes(type, at), axe_type_bytes(type, n));
}

static bool
global_bytes(sim *s, const sim_call *c, const sim_arg *a, int64_t at, int64_t n,
             bool write, void *data)
{
    sim_global *g = &s->global[a->tensor];
    int64_t     byte = axe_type_bytes(g->tensor->type, at);
    int64_t     bytes = axe_type_bytes(g->tensor->type, n);
    bool        there = at >= 0 && at <= g->span - n;

    for (int64_t i = at; i < at + n && there && !g->dense; i++)
        there = exists(g, i);
    if (!there) {
        report_bounds(s, c, g->tensor->name, at, n, g->span);
        return false;
    }
    check_align(s, c, g->tensor->name, byte, bytes);
    if (s->checks)
        check_global(s, c, g, at, n, write);
    if (write)
        memcpy(g->data + byte, data, (size_t)bytes);
    else
        memcpy(data, g->data + byte, (size_t)bytes);
    if (write && g->counter)
        axe_sim_counters_written(s, c, g, at, n);
    if (s->trace && bytes > 0)
        axe_sim_trace_global(s, a->tensor, byte, bytes, write);
    *(write ? &s->report->global_written : &s->report->global_read) += bytes;
    return true;
}

/* -------------------------------------------------------- shared memory */

static bool
shared_bytes(sim *s, const sim_call *c, const sim_arg *a, sim_cta *cta,
             int64_t at, int64_t n, bool write, uint8_t *data)
{
    const axe_buffer *b = &s->g->buffer[a->tensor];
    axe_type          type = b->tensor->type;
    int64_t           byte = axe_type_bytes(type, at);
    int64_t           bytes = axe_type_bytes(type, n), end = byte + bytes;
    sim_touch         t = {.call = c,
                           .shadow = &cta->shadow,
                           .tensor = b->tensor,
                           .buffer = b,
                           .cta = cta,
                           .tag = a->tensor + 1,
                           .lane = c->lane,
                           .write = write,
                           .atomic =
                               write && c->in->shape->atom->fold != AXE_FOLD_NONE};

    if (!check_shared(s, c, b, at, n))
        return false;
    check_align(s, c, b->tensor->name, b->offset + byte, bytes);
    check_pieces(s, c, b, byte, bytes);
    *(write ? &s->report->shared_written : &s->report->shared_read) += bytes;
    while (byte < end) {
        int64_t room =
            b->swizzle.bits > 0 ? GRANULE - byte % GRANULE : end - byte;
        int64_t len = end - byte < room ? end - byte : room;
        int64_t real = axe_sim_shared_at(s, b, byte);
        if (b->swizzle.bits > 0 && real + len > b->offset + b->bytes) {
            report_bounds(s, c, b->tensor->name,
                          (real - b->offset) * 8 / axe_type_table[type].bits, n,
                          b->bytes * 8 / axe_type_table[type].bits);
            return false;
        }
        if (s->checks)
            axe_sim_touch(s, &t, real, len);
        if (write)
            memcpy(cta->memory + real, data, (size_t)len);
        else
            memcpy(data, cta->memory + real, (size_t)len);
        byte += len;
        data += len;
    }
    return true;
}

bool
axe_sim_bytes(sim *s, const sim_call *c, const sim_arg *a, sim_cta *cta,
              int64_t at, int64_t n, bool write, void *data)
{
    if (a->space == AXE_ARG_GLOBAL)
        return global_bytes(s, c, a, at, n, write, data);
    if (cta != c->warp->cta && c->agent == c->warp->agent) {
        axe_sim_check_begun(s, c, cta);
        axe_sim_used_by(s, c, cta);
    }
    return shared_bytes(s, c, a, cta, at, n, write, data);
}

bool
axe_sim_peek(sim *s, const sim_arg *a, const sim_cta *cta, int64_t at, void *to)
{
    const uint8_t *from;
    int64_t        have;
    int            size;

    if (a->space == AXE_ARG_GLOBAL) {
        size = axe_type_table[s->global[a->tensor].tensor->type].bits / 8;
        have = s->global[a->tensor].span;
        from = s->global[a->tensor].data + at * size;
    } else {
        const axe_buffer *b = &s->g->buffer[a->tensor];
        size = axe_type_table[b->tensor->type].bits / 8;
        have = b->bytes * 8 / axe_type_table[b->tensor->type].bits;
        have = pitch_of(s) > 0 ? last_of(s, b, at, have) : have;
        from = cta->memory + axe_sim_shared_at(s, b, at * size);
    }
    if (at < 0 || at >= have)
        return false;
    memcpy(to, from, (size_t)size);
    return true;
}

void
axe_sim_fold(axe_fold fold, axe_type t, void *to, const void *with)
{
    if (axe_type_is_float(t)) {
        double a = axe_sim_get(t, to), b = axe_sim_get(t, with);
        double v = fold == AXE_FOLD_SUM   ? a + b
                   : fold == AXE_FOLD_MUL ? a * b
                   : fold == AXE_FOLD_MAX ? fmax(a, b)
                                          : fmin(a, b);
        axe_sim_put(t, to, axe_sim_round(t, v));
        return;
    }
    int64_t  a = axe_number_get_int(t, to), b = axe_number_get_int(t, with);
    uint64_t sum = (uint64_t)a + (uint64_t)b, mul = (uint64_t)a * (uint64_t)b;
    axe_number_put_int(t, to,
                       fold == AXE_FOLD_SUM   ? (int64_t)sum
                       : fold == AXE_FOLD_MUL ? (int64_t)mul
                       : fold == AXE_FOLD_MAX ? (a > b ? a : b)
                                              : (a < b ? a : b));
}

/* ------------------------------------------------------------- registers */

static void
report_reg(sim *s, sim_warp *w, const sim_inst *in, axe_sim_kind kind,
           int array, int64_t at, const char *why)
{
    if (!axe_sim_known(s, kind, in, -1))
        axe_sim_find(s, kind, in, -1, "%s: %s[%lld] %s",
                     axe_sim_agent_text(s, w->agent), s->g->array[array]->name,
                     (long long)at, why);
}

/* Operations of the agent that the warp knows to be done. */
static uint32_t
known_of(const sim_warp *w, int agent)
{
    const sim_clock *c = &w->clock;

    return c->vc[agent] > c->tvc[agent] ? c->vc[agent] : c->tvc[agent];
}

void
axe_sim_pin(sim_warp *w, const sim_inst *drain)
{
    for (int i = 0; i < drain->n_pin && w->writer >= 0; i++)
        w->array[drain->pin[i]].pinned = known_of(w, w->writer);
}

/* Registers of an atom that is under way are not to be accessed, those that it
 * reads neither, if it is a product (PTX ISA, wgmma.mma_async). */
bool
axe_sim_reg_check(sim *s, sim_warp *w, const sim_inst *in, int array,
                  int64_t at, axe_lane_set mask, bool write)
{
    sim_array *x = &w->array[array];

    if (at < 0 || at >= x->n) {
        if (mask)
            report_reg(s, w, in, AXE_SIM_BOUNDS, array, at, "does not exist");
        return false;
    }
    if (x->held)
        axe_sim_unhold(s, x->held);
    if (!s->checks)
        return true;
    if (!write && (mask & ~x->init[at]))
        report_reg(s, w, in, AXE_SIM_UNINIT, array, at,
                   "is read, and nothing was written there");
    if (w->writer >= 0 && x->writes[at] > known_of(w, w->writer))
        report_reg(s, w, in, AXE_SIM_FLIGHT, array, at,
                   "is used while an atom still writes it: no drain between");
    else if (w->writer >= 0 && x->writes[at] > x->pinned)
        report_reg(s, w, in, AXE_SIM_FLIGHT, array, at,
                   "is used behind a drain that does not pin it: who compiles "
                   "this may move that ahead of it");
    if (w->reader >= 0 &&
        (write ? x->reads : x->factor)[at] > known_of(w, w->reader))
        report_reg(s, w, in, AXE_SIM_FLIGHT, array, at,
                   write ? "is written while an atom still reads it: no drain "
                           "between"
                         : "is read while an atom still has it: no drain "
                           "between");
    x->fence[at] = w->n_fence + 1;
    return true;
}

void
axe_sim_reg_get(sim *s, const sim_call *c, const sim_arg *a, sim_warp *w,
                int lane, int64_t at, void *to)
{
    sim_array *x = &w->array[a->tensor];

    if (axe_sim_reg_check(s, w, c->in, a->tensor, at, AXE_ONE_LANE(lane),
                          false))
        memcpy(to, x->bits + (at * s->lanes + lane) * x->size, (size_t)x->size);
    else
        memset(to, 0, (size_t)x->size);
}

void
axe_sim_reg_put(sim *s, const sim_call *c, const sim_arg *a, sim_warp *w,
                int lane, int64_t at, const void *from)
{
    sim_array *x = &w->array[a->tensor];

    if (!axe_sim_reg_check(s, w, c->in, a->tensor, at, AXE_ONE_LANE(lane),
                           true))
        return;
    memcpy(x->bits + (at * s->lanes + lane) * x->size, from, (size_t)x->size);
    x->init[at] |= AXE_ONE_LANE(lane);
}
