/* exec.c - a program's code on a GPU, and its launch.
 *
 * A grid's kernel takes, in this order: the grid's tensor maps by value, the
 * address of each of the kernel's parameters and of its own tensors, its sizes
 * as 64-bit integers, and likewise the iterations of the loops around it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "plan/plan.h"
#include "print/cuda/cuda.h"
#include "run/gpu/gpu_int.h"
#include "run/grids.h"
#include "run/program.h"

typedef struct loaded {
    void *function;
    int   n_resident; /* CTAs on the whole GPU at once */
} loaded;

/* The program's code, or the same with wide indices. */
typedef struct variant {
    void   *module; /* NULL: not loaded so far */
    loaded *grid;
} variant;

struct axe_gpu_exec {
    axe_tag            tag;
    axe_gpu           *gpu;
    const axe_program *program;
    variant            code[2]; /* as the program says, with wide indices */
    bool               cached;
    axe_gpu_made      *made;   /* the maps of the grids, one after the other */
    loaded             grid[]; /* of both */
};

/* ----------------------------------------------------------------- loading */

static axe_status
load_grid(axe_ctx *cx, axe_gpu_exec *e, void *module, const axe_grid *grid,
          loaded *out)
{
    const axe_cuda *cu = e->gpu->cuda;
    int r = cu->ModuleGetFunction(&out->function, module, grid->name), n = 0;

    if (r == 0)
        r = cu->FuncSetAttribute(out->function, AXE_CUDA_FUNC_MAX_SHARED,
                                 (int)grid->shared_bytes);
    if (r == 0)
        r = cu->OccupancyMaxActiveBlocksPerMultiprocessor(
            &n, out->function, grid->n_thread, (size_t)grid->shared_bytes);
    AXE_TRY(axe_cuda_check(cx, cu, r,
                           axe_textf(cx, "loading kernel %s", grid->name)));
    if (n < 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "kernel %s does not fit on %s: %d threads, %" PRId64
                        " bytes of shared memory",
                        grid->name, e->gpu->name, grid->n_thread,
                        grid->shared_bytes);
    out->n_resident = axe_gpu_count_resident(e->gpu, grid, out->function, n);
    return AXE_OK;
}

static axe_status
load(axe_ctx *cx, axe_gpu_exec *e, const axe_program *p, variant *v,
     bool *cached)
{
    const axe_lowered *l = e->program->lowered;
    axe_bytes          code;
    axe_status         st;
    int                r;

    AXE_TRY(axe_gpu_get_code(cx, &e->gpu->cache, p, cached, &code));
    st = axe_gpu_push(cx, e->gpu);
    if (st != AXE_OK) {
        free(code.data);
        return st;
    }
    r = e->gpu->cuda->ModuleLoadData(&v->module, code.data);
    free(code.data);
    st = axe_cuda_check(cx, e->gpu->cuda, r, "loading the code");
    for (int i = 0; i < l->n_grid && st == AXE_OK; i++)
        st = load_grid(cx, e, v->module, &l->grid[i], &v->grid[i]);
    if (st != AXE_OK && v->module) {
        e->gpu->cuda->ModuleUnload(v->module);
        v->module = NULL;
    }
    axe_gpu_pop(e->gpu);
    return st;
}

static bool
runs(const axe_gpu *g, const axe_machine *mc)
{
    const char *arch = mc->arch;
    size_t      n = strlen(arch);

    if (strcmp(arch, g->machine->arch) == 0)
        return true;
    return arch[n - 1] != 'a' &&
           strtol(arch + 3, NULL, 10) <= g->major * 10 + g->minor;
}

axe_status
axe_gpu_exec_new(axe_ctx *cx, axe_gpu *g, const axe_program *p,
                 axe_gpu_exec **out)
{
    AXE_TRY(axe_gpu_check(cx, __func__, g));
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    axe_gpu_exec *e;
    axe_status    st;

    AXE_TRY(axe_gpu_check_program(cx, p));
    if (!runs(g, p->plan->machine)) {
        st = axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                      "kernel %s is for %s, but %s is %s", p->kernel->name,
                      p->plan->machine->name, g->name, g->machine->name);
        axe_help(cx, "compile it with --target %s", g->machine->name);
        return st;
    }
    int n = p->lowered->n_grid;
    e = calloc(1, sizeof *e + 2 * (size_t)n * sizeof e->grid[0]);
    if (e)
        e->made =
            calloc((size_t)axe_gpu_n_maps(p->lowered, n) + 1, sizeof *e->made);
    if (!e || !e->made) {
        free(e);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a kernel");
    }
    e->tag = AXE_TAG_GPU_EXEC;
    e->gpu = g;
    e->program = p;
    e->code[0].grid = e->grid;
    e->code[1].grid = e->grid + n;
    st = load(cx, e, p, &e->code[0], &e->cached);
    if (st == AXE_OK)
        *out = e;
    else
        axe_gpu_exec_free(e);
    return st;
}

