/* print.c - a kernel's IR as naive C, by the definition of each node.
 *
 * Scopes and loops become loops, tiles dense arrays in double (or int64), an
 * index statement a loop nest over its whole domain; nothing is fused, tiled,
 * reordered or guessed, and nothing of the planner is used.  Values are
 * value.c's, pipelines and roles ring.c's. */
#include "ir/number.h"
#include "run/ref/ref_int.h"

/* -------------------------------------------------------------- statements */

/* v<id>[at] = value, rounded to the tensor's type. */
static void
put_store(axe_ref_printer *p, const axe_tensor *t, int at, int value)
{
    const char *type = axe_type_table[t->type].name;

    if (axe_type_is_float(t->type))
        PUT_LINE(p,
                 "{ R w = to_%s(r%d); v%d[r%d] = w.v; e%d[r%d] = w.e + lost; }",
                 type, value, t->id, at, t->id, at);
    else
        PUT_LINE(p, "v%d[r%d] = r%d; e%d[r%d] = doubt + lost%s;", t->id, at,
                 value, t->id, at, t->type == AXE_TYPE_bool ? " + maybe" : "");
}

/* The new value of the element that dst names, for fixed free indices. */
static axe_status
put_element(axe_ref_printer *p, const axe_stmt *s, const int *extent, int at,
            int *out)
{
    axe_type t = s->dst->u.tensor->type;
    int      id = s->dst->u.tensor->id, n_folded = s->n_dim - s->n_free, x;

    if (s->fold == AXE_FOLD_NONE)
        return axe_ref_put_node(p, s->value, out);
    if (!axe_type_is_float(t))
        PUT_LINE(p, "recall(e%d[r%d]);", id, at);
    *out = axe_ref_result(
        p, t,
        axe_textf(p->cx,
                  axe_type_is_float(t) ? "(R){v%d[r%d], e%d[r%d]}" : "v%d[r%d]",
                  id, at, id, at));
    axe_ref_begin_fold(p, t, *out);
    for (int i = s->n_free; i < s->n_dim; i++)
        axe_ref_open_loop(p, s->dim[i].var, extent[i]);
    AXE_TRY(axe_ref_put_node(p, s->value, &x));
    axe_ref_put_fold(p, s->fold, t, *out, x);
    axe_ref_close_loops(p, n_folded);
    axe_ref_end_fold(p, s->fold, t, *out, n_folded, extent + s->n_free);
    return AXE_OK;
}

/* One pass over the free indices.  Through memory n<n> if n >= 0: first the
 * values go into it, then (copy) from it to the destination. */
static axe_status
put_pass(axe_ref_printer *p, const axe_stmt *s, const int *extent, int n,
         bool copy)
{
    int at, in, value;

    if (n >= 0)
        PUT_LINE(p, "k%d = 0;", n);
    for (int i = 0; i < s->n_free; i++)
        axe_ref_open_loop(p, s->dim[i].var, extent[i]);
    AXE_TRY(axe_ref_put_place(p, s->dst, &at, &in));
    PUT_LINE(p, "if (r%d) {", in);
    p->depth++;
    if (n < 0)
        PUT_LINE(p, "doubt = maybe = 0;");
    if (copy)
        value = axe_ref_result(p, s->dst->type,
                               axe_textf(p->cx, "n%d[k%d++]", n, n));
    else
        AXE_TRY(put_element(p, s, extent, at, &value));
    if (s->fold != AXE_FOLD_NONE || !axe_ref_as_stored(s->value))
        PUT_LINE(p, "doubt = widen(doubt);");
    if (n >= 0 && !copy)
        PUT_LINE(p, "n%d[k%d++] = r%d;", n, n, value);
    else
        put_store(p, s->dst->u.tensor, at, value);
    axe_ref_close_loops(p, s->n_free + 1);
    return AXE_OK;
}

/* All values are computed before any is stored, where that matters. */
static axe_status
put_index(axe_ref_printer *p, const axe_stmt *s)
{
    int        *extent = axe_new_array(p->cx, int, s->n_dim), n = -1;
    const char *type = axe_ref_c_type(s->dst->u.tensor->type);

    for (int i = 0; i < s->n_dim; i++)
        AXE_TRY(axe_ref_put_node(p, s->dim[i].extent, &extent[i]));
    if (!axe_node_reads(s->value, s->dst->u.tensor))
        return put_pass(p, s, extent, -1, false);
    n = p->n_result++;
    PUT_LINE(p, "u64 m%d = sizeof(%s);", n, type);
    for (int i = 0; i < s->n_free; i++)
        PUT_LINE(p, "m%d *= (u64)r%d;", n, extent[i]);
    PUT_LINE(p, "%s *n%d = malloc(m%d + 1);", type, n, n);
    PUT_LINE(p, "if (!n%d) return 1;", n);
    PUT_LINE(p, "i64 k%d;", n);
    PUT_LINE(p, "doubt = maybe = 0;");
    AXE_TRY(put_pass(p, s, extent, n, false));
    AXE_TRY(put_pass(p, s, extent, n, true));
    PUT_LINE(p, "free(n%d);", n);
    return AXE_OK;
}

