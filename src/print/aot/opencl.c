/* opencl.c - texts of OpenCL C as a C file that builds and launches them. */
#include <inttypes.h>
#include <string.h>

#include "print/aot/aot_int.h"
#include "print/aot/host.h"
#include "print/aot/opencl.h"
#include "print/aot/text.h"
#include "print/opencl/opencl.h"

/* A line as a string. */
static void
put_line(axe_buf *c, const char *line, size_t n)
{
    axe_puts(c, "    \"");
    for (size_t i = 0; i < n; i++) {
        if (line[i] == '"' || line[i] == '\\')
            axe_putc(c, '\\');
        axe_putc(c, line[i]);
    }
    axe_puts(c, "\\n\",\n");
}

/* One string for each line: C promises no long ones. */
static void
put_text(axe_buf *c, int number, const axe_opencl_image *image)
{
    int n = 0;

    axe_putf(c, "\nstatic const char *const axe_text%d[] = {\n", number);
    for (const char *s = image->text; *s; n++) {
        size_t len = strcspn(s, "\n");
        put_line(c, s, len);
        s += len + (s[len] == '\n');
    }
    axe_putf(c,
             "};\nstatic axe_code axe_code%d = {axe_text%d, %d, {\"%s\", "
             "\"%s\"}, PTHREAD_MUTEX_INITIALIZER, 0};\n",
             number, number, n, image->options, image->exact);
}

static void
put_code(axe_buf *c, int number, const axe_opencl_image *image)
{
    axe_aot_bytes(c, number, image->code, image->bytes);
    axe_putf(c,
             "static axe_code axe_code%d = {axe_bytes%d, %zu, {\"\", "
             "\"%s\"}, PTHREAD_MUTEX_INITIALIZER, 0};\n",
             number, number, image->bytes, AXE_OPENCL_EXACT);
}

/* What the device must have. */
static void
put_needs(axe_buf *c, const axe_opencl_must *must)
{
    axe_putf(c,
             "\nenum { axe_lanes = %d };\n"
             "static const axe_need axe_needs[] = {\n",
             must->lanes);
    for (int i = 0; i < must->n; i++)
        axe_putf(c, "    {%d, \"%s\", 0x%x, %" PRId64 "},\n",
                 must->way[i].number, must->way[i].extension,
                 must->way[i].question, must->way[i].bits);
    axe_puts(c, "    {-1, 0, 0, 0}};\n");
}

static void
put_release(axe_ctx *cx, axe_buf *b, const axe_kernel *k)
{
    axe_putf(b, "void axe_release_%s(void *context)",
             axe_aot_name(cx, k->name));
}

static void
put_argument(axe_buf *b, const char *name)
{
    axe_putf(b, "{sizeof %s, &%s}, ", name, name);
}

/* As the printer of OpenCL C declares a kernel: parameters, the kernel's own
 * tensors, sizes, numbers of the loops around it, compute units. */
static axe_status
put_grid(axe_cprinter *p, axe_buf *b, int number, const axe_grid *g)
{
    const axe_kernel *k = p->l->plan->kernel;
    int n = k->n_param + k->n_temp + k->n_size + g->n_host_loop + 1;

    axe_putf(b,
             "        static const axe_grid grid = {\"%s\", %d, %d, %" PRId64
             "};\n"
             "        const axe_arg arg[] = {",
             g->name, g->n_thread, g->persistent, g->shared_bytes);
    for (int i = 0; i < k->n_param; i++)
        put_argument(b, axe_aot_name(p->cx, k->param[i]->name));
    for (int i = 0; i < k->n_temp; i++)
        put_argument(b, axe_textf(p->cx, "temp[%d]", i));
    for (int i = 0; i < k->n_size; i++)
        put_argument(b, axe_c_var(p, k->size[i]));
    for (int i = 0; i < g->n_host_loop; i++)
        put_argument(b, axe_c_var(p, g->host_loop[i]));
    axe_putf(b,
             "{sizeof call.cores, &call.cores}};\n"
             "        if (!status)\n            status = "
             "axe_start(&axe_code%d, &grid, blocks, %d, arg, &call);\n",
             number, n);
    return AXE_OK;
}

static const axe_aot_driver driver = {.where = "queue",
                                      .memory = "void *",
                                      .check = "axe_check_memory",
                                      .grid = put_grid};

static void
put_header(axe_ctx *cx, axe_buf *h, int n, const axe_opencl_image *image,
           const char *name)
{
    const char *guard = axe_aot_guard(cx, name);

    axe_putf(
        h,
        "/* %s - made by axe %s for %s; do not edit.\n"
        " *\n"
        " * Arrays are cl_mem, from their first bytes on, queue is a "
        "cl_command_queue in\n"
        " * order.  The functions start and return: a status, or an error of "
        "OpenCL, which\n"
        " * is below 0.  The first call in a context builds the program, which "
        "keeps the\n"
        " * context; axe_release_K gives it back, NULL: in all contexts, while "
        "no call of\n"
        " * K is in progress.\n"
        " * Links with -lOpenCL -lpthread. */\n"
        "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n%s",
        name, AXE_VERSION, image[0].lowered->plan->machine->name, guard, guard,
        axe_aot_status);
    for (int i = 0; i < n; i++) {
        const axe_kernel *k = image[i].lowered->plan->kernel;
        axe_aot_doc(cx, h, k);
        axe_aot_host_prototype(cx, h, k, &driver);
        axe_puts(h, ";\n");
        put_release(cx, h, k);
        axe_puts(h, ";\n");
    }
    axe_puts(h, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

axe_status
axe_print_aot_opencl(axe_ctx *cx, int n, const axe_opencl_image *image,
                     const axe_opencl_must *must, const char *name, axe_buf *c,
                     axe_buf *h)
{
    bool code = image[0].code != NULL;

    for (int i = 0; i < n; i++)
        AXE_TRY(axe_aot_check_params(cx, image[i].lowered->plan->kernel));
    put_header(cx, h, n, image, name);
    axe_putf(c, "/* made by axe %s for %s; do not edit. */\n%s\n%s\n%s",
             AXE_VERSION, image[0].lowered->plan->machine->name,
             axe_aot_includes, axe_aot_status, axe_aot_index);
    axe_puts(c, axe_aot_check_text);
    axe_puts(c, axe_aot_opencl);
    axe_puts(c, axe_aot_opencl_needs);
    axe_puts(c, code ? axe_aot_opencl_code : axe_aot_opencl_text);
    put_needs(c, must);
    axe_puts(c, axe_aot_opencl_start);
    for (int i = 0; i < n; i++)
        if (code)
            put_code(c, i, &image[i]);
        else
            put_text(c, i, &image[i]);
    for (int i = 0; i < n; i++) {
        AXE_TRY(axe_aot_host_function(cx, c, image[i].lowered, i, image[i].wide,
                                      &driver));
        put_release(cx, c, image[i].lowered->plan->kernel);
        axe_putf(c, "\n{\n    axe_forget(&axe_code%d, context);\n}\n", i);
    }
    return AXE_OK;
}
