/* problem.c - a row made ready: compiled, its arrays on the GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "ir/number.h"
#include "run/count.h"
#include "run/file.h"
#include "run/program.h"

const row rows[] = {
#define GEMM(id, n, k)                                                         \
    {.group = "bf16 GEMM, M = 8192",                                           \
     .name = id,                                                               \
     .file = "gemm_sm90",                                                      \
     .otherwise = "gemm",                                                      \
     .set = "T=bf16",                                                          \
     .sizes = "M=8192 N=" #n " K=" #k,                                         \
     .gemm = true},
#define MOVE(id, entry, words, sizes_)                                         \
    {.group = "memory-bound",                                                  \
     .name = id,                                                               \
     .file = id,                                                               \
     .kernel = entry,                                                          \
     .set = words,                                                             \
     .sizes = sizes_},
#include "rows.def"
};
const int n_rows = AXE_LEN(rows);

enum { BLOCK = 1 << 22, WINDOW = 1 << 22 };

/* Splits "A=1 B=2"; returns how many pairs. */
static int
split(axe_ctx *cx, const char *text, const char **name, const char **value)
{
    char *s = axe_textf(cx, "%s", text);
    int   n = 0;

    for (s = strtok(s, " ="); s && n < MAX_SIZE; s = strtok(NULL, " =")) {
        name[n] = s;
        value[n++] = strtok(NULL, " =");
    }
    return n;
}

static axe_status
compile(bench *b, test_case *c, const char *file)
{
    const char *path = axe_textf(c->cx, AXE_SOURCE_DIR "/kernels/%s.axe", file);
    const char *name[MAX_SIZE], *value[MAX_SIZE];
    int         n = split(c->cx, c->row->set, name, value);
    axe_bytes   text;
    int32_t     source;

    AXE_TRY(axe_file_read(c->cx, path, &text));
    source = axe_source_add(c->cx, path, (const char *)text.data, text.len);
    free(text.data);
    AXE_TRY(axe_compile(c->cx, source,
                        &(axe_compile_spec){.kernel = c->row->kernel,
                                            .machine = axe_gpu_machine(b->gpu),
                                            .n_set = n,
                                            .set_name = name,
                                            .set_value = value},
                        AXE_STAGE_C, &c->program));
    return axe_gpu_exec_new(c->cx, b->gpu, c->program, &c->exec);
}

static axe_status
compile_either(bench *b, test_case *c)
{
    axe_mark m = axe_ctx_mark(c->cx);

    if (c->row->otherwise) {
        if (compile(b, c, c->row->file) == AXE_OK)
            return AXE_OK;
        axe_ctx_release(c->cx, m);
        return compile(b, c, c->row->otherwise);
    }
    return compile(b, c, c->row->file);
}

static double
uniform(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)((*s >> 11) + 1) * 0x1p-53;
}

/* normal(0, 1) rounded to the type: one random block again and again. */
static axe_status
fill(bench *b, test_case *c, const char *type, void *at, size_t bytes)
{
    axe_type   t = AXE_TYPE_f32;
    size_t     each, n;
    char      *block = malloc((size_t)BLOCK * 8);
    uint64_t   state = 88172645463325252u;
    axe_status st = AXE_OK;

    (void)axe_type_find(type, &t);
    each = (size_t)axe_type_table[t].bits / 8;
    n = BLOCK * each < bytes ? BLOCK * each : bytes;
    if (!block)
        return axe_fail(c->cx, AXE_NOWHERE, AXE_EDEVICE, "no memory");
    for (size_t i = 0; i < n; i += each)
        axe_number_put(t, block + i,
                       sqrt(-2 * log(uniform(&state))) *
                           cos(6.283185307179586 * uniform(&state)));
    for (size_t done = 0; done < bytes && st == AXE_OK; done += n)
        st = axe_gpu_put(c->cx, b->gpu, (char *)at + done, block,
                         bytes - done < n ? bytes - done : n);
    free(block);
    return st;
}

static axe_status
poison(bench *b, test_case *c, void *at, size_t bytes)
{
    (void)b;
    if (cuMemsetD8((CUdeviceptr)(uintptr_t)at, 0xff, bytes) != CUDA_SUCCESS)
        return axe_fail(c->cx, AXE_NOWHERE, AXE_EDEVICE, "no memset");
    return AXE_OK;
}

