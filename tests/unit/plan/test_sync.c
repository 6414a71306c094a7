/* test_sync.c - where workers have barriers between the scopes of a kernel: one
 * digit a scope or barrier, 1 where they do. */
#include "plan/cpu/schedule.h"
#include "planned.h"

#define HEAD                                                                   \
    "kernel k(in f32 X[M, N], out f32 Y[M, N], out f32 Z[N]) {"                \
    " index m, n, r; global f32 t[M, N]; global f32 u[cdiv(M, 8), N]; "
#define FILL "cta (i : M by 8) t[i*8 + m, n] = X[i*8 + m, n]; "
#define TAIL "}"

/* clang-format off */
static const struct {
    const char *text, *barrier;
} row[] = {
    /* rows of one entity, read by the same one */
    {FILL "cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m, n];", "0"},
    {FILL "cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + 7 - m, n];", "1"},
    {FILL "cta (i : M by 8) { reg f32 a[4]; a[r] = t[i*8 + r + 4, 0]; Y[i*8 + r, 0] = a[r]; }", "0"},
    /* as many entities as the iteration says: others in the next one */
    {"for (p : 3) { cta (i : p + 1) { reg f32 a[8] = 0; a[r] = X[i, 0]; t[i*8 + r, n] = a[r]; }"
     " cta (i : p + 1) { reg f32 b[8]; b[r] = t[i*8 + r, 0]; Y[i*8 + r, 0] = b[r]; } }", "11"},
    /* by another */
    {"cta (i : M by 16) t[i*16 + m, n] = X[i*16 + m, n]; cta (i : M by 16) { reg f32 a[10]; "
     "a[r] = t[i*16 + 2*r, 0]; Y[i*16 + r, 0] = a[r]; }", "1"},
    {"cta (i : M by 16) { reg f32 a[8]; a[r] = X[i*16 + r, 0]; t[i*16 + r, 0] = a[r]; }"
     " cta (i : M by 16) { reg f32 a[8]; a[r] = t[i*8 + r, 0]; Y[i*16 + r, 0] = a[r]; }", "1"},
    /* tiles that begin elsewhere */
    {"cta (i : M by 16) { reg f32 c[16, 48] = 0; shared f32 a[16, 8]; shared f32 b[8, 48]; "
     "for (p : N by 8) { a[m, r] = X[i*16 + m, p*8 + r]; b[r, n] = X[p*8 + r, n + 1]; "
     "c[m, n] += a[m, r]*b[r, n]; } t[i*16 + m, n + 1] = c[m, n]; } "
     "cta (i : M by 16) Y[i*16 + m, n] = t[i*16 + m, n];", "1"},
    {FILL "cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m + 1, n];", "1"},
    {FILL "cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m - 1, n];", "1"},
    {FILL "cta (i : M by 4) Y[i*4 + m, n] = t[i*4 + m, n];", "1"},
    {FILL "cta (i : N by 8) Y[i*8 + m, n] = t[i*8 + m, n];", "1"},
    {FILL "cta (i : M by 8, j : N by 8) Y[i*8 + m, j*8 + n] = t[i*8 + m, j*8 + n];", "1"},
    {FILL "cta (j : N by 8) Z[j*8 + n] = sum[m](t[m, j*8 + n]);", "1"},
    /* written again */
    {FILL "cta (i : M by 8) t[i*8 + m, n] = 0;" "cta (i : M) Y[i, n] = t[i, n];", "01"},
    {FILL "cta (j : N by 8) t[m, j*8 + n] = 0;" "cta (j : N by 8) Y[m, j*8 + n] = t[m, j*8 + n];", "10"},
    {"cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n]; cta (j : N by 8) Z[j*8 + n] = X[0, j*8 + n];", "0"},
    {"cta (i : M by 8) u[i, n] = X[i*8, n]; cta (i : M by 8) Y[i, n] = u[i, n];", "0"},
    {"cta (i : M by 8) u[i, n] = X[i*8, n]; cta (i : M by 8) Y[i, n] = u[i + 1, n];", "1"},
    /* an element that says where to write */
    {"cta (i : M by 8) { reg f32 a[8]; a[m] = X[i*8 + m, 0]; u[i, 0] = a[0]; } cta (i : N by 8) Z[i64(u[i*8 + m, 0])] = 1;", "1"},
    /* one barrier serves all before it */
    {FILL "cta (j : N by 8) Z[j*8 + n] = sum[m](t[m, j*8 + n]);"
     "cta (i : M) Y[i, n] = t[i, n];", "10"},
    {FILL "barrier; cta (j : N by 8) Z[j*8 + n] = sum[m](t[m, j*8 + n]);", "10"},
    {FILL "cta (i : M by 8) { barrier; Y[i*8 + m, n] = t[i*8 + m, n]; }", "0"},
    /* what an iteration of a loop leaves is there in the next one */
    {FILL "for (p : 3) { cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m, n];"
     " cta (j : N by 8) t[m, j*8 + n] = Y[m, j*8 + n]; }", "11"},
    {FILL "for (p : 3) { cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m, n]; }", "0"},
    /* there may be none */
    {FILL "for (p : M) { barrier; } cta (j : N) Y[m, j] = t[m, j];", "11"},
    {FILL "for (p : 3) { cta (i : M by p + 1) Y[i, n] = t[i, n]; }", NULL},
    {FILL "for (p : 3) { for (q : 2) { cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m, n]; }"
     " cta (i : M) t[i, n] = X[i, n]; }", "11"},
    /* either branch */
    {FILL "if (M > N) { cta (j : N by 8) t[m, j*8 + n] = 1; } cta (i : M by 8) Y[i*8 + m, n] = t[i*8 + m, n];", "11"},
    {FILL "if (M > N) { barrier; } else { barrier; } cta (j : N) Y[m, j] = t[m, j];", "110"},
    {FILL "if (M > N) { barrier; } cta (j : N) Y[m, j] = t[m, j];", "11"},
    /* whoever comes takes the entities of a group */
    {"overlap { cta (i : M by 8) t[i*8 + m, n] = X[i*8 + m, n]; cta (i : M by 8) u[i*8 + m, n] = t[M - 1 - i*8 - m, n]; } "
     "cta (i : M by 8) Y[i*8 + m, n] = u[i*8 + m, n];", "01"},
    {FILL "overlap { cta (i : M by 8) u[i*8 + m, n] = t[i*8 + m, n]; cta (i : M by 8) Y[i*8 + m, n] = u[i*8 + m, n]; }", "1"},
    /* entities of a core scope */
    {"core (c) { Y[c, n] = X[c, n]; } core (c) if (c == 0) Z[n] = sum[m](Y[m, n]);", "1"},
    {"core (c) { t[c, n] = X[c, n]; } core (c) Y[c, n] = t[c, n];", "0"},
    {"core (c) { t[c, n] = X[c, n]; } cta (i : M) Y[i, n] = t[i, n];", "1"},
};
/* clang-format on */

