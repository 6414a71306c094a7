/* vector.c - what a warp loads or stores, in the fewest instructions.
 *
 * An instruction moves the same registers in all lanes, each lane to or from a
 * place of its own; more than one register where in every lane that takes part
 * they are neighbours that begin at a multiple of their number.  An element of
 * the first such lane says which registers could be its neighbours, so the
 * longest that hold everywhere are found without a search. */
#include <string.h>

#include "machine/thread_rows.h"
#include "move/move_int.h"

typedef struct finder {
    int            lanes, n;
    const int64_t *at;
    const bool    *need;
    bool           done[AXE_MOVE_SLOTS];
    int16_t       *slot_at; /* [n_place] of one lane, -1: none */
    axe_ctx       *cx;
} finder;

/* The first lane that needs the slot; -1: none. */
static int
first_lane(const finder *f, int slot)
{
    for (int l = 0; l < f->lanes; l++)
        if (f->need[l * f->n + slot])
            return l;
    return -1;
}

static bool
lane_needs(const finder *f, int lane, int width, const int16_t *slot)
{
    for (int i = 0; i < width; i++)
        if (f->need[lane * f->n + slot[i]])
            return true;
    return false;
}

/* Are the slots neighbours in every lane that needs one of them? */
static bool
are_neighbours(const finder *f, int width, const int16_t *slot)
{
    for (int l = 0; l < f->lanes; l++) {
        const int64_t *at = f->at + l * f->n;
        if (!lane_needs(f, l, width, slot))
            continue;
        if (at[slot[0]] < 0 || at[slot[0]] % width != 0)
            return false;
        for (int i = 1; i < width; i++)
            if (at[slot[i]] != at[slot[0]] + i)
                return false;
    }
    return true;
}

/* The slots of the lane that share the piece of `width` places with one. */
static bool
piece_of(const finder *f, int lane, int slot, int width, int16_t *out)
{
    int64_t first = f->at[lane * f->n + slot] / width * width;

    for (int i = 0; i < width; i++) {
        out[i] = f->slot_at[first + i];
        if (out[i] < 0 || f->done[out[i]])
            return false;
    }
    return are_neighbours(f, width, out);
}

/* Where the lane's slots are, or nowhere again. */
static void
mark_lane(finder *f, int lane, bool on)
{
    for (int s = f->n - 1; s >= 0; s--)
        if (f->at[lane * f->n + s] >= 0 && (!on || !f->done[s]))
            f->slot_at[f->at[lane * f->n + s]] = (int16_t)(on ? s : -1);
}

static void
add(finder *f, int width, const int16_t *slot, axe_accesses *out)
{
    axe_access *a;

    if (out->n == out->cap) {
        int         cap = out->cap ? 2 * out->cap : 16;
        axe_access *more = axe_new_array(f->cx, axe_access, cap);
        if (out->n > 0)
            memcpy(more, out->access, (size_t)out->n * sizeof *more);
        out->access = more;
        out->cap = cap;
    }
    a = &out->access[out->n++];
    a->width = width;
    a->slot = axe_new_array(f->cx, int16_t, width);
    a->at = axe_new_array(f->cx, int64_t, f->lanes);
    memcpy(a->slot, slot, (size_t)width * sizeof *slot);
    for (int l = 0; l < f->lanes; l++)
        a->at[l] =
            lane_needs(f, l, width, slot) ? f->at[l * f->n + slot[0]] : -1;
    for (int i = 0; i < width; i++)
        f->done[slot[i]] = true;
}

void
axe_vectors_find(axe_ctx *cx, int lanes, int n, const int64_t *at,
                 const bool *need, int most, int64_t n_place, axe_accesses *out)
{
    finder  f = {.lanes = lanes, .n = n, .at = at, .need = need, .cx = cx};
    int16_t slot[AXE_MOVE_SLOTS];

    memset(out, 0, sizeof *out);
    f.slot_at = axe_new_array(cx, int16_t, n_place + most + 1);
    memset(f.slot_at, 0xff, (size_t)(n_place + most) * sizeof *f.slot_at);
    for (int s = 0; s < n; s++) {
        int lane = f.done[s] ? -1 : first_lane(&f, s), width = most;
        if (lane < 0)
            continue;
        mark_lane(&f, lane, true);
        while (width > 1 && !piece_of(&f, lane, s, width, slot))
            width /= 2;
        if (width == 1)
            slot[0] = (int16_t)s;
        mark_lane(&f, lane, false);
        add(&f, width, slot, out);
    }
}

