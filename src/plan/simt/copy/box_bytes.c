/* box_bytes.c - how many bytes boxes bring to a stage, where that is known. */
#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"

int64_t
axe_simt_iterations(const axe_stmt *loop)
{
    int64_t n = 1, e;

    if (loop->kind != AXE_STMT_FOR)
        return 0;
    for (int i = 0; i < loop->n_var; i++)
        if (!axe_is_iconst(loop->var[i]->extent, &e) || !axe_mul(n, e, &n))
            return 0;
    return n;
}

/* Is it in the body, or in a loop of it that runs so often for sure? */
static bool
is_in(int n, axe_stmt *const *body, const axe_stmt *s)
{
    for (int i = 0; i < n; i++)
        if (body[i] == s || (axe_simt_iterations(body[i]) > 0 &&
                             is_in(body[i]->n_body, body[i]->body, s)))
            return true;
    return false;
}

bool
axe_simt_is_counted(int n, axe_stmt *const *body, const axe_stmt *s)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_PRODUCE &&
            is_in(body[i]->n_body, body[i]->body, s))
            return true;
        if (axe_simt_is_counted(body[i]->n_body, body[i]->body, s) ||
            axe_simt_is_counted(body[i]->n_other, body[i]->other, s))
            return true;
    }
    return false;
}

int64_t
axe_simt_box_bytes(int n_schedule, const axe_schedule *const *schedule,
                   const axe_stmt *produce)
{
    int64_t sum = 0;

    for (int i = 0; i < produce->n_body; i++) {
        const axe_stmt *s = produce->body[i];
        if (s->kind == AXE_STMT_INDEX && s->id < n_schedule &&
            schedule[s->id]->simt->copy && schedule[s->id]->simt->copy->box)
            sum += schedule[s->id]->simt->copy->bytes;
        else
            sum += axe_simt_iterations(s) *
                   axe_simt_box_bytes(n_schedule, schedule, s);
    }
    return sum;
}
