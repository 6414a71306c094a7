/* test_shardings.c - random shardings: what a system's text means is written in
 * that system's text again, and every text that is written for a random layout
 * over devices reads back as that layout. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/convert.h"

enum { TEXTS = 1500, LAYOUTS = 3000, RANK = 3, AXES = 3 };

static uint64_t state_;

static int
draw(int n)
{
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (int)((state_ >> 33) % (uint64_t)n);
}

/* A mesh of 1 to 3 axes, and its text. */
typedef struct mesh {
    int  n, extent[AXES], step[AXES], devices;
    char text[64];
} mesh;

static void
draw_mesh(mesh *m, bool names)
{
    static const int few[] = {2, 2, 3, 4};
    int              at = 0;

    m->n = 1 + draw(AXES);
    m->devices = 1;
    for (int a = 0; a < m->n; a++) {
        m->extent[a] = few[draw(4)];
        m->devices *= m->extent[a];
    }
    for (int a = m->n - 1, step = 1; a >= 0; step *= m->extent[a--])
        m->step[a] = step;
    for (int a = 0; a < m->n; a++) {
        char   name[] = {(char)('x' + a), '=', '\0'};
        size_t left = sizeof m->text - (size_t)at;

        at += snprintf(m->text + at, left, "%s%s%d", a ? "," : "",
                       names ? name : "", m->extent[a]);
    }
}

/* ------------------------------------------------------------------- texts */

/* Extents that any text over the mesh cuts evenly. */
static axe_shape
even_shape(axe_ctx *cx, const mesh *m)
{
    int64_t *e = axe_new_array(cx, int64_t, RANK);
    int      n = 1 + draw(RANK);

    for (int k = 0; k < n; k++)
        e[k] = (int64_t)m->devices * 2 * (1 + draw(3));
    return (axe_shape){n, e};
}

/* Each axis of the mesh to a dimension or to none (-1). */
static void
draw_places(const mesh *m, int rank, int *place)
{
    for (int a = 0; a < m->n; a++)
        place[a] = draw(rank + 1) - 1;
}

static const char *
placements(axe_ctx *cx, const mesh *m, int rank, bool strided)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, strided ? '[' : '(');
    for (int a = 0; a < m->n; a++) {
        int k = draw(rank + 1) - 1;

        axe_puts(&b, a ? ", " : "");
        if (k < 0)
            axe_puts(&b, strided ? "R" : "B");
        else if (strided && draw(3) == 0)
            axe_putf(&b, "_S(%d, 2)", k);
        else
            axe_putf(&b, "S(%d)", k);
    }
    axe_putc(&b, strided ? ']' : ')');
    return b.text;
}

/* The axes of each dimension, in any order, in the form of a system. */
static const char *
by_dimension(axe_ctx *cx, const mesh *m, int rank, const char *open,
             const char *dim_open, const char *quote, const char *none,
             const char *dim_close, const char *comma, const char *close)
{
    axe_buf b = {.cx = cx};
    int     place[AXES];

    draw_places(m, rank, place);
    axe_puts(&b, open);
    for (int k = 0; k < rank; k++) {
        int n = 0, from = draw(m->n);

        axe_puts(&b, k ? comma : "");
        for (int i = 0; i < m->n; i++) {
            int a = (from + i) % m->n;

            if (place[a] != k)
                continue;
            axe_puts(&b, n++ ? comma : dim_open);
            axe_putf(&b, "%s%c%s", quote, *dim_open == 'S' ? '0' + a : 'x' + a,
                     quote);
        }
        axe_puts(&b, n ? dim_close : none);
    }
    axe_puts(&b, close);
    return b.text;
}

