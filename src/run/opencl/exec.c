/* exec.c - a program of ours on an OpenCL device.
 *
 * A grid's kernel takes, in this order: each parameter, a buffer or a number;
 * a buffer for each of the kernel's own tensors; its sizes, the iterations of
 * the loops around it and how many compute units there are, as `long`. */
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "plan/plan.h"
#include "print/opencl/opencl.h"
#include "run/grids.h"
#include "run/opencl/opencl_int.h"

struct axe_opencl_exec {
    axe_tag             tag;
    axe_opencl         *cl;
    const axe_program  *program;
    axe_opencl_program *code[2]; /* as the program says, with wide indices;
                                    NULL: not built so far */
    bool cached;
};

static axe_status
check_program(axe_ctx *cx, const axe_opencl *cl, const axe_program *p)
{
    const axe_machine *mc;

    if (!p->c_text)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "kernel %s was not compiled so far", p->kernel->name);
    mc = p->plan->machine;
    if (mc->language == AXE_LANGUAGE_opencl)
        return axe_opencl_need(cx, cl, axe_opencl_needs(cx, mc));
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "kernel %s was compiled for %s, which is no machine of OpenCL",
             p->kernel->name, mc->name);
    axe_help(cx, "compile it with --target opencl");
    return AXE_EUNSUPPORTED;
}

/* A text of the program built, with what it needs, what makes a device's
 * quotients exact that can have them so, and what the user adds. */
static axe_status
build(axe_ctx *cx, const axe_opencl_exec *e, const char *text,
      axe_opencl_program **out)
{
    const char *need = axe_opencl_options(e->program->lowered);
    const char *more = getenv("AXE_OPENCL_OPTIONS");

    if (axe_cl_has(axe_opencl_about(e->cl), "exact"))
        need =
            axe_textf(cx, "%s%s%s", need, *need ? " " : "", AXE_OPENCL_EXACT);
    if (more && *more)
        need = axe_textf(cx, "%s %s", need, more);
    axe_status st = axe_opencl_build(cx, e->cl, text, need, NULL, out);
    if (st == AXE_ETOOL && more && *more)
        axe_help(cx, "AXE_OPENCL_OPTIONS adds '%s': try without it", more);
    else if (st == AXE_ETOOL)
        axe_help(cx, "the text is axe's own, so this is no fault of the "
                     "kernel: `axe compile --emit c` shows it; --target opencl "
                     "asks least of a driver");
    return st;
}

axe_status
axe_opencl_exec_new(axe_ctx *cx, axe_opencl *cl, const axe_program *p,
                    axe_opencl_exec **out)
{
    AXE_TRY(axe_cl_device_check(cx, __func__, cl));
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    axe_opencl_exec *e;
    axe_status       st;

    AXE_TRY(check_program(cx, cl, p));
    e = calloc(1, sizeof *e);
    if (!e)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a kernel");
    *e = (axe_opencl_exec){.tag = AXE_TAG_OPENCL_EXEC, .cl = cl, .program = p};
    st = build(cx, e, p->c_text, &e->code[0]);
    if (st != AXE_OK) {
        axe_opencl_exec_free(e);
        return st;
    }
    e->cached = axe_opencl_program_cached(e->code[0]);
    *out = e;
    return AXE_OK;
}

void
axe_opencl_exec_free(axe_opencl_exec *e)
{
    if (!e)
        return;
    for (int i = 0; i < AXE_LEN(e->code); i++)
        axe_opencl_program_free(e->code[i]);
    axe_tag_drop(&e->tag);
    free(e);
}

bool
axe_opencl_exec_cached(const axe_opencl_exec *e)
{
    return e && e->cached;
}

/* ----------------------------------------------------------------- a call */

/* The grids come first: what starts one gets back to the launch. */
typedef struct launch {
    axe_grids           grids;
    axe_opencl_exec    *e;
    axe_opencl_program *code;
    axe_opencl_buffer **buffer; /* parameters, then the kernel's own tensors;
                                   NULL: a number */
    double seconds;
} launch;

static int64_t
resident(const axe_grids *g, int i)
{
    (void)i;
    return g->values.cores;
}

static axe_status
start_grid(axe_ctx *cx, axe_grids *g, int number, int64_t blocks)
{
    launch           *l = (launch *)g;
    const axe_grid   *grid = &g->program->lowered->grid[number];
    const axe_kernel *k = g->program->plan->kernel;
    int               n_ptr = k->n_param + k->n_temp, n = 0;
    int               most = n_ptr + k->n_size + grid->n_host_loop + 1;
    axe_opencl_arg   *arg = axe_new_array(cx, axe_opencl_arg, most);
    void            **loop = axe_new_array(cx, void *, grid->n_host_loop + 1);
    double            seconds;

    for (; n < n_ptr; n++)
        if (l->buffer[n])
            arg[n].buffer = l->buffer[n];
        else
            arg[n] = (axe_opencl_arg){
                .value = g->bound.data[n],
                .bytes = (size_t)axe_type_bytes(k->param[n]->type, 1)};
    for (int i = 0; i < k->n_size; i++)
        arg[n++] = (axe_opencl_arg){.value = &g->bound.size[i], .bytes = 8};
    axe_grids_iterations(g, grid, loop);
    for (int i = 0; i < grid->n_host_loop; i++)
        arg[n++] = (axe_opencl_arg){.value = loop[i], .bytes = 8};
    arg[n++] = (axe_opencl_arg){.value = &g->values.cores, .bytes = 8};
    AXE_TRY(axe_opencl_launch(cx, l->code,
                              &(axe_opencl_grid){.kernel = grid->name,
                                                 .groups = blocks,
                                                 .items = grid->n_thread,
                                                 .n_arg = n,
                                                 .arg = arg},
                              &seconds));
    l->seconds += seconds;
    return AXE_OK;
}

