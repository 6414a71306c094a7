/* atom.c - statements that name their atom.
 *
 * Moves and transposes take the way of all statements, which must come to this
 * one atom; a contraction is a register tile of one row, one vector and one
 * group of the sum.  What does not fit (atom_fit.c) is said, and which atoms
 * of the machine would. */
#include <string.h>

#include "plan/cpu/atom.h"
#include "plan/cpu/cpu.h"

/* ------------------------------------------------------------------ errors */

/* The names of the machine's atoms that would do, or NULL. */
static const char *
others(axe_planner *p, axe_request *r)
{
    axe_buf b = {.cx = p->cx};
    bool    ok[256] = {false};
    int     n_reject = r->n_reject;

    for (int i = 0; i < p->mc->n_atom && i < AXE_LEN(ok); i++) {
        axe_mark m = axe_ctx_mark(p->cx);
        axe_fit  f;
        ok[i] = axe_machine_has(p->mc, &p->mc->atom[i]) &&
                axe_atom_fits(p, r, &p->mc->atom[i], &f);
        axe_ctx_release(p->cx, m);
        r->n_reject = n_reject;
    }
    for (int i = 0; i < p->mc->n_atom && i < AXE_LEN(ok); i++)
        if (ok[i])
            axe_putf(&b, "%s%s", b.len ? ", " : "", p->mc->atom[i].name);
    return b.text;
}

static axe_status
refuse(axe_planner *p, axe_request *r, const axe_fit *f)
{
    const char *other = others(p, r);

    axe_fail(p->cx, f->at, f->status, "%s", f->why);
    if (f->note)
        axe_note(p->cx, AXE_NOWHERE, "%s", f->note);
    for (int i = 0; i < r->n_reject; i++)
        axe_note(p->cx, AXE_NOWHERE, "%s: %s", r->reject[i].what,
                 r->reject[i].why);
    if (other)
        axe_help(p->cx, "of %s's atoms these take the statement: %s",
                 p->mc->name, other);
    else
        axe_help(p->cx,
                 "no atom of %s is this statement; written with `=` or `+=` "
                 "it is left to the compiler",
                 p->mc->name);
    return f->status;
}

static const axe_atom *
row_of(const axe_machine *mc, const char *name)
{
    for (int i = 0; i < mc->n_atom; i++)
        if (strcmp(mc->atom[i].name, name) == 0)
            return &mc->atom[i];
    return NULL;
}

/* The machines that have it, or NULL. */
static const char *
owners(axe_ctx *cx, const char *name)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_machine *mc = axe_machine_at(i);
        const axe_atom    *a = row_of(mc, name);
        if (a && axe_machine_has(mc, a))
            axe_putf(&b, "%s%s", b.len ? ", " : "", mc->name);
    }
    return b.text;
}

static axe_status
unknown(axe_planner *p, const axe_stmt *s)
{
    const char **known = axe_new_array(p->cx, const char *, p->mc->n_atom + 1);
    const char  *on = owners(p->cx, s->atom), *near;
    axe_buf      all = {.cx = p->cx};
    int          n = 0;

    if (on) {
        axe_fail(p->cx, s->at, AXE_ENAME, "%s has no atom `%s`", p->mc->name,
                 s->atom);
        axe_help(p->cx, "these machines have it: %s", on);
        return AXE_ENAME;
    }
    for (int i = 0; i < p->mc->n_atom; i++)
        if (axe_machine_has(p->mc, &p->mc->atom[i]))
            known[n++] = p->mc->atom[i].name;
    axe_fail(p->cx, s->at, AXE_ENAME, "no machine has an atom `%s`", s->atom);
    near = axe_nearest(s->atom, n, known);
    if (near)
        axe_help(p->cx, "did you mean `%s`?", near);
    for (int i = 0; i < n && !near; i++)
        axe_putf(&all, "%s%s", i ? ", " : "", known[i]);
    if (!near)
        axe_help(p->cx, "%s has %s", p->mc->name, n ? all.text : "none");
    return AXE_ENAME;
}

