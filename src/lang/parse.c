/* parse.c - files, kernels and their heads; the parser's small tools. */
#include <string.h>

#include "base/ctx.h"
#include "lang/lang.h"
#include "lang/parse_int.h"

enum { MOST_NAMED = 16 };

bool
axe_parse_fail(axe_parser *p, axe_status st)
{
    if (p->status == AXE_OK)
        p->status = st;
    return false;
}

/* for_name: a name was wanted, so that a reserved word is a surprise. */
static const char *
quote(axe_parser *p, const axe_token *t, bool for_name)
{
    if (t->kind == AXE_TOK_end)
        return axe_token_text(t->kind);
    return axe_textf(p->cx, "`%.*s`%s", (int)(t->end - t->begin),
                     p->text + t->begin,
                     for_name && t->name ? ", a word of the language" : "");
}

/* After a lexical error, what the parser finds on its line follows from it. */
static bool
spoilt(const axe_parser *p, axe_span at)
{
    for (const axe_diag *d = axe_diags(p->cx); p->lexical && d; d = d->next)
        if (d->severity == AXE_ERROR && d->at.source == at.source &&
            d->at.line == at.line)
            return true;
    return false;
}

static bool
expected(axe_parser *p, const char *what, bool for_name)
{
    const axe_token *t = p->tok;

    if (spoilt(p, t->at) || (t->kind == AXE_TOK_end && p->ended))
        return false;
    p->ended = t->kind == AXE_TOK_end;
    if (axe_token_is_soon(t->kind))
        return axe_parse_fail(p, axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                                          "`%s` is not supported yet",
                                          axe_token_text(t->kind)));
    axe_parse_fail(p,
                   axe_fail(p->cx, t->at, AXE_ESYNTAX, "expected %s, found %s",
                            what, quote(p, t, for_name)));
    if (t->kind == AXE_TOK_lbracket && t->begin > 0 &&
        p->text[t->begin - 1] == ']')
        axe_help(p->cx, "subscripts are separated by commas: `x[i, j]`");
    return false;
}

bool
axe_parse_expected(axe_parser *p, const char *what)
{
    return expected(p, what, false);
}

bool
axe_parse_take(axe_parser *p, axe_token_kind kind)
{
    bool is = p->tok->kind == kind;

    p->tok += is;
    return is;
}

/* The line ends without it: point there, not at the next line. */
static bool
missing_semi(axe_parser *p, const char *where)
{
    axe_span at = p->tok[-1].at;

    at.col += at.len;
    at.len = 1;
    return axe_parse_fail(
        p, axe_fail(p->cx, at, AXE_ESYNTAX, "expected `;` %s", where));
}

bool
axe_parse_need(axe_parser *p, axe_token_kind kind, const char *where)
{
    if (axe_parse_take(p, kind))
        return true;
    if (kind == AXE_TOK_semi && p->tok->at.line > p->tok[-1].at.line)
        return missing_semi(p, where);
    return axe_parse_expected(
        p, axe_textf(p->cx, "`%s` %s", axe_token_text(kind), where));
}

bool
axe_parse_enter(axe_parser *p)
{
    if (++p->depth <= AXE_NEST_MAX)
        return true;
    return axe_parse_fail(
        p, axe_fail(p->cx, p->tok->at, AXE_ELIMIT,
                    "blocks and brackets are nested deeper than %d",
                    AXE_NEST_MAX));
}

const char *
axe_parse_text(axe_parser *p, const axe_token *from)
{
    return axe_textf(p->cx, "%.*s", (int)(p->tok[-1].end - from->begin),
                     p->text + from->begin);
}

bool
axe_parse_word(axe_parser *p, const char *what, axe_word *out)
{
    const axe_token *t = p->tok;

    if (t->kind != AXE_TOK_name)
        return expected(p, what, true);
    *out = (axe_word){t->name, t->at};
    p->tok++;
    return true;
}

/* const = NAME [ "=" sum ] | "type" NAME [ "=" type ]
 *
 * A value has no comparison outside brackets, as `>` ends the list. */
