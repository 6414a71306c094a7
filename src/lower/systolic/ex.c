/* ex.c - numbers of traces as text. */
#include <inttypes.h>

#include "lower/systolic/sys.h"

sys_ex
sys_c(int64_t c)
{
    return (sys_ex){NULL, c, 3, c};
}

sys_ex
sys_name(const char *t)
{
    return (sys_ex){t, 0, 3, INT64_MAX};
}

const char *
sys_text(sys *s, sys_ex e)
{
    return e.t ? e.t : axe_textf(s->cx, "%" PRId64, e.c);
}

/* As an operand of an operator of that level. */
static const char *
inside(sys *s, sys_ex e, int level)
{
    bool parens = e.t ? e.level < level : e.c < 0;

    return parens ? axe_textf(s->cx, "(%s)", sys_text(s, e)) : sys_text(s, e);
}

static sys_ex
infix(sys *s, sys_ex a, const char *op, sys_ex b, int level)
{
    return (sys_ex){axe_textf(s->cx, "%s %s %s", inside(s, a, level), op,
                              inside(s, b, level + 1)),
                    0, level, INT64_MAX};
}

sys_ex
sys_add(sys *s, sys_ex a, sys_ex b)
{
    int64_t c;

    if (!a.t && !b.t && axe_add(a.c, b.c, &c))
        return sys_c(c);
    if (sys_is(a, 0))
        return b;
    if (sys_is(b, 0))
        return a;
    sys_ex out = !b.t && b.c < 0 && b.c != INT64_MIN
                     ? infix(s, a, "-", sys_c(-b.c), 1)
                     : infix(s, a, "+", b, 1);
    if (a.most == INT64_MAX || b.most == INT64_MAX ||
        !axe_add(a.most, b.most, &out.most))
        out.most = INT64_MAX;
    return out;
}

sys_ex
sys_sub(sys *s, sys_ex a, sys_ex b)
{
    if (!b.t && b.c != INT64_MIN)
        return sys_add(s, a, sys_c(-b.c));
    return infix(s, a, "-", b, 1);
}

sys_ex
sys_mul(sys *s, sys_ex a, sys_ex b)
{
    int64_t c;

    if (!a.t && !b.t && axe_mul(a.c, b.c, &c))
        return sys_c(c);
    if (sys_is(a, 0) || sys_is(b, 0))
        return sys_c(0);
    if (sys_is(a, 1))
        return b;
    if (sys_is(b, 1))
        return a;
    return infix(s, a, "*", b, 2);
}

sys_ex
sys_div(sys *s, sys_ex a, sys_ex b)
{
    if (sys_is(b, 1))
        return a;
    if (!a.t && !b.t && a.c >= 0 && b.c > 0)
        return sys_c(a.c / b.c);
    sys_ex out = infix(s, a, "/", b, 2);
    if (!b.t && a.most != INT64_MAX)
        out.most = a.most / b.c;
    return out;
}

sys_ex
sys_mod(sys *s, sys_ex a, sys_ex b)
{
    if (sys_is(b, 1))
        return sys_c(0);
    if (!a.t && !b.t && a.c >= 0 && b.c > 0)
        return sys_c(a.c % b.c);
    sys_ex out = infix(s, a, "%", b, 2);
    out.most = b.t ? INT64_MAX : b.c - 1;
    return out;
}

sys_ex
sys_min(sys *s, sys_ex a, sys_ex b)
{
    if (!a.t && !b.t)
        return sys_c(a.c < b.c ? a.c : b.c);
    if (!a.t && b.most <= a.c)
        return b;
    if (!b.t && a.most <= b.c)
        return a;
    return (sys_ex){
        axe_textf(s->cx, "min(%s, %s)", sys_text(s, a), sys_text(s, b)), 0, 3,
        a.most < b.most ? a.most : b.most};
}

sys_ex
sys_max(sys *s, sys_ex a, sys_ex b)
{
    if (!a.t && !b.t)
        return sys_c(a.c > b.c ? a.c : b.c);
    return (sys_ex){
        axe_textf(s->cx, "max(%s, %s)", sys_text(s, a), sys_text(s, b)), 0, 3,
        a.most > b.most ? a.most : b.most};
}

sys_ex
sys_up(sys *s, sys_ex a, int64_t by)
{
    return sys_div(s, sys_add(s, a, sys_c(by - 1)), sys_c(by));
}
