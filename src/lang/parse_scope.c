/* parse_scope.c - what has ranges: scopes, with what is said of them, and
 * loops; and roles. */
#include <string.h>

#include "lang/parse_int.h"

static axe_syntax *
new_stmt(axe_parser *p, axe_syntax_kind kind)
{
    axe_syntax *s = axe_new(p->cx, axe_syntax);

    s->kind = kind;
    s->scope = AXE_N_SCOPE;
    s->at = p->tok->at;
    return s;
}

static bool
parse_body(axe_parser *p, axe_syntax *s)
{
    axe_list body = {.cx = p->cx};

    if (!axe_parse_block(p, &body))
        return false;
    s->n_body = body.n;
    s->body = (const axe_syntax *const *)body.item;
    return true;
}

/* ---------------------------------------------------------------- ranges */

/* `core (c)`: as many as there are. */
static bool
parse_all_cores(axe_parser *p, axe_list *out)
{
    axe_range *r = axe_new(p->cx, axe_range);
    axe_expr  *n = axe_new(p->cx, axe_expr);
    bool       ok = axe_parse_word(p, "a name for the core's number", &r->word);

    n->kind = AXE_EXPR_NAME;
    n->at = r->word.at;
    n->word =
        (axe_word){axe_intern(p->cx, AXE_CORES, strlen(AXE_CORES)), r->word.at};
    r->count = n;
    axe_list_push(out, r);
    return ok;
}

/* What follows "NAME :" of a range. */
static bool
parse_counts(axe_parser *p, axe_range *r)
{
    const axe_token *t;

    r->count = axe_parse_expr(p);
    if (!r->count)
        return false;
    if (axe_parse_take(p, AXE_TOK_dots)) {
        r->from = r->count;
        if (!(r->count = axe_parse_expr(p)))
            return false;
    }
    if (axe_parse_take(p, AXE_TOK_by))
        return (r->by = axe_parse_expr(p)) != NULL;
    t = p->tok;
    if (t->kind != AXE_TOK_name || strcmp(t->name, "step") != 0)
        return true;
    p->tok++;
    return (r->step = axe_parse_expr(p)) != NULL;
}

/* range = NAME [ ":" expr [ ".." expr ] [ "by" expr | "step" expr ] ] | INT */
static bool
parse_range(axe_parser *p, axe_list *out)
{
    axe_range *r = axe_new(p->cx, axe_range);

    r->word.at = p->tok->at;
    if (p->tok->kind == AXE_TOK_int) {
        if (!(r->from = axe_parse_expr(p)))
            return false;
    } else if (!axe_parse_word(p, "a name for the range", &r->word))
        return false;
    else if (axe_parse_take(p, AXE_TOK_colon) && !parse_counts(p, r))
        return false;
    axe_list_push(out, r);
    return true;
}

static bool
is_name(const axe_token *t, const char *name)
{
    return t->kind == AXE_TOK_name && strcmp(t->name, name) == 0;
}

/* ------------------------------------------------------------------ keys */

static void
push_key(axe_parser *p, axe_list *keys, axe_scope_key key, axe_span at,
         axe_scope_kind unit, const axe_expr *value)
{
    axe_key_syntax *k = axe_new(p->cx, axe_key_syntax);

    *k = (axe_key_syntax){key, at, unit, value};
    axe_list_push(keys, k);
}

/* INT | NAME | "(" expr ")" */
const axe_expr *
axe_parse_value(axe_parser *p)
{
    axe_expr        *e = axe_new(p->cx, axe_expr);
    const axe_expr  *inner;
    const axe_token *t = p->tok;

    if (axe_parse_take(p, AXE_TOK_lparen)) {
        inner = axe_parse_expr(p);
        return inner && axe_parse_need(p, AXE_TOK_rparen, "after the value")
                   ? inner
                   : NULL;
    }
    *e = (axe_expr){.kind = AXE_EXPR_INT, .at = t->at, .i = t->i};
    if (axe_parse_take(p, AXE_TOK_int))
        return e;
    e->kind = AXE_EXPR_NAME;
    return axe_parse_word(p, "a number", &e->word) ? e : NULL;
}

/* key = ( "threads" | "warps" | "warpgroups" | "registers" ) value, any number
 */
static bool
parse_keys(axe_parser *p, axe_list *keys)
{
    static const struct {
        axe_token_kind word;
        axe_scope_key  key;
        axe_scope_kind unit;
    } row[] = {
        {AXE_TOK_threads, AXE_SCOPE_KEY_threads, AXE_SCOPE_THREAD},
        {AXE_TOK_warps, AXE_SCOPE_KEY_threads, AXE_SCOPE_WARP},
        {AXE_TOK_warpgroups, AXE_SCOPE_KEY_threads, AXE_SCOPE_WARPGROUP},
        {AXE_TOK_registers, AXE_SCOPE_KEY_registers, AXE_SCOPE_THREAD},
    };

    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_span        at = p->tok->at;
        const axe_expr *value;
        if (!axe_parse_take(p, row[i].word))
            continue;
        if (!(value = axe_parse_value(p)))
            return false;
        push_key(p, keys, row[i].key, at, row[i].unit, value);
        i = -1; /* keys come in any order */
    }
    return true;
}

