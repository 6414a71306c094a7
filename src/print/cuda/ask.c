/* ask.c - the instruction descriptor of a printed product, see ask.h.
 *
 * The text is the printer's own, `mov.b32 i, 0x10 | 8 << 24 | ...;` and so on;
 * what stands before the product is done here, on numbers. */
#include "print/cuda/ask.h"

#include <stdlib.h>
#include <string.h>

#include "print/cuda/cuda_int.h"

enum { N_REG = 26, N_FACTOR = 2, FACTOR = 1, SCALE = 4 };

typedef struct reader {
    const char *s;
    uint32_t    reg[N_REG];     /* by letter */
    int         name[N_FACTOR]; /* numbers of the bytes: "%6" */
    uint32_t    byte[N_FACTOR];
    bool        wrong;
} reader;

static bool
skip(reader *r, const char *word)
{
    size_t n = strlen(word);

    r->s += strspn(r->s, " ");
    if (strncmp(r->s, word, n) != 0)
        return false;
    r->s += n;
    r->s += strspn(r->s, " ");
    return true;
}

static uint32_t
number(reader *r)
{
    char    *end;
    uint32_t v = 0;
    long     name;

    r->s += strspn(r->s, " ");
    if (*r->s >= 'a' && *r->s <= 'z')
        return r->reg[*r->s++ - 'a'];
    if (*r->s == '%') {
        name = strtol(r->s + 1, &end, 10);
        r->wrong = r->wrong || (name != r->name[0] && name != r->name[1]);
        v = r->byte[name == r->name[1]];
    } else {
        v = (uint32_t)strtoul(r->s, &end, 0);
        r->wrong = r->wrong || end == r->s;
    }
    r->s = end;
    return v;
}

/* As C has it: / before << before |. */
static uint32_t
expression(reader *r)
{
    uint32_t all = 0;

    do {
        uint32_t v = number(r), by;
        while (skip(r, "/")) {
            by = number(r);
            v = by ? v / by : 0;
        }
        while (skip(r, "<<")) {
            by = number(r);
            v = by < 32 ? v << by : 0;
        }
        all |= v;
    } while (skip(r, "|"));
    return all;
}

/* One instruction that makes a number, or another, which is skipped. */
static void
step(reader *r)
{
    bool     mov = skip(r, "mov.b32"), shl = !mov && skip(r, "shl.b32");
    bool     any = mov || shl || skip(r, "or.b32");
    char     to = *r->s;
    uint32_t a, b = 0;

    if (!any || to < 'a' || to > 'z')
        return;
    r->s++;
    r->wrong = r->wrong || !skip(r, ",");
    a = expression(r);
    if (!mov && skip(r, ","))
        b = expression(r);
    r->reg[to - 'a'] = mov ? a : shl ? (b < 32 ? a << b : 0) : a | b;
    r->wrong = r->wrong || *r->s != ';';
}

axe_status
axe_ask_instruction(axe_ctx *cx, const axe_atom *a, int n, const bool major[2],
                    const int64_t byte[2], uint32_t *out)
{
    axe_arg     arg[MAX_ARG] = {{.space = AXE_ARG_TMEM}, {.space = a->space[1]},
                                {.space = a->space[2]},  {.space = AXE_ARG_INT},
                                {.space = AXE_ARG_TMEM}, {.space = AXE_ARG_TMEM}};
    axe_lir     l = {.kind = AXE_LIR_ATOM,
                     .atom = a,
                     .param = n,
                     .n_arg = a->scale[0] ? MAX_ARG : SCALE,
                     .arg = arg};
    int         at[MAX_ARG];
    const char *text;
    reader      r = {0};

    for (int i = 0; i < N_FACTOR; i++) {
        arg[FACTOR + i].major = major[i];
        r.byte[i] = (uint32_t)byte[i];
    }
    AXE_TRY(axe_cuda_asm(cx, &l, at, &text));
    for (int i = 0; i < N_FACTOR; i++)
        r.name[i] = a->scale[0] ? at[SCALE + i] + 1 : -1;
    for (r.s = text + strspn(text, "{ "); r.s && !skip(&r, "tcgen05.mma");) {
        step(&r);
        r.s = strchr(r.s, ';');
        r.s = r.s ? r.s + 1 : NULL;
    }
    if (r.wrong || !r.s || !strstr(r.s, ", i, "))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the text of %s makes no instruction descriptor",
                        a->name);
    *out = r.reg['i' - 'a'];
    return AXE_OK;
}
