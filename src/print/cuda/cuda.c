/* cuda.c - grids as CUDA C: declarations.
 *
 * A kernel's body is printed first, noting what it uses; then come the helpers,
 * a function for each atom, and the kernels.  Registers are arrays: every index
 * is constant once the loops that are to be written out are. */
#include <inttypes.h>
#include <string.h>

#include "print/cuda/cuda_int.h"

/* ----------------------------------------------------------------- kernels */

static void
put_tensor(axe_speller *p, axe_buf *b, const axe_tensor *t)
{
    if (axe_is_scalar(t)) {
        axe_putf(b, "const %s by_%s", axe_spell_element_type(t->type), t->name);
        return;
    }
    axe_putf(b, "%s%s *%s", t->dir == AXE_DIR_IN ? "const " : "",
             axe_spell_element_type(t->type), axe_spell_tensor(p, t));
}

static void
put_head(axe_speller *p, axe_buf *b)
{
    const axe_grid   *g = p->g;
    const axe_kernel *k = p->l->plan->kernel;
    const char       *next = "";

    axe_putf(b, "/* %d threads, %" PRId64 " bytes of shared memory */\n",
             g->n_thread, g->shared_bytes);
    axe_putf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 1)",
             g->n_thread);
    if (g->cluster > 1)
        axe_putf(b, " __cluster_dims__(%d, 1, 1)", g->cluster);
    axe_putf(b, "\n%s(", g->name);
    for (int i = 0; i < g->n_map; i++, next = ",\n    ")
        axe_putf(b, "%sconst __grid_constant__ tensor_map map%d", next, i);
    for (int i = 0; i < k->n_param; i++, next = ", ") {
        axe_puts(b, next);
        put_tensor(p, b, k->param[i]);
    }
    for (int i = 0; i < k->n_temp; i++, next = ", ") {
        axe_puts(b, next);
        put_tensor(p, b, k->temp[i]);
    }
    for (int i = 0; i < k->n_size; i++, next = ", ")
        axe_putf(b, "%si64 %s", next,
                 axe_spell_size_name(p->cx, "n", k->size[i]));
    for (int i = 0; i < g->n_host_loop; i++, next = ", ")
        axe_putf(b, "%si64 turn%d", next, i);
    if (p->l->has_cores)
        axe_putf(b, "%si64 n_%s", next, AXE_CORES);
    axe_puts(b, ")\n{\n");
    for (int i = 0; i < k->n_param; i++)
        if (axe_is_scalar(k->param[i]))
            axe_putf(b, "    const %s *%s = &by_%s;\n",
                     axe_spell_element_type(k->param[i]->type),
                     axe_spell_tensor(p, k->param[i]), k->param[i]->name);
}

static const char *const id_text[AXE_N_ID] = {
    [AXE_ID_BLOCK] = "block = (int)blockIdx.x;",
    [AXE_ID_N_BLOCK] = "n_block = (int)gridDim.x;",
    [AXE_ID_RANK] = "rank = cluster_rank();",
    [AXE_ID_WARP] = "warp = __shfl_sync(~0u, (int)threadIdx.x >> $b, 0);",
    [AXE_ID_LANE] = "lane = (int)threadIdx.x & $m;",
};

/* An id's text: $b is the bits of a lane's number, $m its mask. */
static void
put_id(axe_speller *p, axe_buf *b, axe_id i)
{
    int n = 0;

    while (1 << n < p->g->lanes)
        n++;
    axe_putf(b, "    const %s ", axe_spell_int(p, p->g->id[i]));
    for (const char *t = id_text[i]; *t; t++)
        if (*t == '$')
            axe_putf(b, "%d", *++t == 'b' ? n : p->g->lanes - 1);
        else
            axe_putc(b, *t);
    axe_putc(b, '\n');
}

static void
put_buffers(axe_speller *p, axe_buf *b)
{
    const axe_grid *g = p->g;

    if (g->n_buffer == 0)
        return;
    axe_puts(b,
             "    extern __shared__ __align__(1024) u8 shared[];\n"
             "    const u32 smem = (u32)__cvta_generic_to_shared(shared);\n");
    for (int i = 0; i < g->n_buffer; i++)
        axe_putf(b, "    const u32 %s = smem + %" PRId64 ";\n",
                 axe_spell_tensor(p, g->buffer[i].tensor), g->buffer[i].offset);
}

