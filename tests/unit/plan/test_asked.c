/* test_asked.c - accesses are resolved again only where a place has changed,
 * and no more often than that while a kernel is planned; and what the host has
 * asked of the sizes, threads do not ask again. */
#include <stdlib.h>

#include "plan/access/access.h"
#include "plan/simt/copy/copy.h"
#include "plan/target.h"
#include "planned.h"
#include "run/array/file.h"
#include "run/program.h"

/* ------------------------------------------------------------------ one answer
 */

typedef struct asking {
    axe_ctx    *cx;
    axe_planner p;
    axe_stmt   *s;
    axe_place  *a, *c; /* tiles that s reads and writes */
} asking;

static const axe_layout *
strided(axe_ctx *cx, int64_t row)
{
    const axe_layout *l;

    assert_int_equal(axe_layout_strided(cx, (axe_shape){2, (int64_t[]){8, 16}},
                                        (int64_t[]){row, 1}, &l),
                     AXE_OK);
    return l;
}

/* A planner that has placed the tiles of one statement. */
static asking
open_planner(void)
{
    static const char text[] =
        "kernel k(in f32 A[M, 16], out f32 C[M, 16]) { index m, n; cta (i : M "
        "by 8) { shared f32 a[8, 16]; shared f32 c[8, 16]; a[m, n] = A[i*8 + "
        "m, n]; c[m, n] = 2 * a[m, n]; C[i*8 + m, n] = c[m, n]; } }";
    asking             x = {.cx = axe_ctx_new()};
    const axe_machine *mc;
    const axe_kernel  *k;

    assert_int_equal(axe_machine_find(x.cx, "cpu-avx2", &mc), AXE_OK);
    assert_int_equal(kernel_of(x.cx, text, mc, &k), AXE_OK);
    x.p = (axe_planner){
        .cx = x.cx,
        .mc = mc,
        .target = axe_plan_target_of(mc),
        .kernel = k,
        .place = axe_new_array(x.cx, axe_place, k->n_tensor + 1),
        .pack = axe_new_array(x.cx, axe_packing, k->n_tensor + 1),
        .asked = axe_new_array(x.cx, axe_asked *, k->n_index_stmt + 1)};
    for (int i = 0; i < k->body[0]->n_body; i++) {
        axe_stmt *s = k->body[0]->body[i];
        if (s->kind == AXE_STMT_INDEX && s->id == 1)
            x.s = s;
        if (s->kind != AXE_STMT_TENSOR)
            continue;
        axe_place *pl = &x.p.place[s->tensor->id];
        *pl = (axe_place){.tensor = s->tensor,
                          .type = s->tensor->type,
                          .layout = strided(x.cx, 16)};
        *(strcmp(s->tensor->name, "a") == 0 ? &x.a : &x.c) = pl;
    }
    return x;
}

static const char *
operands(axe_ctx *cx, const axe_request *r)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < r->n_operand; i++) {
        const axe_operand *op = &r->operand[i];
        axe_putf(&b, "%s @ %s", axe_node_text(cx, op->load),
                 axe_node_text(cx, op->base));
        for (int k = 0; k < op->n_term; k++)
            for (int j = 0; j < op->term[k].n_iter; j++)
                axe_putf(&b, " + %s/%d*%d", op->term[k].var->name,
                         (int)op->term[k].iter[j].extent,
                         (int)op->term[k].iter[j].stride);
        axe_putf(&b, "; ");
    }
    return b.text;
}

/* Asks, and says how often that resolved anything; what comes is what is
 * resolved afresh. */
static int
ask(asking *x)
{
    axe_request r, fresh;
    int         before = x->p.n_request, n;

    assert_int_equal(axe_request_of(&x->p, x->s, &r), AXE_OK);
    n = x->p.n_request - before;
    assert_int_equal(axe_request_make(&x->p, x->s, &fresh), AXE_OK);
    assert_string_equal(operands(x->cx, &r), operands(x->cx, &fresh));
    /* what is done to an answer does not come back */
    r.operand[0].n_term = 0;
    r.operand[1].base = NULL;
    r.nest[0].lanes = 77;
    return n;
}

