/* atom.c - statements that name their atom.
 *
 * Such a statement is one invocation: its indices are the roles that the row's
 * columns name, each exactly as long, and every operand, seen along them, is
 * what the row's layout of it says - a memory operand by tile-of, a register
 * operand if some move brings it there.  What each index plays follows from
 * which assignment fits, so nothing here knows any atom.
 *
 * Moves and transposes then take the way of all statements, which must come to
 * this atom; a contraction is a register tile of one row, one vector and one
 * group of the sum. */
#include <inttypes.h>
#include <string.h>

#include "plan/contract.h"

enum { MAX_ROLE = 4, MAX_SIDE = 3 };

/* A column of the row, with numbers for V and G. */
typedef struct side {
    const char       *text;
    const axe_layout *layout;
    int               n;
    char              role[MAX_ROLE];
    int64_t           extent[MAX_ROLE]; /* > 1 */
} side;

/* The statement as one invocation of an atom, or why it is not. */
typedef struct fit {
    planner           *p;
    request           *r;
    const axe_atom    *atom;
    int                lanes, group, n_side;
    side               side[MAX_SIDE];
    const axe_operand *op[MAX_SIDE];
    int                n_role, n_dim;
    char               role[MAX_ROLE];
    int64_t            extent[MAX_ROLE];
    bool               folds[MAX_ROLE];
    const axe_dim     *dim[MAX_ROLE];
    const axe_atom    *move[MAX_SIDE + 1]; /* the last stores */
    axe_status         status;
    axe_span           at;
    const char        *why, *note;
} fit;

static bool
fail(fit *f, axe_status status, axe_span at, const char *why)
{
    f->status = status;
    f->at = at;
    f->why = why;
    return false;
}

/* ---------------------------------------------------------------- the row */

static bool
read_side(fit *f, side *s, const char *text)
{
    const char *names;
    int         from = 0;

    s->text = text;
    if (axe_atom_layout(f->p->cx, text, f->lanes, f->group, &names,
                        &s->layout) != AXE_OK)
        return false;
    for (int d = 0; d < s->layout->n_dim; d++) {
        int64_t extent = 1;
        for (int i = from; i < s->layout->dim_end[d]; i++)
            extent *= s->layout->shard[i].extent;
        from = s->layout->dim_end[d];
        names += strspn(names, ", ");
        if (extent > 1 && *names && s->n < MAX_ROLE) {
            s->role[s->n] = *names;
            s->extent[s->n++] = extent;
        }
        names += strcspn(names, ",");
    }
    return true;
}

/* All roles of the row, those of its destination first. */
static void
find_roles(fit *f)
{
    for (int i = 0; i < f->n_side; i++)
        for (int k = 0; k < f->side[i].n && f->n_role < MAX_ROLE; k++) {
            if (memchr(f->role, f->side[i].role[k], (size_t)f->n_role))
                continue;
            f->role[f->n_role] = f->side[i].role[k];
            f->extent[f->n_role] = f->side[i].extent[k];
            f->folds[f->n_role++] = i > 0;
        }
}

static int
n_column(const axe_atom *a)
{
    return 1 + (*a->a != '\0') + (*a->b != '\0');
}

/* V of the atom here; false if the machine holds no such elements. */
static bool
count_lanes(fit *f)
{
    axe_type compute;
    int      words = axe_machine_lanes(f->p->mc, AXE_TYPE_f32);

    f->group = axe_atom_group(f->p->cx, f->atom);
    if (f->atom->kind == AXE_ATOM_CONTRACT) {
        if (axe_compute_type(f->p->cx, f->p->mc, f->r->stmt->at,
                             f->r->stmt->dst->type, &compute) != AXE_OK)
            return false;
        f->lanes = axe_machine_lanes(f->p->mc, compute);
    } else if (axe_map_lanes(f->p, f->r, &f->lanes) != AXE_OK)
        return false;
    else if (f->atom->kind == AXE_ATOM_PERMUTE && f->lanes > words)
        f->lanes = words;
    return true;
}

/* ---------------------------------------------------------------- operands */

static const axe_node *
strip(const axe_node *n)
{
    while (n->op == AXE_OP_cast && axe_type_widens(n->arg[0]->type, n->type))
        n = n->arg[0];
    return n;
}

static const axe_operand *
find_operand(const request *r, const axe_node *load)
{
    for (int i = 1; i < r->n_operand; i++)
        if (r->operand[i].load == load)
            return &r->operand[i];
    for (int i = 1; i < r->n_operand; i++)
        if (axe_node_same(r->operand[i].load, load))
            return &r->operand[i];
    return NULL;
}

