/* contract.c - CONTRACT: c += a b by the three layouts of the row.
 *
 * Operands are gathered into matrices once, multiplied, and put back.  The sums
 * of an asynchronous atom stay as a matrix (they are held) until their threads
 * touch the registers, since the next atom nearly always adds to the same. */
#include <string.h>

#include "sim/bits.h"
#include "sim/sim_int.h"

enum { PAD_COLS = 32, PAD_ROWS = 4 };

/* Sums that are not in their registers now. */
typedef struct sim_held {
    const sim_product *p;
    sim_warp          *warp; /* the first of the warp group */
    int                array;
    int64_t            at;
    int64_t            ld;
    size_t             cap; /* floats of d */
    float             *d;
    struct sim_held   *next;  /* of the same array */
    struct sim_held   *spare; /* of those without use */
} sim_held;

static int64_t
padded(int64_t n, int64_t by)
{
    return (n + by - 1) / by * by;
}

/* ------------------------------------------------------------- registers */

/* lane: the thread that issues, where it is one alone. */
static uint8_t *
reg_at(sim_warp *first, int array, int64_t at, const sim_place *p, int lane)
{
    sim_warp  *w = first + (p->warp > 0 ? p->warp : 0);
    sim_array *x = &w->array[array];

    if (p->lane >= 0)
        lane = p->lane;
    return x->bits + ((at + p->at) * w->cta->s->lanes + lane) * x->size;
}

/* The registers of an operand in f32, warp by warp, from its first: where they
 * are in f32 anyway, themselves. */
static void
in_floats(sim *s, sim_warp *first, int array, int64_t at, const sim_side *side,
          axe_type as, const float **base)
{
    float *to = s->wide;

    for (int w = 0; w < s->group_warps; w++) {
        const sim_regs *r = &side->regs[w];
        int             n = (r->hi + 1) * s->lanes;
        if (r->n == 0)
            continue;
        const sim_array *x = &first[w].array[array];
        const uint8_t   *bits = x->bits + at * s->lanes * x->size;
        if (x->type == AXE_TYPE_f32 && as != AXE_TYPE_tf32) {
            base[w] = (const float *)(const void *)bits;
            continue;
        }
        axe_sim_widen(x->type, as, bits, n, to);
        base[w] = to;
        to += n;
    }
}

/* An operand in registers as a matrix; of elements with copies the first. */
static void
gather_registers(sim *s, const sim_call *c, int which, const sim_side *side,
                 int rows, int cols, float *out, int64_t ld)
{
    const float     *base[MAX_WARPGROUP] = {NULL};
    const sim_place *q = side->place;

    in_floats(s, c->warp, c->in->arg[which].tensor, c->at[which][c->lane], side,
              c->in->shape->atom->type[which], base);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++, q += side->n_copy)
            out[i * ld + j] =
                base[q->warp > 0 ? q->warp : 0]
                    [q->at * s->lanes + (q->lane >= 0 ? q->lane : c->lane)];
}

static void
sums_back(sim_warp *first, int array, int64_t at, const sim_product *p,
          int64_t ld, const float *d, int lane)
{
    const sim_place *q = p->c.place;
    axe_type         t = first->array[array].type;

    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            for (int k = 0; k < p->c.n_copy; k++, q++) {
                uint8_t *to = reg_at(first, array, at, q, lane);
                if (t == AXE_TYPE_f32)
                    memcpy(to, &d[i * ld + j], sizeof d[0]);
                else
                    axe_sim_put(t, to, axe_sim_round(t, (double)d[i * ld + j]));
            }
}

void
axe_sim_unhold(sim *s, sim_held *h)
{
    sim_held *next;

    for (int w = 0; w < s->group_warps; w++)
        h->warp[w].array[h->array].held = NULL;
    for (; h; h = next) {
        next = h->next;
        sums_back(h->warp, h->array, h->at, h->p, h->ld, h->d, 0);
        h->spare = s->held;
        s->held = h;
    }
}

static sim_held *
new_held(sim *s, size_t need)
{
    sim_held **at = &s->held, *h;

    while (*at && (*at)->cap < need)
        at = &(*at)->spare;
    if (*at) {
        h = *at;
        *at = h->spare;
        return h;
    }
    h = axe_new(s->own, sim_held);
    h->cap = need;
    h->d = axe_new_array(s->own, float, need);
    return h;
}

