/* plan.c - what the engines of one core can run; layouts of tiles, their
 * places, and the kind of each statement. */
#include <inttypes.h>
#include <limits.h>

#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/rewrite/interleave.h"
#include "plan/systolic/systolic.h"

typedef axe_status stmt_fn(axe_planner *p, axe_stmt *s);

static axe_status
each(axe_planner *p, int n, axe_stmt *const *body, stmt_fn *fn)
{
    for (int i = 0; i < n; i++) {
        AXE_TRY(fn(p, body[i]));
        AXE_TRY(each(p, body[i]->n_body, body[i]->body, fn));
        AXE_TRY(each(p, body[i]->n_other, body[i]->other, fn));
    }
    return AXE_OK;
}

static axe_status
refuse(axe_planner *p, axe_span at, const char *why, const char *help)
{
    axe_fail(p->cx, at, AXE_EUNSUPPORTED, "%s %s", p->mc->name, why);
    axe_help(p->cx, "%s", help);
    return AXE_EUNSUPPORTED;
}

static axe_status
check(axe_planner *p, axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
        return s->scope == AXE_SCOPE_CLUSTER
                   ? refuse(p, s->at, "has no clusters", "use cta")
                   : AXE_OK;
    case AXE_STMT_LOOP:
    case AXE_STMT_BREAK:
    case AXE_STMT_CONTINUE:
        return refuse(p, s->at,
                      "runs loops whose counts are known when the kernel is "
                      "made, and leaves none early",
                      "write a `for` over all iterations");
    case AXE_STMT_ROLES:
        return refuse(p, s->at,
                      "runs roles one after the other, for which no order was "
                      "found",
                      "write one loop that produces and consumes, as "
                      "kernels/gemm.axe does");
    case AXE_STMT_INDEX:
        if (s->atom)
            return refuse(p, s->at, "has no atom of another machine",
                          "leave `atom` away for this machine");
        if (s->prefix)
            return refuse(p, s->at, "has no running sums yet",
                          "compute it on another machine");
        return axe_is_scatter(p->cx, s)
                   ? refuse(p, s->at,
                            "writes no elements whose places are computed",
                            "run the kernel on another machine")
                   : AXE_OK;
    default:
        return AXE_OK;
    }
}

/* A ring's stage is filled, then read, in one list of statements: a tile has
 * one name in the trace, so that a second stage that is filled would be taken
 * for the first. */
static axe_status
check_rings(axe_planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i], *before = NULL, *after = NULL;
        AXE_TRY(check_rings(p, s->n_body, s->body));
        AXE_TRY(check_rings(p, s->n_other, s->other));
        if (s->kind != AXE_STMT_PRODUCE && s->kind != AXE_STMT_CONSUME)
            continue;
        for (int j = 0; j < n; j++) {
            bool ring = (body[j]->kind == AXE_STMT_PRODUCE ||
                         body[j]->kind == AXE_STMT_CONSUME) &&
                        body[j]->pipeline == s->pipeline;
            before = ring && j < i ? body[j] : before;
            after = ring && j > i && !after ? body[j] : after;
        }
        if (s->kind == AXE_STMT_PRODUCE
                ? !after || after->kind != AXE_STMT_CONSUME
                : !before || before->kind != AXE_STMT_PRODUCE)
            return refuse(
                p, s->at,
                "fills one stage of a pipeline at a time: a produce, "
                "then its consume, in the same loop",
                "leave stages that are filled ahead to it: write "
                "`produce`, then `consume`, as kernels/gemm.axe does; "
                "transfers run ahead by themselves");
    }
    return AXE_OK;
}

axe_status
axe_systolic_check(axe_planner *p)
{
    p->systolic = axe_new(p->cx, axe_systolic_plan);
    p->systolic->tile =
        axe_new_array(p->cx, axe_systolic_tile, p->kernel->n_tensor + 1);
    AXE_TRY(check_rings(p, p->kernel->n_body, p->kernel->body));
    return each(p, p->kernel->n_body, p->kernel->body, check);
}