/* The statement's operands in the order of the columns; how many. */
static int
list_operands(fit *f)
{
    const axe_node *v = strip(f->r->stmt->value);
    int             n = 1;

    f->op[0] = &f->r->operand[0];
    if (v->op != AXE_OP_mul)
        f->op[n++] = find_operand(f->r, v);
    for (int i = 0; v->op == AXE_OP_mul && i < 2; i++)
        f->op[n++] = find_operand(f->r, strip(v->arg[i]));
    return n;
}

static axe_type
kept_as(const planner *p, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ? t->type : p->place[t->id].type;
}

static const char *
type_name(axe_type t)
{
    return axe_type_table[t].name;
}

/* Does the atom take elements of these types, all of them there? */
static bool
types_fit(fit *f)
{
    static const char *const column[] = {"d", "a", "b"};
    const axe_atom          *a = f->atom;
    axe_ctx                 *cx = f->p->cx;

    for (int i = 0; i < f->n_side && a->kind == AXE_ATOM_CONTRACT; i++) {
        const axe_operand *op = f->op[i];
        axe_type           t = kept_as(f->p, op->tensor);
        if (a->type[i] != AXE_TYPE_any && a->type[i] != t)
            return fail(f, AXE_ETYPE, op->load->at,
                        axe_textf(cx, "`%s` takes %s as its %s, and `%s` is %s",
                                  a->name, type_name(a->type[i]), column[i],
                                  op->tensor->name, type_name(t)));
        if (op->n_guard + op->n_check > 0)
            return fail(f, AXE_ESHAPE, op->load->at,
                        axe_textf(cx,
                                  "`%s` may reach outside its tensor, where "
                                  "`%s` would not read zeros; stage it through "
                                  "a tile",
                                  axe_node_text(cx, op->load), a->name));
    }
    if (a->flip)
        return fail(f, AXE_EUNSUPPORTED, f->r->stmt->at,
                    axe_textf(cx,
                              "`%s` needs the signs of `%s` flipped, which "
                              "only a contraction of whole tiles arranges",
                              a->name, f->op[1]->tensor->name));
    return true;
}

/* ---------------------------------------------------------------- layouts */

static const axe_dim *
dim_of(const fit *f, char role)
{
    for (int i = 0; i < f->n_role; i++)
        if (f->role[i] == role)
            return f->dim[i];
    return NULL;
}

/* What memory operand i is along the roles [from, end) of its column. */
static bool
seen(fit *f, int i, int from, int end, const axe_layout **out)
{
    const side *s = &f->side[i];
    axe_iter    it[MAX_ROLE];

    for (int k = from; k < end; k++)
        if (!axe_fast_iter(f->op[i], dim_of(f, s->role[k])->var, 1,
                           s->extent[k], &it[k - from]))
            return false;
    return axe_layout_of_iters(f->p->cx, end - from, it, out) == AXE_OK;
}

/* The move between memory and a column's registers along these roles; reg NULL:
 * wherever they are. */
static const axe_atom *
find_move(fit *f, int i, axe_atom_kind kind, int from, int end,
          const axe_layout *reg)
{
    const side       *s = &f->side[i];
    int               group = end - from > 1 ? (int)s->extent[from + 1] : 1;
    const axe_layout *mem;

    if (end == from)
        for (int k = 0; k < f->p->mc->n_atom; k++)
            if (f->p->mc->atom[k].kind == kind && f->p->mc->atom[k].slow)
                return &f->p->mc->atom[k];
    if (end == from || !seen(f, i, from, end, &mem))
        return NULL;
    return axe_find_move(f->p, kind, (int)s->extent[from], group, mem, reg);
}

/* The same for one register after the other: along one role of a permutation.
 */
static const axe_atom *
find_row_move(fit *f, int i, axe_atom_kind kind)
{
    const side     *s = &f->side[i];
    const axe_atom *a = NULL;

    for (int k = 0; k < s->n && s->n == s->layout->n_shard && !a; k++) {
        const axe_layout *reg, *all;
        if (seen(f, i, 0, s->n, &all) &&
            axe_layout_of_iters(f->p->cx, 1, &s->layout->shard[k], &reg) ==
                AXE_OK)
            a = find_move(f, i, kind, k, k + 1, reg);
    }
    return a;
}

