/* eval_tcgen05.c - layouts of Blackwell's tensor memory, as TVM's tirx makes
 * them: where the tensor core has an operand, and what a warp group holds of it
 * when it has been read.  Axes are TVM's names.
 *
 * Which lanes an operand's rows are in is told by a letter of the PTX ISA, the
 * datapath.  Where a row has less than all lanes, its columns are in two or
 * four parts, below one another. */
#include <inttypes.h>
#include <string.h>

#include "layout/eval_int.h"
#include "layout/layout_int.h"

enum { ROOM = 8 }; /* iters of a layout */

/* The axes that layouts here are over. */
typedef struct axes {
    axe_axis lane, col, wid, thread, laneid;
} axes;

static axe_status
find_axes(axe_job *j, axes *x)
{
    AXE_TRY(axe_axis_find(j->cx, AXE_NOWHERE, "TLane", &x->lane));
    AXE_TRY(axe_axis_find(j->cx, AXE_NOWHERE, "TCol", &x->col));
    AXE_TRY(axe_axis_find(j->cx, AXE_NOWHERE, "wid_in_wg", &x->wid));
    AXE_TRY(axe_axis_find(j->cx, AXE_NOWHERE, "laneid", &x->laneid));
    return axe_axis_find(j->cx, AXE_NOWHERE, "tid_in_wg", &x->thread);
}

static axe_iter
iter(int64_t extent, int64_t stride, axe_axis axis)
{
    return (axe_iter){extent, stride, axis, AXE_UNIT_ONE};
}

/* The text at a key, which must be one. */
static axe_status
text_arg(axe_job *j, const char *key, const char **out)
{
    const axe_json *v = axe_json_get(j->in, key);

    if (v->kind != AXE_JSON_TEXT)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be a text, not %s", key,
                        axe_json_kind_text(v));
    *out = v->text;
    return AXE_OK;
}

static axe_status
reply(axe_job *j, int n, const axe_iter *it, int n_replica,
      const axe_iter *replica, axe_offset off)
{
    const axe_layout  spec = {.n_shard = n,
                              .shard = it,
                              .n_replica = n_replica,
                              .replica = replica,
                              .n_offset = off.value != 0,
                              .offset = &off};
    const axe_layout *l;

    AXE_TRY(axe_layout_make(j->cx, &spec, &l));
    return axe_job_reply_raw(j, l);
}

/* -------------------------------------------------------------- datapaths */

typedef struct datapath {
    char letter;
    int  rows, parts; /* parts of the columns, `apart` lanes apart */
    int  apart;
    bool slabs; /* 16 rows to a warp, in its lower or upper lanes */
} datapath;

static const datapath datapaths[] = {
    {'A', 128, 1, 0, false}, {'B', 64, 2, 64, false}, {'C', 64, 1, 0, true},
    {'D', 128, 1, 0, false}, {'E', 64, 2, 64, false}, {'F', 64, 1, 0, true},
    {'G', 32, 4, 32, false},
};

static axe_status
find_datapath(axe_job *j, const char *name, const datapath **out)
{
    for (int i = 0; i < AXE_LEN(datapaths); i++)
        if (name[0] == datapaths[i].letter && name[1] == '\0') {
            *out = &datapaths[i];
            return AXE_OK;
        }
    return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "there is no datapath %s; A to G are", name);
}

static axe_status
reply_datapath(axe_job *j, const datapath *d, int64_t rows, int64_t cols,
               int64_t slab)
{
    axe_iter it[3];
    int      n = 0;
    axes     x;

    AXE_TRY(find_axes(j, &x));
    if (rows != d->rows || cols < 1 || cols % d->parts != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "datapath %c has %d rows and a multiple of %d columns, "
                        "not %" PRId64 " and %" PRId64,
                        d->letter, d->rows, d->parts, rows, cols);
    if (slab < 0 || slab > 1 || (slab == 1 && !d->slabs))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "datapath %c has no sub-slab %" PRId64, d->letter,
                        slab);
    if (d->slabs) {
        it[n++] = iter(4, 32, x.lane);
        it[n++] = iter(16, 1, x.lane);
    } else {
        it[n++] = iter(rows, 1, x.lane);
    }
    if (d->parts > 1)
        it[n++] = iter(d->parts, d->apart, x.lane);
    it[n++] = iter(cols / d->parts, 1, x.col);
    return reply(j, n, it, 0, NULL,
                 (axe_offset){.axis = x.lane, .value = 16 * slab});
}

axe_status
axe_op_datapath(axe_job *j)
{
    const char     *name;
    const datapath *d;
    int64_t         rows, cols, slab = 0;

    AXE_TRY(text_arg(j, "datapath", &name));
    AXE_TRY(axe_job_int(j, "rows", &rows));
    AXE_TRY(axe_job_int(j, "cols", &cols));
    if (axe_json_get(j->in, "sub_slab"))
        AXE_TRY(axe_job_int(j, "sub_slab", &slab));
    AXE_TRY(find_datapath(j, name, &d));
    return reply_datapath(j, d, rows, cols, slab);
}

