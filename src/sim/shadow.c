/* shadow.c - who touched each byte last, and whether that is ordered with who
 * touches it now.
 *
 * A cell stands for 16 bytes while all accesses are of all of them, which
 * nearly all are; else it is split into one for each byte.  It has the last
 * write and all reads since that are not ordered with one another, as epochs of
 * their agents: an epoch is ordered before an access if the accessing agent's
 * clock has come so far.  Source: Flanagan and Freund, FastTrack, 2009. */
#include <string.h>

#include "sim/sim_int.h"

void
axe_sim_shadow_init(sim *s, sim_shadow *sh, int64_t bytes)
{
    int64_t pages = bytes / (GRANULE * PAGE_CELLS) + 1;

    *sh = (sim_shadow){.bytes = bytes};
    sh->page = axe_new_array(s->own, sim_page *, pages);
    sh->used = axe_new_array(s->own, int, pages);
}

static sim_page *
page_at(sim *s, sim_shadow *sh, int64_t number)
{
    sim_page *p = sh->page[number];

    if (p)
        return p;
    p = s->spare_page;
    if (p) {
        s->spare_page = p->next;
        memset(p->cell, 0, sizeof p->cell);
        p->is_split = 0;
        p->next = NULL;
    } else {
        p = axe_new(s->own, sim_page);
    }
    sh->page[number] = p;
    sh->used[sh->n_used++] = (int)number;
    return p;
}

void
axe_sim_shadow_reset(sim *s, sim_shadow *sh)
{
    for (int i = 0; i < sh->n_used; i++) {
        sim_page *p = sh->page[sh->used[i]];
        p->next = s->spare_page;
        s->spare_page = p;
        sh->page[sh->used[i]] = NULL;
    }
    sh->n_used = 0;
}

/* -------------------------------------------------- readers beyond a cell's */

static int
take_more(sim *s)
{
    int i = s->spare_more - 1;

    if (i >= 0) {
        s->spare_more = s->more[i].next;
        s->more[i].n = 0;
        return i;
    }
    if (s->n_more == s->cap_more) {
        int       cap = s->cap_more ? 2 * s->cap_more : 256;
        sim_more *more = axe_new_array(s->own, sim_more, cap);
        if (s->n_more > 0)
            memcpy(more, s->more, (size_t)s->n_more * sizeof more[0]);
        s->more = more;
        s->cap_more = cap;
    }
    s->more[s->n_more].n = 0;
    return s->n_more++;
}

/* Place for a reader: its own, that of one that is before it, or a new one. */
static sim_reader *
reader_in(sim *s, sim_more *m, int agent, const uint32_t *known)
{
    for (int i = 0; i < m->n; i++)
        if (m->reader[i].agent == agent ||
            m->reader[i].epoch <= known[m->reader[i].agent])
            return &m->reader[i];
    if (m->n == m->cap) {
        int         cap = m->cap ? 2 * m->cap : 8;
        sim_reader *reader = axe_new_array(s->own, sim_reader, cap);
        if (m->n > 0)
            memcpy(reader, m->reader, (size_t)m->n * sizeof reader[0]);
        m->reader = reader;
        m->cap = cap;
    }
    return &m->reader[m->n++];
}

static void
copy_more(sim *s, sim_more *to, const sim_more *from)
{
    if (to->cap < from->n) {
        to->reader = axe_new_array(s->own, sim_reader, from->cap);
        to->cap = from->cap;
    }
    memcpy(to->reader, from->reader, (size_t)from->n * sizeof to->reader[0]);
    to->n = from->n;
}

static void
drop_readers(sim *s, sim_cell *c)
{
    if (c->more > 0) {
        s->more[c->more - 1].next = s->spare_more;
        s->spare_more = (int)c->more;
    }
    c->more = 0;
    c->n_read = 0;
}

/* ------------------------------------------------------------- reporting */

