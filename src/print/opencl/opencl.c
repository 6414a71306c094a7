/* opencl.c - grids as OpenCL C: kernels and their declarations. */
#include <inttypes.h>
#include <string.h>

#include "print/opencl/opencl_int.h"

static axe_status
refuse(const axe_speller *p, const char *what)
{
    return axe_fail(p->cx, p->l->plan->kernel->at, AXE_EUNSUPPORTED,
                    "OpenCL C has no spelling for %s of grid %s", what,
                    p->g->name);
}

static bool
has_word(const axe_machine *mc, const char *word)
{
    return axe_machine_has_feature(mc, word);
}

/* ----------------------------------------------------------------- kernels */

static void
put_tensor(axe_speller *p, axe_buf *b, const axe_tensor *t)
{
    const char *type = axe_spell_element_type(t->type);

    if (axe_is_scalar(t))
        axe_putf(b, "%s by_%s", type, t->name);
    else
        axe_putf(b, "global %s%s *%s", t->dir == AXE_DIR_IN ? "const " : "",
                 type, axe_spell_tensor(p, t));
}

static void
put_head(axe_speller *p, axe_buf *b)
{
    const axe_grid   *g = p->g;
    const axe_kernel *k = p->l->plan->kernel;

    axe_putf(b,
             "/* %d work items, %" PRId64 " bytes of local memory */\n"
             "kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\n",
             g->n_thread, g->shared_bytes, g->n_thread);
    if (has_word(p->l->plan->machine, "width"))
        axe_putf(b, "__attribute__((intel_reqd_sub_group_size(%d)))\n",
                 g->lanes);
    axe_putf(b, "void %s(", g->name);
    for (int i = 0; i < k->n_param + k->n_temp; i++) {
        put_tensor(p, b,
                   i < k->n_param ? k->param[i] : k->temp[i - k->n_param]);
        axe_puts(b, ", ");
    }
    for (int i = 0; i < k->n_size; i++)
        axe_putf(b, "i64 %s, ", axe_spell_size_name(p->cx, "n", k->size[i]));
    for (int i = 0; i < g->n_host_loop; i++)
        axe_putf(b, "i64 turn%d, ", i);
    axe_putf(b, "i64 n_%s)\n{\n", AXE_CORES);
}

/* Lane and warp are asked of sub-groups where there are any: the order of a
 * group's items in them is the device's.  Else each item is a warp.  The number
 * of a sub-group is broadcast, since a compiler for CPUs may not see that it is
 * one for all lanes, and then gathers whatever it is in the address of. */
static const char *const id_text[AXE_N_ID][2] = {
    [AXE_ID_BLOCK] = {"get_group_id(0)", "get_group_id(0)"},
    [AXE_ID_N_BLOCK] = {"get_num_groups(0)", "get_num_groups(0)"},
    [AXE_ID_WARP] = {"get_local_id(0)",
                     "sub_group_broadcast(get_sub_group_id(), 0)"},
    [AXE_ID_LANE] = {"0", "get_sub_group_local_id()"},
};

static axe_status
put_ids(axe_speller *p, axe_buf *b)
{
    bool groups = has_word(p->l->plan->machine, "subgroups");

    for (int i = 0; i < AXE_N_ID; i++) {
        if (!p->id[i])
            continue;
        if (!id_text[i][groups])
            return refuse(p, axe_id_name((axe_id)i));
        axe_putf(b, "    const int %s = (int)%s;\n", axe_id_name((axe_id)i),
                 id_text[i][groups]);
    }
    return AXE_OK;
}

static void
put_sizes(axe_speller *p, axe_buf *b)
{
    const axe_kernel      *k = p->l->plan->kernel;
    const axe_spelled_var *v = p->name;
    const char            *type = p->wide ? "i64" : "int";

    for (int i = 0; i < k->n_size; i++, v++)
        if (v->used)
            axe_putf(b, "    const %s %s = (%s)%s;\n", type, v->text, type,
                     axe_spell_size_name(p->cx, "n", k->size[i]));
    for (int i = 0; i < p->g->n_host_loop; i++, v++)
        if (v->used)
            axe_putf(b, "    const int %s = (int)turn%d;\n", v->text, i);
    if (k->cores && v->used)
        axe_putf(b, "    const int %s = (int)n_%s;\n", v->text, AXE_CORES);
}

