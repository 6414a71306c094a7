/* eval.c - the server of `axe eval`: contexts, requests, replies.
 *
 * Each machine named by a request gets a ctx of its own, since machines may
 * give one axis name different kinds.  A ctx is released to its mark before
 * every request; names that requests bring in stay, so a ctx that has grown
 * past a bound is replaced: the server runs for ever in constant memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layout/eval_int.h"

enum {
    MAX_ROOM = 8,
    MAX_AXIS = 1024,              /* axes of a ctx before it is replaced */
    MAX_BYTES = 64 * 1024 * 1024, /* and bytes */
    MAX_OP_KEYS = 8
};

/* The ctx of one machine; table NULL: of no machine. */
typedef struct room {
    axe_ctx              *cx;
    const axe_axis_table *table;
    axe_mark              start;
} room;

struct axe_eval {
    axe_eval_options opt;
    int              n_room;
    room             room[MAX_ROOM];
    axe_ctx         *reader; /* of the request's text and the reply */
};

static const axe_eval_op ops[] = {
#define OP(name, handler, keys, what) {#name, handler, keys, what, NULL},
#include "layout/eval.def"
};

/* Operation i of all, or NULL. */
static const axe_eval_op *
op_at(const axe_eval_ops *more, int i)
{
    if (i < AXE_LEN(ops))
        return &ops[i];
    i -= AXE_LEN(ops);
    for (; more && i >= more->n; more = more->next)
        i -= more->n;
    return more ? &more->op[i] : NULL;
}

axe_eval *
axe_eval_new(const axe_eval_options *opt)
{
    axe_eval *ev = calloc(1, sizeof *ev);

    if (!ev)
        return NULL;
    if (opt)
        ev->opt = *opt;
    ev->reader = axe_ctx_new();
    if (ev->reader)
        return ev;
    free(ev);
    return NULL;
}

void
axe_eval_free(axe_eval *ev)
{
    if (!ev)
        return;
    for (int i = 0; i < ev->n_room; i++)
        axe_ctx_free(ev->room[i].cx);
    axe_ctx_free(ev->reader);
    free(ev);
}

size_t
axe_eval_bytes(const axe_eval *ev)
{
    size_t n = ev ? sizeof *ev + axe_ctx_bytes(ev->reader) : 0;

    for (int i = 0; ev && i < ev->n_room; i++)
        n += axe_ctx_bytes(ev->room[i].cx);
    return n;
}

/* ------------------------------------------------------------- contexts */

static bool
grown(const axe_ctx *cx)
{
    return axe_ctx_bytes(cx) > MAX_BYTES || axe_n_axis(cx) > MAX_AXIS;
}

static bool
renew(axe_ctx **cx)
{
    axe_ctx_free(*cx);
    *cx = axe_ctx_new();
    return *cx != NULL;
}

/* Make r's ctx ready: fresh if there is none or it has grown, else released. */
static axe_status
prepare(axe_eval *ev, room *r)
{
    if (r->cx && !grown(r->cx)) {
        axe_ctx_release(r->cx, r->start);
        return AXE_OK;
    }
    if (!renew(&r->cx))
        return axe_fail(ev->reader, AXE_NOWHERE, AXE_ELIMIT, "out of memory");
    if (r->table && axe_axes_load(r->cx, r->table) != AXE_OK)
        return axe_fail(ev->reader, AXE_NOWHERE, AXE_ENAME, "machine '%s': %s",
                        r->table->machine, axe_last_error(r->cx));
    axe_axes_open(r->cx, !ev->opt.strict_axes);
    r->start = axe_ctx_mark(r->cx);
    return AXE_OK;
}

/* The ctx of a machine; the last one makes place when all are taken. */
static axe_status
enter(axe_eval *ev, const char *name, room **out)
{
    const axe_axis_table *t = NULL;
    int                   i = 0;

    if (name && ev->opt.machine)
        t = ev->opt.machine(name);
    if (name && !t)
        return axe_fail(ev->reader, AXE_NOWHERE, AXE_ENAME,
                        "there is no machine '%s'", name);
    while (i < ev->n_room && ev->room[i].table != t)
        i++;
    if (i == MAX_ROOM) {
        axe_ctx_free(ev->room[--i].cx);
        ev->room[i] = (room){.table = t};
    } else if (i == ev->n_room) {
        ev->room[ev->n_room++] = (room){.table = t};
    }
    AXE_TRY(prepare(ev, &ev->room[i]));
    *out = &ev->room[i];
    return AXE_OK;
}

/* ------------------------------------------------------------- requests */

static bool
word_is(const char *word, size_t n, const char *s)
{
    return strlen(s) == n && memcmp(word, s, n) == 0;
}

/* The key at *keys, its length, and whether it may be missing; moves *keys
 * behind it.  False at the end. */