const char *
axe_sim_byte_text(sim *s, const sim_touch *t, int64_t at)
{
    int     bits = axe_type_table[t->tensor->type].bits;
    int64_t byte = at;

    if (t->tmem) {
        int columns = s->mc->simt->tmem_columns;
        return axe_textf(s->cx, "lane %lld, column %lld of %s in block %lld",
                         (long long)(at / WORD / columns),
                         (long long)(at / WORD % columns), t->tensor->name,
                         (long long)t->cta->block);
    }
    if (t->buffer)
        byte = axe_sim_shared_byte(s, t->buffer, at);
    if (t->buffer && t->cta)
        return axe_textf(s->cx, "element %lld of %s in block %lld",
                         (long long)(byte * 8 / bits), t->tensor->name,
                         (long long)t->cta->block);
    return axe_textf(s->cx, "element %lld of %s", (long long)(byte * 8 / bits),
                     t->tensor->name);
}

/* Lanes of one warp, apart since they met: also where the clock, which is the
 * warp's, says nothing. */
static bool
is_apart(const sim *s, const sim_touch *t, int agent, uint32_t epoch, int lane)
{
    return agent == t->call->agent && s->agent[agent].kind == SIM_AGENT_WARP &&
           epoch >= t->call->met && (lane != t->lane || lane == EVERY_LANE);
}

static void
report_lanes(sim *s, const sim_touch *t, int64_t at, int site, bool written)
{
    if (axe_sim_known(s, AXE_SIM_RACE, t->call->in, site))
        return;
    axe_sim_find(s, AXE_SIM_RACE, t->call->in, site,
                 "a lane of %s %s %s, which another lane of it has %s; they "
                 "have not met since",
                 axe_sim_agent_text(s, t->call->agent),
                 t->write ? "writes" : "reads", axe_sim_byte_text(s, t, at),
                 written ? "written" : "read");
}

static void
report_race(sim *s, const sim_touch *t, int64_t at, int other, int site,
            bool other_writes)
{
    if (axe_sim_known(s, AXE_SIM_RACE, t->call->in, site))
        return;
    axe_sim_find(s, AXE_SIM_RACE, t->call->in, site,
                 "%s %s %s, which %s %s; no barrier, wait or drain orders the "
                 "two",
                 axe_sim_agent_text(s, t->call->agent),
                 t->write ? "writes" : "reads", axe_sim_byte_text(s, t, at),
                 axe_sim_agent_text(s, other),
                 other_writes ? "writes" : "reads");
}

/* Threads have ordered the two, but not for tensor memory. */
static void
report_unfenced(sim *s, const sim_touch *t, int64_t at, int other, int site)
{
    if (axe_sim_known(s, AXE_SIM_TFENCE, t->call->in, site))
        return;
    axe_sim_find(s, AXE_SIM_TFENCE, t->call->in, site,
                 "%s %s %s, which %s has used before; threads have met "
                 "between, but the one that issues this has not said AFTER",
                 axe_sim_agent_text(s, t->call->agent),
                 t->write ? "writes" : "reads", axe_sim_byte_text(s, t, at),
                 axe_sim_agent_text(s, other));
}

static void
report_unset(sim *s, const sim_touch *t, const sim_cell *c, int64_t at)
{
    bool         stale = c->is_init;
    axe_sim_kind kind = stale ? AXE_SIM_STALE : AXE_SIM_UNINIT;
    const char  *last = "nobody has written";

    if (axe_sim_known(s, kind, t->call->in, stale ? c->w_site : -1))
        return;
    if (stale)
        last = axe_textf(s->cx, "%s has written as part of %s",
                         axe_sim_agent_text(s, c->w_agent),
                         t->tmem ? s->g->tmem[c->tag - 1].tensor->name
                                 : s->g->buffer[c->tag - 1].tensor->name);
    axe_sim_find(s, kind, t->call->in, stale ? c->w_site : -1,
                 "%s reads %s, which %s", axe_sim_agent_text(s, t->call->agent),
                 axe_sim_byte_text(s, t, at), last);
}

static void
report_proxy(sim *s, const sim_touch *t, const sim_cell *c, int64_t at)
{
    if (axe_sim_known(s, AXE_SIM_PROXY, t->call->in, c->w_site))
        return;
    axe_sim_find(s, AXE_SIM_PROXY, t->call->in, c->w_site,
                 "%s %s %s, which %s has written without a fence for "
                 "asynchronous atoms since",
                 axe_sim_agent_text(s, t->call->agent),
                 t->write ? "writes" : "reads", axe_sim_byte_text(s, t, at),
                 axe_sim_agent_text(s, c->w_agent));
}

