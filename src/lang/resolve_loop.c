/* resolve_loop.c - ranges and loops, what leaves them, and what is written
 * after them.
 *
 * Variables of the IR run from 0.  What the text calls `v` in `v : a..b step c`
 * is a + c*v' for a variable v' of the IR; a scope keeps the number of its
 * first entity, since which entities they are matters where they are hardware.
 *
 * `while (c) body` is a loop that begins with `if (!c) break`.
 *
 * What is written: a `for` and a scope run at least once, a `while` may not.
 * After a loop a tensor is written if it was on every way out of it; behind
 * `break` and `continue` nothing is reached, so that all is as good as written.
 */
#include <inttypes.h>
#include <string.h>

#include "lang/resolve_int.h"

static axe_stmt *
new_stmt(axe_resolver *r, axe_stmt_kind kind, axe_span at, const axe_list *body)
{
    axe_stmt *s = axe_new(r->cx, axe_stmt);

    s->kind = kind;
    s->at = at;
    if (body) {
        s->n_body = body->n;
        s->body = (axe_stmt *const *)(const void *)body->item;
    }
    return s;
}

/* ---------------------------------------------------------------- ranges */

static const axe_node *
resolve_tiles(axe_resolver *r, const axe_range *g, const axe_node *count,
              int64_t *by)
{
    const axe_node *arg[2] = {count, NULL};

    if (!axe_resolve_int(r, g->by, "a tile's size", by))
        return NULL;
    if (*by < 1) {
        axe_resolve_fail(r, axe_fail(r->cx, g->by->at, AXE_ESHAPE,
                                     "a tile has at least 1 element, not "
                                     "%" PRId64,
                                     *by));
        return NULL;
    }
    arg[1] = axe_iconst(r->cx, g->by->at, AXE_TYPE_INDEX, *by);
    return axe_node_new(r->cx, AXE_OP_cdiv, AXE_TYPE_INDEX,
                        axe_span_join(g->count->at, g->by->at), 2, arg);
}

/* cdiv(count - from, step), each as far as it is given. */
static const axe_node *
resolve_steps(axe_resolver *r, const axe_range *g, const axe_node *count,
              const axe_node *from, int64_t *step)
{
    int64_t a, b;

    if (from && axe_is_iconst(from, &a) && axe_is_iconst(count, &b) && a >= b) {
        axe_resolve_fail(
            r, axe_fail(r->cx, axe_span_join(g->from->at, g->count->at),
                        AXE_ESHAPE,
                        "the range %" PRId64 "..%" PRId64 " is empty", a, b));
        return NULL;
    }
    if (from)
        count = axe_node2(r->cx, AXE_OP_sub, count, from);
    if (!g->step)
        return count;
    if (!axe_resolve_int(r, g->step, "a step", step))
        return NULL;
    if (*step < 1) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, g->step->at, AXE_ESHAPE,
                                  "a step is at least 1, not %" PRId64, *step));
        return NULL;
    }
    return axe_node2(r->cx, AXE_OP_cdiv, count,
                     axe_iconst(r->cx, g->step->at, AXE_TYPE_INDEX, *step));
}

static bool
resolve_counts(axe_resolver *r, const axe_range *g, axe_counted *out)
{
    int64_t n;

    *out = (axe_counted){.step = 1};
    out->extent = axe_resolve_index(r, g->count, false, "a count");
    if (g->from)
        out->from =
            axe_resolve_index(r, g->from, false, "the beginning of a range");
    if (!out->extent || (g->from && !out->from))
        return false;
    if (!g->from && axe_is_iconst(out->extent, &n) && n < 1)
        return axe_resolve_fail(r, axe_fail(r->cx, g->count->at, AXE_ESHAPE,
                                            "a range has at least 1 value, not "
                                            "%" PRId64,
                                            n));
    if (g->by && g->from) {
        axe_resolve_fail(r, axe_fail(r->cx, g->by->at, AXE_ESYNTAX,
                                     "tiles begin at 0: `a..b` goes with "
                                     "`step`, not with `by`"));
        return false;
    }
    out->extent = g->by
                      ? resolve_tiles(r, g, out->extent, &out->by)
                      : resolve_steps(r, g, out->extent, out->from, &out->step);
    return out->extent != NULL;
}

/* v' as the text's v. */
static const axe_node *
value_of(axe_resolver *r, const axe_counted *c, const axe_var *v)
{
    axe_ctx        *cx = r->cx;
    const axe_node *n = axe_var_node(cx, v->at, v);

    n = axe_node2(cx, AXE_OP_mul, n,
                  axe_iconst(cx, v->at, AXE_TYPE_INDEX, c->step));
    return c->from ? axe_node2(cx, AXE_OP_add, n, c->from) : n;
}

