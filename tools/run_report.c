/* run_report.c - what `axe run` says: lines for people, or one of JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "run.h"

bool
axe_run_passed(const axe_run *r)
{
    for (int i = 0; i < r->n_param && r->check; i++)
        if (r->check[i].n_wrong > 0)
            return false;
    return true;
}

static double
median(const axe_run *r)
{
    int n = r->n_time;

    return n % 2 ? r->time[n / 2] : (r->time[n / 2 - 1] + r->time[n / 2]) / 2;
}

/* "(3, 4)" */
static const char *
shape_text(axe_ctx *cx, const axe_npy *a)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, '(');
    for (int i = 0; i < a->rank; i++)
        axe_putf(&b, "%s%" PRId64, i > 0 ? ", " : "", a->shape[i]);
    axe_putc(&b, ')');
    return b.text;
}

/* Row-major number to "[2, 17]". */
static const char *
place_text(axe_ctx *cx, const axe_npy *a, int64_t number)
{
    int64_t at[AXE_NPY_MAX_RANK];
    axe_buf b = {.cx = cx};

    for (int i = a->rank - 1; i >= 0; i--) {
        at[i] = number % a->shape[i];
        number /= a->shape[i];
    }
    axe_putc(&b, '[');
    for (int i = 0; i < a->rank; i++)
        axe_putf(&b, "%s%" PRId64, i > 0 ? ", " : "", at[i]);
    axe_putc(&b, ']');
    return b.text;
}

static void
print_param(axe_ctx *cx, const axe_run_param *p)
{
    bool        out = p->access & AXE_WRITES;
    const char *type = axe_type_table[p->npy.type].name;

    printf("  %-8s %-5s %s%s %s%s\n", p->name, type, shape_text(cx, &p->npy),
           p->npy.fortran && p->npy.rank > 1 ? " column-major" : "",
           out ? "-> " : "<- ",
           p->path     ? axe_text_plain(cx, p->path)
           : p->number ? p->number
           : p->random ? axe_textf(cx, "(random, %s)", p->random)
           : out       ? "(not kept)"
                       : "(random)");
}

/* "unverifiable": most elements have no bound that they could break. */
static const char *
verdict(const axe_difference *d)
{
    return d->n_wrong > 0                       ? "WRONG"
           : d->n_unbound > d->n - d->n_unbound ? "unverifiable"
                                                : "ok";
}

static void
print_check(axe_ctx *cx, const axe_run_param *p, const axe_difference *d)
{
    printf("  check %s: %s, %" PRId64 " elements, max error %.3g absolute, "
           "%.3g relative, %.2g of its bound\n",
           p->name, verdict(d), d->n, d->max_abs, d->max_rel, d->max_share);
    if (d->n_wrong > 0)
        printf("    %" PRId64 " wrong, worst %s%s: %.9g, should be %.9g "
               "+- %.3g\n",
               d->n_wrong, p->name, place_text(cx, &p->npy, d->worst), d->got,
               d->want, d->bound > 0 ? d->bound : 0);
    if (d->n_unbound > 0)
        printf("    %" PRId64 " elements have no error bound and could not be "
               "checked\n",
               d->n_unbound);
}

static void
print_time(const axe_run *r)
{
    double m = median(r), least = r->time[0];

    printf("  time: median %.4g ms, least %.4g ms of %d", m * 1e3, least * 1e3,
           r->n_time);
    if (r->work.flops > 0)
        printf("; %.4g GFLOP/s", r->work.flops / m * 1e-9);
    if (r->work.bytes > 0)
        printf("; %.4g GB/s of arguments", r->work.bytes / m * 1e-9);
    printf("\n");
    if (r->n_device > 1 && r->exposed >= 0)
        printf(
            "  exposed: %.4g ms of the middle run, in which device 0 moved or "
            "waited and did not compute\n",
            r->exposed * 1e3);
}

static void
print_moved(const axe_run *r)
{
    printf("  moved    %" PRId64 " bytes between devices", r->moved[0]);
    if (r->moved[0] == r->moved[1])
        printf(", as planned\n");
    else
        printf("; plans have %" PRId64 "\n", r->moved[1]);
}

void
axe_run_print(axe_ctx *cx, const axe_run *r)
{
    printf("%s on %s", axe_program_kernel(r->program), r->on);
    for (int i = 0; i < r->n_size; i++)
        printf("%s%s = %" PRId64, i > 0 ? ", " : ": ", r->size[i].name,
               r->size[i].value);
    printf("\n");
    if (axe_program_tuned(r->program))
        printf("  values   %s\n", axe_program_tuned(r->program));
    for (int i = 0; i < r->n_param; i++)
        print_param(cx, &r->param[i]);
    for (int i = 0; i < r->n_param && r->check; i++)
        if (r->param[i].access & AXE_WRITES)
            print_check(cx, &r->param[i], &r->check[i]);
    if (r->check && r->moved)
        print_moved(r);
    if (r->n_time > 0)
        print_time(r);
}

