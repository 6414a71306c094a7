/* operand.c - operands of atoms: as the lowered code has them, and where an
 * invocation finds them to begin. */
#include "sim/sim_int.h"

static axe_status
missing(sim *s, const axe_arg *a, const char *what)
{
    return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "the simulator: %s is no %s of grid %s",
                    a->tensor ? a->tensor->name : "an operand", what,
                    s->g->name);
}

static axe_status
find_tensor(sim *s, sim_code *code, const axe_arg *a, int *out)
{
    const axe_grid *g = s->g;

    for (int i = 0; i < g->n_array && a->space == AXE_ARG_REG; i++)
        if (g->array[i] == a->tensor) {
            *out = i;
            return AXE_OK;
        }
    for (int i = 0; i < g->n_buffer; i++)
        if (g->buffer[i].tensor == a->tensor &&
            (a->space == AXE_ARG_SHARED || a->space == AXE_ARG_DSMEM)) {
            *out = i;
            return AXE_OK;
        }
    for (int i = 0; i < g->n_tmem && a->space == AXE_ARG_TMEM; i++)
        if (g->tmem[i].tensor == a->tensor && code->base >= 0) {
            *out = i;
            return AXE_OK;
        }
    for (int i = 0; i < s->n_global && a->space == AXE_ARG_GLOBAL; i++)
        if (s->global[i].tensor == a->tensor) {
            *out = i;
            return AXE_OK;
        }
    return missing(s, a,
                   a->space == AXE_ARG_REG      ? "array"
                   : a->space == AXE_ARG_GLOBAL ? "global tensor"
                   : a->space == AXE_ARG_TMEM   ? "tile in tensor memory"
                                                : "buffer");
}

static axe_status
index_make(sim *s, sim_code *code, const axe_node *n, const sim_expr **out)
{
    return axe_sim_index_make(s, code, n, AXE_USE_INDEX, NULL, 0, out);
}

/* An element's number, which is printed of those in global memory, and of
 * numbers; others have an address or a unit. */
static axe_status
make_at(sim *s, sim_code *code, const axe_arg *a, const sim_expr **out)
{
    if (a->space == AXE_ARG_GLOBAL)
        return axe_sim_index_make(s, code,
                                  axe_index_gathered(code->index, a->at),
                                  AXE_USE_ADDRESS, NULL, 0, out);
    if (a->space == AXE_ARG_INT)
        return index_make(s, code, a->at, out);
    return axe_sim_expr_make(s, code, a->at, out);
}

static axe_status
make_map_arg(sim *s, sim_code *code, const axe_arg *a, sim_arg *out)
{
    const axe_map *m;

    if (a->map < 0 || a->map >= s->g->n_map)
        return missing(s, a, "tensor map");
    m = &s->g->map[a->map];
    if (m->rank < 1 || m->rank > MAX_RANK || a->n_at > MAX_RANK)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "the simulator: tensor map %d has rank %d and an atom "
                        "%d coordinates; 1 to %d there may be",
                        a->map, m->rank, a->n_at, MAX_RANK);
    out->map = a->map;
    out->n_at = a->n_at;
    for (int i = 0; i < a->n_at; i++)
        AXE_TRY(index_make(s, code, a->coord[i], &out->coord[i]));
    return AXE_OK;
}

axe_status
axe_sim_arg_make(sim *s, sim_code *code, const axe_arg *a, sim_arg *out)
{
    *out = (sim_arg){.space = a->space, .major = a->major};
    if (a->space == AXE_ARG_NONE)
        return AXE_OK;
    if (a->space == AXE_ARG_MAP)
        return make_map_arg(s, code, a, out);
    if (a->space != AXE_ARG_INT)
        AXE_TRY(find_tensor(s, code, a, &out->tensor));
    if (!a->at)
        return missing(s, a, "operand with an address");
    AXE_TRY(make_at(s, code, a, &out->at));
    if (a->space == AXE_ARG_SHARED || a->space == AXE_ARG_DSMEM)
        AXE_TRY(axe_sim_address_make(s, code, a->byte, out));
    if (a->unit && a->unit != a->at) {
        out->per = a->per;
        AXE_TRY(index_make(s, code, a->unit, &out->unit));
        if (a->rest)
            AXE_TRY(index_make(s, code, a->rest, &out->rest));
    }
    return a->cta ? index_make(s, code, a->cta, &out->cta) : AXE_OK;
}

axe_status
axe_sim_pins_make(sim *s, const axe_lir *l, sim_inst *in)
{
    int *pin = axe_new_array(s->own, int, l->n_pin + 1);

    for (int i = 0; i < l->n_pin; i++) {
        axe_arg a = {.space = AXE_ARG_REG, .tensor = l->pin[i]};
        AXE_TRY(find_tensor(s, NULL, &a, &pin[i]));
    }
    in->n_pin = l->pins_behind ? l->n_pin : 0;
    in->pin = pin;
    return AXE_OK;
}

/* ------------------------------------------------------ of an invocation */

void
axe_sim_pieces(sim_warp *w, sim_call *c, int i)
{
    const sim_inst *in = c->in;
    const sim_arg  *a = &in->arg[i];
    sim            *s = w->cta->s;
    int64_t         unit[MAX_LANES], rest[MAX_LANES] = {0};

    axe_sim_eval_all(w, a->unit, c->mask, in, unit);
    if (a->rest)
        axe_sim_eval_all(w, a->rest, c->mask, in, rest);
    for (int l = 0; l < s->lanes; l++) {
        int64_t at = unit[l] * a->per + rest[l];
        if (at != c->at[i][l] && axe_sim_has(c->mask, l) &&
            !axe_sim_known(s, AXE_SIM_ALIGN, in, -1))
            axe_sim_find(s, AXE_SIM_ALIGN, in, -1,
                         "operand %d of %s begins with element %lld, which is "
                         "within a register of %d",
                         i, axe_sim_agent_text(s, w->agent),
                         (long long)c->at[i][l], a->per);
        c->at[i][l] = at;
    }
}