static axe_status
put_kernel(axe_speller *p, axe_buf *b)
{
    const axe_kernel *k = p->l->plan->kernel;
    axe_buf           body = {.cx = p->cx};

    p->n_name = p->n_tensor = p->cap_tensor = 0;
    p->ix = axe_indices_make(p->cx, p->l, p->g, p->wide);
    memset(p->id, 0, sizeof p->id);
    p->out = &body;
    for (int i = 0; i < k->n_size; i++)
        axe_spell_declare(p, k->size[i]);
    for (int i = 0; i < p->g->n_host_loop; i++)
        axe_spell_declare(p, p->g->host_loop[i]);
    if (k->cores)
        axe_spell_declare(p, k->cores);
    AXE_TRY(axe_spell_block(p, &p->g->body, 1));
    put_head(p, b);
    put_buffers(p, b);
    for (int i = 0; i < AXE_N_ID; i++)
        if (p->id[i])
            put_id(p, b, (axe_id)i);
    for (int i = 0; i < k->n_size; i++)
        if (p->name[i].used)
            axe_putf(b,
                     p->wide ? "    const i64 %s = %s;\n"
                             : "    const int %s = (int)%s;\n",
                     p->name[i].text,
                     axe_spell_size_name(p->cx, "n", k->size[i]));
    const axe_spelled_var *rest = p->name + k->n_size;
    for (int i = 0; i < p->g->n_host_loop; i++, rest++)
        if (rest->used)
            axe_putf(b, "    const int %s = (int)turn%d;\n", rest->text, i);
    if (k->cores && rest->used)
        axe_putf(b, "    const int %s = (int)n_%s;\n", rest->text, AXE_CORES);
    AXE_TRY(axe_spell_arrays(p, b));
    axe_puts(b, body.text ? body.text : "");
    axe_puts(b, "}\n");
    if (p->id[AXE_ID_RANK])
        axe_spell_need(p, "cluster_rank");
    return AXE_OK;
}

static const char types[] = "typedef unsigned char u8;\n"
                            "typedef signed char i8;\n"
                            "typedef unsigned short u16;\n"
                            "typedef short i16;\n"
                            "typedef unsigned u32;\n"
                            "typedef long long i64;\n"
                            "typedef unsigned long long u64;\n"
                            "struct __align__(64) tensor_map { u8 b[128]; };\n";

static const axe_spell_op ops[] = {
#define ANY ~0u
#define ON(k) (1u << K_##k)
#define ROW(op, ...) {AXE_OP_##op, __VA_ARGS__},
#include "print/cuda/ops.def"
};

static const axe_spell_fn fns[] = {
#define FN(name, needs, text) {#name, needs, text},
#include "print/cuda/fn.def"
};

_Static_assert(AXE_DESC_START_AT == 0, "descriptors begin with an address");

/* `$start` is where byte address a is in a descriptor. */
static void
put_helper(axe_buf *out, const char *text)
{
    const char *start = strstr(text, "$start");
    unsigned    most = (AXE_DESC_UNIT << AXE_DESC_START_BITS) - 1;
    int         shift = 0;

    while (1 << shift < AXE_DESC_UNIT)
        shift++;
    if (start)
        axe_putf(out, "%.*s(a & 0x%x) >> %d%s\n", (int)(start - text), text,
                 most, shift, start + strlen("$start"));
    else
        axe_putf(out, "%s\n", text);
}

const axe_dialect axe_cuda_dialect = {
    .name = "CUDA C",
    .n_op = AXE_LEN(ops),
    .n_fn = AXE_LEN(fns),
    .op = ops,
    .fn = fns,
    .f32 = {"__int_as_float((int)", "__float_as_int(",
            "__int_as_float(0x7fc00000)", "__int_as_float(0x7f800000)"},
    .f64 = {"__longlong_as_double((i64)", "__double_as_longlong(",
            "__longlong_as_double(0x7ff8000000000000)",
            "__longlong_as_double(0x7ff0000000000000)"},
    .i64_end = "ll",
    .u64_end = "ull",
    .put_helper = put_helper,
    .atom = axe_cuda_atom,
};

axe_status
axe_print_cuda(axe_ctx *cx, const axe_lowered *l, bool wide, axe_buf *out)
{
    axe_speller p = {.d = &axe_cuda_dialect, .cx = cx, .l = l, .wide = wide};
    axe_buf     kernels = {.cx = cx};

    if (axe_machine_space(l->plan->machine, AXE_SPACE_SHARED)->slow)
        return axe_fail(cx, l->plan->kernel->at, AXE_EUNSUPPORTED,
                        "CUDA C has no shared memory in partitions, as %s has",
                        l->plan->machine->name);
    for (int i = 0; i < l->n_grid; i++) {
        p.g = &l->grid[i];
        axe_puts(&kernels, "\n");
        AXE_TRY(put_kernel(&p, &kernels));
    }
    axe_putf(out, "/* %s for %s */\n", l->plan->kernel->name,
             l->plan->machine->name);
    axe_puts(out, types);
    axe_puts(out, "\n");
    axe_spell_put_helpers(&p, out);
    for (int i = 0; i < p.n_atom; i++)
        axe_putf(out, "%s%s", i ? "\n" : "", p.atom[i]);
    axe_puts(out, kernels.text ? kernels.text : "");
    return AXE_OK;
}
