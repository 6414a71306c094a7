/* linear_text.c - Triton's layouts as its IR prints them, and as Gluon does:
 *
 *     #mma = #ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [4, 1], ..}>
 *     #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
 *     #ttg.padded_shared<[32:+4] {order = [1, 0]}>
 *     BlockedLayout([1, 4], [2, 16], [4, 1], order=[1, 0])
 *
 * read into the objects that linear_named.c and shared.c take; the names and
 * fields are the rows of triton.def. */
#include "convert/linear_text.h"

#include <string.h>

static const char FORMAT[] = "triton";

enum { MAX_DEPTH = 16, MAX_ALIASES = 32 };

static const struct row {
    const char *ir, *gluon, *kind, *fields;
} rows[] = {
#define LAYOUT(ir, gluon, kind, shared, fields) {#ir, #gluon, #kind, fields},
#define KEY(text, field)
#include "convert/triton.def"
};

static const struct {
    const char *text, *field;
} keys[] = {
#define LAYOUT(ir, gluon, kind, shared, fields)
#define KEY(text, field) {#text, #field},
#include "convert/triton.def"
};

typedef struct aliases {
    int         n, depth;
    const char *name[MAX_ALIASES];
    axe_json    value[MAX_ALIASES];
} aliases;

static axe_status read_value(axe_reader *r, aliases *known, axe_json *out);

/* ------------------------------------------------------------------ fields */

/* Is the name in the row's fields?  *at: its place. */
static bool
has_field(const struct row *row, const char *name, int *at)
{
    size_t len = strlen(name);

    *at = 0;
    for (const char *f = row->fields; *f; ++*at) {
        size_t n = strcspn(f, " ");

        if (n == len && strncmp(f, name, n) == 0)
            return true;
        f += n + (f[n] == ' ');
    }
    return false;
}

/* The i-th field that may go without a name; NULL: there are not so many. */
static const char *
field_at(axe_ctx *cx, const struct row *row, int i)
{
    for (const char *f = row->fields; *f && *f != '|'; i--) {
        size_t n = strcspn(f, " ");

        if (i == 0)
            return axe_textf(cx, "%.*s", (int)n, f);
        f += n + (f[n] == ' ');
    }
    return NULL;
}

/* Our name of a field. */
static const char *
field_of(const char *text)
{
    for (int i = 0; i < AXE_LEN(keys); i++)
        if (strcmp(text, keys[i].text) == 0)
            return keys[i].field;
    return text;
}

/* ------------------------------------------------------------------ values */

static axe_status
too_deep(axe_reader *r, const aliases *known)
{
    if (known->depth < MAX_DEPTH)
        return AXE_OK;
    return axe_fail(r->cx, axe_scan_span(r, r->at, r->at + 1), AXE_ELIMIT,
                    "triton: nested over %d deep", MAX_DEPTH);
}

/* open [ value { "," value } [ "," ] ] close */
static axe_status
read_list(axe_reader *r, aliases *known, char close, axe_json *out)
{
    axe_json *last = NULL, v;

    *out = (axe_json){.kind = AXE_JSON_LIST};
    AXE_TRY(too_deep(r, known));
    known->depth++;
    r->at++;
    while (!axe_scan_take(r, close)) {
        AXE_TRY(read_value(r, known, &v));
        axe_cv_add(r->cx, out, &last, v);
        if (axe_scan_peek(r) != close)
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    known->depth--;
    return AXE_OK;
}

/* [ name "=" ] value: a field of the row behind *last; without a name it is
 * the i-th. */
static axe_status
read_field(axe_reader *r, aliases *known, const struct row *row, int i,
           axe_json *object, axe_json **last)
{
    const char *field = i < 0 ? NULL : field_at(r->cx, row, i), *name;
    axe_json    v;
    size_t      from;
    int         at;

    axe_scan_peek(r);
    from = r->at;
    name = axe_scan_name(r);
    if (name && axe_scan_take(r, '=')) {
        field = field_of(name);
        if (!has_field(row, field, &at))
            return axe_fail(r->cx, axe_scan_span(r, from, from + strlen(name)),
                            AXE_ENAME, "triton: %s has no field '%s'",
                            i < 0 ? row->ir : row->gluon, name);
    } else {
        r->at = from;
        if (!field)
            return axe_cv_expected(r, FORMAT, "a field and '='");
    }
    if (axe_json_get(object, field))
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_EARG,
                        "triton: %s is said twice", field);
    AXE_TRY(read_value(r, known, &v));
    if (strcmp(field, "version") == 0 && v.kind == AXE_JSON_LIST &&
        v.n_child > 0)
        v = (axe_json){.kind = v.child->kind, .integer = v.child->integer};
    v.key = field;
    v.key_len = strlen(field);
    axe_cv_add(r->cx, object, last, v);
    return AXE_OK;
}

