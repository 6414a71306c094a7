/* edits.h - bugs as rows: an atom of a grid, by its place among those whose
 * names begin so, and what is done to it. */
#ifndef EDITS_H
#define EDITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/sim.h"
#include "lower/pass/address.h"
#include "lower/pass/word.h"

typedef enum edit {
    DROP,          /* the atom is not there */
    ADD,           /* to the first number of operand `arg` */
    SET,           /* it becomes `value` */
    FLIP,          /* it becomes 1 - it */
    ONLY,          /* threads whose warp of the warpgroup is below `value` */
    ANYBODY,       /* no condition */
    NOBODY,        /* a condition that never holds: zeros instead */
    OTHER_BARRIER, /* another of the cluster: BARRIER, BEGIN */
    PLAIN,         /* what is folded into memory is stored there */
    BUFFER, /* the buffer of operand `arg` gets a swizzle of `value` bytes */
    SWAP,   /* places 0 .. value - 1 and those behind them, of two such parts */
    CTA,    /* operand `arg` is of CTA `value` of the cluster */
    OWN,    /* it tells this CTA alone what it told all of the cluster */
    BARRIER, /* operand `arg` becomes the grid's first mbarrier */
    UNPIN,   /* it does not pin array number `arg` of those that it does */
    MAP      /* so does the tensor map of operand `arg` */
} edit;

#define K(kind) (1u << AXE_SIM_##kind)

enum { ALL = -1 };

typedef struct mutation {
    const char *what;
    int         kernel;
    const char *atom;
    int         nth; /* ALL: every one */
    edit        edit;
    int         arg;
    int64_t     value;
    unsigned    kinds; /* one of which must be found; 0: nothing may be */
} mutation;

/* "tma.load<": just this name; "count x": the beginning of a counter x. */
static inline bool
is_named(const axe_lir *l, const char *name)
{
    size_t n = strlen(name);

    if (strncmp(name, "count ", 6) == 0)
        return l->kind == AXE_LIR_COUNT && strcmp(l->var->name, name + 6) == 0;
    if (l->kind != AXE_LIR_ATOM)
        return false;
    return name[n - 1] == '<' ? strlen(l->atom->name) == n - 1 &&
                                    strncmp(l->atom->name, name, n - 1) == 0
                              : strncmp(l->atom->name, name, n) == 0;
}

