/* problem.c - a row of the table made ready: the kernel compiled for its
 * arguments, arrays of random numbers, and axe as the first of the peers. */
#define _DEFAULT_SOURCE

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ir/number.h"
#include "run/array/file.h"
#include "run/count.h"
#include "run/program.h"
#include "table.h"

enum { HUGE_BYTES = 2 << 20, APART = 320, PERIOD = 65521 };

/* Splits "A=1 B=2" at blanks and signs; returns how many pairs. */
static int
split(axe_ctx *cx, const char *text, const char **name, const char **value)
{
    char *s = (char *)axe_textf(cx, "%s", text);
    int   n = 0;

    for (s = strtok(s, " ="); s && n < MAX_SIZE; s = strtok(NULL, " =")) {
        name[n] = s;
        value[n++] = strtok(NULL, " =");
    }
    return n;
}

static axe_status
compile(problem *p)
{
    const char *path =
        axe_textf(p->cx, AXE_SOURCE_DIR "/kernels/%s.axe", p->row->file);
    const char *name[MAX_SIZE], *value[MAX_SIZE];
    int         n = split(p->cx, p->row->set, name, value);
    int         packed = n > 0 && strcmp(value[n - 1], "packed") == 0;
    axe_bytes   text;
    int32_t     source;

    AXE_TRY(axe_file_read(p->cx, path, &text));
    source = axe_source_add(p->cx, path, (const char *)text.data, text.len);
    free(text.data);
    return axe_compile(p->cx, source,
                       &(axe_compile_spec){.kernel = p->row->kernel,
                                           .n_set = n - packed,
                                           .set_name = name,
                                           .set_value = value,
                                           .n_order = packed,
                                           .order_name = name + n - packed,
                                           .order = value + n - packed},
                       AXE_STAGE_C, &p->program);
}

/* Pages as large as the system has, so that no peer pays for small ones; not
 * all beginning in one set of the caches. */
static void *
new_block(problem *p, int slot, size_t bytes)
{
    size_t all =
        (bytes + APART * MAX_ARRAY + HUGE_BYTES) / HUGE_BYTES * HUGE_BYTES;

    p->block[slot] = aligned_alloc(HUGE_BYTES, all);
    if (!p->block[slot])
        return NULL;
    madvise(p->block[slot], all, MADV_HUGEPAGE);
    memset(p->block[slot], 0, all);
    return (char *)p->block[slot] + (size_t)slot * APART;
}

/* Real numbers in [-1, 1), integers in [-8, 8) or [0, 16). */
static void
fill(axe_type t, char *at, size_t n, uint64_t state)
{
    size_t bytes = (size_t)axe_type_table[t].bits / 8;

    for (size_t i = 0; i < n && i < PERIOD; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        if (axe_type_is_float(t))
            axe_number_put(t, at + i * bytes,
                           (double)(state >> 11) * 0x1p-52 - 1);
        else
            axe_number_put_int(
                t, at + i * bytes,
                (int64_t)(state >> 60) -
                    (axe_type_table[t].cls == AXE_CLASS_INT ? 8 : 0));
    }
    for (size_t done = PERIOD; done < n; done += PERIOD)
        memcpy(at + done * bytes, at,
               (n - done < PERIOD ? n - done : PERIOD) * bytes);
}

static axe_status
make_array(problem *p, int i, axe_shape shape)
{
    axe_param param = axe_program_param(p->program, i);
    axe_type  t = AXE_TYPE_f32;
    size_t    n = 1;
    bool      written = param.access & AXE_WRITES;

    (void)axe_type_find(param.type, &t);
    for (int d = 0; d < shape.n; d++)
        n *= (size_t)shape.extent[d];
    size_t bytes = n * (size_t)axe_type_table[t].bits / 8;
    void  *data = new_block(p, 2 * i, bytes);
    void  *other = written ? new_block(p, 2 * i + 1, bytes) : data;
    if (!data || !other)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for %s of %s", param.name, p->row->kernel);
    if (param.access & AXE_READS)
        fill(t, data, n, (uint64_t)i + 1);
    if (written)
        memcpy(other, data, bytes);
    p->array[i] = (axe_array){.name = param.name,
                              .type = param.type,
                              .rank = shape.n,
                              .shape = shape.extent,
                              .data = data};
    p->peer[i] = p->array[i];
    p->peer[i].data = other;
    p->bytes += (double)bytes * (param.access == AXE_UPDATES ? 2 : 1);
    p->written += written ? (double)bytes : 0;
    return AXE_OK;
}

/* A matrix that the program takes packed; peers see it as it was. */
static axe_status
pack(problem *p, int i)
{
    axe_packed packed;
    axe_array *a = &p->array[i];
    void      *to;

    if (!p->program->kernel->param[i]->packed)
        return AXE_OK;
    AXE_TRY(axe_packed_of(p->cx, p->program, a->name, a->shape, &packed));
    to = new_block(p, 2 * i + 1, packed.bytes);
    if (!to)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EDEVICE,
                        "no memory for %s of %s", a->name, p->row->kernel);
    AXE_TRY(axe_matrix_pack(p->cx, p->program, a, to));
    int64_t *stride = axe_new_array(p->cx, int64_t, 2);
    memcpy(stride, packed.stride, sizeof packed.stride);
    a->data = to;
    a->stride = stride;
    a->type = packed.type;
    return AXE_OK;
}