static axe_status
make_temps(axe_ctx *cx, launch *l)
{
    const axe_kernel *k = l->e->program->plan->kernel;
    int64_t           bytes;

    for (int i = 0; i < k->n_temp; i++) {
        if (!axe_temp_bytes(&l->grids.values, k->temp[i], &bytes))
            return axe_fail(cx, k->temp[i]->at, AXE_EOVERFLOW,
                            "%s has more elements than int64 counts",
                            k->temp[i]->name);
        AXE_TRY(axe_opencl_alloc(cx, l->e->cl, (size_t)bytes,
                                 &l->buffer[k->n_param + i]));
    }
    return AXE_OK;
}

static axe_status
copy_in(axe_ctx *cx, launch *l)
{
    const axe_kernel *k = l->e->program->plan->kernel;

    for (int i = 0; i < k->n_param; i++) {
        size_t bytes = axe_grids_span(&l->grids, i);
        if (axe_is_scalar(k->param[i]))
            continue;
        AXE_TRY(axe_opencl_alloc(cx, l->e->cl, bytes, &l->buffer[i]));
        AXE_TRY(
            axe_opencl_put(cx, l->buffer[i], 0, l->grids.bound.data[i], bytes));
    }
    return AXE_OK;
}

static axe_status
copy_out(axe_ctx *cx, const launch *l)
{
    const axe_kernel *k = l->e->program->plan->kernel;

    for (int i = 0; i < k->n_param; i++)
        if (k->param[i]->dir != AXE_DIR_IN)
            AXE_TRY(axe_opencl_get(cx, l->buffer[i], 0, l->grids.bound.data[i],
                                   axe_grids_span(&l->grids, i)));
    return AXE_OK;
}

static void
drop(launch *l)
{
    const axe_kernel *k = l->e->program->plan->kernel;

    for (int i = 0; l->buffer && i < k->n_param + k->n_temp; i++)
        axe_opencl_release(l->buffer[i]);
}

/* The program's code; for sizes that its indices do not hold the same with wide
 * ones, built when first asked for. */
static axe_status
choose_code(axe_ctx *cx, launch *l)
{
    axe_opencl_exec   *e = l->e;
    const axe_lowered *lw = e->program->lowered;
    axe_buf            text = {.cx = cx};
    int                wide = !e->program->wide && axe_grids_wide(&l->grids);

    if (!e->code[wide]) {
        AXE_TRY(axe_print_opencl(cx, lw, true, &text));
        AXE_TRY(build(cx, e, text.text, &e->code[wide]));
    }
    l->code = e->code[wide];
    return AXE_OK;
}

/* The call with its buffers, filled; drop() it whatever happens. */
static axe_status
prepare(axe_ctx *cx, axe_opencl_exec *e, int n_array, const axe_array *array,
        int n_size, const axe_size *size, launch *l)
{
    const axe_kernel *k = e->program->plan->kernel;

    *l = (launch){.e = e};
    AXE_TRY(axe_grids_bind(cx, e->program, n_array, array, n_size, size,
                           axe_opencl_about(e->cl)->n_unit, &l->grids));
    l->grids.start = start_grid;
    l->grids.resident = resident;
    l->buffer =
        axe_new_array(cx, axe_opencl_buffer *, k->n_param + k->n_temp + 1);
    AXE_TRY(choose_code(cx, l));
    AXE_TRY(copy_in(cx, l));
    return make_temps(cx, l);
}

static axe_status
check_call(axe_ctx *cx, const axe_opencl_exec *e, int n_array,
           const axe_array *array, int n_size, const axe_size *size)
{
    AXE_NEED_TAG(cx, e, OPENCL_EXEC);
    AXE_TRY(axe_forks_check(cx, e->cl->forks));
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    return AXE_OK;
}

axe_status
axe_opencl_run(axe_ctx *cx, axe_opencl_exec *e, int n_array,
               const axe_array *array, int n_size, const axe_size *size,
               double *seconds)
{
    AXE_TRY(check_call(cx, e, n_array, array, n_size, size));
    launch     l;
    axe_status st = prepare(cx, e, n_array, array, n_size, size, &l);

    if (st == AXE_OK)
        st = axe_grids_start(cx, &l.grids);
    if (st == AXE_OK)
        st = copy_out(cx, &l);
    if (st == AXE_OK && seconds)
        *seconds = l.seconds;
    drop(&l);
    return st;
}

axe_status
axe_opencl_time(axe_ctx *cx, axe_opencl_exec *e, int n_array,
                const axe_array *array, int n_size, const axe_size *size, int n,
                double *seconds)
{
    enum { N_WARM = 2 };
    AXE_TRY(check_call(cx, e, n_array, array, n_size, size));
    AXE_NEED_ALL(cx, n, seconds);
    launch     l;
    axe_status st = prepare(cx, e, n_array, array, n_size, size, &l);

    for (int i = -N_WARM; i < n && st == AXE_OK; i++) {
        l.seconds = 0;
        st = axe_grids_start(cx, &l.grids);
        if (i >= 0)
            seconds[i] = l.seconds;
    }
    drop(&l);
    return st;
}
