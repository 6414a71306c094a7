/* kernel.c - options and files of the verbs that take a kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "axe/opencl.h"
#include "kernel.h"
#include "lang/lang.h"
#include "machine/machine.h"
#include "run/array/file.h"

enum { MOST_DEVICE = 1 << 20 };

bool
axe_pairs_add(axe_ctx *cx, axe_pairs *p, const char *text)
{
    const char *eq = strchr(text, '=');

    if (!eq || eq == text || eq[1] == '\0' || p->n == AXE_LEN(p->name))
        return false;
    p->name[p->n] = axe_textf(cx, "%.*s", (int)(eq - text), text);
    p->value[p->n++] = eq + 1;
    return true;
}

int
axe_kernel_option(axe_ctx *cx, axe_kernel_args *a, const char *verb, int c,
                  const char *arg)
{
    if (c == 't')
        a->machine = arg;
    else if (c == AXE_OPT_WERROR)
        a->werror = true;
    else if (c == AXE_OPT_DEVICE) {
        a->has_device = axe_tool_int(arg, &a->device) && a->device >= 0 &&
                        a->device <= MOST_DEVICE;
        if (!a->has_device)
            return axe_tool_usage(
                verb, "--device %s: a number of `axe devices` is needed", arg);
    } else if (c == AXE_OPT_SET && !axe_pairs_add(cx, &a->set, arg))
        return axe_tool_usage(verb, "--set %s: NAME=VALUE is needed", arg);
    else if (c == AXE_OPT_ORDER && !axe_pairs_add(cx, &a->order, arg))
        return axe_tool_usage(verb,
                              "--order %s: NAME=C, NAME=F or "
                              "NAME=strided is needed",
                              arg);
    return AXE_EXIT_OK;
}

int
axe_kernel_names(axe_kernel_args *a, const char *verb, int n, char **arg)
{
    if (n == 0)
        return axe_tool_usage(verb, "a kernel file is missing");
    if (n > 2)
        return axe_tool_usage(verb, "too many arguments: '%s'", arg[2]);
    a->file = arg[0];
    a->kernel = n > 1 ? arg[1] : NULL;
    return AXE_EXIT_OK;
}

axe_status
axe_kernel_source(axe_ctx *cx, const char *file, int32_t *source)
{
    axe_bytes text;

    AXE_TRY(axe_file_read(cx, file, &text));
    *source = axe_source_add(cx, file, (const char *)text.data, text.len);
    free(text.data);
    return AXE_OK;
}

axe_status
axe_kernel_strict(axe_ctx *cx, const axe_kernel_args *a)
{
    int n = 0;

    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        n += d->severity == AXE_WARNING;
    if (n == 0 || !a->werror)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%d warning%s, and --werror makes %s", n, n == 1 ? "" : "s",
                    n == 1 ? "it an error" : "them errors");
}

/* The machine that the caller names, or else the kernel, or else this CPU; NULL
 * where something is wrong with the text, which is said when it is compiled. */
static axe_status
find_machine(axe_ctx *cx, const axe_kernel_args *a, const axe_machine **out)
{
    axe_mark          m = axe_ctx_mark(cx);
    const axe_module *module;
    axe_kernel_sig    sig = {0};
    int32_t           source;

    if (a->machine)
        return axe_machine_find(cx, a->machine, out);
    if (axe_kernel_source(cx, a->file, &source) != AXE_OK ||
        axe_module_parse(cx, source, &module) != AXE_OK ||
        axe_module_sig(cx, module, a->kernel, &sig) != AXE_OK ||
        axe_machine_find(cx,
                         sig.target ? axe_target_first(cx, sig.target) : "cpu",
                         out) != AXE_OK)
        *out = NULL;
    axe_ctx_release(cx, m);
    return AXE_OK;
}

axe_status
axe_kernel_device(axe_ctx *cx, axe_kernel_args *a, bool always)
{
    const axe_machine *mc;

    if (!a->has_device && !always)
        return AXE_OK;
    AXE_TRY(find_machine(cx, a, &mc));
    if (mc && mc->language == AXE_LANGUAGE_opencl)
        return axe_opencl_choose(
            cx, mc->name, a->has_device ? (int)a->device : -1, &a->opencl);
    if (!a->has_device || !mc)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EARG,
             "--device %" PRId64 " is a device of OpenCL, and the kernel is "
             "for %s",
             a->device, mc->name);
    axe_help(cx, "--target opencl, or opencl-sg16, is for devices of OpenCL");
    return AXE_EARG;
}

axe_compile_spec
axe_kernel_spec(const axe_kernel_args *a)
{
    return (axe_compile_spec){.kernel = a->kernel,
                              .machine = a->machine,
                              .device = a->opencl,
                              .n_set = a->set.n,
                              .set_name = a->set.name,
                              .set_value = a->set.value,
                              .n_order = a->order.n,
                              .order_name = a->order.name,
                              .order = a->order.value};
}

int
axe_kernel_end(axe_ctx *cx, int code)
{
    if (axe_diags(cx))
        (void)axe_tool_report(cx);
    axe_ctx_free(cx);
    return code == AXE_EXIT_OK ? axe_tool_finish(code) : code;
}

bool
axe_stage_named(const char *name, axe_stage *out)
{
    static const char *const known[] = {"ir", "plan", "lower", "c"};

    for (int i = 0; i < AXE_LEN(known); i++)
        if (strcmp(known[i], name) == 0) {
            *out = (axe_stage)i;
            return true;
        }
    return false;
}

bool
axe_tool_int(const char *text, int64_t *out)
{
    char     *end;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *out = v;
    return true;
}
