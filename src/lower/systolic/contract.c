/* contract.c - sums of products on the tensor engine (paper, section 3.4).
 *
 * The result in blocks of 128 (m, over partitions) by 512 (n, along them), each
 * a bank of PSUM in which all blocks of 128 of the sum index are summed.  A
 * factor whose sum index is not over partitions is turned, all of it, before.
 */
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

typedef struct factor {
    const axe_node *load;
    const axe_var  *own; /* m or n; NULL: it has none */
    axe_type        as;  /* the engine reads it as */
    bool            made;
    sys_val         tile; /* if it is made: (k block, own) along partitions */
    int64_t         n_own;
} factor;

/* The statement's index as a constant number of values. */
static int64_t
constant(sys *s, const axe_node *load, const axe_var *v)
{
    int64_t n = 1;

    if (v && !axe_is_iconst(sys_declared(s->s, v), &n)) {
        sys_fail(s, load->at,
                 "loop over tiles of it, and copy them to `shared` tiles, as "
                 "kernels/gemm.axe does",
                 "%s: index %s of a product goes over a size, for which there "
                 "is no tile",
                 axe_node_text(s->cx, load), v->name);
        n = 1;
    }
    return n;
}

/* May the engine read it as it lies?  With k over partitions. */
static bool
lies_right(sys *s, const factor *f, const axe_var *k)
{
    sys_bind        kb = {k, sys_c(0), sys_c(1), sys_c(0)};
    sys_bind        ob = {f->own, sys_c(0), sys_c(1), sys_c(0)};
    const sys_bind *P = s->P, *F = s->F;
    int             n = s->n_bind;
    sys_val         v;
    bool            ok;

    if (f->load->u.tensor->space == AXE_SPACE_GLOBAL ||
        f->load->u.tensor->type != f->as)
        return false;
    s->bind[s->n_bind++] = kb;
    s->P = &s->bind[s->n_bind - 1];
    s->F = NULL;
    if (f->own) {
        s->bind[s->n_bind++] = ob;
        s->F = &s->bind[s->n_bind - 1];
    }
    ok = sys_access(s, f->load, &v) == SYS_FITS && !v.psum;
    s->n_bind = n;
    s->P = P;
    s->F = F;
    return ok;
}

static void
make(sys *s, factor *f, const axe_var *k)
{
    int64_t n_k = constant(s, f->load, k);
    int64_t blocks = (n_k + AXE_SYSTOLIC_P - 1) / AXE_SYSTOLIC_P;
    int     n_bind = s->n_bind;
    bool    k_open, o_open = false;

    f->n_own = constant(s, f->load, f->own);
    if (s->st != AXE_OK)
        return;
    f->made = true;
    f->tile = sys_temp(s, f->as, blocks * f->n_own);
    f->tile.column = false;
    int64_t   mark = s->temp;
    sys_bind *kb = sys_bind_blocks(s, k, AXE_SYSTOLIC_P, &k_open);
    sys_val   to = f->tile;
    to.off = sys_mul(s, sys_c(f->n_own), kb->block);
    s->P = kb;
    s->F = NULL;
    if (f->own) {
        s->F = sys_bind_blocks(s, f->own, SYS_CHUNK, &o_open);
        to.off = sys_add(s, to.off, s->F->base);
    }
    to.column = !f->own;
    sys_fetch_into(s, f->load, &to);
    sys_end(s, o_open);
    sys_end(s, k_open);
    s->n_bind = n_bind;
    s->P = s->F = NULL;
    s->temp = mark;
}

/* What the engine reads of it: k as P is, its own index as bound. */
static const char *
operand(sys *s, const factor *f, const sys_bind *k, const sys_bind *own)
{
    sys_ex  cols = own ? own->count : sys_c(1);
    sys_val v;

    if (f->made) {
        v = f->tile;
        v.off = sys_mul(s, sys_c(f->n_own), k->block);
        if (own)
            v.off = sys_add(s, v.off, own->base);
    } else {
        const sys_bind *P = s->P, *F = s->F;
        s->P = k;
        s->F = own;
        (void)sys_access(s, f->load, &v);
        s->P = P;
        s->F = F;
    }
    return sys_put(s, &v, k->count, cols);
}

