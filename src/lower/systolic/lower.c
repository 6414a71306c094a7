/* lower.c - a kernel's statements as steps of a trace, in the order of the
 * text: engines wait for one another where their tiles overlap. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

static void body(sys *s, int n, axe_stmt *const *list);
static void step(sys *s, const axe_stmt *st);

/* Of a scope or loop, which may have none: then it is not known to have at most
 * one, which sys_for would take for one. */
static sys_ex
turns_of(sys *s, const axe_node *extent)
{
    sys_ex  out;
    int64_t c;

    if (extent->op == AXE_OP_cdiv && axe_is_iconst(extent->arg[1], &c) &&
        !axe_is_nonneg(extent->arg[0]))
        out = sys_up(s, sys_max(s, sys_c(0), sys_of(s, extent->arg[0])), c);
    else
        out = sys_of(s, extent);
    if (!axe_is_nonneg(extent))
        out = sys_max(s, sys_c(0), out);
    if (out.t && out.most == 1)
        out.most = INT64_MAX;
    return out;
}

/* ---------------------------------------------- several turns under way */

static bool
is_used(int n, axe_stmt *const *list, const axe_tensor *t)
{
    for (int i = 0; i < n; i++)
        if (axe_stmt_reads(list[i], t) || axe_stmt_writes(list[i], t))
            return true;
    return false;
}

/* Tiles that parts share are at the places of this turn. */
static void
set_turn(sys *s, const axe_stmt *loop, sys_ex turn)
{
    s->var[loop->var[0]->id] = sys_text(s, turn);
    for (int i = 0; i < s->k->n_tensor; i++) {
        const axe_systolic_tile *x = &s->plan->systolic->tile[i];
        if (x->piped != loop)
            continue;
        int64_t one = axe_type_bytes(x->tensor->type, 1);
        s->since[i] = s->depth;
        s->begun[i] = false;
        s->place[i] = sys_mul(s, sys_c(x->bytes / one),
                              sys_mod(s, turn, sys_c(x->stages)));
    }
}

/* body[from .. to) of the loop.  A tile of one part alone is declared in it. */
static void
part(sys *s, const axe_stmt *loop, int from, int to)
{
    for (int i = 0; i < loop->n_body && s->st == AXE_OK; i++) {
        const axe_stmt *st = loop->body[i];
        if (st->kind == AXE_STMT_TENSOR
                ? is_used(to - from, loop->body + from, st->tensor)
                : from <= i && i < to)
            step(s, st);
    }
}

/* for j = 0 .. n + cuts { for each part k, the last one first:
 *     if (0 <= j - k < n) the part of j - k } */
static void
piped(sys *s, const axe_stmt *st, const axe_systolic_pipe *pipe)
{
    const axe_var *v = st->var[0];
    sys_ex         n = turns_of(s, v->extent), one = sys_c(1), zero = sys_c(0);
    bool           opened, begun, left;

    if (sys_is(n, 0))
        return;
    for (int i = 0; i < s->k->n_tensor; i++)
        if (s->plan->systolic->tile[i].piped == st)
            sys_declare_all(s, s->plan->systolic->tile[i].tensor);
    const int depth = s->depth;
    sys_ex at = sys_for(s, v->name, sys_add(s, n, sys_c(pipe->n_cut)), &opened);
    for (int k = pipe->n_cut; k >= 0; k--) {
        bool   last = k == pipe->n_cut;
        sys_ex more = sys_sub(s, sys_add(s, n, sys_c(k)), at);
        sys_ex since =
            k < 2 ? at : sys_max(s, zero, sys_sub(s, at, sys_c(k - 1)));
        sys_if(s, k == 0 ? one : sys_min(s, one, since), &begun);
        sys_if(s, last ? one : sys_min(s, one, sys_max(s, zero, more)), &left);
        sys_ex turn = sys_named(s, v->name, sys_sub(s, at, sys_c(k)));
        if (opened)
            s->now[depth] = sys_text(s, turn);
        set_turn(s, st, turn);
        part(s, st, k == 0 ? 0 : pipe->cut[k - 1],
             last ? st->n_body : pipe->cut[k]);
        sys_end(s, left);
        sys_end(s, begun);
    }
    sys_end(s, opened);
    s->var[v->id] = NULL;
}

static void
loops(sys *s, const axe_stmt *st, int i)
{
    const axe_systolic_pipe *pipe = axe_systolic_pipe_of(s->plan->systolic, st);
    bool                     opened;

    if (pipe) {
        piped(s, st, pipe);
        return;
    }
    if (i == st->n_var) {
        body(s, st->n_body, st->body);
        return;
    }
    const axe_var *v = st->var[i];
    sys_ex         at = sys_for(s, v->name, turns_of(s, v->extent), &opened);
    s->var[v->id] = sys_text(s, at);
    loops(s, st, i + 1);
    sys_end(s, opened);
    s->var[v->id] = NULL;
}

static void
branch(sys *s, const axe_stmt *st)
{
    for (int no = 0; no < 2; no++) {
        sys_ex count = sys_cond(s, st->cond, no);
        bool   opened;
        if (sys_is(count, 0) || (no && st->n_other == 0))
            continue;
        sys_if(s, count, &opened);
        body(s, no ? st->n_other : st->n_body, no ? st->other : st->body);
        sys_end(s, opened);
    }
}

/* Is it the zero that a sum begins with?  Its first product does instead. */
static bool
is_first_zero(const sys *s, const axe_stmt *st)
{
    return st == s->plan->systolic->tile[st->dst->u.tensor->id].zero;
}

