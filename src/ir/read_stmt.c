/* read_stmt.c - reading statements from the IR's text. */
#include <string.h>

#include "ir/read_int.h"

static bool
take_space(axe_reader *r, axe_space *out)
{
    for (int s = AXE_SPACE_GLOBAL; s < AXE_N_SPACE; s++)
        if (axe_read_word(r, axe_space_name((axe_space)s))) {
            *out = (axe_space)s;
            return true;
        }
    return false;
}

/* ------------------------------------------------------------- statements */

static axe_status read_body(axe_reader *r, axe_stmt *s);

static axe_status
read_pipeline(axe_reader *r, axe_stmt *s)
{
    axe_pipeline     *ring = axe_new(r->cx, axe_pipeline);
    axe_list          tensor = {.cx = r->cx};
    const axe_tensor *t;
    axe_space         space;
    int64_t           n;

    ring->at = axe_read_at(r);
    AXE_TRY(axe_read_name(r, &ring->name));
    AXE_TRY(
        axe_read_declare(r, (axe_named){.name = ring->name, .pipeline = ring}));
    AXE_TRY(axe_read_need(r, "["));
    AXE_TRY(axe_read_int(r, &n));
    if (n < 1 || n > INT32_MAX)
        return axe_read_expected(r, "at least one stage");
    ring->n_stage = (int)n;
    AXE_TRY(axe_read_need(r, "]"));
    AXE_TRY(axe_read_need(r, "{"));
    while (take_space(r, &space)) {
        AXE_TRY(axe_read_tensor(r, space, AXE_DIR_LOCAL, ring, &t));
        axe_list_push(&tensor, t);
    }
    ring->n_tensor = tensor.n;
    ring->tensor = (const axe_tensor *const *)tensor.item;
    s->kind = AXE_STMT_PIPELINE;
    s->pipeline = ring;
    return axe_read_need(r, "}");
}

/* ( "produce" | "consume" ) NAME body */
static axe_status
read_stage(axe_reader *r, axe_stmt *s, axe_stmt_kind kind)
{
    const char      *name;
    const axe_named *what;

    AXE_TRY(axe_read_name(r, &name));
    what = axe_read_find(r, name);
    if (!what || !what->pipeline)
        return axe_fail(r->cx, axe_read_at(r), AXE_ENAME,
                        "there is no pipeline `%s` here", name);
    s->kind = kind;
    s->pipeline = what->pipeline;
    return read_body(r, s);
}

/* "from" INT behind the n-th range: behind all of them or none. */
static axe_status
read_first(axe_reader *r, axe_stmt_kind kind, int n, const int64_t **out)
{
    int64_t *all = axe_new_array(r->cx, int64_t, n);

    if (kind != AXE_STMT_SCOPE || (n > 1 && !*out) || !axe_read_word(r, "from"))
        return n > 1 && *out ? axe_read_expected(r, "`from`") : AXE_OK;
    for (int i = 0; i + 1 < n; i++)
        all[i] = (*out)[i];
    *out = all;
    return axe_read_int(r, &all[n - 1]);
}

/* { KEY [ INT ] }, in the order of scope_keys.def */
static axe_status
read_keys(axe_reader *r, axe_stmt *s)
{
    for (int k = 0; k < AXE_N_SCOPE_KEY; k++) {
        axe_span at = axe_read_at(r);
        int64_t  value = 1;
        if (!axe_read_word(r, axe_scope_key_table[k].name))
            continue;
        if (axe_scope_key_table[k].most > 1)
            AXE_TRY(axe_read_int(r, &value));
        AXE_TRY(axe_scope_key_set(r->cx, at, s->scope, (axe_scope_key)k, value,
                                  &s->keys));
    }
    return AXE_OK;
}

/* [ "counted" NAME ] */
static axe_status
read_counted(axe_reader *r, axe_stmt *s)
{
    axe_span         at = axe_read_at(r);
    const axe_named *what;
    const char      *name;

    if (!axe_read_word(r, "counted"))
        return AXE_OK;
    AXE_TRY(axe_read_name(r, &name));
    what = axe_read_find(r, name);
    if (!what || !what->tensor || s->keys.overlap != 1)
        return axe_fail(r->cx, at, AXE_ENAME,
                        "`counted` is said of the first scope of a group that "
                        "overlaps, and names a tensor, which `%s` is not",
                        name);
    s->tensor = what->tensor;
    return AXE_OK;
}