static const axe_const_decl *
parse_const(axe_parser *p, bool typed)
{
    axe_const_decl *c = axe_new(p->cx, axe_const_decl);

    c->is_type = typed && axe_parse_take(p, AXE_TOK_type);
    if (!axe_parse_word(p, "a parameter's name", &c->word))
        return NULL;
    if (axe_parse_take(p, AXE_TOK_eq)) {
        const axe_token *from = p->tok;
        bool             ok = c->is_type && axe_parse_type(p, &c->type);
        if (!c->is_type)
            c->value = axe_parse_sum(p);
        if (!ok && !c->value)
            return NULL;
        c->text = axe_parse_text(p, from);
    }
    return c;
}

/* consts = "<" const { "," const } ">" */
static bool
parse_consts(axe_parser *p, axe_kernel_decl *k)
{
    axe_list out = {.cx = p->cx};

    if (!axe_parse_take(p, AXE_TOK_lt))
        return true;
    do {
        const axe_const_decl *c = parse_const(p, true);
        if (!c)
            return false;
        axe_list_push(&out, c);
    } while (axe_parse_take(p, AXE_TOK_comma));
    k->n_const = out.n;
    k->consts = (const axe_const_decl *const *)out.item;
    if (axe_parse_need(p, AXE_TOK_gt, "after the parameters"))
        return true;
    if (p->tok->kind == AXE_TOK_shl || p->tok->kind == AXE_TOK_amp ||
        p->tok->kind == AXE_TOK_bar || p->tok->kind == AXE_TOK_caret)
        axe_help(p->cx, "values of parameters are sums; put this one into "
                        "brackets, as in `N = (1 << 4)`");
    return false;
}

/* What is written is an array. */
static bool
parse_scalar(axe_parser *p, const axe_tensor_decl *t)
{
    if (t->dir == AXE_DIR_IN)
        return true;
    axe_parse_expected(p, "`[` with the tensor's shape");
    axe_help(p->cx, "a single element is one of an array: `%s[1]`",
             t->word.name);
    return false;
}

/* param = ( "in" | "out" | "inout" ) type NAME dims | "in" type NAME */
static const axe_tensor_decl *
parse_param(axe_parser *p)
{
    axe_tensor_decl *t = axe_new(p->cx, axe_tensor_decl);

    t->space = AXE_SPACE_GLOBAL;
    if (axe_parse_take(p, AXE_TOK_in))
        t->dir = AXE_DIR_IN;
    else if (axe_parse_take(p, AXE_TOK_out))
        t->dir = AXE_DIR_OUT;
    else if (axe_parse_take(p, AXE_TOK_inout))
        t->dir = AXE_DIR_INOUT;
    else {
        axe_parse_expected(p, "`in`, `out` or `inout`");
        return NULL;
    }
    if (!axe_parse_type(p, &t->type) ||
        !axe_parse_word(p, "the tensor's name", &t->word) ||
        !(p->tok->kind == AXE_TOK_comma || p->tok->kind == AXE_TOK_rparen
              ? parse_scalar(p, t)
              : axe_parse_dims(p, t)))
        return NULL;
    if (axe_parse_is_held(p)) {
        if (!axe_parse_held(p, t))
            return NULL;
    } else if (p->tok->kind == AXE_TOK_colon) {
        axe_parse_fail(p, axe_fail(p->cx, p->tok->at, AXE_EUNSUPPORTED,
                                   "a layout for an argument is not supported "
                                   "yet"));
        axe_help(p->cx, "leave it out: any strides are taken at the call");
        return NULL;
    }
    return t;
}

/* Go to the `,` or `)` that ends the parameter begun at `from`. */
static void
skip_param(axe_parser *p, const axe_token *from)
{
    int open = 0;

    for (p->tok = from;
         p->tok->kind != AXE_TOK_lbrace && p->tok->kind != AXE_TOK_end;
         p->tok++) {
        axe_token_kind k = p->tok->kind;
        if (open == 0 && (k == AXE_TOK_comma || k == AXE_TOK_rparen))
            return;
        open += (k == AXE_TOK_lparen || k == AXE_TOK_lbracket) -
                (k == AXE_TOK_rparen || k == AXE_TOK_rbracket);
    }
}

