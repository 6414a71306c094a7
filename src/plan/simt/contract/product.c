/* product.c - a product, and the indices that count its rows and columns.
 *
 * Rows and columns may be counted by several indices each, slow to fast: (r, o,
 * x) of a tile are rows o and columns (r, x).  Atoms know rows and columns; a
 * tile's layout has a dimension for each index.  Here one becomes the other. */
#include "plan/simt/contract/product.h"
#include "plan/access/access.h"
#include "plan/access/scaled.h"

static void
open_side(axe_product *j, int side, int from)
{
    const axe_roles *ro = &j->ro;
    int              n = ro->n_more[from];

    for (int i = 0; i < n; i++)
        j->dim[side][i] = ro->more[from][i];
    j->dim[side][n] = from == 0 ? ro->m : ro->n;
    j->n_dim[side] = n + 1;
    j->extent[side] = 1;
    for (int i = 0; i <= n; i++)
        if (!axe_mul(j->extent[side], axe_dim_extent(j->dim[side][i]),
                     &j->extent[side]))
            j->extent[side] = 0;
}

static axe_type
type_of(const axe_planner *p, const axe_node *load)
{
    const axe_tensor *t = load->u.tensor;

    return t->space == AXE_SPACE_GLOBAL ? t->type : p->place[t->id].type;
}

/* Rows are those of the left operand of atoms; of the right one if `swapped`.
 */
bool
axe_product_open(axe_planner *p, const axe_stmt *s, bool swapped,
                 axe_product *out)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};
    axe_scaled      is = {.block = 0};

    if (!axe_contract_sort(s, &x, &y, &ro)) {
        if (!axe_takes_scales(p->cx, p->mc, s, true) ||
            !axe_contract_scaled(s, &is))
            return false;
        ro = is.ro;
        x = is.factor[0];
        y = is.factor[1];
    }
    *out = (axe_product){
        .p = p, .s = s, .threads = p->simt->who[s->id], .swapped = swapped};
    out->ro = ro;
    out->scale[0] = is.scale[swapped ? 1 : 0];
    out->scale[1] = is.scale[swapped ? 0 : 1];
    out->block = is.block;
    for (int i = 0; i < 2; i++)
        open_side(out, i, swapped ? 1 - i : i);
    out->load[0] = s->dst;
    out->load[1] = swapped ? y : x;
    out->load[2] = swapped ? x : y;
    for (int i = 0; i < 3; i++) {
        out->type[i] = type_of(p, out->load[i]);
        out->spot[i] = axe_new(p->cx, axe_spot *);
    }
    out->extent[2] = axe_dim_extent(out->ro.k);
    return true;
}

static bool
refuse(axe_product *j, const char *why)
{
    j->why = why;
    return false;
}

/* Which dimension of the tile the variable is all of, or -1. */
static int
whole_dim(const axe_node *c, const axe_dim *v)
{
    int64_t e;

    for (int d = 0; d < c->n_arg; d++)
        if (c->arg[d]->op == AXE_OP_var && c->arg[d]->u.var == v->var &&
            axe_is_iconst(c->u.tensor->shape[d], &e) && e == axe_dim_extent(v))
            return d;
    return -1;
}

/* Is each dimension of c one of the indices, and all of it? */
static bool
is_whole(const axe_product *j)
{
    const axe_node *c = j->load[0];

    for (int side = 0; side < 2; side++)
        for (int i = 0; i < j->n_dim[side]; i++)
            if (whole_dim(c, j->dim[side][i]) < 0)
                return false;
    return c->n_arg == j->n_dim[0] + j->n_dim[1];
}

/* Is the factor a tile that the thread group holds, or one in memory of the
 * CTA? */
static bool
factor_possible(axe_product *j, int side)
{
    axe_ctx          *cx = j->p->cx;
    const axe_node   *l = j->load[side];
    const axe_tensor *t = l->u.tensor;
    if (t->space == AXE_SPACE_SHARED || t->space == AXE_SPACE_TMEM)
        return true;
    if (t->space != AXE_SPACE_REG)
        return refuse(j, axe_textf(cx,
                                   "%s is not in shared memory: stage it "
                                   "through a shared tile",
                                   t->name));
    if (l->n_arg != 2 || j->p->simt->owner[t->id] != j->threads ||
        j->n_dim[side - 1] != 1 || whole_dim(l, j->dim[side - 1][0]) < 0 ||
        whole_dim(l, j->ro.k) < 0)
        return refuse(j,
                      axe_textf(cx,
                                "%s is not a whole reg tile of these threads, "
                                "by its row and the sum",
                                axe_node_text(cx, l)));
    return true;
}

static bool
takes_sums(axe_space s)
{
    return s == AXE_SPACE_REG || s == AXE_SPACE_TMEM;
}