static inline const axe_node *
number(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

/* at + value, or at - value where it is not below value. */
static inline const axe_node *
swapped(axe_ctx *cx, const axe_node *at, int64_t value)
{
    const axe_node *v = number(cx, value);
    const axe_node *behind = axe_node2(
        cx, AXE_OP_mod, axe_node2(cx, AXE_OP_div, at, v), number(cx, 2));

    return axe_node2(cx, AXE_OP_sub, axe_node2(cx, AXE_OP_add, at, v),
                     axe_node2(cx, AXE_OP_mul, behind, number(cx, 2 * value)));
}

static inline void
edit_number(axe_ctx *cx, const mutation *r, axe_lir *l)
{
    axe_arg *arg = axe_new_array(cx, axe_arg, l->n_arg);

    memcpy(arg, l->arg, (size_t)l->n_arg * sizeof arg[0]);
    if (r->edit == CTA)
        arg[r->arg].cta = number(cx, r->value);
    else if (r->edit == ADD)
        arg[r->arg].at =
            axe_node2(cx, AXE_OP_add, arg[r->arg].at, number(cx, r->value));
    else if (r->edit == SWAP)
        arg[r->arg].at = swapped(cx, arg[r->arg].at, r->value);
    else if (r->edit == FLIP)
        arg[r->arg].at =
            axe_node2(cx, AXE_OP_sub, number(cx, 1), arg[r->arg].at);
    else
        arg[r->arg].at = number(cx, r->value);
    l->arg = arg;
    axe_number_operands(cx, l);
}

static inline void
edit_swizzle(axe_ctx *cx, const mutation *r, axe_grid *g, const axe_lir *l)
{
    if (r->edit == MAP) {
        g->map[l->arg[r->arg].map].swizzle = (int)r->value;
        return;
    }
    for (int i = 0; i < g->n_buffer; i++)
        if (g->buffer[i].tensor == l->arg[r->arg].tensor)
            assert_int_equal(
                axe_swizzle_of_bytes(cx, (int)r->value, &g->buffer[i].swizzle),
                AXE_OK);
}

static inline void
edit_barrier(axe_ctx *cx, const mutation *r, const axe_grid *g, axe_lir *l)
{
    axe_arg *arg = axe_new_array(cx, axe_arg, l->n_arg);
    int      i = 0;

    memcpy(arg, l->arg, (size_t)l->n_arg * sizeof arg[0]);
    while (g->buffer[i].tensor->type != AXE_TYPE_i64)
        i++;
    arg[r->arg].tensor = g->buffer[i].tensor;
    arg[r->arg].at = number(cx, 0);
    l->arg = arg;
}

static inline const axe_node *
first_warps(axe_ctx *cx, const axe_grid *g, int64_t n)
{
    const axe_node *w = axe_var_node(cx, AXE_NOWHERE, g->id[AXE_ID_WARP]);

    return axe_node2(cx, AXE_OP_lt, axe_node2(cx, AXE_OP_mod, w, number(cx, 4)),
                     number(cx, n));
}

static inline const axe_atom *
unfolded(axe_ctx *cx, const axe_atom *a)
{
    const axe_machine *mc;

    assert_int_equal(axe_machine_find(cx, "sm_90a", &mc), AXE_OK);
    for (int i = 0; i < mc->n_atom; i++)
        if (mc->atom[i].kind == a->kind && mc->atom[i].fold == AXE_FOLD_NONE &&
            mc->atom[i].space[0] == a->space[0] &&
            mc->atom[i].space[1] == a->space[1])
            return &mc->atom[i];
    fail_msg("%s has no like that stores", a->name);
    return NULL;
}

static inline void
edit_reach(axe_ctx *cx, axe_lir *l)
{
    axe_arg           *arg = axe_new_array(cx, axe_arg, l->n_arg);
    const axe_machine *mc;

    memcpy(arg, l->arg, (size_t)l->n_arg * sizeof arg[0]);
    for (int i = 0; i < l->n_arg; i++)
        arg[i].space = AXE_ARG_SHARED;
    l->arg = arg;
    assert_int_equal(axe_machine_find(cx, "sm_100a", &mc), AXE_OK);
    for (int i = 0; i < mc->n_atom; i++)
        if (mc->atom[i].sync == l->atom->sync &&
            mc->atom[i].space[0] == AXE_ARG_SHARED) {
            l->atom = &mc->atom[i];
            return;
        }
    fail_msg("%s has no like that tells one CTA", l->atom->name);
}

/* A barrier of the cluster of which nothing is seen but inits, and back. */
static inline const axe_atom *
other_barrier(const axe_atom *a)
{
    axe_sync_kind want =
        a->sync == AXE_SYNC_BARRIER ? AXE_SYNC_BEGIN : AXE_SYNC_BARRIER;

    while (a->sync != want || a->by != AXE_SCOPE_CLUSTER)
        a += want == AXE_SYNC_BEGIN ? 1 : -1;
    return a;
}

static inline void
edit_pins(axe_ctx *cx, const mutation *r, axe_lir *l)
{
    const axe_tensor **pin = axe_new_array(cx, const axe_tensor *, l->n_pin);
    int                n = 0;

    assert_true(r->arg < l->n_pin);
    for (int i = 0; i < l->n_pin; i++)
        if (i != r->arg)
            pin[n++] = l->pin[i];
    l->pin = pin;
    l->n_pin = n;
}

static inline void
apply(axe_ctx *cx, const mutation *r, axe_grid *g, axe_lir *l)
{
    switch (r->edit) {
    case DROP:
        l->kind = AXE_LIR_NOTE;
        l->text = "dropped";
        return;
    case ONLY:
        l->pred = first_warps(cx, g, r->value);
        return;
    case ANYBODY:
        l->pred = NULL;
        return;
    case UNPIN:
        edit_pins(cx, r, l);
        return;
    case PLAIN:
        l->atom = unfolded(cx, l->atom);
        return;
    case OTHER_BARRIER:
        l->atom = other_barrier(l->atom);
        return;
    case BARRIER:
        edit_barrier(cx, r, g, l);
        return;
    case OWN:
        edit_reach(cx, l);
        return;
    case BUFFER:
    case MAP:
        edit_swizzle(cx, r, g, l);
        return;
    default:
        edit_number(cx, r, l);
    }
}

static inline int
edit_in(axe_ctx *cx, const mutation *r, axe_grid *g, axe_lblock *b, int *left)
{
    int n = 0;

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        if (is_named(l, r->atom) && (r->nth == ALL || (*left)-- == 0)) {
            apply(cx, r, g, l);
            n++;
        }
        n += edit_in(cx, r, g, &l->body, left);
        n += edit_in(cx, r, g, &l->other, left);
    }
    return n;
}

/* Apply to the nth that is left, and give operands their addresses again, if
 * the grid is made; returns how many were edited. */
static inline int
edit_grid(axe_ctx *cx, const mutation *r, axe_grid *g, int *left)
{
    int n = edit_in(cx, r, g, &g->body, left);

    if (g->buffer)
        axe_place_shared(cx, g);
    return n;
}

#endif
