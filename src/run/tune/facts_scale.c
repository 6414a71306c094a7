/* facts_scale.c - scales of factors, as `axe eval` is asked for them. */
#include <inttypes.h>
#include <string.h>

#include "run/tune/facts.h"

enum {
    MAX_SCALES = 1 << 20, /* of a tile */
    MAX_BATCH = 1 << 20,
    COPY_ROWS = 128, /* that one copy has, of a column's scales each */
    COPY_SCALES = 4
};

/* The scales at `flat` of a layout, on an axis. */
static int64_t
at(const axe_layout *l, int64_t flat, axe_axis a)
{
    return axe_layout_at(l, flat, a);
}

/* ----------------------------------------------------------------- arguments
 */

static axe_status
read_tile(axe_job *j, axe_ask_scale *q, int64_t *vec)
{
    const char *operand;

    AXE_TRY(axe_fact_machine(j, &q->mc));
    AXE_TRY(axe_fact_text(j, "operand", &operand));
    AXE_TRY(axe_fact_ints(j, "rows", 1, &q->rows));
    AXE_TRY(axe_fact_ints(j, "k", 1, &q->k));
    AXE_TRY(axe_fact_ints(j, "vec", 1, vec));
    q->side = strcmp(operand, "B") == 0 ? 2 : 1;
    if (q->side == 1 && strcmp(operand, "A") != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "operand is A or B, not \"%s\"", operand);
    if (q->rows < 1 || *vec < 1 || q->k < 1 || q->k % *vec != 0 ||
        q->k / *vec > MAX_SCALES || q->rows > MAX_SCALES / (q->k / *vec))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%" PRId64 " rows by %" PRId64 " of k: whole blocks of "
                        "%" PRId64 " are answered, up to %d of them",
                        q->rows, q->k, *vec, MAX_SCALES);
    return AXE_OK;
}

/* The product that the scales are for. */
static axe_status
read_product(axe_job *j, int n_mma, axe_ask_scale *q)
{
    axe_fact_product p = {.type = {AXE_TYPE_any, AXE_TYPE_any, AXE_TYPE_any},
                          .scale = AXE_TYPE_any};
    const char      *scale;
    int64_t          mma[3] = {0, 0, 0};

    AXE_TRY(read_tile(j, q, &p.vec));
    AXE_TRY(axe_fact_text(j, "kind", &p.kind));
    AXE_TRY(axe_fact_text(j, "scale", &scale));
    AXE_TRY(axe_fact_ints(j, "mma", n_mma, mma));
    AXE_TRY(axe_fact_ints(j, "cta_group", 1, &p.group));
    if (*scale)
        AXE_TRY(axe_fact_type(j, "scale", &p.scale));
    p.m = mma[0];
    p.n = mma[1];
    p.k = mma[2];
    AXE_TRY(axe_fact_find(j, q->mc, &p, &q->atom));
    q->param = (int)p.n;
    return AXE_OK;
}

/* ------------------------------------------------------------------- answers
 */

/* [[x of row 0, block 0, ...], ...] */
typedef void put_fn(axe_job *j, const void *x, int64_t row, int64_t block);

static void
put_table(axe_job *j, int64_t rows, int64_t blocks, put_fn *put, const void *x)
{
    for (int64_t r = 0; r < rows; r++) {
        axe_puts(j->out, r > 0 ? ",[" : "[[");
        for (int64_t b = 0; b < blocks; b++) {
            axe_puts(j->out, b > 0 ? "," : "");
            put(j, x, r, b);
        }
        axe_putc(j->out, ']');
    }
    axe_putc(j->out, ']');
}

/* Scales in memory: tiles of `tile_rows` by `tile_blocks` one after the other,
 * the blocks fast. */
typedef struct order {
    const axe_layout *tile;
    int64_t           rows, blocks; /* of a tile */
    int64_t           across;       /* tiles along the blocks */
    int64_t           bytes;        /* of a tile */
} order;

static void
put_offset(axe_job *j, const void *x, int64_t row, int64_t block)
{
    const order *o = x;
    int64_t      flat = row % o->rows * o->blocks + block % o->blocks;
    int64_t      tile = row / o->rows * o->across + block / o->blocks;

    axe_putf(j->out, "%" PRId64,
             tile * o->bytes + at(o->tile, flat, AXE_AXIS_M));
}

static axe_status
put_order(axe_job *j, const order *o, int64_t rows, int64_t blocks,
          int64_t n_tile)
{
    int64_t batches = 0;

    AXE_TRY(axe_fact_ints(j, "batches", 1, &batches));
    if (batches < 0 || batches > MAX_BATCH)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE, "%" PRId64 " batches",
                        batches);
    axe_putf(j->out, "{\"bytes\":%" PRId64,
             n_tile * o->bytes * (batches > 0 ? batches : 1));
    if (batches > 0)
        axe_putf(j->out, ",\"batch_stride\":%" PRId64, n_tile * o->bytes);
    axe_puts(j->out, ",\"offset\":");
    put_table(j, rows, blocks, put_offset, o);
    axe_putc(j->out, '}');
    return AXE_OK;
}

