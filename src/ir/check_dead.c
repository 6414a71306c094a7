/* check_dead.c - results that nobody gets to see.
 *
 * A statement that writes a tile is in vain if, further down in its block, the
 * tile is written as a whole by `=` or ends before anything reads it.  A loop
 * around the block does not matter: a tile declared in the block ends with
 * each iteration, and one that is overwritten is overwritten in each
 * iteration. */
#include "ir/check.h"
#include "ir/stmt.h"

/* Is every element of t written by s? */
static bool
writes_whole(const axe_stmt *s, const axe_tensor *t)
{
    int64_t full, extent;

    if (s->kind != AXE_STMT_INDEX || s->dst->u.tensor != t ||
        s->fold != AXE_FOLD_NONE || s->n_free != t->rank)
        return false;
    for (int k = 0; k < t->rank; k++)
        if (s->dst->arg[k]->op != AXE_OP_var ||
            s->dst->arg[k]->u.var != s->dim[k].var ||
            !axe_is_iconst(t->shape[k], &full) ||
            !axe_is_iconst(s->dim[k].extent, &extent) || full != extent)
            return false;
    return true;
}

static bool
declares(const axe_stmt *s, const axe_tensor *t)
{
    return s->kind == AXE_STMT_TENSOR && s->tensor == t;
}

/* Is what body[at] writes lost? */
static void
check_stmt(axe_ctx *cx, int n, axe_stmt *const *body, int at)
{
    const axe_tensor *t = body[at]->dst->u.tensor;
    bool              ends = false;

    for (int i = 0; i < at; i++)
        ends = ends || declares(body[i], t);
    for (int i = at + 1; i < n; i++) {
        if (axe_stmt_reads(body[i], t) ||
            (!ends && axe_leaves_iteration(1, body + i)))
            return;
        if (writes_whole(body[i], t)) {
            axe_warn(cx, body[at]->at,
                     "what this writes to `%s` is overwritten before anything "
                     "reads it",
                     t->name);
            axe_note(cx, body[i]->at, "here");
            return;
        }
    }
    if (ends)
        axe_warn(cx, body[at]->at, "what this writes to `%s` is never read",
                 t->name);
}

/* Is the tile ever read?  One that is not at all is reported as such. */
static bool
ever_read(const axe_kernel *k, const axe_tensor *t)
{
    for (int i = 0; i < k->n_body; i++)
        if (axe_stmt_reads(k->body[i], t))
            return true;
    return false;
}

static void
check_body(axe_ctx *cx, const axe_kernel *k, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX &&
            s->dst->u.tensor->space != AXE_SPACE_GLOBAL &&
            !s->dst->u.tensor->pipeline && ever_read(k, s->dst->u.tensor))
            check_stmt(cx, n, body, i);
        check_body(cx, k, s->n_body, s->body);
        check_body(cx, k, s->n_other, s->other);
    }
}

void
axe_check_dead(axe_ctx *cx, const axe_kernel *k)
{
    check_body(cx, k, k->n_body, k->body);
}

/* ---------------------------------------------------------------- unused */

static bool
ever_written(const axe_kernel *k, const axe_tensor *t)
{
    for (int i = 0; i < k->n_body; i++)
        if (axe_stmt_writes(k->body[i], t))
            return true;
    return false;
}

static void
check_tensor(axe_ctx *cx, const axe_kernel *k, const axe_tensor *t)
{
    bool read = ever_read(k, t), written = ever_written(k, t);

    if (t->dir == AXE_DIR_OUT && !written)
        axe_warn(cx, t->at, "`%s` is `out` but never written", t->name);
    else if (t->dir != AXE_DIR_OUT && !read && !written)
        axe_warn(cx, t->at, "`%s` is never used", t->name);
    else if (t->dir == AXE_DIR_LOCAL && !read)
        axe_warn(cx, t->at, "`%s` is written but never read", t->name);
}

static void
check_tiles(axe_ctx *cx, const axe_kernel *k, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_TENSOR)
            check_tensor(cx, k, s->tensor);
        for (int j = 0;
             s->kind == AXE_STMT_PIPELINE && j < s->pipeline->n_tensor; j++)
            check_tensor(cx, k, s->pipeline->tensor[j]);
        check_tiles(cx, k, s->n_body, s->body);
        check_tiles(cx, k, s->n_other, s->other);
    }
}

void
axe_check_unused(axe_ctx *cx, const axe_kernel *k)
{
    for (int i = 0; i < k->n_param; i++)
        check_tensor(cx, k, k->param[i]);
    check_tiles(cx, k, k->n_body, k->body);
}
