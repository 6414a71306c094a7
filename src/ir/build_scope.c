/* build_scope.c - what a builder says of a scope just opened, and roles. */
#include <inttypes.h>
#include <string.h>

#include "ir/build_int.h"

/* The scope whose block was just opened, or NULL. */
static axe_stmt *
just_opened(axe_builder *b)
{
    axe_stmt *s = b->block->stmt;

    return s && s->kind == AXE_STMT_SCOPE && b->block->body.n == 0 ? s : NULL;
}

void
axe_build_from(axe_builder *b, int n, const int64_t *first)
{
    axe_stmt *s;

    if (!axe_build_begin(b))
        return;
    s = just_opened(b);
    if (!s || !first || n != s->n_var)
        axe_build_fail(b, AXE_EARG,
                       "first entities belong to a scope just opened, one for "
                       "each of its ranges");
    else
        s->first = memcpy(axe_new_array(b->cx, int64_t, n), first,
                          (size_t)n * sizeof first[0]);
}

static bool
scope_key(axe_builder *b, const char *name, axe_scope_key *out)
{
    const char *known[AXE_N_SCOPE_KEY];

    for (int i = 0; i < AXE_N_SCOPE_KEY; i++) {
        known[i] = axe_scope_key_table[i].name;
        if (name && strcmp(known[i], name) == 0) {
            *out = (axe_scope_key)i;
            return true;
        }
    }
    return axe_build_unknown(b, "key of a scope", name, AXE_N_SCOPE_KEY, known);
}

void
axe_build_key(axe_builder *b, const char *key, int64_t value)
{
    axe_scope_key of;
    axe_stmt     *s;

    if (!axe_build_begin(b) || !scope_key(b, key, &of))
        return;
    s = just_opened(b);
    if (!s)
        axe_build_fail(b, AXE_EARG, "`%s` belongs to a scope just opened", key);
    else if (axe_scope_key_get(&s->keys, of) != 0)
        axe_build_fail(b, AXE_ENAME, "`%s` is given twice", key);
    else
        b->status =
            axe_scope_key_set(b->cx, b->at, s->scope, of, value, &s->keys);
}

void
axe_build_roles(axe_builder *b)
{
    axe_stmt *s = axe_build_begin(b) ? axe_build_stmt(b, AXE_STMT_ROLES) : NULL;

    if (s)
        axe_build_open(b, s);
}

void
axe_build_turn(axe_builder *b)
{
    axe_stmt *s = axe_build_begin(b) ? axe_build_stmt(b, AXE_STMT_TURN) : NULL;

    if (s)
        axe_build_open(b, s);
}

void
axe_build_copies(axe_builder *b, axe_ir_tensor *tile, int64_t n)
{
    axe_iter  *it;
    axe_axis   cta;
    axe_status st;

    if (!axe_build_begin(b) || !axe_build_has_tensor(b, tile))
        return;
    if (tile->tensor->space != AXE_SPACE_SHARED || tile->tensor->layout ||
        tile->tensor->n_replica > 0 || n < 1) {
        axe_build_fail(b, AXE_EARG,
                       "`%s` has no %" PRId64 " copies: it must be shared, "
                       "with its layout open, and that not said before",
                       tile->tensor->name, n);
        return;
    }
    st = axe_cluster_axis(b->cx, &cta);
    if (st != AXE_OK) {
        b->status = st;
        return;
    }
    it = axe_new(b->cx, axe_iter);
    *it = (axe_iter){n, 1, cta, AXE_UNIT_ONE};
    tile->tensor->n_replica = 1;
    tile->tensor->replica = it;
}
