/* explain_simt.c - what launches of many threads should take, and why. */
#include <inttypes.h>

#include "plan/cost/simt.h"
#include "plan/report/facts_simt.h"

/* "1.04 ms": three digits. */
static void
put_time(axe_buf *out, double s)
{
    if (s < 1e-3)
        axe_putf(out, "%.3g us", s * 1e6);
    else
        axe_putf(out, "%.3g ms", s * 1e3);
}

static void
put_bytes(axe_buf *out, double n)
{
    if (n < 1e9)
        axe_putf(out, "%.3g MB", n * 1e-6);
    else
        axe_putf(out, "%.3g GB", n * 1e-9);
}

static void
put_rate(axe_buf *out, const axe_simt_cost *c)
{
    if (c->flops > 0)
        axe_putf(out, ", %.0f TFLOP/s", c->flops / c->seconds * 1e-12);
    if (c->least_s > c->seconds) {
        axe_puts(out, ", with its bytes in L2; from memory they take ");
        put_time(out, c->least_s);
        return;
    }
    axe_putf(out, ", %.1f %% of what is possible (",
             100 * c->least_s / c->seconds);
    put_time(out, c->least_s);
    axe_puts(out, ")");
}

static void
put_launch(axe_buf *out, const axe_simt_cost *c)
{
    axe_putf(out,
             "            %.0f tile%s in %.0f round%s, %.3f full; %.0f CTA%s "
             "in an SM at a time\n           ",
             c->tiles, c->tiles == 1 ? "" : "s", c->rounds,
             c->rounds == 1 ? "" : "s", c->full, c->resident,
             c->resident == 1 ? "" : "s");
    for (int b = 0; b < AXE_N_BUSY; b++) {
        axe_putf(out, "%s %s ", b ? "," : "", axe_busy_name((axe_busy)b));
        put_time(out, c->busy[b]);
    }
    axe_puts(out, "\n            from and to L2 ");
    put_bytes(out, c->l2_bytes);
    axe_puts(out, ", memory ");
    put_bytes(out, c->memory_bytes);
    axe_puts(out, "\n");
}

/* Of scopes that overlap: what that saves. */
static void
put_apart(axe_buf *out, const axe_plan *p, const axe_simt_cost *c)
{
    bool any = false;

    for (int i = 0; i < p->simt->n_launch; i++)
        any = any || p->simt->launch[i].overlap;
    if (!any || c->apart_s <= 0)
        return;
    axe_puts(out, "            with a launch for each scope: ");
    put_time(out, c->apart_s);
    axe_putf(out, ", %.3f of that\n", c->seconds / c->apart_s);
}

void
axe_explain_launches(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                     const int64_t *size)
{
    axe_simt_cost all, c;
    int           n = 0;

    axe_simt_cost_plan(cx, p, size, &all);
    axe_puts(out, "estimate    ");
    for (int i = 0; i < p->kernel->n_size; i++)
        axe_putf(out, "%s%s = %" PRId64, i ? ", " : "",
                 p->kernel->size[i]->name, size[i]);
    axe_puts(out, p->kernel->n_size ? ": " : "");
    if (all.seconds < 0) {
        axe_puts(out, "none: it is not launched at these sizes\n");
        return;
    }
    put_time(out, all.seconds);
    if (all.seconds > 0)
        put_rate(out, &all);
    axe_puts(out, "\n");
    put_apart(out, p, &all);
    for (int i = 0; i < p->simt->n_launch; i++) {
        axe_simt_cost_launch(cx, p, i, size, (axe_cost_ideal){0}, &c);
        bool goes_on = axe_simt_goes_on(p->simt, &p->simt->launch[i]);
        n += !goes_on;
        if (p->simt->n_launch > 1) {
            axe_putf(out,
                     goes_on ? "            launch %d, its next scope: "
                             : "            launch %d: ",
                     n - 1);
            put_time(out, c.seconds);
            if (c.times != 1)
                axe_putf(out, ", %.3g times", c.times);
            axe_puts(out, c.tiles > 0 ? "\n" : ", no tiles\n");
        }
        if (c.tiles > 0)
            put_launch(out, &c);
    }
}

void
axe_explain_launches_json(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                          const int64_t *size)
{
    axe_puts(out, "\"estimates\":[");
    for (int i = 0; i < p->simt->n_launch; i++) {
        axe_simt_cost c;
        axe_simt_cost_launch(cx, p, i, size, (axe_cost_ideal){0}, &c);
        if (c.seconds < 0) {
            axe_putf(out, "%s{\"seconds\":null}", i ? "," : "");
            continue;
        }
        axe_putf(out,
                 "%s{\"seconds\":%.6g,\"least\":%.6g,\"tiles\":%.0f,"
                 "\"rounds\":%.0f,\"full\":%.4f,\"resident\":%.0f,"
                 "\"times\":%.6g,\"flops\":%.6g,\"l2_bytes\":%.6g,\"memory_"
                 "bytes\":%.6g,\"apart\":%.6g,"
                 "\"most\":\"%s\"",
                 i ? "," : "", c.seconds, c.least_s, c.tiles, c.rounds, c.full,
                 c.resident, c.times, c.flops, c.l2_bytes, c.memory_bytes,
                 c.apart_s, axe_busy_name(c.most));
        for (int b = 0; b < AXE_N_BUSY; b++)
            axe_putf(out, ",\"%s\":%.6g", axe_busy_name((axe_busy)b),
                     c.busy[b]);
        axe_puts(out, "}");
    }
    axe_puts(out, "],");
}