/* ---------------------------------------------------------------- layouts */

static axe_status
declare(axe_planner *p, const axe_tensor *t, int stages)
{
    axe_systolic_tile *x = &p->systolic->tile[t->id];
    axe_type           compute;

    AXE_TRY(axe_compute_type(p->cx, p->mc, t->at, t->type, &compute));
    if (t->rank > AXE_SYSTOLIC_RANK)
        return refuse(p, t->at, "has tiles of at most 8 dimensions",
                      "declare it with fewer");
    *x = (axe_systolic_tile){.tensor = t, .stages = stages};
    x->part = t->rank >= 2 ? t->rank - 2 : t->rank - 1;
    for (int d = 0; d < t->rank; d++)
        if (!axe_is_iconst(t->shape[d], &x->extent[d]))
            return refuse(p, t->at, "wants tiles of constant extents",
                          "divide the kernel by constants");
    p->place[t->id] = (axe_place){
        .tensor = t, .type = t->type, .why = "rows over partitions"};
    return AXE_OK;
}

static axe_status
find_tiles(axe_planner *p, axe_stmt *s)
{
    if (s->kind == AXE_STMT_TENSOR && s->tensor->space != AXE_SPACE_GLOBAL)
        return declare(p, s->tensor, 1);
    if (s->kind == AXE_STMT_PIPELINE)
        for (int i = 0; i < s->pipeline->n_tensor; i++)
            AXE_TRY(declare(p, s->pipeline->tensor[i], s->pipeline->n_stage));
    return AXE_OK;
}

/* Is all that writes t a copy from global memory? */
typedef struct writers {
    const axe_tensor *t;
    bool              copies;
} writers;

static void
look_writers(writers *w, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX && s->dst->u.tensor == w->t) {
            const axe_node *from = axe_systolic_load(s->value);
            w->copies = w->copies && s->fold == AXE_FOLD_NONE && from &&
                        from->u.tensor->space == AXE_SPACE_GLOBAL;
        }
        look_writers(w, s->n_body, s->body);
        look_writers(w, s->n_other, s->other);
    }
}

static axe_status
vote(axe_planner *p, axe_stmt *s)
{
    axe_systolic_product pr;

    if (s->kind != AXE_STMT_INDEX ||
        !axe_systolic_is_product(p->cx, s, NULL, &pr))
        return AXE_OK;
    for (int f = 0; f < 2; f++) {
        const axe_tensor  *t = pr.factor[f]->u.tensor;
        axe_systolic_tile *x = &p->systolic->tile[t->id];
        writers            w = {t, true};
        if (!x->tensor)
            continue;
        x->factor = true;
        look_writers(&w, p->kernel->n_body, p->kernel->body);
        if (!w.copies)
            continue;
        x->part = axe_systolic_dim_of(p->cx, pr.factor[f], pr.k);
        x->fixed = true;
        p->place[t->id].why = axe_textf(
            p->cx, "sum index %s of a product over partitions", pr.k->name);
    }
    return AXE_OK;
}

/* ------------------------------------------- which tiles go side by side */

/* Tiles that a map reads or writes have the same index over partitions: that
 * of vectors, and never one that is folded. */
typedef struct side {
    axe_planner    *p;
    const axe_stmt *s;
    const axe_var  *part; /* over partitions in the statement */
    bool            sure; /* a vector, or a tile that is known, says so */
    bool            moved;
    bool           *known; /* by tensor id */
} side;

static axe_systolic_tile *
tile_of(const side *w, const axe_node *n)
{
    axe_systolic_tile *x =
        n->op == AXE_OP_load ? &w->p->systolic->tile[n->u.tensor->id] : NULL;

    return x && x->tensor ? x : NULL;
}

static void
find_side(void *user, const axe_node *n)
{
    side              *w = user;
    axe_systolic_tile *x = tile_of(w, n);

    if (!x || w->sure || x->part < 0 ||
        (x->tensor->rank > 1 && !w->known[x->tensor->id]))
        return;
    const axe_var *v = axe_just_index(n->arg[x->part]);
    if (v && axe_stmt_is_free(w->s, v)) {
        w->part = v;
        w->sure = true;
    }
}

