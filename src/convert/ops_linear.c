/* ops_linear.c - linear layouts, Triton's, as operations. */
#include <inttypes.h>

#include "convert/bitlinear.h"
#include "convert/ops.h"

/* {"D", "R"?, "O"?}, the arguments themselves, or {"layout"}. */
static axe_status
own_layout(axe_job *j, const axe_layout **out)
{
    if (axe_json_get(j->in, "layout"))
        return axe_job_layout(j, "layout", out);
    return axe_json_to_layout(j->cx, j->in, "layout", out);
}

axe_status
axe_cop_bit_linear(axe_job *j)
{
    const axe_layout *l;
    axe_bit          *b;
    int64_t           w[2];
    bool              yes;
    int               n;

    AXE_TRY(own_layout(j, &l));
    AXE_TRY(axe_bit_linear(j->cx, l, &yes, &n, &b, w));
    if (!yes) {
        axe_putf(j->out,
                 "{\"bit_linear\":false,\"witness\":[%" PRId64 ",%" PRId64 "]}",
                 w[0], w[1]);
        return AXE_OK;
    }
    axe_puts(j->out, "{\"bit_linear\":true,\"bases\":{");
    for (int i = 0; i < n; i++) {
        axe_putf(j->out, "%s\"%" PRId64 "\":{", i ? "," : "", (int64_t)1 << i);
        if (b[i].stride != 0) {
            axe_json_put_name(j->out, axe_axis_name(j->cx, b[i].axis));
            axe_putf(j->out, ":%" PRId64, b[i].stride);
        }
        axe_putc(j->out, '}');
    }
    axe_puts(j->out, "}}");
    return AXE_OK;
}