static void
test_places(void **state)
{
    asking x = open_planner();

    (void)state;
    assert_int_equal(ask(&x), 1);
    assert_int_equal(ask(&x), 0);
    x.a->why = "another";
    x.a->offset = 64;
    x.a->layout = strided(x.cx, 16); /* another, written alike */
    assert_int_equal(ask(&x), 0);
    x.a->layout = strided(x.cx, 20);
    assert_int_equal(ask(&x), 1);
    x.c->layout = strided(x.cx, 24);
    assert_int_equal(ask(&x), 1);
    x.c->type = AXE_TYPE_f64;
    assert_int_equal(ask(&x), 1);
    x.a->stage = 160;
    assert_int_equal(ask(&x), 1);
    assert_int_equal(ask(&x), 0);
    axe_ctx_free(x.cx);
}

/* ---------------------------------------------------------------- all of them
 */

/* So many at most, of `n` statements in the kernel as planned. */
static const struct {
    const char *kernel, *machine;
    int         n, most;
} bound[] = {
    {"gemm_sm90", "sm_90a", 5, 15}, {"gemm_sm100", "sm_100a", 6, 22},
    {"gemm", "sm_80", 5, 15},       {"attention_sm90", "sm_90a", 29, 51},
    {"gemm", "cpu-avx2", 6, 6},
};

static const axe_plan *
plan_of(axe_ctx *cx, const char *file, const char *kernel, const char *machine)
{
    axe_compile_spec   spec = {.kernel = kernel, .machine = machine};
    axe_bytes          b;
    const axe_program *of;
    int32_t            src;

    assert_int_equal(
        axe_file_read(cx, axe_textf(cx, "%s/%s", AXE_SOURCE_DIR, file), &b),
        AXE_OK);
    src = axe_source_add(cx, kernel, (const char *)b.data, b.len);
    free(b.data);
    assert_int_equal(axe_compile(cx, src, &spec, AXE_STAGE_PLAN, &of), AXE_OK);
    return of->plan;
}

static void
test_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(bound); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p =
            plan_of(cx, axe_textf(cx, "kernels/%s.axe", bound[i].kernel),
                    bound[i].kernel, bound[i].machine);
        if (p->n_request > bound[i].most || p->n_schedule != bound[i].n)
            fail_msg("%s on %s: %d requests for %d statements\n",
                     bound[i].kernel, bound[i].machine, p->n_request,
                     p->n_schedule);
        axe_ctx_free(cx);
    }
}

/* ---------------------------------------------------------- what the host asks
 */

/* On what conditions tiles go by way of staging, and pieces are copied, in the
 * order of the text: strides that boxes of the same launch ask for are none. */
static const struct {
    const char *file, *kernel, *says;
} asks[] = {
    {"kernels/gemm_sm90.axe", "gemm_sm90", "C: N%8 == 0; "},
    {"kernels/gemm_epilogue_sm90.axe", "gemm_residual_sm90", "C: ; "},
    {"examples/overlap_sm90.axe", "overlap_sm90", "H: ; Y: L%8 == 0; "},
    {"kernels/moe_sm90.axe", "moe_sm90", "X: ; A: ; D: ; D: ; "},
    /* scales are picked one by one, and nobody waits for them */
    {"kernels/moe_f8_sm90.axe", "moe_f8_sm90", "X: ; SX: ; A: ; D: ; D: ; "},
};

static void
test_host(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(asks); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p = plan_of(cx, asks[i].file, asks[i].kernel, "sm_90a");
        axe_buf         b = {.cx = cx};
        for (int k = 0; k < p->n_schedule; k++) {
            const axe_schedule         *s = p->schedule[k];
            const struct axe_simt_copy *c = s ? s->simt->copy : NULL;
            const axe_node             *when;
            if (!c || (c->box && !c->stage))
                continue;
            when = c->stage ? c->stage->when : c->when;
            axe_putf(&b, "%s: %s; ",
                     s->operand[c->stage ? 0 : c->from].tensor->name,
                     when ? axe_node_text(cx, when) : "");
        }
        assert_string_equal(b.text, asks[i].says);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
