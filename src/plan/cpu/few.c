/* few.c - a product of few rows does not pack what it multiplies by.
 *
 *     acc[m, n] = 0;
 *     for (kt : K by BK) {
 *         a[m, k] = A[i*BM + m, kt*BK + k];
 *         b[n, k] = B[j*BN + n, kt*BK + k];
 *         acc[m, n] += a[m, k] * b[n, k];
 *     }
 *     C[i*BM + m, j*BN + n] = f(acc[m, n]);
 *
 * brings B into rows of columns, which takes as long as multiplying it by some
 * ten rows.  With fewer, and A and B in rows along k, it is
 *
 *     C[m, j*BN + n] = f(sum[k](A[m, k] * B[j*BN + n, k]));
 *
 * with k in the lanes (jam.c), and B is read once, as it lies.  How many rows
 * there are is known at the launch: the kernel becomes a branch. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/access/contract_roles.h"
#include "plan/cpu/cpu.h"

/* [vectors] A sum worth folding; rows that packing is a quarter of the work of;
 * rows that go by in one block. */
enum { LONG_SUM = 16, MANY = 4, BLOCK = 4 };

/* What is copied of a factor, by the indices of the product. */
typedef struct factor {
    const axe_node *load; /* of the tile */
    const axe_node *from; /* of the argument, by the product's indices */
    int             k;    /* the dimension of the sum */
} factor;

typedef struct few {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *scope, *zero, *loop, *sum, *end; /* end: reads the sums */
    int             n_fill;
    const axe_stmt *fill[2];
    axe_roles       ro;
    factor          f[2];        /* of the rows, of the columns */
    const axe_node *rows, *acc;  /* how many rows; what the end reads */
    const axe_var  *i;           /* of the scope, that counts tiles of rows */
    int64_t         tile, depth; /* rows, and steps of the sum, of a tile */
    const axe_var  *own[2];      /* the end's indices of a row and a column */
} few;

/* Sort the statements of the scope; false if there is one too many. */
static bool
sort_body(few *x, int n, axe_stmt *const *body)
{
    const axe_node *a, *b;
    bool            ok = true;

    for (int i = 0; i < n && ok; i++) {
        const axe_stmt *s = body[i], **at = NULL;
        axe_roles       ro = {0};
        if (s->kind == AXE_STMT_FOR && !x->loop && x->zero) {
            x->loop = s;
            ok = sort_body(x, s->n_body, s->body) && x->sum;
        } else if (s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME)
            ok = x->loop && !x->end && sort_body(x, s->n_body, s->body);
        else if (s->kind == AXE_STMT_INDEX) {
            if (!x->zero)
                at = &x->zero;
            else if (x->loop && !x->sum && axe_contract_roles(s, &a, &b, &ro))
                at = &x->sum;
            else if (x->loop && !x->sum && x->n_fill < 2)
                at = &x->fill[x->n_fill++];
            else if (x->sum && !x->end)
                at = &x->end;
            ok = at && !s->via && !s->atom && !s->prefix && s->n_attr == 0;
            if (ok)
                *at = s;
        } else
            ok = s->kind == AXE_STMT_TENSOR || s->kind == AXE_STMT_PIPELINE;
    }
    return ok;
}

/* Is it one of these, times 1, plus the other, times `by`, and nothing else? */
static bool
is_digit_pair(few *x, const axe_node *n, const axe_var *fast,
              const axe_var *slow, int64_t by)
{
    axe_affine a;

    return axe_affine_of(x->cx, n, &a) && a.n == 2 && a.constant == 0 &&
           axe_affine_coef(&a, fast) == 1 && axe_affine_coef(&a, slow) == by;
}

/* The element that the only fill of the tile copies to where `load` reads. */
static const axe_node *
copied_from(few *x, const axe_node *load)
{
    for (int i = 0; i < x->n_fill; i++) {
        const axe_stmt *s = x->fill[i];
        const axe_node *v = s->value, *dst = s->dst;
        if (dst->u.tensor != load->u.tensor || s->fold != AXE_FOLD_NONE)
            continue;
        if (v->op != AXE_OP_load || v->u.tensor->dir != AXE_DIR_IN ||
            v->u.tensor->packed || v->u.tensor->type != dst->u.tensor->type)
            return NULL;
        for (int d = 0; d < dst->n_arg; d++)
            if (dst->arg[d]->op != AXE_OP_var || load->arg[d]->op != AXE_OP_var)
                return NULL;
        axe_rewriter w = axe_rewriter_of(x->cx, x->k);
        for (int d = 0; d < dst->n_arg; d++)
            axe_rewrite_var(&w, dst->arg[d]->u.var, load->arg[d]);
        return axe_rewrite_node(&w, v);
    }
    return NULL;
}

