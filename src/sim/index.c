/* index.c - does the text of an index hold its value?
 *
 * Indices are executed with 64 bits.  Texts have 32 where lower/pass/index.c
 * says that these are enough, and divide as if nothing were negative where it
 * says that nothing is: what it says is looked at in every lane that computes
 * it. */
#include "sim/sim_int.h"

static const char *
op_text(axe_op op)
{
    return axe_op_table[op].name;
}

static void
report(sim_warp *w, const sim_inst *in, int lane, int64_t value,
       const char *what, const char *why)
{
    sim *s = w->cta->s;

    if (!axe_sim_known(s, AXE_SIM_INDEX, in, -1))
        axe_sim_find(
            s, AXE_SIM_INDEX, in, -1, "in lane %d of %s %s is %lld, and %s",
            lane, axe_sim_agent_text(s, w->agent), what, (long long)value, why);
}

/* Is the value below `least` or above `most` in a lane?  That one, or -1. */
static int
outside(const sim_warp *w, const sim_val *v, bool lanes, axe_lane_set mask,
        int64_t least, int64_t most)
{
    int n = lanes ? w->cta->s->lanes : 1;

    for (int l = 0; l < n; l++)
        if ((v->i[l] < least || v->i[l] > most) &&
            (!lanes || axe_sim_has(mask, l)))
            return l;
    return -1;
}

void
axe_sim_check_operands(sim_warp *w, const sim_term *t, const sim_val *v,
                       axe_lane_set mask, const sim_inst *in)
{
    for (int l = 0; l < (t->lanes ? w->cta->s->lanes : 1) && t->rounds; l++)
        if ((!t->lanes || axe_sim_has(mask, l)) &&
            v[0].i[l] + v[1].i[l] - 1 > INT32_MAX)
            report(w, in, l, v[0].i[l] + v[1].i[l] - 1, "what is rounded up",
                   "its text has 32 bits");
    for (int i = 0; i < 2 && t->whole; i++) {
        int l = outside(w, &v[i], t->lanes, mask, 0, INT64_MAX);
        if (l >= 0)
            report(w, in, l, v[i].i[l],
                   i == 0 ? "what is divided" : "what divides",
                   "its text takes it for not negative");
    }
}

void
axe_sim_check_value(sim_warp *w, const sim_term *t, const sim_val *v,
                    axe_lane_set mask, const sim_inst *in)
{
    int l = outside(w, v, t->lanes, mask, INT32_MIN, INT32_MAX);

    if (l >= 0)
        report(w, in, l, v->i[l],
               axe_textf(w->cta->s->cx, "a result of %s", op_text(t->op)),
               "its text has 32 bits");
}

void
axe_sim_check_bound(sim_warp *w, const sim_expr *e, const sim_val *v,
                    axe_lane_set mask, const sim_inst *in)
{
    int l = outside(w, v, e->lanes, mask, INT32_MIN, e->most);

    if (l >= 0)
        report(w, in, l, v->i[l], "the value of a variable",
               "that has 32 bits");
}
