/* test_matrix.c - what descriptors mean, against those that CUTLASS makes: each
 * finds every element of its operand where the canonical tile has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "machine/matrix.h"

enum { LINE = 1 << 16, ATOM_LINES = 8, PIECE = 16 };

/* A row of the file. */
typedef struct row {
    bool    major, rows_first, of_tcgen05;
    int64_t bits, span, tile[2], mma[2], step[2], stage;
} row;

static int64_t
integer(const axe_json *v, const char *key, int i)
{
    const axe_json *x = axe_json_get(v, key);

    if (x && x->kind == AXE_JSON_LIST)
        for (x = x->child; x && i > 0; i--)
            x = x->next;
    return x ? x->integer : 0;
}

static const char *
text(const axe_json *v, const char *key)
{
    const axe_json *x = axe_json_get(v, key);

    return x && x->text ? x->text : "";
}

static row
read_row(const axe_json *in)
{
    row r = {.major = strcmp(text(in, "major"), "MN") == 0,
             .rows_first = strcmp(text(in, "order"), "rows") == 0,
             .of_tcgen05 = strcmp(text(in, "arch"), "sm_100") == 0,
             .bits = integer(in, "bits", 0),
             .span = integer(in, "swizzle", 0),
             .stage = integer(in, "stage", 0)};

    r.span = r.span ? r.span : PIECE;
    for (int i = 0; i < 2; i++) {
        r.tile[i] = integer(in, "tile", i);
        r.mma[i] = integer(in, "mma", i);
        r.step[i] = integer(in, "step", i);
    }
    return r;
}

/* Where the tile has element (i, k), before its swizzle. */
static int64_t
place(const row *r, int64_t i, int64_t k)
{
    int64_t wide = r->span * 8 / r->bits;
    int64_t atom[2] = {r->major ? wide : ATOM_LINES,
                       r->major ? ATOM_LINES : wide};
    int64_t n[2] = {r->tile[0] / atom[0], r->tile[1] / atom[1]};
    int64_t a = i / atom[0], b = k / atom[1];
    int64_t at = r->rows_first ? b * n[0] + a : a * n[1] + b;
    int64_t line = r->major ? k % ATOM_LINES : i % ATOM_LINES;
    int64_t along = r->major ? i % wide : k % wide;

    return at * ATOM_LINES * r->span + line * r->span + along * r->bits / 8 +
           r->stage * r->tile[0] * r->tile[1] * r->bits / 8;
}

/* How many elements the descriptor finds elsewhere. */
static int
wrong_places(const row *r, const axe_matrix *m)
{
    int n = 0;

    for (int64_t i = 0; i < r->mma[0]; i++)
        for (int64_t k = 0; k < r->mma[1]; k += 8 / (r->bits < 8 ? 4 : 8)) {
            int64_t slow = r->major ? k : i, fast = r->major ? i : k;
            int64_t want = place(r, r->step[0] * r->mma[0] + i,
                                 r->step[1] * r->mma[1] + k);
            n += m->start +
                     axe_matrix_at(m, r->major, slow, fast * r->bits / 8) !=
                 want;
        }
    return n;
}

static void
test_cutlass(void **state)
{
    FILE    *f = fopen(AXE_SOURCE_DIR "/tests/vectors/descriptors.jsonl", "r");
    axe_ctx *cx = axe_ctx_new();
    static char line[LINE];
    int         n = 0, n_unknown = 0;

    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        const axe_json *v, *in;
        axe_matrix      m;
        if (!strstr(line, "\"smem_descriptor\""))
            continue;
        assert_int_equal(axe_json_read(cx, line, strlen(line), &v), AXE_OK);
        in = axe_json_get(v, "in");
        row      r = read_row(in);
        uint64_t bits =
            strtoull(text(axe_json_get(v, "out"), "desc"), NULL, 16);
        if (axe_matrix_read(bits, r.of_tcgen05, &m)) {
            assert_int_equal(integer(in, "swizzle_atom", 0), 32);
            n_unknown++;
            continue;
        }
        if (m.span != r.span || wrong_places(&r, &m) > 0)
            fail_msg("%s: %d elements are elsewhere", text(v, "id"),
                     wrong_places(&r, &m));
        n++;
    }
    fclose(f);
    axe_ctx_free(cx);
    assert_int_equal(n, 329);
    assert_int_equal(n_unknown, 11);
}

static void
test_unknown(void **state)
{
    static const struct {
        uint64_t    bits;
        bool        of_tcgen05;
        const char *why;
    } rows[] = {
        {0x4000004000010000, false, NULL},
        {0x4000404000010000, true, NULL},
        {0x4000004000010000, true, "is not of the version that tcgen05 has"},
        {0x2000404000010000, true, "has a swizzle that is not known"},
        {0x6000404000010000, true, "has a swizzle that is not known"},
        {0x4002004000010000, false, "has an offset of its base"},
        {0x4010404000010000, true, "has a leading offset that is an address"},
    };
    axe_matrix m;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *why = axe_matrix_read(rows[i].bits, rows[i].of_tcgen05, &m);
        assert_string_equal(why ? why : "", rows[i].why ? rows[i].why : "");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cutlass),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
