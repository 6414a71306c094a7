/* npy.c - the .npy format.
 *
 * A file is the magic text, a version, the length of a header and the header:
 * a Python dict with the keys descr, fortran_order and shape, then the bare
 * elements.  The reader takes that dict and no other Python; it walks a cursor
 * that knows its end, so nothing in the bytes can lead it outside. */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/number.h"
#include "run/array/file.h"
#include "run/array/npy.h"

enum { DATA_ALIGN = 64, HEADER_MAX = 1 << 20 };

static const char magic[] = "\x93NUMPY";

/* ----------------------------------------------------------------- reading */

typedef struct scan {
    axe_ctx    *cx;
    const char *name, *begin, *p, *end;
} scan;

/* A copy fit for a message: what a terminal might obey becomes '?'. */
static char *
clean(axe_ctx *cx, const char *p, ptrdiff_t n)
{
    char *s = axe_alloc(cx, (size_t)n + 1);

    for (ptrdiff_t i = 0; i < n; i++)
        s[i] = p[i] >= ' ' && p[i] <= '~' ? p[i] : '?';
    return s;
}

static axe_status
bad(scan *s, const char *wanted)
{
    ptrdiff_t rest = s->end - s->p < 16 ? s->end - s->p : 16;

    return axe_fail(s->cx, AXE_NOWHERE, AXE_ESYNTAX,
                    "%s: .npy header, byte %td: expected %s, not \"%s\"",
                    s->name, s->p - s->begin, wanted, clean(s->cx, s->p, rest));
}

static void
skip_blanks(scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t'))
        s->p++;
}

/* Take the character if it is next. */
static bool
take(scan *s, char c)
{
    skip_blanks(s);
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool
take_word(scan *s, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(s);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

/* A Python string without escapes, into the ctx. */
static axe_status
take_text(scan *s, const char **out)
{
    const char *stop;
    char        quote;

    skip_blanks(s);
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
        return bad(s, "a quoted text");
    quote = *s->p++;
    stop = memchr(s->p, quote, (size_t)(s->end - s->p));
    if (!stop)
        return bad(s, "a closing quote");
    *out = clean(s->cx, s->p, stop - s->p);
    s->p = stop + 1;
    return AXE_OK;
}

static axe_status
take_extent(scan *s, int64_t *out)
{
    int64_t v = 0;

    skip_blanks(s);
    if (s->p == s->end || *s->p < '0' || *s->p > '9')
        return bad(s, "an extent");
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
        if (!axe_mul(v, 10, &v) || !axe_add(v, *s->p - '0', &v))
            return axe_fail(s->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: an extent of the shape does not fit int64",
                            s->name);
    if (s->p < s->end && *s->p == 'L')
        s->p++;
    *out = v;
    return AXE_OK;
}

static axe_status
take_shape(scan *s, axe_npy_head *h)
{
    h->rank = 0;
    if (!take(s, '('))
        return bad(s, "a shape in parentheses");
    while (!take(s, ')')) {
        if (h->rank > 0 && !take(s, ','))
            return bad(s, "',' or ')'");
        if (h->rank > 0 && take(s, ')'))
            break;
        if (h->rank == AXE_NPY_MAX_RANK)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                            "%s: more than %d dimensions", s->name,
                            AXE_NPY_MAX_RANK);
        AXE_TRY(take_extent(s, &h->shape[h->rank++]));
    }
    return AXE_OK;
}

static axe_type
type_of_descr(const char *descr)
{
    if (strcmp(descr, "V2") == 0)
        return AXE_TYPE_bf16;
    for (int t = 0; t < AXE_N_TYPE; t++)
        if (*descr && strcmp(axe_type_table[t].npy, descr) == 0)
            return (axe_type)t;
    return AXE_N_TYPE;
}

static axe_status
take_descr(scan *s, axe_npy_head *h)
{
    const char *text;

    if (take(s, '['))
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ETYPE,
                        "%s: its elements are records; an array of one number "
                        "type is needed",
                        s->name);
    AXE_TRY(take_text(s, &text));
    h->type = *text ? type_of_descr(text + 1) : AXE_N_TYPE;
    if (!*text || !strchr("<>|=", *text) || h->type == AXE_N_TYPE) {
        axe_status st = axe_fail(
            s->cx, AXE_NOWHERE, AXE_ETYPE,
            "%s: no tensor has elements of NumPy type '%s'", s->name, text);
        axe_help(s->cx, "convert it, e.g. a.astype('float32')");
        return st;
    }
    if (*text == '>' && axe_type_table[h->type].bits > 8) {
        axe_status st =
            axe_fail(s->cx, AXE_NOWHERE, AXE_ETYPE,
                     "%s: big endian elements ('%s')", s->name, text);
        axe_help(s->cx, "save a.astype('<%s') instead", text + 1);
        return st;
    }
    return AXE_OK;
}

static axe_status
take_order(scan *s, axe_npy_head *h)
{
    h->fortran = take_word(s, "True");
    return h->fortran || take_word(s, "False") ? AXE_OK
                                               : bad(s, "True or False");
}