static bool
next_key(const char **keys, const char **key, size_t *n, bool *optional)
{
    const char *s = *keys + strspn(*keys, " ");

    *key = s;
    *n = strcspn(s, " ?");
    *optional = s[*n] == '?';
    *keys = s + *n + *optional;
    return *n > 0;
}

static bool
has_key(const axe_eval_op *op, const char *name)
{
    const char *keys = op->keys, *key;
    size_t      n;
    bool        optional;

    while (next_key(&keys, &key, &n, &optional))
        if (word_is(key, n, name))
            return true;
    return strcmp(name, "target") == 0;
}

static axe_status
check_args(axe_ctx *cx, const axe_eval_op *op, const axe_json *in)
{
    const char *keys = op->keys, *key;
    size_t      n;
    bool        optional;

    if (strcmp(keys, "*") == 0)
        return AXE_OK;
    for (const axe_json *c = in ? in->child : NULL; c; c = c->next)
        if (!has_key(op, c->key))
            return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                            "%s has no argument \"%s\"; it takes: %s", op->name,
                            c->key, *op->keys ? op->keys : "none");
    while (next_key(&keys, &key, &n, &optional))
        if (!optional && !axe_json_get(in, axe_textf(cx, "%.*s", (int)n, key)))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "%s needs the argument \"%.*s\"", op->name, (int)n,
                            key);
    return AXE_OK;
}

/* Are all arguments there that the operation needs, and no other? */
static bool
args_fit(const axe_eval_op *op, const axe_json *in)
{
    const char *keys = op->keys, *key;
    size_t      n;
    bool        optional, found;

    if (strcmp(keys, "*") == 0)
        return true;
    for (const axe_json *c = in ? in->child : NULL; c; c = c->next)
        if (!has_key(op, c->key))
            return false;
    while (next_key(&keys, &key, &n, &optional)) {
        found = optional;
        for (const axe_json *c = in ? in->child : NULL; c && !found;
             c = c->next)
            found = word_is(key, n, c->key);
        if (!found)
            return false;
    }
    return true;
}

/* The operation of that name; of several the first that the arguments fit, else
 * the first, which then says what is wrong with them. */
static axe_status
find_op(axe_eval *ev, const axe_json *v, const axe_json *in,
        const axe_eval_op **out)
{
    axe_ctx           *cx = ev->reader;
    const axe_eval_op *op, *first = NULL;
    const char       **name, *near;
    int                n = 0;

    if (!v || v->kind != AXE_JSON_TEXT)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "\"op\" must be the name of an operation, not %s",
                        axe_json_kind_text(v));
    for (; (op = op_at(ev->opt.more, n)); n++)
        if (word_is(v->text, v->len, op->name)) {
            if (args_fit(op, in)) {
                *out = op;
                return AXE_OK;
            }
            first = first ? first : op;
        }
    *out = first;
    if (first)
        return AXE_OK;
    name = axe_new_array(cx, const char *, n);
    for (int i = 0; i < n; i++)
        name[i] = op_at(ev->opt.more, i)->name;
    near = axe_nearest(v->text, n, name);
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                    "there is no operation \"%s\"%s%s%s", v->text,
                    near ? "; did you mean \"" : "", near ? near : "",
                    near ? "\"?" : "");
}

static axe_status
find_target(axe_eval *ev, const axe_json *in, const char **out)
{
    const axe_json *v = axe_json_get(in, "target");

    *out = ev->opt.default_name;
    if (!v || v->kind == AXE_JSON_NULL)
        return AXE_OK;
    if (v->kind != AXE_JSON_TEXT || strlen(v->text) != v->len)
        return axe_fail(ev->reader, AXE_NOWHERE, AXE_EARG,
                        "\"target\" must be the name of a machine, not %s",
                        axe_json_kind_text(v));
    *out = v->text;
    return AXE_OK;
}

/* Append the last error of `from`, with its notes, as the reply's error. */
static void
put_error(axe_buf *out, axe_status st, const axe_ctx *from)
{
    const axe_diag *error = NULL;
    const char     *sep = "[";

    for (const axe_diag *d = axe_diags(from); d; d = d->next)
        if (d->severity == AXE_ERROR)
            error = d;
    axe_puts(out, ",\"error\":{\"code\":");
    axe_json_put_name(out, axe_status_name(st));
    axe_puts(out, ",\"message\":");
    axe_json_put_name(out, error ? error->text : axe_status_text(st));
    if (error && error->next)
        axe_puts(out, ",\"notes\":");
    for (const axe_diag *d = error ? error->next : NULL; d; d = d->next) {
        axe_puts(out, sep);
        axe_json_put_name(out, d->text);
        sep = ",";
    }
    axe_puts(out, error && error->next ? "]}" : "}");
}

