/* dist.c - sizes and coordinates of devices, and what each of them holds. */
#include "run/dist/dist.h"

#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/list.h"
#include "mesh/problem.h"

/* ----------------------------------------------------------- from outside */

axe_status
axe_dist_check(axe_ctx *cx, const axe_program *p)
{
    axe_status st;

    if (!p->meshed) {
        st = axe_fail(cx, p->kernel->at, AXE_EUNSUPPORTED,
                      "kernel %s names no mesh, and runs on one device",
                      p->kernel->name);
        axe_help(cx, "axe_exec_new and axe_launch run it");
        return st;
    }
    AXE_TRY(axe_kernel_own(cx, p->meshed));
    for (int i = 0; i < p->n_part; i++)
        if (!p->part[i]->c_text)
            return axe_fail(cx, p->kernel->at, AXE_EARG,
                            "kernel %s was not compiled as far as its C",
                            p->kernel->name);
    return AXE_OK;
}

static const axe_tensor *
param_named(const axe_kernel *k, const char *name)
{
    for (int i = 0; i < k->n_param; i++)
        if (strcmp(k->param[i]->name, name) == 0)
            return k->param[i];
    return NULL;
}

axe_status
axe_dist_check_orders(axe_ctx *cx, const axe_kernel *k,
                      const axe_compile_spec *spec)
{
    for (int i = 0; i < spec->n_order; i++) {
        const axe_tensor *t = param_named(k, spec->order_name[i]);

        if (!t || strcmp(spec->order[i], "C") == 0)
            continue;
        axe_fail(cx, t->at, AXE_EUNSUPPORTED,
                 "%s is of order \"%s\", and arrays of kernels over a mesh are "
                 "row-major",
                 t->name, spec->order[i]);
        axe_help(cx, "copy it so before, as np.ascontiguousarray does");
        return AXE_EUNSUPPORTED;
    }
    return AXE_OK;
}

axe_status
axe_dist_outside(axe_ctx *cx, const axe_kernel *k, const axe_kernel **out)
{
    axe_kernel        *o = axe_new(cx, axe_kernel);
    axe_list           size = {.cx = cx};
    const axe_tensor **param =
        axe_new_array(cx, const axe_tensor *, k->n_param);

    *o = *k;
    for (int i = 0; i < k->n_param; i++)
        param[i] = k->param[i]->whole ? k->param[i]->whole : k->param[i];
    for (int i = 0; i < k->n_size; i++)
        if (!k->size[i]->part && k->size[i]->of_axis == 0)
            axe_list_push(&size, k->size[i]);
    o->param = param;
    o->n_size = size.n;
    o->size = (const axe_var *const *)(const void *)size.item;
    o->n_axis = 0;
    o->axis = NULL;
    o->n_temp = 0;
    o->temp = NULL;
    o->n_body = 0;
    o->body = NULL;
    o->n_index_stmt = 0;
    *out = o;
    return AXE_OK;
}

/* --------------------------------------------------------------- the mesh */

/* Is it a size of which nothing is known?  Else *value. */
static bool
is_open(const axe_kernel *k, const axe_bound *b, const axe_node *e,
        int64_t *value)
{
    if (axe_is_iconst(e, value))
        return false;
    for (int s = 0; s < k->n_size; s++)
        if (e->op == AXE_OP_var && k->size[s] == e->u.var) {
            *value = b->size[s];
            return b->unknown[s];
        }
    return false;
}

static axe_status
check_axis(axe_ctx *cx, const axe_axis_of *a, int64_t n)
{
    if (n >= 1)
        return AXE_OK;
    return axe_fail(cx, a->at, AXE_ESHAPE,
                    "axis `%s` of the mesh has %" PRId64
                    " devices; there must be one at least",
                    a->name, n);
}

axe_status
axe_dist_open_axis(axe_ctx *cx, const axe_program *p, const axe_bound *b,
                   int64_t n, axe_size *out, bool *found)
{
    const axe_kernel *k = p->meshed;
    const axe_var    *open = NULL;
    int64_t           known = 1;
    int               n_open = 0;

    for (int i = 0; i < k->n_axis; i++) {
        int64_t one = 1;

        if (!is_open(p->kernel, b, k->axis[i].size, &one)) {
            AXE_TRY(check_axis(cx, &k->axis[i], one));
            known = axe_mul(known, one, &known) ? known : INT64_MAX;
        } else {
            n_open++;
            open = k->axis[i].size->u.var;
        }
    }
    if (n_open > 1) {
        axe_status st = axe_fail(cx, k->axis[0].at, AXE_EARG,
                                 "%d axes of the mesh have no size", n_open);
        axe_help(cx, "give the sizes, as %s=2", open->name);
        return st;
    }
    n = n > 0 ? n : known;
    if (n % known != 0 || (n_open == 0 && n != known)) {
        axe_fail(cx, k->axis[0].at, AXE_EARG,
                 "the mesh has %" PRId64 " device%s%s, and there %s "
                 "%" PRId64,
                 known, known == 1 ? "" : "s",
                 n_open > 0 ? " for each along its open axis" : "",
                 n == 1 ? "is" : "are", n);
        axe_help(cx,
                 "give it %s%" PRId64 ", by --devices or as ranks that are "
                 "started",
                 n_open > 0 ? "a multiple of " : "", known);
        return AXE_EARG;
    }
    *found = n_open > 0;
    if (*found)
        *out = (axe_size){open->name, n / known};
    return AXE_OK;
}