/* -------------------------------------------------------------------- JSON */

/* JSON has no infinity and no NaN. */
static void
put_number(axe_buf *b, const char *key, double v)
{
    if (isfinite(v))
        axe_putf(b, "\"%s\": %.17g", key, v);
    else
        axe_putf(b, "\"%s\": \"%s\"", key,
                 isnan(v) ? "nan"
                 : v > 0  ? "inf"
                          : "-inf");
}

static void
put_check(axe_buf *b, const axe_difference *d)
{
    axe_putf(b,
             ", \"check\": {\"ok\": %s, \"n\": %" PRId64
             ", \"n_wrong\": %" PRId64 ", \"n_unbound\": %" PRId64
             ", \"verdict\": \"%s\", ",
             d->n_wrong > 0 ? "false" : "true", d->n, d->n_wrong, d->n_unbound,
             verdict(d));
    put_number(b, "max_abs", d->max_abs);
    axe_puts(b, ", ");
    put_number(b, "max_rel", d->max_rel);
    axe_puts(b, ", ");
    put_number(b, "max_share", d->max_share);
    axe_putf(b, ", \"worst\": %" PRId64 "}", d->worst);
}

static void
put_param(axe_buf *b, const axe_run *r, int k)
{
    const axe_run_param *p = &r->param[k];

    axe_putf(b, "%s\"%s\": {\"type\": \"%s\", \"shape\": [", k > 0 ? ", " : "",
             p->name, axe_type_table[p->npy.type].name);
    for (int i = 0; i < p->npy.rank; i++)
        axe_putf(b, "%s%" PRId64, i > 0 ? ", " : "", p->npy.shape[i]);
    axe_puts(b, "], \"file\": ");
    if (p->path)
        axe_json_put_text(b, p->path, strlen(p->path));
    else
        axe_puts(b, "null");
    if (r->check && (p->access & AXE_WRITES))
        put_check(b, &r->check[k]);
    axe_putc(b, '}');
}

static void
put_names(axe_buf *b, const axe_run *r)
{
    axe_putf(b, "\"kernel\": \"%s\", \"machine\": \"%s\", ",
             axe_program_kernel(r->program), axe_program_machine(r->program));
}

static void
put_devices(axe_buf *b, const axe_run *r)
{
    axe_putf(b, "\"devices\": %" PRId64 ", \"engine\": \"%s\", ", r->n_device,
             r->engine);
    if (r->check && r->moved)
        axe_putf(b, "\"moved\": %" PRId64 ", \"planned\": %" PRId64 ", ",
                 r->moved[0], r->moved[1]);
}

static void
put_arguments(axe_buf *b, const axe_run *r)
{
    axe_puts(b, "\"sizes\": {");
    for (int i = 0; i < r->n_size; i++)
        axe_putf(b, "%s\"%s\": %" PRId64, i > 0 ? ", " : "", r->size[i].name,
                 r->size[i].value);
    axe_puts(b, "}, \"params\": {");
    for (int i = 0; i < r->n_param; i++)
        put_param(b, r, i);
    axe_putc(b, '}');
}

static void
put_time(axe_buf *b, const axe_run *r)
{
    axe_putf(b, ", \"time\": {\"n\": %d, ", r->n_time);
    put_number(b, "median_s", median(r));
    axe_puts(b, ", ");
    put_number(b, "min_s", r->time[0]);
    axe_puts(b, ", ");
    put_number(b, "flops", r->work.flops);
    axe_puts(b, ", ");
    put_number(b, "bytes", r->work.bytes);
    if (r->n_device > 1 && r->exposed >= 0) {
        axe_puts(b, ", ");
        put_number(b, "exposed_s", r->exposed);
    }
    axe_putc(b, '}');
}

void
axe_run_print_json(axe_ctx *cx, const axe_run *r)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, '{');
    put_names(&b, r);
    axe_putf(&b, "\"threads\": %d, \"cached\": %s", r->n_thread,
             r->cached ? "true" : "false");
    axe_puts(&b, ", \"tuned\": ");
    if (axe_program_tuned(r->program))
        axe_json_put_text(&b, axe_program_tuned(r->program),
                          strlen(axe_program_tuned(r->program)));
    else
        axe_puts(&b, "null");
    axe_puts(&b, ", ");
    if (r->n_device > 0)
        put_devices(&b, r);
    put_arguments(&b, r);
    if (r->n_time > 0)
        put_time(&b, r);
    axe_puts(&b, "}\n");
    fwrite(b.text, 1, b.len, stdout);
}

void
axe_run_print_json_with(axe_ctx *cx, const axe_run *r, const char *members)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, '{');
    put_names(&b, r);
    put_arguments(&b, r);
    axe_putf(&b, ", %s", members);
    fwrite(b.text, 1, b.len, stdout);
}
