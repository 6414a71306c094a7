/* linear_named.c - Triton's named layouts as linear ones: blocked, slice, the
 * fragments of mma v2 and v3, and operands.
 *
 * All are made alike: what one CTA's threads hold, tile by tile, repeated over
 * registers or broadcast until it has the CTA's share of the tensor; then the
 * CTAs (linear_maker.c).  Source: triton, LinearLayoutConversions.cpp (its
 * comments) and its unit tests, which are our vectors. */
#include <inttypes.h>
#include <string.h>

#include "convert/linear_maker.h"

/* A thread has at most all of the CTA's share; as Triton had it while there
 * was a CTAsPerCGA, registers beyond that were copies. */
static axe_status
own_elements(axe_maker *m, const axe_json *v, const int *order)
{
    int64_t  n[AXE_LINEAR_DIMS];
    axe_ctas c;

    AXE_TRY(axe_ctas_read(m->cx, v, (axe_shape){m->rank, m->shape}, -1, &c));
    AXE_TRY(axe_field_powers(m->cx, v, "sizePerThread", m->rank, n));
    for (int k = 0; k < m->rank; k++)
        if (n[k] > c.share[k] && !axe_json_get(v, "CTAsPerCGA"))
            n[k] = c.share[k];
    return axe_maker_grow_all(m, n, "register", order, -1);
}

static axe_status
blocked(axe_maker *m, const axe_json *v)
{
    static const char *const keys[][2] = {{"threadsPerWarp", "lane"},
                                          {"warpsPerCTA", "warp"}};
    int64_t                  n[AXE_LINEAR_DIMS];
    int                      order[AXE_LINEAR_DIMS];

    axe_row_major(m->rank, order);
    AXE_TRY(axe_field_order(m->cx, v, "order", m->rank, order, order));
    axe_maker_start(m, order);
    AXE_TRY(own_elements(m, v, order));
    for (int i = 0; i < 2; i++) {
        AXE_TRY(axe_field_powers(m->cx, v, keys[i][0], m->rank, n));
        AXE_TRY(axe_maker_grow_all(m, n, keys[i][1], order, -1));
    }
    return axe_maker_over_ctas(m, v, order, -1);
}

/* ------------------------------------------------------------------- NVIDIA */

/* 8 rows of 4 lanes with `width` registers each; then rows, then columns. */
static axe_status
core(axe_maker *m, int64_t rows, int64_t cols, int64_t width, int row, int col)
{
    AXE_TRY(axe_maker_grow(m, width, "register", col, false));
    AXE_TRY(axe_maker_grow(m, 4, "lane", col, false));
    AXE_TRY(axe_maker_grow(m, 8, "lane", row, false));
    AXE_TRY(axe_maker_grow(m, rows / 8, "register", row, false));
    return axe_maker_grow(m, cols / (width * 4), "register", col, false);
}

/* Warps run down the rows in v3, along the columns before: of operands, too. */
static axe_status
warps(axe_maker *m, const axe_json *v, bool rows_first, int skip)
{
    int64_t n[AXE_LINEAR_DIMS];
    int     order[AXE_LINEAR_DIMS];

    axe_row_major(m->rank, order);
    if (rows_first) {
        order[0] = m->rank - 2;
        order[1] = m->rank - 1;
    }
    AXE_TRY(axe_field_powers(m->cx, v, "warpsPerCTA", m->rank, n));
    return axe_maker_grow_all(m, n, "warp", order, skip);
}

/* 2 or 3. */
static axe_status
mma_version(axe_maker *m, const axe_json *v, int64_t *version)
{
    AXE_TRY(axe_field_int(m->cx, v, "version", version));
    if (*version == 2 || *version == 3)
        return AXE_OK;
    axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "layout: mma of version %" PRId64 "; there are 2 and 3", *version);
    axe_help(m->cx,
             *version == 1
                 ? "Triton has dropped version 1, of sm_70, and says no more "
                   "what it was; fragments of sm_70 are thread-value layouts "
                   "(tv)"
             : *version == 5
                 ? "what version 5 multiplies and adds up is in shared and "
                   "tensor memory: #ttng.tensor_memory_encoding, nvmma_shared"
                 : "a fragment of another kind is a linear layout");
    return AXE_EUNSUPPORTED;
}

