/* test_dots.c - products of narrow types: which atom is chosen, and that sums
 * are exact to the last bit at all extremes, modulo 2^32. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "axe/run.h"
#include "ir/number.h"
#include "machine/machine.h"
#include "plan/cpu/schedule.h"
#include "planned.h"
#include "run/program.h"

/* Tiles, and sums of 6 in two iterations, the second partial. */
static const char product[] =
    "kernel k<type S = i8, type T = i8, type U = i32>\n"
    "    (in S A[M, K], in T B[N, K], out U C[M, N]) {\n"
    " index m, n, k; cta (i : M by 16, j : N by 48) {\n"
    " reg U c[16, 48] = 0; shared S a[16, 16]; shared T b[48, 16];\n"
    " for (t : K by 16) { a[m, k] = A[i*16 + m, t*16 + k];\n"
    " b[n, k] = B[j*48 + n, t*16 + k]; c[m, n] += a[m, k] * b[n, k]; }\n"
    " C[i*16 + m, j*48 + n] = c[m, n]; } }\n";

/* The same along rows as they lie: 77 are two vectors of 32 and 13. */
static const char folded[] =
    "kernel k<type S = i8, type T = i8, type U = i32>\n"
    "    (in S A[M, K], in T B[N, K], out U C[M, N]) {\n"
    " index m, n, k; cta (i : M by 16, j : N by 48)\n"
    " C[i*16 + m, j*48 + n] =\n"
    "     sum[k](U(A[i*16 + m, k]) * U(B[j*48 + n, k])); }\n";

static axe_status
compile_text(axe_ctx *cx, const char *text, const char *machine,
             const char *const type[3], axe_stage last, const axe_program **p)
{
    const char *name[] = {"S", "T", "U"};
    int32_t     source = axe_source_add(cx, "dots.axe", text, strlen(text));

    return axe_compile(cx, source,
                       &(axe_compile_spec){.machine = machine,
                                           .n_set = 3,
                                           .set_name = name,
                                           .set_value = type},
                       last, p);
}

static axe_status
compile(axe_ctx *cx, const char *machine, const char *const type[3],
        axe_stage last, const axe_program **p)
{
    return compile_text(cx, product, machine, type, last, p);
}

/* --------------------------------------------------------- what is chosen */

