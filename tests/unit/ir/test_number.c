/* test_number.c - numbers of all types, read from memory and written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/number.h"

static void
test_f16(void **state)
{
    uint16_t back;

    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t bits = (uint16_t)h;
        double   v = axe_number_get(AXE_TYPE_f16, &bits);
        if ((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0) {
            assert_true(isnan(v));
            continue;
        }
        axe_number_put(AXE_TYPE_f16, &back, v);
        assert_int_equal(back, bits);
    }
    assert_true(axe_number_get(AXE_TYPE_f16, &(uint16_t){0x3c00}) == 1.0);
    assert_true(axe_number_get(AXE_TYPE_f16, &(uint16_t){1}) == 0x1p-24);
    assert_true(axe_number_get(AXE_TYPE_f16, &(uint16_t){0xfbff}) == -65504);
}

/* Between two neighbours: below the middle down, above up, at it to even. */
static void
test_rounding(void **state)
{
    static const axe_type type[] = {AXE_TYPE_f16, AXE_TYPE_bf16};

    (void)state;
    for (int t = 0; t < AXE_LEN(type); t++)
        for (uint32_t h = 0; h < (t == 0 ? 0x7bffu : 0x7f7fu); h++) {
            uint16_t lo = (uint16_t)h, hi = (uint16_t)(h + 1), got;
            double   a = axe_number_get(type[t], &lo),
                   b = axe_number_get(type[t], &hi), mid = (a + b) / 2;
            axe_number_put(type[t], &got, mid);
            assert_int_equal(got, h % 2 == 0 ? lo : hi);
            axe_number_put(type[t], &got, nextafter(mid, 0));
            assert_int_equal(got, lo);
            axe_number_put(type[t], &got, -nextafter(mid, HUGE_VAL));
            assert_int_equal(got, hi | 0x8000);
        }
    uint16_t h;
    axe_number_put(AXE_TYPE_f16, &h, 65519.99);
    assert_int_equal(h, 0x7bff);
    axe_number_put(AXE_TYPE_f16, &h, 65520);
    assert_int_equal(h, 0x7c00);
    for (int t = 0; t < AXE_LEN(type); t++) {
        uint64_t bits = UINT64_C(0x7ff0000000000001);
        double   nan;
        memcpy(&nan, &bits, sizeof nan);
        axe_number_put(type[t], &h, nan);
        assert_true(isnan(axe_number_get(type[t], &h)));
    }
}

/* All 16 values, what is between two, beyond the largest, and pairs in bytes.
 */
static void
test_fourths(void **state)
{
    static const double value[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const axe_type      t = AXE_TYPE_f4e2m1;
    const double        inf = HUGE_VAL, nan = (double)NAN;
    uint8_t             got, pair[2];

    (void)state;
    for (unsigned h = 0; h < 16; h++) {
        double v = value[h & 7] * (h & 8 ? -1 : 1);
        assert_true(axe_number_get(t, &(uint8_t){(uint8_t)h}) == v);
        assert_true(axe_number_get(t, &(uint8_t){(uint8_t)(h | 0xf0)}) == v);
        assert_int_equal(
            signbit(axe_number_get(t, &(uint8_t){(uint8_t)h})) != 0, h >> 3);
        axe_number_put(t, &got, v);
        assert_int_equal(got, h);
    }
    for (unsigned h = 0; h < 7; h++) {
        double mid = (value[h] + value[h + 1]) / 2;
        axe_number_put(t, &got, mid);
        assert_int_equal(got, h + h % 2);
        axe_number_put(t, &got, nextafter(mid, 0));
        assert_int_equal(got, h);
        axe_number_put(t, &got, -nextafter(mid, 8));
        assert_int_equal(got, (h + 1) | 8);
    }
    axe_number_put(t, &got, 1e9);
    assert_int_equal(got, 7);
    axe_number_put(t, &got, -inf);
    assert_int_equal(got, 15);
    axe_number_put(t, &got, nan);
    assert_int_equal(got, 7);
    for (unsigned h = 0; h < 256; h++) {
        memset(pair, (int)(h ^ 0xff), sizeof pair);
        axe_number_store(t, pair, 2, value[h & 7] * (h & 8 ? -1 : 1));
        assert_int_equal(pair[1], (~h & 0xf0) | (h & 15));
        axe_number_store(t, pair, 3, value[h >> 4 & 7] * (h & 128 ? -1 : 1));
        assert_int_equal(pair[1], h);
        assert_int_equal(pair[0], h ^ 0xff);
        assert_true(axe_number_load(t, pair, 2) == axe_number_get(t, &pair[1]));
        got = pair[1] >> 4;
        assert_true(axe_number_load(t, pair, 3) == axe_number_get(t, &got));
    }
    assert_int_equal(axe_type_bytes(t, 6), 3);
    assert_int_equal(axe_type_bytes(AXE_TYPE_f16, 6), 12);
}

static void
test_integers(void **state)
{
    int8_t   b = -3;
    uint16_t u = 65535;
    int64_t  w = INT64_MIN;

    (void)state;
    assert_int_equal(axe_number_get_int(AXE_TYPE_i8, &b), -3);
    assert_int_equal(axe_number_get_int(AXE_TYPE_u16, &u), 65535);
    assert_true(axe_number_get_int(AXE_TYPE_i64, &w) == INT64_MIN);
    axe_number_put_int(AXE_TYPE_i8, &b, 0x1ff);
    assert_int_equal(b, -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_fourths),
        cmocka_unit_test(test_integers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
