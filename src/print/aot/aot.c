/* aot.c - the functions around kernels that are compiled ahead of time.
 *
 * The unit is: a little runtime (threads that start, meet and end; checks),
 * the kernels, and for each kernel the functions that users call.  The runtime
 * is text here, the same in every unit, and all of it static. */
#include <inttypes.h>
#include <string.h>

#include "print/aot/aot.h"
#include "print/aot/aot_int.h"
#include "print/aot/text.h"
#include "print/c/c_int.h"

/* ---------------------------------------------------------------- functions */

static void
put_values(axe_ctx *cx, axe_buf *b, const axe_kernel *k)
{
    for (int i = 0; i < k->n_param; i++)
        axe_putf(b, ", %s", axe_aot_name(cx, k->param[i]->name));
    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            axe_putf(b, ", %s", axe_aot_name(cx, k->size[i]->name));
}

static void
put_prototype(axe_ctx *cx, axe_buf *b, const axe_kernel *k, bool threads)
{
    bool any = k->n_param + k->n_size > 0;

    axe_putf(b, "int %s%s(%s", axe_aot_name(cx, k->name),
             threads ? "_threads" : "",
             threads ? any ? "int n_thread, " : "int n_thread" : "");
    if (any || !threads)
        axe_aot_arguments(cx, b, k, NULL);
    axe_putc(b, ')');
}

/* Tensors of the kernel's own, between its scopes. */
static axe_status
put_temp(axe_cprinter *p, axe_buf *b, const axe_tensor *t, int at)
{
    axe_putf(b, "    i64 n_%d = %d;\n", at, axe_type_table[t->type].bits / 8);
    for (int d = 0; d < t->rank; d++) {
        axe_putf(b, "    if (!status && __builtin_mul_overflow(n_%d, ", at);
        AXE_TRY(axe_c_index(p, b, t->shape[d]));
        axe_putf(b, ", &n_%d))\n        status = AXE_AOT_EOVERFLOW;\n", at);
    }
    axe_putf(
        b,
        "    if (!status && posix_memalign(&ptr[%d], 64, (size_t)n_%d + 1) "
        "!= 0)\n"
        "        status = AXE_AOT_ENOMEM;\n",
        at, at);
    return AXE_OK;
}

/* Does this host have what the machine's row asks for? */
static void
put_cpu_test(axe_buf *b, const axe_machine *mc)
{
    const char *word = mc->features;

    axe_puts(b, "    if (1");
    while (*word) {
        size_t n = strcspn(word, " ");
#define X86(name, one, two, three)                                             \
    if (strlen(name) == n && strncmp(word, name, n) == 0)                      \
        axe_puts(b, " && __builtin_cpu_supports(\"" one                        \
                    "\") && __builtin_cpu_supports(\"" two                     \
                    "\") && __builtin_cpu_supports(\"" three "\")");
#define ARM(name)
#include "machine/cpu/features.def"
        word += n + strspn(word + n, " ");
    }
    axe_puts(b, ")\n        return AXE_AOT_OK;\n    return AXE_AOT_ECPU;\n");
}

static axe_status
put_body(axe_cprinter *p, axe_buf *b, const char *entry)
{
    const axe_kernel *k = p->l->plan->kernel;
    int               n = k->n_param + k->n_temp;

    axe_puts(b, "\n{\n    int status = axe_cpu();\n");
    axe_aot_sizes(p, b, k);
    axe_puts(b, "    const i64 size[] = {0");
    for (int i = 0; i < k->n_size; i++)
        axe_putf(b, ", %s", axe_c_var(p, k->size[i]));
    axe_putf(b, "};\n    void *ptr[%d] = {0", n + 1);
    for (int i = 0; i < k->n_param; i++)
        axe_putf(b, "%s (void *)%s%s",
                 i ? "," : "};\n    void *const given[] = {",
                 axe_is_scalar(k->param[i]) ? "&" : "",
                 axe_aot_name(p->cx, k->param[i]->name));
    axe_puts(b, "};\n");
    if (k->n_param > 0)
        axe_puts(b, "    memcpy(ptr, given, sizeof given);\n");
    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(axe_aot_check(p, b, k->param[i], "axe_check"));
    axe_aot_check_sizes(p, b, k);
    axe_aot_check_reach(p, b);
    for (int i = 0; i < k->n_temp; i++)
        AXE_TRY(put_temp(p, b, k->temp[i], k->n_param + i));
    axe_putf(b,
             "    if (!status)\n"
             "        status = axe_call(%s, ptr, size + 1, %" PRId64
             ", n_thread);\n",
             entry, p->l->scratch_bytes);
    for (int i = 0; i < k->n_temp; i++)
        axe_putf(b, "    free(ptr[%d]);\n", k->n_param + i);
    axe_puts(b, "    return status;\n}\n");
    return AXE_OK;
}

