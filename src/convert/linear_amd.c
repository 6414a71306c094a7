/* linear_amd.c - fragments of AMD's matrix instructions, and operands: mfma, of
 * 64 lanes, and wmma, of 32.
 *
 * A result's tiles are counted along the columns first.  Source: triton,
 * LinearLayoutConversions.cpp (its comments), and AMD's matrix instruction
 * calculator. */
#include <inttypes.h>
#include <string.h>

#include "convert/linear_maker.h"
#include "convert/text.h"

/* The first three numbers of instrShape, each at most 2^10; 0 where there are
 * not so many. */
static void
instruction(const axe_json *v, int64_t shape[3])
{
    const axe_json *f = axe_json_get(v, "instrShape");
    int             k = 0;

    shape[0] = shape[1] = shape[2] = 0;
    for (const axe_json *c = f && f->kind == AXE_JSON_LIST ? f->child : NULL;
         c && k < 3; c = c->next, k++)
        if (c->kind == AXE_JSON_INT && c->integer > 0 && c->integer <= 1 << 10)
            shape[k] = c->integer;
}

/* --------------------------------------------------------------------- mfma */

/* Rows and columns of an instruction, how many registers are one after another,
 * tiles of a warp, and warps.  `early`: as Triton had it while instrShape had
 * no third number; what was transposed was counted down the rows first. */
typedef struct mfma {
    int64_t m, n, run, tiles[AXE_LINEAR_DIMS], warps[AXE_LINEAR_DIMS];
    bool    turned, early;
} mfma;

static axe_status
mfma_fields(axe_maker *m, const axe_json *v, mfma *f)
{
    const char *warps = axe_json_get(v, "warps") ? "warps" : "warpsPerCTA";
    int64_t     shape[3], bits = 32;

    instruction(v, shape);
    if (!axe_json_get(v, "instrShape")) {
        AXE_TRY(axe_field_int(m->cx, v, "mDim", &shape[0]));
        shape[1] = shape[0];
    }
    f->m = shape[0];
    f->n = shape[1];
    f->turned =
        axe_field_truth(v, "isTransposed") || axe_field_truth(v, "transposed");
    f->early = shape[2] == 0;
    if (axe_json_get(v, "elementBitWidth"))
        AXE_TRY(axe_field_int(m->cx, v, "elementBitWidth", &bits));
    f->run = bits == 64 ? 1 : 4;
    if (!(f->m == f->n && (f->m == 16 || f->m == 32)) &&
        !(f->m == 4 && f->n == 64) && !(f->m == 64 && f->n == 4 && f->turned))
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: mfma is 16 by 16, 32 by 32, 4 by 64, or, "
                        "transposed, 64 by 4");
    if (m->rank > 3)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: mfma of two dimensions, or three with one of "
                        "batches");
    AXE_TRY(axe_field_powers(m->cx, v, "tilesPerWarp", m->rank, f->tiles));
    return axe_field_powers(m->cx, v, warps, m->rank, f->warps);
}

/* Along the columns: tiles of a warp, warps, and again as far as they go; only
 * then down the rows. */
static axe_status
spread(axe_maker *m, const mfma *f, int row, int col)
{
    int64_t again = m->shape[col] / (f->n * f->warps[col] * f->tiles[col]);

    AXE_TRY(axe_maker_grow(m, f->tiles[col], "register", col, false));
    AXE_TRY(axe_maker_grow(m, f->warps[col], "warp", col, false));
    AXE_TRY(axe_maker_grow(m, again, "register", col, false));
    AXE_TRY(axe_maker_grow(m, f->tiles[row], "register", row, false));
    AXE_TRY(axe_maker_grow(m, f->warps[row], "warp", row, false));
    return m->rank == 3 ? axe_maker_grow(m, f->warps[0], "warp", 0, false)
                        : AXE_OK;
}

