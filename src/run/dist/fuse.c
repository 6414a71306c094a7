/* fuse.c - which statements between devices overlap with what devices
 * compute.
 *
 * A change of spreads of one step may go on while something is computed that
 * makes what it moves, or uses what it brings: the statement before or behind
 * it, or the one that it belongs to.  What is computed has to go by rows
 * (ir/by_rows.h): then it is done in pieces, and each piece goes off when it is
 * there, or is begun when it has come.  Which pieces they are, and in what
 * order, is of engine/pieces.c, from who has what. */
#include <string.h>

#include "base/ctx.h"
#include "ir/list.h"
#include "run/dist/dist.h"

typedef struct finding {
    axe_ctx       *cx;
    axe_dist_plan *p;
    axe_list       all; /* axe_fuse * */
    int            n_device;
} finding;

static const axe_tensor *
param_named(const axe_kernel *k, const char *name)
{
    for (int i = 0; i < k->n_param; i++)
        if (strcmp(k->param[i]->name, name) == 0)
            return k->param[i];
    return NULL;
}

static const char *
name_of(const finding *f, int tensor)
{
    return axe_dist_tensor(&f->p->d, tensor)->name;
}

static bool
is_made_addend(const finding *f, const axe_between *b, int dst)
{
    for (int a = 0; a < f->p->d.k->n_axis; a++)
        if (axe_dist_makes_addend(b->result.local,
                                  axe_dist_tensor(&f->p->d, dst), a))
            return true;
    return false;
}

/* Do devices that the mesh has elsewhere have nothing of it? */
static bool
is_at_some(const finding *f, int tensor)
{
    const axe_held *h = axe_dist_tensor(&f->p->d, tensor)->held;

    return h && h->n_at > 0;
}

static bool
is_one_step(const axe_reshard_plan *p)
{
    return p && p->n_step == 1;
}

/* ------------------------------------------------------- two statements */

/* What is computed makes what the copy moves, and has nothing to do with where
 * it goes. */
static bool
gives(const finding *f, const axe_kernel *k, const axe_between *b,
      axe_fuse *out)
{
    const axe_tensor *made = param_named(k, name_of(f, b->arg[0].tensor));

    if (!made || made->dir == AXE_DIR_IN ||
        param_named(k, name_of(f, b->result.tensor)) ||
        !axe_kernel_by_rows(k, made, &out->rows))
        return false;
    out->giving = true;
    out->cut = made;
    return true;
}

/* It reads what the copy brings, and does not write where that is from. */
static bool
takes(const finding *f, const axe_kernel *k, const axe_between *b,
      axe_fuse *out)
{
    const axe_tensor *from = param_named(k, name_of(f, b->arg[0].tensor));
    const axe_tensor *used = param_named(k, name_of(f, b->result.tensor));

    if (!used || used->dir != AXE_DIR_IN || (from && from->dir != AXE_DIR_IN) ||
        !axe_kernel_by_rows(k, used, &out->rows))
        return false;
    out->cut = used;
    return true;
}

static bool
fuse_two(finding *f, const axe_stmt *first, const axe_stmt *second, int device)
{
    bool               giving = first->kind == AXE_STMT_DEVICE;
    const axe_between *b = axe_dist_between(f->p, giving ? second : first);
    const axe_kernel  *k = f->p->d.program->part[device]->kernel;
    axe_fuse          *out = axe_new(f->cx, axe_fuse);

    if (b->program || b->n_arg != 1 || b->result.turning ||
        !is_one_step(b->result.plan) ||
        is_made_addend(f, b, b->result.tensor) ||
        is_at_some(f, giving ? b->arg[0].tensor : b->result.tensor) ||
        !(giving ? gives(f, k, b, out) : takes(f, k, b, out)))
        return false;
    out->first = first;
    out->second = second;
    out->between = b;
    out->plan = b->result.plan;
    out->device = device;
    out->kernel = k;
    out->arg = -1;
    out->src = b->arg[0].tensor;
    out->dst = b->result.tensor;
    axe_list_push(&f->all, out);
    return true;
}

/* -------------------------------------------------------- one statement */

static bool
gives_result(const finding *f, const axe_between *b, axe_fuse *out)
{
    const axe_kernel *k = b->program->kernel;

    for (int i = 0; i < b->n_arg; i++)
        if (b->arg[i].tensor == b->result.tensor)
            return false;
    if (!is_one_step(b->result.plan) ||
        is_made_addend(f, b, b->result.tensor) ||
        !axe_kernel_by_rows(k, k->param[b->n_arg], &out->rows))
        return false;
    out->giving = true;
    out->plan = b->result.plan;
    out->cut = k->param[b->n_arg];
    out->local = b->result.local;
    out->arg = -1;
    out->src = -1;
    out->dst = b->result.tensor;
    return true;
}

/* The operand that most comes of. */
static bool
takes_operand(const axe_between *b, axe_fuse *out)
{
    const axe_kernel *k = b->program->kernel;
    double            most = -1;

    for (int i = 0; i < b->n_arg; i++) {
        const axe_between_arg *a = &b->arg[i];
        axe_by_rows            rows;

        if (!is_one_step(a->plan) || a->turning || a->bound || a->numbers ||
            a->halo || a->tensor == b->result.tensor || a->plan->time <= most ||
            !axe_kernel_by_rows(k, k->param[i], &rows))
            continue;
        most = a->plan->time;
        out->rows = rows;
        out->plan = a->plan;
        out->cut = k->param[i];
        out->local = a->local;
        out->arg = i;
        out->src = a->tensor;
        out->dst = -1;
    }
    return most >= 0;
}

static void
fuse_one(finding *f, const axe_stmt *s)
{
    const axe_between *b = axe_dist_between(f->p, s);
    axe_fuse          *out = axe_new(f->cx, axe_fuse);

    if (!b->program || (!gives_result(f, b, out) && !takes_operand(b, out)))
        return;
    out->first = s;
    out->between = b;
    out->device = -1;
    out->kernel = b->program->kernel;
    axe_list_push(&f->all, out);
}

/* ------------------------------------------------------------------ all */

/* DEVICE statements are numbered in the order of the text. */
static void
find_in(finding *f, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i], *next = i + 1 < n ? body[i + 1] : NULL;
        bool            index = s->kind == AXE_STMT_INDEX;
        bool            device = s->kind == AXE_STMT_DEVICE;

        if (next &&
            ((device && next->kind == AXE_STMT_INDEX) ||
             (index && next->kind == AXE_STMT_DEVICE)) &&
            fuse_two(f, s, next, f->n_device)) {
            f->n_device++;
            i++;
            continue;
        }
        if (index)
            fuse_one(f, s);
        if (device)
            f->n_device++;
        else {
            find_in(f, s->n_body, s->body);
            find_in(f, s->n_other, s->other);
        }
    }
}

void
axe_dist_find_fuses(axe_ctx *cx, axe_dist_plan *p)
{
    finding   f = {cx, p, {.cx = cx}, 0};
    axe_fuse *all;

    find_in(&f, p->d.k->n_body, p->d.k->body);
    all = axe_new_array(cx, axe_fuse, f.all.n);
    for (int i = 0; i < f.all.n; i++)
        all[i] = *(const axe_fuse *)f.all.item[i];
    p->n_fuse = f.all.n;
    p->fuse = all;
}

const axe_fuse *
axe_dist_fuse(const axe_dist_plan *p, const axe_stmt *s)
{
    for (int i = 0; i < p->n_fuse; i++)
        if (p->fuse[i].first == s)
            return &p->fuse[i];
    return NULL;
}
