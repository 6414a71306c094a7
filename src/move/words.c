/* words.c - what lanes give one another: short elements as words, and rounds.
 *
 * Elements that the same lanes have and the same lanes need may travel as one:
 * they are cut into words of as many as 32 bits hold, whichever registers they
 * are in.  Words are then brought in rounds (rounds.c), so that a lane that
 * gives another k elements gives it k / pack words, rounded up. */
#include <stdlib.h>
#include <string.h>

#include "machine/thread_rows.h"
#include "move/move_int.h"
#include "move/rows.h"

/* An element that some lane needs, and who has it. */
typedef struct wanted {
    int64_t      element;
    axe_lane_set takers, holders;
    int          word, part;
} wanted;

typedef struct words {
    axe_ctx               *cx;
    const axe_warp_tables *t;
    int                    pack, n, n_word;
    wanted                *w;     /* [n] in order of words, later of elements */
    int                   *first; /* [n_word + 1] */
} words;

static int
by_element(const void *x, const void *y)
{
    const wanted *a = x, *b = y;

    return a->element < b->element ? -1 : a->element > b->element;
}

static int
by_lanes(const void *x, const void *y)
{
    const wanted *a = x, *b = y;

    if (a->takers != b->takers)
        return a->takers < b->takers ? -1 : 1;
    if (a->holders != b->holders)
        return a->holders < b->holders ? -1 : 1;
    return by_element(x, y);
}

static wanted *
find(const words *s, int64_t element)
{
    wanted key = {.element = element};

    return bsearch(&key, s->w, (size_t)s->n, sizeof key, by_element);
}

/* What is needed, each element once. */
static void
list_wanted(words *s, bool wide)
{
    const axe_warp_tables *t = s->t;
    int                    n = 0;

    s->w = axe_new_array(s->cx, wanted, t->lanes * t->n_want + 1);
    for (int k = 0; k < t->lanes * t->n_want; k++)
        if (t->need[k])
            s->w[n++] = (wanted){.element = t->want[k],
                                 .takers = AXE_ONE_LANE(k / t->n_want)};
    qsort(s->w, (size_t)n, sizeof *s->w, by_element);
    for (int k = 0; k < n; k++)
        if (s->n > 0 && s->w[s->n - 1].element == s->w[k].element)
            s->w[s->n - 1].takers |= s->w[k].takers;
        else
            s->w[s->n++] = s->w[k];
    for (int k = 0; wide && k < t->lanes * t->n_want; k++) {
        wanted *w = t->want[k] < 0 ? NULL : find(s, t->want[k]);
        if (w)
            w->takers |= AXE_ONE_LANE(k / t->n_want);
    }
    for (int k = 0; k < t->lanes * t->n_have; k++) {
        wanted *w = t->have[k] < 0 ? NULL : find(s, t->have[k]);
        if (w)
            w->holders |= AXE_ONE_LANE(k / t->n_have);
    }
}

/* Words of elements that the same lanes have and need. */
static void
cut_words(words *s)
{
    qsort(s->w, (size_t)s->n, sizeof *s->w, by_lanes);
    s->first = axe_new_array(s->cx, int, s->n + 1);
    for (int k = 0; k < s->n; k++) {
        const wanted *last = &s->w[k - (k > 0)];
        bool          alike = k > 0 && last->takers == s->w[k].takers &&
                     last->holders == s->w[k].holders &&
                     last->part + 1 < s->pack;
        s->w[k].part = alike ? last->part + 1 : 0;
        if (!alike)
            s->first[s->n_word++] = k;
        s->w[k].word = s->n_word - 1;
    }
    s->first[s->n_word] = s->n;
}

/* Words of each lane in rows of *n: those that it has, or needs. */
static int64_t *
rows_of(words *s, bool have, int *n)
{
    int      count[AXE_MAX_LANES] = {0};
    int64_t *row;

    *n = 0;
    for (int pass = 0; pass < 2; pass++) {
        row = axe_new_array(s->cx, int64_t, (int64_t)s->t->lanes * *n + 1);
        for (int k = 0; k < s->t->lanes * *n; k++)
            row[k] = -1;
        memset(count, 0, sizeof count);
        for (int w = 0; w < s->n_word; w++)
            for (int l = 0; l < s->t->lanes; l++) {
                const wanted *x = &s->w[s->first[w]];
                if (!((have ? x->holders : x->takers) >> l & 1))
                    continue;
                if (pass == 1)
                    row[l * *n + count[l]] = w;
                count[l]++;
            }
        for (int l = 0; pass == 0 && l < s->t->lanes; l++)
            *n = count[l] > *n ? count[l] : *n;
    }
    return row;
}