static void
step(sys *s, const axe_stmt *st)
{
    axe_systolic_product pr;

    switch (st->kind) {
    case AXE_STMT_SCOPE:
    case AXE_STMT_FOR:
        loops(s, st, 0);
        break;
    case AXE_STMT_TENSOR:
        if (st->tensor->space != AXE_SPACE_GLOBAL)
            sys_declare(s, st->tensor);
        break;
    case AXE_STMT_PRODUCE:
        for (int i = 0; i < st->pipeline->n_tensor; i++)
            sys_declare(s, st->pipeline->tensor[i]);
        body(s, st->n_body, st->body);
        break;
    case AXE_STMT_CONSUME:
    case AXE_STMT_TURN:
        body(s, st->n_body, st->body);
        break;
    case AXE_STMT_IF:
        branch(s, st);
        break;
    case AXE_STMT_INDEX:
        if (is_first_zero(s, st) || s->plan->systolic->step[st->id].absorbed)
            break;
        if (axe_systolic_is_product(s->cx, st, s->plan->systolic->tile, &pr))
            sys_contract(s, st, &pr);
        else
            sys_map(s, st);
        break;
    default:
        break;
    }
}

static void
body(sys *s, int n, axe_stmt *const *list)
{
    for (int i = 0; i < n && s->st == AXE_OK; i++)
        step(s, list[i]);
}

static void
put_tensor(sys *s, const axe_tensor *t, const char *access)
{
    axe_type compute;

    if (s->st == AXE_OK && !sys_is_index(s, t)) {
        s->st =
            axe_compute_type(s->cx, s->plan->machine, t->at, t->type, &compute);
        if (s->st != AXE_OK && t->dir == AXE_DIR_IN &&
            !axe_type_is_float(t->type))
            axe_help(s->cx, "as indices of rows, which are read in subscripts "
                            "alone, it has i32 and u32");
    }
    if (s->st != AXE_OK)
        return;
    axe_putf(&s->out, "hbm %s : %s[", s->name[t->id],
             axe_type_table[t->type].name);
    for (int d = 0; d < t->rank; d++)
        axe_putf(&s->out, "%s%s", d > 0 ? ", " : "",
                 sys_text(s, sys_of(s, t->shape[d])));
    axe_putf(&s->out, "%s] %s\n", t->rank == 0 ? "1" : "", access);
}

/* What is written and read, by others or by its own folds, is kept. */
static const char *
access_of(const axe_kernel *k, const axe_tensor *t)
{
    if (t->dir == AXE_DIR_IN)
        return "in";
    for (int i = 0; i < k->n_body && t->dir == AXE_DIR_OUT; i++)
        if (axe_stmt_reads(k->body[i], t))
            return "kept";
    return t->dir == AXE_DIR_OUT ? "out" : "kept";
}

static void
head(sys *s)
{
    const axe_kernel *k = s->k;

    axe_putf(&s->out, "trace %s\n", k->name);
    for (int i = 0; i < k->n_size; i++) {
        const axe_var *v = k->size[i];
        axe_putf(&s->out, "size %s = %" PRId64 "\n", s->var[v->id],
                 v->is_fixed ? v->fixed : 1024);
    }
    for (int i = 0; i < k->n_param; i++)
        put_tensor(s, k->param[i], access_of(k, k->param[i]));
    for (int i = 0; i < k->n_temp; i++)
        put_tensor(s, k->temp[i], "kept");
}

static void
look_names(sys *s, int n, axe_stmt *const *list)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *st = list[i];
        if (st->kind == AXE_STMT_TENSOR)
            s->name[st->tensor->id] = sys_own_name(s, st->tensor->name);
        for (int j = 0;
             st->kind == AXE_STMT_PIPELINE && j < st->pipeline->n_tensor; j++)
            s->name[st->pipeline->tensor[j]->id] =
                sys_own_name(s, st->pipeline->tensor[j]->name);
        look_names(s, st->n_body, st->body);
        look_names(s, st->n_other, st->other);
    }
}

axe_status
axe_systolic_lower(axe_ctx *cx, const axe_plan *p, axe_lowered *out)
{
    const axe_kernel *k = p->kernel;
    sys              *s = axe_new(cx, sys);
    int32_t           source;

    *s = (sys){.cx = cx, .plan = p, .k = k, .out = {.cx = cx}, .st = AXE_OK};
    s->var = axe_new_array(cx, const char *, k->n_var + 1);
    s->name = axe_new_array(cx, const char *, k->n_tensor + 1);
    s->place = axe_new_array(cx, sys_ex, k->n_tensor + 1);
    s->since = axe_new_array(cx, int, k->n_tensor + 1);
    s->begun = axe_new_array(cx, bool, k->n_tensor + 1);
    s->sum = axe_new_array(cx, const char *, k->n_index_stmt + 1);
    for (int i = 0; i < k->n_param; i++)
        s->name[k->param[i]->id] = k->param[i]->name;
    for (int i = 0; i < k->n_size; i++)
        s->var[k->size[i]->id] = sys_own_name(s, k->size[i]->name);
    look_names(s, k->n_body, k->body);
    sys_domains(s);
    head(s);
    body(s, k->n_body, k->body);
    AXE_TRY(s->st);
    out->plan = p;
    source = axe_source_add(cx, axe_textf(cx, "trace of %s", k->name),
                            s->out.text, s->out.len);
    return axe_trace_read(cx, source, s->out.text, &out->trace);
}