/* Does the sum's index walk neighbours of the factor, in order and to the end
 * of its dimension? */
static bool
runs_along_k(few *x, factor *f)
{
    const axe_tensor *t = f->from->u.tensor;

    f->k = t->rank - 1;
    for (int d = 0; d < f->k; d++)
        if (axe_mentions(f->from->arg[d], x->ro.k->var) ||
            axe_mentions(f->from->arg[d], x->loop->var[0]))
            return false;
    return t->rank > 0 && t->stride[f->k].coef == 1 &&
           t->stride[f->k].unit == AXE_UNIT_ONE &&
           is_digit_pair(x, f->from->arg[f->k], x->ro.k->var, x->loop->var[0],
                         x->depth);
}

/* How often something of `tile` is in the whole. */
static bool
is_count(few *x, const axe_node *n, const axe_node *whole, int64_t tile)
{
    return axe_node_same(
        n, axe_node2(x->cx, AXE_OP_cdiv, whole,
                     axe_iconst(x->cx, n->at, AXE_TYPE_INDEX, tile)));
}

/* The variable of the scope that counts tiles of rows. */
static bool
find_rows(few *x)
{
    const axe_node *from = x->f[0].from;

    x->tile = axe_dim_extent(x->ro.m);
    for (int d = 0; d < from->n_arg; d++)
        for (int v = 0; v < x->scope->n_var && !x->i; v++)
            if (is_digit_pair(x, from->arg[d], x->ro.m->var, x->scope->var[v],
                              x->tile)) {
                x->i = x->scope->var[v];
                x->rows = from->u.tensor->shape[d];
            }
    return x->i && x->scope->n_var > 1 && !x->scope->first &&
           is_count(x, x->i->extent, x->rows, x->tile);
}

/* The one way in which the end reads the sums: by two indices of its own. */
static bool
find_acc(few *x, const axe_node *n)
{
    if (n->op == AXE_OP_load && n->u.tensor == x->sum->dst->u.tensor) {
        if (x->acc)
            return axe_node_same(x->acc, n);
        x->acc = n;
        return n->n_arg == 2 && n->arg[0]->op == AXE_OP_var &&
               n->arg[1]->op == AXE_OP_var &&
               n->arg[0]->u.var->kind == AXE_VAR_INDEX &&
               n->arg[1]->u.var->kind == AXE_VAR_INDEX &&
               n->arg[0]->u.var != n->arg[1]->u.var;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!find_acc(x, n->arg[i]))
            return false;
    return true;
}

static bool
folds(const axe_node *n)
{
    bool any = n->op == AXE_OP_reduce;

    for (int i = 0; i < n->n_arg && !any; i++)
        any = folds(n->arg[i]);
    return any;
}

/* Does the end store rows of sums as those of the left factor, and no more? */
static bool
ends_alike(few *x)
{
    const axe_stmt *s = x->end;
    const axe_node *dst = s->dst;
    bool            rows = false;

    if (s->n_dim != 2 || s->n_free != 2 || !find_acc(x, s->value) || !x->acc ||
        folds(s->value) || dst->u.tensor->space != AXE_SPACE_GLOBAL)
        return false;
    x->own[0] = x->acc->arg[0]->u.var;
    x->own[1] = x->acc->arg[1]->u.var;
    for (int d = 0; d < dst->n_arg; d++)
        rows =
            rows || (axe_node_same(dst->u.tensor->shape[d], x->rows) &&
                     is_digit_pair(x, dst->arg[d], x->own[0], x->i, x->tile));
    for (int i = 0; i < s->n_dim; i++)
        rows = rows && (s->dim[i].var != x->own[0] ||
                        axe_dim_extent(&s->dim[i]) == x->tile);
    return rows && x->own[0] != x->ro.n->var && x->own[1] != x->ro.m->var;
}

