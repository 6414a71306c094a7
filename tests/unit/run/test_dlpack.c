/* test_dlpack.c - tensors of other frameworks as arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "axe/dlpack.h"

static float   data[64];
static int64_t shape[2] = {4, 8}, stride[2] = {16, 1};

static axe_dlpack
tensor(void)
{
    return (axe_dlpack){.data = data,
                        .device = {AXE_DLPACK_CPU, 0},
                        .rank = 2,
                        .dtype = {2, 32, 1},
                        .shape = shape,
                        .stride = stride,
                        .byte_offset = 8};
}

static void
tensor_is_an_array(void **state)
{
    axe_ctx   *cx = axe_ctx_new();
    axe_dlpack t = tensor();
    axe_array  a;

    (void)state;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a),
                     AXE_OK);
    assert_string_equal(a.name, "A");
    assert_string_equal(a.type, "f32");
    assert_int_equal(a.rank, 2);
    assert_ptr_equal(a.shape, shape);
    assert_ptr_equal(a.stride, stride);
    assert_ptr_equal(a.data, data + 2);
    t.device.type = AXE_DLPACK_CUDA_HOST;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a),
                     AXE_OK);
    axe_ctx_free(cx);
}

static void
types_have_names(void **state)
{
    static const struct {
        uint8_t     code, bits;
        uint16_t    lanes;
        const char *name; /* NULL: refused */
    } row[] = {{0, 8, 1, "i8"},      {1, 8, 1, "u8"},      {0, 64, 1, "i64"},
               {2, 16, 1, "f16"},    {4, 16, 1, "bf16"},   {6, 8, 1, "bool"},
               {10, 8, 1, "f8e4m3"}, {12, 8, 1, "f8e5m2"}, {2, 64, 1, "f64"},
               {2, 128, 1, NULL},    {5, 64, 1, NULL},     {2, 32, 4, NULL},
               {1, 64, 1, "u64"},    {1, 128, 1, NULL}};
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_dlpack t = tensor();
        axe_array  a = {0};
        t.dtype.code = row[i].code;
        t.dtype.bits = row[i].bits;
        t.dtype.lanes = row[i].lanes;
        axe_status st = axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a);
        assert_int_equal(st, row[i].name ? AXE_OK : AXE_ETYPE);
        if (row[i].name)
            assert_string_equal(a.type, row[i].name);
        else
            assert_null(a.name);
    }
    axe_ctx_free(cx);
}

static void
nonsense_is_refused(void **state)
{
    axe_ctx   *cx = axe_ctx_new();
    axe_dlpack t = tensor();
    axe_array  a = {0};

    (void)state;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CUDA, &a),
                     AXE_EDEVICE);
    t.rank = 0; /* a number is the host's, whatever runs the kernel */
    assert_int_equal(axe_array_of_dlpack(cx, "eps", &t, AXE_DLPACK_CUDA, &a),
                     AXE_OK);
    t.device.type = AXE_DLPACK_CUDA;
    assert_int_equal(axe_array_of_dlpack(cx, "eps", &t, AXE_DLPACK_CUDA, &a),
                     AXE_EDEVICE);
    t.device.type = AXE_DLPACK_CPU;
    a = (axe_array){0};
    t.rank = -1;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a),
                     AXE_EARG);
    t.rank = 1000;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a),
                     AXE_EARG);
    t = tensor();
    t.shape = NULL;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a),
                     AXE_EARG);
    t = tensor();
    t.byte_offset = UINT64_MAX;
    assert_int_equal(axe_array_of_dlpack(cx, "A", &t, AXE_DLPACK_CPU, &a),
                     AXE_EARG);
    assert_null(a.name);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_is_an_array),
        cmocka_unit_test(types_have_names),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
