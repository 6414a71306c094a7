/* place.c - bytes of SBUF and banks of PSUM for tiles.
 *
 * Tiles have bytes of their own while there is room, so that none waits until
 * another one has been read.  Else those that are not alive at the same time
 * share bytes.  A tile is alive from where it is written or read first to where
 * it is last; in all of a loop that it was declared in front of, and of one
 * with several turns under way. */
#include <inttypes.h>

#include "ir/stmt.h"
#include "plan/systolic/systolic.h"

/* Tiles rotate, as pipelines do, where there is room: a round of the loop
 * around begins while the one before is read. */
static void
rotate(axe_planner *p)
{
    int64_t bytes = 0;
    int     banks = p->systolic->banks;

    for (int i = 0; i < p->kernel->n_tensor; i++)
        if (p->systolic->tile[i].tensor && !p->systolic->tile[i].psum)
            bytes += p->systolic->tile[i].bytes * p->systolic->tile[i].stages;
    for (int i = p->kernel->n_tensor - 1; i >= 0; i--) {
        axe_systolic_tile *x = &p->systolic->tile[i];
        if (!x->tensor || x->stages > 1)
            continue;
        if (x->psum && banks + axe_systolic_banks_of(x) <=
                           AXE_SYSTOLIC_BANKS - AXE_SYSTOLIC_SPARE) {
            banks += axe_systolic_banks_of(x);
            x->stages = 2;
        } else if (!x->psum && bytes + x->bytes <= AXE_SYSTOLIC_TILES) {
            bytes += x->bytes;
            x->stages = 2;
        }
    }
    p->systolic->banks = banks;
}

/* ------------------------------------------------------------- liveness */

typedef struct span {
    int  declared, first, last; /* numbers of statements, in the text's order */
    bool used;
} span;

typedef struct lives {
    axe_planner *p;
    span        *of; /* by tensor id */
    int          n;  /* statements so far */
} lives;

static void
use(span *x, int first, int last)
{
    x->first = !x->used || first < x->first ? first : x->first;
    x->last = !x->used || last > x->last ? last : x->last;
    x->used = true;
}

static void
declare(lives *l, const axe_stmt *s)
{
    if (s->kind == AXE_STMT_TENSOR)
        l->of[s->tensor->id].declared = l->n;
    for (int i = 0; s->kind == AXE_STMT_PIPELINE && i < s->pipeline->n_tensor;
         i++)
        l->of[s->pipeline->tensor[i]->id].declared = l->n;
}

static bool
touches(const axe_stmt *s, const axe_tensor *t)
{
    if (s->kind == AXE_STMT_INDEX)
        return axe_stmt_reads(s, t) || axe_stmt_writes(s, t);
    return s->kind == AXE_STMT_IF && axe_node_reads(s->cond, t);
}

static void
look(lives *l, int n, axe_stmt *const *body)
{
    const axe_kernel *k = l->p->kernel;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        int             at = l->n++;
        declare(l, s);
        for (int t = 0; t < k->n_tensor; t++) {
            const axe_systolic_tile *x = &l->p->systolic->tile[t];
            if (x->tensor && touches(s, x->tensor))
                use(&l->of[t], at, at);
        }
        look(l, s->n_body, s->body);
        look(l, s->n_other, s->other);
        bool piped = axe_systolic_pipe_of(l->p->systolic, s) != NULL;
        for (int t = 0; s->kind == AXE_STMT_FOR && t < k->n_tensor; t++) {
            span *x = &l->of[t];
            if (x->used && x->last > at && (piped || x->declared < at))
                use(x, at, l->n);
        }
    }
}

/* The first byte from which on there is room beside all tiles before it that
 * are alive at the same time. */
static int64_t
room(const lives *l, int tile)
{
    const axe_systolic_tile *all = l->p->systolic->tile;
    const axe_systolic_tile *x = &all[tile];
    int64_t                  at = 0;
    bool                     moved;

    do {
        moved = false;
        for (int i = 0; i < tile; i++) {
            const axe_systolic_tile *o = &all[i];
            int64_t                  end = o->offset + o->bytes * o->stages;
            if (o->tensor && !o->psum && l->of[i].used && l->of[tile].used &&
                l->of[i].first <= l->of[tile].last &&
                l->of[tile].first <= l->of[i].last && at < end &&
                o->offset < at + x->bytes * x->stages) {
                at = end;
                moved = true;
            }
        }
    } while (moved);
    return at;
}

/* Tiles of SBUF: each behind the one before, or where there is room. */
static void
place_sbuf(axe_planner *p, const lives *l)
{
    axe_systolic_plan *sp = p->systolic;

    sp->bytes = 0;
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        axe_systolic_tile *x = &sp->tile[i];
        if (!x->tensor || x->psum)
            continue;
        x->offset = l ? room(l, i) : sp->bytes;
        int64_t end = x->offset + x->bytes * x->stages;
        sp->bytes = end > sp->bytes ? end : sp->bytes;
    }
}

static axe_status
too_large(axe_planner *p)
{
    const int64_t      most = axe_trn_memories[AXE_TRN_SBUF].bytes;
    const axe_tensor  *t = NULL;
    axe_systolic_tile *x = p->systolic->tile;

    for (int i = 0; i < p->kernel->n_tensor && !t; i++)
        if (x[i].tensor && !x[i].psum &&
            x[i].offset + x[i].bytes * x[i].stages > most)
            t = x[i].tensor;
    axe_fail(p->cx, t ? t->at : p->kernel->at, AXE_ELIMIT,
             "%s and the tiles that are alive with it need %" PRId64
             " bytes of a partition; %s has %" PRId64,
             t ? t->name : p->kernel->name, p->systolic->bytes, p->mc->name,
             most);
    axe_help(p->cx, "choose smaller tiles, or fewer stages");
    return AXE_ELIMIT;
}

axe_status
axe_systolic_place(axe_planner *p)
{
    const int64_t      most = axe_trn_memories[AXE_TRN_SBUF].bytes;
    axe_systolic_plan *sp = p->systolic;
    lives              l = {.p = p};
    int                bank = 0;

    rotate(p);
    place_sbuf(p, NULL);
    if (sp->bytes > most - AXE_SYSTOLIC_TEMPS) {
        l.of = axe_new_array(p->cx, span, p->kernel->n_tensor + 1);
        look(&l, p->kernel->n_body, p->kernel->body);
        place_sbuf(p, &l);
    }
    if (sp->bytes > most)
        return too_large(p);
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        axe_systolic_tile *x = &sp->tile[i];
        if (!x->tensor)
            continue;
        if (x->psum) {
            x->offset = (int64_t)bank * axe_trn_memories[AXE_TRN_PSUM].bank;
            bank += axe_systolic_banks_of(x) * x->stages;
        }
        p->place[i].offset = x->offset;
        p->place[i].bytes = x->bytes * x->stages;
    }
    for (int i = 0; i < p->kernel->n_index_stmt; i++)
        if (sp->step[i].sum) {
            sp->step[i].offset = sp->bytes;
            sp->bytes += 2 * 4 * sp->step[i].blocks;
        }
    return AXE_OK;
}