/* "(" NAME ":" expr [ "from" INT ] { "," ... } ")" keys [ counted ] body */
static axe_status
read_ranged(axe_reader *r, axe_stmt *s, axe_stmt_kind kind)
{
    axe_var_kind    of = kind == AXE_STMT_FOR ? AXE_VAR_LOOP : AXE_VAR_SCOPE;
    axe_list        var = {.cx = r->cx};
    int             mark = r->names.n;
    const char     *name;
    const axe_node *extent;
    axe_var        *v;

    s->kind = kind;
    AXE_TRY(axe_read_need(r, "("));
    do {
        AXE_TRY(axe_read_name(r, &name));
        AXE_TRY(axe_read_need(r, ":"));
        AXE_TRY(axe_read_expr(r, &extent));
        AXE_TRY(axe_read_var(r, of, extent, name, &v));
        axe_list_push(&var, v);
        AXE_TRY(read_first(r, kind, var.n, &s->first));
    } while (axe_read_take(r, ","));
    AXE_TRY(axe_read_need(r, ")"));
    s->n_var = var.n;
    s->var = (const axe_var *const *)var.item;
    if (kind == AXE_STMT_SCOPE) {
        AXE_TRY(read_keys(r, s));
        AXE_TRY(read_counted(r, s));
    }
    AXE_TRY(read_body(r, s));
    r->names.n = mark;
    return AXE_OK;
}

static axe_status
read_fold(axe_reader *r, axe_fold *out)
{
    for (int f = AXE_FOLD_MIN; f >= AXE_FOLD_NONE; f--)
        if (axe_read_take(
                r, axe_textf(r->cx, "%s=", axe_fold_text((axe_fold)f)))) {
            *out = (axe_fold)f;
            return AXE_OK;
        }
    return axe_read_expected(r, "`=`, `+=`, `*=`, `max=` or `min=`");
}

/* { KEY [ "=" ( INT | "(" INT "," INT ")" ) ] } */
static axe_status
read_attrs(axe_reader *r, axe_stmt *s)
{
    for (int k = 0; k < AXE_N_ATTR; k++) {
        const axe_attr_info *info = &axe_attr_table[k];
        axe_attr             a = {(axe_attr_key)k, axe_read_at(r), {0}};
        if (info->n_value < 0 || k == AXE_ATTR_slow ||
            !axe_read_word(r, info->name))
            continue;
        if (info->n_value > 0)
            AXE_TRY(axe_read_need(r, "="));
        if (info->n_value > 1)
            AXE_TRY(axe_read_need(r, "("));
        for (int i = 0; i < info->n_value; i++) {
            if (i > 0)
                AXE_TRY(axe_read_need(r, ","));
            AXE_TRY(axe_read_int(r, &a.value[i]));
        }
        if (info->n_value > 1)
            AXE_TRY(axe_read_need(r, ")"));
        AXE_TRY(axe_attr_add(r->cx, s, &a));
        k = -1; /* keys come in any order */
    }
    return AXE_OK;
}

/* NAME, an index of the left side */
static axe_status
read_prefix(axe_reader *r, axe_stmt *s)
{
    axe_span    at = axe_read_at(r);
    const char *name;

    AXE_TRY(axe_read_name(r, &name));
    for (int i = 0; i < s->n_free; i++)
        if (strcmp(s->dim[i].var->name, name) == 0)
            s->prefix = s->dim[i].var;
    if (!s->prefix)
        return axe_fail(r->cx, at, AXE_ENAME,
                        "`%s` is no index of the left side", name);
    return AXE_OK;
}

/* place fold expr [ "over" dims ] [ "fold" dims ]
 * [ "prefix" NAME ] [ "via" NAME ] [ "atom" NAME ] [ "slow" ] attrs */
static axe_status
read_index(axe_reader *r, axe_stmt *s)
{
    axe_list dims = {.cx = r->cx};
    axe_dim *dim;

    s->kind = AXE_STMT_INDEX;
    AXE_TRY(axe_read_place(r, &s->dst));
    AXE_TRY(read_fold(r, &s->fold));
    AXE_TRY(axe_read_expr(r, &s->value));
    if (axe_read_word(r, "over"))
        AXE_TRY(axe_read_dims(r, &dims));
    s->n_free = dims.n;
    if (axe_read_word(r, "fold"))
        AXE_TRY(axe_read_dims(r, &dims));
    dim = axe_new_array(r->cx, axe_dim, dims.n);
    for (int i = 0; i < dims.n; i++)
        dim[i] = *(const axe_dim *)dims.item[i];
    s->n_dim = dims.n;
    s->dim = dim;
    if (axe_read_word(r, "prefix"))
        AXE_TRY(read_prefix(r, s));
    if (axe_read_word(r, "via"))
        AXE_TRY(axe_read_name(r, &s->via));
    if (axe_read_word(r, "atom"))
        AXE_TRY(axe_read_name(r, &s->atom));
    s->slow = axe_read_word(r, "slow");
    AXE_TRY(read_attrs(r, s));
    s->id = r->kernel->n_index_stmt++;
    return AXE_OK;
}

