/* explain.c - what a program over devices does, at given sizes, as text:
 * who holds what, each step, and the plans of what a device does. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "run/dist/dist.h"

/* Where nobody says: sizes, and devices along an axis. */
enum { USUAL_SIZE = 1024, USUAL_DEVICES = 4, FEW_DEVICES = 4 };

typedef struct teller {
    axe_ctx             *cx;
    const axe_dist_plan *p;
    axe_buf             *out;
    int                  n_device; /* statements told of */
} teller;

static bool
is_axis(const axe_kernel *k, const axe_var *v)
{
    for (int i = 0; i < k->n_axis; i++)
        if (k->axis[i].size->op == AXE_OP_var && k->axis[i].size->u.var == v)
            return true;
    return false;
}

static axe_status
take_sizes(axe_ctx *cx, const axe_program *p, int n, const axe_size *size,
           int64_t **out)
{
    const axe_kernel *k = p->kernel;
    axe_bound         b;

    AXE_TRY(axe_bind(cx, k, 0, NULL, n, size, false, &b));
    for (int i = 0; i < k->n_size; i++)
        if (b.unknown[i])
            b.size[i] =
                is_axis(p->meshed, k->size[i]) ? USUAL_DEVICES : USUAL_SIZE;
    *out = b.size;
    return AXE_OK;
}

static void
tell_tensor(const teller *t, const axe_tensor *x)
{
    int64_t shape[AXE_RANK_MAX];

    if (x->rank == 0)
        return;
    axe_dist_part(&t->p->d, 0, x, NULL, shape);
    axe_putf(t->out, "  %-7s %s %s: %s; device 0 has (",
             x->dir == AXE_DIR_LOCAL ? "global" : axe_dir_name(x->dir),
             axe_type_table[x->type].name, x->name,
             axe_dist_spread(t->cx, &t->p->d, x, NULL));
    for (int k = 0; k < x->rank; k++)
        axe_putf(t->out, "%s%" PRId64, k ? ", " : "", shape[k]);
    axe_puts(t->out, ")\n");
}