/* Declare the range's name; NULL after an error. */
const axe_var *
axe_range_declare(axe_resolver *r, axe_word word, const axe_counted *c,
                  axe_var_kind kind)
{
    bool       moved = c && (c->from || c->step != 1);
    axe_tiled *tile = axe_new(r->cx, axe_tiled);
    axe_entry *e = axe_names_add(r,
                                 !c      ? AXE_ENTRY_BAD
                                 : moved ? AXE_ENTRY_VALUE
                                         : AXE_ENTRY_VAR,
                                 word);

    if (e->kind == AXE_ENTRY_BAD)
        return NULL;
    e->var = axe_resolve_var(r, kind, word, c->extent);
    e->value = moved ? value_of(r, c, e->var) : NULL;
    *tile = (axe_tiled){e->var, c->by};
    if (c->by > 0)
        axe_list_push(&r->tiled, tile);
    return e->var;
}

const axe_var *
axe_range_resolve(axe_resolver *r, const axe_range *g, axe_var_kind kind,
                  axe_counted *c)
{
    bool ok = resolve_counts(r, g, c);

    if (ok && kind == AXE_VAR_SCOPE)
        c->extent = axe_count_of_entities(r->cx, c->extent);
    return axe_range_declare(r, g->word, ok ? c : NULL, kind);
}

/* --------------------------------------------------------------- leaving */

/* A loop being resolved: what was written on each way out and on each way to
 * the next iteration. */
struct axe_flow {
    int   n; /* entries when it began */
    bool *out, *next;
    bool  left; /* by some break */
};

bool *
axe_written_get(const axe_resolver *r, int n)
{
    bool *w = axe_new_array(r->cx, bool, n);

    for (int i = 0; i < n; i++)
        w[i] = ((const axe_entry *)r->names.item[i])->written;
    return w;
}

void
axe_written_set(axe_resolver *r, int n, const bool *w)
{
    for (int i = 0; i < n; i++)
        ((axe_entry *)r->names.item[i])->written = w[i];
}

static void
meet(const axe_resolver *r, int n, bool *w)
{
    for (int i = 0; i < n; i++)
        w[i] = w[i] && ((const axe_entry *)r->names.item[i])->written;
}

static bool *
all_written(const axe_resolver *r, int n)
{
    bool *w = axe_new_array(r->cx, bool, n);

    for (int i = 0; i < n; i++)
        w[i] = true;
    return w;
}

bool
axe_resolve_reached(axe_resolver *r, const axe_syntax *x)
{
    bool reached = !r->gone_away;

    r->gone_away = false;
    if (reached || x->kind == AXE_SYNTAX_INDEX || x->kind == AXE_SYNTAX_CONST ||
        x->kind == AXE_SYNTAX_LAYOUT)
        return true;
    return axe_resolve_fail(
        r, axe_fail(r->cx, x->at, AXE_ESYNTAX, "this is never reached"));
}

void
axe_resolve_inner(axe_resolver *r, int n, const axe_syntax *const *s,
                  axe_list *out)
{
    axe_flow *flow = r->flow;

    r->flow = NULL;
    axe_resolve_body(r, n, s, out);
    r->flow = flow;
    r->gone_away = false;
}

void
axe_resolve_leave(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    bool          ends = x->kind == AXE_SYNTAX_BREAK;
    axe_stmt_kind kind = ends ? AXE_STMT_BREAK : AXE_STMT_CONTINUE;
    const char   *what = ends ? "break" : "continue";

    if (!r->flow) {
        axe_resolve_fail(r, axe_fail(r->cx, x->at, AXE_ESYNTAX,
                                     "there is no loop for `%s` here", what));
        axe_help(r->cx, "it belongs to a `for` or `while` around it, and "
                        "leaves no scope, stage, turn or function");
        return;
    }
    meet(r, r->flow->n, ends ? r->flow->out : r->flow->next);
    r->flow->left = r->flow->left || ends;
    axe_written_set(r, r->names.n, all_written(r, r->names.n));
    r->gone_away = true;
    axe_list_push(out, new_stmt(r, kind, x->at, NULL));
}

/* ------------------------------------------------------------------ loops */

static axe_flow *
enter_loop(axe_resolver *r, axe_flow *f)
{
    axe_flow *around = r->flow;
    int       n = r->names.n;

    *f = (axe_flow){n, all_written(r, n), all_written(r, n), false};
    r->flow = f;
    return around;
}

/* What a stage holds is what its produce wrote, whoever comes to one. */
static void
keep_stages(const axe_resolver *r, int n, bool *w)
{
    for (int i = 0; i < n; i++) {
        const axe_entry *e = r->names.item[i];
        w[i] = e->pipeline ? e->written : w[i];
    }
}