/* Is operand i what its column says? */
static bool
side_fits(fit *f, int i)
{
    const side       *s = &f->side[i];
    axe_atom_kind     kind = i == 0 ? AXE_ATOM_STORE : AXE_ATOM_LOAD;
    const axe_layout *mem;

    if (f->atom->kind == AXE_ATOM_PERMUTE)
        return (f->move[i] = find_row_move(f, i, kind)) != NULL;
    if (f->atom->kind == kind && !f->atom->slow)
        return seen(f, i, 0, s->n, &mem) &&
               axe_atom_joins(f->p, f->atom, f->lanes, 1, mem, NULL);
    if (f->atom->kind != AXE_ATOM_CONTRACT)
        return find_move(f, i, kind, 0, s->n, NULL) != NULL;
    if (i == 0 &&
        !(f->move[MAX_SIDE] = find_move(f, 0, AXE_ATOM_STORE, 0, s->n, NULL)))
        return false;
    f->move[i] = find_move(f, i, AXE_ATOM_LOAD, 0, s->n, s->layout);
    return f->move[i] != NULL;
}

/* "n by (16) : (32)" */
static const char *
seen_text(fit *f, int i)
{
    const side       *s = &f->side[i];
    axe_buf           b = {.cx = f->p->cx};
    const axe_layout *l;

    for (int k = 0; k < s->n; k++)
        axe_putf(&b, "%s%s by %s", k ? ", " : "",
                 dim_of(f, s->role[k])->var->name,
                 seen(f, i, k, k + 1, &l) ? axe_layout_text(f->p->cx, l)
                                          : "no one stride");
    return b.text ? b.text : "nothing";
}

static bool
refuse_side(fit *f, int i)
{
    static const char *const column[] = {"d", "a", "b"};
    axe_ctx                 *cx = f->p->cx;
    const axe_tensor        *t = f->op[i]->tensor;
    const char              *of = "";

    if (t->space != AXE_SPACE_GLOBAL)
        of = axe_textf(cx, "`%s` is %s; ", t->name,
                       axe_layout_text(cx, f->p->place[t->id].layout));
    f->note = axe_textf(
        cx, "%sit is moved along %s, and the atom's %s is %s with V = %d", of,
        seen_text(f, i), column[i], f->side[i].text, f->lanes);
    return fail(f, AXE_ESHAPE, f->op[i]->load->at,
                axe_textf(cx, "`%s` cannot take `%s` as its %s", f->atom->name,
                          axe_node_text(cx, f->op[i]->load), column[i]));
}

/* Give role r and those behind it indices, so that every operand fits. */
static bool
assign(fit *f, int r)
{
    const axe_stmt *s = f->r->stmt;

    for (int i = 0; r == f->n_role && i < f->n_side; i++)
        if (!side_fits(f, i))
            return f->why ? false : refuse_side(f, i);
    for (int d = 0; r < f->n_role && d < s->n_dim; d++) {
        bool used = (d >= s->n_free) != f->folds[r] ||
                    axe_dim_extent(&s->dim[d]) != f->extent[r];
        for (int k = 0; k < r; k++)
            used = used || f->dim[k] == &s->dim[d];
        if (used)
            continue;
        f->dim[r] = &s->dim[d];
        if (assign(f, r + 1))
            return true;
    }
    return r == f->n_role;
}

static void
put_role(axe_buf *b, bool folds, const char *name, int64_t extent)
{
    axe_putf(b, "%s%s%s", b->len ? ", " : "", folds ? "fold " : "", name);
    if (extent > 0)
        axe_putf(b, ":%" PRId64, extent);
}

/* Does the statement run over as many values of as many indices? */
static bool
domain_fits(fit *f)
{
    const axe_stmt *s = f->r->stmt;
    axe_buf         have = {.cx = f->p->cx}, want = {.cx = f->p->cx};
    bool            ok = true, taken[MAX_ROLE] = {false};
    int             n = 0;

    for (int d = 0; d < s->n_dim; d++) {
        int64_t e = axe_dim_extent(&s->dim[d]);
        int     k = 0;
        put_role(&have, d >= s->n_free, s->dim[d].var->name, e);
        if (e == 1)
            continue;
        while (k < f->n_role && (taken[k] || f->extent[k] != e ||
                                 f->folds[k] != (d >= s->n_free)))
            k++;
        ok = ok && k < f->n_role;
        if (k < f->n_role)
            taken[k] = true;
        n++;
    }
    for (int k = 0; k < f->n_role; k++)
        put_role(&want, f->folds[k], (char[]){f->role[k], '\0'}, f->extent[k]);
    if (ok && n == f->n_role)
        return true;
    return fail(f, AXE_ESHAPE, s->at,
                axe_textf(f->p->cx,
                          "one `%s` runs over %s, and this statement over %s",
                          f->atom->name, want.len ? want.text : "one element",
                          have.len ? have.text : "one element"));
}

