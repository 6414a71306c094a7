/* interleave.c - roles for a machine on which one core runs a CTA alone.
 *
 *     roles {                                  reg f32 acc[M, N] = 0;
 *         warpgroup (0)                        for (kt : K by BK) {
 *             for (kt : K by BK)                   produce ring a[m, k] =
 * A[...]; produce ring                     consume ring a[m, k] = A[...];
 * acc[m, n] += a[m, k] * ...; warpgroup (1) {             is       } reg f32
 * acc[M, N] = 0;           C[...] = acc[m, n]; for (kt : K by BK) consume ring
 *                     acc[m, n] += ...;
 *             C[...] = acc[m, n];
 *     } }
 *
 * Roles touch what others touch by pipelines alone, so every order of their
 * statements in which a stage is filled before it is read, and read before it
 * is filled again, computes the same.  Such an order is found by walking all
 * roles at once: a role goes on until it needs a stage that is not full, or
 * not free; then the role at the other end goes on.  Loops around stages of one
 * ring become one loop, where they run equally often, or after some iterations
 * of the longer one are put before or behind it.  Entities of a role are roles
 * of their own, which fill and read a stage together. */
#include "plan/rewrite/interleave.h"
#include "plan/rewrite/rewrite.h"

/* Entities of one role. */
enum { MAX_ENTITY = 16 };

static void
find_rings(axe_weave *x, const axe_stmt *s, axe_list *found)
{
    if ((s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
        !axe_list_has(found, s->pipeline))
        axe_list_push(found, s->pipeline);
    for (int i = 0; i < s->n_body; i++)
        find_rings(x, s->body[i], found);
    for (int i = 0; i < s->n_other; i++)
        find_rings(x, s->other[i], found);
}

/* The rings that more than one of the roles use. */
static void
find_shared(axe_weave *x, const axe_stmt *roles)
{
    axe_list *of = axe_new_array(x->cx, axe_list, roles->n_body);

    for (int i = 0; i < roles->n_body; i++) {
        of[i] = (axe_list){.cx = x->cx};
        find_rings(x, roles->body[i], &of[i]);
        for (int k = 0; k < of[i].n; k++)
            for (int j = 0; j < i; j++)
                if (axe_list_has(&of[j], of[i].item[k]) &&
                    !axe_list_has(&x->ring, of[i].item[k]))
                    axe_list_push(&x->ring, of[i].item[k]);
    }
    x->full = axe_new_array(x->cx, int, x->ring.n + 1);
}

/* The entity `e` of `n` of the role. */
static void
add_strand(axe_weave *x, const axe_stmt *role, int64_t e, int64_t n)
{
    axe_strand      *s = &x->strand[x->n_strand++];
    axe_rewriter     w = axe_rewriter_of(x->cx, x->k);
    axe_stmt        *none = NULL;
    axe_stmt *const *body;
    int64_t          extent, rest = e;

    for (int v = role->n_var - 1; v >= 0; v--) {
        const axe_var *var = role->var[v];
        int64_t        at = role->first ? role->first[v] : 0;
        if (!axe_is_iconst(var->extent, &extent))
            extent = 1;
        if (n > 1)
            w.suffix = axe_textf(x->cx, ".%s%d%s", var->name,
                                 (int)(at + rest % extent), w.suffix);
        axe_rewrite_var(
            &w, var,
            axe_iconst(x->cx, role->at, AXE_TYPE_INDEX, rest % extent));
        rest /= extent;
    }
    body = axe_rewrite_body(&w, role->n_body, role->body);
    *s = (axe_strand){
        .role = role, .known = axe_rewriter_of(x->cx, x->k), .depth = 1};
    s->in[0] = (axe_weave_list){1, 0, &none};
    axe_weave_splice(x, x->n_strand - 1, role->n_body, body);
}

static bool
count_entities(axe_weave *x, const axe_stmt *role, int64_t *n)
{
    int64_t e;

    *n = 1;
    for (int v = 0; v < role->n_var; v++)
        if (!axe_is_iconst(role->var[v]->extent, &e) || !axe_mul(*n, e, n) ||
            *n < 1 || *n > MAX_ENTITY)
            return axe_weave_fail(x, role->at,
                                  "a role has none, or more than 16 entities");
    return true;
}

static bool
weave_roles(axe_weave *x, const axe_stmt *roles, axe_list *out)
{
    axe_list body = {.cx = x->cx};
    int64_t  n, all = 0;
    int     *member;

    for (int i = 0; i < roles->n_body; i++) {
        if (!count_entities(x, roles->body[i], &n))
            return false;
        all += n;
    }
    find_shared(x, roles);
    x->strand = axe_new_array(x->cx, axe_strand, all + 1);
    member = axe_new_array(x->cx, int, all + 1);
    for (int i = roles->n_body - 1; i >= 0; i--) {
        if (!count_entities(x, roles->body[i], &n))
            return false;
        for (int64_t e = 0; e < n; e++)
            add_strand(x, roles->body[i], e, n);
    }
    for (int i = 0; i < x->n_strand; i++)
        member[i] = i;
    if (!axe_weave_run(x, x->n_strand, member, &body))
        return false;
    for (int i = 0; i < x->decl.n; i++)
        axe_list_push(out, x->decl.item[i]);
    for (int i = 0; i < body.n; i++)
        axe_list_push(out, body.item[i]);
    return true;
}

typedef struct all_roles {
    axe_ctx    *cx;
    axe_kernel *k;
    axe_span    at;
    const char *why; /* of the first that are not one, or NULL */
} all_roles;

static bool
weave_stmt(void *user, axe_stmt *s, axe_list *out)
{
    all_roles *a = user;
    axe_list   none = {.cx = a->cx};
    axe_weave  x = {
         .cx = a->cx, .k = a->k, .roles = s, .ring = none, .decl = none};

    if (s->kind != AXE_STMT_ROLES)
        return false;
    if (weave_roles(&x, s, out))
        return true;
    if (!a->why) {
        a->at = x.at;
        a->why = x.why;
    }
    return false;
}

const axe_kernel *
axe_interleave_roles(axe_ctx *cx, const axe_kernel *k, axe_span *at,
                     const char **why)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    all_roles   a = {.cx = cx, .k = out};

    *out = *k;
    k = axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = weave_stmt, .user = &a}, k, out);
    if (why) {
        *at = a.at;
        *why = a.why;
    }
    if (k == out)
        axe_kernel_renumber(cx, out);
    return k;
}
