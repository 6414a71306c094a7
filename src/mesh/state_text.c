/* state_text.c - states as a person writes them: "24@x, 24 + partial(y)". */
#include <inttypes.h>

#include "mesh/problem.h"

/* Atoms that stand one behind another in a list, `size` devices of an axis in
 * all: "x", "x:(2)4" for a part of it, "3*x+1" where s turns it. */
static void
put_part(axe_buf *b, const mesh_problem *p, const mesh_state *s, int first,
         int64_t size)
{
    const mesh_atom     *a = &p->atom[first];
    const axe_mesh_axis *x = &p->mesh->axis[a->axis];
    const mesh_turn     *t = s ? &s->turn[first] : NULL;

    if (t && t->mul > 1)
        axe_putf(b, "%" PRId64 "*", t->mul);
    axe_puts(b, x->name);
    if (size != x->size)
        axe_putf(b, ":(%" PRId64 ")%" PRId64, a->above, size);
    if (t && t->add > 0)
        axe_putf(b, "+%" PRId64, t->add);
}

static bool
is_turned(const mesh_state *s, int atom)
{
    return s && s->turn[atom].mul != 0;
}

/* The list, "x, y:(1)2"; atoms of one axis that follow one another are one,
 * where s, unless NULL, turns none.  Returns how many there are. */
static int
put_list(axe_buf *b, const mesh_problem *p, const mesh_state *s, int n,
         const int *atom)
{
    int many = 0;

    for (int i = 0; i < n;) {
        int     first = i;
        int64_t size = 1;

        do {
            size *= p->atom[atom[i++]].extent;
        } while (i < n && !is_turned(s, atom[i]) &&
                 !is_turned(s, atom[i - 1]) &&
                 p->atom[atom[i]].axis == p->atom[atom[first]].axis &&
                 p->atom[atom[i]].stride * p->atom[atom[i]].extent ==
                     p->atom[atom[i - 1]].stride);
        axe_puts(b, many++ ? ", " : "");
        put_part(b, p, s, atom[first], size);
    }
    return many;
}

/* What of a dimension is bound: atoms and the steps of their digits, slow to
 * fast. */
static int
bound_of(const mesh_problem *p, const mesh_state *s, int dim, int *atom,
         int64_t *step)
{
    int n = 0;

    for (int a = 0; a < p->n_atom; a++) {
        const mesh_place *l = &p->place[s->at[a]];
        int64_t           at;
        int               i = n;

        if (s->is[a] != MESH_BOUND || p->block[l->block].dim != dim)
            continue;
        at = p->block[l->block].step * l->weight;
        for (; i > 0 && step[i - 1] < at; i--) {
            step[i] = step[i - 1];
            atom[i] = atom[i - 1];
        }
        step[i] = at;
        atom[i] = a;
        n++;
    }
    return n;
}

/* Digits of a dimension with what is in memory between them. */
static void
put_digits(axe_buf *b, const mesh_problem *p, const mesh_state *s, int64_t n,
           int n_atom, const int *atom, const int64_t *step)
{
    int64_t top = n;

    axe_putc(b, '[');
    for (int i = 0; i < n_atom; i++) {
        int64_t end = step[i] * p->atom[atom[i]].extent;

        if (end < top)
            axe_putf(b, "%" PRId64 ", ", (top - 1) / end + 1);
        put_part(b, p, s, atom[i], p->atom[atom[i]].extent);
        top = step[i];
        axe_puts(b, i + 1 < n_atom || top > 1 ? ", " : "");
    }
    if (top > 1)
        axe_putf(b, "%" PRId64, top);
    axe_putc(b, ']');
}

/* "24@x"; where memory is above devices, all digits: "24@[3, x, 2]". */
static void
put_dim(axe_buf *b, const mesh_problem *p, const mesh_state *s, int dim)
{
    int     atom[MESH_ATOMS];
    int64_t step[MESH_ATOMS], size = p->dim[dim].n;
    int     n = bound_of(p, s, dim, atom, step);
    axe_buf list = {.cx = b->cx};
    bool    major;

    axe_putf(b, "%" PRId64 "%s", size, n ? "@" : "");
    if (n == 0)
        return;
    major = step[0] * p->atom[atom[0]].extent >= size;
    for (int i = 1; i < n; i++)
        major = major && step[i] * p->atom[atom[i]].extent == step[i - 1];
    if (!major)
        put_digits(b, p, s, size, n, atom, step);
    else if (put_list(&list, p, s, n, atom) == 1 && !is_turned(s, atom[0]))
        axe_puts(b, list.text);
    else
        axe_putf(b, "(%s)", list.text);
}

const char *
mesh_state_text(const mesh_problem *p, const mesh_state *s)
{
    axe_buf b = {.cx = p->cx};
    int     atom[MESH_ATOMS], n = 0;

    for (int d = 0; d < p->n_dim; d++)
        if (!p->dim[d].addend) {
            axe_puts(&b, d ? ", " : "");
            put_dim(&b, p, s, d);
        }
    for (int a = 0, many = 0; a < p->n_atom; a++)
        if (s->is[a] == MESH_FIXED && p->atom[a].extent > 1) {
            axe_puts(&b, many++ ? ", " : " at ");
            put_part(&b, p, NULL, a, p->atom[a].extent);
            axe_putf(&b, "=%" PRId64, s->at[a]);
        }
    for (int a = 0; a < p->n_atom; a++)
        if (mesh_is_addend(p, s, a))
            atom[n++] = a;
    if (n > 0) {
        axe_puts(&b, " + partial(");
        put_list(&b, p, NULL, n, atom);
        axe_putc(&b, ')');
    }
    return b.text ? b.text : "";
}

const char *
mesh_change_text(const mesh_problem *p, const mesh_state *a,
                 const mesh_state *b)
{
    axe_buf out = {.cx = p->cx};
    int     atom[MESH_ATOMS], n = 0;

    for (int i = 0; i < p->n_atom; i++)
        if (!mesh_is_same(a, b, i))
            atom[n++] = i;
    put_list(&out, p, NULL, n, atom);
    return out.text ? out.text : "";
}
