/* thread_rows.c - rows of the machine's table that one thread, or a few,
 * issue. */
#include <string.h>

#include "ir/scope_axes.h"
#include "machine/thread_rows.h"

/* The cheapest row of a thread that is like `what` in kind, spaces, types and
 * fold, for so many bytes. */
static const axe_atom *
find_row(const axe_machine *mc, const axe_atom *what, int64_t bytes)
{
    const axe_atom *best = NULL;

    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        bool one = row->kind == what->kind && row->by == AXE_SCOPE_THREAD &&
                   row->space[0] == what->space[0] &&
                   row->space[1] == what->space[1] &&
                   row->space[2] == AXE_ARG_NONE && row->fold == what->fold &&
                   row->type[0] == what->type[0];
        if (one && row->align == bytes && row->group[0] == '\0' &&
            axe_machine_has(mc, row) && (!best || row->cost < best->cost))
            best = row;
    }
    return best;
}

int
axe_simt_vector(const axe_machine *mc, axe_type t)
{
    int n = mc->simt->max_vector * 8 / axe_type_table[t].bits;

    return n > 1 ? n : 1;
}

const axe_atom *
axe_simt_find_move(axe_ctx *cx, const axe_machine *mc, axe_atom_kind kind,
                   axe_arg_space d, axe_arg_space a, axe_type t, int width,
                   int *param)
{
    axe_atom what = {.kind = kind, .space = {d, a}, .type = {AXE_TYPE_any}};

    const axe_atom *row =
        find_row(mc, &what, (int64_t)width * axe_type_table[t].bits / 8);

    (void)cx;
    if (row)
        *param = width;
    return row;
}

const axe_atom *
axe_simt_find_fold(const axe_machine *mc, axe_fold fold, axe_type t, int width,
                   int *param)
{
    axe_atom what = {.kind = AXE_ATOM_STORE,
                     .space = {AXE_ARG_GLOBAL, AXE_ARG_REG},
                     .type = {t},
                     .fold = fold};

    const axe_atom *row =
        find_row(mc, &what, (int64_t)width * axe_type_table[t].bits / 8);

    if (row)
        *param = width;
    return row;
}

const axe_atom *
axe_simt_find_lacking_fold(const axe_machine *mc, axe_fold fold, axe_type t)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        if (row->kind == AXE_ATOM_STORE && row->fold == fold &&
            fold != AXE_FOLD_NONE && row->space[0] == AXE_ARG_GLOBAL &&
            row->type[0] == t && !axe_machine_has(mc, row))
            return row;
    }
    return NULL;
}

/* Does lane l get what lane l ^ distance has? */
static bool
exchanges(axe_ctx *cx, const axe_atom *row, int param, int lanes, int distance)
{
    const axe_layout *d, *a;
    const char       *roles;
    axe_axis          lane;
    axe_mark          m = axe_ctx_mark(cx);
    bool ok = axe_scope_axis_find(cx, AXE_SCOPE_THREAD, AXE_SCOPE_WARP,
                                  &lane) == AXE_OK &&
              axe_atom_operand(cx, row, 0, param, &roles, &d) == AXE_OK &&
              axe_atom_operand(cx, row, 1, param, &roles, &a) == AXE_OK &&
              d->size == lanes && a->size == lanes;

    for (int64_t i = 0; ok && i < lanes; i++)
        ok =
            axe_layout_at(a, i, lane) == (axe_layout_at(d, i, lane) ^ distance);
    axe_ctx_release(cx, m);
    return ok;
}

const axe_atom *
axe_simt_find_exchange(axe_ctx *cx, const axe_machine *mc, axe_type t,
                       int distance, int *param)
{
    const axe_atom *best = NULL;

    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        if (row->kind != AXE_ATOM_PERMUTE || row->by != AXE_SCOPE_WARP ||
            row->space[2] != AXE_ARG_NONE || row->step == 0 ||
            row->fold != AXE_FOLD_NONE ||
            row->align * 8 != axe_type_table[t].bits ||
            (best && best->cost <= row->cost) || !axe_machine_has(mc, row))
            continue;
        for (int q = row->lo; q <= row->hi && best != row; q += row->step)
            if (axe_atom_takes(row, q) &&
                exchanges(cx, row, q, mc->simt->lanes, distance)) {
                best = row;
                *param = q;
            }
    }
    return best;
}

