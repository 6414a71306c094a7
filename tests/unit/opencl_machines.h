/* opencl_machines.h - kernels compiled for devices of OpenCL, which are not
 * among the machines that have a name. */
#ifndef OPENCL_MACHINES_H
#define OPENCL_MACHINES_H

#include "lang/lang.h"
#include "machine/machine.h"
#include "map_rows.h"
#include "plan/plan.h"
#include "run/array/file.h"

/* The machine's row, but with so much local memory. */
static inline const axe_machine *
with_local(axe_ctx *cx, const axe_machine *least, int64_t bytes)
{
    axe_machine *mc = axe_new(cx, axe_machine);
    axe_simt    *simt = axe_new(cx, axe_simt);

    *mc = *least;
    *simt = *least->simt;
    simt->shared_bytes = bytes;
    mc->simt = simt;
    return mc;
}

static inline axe_status
compile_source(run *x, int32_t source, const char *kernel,
               const axe_machine *mc)
{
    axe_program *p = axe_new(x->cx, axe_program);
    axe_inst     inst = {
            .kernel = kernel, .machine = mc->family, .model = mc->name};
    const axe_module *m;

    x->p = p;
    p->machine = mc;
    p->reach = INT64_MAX;
    AXE_TRY(axe_machine_use(x->cx, mc));
    AXE_TRY(axe_module_parse(x->cx, source, &m));
    AXE_TRY(axe_module_instantiate(x->cx, m, &inst, &p->kernel));
    AXE_TRY(axe_kernel_verify(x->cx, p->kernel));
    AXE_TRY(axe_plan_kernel(x->cx, p->kernel, mc, &p->plan));
    return axe_lower(x->cx, p->plan, &p->lowered);
}

/* A kernel of the library. */
static inline axe_status
compile_on(run *x, const char *file, const char *kernel, const axe_machine *mc)
{
    const char *path =
        axe_textf(x->cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, file);
    axe_bytes text;

    AXE_TRY(axe_file_read(x->cx, path, &text));
    int32_t source =
        axe_source_add(x->cx, path, (const char *)text.data, text.len);
    free(text.data);
    return compile_source(x, source, kernel, mc);
}

static inline const axe_machine *
opencl_named(const char *name)
{
    for (int i = 0; i < axe_opencl_machines.n; i++)
        if (strcmp(axe_opencl_machines.machine[i].name, name) == 0)
            return &axe_opencl_machines.machine[i];
    fail_msg("there is no %s", name);
    return NULL;
}

/* The same of a CPU. */
static inline const axe_machine *
on_core(axe_ctx *cx, const char *name)
{
    return axe_opencl_machine(cx, opencl_named(name),
                              &(axe_opencl_has){.kind = "cpu", .features = ""});
}

#endif
