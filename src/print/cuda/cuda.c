/* cuda.c - grids as CUDA C: declarations, loops, branches, elements.
 *
 * A kernel's body is printed first, noting what it uses; then come the helpers,
 * a function for each atom, and the kernels.  Registers are arrays: every index
 * is constant once the loops that are to be written out are. */
#include <inttypes.h>
#include <string.h>

#include "print/cuda/cuda_int.h"

static axe_status put_block(cuda_printer *p, const axe_lblock *blk, int depth);

static void
indent(cuda_printer *p, int depth)
{
    axe_putf(p->out, "%*s", 4 * depth, "");
}

static const char *
int_type(const cuda_printer *p, const axe_var *v)
{
    return axe_index_var_is_wide(p->ix, v) ? "i64" : "int";
}

/* ---------------------------------------------------------------- elements */

/* Two elements at once: a word of 16 bits each, or half a word of 8. */
static axe_status
put_pair(cuda_printer *p, const axe_lir *l, const axe_var *v)
{
    const axe_arg  *d = &l->arg[0];
    axe_type        t = d->tensor->type;
    const axe_node *x = l->value;
    const char     *pack = axe_textf(p->cx, "pack_%s", axe_type_table[t].name);
    axe_buf        *b = p->out;

    axe_cuda_need(p, pack);
    if (axe_type_table[t].bits == 8) {
        axe_cuda_need(p, "put16");
        axe_putf(b, "put16(%s, (", axe_cuda_tensor(p, d->tensor));
        AXE_TRY(axe_cuda_expr(p, b, d->at, CUDA_INDEX));
        axe_putf(b, ") / 2, %s(", pack);
    } else {
        axe_putf(b, "%s[", axe_cuda_tensor(p, d->tensor));
        AXE_TRY(axe_cuda_expr(p, b, axe_word_at(p->cx, t, d->at), CUDA_INDEX));
        axe_putf(b, "] = %s(", pack);
    }
    AXE_TRY(axe_cuda_float(p, b, x, t));
    axe_puts(b, ", ");
    p->later = v;
    AXE_TRY(axe_cuda_float(p, b, x, t));
    p->later = NULL;
    axe_puts(b, axe_type_table[t].bits == 8 ? "));\n" : ");\n");
    return AXE_OK;
}

static axe_status
put_calc(cuda_printer *p, const axe_lir *l)
{
    const axe_arg *d = &l->arg[0];
    axe_type       t = d->tensor->type;
    int            bits = axe_type_table[t].bits;
    axe_buf       *b = p->out;

    if (bits < 8)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "CUDA C has no registers of type %s",
                        axe_type_table[t].name);
    if (l->pred) {
        axe_puts(b, "if (");
        AXE_TRY(axe_cuda_expr(p, b, l->pred, CUDA_INDEX));
        axe_puts(b, ") ");
    }
    if (bits < 32) {
        const char *put = bits == 16 ? "put16" : "put8";
        axe_cuda_need(p, put);
        axe_putf(b, "%s(%s, ", put, axe_cuda_tensor(p, d->tensor));
    } else
        axe_putf(b, "%s[", axe_cuda_tensor(p, d->tensor));
    AXE_TRY(axe_cuda_expr(p, b, d->at, CUDA_INDEX));
    axe_puts(b, bits < 32 ? ", " : "] = ");
    AXE_TRY(axe_cuda_bits(p, b, l->value, t));
    axe_puts(b, bits < 32 ? ");\n" : ";\n");
    return AXE_OK;
}

/* ------------------------------------------------------------------- loops */

static axe_status
put_loop(cuda_printer *p, const axe_lir *l, int depth)
{
    axe_buf       *b = p->out;
    axe_index_mark here = axe_index_here(p->ix);
    axe_buf        begin = {.cx = p->cx}, end = {.cx = p->cx};

    AXE_TRY(axe_cuda_expr(p, &begin, l->begin, CUDA_INDEX));
    AXE_TRY(axe_cuda_expr(p, &end, l->end, CUDA_INDEX));
    const char *v = axe_cuda_declare(p, l->var);
    axe_index_declare(p->ix, l);
    indent(p, depth);
    axe_puts(b, l->unroll ? "#pragma unroll\n" : "#pragma unroll 1\n");
    indent(p, depth);
    axe_putf(b, "for (%s %s = %s; %s < %s; ", int_type(p, l->var), v,
             begin.text, v, end.text);
    axe_putf(b, l->step == 1 ? "%s++" : "%s += %" PRId64, v, l->step);
    axe_puts(b, ") {\n");
    for (int i = 0; l->join != AXE_JOIN_NONE && i < l->body.n; i++) {
        indent(p, depth + 1);
        AXE_TRY(l->join == AXE_JOIN_MOVE
                    ? axe_cuda_put_word(p, l->body.item[i])
                    : put_pair(p, l->body.item[i], l->var));
    }
    if (l->join == AXE_JOIN_NONE)
        AXE_TRY(put_block(p, &l->body, depth + 1));
    indent(p, depth);
    axe_puts(b, "}\n");
    p->n_name--;
    axe_index_leave(p->ix, here);
    return AXE_OK;
}

