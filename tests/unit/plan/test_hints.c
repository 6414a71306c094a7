/* test_hints.c - levers that change no result: which range comes first, moves
 * straight from registers, hints to the caches; what they make of plans, code
 * and estimates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/run.h"
#include "plan/cost/simt.h"
#include "run/program.h"

static axe_status
compile(axe_ctx *cx, const char *text, const char *machine,
        const axe_program **out)
{
    int32_t src = axe_source_add(cx, "t.axe", text, strlen(text));

    return axe_compile(cx, src, &(axe_compile_spec){.machine = machine},
                       AXE_STAGE_C, out);
}

/* A product by boxes; b's copy, the result's store and the tiles' order are the
 * row's. */
static const char *
product(axe_ctx *cx, const char *tiles, const char *share, const char *load,
        const char *store)
{
    return axe_textf(
        cx,
        "kernel g(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) { index m, "
        "n, k; cluster (2) cta persistent (t : tiles(M by 128, N by 128%s)) "
        "warpgroups 2 { pipeline r[2] { shared f16 a[128, 64]%s; shared f16 "
        "b[128, 64]%s; } roles { warpgroup (0) for (q : K by 64) produce r { "
        "r.a[m, k] = A[t.i*128 + m, q*64 + k]; r.b[n, k] = B[t.j*128 + n, "
        "q*64 + k] %s; } warpgroup (1) { reg f32 c[128, 128] = 0; for (q : K "
        "by 64) consume r c[m, n] += r.a[m, k] * r.b[n, k]; C[t.i*128 + m, "
        "t.j*128 + n] = f16(c[m, n]) %s; } } } }",
        tiles, *share == 'a' ? " : auto + [2 : 1@cta]" : "",
        *share == 'b' ? " : auto + [2 : 1@cta]" : "", load, store);
}

static const struct {
    const char *tiles, *share, *load, *store;
    const char *has, *lacks; /* the code, or the error */
} row[] = {
    {"", "b", "", "", "tma_store_2", "policy"},
    {"", "b", "", "evict_first",
     "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint "
     "[%0, {%1, %2}], [%3], %4;",
     "evict_last"},
    {"", "b", "evict_last", "",
     "multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;",
     "evict_first"},
    {"", "b", "evict_last = 0", "evict_first = 0", "tma_load_multicast_2",
     "policy"},
    {"", "b", "evict_last = 1", "evict_first = 1", "tma_store_2_evict_first",
     "tma_load_multicast_2("},
    {"", "b", "", "via map", "st_global_b32(", "tma_store"},
    {"", "b", "", "via map evict_first", "st_global_b32_evict_first(",
     "tma_store"},
    {"", "b", "via map", "", "ld_global_b128(", "tma_load_multicast"},
    {"", "a", "", "",
     "`r.a` holds the same in 2 ctas of a cluster, but this depends on which "
     "one it is",
     "tma_load"},
    {", along = 1", "a", "", "", "tma_load_multicast_2", "policy"},
    {", group = 4, along = 1", "a", "", "", "tma_load_multicast_2", "policy"},
    {", along = 0", "b", "", "", "tma_load_multicast_2", "policy"},
};

/* Without what splits the text of an asm over lines. */
static const char *
joined(axe_ctx *cx, const char *text)
{
    axe_buf b = {.cx = cx};

    for (const char *s = text; *s; s++) {
        size_t n = s[0] == '"' && s[1] == '\n' ? 2 + strspn(s + 2, " ") : 0;
        if (n > 0 && s[n] == '"')
            s += n;
        else
            axe_putc(&b, *s);
    }
    return b.text;
}

static void
test_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        const char        *text =
            product(cx, row[i].tiles, row[i].share, row[i].load, row[i].store);
        const char *got = compile(cx, text, "sm_90a", &p) == AXE_OK
                              ? joined(cx, p->c_text)
                              : axe_last_error(cx);
        if (!strstr(got, row[i].has) || strstr(got, row[i].lacks))
            fail_msg("row %zu: %s", i, got);
        axe_ctx_free(cx);
    }
}

/* On machines or in statements that have no use for a hint. */
static const struct {
    const char *machine, *body, *want;
} refused[] = {
    {"cpu-avx512", "Y[i*64 + m] = X[i*64 + m] evict_last",
     "cpu-avx512 has no rows that take hints to its caches"},
    {"sm_80", "y[m] = x[m] evict_last",
     "`evict_last` is for what moves to or from global memory, and no row that "
     "takes hints does so here"},
    {"sm_80", "Y[i*64 + m] = X[i*64 + m] evict_last = M",
     "the value of `evict_last` must be a compile-time integer, and `M` is not "
     "one"},
    {"sm_80", "Y[i*64 + m] = X[i*64 + m] evict_last = 3",
     "`evict_last` is 0 or 1, not 3"},
};

static void
test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < AXE_LEN(refused); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        const char        *text = axe_textf(
                   cx,
                   "kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by "
                          "64) { reg f32 x[64] = 1; reg f32 y[64]; y[m] = x[m]; Y[i*64 + "
                          "m] = y[m]; %s; } }",
                   refused[i].body);
        if (compile(cx, text, refused[i].machine, &p) == AXE_OK ||
            !strstr(axe_last_error(cx), refused[i].want))
            fail_msg("row %zu: %s", i, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

/* ------------------------------------------------------------------ estimate
 */

/* [bytes] from and to memory of passes over X, whose rows other CTAs read
 * again, and Z, which nobody does. */
static double
memory_bytes(const char *x, const char *z, int64_t m)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p;
    axe_simt_cost      c;
    const char        *text = axe_textf(
               cx,
               "kernel k(in f32 X[M, 256], in f32 Z[64, M, 256], out f32 Y[64, M, 8]) "
                      "{ index a, b, c; cta (r : 64, i : M by 8) { reg f32 s[8, 8]; reg f32 "
                      "t[8, 8]; s[a, c] = sum[b](X[i*8 + a, b]) %s; t[a, c] = "
                      "sum[b](Z[r, i*8 + a, b]) %s; Y[r, i*8 + a, c] = s[a, c] + t[a, c]; } "
                      "}",
               x, z);

    if (compile(cx, text, "sm_90a", &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_simt_cost_plan(cx, p->plan, &m, &c);
    axe_ctx_free(cx);
    return c.memory_bytes;
}

/* X is 40 MiB and Z as much for each pass: X stays in 50 MiB if Z leaves first,
 * or if it stays itself; and asked to leave, it does where it would have fit.
 */
static void
test_estimate(void **state)
{
    double mib = 1 << 20, z = 64 * 40 * mib, y = 64 * 40960 * 32.0;

    (void)state;
    assert_true(memory_bytes("", "", 40960) > 2 * z);
    assert_true(memory_bytes("", "evict_first", 40960) < z + y + 41 * mib);
    assert_true(memory_bytes("evict_last", "", 40960) < z + y + 41 * mib);
    assert_true(memory_bytes("evict_last", "evict_last", 40960) > 2 * z);
    assert_true(memory_bytes("evict_first", "evict_first", 40960) > 2 * z);
    assert_true(memory_bytes("evict_first", "", 4096) >
                memory_bytes("", "", 4096) + 60 * 4 * mib);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_estimate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
