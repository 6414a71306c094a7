/* test_ptx.c - what executes PTX (tests/ptx): bodies of a kernel, and what it
 * stores or what is wrong with it.
 *
 * A body gets %rd0, the address of 64 words whose first are 0 to 7, and %r0,
 * the thread; two CTAs of 64 threads are a cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ptx/ptx.h"

enum { N_STORED = 64, N_KNOWN = 8, N_THREAD = 64 };

static const char head[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 shared[];\n"
    ".visible .entry k(\n.param .u64 k_param_0\n)\n"
    ".maxntid 64, 1, 1\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n"
    ".reg .pred %p<4>;\n.reg .f32 %f<4>;\n.reg .b32 %r<16>;\n"
    ".reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd0, [k_param_0];\nmov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\n"
    "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.s32 %p0, %r0, 0;\n"
    "mov.u32 %r2, shared;\n";

typedef struct row {
    const char *body, *says; /* says: a part of the message; NULL: none */
    uint32_t    stored;      /* the last word; if says is NULL */
} row;

static const row rows[] = {
    /* Arithmetic. */
    {"mov.u32 %r3, 7; st.global.b32 [%rd0+252], %r3;", NULL, 7},
    {"mov.b32 %r3, 0x10 | 8 << 24 | 256 / 8 << 17; "
     "st.global.b32 [%rd0+252], %r3;",
     NULL, 0x10 | 8 << 24 | 32 << 17},
    {"mov.u32 %r3, -7; shr.s32 %r3, %r3, 1; st.global.b32 [%rd0+252], %r3;",
     NULL, (uint32_t)-4},
    {"mov.f32 %f0, 0f40200000; mov.f32 %f1, 0f00000000; "
     "cvt.rn.f16x2.f32 %r3, %f0, %f1; st.global.b32 [%rd0+252], %r3;",
     NULL, 0x41000000},
    {"mov.f32 %f0, 0f7F7FFFFF; mov.f32 %f1, 0f33000000; "
     "cvt.rn.bf16x2.f32 %r3, %f0, %f1; st.global.b32 [%rd0+252], %r3;",
     NULL, 0x7f803300},
    {"mov.f32 %f0, 0f447A0000; mov.f32 %f1, 0fBF880000; .reg .b16 h; "
     "cvt.rn.satfinite.e4m3x2.f32 h, %f0, %f1; cvt.u32.u16 %r3, h; "
     "st.global.b32 [%rd0+252], %r3;",
     NULL, 0x7eb8},
    {"mov.u32 %r3, 0x12345678; mov.u32 %r4, 0x9abcdef0; "
     "prmt.b32 %r3, %r3, %r4, 0x7610; st.global.b32 [%rd0+252], %r3;",
     NULL, 0x9abc5678},
    {"mov.u32 %r3, 0x1f0; .reg .b16 h; cvt.s8.s32 h, %r3; cvt.rn.f32.s16 %f0, "
     "h; "
     "st.global.b32 [%rd0+252], %f0;",
     NULL, 0xc1800000},
    /* Threads together. */
    {"and.b32 %r3, %r0, 31; shfl.sync.bfly.b32 %r4|%p1, %r3, 1, 31, -1; "
     "setp.eq.s32 %p2, %r3, 6; @%p2 st.global.b32 [%rd0+252], %r4;",
     NULL, 7},
    {"bar.sync 1, 64; bar.arrive 2, 64; st.global.b32 [%rd0+252], %r1;", NULL,
     1},
    {"setp.lt.s32 %p1, %r0, 32; @%p1 bar.sync 1, 64;", "no warp can go on", 0},
    {"setp.lt.s32 %p1, %r0, 16; @%p1 bar.sync 1, 64; ret;", "take no part", 0},
    {"@%p0 bar.sync 3, 32; @!%p0 bar.sync 4, 64;", "take no part", 0},
    {"setp.lt.s32 %p1, %r0, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 32;",
     "is one of", 0},
    {"barrier.cluster.wait.aligned;", "has not arrived", 0},
    {"setp.lt.s32 %p1, %r0, 32; @%p1 barrier.cluster.arrive.aligned; "
     "@%p1 barrier.cluster.wait.aligned; @!%p1 bar.sync 1, 64;",
     "no warp can go on", 0},
    /* Memory. */
    {"ld.global.b32 %r3, [%rd0+256];", "where no array is", 0},
    {"ld.global.b32 %r3, [%rd0+2];", "no multiple of 4", 0},
    {"ld.global.b32 %r3, [%rd0+32];", "never written", 0},
    {"ld.shared.b32 %r3, [%r2];", "never written", 0},
    {"ld.acquire.gpu.global.b32 %r3, [%rd0+4]; st.global.b32 [%rd0+4], %r3;",
     "by a weak store", 0},
    {"ld.acquire.gpu.global.b32 %r3, [%rd0+4]; st.global.b32 [%rd0+252], %r3;",
     NULL, 1},
    {"ld.acquire.gpu.global.b32 %r3, [%rd0+4]; "
     "st.release.gpu.global.b32 [%rd0+4], %r3; st.global.b32 [%rd0+252], %r3;",
     NULL, 1},
    {"st.shared.b32 [%r2+-4], %r0;", "which is 0x400", 0},
    {"st.shared.b32 [%r2+4096], %r0;", "which is 0x400", 0},
    {"add.s32 %r3, %r2, 2; st.shared.b32 [%r3], %r0;", "no multiple of 4", 0},
    {"mapa.shared::cluster.u32 %r3, %r2, 2;", "CTA 2 of a cluster of 2", 0},
    {"mapa.shared::cluster.u32 %r3, %r2, 1; st.shared.b32 [%r3], %r0;",
     "is an address of shared::cluster", 0},
    {"mapa.shared::cluster.u32 %r3, %r2, 0; "
     "setp.eq.s32 %p1, %r1, 1; @!%p1 ret; "
     "{ .reg .b32 t; mov.u32 t, 100000; L0: sub.s32 t, t, 1; "
     "setp.ne.s32 %p2, t, 0; @%p2 bra L0; } "
     "st.shared::cluster.b32 [%r3], %r0;",
     "CTA 0 has ended", 0},
    /* Barriers in memory. */
    {"@%p0 mbarrier.init.shared::cta.b64 [%r2], 2; bar.sync 0; "
     "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r2]; "
     "{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%r2], 0; "
     "@p bra D; bra W; D: }",
     "mbarrier.try_wait", 0},
    {"@%p0 mbarrier.init.shared::cta.b64 [%r2], 1; bar.sync 0; "
     "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r2]; "
     "{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%r2], 0; "
     "@p bra D; bra W; D: } st.global.b32 [%rd0+252], %r1;",
     NULL, 1},
    {"@%p0 mbarrier.arrive.shared::cta.b64 _, [%r2];", "no mbarrier", 0},
    {"@%p0 mbarrier.init.shared::cta.b64 [%r2+4], 1;", "no multiple of 8", 0},
    {"@%p0 mbarrier.init.shared::cta.b64 [%r2], 0;", "0 arrivals", 0},
    /* Asynchronous copies. */
    {"{ .reg .b64 a; cvt.u64.u32 a, %r0; } "
     "@%p0 cp.async.cg.shared.global [%r2], [%rd0], 16, 16; "
     "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; "
     "ld.shared.b32 %r3, [%r2+12]; st.global.b32 [%rd0+252], %r3;",
     NULL, 3},
    {"@%p0 cp.async.cg.shared.global [%r2], [%rd0], 16, 16;",
     "ends before this is done", 0},
    {"@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 24;",
     "no multiple of 16", 0},
    {"@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
     "complete_tx::bytes [%r2], [%rd0, {%r0, %r0}], [%r2];",
     "no tensor map", 0},
    /* Texts that are refused. */
    {"frob.b32 %r3, %r4;", "instruction 'frob.b32' is not known", 0},
    {"add.frob.s32 %r3, %r3, %r3;", "modifier '.frob' is not known", 0},
    {"add.s32 %r3, %r99, 1;", "'%r99' is not declared", 0},
    {"bra NOWHERE;", "no label 'NOWHERE'", 0},
    {"mov.u32 %r3, 1 / 0;", "a division by 0", 0},
    {"add.s32 %r3, %r3, 1", "is missing", 0},
};