/* The first product with scales for so many of k, and one copy's of them: in
 * global memory those lie one after the other, as the library's kernels declare
 * them: S[row/128, block/4, ...]. */
static axe_status
answer_global(axe_job *j)
{
    axe_ask_scale  q;
    axe_told_scale told;
    int64_t        vec = 0, rows, blocks;

    AXE_TRY(read_tile(j, &q, &vec));
    rows = (q.rows + COPY_ROWS - 1) / COPY_ROWS;
    blocks = (q.k / vec + COPY_SCALES - 1) / COPY_SCALES;
    for (int i = 0; i < q.mc->n_atom; i++) {
        q.atom = &q.mc->atom[i];
        if (axe_machine_has(q.mc, q.atom) &&
            axe_atom_block(j->cx, q.atom) == vec)
            break;
        q.atom = NULL;
    }
    if (!q.atom)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "no row of %s takes a scale for %" PRId64, q.mc->name,
                        vec);
    order   o = {.rows = COPY_ROWS, .blocks = COPY_SCALES, .across = blocks};
    int64_t all_rows = q.rows, all = q.k / vec;
    q.side = 1;
    q.param = COPY_ROWS;
    q.rows = COPY_ROWS;
    q.k = COPY_SCALES * vec;
    AXE_TRY(axe_ask_scales(j->cx, &q, &told));
    o.tile = told.shared;
    o.bytes = told.shared->size;
    return put_order(j, &o, all_rows, all, rows * blocks);
}

axe_status
axe_fact_order(axe_job *j)
{
    axe_ask_scale  q;
    axe_told_scale told;
    const char    *memory;

    AXE_TRY(axe_fact_text(j, "memory", &memory));
    if (strcmp(memory, "global") == 0)
        return answer_global(j);
    if (strcmp(memory, "shared") != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "memory is global or shared, not \"%s\"", memory);
    AXE_TRY(read_product(j, 2, &q));
    AXE_TRY(axe_ask_scales(j->cx, &q, &told));
    order o = {.tile = told.shared,
               .rows = q.rows,
               .blocks = q.k / axe_atom_block(j->cx, q.atom),
               .across = 1,
               .bytes = told.shared->size};
    return put_order(j, &o, o.rows, o.blocks, 1);
}

typedef struct held {
    const axe_told_scale *told;
    int64_t               blocks;
} held;

static void
put_place(axe_job *j, const void *x, int64_t row, int64_t block)
{
    const held           *h = x;
    const axe_told_scale *t = h->told;
    int64_t               flat = row * h->blocks + block;
    int64_t               column = at(t->held, flat, t->column);

    axe_putf(j->out, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
             at(t->held, flat, t->lane), column / t->wide, column % t->wide);
}

axe_status
axe_fact_held(axe_job *j)
{
    axe_ask_scale  q;
    axe_told_scale t;

    AXE_TRY(read_product(j, 3, &q));
    AXE_TRY(axe_ask_scales(j->cx, &q, &t));
    held h = {&t, q.k / axe_atom_block(j->cx, q.atom)};
    if (t.held->n_replica != 1)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s has its scales in several ways", q.atom->name);
    axe_putf(j->out, "{\"columns\":%" PRId64 ",\"replicas\":", t.columns);
    for (int64_t i = 0; i < t.held->replica[0].extent; i++)
        axe_putf(j->out, "%s%" PRId64, i > 0 ? "," : "[",
                 i * t.held->replica[0].stride);
    axe_puts(j->out, "],\"steps\":");
    for (int64_t i = 0; i < t.n_step; i++)
        axe_putf(j->out, "%s[%" PRId64 ",%" PRId64 "]", i > 0 ? "," : "[",
                 t.step[i] / t.wide, t.step[i] % t.wide);
    axe_puts(j->out, "],\"place\":");
    put_table(j, q.rows, h.blocks, put_place, &h);
    axe_putc(j->out, '}');
    return AXE_OK;
}

axe_status
axe_fact_copy(axe_job *j)
{
    axe_ask_scale  q;
    axe_told_scale t;
    const char    *shape;

    AXE_TRY(axe_fact_text(j, "shape", &shape));
    AXE_TRY(read_product(j, 2, &q));
    AXE_TRY(axe_ask_scales(j->cx, &q, &t));
    if (*shape && strcmp(shape, t.copy->text) != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s copies them, not %s", t.copy->text, shape);
    axe_puts(j->out, "{\"dont_care\":\"0x000000003fff0000\",\"copies\":");
    for (int i = 0; i < t.n_copy; i++)
        axe_putf(
            j->out, "%s{\"desc\":\"0x%016" PRIx64 "\",\"column\":%" PRId64 "}",
            i > 0 ? "," : "[", t.desc | ((uint64_t)t.from[i] & 0x3ffff) / 16,
            t.to[i] / t.wide);
    axe_puts(j->out, "]}");
    return AXE_OK;
}
