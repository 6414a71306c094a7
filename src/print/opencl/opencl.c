/* opencl.c - grids as OpenCL C: declarations, loops, branches, elements.
 *
 * A first printer: types of 32 and 64 bits, indices of 64, no tensor maps, no
 * scalar parameters.  What it cannot spell is refused. */
#include <inttypes.h>
#include <string.h>

#include "print/opencl/opencl_int.h"

static axe_status put_block(cl_printer *p, const axe_lblock *blk, int depth);

static void
indent(cl_printer *p, int depth)
{
    axe_putf(p->out, "%*s", 4 * depth, "");
}

static axe_status
refuse(const cl_printer *p, const char *what)
{
    return axe_fail(p->cx, p->l->plan->kernel->at, AXE_EUNSUPPORTED,
                    "OpenCL C has no spelling for %s of grid %s yet", what,
                    p->g->name);
}

/* -------------------------------------------------------------- statements */

static axe_status
put_calc(cl_printer *p, const axe_lir *l)
{
    const axe_arg *d = &l->arg[0];
    axe_buf       *b = p->out;

    if (l->pred) {
        axe_puts(b, "if (");
        AXE_TRY(axe_cl_expr(p, b, l->pred));
        axe_puts(b, ") ");
    }
    axe_putf(b, "%s[", axe_cl_tensor(p, d->tensor));
    AXE_TRY(axe_cl_expr(p, b, d->at));
    axe_puts(b, "] = ");
    AXE_TRY(axe_cl_expr(p, b, l->value));
    axe_puts(b, ";\n");
    return AXE_OK;
}

static axe_status
put_loop(cl_printer *p, const axe_lir *l, int depth)
{
    axe_buf begin = {.cx = p->cx}, end = {.cx = p->cx}, *b = p->out;

    if (l->join != AXE_JOIN_NONE)
        return refuse(p, "what is computed by words");
    AXE_TRY(axe_cl_expr(p, &begin, l->begin));
    AXE_TRY(axe_cl_expr(p, &end, l->end));
    const char *v = axe_cl_declare(p, "v", l->var);
    if (l->unroll) {
        indent(p, depth);
        axe_puts(b, "#pragma unroll\n");
    }
    indent(p, depth);
    axe_putf(b, "for (long %s = %s; %s < %s; %s += %" PRId64 ") {\n", v,
             begin.text, v, end.text, v, l->step);
    AXE_TRY(put_block(p, &l->body, depth + 1));
    indent(p, depth);
    axe_puts(b, "}\n");
    p->n_name--;
    return AXE_OK;
}

static axe_status
put_if(cl_printer *p, const axe_lir *l, int depth)
{
    axe_puts(p->out, "if (");
    AXE_TRY(axe_cl_expr(p, p->out, l->value));
    axe_puts(p->out, ") {\n");
    AXE_TRY(put_block(p, &l->body, depth + 1));
    if (l->other.n > 0) {
        indent(p, depth);
        axe_puts(p->out, "} else {\n");
        AXE_TRY(put_block(p, &l->other, depth + 1));
    }
    indent(p, depth);
    axe_puts(p->out, "}\n");
    return AXE_OK;
}

/* A body in braces, behind what opens them. */
static axe_status
put_body(cl_printer *p, const axe_lir *l, const char *open, int depth)
{
    axe_puts(p->out, open);
    AXE_TRY(put_block(p, &l->body, depth + 1));
    indent(p, depth);
    axe_puts(p->out, "}\n");
    return AXE_OK;
}

/* "v = value;", declared before if it is new. */
static axe_status
put_value(cl_printer *p, const axe_lir *l)
{
    axe_buf value = {.cx = p->cx};

    AXE_TRY(axe_cl_expr(p, &value, l->value));
    if (l->kind == AXE_LIR_LET)
        axe_putf(p->out, "const long %s = %s;\n",
                 axe_cl_declare(p, "v", l->var), value.text);
    else
        axe_putf(p->out, "%s = %s;\n", axe_cl_name(p, l->var), value.text);
    return AXE_OK;
}