/* One that ends where data says: it may have no iteration. */
static void
resolve_over_data(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    axe_list body = {.cx = r->cx};
    int      mark = r->names.n;
    bool     ok = axe_data_begin(r, x->range[0], out, &body), *before;
    axe_flow f, *around = enter_loop(r, &f);

    before = axe_written_get(r, f.n);
    axe_resolve_body(r, x->n_body, x->body, &body);
    r->flow = around;
    r->gone_away = false;
    keep_stages(r, f.n, before);
    axe_written_set(r, f.n, before);
    axe_names_leave(r, mark);
    if (ok)
        axe_list_push(out, new_stmt(r, AXE_STMT_LOOP, x->at, &body));
}

static bool
is_hosts(const axe_resolver *r, const axe_range *g)
{
    return g->count && axe_host_knows(r, g->count) &&
           (!g->from || axe_host_knows(r, g->from));
}

/* A loop around all scopes: nobody reads elements there. */
static void
around_scopes(axe_resolver *r, const axe_range *g)
{
    axe_resolve_fail(r, axe_fail(r->cx, g->count->at, AXE_EUNSUPPORTED,
                                 "outside of scopes an end of a range is made "
                                 "of sizes and of integer arguments that are "
                                 "one number"));
    axe_help(r->cx, "give it as such an argument, as in `in i64 %s`",
             g->word.name[0] == 'n' ? "count" : "n");
}

void
axe_resolve_for(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    int             mark = r->names.n;
    axe_list        body = {.cx = r->cx};
    const axe_var **var = axe_new_array(r->cx, const axe_var *, x->n_range);
    axe_counted     c;
    axe_flow        f, *around;
    axe_stmt       *s;

    if (x->n_range > 1)
        axe_resolve_fail(r,
                         axe_fail(r->cx, x->range[1]->word.at, AXE_ESYNTAX,
                                  "`for` has one range; nest another inside"));
    if (x->n_range == 1 && axe_range_reads(r, x->range[0])) {
        r->host = is_hosts(r, x->range[0]);
        if (!r->host && !r->inside && !r->call) {
            around_scopes(r, x->range[0]);
            return;
        }
        if (!r->host) {
            resolve_over_data(r, x, out);
            return;
        }
    }
    for (int i = 0; i < x->n_range; i++) {
        if (x->range[i]->count)
            var[i] = axe_range_resolve(r, x->range[i], AXE_VAR_LOOP, &c);
        else
            axe_resolve_fail(r,
                             axe_fail(r->cx, x->range[i]->word.at, AXE_ESYNTAX,
                                      "`for` needs a range, as in "
                                      "`(t : 8)`"));
    }
    r->host = false;
    around = enter_loop(r, &f);
    axe_resolve_body(r, x->n_body, x->body, &body);
    r->flow = around;
    r->gone_away = false;
    meet(r, f.n, f.out);
    for (int i = 0; i < f.n; i++)
        f.out[i] = f.out[i] && f.next[i];
    axe_written_set(r, f.n, f.out);
    axe_names_leave(r, mark);
    s = new_stmt(r, AXE_STMT_FOR, x->at, &body);
    s->n_var = x->n_range;
    s->var = var;
    axe_list_push(out, s);
}

void
axe_resolve_while(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    axe_list        body = {.cx = r->cx};
    axe_flow        f, *around = enter_loop(r, &f);
    const axe_node *go = axe_resolve_condition(r, x->value, "while", &body);
    bool           *before = axe_written_get(r, f.n);
    int64_t         known = 1;
    bool            ever = go && axe_is_iconst(go, &known);

    if (go && !ever) {
        axe_stmt *leave = new_stmt(r, AXE_STMT_BREAK, x->value->at, NULL);
        axe_stmt *test = new_stmt(r, AXE_STMT_IF, x->value->at, NULL);
        axe_list  one = {.cx = r->cx};
        axe_list_push(&one, leave);
        test->cond = axe_node1(r->cx, AXE_OP_not, go);
        test->n_body = 1;
        test->body = (axe_stmt *const *)(const void *)one.item;
        axe_list_push(&body, test);
    }
    if (known == 0)
        axe_resolve_fail(r, axe_fail(r->cx, x->value->at, AXE_EARG,
                                     "this loop is never entered"));
    axe_resolve_body(r, x->n_body, x->body, &body);
    r->flow = around;
    r->gone_away = false;
    if (ever && known != 0 && !f.left)
        axe_resolve_fail(r, axe_fail(r->cx, x->at, AXE_EARG,
                                     "this loop never ends: nothing leaves "
                                     "it"));
    keep_stages(r, f.n, ever ? f.out : before);
    axe_written_set(r, f.n, ever ? f.out : before);
    axe_list_push(out, new_stmt(r, AXE_STMT_LOOP, x->at, &body));
}
