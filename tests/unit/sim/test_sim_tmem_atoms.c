/* test_sim_tmem_atoms.c - moves, copies and products of all kinds in tensor
 * memory, one at a time, against what they should give. */
#include "edits.h"
#include "sim_check.h"

static node
warp_lane(void)
{
    return thread(&m);
}

/* A CTA of 128 threads with a tile of 64 columns, whose address all know. */
static const axe_tensor *
tile_cta(axe_type type, const axe_tensor **py)
{
    const axe_tensor *px, *t, *word, *base;

    (void)one_cta("sm_100a", 128, 1, 1, &px, py);
    t = tmem(&m, "t", type, 64);
    word = buffer(&m, "word", AXE_TYPE_u32, 1, 0);
    m.grid.tmem_base = base = array(&m, "base", AXE_TYPE_u32, 1);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    atom(&m, "tc.alloc", 0, 2, (axe_arg[]){at(word, n(0)), integer(n(64))});
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    atom(&m, "tc.after", 0, 0, NULL);
    move("ld.shared.b32", at(base, n(0)), at(word, n(0)));
    return t;
}

static void
free_tile(const axe_tensor *t)
{
    atom(&m, "tc.before", 0, 0, NULL);
    atom(&m, "barrier.cta", 0, 0, NULL);
    atom(&m, "tc.after", 0, 0, NULL);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    atom(&m, "tc.free", 0, 2, (axe_arg[]){in_tmem(t, n(0)), integer(n(64))});
    end(&m);
}

/* ------------------------------------------------------------------ copies */

static axe_arg
plain_matrix(const axe_tensor *s, int rows)
{
    axe_arg a = at(s, n(0));

    a.desc = (uint64_t)rows << 16 | 0x0000400800000000;
    return a;
}

/* Which row of shared memory a lane of tensor memory gets. */
static const struct {
    const char *name;
    int         rows, from[4]; /* first row of each 32 lanes */
} copies[] = {
    {"tc.cp.128x128b", 128, {0, 32, 64, 96}},
    {"tc.cp.64x128b.02_13", 64, {0, 32, 0, 32}},
    {"tc.cp.64x128b.01_23", 64, {0, 0, 32, 32}},
    {"tc.cp.32x128b.warpx4", 32, {0, 0, 0, 0}},
};

/* Rows of four words, row r of 4 r to 4 r + 3. */
static void
make_copied(const char *name, int rows)
{
    const axe_tensor *py, *t = tile_cta(AXE_TYPE_f32, &py), *s, *bar, *v;

    s = buffer(&m, "s", AXE_TYPE_f32, 512, 0);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    v = array(&m, "v", AXE_TYPE_f32, 4);
    begin_if(&m, is(&m, warp_lane(), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    end(&m);
    for (int i = 0; i < 4; i++)
        calc(&m, v, n(i), f32_of(add(&m, mul(&m, warp_lane(), 4), n(i))));
    move("st.shared.b128", at(s, mul(&m, warp_lane(), 4)), at(v, n(0)));
    atom(&m, "tc.fence", 0, 1, (axe_arg[]){at(s, n(0))});
    atom(&m, "barrier.cta", 0, 0, NULL);
    begin_if(&m, is(&m, warp_lane(), 0));
    move(name, in_tmem(t, n(0)), plain_matrix(s, rows));
    atom(&m, "tc.commit", 0, 1, (axe_arg[]){at(bar, n(0))});
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(0))});
    atom(&m, "tc.after", 0, 0, NULL);
    move("tc.ld.32x32b.x4", at(v, n(0)), in_tmem(t, n(0)));
    atom(&m, "tc.ld.drain", 0, 0, NULL);
    move("st.global.b128", at(py, mul(&m, warp_lane(), 4)), at(v, n(0)));
    free_tile(t);
}

static void
test_copies(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(copies); k++) {
        make_copied(copies[k].name, copies[k].rows);
        run_clean();
        for (int i = 0; i < 512; i++) {
            int row = copies[k].from[i / 128] + i / 4 % 32;
            if (y[i] != (float)(row * 4 + i % 4))
                fail_msg("%s: lane %d, word %d is %g, not of row %d",
                         copies[k].name, i / 4, i % 4, (double)y[i], row);
        }
    }
}

