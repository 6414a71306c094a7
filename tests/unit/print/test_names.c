/* test_names.c - names of kernels in text for hosts and devices: those that are
 * taken get an underscore, and what our own helpers define is taken. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"

static const struct {
    const char *name, *host, *device;
} rows[] = {
    {"softmax", NULL, NULL},
    {"gemm_sm90", NULL, NULL},
    {"floats", NULL, NULL},
    {"intern", NULL, NULL},
    {"int5", NULL, NULL},
    {"halve", NULL, NULL},
    {"cut", NULL, NULL},
    {"main", "main_", "main_"},
    {"double", "double_", "double_"},
    {"double_", "double__", "double__"},
    {"read", "read_", "read_"},
    {"cuInit", "cuInit_", "cuInit_"},
    {"axe_call", "axe_call_", "axe_call_"},
    {"_x", "_x_", "_x_"},
    {"half", NULL, "half_"},
    {"half__", NULL, "half___"},
    {"half8", NULL, "half8_"},
    {"int16", NULL, "int16_"},
    {"uint", NULL, "uint_"},
    {"global", NULL, "global_"},
    {"kernel", NULL, "kernel_"},
    {"dot", NULL, "dot_"},
    {"max", NULL, "max_"},
    {"rest", NULL, "rest_"},
    {"u8", "u8_", "u8_"},
    {"shared", NULL, "shared_"},
    {"as_float4", NULL, "as_float4_"},
    {"convert_int_sat", NULL, "convert_int_sat_"},
    {"vload4", NULL, "vload4_"},
    {"atomic_add", NULL, "atomic_add_"},
    {"cl_khr_fp16", NULL, "cl_khr_fp16_"},
    {"sampler_t", NULL, "sampler_t_"},
    {"threadIdx", NULL, "threadIdx_"},
    {"dim3", NULL, "dim3_"},
    {"rsqrtf", NULL, "rsqrtf_"},
    {"GEMM_NT", NULL, NULL},
    {"INT32_MAX", "INT32_MAX_", "INT32_MAX_"},
    {"RAND_MAX", "RAND_MAX_", "RAND_MAX_"},
    {"UINT8_C", "UINT8_C_", "UINT8_C_"},
    {"INFINITY", "INFINITY_", "INFINITY_"},
    {"M_PI", NULL, "M_PI_"},
    {"CLK_LOCAL_MEM_FENCE", NULL, "CLK_LOCAL_MEM_FENCE_"},
    {"MAXFLOAT", NULL, "MAXFLOAT_"},
    {"product.device0", NULL, "product_device0"},
};

static void
test_rows(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (size_t i = 0; i < AXE_LEN(rows); i++) {
        const char *name = rows[i].name;

        assert_string_equal(axe_host_name(cx, name),
                            rows[i].host ? rows[i].host : name);
        assert_string_equal(axe_device_name(cx, name),
                            rows[i].device ? rows[i].device : name);
    }
    axe_ctx_free(cx);
}

static const char *const helpers[] = {
#define FN(name, needs, text) text,
#include "print/cuda/fn.def"
#define FN(name, needs, text) text,
#include "print/opencl/fn.def"
};

/* The word before the first parenthesis of a line that begins with a type and
 * belongs to no body: "" of others. */
static void
defined_by(const char *line, size_t n, char *word, size_t size)
{
    const char *open = memchr(line, '(', n), *begin;

    *word = '\0';
    if (!open || !isalpha((unsigned char)*line))
        return;
    for (begin = open; begin > line; begin--)
        if (!isalnum((unsigned char)begin[-1]) && begin[-1] != '_')
            break;
    snprintf(word, size, "%.*s", (int)(open - begin), begin);
}

static void
test_helpers(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    char     word[80];
    int      n = 0;

    (void)state;
    for (size_t i = 0; i < AXE_LEN(helpers); i++)
        for (const char *l = helpers[i]; *l; l += strcspn(l, "\n") + 1) {
            defined_by(l, strcspn(l, "\n"), word, sizeof word);
            if (!*word || strcmp(word, "__declspec") == 0)
                continue;
            n++;
            if (strcmp(axe_device_name(cx, word), word) == 0)
                fail_msg("base/device_names.def lacks `%s`, which is defined by"
                         " `%.*s`",
                         word, (int)strcspn(l, "\n"), l);
        }
    assert_true(n > 80);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_helpers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
