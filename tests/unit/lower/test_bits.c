/* test_bits.c - what is said of an integer's bits holds: random expressions
 * over variables of every kind, with random values of these.  An expression has
 * no bit but those that it may have, and none is more than the largest.
 *
 * The seed is fixed; a failure names the round, which BITS_ROUND repeats.
 */
#include <stdio.h>
#include <stdlib.h>

#include "grids.h"
#include "lower/pass/bits.h"

enum { MAX_VAR = 12, N_LET = 4, DEPTH = 4, ROUNDS = 60000, VALUES = 12 };

/* A variable, the values that it may have; or the expression that it is. */
typedef struct leaf {
    const axe_var  *var;
    int64_t         lo, hi, value;
    const axe_node *let;
} leaf;

typedef struct world {
    maker    *m;
    axe_facts facts;
    uint64_t  seed;
    int       n;
    leaf      leaf[MAX_VAR];
} world;

static int64_t
between(world *w, int64_t lo, int64_t hi)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return lo + (int64_t)((w->seed >> 33) % (uint64_t)(hi - lo + 1));
}

static leaf *
add_leaf(world *w, const axe_var *v, int64_t lo, int64_t hi)
{
    w->leaf[w->n] = (leaf){.var = v, .lo = lo, .hi = hi};
    return &w->leaf[w->n++];
}

/* ------------------------------------------------------------- expressions */

/* A power of two, a multiple of one, or any other; negative now and then. */
static int64_t
constant(world *w)
{
    int64_t by = INT64_C(1) << between(w, 0, 7);
    int64_t v = by * (between(w, 0, 1) ? 1 : between(w, 0, 12));

    return between(w, 0, 9) == 0 ? -v : v;
}

static const axe_node *
expression(world *w, int depth)
{
    static const axe_op ops[] = {
        AXE_OP_add, AXE_OP_add, AXE_OP_add,  AXE_OP_mul, AXE_OP_mul, AXE_OP_div,
        AXE_OP_mod, AXE_OP_sub, AXE_OP_cdiv, AXE_OP_min, AXE_OP_max};
    const axe_node *a, *b;
    axe_op          o;

    if (depth == 0 || between(w, 0, 5) == 0)
        return between(w, 0, 3) == 0
                   ? num(w->m, constant(w))
                   : var(w->m, w->leaf[between(w, 0, w->n - 1)].var);
    o = ops[between(w, 0, AXE_LEN(ops) - 1)];
    a = expression(w, depth - 1);
    b = (o == AXE_OP_add || o == AXE_OP_sub || o == AXE_OP_min ||
         o == AXE_OP_max || between(w, 0, 5) == 0)
            ? expression(w, depth - 1)
            : num(w->m, constant(w));
    return o == AXE_OP_mul && between(w, 0, 1) ? op(w->m, o, b, a)
                                               : op(w->m, o, a, b);
}

static bool
apply(axe_op o, int64_t a, int64_t b, int64_t *out)
{
    bool    divides = o == AXE_OP_div || o == AXE_OP_mod || o == AXE_OP_cdiv;
    int64_t down;

    if (divides && (b == 0 || b == -1))
        return false;
    down = divides ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
    switch (o) {
    case AXE_OP_add:
        return axe_add(a, b, out);
    case AXE_OP_sub:
        return axe_mul(b, -1, &b) && axe_add(a, b, out);
    case AXE_OP_mul:
        return axe_mul(a, b, out);
    case AXE_OP_div:
        *out = down;
        return true;
    case AXE_OP_cdiv:
        *out = down + (down * b != a);
        return true;
    case AXE_OP_mod:
        *out = a - down * b;
        return true;
    case AXE_OP_min:
        *out = a < b ? a : b;
        return true;
    default:
        *out = a > b ? a : b;
        return true;
    }
}

/* The value, or false where int64 has none. */
static bool
value_of(const world *w, const axe_node *n, int64_t *out)
{
    int64_t a, b;

    if (n->op == AXE_OP_iconst) {
        *out = n->u.i;
        return true;
    }
    for (int i = 0; n->op == AXE_OP_var && i < w->n; i++)
        if (w->leaf[i].var == n->u.var) {
            *out = w->leaf[i].value;
            return true;
        }
    return value_of(w, n->arg[0], &a) && value_of(w, n->arg[1], &b) &&
           apply(n->op, a, b, out);
}

