/* infer.c - layouts of register tiles that no contraction gave one.
 *
 * Where a statement has a register operand with a layout, its work follows, and
 * so do open tiles in it: each thread keeps what it computes, and reads what it
 * has.  That goes on until nothing follows any more.  Then, of the statements
 * that fill the first open tile that more than constants fill, the one that
 * does most is distributed to threads as if the tile were not there, and so on;
 * those that nothing but constants fill come last. */
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/simt_int.h"
#include "plan/simt/team/team.h"

typedef struct inferring {
    axe_planner    *p;
    const axe_stmt *s;
    axe_request     r;
    axe_work        work;
    bool            any; /* some tile got its layout */
} inferring;

static bool
is_open(const inferring *x, const axe_operand *op)
{
    const axe_simt_plan *sp = x->p->simt;

    return op->tensor->space == AXE_SPACE_REG && sp->open[op->tensor->id] &&
           sp->owner[op->tensor->id] == sp->who[x->s->id];
}

/* Has a register operand a layout or, if `open`, is one still without? */
static bool
has(const inferring *x, bool open)
{
    for (int i = 0; i < x->r.n_operand; i++) {
        const axe_operand *op = &x->r.operand[i];
        if (open ? is_open(x, op)
                 : op->tensor->space == AXE_SPACE_REG && op->tensor->rank > 0 &&
                       !x->p->simt->open[op->tensor->id])
            return true;
    }
    return false;
}

static void
settle(inferring *x, const axe_operand *op)
{
    const axe_layout *l;
    axe_mark          m = axe_ctx_mark(x->p->cx);

    if (!axe_simt_project(x->p, &x->work, op->load, &l)) {
        axe_ctx_release(x->p->cx, m);
        return;
    }
    axe_simt_settle(x->p, op->tensor, l,
                    axe_textf(x->p->cx,
                              "auto: as the threads of statement %d %s it",
                              x->s->id, op == x->r.operand ? "make" : "read"));
    x->any = true;
}

/* From what the layout of an open tile is taken, the best first: a statement
 * with another register operand that has a layout; one that fills the tile from
 * memory; one that fills it with a constant. */
typedef enum stage { FOLLOW, FILL, CLEAR, N_STAGE } stage;

static bool
speaks(const inferring *x, stage at)
{
    bool fills = is_open(x, &x->r.operand[0]);

    switch (at) {
    case FOLLOW:
        return has(x, false) && has(x, true);
    case FILL:
        return fills && x->r.n_operand > 1;
    default:
        return fills;
    }
}

/* Iterations assumed for an extent that is known at launch only. */
enum { UNKNOWN = 1 << 10 };

static double
iterations_of(const axe_node *extent)
{
    int64_t e;

    return axe_is_iconst(extent, &e) ? (double)e : UNKNOWN;
}

static void
count_iterations(void *points, const axe_node *n)
{
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        *(double *)points *= iterations_of(n->u.reduce.extent[i]);
}

/* How often the statement's value is computed, if the loops around it have so
 * many iterations. */
static double
points_of(const axe_stmt *s, double iterations)
{
    for (int i = 0; i < s->n_dim; i++)
        iterations *= iterations_of(s->dim[i].extent);
    axe_node_walk(s->value, count_iterations, &iterations);
    return iterations;
}

/* The statement that fills the tile and computes the most values. */
typedef struct filler {
    const axe_tensor *tile;
    double            points;
    const axe_stmt   *s;
} filler;

static void
find_filler(filler *x, int n, axe_stmt *const *body, double iterations)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        bool            loop = s->kind == AXE_STMT_FOR;
        if (s->kind == AXE_STMT_INDEX && s->dst->u.tensor == x->tile &&
            points_of(s, iterations) > x->points)
            *x = (filler){x->tile, points_of(s, iterations), s};
        double in =
            loop ? iterations * iterations_of(s->var[0]->extent) : iterations;
        find_filler(x, s->n_body, s->body, in);
        find_filler(x, s->n_other, s->other, in);
    }
}

static axe_status
infer_from(axe_planner *p, const axe_stmt *s, stage at, bool *any)
{
    inferring x = {.p = p, .s = s};

    AXE_TRY(axe_request_of(p, s, &x.r));
    if (!speaks(&x, at))
        return AXE_OK;
    if (at == FILL) {
        filler f = {.tile = s->dst->u.tensor};
        find_filler(&f, p->kernel->n_body, p->kernel->body, 1);
        if (f.s && f.s != s)
            AXE_TRY(infer_from(p, f.s, CLEAR, any));
        if (*any)
            return AXE_OK;
    }
    AXE_TRY(axe_simt_distribute(p, &x.r, p->simt->who[s->id], &x.work));
    for (int i = 0; i < x.r.n_operand; i++)
        if (is_open(&x, &x.r.operand[i]) && (at == FOLLOW || i == 0))
            settle(&x, &x.r.operand[i]);
    *any = *any || x.any;
    return AXE_OK;
}

static axe_status
infer_body(axe_planner *p, int n, axe_stmt *const *body, stage at, bool *any)
{
    for (int i = 0; i < n && !(*any && at != FOLLOW); i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX)
            AXE_TRY(infer_from(p, s, at, any));
        AXE_TRY(infer_body(p, s->n_body, s->body, at, any));
        AXE_TRY(infer_body(p, s->n_other, s->other, at, any));
    }
    return AXE_OK;
}

static axe_status
check_all(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        const axe_tensor *t = p->place[i].tensor;
        axe_status        st;
        if (!t || t->space != AXE_SPACE_REG || !p->simt->open[i] ||
            !axe_some_writer(p, t))
            continue;
        st = axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                      "%s has no layout, and no statement of its scope fills "
                      "it whole, by indices alone",
                      t->name);
        axe_help(p->cx, "fill it first (`%s[...] = 0`), or declare its layout",
                 t->name);
        return st;
    }
    return AXE_OK;
}

axe_status
axe_simt_infer(axe_planner *p)
{
    const axe_kernel *k = p->kernel;

    for (int at = 0; at < N_STAGE;) {
        bool any = false;
        AXE_TRY(infer_body(p, k->n_body, k->body, (stage)at, &any));
        at = any ? 0 : at + 1;
    }
    return check_all(p);
}