/* ------------------------------------------------------------ one access */

/* What the one that touches knows. */
static const uint32_t *
known(const sim_touch *t)
{
    return t->tmem ? t->call->clock.tvc : t->call->clock.vc;
}

/* How much of that agent; a lane that has not met the one which waited for
 * another cluster has not heard of it. */
static uint32_t
known_of(const sim *s, const sim_touch *t, int agent)
{
    const sim_call *k = t->call;

    if (k->deaf && agent / s->per_range != k->warp->cta->cluster->range &&
        (t->lane == EVERY_LANE || axe_sim_has(k->deaf, t->lane)))
        return k->warp->before.vc[agent];
    return known(t)[agent];
}

/* What fences have shown to the asynchronous proxy, of that memory. */
static const uint32_t *
shown(const sim_touch *t)
{
    return t->buffer ? t->call->clock.pvc : t->call->clock.gvc;
}

static void
report_order(sim *s, const sim_touch *t, int64_t at, int other, uint32_t epoch,
             int site, bool other_writes)
{
    if (t->tmem && epoch <= t->call->clock.vc[other])
        report_unfenced(s, t, at, other, site);
    else
        report_race(s, t, at, other, site, other_writes);
}

/* Did an asynchronous atom of another CTA write it?  The proxy keeps the order
 * of one CTA's alone (PTX ISA, proxy-preserved base causality order). */
static bool
is_elsewhere(const sim *s, const sim_touch *t, const sim_cell *c)
{
    return !t->buffer &&
           s->agent[c->w_agent].block != s->agent[t->call->agent].block;
}

static void
check_write(sim *s, const sim_touch *t, const sim_cell *c, int64_t at)
{
    const sim_call *k = t->call;

    if (c->w_epoch == 0 || (t->atomic && c->atomic))
        return;
    if (c->w_epoch > known_of(s, t, c->w_agent))
        report_order(s, t, at, c->w_agent, c->w_epoch, c->w_site, true);
    else if (is_apart(s, t, c->w_agent, c->w_epoch, c->w_lane))
        report_lanes(s, t, at, c->w_site, true);
    else if (k->proxy && !t->tmem && (!c->by_proxy || is_elsewhere(s, t, c)) &&
             c->w_epoch > shown(t)[c->w_agent])
        report_proxy(s, t, c, at);
}

/* Threads have read it; the copy that comes now is of another proxy, which is
 * behind what they did only behind a fence. */
static bool
is_unfenced(const sim *s, const sim_touch *t, int reader, uint32_t epoch)
{
    const sim_call *k = t->call;

    return k->proxy && !t->tmem && s->agent[reader].kind == SIM_AGENT_WARP &&
           epoch > shown(t)[reader];
}

static void
report_refill(sim *s, const sim_touch *t, int64_t at, int reader, int site)
{
    if (axe_sim_known(s, AXE_SIM_PROXY, t->call->in, site))
        return;
    axe_sim_find(s, AXE_SIM_PROXY, t->call->in, site,
                 "%s writes %s, which %s has read without a fence for "
                 "asynchronous atoms since",
                 axe_sim_agent_text(s, t->call->agent),
                 axe_sim_byte_text(s, t, at), axe_sim_agent_text(s, reader));
}

static void
check_readers(sim *s, const sim_touch *t, const sim_cell *c, int64_t at)
{
    for (int i = 0; i < c->n_read; i++)
        if (t->atomic && (c->r_atomic >> i & 1))
            ;
        else if (c->r_epoch[i] > known_of(s, t, c->r_agent[i]))
            report_order(s, t, at, c->r_agent[i], c->r_epoch[i], c->r_site[i],
                         false);
        else if (is_apart(s, t, c->r_agent[i], c->r_epoch[i], c->r_lane[i]))
            report_lanes(s, t, at, c->r_site[i], false);
        else if (is_unfenced(s, t, c->r_agent[i], c->r_epoch[i]))
            report_refill(s, t, at, c->r_agent[i], c->r_site[i]);
    for (int i = 0; c->more && i < s->more[c->more - 1].n; i++) {
        const sim_reader *r = &s->more[c->more - 1].reader[i];
        if (t->atomic && r->atomic)
            continue;
        if (r->epoch > known_of(s, t, r->agent))
            report_race(s, t, at, r->agent, -1, false);
        else if (is_unfenced(s, t, r->agent, r->epoch))
            report_refill(s, t, at, r->agent, -1);
    }
}

