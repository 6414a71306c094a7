/* tmem.c - tensor memory: its columns, moves to and from registers, products.
 *
 * An address is a lane in its upper half and a column in its lower.  The first
 * allocation of a CTA ends at the last column, so that what forgets its base is
 * seen.  Products of two CTAs have the upper half of the rows in the second,
 * and each brings half of the columns' factor. */
#include <stdlib.h>
#include <string.h>

#include "mma.h"

/* --------------------------------------------------------------- allocation */

ptx_result
ptx_tc_alloc(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint64_t       at, n;
    uint32_t       base;
    unsigned char *p;

    at = ptx_address(w, &i->arg[0], 0);
    if (ptx_is_early(w, i) ||
        ptx_same(w, i, i->arg[1].op, lanes, &n) != PTX_DONE)
        return PTX_WRONG;
    if (n < 32 || n > N_COLUMN || (n & (n - 1)) != 0)
        return ptx_wrong(w, i, "%llu columns", (unsigned long long)n);
    if (w->cta->t_columns > 0)
        return ptx_wrong(w, i, "the CTA has %d columns already",
                         w->cta->t_columns);
    p = ptx_shared(w, i, at, 4, 4, A_WRITE);
    if (!p)
        return PTX_WRONG;
    w->cta->t_columns = (int)n;
    base = N_COLUMN - (uint32_t)n;
    memcpy(p, &base, 4);
    return PTX_DONE;
}

ptx_result
ptx_tc_free(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint64_t at, n;

    if (ptx_same(w, i, i->arg[0].op, lanes, &at) != PTX_DONE ||
        ptx_same(w, i, i->arg[1].op, lanes, &n) != PTX_DONE)
        return PTX_WRONG;
    if (n != (uint64_t)w->cta->t_columns || at != N_COLUMN - n)
        return ptx_wrong(w, i, "%llu columns from %#llx are freed, of %d",
                         (unsigned long long)n, (unsigned long long)at,
                         w->cta->t_columns);
    w->cta->t_columns = 0;
    return PTX_DONE;
}

uint32_t *
ptx_word_at(ptx_warp *w, const ptx_insn *i, ptx_cta *c, uint32_t lane,
            uint32_t column, ptx_access how)
{
    if (lane >= N_TLANE || column >= N_COLUMN ||
        column < N_COLUMN - (uint32_t)c->t_columns) {
        ptx_wrong(w, i, "lane %u, column %u of tensor memory is not allocated",
                  lane, column);
        return NULL;
    }
    if (how == A_WRITE)
        c->tknown[column] |= (uint16_t)(1u << lane / 8);
    else if (!(c->tknown[column] >> lane / 8 & 1)) {
        ptx_wrong(w, i, "lane %u, column %u of tensor memory was never written",
                  lane, column);
        return NULL;
    }
    return &c->tmem[lane][column];
}

/* ----------------------------------------------------------- to registers */

/* a: address. */
static ptx_result
move_now(ptx_job *j)
{
    const ptx_insn *i = j->insn;
    ptx_warp       *w = j->warp;
    bool            load = !i->arg[0].memory;
    const ptx_arg  *reg = &i->arg[load ? 0 : 1];
    uint32_t        lane = (uint32_t)j->a[0] >> 16;

    for (uint32_t l = 0; l < N_LANE; l++)
        for (int c = 0; c < reg->n; c++) {
            uint32_t *p =
                ptx_word_at(w, i, w->cta, lane + l,
                            ((uint32_t)j->a[0] & 0xffff) + (uint32_t)c,
                            load ? A_READ : A_WRITE);
            if (!p)
                return PTX_WRONG;
            if (load)
                ptx_put(w, &reg->op[c], (int)l, *p);
            else
                *p = (uint32_t)ptx_get(w, &reg->op[c], (int)l);
        }
    return PTX_DONE;
}

