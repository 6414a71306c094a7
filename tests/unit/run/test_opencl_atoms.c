/* test_opencl_atoms.c - every row of a device of OpenCL by name, in a grid made
 * by hand: on each device that is installed, at each width that it has, against
 * what the row's layouts and fold say, and against the simulator.
 *
 * One program has the grids of all rows for a width; each is of two warps.
 * OPENCL_ALL=1: in each type and on each width those, too, that go by turns.
 * A share: of devices and machines.
 * Without a device, and under ASan, which takes what runtimes keep for leaks,
 * the simulator alone. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/opencl.h"
#include "axe/sim.h"
#include "opencl_cases.h"
#include "opencl_matrix.h"
#include "print/opencl/opencl.h"
#include "share.h"
#include "sim/sim.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* Rows of matrices, and their functions in front of the text. */
static bool       matrices_alone;
static const char every_feature[] =
#define OPENCL_MAY(word, groups) word " "
#include "machine/opencl/machines.def"
    ;
static const axe_opencl_facts *facts;
static axe_opencl_buffer      *on_device[N_PARAM];

/* -------------------------------------------------------------- what it is */

static double
number(const test_case *c, int which, int64_t i)
{
    return load_number(c->type[which], bytes_of(c, which), i);
}

static void
expect(const test_case *c, int64_t i, double v)
{
    store_number(c->type[0], want, i, v);
}

static double
folded(axe_fold f, double a, double b)
{
    return f == AXE_FOLD_SUM   ? a + b
           : f == AXE_FOLD_MAX ? (a > b ? a : b)
                               : (a < b ? a : b);
}

/* Registers of an item are its n places in a row. */
static int64_t
place(const test_case *c, int which, spot s, int warp, int lane)
{
    bool outside = c->atom->space[which] != AXE_ARG_REG;
    int  own = by_thread(c) ? lane : (int)s.lane;

    if (outside && !by_thread(c))
        return (int64_t)warp * c->n_reg[which] + s.at;
    return ((int64_t)warp * lanes() + own) * c->n_reg[which] + s.at;
}

/* Element by element from where one layout says to where the other says. */
static void
expect_move(const test_case *c, int warp, int lane)
{
    const axe_layout *d = layout_of(c, 0), *a = layout_of(c, 1);
    bool              names = c->atom->space[2] == AXE_ARG_INT;

    for (int64_t i = 0; i < d->size; i++) {
        spot to = spot_of(d, i), from = spot_of(a, i);
        if (names)
            from.lane = named_lane((int)to.lane);
        expect(c, place(c, 0, to, warp, lane),
               number(c, 1, place(c, 1, from, warp, lane)));
    }
}

/* The roles of d come first in a. */
static void
expect_reduce(const test_case *c, int warp)
{
    const axe_layout *d = layout_of(c, 0), *a = layout_of(c, 1);
    int64_t           n = a->size / d->size;
    double            sum = 0;

    for (int64_t i = 0; i < a->size; i++) {
        double     one = number(c, 1, place(c, 1, spot_of(a, i), warp, 0));
        axe_points pts;
        sum = (n == 1 ? i : i % n) == 0 ? one : folded(c->atom->fold, sum, one);
        assert_int_equal(axe_layout_apply(cx, d, i / n, &pts), AXE_OK);
        for (int k = 0; k < pts.n_point; k++) {
            int64_t lane = spot_of(d, i / n).lane + k;
            expect(c, (int64_t)warp * lanes() + lane, sum);
        }
    }
}