/* The lane's first register with the element. */
static int16_t
register_of(const axe_warp_tables *t, int lane, int64_t element)
{
    for (int r = 0; r < t->n_have; r++)
        if (t->have[lane * t->n_have + r] == element)
            return (int16_t)r;
    return -1;
}

static void
spell_words(words *s, int n_have, const int64_t *row, axe_shuffling *out)
{
    int     n_word = n_have + out->rounds.n;
    int64_t n = (int64_t)s->t->lanes * n_word * s->pack;

    out->n_word = n_word;
    out->word = axe_new_array(s->cx, int16_t, n + 1);
    memset(out->word, 0xff, (size_t)n * sizeof *out->word);
    for (int k = 0; k < s->t->lanes * n_have; k++)
        for (int i = 0;
             row[k] >= 0 && s->first[row[k]] + i < s->first[row[k] + 1]; i++)
            out->word[(k / n_have * n_word + k % n_have) * s->pack + i] =
                register_of(s->t, k / n_have,
                            s->w[s->first[row[k]] + i].element);
}

static void
fill_slots(words *s, int n_want, const int64_t *row, const axe_rounds *r,
           axe_fill *fill)
{
    const axe_warp_tables *t = s->t;

    qsort(s->w, (size_t)s->n, sizeof *s->w, by_element);
    for (int k = 0; k < t->lanes * t->n_want; k++) {
        int           lane = k / t->n_want, i = 0;
        const wanted *w = t->need[k] ? find(s, t->want[k]) : NULL;
        if (!w)
            continue;
        while (row[lane * n_want + i] != w->word)
            i++;
        fill[k] = (axe_fill){AXE_FILL_ROUND, r->slot[lane * n_want + i].round,
                             (int16_t)w->part};
    }
}

/* The round and part that all fills of a slot by rounds have; false: not one.
 */
static bool
one_round(const axe_warp_tables *t, const axe_fill *fill, int slot,
          axe_fill *out)
{
    *out = (axe_fill){AXE_FILL_NOTHING, 0, 0};
    for (int l = 0; l < t->lanes; l++) {
        axe_fill f = fill[l * t->n_want + slot];
        if (f.kind != AXE_FILL_ROUND)
            continue;
        if (out->kind == AXE_FILL_ROUND &&
            (f.round != out->round || f.part != out->part))
            return false;
        *out = f;
    }
    return out->kind == AXE_FILL_ROUND;
}

/* Can the lane get its own register back in the round, as that part?  It gives
 * out that word already, or none: then a word that is kept for the round. */
static bool
gets_back(axe_shuffling *s, int lane, axe_fill f, int16_t reg, bool set)
{
    axe_round *r = &s->rounds.round[f.round];
    int        kept = s->n_word - s->rounds.n + f.round;
    int16_t    word = r->reg[lane] < 0 ? (int16_t)kept : r->reg[lane];
    int16_t   *at = &s->word[(lane * s->n_word + word) * s->pack];

    if ((r->from[lane] >= 0 && r->from[lane] != lane) ||
        (at[f.part] != reg && (word != kept || at[f.part] >= 0)))
        return false;
    if (set) {
        at[f.part] = reg;
        r->reg[lane] = word;
        r->from[lane] = (int16_t)lane;
    }
    return true;
}

/* Lanes that have what others get in a round get it from themselves: then
 * nothing is chosen by lane. */
static void
absorb_own(const axe_warp_tables *t, axe_shuffling *s, axe_fill *fill)
{
    for (int slot = 0; slot < t->n_want; slot++) {
        axe_fill f;
        bool     all = one_round(t, fill, slot, &f);
        for (int l = 0; l < t->lanes && all; l++) {
            axe_fill *own = &fill[l * t->n_want + slot];
            all = own->kind != AXE_FILL_OWN ||
                  gets_back(s, l, f, own->part, false);
        }
        for (int l = 0; l < t->lanes && all; l++) {
            axe_fill *own = &fill[l * t->n_want + slot];
            if (own->kind == AXE_FILL_OWN &&
                gets_back(s, l, f, own->part, true))
                *own = f;
        }
    }
}

/* Rounds for what is needed; `wide`: lanes that have an element themselves that
 * others need may take it with them, so that lanes that want the same are
 * alike.
 */