/* Lines of a plan between spreads, but for the mesh's, which is one for all. */
static void
tell_plan(const teller *t, const axe_reshard_plan *r)
{
    const char *s = axe_reshard_text(t->cx, r);

    for (int line = 0; *s; line++) {
        size_t n = strcspn(s, "\n");

        if (line != 1 && line != 2)
            axe_putf(t->out, "    %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
}

/* What goes on beside it. */
static void
tell_fuse(const teller *t, const axe_between *b)
{
    for (int i = 0; i < t->p->n_fuse; i++) {
        const axe_fuse *f = &t->p->fuse[i];

        if (f->between != b)
            continue;
        axe_putf(t->out, "  overlap %s %s rows of %s, in tiles of %" PRId64,
                 f->kernel->name, f->giving ? "makes" : "uses", f->cut->name,
                 f->rows.tile);
        axe_puts(t->out,
                 f->giving ? ": for others first\n" : ": as they come\n");
    }
}

/* Of a plan for each number that is added, one is told. */
static void
tell_turns(const teller *t, const axe_between_arg *a)
{
    for (int i = 0; a->turning && i < a->turning->n; i++)
        if (a->turning->turn[i].loops)
            axe_putf(t->out, "  as loops go on, by %s; here by %" PRId64 "\n",
                     axe_node_text(t->cx, a->turning->turn[i].by),
                     a->turning->turn[i].add);
}

static void
tell_bound(const teller *t, const axe_between_arg *a)
{
    if (!a->bound)
        return;
    axe_putf(t->out, "  of its dimension %d goes what is below %s; at most:\n",
             a->bound->dim, axe_node_text(t->cx, a->bound->numbers));
}

/* What devices look at of a dimension, of the first few. */
static void
tell_window(const teller *t, const axe_between_arg *a, int dim)
{
    const axe_reshard_plan *r = a->plan;
    int64_t n = r->mesh->n_device, whole = r->dst.shape.extent[dim];

    axe_putf(t->out, "  of its dimension %d devices look at %s:", dim,
             axe_dist_window_text(t->cx, a->halo->window[dim]));
    for (int64_t q = 0; q < n && q < FEW_DEVICES; q++) {
        const axe_window *w = &r->window[q * a->local->rank + dim];

        axe_putf(t->out, "%s %s%" PRId64 " at [%" PRId64 ", %" PRId64 ")",
                 q ? "," : "", q ? "" : "device ", q, w->from,
                 w->to < whole ? w->to : whole);
        if (w->to > whole)
            axe_putf(t->out, " and [0, %" PRId64 ")", w->to - whole);
    }
    axe_puts(t->out, n > FEW_DEVICES ? ", ...\n" : "\n");
}

static void
tell_halo(const teller *t, const axe_between_arg *a)
{
    for (int k = 0; a->halo && k < a->local->rank; k++)
        if (a->halo->window[k])
            tell_window(t, a, k);
    if (a->halo && a->halo->n_loop > 0)
        axe_putf(t->out,
                 "  as loops go on, by %d plans; here the one that moves "
                 "most\n",
                 a->halo->n_plan);
}

static void
tell_between(const teller *t, const axe_between *b)
{
    const axe_dist *d = &t->p->d;

    axe_putf(t->out, "between %s\n", axe_stmt_text(t->cx, b->stmt));
    if (!b->program && !b->result.plan)
        axe_puts(t->out, "    each device copies what it has\n");
    tell_turns(t, &b->result);
    for (int i = 0; b->program && i < b->n_arg; i++) {
        const axe_tensor *x = axe_dist_tensor(d, b->arg[i].tensor);

        if (x->rank == 0)
            continue;
        axe_putf(t->out, "  %s is needed as %s%s\n", x->name,
                 axe_dist_spread(t->cx, d, b->arg[i].local, b->arg[i].turning),
                 b->arg[i].plan ? "" : ", as it is");
        tell_turns(t, &b->arg[i]);
        tell_bound(t, &b->arg[i]);
        tell_halo(t, &b->arg[i]);
        if (b->arg[i].plan)
            tell_plan(t, b->arg[i].plan);
    }
    if (b->program)
        axe_putf(t->out, "  each device computes its part: %s%s\n",
                 axe_dist_spread(t->cx, d, b->result.local, NULL),
                 b->result.plan ? "" : ", where it is to be");
    if (b->result.plan)
        tell_plan(t, b->result.plan);
    tell_fuse(t, b);
}

static void
tell_body(teller *t, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];

        if (s->kind == AXE_STMT_DEVICE)
            axe_putf(t->out, "device  %s, planned below\n",
                     t->p->d.program->part[t->n_device++]->kernel->name);
        else if (s->kind == AXE_STMT_INDEX)
            tell_between(t, axe_dist_between(t->p, s));
        else if (s->kind == AXE_STMT_FOR)
            axe_putf(t->out, "for     %s : %s\n", s->var[0]->name,
                     axe_node_text(t->cx, s->var[0]->extent));
        else if (s->kind == AXE_STMT_IF)
            axe_putf(t->out, "if      %s\n", axe_node_text(t->cx, s->cond));
        if (s->kind == AXE_STMT_DEVICE)
            continue;
        tell_body(t, s->n_body, s->body);
        tell_body(t, s->n_other, s->other);
    }
}

static void
tell_head(const teller *t)
{
    const axe_dist   *d = &t->p->d;
    const axe_kernel *o = d->program->kernel;

    axe_putf(t->out, "%s over %s\n", d->k->name, axe_mesh_text(t->cx, d->mesh));
    for (int i = 0; i < o->n_size; i++)
        axe_putf(t->out, "%s%s = %" PRId64, i ? ", " : "  sizes   ",
                 o->size[i]->name, d->size[i]);
    axe_puts(t->out, o->n_size > 0 ? "\n" : "");
    for (int i = 0; i < axe_dist_n_tensor(d); i++)
        tell_tensor(t, axe_dist_tensor(d, i));
}

/* The plan of what stands in one device scope, with what it takes on device 0,
 * unless nobody gave a size; loops around it are where they begin. */
static axe_status
tell_part(const teller *t, const axe_program *part, bool sized)
{
    const axe_kernel *k = part->kernel;
    axe_size         *size = axe_new_array(t->cx, axe_size, k->n_size + 1);
    int               n = sized ? k->n_size : 0;

    for (int i = 0; i < n; i++)
        size[i] = (axe_size){k->size[i]->name,
                             axe_dist_size(&t->p->d, NULL, 0, k->size[i])};
    return axe_program_explain(t->cx, part, false, n, size, t->out);
}

axe_status
axe_dist_explain(axe_ctx *cx, const axe_program *p, int n_size,
                 const axe_size *size, axe_buf *out)
{
    teller   t = {.cx = cx, .out = out};
    int64_t *all;

    AXE_TRY(take_sizes(cx, p, n_size, size, &all));
    AXE_TRY(axe_dist_plan_new(cx, p, all, &t.p));
    tell_head(&t);
    tell_body(&t, p->meshed->n_body, p->meshed->body);
    for (int i = 0; i < p->n_part; i++) {
        axe_puts(out, "\n");
        AXE_TRY(tell_part(&t, p->part[i], n_size > 0));
    }
    return AXE_OK;
}
