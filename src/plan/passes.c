/* passes.c - runs the rows of passes.def. */
#include <assert.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/passes.h"
#include "plan/rewrite/rewrite.h"
#include "plan/simt/hazard/hazard.h"
#include "plan/simt/map/map.h"
#include "plan/simt/ring/ring.h"
#include "plan/simt/simt_int.h"
#include "plan/simt/sync/sync.h"
#include "plan/simt/tmem/tmem_int.h"
#include "plan/systolic/systolic.h"

typedef enum pass_id {
#define PASS(name, machines, call, text) PASS_##name,
#define AGAIN PASS
#define STEP(name, machines, needs, makes, call, text) PASS_##name,
#include "plan/passes.def"
    N_PASS
} pass_id;

/* Which machines a pass is for, as bits: their kind, and what they have. */
enum {
    CORE = 1 << AXE_KIND_core,
    THREADS = 1 << AXE_KIND_simt,
    ENGINES = 1 << AXE_KIND_systolic,
    ORDERED = CORE | ENGINES,
    ALL = (1 << AXE_N_KIND) - 1,
    ALONE = AXE_CTAS_ALONE << AXE_N_KIND,
    TMEM = AXE_HAS_TMEM << AXE_N_KIND,
    KEEP = AXE_THREADS_KEEP << AXE_N_KIND
};

/* What a plan has. */
enum { TEAMS = 1, TILES = 2, LAYOUTS = 4, SCHEDULES = 8, MEMORY = 16 };

static const axe_pass table[N_PASS] = {
#define PASS(name, machines, call, text)                                       \
    {#name, text, AXE_PASS_KERNEL, machines, 0, 0},
#define AGAIN(name, machines, call, text)                                      \
    {#name, text, AXE_PASS_AGAIN, machines, 0, 0},
#define STEP(name, machines, needs, makes, call, text)                         \
    {#name, text, AXE_PASS_PLAN, machines, needs, makes},
#include "plan/passes.def"
};

const axe_pass *
axe_pass_at(int i)
{
    return i >= 0 && i < N_PASS ? &table[i] : NULL;
}

bool
axe_pass_is_for(const axe_pass *row, const axe_machine *mc)
{
    unsigned has = 1U << mc->kind | axe_machine_traits(mc) << AXE_N_KIND;

    return (row->machines & has) != 0;
}

axe_status
axe_pass_find(axe_ctx *cx, const axe_machine *mc, const char *name,
              const axe_pass **out)
{
    axe_buf names = {.cx = cx};

    for (int i = 0; i < N_PASS; i++) {
        if (!axe_pass_is_for(&table[i], mc))
            continue;
        if (strcmp(table[i].name, name) == 0) {
            *out = &table[i];
            return AXE_OK;
        }
        axe_putf(&names, "%s%s", names.len > 0 ? ", " : "", table[i].name);
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "planning for %s has no pass '%s'; it has %s", mc->name,
                    name, names.text);
}

/* ------------------------------------------------------------------ kernels */

static axe_status
run_kernel(pass_id id, axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
           const axe_kernel **out)
{
    axe_status st = AXE_OK;

    switch (id) {
#define PASS(name, machines, call, text)                                       \
    case PASS_##name:                                                          \
        call;                                                                  \
        break;
#define AGAIN(name, machines, call, text) case PASS_##name:
#define STEP(name, machines, needs, makes, call, text) case PASS_##name:
#include "plan/passes.def"
    case N_PASS:
        break;
    }
    return st;
}

/* Our own kernels are well formed: where that is tested. */
static axe_status
verify(axe_ctx *cx, const axe_kernel *k)
{
#ifdef AXE_VERIFY_PASSES
    return axe_kernel_verify(cx, k);
#else
    (void)cx;
    (void)k;
    return AXE_OK;
#endif
}

axe_status
axe_run_kernel_passes(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
                      const axe_pass *last, const axe_kernel **out)
{
    for (int i = 0; i < N_PASS; i++) {
        if (table[i].kind == AXE_PASS_KERNEL &&
            axe_pass_is_for(&table[i], mc)) {
            AXE_TRY(run_kernel((pass_id)i, cx, mc, k, &k));
            AXE_TRY(verify(cx, k));
        }
        if (&table[i] == last)
            break;
    }
    *out = k;
    return AXE_OK;
}

axe_status
axe_run_again(axe_ctx *cx, const axe_kernel *k, const axe_staged *ask,
              const axe_kernel **out)
{
#define PASS(name, machines, call, text)
#define AGAIN(name, machines, call, text) call;
#define STEP(name, machines, needs, makes, call, text)
#include "plan/passes.def"
    return verify(cx, *out);
}

/* -------------------------------------------------------------------- plans */

static axe_status
run_plan(pass_id id, axe_planner *p)
{
    axe_status st = AXE_OK;

    switch (id) {
#define PASS(name, machines, call, text) case PASS_##name:
#define AGAIN PASS
#define STEP(name, machines, needs, makes, call, text)                         \
    break;                                                                     \
    case PASS_##name:                                                          \
        call;
#include "plan/passes.def"
        break;
    case N_PASS:
        break;
    }
    return st;
}

/* Has the plan what the passes have made? */
static void
check_made(const axe_planner *p, unsigned made)
{
#ifdef AXE_VERIFY_PASSES
    for (int i = 0; i < p->kernel->n_tensor; i++)
        if (p->place[i].tensor) {
            assert(p->place[i].tensor->id == i);
            assert(!(made & LAYOUTS) || p->place[i].layout);
        }
    for (int i = 0; i < p->kernel->n_index_stmt && made & SCHEDULES; i++)
        assert(!p->schedule[i] || p->schedule[i]->stmt->id == i);
#else
    (void)p;
    (void)made;
#endif
}

axe_status
axe_run_plan_passes(axe_planner *p, const axe_pass *last)
{
    unsigned made = 0;

    for (int i = 0; i < N_PASS; i++) {
        const axe_pass *row = &table[i];
        if (row->kind == AXE_PASS_PLAN && axe_pass_is_for(row, p->mc)) {
            assert((row->needs & ~made) == 0);
            AXE_TRY(run_plan((pass_id)i, p));
            if (p->to_stage.load)
                break;
            made |= row->makes;
            check_made(p, made);
        }
        if (row == last)
            break;
    }
    return AXE_OK;
}