/* to = to * scale + sum, without a scale if that is NULL. */
static void
add(sys *s, const sys_val *to, const axe_node *scale, const sys_val *sum)
{
    const char *text = sys_put(s, to, sys_parts(s), sys_cols(s));
    const char *more = sys_put(s, sum, sys_parts(s), sys_cols(s));

    if (scale) {
        sys_val c = sys_value(s, scale, NULL);
        sys_line(s,
                 "vector scalar_tensor_tensor %s, %s, %s, op0=multiply, "
                 "operand0=%s, op1=add",
                 text, text, more, sys_put(s, &c, sys_parts(s), sys_c(1)));
    } else
        sys_line(s, "vector tensor_tensor %s, %s, %s, op=add", text, text,
                 more);
    s->busy[AXE_TRN_vector] +=
        AXE_SYSTOLIC_N / axe_trn_engines[AXE_TRN_vector].ghz;
}

/* The sum of a block is where it stays, or goes there now. */
static void
finish(sys *s, const axe_systolic_product *pr, const sys_bind *m,
       const sys_bind *n, const sys_val *sum)
{
    const axe_node          *dst = s->s->dst;
    const axe_tensor        *t = dst->u.tensor;
    const axe_systolic_tile *x = &s->plan->systolic->tile[t->id];
    sys_val                  to;

    s->P = m;
    s->F = n;
    if (t->space == AXE_SPACE_GLOBAL) {
        to = sys_temps(s, t->type, n ? SYS_CHUNK : 1, SYS_STORED);
        if (pr->fold == AXE_FOLD_SUM) {
            sys_val old = sys_fetch(s, dst);
            sys_line(s, "vector tensor_tensor %s, %s, %s, op=add",
                     sys_put(s, &to, sys_parts(s), sys_cols(s)),
                     sys_put(s, &old, sys_parts(s), sys_cols(s)),
                     sys_put(s, sum, sys_parts(s), sys_cols(s)));
        } else
            sys_copy(s, &to, sum, sys_parts(s), sys_cols(s));
        sys_store(s, dst, &to);
    } else if (sys_access(s, dst, &to) != SYS_FITS)
        sys_fail(s, dst->at, "give the tile other dimensions",
                 "%s: none of the product's indices is over its partitions",
                 axe_node_text(s->cx, dst));
    else if (pr->fold == AXE_FOLD_SUM && x->first) {
        sys_ex turn = sys_min(s, sys_c(1), sys_name(s->var[x->first->id]));
        bool   opened;
        sys_if(s, sys_sub(s, sys_c(1), turn), &opened);
        sys_copy(s, &to, sum, sys_parts(s), sys_cols(s));
        sys_end(s, opened);
        sys_if(s, turn, &opened);
        add(s, &to, NULL, sum);
        sys_end(s, opened);
    } else if (pr->fold == AXE_FOLD_SUM)
        add(s, &to, s->plan->systolic->step[s->s->id].scale, sum);
    else
        sys_copy(s, &to, sum, sys_parts(s), sys_cols(s));
    s->P = s->F = NULL;
}

static bool
is_wide(axe_type t)
{
    return t == AXE_TYPE_f32 || t == AXE_TYPE_tf32;
}

/* As what a factor is read beside the other one: f32 only by f32, and integers
 * are none of the engine's. */
static axe_type
type_for(axe_type t, axe_type other)
{
    bool same = axe_trn_type_in(AXE_TRN_TYPES_MATMUL, t) &&
                axe_trn_type_in(AXE_TRN_TYPES_MATMUL, other) &&
                (t == other || (!is_wide(t) && !is_wide(other)));

    return same ? t : AXE_TYPE_f32;
}

