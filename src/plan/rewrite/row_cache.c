/* row_cache.c - rows that several statements of a CTA read are read once.
 *
 *     cta (i : M by 8) {
 *         top[m] = max[n](X[i*8 + m, n]);
 *         Y[i*8 + m, n] = exp(X[i*8 + m, n] - top[m]);
 *     }
 *
 * A row has N elements, known at launch only, so no tile that a text declares
 * holds it.  The scope becomes several launches, and N says which one has
 * tiles to do:
 *
 *     cta (i : N <= 1024 ? M by 8 : 0) {
 *         reg f32 kept[8, 1024];
 *         kept[m, n] = X[i*8 + m, n];
 *         top[m] = max[n](kept[m, n]);
 *         Y[i*8 + m, n] = exp(kept[m, n] - top[m]);
 *     }
 *
 * where n is an index of the tile that stops at N, its limit.  Longer rows are
 * one row to a CTA, if rows know nothing of one another (row_per_cta.c), by as
 * many threads as hold it, at last in the type that it has in memory; and rows
 * longer than that are read again, one to a CTA, so that what all CTAs read at
 * a time is still in L2. */
#include "plan/rewrite/row_cache.h"
#include "ir/list.h"
#include "ir/stmt.h"
#include "plan/rewrite/rewrite.h"

enum {
    /* [bytes] of a thread's registers for rows: as much again for what is under
     * way and for addresses, and all the threads of an SM have room. */
    KEPT = 128,
    LEAST = 128 /* elements of a row for which it is not worth a launch */
};

/* -------------------------------------------------------------- what is read
 */

/* How often n moves the load: once where its reductions do not, and once in
 * each of them that does. */
static int
count_moves(const axe_node *n, const axe_node *load, bool *here)
{
    int sum = 0;

    if (axe_node_same(n, load))
        *here = true;
    if (n->op == AXE_OP_reduce)
        return axe_keep_reads(n->arg[0], load);
    for (int i = 0; i < n->n_arg; i++)
        sum += count_moves(n->arg[i], load, here);
    return sum;
}

static int
count_reads(int n, axe_stmt *const *body, const axe_node *load)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        bool            here = false;
        int             iterations = s->kind == AXE_STMT_FOR ? 2 : 1;
        if (s->kind == AXE_STMT_INDEX)
            sum += count_moves(s->value, load, &here) + here;
        sum += iterations * count_reads(s->n_body, s->body, load);
        sum += count_reads(s->n_other, s->other, load);
    }
    return sum;
}

/* Does a reduction move the load?  Else statements that read it again need not
 * wait for anything, and could as well be one. */
static bool
is_folded(const axe_node *n, const axe_node *load)
{
    if (n->op == AXE_OP_reduce && axe_keep_reads(n->arg[0], load))
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (is_folded(n->arg[i], load))
            return true;
    return false;
}

static bool
is_folded_in(int n, axe_stmt *const *body, const axe_node *load)
{
    for (int i = 0; i < n; i++)
        if ((body[i]->kind == AXE_STMT_INDEX &&
             is_folded(body[i]->value, load)) ||
            is_folded_in(body[i]->n_body, body[i]->body, load) ||
            is_folded_in(body[i]->n_other, body[i]->other, load))
            return true;
    return false;
}

static bool
is_written(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++)
        if (axe_stmt_writes(body[i], t))
            return true;
    return false;
}

/* Is the load X[i*BM + m, n] of an argument that the scope does not write, i
 * the scope's variable, m and n indices? */
static bool
is_of_row(axe_keep *x, const axe_node *load)
{
    const axe_tensor *t = load->u.tensor;
    axe_affine        a;
    int               own;

    if (t->space != AXE_SPACE_GLOBAL || load->n_arg != 2 ||
        load->arg[1]->op != AXE_OP_var ||
        load->arg[1]->u.var->kind != AXE_VAR_INDEX ||
        !axe_affine_of(x->cx, load->arg[0], &a) || a.n != 2 ||
        a.constant != 0 || is_written(x->scope->n_body, x->scope->body, t))
        return false;
    own = a.var[0] == x->scope->var[0] ? 0 : 1;
    if (a.var[own] != x->scope->var[0] || a.coef[1 - own] != 1 ||
        a.var[1 - own]->kind != AXE_VAR_INDEX)
        return false;
    x->m = a.var[1 - own];
    x->n = load->arg[1]->u.var;
    x->step = a.coef[own];
    x->row = load->arg[0];
    return true;
}