/* ---------------------------------------------------------------- schedule */

/* An index that the statement lacks: it has one value. */
static axe_dim
one(axe_planner *p, const axe_stmt *s, const char *name)
{
    axe_var *v = axe_new(p->cx, axe_var);

    *v = (axe_var){.kind = AXE_VAR_INDEX,
                   .name = name,
                   .at = s->at,
                   .id = p->kernel->n_var};
    return (axe_dim){v, axe_iconst(p->cx, s->at, AXE_TYPE_INDEX, 1)};
}

/* One row, one vector, one group of the sum: no loop is left. */
static void
contract(axe_fit *f, axe_schedule *out)
{
    const axe_stmt  *s = f->r->stmt;
    axe_nest        *nest = axe_new_array(f->p->cx, axe_nest, 1);
    axe_dim         *dim = axe_new_array(f->p->cx, axe_dim, s->n_dim + 3);
    axe_dim          m = one(f->p, s, "row"), n = one(f->p, s, "lane");
    axe_dim          k = one(f->p, s, "sum");
    const axe_atom **list = axe_new_array(f->p->cx, const axe_atom *, 5);

    for (int r = 0; r < f->n_role; r++)
        *(f->folds[r] ? &k : &n) = *f->dim[r];
    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var != n.var && s->dim[i].var != k.var)
            dim[nest->n_dim++] = s->dim[i];
    dim[nest->n_dim++] = m;
    dim[nest->n_dim++] = n;
    dim[nest->n_dim++] = k;
    nest->dim = dim;
    nest->digit = axe_new_array(f->p->cx, axe_digit, 1);
    nest->lanes = f->side[0].n > 0 ? f->lanes : 1;
    out->kind = AXE_SCHED_CONTRACT;
    out->n_nest = 1;
    out->nest = nest;
    axe_core_edit(f->p, out)->tile =
        (axe_tile_shape){.m = m.var,
                         .n = n.var,
                         .k = k.var,
                         .mr = 1,
                         .nv = 1,
                         .a = (int)(f->op[1] - f->r->operand),
                         .b = (int)(f->op[2] - f->r->operand),
                         .group = f->group};
    list[out->n_atom++] = f->atom;
    for (int i = 0; i <= AXE_MAX_SIDE; i++) {
        bool listed = false;
        for (int j = 0; j < out->n_atom; j++)
            listed = listed || list[j] == f->move[i];
        if (!listed)
            list[out->n_atom++] = f->move[i];
    }
    out->atom = list;
    for (int i = 0; i < out->n_atom; i++)
        out->cycles += list[i]->cost;
}

/* Does the schedule come to one invocation of the atom? */
static bool
is_one(const axe_fit *f, const axe_schedule *s)
{
    bool uses = false;

    for (int i = 0; i < s->n_atom; i++)
        uses = uses || s->atom[i] == f->atom;
    if (f->atom->kind == AXE_ATOM_PERMUTE && s->kind != AXE_SCHED_TRANSPOSE)
        return false;
    return uses && s->core->word <= 1 &&
           s->nest[0].lanes == (f->n_role > 0 ? f->lanes : 1);
}

axe_status
axe_atom_plan(axe_planner *p, axe_request *r, axe_schedule *out)
{
    const axe_atom *a = row_of(p->mc, r->stmt->atom);
    axe_fit         f;

    if (!a || !axe_machine_has(p->mc, a))
        return unknown(p, r->stmt);
    if (!axe_atom_fits(p, r, a, &f))
        return refuse(p, r, &f);
    if (a->kind == AXE_ATOM_CONTRACT) {
        contract(&f, out);
        return AXE_OK;
    }
    AXE_TRY(axe_map_plan(p, r, out));
    if (is_one(&f, out))
        return AXE_OK;
    f.status = AXE_EUNSUPPORTED;
    f.at = r->stmt->at;
    f.why = axe_textf(p->cx, "the plan of this statement is no single `%s`",
                      a->name);
    return refuse(p, r, &f);
}
