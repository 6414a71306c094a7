/* sharding_format.c - shardings as formats: a spec as its system writes it, on
 * a mesh and for a shape that are given beside it, as one layout over gpuid and
 * m.
 *
 *     dtensor    [S(0), R, P(sum)]       jax     P('x', None, ('y', 'z'))
 *     gspmd      {devices=[2,4]<=[8]}    alpa    S01R      megatron   column
 *
 * Only read.  Sums are refused, since each holder has a summand and not a copy;
 * so are parts of unequal size, which are a layout on a larger tensor alone. */
#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/sharding.h"

/* Append a value behind *last of a list or object. */
static axe_json *
add(axe_ctx *cx, axe_json *parent, axe_json **last, axe_json v)
{
    axe_json *p = axe_new(cx, axe_json);

    *p = v;
    if (*last)
        (*last)->next = p;
    else
        parent->child = p;
    *last = p;
    parent->n_child++;
    return p;
}

static axe_json
text_value(const char *s)
{
    return (axe_json){.kind = AXE_JSON_TEXT, .text = s, .len = strlen(s)};
}

/* mesh = extent { "," extent } | name "=" extent { "," name "=" extent } */
static axe_status
read_mesh(axe_ctx *cx, const char *text, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "mesh", text);
    axe_json  *last = NULL;

    *out = (axe_json){.kind = AXE_JSON_LIST};
    do {
        axe_json v = {.kind = AXE_JSON_INT};

        axe_scan_peek(&r);
        if ((v.key = axe_scan_name(&r))) {
            out->kind = AXE_JSON_OBJECT;
            v.key_len = strlen(v.key);
            AXE_TRY(axe_cv_need(&r, "mesh", '='));
        }
        AXE_TRY(axe_cv_int(&r, "mesh", "an extent", &v.integer));
        add(cx, out, &last, v);
    } while (axe_scan_take(&r, ','));
    return axe_cv_end(&r, "mesh");
}

/* "[" placement { "," placement } "]", each as it is: one may hold a comma. */
static axe_status
read_placements(axe_ctx *cx, const char *text, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "dtensor", text);
    axe_json  *last = NULL;
    size_t     from;

    *out = (axe_json){.kind = AXE_JSON_LIST};
    AXE_TRY(axe_cv_need(&r, "dtensor", '['));
    while (!axe_scan_take(&r, ']')) {
        axe_scan_peek(&r);
        from = r.at;
        if (!axe_scan_name(&r))
            return axe_cv_expected(&r, "dtensor", "a placement");
        if (axe_scan_take(&r, '(')) {
            while (r.at < r.len && r.text[r.at] != ')')
                r.at++;
            AXE_TRY(axe_cv_need(&r, "dtensor", ')'));
        }
        add(cx, out, &last,
            text_value(axe_textf(cx, "%.*s", (int)(r.at - from), text + from)));
        if (axe_scan_peek(&r) != ']')
            AXE_TRY(axe_cv_need(&r, "dtensor", ','));
    }
    return axe_cv_end(&r, "dtensor");
}

/* A quoted name, into the list. */
static axe_status
read_quoted(axe_reader *r, axe_json *list, axe_json **last)
{
    char        quote = axe_scan_peek(r);
    const char *name;

    if (quote != '\'' && quote != '"')
        return axe_cv_expected(r, "jax", "a mesh axis in quotes, or None");
    r->at++;
    if (!(name = axe_scan_name(r)))
        return axe_cv_expected(r, "jax", "a name");
    AXE_TRY(axe_cv_need(r, "jax", quote));
    add(r->cx, list, last, text_value(name));
    return AXE_OK;
}

/* ( "P" | "PartitionSpec" ) "(" [ part { "," part } ] ")"
 * part = "None" | name | "(" name { "," name } ")"
 * Dimensions that are not named are whole. */
static axe_status
read_partition(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "jax", text);
    axe_json  *last = NULL, *inner, *one;

    *out = (axe_json){.kind = AXE_JSON_LIST};
    if (!axe_scan_word(&r, "P") && !axe_scan_word(&r, "PartitionSpec"))
        return axe_cv_expected(&r, "jax", "P(..)");
    AXE_TRY(axe_cv_need(&r, "jax", '('));
    while (!axe_scan_take(&r, ')')) {
        one = add(cx, out, &last, (axe_json){.kind = AXE_JSON_LIST});
        inner = NULL;
        if (axe_scan_take(&r, '(')) {
            while (!axe_scan_take(&r, ')')) {
                AXE_TRY(read_quoted(&r, one, &inner));
                if (axe_scan_peek(&r) != ')')
                    AXE_TRY(axe_cv_need(&r, "jax", ','));
            }
        } else if (!axe_scan_word(&r, "None")) {
            AXE_TRY(read_quoted(&r, one, &inner));
        }
        if (axe_scan_peek(&r) != ')')
            AXE_TRY(axe_cv_need(&r, "jax", ','));
    }
    while (out->n_child < rank)
        add(cx, out, &last, (axe_json){.kind = AXE_JSON_LIST});
    return axe_cv_end(&r, "jax");
}

static axe_status
sharded(axe_ctx *cx, const char *system, const axe_json *spec,
        const axe_convert_options *opt, const axe_layout **out)
{
    axe_json          mesh;
    axe_sharding      s;
    const axe_layout *l;
    const char       *why;
    int64_t           domain[AXE_SHARD_RANK];

    AXE_TRY(read_mesh(cx, opt->mesh, &mesh));
    AXE_TRY(axe_sharding_read(cx, system, opt->shape, &mesh, spec, &s));
    if (s.partial.len > 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s: partial sums: each holder has a summand of an "
                        "element, not a copy of it",
                        system);
    AXE_TRY(axe_sharding_layout(cx, &s, domain, &l, &why));
    if (!l)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "%s: no layout: %s",
                        system, why);
    for (int k = 0; k < s.rank; k++)
        if (domain[k] != s.shape[k]) {
            axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                     "%s: dimension %d, %" PRId64
                     ", is not cut evenly: it is a layout of %" PRId64
                     ", of which the last are not there",
                     system, k, s.shape[k], domain[k]);
            axe_help(cx, "a shape with %" PRId64 " in its place has one",
                     domain[k]);
            return AXE_EUNSUPPORTED;
        }
    *out = l;
    return AXE_OK;
}

axe_status
axe_cv_read_dtensor(axe_ctx *cx, const char *text,
                    const axe_convert_options *opt, const axe_layout **out)
{
    axe_json spec;

    AXE_TRY(read_placements(cx, text, &spec));
    return sharded(cx, "dtensor", &spec, opt, out);
}

axe_status
axe_cv_read_jax(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                const axe_layout **out)
{
    axe_json spec;

    AXE_TRY(read_partition(cx, text, opt->shape.n, &spec));
    return sharded(cx, "jax", &spec, opt, out);
}

axe_status
axe_cv_read_gspmd(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                  const axe_layout **out)
{
    axe_json spec = text_value(text);

    return sharded(cx, "gspmd", &spec, opt, out);
}

axe_status
axe_cv_read_alpa(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                 const axe_layout **out)
{
    axe_json spec = text_value(text);

    return sharded(cx, "alpa", &spec, opt, out);
}

axe_status
axe_cv_read_megatron(axe_ctx *cx, const char *text,
                     const axe_convert_options *opt, const axe_layout **out)
{
    axe_json spec = text_value(text);

    return sharded(cx, "megatron", &spec, opt, out);
}
