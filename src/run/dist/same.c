/* same.c - what must be the same on all ranks of a launch, as texts: ranks
 * compare them, and tell the first that is not. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "ir/list.h"
#include "ir/number.h"
#include "machine/machine.h"
#include "run/dist/dist.h"

/* ----------------------------------------------------------------- numbers */

static void
put_bits(axe_buf *out, axe_type t, const unsigned char *byte)
{
    axe_puts(out, "0x");
    for (int64_t i = axe_type_bytes(t, 1) - 1; i >= 0; i--)
        axe_putf(out, "%02x", byte[i]);
}

/* What is no number has bits. */
static void
put_float(axe_buf *out, axe_type t, const void *data)
{
    double v = axe_number_get(t, data);

    axe_puts(out, isnan(v) ? "nan of bits " : axe_number_digits(out->cx, t, v));
    if (isnan(v))
        put_bits(out, t, data);
}

const char *
axe_dist_number_text(axe_ctx *cx, axe_type t, const void *data)
{
    axe_buf out = {.cx = cx};

    if (!axe_number_known(t))
        put_bits(&out, t, data);
    else if (axe_type_is_float(t))
        put_float(&out, t, data);
    else if (axe_type_table[t].cls == AXE_CLASS_UINT)
        axe_putf(&out, "%" PRIu64, (uint64_t)axe_number_get_int(t, data));
    else
        axe_putf(&out, "%" PRId64, axe_number_get_int(t, data));
    return out.text;
}

/* ------------------------------------------------------------------- texts */

void
axe_dist_put_program(axe_ctx *cx, axe_list *out, const axe_program *p,
                     const char *digest)
{
    const axe_kernel *k = p->meshed;

    for (int i = 0; i < k->n_binding; i++)
        axe_list_push(out, axe_textf(cx, "%s = %s", k->binding[i].name,
                                     axe_binding_text(cx, &k->binding[i])));
    axe_list_push(out, axe_textf(cx, "%s for %s", k->name, p->machine->name));
    axe_list_push(out, axe_textf(cx, "%s of text %s", k->name, digest));
}

/* Numbers that are given, and sizes: of a number that is one, the number. */
static void
put_values(axe_ctx *cx, axe_list *out, const axe_dist *d, void *const *data)
{
    const axe_kernel *k = d->program->kernel;

    for (int i = 0; i < k->n_param; i++) {
        const axe_tensor *t = k->param[i];

        if (t->rank == 0 && t->dir != AXE_DIR_OUT && data[i])
            axe_list_push(
                out, axe_textf(cx, "%s = %s", t->name,
                               axe_dist_number_text(cx, t->type, data[i])));
    }
    for (int i = 0; i < k->n_size; i++)
        axe_list_push(
            out, axe_textf(cx, "%s = %" PRId64, k->size[i]->name, d->size[i]));
}

axe_status
axe_dist_same(axe_ctx *cx, const axe_dist_plan *p, void *const *data,
              int n_time, int *n, const char *const **out)
{
    const axe_program *of = p->d.program;
    axe_list           all = {.cx = cx};
    const char        *digest;

    AXE_TRY(axe_dist_digest(cx, of, &digest));
    axe_list_push(&all, of->meshed->name);
    put_values(cx, &all, &p->d, data);
    axe_dist_put_program(cx, &all, of, digest);
    axe_list_push(&all, p->one_by_one ? "no overlap" : "overlap");
    axe_list_push(&all, n_time ? axe_textf(cx, "%d runs timed", n_time)
                               : "no runs timed");
    *n = all.n;
    *out = (const char *const *)(const void *)all.item;
    return AXE_OK;
}
