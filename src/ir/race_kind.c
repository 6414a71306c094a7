/* race_kind.c - accesses of a scope by kind.
 *
 * A text of many statements has few kinds of them: what differs is constants in
 * subscripts, which only move the windows by which variables are told.  The
 * verdict on two accesses depends on their kinds and windows alone, and wider
 * windows never agree where narrower ones do not; so if one access with the
 * windows of all of its kind agrees with another such, all pairs do. */
#include <string.h>

#include "ir/race.h"

static bool
same_node(const axe_node *x, const axe_node *y)
{
    return x == y || (x && y && axe_node_same(x, y));
}

/* But for windows. */
static bool
same_keys(const axe_access_key *x, const axe_access_key *y, int n)
{
    for (int i = 0; i < n; i++)
        if (!axe_var_same(x[i].var, y[i].var) || x[i].how != y[i].how ||
            x[i].dim != y[i].dim || x[i].over != y[i].over ||
            x[i].coef != y[i].coef || x[i].mod != y[i].mod ||
            !same_node(x[i].of, y[i].of) || !same_node(x[i].value, y[i].value))
            return false;
    return true;
}

/* But for constants. */
static bool
same_subscripts(const axe_race_access *x, const axe_race_access *y)
{
    for (int d = 0; d < x->load->n_arg; d++) {
        const axe_affine *a = &x->sub[d], *b = &y->sub[d];
        if (a->n != b->n)
            return false;
        for (int i = 0; i < a->n; i++)
            if (a->coef[i] != b->coef[i] || !axe_var_same(a->var[i], b->var[i]))
                return false;
    }
    return true;
}

/* Do indices run alike? */
static bool
same_dims(const axe_stmt *x, const axe_stmt *y)
{
    if (x->n_dim != y->n_dim)
        return false;
    for (int i = 0; i < x->n_dim; i++)
        if (x->dim[i].var != y->dim[i].var ||
            !same_node(x->dim[i].extent, y->dim[i].extent))
            return false;
    return true;
}

static bool
same_kind(const axe_race_access *x, const axe_race_access *y)
{
    return x->write == y->write && x->scatter == y->scatter &&
           x->n_key == y->n_key && same_subscripts(x, y) &&
           same_keys(x->key, y->key, x->n_key) &&
           same_keys(x->by_place, y->by_place, x->n_key) &&
           same_dims(x->stmt, y->stmt);
}

static axe_access_key *
copy_keys(axe_ctx *cx, const axe_access_key *k, int n)
{
    axe_access_key *out = axe_new_array(cx, axe_access_key, n + 1);

    if (n > 0)
        memcpy(out, k, (size_t)n * sizeof *out);
    return out;
}

static void
widen(axe_access_key *all, const axe_access_key *k, int n)
{
    for (int i = 0; i < n; i++) {
        all[i].lo = k[i].lo < all[i].lo ? k[i].lo : all[i].lo;
        all[i].hi = k[i].hi > all[i].hi ? k[i].hi : all[i].hi;
    }
}

static axe_race_kind *
kind_of(axe_ctx *cx, axe_race_touched *t, const axe_race_access *a)
{
    axe_race_kind *k = t->kind;

    while (k && !same_kind(&k->all, a))
        k = k->next;
    if (k) {
        widen(k->all.key, a->key, a->n_key);
        widen(k->all.by_place, a->by_place, a->n_key);
        return k;
    }
    k = axe_new(cx, axe_race_kind);
    *k = (axe_race_kind){.all = *a, .next = t->kind};
    k->all.key = copy_keys(cx, a->key, a->n_key);
    k->all.by_place = copy_keys(cx, a->by_place, a->n_key);
    t->kind = k;
    return k;
}

void
axe_race_kinds(axe_race_finder *f)
{
    int most = -1;

    for (int i = 0; i < f->found.n; i++) {
        const axe_race_access *a = f->found.item[i];
        most = a->load->u.tensor->id > most ? a->load->u.tensor->id : most;
    }
    f->touched = axe_new_array(f->cx, axe_race_touched, most + 2);
    for (int i = 0; i < f->found.n; i++) {
        axe_race_access  *a = (axe_race_access *)f->found.item[i];
        axe_race_touched *t = &f->touched[a->load->u.tensor->id];
        if (!t->all.cx)
            *t =
                (axe_race_touched){.all = {.cx = f->cx}, .fold = a->stmt->fold};
        if (!a->write || a->stmt->fold != t->fold)
            t->fold = AXE_FOLD_NONE;
        axe_list_push(&t->all, a);
        a->kind = kind_of(f->cx, t, a);
    }
}
