/* facts_move.c - moves between two layouts, as `axe eval` is asked for them. */
#include <inttypes.h>
#include <string.h>

#include "axe/move.h"
#include "run/tune/facts.h"

static axe_status
read_way(axe_job *j, axe_move_kind *out)
{
    const char *s;

    AXE_TRY(axe_fact_text(j, "by", &s));
    *out = strcmp(s, "shuffles") == 0 ? AXE_MOVE_SHUFFLE
           : strcmp(s, "shared") == 0 ? AXE_MOVE_SHARED
                                      : AXE_MOVE_NOTHING;
    if (*out != AXE_MOVE_NOTHING || *s == '\0')
        return AXE_OK;
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                    "by is shuffles or shared, not \"%s\"", s);
}

axe_status
axe_fact_move(axe_job *j)
{
    const axe_layout       *src, *dst;
    const axe_move_program *m;
    axe_move_options        opt = {.by = AXE_MOVE_NOTHING};
    int64_t                 bits = 32;

    AXE_TRY(axe_job_layout(j, "src", &src));
    AXE_TRY(axe_job_layout(j, "dst", &dst));
    AXE_TRY(axe_fact_ints(j, "bits", 1, &bits));
    AXE_TRY(axe_fact_text(j, "arch", &opt.machine));
    AXE_TRY(read_way(j, &opt.by));
    if (*opt.machine == '\0')
        opt.machine = NULL;
    if (bits < 1 || bits > INT32_MAX)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "bits is %" PRId64 ": it must be in [1, 2^31)", bits);
    opt.bits = (int)bits;
    AXE_TRY(axe_move_plan(j->cx, src, dst, &opt, &m));
    axe_puts(j->out, axe_move_json(j->cx, m));
    return AXE_OK;
}
