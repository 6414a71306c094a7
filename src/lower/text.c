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
        axe_puts(b, " to leave first");
    if (l->op == AXE_LOP_fconst)
        axe_putf(b, " %.17g", l->f);
    if (l->op == AXE_LOP_iconst || l->op == AXE_LOP_lanes)
        axe_putf(b, " %" PRId64, l->i);
    if (l->op == AXE_LOP_dot)
        axe_putf(b, " by %s", l->atom->name);
    if (l->op == AXE_LOP_round)
        axe_putf(b, " to %s", axe_type_table[l->as].name);
    if (l->op == AXE_LOP_stream)
        axe_putf(b, " if %s", axe_node_text(cx, l->value));
    if (l->op == AXE_LOP_index)
        axe_putf(b, " %s", axe_node_text(cx, l->value));
}

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
        case AXE_LIR_BLOCK:
            axe_puts(b, "block\n");
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_LOOP:
            axe_putf(b, "for %s = %s .. ", l->var->name,
                     axe_node_text(cx, l->begin));
            axe_putf(b, "%s by %" PRId64 "\n", axe_node_text(cx, l->end),
                     l->step);
            put_block(cx, b, &l->body, depth + 1);
            continue;
        case AXE_LIR_IF:
            axe_putf(b, "if %s\n", axe_node_text(cx, l->value));
            put_block(cx, b, &l->body, depth + 1);
            if (l->other.n > 0)
                axe_putf(b, "%*selse\n", 2 * depth, "");
            put_block(cx, b, &l->other, depth + 1);
            continue;
        case AXE_LIR_EVER:
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
        case AXE_LIR_TURN:
            axe_putf(b, "turn %s below %" PRId64, l->var->name, l->step);
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
        case AXE_LIR_NOTE:
            axe_putf(b, "; %s", l->text);
        }
        axe_putc(b, '\n');
    }
}

void
axe_lowered_print(axe_ctx *cx, axe_buf *out, const axe_lowered *l)
{
    axe_putf(out, "lowered %s for %s: scratch %" PRId64 " bytes a worker\n",
             l->plan->kernel->name, l->plan->machine->name, l->scratch_bytes);
    put_block(cx, out, &l->body, 1);
}
