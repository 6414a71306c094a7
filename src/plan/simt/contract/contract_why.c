/* contract_why.c - why a contraction has no way to run on its thread group.
 *
 * Of all that an arrangement needs, what is told is the first thing that is
 * missing: memory for the factors, a layout of the sums that atoms make,
 * speed, registers, whole atoms. */
#include <inttypes.h>

#include "plan/access/access.h"
#include "plan/simt/contract/product.h"

/* [bytes] that the statement's shared factors take together. */
static double
factor_bytes(const axe_product *j)
{
    double sum = 0, n;

    for (int i = 1; i < 3; i++) {
        const axe_tensor *t = j->load[i]->u.tensor;
        int64_t           e = 1;
        n = axe_type_table[t->type].bits / 8.0;
        for (int d = 0; d < t->rank; d++)
            n *= axe_is_iconst(t->shape[d], &e) ? (double)e : 1;
        sum += t->space == AXE_SPACE_SHARED ? n : 0;
    }
    return sum;
}

static const char *
why_no_spread(const axe_product *j)
{
    axe_ctx *cx = j->p->cx;
    int64_t  have = axe_simt_registers(j->p->mc, j->threads);

    if (j->n_slow > 0)
        return axe_textf(cx,
                         "%d threads share %" PRId64 " x %" PRId64
                         " in whole atoms only of ones far slower than the "
                         "best of %s: choose other extents or threads",
                         j->threads->n_thread, j->extent[0], j->extent[1],
                         j->p->mc->name);
    if (j->regs > 0)
        return axe_textf(cx,
                         "%" PRId64 " x %" PRId64 " sums take at least %" PRId64
                         " registers of each of %d threads, which has %" PRId64
                         ": choose smaller extents or more threads",
                         j->extent[0], j->extent[1], j->regs,
                         j->threads->n_thread, have);
    return axe_textf(cx,
                     "%d threads do not share %" PRId64 " x %" PRId64
                     " in whole atoms: choose other extents or threads",
                     j->threads->n_thread, j->extent[0], j->extent[1]);
}

/* Of atoms whose types and sizes fit: why none has a way to run.  A tile that
 * was open got its layout of another statement, if only because this one had
 * no way to run even then. */
static const char *
why_none(axe_product j[2])
{
    axe_planner      *p = j->p;
    const axe_tensor *c = j->load[0]->u.tensor;
    const axe_layout *l = p->place[c->id].layout;
    double            bytes = factor_bytes(j);

    if (bytes > (double)axe_machine_room(p->mc, AXE_SPACE_SHARED))
        return axe_textf(
            p->cx,
            "its factors take %.0f bytes of shared memory, of "
            "which a CTA of %s may have %" PRId64 ": choose smaller tiles",
            bytes, p->mc->name, axe_machine_room(p->mc, AXE_SPACE_SHARED));
    for (int i = 0; i < 2 && l && !c->layout; i++)
        axe_product_enumerate(&j[i], NULL);
    if (l && !c->layout)
        axe_products_drop_slow(j);
    if (l && (c->layout || j[0].list.n + j[1].list.n > 0))
        return axe_textf(p->cx,
                         "%s lies as %s, which atoms on %d threads do not make:"
                         " %s",
                         c->name, axe_layout_text(p->cx, l),
                         j->threads->n_thread,
                         c->layout ? "leave its layout open (`: auto`)"
                                   : "sum into a second tile");
    return why_no_spread(
        j[0].n_slow > 0                                               ? &j[0]
        : j[1].n_slow > 0                                             ? &j[1]
        : j[0].regs > 0 && (j[1].regs == 0 || j[0].regs <= j[1].regs) ? &j[0]
                                                                      : &j[1]);
}

/* Would the row take the product, one way or the other? */
static bool
would_take(axe_product j[2], const axe_atom *a)
{
    axe_candidate by;
    bool          takes = false;
    axe_mark      m = axe_ctx_mark(j->p->cx);

    for (int i = 0; i < 2 && !takes; i++)
        for (int p = a->step > 0 ? a->lo : 1; p <= (a->step > 0 ? a->hi : 1);
             p += a->step > 0 ? a->step : 1)
            takes = takes || (axe_product_takes(&j[i], a) &&
                              axe_candidate_read(&j[i], a, p, &by) &&
                              axe_candidate_is_whole(&j[i], &by));
    axe_ctx_release(j->p->cx, m);
    return takes;
}

/* Rows that would take the product on a machine with what they need:
 * "; mad.f64 would, which needs its feature `f64`". */
static const char *
rows_without(axe_product j[2])
{
    const axe_machine *mc = j->p->mc;
    axe_buf            b = {.cx = j->p->cx};

    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *a = &mc->atom[i];
        if (a->kind == AXE_ATOM_CONTRACT && !axe_machine_has(mc, a) &&
            would_take(j, a))
            axe_putf(&b, "%s %s would, which needs `%s`", b.len > 0 ? "," : ";",
                     a->name, a->needs);
    }
    return b.len > 0 ? b.text : "";
}

void
axe_products_reject(axe_product j[2])
{
    axe_planner *p = j->p;
    axe_request *r = j->r;

    if (j[0].rate == 0 && j[1].rate == 0)
        axe_rejected(p, r, "contract",
                     "no atom of %s takes these types in %" PRId64 " x %" PRId64
                     " x %" PRId64 "%s",
                     p->mc->name, j->extent[0], j->extent[1], j->extent[2],
                     rows_without(j));
    else
        axe_rejected(p, r, "contract", "%s", why_none(j));
}
