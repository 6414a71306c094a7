/* test_move.c - moves by table: what is found, in numbers, and every refusal
 * with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "move/move_int.h"

/* clang-format off */
static const struct row {
    const char *src, *dst;
    int         bits;
    const char *machine, *want; /* what it counts, or an error */
} rows[] = {
    /* nothing, names, one round */
    {"(24, 2) : (1@lane, 1@reg)", "(24, 2) : (1@lane, 1@reg)", 32, "sm_90a",
     "nothing 0 shuffles 0 selects 0 permutes"},
    {"(4) : (1@reg)", "(4) : (-1@reg) + 3@reg", 32, "sm_90a", "rename 0 shuffles 0 selects 0 permutes"},
    {"(2, 2) : (1@lane, 1@reg)", "(2, 2) : (1@lane, -1@reg) + 1@reg", 32, "sm_90a",
     "rename 0 shuffles 0 selects 0 permutes"},
    {"(8, 4) : (4@lane, 1@lane)", "(8, 4) : (1@lane, 8@lane)", 32, "sm_90a",
     "shuffles 1 shuffles 0 selects 0 permutes"},
    {"(7, 3) : (3@lane, 1@lane)", "(7, 3) : (1@lane, 7@lane)", 32, "sm_90a",
     "shuffles 1 shuffles 0 selects 0 permutes"},
    {"(2, 2, 16) : (1@reg, 16@lane, 1@lane)", "(2, 2, 16) : (16@lane, 1@reg, 1@lane)", 32, "sm_90a",
     "shuffles 1 shuffles 3 selects 0 permutes"},
    /* four bytes, two halves in a word; two words of a double */
    {"(4, 32) : (1@reg, 1@lane)", "(4, 2, 16) : (1@reg, 1@lane, 2@lane)", 8, "sm_90a",
     "shuffles 1 shuffles 0 selects 0 permutes"},
    {"(4, 32) : (1@reg, 1@lane)", "(4, 2, 16) : (1@reg, 1@lane, 2@lane)", 16, "sm_90a",
     "shuffles 2 shuffles 0 selects 0 permutes"},
    {"(32) : (1@lane)", "(2, 16) : (1@lane, 2@lane)", 64, "sm_90a",
     "shuffles 2 shuffles 0 selects 0 permutes"},
    /* replicas: all lanes have it; one lane has it for all */
    {"(2) : (1@reg) + [32 : 1@lane]", "(2) : (1@lane)", 32, "sm_90a", "rename 0 shuffles 1 selects 0 permutes"},
    {"(1) : (0) + 5@lane", "(1) : (0) + [32 : 1@lane]", 32, "sm_90a", "shuffles 1 shuffles 0 selects 0 permutes"},
    /* elements at one place are one element */
    {"(4, 2) : (1@lane, 0)", "(4, 2) : (1@lane, 1@reg)", 32, "sm_90a", "rename 0 shuffles 0 selects 0 permutes"},
    {"(2, 4) : (0@tlane, 1@lane)", "(2, 4) : (1@reg, 1@lane)", 32, "sm_90a",
     "rename 0 shuffles 0 selects 0 permutes"},
    {"(64) : (1@cta)", "(64) : (1@cta)", 32, "sm_90a", "nothing 0 shuffles 0 selects 0 permutes"},
    {"(1024) : (1@thread)", "(1024) : (1@thread)", 32, "sm_90a",
     "nothing 0 shuffles 0 selects 0 permutes"},
    /* a swizzle is of memory alone */
    {"swizzle<1, 0, 1> o (4, 4) : (1@lane, 1@reg)", "(4, 4) : (1@lane, 1@reg)", 32, "sm_90a",
     "nothing 0 shuffles 0 selects 0 permutes"},
    /* by way of shared memory */
    {"(32, 32) : (1@lane, 1@reg)", "(32, 32) : (1@reg, 1@lane)", 32, "sm_90a",
     "shared 0 shuffles 0 selects 0 permutes, 8 stores 32 + 0, 32 loads 32 + 0, 4096 bytes"},
    {"(32, 24) : (1@lane, 1@reg)", "(32, 24) : (1@reg, 1@lane)", 32, "sm_90a",
     "shared 0 shuffles 0 selects 0 permutes, 24 stores 24 + 0, 8 loads 24 + 0, 3072 bytes"},
    {"(8) : (1@warp)", "(8) : (-1@warp) + 7@warp", 32, "opencl",
     "shared 0 shuffles 0 selects 0 permutes, 8 stores 8 + 0, 8 loads 8 + 0, 32 bytes"},
    {"(2, 32, 2) : (1@reg, 1@lane, 1@warp)", "(2, 32, 2) : (1@warp, 1@lane, 1@reg)", 32, "sm_90a",
     "shared 0 shuffles 0 selects 0 permutes, 2 stores 2 + 0, 2 loads 2 + 0, 512 bytes"},
    /* of two warps that have it one stores it */
    {"(32) : (1@lane) + [2 : 1@warp]", "(32) : (1@lane) + 2@warp", 32, "sm_90a",
     "shared 0 shuffles 0 selects 0 permutes, 1 stores 1 + 0, 1 loads 1 + 0, 128 bytes"},
    /* memory on one side */
    {"(64, 32) : (1@thread, 1@reg)", "(64, 32) : (32, 1)", 32, "sm_90a",
     "stores 0 shuffles 0 selects 0 permutes, 16 stores 512 + 448, 0 loads 0 + 0, 0 bytes"},
    {"swizzle(128) o (64, 32) : (32, 1)", "(64, 32) : (1@thread, 1@reg)", 32, "sm_90a",
     "loads 0 shuffles 0 selects 0 permutes, 0 stores 0 + 0, 16 loads 64 + 0, 0 bytes"},
    {"(4) : (1@lane)", "(4) : (1) + [3 : 8]", 32, "sm_90a",
     "stores 0 shuffles 0 selects 0 permutes, 3 stores 3 + 0, 0 loads 0 + 0, 0 bytes"},
    /* neighbours in all lanes but one */
    {"(3, 2) : (1@lane, 1@reg)", "((2, 3)) : ((7, 1))", 32, "sm_90a",
     "stores 0 shuffles 0 selects 0 permutes, 2 stores 2 + 0, 0 loads 0 + 0, 0 bytes"},
    {"(8) : (2)", "(8) : (2)", 32, "sm_90a", "nothing 0 shuffles 0 selects 0 permutes"},
    /* TVM's names; m is a thread's registers beside them */
    {"(128, 4) : (1@tx, 1)", "(4, 32, 4) : (1@warpid, 1@laneid, 1)", 32, "sm_90a",
     "nothing 0 shuffles 0 selects 0 permutes"},
    /* two of 4 bits in a byte */
    {"(32, 8) : (1@lane, 1@reg)", "(4, 8, 8) : (8@reg, 1@lane, 1@reg)", 4, "sm_90a",
     "shuffles 3 shuffles 0 selects 0 permutes"},
    {"swizzle(128) o (8, 256) : (256, 1)", "(8, 32, 8) : (8@reg, 1@lane, 1@reg)", 4, "sm_90a",
     "loads 0 shuffles 0 selects 0 permutes, 0 stores 0 + 0, 8 loads 8 + 0, 0 bytes"},
    {"swizzle(128) o (8, 256) : (256, 1)", "(8, 256) : (1@lane, 1@reg)", 4, "sm_90a",
     "loads 0 shuffles 0 selects 0 permutes, 0 stores 0 + 0, 8 loads 8 + 0, 0 bytes"},
    {"swizzle<3, 5, 3> o (8, 256) : (256, 1)", "(8, 256) : (1@lane, 1@reg)", 4, "sm_90a",
     "loads 0 shuffles 0 selects 0 permutes, 0 stores 0 + 0, 8 loads 8 + 0, 0 bytes"},
    {"swizzle<1, 0, 3> o (8, 256) : (256, 1)", "(8, 32, 8) : (8@reg, 1@lane, 1@reg)", 4, "sm_90a",
     "EUNSUPPORTED move: elements of 4 bits go two in a byte, and SRC has some of them begin in the middle of a byte"},
    {"(32, 8) : (1@lane, 1@reg)", "(32, 8) : (1@lane, 1@reg) + [2 : 1@reg]", 4, "sm_90a",
     "EUNSUPPORTED move: elements of 4 bits go two in a byte, and DST has some of them begin in the middle of a byte"},
    {"(32, 8) : (1@lane, 1@reg)", "(32, 8) : (1@lane, 1@reg) + [2 : 8@reg]", 4, "sm_90a",
     "rename 0 shuffles 0 selects 0 permutes"},
    {"(32, 8) : (1@lane, 1@reg)", "(32, 8) : (1@reg, 1@lane)", 4, "sm_90a",
     "EUNSUPPORTED move: elements of 4 bits go two in a byte, and DST has elements 0 and 8 in one, SRC 0 and 1"},
    {"(2, 32) : (1@reg, 1@lane)", "(2, 32) : (1@lane, 2@lane)", 4, "sm_90a",
     "EUNSUPPORTED move: elements of 4 bits go two in a byte, and DST has no two side by side for all of the index"},
    {"(32, 3) : (1@lane, 1@reg)", "(32, 3) : (1@lane, 1@reg)", 4, "sm_90a",
     "EUNSUPPORTED move: elements of 4 bits go two in a byte, and SRC has no two side by side for all of the index"},
    {"(4) : (1@reg)", "(5) : (1@reg)", 4, "sm_90a",
     "ESHAPE move: element 4 of DST is not in SRC, which has 4 elements"},
    /* refused */
    {"(4) : (1@lane)", "(5) : (1@lane)", 32, "sm_90a",
     "ESHAPE move: element 4 of DST is not in SRC, which has 4 elements"},
    {"(5) : (1@lane)", "(4) : (1@lane)", 32, "sm_90a",
     "ESHAPE move: element 4 of SRC is not in DST, which has 4 elements"},
    {"(4) : (1@lane)", "(4) : (0) + 1@lane", 32, "sm_90a",
     "ESHAPE move: thread 1 has in place 0 of DST elements 0 and 1, which are apart in SRC"},
    {"(33) : (1@lane)", "(33) : (1@lane)", 32, "sm_90a",
     "ESHAPE move: SRC reaches from 0 to 32 on axis lane, which begins at 0 and ends before 32"},
    {"(8) : (1@lane)", "(8) : (-1@lane)", 32, "sm_90a",
     "ESHAPE move: DST reaches from -7 to 0 on axis lane, which begins at 0 and ends before 32"},
    {"(8) : (-1@reg)", "(8) : (1@lane)", 32, "sm_90a",
     "ESHAPE move: SRC reaches from -7 to 0 on axis reg, which begins at 0"},
    {"(1025) : (1@thread)", "(1025) : (1@thread)", 32, "sm_90a",
     "ESHAPE move: SRC needs more threads than the 1024 that a CTA of sm_90a has"},
    {"(65) : (1@cta)", "(65) : (1@cta)", 32, "sm_90a",
     "EUNSUPPORTED move: SRC lies over axis cta, beyond 64 CTAs"},
    {"(2000) : (1@thread)", "(2000) : (1@thread)", 32, "sm_90a",
     "ESHAPE move: SRC needs more threads than the 1024 that a CTA of sm_90a has"},
    {"(2) : (4000000000000@warp)", "(2) : (1@warp)", 32, "sm_90a",
     "ESHAPE move: SRC needs more threads than the 1024 that a CTA of sm_90a has"},
    {"(300) : (1@reg)", "(300) : (1@reg)", 32, "sm_90a",
     "ELIMIT move: SRC needs 300 registers of a thread, at most 256 are looked at"},
    {"(2) : (4611686018427387904@reg)", "(2) : (1@reg)", 32, "sm_90a",
     "ELIMIT move: SRC needs 4611686018427387905 registers of a thread, at most 256 are looked at"},
    {"(2000000) : (1)", "(2000000) : (1)", 32, "sm_90a", "ELIMIT move: SRC has over 1048576 places"},
    {"(1) : (1) + [(1048576, 1048576) : (1, 1)]", "(1) : (1)", 32, "sm_90a",
     "ELIMIT move: SRC has over 1048576 places"},
    {"(60000) : (1)", "(60000) : (1@thread)", 32, "sm_90a",
     "EUNSUPPORTED move: SRC needs 60000 elements of 32 bits in shared memory, and sm_90a has 232448 bytes"},
    {"(8) : (1@lane)", "(8) : (1@gpuid)", 32, "sm_90a",
     "EUNSUPPORTED move: DST lies over axis gpuid, which numbers devices"},
    {"(8) : (1@tlane)", "(8) : (1@lane)", 32, "sm_90a",
     "EUNSUPPORTED move: SRC lies over axis tlane, a memory that threads do not address"},
    {"(4, 4) : (1@reg, 4)", "(4, 4) : (4@reg, 1@reg)", 32, "sm_90a",
     "EUNSUPPORTED move: SRC lies over axis reg, and over m: which of them are the registers?"},
    {"(2, 2) : (1@cta, 1@cluster)", "(4) : (1@lane)", 32, "sm_90a",
     "EUNSUPPORTED move: SRC lies over axis cluster, and another axis numbers CTAs"},
    {"(2, 4) : (1@cta, 1@lane)", "(2, 4) : (-1@cta, 1@lane) + 1@cta", 32, "sm_90a",
     "EUNSUPPORTED move: element 4 is wanted in CTA 0, which does not have it"},
    /* each CTA has its own shared memory */
    {"(2, 4) : (1@cta, 1)", "(2, 4) : (1@cta, 1@lane)", 32, "sm_90a",
     "loads 0 shuffles 0 selects 0 permutes, 0 stores 0 + 0, 2 loads 2 + 0, 0 bytes"},
    {"(2, 4) : (1@cta, 1)", "(2, 4) : (4@lane, 1@lane)", 32, "sm_90a",
     "EUNSUPPORTED move: element 4 is wanted in CTA 0, which does not have it"},
    {"(2, 4) : (1@cta, 1) + [2 : 1@cta]", "(2, 4) : (4@lane, 1@lane) + 1@cta", 32, "sm_90a",
     "loads 0 shuffles 0 selects 0 permutes, 0 stores 0 + 0, 1 loads 1 + 0, 0 bytes"},
    {"(4) : (1@lane)", "(4) : (1) + 1@cta", 32, "sm_90a",
     "EUNSUPPORTED move: element 0 is wanted in CTA 1, which does not have it"},
    {"(8) : (K)", "(8) : (1@lane)", 32, "sm_90a",
     "EUNSUPPORTED move: a stride of SRC is known only at run time"},
    {"(8) : (2)", "(8) : (1)", 32, "sm_90a",
     "EUNSUPPORTED move: SRC and DST are both memory, and element 1 changes its place: which threads "
     "move it is not said"},
    {"(8) : (1@lane)", "(8) : (1@lane)", 7, "sm_90a",
     "EARG move: elements of 7 bits; 4, 8, 16, 32, 64 and 128 are moved"},
    {"(8) : (1)", "(8) : (1)", 32, "cpu-avx2",
     "EUNSUPPORTED move: cpu-avx2 has no threads that run together"},
    {"(8) : (1)", "(8) : (1)", 32, "sm_91", "ENAME there is no machine 'sm_91'"},
};
/* clang-format on */

