/* resolve_int.h - from the syntax tree to IR: the state the files share.
 *
 *     names.c            what a name means, and where
 *     resolve.c          a kernel: compile-time parameters, arguments, sizes
 *     resolve_stmt.c     statements, tensors, pipelines
 *     resolve_if.c       branches
 *     resolve_loop.c     ranges, loops, what leaves them
 *     resolve_scope.c    scopes, roles, overlap
 *     resolve_fn.c       calls
 *     resolve_tune.c     domains of compile-time parameters
 *     resolve_expr.c     values: operators, casts, functions, names
 *     resolve_literal.c  literals, which take the type of what they meet
 *     resolve_load.c     elements of tensors, folds over them
 *     resolve_index.c    index statements
 *
 * A function that fails has recorded an error in the ctx and, by
 * axe_resolve_fail, in the resolver; it returns NULL or false, and its caller
 * goes on with the next statement, so that one run reports all errors.  A name
 * whose declaration was wrong stays known (AXE_ENTRY_BAD) and is silent.
 */
#ifndef AXE_RESOLVE_INT_H
#define AXE_RESOLVE_INT_H

#include "ir/domain.h"
#include "ir/range.h"
#include "lang/lang.h"
#include "lang/syntax.h"

typedef enum axe_entry_kind {
    AXE_ENTRY_BAD,
    AXE_ENTRY_CONST, /* value */
    AXE_ENTRY_TYPE,  /* type */
    AXE_ENTRY_VAR,   /* a size, a scope's or a loop's number */
    AXE_ENTRY_INDEX, /* var */
    AXE_ENTRY_TENSOR,
    AXE_ENTRY_PIPELINE,
    AXE_ENTRY_LAYOUT,
    AXE_ENTRY_FN,
    AXE_ENTRY_VALUE, /* an integer argument: value */
    AXE_ENTRY_TILES, /* of a scope, whose variables are its members */
    AXE_ENTRY_AXIS   /* of the mesh: value is its size */
} axe_entry_kind;

typedef struct axe_entry axe_entry;
struct axe_entry {
    axe_entry_kind      kind;
    const char         *name;
    axe_span            at;
    const axe_node     *value; /* a literal */
    axe_type            type;
    const axe_var      *var;
    const axe_tensor   *tensor;
    axe_entry          *pipeline; /* of a tensor in one */
    const axe_pipeline *ring;
    const axe_layout   *layout;
    const axe_fn_decl  *fn;
    axe_entry          *same;     /* TENSOR, an argument: the caller's */
    bool                used;     /* INDEX, TENSOR: read */
    bool                written;  /* TENSOR: for certain, so far */
    bool                touched;  /* TENSOR: written anywhere */
    bool                reached;  /* TENSOR: written in this top scope */
    bool                stale;    /* TENSOR of a pipeline: see resolve_stage */
    bool                reducing; /* INDEX: bound by a reduction around us */
    axe_stmt_kind       stage;    /* PIPELINE: PRODUCE or CONSUME if inside
                                     one, else PIPELINE */
    int crowd;                    /* of the resolver, at the declaration */
};

typedef struct axe_flow axe_flow; /* resolve_loop.c */

/* A call whose body is being resolved. */
typedef struct axe_call axe_call;
struct axe_call {
    const axe_fn_decl *fn;
    axe_span           at;
    const axe_call    *up;
};

typedef struct axe_resolver {
    axe_ctx               *cx;
    int32_t                source;
    const axe_module      *module;
    const axe_kernel_decl *decl;
    const axe_inst        *inst;
    axe_kernel            *kernel;
    axe_status             status;
    axe_list               names;   /* entries, innermost last; visible are */
    int                    n_file;  /* the first ones, of the file, */
    int                    floor;   /* and those from here on */
    const axe_call        *call;    /* innermost, or NULL */
    int                    n_noted; /* errors whose calls were told */
    int                    n_expanded; /* statements of functions */
    int                    depth;      /* blocks we are in */
    const axe_stmt        *inside;     /* innermost scope, or NULL */
    int       crowd;     /* inner scopes around us that several entities run */
    int       group;     /* of the scope to come: its `overlap`, or 0 */
    axe_flow *flow;      /* innermost loop that may be left here, or NULL */
    bool      gone_away; /* behind a `break` or `continue` */
    const axe_holds *holds;     /* conditions around, or NULL */
    int              subscript; /* loads in whose subscripts we are */
    axe_list         unknown;   /* names that were told of */
    axe_list         gone;      /* entries no longer visible */
    axe_list         index;     /* index variables made, axe_made */
    axe_list         sizes;
    axe_list         tiled;  /* ranges by tiles, axe_tiled */
    axe_list         suffix; /* how often names were taken */
    axe_list         fixed;  /* names in the IR of all but loops, */
    axe_list         loops;  /* and of loops and scopes */
    /* The index statement being resolved, or NULL. */
    const axe_expr *dst, *value;
    bool            picking; /* in an argmax or argmin */
    bool            scalars; /* they have values: in what a function is given */
    bool            on_device; /* in a `device` */
    bool            host;      /* so have integers that a call gives: what loops
                                  and branches around scopes ask for */
} axe_resolver;

