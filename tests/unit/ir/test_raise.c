/* test_raise.c - loops around one element as index statements: what becomes of
 * a body, what stays as it is, and the two styles of one copy having one plan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "plan/plan.h"

static const axe_kernel *
compile(axe_ctx *cx, const char *text)
{
    const axe_module *m;
    const axe_kernel *k = NULL;
    axe_inst          inst = {.machine = "cpu"};
    int32_t           source = axe_source_add(cx, "test", text, strlen(text));

    if (axe_module_parse(cx, source, &m) != AXE_OK ||
        axe_module_instantiate(cx, m, &inst, &k) != AXE_OK)
        fail_msg("%s\n%s", text, axe_last_error(cx));
    return k;
}

/* The raised kernel's text behind `S`'s declaration, read back and verified. */
static const char *
raised(axe_ctx *cx, const char *body)
{
    const char *text = axe_textf(
        cx,
        "kernel k(in f32 G[M, N], in i32 R[M], out f32 Y[M, N]) "
        "{ index m, n; cta (i : M by 8) { shared f32 S[16, 64] = 0; %s "
        "Y[i, n] = S[0, 0] + sum[m](G[m, n]) * f32(R[i]); } }",
        body);
    const axe_kernel *k = axe_kernel_raise(cx, compile(cx, text)), *again;
    axe_buf           out = {.cx = cx}, twice = {.cx = cx};
    char             *s;

    axe_kernel_print(cx, &out, k);
    if (axe_kernel_read(cx, axe_source_add(cx, "ir", out.text, out.len),
                        &again) != AXE_OK)
        fail_msg("%s\n%s", out.text, axe_last_error(cx));
    axe_kernel_print(cx, &twice, again);
    assert_string_equal(out.text, twice.text);
    s = strchr(strstr(out.text, " over S.0"), '\n') + 1;
    *strstr(s, "        Y[i, n]") = '\0';
    return s;
}

