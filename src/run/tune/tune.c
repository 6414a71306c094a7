/* tune.c - the search: plan all, rank them, keep the best of those measured. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine/machine.h"
#include "plan/cost/cost.h"
#include "run/array/handle.h"
#include "run/program.h"
#include "run/tune/tune_int.h"

enum { MAX_PLAN = 4096, MANY_BEST = 24 };

/* Of the time for planning, for evenly chosen combinations. */
#define EVENLY 0.7

static const double default_budget = 30, /* seconds */
    plan_share = 0.3;                    /* of the budget, for planning */

double
axe_tuner_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool
axe_tuner_stopped(axe_tuner *t)
{
    if (t->spec->stop && t->spec->stop(t->spec->user))
        t->result->stopped = true;
    return t->result->stopped;
}

bool
axe_tuner_over(const axe_tuner *t, double share)
{
    return axe_tuner_now() - t->begin > share * t->budget;
}

void
axe_tuner_report(const axe_tuner *t, const char *doing)
{
    if (t->spec->progress)
        t->spec->progress(t->spec->user, t->result, doing);
}

/* -------------------------------------------------------------- candidates */

static axe_status
find_varied(axe_tuner *t)
{
    int         *varied = axe_new_array(t->cx, int, t->sig.n_const);
    const char **name = axe_new_array(t->cx, const char *, t->sig.n_const);
    int          n = 0;

    for (int i = 0; i < t->sig.n_const; i++)
        if (t->sig.n_domain[i] > 0 &&
            !axe_spec_sets(&t->fit, t->sig.const_name[i])) {
            name[n] = t->sig.const_name[i];
            varied[n++] = i;
        }
    t->varied = varied;
    t->result->n_param = n;
    t->result->param = name;
    if (n > 0)
        return AXE_OK;
    axe_fail(t->cx, AXE_NOWHERE, AXE_EARG,
             "kernel %s has nothing to tune: no parameter that is open has a "
             "domain",
             t->sig.name);
    axe_help(t->cx, "write `tune BM in {64, 128, 256}` behind its arguments");
    return AXE_EARG;
}

/* The number of combinations, at most 2^62. */
static int64_t
count_all(const axe_tuner *t)
{
    int64_t all = 1;

    for (int i = 0; i < t->result->n_param; i++)
        if (!axe_mul(all, t->sig.n_domain[t->varied[i]], &all))
            return INT64_C(1) << 62;
    return all;
}

/* Combinations are numbers whose digits say which value of its domain each
 * parameter has; the last is the fastest. */
static const char *const *
combination(axe_tuner *t, int64_t number)
{
    const char **v = axe_new_array(t->cx, const char *, t->result->n_param);

    for (int i = t->result->n_param - 1; i >= 0; i--) {
        int k = t->varied[i];
        v[i] = t->sig.domain[k][number % t->sig.n_domain[k]];
        number /= t->sig.n_domain[k];
    }
    return v;
}

static int64_t
number_of(const axe_tuner *t, const char *const *value)
{
    int64_t n = 0;

    for (int i = 0; i < t->result->n_param; i++) {
        int k = t->varied[i], d = 0;
        while (d + 1 < t->sig.n_domain[k] &&
               strcmp(t->sig.domain[k][d], value[i]) != 0)
            d++;
        n = n * t->sig.n_domain[k] + d;
    }
    return n;
}

static int
count_changed(const axe_tuner *t, const char *const *value)
{
    int n = 0;

    for (int i = 0; i < t->result->n_param; i++)
        n += strcmp(value[i], t->standard[i]) != 0;
    return n;
}

axe_compile_spec
axe_tuner_spec(axe_tuner *t, const char *const *value)
{
    axe_compile_spec s = t->fit;
    int              n = s.n_set + t->result->n_param;
    const char     **name = axe_new_array(t->cx, const char *, n);
    const char     **text = axe_new_array(t->cx, const char *, n);

    for (int i = 0; i < n; i++) {
        int p = i - s.n_set;
        name[i] = p < 0 ? s.set_name[i] : t->result->param[p];
        text[i] = p < 0 ? s.set_value[i] : value[p];
    }
    s.n_set = n;
    s.set_name = name;
    s.set_value = text;
    return s;
}

