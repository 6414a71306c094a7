/* gpu.c - machine code of a GPU as a C file that launches it. */
#include <inttypes.h>
#include <string.h>

#include "print/aot/aot_int.h"
#include "print/aot/gpu.h"
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

static void
put_prototype(axe_ctx *cx, axe_buf *b, const axe_kernel *k)
{
    axe_putf(b, "int %s(", axe_aot_name(cx, k->name));
    if (k->n_param + k->n_size > 0) {
        axe_aot_arguments(cx, b, k);
        axe_puts(b, ", ");
    }
    axe_puts(b, "void *stream)");
}

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
        put_prototype(cx, h, k);
        axe_puts(h, ";\n");
    }
    axe_puts(h, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ------------------------------------------------------------------ the code
 */

static void
put_bytes(axe_buf *c, int number, const axe_gpu_image *code)
{
    const unsigned char *p = code->code;

    axe_putf(c,
             "\nstatic const _Alignas(16) unsigned char axe_bytes%d[%zu] = {",
             number, code->bytes);
    for (size_t i = 0; i < code->bytes; i++)
        axe_putf(c, "%s%d,", i % 20 == 0 ? "\n    " : "", p[i]);
    axe_putf(c,
             "\n};\nstatic axe_code axe_code%d = {axe_bytes%d, "
             "PTHREAD_MUTEX_INITIALIZER, 0};\n",
             number, number);
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
             i, axe_map_type(m->tensor->type), m->rank,
             axe_aot_name(p->cx, m->tensor->name), axe_map_swizzle(m->swizzle),
             m->tensor->dir != AXE_DIR_IN);
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

/* Sizes that the grid cannot have are refused where it has a CTA, and arrays
 * that begin where it cannot access them. */
static axe_status
put_needs(axe_cprinter *p, axe_buf *b, const axe_grid *g)
{
    for (int i = 0; i < g->n_need; i++) {
        axe_puts(b, "        if (blocks > 0 && !(");
        AXE_TRY(axe_c_index(p, b, g->need[i].when));
        axe_puts(b, "))\n            status = AXE_AOT_EARG;\n");
    }
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
    axe_putf(
        b,
        "    if (!status) {\n"
        "        static const axe_grid grid = {\"%s\", %d, %d, %d, %d, %" PRId64
        "};\n",
        g->name, g->n_thread, g->cluster, g->persistent, g->waits,
        g->shared_bytes);
    axe_puts(b, "        const i64 blocks = ");
    AXE_TRY(axe_c_index(p, b, g->blocks));
    axe_puts(b, ";\n");
    AXE_TRY(put_needs(p, b, g));
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
             "axe_start(&axe_code%d, &grid, blocks, arg, &call);\n    }\n",
             number);
    return AXE_OK;
}

static axe_status put_host(axe_cprinter *p, axe_buf *b, int number, int n,
                           const axe_host *h);

static axe_status
put_loop(axe_cprinter *p, axe_buf *b, int number, const axe_host *h)
{
    const char *v = axe_c_var(p, h->var);

    axe_puts(b, "    {\n        const i64 end = status ? 0 : ");
    AXE_TRY(axe_c_index(p, b, h->var->extent));
    axe_putf(b,
             ";\n"
             "        if (end > %d)\n"
             "            status = AXE_AOT_EOVERFLOW;\n"
             "        for (i64 %s = 0; !status && %s < end; %s++) {\n",
             AXE_HOST_ITERATIONS, v, v, v);
    AXE_TRY(put_host(p, b, number, h->n_body, h->body));
    axe_puts(b, "        }\n    }\n");
    return AXE_OK;
}

static axe_status
put_branch(axe_cprinter *p, axe_buf *b, int number, const axe_host *h)
{
    axe_puts(b, "    if (");
    AXE_TRY(axe_c_index(p, b, h->cond));
    axe_puts(b, ") {\n");
    AXE_TRY(put_host(p, b, number, h->n_body, h->body));
    axe_puts(b, "    } else {\n");
    AXE_TRY(put_host(p, b, number, h->n_other, h->other));
    axe_puts(b, "    }\n");
    return AXE_OK;
}