/* Tiles of all devices, in the order of a transposed range. */
static const char *
tiles(axe_ctx *cx, const mesh *m, int rank)
{
    axe_buf b = {.cx = cx};
    int     tile[RANK + 1] = {1, 1, 1, 1}, perm[AXES], place[AXES];

    draw_places(m, rank, place);
    for (int a = 0; a < m->n; a++) {
        tile[place[a] < 0 ? rank : place[a]] *= m->extent[a];
        perm[a] = a;
    }
    for (int a = m->n - 1; a > 0; a--) {
        int j = draw(a + 1), t = perm[a];

        perm[a] = perm[j];
        perm[j] = t;
    }
    axe_puts(&b, "{devices=[");
    for (int k = 0; k < rank + (tile[rank] > 1); k++)
        axe_putf(&b, "%s%d", k ? "," : "", tile[k]);
    axe_puts(&b, "]<=[");
    for (int a = 0; a < m->n; a++)
        axe_putf(&b, "%s%d", a ? "," : "", m->extent[a]);
    axe_puts(&b, "]T(");
    for (int a = 0; a < m->n; a++)
        axe_putf(&b, "%s%d", a ? "," : "", perm[a]);
    axe_puts(&b, tile[rank] > 1 ? ") last_tile_dim_replicate}" : ")}");
    return b.text;
}

static const char *
blocks(axe_ctx *cx, const mesh *m, axe_shape s)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "nb=(");
    for (int k = 0; k < s.n; k++) {
        int64_t share = k < m->n ? s.extent[k] / m->extent[k] : 1;

        axe_putf(&b, "%s%" PRId64, k ? ", " : "",
                 draw(2)     ? share
                 : share % 2 ? 1
                             : share / 2);
    }
    axe_puts(&b, draw(2) ? "), order=C" : ")");
    return b.text;
}

static const struct system {
    const char *name;
    bool        names; /* axes of the mesh have names */
    bool        all;   /* what is read can always be written */
} systems[] = {
    {"dtensor", false, true},     {"oneflow", false, true},
    {"jax", true, true},          {"shardy", true, true},
    {"alpa", false, true},        {"gspmd", false, true},
    {"blockcyclic", false, true},
};

static const char *
draw_text(axe_ctx *cx, const char *system, const mesh *m, axe_shape s)
{
    switch (system[0]) {
    case 'd':
        return placements(cx, m, s.n, true);
    case 'o':
        return placements(cx, m, s.n, false);
    case 'j':
        return by_dimension(cx, m, s.n, "P(", "(", "'", "None", ")", ", ", ")");
    case 's':
        return by_dimension(cx, m, s.n, "#sdy.sharding<@mesh, [", "{", "\"",
                            "{}", "}", ", ", "]>");
    case 'a':
        return by_dimension(cx, m, s.n, "", "S", "", "R", "", "", "");
    case 'g':
        return tiles(cx, m, s.n);
    default:
        return blocks(cx, m, s);
    }
}

static void
check_back(axe_ctx *cx, const char *system, const axe_layout *l,
           const axe_convert_options *opt, const char *text)
{
    const axe_layout *back;
    bool              same = false;

    if (axe_convert_read(cx, system, text, opt, &back) != AXE_OK ||
        axe_layout_equal(cx, l, back, &same) != AXE_OK || !same)
        fail_msg("%s: %s on a mesh %s is written %s, which is not it: %s",
                 system, axe_layout_text(cx, l), opt->mesh, text,
                 axe_last_error(cx));
}

static void
test_texts(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(systems); i++) {
        int read = 0;

        for (int seed = 0; seed < TEXTS; seed++) {
            axe_ctx            *cx = axe_ctx_new();
            mesh                m;
            axe_convert_options opt = {.keep = AXE_KEEP_UNSAID};
            const axe_layout   *l;
            const char         *text, *out;

            state_ = (uint64_t)seed * 977 + (uint64_t)i;
            draw_mesh(&m, systems[i].names);
            opt.mesh = m.text;
            opt.shape = even_shape(cx, &m);
            text = draw_text(cx, systems[i].name, &m, opt.shape);
            if (axe_convert_read(cx, systems[i].name, text, &opt, &l) ==
                AXE_OK) {
                read++;
                if (axe_convert_write(cx, systems[i].name, l, &opt, &out) !=
                    AXE_OK)
                    fail_msg("seed %d: %s: %s on %s is %s, and then: %s", seed,
                             systems[i].name, text, m.text,
                             axe_layout_text(cx, l), axe_last_error(cx));
                check_back(cx, systems[i].name, l, &opt, out);
            }
            axe_ctx_free(cx);
        }
        print_message("%s: %d of %d texts have a layout\n", systems[i].name,
                      read, TEXTS);
        assert_true(read > TEXTS / 5);
    }
}

/* ----------------------------------------------------------------- layouts */

/* A digit: devices of the mesh, or (step 0) the local buffer. */
typedef struct digit {
    int64_t extent, step;
} digit;

