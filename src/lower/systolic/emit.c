/* emit.c - lines of the trace, its loops, and its temporary tiles. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "lower/systolic/sys.h"

void
sys_line(sys *s, const char *fmt, ...)
{
    va_list ap;

    if (s->st != AXE_OK)
        return;
    axe_putf(&s->out, "%*s", 4 * s->depth, "");
    va_start(ap, fmt);
    axe_puts(&s->out, axe_vtextf(s->cx, fmt, ap));
    va_end(ap);
    axe_putc(&s->out, '\n');
}

void
sys_fail(sys *s, axe_span at, const char *help, const char *fmt, ...)
{
    va_list ap;

    if (s->st != AXE_OK)
        return;
    va_start(ap, fmt);
    s->st =
        axe_fail(s->cx, at, AXE_EUNSUPPORTED, "%s", axe_vtextf(s->cx, fmt, ap));
    va_end(ap);
    axe_help(s->cx, "%s", help);
}

/* Has a tensor or size of the kernel this name in the trace? */
static bool
is_taken(const sys *s, const char *name)
{
    for (int i = 0; i < s->k->n_tensor; i++)
        if (s->name[i] && strcmp(s->name[i], name) == 0)
            return true;
    for (int i = 0; i < s->k->n_size; i++) {
        const char *size = s->var[s->k->size[i]->id];
        if (size && strcmp(size, name) == 0)
            return true;
    }
    return false;
}

static char *
plain(sys *s, const char *name)
{
    char *out = axe_textf(s->cx, "%s", name);

    for (char *c = out; *c; c++)
        if (*c == '.')
            *c = '_';
    return out;
}

const char *
sys_own_name(sys *s, const char *name)
{
    char *out = plain(s, name);

    while (is_taken(s, out))
        out = axe_textf(s->cx, "%s_", out);
    return out;
}

const char *
sys_new_name(sys *s, const char *stem)
{
    char *out;

    do
        out = plain(s, axe_textf(s->cx, "%s_%d", stem, ++s->n_name));
    while (is_taken(s, out));
    return out;
}

static void
open(sys *s, const char *name, sys_ex count, bool turns)
{
    sys_line(s, "for %s = %s {", name, sys_text(s, count));
    s->turn[s->depth] = turns ? name : NULL;
    s->turns[s->depth] = count.most;
    s->now[s->depth] = NULL;
    if (s->depth + 1 == SYS_MAX_DEPTH)
        sys_fail(s, s->k->at, "divide the kernel",
                 "%s has more than %d loops, one inside the other", s->k->name,
                 SYS_MAX_DEPTH);
    else
        s->depth++;
}

sys_ex
sys_for(sys *s, const char *stem, sys_ex count, bool *opened)
{
    const char *name;

    /* What is at most 1 is 1: none of the domains is empty (domain.c). */
    *opened = count.t ? count.most > 1 : count.c != 1;
    if (!*opened)
        return sys_c(0);
    name = sys_new_name(s, stem);
    open(s, name, count, true);
    sys_ex out = sys_name(name);
    out.most = count.most == INT64_MAX ? INT64_MAX : count.most - 1;
    return out;
}

void
sys_if(sys *s, sys_ex count, bool *opened)
{
    *opened = !sys_is(count, 1);
    if (*opened)
        open(s, sys_new_name(s, "if"), count, false);
}

void
sys_end(sys *s, bool opened)
{
    if (!opened)
        return;
    if (s->depth > 0)
        s->depth--;
    while (s->n_known > 0 && s->known[s->n_known - 1].depth > s->depth)
        s->n_known--;
    while (s->n_let > 0 && s->let[s->n_let - 1].depth > s->depth)
        s->n_let--;
    sys_line(s, "}");
}

sys_ex
sys_named(sys *s, const char *stem, sys_ex e)
{
    if (!e.t || !strchr(e.t, ' '))
        return e;
    for (int i = 0; i < s->n_let; i++)
        if (strcmp(s->let[i].text, e.t) == 0)
            return s->let[i].name;
    if (s->n_let == SYS_MAX_LET)
        return e;
    sys_ex name = sys_name(sys_new_name(s, stem));
    name.most = e.most;
    sys_line(s, "let %s = %s", name.t, e.t);
    s->let[s->n_let++] = (sys_let){e.t, name, s->depth};
    return name;
}

/* The same, `first` turns further.  Where the innermost loop's turns are not a
 * multiple of n, those of the loops around count as well. */
static sys_ex
turn_from(sys *s, int n, int first)
{
    sys_ex  e = sys_c(0);
    int64_t by = 1;

    for (int d = s->depth - 1; d >= 0 && by != 0; d--) {
        if (!s->turn[d])
            continue;
        e = sys_add(s, sys_mul(s, sys_c(by), sys_name(s->turn[d])), e);
        by = s->turns[d] == INT64_MAX ? 0 : by * (s->turns[d] % n) % n;
    }
    return sys_mod(s, sys_add(s, e, sys_c(first % n)), sys_c(n));
}

sys_ex
sys_turn(sys *s, int n)
{
    return turn_from(s, n, 0);
}

void
sys_begin(sys *s, const axe_stmt *st)
{
    const int64_t first = s->plan->systolic->bytes;
    const int64_t most = axe_trn_memories[AXE_TRN_SBUF].bytes;

    s->s = st;
    s->n_bind = s->n_known = 0;
    s->P = s->F = NULL;
    /* Behind those of the statement before, so that neither waits. */
    s->temp = s->high > first && most - s->high > (most - first) / 2 ? s->high
                                                                     : first;
    s->high = s->temp;
}

