/* register_operand.c - factors of a contraction that lie in registers.
 *
 * A tile that threads hold feeds the atom as it lies if each of them has in its
 * registers what the atom's operand wants there: then the factor is a renaming
 * and nothing moves.  Where repetitions begin is read off the layout; that it
 * is so for every element is shown one by one. */
#include <string.h>

#include "plan/simt/contract/operand_path.h"
#include "plan/simt/map/map.h"

static int64_t
register_of(const axe_factor_query *q, int64_t row, int64_t k)
{
    return axe_layout_at(q->held, row * q->k->extent + k, q->p->simt->reg);
}

/* Where in the registers repetitions of the row and steps of the sum begin. */
static void
read_steps(const axe_factor_query *q, axe_factor *f)
{
    int64_t row = q->row->atom;

    f->n_reg = 0;
    for (int i = q->row->n_part - 1; i >= 0; i--) {
        const axe_part *p = &q->row->part[i];
        if (p->of == AXE_COUNT_M || p->of == AXE_COUNT_N)
            f->reg[f->n_reg++] = (axe_step){
                p->of, p->over, p->extent,
                p->extent > 1 ? register_of(q, row, 0) - register_of(q, 0, 0)
                              : 0};
        row *= p->extent;
    }
    f->reg[f->n_reg++] = (axe_step){
        AXE_COUNT_K, 1, q->k->n_rep,
        q->k->n_rep > 1 ? register_of(q, 0, q->k->atom) - register_of(q, 0, 0)
                        : 0};
}

/* The repetition that the row is in. */
static int64_t
repetition_of(const axe_spread *s, int64_t row)
{
    int64_t n = 0;

    row /= s->atom;
    for (int i = s->n_part - 1; i >= 0; i--) {
        const axe_part *p = &s->part[i];
        if (p->of == AXE_COUNT_M || p->of == AXE_COUNT_N)
            n += row % p->extent * p->over;
        row /= p->extent;
    }
    return n;
}

static int64_t *
list_registers(const axe_factor_query *q, const axe_layout *l)
{
    int64_t *at = axe_new_array(q->p->cx, int64_t, l->size + 1);

    axe_layout_list(l, 1, &q->p->simt->reg, (int64_t[]){1}, at);
    return at;
}

/* Registers from the atom's own on, for each row or each step of the sum. */
static int64_t *
list_steps(const axe_factor_query *q, const axe_factor *f, bool sum)
{
    int64_t  n = sum ? q->k->extent : q->row->extent;
    int64_t *at = axe_new_array(q->p->cx, int64_t, n + 1);

    for (int64_t x = 0; x < n; x++)
        for (int i = 0; i < f->n_reg; i++)
            if ((f->reg[i].of == AXE_COUNT_K) == sum)
                at[x] +=
                    axe_step_at(&f->reg[i], sum ? x / q->k->atom
                                                : repetition_of(q->row, x));
    return at;
}

/* Is every element where the atom looks for it? */
static bool
are_there(const axe_factor_query *q, const axe_factor *f,
          const axe_layout *want)
{
    const int64_t *has = axe_simt_list_holders(q->p, q->held);
    const int64_t *asks = axe_simt_list_holders(q->p, want);
    const int64_t *reg = list_registers(q, q->held);
    const int64_t *own = list_registers(q, q->inner);
    const int64_t *row_at = list_steps(q, f, false);
    const int64_t *sum_at = list_steps(q, f, true);

    for (int64_t row = 0; row < q->row->extent; row++)
        for (int64_t k = 0; k < q->k->extent; k++) {
            int64_t x = row * q->k->extent + k;
            int64_t e = row % q->row->atom * q->k->atom + k % q->k->atom;
            if (has[x] != asks[x] || reg[x] != own[e] + row_at[row] + sum_at[k])
                return false;
        }
    return true;
}

bool
axe_held_fit(const axe_factor_query *q, axe_factor *out, const char **why)
{
    const axe_layout *want = axe_factor_layout(q);
    axe_mark          m;
    bool              there;

    *out = (axe_factor){.held = true, .chunk = 1, .frag = q->held};
    *why = "it is in registers, and the atom reads shared memory";
    if (q->atom->space[q->side] != AXE_ARG_REG)
        return false;
    *why = "other threads hold it than those that the atom asks";
    if (!want || !axe_simt_same_copies(want, q->held))
        return false;
    read_steps(q, out);
    m = axe_ctx_mark(q->p->cx);
    there = want->size == q->held->size && are_there(q, out, want);
    axe_ctx_release(q->p->cx, m);
    if (!there)
        return false;
    out->regs = axe_frag_regs(q->p->cx, q->held);
    return true;
}