/* The sums of an asynchronous atom as a matrix. */
static float *
hold(sim *s, const sim_call *c, int64_t ld)
{
    const sim_product *p = c->in->shape->product;
    int                array = c->in->arg[0].tensor;
    int64_t            at = c->at[0][0], rows = padded(p->m, PAD_ROWS);
    sim_array         *x = &c->warp->array[array];

    for (sim_held *h = x->held; h; h = h->next)
        if (h->p->m != p->m || h->p->n != p->n || h->warp != c->warp) {
            axe_sim_unhold(s, x->held);
            break;
        }
    for (sim_held *h = x->held; h; h = h->next)
        if (h->at == at)
            return h->d;
    sim_held *h = new_held(s, (size_t)(rows * ld));
    h->p = p;
    h->warp = c->warp;
    h->array = array;
    h->at = at;
    h->ld = ld;
    h->next = x->held;
    memset(h->d, 0, (size_t)(rows * ld) * sizeof h->d[0]);
    gather_registers(s, c, 0, &p->c, p->m, p->n, h->d, ld);
    for (int w = 0; w < s->group_warps; w++)
        c->warp[w].array[array].held = h;
    return h->d;
}

/* -------------------------------------------------------------- operands */

static void
report_outside(sim *s, const sim_call *c, const axe_buffer *b, int64_t byte)
{
    if (!axe_sim_known(s, AXE_SIM_BOUNDS, c->in, -1))
        axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                     "%s reads byte %lld of %s, which has %lld",
                     axe_sim_agent_text(s, c->agent), (long long)byte,
                     b->tensor->name, (long long)b->bytes);
}

/* Descriptors count in pieces of 16 bytes, and swizzles from multiples of their
 * period. */
static bool
check_descriptor(sim *s, const sim_call *c, int which)
{
    const sim_arg    *a = &c->in->arg[which];
    const axe_buffer *b = &s->g->buffer[a->tensor];
    int64_t           bits = axe_type_table[b->tensor->type].bits;
    int               period = 8 * (GRANULE << b->swizzle.bits);
    const char       *why = NULL;

    if (c->at[which][c->lane] * bits % (GRANULE * 8) != 0)
        why = "does not begin at a multiple of 16 bytes";
    else if (a->unknown)
        why = a->unknown;
    else if (a->matrix.span != GRANULE << b->swizzle.bits)
        why = "is told of with another swizzle than it has";
    else if (b->swizzle.bits > 0 && b->offset % period != 0)
        why = "lies in a buffer that begins within a period of its swizzle";
    else if (a->major && !c->in->shape->atom->major)
        why = "is major, which the atom has no form for";
    if (!why)
        return true;
    axe_sim_find(s, AXE_SIM_LAYOUT, c->in, -1, "operand %d, %s, %s", which,
                 b->tensor->name, why);
    return false;
}

/* The bytes of a matrix in shared memory as a descriptor says, line by line. */
void
axe_sim_fetch(sim *s, sim_call *c, int which, sim_cta *cta, int rows,
              int row_bytes, uint8_t *out)
{
    const sim_arg    *a = &c->in->arg[which];
    const axe_buffer *b = &s->g->buffer[a->tensor];
    int64_t   base = axe_type_bytes(b->tensor->type, c->at[which][c->lane]);
    sim_touch t = {.call = c,
                   .shadow = &cta->shadow,
                   .tensor = b->tensor,
                   .buffer = b,
                   .cta = cta,
                   .lane = EVERY_LANE,
                   .tag = a->tensor + 1};

    for (int i = 0; i < rows; i++)
        for (int f = 0; f < row_bytes; f += GRANULE, out += GRANULE) {
            int64_t byte = base + axe_matrix_at(&a->matrix, a->major, i, f);
            if (byte < 0 || byte > b->bytes - GRANULE) {
                report_outside(s, c, b, byte);
                memset(out, 0, GRANULE);
                continue;
            }
            int64_t real = b->offset + axe_sim_swizzled(b, byte);
            if (s->checks)
                axe_sim_touch(s, &t, real, GRANULE);
            memcpy(out, cta->memory + real, GRANULE);
        }
    s->report->shared_read += (int64_t)rows * row_bytes;
}

/* An element of a factor that lies in partitions. */
static void
part_element(sim *s, sim_call *c, int which, const sim_tile *t, int i, int j,
             uint8_t *out)
{
    const sim_arg *a = &c->in->arg[which];
    int            lane = c->lane;
    int64_t        at = c->at[which][lane] + t->row[i].at + t->col[j].at;

    memset(out, 0, sizeof(int64_t));
    c->lane = EVERY_LANE;
    (void)axe_sim_bytes(s, c, a, c->warp->cta, at, 1, false, out);
    c->lane = lane;
}

static const sim_tile *
tile_of(const sim_call *c, int which)
{
    const sim_product *p = c->in->shape->product;

    return which == 1 ? p->a.tile : p->b.tile;
}

