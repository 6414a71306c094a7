/* linear_format.c - the format triton: any layout as its IR or Gluon has it
 * (linear_text.c), or the bases of a linear one alone,
 *
 *     {register = [[0, 1], [8, 0]], lane = [..], warp = [], block = []}
 *
 * Written is #ttg.linear<..>. */
#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/linear.h"
#include "convert/linear_text.h"

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

/* Where the layout does not say it itself. */
static axe_status
need_shape(axe_ctx *cx, axe_shape shape, const char *kind)
{
    if (shape.n > 0)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "triton: a %s layout needs the option shape: it is laid "
                    "out again and again over a tensor",
                    kind);
}

/* The shape that the object says, which the option may repeat. */
static axe_status
own_shape(axe_ctx *cx, const axe_json *v, axe_shape *shape)
{
    const axe_json *own = axe_json_get(v, "shape");
    int64_t        *e;
    int             n = 0;

    if (!own || own->kind != AXE_JSON_LIST || shape->n > 0)
        return AXE_OK;
    e = axe_new_array(cx, int64_t, own->n_child + 1);
    for (const axe_json *c = own->child; c; c = c->next) {
        if (c->kind != AXE_JSON_INT || c->integer < 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "triton: a shape is a list of extents");
        e[n++] = c->integer;
    }
    *shape = (axe_shape){n, e};
    return AXE_OK;
}

/* The members of a linear layout that are bases. */
static axe_json
bases_of(axe_ctx *cx, const axe_json *v)
{
    axe_json  out = {.kind = AXE_JSON_OBJECT};
    axe_json *last = NULL;

    for (const axe_json *c = v->child; c; c = c->next)
        if (c->kind == AXE_JSON_LIST && strcmp(c->key, "shape") != 0) {
            axe_json one = *c;

            one.next = NULL;
            axe_cv_add(cx, &out, &last, one);
        }
    return out;
}

static axe_status
read_named(axe_reader *r, axe_shape shape, const axe_layout **out)
{
    axe_json    v, bases;
    const char *kind;
    axe_linear  l;

    AXE_TRY(axe_linear_text_read(r, &v));
    AXE_TRY(own_shape(r->cx, &v, &shape));
    kind = axe_json_get(&v, "kind")->text;
    if (strcmp(kind, "linear") == 0) {
        bases = bases_of(r->cx, &v);
        AXE_TRY(axe_linear_read(r->cx, &bases, shape, &l));
        return axe_linear_to_axe(r->cx, &l, out);
    }
    AXE_TRY(need_shape(r->cx, shape, kind));
    if (axe_linear_text_shared(&v)) {
        AXE_TRY(axe_shared_named(r->cx, &v, shape, out));
        return axe_layout_canon(r->cx, *out, out);
    }
    AXE_TRY(axe_linear_named(r->cx, &v, shape, &l));
    return axe_linear_to_axe(r->cx, &l, out);
}

axe_status
axe_cv_read_triton(axe_ctx *cx, const char *text,
                   const axe_convert_options *opt, const axe_layout **out)
{
    axe_reader r = axe_cv_open(cx, FORMAT, text);
    axe_json   bases;
    axe_linear l;

    if (axe_scan_peek(&r) != '{')
        return read_named(&r, opt->shape, out);
    AXE_TRY(read_bases(&r, &bases));
    AXE_TRY(axe_cv_end(&r, FORMAT));
    AXE_TRY(axe_linear_read(cx, &bases, opt->shape, &l));
    return axe_linear_to_axe(cx, &l, out);
}

static void
put_bases(axe_buf *b, const axe_linear *m, int d, bool first)
{
    axe_putf(b, "%s%s = [", first ? "" : ", ", m->in[d]);
    for (int i = 0; i < m->in_bits[d]; i++) {
        uint64_t v = m->basis[axe_linear_in_at(m, d) + i];
        int64_t  part[AXE_LINEAR_DIMS];

        for (int k = 0; k < m->n_out; k++)
            part[k] = axe_linear_part(m, v, k);
        axe_puts(b, i ? ", " : "");
        axe_cv_put_ints(b, "[", m->n_out, part, "]");
    }
    axe_putc(b, ']');
}

/* The inputs that Triton's attribute has in order, register to block, come
 * first; memory has offset instead of the first three.  What is over other
 * inputs is no attribute: the braces alone. */
axe_status
axe_cv_write_triton(axe_ctx *cx, const axe_layout *l,
                    const axe_convert_options *opt, const char **text)
{
    enum { BLOCK = 3, OFFSET = 4 };
    axe_buf    b = {.cx = cx};
    axe_linear m;
    bool       memory;

    if (opt->shape.n > 0)
        AXE_TRY(axe_layout_group(cx, l, opt->shape, &l));
    AXE_TRY(axe_linear_from_axe(cx, l, &m));
    memory = m.n_in == OFFSET + 1 && strcmp(m.in[OFFSET], "offset") == 0 &&
             axe_linear_in_at(&m, BLOCK) == 0;
    if (memory) {
        axe_puts(&b, "#ttg.shared_linear<{");
        put_bases(&b, &m, OFFSET, true);
        put_bases(&b, &m, BLOCK, false);
        axe_puts(&b, "}, alignment = 16>");
    } else {
        axe_puts(&b, m.n_in == BLOCK + 1 ? "#ttg.linear<{" : "{");
        for (int d = 0; d < m.n_in; d++)
            put_bases(&b, &m, d, d == 0);
        axe_puts(&b, m.n_in == BLOCK + 1 ? "}>" : "}");
    }
    *text = b.text;
    return AXE_OK;
}
