/* verb_check.c - `axe check`: everything that is wrong with kernel files.
 *
 * Each kernel is compiled with its defaults as far as its text, so that what
 * passes here is compiled; one for a family of machines as far as its IR,
 * unless one of them is named, or all.  What is wrong whatever the machine is
 * said once. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "axe/machine.h"
#include "kernel.h"
#include "lang/lang.h"
#include "machine/machine.h"
#include "run/program.h"

static const char verb[] = "check";

static const char help[] =
    "usage: axe check [OPTION]... FILE...\n"
    "\n"
    "Says all that is wrong with the kernels of the files, each with its "
    "defaults.\n"
    "Nothing runs.  Exits 1 if anything is; warnings alone do not count.\n"
    "\n"
    "      --set NAME=VALUE    for the kernels that have this parameter\n"
    "  -t, --target MACHINE    cpu (this one), cpu-avx512, cpu-avx2, ...; "
    "all:\n"
    "                          each that a kernel may be for\n"
    "      --werror            warnings count\n"
    "  -h, --help              this text\n";

static const struct option known[] = {
    {"target", required_argument, NULL, 't'},
    {"set", required_argument, NULL, AXE_OPT_SET},
    {"werror", no_argument, NULL, AXE_OPT_WERROR},
    {"help", no_argument, NULL, 'h'},
    {0}};

typedef struct options {
    axe_kernel_args kernel;
    bool            help, taken[AXE_LEN(((axe_pairs *)0)->name)];
} options;

static int
read_args(axe_ctx *cx, int argc, char **argv, options *o)
{
    int c, code;

    while ((c = getopt_long(argc, argv, "ht:", known, NULL)) != -1) {
        if (c == '?')
            return axe_tool_wrong(argv, known);
        o->help = o->help || c == 'h';
        code = axe_kernel_option(cx, &o->kernel, verb, c, optarg);
        if (code != AXE_EXIT_OK)
            return code;
    }
    if (!o->help && optind == argc)
        return axe_tool_usage(verb, "a kernel file is missing");
    return AXE_EXIT_OK;
}

static bool
has_const(const axe_kernel_sig *s, const char *name)
{
    for (int i = 0; i < s->n_const; i++)
        if (strcmp(s->const_name[i], name) == 0)
            return true;
    return false;
}

/* Of several machines, none of which stands for all: `cpu` is this host's. */
static bool
is_family(axe_ctx *cx, const char *target)
{
    const char *name = target ? axe_target_first(cx, target) : "cpu";

    return strcmp(name, "cpu") != 0 && axe_machine_axes(name);
}

/* For each machine, unless it is wrong for all.  Which ones it is wrong for is
 * said before what. */
static axe_status
check_all(axe_ctx *cx, const axe_module *module, const axe_compile_spec *spec,
          const axe_kernel_sig *sig)
{
    axe_compile_spec   one = *spec;
    const axe_program *p;
    axe_status         st = AXE_OK;

    AXE_TRY(axe_compile_module(cx, module, spec, AXE_STAGE_IR, &p));
    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_machine *m = axe_machine_at(i);
        one.machine = m->name;
        if (!axe_machine_is_target(m, sig->target))
            continue;
        axe_status here = axe_compile_module(cx, module, &one, AXE_STAGE_C, &p);
        if (here == AXE_OK)
            continue;
        printf("%s: errors for %s\n", sig->name, m->name);
        st = here;
    }
    return st;
}

static axe_status
check_kernel(axe_ctx *cx, options *o, const axe_module *m, const char *name)
{
    axe_kernel_args    a = {.kernel = name, .machine = o->kernel.machine};
    axe_kernel_sig     sig;
    axe_compile_spec   spec;
    const axe_program *p;

    bool all = a.machine && strcmp(a.machine, "all") == 0;

    if (all)
        a.machine = NULL;
    AXE_TRY(axe_module_sig(cx, m, name, &sig));
    for (int i = 0; i < o->kernel.set.n; i++) {
        if (!has_const(&sig, o->kernel.set.name[i]))
            continue;
        o->taken[i] = true;
        a.set.name[a.set.n] = o->kernel.set.name[i];
        a.set.value[a.set.n++] = o->kernel.set.value[i];
    }
    spec = axe_kernel_spec(&a);
    if (all)
        return check_all(cx, m, &spec, &sig);
    return axe_compile_module(
        cx, m, &spec,
        !a.machine && is_family(cx, sig.target) ? AXE_STAGE_IR : AXE_STAGE_C,
        &p);
}

/* How many of its kernels are wrong; -1: the file itself is. */
static int
check_file(axe_ctx *cx, options *o, const char *file)
{
    const axe_module *m;
    int32_t           source;
    int               n, wrong = 0;

    if (axe_kernel_source(cx, file, &source) != AXE_OK ||
        axe_module_parse(cx, source, &m) != AXE_OK)
        return -1;
    n = axe_module_n_kernel(m);
    for (int i = 0; i < n; i++) {
        axe_mark mark = axe_ctx_mark(cx);
        wrong += check_kernel(cx, o, m, axe_module_kernel_name(m, i)) != AXE_OK;
        if (axe_ctx_mark(cx).diag == mark.diag)
            axe_ctx_release(cx, mark);
    }
    if (wrong == 0)
        printf("%s: %d kernel%s, no errors\n", axe_text_plain(cx, file), n,
               n == 1 ? "" : "s");
    else
        printf("%s: errors in %d of %d kernel%s\n", axe_text_plain(cx, file),
               wrong, n, n == 1 ? "" : "s");
    return wrong;
}

int
axe_verb_check(int argc, char **argv)
{
    axe_ctx *cx = axe_ctx_new();
    options  o = {0};
    int      code = read_args(cx, argc, argv, &o);

    if (code == AXE_EXIT_OK && o.help)
        fputs(help, stdout);
    for (int i = optind; code != AXE_EXIT_USAGE && !o.help && i < argc; i++)
        if (check_file(cx, &o, argv[i]) != 0)
            code = AXE_EXIT_FAIL;
    for (int i = 0; code == AXE_EXIT_OK && i < o.kernel.set.n; i++)
        if (!o.taken[i] && !o.help)
            code = axe_tool_usage(verb, "--set %s: no kernel has it",
                                  o.kernel.set.name[i]);
    if (code == AXE_EXIT_OK && axe_kernel_strict(cx, &o.kernel) != AXE_OK)
        code = AXE_EXIT_FAIL;
    return axe_kernel_end(cx, code);
}
