/* tmem_epilogue.c - statements on tensor memory, as moves and the rest.
 *
 * Threads reach tensor memory by moves to and from their registers alone, and
 * contractions.  So a statement that computes with what lies there is written
 * anew with register tiles between, and the wide ones of them by parts of the
 * fast index, so that a thread never has many registers of it:
 *
 *     C[m, n] = f(acc[m, n])    becomes    for (p : N / PART) {
 *                                              reg r[M, PART];
 *                                              r[m, n] = acc[m, p*PART + n];
 *                                              C[m, p*PART + n] = f(r[m, n]);
 *                                          }
 *
 * Everything else follows as for statements that the text holds. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/access/scaled.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

enum { PART = 128, MAX_LOAD = 8 };

typedef struct rewriting {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_stmt *s;
    int             n_load; /* of tensor memory, each once */
    const axe_node *load[MAX_LOAD];
    const axe_node *as[MAX_LOAD]; /* elements of register tiles */
    const axe_var  *fast, *part;  /* fast runs in a part; NULL: one part */
    int64_t         n_part, wide; /* parts, their extent */
    axe_status      status;
} rewriting;

static bool
is_reg(const axe_node *n)
{
    return n->op == AXE_OP_load && n->u.tensor->space == AXE_SPACE_REG &&
           n->u.tensor->rank > 0;
}

static void
find_load(void *user, const axe_node *n)
{
    rewriting *x = user;

    if (!axe_is_in_tmem(n))
        return;
    for (int i = 0; i < x->n_load; i++)
        if (axe_node_same(x->load[i], n))
            return;
    if (x->n_load < MAX_LOAD)
        x->load[x->n_load++] = n;
    else
        x->status =
            axe_fail(x->cx, n->at, AXE_ELIMIT,
                     "one statement reads tensor memory in more than %d "
                     "places: split it, by way of a reg tile",
                     MAX_LOAD);
}

/* ------------------------------------------------------------------ indices */

/* The one index in a subscript, or NULL. */
static const axe_dim *
index_in(const axe_stmt *s, const axe_node *sub)
{
    const axe_dim *found = NULL;

    for (int i = 0; i < s->n_dim; i++)
        if (axe_mentions(sub, s->dim[i].var)) {
            if (found)
                return NULL;
            found = &s->dim[i];
        }
    return found;
}

typedef struct watch {
    const axe_var *v;
    bool           held; /* an element of registers moves with v */
} watch;

static void
find_held(void *user, const axe_node *n)
{
    watch *w = user;

    w->held = w->held || (is_reg(n) && axe_mentions(n, w->v));
}

/* Into how many parts the statement is cut along x->fast: smaller ones where
 * registers of other tiles are taken meanwhile. */
static void
choose_part(rewriting *x)
{
    const axe_stmt *s = x->s;
    const axe_node *first = x->n_load > 0 ? x->load[0] : s->dst;
    const axe_dim  *d = index_in(s, first->arg[first->n_arg - 1]);
    watch           w = {d ? d->var : NULL, false};
    int64_t         e = d ? axe_dim_extent(d) : 0;

    x->n_part = 1;
    if (!d || d - s->dim >= s->n_free)
        return;
    for (int i = 0; i < x->n_load; i++)
        if (index_in(s, x->load[i]->arg[x->load[i]->n_arg - 1]) != d)
            return;
    axe_node_walk(s->dst, find_held, &w);
    axe_node_walk(s->value, find_held, &w);
    x->wide = w.held ? PART / 4 : PART;
    if (e <= x->wide || e % x->wide != 0)
        return;
    x->fast = d->var;
    x->n_part = e / x->wide;
}

/* ----------------------------------------------------------------- building */

/* In the part at hand. */
static const axe_node *
change_index(void *user, const axe_node *n)
{
    const rewriting *x = user;

    if (n->op != AXE_OP_var || n->u.var != x->fast || !x->part)
        return NULL;
    return axe_node2(
        x->cx, AXE_OP_add,
        axe_node2(x->cx, AXE_OP_mul, axe_var_node(x->cx, n->at, x->part),
                  axe_iconst(x->cx, n->at, AXE_TYPE_INDEX, x->wide)),
        n);
}

/* That, and registers for tensor memory. */
static const axe_node *
change_held(void *user, const axe_node *n)
{
    const rewriting *x = user;

    for (int i = 0; i < x->n_load; i++)
        if (axe_is_in_tmem(n) && axe_node_same(n, x->load[i]))
            return x->as[i];
    return change_index(user, n);
}

/* n in the part at hand, and with registers for tensor memory if `held`. */
static const axe_node *
rewritten(rewriting *x, const axe_node *n, bool held)
{
    return axe_node_map(x->cx, n, held ? change_held : change_index, x);
}

/* The statement's dims, with the fast one's extent that of a part. */
static axe_dim
dim_in_part(const rewriting *x, const axe_dim *d)
{
    axe_dim out = *d;

    if (d->var == x->fast)
        out.extent = axe_index_const(x->cx, x->wide);
    return out;
}

/* A register tile for the element, declared in out: as an element by the
 * indices in its subscripts.  dim: these; room for one each. */
