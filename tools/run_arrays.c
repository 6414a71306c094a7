/* run_arrays.c - the arrays of `axe run`: from files, from a generator, to
 * files. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/number.h"
#include "lang/lang.h"
#include "run.h"
#include "run/array/axt.h"
#include "run/tune/records.h"

/* ----------------------------------------------------------------- reading */

static bool
set_to(const axe_run_args *a, const char *name, const char *value)
{
    for (int i = 0; i < a->kernel.set.n; i++)
        if (strcmp(a->kernel.set.name[i], name) == 0)
            return strcmp(a->kernel.set.value[i], value) == 0;
    return false;
}

/* NumPy has none of these: where the kernel says that it is one, unsigned
 * integers are taken for its bits. */
static void
see_as_bits(const axe_run_args *a, const axe_param_sig *sig, axe_npy *npy)
{
    static const struct {
        axe_type type, bits;
    } row[] = {{AXE_TYPE_bf16, AXE_TYPE_u16},
               {AXE_TYPE_f8e4m3, AXE_TYPE_u8},
               {AXE_TYPE_f8e5m2, AXE_TYPE_u8},
               {AXE_TYPE_f8e8m0, AXE_TYPE_u8},
               {AXE_TYPE_f4e2m1, AXE_TYPE_u8}};

    for (int i = 0; i < AXE_LEN(row); i++) {
        const char *name = axe_type_table[row[i].type].name;
        bool        wanted = sig->type_is_param ? set_to(a, sig->type, name)
                                                : strcmp(sig->type, name) == 0;
        if (wanted && npy->type == row[i].bits) {
            axe_npy_see_as(npy, row[i].type);
            return;
        }
    }
}

static axe_status
open_param(axe_ctx *cx, const axe_run_args *a, const axe_param_sig *sig,
           axe_run_param *out)
{
    static const axe_access access[] = {[AXE_DIR_IN] = AXE_READS,
                                        [AXE_DIR_OUT] = AXE_WRITES,
                                        [AXE_DIR_INOUT] = AXE_UPDATES};

    out->name = sig->name;
    out->access = access[sig->dir];
    for (int i = 0; i < a->given.n; i++)
        if (strcmp(a->given.name[i], sig->name) == 0)
            out->path = a->given.value[i];
    if (out->path && (out->access & AXE_READS) &&
        axe_run_is_random(out->path)) {
        out->random = out->path;
        out->path = NULL;
    }
    if (out->path && sig->rank == 0 && axe_run_is_number(out->path)) {
        out->number = out->path;
        out->path = NULL;
    }
    if (out->path && (out->access & AXE_READS)) {
        AXE_TRY(axe_axt_is(out->path)
                    ? axe_axt_read(cx, out->path, &out->npy, &out->type)
                    : axe_npy_read(cx, out->path, &out->npy));
        out->have = true;
        see_as_bits(a, sig, &out->npy);
    }
    return AXE_OK;
}

static bool
is_param(const axe_run *r, const char *name)
{
    for (int i = 0; i < r->n_param; i++)
        if (strcmp(r->param[i].name, name) == 0)
            return true;
    return false;
}

/* Every NAME=VALUE is a parameter's file or a size, and each name comes
 * once. */
static axe_status
open_sizes(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    r->size = axe_new_array(cx, axe_size, a->given.n);
    for (int i = 0; i < a->given.n; i++) {
        axe_size s = {.name = a->given.name[i]};
        for (int k = 0; k < i; k++)
            if (strcmp(a->given.name[k], s.name) == 0)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s is given twice",
                                s.name);
        if (is_param(r, s.name))
            continue;
        if (!axe_tool_int(a->given.value[i], &s.value)) {
            axe_status st =
                axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                         "%s=%s: the kernel has no parameter %s, and the value "
                         "is no size",
                         s.name, a->given.value[i], s.name);
            for (int k = 0; k < r->n_param; k++)
                axe_note(cx, AXE_NOWHERE, "a parameter: %s", r->param[k].name);
            return st;
        }
        r->size[r->n_size++] = s;
    }
    return AXE_OK;
}

static axe_status
check_outputs(axe_ctx *cx, const axe_run *r)
{
    for (int i = 0; i < r->n_param; i++)
        for (int k = 0; k < i; k++) {
            const axe_run_param *p = &r->param[i], *q = &r->param[k];
            if (p->path && q->path && (p->access & q->access & AXE_WRITES) &&
                axe_tool_same_file(p->path, q->path))
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                "%s=%s and %s=%s: two outputs to one file",
                                q->name, q->path, p->name, p->path);
        }
    return AXE_OK;
}

