/* test_halo.c - what devices are brought for subscripts that are no index
 * alone, against what their iterations look at, one by one.
 *
 * Random statements over meshes of two axes: sums of multiples of indices, a
 * folded one and a loop's number among them, divided, and clamped or modulo the
 * dimension.  A window is to be from the least to the largest value that a
 * device's iterations come to, clipped or around the dimension's end; one
 * operand for several loads is to bring no more than each of them; and a plan
 * what a device has not. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/share.h"
#include "base/ctx.h"
#include "run/dist/dist_int.h"

enum { CASES = 600, LOADS = 4, FOLDED = 3, LOOPS = 3, RANK = 2, MOST = 32 };

static uint64_t seed_;

static int
draw(int n)
{
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed_ >> 33) % (uint64_t)n);
}

/* (a*m + b*n + c*j + t*loop + e) / by, within the dimension if clamped; if
 * around, `more` dimensions more, and modulo the dimension. */
typedef struct sub {
    int  a, b, c, t, e, by;
    bool clamped, around;
    int  more;
} sub;

typedef struct statement {
    int         n_load;
    sub         of[LOADS][RANK];
    int64_t     extent[RANK];
    const char *text;
    const char *now;
} statement;

static void
draw_around(sub *s)
{
    s->around = true;
    s->more = draw(2) ? 0 : draw(4) - 1;
}

/* near: the index, or one of its neighbours; ring: around. */
static sub
draw_sub(int dim, bool near, bool ring)
{
    static const int one[] = {1, 1, 1, 1, -1, 2, -2, 3, 0};
    int              mine = one[draw(AXE_LEN(one))];
    sub              s = {.by = 1};

    if (near) {
        s = (sub){.a = dim == 0, .b = dim == 1, .e = draw(3) - 1, .by = 1};
        if (ring)
            draw_around(&s);
        return s;
    }
    *(dim ? &s.b : &s.a) = mine;
    if (draw(4) == 0) /* the index alone */
        return dim ? (sub){.b = 1, .by = 1} : (sub){.a = 1, .by = 1};
    if (draw(8) == 0 && mine != 0)
        *(dim ? &s.a : &s.b) = 1;
    s.c = mine != 0 && draw(3) == 0 ? 1 - 2 * draw(2) : 0;
    s.t = draw(6) == 0 ? 1 + draw(2) : 0;
    s.e = draw(7) - 3;
    s.by = draw(5) == 0 ? 2 + draw(2) : 1;
    s.clamped = draw(6) == 0;
    if (!s.clamped && draw(3) == 0)
        draw_around(&s);
    return s;
}

/* But for the remainder. */
static int64_t
value_of(const sub *s, int64_t extent, const int64_t *m, int j, int64_t loop)
{
    int64_t v = s->a * m[0] + s->b * m[1] + s->c * j + s->t * loop + s->e;

    v = v >= 0 ? v / s->by : -((-v + s->by - 1) / s->by);
    if (s->clamped)
        v = v < 0 ? 0 : v >= extent ? extent - 1 : v;
    return v + s->more * extent;
}

static bool
is_alone(const sub *s, int dim)
{
    return s->by == 1 && !s->clamped && !s->around && s->c == 0 && s->t == 0 &&
           s->e == 0 && s->a == (dim == 0) && s->b == (dim == 1);
}

static void
put_sub(axe_buf *b, const sub *s, int dim)
{
    if (is_alone(s, dim)) {
        axe_puts(b, dim ? "n" : "m");
        return;
    }
    axe_puts(b, s->clamped ? "min(max((" : s->around ? "((" : "(");
    axe_putf(b, "%d*m + %d*n + %d*j + %d*t + %d) / %d", s->a, s->b, s->c, s->t,
             s->e, s->by);
    if (s->clamped)
        axe_putf(b, ", 0), %s - 1)", dim ? "N" : "M");
    if (s->around)
        axe_putf(b, " + %d*%s) %% %s", s->more, dim ? "N" : "M",
                 dim ? "N" : "M");
}