static ptx_result
move(ptx_warp *w, const ptx_insn *i, uint32_t lanes, int memory)
{
    ptx_job *j;
    uint64_t at;

    if (!ptx_has(i, W_L32X32) || i->arg[1 - memory].n != i->count)
        return ptx_wrong(w, i, "this form is not known");
    if (ptx_same(w, i, i->arg[memory].op, lanes, &at) != PTX_DONE)
        return PTX_WRONG;
    at += (uint64_t)i->arg[memory].offset;
    if (at >> 16 != (uint64_t)(w->id % 4 * N_LANE))
        return ptx_wrong(w, i, "lane %llu is not the first of the warp's",
                         (unsigned long long)(at >> 16));
    j = ptx_job_new(w, i, lanes, J_TLD, 0);
    j->run = move_now;
    j->a[0] = at;
    j->group = 0;
    return ptx_issue(j);
}

ptx_result
ptx_tc_load(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return move(w, i, lanes, 1);
}

ptx_result
ptx_tc_store(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return move(w, i, lanes, 0);
}

ptx_result
ptx_tc_drain(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    (void)i;
    return ptx_finish(w, lanes, J_TLD, -1);
}

/* ---------------------------------------------------------------- products */

typedef struct shape {
    const ptx_type *d, *a, *b;
    bool            a_slow, b_slow, scaled;
    int             m, n, k, ctas;
    ptx_scales      scales;
} shape;

static const char *
factor_name(const ptx_insn *i, uint64_t code)
{
    static const char *const f16[] = {"f16", "bf16"};
    static const char *const f8[] = {"e4m3", "e5m2"};
    static const char *const i8[] = {"u8", "s8"};

    if (ptx_has(i, W_KIND_TF32))
        return code == 2 ? "tf32" : NULL;
    if (ptx_has(i, W_KIND_MX4) || ptx_has(i, W_KIND_NV4))
        return code == 1 ? "e2m1" : NULL;
    if (code > 1)
        return NULL;
    return ptx_has(i, W_KIND_F16)                            ? f16[code]
           : ptx_has(i, W_KIND_F8) || ptx_has(i, W_KIND_MX8) ? f8[code]
           : ptx_has(i, W_KIND_I8)                           ? i8[code]
                                                             : NULL;
}

/* The instruction descriptor of a product with scales, sums of f32. */
static bool
scaled_shape_of(const ptx_insn *i, uint64_t bits, shape *out)
{
    bool        fourths = !ptx_has(i, W_KIND_MX8);
    const char *a = factor_name(i, bits >> 7 & 7);
    const char *b = factor_name(i, bits >> 10 & (fourths ? 3 : 7));
    shape       s = {.m = (int)(bits >> 27 & 3) * 128,
                     .n = (int)(bits >> 17 & 63) * 8,
                     .a_slow = bits >> 15 & 1,
                     .b_slow = bits >> 16 & 1,
                     .ctas = ptx_has(i, W_TWO) ? 2 : 1,
                     .scaled = true};

    if (!a || !b || (bits & (fourths ? 0x8701f04f : 0x8700604f)) != 0 ||
        s.m != 128 * s.ctas || s.n < 8 || s.n > 256 ||
        s.n % (s.ctas == 1 ? 8 : 16) != 0)
        return false;
    s.d = ptx_type_of("f32");
    s.a = ptx_type_of(a);
    s.b = ptx_type_of(b);
    s.k = 256 / s.a->bits;
    if (!ptx_scales_of(i, bits, s.k, &s.scales))
        return false;
    *out = s;
    return true;
}