/* The dict: each of the three keys once, in any order. */
static axe_status
take_header(scan *s, axe_npy_head *h)
{
    static const char *const key_name[] = {"descr", "fortran_order", "shape"};
    static axe_status (*const take_value[])(scan *, axe_npy_head *) = {
        take_descr, take_order, take_shape};
    unsigned seen = 0;

    if (!take(s, '{'))
        return bad(s, "'{'");
    while (!take(s, '}')) {
        const char *key = "";
        int         k = 0;
        if (seen != 0 && !take(s, ','))
            return bad(s, "',' or '}'");
        if (seen != 0 && take(s, '}'))
            break;
        AXE_TRY(take_text(s, &key));
        while (k < 3 && strcmp(key_name[k], key) != 0)
            k++;
        if (k == 3 || seen >> k & 1)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_ESYNTAX,
                            "%s: .npy header: key '%s' is %s", s->name, key,
                            k == 3 ? "not of this format" : "there twice");
        if (!take(s, ':'))
            return bad(s, "':'");
        AXE_TRY(take_value[k](s, h));
        seen |= 1u << k;
    }
    for (int k = 0; k < 3; k++)
        if (!(seen >> k & 1))
            return axe_fail(s->cx, AXE_NOWHERE, AXE_ESYNTAX,
                            "%s: .npy header: key '%s' is missing", s->name,
                            key_name[k]);
    skip_blanks(s);
    return s->p == s->end ? AXE_OK : bad(s, "the end of the header");
}

/* Bytes of an array, and its strides [elements]. */
static axe_status
measure(axe_ctx *cx, const char *name, axe_type type, axe_shape shape,
        bool fortran, int64_t *stride, int64_t *n_bytes)
{
    int64_t step = 1, count = 1;

    for (int i = 0; i < shape.n; i++) {
        int     k = fortran ? i : shape.n - 1 - i;
        int64_t e = shape.extent[k];
        stride[k] = step;
        if (!axe_mul(step, e > 0 ? e : 1, &step) ||
            !axe_mul(step, (axe_type_table[type].bits + 7) / 8, n_bytes))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: dimension %d: with extent %" PRId64
                            " the size in bytes does not fit int64",
                            name, k, e);
        count = e == 0 ? 0 : count;
    }
    *n_bytes = count == 0 ? 0 : axe_type_bytes(type, step);
    return AXE_OK;
}

/* Find the header of a file; its length field has 2 bytes in format 1. */
static axe_status
find_header(axe_ctx *cx, const char *name, const unsigned char *b, size_t len,
            scan *out)
{
    size_t n = 0, at;

    if (len < 6 || memcmp(b, magic, 6) != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESYNTAX,
                        "%s: not a .npy file: it does not begin with "
                        "\\x93NUMPY%s",
                        name, len == 0 ? " (it is empty)" : "");
    if (len < 10)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: truncated in its header: %zu bytes, and it has 10 "
                        "at least",
                        name, len);
    if (b[6] < 1 || b[6] > 3)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s: .npy format %d.%d; formats 1 to 3 are known", name,
                        b[6], b[7]);
    at = b[6] == 1 ? 10 : 12;
    for (size_t i = at; i-- > 8 && at <= len;)
        n = n << 8 | b[i];
    if (at > len || n > len - at)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: truncated in its header: %zu of %zu bytes", name,
                        len, at + n);
    if (n > HEADER_MAX)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s: a header of %zu bytes", name, n);
    *out = (scan){cx, name, (const char *)b, (const char *)b + at,
                  (const char *)b + at + n};
    return AXE_OK;
}

axe_status
axe_npy_parse(axe_ctx *cx, const char *name, const unsigned char *bytes,
              size_t len, axe_npy_head *out)
{
    axe_npy_head h = {0};
    scan         s;
    int64_t      n_bytes;

    AXE_TRY(find_header(cx, name, bytes, len, &s));
    h.data_at = (size_t)(s.end - s.begin);
    AXE_TRY(take_header(&s, &h));
    AXE_TRY(measure(cx, name, h.type, (axe_shape){h.rank, h.shape}, h.fortran,
                    h.stride, &n_bytes));
    h.n_bytes = (size_t)n_bytes;
    if (h.n_bytes != len - h.data_at)
        return axe_fail(
            cx, AXE_NOWHERE, AXE_ESHAPE,
            "%s: %s: the shape needs %zu bytes of data, the file "
            "has %zu",
            name, h.n_bytes > len - h.data_at ? "truncated" : "trailing data",
            h.n_bytes, len - h.data_at);
    *out = h;
    return AXE_OK;
}

/* The elements stay where the file was read to; only an odd header, which
 * NumPy does not write, makes them move to an aligned place. */
static void
adopt(axe_bytes file, const axe_npy_head *h, axe_npy *out)
{
    axe_npy a = {.type = h->type,
                 .fortran = h->fortran,
                 .rank = h->rank,
                 .n_bytes = h->n_bytes,
                 .data = file.data + h->data_at,
                 .heap = file.data};

    if (h->data_at % DATA_ALIGN != 0)
        a.data = memmove(file.data, a.data, h->n_bytes);
    memcpy(a.shape, h->shape, sizeof a.shape);
    memcpy(a.stride, h->stride, sizeof a.stride);
    *out = a;
}

