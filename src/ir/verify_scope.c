/* verify_scope.c - scopes with their keys, and roles: are they of threads that
 * there are, and do pipelines lead from one role to those behind it?
 *
 * The roles of a `roles` have disjoint threads.  Where a pipeline is filled in
 * one role and read in others, each of its entities fills its part of every
 * stage, each entity that reads reads every stage, and stages come in the order
 * in which they were filled; so that running the roles one after the other,
 * with as many stages as it takes, computes the same as running them side by
 * side. */
#include <inttypes.h>

#include "ir/verify_int.h"

/* ------------------------------------------------------------------ threads */

/* Threads of an entity of a cta's scopes. */
static int64_t
threads_of(const axe_ctx *cx, axe_scope_kind scope)
{
    int64_t n = 1;

    if (scope != AXE_SCOPE_THREAD &&
        !axe_scope_nests(cx, NULL, scope, AXE_SCOPE_THREAD, &n))
        return 1;
    return n > 0 ? n : 1;
}

typedef struct threads {
    int64_t first, end;
} threads;

/* Those of its outer scope that run s; false unless it has one range of numbers
 * that are known. */
static bool
range_of(const axe_ctx *cx, const axe_stmt *s, threads *out)
{
    int64_t n, unit = threads_of(cx, s->scope),
               first = s->first ? s->first[0] : 0;

    return s->n_var == 1 && s->var[0]->extent &&
           axe_is_iconst(s->var[0]->extent, &n) && n >= 1 && first >= 0 &&
           axe_add(first, n, &n) && axe_mul(first, unit, &out->first) &&
           axe_mul(n, unit, &out->end);
}

/* How many threads there are around s; 0: not said. */
static int64_t
threads_around(const axe_ctx *cx, const axe_stmt *outer)
{
    if (outer->scope < AXE_SCOPE_CTA)
        return 0;
    return outer->scope == AXE_SCOPE_CTA ? outer->keys.threads
                                         : threads_of(cx, outer->scope);
}

static axe_status
check_fits(axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer)
{
    int64_t    have = threads_around(cx, outer);
    threads    t;
    axe_status st;

    if (s->scope <= AXE_SCOPE_CTA || have == 0 || !range_of(cx, s, &t) ||
        t.end <= have)
        return AXE_OK;
    st = axe_fail(cx, s->at, AXE_ESHAPE,
                  "this needs threads up to %" PRId64 " of a %s that has "
                  "%" PRId64,
                  t.end, axe_scope_name(outer->scope), have);
    axe_note(cx, outer->at, "it is in this scope");
    return st;
}

/* --------------------------------------------------------------------- keys */

static axe_status
check_order(axe_ctx *cx, const axe_stmt *s)
{
    const axe_scope_keys *k = &s->keys;

    if (k->dynamic && !k->persistent)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "`dynamic` is how ctas that stay take their tiles: "
                        "write `cta persistent`");
    if (k->group == 0 && !k->hilbert)
        return AXE_OK;
    if (k->group > 0 && k->hilbert)
        return axe_fail(cx, s->at, AXE_ENAME,
                        "`group` and `hilbert` are two orders; give one");
    if (s->n_var != 2)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "`%s` orders tiles of 2 ranges, and here are %d",
                        k->hilbert ? "hilbert" : "group", s->n_var);
    if (k->cluster > 1 && k->group % k->cluster != 0)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "a group of %d tiles cuts clusters of %d", k->group,
                        k->cluster);
    return AXE_OK;
}

static axe_status
check_entities(axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer)
{
    int64_t n, e;

    if (outer && !axe_scope_nests(cx, NULL, outer->scope, s->scope, &n))
        return axe_fail(cx, s->at, AXE_ESHAPE, "a `%s` holds no scope `%s`",
                        axe_scope_name(outer->scope), axe_scope_name(s->scope));
    for (int i = 0; i < s->n_var; i++)
        if ((s->scope > AXE_SCOPE_CTA || s->first) && s->var[i]->extent &&
            (!axe_is_iconst(s->var[i]->extent, &e) ||
             (s->first && (s->first[i] < 0 || !axe_add(s->first[i], e, &e)))))
            return axe_fail(cx, s->at, AXE_ESHAPE,
                            "which entities of `%s` run must be known at "
                            "compile time",
                            axe_scope_name(s->scope));
    return AXE_OK;
}

