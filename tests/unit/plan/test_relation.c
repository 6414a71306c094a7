/* test_relation.c - who waits for whom in groups of scopes that overlap,
 * against all pairs of entities that touch an element. */
#include "ir/domain.h"
#include "ir/rewrite.h"
#include "plan/access/relation.h"
#include "plan/cpu/schedule.h"
#include "planned.h"

#define HEAD                                                                   \
    "kernel k(in f32 X[M, N], in i32 R[M], in i32 Q[M, 3], out f32 Y[M, N]) {" \
    " index m, n, k, r; global f32 S[M, N]; global f32 T[M, N]; "              \
    "global i32 G[M, N]; overlap { "
#define TAIL "} }"
#define A44 "cta (a : M by 4, b : N by 4) S[a*4 + m, b*4 + n] = X[a*4 + m, 0]; "
#define A3 "cta (a : M by 3) S[a*3 + m, n] = X[a*3 + m, n]; "
#define Y1(load) "cta (i : M by 5) Y[i*5 + m, n] = " load "; "
#define LOOP(head, load) "cta (i : M by 5) " head " Y[i*5 + m, n] = " load "; "
#define Y2(load) "cta (i : M by 8, j : N by 2) Y[i*8 + m, j*2 + n] = " load "; "

enum { M = 13, N = 6, MOST_VAR = 64, MOST_TOUCH = 1 << 16 };

