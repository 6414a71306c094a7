/* test_move_any.c - moves between any two layouts that can be made: strides,
 * extents, axes and swizzles that fit nothing, on all machines with threads.
 * Each is answered, by a program that was executed or by a refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/machine.h"
#include "move/move_int.h"

enum { TRIALS = 6000, MANY = 80 };

static uint64_t state = 88172645463325252u;

static int
below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

/* How far a layout goes: tame ones are moved, most of the others refused. */
typedef enum wildness { TAME, SMALL, WILD, N_WILDNESS } wildness;

static int64_t
stride(wildness w)
{
    if (w != WILD)
        return below(9) - (below(9) == 0) * 3;
    switch (below(5)) {
    case 0:
        return below(3) - 1;
    case 1:
        return below(80) - 40;
    case 2:
        return INT64_C(1) << below(62);
    case 3:
        return -(INT64_C(1) << below(62));
    default:
        return below(1000000);
    }
}

static int64_t
extent(wildness w)
{
    if (w == WILD && below(8) == 0)
        return INT64_C(1) << below(40);
    return 1 + below(w == SMALL ? 3 : 6);
}

static axe_axis
axis(axe_ctx *cx, wildness w)
{
    static const char *const name[] = {
        "lane", "warp", "reg",       "m",       "thread", "cta",
        "wid",  "tid",  "warpgroup", "cluster", "tlane",  "gpuid"};
    axe_axis a;

    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE,
                                   name[below(w == WILD ? AXE_LEN(name) : 6)],
                                   &a),
                     AXE_OK);
    return a;
}

static const axe_layout *
any_layout(axe_ctx *cx, wildness w)
{
    axe_iter   it[MANY], replica[4];
    axe_offset offset[1];
    axe_layout spec = {.shard = it, .replica = replica, .offset = offset};
    const axe_layout *l;

    spec.n_shard = below(40) ? below(5) : MANY;
    for (int i = 0; i < spec.n_shard; i++)
        it[i] = (axe_iter){i > 3 ? 1 : extent(w), stride(w), axis(cx, w),
                           AXE_UNIT_ONE};
    spec.n_replica = below(3) ? 0 : below(4);
    for (int i = 0; i < spec.n_replica; i++)
        replica[i] =
            (axe_iter){1 + below(4), stride(w), axis(cx, w), AXE_UNIT_ONE};
    spec.n_offset = below(3) == 0;
    offset[0] = (axe_offset){w == WILD ? stride(w) : below(30), axis(cx, w),
                             AXE_UNIT_ONE};
    if (below(6) == 0)
        spec.swizzle =
            (axe_swizzle){1 + below(4), below(6), 4 + below(4), below(2) * 8};
    return axe_layout_make(cx, &spec, &l) == AXE_OK ? l : NULL;
}

/* The same digits on other axes, so that sizes agree. */
static const axe_layout *
like(axe_ctx *cx, const axe_layout *l)
{
    axe_iter          it[MANY];
    axe_layout        spec = *l;
    const axe_layout *out;

    for (int i = 0; i < l->n_shard; i++) {
        it[i] = l->shard[i];
        it[i].axis = axis(cx, TAME);
    }
    spec.shard = it;
    return axe_layout_make(cx, &spec, &out) == AXE_OK ? out : NULL;
}

/* Different numbers among n. */
static int64_t
n_distinct(int64_t *v, int n)
{
    int64_t count = 0;

    for (int i = 0; i < n; i++) {
        int k = 0;

        while (k < i && v[k] != v[i])
            k++;
        count += k == i;
    }
    return count;
}

/* Sectors that the program's instructions touch, byte by byte, and those that
 * would hold these bytes. */
static void
count_sectors(const axe_move_program *m, int sector, int64_t *all,
              int64_t *least)
{
    static int64_t at[64 * 64], byte[64 * 64];

    *all = *least = 0;
    for (int w = 0; w < m->n_cta * m->n_warp; w++)
        for (int side = 0; side < 2; side++) {
            const axe_warp_program *p = &m->code->warp[w];
            const axe_accesses     *list = side ? &p->store : &p->load;

            for (int i = 0; i < list->n; i++) {
                const axe_access *a = &list->access[i];
                int               n = 0, bytes = a->width * m->bits / 8;

                for (int l = 0; l < m->lanes; l++)
                    for (int b = 0; a->at[l] >= 0 && b < bytes; b++) {
                        byte[n] = a->at[l] * (m->bits / 8) + b;
                        at[n] = byte[n] / sector;
                        n++;
                    }
                *all += n_distinct(at, n);
                *least += (n_distinct(byte, n) + sector - 1) / sector;
            }
        }
}

static void
check_global(const axe_machine *mc, const axe_move_program *m)
{
    int64_t all, least;

    count_sectors(m, mc->simt->sector_bytes, &all, &least);
    if (m->load.sectors + m->store.sectors != all ||
        m->load.least_sectors + m->store.least_sectors != least)
        fail_msg("%d sectors, not %d; %d at least, not %d",
                 (int)(m->load.sectors + m->store.sectors), (int)all,
                 (int)(m->load.least_sectors + m->store.least_sectors),
                 (int)least);
}

static void
test_any(void **unused)
{
    static const char *const   name[] = {"sm_80", "sm_90a", "opencl",
                                         "opencl-sg8", "opencl-sg64"};
    static const int           bits[] = {8, 16, 32, 64, 128};
    static const axe_move_kind by[] = {AXE_MOVE_NOTHING, AXE_MOVE_NOTHING,
                                       AXE_MOVE_SHUFFLE, AXE_MOVE_SHARED};
    int                        kind[AXE_N_MOVE] = {0}, refused = 0, global = 0;

    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        axe_ctx                *cx = axe_ctx_new();
        axe_move_options        opt = {.machine = name[below(AXE_LEN(name))],
                                       .bits = bits[below(AXE_LEN(bits))],
                                       .by = by[below(AXE_LEN(by))],
                                       .memory = below(2) ? AXE_MOVE_IN_GLOBAL
                                                          : AXE_MOVE_IN_SHARED};
        const axe_machine      *mc;
        const axe_layout       *a, *b;
        const axe_move_program *m;
        wildness                w = (wildness)below(N_WILDNESS);
        axe_status              st;

        assert_int_equal(axe_machine_find(cx, opt.machine, &mc), AXE_OK);
        a = any_layout(cx, w);
        b = a && below(3) ? like(cx, a) : any_layout(cx, w);
        st = a && b ? axe_move_plan(cx, a, b, &opt, &m) : AXE_EARG;
        if (st == AXE_OK) {
            kind[m->kind]++;
            if (m->memory == AXE_MOVE_IN_GLOBAL) {
                check_global(mc, m);
                global++;
            }
            assert_true(strlen(axe_move_text(cx, m, true)) > 0);
            assert_true(strlen(axe_move_json(cx, m)) > 0);
        } else if (a && b) {
            assert_true(strlen(axe_last_error(cx)) > 0);
            refused++;
        }
        axe_ctx_free(cx);
    }
    for (int k = 0; k < AXE_N_MOVE; k++)
        assert_true(kind[k] > 0);
    assert_true(refused > TRIALS / 4);
    print_message("%d trials in global memory\n", global);
    assert_true(global > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
