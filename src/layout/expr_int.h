/* expr_int.h - between the reader of expressions and their functions. */
#ifndef AXE_EXPR_INT_H
#define AXE_EXPR_INT_H

#include "axe/layout.h"

/* ------------------------------------------------ reading: expr_read.c */

/* A name bound by "let". */
typedef struct axe_expr_binding {
    const struct axe_expr_binding *next;
    const char                    *name;
    axe_value                      value;
} axe_expr_binding;

typedef struct axe_expr_reader {
    axe_ctx                *cx;
    int32_t                 source;
    const char             *text;
    size_t                  len, at;
    int                     depth;
    const axe_expr_env     *env;
    const axe_expr_binding *bound;
} axe_expr_reader;

axe_span axe_expr_span(const axe_expr_reader *r, size_t from, size_t to);

/* The next character after blanks and comments, 0 at the end. */
char axe_expr_peek(axe_expr_reader *r);
bool axe_expr_is_digit(char c);
/* Skip blanks, and the token if it comes next. */
bool axe_expr_accept(axe_expr_reader *r, const char *token);
/* Length of the name that begins after blanks; 0: none does. */
size_t axe_expr_name_length(axe_expr_reader *r);
/* The next n bytes, which are a name. */
const char *axe_expr_name_text(axe_expr_reader *r, size_t n);

/* Fail at what comes next. */
axe_status axe_expr_expected(axe_expr_reader *r, const char *what);
/* Fail from `from` to here. */
axe_status axe_expr_wrong_kind(axe_expr_reader *r, size_t from, const char *who,
                               const char *wanted, axe_value_kind found);
/* Pass on st; if it is a failure, with a note that it stands from `from` on. */
AXE_CHECK axe_status axe_expr_placed(axe_expr_reader *r, axe_status st,
                                     size_t from);
/* One level deeper (leave by r->depth--); ELIMIT if that is too deep. */
AXE_CHECK axe_status axe_expr_enter(axe_expr_reader *r);

/* What a name stands for: a binding, then what the env says.  `user` is the
 * reader. */
const axe_value  *axe_expr_bound(const axe_expr_reader *r, const char *name);
const axe_layout *axe_expr_layout(const axe_expr_reader *r, const char *name);
bool              axe_expr_constant(void *user, const char *name, int64_t *out);
bool              axe_expr_is_layout(void *user, const char *name);

/* ENAME for the name of n bytes that comes next, with a suggestion. */
axe_status axe_expr_unknown(axe_expr_reader *r, size_t n);

/* product { ( "+" | "-" ) product } */
AXE_CHECK axe_status axe_expr_integer(axe_expr_reader *r, int64_t *out);

/* ------------------------------------------ postfix forms: expr_part.c */

/* "[" range { "," range } "]", the "[" read: the slice of v, a layout that the
 * text has from `from` on, in its place. */
AXE_CHECK axe_status axe_expr_slice(axe_expr_reader *r, size_t from,
                                    axe_value *v);
/* "(" index { "," index } ")", the "(" read: one flat index, or one for each
 * dim.  v becomes the points there. */
AXE_CHECK axe_status axe_expr_apply(axe_expr_reader *r, size_t from,
                                    axe_value *v);

/* --------------------------------------------- functions: expr_fn.c */

enum { AXE_FN_ARGS = 3 };

/* A function of expr.def: v[] has the kinds of its row. */
typedef axe_status axe_expr_fn(axe_ctx *cx, const axe_value *v, axe_value *out);

typedef struct axe_expr_op {
    const char  *name, *types;
    axe_expr_fn *run;
} axe_expr_op;

const axe_expr_op *axe_expr_find(const char *name);
/* The function with the nearest name, or NULL. */
const char *axe_expr_nearest(const char *name);

/* What operators stand for. */
AXE_CHECK axe_status axe_expr_call(axe_ctx *cx, const char *fn,
                                   const axe_value *a, const axe_value *b,
                                   axe_value *out);

/* "a layout", "an integer", ... */
const char *axe_value_kind_text(axe_value_kind k);

#endif
