/* target.h - what planning does by the machine's kind.
 *
 * A row for each of machine/kinds.def, target_ID.c.  Files that serve all kinds
 * ask it through the planner or the plan and never look at what a kind keeps
 * for itself; so a kind is added by a row, and its own folders. */
#ifndef AXE_PLAN_TARGET_H
#define AXE_PLAN_TARGET_H

#include "ir/list.h"
#include "plan/plan_int.h"

struct axe_cost_at;
struct axe_cost;
struct axe_facts;

/* Lines about a whole kernel, under a key. */
typedef struct axe_plan_lines {
    const char *key;
    void (*list)(axe_ctx *cx, const axe_plan *p, axe_list *out);
} axe_plan_lines;

enum { AXE_PLACE_AXES = 4 };

struct axe_plan_target {
    /* --- planning, whose passes are rows of passes.def */
    /* Into the plan what the kind keeps beside what is in each plan. */
    void (*keep)(const axe_planner *p, axe_plan *out);
    /* The layout of a tile in its memory, on m. */
    axe_status (*storage)(axe_planner *p, const axe_tensor *t,
                          const axe_layout **out);
    /* The axes that say where an element is there, and the places [elements]
     * of a step on each; how many. */
    int (*places)(const axe_planner *p, const axe_tensor *t,
                  axe_axis axis[AXE_PLACE_AXES], int64_t by[AXE_PLACE_AXES]);
    /* The number of the entity whose copy of the tile it is, where each has
     * one (axe_place.each). */
    const axe_node *(*entity)(axe_planner *p, const axe_tensor *t);
    /* Why a hint to the caches is not taken; NULL: it is. */
    const char *(*why_no_hint)(axe_planner *p, const axe_schedule *s,
                               const axe_attr *a);

    /* --- the plan */
    /* Warns of what takes far longer than it could. */
    void (*warn)(axe_ctx *cx, const axe_plan *p);
    /* Of each statement; NULL: not known. */
    void (*cost_each)(axe_ctx *cx, const axe_plan *p,
                      const struct axe_cost_at *at, struct axe_cost *out);
    void (*cost)(axe_ctx *cx, const axe_plan *p, const struct axe_cost_at *at,
                 struct axe_cost *out);
    /* [s] that no plan is faster than; NULL: not known. */
    double (*least)(axe_ctx *cx, const axe_plan *p, const int64_t *size);

    /* --- the plan, for people */
    /* What it should take, at sizes that were given or else NOMINAL, in text
     * and as members of a JSON object. */
    void (*put_cost)(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                     const struct axe_cost_at *at, bool given);
    void (*put_cost_json)(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                          const struct axe_cost_at *at, bool given);
    /* How workers wait for one another, and the items of JSON's "sync"; NULL:
     * lines say it. */
    void (*put_order)(axe_ctx *cx, axe_buf *out, const axe_plan *p);
    void (*put_order_json)(axe_buf *out, const axe_plan *p);
    /* [bytes] of a worker's scratch memory; NULL: workers have none. */
    int64_t (*scratch)(const axe_plan *p);
    int                   n_lines;
    const axe_plan_lines *lines;
    void (*facts)(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                  const struct axe_cost *cost, struct axe_facts *out);
    bool alone; /* one worker runs a task: its tiles are in its scratch memory,
                   and it counts the stages of pipelines */
};

/* Rows of kinds.def. */
#define KIND(id, launches, text)                                               \
    extern const struct axe_plan_target axe_##id##_plan_target;
#include "machine/kinds.def"

const axe_plan_target *axe_plan_target_of(const axe_machine *mc);

#endif
