/* dnnl.c - oneDNN 2 as a peer: primitives that run one after the other. */
#define _DEFAULT_SOURCE
#include "onednn.h"

#if HAS_ONEDNN

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct onednn onednn;

static bool
take(void *h, const char *name, void *to)
{
    void *f = dlsym(h, name);

    memcpy(to, &f, sizeof f);
    return f;
}

static bool
open_dnnl(axe_ctx *cx)
{
    void *h = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool  ok = h;

    (void)cx;
#define TAKE(f) ok = ok && take(h, "dnnl_" #f, &onednn.f);
    FUNCTIONS(TAKE)
    ok = ok && take(h, "omp_set_num_threads", &onednn.set_threads);
    return ok &&
           onednn.engine_create(&onednn.engine, dnnl_cpu, 0) == dnnl_success &&
           onednn.stream_create(&onednn.stream, onednn.engine,
                                dnnl_stream_default_flags) == dnnl_success;
}

/* ------------------------------------------------------------- primitives */

dnnl_data_type_t
onednn_type(const char *name)
{
    static const struct {
        const char      *name;
        dnnl_data_type_t type;
    } known[] = {{"f32", dnnl_f32},
                 {"bf16", dnnl_bf16},
                 {"i8", dnnl_s8},
                 {"u8", dnnl_u8},
                 {"i32", dnnl_s32}};

    for (int i = 0; i < AXE_LEN(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].type;
    return dnnl_data_type_undef;
}

view
onednn_view(int arg, const char *type, void *data, int rank,
            const int64_t *extent, const int64_t *stride)
{
    view v = {.arg = arg, .data = data};

    if (onednn.memory_desc_init_by_strides(
            &v.md, rank, extent, onednn_type(type), stride) != dnnl_success)
        v.data = NULL;
    return v;
}

view
onednn_matrix(int arg, const axe_array *a, int64_t m, int64_t n)
{
    return onednn_view(arg, a->type, a->data, 2, (int64_t[]){m, n},
                       (int64_t[]){n, 1});
}

view
onednn_vector(int arg, const axe_array *a, int64_t n)
{
    return onednn_view(arg, a->type, a->data, 1, (int64_t[]){n},
                       (int64_t[]){1});
}

bool
onednn_add_primitive(job *j, dnnl_primitive_desc_t pd, int n, const view *v)
{
    step *s = &j->step[j->n_step];
    bool  ok = onednn.primitive_create(&s->primitive, pd) == dnnl_success;

    onednn.primitive_desc_destroy(pd);
    for (int i = 0; ok && i < n; i++) {
        s->arg[i].arg = v[i].arg;
        ok = v[i].data &&
             onednn.memory_create(&s->arg[i].memory, &v[i].md, onednn.engine,
                                  v[i].data) == dnnl_success;
        s->n_arg += ok;
    }
    j->n_step += ok;
    return ok;
}

bool
onednn_add(job *j, const void *desc, const_dnnl_primitive_attr_t attr, int n,
           const view *v)
{
    dnnl_primitive_desc_t pd;

    return onednn.primitive_desc_create(&pd, desc, attr, onednn.engine, NULL) ==
               dnnl_success &&
           onednn_add_primitive(j, pd, n, v);
}

void
onednn_run(const job *j)
{
    for (int i = 0; i < j->n_step; i++)
        if (onednn.primitive_execute(j->step[i].primitive, onednn.stream,
                                     j->step[i].n_arg,
                                     j->step[i].arg) != dnnl_success)
            abort();
    onednn.stream_wait(onednn.stream);
}

void
onednn_clear(const job *j)
{
    for (int i = 0; i < MAX_STEP; i++) {
        for (int k = 0; k < j->step[i].n_arg; k++)
            onednn.memory_destroy(j->step[i].arg[k].memory);
        if (j->step[i].primitive)
            onednn.primitive_destroy(j->step[i].primitive);
    }
}

/* ------------------------------------------------------------------ as a peer
 */

static void
done(void *user)
{
    job *j = user;

    onednn_clear(j);
    free(j->scratch);
    free(j);
}

static void *
prepare(const problem *p)
{
    onednn_make *make = onednn_find(p->row->kernel);
    job         *j = make ? calloc(1, sizeof *j) : NULL;

    if (!j)
        return NULL;
    onednn.set_threads(p->n_thread);
    if (make(j, p))
        return j;
    done(j);
    return NULL;
}

static void
call(void *user)
{
    onednn_run(user);
}

const peer dnnl_peer = {.name = "onednn",
                        .open = open_dnnl,
                        .prepare = prepare,
                        .call = call,
                        .done = done};

#else

static bool
open_dnnl(axe_ctx *cx)
{
    (void)cx;
    return false;
}

const peer dnnl_peer = {.name = "onednn", .open = open_dnnl};

#endif
