/* facts_simt.c - a statement of many threads, told in rows. */
#include "plan/report/facts_simt.h"

#include <inttypes.h>
#include <string.h>

#include "plan/access/contract_roles.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/map/shuffle.h"
#include "plan/simt/sync/async_drain.h"
#include "plan/simt/tmem/copy.h"
#include "plan/simt/tmem/tmem.h"

typedef struct teller {
    axe_ctx                 *cx;
    const axe_plan          *p;
    const axe_schedule      *s;
    const axe_simt_schedule *simt;
    axe_facts               *out;
} teller;

static void
tell(teller *t, axe_fact f, const char *text)
{
    axe_list_push(&t->out->row[f], text);
}

static void
tell_atom(teller *t, const axe_atom *a, int param, const char *more)
{
    const char *name =
        a->step ? axe_textf(t->cx, "%s<%d>", a->name, param) : a->name;

    tell(t, AXE_FACT_atoms, axe_textf(t->cx, "%s: %s%s", name, a->text, more));
}

static const char *
banks_text(teller *t, const axe_banks *k)
{
    const char *n = axe_textf(t->cx, "%" PRId64 " cycles of banks", k->cycles);

    return k->cycles == k->phases
               ? n
               : axe_textf(t->cx, "%s, %" PRId64 " at least", n, k->phases);
}

/* -------------------------------------------------------------------- copies
 */

static void
put_box(axe_buf *b, const axe_box *box)
{
    for (int i = 0; i < box->rank; i++)
        axe_putf(b, "%s%d", i ? " x " : "box of ", box->extent[i]);
    for (int i = 0; i < box->n_loop; i++)
        axe_putf(b, ", %" PRId64 " along dimension %d", box->loop[i].extent,
                 box->loop[i].dim);
    if (box->part.extent > 1)
        axe_putf(b,
                 "; each of %" PRId64
                 " CTAs brings a part along dimension %d to all of them",
                 box->part.extent, box->part.dim);
    axe_putf(b, "; swizzle %d", box->swizzle);
}

/* Whose part of the tile it is, and where that it has come is told. */
static void
put_parts(axe_buf *b, const axe_simt_copy *c)
{
    if (c->own.extent > 1)
        axe_putf(b,
                 "; each of %" PRId64 " CTAs keeps its part of %" PRId64
                 " along dimension %d",
                 c->own.extent, c->own.move, c->own.dim);
    if (c->pair > 1)
        axe_putf(b, "; told at the barrier of the first of %d CTAs", c->pair);
}

static void
tell_box(teller *t, const axe_simt_copy *c)
{
    axe_buf b = {.cx = t->cx};

    tell(t, AXE_FACT_threads,
         axe_textf(t->cx, "one thread of %s",
                   axe_threads_text(t->cx, t->simt->threads)));
    tell_atom(t, c->atom, c->param, "");
    if (c->run)
        axe_putf(&b, "one run of %d elements, all inside", c->param);
    else
        put_box(&b, &c->map);
    if (!c->run)
        put_parts(&b, c);
    tell(t, AXE_FACT_loops, b.text);
    if (c->when)
        tell(t, AXE_FACT_needs,
             axe_textf(t->cx, "%s, else the launch is refused: %s",
                       axe_node_text(t->cx, c->when), c->why));
    tell(t, AXE_FACT_bytes,
         axe_textf(t->cx, "%" PRId64 " %s each CTA", c->bytes,
                   c->in ? "to" : "from"));
    tell(t, AXE_FACT_proved,
         axe_textf(t->cx, "%" PRId64 " elements %s are where the tile has them",
                   c->n_certified, c->run ? "of the run" : "of boxes"));
}

/* " = lane/4%8" */
static void
put_who(axe_buf *b, const char *who, int64_t by, int64_t extent)
{
    axe_putf(b, " = %s", who);
    if (by > 1)
        axe_putf(b, "/%" PRId64, by);
    axe_putf(b, "%%%" PRId64, extent);
}

static void
put_digit(axe_buf *b, const axe_copy_digit *d)
{
    axe_putf(b, "%s%s", b->len ? ", " : "", d->of.var->name);
    if (d->of.weight > 1)
        axe_putf(b, "/%" PRId64, d->of.weight);
    if (d->thread)
        put_who(b, "thread", d->by, d->of.extent);
    else
        axe_putf(b, " < %" PRId64, d->of.extent);
}