/* The load belongs to rows that are known already, or to the first. */
static void
note_load(axe_keep *x, const axe_node *load)
{
    axe_keep before = *x;

    if (x->n_load == AXE_KEEP_LOADS || !is_of_row(x, load) ||
        count_reads(x->scope->n_body, x->scope->body, load) < 2 ||
        !is_folded_in(x->scope->n_body, x->scope->body, load) ||
        (before.n_load > 0 &&
         (x->n != before.n || !axe_node_same(x->row, before.row)))) {
        *x = before;
        return;
    }
    for (int i = 0; i < x->n_load; i++)
        if (axe_node_same(x->load[i], load))
            return;
    x->load[x->n_load++] = load;
}

static void
find_loads(axe_keep *x, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        note_load(x, n);
    for (int i = 0; i < n->n_arg; i++)
        find_loads(x, n->arg[i]);
}

/* What an index runs over, wherever it does: *e; false where that differs. */
static bool
note_extent(const axe_var *v, const axe_var *of, const axe_node *extent,
            const axe_node **e)
{
    if (v != of)
        return true;
    if (!*e)
        *e = extent;
    return axe_node_same(*e, extent);
}

static bool
find_extent(const axe_node *n, const axe_var *v, const axe_node **e)
{
    bool ok = true;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        ok =
            ok && note_extent(n->u.reduce.over[i], v, n->u.reduce.extent[i], e);
    for (int i = 0; i < n->n_arg; i++)
        ok = ok && find_extent(n->arg[i], v, e);
    return ok;
}

/* Only tiles of registers that no text lays out, index statements, and loops
 * and branches around them. */
static bool
is_plain(const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_TENSOR:
        return s->tensor->space == AXE_SPACE_REG && !s->tensor->layout;
    case AXE_STMT_INDEX:
        return !s->via && !s->atom && !s->slow;
    default:
        return s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_IF;
    }
}

static bool
look_at(axe_keep *x, int n, axe_stmt *const *body, bool loads)
{
    bool ok = true;

    for (int i = 0; i < n && ok; i++) {
        const axe_stmt *s = body[i];
        ok = is_plain(s);
        if (ok && s->kind == AXE_STMT_INDEX && loads)
            find_loads(x, s->value);
        for (int d = 0; s->kind == AXE_STMT_INDEX && d < s->n_dim; d++)
            ok = ok &&
                 note_extent(s->dim[d].var, x->n, s->dim[d].extent,
                             &x->length) &&
                 note_extent(s->dim[d].var, x->m, s->dim[d].extent, &x->rows);
        if (ok && s->kind == AXE_STMT_INDEX)
            ok = find_extent(s->value, x->n, &x->length) &&
                 find_extent(s->value, x->m, &x->rows);
        ok = ok && look_at(x, s->n_body, s->body, loads) &&
             look_at(x, s->n_other, s->other, loads);
    }
    return ok;
}

/* Does the scope read rows again?  Fills in all but what a copy sets. */
static bool
find_rows(axe_keep *x)
{
    const axe_stmt *s = x->scope;
    int64_t         e;

    if (s->kind != AXE_STMT_SCOPE || s->scope != AXE_SCOPE_CTA ||
        s->n_var != 1 || s->first || s->keys.cluster > 1 ||
        s->keys.persistent || s->keys.group || s->keys.threads ||
        !look_at(x, s->n_body, s->body, true) || x->n_load == 0)
        return false;
    x->length = x->rows = NULL;
    if (!look_at(x, s->n_body, s->body, false) || !x->length || !x->rows ||
        axe_is_iconst(x->length, &e) || !axe_is_iconst(x->rows, &e) ||
        e != x->step)
        return false;
    axe_keep_find_made(x);
    return true;
}

