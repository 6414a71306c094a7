/* text.c - what a move is and costs, in words, as JSON, and as a program. */
#include <inttypes.h>
#include <string.h>

#include "move/move_int.h"

static const struct kind {
    const char *word, *text;
} kinds[] = {
#define MOVE(name, word, text) {word, text},
#include "axe/move.def"
};

/* -------------------------------------------------------------- the summary */

static void
put_line(axe_buf *b, const char *name, const char *text)
{
    axe_putf(b, "  %-14s %s\n", name, text);
}

static void
put_access(axe_buf *b, const char *name, const axe_move_access *a)
{
    if (a->n == 0)
        return;
    if (a->sectors > 0) {
        put_line(b, name,
                 axe_textf(b->cx,
                           "%" PRId64 " of up to %d bytes a thread, %" PRId64
                           " sectors of global memory, of which %" PRId64
                           " would hold what is used",
                           a->n, a->widest, a->sectors, a->least_sectors));
        return;
    }
    put_line(b, name,
             axe_textf(b->cx,
                       "%" PRId64 " of up to %d bytes a thread, %" PRId64
                       " transactions, %" PRId64 " of them by bank conflicts",
                       a->n, a->widest, a->cycles, a->conflicts));
}

static void
put_shuffles(axe_buf *b, const axe_move_program *m)
{
    if (m->n_shuffle > 0)
        put_line(b, "shuffles",
                 axe_textf(b->cx, "%" PRId64 ", %" PRId64 " in a warp",
                           m->n_shuffle, m->most_shuffle));
    if (m->n_select > 0)
        put_line(b, "selects", axe_textf(b->cx, "%" PRId64, m->n_select));
    if (m->n_permute > 0)
        put_line(b, "byte permutes",
                 axe_textf(b->cx, "%" PRId64, m->n_permute));
}

static const char *
number(axe_ctx *cx, int n, const char *what)
{
    return axe_textf(cx, "%d %s%s", n, what, n == 1 ? "" : "s");
}

static void
put_summary(axe_buf *b, const axe_move_program *m)
{
    axe_putf(b, "%s: %s\n", kinds[m->kind].word, kinds[m->kind].text);
    put_line(b, "elements",
             axe_textf(b->cx, "%" PRId64 " of %s, %s%s of %s", m->n_element,
                       m->bits == 4 ? "8 bits, two of 4 in each"
                                    : axe_textf(b->cx, "%d bits", m->bits),
                       number(b->cx, m->n_warp, "warp"),
                       m->n_cta > 1
                           ? axe_textf(b->cx, " of each of %d CTAs", m->n_cta)
                           : "",
                       m->machine));
    put_shuffles(b, m);
    put_access(b, "stores", &m->store);
    if (m->n_barrier > 0)
        put_line(b, "barriers",
                 axe_textf(b->cx, "%d, of %s", m->n_barrier,
                           m->warp_barrier ? "each warp" : "the CTA"));
    put_access(b, "loads", &m->load);
    if (m->shared)
        put_line(b, "shared memory",
                 axe_textf(b->cx, "%" PRId64 " bytes, as %s", m->shared_bytes,
                           axe_layout_text(b->cx, m->shared)));
    put_line(b, "cost", axe_textf(b->cx, "%.4g cycles", m->cost));
    put_line(b, "certificate",
             axe_textf(b->cx,
                       "executed: %" PRId64 " places hold what they "
                       "should",
                       m->n_proved));
}

/* -------------------------------------------------------------- the program */

/* How many lanes from l on go on as l and l + 1 do: the same text, or numbers
 * in even steps. */
static int
run_of(int lanes, int l, const char *const *text, const int64_t *number)
{
    int64_t step;
    int     n = 1;

    if (l + 1 >= lanes || !text[l + 1])
        return 1;
    step = number ? number[l + 1] - number[l] : 0;
    while (l + n < lanes && text[l + n] &&
           (number ? number[l + n] - number[l + n - 1] == step
                   : strcmp(text[l + n], text[l]) == 0))
        n++;
    return number && step != 0 && n < 3 ? 1 : n;
}

/* "0 to 7: r1, 8: r0"; of numbers in even steps "0 to 7: 4, 8 .. 32"; what is
 * the same in all lanes without them. */