void
axe_gpu_exec_free(axe_gpu_exec *e)
{
    if (!e)
        return;
    for (int i = 0; i < AXE_LEN(e->code); i++)
        if (e->code[i].module && axe_gpu_goes_on(e->gpu) &&
            e->gpu->cuda->CtxPushCurrent_v2(e->gpu->ctx) == 0) {
            e->gpu->cuda->ModuleUnload(e->code[i].module);
            axe_gpu_pop(e->gpu);
        }
    axe_tag_drop(&e->tag);
    free(e->made);
    free(e);
}

bool
axe_gpu_exec_cached(const axe_gpu_exec *e)
{
    return e && e->cached;
}

int
axe_gpu_exec_resident(const axe_gpu_exec *e)
{
    int most = e->program->lowered->n_grid > 0 ? e->grid[0].n_resident : 1;

    for (int i = 1; i < e->program->lowered->n_grid; i++)
        most = e->grid[i].n_resident < most ? e->grid[i].n_resident : most;
    return most;
}

/* ---------------------------------------------------------------- launching */

/* The grids come first: what starts one gets back to the launch. */
typedef struct launch {
    axe_grids      grids;
    axe_gpu_exec  *e;
    const variant *code;
    void         **ptr; /* parameters, then the kernel's own tensors */
    void          *stream;
    bool           behind; /* a kernel of this call is the last thing that was
                              put into the stream */
} launch;

/* The kernel's own tensors are the launch's own: they come and go in the order
 * of its stream, so launches in flight on other streams have others. */
static axe_status
make_temps(axe_ctx *cx, launch *l, uint64_t *block)
{
    const axe_cuda   *cu = l->e->gpu->cuda;
    const axe_kernel *k = l->e->program->plan->kernel;
    int64_t          *at = axe_new_array(cx, int64_t, k->n_temp + 1), all;

    AXE_TRY(axe_grids_temps(cx, &l->grids, at, &all));
    if (k->n_temp == 0)
        return AXE_OK;
    AXE_TRY(axe_cuda_check(
        cx, cu, cu->MemAllocAsync(block, all > 0 ? (size_t)all : 1, l->stream),
        axe_textf(cx, "%" PRId64 " bytes of the kernel's own tensors", all)));
    for (int i = 0; i < k->n_temp; i++)
        l->ptr[k->n_param + i] = (char *)(uintptr_t)*block + at[i];
    return AXE_OK;
}

static void *
address_of(const launch *l, const axe_tensor *t)
{
    const axe_kernel *k = l->e->program->plan->kernel;

    for (int i = 0; i < k->n_param; i++)
        if (k->param[i] == t)
            return l->ptr[i];
    for (int i = 0; i < k->n_temp; i++)
        if (k->temp[i] == t)
            return l->ptr[k->n_param + i];
    return NULL;
}

static axe_status
check_begins(axe_ctx *cx, const launch *l, const axe_grid *grid)
{
    for (int i = 0; i < grid->n_begin; i++) {
        const axe_begin *b = &grid->begin[i];
        if ((uintptr_t)address_of(l, b->tensor) % (unsigned)b->bytes == 0 ||
            !axe_grids_holds(&l->grids, b->when))
            continue;
        axe_fail(cx, b->tensor->at, AXE_EARG,
                 "%s: its data begins at no multiple of %d bytes, and kernel "
                 "%s accesses %d at a time%s%s",
                 b->tensor->name, b->bytes, grid->name, b->bytes,
                 b->when ? " where " : "",
                 b->when ? axe_node_text(cx, b->when) : "");
        axe_help(cx, "copy it to where it begins at one");
        return AXE_EARG;
    }
    return AXE_OK;
}

/* Those of the launch before are in l->e->made.  Maps lie on 128 bytes, as the
 * argument's copy must. */
