/* map_rows.h - kernels in the simulator: what they compute against the
 * reference, and what they do it with. */
#ifndef MAP_ROWS_H
#define MAP_ROWS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/sim.h"
#include "ir/number.h"
#include "lower/lower.h"
#include "run/program.h"

enum { MAX_SIZE = 3, MAX_ARRAY = 4 };

typedef struct row {
    const char *name, *text;
    int64_t     size[MAX_SIZE]; /* in order of appearance */
    const char *atoms;          /* that do something, each of these words */
    const char *never;          /* that do nothing, or "" */
    int64_t     written;   /* [bytes] to global memory: each element once */
    int64_t     conflicts; /* -1: of no interest */
} row;

typedef struct run {
    axe_ctx           *cx;
    const axe_program *p;
    int                n_size, n_array;
    axe_size           size[MAX_SIZE];
    axe_array          array[MAX_ARRAY];
} run;

static inline void
fail_row(axe_ctx *cx, const row *r)
{
    axe_buf said = {.cx = cx};

    axe_diags_print(cx, &said, false);
    fail_msg("%s: %s", r->name, said.text ? said.text : "?");
}

static inline bool
compile(run *x, const row *r, const char *machine)
{
    axe_compile_spec spec = {.machine = machine};
    int32_t source = axe_source_add(x->cx, r->name, r->text, strlen(r->text));

    return axe_compile(x->cx, source, &spec, AXE_STAGE_LOWER, &x->p) == AXE_OK;
}

/* Small numbers, so that sums of any order are alike but for rounding. */
static inline void
fill(axe_array *a, const axe_tensor *t)
{
    int64_t  n = 1, size = axe_type_table[t->type].bits / 8;
    uint32_t seed = 1;

    for (int d = 0; d < t->rank; d++)
        n *= a->shape[d];
    a->data = calloc((size_t)n + 1, (size_t)size);
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)a->data + i * size;
        seed = seed * 1664525u + 1013904223u;
        if (axe_type_is_float(t->type))
            axe_number_put(t->type, at, (int)(seed >> 24) / 32.0 - 4);
        else
            axe_number_put_int(t->type, at, seed >> 30);
    }
}

static inline void
make_arrays(run *x, const row *r)
{
    const axe_kernel *k = x->p->kernel;
    axe_shape         shape[MAX_ARRAY];

    x->n_size = k->n_size;
    x->n_array = k->n_param;
    for (int i = 0; i < k->n_size; i++)
        x->size[i] = (axe_size){k->size[i]->name, r->size[i]};
    if (axe_program_shapes(x->cx, x->p, 0, NULL, x->n_size, x->size, shape) !=
        AXE_OK)
        fail_row(x->cx, r);
    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];
        x->array[i] = (axe_array){.name = t->name,
                                  .type = axe_type_table[t->type].name,
                                  .rank = t->rank,
                                  .shape = shape[i].extent};
        fill(&x->array[i], t);
    }
}

/* Has an atom whose name begins so done something? */
static inline bool
has_done(const axe_sim_report *s, const char *word, size_t n)
{
    for (int i = 0; i < s->n_count; i++)
        if (strncmp(s->count[i].name, word, n) == 0 && s->count[i].n > 0)
            return true;
    return false;
}

static inline void
check_atoms(const row *r, const axe_sim_report *s)
{
    for (const char *w = r->atoms; *w; w += strspn(w, " ")) {
        size_t n = strcspn(w, " ");
        if (!has_done(s, w, n))
            fail_msg("%s: no %.*s", r->name, (int)n, w);
        w += n;
    }
    for (int i = 0; i < s->n_count && *r->never; i++)
        for (const char *w = r->never; *w; w += strspn(w, " ")) {
            char   word[32];
            size_t n = strcspn(w, " ");
            snprintf(word, sizeof word, "%.*s", (int)n, w);
            if (s->count[i].n > 0 && strstr(s->count[i].name, word))
                fail_msg("%s: %s", r->name, s->count[i].name);
            w += n;
        }
}

static inline void
check_report(run *x, const row *r, const axe_sim_report *s)
{
    axe_buf said = {.cx = x->cx};

    if (s->n_finding > 0) {
        axe_sim_report_print(x->cx, &said, s);
        fail_msg("%s: %s", r->name, said.text);
    }
    check_atoms(r, s);
    if (r->written > 0 && s->global_written != r->written)
        fail_msg("%s: %" PRId64 " bytes written", r->name, s->global_written);
    if (r->conflicts >= 0 && s->conflicts != r->conflicts)
        fail_msg("%s: %" PRId64 " conflicts", r->name, s->conflicts);
}

static inline void
compare(run *x, const row *r, const axe_reference *ref)
{
    axe_difference d;

    for (int i = 0; i < x->n_array; i++) {
        if (x->p->kernel->param[i]->dir == AXE_DIR_IN)
            continue;
        if (axe_reference_compare(x->cx, ref, &x->array[i], &d) != AXE_OK)
            fail_row(x->cx, r);
        if (d.n_wrong > 0)
            fail_msg("%s: element %" PRId64 " is %g, not %g", r->name, d.worst,
                     d.got, d.want);
    }
}

/* What was compiled into x, run and compared; x ends with it. */
static inline void
run_compiled(axe_device *dev, const row *r, run *x, int64_t read)
{
    axe_reference  *ref;
    axe_sim_options how = {.policy = AXE_SIM_LAZY};
    axe_sim_report  s;

    make_arrays(x, r);
    if (axe_reference_new(x->cx, dev, x->p, x->n_array, x->array, x->n_size,
                          x->size, &ref) != AXE_OK ||
        axe_program_simulate(x->cx, x->p, x->n_array, x->array, x->n_size,
                             x->size, &how, &s) != AXE_OK)
        fail_row(x->cx, r);
    check_report(x, r, &s);
    if (read >= 0 && s.global_read != read)
        fail_msg("%s: %" PRId64 " bytes read", r->name, s.global_read);
    compare(x, r, ref);
    axe_reference_free(ref);
    for (int i = 0; i < x->n_array; i++)
        free(x->array[i].data);
    axe_ctx_free(x->cx);
}

static inline void
run_row(axe_device *dev, const row *r, const char *machine, int64_t read)
{
    run x = {.cx = axe_ctx_new()};

    if (!compile(&x, r, machine))
        fail_row(x.cx, r);
    run_compiled(dev, r, &x, read);
}

#endif
