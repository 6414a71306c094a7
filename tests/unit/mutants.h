/* mutants.h - kernels of kernels/ in the simulator, as they are and with edits.
 */
#ifndef MUTANTS_H
#define MUTANTS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/sim.h"
#include "edits.h"
#include "ir/number.h"
#include "lower/lower.h"
#include "run/program.h"
#include "share.h"

enum { MAX_ARRAY = 5, RANK = 5 };

typedef struct subject {
    const char *file, *machine;
    struct {
        const char *name;
        int64_t     shape[RANK]; /* up to the first 0 */
    } array[MAX_ARRAY];
    const char     *bn;         /* the value of BN, or NULL */
    const char     *more[2][2]; /* further parameters and values; or NULL */
    const char     *kernel;     /* of several; or NULL */
    int64_t         step[MAX_ARRAY]; /* integers: element i is i * step */
    bool            typed;           /* it has no parameter T */
    axe_sim_options with;            /* in which order */
} subject;

/* What a test puts into which kernels. */
typedef struct mutants {
    int             n_subject, n_row;
    const subject  *subject;
    const mutation *row;
} mutants;

static axe_ctx *cx;
static mutants  set;

/* The last array of what was simulated last. */
static axe_array made;
static int64_t   made_bytes;

static inline const char *
slurp(const char *file, size_t *n)
{
    char *text = axe_alloc(cx, 1 << 16);
    FILE *f = fopen(axe_textf(cx, "%s/kernels/%s", AXE_SOURCE_DIR, file), "rb");

    assert_non_null(f);
    *n = fread(text, 1, (1 << 16) - 1, f);
    assert_int_equal(fclose(f), 0);
    return text;
}

static inline void
fail_with_diags(void)
{
    axe_buf said = {.cx = cx};

    axe_diags_print(cx, &said, false);
    fail_msg("%s", said.text);
}

static inline const axe_program *
compile(const subject *s)
{
    const axe_program *p = NULL;
    size_t             n;
    const char        *text = slurp(s->file, &n);
    const char        *name[4] = {"T"}, *value[4] = {"f16"};
    axe_compile_spec   spec = {.kernel = s->kernel,
                               .machine = s->machine,
                               .n_set = s->typed ? 0 : 1,
                               .set_name = name,
                               .set_value = value};

    if (s->bn) {
        name[spec.n_set] = "BN";
        value[spec.n_set++] = s->bn;
    }
    for (int i = 0; i < 2 && s->more[i][0]; i++) {
        name[spec.n_set] = s->more[i][0];
        value[spec.n_set++] = s->more[i][1];
    }
    if (axe_compile(cx, axe_source_add(cx, s->file, text, n), &spec,
                    AXE_STAGE_LOWER, &p) != AXE_OK)
        fail_with_diags();
    return p;
}

static inline void *
fill(int64_t n, axe_type t, int64_t step)
{
    char *x = axe_new_array(cx, char, axe_type_bytes(t, n));

    for (int64_t i = 0; i < n; i++)
        if (axe_number_is_power(t))
            axe_number_store(t, x, i, ldexp(1, (int)(i * 37 % 101 % 5)));
        else if (axe_type_is_float(t))
            axe_number_store(t, x, i, (double)(i * 37 % 101) / 50 - 1);
        else
            axe_number_put_int(t, x + axe_type_bytes(t, i), i * step);
    return x;
}

static inline axe_sim_report
simulate(const subject *s, const axe_program *p, axe_sim_options with)
{
    axe_sim_report r = {0};
    axe_array      array[MAX_ARRAY];
    int            n = 0;

    for (; n < MAX_ARRAY && s->array[n].name; n++) {
        axe_type t = p->kernel->param[n]->type;
        int      rank = 0;
        int64_t  size = 1;
        while (rank < RANK && s->array[n].shape[rank] > 0)
            size *= s->array[n].shape[rank++];
        made_bytes = axe_type_bytes(t, size);
        array[n] = (axe_array){.name = s->array[n].name,
                               .type = axe_type_table[t].name,
                               .rank = rank,
                               .shape = s->array[n].shape,
                               .data = fill(size, t, s->step[n])};
    }
    made = array[n - 1];
    with.n_sm = 2;
    with.max_step = 2000000;
    if (axe_program_simulate(cx, p, n, array, 0, NULL, &with, &r) != AXE_OK)
        fail_with_diags();
    return r;
}

static inline const char *
said(const axe_sim_report *r)
{
    axe_buf b = {.cx = cx};

    axe_sim_report_print(cx, &b, r);
    return b.text;
}

/* Nothing is found in any kernel, in many orders of events. */
static inline void
test_clean(void **state)
{
    int orders = 10 / share();

    (void)state;
    for (int w = 0; w < set.n_subject; w++) {
        cx = axe_ctx_new();
        const axe_program *p = compile(&set.subject[w]);
        for (int i = 0; i < orders; i++) {
            axe_sim_options with = {.policy = i < 2 ? (axe_sim_policy)i
                                                    : AXE_SIM_RANDOM,
                                    .seed = (uint64_t)i};
            axe_sim_report  r = simulate(&set.subject[w], p, with);
            if (r.n_finding > 0)
                fail_msg("%s, order %d: %s", set.subject[w].file, i, said(&r));
        }
        axe_ctx_free(cx);
    }
}

static inline bool
run_row(const subject *of, const mutation *r)
{
    const axe_program *p = compile(of);
    axe_grid          *g = &p->lowered->grid[p->lowered->n_grid - 1];
    int                left = r->nth;
    axe_sim_report     out;

    if (edit_grid(cx, r, g, &left) == 0) {
        print_error("%s: there is no %s number %d\n", r->what, r->atom, r->nth);
        return false;
    }
    out = simulate(of, p, of->with);
    for (int i = 0; i < out.n_finding; i++)
        if (r->kinds >> out.finding[i].kind & 1)
            return true;
    if (r->kinds == 0 && out.n_finding == 0)
        return true;
    print_error("%s: %s %s\n", of->file, r->what, said(&out));
    return false;
}

/* Every edit is found, and called what it is. */
static inline void
test_mutations(void **state)
{
    int n_missed = 0;

    (void)state;
    for (int i = 0; i < set.n_row; i += share()) {
        cx = axe_ctx_new();
        n_missed += !run_row(&set.subject[set.row[i].kernel], &set.row[i]);
        axe_ctx_free(cx);
    }
    assert_int_equal(n_missed, 0);
}

/* All of main() for the set. */
static inline int
run_mutants(int n_subject, const subject *subjects, int n_row,
            const mutation *rows)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_mutations),
    };

    set = (mutants){n_subject, n_row, subjects, rows};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