static void
expect_contract(const test_case *c, int warp, int lane)
{
    const axe_layout *l[3] = {layout_of(c, 0), layout_of(c, 1),
                              layout_of(c, 2)};
    int64_t           n_k, n_n;

    n_k = l[1]->size == 1 ? 1 : dim_of(l[1], 1);
    n_n = l[2]->size / n_k;
    for (int64_t i = 0; i < l[0]->size; i++) {
        int64_t at = place(c, 0, spot_of(l[0], i), warp, lane);
        double  sum = number(c, 0, at);
        for (int64_t k = 0; k < n_k; k++)
            sum += number(c, 1,
                          place(c, 1, spot_of(l[1], i / n_n * n_k + k), warp,
                                lane)) *
                   number(c, 2,
                          place(c, 2, spot_of(l[2], i % n_n * n_k + k), warp,
                                lane));
        expect(c, at, sum);
    }
}

static void
expect_fold(const test_case *c)
{
    double sum[PLACES];

    for (int i = 0; i < PLACES; i++)
        sum[i] = number(c, 0, i);
    for (int i = 0; i < WARPS * lanes(); i++)
        sum[i % PLACES] =
            folded(c->atom->fold, sum[i % PLACES], number(c, 1, i));
    for (int i = 0; i < PLACES; i++)
        expect(c, i, sum[i]);
}

static void
expect_neighbours(const test_case *c)
{
    int n = WARPS * lanes();
    int within = c->atom->by == AXE_SCOPE_WARP ? lanes() : n;

    for (int i = 0; i < n; i++)
        expect(c, i, number(c, 1, i / within * within + (i + 1) % within));
}

static void
expect_all(const test_case *c)
{
    bool folds =
        c->atom->kind == AXE_ATOM_STORE && c->atom->fold != AXE_FOLD_NONE;

    memcpy(want, bytes_of(c, 0), ROOM);
    if (folds)
        expect_fold(c);
    if (c->atom->kind == AXE_ATOM_SYNC)
        expect_neighbours(c);
    if (folds || c->atom->kind == AXE_ATOM_SYNC)
        return;
    for (int w = 0; w < WARPS; w++)
        for (int l = 0; l < (by_thread(c) ? lanes() : 1); l++)
            if (c->atom->kind == AXE_ATOM_CONTRACT)
                expect_contract(c, w, l);
            else if (c->atom->kind == AXE_ATOM_PERMUTE &&
                     c->atom->fold != AXE_FOLD_NONE)
                expect_reduce(c, w);
            else
                expect_move(c, w, l);
}

/* ------------------------------------------------------------------- cases */

