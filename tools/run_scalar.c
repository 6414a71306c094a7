/* run_scalar.c - arguments that are one number, as a command line gives them:
 * eps=1e-5, step=3. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/number.h"
#include "run.h"
#include "run/array/axt.h"

bool
axe_run_is_number(const char *value)
{
    size_t n = strlen(value);

    return !axe_axt_is(value) && !(n > 4 && strcmp(value + n - 4, ".npy") == 0);
}

static axe_status
no_number(axe_ctx *cx, const axe_run_param *p, axe_type t)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s=%s: a number of %s is needed", p->name, p->number,
                    axe_type_table[t].name);
}

/* Rounded to the type; what is finite stays so. */
static axe_status
put_real(axe_ctx *cx, axe_run_param *p, axe_type t)
{
    axe_float_format f;
    char            *end;
    double           v = strtod(p->number, &end);

    if (end == p->number || *end != '\0' || !axe_float_format_of(t, &f))
        return no_number(cx, p, t);
    if (isfinite(v) && fabs(v) > f.max)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s=%s is beyond %g, the largest number of %s", p->name,
                        p->number, f.max, axe_type_table[t].name);
    axe_number_put(t, p->npy.data, v);
    return AXE_OK;
}

/* Decimal or hexadecimal, to the last of u64. */
static bool
read_whole(const char *s, bool is_u64, int64_t *out)
{
    bool  hex = s[s[0] == '-'] == '0' && strchr("xX", s[s[0] == '-' ? 2 : 1]);
    char *end;

    errno = 0;
    *out = is_u64 && s[0] != '-' ? (int64_t)strtoull(s, &end, hex ? 16 : 10)
                                 : strtoll(s, &end, hex ? 16 : 10);
    return end > s && *end == '\0' && errno == 0 && !strchr(" \t+", s[0]);
}

static axe_status
put_whole(axe_ctx *cx, axe_run_param *p, axe_type t)
{
    int64_t v = 0;
    bool    truth = t == AXE_TYPE_bool, is_u64 = t == AXE_TYPE_u64;

    if (truth && strcmp(p->number, "true") == 0)
        v = 1;
    else if (!(truth && strcmp(p->number, "false") == 0) &&
             (!read_whole(p->number, is_u64, &v) ||
              (truth && (v < 0 || v > 1)) ||
              (is_u64 ? p->number[0] == '-' : !axe_type_fits(t, v))))
        return no_number(cx, p, t);
    axe_number_put_int(t, p->npy.data, v);
    return AXE_OK;
}

axe_status
axe_run_put_number(axe_ctx *cx, axe_run_param *p, const char *type)
{
    axe_type t = AXE_TYPE_f32;

    (void)axe_type_find(type, &t);
    AXE_TRY(axe_npy_make(cx, p->name, t, (axe_shape){0}, false, &p->npy));
    p->have = true;
    return axe_type_is_float(t) ? put_real(cx, p, t) : put_whole(cx, p, t);
}
