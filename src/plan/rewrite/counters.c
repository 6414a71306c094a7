/* counters.c - memory that counts what is done, for groups of scopes that
 * overlap: a tensor of the kernel's own, which the group's first scope names.
 *
 * Counters begin at zero each time: nothing that a launch left behind is
 * trusted. */
#include <string.h>

#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/access/meets.h"
#include "plan/rewrite/rewrite.h"

typedef struct making {
    axe_ctx                *cx;
    axe_kernel             *k;
    const axe_counters_for *use;
    axe_list first, declared; /* const axe_stmt *: scopes; their counters */
    axe_list member;          /* const axe_stmt *: scopes of all these groups */
    axe_list of;              /* const axe_overlap_group *: each one's */
} making;

static axe_stmt *
declare(making *m, const axe_stmt *first, const axe_node *n)
{
    axe_tensor      *t = axe_new(m->cx, axe_tensor);
    axe_stmt        *s = axe_stmt_make(m->cx, AXE_STMT_TENSOR, first->at);
    const axe_node **shape = axe_new_array(m->cx, const axe_node *, 1);
    axe_stride      *stride = axe_new_array(m->cx, axe_stride, 1);
    const char      *name = axe_textf(m->cx, "overlap%d.done", m->first.n);

    shape[0] = n;
    stride[0] = (axe_stride){1, AXE_UNIT_ONE};
    *t = (axe_tensor){.name = axe_intern(m->cx, name, strlen(name)),
                      .at = first->at,
                      .id = m->k->n_tensor++,
                      .space = AXE_SPACE_GLOBAL,
                      .type = AXE_TYPE_i64,
                      .dir = AXE_DIR_LOCAL,
                      .rank = 1,
                      .shape = shape,
                      .stride = stride};
    s->tensor = t;
    return s;
}

static void
find_groups(making *m, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        int len = axe_overlap_length(n - i, body + i);
        if (body[i]->kind != AXE_STMT_SCOPE) {
            find_groups(m, body[i]->n_body, body[i]->body);
            find_groups(m, body[i]->n_other, body[i]->other);
        }
        if (len < 2)
            continue;
        axe_overlap_group *g = axe_new(m->cx, axe_overlap_group);
        *g = axe_overlap_find(m->cx, len, body + i);
        if (!axe_is_known_at_launch(g->n_counter) ||
            (m->use->fits && !m->use->fits(m->use->user, g)))
            continue;
        axe_list_push(&m->declared, declare(m, body[i], g->n_counter));
        axe_list_push(&m->first, body[i]);
        for (int k = 0; k < len; k++) {
            axe_list_push(&m->member, body[i + k]);
            axe_list_push(&m->of, g);
        }
    }
}

static const axe_tensor *
counters_of(const making *m, const axe_stmt *s)
{
    for (int i = 0; i < m->first.n; i++)
        if (m->first.item[i] == s)
            return ((const axe_stmt *)m->declared.item[i])->tensor;
    return NULL;
}

/* Of which the scope is a member; or NULL. */
static const axe_overlap_group *
group_of(const making *m, const axe_stmt *s)
{
    for (int i = 0; i < m->member.n; i++)
        if (m->member.item[i] == s)
            return m->of.item[i];
    return NULL;
}

/* The scope as a member of its group, with its counters, if it begins one that
 * has some; whatever a text named before is memory that is not trusted. */
static axe_stmt *
as_member(const making *m, const axe_stmt *s)
{
    axe_stmt                *out = axe_new(m->cx, axe_stmt);
    const axe_overlap_group *g = group_of(m, s);

    *out = *s;
    out->tensor = counters_of(m, s);
    if (g && m->use->adapt)
        m->use->adapt(m->use->user, g, out);
    return out;
}

static bool
change(void *user, axe_stmt *s, axe_list *out)
{
    making           *m = user;
    const axe_tensor *t;

    if (s->kind != AXE_STMT_SCOPE)
        return false;
    t = counters_of(m, s);
    if (!group_of(m, s) && s->tensor == t)
        return false;
    axe_list_push(out, as_member(m, s));
    return true;
}

const axe_kernel *
axe_declare_counters(axe_ctx *cx, const axe_kernel *k,
                     const axe_counters_for *use)
{
    axe_kernel     *out = axe_new(cx, axe_kernel);
    making          m = {.cx = cx, .k = out, .use = use};
    axe_body_change c = {.cx = cx, .before = change, .user = &m};
    axe_list        body = {.cx = cx};

    m.first = m.declared = m.member = m.of = (axe_list){.cx = cx};
    *out = *k;
    find_groups(&m, k->n_body, k->body);
    axe_body_map(&c, &out->n_body, &out->body);
    if (out->body == k->body)
        return k;
    for (int i = 0; i < m.declared.n; i++)
        axe_list_push(&body, m.declared.item[i]);
    for (int i = 0; i < out->n_body; i++)
        axe_list_push(&body, out->body[i]);
    out->n_body = body.n;
    out->body = axe_stmt_list(&body);
    axe_kernel_find_temps(cx, out);
    return out;
}
