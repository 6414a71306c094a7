/* bench_convert.c - conversions between layouts: instructions beside those that
 * the published method of linear layouts takes (linear.h).
 *
 * Random pairs of layouts whose extents are powers of two, broadcasts included:
 * shuffles where elements stay in their warp, shared-memory transactions
 * always.  A pair in which we take more is printed, and the program fails.
 * Then conversions that the method has no form for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axe/machine.h"
#include "axe/move.h"
#include "linear.h"
#include "linear_random.h"

enum { PAIRS = 3000 };

static const struct named {
    const char *what, *src, *dst;
    int         bits;
} named[] = {
    {"wgmma sums to rows of 16 bytes, f32",
     "(4, 2, 8, 8, 4, 2) : (1@warp, 2@reg, 4@lane, 4@reg, 1@lane, 1@reg)",
     "(4, 16, 8, 2, 4) : (1@warp, 4@reg, 2@lane, 1@lane, 1@reg) + 0@reg", 32},
    {"mma's result as the next one's factor, f8",
     "(2, 8, 2, 4, 2) : (2@reg, 4@lane, 4@reg, 1@lane, 1@reg)",
     "(2, 8, 4, 4) : (4@reg, 4@lane, 1@lane, 1@reg)", 8},
    {"rows to columns, 32 x 32, f32", "(32, 32) : (1@lane, 1@reg)",
     "(32, 32) : (1@reg, 1@lane)", 32},
    {"rows to columns, 32 x 32, f16", "(32, 32) : (1@lane, 1@reg)",
     "(32, 32) : (1@reg, 1@lane)", 16},
    {"rows to columns, 64 x 64 of 4 warps, f16",
     "(4, 16, 2, 32) : (1@warp, 2@lane, 1@lane, 1@reg)",
     "(2, 32, 4, 16) : (1@lane, 1@reg, 1@warp, 2@lane)", 16},
};

/* Sizes that are no powers of two, parts, copies. */
static const struct named others[] = {
    {"24 columns of 32 rows, f32", "(32, 24) : (1@lane, 1@reg)",
     "(32, 24) : (1@reg, 1@lane)", 32},
    {"7 rows of 3", "(7, 3) : (3@lane, 1@lane)", "(7, 3) : (1@lane, 7@lane)",
     32},
    {"m64n24 of wgmma to rows, f32",
     "(4, 2, 8, 3, 4, 2) : (1@warp, 2@reg, 4@lane, 4@reg, 1@lane, 1@reg)",
     "(4, 4, 4, 24) : (1@warp, 24@reg, 8@lane, 1@reg)", 32},
    {"192 columns by 128 threads, f16",
     "(16, 192) : (8@thread, 1@reg) + [8 : 1@thread]",
     "(16, 8, 24) : (8@thread, 1@thread, 1@reg)", 16},
    {"12 lanes to other 12 of a warp", "(12, 5) : (1@lane, 1@reg)",
     "(12, 5) : (1@lane, 1@reg) + 20@lane", 32},
    {"warps 1 to 3 to each of 4", "(96, 4) : (1@thread, 1@reg) + 32@thread",
     "(3, 32, 4) : (4@reg, 1@lane, 1@reg) + [4 : 1@warp]", 32},
    {"rows of 5 doubles, one to a lane", "(30, 5) : (1@lane, 1@reg)",
     "(5, 30) : (1@reg, 1@lane)", 64},
};

static void
print_named(axe_ctx *cx, const struct named *r)
{
    const axe_layout       *a, *b;
    const axe_move_program *m;
    axe_move_options        opt = {.machine = "sm_90a", .bits = r->bits};

    if (axe_layout_read(cx, r->src, &a) != AXE_OK ||
        axe_layout_read(cx, r->dst, &b) != AXE_OK ||
        axe_move_plan(cx, a, b, &opt, &m) != AXE_OK) {
        printf("  %-44s %s\n", r->what, axe_last_error(cx));
        return;
    }
    printf("  %-44s %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64
           " %9" PRId64 "\n",
           r->what, m->n_shuffle, m->store.n + m->load.n,
           m->store.cycles + m->load.cycles,
           m->store.conflicts + m->load.conflicts, m->n_proved);
}

static void
print_table(axe_ctx *cx, const char *title, int n, const struct named *r)
{
    printf("%s\n  %-44s %8s %8s %8s %8s %9s\n", title, "", "shuffles", "ld, st",
           "cycles", "conflict", "proved");
    for (int i = 0; i < n; i++)
        print_named(cx, &r[i]);
}

typedef struct tally {
    int     n, less, more;
    int64_t ours, theirs;
} tally;

static void
count(tally *t, int64_t ours, int64_t theirs)
{
    t->n++;
    t->less += ours < theirs;
    t->more += ours > theirs;
    t->ours += ours;
    t->theirs += theirs;
}

static void
print_tally(const char *what, const tally *t)
{
    printf("  %-20s %4d pairs: %" PRId64 " here, %" PRId64
           " by linear layouts (%.3f); fewer in %d, more in %d\n",
           what, t->n, t->ours, t->theirs,
           t->theirs > 0 ? (double)t->ours / (double)t->theirs : 1.0, t->less,
           t->more);
}

int
main(void)
{
    axe_ctx *cx = axe_ctx_new();
    tally    shuffles = {0}, shared = {0};

    for (int i = 0; i < PAIRS; i++) {
        axe_mark          mark = axe_ctx_mark(cx);
        linear_pair       p;
        linear_comparison c;
        linear_random(cx, i, &p);
        if (!linear_compare(cx, &p, &c)) {
            printf("%s to %s: %s\n", axe_layout_text(cx, p.src),
                   axe_layout_text(cx, p.dst), axe_last_error(cx));
            return 1;
        }
        if (c.shuffles >= 0)
            count(&shuffles, c.our_shuffles, c.shuffles);
        if (c.transactions >= 0)
            count(&shared, c.our_transactions, c.transactions);
        if ((c.shuffles >= 0 && c.our_shuffles > c.shuffles) ||
            (c.transactions >= 0 && c.our_transactions > c.transactions))
            printf("  more: %s to %s, %d bits: %" PRId64 " shuffles, not "
                   "%" PRId64 "; %" PRId64 " transactions, not %" PRId64 "\n",
                   axe_layout_text(cx, p.src), axe_layout_text(cx, p.dst),
                   p.bits, c.our_shuffles, c.shuffles, c.our_transactions,
                   c.transactions);
        axe_ctx_release(cx, mark);
    }
    printf("random layouts, extents powers of two (sm_90a)\n");
    print_tally("shuffles", &shuffles);
    print_tally("transactions", &shared);
    print_table(cx, "some that are met", AXE_LEN(named), named);
    print_table(cx, "what linear layouts over bits do not say", AXE_LEN(others),
                others);
    axe_ctx_free(cx);
    return shuffles.more + shared.more > 0;
}