static void
count(problem *p)
{
    int64_t size[MAX_SIZE] = {0};

    for (int i = 0; i < axe_program_n_size(p->program) && i < MAX_SIZE; i++)
        size[i] = problem_size(p, axe_program_size(p->program, i));
    p->flops = axe_count_flops(p->program->kernel, size);
}

/* Row operators have products in their sums, too, but are bound by memory. */
static void
judge(problem *p)
{
    if (p->flops < 2 * p->bytes)
        p->flops = 0;
}

axe_status
problem_new(axe_ctx *cx, const row *r, int n_thread, problem *out)
{
    const char *name[MAX_SIZE], *value[MAX_SIZE];
    axe_shape  *shape;

    *out = (problem){.row = r, .n_thread = n_thread, .cx = cx};
    AXE_TRY(compile(out));
    out->n_size = split(cx, r->sizes, name, value);
    for (int i = 0; i < out->n_size; i++)
        out->size[i] =
            (axe_size){name[i], strtoll(value[i] ? value[i] : "", NULL, 10)};
    out->n_array = axe_program_n_param(out->program);
    if (out->n_array > MAX_ARRAY)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s has more than %d arrays", r->kernel, MAX_ARRAY);
    shape = axe_new_array(cx, axe_shape, out->n_array);
    AXE_TRY(axe_program_shapes(cx, out->program, 0, NULL, out->n_size,
                               out->size, shape));
    for (int i = 0; i < out->n_array; i++) {
        AXE_TRY(make_array(out, i, shape[i]));
        AXE_TRY(pack(out, i));
    }
    count(out);
    judge(out);
    AXE_TRY(axe_device_new(cx, &(axe_device_spec){.n_thread = n_thread},
                           &out->device));
    AXE_TRY(axe_exec_new(cx, out->device, out->program, &out->exec));
    return axe_call_new(cx, out->exec, out->n_array, out->array, out->n_size,
                        out->size, &out->call);
}

void
problem_free(problem *p)
{
    axe_call_free(p->call);
    axe_exec_free(p->exec);
    axe_device_free(p->device);
    for (int i = 0; i < 2 * MAX_ARRAY; i++)
        free(p->block[i]);
}

/* What a launch leaves in the context is of no use afterwards. */
axe_status
problem_launch(problem *p)
{
    axe_mark   m = axe_ctx_mark(p->cx);
    axe_status st = axe_call_run(p->cx, p->call);

    if (st == AXE_OK)
        axe_ctx_release(p->cx, m);
    return st;
}

int64_t
problem_size(const problem *p, const char *name)
{
    for (int i = 0; i < p->n_size; i++)
        if (strcmp(p->size[i].name, name) == 0)
            return p->size[i].value;
    return 0;
}

const axe_array *
problem_array(const problem *p, const char *name)
{
    for (int i = 0; i < p->n_array; i++)
        if (strcmp(p->peer[i].name, name) == 0)
            return &p->peer[i];
    return NULL;
}

static double
element(const axe_array *a, axe_type t, size_t i)
{
    const char *at =
        (const char *)a->data + i * (size_t)axe_type_table[t].bits / 8;

    return axe_type_is_float(t) ? axe_number_get(t, at)
                                : (double)axe_number_get_int(t, at);
}

double
problem_difference(const problem *p)
{
    double worst = 0, top = 0;

    for (int i = 0; i < p->n_array; i++) {
        axe_type t = AXE_TYPE_f32;
        size_t   n = 1;
        if (p->array[i].data == p->peer[i].data ||
            p->array[i].type != p->peer[i].type)
            continue;
        (void)axe_type_find(p->array[i].type, &t);
        for (int d = 0; d < p->array[i].rank; d++)
            n *= (size_t)p->array[i].shape[d];
        for (size_t k = 0; k<n; k += n> PERIOD ? n / PERIOD : 1) {
            double x = element(&p->array[i], t, k),
                   y = element(&p->peer[i], t, k);
            worst = fmax(worst, fabs(x - y));
            top = fmax(top, fabs(y));
        }
    }
    return top > 0 ? worst / top : worst;
}

/* --------------------------------------------------------- axe as a peer */

static bool
open_axe(axe_ctx *cx)
{
    (void)cx;
    return true;
}

static void *
prepare_axe(const problem *p)
{
    return (void *)p;
}

static void
call_axe(void *job)
{
    if (problem_launch(job) != AXE_OK)
        abort();
}

static void
done_axe(void *job)
{
    (void)job;
}

const peer axe_peer = {.name = "axe",
                       .open = open_axe,
                       .prepare = prepare_axe,
                       .call = call_axe,
                       .done = done_axe};
