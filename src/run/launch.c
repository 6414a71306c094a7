/* launch.c - loaded kernels and their launch.
 *
 * The shared object exports one function; each worker of the team calls it
 * once, with its number, and does its share of the outermost scope's tasks.
 * Workers share nothing but the arguments and the kernel's own global tensors;
 * each has a block of scratch. */
#define _DEFAULT_SOURCE

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lower/lower.h"
#include "plan/plan.h"
#include "run/array/values.h"
#include "run/array/weights.h"
#include "run/device.h"
#include "run/launch.h"
#include "run/pack.h"

enum { SCRATCH_ALIGN = 64, HUGE_BYTES = 2 << 20 };

static const char entry_name[] = "axe_entry";

/* ----------------------------------------------------------------- loading */

static bool
is_integer(axe_type t)
{
    return axe_type_table[t].cls == AXE_CLASS_INT ||
           axe_type_table[t].cls == AXE_CLASS_UINT;
}

/* Sums and products of integer values keep their low bits, which C promises
 * only when asked to.  Index arithmetic does not overflow, so kernels of floats
 * alone are spared the flag; it costs a matrix product 1 %. */
static const char *
extra_flag(const axe_program *p)
{
    for (int i = 0; i < p->kernel->n_param; i++)
        if (is_integer(p->kernel->param[i]->type))
            return "-fwrapv";
    for (int i = 0; i < p->plan->n_place; i++)
        if (p->plan->place[i].tensor && is_integer(p->plan->place[i].type))
            return "-fwrapv";
    return NULL;
}

/* The loaded object as a kernel to launch; NULL, and an error, if it is not
 * one.  Takes the handle in any case. */
static axe_exec *
make_exec(axe_ctx *cx, axe_device *d, const axe_program *p, void *handle,
          const axe_cache_item *item)
{
    void     *symbol = dlsym(handle, entry_name);
    axe_exec *e = malloc(sizeof *e);
    char     *path = strdup(item->path);

    if (!symbol || !e || !path) {
        dlclose(handle);
        free(e);
        free(path);
        axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                 symbol ? "no memory for a kernel"
                        : "the compiled kernel has no %s",
                 entry_name);
        return NULL;
    }
    *e = (axe_exec){.tag = AXE_TAG_EXEC,
                    .device = d,
                    .program = p,
                    .handle = {NULL, handle},
                    .path = path,
                    .cached = !item->fresh};
    memcpy(&e->entry[1], &symbol, sizeof symbol);
    return e;
}

/* Without a C compiler, kernels of the library's own; false if there is one, or
 * a kernel is not among them. */
static bool
use_pack(axe_ctx *cx, axe_device *d, int n, const axe_program *const *p,
         axe_exec **out)
{
    int done = 0;

    if (axe_device_has_cc(cx, d))
        return false;
    for (; done < n; done++) {
        const axe_pack_entry *e = axe_pack_find(p[done]->c_digest);
        axe_exec             *x = e ? malloc(sizeof *x) : NULL;
        if (!x)
            break;
        *x = (axe_exec){.tag = AXE_TAG_EXEC,
                        .device = d,
                        .program = p[done],
                        .entry = {e->entry, e->entry},
                        .path = strdup(e->name),
                        .cached = true};
        out[done] = x;
    }
    for (int i = 0; i < done && done < n; i++)
        axe_exec_free(out[i]);
    return done == n;
}

/* The programs' libraries.  Where the compiler refuses one, that may be because
 * this processor is another one than was planned for. */
static axe_status
load(axe_ctx *cx, axe_device *d, int n, const axe_program *const *p,
     axe_cache_item *item)
{
    axe_status st = axe_device_load_all(cx, d, n, item);

    for (int i = 0; i < n && st == AXE_ETOOL; i++)
        if (!axe_machine_runs_here(p[i]->plan->machine)) {
            axe_help(cx,
                     "%s has instructions that this processor lacks; the "
                     "machine 'cpu' is this processor",
                     p[i]->plan->machine->name);
            break;
        }
    return st;
}

/* What is compiled of the program, or of a side of its branch. */
static axe_cache_item
item_of(const axe_program *p, int side)
{
    bool apart = p->side_text[side] != NULL;

    return (axe_cache_item){.text = apart ? p->side_text[side] : p->c_text,
                            .digest =
                                apart ? p->side_digest[side] : p->c_digest,
                            .extra = extra_flag(p)};
}

static axe_status
check_program(axe_ctx *cx, const axe_program *p)
{
    AXE_TRY(axe_program_is_one(cx, p));
    if (!p->c_text)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "the program was not compiled as far as C");
    if (axe_language_of(p->plan->machine)->here)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "kernel %s was compiled for %s, which is not a CPU",
             p->kernel->name, p->plan->machine->name);
    axe_help(cx, "%s, axe_program_simulate (axe/sim.h) without one",
             axe_language_of(p->plan->machine)->runner);
    return AXE_EUNSUPPORTED;
}

axe_status
axe_exec_new_all(axe_ctx *cx, axe_device *d, int n, const axe_program *const *p,
                 axe_exec **out)
{
    AXE_TRY(axe_device_check(cx, __func__, d));
    AXE_NEED_ALL(cx, n, p);
    AXE_NEED(cx, out);
    axe_cache_item *item = axe_new_array(cx, axe_cache_item, n + 1);
    axe_exec      **made = axe_new_array(cx, axe_exec *, n + 1);
    bool            ok = true;

    for (int i = 0; i < n; i++) {
        AXE_NEED(cx, p[i]);
        AXE_TRY(check_program(cx, p[i]));
        item[i] = item_of(p[i], 1);
    }
    if (use_pack(cx, d, n, p, out))
        return AXE_OK;
    AXE_TRY(load(cx, d, n, p, item));
    for (int i = 0; i < n; i++) {
        made[i] = make_exec(cx, d, p[i], item[i].handle, &item[i]);
        ok = ok && made[i];
    }
    for (int i = 0; i < n && !ok; i++)
        axe_exec_free(made[i]);
    for (int i = 0; i < n && ok; i++)
        out[i] = made[i];
    return ok ? AXE_OK : AXE_EDEVICE;
}

