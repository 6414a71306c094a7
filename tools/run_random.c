/* run_random.c - the numbers of `--random`, and of arguments that say how
 * theirs are distributed: X=normal(0,1), X=uniform(-1,1), I=0..V. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/number.h"
#include "run.h"

typedef enum kind { USUAL, NORMAL, UNIFORM, RANGE } kind;

/* normal: mean and deviation; uniform: [a, b); range: integers in it. */
typedef struct distribution {
    kind    kind;
    double  a, b;
    int64_t first, end;
} distribution;

static const char *
after(const char *text, const char *word)
{
    size_t n = strlen(word);

    return strncmp(text, word, n) == 0 ? text + n : NULL;
}

/* Of "word(...)" the word's length, else 0: a distribution, or one misspelt. */
static size_t
called(const char *value)
{
    size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyz");

    return value[n] == '(' && value[strlen(value) - 1] == ')' ? n : 0;
}

bool
axe_run_is_random(const char *value)
{
    const char *dots = strstr(value, "..");

    return called(value) > 0 || after(value, "normal(") ||
           after(value, "uniform(") ||
           (dots && dots > value && dots[2] != '\0' && !strpbrk(value, "/\\") &&
            dots[2] != '.');
}

/* ------------------------------------------------------------------- reading
 */

static axe_status
bad(axe_ctx *cx, const axe_run_param *p, const char *why)
{
    axe_status st = axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s=%s: %s", p->name,
                             p->random, why);

    axe_help(cx, "numbers are normal(MEAN,DEVIATION), uniform(FROM,TO) or, "
                 "integers, FROM..TO without TO; ends may be sizes");
    return st;
}

static axe_status
unknown(axe_ctx *cx, const axe_run_param *p, size_t len)
{
    static const char *const known[] = {"normal", "uniform"};

    const char *word = axe_textf(cx, "%.*s", (int)len, p->random);
    const char *near = axe_nearest(word, AXE_LEN(known), known);
    axe_status  st =
        bad(cx, p, axe_textf(cx, "there is no distribution '%s'", word));

    if (near)
        axe_help(cx, "did you mean '%s'?", near);
    return st;
}

/* "FROM,TO)" */
static bool
read_pair(const char *s, double *a, double *b)
{
    char *end;

    *a = strtod(s, &end);
    if (end == s || *end != ',')
        return false;
    s = end + 1;
    *b = strtod(s, &end);
    return end > s && strcmp(end, ")") == 0 && isfinite(*a) && isfinite(*b);
}

/* A number, or a size that the command line gives. */
static bool
read_end(axe_ctx *cx, const axe_run *r, const char *text, size_t len,
         int64_t *out)
{
    const char *word = axe_textf(cx, "%.*s", (int)len, text);

    for (int i = 0; i < r->n_size; i++)
        if (strcmp(r->size[i].name, word) == 0) {
            *out = r->size[i].value;
            return true;
        }
    return axe_tool_int(word, out);
}

static axe_status
read_range(axe_ctx *cx, const axe_run *r, const axe_run_param *p,
           distribution *d)
{
    const char *dots = strstr(p->random, "..");

    if (!read_end(cx, r, p->random, (size_t)(dots - p->random), &d->first) ||
        !read_end(cx, r, dots + 2, strlen(dots + 2), &d->end))
        return bad(cx, p, "its ends are no integers and no sizes given here");
    if (d->first >= d->end)
        return bad(cx, p, "there is no integer in it");
    if (!axe_type_fits(p->npy.type, d->first) ||
        !axe_type_fits(p->npy.type, d->end - 1))
        return bad(cx, p,
                   axe_textf(cx, "not all of it is %s",
                             axe_type_table[p->npy.type].name));
    d->kind = RANGE;
    return AXE_OK;
}

static axe_status
read(axe_ctx *cx, const axe_run *r, const axe_run_param *p, distribution *d)
{
    const char *normal = p->random ? after(p->random, "normal(") : NULL;
    const char *uniform = p->random ? after(p->random, "uniform(") : NULL;

    *d = (distribution){.kind = normal ? NORMAL : uniform ? UNIFORM : USUAL};
    if (!p->random)
        return AXE_OK;
    if (!normal && !uniform && called(p->random) > 0)
        return unknown(cx, p, called(p->random));
    if (!normal && !uniform)
        return read_range(cx, r, p, d);
    if (!read_pair(normal ? normal : uniform, &d->a, &d->b))
        return bad(cx, p, "two numbers are needed");
    if (normal ? d->b < 0 : d->a > d->b)
        return bad(cx, p,
                   normal ? "a deviation is not negative"
                          : "it ends before it begins");
    if (axe_type_table[p->npy.type].cls != AXE_CLASS_FLOAT)
        return bad(
            cx, p,
            axe_textf(cx, "%s has integers", axe_type_table[p->npy.type].name));
    return AXE_OK;
}

/* ---------------------------------------------------------------- generating
 */

/* Steele, Lea and Flood's SplitMix64. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* [0, 1) */
static double
unit(uint64_t z)
{
    return (double)(z >> 11) * 0x1p-53;
}

/* Box and Muller's. */
static double
normal(uint64_t *state)
{
    double u = 1 - unit(next_random(state)), v = unit(next_random(state));

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static double
real(axe_type t, const distribution *d, uint64_t *state)
{
    double most = axe_type_table[t].bits < 8 ? 8 : 1;

    if (d->kind == NORMAL)
        return d->a + d->b * normal(state);
    if (d->kind == RANGE)
        return (double)d->first +
               (double)(next_random(state) %
                        ((uint64_t)d->end - (uint64_t)d->first));
    uint64_t z = next_random(state);
    if (d->kind == UNIFORM)
        return d->a + (d->b - d->a) * unit(z);
    return axe_number_is_power(t) ? ldexp(1, (int)(z >> 60) - 8)
                                  : most * ((double)(z >> 11) * 0x1p-52 - 1);
}

static int64_t
whole(axe_type t, const distribution *d, uint64_t *state)
{
    axe_type_class cls = axe_type_table[t].cls;
    uint64_t       z = next_random(state);
    int64_t        w;

    if (d->kind == RANGE)
        return (int64_t)((uint64_t)d->first +
                         z % ((uint64_t)d->end - (uint64_t)d->first));
    w = (int64_t)(z >> 60) - (cls == AXE_CLASS_INT ? 8 : 0);
    return cls == AXE_CLASS_BOOL ? w & 1 : w;
}

/* Usually real numbers in [-1, 1), of 4 bits in [-8, 8), powers of two from
 * 2^-8 to 2^7 where there are no others, integers in [-8, 8) or [0, 16),
 * truths. */
axe_status
axe_run_put_random(axe_ctx *cx, const axe_run *r, axe_run_param *p,
                   uint64_t *state)
{
    axe_npy     *a = &p->npy;
    int64_t      n = (int64_t)a->n_bytes * 8 / axe_type_table[a->type].bits;
    distribution d;

    if (!axe_number_known(a->type))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "random numbers of %s", axe_type_table[a->type].name);
    AXE_TRY(read(cx, r, p, &d));
    for (int64_t i = 0; i < n; i++) {
        if (axe_type_table[a->type].cls == AXE_CLASS_FLOAT)
            axe_number_store(a->type, a->data, i, real(a->type, &d, state));
        else
            axe_number_put_int(a->type,
                               (char *)a->data + axe_type_bytes(a->type, i),
                               whole(a->type, &d, state));
    }
    return AXE_OK;
}
