/* emit.c - programs looked at: the text of their stages, what they are called
 * with. */
#include <string.h>

#include "axe/compile.h"

#include "base/ctx.h"
#include "lower/lower.h"
#include "machine/machine.h"
#include "plan/passes.h"
#include "plan/plan.h"
#include "run/program.h"
#include "run/target.h"

static const struct {
    const char  *name, *text, *of;
    axe_language language;
} dialects[] = {
#define DIALECT(id, language, text)                                            \
    {#id, text, #language, AXE_LANGUAGE_##language},
#include "machine/dialects.def"
};

static axe_status
too_early(axe_ctx *cx, const axe_program *p)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "kernel %s was not compiled so far", p->kernel->name);
}

/* Between devices there are plans alone. */
static axe_status
no_part(axe_ctx *cx, const axe_program *p)
{
    axe_fail(cx, p->meshed->at, AXE_EARG,
             "kernel %s has no `device`, of which there would be a text; what "
             "is between devices is done by plans",
             p->meshed->name);
    axe_help(cx, "`axe explain` shows them; --emit ir the kernel");
    return AXE_EARG;
}

axe_status
axe_program_emit(axe_ctx *cx, const axe_program *p, axe_stage stage,
                 axe_buf *out)
{
    AXE_TRY(axe_stage_check(cx, __func__, stage));
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    AXE_TRY(axe_kernel_own(cx, p->kernel));
    if (p->meshed && p->n_part == 0 && stage != AXE_STAGE_IR)
        return no_part(cx, p);
    if (p->meshed && stage == AXE_STAGE_IR) {
        axe_kernel_print(cx, out, p->meshed);
        return AXE_OK;
    }
    for (int i = 0; p->meshed && i < p->n_part; i++) {
        axe_puts(out, i ? "\n" : "");
        AXE_TRY(axe_program_emit(cx, p->part[i], stage, out));
    }
    if (p->meshed)
        return AXE_OK;
    if ((stage >= AXE_STAGE_PLAN && !p->plan) ||
        (stage >= AXE_STAGE_LOWER && !p->lowered) ||
        (stage >= AXE_STAGE_C && !p->c_text))
        return too_early(cx, p);
    if (stage == AXE_STAGE_IR)
        axe_kernel_print(cx, out, p->kernel);
    else if (stage == AXE_STAGE_PLAN) {
        if (p->tuned)
            axe_putf(out, "values: %s\n", p->tuned);
        axe_plan_print(cx, out, p->plan, NULL);
    } else if (stage == AXE_STAGE_LOWER)
        axe_lowered_print(cx, out, p->lowered);
    else
        axe_puts(out, p->c_text);
    return AXE_OK;
}

axe_status
axe_program_emit_pass(axe_ctx *cx, const axe_program *p, const char *pass,
                      axe_buf *out)
{
    const axe_kernel *k;
    const axe_plan   *plan;

    AXE_NEED(cx, p);
    AXE_NEED(cx, pass);
    AXE_NEED(cx, out);
    AXE_TRY(axe_kernel_own(cx, p->kernel));
    AXE_TRY(axe_machine_enter(cx, p->machine));
    AXE_TRY(axe_plan_until(cx, p->kernel, p->machine, pass, &k, &plan));
    if (plan)
        axe_plan_print(cx, out, plan, NULL);
    else
        axe_kernel_print(cx, out, k);
    return AXE_OK;
}

bool
axe_dialect_named(int i, const char **name, const char **text)
{
    bool there = i >= 0 && i < AXE_LEN(dialects);

    if (there && name)
        *name = dialects[i].name;
    if (there && text)
        *text = dialects[i].text;
    return there;
}

axe_status
axe_program_emit_dialect(axe_ctx *cx, const axe_program *p, const char *dialect,
                         axe_buf *out)
{
    int i = 0;

    AXE_NEED(cx, p);
    AXE_NEED(cx, dialect);
    AXE_NEED(cx, out);
    AXE_TRY(axe_kernel_own(cx, p->kernel));
    while (i < AXE_LEN(dialects) && strcmp(dialects[i].name, dialect) != 0)
        i++;
    if (i == AXE_LEN(dialects))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "there is no dialect %s; `axe help passes` lists them",
                        dialect);
    if (p->meshed || p->machine->language != dialects[i].language) {
        axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                 "%s is for kernels of one machine, of language %s; %s is "
                 "for %s",
                 dialect, dialects[i].of, p->kernel->name,
                 p->meshed ? "a mesh" : p->machine->name);
        axe_help(cx, "name another machine (-t), or --emit c");
        return AXE_EARG;
    }
    if (!p->lowered)
        return too_early(cx, p);
    return axe_target_of(p->machine)
        ->print_dialect(cx, p->lowered, (axe_dialect)i, out);
}

bool
axe_pass_named(int i, const char **name, const char **text)
{
    const axe_pass *p = axe_pass_at(i);

    if (p && name)
        *name = p->name;
    if (p && text)
        *text = p->text;
    return p != NULL;
}

axe_status
axe_program_plan_json(axe_ctx *cx, const axe_program *p, axe_buf *out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    AXE_TRY(axe_kernel_own(cx, p->kernel));
    if (!p->plan)
        return too_early(cx, p);
    axe_plan_json(cx, out, p->plan, NULL);
    return AXE_OK;
}

const char *
axe_program_tuned(const axe_program *p)
{
    return p ? p->tuned : NULL;
}

const char *
axe_program_kernel(const axe_program *p)
{
    return p ? p->kernel->name : NULL;
}

const char *
axe_program_machine(const axe_program *p)
{
    if (!p || (!p->plan && !p->meshed))
        return NULL;
    return p->plan ? p->plan->machine->name : p->machine->name;
}

bool
axe_program_on_gpu(const axe_program *p)
{
    return p && p->plan && p->plan->machine->language == AXE_LANGUAGE_cuda;
}

bool
axe_program_on_opencl(const axe_program *p)
{
    return p && p->plan && p->plan->machine->language == AXE_LANGUAGE_opencl;
}

bool
axe_program_on_trainium(const axe_program *p)
{
    return p && p->plan && p->plan->machine->language == AXE_LANGUAGE_nki;
}

const void *
axe_program_spirv(const axe_program *p, size_t *bytes)
{
    if (bytes)
        *bytes = p ? p->spirv_bytes : 0;
    return p ? p->spirv : NULL;
}

int
axe_program_n_param(const axe_program *p)
{
    return p ? p->kernel->n_param : 0;
}

axe_param
axe_program_param(const axe_program *p, int i)
{
    static const axe_access access[] = {[AXE_DIR_IN] = AXE_READS,
                                        [AXE_DIR_OUT] = AXE_WRITES,
                                        [AXE_DIR_INOUT] = AXE_UPDATES};

    if (!p || i < 0 || i >= p->kernel->n_param)
        return (axe_param){0};
    const axe_tensor *t = p->kernel->param[i];
    return (axe_param){t->name, axe_type_table[t->type].name, access[t->dir],
                       t->rank};
}

int
axe_program_n_size(const axe_program *p)
{
    return p ? p->kernel->n_size : 0;
}

const char *
axe_program_size(const axe_program *p, int i)
{
    return p && i >= 0 && i < p->kernel->n_size ? p->kernel->size[i]->name
                                                : NULL;
}
