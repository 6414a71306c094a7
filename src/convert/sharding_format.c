/* sharding_format.c - shardings as formats: a spec as its system writes it, on
 * a mesh and for a shape that are given beside it, as one layout over gpuid and
 * m.
 *
 *     dtensor    [S(0), R, P(sum)]          oneflow      (S(0), B)
 *     jax        P('x', None, ('y', 'z'))   shardy       #sdy.sharding<@mesh,
 *     gspmd      {devices=[2,4]<=[8]}                        [{"x"},
 * {"y":(1)2}]> alpa       S01R                       blockcyclic  nb=(2, 2),
 * order=C megatron   column                     zigzag       zigzag(dim=1)
 *
 * Sums are refused, since each holder has a summand and not a copy; so are
 * parts of unequal size, which are a layout on a larger tensor alone. */
#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/sharding_int.h"

static axe_json
text_value(const char *s)
{
    return (axe_json){.kind = AXE_JSON_TEXT, .text = s, .len = strlen(s)};
}

/* mesh = extent { "," extent } | name "=" extent { "," name "=" extent } */
axe_status
axe_cv_mesh(axe_ctx *cx, const char *text, axe_json *out)
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
        axe_cv_add(cx, out, &last, v);
    } while (axe_scan_take(&r, ','));
    return axe_cv_end(&r, "mesh");
}

/* ------------------------------------------------------------- placements */

typedef axe_status place_reader(axe_reader *r, axe_placement *out);

/* open placement { "," placement } [ "," ] close, or one alone; each is
 * checked here, where its place is known, and kept as text. */
static axe_status
read_placements(axe_reader *r, const char *format, place_reader *read,
                axe_json *out)
{
    axe_json     *last = NULL;
    axe_placement p;
    char          close = axe_scan_take(r, '[')   ? ']'
                          : axe_scan_take(r, '(') ? ')'
                                                  : '\0';

    *out = (axe_json){.kind = AXE_JSON_LIST};
    while (!close || !axe_scan_take(r, close)) {
        size_t from;

        axe_scan_peek(r);
        from = r->at;
        AXE_TRY(read(r, &p));
        axe_cv_add(r->cx, out, &last,
                   text_value(axe_textf(r->cx, "%.*s", (int)(r->at - from),
                                        r->text + from)));
        if (!close)
            break;
        if (axe_scan_peek(r) != close)
            AXE_TRY(axe_cv_need(r, format, ','));
    }
    return axe_cv_end(r, format);
}

/* ------------------------------------------------------- axes of the mesh */

/* A quoted name. */
static axe_status
read_quoted(axe_reader *r, const char *format, const char *what,
            const char **name)
{
    char quote = axe_scan_peek(r);

    if (quote != '\'' && quote != '"')
        return axe_cv_expected(r, format, what);
    r->at++;
    if (!(*name = axe_scan_name(r)))
        return axe_cv_expected(r, format, "a name");
    return axe_cv_need(r, format, quote);
}

/* The axes of one dimension, in parentheses. */
static axe_status
read_tuple(axe_reader *r, axe_json *axes, axe_json **last)
{
    const char *name;

    while (!axe_scan_take(r, ')')) {
        AXE_TRY(read_quoted(r, "jax", "a mesh axis in quotes", &name));
        axe_cv_add(r->cx, axes, last, text_value(name));
        if (axe_scan_peek(r) != ')')
            AXE_TRY(axe_cv_need(r, "jax", ','));
    }
    return AXE_OK;
}

/* ( "P" | "PartitionSpec" ) "(" [ part { "," part } ] ")"
 * part = "None" | name | "(" name { "," name } ")"
 * Dimensions that are not named are whole. */