axe_status
axe_run_open(axe_ctx *cx, const axe_run_args *a, int32_t source, axe_run *r)
{
    const axe_module *m;
    axe_kernel_sig    sig;

    AXE_TRY(axe_module_parse(cx, source, &m));
    AXE_TRY(axe_module_sig(cx, m, a->kernel.kernel, &sig));
    r->param = axe_new_array(cx, axe_run_param, sig.n_param);
    for (; r->n_param < sig.n_param; r->n_param++)
        AXE_TRY(
            open_param(cx, a, &sig.param[r->n_param], &r->param[r->n_param]));
    AXE_TRY(check_outputs(cx, r));
    return open_sizes(cx, a, r);
}

axe_compile_spec
axe_run_spec(axe_ctx *cx, const axe_run_args *a, const axe_run *r)
{
    axe_compile_spec spec = axe_kernel_spec(&a->kernel);
    const char     **name = axe_new_array(cx, const char *, r->n_size);
    int64_t         *value = axe_new_array(cx, int64_t, r->n_size);

    for (int i = 0; i < r->n_size; i++) {
        name[i] = r->size[i].name;
        value[i] = r->size[i].value;
    }
    spec.n_hint = r->n_size;
    spec.hint_name = name;
    spec.hint = value;
    spec.n_worker =
        a->n_thread > 0 && a->n_thread < 1024 ? (int)a->n_thread : 0;
    spec.no_tuned = a->no_tuned;
    spec.wide = a->wide;
    spec.records = axe_records_path(cx, a->records, a->cache);
    return spec;
}

int
axe_run_arrays(const axe_run *r, axe_array *array)
{
    int n = 0;

    for (int i = 0; i < r->n_param; i++) {
        const axe_npy *npy = &r->param[i].npy;
        if (r->param[i].have)
            array[n++] = (axe_array){
                .name = r->param[i].name,
                .type = r->param[i].type ? r->param[i].type
                                         : axe_type_table[npy->type].name,
                .rank = npy->rank,
                .shape = npy->shape,
                .stride = npy->stride,
                .data = npy->data};
    }
    return n;
}

/* --------------------------------------------------------------- generating */

/* Was the parameter asked for column-major? */
static bool
is_by_columns(const axe_pairs *order, const char *name)
{
    bool by = false;

    for (int i = 0; i < order->n; i++)
        if (strcmp(order->name[i], name) == 0)
            by = strcmp(order->value[i], "F") == 0;
    return by;
}

static axe_status
make_param(axe_ctx *cx, const axe_run_args *a, const axe_run *r,
           axe_run_param *p, const char *type, axe_shape shape, uint64_t *state)
{
    axe_type t = AXE_TYPE_f32;

    (void)axe_type_find(type, &t);
    AXE_TRY(axe_npy_make(cx, p->name, t, shape,
                         is_by_columns(&a->kernel.order, p->name), &p->npy));
    p->have = true;
    if (!(p->access & AXE_READS))
        return AXE_OK;
    AXE_TRY(axe_run_put_random(cx, r, p, state));
    if (!a->save_random)
        return AXE_OK;
    return axe_npy_write(
        cx, axe_textf(cx, "%s/%s.npy", a->save_random, p->name), &p->npy);
}

axe_status
axe_run_fill(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_array *array = axe_new_array(cx, axe_array, r->n_param);
    axe_shape *shape = axe_new_array(cx, axe_shape, r->n_param);
    uint64_t   state = (uint64_t)a->seed;

    for (int i = 0; i < r->n_param && !a->random; i++)
        if ((r->param[i].access & AXE_READS) && !r->param[i].have &&
            !r->param[i].number && !r->param[i].random) {
            bool       one = axe_program_param(r->program, i).rank == 0;
            axe_status st =
                axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                         "parameter %s is read, but no %s is "
                         "given for it",
                         r->param[i].name, one ? "number" : "array");
            axe_help(cx, "give %s=%s, or --random", r->param[i].name,
                     one ? "NUMBER" : "FILE.npy");
            return st;
        }
    for (int i = 0; i < r->n_param; i++)
        if (r->param[i].number)
            AXE_TRY(axe_run_put_number(cx, &r->param[i],
                                       axe_program_param(r->program, i).type));
    AXE_TRY(axe_program_shapes(cx, r->program, axe_run_arrays(r, array), array,
                               r->n_size, r->size, shape));
    for (int i = 0; i < r->n_param; i++)
        if (!r->param[i].have)
            AXE_TRY(make_param(cx, a, r, &r->param[i],
                               axe_program_param(r->program, i).type, shape[i],
                               &state));
    return AXE_OK;
}

/* ------------------------------------------------------------------- writing
 */

axe_status
axe_run_save(axe_ctx *cx, const axe_run *r)
{
    for (int i = 0; i < r->n_param; i++)
        if (r->param[i].path && (r->param[i].access & AXE_WRITES))
            AXE_TRY(axe_npy_write(cx, r->param[i].path, &r->param[i].npy));
    return AXE_OK;
}

void
axe_run_close(axe_run *r)
{
    for (int i = 0; i < r->n_param; i++)
        axe_npy_free(&r->param[i].npy);
}
