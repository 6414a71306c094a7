/* test_cuda_tc.c - CUDA C of products in tensor memory, made by hand. */
#include "goldens.h"
#include "tc_grids.h"

static void
test_gemm(void **state)
{
    static const tc_spec one = {256, 128, 192, 32, 3, 1};
    static const tc_spec two = {256, 128, 192, 32, 3, 2};
    axe_ctx             *cx = axe_ctx_new();
    maker                m;

    (void)state;
    compare(cx, make_tc(&m, cx, &one), "tc.sm_100a");
    compare(cx, make_tc(&m, cx, &two), "tc_pair.sm_100a");
    axe_ctx_free(cx);
}

/* The smallest P of a row, for elements of a type; 0: none. */
static int
parameter(const axe_atom *a, axe_type t)
{
    int p = 0;

    if (a->space[1] == AXE_ARG_MAP)
        return 2;
    if (a->step == 0)
        return axe_atom_param(a, t, &p) ? p : 0;
    for (p = a->lo; p <= a->hi && !axe_atom_takes(a, p); p++)
        ;
    return p;
}

static axe_arg
operand(maker *m, const axe_atom *a, int which, const axe_tensor *const *at_of)
{
    const axe_tensor *t = at_of[a->space[which]];
    axe_arg           g = {.space = a->space[which], .tensor = t};

    if (g.space == AXE_ARG_MAP)
        return box(m, 0, num(m, 0), num(m, 0));
    g.at = num(m, g.space == AXE_ARG_INT ? 32 : 0);
    if (g.space == AXE_ARG_DSMEM)
        g.cta = num(m, 0);
    if (which < 3 && axe_atom_by_descriptor(a, which)) {
        g.desc = 0x0000404000010000;
    }
    return g;
}

/* Every row for one CTA, or for two, once. */
static void
print_rows(axe_ctx *cx, axe_buf *b, const char *not_of)
{
    maker             m;
    const axe_tensor *of[AXE_ARG_INT + 1] = {NULL}, *bytes[AXE_ARG_INT + 1];
    const axe_tensor *scales;

    make(&m, cx, "sm_100a", 128, 2, 2);
    of[AXE_ARG_REG] = array(&m, "r", AXE_TYPE_f16, 256);
    of[AXE_ARG_SHARED] = buffer(&m, "s", AXE_TYPE_f16, 4096, 128);
    of[AXE_ARG_TMEM] = tmem(&m, "t", AXE_TYPE_f16, 256);
    scales = tmem(&m, "scales", AXE_TYPE_f8e8m0, 4);
    of[AXE_ARG_DSMEM] = of[AXE_ARG_SHARED];
    (void)new_map(&m, param(&m, "X", AXE_TYPE_f16, AXE_DIR_IN, 64, 64), 64, 64,
                  128);
    memcpy(bytes, of, sizeof bytes);
    bytes[AXE_ARG_REG] = array(&m, "q", AXE_TYPE_u8, 16);
    bytes[AXE_ARG_SHARED] = buffer(&m, "p", AXE_TYPE_u8, 4096, 128);
    m.grid.tmem_base = array(&m, "base", AXE_TYPE_u32, 1);
    for (int i = 0; i < m.machine->n_atom; i++) {
        const axe_atom *a = &m.machine->atom[i];
        axe_arg         arg[6];
        int             n = 0, p;
        bool            is_bytes = strstr(a->name, ".b8") != NULL;
        if (strcmp(a->needs, "tc") != 0 || strcmp(a->group, not_of) == 0)
            continue;
        p = a->kind == AXE_ATOM_SYNC
                ? 0
                : parameter(a, is_bytes ? AXE_TYPE_u8 : AXE_TYPE_f16);
        for (; n < 3 && a->space[n] != AXE_ARG_NONE; n++)
            arg[n] = operand(&m, a, n, is_bytes ? bytes : of);
        if (a->kind == AXE_ATOM_CONTRACT)
            arg[n++] = integer(num(&m, 1));
        if (a->kind == AXE_ATOM_COPY && strstr(a->asm_text, "$h3"))
            arg[n++] = integer(num(&m, 3)); /* CTAs */
        for (int k = 0; k < 2 && a->scale[k]; k++)
            arg[n++] = in_tmem(scales, num(&m, 2 * k));
        (void)atom(&m, a->name, p, n, arg);
    }
    if (axe_print_cuda(cx, made(&m), false, b) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
}

/* Every row that needs tensor memory has a text; TC_ROWS=NAME keeps them in
 * NAME.0.cu and NAME.1.cu for a compiler. */
static void
test_rows(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int pair = 0; pair < 2; pair++) {
        axe_buf     b = {.cx = cx};
        const char *name = getenv("TC_ROWS");
        print_rows(cx, &b, pair ? "tc" : "tc.pair");
        if (name) {
            FILE *f = fopen(axe_textf(cx, "%s.%d.cu", name, pair), "wb");
            assert_non_null(f);
            fwrite(b.text, 1, b.len, f);
            fclose(f);
        }
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
