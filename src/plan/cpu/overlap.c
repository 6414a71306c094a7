/* overlap.c - groups of scopes that overlap, on one core for each worker.
 *
 * Entities of all scopes of a group are one list, in the order of the text, of
 * which workers take the next one.  One that must wait is put aside until what
 * it waits for is done, and the worker goes on in the list.  All that an entity
 * waits for stands in front of it.  So of the entities that are not done the
 * first one waits for nothing: whoever has it does it, and there is always one
 * that goes on, with any number of workers.
 *
 * Counters are a tensor of the kernel's own, which begins at zero each time:
 * nothing that a launch left behind is trusted. */
#include <string.h>

#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/access/meets.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* ---------------------------------------------------------------- the tensor
 */

/* First scopes and their counters. */
typedef struct made {
    axe_ctx    *cx;
    axe_kernel *k;
    axe_list    first, declared; /* const axe_stmt * */
} made;

static axe_stmt *
declare(made *m, const axe_stmt *first, const axe_node *n)
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
find_groups(made *m, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        int len = axe_overlap_length(n - i, body + i);
        if (body[i]->kind != AXE_STMT_SCOPE) {
            find_groups(m, body[i]->n_body, body[i]->body);
            find_groups(m, body[i]->n_other, body[i]->other);
        }
        if (len < 2)
            continue;
        axe_overlap_group g = axe_overlap_find(m->cx, len, body + i);
        if (!axe_is_known_at_launch(g.n_counter))
            continue;
        axe_list_push(&m->declared, declare(m, body[i], g.n_counter));
        axe_list_push(&m->first, body[i]);
    }
}

/* Whatever a text named before: memory that is not of the right size is not
 * trusted. */
static axe_stmt *
name_counters(void *user, axe_stmt *s)
{
    made             *m = user;
    const axe_tensor *counters = NULL;
    axe_stmt         *out = s;

    if (s->kind != AXE_STMT_SCOPE)
        return s;
    for (int i = 0; i < m->first.n; i++)
        if (m->first.item[i] == s)
            counters = ((const axe_stmt *)m->declared.item[i])->tensor;
    if (s->tensor != counters) {
        out = axe_new(m->cx, axe_stmt);
        *out = *s;
        out->tensor = counters;
    }
    return out;
}

const axe_kernel *
axe_core_counters(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel     *out = axe_new(cx, axe_kernel);
    made            m = {cx, out, {.cx = cx}, {.cx = cx}};
    axe_body_change c = {.cx = cx, .after = name_counters, .user = &m};
    axe_list        body = {.cx = cx};

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

/* ------------------------------------------------------------------ the plan
 */

const axe_core_overlap *
axe_core_overlap_plan(axe_planner *p, int n, axe_stmt *const *scope)
{
    axe_core_overlap *o = axe_new(p->cx, axe_core_overlap);

    for (int i = 0; i < p->core->overlap.n; i++) {
        const axe_core_overlap *has = p->core->overlap.item[i];
        if (has->first == scope[0])
            return has;
    }
    *o = (axe_core_overlap){.first = scope[0],
                            .group = axe_overlap_find(p->cx, n, scope),
                            .counters = scope[0]->tensor};
    if (n < 2)
        o->why = "the group has one scope";
    else if (!o->counters)
        o->why = "how many counters there are changes in a launch";
    axe_list_push(&p->core->overlap, o);
    return o;
}

const axe_core_overlap *
axe_core_overlap_of(const axe_plan *p, const axe_stmt *s)
{
    for (int i = 0; i < p->core->overlap.n; i++) {
        const axe_core_overlap *o = p->core->overlap.item[i];
        if (o->first == s && o->counters)
            return o;
    }
    return NULL;
}