sys_val
sys_temps(sys *s, axe_type type, int64_t cols, int n)
{
    const int64_t most = axe_trn_memories[AXE_TRN_SBUF].bytes;
    int64_t       bytes = (axe_type_bytes(type, cols) + 3) / 4 * 4;
    const char   *name = sys_new_name(s, "t");
    sys_ex        at;
    sys_val       out = {.kind = SYS_TILE,
                         .name = name,
                         .step = sys_c(1),
                         .type = type,
                         .column = cols == 1};

    while (n > 1 && s->temp + n * bytes > most)
        n /= 2;
    if (s->temp + n * bytes > most) {
        sys_fail(s, s->s->at, "choose smaller tiles, or divide the statement",
                 "what the statement computes on the way needs more than the "
                 "%" PRId64 " bytes of a partition that tiles leave",
                 most - s->plan->systolic->bytes);
        return out;
    }
    at = n > 1 ? sys_add(s, sys_c(s->temp),
                         sys_mul(s, sys_c(bytes), sys_turn(s, n)))
               : sys_c(s->temp);
    s->temp += n * bytes;
    s->high = s->temp > s->high ? s->temp : s->high;
    sys_line(s, "sbuf %s : %s[128, %" PRId64 "] at 0, %s", name,
             axe_type_table[type].name, cols, sys_text(s, at));
    return out;
}

sys_val
sys_temp(sys *s, axe_type type, int64_t cols)
{
    return sys_temps(s, type, cols, 2);
}

sys_val
sys_bank(sys *s, axe_type type, int which)
{
    const int64_t bank = axe_trn_memories[AXE_TRN_PSUM].bank;
    const char   *name = sys_new_name(s, "sum");
    sys_val       out = {.kind = SYS_TILE,
                         .name = name,
                         .step = sys_c(1),
                         .type = type,
                         .psum = true};
    int           left = AXE_SYSTOLIC_BANKS - s->plan->systolic->banks;
    int           turned = left > 3 ? 2 : left - left / 2;
    int64_t       cols = which == 0 ? AXE_SYSTOLIC_N : AXE_SYSTOLIC_P;
    int64_t       bytes = which == 0 ? bank : 4 * cols;
    int           n = which == 0 ? left - turned : turned * (int)(bank / bytes);
    int first = s->plan->systolic->banks + (which == 0 ? 0 : left - turned);

    sys_line(
        s, "psum %s : %s[128, %" PRId64 "] at 0, %s", name,
        axe_type_table[type].name, cols,
        sys_text(s, sys_add(s, sys_c(first * bank),
                            sys_mul(s, sys_c(bytes),
                                    turn_from(s, n, s->n_bank[which]++)))));
    return out;
}

static void
declare(sys *s, const axe_systolic_tile *x, int places, sys_ex at)
{
    const axe_tensor *t = x->tensor;
    int64_t           one = axe_type_bytes(t->type, 1);
    int64_t           size = places > 1 ? x->bytes / one * places : x->size;

    sys_line(s, "%s %s : %s[%" PRId64 ", %" PRId64 "] at 0, %s",
             x->psum ? "psum" : "sbuf", s->name[t->id],
             axe_type_table[t->type].name, x->n_part, size, sys_text(s, at));
}

void
sys_declare(sys *s, const axe_tensor *t)
{
    const axe_systolic_tile *x = &s->plan->systolic->tile[t->id];
    sys_ex                   at = sys_c(x->offset);

    if (!x->tensor || x->piped)
        return;
    s->since[t->id] = s->depth;
    s->begun[t->id] = false;
    if (x->stages > 1)
        at =
            sys_add(s, at, sys_mul(s, sys_c(x->bytes), sys_turn(s, x->stages)));
    declare(s, x, 1, at);
}

void
sys_declare_all(sys *s, const axe_tensor *t)
{
    const axe_systolic_tile *x = &s->plan->systolic->tile[t->id];

    declare(s, x, x->stages, sys_c(x->offset));
}

const char *
sys_put(sys *s, const sys_val *v, sys_ex parts, sys_ex cols)
{
    return axe_textf(s->cx, "%s[0, %s : %s, %s by %s]", v->name,
                     sys_text(s, v->off), sys_text(s, parts),
                     sys_text(s, v->column ? sys_c(1) : cols),
                     sys_text(s, v->column ? sys_c(1) : v->step));
}

/* One more instruction of an engine. */
static void
count(sys *s, axe_trn_engine e)
{
    s->busy[e] += AXE_SYSTOLIC_N / axe_trn_engines[e].ghz;
}

void
sys_copy(sys *s, const sys_val *dst, const sys_val *src, sys_ex parts,
         sys_ex cols)
{
    const char *to = sys_put(s, dst, parts, cols);

    if (src->kind == SYS_NUMBER) {
        sys_line(s, "vector memset %s, value=%.17g", to, src->number);
        count(s, AXE_TRN_vector);
        return;
    }
    if (s->busy[AXE_TRN_scalar] + 1 / axe_trn_engines[AXE_TRN_scalar].ghz <
        s->busy[AXE_TRN_vector]) {
        sys_line(s, "scalar activation %s, %s, op=copy", to,
                 sys_put(s, src, parts, cols));
        count(s, AXE_TRN_scalar);
    } else {
        sys_line(s, "vector tensor_copy %s, %s", to,
                 sys_put(s, src, parts, cols));
        count(s, AXE_TRN_vector);
    }
}
