/* linear_format.c - the format triton: a linear layout as its IR has it,
 *
 *     #ttg.linear<{register = [[0, 1], [8, 0]], lane = [..], warp = [], block =
 * []}>
 *
 * or the braces alone. */
#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/linear.h"

static const char FORMAT[] = "triton";

/* "[" [ basis { "," basis } ] "]", a basis a list of numbers */
static axe_status
read_list(axe_reader *r, axe_json *list)
{
    int64_t   v[AXE_CV_RANK];
    axe_json *last = NULL, *basis, *number;
    int       n;

    AXE_TRY(axe_cv_need(r, FORMAT, '['));
    while (!axe_scan_take(r, ']')) {
        AXE_TRY(axe_cv_ints(r, FORMAT, '[', ']', v, &n));
        basis =
            axe_cv_add(r->cx, list, &last, (axe_json){.kind = AXE_JSON_LIST});
        number = NULL;
        for (int i = 0; i < n; i++)
            axe_cv_add(r->cx, basis, &number,
                       (axe_json){.kind = AXE_JSON_INT, .integer = v[i]});
        if (axe_scan_peek(r) != ']')
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    return AXE_OK;
}

static axe_status
read_bases(axe_reader *r, axe_json *out)
{
    axe_json   *last = NULL, *list;
    const char *name;

    *out = (axe_json){.kind = AXE_JSON_OBJECT};
    AXE_TRY(axe_cv_need(r, FORMAT, '{'));
    while (!axe_scan_take(r, '}')) {
        axe_scan_peek(r);
        if (!(name = axe_scan_name(r)))
            return axe_cv_expected(r, FORMAT, "the name of an input");
        AXE_TRY(axe_cv_need(r, FORMAT, '='));
        list = axe_cv_add(r->cx, out, &last,
                          (axe_json){.kind = AXE_JSON_LIST,
                                     .key = name,
                                     .key_len = strlen(name)});
        AXE_TRY(read_list(r, list));
        if (axe_scan_peek(r) != '}')
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    return AXE_OK;
}

axe_status
axe_cv_read_triton(axe_ctx *cx, const char *text,
                   const axe_convert_options *opt, const axe_layout **out)
{
    axe_reader r = axe_cv_open(cx, FORMAT, text);
    bool       named = axe_scan_take(&r, '#');
    axe_json   bases;
    axe_linear l;

    if (named) {
        if (!axe_scan_word(&r, "ttg") || !axe_scan_take(&r, '.') ||
            !axe_scan_word(&r, "linear"))
            return axe_cv_expected(&r, FORMAT, "#ttg.linear");
        AXE_TRY(axe_cv_need(&r, FORMAT, '<'));
    }
    AXE_TRY(read_bases(&r, &bases));
    if (named)
        AXE_TRY(axe_cv_need(&r, FORMAT, '>'));
    AXE_TRY(axe_cv_end(&r, FORMAT));
    AXE_TRY(axe_linear_read(cx, &bases, opt->shape, &l));
    return axe_linear_to_axe(cx, &l, out);
}

axe_status
axe_cv_write_triton(axe_ctx *cx, const axe_layout *l,
                    const axe_convert_options *opt, const char **text)
{
    axe_buf    b = {.cx = cx};
    axe_linear m;

    if (opt->shape.n > 0)
        AXE_TRY(axe_layout_group(cx, l, opt->shape, &l));
    AXE_TRY(axe_linear_from_axe(cx, l, &m));
    axe_puts(&b, "#ttg.linear<{");
    for (int d = 0; d < m.n_in; d++) {
        axe_putf(&b, "%s%s = [", d ? ", " : "", m.in[d]);
        for (int i = 0; i < m.in_bits[d]; i++) {
            uint64_t v = m.basis[axe_linear_in_at(&m, d) + i];
            int64_t  part[AXE_LINEAR_DIMS];

            for (int k = 0; k < m.n_out; k++)
                part[k] = axe_linear_part(&m, v, k);
            axe_puts(&b, i ? ", " : "");
            axe_cv_put_ints(&b, "[", m.n_out, part, "]");
        }
        axe_putc(&b, ']');
    }
    axe_puts(&b, "}>");
    *text = b.text;
    return AXE_OK;
}