static axe_status
put_stmt(cl_printer *p, const axe_lir *l, int depth)
{
    const char *v;

    switch (l->kind) {
    case AXE_LIR_BLOCK:
        return put_body(p, l, "{\n", depth);
    case AXE_LIR_IF:
        return put_if(p, l, depth);
    case AXE_LIR_FOREVER:
        return put_body(p, l, "for (;;) {\n", depth);
    case AXE_LIR_BREAK:
        axe_puts(p->out, "break;\n");
        return AXE_OK;
    case AXE_LIR_CONTINUE:
        axe_puts(p->out, "continue;\n");
        return AXE_OK;
    case AXE_LIR_LET:
    case AXE_LIR_SET:
        return put_value(p, l);
    case AXE_LIR_COUNT:
        axe_putf(p->out, "long %s = 0;\n", axe_cl_declare(p, "v", l->var));
        return AXE_OK;
    case AXE_LIR_TURN:
        v = axe_cl_name(p, l->var);
        axe_putf(p->out, "%s = %s + 1 == %" PRId64 " ? 0 : %s + 1;\n", v, v,
                 l->step, v);
        return AXE_OK;
    case AXE_LIR_CALC:
        return put_calc(p, l);
    case AXE_LIR_NOTE:
        axe_putf(p->out, "/* %s */\n", l->text);
        return AXE_OK;
    default:
        return refuse(p, "a part");
    }
}

static axe_status
put_block(cl_printer *p, const axe_lblock *blk, int depth)
{
    int n_name = p->n_name;

    for (int i = 0; i < blk->n; i++) {
        const axe_lir *l = blk->item[i];
        if (l->kind == AXE_LIR_LOOP) {
            AXE_TRY(put_loop(p, l, depth));
        } else if (l->kind == AXE_LIR_ATOM) {
            AXE_TRY(axe_cl_atom(p, l, 4 * depth));
        } else {
            indent(p, depth);
            AXE_TRY(put_stmt(p, l, depth));
        }
    }
    p->n_name = n_name;
    return AXE_OK;
}

/* ----------------------------------------------------------------- kernels */

static bool
has_word(const axe_machine *mc, const char *word)
{
    return axe_machine_has(mc, &(axe_atom){.needs = word});
}

static axe_status
put_tensors(cl_printer *p, axe_buf *b, int n, const axe_tensor *const *t)
{
    for (int i = 0; i < n; i++) {
        const char *type = axe_cl_type(t[i]->type);
        if (!type || axe_is_scalar(t[i]))
            return refuse(p, axe_textf(p->cx, "parameter %s", t[i]->name));
        axe_putf(b, "global %s%s *%s, ",
                 t[i]->dir == AXE_DIR_IN ? "const " : "", type,
                 axe_cl_tensor(p, t[i]));
    }
    return AXE_OK;
}

static axe_status
put_head(cl_printer *p, axe_buf *b)
{
    const axe_grid    *g = p->g;
    const axe_kernel  *k = p->l->plan->kernel;
    const axe_machine *mc = p->l->plan->machine;

    axe_putf(b, "kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\n",
             g->n_thread);
    if (has_word(mc, "width"))
        axe_putf(b, "__attribute__((intel_reqd_sub_group_size(%d)))\n",
                 g->lanes);
    axe_putf(b, "void %s(", g->name);
    AXE_TRY(put_tensors(p, b, k->n_param, k->param));
    AXE_TRY(put_tensors(p, b, k->n_temp, k->temp));
    for (int i = 0; i < k->n_size; i++)
        axe_putf(b, "long %s, ", axe_cl_declare(p, "s", k->size[i]));
    for (int i = 0; i < g->n_turn; i++)
        axe_putf(b, "long %s, ", axe_cl_declare(p, "turn", g->turn[i]));
    if (k->cores)
        axe_cl_declare(p, "s", k->cores);
    axe_putf(b, "long s_%s)\n{\n", AXE_CORES);
    return AXE_OK;
}

