/* code.c - machine code of programs for GPUs: from the cache, from NVRTC,
 * and made beforehand for many programs side by side.
 *
 * An entry depends on the text, the architecture and the compiler.  What is
 * prepared is for another machine, whose NVRTC is another one or missing; it is
 * kept as from any compiler, and taken where the own one has left nothing. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ctx.h"
#include "plan/plan.h"
#include "run/gpu/gpu_int.h"
#include "run/gpu/nvrtc.h"
#include "run/program.h"

static const char any_compiler[] = "any compiler";

axe_status
axe_gpu_check_program(axe_ctx *cx, const axe_program *p)
{
    if (!p->c_text)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "kernel %s was not compiled so far", p->kernel->name);
    if (axe_program_on_gpu(p))
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "kernel %s was compiled for %s, which is not a GPU",
             p->kernel->name, p->plan->machine->name);
    return AXE_EUNSUPPORTED;
}

static bool
find(axe_ctx *cx, axe_cache *c, const axe_program *p, const char *compiler,
     axe_bytes *out)
{
    const char *what[] = {p->c_text, p->plan->machine->arch, compiler};

    return axe_cache_find(cx, c, AXE_CACHE_CUDA, AXE_LEN(what), what, out);
}

static void
keep(axe_ctx *cx, axe_cache *c, const axe_program *p, const char *compiler,
     axe_bytes code)
{
    const char *what[] = {p->c_text, p->plan->machine->arch, compiler};

    axe_cache_keep(cx, c, AXE_CACHE_CUDA, AXE_LEN(what), what, p->c_text, code);
}

axe_status
axe_gpu_get_code(axe_ctx *cx, axe_cache *c, const axe_program *p, bool *cached,
                 axe_bytes *out)
{
    axe_mark    m = axe_ctx_mark(cx);
    const char *id;
    axe_status  st = axe_nvrtc_id(cx, &id);

    *cached = (st == AXE_OK && find(cx, c, p, id, out)) ||
              find(cx, c, p, any_compiler, out);
    if (*cached) {
        axe_ctx_release(cx, m);
        return AXE_OK;
    }
    AXE_TRY(st);
    AXE_TRY(
        axe_nvrtc_compile(cx, p->c_text, p->plan->machine->arch, NULL, out));
    keep(cx, c, p, id, *out);
    return AXE_OK;
}

axe_status
axe_gpu_code(axe_ctx *cx, const axe_program *p, const char **log, void **code,
             size_t *bytes)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, code);
    AXE_NEED(cx, bytes);
    axe_bytes b;

    AXE_TRY(axe_gpu_check_program(cx, p));
    AXE_TRY(axe_nvrtc_compile(cx, p->c_text, p->plan->machine->arch, log, &b));
    *code = b.data;
    *bytes = b.len;
    return AXE_OK;
}

/* --------------------------------------------------------------- beforehand */

enum { MAX_WORKER = 64 };

/* Workers take the next program; what one says is in a context of its own. */
typedef struct shop {
    const axe_gpu_prepare_spec *spec;
    int                         n;
    const axe_program *const   *program;
    pthread_mutex_t             lock; /* of all below */
    int                         next, n_done;
    axe_gpu_prepared            out;
    axe_status                  first; /* trouble */
    char                        said[512];
} shop;

static axe_status
make_one(axe_ctx *cx, axe_cache *c, const axe_program *p, bool *fresh)
{
    axe_bytes code;

    AXE_TRY(axe_gpu_check_program(cx, p));
    *fresh = !find(cx, c, p, any_compiler, &code);
    if (*fresh) {
        AXE_TRY(axe_nvrtc_compile(cx, p->c_text, p->plan->machine->arch, NULL,
                                  &code));
        keep(cx, c, p, any_compiler, code);
    }
    free(code.data);
    return AXE_OK;
}

static int
take_next(shop *s)
{
    int i;

    pthread_mutex_lock(&s->lock);
    i = s->next < s->n && !(s->spec->stop && s->spec->stop(s->spec->user))
            ? s->next++
            : -1;
    pthread_mutex_unlock(&s->lock);
    return i;
}

static void
note(shop *s, axe_ctx *cx, axe_status st, bool fresh)
{
    pthread_mutex_lock(&s->lock);
    s->n_done++;
    s->out.n_ready += st == AXE_OK;
    s->out.n_fresh += st == AXE_OK && fresh;
    if (st != AXE_OK && s->first == AXE_OK) {
        s->first = st;
        snprintf(s->said, sizeof s->said, "%s", axe_last_error(cx));
    }
    if (s->spec->progress)
        s->spec->progress(s->spec->user, s->n_done, s->n);
    pthread_mutex_unlock(&s->lock);
}

static void *
work(void *arg)
{
    shop     *s = arg;
    axe_ctx  *cx = axe_ctx_new();
    axe_cache cache;

    if (!cx)
        return NULL;
    axe_cache_open(cx, cx, s->spec->cache, &cache);
    for (int i = take_next(s); i >= 0; i = take_next(s)) {
        bool       fresh = false;
        axe_status st = make_one(cx, &cache, s->program[i], &fresh);
        note(s, cx, st, fresh);
    }
    axe_cache_close(&cache);
    axe_ctx_free(cx);
    return NULL;
}

static int
n_worker(int n)
{
    long all = sysconf(_SC_NPROCESSORS_ONLN);

    all = all < 1 ? 1 : all > MAX_WORKER ? MAX_WORKER : all;
    return n < all ? n : (int)all;
}

axe_status
axe_gpu_prepare(axe_ctx *cx, const axe_gpu_prepare_spec *spec, int n,
                const axe_program *const *program, axe_gpu_prepared *out)
{
    AXE_NEED(cx, spec);
    AXE_NEED_ALL(cx, n, program);
    AXE_NEED(cx, out);
    shop      s = {.spec = spec, .n = n, .program = program};
    pthread_t thread[MAX_WORKER];
    int       started = 0;

    if (!axe_cache_choose(cx, spec->cache))
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "there is no directory to keep code in: give a cache");
    pthread_mutex_init(&s.lock, NULL);
    while (started < n_worker(n) - 1 &&
           pthread_create(&thread[started], NULL, work, &s) == 0)
        started++;
    work(&s);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&s.lock);
    if (s.next < n && !(spec->stop && spec->stop(spec->user)))
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory to compile kernels");
    *out = s.out;
    if (s.out.n_ready > 0 || s.first == AXE_OK)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, s.first, "%s", s.said);
}
