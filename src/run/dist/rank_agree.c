/* rank_agree.c - do all ranks launch the same?  One gather says that they do,
 * and the extents that each has; what was given beside these is compared as a
 * text. What is wrong on one rank alone all are told, by more gathers. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "ir/list.h"
#include "run/dist/rank.h"

/* ---------------------------------------------------------------- the texts */

static void
put_local(axe_ctx *cx, axe_list *out, const axe_tensor *t, const axe_local *l)
{
    const char *separator = " of ";
    axe_buf     as = {.cx = cx};

    if (t->rank == 0 && l->array.data && t->dir == AXE_DIR_IN)
        axe_list_push(
            out, axe_textf(cx, "%s = %s", t->name,
                           axe_dist_number_text(cx, t->type, l->array.data)));
    axe_putf(&as, "%s as %s", t->name,
             l->layout ? l->layout : "it is declared");
    if (l->layout && l->format)
        axe_putf(&as, " of %s", l->format);
    for (int i = 0; i < l->whole.n; i++, separator = "x")
        axe_putf(&as, "%s%" PRId64, separator, l->whole.extent[i]);
    if (t->rank > 0)
        axe_list_push(out, as.text);
}

static const char *
signature(const axe_rank_exec *x, const axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;
    axe_buf           out = {.cx = x->cx};
    const char       *separator = "(";

    axe_puts(&out, k->name);
    for (int i = 0; i < k->n_param; i++)
        if (b->of[i]) {
            axe_putf(&out, "%s%s %s", separator, b->of[i]->array.type,
                     k->param[i]->name);
            separator = ", ";
        }
    axe_puts(&out, *separator == '(' ? "()" : ")");
    return out.text;
}

static const axe_size *
size_named(int n, const axe_size *size, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(size[i].name, name) == 0)
            return &size[i];
    return NULL;
}

/* Those of the kernel in its order, then what else is given. */
static void
put_sizes(axe_ctx *cx, axe_list *out, const axe_kernel *k, int n_size,
          const axe_size *size)
{
    for (int i = 0; i < k->n_size; i++) {
        const axe_size *s = size_named(n_size, size, k->size[i]->name);

        axe_list_push(out, s ? axe_textf(cx, "%s = %" PRId64, s->name, s->value)
                             : axe_textf(cx, "no %s", k->size[i]->name));
    }
    for (int i = 0; i < n_size; i++)
        axe_list_push(
            out, axe_textf(cx, "%s = %" PRId64, size[i].name, size[i].value));
}

/* All that must be the same on all ranks, but for the program's text. */
static axe_list
launch_texts(const axe_rank_exec *x, int n_size, const axe_size *size,
             const axe_rank_bound *b)
{
    const axe_kernel *k = x->p->meshed;
    axe_list          out = {.cx = x->cx};

    axe_list_push(&out, signature(x, b));
    for (int i = 0; i < k->n_param; i++)
        if (b->of[i])
            put_local(x->cx, &out, k->param[i], b->of[i]);
    put_sizes(x->cx, &out, x->p->kernel, n_size, size);
    axe_dist_put_program(x->cx, &out, x->p, x->digest);
    return out;
}

static uint64_t
hash_of(const axe_list *texts)
{
    uint64_t h = (uint64_t)texts->n;

    for (int i = 0; i < texts->n; i++) {
        const char *t = texts->item[i];

        h = h * 0x100000001b3u + axe_text_hash(t, strlen(t));
    }
    return h;
}

/* ------------------------------------------------------------- the meeting */

/* What a rank says first: all that is needed where everything is right. */
enum { WORDS = ENGINE_BLOB / 8, FIRST = WORDS - 3 };

typedef struct word {
    char     what[8]; /* "launch": others may be at another gather */
    int32_t  status;
    int32_t  bytes; /* of the text of what is wrong */
    uint64_t hash;  /* of that, or of the launch's texts */
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

/* Nothing is wrong with what each gives. */
static axe_status
tell_unlike(const axe_rank_exec *x, const axe_list *texts)
{
    axe_status st =
        engine_agree_in(x->e, "what they launch", texts->n,
                        (const char *const *)(const void *)texts->item);

    x->e->common = false; /* ranks may go on, and one of them fail alone */
    if (st == AXE_EARG)
        axe_help(
            x->cx,
            "call the same kernel on all, with the same sizes and numbers");
    return st;
}

/* All ranks end with one status: their own where all have the same error, else
 * that of the first that has one. */
static axe_status
compare(const axe_rank_exec *x, const word *all, axe_status st,
        const char *mine, const axe_list *texts)
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
        return tell_unlike(x, texts);
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
    const char    *wrong = st == AXE_OK ? "" : axe_last_error(x->cx);
    axe_list       texts = {0};
    word           mine = {.what = "launch",
                           .status = (int32_t)st,
                           .bytes = (int32_t)strlen(wrong),
                           .hash = axe_text_hash(wrong, strlen(wrong))};
    word          *all = axe_new_array(x->cx, word, x->e->size);
    const int64_t *extent = NULL;

    if (st == AXE_OK) {
        texts = launch_texts(x, n_size, size, b);
        mine.hash = hash_of(&texts);
        extent = own_extents(x, b);
        memcpy(mine.extent, extent, sizeof mine.extent);
    }
    AXE_TRY(axe_engine_gather(x->e, &mine, sizeof mine, all));
    AXE_TRY(check_words(x, all));
    AXE_TRY(compare(x, all, st, wrong, &texts));
    b->extent = axe_new_array(x->cx, int64_t, b->n_extent * x->e->size + 1);
    keep(x, b, 0, b->n_extent < FIRST ? b->n_extent : FIRST, all[0].extent,
         WORDS);
    return gather_more(x, b, extent);
}