static void
put_lanes(axe_buf *b, int lanes, const char *const *text, const int64_t *number)
{
    const char *sep = " ";

    for (int l = 0, n; l < lanes; l += n) {
        n = text[l] ? run_of(lanes, l, text, number) : 1;
        bool same = text[l] && strcmp(text[l], text[l + n - 1]) == 0;
        if (!text[l])
            continue;
        if (n < lanes || !same)
            axe_putf(b, n > 1 ? "%s%d to %d:" : "%s%d:", sep, l, l + n - 1);
        axe_putf(b, " %s", text[l]);
        if (n > 1 && !same && number[l + 1] != number[l] + 1)
            axe_putf(b, ", %s", text[l + 1]);
        if (n > 1 && !same)
            axe_putf(b, " .. %s", text[l + n - 1]);
        sep = "; ";
    }
}

static const char *
word_text(axe_ctx *cx, const axe_shuffling *s, int lane, int word)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < s->pack; i++) {
        int reg = s->word[(lane * s->n_word + word) * s->pack + i];
        if (reg >= 0)
            axe_putf(&b, "%sr%d", i ? "|" : "", reg);
    }
    return b.text;
}

/* Bits in which all lanes differ from whom they get from; 0: not all the same.
 */
static int
distance_of(int lanes, const axe_round *r)
{
    int d = r->from[0] < 0 ? 0 : r->from[0];

    for (int l = 0; l < lanes; l++)
        if (r->from[l] < 0 || (r->from[l] ^ l) != d)
            return 0;
    return d;
}

static void
put_rounds(axe_buf *b, int lanes, const axe_shuffling *s)
{
    const char *give[AXE_MAX_LANES], *from[AXE_MAX_LANES];
    int64_t     whose[AXE_MAX_LANES];

    for (int i = 0; i < s->rounds.n; i++) {
        const axe_round *r = &s->rounds.round[i];
        for (int l = 0; l < lanes; l++) {
            give[l] = r->reg[l] < 0 ? NULL : word_text(b->cx, s, l, r->reg[l]);
            from[l] =
                r->from[l] < 0 ? NULL : axe_textf(b->cx, "%d", r->from[l]);
            whose[l] = r->from[l];
        }
        axe_putf(b, "    shuffle s%d: lanes give", i);
        put_lanes(b, lanes, give, NULL);
        axe_puts(b, " | get from");
        if (distance_of(lanes, r) > 0)
            axe_putf(b, " lane ^ %d", distance_of(lanes, r));
        else
            put_lanes(b, lanes, from, whose);
        axe_putc(b, '\n');
    }
}

static void
put_accesses(axe_buf *b, int lanes, const char *verb, const axe_accesses *a)
{
    const char *at[AXE_MAX_LANES];

    for (int i = 0; i < a->n; i++) {
        const axe_access *x = &a->access[i];
        axe_putf(b, "    %s", verb);
        for (int k = 0; k < x->width; k++)
            axe_putf(b, "%s%s%d", k ? "," : " ", *verb == 's' ? "r" : "d",
                     x->slot[k]);
        axe_puts(b, " at");
        for (int l = 0; l < lanes; l++)
            at[l] =
                x->at[l] < 0 ? NULL : axe_textf(b->cx, "%" PRId64, x->at[l]);
        put_lanes(b, lanes, at, x->at);
        axe_putc(b, '\n');
    }
}

static const char *
fill_text(axe_ctx *cx, int pack, axe_fill f)
{
    if (f.kind == AXE_FILL_OWN)
        return axe_textf(cx, "r%d", f.part);
    if (f.kind == AXE_FILL_LOAD)
        return axe_textf(cx, "d%d", f.part);
    return pack > 1 ? axe_textf(cx, "s%d.%d", f.round, f.part)
                    : axe_textf(cx, "s%d", f.round);
}

