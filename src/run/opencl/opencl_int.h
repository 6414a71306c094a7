/* opencl_int.h - the insides of an OpenCL device. */
#ifndef AXE_RUN_OPENCL_OPENCL_INT_H
#define AXE_RUN_OPENCL_OPENCL_INT_H

#include <pthread.h>

#include "axe/opencl.h"
#include "run/array/handle.h"
#include "run/cache/cache.h"

typedef struct axe_cl_calls {
#define SYMBOL(name, type, args) type(*name) args;
#include "run/opencl/opencl.def"
} axe_cl_calls;

enum {
#define NUMBER(name, value) AXE_CL_##name = (int)(value),
#include "run/opencl/opencl.def"
};

struct axe_opencl {
    axe_tag             tag;
    unsigned            forks; /* before it: no context survives one */
    axe_ctx            *cx;    /* where its texts live */
    const axe_cl_calls *call;
    void               *device, *ctx, *queue;
    axe_opencl_facts    facts;
    /* Held while the cache is looked into, and from the first argument of a
     * kernel to its start: a kernel object takes one caller at a time. */
    pthread_mutex_t lock;
    axe_cache       cache;
};

struct axe_opencl_buffer {
    axe_tag     tag;
    axe_opencl *cl;
    void       *memory;
    size_t      bytes;
};

/* A kernel of a program that was asked for. */
typedef struct axe_cl_kernel axe_cl_kernel;
struct axe_cl_kernel {
    const char    *name;
    void          *kernel;
    unsigned       n_arg;
    int64_t        most_items, local_bytes; /* of a group */
    axe_cl_kernel *next;
};

struct axe_opencl_program {
    axe_tag        tag;
    axe_opencl    *cl;
    axe_ctx       *cx;
    void          *program;
    axe_cl_kernel *kernel;
    bool           cached;
};

/* load.c: the process's one copy of the library; it stays open.
 * Errors  EDEVICE: there is none */
AXE_CHECK axe_status axe_cl_load(axe_ctx *cx, const axe_cl_calls **out);
/* "CL_INVALID_VALUE"; never NULL. */
const char *axe_cl_error_name(int result);
/* AXE_OK for 0; else EDEVICE, "what: CL_NAME (number)", and what would do. */
AXE_CHECK axe_status axe_cl_check(axe_ctx *cx, int result, const char *what);

/* list.c: the handles beside the facts.
 * keep    where facts and handles live
 * device  [n]; may be NULL */
AXE_CHECK axe_status axe_cl_devices(axe_ctx *cx, axe_ctx *keep,
                                    const axe_cl_calls *call, int *n,
                                    axe_opencl_facts **facts, void ***device);

/* features.c: has the device what the word says, a feature or sgN? */
bool axe_cl_has(const axe_opencl_facts *f, const char *word);

/* place.c: notes of the line that a compiler's log complains of, and of
 * the kernel's statement that it comes from, as far as they tell. */
void axe_cl_note_place(axe_ctx *cx, const char *text, const char *log);

/* Is the argument cl of fn a device of this process?  EARG, EDEVICE */
AXE_CHECK axe_status axe_cl_device_check(axe_ctx *cx, const char *fn,
                                         const axe_opencl *cl);

#endif