static void
tell_pieces(teller *t, const axe_simt_copy *c)
{
    axe_buf b = {.cx = t->cx};

    tell(t, AXE_FACT_threads, axe_threads_text(t->cx, t->simt->threads));
    tell_atom(t, c->atom, c->param, "");
    tell(t, AXE_FACT_vector,
         axe_textf(t->cx, "%d neighbours, %d bytes", c->width, c->atom->align));
    for (int i = 0; i < c->n_digit; i++)
        put_digit(&b, &c->digit[i]);
    tell(t, AXE_FACT_loops, b.len ? b.text : "none");
    if (c->when)
        tell(t, AXE_FACT_needs,
             axe_textf(t->cx, "%s, else by way of registers",
                       axe_node_text(t->cx, c->when)));
    tell(t, AXE_FACT_bytes,
         axe_textf(t->cx, "%" PRId64 " to each CTA", c->bytes));
}

static void
tell_staging(teller *t, const struct axe_simt_stage *st)
{
    axe_buf b = {.cx = t->cx};

    tell(t, AXE_FACT_threads, axe_threads_text(t->cx, t->simt->threads));
    tell_atom(t, st->store.atom, st->store.param,
              axe_textf(t->cx, ", %s", banks_text(t, &st->store.banks)));
    tell_atom(t, st->move, st->map.rank, "");
    axe_putf(&b, "%d parts along dimension %d through %d rooms: ", st->n_part,
             st->part_dim, st->n_room);
    put_box(&b, &st->map);
    tell(t, AXE_FACT_loops, b.text);
    if (st->when)
        tell(t, AXE_FACT_needs,
             axe_textf(t->cx, "%s, else straight from registers",
                       axe_node_text(t->cx, st->when)));
    if (!st->fits)
        tell(t, AXE_FACT_needs,
             "more shared memory than is left: straight from registers");
}

/* ------------------------------------------------------- maps, contractions */

static void
tell_shuffle(teller *t, int i, const axe_simt_shuffle *s)
{
    const char *name = t->s->operand[i].tensor->name;
    axe_buf     rest = {.cx = t->cx};

    for (int k = 0; k < s->rounds.n; k++) {
        int first = 0;
        while (s->step[first].atom != s->step[k].atom ||
               s->step[first].param != s->step[k].param)
            first++;
        if (first == k)
            tell_atom(t, s->step[k].atom, s->step[k].param,
                      axe_textf(t->cx, ", %s", name));
    }
    axe_putf(&rest,
             "%s to the lanes that want it: %d rounds, %d at least, and %d "
             "selects, %.1f cycles of an SM for a warp; by way of shared "
             "memory %.1f at least",
             name, s->rounds.n, s->rounds.least, s->n_select, s->cost, s->trip);
    if (s->pack > 1)
        axe_putf(&rest, "; %d elements travel as one word", s->pack);
    tell(t, AXE_FACT_address, rest.text);
}

static void
tell_access(teller *t, int i)
{
    const axe_simt_access *a = &t->simt->access[i];
    axe_buf                more = {.cx = t->cx};

    if (a->shuffle)
        tell_shuffle(t, i, a->shuffle);
    if (!a->atom)
        return;
    axe_putf(&more, ", %d of %s at a time", a->width,
             t->s->operand[i].tensor->name);
    if (a->conflict > 1)
        axe_putf(&more, ", banks give it in %d times the cycles", a->conflict);
    if (a->sector > 0)
        axe_putf(&more, ", %d of %d bytes of a sector", a->sector,
                 t->p->machine->simt->sector_bytes);
    if (a->wide)
        axe_putf(&more, " if %s", axe_node_text(t->cx, a->wide));
    tell_atom(t, a->atom, a->width, more.text);
}