/* params = "(" [ param { "," param } ] ")" */
static bool
parse_params(axe_parser *p, axe_kernel_decl *k)
{
    axe_list out = {.cx = p->cx};

    if (!axe_parse_need(p, AXE_TOK_lparen, "before the arguments"))
        return false;
    if (axe_parse_take(p, AXE_TOK_rparen))
        return true;
    do {
        const axe_token       *from = p->tok;
        const axe_tensor_decl *t = parse_param(p);
        if (t)
            axe_list_push(&out, t);
        else
            skip_param(p, from);
    } while (axe_parse_take(p, AXE_TOK_comma));
    k->n_param = out.n;
    k->param = (const axe_tensor_decl *const *)out.item;
    return axe_parse_need(p, AXE_TOK_rparen, "after the arguments");
}

/* machine = NAME { "-" NAME }, as in cpu-avx2 */
static bool
parse_machine(axe_parser *p, const char *what, axe_word *out)
{
    axe_word more;

    if (!axe_parse_word(p, what, out))
        return false;
    while (axe_parse_take(p, AXE_TOK_minus)) {
        if (!axe_parse_word(p, "the rest of the machine's name", &more))
            return false;
        const char *all = axe_textf(p->cx, "%s-%s", out->name, more.name);
        out->name = axe_intern(p->cx, all, strlen(all));
    }
    return true;
}

/* default = "default" machine "(" const { "," const } ")" */
static const axe_default_decl *
parse_default(axe_parser *p)
{
    axe_default_decl *d = axe_new(p->cx, axe_default_decl);
    axe_list          set = {.cx = p->cx};

    if (!parse_machine(p, "a machine's name", &d->machine) ||
        !axe_parse_need(p, AXE_TOK_lparen, "after the machine's name"))
        return NULL;
    do {
        const axe_const_decl *c = parse_const(p, false);
        if (!c)
            return NULL;
        if (!c->value) {
            axe_parse_expected(p, "`=` after the parameter's name");
            return NULL;
        }
        axe_list_push(&set, c);
    } while (axe_parse_take(p, AXE_TOK_comma));
    d->n = set.n;
    d->set = (const axe_const_decl *const *)set.item;
    return axe_parse_need(p, AXE_TOK_rparen, "after the values") ? d : NULL;
}

/* tune = "tune" NAME "in" "{" value { "," value } "}", value = INTEGER | NAME
 */
static const axe_tune_decl *
parse_tune(axe_parser *p)
{
    axe_tune_decl *t = axe_new(p->cx, axe_tune_decl);
    axe_list       value = {.cx = p->cx}, text = {.cx = p->cx};

    if (!axe_parse_word(p, "a parameter's name", &t->word) ||
        !axe_parse_need(p, AXE_TOK_in, "before the domain") ||
        !axe_parse_need(p, AXE_TOK_lbrace, "before the values"))
        return NULL;
    do {
        const axe_token *tok = p->tok;
        axe_expr        *e = axe_new(p->cx, axe_expr);
        e->kind = tok->kind == AXE_TOK_int ? AXE_EXPR_INT : AXE_EXPR_NAME;
        e->at = tok->at;
        e->i = tok->i;
        e->word = (axe_word){tok->name, tok->at};
        if (tok->kind != AXE_TOK_int && tok->kind != AXE_TOK_name) {
            axe_parse_expected(p, "an integer or a type");
            return NULL;
        }
        p->tok++;
        axe_list_push(&value, e);
        axe_list_push(&text, axe_parse_text(p, tok));
    } while (axe_parse_take(p, AXE_TOK_comma));
    t->n = value.n;
    t->value = (const axe_expr *const *)value.item;
    t->text = (const char *const *)text.item;
    return axe_parse_need(p, AXE_TOK_rbrace, "after the values") ? t : NULL;
}

/* "target" machine { "," machine }, as "nvidia, opencl" */
static bool
parse_target(axe_parser *p, axe_kernel_decl *k)
{
    axe_word one;

    do {
        if (!parse_machine(p, "a target's name", &one))
            return false;
        const char *all = k->target
                              ? axe_textf(p->cx, "%s, %s", k->target, one.name)
                              : one.name;
        k->target = axe_intern(p->cx, all, strlen(all));
    } while (axe_parse_take(p, AXE_TOK_comma));
    return true;
}