static axe_status
put_host(axe_cprinter *p, axe_buf *b, int number, int n, const axe_host *h)
{
    for (int i = 0; i < n; i++, h++)
        AXE_TRY(h->kind == AXE_HOST_GRID
                    ? put_grid(p, b, number, &p->l->grid[h->grid])
                : h->kind == AXE_HOST_LOOP ? put_loop(p, b, number, h)
                                           : put_branch(p, b, number, h));
    return AXE_OK;
}

/* The kernel's own tensors, in the order of the stream. */
static axe_status
put_temps(axe_cprinter *p, axe_buf *b, const axe_kernel *k)
{
    if (k->n_temp > 0)
        axe_putf(b, "    uint64_t temp[%d] = {0};\n", k->n_temp);
    for (int i = 0; i < k->n_temp; i++) {
        const axe_tensor *t = k->temp[i];
        axe_putf(b, "    i64 n_%d = %d;\n", i,
                 axe_type_table[t->type].bits / 8);
        for (int d = 0; d < t->rank; d++) {
            axe_putf(b, "    if (!status && __builtin_mul_overflow(n_%d, ", i);
            AXE_TRY(axe_c_index(p, b, t->shape[d]));
            axe_putf(b, ", &n_%d))\n        status = AXE_AOT_EOVERFLOW;\n", i);
        }
        axe_putf(b,
                 "    if (!status)\n        status = -cuMemAllocAsync("
                 "&temp[%d], (size_t)n_%d + 1, stream);\n",
                 i, i);
    }
    return AXE_OK;
}

static bool
has_maps(const axe_lowered *l)
{
    int n = 0;

    for (int i = 0; i < l->n_grid; i++)
        n += l->grid[i].n_map;
    return n > 0;
}

static axe_status
put_function(axe_ctx *cx, axe_buf *b, int number, const axe_gpu_image *code)
{
    const axe_kernel *k = code->lowered->plan->kernel;
    axe_cprinter      p = {.cx = cx, .l = code->lowered, .out = b};

    axe_putc(b, '\n');
    put_prototype(cx, b, k);
    axe_puts(b, "\n{\n    axe_call call = {.stream = stream};\n"
                "    int status = AXE_AOT_OK;\n");
    axe_aot_sizes(&p, b, k);
    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(axe_aot_check(&p, b, k->param[i]));
    axe_aot_check_sizes(&p, b, k);
    axe_aot_check_reach(&p, b);
    for (int i = 0; i < k->n_size && !code->wide; i++)
        axe_putf(b,
                 "    if (!status && %s > %d)\n"
                 "        status = AXE_AOT_EOVERFLOW;\n",
                 axe_c_var(&p, k->size[i]), AXE_CUDA_MOST);
    if (code->lowered->has_cores)
        axe_putf(b,
                 "    i64 %s = 0;\n"
                 "    if (!status)\n"
                 "        status = axe_multiprocessors(&%s);\n",
                 axe_c_var(&p, k->cores), axe_c_var(&p, k->cores));
    AXE_TRY(put_temps(&p, b, k));
    AXE_TRY(
        put_host(&p, b, number, code->lowered->n_host, code->lowered->host));
    for (int i = 0; i < k->n_temp; i++)
        axe_putf(b,
                 "    if (temp[%d])\n        cuMemFreeAsync(temp[%d], "
                 "stream);\n",
                 i, i);
    if (has_maps(code->lowered))
        axe_puts(b, "    if (call.nothing)\n"
                    "        cuMemFreeAsync(call.nothing, stream);\n");
    axe_puts(b, "    return status;\n}\n");
    return AXE_OK;
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
    for (int i = 0; i < n; i++)
        put_bytes(c, i, &code[i]);
    for (int i = 0; i < n; i++)
        AXE_TRY(put_function(cx, c, i, &code[i]));
    return AXE_OK;
}