/* ------------------------------------------------------------------- moves */

/* Lane l, column c of a tile of words holds 8 l + c. */
static const axe_tensor *
filled_tile(const axe_tensor **py)
{
    const axe_tensor *t = tile_cta(AXE_TYPE_f32, py), *v;

    v = array(&m, "v", AXE_TYPE_f32, 8);
    for (int i = 0; i < 8; i++)
        calc(&m, v, n(i), f32_of(add(&m, mul(&m, warp_lane(), 8), n(i))));
    move("tc.st.32x32b.x8", in_tmem(t, n(0)), at(v, n(0)));
    atom(&m, "tc.st.drain", 0, 0, NULL);
    return t;
}

/* What a thread of a warp has in register i of a shape: lane, column. */
typedef void where(int lane, int i, int *row, int *col);

static void
in_32x32(int l, int i, int *row, int *col)
{
    *row = l;
    *col = i;
}

static void
in_16x64(int l, int i, int *row, int *col)
{
    *row = l / 4 + l % 2 * 8;
    *col = i * 2 + l / 2 % 2;
}

static void
in_16x128(int l, int i, int *row, int *col)
{
    *row = l / 4 + i % 2 * 8;
    *col = l % 4 + i / 2 * 4;
}

static void
in_16x256(int l, int i, int *row, int *col)
{
    *row = l / 4 + i / 2 % 2 * 8;
    *col = l % 4 * 2 + i % 2;
}

static void
in_16x32x2(int l, int i, int *row, int *col)
{
    *row = l % 16;
    *col = i + l / 16 * 4;
}

static const struct {
    const char *name;
    int         regs;
    int64_t     first; /* lane of the address */
    where      *where;
} loads[] = {
    {"tc.ld.32x32b.x8", 8, 0, in_32x32},
    {"tc.ld.16x64b.x4", 4, 0, in_16x64},
    {"tc.ld.16x64b.x4", 4, 16, in_16x64},
    {"tc.ld.16x128b.x2", 4, 0, in_16x128},
    {"tc.ld.16x256b.x1", 4, 16, in_16x256},
    {"tc.ld.16x32bx2.x4", 4, 16, in_16x32x2},
};

static void
test_loads(void **state)
{
    const axe_tensor *t, *py, *w;

    (void)state;
    for (int k = 0; k < AXE_LEN(loads); k++) {
        t = filled_tile(&py);
        w = array(&m, "w", AXE_TYPE_f32, 8);
        move(loads[k].name, at(w, n(0)), in_tmem(t, n(loads[k].first << 16)));
        atom(&m, "tc.ld.drain", 0, 0, NULL);
        for (int i = 0; i < loads[k].regs; i++)
            move("st.global.b32",
                 at(py, add(&m, mul(&m, warp_lane(), 8), n(i))), at(w, n(i)));
        free_tile(t);
        run_clean();
        for (int i = 0; i < 128 * loads[k].regs; i++) {
            int th = i / loads[k].regs, reg = i % loads[k].regs, row, col;
            loads[k].where(th % 32, reg, &row, &col);
            row += th / 32 * 32 + (int)loads[k].first;
            if (y[th * 8 + reg] != (float)(row * 8 + col))
                fail_msg("%s: register %d of thread %d is %g, not lane %d, "
                         "column %d",
                         loads[k].name, reg, th, (double)y[th * 8 + reg], row,
                         col);
        }
    }
}

/* -------------------------------------------------------------- allocation */