static void
put_work(teller *t, axe_buf *b, const axe_work_digit *d)
{
    axe_axis a = d->axis;

    axe_putf(b, "%s%s", b->len ? ", " : "", d->of.var->name);
    if (d->of.weight > 1)
        axe_putf(b, "/%" PRId64, d->of.weight);
    if (axe_axis_kind_of(t->cx, a) == AXE_KIND_THREAD)
        put_who(b, axe_axis_name(t->cx, a), d->stride, d->of.extent);
    else if (d->of.extent > 0)
        axe_putf(b, " < %" PRId64 "%s", d->of.extent,
                 d->apart                                     ? " in parts"
                 : axe_axis_kind_of(t->cx, a) == AXE_KIND_REG ? " at once"
                                                              : "");
    else
        axe_puts(b, " in turns");
}

static void
tell_map(teller *t)
{
    axe_buf b = {.cx = t->cx};

    tell(t, AXE_FACT_threads,
         t->simt->share > 1
             ? axe_textf(t->cx,
                         "%s; each of %d CTAs does a part and gives it to all, "
                         "a barrier of their cluster before and behind",
                         axe_threads_text(t->cx, t->simt->threads),
                         t->simt->share)
             : axe_threads_text(t->cx, t->simt->threads));
    for (int i = 0; t->simt->access && i < t->s->n_operand; i++)
        if (axe_simt_first_load(t->s, i) == i)
            tell_access(t, i);
    for (int i = 0; i < t->simt->work.n_digit; i++)
        put_work(t, &b, &t->simt->work.digit[i]);
    tell(t, AXE_FACT_loops, b.len ? b.text : "none");
    if (t->simt->n_register > 0)
        tell(t, AXE_FACT_vector,
             axe_textf(t->cx, "%d registers hold what moves",
                       t->simt->n_register));
    if (t->simt->scratch > 0)
        tell(t, AXE_FACT_bytes,
             axe_textf(t->cx, "%" PRId64 " of shared memory, for sums of warps",
                       t->simt->scratch));
    axe_facts_edges(t->cx, t->p, t->s, t->out);
    if (t->simt->whole)
        tell(t, AXE_FACT_edges, "turns that reach none do not ask");
    axe_facts_proved(t->cx, t->p, t->s, t->out);
}

static void
tell_feed(teller *t, const axe_factor *f)
{
    const axe_banks *k = f->direct ? &f->desc.banks : &f->load.banks;
    const char      *name = t->s->operand[f->operand].tensor->name;
    const char *cost = axe_textf(t->cx, "%" PRId64 " of %" PRId64 " cycles",
                                 k->cycles, k->phases);

    if (f->held) {
        tell(t, AXE_FACT_address,
             axe_textf(t->cx,
                       "%s from the registers that it is in, %" PRId64
                       " of a thread",
                       name, f->regs));
        return;
    }
    if (t->s->operand[f->operand].tensor->space == AXE_SPACE_TMEM) {
        tell(t, AXE_FACT_address,
             axe_textf(t->cx, "%s from tensor memory, where it is", name));
        return;
    }
    if (!f->direct) {
        tell_atom(t, f->load.atom, f->load.param,
                  axe_textf(t->cx, ", %s to %" PRId64 " registers, %s", name,
                            f->regs, cost));
        return;
    }
    tell(t, AXE_FACT_address,
         axe_textf(t->cx,
                   "%s by descriptor%s: %" PRId64 " and %" PRId64
                   " bytes from one atom of the swizzle to the next, %s",
                   name, f->desc.major ? ", the sum slow" : "", f->desc.lead,
                   f->desc.stride, cost));
}

/* Groups of threads that have rows, or columns, of their own. */
static int64_t
groups_of(const axe_spread *s, int64_t each)
{
    int64_t n = 1;

    for (int i = 0; i < s->n_part; i++)
        if (s->part[i].of == AXE_COUNT_WARP ||
            (s->part[i].of == AXE_COUNT_LANE && each == 1))
            n *= s->part[i].extent;
    return n;
}

/* Of rows or columns that several indices count, a loop of the text among
 * them: "; one side is r, x". */
static const char *
indices_text(const teller *t)
{
    const axe_node *x, *y;
    axe_roles       ro = {0};
    axe_buf         b = {.cx = t->cx};

    axe_puts(&b, "");
    if (!axe_contract_sort(t->s->stmt, &x, &y, &ro))
        return b.text;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < ro.n_more[side]; i++)
            axe_putf(&b, "%s%s", i == 0 ? "; one side is " : ", ",
                     ro.more[side][i]->var->name);
        if (ro.n_more[side] > 0)
            axe_putf(&b, ", %s", (side == 0 ? ro.m : ro.n)->var->name);
    }
    return b.text;
}