/* clang-format off */
/* exact: entities wait for no other than those that touch what they touch. */
static const struct {
    bool        exact;
    const char *text, *says; /* of the first relation */
} row[] = {
    {true, A44 Y2("S[i*8 + m, j*2 + n]"), "a from 2*i to 2*i + 1, b = j/2"},
    {true, A44 "cta (i : M by 4, j : N by 4) Y[i*4 + m, j*4 + n] = S[i*4 + m, j*4 + n];", "a = i, b = j"},
    {true, A44 Y1("S[i*5 + m, n]"), "a from i*5/4 to (i*5 + 4)/4, all b"},
    {true, A44 Y1("sum[k](S[i*5 + m, k])"), "all b"},
    {true, A44 Y2("sum[k](S[k, j*2 + n])"), "all a, "},
    {true, A44 Y1("S[M - 1 - i*5 - m, n]"), "a from "},
    {true, A44 Y2("S[i*8 + m + 1, j*2 + n - 1]"), "a from i*2 to i*2 + 2, b from (j - 1)/2 to j/2"},
    /* always two, but not from a multiple of two on: no counter for both */
    {true, A44 Y2("S[i*8 + m + 4, j*2 + n]"), "a from i*2 + 1 to i*2 + 2, b = j/2"},
    {true, A44 Y2("S[i*8 + m - 4, j*2 + n]"), "a from i*2 - 1 to i*2, b = j/2"},
    {true, A3 Y1("S[i*5 + m, n]"), "a from "},
    {true, A3 Y1("S[2*i*5 + 2*m, n]"), "a from "},
    {false, A3 Y1("S[R[i*5 + m], n]"), "a = R/3, for each R[i*5 + m]"},
    {false, A3 Y1("sum[r](S[Q[i*5 + m, r], n])"), "a = Q/3, for each Q[i*5 + m, r]"},
    {false, A3 Y1("S[R[i*5 + m + 3], n]"), "a = R/3, for each R[i*5 + m + 3]"},
    {false, A44 Y2("S[R[j*2 + n], j*2 + n]"), "a = R/4, b = j/2, "},
    /* in loops inside: for all iterations, as far as these are known */
    {false, A3 LOOP("for (e : 3)", "S[Q[i*5 + m, e], n]"), "a = Q/3, for each Q[i*5 + m, e]"},
    {false, A3 LOOP("for (c : N)", "S[Q[i*5 + m, c], n]"), "a = Q/3, for each Q[i*5 + m, c]"},
    {false, A3 LOOP("for (c : cdiv(N, 4)) for (e : 2)", "S[Q[i*5 + m, c*2 + e], n]"), "a = Q/3, for each Q[i*5 + m, c*2 + e]"},
    {false, A3 LOOP("for (c : 3) for (e : c + 1)", "S[Q[i*5 + m, e], n]"), "a = Q/3, for each Q[i*5 + m, e]"},
    {false, A3 LOOP("for (c : M) for (e : min(c + 1, i + 2))", "S[Q[c, e], n]"), "a = Q/3, for each Q[c, e]"},
    {false, A3 LOOP("for (e : 3)", "S[Q[i*5 + m, e] + e, n]"), "all a"},
    {false, A3 LOOP("for (e : 3)", "S[Q[(i*5 + m)/2, e], n]"), "a = Q/3, for each Q[(i*5 + m)/2, e]"},
    {false, A3 "cta (i : M by 5) { i32 c = R[i]; for (e : c) Y[i*5 + m, n] = S[Q[i*5 + m, e], n]; }", "all a"},
    {false, A3 LOOP("for (e : 3)", "S[Q[i*5 + m, Q[i, e]], n]"), "all a"},
    {false, A44 "cta (i : M by 8, j : N by 2) for (e : 3) Y[i*8 + m, j*2 + n] = S[Q[i*8 + m, e], j*2 + n];", "a = Q/4, b = j/2, for each Q[i*8 + m, e]"},
    /* two statements that read as far as each does */
    {false, A3 "cta (i : M by 5) { reg f32 x[2]; x[m] = S[R[i*5 + m], 0]; "
           "Y[i*5 + m, n] = S[R[i*5 + m], n] + x[0]; }", "a = R/3, for each R[i*5 + m]"},
    {false, A3 Y1("S[R[R[i*5 + m]], n]"), "all a"},
    {false, A3 Y1("S[(i*5 + m)/2, n]"), "all a"},
    {false, A3 Y1("i > 0 ? S[0, n] : 0"), "a = 0"},
    /* overwritten, written twice */
    {false, A3 "cta (c : M by 3) T[c*3 + m, n] = S[c*3 + m + 2, n]; "
           "cta (i : M by 4) S[i*4 + m, n] = X[i*4 + m, n]; ", "a from "},
    {true, A3 "cta (i : M by 4) S[i*4 + m, n] = X[i*4 + m, n]; ", "a from "},
    /* three scopes; one reads what both made */
    {true, A3 "cta (c : M by 2) T[c*2 + m, n] = S[c*2 + m, n]; " Y1("S[i*5 + m, n] + T[i*5 + m, n]"), "a from "},
    {true, A3 "cta (c : M by 2) T[c*2 + m, n] = X[c*2 + m, n]; " Y1("T[i*5 + m, n]"), "c from "},
    /* two that need all of it: each waits */
    {true, A3 "cta (c : M by 2) T[c*2 + m, n] = sum[k](S[k, n]); " Y1("sum[k](S[k, n])"), "all a"},
    /* the index tensor is made by the group: nobody knows it before */
    {false, A3 "cta (c : M by 2) G[c*2 + m, n] = Q[c*2 + m, 0]; " Y1("S[G[i*5 + m, 0], n]"), "all a"},
    {false, A3 "cta (c : M by 2) { if (c > 1) T[c*2 + m, n] = 0; else G[c*2 + m, n] = Q[c*2 + m, 0]; } "
           Y1("S[G[i*5 + m, 0], n]"), "all a"},
    /* rows of many entities: one of three dimensions told */
    {true, "cta (a : M, b : N) S[a, b] = X[a, b]; " Y2("S[i*8 + m, j*2 + n]"), "a from 8*i to 8*i + 7, b from 2*j to 2*j + 1"},
    /* nothing in common */
    {true, A3 Y1("X[i*5 + m, n]"), NULL},
};
/* clang-format on */

/* ------------------------------------------------------------ small values */

typedef struct env {
    int            n;
    int64_t        scalar; /* of the kernel's one */
    const axe_var *var[MOST_VAR];
    int64_t        value[MOST_VAR];
} env;