static void
take_side(void *user, const axe_node *n)
{
    side              *w = user;
    axe_systolic_tile *x = tile_of(w, n);

    if (!x || w->known[x->tensor->id])
        return;
    for (int d = 0; d < x->tensor->rank; d++)
        if (axe_just_index(n->arg[d]) == w->part) {
            x->part = d;
            w->known[x->tensor->id] = w->moved = true;
            w->p->place[x->tensor->id].why =
                axe_textf(w->p->cx,
                          "%s over partitions, as what it is "
                          "computed with",
                          w->part->name);
            return;
        }
}

static void
align(side *w, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt      *s = body[i];
        axe_systolic_product pr;
        if (s->kind == AXE_STMT_INDEX &&
            !axe_systolic_is_product(w->p->cx, s, NULL, &pr)) {
            w->s = s;
            w->sure = false;
            find_side(w, s->dst);
            axe_node_walk(s->value, find_side, w);
            if (w->sure) {
                take_side(w, s->dst);
                axe_node_walk(s->value, take_side, w);
            }
        }
        align(w, s->n_body, s->body);
        align(w, s->n_other, s->other);
    }
}

/* Sums of products that begin as zeros where they are declared, and to which
 * nothing else is done but adding products. */
typedef struct adders {
    axe_planner      *p;
    const axe_tensor *t;
    const axe_stmt   *zero;
    bool              only;
    int               n;             /* that are executed for sure */
    int              behind, n_body; /* body[behind ..] is behind the product */
    axe_stmt *const *body;
} adders;

static bool
is_zero(const axe_stmt *s, const axe_tensor *t)
{
    return s->kind == AXE_STMT_INDEX && s->dst->u.tensor == t &&
           s->fold == AXE_FOLD_NONE && s->value->op == AXE_OP_fconst &&
           s->value->u.f == 0;
}

/* Behind its product, in the body that declares the tile, it may be changed. */
static bool
is_end(const adders *a, const axe_stmt *s)
{
    for (int i = a->behind; i < a->n_body; i++)
        if (axe_stmt_within(1, &a->body[i], s))
            return true;
    return false;
}

/* Does the statement write all of the tile, whatever it is? */
static bool
covers(const axe_stmt *s)
{
    for (int d = 0; d < s->dst->n_arg; d++)
        if (!axe_just_index(s->dst->arg[d]))
            return false;
    return true;
}

/* Has the loop an iteration in each launch whose arrays have elements? */
static bool
is_run(const axe_stmt *s)
{
    const axe_node *e = s->n_var == 1 ? s->var[0]->extent : NULL;
    int64_t         n;

    if (s->kind != AXE_STMT_FOR || !e)
        return s->kind == AXE_STMT_CONSUME;
    if (axe_is_iconst(e, &n))
        return n > 0;
    if (e->op == AXE_OP_cdiv)
        e = e->arg[0];
    return e->op == AXE_OP_var && e->u.var->kind == AXE_VAR_SIZE;
}

/* sure: all of this body is executed once at least. */
static void
look_adders(adders *a, int n, axe_stmt *const *body, bool sure)
{
    for (int i = 0; i < n; i++) {
        axe_stmt            *s = body[i];
        axe_systolic_product pr;
        if (s->kind == AXE_STMT_INDEX && s->dst->u.tensor == a->t &&
            s != a->zero) {
            bool adds = s->fold == AXE_FOLD_SUM && covers(s) &&
                        axe_systolic_is_product(a->p->cx, s, NULL, &pr);
            /* The first product, which begins the sum, is executed for sure. */
            a->only =
                a->only && adds != is_end(a, s) && (!adds || sure || a->n > 0);
            a->n += adds && sure;
        }
        bool inner = sure && is_run(s);
        look_adders(a, s->n_body, s->body, inner);
        look_adders(a, s->n_other, s->other, false);
    }
}