bool axe_resolve_fail(axe_resolver *r, axe_status st);
/* A dimension as an argument may have it. */
const axe_node *axe_resolve_global_extent(axe_resolver *r, const axe_expr *e,
                                          const char *text, int dim);
/* Declare a size. */
const axe_var *axe_resolve_size(axe_resolver *r, axe_word w);

/* ----------------------------------------------------------- names.c */

axe_entry *axe_names_find(const axe_resolver *r, const char *name);
/* The entry, or an error with a suggestion and NULL; NULL in silence if it is
 * BAD.  what: "tensor", "index", ... */
axe_entry *axe_names_need(axe_resolver *r, axe_word w, const char *what);
/* Declare; an error and an entry of kind BAD if the name is taken. */
axe_entry *axe_names_add(axe_resolver *r, axe_entry_kind kind, axe_word w);
/* Forget the entries from `mark` on. */
void axe_names_leave(axe_resolver *r, int mark);
/* Warn of all that were never used. */
void axe_names_warn(axe_resolver *r);
/* "a tensor": what an entry is. */
const char *axe_entry_text(const axe_entry *e);
/* A name for the IR, where names are seen longer than in the text: `want`, or
 * `want.1` ...  An index is seen everywhere, a tile or pipeline to the end of
 * the kernel, a loop or scope in its body. */
typedef enum axe_named_kind {
    AXE_NAMED_INDEX,
    AXE_NAMED_TILE,
    AXE_NAMED_LOOP
} axe_named_kind;
const char *axe_names_fresh(axe_resolver *r, const char *want,
                            axe_named_kind kind);
/* Is it a name of the language itself: a type, a function, inf? */
bool axe_name_is_builtin(const char *name);
/* The operation of a function's name. */
bool axe_function_find(const char *name, axe_op *out);

/* ------------------------------------------------- resolve_literal.c */

/* A literal, made of literals and compile-time constants alone, has no type of
 * its own: i64, f64 or bool here, and takes that of what it meets.  So does a
 * choice between literals by a condition that is none (soft). */
typedef enum axe_literal { AXE_TYPED, AXE_LITERAL, AXE_SOFT } axe_literal;

typedef struct axe_typed {
    const axe_node *node; /* NULL: failed */
    axe_literal     literal;
} axe_typed;

#define AXE_FAILED ((axe_typed){NULL, AXE_TYPED})

/* AXE_FAILED, after axe_resolve_fail. */
axe_typed axe_resolve_failed(axe_resolver *r, axe_status st);
/* "f32"; i64 is "an integer (i64)". */
const char *axe_type_text(axe_type t);

enum { AXE_NO_TYPE = AXE_N_TYPE };

/* A literal or soft node in a type; NULL after an error. */
const axe_node *axe_literal_adapt(axe_resolver *r, const axe_node *n,
                                  axe_type to, axe_span at);
/* op on floating literals. */
axe_typed axe_literal_float(axe_resolver *r, axe_op op, axe_span at,
                            const double *arg);

/* ---------------------------------------------------- resolve_expr.c */

/* want: the type loads widen to where they can, or AXE_NO_TYPE. */
axe_typed axe_resolve_value(axe_resolver *r, const axe_expr *e, int want);
/* An integer expression; without loads, unless it `reads`.  NULL after an
 * error.  what: "a
 * subscript", for messages. */
const axe_node *axe_resolve_index(axe_resolver *r, const axe_expr *e,
                                  bool reads, const char *what);
/* A compile-time integer. */
bool axe_resolve_int(axe_resolver *r, const axe_expr *e, const char *what,
                     int64_t *out);