/* ------------------------------------------------------------------ launches
 */

/* Elements of a row that `threads` hold of each of so many rows; as_is: in the
 * type that they have in memory. */
static int64_t
room_of(const axe_keep *x, int64_t rows, int64_t threads, bool as_is)
{
    int64_t bytes = 0, n = 1;

    for (int i = 0; i < x->n_load; i++)
        bytes += axe_type_table[as_is ? x->load[i]->type : axe_keep_type(x, i)]
                     .bits /
                 8;
    while (bytes > 0 && 2 * n * rows * bytes <= KEPT * threads)
        n *= 2;
    return n;
}

/* over < length, and <= most; 0: without end. */
static const axe_node *
when_between(const axe_keep *x, int64_t over, int64_t most)
{
    const axe_node *o = axe_index_const(x->cx, over);
    const axe_node *m = axe_index_const(x->cx, most);
    const axe_node *low = axe_node2(x->cx, AXE_OP_lt, o, x->length);
    const axe_node *high = axe_node2(x->cx, AXE_OP_le, x->length, m);

    if (over == 0)
        return high;
    return most == 0 ? low : axe_node2(x->cx, AXE_OP_and, low, high);
}

/* The launches in place of the scope, or the scope itself. */
static void
split_scope(axe_keep *x, const axe_machine *mc, axe_list *out)
{
    axe_threads m = axe_machine_threads(mc);
    bool        apart = axe_keep_apart(x);
    int64_t     over = room_of(x, x->step, m.usual, false);

    if (over < LEAST)
        over = 0;
    if (over > 0)
        axe_list_push(
            out, axe_keep_copy(
                     x, &(axe_keep_way){.most = over,
                                        .when = when_between(x, 0, over)}));
    for (int t = m.usual; apart && t <= m.most;
         t = t < m.most && 4 * t > m.most ? m.most : 4 * t) {
        int64_t most = room_of(x, 1, t, false);
        if (most > over)
            axe_list_push(
                out, axe_keep_copy(x, &(axe_keep_way){.apart = true,
                                                      .threads = t,
                                                      .most = most,
                                                      .when = when_between(
                                                          x, over, most)}));
        over = most > over ? most : over;
    }
    if (apart && room_of(x, 1, m.most, true) > over) {
        int64_t most = room_of(x, 1, m.most, true);
        axe_list_push(
            out, axe_keep_copy(
                     x, &(axe_keep_way){.apart = true,
                                        .threads = m.most,
                                        .most = most,
                                        .as_is = true,
                                        .when = when_between(x, over, most)}));
        over = most;
    }
    axe_list_push(out, axe_keep_copy(x, &(axe_keep_way){
                                            .apart = apart,
                                            .threads = apart ? m.most : 0,
                                            .when = when_between(x, over, 0)}));
}

/* The scopes of a body, and of loops and branches around scopes. */
static void
keep_body(axe_ctx *cx, const axe_machine *mc, axe_kernel *k, int *n,
          axe_stmt *const **body)
{
    axe_list out = {.cx = cx};

    for (int i = 0; i < *n; i++) {
        axe_stmt *s = (*body)[i];
        axe_keep  x = {.cx = cx, .k = k, .scope = s};
        if (find_rows(&x)) {
            split_scope(&x, mc, &out);
            continue;
        }
        if (s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_IF) {
            s = axe_new(cx, axe_stmt);
            *s = *(*body)[i];
            keep_body(cx, mc, k, &s->n_body, &s->body);
            keep_body(cx, mc, k, &s->n_other, &s->other);
        }
        axe_list_push(&out, s);
    }
    *n = out.n;
    *body = axe_stmt_list(&out);
}

const axe_kernel *
axe_simt_keep(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);

    *out = *k;
    keep_body(cx, mc, out, &out->n_body, &out->body);
    return out;
}