axe_status
axe_scope_verify(axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer,
                 bool role)
{
    const axe_scope_keys *k = &s->keys;

    if (outer && s->scope == AXE_SCOPE_CTA && (k->cluster > 1 || k->persistent))
        return axe_fail(cx, s->at, AXE_EUNSUPPORTED,
                        "only ctas that are in no other scope persist or form "
                        "clusters");
    if (outer && k->deterministic)
        return axe_fail(cx, s->at, AXE_EUNSUPPORTED,
                        "`deterministic` is said of a cta that is in no other "
                        "scope: here entities of the `%s` around it meet, too",
                        axe_scope_name(outer->scope));
    if (k->registers > 0 && s->scope != AXE_SCOPE_CTA && !role)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "`registers` is said of a cta or of a role, not of a "
                        "`%s` that is neither",
                        axe_scope_name(s->scope));
    AXE_TRY(check_order(cx, s));
    AXE_TRY(check_entities(cx, s, outer));
    return outer ? check_fits(cx, s, outer) : AXE_OK;
}

/* -------------------------------------------------------------------- tiles */

axe_status
axe_tmem_verify(axe_ctx *cx, const axe_tensor *t, const axe_stmt *outer)
{
    int        bits = axe_type_table[t->type].bits;
    axe_status st;

    if (t->space != AXE_SPACE_TMEM)
        return AXE_OK;
    if (!outer || outer->scope != axe_space_table[t->space].owner) {
        st = axe_fail(cx, t->at, AXE_ESHAPE,
                      "`%s` lies in tensor memory, which is a cta's", t->name);
        axe_help(cx, "declare it in the cta, or in a pipeline of the cta");
        return st;
    }
    if (bits == 32 || bits == 16 || (bits == 8 && axe_type_is_float(t->type)))
        return AXE_OK;
    return axe_fail(cx, t->at, AXE_ETYPE,
                    "`%s` is of %s; tensor memory holds elements of 32 and 16 "
                    "bits, and scales of 8",
                    t->name, axe_type_table[t->type].name);
}

/* ---------------------------------------------------------------- pipelines */

const axe_stmt *
axe_stage_find(const axe_stmt *s, const axe_pipeline *p, axe_stmt_kind kind)
{
    const axe_stmt *found = NULL;

    if (s->kind == kind && (!p || s->pipeline == p))
        return s;
    for (int i = 0; i < s->n_body && !found; i++)
        found = axe_stage_find(s->body[i], p, kind);
    for (int i = 0; i < s->n_other && !found; i++)
        found = axe_stage_find(s->other[i], p, kind);
    return found;
}

/* p, which role `by` of s fills, leads to those behind it only. */
static axe_status
check_flow(axe_ctx *cx, const axe_stmt *s, int by, const axe_stmt *fill)
{
    const axe_pipeline *p = fill->pipeline;
    bool                own = axe_stage_find(s->body[by], p, AXE_STMT_CONSUME);
    const axe_stmt     *use;
    axe_status          st;

    for (int i = 0; i < s->n_body; i++) {
        if (i == by)
            continue;
        if ((use = axe_stage_find(s->body[i], p, AXE_STMT_PRODUCE)))
            st = axe_fail(cx, use->at, AXE_EUNSUPPORTED,
                          "`%s` is filled in two roles; fill it in one",
                          p->name);
        else if (!(use = axe_stage_find(s->body[i], p, AXE_STMT_CONSUME)))
            continue;
        else if (own)
            st = axe_fail(cx, use->at, AXE_EUNSUPPORTED,
                          "`%s` is read here and in the role that fills it; "
                          "use two pipelines",
                          p->name);
        else if (i < by) {
            st = axe_fail(cx, use->at, AXE_ESHAPE,
                          "this role reads `%s`, which a role behind it fills",
                          p->name);
            axe_help(cx, "write the role that fills it first");
        } else
            continue;
        axe_note(cx, fill->at, "it is filled here");
        return st;
    }
    return AXE_OK;
}