/* Columns are asked for again and again; the simulator keeps 16 such. */
static void
make_columns(int times)
{
    const axe_tensor *px, *py, *t, *word, *base;

    (void)one_cta("sm_100a", 32, 1, 1, &px, &py);
    t = tmem(&m, "t", AXE_TYPE_f32, 32);
    word = buffer(&m, "word", AXE_TYPE_u32, 1, 0);
    m.grid.tmem_base = base = array(&m, "base", AXE_TYPE_u32, 1);
    for (int i = 0; i < times; i++) {
        atom(&m, "tc.alloc", 0, 2, (axe_arg[]){at(word, n(0)), integer(n(32))});
        atom(&m, "barrier.cta", 0, 0, NULL);
        atom(&m, "tc.after", 0, 0, NULL);
        move("ld.shared.b32", at(base, n(0)), at(word, n(0)));
        atom(&m, "barrier.cta", 0, 0, NULL);
        atom(&m, "tc.free", 0, 2,
             (axe_arg[]){in_tmem(t, n(0)), integer(n(32))});
    }
}

static void
test_columns(void **state)
{
    (void)state;
    make_columns(16);
    run_clean();
    make_columns(17);
    run_wrong(AXE_SIM_TMEM, "the block has done so 16 times: more than the "
                            "simulator keeps");
}

/* A warp asks for columns, and warp `by` stores there with no AFTER. */
static void
make_unheard(int by)
{
    const axe_tensor *px, *py, *t, *word, *base, *v;

    (void)one_cta("sm_100a", 64, 1, 1, &px, &py);
    t = tmem(&m, "t", AXE_TYPE_f32, 64);
    v = array(&m, "v", AXE_TYPE_f32, 1);
    word = buffer(&m, "word", AXE_TYPE_u32, 1, 0);
    m.grid.tmem_base = base = array(&m, "base", AXE_TYPE_u32, 1);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    atom(&m, "tc.alloc", 0, 2, (axe_arg[]){at(word, n(0)), integer(n(64))});
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    move("ld.shared.b32", at(base, n(0)), at(word, n(0)));
    calc(&m, v, n(0), f32_of(warp_lane()));
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), by));
    move("tc.st.32x32b.x1", in_tmem(t, n(0)), at(v, n(0)));
    atom(&m, "tc.st.drain", 0, 0, NULL);
    end(&m);
    free_tile(t);
}

/* What it did itself a warp knows. */
static void
test_unheard(void **state)
{
    (void)state;
    make_unheard(0);
    run_clean();
    make_unheard(1);
    run_wrong(AXE_SIM_TFENCE, "which are allocated, but it has not said AFTER");
}

/* ---------------------------------------------------------------- products */

enum { COLS = 16 };

typedef struct kind {
    const char *name, *load;
    axe_type    sum, factor;
    int         k;
    bool        by_copy; /* the left factor comes by tc.cp */
} kind;

static const kind kinds[] = {
    {"tc.f32.f16.m128.ts", "tc.ld.32x32b.x16", AXE_TYPE_f32, AXE_TYPE_f16, 16,
     false},
    {"tc.f32.bf16.m128.ts", "tc.ld.32x32b.x16", AXE_TYPE_f32, AXE_TYPE_bf16, 16,
     false},
    {"tc.f16.f16.m128.ts", "tc.ld.32x32b.x8.pack", AXE_TYPE_f16, AXE_TYPE_f16,
     16, false},
    {"tc.f32.e4m3.m128.ts", "tc.ld.32x32b.x16", AXE_TYPE_f32, AXE_TYPE_f8e4m3,
     32, false},
    {"tc.s32.s8.m128.ts", "tc.ld.32x32b.x16", AXE_TYPE_i32, AXE_TYPE_i8, 32,
     false},
    {"tc.f32.f16.m128.ts", "tc.ld.32x32b.x16", AXE_TYPE_f32, AXE_TYPE_f16, 16,
     true},
};

/* Small numbers: (row + 2 col) % 5 - 2. */
static node
small(node row, node col)
{
    return op2(&m, AXE_OP_sub, rem(&m, add(&m, row, mul(&m, col, 2)), 5), n(2));
}

/* Element i of registers of the type. */
static void
put_small(const axe_tensor *t, int i, node row, node col)
{
    calc(&m, t, n(i), axe_cast(cx, AXE_NOWHERE, t->type, small(row, col)));
}