void
axe_sim_gather(sim *s, sim_call *c, int which, sim_cta *cta, int n, int k,
               float *out, int64_t row, int64_t col)
{
    const sim_arg  *a = &c->in->arg[which];
    axe_type        t = s->g->buffer[a->tensor].tensor->type;
    axe_type        as = c->in->shape->atom->type[which];
    int             fast = a->major ? n : k, slow = a->major ? k : n;
    int64_t         near = a->major ? row : col, far = a->major ? col : row;
    int             bytes = fast * axe_type_table[t].bits / 8;
    uint8_t         one[sizeof(int64_t)];
    const sim_tile *tile = tile_of(c, which);

    for (int i = 0; tile && i < n; i++)
        for (int j = 0; j < k; j++) {
            part_element(s, c, which, tile, i, j, one);
            axe_sim_widen(t, as, one, 1, &out[i * row + j * col]);
        }
    if (tile)
        return;
    if (bytes % GRANULE != 0 || !check_descriptor(s, c, which))
        return;
    axe_sim_fetch(s, c, which, cta, slow, bytes, s->raw);
    for (int i = 0; i < slow; i++)
        axe_sim_widen(t, as, s->raw + (int64_t)i * bytes, fast,
                      near == 1 ? out + i * far : s->wide + i * fast);
    for (int j = 0; j < fast && near != 1; j++)
        for (int i = 0; i < slow; i++)
            out[j * near + i] = s->wide[i * fast + j];
}

/* ---------------------------------------------------------------- in f32 */

static void
multiply(sim *s, sim_call *c, bool fresh)
{
    const sim_product *p = c->in->shape->product;
    int64_t            ld = padded(p->n, PAD_COLS);
    int64_t            rows = padded(p->m, PAD_ROWS);
    float             *a = s->mma, *b = a + rows * p->k, *d = b + ld * p->k;
    bool               held = c->in->shape->async;

    memset(s->mma, 0, (size_t)(rows * p->k + ld * p->k) * sizeof a[0]);
    if (p->a.memory)
        axe_sim_gather(s, c, 1, c->warp->cta, p->m, p->k, a, p->k, 1);
    else
        gather_registers(s, c, 1, &p->a, p->m, p->k, a, p->k);
    if (p->b.memory)
        axe_sim_gather(s, c, 2, c->warp->cta, p->n, p->k, b, 1, ld);
    else
        gather_registers(s, c, 2, &p->b, p->k, p->n, b, ld);
    if (held) {
        d = hold(s, c, ld);
    } else {
        memset(d, 0, (size_t)(rows * ld) * sizeof d[0]);
        gather_registers(s, c, 0, &p->c, p->m, p->n, d, ld);
    }
    if (fresh)
        memset(d, 0, (size_t)(rows * ld) * sizeof d[0]);
    axe_sim_mma((int)rows, p->k, ld, a, b, d);
    if (!held)
        sums_back(c->warp, c->in->arg[0].tensor, c->at[0][c->lane], p, ld, d,
                  c->lane);
}

/* ------------------------------------------------ integers and f64, by rows */

/* One element of an operand: registers, or memory as a descriptor says. */
static void
element(sim *s, sim_call *c, int which, int row, int col, int cols,
        uint8_t *out)
{
    const sim_product *p = c->in->shape->product;
    const sim_side    *side = which == 1 ? &p->a : &p->b;
    const sim_arg     *a = &c->in->arg[which];

    memset(out, 0, sizeof(int64_t));
    if (!side->memory) {
        const sim_array *x = &c->warp->array[a->tensor];
        memcpy(out,
               reg_at(c->warp, a->tensor, c->at[which][c->lane],
                      &side->place[(row * cols + col) * side->n_copy], c->lane),
               (size_t)x->size);
        return;
    }
    const axe_buffer *b = &s->g->buffer[a->tensor];
    int               e = axe_type_table[b->tensor->type].bits / 8;
    int               r = which == 1 ? row : col, k = which == 1 ? col : row;
    if (side->tile) {
        part_element(s, c, which, side->tile, r, k, out);
        return;
    }
    int     fast = a->major ? r : k, slow = a->major ? k : r;
    int64_t byte = axe_matrix_at(&a->matrix, a->major, slow, (int64_t)fast * e);
    (void)axe_sim_bytes(s, c, a, c->warp->cta, c->at[which][0] + byte / e, 1,
                        false, out);
}

static axe_type
type_of(const sim *s, const sim_call *c, int which)
{
    const sim_arg *a = &c->in->arg[which];

    return a->space == AXE_ARG_REG ? c->warp->array[a->tensor].type
                                   : s->g->buffer[a->tensor].tensor->type;
}