static axe_status
plan_of(axe_ctx *cx, const char *body, const axe_plan **out)
{
    return plan_for(cx, axe_textf(cx, "%s%s%s", HEAD, body, TAIL), "cpu-avx2",
                    out);
}

static void
test_barriers(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        axe_buf         got = {.cx = cx};
        axe_status      st = plan_of(cx, row[i].text, &p);
        if ((st == AXE_OK) != (row[i].barrier != NULL))
            fail_msg("row %d: %s", i, axe_last_error(cx));
        for (int k = 0; st == AXE_OK && k < p->core->n_wait; k++) {
            assert_non_null(p->core->wait[k].why);
            axe_putc(&got, p->core->wait[k].barrier ? '1' : '0');
        }
        if (st == AXE_OK && strcmp(got.text, row[i].barrier) != 0)
            fail_msg("row %d: %s, not %s", i, got.text, row[i].barrier);
        axe_ctx_free(cx);
    }
}

/* The kernel's own tensors that one worker writes and another touches. */
static void
test_exchanged(void **state)
{
    static const struct {
        const char *text, *names;
    } rows[] = {
        {FILL "cta (i : M by 8) u[i, n] = X[i*8, n]; cta (i : M by 8) Y[i, n] "
              "= u[i, n];",
         "u "},
        {"overlap { cta (i : M by 8) t[i*8 + m, n] = X[i*8 + m, n]; "
         "cta (i : M by 8) Y[i*8 + m, n] = t[M - 1 - i*8 - m, n]; }",
         "overlap0.done t "},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        axe_buf         got = {.cx = cx};

        assert_int_equal(plan_of(cx, rows[i].text, &p), AXE_OK);
        for (int k = 0; k < p->kernel->n_temp; k++)
            if (p->core->exchanged[p->kernel->temp[k]->id])
                axe_putf(&got, "%s ", p->kernel->temp[k]->name);
        assert_string_equal(got.text, rows[i].names);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_barriers),
                                       cmocka_unit_test(test_exchanged)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
