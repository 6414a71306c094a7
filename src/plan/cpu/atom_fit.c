/* atom_fit.c - is a statement one invocation of an atom?
 *
 * Its indices are the roles that the row's columns name, each exactly as long,
 * and every operand, seen along them, is what the row's layout of it says - a
 * memory operand by tile-of, a register operand if some move brings it there.
 * What each index plays follows from which assignment fits, so nothing here
 * knows any atom. */
#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/cpu/atom.h"
#include "plan/cpu/cpu.h"

static bool
fail(axe_fit *f, axe_status status, axe_span at, const char *why)
{
    f->status = status;
    f->at = at;
    f->why = why;
    return false;
}

/* ---------------------------------------------------------------- the row */

static bool
read_side(axe_fit *f, axe_side *s, const char *text)
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
        if (extent > 1 && *names && s->n < AXE_MAX_ROLE) {
            s->role[s->n] = *names;
            s->extent[s->n++] = extent;
        }
        names += strcspn(names, ",");
    }
    return true;
}

/* All roles of the row, those of its destination first. */
static void
find_roles(axe_fit *f)
{
    for (int i = 0; i < f->n_side; i++)
        for (int k = 0; k < f->side[i].n && f->n_role < AXE_MAX_ROLE; k++) {
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
count_lanes(axe_fit *f)
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
find_operand(const axe_request *r, const axe_node *load)
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
list_operands(axe_fit *f)
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

/* Do all operands move with the indices by strides alone? */
static bool
moves_fit(axe_fit *f)
{
    const axe_stmt *s = f->r->stmt;

    for (int i = 0; i < f->n_side; i++)
        for (int d = 0; d < s->n_dim; d++) {
            const axe_operand *op = f->op[i];
            bool               any = axe_mentions(op->base, s->dim[d].var);
            for (int k = 0; k < op->n_check; k++)
                any = any || axe_mentions(op->check[k].outer, s->dim[d].var);
            if (any)
                return fail(f, AXE_ESHAPE, op->load->at,
                            axe_textf(f->p->cx,
                                      "`%s` computes with `%s`, and an atom's "
                                      "operands move by strides",
                                      axe_node_text(f->p->cx, op->load),
                                      s->dim[d].var->name));
        }
    return true;
}

static const char *
type_name(axe_type t)
{
    return axe_type_table[t].name;
}

/* Does the atom take elements of these types, all of them there? */
static bool
types_fit(axe_fit *f)
{
    static const char *const column[] = {"d", "a", "b"};
    const axe_atom          *a = f->atom;
    axe_ctx                 *cx = f->p->cx;

    for (int i = 0; i < f->n_side && a->kind == AXE_ATOM_CONTRACT; i++) {
        const axe_operand *op = f->op[i];
        axe_type           t = axe_kept_as(f->p, op->tensor);
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
dim_of(const axe_fit *f, char role)
{
    for (int i = 0; i < f->n_role; i++)
        if (f->role[i] == role)
            return f->dim[i];
    return NULL;
}

/* What memory operand i is along the roles [from, end) of its column. */
static bool
seen(axe_fit *f, int i, int from, int end, const axe_layout **out)
{
    const axe_side *s = &f->side[i];
    axe_iter        it[AXE_MAX_ROLE];

    for (int k = from; k < end; k++)
        if (!axe_fast_iter(f->op[i], dim_of(f, s->role[k])->var, 1,
                           s->extent[k], &it[k - from]))
            return false;
    return axe_layout_of_iters(f->p->cx, end - from, it, out) == AXE_OK;
}

/* The move between memory and a column's registers along these roles; reg NULL:
 * wherever they are. */
static const axe_atom *
find_move(axe_fit *f, int i, axe_atom_kind kind, int from, int end,
          const axe_layout *reg)
{
    const axe_side   *s = &f->side[i];
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
find_row_move(axe_fit *f, int i, axe_atom_kind kind)
{
    const axe_side *s = &f->side[i];
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
side_fits(axe_fit *f, int i)
{
    const axe_side   *s = &f->side[i];
    axe_atom_kind     kind = i == 0 ? AXE_ATOM_STORE : AXE_ATOM_LOAD;
    const axe_layout *mem;

    if (f->atom->kind == AXE_ATOM_PERMUTE)
        return (f->move[i] = find_row_move(f, i, kind)) != NULL;
    if (f->atom->kind == kind && !f->atom->slow)
        return seen(f, i, 0, s->n, &mem) &&
               axe_atom_joins(f->p, f->atom, f->lanes, 1, mem, NULL);
    if (f->atom->kind != AXE_ATOM_CONTRACT)
        return find_move(f, i, kind, 0, s->n, NULL) != NULL;
    if (i == 0 && !(f->move[AXE_MAX_SIDE] =
                        find_move(f, 0, AXE_ATOM_STORE, 0, s->n, NULL)))
        return false;
    f->move[i] = find_move(f, i, AXE_ATOM_LOAD, 0, s->n, s->layout);
    return f->move[i] != NULL;
}

/* "n by (16) : (32)" */
static const char *
seen_text(axe_fit *f, int i)
{
    const axe_side   *s = &f->side[i];
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
refuse_side(axe_fit *f, int i)
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

/* With an index for each role, does every operand fit? */
static bool
all_fit(axe_fit *f)
{
    for (int i = 0; i < f->n_side; i++)
        if (!side_fits(f, i))
            return f->why ? false : refuse_side(f, i);
    return true;
}

/* Give role r and those behind it indices, so that every operand fits. */
static bool
assign(axe_fit *f, int r)
{
    const axe_stmt *s = f->r->stmt;

    if (r == f->n_role || r == AXE_MAX_ROLE)
        return all_fit(f);
    for (int d = 0; d < s->n_dim; d++) {
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
    return false;
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
domain_fits(axe_fit *f)
{
    const axe_stmt *s = f->r->stmt;
    axe_buf         have = {.cx = f->p->cx}, want = {.cx = f->p->cx};
    bool            ok = true, taken[AXE_MAX_ROLE] = {false};
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

bool
axe_atom_fits(axe_planner *p, axe_request *r, const axe_atom *a, axe_fit *f)
{
    const axe_stmt *s = r->stmt;
    int             n;

    *f = (axe_fit){.p = p, .r = r, .atom = a, .n_side = n_column(a)};
    if (a->kind == AXE_ATOM_LOAD_PART || a->kind == AXE_ATOM_STORE_PART ||
        a->kind == AXE_ATOM_GATHER || a->kind == AXE_ATOM_GATHER_PART)
        return fail(f, AXE_EUNSUPPORTED, s->at,
                    axe_textf(p->cx,
                              "`%s` is for ends of rows or for elements that "
                              "lie apart, which plans find in statements "
                              "without atoms",
                              a->name));
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
    if (!moves_fit(f) || !types_fit(f))
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