/* Rows of 16 bytes below one another, k in parts of them: a thread has 16 bytes
 * of row thread / 2 or thread. */
static void
fill_shared(const kind *q, const axe_tensor *s, int rows)
{
    int               per = 16 * 8 / axe_type_table[q->factor].bits;
    const axe_tensor *v = array(&m, "f", q->factor, per);

    begin_if(&m, less(&m, warp_lane(), rows));
    for (int part = 0; part < q->k / per; part++) {
        for (int i = 0; i < per; i++)
            put_small(v, i, warp_lane(), n(part * per + i));
        move("st.shared.b128",
             at(s, add(&m, n(part * rows * per), mul(&m, warp_lane(), per))),
             at(v, n(0)));
    }
    end(&m);
}

/* c = a b^T of 128 x 16 x k, a in tensor memory, b in shared memory; twice, so
 * that the second adds. */
static void
make_product(const kind *q)
{
    const axe_tensor *py, *acc, *fa, *ra, *sa = NULL, *sb, *bar, *out, *w;
    int               words = q->k * axe_type_table[q->factor].bits / 32;

    acc = tile_cta(q->sum, &py);
    m.grid.tmem_columns = 32;
    m.tmem[0].columns = 32;
    fa = tmem(&m, "a", q->factor, 32);
    sb = buffer(&m, "b", q->factor, (int64_t)COLS * q->k, 0);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    ra = array(&m, "ra", q->factor, q->k);
    out = array(&m, "out", q->sum, COLS);
    w = array(&m, "w", AXE_TYPE_f32, COLS);
    begin_if(&m, is(&m, warp_lane(), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    end(&m);
    fill_shared(q, sb, COLS);
    if (q->by_copy) {
        sa = buffer(&m, "sa", q->factor, (int64_t)128 * q->k, 0);
        fill_shared(q, sa, 128);
    } else {
        for (int i = 0; i < q->k; i++)
            put_small(ra, i, warp_lane(), n(i));
        move(axe_textf(cx, "tc.st.32x32b.x%d", words), in_tmem(fa, n(0)),
             at(ra, n(0)));
        atom(&m, "tc.st.drain", 0, 0, NULL);
    }
    atom(&m, "tc.fence", 0, 1, (axe_arg[]){at(sb, n(0))});
    atom(&m, "tc.before", 0, 0, NULL);
    atom(&m, "barrier.cta", 0, 0, NULL);
    atom(&m, "tc.after", 0, 0, NULL);
    begin_if(&m, is(&m, warp_lane(), 0));
    if (q->by_copy)
        move("tc.cp.128x256b", in_tmem(fa, n(0)), plain_matrix(sa, 128));
    for (int i = 0; i < 2; i++)
        atom(&m, q->name, COLS, 4,
             (axe_arg[]){in_tmem(acc, n(0)), in_tmem(fa, n(0)),
                         plain_matrix(sb, COLS), integer(n(i))});
    atom(&m, "tc.commit", 0, 1, (axe_arg[]){at(bar, n(0))});
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(0))});
    atom(&m, "tc.after", 0, 0, NULL);
    move(q->load, at(out, n(0)), in_tmem(acc, n(0)));
    atom(&m, "tc.ld.drain", 0, 0, NULL);
    for (int i = 0; i < COLS; i++)
        calc(&m, w, n(i), f32_of(element(&m, out, n(i))));
    for (int i = 0; i < COLS; i += 4)
        move("st.global.b128",
             at(py, add(&m, mul(&m, warp_lane(), COLS), n(i))), at(w, n(i)));
    free_tile(acc);
}

static int
number_at(int row, int col)
{
    return (row + 2 * col) % 5 - 2;
}

static void
check_product(const kind *q)
{
    for (int i = 0; i < 128 * COLS; i++) {
        int sum = 0;
        for (int k = 0; k < q->k; k++)
            sum += 2 * number_at(i / COLS, k) * number_at(i % COLS, k);
        if (y[i] != (float)sum)
            fail_msg("%s: (%d, %d) is %g, not %d", q->name, i / COLS, i % COLS,
                     (double)y[i], sum);
    }
}

