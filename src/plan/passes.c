/* passes.c - runs the rows of passes.def. */
#include <string.h>

#include "plan/cpu/cpu.h"
#include "plan/passes.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"
#include "plan/simt/map/map.h"
#include "plan/simt/tmem/tmem_int.h"

typedef enum pass_id {
#define PASS(name, machines, call, text) PASS_##name,
#include "plan/passes.def"
    N_PASS
} pass_id;

/* Which machines a pass is for, as bits: their kind, and what they have. */
enum {
    CORE = 1 << AXE_KIND_core,
    THREADS = 1 << AXE_KIND_simt,
    ALL = (1 << AXE_N_KIND) - 1,
    ALONE = AXE_CTAS_ALONE << AXE_N_KIND,
    TMEM = AXE_HAS_TMEM << AXE_N_KIND
};

static const unsigned machines_of[N_PASS] = {
#define PASS(name, machines, call, text) machines,
#include "plan/passes.def"
};

static const axe_pass table[N_PASS] = {
#define PASS(name, machines, call, text) {#name, text},
#include "plan/passes.def"
};

static unsigned
kind_of(const axe_machine *mc)
{
    return 1U << mc->kind | axe_machine_traits(mc) << AXE_N_KIND;
}

const axe_pass *
axe_pass_at(int i)
{
    return i >= 0 && i < N_PASS ? &table[i] : NULL;
}

static axe_status
run(pass_id id, axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
    const axe_kernel **out)
{
    axe_status st = AXE_OK;

    switch (id) {
#define PASS(name, machines, call, text)                                       \
    case PASS_##name:                                                          \
        call;                                                                  \
        break;
#include "plan/passes.def"
    case N_PASS:
        break;
    }
    return st;
}

static axe_status
check_name(axe_ctx *cx, const axe_machine *mc, const char *until)
{
    axe_buf names = {.cx = cx};

    for (int i = 0; i < N_PASS; i++) {
        if (!(machines_of[i] & kind_of(mc)))
            continue;
        if (!until || strcmp(table[i].name, until) == 0)
            return AXE_OK;
        axe_putf(&names, "%s%s", names.len > 0 ? ", " : "", table[i].name);
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "planning for %s has no pass '%s'; it has %s", mc->name,
                    until, names.text);
}

axe_status
axe_plan_passes(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
                const char *until, const axe_kernel **out)
{
    AXE_TRY(check_name(cx, mc, until));
    for (int i = 0; i < N_PASS; i++) {
        if (machines_of[i] & kind_of(mc)) {
            AXE_TRY(run((pass_id)i, cx, mc, k, &k));
#ifdef AXE_VERIFY_PASSES
            AXE_TRY(axe_kernel_verify(cx, k));
#endif
        }
        if (until && strcmp(table[i].name, until) == 0)
            break;
    }
    *out = k;
    return AXE_OK;
}