static const char *
said(axe_ctx *cx, const axe_move_program *m)
{
    static const char *const word[] = {
#define MOVE(name, word, text) word,
#include "axe/move.def"
    };
    axe_buf b = {.cx = cx};

    axe_putf(&b, "%s %d shuffles %d selects %d permutes", word[m->kind],
             (int)m->n_shuffle, (int)m->n_select, (int)m->n_permute);
    if (m->store.n + m->load.n > 0)
        axe_putf(&b, ", %d stores %d + %d, %d loads %d + %d, %d bytes",
                 (int)m->store.n, (int)m->store.cycles, (int)m->store.conflicts,
                 (int)m->load.n, (int)m->load.cycles, (int)m->load.conflicts,
                 (int)m->shared_bytes);
    return b.text;
}

/* The move between two texts over the axes of sm_90a. */
static axe_status
plan(axe_ctx *cx, const char *src, const char *dst, const axe_move_options *opt,
     const axe_move_program **m)
{
    const axe_machine *mc;
    const axe_layout  *a, *b;

    assert_int_equal(axe_machine_find(cx, "sm_90a", &mc), AXE_OK);
    assert_int_equal(axe_layout_read(cx, src, &a), AXE_OK);
    assert_int_equal(axe_layout_read(cx, dst, &b), AXE_OK);
    return axe_move_plan(cx, a, b, opt, m);
}