static axe_status
read_partition(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader  r = axe_cv_open(cx, "jax", text);
    axe_json   *last = NULL, *inner, *one;
    const char *name;

    *out = (axe_json){.kind = AXE_JSON_LIST};
    if (!axe_scan_word(&r, "P") && !axe_scan_word(&r, "PartitionSpec"))
        return axe_cv_expected(&r, "jax", "P(..)");
    AXE_TRY(axe_cv_need(&r, "jax", '('));
    while (!axe_scan_take(&r, ')')) {
        one = axe_cv_add(cx, out, &last, (axe_json){.kind = AXE_JSON_LIST});
        inner = NULL;
        if (axe_scan_take(&r, '(')) {
            AXE_TRY(read_tuple(&r, one, &inner));
        } else if (!axe_scan_word(&r, "None")) {
            AXE_TRY(read_quoted(&r, "jax", "a mesh axis in quotes, or None",
                                &name));
            axe_cv_add(cx, one, &inner, text_value(name));
        }
        if (axe_scan_peek(&r) != ')')
            AXE_TRY(axe_cv_need(&r, "jax", ','));
    }
    while (out->n_child < rank)
        axe_cv_add(cx, out, &last, (axe_json){.kind = AXE_JSON_LIST});
    return axe_cv_end(&r, "jax");
}

/* name [ ":" "(" major ")" size ], as text; what it holds of that axis */
static axe_status
read_sub_axis(axe_reader *r, const char **out)
{
    const char *name;
    int64_t     major, size;

    AXE_TRY(read_quoted(r, "shardy", "a mesh axis in quotes", &name));
    *out = name;
    if (!axe_scan_take(r, ':'))
        return AXE_OK;
    AXE_TRY(axe_cv_need(r, "shardy", '('));
    AXE_TRY(axe_cv_int(r, "shardy", "what is above the part", &major));
    AXE_TRY(axe_cv_need(r, "shardy", ')'));
    AXE_TRY(axe_cv_int(r, "shardy", "the part's size", &size));
    *out = axe_textf(r->cx, "%s:(%" PRId64 ")%" PRId64, name, major, size);
    return AXE_OK;
}

/* "{" [ axis { "," axis } ] "}" [ priority ], into a list; of dimension k. */
static axe_status
read_axes(axe_reader *r, int k, axe_json *axes)
{
    axe_json   *last = NULL;
    const char *name;

    AXE_TRY(axe_cv_need(r, "shardy", '{'));
    while (!axe_scan_take(r, '}')) {
        if (axe_scan_peek(r) == '?') {
            axe_fail(r->cx, axe_scan_span(r, r->at, r->at + 1),
                     AXE_EUNSUPPORTED,
                     "shardy: dimension %d is open: it may yet be cut further, "
                     "so nobody knows who has what",
                     k);
            axe_help(r->cx, "Shardy's pass sdy-close-shardings takes '?' away; "
                            "then it is what its axes say");
            return AXE_EUNSUPPORTED;
        }
        AXE_TRY(read_sub_axis(r, &name));
        axe_cv_add(r->cx, axes, &last, text_value(name));
        if (axe_scan_peek(r) != '}')
            AXE_TRY(axe_cv_need(r, "shardy", ','));
    }
    return AXE_OK;
}

/* A priority of the propagation, "p1", which is no part of the layout. */
static void
skip_priority(axe_reader *r)
{
    if (axe_scan_peek(r) == 'p' && r->at + 1 < r->len &&
        axe_is_digit(r->text[r->at + 1]))
        axe_scan_name(r);
}

/* { "," ( "replicated" | "unreduced" ) "=" axes }: the first says what follows
 * anyway, the second makes sums. */
static axe_status
read_shardy_rest(axe_reader *r)
{
    axe_json ignored = {.kind = AXE_JSON_LIST};

    while (axe_scan_take(r, ',')) {
        size_t from;
        bool   sums;

        axe_scan_peek(r);
        from = r->at;
        sums = axe_scan_word(r, "unreduced");
        if (!sums && !axe_scan_word(r, "replicated"))
            return axe_cv_expected(r, "shardy", "replicated or unreduced");
        if (sums)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at),
                            AXE_EUNSUPPORTED,
                            "shardy: partial sums: each holder has a summand "
                            "of an element, not a copy of it");
        AXE_TRY(axe_cv_need(r, "shardy", '='));
        AXE_TRY(read_axes(r, -1, &ignored));
    }
    return AXE_OK;
}

/* [ "#" "sdy" "." "sharding" ] "<" "@" name "," "[" axes { "," axes } "]" ..
 * ">"
 */
