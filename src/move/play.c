/* play.c - an interpreter of moves: does the program do what it says?
 *
 * Registers hold the numbers of the elements that SRC puts there.  The program
 * is executed, warp by warp, up to the barrier, and from it on; then each place
 * of DST must hold its element.  It knows layouts only by the tables of who has
 * what at the beginning and should have at the end (places.c). */
#include <string.h>

#include "move/move_int.h"

enum { NOTHING = -1, MANY = -2 };

typedef struct player {
    axe_ctx                    *cx;
    const struct axe_move_code *p;
    const axe_warp_program     *w;
    int                         cta, warp;
    int64_t                    *shared; /* of the CTA, or memory */
    int64_t                    *got;    /* [lanes][rounds][pack] */
    int64_t                    *loaded; /* [lanes][n_slot] */
    int64_t                    *result; /* [places of dst] */
    bool                        ok;
} player;

static int64_t
own(const player *x, int lane, int reg)
{
    const axe_places *s = &x->p->sides.src;

    if (s->memory || reg < 0 || reg >= s->n_slot)
        return NOTHING;
    return axe_places_row(s, x->cta, x->warp * x->p->lanes + lane)[reg];
}

/* Every lane gives out a word and gets that of one lane. */
static void
play_rounds(player *x)
{
    const axe_shuffling *s = &x->w->shuffle;
    int                  lanes = x->p->lanes, n = s->rounds.n;

    x->got = axe_new_array(x->cx, int64_t, (int64_t)lanes * n * s->pack + 1);
    for (int i = 0; i < n; i++)
        for (int l = 0; l < lanes; l++) {
            int from = s->rounds.round[i].from[l];
            int word = from < 0 ? -1 : s->rounds.round[i].reg[from];
            for (int k = 0; k < s->pack; k++)
                x->got[(l * n + i) * s->pack + k] =
                    word < 0
                        ? NOTHING
                        : own(x, from,
                              s->word[(from * s->n_word + word) * s->pack + k]);
        }
}

/* Stores of different elements to one place leave nobody knows what. */
static void
play_stores(player *x)
{
    for (int i = 0; i < x->w->store.n; i++) {
        const axe_access *a = &x->w->store.access[i];
        for (int l = 0; l < x->p->lanes; l++)
            for (int k = 0; k < a->width && a->at[l] >= 0; k++) {
                int64_t  at = a->at[l] + k, e = own(x, l, a->slot[k]);
                int64_t *to = at < x->p->n_shared ? &x->shared[at] : NULL;
                x->ok = x->ok && to;
                if (to)
                    *to = *to == NOTHING || *to == e ? e : MANY;
            }
    }
}

static void
play_loads(player *x)
{
    int n = x->p->sides.dst.n_slot;

    x->loaded = axe_new_array(x->cx, int64_t, (int64_t)x->p->lanes * n + 1);
    for (int k = 0; k < x->p->lanes * n; k++)
        x->loaded[k] = NOTHING;
    for (int i = 0; i < x->w->load.n; i++) {
        const axe_access *a = &x->w->load.access[i];
        for (int l = 0; l < x->p->lanes; l++)
            for (int k = 0; k < a->width && a->at[l] >= 0; k++) {
                x->ok = x->ok && a->at[l] + k < x->p->n_shared;
                if (x->ok)
                    x->loaded[l * n + a->slot[k]] = x->shared[a->at[l] + k];
            }
    }
}

static int64_t
filled(const player *x, int lane, axe_fill f)
{
    const axe_shuffling *s = &x->w->shuffle;

    switch (f.kind) {
    case AXE_FILL_OWN:
        return own(x, lane, f.part);
    case AXE_FILL_ROUND:
        return x->got[(lane * s->rounds.n + f.round) * s->pack + f.part];
    case AXE_FILL_LOAD:
        return x->loaded[lane * x->p->sides.dst.n_slot + f.part];
    default:
        return NOTHING;
    }
}

static void
play_fills(player *x)
{
    int      n = x->p->sides.dst.n_slot, lanes = x->p->lanes;
    int64_t *row =
        x->result + ((int64_t)x->cta * x->p->n_warp + x->warp) * lanes * n;

    for (int k = 0; k < lanes * n; k++)
        row[k] = filled(x, k / n, x->w->fill[k]);
}

/* Rounds end with the warp's own fills, as nobody else sees them. */
static void
play_cta(player *x)
{
    const axe_sides *s = &x->p->sides;

    for (x->warp = 0; x->warp < x->p->n_warp; x->warp++) {
        x->w = &x->p->warp[x->cta * x->p->n_warp + x->warp];
        play_stores(x);
    }
    for (x->warp = 0; x->warp < x->p->n_warp && !s->dst.memory; x->warp++) {
        x->w = &x->p->warp[x->cta * x->p->n_warp + x->warp];
        play_rounds(x);
        play_loads(x);
        play_fills(x);
    }
}

/* Memory as it is at first: what SRC has there, if it is memory. */
static void
fill_shared(player *x)
{
    const axe_places *s = &x->p->sides.src;
    int               cta = x->p->sides.global ? 0 : x->cta;

    for (int64_t k = 0; k < x->p->n_shared; k++)
        x->shared[k] =
            s->memory && k < s->n_slot ? axe_places_row(s, cta, 0)[k] : NOTHING;
}

bool
axe_move_play(axe_ctx *cx, const axe_move_program *m, int64_t *n_proved)
{
    const struct axe_move_code *p = m->code;
    const axe_places           *d = &p->sides.dst;
    int64_t per = (int64_t)d->n_thread * d->n_slot, n = d->n_cta * per;
    player  x = {.cx = cx, .p = p, .ok = true};

    *n_proved = 0;
    x.shared = axe_new_array(cx, int64_t, p->n_shared + 1);
    x.result = axe_new_array(cx, int64_t, n + 1);
    for (x.cta = 0; x.cta < d->n_cta; x.cta++) {
        if (x.cta == 0 || !p->sides.global)
            fill_shared(&x);
        play_cta(&x);
        if (d->memory)
            memcpy(x.result + (p->sides.global ? 0 : x.cta * per), x.shared,
                   (size_t)d->n_slot * sizeof *x.shared);
    }
    for (int64_t k = 0; k < n; k++) {
        if (d->element[k] < 0)
            continue;
        x.ok = x.ok && x.result[k] == d->element[k];
        ++*n_proved;
    }
    return x.ok;
}