/* v in type `to`: a literal adapts, a narrower type widens. NULL after an
 * error.  at: of the value; what it is for, as "`C` is". */
const axe_node *axe_resolve_to(axe_resolver *r, axe_typed v, axe_type to,
                               axe_span at, const char *what);
bool axe_resolve_type(axe_resolver *r, axe_type_expr t, axe_type *out);
/* ---------------------------------------------------- resolve_load.c */

/* tensor[subscripts]; writing: as the left side of a statement. */
const axe_node *axe_resolve_load(axe_resolver *r, const axe_expr *e,
                                 bool writing);
axe_typed axe_resolve_reduce(axe_resolver *r, const axe_expr *e, int want);
/* argmax and argmin: the first index of an element that is the fold's. */
axe_typed axe_resolve_pick(axe_resolver *r, const axe_expr *e);

/* --------------------------------------------------- resolve_index.c */

/* A new variable, numbered. */
axe_var *axe_resolve_var(axe_resolver *r, axe_var_kind kind, axe_word w,
                         const axe_node *extent);
/* The index variable of this name: there is one in a kernel. */
const axe_var *axe_resolve_index_var(axe_resolver *r, const char *name,
                                     axe_span at);
/* before: takes statements that must run first; NULL: there are to be none. */
axe_stmt *axe_resolve_assign(axe_resolver *r, const axe_syntax *s,
                             axe_list *before);
/* How far `var` runs, from the loads in `in` (n nodes) where it is alone in a
 * subscript; NULL after an error. */
const axe_node *axe_resolve_extent(axe_resolver *r, const axe_var *var,
                                   axe_span at, int n,
                                   const axe_node *const *in);
/* Number an index statement and say what it runs over. */
axe_stmt *axe_resolve_finish(axe_resolver *r, axe_stmt *s);

/* --------------------------------------------------- resolve_split.c */

/* Contractions that the product of s is made of go to `out` and its value
 * becomes what is left; false after an error. */
bool axe_resolve_split(axe_resolver *r, axe_stmt *s, axe_list *out);

/* ---------------------------------------------------- resolve_stmt.c */

void axe_resolve_body(axe_resolver *r, int n, const axe_syntax *const *s,
                      axe_list *out);
void axe_resolve_one(axe_resolver *r, const axe_syntax *x, axe_list *out);

/* `ring.a` */
axe_word axe_member_name(axe_resolver *r, axe_word ring, axe_word member);

/* `word = value;` where word is a rank-0 tile; NULL after an error. */
axe_stmt *axe_resolve_set(axe_resolver *r, axe_word word,
                          const axe_expr *value);

/* ---------------------------------------------- resolve_global.c */

/* `cores`, for all of the kernel. */
void axe_resolve_cores(axe_resolver *r);
/* A global tensor of the kernel's own. */
void axe_resolve_global(axe_resolver *r, const axe_syntax *x, axe_list *out);

/* ---------------------------------------------------- resolve_mesh.c */

/* The axes of the file's mesh, if the kernel is for devices. */
void axe_resolve_mesh(axe_resolver *r);
/* What a device has of `whole`, NULL after an error, as `e` says. */
const axe_node *axe_resolve_part(axe_resolver *r, const axe_expr *e,
                                 const axe_node *whole);
/* n, or, where it is cdiv(K, P) of an axis of P devices, a size that is that:
 * it may be any extent. */
const axe_node *axe_resolve_most(axe_resolver *r, const axe_expr *e,
                                 const axe_node *n);
/* Who holds t, and what it is for all devices together; false after an error.
 */
bool axe_resolve_held(axe_resolver *r, const axe_tensor_decl *d, axe_tensor *t);
/* The tensor as it is seen between devices, or on one. */
const axe_tensor *axe_resolve_seen(const axe_resolver *r, const axe_tensor *t);
void axe_resolve_device(axe_resolver *r, const axe_syntax *x, axe_list *out);

/* ---------------------------------------------------- resolve_loop.c */

/* A range with its numbers known: v = from + step * (0 .. extent - 1). */
typedef struct axe_counted {
    const axe_node *extent, *from; /* from: or NULL: 0 */
    int64_t         by, step;      /* by: 0: none */
} axe_counted;

/* The variable of a range, its name declared; NULL after an error.  c NULL: it
 * has none, and its name is known but wrong. */
