/* text.c - lowered code for people. */
#include <inttypes.h>

#include "lower/lower.h"

static void
put_reg(axe_buf *b, axe_reg r)
{
    axe_putf(b, "r%d:%s", r.id, axe_type_table[r.type].name);
    if (r.lanes > 1)
        axe_putf(b, "x%d", r.lanes);
}

static void
put_op(axe_ctx *cx, axe_buf *b, const axe_lir *l)
{
    const axe_lop_info *info = &axe_lop_table[l->op];

    if (info->dst != 'M') {
        put_reg(b, l->dst);
        axe_puts(b, " = ");
    }
    axe_puts(b, info->name);
    for (int i = 0; i < l->n_src; i++) {
        axe_puts(b, i ? ", " : " ");
        put_reg(b, l->src[i]);
    }
    if (l->mem.tensor)
        axe_putf(b, "%s%s.%s[%s]", l->n_src ? ", " : " ", l->mem.tensor->name,
                 axe_type_table[l->mem.type].name,
                 axe_node_text(cx, l->mem.at));
    if (l->op == AXE_LOP_prefetch && l->i)
        axe_puts(b, l->i == 1 ? " to leave first" : " to the second level");
    if (l->op == AXE_LOP_fconst)
        axe_putf(b, " %.17g", l->f);
    if (l->op == AXE_LOP_iconst || l->op == AXE_LOP_lanes ||
        l->op == AXE_LOP_quo2)
        axe_putf(b, " %" PRId64, l->i);
    if (l->op == AXE_LOP_dot)
        axe_putf(b, " by %s", l->atom->name);
    if (l->op == AXE_LOP_round)
        axe_putf(b, " to %s", axe_type_table[l->as].name);
    if (l->op == AXE_LOP_await)
        axe_putf(b, " of %s", axe_node_text(cx, l->value));
    if (l->op == AXE_LOP_stream)
        axe_putf(b, " if %s", axe_node_text(cx, l->value));
    if (l->op == AXE_LOP_gather)
        axe_putf(b, " by %s, %s apart", l->atom->name,
                 axe_node_text(cx, l->begin));
    if (l->op == AXE_LOP_gather && l->value)
        axe_putf(b, ", first %s", axe_node_text(cx, l->value));
    if (l->op == AXE_LOP_loadm || l->op == AXE_LOP_storem)
        axe_putf(b, " by %s, first %s", l->atom->name,
                 axe_node_text(cx, l->value));
    if (l->op == AXE_LOP_index)
        axe_putf(b, " %s", axe_node_text(cx, l->value));
}

/* " at (swizzle(x) ^ 64) + 8192": bytes from where the buffer begins, where
 * they are not the element's number times its bytes. */
static void
put_byte(axe_ctx *cx, axe_buf *b, const axe_byte_at *a)
{
    axe_puts(b, a->n > 1 ? " at (" : " at ");
    for (int i = 0; i < a->n; i++)
        axe_putf(b,
                 a->part[i].how == AXE_SWIZZLE_MOVES ? "%sswizzle(%s)" : "%s%s",
                 i ? " ^ " : "", axe_node_text(cx, a->part[i].at));
    axe_puts(b, a->n > 1 ? ")" : "");
    if (a->behind)
        axe_putf(b, "%s%s", a->n ? " + " : "", axe_node_text(cx, a->behind));
}

static void
put_arg(axe_ctx *cx, axe_buf *b, const axe_arg *a)
{
    if (a->space == AXE_ARG_INT) {
        axe_puts(b, axe_node_text(cx, a->at));
        return;
    }
    if (a->space == AXE_ARG_MAP) {
        axe_putf(b, "map%d[", a->map);
        for (int i = 0; i < a->n_at; i++)
            axe_putf(b, "%s%s", i ? ", " : "", axe_node_text(cx, a->coord[i]));
        axe_putc(b, ']');
        return;
    }
    axe_putf(b, "%s[%s]", a->tensor->name, axe_node_text(cx, a->at));
    if (a->byte && a->byte->n > 0)
        put_byte(cx, b, a->byte);
    if (a->cta)
        axe_putf(b, " of cta %s", axe_node_text(cx, a->cta));
    if (a->desc)
        axe_putf(b, " by %#" PRIx64 "%s", a->desc, a->major ? " across" : "");
}