/* What the model expects of a planned program. */
static void
estimate(axe_tuner *t, const axe_program *p, axe_tune_try *out)
{
    const axe_machine *mc = p->plan->machine;
    axe_bound          b;
    axe_cost           c;

    if (axe_bind(t->cx, p->kernel, t->n_array, t->array, t->n_size, t->size,
                 false, &b) != AXE_OK)
        return;
    axe_cost_at at = {b.size, t->result->n_worker, t->levels};
    axe_cost_plan(t->cx, p->plan, &at, &c);
    if (c.cycles >= 0)
        out->estimate_s = c.cycles / (mc->ghz * 1e9);
    out->least_s = axe_cost_least(t->cx, p->plan, b.size);
}

/* Plan one combination; false if it has no plan. */
static bool
plan(axe_tuner *t, axe_tune_try *c)
{
    axe_mark           m = axe_ctx_mark(t->cx);
    axe_compile_spec   s = axe_tuner_spec(t, c->value);
    const axe_program *p;
    axe_status st = axe_compile(t->cx, t->source, &s, AXE_STAGE_PLAN, &p);

    c->estimate_s = c->least_s = -1;
    if (st == AXE_OK)
        estimate(t, p, c);
    axe_ctx_release(t->cx, m);
    return st == AXE_OK;
}

/* Plan a combination, unless that was done. */
static void
visit(axe_tuner *t, int64_t number)
{
    axe_tune_result *r = t->result;
    axe_tune_try     c = {.value = combination(t, number)};

    for (int i = 0; i < t->n_seen; i++)
        if (t->seen[i] == number)
            return;
    t->seen[t->n_seen++] = number;
    c.n_changed = count_changed(t, c.value);
    if (plan(t, &c)) {
        t->number[r->n_try] = number;
        r->each[r->n_try++] = c;
    } else
        r->n_refused++;
    if (t->n_seen % 16 == 0)
        axe_tuner_report(t, "planning");
}

/* The arrays on a GPU are made by their shapes, and the ranking is by sizes
 * alone: all must be known. */
static axe_status
check_sizes(axe_tuner *t)
{
    axe_shape *shape =
        axe_new_array(t->cx, axe_shape, t->program->kernel->n_param + 1);

    return axe_program_shapes(t->cx, t->program, t->n_array, t->array,
                              t->n_size, t->size, shape);
}

/* What the parameters are without tuning. */
static axe_status
standard_values(axe_tuner *t)
{
    const char **v = axe_new_array(t->cx, const char *, t->result->n_param);
    const axe_program *p;

    AXE_TRY(axe_compile(t->cx, t->source, &t->fit, AXE_STAGE_PLAN, &p));
    t->program = p;
    t->on_gpu = axe_program_on_gpu(p);
    t->result->machine = p->plan->machine->name;
    if (t->on_gpu)
        AXE_TRY(check_sizes(t));
    t->levels = axe_host_levels(p->plan->machine);
    for (int i = 0; i < t->result->n_param; i++)
        for (int k = 0; k < p->kernel->n_binding; k++) {
            const axe_binding *b = &p->kernel->binding[k];
            if (strcmp(b->name, t->result->param[i]) == 0)
                v[i] = axe_binding_text(t->cx, b);
        }
    t->standard = v;
    return AXE_OK;
}

