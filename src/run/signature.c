/* signature.c - what a kernel of a source declares. */
#include "base/ctx.h"
#include "run/program.h"

static const axe_access access_of[] = {[AXE_DIR_IN] = AXE_READS,
                                       [AXE_DIR_OUT] = AXE_WRITES,
                                       [AXE_DIR_INOUT] = AXE_UPDATES};

axe_status
axe_source_signature(axe_ctx *cx, int32_t source, const char *kernel,
                     axe_signature *out)
{
    const axe_module *module;
    axe_kernel_sig    sig;
    axe_declared     *param;

    AXE_NEED(cx, out);
    AXE_TRY(axe_module_parse(cx, source, &module));
    AXE_TRY(axe_module_sig(cx, module, kernel, &sig));
    param = axe_new_array(cx, axe_declared, sig.n_param);
    for (int i = 0; i < sig.n_param; i++)
        param[i] = (axe_declared){sig.param[i].name, sig.param[i].type,
                                  access_of[sig.param[i].dir],
                                  sig.param[i].rank, sig.param[i].extent};
    *out = (axe_signature){.kernel = sig.name,
                           .machine = sig.target,
                           .n_param = sig.n_param,
                           .param = param,
                           .n_constant = sig.n_const,
                           .constant = sig.const_name,
                           .standard = sig.const_default,
                           .n_axis = sig.n_axis,
                           .axis = sig.axis,
                           .axis_size = sig.axis_size};
    return AXE_OK;
}