static axe_status
make_maps(axe_ctx *cx, const launch *l, const axe_grid *grid, void **arg)
{
    size_t             bytes = (size_t)grid->n_map * AXE_CUDA_MAP_BYTES;
    unsigned char     *room = axe_alloc(cx, bytes + AXE_CUDA_MAP_ALIGN);
    const axe_lowered *lw = l->e->program->lowered;
    axe_gpu_made      *made =
        l->e->made + axe_gpu_n_maps(lw, (int)(grid - lw->grid));

    room += AXE_CUDA_MAP_ALIGN - 1 -
            ((uintptr_t)room + AXE_CUDA_MAP_ALIGN - 1) % AXE_CUDA_MAP_ALIGN;
    for (int i = 0; i < grid->n_map; i++) {
        unsigned char *m = room + (size_t)i * AXE_CUDA_MAP_BYTES;
        arg[i] = m;
        if (!axe_grids_holds(&l->grids, grid->map[i].when))
            continue;
        AXE_TRY(axe_gpu_map(cx, l->e->gpu, &grid->map[i], &l->grids.values,
                            address_of(l, grid->map[i].tensor), &made[i], m));
    }
    return AXE_OK;
}

static int64_t
resident(const axe_grids *g, int i)
{
    return ((const launch *)g)->code->grid[i].n_resident;
}

static axe_status
start_grid(axe_ctx *cx, axe_grids *grids, int number, int64_t blocks)
{
    launch           *l = (launch *)grids;
    const axe_grid   *grid = &l->e->program->lowered->grid[number];
    const axe_kernel *k = l->e->program->plan->kernel;
    int               n_ptr = k->n_param + k->n_temp, n = grid->n_map;
    int               n_arg = n + n_ptr + k->n_size + grid->n_host_loop + 2;
    void            **arg = axe_new_array(cx, void *, n_arg);
    axe_gpu          *g = l->e->gpu;
    const void       *had = g->nothing;
    int               r;

    AXE_TRY(check_begins(cx, l, grid));
    AXE_TRY(make_maps(cx, l, grid, arg));
    l->behind = l->behind && g->nothing == had; /* else it was filled */
    for (int i = 0; i < n_ptr; i++)
        arg[n++] = i < k->n_param && axe_is_scalar(k->param[i])
                       ? grids->bound.data[i]
                       : &l->ptr[i];
    for (int i = 0; i < k->n_size; i++)
        arg[n++] = &grids->bound.size[i];
    axe_grids_iterations(grids, grid, &arg[n]);
    n += grid->n_host_loop;
    arg[n++] = (void *)&grids->values.cores;
    r = axe_gpu_start(g->cuda, grid, l->code->grid[number].function,
                      (unsigned)blocks, l->stream, arg, l->behind);
    l->behind = true;
    return axe_cuda_check(cx, g->cuda, r,
                          axe_textf(cx, "launching kernel %s", grid->name));
}

static axe_status
start(axe_ctx *cx, launch *l, void *stream)
{
    axe_gpu_exec *e = l->e;
    axe_status    st;
    uint64_t      block = 0;

    l->behind = false;
    l->stream = stream;
    AXE_TRY(axe_gpu_push(cx, e->gpu));
    st = make_temps(cx, l, &block);
    if (st == AXE_OK)
        st = axe_grids_start(cx, &l->grids);
    if (block)
        e->gpu->cuda->MemFreeAsync(block, stream);
    axe_gpu_pop(e->gpu);
    return st;
}

/* The program's code; for sizes that its indices do not hold the same with wide
 * ones, compiled when first asked for. */
static axe_status
choose_code(axe_ctx *cx, axe_gpu_exec *e, const axe_grids *g,
            const variant **out)
{
    axe_program p = *e->program;
    axe_buf     text = {.cx = cx};
    int         wide = !p.wide && axe_grids_wide(g);
    bool        cached;

    if (!e->code[wide].module) {
        AXE_TRY(axe_print_cuda(cx, p.lowered, true, &text));
        p.c_text = text.text;
        p.wide = true;
        AXE_TRY(load(cx, e, &p, &e->code[wide], &cached));
    }
    *out = &e->code[wide];
    return AXE_OK;
}

static axe_status
prepare(axe_ctx *cx, axe_gpu_exec *e, int n_array, const axe_array *array,
        int n_size, const axe_size *size, launch *l)
{
    const axe_kernel *k = e->program->plan->kernel;

    *l = (launch){.e = e};
    AXE_TRY(axe_grids_bind(cx, e->program, n_array, array, n_size, size,
                           e->gpu->n_sm, &l->grids));
    l->grids.start = start_grid;
    l->grids.resident = resident;
    AXE_TRY(choose_code(cx, e, &l->grids, &l->code));
    l->ptr = axe_new_array(cx, void *, k->n_param + k->n_temp + 1);
    for (int i = 0; i < k->n_param; i++)
        l->ptr[i] = l->grids.bound.data[i];
    return AXE_OK;
}

