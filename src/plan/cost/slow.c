/* slow.c - the warning of a statement that takes far longer than it could. */
#include "plan/cost/slow.h"
#include "plan/access/access.h"

static const struct {
    const char *why, *way;
} reasons[AXE_N_SLOW] = {
#define SLOW(id, why, way) {why, way},
#include "plan/cost/slow.def"
};

void
axe_slow_warn(axe_ctx *cx, const axe_schedule *s, const char *lead,
              axe_slow_reason r, const char *what)
{
    axe_buf b = {.cx = cx};

    for (const char *t = reasons[r].why; *t; t++)
        if (t[0] == '%' && t[1] == 's')
            axe_puts(&b, what), t++;
        else
            axe_putc(&b, *t);
    axe_warn(cx, s->stmt->at, "%s: %s", lead, b.text);
    axe_help(cx, "%s; or write `slow` behind the statement to accept it",
             reasons[r].way);
}

/* An access whose place follows from elements of another tensor. */
bool
axe_slow_looks_up(const axe_schedule *s)
{
    for (int i = 0; i < s->n_operand; i++)
        for (int d = 0; d < s->nest[0].n_dim; d++)
            if (axe_mentions(s->operand[i].base, s->nest[0].dim[d].var))
                return true;
    return false;
}
