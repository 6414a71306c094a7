/* host.c - the host's part of kernels ahead of time whose grids a device runs:
 * what it is given is checked, the kernel's own tensors get memory, and grids
 * are started in loops and branches. */
#include <inttypes.h>

#include "print/aot/aot_int.h"
#include "print/aot/host.h"

/* A function of the kernel that is written. */
typedef struct host {
    axe_cprinter         *p;
    axe_buf              *b;
    int                   number;
    const axe_aot_driver *d;
} host;

static axe_status put_host(const host *w, int n, const axe_host *h);

static axe_status
put_loop(const host *w, const axe_host *h)
{
    const char *v = axe_c_var(w->p, h->var);

    axe_puts(w->b, "    {\n        const i64 end = status ? 0 : ");
    AXE_TRY(axe_c_index(w->p, w->b, h->var->extent));
    axe_putf(w->b,
             ";\n"
             "        if (end > %d)\n"
             "            status = AXE_AOT_EOVERFLOW;\n"
             "        for (i64 %s = 0; !status && %s < end; %s++) {\n",
             AXE_HOST_ITERATIONS, v, v, v);
    AXE_TRY(put_host(w, h->n_body, h->body));
    axe_puts(w->b, "        }\n    }\n");
    return AXE_OK;
}

static axe_status
put_branch(const host *w, const axe_host *h)
{
    axe_puts(w->b, "    if (");
    AXE_TRY(axe_c_index(w->p, w->b, h->cond));
    axe_puts(w->b, ") {\n");
    AXE_TRY(put_host(w, h->n_body, h->body));
    axe_puts(w->b, "    } else {\n");
    AXE_TRY(put_host(w, h->n_other, h->other));
    axe_puts(w->b, "    }\n");
    return AXE_OK;
}

/* Sizes that the grid cannot have are refused where it has a CTA. */
static axe_status
put_grid(const host *w, const axe_grid *g)
{
    axe_puts(w->b, "    if (!status) {\n        const i64 blocks = ");
    AXE_TRY(axe_c_index(w->p, w->b, g->blocks));
    axe_puts(w->b, ";\n");
    for (int i = 0; i < g->n_need; i++) {
        axe_puts(w->b, "        if (blocks > 0 && !(");
        AXE_TRY(axe_c_index(w->p, w->b, g->need[i].when));
        axe_puts(w->b, "))\n            status = AXE_AOT_EARG;\n");
    }
    AXE_TRY(w->d->grid(w->p, w->b, w->number, g));
    axe_puts(w->b, "    }\n");
    return AXE_OK;
}

static axe_status
put_host(const host *w, int n, const axe_host *h)
{
    for (int i = 0; i < n; i++, h++)
        AXE_TRY(h->kind == AXE_HOST_GRID ? put_grid(w, &w->p->l->grid[h->grid])
                : h->kind == AXE_HOST_LOOP ? put_loop(w, h)
                                           : put_branch(w, h));
    return AXE_OK;
}

/* The kernel's own tensors. */
static axe_status
put_temps(axe_cprinter *p, axe_buf *b, const axe_kernel *k)
{
    if (k->n_temp > 0)
        axe_putf(b, "    axe_memory temp[%d] = {0};\n", k->n_temp);
    for (int i = 0; i < k->n_temp; i++) {
        const axe_tensor *t = k->temp[i];
        axe_putf(b, "    i64 n_%d = %d;\n", i,
                 axe_type_table[t->type].bits / 8);
        for (int d = 0; d < t->rank; d++) {
            axe_putf(b, "    if (!status && __builtin_mul_overflow(n_%d, ", i);
            AXE_TRY(axe_c_index(p, b, t->shape[d]));
            axe_putf(b, ", &n_%d))\n        status = AXE_AOT_EOVERFLOW;\n", i);
        }
        axe_putf(b,
                 "    if (!status)\n"
                 "        status = axe_new(&call, &temp[%d], n_%d);\n",
                 i, i);
    }
    return AXE_OK;
}

void
axe_aot_host_prototype(axe_ctx *cx, axe_buf *b, const axe_kernel *k,
                       const axe_aot_driver *d)
{
    axe_putf(b, "int %s(", axe_aot_name(cx, k->name));
    if (k->n_param + k->n_size > 0) {
        axe_aot_arguments(cx, b, k, d->memory);
        axe_puts(b, ", ");
    }
    axe_putf(b, "void *%s)", d->where);
}

/* What it is given: arrays, sizes, and products of sizes. */
static axe_status
put_checks(axe_cprinter *p, axe_buf *b, const axe_kernel *k,
           const axe_aot_driver *d, bool wide)
{
    axe_aot_sizes(p, b, k);
    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(axe_aot_check(p, b, k->param[i], d->check));
    axe_aot_check_sizes(p, b, k);
    axe_aot_check_reach(p, b);
    for (int i = 0; i < k->n_size && !wide; i++)
        axe_putf(b,
                 "    if (!status && %s > %d)\n"
                 "        status = AXE_AOT_EOVERFLOW;\n",
                 axe_c_var(p, k->size[i]), AXE_SIZE_MOST);
    return AXE_OK;
}

axe_status
axe_aot_host_function(axe_ctx *cx, axe_buf *b, const axe_lowered *l, int number,
                      bool wide, const axe_aot_driver *d)
{
    const axe_kernel *k = l->plan->kernel;
    axe_cprinter      p = {.cx = cx, .l = l, .out = b};
    host              w = {&p, b, number, d};

    axe_putc(b, '\n');
    axe_aot_host_prototype(cx, b, k, d);
    axe_putf(b,
             "\n{\n    axe_call call = {.%s = %s};\n"
             "    int status = axe_begin(&call);\n",
             d->where, d->where);
    AXE_TRY(put_checks(&p, b, k, d, wide));
    if (l->has_cores)
        axe_putf(b,
                 "    i64 %s = 0;\n"
                 "    if (!status)\n"
                 "        status = axe_cores(&call, &%s);\n",
                 axe_c_var(&p, k->cores), axe_c_var(&p, k->cores));
    AXE_TRY(put_temps(&p, b, k));
    AXE_TRY(put_host(&w, l->n_host, l->host));
    for (int i = 0; i < k->n_temp; i++)
        axe_putf(b, "    axe_drop(&call, temp[%d]);\n", i);
    axe_puts(b, "    axe_end(&call);\n    return status;\n}\n");
    return AXE_OK;
}
