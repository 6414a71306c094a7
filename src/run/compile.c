/* compile.c - the pipeline: text, module, IR, plan, loops, C. */
#include <string.h>

#include "axe/opencl.h"
#include "base/ctx.h"
#include "ir/reach.h"
#include "lang/lang.h"
#include "lower/lower.h"
#include "machine/machine.h"
#include "plan/passes.h"
#include "plan/plan.h"
#include "run/array/weights.h"
#include "run/dist/dist.h"
#include "run/opencl/spirv.h"
#include "run/target.h"
#include "run/tune/tuned.h"

static const char *const order_name[] = {
    [AXE_ORDER_C] = "C",
    [AXE_ORDER_F] = "F",
    [AXE_ORDER_PACKED] = "packed",
    [AXE_ORDER_STRIDED] = "strided",
};

/* ------------------------------------------------------------------- specs */

static axe_status
order_named(axe_ctx *cx, const char *param, const char *name, axe_order *out)
{
    for (int i = 0; i < AXE_LEN(order_name); i++)
        if (strcmp(order_name[i], name) == 0) {
            *out = (axe_order)i;
            return AXE_OK;
        }
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s: order '%s' is none of C, F, packed and strided", param,
                    name);
}

static axe_status
read_spec(axe_ctx *cx, const axe_compile_spec *spec, const axe_machine *mc,
          axe_inst *out)
{
    axe_order         *order = axe_new_array(cx, axe_order, spec->n_order);
    int                n_known;
    const char *const *known = axe_machine_names(cx, &n_known);

    for (int i = 0; i < spec->n_order; i++)
        AXE_TRY(
            order_named(cx, spec->order_name[i], spec->order[i], &order[i]));
    *out = (axe_inst){.kernel = spec->kernel,
                      .machine = mc->family,
                      .model = mc->name,
                      .n_known = n_known,
                      .known = known,
                      .n_set = spec->n_set,
                      .set_name = spec->set_name,
                      .set_value = spec->set_value,
                      .n_order = spec->n_order,
                      .order_name = spec->order_name,
                      .order = order};
    return AXE_OK;
}

/* --------------------------------------------------------------- pipeline */

/* The first line is a comment with the machine's name. */
static void
digest_of(const axe_buf *text, unsigned char *out)
{
    size_t line = strcspn(text->text, "\n");

    axe_sha256_of(text->text + line, text->len - line, out);
}

static axe_status
print_c(axe_ctx *cx, axe_program *p)
{
    const axe_target *target = axe_target_of(p->plan->machine);
    axe_buf           text = {.cx = cx};

    AXE_TRY(target->print(cx, p->lowered, p->wide, &text));
    p->c_text = text.text;
    digest_of(&text, p->c_digest);
    for (int side = 0;
         side < 2 && target->print_side && axe_lowered_branch(p->lowered);
         side++) {
        text = (axe_buf){.cx = cx};
        AXE_TRY(target->print_side(cx, p->lowered, side, &text));
        p->side_text[side] = text.text;
        digest_of(&text, p->side_digest[side]);
    }
    return AXE_OK;
}

static axe_status translate_meshed(axe_ctx *cx, const axe_machine *machine,
                                   const axe_kernel       *kernel,
                                   const axe_compile_spec *spec, axe_stage last,
                                   const axe_program **out);

/* The stages after IR. */
static axe_status
translate(axe_ctx *cx, const axe_machine *machine, const axe_kernel *kernel,
          const axe_compile_spec *spec, axe_stage last, const axe_program **out)
{
    axe_program *p = axe_new(cx, axe_program);

    if (kernel->n_axis > 0)
        return translate_meshed(cx, machine, kernel, spec, last, out);
    p->kernel = kernel;
    p->machine = machine;
    p->wide = spec->wide;
    AXE_TRY(axe_kernel_verify(cx, p->kernel));
    p->reach = axe_kernel_reach(cx, p->kernel);
    if (last >= AXE_STAGE_PLAN)
        AXE_TRY(axe_plan_kernel(cx, p->kernel, machine, &p->plan));
    if (last >= AXE_STAGE_LOWER) {
        AXE_TRY(axe_lower(cx, p->plan, &p->lowered));
        p->scratch_bytes = p->lowered->scratch_bytes;
    }
    if (last >= AXE_STAGE_C)
        AXE_TRY(print_c(cx, p));
    if (last >= AXE_STAGE_C && spec->spirv)
        AXE_TRY(axe_spirv(cx, p, &p->spirv, &p->spirv_bytes));
    *out = p;
    return AXE_OK;
}