/* Other sum indices are loops around the blocks of k. */
static int
open_sums(sys *s, const axe_var *k, bool *opened)
{
    const axe_stmt *st = s->s;
    const axe_node *v = st->value;
    int             n = 0;

    while (v->op == AXE_OP_cast)
        v = v->arg[0];
    bool folds = v->op == AXE_OP_reduce;
    int  n_over = folds ? v->u.reduce.n_over : st->n_dim - st->n_free;
    for (int i = 0; i < n_over; i++) {
        axe_dim d = {folds ? v->u.reduce.over[i] : st->dim[st->n_free + i].var,
                     NULL};
        if (d.var != k)
            n += sys_open(s, 1, &d, &opened[n]);
    }
    return n;
}

/* Does the product add to what is in the tile?  Said only where it is not that
 * of the loops' first turns since the declaration: a tile that is declared in
 * front of a loop with several turns under way has old sums, and a part of such
 * a loop begins later than the loop. */
static const char *
adds_to(sys *s, const axe_tensor *t, int outer, int inner)
{
    sys_ex n = sys_c(s->begun[t->id]);
    bool   say = s->plan->systolic->tile[t->id].piped != NULL;

    for (int d = s->since[t->id]; d < s->depth; d++) {
        say = say || s->now[d];
        if (!s->begun[t->id] && (d < outer || d >= inner) && s->turn[d])
            n = sys_add(s, n, sys_name(s->now[d] ? s->now[d] : s->turn[d]));
    }
    s->begun[t->id] = true;
    return say ? axe_textf(s->cx, ", accumulate=%s", sys_text(s, n)) : "";
}

void
sys_contract(sys *s, const axe_stmt *st, const axe_systolic_product *pr)
{
    factor                   f[2] = {{.load = pr->factor[0], .own = pr->m},
                                     {.load = pr->factor[1], .own = pr->n}};
    bool                     opened[SYS_MAX_BIND], inner[SYS_MAX_BIND];
    bool                     m_open = false, n_open = false, k_open;
    int                      n_free = 0, n_inner = 0;
    const axe_systolic_tile *dst =
        &s->plan->systolic->tile[st->dst->u.tensor->id];

    sys_begin(s, st);
    const int outer = s->depth;
    for (int i = 0; i < st->n_free; i++)
        if (st->dim[i].var != pr->m && st->dim[i].var != pr->n)
            n_free += sys_open(s, 1, &st->dim[i], &opened[n_free]);
    for (int i = 0; i < 2; i++)
        f[i].as =
            type_for(f[i].load->u.tensor->type, f[1 - i].load->u.tensor->type);
    for (int i = 0; i < 2; i++)
        if (!lies_right(s, &f[i], pr->k))
            make(s, &f[i], pr->k);
    const sys_bind *m = NULL, *n = NULL;
    if (pr->m)
        m = sys_bind_blocks(s, pr->m, AXE_SYSTOLIC_P, &m_open);
    if (pr->n)
        n = sys_bind_blocks(s, pr->n, AXE_SYSTOLIC_N, &n_open);
    sys_val sum;
    if (dst->psum) {
        s->P = m;
        s->F = n;
        if (sys_access(s, st->dst, &sum) != SYS_FITS)
            sys_fail(s, st->dst->at, "give the tile other dimensions",
                     "%s: none of the product's indices is over its partitions",
                     axe_node_text(s->cx, st->dst));
        s->P = s->F = NULL;
    } else
        sum = sys_bank(s, AXE_TYPE_f32, 0);
    const int at = s->depth;
    n_inner = open_sums(s, pr->k, inner);
    const sys_bind *k = sys_bind_blocks(s, pr->k, AXE_SYSTOLIC_P, &k_open);
    sum.column = !n;
    sys_line(s, "tensor nc_matmul %s, %s, %s%s",
             sys_put(s, &sum, m ? m->count : sys_c(1), n ? n->count : sys_c(1)),
             operand(s, &f[0], k, m), operand(s, &f[1], k, n),
             dst->psum ? adds_to(s, st->dst->u.tensor, outer, at) : "");
    sys_end(s, k_open);
    for (int i = n_inner - 1; i >= 0; i--)
        sys_end(s, inner[i]);
    if (!dst->psum)
        finish(s, pr, m, n, &sum);
    sys_end(s, n_open);
    sys_end(s, m_open);
    sys_close(s, n_free, opened, 0);
}
