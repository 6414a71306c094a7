/* gpu.c - machine code of a GPU as a C file that launches it. */
#include <inttypes.h>
#include <string.h>

#include "print/aot/aot_int.h"
#include "print/aot/gpu.h"
#include "print/aot/host.h"
#include "print/aot/text.h"
#include "print/cuda/cuda.h"

/* CUtensorMapDataType; what has none of its own is moved as integers of its
 * size. */
int
axe_map_type(axe_type t)
{
    static const struct {
        axe_type type;
        int      number;
    } row[] = {{AXE_TYPE_f16, 6},  {AXE_TYPE_f32, 7},  {AXE_TYPE_f64, 8},
               {AXE_TYPE_bf16, 9}, {AXE_TYPE_tf32, 7}, {AXE_TYPE_i32, 3},
               {AXE_TYPE_i64, 5}};

    for (int i = 0; i < AXE_LEN(row); i++)
        if (row[i].type == t)
            return row[i].number;
    switch (axe_type_table[t].bits) {
    case 64:
        return 4;
    case 32:
        return 2;
    case 16:
        return 1;
    case 4:
        return 13;
    default:
        return 0;
    }
}

int
axe_map_swizzle(int bytes)
{
    return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3;
}

/* ------------------------------------------------------------------ the code
 */

/* Where the tensor's elements are: an argument, or a tensor of the kernel's. */
static const char *
place_of(const axe_cprinter *p, const axe_tensor *t)
{
    const axe_kernel *k = p->l->plan->kernel;

    for (int i = 0; i < k->n_temp; i++)
        if (k->temp[i] == t)
            return axe_textf(p->cx, "(const void *)(uintptr_t)temp[%d]", i);
    return axe_aot_name(p->cx, t->name);
}

static axe_status
put_map(axe_cprinter *p, axe_buf *b, int i, const axe_map *m)
{
    int bytes = axe_type_table[m->tensor->type].bits / 8;

    axe_puts(b, "            const i64 extent[] = {");
    for (int d = 0; d < m->rank; d++) {
        axe_puts(b, d ? ", " : "");
        AXE_TRY(axe_c_index(p, b, m->size[d]));
    }
    axe_puts(b, "};\n            const i64 step[] = {");
    for (int d = 0; d < m->rank; d++) {
        axe_puts(b, d ? ", " : "");
        AXE_TRY(axe_c_index(p, b,
                            axe_node2(p->cx, AXE_OP_mul, m->stride[d],
                                      axe_index_const(p->cx, bytes))));
    }
    axe_puts(b, "};\n            const int box[] = {");
    for (int d = 0; d < m->rank; d++)
        axe_putf(b, "%s%d", d ? ", " : "", m->box[d]);
    axe_putf(b,
             "};\n            status = "
             "axe_encode(&map[%d], %d, %d, %s, extent, step, box, %d,\n"
             "                                %d, &call);\n",
             i, axe_map_type(m->tensor->type), m->rank, place_of(p, m->tensor),
             axe_map_swizzle(m->swizzle), m->stored);
    return AXE_OK;
}

static void
put_values(axe_cprinter *p, axe_buf *b, const axe_grid *g)
{
    const axe_kernel *k = p->l->plan->kernel;

    axe_puts(b, "        void *arg[] = {");
    for (int i = 0; i < g->n_map; i++)
        axe_putf(b, "&map[%d].map, ", i);
    for (int i = 0; i < k->n_param; i++)
        axe_putf(b, "(void *)&%s, ", axe_aot_name(p->cx, k->param[i]->name));
    for (int i = 0; i < k->n_temp; i++)
        axe_putf(b, "&temp[%d], ", i);
    for (int i = 0; i < k->n_size; i++)
        axe_putf(b, "(void *)&%s, ", axe_c_var(p, k->size[i]));
    for (int i = 0; i < g->n_host_loop; i++)
        axe_putf(b, "&%s, ", axe_c_var(p, g->host_loop[i]));
    if (p->l->has_cores)
        axe_putf(b, "(void *)&%s, ", axe_c_var(p, k->cores));
    axe_puts(b, "0};\n");
}

