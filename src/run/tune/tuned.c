/* tuned.c - using what tuning has found.
 *
 * The variant of a record is every constant that was not varied, with its
 * value as set or else as written, and the orders other than row-major: what a
 * record of one variant says need not hold for another. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "machine/machine.h"
#include "run/pool.h"
#include "run/tune/tuned.h"

bool
axe_spec_sets(const axe_compile_spec *spec, const char *name)
{
    for (int i = 0; i < spec->n_set; i++)
        if (strcmp(spec->set_name[i], name) == 0)
            return true;
    return false;
}

static const char *
value_of(const axe_compile_spec *spec, const axe_kernel_sig *sig, int k)
{
    for (int i = 0; i < spec->n_set; i++)
        if (strcmp(spec->set_name[i], sig->const_name[k]) == 0)
            return spec->set_value[i];
    return sig->const_default[k] ? sig->const_default[k] : "";
}

static const char *
variant_of(axe_ctx *cx, const axe_kernel_sig *sig, const axe_compile_spec *spec)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < sig->n_const; i++)
        if (sig->n_domain[i] == 0 || axe_spec_sets(spec, sig->const_name[i]))
            axe_putf(&b, "%s%s=%s", b.len ? " " : "", sig->const_name[i],
                     value_of(spec, sig, i));
    for (int i = 0; i < spec->n_order; i++)
        if (strcmp(spec->order[i], "C") != 0)
            axe_putf(&b, "%s%s:%s", b.len ? " " : "", spec->order_name[i],
                     spec->order[i]);
    return b.text ? b.text : "";
}

/* ------------------------------------------------------------------- sizes */

static void
add_size(axe_size *s, int *n, const char *name, int64_t value)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(s[i].name, name) == 0)
            return;
    s[(*n)++] = (axe_size){name, value};
}

/* A letter or an underscore begins the name of a size or a constant. */
static bool
is_size(const axe_kernel_sig *sig, const char *extent)
{
    for (int i = 0; i < sig->n_const; i++)
        if (strcmp(sig->const_name[i], extent) == 0)
            return false;
    return strspn(extent, "0123456789") == 0 &&
           strpbrk(extent, " +-*/%()[]") == NULL;
}

/* Sizes as the shapes of arrays and the spec's hints say. */
static int
sizes_of(const axe_kernel_sig *sig, const axe_compile_spec *spec, int n_array,
         const axe_array *array, axe_size *out)
{
    int n = 0;

    for (int p = 0; p < sig->n_param; p++)
        for (int a = 0; a < n_array; a++) {
            const axe_param_sig *q = &sig->param[p];
            if (!array[a].name || strcmp(array[a].name, q->name) != 0 ||
                array[a].rank != q->rank)
                continue;
            for (int d = 0; d < q->rank; d++)
                if (is_size(sig, q->extent[d]))
                    add_size(out, &n, q->extent[d], array[a].shape[d]);
        }
    for (int i = 0; i < spec->n_hint; i++)
        add_size(out, &n, spec->hint_name[i], spec->hint[i]);
    return n;
}

static int
most_sizes(const axe_kernel_sig *sig, const axe_compile_spec *spec)
{
    int n = spec->n_hint;

    for (int p = 0; p < sig->n_param; p++)
        n += sig->param[p].rank;
    return n;
}

axe_record_key
axe_tuned_key(axe_ctx *cx, int32_t source, const axe_kernel_sig *sig,
              const axe_compile_spec *spec, int n_array, const axe_array *array,
              int n_worker)
{
    size_t             len;
    const char        *text = axe_source_text(cx, source, &len);
    const char        *name = spec->machine ? spec->machine
                              : sig->target ? axe_target_first(cx, sig->target)
                                            : "cpu";
    const axe_machine *mc;
    axe_size *size = axe_new_array(cx, axe_size, most_sizes(sig, spec) + 1);
    axe_mark  m = axe_ctx_mark(cx);
    bool      gpu = false;

    if (axe_machine_find(cx, name, &mc) == AXE_OK) {
        name = mc->name;
        gpu = !axe_language_of(mc)->here;
    } else
        axe_ctx_release(cx, m);
    return (axe_record_key){
        .machine = gpu ? name : axe_records_machine(cx, name),
        .digest = axe_records_digest(cx, text, len),
        .kernel = sig->name,
        .variant = variant_of(cx, sig, spec),
        .n_worker = gpu            ? 1
                    : n_worker > 0 ? n_worker
                                   : axe_pool_all(),
        .n_size = sizes_of(sig, spec, n_array, array, size),
        .size = size,
    };
}

/* ------------------------------------------------------------------ using */

static bool
anything_open(const axe_kernel_sig *sig, const axe_compile_spec *spec)
{
    for (int i = 0; i < sig->n_const; i++)
        if (sig->n_domain[i] > 0 && !axe_spec_sets(spec, sig->const_name[i]))
            return true;
    return false;
}

/* "BM=64 BN=96" to pairs; only such as the kernel may have. */
static int
take_bindings(axe_ctx *cx, const axe_kernel_sig *sig, const char *text, int n,
              const char **name, const char **value)
{
    while (*text) {
        size_t len = strcspn(text, " "), eq = strcspn(text, "=");
        for (int i = 0; i < sig->n_const && eq < len; i++) {
            const char *v =
                axe_textf(cx, "%.*s", (int)(len - eq - 1), text + eq + 1);
            if (strlen(sig->const_name[i]) != eq ||
                strncmp(sig->const_name[i], text, eq) != 0)
                continue;
            for (int k = 0; k < sig->n_domain[i]; k++)
                if (strcmp(sig->domain[i][k], v) == 0) {
                    name[n] = sig->const_name[i];
                    value[n++] = v;
                }
        }
        text += len + (text[len] == ' ');
    }
    return n;
}

static axe_status
look(axe_ctx *cx, const char *path, const axe_record_key *key, axe_record *rec,
     bool *found)
{
    axe_records *r;
    axe_status   st;

    AXE_TRY(axe_records_open(cx, path, false, &r));
    st = axe_records_best(cx, r, key, rec, found);
    axe_records_close(r);
    return st;
}

int
axe_tuned_find(axe_ctx *cx, int32_t source, const axe_kernel_sig *sig,
               const axe_compile_spec *spec, int n_array,
               const axe_array *array, const char **name, const char **value,
               const char **why)
{
    const char *path = axe_records_path(cx, spec->records, NULL);
    axe_mark    m = axe_ctx_mark(cx);
    axe_record  rec;
    char        error[512];
    bool        found = false;

    *why = NULL;
    if (!path || access(path, F_OK) != 0 || !anything_open(sig, spec))
        return spec->n_set;
    axe_record_key key =
        axe_tuned_key(cx, source, sig, spec, n_array, array, spec->n_worker);
    if (look(cx, path, &key, &rec, &found) != AXE_OK) {
        snprintf(error, sizeof error, "%s", axe_last_error(cx));
        axe_ctx_release(cx, m);
        axe_warn(cx, AXE_NOWHERE, "tuned values are not used: %s", error);
        return spec->n_set;
    }
    if (!found)
        return spec->n_set;
    *why = axe_textf(cx, "%s, tuned on %s for %s, %" PRId64 " thread%s",
                     rec.bindings, rec.date, rec.sizes, key.n_worker,
                     key.n_worker == 1 ? "" : "s");
    return take_bindings(cx, sig, rec.bindings, spec->n_set, name, value);
}
