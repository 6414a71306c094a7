/* address.c - operands in shared memory as byte addresses.
 *
 * An element is its number times its bytes behind its buffer's begin, and the
 * buffer's swizzle exchanges bits of that.  The swizzle is linear over bits, so
 * what unrolling makes constant is swizzled apart where it shares none with the
 * rest, and what the swizzle leaves alone is added behind it.  What descriptors
 * and boxes name is swizzled by the machine: those begin where no bit is. */
#include "lower/pass/address.h"

#include "lower/pass/bits.h"

/* Bits that the swizzle reads. */
static uint64_t
read_by(const axe_swizzle *s)
{
    return ((UINT64_C(1) << s->bits) - 1)
           << (s->base + (s->shift > 0 ? s->shift : 0));
}

/* Bits of places in one period. */
static uint64_t
below_period(const axe_swizzle *s)
{
    return (UINT64_C(1) << s->bits << s->base << s->shift) - 1;
}

static void
add_part(const axe_facts *f, const axe_swizzle *s, axe_byte_at *a,
         const axe_node *at)
{
    axe_swizzled how = AXE_SWIZZLE_MOVES;

    if ((axe_facts_bits(f, at) & read_by(s)) == 0) {
        how = AXE_SWIZZLE_KEEPS;
    } else if (at->op == AXE_OP_iconst) {
        how = AXE_SWIZZLE_DONE;
        at = axe_iconst(f->cx, at->at, AXE_TYPE_INDEX,
                        axe_swizzle_apply(*s, at->u.i));
    }
    a->part[a->n].at = at;
    a->part[a->n++].how = how;
}

/* May term i be added behind the swizzle?  If it is of multiples of the period;
 * or constant, of bits that the swizzle leaves alone and that the others do not
 * add up to. */
static bool
is_behind(const axe_facts *f, const axe_swizzle *s, int n,
          const axe_node *const *t, int i)
{
    const axe_node *other[AXE_MAX_TERM], *sum;
    uint64_t        others, own = axe_facts_bits(f, t[i]);

    if ((own & below_period(s)) == 0)
        return true;
    if (!axe_facts_is_fixed(f, t[i]))
        return false;
    for (int k = 0; k < n; k++)
        other[k] = k != i ? t[k] : NULL;
    sum = axe_terms_sum(f->cx, n, other);
    others = sum ? axe_facts_bits(f, sum) : 0;
    return (own & (others | read_by(s) | read_by(s) >> s->shift)) == 0;
}

/* The swizzle of moving + fixed, apart where they share no bits. */
static void
add_parts(const axe_facts *f, const axe_swizzle *s, axe_byte_at *a,
          const axe_node *moving, const axe_node *fixed)
{
    if (moving && fixed &&
        (axe_facts_bits(f, moving) & axe_facts_bits(f, fixed))) {
        moving = axe_node2(f->cx, AXE_OP_add, moving, fixed);
        fixed = NULL;
    }
    if (moving)
        add_part(f, s, a, moving);
    if (fixed)
        add_part(f, s, a, fixed);
}

static void
split(const axe_facts *f, const axe_swizzle *s, axe_byte_at *a,
      const axe_node *at)
{
    const axe_node *t[AXE_MAX_TERM], *moving[AXE_MAX_TERM] = {0};
    const axe_node *fixed[AXE_MAX_TERM] = {0}, *behind[AXE_MAX_TERM] = {0};
    int             n = axe_terms_of(at, t);

    if (n == 0 || s->shift <= 0) {
        add_part(f, s, a, at);
        return;
    }
    for (int i = 0; i < n; i++)
        if (is_behind(f, s, n, t, i)) {
            behind[i] = t[i];
            t[i] = NULL;
        }
    for (int i = 0; i < n; i++)
        if (t[i])
            *(axe_facts_is_fixed(f, t[i]) ? &fixed[i] : &moving[i]) = t[i];
    a->behind = axe_terms_sum(f->cx, n, behind);
    add_parts(f, s, a, axe_terms_sum(f->cx, n, moving),
              axe_terms_sum(f->cx, n, fixed));
}

/* ------------------------------------------------------------ going through */

/* Does the text apply the swizzle, and not the machine? */
static bool
is_swizzled(const axe_lir *l, int i)
{
    for (int k = 0; k < 2 && k < l->n_arg; k++)
        if (l->arg[k].space == AXE_ARG_MAP)
            return false;
    return l->arg[i].space == AXE_ARG_DSMEM || i > 2 ||
           !axe_atom_by_descriptor(l->atom, i);
}

static void
place(const axe_facts *f, axe_lir *l, int i)
{
    axe_arg        *arg = &l->arg[i];
    int             bits = axe_type_table[arg->tensor->type].bits, b = 0;
    axe_byte_at    *a = axe_new(f->cx, axe_byte_at);
    const axe_node *at =
        bits < 8 ? axe_terms_divided(f->cx, arg->at,
                                     axe_type_per_byte(arg->tensor->type))
                 : axe_terms_times(f->cx, arg->at, bits / 8);
    int64_t v;

    while (b < f->g->n_buffer && f->g->buffer[b].tensor != arg->tensor)
        b++;
    if (b < f->g->n_buffer && f->g->buffer[b].swizzle.bits &&
        is_swizzled(l, i) && !(axe_is_iconst(at, &v) && v == 0))
        split(f, &f->g->buffer[b].swizzle, a, at);
    else
        a->behind = at;
    arg->byte = a;
}

static void
walk(axe_facts *f, const axe_lblock *b)
{
    int outer = f->n, inner;

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        for (int k = 0; k < l->n_arg && l->kind == AXE_LIR_ATOM; k++)
            if (l->arg[k].space == AXE_ARG_SHARED ||
                l->arg[k].space == AXE_ARG_DSMEM)
                place(f, l, k);
        inner = f->n;
        axe_facts_declare(f, l);
        walk(f, &l->body);
        walk(f, &l->other);
        if (l->kind != AXE_LIR_LET)
            f->n = inner;
    }
    f->n = outer;
}

void
axe_place_shared(axe_ctx *cx, axe_grid *g)
{
    axe_facts f = {.cx = cx, .g = g};

    walk(&f, &g->body);
}