int
axe_systolic_banks_of(const axe_systolic_tile *x)
{
    int64_t row = 1;

    for (int d = 0; d < x->tensor->rank; d++)
        if (d != x->part)
            row *= x->extent[d];
    row = (x->extent[x->part] + AXE_SYSTOLIC_P - 1) / AXE_SYSTOLIC_P *
          ((row + AXE_SYSTOLIC_N - 1) / AXE_SYSTOLIC_N);
    return row < INT_MAX / 64 ? (int)row : INT_MAX / 64;
}

/* Is s the loop in which one product is added, each turn, and t is not used
 * otherwise? */
static bool
adds_in_loop(axe_planner *p, const axe_stmt *s, const axe_tensor *t)
{
    int n = 0;

    if (s->kind != AXE_STMT_FOR || !is_run(s))
        return false;
    for (int i = 0; i < s->n_body; i++) {
        axe_stmt            *x = s->body[i];
        axe_systolic_product pr;
        if (x->kind == AXE_STMT_CONSUME && x->n_body == 1)
            x = x->body[0];
        if (x->kind == AXE_STMT_INDEX && x->dst->u.tensor == t &&
            x->fold == AXE_FOLD_SUM && covers(x) &&
            axe_systolic_is_product(p->cx, x, NULL, &pr) &&
            !axe_node_reads(x->value, t))
            n++;
        else if (axe_stmt_reads(x, t) || axe_stmt_writes(x, t))
            return false;
    }
    return n == 1;
}

/* Where in body[n] the changes of t begin that are behind its product. */
static int
changes_of(axe_planner *p, int n, axe_stmt *const *body, const axe_tensor *t)
{
    int                  out = n;
    axe_systolic_product pr;

    for (int j = n - 1; j >= 0; j--) {
        if (body[j]->kind == AXE_STMT_INDEX && body[j]->dst->u.tensor == t &&
            axe_systolic_is_product(p->cx, body[j], NULL, &pr))
            return out;
        out = axe_stmt_writes(body[j], t) ? j : out;
    }
    return n;
}

/* body[i] declares a sum, and zeros follow: may they be left out? */
static void
place_sum(axe_planner *p, int n, axe_stmt *const *body, int i)
{
    const axe_tensor  *t = body[i]->tensor;
    axe_systolic_tile *x = &p->systolic->tile[t->id];
    adders a = {p, t, body[i + 1], true, 0, changes_of(p, n, body, t), n, body};
    int    banks = axe_systolic_banks_of(x);
    int    most = AXE_SYSTOLIC_BANKS - AXE_SYSTOLIC_SPARE;
    int    next = i + 2; /* behind declarations */

    while (next < n && (body[next]->kind == AXE_STMT_TENSOR ||
                        body[next]->kind == AXE_STMT_PIPELINE))
        next++;
    look_adders(&a, n - i, body + i, true);
    if (a.only && a.n > 0 && p->systolic->banks + banks <= most) {
        x->psum = true;
        p->systolic->banks += banks;
        p->place[t->id].why = "a sum of products stays in PSUM";
    } else if (next < n && adds_in_loop(p, body[next], t)) {
        x->first = body[next]->var[0];
        p->place[t->id].why = "a sum of products, begun by the first";
    } else
        return;
    x->zero = body[i + 1];
}

static void
look_sums(axe_planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_tensor *t =
            body[i]->kind == AXE_STMT_TENSOR ? body[i]->tensor : NULL;
        if (t && t->space != AXE_SPACE_GLOBAL && t->rank == 2 &&
            t->type == AXE_TYPE_f32 && i + 1 < n &&
            !p->systolic->tile[t->id].factor && is_zero(body[i + 1], t))
            place_sum(p, n, body, i);
        look_sums(p, body[i]->n_body, body[i]->body);
        look_sums(p, body[i]->n_other, body[i]->other);
    }
}