static void
put_buffers(axe_speller *p, axe_buf *b)
{
    const axe_grid *g = p->g;

    if (g->n_buffer > 0)
        axe_putf(b,
                 "    local u8 shared[%" PRId64
                 "] __attribute__((aligned(128)));\n",
                 g->shared_bytes);
    for (int i = 0; i < g->n_buffer; i++)
        axe_putf(b, "    local u8 *const %s = shared + %" PRId64 ";\n",
                 axe_spell_tensor(p, g->buffer[i].tensor), g->buffer[i].offset);
}

static axe_status
put_kernel(axe_speller *p, axe_buf *b)
{
    const axe_kernel *k = p->l->plan->kernel;
    const axe_grid   *g = p->g;
    axe_buf           body = {.cx = p->cx};

    if (g->n_map > 0 || g->cluster > 1 || g->n_tmem > 0)
        return refuse(p, "tensor maps, clusters or tensor memory");
    p->n_name = p->n_tensor = p->cap_tensor = 0;
    p->ix = axe_indices_make(p->cx, p->l, g, p->wide);
    memset(p->id, 0, sizeof p->id);
    p->out = &body;
    for (int i = 0; i < k->n_size; i++)
        axe_spell_declare(p, k->size[i]);
    for (int i = 0; i < g->n_host_loop; i++)
        axe_spell_declare(p, g->host_loop[i]);
    if (k->cores)
        axe_spell_declare(p, k->cores);
    AXE_TRY(axe_spell_block(p, &g->body, 1));
    put_head(p, b);
    put_buffers(p, b);
    AXE_TRY(put_ids(p, b));
    put_sizes(p, b);
    AXE_TRY(axe_spell_arrays(p, b));
    axe_puts(b, body.text ? body.text : "");
    axe_puts(b, "}\n");
    return AXE_OK;
}

/* ---------------------------------------------------------------- dialect */

static const axe_spell_op ops[] = {
#define ANY ~0u
#define ON(k) (1u << K_##k)
#define ROW(op, ...) {AXE_OP_##op, __VA_ARGS__},
#include "print/opencl/ops.def"
};

static const axe_spell_fn fns[] = {
#define FN(name, needs, text) {#name, needs, text},
#include "print/opencl/fn.def"
};

static const axe_dialect opencl = {
    .name = "OpenCL C",
    .n_op = AXE_LEN(ops),
    .n_fn = AXE_LEN(fns),
    .op = ops,
    .fn = fns,
    .f32 = {"as_float((int)", "as_int(", "as_float(0x7fc00000)",
            "as_float(0x7f800000)"},
    .f64 = {"as_double((i64)", "as_long(", "as_double(0x7ff8000000000000L)",
            "as_double(0x7ff0000000000000L)"},
    .i64_end = "L",
    .u64_end = "UL",
    .rounds_by_type = true,
    .atom = axe_cl_atom,
};

static const char types[] = "#pragma OPENCL FP_CONTRACT OFF\n"
                            "#ifdef cl_khr_fp16\n"
                            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                            "#endif\n"
                            "#ifdef cl_khr_int64_base_atomics\n"
                            "#pragma OPENCL EXTENSION "
                            "cl_khr_int64_base_atomics : enable\n"
                            "#endif\n"
                            "#ifdef cl_khr_int64_extended_atomics\n"
                            "#pragma OPENCL EXTENSION "
                            "cl_khr_int64_extended_atomics : enable\n"
                            "#endif\n"
                            "typedef uchar u8;\n"
                            "typedef char i8;\n"
                            "typedef ushort u16;\n"
                            "typedef short i16;\n"
                            "typedef uint u32;\n"
                            "typedef long i64;\n"
                            "typedef ulong u64;\n\n";

const char *
axe_opencl_options(const axe_lowered *l)
{
    static const char *const words[] = {"subgroups", "atomic.global.float",
                                        "atomic.local.float", "dot"};

    for (int i = 0; i < AXE_LEN(words); i++)
        if (has_word(l->plan->machine, words[i]))
            return "-cl-std=CL3.0";
    return "";
}

axe_status
axe_print_opencl(axe_ctx *cx, const axe_lowered *l, bool wide, axe_buf *out)
{
    axe_speller p = {.d = &opencl, .cx = cx, .l = l, .wide = wide};
    axe_buf     kernels = {.cx = cx};

    for (int i = 0; i < l->n_grid; i++) {
        p.g = &l->grid[i];
        axe_puts(&kernels, "\n");
        AXE_TRY(put_kernel(&p, &kernels));
    }
    axe_putf(out, "/* %s for %s */\n%s", l->plan->kernel->name,
             l->plan->machine->name, types);
    axe_spell_put_helpers(&p, out);
    axe_puts(out, kernels.text ? kernels.text : "");
    return AXE_OK;
}