/* Arrays that begin where the grid cannot access them are refused. */
static axe_status
put_begins(axe_cprinter *p, axe_buf *b, const axe_grid *g)
{
    for (int i = 0; i < g->n_begin; i++) {
        const axe_begin *at = &g->begin[i];
        axe_putf(b, "        if (blocks > 0 && (uintptr_t)%s %% %d != 0",
                 axe_aot_name(p->cx, at->tensor->name), at->bytes);
        if (at->when) {
            axe_puts(b, " && (");
            AXE_TRY(axe_c_index(p, b, at->when));
            axe_putc(b, ')');
        }
        axe_puts(b, ")\n            status = AXE_AOT_EARG;\n");
    }
    return AXE_OK;
}

static axe_status
put_grid(axe_cprinter *p, axe_buf *b, int number, const axe_grid *g)
{
    axe_putf(b,
             "        static const axe_grid grid = {\"%s\", %d, %d, %d, %d, "
             "%d, %" PRId64 "};\n",
             g->name, g->n_thread, g->cluster, g->persistent, g->waits,
             g->together, g->shared_bytes);
    AXE_TRY(put_begins(p, b, g));
    if (g->n_map > 0)
        axe_putf(b, "        static _Thread_local axe_made map[%d];\n",
                 g->n_map);
    for (int i = 0; i < g->n_map; i++) {
        axe_puts(b, "        if (!status && blocks > 0");
        if (g->map[i].when) {
            axe_puts(b, " && (");
            AXE_TRY(axe_c_index(p, b, g->map[i].when));
            axe_putc(b, ')');
        }
        axe_puts(b, ") {\n");
        AXE_TRY(put_map(p, b, i, &g->map[i]));
        axe_puts(b, "        }\n");
    }
    put_values(p, b, g);
    axe_putf(b,
             "        if (!status)\n            status = "
             "axe_start(&axe_code%d, &grid, blocks, arg, &call);\n",
             number);
    return AXE_OK;
}

static const axe_aot_driver driver = {
    .where = "stream", .check = "axe_check", .grid = put_grid};

/* ------------------------------------------------------------------- the unit
 */

static void
put_header(axe_ctx *cx, axe_buf *h, int n, const axe_gpu_image *code,
           const char *name)
{
    const char *guard = axe_aot_guard(cx, name);

    axe_putf(
        h,
        "/* %s - made by axe %s for %s; do not edit.\n"
        " *\n"
        " * Arrays are in device memory, a context is current, stream is a "
        "CUstream or\n"
        " * NULL.  The functions start and return: a status, or minus a "
        "CUresult.\n"
        " * Links with -lcuda -lpthread. */\n"
        "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n%s",
        name, AXE_VERSION, code[0].lowered->plan->machine->name, guard, guard,
        axe_aot_status);
    for (int i = 0; i < n; i++) {
        const axe_kernel *k = code[i].lowered->plan->kernel;
        axe_aot_doc(cx, h, k);
        axe_aot_host_prototype(cx, h, k, &driver);
        axe_puts(h, ";\n");
    }
    axe_puts(h, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

axe_status
axe_print_aot_gpu(axe_ctx *cx, int n, const axe_gpu_image *code,
                  const char *name, axe_buf *c, axe_buf *h)
{
    for (int i = 0; i < n; i++)
        AXE_TRY(axe_aot_check_params(cx, code[i].lowered->plan->kernel));
    put_header(cx, h, n, code, name);
    axe_putf(c, "/* made by axe %s for %s; do not edit. */\n%s\n%s\n%s",
             AXE_VERSION, code[0].lowered->plan->machine->name,
             axe_aot_includes, axe_aot_status, axe_aot_index);
    axe_puts(c, axe_aot_check_text);
    axe_puts(c, axe_aot_gpu);
    axe_puts(c, axe_aot_start);
    axe_puts(c, axe_aot_map);
    for (int i = 0; i < n; i++) {
        axe_aot_bytes(c, i, code[i].code, code[i].bytes);
        axe_putf(c,
                 "static axe_code axe_code%d = {axe_bytes%d, "
                 "PTHREAD_MUTEX_INITIALIZER, 0};\n",
                 i, i);
    }
    for (int i = 0; i < n; i++)
        AXE_TRY(axe_aot_host_function(cx, c, code[i].lowered, i, code[i].wide,
                                      &driver));
    return AXE_OK;
}
