/* syntax.h - the syntax tree: what the text says, names not yet looked up.
 *
 * Names are interned.  Each part keeps its span for diagnostics; what callers
 * may ask for as written (axe_module_sig) is kept as text too. */
#ifndef AXE_SYNTAX_H
#define AXE_SYNTAX_H

#include "ir/ir.h"
#include "ir/list.h"

typedef enum axe_token_kind {
    AXE_TOK_end,
    AXE_TOK_name,
    AXE_TOK_int,
    AXE_TOK_float,
    AXE_TOK_text,
#define WORD(name) AXE_TOK_##name,
#define SOON(name) AXE_TOK_##name,
#define SIGN(name, text) AXE_TOK_##name,
#include "lang/tokens.def"
    AXE_N_TOK
} axe_token_kind;

typedef struct axe_token {
    axe_token_kind kind;
    axe_span       at;
    const char    *name;       /* name, word */
    size_t         begin, end; /* [bytes of the source] */
    int64_t        i;
    bool           big; /* i is that of a u64 beyond int64 */
    double         f;
} axe_token;

/* The tokens of a source, the last of kind end.  All lexical errors are
 * recorded and the first one's status is returned; *out is written anyway. */
AXE_CHECK axe_status axe_lex(axe_ctx *cx, int32_t source,
                             const axe_token **out);
/* "`;`", "a name": for messages. */
const char *axe_token_text(axe_token_kind kind);
bool        axe_token_is_soon(axe_token_kind kind);

typedef struct axe_word {
    const char *name;
    axe_span    at;
} axe_word;

typedef enum axe_expr_kind {
    AXE_EXPR_INT,
    AXE_EXPR_FLOAT,
    AXE_EXPR_NAME,
    AXE_EXPR_LOAD,   /* word[arg, ...] */
    AXE_EXPR_CALL,   /* word(arg, ...): a function or a cast */
    AXE_EXPR_ACCUM,  /* accum(word)(arg) */
    AXE_EXPR_BITS,   /* bitcast(word)(arg) */
    AXE_EXPR_OP,     /* op of arg[] */
    AXE_EXPR_REDUCE, /* fold over over[] of arg[0] */
    AXE_EXPR_PART    /* arg[0] @ (over[]), axes of the mesh */
} axe_expr_kind;

/* Is it argmax or argmin? */
bool axe_name_picks(const char *name);

typedef struct axe_expr axe_expr;
struct axe_expr {
    axe_expr_kind          kind;
    axe_span               at;
    axe_word               word;
    int64_t                i;
    bool                   big; /* INT: a u64 beyond int64 */
    double                 f;
    axe_op                 op;
    axe_fold               fold;
    bool                   picks; /* REDUCE: the index of the element */
    int                    n_over, n_arg;
    const axe_word *const *over;
    const axe_expr *const *arg;
};

/* NAME or accum(NAME). */
typedef struct axe_type_expr {
    axe_word word;
    bool     accum;
} axe_type_expr;

/* name : [ from .. ] count [ by tile | step step ]; a name alone has no count,
 * one entity (from) no name. */
typedef struct axe_range {
    axe_word        word;
    const axe_expr *from, *count, *by, *step; /* or NULL */
} axe_range;

typedef struct axe_tensor_decl {
    axe_space              space;
    axe_dir                dir;
    axe_type_expr          type;
    axe_word               word;
    int                    n_dim;
    const axe_expr *const *dim;
    const char *const     *dim_text;    /* as written */
    const char            *layout_text; /* NULL: left open */
    axe_span               layout_at;
    size_t                 layout_begin, layout_end; /* [bytes] */
    const axe_expr        *init;                     /* or NULL */
    /* Of a mesh: axes along which devices hold addends; axes of which one
     * coordinate alone has it. */
    int                    n_partial, n_at;
    const axe_word *const *partial, *const *at;
    const axe_expr *const *coordinate; /* [n_at] */
} axe_tensor_decl;

typedef enum axe_syntax_kind {
    AXE_SYNTAX_SCOPE,
    AXE_SYNTAX_FOR,
    AXE_SYNTAX_WHILE,
    AXE_SYNTAX_BREAK,
    AXE_SYNTAX_CONTINUE,
    AXE_SYNTAX_TENSOR,
    AXE_SYNTAX_PIPELINE,
    AXE_SYNTAX_PRODUCE,
    AXE_SYNTAX_CONSUME,
    AXE_SYNTAX_IF,
    AXE_SYNTAX_CALL,
    AXE_SYNTAX_INDEX, /* declares index variables */
    AXE_SYNTAX_CONST,
    AXE_SYNTAX_LAYOUT,
    AXE_SYNTAX_ASSIGN,
    AXE_SYNTAX_BARRIER,
    AXE_SYNTAX_ROLES,
    AXE_SYNTAX_OVERLAP,
    AXE_SYNTAX_TURN,
    AXE_SYNTAX_DEVICE /* range[]: name : axis */
} axe_syntax_kind;