/* "mma.m16n8k16 acc[0], fa[0], fb[0] if p" */
static void
put_atom(axe_ctx *cx, axe_buf *b, const axe_lir *l)
{
    axe_puts(b, l->atom->name);
    if (l->atom->step)
        axe_putf(b, "<%d>", l->param);
    for (int i = 0; i < l->n_arg; i++) {
        axe_puts(b, i ? ", " : " ");
        put_arg(cx, b, &l->arg[i]);
    }
    for (int i = 0; i < l->n_pin; i++)
        axe_putf(b, "%s%s", i ? ", " : " pins ", l->pin[i]->name);
    if (l->n_pin > 0)
        axe_puts(b, l->pins_behind ? " behind" : " before");
    if (l->hint != AXE_HINT_NONE)
        axe_putf(b, " %s", axe_hint_name(l->hint));
    if (l->pred)
        axe_putf(b, " if %s", axe_node_text(cx, l->pred));
}

static const char *const join[] = {[AXE_JOIN_NONE] = "",
                                   [AXE_JOIN_MOVE] = ", words moved",
                                   [AXE_JOIN_ROUND] = ", pairs rounded"};

static void
put_block(axe_ctx *cx, axe_buf *b, const axe_lblock *blk, int depth)
{
    for (int i = 0; i < blk->n; i++) {
        const axe_lir *l = blk->item[i];
        axe_putf(b, "%*s", 2 * depth, "");
        switch (l->kind) {
        case AXE_LIR_TASKS:
            axe_putf(b, "tasks %s < %s\n", l->var->name,
                     axe_node_text(cx, l->end));
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_LIST:
            axe_putf(b, "list %s < %s by %s[%s]\n", l->var->name,
                     axe_node_text(cx, l->end), l->mem.tensor->name,
                     axe_node_text(cx, l->mem.at));
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_BLOCK:
            axe_puts(b, "block\n");
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_LOOP:
            axe_putf(b, "for %s = %s .. ", l->var->name,
                     axe_node_text(cx, l->begin));
            axe_putf(b, "%s by %" PRId64 "%s%s\n", axe_node_text(cx, l->end),
                     l->step, l->unroll ? " unrolled" : "", join[l->join]);
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_IF:
            axe_putf(b, "if %s%s\n", axe_node_text(cx, l->value),
                     l->elect ? ", or any lane" : "");
            put_block(cx, b, &l->body, depth + 1);
            if (l->other.n > 0)
                axe_putf(b, "%*selse\n", 2 * depth, "");
            put_block(cx, b, &l->other, depth + 1);
            continue;
        case AXE_LIR_FOREVER:
            axe_puts(b, "loop\n");
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_BREAK:
            axe_puts(b, "break");
            break;
        case AXE_LIR_CONTINUE:
            axe_puts(b, "continue");
            break;
        case AXE_LIR_LET:
            axe_putf(b, "let %s = %s", l->var->name,
                     axe_node_text(cx, l->value));
            break;
        case AXE_LIR_TAKE:
            axe_putf(b, "let %s = ", l->var->name);
            put_reg(b, l->src[0]);
            break;
        case AXE_LIR_COUNT:
            axe_putf(b, "count %s = 0", l->var->name);
            break;
        case AXE_LIR_ADVANCE:
            axe_putf(b, "advance %s below %" PRId64, l->var->name, l->step);
            break;
        case AXE_LIR_VIEW:
            axe_putf(b, "view %s = %s[%s]", l->mem.tensor->name,
                     l->choice[0].tensor->name,
                     axe_node_text(cx, l->choice[0].at));
            axe_putf(b, " if %s else %s[%s]", axe_node_text(cx, l->value),
                     l->choice[1].tensor->name,
                     axe_node_text(cx, l->choice[1].at));
            break;
        case AXE_LIR_OP:
            put_op(cx, b, l);
            break;
        case AXE_LIR_SET:
            axe_putf(b, "set %s = %s", l->var->name,
                     axe_node_text(cx, l->value));
            break;
        case AXE_LIR_ATOM:
            put_atom(cx, b, l);
            break;
        case AXE_LIR_CALC:
            put_arg(cx, b, &l->arg[0]);
            axe_putf(b, " = %s", axe_node_text(cx, l->value));
            if (l->pred)
                axe_putf(b, " if %s", axe_node_text(cx, l->pred));
            break;
        case AXE_LIR_NOTE:
            axe_putf(b, "; %s", l->text);
        }
        axe_putc(b, '\n');
    }
}

const char *
axe_id_name(axe_id id)
{
    static const char *const name[AXE_N_ID] = {"block", "n_block", "rank",
                                               "warp", "lane"};

    return name[id];
}