static void
note_read(sim *s, const sim_touch *t, sim_cell *c, int site)
{
    const sim_call *k = t->call;
    int             agent = t->write ? k->agent : k->ragent, i;

    for (i = 0; i < c->n_read; i++)
        if (c->r_agent[i] == agent ||
            c->r_epoch[i] <= known_of(s, t, c->r_agent[i]))
            break;
    if (i == CELL_READERS) {
        if (c->more == 0)
            c->more = (uint32_t)take_more(s) + 1;
        *reader_in(s, &s->more[c->more - 1], agent, known(t)) =
            (sim_reader){k->epoch, (uint16_t)agent, t->atomic};
        return;
    }
    c->r_lane[i] = i < c->n_read && is_apart(s, t, c->r_agent[i], c->r_epoch[i],
                                             c->r_lane[i])
                       ? EVERY_LANE
                       : (uint8_t)t->lane;
    c->r_agent[i] = (uint16_t)agent;
    c->r_epoch[i] = k->epoch;
    c->r_site[i] = (uint16_t)site;
    c->r_atomic =
        (uint8_t)((c->r_atomic & ~(1u << i)) | (unsigned)t->atomic << i);
    if (i == c->n_read)
        c->n_read++;
}

static void
touch_cell(sim *s, const sim_touch *t, sim_cell *c, int64_t at, int site)
{
    bool reads = !t->write || t->atomic;

    check_write(s, t, c, at);
    if (reads && t->tag && (!c->is_init || c->tag != t->tag))
        report_unset(s, t, c, at);
    if (!t->write) {
        note_read(s, t, c, site);
        return;
    }
    check_readers(s, t, c, at);
    drop_readers(s, c);
    c->w_agent = (uint16_t)t->call->agent;
    c->w_epoch = t->call->epoch;
    c->w_lane = (uint8_t)t->lane;
    c->w_site = (uint16_t)site;
    c->by_proxy = t->call->proxy;
    c->atomic = t->atomic;
    c->is_init = !t->ends;
    c->tag = (uint16_t)t->tag;
}

/* --------------------------------------------------------------- granules */

static void
split_cell(sim *s, sim_page *p, int i)
{
    if (!p->split[i])
        p->split[i] = axe_new_array(s->own, sim_cell, GRANULE);
    for (int b = 0; b < GRANULE; b++) {
        p->split[i][b] = p->cell[i];
        if (p->cell[i].more) {
            int m = take_more(s);
            copy_more(s, &s->more[m], &s->more[p->cell[i].more - 1]);
            p->split[i][b].more = (uint32_t)m + 1;
        }
    }
    drop_readers(s, &p->cell[i]);
    p->is_split |= UINT64_C(1) << i;
}

/* Bytes [at, at + n) of one granule. */
static void
touch_granule(sim *s, const sim_touch *t, int64_t at, int n, int site)
{
    int64_t   number = at / GRANULE;
    sim_page *p = page_at(s, t->shadow, number / PAGE_CELLS);
    int       i = (int)(number % PAGE_CELLS), b = (int)(at % GRANULE);

    if (!(p->is_split >> i & 1) && n == GRANULE) {
        touch_cell(s, t, &p->cell[i], at, site);
        return;
    }
    if (!(p->is_split >> i & 1))
        split_cell(s, p, i);
    for (int k = b; k < b + n; k++)
        touch_cell(s, t, &p->split[i][k], at + k - b, site);
    if (n == GRANULE && t->write) {
        p->cell[i] = p->split[i][0];
        p->is_split &= ~(UINT64_C(1) << i);
    }
}

void
axe_sim_touch(sim *s, const sim_touch *t, int64_t at, int64_t n)
{
    int site = axe_sim_site(s, t->call->in);

    while (n > 0) {
        int64_t room = GRANULE - at % GRANULE, len = n < room ? n : room;
        touch_granule(s, t, at, (int)len, site);
        at += len;
        n -= len;
    }
}