static const char *
run(const char *body, uint32_t *stored)
{
    static ptx_gpu    gpu;
    static char       text[1 << 14];
    static uint32_t   word[N_STORED];
    static uint8_t    known[sizeof word];
    static ptx_region region;
    void             *p = word, *arg[] = {&p};
    ptx_kernel       *k;

    for (uint32_t i = 0; i < N_STORED; i++)
        word[i] = i;
    memset(known, 0, sizeof known);
    memset(known, 1, N_KNOWN * sizeof word[0]);
    region = (ptx_region){
        .data = (unsigned char *)word, .known = known, .bytes = sizeof word};
    gpu = (ptx_gpu){.region = &region, .order = 1};
    snprintf(text, sizeof text, "%s%s ret;\n}\n", head, body);
    k = ptx_read(text, gpu.said, sizeof gpu.said);
    if (!k)
        return gpu.said;
    assert_int_equal(k->cluster, 2);
    if (ptx_launch(&gpu, k, 2, N_THREAD, 4096, arg))
        assert_string_equal(gpu.said, "");
    ptx_free(k);
    *stored = word[N_STORED - 1];
    return gpu.said;
}

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t    stored = 0;
        const char *said = run(rows[i].body, &stored);
        bool        good = rows[i].says ? strstr(said, rows[i].says) != NULL
                                        : said[0] == '\0' && stored == rows[i].stored;
        if (!good)
            fail_msg("%s\nstored %#x, said: %s", rows[i].body, stored, said);
    }
}