/* What is said of a scope: key = value, counted in threads of `unit`. */
typedef struct axe_key_syntax {
    axe_scope_key   key;
    axe_span        at;
    axe_scope_kind  unit;
    const axe_expr *value; /* NULL: yes */
} axe_key_syntax;

/* key [= value, or (value, value)] */
typedef struct axe_attr_syntax {
    axe_attr_key    key;
    axe_span        at;
    const axe_expr *value[2];
} axe_attr_syntax;

typedef struct axe_syntax axe_syntax;
struct axe_syntax {
    axe_syntax_kind         kind;
    axe_span                at;
    axe_scope_kind          scope;
    int                     n_range, n_tensor, n_body, n_other, n_arg, n_word;
    const axe_range *const *range;
    const axe_tensor_decl *const *tensor; /* TENSOR: one */
    const axe_syntax *const      *body;
    const axe_syntax *const      *other; /* IF: after `else` */
    const axe_word *const        *words; /* INDEX */
    axe_word word; /* pipeline, const, layout; SCOPE: of its tiles, or none */
    int      n_key;
    const axe_key_syntax *const *key; /* SCOPE */
    const axe_expr
        *along; /* SCOPE of tiles: which range comes first; or NULL */
    const axe_expr *value; /* ASSIGN, CONST, IF, WHILE; number of stages */
    const char     *layout_text; /* LAYOUT, where it is: */
    axe_span        layout_at;
    size_t          layout_begin, layout_end;
    const axe_expr *dst; /* ASSIGN */
    axe_fold        fold;
    const char     *via, *atom; /* ASSIGN: or NULL */
    bool            slow;
    int             n_attr;
    const axe_attr_syntax *const *attr; /* ASSIGN: but for via and slow */
    const axe_expr *const        *arg;  /* CALL */
};

/* A compile-time parameter, or a value for one. */
typedef struct axe_const_decl {
    axe_word        word;
    bool            is_type;
    axe_type_expr   type;  /* is_type: the default */
    const axe_expr *value; /* else; NULL: none */
    const char     *text;  /* the default as written, or NULL */
} axe_const_decl;

/* default machine (name = value, ...) */
typedef struct axe_default_decl {
    axe_word                     machine;
    int                          n;
    const axe_const_decl *const *set;
} axe_default_decl;

/* tune name in {value, ...}: integers, or names of types */
typedef struct axe_tune_decl {
    axe_word               word;
    int                    n;
    const axe_expr *const *value;
    const char *const     *text; /* as written */
} axe_tune_decl;

/* fn name<type T>(T x[M, N], i64 i) {...}; an argument without dimensions is a
 * number.  fn T name<type T>(T x) {... return value;}: body declares constants
 * and scalars that value is made of. */
typedef struct axe_fn_decl {
    axe_word                      word;
    axe_type_expr                 result; /* of the value, if there is one */
    const axe_expr               *value;  /* NULL: none */
    int                           n_type, n_param, n_body;
    const axe_word *const        *type;
    const axe_tensor_decl *const *param;
    const axe_syntax *const      *body;
} axe_fn_decl;

typedef struct axe_kernel_decl {
    axe_word                       word;
    int                            n_const, n_param, n_default, n_tune, n_body;
    const axe_const_decl *const   *consts;
    const axe_tensor_decl *const  *param;
    const char                    *target;
    const axe_default_decl *const *defaults;
    const axe_tune_decl *const    *tune;
    const axe_syntax *const       *body;
    bool                           meshed; /* it names devices */
} axe_kernel_decl;

/* NAME "[" expr "]": an axis of the mesh of devices. */
typedef struct axe_axis_decl {
    axe_word        word;
    const axe_expr *size;
    const char     *text; /* as written */
} axe_axis_decl;

struct axe_module {
    int32_t                       source;
    int                           n_shared; /* const and layout of the file */
    const axe_syntax *const      *shared;
    int                           n_kernel;
    const axe_kernel_decl *const *kernel;
    int                           n_axis; /* of the mesh, slow to fast */
    const axe_axis_decl *const   *axis;
    int                           n_fn;
    const axe_fn_decl *const     *fn;
};

/* The kernel of that name, or the only one if name is NULL.  ENAME, EARG. */
AXE_CHECK axe_status axe_kernel_find(axe_ctx *cx, const struct axe_module *m,
                                     const char             *name,
                                     const axe_kernel_decl **out);

#endif