static void
draw_statement(axe_ctx *cx, int number, statement *out)
{
    static const char *const layout[] = {
        "M @ x, N @ y", "M @ y, N @ x", "M @ (x, y), N", "M @ x, N",
        "M, N @ y",     "M, N",         "M @ y, N"};
    axe_buf     b = {.cx = cx};
    const char *x = layout[draw(AXE_LEN(layout))];
    bool        near = draw(3) == 0, ring = draw(2);

    out->n_load = 1 + draw(LOADS);
    out->extent[0] = 1 + draw(14);
    out->extent[1] = 1 + draw(9);
    axe_putf(&b,
             "mesh x[A], y[B];\n"
             "kernel k(in f32 X[%s], in f32 W[%d], out f32 Y[M @ x, N @ y])\n"
             "{\n    index m, n, j;\n    for (t : %d)\n"
             "        Y[m, n] = max[j](W[j] * (0",
             x, FOLDED, LOOPS);
    for (int i = 0; i < out->n_load; i++) {
        axe_puts(&b, " + X[");
        for (int d = 0; d < RANK; d++) {
            out->of[i][d] = draw_sub(d, near, ring && draw(5));
            axe_puts(&b, d ? ", " : "");
            put_sub(&b, &out->of[i][d], d);
        }
        axe_puts(&b, "]");
    }
    axe_puts(&b, "));\n}\n");
    out->text = b.text;
    out->now = axe_textf(cx, "case %d, M=%d N=%d:\n%s", number,
                         (int)out->extent[0], (int)out->extent[1], b.text);
}

/* ------------------------------------------------------------------- oracle */

static const statement *now_;

static void
check(bool good, const char *what)
{
    if (!good)
        fail_msg("%s of %s", what, now_->now);
}
#define CHECK(c) check((c), #c)

typedef struct boxes {
    bool of[LOADS][RANK][MOST]; /* what a device's iterations look at */
} boxes;

/* All from the least to the most, in a dimension of e. */
static void
note_all(const sub *s, int64_t least, int64_t most, int64_t e, bool *of)
{
    for (int64_t v = least; v <= most; v++)
        if (s->around)
            of[(v % e + e) % e] = true;
        else if (v >= 0 && v < e)
            of[v] = true;
}

static boxes
look(const axe_dist *d, const axe_between *b, int64_t q, int64_t loop)
{
    int64_t first[AXE_RANK_MAX], shape[AXE_RANK_MAX], m[RANK];
    boxes   out = {0};

    axe_dist_part(d, q, b->result.local, first, shape);
    for (int i = 0; i < now_->n_load; i++)
        for (int k = 0; k < RANK; k++) {
            int64_t    least = INT64_MAX, most = INT64_MIN;
            int64_t    e = now_->extent[k];
            const sub *s = &now_->of[i][k];

            for (m[0] = first[0]; m[0] < first[0] + shape[0]; m[0]++)
                for (m[1] = first[1]; m[1] < first[1] + shape[1]; m[1]++)
                    for (int j = 0; j < FOLDED; j++) {
                        int64_t v = value_of(s, e, m, j, loop);

                        least = v < least ? v : least;
                        most = v > most ? v : most;
                    }
            note_all(s, least, most, e, out.of[i][k]);
        }
    return out;
}

static bool
is_in(const axe_window *w, const int64_t *at)
{
    bool in = true;

    for (int k = 0; k < RANK; k++) {
        int64_t x = at[k] + (at[k] < w[k].from ? now_->extent[k] : 0);

        in = in && x >= w[k].from && x < w[k].to;
    }
    return in;
}

typedef struct loads {
    int             n;
    const axe_node *of[LOADS];
} loads;

static void
note_load(void *user, const axe_node *n)
{
    loads *l = user;

    if (n->op == AXE_OP_load && strcmp(n->u.tensor->name, "X") == 0)
        l->of[l->n++] = n;
}

/* Which of the loads are in it? */
static unsigned
loads_in(const loads *l, const axe_halo *h)
{
    unsigned in = 0;

    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < h->n_load; k++)
            in |= h->load[k] == l->of[i] ? 1u << i : 0;
    return in;
}

/* Is it of several subscripts, one of them around? */
static bool
goes_around(const axe_halo *h, const loads *l, unsigned in)
{
    bool around = false;

    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < RANK; k++)
            around = around ||
                     ((in >> i & 1) && h->window[k] && now_->of[i][k].around);
    return around && (in & (in - 1)) != 0;
}

