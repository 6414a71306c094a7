/* pipeline_depth.c - how many stages a pipeline really has, and whether its
 * produces and consumes fit them.
 *
 * Where every produce is followed by its consume at once, one stage is enough:
 * caches and out-of-order cores need no deeper ring.  Else the ring is kept in
 * full, with a counter for the stage to fill next and one for the stage to read
 * next.  One role runs the statements in order, so how many stages are full is
 * known where loops have known counts, or leave as many full as they found; it
 * must never go below 0 or beyond what there is. */
#include <inttypes.h>
#include <string.h>

#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"

/* What statements do to the number of full stages: by how much it changes, and
 * the least and most on the way, against the beginning. */
typedef struct effect {
    int64_t change, least, most;
} effect;

typedef struct counter {
    axe_planner        *p;
    const axe_pipeline *ring;
} counter;

static bool
is_stage(const axe_stmt *s, const axe_pipeline *ring)
{
    return (s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
           s->pipeline == ring;
}

static bool
uses(int n, axe_stmt *const *body, const axe_pipeline *ring)
{
    for (int i = 0; i < n; i++)
        if (is_stage(body[i], ring) ||
            uses(body[i]->n_body, body[i]->body, ring) ||
            uses(body[i]->n_other, body[i]->other, ring))
            return true;
    return false;
}

/* Is every produce followed by its consume at once? */
static bool
paired(int n, axe_stmt *const *body, const axe_pipeline *ring)
{
    for (int i = 0; i < n; i++) {
        if (is_stage(body[i], ring)) {
            if (body[i]->kind != AXE_STMT_PRODUCE || i + 1 == n ||
                !is_stage(body[i + 1], ring) ||
                body[i + 1]->kind != AXE_STMT_CONSUME)
                return false;
            i++;
        } else if (!paired(body[i]->n_body, body[i]->body, ring) ||
                   !paired(body[i]->n_other, body[i]->other, ring))
            return false;
    }
    return true;
}

static int64_t
lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a, then b; false beyond int64. */
static bool
then(effect a, effect b, effect *out)
{
    int64_t least, most;

    if (!axe_add(a.change, b.least, &least) ||
        !axe_add(a.change, b.most, &most) ||
        !axe_add(a.change, b.change, &out->change))
        return false;
    out->least = lesser(a.least, least);
    out->most = greater(a.most, most);
    return true;
}

static axe_status
too_many(const counter *c, const axe_stmt *s)
{
    return axe_fail(c->p->cx, s->at, AXE_EOVERFLOW,
                    "pipeline %s is turned more often than int64 counts",
                    c->ring->name);
}

static axe_status
unknown(const counter *c, const axe_stmt *s, const char *what)
{
    axe_fail(c->p->cx, s->at, AXE_EUNSUPPORTED,
             "how many stages of %s are full is not known here: %s",
             c->ring->name, what);
    axe_help(c->p->cx, "produce and consume as often in each of them; reading "
                       "outside a tensor gives zero, so that a loop may "
                       "produce more than there is");
    return AXE_EUNSUPPORTED;
}

static axe_status effect_of(const counter *c, int n, axe_stmt *const *body,
                            effect *out);

/* `iterations` times what the body does. */
static axe_status
effect_of_loop(const counter *c, const axe_stmt *s, effect *out)
{
    effect  iteration, last;
    int64_t n;

    AXE_TRY(effect_of(c, s->n_body, s->body, &iteration));
    if (uses(s->n_body, s->body, c->ring) &&
        axe_leaves_iteration(s->n_body, s->body))
        return unknown(c, s, "`break` or `continue` leaves an iteration early");
    *out = iteration;
    if (iteration.change == 0)
        return AXE_OK;
    if (s->kind != AXE_STMT_FOR || !axe_is_iconst(s->var[0]->extent, &n))
        return unknown(c, s,
                       "the number of iterations is not a constant, and each "
                       "changes it");
    if (!axe_mul(iteration.change, n - 1, &last.change) ||
        !then((effect){last.change, 0, 0}, iteration, out))
        return too_many(c, s);
    out->least = lesser(out->least, iteration.least);
    out->most = greater(out->most, iteration.most);
    return AXE_OK;
}

static axe_status
effect_of_one(const counter *c, const axe_stmt *s, effect *out)
{
    effect body, other;

    *out = (effect){0};
    if (!is_stage(s, c->ring) && !uses(s->n_body, s->body, c->ring) &&
        !uses(s->n_other, s->other, c->ring))
        return AXE_OK;
    if (is_stage(s, c->ring)) {
        int64_t by = s->kind == AXE_STMT_PRODUCE ? 1 : -1;
        *out = (effect){by, lesser(by, 0), greater(by, 0)};
        return AXE_OK;
    }
    if (s->kind == AXE_STMT_SCOPE)
        return unknown(c, s, "each entity of a scope has a part in it");
    if (s->kind != AXE_STMT_IF && s->kind != AXE_STMT_PRODUCE &&
        s->kind != AXE_STMT_CONSUME && s->kind != AXE_STMT_TURN)
        return effect_of_loop(c, s, out);
    AXE_TRY(effect_of(c, s->n_body, s->body, &body));
    AXE_TRY(effect_of(c, s->n_other, s->other, &other));
    if (s->kind == AXE_STMT_IF && body.change != other.change)
        return unknown(c, s, "the two branches change it differently");
    *out = (effect){body.change, lesser(body.least, other.least),
                    greater(body.most, other.most)};
    return AXE_OK;
}

static axe_status
effect_of(const counter *c, int n, axe_stmt *const *body, effect *out)
{
    effect one;

    *out = (effect){0};
    for (int i = 0; i < n; i++) {
        AXE_TRY(effect_of_one(c, body[i], &one));
        if (!then(*out, one, out))
            return too_many(c, body[i]);
    }
    return AXE_OK;
}

/* Does it fit, where `full` stages are full at first? */
static bool
fits(const counter *c, effect e, int64_t full)
{
    return e.least >= -full && e.most <= c->ring->n_stage - full;
}

static axe_status
misfit(const counter *c, const axe_stmt *s, int64_t full)
{
    axe_ctx *cx = c->p->cx;

    if (s->kind == AXE_STMT_CONSUME) {
        axe_fail(cx, s->at, AXE_ESHAPE, "no stage of %s is full here",
                 c->ring->name);
        axe_help(cx, "produce before it, as often as it consumes");
        return AXE_ESHAPE;
    }
    axe_fail(cx, s->at, AXE_ESHAPE,
             "all %d stages of %s are full here: it is produced %" PRId64
             " times more than consumed",
             c->ring->n_stage, c->ring->name, full + 1);
    axe_help(cx, "consume before it, or give %s more stages", c->ring->name);
    return AXE_ESHAPE;
}

/* Of a loop that fits at first, but not to its end: how many iterations do. */
static int64_t
iterations_that_fit(const counter *c, effect iteration, int64_t full)
{
    if (iteration.change > 0)
        return (c->ring->n_stage - full - iteration.most) / iteration.change +
               1;
    return (full + iteration.least) / -iteration.change + 1;
}

/* Say which statement of the body does not fit. */
static axe_status
find_misfit(const counter *c, int n, axe_stmt *const *body, int64_t full)
{
    effect e, iteration;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        AXE_TRY(effect_of_one(c, s, &e));
        if (fits(c, e, full)) {
            full += e.change;
            continue;
        }
        if (is_stage(s, c->ring))
            return misfit(c, s, full);
        AXE_TRY(effect_of(c, s->n_body, s->body, &iteration));
        if (s->kind == AXE_STMT_FOR && fits(c, iteration, full))
            full += iteration.change * iterations_that_fit(c, iteration, full);
        AXE_TRY(find_misfit(c, s->n_body, s->body, full));
        return find_misfit(c, s->n_other, s->other, full);
    }
    return AXE_OK;
}