/* ------------------------------------------------------------------- worlds */

/* The grid's numbers, a loop that is written out, one that is not, and a size;
 * then names of expressions over all that came before. */
static void
make_world(world *w)
{
    static const int cluster[] = {1, 2, 4, 3};
    axe_grid        *g = &w->m->grid;
    int64_t          n = between(w, 1, 70);
    axe_lblock      *b = w->m->at;

    g->cluster = cluster[between(w, 0, 3)];
    (void)id(w->m, AXE_ID_LANE);
    (void)id(w->m, AXE_ID_WARP);
    (void)id(w->m, AXE_ID_RANK);
    add_leaf(w, g->id[AXE_ID_LANE], 0, g->lanes - 1);
    add_leaf(w, g->id[AXE_ID_WARP], 0, g->n_thread / g->lanes - 1);
    add_leaf(w, g->id[AXE_ID_RANK], 0, g->cluster - 1);
    for (int i = 0; i < 2; i++) {
        (void)loop(w->m, "l", num(w->m, n), i == 0);
        axe_facts_declare(&w->facts, b->item[b->n - 1]);
        add_leaf(w, b->item[b->n - 1]->var, 0, n - 1);
        b = w->m->at;
    }
    add_leaf(w, new_size(w->m, "M")->u.var, 0, 5000);
    add_leaf(w, new_var(w->m, AXE_VAR_PART, "part"), -300, 300);
    for (int i = 0; i < N_LET; i++) {
        axe_lir *l = emit(w->m, AXE_LIR_LET);
        l->value = expression(w, DEPTH - 1);
        l->var = new_var(w->m, AXE_VAR_LOOP, "let");
        axe_facts_declare(&w->facts, l);
        add_leaf(w, l->var, 0, 0)->let = l->value;
    }
}

static bool
choose_values(world *w)
{
    for (int i = 0; i < w->n; i++) {
        leaf *l = &w->leaf[i];
        l->value = between(w, 0, 7) == 0 ? l->hi : between(w, l->lo, l->hi);
        if (l->let && !value_of(w, l->let, &l->value))
            return false;
    }
    return true;
}

static void
check(world *w, const axe_node *n, int round)
{
    uint64_t bits = axe_facts_bits(&w->facts, n);
    int64_t  most = axe_facts_largest(&w->facts, n), v;

    for (int i = 0; i < VALUES; i++) {
        if (!choose_values(w) || !value_of(w, n, &v))
            continue;
        if (((uint64_t)v & ~bits) == 0 && (most < 0 || (v >= 0 && v <= most)))
            continue;
        for (int k = 0; k < w->n; k++)
            print_error(
                "%s %d = %lld%s%s\n", w->leaf[k].var->name, w->leaf[k].var->id,
                (long long)w->leaf[k].value, w->leaf[k].let ? ": " : "",
                w->leaf[k].let ? axe_node_text(w->m->cx, w->leaf[k].let) : "");
        fail_msg("BITS_ROUND=%d: %s is %lld; bits %#llx, largest %lld", round,
                 axe_node_text(w->m->cx, n), (long long)v,
                 (unsigned long long)bits, (long long)most);
    }
}

/* Returns  whether something was known of the expression. */
static bool
run_round(int round)
{
    axe_ctx *cx = axe_ctx_new();
    world    w = {.m = grid_new(cx, "sm_90a", "k", 128),
                  .seed = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(round + 1)};
    bool     known;

    w.facts = (axe_facts){.cx = cx, .g = &w.m->grid};
    make_world(&w);
    const axe_node *n = expression(&w, DEPTH);
    known = axe_facts_bits(&w.facts, n) != UINT64_MAX;
    check(&w, n, round);
    axe_ctx_free(cx);
    return known;
}

static void
test_random(void **state)
{
    const char *only = getenv("BITS_ROUND");
    int         n_known = 0;

    (void)state;
    if (only) {
        (void)run_round(atoi(only));
        return;
    }
    for (int i = 0; i < ROUNDS; i++)
        n_known += run_round(i);
    assert_true(n_known > ROUNDS / 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