static void
test_products(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(kinds); k++)
        for (int i = 0; i < 4; i++) {
            with = (axe_sim_options){.policy = i < 2 ? (axe_sim_policy)i
                                                     : AXE_SIM_RANDOM,
                                     .seed = (uint64_t)i};
            make_product(&kinds[k]);
            run_clean();
            check_product(&kinds[k]);
        }
}

/* ------------------------------------------------------------------ scales */

enum { N_SCALED = 32, K_SCALED = 64 };

static int
scale_at(int row, int part)
{
    return (row + 2 * part) % 3;
}

/* Row 32 i + l, part s: byte 4 i + s of lane l; as exponents. */
static void
fill_scales(const axe_tensor *s)
{
    const axe_tensor *v = array(&m, "sv", AXE_TYPE_u8, 16);

    begin_if(&m, less(&m, warp_lane(), 32));
    for (int i = 0; i < 16; i++)
        calc(&m, v, n(i),
             axe_cast(
                 cx, AXE_NOWHERE, AXE_TYPE_u8,
                 add(&m, n(127),
                     rem(&m, add(&m, warp_lane(), n(i / 4 * 32 + 2 * (i % 4))),
                         3))));
    move("st.shared.b128", at(s, mul(&m, warp_lane(), 16)), at(v, n(0)));
    end(&m);
}

/* 128 x 32 x 64, a scale for 32 elements of each row of either factor; one row
 * of the rows of the first and of the second factor has the same scale. */
static void
make_scaled(void)
{
    static const kind q = {NULL,     NULL, AXE_TYPE_f32, AXE_TYPE_f8e4m3,
                           K_SCALED, false};
    const axe_tensor *py, *acc, *fa, *fb, *sa, *sb, *ss, *bar, *out;

    acc = tile_cta(q.sum, &py);
    m.grid.tmem_columns = N_SCALED;
    m.tmem[0].columns = N_SCALED;
    fa = tmem(&m, "fa", AXE_TYPE_f8e8m0, 4);
    fb = tmem(&m, "fb", AXE_TYPE_f8e8m0, 4);
    m.grid.tmem_columns = 64;
    sa = buffer(&m, "a", q.factor, 128 * K_SCALED, 0);
    sb = buffer(&m, "b", q.factor, (int64_t)N_SCALED * K_SCALED, 0);
    ss = buffer(&m, "scales", AXE_TYPE_u8, 512, 0);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    out = array(&m, "out", AXE_TYPE_f32, N_SCALED);
    begin_if(&m, is(&m, warp_lane(), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    end(&m);
    fill_shared(&q, sa, 128);
    fill_shared(&q, sb, N_SCALED);
    fill_scales(ss);
    atom(&m, "tc.fence", 0, 1, (axe_arg[]){at(sb, n(0))});
    atom(&m, "barrier.cta", 0, 0, NULL);
    begin_if(&m, is(&m, warp_lane(), 0));
    move("tc.cp.32x128b.warpx4", in_tmem(fa, n(0)), plain_matrix(ss, 32));
    move("tc.cp.32x128b.warpx4", in_tmem(fb, n(0)), plain_matrix(ss, 32));
    for (int i = 0; i < 2; i++) {
        axe_arg a = plain_matrix(sa, 128), b = plain_matrix(sb, N_SCALED);
        a.at = n(i * 2 * 128 * 16);
        b.at = n(i * 2 * N_SCALED * 16);
        atom(&m, "tc.f32.mx.e4m3.m128.ss", N_SCALED, 6,
             (axe_arg[]){in_tmem(acc, n(0)), a, b, integer(n(i)),
                         in_tmem(fa, n(i)), in_tmem(fb, n(i))});
    }
    atom(&m, "tc.commit", 0, 1, (axe_arg[]){at(bar, n(0))});
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(0))});
    atom(&m, "tc.after", 0, 0, NULL);
    move("tc.ld.32x32b.x32", at(out, n(0)), in_tmem(acc, n(0)));
    atom(&m, "tc.ld.drain", 0, 0, NULL);
    for (int i = 0; i < N_SCALED; i += 4)
        move("st.global.b128",
             at(py, add(&m, mul(&m, warp_lane(), N_SCALED), n(i))),
             at(out, n(i)));
    free_tile(acc);
}