static axe_status
nvidia_mma(axe_maker *m, const axe_json *v)
{
    int64_t version, tile[AXE_LINEAR_DIMS];
    int     order[AXE_LINEAR_DIMS];

    AXE_TRY(mma_version(m, v, &version));
    AXE_TRY(axe_field_powers(m->cx, v, "instrShape", m->rank, tile));
    if (tile[version == 3 ? 0 : m->rank - 2] < 8 ||
        tile[version == 3 ? 1 : m->rank - 1] < 8)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: instrShape is at least 8 by 8");
    axe_row_major(m->rank, order);
    axe_maker_start(m, order);
    AXE_TRY(core(m, tile[version == 3 ? 0 : m->rank - 2],
                 tile[version == 3 ? 1 : m->rank - 1], 2, m->rank - 2,
                 m->rank - 1));
    AXE_TRY(warps(m, v, version == 3, -1));
    return axe_maker_over_ctas(m, v, order, -1);
}

static axe_status
mma_operand(axe_maker *m, const axe_json *parent, int which, int64_t width)
{
    int     k = m->rank - 1 - which, other = m->rank - 2 + which;
    int     order[AXE_LINEAR_DIMS];
    int64_t version;

    if (width < 1)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: kWidth of an operand of mma is at least 1");
    axe_row_major(m->rank, order);
    order[0] = k;
    order[1] = other;
    axe_maker_start(m, order);
    AXE_TRY(core(m, which ? 8 : 16, width * 8, width, other, k));
    AXE_TRY(mma_version(m, parent, &version));
    AXE_TRY(warps(m, parent, version == 3, k));
    return axe_maker_over_ctas(m, parent, order, k);
}

/* ----------------------------------------------------------------- operands */

/* Of a product that threads compute alone: each thread has all of k. */
static axe_status
blocked_operand(axe_maker *m, const axe_json *parent, int which, int64_t width)
{
    int     order[AXE_LINEAR_DIMS], k = m->rank - 1 - which;
    int64_t n[AXE_LINEAR_DIMS];

    (void)width;
    axe_row_major(m->rank, order);
    AXE_TRY(axe_field_order(m->cx, parent, "order", m->rank, order, order));
    axe_maker_start(m, order);
    AXE_TRY(axe_field_powers(m->cx, parent, "sizePerThread", m->rank, n));
    n[k] = m->shape[k];
    AXE_TRY(axe_maker_grow_all(m, n, "register", order, -1));
    AXE_TRY(axe_field_powers(m->cx, parent, "threadsPerWarp", m->rank, n));
    AXE_TRY(axe_maker_grow_all(m, n, "lane", order, k));
    AXE_TRY(axe_field_powers(m->cx, parent, "warpsPerCTA", m->rank, n));
    AXE_TRY(axe_maker_grow_all(m, n, "warp", order, k));
    return axe_maker_over_ctas(m, parent, order, k);
}

static axe_status
dot_operand(axe_maker *m, const axe_json *v)
{
    static const struct {
        const char *parent;
        axe_status (*make)(axe_maker *m, const axe_json *parent, int which,
                           int64_t width);
    } kinds[] = {{"nvidia_mma", mma_operand},
                 {"amd_mfma", axe_make_mfma_operand},
                 {"amd_wmma", axe_make_wmma_operand},
                 {"blocked", blocked_operand}};
    const axe_json *parent = axe_json_get(v, "parent");
    const axe_json *kind = axe_json_get(parent, "kind");
    int64_t         which, width = 0;

    AXE_TRY(axe_field_int(m->cx, v, "opIdx", &which));
    if (axe_json_get(v, "kWidth"))
        AXE_TRY(axe_field_int(m->cx, v, "kWidth", &width));
    for (int i = 0; which < 2 && (width & (width - 1)) == 0 && kind &&
                    kind->kind == AXE_JSON_TEXT && i < AXE_LEN(kinds);
         i++)
        if (strcmp(kind->text, kinds[i].parent) == 0)
            return kinds[i].make(m, parent, (int)which, width);
    return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "layout: a dot operand is opIdx 0 or 1, kWidth a power of "
                    "two, of nvidia_mma, amd_mfma, amd_wmma or blocked");
}

