/* address.c - is the byte address that a text would have the element's?
 *
 * An operand in shared memory is an element of a buffer, and what is executed
 * goes by that: its bytes, exchanged as the buffer's swizzle does.  Texts spell
 * the address that lower/pass/address.c has made of it; it is computed too, and
 * has to be the same in every lane that takes part. */
#include <string.h>

#include "sim/sim_int.h"

axe_status
axe_sim_address_make(sim *s, sim_code *code, const axe_byte_at *a, sim_arg *out)
{
    if (!a || a->n > AXE_LEN(out->part) || (a->n == 0 && !a->behind))
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: an operand in %s has no address",
                        s->g->buffer[out->tensor].tensor->name);
    out->n_part = a->n;
    for (int i = 0; i < a->n; i++) {
        AXE_TRY(axe_sim_index_make(s, code, a->part[i].at, AXE_USE_INDEX, NULL,
                                   0, &out->part[i].at));
        out->part[i].how = a->part[i].how;
    }
    return a->behind ? axe_sim_index_make(s, code, a->behind, AXE_USE_INDEX,
                                          NULL, 0, &out->behind)
                     : AXE_OK;
}

/* What the text adds to the buffer's begin, in every lane. */
static void
as_written(sim_warp *w, const sim_call *c, const sim_arg *a, int64_t *out)
{
    const sim      *s = w->cta->s;
    axe_swizzle     by = s->g->buffer[a->tensor].swizzle;
    const sim_expr *e;
    const sim_val  *v;

    memset(out, 0, (size_t)s->lanes * sizeof *out);
    for (int i = 0; i < a->n_part; i++) {
        e = a->part[i].at;
        v = axe_sim_eval(w, e, c->mask, c->in);
        for (int l = 0; l < s->lanes; l++) {
            int64_t at = v->i[e->lanes ? l : 0];
            out[l] ^= a->part[i].how == AXE_SWIZZLE_MOVES
                          ? axe_swizzle_apply(by, at)
                          : at;
        }
    }
    if (!a->behind)
        return;
    v = axe_sim_eval(w, a->behind, c->mask, c->in);
    for (int l = 0; l < s->lanes; l++)
        out[l] += v->i[a->behind->lanes ? l : 0];
}

void
axe_sim_check_address(sim *s, sim_warp *w, const sim_call *c, int i)
{
    const sim_arg    *a = &c->in->arg[i];
    const axe_buffer *b = &s->g->buffer[a->tensor];
    int64_t           text[MAX_LANES], byte;

    as_written(w, c, a, text);
    for (int l = 0; l < s->lanes; l++) {
        byte = axe_type_bytes(b->tensor->type, c->at[i][l]);
        if (a->swizzled)
            byte = axe_sim_swizzled(b, byte);
        if (!axe_sim_has(c->pred, l) || text[l] == byte)
            continue;
        if (!axe_sim_known(s, AXE_SIM_ADDRESS, c->in, -1))
            axe_sim_find(s, AXE_SIM_ADDRESS, c->in, -1,
                         "lane %d of %s means element %lld of %s, at byte "
                         "%lld, and its address is %lld",
                         l, axe_sim_agent_text(s, c->warp->agent),
                         (long long)c->at[i][l], b->tensor->name,
                         (long long)byte, (long long)text[l]);
        return;
    }
}