/* Each device does kernels of its own; what is between them waits for sizes and
 * a mesh (dist.h). */
static axe_status
translate_meshed(axe_ctx *cx, const axe_machine *machine,
                 const axe_kernel *kernel, const axe_compile_spec *spec,
                 axe_stage last, const axe_program **out)
{
    axe_program           *p = axe_new(cx, axe_program);
    const axe_stmt *const *device;
    const axe_program    **part;
    const axe_kernel      *one;

    if (!axe_target_of(machine)->on_mesh && last > AXE_STAGE_IR)
        return axe_dist_not_for(cx, kernel, machine);
    AXE_TRY(axe_dist_check_orders(cx, kernel, spec));
    AXE_TRY(axe_kernel_verify(cx, kernel));
    AXE_TRY(axe_mesh_unfold(cx, kernel, &kernel));
    AXE_TRY(axe_mesh_hoist(cx, kernel, &kernel));
    AXE_TRY(axe_dist_outside(cx, kernel, &p->kernel));
    p->meshed = kernel;
    p->machine = machine;
    p->reach = INT64_MAX;
    p->n_part = axe_device_stmts(cx, kernel, &device);
    part = axe_new_array(cx, const axe_program *, p->n_part);
    for (int i = 0; i < p->n_part; i++) {
        AXE_TRY(axe_device_kernel(cx, kernel, device[i], i, false, &one));
        AXE_TRY(translate(cx, machine, one, spec, last, &part[i]));
    }
    p->part = part;
    *out = p;
    return AXE_OK;
}

static bool
is_machine(const char *name)
{
    for (int i = 0; i < axe_n_machine(); i++)
        if (strcmp(axe_machine_at(i)->name, name) == 0)
            return true;
    return false;
}

/* The machine asked for, else the kernel's, else this host's CPU: it serves
 * also for a machine not known here, as far as nothing is planned. */
static axe_status
find_machine(axe_ctx *cx, const axe_module *m, const axe_compile_spec *spec,
             axe_stage last, const axe_machine **out)
{
    const char    *name = spec->machine;
    axe_kernel_sig sig;

    AXE_TRY(axe_module_sig(cx, m, spec->kernel, &sig));
    if (!name)
        name = sig.target ? axe_target_first(cx, sig.target) : "cpu";
    if (!spec->machine && last == AXE_STAGE_IR && !is_machine(name))
        name = "cpu";
    AXE_TRY(axe_machine_find(cx, name, out));
    if (spec->device && (*out)->language == AXE_LANGUAGE_opencl)
        *out = axe_opencl_machine(
            cx, *out,
            &(axe_opencl_has){spec->device->kind, spec->device->local_bytes,
                              spec->device->most_items, spec->device->n_unit,
                              spec->device->features,
                              spec->device->n_width > 0 ? spec->device->width[0]
                                                        : 0});
    return AXE_OK;
}

axe_status
axe_stage_check(axe_ctx *cx, const char *fn, axe_stage stage)
{
    if (cx && (unsigned)stage < AXE_N_STAGE)
        return AXE_OK;
    return cx ? axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                         "%s: no stage has the number %d, they end at %d", fn,
                         (int)stage, AXE_N_STAGE - 1)
              : AXE_EARG;
}

static axe_status
need_names(axe_ctx *cx, const char *const *name, int n)
{
    for (int i = 0; i < n; i++)
        AXE_NEED(cx, name[i]);
    return AXE_OK;
}

/* Are the arrays there that a spec counts, and all names? */
static axe_status
need_spec(axe_ctx *cx, const axe_compile_spec *spec)
{
    AXE_NEED_ALL(cx, spec->n_set, spec->set_name);
    AXE_NEED_ALL(cx, spec->n_set, spec->set_value);
    AXE_NEED_ALL(cx, spec->n_order, spec->order_name);
    AXE_NEED_ALL(cx, spec->n_order, spec->order);
    AXE_NEED_ALL(cx, spec->n_hint, spec->hint_name);
    AXE_NEED_ALL(cx, spec->n_hint, spec->hint);
    AXE_TRY(need_names(cx, spec->set_name, spec->n_set));
    AXE_TRY(need_names(cx, spec->set_value, spec->n_set));
    AXE_TRY(need_names(cx, spec->order_name, spec->n_order));
    AXE_TRY(need_names(cx, spec->order, spec->n_order));
    return need_names(cx, spec->hint_name, spec->n_hint);
}