static void
put_map(axe_ctx *cx, axe_buf *b, int number, const axe_map *m)
{
    axe_putf(b, "  map%d of %s: ", number, m->tensor->name);
    for (int i = 0; i < m->rank; i++)
        axe_putf(b, "%s%d of %s by %s", i ? ", " : "", m->box[i],
                 axe_node_text(cx, m->size[i]),
                 axe_node_text(cx, m->stride[i]));
    axe_putf(b, "; swizzle %d", m->swizzle);
    if (m->when)
        axe_putf(b, " if %s", axe_node_text(cx, m->when));
    axe_putc(b, '\n');
}

static void
put_grid(axe_ctx *cx, axe_buf *b, const axe_grid *g)
{
    axe_putf(b, "grid %s: %d threads, clusters of %d, %s%s CTAs, ", g->name,
             g->n_thread, g->cluster, g->persistent ? "persistent, for " : "",
             axe_node_text(cx, g->blocks));
    axe_putf(b, "%" PRId64 " bytes of shared memory\n", g->shared_bytes);
    for (int i = 0; i < g->n_need; i++)
        axe_putf(b, "  needs %s\n", axe_node_text(cx, g->need[i].when));
    for (int i = 0; i < g->n_map; i++)
        put_map(cx, b, i, &g->map[i]);
    for (int i = 0; i < g->n_buffer; i++) {
        const axe_buffer *s = &g->buffer[i];
        axe_putf(b, "  shared %s %s: %" PRId64 " bytes at %" PRId64,
                 axe_type_table[s->tensor->type].name, s->tensor->name,
                 s->bytes, s->offset);
        if (s->swizzle.bits)
            axe_putf(b, ", swizzle (%d, %d, %d)", s->swizzle.bits,
                     s->swizzle.base, s->swizzle.shift);
        axe_putc(b, '\n');
    }
    for (int i = 0; i < g->n_tmem; i++)
        axe_putf(b, "  tmem %s %s: columns %d to %d of %d\n",
                 axe_type_table[g->tmem[i].tensor->type].name,
                 g->tmem[i].tensor->name, g->tmem[i].first,
                 g->tmem[i].first + g->tmem[i].columns - 1, g->tmem_columns);
    for (int i = 0; i < g->n_array; i++)
        axe_putf(b, "  reg %s %s[%s]\n", axe_type_table[g->array[i]->type].name,
                 g->array[i]->name, axe_node_text(cx, g->array[i]->shape[0]));
    put_block(cx, b, &g->body, 1);
}

/* Where something is around launches, when each is one. */
static void
put_host(axe_ctx *cx, axe_buf *out, int n, const axe_host *h, int depth)
{
    for (int i = 0; i < n; i++) {
        axe_putf(out, "%*s", 2 * depth, "");
        if (h[i].kind == AXE_HOST_GRID)
            axe_putf(out, "launch %d\n", h[i].grid);
        else if (h[i].kind == AXE_HOST_LOOP)
            axe_putf(out, "for %s < %s\n", h[i].var->name,
                     axe_node_text(cx, h[i].var->extent));
        else
            axe_putf(out, "if %s\n", axe_node_text(cx, h[i].cond));
        put_host(cx, out, h[i].n_body, h[i].body, depth + 1);
        if (h[i].n_other > 0)
            axe_putf(out, "%*selse\n", 2 * depth, "");
        put_host(cx, out, h[i].n_other, h[i].other, depth + 1);
    }
}

static bool
is_plain(const axe_lowered *l)
{
    for (int i = 0; i < l->n_host; i++)
        if (l->host[i].kind != AXE_HOST_GRID)
            return false;
    return true;
}

void
axe_lowered_print(axe_ctx *cx, axe_buf *out, const axe_lowered *l)
{
    axe_putf(out, "lowered %s for %s", l->plan->kernel->name,
             l->plan->machine->name);
    if (l->n_grid == 0 && !l->trace)
        axe_putf(out, ": scratch %" PRId64 " bytes a worker", l->scratch_bytes);
    axe_putc(out, '\n');
    if (l->trace) {
        axe_puts(out, axe_trace_text(cx, l->trace));
        return;
    }
    if (!is_plain(l))
        put_host(cx, out, l->n_host, l->host, 0);
    for (int i = 0; i < l->n_grid; i++)
        put_grid(cx, out, &l->grid[i]);
    put_block(cx, out, &l->body, 1);
}
