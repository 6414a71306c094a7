/* hazards.c - where the threads of a CTA must wait for one another.
 *
 * Threads that touch the same element of a shared tile, or of two that share
 * bytes (lifetimes.c), or of a global tensor, one of them writing, need a
 * barrier between, of the innermost scope around both statements, before what
 * that scope does of the second.  Nothing is needed where each thread finds
 * only what it wrote itself, or its warp, in tensor memory.  Within one scope
 * its entities do not wait for one another, nor may they touch what another one
 * writes. Stages of pipelines are passed on by protocols of their own
 * (ring_protocol.c), and where CTAs share a statement
 * (simt/map/cluster_share.c) a barrier of their cluster stands before and
 * behind it.  So it is for tensor memory. What a thread asked of an engine is
 * waited for instead, at a barrier at which the engine arrives; what it asked
 * of it next comes in order.  Such a wait is itself an access of its barrier:
 * before it comes again there is a barrier of all who waited.
 *
 * One pass in order keeps what was touched since the threads' last barrier; a
 * loop is passed until what an iteration leaves behind is known to the next
 * one. For what was written before a loop that only reads there is one barrier,
 * before it. */
#include "plan/plan_int.h"
#include "plan/simt/hazard/hazard.h"
#include "plan/simt/hazard/touch.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/tmem/tmem.h"

/* A statement and the scope around it, from the outside in. */
typedef struct place {
    const axe_stmt         *stmt;
    const axe_thread_group *threads; /* whose code it is */
    const struct place     *up;
    const axe_list         *before; /* pending there, where what follows is of
                                       other threads; else NULL */
} place;

typedef struct passing {
    axe_planner *p;
    axe_list     pending; /* const axe_touch * */
    axe_list
         waits; /* const axe_touch *, of barriers, for the statement at hand */
    bool stay;  /* each role runs its own loop over the tiles */
    bool ahead; /* what stands here runs ahead of what stands before it */
    axe_list   left, skipped; /* pending at each break, continue of the loop */
    axe_status status;
} passing;

/* -------------------------------------------------------------- sync points */

/* The innermost thread group around both. */
static const axe_thread_group *
common_group(const axe_thread_group *a, const axe_thread_group *b)
{
    while (a && !axe_threads_is_within(b, a))
        a = a->in;
    return a;
}

static bool
knows(const axe_list *l, const axe_touch *t)
{
    for (int i = 0; i < l->n; i++) {
        const axe_touch *a = l->item[i];
        if (a->stmt == t->stmt && a->tile == t->tile &&
            a->writes == t->writes && a->threads == t->threads &&
            a->load == t->load && a->met == t->met)
            return true;
    }
    return false;
}

/* What is left of it behind a barrier: global memory may still want a fence.
 * NULL: nothing. */
static const axe_touch *
behind_barrier(const passing *g, const axe_touch *t, bool fenced)
{
    axe_touch *met;

    if (!t->load || t->engine || fenced)
        return NULL;
    if (t->met)
        return t;
    met = axe_new(g->p->cx, axe_touch);
    *met = *t;
    met->met = true;
    return met;
}

/* What the thread group did before the sync point, but for what it asked of
 * engines, is behind a barrier of it; what `issuer` asked of them is behind
 * waiting for that.  Where some of that was done in tensor memory the barrier
 * has its fences. */
static void
forget(passing *g, const place *at, axe_sync_point *m,
       const axe_thread_group *issuer)
{
    int kept = 0;

    for (int i = 0; i < g->pending.n; i++) {
        const axe_touch *t = g->pending.item[i];
        if (!axe_threads_is_within(t->threads, m->threads) ||
            (t->engine ? t->issuer : NULL) != issuer ||
            (at->before && !knows(at->before, t))) {
            g->pending.item[kept++] = t;
            continue;
        }
        m->sums = m->sums || (t->tile && t->tile->space == AXE_SPACE_TMEM);
        t = behind_barrier(g, t, m->fence != NULL);
        if (t)
            g->pending.item[kept++] = t;
    }
    g->pending.n = kept;
}