axe_status
axe_compile(axe_ctx *cx, int32_t source, const axe_compile_spec *spec,
            axe_stage last, const axe_program **out)
{
    AXE_TRY(axe_stage_check(cx, __func__, last));
    AXE_NEED(cx, spec);
    AXE_NEED(cx, out);
    AXE_TRY(need_spec(cx, spec));
    const axe_module *module;

    AXE_TRY(axe_module_parse(cx, source, &module));
    return axe_compile_module(cx, module, spec, last, out);
}

axe_status
axe_compile_module(axe_ctx *cx, const axe_module *module,
                   const axe_compile_spec *spec, axe_stage last,
                   const axe_program **out)
{
    const axe_machine *machine;
    const axe_kernel  *kernel;
    axe_inst           inst;

    AXE_TRY(find_machine(cx, module, spec, last, &machine));
    AXE_TRY(read_spec(cx, spec, machine, &inst));
    AXE_TRY(axe_module_instantiate(cx, module, &inst, &kernel));
    return translate(cx, machine, kernel, spec, last, out);
}

axe_status
axe_kernel_own(axe_ctx *cx, const axe_kernel *k)
{
    axe_status st;

    if (k->cx == cx)
        return AXE_OK;
    st = axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                  "kernel %s was compiled in another ctx", k->name);
    axe_help(cx, "give the ctx that compiled it; only running it takes others");
    return st;
}

axe_status
axe_program_is_one(axe_ctx *cx, const axe_program *p)
{
    axe_status st;

    if (!p->meshed)
        return AXE_OK;
    st = axe_fail(cx, p->kernel->at, AXE_EUNSUPPORTED,
                  "kernel %s is over a mesh, and this is for kernels of one "
                  "device",
                  p->kernel->name);
    axe_help(cx, "`axe run --devices N` runs it on processes that are its "
                 "devices");
    return st;
}

axe_status
axe_compile_kernel(axe_ctx *cx, const axe_kernel *kernel, const char *machine,
                   axe_stage last, const axe_program **out)
{
    AXE_TRY(axe_stage_check(cx, __func__, last));
    AXE_NEED(cx, kernel);
    AXE_NEED(cx, out);
    const axe_machine *mc;

    AXE_TRY(axe_kernel_own(cx, kernel));
    AXE_TRY(axe_machine_find(cx, machine ? machine : "cpu", &mc));
    return translate(cx, mc, kernel, &(axe_compile_spec){0}, last, out);
}

/* -------------------------------------------------------- fitting to arrays */

/* Row-major, column-major, or neither, by strides; dimensions of one step do
 * not tell. */
static axe_order
order_of(const axe_array *a)
{
    bool    c = true, f = true, empty = false;
    int64_t step = 1;

    for (int i = 0; i < a->rank && a->shape; i++)
        empty = empty || a->shape[i] <= 0;
    if (!a->stride || !a->shape || empty)
        return AXE_ORDER_C;
    for (int i = a->rank - 1; i >= 0 && c; i--) {
        c = a->shape[i] == 1 || a->stride[i] == step;
        c = c && axe_mul(step, a->shape[i], &step);
    }
    step = 1;
    for (int i = 0; i < a->rank && f; i++) {
        f = a->shape[i] == 1 || a->stride[i] == step;
        f = f && axe_mul(step, a->shape[i], &step);
    }
    return c ? AXE_ORDER_C : f ? AXE_ORDER_F : AXE_ORDER_STRIDED;
}

/* A spec that grows: the caller's entries first, which therefore win. */
typedef struct fitting {
    axe_compile_spec spec;
    const char     **set_name, **set_value, **set_from;
    const char     **order_name, **order;
} fitting;

static const char *
lookup(int n, const char *const *name, const char *const *value,
       const char *wanted)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name[i], wanted) == 0)
            return value[i];
    return NULL;
}

static axe_status
fit_type(axe_ctx *cx, fitting *f, const axe_param_sig *param,
         const axe_array *a)
{
    int         n = f->spec.n_set;
    const char *type =
        a->type ? axe_textf(cx, "%.*s", (int)strcspn(a->type, " "), a->type)
                : NULL;
    const char *have = lookup(n, f->set_name, f->set_value, param->type);
    const char *from = lookup(n, f->set_name, f->set_from, param->type);

    if (!param->type_is_param || !type)
        return AXE_OK;
    if (have && from && strcmp(have, type) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                        "type %s is %s from %s but %s from %s", param->type,
                        have, from, type, param->name);
    if (have)
        return AXE_OK;
    f->set_name[n] = param->type;
    f->set_value[n] = type;
    f->set_from[n] = param->name;
    f->spec.n_set++;
    return AXE_OK;
}

