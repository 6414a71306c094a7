/* thread_group.c - who runs the statements of each scope, and holds tiles. */
#include <inttypes.h>
#include <string.h>

#include "ir/scope_axes.h"
#include "plan/plan_int.h"
#include "plan/simt/team/team.h"

static axe_status
count_entities(axe_planner *p, const axe_stmt *s, int64_t *out)
{
    int64_t n = 1, e;

    for (int i = 0; i < s->n_var; i++)
        if (!axe_is_iconst(s->var[i]->extent, &e) || !axe_mul(n, e, &n) ||
            n > INT32_MAX)
            return axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                            "on %s the number of entities of a scope in a cta "
                            "must be a constant; this one is %s",
                            p->mc->name,
                            axe_node_text(p->cx, s->var[i]->extent));
    *out = n;
    return AXE_OK;
}

static int64_t
first_of(const axe_stmt *s)
{
    return s->first && s->n_var == 1 ? s->first[0] : 0;
}

/* The threads that scopes directly in the body take: 0: none says. */
static axe_status
threads_needed(axe_planner *p, int n, axe_stmt *const *body, int64_t *most)
{
    for (int i = 0; i < n; i++) {
        int64_t k;
        if (body[i]->kind == AXE_STMT_SCOPE) {
            AXE_TRY(count_entities(p, body[i], &k));
            k = (k + first_of(body[i])) *
                axe_simt_threads_of(p->mc->simt, body[i]->scope);
            *most = *most > k ? *most : k;
            continue;
        }
        AXE_TRY(threads_needed(p, body[i]->n_body, body[i]->body, most));
        AXE_TRY(threads_needed(p, body[i]->n_other, body[i]->other, most));
    }
    return AXE_OK;
}

/* The same of the scope as it was written: of a nest that is one statement now,
 * the number of its threads is kept. */
static axe_status
threads_written(axe_planner *p, const axe_stmt *s, int n, axe_stmt *const *body,
                int64_t *most)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *w = body[i];
        if (w->kind == AXE_STMT_SCOPE && w->scope == s->scope &&
            w->at.source == s->at.source && w->at.line == s->at.line &&
            w->at.col == s->at.col)
            return threads_needed(p, w->n_body, w->body, most);
        AXE_TRY(threads_written(p, s, w->n_body, w->body, most));
    }
    return AXE_OK;
}

/* Threads of a CTA: named, else what scopes in it take, else the machine's
 * usual number; whole warps. */
static axe_status
cta_threads(axe_planner *p, const axe_stmt *s, int *out)
{
    const axe_simt *m = p->mc->simt;
    int64_t         n = s->keys.threads;

    if (n == 0)
        AXE_TRY(
            threads_written(p, s, p->written->n_body, p->written->body, &n));
    if (n == 0)
        n = m->threads;
    n = (n + m->lanes - 1) / m->lanes * m->lanes;
    if (n > m->max_threads)
        return axe_fail(p->cx, s->at, AXE_ELIMIT,
                        "this cta takes %" PRId64
                        " threads; one of %s has at most %d",
                        n, p->mc->name, m->max_threads);
    *out = (int)n;
    return AXE_OK;
}

static axe_thread_group *
add_group(axe_planner *p, axe_thread_group threads)
{
    axe_simt_plan    *sp = p->simt;
    axe_thread_group *c = axe_new(p->cx, axe_thread_group);

    if (sp->n_group == sp->cap_group) {
        int                cap = sp->cap_group ? 2 * sp->cap_group : 8;
        axe_thread_group **list = axe_new_array(p->cx, axe_thread_group *, cap);
        if (sp->n_group > 0)
            memcpy(list, sp->group, (size_t)sp->n_group * sizeof *list);
        sp->group = list;
        sp->cap_group = cap;
    }
    *c = threads;
    sp->group[sp->n_group++] = c;
    return c;
}

