/* rank_bind.c - what the local arrays of all ranks say together: the extents of
 * whole arguments, sizes, and whether each device has what is declared.
 *
 * Ranks first compare what they were given, and each gets all ranks' extents
 * (rank_agree.c), so that from there on all find the same, errors among it,
 * without asking one another again. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/mesh.h"
#include "run/array/array.h"
#include "run/dist/rank.h"

enum { SHOWN = 8 /* devices in a message */ };

/* ------------------------------------------------------------- of one rank */

static bool
is_dense(const axe_array *a)
{
    int64_t step = 1;

    for (int i = a->rank - 1; a->stride && i >= 0; i--) {
        if (a->shape[i] != 1 && a->stride[i] != step)
            return axe_array_is_empty(a);
        step *= a->shape[i];
    }
    return true;
}

static axe_status
check_array(axe_ctx *cx, const axe_tensor *t, const axe_array *a, bool complete)
{
    const int64_t *stride;
    axe_status     st;

    AXE_TRY(axe_array_check(cx, t, a, &stride));
    if (complete)
        AXE_TRY(axe_array_check_data(cx, t, a));
    if (is_dense(a))
        return AXE_OK;
    st = axe_fail(cx, t->at, AXE_ESHAPE,
                  "%s: what a device has of it is to be row-major, without "
                  "gaps",
                  t->name);
    axe_help(cx, "copy it so before the call");
    return st;
}

static axe_status
take(const axe_rank_exec *x, const axe_local *l, bool complete,
     axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;
    const char      **known = axe_new_array(x->cx, const char *, k->n_param);
    const char       *name = l->array.name ? l->array.name : "";
    const char       *near;

    for (int i = 0; i < k->n_param; i++) {
        known[i] = k->param[i]->name;
        if (strcmp(known[i], name) != 0)
            continue;
        if (b->of[i])
            return axe_fail(x->cx, k->param[i]->at, AXE_ENAME,
                            "%s is given twice", name);
        b->of[i] = l;
        return check_array(x->cx, k->param[i], &l->array, complete);
    }
    near = axe_nearest(name, k->n_param, known);
    axe_fail(x->cx, AXE_NOWHERE, AXE_ENAME, "kernel %s has no parameter '%s'",
             k->name, axe_text_plain(x->cx, name));
    if (near)
        axe_help(x->cx, "did you mean '%s'?", near);
    return AXE_ENAME;
}

static axe_status
take_all(const axe_rank_exec *x, int n, const axe_local *local, bool complete,
         axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;

    for (int i = 0; i < n; i++)
        AXE_TRY(take(x, &local[i], complete, b));
    for (int i = 0; complete && i < k->n_param; i++)
        if (!b->of[i])
            return axe_fail(x->cx, k->param[i]->at, AXE_ENAME,
                            "%s is missing: no array is given for it",
                            k->param[i]->name);
    return AXE_OK;
}

/* Is it the plan's mesh? */
static bool
has_mesh(const axe_rank_exec *x, const int64_t *size, axe_dist *out)
{
    axe_dist d = {.program = x->p, .k = x->p->meshed, .size = size};

    if (!x->plan)
        return false;
    d.mesh = x->plan->d.mesh;
    d.n_device = x->plan->d.n_device;
    for (int i = 0; i < d.k->n_axis; i++)
        if (axe_dist_value(&d, NULL, 0, d.k->axis[i].size) !=
            d.mesh->axis[i].size)
            return false;
    *out = d;
    return true;
}

/* The mesh, by the sizes that are given and the number of ranks; sizes with
 * what follows from that. */
static axe_status
take_mesh(const axe_rank_exec *x, int *n_size, const axe_size **size,
          axe_rank_bound *b)
{
    axe_size *all = axe_new_array(x->cx, axe_size, *n_size + 1);
    axe_bound known;
    bool      open;

    for (int i = 0; i < *n_size; i++)
        all[i] = (*size)[i];
    AXE_TRY(
        axe_bind(x->cx, x->p->kernel, 0, NULL, *n_size, *size, false, &known));
    AXE_TRY(axe_dist_open_axis(x->cx, x->p, &known, x->e->size, &all[*n_size],
                               &open));
    *n_size += open;
    *size = all;
    AXE_TRY(
        axe_bind(x->cx, x->p->kernel, 0, NULL, *n_size, all, false, &known));
    if (!has_mesh(x, known.size, &b->d))
        AXE_TRY(axe_dist_open(x->cx, x->p, known.size, &b->d));
    return AXE_OK;
}

