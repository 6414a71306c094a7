/* check_tile.c - no part of a tile is read that nothing writes.
 *
 * What a write may touch is at most a box: the range of each of its
 * subscripts over all values of indices, loops and scopes.  A read is wrong
 * where it goes beyond the box around all writes of its tile; the front end
 * sees to it that something was written before.  Under a condition, in the
 * statement or in the value, the read may know better, and is warned of. */
#include <inttypes.h>

#include "ir/check.h"
#include "ir/range.h"

typedef struct box {
    bool    any; /* a write at all */
    int64_t lo[AXE_RANK_MAX], hi[AXE_RANK_MAX];
} box;

typedef struct checker {
    axe_ctx         *cx;
    box             *written; /* by tensor id */
    const axe_holds *holds;   /* conditions around what is read, or NULL */
    axe_status       status;
} checker;

/* Index variables whose extents hold here: of a statement, or of a fold in its
 * value. */
typedef struct domain {
    int                    n;
    const axe_var *const  *var;
    const axe_node *const *extent;
    const axe_dim         *dim; /* or var and extent */
    const struct domain   *up;
} domain;

static const axe_node *
extent_of(const void *user, const axe_var *v)
{
    for (const domain *d = user; d; d = d->up)
        for (int i = 0; i < d->n; i++)
            if ((d->dim ? d->dim[i].var : d->var[i]) == v)
                return d->dim ? d->dim[i].extent : d->extent[i];
    return NULL;
}

/* The range of one subscript; false where there is none to be had. */
static bool
range_of(checker *c, const domain *d, const axe_node *sub, int64_t *lo,
         int64_t *hi)
{
    axe_reach    r = {c->cx, extent_of, d, c->holds};
    axe_affine   a;
    axe_interval g;

    if (!axe_affine_of(c->cx, sub, &a))
        return false;
    g = axe_reach_of(&r, &a);
    *lo = g.lo;
    *hi = g.hi;
    return g.has_lo && g.has_hi && g.lo <= g.hi;
}

/* ------------------------------------------------------------------ writes */

static void
note_write(checker *c, const axe_stmt *s)
{
    const axe_tensor *t = s->dst->u.tensor;
    domain            d = {.n = s->n_dim, .dim = s->dim};
    box              *b = &c->written[t->id];

    for (int k = 0; k < t->rank; k++) {
        int64_t lo, hi, full = 0;
        axe_is_iconst(t->shape[k], &full);
        if (!range_of(c, &d, s->dst->arg[k], &lo, &hi)) {
            lo = 0;
            hi = full - 1;
        }
        b->lo[k] = b->any && b->lo[k] < lo ? b->lo[k] : lo;
        b->hi[k] = b->any && b->hi[k] > hi ? b->hi[k] : hi;
    }
    b->any = true;
}

static void
find_writes(checker *c, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX &&
            body[i]->dst->u.tensor->space != AXE_SPACE_GLOBAL)
            note_write(c, body[i]);
        find_writes(c, body[i]->n_body, body[i]->body);
        find_writes(c, body[i]->n_other, body[i]->other);
    }
}

/* ------------------------------------------------------------------- reads */

static const char *
range_text(axe_ctx *cx, int64_t lo, int64_t hi)
{
    if (lo == hi)
        return axe_textf(cx, "%" PRId64, lo);
    return axe_textf(cx, "%" PRId64 " to %" PRId64, lo, hi);
}

static void
beyond(checker *c, const axe_node *load, int k, int64_t lo, int64_t hi,
       bool sure)
{
    const axe_tensor *t = load->u.tensor;
    const box        *b = &c->written[t->id];
    const char       *text = axe_textf(
              c->cx,
              "`%s` %s %s in dimension %d of `%s`, of which only %s is written",
              axe_node_text(c->cx, load), sure ? "reads" : "may read",
              range_text(c->cx, lo, hi), k, t->name,
              range_text(c->cx, b->lo[k], b->hi[k]));
    axe_status st = AXE_ESHAPE;

    if (sure)
        st = axe_fail(c->cx, load->arg[k]->at, AXE_ESHAPE, "%s", text);
    else
        axe_warn(c->cx, load->arg[k]->at, "%s", text);
    axe_note(c->cx, t->at, "declared here; begin it as a whole by `= 0`");
    if (sure && c->status == AXE_OK)
        c->status = st;
}

static void
check_load(checker *c, const domain *d, const axe_node *load, bool sure)
{
    const axe_tensor *t = load->u.tensor;
    const box        *b = &c->written[t->id];
    int64_t           lo, hi;

    for (int k = 0; k < t->rank && b->any; k++)
        if (range_of(c, d, load->arg[k], &lo, &hi) &&
            (lo < b->lo[k] || hi > b->hi[k])) {
            beyond(c, load, k, lo, hi, sure);
            return;
        }
}

static void
check_reads(checker *c, const domain *d, const axe_node *n, bool sure)
{
    const axe_holds *up = c->holds;
    domain           in = {.up = d};

    if (n->op == AXE_OP_load && n->u.tensor->space != AXE_SPACE_GLOBAL)
        check_load(c, d, n, sure);
    if (n->op == AXE_OP_reduce) {
        in.n = n->u.reduce.n_over;
        in.var = n->u.reduce.over;
        in.extent = n->u.reduce.extent;
        d = &in;
    }
    for (int i = 0; i < n->n_arg; i++) {
        axe_holds h = {NULL, i == 2, up};
        h.cond = n->arg[0];
        c->holds = n->op == AXE_OP_select && i > 0 ? &h : up;
        check_reads(c, d, n->arg[i],
                    sure && !(n->op == AXE_OP_select && i > 0));
    }
    c->holds = up;
}

static void
find_reads(checker *c, int n, axe_stmt *const *body, bool sure)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        domain          d = {.n = s->n_dim, .dim = s->dim};
        bool            in = sure && s->kind != AXE_STMT_IF;
        axe_holds       h = {.up = c->holds};
        if (s->kind == AXE_STMT_INDEX) {
            check_reads(c, &d, s->value, sure);
            if (s->fold != AXE_FOLD_NONE &&
                s->dst->u.tensor->space != AXE_SPACE_GLOBAL)
                check_load(c, &d, s->dst, sure);
        }
        h.cond = s->cond;
        c->holds = s->cond ? &h : h.up;
        find_reads(c, s->n_body, s->body, in);
        h.no = true;
        find_reads(c, s->n_other, s->other, in);
        c->holds = h.up;
    }
}

axe_status
axe_check_tiles(axe_ctx *cx, const axe_kernel *k)
{
    checker c = {.cx = cx, .written = axe_new_array(cx, box, k->n_tensor + 1)};

    find_writes(&c, k->n_body, k->body);
    find_reads(&c, k->n_body, k->body, true);
    return c.status;
}
