/* test_order.c - one layout, the same bytes, whatever a ctx read before.
 *
 * A random layout is written down with its replicas and offsets in another
 * order for each of three contexts, which know its axes and sizes in another
 * order, too: a machine's first, those of layouts read before, none.  Its
 * normal form, its parts by tile-of, and what it is as JSON must be equal as
 * text, and the text in one context must be the text that it is read from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "layout/json.h"

enum { N_CASE = 4000, MOST = 6 };

static uint64_t seed = 20261124;

static int64_t
below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % n;
}

static const char *const axis_name[] = {"m",   "reg",  "lane", "warp",
                                        "cta", "zeta", "Alpha"};
static const char *const unit_name[] = {"", "*K", "*M", "*B*K", "*K*K"};

enum { N_AXIS = 7, N_UNIT = 5 };

/* Terms "3*K@lane" in the order of `at`, and extents for replicas. */
typedef struct term {
    int64_t extent, stride;
    int     axis, unit;
} term;

typedef struct terms {
    int  n, at[MOST];
    term term[MOST];
} terms;

static void
draw(terms *t)
{
    t->n = (int)below(MOST + 1);
    for (int k = 0; k < t->n; k++) {
        t->at[k] = k;
        t->term[k] = (term){2 + below(3), 1 + below(6), (int)below(N_AXIS),
                            (int)below(N_UNIT)};
        if (below(3) == 0)
            t->term[k].stride = -t->term[k].stride;
    }
}

static void
shuffle(terms *t)
{
    for (int k = t->n - 1; k > 0; k--) {
        int i = (int)below(k + 1), was = t->at[k];
        t->at[k] = t->at[i];
        t->at[i] = was;
    }
}

static void
put_term(axe_buf *b, const term *t, bool sign)
{
    int64_t v = t->stride;

    if (sign)
        axe_puts(b, v < 0 ? " - " : " + ");
    axe_putf(b, "%lld%s@%s", (long long)(sign && v < 0 ? -v : v),
             unit_name[t->unit], axis_name[t->axis]);
}

static const char *
literal(axe_ctx *cx, const terms *replica, const terms *offset)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "(4, 3) : (1@lane, 7@reg)");
    for (int k = 0; k < replica->n; k++) {
        const term *t = &replica->term[replica->at[k]];
        axe_putf(&b, " + [%lld : ", (long long)t->extent);
        put_term(&b, t, false);
        axe_puts(&b, "]");
    }
    for (int k = 0; k < offset->n; k++)
        put_term(&b, &offset->term[offset->at[k]], true);
    return b.text;
}

/* A ctx that came to know names in an order of its own. */
static axe_ctx *
new_ctx(int kind)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l;
    const char *const first[] = {
        "(2) : (1)",
        "(2, 2, 2, 2) : (1*M@zeta, K@warp, K*K@reg, K*B@Alpha)",
        "(2, 2, 2) : (1*K*K@lane, B*K@warp, M@cta)",
    };

    axe_axes_open(cx, true);
    if (kind == 2)
        assert_int_equal(axe_machine_axes_use(cx, "sm_90a"), AXE_OK);
    assert_int_equal(axe_layout_read(cx, first[kind], &l), AXE_OK);
    return cx;
}

/* The normal form as text and as JSON, and what is left of its tiles. */
static const char *
written(axe_ctx *cx, const char *text)
{
    axe_buf           b = {.cx = cx};
    const axe_layout *l, *again, *one, *outer;
    const char       *canon;
    bool              same;

    assert_int_equal(axe_layout_read(cx, text, &l), AXE_OK);
    assert_int_equal(axe_layout_canon(cx, l, &l), AXE_OK);
    canon = axe_layout_text(cx, l);
    assert_int_equal(axe_layout_read(cx, canon, &again), AXE_OK);
    assert_string_equal(axe_layout_text(cx, again), canon);
    assert_int_equal(axe_layout_equal(cx, l, again, &same), AXE_OK);
    assert_true(same);
    assert_int_equal(axe_layout_read(cx, "(1, 1) : (0, 0)", &one), AXE_OK);
    assert_int_equal(axe_layout_tile_of(cx, l, axe_layout_shape(cx, l), one,
                                        axe_layout_shape(cx, one), &outer),
                     AXE_OK);
    axe_putf(&b, "%s\n%s\n", canon, axe_layout_text(cx, outer));
    axe_json_put_layout(&b, l);
    return b.text;
}

static void
test_history(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASE; i++) {
        terms       replica, offset;
        axe_ctx    *cx[3];
        const char *first = NULL;

        draw(&replica);
        draw(&offset);
        for (int k = 0; k < 3; k++) {
            const char *text;
            cx[k] = new_ctx(k);
            shuffle(&replica);
            shuffle(&offset);
            text = written(cx[k], literal(cx[k], &replica, &offset));
            if (k == 0)
                first = text;
            else
                assert_string_equal(text, first);
        }
        for (int k = 0; k < 3; k++)
            axe_ctx_free(cx[k]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_history)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
