/* box.c - COPY through a tensor map: a box between global and shared memory,
 * zeros or nothing where it lies outside the tensor. */
#include <string.h>

#include "sim/sim_int.h"

enum { MAX_BOX = 256, MAX_ROW = 2048, MAP_ALIGN = 16, BOX_ALIGN = 128 };

typedef struct box {
    const axe_map *map;
    int            number;
    axe_type       type;
    const sim_arg *shared, *mapped;
    int            shared_is; /* which operand */
    bool           load;
} box;

static box
box_of(const sim *s, const sim_call *c)
{
    bool           load = c->in->arg[1].space == AXE_ARG_MAP;
    const sim_arg *m = &c->in->arg[load ? 1 : 0];
    const axe_map *map = &s->g->map[m->map];

    return (box){.map = map,
                 .number = m->map,
                 .type = map->tensor->type,
                 .shared = &c->in->arg[load ? 0 : 1],
                 .mapped = m,
                 .shared_is = load ? 0 : 1,
                 .load = load};
}

int64_t
axe_sim_box_bytes(const sim *s, const sim_call *c)
{
    box     b = box_of(s, c);
    int64_t n = 1;

    for (int i = 0; i < b.map->rank; i++)
        n *= b.map->box[i];
    return axe_type_bytes(b.type, n);
}

/* ---------------------------------------------------------------- checks */

static void
wrong(sim *s, const sim_call *c, const box *b, const char *what, int64_t value,
      const char *should)
{
    if (!axe_sim_known(s, AXE_SIM_MAP, c->in, -1))
        axe_sim_find(s, AXE_SIM_MAP, c->in, -1,
                     "map%d of %s: %s %lld, which should be %s", b->number,
                     b->map->tensor->name, what, (long long)value, should);
}

static void
check_swizzle(sim *s, const sim_call *c, const box *b)
{
    const axe_buffer *to = &s->g->buffer[b->shared->tensor];
    int64_t           inner = axe_type_bytes(b->type, b->map->box[0]);
    int64_t           w = b->map->swizzle;
    int               bits = w == 128 ? 3 : w == 64 ? 2 : w == 32 ? 1 : 0;

    if (bits == 0 && w != 0)
        wrong(s, c, b, "its swizzle is", w, "0, 32, 64 or 128");
    if (to->swizzle.bits != bits ||
        (bits > 0 && (to->swizzle.base != 4 || to->swizzle.shift != 3)))
        wrong(s, c, b, "its swizzle is", w, "that of the buffer");
    if (bits > 0 && inner > w)
        wrong(s, c, b, "a row of the box has bytes", inner,
              "at most the swizzle's");
    if (bits > 0 && to->offset % (w * 8) != 0)
        wrong(s, c, b, "the buffer's offset is", to->offset,
              "a multiple of 8 rows of the swizzle");
}

void
axe_sim_box_check(sim *s, const sim_call *c)
{
    box     b = box_of(s, c);
    int64_t inner = axe_type_bytes(b.type, b.map->box[0]);

    if (b.mapped->n_at != b.map->rank)
        wrong(s, c, &b, "coordinates are", b.mapped->n_at, "as its rank");
    if (inner % MAP_ALIGN != 0)
        wrong(s, c, &b, "a row of the box has bytes", inner,
              "a multiple of 16");
    for (int i = 0; i < b.map->rank; i++) {
        int64_t bytes = axe_type_bytes(b.type, s->map_stride[b.number][i]);
        if (b.map->box[i] < 1 || b.map->box[i] > MAX_BOX)
            wrong(s, c, &b, "an extent of the box is", b.map->box[i],
                  "from 1 to 256");
        if (i == 0 && s->map_stride[b.number][0] != 1)
            wrong(s, c, &b, "its first stride is", s->map_stride[b.number][0],
                  "1");
        if (i > 0 && bytes % MAP_ALIGN != 0)
            wrong(s, c, &b, "a stride has bytes", bytes, "a multiple of 16");
    }
    check_swizzle(s, c, &b);
}

static void
check_place(sim *s, const sim_call *c, const box *b, int64_t at)
{
    const axe_buffer *to = &s->g->buffer[b->shared->tensor];
    int64_t           byte = to->offset + axe_type_bytes(b->type, at);

    if (byte % BOX_ALIGN != 0 && !axe_sim_known(s, AXE_SIM_ALIGN, c->in, -1))
        axe_sim_find(s, AXE_SIM_ALIGN, c->in, -1,
                     "a box begins at byte %lld of shared memory (%s), which "
                     "is no multiple of %d",
                     (long long)byte, to->tensor->name, BOX_ALIGN);
}

/* ----------------------------------------------------------------- moving */

static void
store_row(sim *s, sim_call *c, const sim_arg *g, int64_t at, int64_t n,
          uint8_t *data)
{
    axe_fold fold = c->in->shape->atom->fold;
    axe_type t = s->global[g->tensor].tensor->type;
    int      size = axe_type_table[t].bits / 8;
    uint8_t  old[8];

    for (int64_t i = 0; i < n && fold != AXE_FOLD_NONE; i++)
        if (axe_sim_peek(s, g, c->warp->cta, at + i, old)) {
            axe_sim_fold(fold, t, old, data + i * size);
            memcpy(data + i * size, old, (size_t)size);
        }
    (void)axe_sim_bytes(s, c, g, c->warp->cta, at, n, true, data);
}

/* One row of the box: its elements [lo, hi) lie in the tensor, from `at` on. */
static void
move_row(sim *s, sim_async *o, const box *b, int64_t row, int64_t at,
         int64_t lo, int64_t hi)
{
    sim_call *c = &o->call;
    sim_arg   g = {.space = AXE_ARG_GLOBAL, .tensor = s->map_of[b->number]};
    uint8_t   data[MAX_ROW] = {0};
    int       lane = axe_sim_first(c->mask);
    int64_t   n = b->map->box[0], to = c->at[b->shared_is][lane] + row * n;

    if (b->load) {
        if (lo < hi)
            (void)axe_sim_bytes(s, c, &g, o->to, at + lo, hi - lo, false,
                                data + axe_type_bytes(b->type, lo));
        (void)axe_sim_bytes(s, c, b->shared, o->to, to, n, true, data);
        return;
    }
    (void)axe_sim_bytes(s, c, b->shared, o->to, to, n, false, data);
    if (lo < hi)
        store_row(s, c, &g, at + lo, hi - lo,
                  data + axe_type_bytes(b->type, lo));
}

static int64_t
within(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

void
axe_sim_copy_box(sim *s, sim_async *o)
{
    sim_call      *c = &o->call;
    box            b = box_of(s, c);
    const int64_t *size = s->map_size[b.number],
                  *step = s->map_stride[b.number];
    int64_t rows = 1, n = b.map->box[0];
    int64_t lo = within(-c->coord[0], 0, n);
    int64_t hi = within(size[0] - c->coord[0], lo, n);

    if (axe_type_bytes(b.type, n) > MAX_ROW)
        return;
    check_place(s, c, &b, c->at[b.shared_is][axe_sim_first(c->mask)]);
    for (int i = 1; i < b.map->rank; i++)
        rows *= b.map->box[i];
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = c->coord[0], rest = r;
        bool    inside = true;
        for (int i = 1; i < b.map->rank; i++) {
            int64_t x = c->coord[i] + rest % b.map->box[i];
            rest /= b.map->box[i];
            inside = inside && x >= 0 && x < size[i];
            at += x * step[i];
        }
        move_row(s, o, &b, r, at, inside ? lo : 0, inside ? hi : 0);
    }
}