/* The indices that number products of their own, and what to do with them. */
static const char *
batch_text(const axe_product *j)
{
    axe_buf names = {.cx = j->p->cx}, scope = names;
    int     n = j->ro.n_batch;

    axe_puts(&names, "");
    axe_puts(&scope, "");
    for (int i = 0; i < n; i++) {
        const char *name = j->ro.batch[i]->var->name;
        axe_putf(&names, "%s%s", i > 0 ? ", " : "", name);
        axe_putf(&scope, "%s%s : ...", i > 0 ? ", " : "", name);
    }
    return axe_textf(j->p->cx,
                     "%s number%s products of %s own, and an atom does one: "
                     "let each cta do one (`cta (%s, ...)`), with tiles that "
                     "have no such dimension",
                     names.text, n > 1 ? "" : "s", n > 1 ? "their" : "its",
                     scope.text);
}

bool
axe_product_possible(axe_product *j)
{
    axe_ctx *cx = j->p->cx;

    if (j->ro.n_batch > 0)
        return refuse(j, batch_text(j));
    if (!takes_sums(j->load[0]->u.tensor->space) || !is_whole(j))
        return refuse(j, axe_textf(cx,
                                   "%s is not a whole reg or tmem tile of rows "
                                   "and columns",
                                   axe_node_text(cx, j->load[0])));
    if (j->extent[2] == 0)
        return refuse(j, "the extent of the sum is no constant");
    return factor_possible(j, 1) && factor_possible(j, 2);
}

int
axe_product_dim(const axe_product *j, int side, int i)
{
    return whole_dim(j->load[0], j->dim[side][i]);
}

/* The dimensions of c in the order of rows, then columns; how many. */
static int
list_dims(const axe_product *j, int *dim)
{
    int n = 0;

    for (int side = 0; side < 2; side++)
        for (int i = 0; i < j->n_dim[side]; i++)
            dim[n++] = axe_product_dim(j, side, i);
    return n;
}

const axe_layout *
axe_product_by_sides(const axe_product *j, const axe_layout *l)
{
    int dim[2 * AXE_MAX_MORE + 2], n = list_dims(j, dim), end[2];

    if (!l || axe_layout_permute(j->p->cx, l, n, dim, &l) != AXE_OK)
        return NULL;
    end[0] = l->dim_end[j->n_dim[0] - 1];
    end[1] = l->dim_end[n - 1];
    axe_layout two = *l;
    two.n_dim = 2;
    two.dim_end = end;
    return axe_layout_make(j->p->cx, &two, &l) == AXE_OK ? l : NULL;
}

const axe_layout *
axe_product_by_dims(const axe_product *j, const axe_layout *l)
{
    int     dim[2 * AXE_MAX_MORE + 2], n = list_dims(j, dim), at = 0;
    int     back[2 * AXE_MAX_MORE + 2];
    int64_t e[2 * AXE_MAX_MORE + 2];

    for (int side = 0; side < 2; side++)
        for (int i = 0; i < j->n_dim[side]; i++) {
            back[dim[at]] = at;
            e[at++] = axe_dim_extent(j->dim[side][i]);
        }
    if (!l || axe_layout_group(j->p->cx, l, (axe_shape){n, e}, &l) != AXE_OK ||
        axe_layout_permute(j->p->cx, l, n, back, &l) != AXE_OK)
        return NULL;
    return l;
}

static bool
term_of(const axe_operand *op, const axe_var *v, const axe_term **out)
{
    *out = NULL;
    for (int i = 0; i < op->n_term; i++)
        if (op->term[i].var == v) {
            if (*out)
                return false;
            *out = &op->term[i];
        }
    return *out != NULL;
}

enum { MAX_ITER = 64 };

/* Takes on how the operand moves by v. */
static bool
add_iters(const axe_operand *op, const axe_var *v, axe_iter *it, int *n)
{
    const axe_term *t;

    if (!term_of(op, v, &t) || *n + t->n_iter > MAX_ITER)
        return false;
    for (int i = 0; i < t->n_iter; i++)
        it[(*n)++] = t->iter[i];
    return true;
}

const axe_layout *
axe_product_memory(const axe_product *j, const axe_operand *op, int side)
{
    axe_iter it[MAX_ITER];
    int      n = 0, end[2], n_row = j->n_dim[side - 1];

    if (op->n_term != n_row + 1 || op->n_guard + op->n_check > 0)
        return NULL;
    for (int i = 0; i < n_row; i++)
        if (!add_iters(op, j->dim[side - 1][i]->var, it, &n))
            return NULL;
    end[0] = n;
    if (!add_iters(op, j->ro.k->var, it, &n))
        return NULL;
    end[1] = n;
    axe_layout spec = {.n_shard = n, .shard = it, .n_dim = 2, .dim_end = end};
    const axe_layout *l;
    return axe_layout_make(j->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}
