/* replay_rows.c - what a launch did, as rows of a timeline: the engines and the
 * warpgroups of each CTA that an SM holds at once, and what each role did in
 * all. */
#include "sim/replay.h"
#include "view/timeline.h"

int
axe_sim_n_rows(const sim_replay *p)
{
    return AXE_ROW_WARPS + p->s->n_warpgroup;
}

/* What row `which` of a CTA stands for: an engine, then warpgroups. */
static axe_timeline_row
row_of(const sim_replay *p, int which)
{
    int n = p->s->group_warps, first = (which - AXE_ROW_WARPS) * n;
    int last = first + n < p->s->n_warp ? first + n - 1 : p->s->n_warp - 1;

    if (which < AXE_ROW_WARPS)
        return (axe_timeline_row){.kind = (axe_timeline_row_kind)which};
    return (axe_timeline_row){AXE_ROW_WARPS, 0, 0, first, last, 0, 0, NULL};
}

static bool
is_row(const axe_timeline_row *a, const axe_timeline_row *b)
{
    return a->kind == b->kind && a->sm == b->sm && a->slot == b->slot &&
           a->first == b->first && a->last == b->last;
}

static axe_timeline_row *
find_row(sim_replay *p, const replay_cta *c, int which)
{
    axe_timeline    *out = p->t->out;
    axe_timeline_row row = row_of(p, which);
    int             *at =
        &p->row[(c->sm * p->n_slot + c->slot) * axe_sim_n_rows(p) + which];

    row.sm = c->sm;
    row.slot = c->slot;
    for (int i = 0; i < out->n_row && !*at; i++)
        if (is_row(&out->row[i], &row))
            *at = i + 1;
    if (!*at) {
        out->row = axe_sim_grown(p->s->cx, out->row, out->n_row, &p->t->cap_row,
                                 sizeof out->row[0]);
        out->row[out->n_row++] = row;
        *at = out->n_row;
    }
    return &out->row[*at - 1];
}

/* What a row does from one tick to another, in whole cycles; and what its role
 * has done in all. */
void
axe_sim_put_span(sim_replay *p, const replay_cta *c, int which, int64_t begin,
                 int64_t end, int64_t what)
{
    axe_timeline_role *role = &p->t->out->role[p->first_role + which];

    if (which != AXE_ROW_BLOCK)
        role->cycles[what] += end / TICKS - begin / TICKS;
    view_row_add(p->s->cx, find_row(p, c, which),
                 (axe_timeline_span){begin / TICKS, end / TICKS, what});
}

void
axe_sim_make_roles(sim_replay *p)
{
    axe_timeline *out = p->t->out;

    p->first_role = out->n_role;
    for (int i = 0; i < axe_sim_n_rows(p); i++) {
        axe_timeline_row row = row_of(p, i);
        out->role = axe_sim_grown(p->s->cx, out->role, out->n_role,
                                  &p->t->cap_role, sizeof out->role[0]);
        out->role[out->n_role++] = (axe_timeline_role){.launch = out->n_launch,
                                                       .kind = row.kind,
                                                       .first = row.first,
                                                       .last = row.last};
    }
}

/* Roles that have done nothing are none. */
static void
drop_roles(sim_replay *p)
{
    axe_timeline *out = p->t->out;
    int           n = p->first_role;

    for (int i = p->first_role; i < out->n_role; i++) {
        int64_t all = 0;
        for (int w = 0; w < AXE_N_WORK; w++)
            all += out->role[i].cycles[w];
        if (all > 0)
            out->role[n++] = out->role[i];
    }
    out->n_role = n;
}

/* Of warps [first, last] of a CTA what counts most, from time to time. */
void
axe_sim_put_warps(sim_replay *p, int c, int which)
{
    axe_timeline_row row = row_of(p, which);
    int     n = row.last - row.first + 1, base = c * p->s->n_warp + row.first;
    int64_t at[MAX_WARPGROUP] = {0}, now = p->cta[c].begin;

    for (;;) {
        int64_t next = INT64_MAX, what = AXE_N_WORK;
        for (int i = 0; i < n; i++) {
            const axe_timeline_row *x = &p->run[base + i].spans;
            while (at[i] < x->n && x->span[at[i]].end <= now)
                at[i]++;
            if (at[i] == x->n)
                continue;
            const axe_timeline_span *s = &x->span[at[i]];
            int64_t                  edge = s->begin > now ? s->begin : s->end;
            next = edge < next ? edge : next;
            if (s->begin <= now && s->what < what)
                what = s->what;
        }
        if (next == INT64_MAX)
            return;
        if (what < AXE_N_WORK)
            axe_sim_put_span(p, &p->cta[c], which, now, next, what);
        now = next;
    }
}

static void
sort_rows(axe_timeline *out)
{
    for (int i = 1; i < out->n_row; i++) {
        axe_timeline_row r = out->row[i];
        int              k = i;
        for (; k > 0; k--) {
            const axe_timeline_row *b = &out->row[k - 1];
            if (b->sm < r.sm ||
                (b->sm == r.sm &&
                 (b->slot < r.slot ||
                  (b->slot == r.slot &&
                   (b->kind < r.kind ||
                    (b->kind == r.kind && b->first <= r.first))))))
                break;
            out->row[k] = *b;
        }
        out->row[k] = r;
    }
}

void
axe_sim_put_launch(sim_replay *p, int64_t begin)
{
    sim_trace    *t = p->t;
    axe_timeline *out = t->out;

    drop_roles(p);
    sort_rows(out);
    out->launch = axe_sim_grown(p->s->cx, out->launch, out->n_launch,
                                &t->cap_launch, sizeof out->launch[0]);
    out->launch[out->n_launch++] =
        (axe_timeline_launch){p->s->g->name, begin / TICKS, p->end / TICKS,
                              p->n_block,    p->l2_bytes,   p->memory_bytes};
    t->now = p->end;
    out->cycles = p->end / TICKS;
}