static axe_status
put_functions(axe_ctx *cx, axe_buf *b, const axe_c_entry *e)
{
    const axe_kernel *k = e->lowered->plan->kernel;
    axe_cprinter      p = {.cx = cx, .l = e->lowered, .out = b};

    axe_putc(b, '\n');
    put_prototype(cx, b, k, true);
    AXE_TRY(put_body(&p, b, e->name));
    axe_putc(b, '\n');
    put_prototype(cx, b, k, false);
    axe_putf(b, "\n{\n    return %s_threads(1", axe_aot_name(cx, k->name));
    put_values(cx, b, k);
    axe_puts(b, ");\n}\n");
    return AXE_OK;
}

/* --------------------------------------------------------------- the unit */

static void
put_header(axe_ctx *cx, axe_buf *h, int n, const axe_c_entry *e,
           const char *name)
{
    const char *guard = axe_aot_guard(cx, name);

    axe_putf(h,
             "/* %s - made by axe %s for %s; do not edit.\n"
             " *\n"
             " * Each function comes twice: on the calling thread, and on "
             "n_thread of them,\n"
             " * from 1 to 1024.  Links with -lm -lpthread. */\n"
             "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n"
             "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n%s",
             name, AXE_VERSION, e[0].lowered->plan->machine->name, guard, guard,
             axe_aot_status);
    for (int i = 0; i < n; i++) {
        const axe_kernel *k = e[i].lowered->plan->kernel;
        axe_aot_doc(cx, h, k);
        put_prototype(cx, h, k, false);
        axe_puts(h, ";\n");
        put_prototype(cx, h, k, true);
        axe_puts(h, ";\n");
    }
    axe_puts(h, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

static axe_status
check_names(axe_ctx *cx, int n, const axe_c_entry *e)
{
    for (int i = 0; i < n; i++) {
        const axe_kernel *k = e[i].lowered->plan->kernel;
        AXE_TRY(axe_aot_check_params(cx, k));
        for (int j = 0; j < n; j++)
            if (j != i &&
                strcmp(axe_textf(cx, "%s_threads", axe_aot_name(cx, k->name)),
                       e[j].lowered->plan->kernel->name) == 0)
                return axe_fail(cx, k->at, AXE_ENAME,
                                "kernel %s would make a function %s_threads, "
                                "but another kernel has that name",
                                k->name, k->name);
    }
    return AXE_OK;
}

axe_status
axe_print_aot(axe_ctx *cx, int n, const axe_lowered *const *lowered,
              const char *name, axe_buf *c, axe_buf *h)
{
    axe_c_entry       *e = axe_new_array(cx, axe_c_entry, n);
    const axe_machine *mc = lowered[0]->plan->machine;

    for (int i = 0; i < n; i++)
        e[i] = (axe_c_entry){
            .lowered = lowered[i],
            .name = axe_textf(cx, "axe_kernel_%s",
                              axe_aot_name(cx, lowered[i]->plan->kernel->name)),
            .local = true};
    AXE_TRY(check_names(cx, n, e));
    axe_putf(c,
             "/* made by axe %s for %s; do not edit.\n"
             " * Compile with gcc or clang: -O2 -fwrapv -ffp-contract=fast "
             "-fno-math-errno */\n%s\n",
             AXE_VERSION, mc->name, axe_aot_includes);
    put_header(cx, h, n, e, name);
    axe_puts(c, axe_aot_status);
    axe_puts(c, "\nstatic int axe_cpu(void)\n{\n");
    put_cpu_test(c, mc);
    axe_puts(c, "}\n\n");
    axe_print_c_target(c, mc, true);
    AXE_TRY(axe_print_c_unit(cx, n, e, c));
    axe_print_c_target(c, mc, false);
    axe_puts(c, axe_aot_team);
    axe_puts(c, axe_aot_call);
    axe_puts(c, axe_aot_check_text);
    for (int i = 0; i < n; i++)
        AXE_TRY(put_functions(cx, c, &e[i]));
    return AXE_OK;
}