/* Lane and warp are asked of sub-groups where there are any: the order of a
 * group's items in them is the device's.  Else each item is a warp. */
static void
put_ids(cl_printer *p, axe_buf *b)
{
    axe_puts(b, "    const long block = get_group_id(0);\n"
                "    const long n_block = get_num_groups(0);\n");
    if (has_word(p->l->plan->machine, "subgroups"))
        axe_puts(b, "    const long warp = get_sub_group_id();\n"
                    "    const long lane = get_sub_group_local_id();\n");
    else
        axe_puts(b, "    const long warp = get_local_id(0), lane = 0;\n");
}

static axe_status
put_memory(cl_printer *p, axe_buf *b)
{
    const axe_grid *g = p->g;

    if (g->n_buffer > 0)
        axe_putf(b,
                 "    local uchar shared[%" PRId64
                 "] __attribute__((aligned(128)));\n",
                 g->shared_bytes);
    for (int i = 0; i < g->n_buffer; i++)
        axe_putf(b, "    local uchar *const %s = shared + %" PRId64 ";\n",
                 axe_cl_tensor(p, g->buffer[i].tensor), g->buffer[i].offset);
    for (int i = 0; i < g->n_array; i++) {
        const axe_tensor *t = g->array[i];
        int64_t           n = 1;
        if (!axe_cl_type(t->type) ||
            (t->rank > 0 && !axe_is_iconst(t->shape[0], &n)))
            return refuse(p, axe_textf(p->cx, "registers %s", t->name));
        axe_putf(b, "    %s %s[%" PRId64 "];\n", axe_cl_type(t->type),
                 axe_cl_tensor(p, t), n);
    }
    return AXE_OK;
}

static axe_status
put_kernel(cl_printer *p, axe_buf *out)
{
    const axe_grid *g = p->g;

    if (g->n_map > 0 || g->cluster > 1 || g->n_tmem > 0)
        return refuse(p, "tensor maps, clusters or tensor memory");
    p->n_name = p->n_declared = 0;
    p->out = out;
    AXE_TRY(put_head(p, out));
    put_ids(p, out);
    AXE_TRY(put_memory(p, out));
    AXE_TRY(put_block(p, &g->body, 1));
    axe_puts(out, "}\n");
    return AXE_OK;
}

static const char helpers[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "long floor_div(long a, long b)\n"
    "{\n"
    "    if (b == 0) return 0;\n"
    "    if (b == -1) return (long)(0 - (ulong)a);\n"
    "    return a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
    "}\n"
    "long floor_mod(long a, long b)\n"
    "{\n"
    "    return (long)((ulong)a - (ulong)floor_div(a, b) * (ulong)b);\n"
    "}\n"
    "uint swizzle(int bits, int base, int shift, uint a)\n"
    "{\n"
    "    return a ^ (a >> shift & ((1u << bits) - 1) << base);\n"
    "}\n"
    "uint swizzle_up(int bits, int base, int up, uint a)\n"
    "{\n"
    "    return a ^ (a & ((1u << bits) - 1) << base) << up;\n"
    "}\n";

const char *
axe_opencl_options(const axe_lowered *l)
{
    return has_word(l->plan->machine, "subgroups") ? "-cl-std=CL3.0" : "";
}

axe_status
axe_print_opencl(axe_ctx *cx, const axe_lowered *l, axe_buf *out)
{
    cl_printer p = {.cx = cx, .l = l};

    axe_putf(out, "/* %s for %s */\n%s", l->plan->kernel->name,
             l->plan->machine->name, helpers);
    for (int i = 0; i < l->n_grid; i++) {
        p.g = &l->grid[i];
        axe_puts(out, "\n");
        AXE_TRY(put_kernel(&p, out));
    }
    return AXE_OK;
}