/* Strides along a partition, and the layout as text. */
static axe_status
lay_out(axe_planner *p, axe_systolic_tile *x)
{
    const axe_tensor *t = x->tensor;
    axe_buf           ext = {.cx = p->cx}, str = {.cx = p->cx};
    int64_t           row = 1;
    axe_place        *pl = &p->place[t->id];

    x->n_part = 1;
    x->blocks = 1;
    for (int d = t->rank - 1; d >= 0; d--)
        if (d != x->part) {
            x->stride[d] = row;
            row *= x->extent[d];
        }
    if (x->psum)
        row = (row + AXE_SYSTOLIC_N - 1) / AXE_SYSTOLIC_N * AXE_SYSTOLIC_N;
    if (x->part >= 0) {
        int64_t e = x->extent[x->part];
        x->n_part = e < AXE_SYSTOLIC_P ? e : AXE_SYSTOLIC_P;
        x->blocks = (e + AXE_SYSTOLIC_P - 1) / AXE_SYSTOLIC_P;
        x->stride[x->part] = row;
    }
    x->size = row * x->blocks;
    x->bytes = (axe_type_bytes(t->type, x->size) + 3) / 4 * 4;
    for (int d = 0; d < t->rank; d++) {
        const char *sep = d > 0 ? ", " : "";
        if (d != x->part) {
            axe_putf(&ext, "%s%" PRId64, sep, x->extent[d]);
            axe_putf(&str, "%s%" PRId64 "@F", sep, x->stride[d]);
        } else if (x->blocks > 1) {
            axe_putf(&ext, "%s%" PRId64 ", %" PRId64, sep, x->blocks,
                     x->n_part);
            axe_putf(&str, "%s%" PRId64 "@F, 1@P", sep, row);
        } else {
            axe_putf(&ext, "%s%" PRId64, sep, x->n_part);
            axe_putf(&str, "%s1@P", sep);
        }
    }
    if (t->rank == 0) {
        axe_puts(&ext, "1");
        axe_puts(&str, "1@F");
    }
    return axe_layout_read(p->cx,
                           axe_textf(p->cx, "(%s) : (%s)", ext.text, str.text),
                           &pl->layout);
}

axe_status
axe_systolic_choose_layouts(axe_planner *p)
{
    AXE_TRY(each(p, p->kernel->n_body, p->kernel->body, find_tiles));
    AXE_TRY(each(p, p->kernel->n_body, p->kernel->body, vote));
    side w = {.p = p};
    w.known = axe_new_array(p->cx, bool, p->kernel->n_tensor + 1);
    for (int i = 0; i < p->kernel->n_tensor; i++)
        w.known[i] = p->systolic->tile[i].fixed;
    do {
        w.moved = false;
        align(&w, p->kernel->n_body, p->kernel->body);
    } while (w.moved);
    look_sums(p, p->kernel->n_body, p->kernel->body);
    for (int i = 0; i < p->kernel->n_tensor; i++)
        if (p->systolic->tile[i].tensor)
            AXE_TRY(lay_out(p, &p->systolic->tile[i]));
    return AXE_OK;
}

/* --------------------------------------------------------------- schedules */

static axe_status
schedule(axe_planner *p, axe_stmt *s)
{
    axe_systolic_product pr;
    axe_schedule        *out;
    axe_nest            *nest;

    if (s->kind != AXE_STMT_INDEX)
        return AXE_OK;
    out = axe_new(p->cx, axe_schedule);
    nest = axe_new(p->cx, axe_nest);
    *nest = (axe_nest){.n_dim = s->n_dim, .dim = s->dim, .lanes = 1};
    *out = (axe_schedule){.stmt = s,
                          .kind = AXE_SCHED_MAP,
                          .value = s->value,
                          .n_nest = 1,
                          .nest = nest,
                          .bytes = -1};
    if (axe_systolic_is_product(p->cx, s, p->systolic->tile, &pr))
        out->kind = AXE_SCHED_CONTRACT;
    p->schedule[s->id] = out;
    return AXE_OK;
}

axe_status
axe_systolic_schedule_all(axe_planner *p)
{
    return each(p, p->kernel->n_body, p->kernel->body, schedule);
}
