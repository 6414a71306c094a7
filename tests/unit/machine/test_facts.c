/* test_facts.c - what machines are asked by `axe eval`, asked wrongly.  What
 * they answer is compared with vectors of another system by tests/vectors.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/eval.h"
#include "axe/machine.h"

/* clang-format off */
#define MATRIX(arch, type, bits, swizzle, tile, order, mma, step, more) \
    "{\"op\":\"smem_descriptor\",\"in\":{\"arch\":\"" arch "\",\"dtype\":\"" type "\",\"bits\":" bits ",\"major\":\"K\",\"swizzle\":" swizzle \
    ",\"tile\":" tile ",\"order\":\"" order "\",\"mma\":" mma ",\"step\":" step more "}}"
#define PRODUCT(kind, a, d, m, n, group, more) \
    "{\"op\":\"instruction_descriptor\",\"in\":{\"arch\":\"sm_100\",\"kind\":\"" kind "\",\"a\":\"" a "\",\"b\":\"" a "\",\"d\":\"" d "\",\"M\":" m ",\"N\":" n \
    ",\"cta_group\":" group ",\"a_major\":\"K\",\"b_major\":\"K\"" more "}}"
#define ORDER(memory, operand, vec, rows, k, more) \
    "{\"op\":\"scale_order\",\"in\":{\"arch\":\"sm_100\",\"memory\":\"" memory "\",\"operand\":\"" operand "\",\"vec\":" vec ",\"rows\":" rows ",\"k\":" k more "}}"