static void
test_rows(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_move_program *m;
        axe_move_options        opt = {.machine = rows[i].machine,
                                       .bits = rows[i].bits};
        axe_status  st = plan(cx, rows[i].src, rows[i].dst, &opt, &m);
        const char *got;

        got = st == AXE_OK ? said(cx, m)
                           : axe_textf(cx, "%s %s", axe_status_name(st),
                                       axe_last_error(cx));
        if (strcmp(got, rows[i].want) != 0) {
            print_message("%s to %s:\n    got  %s\n    want %s\n", rows[i].src,
                          rows[i].dst, got, rows[i].want);
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* Global memory: instructions, bytes of the widest, sectors, and the fewest. */
static const struct global_row {
    const char *src, *dst;
    int         bits;
    const char *want;
} global_rows[] = {
    {"(32, 4) : (1@lane, 1@reg)", "(32, 4) : (4, 1)", 32, "1 of 16, 16 of 16"},
    {"(32, 4) : (1, 32)", "(32, 4) : (1@lane, 1@reg)", 32, "4 of 4, 16 of 16"},
    /* each lane a sector of its own, of which it uses 4 bytes */
    {"(32) : (8)", "(32) : (1@lane)", 32, "1 of 4, 32 of 4"},
    /* two places in each sector */
    {"(32) : (4)", "(32) : (1@lane)", 32, "1 of 4, 16 of 4"},
    /* one element for all lanes */
    {"(1) : (0)", "(1) : (0) + [32 : 1@lane]", 32, "1 of 4, 1 of 1"},
    /* 16 bytes of every 32, by two CTAs */
    {"(2, 32, 4) : (1@cta, 1@lane, 1@reg)", "(2, 32, 4) : (4, 8, 1)", 32,
     "2 of 16, 64 of 32"},
    /* what one CTA has is stored for all, and read by another */
    {"(2, 32) : (1@cta, 1@lane)", "(2, 32) : (32, 1)", 16, "2 of 2, 4 of 4"},
    {"(64) : (1)", "(2, 32) : (-1@cta, 1@lane) + 1@cta", 16, "2 of 2, 4 of 4"},
    /* 7 bytes and nothing around them; more than shared memory holds */
    {"(7) : (1) + 30", "(7) : (1@lane)", 8, "1 of 1, 2 of 1"},
    {"(2, 32) : (1000000, 1)", "(2, 32) : (1@reg, 1@lane)", 32,
     "2 of 4, 8 of 8"},
    {"(2, 4) : (1@cta, 1)", "(2, 4) : (1@cta, 1@lane)", 32,
     "EUNSUPPORTED move: SRC lies over axis cta, and global memory is one for "
     "all CTAs"},
    {"(2) : (2000000)", "(2) : (1@lane)", 32,
     "ELIMIT move: SRC reaches over 1048576 elements of memory, of all CTAs"},
};

static void
test_global(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(global_rows); i++) {
        const struct global_row *r = &global_rows[i];
        axe_ctx                 *cx = axe_ctx_new();
        const axe_move_program  *m;
        axe_move_options opt = {.bits = r->bits, .memory = AXE_MOVE_IN_GLOBAL};
        const axe_move_access *a;
        const char            *got;

        if (plan(cx, r->src, r->dst, &opt, &m) != AXE_OK) {
            got = axe_textf(cx, "%s %s", axe_status_name(axe_diags(cx)->code),
                            axe_last_error(cx));
        } else {
            a = m->kind == AXE_MOVE_STORE ? &m->store : &m->load;
            got = axe_textf(cx, "%d of %d, %d of %d", (int)a->n, a->widest,
                            (int)a->sectors, (int)a->least_sectors);
            assert_int_equal(m->memory, AXE_MOVE_IN_GLOBAL);
        }
        if (strcmp(got, r->want) != 0) {
            print_message("%s to %s:\n    got  %s\n    want %s\n", r->src,
                          r->dst, got, r->want);
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* One way alone. */
static void
test_by(void **state)
{
    axe_ctx                *cx = axe_ctx_new();
    const axe_machine      *mc;
    const axe_layout       *a, *b, *far;
    const axe_move_program *m;
    axe_move_options        opt = {.machine = "sm_90a", .by = AXE_MOVE_SHARED};

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_90a", &mc), AXE_OK);
    assert_int_equal(axe_layout_read(cx, "(8, 4) : (4@lane, 1@lane)", &a),
                     AXE_OK);
    assert_int_equal(axe_layout_read(cx, "(8, 4) : (1@lane, 8@lane)", &b),
                     AXE_OK);
    assert_int_equal(axe_layout_read(cx, "(8, 4) : (1@lane, 1@warp)", &far),
                     AXE_OK);
    assert_int_equal(axe_move_plan(cx, a, b, &opt, &m), AXE_OK);
    assert_int_equal(m->kind, AXE_MOVE_SHARED);
    opt.by = AXE_MOVE_SHUFFLE;
    assert_int_equal(axe_move_plan(cx, a, b, &opt, &m), AXE_OK);
    assert_int_equal(m->n_shuffle, 1);
    assert_int_equal(axe_move_plan(cx, a, far, &opt, &m), AXE_EUNSUPPORTED);
    assert_string_equal(axe_last_error(cx),
                        "move: 24 places want elements of other warps, which "
                        "no shuffle brings");
    opt.machine = "opencl";
    assert_int_equal(axe_machine_find(cx, "opencl", &mc), AXE_OK);
    assert_int_equal(axe_layout_read(cx, "(8) : (1@warp)", &a), AXE_OK);
    assert_int_equal(axe_layout_read(cx, "(8) : (-1@warp) + 7@warp", &b),
                     AXE_OK);
    assert_int_equal(axe_move_plan(cx, a, b, &opt, &m), AXE_EUNSUPPORTED);
    axe_ctx_free(cx);
}

static void
test_text(void **state)
{
    axe_ctx                *cx = axe_ctx_new();
    const axe_move_program *m;

    (void)state;
    assert_int_equal(plan(cx, "(2, 4, 2) : (1@warp, 1@lane, 1@reg)",
                          "(2, 4, 2) : (1@reg, 1@lane, 1@warp)", NULL, &m),
                     AXE_OK);
    assert_string_equal(
        axe_move_text(cx, m, true),
        "shared: by way of shared memory\n"
        "  elements       16 of 32 bits, 2 warps of sm_90a\n"
        "  stores         2 of up to 4 bytes a thread, 2 transactions, 0 of "
        "them by bank conflicts\n"
        "  barriers       1, of the CTA\n"
        "  loads          2 of up to 4 bytes a thread, 2 transactions, 0 of "
        "them by bank conflicts\n"
        "  shared memory  64 bytes, as ((2, 4, 2)) : ((8, 1, 4))\n"
        "  cost           45 cycles\n"
        "  certificate    executed: 16 places hold what they should\n"
        "program:\n"
        "  warp 0:\n"
        "    store r1 at 0 to 3: 4 .. 7\n"
        "  warp 1:\n"
        "    store r0 at 0 to 3: 8 .. 11\n"
        "  barrier\n"
        "  warp 0:\n"
        "    load d1 at 0 to 3: 8 .. 11\n"
        "    d0 = 0 to 3: r0\n"
        "  warp 1:\n"
        "    load d0 at 0 to 3: 4 .. 7\n"
        "    d1 = 0 to 3: r1\n");
    axe_ctx_free(cx);
}

/* What a call is given wrong is said. */
static void
test_arguments(void **state)
{
    axe_ctx                *cx = axe_ctx_new();
    const axe_move_program *m;
    const axe_layout       *l;

    (void)state;
    assert_int_equal(axe_layout_read(cx, "(8) : (1)", &l), AXE_OK);
    assert_int_equal(axe_move_plan(cx, NULL, l, NULL, &m), AXE_EARG);
    assert_int_equal(axe_move_plan(cx, l, NULL, NULL, &m), AXE_EARG);
    assert_int_equal(axe_move_plan(cx, l, l, NULL, NULL), AXE_EARG);
    assert_int_equal(
        axe_move_plan(cx, l, l, &(axe_move_options){.by = AXE_MOVE_LOAD}, &m),
        AXE_EARG);
    assert_string_equal(axe_last_error(cx),
                        "move: by must be SHUFFLE, SHARED, or NOTHING for the "
                        "cheapest");
    assert_int_equal(axe_move_plan(cx, l, l, NULL, &m), AXE_OK);
    assert_string_equal(
        axe_move_json(cx, m),
        "{\"move\":\"nothing\",\"machine\":\"sm_90a\",\"bits\":32,\"elements\":"
        "8,"
        "\"warps\":1,\"ctas\":1,\"shuffles\":0,\"shuffles_in_a_warp\":0,"
        "\"selects\":0,\"byte_permutes\":0,\"stores\":{\"n\":0,"
        "\"transactions\":0,\"conflicts\":0,\"bytes\":0},\"loads\":{\"n\":0,"
        "\"transactions\":0,\"conflicts\":0,\"bytes\":0},\"barriers\":0,"
        "\"shared_bytes\":0,\"cycles\":0,\"proved\":8}");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_global),
        cmocka_unit_test(test_by),        cmocka_unit_test(test_text),
        cmocka_unit_test(test_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