/* attributes = [ "target" machine { "," machine } ] { default | tune } */
static bool
parse_attributes(axe_parser *p, axe_kernel_decl *k)
{
    axe_list out = {.cx = p->cx}, tunes = {.cx = p->cx};

    if (axe_parse_take(p, AXE_TOK_target) && !parse_target(p, k))
        return false;
    for (;;) {
        bool        tune = axe_parse_take(p, AXE_TOK_tune);
        const void *made;
        if (!tune && !axe_parse_take(p, AXE_TOK_default))
            break;
        made = tune ? (const void *)parse_tune(p) : parse_default(p);
        if (!made)
            return false;
        axe_list_push(tune ? &tunes : &out, made);
    }
    k->n_tune = tunes.n;
    k->tune = (const axe_tune_decl *const *)tunes.item;
    k->n_default = out.n;
    k->defaults = (const axe_default_decl *const *)out.item;
    return true;
}

/* kernel = "kernel" NAME consts params attributes "{" { statement } "}" */
static const axe_kernel_decl *
parse_kernel(axe_parser *p)
{
    axe_kernel_decl *k = axe_new(p->cx, axe_kernel_decl);
    axe_list         body = {.cx = p->cx};

    p->meshed = false;
    if (!axe_parse_word(p, "the kernel's name", &k->word) ||
        !parse_consts(p, k) || !parse_params(p, k) || !parse_attributes(p, k))
        return NULL;
    if (p->tok->kind != AXE_TOK_lbrace) {
        axe_parse_expected(p, "`{` before the kernel's body");
        return NULL;
    }
    if (!axe_parse_block(p, &body))
        return NULL;
    k->n_body = body.n;
    k->body = (const axe_syntax *const *)body.item;
    k->meshed = p->meshed;
    return k;
}

bool
axe_parse_is_top(axe_token_kind kind)
{
    return kind == AXE_TOK_kernel || kind == AXE_TOK_fn || kind == AXE_TOK_mesh;
}

static void
skip_to_kernel(axe_parser *p)
{
    while (!axe_parse_is_top(p->tok->kind) && p->tok->kind != AXE_TOK_end)
        p->tok++;
}

/* mesh = "mesh" NAME "[" sum "]" { "," NAME "[" sum "]" } ";" */
static bool
parse_mesh(axe_parser *p, axe_list *axes)
{
    axe_span at = p->tok++->at;

    if (axes->n > 0) {
        axe_parse_fail(
            p, axe_fail(p->cx, at, AXE_ENAME, "the file has a mesh already"));
        axe_note(p->cx, p->mesh_at, "it is here");
        axe_help(p->cx, "one mesh has all axes: `mesh node[N], gpu[P];`");
        return false;
    }
    p->mesh_at = at;
    do {
        axe_axis_decl   *a = axe_new(p->cx, axe_axis_decl);
        const axe_token *from;

        if (!axe_parse_word(p, "the name of an axis", &a->word) ||
            !axe_parse_need(p, AXE_TOK_lbracket, "with the axis' size"))
            return false;
        from = p->tok;
        if (!(a->size = axe_parse_sum(p)))
            return false;
        a->text = axe_parse_text(p, from);
        if (!axe_parse_need(p, AXE_TOK_rbracket, "after the axis' size"))
            return false;
        axe_list_push(axes, a);
    } while (axe_parse_take(p, AXE_TOK_comma));
    return axe_parse_need(p, AXE_TOK_semi, "after the mesh");
}

/* kernel | fn | mesh */
static bool
parse_top(axe_parser *p, axe_list *kernels, axe_list *fns, axe_list *axes)
{
    bool        fn = p->tok->kind == AXE_TOK_fn;
    const void *made;

    if (!axe_parse_is_top(p->tok->kind))
        return axe_parse_expected(
            p, "`kernel`, `fn`, `const`, `layout` or `mesh`");
    if (p->tok->kind == AXE_TOK_mesh)
        return parse_mesh(p, axes);
    p->tok++;
    made = fn ? (const void *)axe_parse_fn(p) : parse_kernel(p);
    if (made)
        axe_list_push(fn ? fns : kernels, made);
    return made != NULL;
}