/* Run a request that could be read; *who is the ctx with the diagnostics. */
static axe_status
serve(axe_eval *ev, const axe_json *request, axe_buf *out, const axe_ctx **who)
{
    const axe_json    *in = axe_json_get(request, "in");
    const axe_eval_op *op;
    const char        *target;
    room              *r;
    axe_buf            result = {0};

    if (request->kind != AXE_JSON_OBJECT)
        return axe_fail(ev->reader, AXE_NOWHERE, AXE_EARG,
                        "a request is an object, not %s",
                        axe_json_kind_text(request));
    if (in && in->kind != AXE_JSON_OBJECT)
        return axe_fail(ev->reader, AXE_NOWHERE, AXE_EARG,
                        "\"in\" must be an object, not %s",
                        axe_json_kind_text(in));
    AXE_TRY(find_op(ev, axe_json_get(request, "op"), in, &op));
    AXE_TRY(check_args(ev->reader, op, in));
    AXE_TRY(find_target(ev, in, &target));
    AXE_TRY(enter(ev, op->family ? op->family : target, &r));
    *who = result.cx = r->cx;
    AXE_TRY(op->run(&(axe_job){.cx = r->cx,
                               .in = in,
                               .fuse = axe_json_get(in, "target") != NULL,
                               .more = ev->opt.more,
                               .out = &result}));
    axe_puts(out, ",\"out\":");
    axe_putn(out, result.text, result.len);
    return AXE_OK;
}

const char *
axe_eval_line(axe_eval *ev, const char *line, size_t len)
{
    static const char no_memory[] =
        "{\"id\":null,\"error\":{\"code\":\"ELIMIT\",\"message\":"
        "\"out of memory\"}}";
    static const char nothing[] =
        "{\"id\":null,\"error\":{\"code\":\"EARG\",\"message\":"
        "\"no evaluator, or no line\"}}";
    const axe_json *request = NULL, *id;
    const axe_ctx  *who;
    axe_buf         out = {0};
    axe_status      st;

    if (!ev || (!line && len > 0))
        return nothing;
    if (ev->reader && !grown(ev->reader))
        axe_ctx_release(ev->reader, (axe_mark){0});
    else if (!renew(&ev->reader))
        return no_memory;
    who = out.cx = ev->reader;
    st = axe_json_read(ev->reader, line, len, &request);
    id = axe_json_get(request, "id");
    axe_puts(&out, "{\"id\":");
    if (id)
        axe_json_put(&out, id);
    else
        axe_puts(&out, "null");
    if (st == AXE_OK)
        st = serve(ev, request, &out, &who);
    if (st != AXE_OK)
        put_error(&out, st, who);
    axe_putc(&out, '}');
    return out.text;
}

/* ------------------------------------------- arguments and results of ops */

axe_status
axe_job_layout(axe_job *j, const char *key, const axe_layout **out)
{
    return axe_json_to_layout(j->cx, axe_json_get(j->in, key), key, out);
}

axe_status
axe_job_shape(axe_job *j, const char *key, axe_shape *out)
{
    return axe_json_to_shape(j->cx, axe_json_get(j->in, key), key, out);
}

axe_status
axe_job_int(axe_job *j, const char *key, int64_t *out)
{
    return axe_json_to_int(j->cx, axe_json_get(j->in, key), key, out);
}

axe_status
axe_job_axis(axe_job *j, const char *key, axe_axis *out)
{
    const axe_json *v = axe_json_get(j->in, key);

    if (v && v->kind != AXE_JSON_NULL)
        return axe_json_to_axis(j->cx, v, key, out);
    *out = -1;
    return AXE_OK;
}

axe_status
axe_job_reply_raw(axe_job *j, const axe_layout *l)
{
    axe_json_put_layout(j->out, l);
    return AXE_OK;
}

axe_status
axe_job_reply_int(axe_job *j, int64_t v)
{
    axe_putf(j->out, "%" PRId64, v);
    return AXE_OK;
}

axe_status
axe_job_reply_bool(axe_job *j, bool v)
{
    axe_puts(j->out, v ? "true" : "false");
    return AXE_OK;
}

axe_status
axe_job_reply_text(axe_job *j, const char *s)
{
    axe_json_put_name(j->out, s);
    return AXE_OK;
}

axe_status
axe_op_ops(axe_job *j)
{
    const axe_eval_op *op;

    for (int i = 0; (op = op_at(j->more, i)); i++) {
        axe_puts(j->out, i ? ",{\"name\":" : "[{\"name\":");
        axe_json_put_name(j->out, op->name);
        axe_puts(j->out, ",\"in\":");
        axe_json_put_name(j->out, op->keys);
        axe_puts(j->out, ",\"what\":");
        axe_json_put_name(j->out, op->what);
        axe_putc(j->out, '}');
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}