axe_status
axe_dist_open(axe_ctx *cx, const axe_program *p, const int64_t *size,
              axe_dist *out)
{
    axe_dist d = {.program = p, .k = p->meshed, .size = size};
    axe_buf  text = {.cx = cx};
    int64_t  all = 1;

    for (int i = 0; i < d.k->n_axis; i++) {
        const axe_axis_of *a = &d.k->axis[i];
        int64_t            n = axe_dist_value(&d, NULL, 0, a->size);

        AXE_TRY(check_axis(cx, a, n));
        if (!axe_mul(all, n, &all) || all > MESH_DEVICES)
            return axe_fail(cx, a->at, AXE_ELIMIT,
                            "axis `%s` of the mesh has %" PRId64
                            " devices: together there are more than 2^40",
                            a->name, n);
        axe_putf(&text, "%s%s=%" PRId64, i ? ", " : "", a->name, n);
    }
    AXE_TRY(axe_mesh_read(cx, text.text, &d.mesh));
    d.n_device = d.mesh->n_device;
    *out = d;
    return AXE_OK;
}

int64_t
axe_dist_coordinate(const axe_dist *d, int64_t device, int axis)
{
    const axe_mesh_axis *a = &d->mesh->axis[axis];

    return device / a->stride % a->size;
}

void
axe_dist_block(const axe_dist *d, int64_t device, int64_t whole, int n_axis,
               const int *axis, int64_t *first, int64_t *count)
{
    int64_t n = 1, at = 0, each, left;

    for (int i = 0; i < n_axis; i++) {
        n *= d->mesh->axis[axis[i]].size;
        at = at * d->mesh->axis[axis[i]].size +
             axe_dist_coordinate(d, device, axis[i]);
    }
    each = whole / n + (whole % n != 0);
    *first = at > 0 && each > whole / at ? whole : at * each;
    left = whole - *first;
    *count = left < 0 ? 0 : left < each ? left : each;
}

/* ------------------------------------------------------------------ values */

static bool
same_name(const axe_var *a, const axe_var *b)
{
    return a == b || strcmp(a->name, b->name) == 0;
}

int64_t
axe_dist_size(const axe_dist *d, const axe_frame *f, int64_t device,
              const axe_var *v)
{
    const axe_kernel *o = d->program->kernel;
    int64_t           first, count;

    if (v->part && v->part->window) {
        axe_window w = axe_dist_window_at(d, f, device, v->part->window);

        if (v->part->first && v->part->window->of)
            return axe_dist_around_first(d, f, device, v->part->window);
        return v->part->first ? w.from : w.to - w.from;
    }
    if (v->part) {
        axe_dist_block(d, v->part->most ? 0 : device,
                       axe_dist_value(d, NULL, device, v->part->whole),
                       v->part->n_axis, v->part->axis, &first, &count);
        return v->part->first ? first : count;
    }
    if (v->of_axis > 0)
        return axe_dist_coordinate(d, device, v->of_axis - 1);
    for (int i = 0; i < o->n_size; i++)
        if (o->size[i] == v)
            return d->size[i];
    for (; f; f = f->up)
        if (same_name(f->var, v))
            return f->value;
    return 0;
}

int64_t
axe_dist_value(const axe_dist *d, const axe_frame *f, int64_t device,
               const axe_node *n)
{
    int64_t arg[3] = {0}, out;

    if (n->op == AXE_OP_var)
        return axe_dist_size(d, f, device, n->u.var);
    if (axe_is_iconst(n, &out))
        return out;
    for (int i = 0; i < n->n_arg && i < 3; i++)
        arg[i] = axe_dist_value(d, f, device, n->arg[i]);
    if (n->op == AXE_OP_select)
        return arg[0] ? arg[1] : arg[2];
    return axe_whole_op(n->op, n->n_arg > 0 ? n->arg[0]->type : n->type, arg,
                        &out)
               ? out
               : 0;
}

/* ----------------------------------------------------------------- tensors */

static bool
is_held(const axe_dist *d, int64_t device, const axe_tensor *t)
{
    for (int i = 0; t->held && i < t->held->n_at; i++)
        if (axe_dist_coordinate(d, device, t->held->at[i]) !=
            t->held->coordinate[i])
            return false;
    return true;
}

