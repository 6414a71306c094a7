/* test_prove.c - the certificate by algebra: it holds for plans as they are,
 * and for no plan whose addresses were changed. */
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "planned.h"

static const char *const kernels[] = {
    "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) { "
    "index m, n, k; cta (i : M by 64, j : N by 96) { reg f32 c[64, 96] = 0; "
    "shared f32 a[64, 32]; shared f32 b[96, 32]; for (t : K by 32) { "
    "a[m, k] = A[i*64 + m, t*32 + k]; b[n, k] = B[j*96 + n, t*32 + k]; "
    "c[m, n] += a[m, k] * b[n, k]; } C[i*64 + m, j*96 + n] = c[m, n]; } }",
    "kernel k(in f32 X[M], out f32 Y[M]) { index a, b, c; cta (i : M by 512) { "
    "reg f32 x[8, 64] : (8, (16, 4)) : (64, (1, 16)); "
    "x[a, b] = X[i*512 + a*64 + b]; "
    "for (t : 4) for (u : 2) Y[i*512 + t*128 + u*64 + c] = x[2*t + u, c]; } }",
    /* two folds over one index */
    "kernel k(in f32 X[M, 6], out f32 Y[M]) { index m, c; cta (i : M by 13) { "
    "reg f32 x[13, 6] : (13, 6) : (1, 13); x[m, c] = X[i*13 + m, c]; "
    "Y[i*13 + m] = sum[c](x[m, c]) + min[c](x[m, 5 - c] + X[i*13 + m, c]); } }",
    "kernel k(in f32 X[M], out f32 Y[M]) { index a, b; cta (i : M by 64) { "
    "reg f32 x[8, 8] = 0; x[a, a] = X[i*64 + a]; "
    "for (t : 7) x[t + 1, 3] = 5; "
    "for (t : 8) Y[i*64 + 8*t + b] = x[7 - t, b]; } }",
};

/* Every stride, the base, each in turn one more: how many are noticed. */
static int
mutate(axe_planner *pl, const axe_schedule *s, const axe_operand *op)
{
    axe_operand wrong = *op;
    int         n = 0;

    wrong.base = axe_node2(pl->cx, AXE_OP_add, op->base,
                           axe_iconst(pl->cx, AXE_NOWHERE, AXE_TYPE_INDEX, 1));
    assert_int_equal(axe_prove_operand(pl, s, &wrong), AXE_PROOF_WRONG);
    for (int t = 0; t < op->n_term; t++)
        for (int k = 0; k < op->term[t].n_iter; k++) {
            axe_iter *it = (axe_iter *)&op->term[t].iter[k];
            if (it->extent == 1)
                continue;
            it->stride++;
            assert_int_equal(axe_prove_operand(pl, s, op), AXE_PROOF_WRONG);
            it->stride--;
            n++;
        }
    return n;
}

static void
test_mutations(void **state)
{
    static const char *const machine[] = {"cpu-avx512", "cpu-base"};
    int                      n = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(kernels) * AXE_LEN(machine); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        if (plan_for(cx, kernels[i / 2], machine[i % 2], &p) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        axe_planner pl = {.cx = cx,
                          .kernel = p->kernel,
                          .mc = p->machine,
                          .place = p->place,
                          .target = p->target};
        for (int k = 0; k < p->n_schedule; k++) {
            const axe_schedule *s = p->schedule[k];
            assert_int_equal(s->n_equal, s->n_tile);
            for (int j = 0; j < s->n_operand; j++) {
                const axe_operand *op = &s->operand[j];
                if (op->tensor->space == AXE_SPACE_GLOBAL)
                    continue;
                assert_int_equal(axe_prove_operand(&pl, s, op),
                                 AXE_PROOF_EQUAL);
                n += mutate(&pl, s, op);
            }
        }
        axe_ctx_free(cx);
    }
    assert_true(n >= 60);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