/* A warp needs no named barrier; others have one of their own. */
static int
take_barriers(axe_planner *p, const axe_thread_group *c)
{
    int first = p->simt->n_barrier;

    if (c->n_thread <= p->mc->simt->lanes)
        return -1;
    p->simt->n_barrier += c->n_entity;
    return first;
}

/* One barrier for each entity, where it waits for the one before. */
static int
take_turns(axe_planner *p, const axe_thread_group *c)
{
    int first = p->simt->n_barrier;

    if (c->n_entity < 2 || !axe_scope_has_turns(c->at))
        return -1;
    p->simt->n_barrier += c->n_entity * (int)axe_threads_copies(c->in);
    return first;
}

static axe_status
make_group(axe_planner *p, const axe_stmt *s, const axe_thread_group *in,
           axe_thread_group **out)
{
    axe_thread_group c = {
        .scope = s->scope,
        .n_entity = 1,
        .registers = s->keys.registers,
        .turn = -1,
        .at = s,
        .in = in,
    };
    int64_t n, end;

    if (!in) {
        AXE_TRY(cta_threads(p, s, &c.n_thread));
        p->simt->n_barrier = 1;
        *out = add_group(p, c);
        return AXE_OK;
    }
    AXE_TRY(count_entities(p, s, &n));
    c.n_entity = (int)n;
    c.n_thread = axe_simt_threads_of(p->mc->simt, s->scope);
    end = (n + first_of(s)) * c.n_thread;
    if (end > in->n_thread)
        return axe_fail(p->cx, s->at, AXE_ESHAPE,
                        "this scope ends at thread %" PRId64
                        "; the %s around it has %d",
                        end, axe_scope_name(in->scope), in->n_thread);
    c.first = (int)first_of(s) * c.n_thread;
    c.barrier = take_barriers(p, &c);
    c.turn = take_turns(p, &c);
    *out = add_group(p, c);
    return AXE_OK;
}

static void
add_launch(axe_planner *p, const axe_stmt *s, const axe_thread_group *c)
{
    axe_simt_plan *sp = p->simt;

    if (sp->n_launch == sp->cap_launch) {
        int              cap = sp->cap_launch ? 2 * sp->cap_launch : 4;
        axe_simt_launch *list = axe_new_array(p->cx, axe_simt_launch, cap);
        if (sp->n_launch > 0)
            memcpy(list, sp->launch, (size_t)sp->n_launch * sizeof *list);
        sp->launch = list;
        sp->cap_launch = cap;
    }
    sp->launch[sp->n_launch++] = (axe_simt_launch){.scope = s, .threads = c};
}

static axe_status
note_body(axe_planner *p, int n, axe_stmt *const *body, axe_thread_group *in)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt   *s = body[i];
        axe_thread_group *c = in;
        if (s->kind == AXE_STMT_SCOPE) {
            AXE_TRY(make_group(p, s, in, &c));
            if (!in)
                add_launch(p, s, c);
        }
        if (s->kind == AXE_STMT_INDEX)
            p->simt->who[s->id] = in;
        if (s->kind == AXE_STMT_TENSOR)
            p->simt->owner[s->tensor->id] = in;
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            p->simt->owner[s->pipeline->tensor[k]->id] = in;
        AXE_TRY(note_body(p, s->n_body, s->body, c));
        AXE_TRY(note_body(p, s->n_other, s->other, c));
    }
    return AXE_OK;
}