/* All have met, as the text says, or their cluster has; what is done in tensor
 * memory has its own fences. */
static void
forget_threads(passing *g, const axe_thread_group *threads)
{
    int kept = 0;

    for (int i = 0; i < g->pending.n; i++) {
        const axe_touch *t = g->pending.item[i];
        bool             sums = t->tile && t->tile->space == AXE_SPACE_TMEM;
        if (axe_threads_is_within(t->threads, threads) && !t->engine && !sums)
            t = behind_barrier(g, t, false);
        if (t)
            g->pending.item[kept++] = t;
    }
    g->pending.n = kept;
}

static bool
is_waited(const axe_list *l, const axe_sync_point *m)
{
    for (int i = 0; i < l->n; i++) {
        const axe_touch *t = l->item[i];
        if (!t->tile && t->stmt == m->at)
            return true;
    }
    return false;
}

/* The threads wait for what was asked, rather than for each other; but if the
 * same wait was the last thing that some of them did, a barrier of threads
 * comes first: the mbarrier's phase could else end again before all have seen
 * it end. */
static void
await(passing *g, const place *at, axe_sync_point *m, const axe_touch *asked)
{
    axe_var   *v;
    axe_touch *wait = axe_new(g->p->cx, axe_touch);

    axe_sync_point_issuer(g->p, m, asked->issuer, asked->engine->group);
    if (!m->phase) {
        v = axe_new(g->p->cx, axe_var);
        *v = (axe_var){
            .kind = AXE_VAR_LOOP,
            .name = axe_textf(g->p->cx, "%s_phase", asked->tile->name),
            .at = asked->stmt->at,
            .id = g->p->kernel->n_var + g->p->simt->n_var++,
        };
        m->phase = v;
    }
    if (is_waited(&g->pending, m)) {
        m->barrier = true;
        forget(g, at, m, NULL);
    }
    *wait = (axe_touch){.stmt = m->at, .threads = m->threads};
    if (!is_waited(&g->waits, m))
        axe_list_push(&g->waits, wait);
}

/* The waits for a statement are over. */
static void
pend_waits(passing *g)
{
    for (int i = 0; i < g->waits.n; i++)
        axe_list_push(&g->pending, g->waits.item[i]);
    g->waits.n = 0;
}

/* The place at whose beginning the threads can have a barrier before `at`. */
static const place *
entry_of(const place *at, const axe_thread_group *threads)
{
    while (at->threads != threads)
        at = at->up;
    return at;
}

/* Is t a move by rows that take the whole thread group, each warp of it its
 * lanes? */
static bool
is_by_lanes(const passing *g, const axe_touch *t)
{
    const axe_simt_tmem *m = g->p->schedule[t->stmt->id]->simt->tmem;

    return m && m->able &&
           axe_atom_threads(g->p->mc, m->move.atom) == t->threads->n_thread;
}

/* Does each thread, or each warp in tensor memory, find only its own? */
static bool
finds_own(const passing *g, const axe_touch *a, const axe_touch *b)
{
    if (a->engine || b->engine || a->tile != b->tile)
        return false;
    if (a->tile->space == AXE_SPACE_GLOBAL)
        return axe_simt_finds_own(g->p, a, b);
    if (a->tile->space == AXE_SPACE_SHARED)
        return axe_simt_is_own(g->p, a->stmt, b->stmt, a->tile);
    return a->threads == b->threads && is_by_lanes(g, a) && is_by_lanes(g, b);
}

static void
fail(passing *g, axe_status st)
{
    g->status = g->status == AXE_OK ? st : g->status;
}