/* Rows in registers, columns in lanes, or the other way round. */
axe_status
axe_make_amd_mfma(axe_maker *m, const axe_json *v)
{
    int  order[AXE_LINEAR_DIMS], row = m->rank - 2, col = m->rank - 1;
    int  along, across;
    mfma f;

    AXE_TRY(mfma_fields(m, v, &f));
    along = f.turned ? col : row;
    across = f.turned ? row : col;
    axe_row_major(m->rank, order);
    if (f.early && f.turned && m->rank == 2) {
        order[0] = row;
        order[1] = col;
    }
    axe_maker_start(m, order);
    AXE_TRY(axe_maker_grow(m, f.run, "register", along, false));
    AXE_TRY(axe_maker_grow(m, f.turned ? f.m : f.n, "lane", across, false));
    AXE_TRY(
        axe_maker_grow(m, 64 / (f.turned ? f.m : f.n), "lane", along, false));
    AXE_TRY(
        axe_maker_grow(m, f.m * f.n / (64 * f.run), "register", along, false));
    if (f.early && f.turned && m->rank == 2)
        AXE_TRY(axe_maker_grow_all(m, f.warps, "warp", order, -1));
    else
        AXE_TRY(spread(m, &f, row, col));
    return axe_maker_over_ctas(m, v, order, -1);
}

static axe_status
need_width(axe_maker *m, int64_t width)
{
    if (width > 0)
        return AXE_OK;
    return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "layout: kWidth of an operand of a matrix instruction is "
                    "at least 1");
}

/* k first, then the other dimension, then batches. */
static void
operand_order(const axe_maker *m, int which, int *order)
{
    axe_row_major(m->rank, order);
    order[0] = m->rank - 1 - which;
    order[1] = m->rank - 2 + which;
}

axe_status
axe_make_mfma_operand(axe_maker *m, const axe_json *parent, int which,
                      int64_t width)
{
    int     order[AXE_LINEAR_DIMS], warps[AXE_LINEAR_DIMS];
    int64_t side, tile;
    mfma    f;

    AXE_TRY(need_width(m, width));
    AXE_TRY(mfma_fields(m, parent, &f));
    operand_order(m, which, order);
    axe_row_major(m->rank, warps);
    side = which ? f.n : f.m;
    tile = 64 / side * width;
    axe_maker_start(m, order);
    AXE_TRY(axe_maker_grow(m, width, "register", order[0], false));
    AXE_TRY(axe_maker_grow(m, side, "lane", order[1], false));
    AXE_TRY(axe_maker_grow(m, 64 / side, "lane", order[0], false));
    if (side == 64) {
        AXE_TRY(axe_maker_grow(m, 16, "register", order[0], false));
        tile *= 16;
    }
    AXE_TRY(axe_maker_grow(m, m->shape[order[0]] / tile, "register", order[0],
                           false));
    AXE_TRY(axe_maker_grow(m, f.tiles[order[1]], "register", order[1], false));
    AXE_TRY(axe_maker_grow_all(m, f.warps, "warp", warps, -1));
    return axe_maker_over_ctas(m, parent, order, -1);
}

/* --------------------------------------------------------------------- wmma */

/* The bases of an input of the CTA's tiles, {"ctaLayout": {"register": ..,
 * "warp": ..}} or beside it, behind *last. */
static void
add_bases(axe_maker *m, const axe_json *v, const char *in, axe_json *all,
          axe_json **last)
{
    const axe_json *own = axe_json_get(v, "ctaLayout");
    const axe_json *f = axe_json_get(own ? own : v, in);
    axe_json        list = {.kind = AXE_JSON_LIST};

    if (f)
        list = *f;
    list.next = NULL;
    list.key = in;
    list.key_len = strlen(in);
    axe_cv_add(m->cx, all, last, list);
}

/* Without a dimension, and without registers that then say nothing. */
static axe_status
without(axe_ctx *cx, int dim, axe_linear *l)
{
    axe_linear p = *l;

    p.out_bits[dim] = 0;
    for (int i = 0; i < axe_linear_in_at(l, l->n_in); i++) {
        p.basis[i] = 0;
        for (int k = 0; k < l->n_out; k++)
            if (k != dim)
                p.basis[i] |= (uint64_t)axe_linear_part(l, l->basis[i], k)
                              << axe_linear_out_at(&p, k);
    }
    return axe_linear_drop_zeros(cx, &p, "register", l);
}

