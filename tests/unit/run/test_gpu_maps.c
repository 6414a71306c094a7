/* test_gpu_maps.c - tensor maps: which there are, when they are made, what of.
 */
#define _XOPEN_SOURCE 700

#include "print/aot/gpu.h"

#include "fake_gpu.h"

static void
maps_have_limits(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 31], y[10 * 31];
    int64_t       shape[2] = {10, 31};
    axe_array     a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    assert_int_equal(axe_gpu_run(cx, e, 2, a, 0, NULL), AXE_EUNSUPPORTED);
    check_said(cx, "X: a step of bytes 124 has no tensor map");
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

/* A box counts elements of the map's type, and a barrier bytes of the tensor's:
 * were they of other sizes, its phase would never end. */
static void
elements_of_maps_have_their_size(void **state)
{
    /* by the numbers of CUtensorMapDataType; of 13 two are a byte */
    static const int bits[] = {8,  16, 32, 32, 64, 64, 16,
                               32, 64, 16, 32, 32, 32, 4};

    (void)state;
    for (axe_type t = 0; t < AXE_N_TYPE; t++) {
        int number = axe_map_type(t);
        assert_in_range(number, 0, AXE_LEN(bits) - 1);
        if (bits[number] != axe_type_table[t].bits)
            fail_msg("%s: %d bits in maps", axe_type_table[t].name,
                     bits[number]);
    }
}

/* A map that the grid does not use at these sizes may be one that no tensor
 * has. */
static void
maps_are_made_where_used(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[10 * 31], y[10 * 31];
    int64_t       shape[2] = {10, 31};
    axe_array     a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
    axe_program  *p;
    axe_map      *map;

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    p = make_program(cx);
    map = axe_new(cx, axe_map);
    *map = p->lowered->grid->map[0];
    map->when = axe_node2(cx, AXE_OP_eq, map->size[0], number(cx, 32));
    p->lowered->grid->map = map;
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    fake_clear();
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    assert_null(strstr(fake_log(), "map type"));
    shape[1] = 32;
    shape[0] = 9;
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
    assert_non_null(strstr(fake_log(), "map type"));
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

/* A map is made once for as long as its tensor is the same. */
static void
maps_are_made_once(void **state)
{
    static float x[2][10 * 32], y[10 * 32];
    static const struct {
        int     at;
        int64_t rows;
        bool    made;
    } row[] = {{0, 10, true}, {0, 10, false}, {0, 5, true}, {0, 5, false},
               {1, 5, true},  {0, 5, true},   {0, 10, true}};
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    for (int i = 0; i < AXE_LEN(row); i++) {
        int64_t   shape[2] = {row[i].rows, 32};
        axe_array a[2] = {make_array("X", x[row[i].at], shape),
                          make_array("Y", y, shape)};
        fake_clear();
        assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL), AXE_OK);
        if (!strstr(fake_log(), "map type") == row[i].made)
            fail_msg("launch %d: %s", i, fake_log());
        assert_non_null(strstr(fake_log(), "launch "));
    }
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

/* Nothing is launched for no row; of no column there is a map of one zero. */
static void
empty_tensors_have_maps(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    axe_gpu      *g;
    axe_gpu_exec *e;
    static float  x[32], y[32];
    int64_t       wide[2] = {0, 32}, high[2] = {10, 0};
    axe_array     a[2] = {make_array("X", x, wide), make_array("Y", y, wide)};
    axe_array     b[2] = {make_array("X", x, high), make_array("Y", y, high)};

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    fake_clear();
    assert_int_equal(axe_gpu_run(cx, e, 2, a, 0, NULL), AXE_OK);
    assert_string_equal(fake_log(), "");
    for (int i = 0; i < 2; i++) {
        fake_clear();
        assert_int_equal(axe_gpu_run(cx, e, 2, b, 0, NULL), AXE_OK);
        assert_string_equal(
            fake_log(), i > 0 ? "launch 3x1x1 of 128x1x1, 1024 bytes\n"
                              : "map type 7 rank 2 swizzle 3 32 of 1 by 0 4 of "
                                "1 by 16\n"
                                "launch 3x1x1 of 128x1x1, 1024 bytes\n");
    }
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_have_limits),
        cmocka_unit_test(elements_of_maps_have_their_size),
        cmocka_unit_test(maps_are_made_where_used),
        cmocka_unit_test(maps_are_made_once),
        cmocka_unit_test(empty_tensors_have_maps),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
