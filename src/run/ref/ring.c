/* ring.c - the reference's pipelines, and roles, as C text.
 *
 * The stages of a pipeline are numbered on and on: fI is the next one to fill,
 * gI the next one to read, of the pipeline whose first tensor is I.  Values and
 * bounds of all stages of tensor I are wI and hI.  A pipeline has the stages
 * that are written, in turn: to fill one that is full, or to read one that is
 * not, would be a mistake that planning lets pass, and NaN shows it.
 *
 * Roles run one after the other, so a pipeline that roles use keeps every
 * stage: tI are there, with room for qI.  Every role, and every entity of a
 * scope in one, begins with f and g as they were before all of them (FI, GI),
 * and what comes behind them where the last one ended (PI, QI). */
#include "run/ref/ref_int.h"

/* A pipeline goes by the name of its first tensor. */
static int
ring_id(const axe_pipeline *r)
{
    return r->tensor[0]->id;
}

static bool
is_handed(const axe_ref_printer *p, const axe_pipeline *r)
{
    for (int i = 0; i < p->handed.n; i++)
        if (p->handed.item[i] == r)
            return true;
    return false;
}

static void
find_stages(axe_ref_printer *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if ((s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
            !is_handed(p, s->pipeline))
            axe_list_push(&p->handed, s->pipeline);
        find_stages(p, s->n_body, s->body);
        find_stages(p, s->n_other, s->other);
    }
}

void
axe_ref_find_handed(axe_ref_printer *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_ROLES)
            find_stages(p, s->n_body, s->body);
        axe_ref_find_handed(p, s->n_body, s->body);
        axe_ref_find_handed(p, s->n_other, s->other);
    }
}

static const char *
type_of(const axe_tensor *t)
{
    return axe_type_is_float(t->type) ? "double" : "i64";
}

void
axe_ref_put_stages(axe_ref_printer *p, const axe_tensor *t)
{
    int id = t->id, n = t->pipeline->n_stage;

    PUT_LINE(p, "i64 q%d = %d;", id, n);
    PUT_LINE(p, "%s *w%d = malloc(8 * q%d * c%d + 1);", type_of(t), id, id, id);
    PUT_LINE(p, "double *h%d = malloc(8 * q%d * c%d + 1);", id, id, id);
    PUT_LINE(p, "if (!w%d || !h%d) return 1;", id, id);
    if (ring_id(t->pipeline) == id)
        PUT_LINE(p, "i64 f%d = 0, g%d = 0, t%d = 0;", id, id, id);
}

void
axe_ref_put_ring(axe_ref_printer *p, const axe_pipeline *r)
{
    PUT_LINE(p, "f%d = g%d = t%d = 0;", ring_id(r), ring_id(r), ring_id(r));
}

/* Stage `at` of a pipeline that keeps all: room for it, and undefined if it is
 * new. */
static void
put_room(axe_ref_printer *p, const axe_tensor *t, char at)
{
    int ring = ring_id(t->pipeline), id = t->id;

    PUT_LINE(p, "while (q%d <= %c%d) {", id, at, ring);
    PUT_LINE(p, "  void *w = realloc(w%d, 16 * q%d * c%d + 1);", id, id, id);
    PUT_LINE(p, "  void *h = realloc(h%d, 16 * q%d * c%d + 1);", id, id, id);
    PUT_LINE(p, "  if (!w || !h) return 1;");
    PUT_LINE(p, "  w%d = w; h%d = h; q%d *= 2;", id, id, id);
    PUT_LINE(p, "}");
}

/* The stage's values and bounds as v<id> and e<id>. */
static void
put_place(axe_ref_printer *p, const axe_tensor *t, char at, bool handed)
{
    int         ring = ring_id(t->pipeline), id = t->id;
    const char *turn =
        handed ? "" : axe_textf(p->cx, " %% %d", t->pipeline->n_stage);

    PUT_LINE(p, "%s *v%d = w%d + %c%d%s * c%d;", type_of(t), id, id, at, ring,
             turn, id);
    PUT_LINE(p, "double *e%d = h%d + %c%d%s * c%d;", id, id, at, ring, turn,
             id);
}

axe_status
axe_ref_put_stage(axe_ref_printer *p, const axe_stmt *s)
{
    const axe_pipeline *r = s->pipeline;
    bool                produce = s->kind == AXE_STMT_PRODUCE;
    bool                handed = is_handed(p, r);
    char                at = produce ? 'f' : 'g';
    int                 id = ring_id(r);

    for (int i = 0; i < r->n_tensor; i++) {
        if (handed)
            put_room(p, r->tensor[i], at);
        put_place(p, r->tensor[i], at, handed);
        if (handed)
            PUT_LINE(p, "if (%c%d >= t%d)", at, id, id);
        if (handed || produce) {
            PUT_LINE(p, "{");
            axe_ref_put_poison(p, r->tensor[i]);
            PUT_LINE(p, "}");
        }
    }
    if (handed)
        PUT_LINE(p, "if (%c%d >= t%d) t%d = %c%d + 1;", at, id, id, id, at, id);
    AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
    PUT_LINE(p, "%c%d++;", at, id);
    return AXE_OK;
}

/* -------------------------------------------------------------------- roles */

/* `text` for each pipeline that roles use, with its id for #. */
static void
each_ring(axe_ref_printer *p, const char *text)
{
    for (int i = 0; i < p->handed.n; i++) {
        int     id = ring_id(p->handed.item[i]);
        axe_buf b = {.cx = p->cx};
        for (const char *s = text; *s; s++)
            if (*s == '#')
                axe_putf(&b, "%d", id);
            else
                axe_putc(&b, *s);
        PUT_LINE(p, "%s", b.text);
    }
}

void
axe_ref_rings_begin(axe_ref_printer *p)
{
    each_ring(p, "i64 F# = f#, G# = g#, P# = f#, Q# = g#;");
}

void
axe_ref_rings_again(axe_ref_printer *p)
{
    each_ring(p, "f# = F#; g# = G#;");
}

void
axe_ref_rings_note(axe_ref_printer *p)
{
    each_ring(p, "if (f# > P#) P# = f#; if (g# > Q#) Q# = g#;");
}

void
axe_ref_rings_end(axe_ref_printer *p)
{
    each_ring(p, "f# = P#; g# = Q#;");
}
