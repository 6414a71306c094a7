/* rows.c - a row of the machine's table for each round: an exchange where all
 * lanes get from the lane whose number differs in one bit, else a row by which
 * each lane names the lane whose register it gets. */
#include "move/rows.h"

#include "machine/thread_rows.h"

enum { NOBODY = -1 };

/* The row by which each lane names the lane whose register it gets. */
static const axe_atom *
find_index_row(const axe_machine *mc, int bits)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        if (row->kind == AXE_ATOM_PERMUTE && row->by == AXE_SCOPE_WARP &&
            row->space[2] == AXE_ARG_INT && row->align * 8 == bits &&
            axe_machine_has(mc, row))
            return row;
    }
    return NULL;
}

/* The bits in which all lanes that get something differ from who gives it; 0:
 * not the same ones, or some get their own. */
static int
distance_of(const axe_round *r)
{
    int d = NOBODY;

    for (int l = 0; l < AXE_ROUND_LANES; l++) {
        if (r->from[l] < 0)
            continue;
        if (d != NOBODY && (r->from[l] ^ l) != d)
            return 0;
        d = r->from[l] ^ l;
    }
    return d;
}

bool
axe_rounds_rows(axe_ctx *cx, const axe_machine *mc, int bits,
                const axe_rounds *r, axe_shuffle_step **out, double *cost)
{
    axe_shuffle_step *step = axe_new_array(cx, axe_shuffle_step, r->n + 1);
    axe_type          word = bits == 64 ? AXE_TYPE_i64 : AXE_TYPE_i32;
    const axe_atom   *index = find_index_row(mc, bits);

    *out = step;
    for (int i = 0; i < r->n; i++) {
        int d = distance_of(&r->round[i]);
        if (d > 0 && (d & (d - 1)) == 0)
            step[i].atom =
                axe_simt_find_exchange(cx, mc, word, d, &step[i].param);
        if (!step[i].atom)
            step[i] = (axe_shuffle_step){index, 0, true};
        if (!step[i].atom)
            return false;
        *cost += step[i].atom->cost;
    }
    return true;
}

int
axe_n_more(int n, const int64_t *value)
{
    int more = -1;

    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < i && value[k] != value[i])
            k++;
        more += k == i && value[i] >= 0;
    }
    return more > 0 ? more : 0;
}

int
axe_rounds_selects(int lanes, int n_want, const axe_rounds *r)
{
    int64_t from[AXE_ROUND_LANES];
    int     n = 0;

    for (int i = 0; i < r->n; i++) {
        for (int l = 0; l < lanes; l++)
            from[l] = r->round[i].reg[l];
        n += axe_n_more(lanes, from);
    }
    for (int s = 0; s < n_want; s++) {
        for (int l = 0; l < lanes; l++) {
            axe_round_from f = r->slot[l * n_want + s];
            from[l] = f.round >= 0    ? AXE_ROUND_SLOTS + f.round
                      : f.round == -1 ? f.reg
                                      : NOBODY;
        }
        n += axe_n_more(lanes, from);
    }
    return n;
}