/* The axes of the mesh, some cut in two. */
static int
mesh_parts(const mesh *m, digit *d)
{
    int n = 0;

    for (int a = 0; a < m->n; a++)
        if (m->extent[a] == 4 && draw(3) == 0) {
            d[n++] = (digit){2, 2 * m->step[a]};
            d[n++] = (digit){2, m->step[a]};
        } else {
            d[n++] = (digit){m->extent[a], m->step[a]};
        }
    return n;
}

/* A layout of those parts and of local digits, in any order; some parts hold
 * copies. */
static const axe_layout *
draw_layout(axe_ctx *cx, const mesh *m)
{
    digit   part[2 * AXES], all[RANK][16];
    int     n_part = mesh_parts(m, part), rank = 1 + draw(RANK), n[RANK] = {0};
    axe_buf shape = {.cx = cx}, text = {.cx = cx}, copy = {.cx = cx};
    int64_t pitch = 1;
    const axe_layout *l = NULL;
    bool              column = draw(3) == 0;

    for (int i = 0; i < n_part; i++) {
        int k = draw(rank + 1) - 1;

        if (k >= 0)
            all[k][n[k]++] = part[i];
        else
            axe_putf(&copy, " + [%" PRId64 " : %" PRId64 "@gpuid]",
                     part[i].extent, part[i].step);
    }
    for (int k = 0; k < rank; k++) {
        for (int j = draw(3) + (n[k] == 0); j > 0; j--)
            all[k][n[k]++] = (digit){2 + draw(2), 0};
        for (int j = n[k] - 1; j > 0 && draw(3); j--) {
            int   o = draw(j + 1);
            digit t = all[k][j];

            all[k][j] = all[k][o];
            all[k][o] = t;
        }
    }
    for (int i = 0; i < rank; i++) {
        int k = column ? i : rank - 1 - i;

        for (int j = n[k] - 1; j >= 0; j--)
            if (all[k][j].step == 0) {
                all[k][j].step = -pitch;
                pitch *= all[k][j].extent;
            }
    }
    for (int k = 0; k < rank; k++)
        for (int j = 0; j < n[k]; j++) {
            bool        local = all[k][j].step < 0;
            const char *open = j ? ", " : k ? ", (" : "((";
            const char *close = j < n[k] - 1 ? "" : k < rank - 1 ? ")" : "))";

            axe_putf(&shape, "%s%" PRId64 "%s", open, all[k][j].extent, close);
            axe_putf(&text, "%s%" PRId64 "%s%s", open,
                     local ? -all[k][j].step : all[k][j].step,
                     local ? "" : "@gpuid", close);
        }
    text.text = axe_textf(cx, "%s : %s%s", shape.text, text.text,
                          copy.text ? copy.text : "");
    if (axe_layout_read(cx, text.text, &l) != AXE_OK)
        fail_msg("%s: %s", text.text, axe_last_error(cx));
    return l;
}

static void
test_layouts(void **state)
{
    int written[AXE_LEN(systems)] = {0};

    (void)state;
    for (int seed = 0; seed < LAYOUTS; seed++) {
        axe_ctx          *cx = axe_ctx_new();
        mesh              m, plain;
        const axe_layout *l;

        axe_axes_open(cx, true);
        state_ = (uint64_t)seed;
        draw_mesh(&m, true);
        state_ = (uint64_t)seed;
        draw_mesh(&plain, false);
        l = draw_layout(cx, &m);
        for (int i = 0; i < AXE_LEN(systems); i++) {
            axe_convert_options opt = {.shape = axe_layout_shape(cx, l),
                                       .mesh = systems[i].names ? m.text
                                                                : plain.text};
            const char         *out;

            if (axe_convert_write(cx, systems[i].name, l, &opt, &out) !=
                AXE_OK) {
                assert_true(axe_n_error(cx) > 0);
                continue;
            }
            written[i]++;
            check_back(cx, systems[i].name, l, &opt, out);
        }
        axe_ctx_free(cx);
    }
    for (int i = 0; i < AXE_LEN(systems); i++) {
        print_message("%s: %d of %d layouts are written\n", systems[i].name,
                      written[i], LAYOUTS);
        assert_true(written[i] > LAYOUTS / 50);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_layouts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