/* What registers and warps of the CTA do with the tiles; along dimension `skip`
 * (-1: none) nothing. */
static axe_status
over_tiles(axe_maker *m, const axe_json *v, int skip)
{
    axe_json   all = {.kind = AXE_JSON_OBJECT}, *last = NULL;
    axe_linear tiles;

    add_bases(m, v, "register", &all, &last);
    add_bases(m, v, "warp", &all, &last);
    if (all.child->n_child + all.child->next->n_child == 0)
        return AXE_OK;
    AXE_TRY(axe_linear_read(m->cx, &all, (axe_shape){0, NULL}, &tiles));
    if (tiles.n_out != m->rank)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EARG,
                        "layout: the bases of wmma's tiles are of %d "
                        "dimensions, the tensor of %d",
                        tiles.n_out, m->rank);
    if (skip >= 0)
        AXE_TRY(without(m->cx, skip, &tiles));
    return axe_linear_mul(m->cx, &m->l, &tiles, &m->l);
}

static axe_status
wmma_fields(axe_maker *m, const axe_json *v, int64_t *version, int64_t shape[3])
{
    AXE_TRY(axe_field_int(m->cx, v, "version", version));
    if (*version < 1 || *version > 3)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: wmma of version %" PRId64 "; there are 1 to 3",
                        *version);
    instruction(v, shape);
    if (!axe_json_get(v, "instrShape"))
        shape[0] = shape[1] = shape[2] = 16;
    if (shape[0] != 16 || shape[1] != 16 || shape[2] < 1 ||
        (shape[2] & (shape[2] - 1)))
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: wmma is 16 by 16 by a power of two");
    if (m->rank > 3)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: wmma of two dimensions, or three with one of "
                        "batches");
    return AXE_OK;
}

/* 16 lanes across, 8 registers along; in version 1 the two halves of a warp
 * have every other row, later 8 each. */
axe_status
axe_make_amd_wmma(axe_maker *m, const axe_json *v)
{
    bool turned =
        axe_field_truth(v, "isTransposed") || axe_field_truth(v, "transposed");
    int     order[AXE_LINEAR_DIMS], along = m->rank - 2, across = m->rank - 1;
    int64_t version, shape[3];

    AXE_TRY(wmma_fields(m, v, &version, shape));
    if (turned) {
        along = m->rank - 1;
        across = m->rank - 2;
    }
    axe_row_major(m->rank, order);
    axe_maker_start(m, order);
    if (version > 1)
        AXE_TRY(axe_maker_grow(m, 8, "register", along, false));
    AXE_TRY(axe_maker_grow(m, 16, "lane", across, false));
    AXE_TRY(axe_maker_grow(m, 2, "lane", along, false));
    if (version == 1)
        AXE_TRY(axe_maker_grow(m, 8, "register", along, false));
    AXE_TRY(over_tiles(m, v, -1));
    return axe_maker_over_ctas(m, v, order, -1);
}

axe_status
axe_make_wmma_operand(axe_maker *m, const axe_json *parent, int which,
                      int64_t width)
{
    int     order[AXE_LINEAR_DIMS], k = m->rank - 1 - which;
    int64_t version, shape[3];

    AXE_TRY(need_width(m, width));
    AXE_TRY(wmma_fields(m, parent, &version, shape));
    operand_order(m, which, order);
    axe_maker_start(m, order);
    AXE_TRY(axe_maker_grow(m, width, "register", k, false));
    AXE_TRY(axe_maker_grow(m, 16, "lane", order[1], false));
    AXE_TRY(axe_maker_grow(m, 2, "lane", k, version == 1));
    AXE_TRY(axe_maker_grow(m, shape[2] / (2 * width), "register", k, false));
    AXE_TRY(over_tiles(m, parent, k));
    return axe_maker_over_ctas(m, parent, order, k);
}