/* ---------------------------------------------------- operands of products */

static const struct {
    int         m, ctas;
    bool        ws;
    const char *letter;
} products[] = {
    {128, 1, false, "D"}, {64, 1, false, "F"},  {64, 1, true, "E"},
    {256, 2, false, "A"}, {128, 2, false, "B"},
};

static axe_status
product_datapath(axe_job *j, const datapath **out)
{
    const axe_json *ws = axe_json_get(j->in, "ws");
    const axe_json *sparse = axe_json_get(j->in, "sparse");
    int64_t         m, ctas;
    bool            by_one = ws && ws->truth;

    AXE_TRY(axe_job_int(j, "M", &m));
    AXE_TRY(axe_job_int(j, "cta_group", &ctas));
    for (int i = 0; i < AXE_LEN(products); i++)
        if (!(sparse && sparse->truth) && products[i].m == m &&
            products[i].ctas == ctas && products[i].ws == by_one)
            return find_datapath(j, products[i].letter, out);
    return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "no product has %" PRId64 " rows on %" PRId64 " CTAs%s%s",
                    m, ctas, by_one ? " with ws" : "",
                    sparse && sparse->truth ? ", sparse" : "");
}

/* The accumulator of a datapath whose columns are in two parts, as tensors of
 * more dims: (2, rows, n), (rows, 2, n), (rows, segments, 2, n). */
static axe_status
reply_parts(axe_job *j, const datapath *d, axe_shape s)
{
    axe_iter it[4];
    axes     x;
    int      two = s.n == 3 && s.extent[0] == 2 ? 0 : s.n - 2;

    AXE_TRY(find_axes(j, &x));
    if (d->parts != 2 || s.n < 3 || s.n > 4 || s.extent[two] != 2 ||
        s.extent[two == 0] != d->rows)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "datapath %c has no operand of shape %s", d->letter,
                        axe_shape_text(j->cx, s));
    for (int i = 0; i < s.n; i++)
        it[i] = i == two          ? iter(2, d->apart, x.lane)
                : i == (two == 0) ? iter(d->rows, 1, x.lane)
                : i == s.n - 1    ? iter(s.extent[i], 1, x.col)
                                  : iter(s.extent[i], s.extent[s.n - 1], x.col);
    return reply(j, s.n, it, 0, NULL, (axe_offset){0});
}

/* An accumulator (rows, cols) whose columns are cut by `group`. */
static axe_status
reply_grouped(axe_job *j, const datapath *d, axe_shape s)
{
    axe_shape g;
    int64_t   n;

    AXE_TRY(axe_job_shape(j, "group", &g));
    if (g.n != 3 || g.extent[1] != 2 || s.n != 2 ||
        !axe_mul(g.extent[0], g.extent[2], &n) || s.extent[1] % 2 != 0 ||
        n != s.extent[1] / 2)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "the group of an accumulator (rows, cols) is (s, 2, n) "
                        "with 2 s n = cols; this is %s, of one of shape %s",
                        axe_shape_text(j->cx, g), axe_shape_text(j->cx, s));
    return reply_parts(
        j, d,
        (axe_shape){4, (int64_t[]){s.extent[0], g.extent[0], 2, g.extent[2]}});
}

/* A factor: its rows are where those of the sums are, in as many lanes as the
 * datapath has; of B twice, or in two parts of a tensor (2, rows, k). */
static axe_status
reply_factor(axe_job *j, const datapath *d, axe_shape s)
{
    axe_iter it[2], twice;
    axes     x;

    AXE_TRY(find_axes(j, &x));
    if (d->parts == 2 && s.n == 3 && s.extent[0] == 2)
        return reply_parts(j, d, s);
    if (s.n != 2 || s.extent[0] != d->rows || d->letter == 'E')
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "datapath %c has no factor of shape %s", d->letter,
                        axe_shape_text(j->cx, s));
    it[0] = iter(d->rows, 1, x.lane);
    it[1] = iter(s.extent[1], 1, x.col);
    twice = iter(2, d->apart, x.lane);
    return reply(j, 2, it, d->parts == 2, &twice, (axe_offset){0});
}

axe_status
axe_op_tmem_operand(axe_job *j)
{
    const datapath *d;
    const char     *which;
    axe_shape       s;

    AXE_TRY(text_arg(j, "operand", &which));
    AXE_TRY(axe_job_shape(j, "shape", &s));
    AXE_TRY(product_datapath(j, &d));
    if (strcmp(which, "A") == 0)
        return reply_factor(j, d, s);
    if (strcmp(which, "D") != 0)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "operand is A or D, not %s", which);
    if (axe_json_get(j->in, "group"))
        return reply_grouped(j, d, s);
    if (s.n == 2)
        return reply_datapath(j, d, s.extent[0], s.extent[1], 0);
    return reply_parts(j, d, s);
}