/* --------------------------------------------------------- of all of them */

static const int64_t *
shape_at(const axe_rank_bound *b, int64_t device, int param)
{
    return b->extent + device * b->n_extent + b->begin[param];
}

static bool
holds(const axe_rank_bound *b, int64_t device, const axe_tensor *t)
{
    for (int i = 0; t->held && i < t->held->n_at; i++)
        if (axe_dist_coordinate(&b->d, device, t->held->at[i]) !=
            t->held->coordinate[i])
            return false;
    return true;
}

/* Axes that cut a dimension; 0: none. */
static int
cut_by(const axe_tensor *t, int dim, const int **axis)
{
    const axe_node *e = t->shape[dim];

    if (!axe_is_cut(e))
        return 0;
    *axis = e->u.var->part->axis;
    return e->u.var->part->n_axis;
}

/* Is a device, as to the other axes, where `first` is? */
static bool
in_line(const axe_rank_bound *b, int64_t device, int64_t first, int n_axis,
        const int *axis)
{
    for (int a = 0; a < b->d.mesh->n_axis; a++) {
        bool along = false;

        for (int i = 0; i < n_axis; i++)
            along = along || axis[i] == a;
        if (!along && axe_dist_coordinate(&b->d, device, a) !=
                          axe_dist_coordinate(&b->d, first, a))
            return false;
    }
    return true;
}

/* The extent of the whole, as parts say: what devices along the axes that cut
 * it have together. */
static axe_status
sum_parts(const axe_rank_exec *x, const axe_rank_bound *b, int param, int dim,
          int64_t *out)
{
    const axe_tensor *t = x->p->meshed->param[param];
    const int        *axis = NULL;
    int               n_axis = cut_by(t, dim, &axis);
    int64_t           first = 0;

    while (!holds(b, first, t))
        first++;
    *out = shape_at(b, first, param)[dim];
    if (n_axis == 0)
        return AXE_OK;
    *out = 0;
    for (int64_t q = 0; q < b->d.n_device; q++)
        if (in_line(b, q, first, n_axis, axis) &&
            !axe_add(*out, shape_at(b, q, param)[dim], out))
            return axe_fail(x->cx, t->at, AXE_EOVERFLOW,
                            "%s (dimension %d) does not fit int64", t->name,
                            dim);
    return AXE_OK;
}

/* "34, 34, 30": what devices have along a dimension. */
static const char *
extents_text(const axe_rank_exec *x, const axe_rank_bound *b, int param,
             int dim)
{
    axe_buf out = {.cx = x->cx};

    for (int64_t q = 0; q < b->d.n_device && q < SHOWN; q++)
        axe_putf(&out, "%s%" PRId64, q ? ", " : "", shape_at(b, q, param)[dim]);
    if (b->d.n_device > SHOWN)
        axe_puts(&out, ", ...");
    return out.text;
}

/* Has each device what is declared? */
static axe_status
check_parts(const axe_rank_exec *x, const axe_rank_bound *b, int param, int dim)
{
    const axe_tensor *t = x->p->meshed->param[param];
    const int        *axis = NULL;
    int               n_axis = cut_by(t, dim, &axis);
    int64_t           whole = b->whole[param][dim], first, want = whole;

    for (int64_t q = 0; q < b->d.n_device; q++) {
        int64_t have = shape_at(b, q, param)[dim];

        if (!holds(b, q, t))
            continue;
        if (n_axis > 0)
            axe_dist_block(&b->d, q, whole, n_axis, axis, &first, &want);
        if (have == want)
            continue;
        axe_fail(x->cx, t->at, AXE_ESHAPE,
                 "%s (dimension %d) is %" PRId64 " on device %" PRId64
                 ", where %s, as it is declared, has %" PRId64
                 "; devices have %s",
                 t->name, dim, have, q,
                 axe_dist_spread_of(x->cx, &b->d, t, b->whole[param]), want,
                 extents_text(x, b, param, dim));
        axe_help(x->cx, "give each device its block: of n over p devices "
                        "cdiv(n, p) in order, the last ones less");
        return AXE_ESHAPE;
    }
    return AXE_OK;
}