static void
set(env *e, const axe_var *v, int64_t value)
{
    int i = 0;

    while (i < e->n && e->var[i] != v)
        i++;
    assert_true(i < MOST_VAR);
    e->n = i == e->n ? i + 1 : e->n;
    e->var[i] = v;
    e->value[i] = value;
}

static int64_t eval(const env *e, const axe_node *n);

/* R[i] and Q[i, j] hold numbers, some outside; 0 outside of themselves. */
static int64_t
element(const env *e, const axe_node *n)
{
    int64_t i = n->n_arg > 0 ? eval(e, n->arg[0]) : 0,
            j = n->n_arg > 1 ? eval(e, n->arg[1]) : 0;

    if (n->n_arg == 0)
        return e->scalar;
    if (i < 0 || i >= M || j < 0 || j >= 3)
        return 0;
    return (i * 7 + j * 5 + 3) % (M + 3) - 1;
}

static int64_t
eval(const env *e, const axe_node *n)
{
    int64_t arg[3], out;

    if (axe_is_iconst(n, &out))
        return out;
    if (n->op == AXE_OP_load)
        return element(e, n);
    if (n->op == AXE_OP_cast)
        return eval(e, n->arg[0]);
    if (n->op == AXE_OP_var) {
        for (int i = 0; i < e->n; i++)
            if (e->var[i] == n->u.var)
                return e->value[i];
        fail_msg("no value for %s", n->u.var->name);
    }
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = eval(e, n->arg[i]);
    assert_true(axe_op_value(n->op, arg, &out));
    return out;
}

/* ------------------------------------------------------------ what is touched
 */

typedef struct touch {
    int scope, entity, tensor; /* by number in the group, in its scope, by id */
    int64_t at;
    bool    writes;
} touch;

typedef struct touched {
    int   n;
    touch item[MOST_TOUCH];
} touched;

typedef struct walk {
    env            *e;
    touched        *t;
    int             scope, entity;
    const axe_stmt *stmt;
} walk;

static void
add(walk *w, const axe_node *load, bool writes)
{
    int64_t i = eval(w->e, load->arg[0]), j = eval(w->e, load->arg[1]);

    if (i < 0 || i >= M || j < 0 || j >= N)
        return;
    assert_true(w->t->n < MOST_TOUCH);
    w->t->item[w->t->n++] =
        (touch){w->scope, w->entity, load->u.tensor->id, i * N + j, writes};
}

static bool
is_global(const axe_node *load)
{
    return load->u.tensor->space == AXE_SPACE_GLOBAL;
}

static void
reads(walk *w, const axe_node *n)
{
    if (n->op == AXE_OP_reduce) {
        const axe_node *e = n->u.reduce.extent[0];
        assert_int_equal(n->u.reduce.n_over, 1);
        for (int64_t i = 0; i < eval(w->e, e); i++) {
            set(w->e, n->u.reduce.over[0], i);
            reads(w, n->arg[0]);
        }
        return;
    }
    if (n->op == AXE_OP_load && n->type == AXE_TYPE_f32 && is_global(n))
        add(w, n, false);
    for (int i = 0; i < n->n_arg && n->op != AXE_OP_load; i++)
        reads(w, n->arg[i]);
}

static void
each_point(walk *w, int d)
{
    const axe_stmt *s = w->stmt;

    if (d == s->n_dim) {
        if (is_global(s->dst)) {
            int64_t i = eval(w->e, s->dst->arg[0]);
            int64_t j = eval(w->e, s->dst->arg[1]);
            if (i < 0 || i >= M || j < 0 || j >= N)
                return;
            add(w, s->dst, true);
        }
        reads(w, s->value);
        return;
    }
    for (int64_t i = 0; i < eval(w->e, s->dim[d].extent); i++) {
        set(w->e, s->dim[d].var, i);
        each_point(w, d + 1);
    }
}

static void
each_stmt(walk *w, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        w->stmt = s;
        if (s->kind == AXE_STMT_INDEX && s->dst->n_arg > 0)
            each_point(w, 0);
        else if (s->kind == AXE_STMT_INDEX)
            w->e->scalar = eval(w->e, s->value);
        for (int64_t k = 0;
             s->kind == AXE_STMT_FOR && k < eval(w->e, s->var[0]->extent);
             k++) {
            set(w->e, s->var[0], k);
            each_stmt(w, s->n_body, s->body);
        }
    }
}