axe_status
axe_simt_find_axes(axe_ctx *cx, const axe_machine *mc, axe_simt_plan *sp)
{
    const struct {
        axe_scope_kind counts, within;
        axe_axis      *out;
    } axis[] = {{AXE_SCOPE_THREAD, AXE_SCOPE_WARP, &sp->lane},
                {AXE_SCOPE_WARP, AXE_SCOPE_CTA, &sp->warp},
                {AXE_SCOPE_WARP, AXE_SCOPE_WARPGROUP, &sp->wid},
                {AXE_SCOPE_CTA, AXE_SCOPE_CLUSTER, &sp->cta}};

    for (int i = 0; i < AXE_LEN(axis); i++)
        AXE_TRY(axe_scope_axis_find(cx, axis[i].counts, axis[i].within,
                                    axis[i].out));
    for (int i = 0; i < AXE_N_SPACE; i++) {
        const axe_space_row *s = axe_machine_space(mc, (axe_space)i);
        sp->space[i] = s;
        sp->slow[i] = -1;
        if (s->slow)
            AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, s->slow, &sp->slow[i]));
        AXE_TRY(axe_axis_find(cx, AXE_NOWHERE, s->fast, &sp->fast[i]));
    }
    sp->reg = sp->fast[AXE_SPACE_REG];
    sp->tlane = sp->slow[AXE_SPACE_TMEM];
    sp->tcol = sp->fast[AXE_SPACE_TMEM];
    return AXE_OK;
}

axe_status
axe_simt_find_groups(axe_planner *p)
{
    axe_simt_plan    *sp = p->simt;
    const axe_kernel *k = p->kernel;

    sp->lanes = p->mc->simt->lanes;
    AXE_TRY(axe_simt_find_axes(p->cx, p->mc, sp));
    sp->owner = axe_new_array(p->cx, const axe_thread_group *, k->n_tensor + 1);
    sp->open = axe_new_array(p->cx, bool, k->n_tensor + 1);
    sp->engine = axe_new_array(p->cx, const char *, k->n_tensor + 1);
    sp->who = axe_new_array(p->cx, axe_thread_group *, k->n_index_stmt + 1);
    sp->of = axe_new_array(p->cx, axe_simt_schedule *, k->n_index_stmt + 1);
    return note_body(p, k->n_body, k->body, NULL);
}

const axe_thread_group *
axe_threads_cta(const axe_thread_group *c)
{
    while (c->in)
        c = c->in;
    return c;
}

bool
axe_threads_is_within(const axe_thread_group *c, const axe_thread_group *outer)
{
    while (c && c != outer)
        c = c->in;
    return c == outer;
}

int64_t
axe_threads_copies(const axe_thread_group *c)
{
    int64_t n = 1;

    for (; c->in; c = c->in)
        n *= c->n_entity;
    return n;
}

int
axe_sync_point_arrivals(const axe_sync_point *m)
{
    int sum = 0;

    for (int i = 0; i < m->n_issuer; i++) {
        int n = 1;
        for (const axe_thread_group *c = m->issuer[i]; c != m->threads;
             c = c->in)
            n *= c->n_entity;
        sum += n;
    }
    return sum;
}

const axe_node *
axe_threads_number(axe_ctx *cx, const axe_thread_group *c)
{
    const axe_node *n;

    if (!c->in)
        return axe_index_const(cx, 0);
    n = axe_threads_number(cx, c->in);
    for (int i = 0; i < c->at->n_var; i++)
        n = axe_node2(cx, AXE_OP_add,
                      axe_node2(cx, AXE_OP_mul, n, c->at->var[i]->extent),
                      axe_var_node(cx, AXE_NOWHERE, c->at->var[i]));
    return n;
}

const axe_thread_group *
axe_threads_at(const axe_simt_plan *sp, const axe_stmt *s)
{
    for (int i = 0; i < sp->n_group; i++)
        if (sp->group[i]->at == s)
            return sp->group[i];
    return NULL;
}

int
axe_threads_axes(const axe_simt_plan *sp, const axe_thread_group *c,
                 axe_iter out[2])
{
    int lanes = sp->lanes, n = 0;

    if (c->n_thread > lanes)
        out[n++] = (axe_iter){c->n_thread / lanes, 1,
                              c->in ? sp->wid : sp->warp, AXE_UNIT_ONE};
    if (c->n_thread > 1)
        out[n++] = (axe_iter){lanes, 1, sp->lane, AXE_UNIT_ONE};
    return n;
}
