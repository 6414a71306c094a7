/* test_signs.c - what is divided as unsigned numbers are is not negative.
 *
 * Both printers spell a division as the machine does it where variables make
 * the dividend, since these are at least 0 unless they are of kind PART
 * (axe_is_nonneg).  No test's results say that this holds at other sizes.  Here
 * it is proved, by what each variable is set to, of the library's kernels as
 * they are lowered for some machines. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "lower/lower.h"
#include "run/program.h"

enum { MAX_DEF = 4096, MOST_TEXT = 1 << 16 };

/* What a variable may be: the value of a LET or SET, where a loop begins. */
typedef struct def {
    const axe_var  *var;
    const axe_node *value; /* NULL: an element, which may be anything */
    bool            open; /* it is being looked at: not below 0, by induction */
} def;

typedef struct proof {
    axe_ctx    *cx;
    const char *kernel, *machine;
    bool        shifts; /* by powers of two: that is exact */
    int         n, n_proved, n_failed;
    def         of[MAX_DEF];
} proof;

static void
define(proof *p, const axe_var *v, const axe_node *value)
{
    assert_true(p->n < MAX_DEF);
    p->of[p->n++] = (def){v, value, false};
}

static void
define_all(proof *p, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_LET || l->kind == AXE_LIR_SET)
            define(p, l->var, l->value);
        if (l->kind == AXE_LIR_LOOP)
            define(p, l->var, l->begin);
        if (l->kind == AXE_LIR_TAKE)
            define(p, l->var, NULL);
        define_all(p, &l->body);
        define_all(p, &l->other);
    }
}

/* Of a variable: at least 0 if all that it is set to is. */
static bool
known(const void *user, const axe_node *n, axe_interval *out)
{
    proof *p = *(proof *const *)user;

    if (n->op != AXE_OP_var || n->u.var->kind == AXE_VAR_PART)
        return false;
    *out = (axe_interval){0, 0, true, false};
    for (int i = 0; i < p->n; i++) {
        def *d = &p->of[i];
        if (d->var != n->u.var || d->open)
            continue;
        axe_interval r = {0};
        d->open = true;
        if (d->value)
            r = axe_interval_where(d->value, known, user);
        d->open = false;
        if (!r.has_lo || r.lo < 0)
            out->has_lo = false;
    }
    return true;
}

static bool
is_power(const axe_node *n)
{
    return n->op == AXE_OP_iconst && n->u.i > 0 && (n->u.i & (n->u.i - 1)) == 0;
}

static void
look_at(void *user, const axe_node *n)
{
    proof       *p = user;
    axe_interval r;

    if (p->shifts && n->n_arg == 2 && is_power(n->arg[1]))
        return;
    if ((n->op != AXE_OP_div && n->op != AXE_OP_mod && n->op != AXE_OP_cdiv) ||
        axe_type_is_float(n->type) || !axe_is_nonneg(n->arg[0]) ||
        n->arg[0]->op == AXE_OP_iconst)
        return;
    r = axe_interval_where(n->arg[0], known, &p);
    p->n_proved++;
    if (r.has_lo && r.lo >= 0)
        return;
    if (p->n_failed++ < 5)
        print_error("%s on %s: %s may be negative\n", p->kernel, p->machine,
                    axe_node_text(p->cx, n->arg[0]));
}

static void
look(proof *p, const axe_node *n)
{
    if (n)
        axe_node_walk(n, look_at, p);
}

static void
look_through(proof *p, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        look(p, l->begin);
        look(p, l->end);
        look(p, l->value);
        look(p, l->pred);
        look(p, l->mem.at);
        look(p, l->choice[0].at);
        look(p, l->choice[1].at);
        for (int k = 0; k < l->n_arg && l->arg; k++) {
            look(p, l->arg[k].at);
            look(p, l->arg[k].cta);
            for (int c = 0; c < l->arg[k].n_at; c++)
                look(p, l->arg[k].coord[c]);
        }
        look_through(p, &l->body);
        look_through(p, &l->other);
    }
}

static void
prove_block(proof *p, const axe_lblock *b)
{
    p->n = 0;
    define_all(p, b);
    look_through(p, b);
}

static const char *const machines[] = {"cpu-avx2", "cpu-neon", "sm_80",
                                       "sm_90a", "sm_100a"};

/* How many divisions were proved. */
static int
prove_kernel(proof *p, const char *text, size_t n, int number)
{
    axe_ctx           *cx = p->cx = axe_ctx_new();
    const axe_program *got = NULL;
    const axe_module  *m;
    int32_t            src = axe_source_add(cx, "k.axe", text, n);
    axe_compile_spec   spec = {.machine = p->machine};

    assert_int_equal(axe_module_parse(cx, src, &m), AXE_OK);
    spec.kernel = p->kernel = axe_module_kernel_name(m, number);
    if (axe_compile(cx, src, &spec, AXE_STAGE_LOWER, &got) == AXE_OK) {
        p->shifts = got->lowered->n_grid > 0;
        prove_block(p, &got->lowered->body);
        for (int i = 0; i < got->lowered->n_grid; i++)
            prove_block(p, &got->lowered->grid[i].body);
    }
    axe_ctx_free(cx);
    return p->n_proved;
}

static void
test_library(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    DIR           *dir = opendir(AXE_SOURCE_DIR "/kernels");
    proof         *p = axe_new(cx, proof);
    char          *text = axe_alloc(cx, MOST_TEXT);
    struct dirent *e;

    (void)state;
    assert_non_null(dir);
    while ((e = readdir(dir)) != NULL) {
        const axe_module *m;
        const char       *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".axe") != 0)
            continue;
        FILE *f =
            fopen(axe_textf(cx, AXE_SOURCE_DIR "/kernels/%s", e->d_name), "rb");
        assert_non_null(f);
        size_t n = fread(text, 1, MOST_TEXT - 1, f);
        assert_int_equal(fclose(f), 0);
        text[n] = '\0';
        assert_int_equal(
            axe_module_parse(cx, axe_source_add(cx, e->d_name, text, n), &m),
            AXE_OK);
        for (int k = 0; k < axe_module_n_kernel(m); k++)
            for (int i = 0; i < AXE_LEN(machines); i++) {
                p->machine = machines[i];
                (void)prove_kernel(p, text, n, k);
            }
    }
    closedir(dir);
    assert_int_equal(p->n_failed, 0);
    assert_true(p->n_proved > 1000);
    axe_ctx_free(cx);
}

/* Elements may be anything, and are divided as the language says. */
static void
test_elements(void **state)
{
    static const char text[] =
        "kernel k(in f32 X[N], in i32 I[M], out f32 Y[M])\n"
        "{\n"
        "    index m;\n"
        "    cta (i : 1) Y[m] = X[(I[m] + 3) / 3 + I[m] % 5];\n"
        "}\n";
    proof *p = test_malloc(sizeof *p);

    (void)state;
    *p = (proof){0};
    for (int i = 0; i < AXE_LEN(machines); i++) {
        p->machine = machines[i];
        (void)prove_kernel(p, text, strlen(text), 0);
    }
    assert_int_equal(p->n_failed, 0);
    test_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