static void
test_choice(void **state)
{
    static const struct {
        const char *machine, *type[3], *atom;
        int         group;
    } row[] = {
        {"cpu-avx512-bf16", {"bf16", "bf16", "f32"}, "vdpbf16", 2},
        {"cpu-avx512-bf16", {"f16", "f16", "f32"}, "vfma", 1},
        {"cpu-avx512-bf16", {"bf16", "f32", "f32"}, "vfma", 1},
        {"cpu-avx512-bf16", {"bf16", "bf16", "f64"}, "vfma", 1},
        {"cpu-avx512-vnni", {"bf16", "bf16", "f32"}, "vfma", 1},
        {"cpu-avx512-vnni", {"u8", "i8", "i32"}, "vdpus", 4},
        {"cpu-avx512-vnni", {"i8", "u8", "i32"}, "vdpsu", 4},
        {"cpu-avx512-vnni", {"i8", "i8", "i32"}, "vdpss", 4},
        {"cpu-avx512-vnni", {"u8", "u8", "i32"}, "vdpww", 2},
        {"cpu-avx512-vnni", {"i16", "i8", "i32"}, "vdpww", 2},
        {"cpu-avx512-vnni", {"i32", "i8", "i32"}, "vfma", 1},
        {"cpu-avx512-vnni", {"i8", "i8", "i64"}, "vfma", 1},
        {"cpu-avx512", {"i8", "i8", "i32"}, "vmaddw", 2},
        {"cpu-avx2", {"u8", "i8", "i32"}, "vmaddw", 2},
        {"cpu-neon", {"i8", "i8", "i32"}, "vfma", 1},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        if (compile(cx, row[i].machine, row[i].type, AXE_STAGE_LOWER, &p) !=
            AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        const axe_schedule *s = contraction(p->plan);
        if (strcmp(s->atom[0]->name, row[i].atom) != 0 ||
            s->core->tile.group != row[i].group)
            fail_msg("row %d: %s takes %d, not %s %d", i, s->atom[0]->name,
                     s->core->tile.group, row[i].atom, row[i].group);
        axe_ctx_free(cx);
    }
}

/* Sums along the lanes, too, take pairs of bf16. */
static void
test_folded_choice(void **state)
{
    static const struct {
        const char *machine, *type[3], *atom; /* NULL: widened first */
        int         lanes;
    } row[] = {
        {"cpu-avx512-bf16", {"bf16", "bf16", "f32"}, "vdpbf16", 32},
        {"cpu-avx512-bf16", {"f16", "f16", "f32"}, NULL, 16},
        {"cpu-avx512-bf16", {"bf16", "f32", "f32"}, NULL, 16},
        {"cpu-avx512-bf16", {"bf16", "bf16", "f64"}, NULL, 8},
        {"cpu-avx512", {"bf16", "bf16", "f32"}, NULL, 16},
        {"cpu-avx2", {"bf16", "bf16", "f32"}, NULL, 8},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        if (compile_text(cx, folded, row[i].machine, row[i].type,
                         AXE_STAGE_LOWER, &p) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        const axe_nest *n = &p->plan->schedule[0]->nest[1];
        if (!n->dot != !row[i].atom || n->lanes != row[i].lanes ||
            (n->dot && strcmp(n->dot->name, row[i].atom) != 0))
            fail_msg("row %d: %d lanes by %s", i, n->lanes,
                     n->dot ? n->dot->name : "none");
        axe_ctx_free(cx);
    }
}

/* An instruction that no processor has is one more row. */
static void
test_made_up(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *host;
    const axe_program *p;
    const axe_plan    *plan;
    axe_atom           atom[32];

    (void)state;
    assert_int_equal(axe_machine_find(cx, "cpu-avx512-vnni", &host), AXE_OK);
    axe_machine mc = *host;
    memcpy(atom, mc.atom, (size_t)mc.n_atom * sizeof atom[0]);
    atom[mc.n_atom++] = (axe_atom){
        .name = "magic",
        .kind = AXE_ATOM_CONTRACT,
        .d = "[n] (V) : (1@vlane)",
        .a = "[n, k] (V, 8) : (0, 1@vlane) + [V : 8@vlane]",
        .b = "[n, k] (V, 8) : (8@vlane, 1@vlane)",
        .type = {AXE_TYPE_i64, AXE_TYPE_i8, AXE_TYPE_i8},
        .cost = 1,
        .text = "made up",
    };
    mc.atom = atom;
    assert_int_equal(compile(cx, "cpu-avx512-vnni",
                             (const char *[]){"i8", "i8", "i64"}, AXE_STAGE_IR,
                             &p),
                     AXE_OK);
    assert_int_equal(axe_plan_kernel(cx, p->kernel, &mc, &plan), AXE_OK);
    const axe_schedule *s = contraction(plan);
    assert_string_equal(s->atom[0]->name, "magic");
    assert_int_equal(s->core->tile.group, 8);
    assert_int_equal(s->nest[0].lanes, 8);
    atom[mc.n_atom - 1].needs = "wand";
    assert_int_equal(axe_plan_kernel(cx, p->kernel, &mc, &plan), AXE_OK);
    assert_string_equal(contraction(plan)->atom[0]->name, "vfma");
    axe_ctx_free(cx);
}

/* ------------------------------------------------------------ what is added */

enum { M = 19, N = 53, K = 77 };

/* Extremes, then anything. */
static int64_t
integer(axe_type t, unsigned *seed)
{
    const axe_type_info *info = &axe_type_table[t];
    bool                 sign = info->cls == AXE_CLASS_INT;
    int64_t              low = sign ? -(INT64_C(1) << (info->bits - 1)) : 0;
    int64_t              high = (INT64_C(1) << (info->bits - sign)) - 1;

    *seed = *seed * 1664525u + 1013904223u;
    switch (*seed >> 24 & 7) {
    case 0:
    case 1:
    case 2:
        return low;
    case 3:
        return high;
    case 4:
        return 0;
    default:
        return low + (int64_t)((*seed >> 8) % (uint64_t)(high - low + 1));
    }
}

typedef struct matrices {
    axe_type type[3];
    int64_t  shape[3][2];
    char     a[M * K * 4], b[N * K * 4], c[M * N * 8];
} matrices;

static void
launch(axe_ctx *cx, axe_device *dev, const axe_program *p, matrices *x,
       axe_difference *d)
{
    static const char *const name[3] = {"A", "B", "C"};
    char                    *data[3] = {x->a, x->b, x->c};
    axe_array                array[3];
    axe_exec                *e;
    axe_reference           *ref = NULL;

    memcpy(x->shape, (int64_t[3][2]){{M, K}, {N, K}, {M, N}}, sizeof x->shape);
    for (int i = 0; i < 3; i++)
        array[i] = (axe_array){.name = name[i],
                               .type = axe_type_table[x->type[i]].name,
                               .rank = 2,
                               .shape = x->shape[i],
                               .data = data[i]};
    if (axe_exec_new(cx, dev, p, &e) != AXE_OK ||
        axe_reference_new(cx, dev, p, 3, array, 0, NULL, &ref) != AXE_OK ||
        axe_launch(cx, e, 3, array, 0, NULL) != AXE_OK ||
        axe_reference_compare(cx, ref, &array[2], d) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_reference_free(ref);
    axe_exec_free(e);
}

/* The sum by its definition, its low 32 bits. */
static int32_t
sum(const matrices *x, int m, int n)
{
    uint64_t s = 0;
    int      wa = axe_type_table[x->type[0]].bits / 8,
        wb = axe_type_table[x->type[1]].bits / 8;

    for (int k = 0; k < K; k++)
        s += (uint64_t)axe_number_get_int(x->type[0], x->a + (m * K + k) * wa) *
             (uint64_t)axe_number_get_int(x->type[1], x->b + (n * K + k) * wb);
    return (int32_t)(uint32_t)s;
}

static void
check_integers(const char *machine, axe_type s, axe_type t)
{
    axe_ctx           *cx = axe_ctx_new();
    matrices           x = {.type = {s, t, AXE_TYPE_i32}};
    const axe_program *p;
    axe_device        *dev = NULL;
    axe_difference     d;
    unsigned           seed = 7;
    int ws = axe_type_table[s].bits / 8, wt = axe_type_table[t].bits / 8;

    for (int i = 0; i < M * K; i++)
        axe_number_put_int(s, x.a + i * ws, integer(s, &seed));
    for (int i = 0; i < N * K; i++)
        axe_number_put_int(t, x.b + i * wt, integer(t, &seed));
    if (compile(cx, machine,
                (const char *[]){axe_type_table[s].name, axe_type_table[t].name,
                                 "i32"},
                AXE_STAGE_C, &p) != AXE_OK ||
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    launch(cx, dev, p, &x, &d);
    for (int i = 0; i < M * N; i++) {
        int64_t got = axe_number_get_int(AXE_TYPE_i32, x.c + i * 4);
        if (got != sum(&x, i / N, i % N))
            fail_msg("%s, %s x %s: [%d, %d] is %lld, not %d (seed 7)", machine,
                     axe_type_table[s].name, axe_type_table[t].name, i / N,
                     i % N, (long long)got, sum(&x, i / N, i % N));
    }
    assert_int_equal(d.n_wrong, 0);
    axe_device_free(dev);
    axe_ctx_free(cx);
}

static void
test_integers(void **state)
{
    static const char *const machine[] = {"cpu-avx512-vnni", "cpu-avx2",
                                          "cpu-base"};
    static const axe_type    type[][2] = {{AXE_TYPE_i8, AXE_TYPE_i8},
                                          {AXE_TYPE_u8, AXE_TYPE_i8},
                                          {AXE_TYPE_i8, AXE_TYPE_u8},
                                          {AXE_TYPE_u8, AXE_TYPE_u8},
                                          {AXE_TYPE_i16, AXE_TYPE_i16}};
    axe_ctx                 *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(machine); i++) {
        const axe_machine *mc;
        assert_int_equal(axe_machine_find(cx, machine[i], &mc), AXE_OK);
        for (int t = 0; t < AXE_LEN(type) && axe_machine_runs_here(mc); t++)
            check_integers(machine[i], type[t][0], type[t][1]);
    }
    axe_ctx_free(cx);
}

/* bf16 with subnormals and large numbers stays within the reference's bound,
 * and an infinity times a normal number is one. */
static void
check_bf16(const char *text)
{
    axe_ctx *cx = axe_ctx_new();
    matrices x = {.type = {AXE_TYPE_bf16, AXE_TYPE_bf16, AXE_TYPE_f32}};
    const axe_program *p;
    axe_device        *dev = NULL;
    axe_difference     d;
    unsigned           seed = 11;

    for (int i = 0; i < (M + N) * K; i++) {
        seed = seed * 1664525u + 1013904223u;
        double v = (double)(seed >> 8) * 0x1p-23 - 1;
        v = ldexp(v, i % 3 == 0 ? -130 : i % 3 == 1 ? 0 : 40);
        axe_number_put(AXE_TYPE_bf16,
                       i < M * K ? x.a + i * 2 : x.b + (i - M * K) * 2, v);
    }
    axe_number_put(AXE_TYPE_bf16, x.a + (2 * K + K - 1) * 2, INFINITY);
    for (int n = 0; n < N; n++)
        axe_number_put(AXE_TYPE_bf16, x.b + (n * K + K - 1) * 2, 1.5);
    if (compile_text(cx, text, "cpu", (const char *[]){"bf16", "bf16", "f32"},
                     AXE_STAGE_C, &p) != AXE_OK ||
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    launch(cx, dev, p, &x, &d);
    assert_int_equal(d.n_wrong, 0);
    for (int n = 0; n < N; n++)
        assert_true(isinf(((float *)(void *)x.c)[2 * N + n]));
    assert_true(isfinite(((float *)(void *)x.c)[0]));
    axe_device_free(dev);
    axe_ctx_free(cx);
}

static void
test_bf16(void **state)
{
    (void)state;
    check_bf16(product);
    check_bf16(folded);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),  cmocka_unit_test(test_folded_choice),
        cmocka_unit_test(test_made_up), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_bf16),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
