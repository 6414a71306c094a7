/* axt.c - packed matrices in files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/axt.h"
#include "run/file.h"

enum { ALIGN = 64, MAX_HEAD = 1024 };

bool
axe_axt_is(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".axt") == 0;
}

/* What the head says. */
typedef struct head {
    char    type[320];
    int64_t shape[2], stride[2], bytes;
    size_t  end; /* where the elements begin */
} head;

static bool
parse(const axe_bytes *f, head *h)
{
    char text[MAX_HEAD + 1] = {0};
    int  end = 0;

    memcpy(text, f->data, f->len < MAX_HEAD ? f->len : MAX_HEAD);
    if (sscanf(text,
               "axt 1\ntype %319[^\n]\nshape %" SCNd64 " %" SCNd64
               "\nstride %" SCNd64 " %" SCNd64 "\nbytes %" SCNd64 "\nend\n%n",
               h->type, &h->shape[0], &h->shape[1], &h->stride[0],
               &h->stride[1], &h->bytes, &end) != 6 ||
        end == 0)
        return false;
    h->end = ((size_t)(strstr(text, "\nend\n") - text) + 5 + ALIGN - 1) /
             ALIGN * ALIGN;
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
                     .rank = 2,
                     .shape = {h.shape[0], h.shape[1]},
                     .stride = {h.stride[0], h.stride[1]},
                     .n_bytes = (size_t)h.bytes,
                     .data = f.data + h.end,
                     .heap = f.data};
    *type_text = axe_textf(cx, "%s", h.type);
    return AXE_OK;
}

axe_status
axe_axt_write(axe_ctx *cx, const char *path, const int64_t *shape,
              const axe_packed *p, const void *data)
{
    axe_buf  b = {.cx = cx};
    axe_file f;

    axe_putf(&b,
             "axt 1\ntype %s\nshape %" PRId64 " %" PRId64 "\nstride %" PRId64
             " %" PRId64 "\nbytes %zu\nend\n",
             p->type, shape[0], shape[1], p->stride[0], p->stride[1], p->bytes);
    while (b.len % ALIGN != 0)
        axe_putc(&b, '\n');
    AXE_TRY(axe_file_create(cx, path, 0666, &f));
    AXE_TRY(axe_file_put(cx, &f, b.text, b.len));
    AXE_TRY(axe_file_put(cx, &f, data, p->bytes));
    return axe_file_commit(cx, &f);
}