static axe_status
read_shardy(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "shardy", text);
    axe_json  *last = NULL;

    (void)rank;
    *out = (axe_json){.kind = AXE_JSON_LIST};
    if (axe_scan_take(&r, '#') &&
        (!axe_scan_word(&r, "sdy") || !axe_scan_take(&r, '.') ||
         !axe_scan_word(&r, "sharding")))
        return axe_cv_expected(&r, "shardy", "#sdy.sharding");
    AXE_TRY(axe_cv_need(&r, "shardy", '<'));
    AXE_TRY(axe_cv_need(&r, "shardy", '@'));
    if (!axe_scan_name(&r))
        return axe_cv_expected(&r, "shardy", "the mesh's name");
    AXE_TRY(axe_cv_need(&r, "shardy", ','));
    AXE_TRY(axe_cv_need(&r, "shardy", '['));
    while (!axe_scan_take(&r, ']')) {
        int k = out->n_child;

        AXE_TRY(read_axes(
            &r, k,
            axe_cv_add(cx, out, &last, (axe_json){.kind = AXE_JSON_LIST})));
        skip_priority(&r);
        if (axe_scan_peek(&r) != ']')
            AXE_TRY(axe_cv_need(&r, "shardy", ','));
    }
    AXE_TRY(read_shardy_rest(&r));
    AXE_TRY(axe_cv_need(&r, "shardy", '>'));
    return axe_cv_end(&r, "shardy");
}

/* ------------------------------------------------------------------ blocks */

/* "(" int { "," int } ")" as the member `key`. */
static axe_status
read_numbers(axe_reader *r, axe_json *spec, axe_json **last, const char *key)
{
    int64_t   v[AXE_CV_RANK];
    axe_json *list, *number = NULL;
    int       n;

    AXE_TRY(axe_cv_ints(r, "blockcyclic", '(', ')', v, &n));
    list = axe_cv_add(
        r->cx, spec, last,
        (axe_json){.kind = AXE_JSON_LIST, .key = key, .key_len = strlen(key)});
    for (int i = 0; i < n; i++)
        axe_cv_add(r->cx, list, &number,
                   (axe_json){.kind = AXE_JSON_INT, .integer = v[i]});
    return AXE_OK;
}

/* "nb" "=" numbers [ "," "src" "=" numbers ] [ "," "order" "=" ( "R" | "C" ) ]
 */
static axe_status
read_blockcyclic(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "blockcyclic", text);
    axe_json  *last = NULL, order = text_value("R");

    (void)rank;
    *out = (axe_json){.kind = AXE_JSON_OBJECT};
    do {
        bool nb = !axe_json_get(out, "nb") && axe_scan_word(&r, "nb");
        bool src = !nb && !axe_json_get(out, "src") && axe_scan_word(&r, "src");

        if (!nb && !src && !axe_scan_word(&r, "order"))
            return axe_cv_expected(&r, "blockcyclic", "nb, src or order");
        AXE_TRY(axe_cv_need(&r, "blockcyclic", '='));
        if (nb || src)
            AXE_TRY(read_numbers(&r, out, &last, nb ? "nb" : "src"));
        else if (axe_scan_word(&r, "C"))
            order.text = "C";
        else if (!axe_scan_word(&r, "R"))
            return axe_cv_expected(&r, "blockcyclic", "R or C");
    } while (axe_scan_take(&r, ','));
    order.key = "order";
    order.key_len = strlen(order.key);
    axe_cv_add(cx, out, &last, order);
    return axe_cv_end(&r, "blockcyclic");
}

/* "zigzag" [ "(" [ "dim" "=" ] int ")" ] */
static axe_status
read_zigzag(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "zigzag", text);

    (void)rank;
    *out = (axe_json){.kind = AXE_JSON_INT};
    if (!axe_scan_word(&r, "zigzag"))
        return axe_cv_expected(&r, "zigzag", "zigzag(dim=..)");
    if (axe_scan_take(&r, '(')) {
        if (axe_scan_word(&r, "dim"))
            AXE_TRY(axe_cv_need(&r, "zigzag", '='));
        AXE_TRY(axe_cv_int(&r, "zigzag", "a dimension", &out->integer));
        AXE_TRY(axe_cv_need(&r, "zigzag", ')'));
    }
    return axe_cv_end(&r, "zigzag");
}