/* file = { kernel | fn | const | layout | mesh } */
static void
parse_file(axe_parser *p, axe_list *kernels, axe_list *fns, axe_list *shared,
           axe_list *axes)
{
    while (p->tok->kind != AXE_TOK_end) {
        p->depth = 0;
        if (p->tok->kind == AXE_TOK_const || p->tok->kind == AXE_TOK_layout) {
            axe_parse_item(p, shared);
            continue;
        }
        if (!parse_top(p, kernels, fns, axes))
            skip_to_kernel(p);
    }
}

static void
check_names(axe_parser *p, const axe_list *kernels)
{
    for (int i = 0; i < kernels->n; i++)
        for (int j = 0; j < i; j++) {
            const axe_kernel_decl *a = kernels->item[j], *b = kernels->item[i];
            if (a->word.name != b->word.name)
                continue;
            axe_parse_fail(p, axe_fail(p->cx, b->word.at, AXE_ENAME,
                                       "kernel `%s` is declared twice",
                                       b->word.name));
            axe_note(p->cx, a->word.at, "the first one is here");
            break;
        }
}

axe_status
axe_module_parse(axe_ctx *cx, int32_t source, const axe_module **out)
{
    axe_parser  p = {.cx = cx};
    axe_list    kernels = {.cx = cx}, shared = {.cx = cx}, fns = {.cx = cx};
    axe_list    axes = {.cx = cx};
    axe_module *m;
    size_t      len;

    p.text = axe_source_text(cx, source, &len);
    p.status = axe_lex(cx, source, &p.tok);
    p.lexical = p.ended = p.status != AXE_OK;
    parse_file(&p, &kernels, &fns, &shared, &axes);
    check_names(&p, &kernels);
    AXE_TRY(p.status);
    m = axe_new(cx, axe_module);
    m->source = source;
    m->n_shared = shared.n;
    m->shared = (const axe_syntax *const *)shared.item;
    m->n_axis = axes.n;
    m->axis = (const axe_axis_decl *const *)axes.item;
    m->n_fn = fns.n;
    m->fn = (const axe_fn_decl *const *)fns.item;
    m->n_kernel = kernels.n;
    m->kernel = (const axe_kernel_decl *const *)kernels.item;
    *out = m;
    return AXE_OK;
}

int
axe_module_n_kernel(const axe_module *m)
{
    return m->n_kernel;
}

const char *
axe_module_kernel_name(const axe_module *m, int i)
{
    return 0 <= i && i < m->n_kernel ? m->kernel[i]->word.name : NULL;
}

static axe_status
none_named(axe_ctx *cx, int n, const char *const *known)
{
    axe_buf    b = {.cx = cx};
    axe_status st =
        axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                 "the file has %d kernels, so one must be named", n);

    for (int i = 0; i < n && i < MOST_NAMED; i++)
        axe_putf(&b, "%s`%s`", i ? ", " : "", known[i]);
    if (n > 0)
        axe_help(cx, "name one: %s%s", b.text, n > MOST_NAMED ? ", ..." : "");
    return st;
}

axe_status
axe_kernel_find(axe_ctx *cx, const axe_module *m, const char *name,
                const axe_kernel_decl **out)
{
    const char **known;
    const char  *near;
    axe_status   st;

    for (int i = 0; i < m->n_kernel; i++)
        if (name ? strcmp(m->kernel[i]->word.name, name) == 0
                 : m->n_kernel == 1) {
            *out = m->kernel[i];
            return AXE_OK;
        }
    known = axe_new_array(cx, const char *, m->n_kernel);
    for (int i = 0; i < m->n_kernel; i++)
        known[i] = m->kernel[i]->word.name;
    if (!name)
        return none_named(cx, m->n_kernel, known);
    st = axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no kernel `%s`", name);
    near = axe_nearest(name, m->n_kernel, known);
    if (near)
        axe_help(cx, "did you mean `%s`?", near);
    return st;
}
