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
#define PASS(name, machines, call, text) {#name, text, false},
#define AGAIN(name, machines, call, text) {#name, text, true},
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

axe_status
axe_pass_find(axe_ctx *cx, const axe_machine *mc, const char *name,
              const axe_pass **out)
{
    axe_buf names = {.cx = cx};

    for (int i = 0; i < N_PASS; i++) {
        if (!(machines_of[i] & kind_of(mc)))
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
#define AGAIN(name, machines, call, text) case PASS_##name:
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
axe_plan_passes(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
                const axe_pass *last, const axe_kernel **out)
{
    for (int i = 0; i < N_PASS; i++) {
        if (!table[i].again && machines_of[i] & kind_of(mc)) {
            AXE_TRY(run((pass_id)i, cx, mc, k, &k));
            AXE_TRY(verify(cx, k));
        }
        if (&table[i] == last)
            break;
    }
    *out = k;
    return AXE_OK;
}

axe_status
axe_plan_again(axe_ctx *cx, const axe_kernel *k, const axe_staged *ask,
               const axe_kernel **out)
{
#define PASS(name, machines, call, text)
#define AGAIN(name, machines, call, text) call;
#include "plan/passes.def"
    return verify(cx, *out);
}
