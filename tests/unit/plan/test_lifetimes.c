/* test_lifetimes.c - which tiles share bytes of shared memory, and which do
 * not. */
#include <inttypes.h>

#include "plan/simt/simt.h"
#include "planned.h"

#define TWO(body)                                                              \
    "kernel k(in f32 X[M, N], out f32 Y[N, M], out f32 Z[N, M]) {\n"           \
    "index m, n;\n"                                                            \
    "cta (i : M by 64, j : N by 64) warps 8 {\n"                               \
    "shared f32 s[64, 64] : (64, 64) : (64, 1);\n"                             \
    "shared f32 t[64, 64] : (64, 64) : (64, 1);\n" body
#define K(keys, body)                                                          \
    "kernel k(in f32 X[M, N], out f32 Y[N, M], out f32 Z[N, M]) {\n"           \
    "index m, n;\n"                                                            \
    "cta" keys "(i : M by 64, j : N by 64) warps 8 {\n"                        \
    "shared f32 s[64, 64] : (64, 64) : (64, 1);\n"                             \
    "shared f32 t[64, 64] : (64, 64) : (64, 1);\n"                             \
    "shared f32 u[32, 64] : (32, 64) : (64, 1);\n"                             \
    "shared f32 rest[192, 256];\n" body "} }"
#define S "s[m, n] = X[i*64 + m, j*64 + n] * 2;\n"
#define T "t[m, n] = X[i*64 + m, j*64 + n] + 1;\n"
#define U "u[m, n] = X[i*64 + m, j*64 + n] + 1;\n"
#define Y(x) "Y[j*64 + n, i*64 + m] = " x "[m, n];\n"
#define Z(x) "Z[j*64 + n, i*64 + m] = " x "[m, n];\n"

/* Where each tile is, in the order of the text; none: there is no room for them
 * and the rest of what a CTA may have. */
static const struct {
    const char *text, *want;
} rows[] = {
    {K(" ", S Y("s") T Z("t")), "s 0, t 0, u 16384"},
    {K(" ", S Y("s") T Z("t") U Z("u")), "s 0, t 0, u 0"},
    {K(" ", S Y("s") U T Z("t") Z("u")), "s 0, t 0, u 16384"},
    /* alive together */
    {K(" ", S T Y("s") Z("t")), "none"},
    {K(" ", S "t[m, n] = s[m, n] + 1;\n" Z("t")), "none"},
    {K(" ", S T Y("s") Z("t") U Z("u")), "s 0, t 16384, u 0"},
    /* what would fit but for the last bytes of what is before it */
    {K(" ",
       S T Y("s") U "shared f32 b[64, 64] : (64, 64) : (64, 1);\n"
                    "b[m, n] = X[i*64 + m, j*64 + n];\n" Z("t") Y("u") Z("b")),
     "none"},
    /* what a loop reads is alive to its end */
    {K(" ",
       S "for (v : 4) {\n"
         "shared f32 b[64, 64] : (64, 64) : (64, 1);\n" Y(
             "s") "b[m, n] = X[i*64 + m, j*64 + n];\n" Z("b") "}\n" T Z("t")),
     "none"},
    /* what is declared before a loop lives through it, and what is in it not */
    {K(" ", "for (v : 4) {\n" S Y("s") T Z("t") "}\n"), "none"},
    {K(" ", S Y("s") "for (v : 4) {\n" T Z("t") U Z("u") "}\n"),
     "s 0, t 0, u 16384"},
    {K(" ", "for (v : 4) {\n"
            "shared f32 a[64, 64] : (64, 64) : (64, 1);\n"
            "shared f32 b[64, 64] : (64, 64) : (64, 1);\n"
            "a[m, n] = X[i*64 + m, j*64 + n];\n" Y(
                "a") "b[m, n] = X[i*64 + m, j*64 + n];\n" Z("b") "}\n" S Y("s")
                T Z("t")),
     "s 0, t 0, u 16384, a 0, b 0"},
    /* a branch is alive as a whole */
    {K(" ", "if (i > 0) {\n" S Y("s") "} else {\n" T Z("t") "}\n"), "none"},
    /* CTAs that stay */
    {K(" persistent ", S Y("s") T Z("t")), "s 0, t 0, u 16384"},
    /* with room for all: where an SM holds more CTAs */
    {TWO(S Y("s") T Z("t") "} }"), "s 0, t 16384"},
    {TWO("shared f32 a[64, 64] : (64, 64) : (64, 1);\n"
         "shared f32 b[64, 64] : (64, 64) : (64, 1);\n" S Y("s")
             T Z("t") "a[m, n] = X[i*64 + m, j*64 + n];\n" Y(
                 "a") "b[m, n] = X[i*64 + m, j*64 + n];\n" Z("b") "} }"),
     "s 0, t 0, a 0, b 0"},
    /* entities of a scope do not wait for one another: a tile of each */
    {K(" ", "warp (w : 0..8) {\n"
            "shared f32 a[8, 64]; shared f32 b[8, 64];\n"
            "a[m, n] = X[i*64 + w*8 + m, j*64 + n];\n"
            "Y[j*64 + n, i*64 + w*8 + m] = a[m, n];\n"
            "b[m, n] = X[i*64 + w*8 + m, j*64 + n];\n"
            "Z[j*64 + n, i*64 + w*8 + m] = b[m, n]; }\n"),
     "none"},
};

static void
test_places(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p = NULL;
        axe_buf         b = {.cx = cx};

        if (plan_for(cx, rows[i].text, "sm_90a", &p) != AXE_OK)
            axe_puts(&b, "none");
        for (int k = 0; p && k < p->n_place; k++)
            if (p->place[k].tensor &&
                strcmp(p->place[k].tensor->name, "rest") != 0 &&
                p->place[k].tensor->space == AXE_SPACE_SHARED)
                axe_putf(&b, "%s%s %" PRId64, b.text ? ", " : "",
                         p->place[k].tensor->name, p->place[k].offset);
        if (!b.text || strcmp(b.text, rows[i].want) != 0)
            fail_msg("row %d: %s, not %s", i, b.text, rows[i].want);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests_name("lifetimes", tests, NULL, NULL);
}
