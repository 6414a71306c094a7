/* nki.c - a trace as Python: its loops, and what is given and returned.
 *
 * Loops' counts and numbers are Python's.  Whether a product adds to its sum is
 * said: it does where a loop that the sum was declared outside of, and that
 * does not choose which sum it is, is not at its first turn; and where a
 * product further up in the text began it. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "machine/machine.h"
#include "print/nki/nki_int.h"

/* Which tiles have products added to. */
static void
find_sums(nki_printer *p, const axe_trace_step *s)
{
    axe_buf when = {.cx = p->out->cx};

    for (; s; s = s->next) {
        if (s->kind == AXE_TRACE_DECLARE) {
            p->level[s->tensor] = p->depth;
            p->begun[s->tensor] = false;
        } else if (s->kind == AXE_TRACE_LOOP) {
            p->loop[p->depth++] = s->var;
            find_sums(p, s->body);
            p->depth--;
        } else if (s->kind == AXE_TRACE_DO && s->op == AXE_TRN_OP_nc_matmul &&
                   nki_accumulates(p, s, &when) != NKI_NEVER)
            p->sums[s->value[0].access.tensor] = true;
    }
}

/* The kernel's argument of this name; NULL: it is the kernel's own. */
static const axe_tensor *
param_of(const nki_printer *p, const axe_trace_tensor *x)
{
    for (int i = 0; i < p->k->n_param; i++)
        if (strcmp(p->k->param[i]->name, x->name) == 0)
            return p->k->param[i];
    return NULL;
}

/* Is it given and changed?  `kept` is, too, what is written first. */
static bool
is_both(const nki_printer *p, const axe_trace_tensor *x)
{
    const axe_tensor *t = param_of(p, x);

    return t && t->dir == AXE_DIR_INOUT;
}

static void
put_steps(nki_printer *p, const axe_trace_step *s)
{
    for (; s; s = s->next) {
        if (s->kind == AXE_TRACE_DECLARE) {
            const axe_trace_tensor *x = &p->t->tensor[s->tensor];
            if (x->memory == AXE_TRN_HBM && x->access == AXE_TRACE_IN)
                continue;
        }
        axe_putf(p->out, "%*s", 4 * (p->depth + 1), "");
        if (s->kind == AXE_TRACE_DECLARE) {
            const axe_trace_tensor *x = &p->t->tensor[s->tensor];
            p->level[s->tensor] = p->depth;
            p->begun[s->tensor] = false;
            p->d->declare(p, x, p->sums[s->tensor]);
            if (x->memory == AXE_TRN_HBM && is_both(p, x))
                axe_putf(p->out, "\n    nisa.dma_copy(dst=%s, src=%s_given)",
                         x->name, x->name);
            if (x->memory == AXE_TRN_HBM && p->d->begin) {
                axe_putc(p->out, '\n');
                p->d->begin(p, x);
                continue;
            }
        } else if (s->kind == AXE_TRACE_DO)
            p->d->instruction(p, s);
        else if (s->kind == AXE_TRACE_LET) {
            axe_putf(p->out, "%s = ", p->t->var[s->var]);
            nki_put_expr(p, s->count, 1);
        } else {
            if (nki_is_if(p, s->var)) {
                axe_puts(p->out, "if ");
                nki_put_condition(p, s->count, false);
                axe_puts(p->out, ":\n");
            } else {
                axe_putf(p->out, "for %s in %s(", p->t->var[s->var],
                         p->d->range);
                nki_put_expr(p, s->count, 1);
                axe_puts(p->out, "):\n");
            }
            p->loop[p->depth++] = s->var;
            if (s->body)
                put_steps(p, s->body);
            else
                axe_putf(p->out, "%*spass\n", 4 * (p->depth + 1), "");
            p->depth--;
            continue;
        }
        axe_putc(p->out, '\n');
    }
}

/* From which argument's shape the size comes. */
static bool
put_size(nki_printer *p, int size)
{
    for (int i = 0; i < p->t->n_tensor; i++) {
        const axe_trace_tensor *x = &p->t->tensor[i];
        bool                    both = is_both(p, x);
        if (x->memory != AXE_TRN_HBM || !param_of(p, x) ||
            (x->access != AXE_TRACE_IN && !both))
            continue;
        for (int d = 0; d < x->rank; d++)
            if (x->shape[d]->op == '$' && x->shape[d]->value == size) {
                axe_putf(p->out, "    %s = %s%s.shape[%d]\n", p->t->var[size],
                         x->name, both ? "_given" : "", d);
                return true;
            }
    }
    return false;
}