/* What a device has of an extent. */
static axe_window
extent_at(const axe_dist *d, const axe_frame *f, int64_t device,
          const axe_node *e)
{
    const axe_shard *p = axe_is_cut(e) ? e->u.var->part : NULL;
    int64_t          first = 0, n;

    if (p && p->window)
        return axe_dist_window_at(d, f, device, p->window);
    if (p)
        axe_dist_block(d, device, axe_dist_value(d, NULL, device, p->whole),
                       p->n_axis, p->axis, &first, &n);
    else
        n = axe_dist_value(d, NULL, device, e);
    return (axe_window){first, n < 0 ? first : first + n};
}

/* Elements of n by that many; more than int64 counts is the most of it, for
 * which nothing has memory. */
static int64_t
times(int64_t n, int64_t by)
{
    int64_t out;

    return axe_mul(n, by, &out) ? out : INT64_MAX;
}

int64_t
axe_dist_part_at(const axe_dist *d, const axe_frame *f, int64_t device,
                 const axe_tensor *t, int64_t *first, int64_t *shape)
{
    int64_t n = is_held(d, device, t);

    for (int k = 0; k < t->rank; k++) {
        axe_window w = extent_at(d, f, device, t->shape[k]);

        n = times(n, w.to - w.from);
        if (first)
            first[k] = w.from;
        if (shape)
            shape[k] = w.to - w.from;
    }
    return n;
}

int64_t
axe_dist_part(const axe_dist *d, int64_t device, const axe_tensor *t,
              int64_t *first, int64_t *shape)
{
    return axe_dist_part_at(d, NULL, device, t, first, shape);
}

int64_t
axe_dist_count(const axe_dist *d, const axe_tensor *t)
{
    int64_t n = 1, e;

    for (int k = 0; k < t->rank; k++) {
        e = axe_dist_value(d, NULL, 0, axe_extent_whole(t->shape[k]));
        n = times(n, e < 0 ? 0 : e);
    }
    return n;
}

bool
axe_dist_is_first(const axe_dist *d, int64_t device, const axe_tensor *t)
{
    for (int i = 0; t->held && i < t->held->n_partial; i++)
        if (axe_dist_coordinate(d, device, t->held->partial[i]) != 0)
            return false;
    return true;
}

void
axe_dist_runs(const axe_dist *d, int64_t device, const axe_tensor *t,
              axe_dist_run_fn *fn, void *user)
{
    int64_t first[AXE_RANK_MAX], shape[AXE_RANK_MAX], at[AXE_RANK_MAX] = {0};
    int64_t n = axe_dist_part(d, device, t, first, shape), run, local = 0;
    int     k;

    if (t->rank == 0 && n > 0)
        fn(user, 0, 0, 1);
    if (n == 0 || t->rank == 0)
        return;
    run = shape[t->rank - 1];
    do {
        int64_t whole = 0;

        for (k = 0; k < t->rank; k++)
            whole = whole * axe_dist_value(d, NULL, 0,
                                           axe_extent_whole(t->shape[k])) +
                    first[k] + at[k];
        fn(user, local, whole, run);
        local += run;
        for (k = t->rank - 2; k >= 0 && ++at[k] == shape[k]; k--)
            at[k] = 0;
    } while (k >= 0);
}

typedef struct cut {
    axe_type    type;
    char       *local;
    const char *whole;
} cut;

static void
copy_run(void *user, int64_t local, int64_t whole, int64_t n)
{
    cut *c = user;

    memcpy(c->local + axe_type_bytes(c->type, local),
           c->whole + axe_type_bytes(c->type, whole),
           (size_t)axe_type_bytes(c->type, n));
}

void
axe_dist_cut(const axe_dist *d, int64_t device, const axe_tensor *t,
             const void *whole, void *local)
{
    cut c = {t->type, local, whole};

    axe_dist_runs(d, device, t, copy_run, &c);
}

axe_array
axe_dist_array(axe_ctx *cx, const axe_dist *d, const axe_frame *f,
               int64_t device, const axe_tensor *t, const char *name,
               void *data)
{
    int64_t *shape = axe_new_array(cx, int64_t, t->rank);

    axe_dist_part_at(d, f, device, t, NULL, shape);
    return (axe_array){.name = name,
                       .type = axe_type_table[t->type].name,
                       .rank = t->rank,
                       .shape = shape,
                       .data = data};
}

int
axe_dist_n_tensor(const axe_dist *d)
{
    return d->k->n_param + d->k->n_temp;
}

const axe_tensor *
axe_dist_tensor(const axe_dist *d, int i)
{
    return i < d->k->n_param ? d->k->param[i] : d->k->temp[i - d->k->n_param];
}

int
axe_dist_find(const axe_dist *d, const char *name)
{
    for (int i = 0; i < axe_dist_n_tensor(d); i++)
        if (strcmp(axe_dist_tensor(d, i)->name, name) == 0)
            return i;
    return -1;
}
