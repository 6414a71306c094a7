/* parse_int.h - the parser's state, for the files that hold its rules.
 *
 * A rule that fails has recorded one error and returns NULL or false; its
 * caller passes that on up to a list (statements, parameters, kernels), which
 * skips to where the next item begins and goes on.
 */
#ifndef AXE_PARSE_INT_H
#define AXE_PARSE_INT_H

#include "lang/syntax.h"

typedef struct axe_parser {
    axe_ctx         *cx;
    const char      *text; /* of the source */
    const axe_token *tok;  /* the next one */
    axe_status       status;
    bool             lexical; /* the lexer found errors */
    bool             ended;   /* the file's early end was reported */
    int              depth;   /* blocks and brackets we are in */
    int              n_op;    /* operations in this expression */
    bool             meshed;  /* devices were named since it was cleared */
    axe_span         mesh_at; /* of the first `mesh`, if there is one */
} axe_parser;

/* "expected WHAT, found ..."; false. */
bool axe_parse_expected(axe_parser *p, const char *what);
/* Record any other error as the parse's; false. */
bool axe_parse_fail(axe_parser *p, axe_status st);
/* Skip the next token if it is of this kind. */
bool axe_parse_take(axe_parser *p, axe_token_kind kind);
/* The same, but it must be. */
bool axe_parse_need(axe_parser *p, axe_token_kind kind, const char *where);
/* One level down, or ELIMIT; go up by p->depth--. */
bool axe_parse_enter(axe_parser *p);
/* The source from token `from` up to the next one, blanks trimmed. */
const char *axe_parse_text(axe_parser *p, const axe_token *from);

/* Does it begin a kernel or a function, which no block holds? */
bool axe_parse_is_top(axe_token_kind kind);

bool            axe_parse_word(axe_parser *p, const char *what, axe_word *out);
const axe_expr *axe_parse_expr(axe_parser *p);
/* An expression that ends before a comparison. */
const axe_expr *axe_parse_sum(axe_parser *p);
/* A tensor element: the left side of a statement. */
const axe_expr *axe_parse_place(axe_parser *p);
/* "(" or "[" is taken; parse expressions up to `close`. */
bool axe_parse_exprs(axe_parser *p, axe_token_kind close, const char *where,
                     axe_list *out);

bool axe_parse_type(axe_parser *p, axe_type_expr *out);
/* "[" dims "]" after a tensor's name. */
bool axe_parse_dims(axe_parser *p, axe_tensor_decl *t);
/* One statement, appended to out; after an error, skip it. */
void axe_parse_item(axe_parser *p, axe_list *out);
/* ------------------------------------------------------ parse_fn.c */

/* What follows "fn". */
const axe_fn_decl *axe_parse_fn(axe_parser *p);
/* call = NAME "(" [ expr { "," expr } ] ")" ";" */
const axe_syntax *axe_parse_call(axe_parser *p);

/* --------------------------------------------------- parse_scope.c */

const axe_syntax *axe_parse_scope(axe_parser *p);
const axe_syntax *axe_parse_for(axe_parser *p);
const axe_syntax *axe_parse_group(axe_parser *p, axe_syntax_kind kind);
const axe_syntax *axe_parse_turn(axe_parser *p);
const axe_syntax *axe_parse_device(axe_parser *p);
/* INT | NAME | "(" expr ")" */
const axe_expr *axe_parse_value(axe_parser *p);

/* ---------------------------------------------------- parse_attr.c */

/* attr = "via" NAME | KEY [ "=" ( expr | "(" expr "," expr ")" ) ], any number;
 * ends before what is none. */
bool axe_parse_attrs(axe_parser *p, axe_syntax *s);

/* ---------------------------------------------------- parse_stmt.c */

/* A block, or one statement alone. */
bool axe_parse_block(axe_parser *p, axe_list *out);

/* ---------------------------------------------------- parse_mesh.c */

/* Axes behind `@`, as words. */
bool axe_parse_axes(axe_parser *p, axe_list *out);
/* Does `: partial(..)` or `: at gpu = 0` follow, which say who holds a tensor;
 * and that. */
bool axe_parse_is_held(const axe_parser *p);
bool axe_parse_held(axe_parser *p, axe_tensor_decl *t);

#endif