/* A tile begins undefined: what reads it before it was written shows. */
void
axe_ref_put_poison(axe_ref_printer *p, const axe_tensor *t)
{
    PUT_LINE(p, "for (i64 i = 0; i < c%d; i++)", t->id);
    if (axe_type_is_float(t->type))
        PUT_LINE(p, "  v%d[i] = 0 / 0.0, e%d[i] = 0;", t->id, t->id);
    else
        PUT_LINE(p, "  v%d[i] = (i64)0xaaaaaaaaaaaaaaaaull, e%d[i] = 0;", t->id,
                 t->id);
}

static axe_status
put_loops(axe_ref_printer *p, const axe_stmt *s)
{
    bool sides = s->kind == AXE_STMT_SCOPE && p->n_roles > 0;
    int  extent;

    if (sides)
        axe_ref_rings_begin(p);
    for (int i = 0; i < s->n_var; i++) {
        AXE_TRY(axe_ref_put_node(p, s->var[i]->extent, &extent));
        axe_ref_open_loop(p, s->var[i], extent);
    }
    if (s->kind == AXE_STMT_SCOPE && s->scope <= AXE_SCOPE_CTA)
        PUT_LINE(p, "lost = 0;");
    if (sides)
        axe_ref_rings_again(p);
    AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
    if (sides)
        axe_ref_rings_note(p);
    axe_ref_close_loops(p, s->n_var);
    if (sides)
        axe_ref_rings_end(p);
    return AXE_OK;
}

/* One after the other, each from where all of them begin. */
static axe_status
put_roles(axe_ref_printer *p, const axe_stmt *s)
{
    p->n_roles++;
    axe_ref_rings_begin(p);
    for (int i = 0; i < s->n_body; i++) {
        axe_ref_rings_again(p);
        AXE_TRY(axe_ref_put_body(p, 1, &s->body[i]));
        axe_ref_rings_note(p);
    }
    axe_ref_rings_end(p);
    p->n_roles--;
    return AXE_OK;
}

static axe_status
put_if(axe_ref_printer *p, const axe_stmt *s)
{
    int cond;

    PUT_LINE(p, "doubt = maybe = 0;");
    AXE_TRY(axe_ref_put_node(p, s->cond, &cond));
    PUT_LINE(p, "if (doubt > 0) lost = 1 / 0.0;");
    PUT_LINE(p, "if (r%d) {", cond);
    p->depth++;
    AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
    axe_ref_close_loops(p, 1);
    PUT_LINE(p, "else {");
    p->depth++;
    AXE_TRY(axe_ref_put_body(p, s->n_other, s->other));
    axe_ref_close_loops(p, 1);
    return AXE_OK;
}

static axe_status
put_stmt(axe_ref_printer *p, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
    case AXE_STMT_FOR:
        return put_loops(p, s);
    case AXE_STMT_TENSOR:
        axe_ref_put_poison(p, s->tensor);
        return AXE_OK;
    case AXE_STMT_BARRIER:
        return AXE_OK;
    case AXE_STMT_PIPELINE:
        axe_ref_put_ring(p, s->pipeline);
        return AXE_OK;
    case AXE_STMT_PRODUCE:
    case AXE_STMT_CONSUME:
        return axe_ref_put_stage(p, s);
    case AXE_STMT_ROLES:
        return put_roles(p, s);
    case AXE_STMT_IF:
        return put_if(p, s);
    case AXE_STMT_TURN:
        return axe_ref_put_body(p, s->n_body, s->body);
    case AXE_STMT_LOOP:
        PUT_LINE(p, "for (;;) {");
        p->depth++;
        AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
        axe_ref_close_loops(p, 1);
        return AXE_OK;
    case AXE_STMT_BREAK:
    case AXE_STMT_CONTINUE:
        PUT_LINE(p, s->kind == AXE_STMT_BREAK ? "break;" : "continue;");
        return AXE_OK;
    case AXE_STMT_INDEX:
        return put_index(p, s);
    default:
        return axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                        "the reference does not know this statement");
    }
}

