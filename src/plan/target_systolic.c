/* target_systolic.c - planning for a core whose engines run instructions. */
#include <inttypes.h>

#include "plan/cost/cost.h"
#include "plan/report/facts.h"
#include "plan/systolic/systolic.h"
#include "plan/target.h"

static void
keep(const axe_planner *p, axe_plan *out)
{
    out->systolic = p->systolic;
}

static axe_status
storage(axe_planner *p, const axe_tensor *t, const axe_layout **out)
{
    *out = p->place[t->id].layout;
    return AXE_OK;
}

static int
places(const axe_planner *p, const axe_tensor *t, axe_axis axis[AXE_PLACE_AXES],
       int64_t by[AXE_PLACE_AXES])
{
    (void)p;
    (void)t;
    axis[0] = AXE_AXIS_M;
    by[0] = 1;
    return 1;
}

static const char *
why_no_hint(axe_planner *p, const axe_schedule *s, const axe_attr *a)
{
    (void)p;
    (void)s;
    (void)a;
    return "there are no caches";
}

static void
warn(axe_ctx *cx, const axe_plan *p)
{
    (void)cx;
    (void)p;
}

/* What a kernel takes is what its trace takes: `axe sim`. */
static void
cost(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at, axe_cost *out)
{
    (void)cx;
    (void)p;
    (void)at;
    *out = (axe_cost){.runs = 1, .cycles = -1};
}

/* The first index statement of body[from ..]. */
static const axe_stmt *
first_of(const axe_stmt *loop, int from)
{
    for (int i = from; i < loop->n_body; i++)
        if (loop->body[i]->kind == AXE_STMT_INDEX)
            return loop->body[i];
    return NULL;
}

static void
put_turns(axe_buf *out, const axe_systolic_pipe *x)
{
    axe_putf(out, "%d turns of %s are under way at a time", x->n_cut + 1,
             x->loop->var[0]->name);
    for (int i = 0; i < x->n_cut; i++) {
        const axe_stmt *s = first_of(x->loop, x->cut[i]);
        if (s)
            axe_putf(out, "%s s%d", i == 0 ? ": cut before" : ",", s->id);
    }
    axe_puts(out, "\n");
}

static void
put_cost(axe_ctx *cx, axe_buf *out, const axe_plan *p, const axe_cost_at *at,
         bool given)
{
    (void)cx;
    (void)at;
    (void)given;
    axe_putf(out,
             "%" PRId64 " of %d bytes of SBUF in a partition, %d of %d banks "
             "of PSUM are tiles'\n",
             p->systolic->bytes, axe_trn_memories[AXE_TRN_SBUF].bytes,
             p->systolic->banks, AXE_SYSTOLIC_BANKS);
    for (const axe_systolic_pipe *x = p->systolic->pipe; x; x = x->next)
        put_turns(out, x);
}

/* Elements whose place is computed, which rows of indices find. */
typedef struct gathers {
    axe_ctx   *cx;
    axe_facts *out;
} gathers;

static void
look_gather(void *user, const axe_node *n)
{
    gathers *g = user;

    for (int d = 0; n->op == AXE_OP_load && d < n->n_arg; d++)
        if (n->u.tensor->space == AXE_SPACE_GLOBAL && axe_node_loads(n->arg[d]))
            axe_list_push(
                &g->out->row[AXE_FACT_atoms],
                axe_textf(g->cx, "dma_copy by vector_offset: rows of %s by %s",
                          n->u.tensor->name, axe_node_text(g->cx, n->arg[d])));
}

static void
facts(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, const axe_cost *c,
      axe_facts *out)
{
    const axe_systolic_step *step = &p->systolic->step[s->stmt->id];
    axe_systolic_product     pr;
    gathers                  g = {cx, out};

    (void)c;
    axe_list_push(&out->row[AXE_FACT_schedule], axe_schedule_name(s->kind));
    if (step->absorbed)
        axe_list_push(&out->row[AXE_FACT_schedule],
                      "the next product does it as it adds");
    if (step->sum)
        axe_list_push(
            &out->row[AXE_FACT_schedule],
            axe_textf(cx, "its values are added up for s%d", step->summed->id));
    axe_node_walk(s->value, look_gather, &g);
    if (!axe_systolic_is_product(cx, s->stmt, p->systolic->tile, &pr))
        return;
    axe_list_push(
        &out->row[AXE_FACT_atoms],
        axe_textf(cx, "nc_matmul: %s", axe_trn_ops[AXE_TRN_OP_nc_matmul].text));
    axe_list_push(&out->row[AXE_FACT_loops],
                  axe_textf(cx, "%s stationary: k = %s, m = %s, n = %s",
                            pr.factor[0]->u.tensor->name, pr.k->name,
                            pr.m ? pr.m->name : "1", pr.n ? pr.n->name : "1"));
}

const axe_plan_target axe_systolic_plan_target = {
    .keep = keep,
    .storage = storage,
    .places = places,
    .why_no_hint = why_no_hint,
    .warn = warn,
    .cost = cost,
    .put_cost = put_cost,
    .facts = facts,
    .alone = true,
};
