/* register_tiles.c - a contraction's tile as register tiles.
 *
 * Rows go by mr; what is left over is computed with the zeros behind it.
 * Columns are counted in vectors and distributed evenly: of 7 vectors, 3 + 2 +
 * 2 and not 3 + 3 + 1, since a tile of one vector loads nearly as much as it
 * multiplies.  So there are `wide` tiles of width + 1 vectors and then tiles of
 * `width`.
 *
 * A register tile is *whole* if all of its rows and columns are wanted.  Whole
 * tiles begin at 0; what lies behind whole_row or whole_column is ragged. */
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/access/contract_roles.h"
#include "plan/cpu/cpu.h"

static const axe_node *
choose(axe_planner *p, const axe_node *c, const axe_node *a, const axe_node *b)
{
    return axe_node_new(p->cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
                        (const axe_node *[]){c, a, b});
}

/* A name for the value, noted in the split; constants need none. */
static const axe_node *
let(axe_planner *p, axe_split *sp, const axe_schedule *s, const char *name,
    const axe_node *value)
{
    axe_var *v;
    int64_t  k;

    if (axe_is_iconst(value, &k))
        return value;
    v = axe_new(p->cx, axe_var);
    *v = (axe_var){
        .kind = AXE_VAR_LOOP,
        .name = axe_textf(p->cx, "s%d.%s", s->stmt->id, name),
        .at = s->stmt->at,
        .id = p->kernel->n_var,
    };
    sp->let[sp->n_let++] = (axe_let){v, value};
    return axe_var_node(p->cx, AXE_NOWHERE, v);
}

/* How much of [0, extent) is wanted. */
static const axe_node *
wanted(axe_planner *p, const axe_schedule *s, const axe_var *v, int64_t extent)
{
    const axe_node *n = axe_index_const(p->cx, extent);

    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].var == v)
            n = axe_node2(p->cx, AXE_OP_min, n, s->bound[i].limit);
    return axe_node2(p->cx, AXE_OP_max, n, axe_index_const(p->cx, 0));
}

enum { MAX_LOOPS = 32 };

/* The loops around a statement, the outermost first; of those around its
 * scope's tasks the iteration is known where a task begins. */
typedef struct loops {
    int             n, n_outside;
    const axe_stmt *loop[MAX_LOOPS];
} loops;

static bool
find_loops(int n, axe_stmt *const *body, const axe_stmt *s, bool in_task,
           loops *l)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *b = body[i];
        bool            is = b->kind == AXE_STMT_FOR && l->n < MAX_LOOPS;
        if (is)
            l->loop[l->n++] = b;
        bool task = in_task || b->kind == AXE_STMT_SCOPE;
        if (task && !in_task)
            l->n_outside = l->n;
        if (b == s || find_loops(b->n_body, b->body, s, task, l) ||
            find_loops(b->n_other, b->other, s, task, l))
            return true;
        l->n -= is;
    }
    return false;
}

/* How many of the loops have begun an iteration where n is known, 0 if that is
 * so in the whole task; one more than there are if it depends on something else
 * that iterates. */
static int
known_in(const axe_planner *p, const loops *l, const axe_node *n)
{
    int depth = 0;

    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_LOOP &&
        !axe_retile_of(p->n_retile, p->retile, n->u.var)) {
        while (depth < l->n && l->loop[depth]->var[0] != n->u.var)
            depth++;
        return depth < l->n_outside ? 0 : depth + 1;
    }
    for (int i = 0; i < n->n_arg; i++) {
        int k = known_in(p, l, n->arg[i]);
        if (k > depth)
            depth = k;
    }
    return depth;
}

/* Where the rows and columns to compute are known. */
static void
find_begin(axe_planner *p, const axe_schedule *s, const axe_node *rows,
           const axe_node *columns, axe_split *sp)
{
    loops l = {0};
    int   m, n;

    find_loops(p->kernel->n_body, p->kernel->body, s->stmt, false, &l);
    m = known_in(p, &l, rows);
    n = known_in(p, &l, columns);
    if (n < m)
        n = m;
    sp->early = n <= l.n;
    sp->loop = sp->early && n > 0 ? l.loop[n - 1] : NULL;
}

static int64_t
extent_of(const axe_schedule *s, const axe_var *v)
{
    for (int i = 0; i < s->nest[0].n_dim; i++)
        if (s->nest[0].dim[i].var == v)
            return axe_dim_extent(&s->nest[0].dim[i]);
    return 0;
}

/* Columns in tiles of at most nv vectors. */
static void
distribute(axe_planner *p, axe_split *sp, const axe_schedule *s)
{
    const axe_node *lanes = axe_index_const(p->cx, s->nest[0].lanes);
    const axe_node *nv = axe_index_const(p->cx, s->core->tile.nv), *tiles;

    sp->vectors = let(p, sp, s, "vectors",
                      axe_node2(p->cx, AXE_OP_cdiv, sp->columns, lanes));
    tiles = axe_node2(p->cx, AXE_OP_cdiv, sp->vectors, nv);
    tiles = let(p, sp, s, "tiles",
                axe_node2(p->cx, AXE_OP_max, tiles, axe_index_const(p->cx, 1)));
    sp->width = let(p, sp, s, "width",
                    axe_node2(p->cx, AXE_OP_div, sp->vectors, tiles));
    sp->wide =
        let(p, sp, s, "wide", axe_node2(p->cx, AXE_OP_mod, sp->vectors, tiles));
    const axe_node *last =
        axe_node2(p->cx, AXE_OP_mul,
                  axe_node2(p->cx, AXE_OP_sub, sp->vectors, sp->width), lanes);
    const axe_node *even = axe_node2(
        p->cx, AXE_OP_eq, axe_node2(p->cx, AXE_OP_mod, sp->columns, lanes),
        axe_index_const(p->cx, 0));
    sp->whole_column =
        let(p, sp, s, "even", choose(p, even, sp->columns, last));
}

static void
split_tile(axe_planner *p, axe_schedule *s)
{
    axe_split      *sp = &axe_core_edit(p, s)->split;
    const axe_node *mr = axe_index_const(p->cx, s->core->tile.mr);
    const axe_node *rows =
        wanted(p, s, s->core->tile.m, extent_of(s, s->core->tile.m));
    const axe_node *columns =
        wanted(p, s, s->core->tile.n, extent_of(s, s->core->tile.n));

    *sp = (axe_split){.let = axe_new_array(p->cx, axe_let, 12)};
    find_begin(p, s, rows, columns, sp);
    sp->rows = let(p, sp, s, "rows", rows);
    sp->columns = let(p, sp, s, "columns", columns);
    sp->whole_row =
        let(p, sp, s, "whole",
            axe_node2(p->cx, AXE_OP_mul,
                      axe_node2(p->cx, AXE_OP_div, sp->rows, mr), mr));
    if (s->core->tile.narrow)
        distribute(p, sp, s);
    else {
        const axe_node *nr = axe_index_const(p->cx, (int64_t)s->core->tile.nv *
                                                        s->nest[0].lanes);
        sp->whole_column =
            let(p, sp, s, "even",
                axe_node2(p->cx, AXE_OP_mul,
                          axe_node2(p->cx, AXE_OP_div, sp->columns, nr), nr));
    }
}

const axe_node *
axe_split_let(axe_planner *p, axe_schedule *s, const char *name,
              const axe_node *value)
{
    return let(p, &axe_core_edit(p, s)->split, s, name, value);
}

void
axe_split_tiles(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++)
        if (p->schedule[i] && p->schedule[i]->kind == AXE_SCHED_CONTRACT)
            split_tile(p, p->schedule[i]);
}