/* Does every lane get the fold of all that differ from it in these bits?  The
 * roles of d come first in a. */
static bool
folds_over(axe_ctx *cx, const axe_atom *row, int param, int lanes, int bits)
{
    const axe_layout *d, *a;
    const char       *roles;
    axe_axis          lane;
    axe_mark          m = axe_ctx_mark(cx);
    bool ok = axe_scope_axis_find(cx, AXE_SCOPE_THREAD, AXE_SCOPE_WARP,
                                  &lane) == AXE_OK &&
              axe_atom_operand(cx, row, 0, param, &roles, &d) == AXE_OK &&
              axe_atom_operand(cx, row, 1, param, &roles, &a) == AXE_OK &&
              a->size == lanes && d->size < lanes;

    for (int64_t i = 0; ok && i < lanes; i++) {
        int64_t group =
            axe_layout_at(a, i * d->size / lanes * lanes / d->size, lane);
        ok = ((axe_layout_at(a, i, lane) ^ group) & ~bits) == 0;
    }
    for (int64_t i = 0; ok && i < d->size; i++)
        ok = axe_layout_at(d, i, lane) ==
             axe_layout_at(a, i * lanes / d->size, lane);
    ok = ok && d->n_replica == 1 && d->replica[0].axis == lane &&
         d->replica[0].extent == lanes / d->size &&
         (d->replica[0].extent - 1) * d->replica[0].stride == bits;
    axe_ctx_release(cx, m);
    return ok;
}

/* One of the family's, or 1 of a row that is none; 0: none does. */
static int
reduces_by(axe_ctx *cx, const axe_atom *row, int lanes, int bits)
{
    if (row->step == 0)
        return folds_over(cx, row, 1, lanes, bits) ? 1 : 0;
    for (int q = row->lo; q <= row->hi; q += row->step)
        if (axe_atom_takes(row, q) && folds_over(cx, row, q, lanes, bits))
            return q;
    return 0;
}

const axe_atom *
axe_simt_find_reduce(axe_ctx *cx, const axe_machine *mc, axe_fold fold,
                     axe_type t, int bits, int *param)
{
    const axe_atom *best = NULL;
    double          least = 0;

    for (int b = 1; b < mc->simt->lanes; b *= 2) {
        const axe_atom *one =
            bits & b ? axe_simt_find_exchange(cx, mc, t, b, param) : NULL;
        least += one ? one->cost : 0;
    }
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        int             q;
        if (row->kind != AXE_ATOM_PERMUTE || row->by != AXE_SCOPE_WARP ||
            row->fold != fold || row->type[0] != t || row->cost >= least ||
            !axe_machine_has(mc, row))
            continue;
        q = reduces_by(cx, row, mc->simt->lanes, bits);
        if (q == 0)
            continue;
        best = row;
        least = row->cost;
        *param = q;
    }
    return best;
}

const axe_atom *
axe_simt_find_sync(const axe_machine *mc, axe_sync_kind kind, axe_scope_kind by,
                   const char *group, axe_arg_space first, axe_arg_space second)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        if (row->kind == AXE_ATOM_SYNC && row->sync == kind && row->by == by &&
            row->space[0] == first && row->space[1] == second &&
            strcmp(row->group, group) == 0 && axe_machine_has(mc, row))
            return row;
    }
    return NULL;
}

const char *
axe_simt_by_bytes(const axe_machine *mc)
{
    for (int i = 0; i < mc->n_atom; i++)
        if (mc->atom[i].kind == AXE_ATOM_SYNC &&
            mc->atom[i].sync == AXE_SYNC_EXPECT &&
            axe_machine_has(mc, &mc->atom[i]))
            return mc->atom[i].group;
    return "";
}

const axe_atom *
axe_simt_group_sync(const axe_machine *mc, axe_sync_kind kind,
                    const char *group, axe_arg_space space)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *a = &mc->atom[i];
        if (a->kind == AXE_ATOM_SYNC && a->sync == kind &&
            strcmp(a->group, group) == 0 && axe_machine_has(mc, a) &&
            (space == AXE_ARG_NONE || a->space[0] == space))
            return a;
    }
    return NULL;
}