static void
begin(test_case *c)
{
    static const char lines[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    maker            *m = &c->m;

    memset(m, 0, sizeof *m);
    m->cx = cx;
    m->machine = mc;
    m->source = axe_source_add(cx, "grid", lines, sizeof lines - 1);
    m->grid.name = axe_textf(cx, "test%d", n_case);
    m->grid.n_thread = WARPS * lanes();
    m->grid.lanes = lanes();
    m->grid.group = 1;
    m->grid.cluster = 1;
    m->grid.blocks = num(m, 1);
    for (int i = 0; i < AXE_N_ID; i++)
        m->grid.id[i] = new_var(m, AXE_VAR_SCOPE, axe_id_name((axe_id)i));
    m->open[m->n_open++] = &m->grid.body;
    m->n_param = N_PARAM;
    memcpy(m->param, params, sizeof params);
}

static void
add_case(const axe_atom *a, int param, const axe_type type[3])
{
    test_case *c = &cases[n_case];

    assert_true(n_case < MOST_CASE);
    c->atom = a;
    c->param = param;
    memcpy(c->type, type, sizeof c->type);
    for (int i = 0; i < 3; i++)
        c->n_reg[i] = i == 2 && a->kind != AXE_ATOM_CONTRACT ? 0
                      : a->kind == AXE_ATOM_SYNC             ? 1
                                                             : count_of(c, i);
    begin(c);
    switch (a->kind) {
    case AXE_ATOM_LOAD:
        make_load(c);
        break;
    case AXE_ATOM_STORE:
        if (a->fold == AXE_FOLD_NONE)
            make_store(c);
        else
            make_fold(c);
        break;
    case AXE_ATOM_PERMUTE:
        make_permute(c);
        break;
    case AXE_ATOM_CONTRACT:
        make_contract(c);
        break;
    default:
        make_barrier(c);
    }
    n_case++;
}

/* Of a row that moves any type: in the widest type that it moves, or in each.
 */
static void
add_any(const axe_atom *a)
{
    static const axe_type moved[] = {AXE_TYPE_i64, AXE_TYPE_i32, AXE_TYPE_i16,
                                     AXE_TYPE_i8};
    bool                  all = getenv("OPENCL_ALL") != NULL;
    int                   first = n_case, p;

    for (int t = 0; t < AXE_LEN(moved) && (all || n_case == first); t++) {
        axe_type type[3] = {moved[t], moved[t], moved[t]};
        if (a->step == 0 && axe_atom_param(a, moved[t], &p))
            add_case(a, p, type);
        for (p = a->lo;
             a->align == size_of(moved[t]) && a->step > 0 && p <= a->hi;
             p += a->step)
            if (axe_atom_takes(a, p))
                add_case(a, p, type);
    }
}

/* Compilers take long for many lanes: there rows of one thread, which know of
 * no width, go by turns. */
static bool
is_for_another(const axe_atom *a)
{
    int64_t row = a - mc->atom;

    return a->by == AXE_SCOPE_THREAD && lanes() > 16 && !getenv("OPENCL_ALL") &&
           row % 4 != (lanes() == 32 ? 0 : 2);
}

static void
add_row(const axe_atom *a)
{
    static const axe_type words[3] = {AXE_TYPE_i32, AXE_TYPE_i32, AXE_TYPE_i32};

    if (!axe_machine_has(mc, a) || is_for_another(a) ||
        (matrices_alone && strcmp(a->needs, "matrix") != 0))
        return;
    if (a->kind == AXE_ATOM_SYNC)
        add_case(a, 1, words);
    else if (a->type[0] == AXE_TYPE_any)
        add_any(a);
    else if (a->step == 0)
        add_case(a, 1, a->type);
    else
        for (int p = a->lo; p <= a->hi; p += a->step)
            if (axe_atom_takes(a, p))
                add_case(a, p, a->type);
}

/* ----------------------------------------------------------------- running */

static bool
is_signed(axe_type t)
{
    return axe_type_table[t].name[0] != 'u';
}

/* Small numbers, so that every sum is exact in every type. */
static void
set_memory(void)
{
    for (int p = 0; p < N_PARAM; p++) {
        axe_type t = types[p / 3];
        for (int i = 0; i < ROOM / size_of(t); i++)
            store_number(t, memory[p], i,
                         (i * 7 + p + i / 5) % 6 - (is_signed(t) ? 3 : 0));
    }
}

static void
compare(const test_case *c, const char *who)
{
    const uint8_t *got = bytes_of(c, 0);
    int            size = size_of(c->type[0]);

    for (int i = 0; i < ROOM / size; i++)
        if (memcmp(got + i * size, want + i * size, (size_t)size) != 0)
            fail_msg("%s of %s, P = %d, %s on %s: element %d is %g, not %g",
                     c->atom->name, mc->name, c->param,
                     axe_type_table[c->type[0]].name, who, i,
                     load_number(c->type[0], got, i),
                     load_number(c->type[0], want, i));
}

static void
simulate(test_case *c)
{
    static int64_t       shape[N_PARAM][2];
    static axe_sim_array array[N_PARAM];
    axe_sim_spec         spec = {.param = array};
    axe_sim_report       r = {0};
    axe_buf              said = {.cx = cx};

    for (int i = 0; i < N_PARAM; i++) {
        shape[i][0] = 1;
        shape[i][1] = ROOM / size_of(types[i / 3]);
        array[i] = (axe_sim_array){memory[i], shape[i], NULL};
    }
    set_memory();
    expect_all(c);
    if (axe_simulate(cx, &c->m.lowered, &spec, &r) != AXE_OK)
        fail_msg("%s: %s", c->atom->name, axe_last_error(cx));
    axe_sim_report_print(cx, &said, &r);
    if (r.n_finding > 0)
        fail_msg("%s of %s: %s", c->atom->name, mc->name, said.text);
    compare(c, "the simulator");
}

static void
execute(axe_opencl_program *p, const test_case *c)
{
    axe_opencl_arg arg[N_PARAM + 1] = {0};
    int64_t        cores = 1;

    set_memory();
    expect_all(c);
    for (int i = 0; i < N_PARAM; i++) {
        arg[i].buffer = on_device[i];
        for (int w = 0; w < 3; w++)
            if (i == 3 * index_of(c->type[w]) + w)
                assert_int_equal(
                    axe_opencl_put(cx, on_device[i], 0, memory[i], ROOM),
                    AXE_OK);
    }
    arg[N_PARAM] = (axe_opencl_arg){.value = &cores, .bytes = sizeof cores};
    if (axe_opencl_launch(cx, p,
                          &(axe_opencl_grid){c->m.grid.name, 1,
                                             c->m.grid.n_thread, N_PARAM + 1,
                                             arg},
                          NULL) != AXE_OK)
        fail_msg("%s: %s", c->atom->name, axe_last_error(cx));
    assert_int_equal(axe_opencl_get(cx, on_device[3 * index_of(c->type[0])], 0,
                                    bytes_of(c, 0), ROOM),
                     AXE_OK);
    compare(c, facts->name);
}

/* All grids in one program. */
static axe_opencl_program *
build(axe_opencl *cl)
{
    axe_grid           *grid = axe_new_array(cx, axe_grid, n_case);
    axe_lowered         l = cases[0].m.lowered;
    axe_buf             b = {.cx = cx};
    axe_opencl_program *p = NULL;

    for (int i = 0; i < n_case; i++)
        grid[i] = cases[i].m.grid;
    l.n_grid = n_case;
    l.grid = grid;
    if (matrices_alone)
        matrix_text(&b, lanes());
    if (axe_print_opencl(cx, &l, false, &b) != AXE_OK ||
        axe_opencl_build(cx, cl, b.text, axe_opencl_options(&l), NULL, &p) !=
            AXE_OK) {
        axe_buf e = {.cx = cx};
        axe_diags_print(cx, &e, false);
        fail_msg("%s\n%s", e.text, b.text);
    }
    return p;
}

/* Grids of all rows that the machine has, which the simulator runs. */
static void
simulate_rows(void)
{
    int64_t shape[2] = {1, 0};

    assert_int_equal(axe_machine_use(cx, mc), AXE_OK);
    n_case = 0;
    for (int i = 0; i < N_PARAM; i++) {
        maker m = {.cx = cx};
        shape[1] = ROOM / size_of(types[i / 3]);
        params[i] = new_tensor(
            &m, axe_textf(cx, "%s%d", axe_type_table[types[i / 3]].name, i % 3),
            AXE_SPACE_GLOBAL, types[i / 3],
            i % 3 == 0 ? AXE_DIR_INOUT : AXE_DIR_IN, 2, shape);
    }
    for (int i = 0; i < mc->n_atom; i++)
        add_row(&mc->atom[i]);
    for (int i = 0; i < n_case; i++) {
        (void)made(&cases[i].m);
        simulate(&cases[i]);
    }
}

static void
execute_rows(axe_opencl *cl)
{
    axe_opencl_program *p = build(cl);

    for (int i = 0; i < N_PARAM; i++)
        assert_int_equal(axe_opencl_alloc(cx, cl, ROOM, &on_device[i]), AXE_OK);
    for (int i = 0; i < n_case; i++)
        execute(p, &cases[i]);
    axe_opencl_program_free(p);
    for (int i = 0; i < N_PARAM; i++)
        axe_opencl_release(on_device[i]);
    printf("%s on %s: %d invocations of %d rows\n", mc->name, facts->name,
           n_case, mc->n_atom);
}

/* ------------------------------------------------------------------- tests */

static char                    cache[] = "/tmp/axe_opencl_XXXXXX";
static int                     n_device;
static const axe_opencl_facts *devices;

/* Of all machines, with all features that there are. */
static void
test_simulated(void **state)
{
    (void)state;
    for (int i = 0; i < axe_opencl_machines.n; i++) {
        const axe_machine *row = &axe_opencl_machines.machine[i];
        cx = axe_ctx_new();
        mc = axe_opencl_machine(cx, row,
                                &(axe_opencl_has){.features = every_feature,
                                                  .least = row->simt->lanes});
        simulate_rows();
        assert_true(n_case >= mc->n_atom || lanes() > 16);
        axe_ctx_free(cx);
    }
}

/* Of no kind: with rows, too, that a kind of device is slow by. */
static void
test_executed(void **state)
{
    (void)state;
    if (n_device == 0)
        skip();
    for (int d = 0; d < n_device; d++)
        for (int i = 0; i < axe_opencl_machines.n; i++) {
            axe_opencl *cl;
            if ((d + i) % share() != 0)
                continue;
            facts = &devices[d];
            cx = axe_ctx_new();
            assert_int_equal(
                axe_opencl_new(
                    cx, &(axe_opencl_spec){.number = d, .cache = cache}, &cl),
                AXE_OK);
            mc = axe_opencl_machine(
                cx, &axe_opencl_machines.machine[i],
                &(axe_opencl_has){NULL, facts->local_bytes, facts->most_items,
                                  facts->n_unit, facts->features,
                                  facts->n_width > 0 ? facts->width[0] : 0});
            if (axe_opencl_need(cx, cl, axe_opencl_needs(cx, mc)) == AXE_OK) {
                simulate_rows();
                execute_rows(cl);
            }
            axe_opencl_free(cl);
            axe_ctx_free(cx);
        }
}

/* Matrix rows where a device has the lanes and not the functions, which are
 * written out as the extension's text has them: operands lie as it says. */
static void
test_matrices(void **state)
{
    int n = 0;

    (void)state;
    matrices_alone = true;
    for (int d = 0; d < n_device; d++)
        for (int i = 0; i < axe_opencl_machines.n; i++) {
            axe_opencl *cl;
            if ((d + i) % share() != share() / 2)
                continue;
            facts = &devices[d];
            cx = axe_ctx_new();
            mc = &axe_opencl_machines.machine[i];
            assert_int_equal(
                axe_opencl_new(
                    cx, &(axe_opencl_spec){.number = d, .cache = cache}, &cl),
                AXE_OK);
            if (axe_machine_has_feature(mc, "matrix") &&
                axe_opencl_need(cx, cl,
                                axe_textf(cx, "width shuffle f16 sg%d",
                                          mc->simt->lanes)) == AXE_OK) {
                simulate_rows();
                execute_rows(cl);
                n += n_case;
            }
            axe_opencl_free(cl);
            axe_ctx_free(cx);
        }
    matrices_alone = false;
    if (n == 0)
        skip();
}

int
main(void)
{
    static const char       own[] = AXE_SOURCE_DIR "/build/opencl/vendors";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_executed),
        cmocka_unit_test(test_matrices),
    };
    axe_ctx *own_cx = axe_ctx_new();
    int      bad;

    if (access(own, R_OK) == 0)
        setenv("OCL_ICD_VENDORS", own, 0);
    if (SANITIZED || axe_opencl_list(own_cx, &n_device, &devices) != AXE_OK)
        n_device = 0;
    if (!mkdtemp(cache))
        return 1;
    bad = cmocka_run_group_tests(tests, NULL, NULL);
    bad += system(axe_textf(own_cx, "rm -rf %s", cache)) != 0;
    axe_ctx_free(own_cx);
    return bad > 0;
}