/* Must b wait for a?  Then what it waited for is no longer pending. */
static bool
decide(passing *g, const place *at, const axe_touch *a, const axe_touch *b)
{
    const axe_thread_group *threads = common_group(a->threads, b->threads);
    const axe_atom         *fence =
        a->load && !a->engine ? axe_simt_fence_for(g->p, b) : NULL;
    axe_sync_point *m;

    if ((a->met && (!fence || g->ahead)) || !axe_simt_conflicts(g->p, a, b) ||
        (a->engine && b->engine && a->issuer == b->issuer) ||
        (!fence && finds_own(g, a, b)))
        return false;
    if (g->ahead && a->load) {
        fail(g, axe_simt_refuse_ahead(g->p, a, b));
        return false;
    }
    at = entry_of(at, threads);
    m = axe_sync_point_at(g->p, at->stmt, threads,
                          axe_simt_why_wait(g->p, a, b));
    m->fence = fence ? fence : m->fence;
    m->wait_async = m->wait_async || axe_simt_overwrites(g->p, b, &g->pending);
    if (a->engine)
        await(g, at, m, a);
    else
        m->barrier = true;
    forget(g, at, m, a->engine ? a->issuer : NULL);
    return true;
}

/* Where CTAs share the statement a barrier of their cluster stands before and
 * behind it: of what was before only engines are to be waited for, and of what
 * threads did nothing is left to wait for. */
static void
pass_index(passing *g, const place *at)
{
    axe_list now = {.cx = g->p->cx};
    bool     shared = g->p->schedule[at->stmt->id]->simt->share > 1;

    axe_simt_touches(g->p, at->stmt, at->threads, &now);
    for (int i = 0; i < now.n; i++)
        for (int k = 0; k < g->pending.n; k++) {
            const axe_touch *a = g->pending.item[k];
            if ((!shared || a->engine) && decide(g, at, a, now.item[i]))
                k = -1;
        }
    if (shared)
        forget_threads(g, at->threads);
    pend_waits(g);
    for (int i = 0; !shared && i < now.n; i++)
        axe_list_push(&g->pending, now.item[i]);
}

/* ------------------------------------------------------------------ the pass
 */

/* to |= more; did it grow? */
static bool
join(axe_list *to, const axe_list *more)
{
    bool grew = false;

    for (int i = 0; i < more->n; i++)
        if (!knows(to, more->item[i])) {
            axe_list_push(to, more->item[i]);
            grew = true;
        }
    return grew;
}

static axe_list
copy_of(passing *g, const axe_list *l)
{
    axe_list out = {.cx = g->p->cx};

    join(&out, l);
    return out;
}

static void pass(passing *g, int n, axe_stmt *const *body, const place *up,
                 const axe_thread_group *threads);

/* All that the statements touch, where no roles nor stages are among them. */
static bool
gather_body(passing *g, int n, axe_stmt *const *body, const place *up,
            axe_list *out)
{
    for (int i = 0; i < n; i++) {
        place at = {body[i], up->threads, up, NULL};
        switch (body[i]->kind) {
        case AXE_STMT_SCOPE:
            at.threads = axe_threads_at(g->p->simt, body[i]);
            break;
        case AXE_STMT_INDEX:
        case AXE_STMT_TENSOR:
        case AXE_STMT_FOR:
        case AXE_STMT_LOOP:
        case AXE_STMT_BREAK:
        case AXE_STMT_CONTINUE:
        case AXE_STMT_IF:
            break;
        default:
            return false;
        }
        axe_simt_touches(g->p, at.stmt, at.threads, out);
        if (!gather_body(g, body[i]->n_body, body[i]->body, &at, out) ||
            !gather_body(g, body[i]->n_other, body[i]->other, &at, out))
            return false;
    }
    return true;
}

/* Does the loop write what a barrier is for: to tiles, or that very tensor? */
static bool
any_writes(const axe_list *l, const axe_touch *a)
{
    for (int i = 0; i < l->n; i++) {
        const axe_touch *b = l->item[i];
        if (b->writes && (a->load ? b->tile == a->tile : !b->load))
            return true;
    }
    return false;
}

static bool
any_asks(const axe_list *l)
{
    for (int i = 0; i < l->n; i++)
        if (((const axe_touch *)l->item[i])->engine)
            return true;
    return false;
}