axe_status
axe_exec_new(axe_ctx *cx, axe_device *d, const axe_program *p, axe_exec **out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    return axe_exec_new_all(cx, d, 1, &p, out);
}

void
axe_exec_free(axe_exec *e)
{
    for (int i = 0; e && i < 2; i++)
        if (e->handle[i])
            dlclose(e->handle[i]);
    if (e) {
        free(e->path);
        axe_tag_drop(&e->tag);
    }
    free(e);
}

const char *
axe_exec_path(const axe_exec *e)
{
    return e && e->path ? e->path : "";
}

bool
axe_exec_cached(const axe_exec *e)
{
    return e && e->cached;
}

/* ---------------------------------------------------------------- launching */

/* Large blocks begin at, and are advised to be of, huge pages: a packed panel
 * walks far more 4 KiB pages than the first-level TLB has. */
static axe_status
need_scratch(axe_ctx *cx, axe_device *d, int64_t wanted)
{
    int64_t n = axe_pool_size(d->pool), each, all;
    size_t  align;
    void   *block = NULL;

    if (wanted <= d->scratch_bytes)
        return AXE_OK;
    if (!axe_add(wanted, SCRATCH_ALIGN - 1, &each) ||
        !axe_mul(each / SCRATCH_ALIGN * SCRATCH_ALIGN, n, &all))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "scratch of %" PRId64 " bytes for each of %" PRId64
                        " threads does not fit int64",
                        wanted, n);
    align = all >= HUGE_BYTES ? HUGE_BYTES : SCRATCH_ALIGN;
    free(d->scratch);
    d->scratch = NULL;
    d->scratch_bytes = 0;
    if (posix_memalign(&block, align, (size_t)all) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for %" PRId64 " bytes of scratch", all);
    if (align == HUGE_BYTES)
        madvise(block, (size_t)all, MADV_HUGEPAGE);
    d->scratch = block;
    d->scratch_bytes = all / n;
    return AXE_OK;
}

static void
work(void *user, int worker)
{
    const axe_job    *j = user;
    const axe_device *d = j->exec->device;
    char             *scratch = d->scratch;

    if (scratch)
        scratch += worker * d->scratch_bytes;
    j->exec->entry[j->side](j->ptr, j->bound.size, worker,
                            axe_pool_size(d->pool), scratch,
                            axe_pool_team(d->pool));
}

axe_status
axe_job_side(axe_ctx *cx, axe_job *j)
{
    axe_exec          *e = j->exec;
    const axe_program *p = e->program;
    axe_values         in = {.kernel = p->plan->kernel,
                             .size = j->bound.size,
                             .cores = axe_pool_size(e->device->pool)};
    axe_cache_item     item;
    void              *symbol;
    int64_t            yes = 0;

    j->side = 1;
    if (p->side_text[0] &&
        axe_value_of(&in, axe_lowered_branch(p->lowered)->value, &yes) && yes)
        j->side = 0;
    if (e->entry[j->side])
        return AXE_OK;
    item = item_of(p, j->side);
    AXE_TRY(load(cx, e->device, 1, &p, &item));
    symbol = dlsym(item.handle, entry_name);
    e->handle[j->side] = item.handle;
    memcpy(&e->entry[j->side], &symbol, sizeof symbol);
    return symbol ? AXE_OK
                  : axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                             "the compiled kernel has no %s", entry_name);
}

axe_status
axe_job_prepare(axe_ctx *cx, axe_exec *e, int n_array, const axe_array *array,
                int n_size, const axe_size *size, axe_job *j)
{
    const axe_kernel *k = e->program->kernel;
    int               n_temp = e->program->plan->kernel->n_temp;

    j->exec = e;
    AXE_TRY(axe_bind(cx, k, n_array, array, n_size, size, true, &j->bound));
    AXE_TRY(axe_bound_check_reach(cx, e->program, &j->bound));
    AXE_TRY(axe_check_packing(cx, e->program, n_array, array));
    AXE_TRY(axe_job_side(cx, j));
    j->ptr = axe_new_array(cx, void *, k->n_param + n_temp + 1);
    for (int i = 0; i < k->n_param; i++)
        j->ptr[i] = j->bound.data[i];
    return AXE_OK;
}

axe_status
axe_job_start(axe_ctx *cx, axe_job *j)
{
    const axe_program *p = j->exec->program;
    const axe_kernel  *k = p->plan->kernel; /* with what a pass added */
    axe_device        *d = j->exec->device;

    AXE_TRY(axe_forks_check(cx, d->forks));
    if (k->n_temp > 0)
        AXE_TRY(axe_device_temps(cx, d, k, j->bound.size, j->ptr + k->n_param));
    AXE_TRY(need_scratch(cx, d, p->scratch_bytes));
    axe_pool_run(d->pool, work, j);
    return AXE_OK;
}

axe_status
axe_launch(axe_ctx *cx, axe_exec *e, int n_array, const axe_array *array,
           int n_size, const axe_size *size)
{
    AXE_NEED_TAG(cx, e, EXEC);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    axe_mark m = axe_ctx_mark(cx);
    axe_job  j;

    AXE_TRY(axe_job_prepare(cx, e, n_array, array, n_size, size, &j));
    AXE_TRY(axe_job_start(cx, &j));
    axe_ctx_release(cx, m);
    return AXE_OK;
}