static const char *
sums_text(const teller *t, const axe_simt_contract *c)
{
    if (c->atom->space[0] == AXE_ARG_TMEM)
        return "sums in tensor memory";
    return axe_textf(
        t->cx, "%" PRId64 " sums in a thread, about %d registers with factors",
        c->acc_regs, t->simt->n_register);
}

static void
tell_scale(teller *t, const axe_scale *s, int64_t block)
{
    if (s->tensor)
        tell(t, AXE_FACT_address,
             axe_textf(t->cx,
                       "%s: a scale for %" PRId64 " steps of the sum, in "
                       "tensor memory",
                       s->tensor->name, block));
}

static void
tell_contract(teller *t, const axe_simt_contract *c)
{
    int64_t each = axe_atom_threads(t->p->machine, c->atom);

    if (c->atom->space[0] == AXE_ARG_TMEM)
        tell(t, AXE_FACT_threads,
             axe_textf(t->cx, "one thread of %s asks%s",
                       axe_threads_text(t->cx, t->simt->threads),
                       c->pair > 1 ? ", in the first CTA for both" : ""));
    else
        tell(t, AXE_FACT_threads,
             axe_textf(t->cx,
                       "%s, as %" PRId64 " x %" PRId64 " groups of %" PRId64
                       " over rows and columns",
                       axe_threads_text(t->cx, t->simt->threads),
                       groups_of(&c->m, each), groups_of(&c->n, each), each));
    tell_atom(t, c->atom, c->param, "");
    tell_feed(t, &c->a);
    tell_feed(t, &c->b);
    for (int i = 0; i < 2; i++)
        tell_scale(t, &c->scale[i], axe_atom_block(t->cx, c->atom));
    tell(t, AXE_FACT_loops,
         axe_textf(t->cx,
                   "%" PRId64 " x %" PRId64 " x %" PRId64 " of the atom; %s%s",
                   c->m.n_rep, c->n.n_rep, c->k.n_rep, sums_text(t, c),
                   indices_text(t)));
    if (c->fresh || c->begins)
        tell(t, AXE_FACT_merged,
             "the first step of the sum overwrites, in place of the zeros");
    tell(t, AXE_FACT_cycles,
         axe_textf(t->cx, "%.0f of the %s, %.0f of shared memory", c->compute,
                   each > 1 || c->acc_regs == 0 ? "tensor core" : "lanes",
                   c->traffic));
    tell(t, AXE_FACT_proved,
         axe_textf(t->cx,
                   "%" PRId64 " products, each by one atom; registers filled "
                   "as the loads fill them",
                   t->s->n_proved));
}

/* ------------------------------------------------------------ tensor memory */

/* A constant is put there only where nothing overwrites it. */
static void
tell_filled(teller *t, const axe_simt_tmem *m)
{
    const axe_node *when = t->simt->when;
    int64_t         v;

    if (when && axe_is_iconst(when, &v) && v == 0)
        tell(t, AXE_FACT_merged,
             "not run: the contraction behind it overwrites");
    else if (when && m->able)
        tell(t, AXE_FACT_merged,
             axe_textf(t->cx,
                       "run only where %s: else the contraction behind it "
                       "overwrites",
                       axe_node_text(t->cx, when)));
    else if (when)
        tell(t, AXE_FACT_needs,
             axe_textf(
                 t->cx,
                 "%s, else the launch is refused: nobody here sets "
                 "tensor memory",
                 axe_node_text(t->cx, axe_node2(t->cx, AXE_OP_lt, when->arg[1],
                                                when->arg[0]))));
}

static void
tell_tmem(teller *t, const axe_simt_tmem *m)
{
    const axe_reg_move *v = &m->move;

    tell(t, AXE_FACT_threads, axe_threads_text(t->cx, t->simt->threads));
    if (m->able) {
        tell_atom(t, v->atom, v->param, "");
        tell(t, AXE_FACT_loops,
             axe_textf(t->cx,
                       "%" PRId64 " of the atom, %" PRId64
                       " registers of a thread each",
                       v->n_invocation, v->regs));
    }
    if (m->filled)
        tell_filled(t, m);
}