/* --------------------------------------------------- what threads then hold */

/* Words of a row that one warp's instruction has, and how often it may go on.
 */
static const struct shape {
    const char *name;
    int         words, most, rows;
} shapes[] = {
    {"32x32b", 1, 128, 128},
    {"16x64b", 2, 128, 64},
    {"16x128b", 4, 64, 64},
    {"16x256b", 8, 32, 64},
};

/* How often the columns are repeated; 0, with a diagnostic, if that cannot be.
 */
static int64_t
repetitions(axe_job *j, const struct shape *s, int64_t cols, int64_t per)
{
    int64_t n = cols / (s->words * per);

    if (cols > 0 && cols % (s->words * per) == 0 && n <= s->most &&
        (n & (n - 1)) == 0)
        return n;
    axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
             "%s moves %" PRId64 " columns 1, 2, 4 .. %d times, not %" PRId64,
             s->name, s->words * per, s->most, cols);
    return 0;
}

/* All 128 lanes: a thread has one; of 64 rows two parts of the columns. */
static axe_status
reply_full(axe_job *j, const struct shape *s, axe_shape t, int64_t per)
{
    axe_iter it[3];
    int64_t  half = t.extent[0] == 64 ? 2 : 1;
    axes     x;

    AXE_TRY(find_axes(j, &x));
    if (half == 2 && (per != 1 || t.extent[1] % 2 != 0))
        return axe_fail(
            j->cx, AXE_NOWHERE, AXE_ESHAPE,
            "64 rows of %s are two parts of columns of 32 bits, not "
            "%" PRId64 " columns of %d",
            s->name, t.extent[1], 32 / (int)per);
    if (repetitions(j, s, t.extent[1] / half, per) == 0)
        return AXE_ESHAPE;
    it[0] = iter(t.extent[0], 1, x.thread);
    it[1] = iter(half, 64, x.thread);
    it[2] = iter(t.extent[1] / half, 1, AXE_AXIS_M);
    if (half == 1)
        it[1] = it[2];
    return reply(j, half == 2 ? 3 : 2, it, 0, NULL, (axe_offset){0});
}

/* 16 rows to a warp: lanes are 8 rows of 4; what is left of rows and words is
 * in registers.  128 rows: the same again. */
static axe_status
reply_slabs(axe_job *j, const struct shape *s, axe_shape t, int64_t per)
{
    int64_t  reps = repetitions(j, s, t.extent[1], per);
    int64_t  low = s->words == 8 ? 2 * per : per;
    int64_t  step = s->words == 2 ? per : 2 * low;
    axe_iter it[ROOM];
    int      n = 0;
    axes     x;

    AXE_TRY(find_axes(j, &x));
    if (reps == 0)
        return AXE_ESHAPE;
    it[n++] = iter(4, 1, x.wid);
    if (t.extent[0] == 128)
        it[n++] = iter(2, step * reps, AXE_AXIS_M);
    it[n++] = s->words == 2 ? iter(2, 1, x.laneid) : iter(2, low, AXE_AXIS_M);
    it[n++] = iter(8, 4, x.laneid);
    it[n++] = iter(reps, step, AXE_AXIS_M);
    it[n++] = s->words == 2 ? iter(2, 2, x.laneid) : iter(4, 1, x.laneid);
    if (s->words == 8)
        it[n++] = iter(2, per, AXE_AXIS_M);
    if (per > 1)
        it[n++] = iter(per, 1, AXE_AXIS_M);
    return reply(j, n, it, 0, NULL, (axe_offset){0});
}

axe_status
axe_op_tcgen05_atom(axe_job *j)
{
    const char         *name;
    const struct shape *s = NULL;
    axe_shape           t;
    int                 log2;

    AXE_TRY(text_arg(j, "instr_shape", &name));
    AXE_TRY(axe_job_shape(j, "tensor_shape", &t));
    AXE_TRY(axe_job_dtype(j, "tcgen05_atom_layout", &log2));
    for (int i = 0; i < AXE_LEN(shapes); i++)
        if (strcmp(shapes[i].name, name) == 0)
            s = &shapes[i];
    if (!s || t.n != 2 || (t.extent[0] != 64 && t.extent[0] != 128) ||
        log2 < 1 || log2 > 2)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "tcgen05_atom_layout: 32x32b, 16x64b, 16x128b or "
                        "16x256b, of 64 or 128 rows of 16 or 32 bits; this is "
                        "%s of shape %s, of %d bits",
                        name, axe_shape_text(j->cx, t), 8 << log2);
    return s->rows == 128 ? reply_full(j, s, t, 4 >> log2)
                          : reply_slabs(j, s, t, 4 >> log2);
}
