/* race.h - what the entities of a scope touch, and what tells them apart.
 *
 * An access tells a variable of the scope where its value can be computed from
 * the subscripts.  It can where its coefficient in one of them is greater than
 * all that the other terms, without those known already, can add up to, be it
 * in the remainder by what divides all greater terms; or so from an expression
 * whose quotient and remainder by a constant are known; or where a condition
 * around the statement fixes it.
 */
#ifndef AXE_IR_RACE_H
#define AXE_IR_RACE_H

#include "ir/ir.h"
#include "ir/list.h"
#include "ir/range.h"

typedef enum axe_key_how {
    AXE_KEY_OPEN,
    AXE_KEY_ONE,
    AXE_KEY_FIXED,
    AXE_KEY_BY_DIM,
    AXE_KEY_BY_PARTS
} axe_key_how;

/* How a variable follows from an access. */
typedef struct axe_access_key {
    const axe_var *var;
    axe_key_how    how;
    int dim; /* AXE_KEY_BY_DIM: (subscript - [lo, hi]) / coef; AXE_KEY_BY_PARTS:
                so from `of`, whose quotient and remainder by `over` are known
              */
    const axe_node *of;
    int64_t         over;
    int64_t         coef, lo, hi;
    int64_t         mod;   /* of the remainder of the subscript by this, or 0 */
    const axe_node *value; /* AXE_KEY_FIXED: to this */
} axe_access_key;

typedef struct axe_race_access {
    const axe_stmt   *stmt;
    const axe_node   *load;
    bool              write, scatter;
    const axe_affine *sub; /* [rank] */
    int               n_key;
    axe_access_key   *key; /* variables of the scope, then parts of them; by
                   conditions before subscripts, */
    axe_access_key       *by_place; /* or the other way around */
    struct axe_race_kind *kind;     /* by axe_race_kinds */
} axe_race_access;

/* Accesses of one tensor that are alike but for constants in subscripts. */
typedef struct axe_race_kind {
    axe_race_access all;       /* one with the windows of all */
    bool            is_judged; /* does a write of it agree with all there is? */
    bool            agrees;
    struct axe_race_kind *next;
} axe_race_kind;

/* What a scope does with a tensor. */
typedef struct axe_race_touched {
    axe_list       all;  /* access, in order */
    axe_race_kind *kind; /* all of them */
    axe_fold       fold; /* all are folds by this op; or NONE */
} axe_race_touched;

typedef struct axe_race_finder {
    axe_ctx          *cx;
    const axe_stmt   *scope;
    const axe_holds  *at;      /* conditions around, where we are in the tree */
    const axe_list   *outer;   /* axe_var: scopes and loops around the scope */
    axe_list          own;     /* axe_tensor: tiles declared in it */
    axe_list          found;   /* access */
    axe_race_touched *touched; /* by tensor id: axe_race_kinds */
    int               n_said;  /* of pairs */
    axe_status        status;
} axe_race_finder;

/* f->found: accesses in `body` to what entities of f->scope share, with what
 * each tells. */
void axe_race_find(axe_race_finder *f, int n, axe_stmt *const *body);
/* f->touched and the kind of each access. */
void axe_race_kinds(axe_race_finder *f);
/* What the access tells of a variable, or of a part of one; NULL: it is none of
 * the scope's. */
axe_access_key *axe_race_key(axe_race_access *a, const axe_var *v);
/* Exchange the two ways of telling. */
void axe_race_swap(axe_race_access *a);
/* A variable of the scope that the access does not tell, or NULL. */
const axe_access_key *axe_race_open(const axe_race_finder *f,
                                    const axe_race_access *a);

/* The same for all entities: a size, what is around the scope, or an expression
 * of such. */
bool axe_race_common(const axe_race_finder *f, const axe_var *v);
/* What the terms of a subscript but v, those known, those common to all and
 * the multiples of mod, unless that is 0, add up to; false where there is no
 * end to it. */
bool axe_race_window(const axe_race_finder *f, axe_race_access *a,
                     const axe_affine *sub, const axe_var *v, int64_t mod,
                     int64_t *lo, int64_t *hi);
/* Is a window of [lo, hi] narrower than a step of c? */
bool axe_race_narrow(int64_t lo, int64_t hi, int64_t c);
/* Does v run within one iteration of mod, beside a window of [lo, hi]? */
bool axe_race_within(axe_race_access *a, const axe_var *v, int64_t c,
                     int64_t lo, int64_t hi, int64_t mod);

#endif