const axe_var *axe_range_declare(axe_resolver *r, axe_word word,
                                 const axe_counted *c, axe_var_kind kind);
/* The same, after its numbers. */
const axe_var *axe_range_resolve(axe_resolver *r, const axe_range *g,
                                 axe_var_kind kind, axe_counted *c);
void axe_resolve_for(axe_resolver *r, const axe_syntax *x, axe_list *out);
void axe_resolve_while(axe_resolver *r, const axe_syntax *x, axe_list *out);
void axe_resolve_leave(axe_resolver *r, const axe_syntax *x, axe_list *out);
/* Which of the first n entries are written, and back. */
bool *axe_written_get(const axe_resolver *r, int n);
void  axe_written_set(axe_resolver *r, int n, const bool *w);
/* Before a statement: false, after an error, where it is never reached. */
bool axe_resolve_reached(axe_resolver *r, const axe_syntax *x);
/* A body that no `break` leaves. */
void axe_resolve_inner(axe_resolver *r, int n, const axe_syntax *const *s,
                       axe_list *out);

/* ---------------------------------------------------- resolve_data.c */

/* Does an end of the range read an element or a scalar? */
bool axe_range_reads(const axe_resolver *r, const axe_range *g);
/* Does what a loop or branch around all scopes asks for read nothing but
 * integers that a call gives by value?  They are sizes there. */
bool axe_host_knows(const axe_resolver *r, const axe_expr *e);
/* The size that the argument's value is. */
const axe_var *axe_value_size(axe_resolver *r, const axe_tensor *t);
/* A loop over such a range: what goes before it to out, what begins its body to
 * body, and its name declared; false after an error. */
bool axe_data_begin(axe_resolver *r, const axe_range *g, axe_list *out,
                    axe_list *body);

/* --------------------------------------------------- resolve_scope.c */

void axe_resolve_scope(axe_resolver *r, const axe_syntax *x, axe_list *out);
/* `roles` or `overlap`, which hold scopes. */
void axe_resolve_group(axe_resolver *r, const axe_syntax *x, axe_list *out);

/* ------------------------------------------------------ resolve_if.c */

/* A condition of `what`: an expression of what is the same for the whole
 * statement, or a rank-0 tile of bool, which statements appended to out set;
 * NULL after an error. */
const axe_node *axe_resolve_condition(axe_resolver *r, const axe_expr *e,
                                      const char *what, axe_list *out);

/* The tile, set to what any condition is. */
const axe_node *axe_resolve_hold(axe_resolver *r, const axe_node *cond,
                                 axe_list *out);
/* False, after an error, where an index is in n that no fold binds; where: "a
 * count". */
bool axe_resolve_no_index(axe_resolver *r, const axe_node *n,
                          const char *where);

void axe_resolve_if(axe_resolver *r, const axe_syntax *x, axe_list *out);

/* ------------------------------------------------------ resolve_fn.c */

/* Declare the functions of the file. */
void axe_resolve_fns(axe_resolver *r);
void axe_resolve_call(axe_resolver *r, const axe_syntax *s, axe_list *out);
/* A call in an expression: of a function with a result. */
axe_typed axe_resolve_result(axe_resolver *r, const axe_expr *e, int want);
/* After a statement: say of its errors which calls led there. */
void axe_resolve_note_calls(axe_resolver *r);
/* Before one: false, after an error, where functions made too many. */
bool axe_resolve_may_expand(axe_resolver *r);

/* ---------------------------------------------------- resolve_tune.c */

/* Errors of a domain in itself; c is the parameter. */
void axe_tune_check(axe_resolver *r, const axe_tune_decl *t,
                    const axe_const_decl *c);
/* Give a bound parameter its domain; false, after an error, if the value is not
 * in it. */
bool axe_tune_bind(axe_resolver *r, const axe_const_decl *c, axe_binding *b);

/* ------------------------------------------------------------- macro.c */

/* Values that a function takes which is written in others; -1: it is none. */
int axe_macro_args(const char *name);
/* The names of all, one by one, then NULL. */
const char *axe_macro_name(int i);
/* What the call stands for. */
const axe_expr *axe_macro(axe_resolver *r, const axe_expr *e);

/* ------------------------------------------------------------- check_set.c */

/* Is there all that the caller, defaults and domains give values to? */
void axe_resolve_check_set(axe_resolver *r);

#endif