/* One plan, for one value of the loop's number. */
static void
check_plan(const axe_dist *d, const axe_between *b, const axe_between_arg *a,
           const axe_reshard_plan *r, unsigned in, int64_t loop)
{
    const axe_tensor *x = axe_dist_tensor(d, a->tensor);
    int64_t           total = 0, recv = 0;

    for (int64_t q = 0; q < d->n_device; q++) {
        boxes      look_at = look(d, b, q, loop);
        int64_t    first[AXE_RANK_MAX], shape[AXE_RANK_MAX], lacks = 0;
        axe_window need[RANK], own[RANK];

        axe_dist_part(d, q, x, first, shape);
        for (int k = 0; k < RANK; k++)
            own[k] = (axe_window){first[k], first[k] + shape[k]};
        axe_dist_part_at(
            d,
            &(axe_frame){a->halo->n_loop ? a->halo->loop[0] : NULL, loop, NULL},
            q, a->local, first, shape);
        for (int k = 0; k < RANK; k++) {
            need[k] = (axe_window){first[k], first[k] + shape[k]};
            if (a->halo->window[k])
                CHECK(r->window[q * RANK + k].from == need[k].from &&
                      r->window[q * RANK + k].to == need[k].to);
        }
        for (int64_t i = 0; i < now_->extent[0] * now_->extent[1]; i++) {
            int64_t at[RANK] = {i / now_->extent[1], i % now_->extent[1]};
            bool    looked = false;

            for (int l = 0; l < now_->n_load; l++)
                looked = looked || ((in >> l & 1) && look_at.of[l][0][at[0]] &&
                                    look_at.of[l][1][at[1]]);
            CHECK(looked == is_in(need, at));
            lacks += looked && !is_in(own, at);
        }
        total += lacks;
        recv = lacks > recv ? lacks : recv;
    }
    CHECK(r->total == total && r->bound_total == total);
    CHECK(r->max_recv == recv && r->bound_recv == recv);
}

/* Returns how many plans were looked at. */
static int
check_between(const axe_dist *d, const axe_between *b, int *merged, int *rings)
{
    loads l = {0};
    int   n = 0;

    axe_node_walk(b->stmt->value, note_load, &l);
    CHECK(l.n == now_->n_load);
    for (int i = 0; i < b->n_arg; i++) {
        const axe_between_arg *a = &b->arg[i];
        unsigned               in;

        if (!a->halo)
            continue;
        in = loads_in(&l, a->halo);
        CHECK(in != 0 && a->plan && a->plan->window);
        *merged += (in & (in - 1)) != 0;
        *rings += goes_around(a->halo, &l, in);
        n++;
        if (a->halo->n_loop == 0)
            check_plan(d, b, a, a->plan, in, 0);
        CHECK(a->halo->n_loop == 0 || a->halo->n_plan == LOOPS);
        for (int p = 0; p < a->halo->n_plan; p++)
            check_plan(d, b, a, a->halo->plan[p], in, a->halo->at[p]);
    }
    return n;
}

static void
test_random(void **state)
{
    static const int64_t mesh[][2] = {{1, 1}, {2, 1}, {3, 1}, {1, 4}, {2, 2},
                                      {3, 2}, {2, 4}, {8, 1}, {5, 2}};
    const char          *seed = getenv("AXE_SEED");
    int                  plans = 0, merged = 0, rings = 0;

    (void)state;
    seed_ = seed ? strtoull(seed, NULL, 10) : 20261129;
    for (int i = 0; i < CASES / share(); i++) {
        axe_ctx             *cx = axe_ctx_new();
        const int64_t       *m = mesh[draw(AXE_LEN(mesh))];
        statement            s = {0};
        const axe_program   *p;
        const axe_dist_plan *plan;
        int64_t              size[MOST];

        draw_statement(cx, i, &s);
        now_ = &s;
        if (axe_compile(cx, axe_source_add(cx, "k.axe", s.text, strlen(s.text)),
                        &(axe_compile_spec){0}, AXE_STAGE_C, &p) != AXE_OK)
            fail_msg("%s: %s", axe_last_error(cx), s.now);
        for (int k = 0; k < p->kernel->n_size; k++) {
            char c = p->kernel->size[k]->name[0];

            size[k] = c == 'A'   ? m[0]
                      : c == 'B' ? m[1]
                      : c == 'M' ? s.extent[0]
                                 : s.extent[1];
        }
        if (axe_dist_plan_new(cx, p, size, &plan) != AXE_OK)
            fail_msg("%s: %s", axe_last_error(cx), s.now);
        CHECK(plan->n_between == 1);
        plans += check_between(&plan->d, &plan->between[0], &merged, &rings);
        axe_ctx_free(cx);
    }
    print_message("%d operands by windows in %d statements, %d of several "
                  "loads, %d of these around\n",
                  plans, CASES / share(), merged, rings);
    assert_true(plans > CASES / share() / 4);
    assert_true(share() > 1 || (merged > 30 && rings > 10));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
