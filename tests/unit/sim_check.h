/* sim_check.h - one grid at a time on two rows of numbers, and one of counters:
 * run it, and say what was found. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim.h"
#include "sim_grids.h"

static axe_ctx        *cx;
static maker           m;
static axe_sim_report  r;
static float           x[4096], y[4096];
static int64_t         counts[64];
static axe_sim_options with;

static inline int
set_up(void **state)
{
    (void)state;
    cx = axe_ctx_new();
    with = (axe_sim_options){0};
    for (int i = 0; i < AXE_LEN(x); i++) {
        x[i] = (float)i;
        y[i] = -1;
    }
    memset(counts, 0, sizeof counts);
    return 0;
}

static inline int
tear_down(void **state)
{
    (void)state;
    axe_ctx_free(cx);
    return 0;
}

/* Run the grid on x, y and counts, which its parameters have the shapes of. */
static inline axe_status
simulate(void)
{
    static int64_t shape[3][2];
    axe_sim_array  param[3] = {
         {x, shape[0], NULL}, {y, shape[1], NULL}, {counts, shape[2], NULL}};
    axe_sim_spec spec = {.param = param, .with = with};

    for (int i = 0; i < m.n_param; i++)
        for (int d = 0; d < 2; d++)
            shape[i][d] = m.param[i]->shape[d]->u.i;
    r = (axe_sim_report){0};
    return axe_simulate(cx, made(&m), &spec, &r);
}

static inline const char *
said(void)
{
    axe_buf b = {.cx = cx};

    axe_sim_report_print(cx, &b, &r);
    return b.text;
}

static inline void
run_clean(void)
{
    if (simulate() != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    if (r.n_finding > 0)
        fail_msg("%s", said());
}

/* Run and find it; its text has these words. */
static inline void
run_wrong(axe_sim_kind kind, const char *words)
{
    if (simulate() != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    for (int i = 0; i < r.n_finding; i++)
        if (r.finding[i].kind == kind && strstr(r.finding[i].text, words))
            return;
    fail_msg("no %s with '%s' in\n%s", axe_sim_kind_name(kind), words, said());
}

static inline node
lane(void)
{
    return id(&m, AXE_ID_LANE);
}

static inline node
n(int64_t v)
{
    return num(&m, v);
}

/* X and Y of one row, a CTA of these threads, registers r of f32. */
static inline const axe_tensor *
one_cta(const char *machine, int threads, int cluster, int blocks,
        const axe_tensor **px, const axe_tensor **py)
{
    make(&m, cx, machine, threads, cluster, blocks);
    *px = param(&m, "X", AXE_TYPE_f32, AXE_DIR_IN, 1, AXE_LEN(x));
    *py = param(&m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 1, AXE_LEN(y));
    return array(&m, "r", AXE_TYPE_f32, 8);
}

static inline axe_lir *
move(const char *name, axe_arg to, axe_arg from)
{
    return atom(&m, name, 0, 2, (axe_arg[]){to, from});
}

static inline node
f32_of(node integer_value)
{
    return axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f32, integer_value);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

#endif