static axe_status
make_arrays(bench *b, test_case *c, const axe_shape *shape)
{
    for (int i = 0; i < c->n_array; i++) {
        axe_param p = axe_program_param(c->program, i);
        axe_type  t = AXE_TYPE_f32;
        size_t    n = 1;
        void     *data;
        (void)axe_type_find(p.type, &t);
        for (int d = 0; d < p.rank; d++)
            n *= (size_t)shape[i].extent[d];
        c->bytes[i] = n * (size_t)axe_type_table[t].bits / 8;
        AXE_TRY(axe_gpu_alloc(c->cx, b->gpu, c->bytes[i], &data));
        c->array[i] =
            (axe_array){p.name, p.type, p.rank, shape[i].extent, NULL, data};
        AXE_TRY(p.access & AXE_READS ? fill(b, c, p.type, data, c->bytes[i])
                                     : poison(b, c, data, c->bytes[i]));
        c->moved += (double)c->bytes[i] * (p.access == AXE_UPDATES ? 2 : 1);
        if (c->row->gemm && (p.access & AXE_WRITES))
            AXE_TRY(axe_gpu_alloc(c->cx, b->gpu, c->bytes[i], &c->peer_out));
    }
    return AXE_OK;
}

axe_status
case_new(bench *b, const row *r, test_case *c)
{
    const char *name[MAX_SIZE], *value[MAX_SIZE];
    int64_t     given[MAX_SIZE] = {0};

    *c = (test_case){.row = r, .cx = b->cx};
    AXE_TRY(compile_either(b, c));
    c->n_array = axe_program_n_param(c->program);
    c->n_size = split(c->cx, r->sizes, name, value);
    for (int i = 0; i < c->n_size; i++)
        c->size[i] = (axe_size){name[i], strtoll(value[i], NULL, 10)};
    axe_shape *shape = axe_new_array(c->cx, axe_shape, c->n_array + 1);
    AXE_TRY(axe_program_shapes(c->cx, c->program, 0, NULL, c->n_size, c->size,
                               shape));
    AXE_TRY(make_arrays(b, c, shape));
    for (int i = 0; i < c->program->kernel->n_size && i < MAX_SIZE; i++)
        given[i] = case_size(c, c->program->kernel->size[i]->name);
    c->flops = axe_count_flops(c->program->kernel, given);
    return AXE_OK;
}

void
case_free(bench *b, test_case *c)
{
    for (int i = 0; i < c->n_array; i++)
        axe_gpu_release(b->gpu, c->array[i].data);
    axe_gpu_release(b->gpu, c->peer_out);
    axe_gpu_exec_free(c->exec);
}

int64_t
case_size(const test_case *c, const char *name)
{
    for (int i = 0; i < c->n_size; i++)
        if (strcmp(c->size[i].name, name) == 0)
            return c->size[i].value;
    return 0;
}

const axe_array *
case_array(const test_case *c, const char *name)
{
    for (int i = 0; i < c->n_array; i++)
        if (strcmp(c->array[i].name, name) == 0)
            return &c->array[i];
    return NULL;
}

/* Adds up a window of bf16 results. */
static void
add_window(const uint16_t *x, const uint16_t *y, size_t n, double sum[2],
           int64_t *n_nan)
{
    for (size_t i = 0; i < n; i++) {
        double p = axe_number_get(AXE_TYPE_bf16, &x[i]);
        double q = axe_number_get(AXE_TYPE_bf16, &y[i]);
        *n_nan += isnan(p);
        sum[0] += (p - q) * (p - q);
        sum[1] += q * q;
    }
}

double
case_difference(bench *b, const test_case *c, int64_t *n_nan)
{
    const axe_array *out = case_array(c, "C");
    size_t           all = (size_t)(out->shape[0] * out->shape[1]);
    size_t           n = all < WINDOW ? all : WINDOW;
    uint16_t        *x = malloc(n * 2), *y = malloc(n * 2);
    double           sum[2] = {0, 1e-30};

    *n_nan = 0;
    for (size_t part = 0; part < 3 && x && y; part++) {
        size_t at = (all - n) / 2 * part * 2;
        if (axe_gpu_get(b->cx, b->gpu, x, (char *)out->data + at, n * 2) ==
                AXE_OK &&
            axe_gpu_get(b->cx, b->gpu, y, (char *)c->peer_out + at, n * 2) ==
                AXE_OK)
            add_window(x, y, n, sum, n_nan);
    }
    free(x);
    free(y);
    return sqrt(sum[0] / sum[1]);
}