/* Bits 4 to 6 of an address change by bits 7 to 9, fewer of them where the
 * pattern is shorter. */
static void
test_swizzle(void **state)
{
    (void)state;
    assert_int_equal(ptx_swizzle(0x3f8, 0), 0x3f8);
    assert_int_equal(ptx_swizzle(0x080, 32), 0x090);
    assert_int_equal(ptx_swizzle(0x100, 32), 0x100);
    assert_int_equal(ptx_swizzle(0x180, 64), 0x1b0);
    assert_int_equal(ptx_swizzle(0x200, 64), 0x200);
    assert_int_equal(ptx_swizzle(0x3f8, 128), 0x388);
    assert_int_equal(ptx_swizzle(0x410, 128), 0x410);
}

/* Every value of the narrow formats is rounded to itself. */
static void
test_formats(void **state)
{
    static const char *const name[] = {"f16", "bf16", "e4m3", "e5m2"};
    static const double      fourth[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    double                   none = ptx_number(ptx_type_of("ue8m0"), 255);

    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const ptx_type *t = ptx_type_of(name[i]);
        for (uint64_t b = 0; b < UINT64_C(1) << t->bits; b++) {
            double v = ptx_number(t, b);
            if (v == v && v - v == 0)
                assert_int_equal(ptx_bits(t, v), b);
        }
    }
    assert_true(ptx_number(ptx_type_of("e4m3"), 0x7e) == 448);
    for (unsigned h = 0; h < 16; h++) {
        double v = fourth[h & 7] * (h & 8 ? -1 : 1);
        assert_true(ptx_number(ptx_type_of("e2m1"), h | 0x30) == v);
    }
    assert_true(ptx_number(ptx_type_of("ue8m0"), 0) == 0x1p-127);
    assert_true(ptx_number(ptx_type_of("ue8m0"), 254) == 0x1p127);
    assert_true(none != none);
    assert_int_equal(ptx_bits(ptx_type_of("e4m3"), 1000), 0x7e);
    assert_int_equal(ptx_bits(ptx_type_of("f16"), 65520), 0x7c00);
    assert_int_equal(ptx_bits(ptx_type_of("f16"), 65519), 0x7bff);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_swizzle),
        cmocka_unit_test(test_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