axe_status
axe_npy_read(axe_ctx *cx, const char *path, axe_npy *out)
{
    axe_bytes    file;
    axe_npy_head h;
    axe_status   st;

    AXE_TRY(axe_file_read(cx, path, &file));
    st = axe_npy_parse(cx, path, file.data, file.len, &h);
    if (st == AXE_OK)
        adopt(file, &h, out);
    else
        free(file.data);
    return st;
}

/* ------------------------------------------------------------------ making */

/* More than the host's memory would be granted page by page and then kill the
 * process: refuse it instead. */
static void *
zeroed(int64_t n_bytes)
{
    int64_t have = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    bool    known = have > 0 && page > 0 && axe_mul(have, page, &have);

    if (n_bytes > (known ? have : PTRDIFF_MAX - DATA_ALIGN))
        return NULL;
    return calloc(1, (size_t)n_bytes + DATA_ALIGN);
}

axe_status
axe_npy_make(axe_ctx *cx, const char *name, axe_type type, axe_shape shape,
             bool fortran, axe_npy *out)
{
    axe_npy a = {.type = type, .fortran = fortran, .rank = shape.n};
    int     near = fortran ? 0 : shape.n - 1, per = axe_type_per_byte(type);
    int64_t n_bytes;

    if (!axe_number_known(type))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "there are no arrays of %s", axe_type_table[type].name);
    if (per > 1 && shape.n > 0 && shape.extent[near] % per != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "an array of %s with %" PRId64
                        " neighbours in a row: %d lie in a byte",
                        axe_type_table[type].name, shape.extent[near], per);
    if (shape.n > AXE_NPY_MAX_RANK)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "an array of %d dimensions; %d is the most", shape.n,
                        AXE_NPY_MAX_RANK);
    AXE_TRY(measure(cx, name, type, shape, fortran, a.stride, &n_bytes));
    for (int i = 0; i < shape.n; i++)
        a.shape[i] = shape.extent[i];
    a.n_bytes = (size_t)n_bytes;
    a.heap = zeroed(n_bytes);
    if (!a.heap)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: no memory for an array of %" PRId64 " bytes", name,
                        n_bytes);
    a.data = (char *)a.heap + (DATA_ALIGN - (uintptr_t)a.heap % DATA_ALIGN);
    *out = a;
    return AXE_OK;
}

void
axe_npy_see_as(axe_npy *a, axe_type type)
{
    int per = axe_type_per_byte(type);
    int near = a->fortran ? 0 : a->rank - 1;

    a->type = type;
    for (int i = 0; i < a->rank && per > 1; i++)
        if (i == near)
            a->shape[i] *= per;
        else
            a->stride[i] *= per;
}

void
axe_npy_free(axe_npy *a)
{
    free(a->heap);
    *a = (axe_npy){0};
}

/* ----------------------------------------------------------------- writing */

static axe_status
put_header(axe_ctx *cx, axe_buf *b, const char *path, const axe_npy *a)
{
    const axe_type_info *t = &axe_type_table[a->type];
    bool                 eighth = axe_type_is_float(a->type) && t->bits <= 8;
    int                  near = a->fortran ? 0 : a->rank - 1;
    const char          *descr = a->type == AXE_TYPE_bf16 ? "V2"
                                 : eighth                 ? "u1"
                                                          : t->npy;

    if (!*descr)
        return axe_fail(cx, AXE_NOWHERE, AXE_ETYPE,
                        "%s: NumPy has no type for %s", path, t->name);
    axe_putf(b, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (",
             t->bits > 8 ? '<' : '|', descr, a->fortran ? "True" : "False");
    for (int i = 0; i < a->rank; i++)
        axe_putf(b, "%s%" PRId64 "%s", i > 0 ? ", " : "",
                 i == near ? a->shape[i] / axe_type_per_byte(a->type)
                           : a->shape[i],
                 a->rank == 1 ? "," : "");
    axe_puts(b, "), }");
    while ((10 + b->len + 1) % DATA_ALIGN != 0)
        axe_putc(b, ' ');
    axe_putc(b, '\n');
    return AXE_OK;
}

axe_status
axe_npy_write(axe_ctx *cx, const char *path, const axe_npy *a)
{
    unsigned char prefix[10] = {0};
    axe_buf       header = {.cx = cx};
    axe_file      f;

    AXE_TRY(put_header(cx, &header, path, a));
    memcpy(prefix, magic, 6);
    prefix[6] = 1;
    prefix[8] = (unsigned char)(header.len & 255);
    prefix[9] = (unsigned char)(header.len >> 8);
    AXE_TRY(axe_file_create(cx, path, 0666, &f));
    AXE_TRY(axe_file_put(cx, &f, prefix, sizeof prefix));
    AXE_TRY(axe_file_put(cx, &f, header.text, header.len));
    AXE_TRY(axe_file_put(cx, &f, a->data, a->n_bytes));
    return axe_file_commit(cx, &f);
}
