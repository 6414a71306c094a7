/* shuffle.c - an operand in other lanes' registers, round by round.
 *
 * In each round a lane gives one register, chosen by its number, and gets one;
 * then every slot is chosen among what came and what the lane has itself. */
#include "plan/simt/map/shuffle.h"

#include "lower/code/build.h"
#include "lower/simt/by_lane.h"
#include "lower/simt/map.h"

typedef struct bringing {
    axe_simt_lowering      *sl;
    const axe_simt_shuffle *sh;
    const axe_tensor       *from, *got;
    const axe_tensor       *given; /* NULL: all gave a register as it is */
    const char             *name;
} bringing;

/* Element `at` of word `word` of an array. */
static const axe_node *
index_of(const bringing *x, int word, const axe_node *at)
{
    return axe_sum(&x->sl->lw, axe_int(&x->sl->lw, word * x->sh->pack), at);
}

static const axe_node *
element(bringing *x, const axe_tensor *array, int word, const axe_node *at,
        axe_type t)
{
    const axe_node *n = axe_simt_element(x->sl, array, index_of(x, word, at));

    return n->type == t ? n : axe_cast(x->sl->lw.cx, n->at, t, n);
}

/* One more lane wants value number v. */
static int
add_choice(int n, int *number, axe_lane_choice *c, int v, int lane)
{
    int k = 0;

    while (k < n && number[k] != v)
        k++;
    if (k == n) {
        number[n] = v;
        c[n++].lanes = 0;
    }
    c[k].lanes |= AXE_ONE_LANE(lane);
    return n;
}

/* What each lane gives: *word if it is the same register in all. */
static void
give(bringing *x, axe_lblock *b, const axe_round *r, const axe_tensor **array,
     int *word)
{
    axe_lane_choice c[AXE_ROUND_LANES];
    int             number[AXE_ROUND_LANES], n = 0;
    const axe_node *at;

    for (int l = 0; l < x->sl->sp->lanes; l++)
        if (r->reg[l] >= 0)
            n = add_choice(n, number, c, r->reg[l], l);
    *array = x->from;
    *word = number[0];
    if (n == 1 && x->from->type == x->sh->type)
        return;
    if (!x->given)
        x->given =
            axe_simt_array(x->sl, axe_textf(x->sl->lw.cx, "%s_out", x->name),
                           x->sh->type, x->sh->pack);
    *array = x->given;
    *word = 0;
    at = axe_simt_unrolled(x->sl, &b, "e", x->sh->pack);
    for (int i = 0; i < n; i++)
        c[i].value = element(x, x->from, number[i], at, x->sh->type);
    axe_simt_calc(x->sl, b, x->given, index_of(x, 0, at),
                  axe_by_lane_choose(x->sl, n, c), NULL);
}

static void
lower_round(bringing *x, axe_lblock *b, int i)
{
    const axe_round        *r = &x->sh->rounds.round[i];
    const axe_shuffle_step *step = &x->sh->step[i];
    const axe_node         *zero = axe_int(&x->sl->lw, 0);
    const axe_tensor       *array;
    axe_lane_set            care = 0;
    int                     word;

    for (int l = 0; l < x->sl->sp->lanes; l++)
        care |= r->from[l] >= 0 ? AXE_ONE_LANE(l) : 0;
    give(x, b, r, &array, &word);
    axe_arg arg[3] = {axe_simt_reg(x->got, index_of(x, i, zero)),
                      axe_simt_reg(array, index_of(x, word, zero))};
    if (step->index)
        arg[2] = axe_simt_number(axe_by_lane_number(x->sl, r->from, care));
    axe_simt_atom(x->sl, b, step->atom, step->param, step->index ? 3 : 2, arg,
                  NULL);
}

/* Rounds are numbered behind registers. */
static void
fill_slot(bringing *x, axe_lblock *b, const axe_tensor *to, int slot)
{
    axe_lane_choice c[AXE_ROUND_LANES];
    int             number[AXE_ROUND_LANES], n = 0;
    const axe_node *at;

    for (int l = 0; l < x->sl->sp->lanes; l++) {
        axe_round_from f = x->sh->rounds.slot[l * x->sh->n_slot + slot];
        if (f.round >= -1)
            n = add_choice(n, number, c,
                           f.round < 0 ? f.reg : AXE_ROUND_SLOTS + f.round, l);
    }
    if (n == 0)
        return;
    at = axe_simt_unrolled(x->sl, &b, "e", x->sh->pack);
    for (int i = 0; i < n; i++) {
        int own = number[i] < AXE_ROUND_SLOTS;
        c[i].value = element(x, own ? x->from : x->got,
                             own ? number[i] : number[i] - AXE_ROUND_SLOTS, at,
                             to->type);
    }
    axe_simt_calc(x->sl, b, to, index_of(x, slot, at),
                  axe_by_lane_choose(x->sl, n, c), NULL);
}

void
axe_map_shuffle(axe_map_lowering *x, axe_lblock *b, int op)
{
    const axe_simt_shuffle *sh = x->simt->access[op].shuffle;
    const axe_tensor       *t = x->s->operand[op].tensor;
    bringing                br = {.sl = x->sl,
                                  .sh = sh,
                                  .from = axe_simt_tensor(x->sl, t),
                                  .name = t->name};

    br.got = axe_simt_array(x->sl, axe_textf(x->sl->lw.cx, "%s_in", t->name),
                            sh->type, (int64_t)sh->rounds.n * sh->pack);
    for (int i = 0; i < sh->rounds.n; i++)
        lower_round(&br, b, i);
    for (int s = 0; s < sh->n_slot; s++)
        fill_slot(&br, b, x->array[op], s);
}
