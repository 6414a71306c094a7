/* problem.c - a row made ready: compiled, its arrays on the GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "ir/number.h"
#include "run/count.h"
#include "run/program.h"

enum { WINDOW = 1 << 22, LEAST_ROUTED = 4 };

static axe_status
poison(bench *b, test_case *c, void *at, size_t bytes)
{
    (void)b;
    if (cuMemsetD8((CUdeviceptr)(uintptr_t)at, 0xff, bytes) != CUDA_SUCCESS)
        return axe_fail(c->cx, AXE_NOWHERE, AXE_EDEVICE, "no memset");
    return AXE_OK;
}

/* Sets of arrays that together are several times as large as L2. */
static int
sets_for(const bench *b, double bytes)
{
    double n = 4 * (double)b->l2 / (bytes > 1 ? bytes : 1);

    return n >= MAX_SET ? MAX_SET : 1 + (int)n;
}

static axe_status
measure_arrays(test_case *c, const axe_shape *shape)
{
    for (int i = 0; i < c->n_array; i++) {
        axe_param p = axe_program_param(c->program, i);
        axe_type  t = AXE_TYPE_f32;
        size_t    n = 1;
        (void)axe_type_find(p.type, &t);
        for (int d = 0; d < p.rank; d++)
            n *= (size_t)shape[i].extent[d];
        c->bytes[i] = n * (size_t)axe_type_table[t].bits / 8;
        c->moved += (double)c->bytes[i] * (p.access == AXE_UPDATES ? 2 : 1);
    }
    return AXE_OK;
}

static axe_status
make_set(bench *b, test_case *c, const axe_shape *shape, axe_array *array)
{
    for (int i = 0; i < c->n_array; i++) {
        axe_param p = axe_program_param(c->program, i);
        void     *data;
        AXE_TRY(axe_gpu_alloc(c->cx, b->gpu, c->bytes[i], &data));
        array[i] =
            (axe_array){p.name, p.type, p.rank, shape[i].extent, NULL, data};
        AXE_TRY(p.access & AXE_READS
                    ? axe_gpu_fill(c->cx, b->gpu, p.type, (uint64_t)i, data,
                                   c->bytes[i])
                    : poison(b, c, data, c->bytes[i]));
        if (c->row->vendor && (p.access & AXE_WRITES) && !c->peer_out)
            AXE_TRY(axe_gpu_alloc(c->cx, b->gpu, c->bytes[i], &c->peer_out));
    }
    return AXE_OK;
}

static axe_status
make_arrays(bench *b, test_case *c, const axe_shape *shape)
{
    AXE_TRY(measure_arrays(c, shape));
    int n = sets_for(b, c->moved);
    if (c->row->means == MEANS_EXPERTS) /* of which few may be read */
        n = n > LEAST_ROUTED ? n : LEAST_ROUTED;
    for (int i = 0; i < n; i++) {
        c->n_set = i + 1;
        AXE_TRY(make_set(b, c, shape, c->array[i]));
        if (c->row->means == MEANS_EXPERTS)
            AXE_TRY(case_route(b, c, i));
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
    for (int k = 0; k < c->n_set; k++)
        for (int i = 0; i < c->n_array; i++)
            axe_gpu_release(b->gpu, c->array[k][i].data);
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
        if (strcmp(c->array[c->set][i].name, name) == 0)
            return &c->array[c->set][i];
    return NULL;
}

/* ----------------------------------------------------------- what came out */

/* Counts NaN in a window of a result, and beside y, unless it is NULL, adds up
 * squares of differences and of y. */
static void
add_window(axe_type t, const char *x, const char *y, size_t n, double sum[2],
           int64_t *n_nan)
{
    size_t step = (size_t)axe_type_table[t].bits / 8;

    for (size_t i = 0; i < n; i++) {
        double p = axe_number_get(t, x + i * step);
        double q = y ? axe_number_get(t, y + i * step) : p;
        *n_nan += isnan(p);
        sum[0] += (p - q) * (p - q);
        sum[1] += q * q;
    }
}

static int
result_of(const test_case *c)
{
    int i = c->n_array - 1;

    while (i > 0 && !(axe_program_param(c->program, i).access & AXE_WRITES))
        i--;
    return i;
}

void
case_compare(bench *b, test_case *c, bool library, verdict *v)
{
    int              out = result_of(c);
    const axe_array *a = &c->array[0][out];
    axe_type         t = AXE_TYPE_f32;
    double           sum[2] = {0, 1e-30};

    (void)axe_type_find(a->type, &t);
    size_t step = (size_t)axe_type_table[t].bits / 8;
    size_t all = c->bytes[out] / step, n = all < WINDOW ? all : WINDOW;
    char  *x = malloc(n * step), *y = malloc(n * step);

    for (size_t part = 0; part < 3 && x && y; part++) {
        size_t at = (all - n) / 2 * part * step;
        if (axe_gpu_get(b->cx, b->gpu, x, (char *)a->data + at, n * step) !=
                AXE_OK ||
            (library && axe_gpu_get(b->cx, b->gpu, y, (char *)c->peer_out + at,
                                    n * step) != AXE_OK))
            break;
        add_window(t, x, library ? y : NULL, n, sum, &v->n_nan);
    }
    free(x);
    free(y);
    if (library)
        v->beside = sqrt(sum[0] / sum[1]);
}