static const axe_var *
made_var(axe_planner *p, const axe_pipeline *ring, const char *what)
{
    axe_var *v = axe_new(p->cx, axe_var);

    *v = (axe_var){
        .kind = AXE_VAR_LOOP,
        .name = axe_textf(p->cx, "%s.%s", ring->name, what),
        .at = ring->at,
        .id = p->kernel->n_var,
    };
    return v;
}

void
axe_add_ring(axe_planner *p, axe_ring r)
{
    if (p->n_ring == p->cap_ring) {
        p->cap_ring = p->cap_ring ? 2 * p->cap_ring : 4;
        axe_ring *more = axe_new_array(p->cx, axe_ring, p->cap_ring);
        if (p->n_ring > 0)
            memcpy(more, p->ring, (size_t)p->n_ring * sizeof *more);
        p->ring = more;
    }
    p->ring[p->n_ring++] = r;
}

axe_status
axe_plan_ring(axe_planner *p, int n, axe_stmt *const *body)
{
    counter c = {p, body[0]->pipeline};
    effect  e;

    if (paired(n - 1, body + 1, c.ring)) {
        axe_add_ring(p, (axe_ring){.ring = c.ring, .n_stage = 1});
        return AXE_OK;
    }
    AXE_TRY(effect_of(&c, n - 1, body + 1, &e));
    if (!fits(&c, e, 0))
        return find_misfit(&c, n - 1, body + 1, 0);
    axe_add_ring(p, (axe_ring){
                        .ring = c.ring,
                        .n_stage = c.ring->n_stage,
                        .most = (int)e.most,
                        .left = (int)e.change,
                        .fill = made_var(p, c.ring, "fill"),
                        .read = made_var(p, c.ring, "read"),
                    });
    return AXE_OK;
}