/* "(" expr ")" body [ "else" body ] */
static axe_status
read_if(axe_reader *r, axe_stmt *s)
{
    axe_list other = {.cx = r->cx};

    s->kind = AXE_STMT_IF;
    AXE_TRY(axe_read_need(r, "("));
    AXE_TRY(axe_read_expr(r, &s->cond));
    AXE_TRY(axe_read_need(r, ")"));
    AXE_TRY(read_body(r, s));
    if (axe_read_word(r, "else"))
        AXE_TRY(axe_read_block(r, &other));
    s->n_other = other.n;
    s->other = (axe_stmt *const *)(const void *)other.item;
    return AXE_OK;
}

/* Statements that a word begins, and a body alone follows, if anything does. */
static const struct {
    const char   *word;
    axe_stmt_kind kind;
    bool          body;
} plain[] = {
    {"loop", AXE_STMT_LOOP, true},
    {"roles", AXE_STMT_ROLES, true},
    {"turn", AXE_STMT_TURN, true},
    {"break", AXE_STMT_BREAK, false},
    {"barrier", AXE_STMT_BARRIER, false},
    {"continue", AXE_STMT_CONTINUE, false},
};

/* "device" body */
static axe_status
read_device(axe_reader *r, axe_stmt *s)
{
    bool around = r->on_device;

    s->kind = AXE_STMT_DEVICE;
    r->on_device = true;
    AXE_TRY(read_body(r, s));
    r->on_device = around;
    return AXE_OK;
}

static axe_status
read_stmt(axe_reader *r, axe_stmt *s)
{
    axe_space space;

    s->at = axe_read_at(r);
    for (int k = 0; k < AXE_N_SCOPE; k++)
        if (axe_read_word(r, axe_scope_name((axe_scope_kind)k))) {
            s->scope = (axe_scope_kind)k;
            return read_ranged(r, s, AXE_STMT_SCOPE);
        }
    if (axe_read_word(r, "for"))
        return read_ranged(r, s, AXE_STMT_FOR);
    if (axe_read_word(r, "if"))
        return read_if(r, s);
    for (int k = 0; k < AXE_LEN(plain); k++)
        if (axe_read_word(r, plain[k].word)) {
            s->kind = plain[k].kind;
            return plain[k].body ? read_body(r, s) : AXE_OK;
        }
    if (axe_read_word(r, "device"))
        return read_device(r, s);
    if (axe_read_word(r, "pipeline"))
        return read_pipeline(r, s);
    if (axe_read_word(r, "produce"))
        return read_stage(r, s, AXE_STMT_PRODUCE);
    if (axe_read_word(r, "consume"))
        return read_stage(r, s, AXE_STMT_CONSUME);
    if (!take_space(r, &space))
        return read_index(r, s);
    s->kind = AXE_STMT_TENSOR;
    return axe_read_tensor(r, space, AXE_DIR_LOCAL, NULL, &s->tensor);
}

/* "{" { statement } "}" into out; names end with it. */
axe_status
axe_read_block(axe_reader *r, axe_list *out)
{
    int mark = r->names.n;

    AXE_TRY(axe_read_enter(r));
    AXE_TRY(axe_read_need(r, "{"));
    while (!axe_read_take(r, "}")) {
        axe_stmt *s = axe_new(r->cx, axe_stmt);
        AXE_TRY(read_stmt(r, s));
        axe_list_push(out, s);
    }
    r->names.n = mark;
    r->depth--;
    return AXE_OK;
}

static axe_status
read_body(axe_reader *r, axe_stmt *s)
{
    axe_list body = {.cx = r->cx};

    AXE_TRY(axe_read_block(r, &body));
    s->n_body = body.n;
    s->body = (axe_stmt *const *)(const void *)body.item;
    return AXE_OK;
}
