/* pin.c - registers of which no use may be moved past an atom.
 *
 * An asynchronous atom writes its registers after the code behind it has begun,
 * which who compiles that code does not know: to it they have their values from
 * there on, and a use of them may be moved ahead of the wait.  So a drain pins
 * what it waits for: behind it the registers have other values than before.  An
 * atom that orders what threads do to registers pins them where it stands.
 *
 * Lowering names registers as operands of a SYNC, which does not touch them.
 * They become pins here.  A drain that names none is one of all that atoms of
 * its group write and that may be under way: of parts of the grid before its
 * own that drain all they issue nothing is, and of parts behind it nothing yet.
 */
#include "lower/pass/pin.h"

#include <string.h>

typedef struct pins {
    axe_ctx           *cx;
    int                n, most;
    const axe_tensor **list;
} pins;

static void
add(pins *p, const axe_tensor *t)
{
    for (int i = 0; i < p->n; i++)
        if (p->list[i] == t)
            return;
    if (!p->list)
        p->list = axe_new_array(p->cx, const axe_tensor *, p->most);
    p->list[p->n++] = t;
}

/* The arrays that atoms of the group write, in order. */
static void
add_written(pins *p, const axe_lblock *b, const char *group)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_ATOM && strcmp(l->atom->group, group) == 0 &&
            l->atom->kind != AXE_ATOM_SYNC && l->n_arg > 0 &&
            l->arg[0].space == AXE_ARG_REG)
            add(p, l->arg[0].tensor);
        add_written(p, &l->body, group);
        add_written(p, &l->other, group);
    }
}

/* ---------------------------------------------------------- what is under way
 */

static bool
drains_all(const axe_lir *l)
{
    int64_t n = 0;

    return l->atom->sync == AXE_SYNC_DRAIN && !l->pred &&
           (l->n_arg == 0 || (axe_is_iconst(l->arg[0].at, &n) && n == 0));
}

/* May atoms of the group be under way behind the block, if they may before it?
 * `out`: where it is left by a BREAK, too. */
static bool
leaves(const axe_lblock *b, const char *group, bool any, bool *out)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        bool           again, left = any;
        if (l->kind == AXE_LIR_BREAK)
            *out = *out || any;
        if (l->kind == AXE_LIR_ATOM && strcmp(l->atom->group, group) == 0)
            any = l->atom->kind != AXE_ATOM_SYNC || (any && !drains_all(l));
        if (l->kind == AXE_LIR_IF) {
            again = leaves(&l->body, group, any, out);
            any = leaves(&l->other, group, any, out) || again;
        } else if (l->body.n > 0) {
            again = leaves(&l->body, group, any, &left);
            any = leaves(&l->body, group, any || again, &left) || any || left;
        }
    }
    return any;
}

/* Parts of the grid as far as the one that the drain is in. */
static void
add_under_way(pins *p, const axe_grid *g, int part, const char *group)
{
    bool out = false;

    for (int i = 0; i <= part; i++) {
        axe_lblock one = {1, 1, &g->body.item[i]};
        if (i == part || leaves(&one, group, false, &out))
            add_written(p, &one, group);
    }
}

/* ------------------------------------------------------------------- the pins
 */

/* Operands that are named and not touched go from the others. */
static void
take_named(pins *p, axe_lir *l)
{
    axe_arg *rest = axe_new_array(p->cx, axe_arg, l->n_arg + 1);
    int      n = 0;

    for (int i = 0; i < l->n_arg; i++)
        if (l->arg[i].space == AXE_ARG_REG)
            add(p, l->arg[i].tensor);
        else
            rest[n++] = l->arg[i];
    if (n == l->n_arg)
        return;
    l->arg = rest;
    l->n_arg = n;
}

static void
pin(axe_ctx *cx, const axe_grid *g, int part, axe_lir *l)
{
    pins p = {.cx = cx, .most = g->n_array};

    if (l->atom->kind != AXE_ATOM_SYNC || l->atom->sync == AXE_SYNC_TAKEN ||
        l->n_pin > 0)
        return;
    take_named(&p, l);
    if (l->atom->sync == AXE_SYNC_DRAIN && p.n == 0)
        add_under_way(&p, g, part, l->atom->group);
    l->n_pin = p.n;
    l->pin = p.list;
    l->pins_behind = l->atom->sync == AXE_SYNC_DRAIN;
}

static void
pin_in(axe_ctx *cx, const axe_grid *g, int part, axe_lir *l)
{
    if (l->kind == AXE_LIR_ATOM)
        pin(cx, g, part, l);
    for (int i = 0; i < l->body.n; i++)
        pin_in(cx, g, part, l->body.item[i]);
    for (int i = 0; i < l->other.n; i++)
        pin_in(cx, g, part, l->other.item[i]);
}

void
axe_pin_registers(axe_ctx *cx, axe_grid *g)
{
    for (int i = 0; i < g->body.n; i++)
        pin_in(cx, g, i, g->body.item[i]);
}
