/* rank_agree.c - do all ranks launch the same?  One gather says that they do,
 * and the extents that each has; what was given beside these is compared as a
 * text. What is wrong on one rank alone all are told, by more gathers. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/number.h"
#include "run/dist/rank.h"

/* ----------------------------------------------------------------- the text */

static void
put_bits(axe_buf *out, axe_type t, const unsigned char *byte)
{
    axe_puts(out, "0x");
    for (int64_t i = axe_type_bytes(t, 1) - 1; i >= 0; i--)
        axe_putf(out, "%02x", byte[i]);
}

/* In as few digits as say which value it is; what is no number has bits. */
static void
put_float(axe_buf *out, axe_type t, const void *data)
{
    enum { MOST_DIGITS = 17 };
    double      v = axe_number_get(t, data), back = v;
    const char *text = isnan(v) ? "nan of bits " : "";

    for (int n = 1; !isnan(v) && n <= MOST_DIGITS; n++) {
        text = axe_textf(out->cx, "%.*g", n, v);
        axe_number_put(t, &back, strtod(text, NULL));
        if (axe_number_get(t, &back) == v)
            break;
    }
    axe_puts(out, text);
    if (isnan(v))
        put_bits(out, t, data);
}

/* The value of a number. */
static void
put_number(axe_buf *out, const axe_tensor *t, const void *data)
{
    axe_puts(out, " = ");
    if (!axe_number_known(t->type))
        put_bits(out, t->type, data);
    else if (axe_type_is_float(t->type))
        put_float(out, t->type, data);
    else if (axe_type_table[t->type].cls == AXE_CLASS_UINT)
        axe_putf(out, "%" PRIu64, (uint64_t)axe_number_get_int(t->type, data));
    else
        axe_putf(out, "%" PRId64, axe_number_get_int(t->type, data));
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

/* ------------------------------------------------------------- the meeting */

/* What a rank says first: all that is needed where everything is right. */
enum { WORDS = ENGINE_BLOB / 8, FIRST = WORDS - 3 };

typedef struct word {
    char     what[8]; /* "launch": others may be at another gather */
    int32_t  status;
    int32_t  bytes; /* of the text of the launch, or of what is wrong */
    uint64_t hash;  /* of that */
    int64_t  extent[FIRST];
} word;

/* The text of rank `from`, piece by piece. */
static axe_status
hear(const axe_rank_exec *x, int64_t from, const char *mine, int64_t bytes,
     const char **out)
{
    char    piece[ENGINE_BLOB];
    char   *all = axe_alloc(x->cx, (size_t)x->e->size * sizeof piece);
    axe_buf said = {.cx = x->cx};

    axe_puts(&said, "");
    for (int64_t at = 0; at < bytes; at += ENGINE_BLOB) {
        int64_t n = bytes - at < ENGINE_BLOB ? bytes - at : ENGINE_BLOB;

        memset(piece, 0, sizeof piece);
        if (x->e->rank == from)
            memcpy(piece, mine + at, (size_t)n);
        AXE_TRY(axe_engine_gather(x->e, piece, sizeof piece, all));
        axe_putn(&said, all + from * ENGINE_BLOB, (size_t)n);
    }
    *out = said.text;
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

static bool
is_same(const word *a, const word *b)
{
    return a->status == b->status && a->bytes == b->bytes && a->hash == b->hash;
}

/* Rank r has another text than rank 0, and nothing is wrong with either. */
static axe_status
tell_unlike(const axe_rank_exec *x, const word *all, int64_t r,
            const char *mine)
{
    const char *first, *other;

    AXE_TRY(hear(x, 0, mine, all[0].bytes, &first));
    AXE_TRY(hear(x, r, mine, all[r].bytes, &other));
    axe_fail(x->cx, AXE_NOWHERE, AXE_EARG,
             "ranks differ in what they launch: rank 0 has %s, rank %" PRId64
             " has %s",
             first, r, other);
    axe_help(x->cx,
             "call the same kernel on all, with the same sizes and numbers");
    return AXE_EARG;
}

/* All ranks end with one status: their own where all have the same error, else
 * that of the first that has one. */
static axe_status
compare(const axe_rank_exec *x, const word *all, axe_status st,
        const char *mine)
{
    int64_t     first = 0, unlike = 1, n = x->e->size;
    const char *said;

    while (first < n && all[first].status == AXE_OK)
        first++;
    while (unlike < n && is_same(&all[unlike], &all[0]))
        unlike++;
    if (unlike == n)
        return st;
    if (first == n)
        return tell_unlike(x, all, unlike, mine);
    AXE_TRY(hear(x, first, mine, all[first].bytes, &said));
    if (x->e->rank == first)
        return st;
    return axe_fail(x->cx, AXE_NOWHERE, (axe_status)all[first].status,
                    "rank %" PRId64 " of %" PRId64 ": %s", first, n, said);
}

/* ------------------------------------------------------------------ extents */

static int64_t *
own_extents(const axe_rank_exec *x, axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;
    int64_t          *mine;

    for (int i = 0; i < k->n_param; i++) {
        b->begin[i] = b->n_extent;
        b->n_extent += k->param[i]->rank;
    }
    mine = axe_new_array(x->cx, int64_t, b->n_extent + FIRST);
    for (int i = 0; i < k->n_param; i++)
        for (int d = 0; b->of[i] && d < k->param[i]->rank; d++)
            mine[b->begin[i] + d] = b->of[i]->array.shape[d];
    return mine;
}

/* Of all ranks, n from number `at` on, which each has `step` apart. */
static void
keep(const axe_rank_exec *x, const axe_rank_bound *b, int at, int n,
     const int64_t *all, int64_t step)
{
    for (int64_t r = 0; r < x->e->size && n > 0; r++)
        memcpy(b->extent + r * b->n_extent + at, all + r * step,
               (size_t)n * sizeof *all);
}

/* Those that have no room in the first word. */
static axe_status
gather_more(const axe_rank_exec *x, const axe_rank_bound *b,
            const int64_t *mine)
{
    int64_t *some = axe_new_array(x->cx, int64_t, WORDS * x->e->size);

    for (int at = FIRST; at < b->n_extent; at += WORDS) {
        int n = b->n_extent - at < WORDS ? b->n_extent - at : WORDS;

        AXE_TRY(axe_engine_gather(x->e, mine + at, n * 8, some));
        keep(x, b, at, n, some, n);
    }
    return AXE_OK;
}

axe_status
axe_rank_agree(const axe_rank_exec *x, axe_status st, int n_size,
               const axe_size *size, axe_rank_bound *b)
{
    const char *text =
        st == AXE_OK ? launch_text(x, n_size, size, b) : axe_last_error(x->cx);
    word           mine = {"launch",
                           (int32_t)st,
                           (int32_t)strlen(text),
                           axe_text_hash(text, strlen(text)),
                           {0}};
    word          *all = axe_new_array(x->cx, word, x->e->size);
    const int64_t *extent = NULL;

    if (st == AXE_OK) {
        extent = own_extents(x, b);
        memcpy(mine.extent, extent, sizeof mine.extent);
    }
    AXE_TRY(axe_engine_gather(x->e, &mine, sizeof mine, all));
    AXE_TRY(check_words(x, all));
    AXE_TRY(compare(x, all, st, text));
    b->extent = axe_new_array(x->cx, int64_t, b->n_extent * x->e->size + 1);
    keep(x, b, 0, b->n_extent < FIRST ? b->n_extent : FIRST, all[0].extent,
         WORDS);
    return gather_more(x, b, extent);
}