static bool
is_zero(const axe_stmt *s)
{
    int64_t v;

    return s->fold == AXE_FOLD_NONE &&
           ((s->value->op == AXE_OP_fconst && s->value->u.f == 0) ||
            (axe_is_iconst(s->value, &v) && v == 0));
}

static bool
fits(few *x, const axe_stmt *scope)
{
    const axe_tensor *t;
    const axe_node   *a, *b, *dst;

    x->scope = scope;
    if (scope->kind != AXE_STMT_SCOPE || scope->scope != AXE_SCOPE_CTA ||
        scope->keys.overlap > 0 || !sort_body(x, scope->n_body, scope->body) ||
        !x->end || x->n_fill != 2)
        return false;
    t = x->sum->dst->u.tensor;
    dst = x->sum->dst;
    if (!axe_contract_roles(x->sum, &a, &b, &x->ro) || x->ro.n_batch > 0 ||
        x->ro.n_more[AXE_SUMS] > 0 || !is_zero(x->zero) ||
        x->zero->dst->u.tensor != t || t->space == AXE_SPACE_GLOBAL ||
        !axe_type_is_float(t->type) || t->rank != 2 || x->loop->n_var != 1 ||
        dst->arg[0]->u.var != x->ro.m->var ||
        dst->arg[1]->u.var != x->ro.n->var)
        return false;
    x->depth = axe_dim_extent(x->ro.k);
    x->f[0] = (factor){.load = a, .from = copied_from(x, a)};
    x->f[1] = (factor){.load = b, .from = copied_from(x, b)};
    if (!x->f[0].from || !x->f[1].from || !runs_along_k(x, &x->f[0]) ||
        !runs_along_k(x, &x->f[1]) || !find_rows(x))
        return false;
    a = x->f[0].from->u.tensor->shape[x->f[0].k];
    b = x->f[1].from->u.tensor->shape[x->f[1].k];
    return axe_node_same(a, b) &&
           is_count(x, x->loop->var[0]->extent, a, x->depth) && ends_alike(x);
}

/* An element, and what stands in its place. */
typedef struct one_load {
    const axe_node *what, *by;
} one_load;

static const axe_node *
change_load(void *user, const axe_node *n)
{
    const one_load *x = user;

    return axe_node_same(n, x->what) ? x->by : NULL;
}

static const axe_node *
compared(few *x, axe_op op, const axe_node *a, int64_t b)
{
    return axe_node2(x->cx, op, a, axe_iconst(x->cx, a->at, AXE_TYPE_INDEX, b));
}

/* Are the rows few?  The sum is long enough to be worth folding the lanes; and
 * the rows are so few that they go by in one block, or that packing is a
 * quarter of the work, and they stay in the second-level cache meanwhile. */
static const axe_node *
are_few(few *x, const axe_machine *mc)
{
    const axe_tensor *a = x->f[0].from->u.tensor;
    const axe_node   *k = a->shape[x->f[0].k], *all, *some;
    int               v = axe_machine_lanes(mc, x->sum->dst->u.tensor->type);
    int64_t           bytes = axe_type_table[a->type].bits / 8, most = MANY * v;

    most = most < x->tile ? most : x->tile;
    all = axe_node2(x->cx, AXE_OP_mul, x->rows, k);
    some = axe_node2(x->cx, AXE_OP_or, compared(x, AXE_OP_le, x->rows, BLOCK),
                     compared(x, AXE_OP_le, all, mc->l2_bytes / bytes));
    some = axe_node2(x->cx, AXE_OP_and, compared(x, AXE_OP_le, x->rows, most),
                     some);
    all = axe_iconst(x->cx, k->at, AXE_TYPE_INDEX, (int64_t)LONG_SUM * v);
    return axe_node2(x->cx, AXE_OP_and, axe_node2(x->cx, AXE_OP_le, all, k),
                     some);
}

/* ----------------------------------------------------------- what is done */