static int
count_of(env *e, const axe_stmt *s)
{
    int64_t n = 1;

    for (int k = 0; k < s->n_var; k++)
        n *= eval(e, s->var[k]->extent);
    return (int)n;
}

/* The variables of entity number `at`, the last fastest. */
static void
enter(env *e, const axe_stmt *s, int64_t at)
{
    for (int k = s->n_var - 1; k >= 0; k--) {
        int64_t n = eval(e, s->var[k]->extent);
        set(e, s->var[k], at % n);
        at /= n;
    }
}

static void
touch_all(env *e, const axe_overlap_group *g, touched *t)
{
    walk w = {.e = e, .t = t};

    for (w.scope = 0; w.scope < g->n_scope; w.scope++) {
        const axe_stmt *s = g->scope[w.scope];
        for (w.entity = 0; w.entity < count_of(e, s); w.entity++) {
            enter(e, s, w.entity);
            each_stmt(&w, s->n_body, s->body);
        }
    }
}

static bool
conflict(const touched *t, int from, int a, int to, int b)
{
    for (int i = 0; i < t->n; i++) {
        const touch *x = &t->item[i];
        if (x->scope != from || x->entity != a)
            continue;
        for (int k = 0; k < t->n; k++) {
            const touch *y = &t->item[k];
            if (y->scope == to && y->entity == b && x->tensor == y->tensor &&
                x->at == y->at && (x->writes || y->writes))
                return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------- what is waited
 */

/* Do the coordinates of entity a lie in the box, for these values? */
static bool
in_box(env *e, const axe_relation *r, const int64_t *a)
{
    for (int k = 0; k < r->from->n_var; k++) {
        int64_t by = r->counters->by[k];
        if (by > 0 &&
            (a[k] / by < eval(e, r->lo[k]) || a[k] / by > eval(e, r->hi[k])))
            return false;
    }
    return true;
}

static bool
each_read(env *e, const axe_relation *r, const int64_t *a, int d)
{
    if (d < r->n_each) {
        for (int64_t i = 0; i < eval(e, r->each[d].extent); i++) {
            set(e, r->each[d].var, i);
            if (each_read(e, r, a, d + 1))
                return true;
        }
        return false;
    }
    for (int i = 0; i < r->n_read; i++)
        set(e, r->read[i].value, eval(e, r->read[i].load));
    return in_box(e, r, a);
}

static bool
waits(env *e, const axe_overlap_group *g, int from, int a, int to, int b)
{
    int64_t at[8];

    enter(e, g->scope[from], a);
    for (int k = 0; k < g->scope[from]->n_var; k++)
        at[k] = eval(e, axe_var_node(g->counters.cx, AXE_NOWHERE,
                                     g->scope[from]->var[k]));
    enter(e, g->scope[to], b);
    for (int i = 0; i < g->relation.n; i++) {
        const axe_relation *r = g->relation.item[i];
        if (r->from == g->scope[from] && r->to == g->scope[to] &&
            each_read(e, r, at, 0))
            return true;
    }
    return false;
}

/* The counter of entity a, and how far it goes. */
static int64_t
counter_of(axe_ctx *cx, env *e, const axe_counters *x, int a, int64_t *full)
{
    const axe_node *at[8] = {NULL};

    enter(e, x->of, a);
    for (int k = 0; k < x->of->n_var; k++)
        if (x->by[k] > 0)
            at[k] = axe_index_const(
                cx, eval(e, axe_var_node(cx, AXE_NOWHERE, x->of->var[k])) /
                        x->by[k]);
    *full = eval(e, axe_counters_full(cx, x, at));
    return eval(e, axe_counters_at(cx, x, at)) - eval(e, x->first);
}

/* Is each counter full when all entities are done, and not before? */
static void
check_counters(int i, axe_ctx *cx, env *e, const axe_overlap_group *g)
{
    for (int c = 0; c < g->counters.n; c++) {
        const axe_counters *x = g->counters.item[c];
        int64_t             n = eval(e, x->n), full;
        int                *seen = axe_new_array(cx, int, (int)n + 1);
        for (int a = 0; a < count_of(e, x->of); a++) {
            int64_t w = counter_of(cx, e, x, a, &full);
            if (w < 0 || w >= n)
                fail_msg("row %d: counter %d of %d", i, (int)w, (int)n);
            seen[w]++;
        }
        for (int a = 0; a < count_of(e, x->of); a++) {
            int64_t w = counter_of(cx, e, x, a, &full);
            if (seen[w] != full)
                fail_msg("row %d: counter %d is %d, and full at %d", i, (int)w,
                         seen[w], (int)full);
        }
    }
}

static void
check_row(int i, axe_ctx *cx, const axe_kernel *k)
{
    static touched    t;
    static env        e;
    int               at = 0;
    axe_overlap_group g;

    while (axe_overlap_length(k->n_body - at, k->body + at) == 0)
        at++;
    g = axe_overlap_find(cx, axe_overlap_length(k->n_body - at, k->body + at),
                         k->body + at);
    if ((g.relation.n > 0) != (row[i].says != NULL))
        fail_msg("row %d: %d relations", i, g.relation.n);
    if (row[i].says) {
        const char *text = axe_relation_text(cx, g.relation.item[0]);
        if (!strstr(text, row[i].says))
            fail_msg("row %d: %s", i, text);
    }
    e.n = t.n = 0;
    for (int s = 0; s < k->n_size; s++)
        set(&e, k->size[s], strcmp(k->size[s]->name, "M") == 0 ? M : N);
    touch_all(&e, &g, &t);
    check_counters(i, cx, &e, &g);
    for (int to = 1; to < g.n_scope; to++)
        for (int from = 0; from < to; from++)
            for (int a = 0; a < count_of(&e, g.scope[from]); a++)
                for (int b = 0; b < count_of(&e, g.scope[to]); b++) {
                    bool must = conflict(&t, from, a, to, b);
                    bool does = waits(&e, &g, from, a, to, b);
                    if (must && !does)
                        fail_msg("row %d: %d of scope %d does not wait for %d "
                                 "of scope %d",
                                 i, b, to, a, from);
                    if (does && !must && row[i].exact)
                        fail_msg("row %d: %d of scope %d waits for %d of scope "
                                 "%d in vain",
                                 i, b, to, a, from);
                }
}

static void
test_boxes(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_machine *mc;
        const axe_kernel  *k;
        assert_int_equal(axe_machine_find(cx, "cpu-avx2", &mc), AXE_OK);
        if (kernel_of(cx, axe_textf(cx, "%s%s%s", HEAD, row[i].text, TAIL), mc,
                      &k) != AXE_OK)
            fail_msg("row %d: %s", i, axe_last_error(cx));
        check_row(i, cx, k);
        axe_ctx_free(cx);
    }
}

/* Memory that a text of the IR names for counters is not taken: it may be of
 * any size. */
static void
test_named(void **state)
{
    static const char text[] =
        "kernel k\nsize M\nindex m\nin f32 X[M] : (1)\nout f32 Y[M] : (1)\n"
        "{\nglobal i64 few[2] : (1)\n"
        "cta (i : cdiv(M, 8)) overlap 1 counted few {\n"
        "Y[i*8 + m] = X[i*8 + m] over m:8\n}\n}\n";
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;
    const axe_kernel  *k;
    const axe_plan    *p = NULL;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "cpu-avx2", &mc), AXE_OK);
    if (axe_kernel_read(cx, axe_source_add(cx, "k.ir", text, strlen(text)),
                        &k) != AXE_OK ||
        axe_plan_kernel(cx, k, mc, &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    assert_int_equal(p->core->overlap.n, 1);
    assert_null(((const axe_core_overlap *)p->core->overlap.item[0])->counters);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes),
                                       cmocka_unit_test(test_named)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