axe_status
axe_gpu_launch(axe_ctx *cx, axe_gpu_exec *e, int n_array,
               const axe_array *array, int n_size, const axe_size *size,
               void *stream)
{
    AXE_NEED_TAG(cx, e, GPU_EXEC);
    AXE_TRY(axe_forks_check(cx, e->gpu->forks));
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    axe_mark m = axe_ctx_mark(cx);
    launch   l;

    AXE_TRY(prepare(cx, e, n_array, array, n_size, size, &l));
    AXE_TRY(start(cx, &l, stream));
    axe_ctx_release(cx, m);
    return AXE_OK;
}

static axe_status
time_once(axe_ctx *cx, launch *l, void *const event[2], double *seconds)
{
    const axe_cuda *cu = l->e->gpu->cuda;
    float           ms = 0;
    int             r = cu->EventRecord(event[0], NULL);

    AXE_TRY(axe_cuda_check(cx, cu, r, "timing"));
    AXE_TRY(start(cx, l, NULL));
    r = cu->EventRecord(event[1], NULL);
    if (r == 0)
        r = cu->EventSynchronize(event[1]);
    if (r == 0)
        r = cu->EventElapsedTime(&ms, event[0], event[1]);
    *seconds = ms * 1e-3;
    return axe_cuda_check(cx, cu, r, "timing");
}

axe_status
axe_gpu_time(axe_ctx *cx, axe_gpu_exec *e, int n_array, const axe_array *array,
             int n_size, const axe_size *size, int n, double *seconds)
{
    AXE_NEED_TAG(cx, e, GPU_EXEC);
    AXE_TRY(axe_forks_check(cx, e->gpu->forks));
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED_ALL(cx, n, seconds);
    enum { N_WARM = 2 };
    const axe_cuda *cu = e->gpu->cuda;
    void           *event[2] = {NULL, NULL};
    double          warm;
    axe_status      st;
    launch          l;
    int             r;

    AXE_TRY(prepare(cx, e, n_array, array, n_size, size, &l));
    AXE_TRY(axe_gpu_push(cx, e->gpu));
    r = cu->EventCreate(&event[0], 0);
    if (r == 0)
        r = cu->EventCreate(&event[1], 0);
    st = axe_cuda_check(cx, cu, r, "timing");
    for (int i = -N_WARM; i < n && st == AXE_OK; i++)
        st = time_once(cx, &l, event, i < 0 ? &warm : &seconds[i]);
    for (int i = 0; i < 2; i++)
        if (event[i])
            cu->EventDestroy_v2(event[i]);
    axe_gpu_pop(e->gpu);
    return st;
}

/* -------------------------------------------------------- the host's arrays */

static axe_status
copy_in(axe_ctx *cx, launch *l)
{
    const axe_kernel *k = l->e->program->plan->kernel;

    for (int i = 0; i < k->n_param; i++)
        l->ptr[i] = NULL;
    for (int i = 0; i < k->n_param; i++) {
        if (axe_is_scalar(k->param[i]))
            continue;
        AXE_TRY(axe_gpu_alloc(cx, l->e->gpu, axe_grids_span(&l->grids, i),
                              &l->ptr[i]));
        AXE_TRY(axe_gpu_put(cx, l->e->gpu, l->ptr[i], l->grids.bound.data[i],
                            axe_grids_span(&l->grids, i)));
    }
    return AXE_OK;
}

static axe_status
copy_out(axe_ctx *cx, launch *l)
{
    const axe_kernel *k = l->e->program->plan->kernel;

    for (int i = 0; i < k->n_param; i++)
        if (k->param[i]->dir != AXE_DIR_IN)
            AXE_TRY(axe_gpu_get(cx, l->e->gpu, l->grids.bound.data[i],
                                l->ptr[i], axe_grids_span(&l->grids, i)));
    return AXE_OK;
}

axe_status
axe_gpu_run(axe_ctx *cx, axe_gpu_exec *e, int n_array, const axe_array *array,
            int n_size, const axe_size *size)
{
    AXE_NEED_TAG(cx, e, GPU_EXEC);
    AXE_TRY(axe_forks_check(cx, e->gpu->forks));
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    launch     l;
    axe_status st;

    AXE_TRY(prepare(cx, e, n_array, array, n_size, size, &l));
    st = copy_in(cx, &l);
    if (st == AXE_OK)
        st = start(cx, &l, NULL);
    if (st == AXE_OK)
        st = axe_gpu_wait(cx, e->gpu, NULL);
    if (st == AXE_OK)
        st = copy_out(cx, &l);
    for (int i = 0; i < e->program->plan->kernel->n_param; i++)
        axe_gpu_release(e->gpu, l.ptr[i]);
    return st;
}