/* Is the statement one invocation of the atom? */
static bool
fits(planner *p, request *r, const axe_atom *a, fit *f)
{
    const axe_stmt *s = r->stmt;
    int             n;

    *f = (fit){.p = p, .r = r, .atom = a, .n_side = n_column(a)};
    n = list_operands(f);
    if (n != f->n_side)
        return fail(f, AXE_ESHAPE, s->at,
                    axe_textf(p->cx,
                              "`%s` takes %d operands, %s, and is given %d",
                              a->name, f->n_side,
                              f->n_side == 3 ? "d, a and b" : "d and a", n));
    for (int i = 0; i < n; i++)
        if (!f->op[i])
            return fail(f, AXE_EUNSUPPORTED, s->at,
                        "the atom's operands are not places of tensors");
    if (!types_fit(f))
        return false;
    if (!count_lanes(f) || !read_side(f, &f->side[0], a->d) ||
        !read_side(f, &f->side[1], a->a) ||
        (n > 2 && !read_side(f, &f->side[2], a->b)))
        return fail(f, AXE_EUNSUPPORTED, s->at,
                    axe_textf(p->cx, "%s has no registers for these elements",
                              p->mc->name));
    find_roles(f);
    return domain_fits(f) && assign(f, 0);
}

/* ------------------------------------------------------------------ errors */

/* The names of the machine's atoms that would do, or NULL. */
static const char *
others(planner *p, request *r)
{
    axe_buf b = {.cx = p->cx};
    bool    ok[256] = {false};
    int     n_reject = r->n_reject;

    for (int i = 0; i < p->mc->n_atom && i < AXE_LEN(ok); i++) {
        axe_mark m = axe_ctx_mark(p->cx);
        fit      f;
        ok[i] = axe_machine_has(p->mc, &p->mc->atom[i]) &&
                fits(p, r, &p->mc->atom[i], &f);
        axe_ctx_release(p->cx, m);
        r->n_reject = n_reject;
    }
    for (int i = 0; i < p->mc->n_atom && i < AXE_LEN(ok); i++)
        if (ok[i])
            axe_putf(&b, "%s%s", b.len ? ", " : "", p->mc->atom[i].name);
    return b.text;
}

static axe_status
refuse(planner *p, request *r, const fit *f)
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
unknown(planner *p, const axe_stmt *s)
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
one(planner *p, const axe_stmt *s, const char *name)
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
contract(fit *f, axe_schedule *out)
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
    out->tile = (axe_tile_shape){.m = m.var,
                                 .n = n.var,
                                 .k = k.var,
                                 .mr = 1,
                                 .nv = 1,
                                 .a = (int)(f->op[1] - f->r->operand),
                                 .b = (int)(f->op[2] - f->r->operand),
                                 .group = f->group};
    list[out->n_atom++] = f->atom;
    for (int i = 0; i <= MAX_SIDE; i++) {
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
is_one(const fit *f, const axe_schedule *s)
{
    bool uses = false;

    for (int i = 0; i < s->n_atom; i++)
        uses = uses || s->atom[i] == f->atom;
    if (f->atom->kind == AXE_ATOM_PERMUTE && s->kind != AXE_SCHED_TRANSPOSE)
        return false;
    return uses && s->word <= 1 &&
           s->nest[0].lanes == (f->n_role > 0 ? f->lanes : 1);
}

axe_status
axe_atom_plan(planner *p, request *r, axe_schedule *out)
{
    const axe_atom *a = row_of(p->mc, r->stmt->atom);
    fit             f;

    if (!a || !axe_machine_has(p->mc, a))
        return unknown(p, r->stmt);
    if (!fits(p, r, a, &f))
        return refuse(p, r, &f);
    if (a->kind == AXE_ATOM_CONTRACT) {
        contract(&f, out);
        return AXE_OK;
    }
    AXE_TRY(axe_map_plan(p, r, out));
    if (is_one(&f, out))
        return AXE_OK;
    fail(&f, AXE_EUNSUPPORTED, r->stmt->at,
         axe_textf(p->cx, "the plan of this statement is no single `%s`",
                   a->name));
    return refuse(p, r, &f);
}