/* Every pipeline that is filled somewhere in role `by`. */
static axe_status
check_flows(axe_ctx *cx, const axe_stmt *s, int by, const axe_stmt *at)
{
    axe_status st = AXE_OK;

    if (at->kind == AXE_STMT_PRODUCE)
        AXE_TRY(check_flow(cx, s, by, at));
    for (int i = 0; i < at->n_body && st == AXE_OK; i++)
        st = check_flows(cx, s, by, at->body[i]);
    for (int i = 0; i < at->n_other && st == AXE_OK; i++)
        st = check_flows(cx, s, by, at->other[i]);
    return st;
}

/* -------------------------------------------------------------------- roles */

static axe_status
check_role(axe_ctx *cx, const axe_stmt *s, int at)
{
    const axe_stmt *role = s->body[at];
    threads         t, other;
    axe_status      st;

    if (role->kind != AXE_STMT_SCOPE || role->scope <= AXE_SCOPE_CTA)
        return axe_fail(cx, role->at, AXE_ESYNTAX,
                        "`roles` holds scopes of a cta's threads, one for each "
                        "role");
    if (!range_of(cx, role, &t))
        return axe_fail(cx, role->at, AXE_ESHAPE,
                        "a role has one range of entities, known at compile "
                        "time");
    for (int i = 0; i < at; i++) {
        if (!range_of(cx, s->body[i], &other) || t.first >= other.end ||
            other.first >= t.end)
            continue;
        st = axe_fail(cx, role->at, AXE_ESHAPE,
                      "threads %" PRId64 " to %" PRId64 " have two roles",
                      t.first > other.first ? t.first : other.first,
                      (t.end < other.end ? t.end : other.end) - 1);
        axe_note(cx, s->body[i]->at, "this is the other one");
        return st;
    }
    return AXE_OK;
}

axe_status
axe_roles_verify(axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer)
{
    if (!outer || outer->scope < AXE_SCOPE_CTA)
        return axe_fail(cx, s->at, AXE_ESHAPE,
                        "`roles` stands in a cta, whose threads they divide");
    if (s->n_body == 0)
        return axe_fail(cx, s->at, AXE_ESHAPE, "`roles` holds no role");
    for (int i = 0; i < s->n_body; i++)
        AXE_TRY(check_role(cx, s, i));
    for (int i = 0; i < s->n_body; i++)
        AXE_TRY(check_flows(cx, s, i, s->body[i]));
    return AXE_OK;
}

bool
axe_scope_is_of_roles(const axe_stmt *s)
{
    bool any = false;

    for (int i = 0; i < s->n_body; i++) {
        axe_stmt_kind k = s->body[i]->kind;
        any = any || k == AXE_STMT_ROLES;
        if (k != AXE_STMT_PIPELINE && k != AXE_STMT_TENSOR &&
            k != AXE_STMT_ROLES)
            return false;
    }
    return any;
}

/* The first thread that has no role, of those there are. */
bool
axe_roles_gap(const axe_ctx *cx, const axe_stmt *s, const axe_stmt *outer,
              int64_t *first, int64_t *n_thread)
{
    int64_t at = 0;
    bool    moved = true;
    threads t;

    *n_thread = threads_around(cx, outer);
    for (int i = 0; i < s->n_body; i++)
        if (range_of(cx, s->body[i], &t) && t.end > *n_thread)
            *n_thread = t.end;
    while (moved) {
        moved = false;
        for (int i = 0; i < s->n_body; i++)
            if (range_of(cx, s->body[i], &t) && t.first <= at && at < t.end) {
                at = t.end;
                moved = true;
            }
    }
    *first = at;
    return at < *n_thread;
}