/* A device on which there is nothing of it has no elements of it. */
static axe_status
check_empty(const axe_rank_exec *x, const axe_rank_bound *b, int param)
{
    const axe_tensor *t = x->p->meshed->param[param];

    for (int64_t q = 0; q < b->d.n_device; q++) {
        int64_t n = 1;

        for (int k = 0; k < t->rank; k++)
            n *= shape_at(b, q, param)[k] != 0;
        if (holds(b, q, t) || n == 0)
            continue;
        axe_fail(x->cx, t->at, AXE_ESHAPE,
                 "%s is given with elements on device %" PRId64
                 ", which has none of %s",
                 t->name, q,
                 axe_dist_spread_of(x->cx, &b->d, t, b->whole[param]));
        axe_help(x->cx, "give an array with an extent of 0 there");
        return AXE_ESHAPE;
    }
    return AXE_OK;
}

/* ----------------------------------------------------- layouts that are given
 */

static axe_status
read_layout(const axe_rank_exec *x, const axe_rank_bound *b, int param,
            axe_spread *out)
{
    const axe_local  *l = b->of[param];
    const axe_tensor *t = x->p->meshed->param[param];
    axe_shape         shape = l->whole;

    if (!l->format)
        return axe_spread_read(x->cx, b->d.mesh, l->layout, out);
    if (shape.n == 0)
        shape = (axe_shape){t->rank, b->whole[param]};
    return axe_spread_convert(x->cx, b->d.mesh, l->format, shape, l->layout,
                              out);
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Was this layout given at the plan's launch? */
static bool
is_seen(const axe_rank_exec *x, const axe_local *l, int param)
{
    return x->seen && l->layout &&
           same_text(x->seen[param].layout, l->layout) &&
           same_text(x->seen[param].format, l->format);
}

/* The extents of the whole: as they are given, or as parts say. */
static axe_status
find_whole(const axe_rank_exec *x, axe_rank_bound *b, int param)
{
    const axe_tensor *t = x->p->meshed->param[param];
    const axe_local  *l = b->of[param];
    axe_shape         shape = l->whole;
    axe_spread        s;

    for (int k = 0; k < t->rank; k++)
        AXE_TRY(sum_parts(x, b, param, k, &b->whole[param][k]));
    if (shape.n == 0 && !l->format && is_seen(x, l, param)) {
        shape = (axe_shape){t->rank, x->seen[param].whole};
    } else if (shape.n == 0 && l->layout && !l->format) {
        AXE_TRY(read_layout(x, b, param, &s));
        shape = s.shape;
    }
    if (shape.n == 0)
        return AXE_OK;
    if (shape.n != t->rank)
        return axe_fail(x->cx, t->at, AXE_ESHAPE,
                        "%s has %d dimension%s, the whole array that is given "
                        "for it %d",
                        t->name, t->rank, t->rank == 1 ? "" : "s", shape.n);
    for (int k = 0; k < t->rank; k++)
        b->whole[param][k] = shape.extent[k];
    return AXE_OK;
}

static axe_status
tell_difference(const axe_rank_exec *x, const axe_rank_bound *b, int param,
                const axe_spread_difference *f)
{
    const axe_tensor *t = x->p->meshed->param[param];
    const char       *given = axe_text_plain(x->cx, b->of[param]->layout);
    const char *declared = axe_dist_spread_of(x->cx, &b->d, t, b->whole[param]);

    if (f->addends)
        axe_fail(x->cx, t->at, AXE_ESHAPE,
                 "%s is given as %s and declared as %s: devices hold addends "
                 "of it by one of them alone",
                 t->name, given, declared);
    else
        axe_fail(x->cx, t->at, AXE_ESHAPE,
                 "%s is given as %s and declared as %s: device %" PRId64
                 " has index %" PRId64 " of dimension %d by what is %s alone",
                 t->name, given, declared, f->device, f->index, f->dim,
                 f->first ? "given" : "declared");
    axe_help(x->cx,
             "declare %s so, or bring it there before: `axe reshard` "
             "says how",
             t->name);
    return AXE_ESHAPE;
}

static axe_status
check_layout(const axe_rank_exec *x, const axe_rank_bound *b, int param)
{
    const axe_tensor     *t = x->p->meshed->param[param];
    axe_spread            given, declared;
    axe_spread_difference f;
    const char           *text;

    size_t bytes = (size_t)t->rank * sizeof(int64_t);

    if (!b->of[param]->layout)
        return AXE_OK;
    if (is_seen(x, b->of[param], param) &&
        memcmp(x->seen[param].whole, b->whole[param], bytes) == 0)
        return AXE_OK;
    for (int k = 0; k < t->rank; k++)
        if (b->whole[param][k] == 0)
            return AXE_OK;
    text = axe_dist_spread_of(x->cx, &b->d, t, b->whole[param]);
    AXE_TRY(read_layout(x, b, param, &given));
    AXE_TRY(axe_spread_read(x->cx, b->d.mesh, text, &declared));
    AXE_TRY(axe_spread_differ(x->cx, b->d.mesh, &given, &declared, &f));
    return f.equal ? AXE_OK : tell_difference(x, b, param, &f);
}

/* ------------------------------------------------------------------ sizes */

/* Whole arguments as axe_bind takes them; of numbers their memory. */
static axe_status
bind_sizes(const axe_rank_exec *x, int n_size, const axe_size *size,
           bool complete, axe_rank_bound *b)
{
    const axe_kernel *k = x->p->kernel;
    axe_array        *array = axe_new_array(x->cx, axe_array, k->n_param);
    axe_bound         all;
    int               n = 0;

    for (int i = 0; i < k->n_param; i++)
        if (b->of[i]) {
            array[n] = b->of[i]->array;
            array[n].shape = b->whole[i];
            array[n].stride = NULL;
            array[n].data = array[n].rank == 0 ? array[n].data : NULL;
            n++;
        }
    AXE_TRY(axe_bind(x->cx, k, n, array, n_size, size, false, &all));
    for (int i = 0; complete && i < k->n_size; i++)
        if (all.unknown[i]) {
            axe_fail(x->cx, k->size[i]->at, AXE_EARG,
                     "size %s follows from no array", k->size[i]->name);
            axe_help(x->cx, "give its value");
            return AXE_EARG;
        }
    b->size = all.size;
    b->unknown = all.unknown;
    b->shape = all.shape;
    b->d.size = all.size;
    return AXE_OK;
}

/* Of all ranks' extents: the same on each. */
static axe_status
bind_extents(const axe_rank_exec *x, int n_size, const axe_size *size,
             bool complete, axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;

    for (int i = 0; i < k->n_param; i++) {
        if (!b->of[i])
            continue;
        AXE_TRY(find_whole(x, b, i));
        AXE_TRY(check_layout(x, b, i));
        for (int d = 0; d < k->param[i]->rank; d++)
            AXE_TRY(check_parts(x, b, i, d));
        AXE_TRY(check_empty(x, b, i));
    }
    return bind_sizes(x, n_size, size, complete, b);
}

axe_status
axe_rank_bind(const axe_rank_exec *x, int n_local, const axe_local *local,
              int n_size, const axe_size *size, bool complete,
              axe_rank_bound *out)
{
    const axe_kernel *k = x->p->meshed;
    axe_ctx          *cx = x->cx;
    axe_rank_bound b = {.of = axe_new_array(cx, const axe_local *, k->n_param),
                        .whole = axe_new_array(cx, int64_t *, k->n_param),
                        .begin = axe_new_array(cx, int, k->n_param)};
    int            n = n_size;
    axe_status     st;

    for (int i = 0; i < k->n_param; i++)
        b.whole[i] = axe_new_array(cx, int64_t, k->param[i]->rank);
    st = take_all(x, n_local, local, complete, &b);
    if (st == AXE_OK)
        st = take_mesh(x, &n, &size, &b);
    AXE_TRY(axe_rank_agree(x, st, n_size, size, &b));
    AXE_TRY(bind_extents(x, n, size, complete, &b));
    *out = b;
    return AXE_OK;
}