/* May the barrier for a stand before a loop that touches all of `in`?  What an
 * engine does, if none is asked in the loop; what threads wrote, if it is only
 * read in it.  Where the loop writes, too, there is a barrier in every
 * iteration, and that one will do. */
static bool
is_met_before(const axe_touch *a, const axe_touch *b, const axe_list *in)
{
    if (a->engine)
        return !any_asks(in);
    return a->writes && !b->engine && !any_writes(in, a) &&
           a->tile->space != AXE_SPACE_TMEM;
}

/* What a stage in the loop is filled with from global memory is read ahead, so
 * that whoever wrote it is waited for before the loop. */
static void
sync_stages(passing *g, const place *at, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        axe_list in = {.cx = g->p->cx};
        sync_stages(g, at, body[i]->n_body, body[i]->body);
        sync_stages(g, at, body[i]->n_other, body[i]->other);
        if (body[i]->kind == AXE_STMT_PRODUCE)
            axe_simt_touches_in(g->p, body[i]->n_body, body[i]->body, &in);
        for (int j = 0; j < in.n; j++)
            for (int k = 0; k < g->pending.n; k++) {
                const axe_touch *a = g->pending.item[k], *b = in.item[j];
                if (a->load && b->load && a->threads == at->threads &&
                    decide(g, at, a, b))
                    k = -1;
            }
    }
}

static void
sync_before(passing *g, const place *at)
{
    axe_list in = {.cx = g->p->cx};

    sync_stages(g, at, at->stmt->n_body, at->stmt->body);
    if (!gather_body(g, at->stmt->n_body, at->stmt->body, at, &in)) {
        pend_waits(g);
        return;
    }
    for (int i = 0; i < in.n; i++) {
        const axe_touch *b = in.item[i];
        for (int k = 0; k < g->pending.n; k++) {
            const axe_touch *a = g->pending.item[k];
            if (a->threads == at->threads && is_met_before(a, b, &in) &&
                decide(g, at, a, b))
                k = -1;
        }
    }
    pend_waits(g);
}

/* Tiles of one CTA are as apart in global memory as those of two are. */
static void
forget_globals(axe_list *l)
{
    int kept = 0;

    for (int i = 0; i < l->n; i++)
        if (!((const axe_touch *)l->item[i])->load)
            l->item[kept++] = l->item[i];
    l->n = kept;
}

/* What one iteration leaves behind is there when the next begins. */
static void
pass_loop(passing *g, const place *at, const axe_thread_group *threads,
          bool tiles)
{
    const axe_stmt *s = at->stmt;
    axe_list        in = copy_of(g, &g->pending);
    axe_list        left = g->left, skipped = g->skipped;
    bool            more = true;

    g->left = (axe_list){.cx = g->p->cx};
    while (more) {
        g->pending = copy_of(g, &in);
        g->skipped = (axe_list){.cx = g->p->cx};
        pass(g, s->n_body, s->body, at, threads);
        if (tiles)
            forget_globals(&g->pending);
        more = join(&in, &g->pending);
        more = join(&in, &g->skipped) || more;
    }
    join(&in, &g->left);
    g->pending = in;
    g->left = left;
    g->skipped = skipped;
}

/* Both ways, each from what was before; a ring that runs ahead does not fill
 * a stage in every iteration. */
static void
pass_apart(passing *g, const place *at, const axe_thread_group *threads)
{
    const axe_stmt *s = at->stmt;
    axe_list        in = copy_of(g, &g->pending), out;

    pass(g, s->n_body, s->body, at, threads);
    out = copy_of(g, &g->pending);
    g->pending = in;
    pass(g, s->n_other, s->other, at, threads);
    join(&g->pending, &out);
}

/* Behind it any entity of the scope around may have done what its entities
 * did. */
static void
widen(passing *g, const axe_thread_group *inner, const axe_thread_group *around)
{
    axe_list out = {.cx = g->p->cx};

    for (int i = 0; i < g->pending.n; i++) {
        axe_touch *t = axe_new(g->p->cx, axe_touch);
        *t = *(const axe_touch *)g->pending.item[i];
        if (axe_threads_is_within(t->threads, inner))
            t->threads = around;
        if (!knows(&out, t))
            axe_list_push(&out, t);
    }
    g->pending = out;
}