/* -------------------------------------------------------------- schedules */

/* What may be said of tiles behind their ranges; value: it needs one.  `along`
 * is no key of the scope: it says which variable comes first. */
static const struct order {
    const char   *name;
    axe_scope_key key;
    bool          value;
} orders[] = {
    {"group", AXE_SCOPE_KEY_group, true},
    {"hilbert", AXE_SCOPE_KEY_hilbert, false},
    {"dynamic", AXE_SCOPE_KEY_dynamic, false},
    {"along", AXE_N_SCOPE_KEY, true},
};

/* The order that begins at the token, or NULL; a name alone may be a range. */
static const struct order *
order_at(const axe_token *t)
{
    for (int i = 0; i < AXE_LEN(orders); i++)
        if (is_name(t, orders[i].name) &&
            (!orders[i].value || t[1].kind == AXE_TOK_eq))
            return &orders[i];
    return NULL;
}

/* order = "group" "=" expr | "hilbert" | "dynamic" [ "=" expr ]
 *       | "along" "=" expr */
static bool
parse_order(axe_parser *p, const struct order *o, axe_syntax *s, axe_list *keys)
{
    axe_span        at = p->tok++->at;
    const axe_expr *value = NULL;

    if (o->key != AXE_SCOPE_KEY_hilbert && axe_parse_take(p, AXE_TOK_eq) &&
        !(value = axe_parse_expr(p)))
        return false;
    if (o->key == AXE_N_SCOPE_KEY && s->along)
        return axe_parse_fail(
            p, axe_fail(p->cx, at, AXE_ENAME, "`along` is given twice"));
    if (o->key == AXE_N_SCOPE_KEY) {
        s->along = value;
        return true;
    }
    push_key(p, keys, o->key, at, AXE_SCOPE_THREAD, value);
    return true;
}

/* The rest of a list of orders, from the first on. */
static bool
parse_orders(axe_parser *p, axe_syntax *s, axe_list *keys)
{
    const struct order *o;

    do {
        if (!(o = order_at(p->tok)))
            return axe_parse_expected(
                p, "`group = `, `hilbert`, `dynamic` or `along = `");
        if (!parse_order(p, o, s, keys))
            return false;
    } while (axe_parse_take(p, AXE_TOK_comma));
    return true;
}

/* NAME ":" "tiles" "(" tile { "," tile } { "," order } ")", where
 * tile = expr [ "by" expr ].  The ranges are t.i, t.j, t.k. */
static bool
parse_tiles(axe_parser *p, axe_syntax *s, axe_list *ranges, axe_list *keys)
{
    static const char *const part[] = {"i", "j", "k"};

    if (!axe_parse_word(p, "a name for the tiles", &s->word))
        return false;
    p->tok += 3;
    do {
        axe_range  *r = axe_new(p->cx, axe_range);
        const char *name = "";
        if (ranges->n > 0 && order_at(p->tok)) {
            if (!parse_orders(p, s, keys))
                return false;
            break;
        }
        if (ranges->n == AXE_LEN(part))
            return axe_parse_fail(
                p, axe_fail(p->cx, p->tok->at, AXE_EUNSUPPORTED,
                            "tiles have at most %d dimensions", ranges->n));
        name = axe_textf(p->cx, "%s.%s", s->word.name, part[ranges->n]);
        r->word.name = axe_intern(p->cx, name, strlen(name));
        r->word.at = p->tok->at;
        if (!(r->count = axe_parse_expr(p)) ||
            (axe_parse_take(p, AXE_TOK_by) && !(r->by = axe_parse_expr(p))))
            return false;
        axe_list_push(ranges, r);
    } while (axe_parse_take(p, AXE_TOK_comma));
    return axe_parse_need(p, AXE_TOK_rparen, "after the tiles");
}

/* ----------------------------------------------------------------- scopes */

static bool
is_all_cores(const axe_parser *p, const axe_syntax *s)
{
    return s->scope == AXE_SCOPE_CORE && p->tok[0].kind == AXE_TOK_name &&
           p->tok[1].kind != AXE_TOK_colon;
}

static bool
is_tiles(const axe_parser *p, const axe_syntax *s)
{
    return s->scope != AXE_N_SCOPE && p->tok[0].kind == AXE_TOK_name &&
           p->tok[1].kind == AXE_TOK_colon && is_name(&p->tok[2], "tiles") &&
           p->tok[3].kind == AXE_TOK_lparen;
}

/* "(" range { "," range } ")" */
static bool
parse_ranges(axe_parser *p, axe_syntax *s, axe_list *keys)
{
    axe_list range = {.cx = p->cx};

    if (!axe_parse_need(p, AXE_TOK_lparen, "before the range"))
        return false;
    if (is_tiles(p, s) && !parse_tiles(p, s, &range, keys))
        return false;
    if (range.n == 0)
        do
            if (is_all_cores(p, s) ? !parse_all_cores(p, &range)
                                   : !parse_range(p, &range))
                return false;
        while (axe_parse_take(p, AXE_TOK_comma));
    if (!axe_parse_need(p, AXE_TOK_rparen, "after the range"))
        return false;
    s->at = axe_span_join(s->at, p->tok[-1].at);
    s->n_range = range.n;
    s->range = (const axe_range *const *)range.item;
    return true;
}