/* A factor where the end reads the sums, in tile 0 of the rows. */
static const axe_node *
factor_at(few *x, const factor *f, const axe_node *kk)
{
    axe_node *n = axe_new_flex(x->cx, axe_node, arg, f->from->n_arg);
    axe_type  t = x->sum->dst->u.tensor->type;

    axe_rewriter w = axe_rewriter_of(x->cx, x->k);
    axe_rewrite_var(&w, x->ro.m->var, x->acc->arg[0]);
    axe_rewrite_var(&w, x->ro.n->var, x->acc->arg[1]);
    *n = *f->from;
    for (int d = 0; d < n->n_arg; d++)
        n->arg[d] = d == f->k ? kk : axe_rewrite_node(&w, f->from->arg[d]);
    return n->type == t ? n : axe_cast(x->cx, n->at, t, n);
}

/* The sum over all k, as the end's indices say. */
static const axe_node *
whole_sum(few *x)
{
    axe_rewriter    w = axe_rewriter_of(x->cx, x->k);
    const axe_var  *v = axe_rewrite_loop_var(&w, x->ro.k->var);
    const axe_node *kk = axe_var_node(x->cx, x->sum->at, v), *n;
    axe_dim         over = {v, x->f[0].from->u.tensor->shape[x->f[0].k]};

    n = axe_node2(x->cx, AXE_OP_mul, factor_at(x, &x->f[0], kk),
                  factor_at(x, &x->f[1], kk));
    return axe_reduce(x->cx, x->sum->at, AXE_FOLD_SUM, 1, &over, n);
}

/* The scope without i, whose tile is the first, with variables of its own. */
static axe_stmt *
new_scope(few *x, axe_stmt *end)
{
    axe_stmt       *s = axe_new(x->cx, axe_stmt);
    const axe_var **list =
        axe_new_array(x->cx, const axe_var *, x->scope->n_var);
    axe_stmt   **body = axe_new_array(x->cx, axe_stmt *, 1);
    axe_rewriter w = axe_rewriter_of(x->cx, x->k);

    *s = *x->scope;
    s->n_var = 0;
    s->keys = (axe_scope_keys){0};
    for (int i = 0; i < x->scope->n_var; i++) {
        const axe_var *v = x->scope->var[i];
        if (v == x->i)
            axe_rewrite_var(&w, v, axe_iconst(x->cx, v->at, AXE_TYPE_INDEX, 0));
        else
            list[s->n_var++] = axe_rewrite_loop_var(&w, v);
    }
    end->dst = axe_rewrite_node(&w, end->dst);
    end->value = axe_rewrite_node(&w, end->value);
    s->var = list;
    s->n_body = 1;
    body[0] = end;
    s->body = body;
    return s;
}

static axe_stmt *
few_rows(few *x)
{
    axe_stmt *end = axe_new(x->cx, axe_stmt);
    axe_dim  *dim = axe_new_array(x->cx, axe_dim, x->end->n_dim);

    *end = *x->end;
    end->id = x->k->n_index_stmt++;
    end->dim = dim;
    for (int i = 0; i < end->n_dim; i++) {
        dim[i] = x->end->dim[i];
        if (dim[i].var == x->own[0])
            dim[i].extent = x->rows;
    }
    end->value = axe_node_map(x->cx, end->value, change_load,
                              &(one_load){x->acc, whole_sum(x)});
    return new_scope(x, end);
}

const axe_kernel *
axe_few_rows(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    few         x = {.cx = cx, .k = out};
    axe_stmt   *s = axe_new(cx, axe_stmt);
    axe_stmt  **body = axe_new_array(cx, axe_stmt *, 2);
    axe_list    all = {.cx = cx};
    int64_t     known;

    *out = *k;
    if (k->n_body == 0 || !fits(&x, k->body[k->n_body - 1]))
        return k;
    const axe_node *when = are_few(&x, mc);
    if (axe_is_iconst(when, &known) && !known)
        return k;
    body[0] = few_rows(&x);
    body[1] = k->body[k->n_body - 1];
    *s = (axe_stmt){.kind = AXE_STMT_IF,
                    .at = body[1]->at,
                    .cond = when,
                    .n_body = 1,
                    .body = body,
                    .n_other = 1,
                    .other = body + 1};
    for (int i = 0; i + 1 < k->n_body; i++)
        axe_list_push(&all, k->body[i]);
    axe_list_push(&all, axe_is_iconst(when, &known) ? body[0] : s);
    out->n_body = all.n;
    out->body = axe_stmt_list(&all);
    return out;
}
