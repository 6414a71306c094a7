/* rank_agree.c - do all ranks launch the same?  What each was given, but for
 * extents, is compared as a text; what is wrong on one rank alone all are told.
 */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "run/rank.h"

/* ----------------------------------------------------------------- the text */

/* A number, by its value if that is a whole one, else by its bits. */
static void
put_number(axe_buf *out, const axe_tensor *t, const void *data)
{
    const unsigned char *byte = data;
    int64_t              n = axe_type_bytes(t->type, 1);

    if (axe_type_table[t->type].cls == AXE_CLASS_INT) {
        axe_putf(out, " = %" PRId64, axe_number_get_int(t->type, data));
        return;
    }
    axe_puts(out, " = 0x");
    for (int64_t i = n - 1; i >= 0; i--)
        axe_putf(out, "%02x", byte[i]);
}

static void
put_local(axe_buf *out, const axe_tensor *t, const axe_local *l)
{
    const char *separator = " of ";

    axe_putf(out, "%s %s", l->array.type, t->name);
    if (t->rank == 0 && l->array.data && t->dir == AXE_DIR_IN)
        put_number(out, t, l->array.data);
    if (l->layout)
        axe_putf(out, " as %s%s%s", l->layout, l->format ? " of " : "",
                 l->format ? l->format : "");
    for (int i = 0; i < l->whole.n; i++, separator = "x")
        axe_putf(out, "%s%" PRId64, separator, l->whole.extent[i]);
}

static const char *
launch_text(const axe_rank_exec *x, int n_size, const axe_size *size,
            const axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;
    axe_buf           out = {.cx = x->cx};
    const char       *separator = "(";

    axe_puts(&out, k->name);
    for (int i = 0; i < k->n_param; i++)
        if (b->of[i]) {
            axe_puts(&out, separator);
            put_local(&out, k->param[i], b->of[i]);
            separator = ", ";
        }
    axe_puts(&out, *separator == '(' ? "()" : ")");
    for (int i = 0; i < n_size; i++)
        axe_putf(&out, " %s=%" PRId64, size[i].name, size[i].value);
    axe_putf(&out, " of text %s", x->digest);
    return out.text;
}

/* --------------------------------------------------------- one rank's errors
 */

typedef struct word {
    char    what[8]; /* "launch": others may be at another gather */
    int32_t status;
    int32_t bytes; /* of its text */
    char    text[ENGINE_BLOB - 16];
} word;

/* The text of rank `from`, piece by piece. */
static axe_status
hear(const axe_rank_exec *x, int64_t from, const char *mine, int64_t bytes,
     axe_buf *out)
{
    char  piece[ENGINE_BLOB];
    char *all = axe_alloc(x->cx, (size_t)x->e->size * sizeof piece);

    for (int64_t at = 0; at < bytes; at += ENGINE_BLOB) {
        int64_t n = bytes - at < ENGINE_BLOB ? bytes - at : ENGINE_BLOB;

        memset(piece, 0, sizeof piece);
        if (x->e->rank == from)
            memcpy(piece, mine + at, (size_t)n);
        AXE_TRY(axe_engine_gather(x->e, piece, sizeof piece, all));
        axe_putn(out, all + from * ENGINE_BLOB, (size_t)n);
    }
    return AXE_OK;
}

/* Are all ranks at a launch? */
static axe_status
check_words(const axe_rank_exec *x, const word *all)
{
    for (int64_t r = 0; r < x->e->size; r++)
        if (memcmp(all[r].what, "launch", sizeof "launch") != 0)
            return axe_rank_end(
                x, axe_fail(x->cx, AXE_NOWHERE, AXE_EDEVICE,
                            "ranks do different things: rank %" PRId64
                            " launches %s, rank %" PRId64 " gathers something",
                            x->e->rank, x->p->meshed->name, r));
    return AXE_OK;
}

/* All ranks end with one status: their own where all have the same error, else
 * that of the first that has one. */
static axe_status
share(const axe_rank_exec *x, axe_status st)
{
    axe_engine *e = x->e;
    const char *text = st == AXE_OK ? "" : axe_last_error(x->cx);
    word        mine = {"launch", (int32_t)st, (int32_t)strlen(text), ""};
    word       *all = axe_new_array(x->cx, word, e->size);
    axe_buf     said = {.cx = x->cx};
    int64_t     first = 0;
    bool        same = true;

    memcpy(mine.text, text,
           strlen(text) < sizeof mine.text ? strlen(text) : sizeof mine.text);
    AXE_TRY(axe_engine_gather(e, &mine, sizeof mine, all));
    AXE_TRY(check_words(x, all));
    while (first < e->size && all[first].status == AXE_OK)
        first++;
    if (first == e->size)
        return AXE_OK;
    for (int64_t r = 0; r < e->size; r++)
        same = same && memcmp(&all[r], &all[first], sizeof mine) == 0;
    if (same)
        return st;
    AXE_TRY(hear(x, first, text, all[first].bytes, &said));
    if (e->rank == first)
        return st;
    return axe_fail(x->cx, AXE_NOWHERE, (axe_status)all[first].status,
                    "rank %" PRId64 " of %" PRId64 ": %s", first, e->size,
                    said.text ? said.text : "");
}

axe_status
axe_rank_agree(const axe_rank_exec *x, axe_status st, int n_size,
               const axe_size *size, const axe_rank_bound *b)
{
    AXE_TRY(share(x, st));
    return axe_engine_agree(x->e, "what they launch",
                            launch_text(x, n_size, size, b));
}

/* ------------------------------------------------------------------ extents */

axe_status
axe_rank_extents(const axe_rank_exec *x, axe_rank_bound *b)
{
    enum { WORDS = ENGINE_BLOB / 8 };
    const axe_kernel *k = x->p->meshed;
    int64_t          *mine, *some;

    for (int i = 0; i < k->n_param; i++) {
        b->begin[i] = b->n_extent;
        b->n_extent += k->param[i]->rank;
    }
    mine = axe_new_array(x->cx, int64_t, b->n_extent + 1);
    some = axe_new_array(x->cx, int64_t, WORDS * x->e->size);
    b->extent = axe_new_array(x->cx, int64_t, b->n_extent * x->e->size + 1);
    for (int i = 0; i < k->n_param; i++)
        for (int d = 0; b->of[i] && d < k->param[i]->rank; d++)
            mine[b->begin[i] + d] = b->of[i]->array.shape[d];
    for (int at = 0; at < b->n_extent; at += WORDS) {
        int n = b->n_extent - at < WORDS ? b->n_extent - at : WORDS;

        AXE_TRY(axe_engine_gather(x->e, mine + at, n * 8, some));
        for (int64_t r = 0; r < x->e->size; r++)
            memcpy(b->extent + r * b->n_extent + at, some + r * n,
                   (size_t)n * 8);
    }
    return AXE_OK;
}