/* `cluster (2) cta`, and not `cluster (c : 2)`, a scope of its own. */
static bool
is_cluster_key(const axe_parser *p)
{
    return p->tok[0].kind == AXE_TOK_cluster &&
           p->tok[1].kind == AXE_TOK_lparen && p->tok[2].kind != AXE_TOK_end &&
           p->tok[3].kind != AXE_TOK_colon;
}

static bool
parse_cluster(axe_parser *p, axe_list *keys)
{
    axe_span        at = p->tok->at;
    const axe_expr *value;

    p->tok += 2;
    if (!(value = axe_parse_expr(p)) ||
        !axe_parse_need(p, AXE_TOK_rparen, "after the cluster's size"))
        return false;
    push_key(p, keys, AXE_SCOPE_KEY_cluster, at, AXE_SCOPE_THREAD, value);
    return p->tok->kind == AXE_TOK_cta ||
           axe_parse_expected(p, "`cta` after the cluster's size");
}

/* { "persistent" | "deterministic" } */
static void
parse_words(axe_parser *p, axe_list *keys)
{
    static const struct {
        axe_token_kind word;
        axe_scope_key  key;
    } row[] = {
        {AXE_TOK_persistent, AXE_SCOPE_KEY_persistent},
        {AXE_TOK_deterministic, AXE_SCOPE_KEY_deterministic},
    };

    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_span at = p->tok->at;
        if (!axe_parse_take(p, row[i].word))
            continue;
        push_key(p, keys, row[i].key, at, AXE_SCOPE_THREAD, NULL);
        i = -1; /* words come in any order */
    }
}

/* scope = [ "cluster" "(" expr ")" ] SCOPE { "persistent" | "deterministic" }
 *         ranges keys block */
const axe_syntax *
axe_parse_scope(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_SCOPE);
    axe_list    keys = {.cx = p->cx};

    if (is_cluster_key(p) && !parse_cluster(p, &keys))
        return NULL;
    s->scope = (axe_scope_kind)(p->tok->kind - AXE_TOK_core);
    p->tok++;
    parse_words(p, &keys);
    if (!parse_ranges(p, s, &keys) || !parse_keys(p, &keys) ||
        !parse_body(p, s))
        return NULL;
    s->n_key = keys.n;
    s->key = (const axe_key_syntax *const *)keys.item;
    return s;
}

/* for (i = 0; ...) of C, its type before it or not */
static bool
is_for_of_c(const axe_token *t)
{
    if (t[0].kind != AXE_TOK_lparen || t[1].kind != AXE_TOK_name)
        return false;
    t += t[2].kind == AXE_TOK_name;
    return t[2].kind == AXE_TOK_eq;
}

/* for = "for" "(" range ")" block */
const axe_syntax *
axe_parse_for(axe_parser *p)
{
    axe_syntax      *s = new_stmt(p, AXE_SYNTAX_FOR);
    const axe_token *from = ++p->tok;

    if (is_for_of_c(from)) {
        p->tok = from + 2;
        axe_parse_expected(p, "`:` and how often");
        axe_help(p->cx, "`for (i : 3)` has i = 0, 1 and 2");
        while (p->tok->kind != AXE_TOK_end && p->tok->kind != AXE_TOK_rparen &&
               p->tok->kind != AXE_TOK_lbrace && p->tok->kind != AXE_TOK_rbrace)
            p->tok++;
        return NULL;
    }
    return parse_ranges(p, s, NULL) && parse_body(p, s) ? s : NULL;
}

/* group = ( "roles" | "overlap" ) "{" { scope } "}" */
const axe_syntax *
axe_parse_group(axe_parser *p, axe_syntax_kind kind)
{
    axe_syntax *s = new_stmt(p, kind);

    p->tok++;
    if (p->tok->kind != AXE_TOK_lbrace) {
        axe_parse_expected(p, kind == AXE_SYNTAX_ROLES
                                  ? "`{` before the roles"
                                  : "`{` before the scopes");
        return NULL;
    }
    return parse_body(p, s) ? s : NULL;
}

/* device = "device" [ "(" NAME ":" NAME { "," NAME ":" NAME } ")" ] block */
const axe_syntax *
axe_parse_device(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_DEVICE);

    p->tok++;
    p->meshed = true;
    if (p->tok->kind == AXE_TOK_lparen && !parse_ranges(p, s, NULL))
        return NULL;
    return parse_body(p, s) ? s : NULL;
}

/* turn = "turn" block */
const axe_syntax *
axe_parse_turn(axe_parser *p)
{
    axe_syntax *s = new_stmt(p, AXE_SYNTAX_TURN);

    p->tok++;
    return parse_body(p, s) ? s : NULL;
}