static void
fit_order(fitting *f, const axe_array *a)
{
    bool      packed = a->type && strstr(a->type, AXE_PACKED_AS);
    axe_order order = packed ? AXE_ORDER_PACKED : order_of(a);
    int       n = f->spec.n_order;

    if (order == AXE_ORDER_C || lookup(n, f->order_name, f->order, a->name))
        return;
    f->order_name[n] = a->name;
    f->order[n] = order_name[order];
    f->spec.n_order++;
}

static fitting
start_fitting(axe_ctx *cx, const axe_compile_spec *spec, int n_array)
{
    int     n_set = spec->n_set + n_array, n_order = spec->n_order + n_array;
    fitting f = {.spec = *spec,
                 .set_name = axe_new_array(cx, const char *, n_set),
                 .set_value = axe_new_array(cx, const char *, n_set),
                 .set_from = axe_new_array(cx, const char *, n_set),
                 .order_name = axe_new_array(cx, const char *, n_order),
                 .order = axe_new_array(cx, const char *, n_order)};

    for (int i = 0; i < spec->n_set; i++) {
        f.set_name[i] = spec->set_name[i];
        f.set_value[i] = spec->set_value[i];
    }
    for (int i = 0; i < spec->n_order; i++) {
        f.order_name[i] = spec->order_name[i];
        f.order[i] = spec->order[i];
    }
    return f;
}

static axe_status
fit_array(axe_ctx *cx, fitting *f, const axe_kernel_sig *sig,
          const axe_array *a)
{
    const char **known = axe_new_array(cx, const char *, sig->n_param);
    const char  *near;
    axe_status   st;

    for (int i = 0; i < sig->n_param; i++) {
        known[i] = sig->param[i].name;
        if (!a->name || strcmp(known[i], a->name) != 0)
            continue;
        AXE_TRY(fit_type(cx, f, &sig->param[i], a));
        if (a->rank == sig->param[i].rank)
            fit_order(f, a);
        return AXE_OK;
    }
    near = a->name ? axe_nearest(a->name, sig->n_param, known) : NULL;
    st = axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "kernel %s has no parameter '%s'",
                  sig->name, a->name ? a->name : "(null)");
    if (near)
        axe_help(cx, "did you mean '%s'?", near);
    return st;
}

axe_status
axe_spec_fit(axe_ctx *cx, const axe_module *m, const axe_compile_spec *spec,
             int n_array, const axe_array *array, axe_kernel_sig *sig,
             axe_compile_spec *out)
{
    AXE_TRY(axe_module_sig(cx, m, spec->kernel, sig));
    fitting f = start_fitting(cx, spec, n_array + sig->n_const);

    for (int i = 0; i < n_array; i++)
        AXE_TRY(fit_array(cx, &f, sig, &array[i]));
    *out = f.spec;
    out->set_name = f.set_name;
    out->set_value = f.set_value;
    out->order_name = f.order_name;
    out->order = f.order;
    return AXE_OK;
}

/* The arrays of a fitted spec have room for all constants of the kernel. */
static const char *
use_tuned(axe_ctx *cx, int32_t source, const axe_kernel_sig *sig, int n_array,
          const axe_array *array, axe_compile_spec *spec)
{
    const char *why = NULL;

    if (!spec->no_tuned)
        spec->n_set = axe_tuned_find(cx, source, sig, spec, n_array, array,
                                     (const char **)spec->set_name,
                                     (const char **)spec->set_value, &why);
    return why;
}

axe_status
axe_compile_for(axe_ctx *cx, int32_t source, const axe_compile_spec *spec,
                int n_array, const axe_array *array, axe_stage last,
                const axe_program **out)
{
    AXE_TRY(axe_stage_check(cx, __func__, last));
    AXE_NEED(cx, spec);
    AXE_NEED(cx, out);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_TRY(need_spec(cx, spec));
    const axe_module *module;
    axe_kernel_sig    sig;
    axe_compile_spec  fit;
    const char       *why;

    AXE_TRY(axe_module_parse(cx, source, &module));
    AXE_TRY(axe_spec_fit(cx, module, spec, n_array, array, &sig, &fit));
    int      n_set = fit.n_set;
    axe_mark mark;
    why = use_tuned(cx, source, &sig, n_array, array, &fit);
    mark = axe_ctx_mark(cx);
    axe_status st = axe_compile(cx, source, &fit, last, out);
    if (st == AXE_OK && why)
        ((axe_program *)*out)->tuned = why;
    if (st == AXE_OK || !why)
        return st;
    axe_ctx_release(cx, mark);
    axe_warn(cx, AXE_NOWHERE, "tuned values no longer have a plan: %s", why);
    fit.n_set = n_set;
    return axe_compile(cx, source, &fit, last, out);
}