static const struct {
    const char *ask, *want; /* a part of the reply */
} rows[] = {
    {MATRIX("sm_90a", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""),
     "\"out\":{\"offset\":96,\"desc\":\"0x4000004000000006\",\"dont_care\":\"0x000000003fff0000\"}"},
    {MATRIX("sm_80", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""), "no row of sm_80 reads 64 rows by 16 of f16 by a descriptor"},
    {MATRIX("sm_9", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""), "EUNSUPPORTED\",\"message\":\"there is no machine sm_9 with tensor cores"},
    {MATRIX("", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""), "there is no machine  with tensor cores"},
    {MATRIX("sm_90", "f12", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""), "dtype: there are no elements of type f12"},
    {MATRIX("sm_90", "f16", "8", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""), "f16 takes 16 bits in shared memory, not 8"},
    {MATRIX("sm_90", "f16", "16", "48", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ""), "swizzles keep 16 bytes together, in 32, 64 or 128"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 3]", ",\"swizzle_atom\":32"), "swizzles keep 16 bytes together"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 4]", ""), "no step 4 of 16 is in 64"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 64]", "rows", "[64, 0]", "[0, 0]", ""), "no step 0 of 0 is in 64"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, -64]", "rows", "[64, 16]", "[0, 0]", ""), "no step 0 of 16 is in -64"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 9223372036854775807]", "rows", "[64, 16]", "[0, 0]", ""), "ESHAPE"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 48]", "rows", "[64, 16]", "[0, 0]", ""), "a tile is whole atoms of 8 by 64 and whole invocations"},
    {MATRIX("sm_90", "f16", "16", "128", "[64]", "rows", "[64, 16]", "[0, 0]", ""), "tile must be a list of 2 integers, not of another length"},
    {MATRIX("sm_90", "f16", "16", "128", "7", "rows", "[64, 16]", "[0, 0]", ""), "tile must be a list of 2 integers, not an integer"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 64]", "m", "[64, 16]", "[0, 0]", ""), "order is rows or k, not \\\"m\\\""},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 0]", ",\"stage\":[4, 4]"), "there is no stage 4 of 4"},
    {MATRIX("sm_90", "f16", "16", "128", "[64, 64]", "rows", "[64, 16]", "[0, 0]", ",\"stage\":[0, 4]"), "\"offset\":0"},
    {PRODUCT("f16", "f16", "f32", "128", "128", "1", ""), "{\"idesc\":\"0x08200010\"}"},
    {PRODUCT("f16", "f16", "f32", "128", "0", "1", ""), "EUNSUPPORTED"},
    {PRODUCT("f16", "f16", "f32", "128", "4294967424", "1", ""), "EUNSUPPORTED"},
    {PRODUCT("f1", "f16", "f32", "128", "128", "1", ""), "no row of sm_100a is kind::f1 of 128 x 128 by 1 CTAs with these types"},
    {PRODUCT("f16 [$0]", "f16", "f32", "128", "128", "1", ""), "EUNSUPPORTED"},
    {PRODUCT("a name that is far longer than any kind of product has", "f16", "f32", "128", "128", "1", ""), "EUNSUPPORTED"},
    {PRODUCT("f16", "f16", "f32", "128", "128", "1", ",\"negate\":[0, 1]"), "tc.f32.f16.m128.ss has no factors that are negated"},
    {PRODUCT("f16", "f16", "f32", "128", "128", "1", ",\"vec\":32"), "and scales"},
    {PRODUCT("mxf8f6f4", "e4m3", "f32", "128", "128", "1", ",\"vec\":32,\"scale\":\"ue8m0\",\"scale_id\":[4, 0]"), "a word has bytes 0 to 3, not 4"},
    {ORDER("global", "A", "32", "128", "256", ",\"batches\":2"), "{\"bytes\":2048,\"batch_stride\":1024,\"offset\":[[0,1,2,3,512,"},
    {ORDER("global", "A", "32", "128", "256", ",\"batches\":-1"), "-1 batches"},
    {"{\"op\":\"move\",\"in\":{\"src\":\"(8, 4) : (4@lane, 1@lane)\",\"dst\":\"(8, 4) : (1@lane, 8@lane)\"}}", "\"out\":{\"move\":\"shuffles\",\"machine\":\"sm_90a\",\"bits\":32"},
    {"{\"op\":\"move\",\"in\":{\"src\":\"(8) : (1@warp)\",\"dst\":\"(8) : (1@reg)\",\"arch\":\"opencl-sg8\",\"bits\":8,\"by\":\"shared\"}}", "\"out\":{\"move\":\"shared\",\"machine\":\"opencl-sg8\",\"bits\":8"},
    {"{\"op\":\"move\",\"in\":{\"src\":\"(8) : (1@lane)\",\"dst\":\"(9) : (1@lane)\"}}", "element 8 of DST is not in SRC"},
    {"{\"op\":\"move\",\"in\":{\"src\":\"(8) : (1@lane)\",\"dst\":\"(8) : (1@lane)\",\"by\":\"air\"}}", "by is shuffles or shared, not \\\"air\\\""},
    {"{\"op\":\"move\",\"in\":{\"src\":\"(8) : (1@lane)\",\"dst\":\"(8) : (1@lane)\",\"bits\":4294967328}}", "bits is 4294967328: it must be in [1, 2^31)"},
    {ORDER("global", "C", "32", "128", "256", ""), "operand is A or B, not \\\"C\\\""},
    {ORDER("global", "A", "32", "128", "250", ""), "128 rows by 250 of k: whole blocks of 32 are answered"},
    {ORDER("global", "A", "0", "128", "256", ""), "ESHAPE"},
    {ORDER("global", "A", "24", "128", "48", ""), "no row of sm_100a takes a scale for 24"},
    {ORDER("global", "A", "32", "1048576", "64", ""), "up to 1048576 of them"},
    {ORDER("local", "A", "32", "128", "256", ""), "memory is global or shared, not \\\"local\\\""},
    {ORDER("shared", "B", "16", "64", "128", ",\"kind\":\"mxf4nvf4\",\"cta_group\":1,\"mma\":[128, 64]"), "of 64 rows steps of the sum share a copy"},
    {ORDER("shared", "B", "16", "192", "128", ",\"kind\":\"mxf4nvf4\",\"cta_group\":1,\"mma\":[128, 192]"), "no copy of sm_100a brings the scales of 192 rows by 128"},
    {"{\"op\":\"smem_descriptors\"}", "did you mean \\\"smem_descriptor\\\"?"},
    {"{\"op\":\"smem_descriptor\"}", "smem_descriptor needs the argument \\\"arch\\\""},
    {"{\"op\":\"ops\"}", "\"name\":\"scale_copy\""},
};
/* clang-format on */

static void
test_rows(void **state)
{
    axe_eval_options opt = {axe_machine_axes, NULL, false, axe_machine_ops()};
    axe_eval        *ev = axe_eval_new(&opt);
    int              failed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = axe_eval_line(ev, rows[i].ask, strlen(rows[i].ask));
        if (!strstr(got, rows[i].want)) {
            print_error("%s\n  %.300s\n  wanted %s\n", rows[i].ask, got,
                        rows[i].want);
            failed++;
        }
    }
    axe_eval_free(ev);
    assert_int_equal(failed, 0);
}

/* Without the operations of machines there are none. */
static void
test_alone(void **state)
{
    axe_eval   *ev = axe_eval_new(NULL);
    const char *ask = "{\"op\":\"scale_copy\"}";

    (void)state;
    assert_non_null(strstr(axe_eval_line(ev, ask, strlen(ask)), "ENAME"));
    axe_eval_free(ev);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