static void
pass_scope(passing *g, const place *at)
{
    const axe_stmt         *s = at->stmt;
    const axe_thread_group *inner = axe_threads_at(g->p->simt, s);
    axe_list                before = copy_of(g, &g->pending);
    place                   own = {s, at->threads, at->up, &before};

    pass(g, s->n_body, s->body, &own, inner);
    widen(g, inner, at->threads);
}

/* Side by side, each from what was before: a barrier of the threads around
 * stands before all of them, if at all. */
static void
pass_roles(passing *g, const place *at)
{
    const axe_stmt *s = at->stmt;
    axe_list        in, out = {.cx = g->p->cx};
    place           own = {s, at->threads, at->up, &in};

    sync_stages(g, at, s->n_body, s->body);
    in = copy_of(g, &g->pending);
    for (int i = 0; i < s->n_body; i++) {
        const axe_thread_group *inner = axe_threads_at(g->p->simt, s->body[i]);
        axe_stmt                loop = *s->body[i];
        place                   iteration = {&loop, inner, &own, NULL};
        g->pending = copy_of(g, &in);
        if (g->stay)
            pass_loop(g, &iteration, inner, true);
        else
            pass(g, loop.n_body, loop.body, &own, inner);
        widen(g, inner, at->threads);
        join(&out, &g->pending);
    }
    g->pending = out;
}

static void
pass_one(passing *g, const place *at)
{
    const axe_stmt *s = at->stmt;

    switch (s->kind) {
    case AXE_STMT_INDEX:
        pass_index(g, at);
        break;
    case AXE_STMT_SCOPE:
        pass_scope(g, at);
        break;
    case AXE_STMT_ROLES:
        pass_roles(g, at);
        break;
    case AXE_STMT_FOR:
    case AXE_STMT_LOOP:
        sync_before(g, at);
        pass_loop(g, at, at->threads, false);
        break;
    case AXE_STMT_CONSUME:
    case AXE_STMT_TURN:
        pass(g, s->n_body, s->body, at, at->threads);
        break;
    case AXE_STMT_BREAK:
        join(&g->left, &g->pending);
        g->pending.n = 0;
        break;
    case AXE_STMT_CONTINUE:
        join(&g->skipped, &g->pending);
        g->pending.n = 0;
        break;
    case AXE_STMT_PRODUCE:
        g->ahead = true;
        pass_apart(g, at, at->threads);
        g->ahead = false;
        break;
    case AXE_STMT_BARRIER:
        forget_threads(g, at->threads);
        break;
    default:
        pass_apart(g, at, at->threads);
    }
}

static void
pass(passing *g, int n, axe_stmt *const *body, const place *up,
     const axe_thread_group *threads)
{
    for (int i = 0; i < n; i++) {
        place at = {body[i], threads, up, NULL};
        pass_one(g, &at);
    }
}

/* Tiles live on where CTAs stay: what the last statements touched is there when
 * the next tile begins. */
static axe_status
pass_launch(axe_planner *p, const axe_simt_launch *l)
{
    passing  g = {.p = p,
                  .pending = {.cx = p->cx},
                  .waits = {.cx = p->cx},
                  .left = {.cx = p->cx},
                  .skipped = {.cx = p->cx},
                  .stay = l->scope->keys.persistent &&
                          axe_scope_is_of_roles(l->scope)};
    axe_stmt stay = *l->scope;
    place    at = {&stay, l->threads, NULL, NULL};

    stay.kind = AXE_STMT_FOR;
    if (l->scope->keys.persistent && !g.stay)
        pass_loop(&g, &at, l->threads, true);
    else
        pass(&g, l->scope->n_body, l->scope->body, NULL, l->threads);
    return g.status;
}

axe_status
axe_simt_plan_sync(axe_planner *p)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        AXE_TRY(pass_launch(p, &p->simt->launch[i]));
    return AXE_OK;
}