static const axe_node *
make_tile(rewriting *x, const axe_node *load, axe_dim *dim, int *n_dim,
          axe_list *out)
{
    const axe_tensor *from = load->u.tensor;
    axe_stmt         *s;
    const axe_node  **shape, **sub;
    int               n = 0;

    shape = axe_new_array(x->cx, const axe_node *, load->n_arg + 1);
    sub = axe_new_array(x->cx, const axe_node *, load->n_arg + 1);
    for (int i = 0; i < load->n_arg; i++) {
        const axe_dim *d = index_in(x->s, load->arg[i]);
        if (!d)
            continue;
        dim[n] = dim_in_part(x, d);
        shape[n] = dim[n].extent;
        sub[n++] = axe_var_node(x->cx, load->at, d->var);
    }
    s = axe_tile_make(
        x->cx, x->k,
        &(axe_tensor){.name = axe_textf(x->cx, "%s.held", from->name),
                      .at = load->at,
                      .space = AXE_SPACE_REG,
                      .type = from->type,
                      .rank = n,
                      .shape = shape});
    axe_list_push(out, s);
    *n_dim = n;
    return axe_load(x->cx, load->at, s->tensor, sub);
}

static void
add_move(rewriting *x, const axe_node *dst, const axe_node *value, int n_dim,
         const axe_dim *dim, axe_list *out)
{
    axe_list_push(
        out, axe_index_make(x->cx, x->k, x->s->at, dst, value, n_dim, dim));
}

/* The value with `op=` spelled out where its result goes to tensor memory. */
static const axe_node *
spelled(const rewriting *x)
{
    return axe_is_in_tmem(x->s->dst) ? axe_spell_fold(x->cx, x->s)
                                     : x->s->value;
}

/* ---------------------------------------------------------------- rewriting */

/* All statements of one part. */
static void
fill_part(rewriting *x, const axe_node *value, axe_list *out)
{
    axe_stmt *s = axe_new(x->cx, axe_stmt);
    axe_dim  *dim;
    int       n;

    *s = *x->s;
    for (int i = 0; i < x->n_load; i++) {
        dim = axe_new_array(x->cx, axe_dim, x->load[i]->n_arg + 1);
        x->as[i] = make_tile(x, x->load[i], dim, &n, out);
        add_move(x, x->as[i], rewritten(x, x->load[i], false), n, dim, out);
    }
    dim = axe_new_array(x->cx, axe_dim, s->n_dim + 1);
    for (int i = 0; i < s->n_dim; i++)
        dim[i] = dim_in_part(x, &x->s->dim[i]);
    s->dim = dim;
    s->value = rewritten(x, value, true);
    if (!axe_is_in_tmem(s->dst)) {
        s->dst = rewritten(x, s->dst, true);
        axe_list_push(out, s);
        return;
    }
    dim = axe_new_array(x->cx, axe_dim, s->dst->n_arg + 1);
    s->dst = make_tile(x, x->s->dst, dim, &n, out);
    s->fold = AXE_FOLD_NONE;
    s->n_dim = s->n_free;
    axe_list_push(out, s);
    add_move(x, rewritten(x, x->s->dst, false), s->dst, n, dim, out);
}

static void
rewrite(rewriting *x, axe_list *out)
{
    const axe_node *value = spelled(x);
    axe_list        in = {.cx = x->cx};
    axe_stmt       *loop;
    axe_var        *v;
    const axe_var **var;

    axe_node_walk(value, find_load, x);
    choose_part(x);
    if (x->n_part == 1) {
        fill_part(x, value, out);
        return;
    }
    var = axe_new_array(x->cx, const axe_var *, 1);
    v = axe_var_make(x->cx, x->k, AXE_VAR_LOOP, "part", x->s->at);
    v->extent = axe_iconst(x->cx, x->s->at, AXE_TYPE_INDEX, x->n_part);
    x->part = var[0] = v;
    fill_part(x, value, &in);
    loop = axe_stmt_make(x->cx, AXE_STMT_FOR, x->s->at);
    loop->n_var = 1;
    loop->var = var;
    loop->n_body = in.n;
    loop->body = axe_stmt_list(&in);
    axe_list_push(out, loop);
}

typedef struct seen {
    int n_load, n_tmem;
} seen;

static void
count_loads(void *user, const axe_node *n)
{
    seen *c = user;

    c->n_load += n->op == AXE_OP_load;
    c->n_tmem += axe_is_in_tmem(n);
}

/* Contractions, moves between a thread's registers and tensor memory, and
 * constants are what machines do. */
static bool
is_plain(axe_ctx *cx, const axe_machine *mc, const axe_stmt *s)
{
    const axe_node *d = s->dst, *v = s->value;
    seen            c = {0, 0};

    axe_node_walk(v, count_loads, &c);
    if (!axe_is_in_tmem(d) && c.n_tmem == 0)
        return true;
    if (axe_is_in_tmem(d) &&
        (axe_contract_wanted(s) || axe_takes_scales(cx, mc, s, false) ||
         (c.n_load == 0 && s->fold == AXE_FOLD_NONE)))
        return true;
    return s->fold == AXE_FOLD_NONE && s->n_dim == s->n_free &&
           v->type == d->type &&
           ((axe_is_in_tmem(d) && is_reg(v)) ||
            (is_reg(d) && axe_is_in_tmem(v)));
}

typedef struct holding {
    axe_ctx           *cx;
    const axe_machine *mc;
    axe_kernel        *k;
    axe_status         status;
} holding;

static bool
hold_stmt(void *user, axe_stmt *s, axe_list *out)
{
    holding  *h = user;
    rewriting x = {.cx = h->cx, .k = h->k, .s = s};

    if (s->kind != AXE_STMT_INDEX || is_plain(h->cx, h->mc, s) ||
        h->status != AXE_OK)
        return false;
    rewrite(&x, out);
    h->status = x.status;
    return true;
}

axe_status
axe_simt_hold_sums(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
                   const axe_kernel **out)
{
    axe_kernel *new = axe_new(cx, axe_kernel);
    holding h = {.cx = cx, .mc = mc, .k = new};

    *new = *k;
    *out = axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = hold_stmt, .user = &h}, k, new);
    return h.status;
}