static void
put_fills(axe_buf *b, int lanes, int n, const axe_warp_program *w)
{
    const char *text[AXE_MAX_LANES];

    for (int s = 0; w->fill && s < n; s++) {
        bool used = false;
        for (int l = 0; l < lanes; l++) {
            axe_fill f = w->fill[l * n + s];
            bool     here = f.kind != AXE_FILL_NOTHING;
            text[l] = here ? fill_text(b->cx, w->shuffle.pack, f) : NULL;
            used = used || (here && !(f.kind == AXE_FILL_LOAD && f.part == s));
        }
        if (!used)
            continue;
        axe_putf(b, "    d%d =", s);
        put_lanes(b, lanes, text, NULL);
        axe_putc(b, '\n');
    }
}

/* Text of one warp's part: 0 up to the barrier, 1 from it on. */
static const char *
part_text(axe_ctx *cx, const axe_move_program *m, int w, int part)
{
    const struct axe_move_code *p = m->code;
    axe_buf                     b = {.cx = cx};

    if (part == 0) {
        put_rounds(&b, p->lanes, &p->warp[w].shuffle);
        put_accesses(&b, p->lanes, "store", &p->warp[w].store);
    } else {
        put_accesses(&b, p->lanes, "load", &p->warp[w].load);
        put_fills(&b, p->lanes, p->sides.dst.n_slot, &p->warp[w]);
    }
    return b.len > 0 ? b.text : "";
}

/* Warps that do the same are told once. */
static void
put_part(axe_buf *b, const axe_move_program *m, int part)
{
    const char **text = axe_new_array(b->cx, const char *, m->n_warp + 1);

    for (int w = 0; w < m->n_warp; w++)
        text[w] = part_text(b->cx, m, w, part);
    for (int w = 0, end; w < m->n_warp; w = end) {
        for (end = w + 1; end < m->n_warp; end++)
            if (strcmp(text[w], text[end]) != 0)
                break;
        if (*text[w] && end > w + 1)
            axe_putf(b, "  warps %d to %d:\n", w, end - 1);
        else if (*text[w])
            axe_putf(b, "  warp %d:\n", w);
        axe_puts(b, text[w]);
    }
}

const char *
axe_move_text(axe_ctx *cx, const axe_move_program *m, bool program)
{
    axe_buf b = {.cx = cx};

    put_summary(&b, m);
    if (!program)
        return b.text;
    axe_puts(&b, m->n_cta > 1 ? "program, of CTA 0:\n" : "program:\n");
    put_part(&b, m, 0);
    if (m->n_barrier > 0)
        axe_puts(&b, "  barrier\n");
    put_part(&b, m, 1);
    return b.text;
}

/* ----------------------------------------------------------------------- JSON
 */

static void
json_access(axe_buf *b, const char *name, const axe_move_access *a)
{
    axe_putf(b,
             ",\"%s\":{\"n\":%" PRId64 ",\"transactions\":%" PRId64
             ",\"conflicts\":%" PRId64 ",\"bytes\":%d",
             name, a->n, a->cycles, a->conflicts, a->widest);
    if (a->sectors > 0)
        axe_putf(b, ",\"sectors\":%" PRId64 ",\"least_sectors\":%" PRId64,
                 a->sectors, a->least_sectors);
    axe_putc(b, '}');
}

const char *
axe_move_json(axe_ctx *cx, const axe_move_program *m)
{
    axe_buf b = {.cx = cx};

    axe_putf(
        &b,
        "{\"move\":\"%s\",\"machine\":\"%s\",\"bits\":%d,\"elements\":%" PRId64
        ",\"warps\":%d,\"ctas\":%d,\"shuffles\":%" PRId64
        ",\"shuffles_in_a_warp\":%" PRId64 ",\"selects\":%" PRId64
        ",\"byte_permutes\":%" PRId64,
        kinds[m->kind].word, m->machine, m->bits, m->n_element, m->n_warp,
        m->n_cta, m->n_shuffle, m->most_shuffle, m->n_select, m->n_permute);
    json_access(&b, "stores", &m->store);
    json_access(&b, "loads", &m->load);
    axe_putf(&b, ",\"barriers\":%d,\"shared_bytes\":%" PRId64, m->n_barrier,
             m->shared_bytes);
    if (m->shared)
        axe_putf(&b, ",\"shared\":\"%s\"", axe_layout_text(cx, m->shared));
    axe_putf(&b, ",\"cycles\":%.6g,\"proved\":%" PRId64 "}", m->cost,
             m->n_proved);
    return b.text;
}
