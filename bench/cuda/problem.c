/* problem.c - a row made ready: compiled, its arrays on the GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "ir/number.h"
#include "run/count.h"
#include "run/program.h"

enum { WINDOW = 1 << 22 };

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
        AXE_TRY(p.access & AXE_READS
                    ? axe_gpu_fill(c->cx, b->gpu, p.type, data, c->bytes[i])
                    : poison(b, c, data, c->bytes[i]));
        c->moved += (double)c->bytes[i] * (p.access == AXE_UPDATES ? 2 : 1);
        if (c->row->vendor && (p.access & AXE_WRITES))
            AXE_TRY(axe_gpu_alloc(c->cx, b->gpu, c->bytes[i], &c->peer_out));
    }
    return AXE_OK;
}

axe_status
case_new(bench *b, const row *r, test_case *c)
{
    int64_t given[MAX_SIZE] = {0};

    *c = (test_case){.row = r, .cx = b->cx, .machine = axe_gpu_machine(b->gpu)};
    AXE_TRY(row_compile(c->cx, r, axe_gpu_machine(b->gpu), &c->program));
    AXE_TRY(axe_gpu_exec_new(c->cx, b->gpu, c->program, &c->exec));
    c->n_array = axe_program_n_param(c->program);
    c->n_size = row_sizes(c->cx, r, b->shrink, c->size);
    axe_shape *shape = axe_new_array(c->cx, axe_shape, c->n_array + 1);
    AXE_TRY(axe_program_shapes(c->cx, c->program, 0, NULL, c->n_size, c->size,
                               shape));
    AXE_TRY(axe_program_estimate(c->cx, c->program, 1, c->n_size, c->size,
                                 &c->estimate));
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