static void
put_sum(sim_call *c, int i, int j, bool is_float, double f, int64_t v)
{
    const sim_product *p = c->in->shape->product;
    int                array = c->in->arg[0].tensor;
    axe_type           t = c->warp->array[array].type;

    for (int k = 0; k < p->c.n_copy; k++) {
        uint8_t *at =
            reg_at(c->warp, array, c->at[0][c->lane],
                   &p->c.place[(i * p->n + j) * p->c.n_copy + k], c->lane);
        if (is_float)
            axe_sim_put(t, at, axe_sim_round(t, f));
        else
            axe_number_put_int(t, at, v);
    }
}

static void
multiply_exactly(sim *s, sim_call *c, bool fresh)
{
    const sim_product *p = c->in->shape->product;
    int                array = c->in->arg[0].tensor;
    axe_type           t = c->warp->array[array].type, ta = type_of(s, c, 1);
    axe_type           tb = type_of(s, c, 2);
    bool               is_float = axe_type_is_float(t);
    uint8_t            a[8], b[8];

    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            const uint8_t *at =
                reg_at(c->warp, array, c->at[0][c->lane],
                       &p->c.place[(i * p->n + j) * p->c.n_copy], c->lane);
            double  f = fresh || !is_float ? 0 : axe_sim_get(t, at);
            int64_t v = fresh || is_float ? 0 : axe_number_get_int(t, at);
            for (int k = 0; k < p->k; k++) {
                element(s, c, 1, i, k, p->k, a);
                element(s, c, 2, k, j, p->n, b);
                if (is_float)
                    f = fma(axe_sim_get(ta, a), axe_sim_get(tb, b), f);
                else
                    v += axe_number_get_int(ta, a) * axe_number_get_int(tb, b);
            }
            put_sum(c, i, j, is_float, f, v);
        }
}

/* ------------------------------------------------- operands in registers */

/* All registers of one operand of warp w, number `rank` of its warp group. */
static void
check_side(sim *s, const sim_call *c, int which, const sim_side *side,
           sim_warp *w, int rank, bool write)
{
    const sim_regs *r = &side->regs[rank];
    int             array = c->in->arg[which].tensor;

    for (int i = 0; i < r->n; i++) {
        axe_lane_set mask = r->lanes[i] ? r->lanes[i] : c->pred;
        int64_t      at = c->at[which][c->lane] + r->at[i];
        (void)axe_sim_reg_check(s, w, c->in, array, at, mask, write);
        if (write)
            w->array[array].init[at] |= mask;
    }
}

bool
axe_sim_is_fresh(const sim_call *c)
{
    return c->in->shape->atom->fresh && c->in->n_arg > 3 &&
           c->at[3][c->lane] == 0;
}

static bool
inside(sim *s, const sim_call *c, int which, const sim_side *side)
{
    int              array = c->in->arg[which].tensor;
    const sim_array *x = &c->warp->array[array];
    int64_t          first = c->at[which][c->lane];

    for (int w = 0; w < s->group_warps && !side->memory; w++)
        if (side->regs[w].n > 0 &&
            (first + side->regs[w].lo < 0 || first >= x->n ||
             first + side->regs[w].hi >= x->n)) {
            (void)axe_sim_reg_check(s, c->warp, c->in, array,
                                    first + side->regs[w].hi, 1, false);
            return false;
        }
    return true;
}

bool
axe_sim_contract_inside(sim *s, const sim_call *c)
{
    const sim_product *p = c->in->shape->product;

    return inside(s, c, 0, &p->c) && inside(s, c, 1, &p->a) &&
           inside(s, c, 2, &p->b);
}

void
axe_sim_contract_check(sim *s, const sim_call *c, sim_warp *w, int rank)
{
    const sim_product *p = c->in->shape->product;

    if (!p->a.memory)
        check_side(s, c, 1, &p->a, w, rank, false);
    if (!p->b.memory)
        check_side(s, c, 2, &p->b, w, rank, false);
    if (!axe_sim_is_fresh(c))
        check_side(s, c, 0, &p->c, w, rank, false);
    check_side(s, c, 0, &p->c, w, rank, true);
}

void
axe_sim_contract(sim *s, sim_call *c)
{
    const sim_product *p = c->in->shape->product;
    axe_type           t = c->warp->array[c->in->arg[0].tensor].type;
    bool               fresh = axe_sim_is_fresh(c);

    s->report->products += (int64_t)p->m * p->n * p->k;
    if (c->warp->array[c->in->arg[0].tensor].held && !c->in->shape->async)
        axe_sim_unhold(s, c->warp->array[c->in->arg[0].tensor].held);
    if (axe_type_is_float(t) && t != AXE_TYPE_f64)
        multiply(s, c, fresh);
    else
        multiply_exactly(s, c, fresh);
}