static axe_status
read_dtensor(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "dtensor", text);

    (void)rank;
    return read_placements(&r, "dtensor", axe_placement_read, out);
}

static axe_status
read_oneflow(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    axe_reader r = axe_cv_open(cx, "oneflow", text);

    (void)rank;
    return read_placements(&r, "oneflow", axe_sbp_read, out);
}

/* What the system's own reader takes as it is. */
static axe_status
read_whole(axe_ctx *cx, const char *text, int rank, axe_json *out)
{
    (void)cx;
    (void)rank;
    *out = text_value(text);
    return AXE_OK;
}

/* ----------------------------------------------------------------- layouts */

static const struct text_row {
    const char *format;
    axe_status (*read)(axe_ctx *cx, const char *text, int rank, axe_json *out);
} texts[] = {
    {"dtensor", read_dtensor},
    {"oneflow", read_oneflow},
    {"jax", read_partition},
    {"shardy", read_shardy},
    {"alpa", read_whole},
    {"gspmd", read_whole},
    {"megatron", read_whole},
    {"zigzag", read_zigzag},
    {"blockcyclic", read_blockcyclic},
};

axe_status
axe_sharding_of_text(axe_ctx *cx, const char *format, const char *text,
                     const axe_convert_options *opt, axe_sharding *out)
{
    const char *names[AXE_LEN(texts)], *near;

    for (int i = 0; i < AXE_LEN(texts); i++) {
        axe_json mesh, spec;

        names[i] = texts[i].format;
        if (strcmp(format, names[i]) != 0)
            continue;
        AXE_TRY(axe_cv_mesh(cx, opt->mesh, &mesh));
        AXE_TRY(texts[i].read(cx, text, opt->shape.n, &spec));
        return axe_sharding_read(cx, format, opt->shape, &mesh, &spec, out);
    }
    near = axe_nearest(format, AXE_LEN(texts), names);
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                    "there is no format '%s' of shardings%s%s%s", format,
                    near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

static axe_status
sharded(axe_ctx *cx, const char *system, const char *text,
        const axe_convert_options *opt, const axe_layout **out)
{
    axe_sharding      s;
    const axe_layout *l;
    const char       *why;
    int64_t           domain[AXE_SHARD_RANK];

    AXE_TRY(axe_sharding_of_text(cx, system, text, opt, &s));
    if (s.partial.len > 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s: partial sums: each holder has a summand of an "
                        "element, not a copy of it",
                        system);
    AXE_TRY(axe_sharding_layout(cx, &s, domain, &l, &why));
    if (!l) {
        axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "%s: no layout: %s", system,
                 why);
        axe_help(cx, "the operation sharding of `axe eval` lists its pieces");
        return AXE_EUNSUPPORTED;
    }
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
    return sharded(cx, "dtensor", text, opt, out);
}

axe_status
axe_cv_read_jax(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                const axe_layout **out)
{
    return sharded(cx, "jax", text, opt, out);
}

axe_status
axe_cv_read_gspmd(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                  const axe_layout **out)
{
    return sharded(cx, "gspmd", text, opt, out);
}

axe_status
axe_cv_read_alpa(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                 const axe_layout **out)
{
    return sharded(cx, "alpa", text, opt, out);
}

axe_status
axe_cv_read_megatron(axe_ctx *cx, const char *text,
                     const axe_convert_options *opt, const axe_layout **out)
{
    return sharded(cx, "megatron", text, opt, out);
}

axe_status
axe_cv_read_oneflow(axe_ctx *cx, const char *text,
                    const axe_convert_options *opt, const axe_layout **out)
{
    return sharded(cx, "oneflow", text, opt, out);
}

axe_status
axe_cv_read_shardy(axe_ctx *cx, const char *text,
                   const axe_convert_options *opt, const axe_layout **out)
{
    return sharded(cx, "shardy", text, opt, out);
}

axe_status
axe_cv_read_blockcyclic(axe_ctx *cx, const char *text,
                        const axe_convert_options *opt, const axe_layout **out)
{
    return sharded(cx, "blockcyclic", text, opt, out);
}

axe_status
axe_cv_read_zigzag(axe_ctx *cx, const char *text,
                   const axe_convert_options *opt, const axe_layout **out)
{
    return sharded(cx, "zigzag", text, opt, out);
}