/* Tensors of device memory: those that are given, then those that are made. */
static int
list(nki_printer *p, bool given, const char *between)
{
    int n = 0;

    for (int i = 0; i < p->t->n_tensor; i++) {
        const axe_trace_tensor *x = &p->t->tensor[i];
        bool                    both = is_both(p, x);
        if (x->memory == AXE_TRN_HBM && param_of(p, x) &&
            (both || (x->access == AXE_TRACE_IN) == given))
            axe_putf(p->out, "%s%s%s", n++ > 0 ? between : "", x->name,
                     both && given ? "_given" : "");
    }
    return n;
}

/* Numbers that the text begins with: sizes, by the shapes of what is given. */
static void
put_sizes(nki_printer *p, int n_arg)
{
    axe_buf     sizes = {.cx = p->out->cx};
    nki_printer s = *p;

    s.out = &sizes;
    for (int i = 0; i < p->t->n_size; i++)
        if (!put_size(&s, i))
            axe_putf(p->out, "%s%s", n_arg++ > 0 ? ", " : "", p->t->var[i]);
    axe_puts(p->out, "):\n");
    axe_puts(p->out, sizes.len > 0 ? sizes.text : "");
    for (int i = 0; p->d->begin && i < p->t->n_tensor; i++)
        if (p->t->tensor[i].memory == AXE_TRN_HBM &&
            p->t->tensor[i].access == AXE_TRACE_IN)
            p->d->begin(p, &p->t->tensor[i]);
}

/* Names that Python or the text has for itself. */
static bool
is_reserved(const char *name)
{
    static const char words[] =
        " False None True and as assert async await break class continue def "
        "del elif else except finally float for from global if import in is "
        "lambda max min nisa nki nl nonlocal not or pass raise range return "
        "try while with yield ";
    static const char *const end[] = {"_given", "_flat"};
    size_t                   n = strlen(name);
    const char              *at = words;

    while ((at = strstr(at, name)) && !(at[-1] == ' ' && at[n] == ' '))
        at++;
    for (int i = 0; i < AXE_LEN(end) && !at; i++)
        if (n > strlen(end[i]) &&
            strcmp(name + n - strlen(end[i]), end[i]) == 0)
            at = end[i];
    return at != NULL;
}

static axe_status
check_names(axe_ctx *cx, const axe_trace *t)
{
    const char *bad = is_reserved(t->name) ? t->name : NULL;

    for (int i = 0; i < t->n_tensor; i++)
        bad = is_reserved(t->tensor[i].name) ? t->tensor[i].name : bad;
    for (int i = 0; i < t->n_var; i++)
        bad = is_reserved(t->var[i]) ? t->var[i] : bad;
    if (!bad)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "%s is no name for the text of a Trainium, in which it means "
             "something else",
             bad);
    axe_help(cx, "give it another name in the kernel");
    return AXE_EUNSUPPORTED;
}

axe_status
axe_print_nki(axe_ctx *cx, const axe_lowered *l, bool first, axe_buf *out)
{
    const axe_trace *t = l->trace;
    nki_printer      p = {.out = out,
                          .t = t,
                          .k = l->plan->kernel,
                          .d = first ? &nki_01 : &nki_03};

    AXE_TRY(check_names(cx, t));
    if (p.d->check)
        AXE_TRY(p.d->check(cx, t));
    p.level = axe_new_array(cx, int, t->n_tensor + 1);
    p.begun = axe_new_array(cx, bool, t->n_tensor + 1);
    p.sums = axe_new_array(cx, bool, t->n_tensor + 1);
    find_sums(&p, t->body);
    axe_putf(out, "# %s for %s\n%sdef %s(", t->name, l->plan->machine->name,
             p.d->head, t->name);
    put_sizes(&p, list(&p, true, ", "));
    put_steps(&p, t->body);
    axe_puts(out, "    return ");
    if (list(&p, false, ", ") == 0)
        axe_puts(out, "None");
    axe_putc(out, '\n');
    return AXE_OK;
}