/* The instruction descriptor. */
static bool
shape_of(const ptx_insn *i, uint64_t bits, shape *out)
{
    static const char *const sums[4] = {"f16", "f32", "s32", NULL};
    const char *d = sums[bits >> 4 & 3], *a = factor_name(i, bits >> 7 & 7);
    const char *b = factor_name(i, bits >> 10 & 7);
    shape       s = {.m = (int)(bits >> 24 & 31) * 16,
                     .n = (int)(bits >> 17 & 63) * 8,
                     .a_slow = bits >> 15 & 1,
                     .b_slow = bits >> 16 & 1,
                     .ctas = ptx_has(i, W_TWO) ? 2 : 1};

    if (!d || !a || !b || (bits & 0xe080600f) != 0 || s.n < 8 || s.n > 256 ||
        (ptx_has(i, W_KIND_I8) != (d[0] == 's')))
        return false;
    s.d = ptx_type_of(d);
    s.a = ptx_type_of(a);
    s.b = ptx_type_of(b);
    s.k = 256 / s.a->bits;
    if (s.ctas == 1 ? s.m != 64 && s.m != 128 : s.m != 128 && s.m != 256)
        return false;
    if (s.n % (s.m == 64 ? 8 : s.ctas == 1 ? 16 : 32) != 0)
        return false;
    *out = s;
    return true;
}

/* Lane and column of row r (of the CTA's) and column c. */
static void
place_of(const shape *s, int r, int c, uint32_t *lane, uint32_t *column)
{
    int rows = s->m / s->ctas;

    *lane = (uint32_t)r;
    *column = (uint32_t)c;
    if (rows == 64 && s->ctas == 1) {
        *lane = (uint32_t)(r / 16 * 32 + r % 16);
    } else if (rows == 64) {
        *lane = (uint32_t)(r + c / (s->n / 2) * 64);
        *column = (uint32_t)(c % (s->n / 2));
    }
}

static ptx_result
add_sums(ptx_job *j, const shape *s, ptx_cta *c, const double *sum)
{
    uint32_t to = (uint32_t)j->a[0], lane, column;

    for (int r = 0; r < s->m / s->ctas; r++)
        for (int k = 0; k < s->n; k++) {
            uint32_t *p;
            double    v = sum[r * s->n + k];
            place_of(s, r, k, &lane, &column);
            p = ptx_word_at(j->warp, j->insn, c, (to >> 16) + lane,
                            (to & 0xffff) + column, j->a[4] ? A_READ : A_WRITE);
            if (!p)
                return PTX_WRONG;
            if (j->a[4])
                v += ptx_number(s->d, *p);
            *p = (uint32_t)ptx_bits(s->d, v);
        }
    return PTX_DONE;
}

/* Rows of a that lie in tensor memory, elements side by side in words. */
static ptx_result
from_tmem(ptx_job *j, const shape *s, ptx_cta *c, double *out)
{
    uint32_t at = (uint32_t)j->a[1], lane, column;
    int      per = 32 / s->a->bits;

    for (int r = 0; r < s->m / s->ctas; r++)
        for (int k = 0; k < s->k; k++) {
            uint32_t *p;
            place_of(s, r, 0, &lane, &column);
            p = ptx_word_at(j->warp, j->insn, c, (at >> 16) + lane,
                            (at & 0xffff) + (uint32_t)(k / per), A_READ);
            if (!p)
                return PTX_WRONG;
            out[r * s->k + k] = ptx_number(s->a, *p >> k % per * s->a->bits);
        }
    return PTX_DONE;
}

static ptx_result
multiply(ptx_job *j, const shape *s, ptx_cta *c, double *a, double *b,
         double *sum)
{
    ptx_warp *w = j->warp;
    ptx_desc  da = ptx_describe(j->a[1], true);
    ptx_desc  db = ptx_describe(j->a[2], true);
    int       rows = s->m / s->ctas, columns = s->n / s->ctas;
    int       first = c->rank / s->ctas * s->ctas;

    if ((!j->insn->arg[1].memory && da.version != 1) || db.version != 1)
        return ptx_wrong(w, j->insn, "a descriptor of another version");
    if (j->insn->arg[1].memory ? from_tmem(j, s, c, a) != PTX_DONE
                               : ptx_fetch(w, j->insn, c->rank, &da, s->a_slow,
                                           s->a, 0, rows, s->k, a) != PTX_DONE)
        return PTX_WRONG;
    for (int h = 0; h < s->ctas; h++)
        if (ptx_fetch(w, j->insn, first + h, &db, s->b_slow, s->b, 0, columns,
                      s->k, b + h * columns * s->k) != PTX_DONE)
            return PTX_WRONG;
    if (s->scaled &&
        (ptx_scale(j, c, &s->scales, 0, rows, s->k, a) != PTX_DONE ||
         ptx_scale(j, c, &s->scales, 1, s->n, s->k, b) != PTX_DONE))
        return PTX_WRONG;
    ptx_product(rows, s->n, s->k, a, b, sum);
    return add_sums(j, s, c, sum);
}

