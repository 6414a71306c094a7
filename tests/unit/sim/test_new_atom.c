/* test_new_atom.c - an instruction that no GPU has, as one more row: a warp's
 * outer product of 8 by 8.  It is chosen, printed and simulated, and no line of
 * planner, printer or simulator knows of it. */
#include <stdio.h>
#include <stdlib.h>

#include "grids.h"
#include "planned.h"
#include "print/cuda/cuda.h"
#include "sim/sim.h"

/* Lane 4 i + j has c[i, 2 j] and c[i, 2 j + 1]; four lanes share an element of
 * a, eight two of b. */
static const axe_atom outer = {
    .name = "outer.m8n8.f32",
    .kind = AXE_ATOM_CONTRACT,
    .d = "[m, n] (8, (4, 2)) : (4@lane, (1@lane, 1@reg))",
    .a = "[m, k] (8, 1) : (4@lane, 1@reg) + [4 : 1@lane]",
    .b = "[n, k] ((4, 2), 1) : ((1@lane, 1@reg), 2@reg) + [8 : 4@lane]",
    .type = {AXE_TYPE_f32, AXE_TYPE_f32, AXE_TYPE_f32},
    .cost = 0.1,
    .needs = "sm80",
    .text = "8 x 8 x 1",
    .by = AXE_SCOPE_WARP,
    .space = {AXE_ARG_REG, AXE_ARG_REG, AXE_ARG_REG},
    .group = "",
    .fold = AXE_FOLD_SUM,
    .asm_text = "fma.rn.f32 $0.0, $1, $2.0, $0.0; "
                "fma.rn.f32 $0.1, $1, $2.1, $0.1;",
};

static const char gemm[] =
    "kernel product(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {"
    " index m, n, k; cta (i : M by 32, j : N by 32) { reg f32 c[32, 32] = 0;"
    " pipeline ring[2] { shared f32 a[32, 8]; shared f32 b[32, 8]; }"
    " for (t : K by 8) { produce ring {"
    " ring.a[m, k] = A[i*32 + m, t*8 + k];"
    " ring.b[n, k] = B[j*32 + n, t*8 + k]; }"
    " consume ring { c[m, n] += ring.a[m, k] * ring.b[n, k]; } }"
    " C[i*32 + m, j*32 + n] = c[m, n]; } }";

static const axe_lowered *
lower(axe_ctx *cx, const axe_machine *mc)
{
    const axe_plan    *p;
    const axe_lowered *l = NULL;

    if (plan_on(cx, gemm, mc, &p) != AXE_OK || axe_lower(cx, p, &l) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return l;
}

static const axe_machine *
with_outer(axe_ctx *cx)
{
    const axe_machine *old;
    axe_machine       *mc = axe_new(cx, axe_machine);
    axe_atom          *atom;

    assert_int_equal(axe_machine_find(cx, "sm_80", &old), AXE_OK);
    *mc = *old;
    atom = axe_new_array(cx, axe_atom, old->n_atom + 1);
    memcpy(atom, old->atom, (size_t)old->n_atom * sizeof *atom);
    atom[mc->n_atom++] = outer;
    mc->atom = atom;
    return mc;
}

static int
count(const axe_lblock *b, const char *name)
{
    int n = 0;

    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        n += l->kind == AXE_LIR_ATOM && strcmp(l->atom->name, name) == 0;
        n += count(&l->body, name) + count(&l->other, name);
    }
    return n;
}

/* Chosen with the row, and not without it. */
static void
test_chosen(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *old;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_80", &old), AXE_OK);
    assert_true(count(&lower(cx, with_outer(cx))->grid[0].body, outer.name) >
                0);
    assert_int_equal(count(&lower(cx, old)->grid[0].body, outer.name), 0);
    axe_ctx_free(cx);
}

static void
test_printed(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_buf  b = {.cx = cx};

    (void)state;
    assert_int_equal(axe_print_cuda(cx, lower(cx, with_outer(cx)), false, &b),
                     AXE_OK);
    assert_non_null(strstr(
        b.text, "outer_m8n8_f32(float *d, const float *a, const float *b)\n"
                "{\n"
                "    asm(\"fma.rn.f32 %0, %2, %3, %0; "
                "fma.rn.f32 %1, %2, %4, %1;\"\n"));
    assert_non_null(strstr(b.text, "outer_m8n8_f32(r_c"));
    axe_ctx_free(cx);
}

/* 40 x 24 x 20: ragged in all three. */
static void
test_simulated(void **state)
{
    enum { M = 40, N = 24, K = 20 };
    static float        a[M * K], b[N * K], c[M * N];
    axe_ctx            *cx = axe_ctx_new();
    const axe_lowered  *l = lower(cx, with_outer(cx));
    const int64_t       sa[] = {M, K}, sb[] = {N, K}, sc[] = {M, N};
    int64_t             size[3];
    axe_sim_report      rep;
    axe_buf             said = {.cx = cx};
    const axe_sim_array x[3] = {{.data = a, .shape = sa},
                                {.data = b, .shape = sb},
                                {.data = c, .shape = sc}};
    axe_sim_spec        spec = {.param = x, .size = size, .with = {.seed = 1}};

    (void)state;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < N * K; i++)
        b[i] = (float)(i * 5 % 13 - 6);
    for (int i = 0; i < 3; i++) {
        const char *name = l->plan->kernel->size[i]->name;
        size[i] = *name == 'M' ? M : *name == 'N' ? N : K;
    }
    if (axe_simulate(cx, l, &spec, &rep) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_sim_report_print(cx, &said, &rep);
    if (rep.n_finding > 0)
        fail_msg("%s", said.text);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float want = 0;
            for (int k = 0; k < K; k++)
                want += a[i * K + k] * b[j * K + k];
            if (c[i * N + j] != want)
                fail_msg("C[%d, %d] is %g, not %g", i, j, (double)c[i * N + j],
                         (double)want);
        }
    axe_ctx_free(cx);
}

static const char roles[] =
    "kernel k(in f32 X[N], out f32 Y[N]) { index m; cta (i : 4) warps 2 {"
    " pipeline ring[2] { shared f32 a[64]; } roles {"
    " warp (0) for (t : N by 256) produce ring ring.a[m] = X[t*256 + i*64 + m];"
    " warp (1) for (t : N by 256) consume ring Y[t*256 + i*64 + m] = ring.a[m];"
    " } } }";

/* Copies that a barrier counts the bytes of: what their group is called is in
 * the rows alone. */
static void
test_renamed(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *old;
    const axe_plan    *p;
    const axe_lowered *l = NULL;
    axe_buf            text[2] = {{.cx = cx}, {.cx = cx}};

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_90a", &old), AXE_OK);
    axe_machine mc = *old;
    axe_atom   *atom = axe_new_array(cx, axe_atom, old->n_atom);
    for (int i = 0; i < old->n_atom; i++) {
        atom[i] = old->atom[i];
        if (strcmp(atom[i].group, "tx") == 0)
            atom[i].group = "counted";
    }
    mc.atom = atom;
    for (int i = 0; i < 2; i++) {
        if (plan_on(cx, roles, i == 0 ? old : &mc, &p) != AXE_OK ||
            axe_lower(cx, p, &l) != AXE_OK ||
            axe_print_cuda(cx, l, false, &text[i]) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        assert_true(count(&l->grid[0].body, "mbarrier.expect") > 0);
    }
    assert_string_equal(text[0].text, text[1].text);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_renamed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