static bool
find_rounds(axe_ctx *cx, const axe_warp_tables *t, int bits, bool wide,
            axe_shuffling *out, axe_fill *fill)
{
    words    s = {.cx = cx, .t = t};
    int      n_have, n_want;
    int64_t *have, *want;

    s.pack = bits < AXE_WORD_BITS ? AXE_WORD_BITS / bits : 1;
    list_wanted(&s, wide);
    cut_words(&s);
    have = rows_of(&s, true, &n_have);
    want = rows_of(&s, false, &n_want);
    out->pack = s.pack;
    out->parts = bits > AXE_WORD_BITS ? bits / AXE_WORD_BITS : 1;
    if (n_have > AXE_ROUND_SLOTS || n_want > AXE_ROUND_SLOTS ||
        !axe_rounds_fewest(cx, t->lanes, n_have, have, n_want, want,
                           &out->rounds))
        return false;
    spell_words(&s, n_have, have, out);
    fill_slots(&s, n_want, want, &out->rounds, fill);
    return true;
}

bool
axe_words_find(axe_ctx *cx, const axe_warp_tables *t, int bits,
               axe_shuffling *out, axe_fill *fill)
{
    size_t        n = (size_t)t->lanes * (size_t)t->n_want;
    axe_fill     *other = axe_new_array(cx, axe_fill, n + 1);
    axe_shuffling wide;

    memcpy(other, fill, n * sizeof *fill);
    if (!find_rounds(cx, t, bits, false, out, fill))
        return false;
    if (out->rounds.n > out->rounds.least &&
        find_rounds(cx, t, bits, true, &wide, other) &&
        wide.rounds.n < out->rounds.n) {
        *out = wide;
        memcpy(fill, other, n * sizeof *fill);
    }
    absorb_own(t, out, fill);
    return true;
}

/* --------------------------------------------------------------------- cost */

/* Do the registers of a word lie as the machine would have them? */
static bool
is_whole(const int16_t *reg, int pack)
{
    for (int i = 0; i < pack; i++)
        if (reg[i] != reg[0] + i)
            return false;
    return reg[0] % pack == 0;
}

/* Permutes of bytes to make the words of a round: one for each register beyond
 * the first, for each way that lanes differ in. */
static int64_t
n_packing(int lanes, const axe_shuffling *s, const axe_round *r)
{
    const int16_t *seen[AXE_MAX_LANES];
    int64_t        n = 0;
    int            n_seen = 0, k;

    for (int l = 0; s->pack > 1 && l < lanes; l++) {
        const int16_t *reg;

        if (r->reg[l] < 0)
            continue;
        reg = &s->word[(l * s->n_word + r->reg[l]) * s->pack];
        for (k = 0; k < n_seen; k++)
            if (memcmp(seen[k], reg, (size_t)s->pack * sizeof *reg) == 0)
                break;
        if (k < n_seen)
            continue;
        seen[n_seen++] = reg;
        if (is_whole(reg, s->pack))
            continue;
        for (int i = 1; i < s->pack; i++)
            n += reg[i] >= 0;
    }
    return n;
}

void
axe_words_count(int lanes, int n_slot, const axe_warp_program *w,
                int64_t *n_select, int64_t *n_permute)
{
    const axe_shuffling *s = &w->shuffle;
    int64_t              value[AXE_MAX_LANES];

    for (int i = 0; i < s->rounds.n; i++) {
        for (int l = 0; l < lanes; l++) {
            int16_t word = s->rounds.round[i].reg[l];
            value[l] =
                word < 0 ? -1 : s->word[(l * s->n_word + word) * s->pack];
        }
        *n_select += axe_n_more(lanes, value);
        *n_permute += n_packing(lanes, s, &s->rounds.round[i]);
    }
    for (int k = 0; w->fill && k < n_slot; k++) {
        bool apart = false;
        for (int l = 0; l < lanes; l++) {
            axe_fill f = w->fill[l * n_slot + k];
            value[l] =
                f.kind == AXE_FILL_NOTHING
                    ? -1
                    : (((int64_t)f.kind << 16 | (uint16_t)f.round) << 16 |
                       (uint16_t)f.part);
            apart = apart || (f.kind == AXE_FILL_ROUND && s->pack > 1 &&
                              f.part != k % s->pack);
        }
        *n_select += axe_n_more(lanes, value);
        *n_permute += apart;
    }
}

double
axe_words_cost(axe_ctx *cx, const axe_machine *mc, const axe_shuffling *s,
               int bits)
{
    int word = bits > AXE_WORD_BITS ? AXE_WORD_BITS : bits * s->pack;
    axe_shuffle_step *step;
    double            cost = 0;

    if (!axe_rounds_rows(cx, mc, word, &s->rounds, &step, &cost))
        return -1;
    return cost * s->parts;
}