/* clang-format off */
static const struct {
    const char *body, *want; /* NULL: nothing is raised */
} rows[] = {
    {"thread (t : 0..128) for (r : 2) for (v : 8) "
     "S[t/8, t%8*8 + v] = G[16 + t/8, 64 + t%8*8 + v] * f32(r);",
     "        thread (t : 128) {\n            for (r : 2) {\n"
     "                S[t/8, t%8*8 + i0] = G[16 + t/8, 64 + t%8*8 + i0]*f32(r) "
     "over i0:8\n            }\n        }\n"},
    {"thread (t : 0..128) for (v : 8) "
     "S[t/8, t%8*8 + v] = G[16 + t/8, 64 + t%8*8 + v];",
     "        S[i0, i1] = G[i0 + 16, i1 + 64] over i0:16, i1:64\n"},
    {"thread (t : 0..64) for (r : 2) for (v : 8) "
     "S[t/8 + 8*r, 8*(t%8) + v] += G[t/8 + 8*r, v + t%8*8];",
     "        S[i0, i1] += G[i0, i1] over i0:16, i1:64\n"},
    {"for (a : 2) for (b : 4) for (c : 2..4) for (d : 0..64 step 8) "
     "S[a*8 + (c - 2)*4 + b, d] = G[a, d];", NULL},
    {"for (a : 2) for (b : 4) for (c : 2..4) for (d : 64) "
     "S[a*8 + (c - 2)*4 + b, d] = G[a*8 + (c - 2)*4 + b, d/8];", NULL},
    {"for (a : 2) for (b : 4) for (c : 2..4) for (d : 64) "
     "S[a*8 + (c - 2)*4 + b, d] = G[d, i + 3*(a*8 + c*4 + b) - 1];",
     "        S[i0, i1] = G[i1, i + i0*3 + 23] over i0:16, i1:64\n"},
    {"for (r : 1..9) S[r, 5] = f32(r) + (r > 3 ? G[i, r] : 0.0);",
     "        S[i0 + 1, 5] = f32(i0 + 1) + (3 < i0 + 1 ? G[i, i0 + 1] : "
     "0.0_f32) over i0:8\n"},
    {"for (n0 : N) Y[i, n0] = G[i, n0] * 2;",
     "        Y[i, i0] = G[i, i0]*2.0_f32 over i0:N\n"},
    {"for (a : 8) for (c : 64) S[a, c] = S[a, c] + 1;",
     "        S[i0, i1] = S[i0, i1] + 1.0_f32 over i0:8, i1:64\n"},
    {"for (a : 8) S[a, 0] = sum[n](G[a, n]);",
     "        S[i0, 0] = sum[n:N](G[i0, n]) over i0:8\n"},
    {"for (a : 8) for (c : 63) S[a, c] = S[a, c + 1];", NULL},
    {"for (a : 8) S[a, 0] = G[R[a], 0];", NULL},
    {"for (a : 8) for (c : 64) S[a, 0] += G[a, c];", NULL},
    {"for (v : 9) S[1, (v + 8)%16] = G[i, v];", NULL},
    {"for (v : 12) S[1, (v + 8)%16] = G[i, v];", NULL},
    {"for (v : 8) S[1, (v + 8)%16] = G[i, v];",
     "        S[1, i0 + 8] = G[i, i0] over i0:8\n"},
    {"for (a : 100) S[a/64, a%64] = 1;", NULL},
    {"for (a : 96) S[a/48, a%48] = 1;",
     "        S[i0, i1] = 1.0_f32 over i0:2, i1:48\n"},
    {"for (a : 8) { S[a, 0] = 1; S[a, 1] = 2; }", NULL},
    {"for (a : 8) if (a > 2) S[a, 0] = 1;", NULL},
    {"for (q : M) for (a : 8) S[a, 0] = G[q, a];",
     "        for (q : M) {\n            S[i0, 0] = G[q, i0] over i0:8\n"
     "        }\n"},
    {"for (a : 512) S[a/64%4 + a/256*4, a%64] = G[a/128, a%128];", NULL},
    {"for (a : 1024) S[a/64/4*4 + a/64%4, (a + 0)%64] = G[a/64, 64 - a%64];",
     "        S[i0, i1] = G[i0, i1*-1 + 64] over i0:16, i1:64\n"},
    {"roles { warp (0) for (a : 8) S[a, 0] = G[a, 1]; }",
     "        roles {\n            warp (warp : 1) {\n"
     "                S[i0, 0] = G[i0, 1] over i0:8\n            }\n"
     "        }\n"},
    {"for (a : 16) for (c : 64) S[15 - a, c] = G[a, c];",
     "        for (a : 16) {\n            S[15 - a, i0] = G[a, i0] over i0:64\n"
     "        }\n"},
};
/* clang-format on */

static void
test_rows(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *got = raised(cx, rows[i].body);
        bool        same = rows[i].want && strcmp(rows[i].want, got) == 0;
        if (!rows[i].want)
            same = strstr(got, "over") == NULL;
        if (!same) {
            print_error("%s\n  want: %s\n  got:  %s\n", rows[i].body,
                        rows[i].want ? rows[i].want : "loops", got);
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

#define REGION(copy)                                                           \
    "kernel region(in f32 G[M, N], out f32 Y[16, 64]) { index i0, i1; "        \
    "cta (i : 1) { shared f32 S[16, 64]; " copy                                \
    " Y[i0, i1] = S[i0, i1] * 2; } }"

static const char *
plan_of(axe_ctx *cx, const char *text)
{
    const axe_machine *mc = NULL;
    const axe_plan    *p = NULL;
    axe_buf            out = {.cx = cx};

    if (axe_machine_find(cx, "cpu-avx512", &mc) != AXE_OK ||
        axe_plan_kernel(cx, compile(cx, text), mc, &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_plan_print(cx, &out, p, NULL);
    return out.text;
}

/* A region of 16 x 64 by 128 threads, 8 elements each, and as one statement. */
static void
test_styles(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *loops =
        plan_of(cx, REGION("thread (t : 0..128) for (v : 8) S[t/8, t%8*8 + v] ="
                           " G[16 + t/8, 64 + t%8*8 + v];"));
    const char *one = plan_of(cx, REGION("S[i0, i1] = G[i0 + 16, i1 + 64];"));

    (void)state;
    assert_string_equal(loops, one);
    assert_non_null(strstr(one, "vload"));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_styles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