/* Fields up to `close`; those of Gluon (positional) may have no name. */
static axe_status
read_fields(axe_reader *r, aliases *known, const struct row *row,
            bool positional, char close, axe_json *object, axe_json **last)
{
    AXE_TRY(too_deep(r, known));
    known->depth++;
    for (int i = 0; !axe_scan_take(r, close); i++) {
        AXE_TRY(read_field(r, known, row, positional ? i : -1, object, last));
        if (axe_scan_peek(r) != close)
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    known->depth--;
    return AXE_OK;
}

/* "[" interval ":+" padding { "," .. } "]" as pairs. */
static axe_status
read_padding(axe_reader *r, axe_json *object, axe_json **last)
{
    axe_json  list = {.kind = AXE_JSON_LIST, .key = "intervalPaddingPairs"};
    axe_json *end = NULL;

    list.key_len = strlen(list.key);
    AXE_TRY(axe_cv_need(r, FORMAT, '['));
    while (!axe_scan_take(r, ']')) {
        axe_json n = {.kind = AXE_JSON_INT}, *in = NULL, *pair;

        pair =
            axe_cv_add(r->cx, &list, &end, (axe_json){.kind = AXE_JSON_LIST});
        AXE_TRY(axe_cv_int(r, FORMAT, "an interval", &n.integer));
        axe_cv_add(r->cx, pair, &in, n);
        AXE_TRY(axe_cv_need(r, FORMAT, ':'));
        AXE_TRY(axe_cv_need(r, FORMAT, '+'));
        AXE_TRY(axe_cv_int(r, FORMAT, "a padding", &n.integer));
        axe_cv_add(r->cx, pair, &in, n);
        if (axe_scan_peek(r) != ']')
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    axe_cv_add(r->cx, object, last, list);
    return AXE_OK;
}

/* ----------------------------------------------------------------- layouts */

static const char what[] = "a layout of Triton: blocked, slice, dot_op, ..";

static axe_status
find_row(axe_reader *r, bool gluon, const struct row **out)
{
    const char *names[AXE_LEN(rows)], *name, *near;
    size_t      from;

    axe_scan_peek(r);
    from = r->at;
    if (!(name = axe_scan_name(r)))
        return axe_cv_expected(r, FORMAT, what);
    for (int i = 0; i < AXE_LEN(rows); i++) {
        names[i] = gluon ? rows[i].gluon : rows[i].ir;
        if (strcmp(name, names[i]) == 0) {
            *out = &rows[i];
            return AXE_OK;
        }
    }
    near = axe_nearest(name, AXE_LEN(rows), names);
    return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ENAME,
                    "triton: there is no layout '%s'%s%s%s", name,
                    near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

static axe_json *
begin_object(axe_reader *r, const struct row *row, axe_json *out,
             axe_json **last)
{
    axe_json kind = {.kind = AXE_JSON_TEXT, .text = row->kind, .key = "kind"};

    kind.len = strlen(kind.text);
    kind.key_len = strlen(kind.key);
    *out = (axe_json){.kind = AXE_JSON_OBJECT};
    return axe_cv_add(r->cx, out, last, kind);
}

/* "ttg" "." kind "<" [ padding ] "{" fields "}" { "," field } ">", behind '#';
 * "ttng" "." kind "<" fields ">" of tensor memory */
static axe_status
read_attribute(axe_reader *r, aliases *known, axe_json *out)
{
    const struct row *row;
    axe_json         *last = NULL;

    AXE_TRY(axe_cv_need(r, FORMAT, '.'));
    AXE_TRY(find_row(r, false, &row));
    begin_object(r, row, out, &last);
    AXE_TRY(axe_cv_need(r, FORMAT, '<'));
    if (strcmp(row->ir, "padded_shared") == 0)
        AXE_TRY(read_padding(r, out, &last));
    if (strncmp(row->ir, "tensor_memory", strlen("tensor_memory")) == 0)
        return read_fields(r, known, row, false, '>', out, &last);
    AXE_TRY(axe_cv_need(r, FORMAT, '{'));
    AXE_TRY(read_fields(r, known, row, false, '}', out, &last));
    while (axe_scan_take(r, ','))
        AXE_TRY(read_field(r, known, row, -1, out, &last));
    return axe_cv_need(r, FORMAT, '>');
}

/* Behind '#': an attribute, or the name of one above. */
static axe_status
read_reference(axe_reader *r, aliases *known, axe_json *out)
{
    size_t      from = r->at;
    const char *name = axe_scan_name(r);

    if (!name)
        return axe_cv_expected(r, FORMAT, what);
    if (strcmp(name, "ttg") == 0 || strcmp(name, "triton_gpu") == 0 ||
        strcmp(name, "ttng") == 0 || strcmp(name, "triton_nvidia_gpu") == 0)
        return read_attribute(r, known, out);
    for (int i = 0; i < known->n; i++)
        if (strcmp(name, known->name[i]) == 0) {
            *out = known->value[i];
            out->next = NULL;
            return AXE_OK;
        }
    axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ENAME,
             "triton: #%s is not known", name);
    axe_help(r->cx, "put its line, #%s = #ttg.., before", name);
    return AXE_ENAME;
}

/* name "(" fields ")", as Python shows it; modules before it are skipped */
static axe_status
read_gluon(axe_reader *r, aliases *known, axe_json *out)
{
    const struct row *row;
    axe_json         *last = NULL;
    size_t            from = r->at;

    while (axe_scan_name(r) && axe_scan_take(r, '.'))
        from = r->at;
    r->at = from;
    AXE_TRY(find_row(r, true, &row));
    begin_object(r, row, out, &last);
    AXE_TRY(axe_cv_need(r, FORMAT, '('));
    return read_fields(r, known, row, true, ')', out, &last);
}

/* "{" [ name "=" value { "," name "=" value } ] "}" */
static axe_status
read_object(axe_reader *r, aliases *known, axe_json *out)
{
    axe_json *last = NULL, v;

    *out = (axe_json){.kind = AXE_JSON_OBJECT};
    AXE_TRY(too_deep(r, known));
    known->depth++;
    r->at++;
    while (!axe_scan_take(r, '}')) {
        const char *name;

        axe_scan_peek(r);
        if (!(name = axe_scan_name(r)))
            return axe_cv_expected(r, FORMAT, "a name and '='");
        AXE_TRY(axe_cv_need(r, FORMAT, '='));
        AXE_TRY(read_value(r, known, &v));
        v.key = name;
        v.key_len = strlen(name);
        axe_cv_add(r->cx, out, &last, v);
        if (axe_scan_peek(r) != '}')
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    known->depth--;
    return AXE_OK;
}

/* int | true | false | list | object | layout */
static axe_status
read_value(axe_reader *r, aliases *known, axe_json *out)
{
    char c = axe_scan_peek(r);

    *out = (axe_json){.kind = AXE_JSON_NULL};
    if (c == '[' || c == '(')
        return read_list(r, known, c == '[' ? ']' : ')', out);
    if (c == '{')
        return read_object(r, known, out);
    if (axe_scan_word(r, "true") || axe_scan_word(r, "True")) {
        *out = (axe_json){.kind = AXE_JSON_BOOL, .truth = true};
        return AXE_OK;
    }
    if (axe_scan_word(r, "false") || axe_scan_word(r, "False")) {
        *out = (axe_json){.kind = AXE_JSON_BOOL};
        return AXE_OK;
    }
    if (axe_scan_word(r, "None"))
        return AXE_OK;
    if (c == '#' || axe_scan_name_length(r) > 0) {
        AXE_TRY(too_deep(r, known));
        known->depth++;
        if (axe_scan_take(r, '#'))
            AXE_TRY(read_reference(r, known, out));
        else
            AXE_TRY(read_gluon(r, known, out));
        known->depth--;
        return AXE_OK;
    }
    *out = (axe_json){.kind = AXE_JSON_INT};
    return axe_cv_int(r, FORMAT, "a number, a list or a layout", &out->integer);
}

/* "#" name "=" layout: one more that is known.  *is: it was one. */
static axe_status
read_alias(axe_reader *r, aliases *known, bool *is)
{
    size_t      from = r->at;
    const char *name;

    *is = axe_scan_take(r, '#') && (name = axe_scan_name(r)) &&
          axe_scan_take(r, '=');
    if (!*is) {
        r->at = from;
        return AXE_OK;
    }
    if (known->n == MAX_ALIASES)
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ELIMIT,
                        "triton: over %d names of layouts", MAX_ALIASES);
    AXE_TRY(read_value(r, known, &known->value[known->n]));
    known->name[known->n++] = name;
    return AXE_OK;
}

axe_status
axe_linear_text_read(axe_reader *r, axe_json *out)
{
    aliases *known = axe_new(r->cx, aliases);
    bool     more = true;

    while (more)
        AXE_TRY(read_alias(r, known, &more));
    if (known->n == 0 && axe_scan_peek(r) != '#' &&
        axe_scan_name_length(r) == 0)
        return axe_cv_expected(r, FORMAT, what);
    if (known->n > 0 && axe_scan_peek(r) == '\0')
        *out = known->value[known->n - 1];
    else
        AXE_TRY(read_value(r, known, out));
    if (out->kind != AXE_JSON_OBJECT || !axe_json_get(out, "kind"))
        return axe_cv_expected(r, FORMAT, what); /* {laneM = [[1]]} is bare */
    return axe_cv_end(r, FORMAT);
}

bool
axe_linear_text_shared(const axe_json *v)
{
    static const struct {
        const char *kind;
        bool        shared;
    } kinds[] = {
#define LAYOUT(ir, gluon, kind, shared, fields) {#kind, shared},
#define KEY(text, field)
#include "convert/triton.def"
    };
    const axe_json *kind = axe_json_get(v, "kind");

    for (int i = 0; i < AXE_LEN(kinds); i++)
        if (strcmp(kind->text, kinds[i].kind) == 0)
            return kinds[i].shared;
    return false;
}