axe_status
axe_ref_put_body(axe_ref_printer *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        PUT_LINE(p, "{");
        p->depth++;
        AXE_TRY(put_stmt(p, body[i]));
        axe_ref_close_loops(p, 1);
    }
    return AXE_OK;
}

/* ------------------------------------------------------------ the function */

/* The extents d<id>_<k> and the count c<id> of a tensor. */
static axe_status
put_extents(axe_ref_printer *p, const axe_tensor *t)
{
    int extent;

    if (!axe_number_known(t->type))
        return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                        "the reference cannot hold %s of %s", t->name,
                        axe_type_table[t->type].name);
    PUT_LINE(p, "i64 c%d = 1;", t->id);
    for (int i = 0; i < t->rank; i++) {
        AXE_TRY(axe_ref_put_node(p, t->shape[i], &extent));
        PUT_LINE(p, "const i64 d%d_%d = r%d;", t->id, i, extent);
        PUT_LINE(p, "c%d *= r%d;", t->id, extent);
    }
    return AXE_OK;
}

static axe_status
put_param(axe_ref_printer *p, int i)
{
    const axe_tensor *t = p->k->param[i];

    AXE_TRY(put_extents(p, t));
    PUT_LINE(p, "%s *v%d = value[%d];",
             axe_type_is_float(t->type) ? "double" : "i64", t->id, i);
    PUT_LINE(p, "double *e%d = bound[%d];", t->id, i);
    return AXE_OK;
}

static axe_status
put_tile(axe_ref_printer *p, const axe_tensor *t)
{
    const char *type = axe_type_is_float(t->type) ? "double" : "i64";

    AXE_TRY(put_extents(p, t));
    if (t->pipeline) {
        axe_ref_put_stages(p, t);
        return AXE_OK;
    }
    PUT_LINE(p, "%s *v%d = malloc(8 * c%d + 1);", type, t->id, t->id);
    PUT_LINE(p, "double *e%d = malloc(8 * c%d + 1);", t->id, t->id);
    PUT_LINE(p, "if (!v%d || !e%d) return 1;", t->id, t->id);
    return AXE_OK;
}

typedef axe_status each_tile(axe_ref_printer *p, const axe_tensor *t);

static axe_status
drop_tile(axe_ref_printer *p, const axe_tensor *t)
{
    PUT_LINE(p, t->pipeline ? "free(w%d); free(h%d);" : "free(v%d); free(e%d);",
             t->id, t->id);
    return AXE_OK;
}

/* fn for every tile that is declared anywhere in the body. */
static axe_status
walk_tiles(axe_ref_printer *p, int n, axe_stmt *const *body, each_tile *fn)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_TENSOR)
            AXE_TRY(fn(p, s->tensor));
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            AXE_TRY(fn(p, s->pipeline->tensor[k]));
        AXE_TRY(walk_tiles(p, s->n_body, s->body, fn));
        AXE_TRY(walk_tiles(p, s->n_other, s->other, fn));
    }
    return AXE_OK;
}

axe_status
axe_ref_print(axe_ctx *cx, const axe_kernel *k, axe_buf *out)
{
    axe_ref_printer p = {.cx = cx, .k = k, .out = out, .handed = {.cx = cx}};

    axe_puts(out, axe_ref_text);
    axe_puts(out, axe_ref_text_math);
    axe_puts(out, axe_ref_text_whole);
    axe_puts(out, axe_ref_text_8);
    PUT_LINE(&p, "int axe_reference(void *const *value, double *const *bound,");
    PUT_LINE(&p, "                  const i64 *size)");
    PUT_LINE(&p, "{");
    p.depth++;
    for (int i = 0; i < k->n_size; i++)
        PUT_LINE(&p, "const i64 z%d = size[%d];", k->size[i]->id, i);
    if (k->cores)
        PUT_LINE(&p, "const i64 z%d = size[%d];", k->cores->id, k->n_size);
    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(put_param(&p, i));
    axe_ref_find_handed(&p, k->n_body, k->body);
    AXE_TRY(walk_tiles(&p, k->n_body, k->body, put_tile));
    AXE_TRY(axe_ref_put_body(&p, k->n_body, k->body));
    AXE_TRY(walk_tiles(&p, k->n_body, k->body, drop_tile));
    PUT_LINE(&p, "return 0;");
    axe_ref_close_loops(&p, 1);
    return AXE_OK;
}