/* -------------------------------------------------------------- statements */

static axe_status
put_if(cuda_printer *p, const axe_lir *l, int depth)
{
    axe_puts(p->out, "if (");
    if (l->elect) {
        axe_cuda_need(p, "elected");
        axe_puts(p->out, "elected()");
    } else {
        AXE_TRY(axe_cuda_expr(p, p->out, l->value, CUDA_INDEX));
    }
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

static axe_status
put_let(cuda_printer *p, const axe_lir *l)
{
    axe_index_use   use;
    const axe_node *n = axe_index_let(p->ix, l, &use);
    axe_buf         value = {.cx = p->cx};

    AXE_TRY(axe_cuda_expr(p, &value, n,
                          use == AXE_USE_ADDRESS ? CUDA_ADDRESS : CUDA_INDEX));
    axe_index_declare(p->ix, l);
    axe_putf(p->out, "const %s %s = %s;\n", int_type(p, l->var),
             axe_cuda_declare(p, l->var), value.text);
    return AXE_OK;
}

static axe_status
put_set(cuda_printer *p, const axe_lir *l)
{
    axe_putf(p->out, "%s = ", axe_cuda_name(p, l->var));
    AXE_TRY(axe_cuda_expr(p, p->out, l->value, CUDA_INDEX));
    axe_puts(p->out, ";\n");
    return AXE_OK;
}

static axe_status
put_stmt(cuda_printer *p, const axe_lir *l, int depth)
{
    const char *v;

    indent(p, depth);
    switch (l->kind) {
    case AXE_LIR_BLOCK:
        axe_puts(p->out, "{\n");
        AXE_TRY(put_block(p, &l->body, depth + 1));
        indent(p, depth);
        axe_puts(p->out, "}\n");
        return AXE_OK;
    case AXE_LIR_IF:
        return put_if(p, l, depth);
    case AXE_LIR_FOREVER:
        axe_puts(p->out, "for (;;) {\n");
        AXE_TRY(put_block(p, &l->body, depth + 1));
        indent(p, depth);
        axe_puts(p->out, "}\n");
        return AXE_OK;
    case AXE_LIR_BREAK:
        axe_puts(p->out, "break;\n");
        return AXE_OK;
    case AXE_LIR_CONTINUE:
        axe_puts(p->out, "continue;\n");
        return AXE_OK;
    case AXE_LIR_LET:
        return put_let(p, l);
    case AXE_LIR_COUNT:
        axe_index_declare(p->ix, l);
        axe_putf(p->out, "%s %s = 0;\n", int_type(p, l->var),
                 axe_cuda_declare(p, l->var));
        return AXE_OK;
    case AXE_LIR_TURN:
        v = axe_cuda_name(p, l->var);
        axe_putf(p->out, "%s = %s + 1 == %" PRId64 " ? 0 : %s + 1;\n", v, v,
                 l->step, v);
        return AXE_OK;
    case AXE_LIR_SET:
        return put_set(p, l);
    case AXE_LIR_CALC:
        return put_calc(p, l);
    case AXE_LIR_NOTE:
        axe_putf(p->out, "/* %s */\n", l->text);
        return AXE_OK;
    case AXE_LIR_TASKS:
    case AXE_LIR_LOOP:
    case AXE_LIR_ATOM:
    case AXE_LIR_TAKE:
    case AXE_LIR_VIEW:
    case AXE_LIR_OP:
        break;
    }
    return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "CUDA C has no spelling for a part of grid %s", p->g->name);
}

static axe_status
put_block(cuda_printer *p, const axe_lblock *blk, int depth)
{
    axe_index_mark here = axe_index_here(p->ix);
    int            n_name = p->n_name;

    for (int i = 0; i < blk->n; i++) {
        const axe_lir *l = blk->item[i];
        if (l->kind == AXE_LIR_LOOP)
            AXE_TRY(put_loop(p, l, depth));
        else if (l->kind == AXE_LIR_ATOM)
            AXE_TRY(axe_cuda_atom(p, l, 4 * depth));
        else
            AXE_TRY(put_stmt(p, l, depth));
    }
    p->n_name = n_name;
    axe_index_leave(p->ix, here);
    return AXE_OK;
}

/* ----------------------------------------------------------------- kernels */