static void
tell_tcopy(teller *t, const axe_simt_tcopy *c)
{
    tell(t, AXE_FACT_threads,
         axe_textf(t->cx, "one thread of %s asks",
                   axe_threads_text(t->cx, t->simt->threads)));
    tell_atom(t, c->atom, c->param, "");
    tell(t, AXE_FACT_loops, axe_textf(t->cx, "%d of the atom", c->n));
}

/* ----------------------------------------------------------------- the rest */

static const char *
kind_text(const teller *t)
{
    const axe_simt_copy *c = t->simt->copy;
    const axe_simt_tmem *m = t->simt->tmem;

    if (m)
        return m->filled ? "a constant to tensor memory"
               : m->in   ? "move, from tensor memory to registers"
                         : "move, from registers to tensor memory";
    if (t->simt->tcopy)
        return "copy, from shared to tensor memory";
    if (t->s->kind != AXE_SCHED_COPY || !c)
        return axe_schedule_name(t->s->kind);
    if (c->stage)
        return "copy, by way of staging";
    if (c->run)
        return "copy, by one run of neighbours";
    return c->box ? "copy, by boxes of a tensor map" : "copy, by pieces";
}

/* Where a contraction that is done later is waited for. */
static void
tell_drain(teller *t, axe_buf *b)
{
    const axe_drain *d = axe_simt_drain_of(t->p->simt, t->s->stmt);

    if (!d)
        return;
    axe_putf(b, "%swaited for %s ", b->len ? "; " : "",
             d->behind ? "behind" : "before");
    if (d->at->kind == AXE_STMT_INDEX)
        axe_putf(b, "statement %d", d->at->id);
    else
        axe_puts(b, axe_place_text(t->cx, d->at->at));
    axe_putf(b, ", with %d group%s in flight", d->left,
             d->left == 1 ? "" : "s");
    for (int i = 0; i < d->n_free; i++)
        axe_putf(b, "%s%s", i == 0 ? "; frees stages of " : ", ",
                 d->free[i]->pipeline->name);
}

static void
tell_sync(teller *t)
{
    const axe_simt_plan *sp = t->p->simt;
    axe_buf              b = {.cx = t->cx};

    for (int i = 0; i < sp->n_sync_point && b.len == 0; i++)
        if (sp->sync_point[i].at == t->s->stmt)
            axe_putf(&b, "%s %s before it: %s",
                     axe_threads_text(t->cx, sp->sync_point[i].threads),
                     axe_sync_point_text(&sp->sync_point[i]),
                     sp->sync_point[i].why);
    tell_drain(t, &b);
    if (b.len > 0)
        tell(t, AXE_FACT_sync, b.text);
}

void
axe_simt_facts_of(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                  axe_facts *out)
{
    teller               t = {cx, p, s, s->simt, out};
    const axe_simt_copy *c = s->simt->copy;

    tell(&t, AXE_FACT_schedule,
         axe_textf(cx, "%s%s%s", kind_text(&t), s->slow ? ", slow" : "",
                   s->stmt->via ? ", pinned by `via`" : ""));
    if (s->kind == AXE_SCHED_CONTRACT && s->simt->contract)
        tell_contract(&t, s->simt->contract);
    else if (s->simt->tmem)
        tell_tmem(&t, s->simt->tmem);
    else if (s->simt->tcopy)
        tell_tcopy(&t, s->simt->tcopy);
    else if (s->kind != AXE_SCHED_COPY || !c)
        tell_map(&t);
    else if (c->stage)
        tell_staging(&t, c->stage);
    else if (c->box)
        tell_box(&t, c);
    else
        tell_pieces(&t, c);
    if (t.simt->hint != AXE_HINT_NONE)
        tell(&t, AXE_FACT_hint,
             t.simt->hint == AXE_HINT_FIRST
                 ? "what it moves leaves the caches first"
                 : "what it moves stays longest in the caches");
    tell_sync(&t);
    for (int i = 0; i < s->n_reject; i++)
        tell(&t, AXE_FACT_rejected,
             axe_textf(cx, "%s: %s", s->reject[i].what, s->reject[i].why));
}
