/* gpu.c - what the search needs of GPUs: code made beforehand, and arrays
 * in their memory.
 *
 * The arrays' contents do not matter but for power, which follows the bits that
 * change: they are normal(0, 1).  Integers are small, so that what serves as an
 * index stays inside. */
#include "run/program.h"
#include "run/tune/tune_int.h"

static bool
stop(void *user)
{
    return axe_tuner_stopped(user);
}

static void
progress(void *user, int n_done, int n)
{
    const axe_tuner *t = user;

    axe_tuner_report(t, n_done < n ? "compiling" : "compiled");
}

axe_status
axe_tuner_prepare(axe_tuner *t, int n, const axe_program *const *p,
                  axe_gpu_prepared *out)
{
    axe_gpu_prepare_spec spec = {
        .cache = t->spec->cache, .stop = stop, .progress = progress, .user = t};

    return axe_gpu_prepare(t->cx, &spec, n, p, out);
}

axe_status
axe_tuner_prepare_best(axe_tuner *t)
{
    int                 most = axe_tuner_best(t), n = 0;
    const axe_program **p = axe_new_array(t->cx, const axe_program *, most + 1);
    axe_mark            m;

    for (int i = 0; i < t->result->n_try; i++) {
        axe_compile_spec s = axe_tuner_spec(t, t->result->each[i].value);
        if (i >= most && i != t->result->standard)
            continue;
        m = axe_ctx_mark(t->cx);
        if (axe_compile(t->cx, t->source, &s, AXE_STAGE_C, &p[n]) == AXE_OK)
            n++;
        else
            axe_ctx_release(t->cx, m);
    }
    return axe_tuner_prepare(t, n, p, &t->result->prepared);
}

static axe_status
make_array(axe_tuner *t, axe_param p, axe_shape shape, axe_array *out)
{
    axe_type type = AXE_TYPE_f32;
    int64_t  bytes;

    (void)axe_type_find(p.type, &type);
    bytes = axe_type_table[type].bits;
    for (int d = 0; d < shape.n; d++)
        if (!axe_mul(bytes, shape.extent[d], &bytes))
            return axe_fail(t->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "the bytes of %s are beyond 63 bits", p.name);
    *out = (axe_array){
        .name = p.name, .type = p.type, .rank = p.rank, .shape = shape.extent};
    AXE_TRY(
        axe_gpu_alloc(t->cx, t->spec->gpu, (size_t)(bytes / 8), &out->data));
    if (!(p.access & AXE_READS))
        return AXE_OK;
    return axe_gpu_fill(t->cx, t->spec->gpu, p.type, 0, out->data,
                        (size_t)(bytes / 8));
}

axe_status
axe_tuner_gpu_arrays(axe_tuner *t)
{
    int        n = axe_program_n_param(t->program);
    axe_shape *shape = axe_new_array(t->cx, axe_shape, n + 1);

    AXE_TRY(axe_program_shapes(t->cx, t->program, t->n_array, t->array,
                               t->n_size, t->size, shape));
    t->device_array = axe_new_array(t->cx, axe_array, n + 1);
    for (int i = 0; i < n; i++)
        AXE_TRY(make_array(t, axe_program_param(t->program, i), shape[i],
                           &t->device_array[i]));
    return AXE_OK;
}

void
axe_tuner_gpu_free(axe_tuner *t)
{
    for (int i = 0; t->device_array && i < axe_program_n_param(t->program); i++)
        axe_gpu_release(t->spec->gpu, t->device_array[i].data);
    t->device_array = NULL;
}