static void
put_tensor(cuda_printer *p, axe_buf *b, const axe_tensor *t)
{
    if (axe_is_scalar(t)) {
        axe_putf(b, "const %s by_%s", axe_cuda_element_type(t->type), t->name);
        return;
    }
    axe_putf(b, "%s%s *%s", t->dir == AXE_DIR_IN ? "const " : "",
             axe_cuda_element_type(t->type), axe_cuda_tensor(p, t));
}

static void
put_head(cuda_printer *p, axe_buf *b)
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
        axe_putf(b, "%si64 %s", next, axe_cuda_spell(p->cx, "n", k->size[i]));
    for (int i = 0; i < g->n_turn; i++, next = ", ")
        axe_putf(b, "%si64 turn%d", next, i);
    if (p->l->has_cores)
        axe_putf(b, "%si64 n_%s", next, AXE_CORES);
    axe_puts(b, ")\n{\n");
    for (int i = 0; i < k->n_param; i++)
        if (axe_is_scalar(k->param[i]))
            axe_putf(b, "    const %s *%s = &by_%s;\n",
                     axe_cuda_element_type(k->param[i]->type),
                     axe_cuda_tensor(p, k->param[i]), k->param[i]->name);
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
put_id(cuda_printer *p, axe_buf *b, axe_id i)
{
    int n = 0;

    while (1 << n < p->g->lanes)
        n++;
    axe_putf(b, "    const %s ", int_type(p, p->g->id[i]));
    for (const char *t = id_text[i]; *t; t++)
        if (*t == '$')
            axe_putf(b, "%d", *++t == 'b' ? n : p->g->lanes - 1);
        else
            axe_putc(b, *t);
    axe_putc(b, '\n');
}

static void
put_buffers(cuda_printer *p, axe_buf *b)
{
    const axe_grid *g = p->g;

    if (g->n_buffer == 0)
        return;
    axe_puts(b,
             "    extern __shared__ __align__(1024) u8 shared[];\n"
             "    const u32 smem = (u32)__cvta_generic_to_shared(shared);\n");
    for (int i = 0; i < g->n_buffer; i++)
        axe_putf(b, "    const u32 %s = smem + %" PRId64 ";\n",
                 axe_cuda_tensor(p, g->buffer[i].tensor), g->buffer[i].offset);
}

static axe_status
put_arrays(cuda_printer *p, axe_buf *b)
{
    for (int i = 0; i < p->g->n_array; i++) {
        const axe_tensor *t = p->g->array[i];
        int64_t           n = 1, per = axe_per_word(t->type);
        if (t->rank > 0 && !axe_is_iconst(t->shape[0], &n))
            return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                            "CUDA C: %s has no constant size", t->name);
        axe_putf(b, "    %s %s[%" PRId64 "];\n", axe_cuda_word_type(t->type),
                 axe_cuda_tensor(p, t), (n + per - 1) / per);
    }
    return AXE_OK;
}

static axe_status
put_kernel(cuda_printer *p, axe_buf *b)
{
    const axe_kernel *k = p->l->plan->kernel;
    axe_buf           body = {.cx = p->cx};

    p->n_name = p->n_tensor = p->cap_tensor = 0;
    p->ix = axe_indices_make(p->cx, p->l, p->g, p->wide);
    memset(p->id, 0, sizeof p->id);
    p->out = &body;
    for (int i = 0; i < k->n_size; i++)
        axe_cuda_declare(p, k->size[i]);
    for (int i = 0; i < p->g->n_turn; i++)
        axe_cuda_declare(p, p->g->turn[i]);
    if (k->cores)
        axe_cuda_declare(p, k->cores);
    AXE_TRY(put_block(p, &p->g->body, 1));
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
                     p->name[i].text, axe_cuda_spell(p->cx, "n", k->size[i]));
    const cuda_name *rest = p->name + k->n_size;
    for (int i = 0; i < p->g->n_turn; i++, rest++)
        if (rest->used)
            axe_putf(b, "    const int %s = (int)turn%d;\n", rest->text, i);
    if (k->cores && rest->used)
        axe_putf(b, "    const int %s = (int)n_%s;\n", rest->text, AXE_CORES);
    AXE_TRY(put_arrays(p, b));
    axe_puts(b, body.text ? body.text : "");
    axe_puts(b, "}\n");
    if (p->id[AXE_ID_RANK])
        axe_cuda_need(p, "cluster_rank");
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

axe_status
axe_print_cuda(axe_ctx *cx, const axe_lowered *l, bool wide, axe_buf *out)
{
    cuda_printer p = {.cx = cx, .l = l, .wide = wide};
    axe_buf      kernels = {.cx = cx};

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
    axe_cuda_put_helpers(&p, out);
    for (int i = 0; i < p.n_atom; i++)
        axe_putf(out, "%s%s", i ? "\n" : "", p.atom[i]);
    axe_puts(out, kernels.text ? kernels.text : "");
    return AXE_OK;
}