static axe_status
plan_body(axe_planner *p, int n, axe_stmt *const *body)
{
    axe_status first = AXE_OK;

    for (int i = 0; i < n; i++) {
        axe_status st = AXE_OK;
        if (body[i]->kind == AXE_STMT_PIPELINE)
            st = axe_plan_ring(p, n - i, body + i);
        if (st == AXE_OK)
            st = plan_body(p, body[i]->n_body, body[i]->body);
        if (st == AXE_OK)
            st = plan_body(p, body[i]->n_other, body[i]->other);
        if (first == AXE_OK)
            first = st;
    }
    return first;
}

axe_status
axe_plan_rings(axe_planner *p)
{
    return plan_body(p, p->kernel->n_body, p->kernel->body);
}

const axe_ring *
axe_ring_of(int n, const axe_ring *list, const axe_pipeline *p)
{
    for (int i = 0; i < n; i++)
        if (list[i].ring == p)
            return &list[i];
    return NULL;
}

/* The innermost stage of the ring around s. */
static const axe_stmt *
stage_around(int n, axe_stmt *const *body, const axe_pipeline *ring,
             const axe_stmt *s, const axe_stmt *around)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *here = is_stage(body[i], ring) ? body[i] : around;
        const axe_stmt *found;
        if (body[i] == s)
            return here;
        found = stage_around(body[i]->n_body, body[i]->body, ring, s, here);
        if (!found)
            found =
                stage_around(body[i]->n_other, body[i]->other, ring, s, here);
        if (found)
            return found;
    }
    return NULL;
}

const axe_var *
axe_stage_of(const axe_planner *p, const axe_stmt *s, const axe_tensor *t)
{
    const axe_ring *r =
        t->pipeline ? axe_ring_of(p->n_ring, p->ring, t->pipeline) : NULL;
    const axe_stmt *stage;

    if (!r || r->n_stage == 1)
        return NULL;
    stage = stage_around(p->kernel->n_body, p->kernel->body, r->ring, s, NULL);
    return stage && stage->kind == AXE_STMT_CONSUME ? r->read : r->fill;
}