/* The parent over one dimension more, without it; registers that then say
 * nothing are dropped. */
static axe_status
slice(axe_maker *m, const axe_json *v)
{
    int64_t    dim, extent[AXE_LINEAR_DIMS];
    axe_linear p, l;
    int        n = 0;

    AXE_TRY(axe_field_int(m->cx, v, "dim", &dim));
    if (dim > m->rank || m->rank + 1 > AXE_LINEAR_DIMS)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: a slice along dimension %" PRId64 " of %d",
                        dim, m->rank + 1);
    for (int k = 0; k <= m->rank; k++)
        extent[k] = k == dim ? 1 : m->shape[k - (k > dim)];
    AXE_TRY(axe_linear_named(m->cx, axe_json_get(v, "parent"),
                             (axe_shape){m->rank + 1, extent}, &p));
    l = p;
    l.n_out = m->rank;
    for (int k = 0; k < m->rank; k++) {
        l.out[k] = axe_textf(m->cx, "dim%d", k);
        l.out_bits[k] = p.out_bits[k + (k >= dim)];
    }
    for (int i = 0; i < axe_linear_in_at(&p, p.n_in); i++)
        if (i >= p.in_bits[0] || p.basis[i] != 0)
            l.basis[n++] = p.basis[i];
        else
            l.in_bits[0]--;
    m->l = l;
    return AXE_OK;
}

axe_status
axe_linear_named(axe_ctx *cx, const axe_json *v, axe_shape shape,
                 axe_linear *out)
{
    static const struct {
        const char   *kind;
        axe_maker_fn *make;
    } kinds[] = {{"blocked", blocked},
                 {"slice", slice},
                 {"nvidia_mma", nvidia_mma},
                 {"dot_operand", dot_operand},
                 {"amd_mfma", axe_make_amd_mfma},
                 {"amd_wmma", axe_make_amd_wmma},
                 {"tensor_memory", axe_make_tensor_memory},
                 {"tensor_memory_scales", axe_make_tensor_memory_scales}};
    const axe_json *kind = axe_json_get(v, "kind");
    axe_maker       m = {.cx = cx, .rank = shape.n};
    int             bits = 0;

    if (shape.n < 1 || shape.n > AXE_LINEAR_DIMS)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: a tensor of 1 to 12 dimensions is needed");
    for (int k = 0; k < shape.n; k++) {
        m.shape[k] = shape.extent[k];
        bits += axe_log2_up(m.shape[k]);
        if (m.shape[k] < 1 || (m.shape[k] & (m.shape[k] - 1)) || bits > 40)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: dimension %d has %" PRId64
                            " elements; powers of two are needed, up to 2^40",
                            k, m.shape[k]);
    }
    for (int i = 0; kind && i < AXE_LEN(kinds); i++)
        if (kind->kind == AXE_JSON_TEXT &&
            strcmp(kind->text, kinds[i].kind) == 0) {
            if (i > 1 && m.rank < 2)
                break;
            AXE_TRY(kinds[i].make(&m, v));
            *out = m.l;
            return AXE_OK;
        }
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "layout: the kind must be blocked, slice, or of two "
                    "dimensions nvidia_mma, dot_operand, amd_mfma, amd_wmma, "
                    "tensor_memory, tensor_memory_scales");
}
