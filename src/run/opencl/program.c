/* program.c - texts become programs: from the cache, or by the driver's
 * compiler.
 *
 * What the driver gives as a program's code is kept under the text, the
 * options, the device and the version of its driver; of a CPU, under what it
 * says of itself, too.  Code that the driver then refuses is made anew. */
#include <stdlib.h>
#include <string.h>

#include "run/opencl/opencl_int.h"

enum { MAX_NOTES = 8, MAX_NOTE = 400 };

/* What the compiler said, in cx. */
static const char *
log_of(axe_ctx *cx, const axe_opencl *cl, void *program)
{
    size_t n = 0;
    char  *text;

    if (cl->call->GetProgramBuildInfo(
            program, cl->device, AXE_CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != 0 ||
        n <= 1)
        return "";
    text = axe_alloc(cx, n + 1);
    return cl->call->GetProgramBuildInfo(program, cl->device,
                                         AXE_CL_PROGRAM_BUILD_LOG, n, text,
                                         NULL) == 0
               ? text
               : "";
}

static void
note_lines(axe_ctx *cx, const char *log)
{
    for (int i = 0; i < MAX_NOTES && *log;) {
        size_t n = strcspn(log, "\n");
        if (n > 0) {
            axe_note(
                cx, AXE_NOWHERE, "%s",
                axe_text_plain(cx, axe_textf(cx, "%.*s",
                                             (int)(n < MAX_NOTE ? n : MAX_NOTE),
                                             log)));
            i++;
        }
        log += n + (log[n] == '\n');
    }
}

/* Errors  ETOOL, EDEVICE; the program is given back then */
static axe_status
build(axe_ctx *cx, const axe_opencl *cl, void *program, const char *text,
      const char *options)
{
    const char *log;
    int         r =
        cl->call->BuildProgram(program, 1, &cl->device, options, NULL, NULL);

    if (r == 0)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
             "the compiler of %s (%s) refuses the text: %s (%d)",
             cl->facts.platform, cl->facts.driver, axe_cl_error_name(r), r);
    log = log_of(cx, cl, program);
    note_lines(cx, log);
    axe_cl_note_place(cx, text, log);
    cl->call->ReleaseProgram(program);
    return AXE_ETOOL;
}

static axe_status
from_text(axe_ctx *cx, const axe_opencl *cl, const char *text,
          const char *options, void **out)
{
    int   r = 0;
    void *program =
        cl->call->CreateProgramWithSource(cl->ctx, 1, &text, NULL, &r);

    AXE_TRY(axe_cl_check(cx, r, "taking a text of OpenCL C"));
    AXE_TRY(build(cx, cl, program, text, options));
    *out = program;
    return AXE_OK;
}

/* NULL: the driver refuses it. */
static void *
from_code(const axe_opencl *cl, axe_bytes code, const char *options)
{
    const unsigned char *data = code.data;
    int                  each = 0, r = 0;
    void                *program = cl->call->CreateProgramWithBinary(
                       cl->ctx, 1, &cl->device, &code.len, &data, &each, &r);

    if (r != 0 || !program)
        return NULL;
    if (each == 0 && cl->call->BuildProgram(program, 1, &cl->device, options,
                                            NULL, NULL) == 0)
        return program;
    cl->call->ReleaseProgram(program);
    return NULL;
}

/* The program's code, to be freed; data NULL: the driver gives none. */
static axe_bytes
code_of(const axe_opencl *cl, void *program)
{
    axe_bytes      b = {0};
    unsigned char *data;

    if (cl->call->GetProgramInfo(program, AXE_CL_PROGRAM_BINARY_SIZES,
                                 sizeof b.len, &b.len, NULL) != 0 ||
        b.len == 0)
        return (axe_bytes){0};
    b.data = data = malloc(b.len + 1);
    if (data && cl->call->GetProgramInfo(program, AXE_CL_PROGRAM_BINARIES,
                                         sizeof data, &data, NULL) == 0) {
        data[b.len] = 0;
        return b;
    }
    free(data);
    return (axe_bytes){0};
}

static axe_status
get_program(axe_ctx *cx, axe_opencl *cl, const char *text, const char *options,
            bool *cached, void **out)
{
    const axe_opencl_facts *f = &cl->facts;
    bool                    cpu = strcmp(f->kind, "cpu") == 0;
    const char             *what[] = {text,
                                      options,
                                      f->platform,
                                      f->name,
                                      f->version,
                                      f->driver,
                          cpu ? cl->cache.cpu : ""};
    axe_bytes               code = {0};
    bool                    found;

    *cached = false;
    pthread_mutex_lock(&cl->lock);
    found = axe_cache_find(cx, &cl->cache, AXE_CACHE_OPENCL, AXE_LEN(what),
                           what, &code);
    pthread_mutex_unlock(&cl->lock);
    if (found) {
        *out = from_code(cl, code, options);
        free(code.data);
        *cached = *out != NULL;
        if (*cached)
            return AXE_OK;
    }
    AXE_TRY(from_text(cx, cl, text, options, out));
    code = code_of(cl, *out);
    pthread_mutex_lock(&cl->lock);
    if (code.data)
        axe_cache_keep(cx, &cl->cache, AXE_CACHE_OPENCL, AXE_LEN(what), what,
                       text, code);
    pthread_mutex_unlock(&cl->lock);
    free(code.data);
    return AXE_OK;
}

axe_status
axe_opencl_build(axe_ctx *cx, axe_opencl *cl, const char *text,
                 const char *options, const char **log,
                 axe_opencl_program **out)
{
    AXE_TRY(axe_cl_device_check(cx, __func__, cl));
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    axe_opencl_program *p = calloc(1, sizeof *p);
    axe_status          st = AXE_EDEVICE;

    if (p)
        p->cx = axe_ctx_new();
    if (!p || !p->cx)
        axe_fail(cx, AXE_NOWHERE, st, "no memory for a program");
    else
        st = get_program(cx, cl, text, options ? options : "", &p->cached,
                         &p->program);
    if (st != AXE_OK) {
        axe_ctx_free(p ? p->cx : NULL);
        free(p);
        return st;
    }
    p->tag = AXE_TAG_OPENCL_PROGRAM;
    p->cl = cl;
    if (log)
        *log = p->cached ? "" : log_of(cx, cl, p->program);
    *out = p;
    return AXE_OK;
}

void
axe_opencl_program_free(axe_opencl_program *p)
{
    if (!p)
        return;
    if (p->cl->forks == axe_forks()) {
        for (axe_cl_kernel *k = p->kernel; k; k = k->next)
            p->cl->call->ReleaseKernel(k->kernel);
        p->cl->call->ReleaseProgram(p->program);
    }
    axe_tag_drop(&p->tag);
    axe_ctx_free(p->cx);
    free(p);
}

bool
axe_opencl_program_cached(const axe_opencl_program *p)
{
    return p && p->cached;
}