static bool
same_values(const axe_tuner *t, const char *const *a, const char *const *b)
{
    for (int i = 0; i < t->result->n_param; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

/* Of those that the model cannot tell apart, what changes least comes first. */
static int
by_estimate(const void *a, const void *b)
{
    const axe_tune_try *p = a, *q = b;
    double              x = p->estimate_s, y = q->estimate_s;

    x = x < 0 ? 1e300 : x;
    y = y < 0 ? 1e300 : y;
    if (x != y)
        return x > y ? 1 : -1;
    return (p->n_changed > q->n_changed) - (p->n_changed < q->n_changed);
}

static void
find_standard(axe_tuner *t, const char *const *standard)
{
    t->result->standard = -1;
    for (int i = 0; i < t->result->n_try; i++)
        if (same_values(t, t->result->each[i].value, standard))
            t->result->standard = i;
}

/* A step that visits all of n, and in any beginning of the walk numbers from
 * all over: near the golden section, without a common divisor. */
static int64_t
golden_step(int64_t n)
{
    int64_t step = (int64_t)((double)n * 0.618);

    for (;; step--) {
        int64_t a = n, b = step < 1 ? 1 : step;
        while (b > 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step < 1 ? 1 : step;
    }
}

/* Of the budget, for planning: all where nothing follows. */
static double
share_of_plans(const axe_tuner *t)
{
    return t->on_gpu && !t->spec->gpu ? 1 : plan_share;
}

static bool
may_plan(axe_tuner *t, double share)
{
    return !axe_tuner_stopped(t) &&
           !axe_tuner_over(t, share * share_of_plans(t));
}

/* From the best on: whatever differs from it in one value, until none of these
 * is better. */
static void
climb(axe_tuner *t, int64_t most)
{
    const axe_tune_result *r = t->result;

    for (int from = -1; r->n_try > 0;) {
        int     best = 0;
        int64_t weight = 1, at;
        for (int i = 1; i < r->n_try; i++)
            if (by_estimate(&r->each[i], &r->each[best]) < 0)
                best = i;
        if (best == from)
            return;
        from = best;
        at = t->number[best];
        for (int p = r->n_param - 1; p >= 0; p--) {
            int64_t n = t->sig.n_domain[t->varied[p]];
            for (int64_t v = 0; v < n; v++) {
                if (t->n_seen >= most || !may_plan(t, 1))
                    return;
                visit(t, at + (v - at / weight % n) * weight);
            }
            weight *= n;
        }
    }
}

/* Plan every combination; where they are too many or time is short, evenly
 * chosen ones, and then what is near the best of these. */
static axe_status
plan_all(axe_tuner *t)
{
    int64_t          all = count_all(t), n = all < MAX_PLAN ? all : MAX_PLAN;
    int64_t          even = all > n ? n / 2 : n, step = golden_step(even);
    axe_tune_result *r = t->result;

    AXE_TRY(standard_values(t));
    r->each = axe_new_array(t->cx, axe_tune_try, n + 1);
    t->number = axe_new_array(t->cx, int64_t, n + 1);
    t->seen = axe_new_array(t->cx, int64_t, n + 1);
    visit(t, number_of(t, t->standard));
    for (int64_t i = 0; i < even && (i == 0 || may_plan(t, EVENLY)); i++)
        visit(t, all / even * (i * step % even));
    climb(t, n);
    qsort(r->each, (size_t)r->n_try, sizeof r->each[0], by_estimate);
    find_standard(t, t->standard);
    return AXE_OK;
}

/* ------------------------------------------------------------------ result */

static int
by_time(const void *a, const void *b)
{
    double x = ((const axe_tune_try *)a)->time_s,
           y = ((const axe_tune_try *)b)->time_s;

    if (x <= 0 && y <= 0)
        return by_estimate(a, b);
    x = x <= 0 ? 1e300 : x;
    y = y <= 0 ? 1e300 : y;
    return (x > y) - (x < y);
}

static void
order_result(axe_tuner *t)
{
    axe_tune_result   *r = t->result;
    const char *const *standard =
        r->standard >= 0 ? r->each[r->standard].value : NULL;

    qsort(r->each, (size_t)r->n_try, sizeof r->each[0], by_time);
    if (standard)
        find_standard(t, standard);
    while (r->n_timed < r->n_try && r->each[r->n_timed].time_s > 0)
        r->n_timed++;
}

static axe_status
put_record(axe_tuner *t, const char *path, const axe_record_key *key)
{
    const axe_tune_result *r = t->result;
    axe_buf                b = {.cx = t->cx};
    axe_records           *db;
    axe_status             st;

    for (int i = 0; i < r->n_param; i++)
        axe_putf(&b, "%s%s=%s", i ? " " : "", r->param[i], r->each[0].value[i]);
    axe_record rec = {.bindings = b.text,
                      .seconds = r->each[0].time_s,
                      .n_tried = r->n_timed};
    if (r->standard >= 0)
        rec.def_seconds = r->each[r->standard].time_s;
    AXE_TRY(axe_records_open(t->cx, path, true, &db));
    st = axe_records_put(t->cx, db, key, &rec);
    axe_records_close(db);
    return st;
}

/* Keep the best; trouble with that is told, but what was found is found. */
static void
keep(axe_tuner *t, const axe_record_key *key)
{
    const char *wanted = t->spec->records;
    const char *path = wanted && !*wanted
                           ? NULL
                           : axe_records_path(t->cx, wanted, t->spec->cache);
    axe_mark    m = axe_ctx_mark(t->cx);
    const char *error;

    if (!path || t->result->n_timed == 0)
        return;
    if (put_record(t, path, key) == AXE_OK) {
        t->result->records = path;
        return;
    }
    error =
        axe_intern(t->cx, axe_last_error(t->cx), strlen(axe_last_error(t->cx)));
    axe_ctx_release(t->cx, m);
    axe_warn(t->cx, AXE_NOWHERE, "the result is not kept: %s", error);
}

/* The sizes given are what later launches will hint at. */
static void
hint_sizes(axe_tuner *t)
{
    const char **name = axe_new_array(t->cx, const char *, t->n_size);
    int64_t     *value = axe_new_array(t->cx, int64_t, t->n_size);

    for (int i = 0; i < t->n_size; i++) {
        name[i] = t->size[i].name;
        value[i] = t->size[i].value;
    }
    t->fit.n_hint = t->n_size;
    t->fit.hint_name = name;
    t->fit.hint = value;
}

int
axe_tuner_best(const axe_tuner *t)
{
    int n = t->spec->n_best > 0 ? t->spec->n_best : MANY_BEST;

    return n < t->result->n_try ? n : t->result->n_try;
}

/* The ranking is there: on what it is tried. */
static axe_status
measure(axe_tuner *t)
{
    axe_status st = AXE_OK;

    if (!t->on_gpu && !t->device)
        return axe_fail(t->cx, AXE_NOWHERE, AXE_EARG,
                        "kernel %s is for %s: it is measured on a device",
                        t->sig.name, t->result->machine);
    if (!t->on_gpu)
        return axe_tuner_measure(t);
    if (t->spec->prepare)
        AXE_TRY(axe_tuner_prepare_best(t));
    if (t->spec->gpu) {
        st = axe_tuner_gpu_arrays(t);
        if (st == AXE_OK)
            st = axe_tuner_measure(t);
        axe_tuner_gpu_free(t);
    }
    return st;
}

axe_status
axe_tune(axe_ctx *cx, axe_device *d, int32_t source, const axe_tune_spec *spec,
         int n_array, const axe_array *array, int n_size, const axe_size *size,
         axe_tune_result *out)
{
    AXE_NEED(cx, spec);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, out);
    if (d)
        AXE_TRY(axe_device_check(cx, __func__, d));
    if (spec->gpu)
        AXE_TRY(axe_gpu_check(cx, __func__, spec->gpu));
    const axe_module *m;
    axe_tune_result   result = {.n_worker = d ? axe_device_n_thread(d) : 1};
    axe_tuner         t = {
                .cx = cx,
                .device = d,
                .source = source,
                .spec = spec,
                .n_array = n_array,
                .array = array,
                .n_size = n_size,
                .size = size,
                .begin = axe_tuner_now(),
                .budget = spec->budget_s > 0 ? spec->budget_s : default_budget,
                .result = &result,
    };

    AXE_TRY(axe_module_parse(cx, source, &m));
    AXE_TRY(
        axe_spec_fit(cx, m, &spec->compile, n_array, array, &t.sig, &t.fit));
    hint_sizes(&t);
    AXE_TRY(find_varied(&t));
    axe_record_key key = axe_tuned_key(cx, source, &t.sig, &t.fit, n_array,
                                       array, result.n_worker);
    result.sizes = axe_records_class(cx, key.n_size, key.size);
    AXE_TRY(plan_all(&t));
    AXE_TRY(measure(&t));
    order_result(&t);
    keep(&t, &key);
    *out = result;
    return AXE_OK;
}