static void
test_scales(void **state)
{
    (void)state;
    make_scaled();
    run_clean();
    for (int i = 0; i < 128 * N_SCALED; i++) {
        int row = i / N_SCALED, col = i % N_SCALED, sum = 0;
        for (int k = 0; k < K_SCALED; k++)
            sum += number_at(row, k) * number_at(col, k) *
                   (1 << (scale_at(row, k / 32) + scale_at(col, k / 32)));
        if (y[i] != (float)sum)
            fail_msg("(%d, %d) is %g, not %d", row, col, (double)y[i], sum);
    }
}

/* clang-format off */
static const mutation scale_bugs[] = {
    {"scales are not copied",              0, "tc.cp", 0, DROP, 0, 0, K(UNINIT)},
    {"they are copied to another place",   0, "tc.cp", 1, SET, 0, 16, K(BOUNDS) | K(UNINIT)},
    {"copied unseen",                      0, "tc.fence", 0, DROP, 0, 0, K(PROXY)},
    {"copied too early",                   0, "barrier.cta", 1, DROP, 0, 0, K(RACE)},
    {"scales of other columns",            0, "tc.f32.mx", 0, ADD, 4, 4, K(BOUNDS) | K(UNINIT)},
    {"scales beyond the tile",             0, "tc.f32.mx", 1, ADD, 5, 16, K(BOUNDS)},
    {"scaled sums, unheard",               0, "tc.after", 1, DROP, 0, 0, K(TFENCE)},
};

static const mutation bugs[] = {
    {"no fence behind what threads wrote",     0, "tc.fence", 0, DROP, 0, 0, K(PROXY)},
    {"a factor's stores are not drained",      0, "tc.st.drain", 0, DROP, 0, 0, K(RACE)},
    {"they are not told",                      0, "tc.before", 0, DROP, 0, 0, K(RACE)},
    {"a product that does not listen",         0, "tc.after", 1, DROP, 0, 0, K(TFENCE)},
    {"a factor one column on",                 0, "tc.f32", 0, ADD, 1, 2, K(UNINIT)},
    {"a factor in the other's place",          0, "tc.f32", 1, SET, 0, 1, K(UNINIT)},
    {"threads never meet",                     0, "barrier.cta", 1, DROP, 0, 0, K(RACE) | K(UNINITED)},
    {"a copy behind the products",             5, "tc.cp", 0, SET, 1, 8, K(RACE) | K(UNINIT) | K(BOUNDS)},
    {"a copy that is not drained by threads",  5, "tc.fence", 0, DROP, 0, 0, K(PROXY)},
};
/* clang-format on */

/* kind: which product it is put into; < 0: the scaled one. */
static void
check_bug(const mutation *k, int kind_of)
{
    int  left = k->nth;
    bool found = false;
    if (kind_of < 0)
        make_scaled();
    else
        make_product(&kinds[kind_of]);
    if (edit_grid(cx, k, &m.grid, &left) == 0)
        fail_msg("%s: there is no %s number %d", k->what, k->atom, k->nth);
    with = (axe_sim_options){.max_step = 100000};
    if (simulate() != AXE_OK)
        fail_msg("%s: %s", k->what, axe_last_error(cx));
    for (int f = 0; f < r.n_finding; f++)
        found = found || k->kinds >> r.finding[f].kind & 1;
    if (!found)
        fail_msg("%s: %s", k->what, said());
}

static void
test_bugs(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(bugs); i++)
        check_bug(&bugs[i], bugs[i].kernel);
    for (int i = 0; i < AXE_LEN(scale_bugs); i++)
        check_bug(&scale_bugs[i], -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies),   TEST(loads),  TEST(columns), TEST(unheard),
        TEST(products), TEST(scales), TEST(bugs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
