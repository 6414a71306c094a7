/* pins.c - what the text asks of a schedule, against the one that was chosen.
 */
#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/simt.h"
#include "plan/target.h"

static const struct {
    const char *name;
    char        letter; /* in attrs.def */
} kind[] = {
    [AXE_SCHED_MAP] = {"map", 'm'},
    [AXE_SCHED_TRANSPOSE] = {"transpose", 't'},
    [AXE_SCHED_CONTRACT] = {"contract", 'c'},
    [AXE_SCHED_COPY] = {"copy", 'y'},
};

static axe_status
refuse(axe_planner *p, const axe_request *r, axe_span at, const char *what)
{
    axe_fail(p->cx, at, AXE_EUNSUPPORTED, "%s", what);
    for (int i = 0; i < r->n_reject; i++)
        axe_note(p->cx, AXE_NOWHERE, "%s: %s", r->reject[i].what,
                 r->reject[i].why);
    return AXE_EUNSUPPORTED;
}

/* There is no schedule of that name, or it does not apply. */
static axe_status
refuse_via(axe_planner *p, const axe_request *r)
{
    const char *known[AXE_LEN(kind)], *near;
    axe_status  st;

    for (int k = 0; k < AXE_LEN(kind); k++) {
        known[k] = kind[k].name;
        if (strcmp(kind[k].name, r->stmt->via) == 0)
            return refuse(p, r, r->stmt->at,
                          axe_textf(p->cx,
                                    "the schedule '%s' does not apply here",
                                    r->stmt->via));
    }
    st = axe_fail(p->cx, r->stmt->at, AXE_ENAME,
                  "%s has no schedule '%s'; there are map, transpose and "
                  "contract",
                  p->mc->name, r->stmt->via);
    near = axe_nearest(r->stmt->via, AXE_LEN(kind), known);
    if (near)
        axe_help(p->cx, "did you mean '%s'?", near);
    return st;
}

/* "contract", "map and transpose" */
static const char *
takers(axe_ctx *cx, const char *letters, bool *many)
{
    axe_buf b = {.cx = cx};
    int     n = 0;

    for (int k = 0; k < AXE_LEN(kind); k++)
        if (strchr(letters, kind[k].letter))
            axe_putf(&b, "%s%s", n++ ? " and " : "", kind[k].name);
    *many = n > 1;
    return b.text;
}

static axe_status
check_attr(axe_planner *p, const axe_request *r, const axe_schedule *s,
           const axe_attr *a)
{
    const axe_attr_info *info = &axe_attr_table[a->key];
    const char          *what = NULL;
    bool                 many;

    if (!strchr(info->takes, kind[s->kind].letter)) {
        const char *who = takers(p->cx, info->takes, &many);
        return refuse(p, r, a->at,
                      axe_textf(p->cx, "%s takes no key `%s`; %s %s",
                                kind[s->kind].name, info->name, who,
                                many ? "do" : "does"));
    }
    if (a->key == AXE_ATTR_stream || a->key == AXE_ATTR_evict_first ||
        a->key == AXE_ATTR_evict_last)
        what = p->target->why_no_hint(p, s, a);
    return what ? refuse(p, r, a->at, what) : AXE_OK;
}

axe_status
axe_check_pins(axe_planner *p, const axe_request *r, const axe_schedule *s,
               bool wanted)
{
    axe_status st;

    if (r->stmt->via && strcmp(r->stmt->via, kind[s->kind].name) != 0)
        return refuse_via(p, r);
    for (int i = 0; i < r->stmt->n_attr; i++)
        AXE_TRY(check_attr(p, r, s, &r->stmt->attr[i]));
    if (!wanted || s->kind == AXE_SCHED_CONTRACT || r->stmt->slow)
        return AXE_OK;
    st = refuse(p, r, r->stmt->at,
                "this sum of products would run far below the machine's "
                "best: no contract atom fits");
    axe_help(p->cx, "mend what the notes say, or write `slow` behind the "
                    "statement to accept it");
    return st;
}