/* --------------------------------------------------------------------- cost */

/* Phases of an access in which all lanes take part. */
static int64_t
n_phases(const axe_simt *mc, int64_t bytes)
{
    int64_t all = (int64_t)mc->banks * mc->bank_bytes;
    int64_t n = (bytes * mc->lanes + all - 1) / all;

    return n > 1 ? n : 1;
}

/* The row for one access, and its cost in cycles. */
static double
row_cost(axe_ctx *cx, const axe_machine *mc, axe_arg_space memory, bool store,
         int bytes)
{
    int             param;
    const axe_atom *row = axe_simt_find_move(
        cx, mc, store ? AXE_ATOM_STORE : AXE_ATOM_LOAD,
        store ? memory : AXE_ARG_REG, store ? AXE_ARG_REG : memory, AXE_TYPE_u8,
        bytes, &param);

    return row ? row->cost : (double)n_phases(mc->simt, bytes);
}

/* What banks take for one access: lanes come in phases, as many as all banks
 * hold the bytes of. */
static axe_banks
banks_of(const axe_simt *mc, int lanes, int size, const axe_access *a)
{
    int64_t   bytes = (int64_t)a->width * size;
    int64_t   all = (int64_t)mc->banks * mc->bank_bytes;
    int       phase = bytes < all ? (int)(all / bytes) : 1;
    int64_t   at[AXE_MAX_LANES];
    axe_banks sum = {0, 0};

    for (int first = 0; first < lanes; first += phase) {
        int n = 0;
        for (int l = first; l < lanes && l < first + phase; l++)
            if (a->at[l] >= 0)
                at[n++] = a->at[l] * size;
        if (n > 0)
            axe_banks_add(&sum, axe_banks_of(mc, n, at, bytes));
    }
    return sum;
}

/* Pieces of `piece` bytes that the lanes touch, each once. */
static int64_t
n_pieces(int lanes, int size, const axe_access *a, int64_t piece)
{
    int64_t seen[2 * AXE_MAX_LANES], bytes = (int64_t)a->width * size;
    int     n = 0;

    for (int l = 0; l < lanes; l++)
        for (int64_t x = a->at[l] * size / piece;
             a->at[l] >= 0 && x * piece < a->at[l] * size + bytes; x++) {
            int i = 0;

            while (i < n && seen[i] != x)
                i++;
            if (i == n && n < 2 * AXE_MAX_LANES)
                seen[n++] = x;
        }
    return n;
}

/* What a warp asks of global memory: lanes that read the same bytes read them
 * once. */
static void
count_global(axe_ctx *cx, const axe_machine *mc, int bits, bool store,
             const axe_access *a, axe_move_access *sum, double *cost)
{
    const axe_simt *t = mc->simt;
    int             size = bits / 8, bytes = a->width * size;
    int64_t         line = (int64_t)t->banks * t->bank_bytes;
    int64_t sector = t->sector_bytes > 0 ? t->sector_bytes : 32, lines, used;

    lines = n_pieces(t->lanes, size, a, line > 0 ? line : 128);
    used = n_pieces(t->lanes, size, a, bytes) * bytes;
    sum->n++;
    sum->cycles += lines;
    sum->sectors += n_pieces(t->lanes, size, a, sector);
    sum->least_sectors += (used + sector - 1) / sector;
    sum->widest = bytes > sum->widest ? bytes : sum->widest;
    *cost += row_cost(cx, mc, AXE_ARG_GLOBAL, store, bytes) -
             (double)n_phases(t, bytes) + (double)lines;
}

void
axe_vectors_count(axe_ctx *cx, const axe_machine *mc, int bits,
                  axe_move_memory memory, bool store, const axe_accesses *a,
                  axe_move_access *sum, double *cost)
{
    for (int i = 0; i < a->n; i++) {
        if (memory == AXE_MOVE_IN_GLOBAL) {
            count_global(cx, mc, bits, store, &a->access[i], sum, cost);
            continue;
        }
        int       bytes = a->access[i].width * bits / 8;
        axe_banks b =
            banks_of(mc->simt, mc->simt->lanes, bits / 8, &a->access[i]);
        sum->n++;
        sum->cycles += b.cycles;
        sum->conflicts += b.cycles - b.phases;
        sum->widest = bytes > sum->widest ? bytes : sum->widest;
        *cost += row_cost(cx, mc, AXE_ARG_SHARED, store, bytes) -
                 (double)n_phases(mc->simt, bytes) + (double)b.cycles;
    }
}
