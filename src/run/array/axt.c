/* axt.c - packed matrices in files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/array/axt.h"
#include "run/array/file.h"

enum { ALIGN = 64, MAX_HEAD = 2048 };

bool
axe_axt_is(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".axt") == 0;
}

/* What the head says. */
typedef struct head {
    char    type[1024];
    int     rank;
    int64_t shape[AXE_RANK_MAX], stride[AXE_RANK_MAX], bytes;
    size_t  end; /* where the elements begin */
} head;

/* The numbers, at most max, of the line that begins with `word`; how many, -1
 * if it does not.  *at becomes the next line. */
static int
numbers(const char **at, const char *word, int max, int64_t *out)
{
    size_t len = strlen(word);
    int    n = 0, used;

    if (strncmp(*at, word, len) != 0)
        return -1;
    *at += len;
    while (**at == ' ' && n < max &&
           sscanf(*at, " %" SCNd64 "%n", &out[n], &used) == 1) {
        *at += used;
        n++;
    }
    return **at == '\n' ? ((*at)++, n) : -1;
}

static bool
parse(const axe_bytes *f, head *h)
{
    char        text[MAX_HEAD + 1] = {0};
    const char *at = text;
    int         used = 0;

    memcpy(text, f->data, f->len < MAX_HEAD ? f->len : MAX_HEAD);
    if (sscanf(text, "axt 1\ntype %1023[^\n]%n", h->type, &used) != 1 ||
        text[used] != '\n')
        return false;
    at += used + 1;
    h->rank = numbers(&at, "shape", AXE_RANK_MAX, h->shape);
    if (h->rank < 2 ||
        numbers(&at, "stride", AXE_RANK_MAX, h->stride) != h->rank ||
        numbers(&at, "bytes", 1, &h->bytes) != 1 ||
        strncmp(at, "end\n", 4) != 0)
        return false;
    h->end = ((size_t)(at - text) + 4 + ALIGN - 1) / ALIGN * ALIGN;
    return h->bytes >= 0 && h->end <= f->len &&
           f->len - h->end == (uint64_t)h->bytes;
}

/* The element type that the text begins with. */
static bool
element_type(axe_ctx *cx, const char *text, axe_type *out)
{
    return axe_type_find(axe_textf(cx, "%.*s", (int)strcspn(text, " "), text),
                         out);
}

axe_status
axe_axt_read(axe_ctx *cx, const char *path, axe_npy *out,
             const char **type_text)
{
    axe_bytes f;
    head      h;
    axe_type  type;

    AXE_TRY(axe_file_read(cx, path, &f));
    if (!parse(&f, &h) || !element_type(cx, h.type, &type) ||
        axe_type_table[type].bits % 8 != 0) {
        free(f.data);
        return axe_fail(cx, AXE_NOWHERE, AXE_ESYNTAX,
                        "%s: not a packed matrix, or not all of it", path);
    }
    *out = (axe_npy){.type = type,
                     .rank = h.rank,
                     .n_bytes = (size_t)h.bytes,
                     .data = f.data + h.end,
                     .heap = f.data};
    memcpy(out->shape, h.shape, sizeof h.shape);
    memcpy(out->stride, h.stride, sizeof h.stride);
    *type_text = axe_textf(cx, "%s", h.type);
    return AXE_OK;
}

static void
put_numbers(axe_buf *b, const char *word, int n, const int64_t *of)
{
    axe_puts(b, word);
    for (int i = 0; i < n; i++)
        axe_putf(b, " %" PRId64, of[i]);
    axe_putc(b, '\n');
}

axe_status
axe_axt_write(axe_ctx *cx, const char *path, int rank, const int64_t *shape,
              const axe_packed *p, const void *data)
{
    axe_buf  b = {.cx = cx};
    axe_file f;

    axe_putf(&b, "axt 1\ntype %s\n", p->type);
    put_numbers(&b, "shape", rank, shape);
    put_numbers(&b, "stride", rank, p->stride);
    axe_putf(&b, "bytes %zu\nend\n", p->bytes);
    while (b.len % ALIGN != 0)
        axe_putc(&b, '\n');
    AXE_TRY(axe_file_create(cx, path, 0666, &f));
    AXE_TRY(axe_file_put(cx, &f, b.text, b.len));
    AXE_TRY(axe_file_put(cx, &f, data, p->bytes));
    return axe_file_commit(cx, &f);
}