/* a: sums, factors, instruction descriptor, whether the sums count; scales. */
static ptx_result
mma_now(ptx_job *j)
{
    ptx_cluster *c = j->warp->cta->cluster;
    shape        s;
    double      *a, *b, *sum;
    ptx_result   r = PTX_DONE;

    if (!(j->insn->n_arg == 7 ? scaled_shape_of(j->insn, j->a[3], &s)
                              : shape_of(j->insn, j->a[3], &s)))
        return ptx_wrong(j->warp, j->insn,
                         "instruction descriptor %#llx is not known",
                         (unsigned long long)j->a[3]);
    a = ptx_room(s.m * s.k);
    b = ptx_room(s.n * s.k);
    sum = ptx_room(s.m * s.n);
    for (int h = 0; h < s.ctas && r == PTX_DONE; h++)
        r = multiply(j, &s, &c->cta[j->warp->cta->rank / s.ctas * s.ctas + h],
                     a, b, sum);
    free(a);
    free(b);
    free(sum);
    return r;
}

static ptx_result
fill_mma(ptx_job *j, int l)
{
    const ptx_warp *w = j->warp;
    const ptx_arg  *arg = j->insn->arg;
    int             last = j->insn->n_arg - 1;

    j->a[0] = ptx_address(w, &arg[0], l);
    j->a[1] = ptx_address(w, &arg[1], l);
    j->a[2] = ptx_get(w, arg[2].op, l);
    j->a[3] = ptx_get(w, arg[3].op, l);
    j->a[4] = ptx_get(w, arg[last].op, l) & 1;
    for (int k = 4; k < last; k++)
        j->a[1 + k] = ptx_address(w, &arg[k], l);
    return PTX_DONE;
}

ptx_result
ptx_tc_mma(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    if ((i->n_arg != 5 && i->n_arg != 7) ||
        (ptx_has(i, W_TWO) && w->cta->cluster->n_cta % 2 != 0))
        return ptx_wrong(w, i, "this form is not known");
    return ptx_issue_each(w, i, lanes, J_TC, mma_now, fill_mma);
}

/* a: mbarrier, mask of CTAs (0: the one it is in). */
static ptx_result
commit_now(ptx_job *j)
{
    ptx_warp *w = j->warp;

    if (j->a[1] == 0)
        return ptx_arrive_at(w, j->insn, j->a[0], 0);
    for (uint64_t r = 0; r < MAX_CLUSTER; r++)
        if (j->a[1] >> r & 1 &&
            ptx_arrive_at(w, j->insn,
                          (r + 1) << RANK_SHIFT | (j->a[0] & 0xffffff),
                          0) != PTX_DONE)
            return PTX_WRONG;
    return PTX_DONE;
}

static ptx_result
fill_commit(ptx_job *j, int l)
{
    const ptx_insn *i = j->insn;

    j->a[0] = ptx_address(j->warp, &i->arg[0], l);
    j->a[1] = i->n_arg > 1 ? ptx_get(j->warp, i->arg[1].op, l) & 0xffff : 0;
    return PTX_DONE;
}

ptx_result
ptx_tc_commit(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return ptx_issue_each(w, i, lanes, J_TC, commit_now, fill_commit);
}
